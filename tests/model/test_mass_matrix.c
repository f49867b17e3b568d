/* The mass matrix against kinetic energy from differenced motion, and against the sum of bodies from Jacobians. */
#include "base/mat3.h"
#include "model_test.h"

#include <math.h>
#include <string.h>

static void dense_mass(test_world *world, double *dense)
{
    static double packed[MAX_N * MAX_N];
    /* Every entry must be written: start from garbage. */
    for (int i = 0; i < world->model->mass_size; i++) {
        packed[i] = NAN;
    }
    perp_mass_matrix(world->model, world->kinematics, packed);
    perp_mass_matrix_expand(world->model, packed, dense);
}

/* ---- by energy --------------------------------------------------------------------------------------------------- */

static void com_and_rotation(test_world *world, const double *q, void *context, double *values)
{
    (void)q;
    (void)context;
    for (int b = 0; b < world->model->body_count; b++) {
        memcpy(values + 12 * b, &world->kinematics->com[b], 3 * sizeof(double));
        memcpy(values + 12 * b + 3, world->kinematics->rotation[b].m, 9 * sizeof(double));
    }
}

/* 1/2 m |dcom/dt|^2 + 1/2 w' R I R' w, w from dR/dt. */
static double kinetic_energy(const test_world *world, int body, const double *rate)
{
    const perp_link *link = &world->model->links[body];
    const perp_mat3 *r = &world->kinematics->rotation[body];
    perp_mat3 r_dot;
    memcpy(r_dot.m, rate + 3, sizeof r_dot.m);
    const perp_mat3 back = perp_mat3_transpose(r);
    const perp_mat3 spin = perp_mat3_mul(&r_dot, &back);
    const perp_vec3 w_body = perp_mat3_tmul_vec(r, perp_vec3_make(spin.m[7], spin.m[2], spin.m[3]));
    const double speed = rate[0] * rate[0] + rate[1] * rate[1] + rate[2] * rate[2];
    return 0.5 * link->mass * speed + 0.5 * perp_vec3_dot(w_body, perp_mat3_mul_vec(&link->inertia, w_body));
}

static void test_kinetic_energy_by_difference(void **state)
{
    (void)state;
    static double mass[MAX_N * MAX_N];
    for (uint64_t seed = 0; seed < 150; seed++) {
        test_world world;
        world_random(&world, seed);
        const int nv = world.model->nv;
        double rate[12 * SPEC_BODIES], momentum[MAX_N], energy = 0.0, expected = 0.0;
        path_derivative(&world, world.v, com_and_rotation, NULL, 12 * world.model->body_count, rate);
        for (int b = 0; b < world.model->body_count; b++) {
            expected += kinetic_energy(&world, b, rate + 12 * b);
        }
        dense_mass(&world, mass);
        dense_times(mass, world.v, nv, nv, momentum);
        for (int i = 0; i < nv; i++) {
            energy += 0.5 * momentum[i] * world.v[i];
            expected += 0.5 * world.model->armature[i] * world.v[i] * world.v[i];
        }
        /* Quadratic in rates that are exact to DERIVATIVE_TOLERANCE: twice that. */
        NEAR(energy, expected, 2.0 * DERIVATIVE_TOLERANCE * (1.0 + expected));
        world_close(&world);
    }
}

/* ---- by Jacobians ------------------------------------------------------------------------------------------------ */

/* Adds J_com' m J_com + J_w' (R I R') J_w of one body. */
static void add_body_mass(const test_world *world, int body, double *mass)
{
    const perp_link *link = &world->model->links[body];
    const int nv = world->model->nv;
    double compact[6 * MAX_N], jacobian[6 * MAX_N];
    perp_frame_jacobian(world->model, world->kinematics, body, world->kinematics->com[body], compact);
    perp_jacobian_expand(world->model, body, 6, compact, jacobian);
    const perp_mat3 *r = &world->kinematics->rotation[body];
    for (int j = 0; j < nv; j++) {
        const perp_vec3 w = {jacobian[3 * nv + j], jacobian[4 * nv + j], jacobian[5 * nv + j]};
        const perp_vec3 spin = perp_mat3_mul_vec(r, perp_mat3_mul_vec(&link->inertia, perp_mat3_tmul_vec(r, w)));
        for (int i = 0; i < nv; i++) {
            mass[i * nv + j] += link->mass * (jacobian[i] * jacobian[j] + jacobian[nv + i] * jacobian[nv + j] +
                                              jacobian[2 * nv + i] * jacobian[2 * nv + j]) +
                                jacobian[3 * nv + i] * spin.x + jacobian[4 * nv + i] * spin.y +
                                jacobian[5 * nv + i] * spin.z;
        }
    }
}

