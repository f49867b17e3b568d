/* Running: the ladder, settings, the loop over steps, and the rungs `geometric` and `kinematic` against closed forms.
 */
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

#include "base/hash.h"
#include "failing_allocator.h"
#include "model/state.h"

#define EPS (0.5 * DBL_EPSILON)

static void check_near(double actual, double expected, double tolerance, const char *text, int line)
{
    if (!(fabs(actual - expected) <= tolerance)) {
        fail_msg("line %d: %s: %.17g, expected %.17g, differs by %g > %g", line, text, actual, expected,
                 actual - expected, tolerance);
    }
}
#define NEAR(actual, expected, tolerance) check_near((actual), (expected), (tolerance), #actual, __LINE__)

/* ---- a scene with something of everything that moves ------------------------------------------------------------- */

typedef struct world {
    perp_scene *scene;
    perp_model *model;
    perp_state state;
} world;

static perp_scene *new_scene(bool planar)
{
    perp_scene *scene;
    assert_int_equal(perp_scene_create(planar, NULL, &scene, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_scene_set_model(scene, "kinematic", NULL), PERP_STATUS_OK);
    return scene;
}

static void world_open(world *w, perp_scene *scene)
{
    static perp_diagnostics diagnostics;
    perp_error error;
    memset(&diagnostics, 0, sizeof diagnostics);
    w->scene = scene;
    if (perp_scene_validate(scene, &diagnostics) != PERP_STATUS_OK) {
        fail_msg("%s: %s", diagnostics.items[0].path, diagnostics.items[0].message);
    }
    if (perp_model_build(scene, NULL, &w->model, &error) != PERP_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(perp_state_create(w->model, NULL, &w->state, NULL), PERP_STATUS_OK);
}

static void world_close(world *w)
{
    perp_state_free(&w->state);
    perp_model_free(w->model);
    perp_scene_free(w->scene);
}

static void add_body(perp_scene *s, perp_body body)
{
    assert_int_equal(perp_scene_add_body(s, &body, NULL), PERP_STATUS_OK);
}

static void add_joint(perp_scene *s, perp_joint joint)
{
    assert_int_equal(perp_scene_add_joint(s, &joint, NULL), PERP_STATUS_OK);
}

static perp_body free_body(const perp_scene *s, const char *name)
{
    perp_body body = perp_body_default(name);
    body.mass = perp_set(1.0);
    body.inertia_count = s->planar ? 1 : 3;
    body.inertia[0] = body.inertia[1] = body.inertia[2] = 0.1;
    return body;
}

static const perp_sine wave = {0.3, 2.0, 0.5};

/* x(t) = 1 + 0.2 t + 0.3 sin(2 t + 0.5) */
static const perp_drive path = {.offset = 1.0, .rate = 0.2, .sine_count = 1, .sines = &wave};

static double path_value(double t)
{
    return 1.0 + 0.2 * t + 0.3 * sin(2.0 * t + 0.5);
}

static double path_rate(double t)
{
    return 0.2 + 0.6 * cos(2.0 * t + 0.5);
}

/* Bodies: hand (driven: x along the path, spinning about z at 1.5 rad/s), ball (free, moving), arm (joint `elbow`,
 * position), finger (joint `knuckle`, impedance), lid (joint `hinge`, passive). */
static perp_scene *busy_scene(bool planar)
{
    perp_scene *s = new_scene(planar);
    perp_body hand = perp_body_default("hand");
    hand.kind = PERP_BODY_DRIVEN;
    hand.driven_mask = PERP_COMPONENT_X | PERP_COMPONENT_RZ;
    hand.drives[0] = path;
    hand.drives[5] = (perp_drive){.offset = 0.25, .rate = 1.5};
    hand.pose.pose.position = perp_vec3_make(0, 2, 0);
    add_body(s, hand);
    perp_body ball = free_body(s, "ball");
    ball.pose.pose.position = perp_vec3_make(5, 6, 0);
    ball.velocity_set = true;
    ball.velocity.linear = perp_vec3_make(1, 2, 0);
    ball.velocity.angular = perp_vec3_make(0, 0, 3);
    if (!planar) {
        ball.pose.pose.rotation = perp_quat_from_rpy(0.1, 0.2, 0.3);
    }
    add_body(s, ball);
    static const char *const names[3][2] = {{"arm", "elbow"}, {"finger", "knuckle"}, {"lid", "hinge"}};
    for (int i = 0; i < 3; i++) {
        add_body(s, perp_body_default(names[i][0]));
        perp_joint joint = perp_joint_default(names[i][1], PERP_JOINT_REVOLUTE);
        joint.child = names[i][0];
        joint.parent = i == 1 ? "arm" : NULL;
        joint.axis_set = true;
        joint.axis = perp_vec3_make(0, 0, 1);
        joint.control = i == 0 ? PERP_CONTROL_POSITION : i == 1 ? PERP_CONTROL_IMPEDANCE : PERP_CONTROL_NONE;
        joint.stiffness = i == 1 ? 7.0 : 0.0;
        joint.command_set = i < 2;
        joint.command = i < 2 ? path : (perp_drive){0};
        joint.position_set = true;
        joint.position[0] = i < 2 ? path_value(0.0) : 0.7;
        joint.velocity_set = i == 2;
        joint.velocity[0] = i == 2 ? 4.0 : 0.0;
        add_joint(s, joint);
    }
    s->run.h = 0.05;
    s->run.steps_set = true;
    s->run.steps = 40;
    return s;
}

/* Coordinates of a body or of a joint's child in q and v. */
static const double *q_of(const world *w, const char *name, const perp_state *state)
{
    const int joint = perp_scene_find_joint(w->scene, name);
    const int body = joint >= 0 ? w->model->joint_body[joint] : perp_scene_find_body(w->scene, name);
    assert_true(body >= 0);
    return state->q + w->model->links[body].q_start;
}

static const double *v_of(const world *w, const char *name, const perp_state *state)
{
    const int joint = perp_scene_find_joint(w->scene, name);
    const int body = joint >= 0 ? w->model->joint_body[joint] : perp_scene_find_body(w->scene, name);
    assert_true(body >= 0);
    return state->v + w->model->links[body].v_start;
}

/* ---- the ladder -------------------------------------------------------------------------------------------------- */

static void test_registry(void **state)
{
    (void)state;
    assert_true(perp_rung_count() >= 2);
    assert_string_equal(perp_rung_at(0)->name, "geometric"); /* from the simplest on */
    assert_string_equal(perp_rung_at(1)->name, "kinematic");
    for (int i = 0; i < perp_rung_count(); i++) {
        const perp_rung *rung = perp_rung_at(i);
        assert_ptr_equal(perp_rung_find(rung->name), rung);
        assert_true(rung->summary && rung->summary[0]);
        assert_true(perp_rung_inertia_name(rung->inertia) && rung->contact && rung->friction && rung->source);
        const unsigned own = rung->own_cone == PERP_CONE_UNSET ? 0u : 1u << rung->own_cone;
        assert_int_equal(rung->takes & own, own); /* a rung takes its own cone */
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(rung->name, perp_rung_at(j)->name);
        }
    }
    assert_null(perp_rung_find("no-such-rung"));
    assert_null(perp_rung_find(""));
    assert_null(perp_rung_find("kinemati"));
    for (int chosen = 0; chosen < 2; chosen++) { /* one sentence, whoever named it */
        const perp_run_settings settings = {.model = "kinemati", .model_set = chosen, .h = 0.1};
        perp_error error;
        assert_int_equal(perp_run_check(&settings, &error), PERP_STATUS_BAD_INPUT);
        assert_string_equal(error.message, "there is no model `kinemati`; did you mean `kinematic`? (perp models)");
        assert_string_equal(error.path, "run.model");
    }
}

static void test_steps(void **state)
{
    (void)state;
    static const struct {
        double until, h;
        int steps;
    } cases[] = {{1.0, 0.01, 100}, {0.3, 0.1, 3},  {1.0, 0.3, 3}, {1.0, 0.4, 3},           {0.0, 0.1, 0},
                 {0.04, 0.1, 0},   {0.05, 0.1, 1}, {0.7, 0.1, 7}, {1e6, 1e-3, 1000000000}, {1.0, 0.0, 0}};
    perp_run_settings settings = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        settings.until = cases[i].until;
        settings.h = cases[i].h;
        assert_int_equal(perp_run_steps(&settings), cases[i].steps);
    }
    settings.steps_set = true; /* then `until` does not count */
    settings.steps = 17;
    settings.h = 0.1;
    assert_int_equal(perp_run_steps(&settings), 17);
}

