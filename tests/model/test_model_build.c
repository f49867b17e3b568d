/* The model's layout: order, trees, degrees of freedom, chains; refusals; memory. */
#include "base/hash.h"
#include "model/loop_closure.h"
#include "model_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "failing_allocator.h"
#include "model/state.h"

static perp_body massive(const char *name)
{
    perp_body body = perp_body_default(name);
    body.mass = perp_set(1.0);
    body.inertia_count = 3;
    body.inertia[0] = body.inertia[1] = body.inertia[2] = 0.1;
    return body;
}

static void add_body(perp_scene *scene, perp_body body)
{
    assert_int_equal(perp_scene_add_body(scene, &body, NULL), PERP_STATUS_OK);
}

static void add_revolute(perp_scene *scene, const char *name, const char *parent, const char *child)
{
    perp_joint joint = perp_joint_default(name, PERP_JOINT_REVOLUTE);
    joint.parent = parent;
    joint.child = child;
    joint.axis_set = true;
    joint.axis = perp_vec3_make(0, 0, 1);
    assert_int_equal(perp_scene_add_joint(scene, &joint, NULL), PERP_STATUS_OK);
}

static perp_scene *new_scene(bool planar)
{
    perp_scene *scene;
    assert_int_equal(perp_scene_create(planar, NULL, &scene, NULL), PERP_STATUS_OK);
    return scene;
}

static perp_model *build(perp_scene *scene)
{
    perp_diagnostics *diagnostics = calloc(1, sizeof *diagnostics);
    assert_non_null(diagnostics);
    const perp_status valid = perp_scene_validate(scene, diagnostics);
    free(diagnostics);
    assert_int_equal(valid, PERP_STATUS_OK);
    perp_model *model;
    assert_int_equal(perp_model_build(scene, NULL, &model, NULL), PERP_STATUS_OK);
    return model;
}

/* Two arms on one fixed base are two trees; the file lists children before parents. */
static void test_two_arms_are_two_trees(void **state)
{
    (void)state;
    perp_scene *scene = new_scene(false);
    add_body(scene, massive("tip"));  /* 0 */
    add_body(scene, massive("left")); /* 1 */
    add_body(scene, massive("cup"));  /* 2 */
    perp_body base = massive("base"); /* 3 */
    base.kind = PERP_BODY_FIXED;
    add_body(scene, base);
    add_body(scene, massive("right")); /* 4 */
    add_revolute(scene, "c", "left", "tip");
    add_revolute(scene, "b", "base", "right");
    add_revolute(scene, "a", "base", "left");
    perp_model *model = build(scene);
    /* Roots in file order (cup, base), children in joint order (right, left), depth first. */
    static const int order[5] = {2, 3, 4, 1, 0};
    assert_memory_equal(model->order, order, sizeof order);
    assert_int_equal(model->tree_count, 3);
    assert_int_equal(model->nv, 6 + 1 + 2);
    assert_int_equal(model->nq, 7 + 1 + 2);
    assert_int_equal(model->mass_size, 36 + 1 + 4);
    assert_int_equal(model->links[3].tree, -1);
    assert_int_equal(model->links[4].tree, 1);
    assert_int_equal(model->links[1].tree, 2);
    assert_int_equal(model->links[0].tree, 2);
    assert_int_equal(model->trees[2].root, 1);
    assert_int_equal(model->trees[2].mass_start, 37);
    assert_int_equal(model->joint_body[0], 0);
    const int *dofs;
    assert_int_equal(perp_body_dofs(model, 0, &dofs), 2);
    assert_int_equal(dofs[0], 7);
    assert_int_equal(dofs[1], 8);
    assert_int_equal(perp_body_dofs(model, 3, &dofs), 0);
    assert_int_equal(perp_body_dofs(model, -1, &dofs), 0);
    assert_int_equal(model->chain_longest, 6);
    perp_model_free(model);
    perp_scene_free(scene);
}

