/* perp/solver.h - solvers. Each takes settings (with a default function), a problem, a workspace that is sized once,
 * and fills a solution and an info: five types per problem class. Nothing allocates while solving. Settings may be NULL
 * for the defaults.
 *
 * An outcome is a result, not an error of the program: the functions return OK whenever they answered, and the info
 * says how. They return BAD_INPUT where the problem is not one (NaN, sizes), and CAPACITY where the workspace is too
 * small.
 */
#ifndef PERP_SOLVER_H
#define PERP_SOLVER_H

#include <perp/base.h>
#include <perp/linalg.h>
#include <perp/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum perp_outcome {
    PERP_OUTCOME_SOLVED, /* the residual was evaluated on the returned point and holds; and no row, though small beside
                            its own large terms, is off by more than 1e-4 of 1 + its constant (docs/solvers.md) */
    PERP_OUTCOME_RAY,    /* the method ended on a ray; the ray is the evidence */
    PERP_OUTCOME_INFEASIBLE, /* proven: no point meets the inequalities */
    PERP_OUTCOME_UNBOUNDED,
    PERP_OUTCOME_ITERATION_LIMIT,
    PERP_OUTCOME_ILL_CONDITIONED, /* a point was found but misses the residual, or a basis could not be factored */
    PERP_OUTCOME_CANCELLED,
    PERP_OUTCOME_COUNT
} perp_outcome;

/* "solved", "ray", "infeasible", "unbounded", "iteration-limit", "ill-conditioned", "cancelled". */
PERP_API const char *perp_outcome_name(perp_outcome outcome);

/* ---- linear complementarity ------------------------------------------------------------------------------------ */

typedef struct perp_lcp_settings {
    size_t size;        /* of this struct; see perp/base.h */
    double tolerance;   /* on the residual; default 1e-8, at least 1e-12 */
    const char *method; /* of perp_lcp_method_name: that one alone; NULL: the cascade */
    int max_pivots; /* of one attempt; default 0: 50 n, but at least 4196 = 2^12 + 100 (so that Murty's n = 12 ends) and
                       at most 1,000,000 */
    const double *covering;      /* n positive numbers; NULL: ones, after scaling of the rows */
    const int *warm_basis;       /* n entries, 1 where z_i is basic, 0 where w_i is, 2 at an upper bound; NULL: cold */
    const volatile bool *cancel; /* honoured within one pivot; NULL: never */
    bool relative; /* the residual's scales without the 1: also what is small in its unit has to hold; default false */
} perp_lcp_settings;

static inline perp_lcp_settings perp_lcp_settings_default(void)
{
    perp_lcp_settings r;
    memset(&r, 0, sizeof r);
    r.size = sizeof r;
    r.tolerance = 1e-8;
    return r;
}

/* The caller's arrays, n each; `ray` and `basis` may be NULL. */
typedef struct perp_lcp_solution {
    double *z, *w;
    double *ray; /* 2 n. RAY: direction of (z, w) along the secondary ray. INFEASIBLE: the proof, n numbers u (u >= 0,
                    M'u <= 0, q'u < 0 for an lcp, without any tolerance; docs/solvers.md for the others), then M'u */
    int *basis;  /* n: as settings.warm_basis, for the next warm start */
} perp_lcp_solution;

enum { PERP_SOLVER_TRIED_MAX = 16 };

typedef struct perp_lcp_info {
    perp_outcome outcome;
    const char *method; /* that gave the answer: a string constant, as `perp solve --list` prints it */
    int tried_count;
    const char *tried[PERP_SOLVER_TRIED_MAX]; /* in order */
    double residual;                          /* of the returned point */
    int pivots;                               /* of all attempts */
    int refactorisations;
} perp_lcp_info;

typedef struct perp_lcp_workspace perp_lcp_workspace;

/* For problems up to n. OUT_OF_MEMORY, BAD_INPUT for n < 0. */
PERP_API perp_status perp_lcp_workspace_create(int n, const perp_allocator *allocator, perp_lcp_workspace **workspace,
                                               perp_error *error);
PERP_API void perp_lcp_workspace_free(perp_lcp_workspace *workspace); /* NULL allowed */

