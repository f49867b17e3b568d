#include "friction_generator_scene.h"

#include <math.h>
#include <string.h>

static const double TWO_PI = 6.283185307179586;

perp_vec3 friction_random_vector(friction_scene *s)
{
    for (;;) {
        const double x = uniform(s, -1, 1), y = uniform(s, -1, 1), z = s->planar ? 0.0 : uniform(s, -1, 1);
        const double square = x * x + y * y + z * z;
        if (square <= 1.0 && square > 1e-4) {
            return perp_vec3_make(x, y, z);
        }
    }
}

perp_vec3 friction_up(const friction_scene *s)
{
    return s->planar ? perp_vec3_make(0, 1, 0) : perp_vec3_make(0, 0, 1);
}

static perp_vec3 noisy(friction_scene *s, perp_vec3 along, double noise)
{
    return perp_vec3_normalise(perp_vec3_add_scaled(along, noise, friction_random_vector(s)));
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static bool full(const friction_scene *s)
{
    return s->touch_count >= s->touch_room || s->body_count >= FRICTION_MAX_BODIES;
}

static int add_body(friction_scene *s, perp_vec3 position, double size)
{
    const int i = s->body_count++;
    const double mass = s->even ? 1.0 : pow(10.0, uniform(s, -0.5, 0.5) * s->decades);
    s->bodies[i] = (friction_body){position, size, mass, false};
    return i;
}

static void add_touch(friction_scene *s, int a, int b, perp_vec3 point, perp_vec3 normal)
{
    if (s->touch_count < s->touch_room) {
        s->touches[s->touch_count++] = (friction_touch){a, b, point, normal, 0.0, s->planar ? 2 : 3, false};
    }
}

/* The corners of a square (in the plane the ends of an edge) with one normal: four contacts where three would hold. */
static void add_face(friction_scene *s, int a, int b, perp_vec3 centre, perp_vec3 normal, double half)
{
    perp_vec3 t = {-normal.y, normal.x, 0}, o = {0, 0, 0};
    if (!s->planar) {
        perp_tangents(normal, &t, &o);
    }
    for (int corner = 0; corner < (s->planar ? 2 : 4); corner++) {
        const double x = s->planar ? corner * 2 - 1 : corner == 0 || corner == 3 ? -1 : 1, y = corner < 2 ? -1 : 1;
        const perp_vec3 point = perp_vec3_add_scaled(centre, half * x, t);
        add_touch(s, a, b, perp_vec3_add_scaled(point, half * y, o), normal);
    }
}

static double draw_size(friction_scene *s)
{
    return s->even ? 0.125 : uniform(s, 0.05, 0.3);
}

/* ---- families ---------------------------------------------------------------------------------------------------- */

static void build_stack(friction_scene *s)
{
    const int height = 1 + below(s, 20);
    const perp_vec3 up = friction_up(s);
    for (int column = 0; !full(s); column++) {
        perp_vec3 at = perp_vec3_make(column, 0, 0);
        int lower = FRICTION_GROUND;
        for (int level = 0; level < height && !full(s); level++) {
            const double size = draw_size(s);
            const int b = add_body(s, perp_vec3_add_scaled(at, size, up), size);
            const double half = lower == FRICTION_GROUND ? size : fmin(size, s->bodies[lower].size);
            add_face(s, lower, b, at, up, half);
            at = perp_vec3_add_scaled(at, 2.0 * size, up);
            lower = b;
        }
    }
}

/* Bricks 2 wide and 1 high, each on two; ends may touch. */
static void build_wall(friction_scene *s)
{
    const int width = 2 + below(s, 8);
    const bool ends = happens(s, 0.5);
    const double half = 0.1;
    const perp_vec3 up = friction_up(s), side = {1, 0, 0};
    for (int level = 0; !full(s); level++) {
        for (int i = 0; i < width && !full(s); i++) {
            const perp_vec3 foot =
                perp_vec3_add_scaled(perp_vec3_make((4 * i + 2 * (level % 2)) * half, 0, 0), 2.0 * half * level, up);
            const int b = add_body(s, perp_vec3_add_scaled(foot, half, up), half), lower = b - width;
            if (level == 0) {
                add_face(s, FRICTION_GROUND, b, foot, up, half);
            } else {
                const bool last = i + (level % 2) >= width;
                add_face(s, lower, b, perp_vec3_add_scaled(foot, level % 2 ? -half : half, side), up, 0.8 * half);
                const int other = level % 2 ? lower + 1 : lower - 1;
                if (!last && (level % 2 || i > 0)) {
                    add_face(s, other, b, perp_vec3_add_scaled(foot, level % 2 ? half : -half, side), up, 0.8 * half);
                }
            }
            if (ends && i > 0) {
                add_face(s, b - 1, b, perp_vec3_add_scaled(s->bodies[b].position, -2.0 * half, side), side, half);
            }
        }
    }
}

/* Bodies between walls that lean by `slope` from the vertical, each on the one below. */
static void build_wedge(friction_scene *s)
{
    const int walls = s->planar ? 2 : 2 + below(s, 3), each = 1 + below(s, 2);
    const double lean = s->slope;
    const perp_vec3 up = friction_up(s);
    for (int level = 0; !full(s); level++) {
        const double size = draw_size(s);
        const int b = add_body(s, perp_vec3_scale(0.5 + 0.4 * level, up), size);
        for (int k = 0; k < walls * each; k++) {
            const double around = TWO_PI * (k % walls) / walls;
            const perp_vec3 out =
                s->planar ? perp_vec3_make(k % 2 ? 1 : -1, 0, 0) : perp_vec3_make(cos(around), sin(around), 0);
            const perp_vec3 normal =
                perp_vec3_normalise(perp_vec3_add_scaled(perp_vec3_scale(-cos(lean), out), sin(lean), up));
            perp_vec3 point = perp_vec3_add_scaled(s->bodies[b].position, -size, normal);
            point = perp_vec3_add_scaled(point, each > 1 ? 0.5 * size : 0.0, friction_random_vector(s));
            add_touch(s, FRICTION_GROUND, b, point, normal);
        }
        if (level > 0) {
            add_touch(s, b - 1, b, perp_vec3_add_scaled(s->bodies[b].position, -size, up), noisy(s, up, 0.1));
        }
    }
}

static int add_robot(friction_scene *s, perp_vec3 at, int joints)
{
    friction_robot *r = &s->robots[s->robot_count];
    r->joint_count = joints;
    for (int j = 0; j < joints; j++) {
        friction_joint *q = &r->joints[j];
        q->parent = j == 0 ? -1 : happens(s, 0.85) ? j - 1 : below(s, j);
        q->axis = s->planar ? perp_vec3_make(0, 0, 1) : perp_vec3_normalise(friction_random_vector(s));
        q->position =
            perp_vec3_add_scaled(q->parent < 0 ? at : r->joints[q->parent].position, 0.2, friction_random_vector(s));
    }
    return s->robot_count++;
}

static int link_of(const friction_scene *s, int robot, int joint)
{
    return s->body_count + robot * FRICTION_MAX_JOINTS + joint; /* once no more bodies come */
}

/* Objects that 2 to 6 fingers squeeze. A finger is the ground (held in place), a driven body, or a robot's last link;
 * the last are put right when all bodies are there. */
static void build_grasp(friction_scene *s)
{
    const int fingers = 2 + below(s, s->planar ? 2 : 5), each = 1 + below(s, s->planar ? 2 : 4), manner = below(s, 4);
    enum { LINK = -2 }; /* - robot */
    while (!full(s)) {
        const perp_vec3 at = perp_vec3_scale(3.0, friction_random_vector(s));
        const double size = draw_size(s), phase = uniform(s, 0.0, TWO_PI);
        const int object = add_body(s, at, size);
        for (int k = 0; k < fingers && !full(s); k++) {
            const double around = phase + TWO_PI * k / fingers;
            perp_vec3 out = perp_vec3_make(cos(around), sin(around), 0);
            out = s->even ? out : noisy(s, out, 0.4);
            int finger = FRICTION_GROUND;
            const int kind = manner == 3 ? below(s, 3) : manner;
            if (kind == 1) {
                finger = add_body(s, perp_vec3_add_scaled(at, 1.5 * size, out), 0.5 * size);
                s->bodies[finger].driven = true;
            } else if (kind == 2 && s->robot_count < FRICTION_MAX_ROBOTS) {
                finger = LINK - add_robot(s, perp_vec3_add_scaled(at, 3.0 * size, out), 2 + below(s, 4));
            }
            const perp_vec3 centre = perp_vec3_add_scaled(at, size, out), normal = perp_vec3_scale(-1.0, out);
            for (int i = 0; i < each; i++) {
                const perp_vec3 point =
                    i ? perp_vec3_add_scaled(centre, 0.4 * size, friction_random_vector(s)) : centre;
                add_touch(s, finger, object, point, i ? noisy(s, normal, 0.2) : normal);
            }
        }
    }
    for (int i = 0; i < s->touch_count; i++) {
        friction_touch *k = &s->touches[i];
        if (k->a <= LINK) {
            const int robot = LINK - k->a;
            k->a = link_of(s, robot, s->robots[robot].joint_count - 1);
        }
    }
}

/* Balls on a jittered lattice: those that come near each other touch. Or boxes, which touch in three points. */
static void build_pile(friction_scene *s)
{
    const int drawn = s->planar ? 1 + below(s, 12) : 1 + below(s, 6), side = s->width > 0 ? s->width : drawn;
    const double jitter = s->even ? 0.0 : 0.05;
    const bool boxes = happens(s, 0.4);
    const double reach = s->even ? 0.205 : 0.25; /* centres of touching balls are 0.2 m apart */
    while (!full(s)) {
        const int i = s->body_count, level = s->planar ? i / side : i / (side * side);
        const int x = i % side, y = s->planar ? level : i / side % side, z = s->planar ? 0 : level;
        const double shift = level % 2 ? 0.1 : 0.0; /* each in a hollow of the layer below */
        perp_vec3 at = s->planar ? perp_vec3_make(0.2 * x + shift, 0.1 + 0.2 * sqrt(0.75) * y, 0)
                                 : perp_vec3_make(0.2 * x + shift, 0.2 * y + shift, 0.1 + 0.2 * sqrt(0.5) * z);
        at = perp_vec3_add_scaled(at, jitter, friction_random_vector(s));
        const int b = add_body(s, at, 0.1);
        if (level == 0) {
            boxes
                ? add_face(s, FRICTION_GROUND, b, perp_vec3_add_scaled(at, -0.1, friction_up(s)), friction_up(s), 0.07)
                : add_touch(s, FRICTION_GROUND, b, perp_vec3_add_scaled(at, -0.1, friction_up(s)), friction_up(s));
        }
        const int layer = s->planar ? side : side * side;
        for (int a = b > 2 * layer ? b - 2 * layer : 0; a < b; a++) {
            const perp_vec3 apart = perp_vec3_sub(at, s->bodies[a].position);
            if (perp_vec3_norm(apart) > reach) {
                continue;
            }
            const perp_vec3 normal = perp_vec3_normalise(apart);
            const perp_vec3 point = perp_vec3_add_scaled(s->bodies[a].position, 0.5, apart);
            for (int k = 0; k < (boxes ? 3 : 1); k++) {
                add_touch(s, a, b, k ? perp_vec3_add_scaled(point, 0.06, friction_random_vector(s)) : point, normal);
            }
        }
    }
}

/* Voussoirs of half a circle, in arches behind each other. */
static void build_arch(friction_scene *s)
{
    const int stones = 3 + below(s, 18);
    const double radius = 1.0, thick = uniform(s, 0.05, 0.2);
    for (int arch = 0; !full(s); arch++) {
        int last = FRICTION_GROUND;
        for (int k = 0; k <= stones && !full(s); k++) {
            const double joint = 0.5 * TWO_PI * k / stones, middle = 0.5 * TWO_PI * (k + 0.5) / stones;
            const perp_vec3 face = s->planar ? perp_vec3_make(radius * cos(joint), radius * sin(joint), 0)
                                             : perp_vec3_make(radius * cos(joint), arch, radius * sin(joint));
            const perp_vec3 normal =
                s->planar ? perp_vec3_make(-sin(joint), cos(joint), 0) : perp_vec3_make(-sin(joint), 0, cos(joint));
            const perp_vec3 at = s->planar ? perp_vec3_make(radius * cos(middle), radius * sin(middle), 0)
                                           : perp_vec3_make(radius * cos(middle), arch, radius * sin(middle));
            const int b = k < stones ? add_body(s, at, thick) : FRICTION_GROUND;
            add_face(s, last, b, face, normal, thick);
            last = b;
        }
    }
}

/* Boxes in rows on a slope, each with its face on it and leaning on the next; a stop may hold the first. */
static void build_incline(friction_scene *s)
{
    const int length = 1 + below(s, 12);
    const bool stop = happens(s, 0.5), linked = happens(s, 0.8);
    const perp_vec3 up =
        s->planar ? perp_vec3_make(sin(s->slope), cos(s->slope), 0) : perp_vec3_make(sin(s->slope), 0, cos(s->slope));
    const perp_vec3 back =
        s->planar ? perp_vec3_make(-up.y, up.x, 0) : perp_vec3_make(-cos(s->slope), 0, sin(s->slope));
    s->floor = up;
    for (int row = 0; !full(s); row++) {
        const double size = 0.1;
        for (int i = 0; i < length && !full(s); i++) {
            const perp_vec3 start = s->planar ? perp_vec3_make(0, 0, 0) : perp_vec3_make(0, row, 0);
            const perp_vec3 foot = perp_vec3_add_scaled(start, 2.0 * size * i, back);
            const int b = add_body(s, perp_vec3_add_scaled(foot, size, up), size);
            add_face(s, FRICTION_GROUND, b, foot, up, size);
            if (i > 0 ? linked : stop) {
                const perp_vec3 face = perp_vec3_add_scaled(s->bodies[b].position, -size, back);
                add_face(s, i > 0 ? b - 1 : FRICTION_GROUND, b, face, back, size);
            }
        }
    }
}

/* Rows that belong to no mechanism: friction_scene_assemble draws them. */
static void build_dense(friction_scene *s)
{
    const int most = 1 + s->touch_room / 3;
    const int bodies = 1 + below(s, most < 8 ? most : 8);
    while (s->body_count < bodies) {
        add_body(s, friction_random_vector(s), draw_size(s));
    }
    while (s->touch_count < s->touch_room) {
        add_touch(s, FRICTION_GROUND, below(s, bodies), friction_random_vector(s),
                  perp_vec3_normalise(friction_random_vector(s)));
    }
}

/* Trees of joints on the ground, at bodies and at each other. */
static void build_robot(friction_scene *s)
{
    const int robots = 1 + below(s, 3), bodies = below(s, 1 + s->touch_room / 4);
    for (int k = 0; k < bodies && k < FRICTION_MAX_BODIES; k++) {
        const double size = draw_size(s);
        add_body(s, perp_vec3_add_scaled(friction_random_vector(s), 1.0 + size, friction_up(s)), size);
    }
    for (int k = 0; k < robots; k++) {
        add_robot(s, friction_random_vector(s), 1 + below(s, FRICTION_MAX_JOINTS));
    }
    for (int i = 0; s->touch_count < s->touch_room; i++) {
        if (i < bodies) {
            add_touch(s, FRICTION_GROUND, i,
                      perp_vec3_add_scaled(s->bodies[i].position, -s->bodies[i].size, friction_up(s)), friction_up(s));
            continue;
        }
        const int robot = below(s, robots), joint = below(s, s->robots[robot].joint_count);
        const perp_vec3 at = s->robots[robot].joints[joint].position;
        const int other = bodies > 0 && happens(s, 0.6) ? below(s, bodies) : FRICTION_GROUND;
        const perp_vec3 normal = noisy(s, friction_up(s), 0.8);
        const perp_vec3 point = perp_vec3_add_scaled(at, 0.1, friction_random_vector(s));
        add_touch(s, other, link_of(s, robot, joint), point, normal);
    }
}

/* Boxes on the ground in a row; a pusher (driven, or the moving ground) at the first, and sometimes at a side. */
static void build_push(friction_scene *s)
{
    const int length = 1 + below(s, 6);
    const perp_vec3 up = friction_up(s), ahead = {1, 0, 0}, side = {0, 1, 0};
    const bool pusher = happens(s, 0.5), second = !s->planar && happens(s, 0.3);
    for (int row = 0; !full(s); row++) {
        int last = FRICTION_GROUND;
        const double size = draw_size(s);
        const perp_vec3 start = s->planar ? perp_vec3_make(0, 0, 0) : perp_vec3_make(0, 2.0 * row, 0);
        if (pusher) {
            last = add_body(s, perp_vec3_add_scaled(start, -0.5, ahead), 0.05);
            s->bodies[last].driven = true;
        }
        for (int i = 0; i < length && !full(s); i++) {
            const perp_vec3 foot = perp_vec3_add_scaled(start, 2.0 * size * i, ahead);
            const int b = add_body(s, perp_vec3_add_scaled(foot, size, up), size);
            const perp_vec3 centre = perp_vec3_add_scaled(s->bodies[b].position, -size, ahead);
            add_face(s, FRICTION_GROUND, b, foot, up, size);
            if (i > 0 || happens(s, 0.5)) {
                add_face(s, last, b, centre, ahead, size);
            } else {
                add_touch(s, last, b, perp_vec3_add_scaled(centre, 0.5 * size, friction_random_vector(s)), ahead);
            }
            if (second) {
                add_touch(s, FRICTION_GROUND, b, perp_vec3_add_scaled(s->bodies[b].position, -size, side), side);
            }
            last = b;
        }
    }
}

void friction_scene_build(friction_scene *s, int contacts)
{
    static void (*const builders[FRICTION_FAMILIES])(friction_scene *) = {
        build_stack, build_wall,    build_wedge, build_grasp, build_pile,
        build_arch,  build_incline, build_dense, build_robot, build_push};
    s->dof = s->planar ? 3 : 6;
    s->body_count = s->robot_count = s->touch_count = 0;
    s->touch_room = contacts;
    s->floor = friction_up(s);
    builders[s->family](s);
    for (int i = 0; i < s->touch_count; i++) {
        friction_touch *k = &s->touches[i];
        k->held =
            k->a == FRICTION_GROUND && (s->family == FRICTION_GRASP ||
                                        (s->family == FRICTION_PUSH && perp_vec3_dot(k->normal, friction_up(s)) < 0.5));
    }
    s->n = s->body_count * s->dof;
    for (int k = 0; k < s->robot_count; k++) {
        s->robots[k].first_dof = s->n;
        s->n += s->robots[k].joint_count;
    }
}

/* ---- friction ---------------------------------------------------------------------------------------------------- */

void friction_scene_roughen(friction_scene *s)
{
    const int manner = below(s, 12);
    const double shared = manner < 4 ? uniform(s, 0.1, 1.0) : uniform(s, 0.0, 2.0);
    const double smooth = happens(s, 0.15) ? uniform(s, 0.0, 1.0) : 0.0;
    for (int i = 0; i < s->touch_count; i++) {
        friction_touch *k = &s->touches[i];
        const double own = happens(s, 0.1) ? 0.0 : happens(s, 0.1) ? uniform(s, 0.0, 1e-3) : uniform(s, 0.0, 2.0);
        k->mu = manner == 11 ? 0.0 : manner < 7 ? shared : own;
        k->rows = happens(s, smooth) ? 1 : s->planar ? 2 : 3;
    }
    if (!happens(s, 0.2)) {
        return;
    }
    const double copies = uniform(s, 0.05, 0.5);
    for (int i = 1; i < s->touch_count; i++) { /* in the place of others, so that the size stays */
        if (happens(s, copies)) {
            s->touches[i] = s->touches[below(s, i)];
            if (happens(s, 0.3)) { /* as two features that nearly coincide give it */
                s->touches[i].point = perp_vec3_add_scaled(s->touches[i].point, 1e-9, friction_random_vector(s));
            }
        }
    }
}
