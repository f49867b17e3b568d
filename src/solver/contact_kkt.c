#include "solver/contact_kkt.h"

#include <string.h>

void perp_kkt_init(perp_kkt *kkt, const perp_allocator *allocator)
{
    *kkt = (perp_kkt){.allocator = allocator ? *allocator : perp_allocator_default(), .kernel = perp_kkt_best_kernel()};
}

void perp_kkt_free(perp_kkt *kkt)
{
    perp_kkt_buffer *buffers[] = {&kkt->pattern, &kkt->scratch,  &kkt->structure,   &kkt->fill,
                                  &kkt->numbers, &kkt->products, &kkt->known_memory};
    for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++) {
        if (buffers[k]->data) {
            kkt->allocator.release(kkt->allocator.context, buffers[k]->data);
        }
    }
    perp_kkt_init(kkt, &kkt->allocator);
}

perp_status perp_kkt_hold(perp_kkt *kkt, perp_kkt_buffer *buffer, size_t bytes)
{
    bytes = bytes > 64 ? bytes : 64; /* so that an empty array has an address too */
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

/* R J of a contact, and the transposed of this, whose rows are `stride` apart. */
static void pack_contact(const perp_kkt *kkt, const perp_contact_qp *p, int contact, const double *rays,
                         const double *jacobian, double *packed, double *transposed, int stride)
{
    const int rows = p->row_start[contact + 1] - p->row_start[contact];
    const int slacks = p->slack_start[contact + 1] - p->slack_start[contact];
    const int columns = p->dof_start[contact + 1] - p->dof_start[contact];
    if (rays && rows == 3 && slacks == 4) {
        kkt->kernel->pack_four(rays, columns, jacobian, packed, transposed, stride);
        return;
    }
    for (int k = 0; k < slacks; k++, packed += columns) {
        for (int c = 0; c < columns; c++) {
            double sum = rays ? 0.0 : jacobian[(ptrdiff_t)k * columns + c];
            for (int r = 0; rays && r < rows; r++) {
                sum += rays[(ptrdiff_t)k * rows + r] * jacobian[(ptrdiff_t)r * columns + c];
            }
            packed[c] = transposed[(ptrdiff_t)c * stride + k] = sum;
        }
    }
}

static void pack_products(perp_kkt *kkt, const perp_contact_qp *p)
{
    const double *jacobian = p->jacobian, *rays = p->rays;
    for (int g = 0; g < kkt->group_count; g++) {
        const int begin = kkt->group_first[g], end = kkt->group_first[g + 1];
        const int columns = p->dof_start[begin + 1] - p->dof_start[begin];
        const int slacks = p->slack_start[end] - p->slack_start[begin];
        const bool wanted = kkt->packed_start[g] >= 0;
        double *packed = wanted ? kkt->packed + kkt->packed_start[g] : NULL;
        for (int i = begin; i < end; i++) {
            const int rows = p->row_start[i + 1] - p->row_start[i], count = p->slack_start[i + 1] - p->slack_start[i];
            if (wanted) {
                const int at = p->slack_start[i] - p->slack_start[begin];
                pack_contact(kkt, p, i, rays, jacobian, packed + (ptrdiff_t)at * columns,
                             packed + (ptrdiff_t)slacks * columns + at, slacks);
            }
            jacobian = rows > 0 && columns > 0 ? jacobian + (ptrdiff_t)rows * columns : jacobian;
            rays = rays ? rays + (ptrdiff_t)count * rows : NULL;
        }
    }
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
    if (!kkt->is_packed) {
        pack_products(kkt, problem);
        kkt->is_packed = true;
    }
}
