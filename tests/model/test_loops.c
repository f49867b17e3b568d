/* Loop residuals and their Jacobians, also where the loop is open. */
#include "model_test.h"

#include <math.h>
#include <string.h>

/* A random scene with a loop between two of its bodies, or a body and the world. */
static void world_with_loop(test_world *world, uint64_t seed, perp_loop_kind kind)
{
    static scene_spec spec;
    const bool planar = seed % 4 == 3;
    spec_random(&spec, seed, SPEC_WORLD_FRAME | (planar ? SPEC_PLANAR : 0u));
    perp_scene *scene = spec_build(&spec, 0);
    perp_random random = {seed + 7};
    const int a = (int)(perp_random_bits(&random) % (uint64_t)spec.body_count);
    const int b = (a + 1 + (int)(perp_random_bits(&random) % (uint64_t)(spec.body_count - 1))) % spec.body_count;
    const perp_loop loop = {.name = "loop",
                            .kind = kind,
                            .a = seed % 5 == 0 ? "world" : spec.names[a],
                            .b = spec.names[b],
                            .anchor_a = random_vector(&random, planar, 0.5),
                            .anchor_b = random_vector(&random, planar, 0.5)};
    assert_int_equal(perp_scene_add_loop(scene, &loop, NULL), PERP_STATUS_OK);
    static perp_diagnostics diagnostics;
    memset(&diagnostics, 0, sizeof diagnostics);
    assert_int_equal(perp_scene_validate(scene, &diagnostics), PERP_STATUS_OK);
    world_open(world, scene, seed);
}

static void residual_of(test_world *world, const double *q, void *context, double *values)
{
    (void)q;
    (void)context;
    perp_loop_evaluate(world->model, world->kinematics, 0, values, NULL);
}

/* At a random configuration the residual is of order one, and the Jacobian must still be its derivative. Near |phi| =
 * pi the rotation vector jumps, so those few are left out; there the fifth derivative grows too, hence 2.8. */
static void test_jacobian_by_difference(void **state)
{
    (void)state;
    int used = 0;
    for (uint64_t seed = 0; seed < 120; seed++) {
        test_world world;
        world_with_loop(&world, seed, seed % 2 ? PERP_LOOP_WELD : PERP_LOOP_POINT);
        const int nv = world.model->nv, rows = perp_loop_rows(world.model, 0);
        const bool weld = world.scene->loops[0].kind == PERP_LOOP_WELD;
        assert_int_equal(rows, world.model->planar ? (weld ? 3 : 2) : (weld ? 6 : 3));
        double residual[6], jacobian[6 * MAX_N];
        perp_loop_evaluate(world.model, world.kinematics, 0, residual, jacobian);
        double angle = 0.0;
        for (int i = world.model->planar ? 2 : 3; i < rows; i++) {
            angle = hypot(angle, residual[i]);
        }
        if (angle < 2.8) {
            for (int d = 0; d < nv; d++) {
                double unit[MAX_N] = {0}, rate[6], column[6];
                unit[d] = 1.0;
                path_derivative(&world, unit, residual_of, NULL, rows, rate);
                for (int i = 0; i < rows; i++) {
                    column[i] = jacobian[i * nv + d];
                }
                NEAR_ARRAY(column, rate, rows, DERIVATIVE_TOLERANCE);
            }
            used++;
        }
        world_close(&world);
    }
    assert_true(used > 90);
}

/* At the initial configuration a weld's rotation residual is zero, and it is the rotation by which b has left: turning
 * a floating b about a world axis by an angle gives that rotation vector. */
static void test_weld_residual(void **state)
{
    (void)state;
    test_world world;
    perp_scene *scene = arm_scene(2);
    const perp_loop loop = {.name = "grip",
                            .kind = PERP_LOOP_WELD,
                            .a = "box0",
                            .b = "box1",
                            .anchor_a = {0, 0.1, 0},
                            .anchor_b = {0, 0, 0}};
    assert_int_equal(perp_scene_add_loop(scene, &loop, NULL), PERP_STATUS_OK);
    static perp_diagnostics diagnostics;
    assert_int_equal(perp_scene_validate(scene, &diagnostics), PERP_STATUS_OK);
    world_open(&world, scene, 1);
    perp_state initial;
    assert_int_equal(perp_state_create(world.model, NULL, &initial, NULL), PERP_STATUS_OK);
    double residual[6], zero[6] = {0}, v[MAX_N] = {0};
    perp_kinematics_update(world.model, initial.q, world.kinematics);
    perp_loop_evaluate(world.model, world.kinematics, 0, residual, NULL);
    NEAR_ARRAY(residual, zero, 6, 1e-15);
    const double moved[6] = {0.1, -0.2, 0.3, 0.5, -0.4, 0.7};
    memcpy(v + world.model->links[perp_scene_find_body(scene, "box1")].v_start, moved, sizeof moved);
    perp_configuration_integrate(world.model, initial.q, v, 1.0, initial.q);
    perp_kinematics_update(world.model, initial.q, world.kinematics);
    perp_loop_evaluate(world.model, world.kinematics, 0, residual, NULL);
    NEAR_ARRAY(residual, moved, 6, 1e-14);
    perp_state_free(&initial);
    world_close(&world);
}

/* Random scenes start with all welds at rest. Rotations go through a dozen products: 1e-14 each way. */
static void test_welds_start_closed(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        test_world world;
        world_with_loop(&world, seed, PERP_LOOP_WELD);
        perp_state initial;
        assert_int_equal(perp_state_create(world.model, NULL, &initial, NULL), PERP_STATUS_OK);
        double residual[6];
        perp_kinematics_update(world.model, initial.q, world.kinematics);
        perp_loop_evaluate(world.model, world.kinematics, 0, residual, NULL);
        for (int i = world.model->planar ? 2 : 3; i < perp_loop_rows(world.model, 0); i++) {
            NEAR(residual[i], 0.0, 1e-14);
        }
        perp_state_free(&initial);
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jacobian_by_difference),
        cmocka_unit_test(test_weld_residual),
        cmocka_unit_test(test_welds_start_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
