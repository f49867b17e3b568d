/* perp/problem_yaml.h - complementarity, convex and friction problems from YAML text (JSON is YAML), strictly.
 *
 *     kind: lcp                       kind: mlcp                      kind: mcp
 *     M: [[2, 1], [1, 2]]             M: {rows: 2, cols: 2,           M: [[2, 1], [1, 2]]
 *     q: [-5, -6]                         triplets: [[0, 0, 2.0],     q: [-5, -6]
 *                                                    [1, 1, 2.0]]}    lower: [0, -.inf]
 *                                     q: [-5, -6]                     upper: [.inf, 1]
 *                                     free: [1]
 *
 *     kind: qp                        kind: cone-qp                   kind: lp
 *     H: [[2, 0], [0, 2]]             H: [[2, 0], [0, 2]]             g: [1, 1]
 *     g: [-2, -5]                     g: [-2, -5]                     A: [[1, 2], [3, 1]]
 *     A: [[1, -2]]                    cones:                          b: [4, 6]
 *     b: [-2]                           - {A: [[1, 0], [0, 1]],       C: [[1, -1]]
 *     lower: [0, -.inf]                    b: [1, 0]}                 d: [0]
 *
 *     kind: friction
 *     dim: 2                          rows of a contact: 2 (n, t) or 3 (n, t, o)
 *     W: [[2, 0], [0, 2]]
 *     q: [-8, 4]
 *     mu: [0.25]                      one for each contact
 *
 * with the meaning that perp/problem.h gives the keys. Of a convex problem g is needed (it says how many unknowns there
 * are), of a qp H, of a cone-qp `cones`; A comes with b and C with d.
 *
 * Indices count from 0. Triplets with the same place add up, as sparse matrices are usually assembled. A problem has at
 * least one row or unknown: the library takes none as well, but in a file that is a mistake. Every error of a file is
 * reported in one go with file, line and column.
 */
#ifndef PERP_PROBLEM_YAML_H
#define PERP_PROBLEM_YAML_H

#include <perp/problem.h>
#include <perp/yaml.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Matrices are stored dense: 128 MB at this size. Of a convex problem it limits the unknowns, and its square the
 * entries of A, of C and of all cones. */
enum { PERP_PROBLEM_MAX_SIZE = 4000 };

typedef enum perp_problem_kind {
    PERP_PROBLEM_LCP,
    PERP_PROBLEM_MLCP,
    PERP_PROBLEM_MCP,
    PERP_PROBLEM_QP,
    PERP_PROBLEM_CONE_QP,
    PERP_PROBLEM_LP,
    PERP_PROBLEM_FRICTION,
    PERP_PROBLEM_KIND_COUNT
} perp_problem_kind;

/* "lcp", "mlcp", "mcp", "qp", "cone-qp", "lp", "friction". */
PERP_API const char *perp_problem_kind_name(perp_problem_kind kind);
/* A qp, a cone-qp or an lp. */
PERP_API bool perp_problem_is_convex(perp_problem_kind kind);

typedef struct perp_problem_memory perp_problem_memory;

/* The member that `kind` names is set (an lp is a qp without H), and passes its perp_*_check; its arrays live as long
 * as the problem. */
typedef struct perp_problem {
    perp_problem_kind kind;
    union {
        perp_lcp lcp;
        perp_mlcp mlcp;
        perp_mcp mcp;
        perp_qp qp;
        perp_cone_qp cone_qp;
        perp_friction friction;
    };
    int hessian_line, hessian_column; /* where H stands, for what is found wrong with it later; 0: there is none */
    perp_problem_memory *memory;
} perp_problem;

PERP_API int perp_problem_size(const perp_problem *problem);
/* The scaled residual of an lcp, mlcp or mcp (of z) or of friction (of r). */
PERP_API double perp_problem_residual(const perp_problem *problem, const double *z);

/* On OK `*problem` is owned by the caller; otherwise it is NULL and `diagnostics` says why (BAD_INPUT, OUT_OF_MEMORY).
 * `name` stands for the file in messages. `allocator` NULL: malloc. Call with a zero-initialised list. */
PERP_API perp_status perp_problem_load_text(const char *text, size_t length, const char *name,
                                            const perp_allocator *allocator, perp_problem **problem,
                                            perp_diagnostics *diagnostics);
/* A file whose name ends in .dat is one of the text files in which Siconos keeps local friction problems, W dense, in
 * blocks or sparse: its q, W, mu and law are those of perp_friction. Any other is YAML. */
PERP_API perp_status perp_problem_load_file(const char *path, const perp_allocator *allocator, perp_problem **problem,
                                            perp_diagnostics *diagnostics);
PERP_API void perp_problem_free(perp_problem *problem); /* NULL allowed */

#ifdef __cplusplus
}
#endif
#endif
