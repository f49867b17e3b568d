#include "linalg/dense.h"
#include "linalg/dense_kernel.h"
#include "solver/convex_core.h"
#include "solver/slice.h"
#include "solver/tolerances.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static void cut_iterate(perp_slice *s, const perp_convex_workspace *c, perp_convex_iterate *at)
{
    at->x = perp_slice_cut(s, (size_t)c->n, sizeof(double));
    at->y = perp_slice_cut(s, (size_t)c->m, sizeof(double));
    at->z = perp_slice_cut(s, (size_t)c->e, sizeof(double));
}

/* Asked once for the size and once for the arrays, so that the two cannot disagree. */
static void lay_out(perp_convex_workspace *c, size_t block, perp_slice *s)
{
    const size_t n = (size_t)c->n, e = (size_t)c->e, m = (size_t)c->m, contacts = (size_t)c->problem->contact_count;
    double **by_slack[] = {&c->gamma, &c->weight, &c->s,         &c->rp,        &c->ds,
                           &c->dy,    &c->slack,  &c->ds_affine, &c->dy_affine, &c->scaled};
    perp_convex_iterate *iterates[] = {&c->at, &c->kept, &c->best, &c->trial, &c->saved, &c->evidence};
    for (size_t k = 0; k < sizeof by_slack / sizeof *by_slack; k++) {
        *by_slack[k] = perp_slice_cut(s, m, sizeof(double));
    }
    for (size_t k = 0; k < sizeof iterates / sizeof *iterates; k++) {
        cut_iterate(s, c, iterates[k]);
    }
    c->bound_dof = perp_slice_cut(s, (size_t)c->bounds, sizeof(int));
    c->bound_sign = perp_slice_cut(s, (size_t)c->bounds, sizeof(double));
    c->bound_offset = perp_slice_cut(s, (size_t)c->bounds, sizeof(double));
    c->cones = perp_slice_cut(s, contacts, sizeof *c->cones);
    c->cone_scale = perp_slice_cut(s, contacts, sizeof(double));
    c->ranges = perp_slice_cut(s, contacts + 1, sizeof *c->ranges);
    c->stiffness = perp_slice_cut(s, n + e, sizeof(double));
    c->diagonal = perp_slice_cut(s, n + e, sizeof(double));
    c->step = perp_slice_cut(s, n + e, sizeof(double));
    double **by_unknown[] = {&c->rd,          &c->product, &c->product2,       &c->product3,
                             &c->y_lower,     &c->y_upper, &c->proof_g,        &c->proof_lower,
                             &c->proof_upper, &c->proof_x, &c->proof_direction};
    for (size_t k = 0; k < sizeof by_unknown / sizeof *by_unknown; k++) {
        *by_unknown[k] = perp_slice_cut(s, n, sizeof(double));
    }
    c->proof_hessian = perp_slice_cut(s, c->hessian_total, sizeof(double));
    c->proof_zero = perp_slice_cut(s, m + e, sizeof(double));
    c->rc = perp_slice_cut(s, e, sizeof(double));
    c->omega = perp_slice_cut(s, c->omega_total, sizeof(double));
    c->squares = perp_slice_cut(s, c->problem->rays ? 9 * (size_t)c->contact_slacks : 0, sizeof(double));
    c->gather = perp_slice_cut(s, (size_t)c->longest, sizeof(double));
    c->row_sum = perp_slice_cut(s, (size_t)c->longest, sizeof(double));
    c->block = perp_slice_cut(s, block, sizeof(double));
    c->block_kind = perp_slice_cut(s, (size_t)c->problem->block_count, sizeof(unsigned char));
    c->active = perp_slice_cut(s, m, sizeof(bool));
    c->part = perp_slice_cut(s, m, sizeof(unsigned char));
    c->sized = perp_slice_cut(s, m, sizeof(unsigned char));
}

static int count_bounds(const perp_contact_qp *p)
{
    int count = 0;
    for (int i = 0; i < p->n; i++) {
        count += (p->lower && p->lower[i] > -INFINITY) + (p->upper && p->upper[i] < INFINITY);
    }
    return count;
}

