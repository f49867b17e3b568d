#include "friction_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BLOCK = 16 };

typedef struct friction_case_memory {
    int mu_room;
    double *inverse; /* the blocks of A^-1, each where A's is */
    double *w, *q, *mu_local, *work;
} memory;

static void *grown(void *at, size_t bytes)
{
    void *r = realloc(at, bytes + 1);
    if (!r) {
        fprintf(stderr, "friction_case: out of memory\n");
        exit(2);
    }
    return r;
}

static double *sized(double **at, size_t count)
{
    *at = grown(*at, count * sizeof **at);
    memset(*at, 0, count * sizeof **at);
    return *at;
}

friction_case *friction_case_create(void)
{
    friction_case *c = grown(NULL, sizeof *c);
    memset(c, 0, sizeof *c);
    c->memory = grown(NULL, sizeof *c->memory);
    memset(c->memory, 0, sizeof *c->memory);
    c->base = convex_case_create();
    return c;
}

void friction_case_free(friction_case *c)
{
    if (!c) {
        return;
    }
    memory *m = c->memory;
    free(m->inverse);
    free(m->w);
    free(m->q);
    free(m->mu_local);
    free(m->work);
    free(m);
    free(c->mu);
    convex_case_free(c->base);
    free(c);
}

void friction_case_start(friction_case *c, const int *block_sizes, int block_count)
{
    convex_case_start(c->base, block_sizes, block_count);
    c->family = "";
    c->proof = FRICTION_KNOWN;
    c->inertial = c->planar = false;
}

