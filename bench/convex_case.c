#include "convex_case.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BLOCK = 16 };

/* Arrays that grow. */
typedef struct doubles {
    double *at;
    int count, room;
} doubles;

typedef struct ints {
    int *at;
    int count, room;
} ints;

typedef struct convex_case_memory {
    ints block_start, row_start, dof_start, dofs, slack_start, equality_start, equality_dofs;
    doubles hessian, g, jacobian, rays, offset, equality_values, target, lower, upper;
    doubles x, x_dual, y, y_equality, y_lower, y_upper, direction;
    ints block_values; /* where each block of H starts */
    bool *quadratic;
    int quadratic_room;
    doubles dense_h, dense_a, dense_b, dense_c, work;
    ints cone_rows;
} memory;

static void out_of_memory(void)
{
    fprintf(stderr, "convex_case: out of memory\n");
    exit(2);
}

static void *grown(void *at, size_t bytes)
{
    void *r = realloc(at, bytes);
    if (!r) {
        out_of_memory();
    }
    return r;
}

static void reserve_doubles(doubles *d, int room)
{
    if (room >= d->room) {
        d->room = room + room / 2 + 16;
        d->at = grown(d->at, (size_t)d->room * sizeof *d->at);
    }
}

static void reserve_ints(ints *d, int room)
{
    if (room >= d->room) {
        d->room = room + room / 2 + 16;
        d->at = grown(d->at, (size_t)d->room * sizeof *d->at);
    }
}

static double *more_doubles(doubles *d, int count, double value)
{
    reserve_doubles(d, d->count + count);
    double *r = d->at + d->count;
    for (int i = 0; i < count; i++) {
        r[i] = value;
    }
    d->count += count;
    return r;
}

static double *zeros(doubles *d, int count)
{
    d->count = 0;
    return more_doubles(d, count, 0.0);
}

static void add_int(ints *d, int value)
{
    reserve_ints(d, d->count + 1);
    d->at[d->count++] = value;
}

static void start_list(ints *d, int first)
{
    d->count = 0;
    if (first >= 0) {
        add_int(d, first);
    }
}

convex_case *convex_case_create(void)
{
    convex_case *c = calloc(1, sizeof *c);
    memory *m = calloc(1, sizeof *m);
    if (!c || !m) {
        out_of_memory();
    }
    c->memory = m;
    return c;
}

void convex_case_free(convex_case *c)
{
    if (!c) {
        return;
    }
    memory *m = c->memory;
    ints *const whole[] = {&m->block_start,    &m->row_start,     &m->dof_start,    &m->dofs,     &m->slack_start,
                           &m->equality_start, &m->equality_dofs, &m->block_values, &m->cone_rows};
    doubles *const real[] = {&m->hessian,    &m->g,       &m->jacobian, &m->rays,      &m->offset,  &m->equality_values,
                             &m->target,     &m->lower,   &m->upper,    &m->x,         &m->x_dual,  &m->y,
                             &m->y_equality, &m->y_lower, &m->y_upper,  &m->direction, &m->dense_h, &m->dense_a,
                             &m->dense_b,    &m->dense_c, &m->work};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        free(whole[i]->at);
    }
    for (size_t i = 0; i < sizeof real / sizeof *real; i++) {
        free(real[i]->at);
    }
    free(m->quadratic);
    free(m);
    free(c);
}

/* ---- building ---------------------------------------------------------------------------------------------------- */

void convex_case_start(convex_case *c, const int *block_sizes, int block_count)
{
    memory *m = c->memory;
    memset(&c->qp, 0, sizeof c->qp);
    start_list(&m->block_start, 0);
    start_list(&m->block_values, 0);
    for (int k = 0; k < block_count; k++) {
        add_int(&m->block_start, m->block_start.at[k] + block_sizes[k]);
        add_int(&m->block_values, m->block_values.at[k] + block_sizes[k] * block_sizes[k]);
    }
    c->qp.block_count = block_count;
    c->qp.n = m->block_start.at[block_count];
    zeros(&m->hessian, m->block_values.at[block_count]);
    zeros(&m->g, c->qp.n);
    zeros(&m->lower, 0);
    more_doubles(&m->lower, c->qp.n, -INFINITY);
    zeros(&m->upper, 0);
    more_doubles(&m->upper, c->qp.n, INFINITY);
    start_list(&m->row_start, 0);
    start_list(&m->dof_start, 0);
    start_list(&m->slack_start, 0);
    start_list(&m->equality_start, 0);
    start_list(&m->dofs, -1);
    start_list(&m->equality_dofs, -1);
    m->jacobian.count = m->rays.count = m->offset.count = m->equality_values.count = m->target.count = 0;
    c->claim = CONVEX_SOLVABLE;
    c->kkt = c->primal_unique = false;
    c->margin = 0.0;
    c->family = c->curvature = "";
}

