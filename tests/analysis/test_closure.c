/* Closure through the library: what counts as a contact and as a load, sentences, and memory. Verdicts and margins are
 * held against closed forms and linear programs in tests/cli/test_closure.py and tests/qualify/sweep_closure.py. */
#include "analyzed.h"
#include "failing_allocator.h"

#include <math.h>

static const char BOX[] = "perp: 1\n"
                          "name: box\n"
                          "gravity: [0, 0, -10]\n"
                          "bodies:\n"
                          "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                          "  box: {mass: 1, shapes: [{box: [0.6, 0.6, 0.2]}], pose: {position: [0, 0, %.17g]}}\n"
                          "contacts: {friction: 0.5}\n"
                          "run: {model: %s}\n";

static const char TRIANGLE[] =
    "perp: 1\n"
    "name: triangle\n"
    "planar: true\n"
    "bodies:\n"
    "  top: {fixed: true, pose: {position: [0, 0.04]}, shapes: [{disc: 0.01}]}\n"
    "  left: {fixed: true, pose: {position: [-0.034641016151377546, -0.02]}, shapes: [{disc: 0.01}]}\n"
    "  right: {fixed: true, pose: {position: [0.034641016151377546, -0.02]}, shapes: [{disc: 0.01}]}\n"
    "  part: {mass: 0.1, shapes: [{polygon: [[0, -0.06], [0.05196152422706632, 0.03], [-0.05196152422706632, "
    "0.03]]}]}\n"
    "contacts: {friction: 0}\n"
    "run: {model: qs-ncp}\n";

static void analyze_box(analyzed *a, double height, const char *model)
{
    char text[1024];
    snprintf(text, sizeof text, BOX, height, model);
    analyze_text(a, text, PERP_CERTIFY_CLOSURE);
}

/* The radius of the bounding sphere is hypot(0.3, 0.3, 0.1) m; 1e-5 of it may be between a contact's points. */
static void test_what_touches(void **state)
{
    const double size = sqrt(0.3 * 0.3 + 0.3 * 0.3 + 0.1 * 0.1);
    (void)state;
    analyzed a;
    analyze_box(&a, 0.1 + 0.9e-5 * size, "qs-ncp");
    assert_int_equal(a.analysis->closure_count, 1);
    assert_int_equal(a.analysis->closures[0].contacts, 4);
    assert_true(a.analysis->closures[0].equilibrium);
    free_analyzed(&a);
    analyze_box(&a, 0.1 + 1.1e-5 * size, "qs-ncp");
    assert_int_equal(a.analysis->closure_count, 0);
    free_analyzed(&a);
}

/* A contact that is left out is named where the body has others. */
static void test_what_nearly_touches(void **state)
{
    char text[1200];
    (void)state;
    snprintf(text, sizeof text, BOX, 0.1, "qs-ncp");
    const char *wall = "  wall: {fixed: true, shapes: [{plane: {normal: [1, 0, 0], offset: -0.3001}}]}\ncontacts:";
    char *at = strstr(text, "contacts:"), rest[256];
    snprintf(rest, sizeof rest, "%s", at + strlen("contacts:"));
    snprintf(at, sizeof text - (size_t)(at - text), "%s%s", wall, rest);
    analyzed a;
    analyze_text(&a, text, PERP_CERTIFY_CLOSURE);
    assert_int_equal(a.analysis->closures[0].contacts, 4);
    assert_true(says(a.analysis, "box: its contact with wall"));
    assert_true(says(a.analysis, "0.0001 m apart, does not count"));
    free_analyzed(&a);
}

/* Friction holds 5 N of what is applied from outside; with 5 N m it holds no more of a moment about the vertical than
 * its arms allow: four corners at hypot(0.3, 0.3) m. */
static void test_applied_wrenches_are_loads(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        const double push[] = {4.999999, 5.000001, 0.0, 0.0}, most = 5.0 * hypot(0.3, 0.3);
        const double turn[] = {0.0, 0.0, 0.999999 * most, 1.000001 * most};
        analyzed a;
        perp_analysis *loaded;
        perp_analyze_options options = perp_analyze_options_default();
        options.certificates = PERP_CERTIFY_CLOSURE;
        analyze_box(&a, 0.1, "qs-ncp");
        assert_int_equal(perp_sim_apply(a.sim, perp_scene_find_body(a.scene, "box"), (perp_vec3){0, 0, 0},
                                        (perp_vec3){push[k], 0, 0}, (perp_vec3){0, 0, turn[k]}, &a.error),
                         PERP_STATUS_OK);
        assert_int_equal(perp_analyze(a.sim, &options, &loaded, &a.error), PERP_STATUS_OK);
        assert_int_equal(loaded->closures[0].equilibrium, k % 2 == 0);
        assert_int_equal(says(loaded, "box: no forces within the friction cones"), k % 2 == 1);
        perp_analysis_free(loaded);
        free_analyzed(&a);
    }
}

