/* The loader: what it accepts, what it refuses and where, includes, settings, limits, lack of memory. */
#include <perp/scene_yaml.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failing_allocator.h"
#include "refusals.h"
#include "scene/drive.h"
#include "scene/shape_kinds.h"
#include "scene_yaml/keys.h"

static perp_diagnostics diagnostics;

static perp_scene *load(const char *text)
{
    perp_scene *scene;
    memset(&diagnostics, 0, sizeof diagnostics);
    perp_scene_load_text(text, strlen(text), "s.yaml", NULL, NULL, &scene, &diagnostics);
    return scene;
}

static perp_scene *load_good(const char *text)
{
    perp_scene *scene = load(text);
    if (!scene) {
        print_diagnostics(&diagnostics);
    }
    assert_non_null(scene);
    return scene;
}

/* ---- refusals
 * -------------------------------------------------------------------------------------------------------- */

#define P "perp: 1\n"
#define BODY(inside) "perp: 1\nbodies: {b: {" inside "}}\n"
#define SHAPE(inside) "perp: 1\nbodies: {b: {fixed: true, shapes: [{" inside "}]}}\n"
#define FLAT(inside) "perp: 1\nplanar: true\nbodies: {b: {" inside "}}\n"
#define JOINT(inside) "perp: 1\nbodies: {b: {mass: 1, inertia: [1, 1, 1]}}\njoints: {j: {" inside "}}\n"
#define RUN(inside) "perp: 1\nrun: {" inside "}\n"

