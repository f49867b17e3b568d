/* Random impacts: what contacts do in a step takes energy out of it. Bodies in random poses and motions, free or in
 * mechanisms of two, meet a floor and each other; the step begins with all gaps >= 0 and has no driven body, spring or
 * restitution. Then
 *
 *     v+' M v+  <=  v_free' M v_free,     M at the step's begin, v_free of the same step without contacts:
 *
 * forces r >= 0 at gaps do the work r (u_n - phi / h) <= 0 on v+ and friction never a positive one. The scene without
 * contacts is the same text with every pair of bodies excluded. */
#include <perp/perp.h>
#include <perp/scene_yaml.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "impact_scenes.h"
#include "sweep.h"

typedef struct outcome {
    perp_status status;
    perp_error error;
    double energy; /* of v+ with M at the begin */
    double gap;    /* the smallest at the begin */
    bool touched;
} outcome;

static bool note_gap(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    outcome *o = context;
    (void)state;
    for (int i = 0; i < info->contact_count; i++) {
        if (step == 0) {
            o->gap = fmin(o->gap, info->contacts[i].contact.phi);
        }
        o->touched = o->touched || info->contacts[i].mode != PERP_CONTACT_OPEN;
    }
    return step > 0 || o->gap >= 0.0;
}

static const struct {
    const char *model, *cone;
} RUNGS[] = {
    {"dyn-lcp", "rays"}, {"dyn-ncp", "quadratic"}, {"dyn-ncp", "box"}, {"dyn-qp", "rays"}, {"dyn-qp", "quadratic"}};
enum { RUNG_COUNT = sizeof RUNGS / sizeof *RUNGS };

static int scene_text(const impact *s, int rung, bool contacts, char *text, size_t size)
{
    int length = snprintf(text, size, "%s", s->text);
    if (!contacts) {
        length += snprintf(text + length, size - (size_t)length, "  exclude: [");
        for (int a = 0; a < s->bodies; a++) {
            for (int b = a + 1; b < s->bodies; b++) {
                length += snprintf(text + length, size - (size_t)length, "%s[%s, %s]", a + b > 1 ? ", " : "",
                                   s->names[a], s->names[b]);
            }
        }
        length += snprintf(text + length, size - (size_t)length, "]\n");
    }
    return length + snprintf(text + length, size - (size_t)length, "run: {model: %s, cone: %s, h: %.9f, steps: 1}\n",
                             RUNGS[rung].model, RUNGS[rung].cone, s->h);
}

static bool step_once(const impact *s, int rung, bool contacts, outcome *o)
{
    static perp_diagnostics diagnostics;
    static char text[2 * IMPACT_TEXT];
    const int length = scene_text(s, rung, contacts, text, sizeof text);
    const perp_scene_load_options options = {0};
    perp_scene *scene = NULL;
    perp_model *model = NULL;
    perp_state state = {0};
    perp_run_result result = {0};
    *o = (outcome){.gap = INFINITY};
    memset(&diagnostics, 0, sizeof diagnostics);
    bool good =
        perp_scene_load_text(text, (size_t)length, "impact", NULL, &options, &scene, &diagnostics) == PERP_STATUS_OK &&
        perp_model_build(scene, NULL, &model, NULL) == PERP_STATUS_OK &&
        perp_state_create(model, NULL, &state, NULL) == PERP_STATUS_OK;
    double *q = good ? malloc((size_t)model->nq * sizeof *q) : NULL;
    good = good && q;
    if (good) {
        memcpy(q, state.q, (size_t)model->nq * sizeof *q);
        o->status = perp_run(model, &scene->run, NULL, note_gap, o, &state, &result, &o->error);
        o->energy = impact_energy(model, q, state.v);
        perp_run_result_free(&result);
    }
    free(q);
    perp_state_free(&state);
    perp_model_free(model);
    perp_scene_free(scene);
    return good;
}

/* The first drawing whose bodies do not overlap. */
static bool find(uint64_t seed, int index, impact *s, outcome *o)
{
    perp_random random = {sweep_mix(seed, index)};
    for (int i = 0; i < IMPACT_DRAWS; i++) {
        impact_draw(s, &random);
        if (!step_once(s, index % RUNG_COUNT, true, o)) {
            return false;
        }
        if (o->gap >= 0.0 && o->touched) {
            return true;
        }
        if (o->gap >= 0.0 && o->status != PERP_STATUS_OK) {
            return true;
        }
    }
    return false;
}

static void show(uint64_t seed, int index)
{
    static impact s;
    static char text[2 * IMPACT_TEXT];
    outcome o;
    find(seed, index, &s, &o);
    scene_text(&s, index % RUNG_COUNT, true, text, sizeof text);
    fputs(text, stdout);
}

static void run(uint64_t seed, int index, sweep_case *result)
{
    static impact s;
    outcome with, without;
    result->kind = index % RUNG_COUNT;
    if (!find(seed, index, &s, &with)) {
        sweep_fail(result, "no scene was drawn");
    } else if (with.status != PERP_STATUS_OK) {
        sweep_miss(result, "%s: %s", perp_status_name(with.status), with.error.message);
    } else if (!step_once(&s, index % RUNG_COUNT, false, &without) || without.status != PERP_STATUS_OK) {
        sweep_fail(result, "the step without contacts: %s", without.error.message);
    } else if (!(with.energy <= without.energy * (1.0 + 1e-9))) {
        sweep_fail(result, "kinetic energy %.17g J, without contacts %.17g J", with.energy, without.energy);
    }
}

const sweep the_sweep = {
    .name = "impacts",
    .checks =
        "random impacts of 1 .. 5 bodies and mechanisms on the dynamic rungs: the kinetic energy after the step is at "
        "most that of the step without contacts, to 1e-9 of it",
    .full = 100000,
    .sample = 200,
    .chunk = 2500,
    .kinds = {"dyn-lcp", "dyn-ncp", "dyn-ncp box", "dyn-qp rays", "dyn-qp quadratic"},
    .run = run,
    .show = show,
};