/* ---- what an observer sees --------------------------------------------------------------------------------------- */

typedef struct watcher {
    const world *world;
    int calls, stop_at; /* -1: never */
    perp_prediction prediction;
    double h;
    perp_state last;
    perp_hash hash;
    double largest_loop;
} watcher;

static bool count_calls(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    watcher *w = context;
    assert_int_equal(step, w->calls);
    w->calls++;
    perp_state_hash(w->world->model, state, &w->hash);
    w->largest_loop = fmax(w->largest_loop, info->residuals.loop);
    return step != w->stop_at;
}

static watcher watch(const world *w)
{
    watcher r = {.world = w, .stop_at = -1, .hash = perp_hash_begin()};
    return r;
}

/* ---- kinematic --------------------------------------------------------------------------------------------------- */

/* exact: step k ends at x(t_k), its velocity is (x(t_k) - x(t_{k-1})) / h.
 * taylor: it ends at x(t_{k-1}) + h x'(t_{k-1}), its velocity is x'(t_{k-1}).
 * Values are a few roundings of numbers below 4; a velocity divides those by h. */
static bool check_step(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    watcher *c = context;
    const world *w = c->world;
    const bool exact = c->prediction == PERP_PREDICTION_EXACT;
    const double h = c->h, t = step * h, before = (step - 1) * h;
    const double x_end = step == 0 || exact ? path_value(t) : path_value(before) + h * path_rate(before);
    const double rate = step == 0 ? path_rate(0.0)
                        : exact   ? (path_value(t) - path_value(before)) / h
                                  : path_rate(before);
    const double value_tolerance = 20 * EPS * 4, rate_tolerance = value_tolerance / h;
    assert_true(state->t == step * h); /* no drift */
    const double *q = q_of(w, "hand", state), *v = v_of(w, "hand", state);
    NEAR(q[0], x_end, value_tolerance);
    NEAR(v[0], rate, rate_tolerance);
    NEAR(q[1], 2.0, 0.0); /* not driven: stays at the pose */
    NEAR(v[1], 0.0, 0.0);
    if (w->scene->planar) {
        NEAR(q[2], 0.25 + 1.5 * t, value_tolerance);
        NEAR(v[2], 1.5, rate_tolerance);
    } else { /* uniform spin: both predictions are on it, and its velocity is the spin itself */
        const double sign = q[3] * cos(0.5 * (0.25 + 1.5 * t)) < 0.0 ? -1.0 : 1.0;
        NEAR(sign * q[3], cos(0.5 * (0.25 + 1.5 * t)), value_tolerance);
        NEAR(sign * q[6], sin(0.5 * (0.25 + 1.5 * t)), value_tolerance);
        NEAR(q[4], 0.0, 0.0);
        NEAR(v[5], 1.5, rate_tolerance);
        NEAR(v[3], 0.0, 0.0);
    }
    /* Joints take their commands exactly, whatever the prediction; impedance is taken as position. */
    const double joint_rate = step == 0 ? path_rate(0.0) : (path_value(t) - path_value(before)) / h;
    NEAR(q_of(w, "elbow", state)[0], path_value(t), value_tolerance);
    NEAR(v_of(w, "elbow", state)[0], joint_rate, rate_tolerance);
    NEAR(q_of(w, "knuckle", state)[0], path_value(t), value_tolerance);
    NEAR(v_of(w, "knuckle", state)[0], joint_rate, rate_tolerance);
    NEAR(q_of(w, "hinge", state)[0], 0.7, 0.0); /* passive: stays, and so has no velocity */
    NEAR(v_of(w, "hinge", state)[0], step == 0 ? 4.0 : 0.0, 0.0);
    NEAR(q_of(w, "ball", state)[0], 5.0, 0.0);
    NEAR(q_of(w, "ball", state)[1], 6.0, 0.0);
    for (int i = 0; step > 0 && i < (w->scene->planar ? 3 : 6); i++) {
        NEAR(v_of(w, "ball", state)[i], 0.0, 0.0);
    }
    NEAR(info->residuals.loop, 0.0, 0.0);
    c->calls++;
    return true;
}

