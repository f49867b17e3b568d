/* The ranges of forces that support the same motion, against closed forms. */
#include <math.h>

#include "analyzed.h"

static const double WEIGHT = 9.81;

static void near(double value, double expected, int line)
{
    const bool same = isinf(expected) ? value == expected : fabs(value - expected) <= 1e-7 * (1.0 + fabs(expected));
    if (!same) {
        fail_msg("line %d: %.15g is not %.15g", line, value, expected);
    }
}
#define assert_near(value, expected) near((value), (expected), __LINE__)
#define assert_range(range, low, high) (assert_near((range)[0], (low)), assert_near((range)[1], (high)))

static const perp_force_range *range_of(const analyzed *a, const char *body_a, const char *feature)
{
    const perp_uniqueness *u = &a->analysis->uniqueness;
    for (int i = 0; i < u->force_count; i++) {
        const perp_contact *c = &a->analysis->contacts[u->forces[i].contact].contact;
        char text[64];
        perp_contact_feature_text(c, text, sizeof text);
        if (strcmp(a->scene->bodies[c->a].name, body_a) == 0 && (!feature || strcmp(text, feature) == 0)) {
            return &u->forces[i];
        }
    }
    fail_msg("no contact with %s", body_a);
    return NULL;
}

static const char *const MODELS[] = {"qs-ncp",  "qs-lcp", "qs-opt",  "qs-lp", "dyn-ncp",
                                     "dyn-lcp", "qs-qp",  "qs-cone", "dyn-qp"};
enum { MODEL_COUNT = sizeof MODELS / sizeof *MODELS };

/* A box of 1 kg on its two corners: mg/2 each; friction pulls them apart or together, by up to mu mg/2. */
static void test_box_on_two_corners(void **unused)
{
    (void)unused;
    for (int m = 0; m < MODEL_COUNT; m++) {
        char text[800];
        analyzed a;
        snprintf(text, sizeof text,
                 "perp: 1\nplanar: true\ncontacts: {friction: 0.4}\nbodies:\n"
                 "  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
                 "  box: {mass: 1, pose: {position: [0, 0.1]}, shapes: [{box: [0.3, 0.2]}]}\n"
                 "run: {model: %s, h: 0.01, steps: 10}\n",
                 MODELS[m]);
        analyze_text(&a, text, PERP_CERTIFY_UNIQUENESS);
        assert_int_equal(a.analysis->uniqueness.force_count, 2);
        for (int i = 0; i < 2; i++) {
            const perp_force_range *r = &a.analysis->uniqueness.forces[i];
            assert_range(r->fn, 0.5 * WEIGHT, 0.5 * WEIGHT);
            assert_range(r->ft[0], -0.2 * WEIGHT, 0.2 * WEIGHT);
        }
        free_analyzed(&a);
    }
}

/* A disc between two walls and on nothing: friction carries half the weight at each, and the walls press at least as
 * much as that takes. */
static void test_wedged_disc(void **unused)
{
    (void)unused;
    static const char *const models[] = {"qs-ncp", "qs-lcp", "qs-lp"};
    for (int m = 0; m < 3; m++) {
        char text[800];
        analyzed a;
        snprintf(text, sizeof text,
                 "perp: 1\nplanar: true\ncontacts: {friction: 0.5}\nbodies:\n"
                 "  left: {fixed: true, shapes: [{halfplane: {normal: [1, 0], offset: -0.1}}]}\n"
                 "  right: {fixed: true, shapes: [{halfplane: {normal: [-1, 0], offset: -0.1}}]}\n"
                 "  disc: {mass: 1, shapes: [{disc: 0.1}]}\n"
                 "run: {model: %s, h: 0.01, steps: 10}\n",
                 models[m]);
        analyze_text(&a, text, PERP_CERTIFY_UNIQUENESS);
        const perp_force_range *left = range_of(&a, "left", NULL), *right = range_of(&a, "right", NULL);
        assert_range(left->fn, WEIGHT, INFINITY);
        assert_range(right->fn, WEIGHT, INFINITY);
        assert_range(left->ft[0], -0.5 * WEIGHT, -0.5 * WEIGHT); /* t = (n_y, -n_x) is down at the left wall */
        assert_range(right->ft[0], 0.5 * WEIGHT, 0.5 * WEIGHT);
        free_analyzed(&a);
    }
}

