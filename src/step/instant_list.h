/* instant_list.h - what the rungs that answer at one instant share, `instant` (accelerations) and `instant-qs`
 * (velocities): opening, and the list of all solutions of their LCP, one for every rate at a corner of the solution
 * set, with the least forces and the range of each normal force. "Rate" is the one of the two that the rung answers
 * with. */
#ifndef PERP_SRC_STEP_INSTANT_LIST_H
#define PERP_SRC_STEP_INSTANT_LIST_H

#include "step/instant_cells.h"

perp_status perp_instant_open(perp_step_context *context, const perp_rung *rung, const perp_allocator *allocator,
                              perp_error *error);

typedef struct perp_instant_list {
    perp_quasistatic *qs;
    perp_run_result *result;
    const perp_mlcp *problem;          /* its first free_count unknowns are the rates of the free degrees of freedom */
    double *lower, *upper;             /* problem->n: scratch, while solutions are listed */
    double force_unit;                 /* N: of the problem's forces */
    double rate_unit;                  /* of the problem's rates */
    const double *unit;                /* free_count: the unknowns' own, in rate_unit; NULL: 1 */
    const instant_cells_system *cells; /* the same problem by the modes of contacts; NULL: not known */
    void *own;                         /* of the functions */
    /* Where an answer is read from: a z, or a direction of z; or a point of the cells, not NULL. */
    const double *z;
    const instant_cells_point *point;
    /* The answer in qs: x and force. */
    void (*read)(struct perp_instant_list *list);
    /* The answer with the least forces of all that go with its rates, by perp_instant_add. */
    perp_status (*add)(struct perp_instant_list *list, perp_error *error);
    bool ranges_follow; /* they are found for all solutions in the end, and `one` need not */
    /* One solution, where they are too many to enumerate; none added: there is none. */
    perp_status (*one)(struct perp_instant_list *list, perp_error *error);
} perp_instant_list;

/* The answer in qs as a solution with the range [fn, fn], if qs->info says that it meets the law. qs->v is the velocity
 * that slip is taken from, `rate` (nv) the answer. */
perp_status perp_instant_add(perp_instant_list *list, const double *rate, perp_error *error);

/* The state as one that rigid bodies can be in: `penetrating-start` where it is not. Else result->left_out names what
 * does not take part although a reader of the scene would think so: contacts that all but touch, apart or overlapping,
 * and with `v` (nv; NULL: not known) those that touch and approach. */
perp_status perp_instant_check(const perp_quasistatic *qs, const double *v, perp_run_result *result, perp_error *error);

/* All solutions within a budget of work that is the same on every machine; beyond, those found by then, at least one.
 * result->partial says where there may be more. They are looked for by the modes of contacts where these are known, and
 * by enumeration of the LCP, up to PERP_LCP_ENUMERATE_MAX_N rows, where they are not or where rates form a body of more
 * than two dimensions. */
perp_status perp_instant_all(perp_instant_list *list, perp_error *error);

#endif