static void test_kinematic(void **state)
{
    (void)state;
    for (int planar = 0; planar < 2; planar++) {
        for (int taylor = 0; taylor < 2; taylor++) {
            world w;
            world_open(&w, busy_scene(planar));
            perp_run_settings settings = w.scene->run;
            settings.prediction = taylor ? PERP_PREDICTION_TAYLOR : PERP_PREDICTION_EXACT;
            watcher c = watch(&w);
            c.prediction = settings.prediction;
            c.h = settings.h;
            perp_run_result result;
            perp_error error;
            assert_int_equal(perp_run(w.model, &settings, NULL, check_step, &c, &w.state, &result, &error),
                             PERP_STATUS_OK);
            assert_int_equal(c.calls, 41);
            assert_int_equal(result.steps, 40);
            assert_true(result.h == 0.05);
            assert_string_equal(result.rung->name, "kinematic");
            assert_true(w.state.t == 40 * 0.05); /* the state ends at the last one reached */
            assert_true(result.timing.step_median_us <= result.timing.step_max_us);
            assert_true(result.timing.step_mean_us <= result.timing.step_max_us);
            assert_true(result.timing.step_mean_us > 0.0);
            perp_run_result_free(&result);
            world_close(&w);
        }
    }
}

/* All three angles driven: no closed form for the velocity, but the manifold says what it must be: the step's velocity
 * takes the rotation from one state to the next, R_k = exp(h w_k) R_{k-1}, and R_k = Rz Ry Rx of the drives. */
