/* Least-norm problems in the multipliers, solved in the unknowns.
 *
 *     min over v   1/2 |P(A v + c)|^2 + 1/2 |C v + e|^2 - r.v
 *
 * with P the projection on K, or on a part of it, is convex and once differentiable, and at its minimum
 *
 *     y = P(A v + c),  z = C v + e:   A'y + C'z = r
 *
 * Two questions have this form. With c = 0, e = 0 and r = H x + g these are, of all multipliers of the solution x,
 * those of least norm (P then projects on the multipliers that are complementary to s). With r = 0, c = -b and e = d
 * they are a proof that there is no feasible x, or zero. Newton's matrix is that of the contacts again, with V = P'(A v
 * + c) for weights. */
#include "linalg/dense_kernel.h"
#include "solver/convex_least.h"
#include "solver/tolerances.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void project(const perp_least *l, const double *u, double *y)
{
    perp_convex_workspace *c = l->c;
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            y[i] = c->part[i] == PERP_PART_ALL && u[i] > 0.0 ? u[i] : 0.0;
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start, size = c->cones[k].size;
        if (c->part[start] == PERP_PART_ALL) {
            perp_cone_project(size, u + start, y + start);
            continue;
        }
        const double *d = l->ray + start;
        double along = 0.0;
        for (int i = 0; c->part[start] == PERP_PART_RAY && i < size; i++) {
            along += d[i] * u[start + i];
        }
        for (int i = 0; i < size; i++) {
            y[start + i] = along > 0.0 ? along * d[i] : 0.0;
        }
    }
}

/* u, y, z and the value at v. */
static void evaluate(perp_least *l)
{
    perp_convex_workspace *c = l->c;
    const perp_contact_qp *p = c->problem;
    perp_convex_a(c, l->v, l->u);
    for (int i = 0; l->shift && i < c->m; i++) {
        l->u[i] += l->shift[i];
    }
    project(l, l->u, l->y);
    for (int i = 0; i < c->e; i++) {
        double sum = l->target ? l->target[i] : 0.0;
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            sum += p->equality_values[k] * l->v[p->equality_dofs[k]];
        }
        l->z[i] = sum;
    }
    l->value = 0.5 * (perp_dense_dot(c->m, l->y, l->y) + perp_dense_dot(c->e, l->z, l->z)) -
               (l->load ? perp_dense_dot(c->n, l->load, l->v) : 0.0);
    for (int i = 0; l->pull > 0.0 && i < c->n; i++) {
        l->value += 0.5 * l->pull * l->columns[i] * l->v[i] * l->v[i];
    }
}

static void differentiate(perp_least *l)
{
    perp_convex_workspace *c = l->c;
    memset(l->gradient, 0, (size_t)c->n * sizeof *l->gradient);
    perp_convex_add_at(c, l->y, l->gradient);
    perp_convex_add_ct(c, l->z, l->gradient);
    for (int i = 0; l->load && i < c->n; i++) {
        l->gradient[i] -= l->load[i];
    }
    for (int i = 0; l->pull > 0.0 && i < c->n; i++) {
        l->gradient[i] += l->pull * l->columns[i] * l->v[i];
    }
}

/* P' of a cone at c->slack (its argument); c->ds has the rays. */
static void least_matrix(const perp_convex_workspace *c, const perp_convex_cone *cone, double *matrix)
{
    const int size = cone->size;
    const double *u = c->slack + cone->start, *d = c->ds + cone->start;
    memset(matrix, 0, (size_t)size * (size_t)size * sizeof *matrix);
    if (c->part[cone->start] != PERP_PART_ALL) {
        const bool on = c->part[cone->start] == PERP_PART_RAY && perp_dense_dot(size, d, u) > 0.0;
        for (int i = 0; on && i < size; i++) {
            for (int j = 0; j < size; j++) {
                matrix[i * size + j] = d[i] * d[j];
            }
        }
        return;
    }
    const double length = sqrt(perp_dense_dot(size - 1, u + 1, u + 1));
    const double value = u[0] >= length ? 1.0 : u[0] <= -length ? 0.0 : (u[0] + length) / (2.0 * length);
    for (int i = 0; i < size; i++) {
        matrix[i * size + i] = value;
    }
    if (value == 0.0 || value == 1.0) {
        return;
    }
    matrix[0] = 0.5;
    for (int i = 1; i < size; i++) {
        const double ti = u[i] / length;
        matrix[i * size] = matrix[i] = 0.5 * ti;
        for (int j = 1; j < size; j++) {
            matrix[i * size + j] += (0.5 - value) * ti * (u[j] / length);
        }
    }
}

