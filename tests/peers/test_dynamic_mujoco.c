/* Dynamic rungs against closed forms and against MuJoCo in small steps: a ball, a box and a capsule on inclines, a ball
 * that bounces, a box that is thrown, a ladder.
 *
 * MuJoCo's contacts are springs, made as stiff and its steps as small as they go here (2e-5 s, spring time 4e-5 s):
 * rigid contact is their limit, as little elastic as it goes (damping ratio 10). Ours take 1 ms and err by O(h), its
 * contacts by what their springs give way: bounds stand with each case. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <perp/scene_yaml.h>
#include <perp/sim.h>
#include <perp/step.h>

#include "mujoco_peer.h"

static const double G = 9.81, PEER_STEP = 2e-5;
static const char *const RUNGS[] = {"dyn-lcp", "dyn-ncp", "dyn-qp"};
enum { RUNG_COUNT = 3 };

typedef struct world {
    perp_scene *scene;
    perp_model *model;
    perp_state state;
} world;

static void open_world(world *w, const char *text)
{
    static perp_diagnostics diagnostics;
    memset(&diagnostics, 0, sizeof diagnostics);
    if (perp_scene_load_text(text, strlen(text), "scene", ".", NULL, &w->scene, &diagnostics) != PERP_STATUS_OK) {
        fail_msg("%s", diagnostics.items[0].message);
    }
    assert_int_equal(perp_model_build(w->scene, NULL, &w->model, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_state_create(w->model, NULL, &w->state, NULL), PERP_STATUS_OK);
}

static void close_world(world *w)
{
    perp_state_free(&w->state);
    perp_model_free(w->model);
    perp_scene_free(w->scene);
}

/* The last state of the only free body: q (7) and v (6). */
typedef struct outcome {
    double q[7], v[6];
    double top; /* the largest height of its origin after it first rose */
} outcome;

static bool watch_top(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    outcome *o = context;
    (void)info;
    if (step > 0 && state->v[2] > 0.0) {
        o->top = fmax(o->top, state->q[2]);
    }
    return true;
}

static outcome run_ours(const char *text, const char *rung, double h, double until)
{
    world w;
    outcome o = {.top = -INFINITY};
    perp_run_result result = {0};
    perp_error error = {0};
    open_world(&w, text);
    perp_run_settings settings = w.scene->run;
    settings.model = rung;
    settings.h = h;
    settings.steps_set = true;
    settings.steps = (int)lround(until / h);
    if (perp_run(w.model, &settings, NULL, watch_top, &o, &w.state, &result, &error) != PERP_STATUS_OK) {
        fail_msg("%s: %s", rung, error.message);
    }
    assert_int_equal(w.model->nq, 7);
    memcpy(o.q, w.state.q, sizeof o.q);
    memcpy(o.v, w.state.v, sizeof o.v);
    perp_run_result_free(&result);
    close_world(&w);
    return o;
}

/* solref as MuJoCo documents it: (time constant, damping ratio), or (-stiffness, -damping). */
static void make_hard(mujoco_peer *peer, const perp_scene *scene, const double solref[2])
{
    mjModel *m = peer->m;
    assert_true(mujoco_peer_make_room(peer, 200, 0.0));
    m->opt.timestep = PEER_STEP;
    m->opt.cone = mjCONE_ELLIPTIC;
    m->opt.solver = mjSOL_NEWTON;
    m->opt.tolerance = 1e-14;
    m->opt.iterations = 200;
    m->opt.impratio = 100.0; /* friction creeps less */
    for (int i = 0; i < m->ngeom; i++) {
        m->geom_friction[3 * i] = scene->friction;
        m->geom_solref[mjNREF * i] = solref[0];
        m->geom_solref[mjNREF * i + 1] = solref[1];
        m->geom_solimp[mjNIMP * i] = 0.9999;
        m->geom_solimp[mjNIMP * i + 1] = 0.9999;
    }
}

static outcome run_mujoco(const char *text, double until, const double solref[2])
{
    static const double stiff[2] = {4e-5, 10.0};
    world w;
    mujoco_peer peer;
    char message[256];
    outcome o = {.top = -INFINITY};
    open_world(&w, text);
    if (!mujoco_peer_open_with_shapes(&peer, w.model, message, sizeof message)) {
        fail_msg("%s", message);
    }
    make_hard(&peer, w.scene, solref ? solref : stiff);
    mujoco_peer_set(&peer, w.state.q, w.state.v);
    for (long i = 0, count = lround(until / PEER_STEP); i < count; i++) {
        mj_step(peer.m, peer.d);
        o.top = peer.d->qvel[2] > 0.0 ? fmax(o.top, peer.d->qpos[2]) : o.top;
    }
    memcpy(o.q, peer.d->qpos, sizeof o.q);
    memcpy(o.v, peer.d->qvel, sizeof o.v);
    const perp_mat3 rotation = perp_quat_to_mat3((perp_quat){o.q[3], o.q[4], o.q[5], o.q[6]});
    const perp_vec3 turning = perp_mat3_mul_vec(&rotation, perp_vec3_make(o.v[3], o.v[4], o.v[5]));
    o.v[3] = turning.x;
    o.v[4] = turning.y;
    o.v[5] = turning.z;
    mujoco_peer_close(&peer);
    close_world(&w);
    return o;
}

