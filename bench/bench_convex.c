/* Convex contact problems (convex_scenes.h): the bin of 69 unknowns, about 60 contacts and 240 rays, and its cones; and
 * towers and piles of 10 to 1,000 cubes. Times are of perp_contact_qp_solve; "with set-up" adds
 * perp_contact_qp_reserve, which a step needs whenever its contacts change. Cold: one problem of each of N bins, the
 * fastest of three. Warm: each of ten consecutive steps from the solution of the one before, and beside it the same
 * problems cold. Times of towers and piles are processor time. The residual is the largest that was seen, in
 * perp_contact_qp_residual's measure.
 *
 * Other solvers then get the same bins, from bench_convex_peers.py in build/python; without it that is said.
 */
#include "convex_scenes.h"
#include "options.h"
#include "timing.h"

#include <perp/solver.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SAMPLES = 3000, REPETITIONS = 3, STEPS = 10, KINDS = 4, SIZES = 5, GROWTHS = 4 };

/* What a list of solves took. */
typedef struct tally {
    int count, solved, iterations;
    double *times, *whole;
    double residual;
    timing_stats time, with_setup;
} tally;

typedef struct bench {
    convex_case *c;
    convex_bin *bin;
    perp_convex_workspace *workspace;
    double *memory, *previous;
    size_t room;
    double (*clock)(void); /* s */
} bench;

typedef struct bin_kind {
    const char *name;
    bool quadratic, quasidynamic;
    tally cold, warm, steps_cold;
} bin_kind;

typedef struct growth_row {
    const char *name;
    int cubes, contacts, iterations;
    double seconds, residual;
} growth_row;

static void die(const char *why)
{
    fprintf(stderr, "bench_convex: %s\n", why);
    exit(1);
}

static void *need(void *pointer)
{
    if (!pointer) {
        die("out of memory");
    }
    return pointer;
}

static tally new_tally(int count)
{
    tally t = {.times = need(calloc((size_t)count, sizeof(double))),
               .whole = need(calloc((size_t)count, sizeof(double)))};
    return t;
}

static void finish_tally(tally *t)
{
    if (t->count > 0) {
        t->time = timing_summary(t->times, t->count);
        t->with_setup = timing_summary(t->whole, t->count);
    }
    free(t->times);
    free(t->whole);
}

/* A point's arrays in `memory`, which holds three n, the slacks and no equalities. */
static perp_convex_point point_in(double *memory, const perp_contact_qp *q)
{
    const int n = q->n;
    return (perp_convex_point){.x = memory, .y_lower = memory + n, .y_upper = memory + 2 * n, .y = memory + 3 * n};
}

static void make_room(bench *b, const perp_contact_qp *q)
{
    const size_t wanted = 3 * (size_t)q->n + (size_t)q->slack_start[q->contact_count] + 1;
    if (wanted > b->room) {
        b->room = wanted;
        b->memory = need(realloc(b->memory, wanted * sizeof *b->memory));
        b->previous = need(realloc(b->previous, wanted * sizeof *b->previous));
    }
}

/* The fastest of some; the answer stays in b->memory. */
static perp_convex_info measure(bench *b, const perp_convex_point *warm, int repetitions, double *seconds,
                                double *whole, double *residual)
{
    const perp_contact_qp *q = &b->c->qp;
    perp_convex_settings settings = perp_convex_settings_default();
    perp_convex_info info = {0};
    perp_error error;
    settings.warm = warm;
    make_room(b, q);
    perp_convex_point point = point_in(b->memory, q);
    *seconds = *whole = INFINITY;
    for (int i = 0; i < repetitions; i++) {
        const double start = b->clock();
        if (perp_contact_qp_reserve(q, b->workspace, &error) != PERP_STATUS_OK) {
            die(error.message);
        }
        const double middle = b->clock();
        if (perp_contact_qp_solve(q, &settings, b->workspace, &point, &info, &error) != PERP_STATUS_OK) {
            die(error.message);
        }
        const double end = b->clock();
        *seconds = fmin(*seconds, end - middle);
        *whole = fmin(*whole, end - start);
    }
    *residual = perp_convex_residual_largest(perp_contact_qp_residual(q, &point));
    if (info.outcome == PERP_OUTCOME_SOLVED && !(*residual <= settings.tolerance)) {
        die("falsely solved");
    }
    return info;
}