/* The cascade: Lemke with the covering vector and the start of the settings (method "lemke" is that alone), then what
 * can mend its failure, switching on the residual; reports what it tried. */
PERP_API perp_status perp_lcp_solve(const perp_lcp *problem, const perp_lcp_settings *settings,
                                    perp_lcp_workspace *workspace, perp_lcp_solution *solution, perp_lcp_info *info,
                                    perp_error *error);

/* The methods that the cascade has, in its order: a name and one line about it; string constants, NULL beyond the
 * count. */
PERP_API int perp_lcp_method_count(void);
PERP_API const char *perp_lcp_method_name(int index);
PERP_API const char *perp_lcp_method_summary(int index);

/* The same for problems with free variables (pivoted in first) and with bounds. z and w in full length and input order;
 * an mcp's w is M z + q. */
PERP_API perp_status perp_mlcp_solve(const perp_mlcp *problem, const perp_lcp_settings *settings,
                                     perp_lcp_workspace *workspace, perp_lcp_solution *solution, perp_lcp_info *info,
                                     perp_error *error);
PERP_API perp_status perp_mcp_solve(const perp_mcp *problem, const perp_lcp_settings *settings,
                                    perp_lcp_workspace *workspace, perp_lcp_solution *solution, perp_lcp_info *info,
                                    perp_error *error);

/* ---- all solutions of a small problem ---------------------------------------------------------------------------- */

/* The largest lcp that is enumerated. Other classes count as the lcp that they amount to: a row for each variable with
 * a bound, two for one with both. Free variables do not count. */
enum { PERP_LCP_ENUMERATE_MAX_N = 40 };

/* One maximal face of the solution set: the hull of `vertex_count` vertices plus the cone of `ray_count` rays, both n
 * wide, row by row. A direction in which the face goes on both ways (only free variables that no row depends on give
 * one) is two opposite rays; the vertices are then points of the face's smallest faces, one of each. */
typedef struct perp_lcp_face {
    int vertex_count, ray_count;
    const double *vertices, *rays;
} perp_lcp_face;

typedef struct perp_lcp_solution_set {
    int n, face_count;
    const perp_lcp_face *faces; /* without duplicates, none inside another; ordered lexicographically by first vertex */
    bool complete;              /* false: there may be more, because
                                   - max_nodes ended the search, or 100,000 faces were found;
                                   - a vertex of a face misses the tolerance, so that the face was left out;
                                   - an entry that is not zero counts as zero: in the data once scaled, or in a
                                     pivot on which an answer rested and whose exact sign lets a solution be, as far
                                     away as it is small;
                                   - pivots ran out, or a basis computed afresh disagrees with its updated form */
    int64_t nodes;              /* faces of the feasible set looked at */
    struct perp_lcp_solution_set_memory *memory;
} perp_lcp_solution_set;

typedef struct perp_lcp_enumerate_settings {
    size_t size;       /* of this struct; see perp/base.h */
    double tolerance;  /* on the residual; default 1e-8, at least 1e-12 */
    int64_t max_nodes; /* default 2,000,000 */
    /* Of two corners with a third, over all faces, by which it is found which ones an edge joins; default 0: without
     * end. Nodes and comparisons are what an enumeration takes its time for. */
    int64_t max_comparisons;
    const volatile bool *cancel;
    bool relative; /* the residual's scales without the 1; default false */
} perp_lcp_enumerate_settings;

static inline perp_lcp_enumerate_settings perp_lcp_enumerate_settings_default(void)
{
    perp_lcp_enumerate_settings r;
    memset(&r, 0, sizeof r);
    r.size = sizeof r;
    r.tolerance = 1e-8;
    r.max_nodes = 2000000;
    return r;
}

