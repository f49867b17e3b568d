/* Rules of shapes. */
#include "scene_rules.h"

RULE(shape_type)
{
    add_shape(s, shape_of(bad ? PERP_SHAPE_NONE : PERP_SHAPE_POINT));
}
RULE(shape_type_range)
{
    add_shape(s, shape_of(bad ? (perp_shape_kind)PERP_SHAPE_COUNT : PERP_SHAPE_HOLE));
}
RULE(shape_friction)
{
    perp_shape shape = shape_of(PERP_SHAPE_BOX);
    shape.friction = perp_set(bad ? -0.1 : 0.0);
    add_shape(s, shape);
}
RULE(shape_density)
{
    perp_shape shape = shape_of(PERP_SHAPE_BOX);
    perp_body body = fixed_body("cup");
    shape.density = perp_set(bad ? -0.1 : 0.0);
    body.shapes = &shape;
    body.shape_count = 1;
    add_body(s, body);
}
RULE(shape_position)
{
    perp_shape shape = shape_of(PERP_SHAPE_BOX);
    shape.pose.pose.position.y = bad ? NAN : 1e9;
    add_shape(s, shape);
}
RULE(shape_quaternion)
{
    perp_shape shape = shape_of(PERP_SHAPE_BOX);
    shape.pose.pose.rotation = (perp_quat){bad ? 1.011 : 1 + 1e-7, 0, 0, 0};
    add_shape(s, shape);
}
RULE(shape_angle)
{
    perp_shape shape = shape_of(PERP_SHAPE_BOX);
    shape.pose.angle = bad ? INFINITY : 1e6;
    add_shape(s, shape);
}
RULE(sphere_radius)
{
    perp_shape shape = shape_of(PERP_SHAPE_SPHERE);
    shape.radius = bad ? 0.0 : 1e-9;
    add_shape(s, shape);
}
RULE(disc_radius)
{
    perp_shape shape = shape_of(PERP_SHAPE_DISC);
    shape.radius = bad ? NAN : 1e-9;
    add_shape(s, shape);
}
RULE(capsule_radius)
{
    perp_shape shape = shape_of(PERP_SHAPE_CAPSULE);
    shape.radius = bad ? -1.0 : 1e-9;
    add_shape(s, shape);
}
RULE(capsule_length)
{
    perp_shape shape = shape_of(PERP_SHAPE_CAPSULE);
    shape.length = bad ? 0.0 : 1e-9;
    add_shape(s, shape);
}
RULE(cylinder_length)
{
    perp_shape shape = shape_of(PERP_SHAPE_CYLINDER);
    shape.length = bad ? 0.0 : 1e-9;
    add_shape(s, shape);
}
RULE(hole_radius)
{
    perp_shape shape = shape_of(PERP_SHAPE_HOLE);
    shape.radius = bad ? 0.0 : 1e-9;
    add_shape(s, shape);
}
RULE(hole_length)
{
    perp_shape shape = shape_of(PERP_SHAPE_HOLE);
    shape.length = bad ? 0.0 : 1e-9;
    add_shape(s, shape);
}
RULE(box_size)
{
    perp_shape shape = shape_of(PERP_SHAPE_BOX);
    shape.size.y = bad ? 0.0 : 1e-9;
    add_shape(s, shape);
}
RULE(box_depth)
{
    perp_shape shape = shape_of(PERP_SHAPE_BOX);
    shape.size.z = bad ? -1.0 : 1e-9;
    add_shape(s, shape);
}
RULE(ellipsoid_size)
{
    perp_shape shape = shape_of(PERP_SHAPE_ELLIPSOID);
    shape.size.x = bad ? INFINITY : 1e9;
    add_shape(s, shape);
}
RULE(plane_normal)
{
    perp_shape shape = shape_of(PERP_SHAPE_PLANE);
    shape.normal = perp_vec3_make(0, bad ? 0 : 1e-200, 0);
    add_shape(s, shape);
}
RULE(halfplane_normal)
{
    perp_shape shape = shape_of(PERP_SHAPE_HALFPLANE);
    shape.normal.x = bad ? NAN : 3.0;
    add_shape(s, shape);
}
RULE(plane_offset)
{
    perp_shape shape = shape_of(PERP_SHAPE_PLANE);
    shape.offset = bad ? INFINITY : -1e9;
    add_shape(s, shape);
}
RULE(mesh_scale)
{
    perp_shape shape = shape_of(PERP_SHAPE_MESH);
    shape.scale = bad ? 0.0 : 1e-9;
    add_shape(s, shape);
}
RULE(mesh_points_and_file)
{
    perp_shape shape = shape_of(PERP_SHAPE_MESH);
    shape.file = "part.obj";
    shape.point_count = bad ? 4 : 0;
    add_shape(s, shape);
}
RULE(mesh_few_points)
{
    perp_shape shape = shape_of(PERP_SHAPE_MESH);
    shape.point_count = bad ? 3 : 4;
    add_shape(s, shape);
}
RULE(mesh_point_finite)
{
    const perp_vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, bad ? NAN : 2}};
    perp_shape shape = shape_of(PERP_SHAPE_MESH);
    shape.points = points;
    add_shape(s, shape);
}

