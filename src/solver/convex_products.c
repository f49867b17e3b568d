#include "linalg/dense_kernel.h"
#include "problem/convex_residual.h"
#include "problem/natural_map.h"
#include "solver/convex_core.h"

#include <math.h>
#include <string.h>

/* Where a contact stands in the arrays of J and R. */
typedef struct place {
    int contact;
    const double *jacobian, *rays;
} place;

static void go_to(const perp_contact_qp *p, int contact, place *at)
{
    for (int i = at->contact; i < contact; i++) {
        const ptrdiff_t rows = p->row_start[i + 1] - p->row_start[i], columns = p->dof_start[i + 1] - p->dof_start[i];
        const ptrdiff_t slacks = p->slack_start[i + 1] - p->slack_start[i];
        at->jacobian = rows * columns > 0 ? at->jacobian + rows * columns : at->jacobian;
        at->rays = at->rays ? at->rays + slacks * rows : NULL;
    }
    at->contact = contact;
}

/* out = R J x of a contact with many columns, its entries of x in `local`; j is scratch. */
static void combine(int slacks, int rows, int columns, const place *at, const double *local, double *j, double *out)
{
    for (int r = 0; r < rows; r++) {
        j[r] = perp_dense_dot(columns, at->jacobian + (ptrdiff_t)r * columns, local);
    }
    for (int k = 0; k < slacks; k++) {
        out[k] = at->rays ? perp_dense_dot(rows, at->rays + (ptrdiff_t)k * rows, j) : j[k];
    }
}

/* sum += J'R'y of such a contact. */
static void add_combined(int slacks, int rows, int columns, const place *at, const double *y, double *sum)
{
    for (int r = 0; r < rows; r++) {
        double force = at->rays ? 0.0 : y[r];
        for (int k = 0; at->rays && k < slacks; k++) {
            force += at->rays[(ptrdiff_t)k * rows + r] * y[k];
        }
        perp_dense_subtract(columns, -force, at->jacobian + (ptrdiff_t)r * columns, sum);
    }
}

/* The entries of a group's columns, contiguous: a part of x, or gathered. */
static inline const double *columns_of(const perp_convex_workspace *c, int group, const double *x)
{
    const perp_kkt *kkt = &c->kkt;
    const int begin = kkt->piece_start[group], end = kkt->piece_start[group + 1];
    if (end - begin == 1) {
        return x + kkt->pieces[begin].dof;
    }
    double *to = c->gather;
    for (int q = begin; q < end; q++) {
        const double *from = x + kkt->pieces[q].dof;
        for (int k = 0; k < kkt->pieces[q].length; k++) { /* a few: memcpy costs more */
            *to++ = from[k];
        }
    }
    return c->gather;
}

static inline void add_columns(const perp_convex_workspace *c, int group, const double *sum, double *out)
{
    const perp_kkt *kkt = &c->kkt;
    for (int q = kkt->piece_start[group]; q < kkt->piece_start[group + 1]; q++) {
        perp_dense_subtract(kkt->pieces[q].length, -1.0, sum, out + kkt->pieces[q].dof);
        sum += kkt->pieces[q].length;
    }
}

void perp_convex_a(perp_convex_workspace *c, const double *x, double *s)
{
    const perp_contact_qp *p = c->problem;
    const perp_kkt *kkt = &c->kkt;
    place at = {0, p->jacobian, p->rays};
    for (int g = 0; g < kkt->group_count; g++) {
        const int begin = kkt->group_first[g], end = kkt->group_first[g + 1];
        const int columns = p->dof_start[begin + 1] - p->dof_start[begin];
        const double *local = columns_of(c, g, x);
        const bool packed = kkt->packed_start[g] >= 0;
        if (packed) {
            const int slacks = p->slack_start[end] - p->slack_start[begin];
            kkt->kernel->combine(columns, slacks, local,
                                 kkt->packed + kkt->packed_start[g] + (ptrdiff_t)slacks * columns, false,
                                 s + p->slack_start[begin]);
        }
        for (int i = begin; !packed && i < end; i++) {
            go_to(p, i, &at);
            combine(p->slack_start[i + 1] - p->slack_start[i], p->row_start[i + 1] - p->row_start[i], columns, &at,
                    local, c->row_sum, s + p->slack_start[i]);
        }
    }
    double *bounds = s + c->contact_slacks;
    for (int k = 0; k < c->bounds; k++) {
        bounds[k] = c->bound_sign[k] * x[c->bound_dof[k]];
    }
}

