/* Drives: formula, linear tables, splines and monotone cubics, their rates, and the pose of a driven body. */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <perp/scene.h>

#include "scene/drive.h"
#include "scene/scene_memory.h"

#define EPS (0.5 * DBL_EPSILON)
#define PI 3.14159265358979323846

static void check_near(double actual, double expected, double tolerance, const char *text, int line)
{
    if (!(fabs(actual - expected) <= tolerance)) {
        fail_msg("line %d: %s: %.17g, expected %.17g, differs by %g > %g", line, text, actual, expected,
                 actual - expected, tolerance);
    }
}
#define NEAR(actual, expected, tolerance) check_near((actual), (expected), (tolerance), #actual, __LINE__)

/* d value / dt by central differences at h and h/2 with Richardson extrapolation: exact for polynomials up to degree 4,
 * else off by f^(5) h^4 / 480. Rounding adds 3 EPS |f| / h. */
static double difference(const perp_drive *drive, double t, double h)
{
    const double coarse = (perp_drive_value(drive, t + h) - perp_drive_value(drive, t - h)) / (2 * h);
    const double fine = (perp_drive_value(drive, t + h / 2) - perp_drive_value(drive, t - h / 2)) / h;
    return (4 * fine - coarse) / 3;
}

enum { MAX_KNOTS = 60 };

typedef struct table {
    double times[MAX_KNOTS], values[MAX_KNOTS], slopes[MAX_KNOTS], work[MAX_KNOTS];
    perp_drive drive;
} table;

/* Knots at uneven distances of 0.2 to 1, values of order one. */
static void random_table(table *t, int count, perp_interpolation interpolation, uint64_t seed)
{
    perp_random random = {seed};
    double at = perp_random_uniform(&random, -1, 1);
    for (int i = 0; i < count; i++) {
        t->times[i] = at;
        t->values[i] = perp_random_uniform(&random, -1, 1);
        at += perp_random_uniform(&random, 0.2, 1.0);
    }
    t->drive =
        (perp_drive){.knot_count = count, .times = t->times, .values = t->values, .interpolation = interpolation};
    if (interpolation != PERP_INTERPOLATE_LINEAR) {
        if (count > 1 && interpolation == PERP_INTERPOLATE_CUBIC) {
            perp_monotone_slopes(count, t->times, t->values, t->slopes);
        } else if (count > 1) {
            perp_spline_slopes(count, t->times, t->values, t->slopes, t->work);
        } else {
            t->slopes[0] = 0.0;
        }
        t->drive.slopes = t->slopes;
    }
}

/* ---- formula ----------------------------------------------------------------------------------------------------- */

static void test_formula(void **state)
{
    (void)state;
    const perp_sine sines[] = {{0.5, 3.0, 0.2}, {-0.2, 7.0, -1.0}};
    const perp_drive drive = {.offset = 1.0, .rate = -0.3, .sine_count = 2, .sines = sines};
    for (double t = -2.0; t < 5.0; t += 0.37) {
        /* The same by the addition theorem: another route to the same number, 1e-15 apart at most. */
        const double expected = 1.0 - 0.3 * t + 0.5 * (sin(3 * t) * cos(0.2) + cos(3 * t) * sin(0.2)) -
                                0.2 * (sin(7 * t) * cos(1.0) - cos(7 * t) * sin(1.0));
        NEAR(perp_drive_value(&drive, t), expected, 20 * EPS * 3);
        /* w^5 h^4 / 480 = 0.2 * 7^5 * 1e-12 / 480 = 7e-12, and rounding 3 EPS * 3 / h = 1e-12 */
        NEAR(perp_drive_rate(&drive, t), difference(&drive, t, 1e-3), 2e-11);
    }
    const perp_drive zero = {0};
    assert_true(perp_drive_value(&zero, 3.0) == 0.0 && perp_drive_rate(&zero, 3.0) == 0.0);
}

