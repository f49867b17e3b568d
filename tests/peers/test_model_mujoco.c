/* The model against MuJoCo: poses, centres of mass, velocities, Jacobians, mass matrix, bias and gravity of the same
 * scene at the same random states.
 *
 * Every comparison is relative to the largest entry of the array compared, to 1e-9. Rounding alone gives about 1e-14:
 * some tens of operations of 1e-16 per joint, up to ten joints deep, terms up to ten times their sum. A wrong term is
 * off by 1e-3 or more. So 1e-9, which the project promises, has room on both sides; the worst differences seen are
 * printed. That both sides start from the same inertia matrices, although MuJoCo keeps principal axes, is checked
 * first.
 */
#include "mujoco_peer.h"
#include "model_test.h"

#include <perp/scene_yaml.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PERP_SOURCE_DIR
#define PERP_SOURCE_DIR "."
#endif

#define TOLERANCE 1e-9

enum { MAX_MJ = 2 * MAX_N }; /* a screw has two dofs there, a particle six */

/* ---- comparing ------------------------------------------------------------------------------------------------ */

typedef enum quantity { INERTIA, POSE, COM, TWIST, JACOBIAN, MASS, BIAS, GRAVITY, QUANTITIES } quantity;
static const char *const quantity_names[QUANTITIES] = {"inertia",  "pose", "com",  "twist",
                                                       "Jacobian", "mass", "bias", "gravity"};
static double worst[QUANTITIES];

static double largest(const double *x, int count)
{
    double size = 0.0;
    for (int i = 0; i < count; i++) {
        size = fmax(size, fabs(x[i]));
    }
    return size;
}

/* `terms`: the size of what is summed, where the sum may vanish; counts for a thousandth. 0: the entries alone. */
static void agree(quantity what, const double *ours, const double *theirs, int count, double terms)
{
    const double size = fmax(largest(theirs, count), 1e-3 * terms);
    for (int i = 0; i < count; i++) {
        const double difference = fabs(ours[i] - theirs[i]);
        if (!(difference <= TOLERANCE * size)) {
            print_error("%s: entry %d of %d: ours %.17g, MuJoCo's %.17g, off by %.2g of %.2g\n", quantity_names[what],
                        i, count, ours[i], theirs[i], difference, size);
            fail();
        }
        if (size > 0.0) {
            worst[what] = fmax(worst[what], difference / size);
        }
    }
}

/* ---- one state ------------------------------------------------------------------------------------------------ */

static void put(perp_vec3 a, double *x)
{
    x[0] = a.x;
    x[1] = a.y;
    x[2] = a.z;
}

/* The constants that the model holds, with R diag(inertia) R' of MuJoCo's principal axes. */
static void compare_inertias(const test_world *w, const mujoco_peer *peer)
{
    for (int b = 0; b < w->model->body_count; b++) {
        const int mj = peer->body[b];
        const double *principal = peer->m->body_inertia + 3 * mj;
        double r[9], theirs[9];
        mju_quat2Mat(r, peer->m->body_iquat + 4 * mj);
        for (int i = 0; i < 9; i++) {
            const double *a = r + i / 3 * 3, *c = r + i % 3 * 3;
            theirs[i] = a[0] * principal[0] * c[0] + a[1] * principal[1] * c[1] + a[2] * principal[2] * c[2];
        }
        agree(INERTIA, w->model->links[b].inertia.m, theirs, 9, 0.0);
        agree(INERTIA, &w->model->links[b].mass, peer->m->body_mass + mj, 1, 0.0);
    }
}

