/* The boundary layer of forces at compliant contacts: rigidity_stability.h. */
#include "analysis/rigidity_stability.h"

#include "analysis/tolerances.h"
#include "linalg/dense.h"
#include "linalg/vector.h"
#include "step/compliant/compliant.h"

#include <perp/linalg.h>

#include <math.h>
#include <string.h>

static perp_status out_of_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
}

bool perp_boundary_layer_is_rigid_along(const analysis_point *point, const rigidity_contact *contact)
{
    return perp_compliant_material(point->model->scene, &point->set->contacts[contact->index]).soft == 1;
}

/* ---- springs, dampers and rows ----------------------------------------------------------------------------------- */

/* A, K and C over all rows: normals first, then tangents of contacts that roll on tangential springs. */
typedef struct full_layer {
    int n;
    const double **row, **column; /* of G and F */
    double *k, *c;                /* n x n */
    double stiffness, damping;    /* N/m, N s/m: sums over the contacts, along n */
    bool undecided;               /* as rigidity_boundary_layer has it */
} full_layer;

/* Rows of contact i: where its normal and its tangents are; returns how many take part. */
static int rows_of(const analysis_point *point, const rigidity_matrix *m, int i, int *next, int at[3])
{
    const rigidity_contact *c = &m->contacts[i];
    at[0] = i;
    if (c->kind != RIGIDITY_ROLL || perp_boundary_layer_is_rigid_along(point, c)) {
        return 1;
    }
    for (int k = 0; k < c->directions; k++) {
        at[1 + k] = (*next)++;
    }
    return 1 + c->directions;
}

/* Are the dampers of a contact in proportion to its springs, with all that couples n and t? */
static bool is_proportional(const compliant_material *s)
{
    const double beta = s->stiffness[0] > 0.0 ? s->damping[0] / s->stiffness[0] : 0.0;
    for (int i = 0; i < s->rows * s->rows; i++) {
        const double size = fabs(s->damping[i]) + beta * fabs(s->stiffness[i]);
        if (fabs(s->damping[i] - beta * s->stiffness[i]) > SAME_RATIO * size) {
            return false;
        }
    }
    return true;
}

static bool couples(const compliant_material *s)
{
    bool found = false;
    for (int r = 1; r < s->soft; r++) {
        found = found || s->stiffness[r] != 0.0 || s->damping[r] != 0.0;
    }
    return found;
}

/* The k of a contact that slides over that of its normal spring; NAN where there is none. */
static double share_left(const compliant_material *s, const rigidity_contact *contact)
{
    const double *k = s->stiffness;
    const int n = s->rows, t = n - 1;
    double m[4], right[2], left = k[0];
    int pivots[2];
    for (int i = 0; i < t; i++) {
        const double drags = contact->kind == RIGIDITY_SLIDE ? contact->mu * contact->along[i] : 0.0;
        for (int j = 0; j < t; j++) {
            m[i * t + j] = k[(1 + i) * n + 1 + j] + drags * k[1 + j];
        }
        right[i] = k[(1 + i) * n] + drags * k[0];
    }
    if (perp_lu_factor(t, m, t, pivots, NULL) != PERP_STATUS_OK) {
        return NAN;
    }
    perp_lu_solve(t, m, t, pivots, right);
    for (int i = 0; i < t; i++) {
        left -= k[1 + i] * right[i];
    }
    return left / k[0];
}

/* A patch counts as its elements together, at the contact's point. Hunt and Crossley's damper is as strong as the
 * contact is deep at rest under fn. */
static void put_material(const analysis_point *point, const rigidity_contact *contact, int rows, const int at[3],
                         full_layer *layer)
{
    const compliant_material s = perp_compliant_material(point->model->scene, &point->set->contacts[contact->index]);
    double share = 1.0;
    if (contact->kind != RIGIDITY_ROLL && couples(&s)) {
        share = is_proportional(&s) && !s.hunt_crossley ? share_left(&s, contact) : NAN;
        layer->undecided = layer->undecided || !isfinite(share);
        share = isfinite(share) ? share : 1.0;
    }
    const double depth = contact->fn / (s.elements * s.stiffness[0]);
    const double damping = s.elements * (s.hunt_crossley ? depth : 1.0);
    layer->stiffness += s.elements * s.stiffness[0];
    layer->damping += damping * s.damping[0];
    for (int r = 0; r < rows; r++) {
        for (int q = 0; q < rows; q++) {
            layer->k[at[r] * layer->n + at[q]] = share * s.elements * s.stiffness[r * s.rows + q];
            layer->c[at[r] * layer->n + at[q]] = share * damping * s.damping[r * s.rows + q];
        }
    }
}

