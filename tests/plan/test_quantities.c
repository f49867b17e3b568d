/* Names for what a run gives: each against the run's own record, and against closed forms of a falling and a sliding
 * ball. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <perp/plan.h>

static const char block[] = "perp: 1\nplanar: true\ngravity: [0, -10]\nbodies:\n"
                            "  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
                            "  block: {mass: 2, inertia: 0.1, pose: {position: [0, 0.5]}, velocity: {linear: [3, 0]},\n"
                            "    shapes: [{box: [4, 1]}]}\n"
                            "contacts: {friction: 0.25}\n"
                            "run: {model: dyn-ncp, h: 0.01, until: 0.8}\n";

typedef struct measured {
    perp_scene *scene;
    perp_model *model;
    perp_quantities *q;
    perp_error failure;
} measured;

static void open_text(measured *m, const char *text)
{
    perp_diagnostics diagnostics = {0};
    perp_error error = {0};
    memset(m, 0, sizeof *m);
    if (perp_scene_load_text(text, strlen(text), "test", NULL, NULL, &m->scene, &diagnostics) != PERP_STATUS_OK ||
        perp_model_build(m->scene, NULL, &m->model, &error) != PERP_STATUS_OK ||
        perp_quantities_create(m->model, NULL, &m->q, &error) != PERP_STATUS_OK) {
        fail_msg("%s %s", diagnostics.items[0].message, error.message);
    }
}

static void close_measured(measured *m)
{
    perp_quantities_free(m->q);
    perp_model_free(m->model);
    perp_scene_free(m->scene);
}

static void measure(measured *m)
{
    perp_error error = {0};
    if (perp_quantities_measure(m->q, &m->failure, &error) != PERP_STATUS_OK) {
        fail_msg("%s", error.message);
    }
}

/* Of one expression. */
static perp_value value_of(const char *scene, const char *text, perp_error *failure)
{
    measured m;
    perp_error error = {0};
    int index;
    open_text(&m, scene);
    if (perp_quantities_add(m.q, text, &index, &error) != PERP_STATUS_OK) {
        fail_msg("%s: %d: %s", text, error.column, error.message);
    }
    measure(&m);
    const perp_value value = perp_quantities_value(m.q, index);
    if (failure) {
        *failure = m.failure;
    }
    close_measured(&m);
    return value;
}

static double number_of(const char *scene, const char *text)
{
    const perp_value value = value_of(scene, text, NULL);
    if (value.kind != PERP_VALUE_NUMBER) {
        fail_msg("%s is no number (%d, %s)", text, (int)value.kind, value.word);
    }
    return value.number;
}

/* The block decelerates by mu g = 2.5 m/s^2 from 3 m/s: backward Euler gives v_k = 3 - 0.025 k and x_k = sum h v_i. */
static void test_sliding_block(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"v:block.x", 1.0},
        {"v:block.x@step=0", 3.0},
        {"v:block.x@t=0.4", 2.0},
        {"v:block.x@step=40", 2.0},
        {"v:block.x@t=0.405", 2.0},
        {"v:block.x@max", 3.0},
        {"v:block.x@min", 1.0},
        {"v:block.x@mean", 2.0},
        {"block.x", 0.8 * 3.0 - 0.01 * 0.025 * 80.0 * 81.0 / 2.0},
        {"block.theta", 0.0},
        {"energy.kinetic", 1.0},
        {"energy.kinetic@step=0 - energy.kinetic", 8.0},
        {"energy.potential", 10.0},
        {"contact.floor block.fn", 20.0},
        {"contact.block floor.fn", 20.0},
        {"contact.floor block.fn@mean", 20.0},
        {"contact.floor block.ft", 5.0},
        {"contact.floor block.slip", 1.0},
        {"contact.floor block.slip@max", 2.975},
        {"contact.floor block.phi", 0.0},
        {"contact.floor block.ft / contact.floor block.fn - contacts.friction", 0.0},
        {"bodies.block.mass * v:block.x^2 / 2 - energy.kinetic", 0.0},
        {"bodies.block.velocity.linear.0", 3.0},
        {"status", 1.0},
        {"hypot(block.x, block.y) - sqrt(block.x^2 + block.y^2)", 0.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double value = number_of(block, cases[i].text);
        if (fabs(value - cases[i].value) > 1e-7) {
            fail_msg("%s is %.15g, not %.15g", cases[i].text, value, cases[i].value);
        }
    }
    assert_true(number_of(block, "residual.balance") <= 1e-8 && number_of(block, "residual.balance") >= 0.0);
    assert_true(number_of(block, "residual.balance@max") == number_of(block, "residual.balance"));
}

