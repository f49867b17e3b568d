#include "solver/polyhedron_hull.h"

#include "linalg/vector.h"
#include "solver/extreme_rays.h"
#include "solver/tolerances.h"

#include <math.h>
#include <string.h>

/* More are not looked for: a hull of so many corners is no answer that anyone reads. */
enum { GENERATORS_MOST = 64 * PERP_EXTREME_RAYS_WORDS, FACETS_MOST = 2000 };

typedef struct generator {
    double *x; /* n */
    double *y; /* dimensions + 1: - coordinates, then 1 of a point, 0 of a ray */
    bool ray;
} generator;

typedef struct finder {
    const perp_polyhedron_oracle *oracle;
    perp_arena *arena;
    perp_polyhedron *hull;
    generator *generators; /* GENERATORS_MOST */
    int count;
    /* Inequalities y . v >= 0 of all generators, v = (a, b) of dimensions + 1. `checked`: the polyhedron does not go
     * beyond. */
    perp_extreme_rays facets;
    double *along, *answer; /* n */
    double *matrix;         /* scratch: (n + 1) x 2 (n + 1) */
    bool trouble, out_of_memory;
} finder;

static double *take(finder *f, int count)
{
    double *r = perp_arena_push(f->arena, (size_t)count, sizeof *r);
    f->out_of_memory = f->out_of_memory || !r;
    return r;
}

/* `v` without its part in `count` orthonormal rows; its length then. Twice: once leaves rounding of what was taken. */
static double outside(int n, const double *rows, int count, double *v)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < count; i++) {
            const double *b = rows + (ptrdiff_t)i * n, part = perp_vector_dot(n, v, b);
            for (int k = 0; k < n; k++) {
                v[k] -= part * b[k];
            }
        }
    }
    return sqrt(perp_vector_dot(n, v, v));
}

/* ---- generators ---------------------------------------------------------------------------------------------------
 */

/* The oracle's answer as a generator if it goes beyond a . x <= b, where f->along is a. */
static bool ask(finder *f, double b, double size)
{
    const int n = f->hull->n;
    const perp_polyhedron_answer answer = f->oracle->farthest(f->oracle->context, f->along, f->answer);
    f->trouble = f->trouble || answer == PERP_POLYHEDRON_TROUBLE || f->count == GENERATORS_MOST;
    if (f->trouble) {
        return false;
    }
    const bool ray = answer == PERP_POLYHEDRON_RAY;
    const double most = perp_vector_largest(n, f->answer);
    for (int k = 0; k < n && ray; k++) {
        f->answer[k] /= most;
    }
    const double far = perp_vector_dot(n, f->along, f->answer) - (ray ? 0.0 : b);
    f->trouble = ray && !(far > BEYOND_FACET);
    if (!(far > BEYOND_FACET * (ray ? 1.0 : fmax(1.0, fmax(size, most))))) {
        return false;
    }
    generator *g = &f->generators[f->count];
    *g = (generator){.x = take(f, n), .ray = ray};
    if (!f->out_of_memory) {
        memcpy(g->x, f->answer, (size_t)n * sizeof *g->x);
        f->count++;
    }
    return !f->out_of_memory;
}

/* A generator outside of the affine hull so far, which is then one dimension more; false: there is none. */
static bool widen(finder *f)
{
    perp_polyhedron *h = f->hull;
    const int n = h->n;
    for (int k = 0; k < 2 * n && !f->trouble && h->dimensions < n; k++) {
        memset(f->along, 0, (size_t)n * sizeof *f->along);
        f->along[k / 2] = k % 2 == 0 ? 1.0 : -1.0;
        const double length = outside(n, h->basis, h->dimensions, f->along);
        for (int j = 0; j < n; j++) {
            f->along[j] /= length;
        }
        if (length < DIRECTION_LEAST ||
            !ask(f, perp_vector_dot(n, f->along, h->origin), perp_vector_largest(n, h->origin))) {
            continue;
        }
        double *b = h->basis + (ptrdiff_t)h->dimensions * n;
        const generator *g = &f->generators[f->count - 1];
        for (int j = 0; j < n; j++) {
            b[j] = g->x[j] - (g->ray ? 0.0 : h->origin[j]);
        }
        const double size = outside(n, h->basis, h->dimensions, b);
        for (int j = 0; j < n; j++) {
            b[j] /= size;
        }
        h->dimensions++;
        return true;
    }
    return false;
}

