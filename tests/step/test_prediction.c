/* `run.prediction: taylor` speaks of driven bodies only: on every rung that takes it, a scene without any has the bits
 * of `exact`; and one whose drives are straight lines, which Taylor's first order has exactly, has its numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "scene_run.h"

#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char *const PREDICTIONS[2] = {"run.prediction=exact", "run.prediction=taylor"};

static void test_nothing_driven(void **unused)
{
    (void)unused;
    int moved = 0;
    for (int i = 0; i < perp_rung_count(); i++) {
        char model[64];
        scene_run runs[2];
        snprintf(model, sizeof model, "run.model=%s", perp_rung_at(i)->name);
        for (int k = 0; k < 2; k++) {
            scene_run_make(&runs[k], "masse-ball", SET(model, "run.h=0.01", "run.steps=20", PREDICTIONS[k]));
        }
        assert_int_equal(runs[0].status, runs[1].status);
        assert_int_equal(runs[0].result.steps, runs[1].result.steps);
        assert_true(runs[0].result.hash.value == runs[1].result.hash.value);
        moved += runs[1].result.steps == 20 && fabs(runs[1].state.q[0]) > 0.01;
        scene_run_free(&runs[0]);
        scene_run_free(&runs[1]);
    }
    assert_true(moved >= 4); /* dyn-lcp, dyn-ncp, dyn-qp, compliant */
}

/* A wall pushes a ball over a table at 0.3 m/s. Both kinds of steps see the same wall to rounding, 1e-16 m; solutions
 * differ by what the tolerance of a step, 1e-8 of weights, makes of it. */
static void test_driven_in_a_line(void **unused)
{
    (void)unused;
    static const char *const push =
        "perp: 1\nbodies:\n  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
        "  wall: {driven: {x: {rate: 0.3}}, shapes: [{plane: {normal: [1, 0, 0], offset: 0}}]}\n"
        "  ball: {mass: 1, pose: {position: [0.11, 0, 0.1]}, shapes: [{sphere: 0.1}]}\n"
        "contacts: {friction: 0.3}\ncompliance: {stiffness: 1e5, damping: 300}\nrun: {h: 0.002, steps: 200}\n";
    static const char *const models[] = {"run.model=dyn-ncp", "run.model=compliant"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        scene_run runs[2];
        for (int k = 0; k < 2; k++) {
            scene_run_make(&runs[k], push, SET(models[i], PREDICTIONS[k]));
            assert_int_equal(runs[k].status, PERP_STATUS_OK);
            assert_true(run_body(&runs[k], 200, "ball", 0) > 0.12 + 0.1 - 1e-3); /* where the wall has led it */
        }
        for (int k = 0; k < 3; k++) {
            assert_true(fabs(run_body(&runs[0], 200, "ball", k) - run_body(&runs[1], 200, "ball", k)) <= 1e-7);
        }
        scene_run_free(&runs[0]);
        scene_run_free(&runs[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_driven),
        cmocka_unit_test(test_driven_in_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
