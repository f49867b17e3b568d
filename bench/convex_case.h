/* convex_case.h - a contact qp that is built contact by contact, with the evidence of what it is.
 *
 * What a case claims, and the numbers that prove it (convex_case_proof_holds computes anew, in long double):
 *
 *   solvable    `x` is feasible, and with `x_dual` in place of x the multipliers `y`, .. meet the dual's equations.
 * Where `kkt` the two are one point that is complementary too, and so is a solution. Else both together bound the
 * objective on a set that is not empty: with rays alone a solution exists (Frank and Wolfe); with quadratic cones both
 * are strictly inside of them, by `margin`. infeasible  `y`, .. are a Farkas vector: A'y + C'y_equality + y_lower -
 * y_upper = 0, y in its cone, and the constraints' constants along it are negative. unbounded   `x` is feasible, and
 * along `direction` nothing ends: H d = 0, A d in the cone, C d = 0, g'd < 0.
 */
#ifndef PERP_BENCH_CONVEX_CASE_H
#define PERP_BENCH_CONVEX_CASE_H

#include <perp/problem.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum convex_claim { CONVEX_SOLVABLE, CONVEX_INFEASIBLE, CONVEX_UNBOUNDED, CONVEX_CLAIM_COUNT } convex_claim;

typedef struct convex_case {
    perp_contact_qp qp; /* borrows from here; convex_case_finish fills it */
    convex_claim claim;
    bool kkt;
    bool primal_unique;             /* H is positive definite */
    double margin;                  /* of the strict proof */
    const char *family, *curvature; /* string constants: what was drawn, and what H is */
    /* Sized by convex_case_finish; `direction` too, whatever the claim. */
    double *x, *x_dual, *y, *y_equality, *y_lower, *y_upper, *direction;
    struct convex_case_memory *memory;
} convex_case;

/* All of these end the program when memory does: they serve tests and benchmarks. */
convex_case *convex_case_create(void);
void convex_case_free(convex_case *c); /* NULL allowed */

/* An empty problem of the blocks' sizes; H zero, g zero, no bounds. */
void convex_case_start(convex_case *c, const int *block_sizes, int block_count);
/* Block k of H, size x size, zero at first. Valid until the next start. */
double *convex_case_block(convex_case *c, int k);
double *convex_case_g(convex_case *c);                                   /* n */
void convex_case_bounds(convex_case *c, double **lower, double **upper); /* n each, infinite at first */

/* A contact of `rows` rows over the columns `dofs` (ascending, `dof_count`), of the jacobian rows x dof_count, and
 * `slacks` combinations `rays` (slacks x rows). The offsets are zero at first; convex_case_offset gives them. */
typedef struct convex_contact {
    int rows, dof_count, slacks;
    const int *dofs;
    const double *jacobian, *rays;
    bool quadratic;
} convex_contact;
void convex_case_add_contact(convex_case *c, const convex_contact *contact);
double *convex_case_offset(convex_case *c, int contact);
void convex_case_add_equality(convex_case *c, int count, const int *dofs, const double *values, double target);
double *convex_case_target(convex_case *c, int equality);

/* Points qp at the arrays and gives the arrays of the proof, all zero. The offsets, targets, bounds, H and g may be
 * written until the problem is used, through the functions above. */
void convex_case_finish(convex_case *c, bool with_hessian, bool with_bounds);

/* r += A'y, r += C'y_equality (n each), s = A x without the offset, r = H x. */
void convex_case_add_transposed(const convex_case *c, const double *y, const double *y_equality, double *r);
void convex_case_rows(const convex_case *c, const double *x, double *s);
void convex_case_hessian(const convex_case *c, const double *x, double *r);
/* Solves H x = r block by block in long double; false where a block is not safely positive definite. */
bool convex_case_solve_hessian(const convex_case *c, const double *r, double *x);

bool convex_case_proof_holds(const convex_case *c);

/* The same problem with dense rows. A qp where no contact is quadratic, else a cone qp, in which bounds are cones of
 * one row. The arrays belong to the case, until the next start. */
bool convex_case_has_cones(const convex_case *c);
void convex_case_as_qp(convex_case *c, perp_qp *qp);
void convex_case_as_cone_qp(convex_case *c, perp_cone_qp *qp);

/* As a problem file for `perp solve`, with `comment` (one line) on top; false if it could not be written. */
bool convex_case_write(const convex_case *c, const char *path, const char *comment);

/* For programs that read many (bench/convex_problems.py says how it is laid out). */
typedef struct convex_answer {
    int outcome; /* perp_outcome; -1: none */
    double seconds;
    perp_convex_point point;
} convex_answer;
bool convex_case_dump(const convex_case *c, int index, const convex_answer *answer, FILE *out);

#endif
