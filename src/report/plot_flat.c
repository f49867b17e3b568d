/* Planar scenes: outlines in the plane of x and y. */
#include "report/plot_scene.h"

#define EDGE_COLOUR "#3c4957"
#define EDGE "stroke=\"" EDGE_COLOUR "\" stroke-width=\"0.8\" stroke-linejoin=\"round\""
static const double RING = 1.25; /* what is drawn of the material around a hole, over its radius */

static perp_pose shape_pose(const plot *p, int body, const perp_shape *shape)
{
    return perp_pose_mul(perp_plot_body_pose(p, body), shape->pose.pose);
}

static void see_around(plot_range reach[2], perp_vec3 point, double radius)
{
    perp_plot_range_see(&reach[0], point.x - radius);
    perp_plot_range_see(&reach[0], point.x + radius);
    perp_plot_range_see(&reach[1], point.y - radius);
    perp_plot_range_see(&reach[1], point.y + radius);
}

static perp_vec3 box_corner(const perp_shape *shape, int i)
{
    static const double signs[4][2] = {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}};
    return perp_vec3_make(signs[i][0] * shape->size.x, signs[i][1] * shape->size.y, 0.0);
}

static void see_shape(const perp_shape *shape, perp_pose pose, plot_range reach[2])
{
    switch (shape->kind) {
    case PERP_SHAPE_POINT:
        see_around(reach, pose.position, 0.0);
        break;
    case PERP_SHAPE_DISC:
        see_around(reach, pose.position, shape->radius);
        break;
    case PERP_SHAPE_HOLE:
        see_around(reach, pose.position, RING * shape->radius);
        break;
    case PERP_SHAPE_BOX:
        for (int i = 0; i < 4; i++) {
            see_around(reach, perp_pose_apply(pose, box_corner(shape, i)), 0.0);
        }
        break;
    case PERP_SHAPE_POLYGON:
        for (int i = 0; i < shape->point_count; i++) {
            see_around(reach, perp_pose_apply(pose, shape->points[i]), 0.0);
        }
        break;
    case PERP_SHAPE_CAPSULE:
        for (int i = -1; i <= 1; i += 2) {
            see_around(reach, perp_pose_apply(pose, perp_vec3_make(0.5 * i * shape->length, 0.0, 0.0)), shape->radius);
        }
        break;
    case PERP_SHAPE_HALFPLANE: /* perp_flat_reach sees it: it has no end */
    case PERP_SHAPE_NONE:      /* from here on none that a planar scene has */
    case PERP_SHAPE_SPHERE:
    case PERP_SHAPE_CYLINDER:
    case PERP_SHAPE_ELLIPSOID:
    case PERP_SHAPE_PLANE:
    case PERP_SHAPE_MESH:
        break;
    }
}

/* The edge of a half-plane: a point of it and its normal. */
static void edge_of(const perp_shape *shape, perp_pose pose, perp_vec3 *point, perp_vec3 *normal)
{
    *normal = perp_quat_rotate(pose.rotation, shape->normal);
    *point = perp_pose_apply(pose, perp_vec3_scale(shape->offset, shape->normal));
}

void perp_flat_reach(const plot *p, plot_range reach[2])
{
    for (int pass = 0; pass < 2; pass++) {
        const perp_vec3 middle = {0.5 * (reach[0].low + reach[0].high), 0.5 * (reach[1].low + reach[1].high), 0.0};
        const double size = hypot(reach[0].high - reach[0].low, reach[1].high - reach[1].low);
        for (int b = 0; b < p->run->head->body_count; b++) {
            const perp_body *body = perp_plot_body(p, b);
            for (int i = 0; body && i < body->shape_count; i++) {
                const perp_shape *shape = &body->shapes[i];
                const perp_pose pose = shape_pose(p, b, shape);
                if (pass == 0) {
                    see_shape(shape, pose, reach);
                } else if (shape->kind == PERP_SHAPE_HALFPLANE && isfinite(size)) {
                    perp_vec3 point, normal;
                    edge_of(shape, pose, &point, &normal);
                    const double away = perp_vec3_dot(normal, perp_vec3_sub(middle, point));
                    if (fabs(away) < 1.5 * size) {
                        see_around(reach, perp_vec3_add_scaled(middle, -away, normal), 0.02 * size);
                    }
                }
            }
        }
    }
}

