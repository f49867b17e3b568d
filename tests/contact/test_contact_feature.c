/* Names of contacts and the curvature of their surfaces. */
#include "contact_test.h"

#include <stdio.h>

static void test_text(void **state)
{
    (void)state;
    char text[64];
    perp_contact c = {.shape_a = 0,
                      .shape_b = 1,
                      .feature_a = perp_feature(PERP_FEATURE_CORNER, 3),
                      .feature_b = perp_feature(PERP_FEATURE_FACE, 4)};
    perp_contact_feature_text(&c, text, sizeof text);
    assert_string_equal(text, "s0.c3-s1.f4");
    c.feature_a = perp_feature(PERP_FEATURE_EDGE, 0);
    c.feature_b = perp_feature(PERP_FEATURE_SURFACE, 0);
    perp_contact_feature_text(&c, text, sizeof text);
    assert_string_equal(text, "s0.e0-s1.u0");
    c.feature_a = perp_feature(PERP_FEATURE_RIM, 21);
    c.feature_b = perp_feature(PERP_FEATURE_SIDE, 1);
    perp_contact_feature_text(&c, text, sizeof text);
    assert_string_equal(text, "s0.r21-s1.s1");
    /* the largest numbers there can be fit into 64 bytes */
    c = (perp_contact){.shape_a = INT32_MAX,
                       .shape_b = INT32_MAX,
                       .feature_a = perp_feature(PERP_FEATURE_CORNER, 268435455),
                       .feature_b = perp_feature(PERP_FEATURE_CORNER, 268435455)};
    perp_contact_feature_text(&c, text, sizeof text);
    assert_string_equal(text, "s2147483647.c268435455-s2147483647.c268435455");
    perp_contact_feature_text(&c, text, 6); /* cut, and still ended */
    assert_string_equal(text, "s2147");
}

/* k of the only contact of a scene. */
static void curvature_of(const char *scene, double k[3])
{
    contact_world w;
    world_open(&w, scene);
    assert_int_equal(w.set->count, 1);
    perp_contact_curvature(w.set, 0, k);
    world_close(&w);
}

static void test_planar_curvature(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        double y, k;
    } cases[] = {{"disc: 0.5", "disc: 0.25", 0.751, 2 + 4},
                 {"box: [2, 2]", "disc: 0.25", 1.251, 4},
                 {"hole: {radius: 0.5}", "disc: 0.25", 0.249, 4 - 2},
                 {"halfplane: {normal: [0, 1], offset: 0}", "point: {}", 0.001, 1e9},
                 {"capsule: {radius: 0.1, length: 2}", "disc: 0.2", 0.301, 5},
                 {"capsule: {radius: 0.1, length: 2}", "disc: 0.2, pose: {position: [1.2, 0]}", 0.28, 10 + 5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1000];
        double k[3];
        snprintf(text, sizeof text,
                 "planar: true\ncontacts: {margin: 0.1}\nbodies:\n"
                 "  a: {fixed: true, shapes: [{%s}]}\n"
                 "  b: {mass: 1, inertia: 1, pose: {position: [0, %g]}, shapes: [{%s}]}\n",
                 cases[i].a, cases[i].y, cases[i].b);
        curvature_of(text, k);
        NEAR(k[0], cases[i].k, 1e-6 * cases[i].k);
        NEAR(k[1], 0.0, 0.0);
        NEAR(k[2], 0.0, 0.0);
    }
}

/* The gap between the surfaces over the tangent plane, to second order, from k and from the surfaces themselves. */
static void test_spatial_curvature(void **state)
{
    (void)state;
    double k[3];
    curvature_of("bodies:\n"
                 "  a: {fixed: true, shapes: [{sphere: 0.5}]}\n"
                 "  b: {mass: 1, pose: {position: [0, 0, 0.751]}, shapes: [{sphere: 0.25}]}\n",
                 k);
    NEAR(k[0], 6.0, 1e-12);
    NEAR(k[1], 0.0, 1e-12);
    NEAR(k[2], 6.0, 1e-12);
    /* a capsule along (cos 30, sin 30, 0): flat along itself, 1/r across; t = x, o = y */
    curvature_of("bodies:\n"
                 "  a: {fixed: true, shapes: [{sphere: 0.5}]}\n"
                 "  b: {mass: 1, pose: {position: [0, 0, 0.6], rpy: [0, 1.5707963267948966, 0.5235987755982988]},\n"
                 "      shapes: [{capsule: {radius: 0.1, length: 1}}]}\n",
                 k);
    const double s = 0.5, c = sqrt(0.75); /* across: (-sin 30, cos 30) */
    NEAR(k[0], 2 + 10 * s * s, 1e-9);
    NEAR(k[1], -10 * s * c, 1e-9);
    NEAR(k[2], 2 + 10 * c * c, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_text), cmocka_unit_test(test_planar_curvature),
                                       cmocka_unit_test(test_spatial_curvature)};
    return cmocka_run_group_tests_name("contact feature", tests, NULL, NULL);
}
