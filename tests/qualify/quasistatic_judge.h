/* quasistatic_judge.h - is it true what a quasistatic rung says when it stops?
 *
 * Nothing of the rungs is used: the constraints of the step are written down again from the model and the contact set,
 * and the claim is proved or disproved by a nonnegative least-squares problem (Lawson and Hanson), whose minimum is a
 * certificate either way (Farkas). */
#ifndef PERP_TESTS_QUALIFY_QUASISTATIC_JUDGE_H
#define PERP_TESTS_QUALIFY_QUASISTATIC_JUDGE_H

#include <perp/step.h>

typedef enum quasistatic_verdict {
    QUASISTATIC_PROVED,
    QUASISTATIC_DISPROVED,
    QUASISTATIC_CLOSE /* neither, within rounding or within the facets that stand for a round cone */
} quasistatic_verdict;

/* What the judge measured, for a message. */
typedef struct quasistatic_finding {
    quasistatic_verdict verdict;
    double
        distance;  /* unsupported: of the load from what contacts can carry, over F; infeasible: of the proof from 0 */
    double weight; /* the sum of the forces, over F, or of the proof's multipliers */
} quasistatic_finding;

/* `unsupported-body`, `no-equilibrium`: no forces in their cones, at any contact within the margin, balance the load on
 * the degrees of freedom that have neither spring nor inertia. `state` is that in which the step began. */
quasistatic_finding quasistatic_judge_unsupported(const perp_model *model, const perp_run_settings *settings,
                                                  const perp_rung *rung, const perp_state *state);

/* `infeasible-command`, `penetrating-start`: no motion meets all constraints of the step, the worst of which stays
 * violated by `depth` (m) or so. Violations below 1e-8 of the scene's size, a rung's own tolerance, prove nothing. */
quasistatic_finding quasistatic_judge_infeasible(const perp_model *model, const perp_run_settings *settings,
                                                 const perp_rung *rung, const perp_state *state, double depth);

/* `wedged`: there are forces in their cones, at contacts within the margin, that balance each other and on which the
 * commands do work; `depth` as above, where friction counts as on convex rungs. */
quasistatic_finding quasistatic_judge_wedged(const perp_model *model, const perp_run_settings *settings,
                                             const perp_rung *rung, const perp_state *state, double depth);

/* Is the rung's contact law the convex one, in which friction and gap are one constraint? */
bool quasistatic_is_convex(const perp_rung *rung);
bool quasistatic_has_inertia(const perp_rung *rung);
/* The rungs that the sweep runs: quasistatic ones that take steps. */
bool quasistatic_is_rung(const perp_rung *rung);

#endif
