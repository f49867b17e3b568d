/* Mehrotra's predictor-corrector with Nesterov-Todd scaling, for rows and second-order cones alike.
 *
 * With dy = q - W^-2 ds eliminated, and ds = A dx + r_p, both directions of an iteration solve
 *
 *     (H + rho + A' W^-2 A) dx - C' dz = -r_d + A'(q - W^-2 r_p),     C dx + delta dz = -r_c
 *
 * with q = -y for the predictor. rho and delta are proximal terms, centred on the iterate: they are not in the
 * right-hand side, so the limit does not depend on them, and H may be zero and C may have dependent rows.
 *
 * Residuals need no products: r_p shrinks by 1 - t with a step t, r_d and r_c too but for t rho dx and t delta dz. They
 * are recomputed before each polish, which also ends the method: as soon as the active set has shown itself, a Newton
 * pass on it jumps to the solution. A polish that fails has cost a few passes and waits until the error is 10 times
 * less.
 *
 * Where nothing is feasible y grows without end, along a proof of it: an iteration without progress looks for that.
 */
#include "solver/convex_core.h"
#include "solver/tolerances.h"

#include "linalg/dense_kernel.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- start ------------------------------------------------------------------------------------------------------ */

/* The minimum with every contact a spring of stiffness gamma, and its forces; then slacks and forces are shifted
 * inside, by as much as they are outside and half their size again, in the units sqrt(gamma) in which they are
 * comparable. */
static void start(perp_convex_workspace *c, bool from_zero)
{
    perp_convex_iterate *at = &c->at;
    perp_convex_start_weights(c);
    perp_convex_make_diagonal(c, c->rho, c->delta);
    perp_convex_factor(c);
    memset(at->x, 0, (size_t)c->n * sizeof(double));
    memset(at->z, 0, (size_t)c->e * sizeof(double));
    perp_convex_slacks(c, at->x, c->s); /* b */
    for (int i = 0; i < c->m; i++) {
        c->dy[i] = -c->gamma[i] * c->s[i];
    }
    memset(c->step, 0, (size_t)(c->n + c->e) * sizeof *c->step);
    perp_convex_add_at(c, c->dy, c->step);
    for (int i = 0; i < c->n; i++) {
        c->step[i] -= c->problem->g[i];
    }
    perp_convex_equations(c, at->x, c->rc);
    for (int i = 0; i < c->e; i++) {
        c->step[c->n + i] = -c->rc[i];
    }
    perp_kkt_solve(&c->kkt, c->step);
    memcpy(at->x, c->step, (size_t)c->n * sizeof(double));
    for (int i = 0; i < c->e; i++) {
        at->z[i] = -c->step[c->n + i];
    }
    perp_convex_slacks(c, at->x, c->s);
    for (int i = 0; i < c->m; i++) {
        at->y[i] = -c->gamma[i] * c->s[i];
    }
    if (from_zero) {
        memset(at->x, 0, (size_t)c->n * sizeof(double));
        perp_convex_slacks(c, at->x, c->s);
    }
    for (int i = 0; i < c->m; i++) {
        c->ds[i] = 1.0 / sqrt(c->gamma[i]); /* units of s */
        c->dy[i] = sqrt(c->gamma[i]);       /* units of y */
    }
    const double s_shift = fmax(1.1 * perp_convex_shift(c, c->s, c->ds), 0.0);
    const double y_shift = fmax(1.1 * perp_convex_shift(c, at->y, c->dy), 0.0);
    perp_convex_add_shift(c, s_shift, c->ds, c->s);
    perp_convex_add_shift(c, y_shift, c->dy, at->y);
    const double dot = perp_dense_dot(c->m, c->s, at->y);
    const double s_sum = perp_convex_unit_sum(c, c->s, c->ds), y_sum = perp_convex_unit_sum(c, at->y, c->dy);
    const double least = fmax(INSIDE_COLD * sqrt(c->b_scale * c->g_scale), DBL_MIN);
    perp_convex_add_shift(c, fmax(0.2 * dot / fmax(y_sum, DBL_MIN), least), c->ds, c->s);
    perp_convex_add_shift(c, fmax(0.2 * dot / fmax(s_sum, DBL_MIN), least), c->dy, at->y);
}

/* The point in `at`, of a similar problem, moved inside: slacks and forces are at least 0.3 of their mean. */
static void start_warm(perp_convex_workspace *c)
{
    perp_convex_iterate *at = &c->at;
    perp_convex_slacks(c, at->x, c->s);
    double s_sum = 0.0, y_sum = 0.0;
    for (int i = 0; i < c->m; i++) {
        c->ds[i] = 1.0 / sqrt(c->gamma[i]); /* units of s */
        c->dy[i] = sqrt(c->gamma[i]);       /* units of y */
        s_sum += fabs(c->s[i]) * c->dy[i];
        y_sum += fabs(at->y[i]) * c->ds[i];
    }
    const double tiny = INSIDE_WARM * sqrt(c->b_scale * c->g_scale);
    perp_convex_raise(c, fmax(0.3 * s_sum / c->m, tiny), c->ds, c->s);
    perp_convex_raise(c, fmax(0.3 * y_sum / c->m, tiny), c->dy, at->y);
}

