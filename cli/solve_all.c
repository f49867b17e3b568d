#include "solve_all.h"

#include <stdlib.h>
#include <string.h>

/* perp_lcp_enumerate's own limit, asked before matrices are built. */
enum { LCP_LARGEST = 40 };

/* mcp -> mcp without the variables whose bounds are equal -> mlcp -> lcp, and points back. Parts that a class does not
 * need stay NULL.
 *
 * Every step maps solutions one to one, so that faces are never compared: a free variable is a function of the others,
 * and so is the multiplier of an upper bound that differs from the lower one. With equal bounds the two multipliers
 * would not be unique; such a variable is a constant and is put into q. */
typedef struct chain {
    const perp_problem *problem;
    perp_mcp mcp;
    perp_mlcp mlcp;
    perp_lcp lcp;
    perp_mlcp_reduction reduction;
    int *kept;                                     /* of the mcp: the variables whose bounds differ */
    double *mcp_m, *mcp_q, *lower, *upper, *z_mcp; /* of the mcp that keeps only those */
    double *m, *q;                                 /* of the mlcp that it becomes */
    bool *free_rows;
    double *z_mlcp;
} chain;

static void chain_free(chain *c)
{
    void *const arrays[] = {c->kept,
                            c->mcp_m,
                            c->mcp_q,
                            c->lower,
                            c->upper,
                            c->z_mcp,
                            c->m,
                            c->q,
                            c->free_rows,
                            c->z_mlcp,
                            c->reduction.m,
                            c->reduction.q,
                            c->reduction.factor,
                            c->reduction.solved,
                            c->reduction.work,
                            c->reduction.pivots};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        free(arrays[i]);
    }
}

/* rows * columns elements of `size` bytes, and one to spare; NULL clears `good`. */
static void *take(bool *good, int rows, int columns, size_t size)
{
    void *memory = *good ? calloc((size_t)rows * (size_t)columns + 1, size) : NULL;
    *good = memory != NULL;
    return memory;
}

static perp_status reduce(chain *c, perp_error *error)
{
    const int n = c->mlcp.n, k = perp_mlcp_constrained_count(&c->mlcp), f = n - k;
    perp_mlcp_reduction *r = &c->reduction;
    bool good = true;
    c->z_mlcp = take(&good, n, 1, sizeof *c->z_mlcp);
    r->m = take(&good, k, k, sizeof *r->m);
    r->q = take(&good, k, 1, sizeof *r->q);
    r->factor = take(&good, f, f, sizeof *r->factor);
    r->solved = take(&good, f, k + 1, sizeof *r->solved);
    r->work = take(&good, f, 2, sizeof *r->work);
    r->pivots = take(&good, f, 1, sizeof *r->pivots);
    if (!good) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory");
    }
    const perp_status status = perp_mlcp_as_lcp(&c->mlcp, r, error);
    if (status == PERP_STATUS_SINGULAR) {
        return perp_fail(error, status,
                         "all solutions: the block of free variables is singular, so that it cannot be eliminated");
    }
    c->lcp = (perp_lcp){k, r->m, r->q};
    return status;
}

/* The rows of the lcp that the problem amounts to; nothing is built for it. */
static int lcp_size(const perp_problem *problem)
{
    if (problem->kind == PERP_PROBLEM_LCP) {
        return problem->lcp.n;
    }
    if (problem->kind == PERP_PROBLEM_MLCP) {
        return perp_mlcp_constrained_count(&problem->mlcp);
    }
    int size = 0;
    for (int i = 0; i < problem->mcp.n; i++) {
        const double lower = problem->mcp.lower[i], upper = problem->mcp.upper[i];
        size += lower == upper ? 0 : isfinite(lower) + isfinite(upper);
    }
    return size;
}

/* The variables whose bounds differ; the others, constants, go into q. */
static void keep_variables(const perp_mcp *from, chain *c)
{
    int n = 0;
    for (int i = 0; i < from->n; i++) {
        if (from->lower[i] != from->upper[i]) {
            c->kept[n++] = i;
        }
    }
    for (int i = 0; i < n; i++) {
        const double *row = from->m + (size_t)c->kept[i] * (size_t)from->n;
        c->mcp_q[i] = from->q[c->kept[i]];
        for (int j = 0; j < from->n; j++) {
            c->mcp_q[i] += from->lower[j] == from->upper[j] ? row[j] * from->lower[j] : 0.0;
        }
        for (int j = 0; j < n; j++) {
            c->mcp_m[(size_t)i * (size_t)n + (size_t)j] = row[c->kept[j]];
        }
        c->lower[i] = from->lower[c->kept[i]];
        c->upper[i] = from->upper[c->kept[i]];
    }
    c->mcp = (perp_mcp){n, c->mcp_m, c->mcp_q, c->lower, c->upper};
}