static void test_is_constant(void **state)
{
    (void)state;
    const perp_sine still[] = {{0.5, 0.0, 0.2}, {0.0, 7.0, -1.0}}, moving[] = {{0.5, 0.0, 0.2}, {0.1, 7.0, -1.0}};
    const double times[] = {0, 1, 2}, same[] = {4, 4, 4}, last[] = {4, 4, 5}, slopes[] = {0, 0, 0};
    const perp_drive constant[] = {
        {0},
        {.offset = 3.0},
        {.offset = 3.0, .sine_count = 2, .sines = still}, /* no frequency, or no amplitude */
        {.knot_count = 1, .times = times, .values = last},
        {.knot_count = 3, .times = times, .values = same},
        {.knot_count = 3, .times = times, .values = same, .slopes = slopes, .interpolation = PERP_INTERPOLATE_CUBIC},
    };
    const perp_drive changing[] = {
        {.rate = 1e-300},
        {.sine_count = 2, .sines = moving},
        {.knot_count = 3, .times = times, .values = last},
    };
    for (size_t i = 0; i < sizeof constant / sizeof *constant; i++) {
        assert_true(perp_drive_is_constant(&constant[i]));
        for (double t = -1; t < 4; t += 0.3) {
            assert_true(perp_drive_value(&constant[i], t) == perp_drive_value(&constant[i], 0.0));
            assert_true(perp_drive_rate(&constant[i], t) == 0.0);
        }
    }
    for (size_t i = 0; i < sizeof changing / sizeof *changing; i++) {
        assert_false(perp_drive_is_constant(&changing[i]));
        assert_true(perp_drive_value(&changing[i], 0.0) != perp_drive_value(&changing[i], 1.7));
    }
}

/* ---- linear tables ----------------------------------------------------------------------------------------------- */

static void test_linear(void **state)
{
    (void)state;
    const double times[] = {1.0, 2.0, 4.0}, values[] = {10.0, 12.0, 6.0};
    const perp_drive drive = {.knot_count = 3, .times = times, .values = values};
    const double expected[][3] = {
        /* t, value, rate: at a knot the rate to its right, 0 where the table is held; all exact in binary */
        {-5.0, 10.0, 0.0}, {0.5, 10.0, 0.0}, {1.0, 10.0, 2.0}, {1.5, 11.0, 2.0}, {2.0, 12.0, -3.0},
        {3.0, 9.0, -3.0},  {3.5, 7.5, -3.0}, {4.0, 6.0, 0.0},  {9.0, 6.0, 0.0},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        NEAR(perp_drive_value(&drive, expected[i][0]), expected[i][1], 0.0);
        NEAR(perp_drive_rate(&drive, expected[i][0]), expected[i][2], 0.0);
    }
}

/* Every interval is found, in long tables too: the value inside is the mean of its ends, weighted. */
static void test_linear_long_table(void **state)
{
    (void)state;
    for (int count = 1; count <= MAX_KNOTS; count++) {
        static table t;
        random_table(&t, count, PERP_INTERPOLATE_LINEAR, (uint64_t)count);
        for (int i = 0; i + 1 < count; i++) {
            const double middle = 0.5 * (t.times[i] + t.times[i + 1]);
            NEAR(perp_drive_value(&t.drive, t.times[i]), t.values[i], 0.0);
            NEAR(perp_drive_value(&t.drive, middle), 0.5 * (t.values[i] + t.values[i + 1]), 200 * EPS);
            const double rate = (t.values[i + 1] - t.values[i]) / (t.times[i + 1] - t.times[i]);
            NEAR(perp_drive_rate(&t.drive, t.times[i]), rate, 4 * EPS * 10);
            NEAR(perp_drive_rate(&t.drive, nextafter(t.times[i + 1], -INFINITY)), rate, 4 * EPS * 10);
        }
        NEAR(perp_drive_value(&t.drive, t.times[count - 1]), t.values[count - 1], 0.0);
        NEAR(perp_drive_rate(&t.drive, t.times[count - 1]), 0.0, 0.0);
    }
}

/* ---- splines ----------------------------------------------------------------------------------------------------- */

