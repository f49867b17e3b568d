/* friction_islands.h - a problem with bodies, island by island. */
#ifndef PERP_SRC_SOLVER_FRICTION_ISLANDS_H
#define PERP_SRC_SOLVER_FRICTION_ISLANDS_H

#include <perp/problem.h>

#include "solver/contact_kkt.h"

typedef struct perp_friction_islands {
    perp_kkt_buffer memory;
    const perp_contact_friction *given;
    int count;
    int *of_dof; /* by unknown of the whole: its island */
    /* The island that was taken last: by its parts, where they are in the whole. */
    int *dof; /* by unknown of the whole: its number in the island */
    int *given_dof, *given_contact, *given_equation;
    perp_contact_friction problem;
    perp_contact_qp system;
    int *block_start, *row_start, *dof_start, *dofs, *equality_start, *equality_dofs;
    double *hessian, *g, *jacobian, *offset, *mu, *equality_values, *equality_target, *lower, *upper;
} perp_friction_islands;

/* Counts and numbers them; memory as perp_kkt_hold of `kkt` has it. */
perp_status perp_friction_islands_find(perp_friction_islands *islands, perp_kkt *kkt,
                                       const perp_contact_friction *problem);
/* The problem of one; it borrows from here until the next is taken. */
const perp_contact_friction *perp_friction_islands_take(perp_friction_islands *islands, int island);
/* A point of the island that was taken, to where it belongs in the whole. */
void perp_friction_islands_give(const perp_friction_islands *islands, const perp_convex_point *part,
                                const perp_convex_point *whole);

#endif
