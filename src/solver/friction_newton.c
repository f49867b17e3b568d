/* Semismooth Newton on r = P(r - z), z = u + |u_T| e: the polish of the interior point, and the warm start.
 *
 * With J = P'(r - z), F = r - P(r - z) and E = z'(u)
 *
 *     (I - J + reg J) dr + J E du = -F
 *
 * of which only the matrix is regularised: fixed points do not depend on reg. Eigenvectors of J are those of L: (1, t)
 * / sqrt 2 with 1, (1, -t) / sqrt 2 with 0, and what is across with (1 + argument_N / |argument_T|) / 2. */
#include "linalg/dense_kernel.h"
#include "solver/friction_core.h"
#include "solver/tolerances.h"

#include <math.h>
#include <string.h>

/* J of a cone or of a row by its eigenvalues, along (1, t), (1, -t) and across, and by 1 less each. */
typedef struct cone_derivative {
    double value[3], rest[3];
    double t[2]; /* direction of the argument's tail; 0 where the values are alike */
} cone_derivative;

static void set_values(cone_derivative *d, double along, double against, double across)
{
    const double values[3] = {along, against, across};
    for (int k = 0; k < 3; k++) {
        d->value[k] = values[k];
        d->rest[k] = 1.0 - values[k];
    }
}

static cone_derivative differentiate_smooth(int size, const double *a, double length, double smooth)
{
    cone_derivative d = {{0.0}, {0.0}, {0.0, 0.0}};
    const double far = a[0] + length, near = a[0] - length;
    perp_friction_smooth_derivative(far, smooth, &d.value[0], &d.rest[0]);
    perp_friction_smooth_derivative(near, smooth, &d.value[1], &d.rest[1]);
    /* (p(far) - p(near)) / (far - near) */
    const double slope = (far + near) / (hypot(far, 2.0 * smooth) + hypot(near, 2.0 * smooth));
    d.value[2] = 0.5 * (1.0 + slope);
    d.rest[2] = 0.5 * (1.0 - slope);
    for (int i = 1; i < size && length > 0.0; i++) {
        d.t[i - 1] = a[i] / length;
    }
    return d;
}

/* size 1: a row. */
static cone_derivative differentiate(int size, const double *a, double smooth)
{
    cone_derivative d = {{0.0}, {0.0}, {0.0, 0.0}};
    double length = 0.0;
    for (int i = 1; i < size; i++) {
        length += a[i] * a[i];
    }
    length = sqrt(length);
    if (smooth > 0.0) {
        return differentiate_smooth(size, a, length, smooth);
    }
    if (a[0] <= -length || a[0] >= length) {
        const double all = a[0] > 0.0 || (size > 1 && a[0] >= length) ? 1.0 : 0.0;
        set_values(&d, all, all, all);
        return d;
    }
    set_values(&d, 1.0, 0.0, (a[0] + length) / (2.0 * length));
    for (int i = 1; i < size; i++) {
        d.t[i - 1] = a[i] / length;
    }
    return d;
}

/* The matrix with J's eigenvectors and these values. */
static void compose(int size, const cone_derivative *d, const double values[3], double *matrix)
{
    const double even = (values[0] + values[1]) / 2.0, odd = (values[0] - values[1]) / 2.0;
    matrix[0] = even;
    for (int i = 1; i < size; i++) {
        matrix[i] = matrix[i * size] = odd * d->t[i - 1];
        for (int j = 1; j < size; j++) {
            const double tij = d->t[i - 1] * d->t[j - 1];
            matrix[i * size + j] = even * tij + values[2] * ((i == j ? 1.0 : 0.0) - tij);
        }
    }
}

static void multiply(int size, const double *matrix, const double *x, double factor, double *out)
{
    for (int i = 0; i < size; i++) {
        double sum = 0.0;
        for (int j = 0; j < size; j++) {
            sum += matrix[i * size + j] * x[j];
        }
        out[i] = factor * sum;
    }
}

/* Contact i, or after them the bounds: its first slack; returns its rows. */
static int rows_of(const perp_friction_workspace *f, int i, int *start)
{
    const perp_contact_qp *p = &f->scaled;
    const bool bound = i >= p->contact_count;
    *start = bound ? f->convex->contact_slacks + (i - p->contact_count) : p->row_start[i];
    return bound ? 1 : p->row_start[i + 1] - *start;
}

