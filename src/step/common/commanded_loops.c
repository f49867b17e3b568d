#include "model/loop_closure.h"
#include "step/common/commanded_loops.h"
#include "step/common/tolerances.h"

#include <stdio.h>

perp_status perp_loop_stays_open(const perp_model *model, int loop, double gap, double t, const char *why,
                                 perp_error *error)
{
    const char *name = model->scene->loops[loop].name;
    if (model->scene->loops[loop].kind == PERP_LOOP_JOINTS) {
        perp_fail(error, PERP_STATUS_INFEASIBLE, "%s `%s` does not hold %s t = %g s: %s",
                  model->scene->loops[loop].mimic ? "`mimic` of joint" : "tendon", name,
                  gap >= 0.0 ? "in the step to" : "at", t, why);
        gap = -1.0; /* it need not be a length */
    } else if (gap >= 0.0) {
        perp_fail(error, PERP_STATUS_INFEASIBLE, "loop `%s` is open by %.6g m in the step to t = %g s: %s", name, gap,
                  t, why);
    } else {
        perp_fail(error, PERP_STATUS_INFEASIBLE, "loop `%s` opens at t = %g s: %s", name, t, why);
    }
    if (error) {
        error->code = "infeasible-command";
        snprintf(error->evidence.loop, sizeof error->evidence.loop, "%s", name);
        error->evidence.has_gap = gap >= 0.0;
        error->evidence.gap = fmax(gap, 0.0);
    }
    return PERP_STATUS_INFEASIBLE;
}

static const char *const BOTH_COMMANDED =
    "commands alone move both of its sides there, and they open it; leave a joint of it without `control`, or give way "
    "by `control: impedance` on a rung that has it";

/* Has anything free part in row r of the loop whose Jacobian is in `step`? */
static bool moves(const contact_step *step, int r)
{
    const double *row = step->loop_jacobian + (ptrdiff_t)r * step->model->nv;
    for (int k = 0; k < step->free_count; k++) {
        if (row[step->dof_of_free[k]] != 0.0) {
            return true;
        }
    }
    return false;
}

void perp_loops_note(contact_step *step, const perp_step_context *context)
{
    const perp_model *model = step->model;
    for (int i = 0, all = 0; i < model->scene->loop_count; i++) {
        double residual[6];
        perp_loop_evaluate(model, context->kinematics, i, residual, step->loop_jacobian);
        for (int r = 0; r < perp_loop_rows(model, i); r++, all++) {
            step->commanded_gap[all] = moves(step, r) ? INFINITY : fabs(residual[r]);
        }
    }
}

perp_status perp_loops_check_end(contact_step *step, perp_step_context *context, double t_end, perp_error *error)
{
    const perp_model *model = step->model;
    bool any = false;
    for (int k = 0; k < perp_step_loop_rows(model); k++) {
        any = any || isfinite(step->commanded_gap[k]);
    }
    if (!any) {
        return PERP_STATUS_OK;
    }
    perp_kinematics_update(model, context->next_q, context->kinematics);
    for (int i = 0, all = 0; i < model->scene->loop_count; i++) {
        double residual[6], gap = 0.0;
        const double reach = perp_loop_reach(model, context->kinematics, i);
        perp_loop_evaluate(model, context->kinematics, i, residual, step->loop_jacobian);
        for (int r = 0; r < perp_loop_rows(model, i); r++, all++) {
            /* moved neither at the begin nor at the end: at a dead centre a row is still for that moment only */
            const bool commanded = isfinite(step->commanded_gap[all]) && !moves(step, r);
            const double open = perp_loop_row_unit(model, i, r, reach) * fabs(residual[r]);
            gap = commanded && open > DEEP * reach && fabs(residual[r]) > step->commanded_gap[all] ? hypot(gap, open)
                                                                                                   : gap;
        }
        if (gap > 0.0) {
            return perp_loop_stays_open(model, i, gap, t_end, BOTH_COMMANDED, error);
        }
    }
    return PERP_STATUS_OK;
}

/* sum_k |row_k rate_k|, the largest of the loop whose Jacobian is in `step`: what cancels in rates is small against it.
 */
static double size_of(const contact_step *step, int rows, const double *rate)
{
    double largest = 0.0;
    for (int r = 0; r < rows; r++) {
        double sum = 0.0;
        for (int k = 0; k < step->model->nv; k++) {
            sum += fabs(step->loop_jacobian[(ptrdiff_t)r * step->model->nv + k] * rate[k]);
        }
        largest = fmax(largest, sum);
    }
    return largest;
}

static double along(const contact_step *step, int r, const double *rate)
{
    double sum = 0.0;
    for (int k = 0; k < step->model->nv; k++) {
        sum += step->loop_jacobian[(ptrdiff_t)r * step->model->nv + k] * rate[k];
    }
    return sum;
}

perp_status perp_loops_check_rates(const contact_step *step, const double *v, const double *given,
                                   const double *turning, perp_error *error)
{
    const perp_model *model = step->model;
    for (int i = 0, all = 0; i < model->scene->loop_count; i++) {
        double residual[6];
        const int rows = perp_loop_rows(model, i);
        perp_loop_evaluate(model, step->kinematics, i, residual, step->loop_jacobian);
        const double speed = size_of(step, rows, v);
        const bool joints = model->scene->loops[i].kind == PERP_LOOP_JOINTS; /* whose rows do not change */
        const double reach = joints ? 1.0 : perp_loop_reach(model, step->kinematics, i);
        const double pull = speed * speed / reach; /* of what goes round */
        for (int r = 0; r < rows; r++, all++) {
            const bool opens = fabs(along(step, r, v)) > DEEP * speed;
            const bool bends =
                given && fabs(along(step, r, given) + turning[all]) > DEEP * (size_of(step, rows, given) + pull);
            if (!moves(step, r) && (opens || bends)) {
                return perp_loop_stays_open(model, i, -1.0, step->t, BOTH_COMMANDED, error);
            }
        }
    }
    return PERP_STATUS_OK;
}
