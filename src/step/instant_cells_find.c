/* The cells of instant_cells.h, and the corners of the rates of each.
 *
 * Mostly one rate goes with the modes of a cell. Where they are several they form a convex body, a segment or a polygon
 * say, whose corners are found by linear programs: the farthest points this way and that, and then beyond each side of
 * what is known. */
#include "step/instant_cells.h"

#include <string.h>

/* Of the unit of rates, or of themselves: rates that differ by less are one. */
static const double FLAT = 1e-9;
/* More corners than that of one cell, or dimensions of its rates, are not looked for. */
enum { CORNERS_MOST = 100, DIMENSIONS_MOST = 2 };

typedef struct finder {
    instant_cells *cells;
    instant_cells_found *found;
    void *context;
    instant_cells_result *result;
    int n;          /* rates */
    double *origin; /* n: a rate of the cell */
    double *basis;  /* DIMENSIONS_MOST x n: orthonormal, where its others are */
    double *along;  /* n: scratch */
    int dimensions;
    int corners;  /* of this cell, so far */
    bool trouble; /* with this cell: its dictionary is of no use any more */
} finder;

static double dot(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++) {
        sum += a[k] * b[k];
    }
    return sum;
}

/* Moves `d` to the rate that is farthest along `direction`; false: there is none, or the cell cannot be worked out. */
static bool go(finder *f, perp_cell_dictionary *d, const double *direction, bool stay)
{
    const instant_cells *c = f->cells;
    const int columns = c->table.columns;
    memset(c->weights, 0, (size_t)columns * sizeof *c->weights);
    for (int k = 0; k < f->n; k++) {
        const double *row = c->table.a + (ptrdiff_t)(c->first_rate + k) * columns;
        const double weight = ldexp(direction[k], -c->row_exponent[c->first_rate + k]);
        for (int j = 0; j < columns && weight != 0.0; j++) {
            c->weights[j] += weight * row[j];
        }
    }
    const perp_cell_answer answer = perp_cell_largest(d, c->weights, stay);
    if (answer != PERP_CELL_YES) {
        f->result->corners = f->result->corners && answer != PERP_CELL_WITHOUT_END;
        f->result->complete = f->result->complete && answer == PERP_CELL_WITHOUT_END;
        f->trouble = f->trouble || answer == PERP_CELL_TROUBLE;
        return false;
    }
    perp_instant_cells_read(f->cells, d);
    return true;
}

static perp_status take(finder *f, perp_cell_dictionary *d)
{
    if (perp_cell_rebuild(d) != PERP_CELL_YES) {
        f->result->complete = false;
        return PERP_STATUS_OK;
    }
    perp_instant_cells_read(f->cells, d);
    f->corners++;
    return f->found(f->context, &f->cells->point);
}

/* How far the point read last lies from `from` along a direction, where that is more than rounding. */
static double beyond(const finder *f, const double *from, const double *direction)
{
    const double *x = f->cells->at;
    double far = 0.0, size = 1.0;
    for (int k = 0; k < f->n; k++) {
        far += direction[k] * (x[k] - from[k]);
        size = fmax(size, fabs(x[k]));
    }
    return far > FLAT * size ? far : 0.0;
}

/* `v` without its part in the basis; its length. */
static double outside(const finder *f, double *v)
{
    for (int pass = 0; pass < 2; pass++) { /* twice: once leaves rounding of what was taken away */
        for (int i = 0; i < f->dimensions; i++) {
            const double *b = f->basis + (ptrdiff_t)i * f->n, part = dot(f->n, v, b);
            for (int k = 0; k < f->n; k++) {
                v[k] -= part * b[k];
            }
        }
    }
    return sqrt(dot(f->n, v, v));
}