/* omega = (I - J + reg J)^-1 J E by contact. */
static void linearise(perp_friction_workspace *f, double reg)
{
    perp_convex_workspace *c = f->convex;
    double *omega = c->omega;
    const double pace = perp_friction_pace(f);
    for (int i = 0; i < f->scaled.contact_count + c->bounds; i++) {
        int start = 0;
        const int rows = rows_of(f, i, &start);
        const cone_derivative d = differentiate(rows, f->argument + start, f->smooth);
        double weights[3];
        for (int k = 0; k < 3; k++) {
            weights[k] = pace * d.value[k] / (d.rest[k] + reg * d.value[k]);
        }
        if (rows == 1) {
            c->weight[start] = weights[0];
        }
        if (i < f->scaled.contact_count) {
            compose(rows, &d, weights, omega);
            omega += (ptrdiff_t)rows * rows;
        }
    }
    perp_friction_shift_omega(f);
}

/* fixed = -(I - J + reg J)^-1 F */
static void weigh_natural(perp_friction_workspace *f, double reg)
{
    for (int i = 0; i < f->scaled.contact_count + f->convex->bounds; i++) {
        int start = 0;
        const int rows = rows_of(f, i, &start);
        const cone_derivative d = differentiate(rows, f->argument + start, f->smooth);
        double inverses[3], inverse[9];
        for (int k = 0; k < 3; k++) {
            inverses[k] = 1.0 / (d.rest[k] + reg * d.value[k]);
        }
        compose(rows, &d, inverses, inverse);
        multiply(rows, inverse, f->natural + start, -1.0, f->fixed + start);
    }
}

void perp_friction_newton_blocks(int rows, const double *argument, const double *t, double reg, double smooth,
                                 double *b, double *g)
{
    const cone_derivative d = differentiate(rows, argument, smooth);
    double left[3];
    for (int k = 0; k < 3; k++) {
        left[k] = d.rest[k] + reg * d.value[k];
    }
    compose(rows, &d, d.value, g);
    compose(rows, &d, left, b);
    for (int r = 0; r < rows; r++) {
        for (int k = 1; k < rows; k++) {
            g[r * rows + k] += g[r * rows] * t[k];
        }
    }
}

static void linearise_dense(perp_friction_workspace *f, double reg)
{
    const int *row_start = f->scaled.row_start;
    double *b = f->block_b, *g = f->block_g;
    for (int i = 0; i < f->scaled.contact_count; i++) {
        const int start = row_start[i], rows = row_start[i + 1] - start;
        perp_friction_newton_blocks(rows, f->argument + start, f->t + start, reg, f->smooth, b, g);
        for (int k = 0; k < rows * rows; k++) {
            g[k] *= perp_friction_pace(f);
        }
        b += (ptrdiff_t)rows * rows;
        g += (ptrdiff_t)rows * rows;
    }
}

bool perp_friction_newton_factor(perp_friction_workspace *f, double reg)
{
    if (f->local) {
        linearise_dense(f, reg);
        return perp_friction_factor_dense(f);
    }
    f->rho = f->delta = f->give > 0.0 ? FRICTION_DAMPING_LEAST : reg; /* only contacts give way */
    linearise(f, reg);
    perp_friction_factor(f);
    return true;
}

bool perp_friction_newton_solve(perp_friction_workspace *f, double reg)
{
    perp_convex_workspace *c = f->convex;
    if (f->local) {
        for (int i = 0; i < c->m; i++) {
            c->dy[i] = -f->natural[i];
        }
        return perp_friction_step_dense(f, c->dy);
    }
    weigh_natural(f, reg);
    return perp_friction_step(f, f->fixed, c->dy);
}

/* |F|^2 + |r_d|^2 + |r_c|^2 at the point and a step of length t from it. */
static double merit(perp_friction_workspace *f, const perp_convex_iterate *at, double t)
{
    perp_convex_workspace *c = f->convex;
    for (int i = 0; i < c->m; i++) {
        f->change[i] = f->u[i] + t * f->du[i];
        f->fixed[i] = at->y[i] + t * c->dy[i];
    }
    perp_friction_natural(f, f->change, f->fixed);
    double sum = perp_dense_dot(c->m, f->natural, f->natural);
    for (int i = 0; !f->local && i < c->n; i++) {
        const double rd = c->rd[i] + t * f->rd_change[i];
        sum += rd * rd;
    }
    for (int i = 0; !f->local && i < c->e; i++) {
        const double rc = (1.0 - t) * c->rc[i];
        sum += rc * rc;
    }
    return sum;
}

