#include "cli.h"
#include "solve_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const char enumerate_name[] = "enumerate";

static double microseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

/* ---- usage ---------------------------------------------------------------------------------------------------------
 */

static int list_methods(void)
{
    printf("%-22s %s\n", "method", "what it does");
    for (int i = 0; i < perp_lcp_method_count(); i++) {
        printf("%-22s %s\n", perp_lcp_method_name(i), perp_lcp_method_summary(i));
    }
    printf("\nKinds: lcp, mlcp, mcp. Without --method they are tried in this order until the residual holds.\n");
    printf("\nWith --all, not for --method:\n%-22s %s\n", enumerate_name, "all solutions of a small problem");
    return EXIT_DONE;
}

/* The method's name as the library has it, or NULL. */
static const char *find_method(const char *name)
{
    for (int i = 0; i < perp_lcp_method_count(); i++) {
        if (strcmp(perp_lcp_method_name(i), name) == 0) {
            return perp_lcp_method_name(i);
        }
    }
    return NULL;
}

static int unknown_method(const char *name)
{
    perp_nearest nearest = perp_nearest_begin(name);
    for (int i = 0; i < perp_lcp_method_count(); i++) {
        perp_nearest_offer(&nearest, perp_lcp_method_name(i));
    }
    return cli_fail(EXIT_USAGE, "solve: there is no method `%s`%s%s%s (perp solve --list)", name,
                    nearest.name ? "; did you mean `" : "", nearest.name ? nearest.name : "", nearest.name ? "`?" : "");
}

static int read_settings(const cli_arguments *a, perp_lcp_settings *settings)
{
    const char *method = cli_value(a, "--method"), *tolerance = cli_value(a, "--tol");
    *settings = perp_lcp_settings_default();
    settings->cancel = cli_interrupt_flag();
    if (method) {
        settings->method = find_method(method);
        if (!settings->method) {
            return unknown_method(method);
        }
    }
    if (tolerance) {
        char *end;
        settings->tolerance = strtod(tolerance, &end);
        const bool decimal = tolerance[strspn(tolerance, "0123456789.eE+-")] == '\0';
        if (end == tolerance || *end || !decimal || !isfinite(settings->tolerance) || settings->tolerance <= 0.0) {
            return cli_fail(EXIT_USAGE, "solve: --tol needs a positive number, not `%s`", tolerance);
        }
    }
    return EXIT_DONE;
}

/* ---- solving --------------------------------------------------------------------------------------------------------
 */

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
    const double start = microseconds();
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
    t->time_us = microseconds() - start;
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
    const perp_lcp_solution_set *set = &t->all.set;
    if (set->face_count == 0) {
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
    enumerate.cancel = settings->cancel;
    const double start = microseconds();
    const perp_status status = all_solutions_find(problem, &enumerate, &t->all, error);
    t->time_us += microseconds() - start;
    t->asked_all = true;
    t->enumerated = status == PERP_STATUS_OK;
    if (t->enumerated) {
        take_from_enumeration(problem, settings, t);
    }
    return status;
}

/* ---- output ---------------------------------------------------------------------------------------------------------
 */

enum { NUMBERS_SHOWN = 24, FACES_SHOWN = 20 };

static void print_numbers(const char *head, const double *values, int n)
{
    printf("%s[", head);
    for (int i = 0; i < n; i++) {
        printf("%s%.9g", i ? ", " : "", values[i] + 0.0);
    }
    printf("]\n");
}

static void print_faces(const perp_lcp_solution_set *set)
{
    printf("solutions: %d %s%s\n", set->face_count, set->face_count == 1 ? "face" : "faces",
           set->complete ? "" : " found; there may be more");
    for (int i = 0; i < set->face_count && i < FACES_SHOWN; i++) {
        const perp_lcp_face *face = &set->faces[i];
        const bool point = face->vertex_count == 1 && face->ray_count == 0;
        printf(point ? "  a point\n" : "  hull of %d vertices and %d rays\n", face->vertex_count, face->ray_count);
        for (int k = 0; k < face->vertex_count && k < FACES_SHOWN; k++) {
            print_numbers("    vertex ", face->vertices + (size_t)k * (size_t)set->n, set->n);
        }
        for (int k = 0; k < face->ray_count && k < FACES_SHOWN; k++) {
            print_numbers("    ray    ", face->rays + (size_t)k * (size_t)set->n, set->n);
        }
    }
}

