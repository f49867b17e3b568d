/* The certificates of a run, step by step. What perp_analyze makes for one state is kept here from state to state: the
 * kinematics and contacts of the state that a step begins at, and a simulation of `instant` to ask about it. The step
 * itself is not taken again: the run's own has its problem and its answer. Memory comes from a pool, so that what a
 * step gives back serves the next one. */
#include "analysis/analysis_point.h"
#include "base/settings_size.h"
#include "sim/sim.h"
#include "step/common/trust.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Entries of tables that each search for all answers may compute: as many as the step's solver did in its iterations,
 * about, and at least as many as the rest of a step is worth. No clock is asked, so that equal runs have equal
 * verdicts. */
static const double WORK_LEAST = 1e4, WORK_PER_ITERATION = 10.0;

struct perp_certifier {
    perp_allocator source; /* the caller's */
    sim_pool *pool;
    unsigned stop_at;
    perp_run_settings settings; /* of the run; `model` is the rung's own name */
    analysis_point point;
    int begun_step;          /* the state in `begun` is that of this step; -1: none yet */
    perp_state begun;        /* where the next step begins */
    perp_analysis *analysis; /* of the last step; NULL: none */
    perp_step_trust trust;
    perp_arena words; /* behind `trust` */
    perp_trust_summary summary;
    perp_error failure; /* what ended the run */
};

static perp_status out_of_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for certificates");
}

/* ---- making --------------------------------------------------------------------------------------------------------
 */

/* A simulation to ask `instant` about states. Where the settings do not suit that rung there is none, and the rigidity
 * of each state is unknown for that reason. */
static perp_status open_answering(perp_certifier *c, const perp_model *model, const perp_allocator *allocator,
                                  perp_error *error)
{
    perp_run_settings settings = perp_analysis_settings(&c->point, "instant");
    perp_sim_settings own = perp_sim_settings_default();
    perp_error why;
    own.run = &settings;
    own.allocator = allocator;
    const perp_status status = perp_sim_open(model, &own, NULL, &c->point.answering, &why);
    if (status == PERP_STATUS_OK) {
        return status;
    }
    perp_sim_free(c->point.answering);
    c->point.answering = NULL;
    return status == PERP_STATUS_OUT_OF_MEMORY ? out_of_memory(error) : PERP_STATUS_OK;
}

static perp_status make_parts(perp_certifier *c, const perp_model *model, perp_error *error)
{
    const perp_allocator allocator = perp_sim_pool_allocator(c->pool);
    perp_arena_init(&c->words, &allocator);
    perp_status status = perp_state_create(model, &allocator, &c->begun, error);
    status = status == PERP_STATUS_OK ? perp_analysis_open(&c->point, model, &c->settings, &allocator, error) : status;
    return status == PERP_STATUS_OK ? open_answering(c, model, &allocator, error) : status;
}

perp_status perp_certifier_create(const perp_model *model, const perp_run_settings *settings,
                                  const perp_certifier_options *options, perp_certifier **certifier, perp_error *error)
{
    const perp_certifier_options chosen = options ? *options : perp_certifier_options_default();
    const perp_allocator source = chosen.allocator ? *chosen.allocator : perp_allocator_default();
    *certifier = NULL;
    perp_status status = PERP_CHECK_SIZE(perp_certifier_options, &chosen, error);
    status = status == PERP_STATUS_OK ? perp_run_check(settings, error) : status;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const perp_rung *rung = perp_rung_find(settings->model);
    if (!rung->law && !rung->answer) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "`%s` has no contact forces, and nothing to be certified",
                         rung->name);
    }
    perp_certifier *c = source.allocate(source.context, sizeof *c);
    if (!c) {
        return out_of_memory(error);
    }
    memset(c, 0, sizeof *c);
    c->source = source;
    c->stop_at = chosen.stop_at;
    c->begun_step = -1;
    c->settings = *settings;
    c->settings.model = (char *)(uintptr_t)rung->name;
    c->point.options = perp_analyze_options_default();
    c->point.options.certificates = chosen.certificates;
    c->point.options.verdicts_only = true;
    c->point.options.cancel = chosen.cancel;
    c->pool = perp_sim_pool_create(&source, 0);
    status = c->pool ? make_parts(c, model, error) : out_of_memory(error);
    if (status != PERP_STATUS_OK) {
        perp_certifier_free(c);
        return status;
    }
    *certifier = c;
    return PERP_STATUS_OK;
}

void perp_certifier_free(perp_certifier *c)
{
    if (!c) {
        return;
    }
    perp_analysis_free(c->analysis);
    perp_sim_free(c->point.answering);
    perp_analysis_close(&c->point);
    perp_sim_pool_free(c->pool); /* with all else */
    c->source.release(c->source.context, c);
}

