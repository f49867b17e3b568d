#include "solver/lcp_faces.h"

#include "solver/lcp_search.h"

#include <math.h>
#include <string.h>

struct perp_lcp_solution_set_memory {
    perp_arena arena;
};

typedef struct writer {
    const perp_lcp_image *image;
    perp_lcp_enumerate_settings settings;
    perp_lcp_scaled scaled;
    perp_lcp_search search;
    perp_arena scratch;
    perp_arena *kept; /* of the result */
    perp_status status;
    double *system; /* n x (n + 1) of the lcp, for solving corners */
    double *point;  /* n of the lcp */
    int *order;     /* n of the lcp */
} writer;

static bool is_cancelled(writer *s)
{
    if (s->settings.cancel && *s->settings.cancel) {
        s->status = PERP_STATUS_CANCELLED;
    }
    return s->status == PERP_STATUS_CANCELLED;
}

/* ---- corners in the problem's own units ----------------------------------------------------------------------------
 */

/* Eliminates column after column of the `rows` x `columns` system (the right-hand side is column `columns`), largest
 * entry first; afterwards row order[j] holds unknown j alone. False if the rank falls short. */
static bool eliminate(double *a, int rows, int columns, int *order)
{
    const int stride = columns + 1;
    uint64_t used = 0, done = 0;
    for (int step = 0; step < columns; step++) {
        int row = -1, column = -1;
        double largest = 1e-13;
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < columns; j++) {
                if (!(used >> i & 1U) && !(done >> j & 1U) && fabs(a[i * stride + j]) > largest) {
                    largest = fabs(a[i * stride + j]);
                    row = i;
                    column = j;
                }
            }
        }
        if (row < 0) {
            return false;
        }
        used |= UINT64_C(1) << row;
        done |= UINT64_C(1) << column;
        order[column] = row;
        for (int i = 0; i < rows; i++) {
            const double factor = a[i * stride + column] / a[row * stride + column];
            for (int j = 0; j <= columns && i != row; j++) {
                a[i * stride + j] -= factor * a[row * stride + j];
            }
        }
    }
    return true;
}

/* The corner's z in the problem's units from its zeros alone: the z_j that are not 0 solve w_i = 0 for the w_i that
 * are, a consistent system of full column rank. Of a ray the largest z_j is set to 1 first. False if the rank falls
 * short. */
static bool solve_corner(writer *s, const perp_lcp_corner *corner, double *z)
{
    const int n = s->scaled.n;
    const bool ray = perp_lcp_has(corner->zero, PERP_LCP_ARTIFICIAL);
    int unknowns[PERP_LCP_ENUMERATE_MAX_N], columns = 0, rows = 0, one = -1;
    for (int j = 0; j < n; j++) {
        if (ray && (one < 0 || corner->value[j] > corner->value[one])) {
            one = j;
        }
    }
    for (int j = 0; j < n; j++) {
        if (j != one && !perp_lcp_has(corner->zero, j)) {
            unknowns[columns++] = j;
        }
    }
    for (int i = 0; i < n; i++) {
        if (perp_lcp_has(corner->zero, PERP_LCP_W + i)) {
            double *a = s->system + rows++ * (columns + 1);
            for (int j = 0; j < columns; j++) {
                a[j] = s->scaled.m[i * n + unknowns[j]];
            }
            a[columns] = ray ? -s->scaled.m[i * n + one] : -s->scaled.q[i];
        }
    }
    if (!eliminate(s->system, rows, columns, s->order)) {
        return false;
    }
    memset(z, 0, (size_t)n * sizeof(double));
    for (int j = 0; j < columns; j++) {
        const double *a = s->system + s->order[j] * (columns + 1);
        z[unknowns[j]] = fmax(a[columns] / a[j], 0.0);
    }
    if (ray) {
        z[one] = 1.0;
    }
    return true;
}

static void to_lcp_units(const writer *s, bool ray, double *z)
{
    for (int j = 0; j < s->scaled.n; j++) {
        z[j] = ldexp(z[j], s->scaled.column_exponent[j] - (ray ? 0 : s->scaled.q_exponent));
    }
}

/* A largest magnitude of 1; false for the zero vector, which is no direction. */
static bool normalise_ray(int n, double *z)
{
    double largest = 0.0;
    for (int j = 0; j < n; j++) {
        largest = fmax(largest, fabs(z[j]));
    }
    for (int j = 0; j < n; j++) {
        z[j] /= largest;
    }
    return largest > 0.0 && largest < INFINITY;
}