/* MuJoCo's own would write a file. */
static void ignore_warning(const char *message)
{
    (void)message;
}

static void near(const char *what, const char *who, double found, double expected, double bound)
{
    if (!(fabs(found - expected) <= bound)) {
        fail_msg("%s, %s: %.9g, expected %.9g to %.2g", what, who, found, expected, bound);
    }
}

/* ---- inclines ---------------------------------------------------------------------------------------------------- */

typedef struct incline {
    const char *name, *shape; /* mass 1 kg */
    double degrees, mu, radius;
    double inertia; /* about the axis it would roll about, over m r^2; 0: it cannot roll */
    double height;  /* of its centre over the plane */
} incline;

static double speed_up(const incline *c)
{
    const double a = c->degrees * acos(-1.0) / 180.0, slides = G * (sin(a) - c->mu * cos(a));
    const double rolls = c->inertia > 0.0 ? G * sin(a) / (1.0 + c->inertia) : 0.0;
    return fmax(fmax(slides, rolls), 0.0); /* rolling is what friction makes of it as long as it can */
}

/* A capsule of radius 0.05 and length 0.2 along y: cylinder m_c r^2 / 2, caps together a ball, 2/5 m_b r^2. */
static double capsule_inertia(void)
{
    const double r = 0.05, cylinder = r * r * 0.2, ball = 4.0 / 3.0 * r * r * r;
    return (0.5 * cylinder + 0.4 * ball) / (cylinder + ball);
}

/* On all rungs v after half a second from rest; dyn-qp climbs a layer of mu h v first, worth mu^2 h a of speed. */
static void test_inclines(void **unused)
{
    (void)unused;
    const incline cases[] = {
        {"ball rolls", "sphere: 0.1", 20.0, 0.5, 0.1, 0.4, 0.1},
        {"ball slips", "sphere: 0.1", 40.0, 0.1, 0.1, 0.4, 0.1},
        {"box slides", "box: [0.2, 0.2, 0.1]", 30.0, 0.3, 0.0, 0.0, 0.05},
        {"box sticks", "box: [0.2, 0.2, 0.1]", 30.0, 0.7, 0.0, 0.0, 0.05},
        {"capsule rolls", "capsule: {radius: 0.05, length: 0.2}, pose: {rpy: [1.5707963267948966, 0, 0]}", 25.0, 0.6,
         0.05, capsule_inertia(), 0.05},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const incline *c = &cases[i];
        const double a = c->degrees * acos(-1.0) / 180.0, v = 0.5 * speed_up(c);
        char text[700];
        snprintf(text, sizeof text,
                 "perp: 1\ngravity: [%.17g, 0, %.17g]\nbodies:\n"
                 "  incline: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                 "  body: {mass: 1, pose: {position: [0, 0, %.17g]}, shapes: [{%s}]}\n"
                 "contacts: {friction: %.17g}\n",
                 G * sin(a), -G * cos(a), c->height, c->shape, c->mu);
        for (int k = 0; k < RUNG_COUNT; k++) {
            const double layer = strcmp(RUNGS[k], "dyn-qp") == 0 ? 2.0 * c->mu * c->mu * 1e-3 * speed_up(c) : 0.0;
            const outcome ours = run_ours(text, RUNGS[k], 1e-3, 0.5);
            near(c->name, RUNGS[k], ours.v[0], v, 1e-9 + layer);
            near(c->name, RUNGS[k], ours.q[0], 0.25 * (1.0 + 2e-3) * speed_up(c) * 0.5, 1e-9 + layer);
            if (c->inertia > 0.0 && c->mu > 0.2) {
                near(c->name, RUNGS[k], ours.v[4], v / c->radius, 1e-7);
            }
        }
        /* half a per cent is seen where things slide: a bound for a soft model, not a derived one */
        near(c->name, "MuJoCo", run_mujoco(text, 0.5, NULL).v[0], v, 0.01 * fmax(v, 0.5));
    }
}

/* ---- a bouncing ball --------------------------------------------------------------------------------------------- */

/* The damping ratio of a spring that does not pull, with which a body leaves it at e times its speed. */
static double damping_ratio(double e)
{
    double low = 0.0, high = 0.999;
    for (int i = 0; i < 60; i++) {
        const double z = 0.5 * (low + high), s = sqrt(1.0 - z * z);
        *(exp(-2.0 * z / s * atan(s / z)) > e ? &low : &high) = z;
    }
    return low;
}

