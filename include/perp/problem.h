/* perp/problem.h - complementarity and convex problems: data, residuals and conversions; no solving.
 *
 * A problem borrows its arrays. Matrices are dense, row-major. Every class has one residual function, which solvers,
 * tests, benchmarks and reports share: "solved" is said only after it was evaluated on the returned point.
 *
 *   lcp    w = M z + q,  0 <= w _|_ z >= 0
 *   mlcp   as lcp, but rows in `free` have w = 0 and z free
 *   mcp    lower <= z <= upper _|_ M z + q: where z is strictly between its bounds (M z + q)_i = 0, at the lower bound
 *          it is >= 0, at the upper <= 0
 *
 * Every residual is judged row by row, each row by its own scale, and the largest counts: so a row of 1e12 excuses
 * nothing in a row of 1. Of these classes it is |z_i - mid(lower_i, z_i - F_i, upper_i)| / (1 + |q_i| + (|M||z|)_i). A
 * solver can be asked to leave out the 1 (settings.relative), for problems whose numbers are small in their units.
 *
 *   qp          min 1/2 x'H x + g'x,  A x >= b,  C x = d,  lower <= x <= upper;  without H an lp
 *   cone qp     min 1/2 x'H x + g'x,  A_k x + b_k in the second-order cone (first entry >= norm of the rest),  C x = d
 *   contact qp  both, with the structure that contacts give: H block-diagonal, every constraint on few unknowns
 *
 * Their residual is the largest of primal, dual and complementarity: perp_convex_residual.
 *
 *   nonlinear mcp     lower <= z <= upper _|_ F(z), F by a callback
 *   friction          u = W r + q: Coulomb's law between u and r at every contact
 *   contact friction  u = H v + w, A v + f = H'r: the same with the structure that contacts give, A possibly zero
 *   friction qp       min 1/2 x'H x + d'x, |x_i| <= radius_i: the friction of visco-elastic contacts at given normal
 * forces
 *
 * Their residuals are natural maps: perp_nonlinear_mcp_residual, perp_friction_residual, perp_friction_qp_residual.
 */
#ifndef PERP_PROBLEM_H
#define PERP_PROBLEM_H

#include <perp/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perp_lcp {
    int n;
    const double *m; /* n x n */
    const double *q; /* n */
} perp_lcp;

typedef struct perp_mlcp {
    int n;
    const double *m;  /* n x n */
    const double *q;  /* n */
    const bool *free; /* n */
} perp_mlcp;

typedef struct perp_mcp {
    int n;
    const double *m;             /* n x n */
    const double *q;             /* n */
    const double *lower, *upper; /* n; -inf and inf allowed, lower <= upper */
} perp_mcp;

/* BAD_INPUT with what is wrong and where: a negative size, an entry that is not finite, crossed bounds. n = 0 is a
 * problem with nothing in it, and solved. */
PERP_API perp_status perp_lcp_check(const perp_lcp *problem, perp_error *error);
PERP_API perp_status perp_mlcp_check(const perp_mlcp *problem, perp_error *error);
PERP_API perp_status perp_mcp_check(const perp_mcp *problem, perp_error *error);

/* w = M z + q, n each; products are summed in the order of the columns. */
PERP_API void perp_lcp_slack(const perp_lcp *problem, const double *z, double *w);

/* The residual of a point, as above. +infinity where z is not finite. Its rounding is n units in the last place at
 * most, since all terms of a row are in its scale. */
PERP_API double perp_lcp_residual(const perp_lcp *problem, const double *z);
PERP_API double perp_mlcp_residual(const perp_mlcp *problem, const double *z);
PERP_API double perp_mcp_residual(const perp_mcp *problem, const double *z);

/* ---- convex problems -------------------------------------------------------------------------------------------- */

