/* Arithmetic as text: precedence, association, limits, and that nothing but finite numbers comes out. Random
 * expressions are evaluated a second time by a tree that they are printed from. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/expression.h"

static const char *const known[] = {"x",    "y",        "v:ball.x", "contact.A B.fn", "left-finger.x",
                                    "left", "finger.x", "x@t=1e-3"};
static const double values[] = {3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0, 23.0};
enum { KNOWN = sizeof known / sizeof *known };

static int find(void *context, const char *name, size_t length, perp_error *error)
{
    (void)context;
    for (int i = 0; i < KNOWN; i++) {
        if (strlen(known[i]) == length && memcmp(known[i], name, length) == 0) {
            return i;
        }
    }
    perp_fail(error, PERP_STATUS_BAD_INPUT, "no `%.*s`", (int)length, name);
    return -1;
}

static double value(void *context, int symbol)
{
    return ((const double *)context)[symbol];
}

static perp_status parse(const char *text, perp_arena *arena, expression *e, perp_error *error)
{
    const expression_names names = {NULL, find};
    memset(error, 0, sizeof *error);
    return perp_expression_parse(text, &names, arena, e, error);
}

static bool evaluate(const char *text, double *result)
{
    perp_arena arena;
    expression e;
    perp_error error;
    perp_arena_init(&arena, NULL);
    if (parse(text, &arena, &e, &error) != PERP_STATUS_OK) {
        fail_msg("%s: %d: %s", text, error.column, error.message);
    }
    const bool defined = perp_expression_evaluate(&e, value, (void *)(uintptr_t)values, result);
    perp_arena_clear(&arena);
    return defined;
}

static void test_precedence(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1 + 2 * 3", 7.0},
        {"(1 + 2) * 3", 9.0},
        {"8 - 4 - 2", 2.0},
        {"16 / 4 / 2", 2.0},
        {"-2^2", -4.0},
        {"(-2)^2", 4.0},
        {"2^3^2", 512.0},
        {"2^-1", 0.5},
        {"2^-2^2", 0.0625},
        {"-x^2*2", -18.0},
        {"2*-3", -6.0},
        {"1--1", 2.0},
        {"1 - - - 1", 0.0},
        {"+x", 3.0},
        {"1e-05", 1e-5},
        {".5e1", 5.0},
        {"2.", 2.0},
        {"pi", 3.14159265358979323846},
        {"2*pi/pi", 2.0},
        {"abs(-3)", 3.0},
        {"min(3, 1, 2)", 1.0},
        {"max(1, x, 2)", 3.0},
        {"sqrt(16)", 4.0},
        {"exp(0)", 1.0},
        {"log(1)", 0.0},
        {"sin(0) + cos(0)", 1.0},
        {"tan(0)", 0.0},
        {"atan2(1, 1)*4/pi", 1.0},
        {"hypot(x, 4)", 5.0},
        {"abs (2)", 2.0},
        {"contact.A B.fn/2", 5.5},
        {"v:ball.x - y", 2.0},
        {"left-finger.x", 13.0},
        {"left - finger.x", -2.0},
        {"(left)-finger.x", -2.0},
        {"x@t=1e-3-x", 20.0},
        {" ( ( x ) ) ", 3.0},
        {"x*y+x", 18.0},
        {"y-x", 2.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double result;
        assert_true(evaluate(cases[i].text, &result));
        if (fabs(result - cases[i].value) > 1e-15 * fmax(1.0, fabs(result))) {
            fail_msg("%s is %.17g, not %.17g", cases[i].text, result, cases[i].value);
        }
    }
}

/* A value that is not finite anywhere makes the whole undefined, also where later operations would hide it. */
static void test_undefined(void **unused)
{
    (void)unused;
    static const char *const texts[] = {"1/0",     "0/0",           "sqrt(-1)", "log(0)",
                                        "1/(1/0)", "min(1,1/0)",    "exp(1e6)", "(-8)^(1/3)",
                                        "0*(1/0)", "atan2(1, 1/0)", "2^10000",  "exp(-1/(x-3))"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double result = 1.0;
        assert_false(evaluate(texts[i], &result));
        assert_true(isnan(result));
    }
}

