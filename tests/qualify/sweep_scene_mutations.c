/* Scenes of the corpus and the examples, damaged: the loader refuses with a place, or accepts a scene that is sound.
 *
 * Mutations work on bytes, on tokens and on lines, because YAML is all three: a flipped byte tests the scanner, a
 * swapped token the checks of values, a moved line the structure. Where a mutation reads a random file or position,
 * everything follows from (seed, index). */
#include "sweep.h"

#include <perp/model.h>
#include <perp/scene_yaml.h>

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 64, MAX_TEXT = 1 << 16 };

typedef struct text {
    int length;
    bool costly;
    char bytes[MAX_TEXT];
} text;

static text *files[MAX_FILES];
static int file_count;

static void read_files(const char *pattern)
{
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0) { /* sorted */
        return;
    }
    for (size_t i = 0; i < found.gl_pathc && file_count < MAX_FILES; i++) {
        FILE *file = fopen(found.gl_pathv[i], "rb");
        text *t = calloc(1, sizeof *t);
        if (!file || !t) {
            fprintf(stderr, "%s: cannot be read\n", found.gl_pathv[i]);
            exit(2);
        }
        t->costly = strstr(found.gl_pathv[i], "bomb") != NULL;
        t->length = (int)fread(t->bytes, 1, MAX_TEXT / 2, file);
        fclose(file);
        if (t->length > 0) {
            files[file_count++] = t;
        } else {
            free(t);
        }
    }
    globfree(&found);
}

static void read_all_files(void)
{
    read_files(PERP_SOURCE_DIR "/tests/fuzz/corpus/scene/*.yaml");
    read_files(PERP_SOURCE_DIR "/examples/*/scene.yaml");
    if (file_count == 0) {
        fprintf(stderr, "no scenes to mutate under " PERP_SOURCE_DIR "\n");
        exit(2);
    }
}

/* ---- editing ------------------------------------------------------------------------------------------------------
 */

static int pick(perp_random *random, int count)
{
    return (int)(perp_random_bits(random) % (uint64_t)count);
}

/* Replaces `cut` bytes at `at` by `count` bytes; nothing happens if the result is too long. */
static void splice(text *t, int at, int cut, const char *bytes, int count)
{
    if (t->length - cut + count > MAX_TEXT) {
        return;
    }
    memmove(t->bytes + at + count, t->bytes + at + cut, (size_t)(t->length - at - cut));
    memcpy(t->bytes + at, bytes, (size_t)count);
    t->length += count - cut;
}

/* The line that holds position `at`: its start, and its length with the newline. */
static int line_at(const text *t, int at, int *length)
{
    int start = at, end = at;
    while (start > 0 && t->bytes[start - 1] != '\n') {
        start--;
    }
    while (end < t->length && t->bytes[end] != '\n') {
        end++;
    }
    *length = (end < t->length ? end + 1 : end) - start;
    return start;
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
           c == '-' || c == '+';
}

/* The first word at or after a random position; length 0 if there is none. */
static int random_word(const text *t, perp_random *random, int *length)
{
    int start = pick(random, t->length);
    while (start > 0 && is_word(t->bytes[start]) && is_word(t->bytes[start - 1])) {
        start--;
    }
    while (start < t->length && !is_word(t->bytes[start])) {
        start++;
    }
    int end = start;
    while (end < t->length && is_word(t->bytes[end])) {
        end++;
    }
    *length = end - start;
    return start;
}

/* ---- mutations ----------------------------------------------------------------------------------------------------
 */

static void mutate_bytes(text *t, perp_random *random)
{
    static const char marks[] = ":-[]{}&*!|>'\"%@`#?,~ \t\n\r\x00\x7f\xc3\xff";
    const int at = pick(random, t->length);
    char c;
    switch (pick(random, 5)) {
    case 0: /* flip a bit */
        t->bytes[at] = (char)(t->bytes[at] ^ (1 << pick(random, 8)));
        break;
    case 1: /* insert a character that means something to YAML, or that must not be there */
        c = marks[pick(random, (int)sizeof marks - 1)];
        splice(t, at, 0, &c, 1);
        break;
    case 2: /* any byte */
        t->bytes[at] = (char)pick(random, 256);
        break;
    case 3: { /* cut a stretch */
        const int left = t->length - at;
        splice(t, at, 1 + pick(random, left < 40 ? left : 40), "", 0);
        break;
    }
    default: /* the file ends here */
        t->length = at + 1;
        break;
    }
}

