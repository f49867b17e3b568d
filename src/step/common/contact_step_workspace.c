/* The memory of a run with contact forces. What depends on the model alone is taken once; what depends on the number of
 * contacts is one block that grows when a state has more of them than any before, so that steady state takes none. */
#include "contact/contact_reach.h"
#include "step/common/dynamic.h"
#include "step/common/rung_cone.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

int perp_step_loop_rows(const perp_model *model)
{
    int rows = 0;
    for (int i = 0; i < model->scene->loop_count; i++) {
        rows += perp_loop_rows(model, i);
    }
    return rows;
}

/* The arrays of a step problem, that of all or that of an island: what the model alone decides the size of. */
static perp_status hold_by_model(contact_step *step, memory_block *block, perp_error *error)
{
    const perp_model *model = step->model;
    const int nv = model->nv, equations = step->loop_row_count, feet = step->foot_capacity, n = nv + feet;
    const block_array arrays[] = {PERP_ARRAY(step->free_of_dof, n),
                                  PERP_ARRAY(step->dof_of_free, n),
                                  PERP_ARRAY(step->tree_of_free, n),
                                  PERP_ARRAY(step->turns, n),
                                  PERP_ARRAY(step->block_start, model->tree_count + feet + 1),
                                  PERP_ARRAY(step->hessian, model->mass_size + feet),
                                  PERP_ARRAY(step->g, n),
                                  PERP_ARRAY(step->lower, n),
                                  PERP_ARRAY(step->upper, n),
                                  PERP_ARRAY(step->x, n),
                                  PERP_ARRAY(step->y_lower, n),
                                  PERP_ARRAY(step->y_upper, n),
                                  PERP_ARRAY(step->y_equality, equations),
                                  PERP_ARRAY(step->loop_row, equations),
                                  PERP_ARRAY(step->equality_start, equations + 1),
                                  PERP_ARRAY(step->equality_dofs, equations * nv),
                                  PERP_ARRAY(step->equality_values, equations * nv),
                                  PERP_ARRAY(step->equality_target, equations)};
    return perp_block_arrays(&step->allocator, block, arrays, sizeof arrays / sizeof *arrays, error);
}

/* And what the number of contacts does. */
static perp_status hold_by_contacts(contact_step *step, int rows, memory_block *block, perp_error *error)
{
    const int contacts = step->contact_capacity, dofs = step->dof_capacity;
    const block_array arrays[] = {PERP_ARRAY(step->row_start, contacts + 1),
                                  PERP_ARRAY(step->dof_start, contacts + 1),
                                  PERP_ARRAY(step->dofs, dofs),
                                  PERP_ARRAY(step->jacobian, rows * dofs),
                                  PERP_ARRAY(step->offset, rows * contacts),
                                  PERP_ARRAY(step->force, rows * contacts),
                                  PERP_ARRAY(step->mu, contacts),
                                  PERP_ARRAY(step->shift, contacts),
                                  PERP_ARRAY(step->room, contacts),
                                  PERP_ARRAY(step->layer, contacts),
                                  PERP_ARRAY(step->set_index, contacts)};
    return perp_block_arrays(&step->allocator, block, arrays, sizeof arrays / sizeof *arrays, error);
}

contact_step perp_step_room_for_island(contact_step *step)
{
    contact_step one = *step;
    perp_status status = hold_by_model(&one, &step->island_by_model, NULL);
    status = status == PERP_STATUS_OK ? hold_by_contacts(&one, step->contacts->rows, &step->island_by_contacts, NULL)
                                      : status;
    assert(status == PERP_STATUS_OK); /* the blocks are large enough: perp_step_reserve */
    (void)status;
    return one;
}

static perp_status hold_trees(contact_step *step, perp_error *error)
{
    const int trees = step->model->tree_count, bodies = step->model->body_count;
    const block_array arrays[] = {PERP_ARRAY(step->island_of_tree, trees), PERP_ARRAY(step->joined, trees),
                                  PERP_ARRAY(step->islands, trees),        PERP_ARRAY(step->last_island, trees),
                                  PERP_ARRAY(step->parts.group, trees),    PERP_ARRAY(step->parts.met_with, trees),
                                  PERP_ARRAY(step->parts.done, trees),     PERP_ARRAY(step->parts.size, trees),
                                  PERP_ARRAY(step->parts.active, trees),   PERP_ARRAY(step->parts.accepted, trees),
                                  PERP_ARRAY(step->inertia.h_last, trees), PERP_ARRAY(step->inertia.h_before, trees),
                                  PERP_ARRAY(step->reach.way, bodies),     PERP_ARRAY(step->reach.swing, bodies),
                                  PERP_ARRAY(step->reach.speed, bodies),   PERP_ARRAY(step->reach.turning, bodies)};
    return perp_block_arrays(&step->allocator, &step->by_tree, arrays, sizeof arrays / sizeof *arrays, error);
}

