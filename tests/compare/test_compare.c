/* Comparisons in C: against closed forms of a body in free fall, whose run is a table that can be written down; every
 * refusal and every failure of memory on the way. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <perp/perp.h>

#include "failing_allocator.h"

/* Falls without turning about x, and turns about z by 3 rad/s. */
static const char falling[] = "perp: 1\ngravity: [0, 0, -10]\nbodies:\n"
                              "  ball: {mass: 1, velocity: {angular: [0, 0, 3]}, shapes: [{sphere: 0.1}]}\n"
                              "run: {model: dyn-ncp, h: 0.01, until: 0.1}\n";
/* Pushed along by a finger on a spring, over a plane with friction. The finger is smooth, and the box cannot turn. */
static const char pushed[] =
    "perp: 1\nplanar: true\ngravity: [0, -10]\nbodies:\n"
    "  ground: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
    "  finger: {shapes: [{disc: 0.05}]}\n"
    "  box: {mass: 1, free: [x, y], pose: {position: [0.16, 0.1]}, shapes: [{box: [0.2, 0.2]}]}\n"
    "joints:\n  push: {type: prismatic, parent: world, child: finger, anchor: [0, 0.1], axis: [1, 0],\n"
    "    control: impedance, stiffness: 1000, command: {rate: 0.1}}\n"
    "contacts: {friction: 0.5, pairs: {\"finger box\": {friction: 0}}}\nrun: {model: qs-qp, h: 0.02, steps: 10}\n";

static perp_scene *load(const char *text)
{
    perp_scene *scene = NULL;
    perp_diagnostics diagnostics = {0};
    if (perp_scene_load_text(text, strlen(text), "test", NULL, NULL, &scene, &diagnostics) != PERP_STATUS_OK) {
        fail_msg("%s", diagnostics.items[0].message);
    }
    return scene;
}

