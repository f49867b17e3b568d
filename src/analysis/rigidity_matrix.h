/* rigidity_matrix.h - how accelerations at contacts answer to forces there, at one state.
 *
 * With bodies, joints and loops as they stand, M dv/dt = .. + G' lambda. Rows of G are the normals of the contacts and
 * along which way friction holds where it rolls; a force moves along a row of its own, which differs from that of G
 * where a contact slides: J_n - mu (v_t / |v_t|) . J_t, because friction follows the normal force there. Then
 *
 *     A = G W F',    W = M^-1 less what constraints take away: (I - M^-1 H' (H M^-1 H')^+ H) M^-1
 *
 * H has the rows of loops, of joints that a limit holds, and of rolling contacts whose tangents are rigid. Dupont and
 * Yamajako's D is A on the normals, with all rolling contacts in H: what their friction does is not asked for, it
 * holds. Rows are kept as vectors over the degrees of freedom in which the mass matrix is the identity. */
#ifndef PERP_SRC_ANALYSIS_RIGIDITY_MATRIX_H
#define PERP_SRC_ANALYSIS_RIGIDITY_MATRIX_H

#include "analysis/analysis_point.h"

/* What a contact does in the answer. */
typedef enum rigidity_kind {
    RIGIDITY_SMOOTH, /* no friction */
    RIGIDITY_SLIDE,  /* its friction is mu fn against `along` */
    RIGIDITY_ROLL    /* holds along its friction directions */
} rigidity_kind;

typedef struct rigidity_contact {
    int index; /* of point->set */
    rigidity_kind kind;
    int directions;  /* of friction, 0 .. 2 */
    double along[2]; /* SLIDE: the way it slides, on its friction directions; length 1 */
    double mu, fn;   /* -, N */
} rigidity_contact;

typedef struct rigidity_matrix {
    int count; /* contacts */
    rigidity_contact *contacts;
    int n;                /* free degrees of freedom */
    double *normal;       /* count x n */
    double *force;        /* count x n: what a normal force does, with the friction that follows it */
    double *tangent;      /* count x 2 x n */
    double *tangent_size; /* count x 2: of the rows as they were, before anything was taken away */
    int held_count;
    double *held; /* held_count x n, orthonormal */
} rigidity_matrix;

/* The rows, with loops and limits in `held` and not yet taken away. `contacts` are the caller's. OUT_OF_MEMORY, or
 * BAD_INPUT where a mass matrix is not positive. */
perp_status perp_rigidity_rows(analysis_point *point, const double *rate, int count, rigidity_contact *contacts,
                               rigidity_matrix *m, perp_error *error);
/* Adds the tangents of contact i, where it rolls, to what is held. */
void perp_rigidity_hold(rigidity_matrix *m, int i);
/* Takes what is held away from all rows: G F' of them is A. */
void perp_rigidity_take_held_away(rigidity_matrix *m);
/* Do the normals, as they are now, depend on each other? NOT_CONVERGED, OUT_OF_MEMORY. */
perp_status perp_rigidity_normals_depend(analysis_point *point, const rigidity_matrix *m, bool *depend,
                                         perp_error *error);
/* The normal acceleration at contact i that a normal force at contact k makes, 1/kg. */
double perp_rigidity_entry(const rigidity_matrix *m, int i, int k);

#endif