/* ---- what is told of a step ----------------------------------------------------------------------------------------
 */

/* Where all is well there is nothing to explain. */
static bool is_well(const perp_analysis *a)
{
    const perp_verdict u = a->uniqueness.verdict, r = a->rigidity.verdict;
    return a->existence.verdict == PERP_VERDICT_EXISTS &&
           (u == PERP_VERDICT_UNIQUE || u == PERP_VERDICT_UNIQUE_AT_THESE_NORMAL_FORCES) &&
           (r == PERP_VERDICT_VALID || r == PERP_VERDICT_NO_CONTACT);
}

static bool moves(const perp_kinematics *kinematics, int body)
{
    const perp_twist *w = &kinematics->twist[body];
    return perp_vec3_norm(w->linear) > 0.0 || perp_vec3_norm(w->angular) > 0.0;
}

/* Is contact i of the analysis one that a bad verdict is about? The twists are those of the motion, if there is one. */
static bool is_concerned(const analysis_point *point, const perp_analysis *a, int i)
{
    const perp_contact_record *r = &a->contacts[i];
    const bool moved = a->uniqueness.motion && r->mode != PERP_CONTACT_OPEN &&
                       (moves(point->kinematics, r->contact.a) || moves(point->kinematics, r->contact.b));
    bool judged = false;
    for (int k = 0; k < a->rigidity.count && a->rigidity.verdict == PERP_VERDICT_INVALID; k++) {
        judged = judged || a->rigidity.contacts[k] == i;
    }
    return moved || judged;
}

static const char *contact_name(perp_certifier *c, const perp_contact *contact)
{
    const perp_body *bodies = c->point.model->scene->bodies;
    char feature[64], text[2 * PERP_SCENE_MAX_NAME + sizeof feature + 3];
    perp_contact_feature_text(contact, feature, sizeof feature);
    const int length =
        snprintf(text, sizeof text, "%s %s %s", bodies[contact->a].name, bodies[contact->b].name, feature);
    return perp_arena_text(&c->words, text, (size_t)length);
}

/* False without memory. */
static bool name_contacts(perp_certifier *c, const perp_analysis *a)
{
    const char **names = PERP_ARENA_NEW(&c->words, const char *, (size_t)a->contact_count);
    bool good = names != NULL;
    if (a->uniqueness.motion) {
        perp_kinematics_velocity(c->point.model, a->uniqueness.motion, c->point.kinematics);
    }
    for (int i = 0; i < a->contact_count && good; i++) {
        if (is_concerned(&c->point, a, i)) {
            const char *name = contact_name(c, &a->contacts[i].contact);
            names[c->trust.contact_count++] = name;
            good = name != NULL;
        }
    }
    c->trust.contacts = names;
    return good;
}

static bool tell(perp_certifier *c)
{
    const perp_analysis *a = c->analysis;
    perp_arena_clear(&c->words);
    c->trust = (perp_step_trust){.from = a->t,
                                 .existence = a->existence.verdict,
                                 .uniqueness = a->uniqueness.verdict,
                                 .rigidity = a->rigidity.verdict,
                                 .motion = a->uniqueness.motion,
                                 .motion_both_ways = a->uniqueness.motion_both_ways};
    if (is_well(a) && !c->point.cut) {
        return true;
    }
    const char **reasons = PERP_ARENA_NEW(&c->words, const char *, (size_t)a->reason_count);
    for (int i = 0; i < a->reason_count && reasons; i++) {
        reasons[i] = a->reasons[i].text;
    }
    c->trust.reason_count = a->reason_count;
    c->trust.reasons = reasons;
    return reasons && name_contacts(c, a);
}

/* ---- following the run ---------------------------------------------------------------------------------------------
 */