/* The proximal term, one per unknown, relative to all that touches it. */
void perp_least_columns(perp_convex_workspace *c, double *columns)
{
    const perp_contact_qp *p = c->problem;
    const double *jacobian = p->jacobian;
    memset(columns, 0, (size_t)c->n * sizeof *columns);
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i], count = p->dof_start[i + 1] - p->dof_start[i];
        for (int r = 0; r < rows; r++, jacobian += count) {
            for (int k = 0; k < count; k++) {
                columns[p->dofs[p->dof_start[i] + k]] += jacobian[k] * jacobian[k];
            }
        }
    }
    for (int k = 0; k < c->bounds; k++) {
        columns[c->bound_dof[k]] += 1.0;
    }
    for (int k = 0; c->e > 0 && k < p->equality_start[c->e]; k++) {
        columns[p->equality_dofs[k]] += p->equality_values[k] * p->equality_values[k];
    }
    double most = 0.0;
    for (int i = 0; i < c->n; i++) {
        most = fmax(most, columns[i]);
    }
    for (int i = 0; i < c->n; i++) {
        columns[i] = fmax(columns[i], most > 0.0 ? COLUMN_LEAST * most : 1.0);
    }
}

static void factor(perp_least *l, double rho)
{
    perp_convex_workspace *c = l->c;
    memcpy(c->slack, l->u, (size_t)c->m * sizeof *c->slack);
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            c->weight[i] = c->part[i] == PERP_PART_ALL && l->u[i] > 0.0 ? 1.0 : 0.0;
        }
    }
    perp_convex_make_omega(c, least_matrix);
    for (int i = 0; i < c->n; i++) {
        c->diagonal[i] = (rho + l->pull) * l->columns[i];
    }
    for (int k = 0; k < c->bounds; k++) {
        c->diagonal[c->bound_dof[k]] += c->weight[c->contact_slacks + k];
    }
    for (int i = c->n; i < c->n + c->e; i++) {
        c->diagonal[i] = -1.0;
    }
    perp_convex_factor(c);
}

/* A step that lowers the value, halved as often as it takes: its length, 0 if none does. */
static double search(perp_least *l)
{
    enum { HALVINGS = 30 };
    perp_convex_workspace *c = l->c;
    const double before = l->value, slope = perp_dense_dot(c->n, l->gradient, c->step);
    const double noise = VALUE_NOISE * (fabs(before) + perp_dense_dot(c->m, l->y, l->y));
    double t = 1.0, taken = 0.0;
    for (int k = 0; k < HALVINGS; k++, t *= 0.5) {
        for (int i = 0; i < c->n; i++) {
            l->v[i] += (t - taken) * c->step[i];
        }
        taken = t;
        evaluate(l);
        if (l->value <= before + SUFFICIENT * t * slope + noise) {
            return t;
        }
    }
    return 0.0;
}

/* y += P' A dv, z += C dv with the dv in c->step, y put back into K. */
static void correct(perp_least *l)
{
    perp_convex_workspace *c = l->c;
    const perp_contact_qp *p = c->problem;
    double *change = c->dy_affine;
    perp_convex_a(c, c->step, change);
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            l->y[i] = fmax(l->y[i] + c->weight[i] * change[i], 0.0);
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start, size = c->cones[k].size;
        least_matrix(c, &c->cones[k], c->block);
        for (int i = 0; i < size; i++) {
            l->y[start + i] += perp_dense_dot(size, c->block + (ptrdiff_t)i * size, change + start);
        }
        perp_cone_project(size, l->y + start, l->y + start);
    }
    for (int i = 0; i < c->e; i++) {
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            l->z[i] += p->equality_values[k] * c->step[p->equality_dofs[k]];
        }
    }
}

