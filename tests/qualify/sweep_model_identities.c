/* Random trees: every Jacobian against a finite difference, the mass matrix against the sum over bodies, the
 * configuration manifold against its own inverse. */
#include "base/mat3.h"
#include "sweep.h"

#include "model_test.h"

#include <math.h>
#include <string.h>

/* |actual - expected| relative to the largest expected entry or 1; NaN fails. */
static void compare(sweep_case *result, const char *what, const double *actual, const double *expected, int count,
                    double tolerance)
{
    double size = 1.0;
    for (int i = 0; i < count; i++) {
        size = fmax(size, fabs(expected[i]));
    }
    for (int i = 0; i < count; i++) {
        if (!(fabs(actual[i] - expected[i]) <= tolerance * size)) {
            sweep_fail(result, "%s, entry %d of %d: %.17g is not %.17g within %g of %g", what, i, count, actual[i],
                       expected[i], tolerance, size);
            return;
        }
    }
}

/* Where a fixed point of every body is, and where a second one is, so that rotations show. */
static void body_points(test_world *world, const double *q, void *context, double *values)
{
    (void)q;
    const perp_vec3 *points = context;
    for (int b = 0; b < world->model->body_count; b++) {
        const perp_vec3 x = perp_pose_apply(world->kinematics->pose[b], points[b]);
        memcpy(values + 3 * b, &x, sizeof x);
    }
}

/* J v of a point of every body against the derivative of its position along v: once for a random v, which all dofs
 * enter, once for the unit rate of a random dof, which shows a column alone. */
static void check_jacobians(test_world *world, perp_random *random, sweep_case *result)
{
    const int nv = world->model->nv, bodies = world->model->body_count;
    perp_vec3 points[SPEC_BODIES];
    for (int b = 0; b < bodies; b++) {
        points[b] = random_vector(random, world->model->planar, 0.5);
    }
    for (int trial = 0; trial < 2 && nv > 0; trial++) {
        double v[MAX_N] = {0}, rate[3 * SPEC_BODIES], expected[3 * SPEC_BODIES];
        if (trial == 0) {
            memcpy(v, world->v, (size_t)nv * sizeof *v);
        } else {
            v[perp_random_bits(random) % (uint64_t)nv] = 1.0;
        }
        path_derivative(world, v, body_points, points, 3 * bodies, expected);
        for (int b = 0; b < bodies; b++) {
            double compact[3 * MAX_N], dense[3 * MAX_N];
            const perp_vec3 x = perp_pose_apply(world->kinematics->pose[b], points[b]);
            perp_point_jacobian(world->model, world->kinematics, b, x, compact);
            perp_jacobian_expand(world->model, b, 3, compact, dense);
            dense_times(dense, v, 3, nv, rate + 3 * b);
        }
        compare(result, trial == 0 ? "J v" : "a column of J", rate, expected, 3 * bodies, DERIVATIVE_TOLERANCE);
    }
}

/* Adds J' W J, J 3 x nv, W 3 x 3, to M. */
static void add_product(int nv, const double *jacobian, const double *weight, double *mass)
{
    for (int i = 0; i < nv; i++) {
        double row[3];
        for (int k = 0; k < 3; k++) {
            row[k] = jacobian[i] * weight[k] + jacobian[nv + i] * weight[3 + k] + jacobian[2 * nv + i] * weight[6 + k];
        }
        for (int j = 0; j < nv; j++) {
            mass[i * nv + j] += row[0] * jacobian[j] + row[1] * jacobian[nv + j] + row[2] * jacobian[2 * nv + j];
        }
    }
}

/* M = sum over bodies of J_com' m J_com + J_rot' R I R' J_rot, plus armature. Both sides sum a few hundred products of
 * entries of order one, so they agree to 1e3 * 2e-16 of the largest entry. */
static void check_mass_matrix(test_world *world, sweep_case *result)
{
    static double packed[MAX_N * MAX_N], actual[MAX_N * MAX_N], expected[MAX_N * MAX_N];
    const perp_model *model = world->model;
    const int nv = model->nv;
    perp_mass_matrix(model, world->kinematics, packed);
    perp_mass_matrix_expand(model, packed, actual);
    memset(expected, 0, sizeof expected);
    for (int b = 0; b < model->body_count; b++) {
        const perp_link *link = &model->links[b];
        double compact[6 * MAX_N], dense[6 * MAX_N];
        perp_frame_jacobian(model, world->kinematics, b, world->kinematics->com[b], compact);
        perp_jacobian_expand(model, b, 6, compact, dense);
        const double mass[9] = {link->mass, 0, 0, 0, link->mass, 0, 0, 0, link->mass};
        const perp_mat3 rotation = world->kinematics->rotation[b], back = perp_mat3_transpose(&rotation);
        const perp_mat3 half = perp_mat3_mul(&rotation, &link->inertia), inertia = perp_mat3_mul(&half, &back);
        add_product(nv, dense, mass, expected);
        add_product(nv, dense + 3 * nv, inertia.m, expected);
    }
    for (int i = 0; i < nv; i++) {
        expected[i * nv + i] += model->armature[i];
    }
    compare(result, "M", actual, expected, nv * nv, 2e-13);
}

/* difference(q, q (+) v) = v. Rates are at most 1 rad/s in each of three components, so rotations stay below sqrt 3 <
 * pi, where the shorter way is the way that was gone. Rounding of a log near the unit quaternion: a few 1e-16. */
static void check_manifold(test_world *world, sweep_case *result)
{
    double moved[MAX_N], back[MAX_N], rate[MAX_N];
    perp_configuration_integrate(world->model, world->q, world->v, 1.0, moved);
    perp_configuration_difference(world->model, world->q, moved, back);
    compare(result, "difference of integrate", back, world->v, world->model->nv, 1e-13);
    perp_configuration_rate(world->model, world->q, world->v, rate);
    perp_configuration_rate_inverse(world->model, world->q, rate, back);
    compare(result, "G+ G v", back, world->v, world->model->nv, 1e-13);
}

static void run(uint64_t seed, int index, sweep_case *result)
{
    perp_random random = {sweep_mix(seed, index)};
    test_world world;
    world_random(&world, perp_random_bits(&random) >> 16); /* room for the generator's own arithmetic on seeds */
    result->kind = world.model->planar ? 1 : 0;
    check_jacobians(&world, &random, result);
    check_mass_matrix(&world, result);
    check_manifold(&world, result);
    world_close(&world);
}

const sweep the_sweep = {
    .name = "model_identities",
    .checks = "random trees of 4 to 12 bodies: J v equals the finite difference of positions, M equals the sum of J'MJ "
              "over bodies, difference inverts integrate, G+ inverts G",
    .full = 20000,
    .sample = 200,
    .chunk = 500,
    .kinds = {"spatial", "planar"},
    .run = run,
};
