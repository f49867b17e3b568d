/* spatial_manifold_test.h - what the tests of spatial manifolds and curvatures share. */
#ifndef PERP_TESTS_GEOMETRY_SPATIAL_MANIFOLD_TEST_H
#define PERP_TESTS_GEOMETRY_SPATIAL_MANIFOLD_TEST_H

#include "spatial_shapes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define pi 3.14159265358979323846
#define half_root 0.70710678118654752 /* sqrt(1/2) */

static inline void near_(double value, double expected, double tolerance, int line)
{
    if (!(fabs(value - expected) <= tolerance)) {
        print_error("line %d: %.17g is not %.17g to %g\n", line, value, expected, tolerance);
        fail();
    }
}
#define NEAR(value, expected, tolerance) near_(value, expected, tolerance, __LINE__)

static inline body cylinder(perp_vec3 at, perp_quat turn, double length, double radius)
{
    body b = new_body(PERP_SPATIAL_CYLINDER, radius);
    b.shape.half_length = length / 2;
    b.size = fmax(length, 2 * radius);
    b.smallest = fmin(length, 2 * radius);
    b.pose = (perp_pose){turn, at};
    place(&b);
    return b;
}

static inline body ellipsoid(perp_vec3 at, perp_quat turn, perp_vec3 half)
{
    body b = new_body(PERP_SPATIAL_ELLIPSOID, 0);
    b.shape.half_lengths = half;
    b.pose = (perp_pose){turn, at};
    place(&b);
    return b;
}

static inline perp_manifold manifold(const body *a, const body *b)
{
    return perp_spatial_manifold_build(&a->shape, &b->shape, INFINITY);
}

static inline perp_quat about_x(double angle)
{
    return perp_quat_from_axis_angle(vec(1, 0, 0), angle);
}
static inline perp_quat about_y(double angle)
{
    return perp_quat_from_axis_angle(vec(0, 1, 0), angle);
}
static inline perp_quat about_z(double angle)
{
    return perp_quat_from_axis_angle(vec(0, 0, 1), angle);
}

static inline int corner(int i)
{
    return perp_feature(PERP_FEATURE_CORNER, i);
}
static inline int edge(int i)
{
    return perp_feature(PERP_FEATURE_EDGE, i);
}
static inline int face(int i)
{
    return perp_feature(PERP_FEATURE_FACE, i);
}
static inline int rim(int i)
{
    return perp_feature(PERP_FEATURE_RIM, i);
}
static inline int side(int i)
{
    return perp_feature(PERP_FEATURE_SIDE, i);
}
enum { surface = PERP_FEATURE_SURFACE };

static inline double polygon_area(const perp_manifold *m)
{
    perp_vec3 sum = {0, 0, 0};
    for (int i = 0; i < m->count; i++) {
        const perp_vec3 o = m->points[0].at.point_a;
        const perp_vec3 p = perp_vec3_sub(m->points[i].at.point_a, o);
        const perp_vec3 q = perp_vec3_sub(m->points[(i + 1) % m->count].at.point_a, o);
        sum = perp_vec3_add_scaled(sum, 0.5, perp_vec3_cross(p, q));
    }
    return m->count > 0 ? perp_vec3_dot(sum, m->points[0].at.normal) : 0; /* positive: counter-clockwise about n */
}

static inline double least_gap(const perp_manifold *m)
{
    double least = INFINITY;
    for (int i = 0; i < m->count; i++) {
        least = fmin(least, m->points[i].at.phi);
    }
    return least;
}

#endif
