/* The reader of problem files: what it accepts, what it refuses and where, limits, lack of memory. */
#include <perp/problem_yaml.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "failing_allocator.h"

static perp_diagnostics diagnostics;

static perp_problem *load(const char *text)
{
    perp_problem *problem;
    memset(&diagnostics, 0, sizeof diagnostics);
    const perp_status status = perp_problem_load_text(text, strlen(text), "p.yaml", NULL, &problem, &diagnostics);
    assert_true((status == PERP_STATUS_OK) == (problem != NULL));
    assert_true((status == PERP_STATUS_OK) == (diagnostics.errors == 0));
    return problem;
}

static perp_problem *load_good(const char *text)
{
    perp_problem *problem = load(text);
    if (!problem) {
        print_error("%d:%d: %s\n", diagnostics.items[0].line, diagnostics.items[0].column,
                    diagnostics.items[0].message);
    }
    assert_non_null(problem);
    return problem;
}

/* Values are read as written: the comparison is exact. */
static void assert_reals(const double *values, const double *expected, int count)
{
    for (int i = 0; i < count; i++) {
        if (!(values[i] == expected[i])) {
            fail_msg("entry %d is %.17g, expected %.17g", i, values[i], expected[i]);
        }
    }
}

/* ---- what is accepted -------------------------------------------------------------------------------------------- */

static void an_lcp_by_rows(void **state)
{
    (void)state;
    perp_problem *p = load_good("kind: lcp\nM: [[2, 1e-05], [-3.5, .25]]\nq: [-5, 6]\n");
    assert_int_equal(p->kind, PERP_PROBLEM_LCP);
    assert_int_equal(p->lcp.n, 2);
    assert_reals(p->lcp.m, (double[]){2, 1e-5, -3.5, 0.25}, 4);
    assert_reals(p->lcp.q, (double[]){-5, 6}, 2);
    perp_problem_free(p);
}

/* The same matrix as triplets, with keys in another order and one place given twice. */
static void a_matrix_by_triplets(void **state)
{
    (void)state;
    perp_problem *p = load_good("q: [-5, 6]\nM:\n  triplets: [[0, 0, 2], [1, 0, -3], [1, 1, 0.25], [1, 0, -0.5]]\n"
                                "  rows: 2\n  cols: 2\nkind: lcp\n");
    assert_reals(p->lcp.m, (double[]){2, 0, -3.5, 0.25}, 4);
    perp_problem_free(p);
}

static void json_is_yaml(void **state)
{
    (void)state;
    perp_problem *p = load_good("{\"kind\": \"mlcp\", \"M\": [[1, 2], [3, 4]], \"q\": [5, 6], \"free\": [1]}");
    assert_int_equal(p->kind, PERP_PROBLEM_MLCP);
    assert_reals(p->mlcp.m, (double[]){1, 2, 3, 4}, 4);
    assert_false(p->mlcp.free[0]);
    assert_true(p->mlcp.free[1]);
    perp_problem_free(p);
}

static void bounds_may_be_infinite(void **state)
{
    (void)state;
    perp_problem *p = load_good("kind: mcp\nM: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]\nq: [1, 2, 3]\nlower: [-.inf, 0, 2]\n"
                                "upper: [.inf, +.Inf, 2]\n");
    assert_int_equal(p->kind, PERP_PROBLEM_MCP);
    assert_int_equal(perp_problem_size(p), 3);
    assert_reals(p->mcp.lower, (double[]){-INFINITY, 0, 2}, 3);
    /* F(z) = z + q, so that z = (-1, 0, 2) solves it; from (0, 0, 2) the natural map moves by 1, and 1 + max |q| is 4
     */
    assert_true(perp_problem_residual(p, (double[]){-1, 0, 2}) == 0.0);
    assert_true(perp_problem_residual(p, (double[]){0, 0, 2}) == 0.25);
    assert_reals(p->mcp.upper, (double[]){INFINITY, INFINITY, 2}, 3);
    perp_problem_free(p);
}

