/* The corners of a face. A dictionary without redundant columns (none of them zero on the whole face) writes the face
 * as {y >= 0, b + A y >= 0},   homogenised: the cone {t >= 0, y >= 0, b t + A y >= 0} in (t, y). The first inequalities
 * alone have the unit vectors as extreme rays: the dictionary's own vertex and one direction for each column. The other
 * inequalities, one for each basic variable, are put in one after the other.
 *
 * A ray is stored by the values of all variables and t, not by (t, y): a variable whose inequality is in has values >=
 * 0 on all rays, so that later combinations, with positive coefficients, never cancel in it, and zeros are exact. Only
 * a variable that is still to come needs a decision by tolerance, once.
 */
#include "solver/mcp_faces.h"

#include "linalg/vector.h"
#include "problem/natural_map.h"
#include "solver/extreme_rays.h"
#include "solver/lcp_search.h"
#include "solver/tolerances.h"

#include <string.h>

/* The index of t >= 0 among inequalities, whose others are variables by their number in sets: zero for a ray. */
enum { T = 63 };

struct perp_lcp_solution_set_memory {
    perp_arena arena;
};

typedef struct writer {
    const perp_mcp_lcp *lcp;
    perp_lcp_enumerate_settings settings;
    perp_cell_table table;
    perp_lcp_search search;
    perp_extreme_rays corners;
    perp_arena scratch;
    perp_arena *kept; /* of the result */
    perp_status status;
    double *x;     /* n of the lcp */
    double *lines; /* line_count, n of the mcp each */
    void *spare;   /* of sorting */
    size_t spare_size;
} writer;

static bool is_cancelled(writer *s)
{
    if (s->settings.cancel && *s->settings.cancel) {
        s->status = PERP_STATUS_CANCELLED;
    }
    return s->status == PERP_STATUS_CANCELLED;
}

/* ---- corners -------------------------------------------------------------------------------------------------------
 */

/* Place of a variable (or T) in a corner's values. */
static int place(const writer *s, int variable)
{
    const int pairs = s->lcp->pairs;
    return variable == T ? 2 * pairs : variable < PERP_LCP_W ? variable : pairs + variable - PERP_LCP_W;
}

/* The variable of a set from that of a dictionary; -1: in no pair. */
static int in_set(const writer *s, int variable)
{
    const int n = s->lcp->n, i = variable < n ? variable : variable - n;
    return i >= s->lcp->pairs ? -1 : variable < n ? PERP_LCP_W + i : i;
}

/* The extreme rays of {t >= 0, y >= 0}: `which` = -1 for the vertex, else a column. */
static perp_status add_unit(writer *s, perp_cell_dictionary *d, int which)
{
    const perp_status status = perp_extreme_rays_add(&s->corners);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_extreme_ray *corner = &s->corners.items[s->corners.count - 1];
    d->endless = which;
    d->way = 1.0;
    for (int k = 0; k < 2 * s->lcp->pairs; k++) {
        const int variable = perp_lcp_variable(d->table, k < s->lcp->pairs ? k : PERP_LCP_W + k - s->lcp->pairs);
        corner->v[k] = which < 0 ? perp_cell_value(d, variable) : perp_cell_along_ray(d, variable);
    }
    for (int j = 0; j < d->columns; j++) {
        if (j != which) {
            perp_extreme_ray_put_on(corner, in_set(s, d->column[j]));
        }
    }
    if (which < 0) {
        corner->v[place(s, T)] = 1.0;
    } else {
        perp_extreme_ray_put_on(corner, T);
    }
    perp_extreme_rays_normalise(&s->corners, corner);
    return PERP_STATUS_OK;
}

/* Puts in the inequality of one variable. */
static perp_status cut(writer *s, int variable)
{
    const perp_status status = perp_extreme_rays_sides(&s->corners);
    for (int k = 0; k < s->corners.count && status == PERP_STATUS_OK; k++) {
        double *x = &s->corners.items[k].v[place(s, variable)];
        *x = fabs(*x) > CORNER_ON_PLANE ? *x : 0.0;
        s->corners.side[k] = *x;
    }
    return status == PERP_STATUS_OK ? perp_extreme_rays_cut(&s->corners, variable) : status;
}

