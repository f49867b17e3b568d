/* Why does the crate not move, and what would move it? A crate of 100 N on the floor is pushed harder from step to
 * step: it holds, and then slides. An explainer follows the run and is asked after every step. */
#include <perp/perp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char scene_text[] = "perp: 1\n"
                                 "planar: true\n"
                                 "gravity: [0, -10]\n"
                                 "bodies:\n"
                                 "  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
                                 "  crate: {mass: 10, free: [x, y], shapes: [{point: {}}]}\n"
                                 "forces: [{body: crate, point: [0, 0], force: [{rate: 2000}, 0]}]\n"
                                 "contacts: {friction: 0.5}\n"
                                 "run: {model: quasidynamic, h: 0.01, steps: 3}\n";

typedef struct story {
    const perp_model *model;
    perp_explainer *explainer;
} story;

/* An observer of the run: first the explainer sees the step, then it can be asked about it. */
static bool tell(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    story *s = context;
    if (!perp_explainer_observe(s->explainer, step, state, info)) {
        return false;
    }
    for (int i = 0; step > 0 && i < info->contact_count; i++) {
        perp_explanation x;
        perp_error error;
        char words[300];
        if (perp_explain(s->explainer, &info->contacts[i], &x, &error) != PERP_STATUS_OK) {
            printf("%s\n", error.message);
            return false;
        }
        perp_explanation_text(s->model, &x, words, sizeof words);
        printf("pushed with %.0f N: %s\n", 2000.0 * state->t, words);
    }
    return true;
}

int main(void)
{
    static perp_diagnostics diagnostics;
    perp_scene *scene = NULL;
    perp_model *model = NULL;
    perp_state state = {0};
    perp_run_result result = {0};
    perp_error error = {0};
    story s = {0};
    perp_status status =
        perp_scene_load_text(scene_text, strlen(scene_text), "crate", NULL, NULL, &scene, &diagnostics);
    if (status == PERP_STATUS_OK) {
        status = perp_model_build(scene, NULL, &model, &error);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_state_create(model, NULL, &state, &error);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_explainer_create(model, &scene->run, NULL, &s.explainer, &error);
    }
    if (status == PERP_STATUS_OK) {
        s.model = model;
        status = perp_run(model, &scene->run, NULL, tell, &s, &state, &result, &error);
    }
    if (status != PERP_STATUS_OK) {
        printf("%s\n", error.message);
    }
    perp_run_result_free(&result);
    perp_explainer_free(s.explainer);
    if (state.q) {
        perp_state_free(&state);
    }
    perp_model_free(model);
    perp_scene_free(scene);
    return status == PERP_STATUS_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
