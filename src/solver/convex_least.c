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
#include "solver/convex_core.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A proof is worth more time than multipliers, which are a solution already. */
enum { MULTIPLIER_PASSES = 40, PROOF_PASSES = 600 };

typedef enum part { PART_NONE, PART_ALL, PART_RAY } part; /* of K, by slack; a cone's in its first */

typedef struct least {
    perp_convex_workspace *c;
    const double *shift, *target, *load; /* c, e, r; NULL: zero */
    const double *ray;                   /* slack vector: unit directions of PART_RAY */
    double *v;                           /* n: at->x */
    double *u;                           /* m: A v + c */
    double *y, *z;                       /* at->y, at->z */
    double *gradient;                    /* n; of what is minimised */
    const double *columns;               /* n: size of all that touches an unknown */
    double pull; /* 1/2 pull columns v^2 is added: keeps v finite where the minimum is not attained */
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
    for (int i = 0; l->pull > 0.0 && i < c->n; i++) {
        l->value += 0.5 * l->pull * l->columns[i] * l->v[i] * l->v[i];
    }
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
    for (int k = 0; c->e > 0 && k < p->equality_start[c->e]; k++) {
        columns[p->equality_dofs[k]] += p->equality_values[k] * p->equality_values[k];
    }
    double most = 0.0;
    for (int i = 0; i < c->n; i++) {
        most = fmax(most, columns[i]);
    }
    for (int i = 0; i < c->n; i++) { /* entries that are rounding hold nothing */
        columns[i] = fmax(columns[i], most > 0.0 ? 1e-10 * most : 1.0);
    }
}

static void factor(least *l, double rho)
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
static double search(least *l)
{
    enum { HALVINGS = 30 };
    perp_convex_workspace *c = l->c;
    const double before = l->value, slope = perp_dense_dot(c->n, l->gradient, c->step);
    const double noise = 1e-12 * (fabs(before) + perp_dense_dot(c->m, l->y, l->y));
    double t = 1.0, taken = 0.0;
    for (int k = 0; k < HALVINGS; k++, t *= 0.5) {
        for (int i = 0; i < c->n; i++) {
            l->v[i] += (t - taken) * c->step[i];
        }
        taken = t;
        evaluate(l);
        if (l->value <= before + 1e-4 * t * slope + noise) {
            return t;
        }
    }
    return 0.0;
}

/* y += P' A dv, z += C dv with the dv in c->step, y put back into K. */
static void correct(least *l)
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
static void solve_step(least *l)
{
    perp_convex_workspace *c = l->c;
    for (int i = 0; i < c->n; i++) {
        c->step[i] = -l->gradient[i];
    }
    memset(c->step + c->n, 0, (size_t)c->e * sizeof *c->step);
    perp_kkt_solve(&c->kkt, c->step);
}

/* Keeps y, z and u where the gradient is less than before. */
static void keep(least *l, double size, double *kept)
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
static void refine(least *l)
{
    enum { PASSES = 5 };
    perp_convex_workspace *c = l->c;
    memcpy(l->u, c->ds_affine, (size_t)c->m * sizeof *l->u);
    memcpy(l->y, c->saved.y, (size_t)c->m * sizeof *l->y);
    memcpy(l->z, c->saved.z, (size_t)c->e * sizeof *l->z);
    double kept = INFINITY;
    l->pull = 0.0;
    factor(l, 1e-9);
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
static void minimise(least *l, const double *guess, double enough, int passes)
{
    enum { STALLS = 4 };
    static const double LEAST = 1e-11, MOST = 1.0, NEAR_END = 1e-6, ROUNDING = 1e-10; /* gradients, over the load's */
    perp_convex_workspace *c = l->c;
    const double load = l->load ? 1.0 + perp_dense_largest(c->n, l->load) : 0.0;
    double best = INFINITY, kept = INFINITY, before = INFINITY, rho = 1e-9;
    bool again = false; /* the factors of the last pass serve once more */
    int stalls = 0;
    perp_kkt_set_base(&c->kkt, c->problem, 0.0, 0.0);
    measure_columns(c, c->product2);
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
        if (size > 0.5 * best && size < ROUNDING * load) {
            break; /* v has no more digits: refining y has */
        }
        stalls = size < 0.7 * best || l->value < before - 1e-12 * fabs(before) ? 0 : stalls + 1;
        again = k > 0 && size < NEAR_END * load && size < 0.1 * best;
        best = fmin(best, size);
        before = l->value;
        if (!again) {
            factor(l, rho);
        }
        solve_step(l);
        const double taken = search(l);
        if (taken == 0.0 && rho >= MOST) {
            break;
        }
        rho = taken == 1.0 ? fmax(0.1 * rho, LEAST) : taken < 0.1 ? fmin(100.0 * rho, MOST) : rho;
    }
    if ((kept > enough || l->pull > 0.0) && kept < INFINITY) {
        refine(l);
    }
    perp_kkt_set_base(&c->kkt, c->problem, 1.0, 0.0);
}