/* Slopes of these tables are at most 3 |rise| / least distance * (1 + ..) < 50, so EPS * 50 * a few is a value's and
 * EPS * 50 / 0.2 * a few a rate's rounding; 1e-12 is beyond both. */
static void test_spline_passes_and_is_smooth(void **state)
{
    (void)state;
    for (int count = 2; count <= MAX_KNOTS; count += count < 8 ? 1 : 7) {
        static table t;
        random_table(&t, count, PERP_INTERPOLATE_SPLINE, (uint64_t)(100 + count));
        for (int i = 0; i < count; i++) {
            NEAR(perp_drive_value(&t.drive, t.times[i]), t.values[i], 1e-14);
        }
        NEAR(perp_drive_rate(&t.drive, t.times[0]), 0.0, 0.0);
        NEAR(perp_drive_rate(&t.drive, nextafter(t.times[count - 1], -INFINITY)), 0.0, 1e-12);
        for (int i = 1; i + 1 < count; i++) {
            /* Inside an interval the rate is a quadratic: three of its points give its slope exactly, on either side of
             * the knot. Nine roundings of the rate over d = 0.05: 9 * 1e-14 / 0.1. */
            const double at = t.times[i], d = 0.05, before = nextafter(at, -INFINITY);
            const double left = (3 * perp_drive_rate(&t.drive, before) - 4 * perp_drive_rate(&t.drive, at - d) +
                                 perp_drive_rate(&t.drive, at - 2 * d)) /
                                (2 * d);
            const double right = (-3 * perp_drive_rate(&t.drive, at) + 4 * perp_drive_rate(&t.drive, at + d) -
                                  perp_drive_rate(&t.drive, at + 2 * d)) /
                                 (2 * d);
            NEAR(perp_drive_value(&t.drive, before), t.values[i], 1e-12);
            NEAR(perp_drive_rate(&t.drive, before), perp_drive_rate(&t.drive, at), 1e-12);
            NEAR(left, right, 5e-11);
        }
    }
}

static void test_spline_rate_by_difference(void **state)
{
    (void)state;
    static table t;
    random_table(&t, 20, PERP_INTERPOLATE_SPLINE, 9);
    for (int i = 0; i + 1 < 20; i++) {
        for (double u = 0.1; u < 0.95; u += 0.2) { /* off the knots, where the third derivative jumps */
            const double at = t.times[i] + u * (t.times[i + 1] - t.times[i]);
            /* t -+ h is rounded too: |t| <= 20 and slopes <= 50 give 20 * 50 * EPS / 0.01 = 1e-11. */
            NEAR(perp_drive_rate(&t.drive, at), difference(&t.drive, at, 0.01), 1e-11);
        }
    }
}

/* Held outside, with a continuous value and rate at both ends. */
static void test_spline_is_held_outside(void **state)
{
    (void)state;
    static table t;
    random_table(&t, 5, PERP_INTERPOLATE_SPLINE, 11);
    static const double far[] = {0.0, 1e-9, 1.0, 1e10};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        NEAR(perp_drive_value(&t.drive, t.times[0] - far[i]), t.values[0], 0.0);
        NEAR(perp_drive_value(&t.drive, t.times[4] + far[i]), t.values[4], 0.0);
        NEAR(perp_drive_rate(&t.drive, t.times[0] - far[i]), 0.0, 0.0);
        NEAR(perp_drive_rate(&t.drive, t.times[4] + far[i]), 0.0, 0.0);
    }
    static table one;
    random_table(&one, 1, PERP_INTERPOLATE_SPLINE, 12);
    NEAR(perp_drive_value(&one.drive, 100.0), one.values[0], 0.0);
    NEAR(perp_drive_rate(&one.drive, one.times[0]), 0.0, 0.0);
}

