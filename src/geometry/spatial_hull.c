/* spatial_hull.c - a triangulated hull as faces and edges.
 *
 * Triangles are joined over shared edges into faces, the largest first, so that a face's normal is that of its largest
 * triangle and not of a sliver's. Afterwards an edge is what is left between two faces.
 */
#include <perp/geometry.h>

#include "base/arena.h"
#include "geometry/tolerances.h"

#include <stdlib.h>
#include <string.h>

typedef struct half_edge {
    int low, high; /* corners, low < high */
    int slot;      /* 3 * triangle + place: from triangles[slot] to the next of the triangle */
} half_edge;

typedef struct ranked {
    double area;
    int triangle;
} ranked;

typedef struct builder {
    const perp_vec3 *points;
    const int *triangles;
    int point_count, triangle_count;
    double extent;
    int *twin;        /* of a slot: the slot across its edge */
    int *face;        /* of a triangle */
    int *stack;       /* triangles to visit */
    int *index;       /* of a point: the corner it becomes */
    half_edge *edges; /* of every slot */
    ranked *order;
} builder;

static int by_corners(const void *p, const void *q)
{
    const half_edge *a = p, *b = q;
    if (a->low != b->low) {
        return a->low < b->low ? -1 : 1;
    }
    if (a->high != b->high) {
        return a->high < b->high ? -1 : 1;
    }
    return (a->slot > b->slot) - (a->slot < b->slot);
}

static int by_area(const void *p, const void *q)
{
    const ranked *a = p, *b = q;
    if (a->area != b->area) {
        return a->area > b->area ? -1 : 1;
    }
    return (a->triangle > b->triangle) - (a->triangle < b->triangle);
}

static int slot_next(int slot)
{
    return slot % 3 == 2 ? slot - 2 : slot + 1;
}

static perp_vec3 area_vector(const builder *b, int triangle)
{
    const int *t = &b->triangles[3 * triangle];
    const perp_vec3 o = b->points[t[0]];
    return perp_vec3_cross(perp_vec3_sub(b->points[t[1]], o), perp_vec3_sub(b->points[t[2]], o));
}

static perp_status pair_edges(builder *b, perp_error *error)
{
    const int slots = 3 * b->triangle_count;
    for (int s = 0; s < slots; s++) {
        const int from = b->triangles[s], to = b->triangles[slot_next(s)];
        if (from < 0 || from >= b->point_count || from == to) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "triangle %d of the hull has a bad corner", s / 3);
        }
        b->edges[s] = (half_edge){from < to ? from : to, from < to ? to : from, s};
    }
    qsort(b->edges, (size_t)slots, sizeof b->edges[0], by_corners);
    for (int s = 0; s < slots; s += 2) {
        const half_edge *p = &b->edges[s], *q = p + 1;
        const bool twins =
            s + 1 < slots && p->low == q->low && p->high == q->high && b->triangles[p->slot] != b->triangles[q->slot];
        const bool more = s + 2 < slots && p->low == q[1].low && p->high == q[1].high;
        if (!twins || more) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT,
                             "the hull is not closed: the edge of points %d and %d needs two triangles", p->low,
                             p->high);
        }
        b->twin[p->slot] = q->slot;
        b->twin[q->slot] = p->slot;
    }
    return PERP_STATUS_OK;
}

/* Gathers the triangles of the seed's plane. */
static void flood(builder *b, int seed, int face, perp_vec3 normal)
{
    const perp_vec3 o = b->points[b->triangles[3 * seed]];
    int waiting = 0;
    b->face[seed] = face;
    b->stack[waiting++] = seed;
    while (waiting > 0) {
        const int t = b->stack[--waiting];
        for (int k = 0; k < 3; k++) {
            const int other = b->twin[3 * t + k] / 3;
            bool flat = b->face[other] < 0;
            for (int c = 0; c < 3 && flat; c++) {
                const perp_vec3 x = b->points[b->triangles[3 * other + c]];
                flat = fabs(perp_vec3_dot(normal, perp_vec3_sub(x, o))) <= HULL_FLAT * b->extent;
            }
            if (flat) {
                b->face[other] = face;
                b->stack[waiting++] = other;
            }
        }
    }
}

