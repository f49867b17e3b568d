#include "analysis/motion_ways.h"

#include "analysis/elimination.h"
#include "analysis/tolerances.h"
#include "linalg/vector.h"
#include "solver/cell_search.h"

#include <string.h>

/* ---- rows -------------------------------------------------------------------------------------------------------- */

double *perp_way_row(way_rows *w, bool equation)
{
    if (w->count == w->capacity) {
        const int capacity = w->capacity > 0 ? 2 * w->capacity : 64;
        double *rows = PERP_ARENA_NEW(w->arena, double, (size_t)capacity *(size_t)w->n);
        bool *equations = PERP_ARENA_NEW(w->arena, bool, (size_t)capacity);
        if (!rows || !equations) {
            w->failed = true;
            return NULL;
        }
        if (w->count > 0) {
            memcpy(rows, w->rows, (size_t)w->count * (size_t)w->n * sizeof *rows);
            memcpy(equations, w->equation, (size_t)w->count * sizeof *equations);
        }
        w->rows = rows;
        w->equation = equations;
        w->capacity = capacity;
    }
    w->equation[w->count] = equation;
    return w->rows + (ptrdiff_t)w->count++ * w->n;
}

/* sum over a contact's rows of weight[r] d_r. */
static void add_row(const motion_problem *p, const motion_contact *c, const double *weight, bool equation, way_rows *w)
{
    double *row = perp_way_row(w, equation);
    for (int r = 0; row && r < c->rows; r++) {
        const double *from = p->J + (ptrdiff_t)(c->row + r) * p->n;
        for (int k = 0; k < p->n && weight[r] != 0.0; k++) {
            row[k] += weight[r] * from[k];
        }
    }
}

static void add_unit(const motion_contact *c, const motion_problem *p, int r, bool equation, way_rows *w)
{
    double weight[3] = {0.0, 0.0, 0.0};
    weight[r] = 1.0;
    add_row(p, c, weight, equation, w);
}

static void add_all(const motion_problem *p, const motion_contact *c, int from, way_rows *w)
{
    for (int r = from; r < c->rows; r++) {
        add_unit(c, p, r, true, w);
    }
}

/* ---- where friction stands in its cone --------------------------------------------------------------------------- */

typedef struct friction_face {
    bool inside;     /* of the cone */
    double along[2]; /* of the disc: ft / |ft| */
    int facets;      /* of a polygon: how many bear ft, from `first` on */
    int first;
} friction_face;

static friction_face face_of(const motion_polygon *d, const double ft[2], double limit, double zero)
{
    friction_face face = {.first = -1};
    const double length = hypot(ft[0], ft[1]), edge = (1.0 - zero) * limit;
    if (!d) {
        face.inside = length < edge;
        face.along[0] = length > 0.0 ? ft[0] / length : 1.0;
        face.along[1] = length > 0.0 ? ft[1] / length : 0.0;
        return face;
    }
    for (int j = 0; j < d->count; j++) {
        const int before = (j + d->count - 1) % d->count;
        const bool here = d->facet[j][0] * ft[0] + d->facet[j][1] * ft[1] >= edge;
        const bool there = d->facet[before][0] * ft[0] + d->facet[before][1] * ft[1] >= edge;
        face.facets += here ? 1 : 0;
        face.first = here && !there ? j : face.first;
    }
    face.inside = face.facets == 0 || face.first < 0;
    return face;
}

/* ---- Coulomb ----------------------------------------------------------------------------------------------------- */