/* Sizes, and the length of `block`. */
static size_t count(perp_convex_workspace *c)
{
    const perp_contact_qp *p = c->problem;
    c->n = p->n;
    c->e = p->equality_count;
    c->contact_slacks = p->contact_count > 0 ? p->slack_start[p->contact_count] : 0;
    c->bounds = count_bounds(p);
    c->m = c->contact_slacks + c->bounds;
    c->omega_total = 0;
    c->hessian_total = 0;
    c->longest = 1;
    size_t block = 1;
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i], columns = p->dof_start[i + 1] - p->dof_start[i];
        const size_t slacks = (size_t)(p->slack_start[i + 1] - p->slack_start[i]);
        c->omega_total += (size_t)rows * (size_t)rows;
        c->longest = rows > c->longest ? rows : c->longest;
        c->longest = columns > c->longest ? columns : c->longest;
        const size_t square = slacks * (slacks > 3 ? slacks : 3);
        block = square > block ? square : block;
    }
    for (int k = 0; k < p->block_count; k++) {
        const size_t size = (size_t)(p->block_start[k + 1] - p->block_start[k]);
        block = size * size > block ? size * size : block;
        c->hessian_total += size * size;
    }
    return block;
}

/* ---- cones, bounds, scales -------------------------------------------------------------------------------------- */

static void add_range(perp_convex_workspace *c, int start, int end)
{
    if (start == end) {
        return;
    }
    c->degree += end - start;
    if (c->range_count > 0 && c->ranges[c->range_count - 1].end == start) {
        c->ranges[c->range_count - 1].end = end;
    } else {
        c->ranges[c->range_count++] = (perp_convex_range){start, end};
    }
}

/* Whether R, of three rows, is diagonal. */
static bool is_friction(const double *r)
{
    return !r || (r[1] == 0.0 && r[2] == 0.0 && r[3] == 0.0 && r[5] == 0.0 && r[6] == 0.0 && r[7] == 0.0);
}

/* From the last cone to the first. */
static void count_fours(perp_convex_workspace *c)
{
    for (int k = c->cone_count - 1; k >= 0; k--) {
        perp_convex_cone *cone = &c->cones[k];
        bool four = k + 4 <= c->cone_count;
        for (int i = 0; four && i < 4; i++) {
            four = cone[i].size == 3 && cone[i].start == cone->start + 3 * i;
        }
        const bool more = four && k + 4 < c->cone_count && cone[4].start == cone->start + 12;
        cone->fours = four ? 1 + (more ? cone[4].fours : 0) : 0;
    }
}

static void list_cones(perp_convex_workspace *c)
{
    const perp_contact_qp *p = c->problem;
    const double *rays = p->rays;
    c->cone_count = c->range_count = c->degree = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->slack_start[i], end = p->slack_start[i + 1];
        const int rows = p->row_start[i + 1] - p->row_start[i];
        if (p->quadratic && p->quadratic[i] && end - start > 1) {
            const bool friction = rows == 3 && end - start == 3 && is_friction(rays);
            c->cones[c->cone_count++] = (perp_convex_cone){start, end - start, 0, friction};
            c->degree++;
        } else {
            add_range(c, start, end);
        }
        rays = rays ? rays + (ptrdiff_t)(end - start) * rows : NULL;
    }
    add_range(c, c->contact_slacks, c->m);
    count_fours(c);
}

static void list_bounds(perp_convex_workspace *c)
{
    const perp_contact_qp *p = c->problem;
    int k = 0;
    for (int side = 0; side < 2; side++) {
        const double *bound = side == 0 ? p->lower : p->upper, sign = side == 0 ? 1.0 : -1.0;
        for (int i = 0; bound && i < p->n; i++) {
            if (isfinite(bound[i])) {
                c->bound_dof[k] = i;
                c->bound_sign[k] = sign;
                c->bound_offset[k++] = -sign * bound[i];
            }
        }
    }
}

static perp_convex_block kind_of(int size, const double *h)
{
    perp_convex_block kind = PERP_BLOCK_ZERO;
    for (int i = 0; i < size; i++, h += size) {
        for (int j = 0; j < size; j++) {
            if (h[j] != 0.0 && i != j) {
                return PERP_BLOCK_FULL;
            }
        }
        kind = h[i] != 0.0 ? PERP_BLOCK_DIAGONAL : kind;
    }
    return kind;
}