static void nothing_in_it_is_a_problem(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "kind: lcp\nM: []\nq: []\n", "kind: mlcp\nM: []\nq: []\nfree: []\n",
        "kind: mcp\nM: {rows: 0, cols: 0, triplets: []}\nq: []\nlower: []\nupper: []\n"};
    for (int i = 0; i < 3; i++) {
        perp_problem *p = load_good(texts[i]);
        assert_int_equal(p->kind, i);
        assert_string_equal(perp_problem_kind_name(p->kind), ((const char *[]){"lcp", "mlcp", "mcp"})[i]);
        assert_int_equal(perp_problem_size(p), 0);
        perp_problem_free(p);
    }
    perp_problem_free(NULL);
}

/* A comma as decimal sign in the program's locale must not change what a file means. */
static void the_locale_does_not_matter(void **state)
{
    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
        setlocale(LC_NUMERIC, "C"); /* where there is no such locale the test says little, and still holds */
    }
    perp_problem *p = load_good("kind: lcp\nM: [[1.5]]\nq: [-0.25]\n");
    setlocale(LC_NUMERIC, "C");
    assert_reals(p->lcp.m, (double[]){1.5}, 1);
    assert_reals(p->lcp.q, (double[]){-0.25}, 1);
    perp_problem_free(p);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

typedef struct refusal {
    const char *text;
    int line, column;
    const char *words; /* part of the message */
} refusal;

#define LCP "kind: lcp\n"