/* H positive semidefinite; zero and low rank are fine. */
typedef struct perp_qp {
    int n;
    const double *h; /* n x n, symmetric; NULL: zero, an lp */
    const double *g; /* n */
    int rows;
    const double *a, *b; /* A x >= b: rows x n, rows */
    int equalities;
    const double *c, *d;         /* C x = d: equalities x n, equalities; they may depend on each other */
    const double *lower, *upper; /* n; NULL: none; -inf and inf allowed, lower <= upper */
} perp_qp;

typedef struct perp_cone_qp {
    int n;
    const double *h; /* n x n, symmetric; NULL: zero */
    const double *g; /* n */
    int cones;
    const int *cone_rows; /* cones: rows of each, at least 1; a cone of one row is the half-line */
    const double *a, *b;  /* the A_k below each other, rows x n, and the b_k, rows */
    int equalities;
    const double *c, *d; /* equalities x n, equalities */
} perp_cone_qp;

/* A convex problem as contacts make it. H is block-diagonal by body or tree. Contact i depends on few unknowns, its
 * dofs[dof_start[i]] .. dofs[dof_start[i + 1] - 1] (ascending), and has the slack
 *
 *     s_i = R_i J_i x + offset_i
 *
 * with J_i of rows row_start[i] .. row_start[i + 1] - 1 (velocities along n, t, o) and R_i of slack_start[i + 1] -
 * slack_start[i] rows that combine them: the extreme rays (1, mu d_j) of a friction pyramid, with s_i >= 0 entry by
 * entry, or diag(1, mu, mu) with s_i in the second-order cone where `quadratic`. Any other linear constraint is a
 * contact with one row and R = 1. Matrices of the contacts stand one after another, each row-major. */
typedef struct perp_contact_qp {
    int n;
    int block_count;
    const int *block_start; /* block_count + 1: unknowns block_start[k] .. block_start[k + 1] - 1; from 0 to n */
    const double *hessian;  /* the blocks, size x size each, symmetric; NULL: zero */
    const double *g;        /* n */
    int contact_count;
    const int *row_start;   /* contact_count + 1, from 0 */
    const int *dof_start;   /* contact_count + 1, from 0 */
    const int *dofs;        /* dof_start[contact_count] */
    const double *jacobian; /* contact i: its rows x its dofs */
    const int *slack_start; /* contact_count + 1, from 0 */
    const double *rays;     /* contact i: its slacks x its rows; NULL: identities, slacks and rows being as many */
    const double *offset;   /* slack_start[contact_count] */
    const bool *quadratic;  /* contact_count; NULL: none */
    int equality_count;     /* rows that close loops: sum_k equality_values[k] x[equality_dofs[k]] = equality_target */
    const int *equality_start;     /* equality_count + 1, from 0 */
    const int *equality_dofs;      /* ascending within a row */
    const double *equality_values; /* equality_start[equality_count] */
    const double *equality_target; /* equality_count */
    const double *lower, *upper;   /* n; NULL: none */
} perp_contact_qp;

/* A point with its multipliers, in the order and with the signs of
 *
 *     H x + g = A'y + C'y_equality + y_lower - y_upper
 *
 * y >= 0 (y_k in its cone), y_lower >= 0, y_upper >= 0; a contact qp's A is R J. Arrays that the class does not have,
 * and the multipliers of bounds where `lower` or `upper` is NULL, are not looked at and may be NULL. The multiplier of
 * an infinite bound has to be 0. */
typedef struct perp_convex_point {
    double *x;                 /* n */
    double *y;                 /* rows or slacks */
    double *y_equality;        /* equalities */
    double *y_lower, *y_upper; /* n */
} perp_convex_point;

