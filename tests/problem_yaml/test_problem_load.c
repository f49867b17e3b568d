/* The reader of problem files: what it accepts, what it refuses and where, limits, lack of memory. */
#include <perp/problem_yaml.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "failing_allocator.h"
#include "problem_yaml/problem_load.h"
#include "refusals.h"

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
        print_diagnostics(&diagnostics);
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
    /* F(z) = z + q, so that z = (-1, 0, 2) solves it; from (0, 0, 2) the natural map moves by 1 in row 0, whose scale
     * is 1 + |q_0| */
    assert_true(perp_problem_residual(p, (double[]){-1, 0, 2}) == 0.0);
    assert_true(perp_problem_residual(p, (double[]){0, 0, 2}) == 0.5);
    assert_reals(p->mcp.upper, (double[]){INFINITY, INFINITY, 2}, 3);
    perp_problem_free(p);
}

static void kinds_have_names(void **state)
{
    (void)state;
    assert_string_equal(perp_problem_kind_name(PERP_PROBLEM_LCP), "lcp");
    assert_string_equal(perp_problem_kind_name(PERP_PROBLEM_MLCP), "mlcp");
    assert_string_equal(perp_problem_kind_name(PERP_PROBLEM_MCP), "mcp");
    assert_string_equal(perp_problem_kind_name(PERP_PROBLEM_QP), "qp");
    assert_string_equal(perp_problem_kind_name(PERP_PROBLEM_CONE_QP), "cone-qp");
    assert_string_equal(perp_problem_kind_name(PERP_PROBLEM_LP), "lp");
    assert_string_equal(perp_problem_kind_name(PERP_PROBLEM_FRICTION), "friction");
    for (int i = 0; i < PERP_PROBLEM_KIND_COUNT; i++) {
        assert_int_equal(perp_problem_is_convex((perp_problem_kind)i), i >= PERP_PROBLEM_QP && i <= PERP_PROBLEM_LP);
    }
    perp_problem_free(NULL);
}

static void a_qp(void **state)
{
    (void)state;
    perp_problem *p = load_good("kind: qp\nH:\n  - [2, -1]\n  - [-1, 2]\ng: [-2, 0.5]\nA: [[1, 2], [3, 4], [5, 6]]\n"
                                "b: [7, 8, 9]\nC: {rows: 1, cols: 2, triplets: [[0, 1, 2.5]]}\nd: [-1]\n"
                                "lower: [-.inf, 0]\nupper: [3, .inf]\n");
    assert_int_equal(p->kind, PERP_PROBLEM_QP);
    assert_int_equal(perp_problem_size(p), 2);
    assert_reals(p->qp.h, (double[]){2, -1, -1, 2}, 4);
    assert_reals(p->qp.g, (double[]){-2, 0.5}, 2);
    assert_int_equal(p->qp.rows, 3);
    assert_reals(p->qp.a, (double[]){1, 2, 3, 4, 5, 6}, 6);
    assert_reals(p->qp.b, (double[]){7, 8, 9}, 3);
    assert_int_equal(p->qp.equalities, 1);
    assert_reals(p->qp.c, (double[]){0, 2.5}, 2);
    assert_reals(p->qp.d, (double[]){-1}, 1);
    assert_reals(p->qp.lower, (double[]){-INFINITY, 0}, 2);
    assert_reals(p->qp.upper, (double[]){3, INFINITY}, 2);
    assert_int_equal(p->hessian_line, 3);
    assert_int_equal(p->hessian_column, 3);
    perp_problem_free(p);
}

/* What a convex problem may leave out, or have none of. */
static void constraints_are_optional(void **state)
{
    (void)state;
    perp_problem *p = load_good("kind: lp\ng: [1, 2]\nupper: [1, 1]\n");
    assert_int_equal(p->kind, PERP_PROBLEM_LP);
    assert_null(p->qp.h);
    assert_null(p->qp.lower);
    assert_int_equal(p->qp.rows + p->qp.equalities, 0);
    assert_reals(p->qp.upper, (double[]){1, 1}, 2);
    assert_int_equal(p->hessian_line, 0);
    perp_problem_free(p);
    p = load_good("kind: lp\ng: [1, 2]\nA: []\nb: []\nC: {rows: 0, cols: 2, triplets: []}\nd: []\n");
    assert_int_equal(p->qp.rows + p->qp.equalities, 0);
    perp_problem_free(p);
    p = load_good("{kind: cone-qp, g: [1], cones: []}");
    assert_int_equal(p->cone_qp.cones, 0);
    assert_null(p->cone_qp.h);
    perp_problem_free(p);
}