static bool check_tumbling(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    (void)info;
    watcher *c = context;
    const double t = step * c->h, before = t - c->h;
    const double *q = state->q, *v = state->v, *old = c->last.q;
    if (step > 0) {
        const perp_vec3 turn = {c->h * v[3], c->h * v[4], c->h * v[5]};
        const bool exact = c->prediction == PERP_PREDICTION_EXACT;
        /* taylor ends at x(t) + h x'(t) in each angle, wherever the last step ended */
        const perp_quat from = {old[3], old[4], old[5], old[6]};
        const perp_quat expected =
            exact ? perp_quat_mul(perp_quat_exp(turn), from)
                  : perp_quat_from_rpy(path_value(before) + c->h * path_rate(before), 0.4 * t, -0.7 * t);
        const double sign = expected.w * q[3] + expected.x * q[4] + expected.y * q[5] + expected.z * q[6] < 0 ? -1 : 1;
        NEAR(sign * q[3], expected.w, 40 * EPS);
        NEAR(sign * q[4], expected.x, 40 * EPS);
        NEAR(sign * q[5], expected.y, 40 * EPS);
        NEAR(sign * q[6], expected.z, 40 * EPS);
        const perp_quat at = perp_quat_from_rpy(path_value(t), 0.4 * t, -0.7 * t);
        const double along = fabs(at.w * q[3] + at.x * q[4] + at.y * q[5] + at.z * q[6]);
        if (exact) {
            NEAR(along, 1.0, 40 * EPS);
        } else { /* off by half of the second derivative (below 3) times h^2: 1 - cos of half that angle */
            assert_true(along > cos(0.5 * 3.0 * c->h * c->h));
            /* The velocity is x'(t): w = yaw' e_z + pitch' Rz e_y + roll' Rz Ry e_x. */
            const double yaw = -0.7 * before, pitch = 0.4 * before, roll_rate = path_rate(before);
            NEAR(v[3], -0.4 * sin(yaw) + roll_rate * cos(yaw) * cos(pitch), 40 * EPS);
            NEAR(v[4], 0.4 * cos(yaw) + roll_rate * sin(yaw) * cos(pitch), 40 * EPS);
            NEAR(v[5], -0.7 - roll_rate * sin(pitch), 40 * EPS);
        }
    }
    perp_state_copy(c->world->model, &c->last, state);
    c->calls++;
    return true;
}

static void test_tumbling_body(void **state)
{
    (void)state;
    for (int taylor = 0; taylor < 2; taylor++) {
        perp_scene *s = new_scene(false);
        perp_body hand = perp_body_default("hand");
        hand.kind = PERP_BODY_DRIVEN;
        hand.driven_mask = PERP_COMPONENT_RX | PERP_COMPONENT_RY | PERP_COMPONENT_RZ;
        hand.drives[3] = path;
        hand.drives[4] = (perp_drive){.rate = 0.4};
        hand.drives[5] = (perp_drive){.rate = -0.7};
        add_body(s, hand);
        s->run.h = 0.02;
        s->run.until = 3.0;
        s->run.prediction = taylor ? PERP_PREDICTION_TAYLOR : PERP_PREDICTION_EXACT;
        world w;
        world_open(&w, s);
        watcher c = watch(&w);
        c.prediction = s->run.prediction;
        c.h = 0.02;
        assert_int_equal(perp_state_create(w.model, NULL, &c.last, NULL), PERP_STATUS_OK);
        perp_run_result result;
        assert_int_equal(perp_run(w.model, &s->run, NULL, check_tumbling, &c, &w.state, &result, NULL), PERP_STATUS_OK);
        assert_int_equal(c.calls, 151);
        perp_state_free(&c.last);
        perp_run_result_free(&result);
        world_close(&w);
    }
}

