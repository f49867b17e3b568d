/* Time steps of stacks and piles (friction_generator.h) as Coulomb friction problems, beside Siconos' NSGS, NSN-AC and
 * ADMM on the same problems (siconos_friction.h).
 *
 * Cold: the first step, from rest, and no guess. Warm: the second, from the velocities of the first, and everyone
 * starts from the solution of the first. Times are of the solvers alone, the fastest of three: perp_contact_friction_
 * solve by its contacts, Siconos' driver in W, q; neither what reserves perp's memory nor what forms W is in them. perp
 * is asked for some forces, as the peers are; "least" is its time for those of least norm, its default.
 *
 * Everyone has to reach 1e-8, measured by perp_friction_residual in W, q, perp by its own class's residual as well.
 * Siconos has 3 s a problem. Its best is the fastest of its three that did; the ratio is the median over problems of
 * its time over perp's, and where none of them did there is none.
 */
#include "friction_generator.h"
#include "options.h"
#include "siconos_friction.h"
#include "timing.h"

#include <perp/solver.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SAMPLES = 200, REPETITIONS = 3, KINDS = 2, SIZES = 7, STARTS = 2, PEERS = SICONOS_FRICTION_METHODS };
#define TOLERANCE 1e-8
#define LIMIT_SECONDS 3.0

/* Problems of one kind, size and start. */
typedef struct tally {
    const char *kind, *start;
    int contacts, n, count, solved, peer_solved[PEERS], best_solved, least_solved, compared;
    double *times, *least_times, *peer_times[PEERS], *best_times, *ratios; /* of those that were solved */
    double residual, local_residual, peer_residual;                        /* the largest of those that were solved */
} tally;

typedef struct bench {
    friction_case *c;
    perp_friction_workspace *workspace;
    double *memory[2], *r_local[2]; /* of the first step, and of the one being solved */
    perp_convex_point points[2];
} bench;

static void die(const char *why)
{
    fprintf(stderr, "bench_friction: %s\n", why);
    exit(1);
}

static void *need(void *pointer)
{
    if (!pointer) {
        die("out of memory");
    }
    return pointer;
}

static double *take(int count)
{
    return need(calloc((size_t)count + 1, sizeof(double)));
}

static tally new_tally(const char *kind, const char *start, int contacts, int samples)
{
    tally t = {.kind = kind, .start = start, .contacts = contacts};
    t.times = take(samples);
    t.least_times = take(samples);
    t.best_times = take(samples);
    t.ratios = take(samples);
    for (int k = 0; k < PEERS; k++) {
        t.peer_times[k] = take(samples);
    }
    return t;
}

static void free_tally(tally *t)
{
    free(t->times);
    free(t->least_times);
    free(t->best_times);
    free(t->ratios);
    for (int k = 0; k < PEERS; k++) {
        free(t->peer_times[k]);
    }
}

static void size_points(bench *b)
{
    const perp_contact_qp *q = &b->c->system;
    const size_t n = (size_t)q->n, rows = (size_t)q->row_start[q->contact_count];
    for (int k = 0; k < 2; k++) {
        b->memory[k] = need(realloc(b->memory[k], (n + rows + 1) * sizeof(double)));
        b->r_local[k] = need(realloc(b->r_local[k], (rows + 1) * sizeof(double)));
        memset(b->memory[k], 0, (n + rows + 1) * sizeof(double));
        memset(b->r_local[k], 0, (rows + 1) * sizeof(double));
        b->points[k] = (perp_convex_point){.x = b->memory[k], .y = b->memory[k] + n};
    }
}

/* The time, or infinity where it was not solved. `step` is also which of the points receives the answer. */
static double time_ours(bench *b, int step, bool least, const perp_friction *local, tally *t)
{
    perp_friction_settings settings = perp_friction_settings_default();
    perp_friction_info info;
    perp_error error;
    double fastest = INFINITY;
    settings.tolerance = TOLERANCE;
    settings.minimum_norm = least;
    settings.warm = step > 0 ? &b->points[0] : NULL;
    if (perp_contact_friction_reserve(&b->c->problem, b->workspace, &error) != PERP_STATUS_OK) {
        die(error.message);
    }
    for (int i = 0; i < REPETITIONS; i++) {
        const double start = timing_now();
        if (perp_contact_friction_solve(&b->c->problem, &settings, b->workspace, &b->points[step], &info, &error) !=
            PERP_STATUS_OK) {
            die(error.message);
        }
        fastest = fmin(fastest, timing_now() - start);
    }
    friction_case_to_local(b->c, b->points[step].y, b->r_local[step]);
    const double residual = perp_contact_friction_residual_largest(
                     perp_contact_friction_evaluate(&b->c->problem, &b->points[step])),
                 in_w = perp_friction_residual(local, b->r_local[step]);
    if (info.outcome != PERP_OUTCOME_SOLVED) {
        return INFINITY;
    }
    if (!(residual <= TOLERANCE)) {
        die("falsely solved");
    }
    t->residual = fmax(t->residual, residual);
    t->local_residual = fmax(t->local_residual, in_w);
    return fastest;
}