/* ---- one iteration ---------------------------------------------------------------------------------------------- */

void perp_convex_refresh_residuals(perp_convex_workspace *c)
{
    perp_convex_slacks(c, c->at.x, c->rp);
    for (int i = 0; i < c->m; i++) {
        c->rp[i] -= c->s[i];
    }
    perp_convex_dual_residual(c, &c->at, c->rd);
    perp_convex_equations(c, c->at.x, c->rc);
}

void perp_convex_solve_direction(perp_convex_workspace *c, double *ds, double *dy)
{
    memset(c->step, 0, (size_t)c->n * sizeof *c->step);
    perp_convex_add_at(c, dy, c->step);
    perp_dense_subtract(c->n, 1.0, c->rd, c->step);
    for (int i = 0; i < c->e; i++) {
        c->step[c->n + i] = -c->rc[i];
    }
    perp_kkt_solve(&c->kkt, c->step);
    perp_convex_a(c, c->step, ds);
    perp_convex_follow(c, ds, dy);
}

static double longest_step(const perp_convex_workspace *c, const double *ds, const double *dy)
{
    return fmin(perp_convex_step_length(c, c->s, ds), perp_convex_step_length(c, c->at.y, dy));
}

/* (s + t ds) . (y + t dy) / degree, from s . y / degree. */
static double centre_after(const perp_convex_workspace *c, double centre, double t, const double *ds, const double *dy)
{
    const double *const vectors[4] = {c->s, c->at.y, ds, dy};
    double sums[3];
    c->kernel->mix(c->m, vectors, sums);
    return centre + t * ((sums[0] + sums[1]) + t * sums[2]) / c->degree;
}

static bool advance(perp_convex_workspace *c, double t)
{
    double sum = 0.0;
    for (int i = 0; i < c->n; i++) {
        sum += 0.0 * c->step[i];
        c->rd[i] = (1.0 - t) * c->rd[i] - t * c->rho * c->stiffness[i] * c->step[i];
    }
    perp_dense_subtract(c->n, -t, c->step, c->at.x);
    for (int i = 0; i < c->e; i++) {
        const double dz = -c->step[c->n + i];
        sum += 0.0 * dz;
        c->at.z[i] += t * dz;
        c->rc[i] = (1.0 - t) * c->rc[i] - t * (c->delta / c->stiffness[c->n + i]) * dz;
    }
    c->kernel->advance(c->m, t, (const double *const[2]){c->ds, c->dy}, c->s, c->at.y, c->rp);
    return sum == 0.0;
}

static double error_of(const perp_convex_workspace *c, double centre)
{
    const double primal = fmax(c->kernel->largest(c->m, c->rp), perp_dense_largest(c->e, c->rc)) / c->b_scale;
    return fmax(fmax(primal, perp_dense_largest(c->n, c->rd) / c->g_scale), centre / c->g_scale);
}

/* A residual that shrinks far less than the step promised is held up by the proximal term. */
static void relax(double *term, double taken, double before, double after)
{
    if (taken > 0.8 && after > 0.4 * before) {
        *term = fmax(0.1 * *term, PROXIMAL_LEAST);
    }
}

/* How many slacks change sides since the last call, by two signs: `size` says active where y > gamma s, `trend` where y
 * falls less than s does (Tapia), which needs no scale. Either tells early on some problems and late on others. */
static void watch_set(perp_convex_workspace *c)
{
    const double *s = c->s, *y = c->at.y, *ds = c->ds, *dy = c->dy, *gamma = c->gamma;
    unsigned char *restrict sized = c->sized, *restrict part = c->part;
    int size_changes = 0, trend_changes = 0;
    for (int i = 0; i < c->m; i++) {
        const unsigned char size = y[i] > gamma[i] * s[i], trend = dy[i] * s[i] > ds[i] * y[i];
        size_changes += size != sized[i];
        trend_changes += trend != part[i];
        sized[i] = size;
        part[i] = trend;
    }
    c->size_changes = size_changes;
    c->trend_changes = trend_changes;
}

/* One of the signs stays, and the other nearly: by itself a sign may stay for having seen nothing yet, as the sizes of
 * a pile in its first iterations. */
static bool is_settled(const perp_convex_workspace *c)
{
    enum { MOSTLY = 8, FEW = 16 };
    const bool one = c->trend_changes == 0 || c->size_changes == 0;
    return one && c->trend_changes + c->size_changes <= FEW + c->m / MOSTLY;
}

