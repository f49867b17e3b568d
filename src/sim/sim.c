/* A simulation: its parts, one step, and what is read of it. */
#include "sim/sim.h"

#include "base/hash.h"
#include "contact/contact_reach.h"
#include "model/state.h"
#include "base/settings_size.h"

#include <math.h>

/* ---- creation -----------------------------------------------------------------------------------------------------
 */

static perp_status out_of_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a simulation");
}

static void copy(void *to, const void *from, int count, size_t size)
{
    if (count > 0) {
        memcpy(to, from, (size_t)count * size);
    }
}

/* The scene and the model with arrays of their own. */
static bool copy_scene(perp_sim *sim)
{
    const perp_scene *scene = sim->given->scene;
    sim->scene = *scene;
    sim->model = *sim->given;
    sim->model.scene = &sim->scene;
    sim->scene_forces = scene->force_count;
    sim->scene.joints = PERP_ARENA_NEW(&sim->arena, perp_joint, (size_t)scene->joint_count);
    sim->scene.bodies = PERP_ARENA_NEW(&sim->arena, perp_body, (size_t)scene->body_count);
    sim->scene.forces = PERP_ARENA_NEW(&sim->arena, perp_force, (size_t)scene->force_count + (size_t)scene->body_count);
    sim->commands = PERP_ARENA_NEW(&sim->arena, sim_channel, (size_t)scene->joint_count);
    sim->drives = PERP_ARENA_NEW(&sim->arena, sim_channel, 6 * (size_t)scene->body_count);
    sim->loops = PERP_ARENA_NEW(&sim->arena, perp_loop_force, (size_t)scene->loop_count);
    if (!sim->scene.joints || !sim->scene.bodies || !sim->scene.forces || !sim->commands || !sim->drives ||
        !sim->loops) {
        return false;
    }
    copy(sim->scene.joints, scene->joints, scene->joint_count, sizeof *scene->joints);
    copy(sim->scene.bodies, scene->bodies, scene->body_count, sizeof *scene->bodies);
    copy(sim->scene.forces, scene->forces, scene->force_count, sizeof *scene->forces);
    return true;
}

static perp_status make_parts(perp_sim *sim, perp_error *error)
{
    const perp_model *model = &sim->model;
    const size_t nq = (size_t)sim->given->nq, nv = (size_t)sim->given->nv;
    sim->step.next_q = PERP_ARENA_NEW(&sim->arena, double, nq);
    sim->step.next_v = PERP_ARENA_NEW(&sim->arena, double, nv);
    if (!sim->step.next_q || !sim->step.next_v || !copy_scene(sim)) {
        return out_of_memory(error);
    }
    sim->step.model = model;
    sim->step.settings = &sim->settings;
    sim->memory = (perp_run_memory){.step = &sim->step, .sim = sim};
    perp_status status = perp_contact_log_open(&sim->contacts, model, sim->max_contacts, &sim->allocator, error);
    if (status == PERP_STATUS_OK) {
        sim->step.contacts = sim->contacts.set;
        status = perp_kinematics_create(model, &sim->allocator, &sim->step.kinematics, error);
    }
    if (status == PERP_STATUS_OK && sim->step.rung->open) {
        status = sim->step.rung->open(&sim->step, &sim->allocator, error);
    }
    return status;
}

/* Does the rung remember something of a step that fails after all? Of one that has a single part it remembers nothing
 * before it has succeeded; its loops are checked at the end. */
static bool fails_late(const perp_sim *sim)
{
    return sim->step.rung->restore && (sim->step.rung->takes & PERP_TAKES_COMPLIANCE || sim->scene.loop_count > 0 ||
                                       isfinite(sim->settings.substep_tolerance));
}

