/* solve_print.h - what the answers of `perp solve` have in common, for a person. */
#ifndef PERP_CLI_SOLVE_PRINT_H
#define PERP_CLI_SOLVE_PRINT_H

#include "cli.h"

enum { SOLVE_NUMBERS_SHOWN = 24, SOLVE_LINES_SHOWN = 20 };

/* A long vector is cut and says so; --json has all of it. */
void solve_print_numbers(const char *head, const double *values, int n);
/* "tried: a, b", where there was more than one. */
void solve_print_tried(const char *const *tried, int count);

/* Says why a convex or a friction problem was not solved, and returns the exit code; `infeasible`: what then holds. */
int solve_explain(perp_outcome outcome, double residual, const char *infeasible);

double solve_microseconds(void);

#endif
