/* Contact LCPs (lcp_generator.h), next to Siconos' lcp_lexicolemke on the same problems in the same run.
 *
 * First table: problems of all sizes, of the set that is proven solvable; how many each solves, judged by one residual
 * for both (1e-8, scaled as the library's), and the time over all of them, failures included. "claimed" are problems
 * that Siconos reports as solved and that are not.
 * Second table: problems of n about 100 and 400. The ratio is the median over problems that both solve of the quotient
 * of their times, each the fastest of three.
 */
#include "lcp_generator.h"
#include "siconos_lcp.h"
#include "timing.h"

#include <perp/solver.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SAMPLES = 20000, REPETITIONS = 3, BINS = 4, SIZES = 2 };

typedef struct tally {
    int low, high; /* n */
    int problems, solved, siconos_solved, siconos_claimed, both, fallbacks;
    double *ours, *siconos; /* s a problem */
    double *ratios;         /* of those that both solve */
    timing_stats ours_time, siconos_time;
    double ratio;
} tally;

typedef struct bench {
    lcp_case *c;
    perp_lcp_workspace *workspace;
    siconos_lcp *siconos; /* NULL: without */
    double z[LCP_CASE_MAX_N], w[LCP_CASE_MAX_N];
} bench;

static void die(const char *why)
{
    fprintf(stderr, "bench_lcp: %s\n", why);
    exit(1);
}

static double *take(int count)
{
    double *r = calloc((size_t)count, sizeof *r);
    if (!r) {
        die("out of memory");
    }
    return r;
}

static tally new_tally(int low, int high, int samples)
{
    tally t = {.low = low, .high = high, .ours = take(samples), .siconos = take(samples), .ratios = take(samples)};
    return t;
}

static bool holds(const bench *b, const double *z)
{
    const perp_lcp problem = {b->c->n, b->c->m, b->c->q};
    return perp_lcp_residual(&problem, z) <= 1e-8;
}

/* The fastest of some; whether it was solved. */
static bool time_ours(bench *b, int repetitions, double *seconds, tally *t)
{
    const perp_lcp problem = {b->c->n, b->c->m, b->c->q};
    perp_lcp_solution solution = {.z = b->z, .w = b->w};
    perp_lcp_info info;
    perp_error error;
    *seconds = INFINITY;
    for (int i = 0; i < repetitions; i++) {
        const double start = timing_now();
        if (perp_lcp_solve(&problem, NULL, b->workspace, &solution, &info, &error) != PERP_STATUS_OK) {
            die(error.message);
        }
        *seconds = fmin(*seconds, timing_now() - start);
    }
    const bool solved = info.outcome == PERP_OUTCOME_SOLVED;
    if (solved && !holds(b, b->z)) {
        die("falsely solved");
    }
    t->fallbacks += info.tried_count > 1;
    return solved;
}

static bool time_siconos(bench *b, int repetitions, double *seconds, tally *t)
{
    bool claimed = false;
    *seconds = INFINITY;
    for (int i = 0; i < repetitions; i++) {
        double once;
        claimed = siconos_lcp_solve(b->siconos, b->c->n, b->c->m, b->c->q, b->z, &once);
        *seconds = fmin(*seconds, once);
    }
    const bool solved = claimed && holds(b, b->z);
    t->siconos_claimed += claimed && !solved;
    return solved;
}

static void add_problem(bench *b, int repetitions, tally *t)
{
    const int i = t->problems++;
    const bool ours = time_ours(b, repetitions, &t->ours[i], t);
    t->solved += ours;
    if (b->siconos) {
        const bool siconos = time_siconos(b, repetitions, &t->siconos[i], t);
        t->siconos_solved += siconos;
        if (ours && siconos) {
            t->ratios[t->both++] = t->siconos[i] / t->ours[i];
        }
    }
}

static void summarise(tally *t)
{
    if (t->problems > 0) {
        t->ours_time = timing_summary(t->ours, t->problems);
        t->siconos_time = timing_summary(t->siconos, t->problems);
    }
    t->ratio = t->both > 0 ? timing_summary(t->ratios, t->both).median : NAN;
}

static void measure_all_sizes(bench *b, int samples, tally bins[BINS])
{
    static const int edges[BINS + 1] = {24, 50, 100, 200, 401};
    for (int k = 0; k < BINS; k++) {
        bins[k] = new_tally(edges[k], edges[k + 1] - 1, samples);
    }
    for (int i = 0; i < samples; i++) {
        lcp_case_make(b->c, 1, i, true);
        int k = 0;
        while (b->c->n > bins[k].high) {
            k++;
        }
        add_problem(b, 1, &bins[k]);
    }
    for (int k = 0; k < BINS; k++) {
        summarise(&bins[k]);
    }
}

static void measure_size(bench *b, int n, int samples, tally *t)
{
    *t = new_tally(n - 9, n, samples);
    for (int i = 0; i < samples; i++) {
        lcp_case_make_sized(b->c, 1, i, true, n);
        add_problem(b, REPETITIONS, t);
    }
    summarise(t);
}

