/* The memory of a quasistatic run. What depends on the model alone is taken once; what depends on the number of
 * contacts is one block that grows when a state has more of them than any before, so that steady state takes none. */
#include "step/dynamic.h"

#include <stdint.h>
#include <string.h>

void *perp_qs_take(perp_qs_block *block, size_t count, size_t size)
{
    enum { LINE = 64 };
    const size_t bytes = (count * size + LINE - 1) / LINE * LINE;
    void *place = block->memory ? block->memory + block->used : NULL;
    block->used += bytes;
    return place;
}

perp_status perp_qs_block_hold(const perp_allocator *allocator, perp_qs_block *block, perp_error *error)
{
    const size_t needed = block->used;
    block->used = 0;
    if (needed <= block->bytes) {
        return PERP_STATUS_OK;
    }
    perp_qs_block_free(allocator, block);
    block->memory = allocator->allocate(allocator->context, needed);
    if (!block->memory) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a step with many contacts");
    }
    block->bytes = needed;
    memset(block->memory, 0, needed);
    return PERP_STATUS_OK;
}

void perp_qs_block_free(const perp_allocator *allocator, perp_qs_block *block)
{
    if (block->memory) {
        allocator->release(allocator->context, block->memory);
    }
    *block = (perp_qs_block){0};
}

int perp_qs_loop_rows(const perp_model *model)
{
    int rows = 0;
    for (int i = 0; i < model->scene->loop_count; i++) {
        rows += perp_loop_rows(model, i);
    }
    return rows;
}

#define TAKE(block, array, count) ((array) = perp_qs_take((block), (size_t)(count), sizeof *(array)))

static void lay_out_trees(perp_quasistatic *qs)
{
    const int trees = qs->model->tree_count, bodies = qs->model->body_count;
    perp_qs_block *b = &qs->fixed;
    TAKE(b, qs->island_of_tree, trees);
    TAKE(b, qs->joined, trees);
    TAKE(b, qs->islands, trees);
    TAKE(b, qs->last_island, trees);
    TAKE(b, qs->group, trees);
    TAKE(b, qs->met_with, trees);
    TAKE(b, qs->done, trees);
    TAKE(b, qs->size, trees);
    TAKE(b, qs->active, trees);
    TAKE(b, qs->taken, trees);
    TAKE(b, qs->h_last, trees);
    TAKE(b, qs->h_before, trees);
    TAKE(b, qs->way, bodies);
    TAKE(b, qs->swing, bodies);
    TAKE(b, qs->speed, bodies);
    TAKE(b, qs->turning, bodies);
}

static void lay_out_one_fixed(qs_island_arrays *one, const perp_model *model, int equations, perp_qs_block *b)
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

