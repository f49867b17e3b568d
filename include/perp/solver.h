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
#include <perp/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum perp_outcome {
    PERP_OUTCOME_SOLVED,     /* the residual was evaluated on the returned point and holds */
    PERP_OUTCOME_RAY,        /* the method ended on a ray; the ray is the evidence */
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
    double tolerance;   /* on the scaled residual; default 1e-8, at least 1e-12 */
    const char *method; /* of perp_lcp_method_name: that one alone; NULL: the cascade. Not used by perp_lcp_lemke */
    int max_pivots; /* of one attempt; default 0: max(1000, 50 n), at least 2^12 + 100 so that Murty's n = 12 ends */
    const double *covering;      /* n positive numbers; NULL: ones, after scaling of the rows */
    const int *warm_basis;       /* n entries, 1 where z_i is basic, 0 where w_i is, 2 at an upper bound; NULL: cold */
    const volatile bool *cancel; /* honoured within one pivot; NULL: never */
} perp_lcp_settings;

PERP_API perp_lcp_settings perp_lcp_settings_default(void);

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

/* Lemke's method with lexicographic ties: one attempt, with the covering vector and the start of the settings. */
PERP_API perp_status perp_lcp_lemke(const perp_lcp *problem, const perp_lcp_settings *settings,
                                    perp_lcp_workspace *workspace, perp_lcp_solution *solution, perp_lcp_info *info,
                                    perp_error *error);

/* The cascade: Lemke, then what can mend its failure, switching on the residual; reports what it tried. */
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

/* ---- all solutions of a small lcp -------------------------------------------------------------------------------- */

/* One maximal face of the solution set: the hull of `vertex_count` vertices plus the cone of `ray_count` rays, both n
 * wide, row by row. */
typedef struct perp_lcp_face {
    int vertex_count, ray_count;
    const double *vertices, *rays;
} perp_lcp_face;

typedef struct perp_lcp_solution_set {
    int n, face_count;
    const perp_lcp_face *faces; /* without duplicates, none inside another; ordered lexicographically by first vertex */
    bool complete;              /* false: there may be more: the limit on nodes ended the search, or a face was left
                                   out because a vertex of it misses the tolerance or rounding spoilt a decision */
    int64_t nodes;              /* faces of the feasible set looked at */
    struct perp_lcp_solution_set_memory *memory;
} perp_lcp_solution_set;

typedef struct perp_lcp_enumerate_settings {
    double tolerance;  /* on the scaled residual; default 1e-8 */
    int64_t max_nodes; /* default 2,000,000 */
    const volatile bool *cancel;
} perp_lcp_enumerate_settings;

PERP_API perp_lcp_enumerate_settings perp_lcp_enumerate_settings_default(void);

/* All solutions of 0 <= M z + q _|_ z >= 0; n = 0 has one, the empty point. Vertices in the problem's units, every one
 * judged by perp_lcp_residual; rays with a largest entry of 1; both in lexicographic order. Solutions nearer to each
 * other than about 1e-10 of the problem's scale count as one. CAPACITY beyond n = 40, and where a face has more than
 * 20,000 corners; CANCELLED. Allocates: this is analysis, not a step. `*set` is NULL unless the status is OK. */
PERP_API perp_status perp_lcp_enumerate(const perp_lcp *problem, const perp_lcp_enumerate_settings *settings,
                                        const perp_allocator *allocator, perp_lcp_solution_set **set,
                                        perp_error *error);
PERP_API void perp_lcp_solution_set_free(perp_lcp_solution_set *set); /* NULL allowed */

/* ---- P-matrices ------------------------------------------------------------------------------------------------ */

typedef enum perp_pmatrix_verdict {
    PERP_PMATRIX_P,      /* every principal minor is positive: the lcp has exactly one solution for every q */
    PERP_PMATRIX_NOT_P,  /* `minor` is not positive */
    PERP_PMATRIX_UNKNOWN /* beyond the size limit and no test decides, or too near to call in double precision */
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
    int max_n; /* of the exact test, which takes 2^n; default 28, at most 64 */
    const volatile bool *cancel;
} perp_pmatrix_settings;

PERP_API perp_pmatrix_settings perp_pmatrix_settings_default(void);

/* `m` is n x n. The verdicts P and NOT_P are about the matrix as given, whatever the rounding: what bounds on it leave
 * open is decided by exact determinants, and where that would take too long the verdict is UNKNOWN. Allocates its
 * scratch. BAD_INPUT (not finite), OUT_OF_MEMORY, CANCELLED. */
PERP_API perp_status perp_pmatrix_test(int n, const double *m, const perp_pmatrix_settings *settings,
                                       const perp_allocator *allocator, perp_pmatrix_result *result, perp_error *error);

#ifdef __cplusplus
}
#endif
#endif
