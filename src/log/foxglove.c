/* A step as foxglove.SceneUpdate (docs.foxglove.dev, message schemas): one entity per body with its shapes, one for the
 * contacts with their forces. Everything is in every message, in the frame "world", so that any time can be shown. */
#include "log/format.h"
#include "scene/shape_kinds.h"
#include "trace/palette.h"

#include <stdio.h>
#include <string.h>

/* rad: directions that are nearer are parallel, and any axis turns one into the other: rounding of a cross product. */
static const double NO_AXIS = 1e-12;
/* of the scene's size: shorter arrows are not seen, and left out. */
static const double ARROW_LEAST = 1e-6;

typedef struct color {
    double r, g, b, a;
} color;

/* Okabe and Ito's colours, which most people can tell apart. */
static const color palette[] = {{0.34, 0.71, 0.91, 0.8}, {0.90, 0.62, 0.00, 0.8}, {0.00, 0.62, 0.45, 0.8},
                                {0.94, 0.89, 0.26, 0.8}, {0.00, 0.45, 0.70, 0.8}, {0.84, 0.37, 0.00, 0.8},
                                {0.80, 0.47, 0.65, 0.8}};
static const color grey = {0.6, 0.6, 0.6, 0.6};

static color mode_color(perp_contact_mode mode)
{
    const palette_colour c = perp_palette_mode(mode);
    return (color){c.rgb[0], c.rgb[1], c.rgb[2], 1.0};
}

/* Foxglove wants the primitives of an entity sorted by kind. */
typedef enum primitive_kind { CUBES, SPHERES, CYLINDERS, LINES, TRIANGLES } primitive_kind;

/* What an entity is put together of, and how large things are. */
typedef struct painter {
    byte_row *row;
    const perp_model *model;
    const perp_kinematics *kinematics;
    double size;  /* m: of the scene */
    double thick; /* m: what planar shapes are drawn with */
    const char *separator;
    primitive_kind primitive; /* the kind that is being written */
} painter;

static void text(painter *p, const char *constant)
{
    perp_bytes_text(p->row, constant);
}

static void vector(painter *p, perp_vec3 a)
{
    perp_bytes_json(p->row, "{\"x\":%g,\"y\":%g,\"z\":%g}", a.x, a.y, a.z);
}

static void pose(painter *p, perp_pose at)
{
    const perp_quat r = at.rotation;
    text(p, "{\"position\":");
    vector(p, at.position);
    perp_bytes_json(p->row, ",\"orientation\":{\"x\":%g,\"y\":%g,\"z\":%g,\"w\":%g}}", r.x, r.y, r.z, r.w);
}

static void paint(painter *p, color c)
{
    perp_bytes_json(p->row, ",\"color\":{\"r\":%g,\"g\":%g,\"b\":%g,\"a\":%g}", c.r, c.g, c.b, c.a);
}

static void points(painter *p, const perp_vec3 *places, int count)
{
    for (int i = 0; i < count; i++) {
        text(p, i > 0 ? "," : "");
        vector(p, places[i]);
    }
}

/* A cube, sphere or cylinder by its bounding box, where it is these that are being written. */
static void solid(painter *p, primitive_kind kind, perp_pose at, perp_vec3 size, color c)
{
    if (p->primitive != kind) {
        return;
    }
    text(p, p->separator);
    text(p, "{\"pose\":");
    pose(p, at);
    text(p, ",\"size\":");
    vector(p, size);
    text(p, kind == CYLINDERS ? ",\"bottom_scale\":1,\"top_scale\":1" : "");
    paint(p, c);
    text(p, "}");
    p->separator = ",";
}

static perp_pose shifted(perp_pose at, perp_vec3 by)
{
    const perp_pose inner = {perp_quat_identity(), by};
    return perp_pose_mul(at, inner);
}

