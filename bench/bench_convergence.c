/* How the interior point comes to its answers (perp_contact_qp_solve with the method ipm, cold): the residual after
 * each iteration on four problems, and how many iterations N generated ones take (convex_generator.h, those with a
 * solution).
 *
 * The library tells the residual of the point that it returns. That of iteration k comes from a tolerance so loose that
 * the iterates before k miss it and the one after k meets it, and from max_iterations = k + 1. Points before the
 * polish are told from polished ones by the count of iterations: a polish ends the method before its next one.
 * tools/draw_convergence.py makes a picture of the JSON.
 */
#include "convex_dense_generator.h"
#include "convex_generator.h"
#include "convex_scenes.h"
#include "options.h"
#include "timing.h"

#include <perp/solver.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SAMPLES = 20000, MOST = 100, TRACES = 4, BARS = 200 };

typedef struct trace {
    char name[160];
    double residual[MOST]; /* after k iterations; NAN: not known */
    int last;              /* iterations of the default settings */
    double final;          /* their residual */
} trace;

typedef struct histogram {
    int solved, unsolved, most;
    int count[BARS]; /* by iterations; the last bar has all beyond */
} histogram;

static double *memory;
static perp_convex_workspace *workspace;

static void die(const char *why)
{
    fprintf(stderr, "bench_convergence: %s\n", why);
    exit(1);
}

static perp_convex_info solve(const perp_contact_qp *q, double tolerance, int max_iterations)
{
    const size_t n = (size_t)q->n, slacks = (size_t)q->slack_start[q->contact_count];
    perp_convex_settings settings = perp_convex_settings_default();
    perp_convex_info info;
    perp_error error;
    memory = realloc(memory, (3 * n + slacks + (size_t)q->equality_count + 1) * sizeof *memory);
    if (!memory) {
        die("out of memory");
    }
    perp_convex_point point = {.x = memory, .y_lower = memory + n, .y_upper = memory + 2 * n, .y = memory + 3 * n};
    point.y_equality = point.y + slacks;
    settings.tolerance = tolerance;
    settings.method = "ipm";
    settings.max_iterations = max_iterations;
    settings.minimum_norm = max_iterations == 0; /* it would change the point */
    if (perp_contact_qp_reserve(q, workspace, &error) != PERP_STATUS_OK ||
        perp_contact_qp_solve(q, &settings, workspace, &point, &info, &error) != PERP_STATUS_OK) {
        die(error.message);
    }
    return info;
}

static void follow(const perp_contact_qp *q, trace *t)
{
    const perp_convex_info whole = solve(q, perp_convex_settings_default().tolerance, 0);
    t->last = whole.iterations < MOST ? whole.iterations : MOST - 1;
    t->final = whole.outcome == PERP_OUTCOME_SOLVED ? perp_convex_residual_largest(whole.residual) : (double)NAN;
    for (int k = 0; k < MOST; k++) {
        t->residual[k] = (double)NAN;
    }
    int k = 0;
    for (double exponent = 12.0; exponent >= -12.0 && k <= t->last; exponent -= 0.125) {
        perp_convex_info info = solve(q, pow(10.0, exponent), k + 1);
        while (info.outcome != PERP_OUTCOME_SOLVED && k < t->last) {
            info = solve(q, pow(10.0, exponent), ++k + 1);
        }
        const bool plain = info.outcome == PERP_OUTCOME_SOLVED && info.iterations == k + 1;
        if (plain && isnan(t->residual[k])) {
            t->residual[k] = perp_convex_residual_largest(info.residual);
        }
    }
}

/* The first of its kind with at least `n` unknowns. */
static void find(convex_case *c, void (*make)(convex_case *, uint64_t, int), const char *family, const char *curvature,
                 int n)
{
    for (int i = 0; i < 10000; i++) {
        make(c, 1, i);
        if (c->claim == CONVEX_SOLVABLE && c->qp.n >= n && strcmp(c->family, family) == 0 &&
            strcmp(c->curvature, curvature) == 0) {
            return;
        }
    }
    die("no such problem");
}

static void follow_four(convex_case *c, trace *traces)
{
    convex_bin *bin = convex_bin_create();
    for (int k = 0; k < 2; k++) {
        convex_bin_start(bin, 1, 0);
        convex_bin_make(bin, k == 1, false, c);
        snprintf(traces[k].name, sizeof traces[k].name, "bin, %s: %d unknowns, %d contacts, H zero for the cubes",
                 k == 1 ? "cones" : "rays", c->qp.n, c->qp.contact_count);
        follow(&c->qp, &traces[k]);
    }
    convex_bin_free(bin);
    find(c, convex_generator_make, "faces", "semidefinite", 60);
    snprintf(traces[2].name, sizeof traces[2].name,
             "faces at rest, degenerate: %d unknowns, %d contacts, H semidefinite", c->qp.n, c->qp.contact_count);
    follow(&c->qp, &traces[2]);
    find(c, convex_dense_generator_make, "both", "deficient", 60);
    snprintf(traces[3].name, sizeof traces[3].name, "dense, scales 1e-4 to 1e6: %d unknowns, %d rows, H rank-deficient",
             c->qp.n, c->qp.contact_count);
    follow(&c->qp, &traces[3]);
}

