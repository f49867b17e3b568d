/* Vectors, rotations, poses, eigenvalues, tangents.
 *
 * EPS is the unit roundoff. A product of unit quaternions or rotation matrices makes at most about 8 roundings per
 * entry of size one, so a few tens of EPS per operation is the scale of every tolerance here; each says its factor. */
#include "base/mat3.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <perp/base.h>

#define PI 3.14159265358979323846
#define EPS (0.5 * DBL_EPSILON)

static void check_near(double actual, double expected, double tolerance, const char *text, int line)
{
    if (!(fabs(actual - expected) <= tolerance)) {
        fail_msg("line %d: %s: %.17g, expected %.17g, differs by %g > %g", line, text, actual, expected,
                 actual - expected, tolerance);
    }
}
#define NEAR(actual, expected, tolerance) check_near((actual), (expected), (tolerance), #actual, __LINE__)

static void check_vec(perp_vec3 a, perp_vec3 b, double tolerance, const char *text, int line)
{
    check_near(a.x, b.x, tolerance, text, line);
    check_near(a.y, b.y, tolerance, text, line);
    check_near(a.z, b.z, tolerance, text, line);
}
#define NEAR_VEC(a, b, tolerance) check_vec((a), (b), (tolerance), #a, __LINE__)

/* Equal as rotations: q and -q are one. */
static void check_quat(perp_quat a, perp_quat b, double tolerance, const char *text, int line)
{
    const double sign = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z < 0.0 ? -1.0 : 1.0;
    check_near(a.w, sign * b.w, tolerance, text, line);
    check_near(a.x, sign * b.x, tolerance, text, line);
    check_near(a.y, sign * b.y, tolerance, text, line);
    check_near(a.z, sign * b.z, tolerance, text, line);
}
#define NEAR_QUAT(a, b, tolerance) check_quat((a), (b), (tolerance), #a, __LINE__)

static void check_mat(const perp_mat3 *a, const perp_mat3 *b, double tolerance, const char *text, int line)
{
    for (int i = 0; i < 9; i++) {
        check_near(a->m[i], b->m[i], tolerance, text, line);
    }
}
#define NEAR_MAT(a, b, tolerance) check_mat((a), (b), (tolerance), #a, __LINE__)

static perp_vec3 random_vec(perp_random *random, double size)
{
    return perp_vec3_make(perp_random_uniform(random, -size, size), perp_random_uniform(random, -size, size),
                          perp_random_uniform(random, -size, size));
}

static perp_vec3 random_unit(perp_random *random)
{
    perp_vec3 v;
    do {
        v = random_vec(random, 1.0);
    } while (!(perp_vec3_norm(v) > 0.1 && perp_vec3_norm(v) < 1.0));
    return perp_vec3_normalise(v);
}

static perp_quat random_quat(perp_random *random)
{
    const perp_quat q = {perp_random_uniform(random, -1, 1), perp_random_uniform(random, -1, 1),
                         perp_random_uniform(random, -1, 1), perp_random_uniform(random, -1, 1)};
    return perp_quat_normalise(q);
}

static double quat_norm(perp_quat q)
{
    return sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
}

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

static void test_normalise(void **state)
{
    (void)state;
    perp_random random = {1};
    for (int k = 0; k < 200; k++) {
        const perp_vec3 direction = random_unit(&random);
        for (int e = -300; e <= 300; e += 100) { /* the square of 1e+-300 is no double */
            const perp_vec3 unit = perp_vec3_normalise(perp_vec3_scale(pow(10.0, e), direction));
            NEAR(perp_vec3_norm(unit), 1.0, 4 * EPS);
            NEAR_VEC(unit, direction, 8 * EPS);
        }
    }
    const perp_vec3 zero = perp_vec3_normalise(perp_vec3_make(0, 0, 0));
    assert_true(zero.x == 0 && zero.y == 0 && zero.z == 0);
    const perp_vec3 tiny = perp_vec3_normalise(perp_vec3_make(0, -5e-324, 0));
    assert_true(tiny.x == 0 && tiny.y == -1 && tiny.z == 0);
    NEAR_QUAT(perp_quat_normalise((perp_quat){1e200, -1e200, 1e200, 1e200}), ((perp_quat){0.5, -0.5, 0.5, 0.5}), EPS);
    const perp_quat identity = perp_quat_normalise((perp_quat){0, 0, 0, 0});
    assert_true(identity.w == 1 && identity.x == 0 && identity.y == 0 && identity.z == 0);
}