/* The first diagnostic of each text. */
static const refusal refusals[] = {
    /* text that is not a scene */
    {"", 1, 1, "there is nothing here"},
    {"# only a comment\n", 1, 1, "there is nothing here"},
    {"[1, 2]", 1, 1, "a scene is a mapping"},
    {"perp: 1\n---\nperp: 1\n", 2, 1, "one document"},
    {"perp: {\n", 2, 1, "not YAML"},
    {"perp: 1\n\tbodies: {}\n", 2, 1, "a tab stands here"},
    {"perp: 1\nname: \xc3\xa9 \xff\n", 2, 9, "not UTF-8"},
    {"name: \xc3\xa9 \xff\n", 1, 9, "not UTF-8"},
    {"? {a: 1}\n: 2\n", 1, 3, "a key must be plain text"},
    {"perp: !!int 1\n", 1, 7, "tags"},
    {"perp: 1\nname: *nothing\n", 2, 7, "no anchor"},
    {"perp: 1\nname: \"a\\0b\"\n", 2, 7, "zero byte"},
    {"bodies: {}\n", 1, 1, "`perp` is missing; write `perp: 1`"},
    {"perp: 2\n", 1, 7, "write `perp: 1`"},
    {"perp: one\n", 1, 7, "expected a number"},
    {"perp: 1\nperp: 1\n", 2, 1, "defined twice"},
    {P "bodies: {a: {fixed: true}, a: {fixed: true}}\n", 2, 28, "defined twice"},
    {P "bodees: {}\n", 2, 1, "did you mean `bodies`"},
    {P "zzz: {}\n", 2, 1, "the nearest known one is"},
    {P "bodies: 3\n", 2, 9, "expected a mapping"},
    {P "gravity: [0, 0]\n", 2, 10, "a list of 3 numbers"},
    {P "gravity: [0, 0, .nan]\n", 2, 17, "NaN"},
    {P "gravity: [0, 0, .inf]\n", 2, 17, "finite"},
    {P "gravity: [0, 0, 1e999]\n", 2, 17, "too large"},
    {P "gravity: [0, 0, 0x10]\n", 2, 17, "expected a number"},
    {P "gravity: [0, 0, \"1\"]\n", 2, 17, "expected a number"},
    {P "planar: yes\n", 2, 9, "true or false"},
    {P "include: x\n", 2, 10, "a list of files"},
    {P "include: [x.yaml]\n", 2, 11, "does not come from a folder"},
    /* bodies */
    {BODY("mass: -1"), 2, 20, "must not be negative"},
    {BODY("mass: 1, inertia: [1, 1, 3]"), 2, 32, "triangle inequality"},
    {BODY("mass: 1, inertia: [1, 1, -1]"), 2, 32, "not positive"},
    {BODY("mass: 1, inertia: [1, 1, 1, 2, 0, 0]"), 2, 32, "not positive"},
    {BODY("mass: 1, inertia: [1, 1]"), 2, 32, "[Ixx, Iyy, Izz]"},
    {BODY("mass: 1, density: 2, inertia: [1, 1, 1]"), 2, 20, "not both"},
    {BODY("mass: 1"), 2, 10,
     "needs a positive inertia: give `inertia`, shapes with volume, or lock its rotation with "
     "`free: [x, y, z]`"},
    {FLAT("mass: 1"), 3, 10, "or lock its rotation with `free: [x, y]`"},
    {FLAT("mass: 1, com: [0, 1], free: [x, theta]"), 3, 10, "needs a positive inertia"}, /* it can roll in place */
    {BODY("inertia: [1, 1, 1]"), 2, 10, "needs mass"},
    {BODY(""), 2, 10, "needs mass"},
    {BODY("density: 1e50, shapes: [{mesh: {points: [[0, 0, 0], [1e50, 0, 0], [0, 1e50, 0], [0, 0, 1e50]], scale: "
          "1e49}}]"),
     2, 10, "overflow"},
    {BODY("density: 1, shapes: [{mesh: {points: [[0, 0, 0], [1e50, 0, 0], [0, 1, 0], [0, 0, 1]], scale: 2e50}}]"), 2,
     36, "point 1 of the mesh"},
    {BODY("mass: 1e51, inertia: [1, 1, 1]"), 2, 20, "at most 1e+50"},
    {BODY("driven: {x: sin(t)}"), 2, 26, "{offset, rate, sines} or {times, values"},
    {BODY("fixed: true, pose: {quat: [1, 0, 0, 0]}"), 2, 34, "did you mean `quat_wxyz`"},
    {BODY("fixed: true, pose: 3"), 2, 33, "expected a mapping, but found `3`; write `pose: {position, ..}`"},
    {"perp: 1\nbodies:\n  a: &a {fixed: true}\n  b: {<<: *a}\n", 4, 7, "merge keys"},
    {"perp: 1\nbodies: {arm: {fixed: true}}\nforces: [{body: amr}]\n", 3, 17, "did you mean `arm`"},
    {BODY("fixed: true, driven: {x: 1}"), 2, 21, "not both"},
    {BODY("fixed: true, free: [x]"), 2, 33, "no free components"},
    {BODY("fixed: maybe"), 2, 21, "true or false"},
    {BODY("free: [q], mass: 1"), 2, 21, "x, y, z, rx, ry, rz"},
    {BODY("free: [x, x], mass: 1"), 2, 24, "twice"},
    {BODY("driven: {theta: 1}"), 2, 30, "planar scenes"},
    {BODY("driven: {x: [1]}"), 2, 26, "expected a number, {offset"},
    {BODY("driven: {x: {times: [0, 1]}}"), 2, 23, "both `times` and `values`"},
    {BODY("driven: {x: {times: [0, 1], values: [1]}}"), 2, 50, "must match"},
    {BODY("driven: {x: {times: [1, 0], values: [1, 2]}}"), 2, 38, "times must increase"},
    {BODY("driven: {x: {times: [0], values: [1], rate: 1}}"), 2, 23, "not both"},
    {BODY("driven: {x: {sines: [{amplitud: 1}]}}"), 2, 36, "did you mean `amplitude`"},
    {BODY("fixed: true, pose: {quat_wxyz: [1, 1, 0, 0]}"), 2, 45, "has length 1, but this one has 1.41421"},
    {BODY("fixed: true, pose: {quat_wxyz: [1, 0, 0, 0], rpy: [0, 0, 0]}"), 2, 64, "not both"},
    {BODY("fixed: true, pose: {angle: 1}"), 2, 41, "planar scenes"},
    {BODY("fixed: true, velocity: {linear: [1, 0, 0]}"), 2, 27, "not free to choose"},
    {BODY("free: [x], mass: 1, velocity: {linear: [0, 1, 0]}"), 2, 53, "locked"},
    {"perp: 1\nbodies: {a b: {fixed: true}}\n", 2, 10, "must not contain blanks"},
    {"perp: 1\nbodies: {a.b: {fixed: true}}\n", 2, 10, "must not contain blanks"},
    {"perp: 1\nbodies: {world: {fixed: true}}\n", 2, 10, "fixed frame"},
    {"perp: 1\nbodies: {\"\": {fixed: true}}\n", 2, 1, "needs a name"},
    /* shapes */
    {SHAPE("sphere: 0"), 2, 45, "must be positive"},
    {SHAPE("box: [1, 0, 1]"), 2, 42, "a box's lengths must be positive"},
    {SHAPE("ellipsoid: [1, 0, 1]"), 2, 48, "an ellipsoid's semi-axes must be positive"},
    {SHAPE("bxo: [1, 1, 1]"), 2, 37, "did you mean `box`"},
    {SHAPE("box: [1, 1, 1], sphere: 1"), 2, 61, "one type"},
    {SHAPE("friction: 1"), 2, 36, "needs a type"},
    {SHAPE("sphere: 1, friction: -1"), 2, 58, "must not be negative"},
    {SHAPE("disc: 1"), 2, 43, "planar scenes"},
    {SHAPE("capsule: {radius: 1}"), 2, 37, "`length` is missing"},
    {SHAPE("plane: {normal: [0, 0, 0]}"), 2, 53, "zero vector"},
    {SHAPE("plane: {offset: 1}"), 2, 37, "`normal` is missing"},
    {SHAPE("mesh: {points: [[0, 0, 0]]}"), 2, 37, "at least 4"},
    {SHAPE("mesh: {file: x.obj}"), 2, 50, "does not come from a folder"},
    {SHAPE("point: 3"), 2, 44, "expected a mapping"},
    {SHAPE("point: {radius: 1}"), 2, 37, "write `point: {}`"},
    {FLAT("fixed: true, shapes: [{polygon: [[0, 0], [1, 1], [1, 0], [0, 1]]}]"), 3, 46, "crosses itself"},
    {FLAT("fixed: true, shapes: [{polygon: [[0, 0], [1, 1]]}]"), 3, 46, "3 to 2000 corners"},
    {FLAT("fixed: true, shapes: [{polygon: [[0, 0], [1, 0], [2, 0]]}]"), 3, 46, "back along"},
    {FLAT("mass: 1, inertia: -1"), 3, 32, "must not be negative"},
    /* supports */
    {BODY("mass: 1, inertia: [1, 1, 1], support: {friction: 1}"), 2, 43, "planar scenes"},
    {FLAT("fixed: true, support: {points: [[0, 0, 1]]}"), 3, 27, "needs no support"},
    {FLAT("mass: 1, inertia: 1, support: {}"), 3, 35, "needs shapes with an area"},
    {FLAT("mass: 1, inertia: 1, support: {points: []}"), 3, 53, "at least one point"},
    {FLAT("mass: 1, inertia: 1, support: {points: [[0, 0]]}"), 3, 54, "a list of 3 numbers"},
    {FLAT("mass: 1, inertia: 1, support: {points: [[0, 0, 0], [1, 0, 0]]}"), 3, 53,
     "the shares of the load add up to 0"},
    {FLAT("mass: 1, inertia: 1, support: {points: [[0, 0, 1e-320]]}"), 3, 53, "not that small"},
    {FLAT("mass: 1, inertia: 1, support: {points: [[0, 0, 2], [1, 0, -1]]}"), 3, 72, "must not be negative"},
    {FLAT("mass: 1, inertia: 1, support: {points: [[0, 0, 1]], pressure: uniform}"), 3, 76, "not both"},
    {FLAT("mass: 1, inertia: 1, support: {pressure: round}"), 3, 55, "expected `uniform`"},
    {FLAT("mass: 1, inertia: 1, support: {points: [[0, 0, 1]], normal: -1}"), 3, 74, "must not be negative"},
    {FLAT("mass: 1, inertia: 1, support: {points: [[0, 0, 1]], friction: -1}"), 3, 76, "must not be negative"},
    {FLAT("mass: 1, inertia: 1, support: {points: [[0, 0, 1]], model: ball}"), 3, 73, "ellipsoid"},
    {FLAT("mass: 1, inertia: 1, support: {frction: 1}"), 3, 45, "did you mean `friction`"},
    {FLAT("mass: 1, inertia: 1, free: [z]"), 3, 42, "x, y, theta"},
    /* joints */
    {JOINT("type: revolute, parent: world, child: b"), 3, 10, "needs an `axis`"},
    {JOINT("type: hinge, parent: world, child: b"), 3, 20, "one of `revolute`"},
    {JOINT("parent: world, child: b"), 3, 10, "`type` is missing"},
    {JOINT("type: ball, parent: world"), 3, 10, "`child` is missing"},
    {JOINT("type: ball, parent: x, child: b"), 3, 34, "there is no body `x`"},
    {JOINT("type: ball, parent: world, child: world"), 3, 48, "not the world"},
    {JOINT("type: ball, parent: b, child: b"), 3, 44, "two different bodies"},
    {JOINT("type: ball, parent: world, child: b, axis: [1, 0, 0]"), 3, 57, "has no axis"},
    {JOINT("type: ball, parent: world, child: b, limits: [0, 1]"), 3, 59, "has no limits"},
    {JOINT("type: ball, parent: world, child: b, control: position"), 3, 60, "is passive"},
    {JOINT("type: ball, parent: world, child: b, position: 1"), 3, 61, "a list of 4 numbers"},
    {JOINT("type: screw, parent: world, child: b, axis: [1, 0, 0]"), 3, 10, "needs a `pitch`"},
    {JOINT("type: screw, parent: world, child: b, axis: [1, 0, 0], pitch: 1e308"), 3, 76, "at most 1e+50"},
    {JOINT("type: revolute, parent: world, child: b, axis: [1, 0, 0], pitch: 1"), 3, 79, "only a screw"},
    {JOINT("type: revolute, parent: world, child: b, axis: [1, 0, 0], limits: [1, 0]"), 3, 80, "lo <= hi"},
    {JOINT("type: revolute, parent: world, child: b, axis: [1, 0, 0], limits: [1, 2]"), 3, 80, "outside the limits"},
    {JOINT("type: revolute, parent: world, child: b, axis: [1, 0, 0], control: impedance"), 3, 10, "`stiffness`"},
    {JOINT("type: fixed, parent: world, child: b, position: 1"), 3, 62, "does not move"},
    {"perp: 1\nplanar: true\nbodies: {b: {}}\njoints: {j: {type: ball, parent: world, child: b}}\n", 4, 20,
     "leaves the plane"},
    {"perp: 1\nplanar: true\nbodies: {b: {}}\njoints: {j: {type: revolute, parent: world, child: b, axis: [1, 0, "
     "0]}}\n",
     4, 61, "turns about [0, 0, 1]"},
    {"perp: 1\nbodies: {a: {}, b: {}}\njoints:\n  j: {type: fixed, parent: a, child: b}\n  k: {type: fixed, parent: b, "
     "child: a}\n",
     5, 28, "form a ring"},
    {"perp: 1\nbodies: {a: {}}\njoints:\n  j: {type: fixed, parent: world, child: a}\n  k: {type: fixed, parent: "
     "world, child: a}\n",
     5, 42, "already the child of joint `j`"},
    {"perp: 1\nbodies: {a: {fixed: true}}\njoints: {j: {type: fixed, parent: world, child: a}}\n", 3, 49, "cannot be"},
    {"perp: 1\nbodies: {a: {mass: 1, free: [x]}, b: {}}\njoints: {a: {type: fixed, parent: world, child: b}}\n", 3, 10,
     "also called `a`"},
    /* the rest */
    {P "bodies: {x: {fixed: true}}\nloops: {l: {type: glue, a: x, b: world}}\n", 3, 19, "one of `point`, `weld`"},
    {P "loops: {l: {type: weld, a: x, b: world}}\n", 2, 28, "there is no body `x`"},
    {P "forces: [{body: x}]\n", 2, 17, "there is no body `x`"},
    {P "forces: {body: x}\n", 2, 1, "expected a list"},
    {P "contacts: {margin: -1}\n", 2, 20, "must not be negative"},
    {P "contacts: {pairs: {a: {}}}\n", 2, 20, "\"BODY BODY\""},
    {P "bodies: {b: {fixed: true}}\ncontacts: {pairs: {a b: {}}}\n", 3, 20, "there is no body `a`"},
    {P "bodies: {a: {fixed: true}, b: {fixed: true}}\ncontacts: {pairs: {a b: {}, b a: {}}}\n", 3, 29, "given before"},
    {P "bodies: {a: {fixed: true}}\ncontacts: {pairs: {a a: {}}}\n", 3, 20, "same body twice"},
    {P "contacts: {exclude: [[a]]}\n", 2, 22, "[BODY, BODY]"},
    {P "compliance: {stiffness: 0}\n", 2, 25, "positive"},
    {P "compliance: {stiffness: [[1, 2, 0], [0, 1, 0], [0, 0, 1]]}\n", 2, 25, "symmetric"},
    {P "compliance: {stiffness: [[1, 2, 0], [2, 1, 0], [0, 0, 1]]}\n", 2, 25, "positive definite"},
    {P "compliance: {law: hooke}\n", 2, 19, "one of `kelvin-voigt`"},
    {RUN("h: -1"), 2, 10, "must not be negative"},
    {RUN("until: 1, steps: 2"), 2, 24, "not both"},
    {RUN("steps: 1.5"), 2, 14, "a whole number"},
    {RUN("steps: -1"), 2, 14, "between 0 and 1e9"},
    {RUN("rays: 5"), 2, 13, "even number"},
    {RUN("threads: 0"), 2, 16, "between 1 and 1024"},
    {RUN("tolerance: 0"), 2, 18, "must be positive"},
    {RUN("until: 1e9, h: 1e-9"), 2, 14, "at most 1e9"},
    {RUN("cone: pyramid"), 2, 13, "one of `quadratic`"},
    {RUN("modle: kinematic"), 2, 7, "did you mean `model`"},
};

