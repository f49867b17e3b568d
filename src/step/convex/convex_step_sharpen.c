/* Sharper answers: a point that the solver calls solved may miss the law of the step, which asks that of every pair of
 * force and slack one is 0, not that their product is small; that leaves 1e-7 on either side where both are small. */
#include "step/convex/convex_step.h"
#include "step/common/tolerances.h"
#include "solver/tolerances.h"

#include <string.h>

/* One more way to solve, from the point at hand. */
typedef struct way {
    const char *method; /* of perp_contact_qp_solve; NULL: its cascade */
    bool minimum_norm;
    int rounds;
    double proximal; /* weight of the distance from the point at hand; 0: none */
    double kappa;    /* not 0: the central path, down to this product of y and s */
} way;

/* Adds weight/2 |x - x0|^2 in the metric of motions to the objective, x0 that of `start`. */
static void add_proximal_term(convex_step *c, const contact_step *step, double weight)
{
    double *h = c->hessian;
    const double *w = c->face_hessian;
    perp_step_metric(step, c->face_hessian);
    for (int b = 0; b < c->qp.block_count; b++) {
        const int first = c->qp.block_start[b], end = c->qp.block_start[b + 1];
        for (int i = first; i < end; i++) {
            for (int k = first; k < end; k++, h++, w++) {
                *h += weight * *w;
                c->g[i] -= weight * *w * c->start.x[k];
            }
        }
    }
}

static perp_status solve_way(convex_step *c, const contact_step *step, const way *w, perp_convex_info *info)
{
    perp_convex_settings settings = perp_convex_settings_default();
    settings.tolerance = FINEST_TOLERANCE;
    settings.method = w->method;
    settings.minimum_norm = w->minimum_norm;
    settings.warm = &c->start;
    if (w->proximal > 0.0) {
        add_proximal_term(c, step, w->proximal);
    }
    const perp_status status =
        w->kappa > 0.0 ? perp_contact_qp_barrier(&c->qp, w->kappa, &settings, c->solver, &c->point, info, NULL)
                       : perp_contact_qp_solve(&c->qp, &settings, c->solver, &c->point, info, NULL);
    if (w->proximal > 0.0) {
        perp_convex_step_fill(c, step); /* without it again */
    }
    return status;
}

/* Goes one way, `rounds` times from where the last one led, and keeps in `face_point` what meets the law best. */
static double try_way(convex_step *c, contact_step *step, const way *w, double enough, double best)
{
    for (int round = 0; round < w->rounds && !(best <= enough); round++) {
        perp_convex_info info;
        perp_step_copy_point(&c->qp, &c->start, &c->point);
        const perp_status status = solve_way(c, step, w, &info);
        if (status != PERP_STATUS_OK || info.outcome == PERP_OUTCOME_INFEASIBLE ||
            info.outcome == PERP_OUTCOME_UNBOUNDED) {
            break;
        }
        perp_convex_step_clip(c);
        step->info->iterations += info.iterations;
        const double law = perp_convex_step_law(step);
        if (law < best) {
            best = law;
            perp_step_copy_point(&c->qp, &c->face_point, &c->point);
        } else if (!(law <= SHARPEN_NEAR)) {
            break;
        }
    }
    perp_step_copy_point(&c->qp, &c->point, &c->face_point);
    c->is_told = false;
    return best;
}

/* Newton's method tells y and s apart, with the forces of least norm or, where those are what blurs them, without.
 * Where directions without stiffness keep it from doing so, the motion is held near the one at hand, which makes the
 * problem strictly convex: near a solution that costs the weight times what it moves in the balance, and once more the
 * same makes it nothing. Where y and s are both small in the solution itself, the central path of the held problem is
 * followed until the square root of their product is below what the law asks for; without the hold it breaks off. */
double perp_convex_step_sharpen(contact_step *step)
{
    /* proximal weights and products of y and s, which are tried one after the other */
    static const way ways[] = {{"newton", true, 1, 0.0, 0.0}, {"newton", false, 1, 0.0, 0.0},
                               {NULL, true, 3, 1e-2, 0.0},    {NULL, true, 3, 1.0, 0.0},
                               {NULL, false, 3, 1.0, 1e-17},  {NULL, false, 3, 1.0, 1e-19},
                               {NULL, false, 3, 1e-2, 1e-17}, {NULL, false, 3, 100.0, 1e-17},
                               {NULL, true, 3, 100.0, 0.0},   {NULL, false, 3, 10.0, 1e-18}};
    convex_step *c = step->own;
    const double tolerance = step->settings->tolerance;
    double best = perp_convex_step_law(step);
    if (best <= 0.1 * tolerance) {
        return best;
    }
    perp_step_copy_point(&c->qp, &c->face_point, &c->point);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        best = try_way(c, step, &ways[k], k < 4 ? 0.1 * tolerance : 0.5 * tolerance, best);
    }
    return best;
}

