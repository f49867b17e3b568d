/* Inverse kinematics on the seven-joint arm, on random trees, and where there is no answer. */
#include "model_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void random_within_limits(const perp_model *model, perp_random *random, double *q)
{
    for (int d = 0; d < model->nv; d++) {
        if (model->dof_q[d] >= 0) {
            q[model->dof_q[d]] = uniform(random, model->limit_low[d], model->limit_high[d]);
        }
    }
}

static void check_within_limits(const perp_model *model, const double *q)
{
    for (int d = 0; d < model->nv; d++) {
        if (model->dof_q[d] >= 0) {
            assert_true(q[model->dof_q[d]] >= model->limit_low[d] && q[model->dof_q[d]] <= model->limit_high[d]);
        }
    }
}

/* The errors of a solution, recomputed from the public kinematics. */
static void measure(test_world *world, const perp_ik_problem *problem, const double *q, double *position,
                    double *rotation)
{
    perp_kinematics_update(world->model, q, world->kinematics);
    const perp_pose at = perp_pose_mul(world->kinematics->pose[problem->body], problem->frame);
    *position = perp_vec3_norm(perp_vec3_sub(at.position, problem->target.position));
    *rotation =
        perp_vec3_norm(perp_quat_log(perp_quat_mul(problem->target.rotation, perp_quat_conjugate(at.rotation))));
}

static void test_thousand_reachable_targets(void **state)
{
    (void)state;
    test_world world;
    world_open(&world, arm_scene(3), 0);
    perp_ik_workspace *workspace;
    assert_int_equal(perp_ik_workspace_create(world.model, NULL, &workspace, NULL), PERP_STATUS_OK);
    const perp_ik_settings settings = perp_ik_settings_default();
    perp_ik_problem problem = {.body = perp_scene_find_body(world.scene, "hand")};
    perp_random random = {2024};
    problem.frame = random_pose(&random, false);
    int solved = 0, first_try = 0, most_restarts = 0;
    long iterations = 0;
    for (int i = 0; i < 1000; i++) {
        double q[MAX_N], there[MAX_N], position, rotation;
        memcpy(there, world.q, sizeof there);
        random_within_limits(world.model, &random, there);
        perp_kinematics_update(world.model, there, world.kinematics);
        problem.target = perp_pose_mul(world.kinematics->pose[problem.body], problem.frame);
        memcpy(q, world.q, sizeof q);
        random_within_limits(world.model, &random, q);
        perp_ik_info info;
        solved += perp_inverse_kinematics(world.model, &settings, &problem, workspace, q, &info) == PERP_STATUS_OK;
        check_within_limits(world.model, q);
        measure(&world, &problem, q, &position, &rotation);
        NEAR(info.position_error, position, 1e-12);
        NEAR(info.rotation_error, rotation, 1e-12);
        NEAR(position, 0.0, 1e-9 + 1e-12);
        NEAR(rotation, 0.0, 1e-9 + 1e-12);
        first_try += info.restarts_used == 0;
        most_restarts = info.restarts_used > most_restarts ? info.restarts_used : most_restarts;
        iterations += info.iterations;
    }
    print_message("solved %d of 1000, %d without a restart, at most %d restarts, %.1f iterations on average\n", solved,
                  first_try, most_restarts, (double)iterations / 1000);
    assert_int_equal(solved, 1000);
    perp_ik_workspace_free(workspace);
    world_close(&world);
}

/* Targets whose solution has three joints on their limits, from starts beside them and without restarts. Joints on a
 * limit have to be left out of the step, not only clamped after it: with clamping alone 803 of these are solved. */