/* Each is at least 0, and +infinity where a number is not finite; the largest over all rows, each over its own scale.
 *
 * primal: how far a row, equation or bound is violated, over 1 + |b_i| + (|A||x|)_i (of a contact qp |R||J||x|; of a
 * bound 1 + |bound| + |x|); for a cone the distance of s_k to it, over the largest of its rows' scales.
 *
 * dual: an entry of H x + g - A'y - C'y_equality - y_lower + y_upper, over 1 + |g_j| + (|H||x|)_j + (|A'||y|)_j, with C
 * and bounds as rows of A; and how far y is outside of its cone, over 1 + |y_i|, of a cone its largest entry.
 *
 * complementarity: |s_i y_i|, of a cone |s_k . y_k|, over the product of both scales: that of s as above, and 1 +
 * |y_i|.
 */
typedef struct perp_convex_residual {
    double primal, dual, complementarity;
} perp_convex_residual;

PERP_API double perp_convex_residual_largest(perp_convex_residual residual);

/* BAD_INPUT with what is wrong and where: sizes, an entry that is not finite, crossed bounds, H not symmetric (to
 * 1e-12 of its largest entry) or with a negative diagonal entry or 2 x 2 minor. That H is semidefinite beyond this is
 * found while solving. */
PERP_API perp_status perp_qp_check(const perp_qp *problem, perp_error *error);
PERP_API perp_status perp_cone_qp_check(const perp_cone_qp *problem, perp_error *error);
PERP_API perp_status perp_contact_qp_check(const perp_contact_qp *problem, perp_error *error);

PERP_API perp_convex_residual perp_qp_residual(const perp_qp *problem, const perp_convex_point *point);
PERP_API perp_convex_residual perp_cone_qp_residual(const perp_cone_qp *problem, const perp_convex_point *point);
PERP_API perp_convex_residual perp_contact_qp_residual(const perp_contact_qp *problem, const perp_convex_point *point);

/* Of a contact qp whose constraints are softened, kappa > 0: the minimum of 1/2 x'H x + g'x - kappa log s_k over all
 * rows and finite bounds - kappa/2 log(s_0^2 - |s_1|^2) over the cones, on C x = d. Cones, and contacts
 * without rays, have at most 8 slacks (else +infinity). Primal and dual as above, with y = kappa s^-1 as multipliers;
 * complementarity is the largest entry of s o y - kappa e (for a row s y - kappa, for a cone s . y - kappa and s_0 y_1
 * + y_0 s_1), over both scales as above; +infinity where s is not inside. */
PERP_API perp_convex_residual perp_contact_qp_barrier_residual(const perp_contact_qp *problem, double kappa,
                                                               const perp_convex_point *point);

/* 1/2 x'H x + g'x */
PERP_API double perp_qp_objective(const perp_qp *problem, const double *x);
PERP_API double perp_cone_qp_objective(const perp_cone_qp *problem, const double *x);
PERP_API double perp_contact_qp_objective(const perp_contact_qp *problem, const double *x);

/* Evidence that there is no solution, so that 0 is perfect and 1e-8 is good. A sum that has to vanish is judged beside
 * the absolute values of its own terms; one no larger than 2^-50 of the largest entries of its rows, which may be
 * rounding, beside what the proof is worth. infeasible  (y, y_equality, y_lower, y_upper) of `point`, y in its cone and
 * y_lower, y_upper >= 0, with b.y + d.y_equality + lower.y_lower - upper.y_upper > 0 (contact and cone qps: offset.y
 * counts with the other sign): returns the largest entry of A'y + C'y_equality + y_lower - y_upper, and how far a
 * cone's y is outside of it beside its size; 1 where a row's or a bound's is negative or a bound is infinite unbounded
 * x with g'x < 0: returns the largest entry of H x, and how far A x and C x are outside of their recession cones; 1
 * where x leaves a bound. From a feasible point the objective falls along x without end. +infinity where the value
 * (-g'x) is not more than 1e-8 of its terms and the weights they have, sum_i |y_i| (1 + |b_i|): rows that contradict
 * each other by less are met, all of them, to the usual tolerance. Also where a number is not finite or a product is
 * too small a number to tell. */