static perp_status mcp_as_mlcp(const perp_mcp *from, chain *c, perp_error *error)
{
    const int n = from->n;
    bool good = true;
    c->kept = take(&good, n, 1, sizeof *c->kept);
    c->mcp_m = take(&good, n, n, sizeof *c->mcp_m);
    c->mcp_q = take(&good, n, 1, sizeof *c->mcp_q);
    c->lower = take(&good, n, 1, sizeof *c->lower);
    c->upper = take(&good, n, 1, sizeof *c->upper);
    c->z_mcp = take(&good, n, 1, sizeof *c->z_mcp);
    if (good) {
        keep_variables(from, c);
        const int size = perp_mcp_as_mlcp_size(&c->mcp);
        c->m = take(&good, size, size, sizeof *c->m);
        c->q = take(&good, size, 1, sizeof *c->q);
        c->free_rows = take(&good, size, 1, sizeof *c->free_rows);
    }
    if (!good) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory");
    }
    perp_mcp_as_mlcp(&c->mcp, c->m, c->q, c->free_rows, &c->mlcp);
    return PERP_STATUS_OK;
}

static perp_status chain_build(const perp_problem *problem, chain *c, perp_error *error)
{
    *c = (chain){.problem = problem};
    const int size = lcp_size(problem);
    if (size > LCP_LARGEST) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "all solutions are enumerated up to n = %d, and this %s n = %d",
                         LCP_LARGEST, problem->kind == PERP_PROBLEM_LCP ? "is" : "amounts to an lcp of", size);
    }
    perp_status status = PERP_STATUS_OK;
    if (problem->kind == PERP_PROBLEM_LCP) {
        c->lcp = problem->lcp;
        return status;
    }
    if (problem->kind == PERP_PROBLEM_MCP) {
        status = mcp_as_mlcp(&problem->mcp, c, error);
    } else {
        c->mlcp = problem->mlcp;
    }
    return status == PERP_STATUS_OK ? reduce(c, error) : status;
}

/* The problem's z from the lcp's. */
static void map_point(const chain *c, const double *z_lcp, double *z)
{
    if (c->problem->kind == PERP_PROBLEM_MLCP) {
        perp_mlcp_from_lcp(&c->mlcp, &c->reduction, z_lcp, z);
        return;
    }
    const perp_mcp *mcp = &c->problem->mcp;
    perp_mlcp_from_lcp(&c->mlcp, &c->reduction, z_lcp, c->z_mlcp);
    perp_mcp_from_mlcp(&c->mcp, c->z_mlcp, c->z_mcp);
    memcpy(z, mcp->lower, (size_t)mcp->n * sizeof *z);
    for (int i = 0; i < c->mcp.n; i++) {
        z[c->kept[i]] = c->z_mcp[i];
    }
}

/* Points map as z = A z_lcp + b, so that directions map as the difference to the image of 0. */
static void map_ray(const chain *c, const double *ray_lcp, const double *origin, int n, double *ray)
{
    map_point(c, ray_lcp, ray);
    for (int i = 0; i < n; i++) {
        ray[i] -= origin[i];
    }
}

/* Returns the end of what it wrote. */
static double *map_face(const chain *c, const perp_lcp_face *from, const double *origin, int n, double *numbers,
                        perp_lcp_face *to)
{
    *to = *from;
    to->vertices = numbers;
    for (int i = 0; i < from->vertex_count; i++, numbers += n) {
        map_point(c, from->vertices + (size_t)i * (size_t)c->lcp.n, numbers);
    }
    to->rays = numbers;
    for (int i = 0; i < from->ray_count; i++, numbers += n) {
        map_ray(c, from->rays + (size_t)i * (size_t)c->lcp.n, origin, n, numbers);
    }
    return numbers;
}