/* Its row of the double description, over the coordinates in the basis. */
static void place(finder *f, generator *g)
{
    const perp_polyhedron *h = f->hull;
    g->y = take(f, h->dimensions + 1);
    for (int i = 0; i < h->dimensions && !f->out_of_memory; i++) {
        const double *b = h->basis + (ptrdiff_t)i * h->n;
        g->y[i] = -(perp_vector_dot(h->n, g->x, b) - (g->ray ? 0.0 : perp_vector_dot(h->n, h->origin, b)));
    }
    if (!f->out_of_memory) {
        g->y[h->dimensions] = g->ray ? 0.0 : 1.0;
        const double size = perp_vector_largest(h->dimensions + 1, g->y);
        for (int i = 0; i <= h->dimensions; i++) {
            g->y[i] /= size;
        }
    }
}

/* ---- facets: double description -----------------------------------------------------------------------------------
 */

static bool is_stopped(finder *f, perp_status status)
{
    f->out_of_memory = f->out_of_memory || status == PERP_STATUS_OUT_OF_MEMORY;
    f->trouble = f->trouble || status == PERP_STATUS_CAPACITY;
    return f->trouble || f->out_of_memory;
}

/* The simplex of the first generators, which are as many as there are unknowns and independent: column j of the inverse
 * of their rows is 0 on all others. */
static void first_facets(finder *f)
{
    const int size = f->hull->dimensions + 1, width = 2 * size;
    double *m = f->matrix;
    for (int i = 0; i < size; i++) {
        memset(m + (ptrdiff_t)i * width, 0, (size_t)width * sizeof *m);
        memcpy(m + (ptrdiff_t)i * width, f->generators[i].y, (size_t)size * sizeof *m);
        m[(ptrdiff_t)i * width + size + i] = 1.0;
    }
    for (int c = 0; c < size; c++) {
        int best = c;
        for (int i = c + 1; i < size; i++) {
            best = fabs(m[(ptrdiff_t)i * width + c]) > fabs(m[(ptrdiff_t)best * width + c]) ? i : best;
        }
        const double pivot = m[(ptrdiff_t)best * width + c];
        f->trouble = f->trouble || !(fabs(pivot) > HULL_TIGHT);
        for (int k = 0; k < width && !f->trouble; k++) {
            const double other = m[(ptrdiff_t)best * width + k];
            m[(ptrdiff_t)best * width + k] = m[(ptrdiff_t)c * width + k];
            m[(ptrdiff_t)c * width + k] = other / pivot;
        }
        for (int i = 0; i < size && !f->trouble; i++) {
            const double factor = m[(ptrdiff_t)i * width + c];
            for (int k = 0; k < width && i != c; k++) {
                m[(ptrdiff_t)i * width + k] -= factor * m[(ptrdiff_t)c * width + k];
            }
        }
    }
    f->facets = (perp_extreme_rays){.arena = f->arena, .size = size, .most = FACETS_MOST};
    for (int j = 0; j < size && !f->trouble && !is_stopped(f, perp_extreme_rays_add(&f->facets)); j++) {
        perp_extreme_ray *r = &f->facets.items[j];
        for (int k = 0; k < size; k++) {
            r->v[k] = m[(ptrdiff_t)k * width + size + j];
            if (k != j) {
                perp_extreme_ray_put_on(r, k);
            }
        }
        perp_extreme_rays_normalise(&f->facets, r);
    }
}

/* The generator that was found last cuts off the facets that it does not meet. */
static void cut(finder *f, int index)
{
    if (is_stopped(f, perp_extreme_rays_sides(&f->facets))) {
        return;
    }
    for (int i = 0; i < f->facets.count; i++) {
        const double value = perp_vector_dot(f->facets.size, f->generators[index].y, f->facets.items[i].v);
        f->facets.side[i] = fabs(value) > HULL_TIGHT ? value : 0.0;
    }
    is_stopped(f, perp_extreme_rays_cut(&f->facets, index));
}

/* ---- the search ---------------------------------------------------------------------------------------------------
 */

/* The facet over all n, a . x <= b with |a| = 1, into f->along; false: a is 0, which says nothing. */
static bool over_all(finder *f, const perp_extreme_ray *r, double *b)
{
    const perp_polyhedron *h = f->hull;
    const double length = sqrt(perp_vector_dot(h->dimensions, r->v, r->v));
    memset(f->along, 0, (size_t)h->n * sizeof *f->along);
    for (int i = 0; i < h->dimensions && length > HULL_TIGHT; i++) {
        for (int k = 0; k < h->n; k++) {
            f->along[k] += r->v[i] / length * h->basis[(ptrdiff_t)i * h->n + k];
        }
    }
    *b = length > HULL_TIGHT ? r->v[h->dimensions] / length + perp_vector_dot(h->n, f->along, h->origin) : 0.0;
    return length > HULL_TIGHT;
}