/* dv of Newton's step from the gradient, with the factors as they are. */
static void solve_step(perp_least *l)
{
    perp_convex_workspace *c = l->c;
    for (int i = 0; i < c->n; i++) {
        c->step[i] = -l->gradient[i];
    }
    memset(c->step + c->n, 0, (size_t)c->e * sizeof *c->step);
    perp_kkt_solve(&c->kkt, c->step);
}

/* Keeps y, z and u where the gradient is less than before. */
static void keep(perp_least *l, double size, double *kept)
{
    perp_convex_workspace *c = l->c;
    if (size < *kept) {
        *kept = size;
        memcpy(c->saved.y, l->y, (size_t)c->m * sizeof *l->y);
        memcpy(c->saved.z, l->z, (size_t)c->e * sizeof *l->z);
        memcpy(c->ds_affine, l->u, (size_t)c->m * sizeof *l->u);
    }
}

/* Refinement of y and z themselves on the pieces of P that were found: A v + c, of a v that may be large along what
 * nothing holds, has fewer digits than y. */
void perp_least_refine(perp_least *l)
{
    enum { PASSES = 5 };
    perp_convex_workspace *c = l->c;
    memcpy(l->u, c->ds_affine, (size_t)c->m * sizeof *l->u);
    memcpy(l->y, c->saved.y, (size_t)c->m * sizeof *l->y);
    memcpy(l->z, c->saved.z, (size_t)c->e * sizeof *l->z);
    double kept = INFINITY;
    l->pull = 0.0;
    factor(l, DAMPING);
    for (int k = 0; k < PASSES; k++) {
        differentiate(l);
        keep(l, perp_dense_largest(c->n, l->gradient), &kept);
        solve_step(l);
        correct(l);
    }
    differentiate(l);
    keep(l, perp_dense_largest(c->n, l->gradient), &kept);
    memcpy(l->y, c->saved.y, (size_t)c->m * sizeof *l->y);
    memcpy(l->z, c->saved.z, (size_t)c->e * sizeof *l->z);
}

/* From v = 0, with the derivative there as `guess` (a slack vector, as an argument of P) has it; leaves y and z. Where
 * the pieces of P change along a step it is damped (Levenberg): a direction that no active piece holds would else go
 * far beyond the next piece. */
void perp_least_minimise(perp_least *l, const double *guess, double enough, int passes)
{
    enum { STALLS = 4 };
    perp_convex_workspace *c = l->c;
    const double load = l->load ? 1.0 + perp_dense_largest(c->n, l->load) : 0.0;
    double best = INFINITY, kept = INFINITY, before = INFINITY, rho = DAMPING;
    bool again = false; /* the factors of the last pass serve once more */
    int stalls = 0;
    perp_kkt_set_base(&c->kkt, c->problem, 0.0, 0.0);
    perp_least_columns(c, c->product2);
    l->columns = c->product2;
    memset(l->v, 0, (size_t)c->n * sizeof *l->v);
    evaluate(l);
    if (guess) {
        memcpy(l->u, guess, (size_t)c->m * sizeof *l->u);
    }
    for (int k = 0; k < passes && stalls < STALLS && !perp_convex_cancelled(c); k++) {
        differentiate(l);
        const double size = perp_dense_largest(c->n, l->gradient);
        keep(l, size, &kept);
        if (!(size > enough)) {
            break;
        }
        if (size > 0.5 * best && size < GRADIENT_ROUNDING * load) {
            break; /* v has no more digits: refining y has */
        }
        stalls = size < 0.7 * best || l->value < before - VALUE_NOISE * fabs(before) ? 0 : stalls + 1;
        again = k > 0 && size < GRADIENT_SMALL * load && size < 0.1 * best;
        best = fmin(best, size);
        before = l->value;
        if (!again) {
            factor(l, rho);
        }
        solve_step(l);
        const double taken = search(l);
        if (taken == 0.0 && rho >= DAMPING_MOST) {
            break;
        }
        rho = taken == 1.0 ? fmax(0.1 * rho, DAMPING_LEAST) : taken < 0.1 ? fmin(100.0 * rho, DAMPING_MOST) : rho;
    }
    if ((kept > enough || l->pull > 0.0) && kept < INFINITY) {
        perp_least_refine(l);
    }
    perp_kkt_set_base(&c->kkt, c->problem, 1.0, 0.0);
}

