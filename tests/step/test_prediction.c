/* `run.prediction: taylor` speaks of driven bodies only: on every rung that takes it, a scene without any has the bits
 * of `exact`. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_driven),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
