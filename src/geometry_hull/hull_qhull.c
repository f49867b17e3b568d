/* Convex hulls by qhull (reentrant).
 *
 * qhull reports through a FILE, jumps out of its depths with longjmp, and takes memory from malloc; all three end here.
 * Its messages are dropped: its exit code says which of our sentences applies. */
#include <perp/geometry_hull.h>

#include "base/arena.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libqhull_r/qhull_ra.h>

/* m: smaller sets of points have areas that underflow. */
static const double SIZE_LEAST = 1e-150;
/* of the points' size: points that are in a plane to this are refused. qhull takes some that are to 1e-14, and does not
 * come to an end on others; and what is within 1e-12 of a face's plane is in that face (HULL_FLAT of geometry), so that
 * all of the hull might be. */
static const double FLAT = 1e-11;

static const char no_volume[] = "the mesh has no volume: its points lie in a plane";

static perp_status refuse_points(const perp_vec3 *points, int count, perp_error *error)
{
    if (count < 4) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "a mesh needs at least 4 points, but has %d", count);
    }
    if (count > PERP_MESH_MAX_POINTS) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "a mesh has at most %d points", PERP_MESH_MAX_POINTS);
    }
    for (int i = 0; i < count; i++) {
        const double largest = fmax(fabs(points[i].x), fmax(fabs(points[i].y), fabs(points[i].z)));
        if (!(largest <= 1e100) || isnan(points[i].x) || isnan(points[i].y) || isnan(points[i].z)) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "point %d of the mesh is not finite, or beyond 1e100", i);
        }
    }
    return PERP_STATUS_OK;
}

/* Coordinates are brought to [-1, 1] about the middle of their box, so that qhull's absolute tolerances mean the same
 * for a part of a millimetre and for a building. A box that is flat in one direction has no volume. */
static perp_status normalise(const perp_vec3 *points, int count, double *coordinates, perp_error *error)
{
    perp_vec3 low = points[0], high = points[0];
    for (int i = 1; i < count; i++) {
        low = perp_vec3_make(fmin(low.x, points[i].x), fmin(low.y, points[i].y), fmin(low.z, points[i].z));
        high = perp_vec3_make(fmax(high.x, points[i].x), fmax(high.y, points[i].y), fmax(high.z, points[i].z));
    }
    const perp_vec3 half = {0.5 * high.x - 0.5 * low.x, 0.5 * high.y - 0.5 * low.y, 0.5 * high.z - 0.5 * low.z};
    const double size = fmax(half.x, fmax(half.y, half.z));
    if (!(fmin(half.x, fmin(half.y, half.z)) > 0.0) || !(size > SIZE_LEAST)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "%s", no_volume);
    }
    for (int i = 0; i < count; i++) {
        coordinates[3 * i] = (points[i].x - low.x - half.x) / size;
        coordinates[3 * i + 1] = (points[i].y - low.y - half.y) / size;
        coordinates[3 * i + 2] = (points[i].z - low.z - half.z) / size;
    }
    return PERP_STATUS_OK;
}

static perp_vec3 point_at(const double *coordinates, int i)
{
    return perp_vec3_make(coordinates[3 * i], coordinates[3 * i + 1], coordinates[3 * i + 2]);
}

/* The part of x that is square to the unit vector u. */
static perp_vec3 square_to(perp_vec3 u, perp_vec3 x)
{
    return perp_vec3_add_scaled(x, -perp_vec3_dot(u, x), u);
}

/* Of the points, seen from `from` and, unless u is zero, along the unit vector u, the way to the farthest one. */
static perp_vec3 farthest(const double *coordinates, int count, perp_vec3 from, perp_vec3 u)
{
    perp_vec3 best = {0.0, 0.0, 0.0};
    for (int i = 0; i < count; i++) {
        const perp_vec3 x = square_to(u, perp_vec3_sub(point_at(coordinates, i), from));
        best = perp_vec3_norm(x) > perp_vec3_norm(best) ? x : best;
    }
    return best;
}

/* Points that are in a plane are refused. The thickness is that across the plane of the longest way through the points
 * and the one farthest from it; made square to each other, the two tell the plane to rounding even of a needle, which
 * no triangle of it does. */
static perp_status refuse_flat(const double *coordinates, int count, perp_error *error)
{
    const perp_vec3 nowhere = {0.0, 0.0, 0.0}, first = point_at(coordinates, 0);
    const perp_vec3 end = perp_vec3_add(first, farthest(coordinates, count, first, nowhere));
    const perp_vec3 length = farthest(coordinates, count, end, nowhere), u = perp_vec3_normalise(length);
    const perp_vec3 width = farthest(coordinates, count, end, u);
    const perp_vec3 normal = perp_vec3_cross(u, perp_vec3_normalise(square_to(u, perp_vec3_normalise(width))));
    double above = 0.0, below = 0.0;
    for (int i = 0; i < count; i++) {
        const double height = perp_vec3_dot(normal, perp_vec3_sub(point_at(coordinates, i), end));
        above = fmax(above, height);
        below = fmin(below, height);
    }
    const double thickness = fmin(above - below, perp_vec3_norm(width));
    return thickness > FLAT * perp_vec3_norm(length) ? PERP_STATUS_OK
                                                     : perp_fail(error, PERP_STATUS_BAD_INPUT, "%s", no_volume);
}

static perp_status from_exit_code(int code, perp_error *error)
{
    switch (code) {
    case qh_ERRnone:
        return PERP_STATUS_OK;
    case qh_ERRmem:
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a convex hull");
    default: /* singular or nearly so: qhull cannot make a simplex or keep its facets convex */
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "%s", no_volume);
    }
}