void perp_flat_middle(const plot *p, const plot_view *view, int body, plot_range reach[2])
{
    const perp_body *of = perp_plot_body(p, body);
    plot_range metres[2] = {perp_plot_range_empty(), perp_plot_range_empty()};
    for (int i = 0; of && i < of->shape_count; i++) {
        see_shape(&of->shapes[i], shape_pose(p, body, &of->shapes[i]), metres);
    }
    perp_plot_range_see(&reach[0], view->x + view->scale * metres[0].low);
    perp_plot_range_see(&reach[0], view->x + view->scale * metres[0].high);
    perp_plot_range_see(&reach[1], view->y - view->scale * metres[1].low);
    perp_plot_range_see(&reach[1], view->y - view->scale * metres[1].high);
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

/* The part of the picture that lies in a half-plane: a rectangle cut by a line. */
static void draw_halfplane(plot *p, const plot_view *view, const perp_shape *shape, perp_pose pose)
{
    perp_vec3 point, normal;
    double x0, y0, edge[2][2];
    int crossings = 0;
    edge_of(shape, pose, &point, &normal);
    perp_view_place(view, point, &x0, &y0);
    const svg_box a = view->area;
    const double corners[4][2] = {
        {a.x, a.y}, {a.x + a.width, a.y}, {a.x + a.width, a.y + a.height}, {a.x, a.y + a.height}};
    double depth[4]; /* px, below the edge */
    for (int i = 0; i < 4; i++) {
        depth[i] = -((corners[i][0] - x0) * normal.x - (corners[i][1] - y0) * normal.y);
    }
    perp_svg_put(&p->pen, "<polygon fill=\"#d9dde1\" points=\"");
    for (int i = 0; i < 4; i++) {
        const int next = (i + 1) % 4;
        if (depth[i] >= 0.0) {
            perp_svg_put(&p->pen, "%.2f,%.2f ", corners[i][0], corners[i][1]);
        }
        if ((depth[i] >= 0.0) != (depth[next] >= 0.0)) {
            const double part = depth[i] / (depth[i] - depth[next]); /* both are finite: places are */
            const double x = corners[i][0] + part * (corners[next][0] - corners[i][0]);
            const double y = corners[i][1] + part * (corners[next][1] - corners[i][1]);
            perp_svg_put(&p->pen, "%.2f,%.2f ", x, y);
            edge[crossings % 2][0] = x;
            edge[crossings++ % 2][1] = y;
        }
    }
    perp_svg_put(&p->pen, "\"/>\n");
    if (crossings == 2) {
        perp_svg_line(&p->pen, edge[0][0], edge[0][1], edge[1][0], edge[1][1], EDGE);
    }
}

static void draw_outline(plot *p, const plot_view *view, const perp_shape *shape, perp_pose pose, const char *fill)
{
    const int count = shape->kind == PERP_SHAPE_BOX ? 4 : shape->point_count;
    perp_svg_put(&p->pen, "<polygon fill=\"%s\" " EDGE " points=\"", fill);
    for (int i = 0; i < count; i++) {
        double x, y;
        perp_view_place(view,
                        perp_pose_apply(pose, shape->kind == PERP_SHAPE_BOX ? box_corner(shape, i) : shape->points[i]),
                        &x, &y);
        perp_svg_put(&p->pen, "%.2f,%.2f ", x, y);
    }
    perp_svg_put(&p->pen, "\"/>\n");
}

/* With a line from its centre, so that it is seen to turn. */
static void draw_disc(plot *p, const plot_view *view, const perp_shape *shape, perp_pose pose, const char *fill)
{
    double x, y, rim_x, rim_y;
    perp_view_place(view, pose.position, &x, &y);
    perp_view_place(view, perp_pose_apply(pose, perp_vec3_make(shape->radius, 0.0, 0.0)), &rim_x, &rim_y);
    perp_svg_put(&p->pen, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"%s\" " EDGE "/>\n", x, y,
                 perp_view_length(view, shape->radius), fill);
    perp_svg_line(&p->pen, x, y, rim_x, rim_y,
                  "stroke=\"" EDGE_COLOUR "\" stroke-width=\"0.6\" stroke-opacity=\"0.6\"");
}

static void draw_ring(plot *p, const plot_view *view, const perp_shape *shape, perp_pose pose, const char *fill)
{
    double x, y;
    perp_view_place(view, pose.position, &x, &y);
    perp_svg_put(&p->pen, "<path fill=\"%s\" fill-rule=\"evenodd\" " EDGE " d=\"", fill);
    for (int i = 0; i < 2; i++) {
        const double r = perp_view_length(view, shape->radius * (i ? RING : 1.0));
        perp_svg_put(&p->pen, "M%.2f %.2fa%.2f %.2f 0 1 0 %.2f 0a%.2f %.2f 0 1 0 %.2f 0z", x - r, y, r, r, 2.0 * r, r,
                     r, -2.0 * r);
    }
    perp_svg_put(&p->pen, "\"/>\n");
}

static void draw_capsule(plot *p, const plot_view *view, const perp_shape *shape, perp_pose pose, const char *fill)
{
    double x1, y1, x2, y2;
    const double width = perp_view_length(view, 2.0 * shape->radius);
    perp_view_place(view, perp_pose_apply(pose, perp_vec3_make(-0.5 * shape->length, 0.0, 0.0)), &x1, &y1);
    perp_view_place(view, perp_pose_apply(pose, perp_vec3_make(0.5 * shape->length, 0.0, 0.0)), &x2, &y2);
    perp_plot_stadium(p, (double[4]){x1, y1, x2, y2}, width, fill);
}

static void draw_shape(plot *p, const plot_view *view, const perp_shape *shape, perp_pose pose, const char *fill)
{
    switch (shape->kind) {
    case PERP_SHAPE_DISC:
        draw_disc(p, view, shape, pose, fill);
        break;
    case PERP_SHAPE_HOLE:
        draw_ring(p, view, shape, pose, fill);
        break;
    case PERP_SHAPE_BOX:
    case PERP_SHAPE_POLYGON:
        draw_outline(p, view, shape, pose, fill);
        break;
    case PERP_SHAPE_CAPSULE:
        draw_capsule(p, view, shape, pose, fill);
        break;
    case PERP_SHAPE_POINT:
        perp_plot_dot(p, view, pose.position, fill);
        break;
    case PERP_SHAPE_HALFPLANE: /* perp_flat_draw draws it, under everything */
    case PERP_SHAPE_NONE:      /* from here on none that a planar scene has */
    case PERP_SHAPE_SPHERE:
    case PERP_SHAPE_CYLINDER:
    case PERP_SHAPE_ELLIPSOID:
    case PERP_SHAPE_PLANE:
    case PERP_SHAPE_MESH:
        break;
    }
}

void perp_flat_draw(plot *p, const plot_view *view)
{
    for (int pass = 0; pass < 2; pass++) { /* half-planes lie under everything */
        for (int b = 0; b < p->run->head->body_count; b++) {
            const perp_body *body = perp_plot_body(p, b);
            const palette_colour colour = perp_plot_body_colour(p, b);
            for (int i = 0; body && i < body->shape_count; i++) {
                const perp_shape *shape = &body->shapes[i];
                const perp_pose pose = shape_pose(p, b, shape);
                if (pass == 0 && shape->kind == PERP_SHAPE_HALFPLANE) {
                    draw_halfplane(p, view, shape, pose);
                } else if (pass == 1) {
                    draw_shape(p, view, shape, pose, colour.text);
                }
            }
        }
    }
}