/* -d_t is in the normal cone of D at ft, as far as -u_t is at its border. */
static void add_friction(const motion_problem *p, const motion_contact *c, const double *r, const double *u,
                         double zero, way_rows *w)
{
    const motion_polygon *d = perp_motion_polygon(p, c->rows);
    const double ft[2] = {r[1], c->rows > 2 ? r[2] : 0.0}, ut[2] = {u[1], c->rows > 2 ? u[2] : 0.0};
    const friction_face face = face_of(d, ft, c->mu * r[0], zero);
    if (face.inside) {
        add_all(p, c, 1, w);
        return;
    }
    if (!d || face.facets == 1) { /* along one direction */
        const double *n = d ? d->facet[face.first] : face.along;
        const double across[3] = {0.0, -n[1], n[0]}, back[3] = {0.0, -n[0], -n[1]};
        if (c->rows > 2) {
            add_row(p, c, across, true, w);
        }
        if (back[1] * ut[0] + back[2] * ut[1] <= zero) {
            add_row(p, c, back, false, w);
        }
        return;
    }
    const double *a = d->facet[face.first], *b = d->facet[(face.first + face.facets - 1) % d->count];
    const double from_a[3] = {0.0, a[1], -a[0]}, to_b[3] = {0.0, -b[1], b[0]};
    if (from_a[1] * ut[0] + from_a[2] * ut[1] <= zero) {
        add_row(p, c, from_a, false, w);
    }
    if (to_b[1] * ut[0] + to_b[2] * ut[1] <= zero) {
        add_row(p, c, to_b, false, w);
    }
}

static void add_coulomb(const motion_problem *p, const motion_contact *c, const double *r, const double *u, double zero,
                        way_rows *w)
{
    if (r[0] > zero || u[0] <= zero) {
        add_unit(c, p, 0, r[0] > zero, w);
    }
    if (c->rows > 1 && c->mu * r[0] > zero) {
        add_friction(p, c, r, u, zero, w);
    }
}

/* ---- Anitescu ---------------------------------------------------------------------------------------------------- */

/* u_n + room + mu corner . u_t, which a ray asks to be >= 0. */
static void add_ray(const motion_problem *p, const motion_contact *c, const double *corner, const double *u, bool bears,
                    double zero, way_rows *w)
{
    const double weight[3] = {1.0, c->mu * corner[0], c->mu * corner[1]};
    double slack = u[0] + c->room;
    for (int r = 1; r < c->rows; r++) {
        slack += weight[r] * u[r];
    }
    if (bears || slack <= zero) {
        add_row(p, c, weight, bears, w);
    }
}

/* Is corner j of the face in which ft lies, given its facets? Facet j joins corners j and j + 1, and those of a line
 * are its corners. */
static bool bears(const friction_face *face, int j, int count)
{
    const int last = (face->first + face->facets - 1) % count;
    return face->facets == 1 ? j == face->first || (count > 2 && j == (face->first + 1) % count) : j == last;
}

static void add_round(const motion_problem *p, const motion_contact *c, const double *r, const double *u, double zero,
                      way_rows *w)
{
    enum { TANGENTS = 16 };
    static const double TURN = 6.283185307179586476925;
    const double slip = hypot(u[1], u[2]), along[2] = {r[1], r[2]};
    if (r[0] > zero) {
        const friction_face face = face_of(NULL, along, c->mu * r[0], zero);
        const double across[3] = {0.0, -face.along[1], face.along[0]};
        add_ray(p, c, face.along, u, true, zero, w);
        add_row(p, c, across, true, w);
        if (u[0] + c->room <= zero) {
            add_unit(c, p, 0, false, w);
        }
        return;
    }
    if (slip > zero) {
        const double back[2] = {-u[1] / slip, -u[2] / slip};
        add_ray(p, c, back, u, false, zero, w);
        return;
    }
    for (int k = 0; k < TANGENTS; k++) { /* a polygon that holds the cone */
        const double corner[2] = {cos(TURN * k / TANGENTS), sin(TURN * k / TANGENTS)};
        add_ray(p, c, corner, u, false, zero, w);
    }
}

static void add_convex(const motion_problem *p, const motion_contact *c, const double *r, const double *u, double zero,
                       way_rows *w)
{
    if (c->rows < 2 || c->mu == 0.0) {
        if (r[0] > zero || u[0] + c->room <= zero) {
            add_unit(c, p, 0, r[0] > zero, w);
        }
        return;
    }
    const motion_polygon *d = perp_motion_polygon(p, c->rows);
    const double ft[2] = {r[1], c->rows > 2 ? r[2] : 0.0};
    const friction_face face = face_of(d, ft, c->mu * r[0], zero);
    if (r[0] > zero && face.inside) {
        add_all(p, c, 0, w);
    } else if (!d) {
        add_round(p, c, r, u, zero, w);
    } else {
        for (int j = 0; j < d->count; j++) {
            add_ray(p, c, d->corner[j], u, r[0] > zero && bears(&face, j, d->count), zero, w);
        }
    }
}

