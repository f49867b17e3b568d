/* Lemke's method from any complementary basis (Lemke 1965; Cottle, Pang, Stone, section 4.4).
 *
 * The artificial variable z_n with its covering vector d makes the start feasible; then the complement of what left
 * enters, until z_n leaves (solved) or nothing blocks (a ray). From a basis other than the cold one d is chosen
 * relative to it, so that raising z_n raises every basic variable alike: a start that is nearly feasible is left after
 * few pivots.
 *
 * Ties are the rule in contact problems: all rows of the friction cones have q = 0. They are broken lexicographically,
 * as if the start had been made larger by (e, e^2, ..., e^n) with e infinitely small, which excludes cycling. The
 * columns of that perturbation are computed one at a time and only for what is still tied. Among tied candidates those
 * with a much smaller pivot are not considered: a tie is decided by values that are rounded, and a pivot of rounding
 * size would spoil the basis, which is worse than a risk of cycling. Cycling is found by the hash of the basis.
 */
#include "solver/lcp_core.h"
#include "solver/tolerances.h"

#include "linalg/dense_kernel.h"

#include <float.h>
#include <string.h>

static double *column(perp_lcp_workspace *c, int j)
{
    return c->columns + (ptrdiff_t)j * c->stride;
}

typedef struct candidates {
    int count;
    bool own_range;  /* the entering variable reaches its other bound first */
    bool artificial; /* z_n is among them */
    double largest_rate;
} candidates;

/* ---- start --------------------------------------------------------------------------------------------------------
 */

/* How far below 0 (or above its range) a basic variable is; `above` tells which. */
static double violation(double value, double range, bool *above)
{
    *above = value - range > -value;
    return *above ? value - range : -value;
}

/* d = B c_hat, where c_hat is the rate of the basic variables with z_n: +1, or -1 for one above its range, 0 for one
 * that cannot be violated or is boxed and inside. From the cold basis that is the covering vector itself. */
static void choose_covering(perp_lcp_workspace *c, const double *given)
{
    const int n = c->n;
    double *d = column(c, n), *rate = c->rate_z;
    for (int i = 0; i < n; i++) {
        d[i] = c->row_at[i] >= 0 || c->is_free[i] ? 0.0 : (given ? given[i] * c->row_scale[i] : 1.0);
    }
    for (int p = 0; p < c->m; p++) {
        const int j = c->cols[p];
        bool above = false;
        const bool outside = violation(c->z[j], c->range[j], &above) > 0.0;
        rate[p] = c->is_free[j] || (!outside && c->range[j] < INFINITY) ? 0.0 : (above ? -1.0 : 1.0);
        for (int i = 0; i < n; i++) {
            d[i] -= column(c, j)[i] * rate[p];
        }
    }
}

typedef struct variable {
    int index;
    bool is_z;
} variable;

/* The basic variable that needs the largest z_n, of equal ones the last, which is what the perturbation says at the
 * start; index -1 if all are within bounds. */
static variable worst_at_start(perp_lcp_workspace *c, double *needed)
{
    variable worst = {-1, false};
    double most = c->care.tie;
    for (int i = 0; i < c->n; i++) {
        const int at = c->col_at[i];
        bool above = false;
        if (c->is_free[i]) {
            continue;
        }
        if (at >= 0 && c->rate_z[at] != 0.0) {
            const double need = violation(c->z[i], c->range[i], &above) / fabs(c->rate_z[at]);
            if (need > most || (worst.index >= 0 && need >= most - c->care.tie)) {
                worst = (variable){i, true};
                most = fmax(most, need);
            }
        }
        if (c->row_at[i] < 0 && c->rate_w[i] != 0.0) {
            const double need = -c->w[i] / c->rate_w[i];
            if (need > most || (worst.index >= 0 && need >= most - c->care.tie)) {
                worst = (variable){i, false};
                most = fmax(most, need);
            }
        }
    }
    *needed = most;
    return worst;
}

/* ---- a step -------------------------------------------------------------------------------------------------------
 */

