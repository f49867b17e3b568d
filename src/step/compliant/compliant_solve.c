/* The residual of a compliant step at one configuration, and the solver of its problem there. */
#include "problem/friction_law.h"
#include "solver/friction_soft.h"
#include "step/compliant/compliant.h"
#include "step/common/tolerances.h"
#include "solver/tolerances.h"

#include <string.h>

double perp_compliant_worst(compliant_residual r)
{
    return fmax(r.balance, fmax(r.complementarity, r.cone));
}

/* Friction outside of its cone, and the work against the slip that it leaves undone. */
static double off_cone(const contact_step *step, int i)
{
    const compliant_step *s = step->own;
    const compliant_material *m = &s->patches[s->patch_of[i]].material;
    const double *r = s->point.y + s->row_start[i], *u = s->u + s->row_start[i];
    if (m->rows < 2) {
        return 0.0;
    }
    double ft = 0.0, ut = 0.0, work = 0.0;
    for (int k = 1; k < m->rows; k++) {
        ft = hypot(ft, r[k]);
        ut = hypot(ut, u[k]);
        work += r[k] * u[k];
    }
    const double radius = perp_compliant_radius(m, step->force_unit * r[0]) / step->force_unit;
    return fmax(ft - radius, s->gap * (radius * ut + work));
}

/* The unit of forces: F, and where stiff contacts carry more than 1e4 of it, 1e-4 of the largest force: 1e-8 of it is
 * what sums of such forces are rounded to. */
static double unit_of_forces(const compliant_step *s)
{
    double largest = 0.0;
    for (int i = 0; i < s->row_start[s->element_count]; i++) {
        largest = fmax(largest, fabs(s->point.y[i]));
    }
    return fmax(1.0, STIFF_UNIT * largest);
}

compliant_residual perp_compliant_evaluate(contact_step *step)
{
    compliant_step *s = step->own;
    const perp_contact_qp *p = &s->qp;
    const perp_contact_friction as_friction = {p, s->mu};
    const double unit = unit_of_forces(s);
    compliant_residual worst = {.complementarity = perp_step_off_constraints(p, &s->point, s->gap)};
    perp_contact_friction_velocity(&as_friction, s->point.x, s->u);
    for (int i = 0; i < p->contact_count; i++) {
        const int row = p->row_start[i];
        worst.complementarity = fmax(worst.complementarity, fabs(fmin(s->point.y[row] / unit, s->gap * s->u[row])));
        worst.cone = fmax(worst.cone, off_cone(step, i) / unit);
    }
    perp_step_balance_of(&s->qp, &s->point, s->balance);
    for (int i = 0; i < p->n; i++) {
        const double arm = i < step->free_count && step->turns[i] ? step->length_unit : 1.0;
        worst.balance = fmax(worst.balance, fabs(s->balance[i]) / (unit * arm));
    }
    return worst;
}

/* The forces of joint limits, which the balance gives outright where a joint stands at one. The solver's own measure is
 * relative to the largest load, that of a spring that relaxes included, beside which a limit's force may be small. */
static void put_limits(contact_step *step)
{
    compliant_step *s = step->own;
    const perp_contact_qp *p = &s->qp;
    perp_step_balance_of(&s->qp, &s->point, s->balance);
    for (int i = 0; i < step->free_count && p->lower; i++) {
        perp_convex_point *at = &s->point;
        const double force = s->balance[i] + at->y_lower[i] - at->y_upper[i]; /* that they are to have */
        const double room = s->gap * (force > 0.0 ? at->x[i] - p->lower[i] : p->upper[i] - at->x[i]);
        if (fabs(room) <= fabs(s->balance[i])) {
            at->y_lower[i] = fmax(0.0, force);
            at->y_upper[i] = fmax(0.0, -force);
        }
    }
}

/* Of the law what does not depend on gamma: with that it is met only when the whole has settled. */
static double off_as_posed(contact_step *step)
{
    const compliant_residual r = perp_compliant_evaluate(step);
    return fmax(r.balance, r.complementarity);
}

/* From s->warm, if the settings have it: by the method for contacts that give way, and the cascade where that fails. */
static perp_status solve_once(contact_step *step, const perp_friction_settings *settings, perp_friction_info *info,
                              perp_error *error)
{
    compliant_step *s = step->own;
    const perp_contact_friction problem = {&s->qp, s->mu};
    if (perp_compliant_has_ellipsoid(s)) {
        const perp_status solved = perp_compliant_solve_ellipsoids(step, settings, info, error);
        step->info->iterations += solved == PERP_STATUS_OK ? info->iterations : 0;
        return solved;
    }
    perp_status status = perp_friction_soft_solve(&problem, settings, s->soft, &s->point, info, error);
    if (status == PERP_STATUS_CAPACITY) { /* not asked for beforehand: it costs as much as setting up again */
        status = perp_friction_soft_reserve(&problem, s->soft, error);
        status = status == PERP_STATUS_OK
                     ? perp_friction_soft_solve(&problem, settings, s->soft, &s->point, info, error)
                     : status;
    }
    if (status == PERP_STATUS_OK && info->outcome != PERP_OUTCOME_SOLVED) {
        status = perp_contact_friction_reserve(&problem, s->friction, error);
        if (status == PERP_STATUS_OK) {
            status = perp_contact_friction_solve(&problem, settings, s->friction, &s->point, info, error);
        }
    }
    if (status == PERP_STATUS_OK) {
        step->info->iterations += info->iterations;
    }
    return status;
}

perp_status perp_compliant_solve(contact_step *step, bool *solved, perp_friction_info *info, perp_error *error)
{
    enum { FACTORISATIONS_MOST = 300 }; /* of a second try */
    compliant_step *s = step->own;
    perp_friction_settings settings = perp_friction_settings_default();
    settings.tolerance = fmax(FINEST_TOLERANCE, ASKED_OF_COMPLIANT * step->settings->tolerance);
    settings.warm = s->guessed || perp_compliant_has_answer(step) ? &s->warm : NULL;
    settings.cancel = step->settings->cancel;
    perp_step_copy_point(&s->qp, &s->warm, &s->point);
    perp_status status = solve_once(step, &settings, info, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    *solved = info->outcome == PERP_OUTCOME_SOLVED;
    put_limits(step);
    const double law = off_as_posed(step);
    if (*solved && law > 0.1 * step->settings->tolerance) { /* the law has other units: once more, by as much closer */
        perp_friction_info again;
        perp_step_copy_point(&s->qp, &s->warm, &s->point);
        settings.tolerance = fmax(FINEST_TOLERANCE, 0.1 * settings.tolerance * step->settings->tolerance / law);
        settings.warm = &s->warm;
        settings.max_factorisations = FACTORISATIONS_MOST;
        status = solve_once(step, &settings, &again, error);
        if (status == PERP_STATUS_OK) {
            put_limits(step);
            if (!(off_as_posed(step) < law)) {
                perp_step_copy_point(&s->qp, &s->point, &s->warm);
            }
        }
        return status;
    }
    if (!*solved && info->outcome != PERP_OUTCOME_INFEASIBLE) {
        *solved = law <= 0.1 * step->settings->tolerance;
        step->info->fallbacks[PERP_FALLBACK_LOOSE] += *solved ? 1 : 0;
    }
    return PERP_STATUS_OK;
}
