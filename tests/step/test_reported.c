/* What every rung reports of every example's steps, against the same computed from the states: record_judge.h.
 *
 * A scene that a rung refuses, or that stops on it, is judged as far as it goes. */
#include <dirent.h>
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

#include "record_judge.h"

enum { STEPS = 60, SPLIT_STEPS = 20 }; /* of each example, on each rung */

/* What the examples do not have: planes, holes and shapes away from the origins of bodies that stand askew, the
 * settings of pairs, patches that slide. */
static const char *const texts[] = {
    "perp: 1\n"
    "bodies:\n"
    "  floor: {fixed: true, pose: {position: [0.1, 0.2, 0.1], rpy: [0.2, 0.1, 0.5]}, shapes: [\n"
    "    {plane: {normal: [0, 0, 1], offset: 0.05}, pose: {position: [0, 0, -0.02], rpy: [0, 0.1, 0]}}]}\n"
    "  box: {mass: 1, pose: {position: [0, 0, 0.25], rpy: [0.2, 0.2, 0.7]}, velocity: {linear: [0.5, 0.2, -1]},\n"
    "    shapes: [{box: [0.2, 0.1, 0.1], pose: {position: [0.05, 0.02, 0], rpy: [0.1, 0, 0.3]}}]}\n"
    "  ball: {mass: 0.3, pose: {position: [0.4, 0, 0.2], rpy: [1, 0, 0]}, velocity: {linear: [0.3, 0, -1]},\n"
    "    shapes: [{sphere: 0.05, pose: {position: [0.01, 0.02, 0]}}]}\n"
    "  rod: {mass: 0.2, pose: {position: [-0.4, 0, 0.25], rpy: [0, 1.2, 0]}, velocity: {linear: [0.2, 0.4, 0]},\n"
    "    shapes: [{capsule: {radius: 0.03, length: 0.2}, pose: {position: [0, 0.02, 0.05]}}]}\n"
    "contacts:\n"
    "  friction: 0.4\n"
    "  pairs: {\"floor box\": {tangent: [1, 1, 0]}, \"floor ball\": {restitution: 0.5, friction: 0.2},\n"
    "    \"floor rod\": {friction_directions: [[0, 1, 0]]}}\n"
    "compliance: {stiffness: 1.0e+4, damping: 20, elements: 2, size: 0.02, gamma: 1.0e-3}\n"
    "run: {h: 0.004}\n",
    "perp: 1\n"
    "planar: true\n"
    "bodies:\n"
    "  ramp: {fixed: true, pose: {position: [0.1, 0.2], angle: 0.3}, shapes: [\n"
    "    {halfplane: {normal: [0, 1], offset: 0.05}, pose: {position: [0, -0.02], angle: -0.1}}]}\n"
    "  ring: {fixed: true, pose: {position: [2, 1], angle: 0.4}, shapes: [\n"
    "    {hole: {radius: 0.3}, pose: {position: [0.1, 0.05]}}]}\n"
    "  block: {mass: 1, pose: {position: [0, 0.32], angle: 0.2}, velocity: {linear: [0.5, -1]}, shapes: [\n"
    "    {box: [0.2, 0.1], pose: {position: [0.03, 0.01], angle: 0.1}}]}\n"
    "  bead: {mass: 0.5, pose: {position: [2.1, 0.95], angle: 1}, velocity: {linear: [1, 0]}, shapes: [\n"
    "    {disc: 0.1, pose: {position: [0.02, 0.01]}}]}\n"
    "contacts:\n"
    "  friction: 0.4\n"
    "  pairs: {\"ramp block\": {restitution: 0.3}}\n"
    "  exclude: [[ramp, bead], [ring, block], [block, bead]]\n"
    "compliance: {stiffness: 1.0e+4, damping: 20, elements: 3, size: 0.02}\n"
    "run: {h: 0.004}\n"};

static int judged[RECORD_CHECKS];

static bool watch(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    return info->answer || record_judge_step(context, step, state, info);
}

