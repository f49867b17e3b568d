/* Least-norm problems in the multipliers, solved in the unknowns.
 *
 *     min over v   1/2 |P(A v + c)|^2 + 1/2 |C v + e|^2 - r.v
 *
 * with P the projection on K, or on a part of it, is convex and once differentiable, and at its minimum
 *
 *     y = P(A v + c),  z = C v + e:   A'y + C'z = r
 *
 * Two questions have this form. With c = 0, e = 0 and r = H x + g these are, of all multipliers of the solution x, those
 * of least norm (P then projects on the multipliers that are complementary to s). With r = 0, c = -b and e = d they are
 * a proof that there is no feasible x, or zero. Newton's matrix is that of the contacts again, with V = P'(A v + c) for
 * weights. */
#include "linalg/dense_kernel.h"
#include "solver/convex_core.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef enum part { PART_NONE, PART_ALL, PART_RAY } part; /* of K, by slack; a cone's in its first */

typedef struct least {
    perp_convex_workspace *c;
    const double *shift, *target, *load; /* c, e, r; NULL: zero */
    const double *ray;                   /* slack vector: unit directions of PART_RAY */
    double *v;                           /* n: at->x */
    double *u;                           /* m: A v + c */
    double *y, *z;                       /* at->y, at->z */
    double *gradient;                    /* n */
    double value;
} least;

static void project(const least *l, const double *u, double *y)
{
    perp_convex_workspace *c = l->c;
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            y[i] = c->part[i] == PART_ALL && u[i] > 0.0 ? u[i] : 0.0;
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start, size = c->cones[k].size;
        if (c->part[start] == PART_ALL) {
            perp_cone_project(size, u + start, y + start);
            continue;
        }
        const double *d = l->ray + start;
        double along = 0.0;
        for (int i = 0; c->part[start] == PART_RAY && i < size; i++) {
            along += d[i] * u[start + i];
        }
        for (int i = 0; i < size; i++) {
            y[start + i] = along > 0.0 ? along * d[i] : 0.0;
        }
    }
}

/* u, y, z and the value at v. */
static void evaluate(least *l)
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
}

static void differentiate(least *l)
{
    perp_convex_workspace *c = l->c;
    memset(l->gradient, 0, (size_t)c->n * sizeof *l->gradient);
    perp_convex_add_at(c, l->y, l->gradient);
    perp_convex_add_ct(c, l->z, l->gradient);
    for (int i = 0; l->load && i < c->n; i++) {
        l->gradient[i] -= l->load[i];
    }
}

/* P' of a cone at c->slack (its argument); c->ds has the rays. */
static void least_matrix(const perp_convex_workspace *c, const perp_convex_cone *cone, double *matrix)
{
    const int size = cone->size;
    const double *u = c->slack + cone->start, *d = c->ds + cone->start;
    memset(matrix, 0, (size_t)size * (size_t)size * sizeof *matrix);
    if (c->part[cone->start] != PART_ALL) {
        const bool on = c->part[cone->start] == PART_RAY && perp_dense_dot(size, d, u) > 0.0;
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
static void measure_columns(perp_convex_workspace *c, double *columns)
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
    for (int i = 0; i < c->n; i++) {
        columns[i] = columns[i] > 0.0 ? columns[i] : 1.0;
    }
}

static void factor(least *l, const double *columns, double rho)
{
    perp_convex_workspace *c = l->c;
    memcpy(c->slack, l->u, (size_t)c->m * sizeof *c->slack);
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            c->weight[i] = c->part[i] == PART_ALL && l->u[i] > 0.0 ? 1.0 : 0.0;
        }
    }
    perp_convex_make_omega(c, least_matrix);
    for (int i = 0; i < c->n; i++) {
        c->diagonal[i] = rho * columns[i];
    }
    for (int k = 0; k < c->bounds; k++) {
        c->diagonal[c->bound_dof[k]] += c->weight[c->contact_slacks + k];
    }
    for (int i = c->n; i < c->n + c->e; i++) {
        c->diagonal[i] = -1.0;
    }
    perp_convex_factor(c);
}

static double largest(int n, const double *x)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        most = fabs(x[i]) > most ? fabs(x[i]) : most;
    }
    return most;
}

/* A step that lowers the value, halved as often as it takes; false if none does. */
static bool search(least *l)
{
    enum { HALVINGS = 30 };
    perp_convex_workspace *c = l->c;
    const double before = l->value, slope = perp_dense_dot(c->n, l->gradient, c->step);
    const double noise = 1e-14 * (fabs(before) + perp_dense_dot(c->m, l->y, l->y));
    double t = 1.0, taken = 0.0;
    for (int k = 0; k < HALVINGS; k++, t *= 0.5) {
        for (int i = 0; i < c->n; i++) {
            l->v[i] += (t - taken) * c->step[i];
        }
        taken = t;
        evaluate(l);
        if (l->value <= before + 1e-4 * t * slope + noise) {
            return true;
        }
    }
    return false;
}