/* Positions in one array and rotations in another: one scale for lengths, one for directions. */
static void compare_bodies(const test_world *w, const mujoco_peer *peer)
{
    const perp_kinematics *k = w->kinematics;
    const int n = w->model->body_count;
    double ours[6][3 * SPEC_BODIES * 2], theirs[6][3 * SPEC_BODIES * 2];
    assert_true(n <= 2 * SPEC_BODIES);
    for (int b = 0; b < n; b++) {
        const int mj = peer->body[b];
        double rotation[9],
            quat[4] = {k->pose[b].rotation.w, k->pose[b].rotation.x, k->pose[b].rotation.y, k->pose[b].rotation.z};
        agree(POSE, k->rotation[b].m, peer->d->xmat + 9 * mj, 9, 0.0);
        mju_quat2Mat(rotation, quat);
        agree(POSE, rotation, peer->d->xmat + 9 * mj, 9, 0.0);
        put(k->pose[b].position, &ours[0][3 * b]);
        put(k->com[b], &ours[1][3 * b]);
        put(k->twist[b].linear, &ours[2][3 * b]);
        put(k->twist[b].angular, &ours[3][3 * b]);
        memcpy(&theirs[0][3 * b], peer->d->xpos + 3 * mj, 3 * sizeof(double));
        memcpy(&theirs[1][3 * b], peer->d->xipos + 3 * mj, 3 * sizeof(double));
        double velocity[6]; /* angular first */
        mj_objectVelocity(peer->m, peer->d, mjOBJ_XBODY, mj, velocity, 0);
        memcpy(&theirs[2][3 * b], velocity + 3, 3 * sizeof(double));
        memcpy(&theirs[3][3 * b], velocity, 3 * sizeof(double));
        if (w->model->links[b].mass == 0.0) { /* MuJoCo has no centre of mass for it */
            memcpy(&theirs[1][3 * b], &ours[1][3 * b], 3 * sizeof(double));
        }
    }
    agree(POSE, ours[0], theirs[0], 3 * n, 0.0);
    agree(COM, ours[1], theirs[1], 3 * n, 0.0);
    agree(TWIST, ours[2], theirs[2], 3 * n, 0.0);
    agree(TWIST, ours[3], theirs[3], 3 * n, 0.0);
}

/* At a random point of every body; J = J_mj P, row by row. */
static void compare_jacobians(const test_world *w, const mujoco_peer *peer, perp_random *random)
{
    static double theirs_mj[6 * MAX_MJ], theirs[6 * MAX_N], sparse[6 * MAX_N], ours[6 * MAX_N], point_only[3 * MAX_N];
    const int nv = w->model->nv, nv_mj = peer->m->nv;
    for (int b = 0; b < w->model->body_count; b++) {
        const perp_vec3 p = perp_vec3_add(w->kinematics->pose[b].position, random_vector(random, false, 0.5));
        double point[3];
        put(p, point);
        mj_jac(peer->m, peer->d, theirs_mj, theirs_mj + 3 * nv_mj, point, peer->body[b]);
        for (int row = 0; row < 6; row++) {
            mujoco_peer_project(peer, theirs_mj + row * nv_mj, theirs + row * nv);
        }
        perp_frame_jacobian(w->model, w->kinematics, b, p, sparse);
        perp_jacobian_expand(w->model, b, 6, sparse, ours);
        agree(JACOBIAN, ours, theirs, 6 * nv, 0.0);
        perp_point_jacobian(w->model, w->kinematics, b, p, sparse);
        perp_jacobian_expand(w->model, b, 3, sparse, point_only);
        agree(JACOBIAN, point_only, theirs, 3 * nv, 0.0);
    }
}

/* Returns the largest entry. */
static double compare_mass(const test_world *w, mujoco_peer *peer)
{
    static double packed[MAX_N * MAX_N], ours[MAX_N * MAX_N], full[MAX_MJ * MAX_MJ];
    static double theirs[MAX_N * MAX_N]; /* M_mj symmetric: filled by columns or by rows alike */
    const int nv = w->model->nv, nv_mj = peer->m->nv;
    mj_fullM(peer->m, full, peer->d->qM);
    for (int j = 0; j < nv; j++) {
        double unit[MAX_N] = {0}, expanded[MAX_MJ], product[MAX_MJ];
        unit[j] = 1.0;
        mujoco_peer_expand(peer, unit, expanded);
        dense_times(full, expanded, nv_mj, nv_mj, product);
        mujoco_peer_project(peer, product, theirs + j * nv);
    }
    perp_mass_matrix(w->model, w->kinematics, packed);
    perp_mass_matrix_expand(w->model, packed, ours);
    agree(MASS, ours, theirs, nv * nv, 0.0);
    return largest(theirs, nv * nv);
}

