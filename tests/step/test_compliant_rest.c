/* Cylinders that stand on the rung `compliant`: their springs are at fixed places, however little they are tilted.
 *
 * At rest a contact carries K times its depth: to 1e-8, what the step's law leaves. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scene_run.h"

enum { MOST = 16 };

typedef struct rest {
    double q[7], speed; /* at the end; m/s or rad/s, the largest */
    int contacts;
    perp_contact_record contact[MOST]; /* of the last step */
    int fallbacks, last_fallback;      /* how many, the last step that took one */
} rest;

static bool watch(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    rest *out = context;
    assert_true(info->contact_count <= MOST);
    out->contacts = info->contact_count;
    for (int i = 0; i < info->contact_count; i++) {
        out->contact[i] = info->contacts[i];
    }
    for (int i = 0; i < PERP_FALLBACK_COUNT; i++) {
        out->fallbacks += info->fallbacks[i];
        out->last_fallback = info->fallbacks[i] > 0 ? step : out->last_fallback;
    }
    out->speed = 0.0;
    for (int i = 0; i < 6; i++) {
        out->speed = fmax(out->speed, fabs(state->v[i]));
    }
    memcpy(out->q, state->q, sizeof out->q);
    return true;
}

static const char *const STANDING =
    "perp: 1\n"
    "gravity: [1.949, 0, -9.614]\n"
    "bodies:\n"
    "  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
    "  tin: {mass: 0.7, inertia: [0.003, 0.003, 0.005],\n"
    "    pose: {position: [0, 0, 0.05]}, shapes: [{cylinder: {radius: 0.1, length: 0.1}}]}\n"
    "contacts: {friction: 0.3}\n"
    "compliance: {stiffness: 1.0e4, damping: 100, gamma: 0, size: 0.01}\n"
    "run: {model: compliant, h: 0.001, until: 1}\n";

static void run_standing(rest *out, const char *const *settings)
{
    *out = (rest){.last_fallback = -1};
    scene_run_watched(STANDING, settings, watch, out, NULL);
}

/* Every contact at K times its depth, or open and without force; how many carry. */
static int springs_at_rest(const rest *run, double stiffness)
{
    int loaded = 0;
    NEAR(run->speed, 0.0, 1e-9);
    for (int i = 0; i < run->contacts; i++) {
        const perp_contact_record *r = &run->contact[i];
        NEAR(r->fn, stiffness * fmax(0.0, -r->contact.phi), 1e-7); /* N; the weight is 7 */
        loaded += r->fn > 0.0 ? 1 : 0;
    }
    return loaded;
}

/* Six places of the rim, 6 K in all and 6 K r^2 / 2 against tilting, on a slope at which it sticks. At rest nothing
 * depends on h. Friction acts 0.05 below the centre of mass; what is neglected is the tilt's square, 1e-4 of it, and
 * the depth, 1e-4 m of 0.05. */
static void test_on_a_slope(void **unused)
{
    static const char *const H[] = {"run.h=0.01", "run.h=0.001"};
    static const char *const ELEMENTS[] = {"compliance.elements=1", "compliance.elements=3"};
    (void)unused;
    for (int i = 0; i < 2; i++) {
        const double k = i == 0 ? 1e4 : 9e4;
        const double lever = 0.7 * 0.05, tilt = lever * 1.949 / (3.0 * k * 0.01 - lever * 9.614);
        rest run[2];
        for (int j = 0; j < 2; j++) {
            run_standing(&run[j], SET(H[j], ELEMENTS[i]));
            assert_int_equal(run[j].fallbacks, 0);
            assert_int_equal(springs_at_rest(&run[j], k), 6);
            NEAR(run[j].q[2], 0.05 - 0.7 * 9.614 / (6.0 * k), 1e-3 * 1.2e-4);
            NEAR(2.0 * run[j].q[5], tilt, 5e-3 * tilt);
            NEAR(run[j].q[1], 0.0, 1e-12); /* its own mirror image */
            NEAR(run[j].contact[1].fn, run[j].contact[5].fn, 1e-9);
        }
        NEAR(run[0].q[2], run[1].q[2], 1e-10);
        NEAR(run[0].q[5], run[1].q[5], 1e-9);
    }
}

/* On faces that are polygons, and with its weight off the middle, so that not all of them carry. */
static void test_on_faces(void **unused)
{
    static const char *const TABLES[] = {
        "bodies.table.shapes=[{box: [1, 1, 0.2], pose: {position: [0, 0, -0.1]}}]",
        "bodies.table.shapes=[{cylinder: {radius: 0.3, length: 0.2}, pose: {position: [0, 0, -0.1]}}]",
        "bodies.table.shapes=[{box: [0.15, 0.15, 0.2], pose: {position: [0, 0, -0.1]}}]",
    };
    rest run;
    (void)unused;
    for (size_t i = 0; i < sizeof TABLES / sizeof *TABLES; i++) {
        run_standing(&run, SET(TABLES[i]));
        assert_int_equal(run.fallbacks, 0);
        assert_int_equal(springs_at_rest(&run, 1e4), 8);
        run_standing(&run, SET(TABLES[i], "gravity=[0, 0, -9.81]", "bodies.tin.com=[0.06, 0.02, 0]"));
        assert_int_equal(run.fallbacks, 0);
        assert_true(springs_at_rest(&run, 1e4) >= 3);
    }
}

/* Dropped on its rim, where the lowest point runs around, it comes to lie on its end: for good. */
static void test_dropped(void **unused)
{
    rest run;
    (void)unused;
    run_standing(&run, SET("gravity=[0, 0, -9.81]", "bodies.tin.pose={position: [0, 0, 0.15], rpy: [0.3, 0.1, 0]}",
                           "compliance={stiffness: 1.0e6, damping: 1000}", "contacts.friction=0.5"));
    assert_true(run.last_fallback < 500);
    assert_int_equal(springs_at_rest(&run, 1e6), 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_on_a_slope),
        cmocka_unit_test(test_on_faces),
        cmocka_unit_test(test_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