static double value_of(const perp_lcp_workspace *c, variable v)
{
    return v.is_z ? c->z[v.index] : c->w[v.index];
}

static double rate_of(const perp_lcp_workspace *c, variable v)
{
    return v.is_z ? c->rate_z[c->col_at[v.index]] : c->rate_w[v.index];
}

static void move(perp_lcp_workspace *c, double theta)
{
    for (int p = 0; p < c->m; p++) {
        c->z[c->cols[p]] += theta * c->rate_z[p];
    }
    for (int i = 0; i < c->n; i++) {
        c->w[i] += theta * c->rate_w[i]; /* the rates of nonbasic ones are 0 */
    }
}

/* A number for the variable being nonbasic; the exclusive or of all is the hash of the basis. */
static uint64_t key_of(variable v)
{
    perp_random random = {(uint64_t)(2 * (int64_t)v.index + (v.is_z ? 1 : 0))};
    return perp_random_bits(&random);
}

static void exchange(perp_lcp_workspace *c, variable enter, double value, variable leave)
{
    c->hash ^= key_of(enter) ^ key_of(leave);
    perp_lcp_basis_exchange(c, enter.index, enter.is_z, leave.index, leave.is_z);
    *(leave.is_z ? &c->z[leave.index] : &c->w[leave.index]) = 0.0;
    *(enter.is_z ? &c->z[enter.index] : &c->w[enter.index]) = value;
    c->pivot_count++;
}

/* Without the calls and the care for NaN of fmax and fmin: rates are looked through for NaN once. */
static double larger(double a, double b)
{
    return b > a ? b : a;
}

static double smaller(double a, double b)
{
    return b < a ? b : a;
}

static double largest_rate(const perp_lcp_workspace *c)
{
    double largest = 1.0; /* that of the entering variable */
    for (int p = 0; p < c->m; p++) {
        largest = larger(largest, fabs(c->rate_z[p]));
    }
    for (int i = 0; i < c->n; i++) {
        largest = larger(largest, fabs(c->rate_w[i]));
    }
    return largest;
}

/* The room that a variable with this rate has; infinite if it does not block. */
static double room(double value, double rate, double range, double least)
{
    if (rate < -least) {
        return value > 0.0 ? value : 0.0;
    }
    if (rate > least && range < INFINITY) {
        return value < range ? range - value : 0.0;
    }
    return INFINITY;
}

/* The longest step that leaves every bounded variable at most `slack` beyond its bound. */
static double shortest_step(const perp_lcp_workspace *c, double least, double slack)
{
    double shortest = INFINITY;
    for (int p = 0; p < c->m; p++) {
        const int j = c->cols[p];
        if (!c->is_free[j]) {
            const double r = room(c->z[j], c->rate_z[p], c->range[j], least);
            shortest = r < INFINITY ? smaller(shortest, (r + slack) / fabs(c->rate_z[p])) : shortest;
        }
    }
    for (int i = 0; i < c->n; i++) {
        if (c->rate_w[i] < -least && !c->is_free[i]) {
            shortest = smaller(shortest, ((c->w[i] > 0.0 ? c->w[i] : 0.0) + slack) / -c->rate_w[i]);
        }
    }
    return shortest;
}

static void keep(perp_lcp_workspace *c, candidates *found, int tie, double rate)
{
    c->ties[found->count] = tie;
    c->tie_rate[found->count++] = rate;
    found->largest_rate = larger(found->largest_rate, fabs(rate));
}

/* All that block within a step that would let the tightest one go `tie` beyond its bound. */
static candidates find_candidates(perp_lcp_workspace *c, variable enter, double least)
{
    const double own = enter.is_z ? c->range[enter.index] : INFINITY;
    const double limit = smaller(shortest_step(c, least, c->care.tie), own + c->care.tie);
    candidates found = {0, false, false, 0.0};
    for (int p = 0; p < c->m; p++) {
        const int j = c->cols[p];
        const double r = c->is_free[j] ? INFINITY : room(c->z[j], c->rate_z[p], c->range[j], least);
        if (r < INFINITY && r / fabs(c->rate_z[p]) <= limit) {
            found.artificial = found.artificial || j == c->n;
            keep(c, &found, j, c->rate_z[p]);
        }
    }
    for (int i = 0; i < c->n; i++) {
        if (c->rate_w[i] < -least && !c->is_free[i] && c->w[i] / -c->rate_w[i] <= limit) {
            keep(c, &found, ~i, c->rate_w[i]);
        }
    }
    found.own_range = own < INFINITY && own <= limit;
    return found;
}

