/* The matrices of a scene: A and the contacts' rows. */
#include "friction_generator_scene.h"

#include <math.h>
#include <string.h>

enum { MAX_DOFS = 2 * FRICTION_MAX_JOINTS + 12, DENSE_DOFS = 48 };

void friction_scene_set_twist(const friction_scene *s, int i, perp_vec3 linear, perp_vec3 angular, double *v)
{
    const perp_vec3 at = perp_vec3_add(linear, perp_vec3_cross(angular, s->bodies[i].position));
    const double spatial[6] = {at.x, at.y, at.z, angular.x, angular.y, angular.z}, plane[3] = {at.x, at.y, angular.z};
    memcpy(v + i * s->dof, s->planar ? plane : spatial, (size_t)s->dof * sizeof *v);
}

/* ---- A ----------------------------------------------------------------------------------------------------------- */

static void fill_mass(friction_scene *s, const friction_body *b, double *h)
{
    const double around = b->mass * b->size * b->size;
    if (s->planar) {
        h[0] = h[4] = b->mass;
        h[8] = around * (s->even ? 0.5 : uniform(s, 0.2, 0.6));
        return;
    }
    perp_mat3 inertia = {{0}};
    for (int k = 0; k < 3; k++) {
        h[7 * k] = b->mass;
        inertia.m[4 * k] = around * (s->even ? 0.66 : uniform(s, 0.2, 0.6));
    }
    if (!s->even) {
        const perp_mat3 turn = perp_quat_to_mat3(perp_quat_exp(perp_vec3_scale(3.0, friction_random_vector(s))));
        inertia = perp_mat3_turn(&turn, &inertia);
    }
    for (int i = 0; i < 9; i++) {
        const int row = i / 3, col = i % 3;
        h[6 * (3 + row) + 3 + col] = 0.5 * (inertia.m[3 * row + col] + inertia.m[3 * col + row]);
    }
}

static void fill_stiffness(friction_scene *s, int size, double *h)
{
    for (int i = 0; i < size; i++) {
        h[i * size + i] = s->even ? 1.0 : pow(10.0, uniform(s, -0.5, 0.5) * s->decades);
    }
}

/* A mass matrix of a tree is full: a diagonal and products of few vectors. */
static void fill_tree(friction_scene *s, int size, double *h)
{
    fill_stiffness(s, size, h);
    for (int k = 0; k < (size + 1) / 2; k++) {
        double v[FRICTION_MAX_JOINTS];
        const double weight = s->even ? 1.0 : pow(10.0, uniform(s, -0.5, 0.5) * s->decades);
        for (int i = 0; i < size; i++) {
            v[i] = uniform(s, -1.0, 1.0);
        }
        for (int i = 0; i < size * size; i++) {
            h[i] += weight * (v[i / size] * v[i % size]);
        }
    }
}