static bool run_on(const perp_scene *scene, const char *name, const char *rung, int steps, double substep_tolerance)
{
    perp_run_settings settings = scene->run;
    settings.model = rung;
    settings.steps_set = true;
    settings.steps = steps;
    settings.cone = PERP_CONE_UNSET;
    settings.smoothing = 0.0;
    settings.substep_tolerance = fmin(settings.substep_tolerance, substep_tolerance);
    perp_model *model;
    perp_state state;
    perp_run_result result;
    perp_error error = {0};
    assert_int_equal(perp_model_build(scene, NULL, &model, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_state_create(model, NULL, &state, NULL), PERP_STATUS_OK);
    record_judge *judge = record_judge_open(model, &settings);
    perp_run(model, &settings, NULL, watch, judge, &state, &result, &error);
    for (int i = 0; i < result.solution_count; i++) {
        record_judge_solution(judge, &state, &result.solutions[i]);
    }
    if (judge->text[0]) {
        print_error("%s: %s\n", name, judge->text);
    }
    const bool good = !judge->text[0];
    for (int i = 0; i < RECORD_CHECKS; i++) {
        judged[i] += judge->judged[i];
    }
    record_judge_close(judge);
    perp_run_result_free(&result);
    perp_state_free(&state);
    perp_model_free(model);
    return good;
}

/* Nothing is right for want of something to judge. */
static void check_counts(const perp_rung *rung)
{
    for (int i = 0; i < RECORD_CHECKS; i++) {
        const bool forces = rung->own_cone != PERP_CONE_UNSET, steps = rung->step;
        const bool there = i == RECORD_BALANCE                     ? forces
                           : i == RECORD_EVENTS || i == RECORD_GAP ? forces && steps
                                                                   : true;
        if (there && (steps || i < RECORD_EVENTS) && judged[i] < (steps ? 1000 : 30)) {
            fail_msg("%s: %s was judged %d times", rung->name, record_check_name((record_check)i), judged[i]);
        }
    }
}

static void test_reported(void **state)
{
    const char *rung = *state;
    static perp_diagnostics diagnostics;
    const perp_scene_load_options options = {0};
    struct dirent **folders;
    const int count = scandir(PERP_SOURCE_DIR "/examples", &folders, NULL, alphasort);
    const int text_count = (int)(sizeof texts / sizeof *texts);
    int wrong = 0, scenes = 0;
    assert_true(count > 0);
    memset(judged, 0, sizeof judged);
    for (int i = -text_count; i < count; i++) {
        const char *text = i < 0 ? texts[-1 - i] : NULL, *name = i < 0 ? "text" : folders[i]->d_name;
        char path[600];
        perp_scene *scene = NULL;
        memset(&diagnostics, 0, sizeof diagnostics);
        snprintf(path, sizeof path, "%s/examples/%s/scene.yaml", PERP_SOURCE_DIR, name);
        if (text) {
            perp_scene_load_text(text, strlen(text), name, NULL, &options, &scene, &diagnostics);
            assert_non_null(scene);
        } else {
            perp_scene_load_file(path, &options, &scene, &diagnostics);
        }
        if (scene) {
            wrong += !run_on(scene, name, rung, STEPS, INFINITY);
            wrong += !run_on(scene, name, rung, SPLIT_STEPS, 1e-6);
            scenes++;
        }
        perp_scene_free(scene);
    }
    for (int i = 0; i < count; i++) {
        free(folders[i]);
    }
    free(folders);
    assert_true(scenes > 30);
    assert_int_equal(wrong, 0);
    check_counts(perp_rung_find(rung));
}

int main(void)
{
    enum { MOST = 64 };
    struct CMUnitTest tests[MOST];
    int count = 0;
    for (int i = 0; i < perp_rung_count() && i < MOST; i++) {
        tests[count++] = (struct CMUnitTest){
            .name = perp_rung_at(i)->name, .test_func = test_reported, .initial_state = (void *)perp_rung_at(i)->name};
    }
    return _cmocka_run_group_tests("reported", tests, (size_t)count, NULL, NULL);
}