/* ---- the law ----------------------------------------------------------------------------------------------------- */

static void add_linear(const motion_problem *p, const double *rows, int count, way_rows *w)
{
    for (int i = 0; i < count; i++) {
        double *row = perp_way_row(w, true);
        if (row) {
            memcpy(row, rows + (ptrdiff_t)i * p->n, (size_t)p->n * sizeof *row);
        }
    }
}

/* `as_printed`: nothing may go through a limit, whether it bears force or not. */
static void add_limits(const motion_problem *p, const motion_point *point, bool as_printed, double zero, way_rows *w)
{
    for (int k = 0; k < p->n; k++) {
        for (int side = 0; side < 2; side++) {
            const double force = side == 0 ? point->y_lower[k] : point->y_upper[k];
            const double room = side == 0 ? point->x[k] - p->lower[k] : p->upper[k] - point->x[k];
            double *row = force > zero || room <= zero ? perp_way_row(w, force > zero && !as_printed) : NULL;
            if (row) {
                row[k] = side == 0 ? 1.0 : -1.0;
            }
        }
    }
}

static double *slips(const motion_problem *p, const motion_point *point, way_rows *w)
{
    double *u = PERP_ARENA_NEW(w->arena, double, (size_t)p->row_count);
    w->failed = w->failed || !u;
    if (u) {
        perp_motion_slip(p, point->x, u);
    }
    return u;
}

void perp_ways_of_law(const motion_problem *p, const motion_point *point, double zero, way_rows *w)
{
    const double *u = slips(p, point, w);
    add_linear(p, p->A, p->n, w);
    add_linear(p, p->C, p->equation_count, w);
    add_limits(p, point, false, zero, w);
    for (int i = 0; u && i < p->contact_count; i++) {
        const motion_contact *c = &p->contacts[i];
        const double *r = point->r + c->row;
        if (p->law == MOTION_COULOMB) {
            add_coulomb(p, c, r, u + c->row, zero, w);
        } else if (p->law == MOTION_CONVEX) {
            add_convex(p, c, r, u + c->row, zero, w);
        } else if (c->mu > 0.0) { /* the barrier is strictly convex in what a contact sees */
            add_all(p, c, 0, w);
        } else {
            add_unit(c, p, 0, true, w);
        }
    }
}

void perp_ways_as_printed(const motion_problem *p, const motion_point *point, double zero, way_rows *w)
{
    const double *u = slips(p, point, w);
    double *work = perp_way_row(w, false);
    for (int k = 0; work && k < p->n; k++) {
        work[k] = -p->g[k];
    }
    add_limits(p, point, true, zero, w);
    for (int i = 0; u && i < p->contact_count; i++) {
        const motion_contact *c = &p->contacts[i];
        if (point->r[c->row] > zero || u[c->row] <= zero) {
            add_unit(c, p, 0, false, w);
        }
        if (point->r[c->row] > zero && c->mu > 0.0) {
            add_all(p, c, 1, w);
        }
    }
}

/* ---- rank -------------------------------------------------------------------------------------------------------- */

static void scale_rows(way_rows *w)
{
    int kept = 0;
    for (int i = 0; i < w->count; i++) {
        double *row = w->rows + (ptrdiff_t)i * w->n;
        const double largest = perp_vector_largest(w->n, row);
        if (largest > ROW_NOTHING) {
            for (int k = 0; k < w->n; k++) {
                w->rows[(ptrdiff_t)kept * w->n + k] = row[k] / largest;
            }
            w->equation[kept++] = w->equation[i];
        }
    }
    w->count = kept;
}

/* Of the equations, or of all rows. False without memory. */
static bool eliminate(const way_rows *w, bool all, elimination *e)
{
    int rows = 0;
    double *a = PERP_ARENA_NEW(w->arena, double, (size_t)w->count *(size_t)w->n);
    for (int i = 0; a && i < w->count; i++) {
        if (all || w->equation[i]) {
            memcpy(a + (ptrdiff_t)rows++ * w->n, w->rows + (ptrdiff_t)i * w->n, (size_t)w->n * sizeof *a);
        }
    }
    return a && perp_eliminate(a, rows, w->n, w->arena, e);
}