/* Does `stop_at` end the run here? With the evidence. */
static bool has_to_stop(perp_certifier *c, double t)
{
    const bool not_unique = c->trust.uniqueness == PERP_VERDICT_NOT_UNIQUE;
    const bool invalid = c->trust.rigidity == PERP_VERDICT_INVALID;
    if (!(not_unique && (c->stop_at & (1u << PERP_VERDICT_NOT_UNIQUE))) &&
        !(invalid && (c->stop_at & (1u << PERP_VERDICT_INVALID)))) {
        return false;
    }
    const bool of_motion = not_unique && (c->stop_at & (1u << PERP_VERDICT_NOT_UNIQUE));
    const char *contact = c->trust.contact_count > 0 ? c->trust.contacts[0] : "";
    char more[32] = "";
    if (c->trust.contact_count > 1) {
        snprintf(more, sizeof more, " and %d more", c->trust.contact_count - 1);
    }
    char when[64];
    if (c->point.rung->step) {
        snprintf(when, sizeof when, "in the step from %g s to %g s", c->trust.from, t);
    } else {
        snprintf(when, sizeof when, "at t = %g s", t);
    }
    perp_fail(&c->failure, PERP_STATUS_CANCELLED, "%s%s%.300s%s, %s",
              of_motion ? "the motion is not unique" : "the rigid model is not valid",
              c->trust.contact_count > 0 ? " at contact " : "", contact, more, when);
    c->failure.code = perp_verdict_name(of_motion ? PERP_VERDICT_NOT_UNIQUE : PERP_VERDICT_INVALID);
    snprintf(c->failure.evidence.contact, sizeof c->failure.evidence.contact, "%s", contact);
    c->failure.evidence.has_time = true;
    c->failure.evidence.time = t;
    return true;
}

/* What a search may take, in proportion to what the step took. */
static double work_of(const analysis_point *point, const perp_step_info *info)
{
    const contact_step *step = point->rung->step ? point->next->step.workspace : NULL;
    if (!step) {
        return perp_analyze_options_default().work;
    }
    const double size = step->free_count + step->foot_count + 3.0 * step->system.contact_count;
    return WORK_LEAST + WORK_PER_ITERATION * fmax(1.0, info->iterations) * size * size;
}

/* The certificate of the step that has just been taken, or of the instant. */
static perp_status certify(perp_certifier *c, int step, const perp_state *state, const perp_step_info *info)
{
    analysis_point *point = &c->point;
    point->next = info->memory->sim;
    point->by_hand = info->memory->touched || perp_sim_is_led(info->memory->sim);
    point->stepped = PERP_STATUS_OK;
    point->state = &c->begun;
    point->options.work = work_of(point, info);
    if (info->answer) {
        point->stepped = PERP_STATUS_UNAVAILABLE;
        point->state = state;
        point->instant = (perp_run_result){.solution_count = info->answer->solution_count,
                                           .solutions = (perp_instant_solution *)(uintptr_t)info->answer->solutions,
                                           .partial = info->answer->partial};
        snprintf(point->instant.why_none, sizeof point->instant.why_none, "%s", info->answer->why_none);
        snprintf(point->instant.left_out, sizeof point->instant.left_out, "%s", info->answer->left_out);
    }
    const perp_status status = perp_analysis_make(point, info, &c->analysis, &c->failure);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (!tell(c)) {
        return out_of_memory(&c->failure);
    }
    perp_trust_count(&c->summary, step, state->t, &c->trust);
    return PERP_STATUS_OK;
}

bool perp_certifier_observe(void *certifier, int step, const perp_state *state, const perp_step_info *info)
{
    perp_certifier *c = certifier;
    perp_analysis_free(c->analysis);
    c->analysis = NULL;
    c->failure = (perp_error){.status = PERP_STATUS_OK};
    const bool goes_on = c->begun_step >= 0 && step == c->begun_step + 1;
    const perp_status status = info->answer || goes_on ? certify(c, step, state, info) : PERP_STATUS_OK;
    perp_state_copy(c->point.model, &c->begun, state);
    c->begun_step = step;
    return status == PERP_STATUS_OK && !(c->analysis && has_to_stop(c, state->t));
}

void perp_certifier_resume(perp_certifier *c, const perp_run_start *start, const perp_state *state)
{
    perp_analysis_free(c->analysis);
    c->analysis = NULL;
    c->summary = start->trust;
    c->begun_step = start->step;
    perp_state_copy(c->point.model, &c->begun, state);
}

void perp_certifier_end(perp_certifier *c, const perp_error *failure)
{
    if (failure && failure->status != PERP_STATUS_OK && failure->status != PERP_STATUS_CANCELLED &&
        c->begun_step >= 0 && c->point.rung->step) {
        const bool none = perp_analysis_proves_none(failure);
        c->summary.existence[none ? PERP_VERDICT_NONE : PERP_VERDICT_UNKNOWN]++;
    }
}

/* ---- reading -------------------------------------------------------------------------------------------------------
 */

perp_status perp_certifier_status(const perp_certifier *c, perp_error *error)
{
    if (c->failure.status != PERP_STATUS_OK && error) {
        *error = c->failure;
    }
    return c->failure.status;
}

const perp_step_trust *perp_certifier_trust(const perp_certifier *c)
{
    return c->analysis ? &c->trust : NULL;
}

const perp_analysis *perp_certifier_analysis(const perp_certifier *c)
{
    return c->analysis;
}

const perp_trust_summary *perp_certifier_summary(const perp_certifier *c)
{
    return &c->summary;
}