/* What the rung remembers at first, for perp_sim_forget. */
static perp_status keep_fresh(perp_sim *sim, perp_error *error)
{
    sim->fresh_count = perp_run_memory_save(&sim->memory, NULL, 0);
    sim->fresh = PERP_ARENA_NEW(&sim->arena, double, sim->fresh_count);
    if (!sim->fresh) {
        return out_of_memory(error);
    }
    perp_run_memory_save(&sim->memory, sim->fresh, sim->fresh_count);
    return PERP_STATUS_OK;
}

perp_status perp_sim_forget(perp_sim *sim, perp_error *error)
{
    const perp_rung *rung = sim->step.rung;
    return rung->restore ? rung->restore(&sim->step, sim->fresh, sim->fresh_count, error) : PERP_STATUS_OK;
}

static perp_status fill(perp_sim *sim, const perp_state *state, perp_error *error)
{
    const perp_model *model = sim->given;
    perp_status status = make_parts(sim, error);
    if (status == PERP_STATUS_OK) {
        status = keep_fresh(sim, error);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_state_create(model, &sim->allocator, &sim->state, error);
    }
    if (status == PERP_STATUS_OK && state) {
        perp_state_copy(model, &sim->state, state);
    }
    sim->fails_late = fails_late(sim);
    sim->t_from = sim->state.t;
    sim->hash = perp_hash_begin();
    return status;
}

perp_status perp_sim_open(const perp_model *model, const perp_sim_settings *settings, const perp_state *state,
                          perp_sim **sim, perp_error *error)
{
    const perp_sim_settings defaults = perp_sim_settings_default();
    const perp_sim_settings *own = settings ? settings : &defaults;
    const perp_run_settings *run = own->run ? own->run : &model->scene->run;
    *sim = NULL;
    perp_status status = PERP_CHECK_SIZE(perp_sim_settings, own, error);
    status = status == PERP_STATUS_OK ? perp_run_check(run, error) : status;
    status =
        status == PERP_STATUS_OK && state ? perp_sim_check_state(model, state->t, state->q, state->v, error) : status;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const perp_allocator source = own->allocator ? *own->allocator : perp_allocator_default();
    sim_pool *pool = perp_sim_pool_create(&source, own->memory);
    const perp_allocator allocator = pool ? perp_sim_pool_allocator(pool) : source;
    perp_sim *made = pool ? allocator.allocate(allocator.context, sizeof *made) : NULL;
    if (!made) {
        perp_sim_pool_free(pool);
        return out_of_memory(error);
    }
    memset(made, 0, sizeof *made);
    *made = (perp_sim){.source = source, .pool = pool, .allocator = allocator, .given = model, .settings = *run};
    made->info = made->infos;
    made->bounded = own->memory > 0;
    made->max_contacts = own->max_contacts;
    made->step.rung = perp_rung_find(run->model);
    made->settings.model = made->step.rung->name; /* which the caller may free */
    perp_arena_init(&made->arena, &allocator);
    *sim = made;
    return fill(made, state, error);
}

void perp_sim_free(perp_sim *sim)
{
    if (!sim) {
        return;
    }
    /* Some of the rung's memory may be another library's; the rest goes with the pool. */
    if (sim->step.rung->close && sim->step.workspace) {
        sim->step.rung->close(&sim->step);
    }
    perp_contact_log_close(&sim->contacts);
    perp_kinematics_free(sim->step.kinematics);
    perp_state_free(&sim->state);
    perp_sim_pool_free(sim->pool);
}

perp_status perp_sim_judge_memory(perp_sim *sim, perp_status status, perp_error *error)
{
    if (!perp_sim_pool_refused(sim->pool)) {
        return status;
    }
    return perp_fail(error, PERP_STATUS_CAPACITY,
                     "the simulation needs more than the %zu bytes that it was given: more `memory` in its settings, "
                     "or 0 for as much as it needs",
                     perp_sim_pool_limit(sim->pool));
}

