/* What a run tells: names, residuals, and the solutions of rungs that answer about one state. */
#include "step/common/run_result.h"

#include <string.h>

const char *perp_fallback_name(perp_fallback fallback)
{
    static const char *const names[] = {
        [PERP_FALLBACK_SUBSTEP] = "substep",           [PERP_FALLBACK_LOOSE] = "loose",
        [PERP_FALLBACK_ANY_MOTION] = "any-motion",     [PERP_FALLBACK_SECOND_METHOD] = "second-method",
        [PERP_FALLBACK_UNSTABILISED] = "unstabilised", [PERP_FALLBACK_SHARP] = "sharp-cone",
        [PERP_FALLBACK_LINEARISED] = "linearised",     [PERP_FALLBACK_CONTINUED] = "gamma-continuation"};
    return names[fallback];
}

const char *perp_contact_mode_name(perp_contact_mode mode)
{
    static const char *const names[] = {[PERP_CONTACT_OPEN] = "open",
                                        [PERP_CONTACT_STICK] = "stick",
                                        [PERP_CONTACT_LIMIT] = "limit",
                                        [PERP_CONTACT_SLIDE] = "slide"};
    return names[mode];
}

void perp_residuals_keep_largest(perp_residuals *most, const perp_residuals *other)
{
    most->balance = fmax(most->balance, other->balance);
    most->complementarity = fmax(most->complementarity, other->complementarity);
    most->cone = fmax(most->cone, other->cone);
    most->penetration = fmax(most->penetration, other->penetration);
    most->balance_true = fmax(most->balance_true, other->balance_true);
    most->boundary_layer = fmax(most->boundary_layer, other->boundary_layer);
    most->loop = fmax(most->loop, other->loop);
}

static void release(const perp_allocator *allocator, void *memory)
{
    if (memory) {
        allocator->release(allocator->context, memory);
    }
}

perp_instant_solution *perp_run_result_add_solution(perp_run_result *result, int nv, int contact_count)
{
    const perp_allocator *source = &result->allocator;
    const size_t contacts = (size_t)contact_count, records = contacts * sizeof(perp_contact_record);
    const size_t numbers = ((size_t)nv + 2 * contacts + 1) * sizeof(double), count = (size_t)result->solution_count;
    perp_instant_solution *list = source->allocate(source->context, (count + 1) * sizeof *list);
    unsigned char *block = list ? source->allocate(source->context, numbers + records) : NULL;
    if (!block) {
        release(source, list);
        return NULL;
    }
    memset(block, 0, numbers + records);
    if (count > 0) {
        memcpy(list, result->solutions, count * sizeof *list);
    }
    double *const rate = (double *)(void *)block;
    list[count] = (perp_instant_solution){.rate = rate,
                                          .contact_count = contact_count,
                                          .fn_low = rate + nv,
                                          .fn_high = rate + nv + contact_count,
                                          .contacts = (perp_contact_record *)(void *)(block + numbers)};
    release(source, result->solutions);
    result->solutions = list;
    return &list[result->solution_count++];
}

bool perp_run_result_describe(perp_run_result *result, perp_instant_solution *solution, int nv, int vertex_count,
                              int ray_count)
{
    const size_t numbers = ((size_t)vertex_count + (size_t)ray_count) * (size_t)nv * sizeof(double);
    double *block = result->allocator.allocate(result->allocator.context, numbers > 0 ? numbers : sizeof *block);
    if (!block) {
        return false;
    }
    memset(block, 0, numbers);
    release(&result->allocator, solution->vertices);
    solution->vertices = block;
    solution->rays = block + (ptrdiff_t)vertex_count * nv;
    solution->vertex_count = vertex_count;
    solution->ray_count = ray_count;
    return true;
}

void perp_run_result_free(perp_run_result *result)
{
    release(&result->allocator, result->contacts);
    release(&result->allocator, result->loops);
    release(&result->allocator, result->events);
    for (int i = 0; i < result->solution_count; i++) {
        release(&result->allocator, result->solutions[i].rate); /* the block's begin */
        release(&result->allocator, result->solutions[i].vertices);
    }
    release(&result->allocator, result->solutions);
    result->solutions = NULL;
    result->solution_count = 0;
    result->contacts = NULL;
    result->loops = NULL;
    result->events = NULL;
    result->contact_count = result->loop_count = result->event_count = 0;
}
