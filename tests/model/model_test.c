#include "model_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- assertions ------------------------------------------------------------------------------------------------- */

void check_near(double actual, double expected, double tolerance, const char *text, const char *file, int line)
{
    if (!(fabs(actual - expected) <= tolerance)) {
        print_error("%s:%d: %s: %.17g is not %.17g within %g (off by %g)\n", file, line, text, actual, expected,
                    tolerance, fabs(actual - expected));
        _fail(file, line);
    }
}

void check_array(const double *actual, const double *expected, int count, double tolerance, const char *text,
                 const char *file, int line)
{
    double size = 1.0;
    for (int i = 0; i < count; i++) {
        size = fmax(size, fabs(expected[i]));
    }
    for (int i = 0; i < count; i++) {
        if (!(fabs(actual[i] - expected[i]) <= tolerance * size)) {
            print_error("%s: entry %d of %d\n", text, i, count);
        }
        check_near(actual[i], expected[i], tolerance * size, text, file, line);
    }
}

/* ---- random values ------------------------------------------------------------------------------------------------
 */

double uniform(perp_random *random, double low, double high)
{
    return perp_random_uniform(random, low, high);
}

static bool chance(perp_random *random, double probability)
{
    return uniform(random, 0.0, 1.0) < probability;
}

static int pick(perp_random *random, int count)
{
    return (int)(perp_random_bits(random) % (uint64_t)count);
}

perp_vec3 random_vector(perp_random *random, bool planar, double size)
{
    perp_vec3 r = {uniform(random, -size, size), uniform(random, -size, size), uniform(random, -size, size)};
    if (planar) {
        r.z = 0.0;
    }
    return r;
}

perp_quat random_rotation(perp_random *random, bool planar)
{
    if (planar) {
        return perp_quat_from_axis_angle(perp_vec3_make(0, 0, 1), uniform(random, -3, 3));
    }
    return perp_quat_exp(random_vector(random, false, 1.7));
}

perp_pose random_pose(perp_random *random, bool planar)
{
    perp_pose r;
    r.rotation = random_rotation(random, planar);
    r.position = random_vector(random, planar, 0.5);
    return r;
}

static void set_placement(perp_random *random, bool planar, perp_placement *placement)
{
    placement->angle = planar ? uniform(random, -3, 3) : 0.0;
    placement->pose.position = random_vector(random, planar, 0.5);
    placement->pose.rotation =
        planar ? perp_quat_from_axis_angle(perp_vec3_make(0, 0, 1), placement->angle) : random_rotation(random, false);
}

static perp_drive random_drive(scene_spec *spec, perp_random *random)
{
    perp_drive drive = {.offset = uniform(random, -1, 1), .rate = uniform(random, -1, 1)};
    perp_sine *sine = &spec->sines[spec->sine_count++];
    *sine = (perp_sine){uniform(random, 0.1, 0.5), uniform(random, 0.5, 2), uniform(random, 0, 3)};
    drive.sines = sine;
    drive.sine_count = 1;
    return drive;
}

/* ---- random bodies and joints -------------------------------------------------------------------------------------
 */

/* The inertia of a few point masses is one that a body can have. */
static void set_inertia(perp_random *random, bool planar, perp_body *body)
{
    if (planar) {
        body->inertia_count = 1;
        body->inertia[0] = uniform(random, 0.05, 0.5);
        return;
    }
    double s[6] = {0};
    for (int i = 0; i < 4; i++) {
        const perp_vec3 r = random_vector(random, false, 0.4);
        s[0] += r.y * r.y + r.z * r.z;
        s[1] += r.x * r.x + r.z * r.z;
        s[2] += r.x * r.x + r.y * r.y;
        s[3] -= r.x * r.y;
        s[4] -= r.x * r.z;
        s[5] -= r.y * r.z;
    }
    const int form = pick(random, 3);
    body->inertia_count = form == 0 ? 6 : 3;
    memcpy(body->inertia, s, sizeof s);
    if (form == 2) {
        body->inertia[1] = body->inertia[2] = body->inertia[0];
    }
}