static void test_bounce(void **unused)
{
    (void)unused;
    const double heights = 0.5, stiffness = 1e8;
    for (int i = 0; i < 3; i++) {
        const double e = 0.3 + 0.3 * i, damping = 2.0 * damping_ratio(e) * sqrt(stiffness);
        const double top = 0.05 + e * e * heights, until = (1.0 + 1.5 * e) * sqrt(2.0 * heights / G);
        char text[500];
        snprintf(text, sizeof text,
                 "perp: 1\nbodies:\n  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                 "  ball: {mass: 0.3, pose: {position: [0, 0, %.17g]}, shapes: [{sphere: 0.05}]}\n"
                 "contacts: {friction: 0.2, pairs: {\"floor ball\": {restitution: %.17g}}}\n",
                 0.05 + heights, e);
        for (int k = 0; k < RUNG_COUNT; k++) {
            /* begins up to v h too high, and rises from there with e times the speed of that height */
            near("bounce", RUNGS[k], run_ours(text, RUNGS[k], 1e-4, until).top, top, 2e-4 * sqrt(2.0 * G * heights));
        }
        const double solref[2] = {-stiffness * 0.9999 * 0.9999, -damping * 0.9999};
        near("bounce", "MuJoCo", run_mujoco(text, until, solref).top, top, 0.02 * e * e * heights);
    }
}

/* ---- a box that is thrown ---------------------------------------------------------------------------------------- */

static const char *const TOSS =
    "perp: 1\nbodies:\n  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
    "  box:\n    mass: 1\n    pose: {position: [0, 0, 0.5], rpy: [0, 0.5, 0]}\n"
    "    velocity: {linear: [2, 0, 0.5], angular: [0, -2, 0]}\n    shapes: [{box: [0.3, 0.2, 0.1]}]\n"
    "contacts: {friction: 0.15}\n";

static const char *const TUMBLE =
    "perp: 1\nbodies:\n  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
    "  box:\n    mass: 1\n    pose: {position: [0, 0, 0.5], rpy: [0.4, 0.5, 0.2]}\n"
    "    velocity: {linear: [0.4, 0.1, 2], angular: [6, -9, 4]}\n    shapes: [{box: [0.3, 0.2, 0.1]}]\n"
    "contacts: {friction: 0.4}\n";

/* In flight, tumbling about all axes: both integrate Euler's equations, ours to O(h) in a step of 1 ms. */
static void test_toss_flight(void **unused)
{
    (void)unused;
    const outcome peer = run_mujoco(TUMBLE, 0.3, NULL);
    for (int k = 0; k < RUNG_COUNT; k++) {
        double worst[2] = {0.0, 0.0};
        for (int half = 0; half < 2; half++) {
            const outcome ours = run_ours(TUMBLE, RUNGS[k], half ? 5e-4 : 1e-3, 0.3);
            double same = 0.0;
            for (int i = 3; i < 7; i++) {
                same += ours.q[i] * peer.q[i];
            }
            worst[half] = 2.0 * sqrt(2.0 * fmax(0.0, 1.0 - fabs(same))); /* rad, to a few per cent */
            near("toss, height", RUNGS[k], ours.q[2], 0.5 + 2.0 * 0.3 - 0.5 * G * 0.09, 1.6e-3);
        }
        if (!(worst[0] < 0.02 && worst[1] < 0.6 * worst[0] + 1e-4)) {
            fail_msg("%s: turned by %.3g and %.3g rad more or less than MuJoCo", RUNGS[k], worst[0], worst[1]);
        }
    }
}

/* TOSS by hand: of the plane box that turns about y, the height of the lowest edge at time t, and the arm to it. */
static double lowest_edge(double t, double arm[2])
{
    const double pitch = 0.5 - 2.0 * t, z = 0.5 + 0.5 * t - 0.5 * G * t * t;
    double low = INFINITY;
    for (int i = 0; i < 4; i++) {
        const double x = i & 1 ? 0.15 : -0.15, up = i & 2 ? 0.05 : -0.05;
        const double across = cos(pitch) * x + sin(pitch) * up, along = -sin(pitch) * x + cos(pitch) * up;
        if (along < low) {
            low = along;
            arm[0] = across;
            arm[1] = along;
        }
    }
    return z + low;
}

/* vx, vz and the turning rate at `until`, after an impact without restitution in which the edge slides on throughout.
 */