static bool is_refused(const char *text)
{
    perp_scene *scene = load(text);
    perp_scene_free(scene);
    return !scene;
}

static void refuses_with_place_and_remedy(void **state)
{
    (void)state;
    assert_refusals(refusals, sizeof refusals / sizeof *refusals, "s.yaml", is_refused, &diagnostics);
}

static void reports_all_errors_sorted_and_once(void **state)
{
    (void)state;
    assert_null(load("perp: 1\nbodies:\n  a: {mass: x, inertia: [1, 1, 9]}\n  b: {mass: -1, shapes: [{sphere: -1}]}\n"
                     "run: {rays: 3, hh: 1}\n"));
    assert_int_equal(diagnostics.errors, 6);
    for (int i = 1; i < diagnostics.count; i++) {
        const perp_diagnostic *a = &diagnostics.items[i - 1], *b = &diagnostics.items[i];
        assert_true(a->line < b->line || (a->line == b->line && a->column < b->column));
    }
}

static void keeps_twenty_and_counts_all(void **state)
{
    (void)state;
    char text[8000] = "perp: 1\nbodies:\n";
    for (int i = 0; i < 100; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "  b%d: {fixd: true, mass: 1}\n", i);
    }
    assert_null(load(text));
    assert_true(diagnostics.errors >= 100);
    assert_int_equal(diagnostics.count, PERP_DIAGNOSTICS_PER_SEVERITY);
}

