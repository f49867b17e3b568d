/* Faces joined. An edge that two faces of one kind share is none; what is left goes around regions, and what two kinds
 * share is a line between them. */
#include "base/sort.h"
#include "report/map.h"

#include <stdlib.h>
#include <string.h>

/* ---- equal vertices ---------------------------------------------------------------------------------------------- */

typedef struct placed {
    double at[2];
    int index;
} placed;

static int by_position(const void *a, const void *b)
{
    const placed *p = a, *q = b;
    for (int k = 0; k < 2; k++) {
        if (p->at[k] != q->at[k]) {
            return p->at[k] < q->at[k] ? -1 : 1;
        }
    }
    return p->index - q->index;
}

/* Edges name the first of equal vertices. Neighbours compute what they share alike, so equal means the same bits. */
static bool unite_vertices(perp_map *m, map_faces *f)
{
    placed *sorted = PERP_ARENA_NEW(&m->arena, placed, (size_t)f->vertex_count);
    int *names = PERP_ARENA_NEW(&m->arena, int, (size_t)f->vertex_count);
    if (!sorted || !names) {
        return false;
    }
    for (int i = 0; i < f->vertex_count; i++) {
        sorted[i] = (placed){{f->vertices[i][0], f->vertices[i][1]}, i};
    }
    perp_sort(sorted, f->vertex_count, sizeof *sorted, by_position);
    for (int i = 0, first = 0; i < f->vertex_count; i++) {
        first = memcmp(sorted[i].at, sorted[first].at, sizeof sorted->at) == 0 ? first : i;
        names[sorted[i].index] = sorted[first].index;
    }
    for (int i = 0; i < f->edge_count; i++) {
        f->edges[i].a = names[f->edges[i].a];
        f->edges[i].b = names[f->edges[i].b];
    }
    return true;
}

/* ---- edges that are left ----------------------------------------------------------------------------------------- */

static int low_end(const map_edge *e)
{
    return e->a < e->b ? e->a : e->b;
}

static int by_ends(const void *x, const void *y)
{
    const map_edge *e = x, *f = y;
    const int low = low_end(e) - low_end(f), sum = e->a + e->b - f->a - f->b;
    return low != 0 ? low : sum != 0 ? sum : e->kind != f->kind ? e->kind - f->kind : e->a - f->a;
}

static bool same_ends(const map_edge *e, const map_edge *f)
{
    return low_end(e) == low_end(f) && e->a + e->b == f->a + f->b;
}

typedef struct separated {
    int outline_count, line_count;
    map_edge *outlines; /* by kind */
    map_edge *lines;    /* with `other` in the kind's upper half */
} separated;

enum { OTHER = MAP_MOST_KINDS };

/* Of the edges with the same ends: those that no face of the same kind has the other way. */
static int cancel(map_edge *group, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        int k = 0;
        for (; k < kept && !(group[k].kind == group[i].kind && group[k].a == group[i].b); k++) {
        }
        if (k < kept) {
            group[k] = group[--kept];
        } else {
            group[kept++] = group[i];
        }
    }
    return kept;
}

static bool separate(perp_map *m, map_faces *f, separated *s)
{
    s->outlines = PERP_ARENA_NEW(&m->arena, map_edge, (size_t)f->edge_count);
    s->lines = PERP_ARENA_NEW(&m->arena, map_edge, (size_t)f->edge_count);
    if (!s->outlines || !s->lines) {
        return false;
    }
    perp_sort(f->edges, f->edge_count, sizeof *f->edges, by_ends);
    for (int i = 0, next; i < f->edge_count; i = next) {
        for (next = i + 1; next < f->edge_count && same_ends(&f->edges[i], &f->edges[next]); next++) {
        }
        map_edge *group = &f->edges[i];
        const int count = group->a == group->b ? 0 : cancel(group, next - i);
        for (int k = 0; k < count; k++) {
            s->outlines[s->outline_count++] = group[k];
        }
        if (count == 2 && group[0].a == group[1].b) {
            const map_edge *low = group[0].kind < group[1].kind ? &group[0] : &group[1];
            const int other = group[0].kind + group[1].kind - low->kind;
            s->lines[s->line_count++] = (map_edge){low->a, low->b, low->kind + OTHER * other};
        }
    }
    return true;
}

/* ---- chains ------------------------------------------------------------------------------------------------------ */

static int by_kind_and_begin(const void *x, const void *y)
{
    const map_edge *e = x, *f = y;
    return e->kind != f->kind ? e->kind - f->kind : e->a != f->a ? e->a - f->a : e->b - f->b;
}

typedef struct chainer {
    perp_map *map;
    const map_faces *faces;
    map_lines *to;
    int count;
    map_edge *edges; /* by kind and first end */
    bool *used;
    bool out_of_memory;
} chainer;

/* The first edge of a kind that begins there, or where it would stand. */
static int lower_bound(const chainer *c, int kind, int a)
{
    int low = 0, high = c->count;
    while (low < high) {
        const int middle = (low + high) / 2;
        const map_edge *e = &c->edges[middle];
        const bool before = e->kind < kind || (e->kind == kind && e->a < a);
        *(before ? &low : &high) = before ? middle + 1 : middle;
    }
    return low;
}

