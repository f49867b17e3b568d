#include "convex_generator_scene.h"

#include <string.h>

static const double TWO_PI = 6.283185307179586;

/* ---- bodies and robots ------------------------------------------------------------------------------------------- */

void scene_choose_sizes(scene *s)
{
    const int wanted = (int)log_uniform(s, 3.0, CONVEX_MAX_N + 0.99);
    s->dof = s->planar ? 3 : 6;
    s->robot_count = wanted < 10 ? 0 : s->family == REACH ? 1 + below(s, 2) : happens(s, 0.3) ? 1 : 0;
    int left = wanted;
    s->joint_count = 0;
    for (int r = 0; r < s->robot_count; r++) {
        const int most = left < 12 ? left : 12;
        s->robot_joints[r] = most < 4 ? 0 : 4 + below(s, most - 3);
        s->joint_count += s->robot_joints[r];
        left -= s->robot_joints[r];
    }
    s->body_count = left / s->dof;
    if (s->body_count == 0 && s->joint_count == 0) {
        s->body_count = 1;
    }
    if (s->body_count > MAX_BODIES) {
        s->body_count = MAX_BODIES;
    }
    s->n = s->body_count * s->dof + s->joint_count;
    const bool robots_first = happens(s, 0.5);
    s->body_dof = robots_first ? s->joint_count : 0;
    s->robot_dof[0] = robots_first ? 0 : s->body_count * s->dof;
    s->robot_dof[1] = s->robot_dof[0] + s->robot_joints[0];
}

static void place_body(scene *s, int i)
{
    body *b = &s->bodies[i];
    b->parent = s->family == PILE || s->family == REACH ? below(s, i + 1) - 1 : i - 1;
    if (s->family == FACES && !s->symmetric && happens(s, 0.3)) {
        b->parent = GROUND;
    }
    b->away = up(s);
    if (b->parent == GROUND) {
        b->position =
            s->symmetric ? perp_vec3_scale(b->size, up(s)) : perp_vec3_scale(0.5, random_vector(s, s->planar));
        return;
    }
    if (s->family == PILE || s->family == REACH) {
        b->away = perp_vec3_normalise(perp_vec3_add_scaled(b->away, 1.5, random_vector(s, s->planar)));
    }
    const body *parent = &s->bodies[b->parent];
    b->position = perp_vec3_add_scaled(parent->position, parent->size + b->size, b->away);
}

void scene_make_bodies(scene *s, double decades)
{
    for (int i = 0; i < s->body_count; i++) {
        body *b = &s->bodies[i];
        b->size = s->symmetric ? 0.125 : uniform(s, 0.05, 0.3);
        b->mass = s->symmetric ? 1.0 : pow(10.0, uniform(s, -0.5, 0.5) * decades);
        b->weightless = s->curvature >= SEMIDEFINITE || (s->curvature == MIXED && happens(s, 0.5));
        place_body(s, i);
    }
}

void scene_make_robots(scene *s)
{
    for (int r = 0, j = 0; r < s->robot_count; r++) {
        perp_vec3 at = random_vector(s, s->planar);
        for (int k = 0; k < s->robot_joints[r]; k++, j++) {
            joint *q = &s->joints[j];
            q->robot = r;
            q->parent = k == 0 ? -1 : happens(s, 0.8) ? j - 1 : j - 1 - below(s, k);
            q->axis = s->planar ? perp_vec3_make(0, 0, 1) : perp_vec3_normalise(random_vector(s, false));
            at = q->parent < 0 ? at : s->joints[q->parent].position;
            q->position = perp_vec3_add_scaled(at, 0.3, random_vector(s, s->planar));
        }
    }
}

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

static perp_vec3 position_of(const scene *s, int thing)
{
    return thing < s->body_count ? s->bodies[thing].position : s->joints[thing - s->body_count].position;
}

static perp_vec3 noisy(scene *s, perp_vec3 along, double noise)
{
    return perp_vec3_normalise(perp_vec3_add_scaled(along, noise, random_vector(s, s->planar)));
}

/* A body and its parent or the ground, with a normal that is roughly that of their centres. */
static touch pile_touch(scene *s)
{
    touch k = {.b = below(s, s->body_count)};
    const body *b = &s->bodies[k.b];
    k.a = happens(s, 0.7) ? b->parent : GROUND;
    const perp_vec3 along = k.a == GROUND ? up(s) : b->away;
    k.normal = happens(s, 0.5) ? along : noisy(s, along, 0.3);
    k.point = perp_vec3_add_scaled(b->position, -b->size, along);
    k.point = perp_vec3_add_scaled(k.point, 0.5 * b->size, random_vector(s, s->planar));
    return k;
}

/* The corners of a face with one normal, four or (with the middles of its edges) eight: more than the motions they
 * prevent. Later faces of a body are other sides of it on the ground. */