/* Two knots: the smooth step 3 u^2 - 2 u^3. */
static void test_two_knots(void **state)
{
    (void)state;
    const double times[] = {1.0, 3.0}, values[] = {-1.0, 4.0};
    double slopes[2], work[2];
    perp_spline_slopes(2, times, values, slopes, work);
    const perp_drive drive = {
        .knot_count = 2, .times = times, .values = values, .slopes = slopes, .interpolation = PERP_INTERPOLATE_SPLINE};
    for (double u = 0.0; u <= 1.0; u += 1.0 / 16) {
        NEAR(perp_drive_value(&drive, 1.0 + 2.0 * u), -1.0 + 5.0 * u * u * (3 - 2 * u), 8 * EPS * 5);
        NEAR(perp_drive_rate(&drive, 1.0 + 2.0 * u), 5.0 * 6 * u * (1 - u) / 2.0, 8 * EPS * 8);
    }
}

/* The spline with given end rates is unique, so it reproduces any cubic that has rate 0 at both ends, however the knots
 * lie; and it is linear in the values and commutes with a shift and a reversal of time. */
static void test_spline_reproduces_cubics(void **state)
{
    (void)state;
    perp_random random = {13};
    for (int count = 2; count <= MAX_KNOTS; count += 3) {
        static table t;
        random_table(&t, count, PERP_INTERPOLATE_SPLINE, (uint64_t)(200 + count));
        const double start = t.times[0], length = t.times[count - 1] - start;
        for (int i = 0; i < count; i++) {
            const double u = (t.times[i] - start) / length;
            t.values[i] = 2.0 - 3.0 * u * u * (3 - 2 * u);
        }
        perp_spline_slopes(count, t.times, t.values, t.slopes, t.work);
        for (int k = 0; k < 50; k++) {
            const double u = perp_random_uniform(&random, 0, 1);
            NEAR(perp_drive_value(&t.drive, start + u * length), 2.0 - 3.0 * u * u * (3 - 2 * u), 1e-13);
            NEAR(perp_drive_rate(&t.drive, start + u * length), -18.0 * u * (1 - u) / length, 1e-12);
        }
    }
}

static void test_spline_symmetries(void **state)
{
    (void)state;
    static table t, reversed, doubled;
    random_table(&t, 12, PERP_INTERPOLATE_SPLINE, 17);
    random_table(&reversed, 12, PERP_INTERPOLATE_SPLINE, 17);
    random_table(&doubled, 12, PERP_INTERPOLATE_SPLINE, 17);
    for (int i = 0; i < 12; i++) {
        reversed.times[i] = -t.times[11 - i];
        reversed.values[i] = t.values[11 - i];
        doubled.values[i] = 2.0 * t.values[i] + 5.0;
    }
    perp_spline_slopes(12, reversed.times, reversed.values, reversed.slopes, reversed.work);
    perp_spline_slopes(12, doubled.times, doubled.values, doubled.slopes, doubled.work);
    for (double at = t.times[0] - 0.5; at < t.times[11] + 0.5; at += 0.0713) {
        NEAR(perp_drive_value(&reversed.drive, -at), perp_drive_value(&t.drive, at), 1e-13);
        NEAR(perp_drive_rate(&reversed.drive, -at), -perp_drive_rate(&t.drive, at), 1e-12);
        NEAR(perp_drive_value(&doubled.drive, at), 2.0 * perp_drive_value(&t.drive, at) + 5.0, 1e-13);
    }
}

/* ---- monotone cubics --------------------------------------------------------------------------------------------- */

/* At uneven knots, with a plateau and a summit: numbers of SciPy 1.x, PchipInterpolator between the second and the last
 * but one knot, CubicHermiteSpline with its slopes but 0 at the ends in the first and last interval. */