perp_status perp_sim_create(const perp_model *model, const perp_sim_settings *settings, perp_sim **sim,
                            perp_error *error)
{
    perp_status status = perp_sim_open(model, settings, NULL, sim, error);
    status = status == PERP_STATUS_OK ? perp_sim_begin(*sim, error) : status;
    status = *sim ? perp_sim_judge_memory(*sim, status, error) : status;
    if (status != PERP_STATUS_OK) {
        perp_sim_free(*sim);
        *sim = NULL;
    }
    return status;
}

/* ---- states -------------------------------------------------------------------------------------------------------
 */

static perp_status refuse_state(const perp_model *model, bool position, int index, double value, perp_error *error)
{
    for (int b = 0; b < model->body_count; b++) {
        const perp_link *link = &model->links[b];
        const int k = index - (position ? link->q_start : link->v_start);
        if (k >= 0 && k < (position ? link->q_count : link->v_count)) {
            const char *name = link->joint >= 0 ? model->scene->joints[link->joint].name : model->scene->bodies[b].name;
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "the state is not finite: %s of %s `%s`, number %d, is %g",
                             position ? "q" : "v", link->joint >= 0 ? "joint" : "body", name, k, value);
        }
    }
    return perp_fail(error, PERP_STATUS_BAD_INPUT, "the state is not finite: %s[%d] is %g", position ? "q" : "v", index,
                     value);
}

/* A caller's own state may hold anything; what comes of it later would blame something else. */
perp_status perp_sim_check_state(const perp_model *model, double t, const double *q, const double *v, perp_error *error)
{
    if (!isfinite(t)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the state is not finite: t is %g", t);
    }
    for (int i = 0; i < model->nq + model->nv; i++) {
        const bool position = i < model->nq;
        const int index = position ? i : i - model->nq;
        const double value = position ? q[index] : v[index];
        if (!isfinite(value)) {
            return refuse_state(model, position, index, value, error);
        }
    }
    return PERP_STATUS_OK;
}

/* What exact geometry says of a state. A body that is at no finite place was led there by its commands,
 * not by what the scene says: INFEASIBLE, as a command that is not finite itself. */
perp_status perp_sim_look(perp_sim *sim, perp_error *error)
{
    perp_error inner;
    perp_kinematics_update(&sim->model, sim->state.q, sim->step.kinematics);
    const perp_status status = perp_contact_log_record(&sim->contacts, sim->step.kinematics, sim->state.v, &inner);
    if (status != PERP_STATUS_OK) {
        return perp_fail(error, status == PERP_STATUS_BAD_INPUT ? PERP_STATUS_INFEASIBLE : status,
                         "contacts at t = %g s: %s", sim->state.t, inner.message);
    }
    return PERP_STATUS_OK;
}

/* The largest gap at which a contact carries force. */
static double widest_layer(perp_contact_record *records, int count)
{
    double widest = 0.0;
    for (int i = 0; i < count; i++) {
        perp_contact_record *r = &records[i];
        r->layer_observed = r->mode == PERP_CONTACT_OPEN ? 0.0 : fmax(0.0, r->contact.phi);
        widest = fmax(widest, r->layer_observed);
    }
    return widest;
}

/* The contacts of the state, with the forces of the step that led to it; `after_step`: there was one. */
static perp_status complete_info(perp_sim *sim, bool after_step, perp_error *error)
{
    perp_step_info *info = sim->info;
    const perp_rung *rung = sim->step.rung;
    perp_status status = perp_sim_look(sim, error);
    if (status == PERP_STATUS_OK && info->contact_count > 0) {
        status = perp_contact_log_merge(&sim->contacts, info->contacts, info->contact_count, error);
    } else if (status == PERP_STATUS_OK) {
        for (int i = 0; i < sim->contacts.count; i++) {
            sim->contacts.match[i] = i;
        }
    }
    if (status == PERP_STATUS_OK) {
        perp_contact_log_leave_out_far(&sim->contacts, sim->scene.margin);
    }
    info->contact_count = status == PERP_STATUS_OK ? sim->contacts.count : 0;
    info->contacts = sim->contacts.records;
    info->memory = &sim->memory;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (rung->convex) {
        info->residuals.boundary_layer = widest_layer(sim->contacts.records, sim->contacts.count);
    }
    info->residuals.penetration = fmax(0.0, -sim->contacts.set->smallest_gap);
    if (rung->look_back && after_step) {
        rung->look_back(&sim->step, &sim->state, sim->contacts.match, info);
    }
    return PERP_STATUS_OK;
}