/* ---- exponential and logarithm ----------------------------------------------------------------------------------- */

/* exp(w) turns about w: it keeps w, and a vector across w turns by |w| (Rodrigues). */
static void test_exp_is_the_rotation(void **state)
{
    (void)state;
    perp_random random = {2};
    static const double angles[] = {0.0, 1e-300, 1e-12, 1e-5, 0.99e-4, 1.01e-4, 0.1, 1.0, 3.0, PI, 4.0, 6.0};
    for (int k = 0; k < 50; k++) {
        for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
            const double angle = angles[i];
            const perp_vec3 axis = random_unit(&random), x = random_vec(&random, 1.0);
            const perp_quat q = perp_quat_exp(perp_vec3_scale(angle, axis));
            NEAR(quat_norm(q), 1.0, 4 * EPS);
            const perp_vec3 along = perp_vec3_scale(perp_vec3_dot(axis, x), axis), across = perp_vec3_sub(x, along);
            perp_vec3 expected = perp_vec3_add_scaled(along, cos(angle), across);
            expected = perp_vec3_add_scaled(expected, sin(angle), perp_vec3_cross(axis, x));
            NEAR_VEC(perp_quat_rotate(q, x), expected, 40 * EPS);
            NEAR_QUAT(perp_quat_from_axis_angle(axis, angle), q, 8 * EPS);
        }
    }
}

/* log(exp(w)) = w up to |w| = pi, relative to |w| also where |w| is tiny. The conditioning of the logarithm is 1 at
 * small angles and pi/2 at pi, where w, the cosine of the half angle, is small but its absolute error is what counts.
 */
static void test_log_inverts_exp(void **state)
{
    (void)state;
    perp_random random = {3};
    for (int k = 0; k < 300; k++) {
        static const double small[] = {1e-200, 1e-160, 1e-30, 1e-8, 9.9e-5, 1.01e-4, 2.0e-4, 1e-3, 0.5, 2.0, 3.1};
        static const double to_pi[] = {1e-2, 1e-5, 1e-8, 1e-12, 1e-15, 0.0};
        const perp_vec3 axis = random_unit(&random);
        for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
            const perp_vec3 w = perp_vec3_scale(small[i], axis);
            NEAR_VEC(perp_quat_log(perp_quat_exp(w)), w, 10 * EPS * small[i]);
        }
        for (size_t i = 0; i < sizeof to_pi / sizeof *to_pi; i++) {
            const perp_vec3 w = perp_vec3_scale(PI - to_pi[i], axis), back = perp_quat_log(perp_quat_exp(w));
            assert_true(perp_vec3_norm(back) <= PI * (1 + 4 * EPS));
            /* At pi itself w and -w are one rotation; rounding chooses. */
            const bool flipped = perp_vec3_dot(w, back) < 0.0;
            assert_true(!flipped || to_pi[i] < 1e-14);
            NEAR_VEC(perp_vec3_scale(flipped ? -1.0 : 1.0, back), w, 20 * EPS * PI);
        }
    }
}

/* exp(log(q)) = +-q for every rotation, also those with w < 0: the shorter way is taken. */
static void test_exp_inverts_log(void **state)
{
    (void)state;
    perp_random random = {4};
    for (int k = 0; k < 1000; k++) {
        const perp_quat q = random_quat(&random), minus = {-q.w, -q.x, -q.y, -q.z};
        const perp_vec3 w = perp_quat_log(q);
        assert_true(perp_vec3_norm(w) <= PI * (1 + 4 * EPS));
        NEAR_QUAT(perp_quat_exp(w), q, 20 * EPS);
        NEAR_VEC(perp_quat_log(minus), w, 0.0);
        const perp_quat none = perp_quat_mul(q, perp_quat_conjugate(q)); /* what did not turn did not turn */
        assert_true(none.x == 0.0 && none.y == 0.0 && none.z == 0.0);
    }
    const perp_vec3 none = perp_quat_log(perp_quat_identity());
    assert_true(none.x == 0 && none.y == 0 && none.z == 0);
    NEAR_VEC(perp_quat_log((perp_quat){0, 0, 1, 0}), perp_vec3_make(0, PI, 0), 2 * EPS * PI);
}

