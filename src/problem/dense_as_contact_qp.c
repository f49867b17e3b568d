#include "problem/dense_as_contact_qp.h"

#include "base/union_find.h"
#include "problem/conversions.h"

/* The first column from j on in which any of the rows has an entry; n: there is none. Most are zeros: four at a time.
 */
static int next_entry(int n, int rows, const double *a, int j)
{
    for (bool any = false; j + 4 <= n; j += 4) {
        for (int r = 0; r < rows; r++) {
            const double *four = a + (ptrdiff_t)r * n + j;
            any = any || (four[0] != 0.0) | (four[1] != 0.0) | (four[2] != 0.0) | (four[3] != 0.0);
        }
        if (any) {
            break;
        }
    }
    for (; j < n; j++) {
        for (int r = 0; r < rows; r++) {
            if (a[(ptrdiff_t)r * n + j] != 0.0) {
                return j;
            }
        }
    }
    return n;
}

/* Numbers the components in `label`, by the order of their first unknowns, which are their roots in `parent` (n each).
 * An entry counts on either side of the diagonal: H is symmetric to rounding only. */
static int number_components(int n, const double *h, int *label, int *parent)
{
    int components = 0;
    for (int i = 0; i < n; i++) {
        parent[i] = i;
    }
    for (int i = 0; h && i < n; i++) {
        const double *row = h + (ptrdiff_t)i * n;
        for (int j = next_entry(n, 1, row, 0); j < n; j = next_entry(n, 1, row, j + 1)) {
            const int one = perp_union_root(parent, i), other = perp_union_root(parent, j);
            parent[one > other ? one : other] = one > other ? other : one;
        }
    }
    for (int i = 0; i < n; i++) {
        const int root = perp_union_root(parent, i);
        label[i] = root == i ? components++ : label[root];
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

int perp_dense_dofs(int n, int rows, const double *a, const int *position, int *dofs)
{
    int count = 0;
    for (int j = next_entry(n, rows, a, 0); j < n; j = next_entry(n, rows, a, j + 1)) {
        int at = count++;
        for (; dofs && at > 0 && dofs[at - 1] > position[j]; at--) {
            dofs[at] = dofs[at - 1];
        }
        if (dofs) {
            dofs[at] = position[j];
        }
    }
    return count;
}

double *perp_dense_add_contact(int n, int contact, int rows, const double *a, const perp_contact_qp_arrays *arrays,
                               double *jacobian)
{
    const int start = arrays->dof_start[contact];
    int *dofs = arrays->dofs ? arrays->dofs + start : NULL;
    const int count = perp_dense_dofs(n, rows, a, arrays->position, dofs);
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
        entries += perp_dense_dofs(n, 1, row, arrays->position, arrays->equality_dofs + entries);
        arrays->equality_start[i + 1] = entries;
        for (int k = arrays->equality_start[i]; k < entries; k++) {
            arrays->equality_values[k] = row[arrays->permutation[arrays->equality_dofs[k]]];
        }
    }
}

void perp_dense_permute(int n, const int *permutation, const double *from, double *to)
{
    for (int k = 0; k < n; k++) {
        to[k] = from[permutation[k]];
    }
}

static void permute_back(int n, const int *permutation, const double *from, double *to)
{
    for (int k = 0; k < n; k++) {
        to[permutation[k]] = from[k];
    }
}

void perp_dense_point(int n, int rows, int equalities, bool lower, bool upper, const int *permutation,
                      const perp_convex_point *from, const perp_convex_point *to)
{
    permute_back(n, permutation, from->x, to->x);
    for (int i = 0; i < rows; i++) {
        to->y[i] = from->y[i];
    }
    for (int i = 0; i < equalities; i++) {
        to->y_equality[i] = from->y_equality[i];
    }
    if (lower) {
        permute_back(n, permutation, from->y_lower, to->y_lower);
    }
    if (upper) {
        permute_back(n, permutation, from->y_upper, to->y_upper);
    }
}