/* All solutions of 0 <= M z + q _|_ z >= 0; n = 0 has one, the empty point. Vertices in the problem's units, every one
 * judged by perp_lcp_residual; rays with a largest entry of 1; both in lexicographic order.
 *
 * Rows and columns are scaled to largest entries near 1, and q to at most that; then entries below 1e-10 count as zero,
 * which makes the set incomplete unless they are rounding (entries of q up to 1e-15). M is taken to the last bit: one
 * that has a low rank but for rounding may have solutions of some 1e16, and is then not complete. Vertices that differ
 * by less than rounding times the condition of their bases are not told apart.
 *
 * BAD_INPUT; CAPACITY beyond PERP_LCP_ENUMERATE_MAX_N, where a face has more than 20,000 corners, and beyond
 * max_comparisons; CANCELLED; OUT_OF_MEMORY. Allocates: this is analysis, not a step. `*set` is NULL unless the status
 * is OK. */
PERP_API perp_status perp_lcp_enumerate(const perp_lcp *problem, const perp_lcp_enumerate_settings *settings,
                                        const perp_allocator *allocator, perp_lcp_solution_set **set,
                                        perp_error *error);
/* The same with bounds, and for an mlcp by way of perp_mlcp_as_mcp: vertices are judged by perp_mcp_residual, entries
 * of rays have either sign and a largest magnitude of 1. A block of free variables may be singular. A variable that is
 * at a bound all over a face has exactly its value there. */
PERP_API perp_status perp_mcp_enumerate(const perp_mcp *problem, const perp_lcp_enumerate_settings *settings,
                                        const perp_allocator *allocator, perp_lcp_solution_set **set,
                                        perp_error *error);
PERP_API void perp_lcp_solution_set_free(perp_lcp_solution_set *set); /* NULL allowed */

/* ---- P-matrices ------------------------------------------------------------------------------------------------ */

typedef enum perp_pmatrix_verdict {
    PERP_PMATRIX_P,      /* every principal minor is positive: the lcp has exactly one solution for every q */
    PERP_PMATRIX_NOT_P,  /* `minor` is not positive */
    PERP_PMATRIX_UNKNOWN /* beyond the size limit and no test decides, or exact determinants would take too long */
} perp_pmatrix_verdict;

typedef struct perp_pmatrix_result {
    perp_pmatrix_verdict verdict;
    const char *test;   /* that decided: "minors" (of one or two rows), "definite", "h-matrix", "schur"; else "none" */
    uint64_t minor;     /* NOT_P: the index set of an offending principal minor, bit i for row i; 0 if n > 64 */
    double minor_value; /* its determinant, zero or negative, correctly rounded but for the last bits */
    bool p0_known, p0;  /* every principal minor >= 0, where it comes for free */
    bool column_sufficient_known, column_sufficient;
} perp_pmatrix_result;

typedef struct perp_pmatrix_settings {
    size_t size; /* of this struct; see perp/base.h */
    int max_n;   /* of the exact test, which takes 2^n; default 28, at most 64 */
    const volatile bool *cancel;
} perp_pmatrix_settings;

static inline perp_pmatrix_settings perp_pmatrix_settings_default(void)
{
    perp_pmatrix_settings r;
    memset(&r, 0, sizeof r);
    r.size = sizeof r;
    r.max_n = 28;
    return r;
}

/* `m` is n x n. The verdicts P and NOT_P are about the matrix as given, whatever the rounding: what bounds on it leave
 * open is decided by exact determinants, and where that would take too long the verdict is UNKNOWN. Allocates its
 * scratch. BAD_INPUT (not finite), OUT_OF_MEMORY, CANCELLED. */
PERP_API perp_status perp_pmatrix_test(int n, const double *m, const perp_pmatrix_settings *settings,
                                       const perp_allocator *allocator, perp_pmatrix_result *result, perp_error *error);

/* ---- convex problems -------------------------------------------------------------------------------------------- */

typedef struct perp_convex_settings {
    size_t size;        /* of this struct; see perp/base.h */
    double tolerance;   /* on the largest residual; default 1e-8, at least 1e-12 */
    const char *method; /* of perp_convex_method_name: that one alone; NULL: the cascade */
    int max_iterations; /* of one attempt; default 0: 100 for the interior point, 10 (n + rows) + 100 for the dual */
    bool minimum_norm;  /* default true: of all multipliers those of least norm (a contact qp's in its slacks' units) */
    const perp_convex_point *warm; /* a solution of the previous, similar problem, of the same sizes; NULL: cold */
    const volatile bool *cancel;   /* honoured within one iteration; NULL: never */
    bool relative;                 /* the residual's scales without the 1; default false */
} perp_convex_settings;