static void swap_two(int *triangle)
{
    const int swap = triangle[0];
    triangle[0] = triangle[1];
    triangle[1] = swap;
}

/* Copies corners and triangles out of qhull, corners numbered in the order of the input. */
static perp_status copy_result(qhT *qh, const perp_vec3 *points, int count, int *number, perp_hull *hull,
                               perp_error *error)
{
    facetT *facet;
    vertexT *vertex, **vertexp;
    int triangles = 0, corners = 0;
    FORALLfacets
    {
        triangles++;
        FOREACHvertex_(facet->vertices)
        {
            number[qh_pointid(qh, vertex->point)] = 1;
        }
    }
    for (int i = 0; i < count; i++) {
        corners += number[i];
    }
    if (triangles > PERP_MESH_MAX_TRIANGLES) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "the hull has more than %d triangles; use a coarser mesh",
                         PERP_MESH_MAX_TRIANGLES);
    }
    hull->points = hull->allocator.allocate(hull->allocator.context, (size_t)corners * sizeof *hull->points);
    hull->triangles = hull->allocator.allocate(hull->allocator.context, 3 * (size_t)triangles * sizeof(int));
    if (!hull->points || !hull->triangles) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a convex hull");
    }
    for (int i = 0; i < count; i++) {
        if (number[i]) {
            number[i] = hull->point_count;
            hull->points[hull->point_count++] = points[i];
        }
    }
    FORALLfacets
    {
        int *triangle = &hull->triangles[3 * hull->triangle_count++];
        int k = 0;
        FOREACHvertex_(facet->vertices)
        {
            triangle[k++] = number[qh_pointid(qh, vertex->point)];
        }
        if (facet->toporient) {
            swap_two(triangle);
        }
    }
    return PERP_STATUS_OK;
}

/* qhull orients all triangles alike, inwards or outwards; the sign of the volume says which, even where a triangle is a
 * sliver that has no direction of its own. */
static void orient(perp_hull *hull)
{
    double volume = 0.0;
    const perp_vec3 origin = hull->points[0];
    for (int i = 0; i < hull->triangle_count; i++) {
        const int *t = &hull->triangles[3 * i];
        const perp_vec3 a = perp_vec3_sub(hull->points[t[0]], origin), b = perp_vec3_sub(hull->points[t[1]], origin);
        volume += perp_vec3_dot(perp_vec3_cross(a, b), perp_vec3_sub(hull->points[t[2]], origin));
    }
    for (int i = 0; volume < 0.0 && i < hull->triangle_count; i++) {
        swap_two(&hull->triangles[3 * i]);
    }
}

static perp_status run_qhull(const perp_vec3 *points, int count, double *coordinates, int *number, perp_hull *hull,
                             perp_error *error)
{
    qhT qhull;
    /* Triangles only (Qt); stop when there are more corners than the limit on triangles allows (TA). */
    char command[64];
    snprintf(command, sizeof command, "qhull Qt TA%d", PERP_MESH_MAX_TRIANGLES / 2 + 3);
    FILE *messages = fopen("/dev/null", "w");
    if (!messages) {
        return perp_fail(error, errno == ENOMEM ? PERP_STATUS_OUT_OF_MEMORY : PERP_STATUS_IO,
                         "cannot open /dev/null for the messages of qhull");
    }
    memset(&qhull, 0, sizeof qhull);
    qh_zero(&qhull, messages);
    const int code = qh_new_qhull(&qhull, 3, count, coordinates, False, command, messages, messages);
    perp_status status = from_exit_code(code, error);
    if (status == PERP_STATUS_OK) {
        status = copy_result(&qhull, points, count, number, hull, error);
    }
    int current, total;
    if (qhull.qhmem.LASTsize == 0) { /* out of memory so early that qhull forgets its first two tables */
        qh_free(qhull.qhmem.sizetable);
        qh_free(qhull.qhmem.freelists);
        qhull.qhmem.sizetable = NULL;
        qhull.qhmem.freelists = NULL;
    }
    qh_freeqhull(&qhull, !qh_ALL);
    qh_memfreeshort(&qhull, &current, &total);
    fclose(messages);
    return status;
}

perp_status perp_hull_build(const perp_vec3 *points, int count, const perp_allocator *allocator, perp_hull *hull,
                            perp_error *error)
{
    memset(hull, 0, sizeof *hull);
    hull->allocator = allocator ? *allocator : perp_allocator_default();
    perp_status status = refuse_points(points, count, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_arena scratch;
    perp_arena_init(&scratch, allocator);
    double *coordinates = PERP_ARENA_NEW(&scratch, double, 3 * (size_t)count);
    int *number = PERP_ARENA_NEW(&scratch, int, (size_t)count);
    if (!coordinates || !number) {
        status = perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a convex hull");
    } else {
        status = normalise(points, count, coordinates, error);
    }
    if (status == PERP_STATUS_OK) {
        status = refuse_flat(coordinates, count, error);
    }
    if (status == PERP_STATUS_OK) {
        status = run_qhull(points, count, coordinates, number, hull, error);
    }
    if (status == PERP_STATUS_OK) {
        orient(hull);
    } else {
        perp_hull_free(hull);
    }
    perp_arena_clear(&scratch);
    return status;
}

void perp_hull_free(perp_hull *hull)
{
    if (hull->points) {
        hull->allocator.release(hull->allocator.context, hull->points);
    }
    if (hull->triangles) {
        hull->allocator.release(hull->allocator.context, hull->triangles);
    }
    hull->points = NULL;
    hull->triangles = NULL;
    hull->point_count = hull->triangle_count = 0;
}