/* A rate outside of the basis: one dimension more, and true; f->dimensions is beyond what is worked out in the end. */
static bool widen(finder *f, perp_cell_dictionary *d)
{
    static const double LEAST = 1e-3; /* of a unit vector: what of it is outside of the basis */
    for (int k = 0; k < 2 * f->n && !f->trouble; k++) {
        memset(f->along, 0, (size_t)f->n * sizeof *f->along);
        f->along[k / 2] = k % 2 == 0 ? 1.0 : -1.0;
        const double length = outside(f, f->along);
        for (int j = 0; j < f->n; j++) {
            f->along[j] /= length;
        }
        if (length < LEAST || !go(f, d, f->along, false) || !(beyond(f, f->origin, f->along) > 0.0)) {
            continue;
        }
        if (f->dimensions < DIMENSIONS_MOST) {
            double *b = f->basis + (ptrdiff_t)f->dimensions * f->n;
            for (int j = 0; j < f->n; j++) {
                b[j] = f->cells->at[j] - f->origin[j];
            }
            const double size = outside(f, b);
            for (int j = 0; j < f->n; j++) {
                b[j] /= size;
            }
        }
        f->dimensions++;
        return true;
    }
    return false;
}

/* A vector of n that stays. */
static double *keep_point(finder *f)
{
    double *x = perp_arena_push(&f->cells->arena, (size_t)f->n, sizeof *x);
    if (x) {
        memcpy(x, f->cells->at, (size_t)f->n * sizeof *x);
    }
    return x;
}

/* The corners to the right of the way from `p` to `q`, which are two. */
static perp_status expand(finder *f, const perp_cell_dictionary *d, const double *p, const double *q)
{
    const double *b0 = f->basis, *b1 = f->basis + f->n;
    perp_cell_dictionary *face = &f->cells->spare[0];
    double *way = perp_arena_push(&f->cells->arena, (size_t)f->n, sizeof *way);
    if (!way || f->corners >= CORNERS_MOST || !f->result->corners) {
        f->result->corners = false;
        return way ? PERP_STATUS_OK : PERP_STATUS_OUT_OF_MEMORY;
    }
    for (int k = 0; k < f->n; k++) {
        way[k] = q[k] - p[k];
    }
    const double x = dot(f->n, way, b0), y = dot(f->n, way, b1), length = hypot(x, y);
    for (int k = 0; k < f->n; k++) {
        f->along[k] = (y * b0[k] - x * b1[k]) / length;
    }
    perp_cell_dictionary_copy(face, d);
    if (!go(f, face, f->along, true) || !(beyond(f, p, f->along) > 0.0) || !go(f, face, way, true)) {
        return PERP_STATUS_OK;
    }
    perp_status status = take(f, face);
    const double *r = keep_point(f);
    status = status == PERP_STATUS_OK && !r ? PERP_STATUS_OUT_OF_MEMORY : status;
    status = status == PERP_STATUS_OK ? expand(f, d, p, r) : status;
    return status == PERP_STATUS_OK ? expand(f, d, r, q) : status;
}

/* The ends of a segment, or all corners of a polygon. */
static perp_status take_ends(finder *f, const perp_cell_dictionary *d)
{
    const double *end[2] = {NULL, NULL};
    for (int side = 0; side < 2; side++) {
        perp_cell_dictionary *face = &f->cells->spare[0];
        perp_cell_dictionary_copy(face, d);
        for (int i = 0; i < f->dimensions; i++) {
            for (int k = 0; k < f->n; k++) {
                f->along[k] = (side == 0 ? 1.0 : -1.0) * f->basis[(ptrdiff_t)i * f->n + k];
            }
            if (!go(f, face, f->along, true)) {
                return PERP_STATUS_OK;
            }
        }
        const perp_status status = take(f, face);
        end[side] = keep_point(f);
        if (status != PERP_STATUS_OK || !end[side]) {
            return status != PERP_STATUS_OK ? status : PERP_STATUS_OUT_OF_MEMORY;
        }
    }
    if (f->dimensions == 1) {
        return PERP_STATUS_OK;
    }
    const perp_status status = expand(f, d, end[0], end[1]);
    return status == PERP_STATUS_OK ? expand(f, d, end[1], end[0]) : status;
}

static perp_status take_cell(void *context, perp_cell_dictionary *d, const int *modes)
{
    finder *f = context;
    (void)modes;
    f->dimensions = f->corners = 0;
    f->trouble = false;
    perp_instant_cells_read(f->cells, d);
    memcpy(f->origin, f->cells->at, (size_t)f->n * sizeof *f->origin);
    while (f->dimensions <= DIMENSIONS_MOST && widen(f, d)) {
    }
    if (f->dimensions > DIMENSIONS_MOST) {
        f->result->corners = false;
    }
    if (!f->result->corners || f->trouble) {
        return PERP_STATUS_OK; /* the rest does not mend the list */
    }
    return f->dimensions == 0 ? take(f, d) : take_ends(f, d);
}