/* ---- one way ----------------------------------------------------------------------------------------------------- */

typedef struct way_lp {
    perp_cell_table table; /* inequalities over the free columns, then 1 minus their sum */
    double *size;
    int *row_exponent, *column_exponent;
    unsigned char *always;
    double *weights;
} way_lp;

static bool hold_lp(const way_rows *w, int rows, int columns, way_lp *lp)
{
    perp_arena *arena = w->arena;
    lp->table = (perp_cell_table){.rows = rows + 1, .columns = columns};
    lp->table.a = PERP_ARENA_NEW(arena, double, (size_t)(rows + 1) * (size_t)columns);
    lp->table.b = PERP_ARENA_NEW(arena, double, (size_t)(rows + 1));
    lp->size = PERP_ARENA_NEW(arena, double, (size_t)(rows + 1));
    lp->row_exponent = PERP_ARENA_NEW(arena, int, (size_t)(rows + 1));
    lp->column_exponent = PERP_ARENA_NEW(arena, int, (size_t)columns);
    lp->always = PERP_ARENA_NEW(arena, unsigned char, (size_t)(rows + 1));
    lp->weights = PERP_ARENA_NEW(arena, double, (size_t)columns);
    return lp->table.a && lp->table.b && lp->size && lp->row_exponent && lp->column_exponent && lp->always &&
           lp->weights;
}

/* Inequality i over the free columns; returns its largest entry. */
static double fill_lp_row(const way_rows *w, const elimination *e, int i, double *to)
{
    const double *row = w->rows + (ptrdiff_t)i * w->n;
    double largest = 0.0;
    for (int j = 0; j < e->free_count; j++) {
        to[j] = row[e->free_column[j]];
        for (int r = 0; r < e->rank; r++) {
            to[j] -= row[e->pivot[r]] * e->a[(ptrdiff_t)r * w->n + e->free_column[j]];
        }
        largest = fmax(largest, fabs(to[j]));
    }
    return largest;
}

/* Rows that the equations make zero say nothing. Returns how many are left. */
static int fill_lp(const way_rows *w, const elimination *e, way_lp *lp)
{
    const int columns = e->free_count;
    int rows = 0;
    for (int i = 0; i < w->count; i++) {
        double *row = lp->table.a + (ptrdiff_t)rows * columns;
        const double largest = w->equation[i] ? 0.0 : fill_lp_row(w, e, i, row);
        if (largest <= RANK_ROUNDING) {
            continue;
        }
        for (int j = 0; j < columns; j++) {
            row[j] /= largest;
            lp->weights[j] += row[j];
        }
        lp->always[rows++] = PERP_CELL_AT_LEAST;
    }
    double *last = lp->table.a + (ptrdiff_t)rows * columns;
    for (int j = 0; j < columns; j++) {
        last[j] = -lp->weights[j];
    }
    lp->table.b[rows] = 1.0;
    lp->always[rows] = PERP_CELL_AT_LEAST;
    lp->table.rows = rows + 1;
    for (int i = 0; i <= rows; i++) {
        lp->size[i] = 1.0;
    }
    return rows;
}

/* The polyhedron of all ways whose sum of G d is below 1, in `dictionary`. `*rows`: inequalities that say something; 0:
 * there is none, and no dictionary. UNSURE where rounding is in the way. */
static perp_status open_lp(const way_rows *w, const elimination *e, way_lp *lp, int *rows,
                           perp_cell_dictionary *dictionary, int64_t *work, ways_verdict *verdict, perp_error *error)
{
    bool held = hold_lp(w, w->count, e->free_count, lp);
    *verdict = WAYS_UNSURE;
    *rows = held ? fill_lp(w, e, lp) : 0;
    if (held && *rows > 0) {
        perp_cell_scale(&lp->table, lp->size, lp->row_exponent, lp->column_exponent);
        for (int j = 0; j < e->free_count; j++) {
            lp->weights[j] = ldexp(lp->weights[j], lp->column_exponent[j]);
        }
        held = perp_cell_dictionary_create(dictionary, &lp->table, work, w->arena);
    }
    if (!held) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
    }
    const perp_cell_problem problem = {&lp->table, lp->always, 0, NULL};
    if (*rows > 0 && perp_cell_begin(&problem, dictionary) == PERP_CELL_YES) {
        *verdict = WAYS_NONE;
    }
    return PERP_STATUS_OK;
}