double *convex_case_block(convex_case *c, int k)
{
    return c->memory->hessian.at + c->memory->block_values.at[k];
}

double *convex_case_g(convex_case *c)
{
    return c->memory->g.at;
}

void convex_case_bounds(convex_case *c, double **lower, double **upper)
{
    *lower = c->memory->lower.at;
    *upper = c->memory->upper.at;
}

void convex_case_add_contact(convex_case *c, const convex_contact *contact)
{
    memory *m = c->memory;
    const int i = c->qp.contact_count++;
    add_int(&m->row_start, m->row_start.at[i] + contact->rows);
    add_int(&m->dof_start, m->dof_start.at[i] + contact->dof_count);
    add_int(&m->slack_start, m->slack_start.at[i] + contact->slacks);
    for (int k = 0; k < contact->dof_count; k++) {
        add_int(&m->dofs, contact->dofs[k]);
    }
    const int entries = contact->rows * contact->dof_count, combined = contact->slacks * contact->rows;
    memcpy(more_doubles(&m->jacobian, entries, 0.0), contact->jacobian, (size_t)entries * sizeof(double));
    memcpy(more_doubles(&m->rays, combined, 0.0), contact->rays, (size_t)combined * sizeof(double));
    more_doubles(&m->offset, contact->slacks, 0.0);
    if (i >= m->quadratic_room) {
        m->quadratic_room = 2 * i + 16;
        m->quadratic = grown(m->quadratic, (size_t)m->quadratic_room * sizeof *m->quadratic);
    }
    m->quadratic[i] = contact->quadratic;
}

double *convex_case_offset(convex_case *c, int contact)
{
    return c->memory->offset.at + c->memory->slack_start.at[contact];
}

void convex_case_add_equality(convex_case *c, int count, const int *dofs, const double *values, double target)
{
    memory *m = c->memory;
    add_int(&m->equality_start, m->equality_start.at[c->qp.equality_count++] + count);
    for (int k = 0; k < count; k++) {
        add_int(&m->equality_dofs, dofs[k]);
        *more_doubles(&m->equality_values, 1, 0.0) = values[k];
    }
    *more_doubles(&m->target, 1, 0.0) = target;
}

double *convex_case_target(convex_case *c, int equality)
{
    return c->memory->target.at + equality;
}

