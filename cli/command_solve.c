#include "cli.h"
#include "solve_all.h"
#include "solve_convex.h"
#include "solve_friction.h"
#include "solve_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char enumerate_name[] = "enumerate";
static const double finest_tolerance = 1e-12; /* that the settings of every solver may have */

/* ---- methods ----------------------------------------------------------------------------------------------------- */

/* Methods come in families: those of complementarity problems, of convex ones and of friction. */
typedef struct method_family {
    int (*count)(void);
    const char *(*name)(int index);
    const char *(*summary)(int index);
    const char *kinds;
    const char *order; /* without --method */
} method_family;

static const method_family families[] = {
    {perp_lcp_method_count, perp_lcp_method_name, perp_lcp_method_summary, "lcp, mlcp, mcp",
     "they are tried in this order until the residual holds"},
    {perp_convex_method_count, perp_convex_method_name, perp_convex_method_summary, "qp, cone-qp, lp",
     "ipm is taken, and for a qp that it does not settle dual"},
    {perp_friction_method_count, perp_friction_method_name, perp_friction_method_summary, "friction",
     "those that the problem allows are tried until the residual holds"},
};
enum { FAMILY_COUNT = sizeof families / sizeof *families };

static const method_family *family_of(perp_problem_kind kind)
{
    return &families[kind == PERP_PROBLEM_FRICTION ? 2 : perp_problem_is_convex(kind) ? 1 : 0];
}

static int list_methods(void)
{
    for (int k = 0; k < FAMILY_COUNT; k++) {
        const method_family *family = &families[k];
        printf("%s%-22s %s\n", k ? "\n" : "", "method", "what it does");
        for (int i = 0; i < family->count(); i++) {
            printf("%-22s %s\n", family->name(i), family->summary(i));
        }
        printf("\nKinds: %s. Without --method %s.\n", family->kinds, family->order);
    }
    printf("\nWith --all, not for --method:\n%-22s %s\n", enumerate_name,
           "all solutions of a small problem (lcp, mlcp, mcp)");
    return EXIT_DONE;
}

/* The method's name as the library has it, or NULL. */
static const char *find_method(const method_family *family, const char *name)
{
    for (int i = 0; i < family->count(); i++) {
        if (strcmp(family->name(i), name) == 0) {
            return family->name(i);
        }
    }
    return NULL;
}

static int unknown_method(const char *name)
{
    perp_nearest nearest = perp_nearest_begin(name);
    for (int k = 0; k < FAMILY_COUNT; k++) {
        for (int i = 0; i < families[k].count(); i++) {
            perp_nearest_offer(&nearest, families[k].name(i));
        }
    }
    return cli_fail(EXIT_USAGE, "solve: there is no method `%s`%s%s%s (perp solve --list)", name,
                    nearest.name ? "; did you mean `" : "", nearest.name ? nearest.name : "", nearest.name ? "`?" : "");
}

/* The dual active set has neither cones nor a way to start without curvature. */
static bool takes(const char *method, perp_problem_kind kind)
{
    return find_method(family_of(kind), method) && (kind == PERP_PROBLEM_QP || strcmp(method, "dual") != 0);
}

/* ---- usage ------------------------------------------------------------------------------------------------------- */

/* What the options say, before the kind of the problem is known. */
typedef struct solve_options {
    const char *method; /* of one of the families; NULL: all */
    double tolerance;
    bool all, json, relative;
} solve_options;

static int read_options(const cli_arguments *a, solve_options *o)
{
    const char *method = cli_value(a, "--method"), *tolerance = cli_value(a, "--tol");
    *o = (solve_options){.tolerance = perp_lcp_settings_default().tolerance,
                         .all = cli_value(a, "--all") != NULL,
                         .relative = cli_value(a, "--relative") != NULL,
                         .json = cli_value(a, "--json") != NULL};
    for (int k = 0; method && !o->method && k < FAMILY_COUNT; k++) {
        o->method = find_method(&families[k], method);
    }
    if (method && !o->method) {
        return unknown_method(method);
    }
    if (tolerance) {
        char *end;
        o->tolerance = strtod(tolerance, &end);
        const bool decimal = tolerance[strspn(tolerance, "0123456789.eE+-")] == '\0';
        if (end == tolerance || *end || !decimal || !isfinite(o->tolerance) || o->tolerance < finest_tolerance) {
            return cli_fail(EXIT_USAGE,
                            "solve: --tol needs a number of at least %g, below which a residual is rounding, not `%s`",
                            finest_tolerance, tolerance);
        }
    }
    return EXIT_DONE;
}

