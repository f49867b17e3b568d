/* All solutions of 0 <= w = M z + q _|_ z >= 0.
 *
 * The feasible set F = {z >= 0, M z + q >= 0} is a polyhedron without lines, and the solutions are those of its faces
 * on which z_i w_i = 0 for every i. A face is told by its tight set, the variables among z_1..z_n, w_1..w_n that are 0
 * all over it; it lies inside another face iff its tight set holds the other's. For a complementary index set a the
 * piece {z_a >= 0, z_rest = 0, w_a = 0, w_rest >= 0} is such a face, so the maximal pieces are the maximal
 * complementary faces: duplicates and containment are decided by sets of indices, not by comparing points.
 *
 * Branch and bound. A node is a face of F, held as a dictionary with a vertex of it (lcp_dictionary.h).
 *   - It is dropped if it lies inside a face that was found already.
 *   - A pair z_i, w_i with both positive at the vertex is branched on: z_i = 0, then w_i = 0. Either child loses the
 *     vertex; a child without points is dropped.
 *   - At a complementary vertex each open pair is tried: can z_i be positive on the face, can w_i? If both can, though
 * at different points, that pair is branched on. If one cannot it is tight. With no pair left the whole face is
 *     complementary: a solution face.
 * Every solution lies in a leaf, and a leaf that meets the relative interior of a maximal complementary face contains
 * it, so the leaves that lie in no other leaf are exactly the maximal faces.
 *
 * Two leaves can be equal or nested only if the smaller has some z_i and w_i both tight (they took different sides of a
 * branch), so only such nodes are compared with what was found: problems with 2^n isolated solutions stay linear in
 * their number.
 *
 * Corners of a face come from lcp_corners.h; each is then solved for from the original entries by elimination with
 * complete pivoting on its tight set, and every vertex is judged by the residual. Pivots tie as lcp_dictionary.c says;
 * nothing depends on addresses or time, so the result is the same on every run.
 */
#include <perp/solver.h>

#include "solver/lcp_corners.h"

#include <string.h>

/* After so many pivots a dictionary is computed afresh from the problem. */
enum { PIVOTS_BEFORE_BUILD = 40 };

/* More faces than this are not looked for: M = -I, q = 1 has 2^n. */
enum { FACES_MOST = 100000 };

typedef struct found_face {
    perp_lcp_variables tight, basis;
} found_face;

struct perp_lcp_solution_set_memory {
    perp_arena arena;
};

typedef struct search {
    const perp_lcp *problem;
    perp_lcp_enumerate_settings settings;
    perp_lcp_scaled scaled;
    perp_lcp_dictionary *levels; /* n + 2: one for each depth, and one to spare */
    perp_arena scratch;
    perp_arena *kept; /* of the result */
    found_face *found;
    int found_count, found_capacity;
    int nested_count; /* those found with z_i and w_i both tight for some i */
    int64_t nodes;
    bool complete;
    bool full;          /* FACES_MOST were found: stop */
    perp_status status; /* not OK: stop */
    double *system;     /* n x (n + 1), for solving corners */
    int *order;         /* n */
} search;

perp_lcp_enumerate_settings perp_lcp_enumerate_settings_default(void)
{
    return (perp_lcp_enumerate_settings){.tolerance = 1e-8, .max_nodes = 2000000};
}

/* ---- branch and bound ----------------------------------------------------------------------------------------------
 */

static bool may_be_nested(perp_lcp_variables tight)
{
    return (tight.z & tight.w) != 0;
}

static bool is_cancelled(search *s)
{
    if (s->settings.cancel && *s->settings.cancel) {
        s->status = PERP_STATUS_CANCELLED;
    }
    return s->status == PERP_STATUS_CANCELLED;
}

static bool is_covered(search *s, perp_lcp_variables tight)
{
    for (int k = 0; k < s->found_count && may_be_nested(tight) && !is_cancelled(s); k++) {
        if (perp_lcp_is_subset(s->found[k].tight, tight)) {
            return true;
        }
    }
    return false;
}

