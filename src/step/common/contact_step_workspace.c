/* The memory of a run with contact forces. What depends on the model alone is taken once; what depends on the number of
 * contacts is one block that grows when a state has more of them than any before, so that steady state takes none. */
#include "contact/contact_reach.h"
#include "step/common/dynamic.h"

#include <stdint.h>
#include <string.h>

int perp_step_loop_rows(const perp_model *model)
{
    int rows = 0;
    for (int i = 0; i < model->scene->loop_count; i++) {
        rows += perp_loop_rows(model, i);
    }
    return rows;
}

#define TAKE(block, array, count) ((array) = perp_block_take((block), (size_t)(count), sizeof *(array)))

static void lay_out_trees(contact_step *step)
{
    const int trees = step->model->tree_count, bodies = step->model->body_count;
    memory_block *b = &step->fixed;
    TAKE(b, step->island_of_tree, trees);
    TAKE(b, step->joined, trees);
    TAKE(b, step->islands, trees);
    TAKE(b, step->last_island, trees);
    TAKE(b, step->parts.group, trees);
    TAKE(b, step->parts.met_with, trees);
    TAKE(b, step->parts.done, trees);
    TAKE(b, step->parts.size, trees);
    TAKE(b, step->parts.active, trees);
    TAKE(b, step->parts.taken, trees);
    TAKE(b, step->inertia.h_last, trees);
    TAKE(b, step->inertia.h_before, trees);
    TAKE(b, step->reach.way, bodies);
    TAKE(b, step->reach.swing, bodies);
    TAKE(b, step->reach.speed, bodies);
    TAKE(b, step->reach.turning, bodies);
}

static void lay_out_one_fixed(step_island_arrays *one, const perp_model *model, int equations, memory_block *b)
{
    const int nv = model->nv;
    TAKE(b, one->free_of_dof, nv);
    TAKE(b, one->dof_of_free, nv);
    TAKE(b, one->tree_of_free, nv);
    TAKE(b, one->turns, nv);
    TAKE(b, one->block_start, model->tree_count + 1);
    TAKE(b, one->hessian, model->mass_size);
    TAKE(b, one->g, nv);
    TAKE(b, one->lower, nv);
    TAKE(b, one->upper, nv);
    TAKE(b, one->x, nv);
    TAKE(b, one->y_lower, nv);
    TAKE(b, one->y_upper, nv);
    TAKE(b, one->y_equality, equations);
    TAKE(b, one->loop_row, equations);
    TAKE(b, one->equality_start, equations + 1);
    TAKE(b, one->equality_dofs, equations * nv);
    TAKE(b, one->equality_values, equations * nv);
    TAKE(b, one->equality_target, equations);
}

static void lay_out_fixed(contact_step *step)
{
    const perp_model *model = step->model;
    const int nv = model->nv, equations = perp_step_loop_rows(model);
    memory_block *b = &step->fixed;
    step->loop_row_count = equations;
    TAKE(b, step->free_of_dof, nv);
    TAKE(b, step->dof_of_free, nv);
    TAKE(b, step->tree_of_free, nv);
    TAKE(b, step->turns, nv);
    TAKE(b, step->given, nv);
    TAKE(b, step->moved, model->body_count);
    TAKE(b, step->diagonal, nv);
    TAKE(b, step->block_start, model->tree_count + 1);
    TAKE(b, step->hessian, model->mass_size);
    TAKE(b, step->mass, model->mass_size);
    TAKE(b, step->mass_scratch, model->mass_size);
    TAKE(b, step->g, nv);
    TAKE(b, step->lower, nv);
    TAKE(b, step->upper, nv);
    TAKE(b, step->v, nv);
    TAKE(b, step->v_gap, nv);
    TAKE(b, step->tau, nv);
    TAKE(b, step->scratch, nv);
    TAKE(b, step->command, nv);
    TAKE(b, step->x, nv);
    TAKE(b, step->y_lower, nv);
    TAKE(b, step->y_upper, nv);
    TAKE(b, step->v_sum, nv);
    TAKE(b, step->v_last, nv);
    TAKE(b, step->inertia.v_drifted, nv);
    TAKE(b, step->inertia.drift, model->tree_count);
    TAKE(b, step->inertia.bends, model->tree_count);
    TAKE(b, step->q_begin, model->nq);
    TAKE(b, step->q_driven, model->nq);
    TAKE(b, step->loop_jacobian, 6 * nv);
    TAKE(b, step->commanded_gap, equations);
    TAKE(b, step->inertia.loop_across, 6 * model->scene->loop_count * nv);
    TAKE(b, step->inertia.loop_rows, 6 * model->scene->loop_count * nv);
    TAKE(b, step->inertia.v_tangent, nv);
    TAKE(b, step->inertia.linked, model->tree_count);
    TAKE(b, step->equation_of, equations);
    TAKE(b, step->loop_row, equations);
    TAKE(b, step->equality_start, equations + 1);
    TAKE(b, step->equality_dofs, equations * nv);
    TAKE(b, step->equality_values, equations * nv);
    TAKE(b, step->equality_target, equations);
    TAKE(b, step->y_equality, equations);
    TAKE(b, step->load, nv);
    TAKE(b, step->y_loop, equations);
    lay_out_trees(step);
    lay_out_one_fixed(&step->one, model, equations, b);
}