/* ---- least multipliers ------------------------------------------------------------------------------------------ */

/* s below this part of the largest force over gamma is no slack. */
static const double NEAR = 1e-9;

/* The part of K that is complementary to s, as far as s is known: all of it where s = 0, the opposite ray where s is on
 * the border. */
static void choose_parts(perp_convex_workspace *c, const double *s, const double *y, double *ray)
{
    const double most = perp_dense_largest(c->m, y);
    for (int i = 0; i < c->m; i++) {
        const double near = fmin(c->tolerance * c->b_scale, NEAR * most / c->gamma[i]);
        c->part[i] = y[i] > 0.0 || s[i] <= near ? PART_ALL : PART_NONE;
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start, size = c->cones[k].size;
        const double *sk = s + start, *yk = y + start;
        const double s_tail = sqrt(perp_dense_dot(size - 1, sk + 1, sk + 1));
        const double y_norm = sqrt(perp_dense_dot(size, yk, yk));
        const double near = fmin(c->tolerance * c->b_scale, NEAR * most / c->gamma[start]);
        const bool tip = fmax(sk[0], s_tail) <= near, edge = y_norm > 0.0 || sk[0] - s_tail <= near;
        c->part[start] = tip ? PART_ALL : edge && s_tail > 0.0 ? PART_RAY : PART_NONE;
        ray[start] = sqrt(0.5);
        for (int i = 1; i < size; i++) {
            ray[start + i] = s_tail > 0.0 ? -sqrt(0.5) * (sk[i] / s_tail) : 0.0;
        }
    }
}

bool perp_convex_minimum_norm(perp_convex_workspace *c)
{
    if (c->best_is_least) {
        return true;
    }
    perp_convex_copy(c, &c->best, &c->kept);
    perp_convex_slacks(c, c->best.x, c->s);
    choose_parts(c, c->s, c->best.y, c->ds);
    perp_convex_h(c, c->best.x, c->rd);
    for (int i = 0; i < c->n; i++) {
        c->rd[i] += c->problem->g[i];
    }
    least l = {.c = c, .load = c->rd, .ray = c->ds, .v = c->at.x, .u = c->dy, .y = c->at.y, .z = c->at.z};
    l.gradient = c->product3;
    minimise(&l, c->best.y, 1e-12 * c->g_scale, MULTIPLIER_PASSES);
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
    c->best_is_least = true;
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

/* One attempt at a proof; scaled, in `at`. */
static double seek_proof(perp_convex_workspace *c, double pull)
{
    least l = {.c = c, .shift = c->rp, .target = c->problem->equality_target, .ray = c->ds, .pull = pull};
    l.v = c->at.x;
    l.u = c->dy;
    l.y = c->at.y;
    l.z = c->at.z;
    l.gradient = c->product3;
    minimise(&l, NULL, 0.0, PROOF_PASSES);
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
    return infeasibility(c, &c->at);
}

/* |A|'|y| + |C|'|z| + |bounds'|: what the columns of a proof are the differences of. */
static void add_sizes(perp_convex_workspace *c, const perp_convex_iterate *at, double *sizes)
{
    const perp_contact_qp *p = c->problem;
    const double *jacobian = p->jacobian, *rays = p->rays;
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i], columns = p->dof_start[i + 1] - p->dof_start[i];
        const int first = p->slack_start[i], slacks = p->slack_start[i + 1] - first;
        for (int r = 0; r < rows; r++, jacobian += columns) {
            double weight = rays ? 0.0 : fabs(at->y[first + r]);
            for (int k = 0; rays && k < slacks; k++) {
                weight += fabs(rays[(ptrdiff_t)k * rows + r] * at->y[first + k]);
            }
            for (int k = 0; k < columns; k++) {
                sizes[p->dofs[p->dof_start[i] + k]] += fabs(jacobian[k]) * weight;
            }
        }
        rays = rays ? rays + (ptrdiff_t)slacks * rows : NULL;
    }
    for (int k = 0; k < c->bounds; k++) {
        sizes[c->bound_dof[k]] += fabs(at->y[c->contact_slacks + k]);
    }
    for (int i = 0; i < c->e; i++) {
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            sizes[p->equality_dofs[k]] += fabs(p->equality_values[k] * at->z[i]);
        }
    }
}

