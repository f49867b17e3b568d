/* Rung `geometric`: where everything is at the start, and which gaps are between. Nothing moves, so there is no step; h
 * and steps are ignored. */
#include "step/common/step_rungs.h"

const perp_rung perp_rung_geometric = {
    .name = "geometric",
    .summary = "poses, gaps and contacts at the initial state; nothing moves",
    .inertia = PERP_RUNG_INERTIA_IGNORED,
    .contact = "reported",
    .friction = "-",
    .source = "Trinkle et al., slide 9",
};