/* A body that turns more than once in a step has that velocity, not the one of the shortest way. */
static void test_whole_turns(void **state)
{
    (void)state;
    for (int planar = 0; planar < 2; planar++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            perp_scene *s = new_scene(planar);
            perp_body wheel = perp_body_default("wheel");
            wheel.kind = PERP_BODY_DRIVEN;
            wheel.driven_mask = PERP_COMPONENT_RZ;
            wheel.drives[5] = (perp_drive){.rate = sign * 200.0};
            add_body(s, wheel);
            s->run.h = 0.1; /* 20 rad, three turns and a bit */
            s->run.until = 1.0;
            world w;
            world_open(&w, s);
            perp_run_result result;
            assert_int_equal(perp_run(w.model, &s->run, NULL, NULL, NULL, &w.state, &result, NULL), PERP_STATUS_OK);
            /* angles of 200 rad are known to 200 EPS, and are divided by h */
            NEAR(w.state.v[planar ? 2 : 5], sign * 200.0, 10 * 200 * EPS / 0.1);
            perp_run_result_free(&result);
            world_close(&w);
        }
    }
}

/* Times are t0 + k h to the bit, not a running sum: after 1000 steps of 0.1 a sum is 1.4e-12 off. */
static bool check_time(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    (void)info;
    const double *start = context;
    assert_true(state->t == *start + step * 0.1);
    return true;
}

static void test_no_drift(void **state)
{
    (void)state;
    world w;
    world_open(&w, busy_scene(false));
    w.scene->run.h = 0.1;
    w.scene->run.steps = 1000;
    double start = 0.0;
    perp_run_result result;
    assert_int_equal(perp_run(w.model, &w.scene->run, NULL, check_time, &start, &w.state, &result, NULL),
                     PERP_STATUS_OK);
    perp_run_result_free(&result);
    assert_true(w.state.t == 100.0);
    NEAR(q_of(&w, "elbow", &w.state)[0], path_value(100.0),
         100 * EPS * 200); /* sin(200) knows its argument to 200 EPS */
    start = w.state.t;     /* a run may go on from where another ended */
    w.scene->run.steps = 10;
    assert_int_equal(perp_run(w.model, &w.scene->run, NULL, check_time, &start, &w.state, &result, NULL),
                     PERP_STATUS_OK);
    assert_true(w.state.t == 101.0);
    perp_run_result_free(&result);
    world_close(&w);
}

/* A command that leaves the numbers: the physics says no, the state stays at the last step that was taken. */
static void test_command_not_finite(void **state)
{
    (void)state;
    for (int taylor = 0; taylor < 2; taylor++) {
        perp_scene *s = new_scene(false);
        perp_body hand = perp_body_default("hand");
        hand.kind = PERP_BODY_DRIVEN;
        hand.driven_mask = PERP_COMPONENT_X;
        hand.drives[0] = (perp_drive){.rate = 0.0};
        add_body(s, hand);
        s->run.h = 1.0;
        s->run.until = 10.0;
        s->run.prediction = taylor ? PERP_PREDICTION_TAYLOR : PERP_PREDICTION_EXACT;
        world w;
        world_open(&w, s);
        s->bodies[0].drives[0].rate = 0.4 * DBL_MAX; /* infinite from t = 2.5 on; validation would have refused it */
        perp_run_result result;
        perp_error error;
        assert_int_equal(perp_run(w.model, &s->run, NULL, NULL, NULL, &w.state, &result, &error),
                         PERP_STATUS_INFEASIBLE);
        assert_int_equal(error.status, PERP_STATUS_INFEASIBLE);
        assert_non_null(strstr(error.message, "t = 3"));
        assert_int_equal(result.steps, 2);
        assert_true(w.state.t == 2.0 && w.state.q[0] == 0.8 * DBL_MAX);
        perp_run_result_free(&result);
        world_close(&w);
    }
}

