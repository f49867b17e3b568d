#include "contact_test.h"

#include <stdio.h>

void check_near(double actual, double expected, double tolerance, const char *text, const char *file, int line)
{
    if (!(fabs(actual - expected) <= tolerance)) {
        fail_msg("%s:%d: %s: %.17g, expected %.17g, differs by %g > %g", file, line, text, actual, expected,
                 actual - expected, tolerance);
    }
}

void check_vector(perp_vec3 actual, perp_vec3 expected, double tolerance, const char *text, const char *file, int line)
{
    check_near(actual.x, expected.x, tolerance, text, file, line);
    check_near(actual.y, expected.y, tolerance, text, file, line);
    check_near(actual.z, expected.z, tolerance, text, file, line);
}

/* ---- worlds ------------------------------------------------------------------------------------------------------ */

perp_scene *scene_of(const char *text)
{
    static perp_diagnostics diagnostics;
    static char whole[20000];
    const int length = snprintf(whole, sizeof whole, "perp: 1\n%s", text);
    assert_true(length > 0 && (size_t)length < sizeof whole);
    memset(&diagnostics, 0, sizeof diagnostics);
    perp_scene *scene;
    if (perp_scene_load_text(whole, (size_t)length, "test", NULL, NULL, &scene, &diagnostics) != PERP_STATUS_OK) {
        fail_msg("line %d: %s: %s", diagnostics.items[0].line, diagnostics.items[0].path, diagnostics.items[0].message);
    }
    return scene;
}