/* Whether A'y + C'z is zero because its terms cancel, in every column, and not because a column is small: a row 1e-8 x
 * >= 1 has a multiplier with A'y = 1e-8, and x = 1e8 meets it. */
static bool cancels(perp_convex_workspace *c, const perp_convex_iterate *at)
{
    static const double CANCELLED = 1e-5, ROUNDING = 1e-10;
    double *sums = c->product3, *sizes = c->product2;
    memset(sums, 0, (size_t)c->n * sizeof *sums);
    memset(sizes, 0, (size_t)c->n * sizeof *sizes);
    perp_convex_add_at(c, at->y, sums);
    perp_convex_add_ct(c, at->z, sums);
    add_sizes(c, at, sizes);
    const double most = perp_dense_largest(c->n, sizes);
    for (int i = 0; i < c->n; i++) {
        if (fabs(sums[i]) > CANCELLED * sizes[i] + ROUNDING * most) {
            return false;
        }
    }
    return true;
}

/* The point that the search for a proof ended at, -v: if it is feasible there is none. */
static bool found_feasible(perp_convex_workspace *c)
{
    for (int i = 0; i < c->n; i++) {
        c->trial.x[i] = -c->at.x[i];
    }
    memset(c->trial.y, 0, (size_t)c->m * sizeof(double));
    memset(c->trial.z, 0, (size_t)c->e * sizeof(double));
    memcpy(c->proof_point, c->trial.x, (size_t)c->n * sizeof(double));
    perp_convex_judge(c, &c->trial);
    return c->judged_parts.primal <= c->tolerance;
}

/* Whether the point that is nearest to feasible becomes so along the direction of an unbounded fall. */
bool perp_convex_feasible_beyond(perp_convex_workspace *c)
{
    static const double FARTHEST = 1e8;
    memset(c->trial.y, 0, (size_t)c->m * sizeof(double));
    memset(c->trial.z, 0, (size_t)c->e * sizeof(double));
    for (double t = 1.0; t <= FARTHEST; t *= 10.0) {
        for (int i = 0; i < c->n; i++) {
            c->trial.x[i] = c->proof_point[i] + t * c->proof_direction[i];
        }
        perp_convex_judge(c, &c->trial);
        if (c->judged_parts.primal <= c->tolerance) {
            return true;
        }
    }
    return false;
}

/* Where the numbers as given leave a feasible point as far away as 1 / rounding, only a pull finds the proof for all
 * nearer ones. */
double perp_convex_prove_infeasible(perp_convex_workspace *c, double enough, bool *feasible)
{
    static const double pulls[] = {1e-12, 1e-9, 1e-6};
    *feasible = false;
    for (int i = 0; i < c->m; i++) {
        c->part[i] = PART_ALL;
    }
    memset(c->at.x, 0, (size_t)c->n * sizeof(double));
    perp_convex_slacks(c, c->at.x, c->rp);
    for (int i = 0; i < c->m; i++) {
        c->rp[i] = -c->rp[i];
    }
    for (size_t k = 0; k < sizeof pulls / sizeof *pulls; k++) {
        const double measure = seek_proof(c, pulls[k]);
        if (measure <= enough && cancels(c, &c->at)) {
            return measure;
        }
        *feasible = *feasible || found_feasible(c);
    }
    return INFINITY;
}

/* H of the proof: I + weight H, block by block. */
static void weigh_hessian(perp_convex_workspace *c, const perp_contact_qp *original, double weight)
{
    double *h = c->proof_hessian;
    for (int k = 0; k < original->block_count; k++) {
        const int size = original->block_start[k + 1] - original->block_start[k];
        for (int i = 0; i < size * size; i++, h++) {
            *h = (original->hessian ? weight * original->hessian[h - c->proof_hessian] : 0.0) +
                 (i % (size + 1) == 0 ? 1.0 : 0.0);
        }
    }
}

