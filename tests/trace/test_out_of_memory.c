/* Every allocation of a whole run failing in turn: load, build, run, write. Unlike the tests with a perp_allocator this
 * reaches the outside libraries (libyaml, jansson, stdio): malloc itself is replaced for this program.
 *
 * The sanitizers replace malloc themselves; under them the tests with a perp_allocator look for leaks instead. */
#include <perp/perp.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#if !defined(SANITIZED) && defined(__GLIBC__)

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void __libc_free(void *memory);

static bool counting;
static long left;     /* allocations still granted while counting */
static long standing; /* granted and not freed while counting */

static bool granted(void)
{
    if (!counting) {
        return true;
    }
    if (left <= 0) {
        errno = ENOMEM;
        return false;
    }
    left--;
    standing++;
    return true;
}

void *malloc(size_t size)
{
    return granted() ? __libc_malloc(size) : NULL;
}

void *calloc(size_t count, size_t size)
{
    return granted() ? __libc_calloc(count, size) : NULL;
}

void *realloc(void *memory, size_t size)
{
    if (!granted()) {
        return NULL;
    }
    standing -= counting && memory ? 1 : 0; /* the old block goes */
    return __libc_realloc(memory, size);
}

void free(void *memory)
{
    standing -= counting && memory ? 1 : 0;
    __libc_free(memory);
}

static const char scene_text[] =
    "perp: 1\nname: test\n"
    "bodies:\n"
    "  base: {fixed: true, shapes: [{box: [1, 1, 1]}, {mesh: {points: [[0,0,0],[1,0,0],[0,1,0],[0,0,1]]}}]}\n"
    "  arm: {mass: 1, inertia: [1, 1, 1]}\n"
    "  part: {density: 10, shapes: [{sphere: 0.1}], pose: {position: [-0.3, 0, 0.61]}}\n"
    "  fence: {driven: {x: {sines: [{amplitude: 1, omega: 1}]}, y: {times: [0, 1, 2], values: [0, 1, 0], interpolate: "
    "cubic}}, shapes: [{box: [3, 3, 0.1], pose: {position: [0, 0, 0.76]}}, {plane: {normal: [0, 0, -1], offset: "
    "-2}}]}\n"
    "joints: {j: {type: revolute, parent: base, child: arm, axis: [0, 0, 1], control: position, command: {rate: 1}}}\n"
    "loops: {l: {type: weld, a: arm, b: part}}\n"
    "run: {model: kinematic, steps: 3}\n";

static perp_diagnostics diagnostics;

typedef struct things {
    perp_scene *scene;
    perp_model *model;
    perp_state state;
    perp_contact_model *contacts;
    perp_run_result result;
    perp_csv *csv;
    char *json, *check;
} things;

/* The whole way; returns the first status that is not OK. */
static perp_status whole_run(things *t, const char *folder)
{
    const char *settings[] = {"contacts.friction=0.1"};
    const perp_scene_load_options options = {.settings = settings, .setting_count = 1};
    perp_error error;
    perp_status status =
        perp_scene_load_text(scene_text, sizeof scene_text - 1, "s.yaml", NULL, &options, &t->scene, &diagnostics);
    if (status == PERP_STATUS_OK) {
        status = perp_model_build(t->scene, NULL, &t->model, &error);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_model_lint(t->model, NULL, &diagnostics);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_contact_model_build(t->model, NULL, &t->contacts, &error);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_run_lint(t->model, t->contacts, NULL, &diagnostics);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_state_create(t->model, NULL, &t->state, &error);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_csv_open(t->model, folder, &t->csv, &error);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_run(t->model, &t->scene->run, NULL, perp_csv_observe, t->csv, &t->state, &t->result, &error);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_csv_commit(t->csv, &error);
        t->csv = NULL;
    }
    if (status == PERP_STATUS_OK) {
        t->json = perp_result_json(t->model, &t->state, &t->result, NULL);
        t->check = t->json ? perp_check_json(t->model, &diagnostics) : NULL;
        status = t->check ? PERP_STATUS_OK : PERP_STATUS_OUT_OF_MEMORY;
    }
    if (status == PERP_STATUS_OK && t->result.contact_count < 2) {
        status = PERP_STATUS_BAD_INPUT; /* the way through contacts is to be walked, too */
    }
    return status;
}

static void release(things *t)
{
    perp_text_free(t->json);
    perp_text_free(t->check);
    perp_csv_abandon(t->csv);
    perp_run_result_free(&t->result);
    perp_contact_model_free(t->contacts);
    if (t->state.q) {
        perp_state_free(&t->state);
    }
    perp_model_free(t->model);
    perp_scene_free(t->scene);
}

static void every_allocation_failing_in_turn(void **state)
{
    (void)state;
    char folder[] = "/tmp/perp-oom-XXXXXX", command[100];
    assert_non_null(mkdtemp(folder));
    perp_status status = PERP_STATUS_OUT_OF_MEMORY;
    long n = 0;
    /* Writers that buffer may do without their buffer (stdio does), so a failed allocation may still end well; what
     * must not happen is any other status, a leak, or a crash. */
    for (int successes = 0; successes < 3 && n < 5000; n++) {
        things t;
        memset(&t, 0, sizeof t);
        memset(&diagnostics, 0, sizeof diagnostics);
        left = n;
        standing = 0;
        counting = true;
        status = whole_run(&t, folder);
        left = 1000000; /* clean-up may need memory of its own */
        release(&t);
        counting = false;
        if (status != PERP_STATUS_OK && status != PERP_STATUS_OUT_OF_MEMORY) {
            print_error("allocation %ld: status %s\n", n, perp_status_name(status));
        }
        assert_true(status == PERP_STATUS_OK || status == PERP_STATUS_OUT_OF_MEMORY);
        if (standing != 0) {
            print_error("allocation %ld: %ld blocks leaked\n", n, standing);
        }
        assert_int_equal(standing, 0);
        successes += status == PERP_STATUS_OK;
    }
    assert_int_equal(status, PERP_STATUS_OK);
    assert_true(n > 50);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_failing_in_turn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    puts("skipped: needs glibc's malloc, which a sanitizer has replaced");
    return 77;
}

#endif