static void lay_out_sized(contact_step *step, int rows)
{
    const int contacts = step->contact_capacity, dofs = step->dof_capacity;
    memory_block *b = &step->sized;
    step_island_arrays *one = &step->one;
    TAKE(b, one->row_start, contacts + 1);
    TAKE(b, one->dof_start, contacts + 1);
    TAKE(b, one->dofs, dofs);
    TAKE(b, one->jacobian, rows * dofs);
    TAKE(b, one->offset, rows * contacts);
    TAKE(b, one->force, rows * contacts);
    TAKE(b, one->mu, contacts);
    TAKE(b, one->shift, contacts);
    TAKE(b, one->room, contacts);
    TAKE(b, one->layer, contacts);
    TAKE(b, one->set_index, contacts);
    TAKE(b, step->row_start, contacts + 1);
    TAKE(b, step->dof_start, contacts + 1);
    TAKE(b, step->dofs, dofs);
    TAKE(b, step->jacobian, rows * dofs);
    TAKE(b, step->offset, rows * contacts);
    TAKE(b, step->force, rows * contacts);
    TAKE(b, step->velocity, rows * contacts);
    TAKE(b, step->mu, contacts);
    TAKE(b, step->shift, contacts);
    TAKE(b, step->room, contacts);
    TAKE(b, step->layer, contacts);
    TAKE(b, step->set_index, contacts);
    TAKE(b, step->gaps, contacts);
    TAKE(b, step->begun, contacts);
    TAKE(b, step->records, contacts);
}

static void find_given(contact_step *step)
{
    const perp_model *model = step->model;
    const bool springs = (step->prescribe & PERP_PRESCRIBE_IMPEDANCE_JOINTS) != 0;
    for (int i = 0; i < model->nv; i++) {
        step->given[i] = model->role[i] == PERP_DOF_PRESCRIBED || (model->role[i] == PERP_DOF_IMPEDANCE && springs);
    }
    for (int i = 0; i < model->body_count; i++) {
        const int *dofs, count = perp_body_dofs(model, i, &dofs);
        step->moved[i] = false;
        for (int k = 0; k < count; k++) {
            step->moved[i] = step->moved[i] || !step->given[dofs[k]];
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
            const bool is_free = step->parts.active[k] && !step->given[i];
            step->parts.masked = step->parts.masked || (!step->parts.active[k] && !step->given[i]);
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
    step->system.n = count;
    step->system.block_count = blocks;
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
    if (step->law->own_contacts) { /* what it keeps of a contact is found again where the points of manifolds stay */
        perp_contact_set_stand_still(context->contacts);
    }
    lay_out_fixed(step);
    perp_status status = perp_block_hold(&step->allocator, &step->fixed, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    lay_out_fixed(step);
    find_given(step);
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
    perp_block_free(&source, &step->fixed);
    perp_block_free(&source, &step->sized);
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
    const int contacts = set->count, dofs = set->dof_start[set->count];
    if (step->sized.memory && contacts <= step->contact_capacity && dofs <= step->dof_capacity) {
        return PERP_STATUS_OK;
    }
    /* room for some even where there are none: no array is NULL */
    step->contact_capacity = contacts >= step->contact_capacity ? contacts + contacts / 2 + 8 : step->contact_capacity;
    step->dof_capacity = dofs >= step->dof_capacity ? dofs + dofs / 2 + 48 : step->dof_capacity;
    step->sized.used = 0;
    perp_block_free(&step->allocator, &step->sized);
    lay_out_sized(step, set->rows);
    const perp_status status = perp_block_hold(&step->allocator, &step->sized, error);
    if (status == PERP_STATUS_OK) {
        lay_out_sized(step, set->rows);
    }
    return status;
}