PERP_API double perp_qp_infeasibility(const perp_qp *problem, const perp_convex_point *point);
PERP_API double perp_cone_qp_infeasibility(const perp_cone_qp *problem, const perp_convex_point *point);
PERP_API double perp_contact_qp_infeasibility(const perp_contact_qp *problem, const perp_convex_point *point);
PERP_API double perp_qp_unboundedness(const perp_qp *problem, const double *x);
PERP_API double perp_cone_qp_unboundedness(const perp_cone_qp *problem, const double *x);
PERP_API double perp_contact_qp_unboundedness(const perp_contact_qp *problem, const double *x);

/* ---- nonlinear complementarity ---------------------------------------------------------------------------------- */

/* lower <= z <= upper _|_ F(z), as an mcp. F and its Jacobian come from `evaluate`: f has n numbers; `jacobian`, unless
 * it is NULL, has n x n by rows, or, with a pattern, the values of the columns column_starts, row_indices (rows
 * strictly increasing in a column, as perp_sparse_matrix has them). It returns false where F is not defined at z, which
 * must be nowhere between the bounds if a solver is to be sure of its steps; it must not keep or change anything a
 * second call could see. */
typedef struct perp_nonlinear_mcp {
    int n;
    const double *lower, *upper;            /* n; NULL: 0 and infinity */
    const int *column_starts, *row_indices; /* n + 1, column_starts[n]; both NULL: dense */
    bool (*evaluate)(void *context, const double *z, double *f, double *jacobian);
    void *context;
    double scale; /* of F, for the residual: of its terms, as |q_i| + (|M||z|)_i in a linear problem; 0 is fine */
    const double *scales; /* n: of each row by itself; NULL: `scale` for all */
} perp_nonlinear_mcp;

PERP_API perp_status perp_nonlinear_mcp_check(const perp_nonlinear_mcp *problem, perp_error *error);

/* The largest |z_i - mid(lower_i, z_i - F_i, upper_i)| / (1 + scale of the row), where f is F(z); +infinity where a
 * number is not finite. */
PERP_API double perp_nonlinear_mcp_residual(const perp_nonlinear_mcp *problem, const double *z, const double *f);

/* How far the Jacobian at z (between the bounds) is from differences of F, over the largest entry of the column and 1:
 * about 1e-9 for a right one, and near 1 for one with a wrong entry or an entry that the pattern lacks, which `row` and
 * `column` name (-1 where n = 0). For testing one's own F: 2 n + 1 evaluations. +infinity where F is not defined.
 * `work` has perp_nonlinear_mcp_jacobian_work doubles. */
PERP_API size_t perp_nonlinear_mcp_jacobian_work(const perp_nonlinear_mcp *problem);
PERP_API double perp_nonlinear_mcp_jacobian_error(const perp_nonlinear_mcp *problem, const double *z, double *work,
                                                  int *row, int *column);

/* ---- Coulomb friction ------------------------------------------------------------------------------------------- */

/* A contact has 1 to 3 rows: the normal, then the tangents. With fn the first entry of its r, ft the rest, un and ut
 * alike of u, its law is
 *
 *     mu fn >= |ft|,   0 <= fn _|_ un >= 0,   ft = -mu fn ut / |ut| where it slips
 *
 * which is: r in K = {mu fn >= |ft|}, z = u + mu |ut| e_n in the dual cone K*, r . z = 0 (De Saxce). Without friction
 * (mu = 0, or one row) 0 <= fn _|_ un >= 0 and ft = 0. */
typedef struct perp_friction {
    int contacts;
    int dim;          /* rows of a contact: 2 or 3 */
    const double *w;  /* size x size with size = contacts dim; need not be symmetric */
    const double *q;  /* size */
    const double *mu; /* contacts, >= 0 */
} perp_friction;