/* Invariants that the header states, on random scenes. */
static void check_layout(const perp_model *model)
{
    int q = 0, v = 0, mass = 0;
    bool *seen = calloc((size_t)model->body_count, sizeof(bool));
    assert_non_null(seen);
    for (int k = 0; k < model->body_count; k++) {
        const perp_link *link = &model->links[model->order[k]];
        assert_true(link->parent < 0 || seen[link->parent]);
        seen[model->order[k]] = true;
        assert_int_equal(link->q_start, q);
        assert_int_equal(link->v_start, v);
        q += link->q_count;
        v += link->v_count;
        const int parent_tree = link->parent >= 0 ? model->links[link->parent].tree : -1;
        if (parent_tree >= 0) {
            assert_int_equal(link->tree, parent_tree);
        } else {
            assert_int_equal(link->tree >= 0, link->v_count > 0);
        }
    }
    free(seen);
    assert_int_equal(q, model->nq);
    assert_int_equal(v, model->nv);
    for (int t = 0; t < model->tree_count; t++) {
        assert_int_equal(model->trees[t].mass_start, mass);
        mass += model->trees[t].v_count * model->trees[t].v_count;
        for (int d = model->trees[t].v_start; d < model->trees[t].v_start + model->trees[t].v_count; d++) {
            assert_int_equal(model->links[model->dof_body[d]].tree, t);
        }
    }
    assert_int_equal(mass, model->mass_size);
    for (int b = 0; b < model->body_count; b++) {
        const int *dofs;
        const int n = perp_body_dofs(model, b, &dofs);
        assert_true(n <= model->chain_longest);
        int expected = 0;
        for (int a = b; a >= 0; a = model->links[a].parent) {
            expected += model->links[a].v_count;
        }
        assert_int_equal(n, expected);
        for (int k = 0; k < n; k++) {
            assert_true(k == 0 || dofs[k] > dofs[k - 1]);
            int ancestor = b;
            while (ancestor >= 0 && ancestor != model->dof_body[dofs[k]]) {
                ancestor = model->links[ancestor].parent;
            }
            assert_true(ancestor >= 0);
        }
    }
}

static void test_layout_of_random_scenes(void **state)
{
    (void)state;
    bool motions[PERP_MOTION_PLANAR + 1] = {false};
    for (uint64_t seed = 0; seed < 200; seed++) {
        test_world world;
        world_random(&world, seed);
        check_layout(world.model);
        for (int b = 0; b < world.model->body_count; b++) {
            motions[world.model->links[b].motion] = true;
        }
        world_close(&world);
    }
    for (int i = 0; i <= PERP_MOTION_PLANAR; i++) {
        assert_true(motions[i]); /* the generator reaches every motion */
    }
}

static void test_roles_limits_and_commands(void **state)
{
    (void)state;
    perp_scene *scene = new_scene(false);
    perp_body hand = massive("hand");
    hand.kind = PERP_BODY_DRIVEN;
    hand.driven_mask = PERP_COMPONENT_X;
    hand.drives[0].rate = 2.0;
    add_body(scene, hand);
    add_body(scene, massive("finger"));
    add_body(scene, massive("tip"));
    perp_joint joint = perp_joint_default("knuckle", PERP_JOINT_REVOLUTE);
    joint.parent = "hand";
    joint.child = "finger";
    joint.axis_set = joint.limits_set = joint.position_set = true;
    joint.axis = perp_vec3_make(0, 2, 0);
    joint.limits[0] = -1.0;
    joint.limits[1] = INFINITY;
    joint.position[0] = 0.25;
    joint.control = PERP_CONTROL_IMPEDANCE;
    joint.stiffness = 10.0;
    joint.damping = 0.5;
    joint.armature = 0.01;
    assert_int_equal(perp_scene_add_joint(scene, &joint, NULL), PERP_STATUS_OK);
    joint = perp_joint_default("slide", PERP_JOINT_PRISMATIC);
    joint.parent = "finger";
    joint.child = "tip";
    joint.axis_set = joint.command_set = true;
    joint.axis = perp_vec3_make(1, 0, 0);
    joint.control = PERP_CONTROL_POSITION;
    joint.command.offset = 0.1;
    joint.command.rate = 3.0;
    assert_int_equal(perp_scene_add_joint(scene, &joint, NULL), PERP_STATUS_OK);
    perp_model *model = build(scene);
    assert_int_equal(model->nv, 8);
    for (int d = 0; d < 6; d++) {
        assert_int_equal(model->role[d], PERP_DOF_PRESCRIBED);
        assert_int_equal(model->dof_q[d], -1);
        assert_int_equal(model->dof_joint[d], -1);
        assert_true(isinf(model->limit_high[d]) && isinf(model->limit_low[d]));
    }
    assert_int_equal(model->role[6], PERP_DOF_IMPEDANCE);
    assert_int_equal(model->role[7], PERP_DOF_PRESCRIBED);
    assert_int_equal(model->dof_q[6], 7);
    assert_true(model->limit_low[6] == -1.0 && isinf(model->limit_high[6]));
    assert_true(model->stiffness[6] == 10.0 && model->damping[6] == 0.5 && model->armature[6] == 0.01);
    double command[8], q[9] = {0}, v[8] = {0};
    perp_command(model, 2.0, command);
    static const double expected[8] = {0, 0, 0, 0, 0, 0, 0.25, 6.1};
    NEAR_ARRAY(command, expected, 8, 1e-15);
    perp_prescribed_configuration(model, PERP_PRESCRIBE_POSITION, 2.0, q);
    NEAR(q[0], 4.0, 0.0);
    NEAR(q[7], 0.0, 0.0); /* impedance is left alone ... */
    NEAR(q[8], 6.1, 1e-15);
    perp_prescribed_configuration(model, PERP_PRESCRIBE_POSITION_IMPEDANCE, 2.0, q);
    NEAR(q[7], 0.25, 0.0); /* ... unless the rung takes it as position */
    perp_prescribed_rate(model, PERP_PRESCRIBE_POSITION, 2.0, v);
    NEAR(v[0], 2.0, 0.0);
    NEAR(v[7], 3.0, 0.0);
    perp_model_free(model);
    perp_scene_free(scene);
}