static perp_comparison *compare(const perp_scene *scene, const perp_compare_options *options)
{
    perp_comparison *comparison = NULL;
    perp_error error = {0};
    if (perp_compare(scene, options, &comparison, &error) != PERP_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    return comparison;
}

static double fallen(double h, int steps)
{
    return -10.0 * h * h * steps * (steps + 1) / 2.0;
}

/* Between two steps positions lie on a line, and rotations on the chord, at length 1. */
static void test_values_between_steps(void **unused)
{
    (void)unused;
    static const double steps[] = {0.01, 0.004};
    perp_scene *scene = load(falling);
    perp_compare_options options = perp_compare_options_default();
    options.h = steps;
    options.h_count = 2;
    options.tests = 0;
    perp_comparison *c = compare(scene, &options);
    assert_int_equal(c->run_count, 2);
    assert_int_equal(c->quantity_count, 7);
    assert_string_equal(c->quantities[2], "ball.z");
    assert_string_equal(c->quantities[6], "ball.qz");
    assert_int_equal(c->runs[0].row_count, 11);
    assert_int_equal(c->runs[1].row_count, 26);
    assert_true(fabs(perp_compared_value(c, 1, 2, 0.03) - 0.5 * (fallen(0.004, 7) + fallen(0.004, 8))) < 1e-14);
    assert_true(fabs(perp_compared_value(c, 1, 2, 0.029) - 0.75 * fallen(0.004, 7) - 0.25 * fallen(0.004, 8)) < 1e-14);
    assert_true(fabs(perp_compared_value(c, 0, 2, 0.03) - fallen(0.01, 3)) < 1e-14);
    assert_true(isnan(perp_compared_value(c, 0, 2, 0.101)));
    assert_true(isnan(perp_compared_value(c, 0, 2, -0.001)) && isnan(perp_compared_value(c, 0, 6, -0.1)));
    /* half-way on the chord is half-way on the arc */
    assert_true(fabs(perp_compared_value(c, 1, 6, 0.03) - sin(0.5 * 3.0 * 0.03)) < 1e-13);
    assert_true(fabs(perp_compared_value(c, 1, 3, 0.03) - cos(0.5 * 3.0 * 0.03)) < 1e-13);
    const perp_difference *d = &c->differences[0];
    assert_string_equal(d->quantity, "ball.z");
    assert_true(fabs(d->largest - (fallen(0.004, 25) - fallen(0.01, 10))) < 1e-14);
    assert_true(fabs(d->until - 0.1) < 1e-14 && d->t == 10 * 0.01);
    assert_false(d->parted);
    perp_comparison_free(c);
    perp_scene_free(scene);
}

typedef struct watch {
    int calls, done, runs;
    bool cancel;
} watch;

static void see(void *context, int done, int runs)
{
    watch *w = context;
    w->calls++;
    assert_int_equal(done, w->calls);
    w->done = done;
    w->runs = runs;
}

static perp_compare_options pair_of_models(void)
{
    static const char *const models[] = {"qs-qp", "qs-impedance-lcp"};
    perp_compare_options options = perp_compare_options_default();
    options.models = models;
    options.model_count = 2;
    return options;
}

/* A layer mu h v, with the box sliding at the finger's 0.1 m/s: 0.5 * 0.02 * 0.1 = 1 mm. */
static void test_cause_and_progress(void **unused)
{
    (void)unused;
    perp_scene *scene = load(pushed);
    perp_compare_options options = pair_of_models();
    watch w = {0};
    options.progress = see;
    options.context = &w;
    perp_comparison *c = compare(scene, &options);
    const perp_difference *d = &c->differences[0];
    assert_int_equal(w.done, c->run_count + c->test_runs);
    assert_int_equal(w.runs, w.done);
    assert_string_equal(d->quantity, "box.y");
    assert_true(fabs(d->largest - 1e-3) < 1e-9);
    assert_int_equal(d->assumption, PERP_ASSUMPTION_LAYER);
    assert_int_equal(d->tests[0].assumption, PERP_ASSUMPTION_LAYER);
    assert_true(fabs(d->tests[0].left - 0.125) < 1e-6);
    assert_true(fabs(d->tests[0].largest - 0.125e-3) < 1e-9);
    perp_comparison_free(c);
    perp_scene_free(scene);
}

/* A finger pushes a bar beside its middle over a table, from rest: without inertia it turns about one of its two feet,
 * with it about another point first. Its load, and with it friction, stays where the mass is taken away. */
static void test_load_of_a_support_stays(void **unused)
{
    (void)unused;
    perp_scene *scene = load("perp: 1\nplanar: true\ngravity: [0, 0]\nbodies:\n"
                             "  finger: {driven: {y: {offset: -0.02, rate: 0.05}}, pose: {position: [0.01, -0.02]},\n"
                             "           shapes: [{disc: 0.01, friction: 0}]}\n"
                             "  bar: {shapes: [{box: [0.24, 0.02], density: 200}],\n"
                             "        support: {friction: 0.3, points: [[-0.1, 0, 1], [0.1, 0, 1]]}}\n"
                             "run: {model: qs-ncp, h: 0.005, until: 0.3}\n");
    perp_compare_options options = pair_of_models();
    static const char *const models[] = {"qs-ncp", "dyn-ncp"};
    options.models = models;
    perp_comparison *c = compare(scene, &options);
    const perp_difference *d = &c->differences[0];
    assert_int_equal(d->assumption, PERP_ASSUMPTION_INERTIA);
    assert_int_equal(d->tests[0].assumption, PERP_ASSUMPTION_INERTIA);
    assert_true(d->tests[0].left < 1e-3);
    perp_comparison_free(c);
    perp_scene_free(scene);
}

/* A run of it again, from the model that the comparison gives out, has its bits. */
static void test_model_of_a_run(void **unused)
{
    (void)unused;
    perp_scene *scene = load(pushed);
    const perp_compare_options options = pair_of_models();
    perp_comparison *c = compare(scene, &options);
    for (int i = 0; i < 2; i++) {
        perp_state state;
        perp_run_result result;
        perp_error error;
        assert_int_equal(perp_state_create(c->runs[i].model, NULL, &state, &error), PERP_STATUS_OK);
        assert_int_equal(
            perp_run(c->runs[i].model, &c->runs[i].model->scene->run, NULL, NULL, NULL, &state, &result, &error),
            PERP_STATUS_OK);
        assert_true(memcmp(&result.hash, &c->runs[i].result.hash, sizeof result.hash) == 0);
        perp_run_result_free(&result);
        perp_state_free(&state);
    }
    perp_comparison_free(c);
    perp_scene_free(scene);
}

static void refuse(const perp_scene *scene, const perp_compare_options *options, perp_status status, const char *word)
{
    perp_comparison *comparison = NULL;
    perp_error error = {0};
    assert_int_equal(perp_compare(scene, options, &comparison, &error), status);
    assert_null(comparison);
    assert_non_null(strstr(error.message, word));
}

static void test_refusals(void **unused)
{
    (void)unused;
    static const char *const wrong[] = {"qs-qp", "qs-qq"}, *const still[] = {"qs-qp", "geometric"};
    static const char *const names[] = {"boks.x"};
    static const double steps[] = {0.02, -1.0}, tiny[] = {0.02, 1e-9};
    perp_scene *scene = load(pushed);
    perp_compare_options options = pair_of_models();
    refuse(scene, NULL, PERP_STATUS_BAD_INPUT, "2 to 36 runs");
    options.model_count = 1;
    refuse(scene, &options, PERP_STATUS_BAD_INPUT, "2 to 36 runs");
    options.model_count = 2;
    options.models = wrong;
    refuse(scene, &options, PERP_STATUS_BAD_INPUT, "did you mean `qs-qp`");
    options.models = still;
    refuse(scene, &options, PERP_STATUS_BAD_INPUT, "takes no steps");
    options = pair_of_models();
    options.quantities = names;
    options.quantity_count = 1;
    refuse(scene, &options, PERP_STATUS_BAD_INPUT, "did you mean `box.x`");
    options = pair_of_models();
    options.h = steps;
    options.h_count = 2;
    refuse(scene, &options, PERP_STATUS_BAD_INPUT, "positive");
    options.h = tiny;
    refuse(scene, &options, PERP_STATUS_CAPACITY, "longer than a comparison keeps");
    options = pair_of_models();
    options.size--;
    refuse(scene, &options, PERP_STATUS_BAD_INPUT, "perp_compare_options");
    const bool cancel = true;
    options = pair_of_models();
    options.cancel = &cancel;
    refuse(scene, &options, PERP_STATUS_CANCELLED, "");
    perp_scene_free(scene);
}

/* Refuses requests from `grants` on, or that one alone; returns how many there were. */
static int compare_with(const perp_scene *scene, int grants, bool once)
{
    failing_allocator f = {.grants = grants, .once = once};
    const perp_allocator allocator = allocator_of(&f);
    perp_compare_options options = pair_of_models();
    perp_comparison *comparison = NULL;
    perp_error error = {0};
    options.workers = 1;
    options.allocator = &allocator;
    const perp_status status = perp_compare(scene, &options, &comparison, &error);
    const bool refused = f.requests > grants;
    /* a step that finds no memory for what it would start the next one from goes without */
    assert_true(status == PERP_STATUS_OUT_OF_MEMORY || (status == PERP_STATUS_OK && (once || !refused)));
    assert_true((status == PERP_STATUS_OK) == (comparison != NULL));
    if (comparison) {
        assert_int_equal(comparison->differences[0].assumption, PERP_ASSUMPTION_LAYER);
        assert_true(fabs(comparison->differences[0].largest - 1e-3) < 1e-9);
    }
    perp_comparison_free(comparison);
    assert_int_equal(f.standing, 0);
    return f.requests;
}

static void test_out_of_memory(void **unused)
{
    (void)unused;
    perp_scene *scene = load(pushed);
    const int requests = compare_with(scene, INT_MAX, false), most = getenv("PERP_SANITIZE") ? 60 : 400;
    const int stride = 1 + requests / most;
    assert_true(requests > 200);
    for (int grants = 0; grants < requests; grants += grants < 40 ? 1 : stride) {
        compare_with(scene, grants, false);
        compare_with(scene, grants, true);
    }
    perp_scene_free(scene);
}

static void test_words_and_pictures(void **unused)
{
    (void)unused;
    perp_scene *scene = load(pushed);
    const perp_compare_options options = pair_of_models();
    perp_comparison *c = compare(scene, &options);
    perp_error error = {0};
    char *text = perp_comparison_json(c, NULL), *picture = NULL;
    assert_non_null(text);
    assert_non_null(strstr(text, "\"assumption\": \"boundary-layer\""));
    perp_text_free(text);
    perp_plot_options small = perp_plot_options_default();
    small.size--;
    assert_int_equal(perp_compare_plot_text(c, &small, &picture, &error), PERP_STATUS_BAD_INPUT);
    assert_int_equal(perp_compare_plot_text(c, NULL, &picture, &error), PERP_STATUS_OK);
    assert_non_null(strstr(picture, "box.y (m)"));
    perp_text_free(picture);
    assert_int_equal(perp_compare_plot_write(c, NULL, "/nowhere/at/all.svg", &error), PERP_STATUS_IO);
    perp_comparison_free(c);
    perp_scene_free(scene);
    for (int i = 0; i < PERP_ASSUMPTION_COUNT; i++) {
        assert_true(strlen(perp_assumption_name((perp_assumption)i)) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_between_steps),
        cmocka_unit_test(test_cause_and_progress),
        cmocka_unit_test(test_load_of_a_support_stays),
        cmocka_unit_test(test_model_of_a_run),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_words_and_pictures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