static void fill_blocks(friction_scene *s, friction_inertia inertia, convex_case *c)
{
    for (int i = 0; i < s->body_count; i++) {
        double *h = convex_case_block(c, i);
        if (inertia == FRICTION_MASSES) {
            fill_mass(s, &s->bodies[i], h);
        } else if (inertia == FRICTION_DRIVES && s->bodies[i].driven) {
            fill_stiffness(s, s->dof, h);
        }
    }
    for (int k = 0; k < s->robot_count; k++) {
        double *h = convex_case_block(c, s->body_count + k);
        if (inertia == FRICTION_MASSES) {
            fill_tree(s, s->robots[k].joint_count, h);
        } else if (inertia == FRICTION_DRIVES) {
            fill_stiffness(s, s->robots[k].joint_count, h);
        }
    }
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* The rows of one contact, columns as they come; a thing's are ascending, and no thing is twice. */
typedef struct rows {
    int count;
    int dofs[MAX_DOFS + DENSE_DOFS];
    double values[3][MAX_DOFS + DENSE_DOFS];
} rows;

static void add_column(rows *r, int dof, const double *values, int count)
{
    for (int i = 0; i < count; i++) {
        r->values[i][r->count] = values[i];
    }
    r->dofs[r->count++] = dof;
}

static void add_body_columns(const friction_scene *s, const friction_touch *k, int body, const perp_vec3 *directions,
                             double sign, rows *r)
{
    const perp_vec3 arm = perp_vec3_sub(k->point, s->bodies[body].position);
    for (int j = 0; j < s->dof; j++) {
        double values[3];
        for (int i = 0; i < k->rows; i++) {
            const perp_vec3 d = directions[i], turn = perp_vec3_cross(arm, d);
            const double spatial[6] = {d.x, d.y, d.z, turn.x, turn.y, turn.z}, plane[3] = {d.x, d.y, turn.z};
            values[i] = sign * (s->planar ? plane[j] : spatial[j]);
        }
        add_column(r, body * s->dof + j, values, k->rows);
    }
}

static void add_link_columns(const friction_scene *s, const friction_touch *k, int link, const perp_vec3 *directions,
                             double sign, rows *r)
{
    const friction_robot *robot = &s->robots[link / FRICTION_MAX_JOINTS];
    bool moves[FRICTION_MAX_JOINTS] = {false};
    for (int j = link % FRICTION_MAX_JOINTS; j >= 0; j = robot->joints[j].parent) {
        moves[j] = true;
    }
    for (int j = 0; j < robot->joint_count; j++) {
        const friction_joint *q = &robot->joints[j];
        double values[3];
        for (int i = 0; i < k->rows && moves[j]; i++) {
            values[i] =
                sign * perp_vec3_dot(directions[i], perp_vec3_cross(q->axis, perp_vec3_sub(k->point, q->position)));
        }
        if (moves[j]) {
            add_column(r, robot->first_dof + j, values, k->rows);
        }
    }
}

static void add_thing(const friction_scene *s, const friction_touch *k, int thing, const perp_vec3 *directions,
                      double sign, rows *r)
{
    if (thing >= s->body_count) {
        add_link_columns(s, k, thing - s->body_count, directions, sign, r);
    } else if (thing >= 0) {
        add_body_columns(s, k, thing, directions, sign, r);
    }
}

/* On all unknowns, with numbers that mean nothing. */
static void add_dense_columns(friction_scene *s, const friction_touch *k, rows *r)
{
    for (int j = 0; j < s->n && j < DENSE_DOFS; j++) {
        double values[3];
        for (int i = 0; i < k->rows; i++) {
            values[i] = uniform(s, -1.0, 1.0);
        }
        add_column(r, j, values, k->rows);
    }
}

static void add_contact(friction_scene *s, const friction_touch *k, friction_case *c)
{
    rows r = {.count = 0};
    double jacobian[3 * (MAX_DOFS + DENSE_DOFS)];
    perp_vec3 directions[3] = {k->normal, {-k->normal.y, k->normal.x, 0.0}, {0, 0, 0}};
    if (!s->planar) {
        perp_tangents(k->normal, &directions[1], &directions[2]);
    }
    if (s->family == FRICTION_DENSE) {
        add_dense_columns(s, k, &r);
    } else {
        const bool ordered = k->a < k->b;
        add_thing(s, k, ordered ? k->a : k->b, directions, ordered ? -1.0 : 1.0, &r);
        add_thing(s, k, ordered ? k->b : k->a, directions, ordered ? 1.0 : -1.0, &r);
    }
    for (int i = 0; i < k->rows; i++) {
        memcpy(jacobian + i * r.count, r.values[i], (size_t)r.count * sizeof *jacobian);
    }
    const friction_contact contact = {k->rows, r.count, r.dofs, jacobian, k->mu};
    friction_case_add(c, &contact);
}

void friction_scene_assemble(friction_scene *s, friction_inertia inertia, friction_case *c)
{
    int sizes[FRICTION_MAX_BODIES + FRICTION_MAX_ROBOTS];
    for (int i = 0; i < s->body_count + s->robot_count; i++) {
        sizes[i] = i < s->body_count ? s->dof : s->robots[i - s->body_count].joint_count;
    }
    friction_case_start(c, sizes, s->body_count + s->robot_count);
    c->planar = s->planar;
    c->inertial = inertia == FRICTION_MASSES;
    fill_blocks(s, inertia, c->base);
    for (int i = 0; i < s->touch_count; i++) {
        add_contact(s, &s->touches[i], c);
    }
}