/* An edge that goes on from there, -1: none is left. */
static int next_edge(const chainer *c, int kind, int a)
{
    for (int k = lower_bound(c, kind, a); k < c->count && c->edges[k].kind == kind && c->edges[k].a == a; k++) {
        if (!c->used[k]) {
            return k;
        }
    }
    return -1;
}

static void add_vertex(chainer *c, int vertex)
{
    map_lines *to = c->to;
    map_line *line = &to->lines[to->line_count - 1];
    /* along an axis only the ends count */
    const double(*at)[2] = (const double(*)[2])c->faces->vertices;
    if (line->count >= 2) {
        const int *last = &to->vertices[line->first + line->count - 2];
        const double *p = at[last[0]], *q = at[last[1]], *r = at[vertex];
        if ((p[0] == q[0] && q[0] == r[0]) || (p[1] == q[1] && q[1] == r[1])) {
            to->vertices[line->first + line->count - 1] = vertex;
            return;
        }
    }
    int *grown = perp_arena_grow(&c->map->arena, to->vertices, to->vertex_count, &to->vertex_capacity, sizeof *grown);
    if (!grown) {
        c->out_of_memory = true;
        return;
    }
    to->vertices = grown;
    grown[to->vertex_count++] = vertex;
    line->count++;
}

static void follow(chainer *c, int edge)
{
    map_lines *to = c->to;
    const int kind = c->edges[edge].kind, begin = c->edges[edge].a;
    map_line *grown = perp_arena_grow(&c->map->arena, to->lines, to->line_count, &to->line_capacity, sizeof *grown);
    if (!grown) {
        c->out_of_memory = true;
        return;
    }
    to->lines = grown;
    grown[to->line_count++] = (map_line){.first = to->vertex_count, .kind = kind % OTHER, .other = kind / OTHER};
    add_vertex(c, begin);
    for (int k = edge; k >= 0 && !c->out_of_memory; k = next_edge(c, kind, c->edges[k].b)) {
        c->used[k] = true;
        if (c->edges[k].b == begin) {
            to->lines[to->line_count - 1].closed = true;
            return;
        }
        add_vertex(c, c->edges[k].b);
    }
}

/* How many more edges of the kind begin at a vertex than end there. */
static int surplus(const chainer *c, const int *ends, int kind, int vertex)
{
    int count = 0;
    for (int k = lower_bound(c, kind, vertex); k < c->count && c->edges[k].kind == kind && c->edges[k].a == vertex;
         k++) {
        count++;
    }
    return count - ends[vertex];
}

/* Edges of equal kinds, one behind the other: first those that begin where none ends, then the rings. */
static bool chain(perp_map *m, const map_faces *f, map_edge *edges, int count, map_lines *to)
{
    chainer c = {.map = m, .faces = f, .to = to, .count = count, .edges = edges};
    c.used = PERP_ARENA_NEW(&m->arena, bool, (size_t)count);
    int *ends = PERP_ARENA_NEW(&m->arena, int, (size_t)f->vertex_count);
    if (!c.used || !ends) {
        return false;
    }
    perp_sort(edges, count, sizeof *edges, by_kind_and_begin);
    for (int from = 0, next; from < count; from = next) {
        for (next = from; next < count && edges[next].kind == edges[from].kind; next++) {
            ends[edges[next].b]++;
        }
        for (int k = from; k < next && !c.out_of_memory; k++) {
            if (!c.used[k] && surplus(&c, ends, edges[k].kind, edges[k].a) > 0) {
                follow(&c, k);
            }
        }
        for (int k = from; k < next && !c.out_of_memory; k++) {
            if (!c.used[k]) {
                follow(&c, k);
            }
        }
        for (int k = from; k < next; k++) {
            ends[edges[k].b]--;
        }
    }
    return !c.out_of_memory;
}

/* ---- areas ------------------------------------------------------------------------------------------------------- */

/* By the outlines, about the map's own corner so that large coordinates lose no figures. */
static void measure(const perp_map *m, map_layer *layer)
{
    const map_lines *o = &layer->outlines;
    for (int l = 0; l < o->line_count; l++) {
        const map_line *line = &o->lines[l];
        double twice = 0.0;
        for (int k = 0; k < line->count; k++) {
            const double *p = layer->faces.vertices[o->vertices[line->first + k]];
            const double *q = layer->faces.vertices[o->vertices[line->first + (k + 1) % line->count]];
            twice += (p[0] - m->xs[0]) * (q[1] - m->ys[0]) - (q[0] - m->xs[0]) * (p[1] - m->ys[0]);
        }
        layer->areas[line->kind] += 0.5 * twice;
    }
}

bool perp_map_join(perp_map *m, map_layer *layer)
{
    separated s = {0};
    const bool good = unite_vertices(m, &layer->faces) && separate(m, &layer->faces, &s) &&
                      chain(m, &layer->faces, s.outlines, s.outline_count, &layer->outlines) &&
                      chain(m, &layer->faces, s.lines, s.line_count, &layer->lines);
    if (good) {
        measure(m, layer);
    }
    return good;
}