static void find_faces(builder *b, perp_spatial_hull *hull)
{
    for (int t = 0; t < b->triangle_count; t++) {
        b->order[t] = (ranked){perp_vec3_norm(area_vector(b, t)), t};
        b->face[t] = -1;
    }
    qsort(b->order, (size_t)b->triangle_count, sizeof b->order[0], by_area);
    for (int i = 0; i < b->triangle_count; i++) {
        const int t = b->order[i].triangle;
        if (b->face[t] < 0) {
            const perp_vec3 normal = perp_vec3_normalise(area_vector(b, t));
            hull->faces[hull->face_count] = (perp_spatial_face){.normal = normal};
            flood(b, t, hull->face_count++, normal);
        }
    }
}

/* Edges, and for every face its border as one loop from its first corner in the order of triangles. */
static perp_status find_borders(builder *b, perp_spatial_hull *hull, perp_error *error)
{
    const int slots = 3 * b->triangle_count;
    int used = 0;
    for (int s = 0; s < slots; s++) {
        const int f = b->face[s / 3], other = b->face[b->twin[s] / 3];
        hull->faces[f].count += f != other;
        if (f != other && s < b->twin[s]) {
            const int from = b->triangles[s], to = b->triangles[slot_next(s)];
            const perp_vec3 along = perp_vec3_normalise(perp_vec3_sub(b->points[to], b->points[from]));
            hull->edges[hull->edge_count++] = (perp_spatial_edge){{from, to}, {f, other}, along};
        }
    }
    for (int f = 0; f < hull->face_count; f++) {
        hull->faces[f].start = used;
        used += hull->faces[f].count;
        b->stack[f] = -1; /* from here on: a slot of the face's border, by face */
    }
    for (int s = slots - 1; s >= 0; s--) {
        const int f = b->face[s / 3];
        if (f != b->face[b->twin[s] / 3]) {
            b->stack[f] = s;
        }
    }
    for (int f = 0; f < hull->face_count; f++) {
        const int first = b->stack[f];
        int s = first, count = 0;
        while (first >= 0 && count < hull->faces[f].count) {
            hull->loops[hull->faces[f].start + count++] = b->triangles[s];
            s = slot_next(s);
            while (b->face[b->twin[s] / 3] == f) { /* turn about the corner, inside the face */
                s = slot_next(b->twin[s]);
            }
            if (s == first) {
                break;
            }
        }
        if (first < 0 || count != hull->faces[f].count || s != first) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "the hull has no volume, or a face of it has a hole");
        }
    }
    return PERP_STATUS_OK;
}