/* ---- loops ------------------------------------------------------------------------------------------------------- */

/* A driven body swings 0.25 sin(2 t) away from a point of the world and, welded, turns by 0.5 sin(2 t): nothing passive
 * can close the loop, and the first step that opens it is refused, with the gap that it would have had. A turn counts
 * times the reach of the loop, which is the anchor's 1 m. */
static void test_loop_opening(void **state)
{
    (void)state;
    for (int weld = 0; weld < 2; weld++) {
        perp_scene *s = new_scene(false);
        perp_body hand = perp_body_default("hand");
        hand.kind = PERP_BODY_DRIVEN;
        hand.driven_mask = PERP_COMPONENT_X | (weld ? (unsigned)PERP_COMPONENT_RZ : 0u);
        hand.drives[0] = (perp_drive){.offset = 1.0, .sine_count = 1, .sines = &(perp_sine){0.25, 2.0, 0.0}};
        hand.drives[5] = (perp_drive){.sine_count = 1, .sines = &(perp_sine){0.5, 2.0, 0.0}};
        add_body(s, hand);
        const perp_loop loop = {.name = "grip",
                                .kind = weld ? PERP_LOOP_WELD : PERP_LOOP_POINT,
                                .a = "world",
                                .b = "hand",
                                .anchor_a = {1, 0, 0}};
        assert_int_equal(perp_scene_add_loop(s, &loop, NULL), PERP_STATUS_OK);
        s->run.h = 0.1;
        s->run.until = 3.1;
        world w;
        world_open(&w, s);
        watcher c = watch(&w);
        perp_run_result result;
        perp_error error = {0};
        assert_int_equal(perp_run(w.model, &s->run, NULL, count_calls, &c, &w.state, &result, &error),
                         PERP_STATUS_INFEASIBLE);
        assert_string_equal(error.code, "infeasible-command");
        assert_string_equal(error.evidence.loop, "grip");
        NEAR(error.evidence.gap, hypot(0.25, weld ? 0.5 : 0.0) * sin(0.2), 1e-12);
        assert_int_equal(result.steps, 0);
        assert_true(w.state.t == 0.0 && w.state.q[0] == 1.0);
        perp_run_result_free(&result);
        world_close(&w);
    }
}

/* ---- geometric --------------------------------------------------------------------------------------------------- */

static void test_geometric_takes_no_step(void **state)
{
    (void)state;
    world w;
    world_open(&w, busy_scene(false));
    w.scene->run.model = "geometric";
    w.scene->run.h = 0.0; /* ignored, as the steps are */
    perp_state before;
    assert_int_equal(perp_state_create(w.model, NULL, &before, NULL), PERP_STATUS_OK);
    watcher c = watch(&w);
    perp_run_result result;
    assert_int_equal(perp_run(w.model, &w.scene->run, NULL, count_calls, &c, &w.state, &result, NULL), PERP_STATUS_OK);
    assert_int_equal(c.calls, 1);
    assert_int_equal(result.steps, 0);
    assert_true(w.state.t == 0.0);
    assert_memory_equal(w.state.q, before.q, (size_t)w.model->nq * sizeof(double));
    assert_memory_equal(w.state.v, before.v, (size_t)w.model->nv * sizeof(double));
    assert_true(result.hash.value == c.hash.value);
    assert_true(result.timing.step_max_us == 0.0);
    perp_state_free(&before);
    perp_run_result_free(&result);
    world_close(&w);
}

/* ---- settings that do not fit ------------------------------------------------------------------------------------ */

static void set_nothing(perp_run_settings *s)
{
    (void)s;
}
static void set_model(perp_run_settings *s)
{
    s->model = "no-such-rung";
}
static void set_quadratic(perp_run_settings *s)
{
    s->cone = PERP_CONE_QUADRATIC;
}
static void set_rays(perp_run_settings *s)
{
    s->cone = PERP_CONE_RAYS;
}
static void set_box(perp_run_settings *s)
{
    s->cone = PERP_CONE_BOX;
}
static void set_smoothing(perp_run_settings *s)
{
    s->smoothing = 1e-300;
}
static void set_time_scale(perp_run_settings *s)
{
    s->time_scale = nextafter(1.0, 2.0);
}
static void set_h(perp_run_settings *s)
{
    s->h = 0.0;
}

