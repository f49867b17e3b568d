/* friction_law.h - how far one contact is from Coulomb's law: its natural map.
 *
 * In units of velocity, p = r / rho and z = u + mu |ut| e_n, it is |p - P(p - z)|, P being the projection on
 * K = {mu fn >= |ft|}; as K is a cone this is |r - P(r - rho z)| / rho. It is zero exactly where p and z obey the law.
 * Beside a large mu |ut| a negative un is lost in z, so that it counts besides: the bodies must not approach.
 */
#ifndef PERP_SRC_PROBLEM_FRICTION_LAW_H
#define PERP_SRC_PROBLEM_FRICTION_LAW_H

#include <perp/problem.h>

/* The larger of the natural map and -un of a contact of 1 to 3 rows with force r and velocity u. `weight` is 1 / rho.
 * `mu` is not looked at where there is one row. Infinity where a number is not finite. */
double perp_friction_law(int rows, double mu, double weight, const double *r, const double *u);

/* u = W r + q, and H v + w. */
void perp_friction_velocity(const perp_friction *problem, const double *r, double *u);
void perp_contact_friction_velocity(const perp_contact_friction *problem, const double *v, double *u);

#endif