static inline perp_convex_settings perp_convex_settings_default(void)
{
    perp_convex_settings r;
    memset(&r, 0, sizeof r);
    r.size = sizeof r;
    r.tolerance = 1e-8;
    r.minimum_norm = true;
    return r;
}

typedef struct perp_convex_info {
    perp_outcome outcome;
    const char *method; /* that gave the answer: a string constant, as `perp solve --list` prints it */
    int tried_count;
    const char *tried[PERP_SOLVER_TRIED_MAX]; /* in order */
    perp_convex_residual residual;            /* of the returned point */
    double objective;                         /* at the returned point */
    double certificate; /* INFEASIBLE, UNBOUNDED: perp_*_infeasibility, perp_*_unboundedness of it; else 0 */
    int iterations;     /* of all attempts */
    int factorisations; /* likewise */
    bool minimum_norm;  /* the multipliers are those of least norm */
} perp_convex_info;

/* Memory for convex problems. A new one is empty; reserve makes it large enough for a problem and for all that are no
 * larger in any count and have nonzeros in the same places (or no more fill in the factors). Reserving for a problem
 * that fits takes no memory. One thread at a time. */
typedef struct perp_convex_workspace perp_convex_workspace;

PERP_API perp_status perp_convex_workspace_create(const perp_allocator *allocator, perp_convex_workspace **workspace,
                                                  perp_error *error);
PERP_API void perp_convex_workspace_free(perp_convex_workspace *workspace); /* NULL allowed */
PERP_API perp_status perp_qp_reserve(const perp_qp *problem, perp_convex_workspace *workspace, perp_error *error);
PERP_API perp_status perp_cone_qp_reserve(const perp_cone_qp *problem, perp_convex_workspace *workspace,
                                          perp_error *error);
PERP_API perp_status perp_contact_qp_reserve(const perp_contact_qp *problem, perp_convex_workspace *workspace,
                                             perp_error *error);

/* Solved by the interior point and polished on its active set; for small strictly convex qps by the dual active set.
 * `solution` has the caller's arrays. SOLVED: the point. INFEASIBLE: y and the other multipliers are the proof, scaled
 * as perp_*_infeasibility says. UNBOUNDED: x is the direction. Else the best point that was found. Numbers are finite
 * whatever the outcome. BAD_INPUT also where H turns out to be indefinite; CAPACITY where nothing was reserved. */
PERP_API perp_status perp_qp_solve(const perp_qp *problem, const perp_convex_settings *settings,
                                   perp_convex_workspace *workspace, perp_convex_point *solution,
                                   perp_convex_info *info, perp_error *error);
PERP_API perp_status perp_cone_qp_solve(const perp_cone_qp *problem, const perp_convex_settings *settings,
                                        perp_convex_workspace *workspace, perp_convex_point *solution,
                                        perp_convex_info *info, perp_error *error);
PERP_API perp_status perp_contact_qp_solve(const perp_contact_qp *problem, const perp_convex_settings *settings,
                                           perp_convex_workspace *workspace, perp_convex_point *solution,
                                           perp_convex_info *info, perp_error *error);

/* A contact qp with softened constraints (perp_contact_qp_barrier_residual), by Newton's method towards the central
 * path. `solution` has x, and the barrier's forces as multipliers. Of the settings tolerance, max_iterations (default
 * 0: 200) and cancel count. SOLVED, ITERATION_LIMIT (also where there is no minimum: nothing inside, or without end),
 * ILL_CONDITIONED, CANCELLED. */
PERP_API perp_status perp_contact_qp_barrier(const perp_contact_qp *problem, double kappa,
                                             const perp_convex_settings *settings, perp_convex_workspace *workspace,
                                             perp_convex_point *solution, perp_convex_info *info, perp_error *error);

PERP_API int perp_convex_method_count(void);
PERP_API const char *perp_convex_method_name(int index);
PERP_API const char *perp_convex_method_summary(int index);