perp_status perp_sim_begin(perp_sim *sim, perp_error *error)
{
    if (sim->step.rung->takes & PERP_TAKES_IMPEDANCE_AS_POSITION) {
        perp_prescribed_configuration(&sim->model, PERP_PRESCRIBE_IMPEDANCE_JOINTS, sim->state.t, sim->state.q);
        perp_prescribed_rate(&sim->model, PERP_PRESCRIBE_IMPEDANCE_JOINTS, sim->state.t, sim->state.v);
    }
    perp_state_hash(&sim->model, &sim->state, &sim->hash);
    memset(sim->info, 0, sizeof *sim->info);
    return complete_info(sim, false, error);
}

perp_status perp_sim_resume(perp_sim *sim, const perp_run_start *start, perp_error *error)
{
    const perp_rung *rung = sim->step.rung;
    const perp_status status = perp_sim_look(sim, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (!perp_contact_log_restore(&sim->contacts, start)) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while going on with a run");
    }
    memset(sim->info, 0, sizeof *sim->info);
    sim->info->contact_count = sim->contacts.count;
    sim->info->contacts = sim->contacts.records;
    sim->info->memory = &sim->memory;
    sim->steps = start->step;
    sim->counted_from = 0;
    sim->t_from = start->t_start;
    sim->hash = start->hash;
    if (rung->restore) {
        return rung->restore(&sim->step, start->memory, start->memory_count, error);
    }
    if (start->memory_count > 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "model `%s` remembers nothing", rung->name);
    }
    return PERP_STATUS_OK;
}

/* ---- one step -----------------------------------------------------------------------------------------------------
 */

/* Before a step: what take_back needs. */
static perp_status keep_for_undo(perp_sim *sim, perp_error *error)
{
    sim->undo_margin = perp_contact_set_margin(sim->contacts.set);
    if (!sim->fails_late) {
        return PERP_STATUS_OK;
    }
    sim->undo_count = perp_run_memory_save(&sim->memory, sim->undo, sim->undo_capacity);
    if (sim->undo_count > sim->undo_capacity) {
        const size_t capacity = 2 * sim->undo_count;
        double *larger = sim->allocator.allocate(sim->allocator.context, capacity * sizeof *larger);
        if (!larger) {
            return out_of_memory(error);
        }
        if (sim->undo) {
            sim->allocator.release(sim->allocator.context, sim->undo);
        }
        sim->undo = larger;
        sim->undo_capacity = capacity;
        perp_run_memory_save(&sim->memory, sim->undo, capacity);
    }
    if (!perp_sim_keep_elements(sim, sim->info->elements, sim->info->element_count)) {
        return out_of_memory(error);
    }
    sim->info->elements = sim->elements;
    return PERP_STATUS_OK;
}

/* After a step that failed: everything is as before it, also what its tries have moved. */
static void take_back(perp_sim *sim)
{
    perp_kinematics_update(&sim->model, sim->state.q, sim->step.kinematics);
    if (sim->step.rung->restore) {
        perp_contact_set_look(sim->contacts.set, sim->undo_margin);
    }
    perp_contact_set_build(sim->contacts.set, sim->step.kinematics, NULL); /* as it was once already */
    if (sim->fails_late) {
        sim->step.rung->restore(&sim->step, sim->undo, sim->undo_count, NULL);
    }
    perp_sim_lead_refresh(sim);
}

