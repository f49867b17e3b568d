/* checks.h - whether a problem is one. Solvers ask before they begin. */
#ifndef PERP_SRC_PROBLEM_CHECKS_H
#define PERP_SRC_PROBLEM_CHECKS_H

#include <perp/problem.h>

/* BAD_INPUT with what is wrong and where: a negative size, an entry that is not finite, crossed bounds. n = 0 is a
 * problem with nothing in it, and solved. */
perp_status perp_lcp_check(const perp_lcp *problem, perp_error *error);
perp_status perp_mlcp_check(const perp_mlcp *problem, perp_error *error);
perp_status perp_mcp_check(const perp_mcp *problem, perp_error *error);

/* BAD_INPUT with what is wrong and where: sizes, an entry that is not finite, crossed bounds, H not symmetric (to
 * 1e-12 of its largest entry) or with a negative diagonal entry or 2 x 2 minor. That H is semidefinite beyond this is
 * found while solving. */
perp_status perp_qp_check(const perp_qp *problem, perp_error *error);
perp_status perp_cone_qp_check(const perp_cone_qp *problem, perp_error *error);
perp_status perp_contact_qp_check(const perp_contact_qp *problem, perp_error *error);

perp_status perp_nonlinear_mcp_check(const perp_nonlinear_mcp *problem, perp_error *error);

/* BAD_INPUT with what is wrong and where. */
perp_status perp_friction_check(const perp_friction *problem, perp_error *error);
perp_status perp_contact_friction_check(const perp_contact_friction *problem, perp_error *error);

/* BAD_INPUT as for a convex problem, or a negative radius. That H is definite is found while solving. */
perp_status perp_friction_qp_check(const perp_friction_qp *problem, perp_error *error);

#endif