static perp_status map_faces(const chain *c, const volatile bool *cancel, all_solutions *all, perp_error *error)
{
    const perp_lcp_solution_set *from = all->of_lcp;
    all->set = *from;
    if (c->problem->kind == PERP_PROBLEM_LCP) {
        return PERP_STATUS_OK;
    }
    const size_t n = (size_t)perp_problem_size(c->problem);
    size_t rows = 1; /* the image of 0 */
    for (int i = 0; i < from->face_count; i++) {
        rows += (size_t)from->faces[i].vertex_count + (size_t)from->faces[i].ray_count;
    }
    all->faces = calloc((size_t)from->face_count + 1, sizeof *all->faces);
    all->numbers = n < SIZE_MAX / sizeof(double) / (rows + 1) ? calloc(rows * n + 1, sizeof(double)) : NULL;
    if (!all->faces || !all->numbers) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory");
    }
    const double zero[LCP_LARGEST] = {0.0};
    double *const origin = all->numbers, *next = origin + n;
    map_point(c, zero, origin);
    for (int i = 0; i < from->face_count; i++) {
        if (cancel && *cancel) {
            return perp_fail(error, PERP_STATUS_CANCELLED, "the enumeration of solutions was cancelled");
        }
        next = map_face(c, &from->faces[i], origin, (int)n, next, &all->faces[i]);
    }
    all->set.n = (int)n;
    all->set.faces = all->faces;
    return PERP_STATUS_OK;
}

perp_status all_solutions_find(const perp_problem *problem, const perp_lcp_enumerate_settings *settings,
                               all_solutions *all, perp_error *error)
{
    memset(all, 0, sizeof *all);
    chain c;
    perp_status status = chain_build(problem, &c, error);
    if (status == PERP_STATUS_OK) {
        status = perp_lcp_enumerate(&c.lcp, settings, NULL, &all->of_lcp, error);
    }
    if (status == PERP_STATUS_OK) {
        status = map_faces(&c, settings->cancel, all, error);
    }
    if (status != PERP_STATUS_OK) {
        all->set = (perp_lcp_solution_set){.n = perp_problem_size(problem)};
    }
    chain_free(&c);
    return status;
}

/* ---- membership -----------------------------------------------------------------------------------------------------
 */

static void bounds_of(const perp_problem *problem, int i, double *lower, double *upper)
{
    *lower = 0.0;
    *upper = INFINITY;
    if (problem->kind == PERP_PROBLEM_MLCP && problem->mlcp.free[i]) {
        *lower = -INFINITY;
    } else if (problem->kind == PERP_PROBLEM_MCP) {
        *lower = problem->mcp.lower[i];
        *upper = problem->mcp.upper[i];
    }
}

/* Whether z_i is `bound` on the whole face. An upper bound is met as lower + (upper - lower), which rounds. */
static bool is_at(const perp_lcp_face *face, int n, int i, double bound)
{
    bool at = isfinite(bound);
    for (int k = 0; k < face->vertex_count && at; k++) {
        at = fabs(face->vertices[(size_t)k * (size_t)n + (size_t)i] - bound) <= 1e-14 * fabs(bound);
    }
    for (int k = 0; k < face->ray_count && at; k++) {
        at = face->rays[(size_t)k * (size_t)n + (size_t)i] == 0.0;
    }
    return at;
}

/* A solution lies in a maximal face iff it shares the face's zeros: the bounds that hold all over it, and w_i = 0 for
 * the others. */
static bool face_contains(const perp_lcp_face *face, const perp_problem *problem, const all_solutions_point *x)
{
    const int n = perp_problem_size(problem);
    for (int i = 0; i < n; i++) {
        double lower, upper;
        bounds_of(problem, i, &lower, &upper);
        const bool low = is_at(face, n, i, lower), high = is_at(face, n, i, upper);
        const double off = low ? x->z[i] - lower : high ? x->z[i] - upper : x->w[i];
        if (fabs(off) > x->tolerance * (low || high ? x->z_scale : x->w_scale[i])) {
            return false;
        }
    }
    return true;
}

bool all_solutions_contain(const all_solutions *all, const perp_problem *problem, const all_solutions_point *x,
                           const volatile bool *cancel)
{
    for (int k = 0; k < all->set.face_count && !(cancel && *cancel); k++) {
        if (face_contains(&all->set.faces[k], problem, x)) {
            return true;
        }
    }
    return false;
}

void all_solutions_free(all_solutions *all)
{
    perp_lcp_solution_set_free(all->of_lcp);
    free(all->faces);
    free(all->numbers);
}
