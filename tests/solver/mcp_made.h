/* mcp_made.h - nonlinear mcps made from their solution, by number; used by tests and by sweep_mcp. */
#ifndef PERP_TESTS_SOLVER_MCP_MADE_H
#define PERP_TESTS_SOLVER_MCP_MADE_H

#include <perp/problem.h>

enum { MADE_LARGEST = 40 };

typedef enum made_shape { MADE_CUBIC, MADE_EXPONENTIAL, MADE_SHAPES } made_shape;

/* F = A z + c_i g(z_i) + offset, g a cube or an exponential, the offset such that `solution` solves it. Boxes,
 * half-lines, free and fixed variables; a tenth of the rows are degenerate. */
typedef struct made {
    int n;
    made_shape shape;
    double a[MADE_LARGEST][MADE_LARGEST], c[MADE_LARGEST], offset[MADE_LARGEST];
    double lower[MADE_LARGEST], upper[MADE_LARGEST], solution[MADE_LARGEST];
} made;

/* Monotone: A is B B' of any rank plus something skew, c >= 0. Else A has entries of either sign and is far from P0. */
made made_case(uint64_t seed, made_shape shape, bool monotone);
perp_nonlinear_mcp made_problem(made *m); /* borrows it */
bool made_evaluate(void *context, const double *z, double *f, double *jacobian);

#endif