/* The same with a ball on the round cone: friction may also pull along the third direction, at both walls by the same
 * moment, so by nothing in sum but against each other; as far as the presses' friction goes, without end. */
static void test_wedged_ball(void **unused)
{
    (void)unused;
    analyzed a;
    analyze_text(&a,
                 "perp: 1\ncontacts: {friction: 0.5}\nbodies:\n"
                 "  left: {fixed: true, shapes: [{plane: {normal: [1, 0, 0], offset: -0.1}}]}\n"
                 "  right: {fixed: true, shapes: [{plane: {normal: [-1, 0, 0], offset: -0.1}}]}\n"
                 "  ball: {mass: 1, shapes: [{sphere: 0.1}]}\n"
                 "run: {model: qs-ncp, h: 0.01, steps: 10}\n",
                 PERP_CERTIFY_UNIQUENESS);
    const perp_force_range *left = range_of(&a, "left", NULL);
    assert_range(left->fn, WEIGHT, INFINITY);
    /* moments about y and z leave no difference of the two forces, the balance no sum but the weight: along t and o of
     * the left wall, one of which is upright */
    const double up = fabs(left->ft[0][0]) > 1.0 ? left->ft[0][0] : left->ft[1][0];
    assert_near(fabs(up), 0.5 * WEIGHT);
    assert_range(left->ft[0], left->ft[0][0], left->ft[0][0]);
    assert_range(left->ft[1], left->ft[1][0], left->ft[1][0]);
    free_analyzed(&a);
}

/* A slab on four corners without friction: those across carry the same, and all of them the weight. */
static void test_slab_on_four_corners(void **unused)
{
    (void)unused;
    for (int m = 0; m < MODEL_COUNT; m++) {
        char text[800];
        analyzed a;
        snprintf(
            text, sizeof text,
            "perp: 1\ncontacts: {friction: 0}\nbodies:\n"
            "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
            "  slab: {mass: 1, free: [z, rx, ry], pose: {position: [0, 0, 0.1]}, shapes: [{box: [0.3, 0.3, 0.2]}]}\n"
            "run: {model: %s, h: 0.01, steps: 10}\n",
            MODELS[m]);
        analyze_text(&a, text, PERP_CERTIFY_UNIQUENESS);
        assert_int_equal(a.analysis->uniqueness.force_count, 4);
        for (int i = 0; i < 4; i++) {
            assert_range(a.analysis->uniqueness.forces[i].fn, 0.0, 0.5 * WEIGHT);
        }
        free_analyzed(&a);
    }
}

/* A slab on four corners with friction on the round cone: a corner carries at most half of the weight, so that friction
 * of mu mg/2 bounds what corners do to each other; and that is reached only without the other two's help. Two boxes on
 * one another know nothing of each other: the lower's corners carry both. */
static void test_two_slabs(void **unused)
{
    (void)unused;
    static const char *const models[] = {"qs-ncp", "dyn-ncp", "qs-cone", "qs-lcp"};
    for (int m = 0; m < 4; m++) {
        char text[1000];
        analyzed a;
        snprintf(text, sizeof text,
                 "perp: 1\ncontacts: {friction: 0.5}\nbodies:\n"
                 "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                 "  low: {mass: 1, pose: {position: [0, 0, 0.1]}, shapes: [{box: [0.3, 0.3, 0.2]}]}\n"
                 "  top: {mass: 1, pose: {position: [0, 0, 0.3]}, shapes: [{box: [0.3, 0.3, 0.2]}]}\n"
                 "run: {model: %s, h: 0.01, steps: 10}\n",
                 models[m]);
        analyze_text(&a, text, PERP_CERTIFY_UNIQUENESS);
        assert_int_equal(a.analysis->uniqueness.force_count, 8);
        for (int i = 0; i < 8; i++) {
            const perp_force_range *r = &a.analysis->uniqueness.forces[i];
            const perp_contact *c = &a.analysis->contacts[r->contact].contact;
            const double load = WEIGHT * (strcmp(a.scene->bodies[c->a].name, "floor") == 0 ? 2.0 : 1.0);
            assert_range(r->fn, 0.0, 0.5 * load);
            for (int k = 0; k < 2; k++) {
                assert_near(r->ft[k][0], -r->ft[k][1]);
                assert_true(r->ft[k][1] > 0.1 * load && r->ft[k][1] <= 0.25 * load * (1.0 + 1e-7));
            }
        }
        free_analyzed(&a);
    }
}