/* ---- matrices ---------------------------------------------------------------------------------------------------- */

static perp_mat3 rotation_about(int axis, double angle)
{
    const double c = cos(angle), s = sin(angle);
    const perp_mat3 about[3] = {
        {{1, 0, 0, 0, c, -s, 0, s, c}}, {{c, 0, s, 0, 1, 0, -s, 0, c}}, {{c, -s, 0, s, c, 0, 0, 0, 1}}};
    return about[axis];
}

static void test_matrix_products(void **state)
{
    (void)state;
    const perp_mat3 a = {{1, 2, 3, 4, 5, 6, 7, 8, 10}}, b = {{2, 0, 1, -1, 3, 0, 5, -2, 4}};
    const perp_mat3 ab = {{15, 0, 13, 33, 3, 28, 56, 4, 47}}; /* by hand; integers are exact */
    const perp_mat3 product = perp_mat3_mul(&a, &b), t = perp_mat3_transpose(&a);
    NEAR_MAT(&product, &ab, 0.0);
    const perp_vec3 x = {1, -2, 3};
    NEAR_VEC(perp_mat3_mul_vec(&a, x), perp_vec3_make(6, 12, 21), 0.0);
    NEAR_VEC(perp_mat3_tmul_vec(&a, x), perp_mat3_mul_vec(&t, x), 0.0);
    NEAR_VEC(perp_mat3_mul_vec(&t, x), perp_vec3_make(14, 16, 21), 0.0);
    const perp_mat3 quarter = {{0, -1, 0, 1, 0, 0, 0, 0, 1}}; /* about z, exactly: x to y, y to -x */
    const perp_mat3 turned = perp_mat3_turn(&quarter, &a), expected = {{5, -4, -6, -2, 1, 3, -8, 7, 10}};
    NEAR_MAT(&turned, &expected, 0.0);
}

/* R = Rz(yaw) Ry(pitch) Rx(roll), also for the quaternion. */
static void test_rpy_is_the_matrix_product(void **state)
{
    (void)state;
    perp_random random = {5};
    for (int k = 0; k < 500; k++) {
        const double roll = perp_random_uniform(&random, -7, 7), pitch = perp_random_uniform(&random, -7, 7),
                     yaw = perp_random_uniform(&random, -7, 7);
        const perp_mat3 x = rotation_about(0, roll), y = rotation_about(1, pitch), z = rotation_about(2, yaw);
        const perp_mat3 zy = perp_mat3_mul(&z, &y), expected = perp_mat3_mul(&zy, &x);
        const perp_mat3 actual = perp_quat_to_mat3(perp_quat_from_rpy(roll, pitch, yaw));
        NEAR_MAT(&actual, &expected, 30 * EPS);
    }
}

/* Inside (-pi, pi] x (-pi/2, pi/2) x (-pi, pi] the angles come back. Roll and yaw are read from vectors of length
 * cos(pitch), so that they are known to EPS / cos(pitch). */
static void test_rpy_round_trip(void **state)
{
    (void)state;
    perp_random random = {6};
    for (int k = 0; k < 1000; k++) {
        const double rpy[3] = {perp_random_uniform(&random, -3.14, 3.14), perp_random_uniform(&random, -1.57, 1.57),
                               perp_random_uniform(&random, -3.14, 3.14)};
        double back[3];
        perp_quat_to_rpy(perp_quat_from_rpy(rpy[0], rpy[1], rpy[2]), back);
        for (int i = 0; i < 3; i++) {
            NEAR(back[i], rpy[i], i == 1 ? 40 * EPS : 40 * EPS / cos(rpy[1]));
        }
    }
}

/* Whatever the angles, the rotation comes back: far from the pole, near it, at it and where roll and yaw are nearly
 * undetermined one by one. At the pole itself roll is 0. */
