/* result_json.h - parts of a run's result as JSON; NULL without memory, which json_maker takes. */
#ifndef PERP_SRC_TRACE_RESULT_JSON_H
#define PERP_SRC_TRACE_RESULT_JSON_H

#include "trace/json_maker.h"

#include <perp/step.h>

/* {"t", "q", "v", "poses"} */
json_t *perp_json_final(const perp_model *model, const perp_state *state);
/* [{"t", "contact", "from", "to"}] */
json_t *perp_json_events(const perp_model *model, const perp_run_result *result);

#endif