/* s->corners becomes the corners of the face. */
static perp_status find_corners(writer *s, perp_cell_dictionary *d, const perp_lcp_found *found)
{
    s->corners.count = 0;
    s->corners.shared_least = d->columns - 1;
    perp_status status = PERP_STATUS_OK;
    for (int which = -1; which < d->columns && status == PERP_STATUS_OK; which++) {
        status = add_unit(s, d, which);
    }
    for (int i = 0; i < s->lcp->n && status == PERP_STATUS_OK; i++) {
        const int variable = in_set(s, d->row[i]);
        if (variable >= 0 && !perp_lcp_has(found->tight, variable)) {
            status = cut(s, variable);
        }
    }
    for (int k = 0; k < s->corners.count && status == PERP_STATUS_OK; k++) {
        s->corners.items[k].zero[0] |= found->tight.z;
        s->corners.items[k].zero[1] |= found->tight.w;
    }
    return status;
}

/* ---- corners in the problem's own units ----------------------------------------------------------------------------
 */

/* Of a ray the variable that is set to 1: the largest x_j, or w_j where all of these are 0. */
static int largest_of(const writer *s, const perp_extreme_ray *ray)
{
    const int pairs = s->lcp->pairs;
    int one = 0;
    for (int k = 1; k < pairs; k++) {
        one = ray->v[k] > ray->v[one] ? k : one;
    }
    for (int k = pairs; k < 2 * pairs && !(ray->v[one < PERP_LCP_W ? one : 0] > 0.0); k++) {
        one = one < PERP_LCP_W || ray->v[k] > ray->v[place(s, one)] ? PERP_LCP_W + k - pairs : one;
    }
    return one;
}

/* The corner's x from its zeros alone: what is not 0 solves the equations of what is, a consistent system of full
 * column rank. False if the rank falls short. */
static bool solve_corner(writer *s, const perp_extreme_ray *corner, double *x)
{
    const int n = s->lcp->n;
    const bool ray = perp_extreme_ray_is_on(corner, T);
    const int one = ray ? perp_lcp_variable(&s->table, largest_of(s, corner)) : -1;
    perp_cell_dictionary *d = &s->search.levels[1];
    perp_lcp_search_goals(&s->search, d);
    for (int i = 0; i < 2 * n; i++) {
        const int variable = in_set(s, i);
        if (variable >= 0) {
            d->goal[i] = i == one || perp_extreme_ray_is_on(corner, variable) ? PERP_CELL_COLUMN : PERP_CELL_ROW;
        }
    }
    if (!perp_cell_exchange(d) || (ray && d->place[one] >= 0)) {
        return false;
    }
    d->endless = ray ? ~d->place[one] : -1;
    d->way = 1.0;
    for (int j = 0; j < n; j++) {
        x[j] = ray ? perp_cell_along_ray(d, n + j) : perp_cell_value(d, n + j);
    }
    return true;
}

/* s->x with its zeros, in the units of the problem. */
static void to_problem(const writer *s, const perp_extreme_ray *corner, double *z)
{
    const perp_mcp_lcp *lcp = s->lcp;
    const bool ray = perp_extreme_ray_is_on(corner, T);
    const int exponent = ray ? 0 : lcp->scaled.q_exponent;
    for (int i = 0; i < lcp->mcp->n; i++) {
        z[i] = ray ? 0.0 : lcp->origin[i];
    }
    for (int j = 0; j < lcp->n; j++) {
        const int i = lcp->index[j];
        const double x = ldexp(s->x[j], lcp->scaled.column_exponent[j] - exponent);
        if (j >= lcp->pairs) {
            z[i] = x;
        } else if (j < lcp->uppers) {
            z[i] += perp_extreme_ray_is_on(corner, j) ? 0.0 : lcp->sign[i] * fmax(x, 0.0);
        } else if (perp_extreme_ray_is_on(corner, PERP_LCP_W + j)) {
            z[i] = ray ? 0.0 : lcp->mcp->upper[i];
        }
    }
}

/* A largest magnitude of 1; false for the zero vector, which is no direction. */
static bool normalise_ray(int n, double *z)
{
    const double largest = perp_vector_largest(n, z);
    for (int j = 0; j < n; j++) {
        z[j] /= largest;
    }
    return largest > 0.0 && largest < INFINITY;
}

/* s->x as z of the problem; false if it is a vertex that misses the tolerance. */
static bool map_corner(writer *s, const perp_extreme_ray *corner, double *z)
{
    to_problem(s, corner, z);
    return perp_extreme_ray_is_on(corner, T)
               ? normalise_ray(s->lcp->mcp->n, z)
               : perp_mcp_residual_with(s->lcp->mcp, z, s->settings.relative ? 0.0 : 1.0) <= s->settings.tolerance;
}

/* What pivoting gives is preferred to the double description's own numbers, which serve where a nearly dependent system
 * has none; they have no free variables. */