/* The initial state is what the scene says. */
static void test_initial_state(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 60; seed++) {
        test_world world;
        world_random(&world, seed);
        perp_state state;
        assert_int_equal(perp_state_create(world.model, NULL, &state, NULL), PERP_STATUS_OK);
        assert_true(state.t == 0.0);
        world_update(&world, state.q, state.v);
        for (int b = 0; b < world.model->body_count; b++) {
            const perp_body *body = &world.scene->bodies[b];
            const perp_link *link = &world.model->links[b];
            if (body->joint < 0 && body->kind != PERP_BODY_DRIVEN) {
                const perp_pose *pose = &world.kinematics->pose[b];
                /* q and -q are the same rotation; both come from the same normalised numbers: rounding only */
                NEAR(perp_vec3_norm(perp_vec3_sub(pose->position, body->pose.pose.position)), 0.0, 1e-15);
                const perp_quat apart = perp_quat_mul(pose->rotation, perp_quat_conjugate(body->pose.pose.rotation));
                NEAR(perp_vec3_norm(perp_quat_log(apart)), 0.0, 1e-14);
                const perp_twist *twist = &world.kinematics->twist[b];
                NEAR(perp_vec3_norm(perp_vec3_sub(twist->linear, body->velocity.linear)), 0.0, 1e-15);
                NEAR(perp_vec3_norm(perp_vec3_sub(twist->angular, body->velocity.angular)), 0.0, 1e-15);
            } else if (body->joint >= 0 && world.scene->joints[body->joint].control != PERP_CONTROL_POSITION) {
                const perp_joint *joint = &world.scene->joints[body->joint];
                for (int i = 0; i < link->q_count; i++) {
                    NEAR(state.q[link->q_start + i], joint->position[i], 1e-15);
                }
                for (int i = 0; i < link->v_count; i++) {
                    NEAR(state.v[link->v_start + i], joint->velocity[i], 0.0);
                }
            }
        }
        perp_state_free(&state);
        world_close(&world);
    }
}

/* Prescribed coordinates and rates start on their drives. */
static void test_initial_prescribed_state(void **unused)
{
    (void)unused;
    int prescribed = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        test_world world;
        world_random(&world, seed);
        perp_state state;
        assert_int_equal(perp_state_create(world.model, NULL, &state, NULL), PERP_STATUS_OK);
        double q[MAX_N], v[MAX_N];
        memcpy(q, state.q, (size_t)world.model->nq * sizeof(double));
        for (int d = 0; d < world.model->nv; d++) {
            v[d] = NAN;
        }
        perp_prescribed_configuration(world.model, PERP_PRESCRIBE_POSITION, 0.0, q);
        perp_prescribed_rate(world.model, PERP_PRESCRIBE_POSITION, 0.0, v);
        assert_memory_equal(q, state.q, (size_t)world.model->nq * sizeof(double));
        for (int d = 0; d < world.model->nv; d++) {
            const bool is_prescribed = world.model->role[d] == PERP_DOF_PRESCRIBED;
            assert_true(isnan(v[d]) == !is_prescribed); /* exactly the prescribed ones are written */
            assert_true(!is_prescribed || v[d] == state.v[d]);
            prescribed += is_prescribed && v[d] != 0.0;
        }
        perp_state_free(&state);
        world_close(&world);
    }
    assert_true(prescribed > 20);
}