/* The same with bodies in it, on the structure of a contact qp: its hessian is A, g is f, the Jacobians are H, offset
 * is w; rays and quadratic are NULL, slack_start is row_start. Contacts have 1 to 3 rows.
 *
 *     A v + f = H'r + C'y_equality + y_lower - y_upper,   u = H v + w,   C v = d,   lower <= v <= upper
 *
 * with Coulomb's law between u and r, and the bounds and their multipliers complementary. A is symmetric and
 * semidefinite; without inertia it is zero, or the stiffness of the actuators. A point is a perp_convex_point: x is v,
 * y is r. */
typedef struct perp_contact_friction {
    const perp_contact_qp *system;
    const double *mu; /* by contact; of one with one row it is not looked at */
} perp_contact_friction;

/* BAD_INPUT with what is wrong and where. */
PERP_API perp_status perp_friction_check(const perp_friction *problem, perp_error *error);
PERP_API perp_status perp_contact_friction_check(const perp_contact_friction *problem, perp_error *error);

/* u = W r + q, and H v + w. */
PERP_API void perp_friction_velocity(const perp_friction *problem, const double *r, double *u);
PERP_API void perp_contact_friction_velocity(const perp_contact_friction *problem, const double *v, double *u);

/* The largest error of a contact, in m/s, over its scale 1 + the largest |q_i| + (|W||r|)_i of its rows. The error is
 * |r - P(r - rho z)| / rho, P the projection on K, z = u + mu |ut| e_n and rho = 1 / W_nn (1 where that is not
 * positive), or -un where that is more, which a large mu would hide. +infinity where r is not finite. */
PERP_API double perp_friction_residual(const perp_friction *problem, const double *r);

/* What a contact does: it bears no force, it bears one and does not move along its tangents, it does. */
typedef enum perp_friction_mode {
    PERP_FRICTION_OPEN,
    PERP_FRICTION_STICK,
    PERP_FRICTION_SLIDE,
    PERP_FRICTION_MODE_COUNT
} perp_friction_mode;

/* "open", "stick", "slide". */
PERP_API const char *perp_friction_mode_name(perp_friction_mode mode);

/* The mode of each contact at a solution r, u. Open is where un is at least fn / rho: of a solution one of them is 0.
 * Otherwise it slides if |ut| exceeds `tolerance` (of the residual that r was accepted with) times the contact's scale.
 */
PERP_API void perp_friction_modes(const perp_friction *problem, const double *r, const double *u, double tolerance,
                                  perp_friction_mode *modes);

/* Each at least 0, +infinity where a number is not finite; the largest over all rows, each over its own scale.
 *   balance     an entry of A v + f - H'r - C'y_equality - y_lower + y_upper, over 1 + the absolute values of its terms
 *   law         as perp_friction_residual, over 1 + the largest |w_i| + (|H||v|)_i of the contact's rows; bounds are
 *               contacts without friction, over 1 + |bound| + |v|. rho = 1 / sum_j J_nj^2 / a_j with a_j = A_jj, or
 * where that is 0 the largest of these, or 1 if A is zero constraint  an entry of C v - d, over 1 + |d_i| + (|C||v|)_i
 */
typedef struct perp_contact_friction_residual {
    double balance, law, constraint;
} perp_contact_friction_residual;

PERP_API perp_contact_friction_residual perp_contact_friction_evaluate(const perp_contact_friction *problem,
                                                                       const perp_convex_point *point);
PERP_API double perp_contact_friction_residual_largest(perp_contact_friction_residual residual);

/* ---- friction of visco-elastic contacts at given normal forces -------------------------------------------------- */

/* The friction QP of Song, Kumar and Pang (Proposition 1): the tangential forces x_i of elements that H couples,
 *
 *     min 1/2 x'H x + d'x   subject to   |x_i| <= radius_i
 *
 * H x + d is the slip of the elements. Where H is definite x is unique, and it is the x at which every element obeys
 * Coulomb's law with the normal force that its radius stands for: it sticks, or |x_i| = radius_i against the slip. */
