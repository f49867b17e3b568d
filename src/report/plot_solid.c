#include "report/plot_scene.h"
#include "report/tolerances.h"

#include <stdio.h>
#include <string.h>

enum { ROUND = 24, MOST_TRIANGLES_WITH_EDGES = 3000 };

#define EDGE_COLOUR "#3c4957"
static const double FAR_OFF = 1e6;
static const double TURN = 6.28318530717958647693;

void perp_view_place(const plot_view *view, perp_vec3 point, double *x, double *y)
{
    /* fmin and fmax make a bound of what is no number */
    *x = fmax(-FAR_OFF, fmin(FAR_OFF, view->x + view->scale * perp_vec3_dot(point, view->right)));
    *y = fmax(-FAR_OFF, fmin(FAR_OFF, view->y - view->scale * perp_vec3_dot(point, view->up)));
}

double perp_view_length(const plot_view *view, double metres)
{
    return fmax(0.0, fmin(FAR_OFF, view->scale * metres));
}

void perp_plot_shade(const palette_colour *colour, double light, char text[8])
{
    unsigned channels[3];
    for (int k = 0; k < 3; k++) {
        const double shaded =
            light <= 1.0 ? light * colour->rgb[k] : 1.0 - (1.0 - colour->rgb[k]) * fmax(0.0, 2.0 - light);
        channels[k] = (unsigned)(255.0 * fmin(1.0, fmax(0.0, shaded)) + 0.5) & 0xffu;
    }
    snprintf(text, 8, "#%02x%02x%02x", channels[0], channels[1], channels[2]);
}

/* ---- building ---------------------------------------------------------------------------------------------------- */

static bool make_room(plot *p, solid *s, int points, int faces, int corners)
{
    s->points = PERP_ARENA_NEW(p->arena, perp_vec3, (size_t)points);
    s->faces = PERP_ARENA_NEW(p->arena, solid_face, (size_t)faces);
    s->corners = PERP_ARENA_NEW(p->arena, int, (size_t)corners);
    s->point_count = points;
    s->most_faces = faces;
    if (!s->points || !s->faces || !s->corners) {
        p->out_of_memory = true;
        return false;
    }
    return true;
}

/* A face whose corners were just appended; its normal from three of them, which are counter-clockwise seen from
 * outside. */
static void add_face(solid *s, int first, int count, unsigned no_edges)
{
    const perp_vec3 a = s->points[s->corners[first]], b = s->points[s->corners[first + 1]],
                    c = s->points[s->corners[first + 2]];
    const perp_vec3 normal = perp_vec3_normalise(perp_vec3_cross(perp_vec3_sub(b, a), perp_vec3_sub(c, a)));
    s->faces[s->face_count++] = (solid_face){first, count, normal, no_edges};
}

static bool build_box(plot *p, const perp_shape *shape, solid *s)
{
    static const int quads[6][4] = {{0, 2, 6, 4}, {1, 5, 7, 3}, {0, 4, 5, 1}, {2, 3, 7, 6}, {0, 1, 3, 2}, {4, 6, 7, 5}};
    if (!make_room(p, s, 8, 6, 24)) {
        return false;
    }
    for (int i = 0; i < 8; i++) { /* bits of i: z, y, x */
        s->points[i] = perp_vec3_make((i & 4 ? 0.5 : -0.5) * shape->size.x, (i & 2 ? 0.5 : -0.5) * shape->size.y,
                                      (i & 1 ? 0.5 : -0.5) * shape->size.z);
    }
    memcpy(s->corners, quads, sizeof quads);
    return true;
}

