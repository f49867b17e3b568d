/* The JSON of `perp solve`: what stands in it, and what has no place in it. */
#include <perp/trace.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <string.h>

static json_t *parsed(const perp_solve_report *report, const perp_error *failure)
{
    char *text = perp_solve_json(report, failure);
    assert_non_null(text);
    json_error_t error;
    json_t *json = json_loads(text, 0, &error);
    assert_non_null(json);
    perp_text_free(text);
    return json;
}

static const char *text_of(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    assert_non_null(text);
    return text;
}

static double number_at(const json_t *array, size_t index)
{
    const json_t *number = json_array_get(array, index);
    assert_true(json_is_number(number));
    return json_number_value(number);
}

static const double z[2] = {0.1, 2.0}, w[2] = {0.0, -0.25}, ray[4] = {1.0, 0.0, 0.0, 3.0};
static const perp_lcp_info solved = {.outcome = PERP_OUTCOME_SOLVED,
                                     .method = "two",
                                     .tried_count = 2,
                                     .tried = {"one", "two"},
                                     .residual = 0.25,
                                     .pivots = 7};

static void a_solution(void **state)
{
    (void)state;
    const perp_solve_report report = {.n = 2, .info = &solved, .z = z, .w = w, .ray = ray, .time_us = 1.5};
    json_t *json = parsed(&report, NULL);
    assert_string_equal(text_of(json, "status"), "solved");
    assert_string_equal(text_of(json, "method"), "two");
    assert_int_equal(json_array_size(json_object_get(json, "tried")), 2);
    assert_string_equal(json_string_value(json_array_get(json_object_get(json, "tried"), 0)), "one");
    assert_true(json_real_value(json_object_get(json, "residual")) == 0.25);
    assert_int_equal(json_integer_value(json_object_get(json, "iterations")), 7);
    assert_true(json_real_value(json_object_get(json, "time_us")) == 1.5);
    for (size_t i = 0; i < 2; i++) { /* 17 digits bring every double back */
        assert_true(number_at(json_object_get(json, "z"), i) == z[i]);
        assert_true(number_at(json_object_get(json, "w"), i) == w[i]);
    }
    assert_int_equal(json_object_size(json_object_get(json, "certificate")), 0); /* the ray is of another outcome */
    assert_null(json_object_get(json, "solutions"));
    assert_null(json_object_get(json, "error"));
    json_decref(json);
}

static void a_ray_and_no_number(void **state)
{
    (void)state;
    perp_lcp_info info = solved;
    info.outcome = PERP_OUTCOME_RAY;
    info.residual = INFINITY;
    const perp_solve_report report = {.n = 2, .info = &info, .z = z, .w = w, .ray = ray};
    json_t *json = parsed(&report, NULL);
    assert_string_equal(text_of(json, "status"), "ray");
    assert_true(json_is_null(json_object_get(json, "residual")));
    const json_t *evidence = json_object_get(json_object_get(json, "certificate"), "ray");
    assert_true(number_at(json_object_get(evidence, "z"), 0) == 1.0);
    assert_true(number_at(json_object_get(evidence, "w"), 1) == 3.0);
    json_decref(json);
}

static void a_proof(void **state)
{
    (void)state;
    perp_lcp_info info = solved;
    info.outcome = PERP_OUTCOME_INFEASIBLE;
    perp_solve_report report = {.n = 2, .info = &info, .z = z, .w = w, .ray = ray};
    json_t *json = parsed(&report, NULL);
    const json_t *evidence = json_object_get(json, "certificate");
    assert_int_equal(json_object_size(evidence), 1);
    assert_int_equal(json_array_size(json_object_get(evidence, "farkas")), 2);
    assert_true(number_at(json_object_get(evidence, "farkas"), 0) == 1.0);
    assert_true(number_at(json_object_get(evidence, "farkas"), 1) == 0.0);
    json_decref(json);
    const perp_lcp_solution_set set = {.n = 2, .complete = true, .nodes = 3};
    report.set = &set; /* the search is the proof; the ray may be that of an attempt before it */
    json = parsed(&report, NULL);
    assert_null(json_object_get(json_object_get(json, "certificate"), "farkas"));
    json_decref(json);
}

static void faces(void **state)
{
    (void)state;
    static const double vertices[4] = {1, 0, 0, 1}, rays[2] = {1, 1}, point[2] = {5, 6};
    const perp_lcp_face two[2] = {{2, 1, vertices, rays}, {1, 0, point, NULL}};
    const perp_lcp_solution_set set = {.n = 2, .face_count = 2, .faces = two, .complete = false};
    const perp_solve_report report = {.n = 2, .info = &solved, .z = z, .w = w, .set = &set};
    json_t *json = parsed(&report, NULL);
    const json_t *list = json_object_get(json, "solutions");
    assert_int_equal(json_array_size(list), 2);
    const json_t *first = json_array_get(list, 0), *second = json_array_get(list, 1);
    assert_true(number_at(json_array_get(json_object_get(first, "vertices"), 1), 1) == 1.0);
    assert_true(number_at(json_array_get(json_object_get(first, "rays"), 0), 0) == 1.0);
    assert_true(number_at(json_array_get(json_object_get(second, "vertices"), 0), 1) == 6.0);
    assert_int_equal(json_array_size(json_object_get(second, "rays")), 0);
    assert_true(json_is_false(json_object_get(json, "complete")));
    json_decref(json);
}

static void an_empty_list_is_there(void **state)
{
    (void)state;
    perp_lcp_info info = solved;
    info.outcome = PERP_OUTCOME_INFEASIBLE;
    const perp_lcp_solution_set set = {.n = 2, .complete = true, .nodes = 3};
    const perp_solve_report report = {.n = 2, .info = &info, .z = z, .w = w, .set = &set};
    json_t *json = parsed(&report, NULL);
    assert_true(json_is_array(json_object_get(json, "solutions")));
    assert_int_equal(json_array_size(json_object_get(json, "solutions")), 0);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(json, "certificate"), "bases_searched")), 3);
    json_decref(json);
}

static void a_refusal(void **state)
{
    (void)state;
    perp_error error = {.status = PERP_STATUS_BAD_INPUT, .line = 3, .column = 4};
    strcpy(error.file, "p.yaml");
    strcpy(error.message, "wrong");
    json_t *json = parsed(NULL, &error);
    assert_string_equal(text_of(json, "status"), "invalid");
    assert_null(json_object_get(json, "z"));
    assert_string_equal(text_of(json_object_get(json, "error"), "message"), "wrong");
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_solution), cmocka_unit_test(a_ray_and_no_number),
        cmocka_unit_test(faces),      cmocka_unit_test(a_refusal),
        cmocka_unit_test(a_proof),    cmocka_unit_test(an_empty_list_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
