/* Jacobians against finite differences of positions, forces against power. */
#include "model_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct body_point {
    int body;
    perp_vec3 point; /* body frame */
} body_point;

static void point_position(test_world *world, const double *q, void *context, double *values)
{
    (void)q;
    const body_point *p = context;
    const perp_vec3 x = perp_pose_apply(world->kinematics->pose[p->body], p->point);
    memcpy(values, &x, sizeof x);
}

/* Column by column: the velocity of a body point for a unit rate of each dof, chain or not. */
static void test_point_jacobian_by_difference(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        test_world world;
        world_random(&world, seed);
        perp_random random = {seed};
        const int nv = world.model->nv;
        for (int b = 0; b < world.model->body_count; b++) {
            body_point p = {b, random_vector(&random, world.model->planar, 0.5)};
            const perp_vec3 x = perp_pose_apply(world.kinematics->pose[b], p.point);
            double compact[3 * MAX_N], dense[3 * MAX_N];
            perp_point_jacobian(world.model, world.kinematics, b, x, compact);
            perp_jacobian_expand(world.model, b, 3, compact, dense);
            for (int d = 0; d < nv; d++) {
                double unit[MAX_N] = {0}, rate[3];
                unit[d] = 1.0;
                path_derivative(&world, unit, point_position, &p, 3, rate);
                const double column[3] = {dense[d], dense[nv + d], dense[2 * nv + d]};
                NEAR_ARRAY(column, rate, 3, DERIVATIVE_TOLERANCE);
            }
        }
        world_close(&world);
    }
}

/* J v is the twist that the velocity recursion gives: another route to the same numbers, so rounding only. */
static void test_frame_jacobian_gives_the_twist(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        test_world world;
        world_random(&world, seed);
        for (int b = 0; b < world.model->body_count; b++) {
            const int *dofs;
            const int n = perp_body_dofs(world.model, b, &dofs);
            double jacobian[6 * MAX_N], v[MAX_N], twist[6];
            perp_frame_jacobian(world.model, world.kinematics, b, world.kinematics->pose[b].position, jacobian);
            for (int k = 0; k < n; k++) {
                v[k] = world.v[dofs[k]];
            }
            dense_times(jacobian, v, 6, n, twist);
            NEAR_ARRAY(twist, &world.kinematics->twist[b].linear.x, 6, 1e-13);
        }
        world_close(&world);
    }
}

/* The generalised force of a wrench has the wrench's power. */
static void test_wrench_power(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        test_world world;
        world_random(&world, seed);
        perp_random random = {seed};
        for (int b = 0; b < world.model->body_count; b++) {
            const perp_vec3 force = random_vector(&random, false, 5.0), torque = random_vector(&random, false, 5.0);
            const perp_vec3 point = random_vector(&random, false, 1.0);
            double generalised[MAX_N];
            for (int i = 0; i < world.model->nv; i++) {
                generalised[i] = 0.25; /* the wrench is added to what is there */
            }
            perp_add_wrench(world.model, world.kinematics, b, point, force, torque, generalised);
            double power = 0.0;
            for (int i = 0; i < world.model->nv; i++) {
                power += (generalised[i] - 0.25) * world.v[i];
            }
            const perp_twist *twist = &world.kinematics->twist[b];
            const perp_vec3 arm = perp_vec3_sub(point, world.kinematics->pose[b].position);
            const perp_vec3 velocity = perp_vec3_add(twist->linear, perp_vec3_cross(twist->angular, arm));
            const double expected = perp_vec3_dot(force, velocity) + perp_vec3_dot(torque, twist->angular);
            NEAR(power, expected, 1e-12 * (1.0 + fabs(expected)) * 10);
        }
        perp_add_wrench(world.model, world.kinematics, -1, (perp_vec3){0, 0, 0}, (perp_vec3){1, 2, 3},
                        (perp_vec3){0, 0, 0}, NULL); /* the world does not move: nothing is written */
        world_close(&world);
    }
}

/* The scene's forces: power = sum of force . velocity of its point + torque . angular velocity, frames as written. */
static void test_applied_force_power(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        test_world world;
        world_random(&world, seed);
        const double t = 0.7;
        double generalised[MAX_N], power = 0.0, expected = 0.0;
        perp_applied_force(world.model, world.kinematics, t, generalised);
        for (int i = 0; i < world.model->nv; i++) {
            power += generalised[i] * world.v[i];
        }
        for (int i = 0; i < world.scene->force_count; i++) {
            const perp_force *f = &world.scene->forces[i];
            const perp_pose *pose = &world.kinematics->pose[f->body_index];
            const perp_twist *twist = &world.kinematics->twist[f->body_index];
            perp_vec3 force = {f->force[0].offset + t * f->force[0].rate, f->force[1].offset + t * f->force[1].rate,
                               f->force[2].offset + t * f->force[2].rate};
            perp_vec3 torque = {f->torque[0].offset, f->torque[1].offset, f->torque[2].offset};
            if (f->in_body_frame) {
                force = perp_quat_rotate(pose->rotation, force);
                torque = perp_quat_rotate(pose->rotation, torque);
            }
            const perp_vec3 arm = perp_quat_rotate(pose->rotation, f->point);
            const perp_vec3 velocity = perp_vec3_add(twist->linear, perp_vec3_cross(twist->angular, arm));
            expected += perp_vec3_dot(force, velocity) + perp_vec3_dot(torque, twist->angular);
        }
        NEAR(power, expected, 1e-12 * (10.0 + fabs(expected)));
        world_close(&world);
    }
}

static void potential_energy(test_world *world, const double *q, void *context, double *values)
{
    (void)q;
    (void)context;
    values[0] = 0.0;
    for (int b = 0; b < world->model->body_count; b++) {
        values[0] -= world->model->links[b].mass * perp_vec3_dot(world->scene->gravity, world->kinematics->com[b]);
    }
}

/* Gravity is minus the gradient of the potential energy, dof by dof. Energies reach 100 J, so the derivative's rounding
 * is 1e-16 * 100 / 1e-3 = 1e-11 beside the truncation of DERIVATIVE_TOLERANCE. */
static void test_gravity_by_difference(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        test_world world;
        world_random(&world, seed);
        double force[MAX_N], expected[MAX_N];
        perp_gravity_force(world.model, world.kinematics, force);
        for (int d = 0; d < world.model->nv; d++) {
            double unit[MAX_N] = {0}, rate;
            unit[d] = 1.0;
            path_derivative(&world, unit, potential_energy, NULL, 1, &rate);
            expected[d] = -rate;
        }
        NEAR_ARRAY(force, expected, world.model->nv, DERIVATIVE_TOLERANCE);
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_point_jacobian_by_difference),
        cmocka_unit_test(test_frame_jacobian_gives_the_twist),
        cmocka_unit_test(test_wrench_power),
        cmocka_unit_test(test_applied_force_power),
        cmocka_unit_test(test_gravity_by_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