static void a_cone_qp(void **state)
{
    (void)state;
    perp_problem *p = load_good("kind: cone-qp\nH: {rows: 2, cols: 2, triplets: [[0, 0, 1], [1, 1, 1]]}\ng: [0, -1]\n"
                                "cones:\n  - {A: [[1, 0], [0, 1]], b: [0, 3]}\n  - b: [-4]\n    A: [[5, 6]]\n"
                                "C: [[1, 1]]\nd: [2]\n");
    assert_int_equal(p->kind, PERP_PROBLEM_CONE_QP);
    assert_int_equal(perp_problem_size(p), 2);
    assert_int_equal(p->cone_qp.cones, 2);
    assert_int_equal(p->cone_qp.cone_rows[0], 2);
    assert_int_equal(p->cone_qp.cone_rows[1], 1);
    assert_reals(p->cone_qp.a, (double[]){1, 0, 0, 1, 5, 6}, 6);
    assert_reals(p->cone_qp.b, (double[]){0, 3, -4}, 3);
    assert_reals(p->cone_qp.c, (double[]){1, 1}, 2);
    assert_reals(p->cone_qp.d, (double[]){2}, 1);
    assert_int_equal(p->hessian_line, 2);
    /* x = (1, 1) has slacks (1, 4), at a distance of 1.5 sqrt 2 from the cone, and 7; over 1 + 4 */
    const double x[2] = {1, 1}, y[3] = {0};
    const perp_convex_point point = {.x = (double *)x, .y = (double *)y, .y_equality = (double *)y};
    assert_true(fabs(perp_problem_convex_residual(p, &point).primal - 1.5 * sqrt(2.0) / 5) <= 1e-15);
    perp_problem_free(p);
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

#define LCP "kind: lcp\n"
#define QP "kind: qp\nH: [[1]]\n"
#define CONE_QP "kind: cone-qp\ng: [1, 2]\n"

static const refusal refusals[] = {
    /* text that is no problem */
    {"", 1, 1, "there is nothing here"},
    {"[1, 2]", 1, 1, "a problem is a mapping"},
    {"kind: lcp\nM: [[1]\n", 3, 1, "not YAML"},
    {"M: [[1]]\nq: [1]\n", 1, 1, "`kind` is missing"},
    {"kind: nlp\nM: [[1]]\nq: [1]\n", 1, 7, "one of `lcp`, `mlcp`, `mcp`, `qp`, `cone-qp`, `lp`, `friction`"},
    {"H: [[1]]\ng: [1]\n", 1, 1, "`kind` is missing; write `kind: qp`"},
    {"kind: 3\n", 1, 7, "one of `lcp`"},
    {"kind: [lcp]\n", 1, 7, "one of `lcp`"},
    {LCP "M: [[1]]\n", 1, 1, "`q` is missing"},
    {LCP "q: [1]\n", 1, 1, "`M` is missing"},
    {LCP "M: [[1]]\nM: [[1]]\nq: [1]\n", 3, 1, "defined twice"},
    {LCP "M: [[1]]\nq: [1]\nQ: [1]\n", 4, 1, "unknown key `Q`"},
    {LCP "M: [[1]]\nq: [1]\nfree: [0]\n", 4, 1, "unknown key `free`"},
    {"kind: mlcp\nM: [[1]]\nq: [1]\n", 1, 1, "`free` is missing"},
    {"kind: mcp\nM: [[1]]\nq: [1]\nlower: [0]\n", 1, 1, "`upper` is missing"},
    /* matrices */
    {LCP "M: 3\nq: [1]\n", 2, 4, "expected a matrix"},
    {LCP "M: [1]\nq: [1]\n", 2, 5, "a list of 1 number"},
    {LCP "M: [[1, 2], [3]]\nq: [1, 2]\n", 2, 13, "row 1 has 1 entry, but M has 2 rows"},
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
    {LCP "M: {rows: 2, cols: 2, triplets: [[0, 2000000000, 1]]}\nq: [1, 2]\n", 2, 38, "index 2000000000 is outside"},
    {LCP "M: {rows: 2, cols: 2, triplets: [[-1, 0, 1]]}\nq: [1, 2]\n", 2, 35, "index -1 is outside"},
    /* a problem without rows, at what says so */
    {"kind: lcp # not M\nM: []\nq: []\n", 2, 4, "M has no rows; a problem has at least one"},
    {"{\"kind\": \"lcp\", \"q\": [], \"M\": []}", 1, 31, "no rows"},
    {"kind: mlcp\nfree: []\nq: []\nM: # below\n  []\n", 5, 3, "no rows"},
    {"kind: mcp\nM: {rows: 0, cols: 0, triplets: []}\nq: []\nlower: []\nupper: []\n", 2, 11, "no rows"},
    {LCP "M: {rows: 0, cols: 0, triplets: [[0, 0, 1]]}\nq: []\n", 2, 11, "no rows"},
    {LCP "M: {rows: 1, cols: 1, triplets: [[0, 0, 1e308], [0, 0, 1e308]]}\nq: [1]\n", 2, 49, "add up to more"},
    {LCP "M: {rows: 1, cols: 1, triplets: [], extra: 1}\nq: [1]\n", 2, 37, "unknown key `extra`"},
    /* vectors */
    {LCP "M: [[1]]\nq: 3\n", 3, 4, "a list of numbers"},
    {LCP "M: [[1]]\nq: [1, 2]\n", 3, 4, "`q` has 2 entries, but M has 1 row"},
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
    /* convex: keys */
    {"kind: qp\ng: [1]\n", 1, 1, "`H` is missing; write `H: [[1, 0, ..], ..] or {rows"},
    {"kind: qp\ng: [1]\n", 1, 1, "or `kind: lp`"},
    {QP "", 1, 1, "`g` is missing"},
    {"kind: lp\nH: [[1]]\ng: [1]\n", 2, 4, "an lp has no H; write `kind: qp`"},
    {"kind: cone-qp\nH: [[1]]\ng: [1]\n", 1, 1, "`cones` is missing"},
    {"kind: cone-qp\ng: [1]\ncones: []\nlower: [0]\n", 4, 1, "unknown key `lower`"},
    {QP "g: [1]\nq: [1]\n", 4, 1, "unknown key `q`"},
    {QP "g: [1]\nuper: [1]\n", 4, 1, "did you mean `upper`?"},
    {QP "g: [1]\nA: [[1]]\n", 4, 4, "`A` needs `b`, a number for each of its rows; write `b: [..]`"},
    {QP "g: [1]\nb: [1]\n", 4, 4, "`b` needs `A`, a row for each of its entries; write `A: [[..], ..]`"},
    {QP "g: [1]\nC: [[1]]\n", 4, 4, "`C` needs `d`"},
    {QP "g: [1]\nd: [1]\n", 4, 4, "`d` needs `C`"},
    /* convex: sizes, which g tells */
    {"kind: lp\ng: []\n", 2, 4, "g has no entries; a problem has at least one"},
    {"kind: lp\ng: 3\n", 2, 4, "a list of numbers, but found `3`; write `g: ["},
    {"kind: qp\nH: 3\ng: [1]\n", 2, 4, "but found `3`; write `H: [["},
    {QP "g: [1, 2]\n", 2, 4, "H is 1 x 1, but g has 2"},
    {"kind: qp\ng: [1, 2]\nH: [[1, 0], [0]]\n", 3, 13, "row 1 has 1 entry, but g has 2"},
    {"kind: qp\ng: [1, 2]\nH: {rows: 2, cols: 3, triplets: []}\n", 3, 20, "H has 3 columns, but g has 2"},
    {"kind: qp\ng: [1, 2]\nH: {rows: 9000000, cols: 2, triplets: []}\n", 3, 11, "H has 9000000 rows, but g has 2"},
    {"kind: lp\ng: [1, 2]\nA: [[1, 2, 3]]\nb: [1]\n", 3, 4, "A is 1 x 3, but g has 2"},
    {"kind: lp\ng: [1, 2]\nA: [[1, 2]]\nb: [1, 2]\n", 3, 4, "A has 1 row, but b has 2 entries"},
    {"kind: lp\ng: [1, 2]\nC: {rows: 3, cols: 2, triplets: []}\nd: [1]\n", 3, 11, "C has 3 rows, but d has 1 entry"},
    {"kind: lp\ng: [1, 2]\nC: {rows: -3, cols: 2, triplets: []}\nd: [1]\n", 3, 11, "negative"},
    {"kind: lp\ng: [1]\nC: {rows: 0, cols: 1, triplets: [[0, 0, 1]]}\nd: []\n", 3, 35, "index 0, where there is none"},
    {"kind: qp\ng: [1, 2]\nH: [[1, 0]]\n", 3, 4, "H has 1 row, but g has 2"},
    {"kind: lp\ng: [1]\nA: [1]\nb: [1]\n", 3, 5, "a list of 1 number"},
    {"kind: lp\ng: [1]\nA: 2\nb: [1]\n", 3, 4, "expected a matrix"},
    {"kind: lp\ng: [1]\nlower: [0, 0]\n", 3, 8, "`lower` has 2 entries, but g has 1"},
    {"kind: lp\ng: [1]\nlower: 0\n", 3, 8, "a list of numbers"},
    /* convex: numbers */
    {"kind: lp\ng: [.nan]\n", 2, 5, "NaN"},
    {"kind: lp\ng: [1]\nA: [[.inf]]\nb: [1]\n", 3, 6, "finite"},
    {"kind: lp\ng: [1]\nA: [[1]]\nb: [-.inf]\n", 4, 5, "finite"},
    {"kind: lp\ng: [1]\nC: [[1]]\nd: [.nan]\n", 4, 5, "NaN"},
    {"kind: lp\ng: [1]\nlower: [.inf]\n", 3, 9, "no number lies between"},
    {"kind: lp\ng: [1]\nupper: [-.inf]\n", 3, 9, "no number lies between"},
    {"kind: lp\ng: [1, 1]\nupper: [1, 1]\nlower: [0, 2]\n", 4, 12, "no number lies between the lower bound 2"},
    /* H, at the entry */
    {"kind: qp\ng: [1, 2]\nH: [[1, 2],\n    [3, 9]]\n", 4, 6, "entry (1, 0) is 3, but entry (0, 1) is 2"},
    {"kind: qp\ng: [1, 2]\nH: {rows: 2, cols: 2, triplets: [[0, 0, 1], [0, 1, 0.5]]}\n", 3, 45,
     "not symmetric: entry (1, 0) is 0, but entry (0, 1) is 0.5; write both triangles"},
    {"kind: cone-qp\ncones: []\ng: [1, 2]\nH: [[1, 0], [0, -1]]\n", 4, 17, "its diagonal entry 1 is -1"},
    {"kind: qp\ng: [1, 2]\nH: [[1, 2], [2, 1]]\n", 3, 4, "not positive semidefinite"},
    {"kind: qp\ng: [1]\nH: [[.nan]]\n", 3, 6, "NaN"},
    /* cones */
    {CONE_QP "cones: 3\n", 3, 8, "a list of cones"},
    {CONE_QP "cones: [3]\n", 3, 9, "a cone {A: [[..], ..], b: [..]}"},
    {CONE_QP "cones: [[1, 2]]\n", 3, 9, "a cone {A: [[..], ..], b: [..]}"},
    {CONE_QP "cones: [{A: [[1, 2]]}]\n", 3, 9, "`b` is missing"},
    {CONE_QP "cones: [{A: [[1, 2]], b: [1], c: 3}]\n", 3, 31, "unknown key `c`"},
    {CONE_QP "cones: [{A: [[1, 2]], b: [1, 2]}]\n", 3, 13, "A has 1 row, but b has 2 entries"},
    {CONE_QP "cones: [{A: [[1]], b: [1]}]\n", 3, 13, "A is 1 x 1, but g has 2"},
    {CONE_QP "cones: [{A: [], b: []}]\n", 3, 20, "a cone has at least one row"},
    {CONE_QP "cones: [{A: [[1, 2]], b: [.inf]}]\n", 3, 27, "finite"},
};

static bool is_refused(const char *text)
{
    perp_problem *problem = load(text);
    perp_problem_free(problem);
    return !problem;
}

static void refusals_name_the_place(void **state)
{
    (void)state;
    assert_refusals(refusals, sizeof refusals / sizeof *refusals, "p.yaml", is_refused, &diagnostics);
}

/* Every error of a text, by place; what one value is wrong about does not hide the others. */
typedef struct full_report {
    const char *text;
    int count;
    int places[10][2];
} full_report;

static const full_report full_reports[] = {
    {"kind: mlcp\nfree: [7]\nM: [[1, 0], [0, 1]]\nq: [x, 2, 3]\n", 3, {{2, 8}, {4, 4}, {4, 5}}},
    /* keys: what is missing, unknown, and wrong in those that are there */
    {LCP "m: [[1]]\nq: [x]\n", 3, {{1, 1}, {2, 1}, {3, 5}}},
    {"kind: mcp\nM: [[1]]\nq: [1, 2]\nuper: [2]\nlower: [a]\n", 4, {{1, 1}, {3, 4}, {4, 1}, {5, 9}}},
    {"kind: lcq\nM: [[x]]\nq: [1, 2]\nH: [[1]]\n", 3, {{1, 7}, {2, 6}, {3, 4}}},
    {"M: [[x]]\nq: [y]\n", 3, {{1, 1}, {1, 6}, {2, 5}}},
    /* rows of all kinds of wrong; the first two say how large the problem is */
    {LCP "M: [[1, x, 3], [.nan, 2, 3], [1, y]]\nq: [1, 2]\n", 5, {{2, 9}, {2, 17}, {2, 30}, {2, 34}, {3, 4}}},
    {LCP "M: [[1, 2], 3]\nq: [1]\n", 2, {{2, 13}, {3, 4}}},
    /* no row says so: q is not held to a guess */
    {LCP "M: [[1, 2, 3], [4, x, 6]]\nq: [1, 2, z]\n", 4, {{2, 5}, {2, 16}, {2, 20}, {3, 11}}},
    {LCP "M: []\nq: [1, x]\n", 2, {{2, 4}, {3, 8}}},
    {LCP "M: 3\nq: [.inf, x]\n", 3, {{2, 4}, {3, 5}, {3, 11}}},
    /* triplets */
    {LCP "M: {rows: 2, triplets: [[0, 2, x], [a, 0, 1], [1]], cls: 2}\nq: [1]\n",
     7,
     {{2, 1}, {2, 29}, {2, 32}, {2, 37}, {2, 47}, {2, 53}, {3, 4}}},
    {LCP "M: {rows: x, cols: 2, triplets: [[-1, 9, 1]]}\nq: [1, y]\n", 3, {{2, 11}, {2, 35}, {3, 8}}},
    {LCP "M: {rows: 2, cols: 3, triplets: [[0, 0, x]]}\nq: [1]\n", 2, {{2, 20}, {2, 41}}},
    {"kind: mlcp\nM: {rows: 0, cols: 0, triplets: []}\nq: []\nfree: [-1, 3]\n", 2, {{2, 11}, {4, 8}}},
    {"kind: mlcp\nM: [[1]]\nq: [1]\nfree: [0, x, 0, 1]\n", 3, {{4, 11}, {4, 14}, {4, 17}}},
    /* bounds: those that could be read are compared */
    {"kind: mcp\nM: [[1, 0], [0, 1]]\nq: [1, 2]\nlower: [x, 3]\nupper: [0, 2]\n", 2, {{4, 9}, {4, 12}}},
    {"kind: mcp\nM: [[1, 0], [0, x]]\nq: [1, 2]\nlower: [1, 3]\nupper: [0, .nan]\n", 3, {{2, 17}, {4, 9}, {5, 12}}},
    {"kind: mcp\nM: [[1]]\nq: [x]\nlower: [1, 2]\nupper: [0]\n", 2, {{3, 5}, {4, 8}}},
    /* convex: without g, H says how many unknowns there are; without both nothing is held to a guess */
    {"kind: qp\nH: [[1, x], [0, 1]]\nlower: [1]\n", 3, {{1, 1}, {2, 9}, {3, 8}}},
    {"kind: lp\nA: [[1, x], [2]]\nb: [1, y]\nlower: [z]\n", 4, {{1, 1}, {2, 9}, {3, 8}, {4, 9}}},
    {"kind: qp\ng: [1, x]\nA: [[1, 2]]\nd: [y]\nlower: [3, .nan]\nupper: [2, 1]\n",
     7,
     {{1, 1}, {2, 8}, {3, 4}, {4, 4}, {4, 5}, {5, 9}, {5, 12}}},
    {"kind: cone-qp\ng: [1, 2]\ncones: [{A: [[1, x], [1]], b: [1, y]}, 7, {b: [z]}]\nC: [[1, 2], [3, 4]]\nd: [1]\n",
     7,
     {{3, 18}, {3, 22}, {3, 35}, {3, 40}, {3, 43}, {3, 48}, {4, 4}}},
    {"kind: pq\nH: [[x]]\ng: [1, 2]\ncones: [y]\n", 4, {{1, 7}, {2, 4}, {2, 6}, {4, 9}}},
    /* entries that could not be read say nothing about the symmetry of H */
    {"kind: qp\nH: [[1, 2], [x, 1]]\ng: [1, 2]\n", 1, {{2, 14}}},
};

static void all_errors_are_told_in_order(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof full_reports / sizeof *full_reports; i++) {
        const full_report *r = &full_reports[i];
        assert_null(load(r->text));
        bool good = diagnostics.errors == r->count && diagnostics.count == r->count;
        for (int k = 0; good && k < r->count; k++) {
            good = diagnostics.items[k].line == r->places[k][0] && diagnostics.items[k].column == r->places[k][1];
        }
        if (!good) {
            print_error("%s\nwanted %d errors, got %d:\n", r->text, r->count, diagnostics.errors);
            print_diagnostics(&diagnostics);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* Beyond the limit they are counted. */
static void many_errors_are_cut(void **state)
{
    (void)state;
    enum { ROWS = 300 };
    char text[64 + 4 * ROWS] = LCP "M: [[1]]\nq: [x";
    for (int i = 1; i < ROWS; i++) {
        strcat(text, ", x");
    }
    strcat(text, "]\n");
    assert_null(load(text));
    assert_int_equal(diagnostics.errors, ROWS + 1); /* and that there are too many */
    assert_int_equal(diagnostics.count, PERP_DIAGNOSTICS_PER_SEVERITY);
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

static void assert_memory_errors(const char *text)
{
    for (int once = 0; once < 2; once++) {
        bool done = false;
        for (int grants = 0; !done; grants++) {
            failing_allocator f = {.grants = grants, .once = once == 1};
            const perp_allocator allocator = allocator_of(&f);
            perp_problem *problem;
            memset(&diagnostics, 0, sizeof diagnostics);
            const perp_status status =
                perp_problem_load_text(text, strlen(text), "p.yaml", &allocator, &problem, &diagnostics);
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

static void every_allocation_failing_in_turn(void **state)
{
    (void)state;
    assert_memory_errors("kind: mcp\nM: {rows: 2, cols: 2, triplets: [[0, 0, 1], [1, 1, 1]]}\nq: [1, 2]\n"
                         "lower: [0, -.inf]\nupper: [1, .inf]\n");
    assert_memory_errors("kind: qp\nH: [[1, 0], [0, 1]]\ng: [1, 2]\nA: [[1, 2]]\nb: [1]\nC: [[1, 2]]\nd: [1]\n"
                         "lower: [0, -.inf]\nupper: [1, .inf]\n");
    assert_memory_errors("kind: cone-qp\nH: [[1]]\ng: [1]\ncones: [{A: [[1]], b: [1]}, {A: [[1]], b: [1]}]\n");
}

/* A file of 60 kB that claims matrices of 60 GB: refused before memory is taken. */
static void claims_are_given_no_memory(void **state)
{
    (void)state;
    enum { UNKNOWNS = 4000, ROWS = 10000 };
    static char text[(UNKNOWNS + 2 * ROWS) * 3 + 400];
    size_t length = (size_t)sprintf(text, "kind: cone-qp\ng: [1");
    for (int i = 1; i < UNKNOWNS; i++) {
        length += (size_t)sprintf(text + length, ", 1");
    }
    length += (size_t)sprintf(text + length, "]\ncones:\n");
    for (int k = 0; k < 2; k++) {
        length += (size_t)sprintf(text + length, "- {A: {rows: %d, cols: %d, triplets: []}, b: [1", ROWS / 2, UNKNOWNS);
        for (int i = 1; i < ROWS / 2; i++) {
            length += (size_t)sprintf(text + length, ", 1");
        }
        length += (size_t)sprintf(text + length, "]}\n");
    }
    assert_null(load(text));
    assert_int_equal(diagnostics.errors, 1);
    assert_non_null(strstr(diagnostics.items[0].message, "the cones have 10000 rows of 4000 entries"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_lcp_by_rows),
        cmocka_unit_test(a_matrix_by_triplets),
        cmocka_unit_test(json_is_yaml),
        cmocka_unit_test(bounds_may_be_infinite),
        cmocka_unit_test(a_qp),
        cmocka_unit_test(constraints_are_optional),
        cmocka_unit_test(a_cone_qp),
        cmocka_unit_test(kinds_have_names),
        cmocka_unit_test(the_locale_does_not_matter),
        cmocka_unit_test(refusals_name_the_place),
        cmocka_unit_test(all_errors_are_told_in_order),
        cmocka_unit_test(many_errors_are_cut),
        cmocka_unit_test(files_are_read_or_explained),
        cmocka_unit_test(too_long_a_text_is_refused),
        cmocka_unit_test(every_allocation_failing_in_turn),
        cmocka_unit_test(claims_are_given_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
