/* From what the tests measured to a cause, in words. */
#include "compare/comparison.h"
#include "compare/tolerances.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *title;
} assumptions[PERP_ASSUMPTION_COUNT] = {
    [PERP_ASSUMPTION_NONE] = {"none", "none"},
    [PERP_ASSUMPTION_UNKNOWN] = {"unknown", "not found"},
    [PERP_ASSUMPTION_SEVERAL] = {"several", "several assumptions together"},
    [PERP_ASSUMPTION_CHOICE] = {"choice", "a choice among several answers"},
    [PERP_ASSUMPTION_LAYER] = {"boundary-layer", "the boundary layer of convex friction"},
    [PERP_ASSUMPTION_CONE] = {"cone", "the shape of the friction cone"},
    [PERP_ASSUMPTION_INERTIA] = {"inertia", "inertia"},
    [PERP_ASSUMPTION_COMPLIANCE] = {"compliance", "compliance of the contacts"},
    [PERP_ASSUMPTION_IMPEDANCE] = {"impedance", "springs of joints that one run takes for position control"},
    [PERP_ASSUMPTION_SMOOTHING] = {"smoothing", "smoothing of friction"},
    [PERP_ASSUMPTION_STEP] = {"step-size", "the step size"},
};

const char *perp_assumption_name(perp_assumption assumption)
{
    return assumptions[assumption].name;
}

typedef struct teller {
    compare_memory *m;
    const compare_pair *pair;
    char text[3000];
    bool told[MOST_TRIALS]; /* tests that the sentence has already */
    bool told_choice;
    size_t head; /* of the text: what is no test without a part in it; 0: all of it */
} teller;

