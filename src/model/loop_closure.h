/* loop_closure.h - closing loops from a configuration nearby. */
#ifndef PERP_SRC_MODEL_LOOP_CLOSURE_H
#define PERP_SRC_MODEL_LOOP_CLOSURE_H

#include <perp/model.h>

/* m: how far the loop's anchors are from the roots of their trees, or from the origins of their bodies, at least 1e-3:
 * what a gap of the loop is small against. Of joints, how far sliding ones have gone. After perp_kinematics_update. */
double perp_loop_reach(const perp_model *model, const perp_kinematics *kinematics, int loop);
/* m that 1 in a row of the residual counts as, at that reach: rotations times the reach; of joints, the least
 * motion of a single one that makes up for it. */
double perp_loop_row_unit(const perp_model *model, int loop, int row, double reach);

/* What keeps loops from closing. */
typedef struct perp_loop_gap {
    int loop;       /* the one that is open widest */
    double gap;     /* m: by how much; rotations of a weld times the reach */
    double reach;   /* m: of all loops */
    bool commanded; /* nothing that may move has to do with this loop */
} perp_loop_gap;

typedef struct perp_loop_closure perp_loop_closure; /* memory for one thread */

/* `movable` (nv): the degrees of freedom that may move. Borrows the model. OUT_OF_MEMORY. */
perp_status perp_loop_closure_create(const perp_model *model, const bool *movable, const perp_allocator *allocator,
                                     perp_loop_closure **closure, perp_error *error);
void perp_loop_closure_free(perp_loop_closure *closure); /* NULL allowed */

/* Moves what may move, from q on and within joint limits, until all loops are closed to 1e-10 of their reach: true. If
 * they do not close, false: q is then where they are open least nearby, and `gap` says by how much. Steps are added to
 * `iterations`. Takes no memory. */
bool perp_loops_close(perp_loop_closure *closure, double *q, int *iterations, perp_loop_gap *gap);

#endif
