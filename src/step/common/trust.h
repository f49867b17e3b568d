/* trust.h - how often each verdict about a run's steps was met. */
#ifndef PERP_SRC_STEP_COMMON_TRUST_H
#define PERP_SRC_STEP_COMMON_TRUST_H

#include <perp/step.h>

/* Counts the certificate of a step that ends at t; NULL: it has none. */
void perp_trust_count(perp_trust_summary *summary, int step, double t, const perp_step_trust *trust);

#endif