static void test_words_and_truths(void **unused)
{
    (void)unused;
    assert_string_equal(value_of(block, "run.model", NULL).word, "dyn-ncp");
    assert_int_equal(value_of(block, "planar", NULL).kind, PERP_VALUE_TRUTH);
    assert_true(number_of(block, "planar + 1") == 2.0);
    assert_string_equal(value_of(block, "analyze.existence.verdict", NULL).word, "exists");
    assert_string_equal(value_of(block, "analyze.model@t=0.4", NULL).word, "dyn-ncp");
    assert_true(fabs(number_of(block, "analyze.t@t=0.4") - 0.4) < 1e-12);
    assert_true(fabs(number_of(block, "(analyze.t@t=0.4 - analyze.t@t=0.2) / abs(analyze.t@t=0.4-2)") - 0.125) < 1e-12);
    assert_true(fabs(number_of(block, "analyze.rigidity.kappa*2 - analyze.rigidity.kappa") -
                     number_of(block, "analyze.rigidity.kappa")) < 1e-12);
}

/* What is not there has no value, and that is not the same as a mistake. */
static void test_undefined(void **unused)
{
    (void)unused;
    static const char *const none[] = {"contact.floor block.fn@step=0", "1/(block.theta@step=0)",
                                       "analyze.uniqueness.forces.1000.fn.0", "log(-1)"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        perp_error failure;
        assert_int_equal(value_of(block, none[i], &failure).kind, PERP_VALUE_UNDEFINED);
        assert_int_equal(failure.status, PERP_STATUS_OK);
    }
}

/* A run that stops leaves its end undefined, says why, and is known by `status`. */
static void test_failing_run(void **unused)
{
    (void)unused;
    char scene[sizeof block + 40];
    perp_error failure;
    snprintf(scene, sizeof scene, "%.*s%s", (int)(strstr(block, "dyn-ncp") - block), block,
             "qs-ncp, h: 0.01, until: 0.1}\n");
    char *at = strstr(scene, "position: [0, 0.5]");
    memcpy(at, "position: [0, 3.5]", strlen("position: [0, 3.5]")); /* nothing holds it up */
    assert_int_equal(value_of(scene, "block.x", &failure).kind, PERP_VALUE_UNDEFINED);
    assert_string_equal(failure.code, "unsupported-body");
    assert_true(value_of(scene, "status", NULL).number == 0.0);
    assert_int_equal(value_of(scene, "block.y@max", NULL).kind, PERP_VALUE_UNDEFINED);
    assert_true(value_of(scene, "block.y@step=0", NULL).number == 3.5);
}

static void test_refused_names(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *near;
        int column;
    } cases[] = {
        {"blok.x", "`block.x`", 1},
        {"1 + blok.x", "`block.x`", 5},
        {"contact.flor block.fn", "`contact.floor block.fn`", 1},
        {"contact.floor block.fx", "`contact.floor block.", 1},
        {"energy.kinetik", "`energy.kinetic`", 1},
        {"residual.balanc", "`residual.balance`", 1},
        {"contacts.fricton", "`contacts.friction`", 1},
        {"bodies.blok.mass", "`bodies.block.mass`", 1},
        {"analyze.exitence.verdict", "`analyze.existence`", 1},
        {"block.x@t=9", "end of the run", 1},
        {"block.x@step=81", "end of the run", 1},
        {"block.x@step=1.5", "behind `@`", 1},
        {"block.x@sum", "behind `@`", 1},
        {"block.x@t=", "behind `@`", 1},
        {"status@max", "says nothing", 1},
        {"analyze.t@max", "says nothing", 1},
        {"run.model + 1", "is a word", 1},
        {"1 + run.model", "is a word", 5},
        {"contact.block block.fn", "there is no output", 1},
    };
    measured m;
    open_text(&m, block);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        perp_error error = {0};
        int index;
        assert_int_equal(perp_quantities_add(m.q, cases[i].text, &index, &error), PERP_STATUS_BAD_INPUT);
        if (!strstr(error.message, cases[i].near) || error.column != cases[i].column) {
            fail_msg("%s: column %d: %s", cases[i].text, error.column, error.message);
        }
    }
    close_measured(&m);
}

