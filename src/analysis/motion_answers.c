#include "analysis/motion_answers.h"

#include "analysis/elimination.h"
#include "analysis/tolerances.h"
#include "linalg/vector.h"

#include <string.h>

enum { ROUND_CORNERS = 32 }; /* of the polygon around a round cone */

/* ---- the system of cells ----------------------------------------------------------------------------------------- */

typedef struct search_memory {
    contact_step one;
    instant_cells_system system;
    rigid_polygon wide;
    instant_cells cells;
} search_memory;

static instant_kind kind_of(const motion_contact *c)
{
    return c->mu == 0.0 || c->rows == 1 ? INSTANT_SMOOTH : c->rows == 2 ? INSTANT_ROLL_LINE : INSTANT_ROLL_POLYGON;
}

static bool has_round_contacts(const motion_problem *p)
{
    bool any = false;
    for (int i = 0; i < p->contact_count && p->wide.count == 0; i++) {
        any = any || kind_of(&p->contacts[i]) == INSTANT_ROLL_POLYGON;
    }
    return any;
}

/* The polygon of the law, or one that holds the disc. */
static bool fill_polygon(const motion_problem *p, perp_arena *arena, rigid_polygon *wide)
{
    const double turn = 6.283185307179586476925 / ROUND_CORNERS, out = 1.0 / cos(0.5 * turn);
    wide->count = p->wide.count > 0 ? p->wide.count : ROUND_CORNERS;
    wide->corner = perp_arena_push(arena, (size_t)wide->count, sizeof *wide->corner);
    wide->facet = perp_arena_push(arena, (size_t)wide->count, sizeof *wide->facet);
    for (int j = 0; wide->corner && wide->facet && j < wide->count; j++) {
        const double corner[2] = {out * cos(turn * j), out * sin(turn * j)};
        const double facet[2] = {cos(turn * (j + 0.5)), sin(turn * (j + 0.5))};
        memcpy(wide->corner[j], p->wide.count > 0 ? p->wide.corner[j] : corner, sizeof corner);
        memcpy(wide->facet[j], p->wide.count > 0 ? p->wide.facet[j] : facet, sizeof facet);
    }
    return wide->corner && wide->facet;
}

/* Velocities in units in which A is about 1 at most. */
static double rate_of(const motion_problem *p)
{
    double largest = 1.0;
    for (int k = 0; k < p->n; k++) {
        largest = fmax(largest, fabs(p->A[(ptrdiff_t)k * (p->n + 1)]));
    }
    return p->L / p->h / largest;
}

/* `*possible`: the modes of contacts say all, and there are not too many. */
static perp_status fill_system(const motion_problem *p, const motion_searcher *by, search_memory *m, bool *possible,
                               perp_error *error)
{
    *possible = false;
    if (p->law != MOTION_COULOMB || p->n == 0) {
        return PERP_STATUS_OK;
    }
    instant_kind *kind = PERP_ARENA_NEW(by->arena, instant_kind, (size_t)p->contact_count);
    double *unit = PERP_ARENA_NEW(by->arena, double, (size_t)p->n);
    if (!kind || !unit || !fill_polygon(p, by->arena, &m->wide)) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
    }
    for (int i = 0; i < p->contact_count; i++) {
        kind[i] = kind_of(&p->contacts[i]);
    }
    for (int k = 0; k < p->n; k++) {
        unit[k] = p->unit[k] / p->L;
    }
    m->one = perp_step_island(by->step, by->island);
    m->system = (instant_cells_system){.p = &m->one.system,
                                       .wide = &m->wide,
                                       .mu = m->one.mu,
                                       .kind = kind,
                                       .unit = unit,
                                       .rate = rate_of(p),
                                       .force = p->F};
    *possible = !perp_springs_are_limited(&m->one) && perp_instant_cells_can_be_searched(&m->system);
    return PERP_STATUS_OK;
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

static bool hold_point(const motion_problem *p, perp_arena *arena, motion_point *point)
{
    *point = (motion_point){.x = PERP_ARENA_NEW(arena, double, (size_t)p->n),
                            .r = PERP_ARENA_NEW(arena, double, (size_t)p->row_count),
                            .y = PERP_ARENA_NEW(arena, double, (size_t)p->equation_count),
                            .y_lower = PERP_ARENA_NEW(arena, double, (size_t)p->n),
                            .y_upper = PERP_ARENA_NEW(arena, double, (size_t)p->n)};
    return point->x && point->r && point->y && point->y_lower && point->y_upper;
}

