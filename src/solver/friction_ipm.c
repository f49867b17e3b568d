/* Interior point for Coulomb friction, with the derivative of the shift |u_T| inside Newton's matrix.
 *
 * r and z stay inside L, z - u - |u_T| e shrinks with r . z. With Nesterov and Todd's scaling, dr = q - W^-2 dz and dz
 * = E du + r_p, r_p = u + |u_T| e - z:
 *
 *     dr = (q - W^-2 r_p) - W^-2 E du
 *
 * E is wrong beyond the kink at u_T = 0, which shows in short steps: contacts near their kink are then left without it
 * for the next iterations, and their shift lags. |u_T| being convex, its linearisation is too small: what is missing
 * after a step is added to z, which moves it further inside.
 *
 * The method ends by semismooth Newton from a copy of the point, tried early and again whenever the error has fallen by
 * another factor of 30. */
#include "linalg/dense_kernel.h"
#include "solver/friction_core.h"
#include "solver/tolerances.h"

#include <math.h>
#include <string.h>

static void start(perp_friction_workspace *f, const perp_friction_attempt *attempt)
{
    perp_convex_workspace *c = f->convex;
    perp_friction_clear(f, &c->at);
    perp_friction_fill_heads(c, attempt->start, c->at.y);
    perp_friction_fill_heads(c, attempt->start, c->s);
}

/* The best point so far, moved inside. */
static void start_near(perp_friction_workspace *f, double inside)
{
    perp_convex_workspace *c = f->convex;
    perp_convex_copy(c, &c->best, &c->at);
    perp_friction_look(f, &c->at);
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            c->at.y[i] = fmax(c->at.y[i], 0.0) + inside;
            c->s[i] = fmax(f->z[i], 0.0) + inside;
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start, size = c->cones[k].size;
        perp_cone_project(size, c->at.y + start, c->at.y + start);
        perp_cone_project(size, f->z + start, c->s + start);
        c->at.y[start] += inside;
        c->s[start] += inside;
    }
}

/* B = E^-1 W^2, G = I of the dense form. */
static void weigh_dense(perp_friction_workspace *f)
{
    const perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    double *b = f->block_b, *g = f->block_g;
    int cone = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->row_start[i], rows = p->row_start[i + 1] - start;
        for (int k = 0; k < rows * rows; k++) {
            g[k] = k % (rows + 1) == 0 ? 1.0 : 0.0;
        }
        if (rows == 1) {
            b[0] = 1.0 / c->weight[start];
        } else {
            const double *w = c->weight + start, factor = 1.0 / c->cone_scale[cone++]; /* w is J w */
            for (int r = 0; r < rows; r++) {
                for (int k = 0; k < rows; k++) {
                    const double sign = (r == 0) == (k == 0) ? 1.0 : -1.0;
                    const double unit = r != k ? 0.0 : r == 0 ? 1.0 : -1.0;
                    b[r * rows + k] = factor * (2.0 * sign * w[r] * w[k] - unit);
                }
            }
            for (int k = 0; k < rows; k++) {
                for (int r = 1; r < rows; r++) {
                    b[k] -= f->t[start + r] * b[r * rows + k];
                }
            }
        }
        b += (ptrdiff_t)rows * rows;
        g += (ptrdiff_t)rows * rows;
    }
}

static bool factor(perp_friction_workspace *f)
{
    perp_convex_workspace *c = f->convex;
    perp_convex_scale(c, c->s, c->at.y);
    memset(c->scaled, 0, (size_t)c->m * sizeof *c->scaled);
    perp_convex_subtract_scaled(c, c->rp, c->scaled); /* -W^-2 r_p */
    if (f->local) {
        weigh_dense(f);
        return perp_friction_factor_dense(f);
    }
    perp_friction_shift_omega(f);
    perp_friction_factor(f);
    return true;
}

/* b = E^-1 (W^2 q - r_p) of the dense form: B q - E^-1 r_p. */
static void fill_dense(const perp_friction_workspace *f, const double *q, double *out)
{
    const perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    const double *b = f->block_b;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->row_start[i], rows = p->row_start[i + 1] - start;
        for (int r = 0; r < rows; r++, b += rows) {
            double sum = -c->rp[start + r];
            for (int k = 0; k < rows; k++) {
                sum += b[k] * q[start + k];
                sum += r == 0 ? f->t[start + k] * c->rp[start + k] : 0.0;
            }
            out[start + r] = sum;
        }
    }
}