static void test_rpy_near_the_pole(void **state)
{
    (void)state;
    static const double gaps[] = {0.0, 1e-16, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6, 1e-4, 1e-2, 1.0};
    perp_random random = {7};
    for (int k = 0; k < 400; k++) {
        for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
            const double pitch = (k % 2 ? 1.0 : -1.0) * (PI / 2 - gaps[i]);
            const perp_quat q =
                perp_quat_from_rpy(perp_random_uniform(&random, -3, 3), pitch, perp_random_uniform(&random, -3, 3));
            double rpy[3];
            perp_quat_to_rpy(q, rpy);
            /* Where cos(pitch) is below the pole's threshold of 1e-12, dropping it costs as much. */
            const double tolerance = gaps[i] > 2e-12 ? 40 * EPS : 2e-12;
            NEAR_QUAT(perp_quat_from_rpy(rpy[0], rpy[1], rpy[2]), q, tolerance);
            if (gaps[i] < 1e-13) {
                assert_true(rpy[0] == 0.0);
                NEAR(fabs(rpy[1]), PI / 2, 1e-12);
            }
        }
    }
}

static void test_quat_mat3_round_trip(void **state)
{
    (void)state;
    perp_random random = {8};
    for (int k = 0; k < 2000; k++) {
        perp_quat q = random_quat(&random);
        if (k % 4 == 1) { /* half turns: w = 0, and two of the others may vanish too */
            q.w = 0;
            q.x = k % 8 == 1 ? 0 : q.x;
            q.y = k % 16 == 1 ? 0 : q.y;
            q = perp_quat_normalise(q);
        }
        const perp_mat3 r = perp_quat_to_mat3(q), t = perp_mat3_transpose(&r), rt = perp_mat3_mul(&r, &t);
        const perp_mat3 one = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
        NEAR_MAT(&rt, &one, 20 * EPS);
        const perp_vec3 first = {r.m[0], r.m[3], r.m[6]}, second = {r.m[1], r.m[4], r.m[7]};
        NEAR_VEC(perp_vec3_cross(first, second), perp_vec3_make(r.m[2], r.m[5], r.m[8]), 20 * EPS); /* det = +1 */
        NEAR_QUAT(perp_quat_from_mat3(&r), q, 20 * EPS);
        NEAR(quat_norm(perp_quat_from_mat3(&r)), 1.0, 4 * EPS);
        const perp_vec3 x = random_vec(&random, 2.0);
        NEAR_VEC(perp_quat_rotate(q, x), perp_mat3_mul_vec(&r, x), 60 * EPS);
        const perp_quat p = random_quat(&random);
        NEAR_VEC(perp_quat_rotate(perp_quat_mul(p, q), x), perp_quat_rotate(p, perp_quat_rotate(q, x)), 80 * EPS);
    }
}

/* ---- poses ------------------------------------------------------------------------------------------------------- */

static void test_poses(void **state)
{
    (void)state;
    perp_random random = {9};
    for (int k = 0; k < 500; k++) {
        const perp_pose a = {random_quat(&random), random_vec(&random, 1.0)};
        const perp_pose b = {random_quat(&random), random_vec(&random, 1.0)};
        const perp_vec3 x = random_vec(&random, 1.0);
        NEAR_VEC(perp_pose_apply(a, x), perp_vec3_add(perp_quat_rotate(a.rotation, x), a.position), 0.0);
        NEAR_VEC(perp_pose_apply(perp_pose_mul(a, b), x), perp_pose_apply(a, perp_pose_apply(b, x)), 80 * EPS);
        NEAR_VEC(perp_pose_apply(perp_pose_inverse(a), perp_pose_apply(a, x)), x, 80 * EPS);
        const perp_pose one = perp_pose_mul(perp_pose_inverse(a), a);
        NEAR_VEC(one.position, perp_vec3_make(0, 0, 0), 40 * EPS);
        NEAR_QUAT(one.rotation, perp_quat_identity(), 20 * EPS);
        NEAR_VEC(perp_pose_apply(perp_pose_identity(), x), x, 0.0);
    }
}

/* ---- eigenvalues ------------------------------------------------------------------------------------------------- */

/* A v = lambda v, V'V = 1, ascending. Jacobi is backward stable: residual and eigenvalue errors are a few EPS of the
 * largest entry; some 18 rotations of a few roundings each give 100. */