static void read_point(const motion_problem *p, const instant_cells_point *from, motion_point *to)
{
    for (int k = 0; k < p->n; k++) {
        const double force = p->unit[k] / (p->F * p->L);
        to->x[k] = from->x[k] * p->h / p->unit[k];
        to->y_lower[k] = from->lower[k] * force;
        to->y_upper[k] = from->upper[k] * force;
    }
    for (int i = 0; i < p->row_count; i++) {
        to->r[i] = from->force[i] / p->F;
    }
    for (int i = 0; i < p->equation_count; i++) {
        to->y[i] = from->y[i] / p->loop_unit[i];
    }
}

/* Corner i of a set, or, behind these, one of them moved along a ray, in the units of the search. */
static void put_corner(const perp_polyhedron *hull, int i, double *x)
{
    const int n = hull->n, ray = i - hull->vertex_count;
    memcpy(x, hull->vertices + (ptrdiff_t)(ray < 0 ? i : 0) * n, (size_t)n * sizeof *x);
    for (int k = 0; k < n && ray >= 0; k++) {
        x[k] += hull->rays[(ptrdiff_t)ray * n + k];
    }
}

static double distance(const motion_problem *p, const double *x, double scale)
{
    double most = 0.0;
    for (int k = 0; k < p->n; k++) {
        most = fmax(most, fabs(scale * x[k] - p->answer.x[k]));
    }
    return most;
}

/* The corner that is farthest from the answer, with forces, into the cells' point. False: none were found. */
static bool find_far_corner(const motion_problem *p, search_memory *m, const perp_polyhedron *hull, double *x)
{
    const double scale = m->system.rate * p->h / p->L;
    double farthest = -1.0;
    int best = 0;
    for (int i = 0; i < hull->vertex_count + hull->ray_count; i++) {
        put_corner(hull, i, x);
        const double far = distance(p, x, scale);
        best = far > farthest ? i : best;
        farthest = fmax(farthest, far);
    }
    put_corner(hull, best, x);
    for (int k = 0; k < p->n; k++) {
        x[k] *= m->system.rate * m->system.unit[k];
    }
    return perp_instant_cells_at(&m->cells, x);
}

/* ---- all answers ------------------------------------------------------------------------------------------------- */

/* Those that meet the law by a measure that is not the search's. */
static perp_status take_sets(const motion_problem *p, const motion_searcher *by, search_memory *m,
                             const instant_sets *sets, motion_answers *a, perp_error *error)
{
    double *x = PERP_ARENA_NEW(by->arena, double, (size_t)p->n);
    double *u = PERP_ARENA_NEW(by->arena, double, (size_t)p->row_count);
    a->points = PERP_ARENA_NEW(by->arena, motion_point, (size_t)sets->count);
    bool held = x && u && a->points;
    for (int i = 0; i < sets->count && held; i++) {
        const instant_set *set = &sets->sets[i];
        const bool single = set->hull.dimensions == 0;
        motion_point *point = &a->points[a->count];
        held = hold_point(p, by->arena, point);
        if (!held || (!single && !find_far_corner(p, m, &set->hull, x))) {
            a->search = SEARCH_CUT;
            continue;
        }
        read_point(p, single ? &set->point : &m->cells.point, point);
        const bool meets = perp_motion_residual(p, point, u) <= SECOND_ANSWER;
        a->search = meets ? a->search : SEARCH_CUT;
        a->continuum = a->continuum || !single;
        a->count += meets ? 1 : 0;
    }
    return held ? PERP_STATUS_OK : perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
}

perp_status perp_motion_answers(const motion_problem *p, const motion_searcher *by, motion_answers *answers,
                                perp_error *error)
{
    search_memory m;
    instant_sets sets;
    instant_cells_result result;
    *answers = (motion_answers){.looked = true, .search = SEARCH_NOT_TRIED};
    bool possible;
    if (perp_motion_is_convex(p) || has_round_contacts(p)) {
        return PERP_STATUS_OK;
    }
    perp_status status = fill_system(p, by, &m, &possible, error);
    if (status != PERP_STATUS_OK || !possible) {
        return status;
    }
    status = perp_instant_cells_open(&m.cells, &m.system, &by->arena->allocator, error);
    m.cells.max_work = (int64_t)by->work;
    m.cells.cancel = by->cancel;
    status = status == PERP_STATUS_OK ? perp_instant_sets_find(&m.cells, &sets, &result, error) : status;
    if (status == PERP_STATUS_OK) {
        answers->search = result.complete && result.described ? SEARCH_COMPLETE : SEARCH_CUT;
        status = take_sets(p, by, &m, &sets, answers, error);
    }
    perp_instant_cells_close(&m.cells);
    return status;
}