static void toss_closed_form(double until, double mu, double out[3])
{
    double low = 0.0, high = 0.5, arm[2] = {0.0, 0.0};
    for (int i = 0; i < 60; i++) {
        const double t = 0.5 * (low + high);
        *(lowest_edge(t, arm) > 0.0 ? &low : &high) = t;
    }
    const double inertia = (0.09 + 0.01) / 12.0, vz = 0.5 - G * low, closing = vz + 2.0 * arm[0];
    const double yields = 1.0 + arm[0] * (mu * arm[1] + arm[0]) / inertia, impulse = -closing / yields;
    out[0] = 2.0 - mu * impulse;
    out[1] = vz + impulse - G * (until - low);
    out[2] = -2.0 - (mu * arm[1] + arm[0]) * impulse / inertia;
    assert_true(impulse > 0.0 && 2.0 - 2.0 * arm[1] > 0.0 && out[0] + out[2] * arm[1] > 0.0); /* it does slide on */
}

/* The lower edge strikes the floor and slides on: friction is mu times the normal impulse throughout, so that impulses
 * in one step and forces over many give the same. MuJoCo's bounds are from what is seen, 5 % of what the blow changes:
 * the more damping its contacts have the less. */
static void test_toss_lands(void **unused)
{
    (void)unused;
    static const char *const names[3] = {"toss, vx", "toss, vz", "toss, turning"};
    static const double peer_bounds[3] = {0.02, 0.06, 0.8};
    const outcome peer = run_mujoco(TOSS, 0.36, NULL);
    double exact[3];
    toss_closed_form(0.36, 0.15, exact);
    for (int i = 0; i < 3; i++) {
        const int k = 2 * i; /* of v */
        near(names[i], "MuJoCo", peer.v[k], exact[i], peer_bounds[i]);
        for (int r = 0; r < 2; r++) { /* the convex rung makes what slides part: not this law */
            near(names[i], RUNGS[r], run_ours(TOSS, RUNGS[r], 1e-4, 0.36).v[k], exact[i], i == 2 ? 0.02 : 1e-3);
        }
    }
}

/* At last it lies on a face, at rest. */
static void test_toss_rests(void **unused)
{
    (void)unused;
    const outcome peer = run_mujoco(TUMBLE, 2.0, NULL);
    for (int k = 0; k < RUNG_COUNT; k++) {
        const outcome ours = run_ours(TUMBLE, RUNGS[k], 1e-3, 2.0);
        for (int i = 0; i < 6; i++) {
            near("toss, at rest", RUNGS[k], ours.v[i], 0.0, 1e-8);
            near("toss, at rest", "MuJoCo", peer.v[i], 0.0, 1e-3);
        }
        const double height = ours.q[2];
        assert_true(fabs(height - 0.05) < 1e-8 || fabs(height - 0.1) < 1e-8 || fabs(height - 0.15) < 1e-8);
        near("toss, rests", "MuJoCo", peer.q[2], height, 1e-4);
    }
}

/* ---- a ladder ---------------------------------------------------------------------------------------------------- */

/* Smooth floor and wall, 2 m between the centres of its round ends, from 70 degrees: energy gives the turning rate at
 * an angle, w^2 = 3 g (sin a0 - sin a) / L with a thin rod's inertia. */
static void test_ladder(void **unused)
{
    (void)unused;
    static const char *const text =
        "perp: 1\nbodies:\n"
        "  house: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}, {plane: {normal: [1, 0, 0], offset: "
        "0}}]}\n"
        "  ladder:\n    mass: 10\n    inertia: [3.3333333333333335, 3.3333333333333335, 0.002]\n"
        "    pose: {position: [0.36202014332566882, 0, 0.95969262078590843], rpy: [0, -0.3490658503988659, 0]}\n"
        "    shapes: [{capsule: {radius: 0.02, length: 2}}]\n"
        "contacts: {friction: 0}\n";
    const double start = sin(70.0 * acos(-1.0) / 180.0);
    const outcome peer = run_mujoco(text, 0.55, NULL);
    for (int k = 0; k < RUNG_COUNT; k++) {
        const outcome ours = run_ours(text, RUNGS[k], 1e-4, 0.55); /* leaves the wall at 0.6 s */
        const double low = ours.q[2] - 0.02;                       /* half of L sin a */
        near("ladder, energy", RUNGS[k], fabs(ours.v[4]), sqrt(1.5 * G * (start - low)), 2e-3);
        near("ladder, height", RUNGS[k], ours.q[2], peer.q[2], 5e-4);
        near("ladder, turning", RUNGS[k], ours.v[4], peer.v[4], 5e-3);
    }
    near("ladder, energy", "MuJoCo", fabs(peer.v[4]), sqrt(1.5 * G * (start - (peer.q[2] - 0.02))), 2e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inclines),   cmocka_unit_test(test_bounce),     cmocka_unit_test(test_toss_flight),
        cmocka_unit_test(test_toss_lands), cmocka_unit_test(test_toss_rests), cmocka_unit_test(test_ladder),
    };
    mju_user_warning = ignore_warning;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