/* A box across two others: 16 contacts whose forces all know of each other. For the polygon, the ends are those of
 * HiGHS (scipy's linprog) on the balance written down in Python; for the round cone, between HiGHS's with polygons of
 * 96 sides in it and around it. */
static void analyze_bridge(analyzed *a, const char *model)
{
    char text[1000];
    snprintf(text, sizeof text,
             "perp: 1\ncontacts: {friction: 0.6}\nbodies:\n"
             "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
             "  left: {mass: 1, pose: {position: [-0.15, 0, 0.1]}, shapes: [{box: [0.2, 0.2, 0.2]}]}\n"
             "  right: {mass: 1, pose: {position: [0.15, 0, 0.1]}, shapes: [{box: [0.2, 0.2, 0.2]}]}\n"
             "  top: {mass: 1, pose: {position: [0, 0, 0.3]}, shapes: [{box: [0.2, 0.2, 0.2]}]}\n"
             "run: {model: %s, h: 0.01, steps: 10}\n",
             model);
    analyze_text(a, text, PERP_CERTIFY_UNIQUENESS);
    assert_int_equal(a->analysis->uniqueness.force_count, 16);
}

static void test_bridge_polygon(void **unused)
{
    (void)unused;
    static const double ends[][7] = {
        {0, 0.0, 8.6060454545, -3.2815140845, 4.1447250000, -3.3213857143, 3.2674846154},
        {1, 0.0, 11.3430779221, -4.0080857143, 4.5328965517, -4.9342212766, 5.1946285714},
        {4, 0.0, 11.3430779221, -4.5328965517, 4.0080857143, -4.9342212766, 5.1946285714},
        {8, 0.0, 4.905, -1.962, 1.962, -1.962, 1.962},
        {9, 0.0, 4.905, -1.962, 1.962, -2.3544, 2.3544},
    };
    analyzed a;
    analyze_bridge(&a, "dyn-lcp");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const perp_force_range *r = &a.analysis->uniqueness.forces[(int)ends[i][0]];
        assert_range(r->fn, ends[i][1], ends[i][2]);
        assert_range(r->ft[0], ends[i][3], ends[i][4]);
        assert_range(r->ft[1], ends[i][5], ends[i][6]);
    }
    free_analyzed(&a);
}

static void test_bridge_round(void **unused)
{
    (void)unused;
    static const double ends[][11] = {
        {0, 8.94927749, 8.95065489, -3.59509005, -3.59305204, 4.82082200, 4.82396081, -3.71567279, -3.71345200,
         3.66615178, 3.66833552},
        {1, 11.37054124, 11.37102724, -4.32583065, -4.32380990, 5.15757922, 5.16043226, -5.14827272, -5.14565612,
         5.74560710, 5.74870267},
        {9, 4.90499999, 4.90500001, -2.17601026, -2.17484519, 2.17484519, 2.17601026, -2.64847234, -2.64705431,
         2.64705431, 2.64847234},
    };
    analyzed a;
    analyze_bridge(&a, "dyn-ncp");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const perp_force_range *r = &a.analysis->uniqueness.forces[(int)ends[i][0]];
        const double found[5] = {r->fn[1], r->ft[0][0], r->ft[0][1], r->ft[1][0], r->ft[1][1]};
        assert_near(r->fn[0], 0.0);
        for (int k = 0; k < 5; k++) {
            assert_true(found[k] >= ends[i][2 * k + 1] && found[k] <= ends[i][2 * k + 2]);
        }
    }
    free_analyzed(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_box_on_two_corners), cmocka_unit_test(test_wedged_disc),
        cmocka_unit_test(test_wedged_ball),        cmocka_unit_test(test_slab_on_four_corners),
        cmocka_unit_test(test_two_slabs),          cmocka_unit_test(test_bridge_polygon),
        cmocka_unit_test(test_bridge_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
