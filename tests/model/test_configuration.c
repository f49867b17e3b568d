/* The configuration manifold: G and its inverse, integrate and difference, prescribed coordinates. */
#include "model_test.h"

#include <math.h>
#include <string.h>

static void coordinates(test_world *world, const double *q, void *context, double *values)
{
    (void)context;
    memcpy(values, q, (size_t)world->model->nq * sizeof(double));
}

static void test_rate_by_difference(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        test_world world;
        world_random(&world, seed);
        double expected[MAX_N], rate[MAX_N];
        path_derivative(&world, world.v, coordinates, NULL, world.model->nq, expected);
        perp_configuration_rate(world.model, world.q, world.v, rate);
        NEAR_ARRAY(rate, expected, world.model->nq, DERIVATIVE_TOLERANCE);
        world_close(&world);
    }
}

/* The dense G agrees with the product, and G+ G = 1; on a quaternion G+ = 4 G', so G+ is the pseudo-inverse: it
 * ignores a rate along the quaternion itself. Unit quaternions to rounding: 1e-14. */
static void test_map_and_inverse(void **state)
{
    (void)state;
    static double g[MAX_N * MAX_N];
    for (uint64_t seed = 0; seed < 100; seed++) {
        test_world world;
        world_random(&world, seed);
        const int nq = world.model->nq, nv = world.model->nv;
        double rate[MAX_N], product[MAX_N], v[MAX_N];
        perp_configuration_map(world.model, world.q, g);
        dense_times(g, world.v, nq, nv, product);
        perp_configuration_rate(world.model, world.q, world.v, rate);
        NEAR_ARRAY(product, rate, nq, 1e-14);
        for (int b = 0; b < world.model->body_count; b++) {
            const perp_link *link = &world.model->links[b];
            const int start = link->q_start + (link->motion == PERP_MOTION_FLOATING ? 3 : 0);
            for (int i = 0; i < 4 && (link->motion == PERP_MOTION_FLOATING || link->motion == PERP_MOTION_BALL); i++) {
                rate[start + i] += 0.7 * world.q[start + i];
            }
        }
        perp_configuration_rate_inverse(world.model, world.q, rate, v);
        NEAR_ARRAY(v, world.v, nv, 1e-14);
        world_close(&world);
    }
}

/* |v| < 1.8 < pi, so the shorter way is the way taken. The log loses digits like 1/sin: 1e-13 covers it. */
static void test_integrate_and_difference_are_inverse(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        test_world world;
        world_random(&world, seed);
        double to[MAX_N], v[MAX_N], back[MAX_N], in_place[MAX_N];
        perp_configuration_integrate(world.model, world.q, world.v, 1.0, to);
        perp_configuration_difference(world.model, world.q, to, v);
        NEAR_ARRAY(v, world.v, world.model->nv, 1e-13);
        perp_configuration_integrate(world.model, to, world.v, -1.0, back);
        NEAR_ARRAY(back, world.q, world.model->nq, 1e-13);
        memcpy(in_place, world.q, sizeof in_place);
        perp_configuration_integrate(world.model, in_place, world.v, 1.0, in_place);
        assert_memory_equal(in_place, to, (size_t)world.model->nq * sizeof(double));
        /* The other sign of a quaternion is the same configuration. */
        for (int b = 0; b < world.model->body_count; b++) {
            const perp_link *link = &world.model->links[b];
            const int start = link->q_start + (link->motion == PERP_MOTION_FLOATING ? 3 : 0);
            for (int i = 0; i < 4 && (link->motion == PERP_MOTION_FLOATING || link->motion == PERP_MOTION_BALL); i++) {
                to[start + i] = -to[start + i];
            }
        }
        perp_configuration_difference(world.model, world.q, to, v);
        NEAR_ARRAY(v, world.v, world.model->nv, 1e-13);
        world_close(&world);
    }
}

/* A million steps of a tumbling body: every step ends in a normalisation, so the error is that of one step. */
static void test_tumbling_stays_unit(void **state)
{
    (void)state;
    test_world world;
    world_open(&world, arm_scene(1), 5);
    const perp_link *box = &world.model->links[perp_scene_find_body(world.scene, "box0")];
    double v[MAX_N] = {0}, worst = 0.0;
    double *q = world.q + box->q_start + 3, *w = v + box->v_start + 3;
    for (int i = 0; i < 1000000; i++) {
        w[0] = 3.0 + q[1];
        w[1] = -2.0 * q[0];
        w[2] = 5.0 * q[2];
        perp_configuration_integrate(world.model, world.q, v, 1e-3, world.q);
        worst = fmax(worst, fabs(sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) - 1.0));
    }
    NEAR(worst, 0.0, 1e-12);
    world_close(&world);
}

/* A planar angle counts turns. */
static void test_planar_angle_is_not_wrapped(void **state)
{
    (void)state;
    static scene_spec spec;
    memset(&spec, 0, sizeof spec);
    spec.planar = true;
    spec.body_count = 1;
    spec.bodies[0] = perp_body_default("disc");
    spec.bodies[0].mass = perp_set(1.0);
    spec.bodies[0].inertia_count = 1;
    spec.bodies[0].inertia[0] = 1.0;
    spec.bodies[0].pose.angle = 20.0;
    test_world world;
    world_open(&world, spec_build(&spec, 0), 0);
    const double q[3] = {0.0, 0.0, 20.0}, v[3] = {0.0, 0.0, 100.0};
    double to[3], back[3];
    perp_configuration_integrate(world.model, q, v, 1.0, to);
    NEAR(to[2], 120.0, 0.0);
    perp_configuration_difference(world.model, q, to, back);
    NEAR(back[2], 100.0, 0.0);
    perp_state initial;
    assert_int_equal(perp_state_create(world.model, NULL, &initial, NULL), PERP_STATUS_OK);
    NEAR(initial.q[2], 20.0, 0.0);
    perp_state_free(&initial);
    world_close(&world);
}

