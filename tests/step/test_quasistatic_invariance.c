/* The same scene, seen otherwise: shifted, turned, mirrored, with its bodies in another order. Quasistatic rungs answer
 * accordingly.
 *
 * A scene is written down again, transformed, from the one that a file gave. Where several motions meet a step's law
 * the smallest is taken, which does not depend on the frame either. Rays turn with the scene because every pair states
 * its tangent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <perp/scene_yaml.h>
#include <perp/step.h>

#include "failing_allocator.h"

/* ---- transformed scenes ------------------------------------------------------------------------------------------ */

/* x' = R x + p, R = rotation after (mirrored) the reflection x -> -x. */
typedef struct view {
    perp_pose pose;
    bool mirrored;
    bool reversed; /* the bodies' order */
    bool quarter;  /* planar, a quarter turn: x and y change places in a body's `free` */
} view;

static perp_vec3 reflect(const view *w, perp_vec3 a)
{
    return w->mirrored ? perp_vec3_make(-a.x, a.y, a.z) : a;
}

static perp_vec3 turn(const view *w, perp_vec3 a)
{
    return perp_quat_rotate(w->pose.rotation, reflect(w, a));
}

/* Axes of rotations: a mirror turns the sense round. */
static perp_vec3 turn_axis(const view *w, perp_vec3 a)
{
    return perp_vec3_scale(w->mirrored ? -1.0 : 1.0, turn(w, a));
}

static perp_vec3 move(const view *w, perp_vec3 a)
{
    return perp_vec3_add(turn(w, a), w->pose.position);
}

/* A pose in a body's frame, or (then the view's rotation follows) in the world: shapes are their own mirror images. */
static perp_placement reflect_pose(const view *w, perp_placement placement)
{
    if (w->mirrored) {
        perp_quat *q = &placement.pose.rotation;
        *q = (perp_quat){q->w, q->x, -q->y, -q->z};
        placement.pose.position = reflect(w, placement.pose.position);
        placement.angle = -placement.angle;
    }
    return placement;
}

static perp_placement move_pose(const view *w, bool planar, perp_placement placement)
{
    placement = reflect_pose(w, placement);
    placement.pose = perp_pose_mul(w->pose, placement.pose);
    placement.rpy_set = false;
    if (planar) { /* the view's rotation is about z */
        placement.angle += 2.0 * atan2(w->pose.rotation.z, w->pose.rotation.w);
    }
    return placement;
}

enum { MOST_SHAPES = 20, MOST_POINTS = 16, MOST_SINES = 6 };

/* What a reflection makes of a polygon goes round the other way; other shapes are their own mirror images. */
static void reflect_shape(const view *w, perp_shape *shape, perp_vec3 points[MOST_POINTS])
{
    const int count = shape->point_count;
    assert_true(count <= MOST_POINTS);
    shape->pose = reflect_pose(w, shape->pose);
    shape->normal = reflect(w, shape->normal);
    for (int k = 0; k < count; k++) {
        points[k] = reflect(w, shape->points[w->mirrored ? count - 1 - k : k]);
    }
    shape->points = points;
}

/* The drives of a body's place, mixed as the view mixes the axes; it does not turn. */
static void move_drives(const view *w, perp_body *body, perp_sine sines[3][MOST_SINES])
{
    const perp_vec3 at = body->pose.pose.position;
    const double places[3] = {at.x, at.y, at.z};
    const perp_vec3 axes[3] = {turn(w, perp_vec3_make(1, 0, 0)), turn(w, perp_vec3_make(0, 1, 0)),
                               turn(w, perp_vec3_make(0, 0, 1))};
    const double origin[3] = {w->pose.position.x, w->pose.position.y, w->pose.position.z};
    perp_drive moved[3];
    assert_true((body->driven_mask & ~(unsigned)(PERP_COMPONENT_X | PERP_COMPONENT_Y | PERP_COMPONENT_Z)) == 0);
    for (int i = 0; i < 3; i++) {
        moved[i] = (perp_drive){.offset = origin[i], .sines = sines[i]};
        for (int k = 0; k < 3; k++) {
            const double factor = i == 0 ? axes[k].x : i == 1 ? axes[k].y : axes[k].z;
            const perp_drive *d = &body->drives[k];
            const bool driven = (body->driven_mask >> k & 1u) != 0;
            assert_true(d->knot_count == 0);
            moved[i].offset += factor * (driven ? d->offset : places[k]);
            moved[i].rate += driven ? factor * d->rate : 0.0;
            for (int j = 0; driven && j < d->sine_count; j++) {
                assert_true(moved[i].sine_count < MOST_SINES);
                sines[i][moved[i].sine_count] = d->sines[j];
                sines[i][moved[i].sine_count++].amplitude *= factor;
            }
        }
    }
    memcpy(body->drives, moved, sizeof moved);
    body->driven_mask = PERP_COMPONENT_X | PERP_COMPONENT_Y | PERP_COMPONENT_Z;
}