static void mutate_token(text *t, perp_random *random)
{
    static const char *const values[] = {
        "0",     "-1",    "1e308", "1e-320", "-0.0",    ".nan",       ".inf",    "-.inf", "1e999", "99999999999",
        "0x10",  "1e-05", "~",     "\"\"",   "[]",      "{}",         "true",    "false", "null",  "[1, 2, 3]",
        "[1e9]", "world", "*a",    "&a 1",   "!!int 1", "2147483648", "1000000", "1_0",   "1.",    "planar",
        "mass",  "fixed", "[[1]]", "{x: 1}", "a b",     "-",          "+",       ".",     "e",     "0.1"};
    const text *other = files[pick(random, file_count)];
    int length, other_length;
    const int at = random_word(t, random, &length);
    const int other_at = random_word(other, random, &other_length);
    switch (pick(random, 4)) {
    case 0: { /* a value that is a trap */
        const char *value = values[pick(random, (int)(sizeof values / sizeof *values))];
        splice(t, at, length, value, (int)strlen(value));
        break;
    }
    case 1: /* a word of another scene */
        splice(t, at, length, other->bytes + other_at, other_length);
        break;
    case 2: /* a misspelling */
        if (length > 1) {
            splice(t, at + pick(random, length), 1, "", 0);
        }
        break;
    default: /* nothing there */
        splice(t, at, length, "", 0);
        break;
    }
}

static void mutate_line(text *t, perp_random *random)
{
    const text *other = files[pick(random, file_count)];
    char copy[512];
    int length, other_length;
    const int at = line_at(t, pick(random, t->length), &length);
    const int other_at = line_at(other, pick(random, other->length), &other_length);
    const int kept = length < (int)sizeof copy ? length : (int)sizeof copy;
    memcpy(copy, t->bytes + at, (size_t)kept);
    switch (pick(random, 5)) {
    case 0: /* twice */
        splice(t, at, 0, copy, kept);
        break;
    case 1: /* never */
        splice(t, at, length, "", 0);
        break;
    case 2: { /* elsewhere */
        splice(t, at, kept, "", 0);
        int ignored;
        splice(t, t->length > 0 ? line_at(t, pick(random, t->length), &ignored) : 0, 0, copy, kept);
        break;
    }
    case 3: /* deeper or shallower */
        if (pick(random, 2) == 0) {
            splice(t, at, 0, "        ", 1 + pick(random, 8));
        } else if (length > 0 && t->bytes[at] == ' ') {
            splice(t, at, 1, "", 0);
        }
        break;
    default: /* a line of another scene */
        splice(t, at, 0, other->bytes + other_at, other_length);
        break;
    }
}

static void mutate(text *t, perp_random *random)
{
    const int count = pick(random, 2) == 0 ? 1 : 2 + pick(random, 3); /* a lone one is the likeliest to be accepted */
    for (int i = 0; i < count && t->length > 0; i++) {
        switch (pick(random, 4)) {
        case 0:
            mutate_bytes(t, random);
            break;
        case 1:
            mutate_line(t, random);
            break;
        default:
            mutate_token(t, random);
            break;
        }
    }
}

/* ---- what must hold -----------------------------------------------------------------------------------------------
 */

static void check_refusal(const perp_diagnostics *diagnostics, sweep_case *result)
{
    if (diagnostics->errors < 1 || diagnostics->count < 1) {
        sweep_fail(result, "refused without a diagnostic");
    }
    for (int i = 0; i < diagnostics->count; i++) {
        const perp_diagnostic *item = &diagnostics->items[i];
        if (!item->file[0] || item->line < 1 || item->column < 1 || !item->message[0]) {
            sweep_fail(result, "a diagnostic without a place: '%s' line %d column %d '%s'", item->file, item->line,
                       item->column, item->message);
        }
    }
}

static void check_finite(const char *what, const double *values, int count, sweep_case *result)
{
    for (int i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            sweep_fail(result, "%s[%d] is %g in an accepted scene", what, i, values[i]);
        }
    }
}