void convex_case_finish(convex_case *c, bool with_hessian, bool with_bounds)
{
    memory *m = c->memory;
    perp_contact_qp *q = &c->qp;
    q->block_start = m->block_start.at;
    q->hessian = with_hessian ? m->hessian.at : NULL;
    q->g = m->g.at;
    q->row_start = m->row_start.at;
    q->dof_start = m->dof_start.at;
    q->dofs = m->dofs.at;
    q->jacobian = m->jacobian.at;
    q->slack_start = m->slack_start.at;
    q->rays = m->rays.at;
    q->offset = m->offset.at;
    q->quadratic = NULL;
    for (int i = 0; i < q->contact_count; i++) {
        q->quadratic = m->quadratic[i] ? m->quadratic : q->quadratic;
    }
    q->equality_start = m->equality_start.at;
    q->equality_dofs = m->equality_dofs.at;
    q->equality_values = m->equality_values.at;
    q->equality_target = m->target.at;
    q->lower = with_bounds ? m->lower.at : NULL;
    q->upper = with_bounds ? m->upper.at : NULL;
    const int slacks = q->slack_start[q->contact_count];
    c->x = zeros(&m->x, q->n);
    c->x_dual = zeros(&m->x_dual, q->n);
    c->y = zeros(&m->y, slacks + 1);
    c->y_equality = zeros(&m->y_equality, q->equality_count + 1);
    c->y_lower = zeros(&m->y_lower, q->n);
    c->y_upper = zeros(&m->y_upper, q->n);
    c->direction = zeros(&m->direction, q->n);
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

static bool is_quadratic(const perp_contact_qp *q, int i)
{
    return q->quadratic && q->quadratic[i];
}

/* Where the matrices of each contact start; walk from 0. */
typedef struct place {
    int i;
    int rows, dof_count, slacks, first_slack;
    const int *dofs;
    const double *jacobian, *rays;
} place;

static bool next_contact(const perp_contact_qp *q, place *p)
{
    if (p->i >= 0) {
        p->jacobian += p->rows * p->dof_count;
        p->rays += p->slacks * p->rows;
    } else {
        p->jacobian = q->jacobian;
        p->rays = q->rays;
    }
    const int i = ++p->i;
    if (i >= q->contact_count) {
        return false;
    }
    p->rows = q->row_start[i + 1] - q->row_start[i];
    p->dof_count = q->dof_start[i + 1] - q->dof_start[i];
    p->first_slack = q->slack_start[i];
    p->slacks = q->slack_start[i + 1] - p->first_slack;
    p->dofs = q->dofs + q->dof_start[i];
    return true;
}

/* The entry of A = R J at slack k and local column j. */
static long double entry(const place *p, int k, int j)
{
    long double r = 0.0L;
    for (int i = 0; i < p->rows; i++) {
        r += (long double)p->rays[k * p->rows + i] * p->jacobian[i * p->dof_count + j];
    }
    return r;
}

/* r += A'y + C'y_equality; `terms` (n, may be NULL) grows by the sizes of what is added. */
static void add_transposed(const perp_contact_qp *q, const double *y, const double *y_equality, long double *r,
                           long double *terms)
{
    for (place p = {.i = -1}; next_contact(q, &p);) {
        for (int k = 0; k < p.slacks; k++) {
            for (int j = 0; j < p.dof_count && y[p.first_slack + k] != 0.0; j++) {
                const long double term = entry(&p, k, j) * y[p.first_slack + k];
                r[p.dofs[j]] += term;
                terms[p.dofs[j]] += fabsl(term);
            }
        }
    }
    for (int e = 0; e < q->equality_count; e++) {
        for (int k = q->equality_start[e]; k < q->equality_start[e + 1]; k++) {
            const long double term = (long double)q->equality_values[k] * y_equality[e];
            r[q->equality_dofs[k]] += term;
            terms[q->equality_dofs[k]] += fabsl(term);
        }
    }
}

static long double *long_zeros(int count)
{
    long double *r = calloc((size_t)count + 1, sizeof *r);
    if (!r) {
        out_of_memory();
    }
    return r;
}

void convex_case_add_transposed(const convex_case *c, const double *y, const double *y_equality, double *r)
{
    long double *sum = long_zeros(c->qp.n), *terms = long_zeros(c->qp.n);
    add_transposed(&c->qp, y, y_equality, sum, terms);
    for (int i = 0; i < c->qp.n; i++) {
        r[i] = (double)(r[i] + sum[i]);
    }
    free(sum);
    free(terms);
}

/* A x at one slack; with the sizes of its terms. */
static long double slack_row(const place *p, const double *x, int k, long double *terms)
{
    long double r = 0.0L;
    for (int j = 0; j < p->dof_count; j++) {
        const long double term = entry(p, k, j) * x[p->dofs[j]];
        r += term;
        *terms = fmaxl(*terms, fabsl(term));
    }
    return r;
}

void convex_case_rows(const convex_case *c, const double *x, double *s)
{
    long double unused = 0.0L;
    for (place p = {.i = -1}; next_contact(&c->qp, &p);) {
        for (int k = 0; k < p.slacks; k++) {
            s[p.first_slack + k] = (double)slack_row(&p, x, k, &unused);
        }
    }
}

static long double hessian_row(const convex_case *c, const double *x, int block, int i, long double *terms)
{
    const int first = c->qp.block_start[block], size = c->qp.block_start[block + 1] - first;
    const double *h = c->qp.hessian ? c->memory->hessian.at + c->memory->block_values.at[block] : NULL;
    long double r = 0.0L;
    for (int k = 0; h && k < size; k++) {
        const long double term = (long double)h[i * size + k] * x[first + k];
        r += term;
        *terms = fmaxl(*terms, fabsl(term));
    }
    return r;
}

void convex_case_hessian(const convex_case *c, const double *x, double *r)
{
    long double unused = 0.0L;
    for (int b = 0; b < c->qp.block_count; b++) {
        const int first = c->qp.block_start[b], size = c->qp.block_start[b + 1] - first;
        for (int i = 0; i < size; i++) {
            r[first + i] = (double)hessian_row(c, x, b, i, &unused);
        }
    }
}

/* Cholesky in place; false where a pivot falls below 1e-12 of its diagonal entry. */
static bool factor(long double *a, int n)
{
    for (int k = 0; k < n; k++) {
        const long double diagonal = a[k * n + k];
        for (int j = 0; j < k; j++) {
            a[k * n + k] -= a[k * n + j] * a[k * n + j];
        }
        if (!(a[k * n + k] > 1e-12L * diagonal)) {
            return false;
        }
        a[k * n + k] = sqrtl(a[k * n + k]);
        for (int i = k + 1; i < n; i++) {
            for (int j = 0; j < k; j++) {
                a[i * n + k] -= a[i * n + j] * a[k * n + j];
            }
            a[i * n + k] /= a[k * n + k];
        }
    }
    return true;
}

static void solve_factored(const long double *a, int n, long double *x)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            x[i] -= a[i * n + j] * x[j];
        }
        x[i] /= a[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) {
            x[i] -= a[j * n + i] * x[j];
        }
        x[i] /= a[i * n + i];
    }
}

