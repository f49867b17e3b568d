/* An analysis as JSON. */
#include <perp/analysis.h>

#include "trace/json_maker.h"
#include "trace/state_view.h"

#include <math.h>
#include <stdio.h>

static json_t *answer(perp_answer a)
{
    return a == PERP_ANSWER_UNKNOWN ? json_null() : json_boolean(a == PERP_ANSWER_YES);
}

static json_t *contact_name(const perp_analysis *a, int contact)
{
    const perp_contact *c = &a->contacts[contact].contact;
    const perp_body *bodies = a->model->scene->bodies;
    char feature[64], name[2 * PERP_SCENE_MAX_NAME + sizeof feature + 3];
    perp_contact_feature_text(c, feature, sizeof feature);
    snprintf(name, sizeof name, "%s %s %s", bodies[c->a].name, bodies[c->b].name, feature);
    return json_string(name);
}

static json_t *existence(const perp_analysis *a)
{
    const perp_existence *e = &a->existence;
    json_maker m = perp_json_object();
    perp_json_put(&m, "verdict", json_string(perp_verdict_name(e->verdict)));
    perp_json_put(&m, "solutions", e->solutions < 0 ? json_null() : json_integer(e->solutions));
    perp_json_put(&m, "complete", json_boolean(e->complete));
    return perp_json_finished(&m);
}

/* A velocity, by the names of bodies and joints. */
static json_t *motion(const perp_analysis *a, const double *rates)
{
    perp_state state;
    if (perp_state_create(a->model, NULL, &state, NULL) != PERP_STATUS_OK) {
        return NULL;
    }
    memcpy(state.v, rates, (size_t)a->model->nv * sizeof *rates);
    json_maker m = perp_json_object();
    state_entry entry;
    for (int cursor = 0; perp_state_next(a->model, &state, &cursor, &entry);) {
        perp_json_put(&m, entry.name, perp_json_reals(entry.v, entry.nv));
    }
    perp_state_free(&state);
    return perp_json_finished(&m);
}

static json_t *force_ranges(const perp_analysis *a)
{
    json_t *list = json_array();
    for (int i = 0; list && i < a->uniqueness.force_count; i++) {
        const perp_force_range *range = &a->uniqueness.forces[i];
        json_maker m = perp_json_object();
        json_t *tangential = json_array();
        const perp_contact *c = &a->contacts[range->contact].contact;
        for (int k = 0; tangential && k < perp_contact_tangents(c, a->model->planar); k++) {
            tangential = perp_json_appended(tangential, perp_json_reals(range->ft[k], 2));
        }
        perp_json_put(&m, "contact", contact_name(a, range->contact));
        perp_json_put(&m, "fn", perp_json_reals(range->fn, 2));
        perp_json_put(&m, "ft", tangential);
        list = perp_json_appended(list, perp_json_finished(&m));
    }
    return list;
}

/* What proves that there is another answer. */
static json_t *second(const perp_analysis *a)
{
    const perp_uniqueness *u = &a->uniqueness;
    json_maker m = perp_json_object();
    json_t *list = json_array();
    for (int i = 0; list && i < a->contact_count; i++) {
        json_maker one = perp_json_object();
        perp_json_put(&one, "contact", contact_name(a, i));
        perp_json_put(&one, "fn", perp_json_real(u->second_forces[i][0]));
        perp_json_put(
            &one, "ft",
            perp_json_reals(u->second_forces[i] + 1, perp_contact_tangents(&a->contacts[i].contact, a->model->planar)));
        list = perp_json_appended(list, perp_json_finished(&one));
    }
    perp_json_put(&m, "residual", perp_json_real(u->second_residual));
    perp_json_put(&m, "forces", list);
    return perp_json_finished(&m);
}

static json_t *uniqueness(const perp_analysis *a)
{
    const perp_uniqueness *u = &a->uniqueness;
    json_maker m = perp_json_object();
    perp_json_put(&m, "verdict", json_string(perp_verdict_name(u->verdict)));
    perp_json_put(&m, "margin", perp_json_real(u->margin));
    perp_json_put(&m, "printed_proposition",
                  u->printed == PERP_VERDICT_UNKNOWN ? json_null() : json_string(perp_verdict_name(u->printed)));
    perp_json_put(&m, "motion", u->motion ? motion(a, u->motion) : json_null());
    perp_json_put(&m, "motion_both_ways", u->motion ? json_boolean(u->motion_both_ways) : json_null());
    perp_json_put(&m, "motion_length", u->motion ? perp_json_real(u->motion_length) : json_null());
    perp_json_put(&m, "second", u->second_forces ? second(a) : json_null());
    perp_json_put(&m, "forces", force_ranges(a));
    return perp_json_finished(&m);
}

