/* state.h - what runs need of states beside perp/model.h. */
#ifndef PERP_SRC_MODEL_STATE_H
#define PERP_SRC_MODEL_STATE_H

#include <perp/model.h>

/* Feeds t, q and v into the hash. */
void perp_state_hash(const perp_model *model, const perp_state *state, perp_hash *hash);
/* Writes x(t) + h x'(t), coordinate by coordinate, of the driven bodies into q; leaves the others. */
void perp_driven_taylor(const perp_model *model, double t, double h, double *q);

#endif
