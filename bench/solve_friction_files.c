/* Friction problems from files, by perp and by Siconos' NSGS, NSN-AC and ADMM (siconos_friction.h):
 *
 *   solve_friction_files [--limit SECONDS] FILE..
 *
 * For Siconos' own test problems, its text files (.dat) in numerics/src/FrictionContact/test/data of its source; any
 * file that `perp solve` reads will do. Everyone starts from zero and is asked for 1e-8 in perp_friction_residual;
 * Siconos has 3 s a problem unless --limit says otherwise, and its planar solvers are not asked. A line has residuals
 * and times of the solvers alone, the totals how many are below 1e-6 and 1e-8. Files that are not local friction
 * problems are named and left out. */
#include "siconos_friction.h"
#include "timing.h"

#include <perp/problem_yaml.h>
#include <perp/solver.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PERP, PEERS = SICONOS_FRICTION_METHODS, SOLVERS = 1 + PEERS, REPETITIONS = 3 };
#define ROUGH 1e-6
#define TOLERANCE 1e-8

typedef struct totals {
    int problems, spatial, rough[SOLVERS], solved[SOLVERS], rough_any, solved_any;
} totals;

static void die(const char *why)
{
    fprintf(stderr, "solve_friction_files: %s\n", why);
    exit(1);
}

/* The residual; seconds: of the fastest of some runs, one where it takes long. */
static double solve_perp(const perp_friction *p, double *r, double *u, double *seconds, const char **method)
{
    static const double LONG = 0.1;
    perp_friction_workspace *workspace = NULL;
    perp_friction_settings settings = perp_friction_settings_default();
    perp_friction_info info;
    perp_error error;
    settings.tolerance = TOLERANCE;
    settings.minimum_norm = false; /* no peer gives it */
    if (perp_friction_workspace_create(NULL, &workspace, &error) != PERP_STATUS_OK ||
        perp_friction_reserve(p, workspace, &error) != PERP_STATUS_OK) {
        die(error.message);
    }
    *seconds = INFINITY;
    for (int k = 0; k < REPETITIONS && (k == 0 || *seconds < LONG); k++) {
        const double start = timing_now();
        if (perp_friction_solve(p, &settings, workspace, r, u, &info, &error) != PERP_STATUS_OK) {
            die(error.message);
        }
        *seconds = fmin(*seconds, timing_now() - start);
    }
    *method = info.method;
    perp_friction_workspace_free(workspace);
    const double residual = perp_friction_residual(p, r);
    if (info.outcome == PERP_OUTCOME_SOLVED && !(residual <= TOLERANCE)) {
        die("falsely solved");
    }
    return residual;
}

static void print_result(double residual, double seconds)
{
    isfinite(residual) ? printf(" %8.1e %10.1f", residual, 1e6 * seconds) : printf(" %8s %10s", "-", "-");
}

static void count(const double *residuals, int solvers, totals *t)
{
    double best = INFINITY;
    for (int k = 0; k < solvers; k++) {
        t->rough[k] += residuals[k] <= ROUGH;
        t->solved[k] += residuals[k] <= TOLERANCE;
        best = k > 0 ? fmin(best, residuals[k]) : best;
    }
    t->rough_any += best <= ROUGH;
    t->solved_any += best <= TOLERANCE;
}

static void run(const char *path, double limit, totals *t)
{
    perp_problem *problem = NULL;
    perp_diagnostics why = {0};
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path, *method = NULL;
    if (perp_problem_load_file(path, NULL, &problem, &why) != PERP_STATUS_OK ||
        problem->kind != PERP_PROBLEM_FRICTION) {
        printf("%-42s is not read\n", name);

        perp_problem_free(problem);
        return;
    }
    const perp_friction *p = &problem->friction;
    const size_t size = (size_t)p->contacts * (size_t)p->dim;
    double *r = calloc(2 * size + 1, sizeof *r), residuals[SOLVERS] = {INFINITY, INFINITY, INFINITY, INFINITY}, seconds;
    if (!r) {
        die("out of memory");
    }
    residuals[PERP] = solve_perp(p, r, r + size, &seconds, &method);
    printf("%-42s %8d %8s", name, p->contacts, method);
    print_result(residuals[PERP], seconds);
    const int solvers = p->dim == 3 && siconos_friction_available() ? SOLVERS : 1;
    for (int k = 1; k < solvers; k++) {
        const siconos_friction_request request = {(siconos_friction_method)(k - 1), TOLERANCE, limit, 1,
                                                  perp_friction_residual};
        memset(r, 0, size * sizeof *r);
        const siconos_friction_answer answer = siconos_friction_solve(p, &request, r);
        residuals[k] = answer.residual;
        print_result(answer.residual, answer.seconds);
    }
    printf("\n");
    fflush(stdout);
    t->problems++;
    t->spatial += p->dim == 3;
    count(residuals, solvers, t);
    free(r);
    perp_problem_free(problem);
}

static void print_totals(const totals *t)
{
    printf("%d problems, %d of them spatial; at 1e-6 and 1e-8:", t->problems, t->spatial);
    for (int k = 0; k < SOLVERS; k++) {
        printf(" %s %d %d%s", k == PERP ? "perp" : siconos_friction_name((siconos_friction_method)(k - 1)), t->rough[k],
               t->solved[k], k + 1 < SOLVERS ? "," : "");
    }
    printf("; any of Siconos' %d %d\n", t->rough_any, t->solved_any);
}

int main(int argc, char **argv)
{
    double limit = 3.0;
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "--limit") == 0) {
        limit = strtod(argv[2], NULL);
        first = 3;
    }
    if (first >= argc || !(limit > 0.0)) {
        fprintf(stderr, "usage: solve_friction_files [--limit SECONDS] FILE..\n");
        return 2;
    }
    totals t = {0};
    timing_machine(stdout, "%s, %ld cores, load average %s before the run; %s\n");
    printf("residual, us\n%-42s %8s %8s", "", "contacts", "method");
    for (int k = 0; k < SOLVERS; k++) {
        printf(" %19s", k == PERP ? "perp" : siconos_friction_name((siconos_friction_method)(k - 1)));
    }
    printf("\n");
    for (int i = first; i < argc; i++) {
        run(argv[i], limit, &t);
    }
    print_totals(&t);
    return 0;
}
