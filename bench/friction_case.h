/* friction_case.h - a contact friction problem that is built contact by contact, with the evidence that it has a
 * solution.
 *
 *   known      `solution` is one: velocities and forces were chosen first, mode by mode, and w and f follow from them.
 *   reachable  A is positive definite and with solution.x all contacts open strictly, H v + w in the interior of every
 *              K*: then there is a solution whatever f is (Acary, Cadoux, Lemarechal and Malick, "A formulation of the
 *              linear discrete Coulomb friction problem via convex optimization", ZAMM 2011). No bounds, no equations.
 *
 * tests/qualify/friction_judge.h checks either, in long double. The building itself is convex_case.h's: a contact of a
 * friction problem is one of a contact qp whose rays are the identity.
 */
#ifndef PERP_BENCH_FRICTION_CASE_H
#define PERP_BENCH_FRICTION_CASE_H

#include "convex_case.h"

typedef enum friction_proof { FRICTION_KNOWN, FRICTION_REACHABLE } friction_proof;

typedef struct friction_case {
    perp_contact_friction problem; /* borrows from here; friction_case_finish fills it */
    perp_contact_qp system;
    convex_case *base; /* offsets, g, blocks, bounds and targets are written through it, also after finish */
    const char *family;
    friction_proof proof;
    bool inertial;              /* A is positive definite */
    bool planar;                /* contacts have 2 rows or 1, else 3 or 1 */
    perp_convex_point solution; /* that of the proof; zero after finish */
    double *mu;                 /* by contact */
    struct friction_case_memory *memory;
} friction_case;

/* All of these end the program when memory does: they serve tests and benchmarks. */
friction_case *friction_case_create(void);
void friction_case_free(friction_case *c); /* NULL allowed */

/* An empty problem of the blocks' sizes (at most 16), as convex_case_start. */
void friction_case_start(friction_case *c, const int *block_sizes, int block_count);
typedef struct friction_contact {
    int rows, dof_count;
    const int *dofs;        /* ascending */
    const double *jacobian; /* rows x dof_count */
    double mu;
} friction_contact;
void friction_case_add(friction_case *c, const friction_contact *contact);
/* The unknowns `dofs` add up to `target`, weighted by `values`: convex_case_add_equality serves. */
void friction_case_finish(friction_case *c, bool with_stiffness, bool with_bounds);

/* v = A^-1 (H'r - f): the velocities that forces cause, where A is positive definite and there are no equations. */
bool friction_case_velocity(const friction_case *c, const double *r, double *v);

/* The problem in its forces alone, W = H A^-1 H' and q = w - H A^-1 f: false where A is singular or there are equations
 * or bounds. Contacts with one row get tangents that nothing moves along and mu = 0. The arrays belong to the case. */
bool friction_case_local(friction_case *c, perp_friction *local);
/* The forces of the local form, contact by contact, from those of the case and back. */
void friction_case_to_local(const friction_case *c, const double *r, double *r_local);
void friction_case_from_local(const friction_case *c, const double *r_local, double *r);

/* With `comment` (one line) on top: as a problem file for `perp solve` where there is a local form of at most 300
 * rows, else a listing of
 * the arrays (kind: contact-friction) for people. False if it could not be written. */
bool friction_case_write(friction_case *c, const char *path, const char *comment);

#endif