/* The way at the dictionary's point. */
static void read_way(const way_lp *lp, const elimination *e, perp_cell_dictionary *dictionary, double *z, double *way)
{
    perp_cell_point(dictionary, z);
    for (int j = 0; j < e->free_count; j++) {
        z[j] = ldexp(z[j], lp->column_exponent[j]);
    }
    perp_elimination_spread(e, z, way);
}

/* max sum of G d below 1: 0 or 1. */
static perp_status solve_lp(const way_rows *w, const elimination *e, motion_ways *ways, perp_error *error)
{
    way_lp lp = {0};
    perp_cell_dictionary dictionary;
    int64_t work = 0;
    int rows;
    double *z = PERP_ARENA_NEW(w->arena, double, (size_t)e->free_count);
    if (!z) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
    }
    const perp_status status = open_lp(w, e, &lp, &rows, &dictionary, &work, &ways->verdict, error);
    if (status != PERP_STATUS_OK || ways->verdict == WAYS_UNSURE) {
        return status; /* no row: they left a line after all */
    }
    if (perp_cell_largest(&dictionary, lp.weights, false) != PERP_CELL_YES) {
        ways->verdict = WAYS_UNSURE;
        return PERP_STATUS_OK;
    }
    perp_cell_point(&dictionary, z);
    double sum = 0.0;
    for (int j = 0; j < e->free_count; j++) {
        sum += lp.weights[j] * z[j];
    }
    ways->verdict = sum > 0.5 ? WAYS_ONE_WAY : sum < SUM_ROUNDING ? WAYS_NONE : WAYS_UNSURE;
    if (ways->verdict == WAYS_ONE_WAY) {
        read_way(&lp, e, &dictionary, z, ways->direction);
    }
    return PERP_STATUS_OK;
}

perp_status perp_ways_inwards(way_rows *w, double *direction, bool *found, perp_error *error)
{
    elimination e;
    way_lp lp = {0};
    perp_cell_dictionary dictionary;
    ways_verdict verdict;
    int64_t work = 0;
    int rows;
    double *way = PERP_ARENA_NEW(w->arena, double, (size_t)w->n);
    *found = false;
    scale_rows(w);
    double *z = PERP_ARENA_NEW(w->arena, double, (size_t)w->n);
    if (w->failed || !way || !z || !eliminate(w, false, &e)) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
    }
    if (e.free_count == 0) {
        return PERP_STATUS_OK;
    }
    const perp_status status = open_lp(w, &e, &lp, &rows, &dictionary, &work, &verdict, error);
    for (int i = 0; i < rows && status == PERP_STATUS_OK && verdict == WAYS_NONE; i++) {
        const double *row = lp.table.a + (ptrdiff_t)i * e.free_count;
        if (perp_cell_largest(&dictionary, row, false) == PERP_CELL_YES) {
            read_way(&lp, &e, &dictionary, z, way);
            for (int k = 0; k < w->n; k++) {
                direction[k] += way[k] / rows;
                *found = *found || way[k] != 0.0;
            }
        }
    }
    return status;
}

perp_status perp_ways_decide(way_rows *w, motion_ways *ways, perp_error *error)
{
    elimination all, equations;
    *ways = (motion_ways){.direction = PERP_ARENA_NEW(w->arena, double, (size_t)w->n)};
    scale_rows(w);
    if (w->failed || !ways->direction || !eliminate(w, true, &all)) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
    }
    if (all.free_count > 0) {
        double *z = PERP_ARENA_NEW(w->arena, double, (size_t)all.free_count);
        if (!z) {
            return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
        }
        z[0] = 1.0;
        perp_elimination_spread(&all, z, ways->direction);
        ways->verdict = WAYS_BOTH_WAYS;
        return PERP_STATUS_OK;
    }
    ways->margin = all.least_kept;
    if (!eliminate(w, false, &equations)) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
    }
    if (equations.free_count == 0) {
        ways->verdict = WAYS_NONE;
        return PERP_STATUS_OK;
    }
    return solve_lp(w, &equations, ways, error);
}