/* ---- least multipliers ------------------------------------------------------------------------------------------ */

/* The part of K that is complementary to s, as far as s is known: all of it where s = 0, the opposite ray where s is on
 * the border. */
static void choose_parts(perp_convex_workspace *c, const double *s, const double *y, double *ray)
{
    const double most = perp_dense_largest(c->m, y);
    for (int i = 0; i < c->m; i++) {
        const double near = fmin(c->tolerance * c->b_scale, NO_SLACK * most / c->gamma[i]);
        c->part[i] = y[i] > 0.0 || s[i] <= near ? PERP_PART_ALL : PERP_PART_NONE;
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start, size = c->cones[k].size;
        const double *sk = s + start, *yk = y + start;
        const double s_tail = sqrt(perp_dense_dot(size - 1, sk + 1, sk + 1));
        const double y_norm = sqrt(perp_dense_dot(size, yk, yk));
        const double near = fmin(c->tolerance * c->b_scale, NO_SLACK * most / c->gamma[start]);
        const bool tip = fmax(sk[0], s_tail) <= near, edge = y_norm > 0.0 || sk[0] - s_tail <= near;
        c->part[start] = tip ? PERP_PART_ALL : edge && s_tail > 0.0 ? PERP_PART_RAY : PERP_PART_NONE;
        ray[start] = sqrt(0.5);
        for (int i = 1; i < size; i++) {
            ray[start + i] = s_tail > 0.0 ? -sqrt(0.5) * (sk[i] / s_tail) : 0.0;
        }
    }
}

/* Whether slacks that count as apart may be zero for all that is known: with the objective above the least by the gap,
 * a slack is off by sqrt(2 gap / gamma). The least multipliers would then be others. */
static bool is_ambiguous(perp_convex_workspace *c)
{
    const double root = sqrt(2.0 * perp_convex_gap(c));
    const double *s = c->s;
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            if (c->part[i] == PERP_PART_NONE && s[i] * sqrt(c->gamma[i]) < root) {
                return true;
            }
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start, size = c->cones[k].size;
        const double tail = sqrt(perp_dense_dot(size - 1, s + start + 1, s + start + 1));
        const double off = c->part[start] == PERP_PART_NONE  ? s[start] - tail
                           : c->part[start] == PERP_PART_RAY ? s[start]
                                                             : INFINITY;
        if (off * sqrt(c->gamma[start]) < root) {
            return true;
        }
    }
    return false;
}

bool perp_convex_minimum_norm(perp_convex_workspace *c)
{
    enum { PASSES = 40 };
    if (c->best_is_least) {
        return true;
    }
    perp_convex_copy(c, &c->best, &c->kept);
    perp_convex_slacks(c, c->best.x, c->s);
    choose_parts(c, c->s, c->best.y, c->ds);
    /* a clean point was found on its active set, and its slacks are right to rounding */
    const bool ambiguous = c->best_residual > CONVEX_CLEAN && is_ambiguous(c);
    perp_convex_h(c, c->best.x, c->rd);
    for (int i = 0; i < c->n; i++) {
        c->rd[i] += c->problem->g[i];
    }
    perp_least l = {.c = c, .load = c->rd, .ray = c->ds, .v = c->at.x, .u = c->dy, .y = c->at.y, .z = c->at.z};
    l.gradient = c->product3;
    perp_least_minimise(&l, c->best.y, CONVEX_CLEAN * c->g_scale, PASSES);
    perp_convex_copy(c, &c->at, &c->trial);
    memcpy(c->trial.x, c->best.x, (size_t)c->n * sizeof(double));
    const double before = c->best_residual;
    perp_convex_judge(c, &c->trial);
    const double allowed = fmax(10.0 * before, LEAST_ALLOWED * c->tolerance);
    if (!(c->judged <= fmin(allowed, c->tolerance))) {
        return false;
    }
    perp_convex_copy(c, &c->trial, &c->best);
    c->best_residual = c->judged;
    c->best_parts = c->judged_parts;
    c->best_is_least = !ambiguous;
    return true;
}
