/* Random impacts on the rung `compliant`: kinetic and elastic energy together never grow. Bodies in random poses and
 * motions, free or in mechanisms of two, meet a floor and each other without gravity, with a stiffness from 1e2 to 1e8
 * N/m, any damping, steps from 0.1 to 30 ms. No step may end with more energy than the one before.
 *
 * The elastic energy is that of the elements' deformations, as the records have them. A force on the floor gives
 * residuals a unit of 10 N, which no weight does here. */
#include <perp/perp.h>
#include <perp/scene_yaml.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "impact_scenes.h"
#include "sweep.h"
#include "sweep_measure.h"

enum { STEPS_EACH = 40 };

enum { RUNS, STEPS, LOADED, SUBSTEPS, SHARP, LINEARISED, GROWTH, KEPT, COLUMNS };
static const measure_column columns[COLUMNS] = {
    {"runs", false},       {"steps", false},      {"with contact", false},          {"substeps", false},
    {"sharp cone", false}, {"linearised", false}, {"growth in a step, of E", true}, {"energy kept, of E", true}};

typedef struct drawn {
    impact scene;
    double stiffness[3], damping[3]; /* n, t, o */
    int elements;
    char text[2 * IMPACT_TEXT];
    int length;
} drawn;

typedef struct watch {
    const perp_model *model;
    const drawn *scene;
    bool apart, touched;
    double first, last, growth; /* J; the largest growth in a step over the first */
    double *row;
} watch;

static double any(perp_random *random, double low, double high)
{
    return pow(10.0, perp_random_uniform(random, low, high));
}

static void draw(drawn *d, perp_random *random)
{
    impact_draw(&d->scene, random);
    const double k = any(random, 2.0, 8.0), c = impact_pick(random, 4) == 0 ? 0.0 : any(random, -2.0, 3.5);
    for (int i = 0; i < 3; i++) {
        d->stiffness[i] = k * (i == 0 ? 1.0 : any(random, -1.0, 0.3));
        d->damping[i] = c * (i == 0 ? 1.0 : any(random, -1.0, 0.3));
    }
    d->elements = impact_pick(random, 3) == 0 ? 2 + impact_pick(random, 2) : 1;
    const double h = any(random, -4.0, -1.5), gamma = impact_pick(random, 2) == 0 ? 0.0 : 1e-4;
    const bool planar = d->scene.planar;
    int n = snprintf(d->text, sizeof d->text,
                     "%s  margin: 0.3\ngravity: [0, 0%s]\nforces: [{body: floor, force: [0, 10%s]}]\n"
                     "compliance: {stiffness: [%.9g, %.9g",
                     d->scene.text, planar ? "" : ", 0", planar ? "" : ", 0", d->stiffness[0], d->stiffness[1]);
    n += planar ? 0 : snprintf(d->text + n, sizeof d->text - (size_t)n, ", %.9g", d->stiffness[2]);
    n += snprintf(d->text + n, sizeof d->text - (size_t)n, "], damping: [%.9g, %.9g", d->damping[0], d->damping[1]);
    n += planar ? 0 : snprintf(d->text + n, sizeof d->text - (size_t)n, ", %.9g", d->damping[2]);
    n += snprintf(d->text + n, sizeof d->text - (size_t)n,
                  "], elements: %d, size: 0.01, gamma: %g, law: %s}\nrun: {model: compliant, h: %.9g, steps: %d}\n",
                  d->elements, gamma, impact_pick(random, 5) == 0 ? "hunt-crossley" : "kelvin-voigt", h, STEPS_EACH);
    d->length = n;
}

static double elastic_energy(const drawn *d, const perp_step_info *info)
{
    double energy = 0.0;
    for (int i = 0; i < info->element_count; i++) {
        for (int r = 0; r < 3; r++) {
            const double delta = info->elements[i].deformation[r];
            energy += 0.5 * d->stiffness[r] * delta * delta;
        }
    }
    return energy;
}