static void check_eigen(const perp_mat3 *a, int line)
{
    double values[3], largest = 0.0, only[3];
    perp_mat3 v;
    perp_mat3_symmetric_eigen(a, values, &v);
    perp_mat3_symmetric_eigen(a, only, NULL);
    for (int i = 0; i < 9; i++) {
        largest = fmax(largest, fabs(a->m[i]));
    }
    const perp_mat3 t = perp_mat3_transpose(&v), vtv = perp_mat3_mul(&t, &v), one = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    check_mat(&vtv, &one, 100 * EPS, "V'V", line);
    assert_true(values[0] <= values[1] && values[1] <= values[2]);
    for (int j = 0; j < 3; j++) {
        const perp_vec3 column = {v.m[j], v.m[3 + j], v.m[6 + j]};
        check_vec(perp_mat3_mul_vec(a, column), perp_vec3_scale(values[j], column), 100 * EPS * largest, "A v", line);
        assert_true(only[j] == values[j]);
    }
    check_near(values[0] + values[1] + values[2], a->m[0] + a->m[4] + a->m[8], 100 * EPS * largest, "trace", line);
}

static perp_mat3 with_spectrum(perp_random *random, double a, double b, double c)
{
    const perp_mat3 r = perp_quat_to_mat3(random_quat(random)), t = perp_mat3_transpose(&r);
    const perp_mat3 d = {{a, 0, 0, 0, b, 0, 0, 0, c}}, rd = perp_mat3_mul(&r, &d);
    perp_mat3 m = perp_mat3_mul(&rd, &t);
    m.m[3] = m.m[1];
    m.m[6] = m.m[2];
    m.m[7] = m.m[5];
    return m;
}

static void test_eigen(void **state)
{
    (void)state;
    static const double spectra[][3] = {
        {1, 2, 3},         {1, 1, 1},         {1, 1, 2},          {1, 2, 2},        {0, 0, 1},
        {0, 0, 0},         {-1, 0, 1},        {-3, -2, -1},       {1e-12, 1, 1e12}, {1e-30, 1, 1},
        {1, 1 + 1e-15, 1}, {1e-8, 1e-8, 1e8}, {1e-150, 1, 1e150}, {-1e20, 1, 1e20}, {1e-200, 2e-200, 3e-200}};
    perp_random random = {10};
    for (size_t i = 0; i < sizeof spectra / sizeof *spectra; i++) {
        double largest = 0.0;
        for (int j = 0; j < 3; j++) {
            largest = fmax(largest, fabs(spectra[i][j]));
        }
        for (int k = 0; k < 100; k++) {
            const perp_mat3 a =
                with_spectrum(&random, spectra[i][k % 3], spectra[i][(k + 1) % 3], spectra[i][(k + 2) % 3]);
            check_eigen(&a, __LINE__);
            double values[3], sorted[3] = {fmin(fmin(spectra[i][0], spectra[i][1]), spectra[i][2]), 0,
                                           fmax(fmax(spectra[i][0], spectra[i][1]), spectra[i][2])};
            sorted[1] = spectra[i][0] + spectra[i][1] + spectra[i][2] - sorted[0] - sorted[2];
            perp_mat3_symmetric_eigen(&a, values, NULL);
            for (int j = 0; j < 3; j++) { /* the matrix itself was rounded: 30 EPS more */
                NEAR(values[j], sorted[j], 130 * EPS * largest);
            }
        }
    }
}

/* Matrices that are written, not rotated: diagonal ones are exact, badly scaled and nearly diagonal ones hold. */
static void test_eigen_special(void **state)
{
    (void)state;
    const perp_mat3 matrices[] = {
        {{3, 0, 0, 0, 1, 0, 0, 0, 2}},
        {{1, 1, 1, 1, 1, 1, 1, 1, 1}},
        {{0, 1, 0, 1, 0, 0, 0, 0, 0}},
        {{1, 1e-300, 0, 1e-300, 2, 0, 0, 0, 3}},
        {{1e-20, 1, 0, 1, 1e20, 1, 0, 1, 1}},
        {{1e100, 1e100, 1, 1e100, 1e100, 1, 1, 1, 1e-100}},
        {{5, 1e-12, 1e-12, 1e-12, 5, 1e-12, 1e-12, 1e-12, 5}},
    };
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
        check_eigen(&matrices[i], __LINE__);
    }
    double values[3];
    perp_mat3_symmetric_eigen(&matrices[0], values, NULL);
    assert_true(values[0] == 1 && values[1] == 2 && values[2] == 3);
    const perp_mat3 upper = {{1, 2, 3, 99, 4, 5, 99, 99, 6}}, whole = {{1, 2, 3, 2, 4, 5, 3, 5, 6}};
    double of_upper[3];
    perp_mat3_symmetric_eigen(&upper, of_upper, NULL); /* only the upper triangle is read */
    perp_mat3_symmetric_eigen(&whole, values, NULL);
    assert_memory_equal(of_upper, values, sizeof values);
}

