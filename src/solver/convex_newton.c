/* Proximal semismooth Newton: the polish of the interior point, and the warm start.
 *
 * With u = y - gamma s and V = P'(u), P the projection on K, the equation y = P(y - gamma s) is linearised to
 *
 *     (I - V + delta V) dy = P(u) - y - gamma V A dx
 *
 * delta is the proximal term: it bounds the weights gamma V / (I - V + delta V) that contacts put on the unknowns by
 * gamma / delta, which is what keeps redundant contacts (every box on four corners) from making the matrix singular.
 * The fixed points do not depend on it, and each pass shrinks the error by about delta. For rows V is 0 or 1: an active
 * set. A pass whose set is that of the last one reuses the factors, so it costs little and brings the point to
 * rounding: zeros are exact, active rows are tight.
 */
#include "linalg/dense_kernel.h"
#include "solver/convex_core.h"
#include "solver/tolerances.h"

#include <math.h>
#include <string.h>

/* V of a cone, as weight: weight = gamma (V / (I - V + delta V)) = a u u' + b (I - u u' - v v'), where u = (1, t) /
 * sqrt 2 and v = (1, -t) / sqrt 2. Filled as a matrix from the projected argument, which `slack` keeps. */
static void newton_matrix(const perp_convex_workspace *c, const perp_convex_cone *cone, double *matrix)
{
    const int size = cone->size;
    const double delta = c->soft;
    const double *u = c->slack + cone->start, gamma = c->gamma[cone->start];
    double length = 0.0;
    for (int i = 1; i < size; i++) {
        length += u[i] * u[i];
    }
    length = sqrt(length);
    memset(matrix, 0, (size_t)size * (size_t)size * sizeof *matrix);
    if (u[0] <= -length) {
        return;
    }
    if (u[0] >= length) {
        for (int i = 0; i < size; i++) {
            matrix[i * size + i] = gamma / delta;
        }
        return;
    }
    const double v = (u[0] + length) / (2.0 * length), along = gamma / delta,
                 across = gamma * v / (1.0 - v + delta * v);
    matrix[0] = along / 2.0;
    for (int i = 1; i < size; i++) {
        const double ti = u[i] / length;
        matrix[i * size] = matrix[i] = along / 2.0 * ti;
        for (int j = 1; j < size; j++) {
            const double tij = ti * (u[j] / length);
            matrix[i * size + j] = along / 2.0 * tij + across * ((i == j ? 1.0 : 0.0) - tij);
        }
    }
}

/* out = (I - V + delta V)^-1 v for a cone whose argument is u. */
static void solve_cone(int size, double delta, const double *u, const double *v, double *out)
{
    double length = 0.0, dot = 0.0;
    for (int i = 1; i < size; i++) {
        length += u[i] * u[i];
        dot += u[i] * v[i];
    }
    length = sqrt(length);
    if (u[0] <= -length || u[0] >= length) {
        const double factor = u[0] >= length ? 1.0 / delta : 1.0;
        for (int i = 0; i < size; i++) {
            out[i] = factor * v[i];
        }
        return;
    }
    const double value = (u[0] + length) / (2.0 * length), along_t = dot / length;
    const double plus = (v[0] + along_t) / 2.0 / delta, minus = (v[0] - along_t) / 2.0;
    const double across = 1.0 / (1.0 - value + delta * value);
    for (int i = 1; i < size; i++) {
        const double ti = u[i] / length;
        out[i] = (plus - minus) * ti + across * (v[i] - along_t * ti);
    }
    out[0] = plus + minus;
}

/* slack = y - gamma s, ds = P(slack) - y turned into (I - V + delta V)^-1 of it; returns whether the rows' set is that
 * of the factors. */
static bool linearise(perp_convex_workspace *c, const double *s, const double *y)
{
    const double delta = c->soft;
    bool same = c->cone_count == 0;
    for (int i = 0; i < c->m; i++) {
        c->slack[i] = y[i] - c->gamma[i] * s[i];
    }
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            const bool active = c->guessed ? c->part[i] == 1 : c->slack[i] > 0.0;
            same = same && active == c->active[i];
            c->active[i] = active;
            c->weight[i] = active ? c->gamma[i] / delta : 0.0;
            c->ds[i] = active ? -c->gamma[i] / delta * s[i] : -y[i];
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start, size = c->cones[k].size;
        double *projected = c->ds + start;
        perp_cone_project(size, c->slack + start, projected);
        for (int i = 0; i < size; i++) {
            projected[i] -= y[start + i];
        }
        solve_cone(size, c->soft, c->slack + start, projected, c->ds + start);
    }
    return same;
}

