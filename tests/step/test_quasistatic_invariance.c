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
#include <perp/sim.h>
#include <perp/step.h>

#include "failing_allocator.h"
#include "scene_view.h"

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
static void compare(const scene_view *w, const answer *plain, const answer *other, double *motion, double *force)
{
    *motion = *force = 0.0;
    for (int i = 0; i < plain->bodies; i++) {
        const int k = find(other, plain->names[i]);
        const perp_pose wanted = scene_view_pose(w, plain->pose[i]), got = other->pose[k];
        const perp_vec3 away = perp_vec3_sub(wanted.position, got.position);
        const perp_vec3 turned = perp_quat_log(perp_quat_mul(perp_quat_conjugate(wanted.rotation), got.rotation));
        *motion = fmax(*motion, fmax(perp_vec3_norm(away), perp_vec3_norm(turned)));
        const perp_vec3 rest = perp_vec3_sub(scene_view_turn(w, plain->pushed[i]), other->pushed[k]);
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
    bool slow;              /* left out under the address sanitizer */
    bool one_way;           /* a body is free along one axis alone: turns by quarters about z only */
} subject;

static const subject subjects[] = {
    {.name = "gripper-2d", .steps = 25, .rigid = true},
    {.name = "door", .steps = 40, .rigid = true},
    {.name = "grazing", .steps = 10, .rigid = true, .one_way = true},
    {.name = "pusher-1d", .steps = 1, .with_inertia_only = true, .rigid = true, .one_way = true},
    {.name = "pusher-2d", .steps = 1, .with_inertia_only = true, .rigid = true},
    {.name = "cube-stack", .slow = true, .steps = 20, .rigid = true},
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
static bool check_view(const subject *s, const perp_scene *scene, const perp_rung *rung, const scene_view *w)
{
    scene_view identity = scene_view_identity();
    identity.tangents = true;
    const perp_run_settings settings = settings_for(scene, rung, s->steps);
    perp_scene *plain = scene_view_make(scene, &identity), *other = scene_view_make(scene, w);
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
static void check_all(const scene_view *planar, const scene_view *quarter, const scene_view *spatial)
{
    bool agree = true;
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++) {
        const subject *s = &subjects[k];
        if (sanitized && s->slow) {
            continue;
        }
        perp_scene *scene = load(s->name);
        const scene_view *w = s->one_way ? quarter : scene->planar ? planar : spatial;
        for (int i = 0; i < perp_rung_count(); i++) {
            const perp_rung *rung = perp_rung_at(i);
            const bool inertia = strcmp(rung->name, "quasidynamic") == 0;
            if (is_quasistatic(rung) && (is_convex(rung) ? inertia || !s->with_inertia_only : s->rigid)) {
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
    const scene_view planar = {.pose = {{1, 0, 0, 0}, {1.3, -0.7, 0}}, .tangents = true};
    const scene_view spatial = {.pose = {{1, 0, 0, 0}, {1.3, -0.7, 0.4}}, .tangents = true};
    check_all(&planar, &planar, &spatial);
}

static void test_rotation(void **unused)
{
    (void)unused;
    const scene_view planar = {.pose = {perp_quat_from_axis_angle(perp_vec3_make(0, 0, 1), 0.83), {0.1, 0.2, 0}},
                               .tangents = true};
    const scene_view quarter = {.pose = {{sqrt(0.5), 0, 0, sqrt(0.5)}, {0.1, 0.2, 0}}, .tangents = true};
    const scene_view spatial = {
        .pose = {perp_quat_from_axis_angle(perp_vec3_normalise(perp_vec3_make(0.3, -0.5, 0.8)), 1.1), {0.1, 0.2, 0.3}},
        .tangents = true};
    check_all(&planar, &quarter, &spatial);
}

static void test_mirror(void **unused)
{
    (void)unused;
    const scene_view mirror = {.pose = {{1, 0, 0, 0}, {0, 0, 0}}, .mirrored = true, .tangents = true};
    check_all(&mirror, &mirror, &mirror);
}

static void test_order_of_bodies(void **unused)
{
    (void)unused;
    const scene_view reversed = {.pose = {{1, 0, 0, 0}, {0, 0, 0}}, .reversed = true, .tangents = true};
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
