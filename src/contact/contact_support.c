/* contact_support.c - where planar bodies rest on the plane of their scene, and with how much load.
 *
 * Uniform pressure over a shape becomes points and shares that have its area, centre and second moments, so that what
 * is linear in the slip (a body that turns little) is exact:
 *
 * - parallelogram: 4 x 4 points of Gauss's rule;
 * - triangle: 6 points of Dunavant's rule, exact to the fourth degree; other polygons are triangles side by side;
 * - disc: two rings of 6, at Gauss's nodes of r^2;
 * - half-disc: two arcs of 4, for the ends of a capsule on either side of its parallelogram.
 *
 * Friction goes by |r|, which no rule has exactly: the largest moment about its centre comes out 0.9 % high for a
 * square, 1.1 % for a disc.
 */
#include "contact/contact_private.h"
#include "contact/contact_reach.h"
#include "contact/tolerances.h"

#include <assert.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* Points of one body, in its frame; `out` NULL: they are only counted. The weights of uniform pressure are areas. */
typedef struct support_list {
    contact_support *out;
    int count;
    double weight; /* sum of all */
    double x, y;   /* their sums with it */
    bool fine;     /* shapes are cut into many first: for `reach`, to 1e-4 of it */
    perp_vec3 centre;
    double reach; /* sum of weights times distances from the centre */
} support_list;

enum { CUTS = 32 }; /* of an edge, where `fine` */

static void add_point(support_list *list, double x, double y, double weight)
{
    if (list->out) {
        list->out[list->count].place = perp_vec3_make(x, y, 0.0);
        list->out[list->count].load = weight;
    }
    list->count++;
    list->weight += weight;
    list->x += weight * x;
    list->y += weight * y;
    list->reach += weight * hypot(x - list->centre.x, y - list->centre.y);
}

/* ---- uniform pressure -------------------------------------------------------------------------------------------- */

/* Of two edges from `corner`. */
static void add_piece(support_list *list, perp_vec3 corner, perp_vec3 u, perp_vec3 v)
{
    const double inner = sqrt((3.0 - 2.0 * sqrt(1.2)) / 7.0), outer = sqrt((3.0 + 2.0 * sqrt(1.2)) / 7.0);
    const double heavy = (18.0 + sqrt(30.0)) / 36.0, light = (18.0 - sqrt(30.0)) / 36.0;
    const double node[4] = {-outer, -inner, inner, outer}, weight[4] = {light, heavy, heavy, light};
    const double area = fabs(u.x * v.y - u.y * v.x);
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 4; k++) {
            const double a = 0.5 * (1.0 + node[i]), b = 0.5 * (1.0 + node[k]);
            add_point(list, corner.x + a * u.x + b * v.x, corner.y + a * u.y + b * v.y,
                      0.25 * weight[i] * weight[k] * area);
        }
    }
}

static void add_parallelogram(support_list *list, perp_vec3 corner, perp_vec3 u, perp_vec3 v)
{
    const int cuts = list->fine ? CUTS : 1;
    const perp_vec3 along = perp_vec3_scale(1.0 / cuts, u), across = perp_vec3_scale(1.0 / cuts, v);
    for (int i = 0; i < cuts; i++) {
        for (int k = 0; k < cuts; k++) {
            add_piece(list, perp_vec3_add_scaled(perp_vec3_add_scaled(corner, i, along), k, across), along, across);
        }
    }
}

static void add_small_triangle(support_list *list, const perp_vec3 corner[3])
{
    const perp_vec3 u = perp_vec3_sub(corner[1], corner[0]), v = perp_vec3_sub(corner[2], corner[0]);
    const double area = 0.5 * fabs(u.x * v.y - u.y * v.x);
    const double root = sqrt(38.0 - 44.0 * sqrt(0.4)), spread = sqrt(213125.0 - 53320.0 * sqrt(10.0));
    for (int ring = 0; ring < 2; ring++) {
        const double sign = ring == 0 ? 1.0 : -1.0;
        const double a = (8.0 - sqrt(10.0) + sign * root) / 18.0, weight = (620.0 + sign * spread) / 3720.0;
        for (int k = 0; k < 3; k++) {
            const perp_vec3 far = corner[k], p = corner[(k + 1) % 3], q = corner[(k + 2) % 3];
            add_point(list, (1.0 - 2.0 * a) * far.x + a * (p.x + q.x), (1.0 - 2.0 * a) * far.y + a * (p.y + q.y),
                      weight * area);
        }
    }
}

