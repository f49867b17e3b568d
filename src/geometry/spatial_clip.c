/* spatial_clip.c - see spatial_clip.h. Distances to a line are positive on the inner side. */
#include "geometry/spatial_clip.h"
#include "geometry/tolerances.h"

#include <assert.h>

enum { MAX = SPATIAL_OUTLINE_MAX };

/* Where the corners of one polygon are from the lines of the other. */
typedef struct sides {
    double cross[MAX][MAX];     /* [corner][line]: distance times the length of the line's edge */
    signed char side[MAX][MAX]; /* 1: inside by more than the tolerance, -1: outside by more, 0: on the line */
    bool outside[MAX];          /* of some line */
} sides;

static int next(int i, int count)
{
    return i + 1 < count ? i + 1 : 0;
}

/* p's corners from q's lines. An edge without length bounds nothing. */
static void measure(const spatial_polygon *p, const spatial_polygon *q, double tolerance, sides *s)
{
    for (int i = 0; i < p->count; i++) {
        s->outside[i] = false;
    }
    for (int j = 0; j < q->count; j++) {
        const int k = next(j, q->count);
        const double ex = q->x[k] - q->x[j], ey = q->y[k] - q->y[j];
        const double limit = tolerance * sqrt(ex * ex + ey * ey);
        for (int i = 0; i < p->count; i++) {
            const double cross = ex * (p->y[i] - q->y[j]) - ey * (p->x[i] - q->x[j]);
            s->cross[i][j] = cross;
            s->side[i][j] = (signed char)((cross > limit) - (cross < -limit));
            s->outside[i] = s->outside[i] || cross < -limit;
        }
    }
}

static double height(const spatial_polygon *p, double x, double y)
{
    double z = p->planes[0].level + p->planes[0].slope_x * x + p->planes[0].slope_y * y;
    for (int k = 1; k < p->plane_count; k++) {
        const double other = p->planes[k].level + p->planes[k].slope_x * x + p->planes[k].slope_y * y;
        z = p->from_below ? fmax(z, other) : fmin(z, other);
    }
    return z;
}

/* A vertex nearer than `reach` to the point, or -1. */
static int find(const spatial_vertex *v, int count, double x, double y, double reach)
{
    for (int i = 0; i < count; i++) {
        const double dx = v[i].x - x, dy = v[i].y - y;
        if (dx * dx + dy * dy <= reach * reach) {
            return i;
        }
    }
    return -1;
}

/* The crossing of edge i of p, at the fraction t of it, with edge j of q. */
static spatial_vertex crossing(const spatial_polygon *p, const spatial_polygon *q, int i, int j, double t)
{
    const int k = next(i, p->count);
    const double x = p->x[i] + t * (p->x[k] - p->x[i]), y = p->y[i] + t * (p->y[k] - p->y[i]);
    return (spatial_vertex){.x = x,
                            .y = y,
                            .z_p = p->z[i] + t * (p->z[k] - p->z[i]),
                            .z_q = height(q, x, y),
                            .part_p = 2 * i + 1,
                            .part_q = 2 * j + 1};
}

/* Adds the proper crossings: the ends of either edge on opposite sides of the other's line. */
static int crossings(const spatial_polygon *p, const spatial_polygon *q, const sides *of_p, const sides *of_q,
                     double tolerance, spatial_vertex *v, int count)
{
    for (int i = 0; i < p->count; i++) {
        const int i2 = next(i, p->count);
        for (int j = 0; j < q->count && count < SPATIAL_VERTICES_MAX; j++) {
            const int j2 = next(j, q->count);
            if (of_p->side[i][j] * of_p->side[i2][j] >= 0 || of_q->side[j][i] * of_q->side[j2][i] >= 0) {
                continue;
            }
            const double t = of_p->cross[i][j] / (of_p->cross[i][j] - of_p->cross[i2][j]);
            v[count] = crossing(p, q, i, j, t);
            count += find(v, count, v[count].x, v[count].y, 2.0 * tolerance) < 0 ? 1 : 0;
        }
    }
    return count;
}