static void list_blocks(perp_convex_workspace *c)
{
    const perp_contact_qp *p = c->problem;
    const double *h = p->hessian;
    for (int k = 0; k < p->block_count; k++) {
        const int size = p->block_start[k + 1] - p->block_start[k];
        c->block_kind[k] = h ? (unsigned char)kind_of(size, h) : PERP_BLOCK_ZERO;
        h = h ? h + (ptrdiff_t)size * size : NULL;
    }
}

/* H_ii; where H has nothing, the geometric mean of what it has elsewhere, or 1. */
static void measure_stiffness(perp_convex_workspace *c)
{
    const perp_contact_qp *p = c->problem;
    const double *h = p->hessian;
    double largest = 0.0, logs = 0.0;
    int some = 0;
    for (int k = 0; k < p->block_count; k++) {
        const int first = p->block_start[k], size = p->block_start[k + 1] - first;
        for (int i = 0; i < size; i++) {
            c->stiffness[first + i] = h ? h[(ptrdiff_t)i * size + i] : 0.0;
            largest = fmax(largest, c->stiffness[first + i]);
        }
        h = h ? h + (ptrdiff_t)size * size : NULL;
    }
    for (int i = 0; i < c->n; i++) {
        if (c->stiffness[i] > NO_STIFFNESS * largest) {
            int exponent = 0;
            frexp(c->stiffness[i], &exponent);
            logs += exponent;
            some++;
        }
    }
    const double mean = some > 0 ? ldexp(1.0, (int)(logs / some)) : 1.0;
    for (int i = 0; i < c->n; i++) {
        c->stiffness[i] = c->stiffness[i] > NO_STIFFNESS * largest ? c->stiffness[i] : mean;
    }
}

/* 1 / sum of a_k^2 / stiffness_k over a row; 1 where the row has nothing. */
static double effective(double sum)
{
    const double mass = sum > 0.0 ? 1.0 / sum : INFINITY;
    return isfinite(mass) ? mass : 1.0;
}

/* The largest of the sums of a_k^2 softness_k over the rows of a contact. */
static double largest_softness(int rows, int columns, const double *jacobian, const int *dofs, const double *softness)
{
    double most = 0.0;
    int r = 0;
    for (; r + 3 <= rows; r += 3) { /* as nearly all have */
        const double *j0 = jacobian + (ptrdiff_t)r * columns, *j1 = j0 + columns, *j2 = j1 + columns;
        perp_lanes s0 = {0.0, 0.0}, s1 = s0, s2 = s0;
        int k = 0;
        for (; k + 2 <= columns; k += 2) {
            const perp_lanes soft = {softness[dofs[k]], softness[dofs[k + 1]]};
            s0 += perp_lanes_load(j0 + k) * perp_lanes_load(j0 + k) * soft;
            s1 += perp_lanes_load(j1 + k) * perp_lanes_load(j1 + k) * soft;
            s2 += perp_lanes_load(j2 + k) * perp_lanes_load(j2 + k) * soft;
        }
        double sums[3] = {s0[0] + s0[1], s1[0] + s1[1], s2[0] + s2[1]};
        if (k < columns) {
            const double soft = softness[dofs[k]];
            sums[0] += j0[k] * j0[k] * soft;
            sums[1] += j1[k] * j1[k] * soft;
            sums[2] += j2[k] * j2[k] * soft;
        }
        sums[0] = sums[1] > sums[0] ? sums[1] : sums[0];
        most = sums[0] > most ? sums[0] : most;
        most = sums[2] > most ? sums[2] : most;
    }
    for (; r < rows; r++) {
        double row = 0.0;
        for (int k = 0; k < columns; k++) {
            const double a = jacobian[(ptrdiff_t)r * columns + k];
            row += a * a * softness[dofs[k]];
        }
        most = row > most ? row : most;
    }
    return most;
}

