/* Where nothing slides and nothing comes close, convex friction is Coulomb's: from the same state qs-impedance-lcp and
 * qs-qp make the same step. Compared along the run of qs-qp on every example, step by step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <perp/scene_yaml.h>
#include <perp/sim.h>
#include <perp/step.h>

/* How often each example must at least have been compared: a test that compares nothing proves nothing. */
typedef struct subject {
    const char *name;
    int steps, least;
} subject;

static const subject subjects[] = {
    {"gripper-2d", 25, 13},      {"door", 100, 7},           {"grazing", 10, 9},
    {"four-bar", 100, 33},       {"peg-in-hole-2d", 60, 25}, {"three-finger-grasp", 60, 60},
    {"tweezers-pawl", 100, 100}, {"cube-stack", 20, 12},     {"pusher-1d", 1, 1},
    {"fence-particle", 100, 23},
};

static perp_scene *load(const char *name)
{
    static perp_diagnostics diagnostics;
    char path[512];
    perp_scene *scene;
    snprintf(path, sizeof path, PERP_SOURCE_DIR "/examples/%s/scene.yaml", name);
    memset(&diagnostics, 0, sizeof diagnostics);
    assert_int_equal(perp_scene_load_file(path, NULL, &scene, &diagnostics), PERP_STATUS_OK);
    return scene;
}

/* One step of a rung from `state`, which it moves. */
static void take_step(const perp_model *model, const char *rung, perp_state *state, perp_run_result *result)
{
    perp_run_settings settings = model->scene->run;
    perp_error error = {0};
    settings.model = rung;
    settings.cone = PERP_CONE_UNSET;
    settings.steps_set = true;
    settings.steps = 1;
    settings.substep_tolerance = INFINITY; /* the comparison is of one step */
    if (perp_run(model, &settings, NULL, NULL, NULL, state, result, &error) != PERP_STATUS_OK) {
        fail_msg("%s at t = %g: %s", rung, state->t, error.message);
    }
}

/* Every contact that slips is open, and ends farther away than its layer would be. */
static bool laws_agree(const perp_run_result *result, double h)
{
    for (int i = 0; i < result->contact_count; i++) {
        const perp_contact_record *c = &result->contacts[i];
        const double slip = hypot(c->slip[0], c->slip[1]);
        if (slip > 1e-12 && (c->fn > 0.0 || c->contact.phi < c->contact.friction * h * slip + 1e-9)) {
            return false;
        }
    }
    return true;
}

static int compare_along(const subject *s)
{
    perp_scene *scene = load(s->name);
    perp_model *model;
    perp_state at, other;
    int compared = 0;
    assert_int_equal(perp_model_build(scene, NULL, &model, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_state_create(model, NULL, &at, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_state_create(model, NULL, &other, NULL), PERP_STATUS_OK);
    for (int k = 0; k < s->steps; k++) {
        perp_run_result convex, rigid;
        memcpy(other.q, at.q, (size_t)model->nq * sizeof *at.q);
        memcpy(other.v, at.v, (size_t)model->nv * sizeof *at.v);
        other.t = at.t;
        take_step(model, "qs-qp", &at, &convex);
        take_step(model, "qs-impedance-lcp", &other, &rigid);
        if (laws_agree(&rigid, scene->run.h)) {
            compared++;
            for (int i = 0; i < model->nq; i++) {
                if (!(fabs(at.q[i] - other.q[i]) <= 1e-8)) {
                    fail_msg("%s, step %d: coordinate %d is %.12g and %.12g", s->name, k, i, at.q[i], other.q[i]);
                }
            }
        }
        perp_run_result_free(&convex);
        perp_run_result_free(&rigid);
    }
    perp_state_free(&other);
    perp_state_free(&at);
    perp_model_free(model);
    perp_scene_free(scene);
    return compared;
}

static void test_impedance_lcp_is_qp_where_nothing_slides(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++) {
        const int compared = compare_along(&subjects[k]);
        print_message("%s: %d of %d steps\n", subjects[k].name, compared, subjects[k].steps);
        assert_true(compared >= subjects[k].least);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_impedance_lcp_is_qp_where_nothing_slides)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