static int drop_small_pivots(perp_lcp_workspace *c, const candidates *found)
{
    int left = 0;
    for (int t = 0; t < found->count; t++) {
        if (fabs(c->tie_rate[t]) >= PIVOT_OF_TIES * found->largest_rate) {
            c->ties[left] = c->ties[t];
            c->tie_rate[left++] = c->tie_rate[t];
        }
    }
    return left;
}

/* The one of the tied whose perturbed ratio is lexicographically least. */
static int break_tie(perp_lcp_workspace *c, int count)
{
    for (int j = 0; j < c->n && count > 1; j++) {
        if (c->is_free[j]) {
            continue;
        }
        perp_lcp_basis_perturbation(c, j, count, c->ties, c->tie_value);
        double least = INFINITY, size = 0.0;
        for (int t = 0; t < count; t++) {
            c->tie_value[t] /= -c->tie_rate[t];
            least = smaller(least, c->tie_value[t]);
            size = larger(size, fabs(c->tie_value[t]));
        }
        int left = 0;
        for (int t = 0; t < count; t++) {
            if (c->tie_value[t] <= least + TIE_OF_PERTURBATION * size) {
                c->ties[left] = c->ties[t];
                c->tie_rate[left++] = c->tie_rate[t];
            }
        }
        count = left;
    }
    return c->ties[0];
}

static bool renew(perp_lcp_workspace *c)
{
    if (!perp_lcp_basis_refresh(c)) {
        return false;
    }
    perp_lcp_basis_values(c);
    return true;
}

/* The direction of what enters and what blocks it, from a fresh basis wherever the present one is in doubt. */
static perp_pivot_end look(perp_lcp_workspace *c, variable enter, candidates *found)
{
    for (;;) {
        const bool due = c->since_refresh >= c->care.refresh_every;
        const double drift = due ? INFINITY : perp_lcp_basis_direction(c, enter.index, enter.is_z);
        if (!(drift <= c->care.drift) && c->since_refresh > 0) {
            if (!renew(c)) {
                return PERP_PIVOT_SINGULAR;
            }
            continue;
        }
        const double largest = largest_rate(c);
        if (!perp_dense_is_finite(c->m, c->rate_z) || !perp_dense_is_finite(c->n, c->rate_w)) {
            return PERP_PIVOT_SINGULAR;
        }
        *found = find_candidates(c, enter, PIVOT_LEAST * largest);
        const bool firm = found->count > 0 && found->largest_rate >= PIVOT_SMALL * largest;
        if (firm || found->own_range || c->since_refresh == 0) {
            break;
        }
        if (!renew(c)) {
            return PERP_PIVOT_SINGULAR;
        }
    }
    if (found->count == 0 && !found->own_range) {
        *found = find_candidates(c, enter, PIVOT_TINY * largest_rate(c));
    }
    return found->count > 0 || found->own_range ? PERP_PIVOT_COMPLEMENTARY : PERP_PIVOT_RAY;
}

