/* perp/trace.h - what a run or a solved problem leaves behind: one JSON result, CSV files.
 *
 * Nothing half-written is ever left under a final name: files are written beside their place and renamed when complete.
 */
#ifndef PERP_TRACE_H
#define PERP_TRACE_H

#include <perp/solver.h>
#include <perp/step.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The result of a run as one JSON object, zero-terminated text owned by the caller (perp_text_free). `model`, `state`
 * and `result` may be NULL where the run never started; `failure` is NULL if it succeeded. NULL if out of memory. */
PERP_API char *perp_result_json(const perp_model *model, const perp_state *state, const perp_run_result *result,
                                const perp_error *failure);
/* The diagnostics of a scene as one JSON object, likewise. `model` NULL: the scene was refused. */
PERP_API char *perp_check_json(const perp_model *model, const perp_diagnostics *diagnostics);

/* What became of one complementarity problem. */
typedef struct perp_solve_report {
    int n;
    const perp_lcp_info *info;
    const double *z, *w; /* n each */
    const double *ray;   /* 2 n, as in perp_lcp_solution; NULL: none */
    double time_us;
    const perp_lcp_solution_set *set; /* all solutions, in the problem's own variables; NULL: not asked for */
} perp_solve_report;

/* The report as one JSON object, likewise. `report` NULL: the problem was refused, and `failure` says why; otherwise
 * `failure` (may be NULL) stands beside the result. */
PERP_API char *perp_solve_json(const perp_solve_report *report, const perp_error *failure);

/* What became of one convex problem: a qp (lps are qps) or a cone qp. */
typedef struct perp_convex_report {
    const perp_qp *qp;           /* or NULL, and */
    const perp_cone_qp *cone_qp; /* this one is set */
    const perp_convex_info *info;
    const perp_convex_point *point; /* as the solver left it: a point, a proof or a direction, as the outcome says */
    double time_us;
} perp_convex_report;

/* Likewise. Of a problem without a solution x and the multipliers are empty, and the evidence stands in `certificate`:
 * `farkas`, multipliers as perp_*_infeasibility takes them, or `direction`, and its `measure`. */
PERP_API char *perp_convex_json(const perp_convex_report *report, const perp_error *failure);

/* What became of one friction problem. */
typedef struct perp_friction_report {
    const perp_friction *problem;
    const perp_friction_info *info;
    const double *r, *u; /* contacts * dim; of an infeasible problem they are not looked at */
    double time_us;
    double tolerance; /* that the modes of the contacts are told with: perp_friction_modes */
} perp_friction_report;

/* Likewise. Of a problem without a solution r, u and `modes` are empty, and `certificate` has the `measure`. */
PERP_API char *perp_friction_json(const perp_friction_report *report, const perp_error *failure);
PERP_API void perp_text_free(char *text); /* NULL allowed */

/* The version of jansson that is used; a string constant. */
PERP_API const char *perp_json_version(void);

/* state.csv and contacts.csv in a folder, written while a run goes on; and trust.csv, if a step has a certificate. */
typedef struct perp_csv perp_csv;

/* Makes the folder if it is missing (not its parents) and opens the files under temporary names. IO says what failed.
 */
PERP_API perp_status perp_csv_open(const perp_model *model, const char *folder, perp_csv **csv, perp_error *error);
/* A perp_observer whose context is the perp_csv; stops the run at the first failed write. */
PERP_API bool perp_csv_observe(void *csv, int step, const perp_state *state, const perp_step_info *info);
/* Completes the files and gives them their names, all or none as far as the file system allows. Frees the writer. */
PERP_API perp_status perp_csv_commit(perp_csv *csv, perp_error *error);
/* Removes what was written; files of an earlier run stay as they were. Frees the writer. NULL allowed. */
PERP_API void perp_csv_abandon(perp_csv *csv);

#ifdef __cplusplus
}
#endif
#endif
