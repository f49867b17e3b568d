/* The broad phase of the library, next to the two methods that it was chosen over.
 *
 * Scenes, each over a plane (unbounded box): a pile of boxes of about one size, dense enough to touch; sizes from
 * 1 mm to 10 m, uniform in their logarithm; and the pile with one box that fell to -1e6 m. Between searches every box
 * moves by up to 1 % of its size, as in a simulation. Methods:
 *   tree kept   perp_broad_phase_find as a simulation calls it
 *   tree new    the same with a workspace that has seen nothing (its memory reserved beforehand)
 *   sweep       sweep-and-prune along the axis of largest variance, order kept and mended by insertion
 *   grid        hierarchical grid: each box in one cell of its size class, asking its own and all coarser classes
 * The library's answer is filtered and sorted; those of the other two are neither, so they are timed too kindly. All
 * must find the same number of pairs, and the same sum over them.
 */
#include "options.h"
#include "timing.h"

#include <perp/geometry.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SAMPLES = 1000, LEVELS = 16 };

typedef enum method { KEPT, FRESH, SWEEP, GRID, METHODS } method;
static const char *const method_names[METHODS] = {"tree kept", "tree new", "sweep", "grid"};
static const char *const method_keys[METHODS] = {"kept", "fresh", "sweep", "grid"};

typedef enum kind { PILE, MIXED, FALLEN, KINDS } kind;
static const char *const kind_names[KINDS] = {"pile", "mixed", "fallen"};

/* The number of pairs and a sum that depends on which they are, not on their order. */
typedef struct tally {
    uint64_t count, sum;
} tally;

typedef struct subject {
    kind kind;
    int count;
    perp_broad_phase_box *boxes;
    perp_broad_phase *workspace;
    int *order; /* of the sweep */
    int *cells, *next;
    int rebuilds, searches;
    double pairs_per_box, tests_per_box;
    timing_stats time[METHODS]; /* s per search */
} subject;

