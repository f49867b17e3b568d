/* solve_friction.h - `perp solve` for friction problems. */
#ifndef PERP_CLI_SOLVE_FRICTION_H
#define PERP_CLI_SOLVE_FRICTION_H

#include "cli.h"

/* Solves and reports; the exit code. */
int solve_friction(const perp_friction *problem, const perp_friction_settings *settings, bool json);

#endif
