/* The certificates of a run are those that perp_analyze gives at each of its states, whatever was certified before, and
 * cost no memory in steady state. */
#include "analyzed.h"
#include "failing_allocator.h"

#include <math.h>
#include <stdlib.h>

typedef struct world {
    perp_scene *scene;
    perp_model *model;
    perp_sim *sim;
    perp_certifier *certifier;
} world;

static perp_error error;

static void good(perp_status status)
{
    if (status != PERP_STATUS_OK) {
        fail_msg("%s", error.message);
    }
}

/* An example, on a rung (NULL: its own). */
static world open_world(const char *example, const char *model)
{
    static perp_diagnostics diagnostics;
    char path[512], setting[64];
    snprintf(path, sizeof path, "%s/examples/%s/scene.yaml", PERP_SOURCE_DIR, example);
    snprintf(setting, sizeof setting, "run.model=%s", model ? model : "");
    const char *const settings[] = {setting};
    const perp_scene_load_options options = {.settings = settings, .setting_count = model ? 1 : 0};
    world w = {0};
    memset(&diagnostics, 0, sizeof diagnostics);
    if (perp_scene_load_file(path, &options, &w.scene, &diagnostics) != PERP_STATUS_OK) {
        fail_msg("%s: %s", path, diagnostics.items[0].message);
    }
    good(perp_model_build(w.scene, NULL, &w.model, &error));
    good(perp_sim_create(w.model, NULL, &w.sim, &error));
    return w;
}

static void close_world(world *w)
{
    perp_certifier_free(w->certifier);
    perp_sim_free(w->sim);
    perp_model_free(w->model);
    perp_scene_free(w->scene);
}

static void watch(world *w, unsigned stop_at)
{
    perp_certifier_options options = perp_certifier_options_default();
    options.stop_at = stop_at;
    good(perp_certifier_create(w->model, &w->scene->run, &options, &w->certifier, &error));
    good(perp_sim_observe(w->sim, perp_certifier_observe, w->certifier, &error));
}

static void same_reals(const double *a, const double *b, int count)
{
    if (a || b) {
        assert_true(a && b);
        assert_memory_equal(a, b, (size_t)count * sizeof *a);
    }
}

/* To the bit. */
static void same(const perp_analysis *a, const perp_analysis *b)
{
    assert_true(a->t == b->t);
    assert_int_equal(a->existence.verdict, b->existence.verdict);
    assert_int_equal(a->existence.solutions, b->existence.solutions);
    assert_int_equal(a->uniqueness.verdict, b->uniqueness.verdict);
    assert_true(a->uniqueness.margin == b->uniqueness.margin);
    same_reals(a->uniqueness.motion, b->uniqueness.motion, a->model->nv);
    assert_int_equal(a->rigidity.verdict, b->rigidity.verdict);
    assert_int_equal(a->rigidity.p_matrix, b->rigidity.p_matrix);
    assert_int_equal(a->rigidity.stable, b->rigidity.stable);
    assert_int_equal(a->rigidity.count, b->rigidity.count);
    same_reals(a->rigidity.D, b->rigidity.D, a->rigidity.count * a->rigidity.count);
    assert_int_equal(a->reason_count, b->reason_count);
    for (int i = 0; i < a->reason_count; i++) {
        assert_string_equal(a->reasons[i].text, b->reasons[i].text);
    }
}

/* Does the certificate say that a longer search might say more? */
static bool was_cut(const perp_analysis *a)
{
    bool cut = false;
    for (int i = 0; i < a->reason_count; i++) {
        cut = cut || strstr(a->reasons[i].text, "` looks longer");
    }
    return cut;
}

/* It may then be weaker, and is never another one. */
static void no_stronger(const perp_analysis *cut, const perp_analysis *longer)
{
    const perp_verdict u = cut->uniqueness.verdict, r = cut->rigidity.verdict;
    assert_int_equal(cut->existence.verdict, longer->existence.verdict);
    assert_true(u == longer->uniqueness.verdict || u == PERP_VERDICT_UNKNOWN ||
                u == PERP_VERDICT_UNIQUE_AT_THESE_NORMAL_FORCES);
    assert_true(r == longer->rigidity.verdict || r == PERP_VERDICT_UNKNOWN);
}

/* Certifies all steps and compares every `stride`-th with perp_analyze at the state before. */
static int agree(const char *example, const char *model, int steps, int stride)
{
    int cut = 0;
    world w = open_world(example, model);
    perp_analyze_options options = perp_analyze_options_default();
    options.certificates = PERP_CERTIFY_EXISTENCE | PERP_CERTIFY_UNIQUENESS | PERP_CERTIFY_RIGIDITY;
    options.verdicts_only = true;
    watch(&w, 0);
    assert_null(perp_certifier_trust(w.certifier));
    for (int i = 0; i < steps; i++) {
        perp_analysis *alone = NULL;
        const double from = perp_sim_state(w.sim)->t;
        if (i % stride == 0) {
            good(perp_analyze(w.sim, &options, &alone, &error));
        }
        good(perp_sim_step(w.sim, &error));
        const perp_step_trust *trust = perp_certifier_trust(w.certifier);
        assert_non_null(trust);
        assert_true(trust->from == from);
        if (alone) {
            const perp_analysis *in_run = perp_certifier_analysis(w.certifier);
            (was_cut(in_run) ? no_stronger : same)(in_run, alone);
            assert_int_equal(trust->uniqueness, in_run->uniqueness.verdict);
            cut += was_cut(in_run);
        }
        perp_analysis_free(alone);
    }
    assert_int_equal(perp_certifier_summary(w.certifier)->steps, steps);
    assert_int_equal(perp_certifier_summary(w.certifier)->existence[PERP_VERDICT_EXISTS], steps);
    close_world(&w);
    return cut;
}

