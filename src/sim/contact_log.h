/* contact_log.h - the contacts of a simulation: those of the present state, those of the state before, and the events
 * between.
 *
 * Invariant: `records`, `before` and `merged` have `capacity` elements each and change places from state to state, so
 * that a state with no more contacts than one before it takes no memory. */
#ifndef PERP_SRC_SIM_CONTACT_LOG_H
#define PERP_SRC_SIM_CONTACT_LOG_H

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
perp_status perp_contact_log_open(contact_log *log, const perp_model *model, int max_contacts,
                                  const perp_allocator *allocator, perp_error *error);
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
/* Leaves out what is open beyond the margin: a step may have looked farther than the scene lists contacts. */
void perp_contact_log_leave_out_far(contact_log *log, double margin);
/* Lists an event for every contact whose mode is not that of the state before. */
perp_status perp_contact_log_compare(contact_log *log, double t, perp_error *error);
/* Contacts and events of the last step as they stood; false without memory. */
bool perp_contact_log_restore(contact_log *log, const perp_run_start *start);

#endif
