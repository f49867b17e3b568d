/* motion_bounds.h - how far forces go that keep a balance: by the least load that pays for them.
 *
 * The most of c'r over all forces r in their cones K with J'r = b is the least of b'v over all motions v with
 * J v - c in the dual cones. That program has a row for each unknown of a motion, not for each that the balance leaves
 * free, and sees that a contact knows of two bodies only: it is the smaller one wherever many contacts hold few bodies.
 * Its multipliers are the forces that go so far, so that each end has a point and a bound that meet. */
#ifndef PERP_SRC_ANALYSIS_MOTION_BOUNDS_H
#define PERP_SRC_ANALYSIS_MOTION_BOUNDS_H

#include "analysis/motion_problem.h"

/* What a contact's force may be: so many unknowns from `first` on. */
typedef struct motion_support {
    int first, count; /* 0: none; 1: a force along `along`; else one by row, in the cone */
    double along[3];  /* rows */
    bool on_face;     /* square to `normal` */
    double normal[3];
} motion_support;

/* Contacts whose forces know of each other, with nothing else in their balance; none on a face. */
typedef struct motion_bounds {
    const motion_problem *p;
    const motion_support *supports; /* by contact of p */
    const int *contacts;            /* of p */
    int count, rows, n;             /* contacts; multipliers; unknowns of a motion that they know of */
    int *column;                    /* p->n: -1 or an unknown */
    perp_contact_qp problem;
    double *g, *jacobian, *offset;
    ptrdiff_t entries; /* of jacobian, so far */
    int *block_start, *row_start, *dof_start, *dofs;
    bool *round;
    perp_convex_point point;
} motion_bounds;

/* How many unknowns would a motion have? */
int perp_motion_bounds_unknowns(const motion_problem *p, const int *contacts, int count);
/* OUT_OF_MEMORY. */
perp_status perp_motion_bounds_begin(motion_bounds *b, const motion_problem *p, const motion_support *supports,
                                     const int *contacts, int count, perp_arena *arena, perp_error *error);
/* The most of weight . r of contacts[place], in *most; `found` false: it has no bound, or none that is certain.
 * OUT_OF_MEMORY. */
perp_status perp_motion_bounds_most(motion_bounds *b, int place, const double weight[3],
                                    perp_convex_workspace *workspace, double *most, bool *found, perp_error *error);
/* fn of contacts[place] where the last bound is reached. */
double perp_motion_bounds_normal(const motion_bounds *b, int place);

#endif