/* Options that are none for problems of this kind. */
static int check_options(const solve_options *o, perp_problem_kind kind)
{
    const method_family *family = family_of(kind);
    const char *name = perp_problem_kind_name(kind);
    if (o->all && family != &families[0]) {
        return cli_fail(EXIT_USAGE, "solve: --all is for the kinds %s, not for %s", families[0].kinds, name);
    }
    if (!o->method || takes(o->method, kind)) {
        return EXIT_DONE;
    }
    char names[256] = "";
    for (int i = 0; i < family->count(); i++) {
        if (takes(family->name(i), kind)) {
            const size_t length = strlen(names);
            snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "", family->name(i));
        }
    }
    return cli_fail(EXIT_USAGE, "solve: the method `%s` is not for the kind %s; these are: %s (perp solve --list)",
                    o->method, name, names);
}

/* ---- solving ----------------------------------------------------------------------------------------------------- */

typedef struct attempt {
    int n;
    double *z, *w, *ray, *w_scale;
    perp_lcp_info info;
    double time_us;
    bool answered; /* z, w and info are filled */
    all_solutions all;
    bool asked_all; /* `all.set` is filled, be it with nothing */
    bool enumerated;
} attempt;

static perp_status attempt_create(const perp_problem *problem, attempt *t, perp_error *error)
{
    memset(t, 0, sizeof *t);
    t->n = perp_problem_size(problem);
    const size_t n = (size_t)t->n;
    t->z = calloc(5 * n + 1, sizeof *t->z);
    if (!t->z) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory");
    }
    t->w = t->z + n;
    t->ray = t->w + n; /* of z and w: 2 n */
    t->w_scale = t->ray + 2 * n;
    return PERP_STATUS_OK;
}

static void attempt_free(attempt *t)
{
    free(t->z);
    all_solutions_free(&t->all);
}