static touch face_touch(const scene *s, int number, int corners)
{
    static const double across[8] = {-1, 1, 1, -1, 0, 1, 0, -1}, along[8] = {-1, -1, 1, 1, -1, 0, 1, 0};
    const int face = number / corners, corner = number % corners;
    touch k = {.b = face % s->body_count};
    const body *b = &s->bodies[k.b];
    k.a = face < s->body_count ? b->parent : GROUND;
    const double half = k.a == GROUND ? b->size : fmin(b->size, s->bodies[k.a].size);
    perp_vec3 t = {1, 0, 0}, o = {0, 0, 0};
    k.normal = up(s);
    if (!s->planar) {
        perp_tangents(k.normal, &t, &o);
    }
    k.point = perp_vec3_add_scaled(b->position, -b->size, k.normal);
    k.point = perp_vec3_add_scaled(k.point, half * across[corner], t);
    k.point = perp_vec3_add_scaled(k.point, half * along[corner], o);
    return k;
}

/* Bodies between walls that lean by `angle` from the vertical; every third contact holds two bodies together. */
static touch wedge_touch(scene *s, int number, int walls, double angle)
{
    touch k = {.a = GROUND, .b = number % s->body_count};
    const body *b = &s->bodies[k.b];
    if (number % 3 == 2 && k.b > 0) {
        k.a = b->parent;
        k.normal = noisy(s, up(s), 0.2);
    } else {
        const double around = TWO_PI * (number % walls) / walls;
        const perp_vec3 out =
            s->planar ? perp_vec3_make(number % 2 ? 1 : -1, 0, 0) : perp_vec3_make(cos(around), sin(around), 0);
        k.normal = perp_vec3_normalise(perp_vec3_add_scaled(perp_vec3_scale(-cos(angle), out), sin(angle), up(s)));
    }
    k.point = perp_vec3_add_scaled(b->position, -b->size, k.normal);
    const double spread = happens(s, 0.5) ? 0.5 * b->size : 0.0;
    k.point = perp_vec3_add_scaled(k.point, spread, random_vector(s, s->planar));
    return k;
}

/* A link at a body, at the ground, or at a link of the other robot. */
static touch robot_touch(scene *s)
{
    touch k = {.a = s->body_count + below(s, s->joint_count)};
    k.b = s->body_count > 0 ? below(s, s->body_count) : GROUND;
    if (s->body_count == 0 || happens(s, 0.15)) {
        const int link = k.a, other = s->body_count + below(s, s->joint_count);
        const bool two = s->joints[other - s->body_count].robot != s->joints[link - s->body_count].robot;
        k.a = two ? other : GROUND;
        k.b = link;
    }
    k.normal = noisy(s, happens(s, 0.5) ? up(s) : random_vector(s, s->planar), 0.3);
    k.point = perp_vec3_add_scaled(position_of(s, k.b), 0.1, random_vector(s, s->planar));
    return k;
}

/* What friction the scene's contacts have. */
typedef struct friction {
    int manner; /* 0: none; 1..3: one value; else each its own */
    double shared;
    int rays; /* 0: quadratic, -1: each its own */
    double frictionless;
} friction;

static friction choose_friction(scene *s)
{
    friction f = {.manner = below(s, 10)};
    f.shared = uniform(s, 0.0, 2.0);
    const int kind = below(s, 10);
    f.rays = kind < 4 ? 0 : kind < 9 ? 2 + below(s, MAX_RAYS - 1) : -1;
    f.frictionless = happens(s, 0.2) ? uniform(s, 0.0, 1.0) : 0.0;
    return f;
}

static void apply_friction(scene *s, const friction *f, touch *k)
{
    const double own = happens(s, 0.1) ? 0.0 : uniform(s, 0.0, 2.0);
    const int rays = happens(s, 0.5) ? 0 : 2 + below(s, MAX_RAYS - 1);
    k->mu = f->manner == 0 ? 0.0 : f->manner < 4 ? f->shared : own;
    k->rays = f->rays < 0 ? rays : f->rays;
    k->phase = happens(s, 0.5) ? 0.0 : uniform(s, 0.0, TWO_PI);
    if (s->planar && k->rays > 0) {
        k->rays = 2;
    }
    if (happens(s, f->frictionless)) {
        k->rays = 1;
        k->mu = 0.0;
    }
}