/* Moves the state, and says what became of its contacts. */
static perp_status take_step(perp_sim *sim, perp_error *error)
{
    /* Step k ends at a multiple of h, not at a running sum, so that times carry no accumulated rounding. */
    const double t_end = sim->t_from + (sim->steps + 1 - sim->counted_from) * sim->settings.h;
    perp_status status = sim->step.rung->restore ? keep_for_undo(sim, error) : PERP_STATUS_OK;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (sim->steered) {
        perp_sim_lead_steps(sim, t_end);
    }
    perp_step_info *info = sim->info == sim->infos ? sim->infos + 1 : sim->infos;
    memset(info, 0, offsetof(perp_step_info, lift.contact));
    status = sim->step.rung->step(&sim->step, t_end, &sim->state, info, error);
    sim->iterations = info->iterations;
    if (status != PERP_STATUS_OK) {
        take_back(sim);
        return status;
    }
    sim->info = info;
    if (sim->steered) {
        perp_sim_lead_done(sim);
    }
    sim->scene.force_count = sim->scene_forces;
    sim->memory.touched = sim->touched;
    sim->touched = false;
    perp_state_hash(&sim->model, &sim->state, &sim->hash);
    sim->steps++;
    status = complete_info(sim, true, error);
    if (status == PERP_STATUS_OK) {
        status = perp_contact_log_compare(&sim->contacts, sim->state.t, error);
        sim->info->event_count = sim->contacts.event_count;
        sim->info->events = sim->contacts.event_count > 0 ? sim->contacts.events : NULL;
    }
    return status;
}

perp_status perp_sim_step(perp_sim *sim, perp_error *error)
{
    sim->iterations = 0;
    if (!sim->step.rung->step) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "model `%s` answers about an instant and has no steps",
                         sim->step.rung->name);
    }
    if (sim->law && !sim->law(sim->law_context, sim)) {
        return perp_fail(error, PERP_STATUS_CANCELLED, "stopped at t = %g s, before step %d", sim->state.t,
                         sim->steps + 1);
    }
    perp_status status = take_step(sim, error);
    status = sim->bounded ? perp_sim_judge_memory(sim, status, error) : status;
    if (status == PERP_STATUS_OK && sim->observer &&
        !sim->observer(sim->observer_context, sim->steps, &sim->state, sim->info)) {
        return perp_fail(error, PERP_STATUS_CANCELLED, "stopped at t = %g s, after step %d", sim->state.t, sim->steps);
    }
    return status;
}

/* ---- reading ------------------------------------------------------------------------------------------------------
 */

const perp_state *perp_sim_state(const perp_sim *sim)
{
    return &sim->state;
}

const perp_step_info *perp_sim_info(const perp_sim *sim)
{
    return sim->info;
}

const perp_model *perp_sim_model(const perp_sim *sim)
{
    return &sim->model;
}

perp_pose perp_sim_pose(const perp_sim *sim, int body)
{
    return sim->step.kinematics->pose[body];
}

int perp_sim_steps(const perp_sim *sim)
{
    return sim->steps;
}

perp_hash perp_sim_hash(const perp_sim *sim)
{
    return sim->hash;
}

size_t perp_sim_memory(const perp_sim *sim)
{
    return perp_sim_pool_used(sim->pool);
}

perp_energy perp_sim_energy(const perp_sim *sim)
{
    return perp_energy_of(&sim->model, sim->step.kinematics, &sim->state);
}

/* ---- laws and observers -------------------------------------------------------------------------------------------
 */

void perp_sim_on_step(perp_sim *sim, perp_sim_law *law, void *context)
{
    sim->law = law;
    sim->law_context = context;
}

perp_status perp_sim_observe(perp_sim *sim, perp_observer *observer, void *context, perp_error *error)
{
    sim->observer = observer;
    sim->observer_context = context;
    if (observer && !observer(context, sim->steps, &sim->state, sim->info)) {
        return perp_fail(error, PERP_STATUS_CANCELLED, "stopped at t = %g s", sim->state.t);
    }
    return PERP_STATUS_OK;
}