static void compare_forces(const test_world *w, mujoco_peer *peer, double mass_size)
{
    double bias_mj[MAX_MJ], theirs[MAX_N], ours[MAX_N];
    const int nv = w->model->nv;
    const double *v = w->v;
    const double g = perp_vec3_norm(w->scene->gravity), speed = largest(v, nv);

    mju_zero3(peer->m->opt.gravity);
    mj_rne(peer->m, peer->d, 0, bias_mj);
    mujoco_peer_project(peer, bias_mj, theirs);
    perp_bias_force(w->model, w->kinematics, v, ours);
    agree(BIAS, ours, theirs, nv, mass_size * speed * speed);

    put(w->scene->gravity, peer->m->opt.gravity);
    mju_zero(peer->d->qvel, peer->m->nv);
    mj_comVel(peer->m, peer->d);
    mj_rne(peer->m, peer->d, 0, bias_mj);
    mju_scl(bias_mj, bias_mj, -1.0, peer->m->nv); /* a bias is on the other side of the equation */
    mujoco_peer_project(peer, bias_mj, theirs);
    perp_gravity_force(w->model, w->kinematics, ours);
    agree(GRAVITY, ours, theirs, nv, mass_size * g);
}

static void compare_state(test_world *w, mujoco_peer *peer, perp_random *random)
{
    world_update(w, w->q, w->v);
    mujoco_peer_set(peer, w->q, w->v);
    mj_kinematics(peer->m, peer->d);
    mj_comPos(peer->m, peer->d);
    mj_crb(peer->m, peer->d);
    mj_comVel(peer->m, peer->d);
    compare_bodies(w, peer);
    compare_jacobians(w, peer, random);
    compare_forces(w, peer, compare_mass(w, peer));
}

/* ---- many states of a scene ------------------------------------------------------------------------------------ */

/* Takes the scene over. Returns the number of degrees of freedom. */
static int compare_scene(perp_scene *scene, uint64_t seed, int states)
{
    static test_world world;
    mujoco_peer peer;
    char message[500];
    world_open(&world, scene, seed);
    if (!mujoco_peer_open(&peer, world.model, message, sizeof message)) {
        fail_msg("MuJoCo: %s", message);
    }
    assert_true(peer.m->nv <= MAX_MJ);
    compare_inertias(&world, &peer);
    perp_random random = {seed + 7};
    const int nv = world.model->nv;
    for (int i = 0; i < states; i++) {
        double step[MAX_N];
        for (int d = 0; d < nv; d++) {
            step[d] = uniform(&random, -2, 2);
            world.v[d] = uniform(&random, -3, 3);
        }
        perp_configuration_integrate(world.model, world.q, step, 1.0, world.q);
        compare_state(&world, &peer, &random);
    }
    mujoco_peer_close(&peer);
    world_close(&world);
    return nv;
}

static void explain(const perp_diagnostics *diagnostics)
{
    char line[1200];
    for (int i = 0; i < diagnostics->count; i++) {
        perp_diagnostic_format(&diagnostics->items[i], line, sizeof line);
        print_error("%s\n", line);
    }
}

static perp_scene *from_text(const char *text)
{
    static perp_diagnostics diagnostics;
    perp_scene *scene;
    memset(&diagnostics, 0, sizeof diagnostics);
    if (perp_scene_load_text(text, strlen(text), "scene", NULL, NULL, &scene, &diagnostics) != PERP_STATUS_OK) {
        explain(&diagnostics);
        fail_msg("a scene of this test is not valid");
    }
    return scene;
}

