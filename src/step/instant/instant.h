/* instant.h - the rung `instant`: accelerations a and contact forces at one state (q, v, t).
 *
 *     M a + c(q, v) = gravity + applied + springs + J_n' fn + J_t' ft + C'y + limits
 *
 * A contact takes part, is *active*, where |phi| <= 1e-9 m and its normal velocity is at most 1e-9 m/s: before that it
 * is apart or parting, after it an impact is due, which forces do not answer. For an active contact
 *
 *     0 <= fn _|_ a_n = J_n a + (dJ_n/dt) v >= 0
 *
 * and for friction it is one of two sets (slides 33, 37 and 38 of Trinkle's "A family of rigid body models"):
 *
 *     sliding   |v_t| > 1e-9 m/s    ft = -mu fn v_t / |v_t|, known but for fn: one unknown
 *     rolling   otherwise           ft in mu fn D, and of all such forces it does the most work against a_t
 *
 * D is the interval [-1, 1] where there is one friction direction (all planar contacts), and the polygon of `run.rays`
 * corners else. The v_t of an ellipsoid has a third entry, the turning times its arm, and only what slides is taken.
 * The problem is an LCP, of size N_slide + 3 N_roll in the plane (design 4.9); its rows are in instant_problem.c. The
 * sliding set makes it lack the symmetry of the other rigid rungs: rows are J_n, columns J_n - mu J_t v_t/|v_t|, so
 * that there may be several solutions, or none (Painleve).
 *
 * The system is held by contact_step, with accelerations in place of velocities and forces in N:
 * step->hessian is M, g is c less what acts, offset is dJ/dt v and what prescribed accelerations add, equality_target
 * likewise; and an answer is in step->x, force, y_equality, y_lower, y_upper. */
#ifndef PERP_SRC_STEP_INSTANT_H
#define PERP_SRC_STEP_INSTANT_H

#include "step/rigid/rigid_step.h"

typedef enum instant_kind {
    INSTANT_INACTIVE,
    INSTANT_SMOOTH, /* no friction */
    INSTANT_SLIDE,
    INSTANT_ROLL_LINE, /* one friction direction */
    INSTANT_ROLL_POLYGON
} instant_kind;

typedef struct perp_instant {
    contact_step *step;
    const rigid_step *rigid; /* of its polygons and its cone program use is made */

    /* ---- the motion; instant_motion.c ---- */
    memory_block motion;
    double *v;               /* nv: of the state, the prescribed ones as their drives have them */
    double *given;           /* nv: prescribed accelerations, 0 elsewhere */
    double (*turning)[3];    /* by contact of the set, along its n, t, o: (dJ/dt) v */
    double *loop_turning;    /* by row of all loops */
    double *q_near, *v_near; /* nq, nv: scratch */
    int base_count;          /* contacts of the set */
    perp_contact *base;      /* by contact of the set, as at the state */
    bool *wanted;            /* by contact of the set: its `turning` is not known */
    bool *lost;              /* by contact of the set: scratch */

    /* ---- the problem; instant_problem.c ---- */
    memory_block sized;
    instant_kind *kind;  /* by contact of the system */
    double (*slip)[3];   /* by contact of the system: v_t / |v_t| along its tangential rows, where it slides */
    ptrdiff_t *jacobian; /* by contact of the system: where its rows begin in step->jacobian */
    double force_unit;   /* N: scales the problem; not below F, for inertia alone may be more than what acts */
    double acceleration; /* m/s^2: likewise */
    double *unit;        /* by unknown: 1, or for what turns 1 / L: a_k is acceleration * unit_k times the unknown */
    perp_mlcp problem;   /* in those units, over a, y, contacts, limits */
    memory_block matrix;
    double *m, *q, *z, *w, *ray;
    bool *free;
} perp_instant;

/* ---- instant_motion.c ---- */

/* v, prescribed accelerations, and how Jacobians turn with the motion at the state. Kinematics (with twists) and
 * contacts of the context are those of the state afterwards. */
perp_status perp_instant_move(perp_instant *in, perp_step_context *context, const perp_state *state, perp_error *error);

/* ---- instant_problem.c ---- */

/* After perp_instant_move and perp_step_build: the system, and the LCP. */
perp_status perp_instant_build(perp_instant *in, perp_step_context *context, perp_error *error);
/* An answer from a z of the LCP. */
void perp_instant_read(perp_instant *in, const double *z);
/* The accelerations that separate and shear the bodies at contact i of the system: a_n, then a_t along its friction
 * directions. */
void perp_instant_at_contact(const perp_instant *in, int i, double a[4]);
/* Fills balance, complementarity and cone of step->info with what the answer in `step` leaves. */
void perp_instant_evaluate(perp_instant *in);

/* ---- instant_forces.c ---- */

/* Of all forces that go with the accelerations of the answer those of least norm; it stays as it is where they are not
 * found. */
perp_status perp_instant_least_forces(perp_instant *in, perp_error *error);
/* The solution's fn_low and fn_high, which are its fn: how far others go that go with the accelerations of the answer.
 * An end that is not found is 0 or infinite, so that the range holds all of them in any case. */
perp_status perp_instant_ranges(perp_instant *in, perp_instant_solution *solution, perp_error *error);
/* Why there is no answer, in words. */
void perp_instant_why_none(const perp_instant *in, char *text, size_t size);

#endif
