/* `--set PATH=VALUE`: what it changes, what it refuses, and at which column. */
#include <perp/scene_yaml.h>

#include "refusals.h"

#include <stdio.h>

static perp_diagnostics diagnostics;

static const char TEXT[] =
    "perp: 1\nbodies:\n  b: {mass: 1, inertia: [1, 1, 1], shapes: [{sphere: 1}, {box: [1, 1, 1]}]}\n";

static perp_scene *load_set(const char *setting)
{
    const char *settings[] = {setting};
    const perp_scene_load_options options = {.settings = settings, .setting_count = 1};
    perp_scene *scene;
    memset(&diagnostics, 0, sizeof diagnostics);
    perp_scene_load_text(TEXT, sizeof TEXT - 1, "s.yaml", NULL, &options, &scene, &diagnostics);
    return scene;
}

static void changes_what_is_named(void **state)
{
    (void)state;
    perp_scene *s = load_set("bodies.b.mass=3");
    assert_non_null(s);
    assert_true(s->bodies[0].mass.value == 3.0);
    perp_scene_free(s);
    s = load_set("bodies.b.shapes.1.box=[1, 2, 3]");
    assert_non_null(s);
    assert_true(s->bodies[0].shapes[0].radius == 1.0 && s->bodies[0].shapes[1].size.z == 3.0);
    perp_scene_free(s);
    s = load_set("run.h=0.25"); /* what the file does not have */
    assert_non_null(s);
    assert_true(s->run.h == 0.25);
    perp_scene_free(s);
}

/* Each word of a choice is another value. */
static void words_are_what_they_say(void **state)
{
    (void)state;
    for (int second = 0; second < 2; second++) {
        perp_scene *s = load_set(second ? "run.prediction=taylor" : "run.prediction=exact");
        assert_non_null(s);
        assert_true(s->run.prediction == (second ? PERP_PREDICTION_TAYLOR : PERP_PREDICTION_EXACT));
        perp_scene_free(s);
        s = load_set(second ? "compliance.law=hunt-crossley" : "compliance.law=kelvin-voigt");
        assert_non_null(s);
        assert_true(s->compliance.law == (second ? PERP_LAW_HUNT_CROSSLEY : PERP_LAW_KELVIN_VOIGT));
        perp_scene_free(s);
        s = load_set(second ? "compliance.tangential=rigid" : "compliance.tangential=compliant");
        assert_non_null(s);
        assert_true(s->compliance.tangential_rigid == (second == 1));
        perp_scene_free(s);
    }
    perp_scene *s = load_set("run.cone=~"); /* takes a choice back */
    assert_non_null(s);
    assert_true(s->run.cone == PERP_CONE_UNSET);
    perp_scene_free(s);
}

static void an_alias_is_a_copy(void **state)
{
    (void)state;
    static const char text[] = "perp: 1\nbodies:\n  a: &x {mass: 1, inertia: [1, 1, 1]}\n  b: *x\n";
    const char *settings[] = {"bodies.a.mass=3"};
    const perp_scene_load_options options = {.settings = settings, .setting_count = 1};
    perp_scene *s;
    memset(&diagnostics, 0, sizeof diagnostics);
    assert_int_equal(perp_scene_load_text(text, sizeof text - 1, "s.yaml", NULL, &options, &s, &diagnostics),
                     PERP_STATUS_OK);
    assert_true(s->bodies[0].mass.value == 3.0 && s->bodies[1].mass.value == 1.0);
    perp_scene_free(s);
}

/* Columns count from the start of `--set `. */
static void refusals_name_the_column(void **state)
{
    (void)state;
    static const struct {
        const char *setting;
        int column;
        const char *words;
    } cases[] = {
        {"mass", 1, "write PATH=VALUE, for example contacts.friction=0.3, not `mass`"},
        {"=3", 1, "write PATH=VALUE"},
        {"bodies..mass=3", 14, "the path has an empty part: `bodies..mass`"},
        {"bodies.b.shapes.2.sphere=3", 23, "the list has no element `2`"},
        {"bodies.b.shapes.-1.sphere=3", 23, "a list element is named by its number, from 0, not `-1`"},
        {"bodies.b.shapes.+0.sphere=3", 23, "a list element is named by its number, from 0, not `+0`"},
        {"bodies.b.shapes.0x.sphere=3", 23, "a list element is named by its number, from 0, not `0x`"},
        {"bodies.b.mass=-1", 21, "must not be negative"},
        {"bodies.b.mass=]", 21, "not YAML"},
        {"walk.h=1", 7, "unknown key"},
        {"contacts.exclude.0=[b, c]", 16, "there is no list to take an element of; set the whole list `exclude`"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char label[100];
        snprintf(label, sizeof label, "--set %s", cases[i].setting);
        assert_null(load_set(cases[i].setting));
        const perp_diagnostic *d = first_error(&diagnostics);
        if (!d || diagnostics.errors != 1 || d->line != 1 || d->column != cases[i].column ||
            strcmp(d->file, label) != 0 || !strstr(d->message, cases[i].words)) {
            print_diagnostics(&diagnostics);
            fail_msg("%s: wanted column %d, %s", cases[i].setting, cases[i].column, cases[i].words);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_what_is_named),
        cmocka_unit_test(words_are_what_they_say),
        cmocka_unit_test(an_alias_is_a_copy),
        cmocka_unit_test(refusals_name_the_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
