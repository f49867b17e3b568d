/* The certificates of one state: what they share is made here, each is a file of its own. A state that is looked at
 * once is perp_analyze's; certifier.c looks at all states of a run. */
#include "analysis/analysis_point.h"
#include "base/settings_size.h"
#include "sim/sim.h"

#include <stdarg.h>
#include <stdio.h>

struct perp_analysis_memory {
    perp_arena arena;
};

static perp_status out_of_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
}

perp_status perp_analysis_reason(analysis_point *point, int contact, perp_error *error, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    perp_analysis *a = point->analysis;
    perp_reason *reasons = perp_arena_grow(point->arena, (perp_reason *)(uintptr_t)a->reasons, a->reason_count,
                                           &point->reason_capacity, sizeof *reasons);
    char *copy = perp_arena_text(point->arena, text, strlen(text));
    if (!reasons || !copy) {
        return out_of_memory(error);
    }
    reasons[a->reason_count++] = (perp_reason){.contact = contact, .text = copy};
    a->reasons = reasons;
    return PERP_STATUS_OK;
}

perp_run_settings perp_analysis_settings(const analysis_point *point, const char *name)
{
    perp_run_settings settings = *point->settings;
    settings.cancel = point->options.cancel;
    if (strcmp(settings.model, name) != 0) { /* options of another rung say nothing about an instant */
        settings.cone = PERP_CONE_UNSET;
        settings.smoothing = 0.0;
        settings.time_scale = 1.0;
        settings.without_ranges = true; /* modes and rates are asked for */
    }
    settings.model = (char *)(uintptr_t)name;
    return settings;
}

perp_status perp_analysis_instant(const analysis_point *point, const char *name, perp_run_result *result,
                                  perp_error *error)
{
    if (point->answering && strcmp(name, point->answering->settings.model) == 0) {
        return perp_sim_answer(point->answering, point->state, result, error);
    }
    const perp_run_settings settings = perp_analysis_settings(point, name);
    perp_state state;
    perp_status status = perp_state_create(point->model, &point->allocator, &state, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_state_copy(point->model, &state, point->state);
    status = perp_run(point->model, &settings, &point->allocator, NULL, NULL, &state, result, error);
    perp_state_free(&state);
    return status;
}

/* ---- what all certificates share --------------------------------------------------------------------------------- */

static perp_status copy_contacts(analysis_point *point, const perp_contact_record *records, int count,
                                 perp_error *error)
{
    perp_contact_record *copy = ANALYSIS_NEW(point, perp_contact_record, count);
    if (!copy) {
        return out_of_memory(error);
    }
    if (count > 0) {
        memcpy(copy, records, (size_t)count * sizeof *copy);
    }
    point->analysis->contacts = copy;
    point->analysis->contact_count = count;
    return PERP_STATUS_OK;
}

static perp_status look_at_state(analysis_point *point, perp_error *error)
{
    perp_kinematics_update(point->model, point->state->q, point->kinematics);
    return perp_contact_set_build(point->set, point->kinematics, error);
}

/* What rests on the state that the step began from, not on the step alone. */
static perp_status judge_state(analysis_point *point, perp_error *error)
{
    return point->by_hand ? perp_analysis_reason(point, -1, error,
                                                 "rigidity: commands, forces or the state were set from outside before "
                                                 "the step, and are not known any more")
                          : perp_analyze_rigidity(point, error);
}

static perp_status certify(analysis_point *point, perp_error *error)
{
    static const struct {
        unsigned bit;
        perp_status (*part)(analysis_point *point, perp_error *error);
    } parts[] = {{PERP_CERTIFY_EXISTENCE, perp_analyze_existence},
                 {PERP_CERTIFY_UNIQUENESS, perp_analyze_uniqueness},
                 {PERP_CERTIFY_RIGIDITY, judge_state},
                 {PERP_CERTIFY_CLOSURE, perp_analyze_closure}};
    perp_status status = PERP_STATUS_OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == PERP_STATUS_OK; i++) {
        if (point->options.certificates & parts[i].bit) {
            status = parts[i].part(point, error);
        }
    }
    return status;
}

perp_status perp_analysis_open(analysis_point *point, const perp_model *model, const perp_run_settings *settings,
                               const perp_allocator *allocator, perp_error *error)
{
    point->allocator = *allocator;
    point->model = model;
    point->settings = settings;
    point->rung = perp_rung_find(settings->model);
    perp_status status = perp_kinematics_create(model, &point->allocator, &point->kinematics, error);
    if (status == PERP_STATUS_OK) {
        status = perp_contact_model_build(model, &point->allocator, &point->contact_model, error);
    }
    return status == PERP_STATUS_OK
               ? perp_contact_set_create(point->contact_model, NULL, &point->allocator, &point->set, error)
               : status;
}

