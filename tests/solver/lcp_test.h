/* lcp_test.h - what the tests of the complementarity solvers share: a judge that is not the library's, problems with
 * known answers, and contact problems from random configurations.
 */
#ifndef PERP_TESTS_LCP_TEST_H
#define PERP_TESTS_LCP_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <perp/solver.h>

#define ASSERT_STATUS(expected, call) assert_string_equal(perp_status_name(expected), perp_status_name(call))
#define ASSERT_OUTCOME(expected, info)                                                                                 \
    assert_string_equal(perp_outcome_name(expected), perp_outcome_name((info).outcome))

/* |a - b| <= tolerance; NaN fails. */
#define ASSERT_NEAR(a, b, tolerance) assert_near_((a), (b), (tolerance), #a, __FILE__, __LINE__)
void assert_near_(double a, double b, double tolerance, const char *text, const char *file, int line);

/* An lcp, mlcp (free given) or mcp (bounds given) with arrays of its own, and room for an answer. */
typedef struct case_of {
    int n;
    double *m, *q, *lower, *upper;
    bool *free;
    double *z, *w, *ray;
    int *basis;
} case_of;

case_of new_case(int n); /* zeros; free and bounds allocated: 0 and infinity, none free */
void free_case(case_of *c);
perp_lcp lcp_of(const case_of *c);
perp_mlcp mlcp_of(const case_of *c);
perp_mcp mcp_of(const case_of *c);
perp_lcp_solution solution_of(const case_of *c);
perp_lcp_workspace *new_workspace(int n);
/* perp_lcp_solve with the method "lemke" alone. */
perp_status lemke_alone(const perp_lcp *problem, const perp_lcp_settings *settings, perp_lcp_workspace *workspace,
                        perp_lcp_solution *solution, perp_lcp_info *info, perp_error *error);

/* The scaled natural residual of z for the bounds of the case (free rows count as unbounded), by a formula and in a
 * precision that the library does not use. */
double judge(const case_of *c, const double *z);

/* Fails unless c->ray begins with a proof that the case has no point, checked exactly (farkas_check.h). To be called
 * wherever a solver says INFEASIBLE. */
void assert_proof(const case_of *c);

/* A weighted graph's Laplacian with integer weights, its rows and columns with `signs`, plus 2^-k I: definite, with a
 * condition near 2^k, n <= 8. The solution, which z receives, is near a large multiple of the null vector, at most
 * 2^20: there the rounding of z leaves 1e-9 of a residual. All numbers are exact: q = -M z has at most 53 bits. */
case_of nearly_singular(perp_random *random, int n, int k, bool signs, double *z);

case_of murty(int n); /* unit lower triangular, 2 below the diagonal, q = -e */
case_of fathi(int n); /* its L L' */
case_of bimatrix(void);

/* Stewart and Trinkle's lcp of one time step, for contacts between random bodies, of about `size` unknowns in the order
 * normal impulses, friction impulses, cone multipliers. Contacts are duplicated, opposed, frictionless, and masses
 * differ by up to 1e6.
 *
 * With `proven` the gaps are not negative, and a solution exists: M is copositive, and where v >= 0, v'M v = 0 the
 * impulses of v cancel on every body, so that q'v is the normal part of v times the gaps over h, hence >= 0, which is
 * the condition of Lemke's theorem (Cottle, Pang, Stone, 4.4.13). Without, gaps of either sign occur, and friction can
 * hold what the gap wants to move: there need be none. */
case_of contact_lcp(uint64_t seed, int size, bool proven);

#endif