static const refusal refusals[] = {
    /* text that is no problem */
    {"", 1, 1, "there is nothing here"},
    {"[1, 2]", 1, 1, "a problem is a mapping"},
    {"kind: lcp\nM: [[1]\n", 3, 1, "not YAML"},
    {"M: [[1]]\nq: [1]\n", 1, 1, "`kind` is missing"},
    {"kind: nlp\nM: [[1]]\nq: [1]\n", 1, 7, "one of `lcp`, `mlcp`, `mcp`"},
    {"kind: 3\n", 1, 7, "one of `lcp`"},
    {"kind: [lcp]\n", 1, 7, "one of `lcp`"},
    {LCP "M: [[1]]\n", 1, 1, "`q` is missing"},
    {LCP "q: [1]\n", 1, 1, "`M` is missing"},
    {LCP "M: [[1]]\nM: [[1]]\nq: [1]\n", 3, 1, "defined twice"},
    {LCP "M: [[1]]\nq: [1]\nQ: [1]\n", 4, 1, "unknown key `Q`"},
    {LCP "M: [[1]]\nq: [1]\nfree: [0]\n", 4, 1, "unknown key `free`"},
    {"kind: mlcp\nM: [[1]]\nq: [1]\n", 1, 1, "`free` is missing"},
    {"kind: mcp\nM: [[1]]\nq: [1]\nlower: [0]\n", 1, 1, "`upper` is missing"},
    /* kinds to come */
    {"kind: qp\nH: [[1]]\ng: [1]\n", 1, 7, "`qp` are not available yet"},
    {"kind: cone-qp\n", 1, 7, "not available yet"},
    {"kind: lp\n", 1, 7, "not available yet"},
    {"kind: friction\nW: [[1]]\n", 1, 7, "not available yet"},
    /* matrices */
    {LCP "M: 3\nq: [1]\n", 2, 4, "expected a matrix"},
    {LCP "M: [1, 2]\nq: [1, 2]\n", 2, 5, "a list of 2 numbers"},
    {LCP "M: [[1, 2], [3]]\nq: [1, 2]\n", 2, 13, "row 1 has 1 entries, but M has 2 rows"},
    {LCP "M: [[1, 2]]\nq: [1, 2]\n", 2, 5, "M must be square"},
    {LCP "M: [[1, .nan], [3, 4]]\nq: [1, 2]\n", 2, 9, "NaN"},
    {LCP "M: [[1, .inf], [3, 4]]\nq: [1, 2]\n", 2, 9, "finite"},
    {LCP "M: [[1, two], [3, 4]]\nq: [1, 2]\n", 2, 9, "expected a number"},
    {LCP "M: [[1, 1e999], [3, 4]]\nq: [1, 2]\n", 2, 9, "too large"},
    {LCP "M: {rows: 2, cols: 3, triplets: []}\nq: [1, 2]\n", 2, 20, "2 rows and 3 columns"},
    {LCP "M: {rows: -1, cols: -1, triplets: []}\nq: []\n", 2, 11, "negative"},
    {LCP "M: {rows: 1.5, cols: 2, triplets: []}\nq: []\n", 2, 11, "whole number"},
    {LCP "M: {rows: 100000, cols: 100000, triplets: []}\nq: [1]\n", 2, 11, "at most 4000 rows"},
    {LCP "M: {rows: 2, triplets: []}\nq: [1, 2]\n", 2, 1, "`cols` is missing"},
    {LCP "M: {rows: 2, cols: 2, triplets: 3}\nq: [1, 2]\n", 2, 33, "a list of [row, column, value]"},
    {LCP "M: {rows: 2, cols: 2, triplets: [[0, 1]]}\nq: [1, 2]\n", 2, 34, "a triplet"},
    {LCP "M: {rows: 2, cols: 2, triplets: [[0, 2, 1]]}\nq: [1, 2]\n", 2, 38, "index 2 is outside 0 .. 1"},
    {LCP "M: {rows: 2, cols: 2, triplets: [[-1, 0, 1]]}\nq: [1, 2]\n", 2, 35, "index -1 is outside"},
    {LCP "M: {rows: 0, cols: 0, triplets: [[0, 0, 1]]}\nq: []\n", 2, 35, "no rows"},
    {LCP "M: {rows: 1, cols: 1, triplets: [[0, 0, 1e308], [0, 0, 1e308]]}\nq: [1]\n", 2, 49, "add up to more"},
    {LCP "M: {rows: 1, cols: 1, triplets: [], extra: 1}\nq: [1]\n", 2, 37, "unknown key `extra`"},
    /* vectors */
    {LCP "M: [[1]]\nq: 3\n", 3, 4, "a list of numbers"},
    {LCP "M: [[1]]\nq: [1, 2]\n", 3, 4, "`q` has 2 entries, but M has 1 rows"},
    {LCP "M: [[1]]\nq: [-.inf]\n", 3, 5, "finite"},
    {LCP "M: [[1]]\nq: [.nan]\n", 3, 5, "NaN"},
    {"kind: mlcp\nM: [[1]]\nq: [1]\nfree: 0\n", 4, 7, "a list of rows"},
    {"kind: mlcp\nM: [[1]]\nq: [1]\nfree: [1]\n", 4, 8, "outside 0 .. 0"},
    {"kind: mlcp\nM: [[1]]\nq: [1]\nfree: [0, 0]\n", 4, 11, "named twice"},
    {"kind: mlcp\nM: [[1]]\nq: [1]\nfree: [0.5]\n", 4, 8, "whole number"},
    {"kind: mcp\nM: [[1]]\nq: [1]\nlower: [1]\nupper: [0]\n", 4, 9, "no number lies between"},
    {"kind: mcp\nM: [[1]]\nq: [1]\nlower: [.inf]\nupper: [.inf]\n", 4, 9, "no number lies between"},
    {"kind: mcp\nM: [[1]]\nq: [1]\nlower: [-.inf]\nupper: [-.inf]\n", 4, 9, "no number lies between"},
    {"kind: mcp\nM: [[1]]\nq: [1]\nlower: [0]\nupper: [.nan]\n", 5, 9, "NaN"},
    {"kind: mcp\nM: [[1]]\nq: [1]\nlower: [0]\nupper: []\n", 5, 8, "`upper` has 0 entries"},
};

static void refusals_name_the_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const refusal *r = &refusals[i];
        if (load(r->text)) {
            fail_msg("accepted: %s", r->text);
        }
        const perp_diagnostic *first = &diagnostics.items[0];
        if (first->line != r->line || first->column != r->column || !strstr(first->message, r->words)) {
            fail_msg("%s\nsays %d:%d: %s\nexpected %d:%d: %s", r->text, first->line, first->column, first->message,
                     r->line, r->column, r->words);
        }
        assert_string_equal(first->file, "p.yaml");
    }
}