static void check_kinematics(const perp_model *model, const double *q, perp_kinematics *kinematics, sweep_case *result)
{
    perp_kinematics_update(model, q, kinematics);
    for (int b = 0; b < model->body_count; b++) {
        const perp_pose *p = &kinematics->pose[b];
        const double values[7] = {p->position.x, p->position.y, p->position.z, p->rotation.w,
                                  p->rotation.x, p->rotation.y, p->rotation.z};
        check_finite("pose", values, 7, result);
    }
}

/* The model builds, or says in words why not; its state is finite, now and when its drives have moved it. */
static void check_scene(const perp_scene *scene, sweep_case *result)
{
    perp_model *model;
    perp_state state;
    perp_kinematics *kinematics;
    perp_error error = {.status = PERP_STATUS_OK};
    const perp_status status = perp_model_build(scene, NULL, &model, &error);
    if (status != PERP_STATUS_OK) {
        if (status != PERP_STATUS_BAD_INPUT || !error.message[0]) {
            sweep_fail(result, "the model of an accepted scene: %s '%s'", perp_status_name(status), error.message);
        }
        return;
    }
    if (perp_state_create(model, NULL, &state, &error) != PERP_STATUS_OK) {
        sweep_fail(result, "the state of an accepted scene: %s", error.message);
        perp_model_free(model);
        return;
    }
    check_finite("q", state.q, model->nq, result);
    check_finite("v", state.v, model->nv, result);
    if (perp_kinematics_create(model, NULL, &kinematics, &error) != PERP_STATUS_OK) {
        sweep_fail(result, "the kinematics of an accepted scene: %s", error.message);
    } else {
        check_kinematics(model, state.q, kinematics, result);
        perp_prescribed_configuration(model, PERP_PRESCRIBE_POSITION_IMPEDANCE, 0.5, state.q);
        check_finite("q at 0.5 s", state.q, model->nq, result);
        check_kinematics(model, state.q, kinematics, result);
        perp_kinematics_free(kinematics);
    }
    perp_state_free(&state);
    perp_model_free(model);
}

static const text *mutated(uint64_t seed, int index)
{
    static text t;
    if (file_count == 0) {
        read_all_files();
    }
    perp_random random = {sweep_mix(seed, index)};
    const text *origin = files[pick(&random, file_count)];
    if (origin->costly && pick(&random, 10) != 0) { /* a bomb takes a hundred times as long to refuse as the others */
        origin = files[pick(&random, file_count)];
    }
    t.length = origin->length;
    memcpy(t.bytes, origin->bytes, (size_t)origin->length);
    mutate(&t, &random);
    return &t;
}

static void show(uint64_t seed, int index)
{
    const text *t = mutated(seed, index);
    fwrite(t->bytes, 1, (size_t)t->length, stdout);
}

static void run(uint64_t seed, int index, sweep_case *result)
{
    static perp_diagnostics diagnostics;
    const text *t = mutated(seed, index);
    memset(&diagnostics, 0, sizeof diagnostics);
    const perp_scene_load_options options = {0};
    perp_scene *scene = NULL;
    const perp_status status =
        perp_scene_load_text(t->bytes, (size_t)t->length, "mutated.yaml", NULL, &options, &scene, &diagnostics);
    if ((status == PERP_STATUS_OK) != (scene != NULL)) {
        sweep_fail(result, "status %s with%s a scene", perp_status_name(status), scene ? "" : "out");
    } else if (status == PERP_STATUS_BAD_INPUT) {
        result->kind = 1;
        check_refusal(&diagnostics, result);
    } else if (status == PERP_STATUS_OK) {
        if (diagnostics.errors != 0) {
            sweep_fail(result, "accepted with an error: %s", diagnostics.items[0].message);
        }
        check_scene(scene, result);
    } else {
        sweep_fail(result, "status %s", perp_status_name(status));
    }
    perp_scene_free(scene);
}

const sweep the_sweep = {
    .name = "scene_mutations",
    .checks = "damaged scenes: refused with file, line, column and a message, or accepted with a model whose state is "
              "finite",
    .full = 200000,
    .sample = 2000,
    .chunk = 5000,
    .kinds = {"accepted", "refused"},
    .run = run,
    .show = show,
};