static void set_mass(scene_spec *spec, perp_random *random, int index, bool may_be_massless)
{
    perp_body *body = &spec->bodies[index];
    if (may_be_massless && chance(random, 0.2)) {
        return;
    }
    if (chance(random, 0.2)) { /* a compound */
        perp_shape *shapes = spec->shapes[index];
        shapes[0] = (perp_shape){.kind = spec->planar ? PERP_SHAPE_DISC : PERP_SHAPE_SPHERE, .radius = 0.2};
        shapes[1] = (perp_shape){.kind = PERP_SHAPE_BOX, .size = {0.2, 0.3, spec->planar ? 0.0 : 0.4}};
        set_placement(random, spec->planar, &shapes[0].pose);
        set_placement(random, spec->planar, &shapes[1].pose);
        body->shapes = shapes;
        body->shape_count = 2;
        body->density = perp_set(spec->planar ? 10.0 : 30.0);
        return;
    }
    body->mass = perp_set(uniform(random, 0.2, 2.0));
    set_inertia(random, spec->planar, body);
    if (chance(random, 0.7)) {
        body->com_set = true;
        body->com = random_vector(random, spec->planar, 0.3);
    }
}

static void set_base(scene_spec *spec, perp_random *random, int index, unsigned options)
{
    perp_body *body = &spec->bodies[index];
    const unsigned all = spec->planar ? PERP_COMPONENT_PLANAR : PERP_COMPONENT_ALL;
    set_placement(random, spec->planar, &body->pose);
    body->pose_set = true;
    const double roll = uniform(random, 0.0, 1.0);
    if (index == 0 && (options & SPEC_BASE)) {
        body->kind = PERP_BODY_FIXED;
    } else if ((options & SPEC_WORLD_FRAME) && roll < 0.25) {
        body->kind = PERP_BODY_DRIVEN;
        body->driven_mask = (unsigned)pick(random, 64) & all;
        for (int i = 0; i < 6; i++) {
            if (body->driven_mask & (1u << i)) {
                body->drives[i] = random_drive(spec, random);
            }
        }
    } else if ((options & SPEC_WORLD_FRAME) && roll < 0.5) {
        body->free_set = true;
        body->free_mask = (unsigned)pick(random, 64) & all;
    } else if (roll < 0.65) {
        body->kind = PERP_BODY_FIXED;
    } else {
        body->velocity_set = true;
        body->velocity.linear = random_vector(random, spec->planar, 1.0);
        body->velocity.angular = random_vector(random, false, 1.0);
        if (spec->planar) {
            body->velocity.angular.x = body->velocity.angular.y = 0.0;
        }
    }
    set_mass(spec, random, index, body->kind != PERP_BODY_FREE);
}

static void set_joint_position(scene_spec *spec, perp_random *random, perp_joint *joint)
{
    joint->position_set = joint->velocity_set = joint->kind != PERP_JOINT_FIXED;
    for (int i = 0; i < perp_joint_velocity_size(joint->kind); i++) {
        joint->position[i] = uniform(random, -1, 1);
        joint->velocity[i] = uniform(random, -1, 1);
    }
    if (joint->kind == PERP_JOINT_BALL) {
        const perp_quat q = random_rotation(random, false);
        joint->position[0] = q.w;
        joint->position[1] = q.x;
        joint->position[2] = q.y;
        joint->position[3] = q.z;
    }
    if (perp_joint_position_size(joint->kind) == 1) {
        joint->control = (perp_control)pick(random, 3);
        joint->stiffness = 100.0;
        joint->damping = 1.0;
        if (joint->control != PERP_CONTROL_NONE && chance(random, 0.7)) {
            joint->command_set = true;
            joint->command = random_drive(spec, random);
        }
    }
}

