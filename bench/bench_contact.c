/* Contact queries, next to MuJoCo and ODE in the same process: one pair of shapes at a time (contact_pairs.c says what
 * is timed and how the residual bounds the error), then all contacts of a scene (contact_queries.c).
 *
 * What the project promises: the arm with a gripper and ten cubes not slower than mj_collision; from 1,000 to 10,000
 * bodies in a pile the cost of a body less than 1.5 times as high.
 */
#include "contact_pairs.h"
#include "contact_queries.h"
#include "contact_scenes.h"
#include "options.h"
#include "pair_peers.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

enum { QUERIES = 4 };
#define MARGIN 0.01 /* of the pairs that are apart, m */

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench_contact: %s: %s\n", what, why);
    exit(1);
}

/* ---- tables -------------------------------------------------------------------------------------------------------
 */

static void print_cell(const pair_row *row, pair_method m, bool points)
{
    if (!row->timed[m]) {
        printf(points ? "        -     " : "      - ");
    } else if (points) {
        printf("  %7.0f %4.1f", 1e9 * row->time[m].median, row->points[m]);
    } else {
        printf(" %7.0f", 1e9 * row->time[m].median);
    }
}

static void print_pairs(const pair_row *rows, int count)
{
    printf("\nOne pair: ns (median) and contacts a pair; residual in m\n");
    printf("%-34s %7s  %12s  %12s  %12s  %9s\n", "", "gap", "manifold", "MuJoCo", "ODE", "residual");
    for (int i = 0; i < count; i++) {
        const pair_row *r = &rows[i];
        printf("%-10s %-10s %-12s", pair_kind_names[r->a], pair_kind_names[r->b], pair_class_names[r->class]);
        print_cell(r, METHOD_DISTANCE, false);
        for (pair_method m = METHOD_MANIFOLD; m < METHOD_COUNT; m++) {
            print_cell(r, m, true);
        }
        printf("  %9.1e\n", r->residual);
    }
}

/* Geometric mean over the pairs that the peer has, and how many of them we lose. */
static double ratio_of(const pair_row *rows, int count, pair_class class, pair_method peer, int *compared, int *slower)
{
    double sum = 0.0;
    *compared = *slower = 0;
    for (int i = 0; i < count; i++) {
        if (rows[i].class == class && rows[i].timed[peer]) {
            const double ratio = rows[i].time[METHOD_MANIFOLD].median / rows[i].time[peer].median;
            sum += log(ratio);
            *slower += ratio > 1.0;
            ++*compared;
        }
    }
    return exp(sum / *compared);
}

static void print_ratios(const pair_row *rows, int count)
{
    for (pair_class class = 0; class < CLASS_COUNT; class ++) {
        printf("ratio of medians, ours (manifold) / peer, geometric mean, %-12s", pair_class_names[class]);
        for (pair_method peer = METHOD_MUJOCO; peer <= METHOD_ODE; peer++) {
            int compared, slower;
            const double ratio = ratio_of(rows, count, class, peer, &compared, &slower);
            printf("%s %.2f (slower in %d of %d)", peer == METHOD_MUJOCO ? " MuJoCo" : ";  ODE", ratio, slower,
                   compared);
        }
        printf("\n");
    }
}

static void print_query(const query_row *r)
{
    printf("\n%s: %d bodies, %d degrees of freedom, margin %g m, %d queries\n", r->name, r->bodies, r->nv, r->margin,
           r->samples);
    printf("  %-8s %12s %12s %12s %10s   us per query\n", "", "min", "median", "p99", "contacts");
    for (query_engine e = 0; e < ENGINE_COUNT; e++) {
        printf("  %-8s %12.2f %12.2f %12.2f %10.1f\n", query_engine_names[e], 1e6 * r->time[e].min,
               1e6 * r->time[e].median, 1e6 * r->time[e].p99, r->contacts[e]);
    }
    printf("  ratio of medians: ours / MuJoCo %.2f;  ours / ODE %.2f;  deepest: ours %.2e, MuJoCo %.2e m%s\n",
           r->time[ENGINE_OURS].median / r->time[ENGINE_MUJOCO].median,
           r->time[ENGINE_OURS].median / r->time[ENGINE_ODE].median, r->deepest[ENGINE_OURS], r->deepest[ENGINE_MUJOCO],
           r->grew ? "; ours took memory" : "");
    fflush(stdout);
}