/* ---- nonlinear mcp ----------------------------------------------------------------------------------------------- */

typedef struct perp_mcp_newton_settings {
    size_t size;            /* of this struct; see perp/base.h */
    double tolerance;       /* on perp_nonlinear_mcp_residual; default 1e-8, at least 1e-12 */
    const char *method;     /* of perp_mcp_newton_method_name: that one alone; NULL: the cascade */
    int max_iterations;     /* of one attempt; default 0: 200 */
    int max_factorisations; /* of all attempts: the cap on a hard problem's time, the same on every machine and run;
                               a path search counts as one; default 0: 5000 */
    const double *start;    /* n, moved between the bounds; NULL: the point there that is nearest to 0 */
    const volatile bool *cancel; /* honoured within one iteration; NULL: never */
} perp_mcp_newton_settings;

static inline perp_mcp_newton_settings perp_mcp_newton_settings_default(void)
{
    perp_mcp_newton_settings r;
    memset(&r, 0, sizeof r);
    r.size = sizeof r;
    r.tolerance = 1e-8;
    return r;
}

/* The caller's arrays, n each: the point, between its bounds, and F there. */
typedef struct perp_mcp_newton_solution {
    double *z, *f;
} perp_mcp_newton_solution;

typedef struct perp_mcp_newton_info {
    perp_outcome outcome; /* SOLVED, ITERATION_LIMIT, ILL_CONDITIONED (no step improves the point, or F is not defined
                             where it was asked), CANCELLED */
    const char *method;   /* that gave the answer: a string constant */
    int tried_count;
    const char *tried[PERP_SOLVER_TRIED_MAX]; /* in order */
    double residual;                          /* of the returned point; infinite where F is defined at none: f is 0 */
    int iterations, factorisations;           /* of all attempts */
    int evaluations;                          /* of F, with or without the Jacobian */
    int pivots;                               /* of path searches */
} perp_mcp_newton_info;

typedef struct perp_mcp_newton_workspace perp_mcp_newton_workspace;

/* The largest problem whose workspace has room for path searches, which are dense. */
enum { PERP_MCP_NEWTON_PATH_MAX_N = 600 };

/* For problems of the size of `problem`, and with its pattern if it has one. `linear_solver` factors matrices with that
 * pattern (perp_sparse_linear_solver); NULL, or without a pattern: dense LU. Only n and the pattern are read, and
 * copied. One thread at a time. BAD_INPUT, CAPACITY, OUT_OF_MEMORY. */
PERP_API perp_status perp_mcp_newton_workspace_create(const perp_nonlinear_mcp *problem,
                                                      const perp_linear_solver *linear_solver,
                                                      const perp_allocator *allocator,
                                                      perp_mcp_newton_workspace **workspace, perp_error *error);
PERP_API void perp_mcp_newton_workspace_free(perp_mcp_newton_workspace *workspace); /* NULL allowed */

/* Semismooth Newton on the Fischer-Burmeister equations, and what mends its failures (docs/solvers.md). F is evaluated
 * between the bounds only. Numbers are finite whatever the outcome, but for info->residual. CAPACITY where size or
 * pattern are not the workspace's. Takes no memory but what `linear_solver` takes. */
PERP_API perp_status perp_mcp_newton(const perp_nonlinear_mcp *problem, const perp_mcp_newton_settings *settings,
                                     perp_mcp_newton_workspace *workspace, perp_mcp_newton_solution *solution,
                                     perp_mcp_newton_info *info, perp_error *error);

PERP_API int perp_mcp_newton_method_count(void);
PERP_API const char *perp_mcp_newton_method_name(int index);
PERP_API const char *perp_mcp_newton_method_summary(int index);

/* ---- Coulomb friction ------------------------------------------------------------------------------------------- */

