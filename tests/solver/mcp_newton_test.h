/* mcp_newton_test.h - nonlinear mcps of the literature, and a judge that is not the library's. */
#ifndef PERP_TESTS_MCP_NEWTON_TEST_H
#define PERP_TESTS_MCP_NEWTON_TEST_H

#include "lcp_test.h"

#include <perp/linalg_sparse.h>

/* The unscaled natural residual in long double, F being evaluated afresh; infinite outside the bounds. */
double judge_nonlinear(const perp_nonlinear_mcp *problem, const double *z);

/* Makes a workspace, solves from `start` (NULL: default) and fails unless the answer is consistent: z between its
 * bounds, f = F(z), `solved` exactly where the judge agrees. */
perp_mcp_newton_info solve_nonlinear(const perp_nonlinear_mcp *problem, const double *start, double *z);
perp_mcp_newton_info solve_nonlinear_by(const perp_nonlinear_mcp *problem, const perp_mcp_newton_settings *settings,
                                        const perp_linear_solver *linear_solver, double *z);

/* MCPLIB (Dirkse and Ferris 1995; data as in the AMPL and Pyomo versions of kojshin, josephy, billups, nash, obstacle).
 * Each takes no context but what is said. */
perp_nonlinear_mcp kojima_shindo(void); /* solutions (sqrt(6) / 2, 0, 0, 1/2), degenerate, and (1, 0, 3, 0) */
perp_nonlinear_mcp josephy(void);       /* the same quadratics, other linear part: (sqrt(6) / 2, 0, 0, 1/2) */
enum { QUADRATIC_STARTS = 8 };
extern const double quadratic_starts[QUADRATIC_STARTS][4]; /* of both */
perp_nonlinear_mcp billups(void);                          /* 0 <= z _|_ (z - 1)^2 - 1.01 */

/* Cournot oligopolies: marginal cost c_i + (q_i k_i)^(1 / beta_i), price (5000 / Q)^(1 / gamma). */
typedef struct nash {
    int n;
    double gamma, c[10], beta[10], k[10];
} nash;
extern const nash nash_5, nash_10; /* Murphy, Sherali and Soyster 1982; MCPLIB's nash */
perp_nonlinear_mcp nash_problem(const nash *data);

/* Ciarlet's membrane between two obstacles on a side x side grid, with the pattern of its stencil: MCPLIB's obstacle
 * (its bound 3). F = A z - load, A symmetric and definite. */
typedef struct obstacle {
    int side;
    double load, *lower, *upper;
    int *starts, *rows;
} obstacle;
obstacle new_obstacle(int side, double load);
void free_obstacle(obstacle *o);
perp_nonlinear_mcp obstacle_problem(obstacle *o);
void obstacle_product(const obstacle *o, const double *z, double *product); /* A z */

/* A linear problem of lcp_test.h, by callback. */
perp_nonlinear_mcp linear_problem(const case_of *c);

#endif
