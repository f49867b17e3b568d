/* Writes numbered convex problems, with this library's answers, for programs that compare (bench/convex_problems.py).
 *
 *   convex_dump --set SET --seed S --first I --count N --out FILE [--tolerance T] [--repeat R] [--unsolved]
 *
 * SET: contact (convex_generator.h), dense (convex_dense_generator.h), or of convex_scenes.h bin, bin-cone,
 * bin-dynamic, bin-cone-dynamic (one bin a number), tower, tower-cone, pile, pile-cone (10, 30, 100, 300, 1000 cubes by
 * number). The time is that of one cold solve with the memory at hand, the fastest of R. What cannot be solved to T is
 * solved to the default tolerance instead.
 */
#include "convex_dense_generator.h"
#include "convex_generator.h"
#include "convex_scenes.h"

#include <perp/solver.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct options {
    const char *set, *out;
    unsigned long long seed;
    int first, count, repeat;
    double tolerance;
    bool unsolved;
} options;

static void die(const char *why)
{
    fprintf(stderr, "convex_dump: %s\n", why);
    exit(2);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static options read_options(int argc, char **argv)
{
    options o = {.seed = 1, .count = 1, .repeat = 1, .tolerance = 1e-8};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--unsolved") == 0) {
            o.unsolved = true;
            continue;
        }
        if (strcmp(argv[i], "--set") == 0) {
            o.set = value;
        } else if (strcmp(argv[i], "--out") == 0) {
            o.out = value;
        } else if (strcmp(argv[i], "--seed") == 0) {
            o.seed = strtoull(value, NULL, 10);
        } else if (strcmp(argv[i], "--first") == 0) {
            o.first = atoi(value);
        } else if (strcmp(argv[i], "--count") == 0) {
            o.count = atoi(value);
        } else if (strcmp(argv[i], "--tolerance") == 0) {
            o.tolerance = atof(value);
        } else if (strcmp(argv[i], "--repeat") == 0) {
            o.repeat = atoi(value);
        } else {
            die("usage: convex_dump --set SET --seed S --first I --count N --out FILE [--tolerance T] "
                "[--repeat R] [--unsolved]");
        }
        i++;
    }
    if (!o.set || !o.out || o.count < 1 || o.first < 0 || o.repeat < 1) {
        die("a set, a file, --count 1 or more, --first 0 or more");
    }
    return o;
}

static void make(const options *o, int index, convex_bin *bin, convex_case *c)
{
    static const int sizes[] = {10, 30, 100, 300, 1000};
    const bool cone = strstr(o->set, "-cone") != NULL;
    const int cubes = sizes[index % 5];
    if (strcmp(o->set, "contact") == 0) {
        convex_generator_make(c, o->seed, index);
    } else if (strcmp(o->set, "dense") == 0) {
        convex_dense_generator_make(c, o->seed, index);
    } else if (strncmp(o->set, "bin", 3) == 0) {
        convex_bin_start(bin, o->seed, index);
        convex_bin_make(bin, cone, strstr(o->set, "-dynamic") != NULL, c);
    } else if (strncmp(o->set, "tower", 5) == 0) {
        convex_tower_make(c, cubes, o->seed, cone);
    } else if (strncmp(o->set, "pile", 4) == 0) {
        convex_pile_make(c, cubes, o->seed, cone);
    } else {
        die("no such set");
    }
}

/* The point's arrays, one after the other in `memory`. */
static perp_convex_point point_in(double **memory, const perp_contact_qp *q)
{
    const size_t n = (size_t)q->n, slacks = (size_t)q->slack_start[q->contact_count];
    const size_t equalities = (size_t)q->equality_count;
    *memory = realloc(*memory, (3 * n + slacks + equalities + 1) * sizeof **memory);
    if (!*memory) {
        die("out of memory");
    }
    memset(*memory, 0, (3 * n + slacks + equalities) * sizeof **memory);
    perp_convex_point r = {.x = *memory, .y_lower = *memory + n, .y_upper = *memory + 2 * n};
    r.y = *memory + 3 * n;
    r.y_equality = r.y + slacks;
    return r;
}

/* Dense problems as a dense qp, the others by their contacts. */
static perp_status solve_once(const convex_case *c, const perp_qp *dense, double tolerance,
                              perp_convex_workspace *workspace, convex_answer *answer, perp_error *error)
{
    perp_convex_settings settings = perp_convex_settings_default();
    perp_convex_info info = {0};
    settings.tolerance = tolerance;
    const double start = now();
    const perp_status status = dense
                                   ? perp_qp_solve(dense, &settings, workspace, &answer->point, &info, error)
                                   : perp_contact_qp_solve(&c->qp, &settings, workspace, &answer->point, &info, error);
    answer->seconds = fmin(answer->seconds, now() - start);
    answer->outcome = status == PERP_STATUS_OK ? (int)info.outcome : (int)PERP_OUTCOME_COUNT;
    return status;
}

static void solve(convex_case *c, const options *o, perp_convex_workspace *workspace, convex_answer *answer)
{
    const bool dense = strcmp(o->set, "dense") == 0;
    perp_error error = {0};
    perp_qp qp;
    if (dense) {
        convex_case_as_qp(c, &qp);
    }
    perp_status status =
        dense ? perp_qp_reserve(&qp, workspace, &error) : perp_contact_qp_reserve(&c->qp, workspace, &error);
    answer->outcome = PERP_OUTCOME_COUNT;
    answer->seconds = INFINITY;
    for (int i = 0; i < o->repeat && status == PERP_STATUS_OK; i++) {
        status = solve_once(c, dense ? &qp : NULL, o->tolerance, workspace, answer, &error);
    }
    const double usual = perp_convex_settings_default().tolerance;
    if (status == PERP_STATUS_OK && answer->outcome != (int)PERP_OUTCOME_SOLVED && o->tolerance < usual) {
        status = solve_once(c, dense ? &qp : NULL, usual, workspace, answer, &error);
    }
    if (status != PERP_STATUS_OK) {
        fprintf(stderr, "convex_dump: refused: %s\n", error.message);
    }
}

int main(int argc, char **argv)
{
    const options o = read_options(argc, argv);
    FILE *out = fopen(o.out, "wb");
    convex_case *c = convex_case_create();
    convex_bin *bin = convex_bin_create();
    perp_convex_workspace *workspace = NULL;
    perp_error error = {0};
    double *memory = NULL;
    if (!out || perp_convex_workspace_create(NULL, &workspace, &error) != PERP_STATUS_OK) {
        die("the file cannot be written, or out of memory");
    }
    bool good = true;
    for (int i = o.first; i < o.first + o.count; i++) {
        convex_answer answer = {.outcome = -1};
        make(&o, i, bin, c);
        if (!o.unsolved) {
            answer.point = point_in(&memory, &c->qp);
            solve(c, &o, workspace, &answer);
        }
        good = convex_case_dump(c, i, &answer, out) && good;
    }
    good = fclose(out) == 0 && good;
    free(memory);
    perp_convex_workspace_free(workspace);
    convex_bin_free(bin);
    convex_case_free(c);
    return good ? 0 : 1;
}