void perp_convex_add_at(perp_convex_workspace *c, const double *y, double *out)
{
    const perp_contact_qp *p = c->problem;
    const perp_kkt *kkt = &c->kkt;
    place at = {0, p->jacobian, p->rays};
    for (int g = 0; g < kkt->group_count; g++) {
        const int begin = kkt->group_first[g], end = kkt->group_first[g + 1];
        const int columns = p->dof_start[begin + 1] - p->dof_start[begin];
        const bool packed = kkt->packed_start[g] >= 0, direct = kkt->piece_start[g + 1] - kkt->piece_start[g] == 1;
        double *sum = direct ? out + kkt->pieces[kkt->piece_start[g]].dof : c->gather;
        if (packed) {
            kkt->kernel->combine(p->slack_start[end] - p->slack_start[begin], columns, y + p->slack_start[begin],
                                 kkt->packed + kkt->packed_start[g], direct, sum);
        } else if (!direct) {
            memset(sum, 0, (size_t)columns * sizeof *sum);
        }
        for (int i = begin; !packed && i < end; i++) {
            go_to(p, i, &at);
            add_combined(p->slack_start[i + 1] - p->slack_start[i], p->row_start[i + 1] - p->row_start[i], columns, &at,
                         y + p->slack_start[i], sum);
        }
        if (!direct) {
            add_columns(c, g, sum, out);
        }
    }
    const double *bounds = y + c->contact_slacks;
    for (int k = 0; k < c->bounds; k++) {
        out[c->bound_dof[k]] += c->bound_sign[k] * bounds[k];
    }
}

void perp_convex_slacks(perp_convex_workspace *c, const double *x, double *s)
{
    perp_convex_a(c, x, s);
    for (int i = 0; i < c->contact_slacks; i++) {
        s[i] += c->problem->offset[i];
    }
    for (int k = 0; k < c->bounds; k++) {
        s[c->contact_slacks + k] += c->bound_offset[k];
    }
}

void perp_convex_h(const perp_convex_workspace *c, const double *x, double *out)
{
    const perp_contact_qp *p = c->problem;
    const double *h = p->hessian;
    if (!h) {
        memset(out, 0, (size_t)c->n * sizeof *out);
        return;
    }
    for (int k = 0; k < p->block_count; k++) {
        const int first = p->block_start[k], size = p->block_start[k + 1] - first;
        const double *from = x + first;
        double *to = out + first;
        switch ((perp_convex_block)c->block_kind[k]) {
        case PERP_BLOCK_ZERO:
            memset(to, 0, (size_t)size * sizeof *to);
            break;
        case PERP_BLOCK_DIAGONAL:
            for (int i = 0; i < size; i++) {
                to[i] = h[(ptrdiff_t)i * (size + 1)] * from[i];
            }
            break;
        case PERP_BLOCK_FULL:
            for (int i = 0; i < size; i++) {
                to[i] = perp_dense_dot(size, h + (ptrdiff_t)i * size, from);
            }
            break;
        }
        h += (ptrdiff_t)size * size;
    }
}

void perp_convex_equations(const perp_convex_workspace *c, const double *x, double *rc)
{
    const perp_contact_qp *p = c->problem;
    for (int i = 0; i < c->e; i++) {
        double sum = -p->equality_target[i];
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            sum += p->equality_values[k] * x[p->equality_dofs[k]];
        }
        rc[i] = sum;
    }
}

void perp_convex_add_ct(const perp_convex_workspace *c, const double *z, double *out)
{
    const perp_contact_qp *p = c->problem;
    for (int i = 0; i < c->e; i++) {
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            out[p->equality_dofs[k]] += p->equality_values[k] * z[i];
        }
    }
}

void perp_convex_dual_residual(perp_convex_workspace *c, const perp_convex_iterate *at, double *rd)
{
    double *forces = c->product;
    memset(forces, 0, (size_t)c->n * sizeof *forces);
    perp_convex_add_at(c, at->y, forces);
    perp_convex_add_ct(c, at->z, forces);
    perp_convex_h(c, at->x, rd);
    for (int i = 0; i < c->n; i++) {
        rd[i] = (rd[i] + c->problem->g[i]) - forces[i];
    }
}