static void test_as_analyze(void **state)
{
    static const struct {
        const char *example, *model;
        int steps, stride;
    } cases[] = {
        {"gripper-2d", NULL, 25, 1},        {"graze-then-lift", NULL, 10, 1}, {"fence-particle", NULL, 60, 3},
        {"cube-stack", NULL, 8, 1},         {"bounce", NULL, 500, 9},         {"ladder", NULL, 60, 5},
        {"four-bar-dynamic", NULL, 40, 5},  {"box-incline", NULL, 40, 3},     {"peg-in-hole-2d", NULL, 60, 7},
        {"micro-gear", NULL, 12, 1},        {"pivot", "qs-ncp", 30, 2},       {"patch-spin", NULL, 20, 3},
        {"gripper-2d", "dyn-qp", 20, 2},    {"pusher-2d", "qs-cone", 5, 1},   {"box-incline", "dyn-lcp", 20, 3},
        {"pusher-2d", "quasidynamic", 5, 1}};
    int cut = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cut += agree(cases[i].example, cases[i].model, cases[i].steps, cases[i].stride);
    }
    assert_in_range(cut, 1, 30); /* most are decided */
}

/* ---- instants -----------------------------------------------------------------------------------------------------
 */

static void test_instant(void **state)
{
    static const char *const examples[] = {"painleve-rod", "rod-two-walls", "wedged-disc"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        world w = open_world(examples[i], NULL);
        perp_state at;
        perp_run_result result;
        perp_analysis *alone = NULL;
        perp_analyze_options options = perp_analyze_options_default();
        options.verdicts_only = true;
        options.certificates = PERP_CERTIFY_EXISTENCE | PERP_CERTIFY_UNIQUENESS | PERP_CERTIFY_RIGIDITY;
        good(perp_certifier_create(w.model, &w.scene->run, NULL, &w.certifier, &error));
        good(perp_state_create(w.model, NULL, &at, &error));
        good(perp_run(w.model, &w.scene->run, NULL, perp_certifier_observe, w.certifier, &at, &result, &error));
        good(perp_analyze(w.sim, &options, &alone, &error));
        assert_non_null(perp_certifier_trust(w.certifier));
        same(perp_certifier_analysis(w.certifier), alone);
        assert_int_equal(perp_certifier_summary(w.certifier)->steps, 1);
        perp_analysis_free(alone);
        perp_run_result_free(&result);
        perp_state_free(&at);
        close_world(&w);
    }
}

/* ---- ends of runs ---------------------------------------------------------------------------------------------------
 */

/* cube-stack is not unique at its first step that is not so by perp_analyze, and its run ends there. */
static void test_stops(void **state)
{
    world w = open_world("cube-stack", NULL);
    perp_state at;
    perp_run_result result;
    perp_certifier_options options = perp_certifier_options_default();
    (void)state;
    options.stop_at = 1u << PERP_VERDICT_NOT_UNIQUE;
    good(perp_certifier_create(w.model, &w.scene->run, &options, &w.certifier, &error));
    good(perp_state_create(w.model, NULL, &at, &error));
    assert_int_equal(perp_run(w.model, &w.scene->run, NULL, perp_certifier_observe, w.certifier, &at, &result, &error),
                     PERP_STATUS_CANCELLED);
    const perp_trust_summary *summary = perp_certifier_summary(w.certifier);
    assert_int_equal(perp_certifier_status(w.certifier, &error), PERP_STATUS_CANCELLED);
    assert_string_equal(error.code, "not-unique");
    assert_true(error.evidence.has_time && error.evidence.time == at.t);
    assert_true(error.evidence.contact[0] != '\0');
    assert_int_equal(summary->uniqueness[PERP_VERDICT_NOT_UNIQUE], 1);
    assert_true(summary->not_unique.met);
    assert_int_equal(summary->not_unique.step, result.steps);
    assert_true(summary->not_unique.contact_count > 0);
    assert_string_equal(summary->not_unique.contacts[0], error.evidence.contact);
    assert_int_equal(summary->steps, result.steps);
    perp_run_result_free(&result);
    perp_state_free(&at);
    close_world(&w);
}