static void add(teller *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(teller *t, const char *format, ...)
{
    const size_t at = strlen(t->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(t->text + at, sizeof t->text - at, format, arguments);
    va_end(arguments);
}

void perp_run_title(const compare_memory *m, int run, char *text, size_t size)
{
    const compare_spec *s = &m->jobs[run]->spec;
    if (m->options.h_count > 1) {
        snprintf(text, size, "%s, h = %g s", s->rung->name, s->settings.h);
    } else {
        snprintf(text, size, "%s", s->rung->name);
    }
}

static bool explains(const perp_compare_test *test)
{
    return test->status == PERP_STATUS_OK && test->left <= EXPLAINED;
}

/* ---- which assumption -------------------------------------------------------------------------------------------- */

/* The trial of an assumption that removes it as such, or by shorter steps; -1: there is none. */
static int find_trial(const compare_pair *pair, perp_assumption assumption, bool whole)
{
    for (int i = 0; i < pair->trial_count; i++) {
        if (pair->trials[i].assumption == assumption && pair->trials[i].whole == whole) {
            return i;
        }
    }
    return -1;
}

/* Shorter steps take more than the layer away: where the layer as such was removed too, that counts. */
static bool is_no_layer(const compare_pair *pair, int trial)
{
    const int whole = find_trial(pair, PERP_ASSUMPTION_LAYER, true);
    return pair->trials[trial].assumption == PERP_ASSUMPTION_LAYER && !pair->trials[trial].whole && whole >= 0 &&
           pair->tests[whole].status == PERP_STATUS_OK && pair->tests[whole].left > EXPLAINED;
}

static perp_assumption assumption_of(const compare_pair *pair, int trial)
{
    return is_no_layer(pair, trial) ? PERP_ASSUMPTION_STEP : pair->trials[trial].assumption;
}

/* The runs differ in one assumption and in nothing else: no test is needed to say which. UNKNOWN: in several. */
static perp_assumption sole_difference(const compare_memory *m, const compare_pair *pair)
{
    compare_spec changed[2] = {pair->own[0], pair->own[1]};
    changed[0].settings.h = changed[1].settings.h;
    changed[0].settings.steps = changed[1].settings.steps;
    if (perp_spec_same(&changed[0], &changed[1])) {
        return PERP_ASSUMPTION_STEP;
    }
    for (int i = 0; i < 2; i++) {
        compare_spec without = pair->own[i];
        if (perp_spec_without_layer(&without, m->springs) && perp_spec_same(&without, &pair->own[1 - i])) {
            return PERP_ASSUMPTION_LAYER;
        }
    }
    return PERP_ASSUMPTION_UNKNOWN;
}

/* The trial that leaves least; of an assumption, or of any (UNKNOWN). */
static int best_trial(const compare_pair *pair, perp_assumption assumption)
{
    int best = -1;
    for (int i = 0; i < pair->trial_count; i++) {
        const perp_compare_test *test = &pair->tests[i];
        if (test->status == PERP_STATUS_OK &&
            (assumption == PERP_ASSUMPTION_UNKNOWN || assumption_of(pair, i) == assumption) &&
            (best < 0 || test->left < pair->tests[best].left)) {
            best = i;
        }
    }
    return best;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static void tell_test(teller *t, int trial)
{
    const perp_compare_test *test = &t->pair->tests[trial];
    add(t, "with %s ", test->removed);
    add(t, test->left > LARGER ? "it is %.3g times as large" : "%.3g of the difference is left", test->left);
    add(t, " (%.4g of %.4g)", test->largest, t->pair->most.size);
    t->told[trial] = true;
}

/* All tests of one assumption, one after the other. */
static void tell_tests(teller *t, perp_assumption assumption)
{
    const char *before = "";
    for (int i = 0; i < t->pair->trial_count; i++) {
        if (t->pair->tests[i].status == PERP_STATUS_OK && assumption_of(t->pair, i) == assumption) {
            add(t, "%s", before);
            tell_test(t, i);
            before = ", ";
        }
    }
}

static void tell_choice(teller *t, const char *before)
{
    char taker[80], other[80];
    perp_run_title(t->m, t->pair->runs[t->pair->chooser], taker, sizeof taker);
    perp_run_title(t->m, t->pair->runs[1 - t->pair->chooser], other, sizeof other);
    add(t,
        "%sthe step that ends at t = %g s has more than one answer on %s; the motion that %s takes there meets its law "
        "too, off by %.2g of force and length",
        before, t->pair->choice_t, taker, other, t->pair->second.residual);
    t->told_choice = true;
}

static void tell_rest(teller *t)
{
    const char *before = "; without ";
    for (int i = 0; i < t->pair->trial_count; i++) {
        const perp_compare_test *test = &t->pair->tests[i];
        if (t->told[i]) {
            continue;
        }
        add(t, "%s%s (%s) ", before, assumptions[test->assumption].title, test->removed);
        before = ", without ";
        if (test->status == PERP_STATUS_OK) {
            add(t, test->left > LARGER ? "it is %.3g times as large" : "%.3g is left", test->left);
        } else if (test->status == PERP_STATUS_CAPACITY) {
            add(t, "was not tried (more tests than were allowed)");
        } else {
            add(t, "the run stopped before (%s)", perp_status_name(test->status));
        }
    }
    if (t->pair->chooser >= 0 && !t->told_choice) {
        tell_choice(t, "; where they part, ");
    }
    if (t->pair->choice_known && t->pair->chooser < 0) {
        add(t, "; where they part, neither motion is an answer of the other's step (off its law by %.2g)",
            t->pair->second.residual);
    }
}

static perp_assumption tell_sole(teller *t, perp_assumption sole)
{
    add(t, "%s, in which alone the two differ", assumptions[sole].title);
    if (best_trial(t->pair, sole) >= 0) {
        add(t, ": ");
        tell_tests(t, sole);
    }
    return sole;
}

static perp_assumption tell_explained(teller *t, int best)
{
    const perp_assumption first = assumption_of(t->pair, best);
    add(t, "%s: ", assumptions[first].title);
    tell_tests(t, first);
    for (int i = 0; i < t->pair->trial_count; i++) {
        if (!t->told[i] && explains(&t->pair->tests[i])) {
            add(t, "; %s explains it too: ", assumptions[assumption_of(t->pair, i)].title);
            tell_test(t, i);
        }
    }
    return first;
}

static perp_assumption tell_part(teller *t, int best)
{
    const compare_pair *pair = t->pair;
    const perp_compare_test *joined = pair->joins ? &pair->tests[pair->trial_count] : NULL;
    const bool together = joined && explains(joined);
    const bool part = best >= 0 && pair->tests[best].left <= IN_PART;
    const perp_assumption first = part       ? assumption_of(pair, best)
                                  : together ? PERP_ASSUMPTION_SEVERAL
                                             : PERP_ASSUMPTION_UNKNOWN;
    if (together) {
        add(t, "%s: ", assumptions[first].title);
        tell_tests(t, first);
        add(t, "%s%s all at once leave %.3g", part ? "; " : "", joined->removed, joined->left);
    } else if (part) {
        add(t, "%s, in part: ", assumptions[first].title);
        tell_tests(t, first);
    } else {
        add(t, "%s: %s", assumptions[PERP_ASSUMPTION_UNKNOWN].title,
            pair->trial_count > 0 ? "no assumption that was removed explains the difference"
                                  : "there is no assumption to remove that tells these two runs apart");
    }
    for (int i = 0; i < 2 && !part && !together; i++) {
        if (!pair->own[i].rung->law) {
            add(t, "; `%s` knows neither contact forces nor weights, and no test gives it any",
                pair->own[i].rung->name);
        }
    }
    if (!together && joined && joined->status == PERP_STATUS_OK) {
        add(t, "; %s all at once leave %.3g", joined->removed, joined->left);
    }
    return first;
}

/* Where a step has several answers, shorter steps may choose another one: that explains nothing. */
static perp_assumption decide(teller *t)
{
    const compare_pair *pair = t->pair;
    const perp_assumption sole = sole_difference(t->m, pair);
    const int best = best_trial(pair, PERP_ASSUMPTION_UNKNOWN);
    const bool explained = best >= 0 && explains(&pair->tests[best]);
    const bool chosen = pair->chooser >= 0;
    if (sole != PERP_ASSUMPTION_UNKNOWN && !chosen) {
        return tell_sole(t, sole);
    }
    if (explained && !(chosen && assumption_of(pair, best) == PERP_ASSUMPTION_STEP)) {
        return tell_explained(t, best);
    }
    if (chosen) {
        add(t, "%s: ", assumptions[PERP_ASSUMPTION_CHOICE].title);
        tell_choice(t, "");
        return PERP_ASSUMPTION_CHOICE;
    }
    return tell_part(t, best);
}

static perp_assumption tell(teller *t)
{
    const compare_pair *pair = t->pair;
    if (pair->times.count < 0) {
        add(t, "nothing to compare: a run did not start");
        return PERP_ASSUMPTION_UNKNOWN;
    }
    if (pair->times.count == 0) {
        add(t, "nothing to compare but the start: a run stopped in its first step");
        return PERP_ASSUMPTION_UNKNOWN;
    }
    if (pair->agree) {
        add(t,
            pair->most.column < 0 ? "none: the runs are equal" : "none: the runs agree to a millionth of their motion");
        return PERP_ASSUMPTION_NONE;
    }
    const perp_assumption cause = decide(t);
    t->head = strlen(t->text);
    tell_rest(t);
    return cause;
}

perp_status perp_cause_tell(compare_memory *m, const compare_pair *pair, perp_difference *d, perp_error *error)
{
    teller t = {.m = m, .pair = pair};
    d->assumption = tell(&t);
    d->cause = perp_arena_text(&m->arena, t.text, strlen(t.text));
    d->summary = perp_arena_text(&m->arena, t.text, t.head > 0 ? t.head : strlen(t.text));
    d->choice_known = pair->choice_known;
    d->choice_t = pair->choice_t;
    d->choice = pair->second;
    d->tests = pair->tests;
    d->test_count = pair->trial_count + (pair->joins ? 1 : 0);
    return d->cause && d->summary ? PERP_STATUS_OK
                                  : perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a comparison");
}