/* `rows` x `columns`, by rows. */
static json_t *matrix(const double *values, int rows, int columns)
{
    json_t *list = json_array();
    for (int i = 0; list && i < rows; i++) {
        list = perp_json_appended(list, perp_json_reals(values + i * columns, columns));
    }
    return list;
}

static json_t *rigidity(const perp_analysis *a)
{
    const perp_rigidity *r = &a->rigidity;
    json_maker m = perp_json_object();
    json_t *contacts = json_array();
    for (int i = 0; contacts && i < r->count; i++) {
        contacts = perp_json_appended(contacts, contact_name(a, r->contacts[i]));
    }
    perp_json_put(&m, "verdict", json_string(perp_verdict_name(r->verdict)));
    perp_json_put(&m, "contacts", contacts);
    perp_json_put(&m, "D", matrix(r->D, r->count, r->count));
    perp_json_put(&m, "eigenvalues", matrix(r->eigenvalues, r->count, 2));
    perp_json_put(&m, "p_matrix", answer(r->p_matrix));
    perp_json_put(&m, "stable", answer(r->stable));
    perp_json_put(&m, "kappa", r->has_kappa ? perp_json_real(r->kappa) : json_null());
    perp_json_put(&m, "kappa_min", r->has_kappa_min ? perp_json_real(r->kappa_min) : json_null());
    return perp_json_finished(&m);
}

static json_t *closure(const perp_analysis *a)
{
    json_maker all = perp_json_object();
    for (int i = 0; i < a->closure_count; i++) {
        const perp_closure *c = &a->closures[i];
        json_maker m = perp_json_object();
        perp_json_put(&m, "force_closure", json_boolean(c->force_closure));
        perp_json_put(&m, "form_closure", json_boolean(c->form_closure));
        perp_json_put(&m, "equilibrium", json_boolean(c->equilibrium));
        perp_json_put(&m, "jammed", json_boolean(c->jammed));
        perp_json_put(&m, "margin", perp_json_real(c->margin));
        perp_json_put(&m, "margin_at_least", perp_json_real(c->margin_least));
        perp_json_put(&m, "wedged", json_boolean(c->wedged));
        perp_json_put(&m, "form_closure_order", c->form_closure ? json_integer(c->form_closure_order) : json_null());
        perp_json_put(&m, "contacts", json_integer(c->contacts));
        perp_json_put(&all, a->model->scene->bodies[c->body].name, perp_json_finished(&m));
    }
    return perp_json_finished(&all);
}

static json_t *why(const perp_analysis *a)
{
    json_t *list = json_array();
    for (int i = 0; list && i < a->reason_count; i++) {
        const perp_reason *reason = &a->reasons[i];
        json_maker m = perp_json_object();
        const bool about_contact = reason->contact >= 0;
        perp_json_put(&m, "contact", about_contact ? contact_name(a, reason->contact) : json_null());
        perp_json_put(&m, "mode",
                      about_contact ? json_string(perp_contact_mode_name(a->contacts[reason->contact].mode))
                                    : json_null());
        perp_json_put(&m, "text", json_string(reason->text));
        list = perp_json_appended(list, perp_json_finished(&m));
    }
    return list;
}

char *perp_analysis_json(const perp_analysis *a, const perp_error *failure)
{
    json_maker m = perp_json_object();
    perp_json_put(&m, "status", json_string(a ? "ok" : "error"));
    if (a) {
        perp_json_put(&m, "model", json_string(a->rung->name));
        perp_json_put(&m, "t", perp_json_real(a->t));
        perp_json_put(&m, "existence", existence(a));
        perp_json_put(&m, "uniqueness", uniqueness(a));
        perp_json_put(&m, "rigidity", rigidity(a));
        perp_json_put(&m, "closure", closure(a));
        perp_json_put(&m, "why", why(a));
    }
    if (failure) {
        perp_json_put(&m, "error", perp_json_failure(failure));
    }
    return perp_json_dump(&m);
}