static int corners(const spatial_polygon *p, const spatial_polygon *q, const sides *of_p, const sides *of_q,
                   double tolerance, spatial_vertex *v)
{
    int count = 0;
    for (int i = 0; i < p->count; i++) {
        if (!of_p->outside[i] && find(v, count, p->x[i], p->y[i], 2.0 * tolerance) < 0) {
            v[count++] = (spatial_vertex){.x = p->x[i],
                                          .y = p->y[i],
                                          .z_p = p->z[i],
                                          .z_q = height(q, p->x[i], p->y[i]),
                                          .part_p = 2 * i,
                                          .part_q = SPATIAL_INSIDE};
        }
    }
    for (int j = 0; j < q->count; j++) {
        if (of_q->outside[j]) {
            continue;
        }
        const int same = find(v, count, q->x[j], q->y[j], 2.0 * tolerance);
        if (same < 0) {
            v[count++] = (spatial_vertex){.x = q->x[j],
                                          .y = q->y[j],
                                          .z_p = height(p, q->x[j], q->y[j]),
                                          .z_q = q->z[j],
                                          .part_p = SPATIAL_INSIDE,
                                          .part_q = 2 * j};
        } else if (v[same].part_q == SPATIAL_INSIDE) {
            v[same].part_q = 2 * j;
        }
    }
    return count;
}

/* Grows with the angle of (x, y), from 0 to 4. */
static double turn(double x, double y)
{
    const double sum = fabs(x) + fabs(y);
    const double r = sum > 0.0 ? y / sum : 0.0;
    return x < 0.0 ? 2.0 - r : y < 0.0 ? 4.0 + r : r;
}

/* By angle about the mean, which is inside. */
static void order(spatial_vertex *v, int count)
{
    double x = 0.0, y = 0.0, key[SPATIAL_VERTICES_MAX];
    int at[SPATIAL_VERTICES_MAX];
    spatial_vertex sorted[SPATIAL_VERTICES_MAX];
    const double share = 1.0 / count;
    for (int i = 0; i < count; i++) {
        x += share * v[i].x;
        y += share * v[i].y;
    }
    for (int i = 0; i < count; i++) {
        const double angle = turn(v[i].x - x, v[i].y - y);
        int k = i;
        for (; k > 0 && key[k - 1] > angle; k--) {
            key[k] = key[k - 1];
            at[k] = at[k - 1];
        }
        key[k] = angle;
        at[k] = i;
    }
    for (int i = 0; i < count; i++) {
        sorted[i] = v[at[i]];
    }
    for (int i = 0; i < count; i++) {
        v[i] = sorted[i];
    }
}

/* Distance of b from the segment a c is no more than the tolerance. */
static bool on_segment(const spatial_vertex *a, const spatial_vertex *b, const spatial_vertex *c, double tolerance)
{
    const double ex = c->x - a->x, ey = c->y - a->y, dx = b->x - a->x, dy = b->y - a->y;
    const double length2 = ex * ex + ey * ey, along = dx * ex + dy * ey, across = ex * dy - ey * dx;
    return along >= 0.0 && along <= length2 && across * across <= tolerance * tolerance * length2;
}

/* A vertex on the line of its neighbours says nothing that they do not: heights are linear. */
static int straighten(spatial_vertex *v, int count, double tolerance)
{
    for (int i = count - 1; i >= 0 && count > 2; i--) {
        if (on_segment(&v[i > 0 ? i - 1 : count - 1], &v[i], &v[next(i, count)], tolerance)) {
            count--;
            for (int k = i; k < count; k++) {
                v[k] = v[k + 1];
            }
        }
    }
    return count;
}

