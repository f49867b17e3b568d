/* MCPLIB's obstacle problem (Ciarlet's membrane between two obstacles) by perp_mcp_newton with KLU: no peer, since
 * PATH, which one would compare with, is closed. "create" is the workspace with its ordering, "solve" one cold solve
 * from max(0, lower) to 1e-8. */
#include "options.h"
#include "timing.h"

#include <perp/linalg_sparse.h>
#include <perp/solver.h>

#include <math.h>
#include <stdlib.h>

enum { SIZES = 3 };
static const int sides[SIZES] = {25, 50, 100};

typedef struct membrane {
    int side, n;
    double load, *lower, *upper, *start, *z, *f;
    int *starts, *rows;
} membrane;

typedef struct figures {
    int n, iterations, factorisations;
    double residual;
    timing_stats create, solve; /* s */
} figures;

static void die(const char *why)
{
    fprintf(stderr, "bench_mcp: %s\n", why);
    exit(1);
}

static void *take(size_t count, size_t size)
{
    void *r = calloc(count, size);
    if (!r) {
        die("out of memory");
    }
    return r;
}

/* Four times the height less the neighbours', less the load; row j of the matrix is its column. */
static bool evaluate(void *context, const double *z, double *f, double *jacobian)
{
    const membrane *m = context;
    for (int j = 0; j < m->n; j++) {
        double sum = -m->load;
        for (int k = m->starts[j]; k < m->starts[j + 1]; k++) {
            const double entry = m->rows[k] == j ? 4.0 : -1.0;
            sum += entry * z[m->rows[k]];
            if (jacobian) {
                jacobian[k] = entry;
            }
        }
        f[j] = sum;
    }
    return true;
}

static membrane new_membrane(int side)
{
    const size_t n = (size_t)(side * side), real = sizeof(double);
    const double h = 1.0 / (side + 1);
    membrane m = {side,
                  (int)n,
                  h * h,
                  take(n, real),
                  take(n, real),
                  take(n, real),
                  take(n, real),
                  take(n, real),
                  take(n + 1, sizeof(int)),
                  take(5 * n, sizeof(int))};
    int count = 0;
    for (int k = 0; k < m.n; k++) {
        const int i = k / side, j = k % side, neighbours[5] = {k - side, k - 1, k, k + 1, k + side};
        const bool inside[5] = {i > 0, j > 0, true, j + 1 < side, i + 1 < side};
        const double bump = sin(9.2 * h * (i + 1)) * sin(9.3 * h * (j + 1));
        m.lower[k] = bump * bump * bump;
        m.upper[k] = bump * bump + 0.2;
        m.start[k] = fmax(0.0, m.lower[k]);
        for (int s = 0; s < 5; s++) {
            if (inside[s]) {
                m.rows[count++] = neighbours[s];
            }
        }
        m.starts[k + 1] = count;
    }
    return m;
}

static void free_membrane(membrane *m)
{
    double *const reals[] = {m->lower, m->upper, m->start, m->z, m->f};
    for (size_t k = 0; k < sizeof reals / sizeof *reals; k++) {
        free(reals[k]);
    }
    free(m->starts);
    free(m->rows);
}

static figures measure(int side, int samples)
{
    membrane m = new_membrane(side);
    const perp_nonlinear_mcp p = {m.n, m.lower, m.upper, m.starts, m.rows, evaluate, &m, 0.0, NULL};
    double *create = take((size_t)samples, sizeof(double)), *solve = take((size_t)samples, sizeof(double));
    perp_mcp_newton_settings settings = perp_mcp_newton_settings_default();
    perp_mcp_newton_solution solution = {m.z, m.f};
    perp_mcp_newton_info info = {0};
    settings.start = m.start;
    for (int k = 0; k < samples; k++) {
        perp_mcp_newton_workspace *workspace;
        perp_error error;
        const double before = timing_now();
        if (perp_mcp_newton_workspace_create(&p, perp_sparse_linear_solver(), NULL, &workspace, &error) !=
            PERP_STATUS_OK) {
            die(error.message);
        }
        const double between = timing_now();
        if (perp_mcp_newton(&p, &settings, workspace, &solution, &info, &error) != PERP_STATUS_OK ||
            info.outcome != PERP_OUTCOME_SOLVED) {
            die("not solved");
        }
        create[k] = between - before;
        solve[k] = timing_now() - between;
        perp_mcp_newton_workspace_free(workspace);
    }
    const figures r = {m.n,
                       info.iterations,
                       info.factorisations,
                       info.residual,
                       timing_summary(create, samples),
                       timing_summary(solve, samples)};
    free(create);
    free(solve);
    free_membrane(&m);
    return r;
}

static void write_json(const char *path, const figures *all)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        die("the JSON file cannot be written");
    }
    timing_machine(out, "{\"cpu\": \"%s\", \"cores\": %ld, \"load\": \"%s\", \"compiler\": \"%s\",\n");
    fprintf(out, "  \"unit\": \"s per problem\", \"obstacle\": [\n");
    for (int k = 0; k < SIZES; k++) {
        const figures *r = &all[k];
        fprintf(out,
                "    {\"n\": %d, \"iterations\": %d, \"factorisations\": %d, \"residual\": %.3g, "
                "\"create_median_s\": %.4g, \"solve_min_s\": %.4g, \"solve_median_s\": %.4g}%s\n",
                r->n, r->iterations, r->factorisations, r->residual, r->create.median, r->solve.min, r->solve.median,
                k + 1 < SIZES ? "," : "");
    }
    fprintf(out, "  ]}\n");
    if (ferror(out) | fclose(out)) {
        die("the JSON file cannot be written");
    }
}

int main(int argc, char **argv)
{
    const bench_options options = bench_options_read(argc, argv, (bench_option_limits){1, 20, 100});
    figures all[SIZES];
    timing_machine(stdout, "%s, %ld cores, load average %s before the run; %s\n");
    printf("obstacle\n%8s  %10s  %14s  %10s  %11s  %21s\n", "n", "iterations", "factorisations", "residual",
           "create ms", "solve ms, min / median");
    for (int k = 0; k < SIZES; k++) {
        all[k] = measure(sides[k], options.samples);
        printf("%8d  %10d  %14d  %10.1e  %11.2f  %10.2f /%10.2f\n", all[k].n, all[k].iterations, all[k].factorisations,
               all[k].residual, 1e3 * all[k].create.median, 1e3 * all[k].solve.min, 1e3 * all[k].solve.median);
    }
    if (options.json) {
        write_json(options.json, all);
    }
    return 0;
}
