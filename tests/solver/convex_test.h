/* convex_test.h - what the tests of the convex engine share: a judge that is not the library's, contact qps that are
 * put together contact by contact, and random ones whose solution and least multipliers are known.
 */
#ifndef PERP_TESTS_SOLVER_CONVEX_TEST_H
#define PERP_TESTS_SOLVER_CONVEX_TEST_H

#include "qp_dual_test.h"

/* One of the three. */
typedef struct convex_problem {
    const perp_qp *qp;
    const perp_cone_qp *cone;
    const perp_contact_qp *contact;
} convex_problem;

#define OF_QP(problem) ((convex_problem){.qp = (problem)})
#define OF_CONE_QP(problem) ((convex_problem){.cone = (problem)})
#define OF_CONTACT_QP(problem) ((convex_problem){.contact = (problem)})

/* Any class written out: s = A x + offset in cones of cone_rows (1: nonnegative), R J multiplied in long double. */
typedef struct written_out {
    int n, slacks, cones, equalities;
    int *cone_rows;
    long double *h, *g, *a, *offset, *c, *d;
    long double *size; /* |R||J|: of the terms of the entries of A */
    /* of certificates: the largest entry of a row, where the row has the unknown; of contacts with |R| */
    long double *a_open, *c_open, *h_open;
    const double *lower, *upper; /* the problem's */
    void *memory;
} written_out;

written_out write_out(convex_problem p);
void free_written_out(written_out *w);

/* ---- points ---- */

perp_convex_point new_point(convex_problem p); /* zeros, every array */
void free_point(perp_convex_point *point);
void copy_point(convex_problem p, const perp_convex_point *from, perp_convex_point *to);
bool is_finite_point(convex_problem p, const perp_convex_point *point);
/* Of y, y_equality, y_lower and y_upper together. */
double multiplier_norm(convex_problem p, const perp_convex_point *point);
/* The largest difference of an entry: of x, and of all multipliers. */
double distance_of_x(convex_problem p, const perp_convex_point *a, const perp_convex_point *b);
double distance_of_multipliers(convex_problem p, const perp_convex_point *a, const perp_convex_point *b);

/* ---- the judge: definitions of problem.h, in long double ---- */

/* The largest of primal, dual and complementarity; infinity where a number is not finite. */
double judge_convex(convex_problem p, const perp_convex_point *point);
double judge_objective(convex_problem p, const double *x);
/* How far the multipliers are from a proof that nothing is feasible, with *value what has to be 1. */
double judge_infeasible(convex_problem p, const perp_convex_point *point, double *value);
/* The same of x as a direction without end, with *slope what has to be -1. */
double judge_unbounded(convex_problem p, const double *x, double *slope);
/* With 0 for `unit`: of relative residuals. */
double judge_infeasible_with(convex_problem p, const perp_convex_point *point, double unit, double *value);
double judge_unbounded_with(convex_problem p, const double *x, double unit, double *slope);

/* ---- solving ---- */

/* Settings with a method (NULL: the cascade), else the defaults. */
perp_convex_settings convex_settings(const char *method);

perp_convex_workspace *new_convex_workspace(const perp_allocator *allocator);
perp_status reserve_convex(convex_problem p, perp_convex_workspace *workspace, perp_error *error);
/* The status as it comes; nothing is judged or reserved. */
perp_status try_convex(convex_problem p, const perp_convex_settings *settings, perp_convex_workspace *workspace,
                       perp_convex_point *point, perp_convex_info *info, perp_error *error);

/* What the info claims is true: numbers are finite, the residual and the objective are those of the point, solved
 * means within the tolerance, and proofs hold. */
void assert_truthful(convex_problem p, const perp_convex_settings *settings, const perp_convex_point *point,
                     const perp_convex_info *info);

/* Reserves, solves, and asserts all that; with a workspace of its own where NULL is given. */
perp_convex_info solve_convex(convex_problem p, const perp_convex_settings *settings, perp_convex_workspace *workspace,
                              perp_convex_point *point);
/* And the outcome: SOLVED, with a judged residual that a polished point has (see POLISHED). */
perp_convex_info assert_convex_solved(convex_problem p, const perp_convex_settings *settings, perp_convex_point *point);

/* The tolerance is 1e-8, but the last passes on the active set bring a well-conditioned problem to rounding, which is a
 * few hundred units in the last place of terms below 1e3: what is left is judged by this. */
#define POLISHED 1e-10

/* How near x and y come in problems whose active set is well conditioned (numbers near 1, so conditions below 1e3 or
 * so): POLISHED times that. */
#define CLOSE 1e-7

/* ---- contact qps, put together ---- */

typedef struct contact_case {
    int n, blocks, contacts, rows, slacks, dof_total, jacobian_total, ray_total, equalities, equality_total;
    int *block_start, *row_start, *dof_start, *dofs, *slack_start, *equality_start, *equality_dofs;
    double *hessian, *g, *jacobian, *rays, *offset, *equality_values, *equality_target, *lower, *upper;
    bool *quadratic;
    bool bounded;
} contact_case;

/* Blocks of `size` unknowns, H and g zero, no bounds, no contacts. */
contact_case new_contact_case(int blocks, int size);
void free_contact_case(contact_case *q);
/* Entry (i, j) of a block. */
double *block_entry(contact_case *q, int block, int i, int j);
/* One contact: J (rows x count), R (slacks x rows; NULL: identity), offset (slacks). */
typedef struct contact_entry {
    int count, rows, slacks;
    const int *dofs;
    const double *jacobian, *rays, *offset;
    bool quadratic;
} contact_entry;
void add_contact(contact_case *q, const contact_entry *entry);
void add_equality(contact_case *q, int count, const int *dofs, const double *values, double target);
perp_contact_qp contact_qp_of(const contact_case *q);
/* The contacts in the order `order` (contacts entries, which may repeat or leave out); all else as it is. */
contact_case with_contacts(const contact_case *q, int count, const int *order);

/* `directions` rays (1, mu cos, mu sin) with the first at `turn` of the way to the next; directions x 3. */
void friction_rays(int directions, double mu, double turn, double *rays);

/* ---- random contact qps ---- */

typedef enum contact_kind { CONTACT_ROWS, CONTACT_RAYS, CONTACT_CONES, CONTACT_MIXED } contact_kind;

typedef struct random_contacts {
    int bodies, contacts, equalities; /* bodies of 3 unknowns */
    contact_kind kind;
    bool bounded;
    bool flat;       /* every other body has H = 0 */
    bool degenerate; /* touching without force, sticking at the limit: s + y is not inside of its cone everywhere */
} random_contacts;

/* A problem and its solution `known`, which has the multipliers of least norm: with a random v they are y = P(A v), P
 * the projection on what of the cone is complementary to s, and C v for equations; g is then what x needs. That is what
 * the least-norm problem asks for, and enough. Contacts are apart, stick or slide; equations repeat. */
contact_case random_contact_case(perp_random *random, random_contacts what, perp_convex_point *known);

#endif