/* Removes the faces inside the new one, and adds it. */
static void keep_face(search *s, const perp_lcp_dictionary *d)
{
    if (is_covered(s, d->tight)) {
        return;
    }
    if (s->nested_count) {
        int kept = 0;
        for (int k = 0; k < s->found_count && !is_cancelled(s); k++) {
            if (!perp_lcp_is_subset(d->tight, s->found[k].tight)) {
                s->found[kept++] = s->found[k];
            }
        }
        s->nested_count -= s->found_count - kept;
        s->found_count = kept;
    }
    if (s->found_count == FACES_MOST) {
        s->full = true;
        s->complete = false;
        return;
    }
    found_face *found = perp_arena_grow(&s->scratch, s->found, s->found_count, &s->found_capacity, sizeof *found);
    if (!found) {
        s->status = PERP_STATUS_OUT_OF_MEMORY;
        return;
    }
    s->found = found;
    found[s->found_count++] = (found_face){d->tight, perp_lcp_dictionary_basis(d)};
    s->nested_count += may_be_nested(d->tight);
}

static double basic_value(const perp_lcp_dictionary *d, int variable)
{
    const int row = perp_lcp_dictionary_row(d, variable);
    return row < 0 ? 0.0 : d->b[row];
}

/* The pair whose smaller member is largest at the vertex; -1 if the vertex is complementary. */
static int violated_pair(const perp_lcp_dictionary *d)
{
    int worst = -1;
    double largest = PERP_LCP_ZERO;
    for (int i = 0; i < d->problem->n; i++) {
        const double smaller = fmin(basic_value(d, i), basic_value(d, PERP_LCP_W + i));
        if (smaller > largest) {
            largest = smaller;
            worst = i;
        }
    }
    return worst;
}

static void note_positive(const perp_lcp_dictionary *d, perp_lcp_variables *seen)
{
    for (int i = 0; i < d->problem->n; i++) {
        if (d->b[i] > PERP_LCP_ZERO) {
            perp_lcp_add(seen, d->row[i]);
        }
    }
}

/* Whether the variable is positive somewhere on the face. If it is not it is made tight. `seen` collects what is known
 * to be positive somewhere, so that few questions cost pivots. Trouble counts as positive and as incomplete. */
static bool can_be_positive(search *s, perp_lcp_dictionary *d, int variable, perp_lcp_variables *seen)
{
    if (perp_lcp_has(d->tight, variable)) {
        return false;
    }
    if (perp_lcp_has(*seen, variable)) {
        return true;
    }
    const perp_lcp_lp answer = perp_lcp_dictionary_can_be_positive(d, variable);
    note_positive(d, seen);
    if (answer == PERP_LCP_LP_NO) {
        if (perp_lcp_dictionary_fix(d, variable) != PERP_LCP_LP_YES) {
            s->complete = false;
        }
        return false;
    }
    perp_lcp_add(seen, variable);
    s->complete = s->complete && answer == PERP_LCP_LP_YES;
    return true;
}

/* A pair to branch on, or -1 if the whole face is complementary; its tight set is then complete. */
static int open_pair(search *s, perp_lcp_dictionary *d)
{
    perp_lcp_variables seen = {0, 0};
    note_positive(d, &seen);
    for (int i = 0; i < d->problem->n; i++) {
        if (can_be_positive(s, d, i, &seen) && can_be_positive(s, d, PERP_LCP_W + i, &seen)) {
            return i;
        }
    }
    for (int i = 0; i < d->problem->n; i++) {
        can_be_positive(s, d, PERP_LCP_W + i, &seen);
    }
    return -1;
}

static bool may_go_on(search *s)
{
    if (!is_cancelled(s) && s->nodes >= s->settings.max_nodes) {
        s->complete = false;
        return false;
    }
    return s->status == PERP_STATUS_OK && !s->full;
}

