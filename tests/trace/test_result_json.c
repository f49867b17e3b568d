/* The JSON of a run and of a check, read back with jansson: keys, shapes, exact numbers, failing memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include <perp/trace.h>
#include <perp/sim.h>

#include "failing_allocator.h"

/* ---- a scene with every kind of entry ---------------------------------------------------------------------------- */

typedef struct world {
    perp_scene *scene;
    perp_model *model;
    perp_state state;
    perp_run_result result;
} world;

static void add_body(perp_scene *s, perp_body body)
{
    assert_int_equal(perp_scene_add_body(s, &body, NULL), PERP_STATUS_OK);
}

static perp_body free_body(const perp_scene *s, const char *name, unsigned mask)
{
    perp_body body = perp_body_default(name);
    body.mass = perp_set(1.0);
    body.inertia_count = s->planar ? 1 : 3;
    body.inertia[0] = body.inertia[1] = body.inertia[2] = 0.1;
    body.free_set = true;
    body.free_mask = mask;
    return body;
}

static void add_jointed(perp_scene *s, perp_joint_kind kind, const char *joint_name, const char *body_name)
{
    add_body(s, free_body(s, body_name, PERP_COMPONENT_ALL));
    s->bodies[s->body_count - 1].free_set = false;
    perp_joint joint = perp_joint_default(joint_name, kind);
    joint.child = body_name;
    joint.anchor = perp_vec3_make(1, 2, 0);
    joint.axis_set = kind != PERP_JOINT_BALL && kind != PERP_JOINT_FIXED;
    joint.axis = kind == PERP_JOINT_PRISMATIC ? perp_vec3_make(1, 0, 0) : perp_vec3_make(0, 0, 1);
    joint.axis = joint.axis_set ? joint.axis : perp_vec3_make(0, 0, 0);
    assert_int_equal(perp_scene_add_joint(s, &joint, NULL), PERP_STATUS_OK);
}

/* Bodies: ground (fixed), cart (driven), sled (free along y only), bob (free, all), and one child for each joint. */
static void world_open(world *w, bool planar)
{
    static perp_diagnostics diagnostics;
    perp_scene *s;
    assert_int_equal(perp_scene_create(planar, NULL, &s, NULL), PERP_STATUS_OK);
    perp_body ground = perp_body_default("ground");
    ground.kind = PERP_BODY_FIXED;
    ground.pose.pose.position = perp_vec3_make(7, 8, planar ? 0 : 9);
    add_body(s, ground);
    perp_body cart = perp_body_default("cart");
    cart.kind = PERP_BODY_DRIVEN;
    cart.driven_mask = PERP_COMPONENT_X;
    cart.drives[0] = (perp_drive){.offset = 0.1, .rate = 0.7};
    add_body(s, cart);
    perp_body sled = free_body(s, "sled", PERP_COMPONENT_Y);
    sled.pose.pose.position = perp_vec3_make(0.3, 0.4, 0);
    sled.velocity_set = true;
    sled.velocity.linear.y = -1.25;
    add_body(s, sled);
    add_body(s, free_body(s, "K\xc3\xb6rper\xe2\x82\xac", PERP_COMPONENT_ALL)); /* a name in UTF-8 */
    add_jointed(s, PERP_JOINT_REVOLUTE, "hinge", "door");
    add_jointed(s, PERP_JOINT_PLANAR, "slide", "puck");
    add_jointed(s, PERP_JOINT_FIXED, "glue", "tile");
    if (!planar) {
        add_jointed(s, PERP_JOINT_BALL, "socket", "leg");
    }
    assert_int_equal(perp_scene_set_model(s, "kinematic", NULL), PERP_STATUS_OK);
    s->run.h = 0.1;
    s->run.steps_set = true;
    s->run.steps = 3;
    memset(&diagnostics, 0, sizeof diagnostics);
    if (perp_scene_validate(s, &diagnostics) != PERP_STATUS_OK) {
        fail_msg("%s: %s", diagnostics.items[0].path, diagnostics.items[0].message);
    }
    w->scene = s;
    assert_int_equal(perp_model_build(s, NULL, &w->model, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_state_create(w->model, NULL, &w->state, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_run(w->model, &s->run, NULL, NULL, NULL, &w->state, &w->result, NULL), PERP_STATUS_OK);
}

static void world_close(world *w)
{
    perp_run_result_free(&w->result);
    perp_state_free(&w->state);
    perp_model_free(w->model);
    perp_scene_free(w->scene);
}

/* ---- reading back ------------------------------------------------------------------------------------------------ */

static json_t *parse(char *text)
{
    assert_non_null(text);
    json_error_t error;
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!object) {
        fail_msg("%s at %d:%d of %s", error.text, error.line, error.column, text);
    }
    assert_true(json_is_object(object));
    perp_text_free(text);
    return object;
}

/* The object has these keys, separated by blanks, in this order, and no others. */
static void check_keys(json_t *object, const char *expected, int line)
{
    char keys[512] = "";
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        strcat(keys, keys[0] ? " " : "");
        strcat(keys, key);
    }
    if (strcmp(keys, expected) != 0) {
        fail_msg("line %d: keys `%s`, expected `%s`", line, keys, expected);
    }
}
#define KEYS(object, expected) check_keys((object), (expected), __LINE__)