static void test_settings_that_do_not_fit(void **state)
{
    (void)state;
    static const struct {
        void (*set)(perp_run_settings *settings);
        const char *path;
    } cases[] = {{set_model, "run.model"},
                 {set_quadratic, "run.cone"},
                 {set_rays, "run.cone"},
                 {set_box, "run.cone"},
                 {set_smoothing, "run.smoothing"},
                 {set_time_scale, "run.time_scale"},
                 {set_h, "run.h"},
                 {set_nothing, NULL}};
    world w;
    world_open(&w, busy_scene(true));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        perp_run_settings settings = w.scene->run;
        settings.steps = 1;
        cases[i].set(&settings);
        watcher c = watch(&w);
        perp_run_result result;
        perp_error error;
        memset(&error, 0, sizeof error);
        const perp_status status = perp_run(w.model, &settings, NULL, count_calls, &c, &w.state, &result, &error);
        if (cases[i].path) {
            assert_int_equal(status, PERP_STATUS_BAD_INPUT);
            assert_int_equal(error.status, PERP_STATUS_BAD_INPUT);
            assert_string_equal(error.path, cases[i].path);
            assert_non_null(strstr(error.message, settings.model)); /* names the rung */
            assert_int_equal(c.calls, 0);                           /* nobody saw a state */
            assert_int_equal(result.steps, 0);
            assert_true(w.state.t == 0.0);
            assert_int_equal(perp_run(w.model, &settings, NULL, NULL, NULL, &w.state, &result, NULL),
                             PERP_STATUS_BAD_INPUT); /* the error is optional */
            perp_error same;
            assert_int_equal(perp_run_check(&settings, &same), PERP_STATUS_BAD_INPUT); /* known beforehand */
            assert_string_equal(same.path, error.path);
            assert_string_equal(same.message, error.message);
        } else {
            assert_int_equal(status, PERP_STATUS_OK);
            assert_int_equal(perp_run_check(&settings, NULL), PERP_STATUS_OK);
        }
        perp_run_result_free(&result);
    }
    world_close(&w);
}

/* ---- cancelling -------------------------------------------------------------------------------------------------- */

static void test_cancel(void **state)
{
    (void)state;
    for (int stop_at = 0; stop_at < 3; stop_at++) {
        world w;
        world_open(&w, busy_scene(false));
        watcher c = watch(&w);
        c.stop_at = stop_at;
        perp_run_result result;
        perp_error error;
        assert_int_equal(perp_run(w.model, &w.scene->run, NULL, count_calls, &c, &w.state, &result, &error),
                         PERP_STATUS_CANCELLED);
        assert_int_equal(error.status, PERP_STATUS_CANCELLED);
        assert_non_null(strstr(error.message, "stopped"));
        assert_int_equal(c.calls, stop_at + 1);
        assert_int_equal(result.steps, stop_at); /* filled as far as the run came */
        assert_true(w.state.t == stop_at * 0.05);
        assert_true(result.hash.value == c.hash.value);
        perp_run_result_free(&result);
        world_close(&w);
    }
}

/* ---- hashes ------------------------------------------------------------------------------------------------------ */

static perp_hash hash_of_run(void (*change)(perp_scene *scene), perp_observer *observer)
{
    world w;
    perp_scene *scene = busy_scene(false);
    if (change) {
        change(scene);
    }
    world_open(&w, scene);
    watcher c = watch(&w);
    perp_run_result result;
    assert_int_equal(perp_run(w.model, &w.scene->run, NULL, observer, &c, &w.state, &result, NULL), PERP_STATUS_OK);
    if (observer) {
        assert_true(result.hash.value == c.hash.value); /* of every state from the initial one on */
    }
    perp_run_result_free(&result);
    world_close(&w);
    return result.hash;
}

static void change_h(perp_scene *s)
{
    s->run.h = nextafter(s->run.h, 1.0);
}
static void change_steps(perp_scene *s)
{
    s->run.steps--;
}
static void change_prediction(perp_scene *s)
{
    s->run.prediction = PERP_PREDICTION_TAYLOR;
}
static void change_passive(perp_scene *s)
{
    s->bodies[1].pose.pose.position.x = nextafter(5.0, 6.0); /* one bit, and nothing ever moves it */
}
static void change_command(perp_scene *s)
{
    s->joints[0].command.rate = nextafter(0.2, 1.0);
}
static void change_name(perp_scene *s)
{
    s->name = "another name"; /* states only: names are nothing to the hash */
}