/* A kind to come is the one thing told: its keys are not called unknown. */
static void a_planned_kind_is_one_error(void **state)
{
    (void)state;
    assert_null(load("kind: qp\nH: [[1]]\ng: [1]\nA: [[1]]\nb: [0]\n"));
    assert_int_equal(diagnostics.errors, 1);
}

static void all_errors_are_told_in_order(void **state)
{
    (void)state;
    assert_null(load("kind: mlcp\nfree: [7]\nM: [[1, 0], [0, 1]]\nq: [x, 2, 3]\n"));
    assert_int_equal(diagnostics.errors, 2);
    assert_int_equal(diagnostics.items[0].line, 2);
    assert_int_equal(diagnostics.items[1].line, 4);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void files_are_read_or_explained(void **state)
{
    (void)state;
    perp_problem *problem;
    char path[] = "/tmp/perp-problem-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    const char text[] = "kind: lcp\nM: [[2]]\nq: [-1]\n";
    assert_int_equal(write(file, text, sizeof text - 1), sizeof text - 1);
    close(file);
    memset(&diagnostics, 0, sizeof diagnostics);
    assert_int_equal(perp_problem_load_file(path, NULL, &problem, &diagnostics), PERP_STATUS_OK);
    assert_reals(problem->lcp.m, (double[]){2}, 1);
    perp_problem_free(problem);
    unlink(path);
    assert_int_equal(perp_problem_load_file(path, NULL, &problem, &diagnostics), PERP_STATUS_BAD_INPUT);
    assert_null(problem);
    assert_string_equal(diagnostics.items[0].file, path);
    memset(&diagnostics, 0, sizeof diagnostics);
    assert_int_equal(perp_problem_load_file("box.dat", NULL, &problem, &diagnostics), PERP_STATUS_BAD_INPUT);
    assert_non_null(strstr(diagnostics.items[0].message, "not available yet"));
}

static void too_long_a_text_is_refused(void **state)
{
    (void)state;
    perp_problem *problem;
    memset(&diagnostics, 0, sizeof diagnostics);
    assert_int_equal(
        perp_problem_load_text("kind", (size_t)PERP_YAML_MAX_BYTES + 1, "p.yaml", NULL, &problem, &diagnostics),
        PERP_STATUS_BAD_INPUT);
    assert_null(problem);
}

static void every_allocation_failing_in_turn(void **state)
{
    (void)state;
    static const char text[] = "kind: mcp\nM: {rows: 2, cols: 2, triplets: [[0, 0, 1], [1, 1, 1]]}\nq: [1, 2]\n"
                               "lower: [0, -.inf]\nupper: [1, .inf]\n";
    for (int once = 0; once < 2; once++) {
        bool done = false;
        for (int grants = 0; !done; grants++) {
            failing_allocator f = {.grants = grants, .once = once == 1};
            const perp_allocator allocator = allocator_of(&f);
            perp_problem *problem;
            memset(&diagnostics, 0, sizeof diagnostics);
            const perp_status status =
                perp_problem_load_text(text, sizeof text - 1, "p.yaml", &allocator, &problem, &diagnostics);
            done = f.requests <= grants; /* nothing was refused */
            assert_int_equal(status, done ? PERP_STATUS_OK : PERP_STATUS_OUT_OF_MEMORY);
            assert_int_equal(problem != NULL, done);
            assert_int_equal(diagnostics.errors, done ? 0 : 1);
            perp_problem_free(problem);
            assert_int_equal(f.standing, 0);
            assert_true(grants < 1000);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_lcp_by_rows),
        cmocka_unit_test(a_matrix_by_triplets),
        cmocka_unit_test(json_is_yaml),
        cmocka_unit_test(bounds_may_be_infinite),
        cmocka_unit_test(nothing_in_it_is_a_problem),
        cmocka_unit_test(the_locale_does_not_matter),
        cmocka_unit_test(refusals_name_the_place),
        cmocka_unit_test(a_planned_kind_is_one_error),
        cmocka_unit_test(all_errors_are_told_in_order),
        cmocka_unit_test(files_are_read_or_explained),
        cmocka_unit_test(too_long_a_text_is_refused),
        cmocka_unit_test(every_allocation_failing_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