/* The array has these numbers, bit for bit. */
static void check_numbers(json_t *array, const double *expected, size_t count, int line)
{
    if (!json_is_array(array) || json_array_size(array) != count) {
        fail_msg("line %d: %zu numbers, expected %zu", line, json_array_size(array), count);
    }
    for (size_t i = 0; i < count; i++) {
        const double value = json_real_value(json_array_get(array, i));
        if (!json_is_real(json_array_get(array, i)) || value != expected[i]) {
            fail_msg("line %d: [%zu] is %.17g, expected %.17g", line, i, value, expected[i]);
        }
    }
}
#define NUMBERS(array, expected, count) check_numbers((array), (expected), (count), __LINE__)

static json_t *at(json_t *object, const char *a, const char *b)
{
    json_t *value = json_object_get(object, a);
    return b ? json_object_get(value, b) : value;
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

/* docs/notation.md; `loop` and `poses` are additions to it. */
static void test_keys(void **state)
{
    (void)state;
    world w;
    world_open(&w, false);
    w.result.residuals = (perp_residuals){0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7};
    w.result.timing = (perp_timing){1.5, 2.5, 3.5, 4.5};
    json_t *o = parse(perp_result_json(w.model, &w.state, &w.result, NULL));
    KEYS(o, "status model h steps read_in final contacts loops events residual fallbacks several timing hash");
    assert_string_equal(json_string_value(at(o, "status", NULL)), "ok");
    assert_string_equal(json_string_value(at(o, "model", NULL)), "kinematic");
    assert_true(json_real_value(at(o, "h", NULL)) == 0.1);
    assert_true(json_is_integer(at(o, "steps", NULL)) && json_integer_value(at(o, "steps", NULL)) == 3);
    KEYS(at(o, "final", NULL), "t q v poses");
    assert_true(json_real_value(at(o, "final", "t")) == 3 * 0.1);
    assert_true(json_is_array(at(o, "contacts", NULL)) && json_is_array(at(o, "events", NULL)));
    assert_true(json_is_object(at(o, "fallbacks", NULL)));
    KEYS(at(o, "residual", NULL), "balance complementarity cone penetration balance_true boundary_layer loop");
    assert_true(json_real_value(at(o, "residual", "balance")) == 0.1);
    assert_true(json_real_value(at(o, "residual", "complementarity")) == 0.2);
    assert_true(json_real_value(at(o, "residual", "cone")) == 0.3);
    assert_true(json_real_value(at(o, "residual", "penetration")) == 0.4);
    assert_true(json_real_value(at(o, "residual", "balance_true")) == 0.5);
    assert_true(json_real_value(at(o, "residual", "boundary_layer")) == 0.6);
    assert_true(json_real_value(at(o, "residual", "loop")) == 0.7);
    KEYS(at(o, "timing", NULL), "step_mean_us step_median_us step_max_us solve_mean_us");
    assert_true(json_real_value(at(o, "timing", "step_mean_us")) == 1.5);
    assert_true(json_real_value(at(o, "timing", "step_median_us")) == 2.5);
    assert_true(json_real_value(at(o, "timing", "step_max_us")) == 3.5);
    assert_true(json_real_value(at(o, "timing", "solve_mean_us")) == 4.5);
    char hash[17];
    perp_hash_text(w.result.hash, hash);
    assert_string_equal(json_string_value(at(o, "hash", NULL)), hash);
    json_decref(o);
    world_close(&w);
}

/* Bodies that are free or driven with their full pose and twist, whatever subset is free; bodies that joints move not
 * at all in q and v, their joints instead; every body in `poses`. */
static void test_spatial_state(void **state)
{
    (void)state;
    world w;
    world_open(&w, false);
    const double turned[4] = {0.5, 0.5, -0.5, 0.5}, rates[3] = {1.5, 2.5, 3.5};
    const perp_link *links = w.model->links;
    const int leg = perp_scene_find_body(w.scene, "leg"), door = perp_scene_find_body(w.scene, "door");
    memcpy(w.state.q + links[leg].q_start, turned, sizeof turned);
    memcpy(w.state.v + links[leg].v_start, rates, sizeof rates);
    w.state.q[links[door].q_start] = 1.0;
    w.state.v[links[door].v_start] = -2.0;
    w.state.v[links[perp_scene_find_body(w.scene, "sled")].v_start] = -1.25;
    json_t *o = parse(perp_result_json(w.model, &w.state, &w.result, NULL));
    json_t *q = at(o, "final", "q"), *v = at(o, "final", "v"), *poses = at(o, "final", "poses");
    const char *listed = "cart sled K\xc3\xb6rper\xe2\x82\xac hinge slide socket"; /* bodies first, then joints */
    KEYS(q, listed);
    KEYS(v, listed);
    KEYS(poses, "ground cart sled K\xc3\xb6rper\xe2\x82\xac door puck tile leg");

    const double cart_x = 0.1 + 0.7 * (3 * 0.1);
    NUMBERS(at(q, "cart", NULL), ((double[]){cart_x, 0, 0, 1, 0, 0, 0}), 7);
    assert_int_equal(json_array_size(at(v, "cart", NULL)), 6);
    NUMBERS(at(q, "sled", NULL), ((double[]){0.3, 0.4, 0, 1, 0, 0, 0}), 7); /* one free component: all of the pose */
    NUMBERS(at(v, "sled", NULL), ((double[]){0, -1.25, 0, 0, 0, 0}), 6);
    NUMBERS(at(q, "hinge", NULL), ((double[]){1.0}), 1);
    NUMBERS(at(v, "hinge", NULL), ((double[]){-2.0}), 1);
    NUMBERS(at(q, "slide", NULL), ((double[]){0, 0, 0}), 3);
    NUMBERS(at(v, "slide", NULL), ((double[]){0, 0, 0}), 3);
    NUMBERS(at(q, "socket", NULL), turned, 4);
    NUMBERS(at(v, "socket", NULL), rates, 3);

    NUMBERS(at(poses, "ground", NULL), ((double[]){7, 8, 9, 1, 0, 0, 0}), 7);
    NUMBERS(at(poses, "tile", NULL), ((double[]){1, 2, 0, 1, 0, 0, 0}), 7); /* glued at its anchor */
    assert_true(json_equal(at(poses, "cart", NULL), at(q, "cart", NULL)));
    json_t *pose = at(poses, "door", NULL); /* turned by 1 rad about its anchor, where its origin is */
    assert_true(json_real_value(json_array_get(pose, 0)) == 1.0 && json_real_value(json_array_get(pose, 1)) == 2.0);
    assert_true(fabs(json_real_value(json_array_get(pose, 3)) - cos(0.5)) < 1e-15);
    assert_true(fabs(json_real_value(json_array_get(pose, 6)) - sin(0.5)) < 1e-15);
    json_decref(o);
    world_close(&w);
}

static void test_planar_state(void **state)
{
    (void)state;
    world w;
    world_open(&w, true);
    const int door = perp_scene_find_body(w.scene, "door"), bob = 3;
    w.state.q[w.model->links[door].q_start] = 1.0;
    w.state.q[w.model->links[bob].q_start + 2] = 20.0; /* an angle is never wrapped in q */
    w.state.v[w.model->links[perp_scene_find_body(w.scene, "sled")].v_start] = 5.0;
    json_t *o = parse(perp_result_json(w.model, &w.state, &w.result, NULL));
    json_t *q = at(o, "final", "q"), *v = at(o, "final", "v"), *poses = at(o, "final", "poses");
    KEYS(q, "cart sled K\xc3\xb6rper\xe2\x82\xac hinge slide");
    KEYS(poses, "ground cart sled K\xc3\xb6rper\xe2\x82\xac door puck tile");
    NUMBERS(at(q, "cart", NULL), ((double[]){0.1 + 0.7 * (3 * 0.1), 0, 0}), 3);
    NUMBERS(at(q, "sled", NULL), ((double[]){0.3, 0.4, 0}), 3);
    NUMBERS(at(v, "sled", NULL), ((double[]){0, 5, 0}), 3);
    NUMBERS(at(q, w.scene->bodies[bob].name, NULL), ((double[]){0, 0, 20}), 3);
    NUMBERS(at(poses, "ground", NULL), ((double[]){7, 8, 0}), 3);
    json_t *pose = at(poses, "door", NULL);
    assert_int_equal(json_array_size(pose), 3);
    assert_true(fabs(json_real_value(json_array_get(pose, 2)) - 1.0) < 1e-15);
    assert_true(json_equal(at(poses, w.scene->bodies[bob].name, NULL), at(q, w.scene->bodies[bob].name, NULL)));
    json_decref(o);
    world_close(&w);
}

/* 17 digits bring every double back, bit for bit. */
static void test_numbers_survive(void **state)
{
    (void)state;
    world w;
    world_open(&w, false);
    const int bob = 3;
    double *q = w.state.q + w.model->links[bob].q_start, *v = w.state.v + w.model->links[bob].v_start;
    static const double special[] = {
        0.1,    1.0 / 3.0, 3.141592653589793, 5e-324, 2.2250738585072014e-308, 1e308,
        1e-200, 1e22,      123456789.0,       -0.3,   1.7976931348623157e308,  9007199254740993.0};
    perp_random random = {1};
    for (int k = 0; k < 300; k++) {
        double values[9];
        for (int i = 0; i < 9; i++) {
            if (k == 0 || (k == 1 && i < 3)) {
                values[i] = special[9 * k + i];
            } else {
                do { /* any bits that are a number */
                    const uint64_t bits = perp_random_bits(&random);
                    memcpy(&values[i], &bits, sizeof bits);
                } while (!isfinite(values[i]));
            }
        }
        memcpy(q, values, 3 * sizeof(double));
        memcpy(v, values + 3, 6 * sizeof(double));
        w.state.t = values[4];
        w.result.h = values[5];
        json_t *o = parse(perp_result_json(w.model, &w.state, &w.result, NULL));
        json_t *pose = at(at(o, "final", "q"), w.scene->bodies[bob].name, NULL);
        for (size_t i = 0; i < 3; i++) {
            assert_true(json_real_value(json_array_get(pose, i)) == values[i]);
        }
        NUMBERS(at(at(o, "final", "v"), w.scene->bodies[bob].name, NULL), values + 3, 6);
        assert_true(json_real_value(at(o, "final", "t")) == values[4]);
        assert_true(json_real_value(at(o, "h", NULL)) == values[5]);
        json_decref(o);
    }
    world_close(&w);
}

/* What is not a number has no place in JSON: null, and the rest is there. */
static void test_not_a_number_is_null(void **state)
{
    (void)state;
    world w;
    world_open(&w, false);
    w.result.residuals.balance = NAN;
    w.result.timing.step_max_us = INFINITY;
    w.state.v[w.model->links[1].v_start] = -INFINITY;
    json_t *o = parse(perp_result_json(w.model, &w.state, &w.result, NULL));
    assert_true(json_is_null(at(o, "residual", "balance")));
    assert_true(json_is_real(at(o, "residual", "cone")));
    assert_true(json_is_null(at(o, "timing", "step_max_us")));
    json_t *v = at(at(o, "final", "v"), "cart", NULL);
    assert_int_equal(json_array_size(v), 6);
    assert_true(json_is_null(json_array_get(v, 0)) && json_is_real(json_array_get(v, 1)));
    json_decref(o);
    world_close(&w);
}

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

/* Contact (cart, sled), of the numbers that a file would show, and one event; both belong to the test. */
static perp_contact_record sample_record(bool planar)
{
    const double z = planar ? 0.0 : 1.0;
    return (perp_contact_record){
        .contact = {.a = 1,
                    .b = 2,
                    .shape_b = 3,
                    .feature_a = perp_feature(PERP_FEATURE_CORNER, 5),
                    .feature_b = perp_feature(PERP_FEATURE_EDGE, 6),
                    .phi = -1.0 / 3.0,
                    .normal = {0.6, 0.8, 0.0},
                    .t = {0.8, -0.6, -0.0},
                    .o = {0.0, 0.0, -z},
                    .point_a = {1.0, 2.0, 3.0 * z},
                    .point_b = {1.5, 3.0, 7.0 * z}},
        .mode = PERP_CONTACT_SLIDE,
        .fn = 2.0,
        .ft = {0.25, 0.125 * z},
        .force_on_b = {1.4, 1.45, -0.125 * z},
        .slip = {-0.0, 0.7 * z},
    };
}

/* The keys of the contract in its order; vectors of the plane have two components, and one tangent. */
static void test_contacts(void **state)
{
    (void)state;
    for (int planar = 0; planar < 2; planar++) {
        world w;
        world_open(&w, planar);
        const size_t n = planar ? 2 : 3, directions = planar ? 1 : 2;
        perp_contact_record records[3] = {sample_record(planar), sample_record(planar), sample_record(planar)};
        records[1].mode = PERP_CONTACT_LIMIT;
        records[1].contact.phi = -0.0;
        records[2].mode = PERP_CONTACT_STICK;
        perp_contact_event events[2] = {
            {.t = 0.1, .a = 1, .b = 2, .feature = "s0.c5-s3.e6", .from = PERP_CONTACT_OPEN, .to = PERP_CONTACT_STICK},
            {.t = 0.2, .a = 0, .b = 3, .feature = "s1.u0-s0.c0", .from = PERP_CONTACT_LIMIT, .to = PERP_CONTACT_OPEN}};
        perp_run_result result = w.result;
        result.contact_count = 3;
        result.contacts = records;
        result.event_count = 2;
        result.events = events;
        json_t *o = parse(perp_result_json(w.model, &w.state, &result, NULL));
        json_t *list = at(o, "contacts", NULL), *c = json_array_get(list, 0);
        assert_int_equal(json_array_size(list), 3);
        KEYS(c,
             "a b feature mode phi point normal tangents fn ft force_on_b slip margin layer_predicted layer_observed");
        assert_string_equal(json_string_value(at(c, "a", NULL)), "cart");
        assert_string_equal(json_string_value(at(c, "b", NULL)), "sled");
        assert_string_equal(json_string_value(at(c, "feature", NULL)), "s0.c5-s3.e6");
        assert_string_equal(json_string_value(at(c, "mode", NULL)), "slide");
        assert_true(json_real_value(at(c, "phi", NULL)) == -1.0 / 3.0);
        NUMBERS(at(c, "point", NULL), ((double[]){1.25, 2.5, 5.0}), n);
        NUMBERS(at(c, "normal", NULL), ((double[]){0.6, 0.8, 0.0}), n);
        assert_int_equal(json_array_size(at(c, "tangents", NULL)), directions);
        NUMBERS(json_array_get(at(c, "tangents", NULL), 0), ((double[]){0.8, -0.6, 0.0}), n);
        if (!planar) {
            NUMBERS(json_array_get(at(c, "tangents", NULL), 1), ((double[]){0.0, 0.0, -1.0}), n);
        }
        assert_true(json_real_value(at(c, "fn", NULL)) == 2.0);
        NUMBERS(at(c, "ft", NULL), ((double[]){0.25, 0.125}), directions);
        NUMBERS(at(c, "force_on_b", NULL), ((double[]){1.4, 1.45, -0.125}), n);
        NUMBERS(at(c, "slip", NULL), ((double[]){0.0, 0.7}), directions);
        assert_false(signbit(json_real_value(json_array_get(at(c, "slip", NULL), 0)))); /* zero has no sign */
        c = json_array_get(list, 1);
        assert_string_equal(json_string_value(at(c, "mode", NULL)), "limit");
        assert_false(signbit(json_real_value(at(c, "phi", NULL))));
        assert_string_equal(json_string_value(at(json_array_get(list, 2), "mode", NULL)), "stick");

        json_t *e = json_array_get(at(o, "events", NULL), 1);
        assert_int_equal(json_array_size(at(o, "events", NULL)), 2);
        KEYS(e, "t contact from to");
        assert_true(json_real_value(at(e, "t", NULL)) == 0.2);
        assert_string_equal(json_string_value(at(e, "contact", NULL)), "ground K\xc3\xb6rper\xe2\x82\xac s1.u0-s0.c0");
        assert_string_equal(json_string_value(at(e, "from", NULL)), "limit");
        assert_string_equal(json_string_value(at(e, "to", NULL)), "open");
        json_decref(o);
        world_close(&w);
    }
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static void test_error_object(void **state)
{
    (void)state;
    world w;
    world_open(&w, false);
    perp_error failure;
    perp_fail(&failure, PERP_STATUS_INFEASIBLE, "no \"way\" \xce\xbc \\ %d", 3);
    json_t *o = parse(perp_result_json(w.model, &w.state, &w.result, &failure));
    KEYS(
        o,
        "status model h steps read_in final contacts loops events residual fallbacks several timing hash error"); /* as
                                                                                                       far as it came */
    assert_string_equal(json_string_value(at(o, "status", NULL)), "error");
    KEYS(at(o, "error", NULL), "code message evidence");
    assert_string_equal(json_string_value(at(o, "error", "code")), "infeasible");
    assert_string_equal(json_string_value(at(o, "error", "message")), "no \"way\" \xce\xbc \\ 3");
    KEYS(at(o, "error", "evidence"), "");
    json_decref(o);

    strcpy(failure.path, "bodies.cup.mass");
    strcpy(failure.file, "s.yaml");
    failure.line = 3;
    failure.column = 14;
    failure.status = PERP_STATUS_BAD_INPUT;
    o = parse(perp_result_json(NULL, NULL, NULL, &failure)); /* the run never started */
    KEYS(o, "status error");
    json_t *evidence = at(o, "error", "evidence");
    KEYS(evidence, "file line column path");
    assert_string_equal(json_string_value(at(o, "error", "code")), "bad-input");
    assert_string_equal(json_string_value(at(evidence, "file", NULL)), "s.yaml");
    assert_int_equal(json_integer_value(at(evidence, "line", NULL)), 3);
    assert_int_equal(json_integer_value(at(evidence, "column", NULL)), 14);
    assert_string_equal(json_string_value(at(evidence, "path", NULL)), "bodies.cup.mass");
    json_decref(o);

    w.result.rung = NULL; /* the settings were refused: there is no rung to speak of */
    o = parse(perp_result_json(w.model, &w.state, &w.result, &failure));
    KEYS(o, "status error");
    json_decref(o);

    /* A message with anything in it comes out: perp_fail has made it printable. */
    perp_fail(&failure, PERP_STATUS_IO, "%s", "\xff\xc3\x1b[31m\n\xed\xa0\x80");
    o = parse(perp_result_json(NULL, NULL, NULL, &failure));
    assert_string_equal(json_string_value(at(o, "error", "message")), "???[31m????");
    json_decref(o);
    world_close(&w);
}

static void test_check(void **state)
{
    (void)state;
    world w;
    world_open(&w, false);
    static perp_diagnostics list;
    memset(&list, 0, sizeof list);
    json_t *o = parse(perp_check_json(w.model, &list));
    KEYS(o, "status errors warnings diagnostics bodies joints degrees_of_freedom trees read_in");
    assert_string_equal(json_string_value(at(o, "status", NULL)), "ok");
    assert_int_equal(json_integer_value(at(o, "bodies", NULL)), 8);
    assert_int_equal(json_integer_value(at(o, "joints", NULL)), 4);
    assert_int_equal(json_integer_value(at(o, "degrees_of_freedom", NULL)), w.model->nv);
    assert_int_equal(json_integer_value(at(o, "trees", NULL)), w.model->tree_count);
    assert_int_equal(json_array_size(at(o, "diagnostics", NULL)), 0);
    json_decref(o);

    perp_diagnostics_add(&list, PERP_SEVERITY_WARNING, "s.yaml", 1, 2, "name", "odd");
    for (int i = 0; i < 25; i++) {
        perp_diagnostics_add(&list, PERP_SEVERITY_ERROR, "s.yaml", 3, 4 + i, "run.h", "must be \"positive\"");
    }
    o = parse(perp_check_json(NULL, &list));
    KEYS(o, "status errors warnings diagnostics");
    assert_string_equal(json_string_value(at(o, "status", NULL)), "error");
    assert_int_equal(json_integer_value(at(o, "errors", NULL)), 25);
    assert_int_equal(json_integer_value(at(o, "warnings", NULL)), 1);
    assert_int_equal(json_array_size(at(o, "diagnostics", NULL)), 21);
    json_t *first = json_array_get(at(o, "diagnostics", NULL), 0),
           *second = json_array_get(at(o, "diagnostics", NULL), 1);
    KEYS(first, "severity file line column path message");
    assert_string_equal(json_string_value(at(first, "severity", NULL)), "warning");
    assert_string_equal(json_string_value(at(second, "severity", NULL)), "error");
    assert_string_equal(json_string_value(at(second, "file", NULL)), "s.yaml");
    assert_int_equal(json_integer_value(at(second, "line", NULL)), 3);
    assert_int_equal(json_integer_value(at(second, "column", NULL)), 4);
    assert_string_equal(json_string_value(at(second, "path", NULL)), "run.h");
    assert_string_equal(json_string_value(at(second, "message", NULL)), "must be \"positive\"");
    json_decref(o);
    world_close(&w);
    assert_true(strlen(perp_json_version()) >= 3);
    perp_text_free(NULL);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static failing_allocator jansson_memory = {.once = true};

/* A block behind a header: free() on it, where jansson's own release belongs (or the other way round), is noticed. */
static void *failing_malloc(size_t size)
{
    char *block = failing_allocate(&jansson_memory, size + 16);
    return block ? block + 16 : NULL;
}

static void counting_free(void *memory)
{
    if (memory) {
        failing_release(&jansson_memory, (char *)memory - 16);
    }
}

/* Each of jansson's requests fails in turn: NULL, and everything is given back. */
static void test_every_allocation_fails(void **state)
{
    (void)state;
    world w;
    world_open(&w, false);
    static perp_diagnostics list;
    memset(&list, 0, sizeof list);
    perp_diagnostics_add(&list, PERP_SEVERITY_WARNING, "s.yaml", 1, 2, "name", "odd");
    perp_diagnostics_add(&list, PERP_SEVERITY_ERROR, "s.yaml", 1, 2, "name", "wrong");
    perp_error failure;
    perp_fail(&failure, PERP_STATUS_IO, "no");
    strcpy(failure.file, "s.yaml");
    strcpy(failure.path, "name");
    perp_contact_record record = sample_record(false);
    perp_contact_event event = {.t = 0.1, .a = 1, .b = 2, .feature = "s0.c5-s3.e6", .to = PERP_CONTACT_STICK};
    perp_run_result result = w.result;
    result.contact_count = result.event_count = 1;
    result.contacts = &record;
    result.events = &event;
    json_malloc_t plain_malloc;
    json_free_t plain_free;
    json_get_alloc_funcs(&plain_malloc, &plain_free);
    json_set_alloc_funcs(failing_malloc, counting_free);
    int failures[3] = {0};
    bool sound = true;
    for (int which = 0; which < 3; which++) {
        for (jansson_memory.grants = 0;; jansson_memory.grants++) {
            jansson_memory.requests = 0;
            char *text = which == 0   ? perp_result_json(w.model, &w.state, &result, &failure)
                         : which == 1 ? perp_check_json(w.model, &list)
                                      : perp_check_json(NULL, &list);
            const bool failed = jansson_memory.requests > jansson_memory.grants;
            sound = sound && failed == (text == NULL);
            perp_text_free(text);
            sound = sound && jansson_memory.standing == 0;
            if (!failed || !sound) {
                break;
            }
            failures[which]++;
        }
    }
    json_set_alloc_funcs(plain_malloc, plain_free); /* before any assert can leave this function */
    assert_true(sound);
    assert_true(failures[0] > 140 && failures[1] > 20 && failures[2] > 20);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_spatial_state),
        cmocka_unit_test(test_planar_state),
        cmocka_unit_test(test_numbers_survive),
        cmocka_unit_test(test_not_a_number_is_null),
        cmocka_unit_test(test_contacts),
        cmocka_unit_test(test_error_object),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