/* Asks beyond a facet that was not asked about; false: there is none any more. */
static bool look_beyond(finder *f)
{
    for (int i = 0; i < f->facets.count && !f->trouble && !f->out_of_memory; i++) {
        double b;
        if (f->facets.items[i].checked) {
            continue;
        }
        f->facets.items[i].checked = true;
        if (over_all(f, &f->facets.items[i], &b) && ask(f, b, fabs(b))) {
            place(f, &f->generators[f->count - 1]);
            if (!f->out_of_memory) {
                cut(f, f->count - 1);
            }
            return true;
        }
    }
    return false;
}

/* ---- what is left -------------------------------------------------------------------------------------------------
 */

/* Orthonormal rows that span the normals of the facets that generator g is on (NULL: of all); how many they are. */
static int span(const finder *f, const generator *g, double *rows)
{
    const perp_polyhedron *h = f->hull;
    int rank = 0;
    for (int i = 0; i < h->facet_count && rank < h->dimensions; i++) {
        const double *a = h->facets + (ptrdiff_t)i * (h->n + 1);
        double *row = rows + (ptrdiff_t)rank * h->n;
        const double room = g ? (g->ray ? 0.0 : a[h->n]) - perp_vector_dot(h->n, a, g->x) : 0.0;
        if (g && room > 10.0 * BEYOND_FACET * fmax(1.0, perp_vector_largest(h->n, g->x))) {
            continue;
        }
        memcpy(row, a, (size_t)h->n * sizeof *row);
        const double length = outside(h->n, rows, rank, row);
        for (int k = 0; k < h->n; k++) {
            row[k] /= length;
        }
        rank += length > NORMALS_INDEPENDENT ? 1 : 0;
    }
    return rank;
}

static void write_facets(finder *f)
{
    perp_polyhedron *h = f->hull;
    h->facets = take(f, f->facets.count * (h->n + 1));
    for (int i = 0; i < f->facets.count && !f->out_of_memory; i++) {
        double *to = h->facets + (ptrdiff_t)h->facet_count * (h->n + 1);
        if (over_all(f, &f->facets.items[i], &to[h->n])) {
            memcpy(to, f->along, (size_t)h->n * sizeof *to);
            h->facet_count++;
        }
    }
}

/* Lines of the polyhedron as rays: what of the basis no facet has to do with, each with a 1 where the others have 0. */
static void write_lines(finder *f, const double *normals, int rank)
{
    perp_polyhedron *h = f->hull;
    const int n = h->n, count = h->dimensions - rank;
    double *lines = f->matrix;
    int found = 0;
    for (int i = 0; i < h->dimensions && found < count; i++) {
        double *line = lines + (ptrdiff_t)found * n;
        memcpy(line, h->basis + (ptrdiff_t)i * n, (size_t)n * sizeof *line);
        outside(n, normals, rank, line);
        const double length = outside(n, lines, found, line);
        for (int k = 0; k < n; k++) {
            line[k] /= length;
        }
        found += length > DIRECTION_LEAST ? 1 : 0;
    }
    for (int i = 0; i < found; i++) {
        double *line = lines + (ptrdiff_t)i * n;
        int lead = 0;
        for (int k = 1; k < n; k++) {
            lead = fabs(line[k]) > (1.0 + BEYOND_FACET) * fabs(line[lead]) ? k : lead;
        }
        const double pivot = line[lead];
        for (int k = 0; k < n; k++) {
            line[k] /= pivot;
        }
        for (int j = 0; j < found; j++) {
            const double factor = lines[(ptrdiff_t)j * n + lead];
            for (int k = 0; k < n && j != i; k++) {
                lines[(ptrdiff_t)j * n + k] -= factor * line[k];
            }
        }
    }
    for (int i = 0; i < 2 * found; i++) {
        const double *line = lines + (ptrdiff_t)(i / 2) * n, most = perp_vector_largest(n, line);
        for (int k = 0; k < n; k++) {
            const double part = fabs(line[k]) > BEYOND_FACET * most ? line[k] / most : 0.0;
            h->rays[(ptrdiff_t)h->ray_count * n + k] = i % 2 == 0 ? part : 0.0 - part;
        }
        h->ray_count++;
    }
}

static bool is_listed(int n, const double *list, int count, const double *x)
{
    for (int i = 0; i < count; i++) {
        double far = 0.0;
        for (int k = 0; k < n; k++) {
            far = fmax(far, fabs(list[(ptrdiff_t)i * n + k] - x[k]));
        }
        if (far <= 10.0 * BEYOND_FACET * fmax(1.0, perp_vector_largest(n, x))) {
            return true;
        }
    }
    return false;
}

/* Generators that no others make up: as many facets meet there as the polyhedron, without its lines, has dimensions,
 * and along a ray one less. What they have along the lines is taken off. */
