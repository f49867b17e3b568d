/* Islands of a step: what lies apart changes nothing, by no bit, whatever it weighs, however fast it is and however
 * finely its own steps are split; and islands that come to meet are one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scene_run.h"

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

typedef struct fragment {
    const char *bodies, *joints;
} fragment;

/* What is looked at, near the origin. */
static const fragment SUBJECTS[] = {
    {"  slide: {mass: 1, shapes: [{box: [.2, .2, .2]}], pose: {position: [3, 0, .1]}, velocity: {linear: [1, .2, 0]}}\n"
     "  low: {mass: 1, shapes: [{box: [.2, .2, .2]}], pose: {position: [5, 0, .1]}}\n"
     "  high: {mass: 3, shapes: [{box: [.1, .1, .1]}], pose: {position: [5.02, 0.01, .25]}}\n",
     ""},
    {"  finger: {driven: {x: {offset: 0.7, rate: .2}, y: 0.03, z: 0.1}, shapes: [{sphere: 0.05}]}\n"
     "  block: {mass: 0.5, shapes: [{box: [.2, .3, .2]}], pose: {position: [0.852, 0, .1]}}\n",
     ""},
    {"  upper: {mass: 1, com: [0.2, 0, 0], inertia: [.01, .01, .01]}\n"
     "  lower: {mass: 0.5, com: [0.15, 0, 0], inertia: [.01, .01, .01], shapes: [{sphere: 0.05, pose: {position: [.3, "
     "0, "
     "0]}}]}\n",
     "  shoulder: {type: revolute, parent: world, child: upper, axis: [0, 1, 0], anchor: [0, 0, 0.42], position: 0.3,\n"
     "             velocity: 2, control: impedance, stiffness: 20, damping: 1, command: 0.9}\n"
     "  elbow: {type: revolute, parent: upper, child: lower, axis: [0, 1, 0], anchor: [0.4, 0, 0], position: 0.2,\n"
     "          velocity: -1, control: impedance, stiffness: 15, damping: 1, command: 0.4}\n"},
    {"  thrown: {mass: 1, shapes: [{box: [.3, .1, .2]}], pose: {position: [0, 0, .3]},\n"
     "           velocity: {linear: [1, 0, 0], angular: [4, 6, 3]}}\n",
     ""},
};

/* What lies apart. */
static const fragment BYSTANDERS[] = {
    {"  zz_heavy: {mass: 1000000000.0, shapes: [{box: [1, 1, 1]}], pose: {position: [-20, 0, .5]}}\n", ""},
    {"  zz_light: {mass: 1.0e-9, shapes: [{box: [1, 1, 1]}], pose: {position: [-20, 0, .5]}}\n", ""},
    {"  zz_driven: {driven: {x: {offset: 0, rate: 40}, y: 30, z: 1}, shapes: [{box: [1, 1, 1]}]}\n", ""},
    {"  zz_dropped: {mass: 1000.0, shapes: [{box: [.5, .1, .3], friction: 9}], pose: {position: [0, 40, .4]},\n"
     "               velocity: {linear: [3, 0, -9], angular: [9, 11, 5]}}\n",
     ""},
    {"  zz_flies: {mass: 2, shapes: [{sphere: 1}], pose: {position: [0, -100, 50]}, velocity: {linear: [0, -300, "
     "0]}}\n",
     ""},
    {"  zz_rod: {mass: 1, com: [.5, 0, 0], inertia: [.1, .1, .1], shapes: [{sphere: 0.1, pose: {position: [1, 0, "
     "0]}}]}\n",
     "  zz_hinge: {type: revolute, parent: world, child: zz_rod, axis: [0, 1, 0], anchor: [0, 60, 5], velocity: 9}\n"},
};

enum { SUBJECT_COUNT = 4, BYSTANDER_COUNT = 6, TEXT = 4000 };

/* The subject, and behind or before it the bystander (NULL: none). */
static void write_scene(char text[TEXT], const fragment *subject, const fragment *bystander, bool behind)
{
    const fragment nothing = {"", ""}, *other = bystander ? bystander : &nothing;
    const fragment *first = behind ? subject : other, *last = behind ? other : subject;
    const bool jointed = subject->joints[0] || other->joints[0];
    const int length =
        snprintf(text, TEXT,
                 "perp: 1\nbodies:\n  ground: {fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}\n%s%s%s%s%s"
                 "contacts: {friction: 0.4}\nrun: {model: dyn-ncp, h: 0.01, steps: 40}\n",
                 first->bodies, last->bodies, jointed ? "joints:\n" : "", first->joints, last->joints);
    assert_true(length < TEXT);
}