/* ---- what is read
 * ---------------------------------------------------------------------------------------------------- */

static void what_never_acts_may_be_zero(void **state)
{
    (void)state;
    perp_scene_free(load_good("perp: 1\nbodies:\n  a: {mass: 1, free: [x, rz], inertia: [0, 0, 1]}\n"
                              "  b: {mass: 1, com: [1, 0, 0], free: [rz]}\n  c: {free: []}\n"
                              "  d: {driven: {x: {}}}\n"));
    /* little, but something: seen from the centre of mass rounding takes nothing of it away */
    perp_scene_free(load_good(BODY("mass: 1, com: [0, 1, 0], inertia: [1e-16, 1e-16, 1e-16]")));
    perp_scene *s = load_good("perp: 1\nplanar: true\ncompliance: {stiffness: [1, 2, 3], damping: [[4, 0, 9], [0, 5, "
                              "9], [9, 9, 9]]}\n");
    assert_int_equal(s->compliance.stiffness.count, 2);
    assert_int_equal(s->compliance.damping.count, 4);
    assert_true(s->compliance.damping.values[0] == 4.0 && s->compliance.damping.values[3] == 5.0);
    perp_scene_free(s);
}

static void a_shape_without_density_is_noticed(void **state)
{
    (void)state;
    perp_scene_free(
        load_good("perp: 1\nbodies:\n  a: {shapes: [{sphere: 1, density: 2}, {box: [1, 1, 1]}, {point: {}}]}\n"));
    assert_int_equal(diagnostics.warnings, 1);
    assert_string_equal(diagnostics.items[0].path, "bodies.a.shapes.1");
    perp_scene_free(
        load_good("perp: 1\nbodies:\n  a: {density: 1, shapes: [{sphere: 1, density: 2}, {box: [1, 1, 1]}]}\n"));
    assert_int_equal(diagnostics.warnings, 0);
}

static void a_byte_order_mark_is_skipped(void **state)
{
    (void)state;
    perp_scene_free(load_good("\xef\xbb\xbfperp: 1\r\nname: x\r\n"));
    assert_null(load("\xef\xbb\xbfperp: 2\n"));
    assert_int_equal(diagnostics.items[0].column, 7);
}

/* A missing version or a missing key of a joint hides nothing else. */
static void one_error_does_not_hide_another(void **state)
{
    (void)state;
    assert_null(load("bodies:\n  a: {mass: -1, inertia: [1, 1, 9]}\njoints:\n"
                     "  j: {type: revolute, child: a, axis: [0, 0, 0], limits: [1, 0]}\n"));
    assert_int_equal(diagnostics.errors, 6); /* perp, mass, inertia, parent, axis, limits */
}

static void driven_angles_are_those_written(void **state)
{
    (void)state;
    perp_scene *s = load_good("perp: 1\nbodies:\n"
                              "  a: {driven: {rx: {rate: 1}}, pose: {rpy: [0, 2, 0]}}\n"
                              "  b: {driven: {rz: 0}, pose: {rpy: [0.3, 1.5707963267948966, 0.2]}}\n");
    const perp_quat a = perp_body_driven_pose(&s->bodies[0], false, 0.5, NULL).rotation;
    const perp_quat b = perp_body_driven_pose(&s->bodies[1], false, 0.0, NULL).rotation;
    /* Ry(2) Rx(0.5) and Ry(pi/2) Rx(0.3), half angles multiplied out by hand */
    assert_true(fabs(a.w - cos(1.0) * cos(0.25)) < 1e-15 && fabs(a.x - cos(1.0) * sin(0.25)) < 1e-15);
    assert_true(fabs(a.y - sin(1.0) * cos(0.25)) < 1e-15 && fabs(a.z + sin(1.0) * sin(0.25)) < 1e-15);
    assert_true(fabs(b.w - sqrt(0.5) * cos(0.15)) < 1e-15 && fabs(b.x - sqrt(0.5) * sin(0.15)) < 1e-15);
    perp_scene_free(s);
}