typedef struct perp_friction_qp {
    int elements;
    int dim;              /* tangents of an element: 1 in the plane, else 2 */
    const double *h;      /* size x size with size = elements dim, symmetric, positive definite; 1 / (N s/m) */
    const double *d;      /* size; m/s */
    const double *radius; /* elements, >= 0; N */
} perp_friction_qp;

/* BAD_INPUT as for a convex problem, or a negative radius. That H is definite is found while solving. */
PERP_API perp_status perp_friction_qp_check(const perp_friction_qp *problem, perp_error *error);
/* H x + d. */
PERP_API void perp_friction_qp_slip(const perp_friction_qp *problem, const double *x, double *slip);
PERP_API double perp_friction_qp_objective(const perp_friction_qp *problem, const double *x);
/* The largest |x_i - P(x_i - rho s_i)| / rho of an element, P the projection on its disc, s = H x + d and 1 / rho the
 * mean of H's diagonal over the element (1 where that is not positive), over 1 + the largest |d_i| + (|H||x|)_i of its
 * rows. +infinity where x is not finite. */
PERP_API double perp_friction_qp_residual(const perp_friction_qp *problem, const double *x);

/* The radius of Song's friction cone, sqrt(|ft|^2 + gamma^2) <= mu fn + gamma; with gamma = 0 it is mu fn. N. */
PERP_API double perp_friction_radius(double mu, double fn, double gamma);

/* Elements with lambda = K delta + C d(delta)/dt at a state. Vectors have `rows` numbers an element, normal first;
 * matrices stand in that order. For a backward Euler step give C + h K for C: lambda at its end is then what the
 * formula has, with the delta of its beginning. */
typedef struct perp_friction_elements {
    int elements;
    int rows;                /* 2 in the plane, else 3 */
    const double *damping;   /* C, size x size with size = elements rows, symmetric, positive definite; N s/m */
    const double *stiffness; /* K, size x size; N/m */
    const double *delta;     /* size; m */
    const double *fn;        /* elements: normal forces, >= 0; N */
    const double *sliding;   /* elements (rows - 1): tangential velocities of the rigid bodies there; m/s */
    const double *mu;        /* elements, >= 0 */
    double gamma;            /* >= 0; N; 0: the exact cone */
} perp_friction_elements;

/* The caller's arrays, which the problem borrows. */
typedef struct perp_friction_qp_arrays {
    double *h, *d, *radius;
    double *work; /* size (2 size + 1), of the elements' size */
} perp_friction_qp_arrays;

/* H = the tangential part of C^-1 and d = (C^-1 (fn - K delta))_t + the bodies' velocities. BAD_INPUT: an entry that is
 * not finite, a negative force, mu or gamma, a C that is not symmetric or not positive definite. */
PERP_API perp_status perp_friction_qp_form(const perp_friction_elements *elements,
                                           const perp_friction_qp_arrays *arrays, perp_friction_qp *problem,
                                           perp_error *error);

/* ---- conversions: one class as another; the caller gives the arrays, nothing allocates -------------------------- */

/* Bounds 0 and infinity, or none where free. `lower` and `upper` have n; the mcp borrows them, M and q. */
PERP_API void perp_mlcp_as_mcp(const perp_mlcp *problem, double *lower, double *upper, perp_mcp *mcp);

/* ---- a qp or a cone qp as a contact qp ---- */

/* How long the arrays of the contact qp are. */
typedef struct perp_contact_qp_size {
    int blocks;                  /* at most */
    int contacts, rows;          /* slacks are as many as rows */
    int dofs, equality_entries;  /* in all */
    ptrdiff_t hessian, jacobian; /* entries; of the hessian at most */
} perp_contact_qp_size;