static void test_copy_and_hash(void **unused)
{
    (void)unused;
    test_world world;
    world_random(&world, 3);
    perp_state a, b;
    assert_int_equal(perp_state_create(world.model, NULL, &a, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_state_create(world.model, NULL, &b, NULL), PERP_STATUS_OK);
    a.t = 1.5;
    a.q[0] = 0.125;
    a.v[world.model->nv - 1] = -3.0;
    perp_state_copy(world.model, &b, &a);
    perp_hash hash_a = perp_hash_begin(), hash_b = perp_hash_begin(), hash_c = perp_hash_begin();
    perp_state_hash(world.model, &a, &hash_a);
    perp_state_hash(world.model, &b, &hash_b);
    assert_true(hash_a.value == hash_b.value);
    b.v[world.model->nv - 1] = nextafter(-3.0, 0.0);
    perp_state_hash(world.model, &b, &hash_c);
    assert_true(hash_a.value != hash_c.value);
    perp_state_free(&a);
    perp_state_free(&b);
    world_close(&world);
}

static void test_refusals(void **state)
{
    (void)state;
    perp_error error;
    perp_model *model;
    perp_scene *scene = new_scene(false);
    add_body(scene, massive("cup"));
    assert_int_equal(perp_model_build(scene, NULL, &model, &error), PERP_STATUS_BAD_INPUT);
    assert_null(model);
    assert_non_null(strstr(error.message, "validate"));
    perp_model_free(build(scene));
    perp_scene_free(scene);
}

static void test_empty_scene(void **unused)
{
    (void)unused;
    test_world world;
    world_open(&world, spec_build(&(scene_spec){.planar = false}, 0), 1);
    assert_int_equal(world.model->nv, 0);
    perp_mass_matrix(world.model, world.kinematics, NULL);
    perp_bias_force(world.model, world.kinematics, NULL, NULL);
    world_close(&world);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

typedef perp_status create_function(test_world *world, const perp_allocator *allocator);

static perp_status create_model(test_world *world, const perp_allocator *allocator)
{
    perp_model *model;
    perp_error error;
    const perp_status status = perp_model_build(world->scene, allocator, &model, &error);
    assert_true((status == PERP_STATUS_OK) == (model != NULL));
    perp_model_free(model);
    return status;
}

static perp_status create_state(test_world *world, const perp_allocator *allocator)
{
    perp_state state;
    perp_error error;
    const perp_status status = perp_state_create(world->model, allocator, &state, &error);
    perp_state_free(&state);
    return status;
}

static perp_status create_kinematics(test_world *world, const perp_allocator *allocator)
{
    perp_kinematics *kinematics;
    perp_error error;
    const perp_status status = perp_kinematics_create(world->model, allocator, &kinematics, &error);
    assert_true((status == PERP_STATUS_OK) == (kinematics != NULL));
    perp_kinematics_free(kinematics);
    return status;
}

static perp_status create_ik(test_world *world, const perp_allocator *allocator)
{
    perp_ik_workspace *workspace;
    perp_error error;
    const perp_status status = perp_ik_workspace_create(world->model, allocator, &workspace, &error);
    assert_true((status == PERP_STATUS_OK) == (workspace != NULL));
    perp_ik_workspace_free(workspace);
    return status;
}

static perp_status create_closure(test_world *world, const perp_allocator *allocator)
{
    static const bool movable[256] = {true, true};
    perp_loop_closure *closure;
    perp_error error;
    assert_true(world->model->nv <= 256);
    const perp_status status = perp_loop_closure_create(world->model, movable, allocator, &closure, &error);
    assert_true((status == PERP_STATUS_OK) == (closure != NULL));
    perp_loop_closure_free(closure);
    return status;
}

/* Fail the first request, then the second, ... until one goes through; each time everything is given back. */
static void exhaust(test_world *world, create_function *create)
{
    for (int fail_at = 0;; fail_at++) {
        failing_allocator f = {.grants = fail_at, .once = true};
        const perp_allocator allocator = allocator_of(&f);
        const perp_status status = create(world, &allocator);
        assert_int_equal(f.standing, 0);
        if (status == PERP_STATUS_OK) {
            assert_true(f.requests <= fail_at);
            assert_true(fail_at > 0);
            return;
        }
        assert_int_equal(status, PERP_STATUS_OUT_OF_MEMORY);
    }
}

static void test_out_of_memory(void **state)
{
    (void)state;
    /* A weld makes the build compute an initial configuration too. */
    perp_scene *scene = arm_scene(40);
    scene->validated = false;
    const perp_loop loop = {.name = "weld", .kind = PERP_LOOP_WELD, .a = "left", .b = "box3"};
    assert_int_equal(perp_scene_add_loop(scene, &loop, NULL), PERP_STATUS_OK);
    test_world world = {.scene = scene};
    world.model = build(scene);
    exhaust(&world, create_model);
    exhaust(&world, create_state);
    exhaust(&world, create_kinematics);
    exhaust(&world, create_ik);
    exhaust(&world, create_closure);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_arms_are_two_trees),
        cmocka_unit_test(test_layout_of_random_scenes),
        cmocka_unit_test(test_roles_limits_and_commands),
        cmocka_unit_test(test_initial_state),
        cmocka_unit_test(test_initial_prescribed_state),
        cmocka_unit_test(test_copy_and_hash),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_empty_scene),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