/* Cut into similar ones: rows along the first edge, those that stand on it and those between them. */
static void add_triangle(support_list *list, const perp_vec3 corner[3])
{
    const int cuts = list->fine ? CUTS : 1;
    const perp_vec3 u = perp_vec3_scale(1.0 / cuts, perp_vec3_sub(corner[1], corner[0])),
                    v = perp_vec3_scale(1.0 / cuts, perp_vec3_sub(corner[2], corner[0])), w = perp_vec3_add(u, v);
    for (int i = 0; i < cuts; i++) {
        for (int k = 0; i + k < cuts; k++) {
            const perp_vec3 at = perp_vec3_add_scaled(perp_vec3_add_scaled(corner[0], i, u), k, v),
                            right = perp_vec3_add(at, u), left = perp_vec3_add(at, v);
            add_small_triangle(list, (const perp_vec3[3]){at, right, left});
            if (i + k + 1 < cuts) {
                add_small_triangle(list, (const perp_vec3[3]){right, perp_vec3_add(at, w), left});
            }
        }
    }
}

/* Rings of equal area; `half`: only what is towards the unit vector `out`. */
static void add_rings(support_list *list, perp_vec3 centre, double radius, perp_vec3 out, bool half)
{
    enum { RINGS = 8 * CUTS, RING = 2 * CUTS };
    const double turn = (half ? 1.0 : 2.0) * PI, area = 0.5 * turn * radius * radius / (RINGS * RING);
    for (int ring = 0; ring < RINGS; ring++) {
        const double r = radius * sqrt((ring + 0.5) / RINGS);
        for (int k = 0; k < RING; k++) {
            const double angle = turn * ((k + 0.5) / RING - 0.5), along = r * cos(angle), across = r * sin(angle);
            add_point(list, centre.x + along * out.x - across * out.y, centre.y + along * out.y + across * out.x, area);
        }
    }
}

static void add_disc(support_list *list, perp_vec3 centre, double radius)
{
    enum { RING = 6 };
    if (list->fine) {
        add_rings(list, centre, radius, perp_vec3_make(1.0, 0.0, 0.0), false);
        return;
    }
    for (int ring = 0; ring < 2; ring++) {
        const double r = radius * sqrt(0.5 * (1.0 + (ring == 0 ? -1.0 : 1.0) / sqrt(3.0)));
        for (int k = 0; k < RING; k++) {
            const double angle = 2.0 * PI * (k + 0.5 * ring) / RING;
            add_point(list, centre.x + r * cos(angle), centre.y + r * sin(angle), PI * radius * radius / (2.0 * RING));
        }
    }
}

/* Towards the unit vector `out`. The angles have equal weights and the means of 1, cos and cos^2 over the half circle,
 * the radii those of 1, r, r^2 and r^3 with the weight r. */
static void add_half_disc(support_list *list, perp_vec3 centre, perp_vec3 out, double radius)
{
    if (list->fine) {
        add_rings(list, centre, radius, out, true);
        return;
    }
    const double mean = 4.0 / PI, spread = sqrt(2.0 - mean * mean);
    for (int arc = 0; arc < 2; arc++) {
        const double sign = arc == 0 ? -1.0 : 1.0;
        const double r = radius * (6.0 + sign * sqrt(6.0)) / 10.0, weight = (9.0 + sign * sqrt(6.0)) / 36.0;
        for (int k = 0; k < 4; k++) {
            const double along = 0.5 * (mean + (k < 2 ? spread : -spread));
            const double across = (k % 2 == 0 ? 1.0 : -1.0) * sqrt(1.0 - along * along);
            add_point(list, centre.x + r * (along * out.x - across * out.y),
                      centre.y + r * (along * out.y + across * out.x), 0.25 * PI * radius * radius * weight);
        }
    }
}

static void add_capsule(support_list *list, const perp_vec3 ends[2], double radius)
{
    const perp_vec3 way = perp_vec3_sub(ends[1], ends[0]), along = perp_vec3_normalise(way);
    const perp_vec3 side = perp_vec3_make(-radius * along.y, radius * along.x, 0.0);
    add_parallelogram(list, perp_vec3_sub(ends[0], side), way, perp_vec3_scale(2.0, side));
    add_half_disc(list, ends[0], perp_vec3_scale(-1.0, along), radius);
    add_half_disc(list, ends[1], along, radius);
}

static void add_polygon(support_list *list, const perp_vec3 *corners, int count)
{
    const perp_vec3 u = perp_vec3_sub(corners[1], corners[0]), v = perp_vec3_sub(corners[count - 1], corners[0]);
    const perp_vec3 opposite = perp_vec3_sub(perp_vec3_sub(corners[2], corners[1]), v);
    if (count == 4 && perp_vec3_norm(opposite) <= CONTACT_SAME_DIRECTION * perp_vec3_norm(v)) {
        add_parallelogram(list, corners[0], u, v);
        return;
    }
    for (int k = 1; k + 1 < count; k++) {
        add_triangle(list, (const perp_vec3[3]){corners[0], corners[k], corners[k + 1]});
    }
}

