/* friction_soft.h - a contact that gives way, as a function of its velocity s: r and d with u = s + d, a d + f = r and
 * Coulomb's law between u and r. friction_soft.c says what becomes of them. */
#ifndef PERP_SRC_SOLVER_FRICTION_SOFT_H
#define PERP_SRC_SOLVER_FRICTION_SOFT_H

#include <perp/solver.h>

/* D of friction in two directions: its corners, counter-clockwise, the origin inside. */
typedef struct perp_friction_polygon {
    int count;
    const double (*corner)[2];
} perp_friction_polygon;

/* r and Omega = -dr/ds, rows x rows, with a = diag(a_n, a_t, a_t) given as these two; true where Omega is not
 * symmetric: it slips. With three rows friction has a polygon (NULL: the disc). */
bool perp_friction_soft_plain(int rows, const perp_friction_polygon *polygon, const double a[2], double mu,
                              const double *f, const double *s, double *r, double *omega);
/* The same for any a, rows x rows; r is not a number where numbers fail. */
bool perp_friction_soft_coupled(int given, const double *a, double mu, const double *f, const double *s, double *r,
                                double *omega);
/* d = a^-1 (r - f), of a as a whole; `coupled`: its entries beside the diagonal count. */
void perp_friction_soft_yield(int rows, bool coupled, const double *a, const double *r, const double *f, double *d);

/* Coulomb friction of contacts that give way: the last unknowns are those of contacts, as many as its rows each, with
 * 1 in their own row of that contact's Jacobian and nowhere else, no bounds, and a definite block of A (`compliant`:
 * h K + C; diag(a_n, a_t, a_t) is quickest). They are eliminated, and Newton's method has the unknowns of bodies alone.
 * SOLVED, or ITERATION_LIMIT with any point: also where the problem is not of this kind, or a body has no inertia.
 * `solution` has all arrays, settings->warm too. Forces are unique at given velocities: minimum_norm is true. The
 * problem must pass its check. Takes no memory but what was reserved: CAPACITY where that does not suffice. */
typedef struct perp_friction_soft_workspace perp_friction_soft_workspace;
perp_status perp_friction_soft_workspace_create(const perp_allocator *allocator,
                                                perp_friction_soft_workspace **workspace, perp_error *error);
void perp_friction_soft_workspace_free(perp_friction_soft_workspace *workspace); /* NULL allowed */
perp_status perp_friction_soft_reserve(const perp_contact_friction *problem, perp_friction_soft_workspace *workspace,
                                       perp_error *error);
perp_status perp_friction_soft_solve(const perp_contact_friction *problem, const perp_friction_settings *settings,
                                     perp_friction_soft_workspace *workspace, perp_convex_point *solution,
                                     perp_friction_info *info, perp_error *error);

#endif
