/* kinematic_step.h - the rung `kinematic`, by its functions in the ladder. */
#ifndef PERP_SRC_STEP_KINEMATIC_STEP_H
#define PERP_SRC_STEP_KINEMATIC_STEP_H

#include <perp/step.h>

perp_status perp_kinematic_open(perp_step_context *context, const perp_allocator *allocator, perp_error *error);
void perp_kinematic_close(perp_step_context *context);
perp_status perp_kinematic_step(perp_step_context *context, double t_end, perp_state *state, perp_step_info *info,
                                perp_error *error);

#endif