static void reads_numbers_in_every_spelling(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } numbers[] = {{"1", 1}, {"-1.5", -1.5}, {"1e-05", 1e-5}, {"+.5", 0.5}, {"5.", 5},       {"1E3", 1000},
                   {"0", 0}, {"007", 7},     {"1e-400", 0},   {"-0.0", 0},  {"1.0e+2", 100}, {"0.1", 0.1}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char text[100];
        snprintf(text, sizeof text, "perp: 1\ngravity: [%s, 0, 0]\n", numbers[i].text);
        perp_scene *scene = load_good(text);
        assert_true(scene->gravity.x == numbers[i].value);
        perp_scene_free(scene);
    }
}

static void numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    for (size_t i = 0; i < sizeof commas / sizeof *commas; i++) {
        if (setlocale(LC_ALL, commas[i])) {
            break; /* where no such locale is installed this test still checks "C" */
        }
    }
    perp_scene *scene = load_good("perp: 1\ngravity: [0.25, 0, 0]\n");
    assert_true(scene->gravity.x == 0.25);
    perp_scene_free(scene);
    setlocale(LC_ALL, "C");
}

static void defaults_are_those_of_the_format(void **state)
{
    (void)state;
    perp_scene *s = load_good("perp: 1\n");
    assert_true(!s->planar && s->gravity.z == -9.81 && s->margin == 0.02 && s->friction == 0.5);
    assert_true(s->run.h == 0.01 && s->run.until == 1.0 && !s->run.steps_set && s->run.rays == 4);
    assert_true(s->run.tolerance == 1e-8 && isinf(s->run.substep_tolerance) && s->run.time_scale == 1.0);
    assert_string_equal(s->run.model, "qs-qp");
    assert_int_equal(s->run.prediction, PERP_PREDICTION_EXACT);
    assert_true(s->compliance.stiffness.values[0] == 1e4 && s->compliance.damping.values[0] == 10.0);
    assert_true(s->compliance.elements == 1 && s->compliance.size == 0.01 && s->compliance.gamma == 1e-4);
    perp_scene_free(s);
    s = load_good("perp: 1\nplanar: true\n");
    assert_true(s->gravity.y == -9.81 && s->gravity.z == 0.0);
    perp_scene_free(s);
}

static void resolves_and_normalises(void **state)
{
    (void)state;
    perp_scene *s = load_good("perp: 1\n"
                              "bodies:\n"
                              "  a: {fixed: true, shapes: [{plane: {normal: [0, 0, 5]}}]}\n"
                              "  b: {}\n"
                              "  c: {fixed: true, pose: {quat_wxyz: [0.7071, 0, 0.7071, 0]}}\n"
                              "joints: {j: {type: prismatic, parent: a, child: b, axis: [0, 3, 4], control: position,\n"
                              "             position: 0.5}}\n"
                              "contacts: {pairs: {c a: {friction: 0.1, compliance: {gamma: 0}}}}\n"
                              "compliance: {size: 0.5}\n");
    assert_true(s->bodies[0].shapes[0].normal.z == 1.0);
    assert_true(fabs(s->joints[0].axis.y - 0.6) <= 1e-15);
    assert_int_equal(s->joints[0].parent_body, 0);
    assert_int_equal(s->joints[0].child_body, 1);
    assert_int_equal(s->bodies[1].joint, 0);
    assert_true(perp_drive_value(&s->joints[0].command, 3.0) == 0.5); /* without a command it holds its position */
    const perp_quat q = s->bodies[2].pose.pose.rotation;
    assert_true(fabs(q.w * q.w + q.y * q.y - 1.0) <= 1e-15);
    assert_int_equal(diagnostics.warnings, 1); /* the quaternion */
    assert_int_equal(s->pairs[0].body_a, 0);
    assert_int_equal(s->pairs[0].body_b, 2);
    assert_true(s->pairs[0].compliance.gamma == 0.0 && s->pairs[0].compliance.size == 0.5);
    assert_int_equal(perp_scene_find_body(s, "c"), 2);
    assert_int_equal(perp_scene_find_body(s, "d"), -1);
    perp_scene_free(s);
}

static void json_is_yaml(void **state)
{
    (void)state;
    perp_scene *s = load_good("{\"perp\": 1, \"name\": \"caf\\u00e9\", \"bodies\": {\"a\": {\"fixed\": true}}}");
    assert_string_equal(s->name, "caf\xc3\xa9");
    perp_scene_free(s);
}

/* ---- limits
 * ---------------------------------------------------------------------------------------------------------- */

static void alias_bombs_are_refused(void **state)
{
    (void)state;
    assert_null(load("a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
                     "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
                     "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"));
    assert_non_null(strstr(diagnostics.items[0].message, "more than 1000000 values"));
    assert_int_equal(diagnostics.items[0].line, 6);
    assert_null(load("perp: 1\nname: &a [*a]\n"));
    assert_non_null(strstr(diagnostics.items[0].message, "no anchor"));
}

static void depth_is_limited(void **state)
{
    (void)state;
    char text[200] = "perp: 1\nname: ";
    memset(text + strlen(text), '[', 40);
    assert_null(load(text));
    assert_non_null(strstr(diagnostics.items[0].message, "levels deep"));
}

/* Quadratic work hides in lists that are searched: many anchors are refused, so that many aliases are cheap. */
static void anchors_are_limited(void **state)
{
    (void)state;
    char text[40000] = "perp: 1\nname: [";
    for (int i = 0; i <= PERP_YAML_MAX_ANCHORS; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "&a%d x, ", i);
    }
    strcat(text, "]\n");
    assert_null(load(text));
    assert_non_null(strstr(diagnostics.items[0].message, "at most 1000 anchors"));
}

