/* The dual active set method of Goldfarb and Idnani (1983), with their step lengths (their section 3: t1 keeps the
 * multipliers, t2 reaches the constraint). What is added to it, for contact problems, whose rows repeat and depend on
 * each other:
 *
 *   - whether a row depends on the working set is decided against a bound on the rounding of that very row;
 *   - a violation that cannot be told from rounding, because the row depends on rows that are met, is remembered and
 *     allowed. It cannot hide: the residual judges what is returned;
 *   - "infeasible" is said only with a proof whose measure holds, else the row counts as such a violation;
 *   - the end is x and u refined on the working set; where that shows a wrong sign or another violated row, the method
 *     goes on from there. */
#include "problem/convex_residual.h"
#include "problem/natural_map.h"
#include "solver/convex_core.h"
#include "solver/qp_dual_core.h"
#include "solver/tolerances.h"

#include "linalg/dense_kernel.h"
#include "problem/checks.h"
#include "problem/objectives.h"
#include "solver/qp_dual.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define ROUNDING (16.0 * DBL_EPSILON)

enum { ROUNDS = 8, REFINEMENTS = 5 };

typedef enum verdict { GO_ON, DONE, INFEASIBLE, LIMIT, CANCELLED, BROKEN } verdict;

static bool cancelled(const perp_qp_dual_workspace *c)
{
    return c->settings->cancel && *c->settings->cancel;
}

/* ---- the working set --------------------------------------------------------------------------------------------- */

/* The position of the inequality whose multiplier is most negative, beyond rounding; -1: none. */
static int most_negative(const perp_qp_dual_workspace *c)
{
    double largest = c->pull, worst = 0.0;
    int found = -1;
    for (int j = 0; j < c->set.count; j++) {
        const double weighed = c->set.u[j] * c->set.length[j];
        largest = fmax(largest, fabs(weighed));
        if (c->set.active[j] >= c->problem->equalities && weighed < worst) {
            worst = weighed;
            found = j;
        }
    }
    return worst < -4.0 * (16.0 + c->n) * DBL_EPSILON * largest ? found : -1;
}

/* Drops that inequality. If there is none, multipliers that are negative by rounding become 0. */
static bool drop_negative(perp_qp_dual_workspace *c)
{
    const int found = most_negative(c);
    if (found >= 0) {
        perp_qp_dual_drop(c, found);
        return true;
    }
    for (int j = 0; j < c->set.count; j++) {
        if (c->set.active[j] >= c->problem->equalities && c->set.u[j] < 0.0) {
            c->set.u[j] = 0.0;
        }
    }
    return false;
}

/* x and u of the working set, from which go what has a negative multiplier: the invariants hold after it. A sign is
 * believed only after a correction, since with stiff and soft unknowns the first u is far from rounding. */
static void settle(perp_qp_dual_workspace *c)
{
    do {
        perp_qp_dual_solve_on_set(c);
        if (most_negative(c) >= 0) {
            (void)perp_qp_dual_refine(c, 1);
        }
    } while (drop_negative(c));
    c->pending = -1;
    c->refined = false;
}

static void rebuild(perp_qp_dual_workspace *c)
{
    const int count = c->set.count;
    memcpy(c->wanted, c->set.active, (size_t)count * sizeof(int));
    perp_qp_dual_clear(c);
    c->factorisations++;
    for (int j = 0; j < count; j++) {
        perp_qp_dual_direction(c, c->wanted[j]);
        if (c->along.independent) {
            perp_qp_dual_add(c, c->wanted[j], 0.0);
        }
    }
    settle(c);
}

/* ---- start ------------------------------------------------------------------------------------------------------- */

/* The equalities that do not follow from those before them. One that contradicts them is a proof. */
static verdict take_equalities(perp_qp_dual_workspace *c)
{
    for (int k = 0; k < c->problem->equalities; k++) {
        if (cancelled(c)) {
            return CANCELLED;
        }
        perp_qp_dual_direction(c, k);
        if (c->along.independent) {
            perp_qp_dual_add(c, k, 0.0);
            continue;
        }
        c->skipped_equality = true;
        double gap = c->problem->d[k], size = fabs(gap);
        for (int j = 0; j < c->set.count; j++) {
            const double term = c->along.step[j] * c->problem->d[c->set.active[j]];
            gap -= term;
            size += fabs(term);
        }
        if (fabs(gap) > c->settings->tolerance * (c->unit + size) && perp_qp_dual_prove(c, k) <= PROOF_GOOD) {
            return INFEASIBLE;
        }
    }
    return GO_ON;
}

