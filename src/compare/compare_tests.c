/* The tests of a pair: an assumption in which the two differ is removed, and the pair is run again. */
#include "compare/comparison.h"
#include "compare/tolerances.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct trial_list {
    const compare_memory *m;
    compare_pair *pair;
    const compare_spec *own; /* 2 */
} trial_list;

/* A trial whose two runs are one and the same says nothing: they differ by their assumption alone. */
static void add(trial_list *l, perp_assumption assumption, const compare_spec spec[2], bool whole)
{
    const bool changed = !perp_spec_same(&spec[0], &l->own[0]) || !perp_spec_same(&spec[1], &l->own[1]);
    if (changed && !perp_spec_same(&spec[0], &spec[1]) && l->pair->trial_count < MOST_TRIALS) {
        l->pair->trials[l->pair->trial_count++] =
            (compare_trial){.assumption = assumption, .spec = {spec[0], spec[1]}, .whole = whole, .jobs = {-1, -1}};
    }
}

static void begin(const trial_list *l, compare_spec spec[2])
{
    memcpy(spec, l->own, 2 * sizeof *spec);
}

/* Shorter steps of the run with a boundary layer, and its rung without one at the same step. */
static void add_layer(trial_list *l)
{
    compare_spec spec[2];
    const bool convex[2] = {l->own[0].rung->convex, l->own[1].rung->convex};
    begin(l, spec);
    if (convex[0] != convex[1] && perp_spec_shorten(&spec[convex[0] ? 0 : 1])) {
        add(l, PERP_ASSUMPTION_LAYER, spec, false);
    }
    begin(l, spec);
    bool all = true;
    for (int i = 0; i < 2; i++) {
        all = all && (!convex[i] || perp_spec_without_layer(&spec[i], l->m->springs));
    }
    if (all && (convex[0] != convex[1] || l->own[0].settings.h != l->own[1].settings.h)) {
        add(l, PERP_ASSUMPTION_LAYER, spec, true);
    }
}

/* Of a pair with one convex run the other: the layer too goes with the step. */
static void add_step(trial_list *l)
{
    compare_spec spec[2];
    const bool convex[2] = {l->own[0].rung->convex, l->own[1].rung->convex};
    begin(l, spec);
    bool all = true;
    for (int i = 0; i < 2; i++) {
        all = all && ((convex[i] && !convex[1 - i]) || perp_spec_shorten(&spec[i]));
    }
    if (all) {
        add(l, PERP_ASSUMPTION_STEP, spec, false);
    }
}

/* One cone for both; in the plane all are one. */
static void add_cone(trial_list *l)
{
    static const perp_cone onto[] = {PERP_CONE_QUADRATIC, PERP_CONE_BOX};
    const perp_cone cones[2] = {perp_spec_cone(&l->own[0]), perp_spec_cone(&l->own[1])};
    const int before = l->pair->trial_count;
    if (l->m->scene->planar || cones[0] == cones[1] || cones[0] == PERP_CONE_UNSET || cones[1] == PERP_CONE_UNSET) {
        return;
    }
    for (int k = 0; k < 2 && l->pair->trial_count == before; k++) {
        compare_spec spec[2];
        begin(l, spec);
        if (perp_spec_onto_cone(&spec[0], onto[k], l->m->springs, l->own[1].rung) &&
            perp_spec_onto_cone(&spec[1], onto[k], l->m->springs, l->own[0].rung)) {
            add(l, PERP_ASSUMPTION_CONE, spec, true);
        }
    }
}

/* Where nothing resists a motion, as of a ball that rolls, the lightest one goes on all the same: so momentum is taken
 * away too. */
static void add_inertia(trial_list *l)
{
    compare_spec spec[2];
    begin(l, spec);
    if (l->own[0].rung->inertia == l->own[1].rung->inertia) {
        return;
    }
    perp_spec_without_inertia(&spec[0]);
    perp_spec_without_inertia(&spec[1]);
    add(l, PERP_ASSUMPTION_INERTIA, spec, true);
    begin(l, spec);
    const bool went_on[2] = {perp_spec_without_momentum(&spec[0]), perp_spec_without_momentum(&spec[1])};
    if (went_on[0] || went_on[1]) {
        add(l, PERP_ASSUMPTION_INERTIA, spec, true);
    }
}

static void add_contacts(trial_list *l)
{
    compare_spec spec[2];
    begin(l, spec);
    const bool soft[2] = {perp_spec_stiff(&spec[0]), perp_spec_stiff(&spec[1])};
    if (soft[0] != soft[1]) {
        add(l, PERP_ASSUMPTION_COMPLIANCE, spec, true);
    }
    begin(l, spec);
    const bool smooth[2] = {perp_spec_without_smoothing(&spec[0], l->m->scene),
                            perp_spec_without_smoothing(&spec[1], l->m->scene)};
    if (smooth[0] != smooth[1]) {
        add(l, PERP_ASSUMPTION_SMOOTHING, spec, true);
    }
}

