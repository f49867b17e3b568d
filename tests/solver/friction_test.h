/* friction_test.h - what the tests of friction's methods share: one solve in a workspace of its own, which has to go
 * through; the outcome is the test's to judge.
 */
#ifndef PERP_TESTS_SOLVER_FRICTION_TEST_H
#define PERP_TESTS_SOLVER_FRICTION_TEST_H

#include <perp/solver.h>

/* Settings with a method, else the defaults. */
perp_friction_settings friction_settings(const char *method);

perp_friction_info solve_friction(const perp_friction *problem, const perp_friction_settings *settings, double *r,
                                  double *u);
perp_friction_info solve_contact_friction(const perp_contact_friction *problem, const perp_friction_settings *settings,
                                          perp_convex_point *solution);

#endif