/* ---- far away ---------------------------------------------------------------------------------------------------- */

/* How far the step has to go at least, about: what gaps and loops ask for, in units of L, or L. What is small may be
 * pushed by many of its sizes in a step. */
static double least_reach(const convex_step *c)
{
    double most = 1.0;
    for (int k = 0; k < c->slack_start[c->qp.contact_count]; k++) {
        most = fmax(most, fabs(c->offset[k]));
    }
    for (int i = 0; i < c->qp.equality_count; i++) {
        most = fmax(most, fabs(c->target[i]));
    }
    return most;
}

/* Bounds on the motion, in units of L, beside those of joints. */
static void confine(convex_step *c, double reach)
{
    for (int i = 0; i < c->qp.n; i++) {
        c->lower[i] = fmax(c->lower[i], -reach);
        c->upper[i] = fmin(c->upper[i], reach);
    }
    c->qp.lower = c->lower;
    c->qp.upper = c->upper;
}

/* The problem without them again, and no force where they were: what they carried is missing in the balance. */
static void release(convex_step *c, const contact_step *step, double reach)
{
    perp_convex_step_fill(c, step);
    for (int i = 0; i < c->qp.n; i++) {
        c->point.y_lower[i] = c->lower[i] >= -reach ? c->point.y_lower[i] : 0.0;
        c->point.y_upper[i] = c->upper[i] <= reach ? c->point.y_upper[i] : 0.0;
    }
}

perp_outcome perp_convex_step_confine(contact_step *step)
{
    static const double REACH[] = {1.0, 30.0, 1e3};
    enum { COUNT = sizeof REACH / sizeof *REACH };
    convex_step *c = step->own;
    const double least = least_reach(c);
    perp_convex_settings settings = perp_convex_settings_default();
    perp_outcome outcome = PERP_OUTCOME_ITERATION_LIMIT;
    settings.tolerance = fmax(FINEST_TOLERANCE, ASKED * step->settings->tolerance);
    for (int k = 0; k < COUNT && outcome == PERP_OUTCOME_ITERATION_LIMIT; k++) {
        perp_convex_info info;
        confine(c, least * REACH[k]);
        perp_status status = perp_contact_qp_reserve(&c->qp, c->solver, NULL);
        if (status == PERP_STATUS_OK) {
            status = perp_contact_qp_solve(&c->qp, &settings, c->solver, &c->point, &info, NULL);
        }
        release(c, step, least * REACH[k]);
        c->is_told = false; /* of the point before */
        if (status != PERP_STATUS_OK || info.outcome == PERP_OUTCOME_UNBOUNDED) {
            continue;
        }
        if (info.outcome == PERP_OUTCOME_INFEASIBLE) {
            outcome = k > 0 ? PERP_OUTCOME_INFEASIBLE : outcome;
            continue;
        }
        perp_convex_step_clip(c);
        if (perp_convex_step_law(step) <= step->settings->tolerance) { /* whatever the solver calls it */
            outcome = PERP_OUTCOME_SOLVED;
        } else if (k + 1 == COUNT && info.outcome == PERP_OUTCOME_SOLVED &&
                   perp_step_balance(step) > fmax(BALANCE_ROUNDING, step->settings->tolerance)) {
            outcome = PERP_OUTCOME_UNBOUNDED;
        }
    }
    return outcome;
}

bool perp_convex_step_gaps_can_be_met(contact_step *step)
{
    convex_step *c = step->own;
    perp_convex_info info;
    perp_convex_settings settings = perp_convex_settings_default();
    settings.tolerance = step->settings->tolerance;
    settings.minimum_norm = false;
    c->frictionless = true;
    perp_convex_step_fill(c, step);
    perp_step_metric(step, c->face_hessian);
    memset(c->g, 0, (size_t)c->qp.n * sizeof *c->g);
    c->qp.hessian = c->face_hessian; /* the smallest motion of all */
    perp_status status = perp_contact_qp_reserve(&c->qp, c->solver, NULL);
    if (status == PERP_STATUS_OK) {
        status = perp_contact_qp_solve(&c->qp, &settings, c->solver, &c->start, &info, NULL);
    }
    c->frictionless = false;
    perp_convex_step_fill(c, step);
    return status == PERP_STATUS_OK && info.outcome == PERP_OUTCOME_SOLVED;
}
