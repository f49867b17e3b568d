/* run_private.h - the contacts of a run: those of the present state, those of the state before, and the events between.
 *
 * Invariant: `records`, `before` and `merged` have `capacity` elements each and change places from state to state, so
 * that a state with no more contacts than one before it takes no memory. */
#ifndef PERP_SRC_STEP_RUN_PRIVATE_H
#define PERP_SRC_STEP_RUN_PRIVATE_H

#include <perp/step.h>

typedef struct contact_log {
    perp_allocator allocator;
    perp_contact_model *model;
    perp_contact_set *set;
    int capacity;
    int count, count_before;
    perp_contact_record *records, *before;
    perp_contact_record *merged; /* scratch of perp_contact_log_merge */
    int *match;                  /* by record, after a merge: the contact of the set that it is, -1 where it has gone */
    double *velocity;            /* set->rows * capacity: J v */
    int event_count, event_capacity;
    perp_contact_event *events;
} contact_log;

/* Closing is due whatever this returns. */
perp_status perp_contact_log_open(contact_log *log, const perp_model *model, const perp_allocator *allocator,
                                  perp_error *error);
void perp_contact_log_close(contact_log *log);
/* The contacts at the poses that perp_kinematics_update left: open, without force, slip from v. None on failure. */
perp_status perp_contact_log_record(contact_log *log, const perp_kinematics *kinematics, const double *v,
                                    perp_error *error);
/* Joins the records of a step, of the contacts that it began with, with those of the state that it led to, which
 * perp_contact_log_record has left in `records`. A contact that both have keeps the step's frame and forces, and gets
 * the gap and the witnesses of the end. One that carries force and is not listed any more gets them from
 * perp_contact_look_again, however far apart; without force it is dropped. */
perp_status perp_contact_log_merge(contact_log *log, const perp_contact_record *step, int step_count,
                                   perp_error *error);
/* Room for so many records. */
bool perp_contact_log_reserve(contact_log *log, int needed);
/* The order of contact sets, up to the points of one manifold. */
int perp_contact_compare_pairs(const perp_contact *x, const perp_contact *y);
/* The contact of a list in that order that is the same as `contact`; -1: none. `hint`, 0 at first, goes on to its
 * manifold for what comes after it in the order. */
int perp_contact_find(const perp_contact *list, int count, const perp_contact *contact, int *hint);
/* Appends an event for every contact whose mode is not that of the state before. */
perp_status perp_contact_log_compare(contact_log *log, double t, perp_error *error);

/* Room for one more solution, zeroed, with the rest of it in one block; NULL: out of memory. */
perp_instant_solution *perp_run_result_add_solution(perp_run_result *result, int nv, int contact_count);

/* Room for the set of a solution, zeroed; false: out of memory. */
bool perp_run_result_describe(perp_run_result *result, perp_instant_solution *solution, int nv, int vertex_count,
                              int ray_count);

#endif
