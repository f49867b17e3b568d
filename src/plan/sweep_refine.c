#include "base/sort.h"
#include "plan/sweep_refine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static perp_status no_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while refining");
}

static int steps(const perp_sweep *s)
{
    return 1 << s->refine.levels;
}

static const sweep_axis *plane_axis(const perp_sweep *s, int k)
{
    return &s->axes[s->axis_count - 2 + k];
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static uint64_t place_of(const sweep_refine *r, int plane, int i, int j)
{
    return ((uint64_t)plane * (uint64_t)r->width + (uint64_t)i) * (uint64_t)r->height + (uint64_t)j;
}

/* The value of an axis at a coordinate of the lattice. */
static double value_at(const perp_sweep *s, int k, int at)
{
    const double *values = plane_axis(s, k)->numbers;
    const int cell = at / steps(s), within = at % steps(s);
    return within == 0 ? values[cell] : values[cell] + (values[cell + 1] - values[cell]) * within / steps(s);
}

static sweep_spot spot_at(const sweep_refine *r, uint64_t place)
{
    const perp_sweep *s = r->sweep;
    const int j = (int)(place % (uint64_t)r->height), i = (int)(place / (uint64_t)r->height % (uint64_t)r->width);
    const int plane = (int)(place / (uint64_t)r->height / (uint64_t)r->width);
    return (sweep_spot){.grid = plane * plane_axis(s, 0)->count * plane_axis(s, 1)->count,
                        .beside = true,
                        .at = {value_at(s, 0, i), value_at(s, 1, j)}};
}

static int by_place(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b; /* `place` stands first */
    return x < y ? -1 : x > y;
}

/* The number of the case there, -1: it is not computed. */
static int find(const sweep_refine *r, int plane, int i, int j)
{
    const refine_point wanted = {place_of(r, plane, i, j), 0};
    const refine_point *found = bsearch(&wanted, r->points, (size_t)r->point_count, sizeof wanted, by_place);
    return found ? found->number : -1;
}

static bool differ(const sweep_refine *r, int a, int b)
{
    const int count = r->sweep->refine.output_count;
    return memcmp(&r->kinds[a * count], &r->kinds[b * count], (size_t)count * sizeof *r->kinds) != 0;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

/* Does a side differ anywhere from the case `number`? Neighbours may know more of it than its ends. */
static bool side_changes(const sweep_refine *r, const refine_cell *c, int i, int j, int di, int dj, int number)
{
    bool known = true;
    if (differ(r, number, find(r, c->plane, i, j)) ||
        differ(r, number, find(r, c->plane, i + di * c->size, j + dj * c->size))) {
        return true;
    }
    for (int half = c->size / 2; half >= 1 && known; half /= 2) {
        known = false;
        for (int at = half; at < c->size; at += 2 * half) {
            const int other = find(r, c->plane, i + di * at, j + dj * at);
            known = known || other >= 0;
            if (other >= 0 && differ(r, number, other)) {
                return true;
            }
        }
    }
    return false;
}

static bool cell_changes(const sweep_refine *r, const refine_cell *c)
{
    const int n = c->size, corner = find(r, c->plane, c->i, c->j);
    return side_changes(r, c, c->i, c->j, 1, 0, corner) || side_changes(r, c, c->i, c->j, 0, 1, corner) ||
           side_changes(r, c, c->i, c->j + n, 1, 0, corner) || side_changes(r, c, c->i + n, c->j, 0, 1, corner);
}

static bool add_cell(sweep_refine *r, refine_cell cell)
{
    refine_cell *grown = perp_arena_grow(r->arena, r->cells, r->cell_count, &r->cell_capacity, sizeof *grown);
    if (grown) {
        r->cells = grown;
        grown[r->cell_count++] = cell;
    }
    return grown != NULL;
}

/* Four instead of one, the first of them in its place. */
static bool halve(sweep_refine *r, int index)
{
    refine_cell c = r->cells[index];
    c.size /= 2;
    c.changes = false;
    r->cells[index] = c;
    return add_cell(r, (refine_cell){c.plane, c.i + c.size, c.j, c.size, false}) &&
           add_cell(r, (refine_cell){c.plane, c.i, c.j + c.size, c.size, false}) &&
           add_cell(r, (refine_cell){c.plane, c.i + c.size, c.j + c.size, c.size, false});
}

/* ---- what is known ----------------------------------------------------------------------------------------------- */

/* The kinds of all rows that are finished since the last time. */
static perp_status read_kinds(sweep_refine *r, const sweep_part *part, perp_error *error)
{
    const int count = r->sweep->refine.output_count;
    byte_row row = {.allocator = &r->sweep->allocator};
    perp_status status = PERP_STATUS_OK;
    if (part->count > r->kind_capacity) {
        r->kind_capacity = 2 * part->count;
        uint64_t *kinds = PERP_ARENA_NEW(r->arena, uint64_t, (size_t)r->kind_capacity * (size_t)count);
        if (!kinds) {
            return no_memory(error);
        }
        if (r->kind_count > 0) {
            memcpy(kinds, r->kinds, (size_t)r->kind_count * (size_t)count * sizeof *kinds);
        }
        r->kinds = kinds;
    }
    for (; r->kind_count < part->count && status == PERP_STATUS_OK; r->kind_count++) {
        perp_bytes_clear(&row);
        status = perp_sweep_part_read(part, r->kind_count, &row, error);
        for (int k = 0; k < count && status == PERP_STATUS_OK; k++) {
            r->kinds[r->kind_count * count + k] = perp_sweep_row_kind(r->sweep, &row, r->sweep->refine.outputs[k]);
        }
    }
    perp_bytes_free(&row);
    return status;
}

perp_status perp_sweep_refine_begin(const perp_sweep *s, perp_arena *arena, sweep_refine *r, perp_error *error)
{
    const int nx = plane_axis(s, 0)->count, ny = plane_axis(s, 1)->count, n = steps(s);
    *r = (sweep_refine){.sweep = s, .arena = arena, .width = (nx - 1) * n + 1, .height = (ny - 1) * n + 1};
    r->point_capacity = r->point_count = s->cases;
    r->points = PERP_ARENA_NEW(arena, refine_point, (size_t)s->cases);
    r->marks = perp_arena_push(arena, (size_t)s->refine.levels + 1, sizeof *r->marks);
    bool good = r->points && r->marks;
    for (int level = 0; level <= s->refine.levels && good; level++) {
        snprintf(r->marks[level], sizeof *r->marks, "%d", level);
    }
    for (int k = 0; k < s->cases && good; k++) {
        const int j = k % ny, i = k / ny % nx, plane = k / ny / nx;
        r->points[k] = (refine_point){place_of(r, plane, i * n, j * n), k};
        good = i + 1 == nx || j + 1 == ny || add_cell(r, (refine_cell){plane, i * n, j * n, n, false});
    }
    return good ? PERP_STATUS_OK : no_memory(error);
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

typedef struct wanted_points {
    int count, capacity;
    refine_point *points; /* `number` is the level */
} wanted_points;

static bool want(sweep_refine *r, wanted_points *w, int plane, int i, int j, int level)
{
    if (find(r, plane, i, j) >= 0) {
        return true;
    }
    refine_point *grown = perp_arena_grow(r->arena, w->points, w->count, &w->capacity, sizeof *grown);
    if (grown) {
        w->points = grown;
        grown[w->count++] = (refine_point){place_of(r, plane, i, j), level};
    }
    return grown != NULL;
}

/* Halves the cells that show a change, and lists what is to be computed of them, each place once. */
static perp_status halve_cells(sweep_refine *r, wanted_points *w, perp_error *error)
{
    const int before = r->cell_count;
    for (int k = 0; k < before; k++) {
        const refine_cell c = r->cells[k];
        const int n = c.size, half = n / 2;
        if (!cell_changes(r, &c)) {
            continue;
        }
        r->cells[k].changes = true;
        if (n == 1) {
            continue;
        }
        int level = 0;
        for (int size = half; size < steps(r->sweep); size *= 2) {
            level++;
        }
        for (int corner = 1; corner < 9; corner += 2) { /* the middles of the sides of 3 x 3 */
            if (!want(r, w, c.plane, c.i + corner / 3 * half, c.j + corner % 3 * half, level)) {
                return no_memory(error);
            }
        }
        if (!want(r, w, c.plane, c.i + half, c.j + half, level) || !halve(r, k)) {
            return no_memory(error);
        }
    }
    perp_sort(w->points, w->count, sizeof *w->points, by_place);
    int kept = 0;
    for (int k = 0; k < w->count; k++) {
        if (k == 0 || w->points[k].place != w->points[k - 1].place) {
            w->points[kept++] = w->points[k];
        }
    }
    w->count = kept;
    return PERP_STATUS_OK;
}

/* Tasks of these points, which are known from now on. */
static perp_status list_points(sweep_refine *r, const wanted_points *w, sweep_part *part, sweep_tasks *next,
                               perp_error *error)
{
    const int first = part->count, all = r->point_count + w->count;
    perp_status status = perp_sweep_part_expect(part, w->count, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    next->tasks = PERP_ARENA_NEW(r->arena, sweep_task, (size_t)w->count);
    refine_point *points = PERP_ARENA_NEW(r->arena, refine_point, (size_t)all);
    if (!next->tasks || !points) {
        return no_memory(error);
    }
    memcpy(points, r->points, (size_t)r->point_count * sizeof *points);
    for (int k = 0; k < w->count; k++) {
        next->tasks[k] = (sweep_task){.spot = spot_at(r, w->points[k].place), .output = -1};
        next->tasks[k].spot.number = first + k;
        next->tasks[k].spot.mark = r->marks[w->points[k].number];
        points[r->point_count + k] = (refine_point){w->points[k].place, first + k};
    }
    perp_sort(points, all, sizeof *points, by_place);
    r->points = points;
    r->point_count = all;
    next->count = w->count;
    next->rows = 1;
    return PERP_STATUS_OK;
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

typedef struct refine_edge {
    uint64_t place;
    int along, output; /* of the first axis 0, of the second 1; index of a refined output */
} refine_edge;

static int by_edge(const void *a, const void *b)
{
    const refine_edge *x = a, *y = b;
    return x->place != y->place   ? (x->place < y->place ? -1 : 1)
           : x->along != y->along ? x->along - y->along
                                  : x->output - y->output;
}

typedef struct refine_edges {
    int count, capacity;
    refine_edge *edges;
} refine_edges;

static bool add_edge(sweep_refine *r, refine_edges *e, const refine_cell *c, int i, int j, int along)
{
    const int count = r->sweep->refine.output_count;
    const int a = find(r, c->plane, i, j), b = find(r, c->plane, i + !along, j + along);
    for (int k = 0; k < count; k++) {
        if (r->kinds[a * count + k] == r->kinds[b * count + k]) {
            continue;
        }
        refine_edge *grown = perp_arena_grow(r->arena, e->edges, e->count, &e->capacity, sizeof *grown);
        if (!grown) {
            return false;
        }
        e->edges = grown;
        grown[e->count++] = (refine_edge){place_of(r, c->plane, i, j), along, k};
    }
    return true;
}

/* All edges of finest cells on which an output changes, each once. */
static perp_status find_edges(sweep_refine *r, refine_edges *e, perp_error *error)
{
    for (int k = 0; k < r->cell_count; k++) {
        const refine_cell *c = &r->cells[k];
        if (c->size == 1 && c->changes &&
            !(add_edge(r, e, c, c->i, c->j, 0) && add_edge(r, e, c, c->i, c->j, 1) &&
              add_edge(r, e, c, c->i, c->j + 1, 0) && add_edge(r, e, c, c->i + 1, c->j, 1))) {
            return no_memory(error);
        }
    }
    perp_sort(e->edges, e->count, sizeof *e->edges, by_edge);
    int kept = 0;
    for (int k = 0; k < e->count; k++) {
        if (k == 0 || by_edge(&e->edges[k], &e->edges[k - 1]) != 0) {
            e->edges[kept++] = e->edges[k];
        }
    }
    e->count = kept;
    return PERP_STATUS_OK;
}

static perp_status list_edges(sweep_refine *r, sweep_part *part, sweep_tasks *next, perp_error *error)
{
    refine_edges e = {0};
    const int first = part->count;
    const perp_sweep *s = r->sweep;
    perp_status status = find_edges(r, &e, error);
    status = status == PERP_STATUS_OK && e.count > PERP_SWEEP_MOST_CASES / 2
                 ? perp_fail(error, PERP_STATUS_BAD_INPUT, "`refine` asks for too many cases; take fewer levels")
                 : status;
    status = status == PERP_STATUS_OK ? perp_sweep_part_expect(part, 2 * e.count, error) : status;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    next->tasks = PERP_ARENA_NEW(r->arena, sweep_task, (size_t)e.count);
    if (!next->tasks) {
        return no_memory(error);
    }
    for (int k = 0; k < e.count; k++) {
        const refine_edge *edge = &e.edges[k];
        const uint64_t stride = edge->along ? 1 : (uint64_t)r->height;
        sweep_task *task = &next->tasks[k];
        *task = (sweep_task){.spot = spot_at(r, edge->place), .output = s->refine.outputs[edge->output]};
        memcpy(task->to, spot_at(r, edge->place + stride).at, sizeof task->to);
        task->spot.number = first + 2 * k;
        task->spot.mark = s->outputs[task->output].name;
    }
    next->count = e.count;
    next->rows = 2;
    return PERP_STATUS_OK;
}

perp_status perp_sweep_refine_next(sweep_refine *r, sweep_part *part, sweep_tasks *next, perp_error *error)
{
    wanted_points w = {0};
    *next = (sweep_tasks){0};
    if (r->edges) {
        return PERP_STATUS_OK;
    }
    perp_status status = read_kinds(r, part, error);
    status = status == PERP_STATUS_OK ? halve_cells(r, &w, error) : status;
    if (status == PERP_STATUS_OK && w.count > 0) {
        return list_points(r, &w, part, next, error);
    }
    r->edges = true;
    return status == PERP_STATUS_OK ? list_edges(r, part, next, error) : status;
}

/* ---- along an edge ----------------------------------------------------------------------------------------------- */

static double between(double a, double b, double share)
{
    return share == 1.0 ? b : a + (b - a) * share;
}

typedef struct edge_search {
    const perp_sweep *sweep;
    const sweep_task *task;
    const volatile bool *cancel;
} edge_search;

/* The row at a share of the edge. */
static perp_status look(const edge_search *e, double share, int number, byte_row *row, bool *failed, perp_error *error)
{
    sweep_spot spot = e->task->spot;
    spot.number = number;
    for (int k = 0; k < 2; k++) {
        spot.at[k] = between(e->task->spot.at[k], e->task->to[k], share);
    }
    perp_bytes_clear(row);
    return perp_sweep_row(e->sweep, &spot, e->cancel, row, failed, error);
}

perp_status perp_sweep_refine_edge(const perp_sweep *s, const sweep_task *task, const volatile bool *cancel,
                                   byte_row rows[2], bool failed[2], perp_error *error)
{
    const edge_search e = {s, task, cancel};
    double low = 0.0, high = 1.0, length = 0.0;
    for (int k = 0; k < 2; k++) {
        const sweep_axis *axis = plane_axis(s, k);
        length = fmax(length, (task->to[k] - task->spot.at[k]) / (axis->numbers[axis->count - 1] - axis->numbers[0]));
    }
    perp_status status = look(&e, low, task->spot.number, &rows[0], &failed[0], error);
    const uint64_t kind = status == PERP_STATUS_OK ? perp_sweep_row_kind(s, &rows[0], task->output) : 0;
    while (status == PERP_STATUS_OK && (high - low) * length > s->refine.tolerance) {
        const double middle = 0.5 * (low + high);
        if (!(middle > low && middle < high)) {
            break;
        }
        status = look(&e, middle, task->spot.number, &rows[0], &failed[0], error);
        *(perp_sweep_row_kind(s, &rows[0], task->output) == kind ? &low : &high) = middle;
    }
    status = status == PERP_STATUS_OK ? look(&e, low, task->spot.number, &rows[0], &failed[0], error) : status;
    return status == PERP_STATUS_OK ? look(&e, high, task->spot.number + 1, &rows[1], &failed[1], error) : status;
}
