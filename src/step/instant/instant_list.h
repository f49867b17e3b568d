/* instant_list.h - what the rungs that answer at one instant share, `instant` (accelerations) and `instant-qs`
 * (velocities): the list of all solutions, with the least forces and the range of each normal force.
 * "Rate" is the one of the two that the rung answers with. Rates that are not unique form convex sets: each is one
 * solution, with its vertices and rays, and what stands for it is the smallest of its rates. */
#ifndef PERP_SRC_STEP_INSTANT_LIST_H
#define PERP_SRC_STEP_INSTANT_LIST_H

#include "step/instant/instant_sets.h"

extern const step_law perp_instant_law;

typedef struct perp_instant_list {
    contact_step *step;
    perp_run_result *result;
    double force_unit;                 /* N: of the problem's forces */
    double rate_unit;                  /* of the problem's rates */
    const double *unit;                /* free_count: the unknowns' own, in rate_unit; NULL: 1 */
    const instant_cells_system *cells; /* the same problem by the modes of contacts; NULL: not known */
    void *own;                         /* of the functions */
    /* Where an answer is read from: a point of the cells; NULL: as the functions know. */
    const instant_cells_point *point;
    /* The answer in `step`: x and force. */
    void (*read)(struct perp_instant_list *list);
    /* The answer with the least forces of all that go with its rates, by perp_instant_add. */
    perp_status (*add)(struct perp_instant_list *list, perp_error *error);
    bool ranges_follow; /* they are found for all solutions in the end, and `one` need not */
    /* One solution, where they are too many to enumerate; none added: there is none. */
    perp_status (*one)(struct perp_instant_list *list, perp_error *error);
} perp_instant_list;

/* The answer in `step` as a solution with the range [fn, fn], if step->info says that it meets the law. step->v is the
 * velocity that slip is taken from, `rate` (nv) the answer. */
perp_status perp_instant_add(perp_instant_list *list, const double *rate, perp_error *error);

/* The state as one that rigid bodies can be in: `penetrating-start` where it is not. Else result->left_out names what
 * does not take part although a reader of the scene would think so: contacts that all but touch, apart or overlapping,
 * and with `v` (nv; NULL: not known) those that touch and approach. */
perp_status perp_instant_check(const contact_step *step, const double *v, perp_run_result *result, perp_error *error);

/* All solutions within a budget of work that is the same on every machine; beyond, those found by then, at least one.
 * result->partial says where there may be more, or where a set is not described in full. They are looked for by the
 * modes of contacts where these are few enough; else one is found. */
perp_status perp_instant_all(perp_instant_list *list, perp_error *error);

/* ---- instant_set.c ---- */

/* A set of rates as a solution: the one of least kinetic energy (accelerations: of the same measure) with its forces,
 * and the set. Where that one does not meet the law to tolerance, a vertex that does. */
perp_status perp_instant_add_set(perp_instant_list *list, instant_cells *cells, const perp_polyhedron *hull,
                                 perp_error *error);
/* Gives a solution its set. Coordinate k of the hull is in rate * unit[k] (NULL: 1). OK, OUT_OF_MEMORY. */
perp_status perp_instant_describe(const perp_instant_list *list, perp_instant_solution *solution,
                                  const perp_polyhedron *hull, double rate, const double *unit, perp_error *error);

/* ---- instant_motions.c ---- */

/* Gives a solution of `instant-qs`, whose point is in the rigid step, the set of all velocities that its forces allow,
 * where there are several. */
perp_status perp_instant_describe_motions(const perp_instant_list *list, perp_instant_solution *solution,
                                          perp_error *error);

/* ---- `answer` of the rungs: instant_accelerations.c, instant_velocities.c ---- */

perp_status perp_instant_accelerations(perp_step_context *context, const perp_state *state, perp_run_result *result,
                                       perp_error *error);
perp_status perp_instant_velocities(perp_step_context *context, const perp_state *state, perp_run_result *result,
                                    perp_error *error);

#endif