static void add_body(perp_scene *scene, const perp_scene *from, int index, const view *w)
{
    perp_body body = from->bodies[index];
    perp_shape shapes[MOST_SHAPES];
    perp_vec3 points[MOST_SHAPES][MOST_POINTS];
    perp_sine sines[3][MOST_SINES];
    assert_true(body.shape_count <= MOST_SHAPES);
    for (int i = 0; i < body.shape_count; i++) {
        shapes[i] = body.shapes[i];
        reflect_shape(w, &shapes[i], points[i]);
    }
    body.shapes = shapes;
    body.com = reflect(w, body.com);
    if (body.kind == PERP_BODY_DRIVEN) {
        move_drives(w, &body, sines);
        body.driven_mask &= from->planar ? (unsigned)PERP_COMPONENT_PLANAR : (unsigned)PERP_COMPONENT_ALL;
    }
    const perp_joint *joint = body.joint >= 0 ? &from->joints[body.joint] : NULL;
    if (joint && !body.pose_set) {
        body.pose = perp_placement_default();
        body.pose.pose.position = joint->anchor;
    }
    const bool in_world = !joint || joint->parent_body < 0;
    body.pose = in_world ? move_pose(w, from->planar, body.pose) : reflect_pose(w, body.pose);
    body.pose_set = true;
    if (w->quarter && body.free_set) {
        const unsigned x = body.free_mask & PERP_COMPONENT_X, y = body.free_mask & PERP_COMPONENT_Y;
        body.free_mask &= ~(unsigned)(PERP_COMPONENT_X | PERP_COMPONENT_Y);
        body.free_mask |= (x ? PERP_COMPONENT_Y : 0u) | (y ? PERP_COMPONENT_X : 0u);
    }
    assert_int_equal(perp_scene_add_body(scene, &body, NULL), PERP_STATUS_OK);
}

/* The joint's parent frame is the world's, which turns, or a body's, which turns with it. */
static void add_joint(perp_scene *scene, const perp_joint *from, const view *w)
{
    perp_joint joint = *from;
    const bool in_world = joint.parent_body < 0, turns = joint.kind == PERP_JOINT_REVOLUTE;
    const double sign = turns && w->mirrored ? -1.0 : 1.0;
    const perp_vec3 axis = scene->planar && turns && !joint.axis_set ? perp_vec3_make(0, 0, 1) : joint.axis;
    assert_true(turns || joint.kind == PERP_JOINT_PRISMATIC);
    joint.anchor = in_world ? move(w, joint.anchor) : reflect(w, joint.anchor);
    joint.axis = in_world ? (turns ? turn_axis(w, axis) : turn(w, axis)) : perp_vec3_scale(sign, reflect(w, axis));
    joint.axis_set = true;
    assert_int_equal(perp_scene_add_joint(scene, &joint, NULL), PERP_STATUS_OK);
}

static void add_force(perp_scene *scene, const perp_force *from, const view *w)
{
    perp_force force = *from;
    const perp_vec3 f = turn(w, perp_vec3_make(force.force[0].offset, force.force[1].offset, force.force[2].offset));
    const perp_vec3 m =
        turn_axis(w, perp_vec3_make(force.torque[0].offset, force.torque[1].offset, force.torque[2].offset));
    const double fs[3] = {f.x, f.y, f.z}, ms[3] = {m.x, m.y, m.z};
    for (int i = 0; i < 3; i++) {
        assert_true(perp_drive_is_constant(&force.force[i]) && perp_drive_is_constant(&force.torque[i]));
        force.force[i].offset = fs[i];
        force.torque[i].offset = ms[i];
    }
    force.point = reflect(w, force.point);
    assert_int_equal(perp_scene_add_force(scene, &force, NULL), PERP_STATUS_OK);
}