/* ---- tangents ---------------------------------------------------------------------------------------------------- */

static void exact_tangents(perp_vec3 n, perp_vec3 t, perp_vec3 o, int line)
{
    perp_vec3 actual_t, actual_o;
    perp_tangents(n, &actual_t, &actual_o);
    check_vec(actual_t, t, 0.0, "t", line);
    check_vec(actual_o, o, 0.0, "o", line);
}

/* docs/notation.md: t = normalise(e_x - (e_x . n) n), e_y in place of e_x where |n_x| > 0.9; o = n x t. */
static void test_tangents_by_the_contract(void **state)
{
    (void)state;
    const perp_vec3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
    const perp_vec3 minus_x = {-1, 0, 0}, minus_y = {0, -1, 0}, minus_z = {0, 0, -1};
    exact_tangents(z, x, y, __LINE__);
    exact_tangents(minus_z, x, minus_y, __LINE__);
    exact_tangents(y, x, minus_z, __LINE__);
    exact_tangents(minus_y, x, z, __LINE__);
    exact_tangents(x, y, z, __LINE__);
    exact_tangents(minus_x, y, minus_z, __LINE__);
    perp_random random = {11};
    for (int k = 0; k < 3000; k++) {
        perp_vec3 n = random_unit(&random);
        if (k % 3 == 0) { /* around the change of e_x for e_y, and near the axes */
            n = perp_vec3_normalise(
                perp_vec3_make(0.9 + perp_random_uniform(&random, -1e-3, 1e-3), n.y * 0.3, n.z * 0.3));
        } else if (k % 3 == 1) {
            n = perp_vec3_normalise(perp_vec3_add_scaled(k % 2 ? z : minus_x, 1e-9, n));
        }
        perp_vec3 t, o;
        perp_tangents(n, &t, &o);
        const perp_vec3 e = fabs(n.x) > 0.9 ? y : x;
        const double along = perp_vec3_dot(e, n);
        /* |e - (e.n) n| >= sqrt(1 - 0.81) = 0.43, so normalising loses no digits. */
        const perp_vec3 raw = perp_vec3_add_scaled(e, -along, n);
        NEAR_VEC(t, perp_vec3_scale(1.0 / perp_vec3_norm(raw), raw), 8 * EPS);
        NEAR_VEC(o, perp_vec3_cross(n, t), 0.0);
        NEAR(perp_vec3_norm(t), 1.0, 8 * EPS);
        NEAR(perp_vec3_norm(o), 1.0, 16 * EPS);
        NEAR(perp_vec3_dot(n, t), 0.0, 16 * EPS);
        NEAR(perp_vec3_dot(n, o), 0.0, 16 * EPS);
        NEAR(perp_vec3_dot(t, o), 0.0, 16 * EPS);
        NEAR_VEC(perp_vec3_cross(t, o), n, 40 * EPS); /* right-handed */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normalise),
        cmocka_unit_test(test_exp_is_the_rotation),
        cmocka_unit_test(test_log_inverts_exp),
        cmocka_unit_test(test_exp_inverts_log),
        cmocka_unit_test(test_matrix_products),
        cmocka_unit_test(test_rpy_is_the_matrix_product),
        cmocka_unit_test(test_rpy_round_trip),
        cmocka_unit_test(test_rpy_near_the_pole),
        cmocka_unit_test(test_quat_mat3_round_trip),
        cmocka_unit_test(test_poses),
        cmocka_unit_test(test_eigen),
        cmocka_unit_test(test_eigen_special),
        cmocka_unit_test(test_tangents_by_the_contract),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