/* A body that nothing holds up has no quasistatic step: that is counted, and proven. */
static void test_step_without_answer(void **state)
{
    static const char text[] =
        "perp: 1\nbodies:\n  stone: {mass: 1, pose: {position: [0, 0, 1]}, shapes: [{sphere: 0.1}]}\n"
        "run: {model: qs-ncp, h: 0.01, steps: 3}\n";
    static perp_diagnostics diagnostics;
    world w = {0};
    (void)state;
    assert_int_equal(perp_scene_load_text(text, strlen(text), "test", NULL, NULL, &w.scene, &diagnostics),
                     PERP_STATUS_OK);
    good(perp_model_build(w.scene, NULL, &w.model, &error));
    good(perp_sim_create(w.model, NULL, &w.sim, &error));
    watch(&w, 0);
    assert_int_equal(perp_sim_step(w.sim, &error), PERP_STATUS_INFEASIBLE);
    perp_certifier_end(w.certifier, &error);
    assert_int_equal(perp_certifier_summary(w.certifier)->existence[PERP_VERDICT_NONE], 1);
    assert_int_equal(perp_certifier_summary(w.certifier)->steps, 0);
    close_world(&w);
}

/* What was set from outside has gone when the step is certified. */
static void test_steered(void **state)
{
    world w = open_world("box-incline", NULL);
    const perp_vec3 push = {1.0, 0.0, 0.0};
    (void)state;
    watch(&w, 0);
    good(perp_sim_step(w.sim, &error));
    assert_int_equal(perp_certifier_trust(w.certifier)->rigidity, PERP_VERDICT_VALID);
    const int body = perp_scene_find_body(w.scene, "rough");
    good(perp_sim_apply(w.sim, body, perp_sim_pose(w.sim, body).position, push, (perp_vec3){0}, &error));
    good(perp_sim_step(w.sim, &error));
    assert_int_equal(perp_certifier_trust(w.certifier)->rigidity, PERP_VERDICT_UNKNOWN);
    good(perp_sim_step(w.sim, &error));
    assert_int_equal(perp_certifier_trust(w.certifier)->rigidity, PERP_VERDICT_VALID);
    close_world(&w);
}

static void test_rungs_without_forces(void **state)
{
    world w = open_world("fixture-gaps", NULL);
    (void)state;
    assert_int_equal(perp_certifier_create(w.model, &w.scene->run, NULL, &w.certifier, &error), PERP_STATUS_BAD_INPUT);
    assert_null(w.certifier);
    close_world(&w);
}

/* ---- memory ---------------------------------------------------------------------------------------------------------
 */

static perp_status certified_run(const world *w, int steps, failing_allocator *f, bool *finished)
{
    perp_certifier_options options = perp_certifier_options_default();
    const perp_allocator allocator = allocator_of(f);
    perp_run_settings settings = w->scene->run;
    perp_certifier *certifier = NULL;
    perp_state at;
    perp_run_result result = {0};
    settings.steps_set = true;
    settings.steps = steps;
    options.allocator = &allocator;
    perp_status status = perp_certifier_create(w->model, &settings, &options, &certifier, &error);
    *finished = false;
    if (status == PERP_STATUS_OK) {
        good(perp_state_create(w->model, NULL, &at, &error));
        status = perp_run(w->model, &settings, NULL, perp_certifier_observe, certifier, &at, &result, &error);
        *finished = status == PERP_STATUS_OK;
        status = *finished ? status : perp_certifier_status(certifier, &error);
        perp_run_result_free(&result);
        perp_state_free(&at);
    }
    perp_certifier_free(certifier);
    return status;
}

static void test_steady_state_takes_no_memory(void **state)
{
    static const char *const examples[] = {"gripper-2d", "sphere-roll"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        world w = open_world(examples[i], NULL);
        failing_allocator few = {.grants = INT_MAX}, many = {.grants = INT_MAX};
        bool finished;
        good(certified_run(&w, 12, &few, &finished));
        good(certified_run(&w, 25, &many, &finished));
        assert_int_equal(few.requests, many.requests);
        assert_int_equal(many.standing, 0);
        close_world(&w);
    }
}

/* Every request refused, for good or once: the run ends with OUT_OF_MEMORY, and nothing is left. */
static void test_out_of_memory(void **state)
{
    static const char *const examples[] = {"gripper-2d", "cube-stack", "painleve-rod"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        world w = open_world(examples[i], NULL);
        for (int once = 0; once < 2; once++) {
            bool finished = false;
            for (int grants = 0; !finished; grants += 1 + grants / 40) {
                failing_allocator f = {.grants = grants, .once = once == 1};
                const perp_status status = certified_run(&w, 2, &f, &finished);
                assert_int_equal(f.standing, 0);
                assert_true(finished ? status == PERP_STATUS_OK && f.requests <= grants
                                     : status == PERP_STATUS_OUT_OF_MEMORY);
            }
        }
        close_world(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_analyze),
        cmocka_unit_test(test_instant),
        cmocka_unit_test(test_stops),
        cmocka_unit_test(test_step_without_answer),
        cmocka_unit_test(test_steered),
        cmocka_unit_test(test_rungs_without_forces),
        cmocka_unit_test(test_steady_state_takes_no_memory),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