static bool observe(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    watch *w = context;
    bool loaded = false;
    const double energy = impact_energy(w->model, state->q, state->v) + elastic_energy(w->scene, info);
    for (int i = 0; i < info->contact_count; i++) {
        w->apart = w->apart && (step > 0 || info->contacts[i].contact.phi >= 0.0);
        loaded = loaded || info->contacts[i].mode != PERP_CONTACT_OPEN;
    }
    if (step == 0) {
        w->first = w->last = energy;
        return w->apart;
    }
    w->touched = w->touched || loaded;
    if (w->row) {
        w->row[STEPS]++;
        w->row[LOADED] += loaded ? 1 : 0;
    }
    if (!(energy - w->last <= w->growth * w->first)) {
        w->growth = (energy - w->last) / w->first;
    }
    w->last = energy;
    return true;
}

static bool run_drawn(const drawn *d, watch *w, perp_run_result *result, perp_status *status, perp_error *error)
{
    static perp_diagnostics diagnostics;
    const perp_scene_load_options options = {0};
    perp_scene *scene = NULL;
    perp_model *model = NULL;
    perp_state state = {0};
    memset(&diagnostics, 0, sizeof diagnostics);
    const bool good = perp_scene_load_text(d->text, (size_t)d->length, "impact", NULL, &options, &scene,
                                           &diagnostics) == PERP_STATUS_OK &&
                      perp_model_build(scene, NULL, &model, NULL) == PERP_STATUS_OK &&
                      perp_state_create(model, NULL, &state, NULL) == PERP_STATUS_OK;
    if (good) {
        w->model = model;
        w->scene = d;
        w->apart = true;
        *status = perp_run(model, &scene->run, NULL, observe, w, &state, result, error);
    }
    perp_state_free(&state);
    perp_model_free(model);
    perp_scene_free(scene);
    return good;
}

/* The first drawing whose bodies do not overlap and then meet. */
static bool find(uint64_t seed, int index, drawn *d)
{
    perp_random random = {sweep_mix(seed, index)};
    for (int i = 0; i < IMPACT_DRAWS; i++) {
        watch w = {0};
        perp_run_result result = {0};
        perp_error error;
        perp_status status = PERP_STATUS_OK;
        draw(d, &random);
        const bool good = run_drawn(d, &w, &result, &status, &error);
        perp_run_result_free(&result);
        if (!good || (w.apart && (w.touched || status != PERP_STATUS_OK))) {
            return good;
        }
    }
    return false;
}

static void show(uint64_t seed, int index)
{
    static drawn d;
    find(seed, index, &d);
    fputs(d.text, stdout);
}

static void run(uint64_t seed, int index, sweep_case *result)
{
    static const double ROUNDING = 1e-9; /* of E: the law is met to 1e-8 of forces that are a fraction of what stops */
    static drawn d;
    watch w = {0};
    perp_run_result run = {0};
    perp_error error = {0};
    perp_status status = PERP_STATUS_OK;
    if (!find(seed, index, &d)) {
        sweep_fail(result, "no scene was drawn");
        return;
    }
    result->kind = d.elements > 1;
    w.row = measure_row(d.elements > 1 ? "patches" : "points", columns, COLUMNS);
    run_drawn(&d, &w, &run, &status, &error);
    w.row[RUNS]++;
    w.row[SUBSTEPS] += run.fallbacks[PERP_FALLBACK_SUBSTEP];
    w.row[SHARP] += run.fallbacks[PERP_FALLBACK_SHARP];
    w.row[LINEARISED] += run.fallbacks[PERP_FALLBACK_LINEARISED];
    measure_most(&w.row[GROWTH], w.growth);
    measure_most(&w.row[KEPT], w.last / w.first);
    if (status != PERP_STATUS_OK) {
        sweep_miss(result, "%s: %s", perp_status_name(status), error.message);
    } else if (!(w.growth <= ROUNDING)) {
        sweep_fail(result, "energy grew by %.3g of what it was at first (%.3g J) in one step; at the end %.6g of it",
                   w.growth, w.first, w.last / w.first);
    }
    perp_run_result_free(&run);
}

const sweep the_sweep = {
    .name = "compliant_impacts",
    .checks = "random impacts of 1 .. 5 bodies and mechanisms on `compliant`, stiffness 1e2 .. 1e8 N/m, any damping, "
              "steps of 0.1 .. 30 ms, points and patches: kinetic and elastic energy never grow in a step",
    .full = 10000,
    .sample = 40,
    .chunk = 500,
    .kinds = {"points", "patches"},
    .run = run,
    .show = show,
};