static void size_is_limited(void **state)
{
    (void)state;
    const size_t length = (size_t)PERP_YAML_MAX_BYTES + 1;
    char *text = malloc(length);
    perp_scene *scene;
    assert_non_null(text);
    memset(text, '#', length);
    memset(&diagnostics, 0, sizeof diagnostics);
    assert_int_equal(perp_scene_load_text(text, length, "s.yaml", NULL, NULL, &scene, &diagnostics),
                     PERP_STATUS_BAD_INPUT);
    assert_non_null(strstr(diagnostics.items[0].message, "larger than"));
    free(text);
}

static void body_count_is_limited(void **state)
{
    (void)state;
    const size_t room = (size_t)(PERP_SCENE_MAX_BODIES + 10) * 30;
    char *text = malloc(room), *end = text;
    assert_non_null(text);
    end += sprintf(end, "perp: 1\nbodies:\n");
    for (int i = 0; i <= PERP_SCENE_MAX_BODIES; i++) {
        end += sprintf(end, "  b%d: {fixed: true}\n", i);
    }
    assert_null(load(text));
    assert_non_null(strstr(diagnostics.items[0].message, "at most 100000 bodies"));
    free(text);
}

/* ---- files
 * ----------------------------------------------------------------------------------------------------------- */

static char folder[64];

static void write_file(const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static perp_scene *load_main(void)
{
    char path[200];
    perp_scene *scene;
    snprintf(path, sizeof path, "%s/main.yaml", folder);
    memset(&diagnostics, 0, sizeof diagnostics);
    perp_scene_load_file(path, NULL, &scene, &diagnostics);
    return scene;
}

static int make_folder(void **state)
{
    (void)state;
    char path[200];
    strcpy(folder, "/tmp/perp-load-XXXXXX");
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/parts", folder);
    return mkdir(path, 0777);
}

static int remove_folder(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void includes_are_merged_first(void **state)
{
    (void)state;
    write_file("main.yaml", "perp: 1\ninclude: [parts/arm.yaml]\nbodies: {cup: {fixed: true}}\nrun: {h: 0.5}\n"
                            "forces: [{body: link, force: [0, 0, 1]}]\n");
    write_file("parts/arm.yaml", "include: [hand.yaml]\nbodies: {link: {mass: 1, inertia: [1, 1, 1]}}\n"
                                 "run: {h: 0.1, steps: 7}\nforces: [{body: link, force: [1, 0, 0]}]\n");
    write_file("parts/hand.yaml", "bodies: {hand: {fixed: true}}\n");
    perp_scene *s = load_main();
    assert_non_null(s);
    assert_string_equal(s->bodies[0].name, "hand");
    assert_string_equal(s->bodies[1].name, "link");
    assert_string_equal(s->bodies[2].name, "cup");
    assert_true(s->run.h == 0.5 && s->run.steps == 7); /* what includes comes on top */
    assert_int_equal(s->force_count, 2);
    assert_true(s->forces[0].force[0].offset == 1.0 && s->forces[1].force[2].offset == 1.0);
    perp_scene_free(s);
}

/* Lists of forces and of pairs to leave out are joined; any other list takes the place of the included one. */
static void a_vector_takes_the_place_of_the_included_one(void **state)
{
    (void)state;
    write_file("main.yaml", "perp: 1\ninclude: [parts/arm.yaml]\ngravity: [0, 0, -2]\n");
    write_file("parts/arm.yaml", "gravity: [0, 0, -1]\nbodies: {link: {mass: 1, inertia: [1, 1, 1]}}\n");
    perp_scene *s = load_main();
    assert_non_null(s);
    assert_true(s->gravity.z == -2.0);
    perp_scene_free(s);
}

/* A path that is set, not written in a file of a folder, is relative to the scene. */
static void a_mesh_that_is_set_is_relative_to_the_scene(void **state)
{
    (void)state;
    write_file("main.yaml", "perp: 1\nbodies: {a: {mass: 1, shapes: [{mesh: {file: none.obj}}]}}\n");
    write_file("parts/t.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n");
    const char *settings[] = {"bodies.a.shapes.0.mesh.file=parts/t.obj"};
    const perp_scene_load_options options = {.settings = settings, .setting_count = 1};
    char path[200];
    perp_scene *s;
    snprintf(path, sizeof path, "%s/main.yaml", folder);
    memset(&diagnostics, 0, sizeof diagnostics);
    assert_int_equal(perp_scene_load_file(path, &options, &s, &diagnostics), PERP_STATUS_OK);
    assert_int_equal(s->bodies[0].shapes[0].hull_point_count, 4);
    perp_scene_free(s);
}

static void an_include_of_another_version_is_refused(void **state)
{
    (void)state;
    write_file("main.yaml", "perp: 1\ninclude: [parts/arm.yaml]\n");
    write_file("parts/arm.yaml", "perp: 2\n");
    assert_null(load_main());
    assert_non_null(strstr(diagnostics.items[0].message, "version 1"));
    assert_int_equal(diagnostics.items[0].column, 7);
}

static void an_error_in_an_include_names_that_file(void **state)
{
    (void)state;
    write_file("main.yaml", "perp: 1\ninclude: [parts/arm.yaml]\n");
    write_file("parts/arm.yaml", "bodies:\n  link: {mass: -1}\n");
    assert_null(load_main());
    assert_non_null(strstr(diagnostics.items[0].file, "/parts/arm.yaml"));
    assert_int_equal(diagnostics.items[0].line, 2);
    assert_int_equal(diagnostics.items[0].column, 16);
}

static void a_name_defined_twice_over_files_is_an_error(void **state)
{
    (void)state;
    write_file("main.yaml", "perp: 1\ninclude: [parts/arm.yaml]\nbodies: {link: {fixed: true}}\n");
    write_file("parts/arm.yaml", "bodies: {link: {fixed: true}}\n");
    assert_null(load_main());
    assert_non_null(strstr(diagnostics.items[0].message, "already defined at"));
    assert_non_null(strstr(diagnostics.items[0].message, "parts/arm.yaml:1:10"));
}

static void a_missing_include_does_not_hide_the_rest(void **state)
{
    (void)state;
    write_file("main.yaml", "perp: 1\ninclude: [gone.yaml]\nbodies: {a: {mas: 1}}\nrun: {h: x}\n");
    assert_null(load_main());
    assert_int_equal(diagnostics.errors, 3);
}

static void nothing_outside_the_folder_is_read(void **state)
{
    (void)state;
    static const char *const names[] = {"../x.yaml",    "/etc/passwd", "parts/../../x.yaml", "link.yaml", "parts",
                                        "missing.yaml", "pipe"};
    static const char *const words[] = {"", "relative", "", "outside", "regular file", "No such file", "regular file"};
    char path[200];
    snprintf(path, sizeof path, "%s/link.yaml", folder);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0666), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[300];
        snprintf(text, sizeof text, "perp: 1\ninclude: [%s]\n", names[i]);
        write_file("main.yaml", text);
        assert_null(load_main());
        assert_int_equal(diagnostics.items[0].line, 2);
        assert_int_equal(diagnostics.items[0].column, 11);
        assert_non_null(strstr(diagnostics.items[0].message, words[i]));
        snprintf(text, sizeof text, "perp: 1\nbodies: {a: {fixed: true, shapes: [{mesh: {file: %s}}]}}\n", names[i]);
        write_file("main.yaml", text);
        assert_null(load_main());
        assert_non_null(strstr(diagnostics.items[0].message, "mesh file"));
        assert_non_null(strstr(diagnostics.items[0].message, words[i]));
    }
}

