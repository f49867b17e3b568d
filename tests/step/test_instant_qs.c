/* `instant-qs`: the velocities of the fence's particle, several velocities, several forces, and no answer at all.
 * Tolerances: 1e-9 m/s and 1e-6 N, as in test_rigid_step.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "scene_run.h"

static void run_well(scene_run *run, const char *source, const char *const *settings)
{
    scene_run_make(run, source, settings);
    if (run->status != PERP_STATUS_OK) {
        fail_msg("%s: %s", source, run->error.message);
    }
    assert_int_equal(run->result.steps, 0);
}

/* The velocity of the particle, which is the last body and has three degrees of freedom. */
static const double *rate_of(const scene_run *run, int solution)
{
    const int nv = run->model->nv;
    return run->result.solutions[solution].rate + nv - 3;
}

/* At t = 0 the fence moves at x' = 0.4, y' = 1 and touches the particle: on the quadratic cone y' / x' is its friction,
 * on four rays 1 (reference tables). */
static void test_pushed_particle(void **unused)
{
    (void)unused;
    scene_run run;
    run_well(&run, "fence-particle", SET("run.model=instant-qs", "bodies.particle.pose.position.0=0.5"));
    assert_int_equal(run.result.solution_count, 1);
    NEAR(rate_of(&run, 0)[0], 0.4, 1e-9);
    NEAR(rate_of(&run, 0)[1], 0.2, 1e-9);
    NEAR(rate_of(&run, 0)[2], 0.0, 1e-9);
    NEAR(run.result.solutions[0].contacts[1].fn, 4.387165372, 1e-6);
    scene_run_free(&run);
    run_well(&run, "fence-particle",
             SET("run.model=instant-qs", "run.cone=rays", "bodies.particle.pose.position.0=0.5"));
    assert_int_equal(run.result.solution_count, 1);
    NEAR(rate_of(&run, 0)[1], 0.4, 1e-9);
    NEAR(run.result.solutions[0].contacts[1].fn, 3.27, 1e-6);
    scene_run_free(&run);
}

/* With four rays and no friction at the fence any |y'| <= x' is an answer: both ends are listed. */
static void test_several_velocities(void **unused)
{
    (void)unused;
    scene_run run;
    run_well(&run, "fence-particle",
             SET("run.model=instant-qs", "run.cone=rays", "bodies.particle.pose.position.0=0.5",
                 "contacts.pairs.fence particle.friction=0"));
    assert_int_equal(run.result.solution_count, 2);
    NEAR(rate_of(&run, 0)[1] + rate_of(&run, 1)[1], 0.0, 1e-9);
    for (int i = 0; i < 2; i++) {
        NEAR(rate_of(&run, i)[0], 0.4, 1e-9);
        NEAR(fabs(rate_of(&run, i)[1]), 0.4, 1e-9);
        NEAR(run.result.solutions[i].contacts[1].fn, 4.905, 1e-6);
    }
    scene_run_free(&run);
}

/* Away from the fence nothing moves. */
static void test_rest(void **unused)
{
    (void)unused;
    scene_run run;
    run_well(&run, "fence-particle", SET("run.model=instant-qs", "run.cone=rays"));
    assert_int_equal(run.result.solution_count, 1);
    for (int k = 0; k < 3; k++) {
        NEAR(rate_of(&run, 0)[k], 0.0, 1e-9);
    }
    scene_run_free(&run);
}

static const char *const WEDGED = "perp: 1\n"
                                  "planar: true\n"
                                  "gravity: [0, -10]\n"
                                  "bodies:\n"
                                  "  left: {fixed: true, shapes: [{halfplane: {normal: [1, 0], offset: -0.1}}]}\n"
                                  "  right: {fixed: true, shapes: [{halfplane: {normal: [-1, 0], offset: -0.1}}]}\n"
                                  "  disc: {mass: 1, free: [x, y], shapes: [{disc: 0.1}]}\n"
                                  "contacts: {friction: 0.5}\n"
                                  "run: {model: instant-qs}\n";

/* A disc between two walls rests with any squeeze of at least 10 N / (2 mu) = 10 N, and the least is listed. Without
 * friction nothing holds it: no answer, which is a result. */
static void test_forces_without_bound(void **unused)
{
    (void)unused;
    scene_run run;
    run_well(&run, WEDGED, SET("contacts.friction=0.5"));
    assert_int_equal(run.result.solution_count, 1);
    const perp_instant_solution *s = &run.result.solutions[0];
    for (int i = 0; i < 2; i++) {
        NEAR(s->contacts[i].fn, 10.0, 1e-6);
        NEAR(s->fn_low[i], 10.0, 1e-6);
        assert_true(isinf(s->fn_high[i]));
        NEAR(s->contacts[i].force_on_b.y, 5.0, 1e-6);
    }
    scene_run_free(&run);
    run_well(&run, WEDGED, SET("contacts.friction=0"));
    assert_int_equal(run.result.solution_count, 0);
    scene_run_free(&run);
}

static void test_out_of_memory(void **unused)
{
    (void)unused;
    scene_run_refuse_memory(WEDGED, SET("contacts.friction=0.5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pushed_particle),
        cmocka_unit_test(test_several_velocities),
        cmocka_unit_test(test_rest),
        cmocka_unit_test(test_forces_without_bound),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
