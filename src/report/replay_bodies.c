#include "report/replay_header.h"

#include "scene/shape_kinds.h"
#include "trace/json_maker.h"

static json_t *vector(perp_vec3 v)
{
    const double values[3] = {v.x, v.y, v.z};
    return perp_json_reals(values, 3);
}

static json_t *vectors(const perp_vec3 *points, int count)
{
    json_t *array = json_array();
    for (int i = 0; array && i < count; i++) {
        array = perp_json_appended(array, vector(points[i]));
    }
    return array;
}

static void put_points(json_maker *m, const perp_shape *shape)
{
    int count;
    const perp_vec3 *corners = perp_shape_corners(shape, &count);
    if (count > 0) {
        perp_json_put(m, "points", vectors(corners, count));
    }
    if (shape->hull_triangle_count > 0) {
        json_t *triangles = json_array();
        for (int i = 0; triangles && i < 3 * shape->hull_triangle_count; i++) {
            triangles = perp_json_appended(triangles, json_integer(shape->hull_triangles[i]));
        }
        perp_json_put(m, "triangles", triangles);
    }
}

static json_t *shape_json(const perp_shape *shape)
{
    const perp_quat turn = shape->pose.pose.rotation;
    const double quat[4] = {turn.w, turn.x, turn.y, turn.z};
    json_maker m = perp_json_object();
    perp_json_put(&m, "kind", json_string(perp_shape_kind_name(shape->kind)));
    if (shape->name) {
        perp_json_put(&m, "name", json_string(shape->name));
    }
    perp_json_put(&m, "position", vector(shape->pose.pose.position));
    perp_json_put(&m, "quat", perp_json_reals(quat, 4));
    perp_json_put(&m, "radius", perp_json_real(shape->radius));
    perp_json_put(&m, "length", perp_json_real(shape->length));
    perp_json_put(&m, "size", vector(shape->size));
    perp_json_put(&m, "normal", vector(shape->normal));
    perp_json_put(&m, "offset", perp_json_real(shape->offset));
    put_points(&m, shape);
    return perp_json_finished(&m);
}

static const char *kind_of(const perp_body *body)
{
    static const char *const kinds[] = {
        [PERP_BODY_FREE] = "free", [PERP_BODY_FIXED] = "fixed", [PERP_BODY_DRIVEN] = "driven"};
    return body->joint >= 0 ? "jointed" : kinds[body->kind];
}

json_t *perp_replay_bodies(const replay_run *run)
{
    json_t *bodies = json_array();
    for (int i = 0; bodies && i < run->head->body_count; i++) {
        const perp_body *body = run->scene && i < run->scene->body_count ? &run->scene->bodies[i] : NULL;
        json_t *shapes = json_array();
        for (int k = 0; body && shapes && k < body->shape_count; k++) {
            shapes = perp_json_appended(shapes, shape_json(&body->shapes[k]));
        }
        json_maker m = perp_json_object();
        perp_json_put(&m, "name", json_string(run->head->bodies[i]));
        perp_json_put(&m, "kind", json_string(body ? kind_of(body) : "free"));
        perp_json_put(&m, "shapes", shapes);
        bodies = perp_json_appended(bodies, perp_json_finished(&m));
    }
    return bodies;
}