static void count_iterations(convex_case *c, int samples, histogram *rays, histogram *cones)
{
    for (int i = 0; i < samples; i++) {
        convex_generator_make(c, 1, i);
        if (c->claim != CONVEX_SOLVABLE) {
            continue;
        }
        const perp_convex_info info = solve(&c->qp, perp_convex_settings_default().tolerance, 0);
        histogram *h = convex_case_has_cones(c) ? cones : rays;
        const bool solved = info.outcome == PERP_OUTCOME_SOLVED;
        h->solved += solved;
        h->unsolved += !solved;
        h->most = solved && info.iterations > h->most ? info.iterations : h->most;
        h->count[info.iterations < BARS ? info.iterations : BARS - 1] += solved;
    }
}

static int quantile(const histogram *h, double part)
{
    int k = 0;
    for (int sum = h->count[0]; k + 1 < BARS && sum < part * h->solved; sum += h->count[k]) {
        k++;
    }
    return k;
}

static void print_all(const trace *traces, const histogram *rays, const histogram *cones)
{
    for (int t = 0; t < TRACES; t++) {
        printf("%s\n  residual after iteration 0, 1, ..:", traces[t].name);
        for (int k = 0; k <= traces[t].last; k++) {
            if (isnan(traces[t].residual[k])) {
                printf(" -");
            } else {
                printf(" %.1e", traces[t].residual[k]);
            }
        }
        printf("; polished %.1e\n", traces[t].final);
    }
    for (int k = 0; k < 2; k++) {
        const histogram *h = k ? cones : rays;
        printf("generated, %-5s %5d solved, %d not; iterations: median %d, 90 %% %d, 99 %% %d, most %d\n",
               k ? "cones" : "rays", h->solved, h->unsolved, quantile(h, 0.5), quantile(h, 0.9), quantile(h, 0.99),
               h->most);
    }
}

static void write_histogram(FILE *out, const char *name, const histogram *h, const char *end)
{
    fprintf(out, "  \"%s\": {\"solved\": %d, \"unsolved\": %d, \"count\": [", name, h->solved, h->unsolved);
    for (int k = 0; k < BARS; k++) {
        fprintf(out, "%s%d", k ? ", " : "", h->count[k]);
    }
    fprintf(out, "]}%s\n", end);
}

static void write_json(const char *path, const trace *traces, const histogram *rays, const histogram *cones)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        die("the JSON file cannot be written");
    }
    fprintf(out, "{\"traces\": [\n");
    for (int t = 0; t < TRACES; t++) {
        fprintf(out, "    {\"name\": \"%s\", \"points\": [", traces[t].name);
        const char *comma = "";
        for (int k = 0; k <= traces[t].last; k++) {
            if (isfinite(traces[t].residual[k])) {
                fprintf(out, "%s[%d, %.3g]", comma, k, traces[t].residual[k]);
                comma = ", ";
            }
        }
        fprintf(out, "], \"iterations\": %d, \"final\": %.3g}%s\n", traces[t].last,
                isfinite(traces[t].final) ? traces[t].final : -1.0, t + 1 < TRACES ? "," : "");
    }
    fprintf(out, "  ],\n");
    write_histogram(out, "rays", rays, ",");
    write_histogram(out, "cones", cones, "}");
    if (ferror(out) | fclose(out)) {
        die("the JSON file cannot be written");
    }
}

int main(int argc, char **argv)
{
    const bench_options options = bench_options_read(argc, argv, (bench_option_limits){1, 2000, MAX_SAMPLES});
    static trace traces[TRACES];
    static histogram rays, cones;
    perp_error error;
    convex_case *c = convex_case_create();
    if (perp_convex_workspace_create(NULL, &workspace, &error) != PERP_STATUS_OK) {
        die("out of memory");
    }
    follow_four(c, traces);
    count_iterations(c, options.samples, &rays, &cones);
    print_all(traces, &rays, &cones);
    if (options.json) {
        write_json(options.json, traces, &rays, &cones);
    }
    perp_convex_workspace_free(workspace);
    convex_case_free(c);
    free(memory);
    return 0;
}
