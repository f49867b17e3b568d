#include "report/plot_scene.h"
#include "report/tolerances.h"

#include <stdio.h>
#include <string.h>

enum { MOST_LABELS = 14, LABEL_ROOM = 320, LINES = 10 };

typedef struct scene_link {
    perp_vec3 from, to; /* world */
} scene_link;

/* Everything of one picture. */
typedef struct scene_picture {
    plot_view view;
    int solid_count;
    solid *solids; /* bounded ones of a spatial scene */
    int link_count;
    scene_link *links;
} scene_picture;

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

perp_pose perp_plot_body_pose(const plot *p, int body)
{
    const double *at = p->step.poses + (size_t)body * (size_t)p->run->head->pose_size;
    perp_pose pose = perp_pose_identity();
    if (p->run->head->planar) {
        pose.position = perp_vec3_make(at[0], at[1], 0.0);
        pose.rotation = perp_quat_from_axis_angle(perp_vec3_make(0.0, 0.0, 1.0), at[2]);
    } else {
        pose.position = perp_vec3_make(at[0], at[1], at[2]);
        pose.rotation = perp_quat_normalise((perp_quat){at[3], at[4], at[5], at[6]});
    }
    return pose;
}

const perp_body *perp_plot_body(const plot *p, int body)
{
    return p->run->scene && body < p->run->scene->body_count ? &p->run->scene->bodies[body] : NULL;
}

palette_colour perp_plot_body_colour(const plot *p, int body)
{
    const perp_body *of = perp_plot_body(p, body);
    return of && of->kind == PERP_BODY_FIXED ? perp_palette_fixed_body() : perp_palette_body(body);
}

void perp_plot_dot(plot *p, const plot_view *view, perp_vec3 point, const char *fill)
{
    double x, y;
    perp_view_place(view, point, &x, &y);
    perp_svg_put(&p->pen, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3.5\" fill=\"%s\" stroke=\"#3c4957\"/>\n", x, y, fill);
}

static bool build_solids(plot *p, scene_picture *picture)
{
    int count = 0;
    for (int b = 0; b < p->run->head->body_count; b++) {
        count += perp_plot_body(p, b) ? perp_plot_body(p, b)->shape_count : 0;
    }
    picture->solids = PERP_ARENA_NEW(p->arena, solid, (size_t)count);
    if (!picture->solids) {
        p->out_of_memory = true;
        return false;
    }
    for (int b = 0; b < p->run->head->body_count; b++) {
        const perp_body *body = perp_plot_body(p, b);
        for (int i = 0; body && i < body->shape_count; i++) {
            solid *s = &picture->solids[picture->solid_count];
            *s = (solid){.body = b, .colour = perp_plot_body_colour(p, b)};
            picture->solid_count +=
                perp_solid_build(p, &body->shapes[i],
                                 perp_pose_mul(perp_plot_body_pose(p, b), body->shapes[i].pose.pose), s)
                    ? 1
                    : 0;
        }
    }
    return !p->out_of_memory;
}

static void add_link(scene_picture *picture, perp_vec3 from, perp_vec3 to)
{
    picture->links[picture->link_count++] = (scene_link){from, to};
}

/* A point of a body; of one that the log does not have, which only a damaged one leads to, the point itself. */
static perp_vec3 place_of(const plot *p, int body, perp_vec3 point)
{
    return body >= 0 && body < p->run->head->body_count ? perp_pose_apply(perp_plot_body_pose(p, body), point) : point;
}

/* Of many mechanisms only the end has a shape: a line from each body that turns to what it turns on, and from bodies to
 * where loops close; from sliding ones too where nothing has a shape. */
static bool build_links(plot *p, scene_picture *picture)
{
    const perp_scene *scene = p->run->scene;
    const perp_vec3 zero = {0.0, 0.0, 0.0};
    bool bare = true;
    for (int b = 0; scene && b < scene->body_count; b++) {
        bare = bare && scene->bodies[b].shape_count == 0;
    }
    picture->links =
        PERP_ARENA_NEW(p->arena, scene_link, scene ? (size_t)scene->joint_count + 2 * (size_t)scene->loop_count : 0);
    if (!picture->links) {
        p->out_of_memory = true;
        return false;
    }
    for (int j = 0; scene && j < scene->joint_count; j++) {
        const perp_joint *joint = &scene->joints[j];
        if (bare || joint->kind == PERP_JOINT_REVOLUTE || joint->kind == PERP_JOINT_BALL) {
            add_link(picture, joint->parent_body >= 0 ? place_of(p, joint->parent_body, zero) : joint->anchor,
                     place_of(p, joint->child_body, zero));
        }
    }
    for (int i = 0; scene && i < scene->loop_count; i++) {
        const perp_loop *loop = &scene->loops[i];
        const int bodies[2] = {loop->body_a, loop->body_b};
        const perp_vec3 anchors[2] = {loop->anchor_a, loop->anchor_b};
        for (int k = 0; k < 2 && loop->kind != PERP_LOOP_JOINTS; k++) { /* which has no anchors */
            const perp_vec3 to = place_of(p, bodies[k], anchors[k]);
            add_link(picture, bodies[k] >= 0 ? place_of(p, bodies[k], zero) : to, to);
        }
    }
    return true;
}

