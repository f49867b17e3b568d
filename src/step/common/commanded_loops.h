/* commanded_loops.h - rows of loops that nothing free moves: commands alone decide whether they stay closed, and no law
 * has them. Commands that open one ask for what cannot be: `infeasible-command`. */
#ifndef PERP_SRC_STEP_COMMANDED_LOOPS_H
#define PERP_SRC_STEP_COMMANDED_LOOPS_H

#include "step/common/contact_step.h"

/* `infeasible-command` at a loop that is open by `gap` (m) at the end t of a step, or, if it is negative, is being
 * opened at t; `why` ends the sentence. */
perp_status perp_loop_stays_open(const perp_model *model, int loop, double gap, double t, const char *why,
                                 perp_error *error);

/* At a step's begin, where the context's kinematics are: which rows nothing free moves, and how far they are open. */
void perp_loops_note(contact_step *step, const perp_step_context *context);
/* At its end, the configuration context->next_q, where the kinematics are afterwards: the commands have opened no such
 * row further, or by no more than 1e-6 of its reach. */
perp_status perp_loops_check_end(contact_step *step, perp_step_context *context, double t_end, perp_error *error);
/* At an instant, after perp_step_build: the velocity v (nv) opens no such row, nor do the accelerations `given` (nv;
 * NULL: not asked) with what each row has beside them, `turning` (by row of all loops). */
perp_status perp_loops_check_rates(const contact_step *step, const double *v, const double *given,
                                   const double *turning, perp_error *error);

#endif
