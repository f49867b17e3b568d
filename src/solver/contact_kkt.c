#include "solver/contact_kkt.h"

#include <string.h>

void perp_kkt_init(perp_kkt *kkt, const perp_allocator *allocator)
{
    *kkt = (perp_kkt){.allocator = allocator ? *allocator : perp_allocator_default(), .kernel = perp_kkt_best_kernel()};
}

void perp_kkt_free(perp_kkt *kkt)
{
    perp_kkt_buffer *buffers[] = {&kkt->pattern, &kkt->scratch, &kkt->structure,
                                  &kkt->fill,    &kkt->numbers, &kkt->known_memory};
    for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++) {
        if (buffers[k]->data) {
            kkt->allocator.release(kkt->allocator.context, buffers[k]->data);
        }
    }
    perp_kkt_init(kkt, &kkt->allocator);
}

perp_status perp_kkt_hold(perp_kkt *kkt, perp_kkt_buffer *buffer, size_t bytes)
{
    if (bytes <= buffer->bytes) {
        return PERP_STATUS_OK;
    }
    if (!kkt->may_grow) {
        return PERP_STATUS_CAPACITY;
    }
    const size_t larger = bytes + bytes / 4;
    void *data = kkt->allocator.allocate(kkt->allocator.context, larger);
    if (!data) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    if (buffer->data) {
        memcpy(data, buffer->data, buffer->bytes);
        kkt->allocator.release(kkt->allocator.context, buffer->data);
    }
    *buffer = (perp_kkt_buffer){data, larger};
    return PERP_STATUS_OK;
}

void perp_kkt_set_base(perp_kkt *kkt, const perp_contact_qp *problem, double hessian_scale, double identity)
{
    memset(kkt->base, 0, (size_t)kkt->panel_length * sizeof *kkt->base);
    const double *h = problem->hessian;
    for (int k = 0; k < problem->block_count; k++) {
        const int first = problem->block_start[k], size = problem->block_start[k + 1] - first;
        for (int i = 0; i < size; i++) {
            double *row = kkt->base + kkt->diagonal[first + i] - i;
            for (int j = i; h && j < size; j++) {
                row[j] = hessian_scale * h[(ptrdiff_t)j * size + i];
            }
            row[i] += identity;
        }
        h = h ? h + (ptrdiff_t)size * size : NULL;
    }
    for (int i = 0; i < problem->equality_count; i++) {
        for (int k = problem->equality_start[i]; k < problem->equality_start[i + 1]; k++) {
            kkt->base[kkt->equality_entry[k]] += problem->equality_values[k];
        }
    }
}
