#include "solve_all.h"

#include <stdlib.h>
#include <string.h>

/* mcp -> mlcp -> lcp, and points back. `mlcp` and `lcp` borrow the arrays; parts that a class does not need stay NULL.
 */
typedef struct chain {
    const perp_problem *problem;
    perp_mlcp mlcp;
    perp_lcp lcp;
    perp_mlcp_reduction reduction;
    double *m, *q; /* of the mlcp that an mcp becomes */
    bool *free_rows;
    double *z_mlcp;
} chain;

static void chain_free(chain *c)
{
    void *const arrays[] = {c->m,
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

/* count * size bytes, at least one; NULL clears `good`. */
static void *take(bool *good, int count, size_t size)
{
    void *memory = *good ? calloc((size_t)count + 1, size) : NULL;
    *good = memory != NULL;
    return memory;
}

static perp_status reduce(chain *c, perp_error *error)
{
    const int n = c->mlcp.n, k = perp_mlcp_constrained_count(&c->mlcp), f = n - k;
    perp_mlcp_reduction *r = &c->reduction;
    bool good = true;
    c->z_mlcp = take(&good, n, sizeof *c->z_mlcp);
    r->m = take(&good, k * k, sizeof *r->m);
    r->q = take(&good, k, sizeof *r->q);
    r->factor = take(&good, f * f, sizeof *r->factor);
    r->solved = take(&good, f * (k + 1), sizeof *r->solved);
    r->work = take(&good, 2 * f, sizeof *r->work);
    r->pivots = take(&good, f, sizeof *r->pivots);
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

static perp_status chain_build(const perp_problem *problem, chain *c, perp_error *error)
{
    *c = (chain){.problem = problem};
    if (problem->kind == PERP_PROBLEM_LCP) {
        c->lcp = problem->lcp;
        return PERP_STATUS_OK;
    }
    c->mlcp = problem->mlcp;
    if (problem->kind == PERP_PROBLEM_MCP) {
        const int size = perp_mcp_as_mlcp_size(&problem->mcp);
        bool good = true;
        c->m = take(&good, size * size, sizeof *c->m);
        c->q = take(&good, size, sizeof *c->q);
        c->free_rows = take(&good, size, sizeof *c->free_rows);
        if (!good) {
            return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory");
        }
        perp_mcp_as_mlcp(&problem->mcp, c->m, c->q, c->free_rows, &c->mlcp);
    }
    return reduce(c, error);
}

/* The problem's z from the lcp's. */
static void map_point(const chain *c, const double *z_lcp, double *z)
{
    switch (c->problem->kind) {
    case PERP_PROBLEM_LCP:
        memcpy(z, z_lcp, (size_t)c->lcp.n * sizeof *z);
        break;
    case PERP_PROBLEM_MLCP:
        perp_mlcp_from_lcp(&c->mlcp, &c->reduction, z_lcp, z);
        break;
    case PERP_PROBLEM_MCP:
        perp_mlcp_from_lcp(&c->mlcp, &c->reduction, z_lcp, c->z_mlcp);
        perp_mcp_from_mlcp(&c->problem->mcp, c->z_mlcp, z);
        break;
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

/* Equal within what two ways of rounding differ by. */
static bool is_among(const double *rows, int count, const double *row, int n)
{
    for (int k = 0; k < count; k++) {
        bool same = true;
        for (int i = 0; i < n && same; i++) {
            const double other = rows[(size_t)k * (size_t)n + (size_t)i];
            same = fabs(other - row[i]) <= 1e-9 * (1.0 + fabs(row[i]));
        }
        if (same) {
            return true;
        }
    }
    return false;
}

/* Where both bounds of a variable are equal its two multipliers are not unique, and vertices and rays that differ in
 * them alone become one. */
static double *map_face(const chain *c, const perp_lcp_face *from, const double *origin, int n, double *numbers,
                        perp_lcp_face *to)
{
    double *const vertices = numbers, *zero = numbers + (size_t)from->vertex_count * (size_t)n;
    to->vertices = vertices;
    to->vertex_count = to->ray_count = 0;
    for (int i = 0; i < from->vertex_count; i++) {
        double *z = vertices + (size_t)to->vertex_count * (size_t)n;
        map_point(c, from->vertices + (size_t)i * (size_t)c->lcp.n, z);
        to->vertex_count += !is_among(vertices, to->vertex_count, z, n);
    }
    memset(zero, 0, (size_t)n * sizeof *zero); /* a ray that vanished is that of the multipliers */
    double *const rays = zero + n;
    to->rays = rays;
    for (int i = 0; i < from->ray_count; i++) {
        double *ray = rays + (size_t)to->ray_count * (size_t)n;
        map_ray(c, from->rays + (size_t)i * (size_t)c->lcp.n, origin, n, ray);
        to->ray_count += !is_among(zero, to->ray_count + 1, ray, n);
    }
    return rays + (size_t)from->ray_count * (size_t)n;
}

static bool same_face(const perp_lcp_face *a, const perp_lcp_face *b, int n)
{
    bool same = a->vertex_count == b->vertex_count && a->ray_count == b->ray_count;
    for (int i = 0; i < a->vertex_count && same; i++) {
        same = is_among(b->vertices, b->vertex_count, a->vertices + (size_t)i * (size_t)n, n);
    }
    for (int i = 0; i < a->ray_count && same; i++) {
        same = is_among(b->rays, b->ray_count, a->rays + (size_t)i * (size_t)n, n);
    }
    return same;
}

static bool map_faces(const chain *c, all_solutions *all)
{
    const perp_lcp_solution_set *from = all->of_lcp;
    const int n = perp_problem_size(c->problem);
    size_t rows = 2; /* the image of 0, and it needs an input */
    for (int i = 0; i < from->face_count; i++) {
        rows += (size_t)from->faces[i].vertex_count + (size_t)from->faces[i].ray_count + 1;
    }
    all->faces = calloc((size_t)from->face_count + 1, sizeof *all->faces);
    all->numbers = calloc(rows * (size_t)(n > c->lcp.n ? n : c->lcp.n) + 1, sizeof *all->numbers);
    if (!all->faces || !all->numbers) {
        return false;
    }
    double *const origin = all->numbers, *next = origin + n + c->lcp.n;
    map_point(c, origin + n, origin);
    for (int i = 0; i < from->face_count; i++) {
        perp_lcp_face *face = &all->faces[all->set.face_count];
        next = map_face(c, &from->faces[i], origin, n, next, face);
        bool seen = false;
        for (int k = 0; k < all->set.face_count && !seen; k++) {
            seen = same_face(face, &all->faces[k], n);
        }
        all->set.face_count += !seen;
    }
    all->set.n = n;
    all->set.faces = all->faces;
    all->set.complete = from->complete;
    all->set.nodes = from->nodes;
    return true;
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
    if (status == PERP_STATUS_OK && !map_faces(&c, all)) {
        status = perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory");
    }
    chain_free(&c);
    return status;
}

void all_solutions_free(all_solutions *all)
{
    perp_lcp_solution_set_free(all->of_lcp);
    free(all->faces);
    free(all->numbers);
}