static void test_targets_on_the_limits(void **state)
{
    (void)state;
    test_world world;
    world_open(&world, arm_scene(0), 0);
    const perp_model *model = world.model;
    perp_ik_workspace *workspace;
    assert_int_equal(perp_ik_workspace_create(model, NULL, &workspace, NULL), PERP_STATUS_OK);
    perp_ik_settings settings = perp_ik_settings_default();
    settings.restarts = 0;
    perp_ik_problem problem = {.body = perp_scene_find_body(world.scene, "link7"), .frame = perp_pose_identity()};
    perp_random random = {7};
    for (int i = 0; i < 1000; i++) {
        double q[MAX_N], there[MAX_N], position, rotation;
        memcpy(there, world.q, sizeof there);
        random_within_limits(model, &random, there);
        memcpy(q, there, sizeof q);
        for (int d = 0; d < 7; d++) {
            const int k = model->dof_q[d];
            there[k] = d % 2 == 1 ? model->limit_high[d] : there[k];
            q[k] = there[k] + uniform(&random, -0.6, 0.6);
        }
        perp_kinematics_update(model, there, world.kinematics);
        problem.target = world.kinematics->pose[problem.body];
        perp_ik_info info;
        const perp_status status = perp_inverse_kinematics(model, &settings, &problem, workspace, q, &info);
        assert_int_equal(status, PERP_STATUS_OK);
        assert_int_equal(info.restarts_used, 0);
        check_within_limits(model, q);
        measure(&world, &problem, q, &position, &rotation);
        NEAR(position, 0.0, 1e-9 + 1e-12);
        NEAR(rotation, 0.0, 1e-9 + 1e-12);
    }
    perp_ik_workspace_free(workspace);
    world_close(&world);
}

/* Every kind of joint can be moved: targets that a random motion of the tree's joints reaches. Nothing else moves. */
static void test_random_trees(void **state)
{
    (void)state;
    int tried = 0;
    for (uint64_t seed = 0; seed < 150; seed++) {
        test_world world;
        world_random(&world, seed);
        const perp_model *model = world.model;
        perp_ik_workspace *workspace;
        assert_int_equal(perp_ik_workspace_create(model, NULL, &workspace, NULL), PERP_STATUS_OK);
        double v[MAX_N], there[MAX_N], q[MAX_N], position, rotation;
        for (int d = 0; d < model->nv; d++) {
            v[d] = model->dof_joint[d] >= 0 ? 0.3 * world.v[d] : 0.0;
        }
        perp_configuration_integrate(model, world.q, v, 1.0, there);
        perp_random random = {seed};
        for (int b = 0; b < model->body_count; b++) {
            perp_ik_problem problem = {.body = b, .frame = random_pose(&random, model->planar)};
            perp_kinematics_update(model, there, world.kinematics);
            problem.target = perp_pose_mul(world.kinematics->pose[b], problem.frame);
            perp_ik_settings settings = perp_ik_settings_default();
            memcpy(q, world.q, sizeof q);
            const perp_status status = perp_inverse_kinematics(model, &settings, &problem, workspace, q, NULL);
            assert_int_equal(status, PERP_STATUS_OK);
            measure(&world, &problem, q, &position, &rotation);
            NEAR(position, 0.0, 1e-9 + 1e-12);
            NEAR(rotation, 0.0, 1e-9 + 1e-12);
            for (int a = 0; a < model->body_count; a++) {
                const perp_link *link = &model->links[a];
                if (link->joint < 0) {
                    assert_memory_equal(q + link->q_start, world.q + link->q_start,
                                        (size_t)link->q_count * sizeof(double));
                }
            }
            tried++;
        }
        perp_ik_workspace_free(workspace);
        world_close(&world);
    }
    assert_true(tried > 500);
}

/* Beyond reach, position only: the arm stretches towards the target. The shoulder stands at z = 0.34, and the frame's
 * origin in the stretched arm is 0.21 + 0.19 + 0.21 + 0.19 + 0.081 above it (joint 2 to link 7). The distance has a
 * minimum there, so an angle error of e costs e^2: distances agree far better than configurations. */
static void test_unreachable_ends_at_the_closest_point(void **state)
{
    (void)state;
    test_world world;
    world_open(&world, arm_scene(0), 0);
    perp_ik_workspace *workspace;
    assert_int_equal(perp_ik_workspace_create(world.model, NULL, &workspace, NULL), PERP_STATUS_OK);
    perp_ik_settings settings = perp_ik_settings_default();
    settings.rotation_weight = 0.0;
    perp_ik_problem problem = {.body = perp_scene_find_body(world.scene, "link7"), .frame = perp_pose_identity()};
    const perp_vec3 shoulder = {0, 0, 0.34};
    const double reach = 0.21 + 0.19 + 0.21 + 0.19 + 0.081;
    perp_random random = {5};
    for (int i = 0; i < 20; i++) {
        /* Within the shoulder's limits of 2.09 rad from the vertical. */
        const double tilt = uniform(&random, -1.9, 1.9), turn = uniform(&random, -1.5, 1.5);
        const perp_vec3 direction = {sin(tilt) * cos(turn), sin(tilt) * sin(turn), cos(tilt)};
        problem.target.position = perp_vec3_add_scaled(shoulder, 2.0, direction);
        problem.target.rotation = perp_quat_identity();
        double q[MAX_N];
        memcpy(q, world.q, sizeof q);
        random_within_limits(world.model, &random, q);
        perp_ik_info info;
        assert_int_equal(perp_inverse_kinematics(world.model, &settings, &problem, workspace, q, &info),
                         PERP_STATUS_NOT_CONVERGED);
        check_within_limits(world.model, q);
        NEAR(info.position_error, 2.0 - reach, 1e-9);
    }
    perp_ik_workspace_free(workspace);
    world_close(&world);
}