static void test_cubic_against_pchip(void **state)
{
    (void)state;
    const double times[] = {0, 0.3, 0.4, 1.1, 1.25, 2.0, 2.9, 3.0};
    const double values[] = {0, 0.05, 0.4, 0.45, 0.45, 1.3, 0.9, -0.2};
    const double expected[][3] = {{0.1, 0.0046296296296296328, 0.097222222222222265},
                                  {0.35, 0.22738486842105249, 5.1101973684210522},
                                  {0.5, 0.41630351388675774, 0.1427036980205616},
                                  {0.9, 0.4476062605493325, 0.027313180911462343},
                                  {1.2, 0.45, 0.0},
                                  {1.5, 0.67037037037037039, 1.5111111111111115},
                                  {1.9, 1.2586962962962962, 0.78577777777777857},
                                  {2.3, 1.2718327769829916, -0.21491018915911608},
                                  {2.8, 1.0032421389757267, -0.93480986947844358},
                                  {2.95, 0.33583690987124115, -16.216738197424874}};
    double slopes[8];
    perp_monotone_slopes(8, times, values, slopes);
    const perp_drive drive = {
        .knot_count = 8, .times = times, .values = values, .slopes = slopes, .interpolation = PERP_INTERPOLATE_CUBIC};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        NEAR(perp_drive_value(&drive, expected[i][0]), expected[i][1], 1e-14);
        NEAR(perp_drive_rate(&drive, expected[i][0]), expected[i][2], 1e-12);
    }
}

/* Within the range of the two values beside it, everywhere; at rest at both ends; continuous rates that are the
 * derivatives of the values. */
static void test_cubic_never_overshoots(void **state)
{
    (void)state;
    for (int count = 2; count <= MAX_KNOTS; count += count < 8 ? 1 : 7) {
        static table t;
        random_table(&t, count, PERP_INTERPOLATE_CUBIC, (uint64_t)(300 + count));
        NEAR(perp_drive_rate(&t.drive, t.times[0]), 0.0, 0.0);
        for (int i = 0; i + 1 < count; i++) {
            const double d = t.times[i + 1] - t.times[i];
            const double low = fmin(t.values[i], t.values[i + 1]), high = fmax(t.values[i], t.values[i + 1]);
            const double after = nextafter(t.times[i + 1], -INFINITY);
            NEAR(perp_drive_value(&t.drive, t.times[i]), t.values[i], 1e-14);
            NEAR(perp_drive_rate(&t.drive, after), t.slopes[i + 1], 1e-12);
            for (double u = 0.05; u < 1.0; u += 0.05) {
                const double at = t.times[i] + u * d, rate = perp_drive_rate(&t.drive, at);
                const double value = perp_drive_value(&t.drive, at);
                assert_true(value >= low - 4 * EPS && value <= high + 4 * EPS);
                assert_true(rate * (t.values[i + 1] - t.values[i]) >= -1e-12);
                if (u > 0.2 && u < 0.8) { /* the quotient stays within the interval */
                    NEAR(rate, difference(&t.drive, at, 0.01), 1e-11);
                }
            }
        }
    }
    const double times[] = {0, 1, 2, 3}, values[] = {0, 0, 0.1, 0.1}; /* where the spline goes to -4.4 mm */
    double slopes[4], work[4];
    perp_monotone_slopes(4, times, values, slopes);
    perp_drive drive = {
        .knot_count = 4, .times = times, .values = values, .slopes = slopes, .interpolation = PERP_INTERPOLATE_CUBIC};
    NEAR(perp_drive_value(&drive, 0.7), 0.0, 0.0);
    NEAR(perp_drive_value(&drive, 1.5), 0.05, 1e-15);
    perp_spline_slopes(4, times, values, slopes, work);
    drive.interpolation = PERP_INTERPOLATE_SPLINE;
    assert_true(perp_drive_value(&drive, 0.7) < -0.004);
}