/* A cube of side 2 as OBJ (with an inner point), text STL and binary STL: mass and inertia are those of a box. */
static void mesh_files_give_hulls_and_mass(void **state)
{
    (void)state;
    static const char *const names[] = {"parts/cube.obj", "parts/cube.STL", "parts/binary.stl"};
    char obj[1000] = "# cube\nv 0.1 0.1 0.1\n", stl[4000] = "solid cube\n";
    unsigned char binary[84 + 8 * 50] = "solid, but binary";
    binary[80] = 8;
    for (int i = 0; i < 8; i++) {
        const int x = i & 1 ? 1 : -1, y = i & 2 ? 1 : -1, z = i & 4 ? 1 : -1;
        snprintf(obj + strlen(obj), sizeof obj - strlen(obj), "v %d %d %d\n", x, y, z);
        snprintf(stl + strlen(stl), sizeof stl - strlen(stl), "vertex %d %d %de0\n", x, y, z);
        const float corner[3] = {(float)x, (float)y, (float)z};
        for (int k = 0; k < 3; k++) {
            memcpy(binary + 84 + 50 * i + 12 + 12 * k, corner, sizeof corner);
        }
    }
    strcat(stl, "endsolid cube\n");
    write_file(names[0], obj);
    write_file(names[1], stl);
    char path[200], text[300];
    snprintf(path, sizeof path, "%s/%s", folder, names[2]);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(binary, 1, sizeof binary, file), sizeof binary);
    fclose(file);
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "perp: 1\nbodies: {a: {density: 3, shapes: [{mesh: {file: %s, scale: 0.5}}]}}\n",
                 names[i]);
        write_file("main.yaml", text);
        perp_scene *s = load_main();
        perp_mass_properties p;
        assert_non_null(s);
        assert_int_equal(s->bodies[0].shapes[0].hull_point_count, 8);
        assert_int_equal(s->bodies[0].shapes[0].hull_triangle_count, 12);
        assert_int_equal(perp_body_mass_properties(&s->bodies[0], false, &p, NULL), PERP_STATUS_OK);
        assert_true(fabs(p.mass - 3.0) < 1e-14 && fabs(p.inertia.m[0] - 0.5) < 1e-14 && fabs(p.com.x) < 1e-15);
        perp_scene_free(s);
    }
}

/* A mesh is named from the file that names it, like an include; one that is named often is read once. */
static void mesh_files_are_relative_and_shared(void **state)
{
    (void)state;
    write_file("main.yaml", "perp: 1\ninclude: [parts/arm.yaml]\nbodies: {c: {density: 1, shapes: [{mesh: {file: "
                            "parts/t.obj, scale: 2}}]}}\n");
    write_file("parts/arm.yaml", "bodies:\n  a: {density: 1, shapes: [{mesh: {file: t.obj}}]}\n"
                                 "  b: {density: 1, shapes: [{mesh: {file: t.obj}}]}\n");
    write_file("parts/t.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n");
    perp_scene *s = load_main();
    assert_non_null(s);
    assert_ptr_equal(s->bodies[0].shapes[0].hull_points, s->bodies[1].shapes[0].hull_points);
    assert_ptr_not_equal(s->bodies[0].shapes[0].hull_points, s->bodies[2].shapes[0].hull_points);
    perp_mass_properties small, large;
    assert_int_equal(perp_body_mass_properties(&s->bodies[1], false, &small, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_body_mass_properties(&s->bodies[2], false, &large, NULL), PERP_STATUS_OK);
    assert_true(fabs(small.mass - 1.0 / 6.0) < 1e-15 && fabs(large.mass - 8.0 / 6.0) < 1e-14);
    perp_scene_free(s);
}

static void bad_mesh_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *content, *words;
    } files[] = {{"a.obj", "v 0 0 0\nv 1 0\n", "line 2: expected three finite numbers"},
                 {"b.obj", "v 0 0 0\nv nan 0 0\n", "line 2"},
                 {"c.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 2 3 0\n", "no volume"},
                 {"d.obj", "", "has no vertices"},
                 {"e.obj", "v 0 0 0\nv 1 0 0\n", "at least 4 points"},
                 {"f.stl", "solid x\nvertex 0 0 0\nvertex 1 0 0\n", "cut off"},
                 {"g.ply", "ply\n", ".obj or .stl"},
                 {"h.stl",
                  "bytes that are neither, though there are more than eighty-four of them in this file, so that "
                  "a count can be read",
                  "cut off, or not an STL file"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char text[300];
        write_file(files[i].name, files[i].content);
        snprintf(text, sizeof text, "perp: 1\nbodies: {a: {mass: 1, shapes: [{mesh: {file: %s}}]}}\n", files[i].name);
        write_file("main.yaml", text);
        assert_null(load_main());
        assert_int_equal(diagnostics.errors, 1);
        assert_int_equal(diagnostics.items[0].line, 2);
        assert_int_equal(diagnostics.items[0].column, 46);
        if (!strstr(diagnostics.items[0].message, files[i].words)) {
            print_error("%s\n", diagnostics.items[0].message);
        }
        assert_non_null(strstr(diagnostics.items[0].message, files[i].words));
    }
}