/* A finger that slides in [0, 0.04] and should go to 0.1 or to -0.1 stops at its limit, exactly; a start outside the
 * limits is brought inside. */
static void test_limits_hold(void **state)
{
    (void)state;
    test_world world;
    world_open(&world, arm_scene(0), 0);
    perp_ik_workspace *workspace;
    assert_int_equal(perp_ik_workspace_create(world.model, NULL, &workspace, NULL), PERP_STATUS_OK);
    const perp_ik_settings settings = perp_ik_settings_default();
    const int left = perp_scene_find_body(world.scene, "left");
    const int slide = world.model->links[left].v_start;
    bool movable[MAX_N] = {false};
    movable[slide] = true;
    for (int i = 0; i < 2; i++) {
        double q[MAX_N];
        memcpy(q, world.q, sizeof q);
        random_within_limits(world.model, &(perp_random){9}, q);
        q[world.model->dof_q[slide]] = 0.0;
        perp_kinematics_update(world.model, q, world.kinematics);
        const perp_pose finger = world.kinematics->pose[left];
        perp_ik_problem problem = {.body = left, .frame = perp_pose_identity(), .target = finger, .movable = movable};
        const perp_vec3 y = perp_quat_rotate(finger.rotation, perp_vec3_make(0, 1, 0));
        problem.target.position = perp_vec3_add_scaled(finger.position, i ? -0.1 : 0.1, y);
        q[world.model->dof_q[slide]] = i ? 7.0 : -7.0;
        perp_ik_info info;
        assert_int_equal(perp_inverse_kinematics(world.model, &settings, &problem, workspace, q, &info),
                         PERP_STATUS_NOT_CONVERGED);
        assert_true(q[world.model->dof_q[slide]] == (i ? 0.0 : 0.04));
        NEAR(info.position_error, i ? 0.1 : 0.06, 1e-12);
    }
    perp_ik_workspace_free(workspace);
    world_close(&world);
}

/* `movable` may name a floating body; without it a free body cannot be placed. The same call twice gives the same
 * bits. */
static void test_movable_and_repeatable(void **state)
{
    (void)state;
    test_world world;
    world_open(&world, arm_scene(1), 0);
    perp_ik_workspace *workspace;
    assert_int_equal(perp_ik_workspace_create(world.model, NULL, &workspace, NULL), PERP_STATUS_OK);
    const perp_ik_settings settings = perp_ik_settings_default();
    perp_random random = {1};
    bool movable[MAX_N];
    memset(movable, 1, sizeof movable);
    perp_ik_problem problem = {.body = perp_scene_find_body(world.scene, "box0"), .frame = random_pose(&random, false)};
    problem.target = random_pose(&random, false);
    double q[MAX_N], again[MAX_N];
    memcpy(q, world.q, sizeof q);
    assert_int_equal(perp_inverse_kinematics(world.model, &settings, &problem, workspace, q, NULL),
                     PERP_STATUS_NOT_CONVERGED);
    problem.movable = movable;
    assert_int_equal(perp_inverse_kinematics(world.model, &settings, &problem, workspace, q, NULL), PERP_STATUS_OK);
    memcpy(again, world.q, sizeof again);
    assert_int_equal(perp_inverse_kinematics(world.model, &settings, &problem, workspace, again, NULL), PERP_STATUS_OK);
    assert_memory_equal(q, again, (size_t)world.model->nq * sizeof(double));
    perp_ik_workspace_free(workspace);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thousand_reachable_targets),
        cmocka_unit_test(test_targets_on_the_limits),
        cmocka_unit_test(test_random_trees),
        cmocka_unit_test(test_unreachable_ends_at_the_closest_point),
        cmocka_unit_test(test_limits_hold),
        cmocka_unit_test(test_movable_and_repeatable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