bool convex_case_solve_hessian(const convex_case *c, const double *r, double *x)
{
    for (int b = 0; b < c->qp.block_count; b++) {
        const int first = c->qp.block_start[b], size = c->qp.block_start[b + 1] - first;
        long double a[MAX_BLOCK * MAX_BLOCK], z[MAX_BLOCK];
        const double *h = c->memory->hessian.at + c->memory->block_values.at[b];
        if (!c->qp.hessian || size > MAX_BLOCK) {
            return false;
        }
        for (int i = 0; i < size * size; i++) {
            a[i] = h[i];
        }
        for (int i = 0; i < size; i++) {
            z[i] = r[first + i];
        }
        if (!factor(a, size)) {
            return false;
        }
        solve_factored(a, size, z);
        for (int i = 0; i < size; i++) {
            x[first + i] = (double)z[i];
        }
    }
    return true;
}

/* ---- proofs ------------------------------------------------------------------------------------------------------ */

/* Rounding of the stored numbers, relative to the largest term of a sum. */
#define ROUNDING 1e-13L

/* How far inside of its cone a vector is: the least entry, or first entry minus the norm of the rest. */
static long double depth(const long double *s, int count, bool quadratic)
{
    long double least = s[0], rest = 0.0L;
    for (int k = 1; k < count; k++) {
        least = fminl(least, s[k]);
        rest += s[k] * s[k];
    }
    return quadratic ? s[0] - sqrtl(rest) : least;
}

static long double depth_of(const double *y, int count, bool quadratic)
{
    long double copy[64] = {0};
    for (int k = 0; k < count; k++) {
        copy[k] = y[k];
    }
    return depth(copy, count, quadratic);
}

/* The least depth of A x + (with ? offset : 0) over all contacts, or over the quadratic ones, relative to the terms. */
static long double rows_depth(const convex_case *c, const double *x, bool with_offset, bool quadratic_only)
{
    long double worst = INFINITY;
    for (place p = {.i = -1}; next_contact(&c->qp, &p);) {
        long double s[64] = {0}, terms = 0.0L;
        for (int k = 0; k < p.slacks; k++) {
            s[k] = slack_row(&p, x, k, &terms);
            if (with_offset) {
                s[k] += c->qp.offset[p.first_slack + k];
                terms = fmaxl(terms, fabsl((long double)c->qp.offset[p.first_slack + k]));
            }
        }
        const bool quadratic = is_quadratic(&c->qp, p.i);
        if (!quadratic_only || quadratic) {
            const long double inside = depth(s, p.slacks, quadratic);
            worst = fminl(worst, inside / (terms > 0.0L && !quadratic_only ? terms : 1.0L));
        }
    }
    return worst;
}

static bool equations_hold(const convex_case *c, const double *x, bool homogeneous)
{
    for (int e = 0; e < c->qp.equality_count; e++) {
        long double sum = homogeneous ? 0.0L : -(long double)c->qp.equality_target[e], terms = fabsl(sum);
        for (int k = c->qp.equality_start[e]; k < c->qp.equality_start[e + 1]; k++) {
            const long double term = (long double)c->qp.equality_values[k] * x[c->qp.equality_dofs[k]];
            sum += term;
            terms = fmaxl(terms, fabsl(term));
        }
        if (fabsl(sum) > ROUNDING * terms) {
            return false;
        }
    }
    return true;
}

static bool feasible(const convex_case *c)
{
    for (int i = 0; i < c->qp.n && c->qp.lower; i++) {
        const double slip = 1e-15 * fabs(c->x[i]);
        if (c->x[i] < c->qp.lower[i] - slip || c->x[i] > c->qp.upper[i] + slip) {
            return false;
        }
    }
    return rows_depth(c, c->x, true, false) >= -ROUNDING && equations_hold(c, c->x, false);
}

