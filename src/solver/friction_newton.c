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

#include <math.h>
#include <string.h>

/* J of a cone, as its values along, across and opposite: alpha (I) inside and outside of L and its polar. */
typedef struct cone_derivative {
    bool mixed;
    double all;    /* not mixed: J = all I */
    double across; /* mixed */
    double t[2];   /* mixed: direction of the argument's tail */
} cone_derivative;

static cone_derivative differentiate(int size, const double *a)
{
    cone_derivative d = {false, 0.0, 0.0, {0.0, 0.0}};
    double length = 0.0;
    for (int i = 1; i < size; i++) {
        length += a[i] * a[i];
    }
    length = sqrt(length);
    if (a[0] <= -length || a[0] >= length) {
        d.all = a[0] >= length ? 1.0 : 0.0;
        return d;
    }
    d.mixed = true;
    d.across = (a[0] + length) / (2.0 * length);
    for (int i = 1; i < size; i++) {
        d.t[i - 1] = a[i] / length;
    }
    return d;
}

/* The matrix with J's eigenvectors and the values f(1), f(0), f(across). */
static void compose(int size, const cone_derivative *d, double one, double zero, double across, double *matrix)
{
    if (!d->mixed) {
        for (int i = 0; i < size * size; i++) {
            matrix[i] = i % (size + 1) == 0 ? (d->all > 0.5 ? one : zero) : 0.0;
        }
        return;
    }
    const double even = (one + zero) / 2.0, odd = (one - zero) / 2.0;
    matrix[0] = even;
    for (int i = 1; i < size; i++) {
        matrix[i] = matrix[i * size] = odd * d->t[i - 1];
        for (int j = 1; j < size; j++) {
            const double tij = d->t[i - 1] * d->t[j - 1];
            matrix[i * size + j] = even * tij + across * ((i == j ? 1.0 : 0.0) - tij);
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

/* omega = (I - J + reg J)^-1 J E by contact, fixed = -(I - J + reg J)^-1 F. */
static void linearise(perp_friction_workspace *f, double reg)
{
    perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    double *omega = c->omega, inverse[9];
    for (int i = 0; i < c->m; i++) { /* rows; cones are overwritten */
        const bool on = f->argument[i] > 0.0;
        c->weight[i] = on ? 1.0 / reg : 0.0;
        f->fixed[i] = on ? -f->natural[i] / reg : -f->natural[i];
    }
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->row_start[i], rows = p->row_start[i + 1] - start;
        if (rows == 1) {
            omega[0] = c->weight[start];
        } else {
            const cone_derivative d = differentiate(rows, f->argument + start);
            const double left = 1.0 - d.across + reg * d.across;
            compose(rows, &d, 1.0 / reg, 0.0, d.across / left, omega);
            compose(rows, &d, 1.0 / reg, 1.0, 1.0 / left, inverse);
            multiply(rows, inverse, f->natural + start, -1.0, f->fixed + start);
        }
        omega += (ptrdiff_t)rows * rows;
    }
    perp_friction_shift_omega(f);
}

/* B = I - J + reg J and G = J E. */
static void linearise_dense(perp_friction_workspace *f, double reg)
{
    const perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    double *b = f->block_b, *g = f->block_g;
    for (int i = 0; i < p->contact_count + c->bounds; i++) {
        const bool bound = i >= p->contact_count;
        const int start = bound ? c->contact_slacks + (i - p->contact_count) : p->row_start[i];
        const int rows = bound ? 1 : p->row_start[i + 1] - start;
        if (rows == 1) {
            *g++ = f->argument[start] > 0.0 ? 1.0 : 0.0;
            *b++ = f->argument[start] > 0.0 ? reg : 1.0;
            continue;
        }
        const cone_derivative d = differentiate(rows, f->argument + start);
        compose(rows, &d, 1.0, 0.0, d.across, g);
        compose(rows, &d, reg, 1.0, 1.0 - d.across + reg * d.across, b);
        for (int r = 0; r < rows; r++, g += rows, b += rows) {
            for (int k = 1; k < rows; k++) {
                g[k] += g[0] * f->t[start + k];
            }
        }
    }
}

/* dr into convex->dy, dv into convex->step. */
static bool find_step(perp_friction_workspace *f, double reg)
{
    perp_convex_workspace *c = f->convex;
    if (f->dense) {
        linearise_dense(f, reg);
        for (int i = 0; i < c->m; i++) {
            c->dy[i] = -f->natural[i];
        }
        return perp_friction_factor_dense(f) && perp_friction_step_dense(f, c->dy);
    }
    f->rho = f->delta = reg;
    linearise(f, reg);
    perp_friction_factor(f);
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
    for (int i = 0; !f->dense && i < c->n; i++) {
        const double rd = c->rd[i] + t * f->rd_change[i];
        sum += rd * rd;
    }
    for (int i = 0; !f->dense && i < c->e; i++) {
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
    for (int k = 0; k < HALVINGS && !(*reached <= (1.0 - 2e-4 * t) * reference); k++) {
        t *= 0.5;
        *reached = merit(f, at, t);
    }
    return t;
}

static void advance(perp_friction_workspace *f, perp_convex_iterate *at, double t)
{
    perp_convex_workspace *c = f->convex;
    perp_dense_subtract(c->m, -t, c->dy, at->y);
    if (!f->dense) {
        perp_dense_subtract(c->n, -t, c->step, at->x);
        perp_dense_subtract(c->e, t, c->step + c->n, at->z);
    }
}

bool perp_friction_newton(perp_friction_workspace *f, perp_convex_iterate *at, int iterations)
{
    enum { REMEMBERED = 8, PATIENCE = 30 };
    static const double JUDGED = 1e-4; /* the scaled error that the judge is asked from on */
    double last[REMEMBERED], best = INFINITY;
    int since = 0;
    for (int k = 0; k <= iterations; k++) {
        const double error = perp_friction_look(f, at);
        if (!(error < INFINITY)) {
            return false;
        }
        if ((error < JUDGED || k == iterations) && perp_friction_judge(f, at)) {
            return true;
        }
        since = error < 0.5 * best ? 0 : since + 1;
        best = error < best ? error : best;
        if (k == iterations || since > PATIENCE || perp_friction_must_stop(f)) {
            return false;
        }
        f->iterations++;
        double reference = 0.0, reached = 0.0;
        memset(f->convex->dy, 0, (size_t)f->convex->m * sizeof(double));
        memset(f->du, 0, (size_t)f->convex->m * sizeof(double));
        last[k % REMEMBERED] = merit(f, at, 0.0);
        for (int i = 0; i <= k && i < REMEMBERED; i++) {
            reference = fmax(reference, last[i]);
        }
        if (!find_step(f, fmax(1e-11, fmin(1e-4, 1e-2 * error)))) {
            return false;
        }
        advance(f, at, search(f, at, reference, &reached));
    }
    return false;
}