/* The rotation that takes `from` to `to`, both unit. */
static perp_quat turn(perp_vec3 from, perp_vec3 to)
{
    const perp_vec3 axis = perp_vec3_cross(from, to);
    const double sine = perp_vec3_norm(axis), cosine = perp_vec3_dot(from, to);
    if (sine < NO_AXIS) {
        perp_vec3 t, o;
        perp_tangents(from, &t, &o);
        return cosine > 0.0 ? perp_quat_identity() : perp_quat_from_axis_angle(t, 3.14159265358979323846);
    }
    return perp_quat_from_axis_angle(perp_vec3_scale(1.0 / sine, axis), atan2(sine, cosine));
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static void cube(painter *p, perp_pose at, perp_vec3 size, color c)
{
    solid(p, CUBES, at, size, c);
}

static void sphere(painter *p, perp_pose at, perp_vec3 size, color c)
{
    solid(p, SPHERES, at, size, c);
}

static void cylinder(painter *p, perp_pose at, double diameter, double length, color c)
{
    solid(p, CYLINDERS, at, perp_vec3_make(diameter, diameter, length), c);
}

static void capsule(painter *p, const perp_shape *s, perp_pose at, color c)
{
    const double d = 2.0 * s->radius;
    for (int side = -1; side <= 1; side += 2) {
        const double end = 0.5 * side * s->length;
        if (p->model->planar) {
            cylinder(p, shifted(at, perp_vec3_make(end, 0, 0)), d, p->thick, c);
        } else {
            sphere(p, shifted(at, perp_vec3_make(0, 0, end)), perp_vec3_make(d, d, d), c);
        }
    }
    if (p->model->planar) {
        cube(p, at, perp_vec3_make(s->length, d, p->thick), c);
    } else {
        cylinder(p, at, d, s->length, c);
    }
}

/* A slab below the surface. */
static void plane(painter *p, const perp_shape *s, perp_pose at, color c)
{
    const bool planar = p->model->planar;
    const double slab = 0.02 * p->size, wide = 2.0 * p->size;
    const perp_pose inner = {turn(planar ? perp_vec3_make(0, 1, 0) : perp_vec3_make(0, 0, 1), s->normal),
                             perp_vec3_scale(s->offset - 0.5 * slab, s->normal)};
    cube(p, perp_pose_mul(at, inner), planar ? perp_vec3_make(wide, slab, p->thick) : perp_vec3_make(wide, wide, slab),
         c);
}

static void begin_lines(painter *p, perp_pose at)
{
    text(p, p->separator);
    text(p, "{\"type\":1,\"pose\":"); /* a closed line */
    pose(p, at);
    text(p, ",\"thickness\":2,\"scale_invariant\":true,\"points\":[");
}

static void end_lines(painter *p, color c)
{
    text(p, "]");
    paint(p, c);
    text(p, ",\"colors\":[],\"indices\":[]}");
    p->separator = ",";
}

static void polygon(painter *p, const perp_shape *s, perp_pose at, color c)
{
    if (p->primitive != LINES) {
        return;
    }
    begin_lines(p, at);
    points(p, s->points, s->point_count);
    end_lines(p, c);
}

/* Its rims. */
static void hole(painter *p, const perp_shape *s, perp_pose at, color c)
{
    enum { SEGMENTS = 32 };
    for (int rim = 0; p->primitive == LINES && rim < (p->model->planar ? 1 : 2); rim++) {
        begin_lines(p, at);
        for (int i = 0; i < SEGMENTS; i++) {
            const double angle = 2.0 * 3.14159265358979323846 * i / SEGMENTS;
            text(p, i > 0 ? "," : "");
            vector(p, perp_vec3_make(s->radius * cos(angle), s->radius * sin(angle),
                                     p->model->planar ? 0.0 : (rim - 0.5) * s->length));
        }
        end_lines(p, c);
    }
}

static void hull(painter *p, const perp_shape *s, perp_pose at, color c)
{
    if (p->primitive != TRIANGLES) {
        return;
    }
    text(p, p->separator);
    text(p, "{\"pose\":");
    pose(p, at);
    text(p, ",\"points\":[");
    points(p, s->hull_points, s->hull_point_count);
    text(p, "]");
    paint(p, c);
    text(p, ",\"colors\":[],\"indices\":[");
    for (int i = 0; i < 3 * s->hull_triangle_count; i++) {
        text(p, i > 0 ? "," : "");
        perp_bytes_integer(p->row, s->hull_triangles[i]);
    }
    text(p, "]}");
    p->separator = ",";
}

/* One kind of shape, as far as it is drawn by primitives of the kind that is being written. */
static void draw_shape(painter *p, const perp_shape *s, perp_pose at, color c)
{
    const double d = 2.0 * s->radius, dot = 0.02 * p->size;
    const bool planar = p->model->planar;
    switch (s->kind) {
    case PERP_SHAPE_NONE:
        break;
    case PERP_SHAPE_POINT:
        sphere(p, at, perp_vec3_make(dot, dot, dot), c);
        break;
    case PERP_SHAPE_SPHERE:
        sphere(p, at, perp_vec3_make(d, d, d), c);
        break;
    case PERP_SHAPE_DISC:
        cylinder(p, at, d, p->thick, c);
        break;
    case PERP_SHAPE_BOX:
        cube(p, at, perp_vec3_make(s->size.x, s->size.y, planar ? p->thick : s->size.z), c);
        break;
    case PERP_SHAPE_CAPSULE:
        capsule(p, s, at, c);
        break;
    case PERP_SHAPE_CYLINDER:
        cylinder(p, at, d, s->length, c);
        break;
    case PERP_SHAPE_ELLIPSOID:
        sphere(p, at, perp_vec3_scale(2.0, s->size), c);
        break;
    case PERP_SHAPE_PLANE:
    case PERP_SHAPE_HALFPLANE:
        plane(p, s, at, c);
        break;
    case PERP_SHAPE_MESH:
        hull(p, s, at, c);
        break;
    case PERP_SHAPE_POLYGON:
        polygon(p, s, at, c);
        break;
    case PERP_SHAPE_HOLE:
        hole(p, s, at, c);
        break;
    }
}

/* ---- entities ---------------------------------------------------------------------------------------------------- */

static void begin_entity(painter *p, double t, const char *kind, const char *name)
{
    const uint64_t time = perp_log_time(t);
    char id[PERP_SCENE_MAX_NAME + 16];
    snprintf(id, sizeof id, "%s%.*s", kind, PERP_SCENE_MAX_NAME, name);
    text(p, "{\"timestamp\":{\"sec\":");
    perp_bytes_integer(p->row, (long long)(time / 1000000000u));
    perp_bytes_json(p->row, ",\"nsec\":%d},\"frame_id\":\"world\",\"id\":%s", (int)(time % 1000000000u), id);
    text(p, ",\"lifetime\":{\"sec\":0,\"nsec\":0},\"frame_locked\":false");
}

static void body_entity(painter *p, double t, int body)
{
    static const char *const keys[] = {[CUBES] = ",\"cubes\":[",
                                       [SPHERES] = "],\"spheres\":[",
                                       [CYLINDERS] = "],\"cylinders\":[",
                                       [LINES] = "],\"lines\":[",
                                       [TRIANGLES] = "],\"triangles\":["};
    const perp_body *b = &p->model->scene->bodies[body];
    const color c = p->model->links[body].tree < 0 ? grey : palette[(size_t)body % (sizeof palette / sizeof *palette)];
    begin_entity(p, t, "body ", b->name);
    text(p, ",\"metadata\":[],\"arrows\":[]");
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        text(p, keys[k]);
        p->separator = "";
        p->primitive = (primitive_kind)k;
        for (int i = 0; i < b->shape_count; i++) {
            draw_shape(p, &b->shapes[i], perp_pose_mul(p->kinematics->pose[body], b->shapes[i].pose.pose), c);
        }
    }
    text(p, "],\"texts\":[],\"models\":[]}");
}