static void test_hash(void **state)
{
    (void)state;
    static void (*const changes[])(perp_scene *) = {change_h, change_steps, change_prediction, change_passive,
                                                    change_command};
    const perp_hash hash = hash_of_run(NULL, count_calls);
    assert_true(hash_of_run(NULL, count_calls).value == hash.value);
    assert_true(hash_of_run(NULL, NULL).value == hash.value); /* whoever watches */
    assert_true(hash_of_run(change_name, NULL).value == hash.value);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        assert_true(hash_of_run(changes[i], NULL).value != hash.value);
    }
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Asked by the observer after the first step: no request since. */
typedef struct steady {
    const failing_allocator *memory;
    int after_first;
} steady;

static bool check_steady(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    (void)state;
    (void)info;
    steady *s = context;
    if (step <= 1) {
        s->after_first = s->memory->requests;
    }
    assert_int_equal(s->memory->requests, s->after_first); /* a step in steady state allocates nothing */
    return true;
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    world w;
    world_open(&w, busy_scene(false));
    int failures = 0;
    for (int fail_at = 0;; fail_at++) {
        failing_allocator f = {.grants = fail_at, .once = true};
        const perp_allocator allocator = allocator_of(&f);
        steady s = {&f, 0};
        perp_run_result result;
        perp_error error;
        memset(&error, 0, sizeof error);
        const perp_status status =
            perp_run(w.model, &w.scene->run, &allocator, check_steady, &s, &w.state, &result, &error);
        perp_run_result_free(&result);
        assert_int_equal(f.standing, 0);
        if (status == PERP_STATUS_OK) {
            assert_true(f.requests <= fail_at);
            assert_int_equal(result.steps, 40);
            break;
        }
        failures++;
        assert_int_equal(status, PERP_STATUS_OUT_OF_MEMORY);
        assert_int_equal(error.status, PERP_STATUS_OUT_OF_MEMORY);
        assert_non_null(strstr(error.message, "memory"));
        assert_int_equal(result.steps, 0);
        assert_true(w.state.t == 0.0);
    }
    assert_true(failures >= 2);
    world_close(&w);
}

/* A state of the caller's own that is not finite is refused at the door, with the place. */
static void test_state_not_finite(void **state)
{
    (void)state;
    static const char *const models[] = {"geometric", "kinematic", "qs-lcp",    "quasidynamic",
                                         "dyn-ncp",   "dyn-lcp",   "compliant", "instant"};
    static const struct {
        const char *name;
        bool position;
        int number;
        double value;
        const char *words;
    } cases[] = {{"ball", true, 1, NAN, "q of body `ball`, number 1, is nan"},
                 {"ball", false, 5, -INFINITY, "v of body `ball`, number 5, is -inf"},
                 {"hinge", true, 0, NAN, "q of joint `hinge`, number 0, is nan"},
                 {"hinge", false, 0, INFINITY, "v of joint `hinge`, number 0, is inf"}};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            world w;
            perp_run_result result;
            perp_error error;
            world_open(&w, busy_scene(false));
            double *numbers = (double *)(cases[i].position ? q_of : v_of)(&w, cases[i].name, &w.state);
            numbers[cases[i].number] = cases[i].value;
            perp_run_settings settings = w.scene->run;
            settings.model = models[m];
            assert_int_equal(perp_run(w.model, &settings, NULL, NULL, NULL, &w.state, &result, &error),
                             PERP_STATUS_BAD_INPUT);
            if (!strstr(error.message, cases[i].words)) {
                fail_msg("%s: %s", models[m], error.message);
            }
            perp_run_result_free(&result);
            world_close(&w);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_state_not_finite),
        cmocka_unit_test(test_registry),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_kinematic),
        cmocka_unit_test(test_tumbling_body),
        cmocka_unit_test(test_whole_turns),
        cmocka_unit_test(test_no_drift),
        cmocka_unit_test(test_command_not_finite),
        cmocka_unit_test(test_loop_opening),
        cmocka_unit_test(test_geometric_takes_no_step),
        cmocka_unit_test(test_settings_that_do_not_fit),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
