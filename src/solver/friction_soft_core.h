/* friction_soft_core.h - Newton's method for bodies on contacts that give way, with a diagonal compliance each.
 *
 * At a velocity v the force of contact i is a function of s = J v + w alone: with p = rest - a s
 *
 *     r_n = max(0, p_n),   r_t = the point of mu r_n D nearest to p_t,
 *
 * with D the unit disc, or a polygon. What is left are the balances of bodies
 *
 *     A v + hold (v - centre) + f - J'r(J v + w) - C'y = 0,    C v = c
 *
 * between their bounds, by semismooth Newton. friction_soft.c has contacts that are soft; friction_springs.c has rigid
 * ones, as the limit of equal springs. */
#ifndef PERP_SRC_SOLVER_FRICTION_SOFT_CORE_H
#define PERP_SRC_SOLVER_FRICTION_SOFT_CORE_H

#include <perp/solver.h>

#include "solver/contact_kkt_lu.h"
#include "solver/friction_soft.h"

struct perp_friction_soft_workspace {
    perp_kkt kkt;
    perp_kkt_lu lu;
    perp_kkt_buffer memory;
    const perp_contact_friction *given;
    perp_contact_qp bodies; /* the contacts on unknowns of bodies */
    int *dof_start, *dofs;
    double *jacobian;
    double *stiffness;   /* by contact 2: a_n, a_t */
    const double *block; /* a of contacts, rows x rows each; NULL where none gives way */
    bool *coupled;       /* by contact, where these give way: a is not diag(a_n, a_t, a_t) */
    const double *load;  /* rest of contacts, by row */
    const double *piece; /* by row: rest - a s at which the next look linearises contacts; NULL: where it is */
    const perp_friction_polygon *polygon; /* D of contacts with two directions; NULL: the disc */
    const double *hold, *centre;          /* by unknown of bodies; NULL: none */

    double *inertia, *stiff_equation;  /* A_jj; by equation 1 / (C diag(A)^-1 C')_ii */
    double *v, *y, *trial_v, *trial_y; /* of bodies; of equations */
    double *force, *omega;             /* of contacts at the point that was looked at last */
    double *balance, *open;            /* F; C v - c */
    double *step, *diagonal;           /* bodies and equations */
    double size, unit_size;            /* what the merit is to be compared with; that of 1 on what moves least */
    bool slips;                        /* Omega is not symmetric */
    bool factored_lu;                  /* which factors are the last */
    double nearer;                     /* a whole step is taken where it brings the merit down to this part */
    int iterations, factorisations;
    /* ---- friction_springs.c ---- */
    double *rest, *start_piece, *own_hold, *own_centre;
    bool holds; /* own_hold is not 0 everywhere */
};

/* s = J v + w of contact i, whose rows of J are `jacobian`. */
void perp_friction_soft_contact_velocity(const perp_friction_soft_workspace *f, int i, const double *jacobian,
                                         const double *v, double s[3]);
/* F, forces and weights at a point; returns the merit, an energy. */
double perp_friction_soft_look(perp_friction_soft_workspace *f, const double *v, const double *y);
/* One step of Newton's method from the point that was looked at, and a look at where it led; `merit` follows. False
 * where numbers fail. */
bool perp_friction_soft_advance(perp_friction_soft_workspace *f, double *merit);
/* Of unknown j at v its bound that holds it, or v itself where none does. */
double perp_friction_soft_held_at(const perp_friction_soft_workspace *f, const double *v, int j, bool *held);
/* Newton's matrix and right-hand side, in f->step, at the point that was looked at. */
void perp_friction_soft_factor(perp_friction_soft_workspace *f);
/* The direction that answers to f->step, a change of the loads, with the last factors. */
void perp_friction_soft_respond(perp_friction_soft_workspace *f);
/* v and y of a start; NULL: none. */
void perp_friction_soft_start(perp_friction_soft_workspace *f, const perp_convex_point *warm);
/* Motion of bodies, and forces of their bounds and equations, of the point that was looked at. */
void perp_friction_soft_put_bodies(const perp_friction_soft_workspace *f, perp_convex_point *to);
/* Memory, and the problem on bodies: all of it, or where contacts give way without their own unknowns. */
perp_status perp_friction_soft_set_up(perp_friction_soft_workspace *f, const perp_contact_friction *problem,
                                      bool gives_way, perp_error *error);
/* A_jj, or `weight` where that is zero, what holds such unknowns, and the measure of equations. False where there is
 * neither. */
bool perp_friction_soft_take_inertia(perp_friction_soft_workspace *f, const double *weight);

#endif