/* Weight that is shared as badly as it can be: along the direction that is farthest from all unit wrenches. */
static void test_a_load_that_takes_all_the_force_there_may_be(void **state)
{
    static const char groove[] = "perp: 1\n"
                                 "name: groove\n"
                                 "planar: true\n"
                                 "bodies:\n"
                                 "  left: {fixed: true, shapes: [{halfplane: {normal: [0.8, 0.6], offset: -1}}]}\n"
                                 "  right: {fixed: true, shapes: [{halfplane: {normal: [-0.8, 0.6], offset: -1}}]}\n"
                                 "  disc: {mass: 1, shapes: [{disc: 1}]}\n"
                                 "contacts: {friction: 0}\n"
                                 "run: {model: qs-ncp}\n";
    (void)state;
    analyzed a;
    analyze_text(&a, groove, PERP_CERTIFY_CLOSURE);
    assert_int_equal(a.analysis->closures[0].contacts, 2);
    assert_true(a.analysis->closures[0].equilibrium);
    assert_false(a.analysis->closures[0].wedged);
    free_analyzed(&a);
}

/* Unit wrenches of a floor's contacts all point up; the load that they are worst against points up too. */
static void test_the_push_that_nothing_resists_is_told(void **state)
{
    (void)state;
    analyzed a;
    analyze_box(&a, 0.1, "qs-ncp");
    assert_true(
        says(a.analysis, "box: nothing at its contacts holds it against (0, 0, 1) N and a moment of (0, 0, 0) N m"));
    assert_true(says(a.analysis, "not looked at in space"));
    assert_true(says(a.analysis, "closure: of each body by itself, with all others fixed"));
    free_analyzed(&a);
    analyze_text(&a, TRIANGLE, PERP_CERTIFY_CLOSURE);
    const perp_closure *c = &a.analysis->closures[0];
    assert_int_equal(c->form_closure_order, 2);
    assert_false(c->force_closure);
    assert_true(c->margin == 0.0 && c->margin_least == 0.0);
    assert_true(says(a.analysis, "part: nothing at its contacts holds it against (0, 0) N and a moment of "));
    free_analyzed(&a);
}

/* What stands in a closure does not depend on the other certificates, nor on whether the model moves. */
static void test_on_all_rungs(void **state)
{
    (void)state;
    for (int i = 0; i < perp_rung_count(); i++) {
        const char *name = perp_rung_at(i)->name;
        if (strcmp(name, "instant-qs") == 0) {
            continue; /* wants no gravity on what is free */
        }
        analyzed a;
        analyze_box(&a, 0.1, name);
        assert_int_equal(a.analysis->closure_count, 1);
        assert_true(a.analysis->closures[0].equilibrium);
        assert_false(a.analysis->closures[0].jammed);
        free_analyzed(&a);
    }
}

static void refuse_memory(const char *text)
{
    analyzed a;
    analyze_text(&a, text, PERP_CERTIFY_CLOSURE);
    for (int once = 0; once < 2; once++) {
        bool finished = false;
        for (int grants = 0; !finished; grants++) {
            failing_allocator f = {.grants = grants, .once = once == 1};
            const perp_allocator allocator = allocator_of(&f);
            perp_analyze_options options = perp_analyze_options_default();
            perp_analysis *analysis;
            options.allocator = &allocator;
            options.certificates = PERP_CERTIFY_CLOSURE;
            const perp_status status = perp_analyze(a.sim, &options, &analysis, &a.error);
            finished = status == PERP_STATUS_OK;
            assert_true(finished ? f.requests <= grants : status == PERP_STATUS_OUT_OF_MEMORY && !analysis);
            perp_analysis_free(analysis);
            assert_int_equal(f.standing, 0);
        }
    }
    free_analyzed(&a);
}

static void test_out_of_memory(void **state)
{
    char text[1024];
    (void)state;
    snprintf(text, sizeof text, BOX, 0.1, "qs-ncp");
    refuse_memory(text);
    refuse_memory(TRIANGLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_touches),
        cmocka_unit_test(test_what_nearly_touches),
        cmocka_unit_test(test_applied_wrenches_are_loads),
        cmocka_unit_test(test_a_load_that_takes_all_the_force_there_may_be),
        cmocka_unit_test(test_the_push_that_nothing_resists_is_told),
        cmocka_unit_test(test_on_all_rungs),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