static perp_status fill_layer(analysis_point *point, const rigidity_matrix *m, full_layer *layer, perp_error *error)
{
    int at[3];
    layer->n = m->count;
    for (int i = 0; i < m->count; i++) {
        rows_of(point, m, i, &layer->n, at);
    }
    const size_t n = (size_t)layer->n;
    layer->row = PERP_ARENA_NEW(point->arena, const double *, n);
    layer->column = PERP_ARENA_NEW(point->arena, const double *, n);
    layer->k = PERP_ARENA_NEW(point->arena, double, n *n);
    layer->c = PERP_ARENA_NEW(point->arena, double, n *n);
    if (!layer->row || !layer->column || !layer->k || !layer->c) {
        return out_of_memory(error);
    }
    for (int i = 0, next = m->count; i < m->count; i++) {
        const int rows = rows_of(point, m, i, &next, at);
        layer->row[i] = m->normal + (ptrdiff_t)i * m->n;
        layer->column[i] = m->force + (ptrdiff_t)i * m->n;
        for (int k = 1; k < rows; k++) {
            layer->row[at[k]] = layer->column[at[k]] = m->tangent + (2 * (ptrdiff_t)i + k - 1) * m->n;
        }
        put_material(point, &m->contacts[i], rows, at, layer);
    }
    return PERP_STATUS_OK;
}

/* ---- on the range of G ------------------------------------------------------------------------------------------- */

/* An orthonormal basis of the range of G as the columns of `basis` (n x rank, rows n apart). */
static perp_status find_range(analysis_point *point, const full_layer *layer, int dofs, double *basis, int *rank,
                              perp_error *error)
{
    const int n = layer->n, small = n < dofs ? n : dofs;
    double *g = PERP_ARENA_NEW(point->arena, double, (size_t)n *(size_t)dofs);
    double *values = ANALYSIS_NEW(point, double, small);
    double *u = PERP_ARENA_NEW(point->arena, double, (size_t)n *(size_t)small);
    if (!g || !values || !u) {
        return out_of_memory(error);
    }
    for (int i = 0; i < n; i++) {
        memcpy(g + (ptrdiff_t)i * dofs, layer->row[i], (size_t)dofs * sizeof *g);
    }
    const perp_status status =
        perp_singular_values(n, dofs, g, dofs, (perp_singular_arrays){values, u, NULL}, &point->allocator, error);
    *rank = 0;
    for (int k = 0; status == PERP_STATUS_OK && k < small && values[k] > MATRIX_ROUNDING * values[0]; k++) {
        *rank = k + 1;
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < *rank; k++) {
            basis[i * n + k] = *rank == n ? (i == k) : u[i * small + k]; /* all of it: as the rows are */
        }
    }
    return status;
}

/* out (rank x rank) = B' A X B with A = G F'. */
static void reduce(const full_layer *layer, int dofs, const double *basis, int rank, const double *x, double *left,
                   double *right, double *out)
{
    const int n = layer->n;
    memset(left, 0, (size_t)rank * (size_t)dofs * sizeof *left);   /* rank x dofs: B' G */
    memset(right, 0, (size_t)rank * (size_t)dofs * sizeof *right); /* rank x dofs: (F' X B)' */
    for (int k = 0; k < rank; k++) {
        for (int i = 0; i < n; i++) {
            double weight = 0.0;
            for (int j = 0; j < n; j++) {
                weight += x[i * n + j] * basis[j * n + k];
            }
            for (int d = 0; d < dofs; d++) {
                left[k * dofs + d] += basis[i * n + k] * layer->row[i][d];
                right[k * dofs + d] += weight * layer->column[i][d];
            }
        }
    }
    for (int i = 0; i < rank; i++) {
        for (int k = 0; k < rank; k++) {
            out[i * rank + k] = perp_vector_dot(dofs, left + (ptrdiff_t)i * dofs, right + (ptrdiff_t)k * dofs);
        }
    }
}