void scene_make_touches(scene *s)
{
    const double copies = happens(s, 0.3) ? uniform(s, 0.05, 0.5) : 0.0, angle = uniform(s, 0.02, 1.2);
    const friction f = choose_friction(s);
    const int walls = s->planar ? 2 : 2 + below(s, 3);
    const int corners = s->planar ? 2 : happens(s, 0.3) ? 8 : 4;
    const int things = s->body_count > 0 ? s->body_count : 1;
    const double each = s->family == FACES ? corners * uniform(s, 0.5, 1.5) : log_uniform(s, 0.7, 7.0);
    const int wanted = (int)(0.999 + things * each);
    s->touch_count = wanted > CONVEX_MAX_CONTACTS - 1 ? CONVEX_MAX_CONTACTS - 1 : wanted;
    for (int i = 0; i < s->touch_count; i++) {
        touch *k = &s->touches[i];
        if (i > 0 && happens(s, copies)) {
            *k = s->touches[below(s, i)];
            if (happens(s, 0.3)) { /* as two features that nearly coincide give it */
                k->point = perp_vec3_add_scaled(k->point, 1e-9, random_vector(s, s->planar));
            }
            continue;
        }
        const bool robot = s->joint_count > 0 && (s->body_count == 0 || happens(s, s->family == REACH ? 0.4 : 0.1));
        *k = robot                ? robot_touch(s)
             : s->family == FACES ? face_touch(s, i, corners)
             : s->family == WEDGE ? wedge_touch(s, i, walls, angle)
                                  : pile_touch(s);
        apply_friction(s, &f, k);
    }
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

void scene_add_velocity(const scene *s, int thing, perp_vec3 point, perp_vec3 direction, double sign, double *row,
                        bool *touched)
{
    if (thing == GROUND) {
        return;
    }
    if (thing < s->body_count) {
        const perp_vec3 arm = perp_vec3_cross(perp_vec3_sub(point, s->bodies[thing].position), direction);
        const double spatial[6] = {direction.x, direction.y, direction.z, arm.x, arm.y, arm.z};
        const double plane[3] = {direction.x, direction.y, arm.z};
        const int first = s->body_dof + thing * s->dof;
        for (int k = 0; k < s->dof; k++) {
            row[first + k] += sign * (s->planar ? plane[k] : spatial[k]);
            touched[first + k] = true;
        }
        return;
    }
    for (int j = thing - s->body_count; j >= 0; j = s->joints[j].parent) {
        const joint *q = &s->joints[j];
        const int dof = s->robot_dof[0] + j; /* the robots' unknowns follow each other */
        row[dof] += sign * perp_vec3_dot(direction, perp_vec3_cross(q->axis, perp_vec3_sub(point, q->position)));
        touched[dof] = true;
    }
}

static int fill_rays(const touch *k, int rows, double rays[3 * MAX_RAYS])
{
    if (k->rays == 0) {
        for (int i = 0; i < rows * rows; i++) {
            rays[i] = i % (rows + 1) ? 0.0 : i == 0 ? 1.0 : k->mu;
        }
        return rows;
    }
    for (int i = 0; i < k->rays; i++) {
        const double angle = k->phase + TWO_PI * i / k->rays;
        rays[i * rows] = 1.0;
        if (rows == 2) {
            rays[i * rows + 1] = i ? -k->mu : k->mu;
        } else if (rows == 3) {
            rays[i * rows + 1] = k->mu * cos(angle);
            rays[i * rows + 2] = k->mu * sin(angle);
        }
    }
    return k->rays;
}

void scene_add_touch(const scene *s, const touch *k, double sign, convex_case *c)
{
    double full[3][CONVEX_MAX_N] = {{0}}, jacobian[3 * MAX_DOFS], rays[3 * MAX_RAYS];
    bool touched[CONVEX_MAX_N] = {false};
    int dofs[MAX_DOFS], count = 0;
    perp_vec3 directions[3] = {k->normal, {-k->normal.y, k->normal.x, 0.0}, {0, 0, 0}};
    if (!s->planar) {
        perp_tangents(k->normal, &directions[1], &directions[2]);
    }
    const int rows = k->rays == 1 ? 1 : s->planar ? 2 : 3;
    for (int i = 0; i < rows; i++) {
        scene_add_velocity(s, k->a, k->point, directions[i], -sign, full[i], touched);
        scene_add_velocity(s, k->b, k->point, directions[i], sign, full[i], touched);
    }
    for (int d = 0; d < s->n; d++) {
        if (touched[d]) {
            dofs[count++] = d;
        }
    }
    for (int i = 0; i < rows * count; i++) {
        jacobian[i] = full[i / count][dofs[i % count]];
    }
    const int slacks = fill_rays(k, rows, rays);
    const convex_contact contact = {rows, count, slacks, dofs, jacobian, rays, k->rays == 0};
    convex_case_add_contact(c, &contact);
}

void scene_add_plain_row(convex_case *c, int count, const int *dofs, const double *values)
{
    const double one = 1.0;
    const convex_contact contact = {1, count, 1, dofs, values, &one, false};
    convex_case_add_contact(c, &contact);
}

/* ---- Hessian ----------------------------------------------------------------------------------------------------- */

static void fill_mass(scene *s, const body *b, double *h)
{
    if (s->planar) {
        h[0] = h[4] = b->mass;
        h[8] = b->mass * b->size * b->size * (s->symmetric ? 0.5 : uniform(s, 0.2, 0.6));
        return;
    }
    perp_mat3 inertia = {{0}};
    for (int k = 0; k < 3; k++) {
        h[7 * k] = b->mass;
        inertia.m[4 * k] = b->mass * b->size * b->size * (s->symmetric ? 0.66 : uniform(s, 0.2, 0.6));
    }
    if (!s->symmetric) {
        const perp_mat3 turn = perp_quat_to_mat3(perp_quat_exp(perp_vec3_scale(3.0, random_vector(s, false))));
        inertia = perp_mat3_turn(&turn, &inertia);
    }
    for (int i = 0; i < 9; i++) {
        const int row = i / 3, col = i % 3;
        h[6 * (3 + row) + 3 + col] = 0.5 * (inertia.m[3 * row + col] + inertia.m[3 * col + row]);
    }
}

/* Stiffness: diagonal, or of full rank through a random product, or (where H may be singular) of half the rank. */
static void fill_robot(scene *s, int size, double decades, double *h)
{
    const int manner = below(s, s->curvature == STRICT ? 2 : 3);
    if (s->curvature == FLAT) {
        return;
    }
    for (int i = 0; i < size; i++) {
        h[i * size + i] = manner == 2 ? 0.0 : pow(10.0, uniform(s, -0.5, 0.5) * decades);
    }
    for (int k = 0; manner > 0 && k < (size + 1) / 2; k++) {
        const double weight = pow(10.0, uniform(s, -0.5, 0.5) * decades);
        double v[16];
        for (int i = 0; i < size; i++) {
            v[i] = (double)(below(s, 9) - 4); /* whole numbers, so that the product is exactly semidefinite */
        }
        for (int i = 0; i < size * size; i++) {
            h[i] += weight * (v[i / size] * v[i % size]);
        }
    }
}

/* Blocks of size 0 do not exist: the robots come first or last. */
void scene_make_hessian(scene *s, convex_case *c, double decades)
{
    const bool robots_first = s->body_dof > 0 || s->body_count == 0;
    int sizes[MAX_BODIES + 2], count = 0, robot_block[2] = {0, 0}, first_body = 0;
    for (int pass = 0; pass < 2; pass++) {
        if ((pass == 0) == robots_first) {
            for (int r = 0; r < s->robot_count; r++) {
                robot_block[r] = count;
                if (s->robot_joints[r] > 0) {
                    sizes[count++] = s->robot_joints[r];
                }
            }
        } else {
            first_body = count;
            for (int i = 0; i < s->body_count; i++) {
                sizes[count++] = s->dof;
            }
        }
    }
    convex_case_start(c, sizes, count);
    for (int i = 0; i < s->body_count; i++) {
        if (!s->bodies[i].weightless) {
            fill_mass(s, &s->bodies[i], convex_case_block(c, first_body + i));
        }
    }
    for (int r = 0; r < s->robot_count; r++) {
        if (s->robot_joints[r] > 0) {
            fill_robot(s, s->robot_joints[r], decades, convex_case_block(c, robot_block[r]));
        }
    }
}

/* ---- motions ----------------------------------------------------------------------------------------------------- */

void scene_set_twist(const scene *s, int i, perp_vec3 linear, perp_vec3 angular, double *x)
{
    const perp_vec3 v = perp_vec3_add(linear, perp_vec3_cross(angular, s->bodies[i].position));
    const double spatial[6] = {v.x, v.y, v.z, angular.x, angular.y, angular.z}, plane[3] = {v.x, v.y, angular.z};
    memcpy(x + s->body_dof + i * s->dof, s->planar ? plane : spatial, (size_t)s->dof * sizeof *x);
}

perp_vec3 scene_random_turn(scene *s)
{
    perp_vec3 r = random_vector(s, false);
    if (s->planar) {
        r.x = r.y = 0.0;
    }
    return r;
}

void scene_draw_motion(scene *s, double *x)
{
    const perp_vec3 linear = random_vector(s, s->planar), angular = scene_random_turn(s);
    const double resting = happens(s, 0.2) ? 1.0 : uniform(s, 0.0, 0.9), together = uniform(s, 0.0, 1.0);
    for (int i = 0; i < s->body_count; i++) {
        if (!happens(s, resting)) {
            const bool one = happens(s, together);
            const perp_vec3 own = random_vector(s, s->planar), turn = scene_random_turn(s);
            scene_set_twist(s, i, one ? linear : own, one ? angular : turn, x);
        }
    }
    for (int j = 0; j < s->joint_count; j++) {
        x[s->robot_dof[0] + j] = happens(s, resting) ? 0.0 : uniform(s, -1.0, 1.0);
    }
}