typedef struct perp_friction_settings {
    size_t size;            /* of this struct; see perp/base.h */
    double tolerance;       /* on the residual of the class; default 1e-8, at least 1e-12 */
    const char *method;     /* of perp_friction_method_name: that one alone; NULL: the cascade */
    int max_iterations;     /* of one attempt; default 0: each method's own */
    int max_factorisations; /* of all attempts: the cap on a hard problem's time, the same on every machine and run;
                               default 0: 40,000, and fewer of large problems */
    bool minimum_norm;      /* default true: of all forces with these motions and modes those of least norm */
    const double *warm_r;   /* friction: r of a similar problem; NULL: cold */
    const perp_convex_point *warm; /* contact friction: likewise */
    const volatile bool *cancel;   /* honoured within one iteration; NULL: never */
    bool relative;                 /* the residual's scales without the 1; default false */
} perp_friction_settings;

static inline perp_friction_settings perp_friction_settings_default(void)
{
    perp_friction_settings r;
    memset(&r, 0, sizeof r);
    r.size = sizeof r;
    r.tolerance = 1e-8;
    r.minimum_norm = true;
    return r;
}

typedef struct perp_friction_info {
    perp_outcome outcome; /* SOLVED, INFEASIBLE (no forces balance f, or no v opens the contacts; of a local problem, no
                             forces do; `certificate`),
                             ITERATION_LIMIT, ILL_CONDITIONED, CANCELLED */
    const char *method;
    int tried_count;
    const char *tried[PERP_SOLVER_TRIED_MAX];
    double residual;                      /* of the returned point: the largest part */
    perp_contact_friction_residual parts; /* contact friction */
    double certificate;                   /* INFEASIBLE: its measure, as perp_contact_qp_infeasibility */
    int iterations, factorisations;       /* of all attempts */
    bool minimum_norm;
} perp_friction_info;

typedef struct perp_friction_workspace perp_friction_workspace;

/* As for convex problems: reserve makes it large enough for problems like this one. */
PERP_API perp_status perp_friction_workspace_create(const perp_allocator *allocator,
                                                    perp_friction_workspace **workspace, perp_error *error);
PERP_API void perp_friction_workspace_free(perp_friction_workspace *workspace); /* NULL allowed */
PERP_API perp_status perp_friction_reserve(const perp_friction *problem, perp_friction_workspace *workspace,
                                           perp_error *error);
PERP_API perp_status perp_contact_friction_reserve(const perp_contact_friction *problem,
                                                   perp_friction_workspace *workspace, perp_error *error);

/* r and u have contacts * dim. Numbers are finite whatever the outcome. */
PERP_API perp_status perp_friction_solve(const perp_friction *problem, const perp_friction_settings *settings,
                                         perp_friction_workspace *workspace, double *r, double *u,
                                         perp_friction_info *info, perp_error *error);
PERP_API perp_status perp_contact_friction_solve(const perp_contact_friction *problem,
                                                 const perp_friction_settings *settings,
                                                 perp_friction_workspace *workspace, perp_convex_point *solution,
                                                 perp_friction_info *info, perp_error *error);

/* Visco-elastic contacts at given normal forces, as Coulomb's problem that has those for its normal forces. Settings,
 * info and workspace are those of friction problems; warm_r is an x. x and slip have elements dim; x is in its discs.
 * SOLVED says that perp_friction_qp_residual of x is at most the tolerance. BAD_INPUT also where H is not positive
 * definite, or the tolerance is below 4e-12. */
typedef struct perp_friction_qp_workspace perp_friction_qp_workspace;
PERP_API perp_status perp_friction_qp_workspace_create(const perp_allocator *allocator,
                                                       perp_friction_qp_workspace **workspace, perp_error *error);
PERP_API void perp_friction_qp_workspace_free(perp_friction_qp_workspace *workspace); /* NULL allowed */
PERP_API perp_status perp_friction_qp_reserve(const perp_friction_qp *problem, perp_friction_qp_workspace *workspace,
                                              perp_error *error);
PERP_API perp_status perp_friction_qp_solve(const perp_friction_qp *problem, const perp_friction_settings *settings,
                                            perp_friction_qp_workspace *workspace, double *x, double *slip,
                                            perp_friction_info *info, perp_error *error);

PERP_API int perp_friction_method_count(void);
PERP_API const char *perp_friction_method_name(int index);
PERP_API const char *perp_friction_method_summary(int index);

#ifdef __cplusplus
}
#endif
#endif