/* ---- the view ---------------------------------------------------------------------------------------------------- */

static plot_view directions(bool planar)
{
    plot_view view = {.right = {1, 0, 0}, .up = {0, 1, 0}, .toward = {0, 0, 1}, .scale = 1.0};
    if (!planar) { /* from the front, right and above */
        view.toward = perp_vec3_normalise(perp_vec3_make(0.62, -1.0, 0.62));
        view.right = perp_vec3_normalise(perp_vec3_cross(perp_vec3_make(0, 0, 1), view.toward));
        view.up = perp_vec3_cross(view.toward, view.right);
    }
    return view;
}

/* The corners of what is drawn of an infinite plane: below all bounded things, and a little more. False: it is seen
 * from behind, or there is nothing bounded. */
static bool plane_patch(const plot *p, const scene_picture *picture, int body, const perp_shape *shape,
                        perp_vec3 corners[4])
{
    const perp_pose pose = perp_pose_mul(perp_plot_body_pose(p, body), shape->pose.pose);
    const perp_vec3 normal = perp_quat_rotate(pose.rotation, shape->normal);
    const perp_vec3 point = perp_pose_apply(pose, perp_vec3_scale(shape->offset, shape->normal));
    perp_vec3 axes[2];
    plot_range reach[2] = {perp_plot_range_empty(), perp_plot_range_empty()};
    perp_tangents(normal, &axes[0], &axes[1]);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < picture->solid_count; i++) {
            const plot_range one = perp_solid_reach(&picture->solids[i], axes[k]);
            perp_plot_range_see(&reach[k], one.low);
            perp_plot_range_see(&reach[k], one.high);
        }
        for (int b = 0; b < p->run->head->body_count && picture->solid_count == 0; b++) {
            const double at = perp_vec3_dot(perp_plot_body_pose(p, b).position, axes[k]);
            perp_plot_range_see(&reach[k], at - 0.2);
            perp_plot_range_see(&reach[k], at + 0.2);
        }
    }
    plot_range height = perp_plot_range_empty(); /* of what stands on it: a tall thing needs a wide floor too */
    for (int i = 0; i < picture->solid_count; i++) {
        const plot_range one = perp_solid_reach(&picture->solids[i], normal);
        perp_plot_range_see(&height, one.low);
        perp_plot_range_see(&height, one.high);
    }
    const double across_most = fmax(reach[0].high - reach[0].low, reach[1].high - reach[1].low);
    const double pad = 0.08 * fmax(across_most, 2.5 * fmax(0.0, height.high - height.low));
    for (int i = 0; i < 4; i++) {
        const double t = i == 0 || i == 3 ? reach[0].low - pad : reach[0].high + pad;
        const double o = i < 2 ? reach[1].low - pad : reach[1].high + pad;
        const perp_vec3 across = perp_vec3_add(perp_vec3_scale(t, axes[0]), perp_vec3_scale(o, axes[1]));
        corners[i] = perp_vec3_add_scaled(across, perp_vec3_dot(point, normal), normal);
    }
    return isfinite(pad) && perp_vec3_dot(normal, picture->view.toward) > 0.05;
}

static void see(const plot_view *view, plot_range reach[2], perp_vec3 point)
{
    perp_plot_range_see(&reach[0], perp_vec3_dot(point, view->right));
    perp_plot_range_see(&reach[1], perp_vec3_dot(point, view->up));
}

static void spatial_reach(const plot *p, const scene_picture *picture, plot_range reach[2])
{
    const plot_view *view = &picture->view;
    for (int i = 0; i < picture->solid_count; i++) {
        for (int k = 0; k < 2; k++) {
            const plot_range one = perp_solid_reach(&picture->solids[i], k ? view->up : view->right);
            perp_plot_range_see(&reach[k], one.low);
            perp_plot_range_see(&reach[k], one.high);
        }
    }
    for (int b = 0; b < p->run->head->body_count; b++) {
        const perp_body *body = perp_plot_body(p, b);
        for (int i = 0; body && i < body->shape_count; i++) {
            perp_vec3 corners[4];
            if (body->shapes[i].kind == PERP_SHAPE_PLANE && plane_patch(p, picture, b, &body->shapes[i], corners)) {
                for (int c = 0; c < 4; c++) {
                    see(view, reach, corners[c]);
                }
            }
        }
    }
}

