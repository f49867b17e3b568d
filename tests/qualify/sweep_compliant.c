/* The scenes of the quasistatic sweep, their free bodies lifted by up to 0.2 m and let go: 2 s in steps of 1 ms on
 * `compliant`, with stiffnesses from 1e3 to 1e6 N/m, damping ratios from 0 to 1, points and patches, Kelvin-Voigt and
 * Hunt-Crossley.
 *
 * Every step is judged by its own residuals, its numbers being numbers, its forces in their cones (which every fourth
 * scene, with a gamma, widens: not judged there), and what it reports by record_judge.h. A stop must be of a type.
 */
#include "dropped_scenes.h"
#include "quasistatic_scenes.h"
#include "sweep_watch.h"

#include <math.h>

enum { STEPS_EACH = 2000 }; /* of 1 ms */

enum { SUBSTEPS = WATCH_OWN, UNSTABILISED, CONTINUED, SHARP, LINEARISED, SPEED, COLUMNS };
static const measure_column columns[COLUMNS] = {
    WATCH_COLUMNS("penetration, m"), {"substeps", false},   {"unstabilised", false},      {"continuation", false},
    {"sharp cone", false},           {"linearised", false}, {"speed, m/s or rad/s", true}};

static perp_scene *soft_scene(uint64_t seed, int index)
{
    perp_random random = {sweep_mix(seed + 177, index)};
    perp_scene *scene = dropped_scene(seed, index, STEPS_EACH);
    perp_compliance *c = &scene->compliance;
    const double k = pow(10.0, perp_random_uniform(&random, 3.0, 6.0)), ratio = perp_random_uniform(&random, 0.0, 1.0);
    c->stiffness = (perp_tensor){.count = 1, .values = {k}};
    c->damping = (perp_tensor){.count = 1, .values = {2.0 * ratio * sqrt(0.1 * k)}}; /* of 0.1 kg */
    c->law = index % 5 == 2 ? PERP_LAW_HUNT_CROSSLEY : PERP_LAW_KELVIN_VOIGT;
    c->elements = index % 3 == 1 ? 2 : 1;
    c->size = 0.01;
    c->gamma = index % 4 == 3 ? 1e-4 : 0.0;
    return scene;
}

static bool observe(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    sweep_watch *w = context;
    watch_reported(w, step, state, info);
    if (step > 0) {
        if (w->model->scene->compliance.gamma == 0.0) {
            watch_records(w, state, info);
        }
        watch_penetration(w, state, info, INFINITY); /* measured: it is what carries */
        for (int i = 0; i < w->model->nv; i++) {
            measure_most(&w->row[SPEED], fabs(state->v[i]));
            if (!isfinite(state->v[i])) {
                sweep_fail(w->result, "a velocity that is none at t = %g", state->t);
            }
        }
    }
    watch_remember(w, state);
    return true;
}

/* Springs give way: there is no jam. */
static quasistatic_finding judge_jam(sweep_watch *w, const perp_state *state)
{
    (void)w;
    (void)state;
    return (quasistatic_finding){.verdict = QUASISTATIC_DISPROVED};
}

static void run(uint64_t seed, int index, sweep_case *result)
{
    perp_scene *scene = soft_scene(seed, index);
    perp_model *model = NULL;
    perp_error error = {0};
    result->kind = (int)quasistatic_family_of(index);
    if (perp_model_build(scene, NULL, &model, &error) != PERP_STATUS_OK) {
        sweep_fail(result, "no model: %s", error.message);
        perp_scene_free(scene);
        return;
    }
    perp_run_settings settings = scene->run;
    settings.model = "compliant";
    settings.model_set = true;
    sweep_watch w = {
        .result = result, .row = measure_row("compliant", columns, COLUMNS), .dynamic = true, .judge_jam = judge_jam};
    watch_open(&w, model, perp_rung_find("compliant"), &settings);
    watch_run(&w, observe, &w, index);
    w.row[SUBSTEPS] += w.run.fallbacks[PERP_FALLBACK_SUBSTEP];
    w.row[UNSTABILISED] += w.run.fallbacks[PERP_FALLBACK_UNSTABILISED];
    w.row[CONTINUED] += w.run.fallbacks[PERP_FALLBACK_CONTINUED];
    w.row[SHARP] += w.run.fallbacks[PERP_FALLBACK_SHARP];
    w.row[LINEARISED] += w.run.fallbacks[PERP_FALLBACK_LINEARISED];
    watch_close(&w);
    perp_model_free(model);
    perp_scene_free(scene);
}

static void show(uint64_t seed, int index)
{
    perp_scene *scene = soft_scene(seed, index);
    scene_as_yaml(scene, stdout);
    perp_scene_free(scene);
}

const sweep the_sweep = {
    .name = "compliant",
    .checks = "the scenes of the quasistatic sweep, free bodies dropped from up to 0.2 m, 2 s in steps of 1 ms on "
              "`compliant` (1e3 .. 1e6 N/m, damping ratios 0 .. 1, points and patches, both laws): no NaN, every step "
              "meets its law to 1e-8, forces in their cones, what steps report is what their states say, every stop "
              "has a type",
    .full = 1000,
    .sample = 6,
    .chunk = 50,
    .kinds = {"groove", "bin", "stack", "table", "gripper", "articulated"},
    .run = run,
    .show = show,
};