static void test_refused_where_it_is_wrong(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        int column;
    } cases[] = {
        {"", 1},       {"1 +", 4},       {"1 + * 2", 5}, {"(1", 3},        {"1)", 2},
        {"foo", 1},    {"x + foo", 5},   {"min(1)", 6},  {"abs(1, 2)", 6}, {"hypot(1,2,3)", 10},
        {"1 2", 1},    {"x y", 1},       {"2x", 1},      {"0x10", 1},      {"1e999", 1},
        {"nan", 1},    {"inf", 1},       {"sqrt 4", 1},  {"x$", 2},        {"1 = 1", 1},
        {"x == y", 1}, {"system(1)", 1}, {"x; y", 2},    {"x^", 3},        {"$", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        perp_arena arena;
        expression e;
        perp_error error;
        perp_arena_init(&arena, NULL);
        if (parse(cases[i].text, &arena, &e, &error) != PERP_STATUS_BAD_INPUT || error.column != cases[i].column) {
            fail_msg("`%s`: column %d: %s", cases[i].text, error.column, error.message);
        }
        assert_true(error.message[0] != '\0');
        perp_arena_clear(&arena);
    }
}

static perp_status parse_nested(int depth, const char *open, const char *close)
{
    char text[4000] = "";
    perp_arena arena;
    expression e;
    perp_error error;
    for (int i = 0; i < depth; i++) {
        strcat(text, open);
    }
    strcat(text, "1");
    for (int i = 0; i < depth; i++) {
        strcat(text, close);
    }
    perp_arena_init(&arena, NULL);
    const perp_status status = parse(text, &arena, &e, &error);
    double result;
    if (status == PERP_STATUS_OK) {
        perp_expression_evaluate(&e, value, (void *)(uintptr_t)values, &result);
    }
    perp_arena_clear(&arena);
    return status;
}

static void test_limits(void **unused)
{
    (void)unused;
    assert_int_equal(parse_nested(PERP_EXPRESSION_NESTING - 1, "(", ")"), PERP_STATUS_OK);
    assert_int_equal(parse_nested(PERP_EXPRESSION_NESTING, "(", ")"), PERP_STATUS_BAD_INPUT);
    assert_int_equal(parse_nested(400, "-", ""), PERP_STATUS_BAD_INPUT);
    assert_int_equal(parse_nested(200, "2^", ""), PERP_STATUS_BAD_INPUT);
    assert_int_equal(parse_nested(60, "max(1,2,3,4,5,6,7,", ")"), PERP_STATUS_BAD_INPUT); /* too deep for the stack */
    assert_int_equal(parse_nested(400, "1+", ""), PERP_STATUS_OK);                        /* long, but not deep */
    assert_int_equal(parse_nested(600, "1+", ""), PERP_STATUS_BAD_INPUT);
}

/* ---- a second evaluator ------------------------------------------------------------------------------------------ */

/* Writes a random expression with all parentheses and returns its value. */
static double grow(perp_random *random, int depth, char *full, char *sparse, int *level)
{
    char a[2][2000], b[2][2000];
    const int kind = depth == 0 ? 0 : (int)(perp_random_bits(random) % 6);
    if (kind == 0) {
        const double number = (double)(1 + perp_random_bits(random) % 9) / 4.0;
        sprintf(full, "%.17g", number);
        strcpy(sparse, full);
        *level = 4;
        return number;
    }
    int left = 0, right = 0;
    const double x = grow(random, depth - 1, a[0], a[1], &left);
    if (kind == 5) {
        sprintf(full, "(-%s)", a[0]);
        sprintf(sparse, left < 3 ? "-(%s)" : "-%s", a[1]); /* a power or an operand needs none */
        *level = 2;
        return -x;
    }
    const double y = grow(random, depth - 1, b[0], b[1], &right);
    static const char signs[] = " +-*/";
    const int own = kind <= 2 ? 0 : 1;
    sprintf(full, "(%s%c%s)", a[0], signs[kind], b[0]);
    sprintf(sparse,
            left < own     ? (right <= own ? "(%s)%c(%s)" : "(%s)%c%s")
            : right <= own ? "%s%c(%s)"
                           : "%s%c%s",
            a[1], signs[kind], b[1]);
    *level = own;
    const double result = kind == 1 ? x + y : kind == 2 ? x - y : kind == 3 ? x * y : x / y;
    return isfinite(result) ? result : NAN; /* 1 / (1 / 0) is not defined either */
}

static void test_random(void **unused)
{
    (void)unused;
    perp_random random = {7};
    int compared = 0;
    for (int i = 0; i < 5000; i++) {
        char full[2000], sparse[2000];
        int level;
        double a, b;
        const double expected = grow(&random, 4, full, sparse, &level);
        if (strlen(full) > PERP_EXPRESSION_MOST) {
            continue;
        }
        const bool defined = evaluate(full, &a);
        assert_int_equal(evaluate(sparse, &b), defined);
        assert_int_equal(isfinite(expected), defined);
        if (defined) {
            assert_true(a == expected && b == expected); /* the same operations in the same order */
            compared++;
        }
    }
    assert_true(compared > 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_precedence),
        cmocka_unit_test(test_undefined),
        cmocka_unit_test(test_refused_where_it_is_wrong),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
