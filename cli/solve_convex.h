/* solve_convex.h - `perp solve` for qp, cone-qp and lp. */
#ifndef PERP_CLI_SOLVE_CONVEX_H
#define PERP_CLI_SOLVE_CONVEX_H

#include "cli.h"

/* Solves and reports; the exit code. `file` is where the problem was read from. */
int solve_convex(const perp_problem *problem, const perp_convex_settings *settings, const char *file, bool json);

#endif