static void add_joint(scene_spec *spec, perp_random *random, int child, unsigned options)
{
    static const perp_joint_kind spatial[7] = {PERP_JOINT_REVOLUTE, PERP_JOINT_REVOLUTE, PERP_JOINT_PRISMATIC,
                                               PERP_JOINT_BALL,     PERP_JOINT_PLANAR,   PERP_JOINT_SCREW,
                                               PERP_JOINT_FIXED};
    static const perp_joint_kind planar[4] = {PERP_JOINT_REVOLUTE, PERP_JOINT_PRISMATIC, PERP_JOINT_PLANAR,
                                              PERP_JOINT_FIXED};
    perp_joint *joint = &spec->joints[spec->joint_count];
    char *name = spec->joint_names[spec->joint_count++];
    snprintf(name, sizeof spec->joint_names[0], "joint%d", child);
    *joint = perp_joint_default(name, spec->planar ? planar[pick(random, 4)] : spatial[pick(random, 7)]);
    /* Mostly the body before, so that chains grow long; else any earlier one, or the world. */
    int parent = chance(random, 0.6) ? child - 1 : pick(random, child + 1) - 1;
    if (parent < 0 && (options & SPEC_BASE)) {
        parent = 0;
    }
    joint->parent = parent >= 0 ? spec->names[parent] : NULL;
    joint->child = spec->names[child];
    joint->anchor = random_vector(random, spec->planar, 0.4);
    if (joint->kind != PERP_JOINT_BALL && joint->kind != PERP_JOINT_FIXED) {
        joint->axis_set = true;
        joint->axis = perp_vec3_normalise(random_vector(random, false, 1.0));
        if (spec->planar) {
            const perp_vec3 in_plane = perp_vec3_normalise(random_vector(random, true, 1.0));
            const perp_vec3 normal = {0, 0, chance(random, 0.5) ? 1 : -1};
            joint->axis = joint->kind == PERP_JOINT_PRISMATIC ? in_plane : normal;
        }
    }
    if (joint->kind == PERP_JOINT_SCREW) {
        joint->pitch = uniform(random, 0.05, 0.3);
    }
    joint->armature = chance(random, 0.3) ? uniform(random, 0.01, 0.2) : 0.0;
    set_joint_position(spec, random, joint);
    if (chance(random, 0.7)) {
        spec->bodies[child].pose_set = true;
        set_placement(random, spec->planar, &spec->bodies[child].pose);
    }
    set_mass(spec, random, child, true);
}

static void add_forces(scene_spec *spec, perp_random *random)
{
    spec->force_count = 3;
    for (int i = 0; i < spec->force_count; i++) {
        perp_force *force = &spec->forces[i];
        force->body = spec->names[pick(random, spec->body_count)];
        force->point = random_vector(random, spec->planar, 0.3);
        force->in_body_frame = chance(random, 0.5);
        for (int k = 0; k < 3; k++) {
            if (!spec->planar || k < 2) {
                force->force[k].offset = uniform(random, -5, 5);
                force->force[k].rate = uniform(random, -1, 1);
            }
            if (!spec->planar || k == 2) {
                force->torque[k].offset = uniform(random, -1, 1);
            }
        }
    }
}

void spec_random(scene_spec *spec, uint64_t seed, unsigned options)
{
    perp_random random = {seed * 0x9E3779B97F4A7C15u + 12345u};
    memset(spec, 0, sizeof *spec);
    spec->planar = options & SPEC_PLANAR;
    spec->gravity = random_vector(&random, spec->planar, 10.0);
    spec->body_count = 4 + pick(&random, 9);
    for (int i = 0; i < spec->body_count; i++) {
        snprintf(spec->names[i], sizeof spec->names[0], "body%d", i);
        spec->bodies[i] = perp_body_default(spec->names[i]);
        if (i == 0 || chance(&random, 0.25)) {
            set_base(spec, &random, i, options);
        } else {
            add_joint(spec, &random, i, options);
        }
    }
    add_forces(spec, &random);
}

/* ---- building -----------------------------------------------------------------------------------------------------
 */