static double time_peer(const bench *b, int step, const perp_friction *local, siconos_friction_method method, tally *t)
{
    const siconos_friction_request request = {method, TOLERANCE, LIMIT_SECONDS, REPETITIONS, perp_friction_residual};
    double *r = take(local->contacts * local->dim);
    if (step > 0) {
        memcpy(r, b->r_local[0], (size_t)(local->contacts * local->dim) * sizeof *r);
    }
    const siconos_friction_answer answer = siconos_friction_solve(local, &request, r);
    free(r);
    if (!(answer.residual <= TOLERANCE)) {
        return INFINITY;
    }
    t->peer_residual = fmax(t->peer_residual, answer.residual);
    t->peer_times[method][t->peer_solved[method]++] = answer.seconds;
    return answer.seconds;
}

static void add_problem(bench *b, int step, tally *t)
{
    perp_friction local;
    if (!friction_case_local(b->c, &local)) {
        die("a case without a local form");
    }
    const double least = time_ours(b, step, true, &local, t), ours = time_ours(b, step, false, &local, t);
    double best = INFINITY;
    for (int k = 0; k < PEERS && siconos_friction_available(); k++) {
        best = fmin(best, time_peer(b, step, &local, (siconos_friction_method)k, t));
    }
    t->count++;
    t->n = b->c->system.n;
    t->contacts = b->c->system.contact_count;
    if (isfinite(ours)) {
        t->times[t->solved++] = ours;
    }
    if (isfinite(least)) {
        t->least_times[t->least_solved++] = least;
    }
    if (isfinite(best)) {
        t->best_times[t->best_solved++] = best;
    }
    if (isfinite(ours) && isfinite(best)) {
        t->ratios[t->compared++] = best / ours;
    }
}

static void measure(bench *b, bool pile, int contacts, int samples, tally tallies[STARTS])
{
    for (int i = 0; i < samples; i++) {
        for (int step = 0; step < STARTS; step++) {
            const double *before = step > 0 ? b->points[0].x : NULL;
            const uint64_t seed = (uint64_t)i + 1;
            pile ? friction_generator_make_pile_step(b->c, contacts, seed, step, before)
                 : friction_generator_make_stack_step(b->c, contacts, seed, step, before);
            if (step == 0) {
                size_points(b);
            }
            add_problem(b, step, &tallies[step]);
        }
    }
}

static double median(double *values, int count)
{
    return count > 0 ? timing_summary(values, count).median : NAN;
}

static void print_head(void)
{
    printf("us, medians of what was solved (of how many); residuals are the largest; - : none\n%-6s %-5s %8s %6s  %16s "
           "%16s "
           "%8s %8s  %16s %16s %16s  %16s %8s  %7s\n",
           "", "start", "contacts", "n", "perp", "least", "residual", "in W", "NSGS", "NSN-AC", "ADMM", "Siconos' best",
           "residual", "ratio");
}

static void print_time(double seconds, int solved, int count)
{
    if (solved > 0) {
        printf(" %10.1f %2d/%2d", 1e6 * seconds, solved, count);
    } else {
        printf(" %10s %2d/%2d", "-", solved, count);
    }
}

static void print_tally(tally *t)
{
    printf("%-6s %-5s %8d %6d ", t->kind, t->start, t->contacts, t->n);
    print_time(median(t->times, t->solved), t->solved, t->count);
    print_time(median(t->least_times, t->least_solved), t->least_solved, t->count);
    printf(" %8.1e %8.1e ", t->residual, t->local_residual);
    for (int k = 0; k < PEERS; k++) {
        print_time(median(t->peer_times[k], t->peer_solved[k]), t->peer_solved[k], t->count);
    }
    printf(" ");
    print_time(median(t->best_times, t->best_solved), t->best_solved, t->count);
    printf(" %8.1e ", t->peer_residual);
    t->compared > 0 ? printf(" %7.2f\n", median(t->ratios, t->compared)) : printf(" %7s\n", "-");
    fflush(stdout);
}

