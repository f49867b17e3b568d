/* contact_lint.h - warnings about a scene, as far as contacts tell; perp_run_lint gives them. */
#ifndef PERP_SRC_CONTACT_CONTACT_LINT_H
#define PERP_SRC_CONTACT_CONTACT_LINT_H

#include <perp/contact.h>

/* What of the rung that is to run the scene the warnings below depend on. */
typedef struct perp_contact_lint_rung {
    bool steps;     /* it takes steps of `run.h` */
    bool compliant; /* contacts are springs */
    bool balance;   /* without inertia: forces balance at every instant */
} perp_contact_lint_rung;

/* Warnings about what is allowed but looks unintended: bodies that penetrate at the start (by more than 1e-7 of
 * scene_size), dimensions that look like millimetres (5 m and more on what is lighter than foam).
 *   steps: a margin smaller than what the two fastest commanded bodies cover together in one step of `run`;
 *   compliant: a body that sinks in by more than 5 % of its thickness on one contact point, whose friction cone gamma
 *     widens by more than 1 %, or that is smaller than a patch;
 *   balance: a body with weight that no contact within the margin, joint, loop or force can carry; a planar scene
 *     without gravity, in which nothing resists sliding.
 * OK; OUT_OF_MEMORY; and where the contacts at the start cannot be built, which is reported as an error,
 * what perp_contact_set_build returned. */
perp_status perp_contact_lint(const perp_contact_model *contact_model, const perp_contact_lint_rung *rung,
                              const perp_allocator *allocator, perp_diagnostics *diagnostics);

#endif