/* perp_scene_validate fills the slopes of every drive in a scene; validating again leaves them. */
static void test_validation_fills_slopes(void **state)
{
    (void)state;
    static table t;
    random_table(&t, 6, PERP_INTERPOLATE_CUBIC, 19);
    perp_scene *scene;
    assert_int_equal(perp_scene_create(false, NULL, &scene, NULL), PERP_STATUS_OK);
    perp_body body = perp_body_default("cart");
    body.kind = PERP_BODY_DRIVEN;
    body.driven_mask = PERP_COMPONENT_Y | PERP_COMPONENT_RX;
    body.drives[1] = t.drive;
    body.drives[3] = t.drive;
    body.drives[3].interpolation = PERP_INTERPOLATE_LINEAR;
    assert_int_equal(perp_scene_add_body(scene, &body, NULL), PERP_STATUS_OK);
    for (int again = 0; again < 2; again++) {
        static perp_diagnostics diagnostics;
        memset(&diagnostics, 0, sizeof diagnostics);
        assert_int_equal(perp_scene_validate(scene, &diagnostics), PERP_STATUS_OK);
        const perp_drive *drives = scene->bodies[0].drives;
        assert_ptr_not_equal(drives[1].times, t.times); /* the scene's own copy */
        for (double at = t.times[0]; at < t.times[5]; at += 0.1) {
            NEAR(perp_drive_value(&drives[1], at), perp_drive_value(&t.drive, at), 0.0);
            NEAR(perp_drive_rate(&drives[1], at), perp_drive_rate(&t.drive, at), 0.0);
        }
        NEAR(perp_drive_value(&drives[3], 0.5 * (t.times[0] + t.times[1])), 0.5 * (t.values[0] + t.values[1]), 8 * EPS);
    }
    perp_scene_free(scene);
}

/* ---- the pose of a driven body ----------------------------------------------------------------------------------- */

static void test_driven_pose_planar(void **state)
{
    (void)state;
    perp_body body = perp_body_default("cart");
    body.kind = PERP_BODY_DRIVEN;
    body.pose.pose.position = perp_vec3_make(1.0, 2.0, 0.0);
    body.pose.angle = 20.0; /* unwrapped */
    body.drives[0] = (perp_drive){.offset = 5.0, .rate = 2.0};
    body.drives[1] = (perp_drive){.offset = 99.0}; /* not in the mask: not used */
    body.drives[5] = (perp_drive){.offset = 0.5, .rate = 30.0};
    body.driven_mask = PERP_COMPONENT_X;
    double angle = -1.0;
    perp_pose pose = perp_body_driven_pose(&body, true, 3.0, &angle);
    NEAR(pose.position.x, 11.0, 0.0);
    NEAR(pose.position.y, 2.0, 0.0);
    NEAR(angle, 20.0, 0.0); /* stays at the pose */
    NEAR(pose.rotation.w, cos(10.0), 2 * EPS);
    NEAR(pose.rotation.z, sin(10.0), 2 * EPS);

    body.driven_mask = PERP_COMPONENT_RZ;
    pose = perp_body_driven_pose(&body, true, 3.0, &angle);
    NEAR(pose.position.x, 1.0, 0.0);
    NEAR(angle, 90.5, 0.0); /* never wrapped */
    const perp_vec3 tip = perp_pose_apply(pose, perp_vec3_make(2.0, 0.0, 0.0));
    NEAR(tip.x, 1.0 + 2.0 * cos(90.5), 20 * EPS);
    NEAR(tip.y, 2.0 + 2.0 * sin(90.5), 20 * EPS);
    perp_body_driven_pose(&body, true, 3.0, NULL); /* the angle is optional */
}

static perp_mat3 about(int axis, double angle)
{
    const double c = cos(angle), s = sin(angle);
    const perp_mat3 r[3] = {
        {{1, 0, 0, 0, c, -s, 0, s, c}}, {{c, 0, s, 0, 1, 0, -s, 0, c}}, {{c, -s, 0, s, c, 0, 0, 0, 1}}};
    return r[axis];
}

