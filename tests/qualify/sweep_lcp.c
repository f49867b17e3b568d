/* Stewart-Trinkle contact LCPs of bench/lcp_generator.h through the cascade. Of every five cases four are of the first
 * set, which carries the proof that a solution exists, and one is of the second, which carries none.
 *
 * "Solved" is judged here, not by the library: the natural map in long double, from the problem's own numbers, against
 * 1e-8. "Infeasible" needs a proof that holds without rounding. A case that fails is left as a problem file in
 * PERP_FAILURES_DIR, for `perp solve`. */
#include "sweep.h"
#include "sweep_measure.h"

#include "lcp_generator.h"

#include "../solver/farkas_check.h"

#include <perp/solver.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OF_FIVE = 4 };
enum { FIRST_METHOD, FALLBACK, OPEN_SOLVED, OPEN_RAY, OPEN_INFEASIBLE, OPEN_OTHER };

typedef struct bench {
    lcp_case *c;
    perp_lcp_workspace *workspace;
    double z[LCP_CASE_MAX_N], w[LCP_CASE_MAX_N], ray[2 * LCP_CASE_MAX_N];
} bench;

static bench *the_bench(void)
{
    static bench b;
    perp_error error;
    if (!b.c) {
        b.c = lcp_case_create();
        if (!b.c || perp_lcp_workspace_create(LCP_CASE_MAX_N, NULL, &b.workspace, &error) != PERP_STATUS_OK) {
            fprintf(stderr, "sweep_lcp: out of memory\n");
            exit(2);
        }
    }
    return &b;
}

static bool is_proven(int index)
{
    return index % (OF_FIVE + 1) != OF_FIVE;
}

static void make_case(lcp_case *c, uint64_t seed, int index)
{
    const int block = index / (OF_FIVE + 1);
    lcp_case_make(c, seed, is_proven(index) ? block * OF_FIVE + index % (OF_FIVE + 1) : block, is_proven(index));
}

/* The largest |min(z_i, w_i)| / (1 + |q_i| + (|M||z|)_i) */
static double judge(const lcp_case *c, const double *z)
{
    long double worst = 0.0L;
    for (int i = 0; i < c->n; i++) {
        long double w = c->q[i], size = fabsl(w);
        for (int k = 0; k < c->n; k++) {
            const long double term = (long double)c->m[i * c->n + k] * z[k];
            w += term;
            size += fabsl(term);
        }
        worst = fmaxl(worst, fabsl(fminl(z[i], w)) / (1.0L + size));
        worst = isfinite(z[i]) ? worst : INFINITY;
    }
    return (double)worst;
}

/* A ray of (z, w) is one only if it stays in the nonnegative orthant and keeps complementarity, and goes somewhere. */
static void check_ray(const bench *b, sweep_case *result)
{
    const int n = b->c->n;
    double largest = 0.0;
    for (int i = 0; i < 2 * n; i++) {
        largest = fmax(largest, fabs(b->ray[i]));
        if (!isfinite(b->ray[i])) {
            sweep_fail(result, "the ray has an entry that is not finite");
            return;
        }
    }
    if (largest == 0.0) {
        sweep_fail(result, "the ray is zero");
    }
    for (int i = 0; i < n; i++) {
        const double z = b->ray[i] / largest, w = b->ray[n + i] / largest;
        if (fmin(z, w) < -1e-6 || fmin(z, w) > 1e-6) { /* it is read off a basis, whose condition reaches 1e9 */
            sweep_fail(result, "not a ray: in row %d z moves by %.3g and w by %.3g", i, z, w);
            return;
        }
    }
}

static void keep(const bench *b, uint64_t seed, int index, const char *reason)
{
    char path[600], comment[SWEEP_REASON + 200];
    mkdir(PERP_FAILURES_DIR, 0777);
    snprintf(path, sizeof path, "%s/lcp-%llu-%d.yaml", PERP_FAILURES_DIR, (unsigned long long)seed, index);
    snprintf(comment, sizeof comment, "sweep_lcp --seed %llu --first %d --count 1: %s", (unsigned long long)seed, index,
             reason);
    if (!lcp_case_write(b->c, path, comment)) {
        fprintf(stderr, "sweep_lcp: cannot write %s\n", path);
    }
}

static int kind_of(const lcp_case *c, const perp_lcp_info *info)
{
    if (c->proven) {
        return info->tried_count > 1 ? FALLBACK : FIRST_METHOD;
    }
    return info->outcome == PERP_OUTCOME_SOLVED       ? OPEN_SOLVED
           : info->outcome == PERP_OUTCOME_RAY        ? OPEN_RAY
           : info->outcome == PERP_OUTCOME_INFEASIBLE ? OPEN_INFEASIBLE
                                                      : OPEN_OTHER;
}

static void run(uint64_t seed, int index, sweep_case *result)
{
    bench *b = the_bench();
    lcp_case *c = b->c;
    make_case(c, seed, index);
    const perp_lcp problem = {c->n, c->m, c->q};
    perp_lcp_solution solution = {.z = b->z, .w = b->w, .ray = b->ray};
    perp_lcp_info info = {0};
    perp_error error = {0};
    memset(b->ray, 0, sizeof b->ray);
    if (c->proven && !lcp_case_proof_holds(c)) {
        sweep_fail(result, "the generator's proof does not hold: %.3g", c->proof);
    }
    if (perp_lcp_solve(&problem, NULL, b->workspace, &solution, &info, &error) != PERP_STATUS_OK) {
        sweep_fail(result, "refused: %s", error.message);
    } else {
        const double residual = judge(c, b->z);
        if (info.outcome == PERP_OUTCOME_SOLVED && !(residual <= 1e-8)) {
            sweep_fail(result, "falsely solved: residual %.3g", residual);
        }
        if (c->proven && info.outcome != PERP_OUTCOME_SOLVED) {
            sweep_fail(result, "%s, n = %d, %s, %d tried: %s, residual %.3g", c->planar ? "planar" : "spatial", c->n,
                       lcp_family_name(c->family), info.tried_count, perp_outcome_name(info.outcome), residual);
        }
        if (info.outcome == PERP_OUTCOME_RAY) {
            check_ray(b, result);
        }
        if (info.outcome == PERP_OUTCOME_INFEASIBLE && !farkas_holds(c->n, c->m, c->q, NULL, NULL, b->ray)) {
            sweep_fail(result, "said to be infeasible without a proof");
        }
        static const measure_column columns[2] = {{"solved", false}, {"not solved", false}};
        measure_row(info.method, columns, 2)[info.outcome == PERP_OUTCOME_SOLVED ? 0 : 1]++;
        result->kind = kind_of(c, &info);
    }
    if (result->failed) {
        keep(b, seed, index, result->reason);
    }
}

static void show(uint64_t seed, int index)
{
    bench *b = the_bench();
    make_case(b->c, seed, index);
    lcp_case_write(b->c, "/dev/stdout", is_proven(index) ? "proven solvable" : "without proof");
}

const sweep the_sweep = {
    .name = "lcp",
    .checks =
        "Stewart-Trinkle contact LCPs, n = 24 .. 400: every proven one is solved to 1e-8 (judged in long double), "
        "of the others none is falsely solved, rays are rays, and proofs of infeasibility hold exactly",
    .full = 25000,
    .sample = 250,
    .chunk = 250,
    .kinds = {"proven, by the first method", "proven, by a fallback", "open: solved", "open: ray", "open: infeasible",
              "open: other"},
    .run = run,
    .show = show,
};
