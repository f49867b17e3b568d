/* Contacts of a run: what the record of a state holds, penetration over a run, events, memory.
 *
 * Lengths and speeds here are sums of few powers of two wherever `==` stands, so that every result is exact. */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <perp/sim.h>
#include <perp/step.h>

#include "failing_allocator.h"
#include "sim/contact_log.h"

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

typedef struct world {
    perp_scene *scene;
    perp_model *model;
    perp_state state;
} world;

static perp_scene *new_scene(bool planar, const char *rung)
{
    perp_scene *scene;
    assert_int_equal(perp_scene_create(planar, NULL, &scene, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_scene_set_model(scene, rung, NULL), PERP_STATUS_OK);
    scene->run.h = 0.125;
    scene->run.steps_set = true;
    scene->run.steps = 8;
    return scene;
}

static void world_open(world *w, perp_scene *scene)
{
    static perp_diagnostics diagnostics;
    memset(&diagnostics, 0, sizeof diagnostics);
    w->scene = scene;
    if (perp_scene_validate(scene, &diagnostics) != PERP_STATUS_OK) {
        fail_msg("%s: %s", diagnostics.items[0].path, diagnostics.items[0].message);
    }
    assert_int_equal(perp_model_build(scene, NULL, &w->model, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_state_create(w->model, NULL, &w->state, NULL), PERP_STATUS_OK);
}

static void world_close(world *w)
{
    perp_state_free(&w->state);
    perp_model_free(w->model);
    perp_scene_free(w->scene);
}

static void add_shaped(perp_scene *s, perp_body body, perp_shape shape)
{
    shape.pose = perp_placement_default();
    body.shapes = &shape;
    body.shape_count = 1;
    assert_int_equal(perp_scene_add_body(s, &body, NULL), PERP_STATUS_OK);
}

/* Solid below z = 0 (planar: y = 0). */
static void add_table(perp_scene *s)
{
    perp_body table = perp_body_default("table");
    table.kind = PERP_BODY_FIXED;
    add_shaped(s, table,
               (perp_shape){.kind = s->planar ? PERP_SHAPE_HALFPLANE : PERP_SHAPE_PLANE,
                            .normal = {0, s->planar ? 1 : 0, s->planar ? 0 : 1}});
}

static perp_shape box_of(const perp_scene *s, double x, double y, double z)
{
    return (perp_shape){.kind = PERP_SHAPE_BOX, .size = {x, y, s->planar ? 0.0 : z}};
}

static perp_body free_body(const char *name, perp_vec3 position)
{
    perp_body body = perp_body_default(name);
    body.mass = perp_set(1.0);
    body.pose_set = true;
    body.pose.pose.position = position;
    return body;
}

/* Driven along axis 0, 1 or 2. */
static perp_body driven_body(const char *name, perp_vec3 position, int axis, perp_drive drive)
{
    perp_body body = perp_body_default(name);
    body.kind = PERP_BODY_DRIVEN;
    body.driven_mask = 1u << axis;
    body.drives[axis] = drive;
    body.pose_set = true;
    body.pose.pose.position = position;
    return body;
}

/* ---- what a record says ------------------------------------------------------------------------------------------ */

enum { KEPT = 8 };

typedef struct watcher {
    int calls, stop_at;      /* -1: never */
    int counts[32];          /* contacts by step */
    double penetrations[32]; /* by step */
    perp_contact_record last[KEPT];
} watcher;

static bool keep(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    (void)state;
    watcher *w = context;
    assert_true(step == w->calls && step < 32 && info->contact_count <= KEPT);
    w->counts[step] = info->contact_count;
    w->penetrations[step] = info->residuals.penetration;
    w->calls++;
    for (int i = 0; i < info->contact_count; i++) {
        w->last[i] = info->contacts[i];
    }
    return step != w->stop_at;
}

static perp_status run(world *w, const perp_allocator *allocator, watcher *watch, perp_run_result *result)
{
    memset(watch, 0, sizeof *watch);
    watch->stop_at = -1;
    return perp_run(w->model, &w->scene->run, allocator, keep, watch, &w->state, result, NULL);
}

static void check_same(perp_vec3 a, perp_vec3 b)
{
    assert_true(a.x == b.x && a.y == b.y && a.z == b.z);
}

/* No rung of this file has a contact law. */
static void check_open(const perp_contact_record *r)
{
    assert_int_equal(r->mode, PERP_CONTACT_OPEN);
    assert_true(r->fn == 0.0 && r->ft[0] == 0.0 && r->ft[1] == 0.0);
    check_same(r->force_on_b, perp_vec3_make(0, 0, 0));
}

/* A moving, turning brick of 2 x 4 x 8 stands 1/64 m above a table, in either order of bodies. The normal points from
 * the first to the second; t = e_x; o = n x t; slip is the second's velocity relative to the first's. */
static void test_brick_on_table(void **state)
{
    (void)state;
    for (int table_first = 0; table_first < 2; table_first++) {
        perp_scene *s = new_scene(false, "geometric");
        perp_body brick = free_body("brick", perp_vec3_make(16, 32, 4.0 + 1.0 / 64));
        brick.velocity_set = true;
        brick.velocity.linear = perp_vec3_make(0.5, -0.25, 0.125);
        brick.velocity.angular = perp_vec3_make(0, 0, 2);
        if (table_first) {
            add_table(s);
        }
        add_shaped(s, brick, box_of(s, 2, 4, 8));
        if (!table_first) {
            add_table(s);
        }
        world w;
        world_open(&w, s);
        watcher c;
        perp_run_result result;
        assert_int_equal(run(&w, NULL, &c, &result), PERP_STATUS_OK);
        assert_int_equal(c.calls, 1);
        assert_int_equal(c.counts[0], 4);
        assert_int_equal(result.contact_count, 4);
        assert_int_equal(result.event_count, 0);
        assert_true(result.residuals.penetration == 0.0);
        const double sign = table_first ? 1.0 : -1.0;
        unsigned corners = 0;
        for (int i = 0; i < 4; i++) {
            const perp_contact_record *r = &result.contacts[i];
            const perp_contact *k = &r->contact;
            assert_memory_equal(r, &c.last[i], sizeof *r); /* the observer saw the same */
            check_open(r);
            assert_true(k->a == 0 && k->b == 1 && k->phi == 1.0 / 64);
            check_same(k->normal, perp_vec3_make(0, 0, sign));
            check_same(k->t, perp_vec3_make(1, 0, 0));
            check_same(k->o, perp_vec3_make(0, sign, 0));
            const perp_vec3 p = perp_contact_midpoint(k);
            const double x = p.x - 16, y = p.y - 32;
            assert_true(fabs(x) == 1.0 && fabs(y) == 2.0 && p.z == 1.0 / 128);
            assert_true(r->slip[0] == sign * (0.5 - 2.0 * y));
            assert_true(r->slip[1] == -0.25 + 2.0 * x); /* o turns with n, and so does the sign of the velocity */
            corners |= 1u << ((x > 0) + 2 * (y > 0));
        }
        assert_int_equal(corners, 15u);
        perp_run_result_free(&result);
        assert_null(result.contacts);
        perp_run_result_free(&result); /* harmless */
        world_close(&w);
    }
}

static void test_planar_brick(void **state)
{
    (void)state;
    perp_scene *s = new_scene(true, "geometric");
    perp_body brick = free_body("brick", perp_vec3_make(16, 2.0 + 1.0 / 64, 0));
    brick.velocity_set = true;
    brick.velocity.linear = perp_vec3_make(0.5, 0.125, 0);
    brick.velocity.angular = perp_vec3_make(0, 0, 2);
    add_table(s);
    add_shaped(s, brick, box_of(s, 2, 4, 0));
    world w;
    world_open(&w, s);
    watcher c;
    perp_run_result result;
    assert_int_equal(run(&w, NULL, &c, &result), PERP_STATUS_OK);
    assert_int_equal(result.contact_count, 2);
    double sum = 0.0;
    for (int i = 0; i < 2; i++) {
        const perp_contact_record *r = &result.contacts[i];
        check_open(r);
        assert_true(r->contact.phi == 1.0 / 64);
        check_same(r->contact.normal, perp_vec3_make(0, 1, 0));
        check_same(r->contact.t, perp_vec3_make(1, 0, 0)); /* (n_y, -n_x) */
        check_same(r->contact.o, perp_vec3_make(0, 0, 0));
        const perp_vec3 p = perp_contact_midpoint(&r->contact);
        assert_true(fabs(p.x - 16) == 1.0 && p.y == 1.0 / 128 && p.z == 0.0);
        /* v_x - omega (y of the corner below the origin): 0.5 + 2 * 2 at both corners */
        assert_true(r->slip[0] == 4.5 && r->slip[1] == 0.0);
        sum += p.x;
    }
    assert_true(sum == 32.0); /* both corners */
    perp_run_result_free(&result);
    world_close(&w);
}

/* ---- penetration ------------------------------------------------------------------------------------------------- */

/* A pusher goes into a block and out again, x = -1 + 2 t until t = 0.5 and back: faces at x + 0.5 and 0.25. It is
 * deepest, 0.25 m, at the end of step 4, and away at the end of the run. */
static perp_scene *pusher_scene(const char *rung)
{
    static const double times[] = {0, 0.5, 1}, values[] = {-1, 0, -1};
    perp_scene *s = new_scene(false, rung);
    const perp_drive path = {.knot_count = 3, .times = times, .values = values};
    add_shaped(s, driven_body("pusher", perp_vec3_make(0, 0, 0), 0, path), box_of(s, 1, 1, 1));
    add_shaped(s, free_body("block", perp_vec3_make(0.75, 0, 0)), box_of(s, 1, 2, 2));
    s->margin = 0.375;
    return s;
}

static void test_penetration(void **state)
{
    (void)state;
    world w;
    world_open(&w, pusher_scene("kinematic"));
    watcher c;
    perp_run_result result;
    assert_int_equal(run(&w, NULL, &c, &result), PERP_STATUS_OK);
    /* gaps at the ends of the steps: 0.75 0.5 0.25 0 -0.25 0 0.25 0.5 0.75; within the margin: steps 2 to 6 */
    static const double gaps[] = {0.75, 0.5, 0.25, 0, -0.25, 0, 0.25, 0.5, 0.75};
    assert_int_equal(c.calls, 9);
    for (int k = 0; k < 9; k++) {
        assert_int_equal(c.counts[k], gaps[k] <= 0.375 ? 4 : 0);
        assert_true(fabs(c.penetrations[k] - fmax(0.0, -gaps[k])) <= 1e-9);
    }
    assert_true(fabs(result.residuals.penetration - 0.25) <= 1e-9); /* the largest, not the last */
    assert_int_equal(result.contact_count, 0);                      /* the last */
    perp_run_result_free(&result);

    c.stop_at = 4;
    perp_state_free(&w.state);
    assert_int_equal(perp_state_create(w.model, NULL, &w.state, NULL), PERP_STATUS_OK);
    c.calls = 0;
    assert_int_equal(perp_run(w.model, &w.scene->run, NULL, keep, &c, &w.state, &result, NULL), PERP_STATUS_CANCELLED);
    assert_int_equal(result.contact_count, 4); /* as far as the run came */
    for (int i = 0; i < 4; i++) {
        const perp_contact *k = &result.contacts[i].contact;
        assert_true(fabs(k->phi + 0.25) <= 1e-9 && k->a == 0 && k->b == 1);
        assert_true(fabs(k->normal.x - 1.0) <= 1e-9);
        check_open(&result.contacts[i]); /* this rung enforces nothing */
    }
    perp_run_result_free(&result);
    world_close(&w);
}

/* The start counts only where no step is taken: on a rung that takes none, or in a run of none. */
static void test_penetration_at_the_start(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        static const struct {
            const char *rung;
            int steps;
            double penetration;
        } cases[] = {{"geometric", 8, 0.5}, {"kinematic", 0, 0.5}, {"kinematic", 1, 0.25}};
        perp_scene *s = new_scene(false, cases[i].rung);
        s->run.steps = cases[i].steps;
        add_table(s);
        add_shaped(s, driven_body("lift", perp_vec3_make(0, 0, 0), 2, (perp_drive){.offset = 0.5, .rate = 2.0}),
                   box_of(s, 2, 2, 2));
        world w;
        world_open(&w, s);
        watcher c;
        perp_run_result result;
        assert_int_equal(run(&w, NULL, &c, &result), PERP_STATUS_OK);
        assert_int_equal(result.contact_count, 4);
        assert_true(c.penetrations[0] == 0.5);
        assert_true(result.residuals.penetration == cases[i].penetration);
        assert_true(result.contacts[0].contact.phi == -cases[i].penetration);
        perp_run_result_free(&result);
        world_close(&w);
    }
}

/* Contacts are looked at, not acted on: the hash is that of the states. */
static void test_hash_is_of_states(void **state)
{
    (void)state;
    perp_hash hash[2];
    for (int i = 0; i < 2; i++) {
        world w;
        world_open(&w, pusher_scene("kinematic"));
        w.scene->margin = i ? 0.0 : 0.5;
        watcher c;
        perp_run_result result;
        assert_int_equal(run(&w, NULL, &c, &result), PERP_STATUS_OK);
        assert_int_equal(c.counts[2], i ? 0 : 4); /* the margin did make a difference */
        hash[i] = result.hash;
        perp_run_result_free(&result);
        world_close(&w);
    }
    assert_true(hash[0].value == hash[1].value);
}

/* ---- no answer --------------------------------------------------------------------------------------------------- */

/* A cart at 0.4 t and a slide on it at 0.4 t, in units of the largest number: at t = 2 both coordinates are numbers,
 * but the slide's place is not. The physics says no; the file was not wrong. */
static void test_no_finite_place(void **state)
{
    (void)state;
    perp_scene *s = new_scene(false, "kinematic");
    add_table(s);
    add_shaped(s, driven_body("cart", perp_vec3_make(0, 0, 5), 0, (perp_drive){.rate = 1.0}), box_of(s, 1, 1, 1));
    add_shaped(s, perp_body_default("slide"), box_of(s, 1, 1, 1));
    perp_joint rail = perp_joint_default("rail", PERP_JOINT_PRISMATIC);
    rail.parent = "cart";
    rail.child = "slide";
    rail.axis_set = rail.command_set = true;
    rail.axis = perp_vec3_make(1, 0, 0);
    rail.control = PERP_CONTROL_POSITION;
    rail.command = (perp_drive){.rate = 1.0};
    assert_int_equal(perp_scene_add_joint(s, &rail, NULL), PERP_STATUS_OK);
    s->run.h = 1.0;
    world w;
    world_open(&w, s);
    s->bodies[1].drives[0].rate = s->joints[0].command.rate = 0.4 * DBL_MAX; /* validation would have refused them */
    perp_run_result result;
    perp_error error;
    assert_int_equal(perp_run(w.model, &s->run, NULL, NULL, NULL, &w.state, &result, &error), PERP_STATUS_INFEASIBLE);
    assert_int_equal(error.status, PERP_STATUS_INFEASIBLE);
    assert_non_null(strstr(error.message, "contacts at t = 2 s: "));
    assert_non_null(strstr(error.message, "slide"));
    assert_int_equal(result.steps, 2);
    assert_int_equal(result.contact_count, 0);
    perp_run_result_free(&result);
    world_close(&w);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static perp_contact_record point(int a, int b, int feature, perp_contact_mode mode)
{
    return (perp_contact_record){.contact = {.a = a, .b = b, .feature_a = perp_feature(PERP_FEATURE_CORNER, feature)},
                                 .mode = mode};
}

/* Two lists of contacts by hand: (0, 1) has a point that stays as it is, one that changes and one that goes, in another
 * order than before; (0, 2) is new; (1, 2) is gone; what is open and comes or goes is no event. */
static void test_events(void **state)
{
    (void)state;
    const perp_contact_mode open = PERP_CONTACT_OPEN, stick = PERP_CONTACT_STICK, limit = PERP_CONTACT_LIMIT,
                            slide = PERP_CONTACT_SLIDE;
    perp_contact_record before[] = {point(0, 1, 0, stick), point(0, 1, 1, stick), point(0, 1, 2, limit),
                                    point(0, 1, 3, open),  point(1, 2, 0, slide), point(1, 2, 1, open)};
    perp_contact_record now[] = {point(0, 1, 1, slide), point(0, 1, 0, stick), point(0, 1, 4, open),
                                 point(0, 2, 0, limit), point(0, 2, 1, open)};
    const struct {
        int a, b;
        const char *feature;
        perp_contact_mode from, to;
    } expected[] = {{0, 1, "s0.c1-s0.c0", stick, slide},
                    {0, 1, "s0.c2-s0.c0", limit, open},
                    {0, 2, "s0.c0-s0.c0", open, limit},
                    {1, 2, "s0.c0-s0.c0", slide, open}};
    for (int refusal = 0; refusal < 2; refusal++) {
        failing_allocator f = {.grants = refusal ? 0 : INT_MAX};
        contact_log log = {
            .allocator = allocator_of(&f), .count = 5, .records = now, .count_before = 6, .before = before};
        perp_error error;
        const perp_status status = perp_contact_log_compare(&log, 0.5, &error);
        if (refusal) {
            assert_int_equal(status, PERP_STATUS_OUT_OF_MEMORY);
            assert_int_equal(error.status, PERP_STATUS_OUT_OF_MEMORY);
            continue;
        }
        assert_int_equal(status, PERP_STATUS_OK);
        assert_int_equal(log.event_count, 4);
        for (int i = 0; i < 4; i++) {
            const perp_contact_event *e = &log.events[i];
            assert_true(e->t == 0.5 && e->a == expected[i].a && e->b == expected[i].b);
            assert_string_equal(e->feature, expected[i].feature);
            assert_int_equal(e->from, expected[i].from);
            assert_int_equal(e->to, expected[i].to);
        }
        const int requests = f.requests;
        for (int k = 0; k < 100; k++) { /* and on, over many steps, each with its own */
            assert_int_equal(perp_contact_log_compare(&log, 1.0 + k, &error), PERP_STATUS_OK);
            assert_int_equal(log.event_count, 4);
            assert_true(log.events[3].t == 1.0 + k);
        }
        assert_int_equal(f.requests, requests);
        log.records = log.before = NULL;
        perp_contact_log_close(&log);
        assert_int_equal(f.standing, 0);
    }
}

/* What a rung wrote into the records of one state is what those of the next are compared with. */
static void test_events_between_states(void **state)
{
    (void)state;
    perp_scene *s = new_scene(false, "kinematic");
    add_table(s);
    add_shaped(s, free_body("brick", perp_vec3_make(0, 0, 4)), box_of(s, 2, 4, 8));
    world w;
    world_open(&w, s);
    perp_kinematics *kinematics;
    contact_log log;
    assert_int_equal(perp_kinematics_create(w.model, NULL, &kinematics, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_contact_log_open(&log, w.model, INT_MAX, NULL, NULL), PERP_STATUS_OK);
    perp_kinematics_update(w.model, w.state.q, kinematics);
    for (int k = 0; k < 4; k++) { /* corner k sticks in state k, and no other */
        assert_int_equal(perp_contact_log_record(&log, kinematics, w.state.v, NULL), PERP_STATUS_OK);
        assert_int_equal(log.count, 4);
        log.records[k].mode = PERP_CONTACT_STICK;
        assert_int_equal(perp_contact_log_compare(&log, k, NULL), PERP_STATUS_OK);
        /* one at first, then two a state: a corner lets go before the next one sticks */
        assert_int_equal(log.event_count, k == 0 ? 1 : 2);
        for (int i = 0; i < log.event_count; i++) {
            const bool sticks = i == log.event_count - 1;
            char feature[64];
            perp_contact_feature_text(&log.records[sticks ? k : k - 1].contact, feature, sizeof feature);
            assert_string_equal(log.events[i].feature, feature);
            assert_true(log.events[i].t == k);
            assert_int_equal(log.events[i].to, sticks ? PERP_CONTACT_STICK : PERP_CONTACT_OPEN);
            assert_int_equal(log.events[i].from, sticks ? PERP_CONTACT_OPEN : PERP_CONTACT_STICK);
        }
    }
    perp_contact_log_close(&log);
    perp_kinematics_free(kinematics);
    world_close(&w);
}

/* Records of a step and the contacts that it ended at: what both have keeps its force and gets the new gap, what
 * carries force and has gone gets the gap of its shapes, what has gone without force is dropped, what is new is open.
 */
static void test_merge(void **state)
{
    (void)state;
    perp_scene *s = new_scene(false, "kinematic");
    add_table(s);
    add_shaped(s, free_body("brick", perp_vec3_make(0, 0, 4)), box_of(s, 2, 4, 8));
    world w;
    world_open(&w, s);
    perp_kinematics *kinematics;
    contact_log log;
    assert_int_equal(perp_kinematics_create(w.model, NULL, &kinematics, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_contact_log_open(&log, w.model, INT_MAX, NULL, NULL), PERP_STATUS_OK);
    perp_kinematics_update(w.model, w.state.q, kinematics);
    assert_int_equal(perp_contact_log_record(&log, kinematics, w.state.v, NULL), PERP_STATUS_OK);
    assert_int_equal(log.count, 4);
    perp_contact_record step[4];
    memcpy(step, log.records, sizeof step);
    const int first = step[0].contact.feature_b;
    for (int i = 0; i < 4; i++) {
        step[i].contact.phi = 7.0; /* of the begin: to be replaced */
        step[i].fn = i + 1.0;
        step[i].mode = i < 2 ? PERP_CONTACT_STICK : PERP_CONTACT_OPEN;
    }
    step[1].contact.feature_b = 77; /* gone, with force */
    step[2].contact.feature_b = 78; /* gone, without */
    assert_int_equal(perp_contact_log_merge(&log, step, 4, NULL), PERP_STATUS_OK);
    assert_int_equal(log.count, 5); /* two that both have, one that has gone, two new ones */
    assert_true(log.records[0].contact.feature_b == first && log.records[0].fn == 1.0 && log.match[0] == 0);
    assert_true(log.records[1].contact.feature_b == 77 && log.records[1].fn == 2.0 && log.match[1] == -1);
    assert_true(log.records[2].fn == 4.0 && log.match[2] == 3);
    assert_true(log.records[3].fn == 0.0 && log.match[3] == 1);
    assert_true(log.records[4].fn == 0.0 && log.match[4] == 2);
    for (int i = 0; i < 5; i++) {
        assert_true(fabs(log.records[i].contact.phi) < 1e-12); /* the brick stands on the table */
    }
    perp_contact_log_close(&log);
    perp_kinematics_free(kinematics);
    world_close(&w);
}

static void test_mode_names(void **state)
{
    (void)state;
    assert_string_equal(perp_contact_mode_name(PERP_CONTACT_OPEN), "open");
    assert_string_equal(perp_contact_mode_name(PERP_CONTACT_STICK), "stick");
    assert_string_equal(perp_contact_mode_name(PERP_CONTACT_LIMIT), "limit");
    assert_string_equal(perp_contact_mode_name(PERP_CONTACT_SLIDE), "slide");
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Nothing touches at the start; then 12 cubes come down together: the memory for contacts is taken in mid-run, once. */
static perp_scene *descent_scene(void)
{
    static const char *const names[] = {"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "c10", "c11"};
    perp_scene *s = new_scene(false, "kinematic");
    add_table(s);
    for (int i = 0; i < 12; i++) {
        add_shaped(s,
                   driven_body(names[i], perp_vec3_make(4.0 * i, 0, 0), 2, (perp_drive){.offset = 1.5, .rate = -0.5}),
                   box_of(s, 2, 2, 2));
    }
    s->margin = 0.28125; /* reached at the end of step 4, where the gap is 0.25 */
    s->run.steps = 20;
    return s;
}

typedef struct steady {
    const failing_allocator *memory;
    int touched_at, requests; /* the step with the first contacts, and the requests until its end */
} steady;

static bool check_steady(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    (void)state;
    steady *s = context;
    if (info->contact_count > 0 && s->touched_at == 0) {
        s->touched_at = step;
        s->requests = s->memory->requests;
        assert_int_equal(info->contact_count, 48);
    }
    if (s->touched_at > 0) {
        assert_int_equal(s->memory->requests, s->requests); /* a step in steady state allocates nothing */
    }
    return true;
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    world w;
    world_open(&w, descent_scene());
    int at_start = 0, in_mid_run = 0;
    for (int fail_at = 0;; fail_at++) {
        failing_allocator f = {.grants = fail_at, .once = true};
        const perp_allocator allocator = allocator_of(&f);
        steady s = {&f, 0, 0};
        perp_run_result result;
        perp_error error;
        memset(&error, 0, sizeof error);
        perp_state start;
        assert_int_equal(perp_state_create(w.model, NULL, &start, NULL), PERP_STATUS_OK);
        const perp_status status =
            perp_run(w.model, &w.scene->run, &allocator, check_steady, &s, &start, &result, &error);
        assert_true(start.t == 0.125 * result.steps); /* the state is the last one counted */
        const int steps = result.steps, contacts = result.contact_count;
        perp_run_result_free(&result);
        perp_state_free(&start);
        assert_int_equal(f.standing, 0);
        if (status == PERP_STATUS_OK) {
            assert_true(f.requests <= fail_at);
            assert_int_equal(steps, 20);
            assert_int_equal(contacts, 48);
            assert_int_equal(s.touched_at, 4);
            break;
        }
        assert_int_equal(status, PERP_STATUS_OUT_OF_MEMORY);
        assert_int_equal(error.status, PERP_STATUS_OUT_OF_MEMORY);
        assert_non_null(strstr(error.message, "memory"));
        assert_int_equal(contacts, 0);
        assert_true(steps == 0 || (steps == 4 && strstr(error.message, "t = 0.5 s")) || /* where they are first met */
                    (steps == 20 && strstr(error.message, "last state")));              /* as the result keeps them */
        at_start += steps == 0;
        in_mid_run += steps == 4;
    }
    assert_true(at_start >= 4 && in_mid_run >= 3);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brick_on_table),
        cmocka_unit_test(test_planar_brick),
        cmocka_unit_test(test_penetration),
        cmocka_unit_test(test_penetration_at_the_start),
        cmocka_unit_test(test_hash_is_of_states),
        cmocka_unit_test(test_no_finite_place),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_events_between_states),
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_mode_names),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