static bool multipliers_signed(const convex_case *c)
{
    for (int i = 0; i < c->qp.contact_count; i++) {
        const int first = c->qp.slack_start[i], slacks = c->qp.slack_start[i + 1] - first;
        double largest = 0.0;
        for (int k = 0; k < slacks; k++) {
            largest = fmax(largest, fabs(c->y[first + k]));
        }
        if (depth_of(c->y + first, slacks, is_quadratic(&c->qp, i)) < -ROUNDING * largest) {
            return false;
        }
    }
    for (int i = 0; i < c->qp.n; i++) {
        const bool has_lower = c->qp.lower && isfinite(c->qp.lower[i]);
        const bool has_upper = c->qp.upper && isfinite(c->qp.upper[i]);
        if (c->y_lower[i] < 0.0 || c->y_upper[i] < 0.0 || (!has_lower && c->y_lower[i] != 0.0) ||
            (!has_upper && c->y_upper[i] != 0.0)) {
            return false;
        }
    }
    return true;
}

/* H x_dual + g - A'y - .. = 0, or without H and g. */
static bool dual_holds(const convex_case *c, bool homogeneous)
{
    const int n = c->qp.n;
    long double *sum = long_zeros(n), *terms = long_zeros(n), largest = 0.0L;
    add_transposed(&c->qp, c->y, c->y_equality, sum, terms);
    for (int b = 0; b < c->qp.block_count; b++) {
        for (int i = c->qp.block_start[b]; i < c->qp.block_start[b + 1]; i++) {
            sum[i] += (long double)c->y_lower[i] - c->y_upper[i];
            terms[i] = fmaxl(terms[i], fmaxl(c->y_lower[i], c->y_upper[i]));
            if (!homogeneous) {
                sum[i] -= c->qp.g[i] + hessian_row(c, c->x_dual, b, i - c->qp.block_start[b], &terms[i]);
                terms[i] = fmaxl(terms[i], fabsl((long double)c->qp.g[i]));
            }
        }
    }
    bool good = true;
    for (int i = 0; i < n; i++) {
        largest = fmaxl(largest, terms[i]);
    }
    for (int i = 0; i < n; i++) {
        good = good && fabsl(sum[i]) <= ROUNDING * largest;
    }
    free(sum);
    free(terms);
    return good;
}

static bool complementary(const convex_case *c)
{
    long double scale = 1.0L;
    for (int i = 0; i < c->qp.n; i++) {
        scale = fmaxl(scale, fabsl((long double)c->qp.g[i]));
    }
    for (place p = {.i = -1}; next_contact(&c->qp, &p);) {
        long double sum = 0.0L, unused = 0.0L;
        for (int k = 0; k < p.slacks; k++) {
            const long double s = slack_row(&p, c->x, k, &unused) + c->qp.offset[p.first_slack + k];
            const long double product = s * c->y[p.first_slack + k];
            sum = is_quadratic(&c->qp, p.i) ? sum + product : fmaxl(sum, fabsl(product));
        }
        if (fabsl(sum) > 1e-12L * scale) {
            return false;
        }
    }
    for (int i = 0; i < c->qp.n && c->qp.lower; i++) {
        if ((c->y_lower[i] > 0.0 && fabs(c->x[i] - c->qp.lower[i]) * c->y_lower[i] > (double)(1e-12L * scale)) ||
            (c->y_upper[i] > 0.0 && fabs(c->x[i] - c->qp.upper[i]) * c->y_upper[i] > (double)(1e-12L * scale))) {
            return false;
        }
    }
    return memcmp(c->x, c->x_dual, (size_t)c->qp.n * sizeof *c->x) == 0;
}

static bool strictly_inside(const convex_case *c)
{
    long double least = rows_depth(c, c->x, true, true);
    for (int i = 0; i < c->qp.contact_count; i++) {
        if (is_quadratic(&c->qp, i)) {
            const int first = c->qp.slack_start[i], slacks = c->qp.slack_start[i + 1] - first;
            least = fminl(least, depth_of(c->y + first, slacks, true));
        }
    }
    return least >= c->margin && c->margin > 0.0;
}