static void print_report(const perp_problem *problem, const attempt *t)
{
    const perp_lcp_info *info = &t->info;
    printf("%s of size %d: %s", perp_problem_kind_name(problem->kind), t->n, perp_outcome_name(info->outcome));
    printf(", method %s, residual %.3g, %d pivots, %.3g us\n", info->method ? info->method : "-", info->residual,
           info->pivots, t->time_us);
    if (info->tried_count > 1) {
        printf("tried:");
        for (int i = 0; i < info->tried_count; i++) {
            printf("%s %s", i ? "," : "", info->tried[i]);
        }
        printf("\n");
    }
    if (info->outcome == PERP_OUTCOME_SOLVED && t->n <= NUMBERS_SHOWN) {
        print_numbers("z = ", t->z, t->n);
        print_numbers("w = ", t->w, t->n);
    } else if (info->outcome == PERP_OUTCOME_RAY && t->n <= NUMBERS_SHOWN) {
        print_numbers("ray of z = ", t->ray, t->n);
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
    char *text = perp_solve_json(t ? &report : NULL, failure);
    const int code = text ? cli_write(text) : cli_fail(EXIT_REFUSED, "out of memory while writing the result");
    perp_text_free(text);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------------------------------
 */

static int solve_problem(const cli_arguments *a, const perp_problem *problem, const perp_lcp_settings *settings)
{
    attempt t;
    perp_error error = {0};
    perp_status status = attempt_create(problem, &t, &error);
    if (status == PERP_STATUS_OK) {
        status = solve(problem, settings, &t, &error);
    }
    if (status == PERP_STATUS_OK && cli_value(a, "--all")) {
        status = solve_all(problem, settings, &t, &error);
    }
    int written = EXIT_DONE;
    if (cli_value(a, "--json")) {
        written = print_json(t.answered ? &t : NULL, status == PERP_STATUS_OK ? NULL : &error);
    } else if (t.answered) {
        print_report(problem, &t);
    }
    int code = status == PERP_STATUS_OK ? explain(&t) : cli_fail(EXIT_REFUSED, "%s", error.message);
    attempt_free(&t);
    return written == EXIT_DONE ? code : written;
}

/* The place of M's value in a file that was read as a problem. Outside comments no other key or value of such a file
 * has a capital M, so the first one is the key. 1:1 where the key is written otherwise, or the file is gone. */
static void find_matrix(const char *path, int *line, int *column)
{
    struct stat about;
    FILE *file = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "r") : NULL;
    int at_line = 1, at_column = 0, before = '\n';
    bool comment = false, key = false;
    *line = *column = 1;
    for (int c; file && (c = getc(file)) != EOF; before = c) {
        at_column++;
        comment = comment || (c == '#' && strchr(" \t\r\n", before));
        if (c == '\n') {
            at_line++;
            at_column = 0;
            comment = false;
        } else if (key && !comment && !strchr("\"': \t\r", c)) {
            *line = at_line;
            *column = at_column;
            break;
        }
        key = key || (c == 'M' && !comment);
    }
    if (file) {
        fclose(file);
    }
}

/* The library takes a problem without rows, which has one solution; in a file it is a mistake. */
static perp_status refuse_empty(const char *path, const perp_problem *problem, perp_diagnostics *diagnostics)
{
    int line, column;
    if (perp_problem_size(problem) > 0) {
        return PERP_STATUS_OK;
    }
    find_matrix(path, &line, &column);
    perp_diagnostics_add(diagnostics, PERP_SEVERITY_ERROR, path, line, column, "M",
                         "M has no rows; a problem has at least one");
    return PERP_STATUS_BAD_INPUT;
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
    perp_lcp_settings settings;
    int code = read_settings(a, &settings);
    if (code != EXIT_DONE) {
        return code;
    }
    perp_problem *problem;
    perp_status status = perp_problem_load_file(a->operand, NULL, &problem, &diagnostics);
    if (status == PERP_STATUS_OK) {
        status = refuse_empty(a->operand, problem, &diagnostics);
    }
    cli_print_diagnostics(&diagnostics);
    if (status == PERP_STATUS_OK) {
        code = solve_problem(a, problem, &settings);
        perp_problem_free(problem);
        return code;
    }
    perp_problem_free(problem);
    perp_error error = {0};
    perp_diagnostics_first_error(&diagnostics, status, &error);
    code = status == PERP_STATUS_BAD_INPUT ? EXIT_BAD_INPUT : EXIT_REFUSED;
    const int written = cli_value(a, "--json") ? print_json(NULL, &error) : EXIT_DONE;
    return written == EXIT_DONE ? code : written;
}

static const cli_option options[] = {
    {"--method", "NAME", "one method alone (perp solve --list); default: all of them in turn"},
    {"--tol", "T", "on the scaled residual; default 1e-8"},
    {"--all", NULL, "all solutions: points, and faces where there is a continuum (up to n = 40)"},
    {"--json", NULL, "print the result as one JSON object"},
    {"--list", NULL, "print the methods"},
};

const cli_command cli_solve = {
    .name = "solve",
    .operand = "FILE",
    .operand_optional = true,
    .summary = "solve one complementarity problem: lcp, mlcp or mcp",
    .details = "examples:\n"
               "  perp solve problem.yaml\n"
               "  perp solve problem.yaml --all             every solution, or the proof that there is none\n"
               "  perp solve problem.yaml --json | jq .z\n\n"
               "A problem file:\n"
               "  kind: lcp                 # 0 <= M z + q _|_ z >= 0\n"
               "  M: [[2, 1], [1, 2]]       # or {rows: 2, cols: 2, triplets: [[0, 0, 2.0], ..]}\n"
               "  q: [-5, -6]\n"
               "  # kind: mlcp adds   free: [i, ..]            rows with w = 0 and z free, from 0\n"
               "  # kind: mcp adds    lower: [..], upper: [..]   -.inf and .inf where there is none\n\n"
               "Exit code 0 only if it is solved, that is, if the residual was evaluated and holds.\n",
    .options = options,
    .option_count = (int)(sizeof options / sizeof *options),
    .run = run,
};
