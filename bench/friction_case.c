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

static void list_parts(const perp_contact_qp *q, part *parts)
{
    const double *jacobian = q->jacobian;
    for (int i = 0; i < q->contact_count; i++) {
        parts[i] = (part){q->row_start[i + 1] - q->row_start[i], q->dof_start[i + 1] - q->dof_start[i],
                          q->dofs + q->dof_start[i], jacobian};
        jacobian += parts[i].rows * parts[i].count;
    }
}

/* x (3 x n by rows) = A^-1 J' of one contact, on the blocks that it touches; `blocks` lists these. */
static int spread(const perp_contact_qp *q, const int *block_of, const int *values_of, const double *inverse,
                  const part *p, double *x, int *blocks)
{
    int count = 0;
    for (int j = 0; j < p->count; j++) {
        if (count == 0 || blocks[count - 1] != block_of[p->dofs[j]]) {
            blocks[count++] = block_of[p->dofs[j]];
            for (int row = 0; row < p->rows; row++) {
                const int first = q->block_start[blocks[count - 1]];
                memset(x + row * q->n + first, 0, (size_t)(q->block_start[blocks[count - 1] + 1] - first) * sizeof *x);
            }
        }
        const int b = blocks[count - 1], first = q->block_start[b], size = q->block_start[b + 1] - first;
        for (int row = 0; row < p->rows; row++) {
            const double entry = p->jacobian[row * p->count + j];
            for (int i = 0; i < size; i++) {
                x[row * q->n + first + i] += inverse[values_of[b] + i * size + p->dofs[j] - first] * entry;
            }
        }
    }
    return count;
}

/* One band of W: contact i against those that share a block with it. `wanted` marks i's blocks. */
static void fill_band(const perp_contact_qp *q, const part *parts, const int *block_of, const bool *wanted, int i,
                      int dim, const double *x, double *w)
{
    const size_t size = (size_t)q->contact_count * (size_t)dim;
    for (int k = 0; k < q->contact_count; k++) {
        for (int j = 0; j < parts[k].count; j++) {
            const int dof = parts[k].dofs[j];
            if (!wanted[block_of[dof]]) {
                continue;
            }
            for (int a = 0; a < parts[i].rows; a++) {
                for (int b = 0; b < parts[k].rows; b++) {
                    w[((size_t)(i * dim + a)) * size + (size_t)(k * dim + b)] +=
                        x[a * q->n + dof] * parts[k].jacobian[b * parts[k].count + j];
                }
            }
        }
    }
}

static void fill_delassus(const friction_case *c, const double *inverse, int dim, double *w)
{
    const perp_contact_qp *q = &c->system;
    int *block_of = grown(NULL, (size_t)q->n * sizeof *block_of);
    int *values_of = grown(NULL, (size_t)q->block_count * sizeof *values_of);
    int *blocks = grown(NULL, (size_t)q->n * sizeof *blocks);
    bool *wanted = grown(NULL, (size_t)q->block_count * sizeof *wanted);
    part *parts = grown(NULL, (size_t)q->contact_count * sizeof *parts);
    double *x = grown(NULL, 3 * (size_t)q->n * sizeof *x);
    memset(wanted, 0, (size_t)q->block_count * sizeof *wanted);
    list_parts(q, parts);
    for (int b = 0, values = 0; b < q->block_count; b++) {
        const int size = q->block_start[b + 1] - q->block_start[b];
        values_of[b] = values;
        values += size * size;
        for (int i = q->block_start[b]; i < q->block_start[b + 1]; i++) {
            block_of[i] = b;
        }
    }
    for (int i = 0; i < q->contact_count; i++) {
        const int count = spread(q, block_of, values_of, inverse, &parts[i], x, blocks);
        for (int k = 0; k < count; k++) {
            wanted[blocks[k]] = true;
        }
        fill_band(q, parts, block_of, wanted, i, dim, x, w);
        for (int k = 0; k < count; k++) {
            wanted[blocks[k]] = false;
        }
    }
    free(block_of);
    free(values_of);
    free(blocks);
    free(wanted);
    free(parts);
    free(x);
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