/* Two algorithms, one matrix: rounding only, 1e-12 of its largest entry; exactly symmetric, as it is written. */
static void test_mass_matrix_from_jacobians(void **state)
{
    (void)state;
    static double mass[MAX_N * MAX_N], expected[MAX_N * MAX_N];
    for (uint64_t seed = 0; seed < 200; seed++) {
        test_world world;
        world_random(&world, seed);
        const int nv = world.model->nv;
        memset(expected, 0, sizeof expected);
        for (int b = 0; b < world.model->body_count; b++) {
            add_body_mass(&world, b, expected);
        }
        for (int i = 0; i < nv; i++) {
            expected[i * nv + i] += world.model->armature[i];
        }
        dense_mass(&world, mass);
        NEAR_ARRAY(mass, expected, nv * nv, 1e-12);
        for (int i = 0; i < nv; i++) {
            for (int j = 0; j < i; j++) {
                assert_true(mass[i * nv + j] == mass[j * nv + i]);
            }
        }
        world_close(&world);
    }
}

/* Smallest pivot of the Cholesky factorisation, relative to its diagonal; 0 where one is not positive. */
static double smallest_pivot(double *a, int n)
{
    double smallest = INFINITY;
    for (int j = 0; j < n; j++) {
        const double diagonal = a[j * n + j];
        for (int k = 0; k < j; k++) {
            a[j * n + j] -= a[j * n + k] * a[j * n + k];
        }
        if (!(a[j * n + j] > 0.0)) {
            return 0.0;
        }
        smallest = fmin(smallest, a[j * n + j] / diagonal);
        const double root = sqrt(a[j * n + j]);
        a[j * n + j] = root;
        for (int i = j + 1; i < n; i++) {
            for (int k = 0; k < j; k++) {
                a[i * n + j] -= a[i * n + k] * a[j * n + k];
            }
            a[i * n + j] /= root;
        }
    }
    return smallest;
}

/* Where every body has mass and inertia the matrix is positive definite; and with a massless last link on a joint
 * without armature it is singular, so the test can fail. */
static void test_positive_definite(void **state)
{
    (void)state;
    static double mass[MAX_N * MAX_N];
    int definite = 0, singular = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        test_world world;
        world_random(&world, seed);
        bool all_massive = true, bare_tip = false;
        for (int b = 0; b < world.model->body_count; b++) {
            const bool massless = world.model->links[b].tree >= 0 && world.model->links[b].mass == 0.0;
            all_massive &= !massless;
            bool tip = massless && world.model->links[b].v_count > 0;
            for (int c = 0; c < world.model->body_count; c++) {
                tip &= world.model->links[c].parent != b;
            }
            bare_tip |= tip && world.model->armature[world.model->links[b].v_start] == 0.0;
        }
        dense_mass(&world, mass);
        const double pivot = smallest_pivot(mass, world.model->nv);
        if (all_massive && world.model->nv > 0) {
            assert_true(pivot > 1e-9);
            definite++;
        } else if (bare_tip) {
            assert_true(!(pivot > 1e-12));
            singular++;
        }
        world_close(&world);
    }
    assert_true(definite > 20 && singular > 20);
}

/* A free body alone takes a path of its own; with a massless child on a fixed joint the same body takes the general
 * one. */
static void test_free_body_equals_general_path(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        const bool planar = seed % 2;
        perp_random random = {seed};
        static scene_spec spec;
        spec_random(&spec, seed, planar ? SPEC_PLANAR : 0u);
        spec.body_count = 1;
        spec.joint_count = spec.force_count = 0;
        spec.bodies[0].kind = PERP_BODY_FREE;
        spec.bodies[0].shape_count = 0;
        spec.bodies[0].density.set = false;
        spec.bodies[0].mass = perp_set(0.7);
        spec.bodies[0].inertia_count = planar ? 1 : 6;
        const double inertia[6] = {0.3, 0.4, 0.5, 0.02, -0.03, 0.04};
        memcpy(spec.bodies[0].inertia, inertia, sizeof inertia);
        spec.bodies[0].com_set = true;
        spec.bodies[0].com = random_vector(&random, planar, 0.3);
        test_world alone, carrying;
        world_open(&alone, spec_build(&spec, 0), seed);
        spec.body_count = 2;
        spec.joint_count = 1;
        spec.bodies[1] = perp_body_default(spec.names[1]);
        spec.joints[0] = perp_joint_default("glue", PERP_JOINT_FIXED);
        spec.joints[0].parent = spec.names[0];
        spec.joints[0].child = spec.names[1];
        world_open(&carrying, spec_build(&spec, 0), seed);
        double one[36], two[36];
        dense_mass(&alone, one);
        dense_mass(&carrying, two);
        NEAR_ARRAY(one, two, planar ? 9 : 36, 1e-15);
        world_close(&alone);
        world_close(&carrying);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinetic_energy_by_difference),
        cmocka_unit_test(test_mass_matrix_from_jacobians),
        cmocka_unit_test(test_positive_definite),
        cmocka_unit_test(test_free_body_equals_general_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
