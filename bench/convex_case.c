#include "convex_case_private.h"

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

bool convex_is_quadratic(const perp_contact_qp *q, int i)
{
    return q->quadratic && q->quadratic[i];
}

bool convex_next_contact(const perp_contact_qp *q, convex_place *p)
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

long double convex_entry(const convex_place *p, int k, int j)
{
    long double r = 0.0L;
    for (int i = 0; i < p->rows; i++) {
        r += (long double)p->rays[k * p->rows + i] * p->jacobian[i * p->dof_count + j];
    }
    return r;
}

void convex_add_terms(const perp_contact_qp *q, const double *y, const double *y_equality, long double *r,
                      long double *terms)
{
    for (convex_place p = {.i = -1}; convex_next_contact(q, &p);) {
        for (int k = 0; k < p.slacks; k++) {
            for (int j = 0; j < p.dof_count && y[p.first_slack + k] != 0.0; j++) {
                const long double term = convex_entry(&p, k, j) * y[p.first_slack + k];
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

long double *convex_long_zeros(int count)
{
    long double *r = calloc((size_t)count + 1, sizeof *r);
    if (!r) {
        out_of_memory();
    }
    return r;
}

void convex_case_add_transposed(const convex_case *c, const double *y, const double *y_equality, double *r)
{
    long double *sum = convex_long_zeros(c->qp.n), *terms = convex_long_zeros(c->qp.n);
    convex_add_terms(&c->qp, y, y_equality, sum, terms);
    for (int i = 0; i < c->qp.n; i++) {
        r[i] = (double)(r[i] + sum[i]);
    }
    free(sum);
    free(terms);
}

long double convex_slack_row(const convex_place *p, const double *x, int k, long double *terms)
{
    long double r = 0.0L;
    for (int j = 0; j < p->dof_count; j++) {
        const long double term = convex_entry(p, k, j) * x[p->dofs[j]];
        r += term;
        *terms = fmaxl(*terms, fabsl(term));
    }
    return r;
}

void convex_case_rows(const convex_case *c, const double *x, double *s)
{
    long double unused = 0.0L;
    for (convex_place p = {.i = -1}; convex_next_contact(&c->qp, &p);) {
        for (int k = 0; k < p.slacks; k++) {
            s[p.first_slack + k] = (double)convex_slack_row(&p, x, k, &unused);
        }
    }
}

long double convex_hessian_row(const convex_case *c, const double *x, int block, int i, long double *terms)
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
            r[first + i] = (double)convex_hessian_row(c, x, b, i, &unused);
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
    for (convex_place p = {.i = -1}; convex_next_contact(q, &p);) {
        for (int k = 0; k < p.slacks; k++) {
            b[p.first_slack + k] = q->offset[p.first_slack + k];
            for (int j = 0; j < p.dof_count; j++) {
                a[(p.first_slack + k) * n + p.dofs[j]] = (double)convex_entry(&p, k, j);
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
        for (int k = 0; k < (convex_is_quadratic(q, i) ? 1 : rows); k++) {
            add_int(&m->cone_rows, convex_is_quadratic(q, i) ? rows : 1);
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