/* From the v that is there; leaves y and z. The gradient left, in its largest entry. */
static double minimise(least *l, double enough)
{
    enum { PASSES = 60 };
    perp_convex_workspace *c = l->c;
    double *columns = c->product2;
    double best = INFINITY;
    int stalls = 0;
    perp_kkt_set_base(&c->kkt, c->problem, 0.0, 0.0);
    measure_columns(c, columns);
    evaluate(l);
    for (int k = 0; k < PASSES && stalls < 4 && !perp_convex_cancelled(c); k++) {
        differentiate(l);
        const double size = largest(c->n, l->gradient);
        if (!(size > enough)) {
            best = size;
            break;
        }
        stalls = size < 0.5 * best ? 0 : stalls + 1;
        best = fmin(best, size);
        factor(l, columns, k < PASSES / 2 ? 1e-9 : 1e-12);
        for (int i = 0; i < c->n; i++) {
            c->step[i] = -l->gradient[i];
        }
        memset(c->step + c->n, 0, (size_t)c->e * sizeof *c->step);
        perp_kkt_solve(&c->kkt, c->step);
        if (!search(l)) {
            break;
        }
    }
    perp_kkt_set_base(&c->kkt, c->problem, 1.0, 0.0);
    return best;
}

/* ---- least multipliers ------------------------------------------------------------------------------------------ */

/* The part of K that is complementary to s. */
static void choose_parts(perp_convex_workspace *c, const double *s, const double *y, double *ray)
{
    for (int i = 0; i < c->m; i++) {
        c->part[i] = y[i] > 0.0 || s[i] <= 1e-3 * c->tolerance * c->b_scale ? PART_ALL : PART_NONE;
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start, size = c->cones[k].size;
        const double *sk = s + start, *yk = y + start;
        const double s_tail = sqrt(perp_dense_dot(size - 1, sk + 1, sk + 1));
        const double norm = sqrt(sk[0] * sk[0] + s_tail * s_tail), y_norm = sqrt(perp_dense_dot(size, yk, yk));
        const bool tip = norm <= 1e-3 * c->tolerance * c->b_scale;
        c->part[start] = tip ? PART_ALL : y_norm > 0.0 ? PART_RAY : PART_NONE;
        for (int i = 0; i < size; i++) {
            ray[start + i] = y_norm > 0.0 ? yk[i] / y_norm : 0.0;
        }
    }
}

bool perp_convex_minimum_norm(perp_convex_workspace *c)
{
    perp_convex_copy(c, &c->best, &c->kept);
    perp_convex_slacks(c, c->best.x, c->s);
    choose_parts(c, c->s, c->best.y, c->ds);
    perp_convex_h(c, c->best.x, c->rd);
    for (int i = 0; i < c->n; i++) {
        c->rd[i] += c->problem->g[i];
    }
    least l = {.c = c, .load = c->rd, .ray = c->ds, .v = c->at.x, .u = c->dy, .y = c->at.y, .z = c->at.z};
    l.gradient = c->product3;
    memset(l.v, 0, (size_t)c->n * sizeof *l.v);
    minimise(&l, 1e-13 * largest(c->n, c->rd));
    perp_convex_copy(c, &c->at, &c->trial);
    memcpy(c->trial.x, c->best.x, (size_t)c->n * sizeof(double));
    const double before = c->best_residual;
    perp_convex_judge(c, &c->trial);
    const double allowed = fmax(10.0 * before, 1e-2 * c->tolerance);
    if (!(c->judged <= fmin(allowed, c->tolerance))) {
        return false;
    }
    perp_convex_copy(c, &c->trial, &c->best);
    c->best_residual = c->judged;
    c->best_parts = c->judged_parts;
    return true;
}

/* ---- proofs ----------------------------------------------------------------------------------------------------- */

static double infeasibility(perp_convex_workspace *c, perp_convex_iterate *at)
{
    perp_convex_bound_multipliers(c, at);
    const perp_convex_point point = {at->x, at->y, at->z, c->y_lower, c->y_upper};
    return perp_contact_qp_infeasibility(c->problem, &point);
}

/* -offset.y + target.z + lower.y_lower - upper.y_upper */
static double farkas_value(const perp_convex_workspace *c, const perp_convex_iterate *at)
{
    const double contacts = c->contact_slacks > 0 ? perp_dense_dot(c->contact_slacks, c->problem->offset, at->y) : 0.0;
    const double bounds = perp_dense_dot(c->bounds, c->bound_offset, at->y + c->contact_slacks);
    return (c->e > 0 ? perp_dense_dot(c->e, c->problem->equality_target, at->z) : 0.0) - contacts - bounds;
}