/* What a run holds whatever its contacts are. */
static perp_status hold_fixed(contact_step *step, perp_error *error)
{
    const perp_model *model = step->model;
    const int nv = model->nv, equations = perp_step_loop_rows(model);
    const block_array arrays[] = {PERP_ARRAY(step->prescribed, nv),
                                  PERP_ARRAY(step->moved, model->body_count),
                                  PERP_ARRAY(step->diagonal, nv + step->foot_capacity),
                                  PERP_ARRAY(step->at_limit, nv),
                                  PERP_ARRAY(step->v_held, nv),
                                  PERP_ARRAY(step->mass, model->mass_size),
                                  PERP_ARRAY(step->mass_scratch, model->mass_size + step->foot_capacity),
                                  PERP_ARRAY(step->v, nv),
                                  PERP_ARRAY(step->v_gap, nv),
                                  PERP_ARRAY(step->tau, nv),
                                  PERP_ARRAY(step->scratch, nv + step->foot_capacity),
                                  PERP_ARRAY(step->command, nv),
                                  PERP_ARRAY(step->v_sum, nv),
                                  PERP_ARRAY(step->v_last, nv),
                                  PERP_ARRAY(step->inertia.v_drifted, nv),
                                  PERP_ARRAY(step->inertia.drift, model->tree_count),
                                  PERP_ARRAY(step->inertia.bends, model->tree_count),
                                  PERP_ARRAY(step->q_begin, model->nq),
                                  PERP_ARRAY(step->q_driven, model->nq),
                                  PERP_ARRAY(step->loop_jacobian, 6 * nv),
                                  PERP_ARRAY(step->commanded_gap, equations),
                                  PERP_ARRAY(step->inertia.loop_across, 6 * model->scene->loop_count * nv),
                                  PERP_ARRAY(step->inertia.loop_rows, 6 * model->scene->loop_count * nv),
                                  PERP_ARRAY(step->inertia.v_tangent, nv),
                                  PERP_ARRAY(step->inertia.linked, model->tree_count),
                                  PERP_ARRAY(step->equation_of, equations),
                                  PERP_ARRAY(step->load, nv),
                                  PERP_ARRAY(step->loop_forces, model->scene->loop_count),
                                  PERP_ARRAY(step->y_loop, equations)};
    contact_step one;
    step->loop_row_count = equations;
    perp_status status = hold_by_model(step, &step->problem_by_model, error);
    one = *step;
    status = status == PERP_STATUS_OK ? hold_by_model(&one, &step->island_by_model, error) : status;
    status = status == PERP_STATUS_OK ? hold_trees(step, error) : status;
    return status == PERP_STATUS_OK
               ? perp_block_arrays(&step->allocator, &step->fixed, arrays, sizeof arrays / sizeof *arrays, error)
               : status;
}

static perp_status hold_sized(contact_step *step, int rows, perp_error *error)
{
    const int contacts = step->contact_capacity;
    const block_array arrays[] = {PERP_ARRAY(step->velocity, rows * contacts), PERP_ARRAY(step->gaps, contacts),
                                  PERP_ARRAY(step->begun, contacts), PERP_ARRAY(step->records, contacts)};
    contact_step one = *step;
    perp_status status = hold_by_contacts(step, rows, &step->problem_by_contacts, error);
    status = status == PERP_STATUS_OK ? hold_by_contacts(&one, rows, &step->island_by_contacts, error) : status;
    return status == PERP_STATUS_OK
               ? perp_block_arrays(&step->allocator, &step->sized, arrays, sizeof arrays / sizeof *arrays, error)
               : status;
}