/* Armijo against the largest of the last values; the last halving is taken whatever it gives. */
static double search(perp_friction_workspace *f, const perp_convex_iterate *at, double reference, double *reached)
{
    enum { HALVINGS = 12 };
    double t = 1.0;
    *reached = merit(f, at, t);
    for (int k = 0; k < HALVINGS && !(*reached <= (1.0 - 2.0 * SUFFICIENT * t) * reference); k++) {
        t *= 0.5;
        *reached = merit(f, at, t);
    }
    return t;
}

static void advance(perp_friction_workspace *f, perp_convex_iterate *at, double t)
{
    perp_convex_workspace *c = f->convex;
    perp_dense_subtract(c->m, -t, c->dy, at->y);
    if (!f->local) {
        perp_dense_subtract(c->n, -t, c->step, at->x);
        perp_dense_subtract(c->e, t, c->step + c->n, at->z);
    }
}

bool perp_friction_newton_step(perp_friction_workspace *f, perp_convex_iterate *at, double reg,
                               perp_friction_memory *memory)
{
    double reference = 0.0, reached = 0.0;
    memset(f->convex->dy, 0, (size_t)f->convex->m * sizeof(double));
    memset(f->du, 0, (size_t)f->convex->m * sizeof(double));
    if (!f->local) { /* 0 times what was there before may be no number */
        memset(f->rd_change, 0, (size_t)f->convex->n * sizeof(double));
    }
    if (memory) {
        memory->merit[memory->count++ % PERP_FRICTION_REMEMBERED] = merit(f, at, 0.0);
        for (int i = 0; i < memory->count && i < PERP_FRICTION_REMEMBERED; i++) {
            reference = fmax(reference, memory->merit[i]);
        }
    }
    if (!perp_friction_newton_factor(f, reg) || !perp_friction_newton_solve(f, reg)) {
        return false;
    }
    advance(f, at, memory ? search(f, at, reference, &reached) : 1.0);
    return true;
}

static bool run_damped(perp_friction_workspace *f, perp_convex_iterate *at, const perp_friction_damping *damping)
{
    perp_friction_memory memory = {.count = 0};
    double best = INFINITY;
    int since = 0;
    for (int k = 0; k <= damping->iterations; k++) {
        const double error = perp_friction_look(f, at);
        if (!(error < INFINITY)) {
            return false;
        }
        if ((error < NEWTON_JUDGED || k == damping->iterations) && perp_friction_judge(f, at)) {
            return true;
        }
        since = error < 0.5 * best ? 0 : since + 1;
        best = error < best ? error : best;
        if (k == damping->iterations || since > damping->patience || error < damping->enough ||
            perp_friction_must_stop(f)) {
            return false;
        }
        f->iterations++;
        const double reg = fmax(FRICTION_DAMPING_LEAST, fmin(damping->most, damping->part * error));
        if (!perp_friction_newton_step(f, at, reg, &memory)) {
            return false;
        }
    }
    return false;
}

bool perp_friction_newton(perp_friction_workspace *f, perp_convex_iterate *at, int iterations)
{
    return run_damped(f, at, &(perp_friction_damping){FRICTION_DAMPING_MOST, FRICTION_DAMPING, iterations, 30, 0.0});
}

bool perp_friction_newton_from(perp_friction_workspace *f, const perp_convex_iterate *from,
                               const perp_friction_damping *dampings, int count)
{
    perp_convex_workspace *c = f->convex;
    bool ended = false, solved = false;
    for (int k = 0; k < count && !ended; k++) {
        perp_convex_copy(c, from, &c->kept);
        solved = run_damped(f, &c->kept, &dampings[k]);
        ended = solved || f->error < dampings[k].enough;
    }
    return solved;
}

bool perp_friction_newton_near(perp_friction_workspace *f)
{
    const perp_friction_damping dampings[] = {{FRICTION_DAMPING_FAR, 1.0, 60, 60, 0.0},
                                              {FRICTION_DAMPING_FAR, 0.3, 60, 60, 0.0},
                                              {FRICTION_DAMPING_FAR, 0.1, 60, 60, 0.0},
                                              {FRICTION_DAMPING_FAR, 0.03, 60, 60, 0.0},
                                              {FRICTION_DAMPING_FAR, 0.01, 60, 60, 0.0}};
    return f->best_residual < NEWTON_NEAR_BEST && perp_friction_newton_from(f, &f->convex->best, dampings, 5);
}
