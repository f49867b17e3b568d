/* Explanations of a run: of the contacts that change their mode, in the step in which they do, and of all contacts of
 * the last step. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Units of perp_explainer_allow, about microseconds: for one step, and for all steps with changes of mode together; a
 * hard one among these leaves something for the others. Where it was asked for that is a few seconds. A result that
 * nobody asked to be explained must not wait for it. */
static const double WORK_PER_STEP = 4e5, WORK_AT_EVENTS = 8e5, ASKED = 5.0, UNASKED = 0.1;

enum { TEXT = 512, LINES = 20 };

perp_status cli_why_open(cli_why *why, const perp_model *model, cli_why_use use, perp_error *error)
{
    perp_explain_options options = perp_explain_options_default();
    const double share = use == CLI_WHY_ASKED ? ASKED : use == CLI_WHY_KEPT ? 1.0 : UNASKED;
    why->model = model;
    why->at_events = use != CLI_WHY_RESULT;
    options.work = 0.0;
    why->work = share * WORK_PER_STEP;
    why->work_left = share * WORK_AT_EVENTS;
    why->step = -1;
    return perp_explainer_create(model, &model->scene->run, &options, &why->explainer, error);
}

void cli_why_close(cli_why *why)
{
    perp_explainer_free(why->explainer);
    free(why->notes);
    free(why->texts);
    free(why->answer_notes);
    free(why->answer_texts);
    memset(why, 0, sizeof *why);
}

static bool reserve(cli_why *why, int count)
{
    if (count <= why->capacity) {
        return true;
    }
    const size_t capacity = 2 * (size_t)count;
    free(why->notes);
    free(why->texts);
    why->capacity = 0;
    why->notes = malloc(capacity * sizeof *why->notes);
    why->texts = malloc(capacity * TEXT);
    if (!why->notes || !why->texts) {
        return false;
    }
    why->capacity = 2 * count;
    return true;
}

/* A contact that was made in this step, or began to slide or to stick. */
static bool changed(const perp_contact_record *r, const perp_step_info *info)
{
    char feature[64];
    if (r->mode == PERP_CONTACT_OPEN) {
        return false;
    }
    perp_contact_feature_text(&r->contact, feature, sizeof feature);
    for (int i = 0; i < info->event_count; i++) {
        const perp_contact_event *e = &info->events[i];
        if (e->a == r->contact.a && e->b == r->contact.b && strcmp(e->feature, feature) == 0) {
            return true;
        }
    }
    return false;
}

static bool says_more(const perp_explanation *x)
{
    for (int i = 0; i < PERP_FLIP_KINDS; i++) {
        if (x->flips[i].search != PERP_FLIP_UNKNOWN) {
            return true;
        }
    }
    return false;
}

/* Explains the contacts of the last step. If `info` is given only those that have changed, and only as far as there is
 * more to say than the forces do: a long run has many changes. */
static bool explain(cli_why *why, const perp_contact_record *records, int count, const perp_step_info *info)
{
    if (!reserve(why, count)) {
        return false;
    }
    why->count = count;
    for (int i = 0; i < count; i++) {
        char *text = why->texts + (size_t)i * TEXT;
        perp_explanation x;
        perp_error error;
        why->notes[i] = (perp_contact_note){0};
        if (info && !changed(&records[i], info)) {
            continue;
        }
        const perp_status status = perp_explain(why->explainer, &records[i], &x, &error);
        if (status == PERP_STATUS_OUT_OF_MEMORY) {
            return false;
        }
        if (status == PERP_STATUS_OK && (!info || says_more(&x))) {
            perp_explanation_text(why->model, &x, text, TEXT);
            why->notes[i] = perp_explanation_note(&x, why->model->planar, text);
        }
    }
    return true;
}

bool cli_why_resume(cli_why *why, const perp_run_start *start, const perp_state *state)
{
    return !why->explainer || perp_explainer_resume(why->explainer, start, state);
}

bool cli_why_observe(cli_why *why, int step, int last, const perp_state *state, const perp_step_info *info)
{
    if (!why->explainer) {
        return true;
    }
    if (!perp_explainer_observe(why->explainer, step, state, info)) {
        return false;
    }
    const bool answered = perp_rung_find(why->model->scene->run.model)->answer != NULL; /* there is one state alone */
    const bool at_end = answered || step == last;
    if (!answered && (step == 0 || (step < last && (info->event_count == 0 || !why->at_events)))) {
        return true;
    }
    const double allowed = at_end ? why->work : fmin(why->work, why->work_left);
    why->step = step;
    perp_explainer_allow(why->explainer, allowed);
    const bool explained = explain(why, info->contacts, info->contact_count, at_end ? NULL : info);
    why->work_left -= at_end ? 0.0 : allowed - perp_explainer_work(why->explainer);
    return explained;
}

/* Every solution has its own words; those of the first are known. */
static bool explain_solutions(cli_why *why, perp_run_result *result)
{
    size_t total = 0, at = 0;
    for (int i = 0; i < result->solution_count; i++) {
        total += (size_t)result->solutions[i].contact_count;
    }
    why->answer_notes = calloc(total + 1, sizeof *why->answer_notes);
    why->answer_texts = malloc((total + 1) * TEXT);
    if (!why->answer_notes || !why->answer_texts) {
        return false;
    }
    for (int i = 0; i < result->solution_count; i++) {
        perp_instant_solution *s = &result->solutions[i];
        s->notes = why->answer_notes + at;
        for (int k = 0; k < s->contact_count; k++, at++) {
            char *text = why->answer_texts + at * TEXT;
            perp_explanation x;
            perp_error error;
            if (i == 0 && why->step == 0 && k < why->count) {
                why->answer_notes[at] = why->notes[k];
            } else if (perp_explain(why->explainer, &s->contacts[k], &x, &error) == PERP_STATUS_OK) {
                perp_explanation_text(why->model, &x, text, TEXT);
                why->answer_notes[at] = perp_explanation_note(&x, why->model->planar, text);
            }
        }
    }
    return true;
}

bool cli_why_finish(cli_why *why, perp_run_result *result, int last)
{
    if (!why->explainer) {
        return true;
    }
    if (result->solution_count > 0) {
        return explain_solutions(why, result);
    }
    if (result->steps == 0) {
        return true;
    }
    if (result->steps < last) { /* it stopped on the way */
        perp_explainer_allow(why->explainer, why->work);
        why->step = result->steps;
        if (!explain(why, result->contacts, result->contact_count, NULL)) {
            return false;
        }
    }
    result->notes = why->step == result->steps && why->count == result->contact_count ? why->notes : NULL;
    return true;
}

bool cli_why_log(const cli_why *why, int step, perp_log *log)
{
    return !log || !why->explainer || why->step != step || cli_interrupted() ||
           perp_log_explain(log, why->notes, why->count);
}

void cli_print_why(const perp_model *model, const char *title, const perp_contact_record *contacts,
                   const perp_contact_note *notes, int count)
{
    int lines = 0;
    for (int i = 0; notes && i < count; i++) {
        const perp_contact *c = &contacts[i].contact;
        char feature[64];
        if (!notes[i].why || ++lines > LINES) {
            continue;
        }
        if (lines == 1) {
            printf("%s\n", title);
        }
        perp_contact_feature_text(c, feature, sizeof feature);
        printf("  %s %s %s\n    %s\n", model->scene->bodies[c->a].name, model->scene->bodies[c->b].name, feature,
               notes[i].why);
    }
    cli_print_rest(lines, LINES);
}