perp_status perp_motion_at(const motion_problem *p, const motion_searcher *by, const double *x, motion_point *point,
                           bool *found, perp_error *error)
{
    search_memory m;
    bool possible = false;
    double *rates = PERP_ARENA_NEW(by->arena, double, (size_t)p->n);
    *found = false;
    if (!rates || !hold_point(p, by->arena, point)) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
    }
    perp_status status = has_round_contacts(p) ? PERP_STATUS_OK : fill_system(p, by, &m, &possible, error);
    if (status != PERP_STATUS_OK || !possible) {
        return status;
    }
    for (int k = 0; k < p->n; k++) {
        rates[k] = x[k] * p->unit[k] / p->h;
    }
    status = perp_instant_cells_open(&m.cells, &m.system, &by->arena->allocator, error);
    *found = status == PERP_STATUS_OK && perp_instant_cells_at(&m.cells, rates);
    if (*found) {
        read_point(p, &m.cells.point, point);
    }
    perp_instant_cells_close(&m.cells);
    return status;
}

/* ---- what all answers have in common ----------------------------------------------------------------------------- */

/* Whether an unknown is other than 0 in some solution of homogeneous equations. */
static bool can_change(const elimination *e, int unknown)
{
    int row = 0;
    bool changes = false;
    while (row < e->rank && e->pivot[row] != unknown) {
        row++;
    }
    for (int z = 0; z < e->free_count && row < e->rank; z++) {
        changes = changes || fabs(e->a[(ptrdiff_t)row * e->n + e->free_column[z]]) > MIGHT_BE_NONE;
    }
    return changes || row == e->rank; /* it is free itself */
}

/* Contacts that stick inside of their cones: forces of theirs that balance each other may be added to those of the
 * answer, a little of them, and it stays one. False, or out of memory: no such forces change a normal force. */
static bool others_balance(const motion_problem *p, perp_arena *arena)
{
    int *unknown = PERP_ARENA_NEW(arena, int, (size_t)p->row_count);
    int count = 0;
    elimination e;
    for (int i = 0; unknown && i < p->contact_count; i++) {
        const motion_contact *c = &p->contacts[i];
        const double *r = p->answer.r + c->row;
        const double friction = c->rows > 2 ? hypot(r[1], r[2]) : c->rows > 1 ? fabs(r[1]) : 0.0;
        const bool inside = c->rows > 1 && p->wide.count == 0 && c->mu * r[0] - friction > MIGHT_BE_NONE;
        for (int k = 0; k < c->rows && inside; k++) {
            unknown[count++] = c->row + k;
        }
    }
    double *balance = PERP_ARENA_NEW(arena, double, (size_t)p->n *(size_t)count);
    for (int k = 0; balance && unknown && k < p->n; k++) {
        for (int j = 0; j < count; j++) {
            balance[(ptrdiff_t)k * count + j] = p->J[(ptrdiff_t)unknown[j] * p->n + k];
        }
    }
    if (!balance || !unknown || count == 0 || !perp_eliminate(balance, p->n, count, arena, &e)) {
        return false;
    }
    for (int i = 0, j = 0; j < count; j++) {
        while (p->contacts[i].row + p->contacts[i].rows <= unknown[j]) {
            i++;
        }
        if (unknown[j] == p->contacts[i].row && can_change(&e, j)) {
            return true;
        }
    }
    return false;
}

perp_status perp_motion_normals_are_known(const motion_problem *p, const motion_searcher *by, double room, bool *known,
                                          perp_error *error)
{
    search_memory m;
    bool possible;
    *known = false;
    if (others_balance(p, by->arena)) {
        return PERP_STATUS_OK;
    }
    perp_status status = fill_system(p, by, &m, &possible, error);
    if (status != PERP_STATUS_OK || !possible) {
        return status;
    }
    status = perp_instant_cells_open(&m.cells, &m.system, &by->arena->allocator, error);
    *known = status == PERP_STATUS_OK;
    for (int i = 0; i < p->contact_count && *known; i++) {
        double low, high;
        const double fn = p->answer.r[p->contacts[i].row];
        *known = perp_instant_cells_bounds(&m.cells, i, &low, &high) && fabs(low / p->F - fn) <= room &&
                 fabs(high / p->F - fn) <= room;
    }
    perp_instant_cells_close(&m.cells);
    return status;
}