/* What the scene says of a pair, turned. In space every pair gets a tangent, along none of the scene's axes, so that
 * projections on faces never vanish. */
static void add_pairs(perp_scene *scene, const perp_scene *from, const view *w)
{
    for (int i = 0; i < from->body_count; i++) {
        for (int j = i + 1; j < from->body_count; j++) {
            perp_pair pair = {.a = from->bodies[i].name, .b = from->bodies[j].name};
            bool stated = false;
            for (int k = 0; k < from->pair_count; k++) {
                if (from->pairs[k].body_a == i && from->pairs[k].body_b == j) {
                    pair = from->pairs[k];
                    stated = true;
                }
            }
            for (int k = 0; k < pair.direction_count; k++) {
                pair.directions[k] = turn(w, pair.directions[k]);
            }
            if (!from->planar) {
                pair.tangent_set = true;
                pair.tangent = turn(w, perp_vec3_make(0.8, 0.36, 0.48));
            }
            if (stated || !from->planar) {
                assert_int_equal(perp_scene_add_pair(scene, &pair, NULL), PERP_STATUS_OK);
            }
        }
    }
    for (int i = 0; i < from->exclusion_count; i++) {
        const perp_exclusion *e = &from->exclusions[i];
        assert_int_equal(perp_scene_add_exclusion(scene, e->a, e->b, NULL), PERP_STATUS_OK);
    }
}

static void add_loops(perp_scene *scene, const perp_scene *from, const view *w)
{
    for (int i = 0; i < from->loop_count; i++) {
        perp_loop loop = from->loops[i];
        assert_true(loop.body_a >= 0 && loop.body_b >= 0);
        loop.anchor_a = reflect(w, loop.anchor_a);
        loop.anchor_b = reflect(w, loop.anchor_b);
        assert_int_equal(perp_scene_add_loop(scene, &loop, NULL), PERP_STATUS_OK);
    }
}

