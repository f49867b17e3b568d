#include "solver/contact_kkt.h"

#include "linalg/dense_kernel.h"

#include <float.h>
#include <math.h>
#include <string.h>

void perp_kkt_init(perp_kkt *kkt, const perp_allocator *allocator)
{
    *kkt = (perp_kkt){.allocator = allocator ? *allocator : perp_allocator_default()};
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

static int panel_stride(const perp_kkt *kkt, int unknown)
{
    int low = 0, high = kkt->super_count - 1;
    const int place = kkt->position[unknown];
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (kkt->super_first[middle] <= place) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return kkt->super_first[low + 1] - kkt->super_first[low];
}

void perp_kkt_set_base(perp_kkt *kkt, const perp_contact_qp *problem, double hessian_scale, double identity)
{
    memset(kkt->base, 0, (size_t)kkt->panel_length * sizeof *kkt->base);
    const double *h = problem->hessian;
    for (int k = 0; k < problem->block_count; k++) {
        const int first = problem->block_start[k], size = problem->block_start[k + 1] - first;
        const int stride = size > 0 ? panel_stride(kkt, first) : 0;
        for (int i = 0; i < size; i++) {
            double *row = kkt->base + kkt->diagonal[first] + (ptrdiff_t)i * stride;
            for (int j = 0; h && j <= i; j++) {
                row[j] = hessian_scale * h[(ptrdiff_t)i * size + j];
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

/* dest += a' u for segments of `rows` and `columns` entries: a is J and u is Omega J, both `count` rows. */
static inline void add_product(int rows, int columns, int count, const double *a, const double *u, int width,
                               double *dest, int stride)
{
    const double *a1 = a + width, *a2 = a1 + width, *u1 = u + width, *u2 = u1 + width;
    for (int i = 0; i < rows; i++, dest += stride) {
        int j = 0;
        if (count == 3) {
            const perp_lanes x0 = {a[i], a[i]}, x1 = {a1[i], a1[i]}, x2 = {a2[i], a2[i]};
            for (; j + 2 <= columns; j += 2) {
                *(perp_lanes *)(dest + j) += (x0 * perp_lanes_load(u + j) + x1 * perp_lanes_load(u1 + j)) +
                                             x2 * perp_lanes_load(u2 + j);
            }
            for (; j < columns; j++) {
                dest[j] += (a[i] * u[j] + a1[i] * u1[j]) + a2[i] * u2[j];
            }
        } else if (count == 2) {
            for (; j < columns; j++) {
                dest[j] += a[i] * u[j] + a1[i] * u1[j];
            }
        } else {
            const perp_lanes x0 = {a[i], a[i]};
            for (; j + 2 <= columns; j += 2) {
                *(perp_lanes *)(dest + j) += x0 * perp_lanes_load(u + j);
            }
            for (; j < columns; j++) {
                dest[j] += a[i] * u[j];
            }
        }
    }
}

/* u = Omega J for `count` rows of Omega from row `first` on. */
static inline void weigh_rows(const double *omega, int rows, int first, int count, const double *jacobian, int columns,
                              double *u)
{
    for (int r = 0; r < count; r++) {
        const double *w = omega + (ptrdiff_t)(first + r) * rows;
        double *row = u + (ptrdiff_t)r * columns;
        if (rows == 3) {
            const double *j1 = jacobian + columns, *j2 = j1 + columns;
            const perp_lanes w0 = {w[0], w[0]}, w1 = {w[1], w[1]}, w2 = {w[2], w[2]};
            int c = 0;
            for (; c + 2 <= columns; c += 2) {
                *(perp_lanes *)(row + c) = (w0 * perp_lanes_load(jacobian + c) + w1 * perp_lanes_load(j1 + c)) +
                                           w2 * perp_lanes_load(j2 + c);
            }
            for (; c < columns; c++) {
                row[c] = (w[0] * jacobian[c] + w[1] * j1[c]) + w[2] * j2[c];
            }
            continue;
        }
        for (int c = 0; c < columns; c++) {
            row[c] = w[0] * jacobian[c];
        }
        for (int k = 1; k < rows; k++) {
            if (w[k] != 0.0) {
                perp_dense_subtract(columns, -w[k], jacobian + (ptrdiff_t)k * columns, row);
            }
        }
    }
}

/* Rows are taken three at a time, so that three entries of u meet one of the panel in each pass. */
static void add_contact(perp_kkt *kkt, int contact, const double *omega, int rows, const double *jacobian, int columns)
{
    double *u = kkt->below;
    for (int first = 0; first < rows; first += 3) {
        const int count = rows - first < 3 ? rows - first : 3;
        weigh_rows(omega, rows, first, count, jacobian, columns, u);
        const double *a = jacobian + (ptrdiff_t)first * columns;
        for (int k = kkt->target_start[contact]; k < kkt->target_start[contact + 1]; k++) {
            const perp_kkt_target *t = &kkt->targets[k];
            add_product(t->lengths >> 16, t->lengths & 0xffff, count, a + t->a, u + t->b, columns,
                        kkt->panels + t->offset, t->stride);
        }
    }
}

void perp_kkt_assemble(perp_kkt *kkt, const perp_contact_qp *problem, const double *omega, const double *diagonal)
{
    memcpy(kkt->panels, kkt->base, (size_t)kkt->panel_length * sizeof *kkt->panels);
    const double *jacobian = problem->jacobian;
    for (int i = 0; i < problem->contact_count; i++) {
        const int rows = problem->row_start[i + 1] - problem->row_start[i];
        const int columns = problem->dof_start[i + 1] - problem->dof_start[i];
        add_contact(kkt, i, omega, rows, jacobian, columns);
        omega += (ptrdiff_t)rows * rows;
        jacobian += (ptrdiff_t)rows * columns;
    }
    for (int i = 0; i < kkt->unknowns; i++) {
        double *entry = kkt->panels + kkt->diagonal[i];
        *entry += diagonal[i];
        const double size = fmax(fabs(*entry), DBL_MIN);
        kkt->floor[kkt->position[i]] = i < kkt->n ? size : -size;
    }
}
