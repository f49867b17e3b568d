#include "convex_case_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    for (convex_place p = {.i = -1}; convex_next_contact(&c->qp, &p);) {
        long double s[64] = {0}, terms = 0.0L;
        for (int k = 0; k < p.slacks; k++) {
            s[k] = convex_slack_row(&p, x, k, &terms);
            if (with_offset) {
                s[k] += c->qp.offset[p.first_slack + k];
                terms = fmaxl(terms, fabsl((long double)c->qp.offset[p.first_slack + k]));
            }
        }
        const bool quadratic = convex_is_quadratic(&c->qp, p.i);
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
        if (depth_of(c->y + first, slacks, convex_is_quadratic(&c->qp, i)) < -ROUNDING * largest) {
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
    long double *sum = convex_long_zeros(n), *terms = convex_long_zeros(n), largest = 0.0L;
    convex_add_terms(&c->qp, c->y, c->y_equality, sum, terms);
    for (int b = 0; b < c->qp.block_count; b++) {
        for (int i = c->qp.block_start[b]; i < c->qp.block_start[b + 1]; i++) {
            sum[i] += (long double)c->y_lower[i] - c->y_upper[i];
            terms[i] = fmaxl(terms[i], fmaxl(c->y_lower[i], c->y_upper[i]));
            if (!homogeneous) {
                sum[i] -= c->qp.g[i] + convex_hessian_row(c, c->x_dual, b, i - c->qp.block_start[b], &terms[i]);
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
    for (convex_place p = {.i = -1}; convex_next_contact(&c->qp, &p);) {
        long double sum = 0.0L, unused = 0.0L;
        for (int k = 0; k < p.slacks; k++) {
            const long double s = convex_slack_row(&p, c->x, k, &unused) + c->qp.offset[p.first_slack + k];
            const long double product = s * c->y[p.first_slack + k];
            sum = convex_is_quadratic(&c->qp, p.i) ? sum + product : fmaxl(sum, fabsl(product));
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
        if (convex_is_quadratic(&c->qp, i)) {
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
            if (fabsl(convex_hessian_row(c, c->direction, b, i - c->qp.block_start[b], &terms)) > ROUNDING * terms) {
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