static void box_faces(solid *s)
{
    for (int f = 0; f < 6; f++) {
        /* the order of the table turns around where it looks inwards */
        const int first = 4 * f;
        const perp_vec3 a = s->points[s->corners[first]], b = s->points[s->corners[first + 1]],
                        c = s->points[s->corners[first + 2]];
        const perp_vec3 normal = perp_vec3_cross(perp_vec3_sub(b, a), perp_vec3_sub(c, a));
        if (perp_vec3_dot(normal, perp_vec3_sub(a, s->centre)) < 0.0) {
            const int swapped = s->corners[first + 1];
            s->corners[first + 1] = s->corners[first + 3];
            s->corners[first + 3] = swapped;
        }
        add_face(s, first, 4, 0);
    }
}

/* Sides, and for a cylinder its ends. */
static bool build_tube(plot *p, const perp_shape *shape, solid *s)
{
    if (!make_room(p, s, 2 * ROUND, ROUND + 2, 6 * ROUND)) {
        return false;
    }
    for (int i = 0; i < ROUND; i++) {
        const double angle = TURN * i / ROUND, x = shape->radius * cos(angle), y = shape->radius * sin(angle);
        s->points[i] = perp_vec3_make(x, y, -0.5 * shape->length);
        s->points[ROUND + i] = perp_vec3_make(x, y, 0.5 * shape->length);
    }
    return true;
}

static void tube_faces(solid *s)
{
    int at = 0;
    for (int i = 0; i < ROUND; i++) {
        const int next = (i + 1) % ROUND;
        const int outside[4] = {i, next, ROUND + next, ROUND + i}, inside[4] = {i, ROUND + i, ROUND + next, next};
        memcpy(s->corners + at, s->bore ? inside : outside, sizeof outside);
        add_face(s, at, 4, s->bore ? 1u | 4u : 2u | 8u); /* edges along the axis are none */
        at += 4;
    }
    for (int end = 0; end < (s->bore ? 0 : 2); end++) {
        for (int i = 0; i < ROUND; i++) {
            s->corners[at + i] = end ? ROUND + i : ROUND - 1 - i;
        }
        add_face(s, at, ROUND, 0);
        at += ROUND;
    }
}

static bool build_mesh(plot *p, const perp_shape *shape, solid *s)
{
    if (shape->hull_triangle_count == 0 ||
        !make_room(p, s, shape->hull_point_count, shape->hull_triangle_count, 3 * shape->hull_triangle_count)) {
        return false;
    }
    memcpy(s->points, shape->hull_points, (size_t)shape->hull_point_count * sizeof *s->points);
    memcpy(s->corners, shape->hull_triangles, 3 * (size_t)shape->hull_triangle_count * sizeof *s->corners);
    return true;
}

/* An edge between triangles that nearly lie in one plane is none of the shape's. */
static void mesh_faces(solid *s)
{
    const int triangles = s->most_faces;
    for (int f = 0; f < triangles; f++) {
        add_face(s, 3 * f, 3, triangles > MOST_TRIANGLES_WITH_EDGES ? 7u : 0u);
    }
    for (int f = 0; f < triangles && triangles <= MOST_TRIANGLES_WITH_EDGES; f++) {
        for (int g = 0; g < triangles; g++) {
            if (f == g || perp_vec3_dot(s->faces[f].normal, s->faces[g].normal) < 0.94) {
                continue;
            }
            for (int e = 0; e < 9; e++) {
                const int i = e / 3, k = e % 3;
                if (s->corners[3 * f + i] == s->corners[3 * g + (k + 1) % 3] &&
                    s->corners[3 * f + (i + 1) % 3] == s->corners[3 * g + k]) {
                    s->faces[f].no_edges |= 1u << i;
                }
            }
        }
    }
}

static void build_round(const perp_shape *shape, perp_pose pose, solid *s)
{
    const bool ball = shape->kind == PERP_SHAPE_SPHERE;
    const double a = ball ? shape->radius : shape->size.x, b = ball ? shape->radius : shape->size.y,
                 c = ball ? shape->radius : shape->size.z;
    const perp_mat3 rotation = perp_quat_to_mat3(pose.rotation);
    const perp_mat3 squares = {{a * a, 0, 0, 0, b * b, 0, 0, 0, c * c}};
    s->kind = SOLID_ROUND;
    s->spread = perp_mat3_turn(&rotation, &squares);
}