/* offset.y - d.y_equality - lower.y_lower + upper.y_upper: negative for a Farkas vector. */
static long double farkas_value(const convex_case *c)
{
    long double sum = 0.0L;
    for (int k = 0; k < c->qp.slack_start[c->qp.contact_count]; k++) {
        sum += (long double)c->qp.offset[k] * c->y[k];
    }
    for (int e = 0; e < c->qp.equality_count; e++) {
        sum -= (long double)c->qp.equality_target[e] * c->y_equality[e];
    }
    for (int i = 0; i < c->qp.n && c->qp.lower; i++) {
        sum -= c->y_lower[i] > 0.0 ? (long double)c->qp.lower[i] * c->y_lower[i] : 0.0L;
        sum += c->y_upper[i] > 0.0 ? (long double)c->qp.upper[i] * c->y_upper[i] : 0.0L;
    }
    return sum;
}

static long double largest_of(const double *values, int count)
{
    long double r = 0.0L;
    for (int i = 0; i < count; i++) {
        r = fmaxl(r, fabsl((long double)values[i]));
    }
    return r;
}

static bool infeasibility_holds(const convex_case *c)
{
    long double size = largest_of(c->y, c->qp.slack_start[c->qp.contact_count]);
    size = fmaxl(size, largest_of(c->y_equality, c->qp.equality_count));
    size = fmaxl(size, fmaxl(largest_of(c->y_lower, c->qp.n), largest_of(c->y_upper, c->qp.n)));
    return multipliers_signed(c) && dual_holds(c, true) && farkas_value(c) <= -1e-3L * size;
}

static bool unboundedness_holds(const convex_case *c)
{
    long double slope = 0.0L;
    const long double size = largest_of(c->direction, c->qp.n);
    for (int b = 0; b < c->qp.block_count; b++) {
        for (int i = c->qp.block_start[b]; i < c->qp.block_start[b + 1]; i++) {
            long double terms = 0.0L;
            if (fabsl(hessian_row(c, c->direction, b, i - c->qp.block_start[b], &terms)) > ROUNDING * terms) {
                return false;
            }
            slope += (long double)c->qp.g[i] * c->direction[i];
            if (c->qp.lower && ((isfinite(c->qp.lower[i]) && c->direction[i] < 0.0) ||
                                (isfinite(c->qp.upper[i]) && c->direction[i] > 0.0))) {
                return false;
            }
        }
    }
    return feasible(c) && rows_depth(c, c->direction, false, false) >= -ROUNDING &&
           equations_hold(c, c->direction, true) &&
           slope <= -1e-3L * size * (1.0L + 1e-3L * largest_of(c->qp.g, c->qp.n));
}

bool convex_case_proof_holds(const convex_case *c)
{
    if (c->claim == CONVEX_INFEASIBLE) {
        return infeasibility_holds(c);
    }
    if (c->claim == CONVEX_UNBOUNDED) {
        return unboundedness_holds(c);
    }
    if (!feasible(c) || !multipliers_signed(c) || !dual_holds(c, false)) {
        return false;
    }
    return c->kkt ? complementary(c) : !convex_case_has_cones(c) || strictly_inside(c);
}

/* ---- other forms ------------------------------------------------------------------------------------------------- */

bool convex_case_has_cones(const convex_case *c)
{
    return c->qp.quadratic != NULL;
}

/* H, C and the contacts' rows of A; `extra` rows of A stay zero behind them. */
static void fill_dense(convex_case *c, int extra)
{
    const perp_contact_qp *q = &c->qp;
    memory *m = c->memory;
    const int n = q->n, slacks = q->slack_start[q->contact_count];
    double *h = zeros(&m->dense_h, n * n), *a = zeros(&m->dense_a, (slacks + extra) * n);
    double *e = zeros(&m->dense_c, q->equality_count * n), *b = zeros(&m->dense_b, slacks + extra);
    for (int k = 0; k < q->block_count && q->hessian; k++) {
        const int first = q->block_start[k], size = q->block_start[k + 1] - first;
        for (int i = 0; i < size * size; i++) {
            h[(first + i / size) * n + first + i % size] = convex_case_block(c, k)[i];
        }
    }
    for (place p = {.i = -1}; next_contact(q, &p);) {
        for (int k = 0; k < p.slacks; k++) {
            b[p.first_slack + k] = q->offset[p.first_slack + k];
            for (int j = 0; j < p.dof_count; j++) {
                a[(p.first_slack + k) * n + p.dofs[j]] = (double)entry(&p, k, j);
            }
        }
    }
    for (int i = 0; i < q->equality_count; i++) {
        for (int k = q->equality_start[i]; k < q->equality_start[i + 1]; k++) {
            e[i * n + q->equality_dofs[k]] += q->equality_values[k];
        }
    }
}