static void find_prescribed(contact_step *step)
{
    const perp_model *model = step->model;
    const bool springs = (step->prescribe & PERP_PRESCRIBE_IMPEDANCE_JOINTS) != 0;
    for (int i = 0; i < model->nv; i++) {
        step->prescribed[i] =
            model->role[i] == PERP_DOF_PRESCRIBED || (model->role[i] == PERP_DOF_IMPEDANCE && springs);
    }
    for (int i = 0; i < model->body_count; i++) {
        const int *dofs, count = perp_body_dofs(model, i, &dofs);
        step->moved[i] = false;
        for (int k = 0; k < count; k++) {
            step->moved[i] = step->moved[i] || !step->prescribed[dofs[k]];
        }
    }
    for (int k = 0; k < model->tree_count; k++) {
        step->parts.active[k] = true;
    }
}

/* And the blocks of A: one per tree that has some. */
void perp_step_find_free(contact_step *step)
{
    const perp_model *model = step->model;
    int count = 0, blocks = 0;
    step->block_start[0] = 0;
    step->parts.masked = false;
    for (int k = 0; k < model->tree_count; k++) {
        const perp_tree *tree = &model->trees[k];
        for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
            const bool is_free = step->parts.active[k] && !step->prescribed[i];
            step->parts.masked = step->parts.masked || (!step->parts.active[k] && !step->prescribed[i]);
            step->free_of_dof[i] = is_free ? count : -1;
            if (is_free) {
                step->tree_of_free[count] = k;
                step->dof_of_free[count++] = i;
            }
        }
        if (count > step->block_start[blocks]) {
            step->block_start[++blocks] = count;
        }
    }
    step->free_count = count;
    step->system.block_count = blocks;
    perp_step_clear_feet(step);
}

void perp_step_join_system(contact_step *step)
{
    perp_contact_qp *p = &step->system;
    p->block_start = step->block_start;
    p->hessian = step->hessian;
    p->g = step->g;
    p->row_start = p->slack_start = step->row_start;
    p->dof_start = step->dof_start;
    p->dofs = step->dofs;
    p->jacobian = step->jacobian;
    p->offset = step->offset;
    p->equality_start = step->equality_start;
    p->equality_dofs = step->equality_dofs;
    p->equality_values = step->equality_values;
    p->equality_target = step->equality_target;
}

void perp_step_find_turning(contact_step *step)
{
    for (int k = 0; k < step->free_count; k++) {
        step->turns[k] = perp_vec3_norm(step->kinematics->dof_angular[step->dof_of_free[k]]) > 0.5;
    }
}

/* Of shapes and pairs alike: a pair's own value replaces the mean of two shapes', which is not above the larger. */
static double largest_friction(const perp_scene *scene)
{
    double largest = scene->friction;
    for (int b = 0; b < scene->body_count; b++) {
        for (int i = 0; i < scene->bodies[b].shape_count; i++) {
            const perp_optional *friction = &scene->bodies[b].shapes[i].friction;
            largest = fmax(largest, friction->set ? friction->value : 0.0);
        }
    }
    for (int i = 0; i < scene->pair_count; i++) {
        largest = fmax(largest, scene->pairs[i].friction.set ? scene->pairs[i].friction.value : 0.0);
    }
    return largest;
}

static bool has_restitution(const perp_scene *scene)
{
    for (int i = 0; i < scene->pair_count; i++) {
        if (scene->pairs[i].restitution > 0.0) {
            return true;
        }
    }
    return false;
}

/* What a rung does not take is refused, not left out: an ellipsoid is one cone of three tangential rows, which the
 * convex problems of the laws with a round cone take, the fixed point of the rigid ones, which take it as a polytope,
 * `compliant`, and of what slides the instant with inertia. */
perp_status perp_step_check_supports(const perp_scene *scene, const perp_rung *rung, const perp_run_settings *settings,
                                     perp_error *error)
{
    const bool round = perp_rung_cone(rung, settings) == PERP_CONE_QUADRATIC || !rung->convex;
    const bool takes =
        rung->law->own_contacts || (rung->law->instant ? rung->inertia == PERP_RUNG_INERTIA_FULL : round);
    for (int b = 0; b < scene->body_count && !takes; b++) {
        const perp_support *support = &scene->bodies[b].support;
        if (!support->set || support->model != PERP_SUPPORT_ELLIPSOID) {
            continue;
        }
        perp_fail(
            error, PERP_STATUS_BAD_INPUT,
            "model `%s` takes no `support` with `model: ellipsoid` here: write `model: points`, or take a rung with "
            "the quadratic cone, as qs-cone, qs-ncp or dyn-ncp, compliant, or qs-qp and dyn-qp with `cone: quadratic`",
            rung->name);
        if (error) {
            snprintf(error->path, sizeof error->path, "bodies.%s.support.model", scene->bodies[b].name);
        }
        return PERP_STATUS_BAD_INPUT;
    }
    return PERP_STATUS_OK;
}