static int body_named(const scene_run *run, const char *name)
{
    for (int i = 0; i < run->model->body_count; i++) {
        if (strcmp(run->scene->bodies[i].name, name) == 0) {
            return i;
        }
    }
    fail_msg("no body %s", name);
    return -1;
}

static bool same_bits(const double *x, const double *y, int count)
{
    return count == 0 || memcmp(x, y, (size_t)count * sizeof *x) == 0;
}

/* ---- the same ---------------------------------------------------------------------------------------------------- */

static void same_motion(const scene_run *alone, const scene_run *with, const char *what)
{
    assert_int_equal(alone->count, with->count);
    for (int b = 0; b < alone->model->body_count; b++) {
        const perp_link *mine = &alone->model->links[b];
        const perp_link *its = &with->model->links[body_named(with, alone->scene->bodies[b].name)];
        for (int k = 0; k < alone->count; k++) {
            const run_state *x = &alone->states[k], *y = &with->states[k];
            if (!same_bits(x->q + mine->q_start, y->q + its->q_start, mine->q_count) ||
                !same_bits(x->v + mine->v_start, y->v + its->v_start, mine->v_count)) {
                fail_msg("%s: body %s at step %d", what, alone->scene->bodies[b].name, k);
            }
        }
    }
}

/* Contacts that carry force do so by the same force. */
static void same_forces(const scene_run *alone, const scene_run *with, const char *what)
{
    for (int k = 1; k < alone->count; k++) {
        for (int i = 0; i < alone->states[k].contact_count; i++) {
            const perp_contact_record *mine = &alone->states[k].contacts[i];
            const int a = body_named(with, alone->scene->bodies[mine->contact.a].name);
            const int b = body_named(with, alone->scene->bodies[mine->contact.b].name);
            bool found = mine->mode == PERP_CONTACT_OPEN;
            for (int j = 0; j < with->states[k].contact_count && !found; j++) {
                const perp_contact_record *its = &with->states[k].contacts[j];
                found = its->contact.a == a && its->contact.b == b &&
                        its->contact.feature_a == mine->contact.feature_a &&
                        its->contact.feature_b == mine->contact.feature_b && its->mode == mine->mode &&
                        its->fn == mine->fn && same_bits(its->ft, mine->ft, 2) && same_bits(its->slip, mine->slip, 2);
            }
            if (!found) {
                fail_msg("%s: contact %d at step %d", what, i, k);
            }
        }
    }
}

static int split; /* steps of all runs with bystanders */

/* Returns whether there was something to compare: rungs without inertia refuse what nothing supports. */
static bool compare(const char *model, int subject, int bystander, bool behind, const char *tolerance)
{
    char alone_text[TEXT], text[TEXT], chosen[60], what[200];
    scene_run alone, with;
    bool compared = false;
    snprintf(chosen, sizeof chosen, "run.model=%s", model);
    snprintf(what, sizeof what, "%s, subject %d, bystander %d %s, %s", model, subject, bystander,
             behind ? "behind" : "before", tolerance);
    write_scene(alone_text, &SUBJECTS[subject], NULL, true);
    write_scene(text, &SUBJECTS[subject], &BYSTANDERS[bystander], behind);
    scene_run_make(&alone, alone_text, SET(chosen, tolerance));
    if (alone.status == PERP_STATUS_OK) {
        scene_run_make(&with, text, SET(chosen, tolerance));
        if (with.status == PERP_STATUS_OK) {
            same_motion(&alone, &with, what);
            same_forces(&alone, &with, what);
            split += with.result.fallbacks[PERP_FALLBACK_SUBSTEP] - alone.result.fallbacks[PERP_FALLBACK_SUBSTEP];
            compared = true;
        } else if (!with.error.code || strcmp(with.error.code, "unsupported-body") != 0) {
            fail_msg("%s: %s", what, with.error.message);
        }
        scene_run_free(&with);
    }
    scene_run_free(&alone);
    return compared;
}

static void test_what_lies_apart(void **unused)
{
    (void)unused;
    for (int r = 0; r < perp_rung_count(); r++) {
        const perp_rung *rung = perp_rung_at(r);
        const bool carries = rung->inertia == PERP_RUNG_INERTIA_FULL || rung->inertia == PERP_RUNG_INERTIA_ONE_STEP;
        int compared = 0;
        for (int s = 0; s < SUBJECT_COUNT && rung->step; s++) {
            for (int b = 0; b < BYSTANDER_COUNT; b++) {
                compared += compare(rung->name, s, b, (s + b) % 2 == 0, "run.substep_tolerance=.inf") ? 1 : 0;
            }
        }
        if (rung->step && compared < (carries ? SUBJECT_COUNT * BYSTANDER_COUNT : 6)) {
            fail_msg("%s: only %d were compared", rung->name, compared);
        }
    }
}

