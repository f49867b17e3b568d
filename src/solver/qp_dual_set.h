/* qp_dual_set.h - the working set of a dual active set method, its factorisation and its step (Goldfarb and Idnani
 * 1983). Two problems are solved with it: dense qps (qp_dual.c) and the nearest point of a polyhedron to which rows are
 * added (step/rigid/nearest_point.c).
 *
 * Invariants, with N the normals of the working set (`active`, `count` of them):
 *   - the columns of N are independent, J'H J = I, J'N = [R; 0] with R upper triangular and regular;
 *   - x minimises the objective on N'x = b of the working set, with the multipliers u: H x + g = N u;
 *   - u >= 0 but for equalities.
 * So x is always optimal for a part of the constraints, and the objective only rises. J is kept transposed, so that its
 * columns are contiguous; R by columns. */
#ifndef PERP_SRC_SOLVER_QP_DUAL_SET_H
#define PERP_SRC_SOLVER_QP_DUAL_SET_H

#include <stdbool.h>

/* Names of constraints are the caller's, but equalities have less than `first_inequality`. */
typedef struct perp_dual_set {
    int n, count, first_inequality;
    double *jt;     /* n x n: row k is column k of J */
    double *r;      /* n x n: r[j * n + i] is R_ij */
    double *x;      /* n */
    double *u;      /* n, by position as the next two */
    double *length; /* of a normal in the metric of H^-1 */
    int *active;    /* names */
} perp_dual_set;

/* Where a constraint of normal n leads. */
typedef struct perp_dual_direction {
    double *d, *z, *step; /* n: J'n; J2 J2'n; R^-1 J1'n */
    double norm, tail;    /* |d| = |n| in the metric of H^-1; norm of what the working set leaves of it */
    bool independent;     /* `tail` is more than rounding; z is filled only then */
} perp_dual_direction;

/* How far to go: t2 reaches the constraint, t1 keeps the multipliers (their section 3). */
typedef struct perp_dual_way {
    double full, partial; /* t2 and t1; infinite: never */
    int out;              /* position of the inequality that leaves after t1; -1: none */
} perp_dual_way;

/* An empty working set with J = I: H is the identity, and x = 0. */
void perp_dual_set_clear(perp_dual_set *set);
void perp_dual_set_copy(perp_dual_set *to, const perp_dual_set *from);

/* From d, which the caller has filled; tails up to `rounding` are rounding. */
void perp_dual_set_direct(const perp_dual_set *set, double rounding, perp_dual_direction *along);
/* Entries of `step` below `least`, in units of the lengths, do not block. */
perp_dual_way perp_dual_set_way(const perp_dual_set *set, const perp_dual_direction *along, double violation,
                                double least);
/* x and u after a part of the step. */
void perp_dual_set_move(perp_dual_set *set, const perp_dual_direction *along, double length);

/* Adds the constraint of the direction, which must be independent, with the multiplier u; d and z change. */
void perp_dual_set_add(perp_dual_set *set, perp_dual_direction *along, int name, double u);
void perp_dual_set_drop(perp_dual_set *set, int position);

void perp_dual_set_solve_r(const perp_dual_set *set, double *x); /* x = R^-1 x */
/* y = sum of w_k times column k of J, from `first` on */
void perp_dual_set_combine(const perp_dual_set *set, int first, const double *w, double *y);

#endif