static void add_to(bench *b, const perp_convex_point *warm, tally *t)
{
    double residual;
    const int i = t->count++;
    const perp_convex_info info = measure(b, warm, REPETITIONS, &t->times[i], &t->whole[i], &residual);
    t->solved += info.outcome == PERP_OUTCOME_SOLVED;
    t->iterations += info.iterations;
    t->residual = fmax(t->residual, residual);
}

static void measure_bins(bench *b, int samples, bin_kind *kind)
{
    kind->cold = new_tally(samples);
    for (int i = 0; i < samples; i++) {
        convex_bin_start(b->bin, 1, i);
        convex_bin_make(b->bin, kind->quadratic, kind->quasidynamic, b->c);
        add_to(b, NULL, &kind->cold);
    }
    finish_tally(&kind->cold);
}

/* Every tenth bin, ten steps on: as many problems as there are bins. */
static void measure_steps(bench *b, int samples, bin_kind *kind)
{
    kind->warm = new_tally(samples);
    kind->steps_cold = new_tally(samples);
    for (int i = 0; kind->warm.count + STEPS <= samples; i++) {
        convex_bin_start(b->bin, 2, i);
        for (int step = 0; step <= STEPS; step++) {
            double seconds, whole, residual;
            convex_bin_make(b->bin, kind->quadratic, kind->quasidynamic, b->c);
            if (step == 0) {
                measure(b, NULL, 1, &seconds, &whole, &residual);
            } else {
                const perp_convex_point warm = point_in(b->previous, &b->c->qp);
                add_to(b, NULL, &kind->steps_cold);
                add_to(b, &warm, &kind->warm);
            }
            memcpy(b->previous, b->memory, b->room * sizeof *b->memory);
            convex_bin_advance(b->bin, b->memory);
        }
    }
    finish_tally(&kind->warm);
    finish_tally(&kind->steps_cold);
}

static void print_tally(const char *name, const char *start, const tally *t)
{
    if (t->count > 0) {
        printf("%-20s %-12s %6d %6d  %7.1f /%7.1f  %7.1f /%7.1f  %6.1f  %8.1e\n", name, start, t->count, t->solved,
               1e6 * t->time.median, 1e6 * t->time.p99, 1e6 * t->with_setup.median, 1e6 * t->with_setup.p99,
               (double)t->iterations / t->count, t->residual);
    }
}

static void print_bins(const bin_kind *kinds)
{
    printf("bin: 69 unknowns, about 60 contacts, 240 rays or 60 cones\n%-20s %-12s %6s %6s  %16s  %16s  %6s  %8s\n", "",
           "start", "number", "solved", "us median / p99", "with set-up", "iter.", "residual");
    for (int k = 0; k < KINDS; k++) {
        print_tally(kinds[k].name, "cold", &kinds[k].cold);
        print_tally(kinds[k].name, "warm, steps", &kinds[k].warm);
        print_tally(kinds[k].name, "cold, steps", &kinds[k].steps_cold);
    }
}

static void measure_growth(bench *b, growth_row *row, bool pile, bool quadratic, int cubes)
{
    double whole;
    (pile ? convex_pile_make : convex_tower_make)(b->c, cubes, 1, quadratic);
    row->name = pile ? (quadratic ? "pile, cones" : "pile, rays") : quadratic ? "towers, cones" : "towers, rays";
    row->cubes = cubes;
    row->contacts = b->c->qp.contact_count;
    const perp_convex_info info = measure(b, NULL, REPETITIONS, &row->seconds, &whole, &row->residual);
    row->iterations = info.iterations;
    if (info.outcome != PERP_OUTCOME_SOLVED) {
        row->residual = INFINITY;
    }
}

static void print_growth(const growth_row *rows)
{
    printf("growth, cold (quasidynamic; inf: not solved)\n%-14s %6s %8s  %10s  %14s  %5s  %8s\n", "", "cubes",
           "contacts", "us", "us per contact", "iter.", "residual");
    for (int i = 0; i < GROWTHS * SIZES; i++) {
        const growth_row *r = &rows[i];
        printf("%-14s %6d %8d  %10.0f  %14.3f  %5d  %8.1e\n", r->name, r->cubes, r->contacts, 1e6 * r->seconds,
               1e6 * r->seconds / r->contacts, r->iterations, r->residual);
    }
}