static void measure_gamma(perp_convex_workspace *c)
{
    const perp_contact_qp *p = c->problem;
    const double *jacobian = p->jacobian, *rays = p->rays;
    double *softness = c->product;
    for (int i = 0; i < c->n; i++) {
        softness[i] = 1.0 / c->stiffness[i];
    }
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i], columns = p->dof_start[i + 1] - p->dof_start[i];
        const int slacks = p->slack_start[i + 1] - p->slack_start[i];
        const int *dofs = p->dofs + p->dof_start[i];
        const double sum = largest_softness(rows, columns, jacobian, dofs, softness);
        const double most = rays ? perp_dense_largest(slacks * rows, rays) : 1.0;
        const double gamma = effective(sum * most * most);
        for (int k = p->slack_start[i]; k < p->slack_start[i + 1]; k++) {
            c->gamma[k] = gamma;
        }
        jacobian += (ptrdiff_t)rows * columns;
        rays = rays ? rays + (ptrdiff_t)slacks * rows : NULL;
    }
    for (int k = 0; k < c->bounds; k++) {
        c->gamma[c->contact_slacks + k] = c->stiffness[c->bound_dof[k]];
    }
    for (int i = 0; i < c->e; i++) {
        double sum = 0.0;
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            sum += p->equality_values[k] * p->equality_values[k] / c->stiffness[p->equality_dofs[k]];
        }
        c->stiffness[c->n + i] = effective(sum);
    }
}

/* Of contacts with three rows and four rays, for perp_convex_make_omega. */
static void square_rays(perp_convex_workspace *c)
{
    const perp_contact_qp *p = c->problem;
    const double *ray = p->rays;
    for (int i = 0; ray && i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i];
        const int start = p->slack_start[i], slacks = p->slack_start[i + 1] - start;
        double *square = c->squares + 9 * (ptrdiff_t)start;
        for (int k = 0; rows == 3 && slacks == 4 && k < 4; k++, square += 9) {
            const double r0 = ray[3 * k], r1 = ray[3 * k + 1], r2 = ray[3 * k + 2];
            square[0] = r0 * r0;
            square[1] = square[3] = r0 * r1;
            square[2] = square[6] = r0 * r2;
            square[4] = r1 * r1;
            square[5] = square[7] = r1 * r2;
            square[8] = r2 * r2;
        }
        ray += (ptrdiff_t)slacks * rows;
    }
}

perp_status perp_convex_setup(perp_convex_workspace *c, const perp_contact_qp *problem, perp_error *error)
{
    enum { MOST_ROWS = 2000 }; /* of a contact, whose Omega is full */
    for (int i = 0; i < problem->contact_count; i++) {
        const int rows = problem->row_start[i + 1] - problem->row_start[i];
        const int slacks = problem->slack_start[i + 1] - problem->slack_start[i];
        const int most = rows > slacks || !(problem->quadratic && problem->quadratic[i]) ? rows : slacks;
        if (most > MOST_ROWS) {
            return perp_fail(error, PERP_STATUS_CAPACITY, "a cone or contact of %d rows; at most %d are handled", most,
                             (int)MOST_ROWS);
        }
    }
    c->problem = problem;
    const perp_status analysed = perp_kkt_analyse(&c->kkt, problem, error);
    if (analysed != PERP_STATUS_OK) {
        return analysed;
    }
    const size_t block = count(c);
    perp_slice sizes = {NULL, 0};
    lay_out(c, block, &sizes);
    const perp_status held = perp_kkt_hold(&c->kkt, &c->memory, sizes.bytes);
    if (held != PERP_STATUS_OK) {
        return perp_fail(
            error, held,
            held == PERP_STATUS_CAPACITY
                ? "the workspace is too small for a convex problem of %d unknowns and %d contacts: reserve it"
                : "no memory for a convex problem of %d unknowns and %d contacts",
            problem->n, problem->contact_count);
    }
    perp_slice give = {c->memory.data, 0};
    lay_out(c, block, &give);
    memset(c->active, 0, (size_t)c->m * sizeof *c->active);
    list_cones(c);
    list_bounds(c);
    list_blocks(c);
    measure_stiffness(c);
    measure_gamma(c);
    square_rays(c);
    const double b = perp_dense_largest(c->contact_slacks, problem->offset),
                 d = perp_dense_largest(c->e, problem->equality_target);
    c->b_scale = 1.0 + fmax(fmax(b, d), perp_dense_largest(c->bounds, c->bound_offset));
    c->g_scale = 1.0 + perp_dense_largest(c->n, problem->g);
    c->evidence_measure = c->direction_measure = INFINITY;
    c->noting = true;
    perp_kkt_set_base(&c->kkt, problem, 1.0, 0.0);
    return PERP_STATUS_OK;
}

