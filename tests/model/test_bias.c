/* The bias force against Newton's and Euler's laws, body by body, and against the power balance. */
#include "model_test.h"

#include <math.h>
#include <string.h>

/* Momentum m v_com and angular momentum about the centre of mass, of every body, in the world frame. */
static void momenta(test_world *world, const double *q, void *context, double *values)
{
    (void)q;
    (void)context;
    for (int b = 0; b < world->model->body_count; b++) {
        const perp_link *link = &world->model->links[b];
        const perp_mat3 *r = &world->kinematics->rotation[b];
        const perp_twist *twist = &world->kinematics->twist[b];
        const perp_vec3 arm = perp_vec3_sub(world->kinematics->com[b], world->kinematics->pose[b].position);
        const perp_vec3 velocity = perp_vec3_add(twist->linear, perp_vec3_cross(twist->angular, arm));
        const perp_vec3 linear = perp_vec3_scale(link->mass, velocity);
        const perp_vec3 spin =
            perp_mat3_mul_vec(r, perp_mat3_mul_vec(&link->inertia, perp_mat3_tmul_vec(r, twist->angular)));
        memcpy(values + 6 * b, &linear, sizeof linear);
        memcpy(values + 6 * b + 3, &spin, sizeof spin);
    }
}

/* Along q (+) t v the rates v are constant, so sum J_com' d(m v_com)/dt + J_w' d(I w)/dt = M 0 + c(q, v). */
static void test_bias_is_the_rate_of_momentum(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        test_world world;
        world_random(&world, seed);
        const int nv = world.model->nv;
        double rate[6 * SPEC_BODIES], expected[MAX_N] = {0}, bias[MAX_N];
        path_derivative(&world, world.v, momenta, NULL, 6 * world.model->body_count, rate);
        for (int b = 0; b < world.model->body_count; b++) {
            double compact[6 * MAX_N], jacobian[6 * MAX_N];
            perp_frame_jacobian(world.model, world.kinematics, b, world.kinematics->com[b], compact);
            perp_jacobian_expand(world.model, b, 6, compact, jacobian);
            for (int i = 0; i < 6; i++) {
                for (int d = 0; d < nv; d++) {
                    expected[d] += jacobian[i * nv + d] * rate[6 * b + i];
                }
            }
        }
        for (int i = 0; i < nv; i++) {
            bias[i] = NAN;
        }
        perp_bias_force(world.model, world.kinematics, world.v, bias);
        NEAR_ARRAY(bias, expected, nv, DERIVATIVE_TOLERANCE);
        world_close(&world);
    }
}

static void kinetic_energy(test_world *world, const double *q, void *context, double *values)
{
    (void)q;
    (void)context;
    static double packed[MAX_N * MAX_N], dense[MAX_N * MAX_N];
    const int nv = world->model->nv;
    double momentum[MAX_N];
    perp_mass_matrix(world->model, world->kinematics, packed);
    perp_mass_matrix_expand(world->model, packed, dense);
    dense_times(dense, world->v, nv, nv, momentum);
    values[0] = 0.0;
    for (int i = 0; i < nv; i++) {
        values[0] += 0.5 * momentum[i] * world->v[i];
    }
}

/* Holding the rates takes the force c, whose power is the change of kinetic energy: v'c = 1/2 v' (dM/dt) v. */
static void test_power_balance(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        test_world world;
        world_random(&world, seed);
        double rate, energy, bias[MAX_N], power = 0.0;
        kinetic_energy(&world, world.q, NULL, &energy);
        path_derivative(&world, world.v, kinetic_energy, NULL, 1, &rate);
        perp_bias_force(world.model, world.kinematics, world.v, bias);
        for (int i = 0; i < world.model->nv; i++) {
            power += bias[i] * world.v[i];
        }
        NEAR(power, rate, DERIVATIVE_TOLERANCE * (1.0 + energy + fabs(rate)));
        world_close(&world);
    }
}

/* c is quadratic in v: c(2 v) = 4 c(v), bit for bit because scaling by two rounds nothing; c(0) = 0. */
static void test_quadratic_in_rates(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        test_world world;
        world_random(&world, seed);
        double once[MAX_N], twice[MAX_N], v[MAX_N];
        perp_bias_force(world.model, world.kinematics, world.v, once);
        for (int i = 0; i < world.model->nv; i++) {
            v[i] = 2.0 * world.v[i];
        }
        world_update(&world, world.q, v);
        perp_bias_force(world.model, world.kinematics, v, twice);
        for (int i = 0; i < world.model->nv; i++) {
            assert_true(twice[i] == 4.0 * once[i]);
            v[i] = 0.0;
        }
        world_update(&world, world.q, v);
        perp_bias_force(world.model, world.kinematics, v, once);
        for (int i = 0; i < world.model->nv; i++) {
            assert_true(once[i] == 0.0);
        }
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bias_is_the_rate_of_momentum),
        cmocka_unit_test(test_power_balance),
        cmocka_unit_test(test_quadratic_in_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