/* The caller's arrays. None may be NULL, except where its length is 0 and no `+ 1` is added. */
typedef struct perp_contact_qp_arrays {
    int *permutation;        /* n: x_contact[k] = x[permutation[k]], so that the blocks of H are contiguous */
    int *position;           /* n: its inverse */
    int *block_start;        /* blocks + 1 */
    double *hessian;         /* hessian */
    double *g;               /* n */
    int *row_start;          /* contacts + 1; it is slack_start too */
    int *dof_start;          /* contacts + 1 */
    int *dofs;               /* dofs */
    double *jacobian;        /* jacobian */
    double *offset;          /* rows; not used by cone qps, whose b serves */
    bool *quadratic;         /* contacts; not used by qps */
    int *equality_start;     /* equalities + 1 */
    int *equality_dofs;      /* equality_entries */
    double *equality_values; /* equality_entries */
    double *lower, *upper;   /* n; not used where the problem has none */
} perp_contact_qp_arrays;

/* The components that H falls into become its blocks, exact zeros of A and C are left out, rows that follow each other
 * with nonzeros in the same places share a contact (up to 4), a cone is one contact. There are no rays. Multipliers of
 * rows, cones and equations stay as they are, unknowns and bounds move by the permutation, which is the identity where
 * the components are contiguous already. The problem must pass its check. The contact qp borrows the arrays, d, and
 * the b of a cone qp. */
PERP_API perp_contact_qp_size perp_qp_as_contact_qp_size(const perp_qp *problem);
PERP_API void perp_qp_as_contact_qp(const perp_qp *problem, const perp_contact_qp_arrays *arrays,
                                    perp_contact_qp *contact_qp);
PERP_API perp_contact_qp_size perp_cone_qp_as_contact_qp_size(const perp_cone_qp *problem);
PERP_API void perp_cone_qp_as_contact_qp(const perp_cone_qp *problem, const perp_contact_qp_arrays *arrays,
                                         perp_contact_qp *contact_qp);
/* The problem's point, whose arrays must not be those of the contact qp's. */
PERP_API void perp_qp_from_contact_qp(const perp_qp *problem, const perp_contact_qp_arrays *arrays,
                                      const perp_convex_point *contact_point, const perp_convex_point *point);
PERP_API void perp_cone_qp_from_contact_qp(const perp_cone_qp *problem, const perp_contact_qp_arrays *arrays,
                                           const perp_convex_point *contact_point, const perp_convex_point *point);

/* ---- friction problems ---- */

/* Coulomb's problem whose normal forces are the radii, with mu = 1 (0 where the radius is): normal rows that nothing
 * couples, of H's mean diagonal, whose velocity vanishes there. With size = elements (dim + 1) `w` has size * size, `q`
 * size and `mu` elements; the friction problem borrows them. x is the tangential part of its r. */
PERP_API void perp_friction_qp_as_friction(const perp_friction_qp *problem, double *w, double *q, double *mu,
                                           perp_friction *friction);

/* The caller's arrays for a friction problem as bodies; size = contacts dim. */
typedef struct perp_friction_lift {
    double *factor;   /* size * size */
    int *order;       /* size */
    int *block_start; /* size + 1 */
    double *hessian;  /* size */
    double *g;        /* size */
    int *row_start;   /* contacts + 1; it is slack_start too */
    int *dof_start;   /* contacts + 1 */
    int *dofs;        /* contacts * size */
    double *jacobian; /* size * size */
} perp_friction_lift;

/* W = L L' by a Cholesky factorisation that pivots, L having as many columns as W has rank: with H = L, A = 1, f = 0
 * and w = q a velocity of each column, v = L'r, gives the same u. Exact zeros of L are left out. The system borrows
 * the arrays and q, the problem the system and mu. r is the same in both. BAD_INPUT where W is not symmetric, or not
 * positive semidefinite, both to rounding. The problem must pass its check. */
PERP_API perp_status perp_friction_as_contact_friction(const perp_friction *problem, const perp_friction_lift *lift,
                                                       perp_contact_qp *system, perp_contact_friction *contact_friction,
                                                       perp_error *error);

#ifdef __cplusplus
}
#endif
#endif
