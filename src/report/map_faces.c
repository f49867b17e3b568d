/* The cells of a map's grid, cut into faces.
 *
 * A cell of words goes around its points, those of finer neighbours included. Where two that follow each other differ,
 * the change between them stands: where the sweep found it, else in the middle. Two changes are joined by a straight
 * line; more meet in their mean. A cell of numbers is cut at the levels, linearly along its sides; one whose diagonals
 * lie on different sides of a level (a saddle) is cut into four triangles about its middle first. */
#include "report/map.h"

#include <math.h>
#include <stdlib.h>

/* A corner of a face before it is one: of words with its kind, -1: a change; of numbers with its value. */
typedef struct corner {
    double at[2], value;
    int kind;
} corner;

typedef struct ring {
    int count, capacity;
    corner *corners;
} ring;

typedef struct cutter {
    perp_map *map;
    map_layer *layer;
    ring around, face; /* used again by every cell */
    bool out_of_memory;
} cutter;

static void push(cutter *c, ring *r, corner item)
{
    corner *grown = perp_arena_grow(&c->map->arena, r->corners, r->count, &r->capacity, sizeof *grown);
    if (!grown) {
        c->out_of_memory = true;
        return;
    }
    r->corners = grown;
    grown[r->count++] = item;
}

/* The face as edges. */
static void add_face(cutter *c, const ring *r, int kind)
{
    map_faces *f = &c->layer->faces;
    const int first = f->vertex_count;
    for (int i = 0; i < r->count; i++) {
        double(*vertices)[2] =
            perp_arena_grow(&c->map->arena, f->vertices, f->vertex_count, &f->vertex_capacity, sizeof *vertices);
        map_edge *edges =
            vertices ? perp_arena_grow(&c->map->arena, f->edges, f->edge_count, &f->edge_capacity, sizeof *edges)
                     : NULL;
        if (!edges) {
            c->out_of_memory = true;
            return;
        }
        f->vertices = vertices;
        f->edges = edges;
        vertices[f->vertex_count][0] = r->corners[i].at[0];
        vertices[f->vertex_count++][1] = r->corners[i].at[1];
        edges[f->edge_count++] = (map_edge){first + i, first + (i + 1) % r->count, kind};
    }
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static corner corner_at(const cutter *c, int i, int j, const map_point *point)
{
    return (corner){.at = {perp_map_x(c->map, i), perp_map_y(c->map, j)},
                    .kind = point ? point->kind : MAP_MISSING,
                    .value = point ? point->value : NAN};
}

/* The change between two neighbours that differ, from (i, j) to (k, l). */
static corner change_between(const cutter *c, int i, int j, int k, int l)
{
    const int low_i = i < k ? i : k, low_j = j < l ? j : l;
    const map_change *found =
        abs(k - i) + abs(l - j) == 1 ? perp_map_change(c->map, c->layer, low_i, low_j, l != j) : NULL;
    if (found) {
        return (corner){.at = {found->at[0], found->at[1]}, .kind = -1};
    }
    const double x[2] = {perp_map_x(c->map, i), perp_map_x(c->map, k)};
    const double y[2] = {perp_map_y(c->map, j), perp_map_y(c->map, l)};
    return (corner){.at = {0.5 * (x[0] + x[1]), 0.5 * (y[0] + y[1])}, .kind = -1};
}

/* The points that are known from (i, j) on towards (di, dj), but for the last, and the changes between them. */
static void walk_side(cutter *c, int i, int j, int di, int dj, int reach)
{
    const map_point *from = perp_map_find(c->map, c->layer, i, j), *to;
    for (int at = 0, next; at < reach; at = next, from = to) {
        next = at;
        do {
            next++;
            to = perp_map_find(c->map, c->layer, i + di * next, j + dj * next);
        } while (!to && next < reach);
        push(c, &c->around, corner_at(c, i + di * at, j + dj * at, from));
        if ((from ? from->kind : MAP_MISSING) != (to ? to->kind : MAP_MISSING)) {
            push(c, &c->around, change_between(c, i + di * at, j + dj * at, i + di * next, j + dj * next));
        }
    }
}

/* The face of the corners that follow the change at `first`, up to the next change. */
static int cut_run(cutter *c, int first, const corner *middle)
{
    const ring *a = &c->around;
    int k = (first + 1) % a->count;
    const int kind = a->corners[k].kind;
    c->face.count = 0;
    push(c, &c->face, a->corners[first]);
    for (; a->corners[k].kind >= 0; k = (k + 1) % a->count) {
        push(c, &c->face, a->corners[k]);
    }
    push(c, &c->face, a->corners[k]);
    if (middle) {
        push(c, &c->face, *middle);
    }
    if (!c->out_of_memory) {
        add_face(c, &c->face, kind);
    }
    return k;
}

static void cut_words(cutter *c, int i, int j, int size)
{
    int changes = 0, first = -1;
    corner middle = {.kind = -1};
    c->around.count = 0;
    walk_side(c, i, j, 1, 0, size);
    walk_side(c, i + size, j, 0, 1, size);
    walk_side(c, i + size, j + size, -1, 0, size);
    walk_side(c, i, j + size, 0, -1, size);
    for (int k = 0; k < c->around.count && !c->out_of_memory; k++) {
        if (c->around.corners[k].kind < 0) {
            first = first < 0 ? k : first;
            middle.at[0] += c->around.corners[k].at[0];
            middle.at[1] += c->around.corners[k].at[1];
            changes++;
        }
    }
    if (c->out_of_memory) {
        return;
    }
    if (changes == 0) {
        add_face(c, &c->around, c->around.corners[0].kind);
        return;
    }
    middle.at[0] /= changes;
    middle.at[1] /= changes;
    int k = first;
    do {
        k = cut_run(c, k, changes > 2 ? &middle : NULL);
    } while (k != first && !c->out_of_memory);
}

/* A cell, or the four that it was halved into. */
static void visit(cutter *c, int i, int j, int size)
{
    const int half = size / 2;
    if (half == 0 || !perp_map_find(c->map, c->layer, i + half, j + half)) {
        cut_words(c, i, j, size);
        return;
    }
    visit(c, i, j, half);
    visit(c, i + half, j, half);
    visit(c, i, j + half, half);
    visit(c, i + half, j + half, half);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* Where the level is between two corners; the same for both directions, bit for bit. */
static corner crossing(const corner *a, const corner *b, double level)
{
    const bool turned = a->at[0] > b->at[0] || (a->at[0] == b->at[0] && a->at[1] > b->at[1]);
    const corner *from = turned ? b : a, *to = turned ? a : b;
    const double share = (level - from->value) / (to->value - from->value);
    return (corner){
        .at = {from->at[0] + share * (to->at[0] - from->at[0]), from->at[1] + share * (to->at[1] - from->at[1])},
        .value = level};
}

static bool is_between(double level, double a, double b)
{
    return (a < level && level < b) || (b < level && level < a);
}

/* The part of a ring between two levels. */
static void cut_band(cutter *c, const corner *ring_of, int count, double low, double high, int kind)
{
    c->face.count = 0;
    for (int k = 0; k < count; k++) {
        const corner *a = &ring_of[k], *b = &ring_of[(k + 1) % count];
        const double first = a->value < b->value ? low : high, second = a->value < b->value ? high : low;
        if (a->value >= low && a->value <= high) {
            push(c, &c->face, *a);
        }
        if (is_between(first, a->value, b->value)) {
            push(c, &c->face, crossing(a, b, first));
        }
        if (is_between(second, a->value, b->value)) {
            push(c, &c->face, crossing(a, b, second));
        }
    }
    if (c->face.count >= 3 && !c->out_of_memory) {
        add_face(c, &c->face, kind);
    }
}

static void cut_bands(cutter *c, const corner *ring_of, int count)
{
    const map_layer *l = c->layer;
    double least = INFINITY, most = -INFINITY;
    for (int k = 0; k < count; k++) {
        least = fmin(least, ring_of[k].value);
        most = fmax(most, ring_of[k].value);
    }
    for (int band = 0; band <= l->level_count; band++) {
        const double low = band > 0 ? l->levels[band - 1] : -INFINITY;
        const double high = band < l->level_count ? l->levels[band] : INFINITY;
        /* a flat cell at a level is of the band above it */
        if (most >= low && least <= high && (least < high || least < most)) {
            cut_band(c, ring_of, count, low, high, band + 1);
        }
    }
}

static bool is_saddle(const map_layer *l, const corner quad[4])
{
    const double low = fmin(quad[0].value, quad[2].value), high = fmax(quad[0].value, quad[2].value);
    const double other_low = fmin(quad[1].value, quad[3].value), other_high = fmax(quad[1].value, quad[3].value);
    for (int k = 0; k < l->level_count; k++) {
        if ((high < l->levels[k] && other_low > l->levels[k]) || (other_high < l->levels[k] && low > l->levels[k])) {
            return true;
        }
    }
    return false;
}

static void cut_numbers(cutter *c, int i, int j, int size)
{
    static const int around[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    corner quad[4], middle = {.value = 0.0};
    for (int k = 0; k < 4; k++) {
        const int at[2] = {i + size * around[k][0], j + size * around[k][1]};
        quad[k] = corner_at(c, at[0], at[1], perp_map_find(c->map, c->layer, at[0], at[1]));
        middle.value += 0.25 * quad[k].value;
        middle.at[0] += 0.25 * quad[k].at[0];
        middle.at[1] += 0.25 * quad[k].at[1];
    }
    if (isnan(middle.value)) {
        c->face.count = 0;
        for (int k = 0; k < 4; k++) {
            push(c, &c->face, quad[k]);
        }
        if (!c->out_of_memory) {
            add_face(c, &c->face, MAP_MISSING);
        }
        return;
    }
    if (!is_saddle(c->layer, quad)) {
        cut_bands(c, quad, 4);
        return;
    }
    for (int k = 0; k < 4; k++) {
        const corner triangle[3] = {quad[k], quad[(k + 1) % 4], middle};
        cut_bands(c, triangle, 3);
    }
}

bool perp_map_make_faces(perp_map *m, map_layer *layer)
{
    cutter c = {.map = m, .layer = layer};
    for (int i = 0; i + 1 < m->nx && !c.out_of_memory; i++) {
        for (int j = 0; j + 1 < m->ny && !c.out_of_memory; j++) {
            if (layer->numbers) {
                cut_numbers(&c, i * m->halves, j * m->halves, m->halves);
            } else {
                visit(&c, i * m->halves, j * m->halves, m->halves);
            }
        }
    }
    return !c.out_of_memory;
}