static perp_status solve(const perp_problem *problem, const perp_lcp_settings *settings, attempt *t, perp_error *error)
{
    perp_lcp_workspace *workspace;
    perp_status status = perp_lcp_workspace_create(t->n, NULL, &workspace, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_lcp_solution solution = {.z = t->z, .w = t->w, .ray = t->ray};
    const double start = solve_microseconds();
    switch (problem->kind) {
    case PERP_PROBLEM_MLCP:
        status = perp_mlcp_solve(&problem->mlcp, settings, workspace, &solution, &t->info, error);
        break;
    case PERP_PROBLEM_MCP:
        status = perp_mcp_solve(&problem->mcp, settings, workspace, &solution, &t->info, error);
        break;
    default:
        status = perp_lcp_solve(&problem->lcp, settings, workspace, &solution, &t->info, error);
        break;
    }
    t->time_us = solve_microseconds() - start;
    t->answered = status == PERP_STATUS_OK;
    perp_lcp_workspace_free(workspace);
    return status;
}

/* M and q stand in the same places in all three classes. */
static perp_lcp as_lcp(const perp_problem *problem)
{
    perp_lcp r = {problem->mlcp.n, problem->mlcp.m, problem->mlcp.q};
    if (problem->kind == PERP_PROBLEM_LCP) {
        r = problem->lcp;
    } else if (problem->kind == PERP_PROBLEM_MCP) {
        r = (perp_lcp){problem->mcp.n, problem->mcp.m, problem->mcp.q};
    }
    return r;
}

/* Whether the solution that was found lies in one of the faces, to `tolerance`. */
static bool is_enumerated(const perp_problem *problem, const perp_lcp_settings *settings, attempt *t)
{
    const perp_lcp lcp = as_lcp(problem);
    double largest_q = 0.0, largest_z = 0.0;
    for (int i = 0; i < t->n; i++) {
        largest_q = fmax(largest_q, fabs(lcp.q[i]));
        largest_z = fmax(largest_z, fabs(t->z[i]));
    }
    for (int i = 0; i < t->n; i++) {
        t->w_scale[i] = 1.0 + largest_q;
        for (int j = 0; j < t->n; j++) {
            t->w_scale[i] += fabs(lcp.m[(size_t)i * (size_t)t->n + (size_t)j] * t->z[j]);
        }
    }
    const all_solutions_point point = {.z = t->z,
                                       .w = t->w,
                                       .w_scale = t->w_scale,
                                       .z_scale = 1.0 + largest_q + largest_z,
                                       .tolerance = settings->tolerance};
    return all_solutions_contain(&t->all, problem, &point, settings->cancel);
}

/* A P-matrix has a solution for every q, however near to singular it is: an enumeration that finds none has taken a
 * small pivot for zero. */
static bool must_have_a_solution(const perp_problem *problem, const perp_lcp_settings *settings)
{
    const perp_lcp lcp = as_lcp(problem);
    perp_pmatrix_settings test = perp_pmatrix_settings_default();
    perp_pmatrix_result result;
    test.cancel = settings->cancel;
    return perp_pmatrix_test(lcp.n, lcp.m, &test, NULL, &result, NULL) == PERP_STATUS_OK &&
           result.verdict == PERP_PMATRIX_P;
}

/* A solution that only the enumeration found is the answer; that it looked everywhere and found none is a proof, which
 * a ray alone is not. One that the enumeration missed says that it is not complete. */
static void take_from_enumeration(const perp_problem *problem, const perp_lcp_settings *settings, attempt *t)
{
    perp_lcp_info *info = &t->info;
    if (info->tried_count < PERP_SOLVER_TRIED_MAX) {
        info->tried[info->tried_count++] = enumerate_name;
    }
    if (info->outcome == PERP_OUTCOME_SOLVED) {
        t->all.set.complete = t->all.set.complete && is_enumerated(problem, settings, t);
    }
    if (info->outcome == PERP_OUTCOME_SOLVED || info->outcome == PERP_OUTCOME_CANCELLED) {
        return;
    }
    perp_lcp_solution_set *set = &t->all.set;
    if (set->face_count == 0) {
        set->complete = set->complete && !must_have_a_solution(problem, settings);
        if (set->complete) {
            info->outcome = PERP_OUTCOME_INFEASIBLE;
            info->method = enumerate_name;
        }
        return;
    }
    const perp_lcp lcp = as_lcp(problem);
    const double residual = perp_problem_residual(problem, set->faces[0].vertices);
    if (residual <= settings->tolerance) {
        memcpy(t->z, set->faces[0].vertices, (size_t)t->n * sizeof *t->z);
        perp_lcp_slack(&lcp, t->z, t->w);
        info->outcome = PERP_OUTCOME_SOLVED;
        info->method = enumerate_name;
        info->residual = residual;
    }
}

static perp_status solve_all(const perp_problem *problem, const perp_lcp_settings *settings, attempt *t,
                             perp_error *error)
{
    perp_lcp_enumerate_settings enumerate = perp_lcp_enumerate_settings_default();
    enumerate.tolerance = settings->tolerance;
    enumerate.relative = settings->relative;
    enumerate.cancel = settings->cancel;
    const double start = solve_microseconds();
    const perp_status status = all_solutions_find(problem, &enumerate, &t->all, error);
    t->time_us += solve_microseconds() - start;
    t->asked_all = true;
    t->enumerated = status == PERP_STATUS_OK;
    if (t->enumerated) {
        take_from_enumeration(problem, settings, t);
    }
    return status;
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

/* The points or the rays of a face, a line each. */
static void print_points(const char *head, const char *what, const double *points, int count, int n)
{
    for (int k = 0; k < count && k < SOLVE_LINES_SHOWN; k++) {
        solve_print_numbers(head, points + (size_t)k * (size_t)n, n);
    }
    if (count > SOLVE_LINES_SHOWN) {
        printf("    .. %d more %s\n", count - SOLVE_LINES_SHOWN, what);
    }
}

static void print_faces(const perp_lcp_solution_set *set)
{
    printf("solutions: %d %s%s\n", set->face_count, set->face_count == 1 ? "face" : "faces",
           set->complete ? "" : " found; there may be more");
    for (int i = 0; i < set->face_count && i < SOLVE_LINES_SHOWN; i++) {
        const perp_lcp_face *face = &set->faces[i];
        const bool point = face->vertex_count == 1 && face->ray_count == 0;
        if (point) {
            printf("  a point\n");
        } else {
            printf("  hull of %d %s and %d %s\n", face->vertex_count, face->vertex_count == 1 ? "vertex" : "vertices",
                   face->ray_count, face->ray_count == 1 ? "ray" : "rays");
        }
        print_points("    vertex ", "vertices", face->vertices, face->vertex_count, set->n);
        print_points("    ray    ", "rays", face->rays, face->ray_count, set->n);
    }
    if (set->face_count > SOLVE_LINES_SHOWN) {
        printf("  .. %d more faces\n", set->face_count - SOLVE_LINES_SHOWN);
    }
}

static void print_report(const perp_problem *problem, const attempt *t)
{
    const perp_lcp_info *info = &t->info;
    printf("%s of size %d: %s", perp_problem_kind_name(problem->kind), t->n, perp_outcome_name(info->outcome));
    printf(", method %s, residual %.3g, %d %s, %.3g us\n", info->method ? info->method : "-", info->residual,
           info->pivots, info->pivots == 1 ? "pivot" : "pivots", t->time_us);
    solve_print_tried(info->tried, info->tried_count);
    if (info->outcome == PERP_OUTCOME_SOLVED) {
        solve_print_numbers("z = ", t->z, t->n);
        solve_print_numbers("w = ", t->w, t->n);
    } else if (info->outcome == PERP_OUTCOME_RAY) {
        solve_print_numbers("ray of z = ", t->ray, t->n);
    }
    if (t->asked_all) {
        print_faces(&t->all.set);
    }
}

static int explain(const attempt *t)
{
    switch (t->info.outcome) {
    case PERP_OUTCOME_SOLVED:
        return EXIT_DONE;
    case PERP_OUTCOME_RAY:
        return cli_fail(EXIT_REFUSED,
                        "no solution was found: the methods ended on rays. Where M is copositive there may be none%s",
                        t->enumerated ? "" : "; for a small problem --all decides");
    case PERP_OUTCOME_INFEASIBLE:
        return cli_fail(EXIT_REFUSED, "there is no solution");
    case PERP_OUTCOME_UNBOUNDED:
        return cli_fail(EXIT_REFUSED, "the problem is unbounded");
    case PERP_OUTCOME_ITERATION_LIMIT:
        return cli_fail(EXIT_REFUSED, "no solution was found within the limit on pivots");
    case PERP_OUTCOME_CANCELLED:
        return cli_fail(EXIT_REFUSED, "interrupted");
    default:
        return cli_fail(EXIT_REFUSED, "the best point found has a residual of %.3g, above the tolerance",
                        t->info.residual);
    }
}

static int print_json(const attempt *t, const perp_error *failure)
{
    perp_solve_report report = {0};
    if (t) {
        report = (perp_solve_report){.n = t->n,
                                     .info = &t->info,
                                     .z = t->z,
                                     .w = t->w,
                                     .ray = t->ray,
                                     .time_us = t->time_us,
                                     .set = t->asked_all ? &t->all.set : NULL};
    }
    return cli_write_json(perp_solve_json(t ? &report : NULL, failure));
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static int solve_complementarity(const perp_problem *problem, const solve_options *o)
{
    attempt t;
    perp_lcp_settings chosen = perp_lcp_settings_default();
    const perp_lcp_settings *settings = &chosen;
    chosen.tolerance = o->tolerance;
    chosen.relative = o->relative;
    chosen.method = o->method;
    chosen.cancel = cli_interrupt_flag();
    perp_error error = {0};
    perp_status status = attempt_create(problem, &t, &error);
    if (status == PERP_STATUS_OK) {
        status = solve(problem, settings, &t, &error);
    }
    if (status == PERP_STATUS_OK && o->all) {
        status = solve_all(problem, settings, &t, &error);
    }
    int written = EXIT_DONE;
    if (o->json) {
        written = print_json(t.answered ? &t : NULL, status == PERP_STATUS_OK ? NULL : &error);
    } else if (t.answered) {
        print_report(problem, &t);
    }
    int code = status == PERP_STATUS_OK ? explain(&t) : cli_fail(EXIT_REFUSED, "%s", error.message);
    attempt_free(&t);
    return written == EXIT_DONE ? code : written;
}

static int solve_problem(const perp_problem *problem, const solve_options *o, const char *file)
{
    const int code = check_options(o, problem->kind);
    if (code != EXIT_DONE) {
        return code;
    }
    if (problem->kind == PERP_PROBLEM_FRICTION) {
        perp_friction_settings friction = perp_friction_settings_default();
        friction.tolerance = o->tolerance;
        friction.relative = o->relative;
        friction.method = o->method;
        friction.cancel = cli_interrupt_flag();
        return solve_friction(&problem->friction, &friction, o->json);
    }
    if (!perp_problem_is_convex(problem->kind)) {
        return solve_complementarity(problem, o);
    }
    perp_convex_settings settings = perp_convex_settings_default();
    settings.tolerance = o->tolerance;
    settings.relative = o->relative;
    settings.method = o->method;
    settings.cancel = cli_interrupt_flag();
    return solve_convex(problem, &settings, file, o->json);
}

static int run(const cli_arguments *a)
{
    static perp_diagnostics diagnostics;
    if (cli_value(a, "--list")) {
        return list_methods();
    }
    if (!a->operand) {
        return cli_fail(EXIT_USAGE, "solve: FILE is missing (perp solve --help)");
    }
    solve_options chosen;
    int code = read_options(a, &chosen);
    if (code != EXIT_DONE) {
        return code;
    }
    perp_problem *problem;
    const perp_status status = perp_problem_load_file(a->operand, NULL, &problem, &diagnostics);
    cli_print_diagnostics(&diagnostics);
    if (status == PERP_STATUS_OK) {
        code = solve_problem(problem, &chosen, a->operand);
        perp_problem_free(problem);
        return code;
    }
    perp_error error = {0};
    perp_diagnostics_first_error(&diagnostics, status, &error);
    code = status == PERP_STATUS_BAD_INPUT ? EXIT_BAD_INPUT : EXIT_REFUSED;
    const int written = chosen.json ? print_json(NULL, &error) : EXIT_DONE;
    return written == EXIT_DONE ? code : written;
}

static const cli_option options[] = {
    {"--method", "NAME", "one method alone (perp solve --list); default: all of them in turn"},
    {"--tol", "T", "on the residual, each row by its own scale (below); default 1e-8, at least 1e-12"},
    {"--relative", NULL, "the scales without their 1: what is small in its unit has to hold as well"},
    {"--all", NULL,
     "all solutions of an lcp, mlcp or mcp: points, and faces where there is a continuum (up to n = 40)"},
    {"--json", NULL, "print the result as one JSON object"},
    {"--list", NULL, "print the methods"},
};

const cli_command cli_solve = {
    .name = "solve",
    .operand = "FILE",
    .operand_optional = true,
    .summary = "solve one problem: lcp, mlcp, mcp, qp, cone-qp, lp or friction",
    .details =
        "examples:\n"
        "  perp solve problem.yaml\n"
        "  perp solve problem.yaml --all             every solution, or the proof that there is none\n"
        "  perp solve problem.yaml --method lemke --tol 1e-10\n"
        "  perp solve problem.yaml --json | jq .z\n\n"
        "A problem file:\n"
        "  kind: lcp                 # 0 <= M z + q _|_ z >= 0\n"
        "  M: [[2, 1], [1, 2]]       # or {rows: 2, cols: 2, triplets: [[0, 0, 2.0], ..]}\n"
        "  q: [-5, -6]\n"
        "  # kind: mlcp adds   free: [i, ..]            rows with w = 0 and z free, from 0\n"
        "  # kind: mcp adds    lower: [..], upper: [..]   -.inf and .inf where there is none\n"
        "gives z = [1.33333333, 2.33333333], w = [0, 0].\n\n"
        "A convex one:\n"
        "  kind: qp                  # min 1/2 x'H x + g'x,  A x >= b,  C x = d,  lower <= x <= upper\n"
        "  H: [[2, 0], [0, 2]]       # symmetric, both triangles; positive semidefinite\n"
        "  g: [-2, -5]\n"
        "  A: [[1, -2], [-1, -2]]    # A with b, C with d, lower, upper: each may be left out\n"
        "  b: [-2, -6]\n"
        "  lower: [0, 0]\n"
        "  # kind: lp          has no H\n"
        "  # kind: cone-qp     has, in place of A, b and bounds,  cones: [{A: [[..], ..], b: [..]}, ..]\n"
        "  #                   A x + b in the second-order cone: first entry >= norm of the others\n"
        "gives x = [1.4, 1.7], objective = -6.45.\n\n"
        "One of Coulomb friction:\n"
        "  kind: friction            # u = W r + q, force r and velocity u of every contact: normal, tangents\n"
        "  dim: 2                    # rows of a contact: 2 or 3\n"
        "  W: [[2, 0], [0, 2]]\n"
        "  q: [-8, 4]\n"
        "  mu: [0.25]                # of every contact\n"
        "gives r = [4, -1], u = [0, 2]: it slides. A file whose name ends in .dat is read as Siconos writes it.\n\n"
        "Solved is said after the residual was evaluated, row by row, each over its own scale; the largest counts:\n"
        "  lcp, mlcp, mcp  |z_i - mid(lower_i, z_i - w_i, upper_i)| / (1 + |q_i| + (|M||z|)_i)\n"
        "  qp, lp, cone-qp violations / (1 + |b_i| + (|A||x|)_i), the gradient / (1 + |g_j| + (|H||x|)_j + "
        "(|A'||y|)_j),\n"
        "                  |s_i y_i| / (scale of s_i (1 + |y_i|))\n"
        "  friction        the law of each contact in m/s / (1 + the largest |q_i| + (|W||r|)_i of its rows)\n\n"
        "Exit code: 0 solved, that is, the residual was evaluated and holds; 1 not solved (no solution, none\n"
        "found, interrupted), explained on stderr; 2 usage; 3 not a problem, each error with file:line:column.\n",
    .options = options,
    .option_count = (int)(sizeof options / sizeof *options),
    .run = run,
};