void perp_convex_zero(const perp_convex_workspace *c, perp_convex_iterate *at)
{
    memset(at->x, 0, (size_t)c->n * sizeof(double));
    memset(at->y, 0, (size_t)c->m * sizeof(double));
    memset(at->z, 0, (size_t)c->e * sizeof(double));
}

void perp_convex_copy(const perp_convex_workspace *c, const perp_convex_iterate *from, perp_convex_iterate *to)
{
    memcpy(to->x, from->x, (size_t)c->n * sizeof(double));
    memcpy(to->y, from->y, (size_t)c->m * sizeof(double));
    memcpy(to->z, from->z, (size_t)c->e * sizeof(double));
}

/* What is not finite is taken for zero: a warm start is a guess. */
static void import_vector(int n, const double *from, double *to)
{
    for (int i = 0; i < n; i++) {
        to[i] = from && isfinite(from[i]) ? from[i] : 0.0;
    }
}

void perp_convex_import(const perp_convex_workspace *c, const perp_convex_point *point, perp_convex_iterate *at)
{
    import_vector(c->n, point->x, at->x);
    import_vector(c->contact_slacks, point->y, at->y);
    import_vector(c->e, point->y_equality, at->z);
    for (int k = 0; k < c->bounds; k++) {
        const double *from = c->bound_sign[k] > 0.0 ? point->y_lower : point->y_upper;
        const double value = from ? from[c->bound_dof[k]] : 0.0;
        at->y[c->contact_slacks + k] = isfinite(value) ? value : 0.0;
    }
}

void perp_convex_export(const perp_convex_workspace *c, const perp_convex_iterate *at, perp_convex_point *point)
{
    memcpy(point->x, at->x, (size_t)c->n * sizeof(double));
    if (point->y) {
        memcpy(point->y, at->y, (size_t)c->contact_slacks * sizeof(double));
    }
    if (point->y_equality) {
        memcpy(point->y_equality, at->z, (size_t)c->e * sizeof(double));
    }
    double *ends[] = {point->y_lower, point->y_upper};
    for (int k = 0; k < 2; k++) {
        if (ends[k]) {
            memset(ends[k], 0, (size_t)c->n * sizeof(double));
        }
    }
    for (int k = 0; k < c->bounds; k++) {
        double *to = c->bound_sign[k] > 0.0 ? point->y_lower : point->y_upper;
        if (to) {
            to[c->bound_dof[k]] = at->y[c->contact_slacks + k];
        }
    }
}

void perp_convex_bound_multipliers(perp_convex_workspace *c, const perp_convex_iterate *at)
{
    double *ends[] = {c->y_lower, c->y_upper};
    for (int k = 0; (c->problem->lower || c->problem->upper) && k < 2; k++) {
        memset(ends[k], 0, (size_t)c->n * sizeof(double));
    }
    for (int k = 0; k < c->bounds; k++) {
        ends[c->bound_sign[k] > 0.0 ? 0 : 1][c->bound_dof[k]] = at->y[c->contact_slacks + k];
    }
}

bool perp_convex_judge(perp_convex_workspace *c, const perp_convex_iterate *at)
{
    perp_convex_bound_multipliers(c, at);
    const perp_convex_point point = {at->x, at->y, at->z, c->y_lower, c->y_upper};
    const perp_convex_view view = perp_contact_qp_view(c->problem);
    double near;
    c->judged_parts = perp_convex_view_residual(&view, &point, c->unit, &near);
    c->judged = perp_convex_residual_largest(c->judged_parts);
    c->judged = near > PERP_NEAR ? fmax(c->judged, near) : c->judged;
    if (c->judged < c->best_residual) {
        c->best_residual = c->judged;
        c->best_parts = c->judged_parts;
        c->best_is_least = false;
        perp_convex_copy(c, at, &c->best);
    }
    return c->judged <= c->tolerance;
}

double perp_convex_gap(perp_convex_workspace *c)
{
    double gap = 0.0;
    perp_convex_slacks(c, c->best.x, c->s);
    perp_convex_dual_residual(c, &c->best, c->rd);
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            gap += fabs(c->s[i] * c->best.y[i]);
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start;
        gap += fabs(perp_dense_dot(c->cones[k].size, c->s + start, c->best.y + start));
    }
    for (int i = 0; i < c->n; i++) {
        gap += fabs(c->rd[i] * c->best.x[i]);
    }
    return gap;
}