/* Names within an analysis are known when there is one. */
static void test_refused_analysis(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *near;
    } cases[] = {{"2*analyze.existence.verdct", "verdict"},
                 {"2*analyze.existence.verdict", "is a word"},
                 {"2*analyze.existence", "no single value"},
                 {"2*analyze.uniqueness.forces.x", "has a number"},
                 {"2*analyze.t.x", "nothing behind"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        measured m;
        perp_error error = {0}, failure;
        int index;
        open_text(&m, block);
        assert_int_equal(perp_quantities_add(m.q, cases[i].text, &index, &error), PERP_STATUS_OK);
        assert_int_equal(perp_quantities_measure(m.q, &failure, &error), PERP_STATUS_BAD_INPUT);
        if (!strstr(error.message, cases[i].near) || error.column != 3) {
            fail_msg("%s: column %d: %s", cases[i].text, error.column, error.message);
        }
        close_measured(&m);
    }
}

static void test_constants(void **unused)
{
    (void)unused;
    measured m;
    perp_error error = {0};
    int index;
    open_text(&m, block);
    assert_int_equal(perp_quantities_constant(m.q, "mu", 0.25, &error), PERP_STATUS_OK);
    assert_int_equal(perp_quantities_add(m.q, "mu * 4", &index, &error), PERP_STATUS_OK);
    measure(&m);
    assert_true(perp_quantities_value(m.q, index).number == 1.0);
    close_measured(&m);
}

/* The same run watched from outside gives the same numbers. */
static void test_observer(void **unused)
{
    (void)unused;
    measured m;
    perp_error error = {0};
    perp_state state;
    perp_run_result result;
    int index[3];
    open_text(&m, block);
    assert_int_equal(perp_quantities_add(m.q, "block.x", &index[0], &error), PERP_STATUS_OK);
    assert_int_equal(perp_quantities_add(m.q, "residual.balance", &index[1], &error), PERP_STATUS_OK);
    assert_int_equal(perp_quantities_add(m.q, "status", &index[2], &error), PERP_STATUS_OK);
    measure(&m);
    const perp_value own[3] = {perp_quantities_value(m.q, index[0]), perp_quantities_value(m.q, index[1]),
                               perp_quantities_value(m.q, index[2])};
    assert_int_equal(perp_state_create(m.model, NULL, &state, &error), PERP_STATUS_OK);
    perp_quantities_begin(m.q);
    assert_int_equal(perp_quantities_value(m.q, index[0]).kind, PERP_VALUE_UNDEFINED);
    const perp_status status =
        perp_run(m.model, &m.scene->run, NULL, perp_quantities_observe, m.q, &state, &result, &error);
    perp_quantities_end(m.q, status, &result);
    for (int i = 0; i < 3; i++) {
        assert_true(perp_quantities_value(m.q, index[i]).number == own[i].number);
    }
    perp_run_result_free(&result);
    perp_state_free(&state);
    close_measured(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sliding_block), cmocka_unit_test(test_words_and_truths),
        cmocka_unit_test(test_undefined),     cmocka_unit_test(test_failing_run),
        cmocka_unit_test(test_refused_names), cmocka_unit_test(test_refused_analysis),
        cmocka_unit_test(test_constants),     cmocka_unit_test(test_observer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