void convex_case_as_qp(convex_case *c, perp_qp *qp)
{
    const perp_contact_qp *q = &c->qp;
    memory *m = c->memory;
    const int slacks = q->slack_start[q->contact_count];
    fill_dense(c, 0);
    for (int k = 0; k < slacks; k++) {
        m->dense_b.at[k] = -m->dense_b.at[k];
    }
    *qp = (perp_qp){.n = q->n,
                    .h = q->hessian ? m->dense_h.at : NULL,
                    .g = q->g,
                    .rows = slacks,
                    .a = m->dense_a.at,
                    .b = m->dense_b.at,
                    .equalities = q->equality_count,
                    .c = m->dense_c.at,
                    .d = q->equality_target,
                    .lower = q->lower,
                    .upper = q->upper};
}

void convex_case_as_cone_qp(convex_case *c, perp_cone_qp *qp)
{
    const perp_contact_qp *q = &c->qp;
    memory *m = c->memory;
    const int slacks = q->slack_start[q->contact_count];
    fill_dense(c, 2 * q->n);
    start_list(&m->cone_rows, -1);
    for (int i = 0; i < q->contact_count; i++) {
        const int rows = q->slack_start[i + 1] - q->slack_start[i];
        for (int k = 0; k < (is_quadratic(q, i) ? 1 : rows); k++) {
            add_int(&m->cone_rows, is_quadratic(q, i) ? rows : 1);
        }
    }
    int row = slacks;
    for (int side = 0; side < 2 && q->lower; side++) {
        for (int i = 0; i < q->n; i++) {
            const double bound = side ? q->upper[i] : q->lower[i];
            if (isfinite(bound)) {
                m->dense_a.at[row * q->n + i] = side ? -1.0 : 1.0;
                m->dense_b.at[row++] = side ? bound : -bound;
                add_int(&m->cone_rows, 1);
            }
        }
    }
    *qp = (perp_cone_qp){.n = q->n,
                         .h = q->hessian ? m->dense_h.at : NULL,
                         .g = q->g,
                         .cones = m->cone_rows.count,
                         .cone_rows = m->cone_rows.at,
                         .a = m->dense_a.at,
                         .b = m->dense_b.at,
                         .equalities = q->equality_count,
                         .c = m->dense_c.at,
                         .d = q->equality_target};
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void write_number(FILE *out, double value)
{
    if (isinf(value)) {
        fprintf(out, value > 0.0 ? ".inf" : "-.inf");
    } else {
        fprintf(out, "%.17g", value);
    }
}

static void write_numbers(FILE *out, const char *head, const double *values, int count)
{
    fprintf(out, "%s[", head);
    for (int i = 0; i < count; i++) {
        fprintf(out, "%s", i ? ", " : "");
        write_number(out, values[i]);
    }
    fprintf(out, "]\n");
}

static void write_matrix(FILE *out, const char *head, const double *a, int rows, int cols)
{
    fprintf(out, "%s{rows: %d, cols: %d, triplets: [", head, rows, cols);
    bool first = true;
    for (int i = 0; i < rows * cols; i++) {
        if (a[i] != 0.0) {
            fprintf(out, "%s[%d, %d, %.17g]", first ? "" : ", ", i / cols, i % cols, a[i]);
            first = false;
        }
    }
    fprintf(out, "]}\n");
}

static void write_equalities(FILE *out, const perp_contact_qp *q, const double *dense)
{
    if (q->equality_count > 0) {
        write_matrix(out, "C: ", dense, q->equality_count, q->n);
        write_numbers(out, "d: ", q->equality_target, q->equality_count);
    }
}

static void write_qp(FILE *out, const perp_qp *qp, const perp_contact_qp *q)
{
    fprintf(out, "kind: %s\n", qp->h ? "qp" : "lp");
    if (qp->h) {
        write_matrix(out, "H: ", qp->h, qp->n, qp->n);
    }
    write_numbers(out, "g: ", qp->g, qp->n);
    if (qp->rows > 0) {
        write_matrix(out, "A: ", qp->a, qp->rows, qp->n);
        write_numbers(out, "b: ", qp->b, qp->rows);
    }
    write_equalities(out, q, qp->c);
    if (qp->lower) {
        write_numbers(out, "lower: ", qp->lower, qp->n);
        write_numbers(out, "upper: ", qp->upper, qp->n);
    }
}

static void write_cone_qp(FILE *out, const perp_cone_qp *qp, const perp_contact_qp *q, const double *zero)
{
    fprintf(out, "kind: cone-qp\n");
    write_matrix(out, "H: ", qp->h ? qp->h : zero, qp->n, qp->n);
    write_numbers(out, "g: ", qp->g, qp->n);
    fprintf(out, "cones:\n");
    for (int i = 0, row = 0; i < qp->cones; row += qp->cone_rows[i++]) {
        write_matrix(out, "- A: ", qp->a + row * qp->n, qp->cone_rows[i], qp->n);
        write_numbers(out, "  b: ", qp->b + row, qp->cone_rows[i]);
    }
    write_equalities(out, q, qp->c);
}

bool convex_case_write(const convex_case *c, const char *path, const char *comment)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        return false;
    }
    convex_case copy = *c; /* its memory is shared: only the dense arrays change, which hold nothing of the problem */
    fprintf(out, "# %s\n", comment);
    if (convex_case_has_cones(c)) {
        perp_cone_qp qp;
        convex_case_as_cone_qp(&copy, &qp);
        write_cone_qp(out, &qp, &c->qp, c->memory->dense_h.at);
    } else {
        perp_qp qp;
        convex_case_as_qp(&copy, &qp);
        write_qp(out, &qp, &c->qp);
    }
    const bool good = !ferror(out);
    return fclose(out) == 0 && good;
}

