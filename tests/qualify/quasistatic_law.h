/* quasistatic_law.h - an answer of a quasistatic or dynamic rung held against the contact law, from the model and a
 * contact set of the judge's own; nothing of the rungs is used. */
#ifndef PERP_TESTS_QUALIFY_QUASISTATIC_LAW_H
#define PERP_TESTS_QUALIFY_QUASISTATIC_LAW_H

#include <perp/step.h>

/* A configuration, and what a step from there (or the instant) sees. */
typedef struct quasistatic_view {
    const perp_model *model;
    const perp_run_settings *settings;
    const perp_rung *rung;
    perp_kinematics *kinematics;
    perp_contact_model *contacts;
    perp_contact_set *set;
    double h, t, t_end;   /* t_end: of commands and forces; an instant has h = 1 s and t_end = t */
    double force, length; /* F and L of the residuals */
    bool instant;
    const double *q;
    double *given;             /* nv: velocities of what is prescribed, 0 elsewhere */
    double *command;           /* nv */
    double *generalised, *own; /* nv: scratch */
    double *mass, *packed;     /* nv x nv and the model's form of it */
    /* Of a dynamic rung, by the caller: nv velocities with which the step begins, NaN where it does not know them and
     * the balance is not looked at; and whether the step left overlaps as they are (Anitescu and Potra). */
    const double *drifted;
    bool unstabilised;
} quasistatic_view;

/* Ends the program where memory runs out. The borrowed things must last. */
void quasistatic_view_open(const perp_model *model, const perp_run_settings *settings, const perp_rung *rung,
                           quasistatic_view *view);
void quasistatic_view_close(quasistatic_view *view);

/* Looks from q (borrowed) at time t, at contacts up to `margin`. */
void quasistatic_view_at(quasistatic_view *view, const double *q, double t, double margin);

/* Has the degree of freedom an equation, or is its velocity given? */
bool quasistatic_view_is_free(const quasistatic_view *view, int dof);
/* A on the diagonal of an impedance joint, in N s/m, and the force at v = 0 of all but contacts, loops and limits. */
double quasistatic_view_stiffness(const quasistatic_view *view, int dof);
void quasistatic_view_load(const quasistatic_view *view, double *force);

/* Each in its unit, F or L: 0 is perfect. */
typedef struct quasistatic_law {
    double balance;  /* forces and torques, on degrees of freedom that neither loops nor limits hold */
    double gap;      /* by how much the linearised gap is below what the law allows; and of min(fn, gap) */
    double cone;     /* of the friction force out of its own cone: circle, polygon, box, interval */
    double friction; /* work that friction of its size could take out and does not, over fn and slip */
    int unmatched;   /* contacts with force that the view does not see: nothing else is said then */
} quasistatic_law;

/* v: velocities of the step. */
quasistatic_law quasistatic_measure(quasistatic_view *view, const double *v, const perp_contact_record *records,
                                    int count);

/* The largest part of a velocity s along which friction of this cone can pull back, max over the unit cone of -s'f:
 * |s| for the circle. `s` is along the contact's friction directions. */
double quasistatic_support(const quasistatic_view *view, int directions, const double s[2]);

/* By how much a friction force along (t, o) of the record leaves the cone of the rung, N. */
double quasistatic_out_of_cone(const perp_run_settings *settings, const perp_rung *rung, const perp_contact_record *r);

#endif