static bool write_corner(writer *s, const perp_extreme_ray *corner, double *z)
{
    if (solve_corner(s, corner, s->x) && map_corner(s, corner, z)) {
        return true;
    }
    const int pairs = s->lcp->pairs;
    for (int j = 0; j < pairs; j++) {
        s->x[j] = corner->v[j] / (perp_extreme_ray_is_on(corner, T) ? 1.0 : corner->v[2 * pairs]);
    }
    return pairs == s->lcp->n && map_corner(s, corner, z);
}

/* ---- the result ----------------------------------------------------------------------------------------------------
 */

static int compare_rows(const double *a, const double *b, size_t length)
{
    for (size_t j = 0; j < length; j++) {
        if (a[j] != b[j]) {
            return a[j] < b[j] ? -1 : 1;
        }
    }
    return 0;
}

static int compare_points(const void *a, const void *b, int n)
{
    return compare_rows(a, b, (size_t)n);
}

static int compare_faces(const void *left, const void *right, int n)
{
    const perp_lcp_face *a = left, *b = right;
    const int shared = a->vertex_count < b->vertex_count ? a->vertex_count : b->vertex_count;
    const int order = compare_rows(a->vertices, b->vertices, (size_t)shared * (size_t)n);
    if (order || a->vertex_count != b->vertex_count) {
        return order ? order : a->vertex_count - b->vertex_count;
    }
    const int rays = a->ray_count < b->ray_count ? a->ray_count : b->ray_count;
    const int ray_order = compare_rows(a->rays, b->rays, (size_t)rays * (size_t)n);
    return ray_order ? ray_order : a->ray_count - b->ray_count;
}

/* Merges halves: stable, and faces that compare equal keep the order of the search. (qsort cannot be told how long a
 * row is.) */
static void sort(writer *s, void *all, int count, size_t size, int (*compare)(const void *, const void *, int))
{
    unsigned char *items = all;
    if (count > 1 && (size_t)count * size > s->spare_size) {
        s->spare_size = 2 * (size_t)count * size;
        s->spare = perp_arena_push(&s->scratch, s->spare_size, 1);
        s->status = s->spare ? s->status : PERP_STATUS_OUT_OF_MEMORY;
    }
    for (int width = 1; width < count && s->status == PERP_STATUS_OK; width *= 2) {
        for (int low = 0; low < count && !is_cancelled(s); low += 2 * width) {
            const int middle = low + width < count ? low + width : count;
            const int high = low + 2 * width < count ? low + 2 * width : count;
            for (int i = low, j = middle, k = low; k < high; k++) {
                const bool left = i < middle && (j >= high || compare(items + (size_t)i * size,
                                                                      items + (size_t)j * size, s->lcp->mcp->n) <= 0);
                memcpy((unsigned char *)s->spare + (size_t)k * size, items + (size_t)(left ? i++ : j++) * size, size);
            }
        }
        memcpy(items, s->spare, (size_t)count * size);
    }
}

/* The lines of the problem, forth and back, in its units. */
static bool find_lines(writer *s)
{
    const int n = s->lcp->mcp->n, count = s->search.line_count;
    s->lines = PERP_ARENA_NEW(&s->scratch, double, 2 * (size_t)count * (size_t)n);
    for (int k = 0; k < count && s->lines; k++) {
        double *line = s->lines + (size_t)k * (size_t)n;
        for (int j = s->lcp->pairs; j < s->lcp->n; j++) {
            line[s->lcp->index[j]] =
                ldexp(s->search.lines[(size_t)k * (size_t)s->lcp->n + (size_t)j], s->lcp->scaled.column_exponent[j]);
        }
        normalise_ray(n, line);
        for (int i = 0; i < n; i++) {
            line[count * n + i] = -line[i] + 0.0;
        }
    }
    return s->lines != NULL;
}

/* Fills `face`; `*good` false if a vertex misses the tolerance or the face could not be worked out. */
static perp_status write_face(writer *s, const perp_lcp_found *found, perp_lcp_face *face, bool *good)
{
    const size_t n = (size_t)s->lcp->mcp->n, lines = 2 * (size_t)s->search.line_count;
    perp_cell_dictionary *d = &s->search.levels[0];
    *good = perp_lcp_search_recall(&s->search, found, d) == PERP_CELL_YES;
    if (!*good) {
        return PERP_STATUS_OK;
    }
    const perp_status status = find_corners(s, d, found);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    *face = (perp_lcp_face){.ray_count = (int)lines};
    for (int k = 0; k < s->corners.count; k++) {
        const bool ray = perp_extreme_ray_is_on(&s->corners.items[k], T);
        face->ray_count += ray;
        face->vertex_count += !ray;
    }
    double *vertices = PERP_ARENA_NEW(s->kept, double, (size_t)face->vertex_count *n);
    double *rays = PERP_ARENA_NEW(s->kept, double, (size_t)face->ray_count *n);
    if (!vertices || !rays) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    face->vertices = vertices;
    face->rays = rays;
    memcpy(rays, s->lines, lines * n * sizeof *rays);
    rays += lines * n;
    for (int k = 0; k < s->corners.count && *good; k++) {
        double **z = perp_extreme_ray_is_on(&s->corners.items[k], T) ? &rays : &vertices;
        *good = write_corner(s, &s->corners.items[k], *z);
        *z += n;
    }
    sort(s, (double *)face->vertices, face->vertex_count, n * sizeof(double), compare_points);
    sort(s, (double *)face->rays, face->ray_count, n * sizeof(double), compare_points);
    return s->status;
}