/* The direction for q: dr, and dz = E du + r_p. */
static bool direction(perp_friction_workspace *f, const double *q, double *dz, double *dr)
{
    perp_convex_workspace *c = f->convex;
    bool finite = true;
    if (f->local) {
        fill_dense(f, q, dr);
        finite = perp_friction_step_dense(f, dr);
    } else {
        for (int i = 0; i < c->m; i++) {
            f->fixed[i] = q[i] + c->scaled[i];
        }
        finite = perp_friction_step(f, f->fixed, dr);
    }
    for (int i = 0; i < c->m; i++) {
        dz[i] = f->du[i] + c->rp[i];
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start;
        for (int i = 1; i < c->cones[k].size; i++) {
            dz[start] += f->t[start + i] * f->du[start + i];
        }
    }
    return finite;
}

static double longest_step(const perp_friction_workspace *f, const double *dz, const double *dr)
{
    const perp_convex_workspace *c = f->convex;
    return fmin(perp_convex_step_length(c, c->s, dz), perp_convex_step_length(c, c->at.y, dr));
}

/* A step of length t; what the linearisation of |u_T| lacks goes to z. */
static void advance(perp_friction_workspace *f, double t)
{
    perp_convex_workspace *c = f->convex;
    perp_dense_subtract(c->m, -t, c->ds, c->s);
    perp_dense_subtract(c->m, -t, c->dy, c->at.y);
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start;
        double before = 0.0, after = 0.0, along = 0.0;
        for (int i = start + 1; i < start + c->cones[k].size; i++) {
            const double u = f->u[i] + t * f->du[i];
            before += f->u[i] * f->u[i];
            after += u * u;
            along += f->t[i] * f->du[i];
        }
        const double gap = sqrt(after) - sqrt(before) - t * along;
        c->s[start] += gap > 0.0 ? gap : 0.0;
    }
    if (!f->local) {
        perp_dense_subtract(c->n, -t, c->step, c->at.x);
        perp_dense_subtract(c->e, t, c->step + c->n, c->at.z);
    }
}

/* One predictor-corrector step; returns its length, 0 where numbers failed. */
static double iterate(perp_friction_workspace *f, const perp_friction_attempt *attempt, double centre)
{
    static const double SHORT = 0.2;
    perp_convex_workspace *c = f->convex;
    const size_t bytes = (size_t)c->m * sizeof(double);
    if (!factor(f)) {
        return 0.0;
    }
    for (int i = 0; i < c->m; i++) {
        c->slack[i] = -c->at.y[i];
    }
    if (!direction(f, c->slack, c->ds_affine, c->dy_affine)) {
        return 0.0;
    }
    const double affine = longest_step(f, c->ds_affine, c->dy_affine);
    double after = 0.0;
    for (int i = 0; i < c->m; i++) {
        after += (c->s[i] + affine * c->ds_affine[i]) * (c->at.y[i] + affine * c->dy_affine[i]);
    }
    const double ratio = after / c->degree / centre, left = 1.0 - affine;
    double sigma = fmax(fmax(ratio * ratio * ratio, fmin(0.9, left * left * left)), FRICTION_CENTRING_LEAST);
    const double infeasible = f->local ? perp_dense_largest(c->m, c->rp)
                                       : fmax(perp_dense_largest(c->m, c->rp), perp_dense_largest(c->n, c->rd));
    sigma = fmin(centre < 0.01 * infeasible ? fmax(sigma, 0.5) : sigma, 1.0);
    perp_convex_corrector(c, c->s, c->at.y, sigma * centre, c->ds_affine, c->dy_affine, c->slack);
    bool finite = direction(f, c->slack, c->ds, c->dy);
    double length = finite ? longest_step(f, c->ds, c->dy) : 0.0;
    if (length <= SHORT) { /* again without the second-order term */
        memset(c->ds_affine, 0, bytes);
        memset(c->dy_affine, 0, bytes);
        perp_convex_corrector(c, c->s, c->at.y, fmax(sigma, 0.9) * centre, c->ds_affine, c->dy_affine, c->slack);
        finite = direction(f, c->slack, c->ds, c->dy);
        length = finite ? longest_step(f, c->ds, c->dy) : 0.0;
    }
    const double taken = fmin(1.0, fmin(fmax(1.0 - centre, attempt->least), attempt->most) * length);
    if (!(taken > 0.0)) {
        return 0.0;
    }
    advance(f, taken);
    return taken;
}

