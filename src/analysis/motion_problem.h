/* motion_problem.h - the problem that a step has solved, island by island, as dense numbers about 1.
 *
 * Unknowns are displacements in the step: x_k is h v_k over L, of an angle h v_k. Forces are in F, torques in F L
 * (contact_step.h has both units, by island). In these units the balance of forces is
 *
 *     A x + g = J'r + C'y + y_lower - y_upper,        u = J x + w,  C x = d,  lower <= x <= upper
 *
 * with u_n the gap at the step's end over L and u_t the slip in the step over L. */
#ifndef PERP_SRC_ANALYSIS_MOTION_PROBLEM_H
#define PERP_SRC_ANALYSIS_MOTION_PROBLEM_H

#include "base/arena.h"
#include "step/common/contact_step.h"

/* The relation between u and r at every contact. */
typedef enum motion_law {
    MOTION_COULOMB, /* 0 <= fn _|_ u_n >= 0, friction in mu fn D, of the most work against u_t */
    MOTION_CONVEX,  /* Anitescu: r in the friction cone, (u_n + room, u_t) in its dual, at right angles */
    MOTION_BARRIER  /* that, smoothed: r is a function of u */
} motion_law;

/* Facet j joins corner j and j + 1; D is where facet . d <= 1 for all. The second entries of a line are 0. */
typedef struct motion_polygon {
    int count;
    const double (*corner)[2], (*facet)[2];
} motion_polygon;

typedef struct motion_contact {
    int row, rows; /* of J: n, then one or two friction directions */
    double mu;
    double room;       /* L: dyn-qp */
    double axis[2][2]; /* t and o of its record, along the friction directions */
    int record;        /* of step->records */
} motion_contact;

typedef struct motion_point {
    double *x;                     /* n */
    double *r;                     /* row_count */
    double *y, *y_lower, *y_upper; /* equation_count, n, n */
} motion_point;

typedef struct motion_problem {
    motion_law law;
    motion_polygon wide; /* D with two friction directions; count 0: the disc */
    int n, contact_count, row_count, equation_count;
    double F, L, h;
    double *unit; /* n: m or rad of x_k = 1 */
    int *dof;     /* n: of the model; from nv on the foot of a support */
    double *A, *g;
    motion_contact *contacts;
    double *J, *w;
    double *C, *d;
    double *loop_unit; /* equation_count: of y, in the step's units */
    double *lower, *upper;
    motion_point answer;
} motion_problem;

/* Are all answers, with their forces, a convex set? Anitescu's laws, and Coulomb's without friction. */
bool perp_motion_is_convex(const motion_problem *p);
/* D of a contact with so many rows (2 or 3), its corners counter-clockwise; NULL: the unit disc. */
const motion_polygon *perp_motion_polygon(const motion_problem *p, int rows);

/* The islands of the step that `step` has taken last, and its answer. OUT_OF_MEMORY. */
/* UNAVAILABLE: a support is an ellipsoid, whose cone has three rows. */
#define PERP_MOTION_ELLIPSOID "a support with `model: ellipsoid` has a cone of its own, whose answers are not counted"
bool perp_motion_has_ellipsoid(const contact_step *step);
perp_status perp_motion_problems(const contact_step *step, perp_arena *arena, motion_problem **problems, int *count,
                                 perp_error *error);
/* u = J x + w, into u (row_count). */
void perp_motion_slip(const motion_problem *p, const double *x, double *u);
/* The most work that friction of mu fn = 1 can do against the slip u (n, then u_t): max over D of -d . u_t. */
double perp_motion_most_work(const motion_problem *p, const motion_contact *c, const double *u);
/* How far a point is off the law: the largest of balance, gaps, limits, loops and friction, in F and L. It shares no
 * code with the rungs. */
double perp_motion_residual(const motion_problem *p, const motion_point *point, double *u);

#endif
