/* The end of a rigid step: of all answers the one that is reported. */
#include "step/rigid/rigid_step.h"

/* What the step says of itself, for perp_rigid_accept. */
static void note_answer(contact_step *step)
{
    const rigid_step *s = step->own;
    for (int i = 0; i < step->free_count; i++) {
        s->now_settles[step->dof_of_free[i]] = s->settles;
    }
}

perp_status perp_rigid_finish(contact_step *step, perp_error *error)
{
    rigid_step *s = step->own;
    const bool one_motion = step->dynamic;
    perp_status status = one_motion ? PERP_STATUS_OK : perp_rigid_smallest_motion(step, error);
    if (status == PERP_STATUS_OK && !s->chosen) {
        bool solved;
        perp_step_copy_point(&s->qp, &s->better, &s->point);
        status = perp_rigid_solve_springs(step, &s->better, true, &solved, error);
    }
    if (status == PERP_STATUS_OK && !s->chosen) {
        status = perp_rigid_least_forces(step, error);
    }
    if (status == PERP_STATUS_OK && !step->info->several && !step->law->instant && !one_motion) {
        status = perp_rigid_look_for_sticking(step, error);
    }
    perp_rigid_hand_over(step);
    note_answer(step);
    return status;
}
