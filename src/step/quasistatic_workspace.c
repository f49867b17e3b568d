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

static void lay_out_fixed(perp_quasistatic *qs)
{
    const perp_model *model = qs->model;
    const int nv = model->nv, equations = perp_qs_loop_rows(model);
    perp_qs_block *b = &qs->fixed;
    TAKE(b, qs->free_of_dof, nv);
    TAKE(b, qs->dof_of_free, nv);
    TAKE(b, qs->turns, nv);
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
    TAKE(b, qs->q_begin, model->nq);
    TAKE(b, qs->q_driven, model->nq);
    TAKE(b, qs->loop_jacobian, 6 * nv);
    TAKE(b, qs->commanded_gap, equations);
    TAKE(b, qs->loop_across, 6 * model->scene->loop_count * nv);
    TAKE(b, qs->loop_rows, 6 * model->scene->loop_count * nv);
    TAKE(b, qs->v_tangent, nv);
    TAKE(b, qs->linked, model->tree_count);
    TAKE(b, qs->equation_of, equations);
    TAKE(b, qs->equality_start, equations + 1);
    TAKE(b, qs->equality_dofs, equations * nv);
    TAKE(b, qs->equality_values, equations * nv);
    TAKE(b, qs->equality_target, equations);
    TAKE(b, qs->y_equality, equations);
}

static void lay_out_sized(perp_quasistatic *qs, int rows)
{
    const int contacts = qs->contact_capacity, dofs = qs->dof_capacity;
    perp_qs_block *b = &qs->sized;
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

/* Which degrees of freedom are unknown, and the blocks of A: one per tree that has some. */
static void find_free(perp_quasistatic *qs)
{
    const perp_model *model = qs->model;
    int count = 0, blocks = 0;
    qs->block_start[0] = 0;
    for (int k = 0; k < model->tree_count; k++) {
        const perp_tree *tree = &model->trees[k];
        for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
            const bool given =
                model->role[i] == PERP_DOF_PRESCRIBED ||
                (model->role[i] == PERP_DOF_IMPEDANCE && (qs->law->prescribe & PERP_PRESCRIBE_IMPEDANCE_JOINTS) != 0);
            qs->free_of_dof[i] = given ? -1 : count;
            if (!given) {
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
    find_free(qs);
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
    source.release(source.context, qs);
    context->workspace = NULL;
}

size_t perp_qs_save(const perp_step_context *context, double *numbers, size_t capacity)
{
    const perp_quasistatic *qs = context->workspace;
    memory_writer w = {.numbers = numbers, .capacity = capacity};
    perp_memory_put(&w, qs->started);
    if (qs->law->inertia == PERP_QS_FULL) {
        perp_memory_put(&w, qs->h_last);
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
    qs->h_last = qs->law->inertia == PERP_QS_FULL ? perp_memory_take(&r) : 0.0;
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