/* One pivot: `enter` comes in, and becomes the complement of what left; `done` when z_n did. */
static perp_pivot_end pivot(perp_lcp_workspace *c, variable *enter, bool *done)
{
    candidates found;
    const perp_pivot_end end = look(c, *enter, &found);
    if (end != PERP_PIVOT_COMPLEMENTARY) {
        c->ray_index = enter->index;
        c->ray_is_z = enter->is_z;
        c->has_ray = end == PERP_PIVOT_RAY;
        return end;
    }
    if (found.own_range && !found.artificial) {
        move(c, c->range[enter->index]);
        perp_lcp_core_flip(c, enter->index);
        c->hash ^= key_of((variable){c->n + 1 + enter->index, c->sign[enter->index] > 0.0});
        enter->is_z = false;
        c->pivot_count++;
        return PERP_PIVOT_COMPLEMENTARY;
    }
    int choice = c->n;
    if (!found.artificial) {
        choice = break_tie(c, drop_small_pivots(c, &found));
    }
    const variable leave = {choice >= 0 ? choice : ~choice, choice >= 0};
    const double rate = rate_of(c, leave), range = leave.is_z ? c->range[leave.index] : INFINITY;
    const double theta = room(value_of(c, leave), rate, range, 0.0) / fabs(rate);
    move(c, theta);
    if (leave.is_z && rate > 0.0) {
        perp_lcp_core_flip(c, leave.index);
        c->hash ^= key_of((variable){c->n + 1 + leave.index, c->sign[leave.index] > 0.0});
    }
    exchange(c, *enter, theta, leave);
    *done = leave.is_z && leave.index == c->n;
    enter->index = leave.index;
    enter->is_z = !leave.is_z;
    return PERP_PIVOT_COMPLEMENTARY;
}

/* Brent's cycle detection on the hash of the basis, which costs a comparison per pivot: the basis is kept at pivots 1,
 * 2, 4, 8, ..., and in a cycle the kept one comes back. */
typedef struct cycle_watch {
    uint64_t kept;
    int next, since;
} cycle_watch;

static bool comes_back(cycle_watch *watch, uint64_t hash)
{
    if (watch->since > 0 && watch->kept == hash) {
        return true;
    }
    if (watch->since == watch->next) {
        watch->kept = hash;
        watch->next *= 2;
        watch->since = 0;
    }
    watch->since++;
    return false;
}

/* The artificial variable enters at the value that mends all; `enter` is what follows it, with index -1 if the start
 * needs none. */
static perp_pivot_end begin(perp_lcp_workspace *c, const double *covering, variable *enter)
{
    for (int p = 0; p < c->m; p++) {
        c->start_z[c->cols[p]] = true;
    }
    memcpy(c->start_sign, c->sign, (size_t)c->n * sizeof(double));
    perp_lcp_basis_values(c);
    choose_covering(c, covering);
    if (!(perp_lcp_basis_direction(c, c->n, true) <= START_ERROR)) {
        return PERP_PIVOT_SINGULAR;
    }
    double needed = 0.0;
    const variable leave = worst_at_start(c, &needed);
    enter->index = leave.index;
    enter->is_z = !leave.is_z;
    if (leave.index < 0) {
        return PERP_PIVOT_COMPLEMENTARY;
    }
    const bool down = leave.is_z && c->rate_z[c->col_at[leave.index]] < 0.0; /* it comes down to its range */
    if (down && !(c->range[leave.index] < INFINITY)) {
        return PERP_PIVOT_SINGULAR; /* H is no inverse: by its making the rate is +1 */
    }
    move(c, needed);
    if (down) {
        perp_lcp_core_flip(c, leave.index);
    }
    exchange(c, (variable){c->n, true}, needed, leave);
    return PERP_PIVOT_COMPLEMENTARY;
}

perp_pivot_end perp_lcp_pivot(perp_lcp_workspace *c, const double *covering, int max_pivots)
{
    variable enter = {-1, false};
    c->hash = 0;
    perp_pivot_end end = begin(c, covering, &enter);
    bool done = enter.index < 0;
    cycle_watch watch = {0, 1, 0};
    for (int count = 1; end == PERP_PIVOT_COMPLEMENTARY && !done; count++) {
        if (perp_lcp_is_cancelled(c)) {
            return PERP_PIVOT_CANCELLED;
        }
        if (count >= max_pivots || comes_back(&watch, c->hash)) {
            return PERP_PIVOT_LIMIT;
        }
        end = pivot(c, &enter, &done);
    }
    return end == PERP_PIVOT_SINGULAR && perp_lcp_is_cancelled(c) ? PERP_PIVOT_CANCELLED : end;
}
