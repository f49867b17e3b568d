/* The JSON of `perp solve` for convex problems: keys, blocks, evidence, and what has no place in it. */
#include <perp/trace.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>

static const double unit[4] = {1, 0, 0, 1}, zeros[4] = {0};
static const perp_qp qp = {.n = 2, .h = unit, .g = zeros, .rows = 1, .a = unit, .b = zeros, .lower = zeros};
static const int cone_rows[2] = {1, 2};
static const perp_cone_qp cone_qp = {.n = 2,
                                     .g = zeros,
                                     .cones = 2,
                                     .cone_rows = cone_rows,
                                     .a = zeros,
                                     .b = zeros,
                                     .equalities = 1,
                                     .c = unit,
                                     .d = zeros};
static const perp_convex_point point = {.x = (double[]){0.1, 2},
                                        .y = (double[]){3, 4, 5},
                                        .y_equality = (double[]){-6},
                                        .y_lower = (double[]){7, 8},
                                        .y_upper = NULL};

static json_t *parsed(const perp_convex_report *report, const perp_error *failure)
{
    char *text = perp_convex_json(report, failure);
    assert_non_null(text);
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    perp_text_free(text);
    return json;
}

/* `json` is what `text` writes. */
static void assert_json(const json_t *json, const char *text)
{
    json_t *expected = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(expected);
    if (!json_equal(json, expected)) {
        char *found = json_dumps(json, JSON_ENCODE_ANY);
        fail_msg("found %s, expected %s", found, text);
    }
    json_decref(expected);
}

static void a_solution(void **state)
{
    (void)state;
    const perp_convex_info info = {.outcome = PERP_OUTCOME_SOLVED,
                                   .method = "two",
                                   .tried_count = 2,
                                   .tried = {"one", "two"},
                                   .residual = {0.125, 0.5, 0.25},
                                   .objective = -1.5,
                                   .certificate = 9,
                                   .iterations = 7};
    const perp_convex_report report = {.qp = &qp, .info = &info, .point = &point, .time_us = 1.5};
    json_t *json = parsed(&report, NULL);
    assert_json(json, "{\"status\": \"solved\", \"method\": \"two\", \"tried\": [\"one\", \"two\"], \"residual\": 0.5, "
                      "\"iterations\": 7, \"time_us\": 1.5, \"objective\": -1.5, \"x\": [0.1, 2.0], \"multipliers\": "
                      "{\"A\": [3.0], \"C\": [], \"lower\": [7.0, 8.0], \"upper\": []}, \"certificate\": {}}");
    json_decref(json);
    json = parsed(&(perp_convex_report){.cone_qp = &cone_qp, .info = &info, .point = &point}, NULL);
    assert_json(json_object_get(json, "multipliers"), "{\"cones\": [[3.0], [4.0, 5.0]], \"C\": [-6.0]}");
    json_decref(json);
}

/* The arrays hold evidence, not a point: nothing of it stands where a point would. */
static void evidence(void **state)
{
    (void)state;
    perp_convex_info info = {.outcome = PERP_OUTCOME_INFEASIBLE, .method = "one", .certificate = 0.25};
    json_t *json = parsed(&(perp_convex_report){.qp = &qp, .info = &info, .point = &point}, NULL);
    assert_json(json_object_get(json, "certificate"),
                "{\"farkas\": {\"A\": [3.0], \"C\": [], \"lower\": [7.0, 8.0], \"upper\": []}, \"measure\": 0.25}");
    assert_json(json_object_get(json, "x"), "[]");
    assert_json(json_object_get(json, "multipliers"), "{\"A\": [], \"C\": [], \"lower\": [], \"upper\": []}");
    assert_true(json_is_null(json_object_get(json, "residual")) && json_is_null(json_object_get(json, "objective")));
    json_decref(json);
    json = parsed(&(perp_convex_report){.cone_qp = &cone_qp, .info = &info, .point = &point}, NULL);
    assert_json(json_object_get(json, "certificate"),
                "{\"farkas\": {\"cones\": [[3.0], [4.0, 5.0]], \"C\": [-6.0]}, \"measure\": 0.25}");
    assert_json(json_object_get(json, "multipliers"), "{\"cones\": [], \"C\": []}");
    json_decref(json);
    info.outcome = PERP_OUTCOME_UNBOUNDED;
    json = parsed(&(perp_convex_report){.cone_qp = &cone_qp, .info = &info, .point = &point}, NULL);
    assert_json(json_object_get(json, "certificate"), "{\"direction\": [0.1, 2.0], \"measure\": 0.25}");
    assert_json(json_object_get(json, "x"), "[]");
    json_decref(json);
}

static void the_best_point_is_no_evidence(void **state)
{
    (void)state;
    const perp_convex_info info = {
        .outcome = PERP_OUTCOME_ITERATION_LIMIT, .method = "one", .residual = {INFINITY, 0, 0}, .certificate = 3};
    json_t *json = parsed(&(perp_convex_report){.qp = &qp, .info = &info, .point = &point}, NULL);
    assert_json(json_object_get(json, "status"), "\"iteration-limit\"");
    assert_json(json_object_get(json, "x"), "[0.1, 2.0]");
    assert_json(json_object_get(json, "certificate"), "{}");
    assert_true(json_is_null(json_object_get(json, "residual"))); /* infinity is no JSON */
    json_decref(json);
}

static void a_refusal(void **state)
{
    (void)state;
    const perp_error error = {
        .status = PERP_STATUS_BAD_INPUT, .message = "H is wrong", .file = "p.yaml", .line = 2, .column = 4};
    json_t *json = parsed(NULL, &error);
    assert_json(json_object_get(json, "status"), "\"invalid\"");
    assert_int_equal(json_object_size(json), 2);
    assert_json(
        json_object_get(json, "error"),
        "{\"code\": \"bad-input\", \"message\": \"H is wrong\", \"evidence\": {\"file\": \"p.yaml\", \"line\": 2, "
        "\"column\": 4}}");
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_solution),
        cmocka_unit_test(evidence),
        cmocka_unit_test(the_best_point_is_no_evidence),
        cmocka_unit_test(a_refusal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
