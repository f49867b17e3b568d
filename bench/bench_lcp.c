/* Contact LCPs (lcp_generator.h), next to Siconos' lcp_lexicolemke on the same problems in the same run.
 *
 * First table: problems of all sizes, of the set that is proven solvable; how many each solves, judged by one residual
 * for both (1e-8, scaled as the library's), and the time over all of them, failures included. "claimed" are problems
 * that Siconos reports as solved and that are not, "off by" the median of their residuals.
 * Second table: problems of n about 100 and 400. The ratio is the median over problems that both solve of the quotient
 * of their times, each the fastest of three; the residuals are those of the same problems.
 */
#include "lcp_generator.h"
#include "options.h"
#include "siconos_lcp.h"
#include "timing.h"

#include <perp/solver.h>

#include <math.h>
#include <stdlib.h>

enum { MAX_SAMPLES = 20000, REPETITIONS = 3, BINS = 4, SIZES = 2 };
#define SOLVED 1e-8 /* on the residual, whoever says so */

typedef struct tally {
    int low, high; /* n */
    int problems, solved, siconos_solved, siconos_claimed, both, fallbacks;
    double *ours, *siconos;                              /* s a problem */
    double *ratios, *ours_residuals, *siconos_residuals; /* of those that both solve */
    double *claimed_residuals;
    timing_stats ours_time, siconos_time;
    double ratio, claimed_residual, ours_residual[2], siconos_residual[2]; /* median; of residuals also the largest */
} tally;

/* One problem, one solver. */
typedef struct answer {
    bool solved;
    double seconds; /* the fastest of some */
    double residual;
} answer;

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
    tally t = {.low = low,
               .high = high,
               .ours = take(samples),
               .siconos = take(samples),
               .ratios = take(samples),
               .ours_residuals = take(samples),
               .siconos_residuals = take(samples),
               .claimed_residuals = take(samples)};
    return t;
}

static void free_tally(tally *t)
{
    free(t->ours);
    free(t->siconos);
    free(t->ratios);
    free(t->ours_residuals);
    free(t->siconos_residuals);
    free(t->claimed_residuals);
}

static answer time_ours(bench *b, int repetitions, tally *t)
{
    const perp_lcp problem = {b->c->n, b->c->m, b->c->q};
    answer r = {.seconds = INFINITY};
    perp_lcp_solution solution = {.z = b->z, .w = b->w};
    perp_lcp_info info;
    perp_error error;
    for (int i = 0; i < repetitions; i++) {
        const double start = timing_now();
        if (perp_lcp_solve(&problem, NULL, b->workspace, &solution, &info, &error) != PERP_STATUS_OK) {
            die(error.message);
        }
        r.seconds = fmin(r.seconds, timing_now() - start);
    }
    r.residual = perp_lcp_residual(&problem, b->z);
    r.solved = info.outcome == PERP_OUTCOME_SOLVED;
    if (r.solved && !(r.residual <= SOLVED)) {
        die("falsely solved");
    }
    t->fallbacks += info.tried_count > 1;
    return r;
}

static answer time_siconos(bench *b, int repetitions, tally *t)
{
    const perp_lcp problem = {b->c->n, b->c->m, b->c->q};
    answer r = {.seconds = INFINITY};
    bool claimed = false;
    for (int i = 0; i < repetitions; i++) {
        double once;
        claimed = siconos_lcp_solve(b->siconos, b->c->n, b->c->m, b->c->q, b->z, &once);
        r.seconds = fmin(r.seconds, once);
    }
    r.residual = perp_lcp_residual(&problem, b->z);
    r.solved = claimed && r.residual <= SOLVED;
    if (claimed && !r.solved) {
        t->claimed_residuals[t->siconos_claimed++] = r.residual;
    }
    return r;
}

static void add_problem(bench *b, int repetitions, tally *t)
{
    const int i = t->problems++;
    const answer ours = time_ours(b, repetitions, t);
    t->ours[i] = ours.seconds;
    t->solved += ours.solved;
    if (b->siconos) {
        const answer siconos = time_siconos(b, repetitions, t);
        t->siconos[i] = siconos.seconds;
        t->siconos_solved += siconos.solved;
        if (ours.solved && siconos.solved) {
            const int k = t->both++;
            t->ratios[k] = siconos.seconds / ours.seconds;
            t->ours_residuals[k] = ours.residual;
            t->siconos_residuals[k] = siconos.residual;
        }
    }
}

static void median_and_largest(double *values, int count, double r[2])
{
    r[0] = timing_summary(values, count).median; /* which sorts them */
    r[1] = values[count - 1];
}

static void summarise(tally *t)
{
    if (t->problems > 0) {
        t->ours_time = timing_summary(t->ours, t->problems);
        t->siconos_time = timing_summary(t->siconos, t->problems);
    }
    if (t->siconos_claimed > 0) {
        t->claimed_residual = timing_summary(t->claimed_residuals, t->siconos_claimed).median;
    }
    if (t->both > 0) {
        t->ratio = timing_summary(t->ratios, t->both).median;
        median_and_largest(t->ours_residuals, t->both, t->ours_residual);
        median_and_largest(t->siconos_residuals, t->both, t->siconos_residual);
    }
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
        printf("     %7d (%4d)  %7.1g  %8.0f /%8.0f    %5d", t->siconos_solved, t->siconos_claimed, t->claimed_residual,
               1e6 * t->siconos_time.median, 1e6 * t->siconos_time.p99, t->both);
        if (t->both > 0) {
            printf("  %6.1f  %8.1e /%8.1e  %8.1e /%8.1e", t->ratio, t->ours_residual[0], t->ours_residual[1],
                   t->siconos_residual[0], t->siconos_residual[1]);
        }
    }
    printf("\n");
}

static void print_head(const char *title, bool siconos)
{
    printf("%s\n%8s  %8s  %16s  %17s", title, "n", "problems", "solved (fallb.)", "us median / p99");
    if (siconos) {
        printf("    %16s  %7s  %17s    %5s  %6s  %18s  %18s", "Siconos (claim)", "off by", "us median / p99", "both",
               "ratio", "residual med / max", "Siconos' med / max");
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
                ", \"siconos\": {\"solved\": %d, \"claimed\": %d, \"claimed_residual\": %.3g, \"median_s\": %.4g, "
                "\"p99_s\": %.4g, \"both\": %d",
                t->siconos_solved, t->siconos_claimed, t->claimed_residual, t->siconos_time.median, t->siconos_time.p99,
                t->both);
        if (t->both > 0) {
            fprintf(out,
                    ", \"ratio_median\": %.3f, \"residual_median\": %.3g, \"residual_max\": %.3g, "
                    "\"our_residual_median\": %.3g, \"our_residual_max\": %.3g",
                    t->ratio, t->siconos_residual[0], t->siconos_residual[1], t->ours_residual[0], t->ours_residual[1]);
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
        free_tally(&tallies[k]);
    }
    lcp_case_free(b.c);
    perp_lcp_workspace_free(b.workspace);
    siconos_lcp_free(b.siconos);
}

int main(int argc, char **argv)
{
    const bench_options options = bench_options_read(argc, argv, (bench_option_limits){1, 400, MAX_SAMPLES});
    run(options.samples, options.json);
    return 0;
}
