/* `instant`: in space, without an answer, what takes part, what is refused, cancelling and memory.
 *
 * Tolerances: closed forms are met to TIGHT, a hundred times what rounding and the differences of instant_motion.c
 * leave of numbers of size 10. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scene_run.h"

#include <perp/sim.h>

static const double TIGHT = 1e-9, PI = 3.141592653589793;

/* In space: a ball that slides obliquely, rolling friction on the rays for one that begins to; the numbers of all rays
 * agree where the pull is along one. */
static void test_space(void **unused)
{
    (void)unused;
    static const char *const ball =
        "perp: 1\nbodies:\n  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
        "  ball: {mass: 2, pose: {position: [0, 0, 0.1]}, shapes: [{sphere: 0.1}]}\n"
        "contacts: {friction: 0.2}\nrun: {model: instant}\n";
    scene_run run;
    instant_run(&run, ball, SET("bodies.ball.velocity.linear=[3, -4, 0]"));
    const double expected[6] = {-0.6 * 0.2 * 9.81,     0.8 * 0.2 * 9.81,      0,
                                0.8 * 0.2 * 9.81 * 25, 0.6 * 0.2 * 9.81 * 25, 0};
    for (int k = 0; k < 6; k++) {
        NEAR(instant_only(&run)->rate[k], expected[k], 1e-8);
    }
    assert_int_equal(instant_only(&run)->contacts[0].mode, PERP_CONTACT_SLIDE);
    scene_run_free(&run);
    for (int rays = 4; rays <= 8; rays += 4) {
        char setting[32];
        snprintf(setting, sizeof setting, "run.rays=%d", rays);
        instant_run(&run, ball, SET(setting, "gravity=[0, 5, -9.81]"));
        NEAR(instant_only(&run)->rate[1], 5.0 * 5 / 7, TIGHT); /* rolls: 5/7 of the pull, mu 2/7 tan is less than 0.2 */
        NEAR(instant_only(&run)->contacts[0].ft[1], -2.0 * 5 * 2 / 7, TIGHT);
        assert_int_equal(instant_only(&run)->contacts[0].mode, PERP_CONTACT_STICK);
        scene_run_free(&run);
        instant_run(&run, ball, SET(setting, "gravity=[-9, 0, -9.81]"));
        NEAR(instant_only(&run)->rate[0], -9 + 0.2 * 9.81, TIGHT);
        assert_int_equal(instant_only(&run)->contacts[0].mode, PERP_CONTACT_LIMIT);
        scene_run_free(&run);
        /* Between two rays: on the side of the polygon, where ft is shorter than mu fn, it slips all the same; mode and
         * margin are in Coulomb's measure on every cone. */
        const double angle = PI / rays, along[2] = {cos(angle), sin(angle)}, side = 0.2 * 2 * 9.81 * cos(angle);
        char gravity[80];
        snprintf(gravity, sizeof gravity, "gravity=[%.17g, %.17g, -9.81]", 9 * along[0], 9 * along[1]);
        instant_run(&run, ball, SET(setting, gravity));
        const perp_contact_record *contact = &instant_only(&run)->contacts[0];
        NEAR(hypot(contact->ft[0], contact->ft[1]), side, TIGHT);
        NEAR(contact->margin, 0.2 * 2 * 9.81 - side, TIGHT);
        assert_int_equal(contact->mode, PERP_CONTACT_STICK);
        assert_true(instant_only(&run)->rate[0] > 5.0 / 7 * 9 * along[0]); /* more than where it rolls */
        scene_run_free(&run);
    }
}

/* A press that is at rest and begins to close on a block before a wall: no accelerations meet that, whatever the
 * friction; where it begins to open, or closes on a block with room, there is one. */
static void test_commands_without_answer(void **unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++) {
        scene_run run;
        instant_run(&run,
                    scene_text_of("perp: 1\nplanar: true\ngravity: [0, 0]\nbodies:\n"
                                  "  wall: {fixed: true, shapes: [{halfplane: {normal: [-1, 0], offset: %.17g}}]}\n"
                                  "  press: {driven: {x: {times: [0, 1, 2], values: [0, %g, 0], interpolate: cubic}},\n"
                                  "    shapes: [{halfplane: {normal: [1, 0], offset: -0.5}}]}\n"
                                  "  block: {mass: 1, shapes: [{box: [1, 1]}]}\n"
                                  "contacts: {friction: 0.4}\nrun: {model: instant}\n",
                                  i == 1 ? -0.51 : -0.5, i == 2 ? -0.1 : 0.1)
                        .of,
                    SET("run.h=0.01"));
        assert_int_equal(run.result.solution_count, i == 0 ? 0 : 1);
        assert_true((strstr(run.result.why_none, "commanded") != NULL) == (i == 0));
        if (i == 1) { /* a cubic that begins at rest: x'' = 6 d - 2 m1 with d = 0.1 and, by symmetry, m1 = 0 */
            NEAR(run.result.solutions[0].rate[3], 0.6, TIGHT);
            NEAR(run.result.solutions[0].contacts[0].fn + run.result.solutions[0].contacts[1].fn +
                     run.result.solutions[0].contacts[2].fn + run.result.solutions[0].contacts[3].fn,
                 0.6, TIGHT);
        }
        scene_run_free(&run);
    }
}