/* Metres of arrow per newton: the weight of all that moves, or 1 N where there is less, is a third of the scene. */
static double arrow_scale(const painter *p)
{
    double mass = 0.0;
    for (int i = 0; i < p->model->body_count; i++) {
        mass += p->model->links[i].tree >= 0 ? p->model->links[i].mass : 0.0;
    }
    const double weight = mass * perp_vec3_norm(p->model->scene->gravity);
    return p->size / 3.0 / fmax(weight, 1.0);
}

static void arrow(painter *p, const perp_contact_record *record, double length)
{
    const perp_vec3 direction = perp_vec3_normalise(record->force_on_b);
    const double head = 0.02 * p->size, shaft = 0.4 * head;
    const perp_pose at = {turn(perp_vec3_make(1, 0, 0), direction), perp_contact_midpoint(&record->contact)};
    text(p, p->separator);
    text(p, "{\"pose\":");
    pose(p, at);
    perp_bytes_json(p->row, ",\"shaft_length\":%g,\"shaft_diameter\":%g,\"head_length\":%g,\"head_diameter\":%g",
                    fmax(length - head, 0.0), shaft, fmin(head, length), head);
    paint(p, mode_color(record->mode));
    text(p, "}");
    p->separator = ",";
}

static void contacts_entity(painter *p, double t, const perp_step_info *info)
{
    const double scale = arrow_scale(p), dot = 0.012 * p->size;
    char value[64];
    snprintf(value, sizeof value, "%.6g m per N", scale);
    begin_entity(p, t, "contacts", "");
    perp_bytes_json(p->row, ",\"metadata\":[{\"key\":\"arrows\",\"value\":%s}],\"arrows\":[", value);
    p->separator = "";
    for (int i = 0; i < info->contact_count; i++) {
        const double length = scale * perp_vec3_norm(info->contacts[i].force_on_b);
        if (length > ARROW_LEAST * p->size) {
            arrow(p, &info->contacts[i], length);
        }
    }
    text(p, "],\"cubes\":[],\"spheres\":[");
    p->separator = "";
    p->primitive = SPHERES;
    for (int i = 0; i < info->contact_count; i++) {
        const perp_pose at = {perp_quat_identity(), perp_contact_midpoint(&info->contacts[i].contact)};
        sphere(p, at, perp_vec3_make(dot, dot, dot), mode_color(info->contacts[i].mode));
    }
    text(p, "],\"cylinders\":[],\"lines\":[],\"triangles\":[],\"texts\":[],\"models\":[]}");
}