static void lay_out_fixed(perp_quasistatic *qs)
{
    const perp_model *model = qs->model;
    const int nv = model->nv, equations = perp_qs_loop_rows(model);
    perp_qs_block *b = &qs->fixed;
    qs->loop_row_count = equations;
    TAKE(b, qs->free_of_dof, nv);
    TAKE(b, qs->dof_of_free, nv);
    TAKE(b, qs->tree_of_free, nv);
    TAKE(b, qs->turns, nv);
    TAKE(b, qs->given, nv);
    TAKE(b, qs->moved, model->body_count);
    TAKE(b, qs->diagonal, nv);
    TAKE(b, qs->block_start, model->tree_count + 1);
    TAKE(b, qs->hessian, model->mass_size);
    TAKE(b, qs->mass, model->mass_size);
    TAKE(b, qs->mass_scratch, model->mass_size);
    TAKE(b, qs->g, nv);
    TAKE(b, qs->lower, nv);
    TAKE(b, qs->upper, nv);
    TAKE(b, qs->v, nv);
    TAKE(b, qs->v_gap, nv);
    TAKE(b, qs->tau, nv);
    TAKE(b, qs->scratch, nv);
    TAKE(b, qs->command, nv);
    TAKE(b, qs->x, nv);
    TAKE(b, qs->y_lower, nv);
    TAKE(b, qs->y_upper, nv);
    TAKE(b, qs->v_sum, nv);
    TAKE(b, qs->v_last, nv);
    TAKE(b, qs->v_drifted, nv);
    TAKE(b, qs->drift, model->tree_count);
    TAKE(b, qs->bends, model->tree_count);
    TAKE(b, qs->q_begin, model->nq);
    TAKE(b, qs->q_driven, model->nq);
    TAKE(b, qs->q_end, model->nq);
    TAKE(b, qs->loop_jacobian, 6 * nv);
    TAKE(b, qs->commanded_gap, equations);
    TAKE(b, qs->loop_across, 6 * model->scene->loop_count * nv);
    TAKE(b, qs->loop_rows, 6 * model->scene->loop_count * nv);
    TAKE(b, qs->v_tangent, nv);
    TAKE(b, qs->linked, model->tree_count);
    TAKE(b, qs->equation_of, equations);
    TAKE(b, qs->loop_row, equations);
    TAKE(b, qs->equality_start, equations + 1);
    TAKE(b, qs->equality_dofs, equations * nv);
    TAKE(b, qs->equality_values, equations * nv);
    TAKE(b, qs->equality_target, equations);
    TAKE(b, qs->y_equality, equations);
    TAKE(b, qs->load, nv);
    TAKE(b, qs->y_loop, equations);
    lay_out_trees(qs);
    lay_out_one_fixed(&qs->one, model, equations, b);
}

static void lay_out_sized(perp_quasistatic *qs, int rows)
{
    const int contacts = qs->contact_capacity, dofs = qs->dof_capacity;
    perp_qs_block *b = &qs->sized;
    qs_island_arrays *one = &qs->one;
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
    TAKE(b, qs->row_start, contacts + 1);
    TAKE(b, qs->dof_start, contacts + 1);
    TAKE(b, qs->dofs, dofs);
    TAKE(b, qs->jacobian, rows * dofs);
    TAKE(b, qs->offset, rows * contacts);
    TAKE(b, qs->force, rows * contacts);
    TAKE(b, qs->velocity, rows * contacts);
    TAKE(b, qs->mu, contacts);
    TAKE(b, qs->shift, contacts);
    TAKE(b, qs->room, contacts);
    TAKE(b, qs->layer, contacts);
    TAKE(b, qs->set_index, contacts);
    TAKE(b, qs->gaps, contacts);
    TAKE(b, qs->begun, contacts);
    TAKE(b, qs->records, contacts);
}

static void find_given(perp_quasistatic *qs)
{
    const perp_model *model = qs->model;
    const bool springs = (qs->law->prescribe & PERP_PRESCRIBE_IMPEDANCE_JOINTS) != 0;
    for (int i = 0; i < model->nv; i++) {
        qs->given[i] = model->role[i] == PERP_DOF_PRESCRIBED || (model->role[i] == PERP_DOF_IMPEDANCE && springs);
    }
    for (int i = 0; i < model->body_count; i++) {
        const int *dofs, count = perp_body_dofs(model, i, &dofs);
        qs->moved[i] = false;
        for (int k = 0; k < count; k++) {
            qs->moved[i] = qs->moved[i] || !qs->given[dofs[k]];
        }
    }
    for (int k = 0; k < model->tree_count; k++) {
        qs->active[k] = true;
    }
}

/* And the blocks of A: one per tree that has some. */
void perp_qs_find_free(perp_quasistatic *qs)
{
    const perp_model *model = qs->model;
    int count = 0, blocks = 0;
    qs->block_start[0] = 0;
    qs->masked = false;
    for (int k = 0; k < model->tree_count; k++) {
        const perp_tree *tree = &model->trees[k];
        for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
            const bool is_free = qs->active[k] && !qs->given[i];
            qs->masked = qs->masked || (!qs->active[k] && !qs->given[i]);
            qs->free_of_dof[i] = is_free ? count : -1;
            if (is_free) {
                qs->tree_of_free[count] = k;
                qs->dof_of_free[count++] = i;
            }
        }
        if (count > qs->block_start[blocks]) {
            qs->block_start[++blocks] = count;
        }
    }
    qs->free_count = count;
    qs->system.n = count;
    qs->system.block_count = blocks;
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