void perp_analysis_close(analysis_point *point)
{
    perp_contact_set_free(point->set);
    perp_contact_model_free(point->contact_model);
    perp_kinematics_free(point->kinematics);
}

perp_status perp_analysis_make(analysis_point *point, const perp_step_info *info, perp_analysis **analysis,
                               perp_error *error)
{
    perp_arena arena;
    perp_arena_init(&arena, &point->allocator);
    perp_analysis *made = PERP_ARENA_NEW(&arena, perp_analysis, 1);
    struct perp_analysis_memory *memory = PERP_ARENA_NEW(&arena, struct perp_analysis_memory, 1);
    *analysis = NULL;
    if (!made || !memory) {
        perp_arena_clear(&arena);
        return out_of_memory(error);
    }
    *made = (perp_analysis){.model = point->model,
                            .rung = point->rung,
                            .t = point->state->t,
                            .existence = {.solutions = -1},
                            .memory = memory};
    point->arena = &arena;
    point->analysis = made;
    point->reason_capacity = 0;
    point->cut = false;
    point->motions = (analysis_motions){0};
    perp_arena_init(&point->motions.arena, &point->allocator);
    perp_status status = look_at_state(point, error);
    status = status == PERP_STATUS_OK ? copy_contacts(point, info->contacts, info->contact_count, error) : status;
    status = status == PERP_STATUS_OK ? certify(point, error) : status;
    perp_arena_clear(&point->motions.arena);
    memory->arena = arena;
    if (status != PERP_STATUS_OK) {
        perp_analysis_free(made);
        return status;
    }
    *analysis = made;
    return PERP_STATUS_OK;
}

void perp_analysis_free(perp_analysis *analysis)
{
    if (analysis) {
        perp_arena arena = analysis->memory->arena;
        perp_arena_clear(&arena);
    }
}

/* ---- of a simulation ----------------------------------------------------------------------------------------------
 */

/* The next step, taken by a clone, or the answers about the instant, where they are asked about; their contacts. */
static perp_status look_ahead(analysis_point *point, perp_sim *clone, perp_step_info *info, perp_error *error)
{
    perp_status status = PERP_STATUS_OK;
    const bool needed = (point->options.certificates & ~(unsigned)PERP_CERTIFY_CLOSURE) != 0;
    point->stepped = PERP_STATUS_UNAVAILABLE;
    if (point->rung->step && needed) {
        point->stepped = perp_sim_step(clone, &point->why_not);
        if (point->stepped == PERP_STATUS_OUT_OF_MEMORY || point->stepped == PERP_STATUS_CANCELLED) {
            return perp_fail(error, point->stepped, "%s", point->why_not.message);
        }
    } else if (point->rung->answer && needed) {
        status = perp_analysis_instant(point, point->rung->name, &point->instant, error);
    }
    *info = *perp_sim_info(clone);
    if (point->instant.solution_count > 0) {
        info->contacts = point->instant.solutions[0].contacts;
        info->contact_count = point->instant.solutions[0].contact_count;
    }
    return status;
}

perp_status perp_analyze(const perp_sim *sim, const perp_analyze_options *options, perp_analysis **analysis,
                         perp_error *error)
{
    *analysis = NULL;
    analysis_point point = {.options = options ? *options : perp_analyze_options_default(),
                            .state = perp_sim_state(sim)};
    if (PERP_CHECK_SIZE(perp_analyze_options, &point.options, error) != PERP_STATUS_OK) {
        return PERP_STATUS_BAD_INPUT;
    }
    const perp_allocator allocator = point.options.allocator ? *point.options.allocator : perp_allocator_default();
    perp_sim *clone = NULL;
    perp_step_info info;
    perp_status status = perp_analysis_open(&point, perp_sim_model(sim), &sim->settings, &allocator, error);
    status = status == PERP_STATUS_OK ? perp_sim_clone(sim, &clone, error) : status;
    point.next = clone;
    status = status == PERP_STATUS_OK ? look_ahead(&point, clone, &info, error) : status;
    status = status == PERP_STATUS_OK ? perp_analysis_make(&point, &info, analysis, error) : status;
    perp_run_result_free(&point.instant);
    perp_sim_free(clone);
    perp_analysis_close(&point);
    return status;
}