void friction_case_add(friction_case *c, const friction_contact *contact)
{
    static const double identity[3][9] = {{1}, {1, 0, 0, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    memory *m = c->memory;
    const int i = c->base->qp.contact_count;
    const convex_contact plain = {contact->rows,     contact->dof_count,          contact->rows, contact->dofs,
                                  contact->jacobian, identity[contact->rows - 1], false};
    convex_case_add_contact(c->base, &plain);
    if (i >= m->mu_room) {
        m->mu_room = 2 * i + 16;
        c->mu = grown(c->mu, (size_t)m->mu_room * sizeof *c->mu);
    }
    c->mu[i] = contact->mu;
}

void friction_case_finish(friction_case *c, bool with_stiffness, bool with_bounds)
{
    convex_case_finish(c->base, with_stiffness, with_bounds);
    c->system = c->base->qp;
    c->system.slack_start = c->system.row_start;
    c->system.rays = NULL;
    c->system.quadratic = NULL;
    c->problem = (perp_contact_friction){&c->system, c->mu};
    const convex_case *b = c->base;
    c->solution = (perp_convex_point){b->x, b->y, b->y_equality, b->y_lower, b->y_upper};
}

/* ---- the local form ---------------------------------------------------------------------------------------------- */

bool friction_case_velocity(const friction_case *c, const double *r, double *v)
{
    const perp_contact_qp *q = &c->system;
    if (!q->hessian || q->equality_count > 0) {
        return false;
    }
    memset(v, 0, (size_t)q->n * sizeof *v);
    convex_case_add_transposed(c->base, r, NULL, v);
    for (int i = 0; i < q->n; i++) {
        v[i] -= q->g[i];
    }
    return convex_case_solve_hessian(c->base, v, v);
}

/* Of one block, by columns of the identity: the case's solver is in long double. */
static bool invert_blocks(const friction_case *c, double *inverse)
{
    const perp_contact_qp *q = &c->system;
    double *right = grown(NULL, (size_t)q->n * sizeof *right);
    bool good = true;
    for (int column = 0; column < MAX_BLOCK && good; column++) {
        bool any = false;
        for (int b = 0; b < q->block_count; b++) {
            for (int i = q->block_start[b]; i < q->block_start[b + 1]; i++) {
                right[i] = i - q->block_start[b] == column ? 1.0 : 0.0;
                any = any || right[i] != 0.0;
            }
        }
        if (!any) {
            break;
        }
        good = convex_case_solve_hessian(c->base, right, right);
        for (int b = 0, first = 0; b < q->block_count; b++) {
            const int size = q->block_start[b + 1] - q->block_start[b];
            for (int i = 0; i < size && column < size; i++) {
                inverse[first + i * size + column] = right[q->block_start[b] + i];
            }
            first += size * size;
        }
    }
    free(right);
    return good;
}

/* Contact i's part of the arrays. */
typedef struct part {
    int rows, count;
    const int *dofs;
    const double *jacobian;
} part;

/* What forming W needs. */
typedef struct delassus {
    const perp_contact_qp *q;
    const double *inverse; /* the blocks of A^-1 */
    int dim;
    part *parts;    /* by contact */
    int *block_of;  /* by unknown */
    int *values_of; /* by block: where its values start */
    bool *wanted;   /* by block: that the contact at hand touches it */
    double *x;      /* 3 x n: A^-1 J' of the contact at hand, on the blocks that it touches */
} delassus;

static void start_delassus(delassus *d)
{
    const perp_contact_qp *q = d->q;
    d->parts = grown(NULL, (size_t)q->contact_count * sizeof *d->parts);
    d->block_of = grown(NULL, (size_t)q->n * sizeof *d->block_of);
    d->values_of = grown(NULL, (size_t)q->block_count * sizeof *d->values_of);
    d->wanted = grown(NULL, (size_t)q->block_count * sizeof *d->wanted);
    d->x = grown(NULL, 3 * (size_t)q->n * sizeof *d->x);
    const double *jacobian = q->jacobian;
    for (int i = 0; i < q->contact_count; i++) {
        part *p = &d->parts[i];
        *p = (part){q->row_start[i + 1] - q->row_start[i], q->dof_start[i + 1] - q->dof_start[i],
                    q->dofs + q->dof_start[i], jacobian};
        jacobian += p->rows * p->count;
    }
    for (int b = 0, values = 0; b < q->block_count; b++) {
        const int size = q->block_start[b + 1] - q->block_start[b];
        d->values_of[b] = values;
        values += size * size;
        for (int i = q->block_start[b]; i < q->block_start[b + 1]; i++) {
            d->block_of[i] = b;
        }
    }
}

static void end_delassus(delassus *d)
{
    free(d->parts);
    free(d->block_of);
    free(d->values_of);
    free(d->wanted);
    free(d->x);
}

/* x and the marks of contact i. */
static void spread(delassus *d, int i)
{
    const perp_contact_qp *q = d->q;
    const part *p = &d->parts[i];
    memset(d->wanted, 0, (size_t)q->block_count * sizeof *d->wanted);
    for (int j = 0; j < p->count; j++) {
        const int b = d->block_of[p->dofs[j]], first = q->block_start[b], size = q->block_start[b + 1] - first;
        const double *inverse = d->inverse + d->values_of[b] + p->dofs[j] - first;
        for (int row = 0; row < p->rows; row++) {
            double *x = d->x + row * q->n + first;
            if (!d->wanted[b]) {
                memset(x, 0, (size_t)size * sizeof *x);
            }
            for (int k = 0; k < size; k++) {
                x[k] += inverse[k * size] * p->jacobian[row * p->count + j];
            }
        }
        d->wanted[b] = true;
    }
}

/* The rows of W of contact i: with those that share a block with it. */
static void fill_band(const delassus *d, int i, double *w)
{
    const size_t size = (size_t)d->q->contact_count * (size_t)d->dim;
    for (int k = 0; k < d->q->contact_count; k++) {
        const part *p = &d->parts[k];
        for (int j = 0; j < p->count; j++) {
            if (!d->wanted[d->block_of[p->dofs[j]]]) {
                continue;
            }
            for (int a = 0; a < d->parts[i].rows; a++) {
                double *row = w + (size_t)(i * d->dim + a) * size + (size_t)(k * d->dim);
                for (int b = 0; b < p->rows; b++) {
                    row[b] += d->x[a * d->q->n + p->dofs[j]] * p->jacobian[b * p->count + j];
                }
            }
        }
    }
}

static void fill_delassus(const friction_case *c, const double *inverse, int dim, double *w)
{
    delassus d = {.q = &c->system, .inverse = inverse, .dim = dim};
    start_delassus(&d);
    for (int i = 0; i < c->system.contact_count; i++) {
        spread(&d, i);
        fill_band(&d, i, w);
    }
    end_delassus(&d);
}

void friction_case_to_local(const friction_case *c, const double *r, double *r_local)
{
    const int dim = c->planar ? 2 : 3;
    for (int i = 0; i < c->system.contact_count; i++) {
        const int first = c->system.row_start[i], rows = c->system.row_start[i + 1] - first;
        for (int k = 0; k < dim; k++) {
            r_local[i * dim + k] = k < rows ? r[first + k] : 0.0;
        }
    }
}

void friction_case_from_local(const friction_case *c, const double *r_local, double *r)
{
    const int dim = c->planar ? 2 : 3;
    for (int i = 0; i < c->system.contact_count; i++) {
        for (int k = c->system.row_start[i]; k < c->system.row_start[i + 1]; k++) {
            r[k] = r_local[i * dim + k - c->system.row_start[i]];
        }
    }
}

bool friction_case_local(friction_case *c, perp_friction *local)
{
    const perp_contact_qp *s = &c->system;
    memory *m = c->memory;
    const int dim = c->planar ? 2 : 3, contacts = s->contact_count;
    if (!s->hessian || s->equality_count > 0 || s->lower || s->upper) {
        return false;
    }
    const size_t size = (size_t)contacts * (size_t)dim;
    size_t values = 0;
    for (int b = 0; b < s->block_count; b++) {
        const size_t width = (size_t)(s->block_start[b + 1] - s->block_start[b]);
        values += width * width;
    }
    if (!invert_blocks(c, sized(&m->inverse, values))) {
        return false;
    }
    double *w = sized(&m->w, size * size), *q = sized(&m->q, size), *mu = sized(&m->mu_local, (size_t)contacts);
    double *work = sized(&m->work, (size_t)s->n + 2 * size + 2);
    double *free_motion = work, *none = work + s->n, *rows = none + size + 1;
    fill_delassus(c, m->inverse, dim, w);
    for (size_t i = 0; i < size; i++) { /* the two triangles are rounded differently */
        for (size_t k = 0; k < i; k++) {
            w[i * size + k] = w[k * size + i];
        }
    }
    if (!friction_case_velocity(c, none, free_motion)) {
        return false;
    }
    convex_case_rows(c->base, free_motion, rows);
    for (int i = 0; i < s->row_start[contacts]; i++) {
        rows[i] += s->offset[i];
    }
    friction_case_to_local(c, rows, q);
    for (int i = 0; i < contacts; i++) {
        mu[i] = s->row_start[i + 1] - s->row_start[i] > 1 ? c->mu[i] : 0.0;
    }
    *local = (perp_friction){contacts, dim, w, q, mu};
    return true;
}