/* Locked components neither move nor appear in a difference, and a locked rotation keeps its very bits. (Normalising a
 * unit quaternion again moves the last bit of some, so several rotations are tried.) */
static void test_locked_components(void **state)
{
    (void)state;
    static scene_spec spec;
    for (uint64_t seed = 0; seed < 20; seed++) {
        perp_random random = {seed};
        memset(&spec, 0, sizeof spec);
        spec.body_count = 1;
        spec.bodies[0] = perp_body_default("particle");
        spec.bodies[0].mass = perp_set(1.0);
        spec.bodies[0].free_set = true;
        spec.bodies[0].free_mask = PERP_COMPONENT_X | PERP_COMPONENT_Z;
        spec.bodies[0].pose.pose.rotation = random_rotation(&random, false);
        test_world world;
        world_open(&world, spec_build(&spec, 0), 0);
        assert_int_equal(world.model->nv, 2);
        assert_int_equal(world.model->nq, 7);
        const perp_quat rotation = world.scene->bodies[0].pose.pose.rotation;
        double q[7], v[2];
        const double rates[2] = {1.0, -2.0};
        memcpy(q, world.q, sizeof q);
        for (int i = 0; i < 1000; i++) {
            perp_configuration_integrate(world.model, q, rates, 1e-3, q);
        }
        NEAR(q[0], world.q[0] + 1.0, 1e-12);
        NEAR(q[2], world.q[2] - 2.0, 1e-12);
        assert_true(q[1] == world.q[1]);
        assert_memory_equal(q + 3, &rotation, sizeof rotation);
        q[1] += 5.0;
        perp_configuration_difference(world.model, world.q, q, v);
        NEAR_ARRAY(v, rates, 2, 1e-12);
        world_close(&world);
    }
}

/* x'(t) of every prescribed coordinate is the derivative of x(t): (x(t + h) - x(t - h)) / 2h on the manifold, by
 * Richardson with h = 1e-3. Sines up to 2 rad/s with rates up to 2: truncation below 1e-10, rounding below 1e-12. */
static void test_prescribed_rate_by_difference(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        test_world world;
        world_random(&world, seed);
        const perp_prescribe which = seed % 2 ? PERP_PRESCRIBE_POSITION : PERP_PRESCRIBE_POSITION_IMPEDANCE;
        const double t = 0.01 * (double)seed;
        double difference[2][MAX_N], expected[MAX_N], rate[MAX_N];
        for (int k = 0; k < 2; k++) {
            const double h = k == 0 ? 1e-3 : 0.5e-3;
            double after[MAX_N], before[MAX_N];
            memcpy(after, world.q, sizeof after);
            memcpy(before, world.q, sizeof before);
            perp_prescribed_configuration(world.model, which, t + h, after);
            perp_prescribed_configuration(world.model, which, t - h, before);
            perp_configuration_difference(world.model, before, after, difference[k]);
            for (int i = 0; i < world.model->nv; i++) {
                difference[k][i] /= 2.0 * h;
            }
        }
        memset(rate, 0, sizeof rate);
        perp_prescribed_rate(world.model, which, t, rate);
        for (int i = 0; i < world.model->nv; i++) {
            expected[i] = (4.0 * difference[1][i] - difference[0][i]) / 3.0;
        }
        NEAR_ARRAY(rate, expected, world.model->nv, DERIVATIVE_TOLERANCE);
        world_close(&world);
    }
}

/* At pitch = pi/2 roll and yaw cannot be told apart; pose and rate must still agree on which is which. */
static void test_prescribed_rate_at_the_pole(void **state)
{
    (void)state;
    static scene_spec spec;
    memset(&spec, 0, sizeof spec);
    spec.body_count = 1;
    spec.bodies[0] = perp_body_default("hand");
    spec.bodies[0].kind = PERP_BODY_DRIVEN;
    spec.bodies[0].driven_mask = PERP_COMPONENT_RY;
    spec.bodies[0].drives[4].rate = 1.0;
    const double half = sqrt(0.5);
    const perp_quat pole = {half, 0.0, half, 0.0};
    spec.bodies[0].pose.pose.rotation = perp_quat_mul(perp_quat_from_axis_angle(perp_vec3_make(0, 0, 1), 0.4), pole);
    test_world world;
    world_open(&world, spec_build(&spec, 0), 0);
    double before[7], after[7], v[6], rate[6];
    perp_prescribed_configuration(world.model, PERP_PRESCRIBE_POSITION, 0.299, before);
    perp_prescribed_configuration(world.model, PERP_PRESCRIBE_POSITION, 0.301, after);
    perp_configuration_difference(world.model, before, after, v);
    perp_prescribed_rate(world.model, PERP_PRESCRIBE_POSITION, 0.3, rate);
    for (int i = 0; i < 6; i++) {
        NEAR(rate[i], v[i] / 0.002, 1e-12 / 0.002); /* a rotation about a fixed axis: the difference is exact */
    }
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate_by_difference),
        cmocka_unit_test(test_map_and_inverse),
        cmocka_unit_test(test_integrate_and_difference_are_inverse),
        cmocka_unit_test(test_tumbling_stays_unit),
        cmocka_unit_test(test_planar_angle_is_not_wrapped),
        cmocka_unit_test(test_locked_components),
        cmocka_unit_test(test_prescribed_rate_by_difference),
        cmocka_unit_test(test_prescribed_rate_at_the_pole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