int perp_spatial_polygons_meet(const spatial_polygon *p, const spatial_polygon *q, double tolerance,
                               spatial_vertex vertices[SPATIAL_VERTICES_MAX])
{
    sides of_p, of_q;
    of_p.cross[0][0] = of_q.cross[0][0] = 0.0; /* a polygon has corners, but compilers cannot know */
    measure(p, q, tolerance, &of_p);
    measure(q, p, tolerance, &of_q);
    int count = corners(p, q, &of_p, &of_q, tolerance, vertices);
    count = crossings(p, q, &of_p, &of_q, tolerance, vertices, count);
    order(vertices, count);
    return straighten(vertices, count, tolerance);
}

/* What of the polygon's border is at the point: a corner within 2 tolerance, else the nearest edge. Which line cut the
 * segment does not tell where edges are in line with each other. */
static int border(const spatial_polygon *q, double x, double y, double tolerance)
{
    int part = 1;
    double nearest = INFINITY;
    for (int j = 0; j < q->count; j++) {
        const int k = next(j, q->count);
        const double ex = q->x[k] - q->x[j], ey = q->y[k] - q->y[j], dx = x - q->x[j], dy = y - q->y[j];
        const double length2 = ex * ex + ey * ey, along = length2 > 0.0 ? (dx * ex + dy * ey) / length2 : 0.0;
        const double t = fmin(fmax(along, 0.0), 1.0), rx = dx - t * ex, ry = dy - t * ey;
        if (dx * dx + dy * dy <= 4.0 * tolerance * tolerance) {
            return 2 * j;
        }
        if (rx * rx + ry * ry < nearest) {
            nearest = rx * rx + ry * ry;
            part = 2 * j + 1;
        }
    }
    return part;
}

int perp_spatial_segment_meets(const double x[2], const double y[2], const double z[2], const spatial_polygon *q,
                               double tolerance, spatial_vertex vertices[2])
{
    double from = 0.0, to = 1.0;
    bool cut[2] = {false, false};
    for (int j = 0; j < q->count; j++) {
        const int k = next(j, q->count);
        const double ex = q->x[k] - q->x[j], ey = q->y[k] - q->y[j], length = sqrt(ex * ex + ey * ey);
        const double d0 = (ex * (y[0] - q->y[j]) - ey * (x[0] - q->x[j])) / length;
        const double d1 = (ex * (y[1] - q->y[j]) - ey * (x[1] - q->x[j])) / length;
        if (!(length > 0.0)) {
            continue;
        }
        if (d0 < -tolerance && d1 < -tolerance) {
            return 0;
        }
        if (d0 < -tolerance && d0 / (d0 - d1) > from) {
            from = fmin(d0 / (d0 - d1), 1.0);
            cut[0] = true;
        } else if (d1 < -tolerance && d0 / (d0 - d1) < to) {
            to = fmax(d0 / (d0 - d1), 0.0);
            cut[1] = true;
        }
    }
    const double dx = x[1] - x[0], dy = y[1] - y[0], length = sqrt(dx * dx + dy * dy);
    if ((from - to) * length > 2.0 * tolerance) {
        return 0;
    }
    const double at[2] = {from, to};
    for (int k = 0; k < 2; k++) {
        const double vx = x[0] + at[k] * dx, vy = y[0] + at[k] * dy;
        vertices[k] = (spatial_vertex){.x = vx,
                                       .y = vy,
                                       .z_p = z[0] + at[k] * (z[1] - z[0]),
                                       .z_q = height(q, vx, vy),
                                       .part_p = cut[k] ? 1 : 2 * k,
                                       .part_q = cut[k] ? border(q, vx, vy, tolerance) : SPATIAL_INSIDE};
    }
    return (to - from) * length > 2.0 * tolerance ? 2 : 1;
}

/* Twice the triangle of a remaining corner and its neighbours. */
static double triangle(const spatial_thinning *p, const int *left, int count, int i)
{
    const int a = left[i > 0 ? i - 1 : count - 1], b = left[i], c = left[next(i, count)];
    return b == p->kept ? INFINITY
                        : fabs((p->x[b] - p->x[a]) * (p->y[c] - p->y[a]) - (p->y[b] - p->y[a]) * (p->x[c] - p->x[a]));
}