/* s->point as z of the problem; false if it is a vertex that misses the tolerance. */
static bool map_corner(writer *s, const perp_lcp_corner *corner, double *z)
{
    const bool ray = perp_lcp_has(corner->zero, PERP_LCP_ARTIFICIAL);
    to_lcp_units(s, ray, s->point);
    s->image->map(s->image->context, corner->zero, s->point, ray, z);
    const double unit = s->settings.relative ? 0.0 : 1.0;
    return ray ? normalise_ray(s->image->n, z)
               : s->image->residual(s->image->context, z, unit) <= s->settings.tolerance;
}

/* What elimination gives is preferred to the double description's own numbers, which serve where a nearly dependent
 * system has none. */
static bool write_corner(writer *s, const perp_lcp_corner *corner, double *z)
{
    const int n = s->scaled.n;
    const bool ray = perp_lcp_has(corner->zero, PERP_LCP_ARTIFICIAL);
    if (solve_corner(s, corner, s->point) && map_corner(s, corner, z)) {
        return true;
    }
    for (int j = 0; j < n; j++) {
        s->point[j] = fmax(corner->value[j], 0.0) / (ray ? 1.0 : corner->value[2 * n]);
    }
    return map_corner(s, corner, z);
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

/* Heap sort of rows of numbers, lexicographically. (qsort cannot be told how long a row is.) */
static void sort_rows(double *rows, int count, int n)
{
    for (int end = count, root = count / 2; end > 1;) {
        if (root > 0) {
            root--;
        } else {
            end--;
            for (int j = 0; j < n; j++) {
                const double t = rows[j];
                rows[j] = rows[(size_t)end * (size_t)n + (size_t)j];
                rows[(size_t)end * (size_t)n + (size_t)j] = t;
            }
        }
        for (int at = root, child; (child = 2 * at + 1) < end; at = child) {
            double *c = rows + (size_t)child * (size_t)n;
            if (child + 1 < end && compare_rows(c, c + n, (size_t)n) < 0) {
                child++;
                c += n;
            }
            double *a = rows + (size_t)at * (size_t)n;
            if (compare_rows(a, c, (size_t)n) >= 0) {
                break;
            }
            for (int j = 0; j < n; j++) {
                const double t = a[j];
                a[j] = c[j];
                c[j] = t;
            }
        }
    }
}

static int compare_faces(const perp_lcp_face *a, const perp_lcp_face *b, int n)
{
    const int shared = a->vertex_count < b->vertex_count ? a->vertex_count : b->vertex_count;
    const int order = compare_rows(a->vertices, b->vertices, (size_t)shared * (size_t)n);
    if (order || a->vertex_count != b->vertex_count) {
        return order ? order : a->vertex_count - b->vertex_count;
    }
    const int rays = a->ray_count < b->ray_count ? a->ray_count : b->ray_count;
    const int ray_order = compare_rows(a->rays, b->rays, (size_t)rays * (size_t)n);
    return ray_order ? ray_order : a->ray_count - b->ray_count;
}

/* Merges halves with `spare` of the same length: stable, and faces that compare equal keep the order of the search. */
static void sort_faces(writer *s, perp_lcp_face *faces, perp_lcp_face *spare, int count)
{
    const int n = s->image->n;
    for (int width = 1; width < count; width *= 2) {
        for (int low = 0; low < count && !is_cancelled(s); low += 2 * width) {
            const int middle = low + width < count ? low + width : count;
            const int high = low + 2 * width < count ? low + 2 * width : count;
            for (int i = low, j = middle, k = low; k < high; k++) {
                const bool left = i < middle && (j >= high || compare_faces(&faces[i], &faces[j], n) <= 0);
                spare[k] = left ? faces[i++] : faces[j++];
            }
        }
        memcpy(faces, spare, (size_t)count * sizeof *faces);
    }
}

/* The lines of the problem, forth and back. */
static void write_lines(const perp_lcp_image *image, double *rays)
{
    for (int k = 0; k < image->line_count; k++) {
        for (int j = 0; j < image->n; j++, rays++) {
            rays[0] = image->lines[k * image->n + j];
            rays[image->line_count * image->n] = -rays[0] + 0.0;
        }
    }
}

/* Fills `face`; `*good` false if a vertex misses the tolerance or the face could not be worked out. */
static perp_status write_face(writer *s, perp_lcp_corners *corners, const perp_lcp_found *found, perp_lcp_face *face,
                              bool *good)
{
    const size_t n = (size_t)s->image->n;
    perp_lcp_dictionary *d = &s->search.levels[0];
    *good = perp_lcp_dictionary_build(d, found->basis, found->tight) == PERP_LCP_LP_YES;
    if (!*good) {
        return PERP_STATUS_OK;
    }
    const perp_status status = perp_lcp_corners_find(corners, d);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    *face = (perp_lcp_face){.ray_count = 2 * s->image->line_count};
    for (int k = 0; k < corners->count; k++) {
        const bool ray = perp_lcp_has(corners->items[k].zero, PERP_LCP_ARTIFICIAL);
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
    write_lines(s->image, rays);
    rays += 2 * (size_t)s->image->line_count * n;
    for (int k = 0; k < corners->count && *good; k++) {
        double **z = perp_lcp_has(corners->items[k].zero, PERP_LCP_ARTIFICIAL) ? &rays : &vertices;
        *good = write_corner(s, &corners->items[k], *z);
        *z += n;
    }
    sort_rows((double *)face->vertices, face->vertex_count, s->image->n);
    sort_rows((double *)face->rays, face->ray_count, s->image->n);
    return PERP_STATUS_OK;
}

static void write_set(writer *s, perp_lcp_solution_set *set)
{
    const perp_lcp_search *search = &s->search;
    perp_lcp_face *faces = PERP_ARENA_NEW(s->kept, perp_lcp_face, (size_t)search->found_count);
    perp_lcp_face *spare = PERP_ARENA_NEW(&s->scratch, perp_lcp_face, (size_t)search->found_count);
    perp_lcp_corners corners = {
        .arena = &s->scratch, .cancel = s->settings.cancel, .max_comparisons = s->settings.max_comparisons};
    bool complete = search->complete && !s->image->doubtful;
    s->status = faces && spare ? PERP_STATUS_OK : PERP_STATUS_OUT_OF_MEMORY;
    for (int k = 0; k < search->found_count && s->status == PERP_STATUS_OK && !is_cancelled(s); k++) {
        bool good;
        s->status = write_face(s, &corners, &search->found[k], &faces[set->face_count], &good);
        set->face_count += s->status == PERP_STATUS_OK && good;
        complete = complete && good;
    }
    if (s->status == PERP_STATUS_OK) {
        sort_faces(s, faces, spare, set->face_count);
        set->faces = faces;
        set->n = s->image->n;
        set->complete = complete;
        set->nodes = search->nodes;
    }
}

static perp_status run(writer *s, perp_lcp_solution_set *set)
{
    const size_t n = (size_t)s->image->lcp.n;
    const perp_status status = perp_lcp_scale(&s->scaled, &s->image->lcp, &s->scratch);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    s->system = PERP_ARENA_NEW(&s->scratch, double, n *(n + 1));
    s->point = PERP_ARENA_NEW(&s->scratch, double, n);
    s->order = PERP_ARENA_NEW(&s->scratch, int, n);
    if (!s->system || !s->point || !s->order) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    s->search = (perp_lcp_search){.scaled = &s->scaled,
                                  .given = s->image->given,
                                  .max_nodes = s->settings.max_nodes,
                                  .cancel = s->settings.cancel,
                                  .arena = &s->scratch};
    s->status = perp_lcp_search_run(&s->search);
    if (s->status == PERP_STATUS_OK) {
        write_set(s, set);
    }
    return s->status;
}

static perp_status explain(perp_status status, perp_error *error)
{
    switch (status) {
    case PERP_STATUS_OK:
        return status;
    case PERP_STATUS_OUT_OF_MEMORY:
        return perp_fail(error, status, "no memory for the solutions of the complementarity problem");
    case PERP_STATUS_CANCELLED:
        return perp_fail(error, status, "the enumeration of solutions was cancelled");
    case PERP_STATUS_CAPACITY:
        return perp_fail(
            error, status,
            "a face of the solution set has more than %d corners, or finding them takes too many comparisons",
            PERP_LCP_CORNERS_MOST);
    default:
        return perp_fail(error, status, "the entries of the complementarity problem differ too much in magnitude");
    }
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

perp_status perp_lcp_faces_enumerate(const perp_lcp_image *image, const perp_lcp_enumerate_settings *settings,
                                     const perp_allocator *allocator, perp_lcp_solution_set **set, perp_error *error)
{
    *set = NULL;
    if (image->lcp.n > PERP_LCP_ENUMERATE_MAX_N) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "all solutions are enumerated up to n = %d, and this %s n = %d",
                         PERP_LCP_ENUMERATE_MAX_N, image->lcp.n == image->n ? "is" : "amounts to an lcp of",
                         image->lcp.n);
    }
    perp_lcp_solution_set *result = new_set(allocator);
    if (!result) {
        return explain(PERP_STATUS_OUT_OF_MEMORY, error);
    }
    writer s = {.image = image, .settings = *settings, .kept = &result->memory->arena};
    perp_arena_init(&s.scratch, allocator);
    const perp_status status = run(&s, result);
    perp_arena_clear(&s.scratch);
    if (status != PERP_STATUS_OK) {
        perp_lcp_solution_set_free(result);
        return explain(status, error);
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
