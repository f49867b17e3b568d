#include "problem/dense_as_contact_qp.h"

/* Numbers the components in `label`, by breadth-first search with `queue` (n each). An entry counts on either side of
 * the diagonal: H is symmetric to rounding only. */
static int number_components(int n, const double *h, int *label, int *queue)
{
    int components = 0;
    for (int i = 0; i < n; i++) {
        label[i] = -1;
    }
    for (int i = 0; i < n; i++) {
        if (label[i] >= 0) {
            continue;
        }
        int head = 0, tail = 1;
        queue[0] = i;
        label[i] = components;
        while (h && head < tail) {
            const int j = queue[head++];
            for (int k = i + 1; k < n; k++) {
                if (label[k] < 0 && (h[(ptrdiff_t)j * n + k] != 0.0 || h[(ptrdiff_t)k * n + j] != 0.0)) {
                    label[k] = components;
                    queue[tail++] = k;
                }
            }
        }
        components++;
    }
    return components;
}

int perp_dense_blocks(int n, const double *h, const perp_contact_qp_arrays *arrays)
{
    int *permutation = arrays->permutation, *label = arrays->position, *start = arrays->block_start;
    const int blocks = number_components(n, h, label, permutation);
    for (int k = 0; k <= blocks; k++) {
        start[k] = 0;
    }
    for (int i = 0; i < n; i++) {
        start[label[i] + 1]++;
    }
    for (int k = 0; k < blocks; k++) {
        start[k + 1] += start[k];
    }
    for (int i = 0; i < n; i++) {
        permutation[start[label[i]]++] = i;
    }
    for (int k = blocks; k > 0; k--) { /* each had moved to where the next one starts */
        start[k] = start[k - 1];
    }
    start[0] = 0;
    for (int k = 0; k < n; k++) {
        arrays->position[permutation[k]] = k;
    }
    double *entry = arrays->hessian;
    for (int k = 0; h && k < blocks; k++) {
        for (int i = start[k]; i < start[k + 1]; i++) {
            for (int j = start[k]; j < start[k + 1]; j++) {
                *entry++ = h[(ptrdiff_t)permutation[i] * n + permutation[j]];
            }
        }
    }
    return blocks;
}

int perp_dense_dofs(int n, int rows, const double *a, const int *permutation, int *dofs)
{
    int count = 0;
    for (int k = 0; k < n; k++) {
        const int j = permutation ? permutation[k] : k;
        bool nonzero = false;
        for (int r = 0; r < rows && !nonzero; r++) {
            nonzero = a[(ptrdiff_t)r * n + j] != 0.0;
        }
        if (nonzero && dofs) {
            dofs[count] = k;
        }
        count += nonzero ? 1 : 0;
    }
    return count;
}

double *perp_dense_add_contact(int n, int contact, int rows, const double *a, const perp_contact_qp_arrays *arrays,
                               double *jacobian)
{
    const int start = arrays->dof_start[contact];
    int *dofs = arrays->dofs ? arrays->dofs + start : NULL;
    const int count = perp_dense_dofs(n, rows, a, arrays->permutation, dofs);
    arrays->row_start[contact + 1] = arrays->row_start[contact] + rows;
    arrays->dof_start[contact + 1] = start + count;
    for (int r = 0; r < rows; r++) {
        for (int k = 0; dofs && k < count; k++) {
            *jacobian++ = a[(ptrdiff_t)r * n + arrays->permutation[dofs[k]]];
        }
    }
    return jacobian;
}

int perp_dense_equality_entries(int n, int equalities, const double *c)
{
    int entries = 0;
    for (int i = 0; i < equalities; i++) {
        entries += perp_dense_dofs(n, 1, c + (ptrdiff_t)i * n, NULL, NULL);
    }
    return entries;
}

void perp_dense_equalities(int n, int equalities, const double *c, const perp_contact_qp_arrays *arrays)
{
    int entries = 0;
    arrays->equality_start[0] = 0;
    for (int i = 0; i < equalities; i++) {
        const double *row = c + (ptrdiff_t)i * n;
        for (int k = 0; k < n; k++) {
            if (row[arrays->permutation[k]] != 0.0) {
                arrays->equality_dofs[entries] = k;
                arrays->equality_values[entries++] = row[arrays->permutation[k]];
            }
        }
        arrays->equality_start[i + 1] = entries;
    }
}

void perp_dense_permute(int n, const int *permutation, const double *from, double *to)
{
    for (int k = 0; k < n; k++) {
        to[k] = from[permutation[k]];
    }
}

void perp_dense_permute_back(int n, const int *permutation, const double *from, double *to)
{
    for (int k = 0; k < n; k++) {
        to[permutation[k]] = from[k];
    }
}

void perp_dense_point(int n, int rows, int equalities, bool lower, bool upper, const int *permutation,
                      const perp_convex_point *from, const perp_convex_point *to)
{
    perp_dense_permute_back(n, permutation, from->x, to->x);
    for (int i = 0; i < rows; i++) {
        to->y[i] = from->y[i];
    }
    for (int i = 0; i < equalities; i++) {
        to->y_equality[i] = from->y_equality[i];
    }
    if (lower) {
        perp_dense_permute_back(n, permutation, from->y_lower, to->y_lower);
    }
    if (upper) {
        perp_dense_permute_back(n, permutation, from->y_upper, to->y_upper);
    }
}