static perp_scene *from_file(const char *path)
{
    static perp_diagnostics diagnostics;
    perp_scene *scene;
    memset(&diagnostics, 0, sizeof diagnostics);
    if (perp_scene_load_file(path, NULL, &scene, &diagnostics) != PERP_STATUS_OK) {
        explain(&diagnostics);
        fail_msg("%s does not load", path);
    }
    return scene;
}

enum { STATES = 100 };

static void test_arm_with_gripper(void **state)
{
    (void)state;
    assert_int_equal(compare_scene(from_file(PERP_SOURCE_DIR "/bench/scenes/arm-gripper.yaml"), 1, STATES), 9);
    /* Ten free boxes beside it, as in the benchmark: the same numbers that are timed there are compared here. */
    assert_int_equal(compare_scene(from_file(PERP_SOURCE_DIR "/bench/scenes/arm-gripper-and-boxes.yaml"), 2, STATES),
                     69);
}

static void test_ball_chain(void **state)
{
    (void)state;
    static const char text[] =
        "perp: 1\n"
        "bodies:\n"
        "  a: {mass: 1.0, inertia: [0.02, 0.03, 0.01], com: [0.1, 0, -0.2]}\n"
        "  b: {mass: 0.7, inertia: [0.02, 0.03, 0.02, 0.004, -0.003, 0.002], com: [0, 0.1, -0.1],"
        " pose: {position: [0.1, 0.2, -0.4], rpy: [0.3, -0.8, 1.1]}}\n"
        "  c: {mass: 0.4, inertia: [0.01, 0.01, 0.01], pose: {position: [0, 0.1, -0.5]}}\n"
        "  d: {mass: 0.2, inertia: [0.01, 0.02, 0.02], pose: {position: [0.3, 0, 0],"
        " quat_wxyz: [0.5, 0.5, -0.5, 0.5]}}\n"
        "joints:\n"
        "  j1: {type: ball, parent: world, child: a, anchor: [0, 0, 2], armature: 0.05}\n"
        "  j2: {type: ball, parent: a, child: b, anchor: [0.05, 0, -0.4]}\n"
        "  j3: {type: ball, parent: b, child: c, anchor: [0, 0, -0.3], armature: 0.01}\n"
        "  j4: {type: ball, parent: c, child: d, anchor: [0.1, 0.1, 0.1]}\n";
    assert_int_equal(compare_scene(from_text(text), 3, STATES), 12);
}

/* A lead screw carries a table with a second, left-handed screw and a pendulum. */
static void test_screw(void **state)
{
    (void)state;
    static const char text[] = "perp: 1\n"
                               "gravity: [1, -2, -9.81]\n"
                               "bodies:\n"
                               "  nut: {mass: 2.0, inertia: [0.1, 0.2, 0.15, 0.01, 0.02, -0.01], com: [0.2, 0, 0.1],"
                               " pose: {position: [0.1, 0, 0.2], rpy: [0.4, 0, 0.2]}}\n"
                               "  bolt: {mass: 0.5, inertia: [0.01, 0.01, 0.02], com: [0, 0.05, 0]}\n"
                               "  pendulum: {mass: 0.3, inertia: [0.01, 0.01, 0.001], com: [0, 0, -0.3]}\n"
                               "joints:\n"
                               "  lead: {type: screw, parent: world, child: nut, anchor: [0, 0.1, 0], axis: [1, 0, 1],"
                               " pitch: 0.15, armature: 0.3}\n"
                               "  left: {type: screw, parent: nut, child: bolt, anchor: [0.1, 0, 0], axis: [0, 2, 1],"
                               " pitch: -0.08}\n"
                               "  swing: {type: revolute, parent: bolt, child: pendulum, anchor: [0, 0, 0.1],"
                               " axis: [1, 0, 0]}\n";
    assert_int_equal(compare_scene(from_text(text), 4, STATES), 3);
}

