/* libFuzzer target: arbitrary bytes as a scene, with settings taken from its own head.
 *
 * Input: lines that start with "#!" are settings (PATH=VALUE), the rest is the scene. Whatever loads must also build a
 * model whose kinematics are finite: NaN never leaves the API. */
#include <perp/scene_yaml.h>
#include <perp/sim.h>
#include <perp/step.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_SETTINGS = 4, MAX_SETTING = 200 };

static void check_finite(const double *values, int count)
{
    for (int i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            abort();
        }
    }
}

static void check_state(const perp_model *model, const perp_state *state, perp_kinematics *kinematics)
{
    check_finite(state->q, model->nq);
    check_finite(state->v, model->nv);
    perp_kinematics_update(model, state->q, kinematics);
    for (int i = 0; i < model->body_count; i++) {
        double numbers[7];
        check_finite(numbers, perp_body_pose_numbers(model, kinematics, state->q, i, numbers));
    }
}

static void exercise(const perp_scene *scene)
{
    perp_model *model;
    perp_error error;
    if (scene->body_count > 1000 || perp_model_build(scene, NULL, &model, &error) != PERP_STATUS_OK) {
        return;
    }
    perp_state state;
    perp_kinematics *kinematics = NULL;
    if (perp_state_create(model, NULL, &state, &error) != PERP_STATUS_OK) {
        abort();
    }
    if (perp_kinematics_create(model, NULL, &kinematics, &error) != PERP_STATUS_OK) {
        abort();
    }
    check_state(model, &state, kinematics);
    perp_run_settings settings = scene->run;
    perp_run_result result;
    settings.model = "kinematic";
    settings.steps_set = true;
    settings.steps = settings.steps < 3 ? settings.steps : 3;
    const perp_status status = perp_run(model, &settings, NULL, NULL, NULL, &state, &result, &error);
    if (status != PERP_STATUS_OK && status != PERP_STATUS_BAD_INPUT && status != PERP_STATUS_INFEASIBLE) {
        abort();
    }
    check_state(model, &state, kinematics);
    perp_run_result_free(&result);
    perp_kinematics_free(kinematics);
    perp_state_free(&state);
    perp_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char texts[MAX_SETTINGS][MAX_SETTING];
    const char *settings[MAX_SETTINGS];
    int count = 0;
    while (count < MAX_SETTINGS && size >= 2 && data[0] == '#' && data[1] == '!') {
        const uint8_t *end = memchr(data, '\n', size);
        const size_t length = end ? (size_t)(end - data) : size;
        const size_t kept = length - 2 < MAX_SETTING - 1 ? length - 2 : MAX_SETTING - 1;
        memcpy(texts[count], data + 2, kept);
        texts[count][kept] = '\0';
        settings[count] = texts[count];
        count++;
        data += end ? length + 1 : length;
        size -= end ? length + 1 : length;
    }
    static perp_diagnostics diagnostics;
    memset(&diagnostics, 0, sizeof diagnostics);
    const perp_scene_load_options options = {.settings = settings, .setting_count = count};
    perp_scene *scene;
    const perp_status status =
        perp_scene_load_text((const char *)data, size, "fuzz.yaml", NULL, &options, &scene, &diagnostics);
    if ((status == PERP_STATUS_OK) != (scene != NULL) || (status == PERP_STATUS_OK) != (diagnostics.errors == 0)) {
        abort();
    }
    if (scene) {
        exercise(scene);
        perp_scene_free(scene);
    }
    return 0;
}