/* Cost of a body in the larger scene over that in the smaller one. */
static double growth(const query_row *small, const query_row *large, double small_time, double large_time)
{
    return large_time / large->bodies / (small_time / small->bodies);
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------
 */

static void json_pair(FILE *out, const pair_row *r)
{
    fprintf(out, "    {\"a\": \"%s\", \"b\": \"%s\", \"class\": \"%s\", \"residual_m\": %.3e", pair_kind_names[r->a],
            pair_kind_names[r->b], pair_class_names[r->class], r->residual);
    for (pair_method m = 0; m < METHOD_COUNT; m++) {
        if (r->timed[m]) {
            fprintf(out, ", \"%s\": {\"min_ns\": %.1f, \"median_ns\": %.1f, \"points\": %.2f}", pair_method_keys[m],
                    1e9 * r->time[m].min, 1e9 * r->time[m].median, r->points[m]);
        }
    }
    fprintf(out, "}");
}

static void json_query(FILE *out, const query_row *r)
{
    fprintf(out, "    {\"name\": \"%s\", \"bodies\": %d, \"nv\": %d, \"margin\": %g, \"queries\": %d", r->name,
            r->bodies, r->nv, r->margin, r->samples);
    for (query_engine e = 0; e < ENGINE_COUNT; e++) {
        fprintf(out, ",\n     \"%s\": {\"min_us\": %.3f, \"median_us\": %.3f, \"p99_us\": %.3f, \"contacts\": %.1f}",
                query_engine_keys[e], 1e6 * r->time[e].min, 1e6 * r->time[e].median, 1e6 * r->time[e].p99,
                r->contacts[e]);
    }
    fprintf(out, "}");
}

static void write_json(const char *path, const pair_row *rows, int count, const query_row *queries)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        die(path, "cannot be written");
    }
    timing_machine(out, "{\"cpu\": \"%s\", \"cores\": %ld, \"load\": \"%s\", \"compiler\": \"%s\",\n");
    fprintf(out, "  \"mujoco\": \"%s\", \"ode\": \"%s\", \"pairs\": [\n", pair_mujoco_version(), pair_ode_version());
    for (int i = 0; i < count; i++) {
        json_pair(out, &rows[i]);
        fprintf(out, i + 1 < count ? ",\n" : "\n");
    }
    fprintf(out, "  ], \"queries\": [\n");
    for (int i = 0; i < QUERIES; i++) {
        json_query(out, &queries[i]);
        fprintf(out, i + 1 < QUERIES ? ",\n" : "\n");
    }
    fprintf(out, "  ]}\n");
    if (ferror(out) | fclose(out)) {
        die(path, "cannot be written");
    }
}

/* Large scenes get fewer samples. MuJoCo takes about half a minute to compile the largest. */
static void measure_queries(query_row *queries, int samples)
{
    queries[0] = query_measure("stack of 10 cubes", contact_scene_stack(10), samples);
    print_query(&queries[0]);
    queries[1] = query_measure("arm with gripper and 10 cubes", contact_scene_arm(), samples);
    print_query(&queries[1]);
    queries[2] = query_measure("pile of 1000", contact_scene_pile(1000), samples / 10 + 1);
    print_query(&queries[2]);
    queries[3] = query_measure("pile of 10000", contact_scene_pile(10000), samples / 100 + 1);
    print_query(&queries[3]);
    printf("  cost of a body over that in the pile of 1000, of minima / medians:");
    for (query_engine e = 0; e < ENGINE_COUNT; e++) {
        const timing_stats *few = &queries[2].time[e], *many = &queries[3].time[e];
        printf(" %s %.2f / %.2f%s", query_engine_names[e], growth(&queries[2], &queries[3], few->min, many->min),
               growth(&queries[2], &queries[3], few->median, many->median), e + 1 < ENGINE_COUNT ? ";" : "\n");
    }
}

int main(int argc, char **argv)
{
    static pair_row rows[PAIR_ROWS_MAX];
    query_row queries[QUERIES];
    const bench_options options = bench_options_read(argc, argv, (bench_option_limits){1, 2000, INT_MAX});
    timing_machine(stdout, "%s, %ld cores, load average %s before the run; %s\n");
    printf("MuJoCo %s, ODE %s\n", pair_mujoco_version(), pair_ode_version());
    const int count = pair_rows_measure(rows, options.samples / 10 + 1, MARGIN);
    print_pairs(rows, count);
    print_ratios(rows, count);
    fflush(stdout);
    measure_queries(queries, options.samples);
    if (options.json) {
        write_json(options.json, rows, count, queries);
    }
    return 0;
}