void world_open_scene(contact_world *world, perp_scene *scene)
{
    perp_error error;
    *world = (contact_world){.scene = scene};
    if (perp_model_build(scene, NULL, &world->model, &error) != PERP_STATUS_OK ||
        perp_contact_model_build(world->model, NULL, &world->contact_model, &error) != PERP_STATUS_OK ||
        perp_contact_set_create(world->contact_model, NULL, NULL, &world->set, &error) != PERP_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(perp_state_create(world->model, NULL, &world->state, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_kinematics_create(world->model, NULL, &world->kinematics, NULL), PERP_STATUS_OK);
}

void world_open(contact_world *world, const char *text)
{
    world_open_scene(world, scene_of(text));
    world_build(world);
}

void world_build(contact_world *world)
{
    perp_error error;
    perp_kinematics_update(world->model, world->state.q, world->kinematics);
    if (perp_contact_set_build(world->set, world->kinematics, &error) != PERP_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    check_set(world);
}

void world_close(contact_world *world)
{
    perp_contact_set_free(world->set);
    perp_contact_model_free(world->contact_model);
    perp_kinematics_free(world->kinematics);
    perp_state_free(&world->state);
    perp_model_free(world->model);
    perp_scene_free(world->scene);
}

int body_index(const contact_world *world, const char *name)
{
    const int b = perp_scene_find_body(world->scene, name);
    assert_true(b >= 0);
    return b;
}

void place(contact_world *world, const char *name, double x, double y, double z)
{
    double *q = world->state.q + world->model->links[body_index(world, name)].q_start;
    q[0] = x;
    q[1] = y;
    q[2] = z;
}

void place_planar(contact_world *world, const char *name, double x, double y, double theta)
{
    place(world, name, x, y, theta);
}

int contacts_between(const contact_world *world, const char *a, const char *b)
{
    const int i = body_index(world, a), j = body_index(world, b);
    int count = 0;
    for (int k = 0; k < world->set->count; k++) {
        const perp_contact *c = &world->set->contacts[k];
        count += (c->a == i && c->b == j) || (c->a == j && c->b == i);
    }
    return count;
}

const perp_contact *contact_named(const contact_world *world, const char *feature)
{
    for (int k = 0; k < world->set->count; k++) {
        char text[64];
        perp_contact_feature_text(&world->set->contacts[k], text, sizeof text);
        if (strcmp(text, feature) == 0) {
            return &world->set->contacts[k];
        }
    }
    fail_msg("no contact %s", feature);
    return NULL;
}

/* ---- what holds of any set ----------------------------------------------------------------------------------------
 */

static int order_of(const perp_contact *p, const perp_contact *q)
{
    const int pk[4] = {p->a, p->b, p->shape_a, p->shape_b};
    const int qk[4] = {q->a, q->b, q->shape_a, q->shape_b};
    for (int i = 0; i < 4; i++) {
        if (pk[i] != qk[i]) {
            return pk[i] < qk[i] ? -1 : 1;
        }
    }
    return 0;
}

static void check_frame(const perp_contact *c, bool planar)
{
    NEAR(perp_vec3_norm(c->normal), 1.0, 1e-14);
    NEAR(perp_vec3_norm(c->t), 1.0, 1e-14);
    NEAR(perp_vec3_dot(c->t, c->normal), 0.0, 1e-14);
    const perp_vec3 o = perp_vec3_cross(c->normal, c->t);
    if (planar) {
        NEAR_VECTOR(c->t, c->normal.y, -c->normal.x, 0.0, 0.0);
        NEAR_VECTOR(c->o, 0.0, 0.0, 0.0, 0.0);
    } else {
        NEAR_VECTOR(c->o, o.x, o.y, o.z, 1e-14);
    }
    for (int i = 0; i < c->direction_count; i++) {
        NEAR(perp_vec3_norm(c->directions[i]), 1.0, 1e-14);
        NEAR(perp_vec3_dot(c->directions[i], c->normal), 0.0, 1e-14);
    }
    if (c->direction_count == 2) {
        NEAR(perp_vec3_dot(c->directions[0], c->directions[1]), 0.0, 1e-14);
    }
}

/* No two contacts of two bodies have one name. */
static void check_names(const perp_contact_set *set, int i)
{
    char text[64], other[64];
    perp_contact_feature_text(&set->contacts[i], text, sizeof text);
    for (int k = i - 1; k >= 0 && set->contacts[k].a == set->contacts[i].a && set->contacts[k].b == set->contacts[i].b;
         k--) {
        perp_contact_feature_text(&set->contacts[k], other, sizeof other);
        assert_string_not_equal(text, other);
    }
}

/* One of the further places of a hole's wall or rim: there the witnesses are apart along the wall too. */
static bool is_beside(const contact_world *world, int body, int shape, int feature)
{
    return world->scene->bodies[body].shapes[shape].kind == PERP_SHAPE_HOLE && perp_feature_index(feature) % 16 != 0;
}

void check_set(const contact_world *world)
{
    const perp_contact_set *set = world->set;
    double smallest = INFINITY;
    assert_int_equal(set->rows, world->model->planar ? 2 : 3);
    assert_int_equal(set->dof_start[0], 0);
    for (int i = 0; i < set->count; i++) {
        const perp_contact *c = &set->contacts[i];
        assert_true(c->a >= 0 && c->a < c->b && c->b < world->model->body_count);
        assert_true(c->phi <= world->scene->margin);
        assert_true(i == 0 || order_of(c - 1, c) <= 0);
        check_frame(c, world->model->planar);
        const perp_vec3 gap = perp_vec3_sub(c->point_b, c->point_a);
        NEAR(perp_vec3_dot(gap, c->normal), c->phi, 1e-9);
        if (!is_beside(world, c->a, c->shape_a, c->feature_a) && !is_beside(world, c->b, c->shape_b, c->feature_b)) {
            NEAR_VECTOR(gap, c->phi * c->normal.x, c->phi * c->normal.y, c->phi * c->normal.z, 1e-9);
        }
        check_names(set, i);
        smallest = fmin(smallest, c->phi);
        for (int k = set->dof_start[i] + 1; k < set->dof_start[i + 1]; k++) {
            assert_true(set->dofs[k - 1] < set->dofs[k]);
        }
    }
    assert_true(set->smallest_gap == smallest);
}

/* ---- random scenes ------------------------------------------------------------------------------------------------
 */

double uniform(perp_random *random, double low, double high)
{
    return perp_random_uniform(random, low, high);
}

static perp_vec3 random_vector(perp_random *random, bool planar, double size)
{
    const double x = uniform(random, -size, size), y = uniform(random, -size, size), z = uniform(random, -size, size);
    return perp_vec3_make(x, y, planar ? 0.0 : z);
}

perp_quat random_rotation(perp_random *random)
{
    const double w = uniform(random, -1, 1), x = uniform(random, -1, 1), y = uniform(random, -1, 1);
    return perp_quat_normalise((perp_quat){w, x, y, uniform(random, -1, 1)});
}

static perp_placement random_placement(perp_random *random, bool planar, double size)
{
    perp_placement p = perp_placement_default();
    p.pose.position = random_vector(random, planar, size);
    if (planar) {
        p.angle = uniform(random, -3, 3);
    } else {
        p.pose.rotation = random_rotation(random);
    }
    return p;
}

static perp_shape random_shape(perp_random *random, bool planar, unsigned kinds)
{
    static const perp_vec3 arrow[5] = {
        {0.12, 0, 0}, {-0.1, 0.12, 0}, {-0.04, 0, 0}, {-0.1, -0.12, 0}, {0.05, -0.06, 0}};
    perp_shape shape = {.kind = PERP_SHAPE_NONE, .pose = random_placement(random, planar, 0.05)};
    while (!(kinds & (1u << shape.kind))) {
        shape.kind = (perp_shape_kind)uniform(random, 1, PERP_SHAPE_COUNT);
    }
    shape.radius = uniform(random, 0.03, 0.12);
    shape.length = uniform(random, 0.05, 0.2);
    shape.size = perp_vec3_make(uniform(random, 0.05, 0.25), uniform(random, 0.05, 0.25),
                                planar ? 0.0 : uniform(random, 0.05, 0.25));
    if (shape.kind == PERP_SHAPE_POLYGON) {
        shape.points = arrow;
        shape.point_count = 5;
    }
    return shape;
}

/* A child of an earlier body, by a joint of any kind. */
static void random_joint(perp_scene *scene, perp_random *random, const char *name, const char *parent,
                         const char *child)
{
    static const perp_joint_kind spatial[6] = {PERP_JOINT_REVOLUTE, PERP_JOINT_PRISMATIC, PERP_JOINT_BALL,
                                               PERP_JOINT_PLANAR,   PERP_JOINT_SCREW,     PERP_JOINT_FIXED};
    const perp_joint_kind planar[3] = {PERP_JOINT_REVOLUTE, PERP_JOINT_PRISMATIC, PERP_JOINT_FIXED};
    const int pick = (int)uniform(random, 0, scene->planar ? 3 : 6);
    perp_joint joint = perp_joint_default(name, scene->planar ? planar[pick] : spatial[pick]);
    joint.parent = parent;
    joint.child = child;
    joint.anchor = random_vector(random, scene->planar, 0.2);
    const perp_vec3 axis = random_vector(random, scene->planar, 1.0);
    if (joint.kind != PERP_JOINT_BALL && joint.kind != PERP_JOINT_FIXED &&
        !(scene->planar && joint.kind == PERP_JOINT_REVOLUTE)) {
        joint.axis_set = true;
        joint.axis = axis;
    }
    joint.pitch = joint.kind == PERP_JOINT_SCREW ? 0.05 : 0.0;
    assert_int_equal(perp_scene_add_joint(scene, &joint, NULL), PERP_STATUS_OK);
}

perp_scene *random_scene(uint64_t seed, bool planar, unsigned kinds)
{
    enum { BODIES = 9 };
    perp_random random = {seed * 2 + 1};
    perp_scene *scene;
    assert_int_equal(perp_scene_create(planar, NULL, &scene, NULL), PERP_STATUS_OK);
    scene->margin = 0.15;
    char names[BODIES][8], joints[BODIES][8];
    for (int b = 0; b < BODIES; b++) {
        snprintf(names[b], sizeof names[b], "b%d", b);
        snprintf(joints[b], sizeof joints[b], "j%d", b);
        perp_body body = perp_body_default(names[b]);
        perp_shape shapes[2] = {random_shape(&random, planar, kinds), random_shape(&random, planar, kinds)};
        const double choice = uniform(&random, 0, 1);
        body.shapes = shapes;
        body.shape_count = choice < 0.3 ? 2 : 1;
        body.pose = random_placement(&random, planar, 0.3);
        body.pose_set = true;
        body.mass = perp_set(1.0);
        body.inertia_count = planar ? 1 : 3;
        body.inertia[0] = body.inertia[1] = body.inertia[2] = 0.01;
        const bool jointed = b > 1 && choice > 0.2 && choice < 0.75;
        if (b == 0) {
            body.kind = PERP_BODY_FIXED;
        } else if (b == 1) {
            body.kind = PERP_BODY_DRIVEN;
            body.driven_mask = PERP_COMPONENT_X | PERP_COMPONENT_RZ;
            body.drives[0] = (perp_drive){.offset = 0.1, .rate = 0.4};
            body.drives[5] = (perp_drive){.rate = 0.7};
        }
        assert_int_equal(perp_scene_add_body(scene, &body, NULL), PERP_STATUS_OK);
        if (jointed) {
            random_joint(scene, &random, joints[b], names[(int)uniform(&random, 0, b)], names[b]);
        }
    }
    static perp_diagnostics diagnostics;
    memset(&diagnostics, 0, sizeof diagnostics);
    if (perp_scene_validate(scene, &diagnostics) != PERP_STATUS_OK) {
        fail_msg("%s: %s", diagnostics.items[0].path, diagnostics.items[0].message);
    }
    return scene;
}

void random_state(contact_world *world, uint64_t seed, double *v)
{
    perp_random random = {seed * 2 + 77};
    for (int i = 0; i < world->model->nv; i++) {
        v[i] = uniform(&random, -0.3, 0.3);
    }
    perp_configuration_integrate(world->model, world->state.q, v, 1.0, world->state.q);
    for (int i = 0; i < world->model->nv; i++) {
        v[i] = uniform(&random, -1, 1);
    }
}