static void add_polygon(perp_scene *s, const perp_vec3 *points, int count)
{
    perp_shape shape = shape_of(PERP_SHAPE_POLYGON);
    shape.points = points;
    shape.point_count = count;
    add_shape(s, shape);
}
RULE(polygon_few)
{
    const perp_vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    add_polygon(s, points, bad ? 2 : 3);
}
RULE(polygon_many)
{
    static perp_vec3 points[2001];
    const int n = bad ? 2001 : 2000;
    for (int i = 0; i < n; i++) {
        points[i] = perp_vec3_make(cos(6.283185307179586 * i / n), sin(6.283185307179586 * i / n), 0);
    }
    add_polygon(s, points, n);
}
RULE(polygon_finite)
{
    const perp_vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {0, bad ? INFINITY : 5, 0}};
    add_polygon(s, points, 3);
}
RULE(polygon_repeats)
{
    const perp_vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {1, bad ? 0 : 1e-9, 0}, {0, 1, 0}};
    add_polygon(s, points, 4);
}
RULE(polygon_folds)
{
    /* straight on through a corner is harmless, back along the edge is not */
    const perp_vec3 points[] = {{0, 0, 0}, {2, 0, 0}, {bad ? 1 : 3, 0, 0}, {0, 1, 0}};
    add_polygon(s, points, 4);
}
RULE(polygon_crosses)
{
    const perp_vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {bad ? 0 : 1, 1, 0}, {bad ? 1 : 0, 1, 0}};
    add_polygon(s, points, 4);
}
RULE(polygon_touches)
{
    const perp_vec3 points[] = {{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {1, bad ? 0 : 1e-9, 0}, {0, 1, 0}};
    add_polygon(s, points, 5);
}
RULE(polygon_area)
{
    const double tiny = bad ? 1e-200 : 1e-100; /* whose products are zero */
    const perp_vec3 points[] = {{0, 0, 0}, {tiny, 0, 0}, {0, tiny, 0}};
    add_polygon(s, points, 3);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const rule rules[] = {
    {shape_type, BOTH, "bodies.cup.shapes.0", "needs a type"},
    {shape_type_range, BOTH, "bodies.cup.shapes.0", "needs a type"},
    {shape_friction, BOTH, "bodies.cup.shapes.0.friction", "must not be negative"},
    {shape_density, BOTH, "bodies.cup.shapes.0.density", "must not be negative"},
    {shape_position, BOTH, "bodies.cup.shapes.0.pose.position", "finite components"},
    {shape_quaternion, SPATIAL, "bodies.cup.shapes.0.pose.quat_wxyz", "has length 1"},
    {shape_angle, PLANAR, "bodies.cup.shapes.0.pose.angle", "finite number"},
    {sphere_radius, SPATIAL, "bodies.cup.shapes.0.sphere", "must be positive"},
    {disc_radius, PLANAR, "bodies.cup.shapes.0.disc", "finite number"},
    {capsule_radius, BOTH, "bodies.cup.shapes.0.capsule.radius", "must be positive"},
    {capsule_length, BOTH, "bodies.cup.shapes.0.capsule.length", "must be positive"},
    {cylinder_length, SPATIAL, "bodies.cup.shapes.0.cylinder.length", "must be positive"},
    {hole_radius, BOTH, "bodies.cup.shapes.0.hole.radius", "must be positive"},
    {hole_length, SPATIAL, "bodies.cup.shapes.0.hole.length", "must be positive"},
    {box_size, BOTH, "bodies.cup.shapes.0.box", "must be positive"},
    {box_depth, SPATIAL, "bodies.cup.shapes.0.box", "must be positive"},
    {ellipsoid_size, SPATIAL, "bodies.cup.shapes.0.ellipsoid", "finite components"},
    {plane_normal, SPATIAL, "bodies.cup.shapes.0.plane.normal", "zero vector"},
    {halfplane_normal, PLANAR, "bodies.cup.shapes.0.halfplane.normal", "finite components"},
    {plane_offset, SPATIAL, "bodies.cup.shapes.0.plane.offset", "finite number"},
    {mesh_scale, SPATIAL, "bodies.cup.shapes.0.mesh.scale", "must be positive"},
    {mesh_points_and_file, SPATIAL, "bodies.cup.shapes.0.mesh", "not both"},
    {mesh_few_points, SPATIAL, "bodies.cup.shapes.0.mesh", "at least 4"},
    {mesh_point_finite, SPATIAL, "bodies.cup.shapes.0.mesh.points", "finite components"},
    {polygon_few, PLANAR, "bodies.cup.shapes.0.polygon", "3 to 2000 corners"},
    {polygon_many, PLANAR, "bodies.cup.shapes.0.polygon", "3 to 2000 corners"},
    {polygon_finite, PLANAR, "bodies.cup.shapes.0.polygon", "finite components"},
    {polygon_repeats, PLANAR, "bodies.cup.shapes.0.polygon", "same point"},
    {polygon_folds, PLANAR, "bodies.cup.shapes.0.polygon", "runs back"},
    {polygon_crosses, PLANAR, "bodies.cup.shapes.0.polygon", "crosses itself"},
    {polygon_touches, PLANAR, "bodies.cup.shapes.0.polygon", "crosses itself"},
    {polygon_area, PLANAR, "bodies.cup.shapes.0.polygon", "no area"},
};

static void test_every_rule(void **state)
{
    (void)state;
    assert_int_equal(broken_rules(rules, COUNT(rules)), 0);
}

/* Which shapes belong to the plane and which to space; the other ones are refused with their name. */
static void test_shapes_of_each_dimension(void **state)
{
    (void)state;
    static const int where[PERP_SHAPE_COUNT] = {
        [PERP_SHAPE_POINT] = BOTH,        [PERP_SHAPE_SPHERE] = SPATIAL, [PERP_SHAPE_DISC] = PLANAR,
        [PERP_SHAPE_BOX] = BOTH,          [PERP_SHAPE_CAPSULE] = BOTH,   [PERP_SHAPE_CYLINDER] = SPATIAL,
        [PERP_SHAPE_ELLIPSOID] = SPATIAL, [PERP_SHAPE_PLANE] = SPATIAL,  [PERP_SHAPE_HALFPLANE] = PLANAR,
        [PERP_SHAPE_MESH] = SPATIAL,      [PERP_SHAPE_POLYGON] = PLANAR, [PERP_SHAPE_HOLE] = BOTH,
    };
    for (int kind = 1; kind < PERP_SHAPE_COUNT; kind++) {
        for (int planar = 0; planar < 2; planar++) {
            perp_scene *scene = new_scene(planar);
            add_shape(scene, shape_of((perp_shape_kind)kind));
            const bool fits = where[kind] & (planar ? PLANAR : SPATIAL);
            assert_int_equal(validate(scene), fits ? PERP_STATUS_OK : PERP_STATUS_BAD_INPUT);
            if (!fits) {
                char path[64];
                snprintf(path, sizeof path, "bodies.cup.shapes.0.%s", perp_shape_kind_name((perp_shape_kind)kind));
                assert_string_equal(diagnostics.items[0].path, path);
                assert_non_null(
                    strstr(diagnostics.items[0].message, planar ? "is a spatial shape" : "is a planar shape"));
            }
            perp_scene_free(scene);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_rule),
        cmocka_unit_test(test_shapes_of_each_dimension),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