/* ---- loose constraints ------------------------------------------------------------------------------------------ */

/* The slack of row or cone at x = 0, of which `first` is the first slack. */
static double slack_at_zero(const perp_convex_workspace *c, int first, int size)
{
    const double *offset = c->problem->offset;
    if (first >= c->contact_slacks) {
        return c->bound_offset[first - c->contact_slacks];
    }
    double squares = 0.0;
    for (int i = 1; i < size; i++) {
        squares += offset[first + i] * offset[first + i];
    }
    return offset[first] - sqrt(squares);
}

/* The largest of what is to be moved away from x = 0, in units of energy: forces, equations, violated constraints. */
static double largest_drive(const perp_convex_workspace *c)
{
    double most = 0.0;
    for (int j = 0; j < c->n; j++) {
        most = fmax(most, fabs(c->problem->g[j]) / sqrt(c->stiffness[j]));
    }
    for (int i = 0; i < c->e; i++) {
        most = fmax(most, fabs(c->problem->equality_target[i]) * sqrt(c->stiffness[c->n + i]));
    }
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            most = fmax(most, -slack_at_zero(c, i, 1) * sqrt(c->gamma[i]));
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start;
        most = fmax(most, -slack_at_zero(c, start, c->cones[k].size) * sqrt(c->gamma[start]));
    }
    return most;
}

/* Makes gamma of one row or cone so small that its slack is at most `most` in units of energy; whether it was more. */
static bool loosen(perp_convex_workspace *c, int start, int size, double most)
{
    const double ratio = most / (slack_at_zero(c, start, size) * sqrt(c->gamma[start]));
    const bool loose = ratio >= 0.0 && ratio < 1.0;
    for (int i = start; loose && i < start + size; i++) {
        c->gamma[i] = fmax(c->gamma[i] * ratio * ratio, DBL_MIN);
    }
    return loose;
}

bool perp_convex_loosen(perp_convex_workspace *c)
{
    static const double FAR = 1e3;
    const double most = FAR * largest_drive(c);
    bool any = false;
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            any = loosen(c, i, 1, most) || any;
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        any = loosen(c, c->cones[k].start, c->cones[k].size, most) || any;
    }
    return any && most > 0.0;
}

/* ---- definiteness ----------------------------------------------------------------------------------------------- */

/* With a unit diagonal, plus a little, a semidefinite block has a Cholesky factor. */
static bool is_semidefinite(perp_convex_workspace *c, int size, const double *h)
{
    double *a = c->block;
    for (int i = 0; i < size; i++) {
        const double hi = h[(ptrdiff_t)i * size + i];
        for (int j = 0; j <= i; j++) {
            const double hj = h[(ptrdiff_t)j * size + j], entry = h[(ptrdiff_t)i * size + j];
            a[(ptrdiff_t)i * size + j] = entry == 0.0 ? 0.0 : entry / (sqrt(hi) * sqrt(hj));
        }
        a[(ptrdiff_t)i * size + i] = 1.0 + SEMIDEFINITE;
    }
    return perp_cholesky_factor(size, a, size, NULL) == PERP_STATUS_OK;
}

perp_status perp_convex_check_definite(perp_convex_workspace *c, perp_error *error)
{
    const perp_contact_qp *p = c->problem;
    const double *h = p->hessian;
    for (int k = 0; h && k < p->block_count; k++) {
        const int size = p->block_start[k + 1] - p->block_start[k];
        /* the diagonal was checked */
        if (c->block_kind[k] == PERP_BLOCK_FULL && !is_semidefinite(c, size, h)) {
            return perp_fail(
                error, PERP_STATUS_BAD_INPUT,
                "H is indefinite (its block from unknown %d on has a negative eigenvalue): a convex problem "
                "needs a positive semidefinite one",
                p->block_start[k]);
        }
        h += (ptrdiff_t)size * size;
    }
    return PERP_STATUS_OK;
}