static void find_ratio(const full_layer *full, int normals, rigidity_boundary_layer *layer)
{
    const double *k = full->k, *c = full->c;
    layer->kappa = full->damping * full->damping / (normals * full->stiffness);
    layer->beta = full->damping / full->stiffness;
    layer->mean_stiffness = full->stiffness / normals;
    layer->proportional = true;
    for (int i = 0; i < full->n; i++) {
        for (int j = 0; j < full->n; j++) {
            const double size = fabs(c[i * full->n + j]) + layer->beta * fabs(k[i * full->n + j]);
            layer->proportional =
                layer->proportional && fabs(c[i * full->n + j] - layer->beta * k[i * full->n + j]) <= SAME_RATIO * size;
        }
    }
}

perp_status perp_boundary_layer_make(analysis_point *point, const rigidity_matrix *m, rigidity_boundary_layer *layer,
                                     perp_error *error)
{
    full_layer full = {0};
    perp_status status = fill_layer(point, m, &full, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const size_t n = (size_t)full.n, dofs = (size_t)m->n;
    double *basis = PERP_ARENA_NEW(point->arena, double, n *n);
    double *left = PERP_ARENA_NEW(point->arena, double, n *dofs);
    double *right = PERP_ARENA_NEW(point->arena, double, n *dofs);
    layer->n = full.n;
    layer->ak = PERP_ARENA_NEW(point->arena, double, n *n);
    layer->ac = PERP_ARENA_NEW(point->arena, double, n *n);
    if (!basis || !left || !right || !layer->ak || !layer->ac) {
        return out_of_memory(error);
    }
    status = find_range(point, &full, m->n, basis, &layer->independent, error);
    if (status == PERP_STATUS_OK) {
        reduce(&full, m->n, basis, layer->independent, full.k, left, right, layer->ak);
        reduce(&full, m->n, basis, layer->independent, full.c, left, right, layer->ac);
        find_ratio(&full, m->count, layer);
        layer->undecided = full.undecided;
    }
    return status;
}

/* ---- judged by the eigenvalues of A K ---------------------------------------------------------------------------- */

static rigidity_stable least(rigidity_stable a, rigidity_stable b)
{
    return a < b ? a : b;
}

static rigidity_stable judge_eigenvalue(double a, double b, double beta, double largest)
{
    const double size = a * a + b * b, holds = beta * beta * a * size, turns = b * b;
    const bool real = fabs(b) <= DOUBLE_ROOT_ROUNDING * sqrt(size);
    if (fabs(a) <= MATRIX_ROUNDING * largest) {
        return RIGIDITY_MARGINAL;
    }
    if (a < 0.0) {
        return RIGIDITY_UNSTABLE;
    }
    if (beta == 0.0) {
        return real ? RIGIDITY_UNDAMPED : RIGIDITY_UNSTABLE;
    }
    if (fabs(holds - turns) <= STABILITY_ROUNDING * (holds + turns)) {
        return RIGIDITY_MARGINAL;
    }
    return holds > turns ? RIGIDITY_STABLE : RIGIDITY_UNSTABLE;
}

static void judge_proportional(rigidity_boundary_layer *layer, const double *re, const double *im)
{
    double largest = 0.0, ratio = 0.0;
    layer->stable = layer->beta == 0.0 ? RIGIDITY_UNDAMPED : RIGIDITY_STABLE;
    layer->has_kappa_min = true;
    for (int i = 0; i < layer->independent; i++) {
        largest = fmax(largest, hypot(re[i], im[i]));
    }
    for (int i = 0; i < layer->independent; i++) {
        const double size = hypot(re[i], im[i]);
        const bool real = fabs(im[i]) <= DOUBLE_ROOT_ROUNDING * size;
        layer->stable = least(layer->stable, judge_eigenvalue(re[i], im[i], layer->beta, largest));
        layer->has_kappa_min = layer->has_kappa_min && re[i] > MATRIX_ROUNDING * largest;
        ratio = real || !layer->has_kappa_min ? ratio : fmax(ratio, im[i] * im[i] / (re[i] * size * size));
    }
    layer->kappa_min = ratio; /* beta^2 so far */
}

/* ---- judged by all of the linear system -------------------------------------------------------------------------- */

typedef struct companion {
    analysis_point *point;
    const rigidity_boundary_layer *layer;
    double speed; /* rad/s: of A K, scales time */
    double *matrix, *re, *im;
} companion;

/* The root of the largest real part, 1/s, with all dampers times `scale`. */
static perp_status leading_root(companion *c, double scale, double *re, double *im, double *size, perp_error *error)
{
    const int r = c->layer->independent, n = 2 * r;
    memset(c->matrix, 0, (size_t)n * (size_t)n * sizeof *c->matrix);
    for (int i = 0; i < r; i++) {
        c->matrix[i * n + r + i] = 1.0;
        for (int k = 0; k < r; k++) {
            c->matrix[(r + i) * n + k] = -c->layer->ak[i * r + k] / (c->speed * c->speed);
            c->matrix[(r + i) * n + r + k] = -scale * c->layer->ac[i * r + k] / c->speed;
        }
    }
    const perp_status status = perp_general_eigenvalues(n, c->matrix, n, c->re, c->im, &c->point->allocator, error);
    *re = -INFINITY;
    *im = *size = 0.0;
    for (int i = 0; i < n && status == PERP_STATUS_OK; i++) {
        *size = fmax(*size, c->speed * hypot(c->re[i], c->im[i]));
        if (c->re[i] * c->speed > *re) {
            *re = c->speed * c->re[i];
            *im = c->speed * fabs(c->im[i]);
        }
    }
    return status;
}

static perp_status is_stable_at(companion *c, double scale, rigidity_stable *stable, perp_error *error)
{
    double re, im, size;
    const perp_status status = leading_root(c, scale, &re, &im, &size, error);
    *stable = fabs(re) <= STABILITY_ROUNDING * size ? RIGIDITY_MARGINAL
              : re < 0.0                            ? RIGIDITY_STABLE
                                                    : RIGIDITY_UNSTABLE;
    return status;
}

/* The smallest factor on all dampers that is stable, from 1e-6 to 1e6 of what is about critical. */
static perp_status find_least_damping(companion *c, rigidity_boundary_layer *layer, perp_error *error)
{
    const int r = layer->independent, steps = r <= 8 ? 96 : 12;
    const double damping = perp_vector_largest(r * r, layer->ac) / c->speed;
    double low = 0.0, high = 0.0;
    rigidity_stable stable = RIGIDITY_UNSTABLE;
    perp_status status = PERP_STATUS_OK;
    for (int i = 0; i <= steps && stable != RIGIDITY_STABLE && status == PERP_STATUS_OK; i++) {
        low = high;
        high = pow(10.0, -6.0 + 12.0 * i / steps) / damping;
        status = is_stable_at(c, high, &stable, error);
    }
    layer->has_kappa_min = stable == RIGIDITY_STABLE;
    while (low > 0.0 && layer->has_kappa_min && high - low > KAPPA_RESOLUTION * high && status == PERP_STATUS_OK) {
        const double middle = 0.5 * (low + high);
        status = is_stable_at(c, middle, &stable, error);
        *(stable == RIGIDITY_STABLE ? &high : &low) = middle;
    }
    layer->kappa_min = low > 0.0 ? high * high * layer->kappa : 0.0;
    return status;
}

perp_status perp_boundary_layer_judge(analysis_point *point, rigidity_boundary_layer *layer, perp_error *error)
{
    const size_t r = (size_t)layer->independent;
    companion c = {.point = point, .layer = layer};
    c.matrix = PERP_ARENA_NEW(point->arena, double, 4 * r * r);
    c.re = PERP_ARENA_NEW(point->arena, double, 2 * r);
    c.im = PERP_ARENA_NEW(point->arena, double, 2 * r);
    if (!c.matrix || !c.re || !c.im) {
        return out_of_memory(error);
    }
    c.speed = sqrt(perp_vector_largest((int)(r * r), layer->ak));
    perp_status status = PERP_STATUS_OK;
    if (layer->proportional) {
        status = perp_general_eigenvalues((int)r, layer->ak, (int)r, c.re, c.im, &point->allocator, error);
    }
    if (status != PERP_STATUS_OK || !(c.speed > 0.0)) {
        return status;
    }
    if (layer->proportional) {
        judge_proportional(layer, c.re, c.im);
        layer->kappa_min *= layer->mean_stiffness;
    } else {
        status = is_stable_at(&c, 1.0, &layer->stable, error);
    }
    double size;
    const bool told = layer->stable != RIGIDITY_STABLE || !point->options.verdicts_only;
    if (!layer->proportional && told && status == PERP_STATUS_OK) {
        status = find_least_damping(&c, layer, error);
    }
    return status == PERP_STATUS_OK && told ? leading_root(&c, 1.0, &layer->growth, &layer->frequency, &size, error)
                                            : status;
}
