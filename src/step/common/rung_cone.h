/* rung_cone.h - which friction cone a run has. */
#ifndef PERP_SRC_STEP_COMMON_RUNG_CONE_H
#define PERP_SRC_STEP_COMMON_RUNG_CONE_H

#include <perp/step.h>

/* The friction cone of a run: its settings', or the rung's own. Either may be NULL, and then says nothing. */
perp_cone perp_rung_cone(const perp_rung *rung, const perp_run_settings *settings);

#endif