static void write_number(FILE *out, const char *name, double value)
{
    isfinite(value) ? fprintf(out, ", \"%s\": %.4g", name, value) : fprintf(out, ", \"%s\": null", name);
}

static void write_tally(FILE *out, tally *t, const char *end)
{
    fprintf(out,
            "    {\"problem\": \"%s\", \"start\": \"%s\", \"contacts\": %d, \"n\": %d, \"number\": %d, \"solved\": %d",
            t->kind, t->start, t->contacts, t->n, t->count, t->solved);
    write_number(out, "median_s", median(t->times, t->solved));
    write_number(out, "least_norm_median_s", median(t->least_times, t->least_solved));
    write_number(out, "residual", t->residual);
    write_number(out, "residual_in_w", t->local_residual);
    for (int k = 0; k < PEERS; k++) {
        char name[40];
        snprintf(name, sizeof name, "%s_solved", siconos_friction_name((siconos_friction_method)k));
        write_number(out, name, t->peer_solved[k]);
        snprintf(name, sizeof name, "%s_median_s", siconos_friction_name((siconos_friction_method)k));
        write_number(out, name, median(t->peer_times[k], t->peer_solved[k]));
    }
    write_number(out, "siconos_best_median_s", median(t->best_times, t->best_solved));
    write_number(out, "siconos_residual", t->peer_residual);
    write_number(out, "ratio_median", median(t->ratios, t->compared));
    fprintf(out, "}%s\n", end);
}

static void write_json(const char *path, tally *tallies, int count)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        die("the JSON file cannot be written");
    }
    timing_machine(out, "{\"cpu\": \"%s\", \"cores\": %ld, \"load\": \"%s\", \"compiler\": \"%s\",\n");
    fprintf(out, "  \"unit\": \"s per problem\", \"results\": [\n");
    for (int i = 0; i < count; i++) {
        write_tally(out, &tallies[i], i + 1 < count ? "," : "");
    }
    fprintf(out, "  ]}\n");
    if (ferror(out) | fclose(out)) {
        die("the JSON file cannot be written");
    }
}

static void run(int samples, const char *json)
{
    static const int sizes[SIZES] = {1, 3, 10, 30, 100, 300, 1000};
    static const char *const kinds[KINDS] = {"stack", "pile"};
    tally tallies[KINDS * SIZES * STARTS];
    bench b = {.c = friction_case_create()};
    perp_error error;
    if (perp_friction_workspace_create(NULL, &b.workspace, &error) != PERP_STATUS_OK) {
        die("out of memory");
    }
    timing_machine(stdout, "%s, %ld cores, load average %s before the run; %s\n");
    if (!siconos_friction_available()) {
        printf("built without Siconos (libsiconos-numerics-dev): no comparison\n");
    }
    print_head();
    for (int i = 0; i < KINDS * SIZES; i++) {
        const int contacts = sizes[i % SIZES];
        const int number = contacts < 300 ? samples : contacts < 1000 ? (samples + 2) / 3 : (samples + 4) / 5;
        tally *pair = &tallies[STARTS * i];
        pair[0] = new_tally(kinds[i / SIZES], "cold", contacts, number);
        pair[1] = new_tally(kinds[i / SIZES], "warm", contacts, number);
        measure(&b, i / SIZES == 1, contacts, number, pair);
        print_tally(&pair[0]);
        print_tally(&pair[1]);
    }
    if (json) {
        write_json(json, tallies, KINDS * SIZES * STARTS);
    }
    for (int i = 0; i < KINDS * SIZES * STARTS; i++) {
        free_tally(&tallies[i]);
    }
    for (int k = 0; k < 2; k++) {
        free(b.memory[k]);
        free(b.r_local[k]);
    }
    perp_friction_workspace_free(b.workspace);
    friction_case_free(b.c);
}

int main(int argc, char **argv)
{
    const bench_options options = bench_options_read(argc, argv, (bench_option_limits){1, 10, MAX_SAMPLES});
    run(options.samples, options.json);
    return 0;
}
