/* step_kept.h - what a law keeps of the last accepted step, for the next one to start from: the motion and the forces
 * of loops and limits by degree of freedom of the model, and a few numbers by contact. Islands change from step to
 * step, so nothing is by place in a problem. SI units: F and L change too. */
#ifndef PERP_SRC_STEP_STEP_KEPT_H
#define PERP_SRC_STEP_STEP_KEPT_H

#include "step/common/contact_step.h"

typedef struct step_kept {
    int width; /* numbers by contact */
    memory_block fixed;
    bool *has;                     /* nv */
    double *x, *y_lower, *y_upper; /* nv */
    double *y_loop;                /* by row of all loops */
    int count, half;               /* contacts, in the order of contact sets, in one of two halves */
    int capacity[2];
    memory_block block[2];
    perp_contact *contact;
    double *value; /* width each */
} step_kept;

perp_status perp_kept_open(step_kept *kept, const contact_step *step, int width, perp_error *error);
void perp_kept_close(step_kept *kept, const contact_step *step);
/* The step was accepted for the trees that are step->parts.accepted; `put` writes the numbers of contact i of the
 * system. Without memory nothing is kept: a cold start is slower, no more. */
void perp_kept_accept(step_kept *kept, const contact_step *step,
                      void (*put)(const contact_step *step, int i, double *value));
/* The same without contacts, from step->x, y_lower, y_upper and y_equality. */
void perp_kept_accept_motion(step_kept *kept, const contact_step *step);
/* Is there something of all that moves in the problem? */
bool perp_kept_has(const step_kept *kept, const contact_step *step);
/* The motion and the forces of loops and limits as a point of a law that has velocities in `speed`. */
void perp_kept_read_motion(const step_kept *kept, const contact_step *step, double speed, perp_convex_point *to);
/* The numbers of contact i of the system; NULL: none. `hint`, 0 at first, goes on with the contacts. */
const double *perp_kept_find(const step_kept *kept, const contact_step *step, int i, int *hint);
void perp_kept_put_motion(const step_kept *kept, const contact_step *step, memory_writer *w);
void perp_kept_take_motion(step_kept *kept, const contact_step *step, memory_reader *r);
/* Into a log and back; false where there is no memory, or the numbers are none of these. */
void perp_kept_put(const step_kept *kept, const contact_step *step, memory_writer *w);
bool perp_kept_take(step_kept *kept, const contact_step *step, memory_reader *r);

#endif