static void put_ints(FILE *out, const int *values, int count)
{
    fwrite(values, sizeof(int), (size_t)count, out);
}

static void put_doubles(FILE *out, const double *values, int count)
{
    fwrite(values, sizeof(double), (size_t)count, out);
}

static void put_entry(FILE *out, int row, int col, double value)
{
    const int at[2] = {row, col};
    put_ints(out, at, 2);
    put_doubles(out, &value, 1);
}

static int count_entries(const perp_contact_qp *q)
{
    int count = 0;
    for (place p = {.i = -1}; next_contact(q, &p);) {
        count += p.slacks * p.dof_count;
    }
    return count;
}

static void put_matrices(const convex_case *c, FILE *out)
{
    const perp_contact_qp *q = &c->qp;
    for (int b = 0; b < q->block_count && q->hessian; b++) {
        const int first = q->block_start[b], size = q->block_start[b + 1] - first;
        const double *h = c->memory->hessian.at + c->memory->block_values.at[b];
        for (int i = 0; i < size * size; i++) {
            put_entry(out, first + i / size, first + i % size, h[i]);
        }
    }
    for (place p = {.i = -1}; next_contact(q, &p);) {
        for (int k = 0; k < p.slacks; k++) {
            for (int j = 0; j < p.dof_count; j++) {
                put_entry(out, p.first_slack + k, p.dofs[j], (double)entry(&p, k, j));
            }
        }
    }
    for (int e = 0; e < q->equality_count; e++) {
        for (int k = q->equality_start[e]; k < q->equality_start[e + 1]; k++) {
            put_entry(out, e, q->equality_dofs[k], q->equality_values[k]);
        }
    }
}

bool convex_case_dump(const convex_case *c, int index, const convex_answer *answer, FILE *out)
{
    const perp_contact_qp *q = &c->qp;
    const int slacks = q->slack_start[q->contact_count], equalities = q->equality_count;
    const bool solved = answer && answer->outcome >= 0;
    const int head[12] = {0x50514350, /* "PCQP" */
                          index,
                          (int)c->claim,
                          c->primal_unique,
                          q->n,
                          slacks,
                          equalities,
                          q->contact_count,
                          q->hessian ? c->memory->block_values.at[q->block_count] : 0,
                          count_entries(q),
                          q->equality_start[equalities],
                          solved ? answer->outcome : -1};
    put_ints(out, head, 12);
    for (int i = 0; i < q->contact_count; i++) {
        const int rows = q->slack_start[i + 1] - q->slack_start[i], signed_rows = is_quadratic(q, i) ? rows : -rows;
        put_ints(out, &signed_rows, 1);
    }
    put_matrices(c, out);
    put_doubles(out, q->g, q->n);
    put_doubles(out, q->offset, slacks);
    put_doubles(out, q->equality_target, equalities);
    for (int i = 0; i < q->n; i++) {
        const double none[2] = {-INFINITY, INFINITY};
        put_doubles(out, q->lower ? q->lower + i : none, 1);
        put_doubles(out, q->upper ? q->upper + i : none + 1, 1);
    }
    if (solved) {
        put_doubles(out, &answer->seconds, 1);
        put_doubles(out, answer->point.x, q->n);
        put_doubles(out, answer->point.y, slacks);
        put_doubles(out, answer->point.y_equality, equalities);
        put_doubles(out, answer->point.y_lower, q->n);
        put_doubles(out, answer->point.y_upper, q->n);
    }
    return !ferror(out);
}