perp_status perp_instant_cells_all(instant_cells *c, instant_cells_found *found, void *context,
                                   instant_cells_result *result, perp_error *error)
{
    const int n = c->system->p->n;
    *result = (instant_cells_result){.complete = !c->doubtful, .corners = true};
    if (c->none) {
        return PERP_STATUS_OK;
    }
    finder f = {.cells = c, .found = found, .context = context, .result = result, .n = n};
    f.origin = perp_arena_push(&c->arena, (size_t)n, sizeof(double));
    f.basis = perp_arena_push(&c->arena, (size_t)n * DIMENSIONS_MOST, sizeof(double));
    f.along = perp_arena_push(&c->arena, (size_t)n, sizeof(double));
    perp_cell_search search = {.problem = &c->problem,
                               .max_work = c->max_work,
                               .cancel = c->cancel,
                               .arena = &c->arena,
                               .found = take_cell,
                               .context = &f};
    const bool room = f.origin && f.basis && f.along;
    const perp_status status = room ? perp_cell_search_run(&search) : PERP_STATUS_OUT_OF_MEMORY;
    result->complete = result->complete && search.complete && !c->spare[0].doubtful;
    result->nodes = search.nodes;
    result->work = search.work;
    switch (status) {
    case PERP_STATUS_OUT_OF_MEMORY:
        return perp_fail(error, status, "out of memory for the modes of %d contacts", c->problem.choice_count);
    case PERP_STATUS_CANCELLED:
        return perp_fail(error, status, "the search for all solutions was cancelled");
    default:
        return status;
    }
}

/* ---- forces of given rates ----------------------------------------------------------------------------------------
 */

/* The least (sign -1) or largest fn of contact i; false: not found. */
static bool find_end(instant_cells *c, const perp_cell_dictionary *d, int i, double sign, double *fn)
{
    perp_cell_dictionary *w = &c->spare[1];
    double size;
    memset(c->row, 0, ((size_t)c->unknowns + 1) * sizeof *c->row);
    c->row[c->force_at[i]] = sign;
    perp_instant_cells_reduce(c, c->row, c->weights, &size);
    for (int j = 0; j < c->table.columns; j++) {
        c->weights[j] = ldexp(c->weights[j], c->column_exponent[j]);
    }
    perp_cell_dictionary_copy(w, d);
    if (perp_cell_largest(w, c->weights, false) != PERP_CELL_YES || perp_cell_rebuild(w) != PERP_CELL_YES) {
        return false;
    }
    perp_instant_cells_read(c, w);
    *fn = c->point.force[c->system->p->row_start[i]];
    return true;
}

void perp_instant_cells_ranges(instant_cells *c, const double *x, double *low, double *high)
{
    const instant_cells_system *s = c->system;
    perp_cell_dictionary *d = &c->spare[0];
    double *b = c->table.b + c->first_rate;
    const int *exponent = c->row_exponent + c->first_rate;
    for (int k = 0; k < s->p->n; k++) {
        b[k] = c->rate_constant[k] - ldexp(x[k] / (s->rate * (s->unit ? s->unit[k] : 1.0)), exponent[k]);
    }
    perp_cell_answer answer = perp_cell_begin(&c->problem, d);
    for (int k = 0; k < s->p->n && answer == PERP_CELL_YES; k++) {
        answer = perp_cell_ask(d, c->first_rate + k, PERP_CELL_EQUAL);
    }
    answer = answer == PERP_CELL_YES ? perp_cell_settle(&c->problem, d) : answer;
    for (int i = 0; i < s->p->contact_count; i++) {
        if (c->force_at[i] >= 0) {
            double end;
            low[i] = answer == PERP_CELL_YES && find_end(c, d, i, -1.0, &end) ? end : 0.0;
            high[i] = answer == PERP_CELL_YES && find_end(c, d, i, 1.0, &end) ? end : INFINITY;
        }
    }
    memcpy(b, c->rate_constant, (size_t)s->p->n * sizeof *b);
}