/* Each is split on its own. */
static void test_what_is_split_apart(void **unused)
{
    (void)unused;
    static const char *const models[] = {"dyn-ncp", "dyn-lcp", "dyn-qp", "compliant", "quasidynamic"};
    split = 0;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        for (int s = 0; s < SUBJECT_COUNT; s++) {
            for (int b = 2; b < BYSTANDER_COUNT; b++) {
                assert_true(compare(models[m], s, b, (s + b) % 2 == 1, "run.substep_tolerance=1.0e-5"));
            }
        }
    }
    assert_true(split > 100); /* of the bystanders alone */
}

static void test_far_and_near(void **unused)
{
    (void)unused;
    static const double AT[] = {0.5, 1.2, 30.0, 1e6};
    for (int i = 0; i < 4; i++) {
        char text[TEXT], other[200];
        scene_run alone, with;
        snprintf(other, sizeof other,
                 "  zz: {mass: 1.0e+6, shapes: [{box: [.2, .2, .2]}], pose: {position: [%.17g, 1, .1]},\n"
                 "       velocity: {linear: [0, 0.5, 0]}}\n",
                 3.0 + AT[i]);
        const fragment bystander = {other, ""};
        write_scene(text, &SUBJECTS[0], NULL, true);
        scene_run_make(&alone, text, SET("run.model=dyn-lcp"));
        write_scene(text, &SUBJECTS[0], &bystander, true);
        scene_run_make(&with, text, SET("run.model=dyn-lcp"));
        assert_int_equal(with.status, PERP_STATUS_OK);
        same_motion(&alone, &with, "near");
        scene_run_free(&alone);
        scene_run_free(&with);
    }
}

/* ---- those that meet --------------------------------------------------------------------------------------------- */

/* A ball strikes a light one, which within the same step comes to a third that was out of its way: they are one island
 * then, and the light ball is not seen to pass through. */
static void test_meeting(void **unused)
{
    (void)unused;
    static const char SCENE[] =
        "perp: 1\ngravity: [0, 0, 0]\nbodies:\n"
        "  strikes: {mass: 10, shapes: [{sphere: .05}], pose: {position: [0, 0, 0]}, velocity: {linear: [10, 0, 0]}}\n"
        "  struck: {mass: .01, shapes: [{sphere: .05}], pose: {position: [.11, 0, 0]}}\n"
        "  beyond: {mass: 1, shapes: [{sphere: .05}], pose: {position: [.26, 0, 0]}}\n"
        "contacts: {margin: 0.005, pairs: {\"strikes struck\": {restitution: 1},\n"
        "           \"struck beyond\": {restitution: 0}}}\n"
        "compliance: {stiffness: 1.0e+6, damping: 100}\n"
        "run: {model: dyn-ncp, h: 0.01, steps: 30}\n";
    static const char *const models[] = {"dyn-ncp", "dyn-lcp", "dyn-qp", "compliant"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        const double deep = strcmp(models[m], "compliant") == 0 ? 5e-3 : 1e-9; /* m: F / K of an impulse within h */
        char chosen[60];
        scene_run run;
        snprintf(chosen, sizeof chosen, "run.model=%s", models[m]);
        scene_run_make(&run, SCENE, SET(chosen));
        assert_int_equal(run.status, PERP_STATUS_OK);
        const int last = run.count - 1;
        for (int k = 1; k <= last; k++) {
            assert_true(run_body(&run, k, "struck", 0) >= run_body(&run, k, "strikes", 0) + 0.1 - deep);
            assert_true(run_body(&run, k, "beyond", 0) >= run_body(&run, k, "struck", 0) + 0.1 - deep);
        }
        const double momentum = 10 * run.states[last].v[0] + .01 * run.states[last].v[6] + run.states[last].v[12];
        NEAR(momentum, 100.0, 1e-6);
        assert_true(run.states[last].v[12] > 5.0);
        scene_run_free(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_lies_apart),
        cmocka_unit_test(test_what_is_split_apart),
        cmocka_unit_test(test_far_and_near),
        cmocka_unit_test(test_meeting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
