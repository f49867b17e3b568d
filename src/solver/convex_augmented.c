/* From a good guess of the active rows to the solution, for problems of rows: a penalty, then an augmented Lagrangian.
 *
 *     min over x   1/2 x'H x + g'x + w/2 |(y0 / w - s)_+|^2,   s = A x + b
 *
 * is convex and once differentiable. Newton's matrix is that of the contacts with the weight w on the active rows, and
 * a pass on which these do not change has found the minimum. With y0 = 0 the forces y = (-w s)_+ there are, up to 1 /
 * w, the multipliers of *least norm*: they have the form A v on the rows that carry force, and v pulls at no other. So
 * this gives the polish of the interior point, and the warm start, without a search for these afterwards. Then y0 takes
 * over y, on rows that stay as they are, which brings the point to rounding.
 *
 * The first pass takes its rows from the caller: those that carried force in the last step, or those that the interior
 * point has found. Rows with s < 0 would be a poor guess there: the last step's x says little about this step's gaps. A
 * later step is cut where the derivative along it vanishes. Where the first pass changes many rows the guess was none,
 * and the interior point is cheaper. */
#include "linalg/dense_kernel.h"
#include "solver/convex_core.h"
#include "solver/tolerances.h"

#include <math.h>
#include <string.h>

typedef struct pass_data {
    perp_convex_workspace *c;
    double *y0; /* m */
    double w;   /* `weight` is w on the active rows and 0 on the others, at all times */
    perp_penalty_rows rows;
} pass_data;

/* y = (y0 - w s)_+ on the active rows, after these are chosen anew (`choose`): how many change. */
static int settle_rows(const pass_data *d, bool choose, double *y)
{
    return d->c->kernel->settle(&d->rows, choose, d->c->weight, y);
}

static void factor(const pass_data *d)
{
    perp_convex_workspace *c = d->c;
    perp_convex_make_omega(c, NULL);
    perp_convex_make_diagonal(c, AUGMENTED_RHO, AUGMENTED_RHO);
    perp_convex_factor(c);
}

/* The derivative at x + t step of what is minimised, along the step, and the derivative of that: a + b t is the part of
 * the objective. */
static double slope_at(const pass_data *d, double a, double b, double t, double *curvature)
{
    double sums[2];
    d->c->kernel->slope(&d->rows, t, d->c->ds, sums);
    *curvature = b + d->w * sums[1];
    return a + t * b - sums[0];
}

/* Where the derivative along the step vanishes, to a hundredth of what it was; 1 where it is not yet positive there. It
 * is piecewise linear and rises: Newton between bounds, which ends on the right piece. */
static double search(const pass_data *d, const double *y)
{
    enum { TRIES = 30 };
    perp_convex_workspace *c = d->c;
    perp_convex_h(c, c->step, c->product2);
    const double b = perp_dense_dot(c->n, c->step, c->product2);
    const double a = perp_dense_dot(c->n, c->step, c->rd) + c->kernel->dot(c->m, c->ds, y); /* step . (H x + g) */
    double curvature, low = 0.0, high = 1.0, t = 1.0;
    const double small = AUGMENTED_SLOPE * fabs(slope_at(d, a, b, 0.0, &curvature));
    double slope = slope_at(d, a, b, 1.0, &curvature);
    for (int k = 0; k < TRIES && fabs(slope) > small && (slope > 0.0 || t < 1.0); k++) {
        *(slope > 0.0 ? &high : &low) = t;
        t -= slope / curvature;
        if (!(t > low && t < high)) {
            t = 0.5 * (low + high);
        }
        slope = slope_at(d, a, b, t, &curvature);
    }
    return t;
}

/* One pass from `at`, whose y belongs to x and the active rows: the part of the step that was taken, 0 where a number
 * is not finite. */
static double advance(const pass_data *d, perp_convex_iterate *at, bool cut)
{
    perp_convex_workspace *c = d->c;
    perp_convex_dual_residual(c, at, c->rd);
    perp_convex_equations(c, at->x, c->rc);
    for (int i = 0; i < c->n; i++) {
        c->step[i] = -c->rd[i];
    }
    for (int i = 0; i < c->e; i++) {
        c->step[c->n + i] = -c->rc[i];
    }
    perp_kkt_solve(&c->kkt, c->step);
    c->passes++;
    if (!perp_dense_is_finite(c->n + c->e, c->step)) {
        return 0.0;
    }
    perp_convex_a(c, c->step, c->ds);
    const double t = cut && c->e == 0 ? search(d, at->y) : 1.0;
    perp_dense_subtract(c->n, -t, c->step, at->x);
    perp_dense_subtract(c->e, t, c->step + c->n, at->z);
    perp_dense_subtract(c->m, -t, c->ds, c->s);
    return t;
}

/* The same rows again: y0 takes over the forces, and what is left of the violations shrinks by AUGMENTED_SOFT each
 * time. The least residual on the way. */
static double refine(const pass_data *d, perp_convex_iterate *at)
{
    enum { PASSES = 4 };
    perp_convex_workspace *c = d->c;
    double least = INFINITY;
    for (int k = 0; k < PASSES; k++) {
        memcpy(d->y0, at->y, (size_t)c->m * sizeof(double));
        perp_convex_slacks(c, at->x, c->s);
        settle_rows(d, false, at->y);
        if (advance(d, at, false) == 0.0) {
            break;
        }
        settle_rows(d, false, at->y);
        if (k == 0) { /* one is never enough */
            continue;
        }
        const double before = least;
        perp_convex_judge(c, at);
        least = fmin(least, c->judged);
        if (c->judged > 0.1 * before || c->judged < AUGMENTED_CLEAN) {
            break;
        }
    }
    return least;
}

/* From the minimum of the penalty; true if the judge has said solved. */
static bool finish(const pass_data *d, perp_convex_iterate *at)
{
    perp_convex_workspace *c = d->c;
    const double others = c->best_residual, residual = refine(d, at);
    c->best_is_least = residual < others && residual <= fmin(AUGMENTED_SURE, c->tolerance) && c->e == 0;
    return residual <= c->tolerance;
}

bool perp_convex_augmented(perp_convex_workspace *c, perp_convex_iterate *at, int passes, int change)
{
    double mean = 0.0;
    for (int i = 0; i < c->m; i++) {
        mean += c->gamma[i] / c->m;
    }
    const double w = mean / AUGMENTED_SOFT;
    const pass_data d = {c, c->scaled, w, {c->m, w, w * AUGMENTED_JOIN * c->b_scale, c->scaled, c->s}};
    memset(d.y0, 0, (size_t)c->m * sizeof(double));
    for (int i = 0; i < c->m; i++) {
        c->weight[i] = c->active[i] ? w : 0.0;
    }
    perp_convex_slacks(c, at->x, c->s);
    settle_rows(&d, false, at->y);
    int changes = 1;
    for (int k = 0; k < passes && !perp_convex_cancelled(c); k++) {
        if (changes > 0) {
            factor(&d);
        }
        const double taken = advance(&d, at, k > 0);
        if (taken == 0.0) {
            return false;
        }
        const bool still = changes == 0; /* twice without a change: a step short of 1 is rounding then */
        changes = settle_rows(&d, true, at->y);
        if (changes == 0 && (taken == 1.0 || still)) {
            return finish(&d, at);
        }
        if (k == 0 && changes > change) {
            return false;
        }
    }
    return false;
}