static void include_rings_are_refused(void **state)
{
    (void)state;
    write_file("main.yaml", "perp: 1\ninclude: [a.yaml]\n");
    write_file("a.yaml", "include: [b.yaml]\n");
    write_file("b.yaml", "include: [a.yaml]\n");
    assert_null(load_main());
    assert_non_null(strstr(diagnostics.items[0].message, "includes itself"));
    write_file("b.yaml", "include: [./parts/../a.yaml]\n"); /* another spelling: the number of files stops it */
    assert_null(load_main());
    assert_true(diagnostics.errors > 0);
}

/* ---- lack of memory ---------------------------------------------------------------------------------------------- */

static char *read_corpus(const char *name, size_t *length)
{
    char path[300];
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/scene/%s", PERP_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = malloc(100000);
    assert_non_null(text);
    *length = fread(text, 1, 100000, file);
    fclose(file);
    return text;
}

static void every_allocation_failing_in_turn(void **state)
{
    (void)state;
    static const char *const names[] = {"everything-spatial.yaml", "everything-planar.yaml"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length;
        char *text = read_corpus(names[i], &length);
        perp_scene *scene = NULL;
        int granted = 0;
        for (; !scene; granted++) {
            failing_allocator f = {.grants = granted};
            const perp_allocator allocator = allocator_of(&f);
            const char *settings[] = {"contacts.friction=0.1"};
            const perp_scene_load_options options = {.allocator = &allocator, .settings = settings, .setting_count = 1};
            memset(&diagnostics, 0, sizeof diagnostics);
            const perp_status status =
                perp_scene_load_text(text, length, "s.yaml", NULL, &options, &scene, &diagnostics);
            if (scene) {
                assert_int_equal(status, PERP_STATUS_OK);
                perp_scene_free(scene);
                assert_int_equal(f.standing, 0);
                break;
            }
            assert_int_equal(status, PERP_STATUS_OUT_OF_MEMORY);
            assert_int_equal(f.standing, 0);
            assert_true(diagnostics.errors > 0);
        }
        assert_true(granted > 5);
        free(text);
    }
}

static const key_spec *find_key(const key_table *table, const char *name)
{
    for (int i = 0; i < table->count; i++) {
        if (strcmp(table->keys[i].key, name) == 0) {
            return &table->keys[i];
        }
    }
    return NULL;
}

/* What a scene knows can be written in a file. */
static void every_shape_and_cone_can_be_written(void **state)
{
    (void)state;
    for (int kind = 1; kind < PERP_SHAPE_COUNT; kind++) {
        const perp_shape_traits *traits = perp_shape_traits_of((perp_shape_kind)kind);
        const key_spec *key = find_key(&perp_keys_shape, traits->name);
        assert_non_null(key);
        assert_int_equal(!(key->flags & KEY_SPATIAL), traits->planar);
        assert_int_equal(!(key->flags & KEY_PLANAR), traits->spatial);
    }
    for (int cone = 1; cone < PERP_CONE_COUNT; cone++) {
        assert_non_null(strstr(find_key(&perp_keys_run, "cone")->form, perp_cone_name((perp_cone)cone)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_with_place_and_remedy),
        cmocka_unit_test(reports_all_errors_sorted_and_once),
        cmocka_unit_test(every_shape_and_cone_can_be_written),
        cmocka_unit_test(keeps_twenty_and_counts_all),
        cmocka_unit_test(what_never_acts_may_be_zero),
        cmocka_unit_test(a_shape_without_density_is_noticed),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(one_error_does_not_hide_another),
        cmocka_unit_test(driven_angles_are_those_written),
        cmocka_unit_test(reads_numbers_in_every_spelling),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(defaults_are_those_of_the_format),
        cmocka_unit_test(resolves_and_normalises),
        cmocka_unit_test(json_is_yaml),
        cmocka_unit_test(alias_bombs_are_refused),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(anchors_are_limited),
        cmocka_unit_test(size_is_limited),
        cmocka_unit_test(body_count_is_limited),
        cmocka_unit_test_setup_teardown(includes_are_merged_first, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_vector_takes_the_place_of_the_included_one, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(an_include_of_another_version_is_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(an_error_in_an_include_names_that_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_name_defined_twice_over_files_is_an_error, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_missing_include_does_not_hide_the_rest, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(nothing_outside_the_folder_is_read, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(include_rings_are_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(mesh_files_give_hulls_and_mass, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(mesh_files_are_relative_and_shared, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_mesh_that_is_set_is_relative_to_the_scene, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(bad_mesh_files_are_refused, make_folder, remove_folder),
        cmocka_unit_test(every_allocation_failing_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