/* Fills the box and the size; returns the diagonal. */
static double find_extent(const perp_vec3 *points, int count, perp_spatial_hull *hull)
{
    perp_vec3 low = points[0], high = low;
    double farthest = 0.0;
    for (int i = 0; i < count; i++) {
        const perp_vec3 p = points[i];
        farthest = fmax(farthest, perp_vec3_norm(p));
        low = perp_vec3_make(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = perp_vec3_make(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
    hull->low = low;
    hull->high = high;
    hull->size = 2.0 * farthest;
    return perp_vec3_norm(perp_vec3_sub(high, low));
}

/* Leaves out points that are in the middle of a face: joined to nothing, they would stop a search along edges. */
static void drop_loose_points(perp_spatial_hull *hull, int *index)
{
    for (int i = 0; i < hull->corner_count; i++) {
        index[i] = 0;
    }
    for (int e = 0; e < hull->edge_count; e++) {
        index[hull->edges[e].corners[0]] = index[hull->edges[e].corners[1]] = 1;
    }
    int kept = 0;
    for (int i = 0; i < hull->corner_count; i++) {
        if (index[i]) {
            hull->corners[kept] = hull->corners[i];
            index[i] = kept++;
        }
    }
    for (int e = 0; e < hull->edge_count; e++) {
        hull->edges[e].corners[0] = index[hull->edges[e].corners[0]];
        hull->edges[e].corners[1] = index[hull->edges[e].corners[1]];
    }
    const perp_spatial_face *last = &hull->faces[hull->face_count - 1];
    for (int k = 0; k < last->start + last->count; k++) {
        hull->loops[k] = index[hull->loops[k]];
    }
    hull->corner_count = kept;
}

/* The edges of every corner, ascending. */
static void find_corner_edges(perp_spatial_hull *hull)
{
    for (int e = 0; e < hull->edge_count; e++) {
        for (int k = 0; k < 2; k++) {
            hull->corner_start[hull->edges[e].corners[k]]++; /* for now the count */
        }
    }
    int sum = 0;
    for (int i = 0; i <= hull->corner_count; i++) {
        sum += i < hull->corner_count ? hull->corner_start[i] : 0;
        hull->corner_start[i] = sum; /* for now the end */
    }
    for (int e = hull->edge_count - 1; e >= 0; e--) {
        for (int k = 0; k < 2; k++) {
            hull->corner_edges[--hull->corner_start[hull->edges[e].corners[k]]] = e;
        }
    }
}

static void find_offsets(perp_spatial_hull *hull)
{
    for (int f = 0; f < hull->face_count; f++) {
        perp_spatial_face *face = &hull->faces[f];
        face->offset = -INFINITY;
        for (int k = 0; k < face->count; k++) {
            face->offset = fmax(face->offset, perp_vec3_dot(face->normal, hull->corners[hull->loops[face->start + k]]));
        }
    }
}

/* One block for the result: at most as many faces as triangles. */
static bool take_memory(const builder *b, perp_spatial_hull *hull)
{
    const size_t points = (size_t)b->point_count, triangles = (size_t)b->triangle_count;
    const size_t corners = points * sizeof(perp_vec3), faces = triangles * sizeof(perp_spatial_face);
    const size_t edges = 3 * triangles / 2 * sizeof(perp_spatial_edge), loops = 3 * triangles * sizeof(int);
    const size_t starts = (points + 1) * sizeof(int), corner_edges = 3 * triangles * sizeof(int);
    unsigned char *block =
        hull->allocator.allocate(hull->allocator.context, corners + faces + edges + loops + starts + corner_edges);
    if (!block) {
        return false;
    }
    hull->corners = (perp_vec3 *)(void *)block;
    hull->faces = (perp_spatial_face *)(void *)(block + corners);
    hull->edges = (perp_spatial_edge *)(void *)(block + corners + faces);
    hull->loops = (int *)(void *)(block + corners + faces + edges);
    hull->corner_start = (int *)(void *)(block + corners + faces + edges + loops);
    hull->corner_edges = (int *)(void *)(block + corners + faces + edges + loops + starts);
    memcpy(hull->corners, b->points, corners);
    memset(hull->corner_start, 0, starts);
    hull->corner_count = b->point_count;
    return true;
}

static bool take_scratch(builder *b, perp_arena *arena)
{
    const size_t slots = 3 * (size_t)b->triangle_count, triangles = (size_t)b->triangle_count;
    b->twin = PERP_ARENA_NEW(arena, int, slots);
    b->face = PERP_ARENA_NEW(arena, int, triangles);
    b->stack = PERP_ARENA_NEW(arena, int, triangles);
    b->index = PERP_ARENA_NEW(arena, int, (size_t)b->point_count);
    b->edges = PERP_ARENA_NEW(arena, half_edge, slots);
    b->order = PERP_ARENA_NEW(arena, ranked, triangles);
    return b->twin && b->face && b->stack && b->index && b->edges && b->order;
}

perp_status perp_spatial_hull_prepare(const perp_vec3 *points, int point_count, const int *triangles,
                                      int triangle_count, const perp_allocator *allocator, perp_spatial_hull *hull,
                                      perp_error *error)
{
    *hull = (perp_spatial_hull){.allocator = allocator ? *allocator : perp_allocator_default()};
    if (point_count < 4 || triangle_count < 4 || triangle_count > INT32_MAX / 3) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "a hull needs 4 points and 4 triangles, not %d and %d",
                         point_count, triangle_count);
    }
    builder b = {
        .points = points, .triangles = triangles, .point_count = point_count, .triangle_count = triangle_count};
    b.extent = find_extent(points, point_count, hull);
    perp_arena arena;
    perp_arena_init(&arena, allocator);
    perp_status status = PERP_STATUS_OK;
    if (!take_scratch(&b, &arena) || !take_memory(&b, hull)) {
        status = perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for a hull of %d triangles", triangle_count);
    }
    if (status == PERP_STATUS_OK) {
        status = pair_edges(&b, error);
    }
    if (status == PERP_STATUS_OK) {
        find_faces(&b, hull);
        status = find_borders(&b, hull, error);
    }
    if (status == PERP_STATUS_OK) {
        drop_loose_points(hull, b.index);
        find_corner_edges(hull);
        find_offsets(hull);
    }
    perp_arena_clear(&arena);
    if (status != PERP_STATUS_OK) {
        perp_spatial_hull_free(hull);
    }
    return status;
}

void perp_spatial_hull_free(perp_spatial_hull *hull)
{
    if (hull->corners) {
        hull->allocator.release(hull->allocator.context, hull->corners);
    }
    *hull = (perp_spatial_hull){.allocator = hull->allocator};
}