/* Cones whose lag lasts have no t. */
static void hold_shifts(perp_friction_workspace *f)
{
    const perp_convex_workspace *c = f->convex;
    for (int k = 0; k < c->cone_count; k++) {
        if (f->lag[k] > 0) {
            memset(f->t + c->cones[k].start, 0, (size_t)c->cones[k].size * sizeof *f->t);
        }
        f->lag[k] -= f->lag[k] > 0;
    }
}

/* After a short step: contacts whose slip is small beside its change are near the kink; where none is, all are taken.
 */
static void find_kinks(perp_friction_workspace *f, int lag)
{
    static const double SMALL = 0.3;
    const perp_convex_workspace *c = f->convex;
    int found = 0;
    for (int k = 0; k < c->cone_count; k++) {
        double change = 0.0, slip = 0.0;
        for (int i = c->cones[k].start + 1; i < c->cones[k].start + c->cones[k].size; i++) {
            change += f->du[i] * f->du[i];
            slip += f->u[i] * f->u[i];
        }
        if (slip < SMALL * SMALL * change && f->lag[k] == 0) {
            f->lag[k] = lag;
            found++;
        }
    }
    for (int k = 0; found == 0 && k < c->cone_count; k++) {
        f->lag[k] = f->lag[k] > 0 ? f->lag[k] : lag;
    }
}

/* Semismooth Newton from a copy. */
static bool polish(perp_friction_workspace *f)
{
    enum { ITERATIONS = 12 };
    perp_convex_workspace *c = f->convex;
    perp_convex_copy(c, &c->at, &c->kept);
    return perp_friction_newton(f, &c->kept, ITERATIONS);
}

bool perp_friction_ipm(perp_friction_workspace *f, const perp_friction_attempt *attempt)
{
    enum { PATIENCE = 30, STUCK = 10, LAST = 60 };
    static const double SHORT = 0.1;
    perp_convex_workspace *c = f->convex;
    double polish_below = 0.03, best = INFINITY;
    int since = 0, stuck = 0;
    memset(f->lag, 0, (size_t)f->scaled.contact_count * sizeof *f->lag);
    if (attempt->near > 0.0) {
        start_near(f, attempt->near);
    } else {
        start(f, attempt);
    }
    if (c->m == 0) {
        return perp_friction_newton(f, &c->at, LAST); /* linear equations */
    }
    for (int k = 0; k < attempt->iterations && !perp_friction_must_stop(f); k++) {
        double error = perp_friction_look(f, &c->at);
        if (!(error < INFINITY)) {
            break;
        }
        if (error < IPM_JUDGED && perp_friction_judge(f, &c->at)) {
            return true;
        }
        since = error < 0.9 * best ? 0 : since + 1;
        if (error < best) {
            best = error;
            perp_convex_copy(c, &c->at, &c->saved);
        }
        if (error < polish_below) {
            polish_below = 0.03 * error;
            if (polish(f)) {
                return true;
            }
            perp_friction_look(f, &c->at);
        }
        if (since > PATIENCE) {
            break;
        }
        perp_dense_difference(c->m, f->z, c->s, c->rp);
        hold_shifts(f);
        f->iterations++;
        f->rho = f->delta = FRICTION_PROXIMAL;
        const double centre = perp_dense_dot(c->m, c->s, c->at.y) / c->degree;
        const double taken = iterate(f, attempt, centre);
        if (taken == 0.0) {
            break;
        }
        stuck = taken < 0.02 ? stuck + 1 : 0;
        if (stuck > STUCK) {
            break;
        }
        if (taken < SHORT) {
            find_kinks(f, attempt->lag);
        }
    }
    if (!(best < INFINITY) || perp_friction_must_stop(f)) {
        return false;
    }
    perp_convex_copy(c, &c->saved, &c->at);
    return perp_friction_newton(f, &c->at, LAST);
}