/* Puts the reach, in metres along right and up, into the middle of the area. */
static void fit(plot_view *view, const plot_range reach[2])
{
    const double width = reach[0].high - reach[0].low, height = reach[1].high - reach[1].low;
    const double scale = 0.94 * fmin(view->area.width / width, view->area.height / height);
    view->scale = scale;
    view->x = view->area.x + 0.5 * view->area.width - 0.5 * scale * (reach[0].low + reach[0].high);
    view->y = view->area.y + 0.5 * view->area.height + 0.5 * scale * (reach[1].low + reach[1].high);
}

/* Shapes and links, in metres along right and up. */
static void see_all(const plot *p, const scene_picture *picture, plot_range reach[2])
{
    const plot_view *view = &picture->view;
    if (p->run->head->planar) {
        perp_flat_reach(p, reach);
    } else {
        spatial_reach(p, picture, reach);
    }
    for (int b = 0; b < p->run->head->body_count; b++) {
        if (!perp_plot_body(p, b) || perp_plot_body(p, b)->kind != PERP_BODY_FIXED) {
            see(view, reach, perp_plot_body_pose(p, b).position);
        }
    }
    for (int i = 0; i < picture->link_count; i++) {
        see(view, reach, picture->links[i].from);
        see(view, reach, picture->links[i].to);
    }
}