/* dy = ds - weight A dx. */
static void step_multipliers(perp_convex_workspace *c, double *y)
{
    perp_convex_a(c, c->step, c->dy);
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            y[i] = c->active[i] ? y[i] + (c->ds[i] - c->weight[i] * c->dy[i]) : 0.0;
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start, size = c->cones[k].size;
        double *v = c->dy + start;
        newton_matrix(c, &c->cones[k], c->block);
        for (int i = 0; i < size; i++) {
            double sum = c->ds[start + i];
            for (int j = 0; j < size; j++) {
                sum -= c->block[i * size + j] * v[j];
            }
            y[start + i] += sum;
        }
    }
}

/* Slacks and residuals at `at`; returns how far it is from solved, as far as these tell, over the scales. */
static double look(perp_convex_workspace *c, const perp_convex_iterate *at)
{
    double primal = 0.0;
    perp_convex_slacks(c, at->x, c->s);
    perp_convex_dual_residual(c, at, c->rd);
    perp_convex_equations(c, at->x, c->rc);
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            primal = -c->s[i] > primal ? -c->s[i] : primal;
        }
    }
    primal = fmax(primal, perp_dense_largest(c->e, c->rc));
    const double dual = perp_dense_largest(c->n, c->rd);
    return fmax(primal / c->b_scale, dual / c->g_scale);
}

/* One pass from `at`, which was looked at; `same` tells whether the factors could be kept. False where a number is not
 * finite. */
static bool pass(perp_convex_workspace *c, perp_convex_iterate *at, bool fresh, bool *same)
{
    *same = linearise(c, c->s, at->y) && !fresh;
    if (!*same) {
        perp_convex_make_omega(c, newton_matrix);
        perp_convex_make_diagonal(c, c->rho, c->delta);
        perp_convex_factor(c);
    }
    memset(c->step, 0, (size_t)(c->n + c->e) * sizeof *c->step);
    perp_convex_add_at(c, c->ds, c->step);
    for (int i = 0; i < c->n; i++) {
        c->step[i] -= c->rd[i];
    }
    for (int i = 0; i < c->e; i++) {
        c->step[c->n + i] = -c->rc[i];
    }
    perp_kkt_solve(&c->kkt, c->step);
    c->passes++;
    if (!perp_dense_is_finite(c->n + c->e, c->step)) {
        return false;
    }
    for (int i = 0; i < c->n; i++) {
        at->x[i] += c->step[i];
    }
    for (int i = 0; i < c->e; i++) {
        at->z[i] -= c->step[c->n + i];
    }
    step_multipliers(c, at->y);
    return true;
}

/* `at` with its multipliers put into their cones, into `trial`. */
static void clean(perp_convex_workspace *c, const perp_convex_iterate *at)
{
    perp_convex_copy(c, at, &c->trial);
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            c->trial.y[i] = c->trial.y[i] > 0.0 ? c->trial.y[i] : 0.0;
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        double *y = c->trial.y + c->cones[k].start;
        perp_cone_project(c->cones[k].size, y, y);
    }
}

/* The judge is asked where the set has shown itself (a pass with the factors of the one before brings the point to
 * rounding), with cones, whose matrix changes to the end, after each pass, and after the last. */
bool perp_convex_newton(perp_convex_workspace *c, perp_convex_iterate *at, int passes, double give_up)
{
    double before = INFINITY;
    bool solved = false, fresh = true, same = false;
    c->soft = NEWTON_SOFT;
    c->rho = c->delta = PROXIMAL;
    for (int k = 0; k < passes && !perp_convex_cancelled(c); k++) {
        const double far = look(c, at);
        if (k > 0 && !(far <= give_up)) {
            return solved;
        }
        const bool finite = pass(c, at, fresh, &same);
        c->guessed = fresh = false;
        if (!finite) {
            return solved;
        }
        if (!same && c->cone_count == 0 && k + 1 < passes) {
            continue;
        }
        clean(c, at);
        solved = perp_convex_judge(c, &c->trial) || solved;
        if (solved && (c->judged >= 0.1 * before || c->judged < NEWTON_CLEAN)) {
            return true;
        }
        if (c->judged > give_up) {
            return solved;
        }
        fresh = same && c->judged > 0.1 * before;
        if (fresh) { /* the set is right, the proximal terms hold the point up */
            c->soft = fmax(0.1 * c->soft, PROXIMAL_LEAST);
            c->rho = fmax(0.1 * c->rho, PROXIMAL_LEAST);
            c->delta = fmax(0.1 * c->delta, PROXIMAL_LEAST);
        }
        before = c->judged;
    }
    return solved;
}