static void add_part(support_list *list, const perp_planar_shape *shape)
{
    if (shape->kind != PERP_PLANAR_CORE || (shape->count < 3 && !(shape->radius > 0.0))) {
        return; /* no area, or no end to it */
    }
    if (shape->count == 1) {
        add_disc(list, shape->corners[0], shape->radius);
    } else if (shape->count == 2) {
        add_capsule(list, shape->corners, shape->radius);
    } else {
        add_polygon(list, shape->corners, shape->count);
    }
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

static void list_points(const perp_contact_model *cm, int body, support_list *list)
{
    const perp_support *support = &cm->model->scene->bodies[body].support;
    for (int i = 0; i < support->point_count; i++) {
        add_point(list, support->points[i].x, support->points[i].y, support->points[i].share);
    }
    for (int i = cm->part_start[body]; i < cm->part_start[body + 1] && support->point_count == 0; i++) {
        add_part(list, &cm->parts[i].planar);
    }
}

/* All of them as one: their centre, and in `arm` what the largest moment about it is to the largest force. */
static contact_support ellipsoid_of(const perp_contact_model *cm, int body, const support_list *list)
{
    support_list fine = {.fine = true};
    fine.centre = perp_vec3_make(list->x / list->weight, list->y / list->weight, 0.0);
    list_points(cm, body, &fine);
    return (contact_support){.place = fine.centre, .load = list->weight, .arm = fine.reach / fine.weight};
}

static void load_points(const perp_contact_model *cm, int body, support_list *list)
{
    const perp_scene *scene = cm->model->scene;
    const perp_support *support = &scene->bodies[body].support;
    const double normal =
        support->normal.set ? support->normal.value : PERP_SUPPORT_GRAVITY * cm->model->links[body].mass;
    if (support->model == PERP_SUPPORT_ELLIPSOID) {
        list->out[0] = ellipsoid_of(cm, body, list);
        list->count = 1;
    }
    for (int i = 0; i < list->count; i++) {
        list->out[i].load *= normal / list->weight;
        list->out[i].friction = support->friction.set ? support->friction.value : scene->friction;
    }
}

perp_status perp_contact_find_supports(perp_contact_model *cm, perp_error *error)
{
    const perp_scene *scene = cm->model->scene;
    support_list all = {0};
    for (int b = 0; b < scene->body_count; b++) {
        if (scene->bodies[b].support.set) {
            list_points(cm, b, &all);
        }
    }
    cm->supports = PERP_ARENA_NEW(&cm->arena, contact_support, (size_t)all.count);
    cm->support_start = PERP_ARENA_NEW(&cm->arena, int, (size_t)scene->body_count + 1);
    if (!cm->supports || !cm->support_start) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for the supports");
    }
    for (int b = 0, count = 0; b < scene->body_count; b++) {
        support_list own = {.out = cm->supports + count};
        if (scene->bodies[b].support.set) {
            list_points(cm, b, &own);
            load_points(cm, b, &own);
            cm->ellipsoids = cm->ellipsoids || own.out[0].arm > 0.0;
        }
        cm->support_start[b + 1] = count += own.count;
    }
    return PERP_STATUS_OK;
}

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

int perp_contact_support_count(const perp_contact_set *set)
{
    const perp_contact_model *cm = set->memory->contact_model;
    return cm->support_start[cm->model->body_count];
}

perp_status perp_contact_add_supports(contact_build *build, const perp_kinematics *kinematics, int body)
{
    const perp_contact_model *cm = build->memory->contact_model;
    for (int i = cm->support_start[body]; i < cm->support_start[body + 1]; i++) {
        const perp_status status = perp_contact_room(build);
        if (status != PERP_STATUS_OK) {
            return status;
        }
        const perp_vec3 arm = perp_mat3_mul_vec(&kinematics->rotation[body], cm->supports[i].place);
        perp_contact *c = &build->memory->contacts[build->count++];
        *c = (perp_contact){.a = body,
                            .b = body,
                            .normal = {0.0, 0.0, 1.0},
                            .t = {1.0, 0.0, 0.0},
                            .o = {0.0, 1.0, 0.0},
                            .friction = cm->supports[i].friction,
                            .load = cm->supports[i].load,
                            .arm = cm->supports[i].arm,
                            .direction_count = 2,
                            .pair = -1};
        c->feature_a = c->feature_b = perp_feature(PERP_FEATURE_SUPPORT, i - cm->support_start[body]);
        c->point_a = c->point_b = perp_vec3_add(kinematics->pose[body].position, arm);
        c->directions[0] = c->t;
        c->directions[1] = c->o;
    }
    return PERP_STATUS_OK;
}
