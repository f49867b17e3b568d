/* The energy of a state against the mass matrix, the gravity force and the springs' stretch, each computed by another
 * algorithm. */
#include "model_test.h"

#include <math.h>
#include <string.h>

static perp_energy energy_of(test_world *world, double t)
{
    const perp_state state = {.t = t, .q = world->q, .v = world->v};
    perp_kinematics_update(world->model, world->q, world->kinematics);
    return perp_energy_of(world->model, world->kinematics, &state);
}

static void test_kinetic_is_half_of_v_m_v(void **unused)
{
    (void)unused;
    static double packed[MAX_N * MAX_N], dense[MAX_N * MAX_N];
    for (uint64_t seed = 0; seed < 60; seed++) {
        test_world world;
        world_random(&world, seed);
        const int nv = world.model->nv;
        double momentum[MAX_N], expected = 0.0;
        const double kinetic = energy_of(&world, 0.3).kinetic;
        perp_mass_matrix(world.model, world.kinematics, packed);
        perp_mass_matrix_expand(world.model, packed, dense);
        dense_times(dense, world.v, nv, nv, momentum);
        for (int i = 0; i < nv; i++) {
            expected += 0.5 * world.v[i] * momentum[i];
        }
        NEAR(kinetic, expected, 1e-11 * fmax(1.0, expected)); /* sums of some hundred products */
        world_close(&world);
    }
}

static void gravity(test_world *world, const double *q, void *context, double *values)
{
    (void)context;
    const perp_state state = {.t = 0.0, .q = (double *)q, .v = world->v};
    values[0] = perp_energy_of(world->model, world->kinematics, &state).gravity;
}

/* d/dt of the energy of gravity along v is minus the power of the weights, joints without gravity_compensation. */
static void test_gravity_is_the_potential_of_the_weights(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 60; seed++) {
        test_world world;
        world_random(&world, seed);
        double force[MAX_N], rate, power = 0.0, size = 1.0;
        perp_gravity_force(world.model, world.kinematics, force);
        for (int i = 0; i < world.model->nv; i++) {
            power += force[i] * world.v[i];
            size += fabs(force[i] * world.v[i]);
        }
        path_derivative(&world, world.v, gravity, NULL, 1, &rate);
        NEAR(rate, -power, 10.0 * DERIVATIVE_TOLERANCE * size);
        world_close(&world);
    }
}

static void test_springs_are_stretched_to_the_command(void **unused)
{
    (void)unused;
    int seen = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        test_world world;
        world_random(&world, seed);
        const double t = 0.7;
        double command[MAX_N], expected = 0.0;
        perp_command(world.model, t, command);
        for (int i = 0; i < world.model->nv; i++) {
            if (world.model->role[i] == PERP_DOF_IMPEDANCE) {
                expected += 0.5 * world.model->stiffness[i] * pow(command[i] - world.q[world.model->dof_q[i]], 2.0);
                seen++;
            }
        }
        NEAR(energy_of(&world, t).springs, expected, 1e-12 * fmax(1.0, expected));
        world_close(&world);
    }
    assert_true(seen > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinetic_is_half_of_v_m_v),
        cmocka_unit_test(test_gravity_is_the_potential_of_the_weights),
        cmocka_unit_test(test_springs_are_stretched_to_the_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