static void visit(search *s, int depth)
{
    perp_lcp_dictionary *d = &s->levels[depth];
    if (!may_go_on(s)) {
        return;
    }
    s->nodes++;
    if (is_covered(s, d->tight)) {
        return;
    }
    if (d->pivots > PIVOTS_BEFORE_BUILD &&
        perp_lcp_dictionary_build(d, perp_lcp_dictionary_basis(d), d->tight) != PERP_LCP_LP_YES) {
        s->complete = false;
        return;
    }
    int pair = violated_pair(d);
    if (pair < 0) {
        pair = open_pair(s, d);
    }
    if (pair < 0) {
        keep_face(s, d);
        return;
    }
    const int sides[2] = {pair, PERP_LCP_W + pair};
    for (int k = 0; k < 2 && s->status == PERP_STATUS_OK && !s->full; k++) {
        perp_lcp_dictionary_copy(&s->levels[depth + 1], d);
        const perp_lcp_lp answer = perp_lcp_dictionary_fix(&s->levels[depth + 1], sides[k]);
        s->complete = s->complete && answer != PERP_LCP_LP_TROUBLE;
        if (answer == PERP_LCP_LP_YES) {
            visit(s, depth + 1);
        }
    }
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
static bool solve_corner(search *s, const perp_lcp_corner *corner, double *z)
{
    const int n = s->scaled.n;
    const bool ray = perp_lcp_has(corner->zero, PERP_LCP_ARTIFICIAL);
    int unknowns[PERP_LCP_DICTIONARY_LARGEST], columns = 0, rows = 0, one = -1;
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

/* Rays are scaled to a largest entry of 1. */
static void to_problem_units(const search *s, bool ray, double *z)
{
    double largest = 0.0;
    for (int j = 0; j < s->scaled.n; j++) {
        z[j] = ldexp(z[j], s->scaled.column_exponent[j] - (ray ? 0 : s->scaled.q_exponent));
        largest = fmax(largest, z[j]);
    }
    for (int j = 0; j < s->scaled.n && ray; j++) {
        z[j] /= largest;
    }
}

/* Writes the corner; false if it is a vertex that misses the tolerance. What elimination gives is preferred to the
 * double description's own numbers, which serve where a nearly dependent system has none. */
static bool write_corner(search *s, const perp_lcp_corner *corner, double *z)
{
    const int n = s->scaled.n;
    const bool ray = perp_lcp_has(corner->zero, PERP_LCP_ARTIFICIAL);
    const bool solved = solve_corner(s, corner, z);
    if (solved) {
        to_problem_units(s, ray, z);
        if (ray || perp_lcp_residual(s->problem, z) <= s->settings.tolerance) {
            return true;
        }
    }
    for (int j = 0; j < n; j++) {
        z[j] = fmax(corner->value[j], 0.0) / (ray ? 1.0 : corner->value[2 * n]);
    }
    to_problem_units(s, ray, z);
    return ray || perp_lcp_residual(s->problem, z) <= s->settings.tolerance;
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
static void sort_faces(search *s, perp_lcp_face *faces, perp_lcp_face *spare, int count)
{
    const int n = s->scaled.n;
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

/* Fills `face`; `*good` false if a vertex misses the tolerance or the face could not be worked out. */
static perp_status write_face(search *s, perp_lcp_corners *corners, const found_face *found, perp_lcp_face *face,
                              bool *good)
{
    const size_t n = (size_t)s->scaled.n;
    perp_lcp_dictionary *d = &s->levels[0];
    *good = perp_lcp_dictionary_build(d, found->basis, found->tight) == PERP_LCP_LP_YES;
    if (!*good) {
        return PERP_STATUS_OK;
    }
    const perp_status status = perp_lcp_corners_find(corners, d);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    *face = (perp_lcp_face){0};
    for (int k = 0; k < corners->count; k++) {
        face->ray_count += perp_lcp_has(corners->items[k].zero, PERP_LCP_ARTIFICIAL);
    }
    face->vertex_count = corners->count - face->ray_count;
    double *vertices = PERP_ARENA_NEW(s->kept, double, (size_t)face->vertex_count *n);
    double *rays = PERP_ARENA_NEW(s->kept, double, (size_t)face->ray_count *n);
    if (!vertices || !rays) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    face->vertices = vertices;
    face->rays = rays;
    for (int k = 0; k < corners->count && *good; k++) {
        double **z = perp_lcp_has(corners->items[k].zero, PERP_LCP_ARTIFICIAL) ? &rays : &vertices;
        *good = write_corner(s, &corners->items[k], *z);
        *z += n;
    }
    sort_rows((double *)face->vertices, face->vertex_count, s->scaled.n);
    sort_rows((double *)face->rays, face->ray_count, s->scaled.n);
    return PERP_STATUS_OK;
}

static void write_set(search *s, perp_lcp_solution_set *set)
{
    perp_lcp_face *faces = PERP_ARENA_NEW(s->kept, perp_lcp_face, (size_t)s->found_count);
    perp_lcp_face *spare = PERP_ARENA_NEW(&s->scratch, perp_lcp_face, (size_t)s->found_count);
    perp_lcp_corners corners = {.arena = &s->scratch, .cancel = s->settings.cancel};
    s->status = faces && spare ? PERP_STATUS_OK : PERP_STATUS_OUT_OF_MEMORY;
    for (int k = 0; k < s->found_count && s->status == PERP_STATUS_OK && !is_cancelled(s); k++) {
        bool good;
        s->status = write_face(s, &corners, &s->found[k], &faces[set->face_count], &good);
        set->face_count += s->status == PERP_STATUS_OK && good;
        s->complete = s->complete && good;
    }
    if (s->status == PERP_STATUS_OK) {
        sort_faces(s, faces, spare, set->face_count);
        set->faces = faces;
        set->n = s->scaled.n;
        set->complete = s->complete;
        set->nodes = s->nodes;
    }
}

static perp_status prepare(search *s)
{
    const size_t n = (size_t)s->problem->n;
    const perp_status status = perp_lcp_scale(&s->scaled, s->problem, &s->scratch);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    s->system = PERP_ARENA_NEW(&s->scratch, double, n *(n + 1));
    s->order = PERP_ARENA_NEW(&s->scratch, int, n);
    s->levels = PERP_ARENA_NEW(&s->scratch, perp_lcp_dictionary, n + 2);
    bool all = s->system && s->order && s->levels;
    for (size_t k = 0; k < n + 2 && all; k++) {
        all = perp_lcp_dictionary_create(&s->levels[k], &s->scaled, &s->scratch);
    }
    return all ? PERP_STATUS_OK : PERP_STATUS_OUT_OF_MEMORY;
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
        return perp_fail(error, status, "a face of the solution set has more than %d corners", PERP_LCP_CORNERS_MOST);
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

perp_status perp_lcp_enumerate(const perp_lcp *problem, const perp_lcp_enumerate_settings *settings,
                               const perp_allocator *allocator, perp_lcp_solution_set **set, perp_error *error)
{
    *set = NULL;
    const perp_status checked = perp_lcp_check(problem, error);
    if (checked != PERP_STATUS_OK) {
        return checked;
    }
    if (problem->n > PERP_LCP_DICTIONARY_LARGEST) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "all solutions are enumerated up to n = %d, and this is n = %d",
                         PERP_LCP_DICTIONARY_LARGEST, problem->n);
    }
    perp_lcp_solution_set *result = new_set(allocator);
    if (!result) {
        return explain(PERP_STATUS_OUT_OF_MEMORY, error);
    }
    search s = {.problem = problem,
                .settings = settings ? *settings : perp_lcp_enumerate_settings_default(),
                .kept = &result->memory->arena,
                .complete = true};
    perp_arena_init(&s.scratch, allocator);
    s.status = prepare(&s);
    if (s.status == PERP_STATUS_OK) {
        const perp_lcp_lp answer = perp_lcp_dictionary_start(&s.levels[0]);
        s.complete = answer != PERP_LCP_LP_TROUBLE && !s.scaled.lossy;
        if (answer == PERP_LCP_LP_YES) {
            visit(&s, 0);
        }
    }
    for (int k = 0; k < problem->n + 2 && s.status == PERP_STATUS_OK; k++) {
        s.complete = s.complete && !s.levels[k].doubtful;
    }
    if (s.status == PERP_STATUS_OK) {
        write_set(&s, result);
    }
    perp_arena_clear(&s.scratch);
    if (s.status != PERP_STATUS_OK) {
        perp_lcp_solution_set_free(result);
        return explain(s.status, error);
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
