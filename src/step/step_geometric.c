/* Rung `geometric`: where everything is at the start. Nothing moves, so there is no step; h and steps are ignored. */
#include "step/step_rungs.h"

const perp_rung perp_rung_geometric = {
    .name = "geometric",
    .summary = "poses at the initial state; nothing moves",
    .inertia = "-",
    .contact = "-",
    .friction = "-",
    .source = "Trinkle et al., slide 9",
};
