#include "solver/lcp_corners.h"

#include <math.h>
#include <string.h>

enum { T = PERP_LCP_ARTIFICIAL };

/* Of a corner whose largest value is 1. Smaller than PERP_LCP_ZERO because far vertices have a small t, and the numbers
 * come from a dictionary that was just built, with errors of some 1e-15. */
static const double ON_PLANE = 1e-11;

/* Place of a variable (or T) in a corner's values. */
static int place(int n, int variable)
{
    if (variable == T) {
        return 2 * n;
    }
    return variable < PERP_LCP_W ? variable : n + variable - PERP_LCP_W;
}

static int bits(uint64_t x)
{
    int count = 0;
    for (; x; x &= x - 1) {
        count++;
    }
    return count;
}

/* Appends a corner with all values 0; the memory of corners removed earlier (they stand behind `count`) is used again.
 */
static perp_status append(perp_lcp_corners *c, int n)
{
    if (c->count == PERP_LCP_CORNERS_MOST) {
        return PERP_STATUS_CAPACITY;
    }
    perp_lcp_corner *items = perp_arena_grow(c->arena, c->items, c->count, &c->capacity, sizeof *items);
    if (!items) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    c->items = items;
    perp_lcp_corner *item = &items[c->count];
    if (!item->value) {
        item->value = PERP_ARENA_NEW(c->arena, double, (size_t)(2 * n + 1));
        if (!item->value) {
            return PERP_STATUS_OUT_OF_MEMORY;
        }
    }
    memset(item->value, 0, (size_t)(2 * n + 1) * sizeof(double));
    item->zero = (perp_lcp_variables){0, 0};
    c->count++;
    return PERP_STATUS_OK;
}

static void normalise(perp_lcp_corner *corner, int n)
{
    double largest = 0.0;
    for (int k = 0; k <= 2 * n; k++) {
        largest = fmax(largest, fabs(corner->value[k]));
    }
    for (int k = 0; k <= 2 * n && largest > 0.0; k++) {
        corner->value[k] /= largest;
    }
}

/* The extreme rays of {t >= 0, y >= 0}: `which` = -1 for the vertex, else a column. */
static perp_status append_unit(perp_lcp_corners *c, const perp_lcp_dictionary *d, int which)
{
    const int n = d->problem->n;
    const perp_status status = append(c, n);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_lcp_corner *corner = &c->items[c->count - 1];
    for (int i = 0; i < n; i++) {
        corner->value[place(n, d->row[i])] = which < 0 ? d->b[i] : d->a[i * (n + 1) + which];
    }
    corner->value[place(n, which < 0 ? T : d->column[which])] = 1.0;
    for (int j = 0; j < d->columns; j++) {
        if (j != which) {
            perp_lcp_add(&corner->zero, d->column[j]);
        }
    }
    if (which >= 0) {
        perp_lcp_add(&corner->zero, T);
    }
    normalise(corner, n);
    return PERP_STATUS_OK;
}

/* Marks each corner as before (+1), on (0) or behind (-1) the inequality of `variable`. */
static perp_status classify(perp_lcp_corners *c, int n, int variable)
{
    while (c->signs_capacity < c->count) {
        int *signs = perp_arena_grow(c->arena, c->signs, c->signs_capacity, &c->signs_capacity, sizeof *signs);
        if (!signs) {
            return PERP_STATUS_OUT_OF_MEMORY;
        }
        c->signs = signs;
    }
    for (int k = 0; k < c->count; k++) {
        double *x = &c->items[k].value[place(n, variable)];
        c->signs[k] = *x > ON_PLANE ? 1 : (*x < -ON_PLANE ? -1 : 0);
        if (c->signs[k] == 0) {
            *x = 0.0;
            perp_lcp_add(&c->items[k].zero, variable);
        }
    }
    return PERP_STATUS_OK;
}

static bool are_adjacent(perp_lcp_corners *c, int count, int a, int b, int dimension)
{
    const perp_lcp_variables shared = {c->items[a].zero.z & c->items[b].zero.z,
                                       c->items[a].zero.w & c->items[b].zero.w};
    if (bits(shared.z) + bits(shared.w) < dimension - 1) {
        return false;
    }
    for (int k = 0; k < count; k++) {
        if (k != a && k != b && perp_lcp_is_subset(shared, c->items[k].zero)) {
            c->comparisons += k + 1;
            return false;
        }
    }
    c->comparisons += count;
    return true;
}

/* The ray between two adjacent ones on opposite sides, on the hyperplane of `variable`. */
static perp_status append_between(perp_lcp_corners *c, int n, int ahead, int behind, int variable)
{
    const perp_status status = append(c, n);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const perp_lcp_corner *p = &c->items[ahead], *m = &c->items[behind];
    perp_lcp_corner *corner = &c->items[c->count - 1];
    const double of_p = -m->value[place(n, variable)], of_m = p->value[place(n, variable)];
    for (int k = 0; k <= 2 * n; k++) {
        corner->value[k] = of_p * p->value[k] + of_m * m->value[k];
    }
    corner->value[place(n, variable)] = 0.0;
    corner->zero = (perp_lcp_variables){p->zero.z & m->zero.z, p->zero.w & m->zero.w};
    perp_lcp_add(&corner->zero, variable);
    normalise(corner, n);
    return PERP_STATUS_OK;
}

/* Puts in the inequality of one variable. */
static perp_status cut(perp_lcp_corners *c, int n, int variable, int dimension)
{
    const int before = c->count;
    perp_status status = classify(c, n, variable);
    for (int m = 0; m < before && status == PERP_STATUS_OK; m++) {
        if (c->signs[m] >= 0) {
            continue;
        }
        if (c->cancel && *c->cancel) {
            return PERP_STATUS_CANCELLED;
        }
        if (c->max_comparisons > 0 && c->comparisons > c->max_comparisons) {
            return PERP_STATUS_CAPACITY;
        }
        for (int p = 0; p < before && status == PERP_STATUS_OK; p++) {
            if (c->signs[p] > 0 && are_adjacent(c, before, p, m, dimension)) {
                status = append_between(c, n, p, m, variable);
            }
        }
    }
    int kept = 0;
    for (int k = 0; k < c->count && status == PERP_STATUS_OK; k++) {
        if (k >= before || c->signs[k] >= 0) {
            const perp_lcp_corner other = c->items[kept];
            c->items[kept++] = c->items[k];
            c->items[k] = other;
        }
    }
    c->count = kept;
    return status;
}

perp_status perp_lcp_corners_find(perp_lcp_corners *c, const perp_lcp_dictionary *d)
{
    c->count = 0;
    perp_status status = PERP_STATUS_OK;
    for (int which = -1; which < d->columns && status == PERP_STATUS_OK; which++) {
        status = append_unit(c, d, which);
    }
    for (int i = 0; i < d->problem->n && status == PERP_STATUS_OK; i++) {
        if (!perp_lcp_has(d->tight, d->row[i])) {
            status = cut(c, d->problem->n, d->row[i], d->columns);
        }
    }
    for (int k = 0; k < c->count && status == PERP_STATUS_OK; k++) {
        c->items[k].zero.z |= d->tight.z;
        c->items[k].zero.w |= d->tight.w;
    }
    return status;
}