static double warm_multiplier(const perp_qp_dual_workspace *c, int k)
{
    const perp_convex_point *warm = c->settings->warm;
    const int row = k - c->problem->equalities, bound = row - c->problem->rows;
    if (bound < 0) {
        return warm->y ? warm->y[row] : 0.0;
    }
    if (bound < c->n) {
        return c->problem->lower && warm->y_lower ? warm->y_lower[bound] : 0.0;
    }
    return c->problem->upper && warm->y_upper ? warm->y_upper[bound - c->n] : 0.0;
}

/* From an empty working set: what must hold, and what the caller believes to hold. */
static verdict start(perp_qp_dual_workspace *c)
{
    const int n = c->n;
    double pull = 0.0;
    for (int k = 0; k < n; k++) {
        const double entry = perp_dense_dot(k + 1, perp_row_const(c->set.jt, n, k), c->problem->g);
        pull += entry * entry;
    }
    c->pull = sqrt(pull);
    const verdict equalities = take_equalities(c);
    if (equalities != GO_ON) {
        return equalities;
    }
    for (int k = c->problem->equalities; c->settings->warm && k < c->total && c->set.count < n; k++) {
        if (!(warm_multiplier(c, k) > 0.0) || !perp_qp_dual_row_exists(c, k)) {
            continue;
        }
        if (cancelled(c)) {
            return CANCELLED;
        }
        perp_qp_dual_direction(c, k);
        if (c->along.independent) {
            perp_qp_dual_add(c, k, 0.0);
        }
    }
    settle(c);
    return GO_ON;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* What a row may be off by: the tolerance of its own scale. */
static double tolerated(const perp_qp_dual_workspace *c, const perp_qp_dual_row *row)
{
    return c->settings->tolerance * (c->unit + perp_qp_dual_magnitude(c, row));
}

/* What of a violation of constraint k counts as none: the rounding of its own terms; that of x, whose entries are as
 * accurate as the largest of them, as far as it is small beside the tolerance; and what was excused. */
static double allowance(const perp_qp_dual_workspace *c, int k, const perp_qp_dual_row *row, double largest_x)
{
    double spread = row->index >= 0 ? 1.0 : 0.0;
    for (int i = 0; row->index < 0 && i < c->n; i++) {
        spread += fabs(row->entries[i]);
    }
    const double of_x = fmin(ROUNDING * spread * largest_x, DUAL_NOISE * tolerated(c, row));
    return ROUNDING * perp_qp_dual_magnitude(c, row) + of_x + 2.0 * c->allowed[k];
}

typedef struct search {
    int found;
    double largest;   /* distance from the constraint found, in the metric of H */
    double largest_x; /* of |x_i| */
} search;

/* The allowance, which costs as much as the slack, is looked at only where the search would change, or where a norm,
 * which costs far more, can be saved by it. */
static void look_at(perp_qp_dual_workspace *c, int k, search *s)
{
    const perp_qp_dual_row row = perp_qp_dual_row_of(c, k);
    const double violation = -perp_qp_dual_slack(c, &row);
    if (!(violation > 0.0) || c->inside[k]) {
        return;
    }
    const bool known = c->norm[k] >= 0.0;
    if (!known && !(violation > allowance(c, k, &row, s->largest_x))) {
        return;
    }
    const double distance = violation / perp_qp_dual_norm(c, k); /* infinite for a row of zeros */
    if (distance > s->largest && (!known || violation > allowance(c, k, &row, s->largest_x))) {
        s->found = k;
        s->largest = distance;
    }
}

/* The constraint that is violated most, in the metric of H, or -1. */
static int most_violated(perp_qp_dual_workspace *c)
{
    const perp_qp *p = c->problem;
    const int first_lower = p->equalities + p->rows, first_upper = first_lower + c->n;
    search s = {-1, 0.0, 0.0};
    for (int i = 0; i < c->n; i++) {
        s.largest_x = fmax(s.largest_x, fabs(c->set.x[i]));
    }
    for (int k = p->equalities; k < first_lower; k++) {
        look_at(c, k, &s);
    }
    for (int i = 0; i < c->n; i++) { /* an infinite bound never is violated */
        if (p->lower && c->set.x[i] < p->lower[i]) {
            look_at(c, first_lower + i, &s);
        }
        if (p->upper && c->set.x[i] > p->upper[i]) {
            look_at(c, first_upper + i, &s);
        }
    }
    return s.found;
}

/* Gives constraint k up for rounding. */
static verdict excuse(perp_qp_dual_workspace *c, int k, double violation)
{
    c->allowed[k] = fmax(c->allowed[k], violation);
    if (c->pending_u > 0.0) {
        settle(c);
    }
    c->pending = -1;
    return GO_ON;
}

static bool is_faint(const perp_qp_dual_workspace *c, int k)
{
    const perp_qp_dual_row row = perp_qp_dual_row_of(c, k);
    return -perp_qp_dual_slack(c, &row) <= DUAL_FAINT * perp_qp_dual_magnitude(c, &row);
}

/* Steps until constraint k is met and in the working set. */
static verdict bring_in(perp_qp_dual_workspace *c, int k)
{
    const perp_qp_dual_row row = perp_qp_dual_row_of(c, k);
    c->pending = k;
    c->pending_u = 0.0;
    for (;;) {
        if (cancelled(c) || c->iterations >= c->limit) {
            return cancelled(c) ? CANCELLED : LIMIT;
        }
        c->iterations++;
        perp_qp_dual_direction(c, k);
        const double violation = fmax(-perp_qp_dual_slack(c, &row), 0.0);
        perp_dual_way way = perp_dual_set_way(&c->set, &c->along, violation, DUAL_NO_RATIO);
        if (!c->along.independent && way.out < 0) {
            const bool counts = violation > tolerated(c, &row);
            if (counts && perp_qp_dual_prove(c, k) <= PROOF_GOOD) {
                return INFEASIBLE;
            }
            way = perp_dual_set_way(&c->set, &c->along, violation, 0.0);
            if (!counts || way.out < 0) {
                return excuse(c, k, violation);
            }
        }
        const double length = fmin(way.full, way.partial);
        if (!(length < INFINITY)) {
            return BROKEN;
        }
        perp_dual_set_move(&c->set, &c->along, length);
        c->pending_u += length;
        c->refined = false;
        if (way.full <= way.partial) {
            perp_qp_dual_add(c, k, c->pending_u);
            c->pending = -1;
            return GO_ON;
        }
        perp_qp_dual_drop(c, way.out);
    }
}

/* Steps while something is violated. Where all that is left may be the rounding of x, x has to be refined first. */
static verdict advance(perp_qp_dual_workspace *c)
{
    for (;;) {
        const int k = most_violated(c);
        const verdict v = k < 0 || (!c->refined && is_faint(c, k)) ? DONE : bring_in(c, k);
        if (v != GO_ON) {
            return v;
        }
    }
}

/* The working set at the end has been refined, has no negative multiplier and leaves nothing violated. */
static verdict run(perp_qp_dual_workspace *c)
{
    verdict v = start(c);
    for (int round = 0; v == GO_ON; round++) {
        v = advance(c);
        if (v != DONE) {
            break;
        }
        if (!perp_qp_dual_refine(c, REFINEMENTS)) {
            rebuild(c);
            (void)perp_qp_dual_refine(c, REFINEMENTS);
        }
        c->refined = true;
        const bool changed = drop_negative(c);
        if (changed) {
            settle(c);
        }
        if (round < ROUNDS && (changed || most_violated(c) >= 0)) {
            v = GO_ON;
        }
    }
    return v;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* Whether the multipliers are the only ones: everything that is met with equality is in the working set, whose rows are
 * independent. Where something else is, they may be the only ones all the same; that is not looked into. */
static bool unique(const perp_qp_dual_workspace *c)
{
    for (int k = c->problem->equalities; !c->skipped_equality && k < c->total; k++) {
        const perp_qp_dual_row row = perp_qp_dual_row_of(c, k);
        if (!c->inside[k] && row.target > -INFINITY &&
            perp_qp_dual_slack(c, &row) <= DUAL_FAINT * perp_qp_dual_magnitude(c, &row)) {
            return false;
        }
    }
    return !c->skipped_equality;
}

static bool finite_point(const perp_qp_dual_workspace *c)
{
    const perp_convex_point *p = &c->point;
    return perp_dense_is_finite(c->n, p->x) && perp_dense_is_finite(c->problem->rows, p->y) &&
           perp_dense_is_finite(c->problem->equalities, p->y_equality) && perp_dense_is_finite(c->n, p->y_lower) &&
           perp_dense_is_finite(c->n, p->y_upper);
}

/* `c->point` from x, u and what is being brought in; an infeasible problem's proof is there already. Zeros where
 * numbers overflowed. */
static void make_point(perp_qp_dual_workspace *c, verdict v)
{
    const perp_qp *p = c->problem;
    for (int i = 0; i < c->n; i++) {
        const double lower = p->lower ? p->lower[i] : -INFINITY, upper = p->upper ? p->upper[i] : INFINITY;
        c->point.x[i] = c->set.x[i] < lower ? lower : (c->set.x[i] > upper ? upper : c->set.x[i]);
    }
    if (v != INFEASIBLE) {
        perp_qp_dual_put_all(c, c->set.u, 1.0);
        if (c->pending >= 0) {
            perp_qp_dual_put(c, c->pending, c->pending_u);
        }
    }
    if (!finite_point(c)) {
        c->set.count = 0;
        memset(c->point.x, 0, (size_t)c->n * sizeof(double));
        perp_qp_dual_put_all(c, c->set.u, 0.0);
    }
}

static void copy_out(const double *from, int count, double *to)
{
    if (to && count > 0) {
        memcpy(to, from, (size_t)count * sizeof(double));
    }
}

void perp_qp_dual_copy_point(const perp_qp *p, const perp_convex_point *from, perp_convex_point *to)
{
    copy_out(from->x, p->n, to->x);
    copy_out(from->y, p->rows, to->y);
    copy_out(from->y_equality, p->equalities, to->y_equality);
    copy_out(from->y_lower, p->n, p->lower ? to->y_lower : NULL);
    copy_out(from->y_upper, p->n, p->upper ? to->y_upper : NULL);
}

static void deliver(perp_qp_dual_workspace *c, verdict v, perp_convex_point *solution, perp_convex_info *info)
{
    static const perp_outcome outcomes[] = {
        [GO_ON] = PERP_OUTCOME_ILL_CONDITIONED, [DONE] = PERP_OUTCOME_ILL_CONDITIONED,
        [INFEASIBLE] = PERP_OUTCOME_INFEASIBLE, [LIMIT] = PERP_OUTCOME_ITERATION_LIMIT,
        [CANCELLED] = PERP_OUTCOME_CANCELLED,   [BROKEN] = PERP_OUTCOME_ILL_CONDITIONED};
    const perp_convex_view view = perp_qp_view(c->problem);
    double near;
    info->outcome = outcomes[v];
    info->residual = perp_convex_view_residual(&view, &c->point, c->unit, &near);
    info->objective = perp_qp_objective(c->problem, c->point.x);
    const bool holds = near <= PERP_NEAR && perp_convex_residual_largest(info->residual) <= c->settings->tolerance;
    if (holds && v != INFEASIBLE && v != CANCELLED) {
        info->outcome = PERP_OUTCOME_SOLVED;
        info->minimum_norm = v == DONE && unique(c);
    }
    info->certificate = v == INFEASIBLE ? perp_qp_dual_measure(c) : 0.0;
    info->iterations = c->iterations;
    info->factorisations = c->factorisations;
    perp_qp_dual_copy_point(c->problem, &c->point, solution);
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static perp_status check(const perp_qp *p, const perp_convex_settings *settings, const perp_qp_dual_workspace *c,
                         perp_error *error)
{
    perp_status status = perp_convex_settings_check(settings, error);
    status = status ? status : perp_qp_check(p, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (p->n > c->capacity_n || p->rows > c->capacity_rows || p->equalities > c->capacity_equalities) {
        return perp_fail(error, PERP_STATUS_CAPACITY,
                         "the workspace is for up to %d unknowns, %d rows and %d equalities, this qp has %d, %d and %d",
                         c->capacity_n, c->capacity_rows, c->capacity_equalities, p->n, p->rows, p->equalities);
    }
    return PERP_STATUS_OK;
}

static void load(perp_qp_dual_workspace *c, const perp_qp *p, const perp_convex_settings *settings)
{
    c->problem = p;
    c->settings = settings;
    c->n = c->set.n = p->n;
    c->set.first_inequality = p->equalities;
    c->total = p->equalities + p->rows + 2 * p->n;
    c->limit = settings->max_iterations > 0 ? settings->max_iterations : 10 * (p->n + p->rows) + 100;
    c->unit = settings->relative ? 0.0 : 1.0;
    c->iterations = c->factorisations = 0;
    c->set.count = 0;
    c->pending = -1;
    c->skipped_equality = false;
    for (int k = 0; k < c->total; k++) {
        c->norm[k] = -1.0;
        c->allowed[k] = 0.0;
    }
    for (int i = 0; i < c->n; i++) {
        c->set.x[i] = c->set.u[i] = 0.0;
    }
}

perp_status perp_qp_dual(const perp_qp *problem, const perp_convex_settings *settings,
                         perp_qp_dual_workspace *workspace, perp_convex_point *solution, perp_convex_info *info,
                         perp_error *error)
{
    perp_qp_dual_workspace *c = workspace;
    const perp_convex_settings defaults = perp_convex_settings_default();
    const perp_convex_settings *own = settings ? settings : &defaults;
    memset(info, 0, sizeof *info);
    info->outcome = PERP_OUTCOME_ILL_CONDITIONED;
    info->residual = (perp_convex_residual){INFINITY, INFINITY, INFINITY};
    info->method = info->tried[0] = PERP_QP_DUAL_NAME;
    info->tried_count = 1;
    const perp_status status = check(problem, own, c, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    load(c, problem, own);
    int failed_row;
    if (!perp_qp_dual_factor_h(c, &failed_row)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT,
                         "H is not positive definite (row %d), which the dual active set needs; the interior point "
                         "takes a semidefinite H",
                         failed_row);
    }
    const verdict v = run(c);
    make_point(c, v);
    deliver(c, v, solution, info);
    return PERP_STATUS_OK;
}