static bool build_capsule(plot *p, const perp_shape *shape, solid *s)
{
    s->kind = SOLID_STADIUM;
    s->radius = shape->radius;
    if (!make_room(p, s, 2, 0, 0)) {
        return false;
    }
    s->points[0] = perp_vec3_make(0.0, 0.0, -0.5 * shape->length);
    s->points[1] = perp_vec3_make(0.0, 0.0, 0.5 * shape->length);
    return true;
}

bool perp_solid_build(plot *p, const perp_shape *shape, perp_pose pose, solid *s)
{
    bool built = true;
    void (*faces)(solid * s) = NULL; /* once the points are placed */
    s->kind = SOLID_FACES;
    s->bore = shape->kind == PERP_SHAPE_HOLE;
    switch (shape->kind) {
    case PERP_SHAPE_BOX:
        built = build_box(p, shape, s);
        faces = box_faces;
        break;
    case PERP_SHAPE_CYLINDER:
    case PERP_SHAPE_HOLE:
        built = build_tube(p, shape, s);
        faces = tube_faces;
        break;
    case PERP_SHAPE_MESH:
        built = build_mesh(p, shape, s);
        faces = mesh_faces;
        break;
    case PERP_SHAPE_CAPSULE:
        built = build_capsule(p, shape, s);
        break;
    case PERP_SHAPE_SPHERE:
    case PERP_SHAPE_ELLIPSOID:
        build_round(shape, pose, s);
        break;
    case PERP_SHAPE_POINT: /* plot_scene.c draws both */
    case PERP_SHAPE_PLANE:
    case PERP_SHAPE_NONE: /* from here on none that a spatial scene has */
    case PERP_SHAPE_DISC:
    case PERP_SHAPE_HALFPLANE:
    case PERP_SHAPE_POLYGON:
        return false;
    }
    if (!built) {
        return false;
    }
    s->centre = pose.position;
    for (int i = 0; i < s->point_count; i++) {
        s->points[i] = perp_pose_apply(pose, s->points[i]);
    }
    if (faces) {
        faces(s);
    }
    return true;
}