perp_status perp_qs_open(perp_step_context *context, const perp_rung *rung, const perp_qs_law *law,
                         const perp_allocator *allocator, perp_error *error)
{
    const perp_allocator source = allocator ? *allocator : perp_allocator_default();
    perp_quasistatic *qs = source.allocate(source.context, sizeof *qs);
    if (!qs) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while starting a run");
    }
    memset(qs, 0, sizeof *qs);
    context->workspace = qs;
    qs->allocator = source;
    qs->model = context->model;
    qs->settings = context->settings;
    qs->rung = rung;
    qs->law = law;
    lay_out_fixed(qs);
    perp_status status = perp_qs_block_hold(&qs->allocator, &qs->fixed, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    lay_out_fixed(qs);
    find_given(qs);
    perp_qs_find_free(qs);
    qs->largest_mu = largest_friction(qs->model->scene);
    qs->bounces = has_restitution(qs->model->scene);
    perp_dynamic_classify(qs);
    return law->open(qs, error);
}

void perp_qs_close(perp_step_context *context)
{
    perp_quasistatic *qs = context->workspace;
    if (!qs) {
        return;
    }
    const perp_allocator source = qs->allocator;
    qs->law->close(qs);
    perp_qs_block_free(&source, &qs->fixed);
    perp_qs_block_free(&source, &qs->sized);
    perp_contact_sum_free(&qs->sum, &source);
    source.release(source.context, qs);
    context->workspace = NULL;
}

size_t perp_qs_save(const perp_step_context *context, double *numbers, size_t capacity)
{
    const perp_quasistatic *qs = context->workspace;
    memory_writer w = {.numbers = numbers, .capacity = capacity};
    perp_memory_put(&w, qs->started);
    if (qs->law->inertia == PERP_QS_FULL) {
        perp_memory_put_reals(&w, qs->h_last, qs->model->tree_count);
    }
    if (qs->law->put) {
        qs->law->put(qs, &w);
    }
    return w.count;
}

perp_status perp_qs_restore(perp_step_context *context, const double *numbers, size_t count, perp_error *error)
{
    perp_quasistatic *qs = context->workspace;
    memory_reader r = {.numbers = numbers, .count = count, .good = true};
    qs->started = perp_memory_take_int(&r, 0, 1) == 1;
    if (qs->law->inertia == PERP_QS_FULL) {
        perp_memory_take_reals(&r, qs->h_last, qs->model->tree_count);
    }
    const bool taken = !qs->law->take || qs->law->take(qs, &r);
    if (r.out_of_memory) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while going on with a run");
    }
    if (!taken || !r.good || r.at != count) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "what the run remembers is not that of model `%s`",
                         qs->rung->name);
    }
    return PERP_STATUS_OK;
}

perp_status perp_qs_reserve(perp_quasistatic *qs, const perp_contact_set *set, perp_error *error)
{
    const int contacts = set->count, dofs = set->dof_start[set->count];
    if (qs->sized.memory && contacts <= qs->contact_capacity && dofs <= qs->dof_capacity) {
        return PERP_STATUS_OK;
    }
    /* room for some even where there are none: no array is NULL */
    qs->contact_capacity = contacts >= qs->contact_capacity ? contacts + contacts / 2 + 8 : qs->contact_capacity;
    qs->dof_capacity = dofs >= qs->dof_capacity ? dofs + dofs / 2 + 48 : qs->dof_capacity;
    qs->sized.used = 0;
    perp_qs_block_free(&qs->allocator, &qs->sized);
    lay_out_sized(qs, set->rows);
    const perp_status status = perp_qs_block_hold(&qs->allocator, &qs->sized, error);
    if (status == PERP_STATUS_OK) {
        lay_out_sized(qs, set->rows);
    }
    return status;
}