/* Floating pelvis; torso and head, arms and legs of ball and hinge joints. Inertias come from capsules and boxes. */
static void test_humanoid(void **state)
{
    (void)state;
    static char text[8000];
    char *end = text;
    end += sprintf(end, "perp: 1\nbodies:\n"
                        "  pelvis: {density: 900, pose: {position: [0, 0, 1]}, shapes: [{box: [0.2, 0.3, 0.15]}]}\n"
                        "  torso: {density: 800, shapes: [{box: [0.2, 0.35, 0.5], pose: {position: [0, 0, 0.3]}}]}\n"
                        "  head: {density: 1000, shapes: [{sphere: 0.1, pose: {position: [0.02, 0, 0.15]}}]}\n");
    static const char *const limbs[4][3] = {{"armL1", "armL2", "handL"},
                                            {"armR1", "armR2", "handR"},
                                            {"legL1", "legL2", "footL"},
                                            {"legR1", "legR2", "footR"}};
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 3; k++) {
            end += sprintf(end,
                           "  %s: {density: 1000, shapes: [{capsule: {radius: 0.05, length: %g}, "
                           "pose: {position: [0.01, 0, %g], rpy: [0.1, 0.2, 0]}}]}\n",
                           limbs[i][k], k == 2 ? 0.1 : 0.3, k == 2 ? -0.05 : -0.15);
        }
    }
    end += sprintf(end, "joints:\n"
                        "  waist: {type: ball, parent: pelvis, child: torso, anchor: [0, 0, 0.1]}\n"
                        "  neck: {type: revolute, parent: torso, child: head, anchor: [0, 0, 0.6], axis: [0, 1, 0]}\n");
    for (int i = 0; i < 4; i++) {
        const char *const *limb = limbs[i];
        const double side = i % 2 ? -0.15 : 0.15;
        end += sprintf(end, "  %s_root: {type: ball, parent: %s, child: %s, anchor: [0, %g, %g], armature: 0.01}\n",
                       limb[0], i < 2 ? "torso" : "pelvis", limb[0], side, i < 2 ? 0.5 : -0.1);
        end += sprintf(end,
                       "  %s_hinge: {type: revolute, parent: %s, child: %s, anchor: [0, 0, -0.35], "
                       "axis: [0, 1, 0.1]}\n",
                       limb[0], limb[0], limb[1]);
        end += sprintf(end,
                       "  %s_end: {type: revolute, parent: %s, child: %s, anchor: [0, 0, -0.35], "
                       "axis: [1, 0, 0]}\n",
                       limb[0], limb[1], limb[2]);
    }
    assert_true(end < text + sizeof text);
    assert_int_equal(compare_scene(from_text(text), 5, STATES), 6 + 3 + 1 + 4 * 5);
}

/* A puck on an inclined table carries a mast with a second planar joint. */
static void test_planar_joint(void **state)
{
    (void)state;
    static const char text[] =
        "perp: 1\n"
        "bodies:\n"
        "  puck: {mass: 1.0, inertia: [0.1, 0.12, 0.2], com: [0.1, 0.05, 0],"
        " pose: {position: [0.2, 0, 0], rpy: [0, 0.3, 0]}}\n"
        "  mast: {mass: 0.4, inertia: [0.1, 0.1, 0.02], com: [0, 0, 0.3]}\n"
        "  card: {mass: 0.1, inertia: [0.01, 0.02, 0.03], com: [0.1, 0, 0.1]}\n"
        "joints:\n"
        "  slide: {type: planar, parent: world, child: puck, anchor: [0.1, 0.2, 0.3],"
        " axis: [0.2, 0, 1], armature: 0.1}\n"
        "  sway: {type: revolute, parent: puck, child: mast, anchor: [0, 0, 0.1], axis: [1, 1, 0]}\n"
        "  wave: {type: planar, parent: mast, child: card, anchor: [0, 0, 0.5], axis: [1, 0.1, 0]}\n";
    assert_int_equal(compare_scene(from_text(text), 6, STATES), 7);
}