static perp_scene *transformed(const perp_scene *from, const view *w)
{
    static perp_diagnostics diagnostics;
    perp_scene *scene;
    memset(&diagnostics, 0, sizeof diagnostics);
    assert_int_equal(perp_scene_create(from->planar, NULL, &scene, NULL), PERP_STATUS_OK);
    scene->gravity = turn(w, from->gravity);
    scene->margin = from->margin;
    scene->friction = from->friction;
    for (int i = 0; i < from->body_count; i++) {
        add_body(scene, from, w->reversed ? from->body_count - 1 - i : i, w);
    }
    for (int i = 0; i < from->joint_count; i++) {
        add_joint(scene, &from->joints[w->reversed ? from->joint_count - 1 - i : i], w);
    }
    for (int i = 0; i < from->force_count; i++) {
        add_force(scene, &from->forces[i], w);
    }
    add_loops(scene, from, w);
    add_pairs(scene, from, w);
    if (perp_scene_validate(scene, &diagnostics) != PERP_STATUS_OK) {
        fail_msg("%s: %s", diagnostics.items[0].path, diagnostics.items[0].message);
    }
    return scene;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

enum { MOST_BODIES = 16 };

typedef struct answer {
    perp_status status;
    int steps, bodies;
    perp_hash hash;
    const char *names[MOST_BODIES];
    perp_pose pose[MOST_BODIES];
    perp_vec3 pushed[MOST_BODIES]; /* N: by all contacts together */
    double force_unit;
} answer;

static void run_scene(const perp_scene *scene, const perp_run_settings *settings, answer *a)
{
    perp_model *model;
    perp_state state;
    perp_kinematics *kinematics;
    perp_run_result result;
    perp_error error = {0};
    assert_true(scene->body_count <= MOST_BODIES);
    assert_int_equal(perp_model_build(scene, NULL, &model, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_state_create(model, NULL, &state, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_kinematics_create(model, NULL, &kinematics, NULL), PERP_STATUS_OK);
    memset(a, 0, sizeof *a);
    a->status = perp_run(model, settings, NULL, NULL, NULL, &state, &result, &error);
    a->steps = result.steps;
    a->hash = result.hash;
    a->bodies = scene->body_count;
    a->force_unit = 1e-3;
    perp_kinematics_update(model, state.q, kinematics);
    for (int i = 0; i < scene->body_count; i++) {
        a->names[i] = scene->bodies[i].name;
        a->pose[i] = kinematics->pose[i];
        a->force_unit = fmax(a->force_unit, model->links[i].mass * perp_vec3_norm(scene->gravity));
    }
    for (int i = 0; i < result.contact_count; i++) {
        const perp_contact_record *c = &result.contacts[i];
        a->pushed[c->contact.a] = perp_vec3_sub(a->pushed[c->contact.a], c->force_on_b);
        a->pushed[c->contact.b] = perp_vec3_add(a->pushed[c->contact.b], c->force_on_b);
        a->force_unit = fmax(a->force_unit, c->fn);
    }
    perp_run_result_free(&result);
    perp_kinematics_free(kinematics);
    perp_state_free(&state);
    perp_model_free(model);
}

static int find(const answer *a, const char *name)
{
    for (int i = 0; i < a->bodies; i++) {
        if (strcmp(a->names[i], name) == 0) {
            return i;
        }
    }
    fail_msg("%s is gone", name);
    return -1;
}

/* Largest difference between what `w` makes of one answer's poses and the other's, m and rad; of the forces on bodies,
 * over the largest force. */
static void compare(const view *w, const answer *plain, const answer *other, double *motion, double *force)
{
    *motion = *force = 0.0;
    for (int i = 0; i < plain->bodies; i++) {
        const int k = find(other, plain->names[i]);
        perp_placement place = perp_placement_default();
        place.pose = plain->pose[i];
        const perp_pose wanted = move_pose(w, false, place).pose, got = other->pose[k];
        const perp_vec3 away = perp_vec3_sub(wanted.position, got.position);
        const perp_vec3 turned = perp_quat_log(perp_quat_mul(perp_quat_conjugate(wanted.rotation), got.rotation));
        *motion = fmax(*motion, fmax(perp_vec3_norm(away), perp_vec3_norm(turned)));
        const perp_vec3 rest = perp_vec3_sub(turn(w, plain->pushed[i]), other->pushed[k]);
        *force = fmax(*force, perp_vec3_norm(rest) / plain->force_unit);
    }
}

/* ---- what is run ------------------------------------------------------------------------------------------------- */

/* Under the address sanitizer, twenty times as slow, the examples that take long are left out. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(SANITIZED) || defined(__SANITIZE_ADDRESS__)
static const bool sanitized = true;
#else
static const bool sanitized = false;
#endif

typedef struct subject {
    const char *name;
    int steps;
    bool with_inertia_only; /* without it nothing holds the objects, or nothing says where they stay */
    bool rigid;             /* on the rigid rungs too: not where motions without cost are open */
    bool
        no_springs; /* but not on qs-impedance-lcp, which solves its LCP by pivots: the mirrored stack ends elsewhere */
    bool slow;      /* left out under the address sanitizer */
    bool one_way;   /* a body is free along one axis alone: turns by quarters about z only */
} subject;

static const subject subjects[] = {
    {.name = "gripper-2d", .steps = 25, .rigid = true},
    {.name = "door", .steps = 40, .rigid = true},
    {.name = "grazing", .steps = 10, .rigid = true, .one_way = true},
    {.name = "pusher-1d", .steps = 1, .with_inertia_only = true, .rigid = true, .one_way = true},
    {.name = "pusher-2d", .steps = 1, .with_inertia_only = true, .rigid = true},
    {.name = "cube-stack", .slow = true, .steps = 20, .rigid = true, .no_springs = true},
    {.name = "fence-particle", .steps = 40, .rigid = true},
    {.name = "four-bar", .steps = 45, .rigid = true},
    {.name = "graze-then-lift", .steps = 10, .rigid = true},
    {.name = "maximum-work", .steps = 1, .rigid = true, .one_way = true},
    {.name = "micro-gear", .slow = true, .steps = 6, .rigid = true},
    {.name = "pawl-fixture", .slow = true, .steps = 72, .rigid = true},
    {.name = "peg-in-hole-2d", .steps = 35, .rigid = true},
    {.name = "pivot", .slow = true, .steps = 12, .rigid = true},
    {.name = "three-finger-grasp", .steps = 15, .rigid = true},
    {.name = "tweezers-pawl", .steps = 25, .rigid = true},
};

static perp_scene *load(const char *name)
{
    static perp_diagnostics diagnostics;
    char path[512];
    perp_scene *scene;
    snprintf(path, sizeof path, PERP_SOURCE_DIR "/examples/%s/scene.yaml", name);
    memset(&diagnostics, 0, sizeof diagnostics);
    if (perp_scene_load_file(path, NULL, &scene, &diagnostics) != PERP_STATUS_OK) {
        fail_msg("%s: %s", path, diagnostics.items[0].message);
    }
    return scene;
}

static bool is_quasistatic(const perp_rung *rung)
{
    return rung->step && (strncmp(rung->name, "qs-", 3) == 0 || strcmp(rung->name, "quasidynamic") == 0);
}

/* Their step has one answer, but for motions that cost nothing. */
static bool is_convex(const perp_rung *rung)
{
    return strcmp(rung->name, "qs-qp") == 0 || strcmp(rung->name, "qs-cone") == 0 ||
           strcmp(rung->name, "quasidynamic") == 0;
}

static perp_run_settings settings_for(const perp_scene *scene, const perp_rung *rung, int steps)
{
    perp_run_settings settings = scene->run;
    settings.model = rung->name;
    settings.model_set = true;
    settings.cone = PERP_CONE_UNSET;
    settings.steps_set = true;
    settings.steps = steps;
    return settings;
}

/* A rung that has no answer must have none in any view. Returns whether both views agree. */
static bool check_view(const subject *s, const perp_scene *scene, const perp_rung *rung, const view *w)
{
    static const view identity = {.pose = {{1, 0, 0, 0}, {0, 0, 0}}};
    const perp_run_settings settings = settings_for(scene, rung, s->steps);
    perp_scene *plain = transformed(scene, &identity), *other = transformed(scene, w);
    answer a, b;
    double motion, force;
    run_scene(plain, &settings, &a);
    run_scene(other, &settings, &b);
    compare(w, &a, &b, &motion, &force);
    perp_scene_free(other);
    perp_scene_free(plain);
    if (a.status == b.status && a.steps == b.steps && motion <= 1e-9 && force <= 1e-7) {
        return true;
    }
    print_error("%s on %s%s%s: %s after %d steps, %s after %d in the other view; apart %.3g m, forces %.3g\n",
                rung->name, s->name, w->mirrored ? ", mirrored" : "", w->reversed ? ", reordered" : "",
                perp_status_name(a.status), a.steps, perp_status_name(b.status), b.steps, motion, force);
    return false;
}

/* Planar scenes in the view `planar`, others in `spatial`; where a body is free one way only, in `quarter`. */
static void check_all(const view *planar, const view *quarter, const view *spatial)
{
    bool agree = true;
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++) {
        const subject *s = &subjects[k];
        if (sanitized && s->slow) {
            continue;
        }
        perp_scene *scene = load(s->name);
        const view *w = s->one_way ? quarter : scene->planar ? planar : spatial;
        for (int i = 0; i < perp_rung_count(); i++) {
            const perp_rung *rung = perp_rung_at(i);
            const bool inertia = strcmp(rung->name, "quasidynamic") == 0;
            const bool springs = strcmp(rung->name, "qs-impedance-lcp") == 0;
            if (is_quasistatic(rung) &&
                (is_convex(rung) ? inertia || !s->with_inertia_only : s->rigid && !(springs && s->no_springs))) {
                agree = check_view(s, scene, rung, w) && agree;
            }
        }
        perp_scene_free(scene);
    }
    assert_true(agree);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

/* Coordinates of a few metres round to 4e-16 m a step: far below 1e-9. */
static void test_translation(void **unused)
{
    (void)unused;
    const view planar = {.pose = {{1, 0, 0, 0}, {1.3, -0.7, 0}}};
    const view spatial = {.pose = {{1, 0, 0, 0}, {1.3, -0.7, 0.4}}};
    check_all(&planar, &planar, &spatial);
}

static void test_rotation(void **unused)
{
    (void)unused;
    const view planar = {.pose = {perp_quat_from_axis_angle(perp_vec3_make(0, 0, 1), 0.83), {0.1, 0.2, 0}}};
    const view quarter = {.pose = {{sqrt(0.5), 0, 0, sqrt(0.5)}, {0.1, 0.2, 0}}, .quarter = true};
    const view spatial = {
        .pose = {perp_quat_from_axis_angle(perp_vec3_normalise(perp_vec3_make(0.3, -0.5, 0.8)), 1.1), {0.1, 0.2, 0.3}}};
    check_all(&planar, &quarter, &spatial);
}

static void test_mirror(void **unused)
{
    (void)unused;
    const view mirror = {.pose = {{1, 0, 0, 0}, {0, 0, 0}}, .mirrored = true};
    check_all(&mirror, &mirror, &mirror);
}

static void test_order_of_bodies(void **unused)
{
    (void)unused;
    const view reversed = {.pose = {{1, 0, 0, 0}, {0, 0, 0}}, .reversed = true};
    check_all(&reversed, &reversed, &reversed);
}

static void test_same_bits_on_every_run(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++) {
        if (sanitized && subjects[k].slow) {
            continue;
        }
        perp_scene *scene = load(subjects[k].name);
        for (int i = 0; i < perp_rung_count(); i++) {
            answer a, b;
            if (is_quasistatic(perp_rung_at(i))) {
                const perp_run_settings settings = settings_for(scene, perp_rung_at(i), subjects[k].steps);
                run_scene(scene, &settings, &a);
                run_scene(scene, &settings, &b);
                assert_int_equal(a.steps, b.steps);
                assert_true(a.hash.value == b.hash.value);
            }
        }
        perp_scene_free(scene);
    }
}

/* Requests after each step. */
typedef struct meter {
    const failing_allocator *memory;
    int after[101], steps, most_contacts[101];
} meter;

static bool watch(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    meter *m = context;
    (void)state;
    m->after[step] = m->memory->requests;
    m->most_contacts[step] = step > 0 ? m->most_contacts[step - 1] : 0;
    m->most_contacts[step] =
        info->contact_count > m->most_contacts[step] ? info->contact_count : m->most_contacts[step];
    m->steps = step;
    return true;
}

/* A step takes memory only for contacts, events or a problem's structure that no step before it had: the last half of
 * a push that goes on as it began takes none. */
static void test_no_memory_in_steady_state(void **unused)
{
    (void)unused;
    perp_scene *scene = load("cube-stack");
    perp_model *model;
    assert_int_equal(perp_model_build(scene, NULL, &model, NULL), PERP_STATUS_OK);
    for (int i = 0; i < perp_rung_count(); i++) {
        failing_allocator memory = {.grants = INT_MAX};
        const perp_allocator allocator = allocator_of(&memory);
        meter m = {.memory = &memory};
        perp_state state;
        perp_run_result result;
        if (!is_quasistatic(perp_rung_at(i))) {
            continue;
        }
        const perp_run_settings settings = settings_for(scene, perp_rung_at(i), 60);
        assert_int_equal(perp_state_create(model, NULL, &state, NULL), PERP_STATUS_OK);
        perp_run(model, &settings, &allocator, watch, &m, &state, &result, NULL);
        for (int k = m.steps / 2; k + 1 < m.steps; k++) {
            if (m.most_contacts[k + 1] == m.most_contacts[k] && m.after[k + 1] != m.after[k]) {
                fail_msg("%s: step %d of %d took memory %d times", perp_rung_at(i)->name, k + 1, m.steps,
                         m.after[k + 1] - m.after[k]);
            }
        }
        perp_run_result_free(&result);
        perp_state_free(&state);
        assert_int_equal(memory.standing, 0);
    }
    perp_model_free(model);
    perp_scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_translation),
        cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_mirror),
        cmocka_unit_test(test_order_of_bodies),
        cmocka_unit_test(test_same_bits_on_every_run),
        cmocka_unit_test(test_no_memory_in_steady_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