static void write_corners(finder *f, const double *normals, int rank)
{
    perp_polyhedron *h = f->hull;
    const int n = h->n;
    double *rows = take(f, (h->dimensions + 1) * n), *x = f->answer;
    for (int i = 0; i < f->count && !f->out_of_memory; i++) {
        const generator *g = &f->generators[i];
        if (span(f, g, rows) != rank - (g->ray ? 1 : 0)) {
            continue;
        }
        memcpy(x, g->x, (size_t)n * sizeof *x);
        for (int k = 0; k < n && rank < h->dimensions;
             k++) { /* its part in the affine hull, less what lines have of it */
            x[k] -= g->ray ? 0.0 : h->origin[k];
        }
        if (rank < h->dimensions) {
            memcpy(f->along, x, (size_t)n * sizeof *x);
            outside(n, normals, rank, f->along); /* along the lines, and of the origin nothing */
            for (int k = 0; k < n; k++) {
                x[k] += (g->ray ? 0.0 : h->origin[k]) - f->along[k];
            }
        }
        const double most = perp_vector_largest(n, x);
        for (int k = 0; k < n && g->ray; k++) {
            x[k] /= most;
        }
        if (g->ray ? !is_listed(n, h->rays, h->ray_count, x) : !is_listed(n, h->vertices, h->vertex_count, x)) {
            double *to =
                g->ray ? h->rays + (ptrdiff_t)h->ray_count++ * n : h->vertices + (ptrdiff_t)h->vertex_count++ * n;
            memcpy(to, x, (size_t)n * sizeof *to);
        }
    }
}

static void write(finder *f)
{
    perp_polyhedron *h = f->hull;
    write_facets(f);
    double *normals = take(f, (h->dimensions + 1) * h->n);
    h->vertices = take(f, f->count * h->n);
    h->rays = take(f, (f->count + 2 * h->dimensions) * h->n);
    if (f->out_of_memory) {
        return;
    }
    const int rank = span(f, NULL, normals);
    write_corners(f, normals, rank);
    write_lines(f, normals, rank);
    f->trouble = f->trouble || h->vertex_count == 0;
}

perp_status perp_polyhedron_find(const perp_polyhedron_oracle *oracle, const double *start, perp_arena *arena,
                                 perp_polyhedron *hull, bool *complete)
{
    const int n = oracle->n;
    *hull = (perp_polyhedron){.n = n};
    *complete = false;
    finder f = {.oracle = oracle, .arena = arena, .hull = hull};
    f.generators = perp_arena_push(arena, GENERATORS_MOST, sizeof *f.generators);
    hull->origin = take(&f, n);
    hull->basis = take(&f, n * n);
    hull->scratch = take(&f, n);
    f.along = take(&f, n);
    f.answer = take(&f, n);
    f.matrix = take(&f, 2 * (n + 1) * (n + 1));
    f.generators = f.out_of_memory ? NULL : f.generators;
    if (!f.generators) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    memcpy(hull->origin, start, (size_t)n * sizeof *start);
    f.generators[f.count++] = (generator){.x = hull->origin};
    while (!f.trouble && !f.out_of_memory && widen(&f)) {
    }
    for (int i = 0; i < f.count && !f.trouble && !f.out_of_memory; i++) {
        place(&f, &f.generators[i]);
    }
    if (!f.trouble && !f.out_of_memory) {
        first_facets(&f);
    }
    while (!f.trouble && !f.out_of_memory && look_beyond(&f)) {
    }
    if (!f.trouble && !f.out_of_memory) {
        write(&f);
    }
    *complete = !f.trouble;
    return f.out_of_memory ? PERP_STATUS_OUT_OF_MEMORY : PERP_STATUS_OK;
}

/* ---- containment --------------------------------------------------------------------------------------------------
 */

static bool has_point(const perp_polyhedron *h, const double *x, bool ray)
{
    const double size =
        HULL_SAME * fmax(1.0, fmax(perp_vector_largest(h->n, x), ray ? 0.0 : perp_vector_largest(h->n, h->origin)));
    for (int k = 0; k < h->n; k++) {
        h->scratch[k] = x[k] - (ray ? 0.0 : h->origin[k]);
    }
    if (outside(h->n, h->basis, h->dimensions, h->scratch) > size) {
        return false;
    }
    for (int i = 0; i < h->facet_count; i++) {
        const double *a = h->facets + (ptrdiff_t)i * (h->n + 1);
        if (perp_vector_dot(h->n, a, x) > (ray ? 0.0 : a[h->n]) + size) {
            return false;
        }
    }
    return true;
}

bool perp_polyhedron_contains(const perp_polyhedron *outer, const perp_polyhedron *inner)
{
    bool all = true;
    for (int i = 0; i < inner->vertex_count && all; i++) {
        all = has_point(outer, inner->vertices + (ptrdiff_t)i * inner->n, false);
    }
    for (int i = 0; i < inner->ray_count && all; i++) {
        all = has_point(outer, inner->rays + (ptrdiff_t)i * inner->n, true);
    }
    return all;
}