/* The same constraints with all constants zero. */
static perp_contact_qp recession_of(perp_convex_workspace *c)
{
    perp_contact_qp recession = *c->problem;
    for (int i = 0; i < c->n; i++) {
        c->proof_lower[i] = c->problem->lower && isfinite(c->problem->lower[i]) ? 0.0 : -INFINITY;
        c->proof_upper[i] = c->problem->upper && isfinite(c->problem->upper[i]) ? 0.0 : INFINITY;
        c->proof_g[i] = c->problem->g[i] / c->g_scale;
    }
    memset(c->proof_zero, 0, (size_t)(c->m + c->e) * sizeof(double));
    recession.hessian = c->proof_hessian;
    recession.g = c->proof_g;
    recession.offset = recession.equality_target = c->proof_zero;
    recession.lower = c->proof_lower;
    recession.upper = c->proof_upper;
    return recession;
}

/* One solve of the recession problem. Its last iterate is as good a direction as its best point, and often the better
 * one: that the multipliers of a degenerate cone still grow is no matter here. */
static bool project_gradient(perp_convex_workspace *c, const perp_contact_qp *recession)
{
    static const perp_convex_attempt attempt = {60, false, 0.99, 1e-8, 1e-8};
    if (perp_convex_setup(c, recession, NULL) != PERP_STATUS_OK) {
        return false; /* cannot be: the sizes are the same */
    }
    c->best_residual = INFINITY;
    perp_convex_ipm(c, &attempt);
    return true;
}

/* Keeps the direction x, scaled to g.x = -1, if it is the best so far. */
static void offer_direction(perp_convex_workspace *c, const perp_contact_qp *original, const double *x, double *best)
{
    const double fall = -perp_dense_dot(c->n, original->g, x);
    if (!(fall > 0.0)) {
        return;
    }
    for (int i = 0; i < c->n; i++) {
        c->product3[i] = x[i] / fall;
    }
    const double measure = perp_contact_qp_unboundedness(original, c->product3);
    if (measure < *best) {
        *best = measure;
        memcpy(c->proof_direction, c->product3, (size_t)c->n * sizeof(double));
        memcpy(c->proof_x, x, (size_t)c->n * sizeof(double));
    }
}

/* The projection of -g on the directions along which nothing ends: min 1/2 |x|^2 + g.x over H x = 0, A x in K, C x = 0,
 * which has a solution whatever the problem. H x = 0 by the method of multipliers: each round adds weight H x to g. */
double perp_convex_prove_unbounded(perp_convex_workspace *c)
{
    enum { ROUNDS = 6 };
    const perp_contact_qp *original = c->problem;
    const perp_contact_qp recession = recession_of(c);
    const double most = original->hessian ? perp_dense_largest((ptrdiff_t)c->hessian_total, original->hessian) : 0.0;
    const double weight = most > 0.0 ? 1e10 / most : 0.0;
    const perp_convex_residual parts = c->best_parts;
    const double residual = c->best_residual, tolerance = c->tolerance;
    double best = INFINITY;
    memset(c->proof_x, 0, (size_t)c->n * sizeof(double));
    weigh_hessian(c, original, weight);
    perp_convex_copy(c, &c->best, &c->saved);
    c->tolerance = 1e-12;
    for (int round = 0; round < ROUNDS && best > 1e-12 && project_gradient(c, &recession); round++) {
        offer_direction(c, original, c->best.x, &best);
        offer_direction(c, original, c->at.x, &best);
        c->problem = original;
        perp_convex_h(c, c->proof_x, c->product3);
        double change = 0.0;
        for (int i = 0; i < c->n; i++) {
            c->proof_g[i] += weight * c->product3[i];
            change = fmax(change, fabs(weight * c->product3[i]));
        }
        if (change < 1e-14) {
            break;
        }
    }
    perp_convex_setup(c, original, NULL);
    c->tolerance = tolerance;
    c->best_residual = residual;
    c->best_parts = parts;
    perp_convex_copy(c, &c->saved, &c->best);
    return best;
}
