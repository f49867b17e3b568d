/* certificate_problem.h - the problem of one step, or of `instant-qs`, written down from the model and a contact set of
 * the judge's own, and how far any point is off its law. Nothing of the rungs or of the analysis is used.
 *
 * Unknowns are displacements in the step, in a unit in which what forces of F move is about 1; forces are in F:
 *
 *     A x + g = J'r + C'y + p,    u = J x + w,    C x = d,    lower <= x <= upper,    p: of limits, up at the lower one
 *
 * u has the gap at the step's end and the slip along the friction directions. With D the unit disc, polygon or interval
 * and h(u_t) the most work that D can do against u_t,
 *
 *     0 <= r_n _|_ u_n >= 0 (convex rungs: u_n - mu h(u_t)),    r_t in mu r_n D of the most work against u_t
 */
#ifndef PERP_TESTS_QUALIFY_CERTIFICATE_PROBLEM_H
#define PERP_TESTS_QUALIFY_CERTIFICATE_PROBLEM_H

#include <perp/step.h>

#include "quasistatic_law.h"

enum {
    JUDGED_DOFS = 14,
    JUDGED_CONTACTS = 10,
    JUDGED_ROWS = 3 * JUDGED_CONTACTS,
    JUDGED_LOOPS = 6,
    JUDGED_CORNERS = 16,
    JUDGED_SIZE = 2 * JUDGED_DOFS + JUDGED_ROWS + JUDGED_LOOPS
};

typedef struct judged_contact {
    int row, rows; /* n, then one or two friction directions */
    int index;     /* of the set */
    double mu;
    int corners; /* of D; 0: the disc */
    double corner[JUDGED_CORNERS][2];
} judged_contact;

typedef struct judged_problem {
    int n, contact_count, rows, equations, limited;
    bool convex;
    bool strictly; /* A is positive definite */
    double F, L, h;
    double unit[JUDGED_DOFS]; /* m or rad of x_k = 1 */
    int dof[JUDGED_DOFS];
    double A[JUDGED_DOFS][JUDGED_DOFS], g[JUDGED_DOFS];
    judged_contact contacts[JUDGED_CONTACTS];
    double J[JUDGED_ROWS][JUDGED_DOFS], w[JUDGED_ROWS];
    double C[JUDGED_LOOPS][JUDGED_DOFS], d[JUDGED_LOOPS];
    double loop_unit[JUDGED_LOOPS];
    double lower[JUDGED_DOFS], upper[JUDGED_DOFS];
    int limit_of[JUDGED_DOFS]; /* limited: its unknown */
} judged_problem;

/* Motion, contact forces, forces of loops, forces of limits, one after the other: n + rows + equations + limited. */
typedef struct judged_point {
    double z[JUDGED_SIZE];
} judged_point;

static inline int judged_size(const judged_problem *p)
{
    return p->n + p->rows + p->equations + p->limited;
}

/* The view stands at the step's begin; `v` (nv): velocities there. False: larger than there is room for, or of a kind
 * that the judge does not know (bodies that turn in space while they move). */
bool judged_problem_make(const quasistatic_view *view, const double *v, judged_problem *problem);
/* Velocities of the model (nv) and contact forces by record, into a point; forces of loops and limits are those that
 * balance best. */
void judged_point_take(const judged_problem *problem, const quasistatic_view *view, const double *v,
                       const perp_contact_record *records, int count, judged_point *point);
/* The largest residual; `each` (judged_size, may be NULL): all of them, in the order of the unknowns. */
double judged_residual(const judged_problem *problem, const judged_point *point, double *each);
/* u of a contact at a point. */
void judged_slip(const judged_problem *problem, const judged_contact *contact, const double *x, double u[3]);
/* A contact's residuals by its force and u, to `out`. */
void judged_contact_law(const judged_problem *problem, const judged_contact *contact, const double *r, const double *u,
                        double *out);
/* The nearest point of s D. */
void judged_project(const judged_contact *contact, double s, const double from[2], double to[2]);
/* How far motions are apart. */
double judged_distance(const judged_problem *problem, const judged_point *a, const judged_point *b);

#endif