/* Twice the areas that differ by less are equal: a corner that moves by the noise changes a triangle by no more than
 * that times a diagonal, which is less than half the border. */
static double equal_areas(const spatial_thinning *p, int count)
{
    double area = 0.0, border = 0.0;
    for (int i = 0; i < count; i++) {
        const int k = next(i, count);
        const double ux = p->x[i] - p->x[0], uy = p->y[i] - p->y[0];
        const double ex = p->x[k] - p->x[i], ey = p->y[k] - p->y[i];
        area += ux * ey - uy * ex;
        border += sqrt(ex * ex + ey * ey);
    }
    return fmax(AREAS_EQUAL * fabs(area), p->noise * border);
}

/* Of the remaining corners the one to go. */
static int choose(const spatial_thinning *p, const double *area, const int *left, int count, double slack)
{
    double least = INFINITY;
    for (int i = 0; i < count; i++) {
        least = area[i] < least ? area[i] : least;
    }
    int drop = -1;
    for (int i = 0; i < count; i++) {
        const bool higher = drop < 0 || p->rank == NULL || p->rank[left[i]] >= p->rank[left[drop]];
        drop = area[i] <= least + slack && left[i] != p->kept && higher ? i : drop;
    }
    return drop >= 0 ? drop : count - 1;
}

int perp_spatial_thin(const spatial_thinning *polygon, int count, int most, int *left)
{
    assert(count <= SPATIAL_THIN_MAX && most >= 3);
    double area[SPATIAL_THIN_MAX];
    for (int i = 0; i < count; i++) {
        left[i] = i;
    }
    if (count <= most) {
        return count;
    }
    const double slack = equal_areas(polygon, count);
    for (int i = 0; i < count; i++) {
        area[i] = triangle(polygon, left, count, i);
    }
    while (count > most) {
        const int drop = choose(polygon, area, left, count, slack);
        count--;
        for (int i = drop; i < count; i++) {
            left[i] = left[i + 1];
            area[i] = area[i + 1];
        }
        const int before = drop > 0 ? drop - 1 : count - 1, after = drop < count ? drop : 0;
        area[before] = triangle(polygon, left, count, before);
        area[after] = triangle(polygon, left, count, after);
    }
    return count;
}

/* Of the corners that were dropped the one to come back, and its place among those left; -1: none. */
static int choose_back(const spatial_thinning *p, const double *weight, int count, const int *left, int remaining,
                       int *place)
{
    const double slack = equal_areas(p, count);
    int best = -1;
    double most = 0.0;
    for (int b = 0, k = 0; b < count; b++) { /* k: the first of those left that is not before b */
        k += k < remaining && left[k] < b ? 1 : 0;
        if ((k < remaining && left[k] == b) || !(weight[b] > 0.0)) {
            continue;
        }
        const int a = left[k > 0 ? k - 1 : remaining - 1], c = left[k < remaining ? k : 0];
        const double area =
            weight[b] * fabs((p->x[b] - p->x[a]) * (p->y[c] - p->y[a]) - (p->y[b] - p->y[a]) * (p->x[c] - p->x[a]));
        if (best < 0 || area > most + slack || (area > most - slack && p->rank[b] < p->rank[best])) {
            best = b;
            most = area;
            *place = k;
        }
    }
    return best;
}

int perp_spatial_thicken(const spatial_thinning *polygon, const double *weight, int count, int most, int *left,
                         int remaining)
{
    while (remaining < most) {
        int at = 0;
        const int corner = choose_back(polygon, weight, count, left, remaining, &at);
        if (corner < 0) {
            break;
        }
        for (int i = remaining; i > at; i--) {
            left[i] = left[i - 1];
        }
        left[at] = corner;
        remaining++;
    }
    return remaining;
}