static void add_impedance(trial_list *l)
{
    compare_spec spec[2];
    const unsigned one = l->own[0].rung->takes, other = l->own[1].rung->takes;
    begin(l, spec);
    if (l->m->springs && ((one ^ other) & PERP_TAKES_IMPEDANCE_AS_POSITION)) {
        spec[0].position = spec[1].position = true;
        add(l, PERP_ASSUMPTION_IMPEDANCE, spec, true);
    }
}

void perp_trials_list(const compare_memory *m, compare_pair *pair)
{
    trial_list l = {m, pair, pair->own};
    add_layer(&l);
    add_cone(&l);
    add_inertia(&l);
    add_contacts(&l);
    add_impedance(&l);
    add_step(&l);
}

/* ---- several at once --------------------------------------------------------------------------------------------- */

/* `to` with what `from` changes. */
static void take_over(const compare_spec *own, const compare_spec *from, compare_spec *to)
{
    const perp_run_settings *changed = &from->settings;
    if (from->rung != own->rung) {
        to->rung = from->rung;
        to->settings.model = changed->model;
        to->settings.cone = changed->cone;
    }
    if (changed->h != own->settings.h) {
        to->settings.h = changed->h;
        to->settings.steps = changed->steps;
    }
    to->settings.rays = changed->rays != own->settings.rays ? changed->rays : to->settings.rays;
    to->settings.cone = changed->cone != own->settings.cone ? changed->cone : to->settings.cone;
    to->settings.smoothing = fmin(to->settings.smoothing, changed->smoothing);
    to->inertia = fmin(to->inertia, from->inertia);
    to->stiffness = fmax(to->stiffness, from->stiffness);
    to->sharp = to->sharp || from->sharp;
    to->position = to->position || from->position;
    to->forgetful = to->forgetful || from->forgetful;
}

bool perp_trials_join(compare_pair *pair)
{
    compare_trial *joined = &pair->joined;
    bool in_part = false;
    int count = 0;
    *joined =
        (compare_trial){.assumption = PERP_ASSUMPTION_SEVERAL, .spec = {pair->own[0], pair->own[1]}, .jobs = {-1, -1}};
    for (int i = 0; i < pair->trial_count; i++) {
        in_part = in_part || (pair->tests[i].status == PERP_STATUS_OK && pair->tests[i].left <= IN_PART);
    }
    for (int i = 0; i < pair->trial_count; i++) {
        const compare_trial *t = &pair->trials[i];
        if (pair->tests[i].status != PERP_STATUS_OK || (in_part && pair->tests[i].left > IN_PART)) {
            continue;
        }
        for (int k = 0; k < 2; k++) {
            take_over(&pair->own[k], &t->spec[k], &joined->spec[k]);
        }
        count++;
    }
    return count > 1 && !perp_spec_same(&joined->spec[0], &joined->spec[1]);
}

/* ---- what came of it --------------------------------------------------------------------------------------------- */

static perp_status describe(const compare_memory *m, const compare_pair *pair, const compare_trial *trial,
                            perp_compare_test *test, perp_error *error)
{
    char words[2][200], text[512];
    for (int k = 0; k < 2; k++) {
        perp_spec_describe(&pair->own[k], &trial->spec[k], words[k], sizeof words[k]);
    }
    if (words[0][0] && strcmp(words[0], words[1]) == 0) {
        snprintf(text, sizeof text, "%s in both", words[0]);
    } else {
        const bool both = words[0][0] && words[1][0];
        char where[2][40] = {"", ""};
        for (int k = 0; k < 2; k++) {
            if (words[k][0] && trial->spec[k].rung == pair->own[k].rung) {
                snprintf(where[k], sizeof where[k], " in %s", pair->own[k].rung->name);
            }
        }
        snprintf(text, sizeof text, "%s%s%s%s%s", words[0], where[0], both ? " and " : "", words[1], where[1]);
    }
    test->removed = perp_arena_text((perp_arena *)(uintptr_t)&m->arena, text, strlen(text));
    return test->removed ? PERP_STATUS_OK
                         : perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a comparison");
}

perp_status perp_trial_judge(const compare_memory *m, compare_pair *pair, const compare_trial *trial,
                             perp_compare_test *test, perp_error *error)
{
    *test = (perp_compare_test){.assumption = trial->assumption, .status = PERP_STATUS_CAPACITY, .left = 1.0};
    if (trial->jobs[0] >= 0 && trial->jobs[1] >= 0) {
        const compare_job *a = m->jobs[trial->jobs[0]], *b = m->jobs[trial->jobs[1]];
        compare_times times = perp_track_times(a, b);
        const int ends = perp_track_step(pair->times.h, times.count * times.h);
        times = (compare_times){pair->times.h, times.count < 0            ? -1
                                               : ends < pair->times.count ? ends
                                                                          : pair->times.count};
        const perp_status stopped = a->status != PERP_STATUS_OK ? a->status : b->status;
        test->largest = perp_track_most(a, b, times).size;
        test->left = test->largest / pair->most.size;
        test->status = times.count >= pair->most.step ? PERP_STATUS_OK
                       : stopped != PERP_STATUS_OK    ? stopped
                                                      : PERP_STATUS_UNAVAILABLE;
    }
    return describe(m, pair, trial, test, error);
}