/* For every subset of driven components: driven ones follow their drive, the others stay at the pose, R = Rz Ry Rx. */
static void test_driven_pose_spatial(void **state)
{
    (void)state;
    const double position[3] = {0.3, -0.2, 0.7}, rpy[3] = {0.4, -0.6, 2.5};
    perp_body body = perp_body_default("hand");
    body.kind = PERP_BODY_DRIVEN;
    body.pose.pose.position = perp_vec3_make(position[0], position[1], position[2]);
    body.pose.pose.rotation = perp_quat_from_rpy(rpy[0], rpy[1], rpy[2]);
    const perp_sine sine = {0.5, 2.0, 0.1};
    for (int i = 0; i < 6; i++) {
        body.drives[i] = (perp_drive){.offset = 0.1 * i, .rate = 0.3 - 0.2 * i, .sine_count = 1, .sines = &sine};
    }
    for (unsigned mask = 0; mask < 64; mask++) {
        body.driven_mask = mask;
        for (double t = 0.0; t < 2.0; t += 0.7) {
            double x[6];
            for (int i = 0; i < 6; i++) {
                const double driven = 0.1 * i + (0.3 - 0.2 * i) * t + 0.5 * sin(2.0 * t + 0.1);
                x[i] = mask & (1u << i) ? driven : i < 3 ? position[i] : rpy[i - 3];
            }
            const perp_pose pose = perp_body_driven_pose(&body, false, t, NULL);
            NEAR(pose.position.x, x[0], 4 * EPS);
            NEAR(pose.position.y, x[1], 4 * EPS);
            NEAR(pose.position.z, x[2], 4 * EPS);
            const perp_mat3 rx = about(0, x[3]), ry = about(1, x[4]), rz = about(2, x[5]);
            const perp_mat3 zy = perp_mat3_mul(&rz, &ry), expected = perp_mat3_mul(&zy, &rx);
            const perp_mat3 r = perp_quat_to_mat3(pose.rotation);
            for (int k = 0; k < 9; k++) {
                NEAR(r.m[k], expected.m[k], 100 * EPS); /* two conversions of 30 EPS, and of the pose to angles */
            }
            if (!(mask & (PERP_COMPONENT_RX | PERP_COMPONENT_RY | PERP_COMPONENT_RZ))) {
                assert_memory_equal(&pose.rotation, &body.pose.pose.rotation, sizeof pose.rotation); /* untouched */
            }
        }
    }
}

/* A rotation has many triples of angles. Written ones count, beyond the pole too: with roll, pitch and yaw 0.1, 2.0,
 * 0.3 and yaw driven, roll and pitch stay 0.1 and 2.0, not the 0.1 - pi and pi - 2.0 that the quaternion would be read
 * as. */
static void test_driven_pose_from_written_angles(void **state)
{
    (void)state;
    perp_body body = perp_body_default("hand");
    body.kind = PERP_BODY_DRIVEN;
    body.driven_mask = PERP_COMPONENT_RZ;
    body.drives[5] = (perp_drive){.offset = 0.3, .rate = 0.5};
    body.pose.rpy_set = true;
    body.pose.rpy[0] = 0.1;
    body.pose.rpy[1] = 2.0;
    body.pose.rpy[2] = 0.3;
    body.pose.pose.rotation = perp_quat_from_rpy(0.1, 2.0, 0.3);
    for (double t = 0.0; t < 2.0; t += 0.3) {
        double rpy[3];
        perp_body_driven_rpy(&body, t, 0.0, rpy);
        NEAR(rpy[0], 0.1, 0.0);
        NEAR(rpy[1], 2.0, 0.0);
        NEAR(rpy[2], 0.3 + 0.5 * t, 2 * EPS);
        const perp_quat q = perp_body_driven_pose(&body, false, t, NULL).rotation;
        const perp_quat expected = perp_quat_from_rpy(0.1, 2.0, 0.3 + 0.5 * t);
        NEAR(fabs(q.w * expected.w + q.x * expected.x + q.y * expected.y + q.z * expected.z), 1.0, 20 * EPS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formula),
        cmocka_unit_test(test_is_constant),
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_linear_long_table),
        cmocka_unit_test(test_spline_passes_and_is_smooth),
        cmocka_unit_test(test_spline_rate_by_difference),
        cmocka_unit_test(test_spline_is_held_outside),
        cmocka_unit_test(test_cubic_against_pchip),
        cmocka_unit_test(test_cubic_never_overshoots),
        cmocka_unit_test(test_two_knots),
        cmocka_unit_test(test_spline_reproduces_cubics),
        cmocka_unit_test(test_spline_symmetries),
        cmocka_unit_test(test_validation_fills_slopes),
        cmocka_unit_test(test_driven_pose_planar),
        cmocka_unit_test(test_driven_pose_spatial),
        cmocka_unit_test(test_driven_pose_from_written_angles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