perp_status perp_step_open(perp_step_context *context, const perp_allocator *allocator, perp_error *error)
{
    const perp_rung *rung = context->rung;
    const perp_allocator source = allocator ? *allocator : perp_allocator_default();
    contact_step *step = source.allocate(source.context, sizeof *step);
    if (!step) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while starting a run");
    }
    memset(step, 0, sizeof *step);
    context->workspace = step;
    step->allocator = source;
    step->model = context->model;
    step->settings = context->settings;
    step->rung = rung;
    step->law = rung->law;
    step->dynamic = rung->inertia == PERP_RUNG_INERTIA_FULL && !step->law->instant;
    step->prescribe =
        rung->takes & PERP_TAKES_IMPEDANCE_AS_POSITION ? PERP_PRESCRIBE_POSITION_IMPEDANCE : PERP_PRESCRIBE_POSITION;
    step->foot_capacity = perp_contact_support_count(context->contacts);
    if (step->law->own_contacts) { /* what it keeps of a contact is found again where the points of manifolds stay */
        perp_contact_set_stand_still(context->contacts);
    }
    perp_status status = perp_step_check_supports(step->model->scene, step->rung, step->settings, error);
    status = status == PERP_STATUS_OK ? hold_fixed(step, error) : status;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    find_prescribed(step);
    perp_step_find_free(step);
    step->largest_mu = largest_friction(step->model->scene);
    step->inertia.bounces = has_restitution(step->model->scene);
    perp_dynamic_classify(step);
    return step->law->open(step, error);
}

void perp_step_close(perp_step_context *context)
{
    contact_step *step = context->workspace;
    if (!step) {
        return;
    }
    const perp_allocator source = step->allocator;
    step->law->close(step);
    memory_block *const blocks[] = {&step->fixed,
                                    &step->sized,
                                    &step->by_tree,
                                    &step->problem_by_model,
                                    &step->island_by_model,
                                    &step->problem_by_contacts,
                                    &step->island_by_contacts};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        perp_block_free(&source, blocks[i]);
    }
    perp_contact_sum_free(&step->sum, &source);
    source.release(source.context, step);
    context->workspace = NULL;
}

size_t perp_step_save(const perp_step_context *context, double *numbers, size_t capacity)
{
    const contact_step *step = context->workspace;
    memory_writer w = {.numbers = numbers, .capacity = capacity};
    perp_memory_put(&w, step->started);
    if (step->dynamic) {
        perp_memory_put_reals(&w, step->inertia.h_last, step->model->tree_count);
    }
    if (step->law->put) {
        step->law->put(step, &w);
    }
    return w.count;
}

perp_status perp_step_restore(perp_step_context *context, const double *numbers, size_t count, perp_error *error)
{
    contact_step *step = context->workspace;
    memory_reader r = {.numbers = numbers, .count = count, .good = true};
    step->started = perp_memory_take_int(&r, 0, 1) == 1;
    for (int k = 0; k < step->model->tree_count; k++) { /* a step that failed may have left some out */
        step->parts.active[k] = true;
    }
    perp_step_find_free(step);
    if (step->dynamic) {
        perp_memory_take_reals(&r, step->inertia.h_last, step->model->tree_count);
    }
    const bool taken = !step->law->take || step->law->take(step, &r);
    if (r.out_of_memory) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while going on with a run");
    }
    if (!taken || !r.good || r.at != count) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "what the run remembers is not that of model `%s`",
                         step->rung->name);
    }
    return PERP_STATUS_OK;
}

perp_status perp_step_reserve(contact_step *step, const perp_contact_set *set, perp_error *error)
{
    const int contacts = set->count, dofs = set->dof_start[set->count] + step->foot_capacity;
    if (step->sized.memory && contacts <= step->contact_capacity && dofs <= step->dof_capacity) {
        return PERP_STATUS_OK;
    }
    /* room for some even where there are none: no array is NULL */
    step->contact_capacity = contacts >= step->contact_capacity ? contacts + contacts / 2 + 8 : step->contact_capacity;
    step->dof_capacity = dofs >= step->dof_capacity ? dofs + dofs / 2 + 48 : step->dof_capacity;
    perp_block_free(&step->allocator, &step->sized);
    return hold_sized(step, set->rows, error);
}
