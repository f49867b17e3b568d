/* state_view.h - a state as people read it: by name, full poses and twists, whatever subset is free.
 *
 * Bodies that are free or driven come first, in the scene's order, then joints. A body that a joint moves, a fixed body
 * and a fixed joint are not listed. */
#ifndef PERP_SRC_TRACE_STATE_VIEW_H
#define PERP_SRC_TRACE_STATE_VIEW_H

#include <perp/model.h>

typedef struct state_entry {
    const char *name;
    bool is_body;
    int nq, nv;
    double q[7]; /* body: x y z qw qx qy qz, planar x y theta; joint: its position */
    double v[6]; /* body: vx vy vz wx wy wz, planar vx vy omega; joint: its rates */
} state_entry;

/* Walks the entries of a state: start with *cursor = 0; false at the end. */
bool perp_state_next(const perp_model *model, const perp_state *state, int *cursor, state_entry *entry);
/* What stands behind the name of an entry in the heading of its k-th number, ".x"; empty where it has only one. */
const char *perp_state_ending(int nq, bool rates, int k);
/* The way back: the q and v of the entry that perp_state_next gave when it left `cursor` into the state. Velocities of
 * components that are not free are dropped. */
void perp_state_put(const perp_model *model, int cursor, const double *q, const double *v, perp_state *state);

#endif