double perp_convex_prove_infeasible(perp_convex_workspace *c)
{
    for (int i = 0; i < c->m; i++) {
        c->part[i] = PART_ALL;
    }
    memset(c->at.x, 0, (size_t)c->n * sizeof(double));
    perp_convex_slacks(c, c->at.x, c->rp);
    for (int i = 0; i < c->m; i++) {
        c->rp[i] = -c->rp[i];
    }
    least l = {.c = c, .shift = c->rp, .target = c->problem->equality_target, .ray = c->ds};
    l.v = c->at.x;
    l.u = c->dy;
    l.y = c->at.y;
    l.z = c->at.z;
    l.gradient = c->product3;
    minimise(&l, 0.0);
    const double value = farkas_value(c, &c->at);
    if (!(value > 0.0)) {
        return INFINITY;
    }
    for (int i = 0; i < c->m; i++) {
        c->at.y[i] /= value;
    }
    for (int i = 0; i < c->e; i++) {
        c->at.z[i] /= value;
    }
    const double measure = infeasibility(c, &c->at);
    if (measure < INFINITY) {
        memcpy(c->at.x, c->best.x, (size_t)c->n * sizeof(double));
    }
    return measure;
}

/* The projection of -g on the directions along which nothing ends: min 1/2 |x|^2 + g.x over H x = 0, A x in K, C x = 0,
 * which has a solution whatever the problem. H x = 0 is imposed by a weight that leaves |H x| far below what counts. */
double perp_convex_prove_unbounded(perp_convex_workspace *c)
{
    static const double WEIGHT = 1e11;
    const perp_contact_qp *original = c->problem;
    perp_contact_qp recession = *original;
    double *h = c->proof_hessian, most = 0.0;
    const int *start = original->block_start;
    ptrdiff_t length = 0;
    for (int k = 0; k < original->block_count; k++) {
        length += (ptrdiff_t)(start[k + 1] - start[k]) * (start[k + 1] - start[k]);
    }
    for (ptrdiff_t i = 0; original->hessian && i < length; i++) {
        most = fmax(most, fabs(original->hessian[i]));
    }
    const double scale = most > 0.0 ? WEIGHT / most : 0.0;
    for (int k = 0; k < original->block_count; k++) {
        const int size = start[k + 1] - start[k];
        for (int i = 0; i < size * size; i++, h++) {
            *h = (original->hessian ? scale * original->hessian[h - c->proof_hessian] : 0.0) +
                 (i % (size + 1) == 0 ? 1.0 : 0.0);
        }
    }
    for (int i = 0; i < c->n; i++) {
        c->proof_lower[i] = original->lower && isfinite(original->lower[i]) ? 0.0 : -INFINITY;
        c->proof_upper[i] = original->upper && isfinite(original->upper[i]) ? 0.0 : INFINITY;
        c->proof_g[i] = original->g[i] / c->g_scale;
    }
    memset(c->proof_zero, 0, (size_t)(c->m + c->e) * sizeof(double));
    recession.hessian = c->proof_hessian;
    recession.g = c->proof_g;
    recession.offset = recession.equality_target = c->proof_zero;
    recession.lower = c->proof_lower;
    recession.upper = c->proof_upper;
    perp_convex_copy(c, &c->best, &c->saved);
    const perp_convex_residual parts = c->best_parts;
    const double residual = c->best_residual, tolerance = c->tolerance;
    if (perp_convex_setup(c, &recession, NULL) != PERP_STATUS_OK) {
        return INFINITY; /* cannot be: the sizes are the same */
    }
    enum { ITERATIONS = 100 };
    c->best_residual = INFINITY;
    c->tolerance = 1e-11;
    perp_convex_ipm(c, ITERATIONS);
    const bool found = c->best_residual < INFINITY;
    memcpy(c->proof_g, c->best.x, (size_t)c->n * sizeof(double));
    if (perp_convex_setup(c, original, NULL) != PERP_STATUS_OK) {
        return INFINITY;
    }
    c->tolerance = tolerance;
    c->best_residual = residual;
    c->best_parts = parts;
    perp_convex_copy(c, &c->saved, &c->best);
    const double fall = -perp_dense_dot(c->n, original->g, c->proof_g);
    if (!found || !(fall > 0.0)) {
        return INFINITY;
    }
    for (int i = 0; i < c->n; i++) {
        c->proof_g[i] /= fall;
    }
    return perp_contact_qp_unboundedness(original, c->proof_g);
}