/* How far shapes reach from their body's origin; planes and holes have no end of their own. */
static double reach_of(const perp_shape *s)
{
    double reach = 0.0;
    const bool endless = s->kind == PERP_SHAPE_PLANE || s->kind == PERP_SHAPE_HALFPLANE;
    int count;
    const perp_vec3 *points = perp_shape_corners(s, &count);
    for (int i = 0; i < count; i++) {
        reach = fmax(reach, perp_vec3_norm(points[i]));
    }
    return endless ? 0.0
                   : perp_vec3_norm(s->pose.pose.position) +
                         fmax(reach, fmax(s->radius + 0.5 * s->length, perp_vec3_norm(s->size)));
}

/* A length for what has none: the scene as it is written, so that it is the same in every step. */
static double scene_size(const perp_model *model)
{
    double size = 0.0;
    for (int i = 0; i < model->body_count; i++) {
        const perp_body *b = &model->scene->bodies[i];
        for (int k = 0; k < b->shape_count; k++) {
            size = fmax(size, perp_vec3_norm(b->pose.pose.position) + reach_of(&b->shapes[k]));
        }
    }
    return size > 0.0 && isfinite(size) ? size : 1.0;
}

void perp_log_put_scene(byte_row *row, const perp_model *model, const perp_kinematics *kinematics, double t,
                        const perp_step_info *info)
{
    painter p = {.row = row, .model = model, .kinematics = kinematics, .size = scene_size(model)};
    p.thick = 0.05 * p.size;
    text(&p, "{\"deletions\":[],\"entities\":[");
    for (int i = 0; i < model->body_count; i++) {
        body_entity(&p, t, i);
        text(&p, ",");
    }
    contacts_entity(&p, t, info);
    text(&p, "]}");
}
