#include "ode_scene.h"

#include "pair_peers.h"

#include <ode/ode.h>

#include <math.h>
#include <stdlib.h>

enum { ROOM = 8 };

/* What a geom's data pointer points at. */
typedef struct part {
    int body;
    int weld;   /* the body itself, or the one whose fixed joints carry it */
    int parent; /* weld of the joint's parent; -1: none */
    bool fixed;
    perp_pose pose; /* in the body */
} part;

struct ode_scene {
    dSpaceID space;
    pair_ode *shapes;
    perp_spatial_hull hull;
    part *parts;
    int count, contacts;
    dContactGeom scratch[ROOM];
};

static bool as_spatial(const perp_shape *shape, const perp_spatial_hull *hull, perp_spatial_shape *out)
{
    *out = (perp_spatial_shape){.rotation = {{1, 0, 0, 0, 1, 0, 0, 0, 1}},
                                .radius = shape->radius,
                                .half_length = 0.5 * shape->length,
                                .half_lengths = perp_vec3_scale(0.5, shape->size),
                                .hull = hull};
    switch (shape->kind) {
    case PERP_SHAPE_SPHERE:
        out->kind = PERP_SPATIAL_POINT;
        return true;
    case PERP_SHAPE_ELLIPSOID:
        out->kind = PERP_SPATIAL_POINT;
        out->radius = cbrt(shape->size.x * shape->size.y * shape->size.z);
        return true;
    case PERP_SHAPE_BOX:
        out->kind = PERP_SPATIAL_BOX;
        return true;
    case PERP_SHAPE_CAPSULE:
        out->kind = PERP_SPATIAL_SEGMENT;
        return true;
    case PERP_SHAPE_CYLINDER:
        out->kind = PERP_SPATIAL_CYLINDER;
        return true;
    case PERP_SHAPE_MESH:
        out->kind = PERP_SPATIAL_HULL;
        return true;
    case PERP_SHAPE_PLANE: { /* of a fixed body at the origin, as all planes of the benchmark are */
        perp_vec3 t, o;
        const perp_vec3 n = shape->normal;
        perp_tangents(n, &t, &o);
        out->kind = PERP_SPATIAL_HALFSPACE;
        out->position = perp_vec3_scale(shape->offset, n);
        out->rotation = (perp_mat3){{t.x, o.x, n.x, t.y, o.y, n.y, t.z, o.z, n.z}};
        return true;
    }
    default:
        return false;
    }
}

static int weld_of(const perp_scene *scene, int body)
{
    while (body >= 0) {
        const int joint = scene->bodies[body].joint;
        if (joint < 0 || scene->joints[joint].kind != PERP_JOINT_FIXED) {
            break;
        }
        body = scene->joints[joint].parent_body;
    }
    return body;
}

static part describe(const perp_scene *scene, int body, const perp_shape *shape)
{
    const int weld = weld_of(scene, body), joint = weld < 0 ? -1 : scene->bodies[weld].joint;
    return (part){.body = body,
                  .weld = weld,
                  .parent = joint < 0 ? -1 : weld_of(scene, scene->joints[joint].parent_body),
                  .fixed = weld < 0 || scene->bodies[weld].kind == PERP_BODY_FIXED,
                  .pose = shape->pose.pose};
}

/* Shapes in the order of bodies; the hull of the first mesh serves all. */
static bool find_hull(const perp_scene *scene, perp_spatial_hull *hull)
{
    for (int b = 0; b < scene->body_count; b++) {
        for (int i = 0; i < scene->bodies[b].shape_count; i++) {
            const perp_shape *s = &scene->bodies[b].shapes[i];
            if (s->kind == PERP_SHAPE_MESH) {
                return perp_spatial_hull_prepare(s->hull_points, s->hull_point_count, s->hull_triangles,
                                                 s->hull_triangle_count, NULL, hull, NULL) == PERP_STATUS_OK;
            }
        }
    }
    return true;
}

static bool fill(ode_scene *s, const perp_scene *scene)
{
    int k = 0;
    for (int b = 0; b < scene->body_count; b++) {
        for (int i = 0; i < scene->bodies[b].shape_count; i++, k++) {
            perp_spatial_shape shape;
            if (!as_spatial(&scene->bodies[b].shapes[i], &s->hull, &shape)) {
                return false;
            }
            s->parts[k] = describe(scene, b, &scene->bodies[b].shapes[i]);
            pair_ode_set(s->shapes, k, &shape);
            dGeomSetData(pair_ode_geom(s->shapes, k), &s->parts[k]);
            dSpaceAdd(s->space, pair_ode_geom(s->shapes, k));
        }
    }
    return true;
}

ode_scene *ode_scene_open(const perp_model *model)
{
    const perp_scene *scene = model->scene;
    ode_scene *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    for (int b = 0; b < scene->body_count; b++) {
        s->count += scene->bodies[b].shape_count;
    }
    s->parts = calloc((size_t)s->count + 1, sizeof *s->parts);
    if (s->parts && find_hull(scene, &s->hull)) {
        s->shapes = pair_ode_open(s->count, s->hull.corner_count > 0 ? &s->hull : NULL); /* starts ODE, too */
        s->space = s->shapes ? dSweepAndPruneSpaceCreate(0, dSAP_AXES_XYZ) : NULL;
    }
    if (!s->space || !fill(s, scene)) {
        ode_scene_close(s);
        return NULL;
    }
    return s;
}

void ode_scene_close(ode_scene *s)
{
    if (s) {
        pair_ode_close(s->shapes); /* takes the geoms out of the space */
        if (s->space) {
            dSpaceDestroy(s->space);
        }
        perp_spatial_hull_free(&s->hull);
        free(s->parts);
        free(s);
    }
}

void ode_scene_move(ode_scene *s, const perp_kinematics *kinematics)
{
    for (int k = 0; k < s->count; k++) {
        const dGeomID geom = pair_ode_geom(s->shapes, k);
        if (dGeomGetClass(geom) != dPlaneClass) {
            const perp_pose pose = perp_pose_mul(kinematics->pose[s->parts[k].body], s->parts[k].pose);
            const dQuaternion q = {pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z};
            dGeomSetPosition(geom, pose.position.x, pose.position.y, pose.position.z);
            dGeomSetQuaternion(geom, q);
        }
    }
}

static void meet(void *data, dGeomID g, dGeomID h)
{
    ode_scene *s = data;
    const part *p = dGeomGetData(g), *q = dGeomGetData(h);
    const bool joined = (p->parent >= 0 && p->parent == q->weld) || (q->parent >= 0 && q->parent == p->weld);
    if (p->weld != q->weld && !(p->fixed && q->fixed) && !joined) {
        s->contacts += dCollide(g, h, ROOM, s->scratch, sizeof s->scratch[0]);
    }
}

int ode_scene_collide(ode_scene *s)
{
    s->contacts = 0;
    dSpaceCollide(s->space, s, meet);
    return s->contacts;
}
