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

/* With four rays and no friction at the fence any |y'| <= x' is an answer: one set, with both ends, of which the motion
 * straight on is the smallest. */
static void test_several_velocities(void **unused)
{
    (void)unused;
    scene_run run;
    run_well(&run, "fence-particle",
             SET("run.model=instant-qs", "run.cone=rays", "bodies.particle.pose.position.0=0.5",
                 "contacts.pairs.fence particle.friction=0"));
    assert_int_equal(run.result.solution_count, 1);
    assert_false(run.result.partial);
    const perp_instant_solution *s = &run.result.solutions[0];
    assert_int_equal(s->vertex_count, 2);
    assert_int_equal(s->ray_count, 0);
    NEAR(rate_of(&run, 0)[0], 0.4, 1e-9);
    NEAR(rate_of(&run, 0)[1], 0.0, 1e-9);
    NEAR(s->contacts[1].fn, 4.905, 1e-6);
    for (int i = 0; i < 2; i++) {
        const double *end = s->vertices + (ptrdiff_t)(i + 1) * run.model->nv - 3;
        NEAR(end[0], 0.4, 1e-9);
        NEAR(end[1], i == 0 ? s->vertices[run.model->nv - 2] : -s->vertices[run.model->nv - 2], 1e-9);
        NEAR(fabs(end[1]), 0.4, 1e-9);
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

/* Eight balls against the walls of a bin, one pressed by a finger: too many modes to list, and pivoting ends without an
 * answer. The search through modes that is to say why has one. */
static void test_found_on_the_way(void **unused)
{
    static const char BIN[] =
        "perp: 1\n"
        "planar: false\n"
        "gravity: [0, 0, -9.8100000000000005]\n"
        "bodies:\n"
        "  b0: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}, pose: {position: [0, 0, 0]}}, {plane: "
        "{normal: [1, 0, 0], offset: -0.19421409879407964}, pose: {position: [0, 0, 0]}}, {plane: {normal: [-1, 0, 0], "
        "offset: -0.19421409879407964}, pose: {position: [0, 0, 0]}}, {plane: {normal: [0, 1, 0], offset: "
        "-0.19421409879407964}, pose: {position: [0, 0, 0]}}, {plane: {normal: [0, -1, 0], offset: "
        "-0.19421409879407964}, pose: {position: [0, 0, 0]}}]}\n"
        "  b1: {mass: 0.067113324339654126, pose: {position: [-0.14895468910529741, -0.14895468910529741, "
        "0.045259409688782226]}, shapes: [{sphere: 0.045259409688782226, pose: {position: [0, 0, 0]}}]}\n"
        "  b2: {mass: 0.59246931649904178, pose: {position: [-0.16725177117844645, 0.16725177117844645, "
        "0.026962327615633188]}, shapes: [{sphere: 0.026962327615633188, pose: {position: [0, 0, 0]}}]}\n"
        "  b3: {mass: 1.5061836810421383, pose: {position: [-0.16821799255723088, -0.083112462304669649, "
        "0.025996106236848747]}, shapes: [{sphere: 0.025996106236848747, pose: {position: [0, 0, 0]}}]}\n"
        "  b4: {mass: 0.63405209019318109, pose: {position: [-0.14545720376040697, 0.098089683726315435, "
        "0.04875689503367267]}, shapes: [{sphere: 0.04875689503367267, pose: {position: [0, 0, 0]}}]}\n"
        "  b5: {mass: 3.9371304874253457, pose: {position: [0.15685907762284473, -0.15685907762284473, "
        "0.03735502117123489]}, shapes: [{sphere: 0.037355021171234896, pose: {position: [0, 0, 0]}}]}\n"
        "  b6: {mass: 0.42806541762248118, pose: {position: [-0.1731168566680282, -0.036531503524526915, "
        "0.021097242126051425]}, shapes: [{sphere: 0.021097242126051425, pose: {position: [0, 0, 0]}}]}\n"
        "  b7: {mass: 3.0355140062733748, pose: {position: [-0.16820104786419829, 0.03059168427331144, "
        "0.026013050929881348]}, shapes: [{sphere: 0.026013050929881348, pose: {position: [0, 0, 0]}}]}\n"
        "  b8: {shapes: [{sphere: 0.0072339025008782889, pose: {position: [0, 0, 0]}}]}\n"
        "joints:\n"
        "  j8: {type: prismatic, parent: world, child: b8, anchor: [-0.16375579164663034, 0.098089683726315435, "
        "0.10167315992382943], axis: [0.32681420326137761, 0, -0.94508860777528725], position: 0, control: position, "
        "stiffness: 0, damping: 0, command: {times: [0, 0.065145780871881165], values: [0, 0.11577218643183201]}}\n"
        "contacts: {friction: 1.7397040122739009, margin: 0.02800902449740255}\n"
        "run: {model: instant-qs, cone: rays}\n";
    (void)unused;
    scene_run run;
    run_well(&run, BIN, NULL);
    assert_int_equal(run.result.solution_count, 1);
    assert_true(run.result.partial);
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
        cmocka_unit_test(test_found_on_the_way),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
