/* A run's bits do not hang on what its memory held before: all zeros, or all bits set, which is no number in every
 * double. Something that is read before it is written gives itself away even where it is multiplied by 0. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scene_run.h"

static void *filled(void *context, size_t size)
{
    void *memory = malloc(size);
    return memory ? memset(memory, *(const int *)context, size) : NULL;
}

static void release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static perp_hash hash_of(const char *example, const char *const *settings, int byte)
{
    const perp_allocator allocator = {filled, release, &byte};
    const int requests = 0;
    scene_run run;
    scene_run_make_with(&run, example, settings, &allocator, &requests);
    assert_int_equal(run.status, PERP_STATUS_OK);
    const perp_hash hash = run.result.hash;
    scene_run_free(&run);
    return hash;
}

static void runs_are_the_same(void **unused)
{
    static const struct {
        const char *example, *model, *steps;
    } runs[] = {
        {"gripper-2d", "dyn-ncp", "run.steps=25"},    {"cube-stack", "dyn-ncp", "run.steps=5"},
        {"cube-stack", "dyn-lcp", "run.steps=5"},     {"four-bar", "dyn-lcp", "run.steps=20"},
        {"cube-stack", "dyn-qp", "run.steps=5"},      {"gripper-2d", "dyn-qp", "run.steps=25"},
        {"fence-particle", "qs-ncp", "run.steps=20"}, {"fence-particle", "qs-lcp", "run.steps=20"},
        {"gripper-2d", "qs-qp", "run.steps=10"},      {"gripper-2d", "qs-cone", "run.steps=10"},
        {"grazing", "quasidynamic", "run.steps=5"},   {"three-finger-grasp", "qs-impedance-lcp", "run.steps=10"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char model[64] = "run.model=";
        strcat(model, runs[i].model);
        const char *const settings[] = {model, runs[i].steps, NULL};
        if (hash_of(runs[i].example, settings, 0).value != hash_of(runs[i].example, settings, 0xff).value) {
            fail_msg("%s on %s: its bits hang on what was in memory", runs[i].example, runs[i].model);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_are_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
