/* Warnings: each on what it is for, and silence on what is sound. */
#include "contact/contact_lint.h"
#include "contact_test.h"

#include <perp/step.h>

#include "failing_allocator.h"

#include <stdio.h>

static perp_diagnostics found;

static perp_status lint_as_its_rung(const perp_scene *scene, const perp_contact_model *contact_model,
                                    const perp_allocator *allocator)
{
    const perp_rung *rung = perp_rung_find(scene->run.model);
    const perp_contact_lint_rung facts = {.steps = rung->step,
                                          .compliant = rung->takes & PERP_TAKES_COMPLIANCE,
                                          .balance = scene->run.model_set && rung->inertia == PERP_RUNG_INERTIA_NONE};
    return perp_contact_lint(contact_model, &facts, allocator, &found);
}

static void lint_file(const char *path)
{
    static perp_diagnostics loading;
    perp_scene *scene;
    perp_model *model;
    perp_contact_model *contact_model;
    memset(&loading, 0, sizeof loading);
    memset(&found, 0, sizeof found);
    assert_int_equal(perp_scene_load_file(path, NULL, &scene, &loading), PERP_STATUS_OK);
    assert_int_equal(perp_model_build(scene, NULL, &model, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_contact_model_build(model, NULL, &contact_model, NULL), PERP_STATUS_OK);
    assert_int_equal(lint_as_its_rung(scene, contact_model, NULL), PERP_STATUS_OK);
    perp_contact_model_free(contact_model);
    perp_model_free(model);
    perp_scene_free(scene);
}

static void lint_text(const char *text)
{
    contact_world w;
    memset(&found, 0, sizeof found);
    world_open_scene(&w, scene_of(text));
    assert_int_equal(lint_as_its_rung(w.scene, w.contact_model, NULL), PERP_STATUS_OK);
    assert_int_equal(found.errors, 0);
    world_close(&w);
}

static void expect(const char *path, const char *words)
{
    if (found.warnings != 1) {
        fail_msg("%d warnings; the first: %s", found.warnings, found.count ? found.items[0].message : "");
    }
    assert_string_equal(found.items[0].path, path);
    if (!strstr(found.items[0].message, words)) {
        fail_msg("`%s` is not in: %s", words, found.items[0].message);
    }
}

static void expect_silence(void)
{
    if (found.warnings != 0) {
        fail_msg("%s: %s", found.items[0].path, found.items[0].message);
    }
}

/* ---- penetration ------------------------------------------------------------------------------------------------- */

static void test_penetration(void **state)
{
    (void)state;
    const char *const scene = "bodies:\n"
                              "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                              "  box:\n"
                              "    mass: 1\n"
                              "    pose: {position: [0, 0, %.17g]}\n"
                              "    shapes: [{box: [0.2, 0.2, 0.2]}]\n";
    char text[1000];
    snprintf(text, sizeof text, scene, 0.1 - 0.003);
    lint_text(text);
    expect("bodies.box.pose", "`box` begins 0.003 m deep inside `floor`");
    assert_int_equal(found.items[0].line, 6);
    assert_string_equal(found.items[0].file, "test");
    snprintf(text, sizeof text, scene, 0.1 - 1e-9); /* resting, to rounding */
    lint_text(text);
    expect_silence();
    snprintf(text, sizeof text, scene, 0.1 - 1e-6); /* 3e-6 of the scene's size */
    lint_text(text);
    expect("bodies.box.pose", "1e-06 m");
    /* once for two bodies, however many points; excluded pairs and neighbours do not count */
    lint_text("contacts: {exclude: [[a, c]]}\n"
              "bodies:\n"
              "  a: {mass: 1, shapes: [{box: [1, 1, 1]}]}\n"
              "  b: {mass: 1, inertia: [1, 1, 1], shapes: [{box: [1, 1, 1]}]}\n"
              "  c: {mass: 1, pose: {position: [0, 0.5, 0.9]}, shapes: [{box: [1, 1, 1]}]}\n"
              "joints: {j: {type: revolute, parent: a, child: b, axis: [0, 0, 1]}}\n");
    expect("bodies.c.pose", "0.1 m deep inside `b`");
}

/* ---- margin ------------------------------------------------------------------------------------------------------ */

static void test_margin(void **state)
{
    (void)state;
    const char *const pusher = "bodies: {pusher: {driven: {x: {rate: 1.5}}, shapes: [{box: [0.1, 0.1, 0.1]}]}}\n"
                               "contacts: {margin: %g}\n"
                               "run: {h: 0.02, until: 1}\n";
    char text[2000];
    snprintf(text, sizeof text, pusher, 0.029);
    lint_text(text);
    expect("contacts.margin", "`pusher` moves up to 0.03 m in one step of 0.02 s");
    assert_non_null(strstr(found.items[0].message, "a margin of 0.03 m would do"));
    snprintf(text, sizeof text, pusher, 0.03);
    lint_text(text);
    expect_silence();
    /* a lever: 2 rad/s at a corner 0.5 m (and 0.05 m across) away; found although slow at first */
    const char *const lever =
        "bodies: {lever: {mass: 1, inertia: [1, 1, 1], shapes: [{box: [0.5, 0.1, 0.1], pose: {position: [0.25, 0, "
        "0]}}]}}\n"
        "joints: {j: {type: revolute, parent: world, child: lever, axis: [0, 0, 1], control: %s, stiffness: 1,\n"
        "             command: {times: [0, 1, 2], values: [0, 0.1, 2.1]}}}\n"
        "contacts: {margin: 0.01}\n"
        "run: {h: 0.01, until: 2}\n";
    snprintf(text, sizeof text, lever, "impedance");
    lint_text(text);
    expect("contacts.margin", "`lever` moves up to 0.01");
    /* a plane that slides along itself comes no nearer to anything */
    lint_text("bodies: {belt: {driven: {x: {rate: 5}}, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}}\n"
              "run: {h: 0.02, until: 1}\n");
    expect_silence();
    lint_text("planar: true\n"
              "bodies: {wall: {driven: {x: {rate: 5}}, shapes: [{halfplane: {normal: [1, 0], offset: 0}}]}}\n"
              "run: {h: 0.02, until: 1}\n");
    expect("contacts.margin", "0.1 m");
    /* two that come towards each other, each within the margin; welded together they are one */
    const char *const jaws = "bodies:\n"
                             "  left: {driven: {x: {offset: -0.05, rate: 0.045}}, shapes: [{box: [0.05, 0.1, 0.1]}]}\n"
                             "  right: {driven: {x: {offset: 0.05, rate: -0.045}}, shapes: [{box: [0.05, 0.1, 0.1]}]}\n"
                             "contacts: {margin: %g}\n"
                             "run: {h: 0.4, until: 0.8}\n";
    snprintf(text, sizeof text, jaws, 0.02);
    lint_text(text);
    expect("contacts.margin", "`left` and `right` together move up to 0.036 m in one step of 0.4 s");
    assert_non_null(strstr(found.items[0].message, "a margin of 0.036 m would do"));
    snprintf(text, sizeof text, jaws, 0.036);
    lint_text(text);
    expect_silence();
    lint_text("bodies:\n"
              "  left: {driven: {x: {rate: 0.045}}, shapes: [{box: [0.05, 0.1, 0.1]}]}\n"
              "  pad: {mass: 1, inertia: [1, 1, 1], shapes: [{box: [0.05, 0.1, 0.1]}]}\n"
              "joints: {j: {type: fixed, parent: left, child: pad}}\n"
              "run: {h: 0.4, until: 0.8}\n");
    expect_silence();
    /* what has no shape meets nothing */
    lint_text("bodies: {ghost: {driven: {x: {rate: 5}}}, ball: {mass: 1, shapes: [{sphere: 0.1}]}}\n"
              "run: {h: 0.02, until: 1}\n");
    expect_silence();
    /* what is free moves as it will, and is not commanded */
    lint_text("bodies: {ball: {mass: 1, velocity: {linear: [100, 0, 0]}, shapes: [{sphere: 0.1}]}}\n"
              "run: {h: 0.02, until: 1}\n");
    expect_silence();
}

/* ---- millimetres ------------------------------------------------------------------------------------------------- */

static void test_lengths(void **state)
{
    (void)state;
    lint_text("bodies: {cube: {mass: 0.1, shapes: [{sphere: 0.1}, {box: [50, 50, 50]}]}}\n");
    expect("bodies.cube.shapes.1", "`cube` is 50 m large");
    assert_non_null(strstr(found.items[0].message, "millimetres"));
    lint_text("bodies: {log: {density: 500, shapes: [{box: [6, 0.5, 0.5]}]}}\n");
    expect_silence();
    lint_text("bodies: {cube: {density: 2700, shapes: [{box: [60, 60, 60]}]}}\n"); /* a density is likely at any size */
    expect("bodies.cube.shapes.0", "weighs 5.8e+08 kg");
    lint_text("bodies: {beam: {mass: 480, shapes: [{box: [6, 0.1, 0.1]}]}}\n");
    expect_silence();
    lint_text("planar: true\nbodies: {disc: {mass: 1, shapes: [{disc: 20}]}}\n");
    expect("bodies.disc.shapes.0", "kg/m^2");
    /* floors may be large; a scene in which most is large may not */
    lint_text("bodies:\n"
              "  floor: {fixed: true, shapes: [{box: [100, 100, 1]}]}\n"
              "  wall: {fixed: true, pose: {position: [0, 0, 20]}, shapes: [{box: [100, 1, 10]}]}\n"
              "  a: {mass: 1, pose: {position: [0, 0, 2]}, shapes: [{sphere: 0.1}]}\n"
              "  b: {mass: 1, pose: {position: [0, 0, 4]}, shapes: [{sphere: 0.1}]}\n");
    expect_silence();
    lint_text(
        "bodies:\n"
        "  table: {fixed: true, shapes: [{box: [1600, 1200, 100]}]}\n"
        "  pusher: {driven: {x: 3}, pose: {position: [0, 0, 100]}, shapes: [{cylinder: {radius: 5, length: 80}}]}\n");
    expect("bodies.table.shapes.0", "millimetres");
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

/* Contacts that cannot be built are said to be so, and do not pass for sound. */
static void test_no_contacts_at_the_start(void **state)
{
    (void)state;
    contact_world w;
    memset(&found, 0, sizeof found);
    world_open_scene(&w, scene_of("bodies: {far: {driven: {x: {rate: 1}}, shapes: [{box: [50, 50, 50]}]}}\n"));
    w.scene->bodies[0].drives[0].offset = INFINITY; /* what no file can say */
    assert_int_equal(lint_as_its_rung(w.scene, w.contact_model, NULL), PERP_STATUS_BAD_INPUT);
    assert_int_equal(found.errors, 1);
    assert_non_null(strstr(found.items[0].message, "`far` is not at a finite place"));
    assert_int_equal(found.warnings, 1); /* and the lengths are looked at all the same */
    world_close(&w);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void test_examples_are_silent(void **state)
{
    (void)state;
    static const char *const names[3] = {"arm-reach", "driven-fence", "screw-press"};
    for (int i = 0; i < 3; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/examples/%s/scene.yaml", PERP_SOURCE_DIR, names[i]);
        lint_file(path);
        expect_silence();
    }
}

static void test_memory(void **state)
{
    (void)state;
    contact_world w;
    failing_allocator enough = {.grants = INT_MAX}; /* it refuses to be asked for nothing */
    const perp_allocator whole = allocator_of(&enough);
    world_open_scene(&w, scene_of("bodies: {floor: {fixed: true, shapes: [{box: [1, 1, 1]}]}}\n"));
    assert_int_equal(lint_as_its_rung(w.scene, w.contact_model, &whole), PERP_STATUS_OK);
    world_close(&w);
    world_open_scene(&w,
                     scene_of("bodies:\n"
                              "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                              "  box: {driven: {x: {rate: 1}}, shapes: [{box: [0.2, 0.2, 0.2]}, {sphere: 0.3}]}\n"));
    for (int grants = 0;; grants++) {
        failing_allocator f = {.grants = grants};
        const perp_allocator allocator = allocator_of(&f);
        memset(&found, 0, sizeof found);
        const perp_status status = lint_as_its_rung(w.scene, w.contact_model, &allocator);
        assert_int_equal(f.standing, 0);
        if (status == PERP_STATUS_OK) {
            assert_true(grants > 6);
            assert_int_equal(found.warnings, 1);
            break;
        }
        assert_int_equal(status, PERP_STATUS_OUT_OF_MEMORY);
    }
    world_close(&w);
}

/* ---- compliance -------------------------------------------------------------------------------------------------- */

static void lint_ball(const char *model, double mass, const char *compliance, const char *contacts)
{
    char text[1000];
    snprintf(text, sizeof text,
             "gravity: [0, 0, -10]\n"
             "bodies:\n"
             "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
             "  ball: {mass: %g, inertia: [1, 1, 1], pose: {position: [0, 0, 0.05]}, shapes: [{sphere: 0.05}]}\n"
             "contacts: {%s}\n"
             "compliance: {%s}\n"
             "run: {model: %s, h: 0.001, steps: 1}\n",
             mass, contacts, compliance, model);
    lint_text(text);
}

/* A ball 0.1 m thick sinks in by m g / K. The limits are 5 mm, and gamma of 1 % of mu m g. */
static void test_compliance(void **state)
{
    (void)state;
    lint_ball("compliant", 4.9, "stiffness: 1.0e4", "friction: 0.5");
    expect_silence();
    lint_ball("compliant", 5.1, "stiffness: 1.0e4", "friction: 0.5");
    expect("compliance.stiffness", "`ball` weighs 51 N and sinks in by 0.0051 m on one contact point");
    assert_non_null(strstr(found.items[0].message, "a stiffness of 5.1e+04 N/m"));
    lint_ball("dyn-ncp", 5.1, "stiffness: 1.0e4", "friction: 0.5"); /* where there are no springs */
    expect_silence();
    lint_ball("compliant", 5.1, "stiffness: 1.0e4, elements: 2", "friction: 0.5"); /* four springs */
    expect_silence();
    lint_ball("compliant", 5.1, "stiffness: [[1.0e4, 0, 0], [0, 1.0e4, 0], [0, 0, 1.0e4]], elements: 2",
              "friction: 0.5");
    expect("compliance.stiffness", "0.0051 m"); /* a matrix is the patch's */
    lint_ball("compliant", 5.1, "stiffness: 1.0e4, stiffness_scale: 0.5", "friction: 0.5");
    expect_silence();
    lint_ball("compliant", 2.1e-3, "gamma: 1.0e-4", "friction: 0.5");
    expect_silence();
    lint_ball("compliant", 1.9e-3, "gamma: 1.0e-4", "friction: 0.5");
    expect("compliance.gamma", "mu times that is 0.0095 N");
    lint_ball("compliant", 1.9e-3, "gamma: 0", "friction: 0.5");
    expect_silence();
    lint_ball("compliant", 1.9e-3, "gamma: 1.0e-4", "friction: 0"); /* nothing to widen */
    expect_silence();
    lint_ball("compliant", 5.1, "stiffness: 1.0e4",
              "friction: 0.5, pairs: {floor ball: {compliance: {stiffness: 1.0e5}}}");
    expect_silence();
    lint_ball("compliant", 5.1, "stiffness: 1.0e5",
              "friction: 0.5, pairs: {floor ball: {compliance: {stiffness: 1.0e4}}}");
    expect("contacts.pairs.floor ball.compliance.stiffness", "0.0051 m");
}

#define TWO_BALLS                                                                                                      \
    "gravity: [0, 0, -10]\n"                                                                                           \
    "bodies:\n"                                                                                                        \
    "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"                                      \
    "  one: {mass: 1, inertia: [1, 1, 1], pose: {position: [0, 0, 0.05]}, shapes: [{sphere: 0.05}]}\n"                 \
    "  two: {mass: 1, inertia: [1, 1, 1], pose: {position: [1, 0, 0.05]}, shapes: [{sphere: 0.05}]}\n"                 \
    "run: {model: compliant, h: 0.001, steps: 1}\n"

/* Both warnings are given, each of the first body that it is true of; and again of every pair with its own springs. */
static void test_compliance_is_said_once(void **state)
{
    (void)state;
    lint_text(TWO_BALLS "contacts: {friction: 0.5}\ncompliance: {stiffness: 1.0e3, gamma: 0.1}\n");
    assert_int_equal(found.warnings, 2);
    assert_string_equal(found.items[0].path, "compliance.gamma");
    assert_non_null(strstr(found.items[0].message, "`one`"));
    assert_string_equal(found.items[1].path, "compliance.stiffness");
    assert_non_null(strstr(found.items[1].message, "`one`"));
    lint_text(TWO_BALLS "contacts:\n  friction: 0.5\n  pairs:\n"
                        "    floor one: {compliance: {stiffness: 1.0e3, gamma: 0}}\n"
                        "    floor two: {compliance: {stiffness: 1.0e3, gamma: 0}}\n");
    assert_int_equal(found.warnings, 2);
    assert_string_equal(found.items[0].path, "contacts.pairs.floor one.compliance.stiffness");
    assert_string_equal(found.items[1].path, "contacts.pairs.floor two.compliance.stiffness");
    lint_text(TWO_BALLS
              "contacts: {friction: 0.5, pairs: {floor one: {compliance: {stiffness: 1.0e5, gamma: 0.1}}}}\n");
    expect("contacts.pairs.floor one.compliance.gamma", "mu times that is 5 N"); /* with the friction of the scene */
}

/* A patch has an extent; what is larger than the body carries nothing at its rim. */
static void test_patches(void **state)
{
    (void)state;
    lint_ball("compliant", 4.9, "stiffness: 1.0e4, elements: 2, size: 0.1", "friction: 0.5");
    expect_silence();
    lint_ball("compliant", 4.9, "stiffness: 1.0e4, elements: 2, size: 0.2", "friction: 0.5");
    expect("compliance.size", "a patch of 0.2 m is larger than `ball`, which is 0.1 m");
    lint_ball("compliant", 4.9, "stiffness: 1.0e4, elements: 1, size: 0.2", "friction: 0.5"); /* no patch */
    expect_silence();
}

/* ---- balance ----------------------------------------------------------------------------------------------------- */

/* Two balls, one on the other, on what `world` has at (0, 0, 0); `more` stands at the end. */
static void lint_balls(const char *world, const char *contacts, const char *more)
{
    char text[1000];
    snprintf(text, sizeof text,
             "bodies:\n"
             "  world_part: {fixed: true, shapes: [%s]}\n"
             "  low: {mass: 1, pose: {position: [0, 0, 0.1]}, shapes: [{sphere: 0.1}]}\n"
             "  high: {mass: 2, pose: {position: [0, 0, 0.3]}, shapes: [{sphere: 0.1}]}\n"
             "contacts: {%s}\n"
             "run: {model: qs-qp, steps: 1}\n%s",
             world, contacts, more);
    lint_text(text);
}

/* Without inertia what nothing carries cannot fall: said once, of the first, and of how many. */
static void test_in_the_air(void **state)
{
    (void)state;
    static const char wall[] = "{plane: {normal: [1, 0, 0], offset: -0.1}}";
    lint_balls("{plane: {normal: [0, 0, 1], offset: 0}}", "friction: 0", "");
    expect_silence();
    lint_balls("{plane: {normal: [0, 0, 1], offset: -0.5}}", "friction: 0.5", "");
    expect("bodies.low.pose",
           "`low` (and 1 more) is in the air: nothing within the margin of 0.02 m carries its 9.81 N");
    lint_balls("{plane: {normal: [0, 0, -1], offset: -0.4}}", "friction: 0", ""); /* a ceiling */
    expect("bodies.low.pose", "(and 1 more)");
    lint_balls(wall, "friction: 0.5", "");
    expect_silence();
    lint_balls(wall, "friction: 0", "");
    expect("bodies.low.pose", "(and 1 more)");
    lint_balls(wall, "friction: 0", "forces: [{body: high, force: [0, 0, 1]}]\n");
    expect_silence();
    lint_balls(wall, "friction: 0, exclude: [[low, high]]", "forces: [{body: high, force: [0, 0, 1]}]\n");
    expect("bodies.low.pose", "`low` is in the air");
    lint_balls(wall, "friction: 0, exclude: [[low, high]]",
               "loops: {l: {type: point, a: low, b: world, anchor_b: [0, 0, 0.1]}}\n");
    expect("bodies.high.pose", "`high` is in the air: nothing within the margin of 0.02 m carries its 19.6 N");
    lint_balls(wall, "friction: 0, exclude: [[low, high]]",
               "loops: {l: {type: point, a: world, b: high, anchor_a: [0, 0, 0.3]}}\n");
    expect("bodies.low.pose", "`low` is in the air");
    /* a body that does not fall carries */
    lint_text("bodies:\n"
              "  tray: {free: [x, y], mass: 1, shapes: [{box: [1, 1, 0.1]}]}\n"
              "  ball: {mass: 1, pose: {position: [0, 0, 0.15]}, shapes: [{sphere: 0.1}]}\n"
              "run: {model: qs-qp, steps: 1}\n");
    expect_silence();
}

static void lint_from_above(const char *head, const char *more)
{
    char text[500];
    snprintf(text, sizeof text,
             "%sbodies:\n"
             "  ghost: {mass: 1, inertia: %s}\n"
             "  part: {mass: 1, shapes: [{%s: 0.1}]}\n"
             "run: {model: qs-qp, steps: 1}\n%s",
             head, strstr(head, "planar") ? "1" : "[1, 1, 1]", strstr(head, "planar") ? "disc" : "sphere", more);
    lint_text(text);
}

static void test_seen_from_above(void **state)
{
    (void)state;
    lint_from_above("planar: true\ngravity: [0, 0]\n", "");
    expect("gravity", "nothing resists the sliding of `part`");
    lint_from_above("planar: true\ngravity: [0, 0]\n", "forces: [{body: part, force: [1, 0]}]\n");
    expect_silence();
    lint_from_above("planar: true\ngravity: [0, 0]\n",
                    "forces: [{body: part, force: [1, 0]}, {body: ghost, force: [1, 0]}]\n");
    expect_silence();
    lint_from_above("gravity: [0, 0, 0]\n", ""); /* in space there is no table */
    expect_silence();
    lint_from_above("planar: true\n", "forces: [{body: part, force: [0, 9.81]}, {body: ghost, force: [0, 9.81]}]\n");
    expect_silence();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_penetration),     cmocka_unit_test(test_margin),
        cmocka_unit_test(test_lengths),         cmocka_unit_test(test_examples_are_silent),
        cmocka_unit_test(test_memory),          cmocka_unit_test(test_no_contacts_at_the_start),
        cmocka_unit_test(test_compliance),      cmocka_unit_test(test_compliance_is_said_once),
        cmocka_unit_test(test_patches),         cmocka_unit_test(test_in_the_air),
        cmocka_unit_test(test_seen_from_above),
    };
    return cmocka_run_group_tests_name("contact lint", tests, NULL, NULL);
}