static void die(const char *why)
{
    fprintf(stderr, "bench_broad_phase: %s\n", why);
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

static void add(tally *t, int i, int j)
{
    const uint64_t low = (uint64_t)(i < j ? i : j), high = (uint64_t)(i < j ? j : i);
    t->count++;
    t->sum += (low * 0x9e3779b97f4a7c15u) ^ (high * 0xbf58476d1ce4e5b9u);
}

static bool overlap(const perp_broad_phase_box *a, const perp_broad_phase_box *b)
{
    return (a->low.x <= b->high.x) & (b->low.x <= a->high.x) & (a->low.y <= b->high.y) & (b->low.y <= a->high.y) &
           (a->low.z <= b->high.z) & (b->low.z <= a->high.z);
}

static double coordinate(const perp_vec3 *v, int axis)
{
    return axis == 0 ? v->x : axis == 1 ? v->y : v->z;
}

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

/* Box 0 is the plane. The others have twice the volume of the cube they are in, as the boxes around touching bodies
 * with a margin have; in the pile each then overlaps some twelve. */
static void fill(subject *s, perp_random *random)
{
    double volume = 0.0;
    for (int i = 1; i < s->count; i++) {
        const double u = perp_random_uniform(random, 1e-6, 1.0);
        const double size = s->kind == MIXED ? pow(10.0, 4.0 * u - 3.0) : 0.02 + 0.03 * u;
        s->boxes[i].high = perp_vec3_make(size, size * perp_random_uniform(random, 0.5, 1.0),
                                          size * perp_random_uniform(random, 0.5, 1.0));
        volume += s->boxes[i].high.x * s->boxes[i].high.y * s->boxes[i].high.z;
    }
    const double width = cbrt(volume / 2.0);
    s->boxes[0].low = perp_vec3_make(-INFINITY, -INFINITY, -INFINITY);
    s->boxes[0].high = perp_vec3_make(INFINITY, INFINITY, 0.0);
    s->boxes[0].body = -1;
    s->boxes[0].fixed = true;
    for (int i = 1; i < s->count; i++) {
        s->boxes[i].low =
            perp_vec3_make(perp_random_uniform(random, 0.0, width), perp_random_uniform(random, 0.0, width),
                           perp_random_uniform(random, 0.0, width));
        if (s->kind == FALLEN && i == 1) {
            s->boxes[i].low = perp_vec3_make(-1e6, -1e6, -1e6);
        }
        s->boxes[i].high = perp_vec3_add(s->boxes[i].low, s->boxes[i].high);
        s->boxes[i].body = i;
    }
}

static void move(subject *s, perp_random *random)
{
    for (int i = 1; i < s->count; i++) {
        const double reach = 0.01 * (s->boxes[i].high.x - s->boxes[i].low.x);
        const perp_vec3 d =
            perp_vec3_make(perp_random_uniform(random, -reach, reach), perp_random_uniform(random, -reach, reach),
                           perp_random_uniform(random, -reach, reach));
        s->boxes[i].low = perp_vec3_add(s->boxes[i].low, d);
        s->boxes[i].high = perp_vec3_add(s->boxes[i].high, d);
    }
}

/* ---- the methods ------------------------------------------------------------------------------------------------- */

static tally search_tree(subject *s, method which, double *seconds)
{
    perp_broad_phase *workspace = s->workspace;
    perp_broad_phase_result result;
    if (which == FRESH && (perp_broad_phase_create(NULL, NULL, &workspace, NULL) != PERP_STATUS_OK ||
                           perp_broad_phase_reserve(workspace, s->count, 64 * s->count, NULL) != PERP_STATUS_OK)) {
        die("out of memory");
    }
    const double start = timing_now();
    if (perp_broad_phase_find(workspace, s->boxes, s->count, NULL, 0, &result, NULL) != PERP_STATUS_OK) {
        die("the search failed");
    }
    *seconds = timing_now() - start;
    tally t = {0, 0};
    for (int k = 0; k < result.count; k++) {
        add(&t, result.pairs[k].a, result.pairs[k].b);
    }
    if (which == KEPT) {
        s->rebuilds += result.rebuilt;
        s->searches++;
        s->tests_per_box = (double)result.tests / s->count;
    } else {
        perp_broad_phase_free(workspace);
    }
    return t;
}

static int widest_axis(const subject *s)
{
    double best = -1.0;
    int axis = 0;
    for (int c = 0; c < 3; c++) {
        double sum = 0.0, square = 0.0;
        for (int i = 1; i < s->count; i++) {
            const double x = coordinate(&s->boxes[i].low, c);
            sum += x;
            square += x * x;
        }
        const double variance = square - sum * sum / (s->count - 1);
        axis = variance > best ? c : axis;
        best = fmax(best, variance);
    }
    return axis;
}

static const subject *sorted_subject;
static int sorted_axis;
static int by_low(const void *a, const void *b)
{
    const double x = coordinate(&sorted_subject->boxes[*(const int *)a].low, sorted_axis);
    const double y = coordinate(&sorted_subject->boxes[*(const int *)b].low, sorted_axis);
    return (x > y) - (x < y);
}

static tally search_sweep(subject *s)
{
    tally t = {0, 0};
    const int axis = widest_axis(s);
    if (s->order[0] < 0 || sorted_axis != axis || sorted_subject != s) {
        for (int i = 0; i < s->count; i++) {
            s->order[i] = i;
        }
        sorted_subject = s;
        sorted_axis = axis;
        qsort(s->order, (size_t)s->count, sizeof *s->order, by_low);
    }
    for (int k = 1; k < s->count; k++) {
        const int kept = s->order[k];
        int j = k;
        for (; j > 0 && by_low(&s->order[j - 1], &kept) > 0; j--) {
            s->order[j] = s->order[j - 1];
        }
        s->order[j] = kept;
    }
    for (int k = 0; k < s->count; k++) {
        const perp_broad_phase_box *a = &s->boxes[s->order[k]];
        const double end = coordinate(&a->high, axis);
        for (int j = k + 1; j < s->count && coordinate(&s->boxes[s->order[j]].low, axis) <= end; j++) {
            if (overlap(a, &s->boxes[s->order[j]])) {
                add(&t, s->order[k], s->order[j]);
            }
        }
    }
    return t;
}

/* The class of cells of 1 mm 2^level that is the first not smaller than the box. */
static int level_of(const perp_broad_phase_box *b)
{
    const double size = fmax(b->high.x - b->low.x, fmax(b->high.y - b->low.y, b->high.z - b->low.z));
    int level;
    frexp(size / 1e-3, &level);
    return level < 0 ? 0 : level > LEVELS - 1 ? LEVELS - 1 : level;
}

static uint32_t cell_of(int level, int64_t x, int64_t y, int64_t z, uint32_t mask)
{
    uint64_t h = (uint64_t)x * 0x9e3779b97f4a7c15u ^ (uint64_t)y * 0xc2b2ae3d27d4eb4fu ^
                 (uint64_t)z * 0x165667b19e3779f9u ^ (uint64_t)level * 0xd6e8feb86659fd93u;
    h ^= h >> 32;
    return (uint32_t)(h * 0xd6e8feb86659fd93u >> 32) & mask;
}

/* What the boxes inserted so far have in common with box i, among those of a level. A box stands in the one cell that
 * holds its low corner, so those that overlap i have it between i's low cell - 1 and i's high cell. */
static void ask_level(const subject *s, int i, int level, uint32_t mask, tally *t)
{
    const perp_broad_phase_box *b = &s->boxes[i];
    const double cell = ldexp(1e-3, level);
    const int64_t low[3] = {(int64_t)floor(b->low.x / cell) - 1, (int64_t)floor(b->low.y / cell) - 1,
                            (int64_t)floor(b->low.z / cell) - 1};
    const int64_t high[3] = {(int64_t)floor(b->high.x / cell), (int64_t)floor(b->high.y / cell),
                             (int64_t)floor(b->high.z / cell)};
    for (int64_t x = low[0]; x <= high[0]; x++) {
        for (int64_t y = low[1]; y <= high[1]; y++) {
            for (int64_t z = low[2]; z <= high[2]; z++) {
                for (int j = s->cells[cell_of(level, x, y, z, mask)]; j >= 0; j = s->next[j]) {
                    /* Another cell or level may share the bucket: only what truly stands here counts. */
                    const perp_broad_phase_box *o = &s->boxes[j];
                    if (overlap(b, o) && level_of(o) == level && (int64_t)floor(o->low.x / cell) == x &&
                        (int64_t)floor(o->low.y / cell) == y && (int64_t)floor(o->low.z / cell) == z) {
                        add(t, i, j);
                    }
                }
            }
        }
    }
}

/* Coarse levels are filled and asked first, so that each pair is met from its finer box. */
static tally search_grid(subject *s)
{
    tally t = {0, 0};
    uint32_t size = 1;
    while (size < 2 * (uint32_t)s->count) {
        size *= 2;
    }
    memset(s->cells, -1, size * sizeof *s->cells);
    int used[LEVELS] = {0};
    for (int i = 1; i < s->count; i++) {
        used[level_of(&s->boxes[i])]++;
        if (overlap(&s->boxes[0], &s->boxes[i])) {
            add(&t, 0, i);
        }
    }
    for (int level = LEVELS - 1; level >= 0; level--) {
        for (int i = 1; used[level] && i < s->count; i++) {
            const perp_broad_phase_box *b = &s->boxes[i];
            if (level_of(b) != level) {
                continue;
            }
            for (int coarser = level; coarser < LEVELS; coarser++) {
                if (used[coarser]) {
                    ask_level(s, i, coarser, size - 1, &t);
                }
            }
            const double cell = ldexp(1e-3, level);
            const uint32_t at = cell_of(level, (int64_t)floor(b->low.x / cell), (int64_t)floor(b->low.y / cell),
                                        (int64_t)floor(b->low.z / cell), size - 1);
            s->next[i] = s->cells[at];
            s->cells[at] = i;
        }
    }
    return t;
}

static tally search_by(subject *s, method which, double *seconds)
{
    if (which == KEPT || which == FRESH) {
        return search_tree(s, which, seconds);
    }
    const double start = timing_now();
    const tally t = which == SWEEP ? search_sweep(s) : search_grid(s);
    *seconds = timing_now() - start;
    return t;
}

/* ---- measuring ----------------------------------------------------------------------------------------------------
 */

static void measure(subject *s, int samples)
{
    static double seconds[METHODS][MAX_SAMPLES];
    perp_random random = {20260101};
    s->boxes = take((size_t)s->count, sizeof *s->boxes);
    s->order = take((size_t)s->count, sizeof *s->order);
    s->next = take((size_t)s->count, sizeof *s->next);
    s->cells = take(4 * (size_t)s->count + 4, sizeof *s->cells);
    s->order[0] = -1;
    if (perp_broad_phase_create(NULL, NULL, &s->workspace, NULL) != PERP_STATUS_OK) {
        die("out of memory");
    }
    fill(s, &random);
    for (int k = -2; k < samples; k++) { /* two unmeasured, to warm the caches and the kept orders */
        tally first = {0, 0};
        for (method m = 0; m < METHODS; m++) {
            const tally t = search_by(s, m, &seconds[m][k < 0 ? 0 : k]);
            first = m == 0 ? t : first;
            if (t.count != first.count || t.sum != first.sum) {
                die("the methods disagree");
            }
        }
        s->pairs_per_box = (double)first.count / s->count;
        move(s, &random);
    }
    for (method m = 0; m < METHODS; m++) {
        s->time[m] = timing_summary(seconds[m], samples);
    }
    perp_broad_phase_free(s->workspace);
    free(s->boxes);
    free(s->order);
    free(s->next);
    free(s->cells);
}

static void print_subject(const subject *s)
{
    printf("%-7s %7d   %5.1f %6.1f %4d/%-4d", kind_names[s->kind], s->count, s->pairs_per_box, s->tests_per_box,
           s->rebuilds, s->searches);
    for (method m = 0; m < METHODS; m++) {
        printf("   %6.0f /%6.0f", 1e9 * s->time[m].min / s->count, 1e9 * s->time[m].median / s->count);
    }
    printf("\n");
}

static void write_json(const char *path, const subject *subjects, int count)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        die("the JSON file cannot be written");
    }
    timing_machine(out, "{\"cpu\": \"%s\", \"cores\": %ld, \"load\": \"%s\", \"compiler\": \"%s\",\n");
    fprintf(out, "  \"unit\": \"s per search\", \"subjects\": [\n");
    for (int i = 0; i < count; i++) {
        const subject *s = &subjects[i];
        fprintf(out, "    {\"scene\": \"%s\", \"boxes\": %d, \"pairs_per_box\": %.3f", kind_names[s->kind], s->count,
                s->pairs_per_box);
        for (method m = 0; m < METHODS; m++) {
            fprintf(out, ", \"%s\": {\"min\": %.4g, \"median\": %.4g, \"p99\": %.4g}", method_keys[m], s->time[m].min,
                    s->time[m].median, s->time[m].p99);
        }
        fprintf(out, i + 1 < count ? "},\n" : "}\n");
    }
    fprintf(out, "  ]}\n");
    if (ferror(out) | fclose(out)) {
        die("the JSON file cannot be written");
    }
}

int main(int argc, char **argv)
{
    const bench_options options = bench_options_read(argc, argv, (bench_option_limits){1, 200, MAX_SAMPLES});
    timing_machine(stdout, "%s, %ld cores, load average %s before the run; %s\n");
    printf("ns per box and search, minimum / median; pairs and tests per box; trees made anew / searches\n");
    printf("scene     boxes   pairs  tests     anew");
    for (method m = 0; m < METHODS; m++) {
        printf("   %14s", method_names[m]);
    }
    printf("\n");
    static const int counts[] = {100, 1000, 10000, 100000};
    subject subjects[KINDS * 4] = {0};
    for (int i = 0; i < KINDS * 4; i++) {
        subjects[i].kind = (kind)(i / 4);
        subjects[i].count = counts[i % 4];
        const int divisor = subjects[i].count / 5000; /* large scenes get fewer samples */
        measure(&subjects[i], divisor > 0 ? (options.samples + divisor - 1) / divisor : options.samples);
        print_subject(&subjects[i]);
    }
    if (options.json) {
        write_json(options.json, subjects, KINDS * 4);
    }
    return 0;
}