/* Neither of the contacts that slide draws its bodies together by itself, and together they do. */
static void test_paradox_over_several_contacts(void **unused)
{
    (void)unused;
    scene_run run;
    instant_run(
        &run,
        "perp: 1\nplanar: true\ngravity: [-2.0423401924017357, -9.81]\nbodies:\n"
        "  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
        "  block: {mass: 0.2241573949188938, pose: {position: [-0.007152612801378411, 0.1771216679261502]},\n"
        "    shapes: [{box: [0.4078741886711319, 0.3542433358523004]}], velocity: {linear: [0.35170006558793, 0]}}\n"
        "  disc: {mass: 0.668805823337926, pose: {position: [-0.0300631659391162, 0.5319195687895346]},\n"
        "    shapes: [{disc: 0.17767623293723428}], velocity: {linear: [1.62018797854267, 0], angular: 3.80105231}}\n"
        "contacts: {friction: 0.8}\nrun: {model: instant}\n",
        SET("run.h=0.01"));
    assert_int_equal(run.result.solution_count, 0);
    assert_non_null(strstr(run.result.why_none, "several contacts: friction at the 3 that slide"));
    scene_run_free(&run);
}

static const char *const BOX = "perp: 1\nplanar: true\nbodies:\n"
                               "  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
                               "  box: {mass: 1, pose: {position: [0, 0.25]}, shapes: [{box: [1, 0.5]}]}\n"
                               "contacts: {friction: 0.5}\nrun: {model: instant}\n";

/* What touches and parts, or is about to hit, is not active: forces of an instant do not answer it. */
static void test_active(void **unused)
{
    (void)unused;
    static const char *const moves[] = {"bodies.box.velocity.linear=[0, 1e-6]", "bodies.box.velocity.linear=[0, -1e-6]",
                                        "bodies.box.pose.position=[0, 0.2500001]"};
    for (int i = 0; i < 3; i++) {
        scene_run run;
        instant_run(&run, BOX, SET(moves[i]));
        NEAR(instant_only(&run)->rate[1], -9.81, TIGHT);
        /* what parts is no one's surprise; both corners of the box are named or counted */
        static const char *const words[] = {NULL, "approaches at 1e-06 m/s", "is apart by 1e-07 m"};
        assert_true(words[i]
                        ? strstr(run.result.left_out, words[i]) && strstr(run.result.left_out, "and 1 more like it")
                        : run.result.left_out[0] == '\0');
        scene_run_free(&run);
    }
}

/* Bodies that overlap are in no state of rigid ones: up to 1e-6 of the scene's size it is said, from there on refused.
 */
static void test_overlap(void **unused)
{
    (void)unused;
    scene_run run;
    instant_run(&run, BOX, SET("bodies.box.pose.position=[0, 0.24999999]"));
    assert_non_null(strstr(run.result.left_out, "overlaps by 1e-08 m"));
    scene_run_free(&run);
    static const char *const models[] = {"run.model=instant", "run.model=instant-qs"};
    for (int i = 0; i < 2; i++) {
        scene_run_make(&run, BOX, SET(models[i], "bodies.box.pose.position=[0, 0.24]"));
        assert_int_equal(run.status, PERP_STATUS_INFEASIBLE);
        assert_string_equal(run.error.code, "penetrating-start");
        assert_true(run.error.evidence.has_depth);
        NEAR(run.error.evidence.depth, 0.01, TIGHT);
        assert_int_equal(run.result.solution_count, 0);
        scene_run_free(&run);
    }
}

/* A flag that is set ends the listing with its own status; without an observer nothing else could. */
static void test_stops_when_told(void **unused)
{
    (void)unused;
    scene_run run;
    instant_run(&run, "wedged-disc", SET("bodies.disc.velocity.angular=1"));
    bool cancel = false;
    for (int told = 0; told < 2; told++) {
        perp_run_settings settings = run.model->scene->run;
        perp_run_result result;
        perp_error error;
        settings.cancel = &cancel;
        cancel = told == 1;
        const perp_status status = perp_run(run.model, &settings, NULL, NULL, NULL, &run.state, &result, &error);
        assert_int_equal(status, told ? PERP_STATUS_CANCELLED : PERP_STATUS_OK);
        assert_int_equal(result.solution_count, told ? 0 : run.result.solution_count);
        assert_int_equal(result.partial, told); /* there are some */
        perp_run_result_free(&result);
    }
    scene_run_free(&run);
}

static void test_out_of_memory(void **unused)
{
    (void)unused;
    scene_run_refuse_memory("wedged-disc", SET("bodies.disc.velocity.angular=1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_space),
        cmocka_unit_test(test_commands_without_answer),
        cmocka_unit_test(test_paradox_over_several_contacts),
        cmocka_unit_test(test_active),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_stops_when_told),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