plot_range perp_solid_reach(const solid *s, perp_vec3 direction)
{
    plot_range reach = perp_plot_range_empty();
    if (s->kind == SOLID_ROUND) {
        const double middle = perp_vec3_dot(s->centre, direction);
        const double half = sqrt(fmax(0.0, perp_vec3_dot(direction, perp_mat3_mul_vec(&s->spread, direction))));
        return (plot_range){middle - half, middle + half};
    }
    for (int i = 0; i < s->point_count; i++) {
        perp_plot_range_see(&reach, perp_vec3_dot(s->points[i], direction));
    }
    const double around = s->kind == SOLID_STADIUM ? s->radius * perp_vec3_norm(direction) : 0.0;
    return (plot_range){reach.low - around, reach.high + around};
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static void draw_face(plot *p, const plot_view *view, const solid *s, const solid_face *face)
{
    const perp_vec3 light = {0.37, -0.52, 0.77};
    char fill[8];
    perp_plot_shade(&s->colour, 0.72 + 0.36 * fmax(0.0, perp_vec3_dot(face->normal, light)) - (s->bore ? 0.15 : 0.0),
                    fill);
    perp_svg_put(&p->pen, "<polygon fill=\"%s\" stroke=\"%s\" stroke-width=\"0.7\" stroke-linejoin=\"round\" points=\"",
                 fill, face->no_edges ? fill : EDGE_COLOUR);
    for (int i = 0; i < face->count; i++) {
        double x, y;
        perp_view_place(view, s->points[s->corners[face->first + i]], &x, &y);
        perp_svg_put(&p->pen, "%.2f,%.2f ", x, y);
    }
    perp_svg_put(&p->pen, "\"/>\n");
    for (int i = 0; face->no_edges && i < face->count; i++) {
        if (!(face->no_edges & (1u << i))) {
            double x1, y1, x2, y2;
            perp_view_place(view, s->points[s->corners[face->first + i]], &x1, &y1);
            perp_view_place(view, s->points[s->corners[face->first + (i + 1) % face->count]], &x2, &y2);
            perp_svg_line(&p->pen, x1, y1, x2, y2,
                          "stroke=\"" EDGE_COLOUR "\" stroke-width=\"0.7\" stroke-linecap=\"round\"");
        }
    }
}

/* An ellipsoid is seen as an ellipse. */
static void draw_round(plot *p, const plot_view *view, const solid *s)
{
    const perp_vec3 r = perp_mat3_mul_vec(&s->spread, view->right), u = perp_mat3_mul_vec(&s->spread, view->up);
    const double a = perp_vec3_dot(view->right, r), b = perp_vec3_dot(view->right, u), c = perp_vec3_dot(view->up, u);
    const double middle = 0.5 * (a + c), apart = hypot(0.5 * (a - c), b);
    const double major = perp_view_length(view, sqrt(middle + apart));
    const double minor = perp_view_length(view, sqrt(fmax(0.0, middle - apart)));
    const double angle = -0.5 * atan2(2.0 * b, a - c) * 360.0 / TURN;
    char fill[8];
    double x, y;
    perp_view_place(view, s->centre, &x, &y);
    perp_plot_shade(&s->colour, 0.95, fill);
    perp_svg_put(&p->pen,
                 "<ellipse rx=\"%.2f\" ry=\"%.2f\" transform=\"translate(%.2f %.2f) rotate(%.2f)\" fill=\"%s\" "
                 "stroke=\"" EDGE_COLOUR "\" stroke-width=\"0.7\"/>\n",
                 major, minor, x, y, angle, fill);
    for (int i = 1; i <= 3; i++) { /* light from above left, in three steps */
        const double size = 1.0 - 0.25 * i;
        perp_svg_put(
            &p->pen,
            "<ellipse rx=\"%.2f\" ry=\"%.2f\" transform=\"translate(%.2f %.2f) rotate(%.2f)\" fill=\"#ffffff\" "
            "fill-opacity=\"0.12\"/>\n",
            size * major, size * minor, x - 0.11 * i * minor, y - 0.15 * i * minor, angle);
    }
}

/* A line as thick as the capsule, on one that is a little thicker. */
void perp_plot_stadium(plot *p, const double ends[4], double width, const char *fill)
{
    for (int pass = 0; pass < 2; pass++) {
        perp_svg_put(&p->pen,
                     "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\" stroke-width=\"%.2f\" "
                     "stroke-linecap=\"round\"/>\n",
                     ends[0], ends[1], ends[2], ends[3], pass ? fill : EDGE_COLOUR,
                     pass ? fmax(0.3, width - 0.7) : width + 0.7);
    }
}

static void draw_stadium(plot *p, const plot_view *view, const solid *s)
{
    double ends[4];
    char fill[8];
    perp_view_place(view, s->points[0], &ends[0], &ends[1]);
    perp_view_place(view, s->points[1], &ends[2], &ends[3]);
    perp_plot_shade(&s->colour, 0.95, fill);
    perp_plot_stadium(p, ends, perp_view_length(view, 2.0 * s->radius), fill);
}

void perp_solid_draw(plot *p, const plot_view *view, const solid *s)
{
    if (s->kind == SOLID_ROUND) {
        draw_round(p, view, s);
        return;
    }
    if (s->kind == SOLID_STADIUM) {
        draw_stadium(p, view, s);
        return;
    }
    for (int f = 0; f < s->face_count; f++) {
        if (perp_vec3_dot(s->faces[f].normal, view->toward) > EDGE_ON) {
            draw_face(p, view, s, &s->faces[f]);
        }
    }
}