static void write_set(writer *s, perp_lcp_solution_set *set)
{
    const perp_lcp_search *search = &s->search;
    perp_lcp_face *faces = PERP_ARENA_NEW(s->kept, perp_lcp_face, (size_t)search->found_count);
    bool complete = search->complete && !s->lcp->scaled.lossy;
    s->status = faces && find_lines(s) ? PERP_STATUS_OK : PERP_STATUS_OUT_OF_MEMORY;
    for (int k = 0; k < search->found_count && s->status == PERP_STATUS_OK && !is_cancelled(s); k++) {
        bool good;
        s->status = write_face(s, &search->found[k], &faces[set->face_count], &good);
        set->face_count += s->status == PERP_STATUS_OK && good;
        complete = complete && good;
    }
    if (s->status == PERP_STATUS_OK) {
        sort(s, faces, set->face_count, sizeof *faces, compare_faces);
        set->faces = faces;
        set->n = s->lcp->mcp->n;
        set->complete = complete;
        set->nodes = search->nodes;
    }
}

static perp_status run(writer *s, perp_lcp_solution_set *set)
{
    const perp_mcp_lcp *lcp = s->lcp;
    s->x = PERP_ARENA_NEW(&s->scratch, double, (size_t)lcp->n);
    s->table = (perp_cell_table){.rows = lcp->n, .columns = lcp->n, .a = lcp->scaled.m, .b = lcp->scaled.q};
    if (!s->x || !perp_cell_make_exact(&s->table, &s->scratch)) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    s->corners = (perp_extreme_rays){.arena = &s->scratch,
                                     .size = 2 * lcp->pairs + 1,
                                     .most = PERP_MCP_CORNERS_MOST,
                                     .max_comparisons = s->settings.max_comparisons,
                                     .cancel = s->settings.cancel};
    s->search = (perp_lcp_search){.table = &s->table,
                                  .pairs = lcp->pairs,
                                  .max_nodes = s->settings.max_nodes,
                                  .cancel = s->settings.cancel,
                                  .arena = &s->scratch};
    s->status = perp_lcp_search_run(&s->search);
    if (s->status == PERP_STATUS_OK) {
        write_set(s, set);
    }
    return s->status;
}

/* The set's own memory, empty; NULL without any. */
static perp_lcp_solution_set *new_set(const perp_allocator *allocator)
{
    perp_arena arena;
    perp_arena_init(&arena, allocator);
    perp_lcp_solution_set *set = PERP_ARENA_NEW(&arena, perp_lcp_solution_set, 1);
    struct perp_lcp_solution_set_memory *memory = PERP_ARENA_NEW(&arena, struct perp_lcp_solution_set_memory, 1);
    if (!set || !memory) {
        perp_arena_clear(&arena);
        return NULL;
    }
    memory->arena = arena;
    set->memory = memory;
    return set;
}

perp_status perp_mcp_faces_enumerate(const perp_mcp_lcp *lcp, const perp_lcp_enumerate_settings *settings,
                                     const perp_allocator *allocator, perp_lcp_solution_set **set)
{
    perp_lcp_solution_set *result = new_set(allocator);
    if (!result) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    writer s = {.lcp = lcp, .settings = *settings, .kept = &result->memory->arena};
    perp_arena_init(&s.scratch, allocator);
    const perp_status status = run(&s, result);
    perp_arena_clear(&s.scratch);
    if (status != PERP_STATUS_OK) {
        perp_lcp_solution_set_free(result);
        return status;
    }
    *set = result;
    return PERP_STATUS_OK;
}

void perp_lcp_solution_set_free(perp_lcp_solution_set *set)
{
    if (set) {
        perp_arena arena = set->memory->arena; /* the set itself lives in it */
        perp_arena_clear(&arena);
    }
}
