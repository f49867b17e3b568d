/* friction_judge.h - what says whether an answer to a friction problem is true: residuals in long double, from the
 * problem's own numbers and with nothing of the library's. Definitions as in perp/problem.h. */
#ifndef PERP_TESTS_QUALIFY_FRICTION_JUDGE_H
#define PERP_TESTS_QUALIFY_FRICTION_JUDGE_H

#include "friction_case.h"

/* The first three are the residual. The others look at the mechanics without any projection, as velocities in the scale
 * of `law`, and are bounded by it wherever the residual is right:
 *   cone      how far a force is outside of its cone (and a bound's below zero), over rho
 *   approach  how fast bodies approach where they touch, un < 0, beyond what the law's own error allows
 *   power     |r . z| over |r| + rho |z|: what friction or the normal force does against the law */
typedef struct friction_verdict {
    double balance, law, constraint;
    double cone, approach, power;
} friction_verdict;

/* Infinite where a number is not finite. */
friction_verdict judge_contact_friction(const perp_contact_friction *problem, const perp_convex_point *point);
/* The largest of balance, law and constraint. */
double judge_verdict_residual(const friction_verdict *verdict);
/* Whether the mechanics agree with the residual. */
bool judge_verdict_coherent(const friction_verdict *verdict);

/* Of the local form. */
double judge_friction(const perp_friction *problem, const double *r);

/* Whether the case's evidence that it has a solution holds: a known one to 1e-9, or A is positive definite and all
 * contacts open strictly. */
bool judge_friction_proof(const friction_case *c);

#endif