static void write_tally(FILE *out, const char *name, const char *start, const tally *t)
{
    fprintf(out,
            "    {\"problem\": \"%s\", \"start\": \"%s\", \"number\": %d, \"solved\": %d, \"median_s\": %.4g, "
            "\"p99_s\": %.4g, \"with_setup_median_s\": %.4g, \"iterations\": %.1f, \"residual\": %.3g},\n",
            name, start, t->count, t->solved, t->time.median, t->time.p99, t->with_setup.median,
            t->count ? (double)t->iterations / t->count : 0.0, t->residual);
}

static void write_json(const char *path, const bin_kind *kinds, const growth_row *rows)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        die("the JSON file cannot be written");
    }
    timing_machine(out, "{\"cpu\": \"%s\", \"cores\": %ld, \"load\": \"%s\", \"compiler\": \"%s\",\n");
    fprintf(out, "  \"unit\": \"s per problem\", \"results\": [\n");
    for (int k = 0; k < KINDS; k++) {
        write_tally(out, kinds[k].name, "cold", &kinds[k].cold);
        write_tally(out, kinds[k].name, "warm", &kinds[k].warm);
        write_tally(out, kinds[k].name, "cold, steps", &kinds[k].steps_cold);
    }
    for (int i = 0; i < GROWTHS * SIZES; i++) {
        fprintf(out,
                "    {\"problem\": \"%s\", \"cubes\": %d, \"contacts\": %d, \"median_s\": %.4g, \"iterations\": %d, "
                "\"residual\": %s%.3g%s}%s\n",
                rows[i].name, rows[i].cubes, rows[i].contacts, rows[i].seconds, rows[i].iterations,
                isfinite(rows[i].residual) ? "" : "\"", rows[i].residual, isfinite(rows[i].residual) ? "" : "\"",
                i + 1 < GROWTHS * SIZES ? "," : "");
    }
    fprintf(out, "  ]}\n");
    if (ferror(out) | fclose(out)) {
        die("the JSON file cannot be written");
    }
}

/* The other solvers print a table of their own, and leave <name>_peers.json beside ours. */
static void run_peers(int samples, const char *json)
{
    const char *python = PERP_SOURCE_DIR "/build/python/bin/python";
    char command[2000];
    if (access(python, X_OK) != 0) {
        printf("build/python is not there (make deps): no other solvers\n");
        return;
    }
    const int length = snprintf(
        command, sizeof command, "'%s' '%s/bench/bench_convex_peers.py' --dump '%s' --samples %d%s%s%s", python,
        PERP_SOURCE_DIR, PERP_CONVEX_DUMP, samples, json ? " --json '" : "", json ? json : "", json ? "'" : "");
    fflush(stdout);
    if (length < 0 || (size_t)length >= sizeof command || system(command) != 0) {
        die("bench_convex_peers.py failed");
    }
}

static void run(int samples, const char *json)
{
    static const int sizes[SIZES] = {10, 30, 100, 300, 1000};
    bin_kind kinds[KINDS] = {{.name = "rays"},
                             {.name = "cones", .quadratic = true},
                             {.name = "rays, quasidynamic", .quasidynamic = true},
                             {.name = "cones, quasidynamic", .quadratic = true, .quasidynamic = true}};
    growth_row rows[GROWTHS * SIZES];
    bench b = {.c = convex_case_create(), .bin = convex_bin_create(), .clock = timing_now};
    perp_error error;
    if (perp_convex_workspace_create(NULL, &b.workspace, &error) != PERP_STATUS_OK) {
        die("out of memory");
    }
    timing_machine(stdout, "%s, %ld cores, load average %s before the run; %s\n");
    for (int k = 0; k < KINDS; k++) {
        measure_bins(&b, samples, &kinds[k]);
        measure_steps(&b, samples, &kinds[k]);
    }
    print_bins(kinds);
    b.clock = timing_processor; /* the largest take long enough to be interrupted */
    for (int i = 0; i < GROWTHS * SIZES; i++) {
        measure_growth(&b, &rows[i], i / SIZES >= 2, i / SIZES % 2 == 1, sizes[i % SIZES]);
    }
    print_growth(rows);
    if (json) {
        write_json(json, kinds, rows);
    }
    run_peers(samples, json);
    perp_convex_workspace_free(b.workspace);
    convex_bin_free(b.bin);
    convex_case_free(b.c);
    free(b.memory);
    free(b.previous);
}

int main(int argc, char **argv)
{
    const bench_options options = bench_options_read(argc, argv, (bench_option_limits){1, 300, MAX_SAMPLES});
    run(options.samples, options.json);
    return 0;
}