static void aim(const plot *p, scene_picture *picture)
{
    plot_view *view = &picture->view;
    plot_range reach[2] = {perp_plot_range_empty(), perp_plot_range_empty()};
    see_all(p, picture, reach);
    for (int k = 0; k < 2; k++) {
        if (!(reach[k].high - reach[k].low >= NO_SIZE)) {
            const double middle = reach[k].low <= reach[k].high ? reach[k].low : 0.0;
            reach[k] = (plot_range){middle - HALF_MILLIMETRE, middle + HALF_MILLIMETRE};
        }
    }
    fit(view, reach);
    const double newtons = perp_plot_force_scale(p, view);
    for (int round = 0; round < 3;
         round++) { /* arrows have a length on the page: a smaller scale lets them reach farther */
        plot_range wider[2] = {reach[0], reach[1]};
        for (int i = 0; i < p->step.info.contact_count; i++) {
            const perp_contact_record *record = &p->step.info.contacts[i];
            see(view, wider,
                perp_vec3_add_scaled(perp_contact_midpoint(&record->contact), newtons / view->scale,
                                     record->force_on_b));
        }
        fit(view, wider);
    }
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static void draw_plane(plot *p, const plot_view *view, const perp_vec3 corners[4])
{
    double x[4], y[4];
    perp_svg_put(&p->pen, "<polygon fill=\"#eceff2\" stroke=\"#aab4be\" stroke-width=\"0.8\" points=\"");
    for (int i = 0; i < 4; i++) {
        perp_view_place(view, corners[i], &x[i], &y[i]);
        perp_svg_put(&p->pen, "%.2f,%.2f ", x[i], y[i]);
    }
    perp_svg_put(&p->pen, "\"/>\n");
    for (int i = 1; i < LINES; i++) {
        const double a = (double)i / LINES, b = 1.0 - a;
        perp_svg_line(&p->pen, b * x[0] + a * x[1], b * y[0] + a * y[1], b * x[3] + a * x[2], b * y[3] + a * y[2],
                      "stroke=\"#d3d9de\" stroke-width=\"0.6\"");
        perp_svg_line(&p->pen, b * x[0] + a * x[3], b * y[0] + a * y[3], b * x[1] + a * x[2], b * y[1] + a * y[2],
                      "stroke=\"#d3d9de\" stroke-width=\"0.6\"");
    }
}

static void draw_space(plot *p, scene_picture *picture)
{
    const plot_view *view = &picture->view;
    for (int b = 0; b < p->run->head->body_count; b++) {
        const perp_body *body = perp_plot_body(p, b);
        for (int i = 0; body && i < body->shape_count; i++) {
            perp_vec3 corners[4];
            if (body->shapes[i].kind == PERP_SHAPE_PLANE && plane_patch(p, picture, b, &body->shapes[i], corners)) {
                draw_plane(p, view, corners);
            }
        }
    }
    for (int i = 0; i < picture->solid_count; i++) {
        solid *s = &picture->solids[i];
        const plot_range across = perp_solid_reach(s, view->right), upwards = perp_solid_reach(s, view->up);
        s->low[0] = view->x + view->scale * across.low;
        s->high[0] = view->x + view->scale * across.high;
        s->low[1] = view->y - view->scale * upwards.high;
        s->high[1] = view->y - view->scale * upwards.low;
    }
    const int *order = perp_solid_order(p, view, picture->solids, picture->solid_count);
    for (int i = 0; order && i < picture->solid_count; i++) {
        perp_solid_draw(p, view, &picture->solids[order[i]]);
    }
    for (int b = 0; b < p->run->head->body_count; b++) {
        const perp_body *body = perp_plot_body(p, b);
        const palette_colour colour = perp_plot_body_colour(p, b);
        for (int i = 0; body && i < body->shape_count; i++) {
            if (body->shapes[i].kind == PERP_SHAPE_POINT) {
                perp_plot_dot(p, view, perp_pose_apply(perp_plot_body_pose(p, b), body->shapes[i].pose.pose.position),
                              colour.text);
            }
        }
    }
}

static void draw_links(plot *p, const scene_picture *picture)
{
    for (int i = 0; i < picture->link_count; i++) {
        double x1, y1, x2, y2;
        perp_view_place(&picture->view, picture->links[i].from, &x1, &y1);
        perp_view_place(&picture->view, picture->links[i].to, &x2, &y2);
        perp_svg_line(&p->pen, x1, y1, x2, y2, "stroke=\"" SVG_FAINT "\" stroke-width=\"2\" stroke-linecap=\"round\"");
        perp_svg_put(&p->pen,
                     "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3\" fill=\"#ffffff\" stroke=\"" SVG_FAINT
                     "\" stroke-width=\"1.4\"/>\n",
                     x2, y2);
    }
}

/* x, y and z of the world, in the picture's corner. */
static void draw_axes(plot *p, const plot_view *view)
{
    static const char *const names[] = {"x", "y", "z"};
    const perp_vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double x = view->area.x + view->area.width - 40.0, y = view->area.y + view->area.height + 38.0;
    for (int k = 0; k < (p->run->head->planar ? 2 : 3); k++) {
        const double dx = 19.0 * perp_vec3_dot(axes[k], view->right), dy = -19.0 * perp_vec3_dot(axes[k], view->up);
        perp_svg_line(&p->pen, x, y, x + dx, y + dy, "stroke=\"" SVG_INK "\" stroke-width=\"1.1\"");
        perp_svg_text(&p->pen, x + 1.45 * dx, y + 1.45 * dy + 3.5,
                      (svg_font){.size = PLOT_SMALL, .anchor = SVG_MIDDLE, .fill = SVG_FAINT}, names[k]);
    }
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool boxes_meet(svg_box a, svg_box b)
{
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

static bool is_inside(svg_box a, svg_box area)
{
    return a.x >= area.x && a.y >= area.y && a.x + a.width <= area.x + area.width &&
           a.y + a.height <= area.y + area.height;
}

/* The middle of what is seen of a body; false: it has nothing bounded. */
static bool middle_of(const plot *p, const scene_picture *picture, int body, double *x, double *y)
{
    plot_range reach[2] = {perp_plot_range_empty(), perp_plot_range_empty()};
    for (int i = 0; i < picture->solid_count; i++) {
        if (picture->solids[i].body == body) {
            for (int k = 0; k < 2; k++) {
                perp_plot_range_see(&reach[k], picture->solids[i].low[k]);
                perp_plot_range_see(&reach[k], picture->solids[i].high[k]);
            }
        }
    }
    const perp_body *of = perp_plot_body(p, body);
    for (int i = 0; of && i < of->shape_count && !p->run->head->planar; i++) {
        if (of->shapes[i].kind == PERP_SHAPE_POINT) {
            const perp_pose pose = perp_plot_body_pose(p, body);
            perp_view_place(&picture->view, perp_pose_apply(pose, of->shapes[i].pose.pose.position), x, y);
            perp_plot_range_see(&reach[0], *x);
            perp_plot_range_see(&reach[1], *y + 12.0); /* below the dot */
        }
    }
    if (p->run->head->planar) {
        perp_flat_middle(p, &picture->view, body, reach);
    }
    *x = 0.5 * (reach[0].low + reach[0].high);
    *y = 0.5 * (reach[1].low + reach[1].high);
    return reach[0].low <= reach[0].high;
}

/* Names stand where they fit: in the middle of the body or around it, none on another. */
static void draw_names(plot *p, const scene_picture *picture)
{
    static const double around[][2] = {{0, 0},  {0, -14}, {0, 14},  {0, -26},  {0, 26},
                                       {34, 0}, {-34, 0}, {34, 20}, {-34, -20}};
    svg_box taken[MOST_LABELS];
    int count = 0;
    for (int b = 0; b < p->run->head->body_count && count < MOST_LABELS; b++) {
        double x, y;
        char name[120];
        if (!middle_of(p, picture, b, &x, &y)) {
            continue;
        }
        perp_svg_fit(p->run->head->bodies[b], PLOT_SMALL, 130.0, name, sizeof name);
        const double width = perp_svg_width(name, PLOT_SMALL, false);
        for (size_t k = 0; k < sizeof around / sizeof *around; k++) {
            const svg_box box = {x + around[k][0] - 0.5 * width - 2.0, y + around[k][1] - 7.0, width + 4.0, 13.0};
            bool free = is_inside(box, picture->view.area);
            for (int i = 0; i < count && free; i++) {
                free = !boxes_meet(box, taken[i]);
            }
            if (free) {
                perp_svg_put(&p->pen, "<g stroke=\"#ffffff\" stroke-width=\"2.6\" stroke-linejoin=\"round\" "
                                      "paint-order=\"stroke\">");
                perp_svg_text(&p->pen, box.x + 2.0 + 0.5 * width, box.y + 10.5,
                              (svg_font){.size = PLOT_SMALL, .anchor = SVG_MIDDLE}, name);
                perp_svg_put(&p->pen, "</g>\n");
                taken[count++] = box;
                break;
            }
        }
    }
}

/* The modes below the scales, where the axes are beside them. */
static double draw_modes(plot *p, svg_box box, double y, bool draw)
{
    return perp_plot_legend(p, (svg_box){box.x, y, box.width - PLOT_CORNER, 0.0}, NULL, 0,
                            (plot_modes){PERP_CONTACT_OPEN, PLOT_FULL}, draw);
}

static bool build(plot *p, scene_picture *picture)
{
    return build_links(p, picture) && (p->run->head->planar || build_solids(p, picture));
}

static void draw_all(plot *p, scene_picture *picture)
{
    if (p->run->head->planar) {
        perp_flat_draw(p, &picture->view);
    } else {
        draw_space(p, picture);
    }
    draw_links(p, picture);
}

void perp_scene_reach(plot *p, const plot_view *view, plot_range reach[2])
{
    scene_picture picture = {.view = *view};
    if (build(p, &picture)) {
        see_all(p, &picture, reach);
    }
}

void perp_scene_draw(plot *p, const plot_view *view)
{
    scene_picture picture = {.view = *view};
    if (build(p, &picture)) {
        draw_all(p, &picture);
    }
}

double perp_plot_scene(plot *p, svg_box box, bool draw)
{
    const double foot = fmax(48.0, 23.0 + draw_modes(p, box, 0.0, false));
    if (!draw) {
        return PLOT_HEAD + foot + ceil((p->in_sheet ? 0.66 : 0.75) * box.width);
    }
    const replay_run *run = p->run;
    scene_picture picture = {.view = directions(run->head->planar)};
    char words[400];
    picture.view.area = (svg_box){box.x, box.y + PLOT_HEAD, box.width, fmax(60.0, box.height - PLOT_HEAD - foot)};
    if (!build(p, &picture)) {
        return 0.0;
    }
    aim(p, &picture);
    if (p->step.info.answer && p->step.info.answer->solution_count > 0) {
        snprintf(words, sizeof words, "%s%sSolution %d of %d", p->in_sheet ? "" : run->head->scene,
                 p->in_sheet ? "" : ": ", p->solution + 1, p->step.info.answer->solution_count);
    } else {
        snprintf(words, sizeof words, "%s%sat t = %.6g s (step %d)", p->in_sheet ? "" : run->head->scene,
                 p->in_sheet ? "The scene " : ", ", p->step.t, p->step.step);
    }
    perp_plot_heading(p, box, words);
    draw_all(p, &picture);
    perp_plot_arrows(p, &picture.view);
    if (box.width >= LABEL_ROOM) {
        draw_names(p, &picture);
    }
    const double bottom = picture.view.area.y + picture.view.area.height;
    perp_plot_scales(p, &picture.view, bottom + 18.0);
    draw_modes(p, box, bottom + 23.0, true);
    draw_axes(p, &picture.view);
    return box.height;
}