/* Locked components: a particle, a body on rails that may turn about two world axes and carries an arm, one that cannot
 * move and carries a pendulum; a driven body with a trailer; and compounds. */
static void test_partly_locked(void **state)
{
    (void)state;
    static const char text[] =
        "perp: 1\n"
        "bodies:\n"
        "  particle: {mass: 0.2, inertia: [0.01, 0.01, 0.01], com: [0.1, 0.2, 0.3], free: [x, y, z]}\n"
        "  cart: {density: 300, free: [y, rx, rz], pose: {position: [1, 0, 0], rpy: [0.5, 0.2, 0.1]},\n"
        "    shapes: [{box: [0.2, 0.3, 0.1]}, {sphere: 0.1, pose: {position: [0.2, 0.1, 0.3]}}]}\n"
        "  rod: {mass: 0.5, inertia: [0.02, 0.02, 0.001], com: [0, 0, 0.4]}\n"
        "  wall: {mass: 1, inertia: [1, 1, 1], free: [], pose: {position: [0, 1, 0], rpy: [0, 0, 0.7]}}\n"
        "  bob: {mass: 0.5, inertia: [0.02, 0.02, 0.001], com: [0, 0, -0.4]}\n"
        "  truck: {mass: 3, inertia: [0.4, 0.5, 0.6], driven: {x: 0.1, rz: {rate: 1}}}\n"
        "  trailer: {mass: 2, inertia: [0.2, 0.2, 0.3], com: [-0.5, 0, 0]}\n"
        "  compound: {density: 500, shapes: [{box: [0.1, 0.2, 0.3], pose: {position: [0.1, 0, 0], rpy: [1, 0, 0]}},\n"
        "    {cylinder: {radius: 0.05, length: 0.4}, pose: {position: [0, -0.2, 0.1], rpy: [0, 1, 0]}},\n"
        "    {ellipsoid: [0.1, 0.05, 0.02], density: 2000}]}\n"
        "joints:\n"
        "  lift: {type: revolute, parent: cart, child: rod, anchor: [0, 0.1, 0.1], axis: [1, 0, 0]}\n"
        "  swing: {type: revolute, parent: wall, child: bob, anchor: [0.1, 0, 0], axis: [1, 1, 0]}\n"
        "  tow: {type: ball, parent: truck, child: trailer, anchor: [-0.3, 0, 0.05]}\n";
    assert_int_equal(compare_scene(from_text(text), 7, STATES), 3 + 3 + 1 + 0 + 1 + 6 + 3 + 6);
}

/* MuJoCo wants mass behind every joint; the generator of tests/model leaves some links massless. */
static void give_mass(scene_spec *spec)
{
    for (int i = 0; i < spec->body_count; i++) {
        perp_body *body = &spec->bodies[i];
        if (!body->mass.set && !body->density.set) {
            body->mass = perp_set(0.3 + 0.1 * i);
            body->inertia_count = 3;
            body->inertia[0] = 0.03;
            body->inertia[1] = 0.02;
            body->inertia[2] = 0.04;
        }
    }
}

static void test_random_trees(void **state)
{
    (void)state;
    static scene_spec spec;
    for (uint64_t seed = 0; seed < 200; seed++) {
        spec_random(&spec, seed, SPEC_WORLD_FRAME);
        give_mass(&spec);
        compare_scene(spec_build(&spec, seed % 2 ? seed : 0), seed, 5);
    }
}

static int print_worst(void **state)
{
    (void)state;
    for (int i = 0; i < QUANTITIES; i++) {
        print_message("largest relative difference to MuJoCo, %-8s %.1e\n", quantity_names[i], worst[i]);
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arm_with_gripper),
        cmocka_unit_test(test_ball_chain),
        cmocka_unit_test(test_screw),
        cmocka_unit_test(test_humanoid),
        cmocka_unit_test(test_planar_joint),
        cmocka_unit_test(test_partly_locked),
        cmocka_unit_test(test_random_trees),
    };
    return cmocka_run_group_tests(tests, NULL, print_worst);
}