static void shuffled(int *order, int count, perp_random *random, bool shuffle)
{
    for (int i = 0; i < count; i++) {
        order[i] = i;
    }
    for (int i = count - 1; i > 0 && shuffle; i--) {
        const int j = pick(random, i + 1), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

static void validate(perp_scene *scene)
{
    static perp_diagnostics diagnostics;
    memset(&diagnostics, 0, sizeof diagnostics);
    if (perp_scene_validate(scene, &diagnostics) != PERP_STATUS_OK) {
        for (int i = 0; i < diagnostics.count; i++) {
            print_error("%s: %s\n", diagnostics.items[i].path, diagnostics.items[i].message);
        }
        fail_msg("the scene of a test is not valid");
    }
}

perp_scene *spec_build(const scene_spec *spec, uint64_t shuffle)
{
    perp_random random = {shuffle};
    int bodies[SPEC_BODIES], joints[SPEC_BODIES];
    shuffled(bodies, spec->body_count, &random, shuffle != 0);
    shuffled(joints, spec->joint_count, &random, shuffle != 0);
    perp_scene *scene;
    assert_int_equal(perp_scene_create(spec->planar, NULL, &scene, NULL), PERP_STATUS_OK);
    scene->gravity = spec->gravity;
    for (int i = 0; i < spec->body_count; i++) {
        assert_int_equal(perp_scene_add_body(scene, &spec->bodies[bodies[i]], NULL), PERP_STATUS_OK);
    }
    for (int i = 0; i < spec->joint_count; i++) {
        assert_int_equal(perp_scene_add_joint(scene, &spec->joints[joints[i]], NULL), PERP_STATUS_OK);
    }
    for (int i = 0; i < spec->force_count; i++) {
        assert_int_equal(perp_scene_add_force(scene, &spec->forces[i], NULL), PERP_STATUS_OK);
    }
    validate(scene);
    return scene;
}

/* ---- the arm ------------------------------------------------------------------------------------------------------
 */

static void add_link(perp_scene *scene, const char *name, const char *parent, perp_joint_kind kind, perp_vec3 anchor,
                     perp_vec3 axis, double limit)
{
    perp_body body = perp_body_default(name);
    body.mass = perp_set(kind == PERP_JOINT_PRISMATIC ? 0.1 : 2.0);
    body.inertia_count = 3;
    body.inertia[0] = 0.02;
    body.inertia[1] = 0.018;
    body.inertia[2] = 0.006;
    body.com_set = true;
    body.com = perp_vec3_make(0.0, 0.01, 0.1);
    char joint_name[32];
    snprintf(joint_name, sizeof joint_name, "to_%s", name);
    perp_joint joint = perp_joint_default(joint_name, kind);
    joint.parent = parent;
    joint.child = name;
    joint.anchor = anchor;
    if (kind != PERP_JOINT_FIXED) {
        joint.axis_set = true;
        joint.axis = axis;
        joint.limits_set = true;
        joint.limits[0] = kind == PERP_JOINT_PRISMATIC ? 0.0 : -limit;
        joint.limits[1] = limit;
        joint.control = PERP_CONTROL_IMPEDANCE;
        joint.stiffness = 500.0;
    }
    assert_int_equal(perp_scene_add_body(scene, &body, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_scene_add_joint(scene, &joint, NULL), PERP_STATUS_OK);
}

perp_scene *arm_scene(int free_bodies)
{
    static const char *const names[8] = {"base", "link1", "link2", "link3", "link4", "link5", "link6", "link7"};
    static const double height[7] = {0.15, 0.19, 0.21, 0.19, 0.21, 0.19, 0.081};
    static const double limit[7] = {2.96, 2.09, 2.96, 2.09, 2.96, 2.09, 3.05};
    perp_scene *scene;
    assert_int_equal(perp_scene_create(false, NULL, &scene, NULL), PERP_STATUS_OK);
    perp_body base = perp_body_default(names[0]);
    base.kind = PERP_BODY_FIXED;
    assert_int_equal(perp_scene_add_body(scene, &base, NULL), PERP_STATUS_OK);
    for (int i = 0; i < 7; i++) {
        const perp_vec3 axis = {0, i % 2, (i + 1) % 2};
        add_link(scene, names[i + 1], names[i], PERP_JOINT_REVOLUTE, perp_vec3_make(0, 0, height[i]), axis, limit[i]);
    }
    add_link(scene, "hand", "link7", PERP_JOINT_FIXED, perp_vec3_make(0, 0, 0.05), perp_vec3_make(0, 0, 0), 0);
    add_link(scene, "left", "hand", PERP_JOINT_PRISMATIC, perp_vec3_make(0, 0, 0.06), perp_vec3_make(0, 1, 0), 0.04);
    add_link(scene, "right", "hand", PERP_JOINT_PRISMATIC, perp_vec3_make(0, 0, 0.06), perp_vec3_make(0, -1, 0), 0.04);
    for (int i = 0; i < free_bodies; i++) {
        char name[32];
        snprintf(name, sizeof name, "box%d", i);
        perp_body body = perp_body_default(name);
        body.mass = perp_set(0.3);
        body.inertia_count = 3;
        body.inertia[0] = 1e-4;
        body.inertia[1] = 2e-4;
        body.inertia[2] = 2.5e-4;
        body.pose.pose.position = perp_vec3_make(0.5, 0.1 * i, 0.1);
        assert_int_equal(perp_scene_add_body(scene, &body, NULL), PERP_STATUS_OK);
    }
    validate(scene);
    return scene;
}

/* ---- a model and its scratch --------------------------------------------------------------------------------------
 */

void world_open(test_world *world, perp_scene *scene, uint64_t seed)
{
    perp_error error;
    memset(world, 0, sizeof *world);
    world->scene = scene;
    if (perp_model_build(scene, NULL, &world->model, &error) != PERP_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    assert_true(world->model->nq <= MAX_N);
    assert_int_equal(perp_kinematics_create(world->model, NULL, &world->kinematics, NULL), PERP_STATUS_OK);
    perp_state state;
    assert_int_equal(perp_state_create(world->model, NULL, &state, NULL), PERP_STATUS_OK);
    perp_random random = {seed + 99};
    for (int i = 0; i < world->model->nv; i++) {
        world->v[i] = uniform(&random, -1, 1);
    }
    perp_configuration_integrate(world->model, state.q, world->v, 1.0, world->q);
    perp_state_free(&state);
    for (int i = 0; i < world->model->nv; i++) {
        world->v[i] = uniform(&random, -1, 1);
    }
    world_update(world, world->q, world->v);
}

void world_close(test_world *world)
{
    perp_kinematics_free(world->kinematics);
    perp_model_free(world->model);
    perp_scene_free(world->scene);
}

void world_random(test_world *world, uint64_t seed)
{
    static scene_spec spec;
    spec_random(&spec, seed, SPEC_WORLD_FRAME | (seed % 4 == 3 ? SPEC_PLANAR : 0u));
    world_open(world, spec_build(&spec, seed % 2 ? seed : 0), seed);
}

void world_update(test_world *world, const double *q, const double *v)
{
    perp_kinematics_update(world->model, q, world->kinematics);
    perp_kinematics_velocity(world->model, v, world->kinematics);
}

void dense_times(const double *matrix, const double *x, int rows, int columns, double *out)
{
    for (int i = 0; i < rows; i++) {
        out[i] = 0.0;
        for (int j = 0; j < columns; j++) {
            out[i] += matrix[i * columns + j] * x[j];
        }
    }
}

/* ---- derivatives --------------------------------------------------------------------------------------------------
 */

void path_derivative(test_world *world, const double *v, path_function *f, void *context, int count, double *out)
{
    static const double times[4] = {1e-3, -1e-3, 0.5e-3, -0.5e-3};
    double *values = calloc(4 * (size_t)count + 1, sizeof(double));
    assert_non_null(values);
    for (int k = 0; k < 4; k++) {
        double q[MAX_N];
        perp_configuration_integrate(world->model, world->q, v, times[k], q);
        world_update(world, q, v);
        f(world, q, context, values + k * count);
    }
    for (int i = 0; i < count; i++) {
        const double coarse = (values[i] - values[count + i]) / (times[0] - times[1]);
        const double fine = (values[2 * count + i] - values[3 * count + i]) / (times[2] - times[3]);
        out[i] = (4.0 * fine - coarse) / 3.0;
    }
    free(values);
    world_update(world, world->q, world->v);
}