/* One predictor-corrector step; returns its length, 0 where numbers failed. `near`: the active set is of interest. */
static double iterate(perp_convex_workspace *c, double centre, bool near)
{
    perp_convex_scale(c, c->s, c->at.y);
    perp_convex_make_diagonal(c, c->rho, c->delta);
    perp_convex_factor(c);
    perp_convex_predict(c, c->at.y, c->dy_affine);
    perp_convex_solve_direction(c, c->ds_affine, c->dy_affine);
    const double affine = longest_step(c, c->ds_affine, c->dy_affine);
    const double ratio = centre_after(c, centre, affine, c->ds_affine, c->dy_affine) / centre;
    const double sigma = fmin(fmax(ratio * ratio * ratio, CENTRING_LEAST), 1.0);
    perp_convex_corrector(c, c->s, c->at.y, sigma * centre, c->ds_affine, c->dy_affine, c->dy);
    c->kernel->add(c->m, c->scaled, c->dy);
    perp_convex_solve_direction(c, c->ds, c->dy);
    const double t = longest_step(c, c->ds, c->dy);
    const double taken = fmin(1.0, c->fraction * t);
    const double dual = perp_dense_largest(c->n, c->rd), equations = perp_dense_largest(c->e, c->rc);
    if (near) {
        watch_set(c);
    }
    const bool finite = advance(c, taken);
    relax(&c->rho, taken, dual, perp_dense_largest(c->n, c->rd));
    relax(&c->delta, taken, equations, perp_dense_largest(c->e, c->rc));
    return finite ? taken : 0.0;
}

static bool polish(perp_convex_workspace *c, double error, bool settled)
{
    enum { PASSES = 5, AUGMENTED = 8, FEW = 12 };
    perp_convex_copy(c, &c->at, &c->kept);
    /* s, rd and rc are spoilt by a failed attempt: s is kept, the others are made anew */
    memcpy(c->ds_affine, c->s, (size_t)c->m * sizeof(double));
    if (c->cone_count == 0) {
        for (int i = 0; i < c->m; i++) {
            c->active[i] = c->trend_changes <= c->size_changes ? c->part[i] == 1 : c->sized[i] == 1;
        }
        if (perp_convex_augmented(c, &c->kept, AUGMENTED, c->m / FEW) &&
            c->best_residual <= fmax(ROWS_SURE * c->tolerance, CONVEX_CLEAN)) {
            return true;
        }
        perp_convex_copy(c, &c->at, &c->kept);
    }
    const double rho = c->rho, delta = c->delta;
    c->guessed = c->trend_changes <= c->size_changes;
    if (settled && perp_convex_newton(c, &c->kept, PASSES, fmax(10.0 * error, POLISH_ASTRAY)) &&
        (c->cone_count > 0 || c->best_residual <= fmax(ROWS_SURE * c->tolerance, CONVEX_CLEAN))) {
        return true;
    }
    c->rho = rho;
    c->delta = delta;
    memcpy(c->s, c->ds_affine, (size_t)c->m * sizeof(double));
    perp_convex_refresh_residuals(c);
    return false;
}

perp_outcome perp_convex_ipm(perp_convex_workspace *c, const perp_convex_attempt *attempt)
{
    /* Good enough is not yet good: the next iterations cost little and gain digits. */
    enum { FURTHER = 10, FLICKER = 4 };
    static const double PROGRESS = 0.5;
    double polish_below = IPM_POLISH, before = INFINITY;
    int since_good = 0;
    c->rho = attempt->rho;
    c->delta = attempt->delta;
    c->fraction = attempt->fraction;
    if (attempt->warm && c->m > 0) {
        start_warm(c);
    } else {
        start(c, attempt->from_zero);
    }
    perp_convex_refresh_residuals(c);
    memset(c->part, 2, (size_t)c->m);
    memset(c->sized, 2, (size_t)c->m);
    c->size_changes = c->trend_changes = c->m; /* not watched yet */
    for (int k = 0; k < attempt->iterations; k++) {
        if (perp_convex_cancelled(c)) {
            return PERP_OUTCOME_CANCELLED;
        }
        const double centre = c->m > 0 ? c->kernel->dot(c->m, c->s, c->at.y) / c->degree : 0.0;
        const double error = error_of(c, centre);
        if (!(error <= DBL_MAX)) {
            break;
        }
        const bool settled = k > 0 && is_settled(c);
        const bool nearly = c->cone_count == 0 && error < IPM_NEARLY && c->trend_changes <= FLICKER;
        if (error < polish_below && (settled || nearly || since_good > 0)) {
            if (polish(c, error, settled || since_good > 0)) {
                return PERP_OUTCOME_SOLVED;
            }
            polish_below = (c->cone_count == 0 ? POLISH_AGAIN : 0.1) * error;
        }
        if (error < c->tolerance && !perp_convex_judge(c, &c->at) && c->cone_count == 0) {
            perp_convex_refresh_residuals(c); /* the judge does not find what the recursion says */
        }
        since_good += c->best_residual <= c->tolerance;
        if (since_good > FURTHER || (since_good > 0 && error < IPM_CLEAN)) {
            polish(c, error, true); /* the rows show better now than they did before */
            break;
        }
        if (error > PROGRESS * before && since_good == 0 && perp_convex_note_evidence(c)) {
            break;
        }
        before = error;
        c->iterations++;
        if (iterate(c, centre, error < IPM_WATCH) == 0.0) {
            break;
        }
    }
    return c->best_residual <= c->tolerance ? PERP_OUTCOME_SOLVED : PERP_OUTCOME_ITERATION_LIMIT;
}
