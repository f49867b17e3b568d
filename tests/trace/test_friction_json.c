/* The JSON of `perp solve` for friction problems. */
#include <perp/trace.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>

/* Three planar contacts of unit W: open, stuck, sliding. */
static const double w[36] = {1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
                             0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1};
static const double q[6] = {1, 2, -1, 0.25, -1, 2}, mu[3] = {0.5, 0.5, 0.5};
static const double r[6] = {0, 0, 1, -0.25, 1, -0.5}, u[6] = {1, 2, 0, 0, 0, 1.5};
static const perp_friction problem = {3, 2, w, q, mu};

static json_t *parsed(const perp_friction_report *report, const perp_error *failure)
{
    char *text = perp_friction_json(report, failure);
    assert_non_null(text);
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    perp_text_free(text);
    return json;
}

static void assert_json(const json_t *json, const char *text)
{
    json_t *expected = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(expected);
    if (!json_equal(json, expected)) {
        fail_msg("found %s, expected %s", json_dumps(json, JSON_ENCODE_ANY), text);
    }
    json_decref(expected);
}

static void a_solution(void **state)
{
    (void)state;
    assert_true(perp_friction_residual(&problem, r) == 0.0);
    const perp_friction_info info = {.outcome = PERP_OUTCOME_SOLVED,
                                     .method = "ipm",
                                     .tried_count = 2,
                                     .tried = {"newton", "ipm"},
                                     .residual = 0.5,
                                     .iterations = 7};
    const perp_friction_report report = {&problem, &info, r, u, 12.5, 1e-8};
    json_t *json = parsed(&report, NULL);
    assert_json(json,
                "{\"status\": \"solved\", \"method\": \"ipm\", \"tried\": [\"newton\", \"ipm\"], \"residual\": 0.5,"
                "\"iterations\": 7, \"time_us\": 12.5, \"r\": [0.0, 0.0, 1.0, -0.25, 1.0, -0.5],"
                "\"u\": [1.0, 2.0, 0.0, 0.0, 0.0, 1.5], \"modes\": [\"open\", \"stick\", \"slide\"],"
                "\"certificate\": {}}");
    json_decref(json);
}

static void no_solution(void **state)
{
    (void)state;
    const perp_friction_info info = {.outcome = PERP_OUTCOME_INFEASIBLE, .certificate = 0.25};
    const perp_friction_report report = {&problem, &info, NULL, NULL, 1.0, 1e-8};
    json_t *json = parsed(&report, NULL);
    assert_json(json, "{\"status\": \"infeasible\", \"method\": \"\", \"tried\": [], \"residual\": null,"
                      "\"iterations\": 0, \"time_us\": 1.0, \"r\": [], \"u\": [], \"modes\": [],"
                      "\"certificate\": {\"measure\": 0.25}}");
    json_decref(json);
    perp_error error = {0};
    perp_fail(&error, PERP_STATUS_BAD_INPUT, "wrong");
    json = parsed(NULL, &error);
    assert_string_equal(json_string_value(json_object_get(json, "status")), "invalid");
    assert_non_null(json_object_get(json, "error"));
    assert_int_equal(json_object_size(json), 2);
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_solution), cmocka_unit_test(no_solution)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
