/* run_private.h - the contacts of a run: those of the present state, those of the state before, and the events between.
 *
 * Invariant: `records` and `before` have `capacity` elements each and change places from state to state, so that a
 * state with no more contacts than one before it takes no memory. */
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
    double *velocity; /* set->rows * capacity: J v */
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
/* Appends an event for every contact whose mode is not that of the state before. */
perp_status perp_contact_log_compare(contact_log *log, double t, perp_error *error);

#endif