static void print_tally(const tally *t, bool siconos)
{
    printf("%3d..%3d  %8d   %7d (%4d)  %8.0f /%8.0f", t->low, t->high, t->problems, t->solved, t->fallbacks,
           1e6 * t->ours_time.median, 1e6 * t->ours_time.p99);
    if (siconos) {
        printf("     %7d (%4d)  %8.0f /%8.0f    %5d  %6.1f", t->siconos_solved, t->siconos_claimed,
               1e6 * t->siconos_time.median, 1e6 * t->siconos_time.p99, t->both, t->ratio);
    }
    printf("\n");
}

static void print_head(const char *title, bool siconos)
{
    printf("%s\n%8s  %8s  %16s  %17s", title, "n", "problems", "solved (fallb.)", "us median / p99");
    if (siconos) {
        printf("    %16s  %17s    %5s  %6s", "Siconos (claim)", "us median / p99", "both", "ratio");
    }
    printf("\n");
}

static void write_tally(FILE *out, const tally *t, bool siconos, const char *end)
{
    fprintf(out,
            "    {\"n_low\": %d, \"n_high\": %d, \"problems\": %d, \"solved\": %d, \"fallbacks\": %d, "
            "\"median_s\": %.4g, \"p99_s\": %.4g",
            t->low, t->high, t->problems, t->solved, t->fallbacks, t->ours_time.median, t->ours_time.p99);
    if (siconos) {
        fprintf(out,
                ", \"siconos\": {\"solved\": %d, \"claimed\": %d, \"median_s\": %.4g, \"p99_s\": %.4g, \"both\": %d",
                t->siconos_solved, t->siconos_claimed, t->siconos_time.median, t->siconos_time.p99, t->both);
        if (t->both > 0) {
            fprintf(out, ", \"ratio_median\": %.3f", t->ratio);
        }
        fprintf(out, "}");
    }
    fprintf(out, "}%s\n", end);
}

static void write_json(const char *path, const tally *tallies, int count, bool siconos)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        die("the JSON file cannot be written");
    }
    timing_machine(out, "{\"cpu\": \"%s\", \"cores\": %ld, \"load\": \"%s\", \"compiler\": \"%s\",\n");
    fprintf(out, "  \"unit\": \"s per problem\", \"sizes\": [\n");
    for (int i = 0; i < count; i++) {
        write_tally(out, &tallies[i], siconos, i + 1 < count ? "," : "");
    }
    fprintf(out, "  ]}\n");
    if (ferror(out) | fclose(out)) {
        die("the JSON file cannot be written");
    }
}

static void run(int samples, const char *json)
{
    bench b = {.c = lcp_case_create(), .siconos = siconos_lcp_create(LCP_CASE_MAX_N)};
    perp_error error;
    if (!b.c || perp_lcp_workspace_create(LCP_CASE_MAX_N, NULL, &b.workspace, &error) != PERP_STATUS_OK ||
        (!b.siconos && siconos_lcp_available())) {
        die("out of memory");
    }
    const bool siconos = b.siconos != NULL;
    tally tallies[BINS + SIZES];
    timing_machine(stdout, "%s, %ld cores, load average %s before the run; %s\n");
    if (!siconos) {
        printf("built without Siconos (libsiconos-numerics-dev): no comparison\n");
    }
    print_head("all sizes, one run each", siconos);
    measure_all_sizes(&b, samples, tallies);
    for (int k = 0; k < BINS; k++) {
        print_tally(&tallies[k], siconos);
    }
    print_head("two sizes, fastest of three", siconos);
    static const int sizes[SIZES] = {100, 400};
    for (int k = 0; k < SIZES; k++) {
        measure_size(&b, sizes[k], sizes[k] > 200 ? (samples + 7) / 8 : (samples + 1) / 2, &tallies[BINS + k]);
        print_tally(&tallies[BINS + k], siconos);
    }
    if (json) {
        write_json(json, tallies, BINS + SIZES, siconos);
    }
    for (int k = 0; k < BINS + SIZES; k++) {
        free(tallies[k].ours);
        free(tallies[k].siconos);
        free(tallies[k].ratios);
    }
    lcp_case_free(b.c);
    perp_lcp_workspace_free(b.workspace);
    siconos_lcp_free(b.siconos);
}

int main(int argc, char **argv)
{
    const char *json = NULL;
    int samples = 400;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            json = argv[++i];
        } else if (strcmp(argv[i], "--samples") == 0 && i + 1 < argc) {
            samples = atoi(argv[++i]);
        } else {
            samples = 0;
        }
    }
    if (samples < 1) {
        fprintf(stderr, "usage: bench_lcp [--json FILE] [--samples N]\n");
        return 2;
    }
    run(samples > MAX_SAMPLES ? MAX_SAMPLES : samples, json);
    return 0;
}
