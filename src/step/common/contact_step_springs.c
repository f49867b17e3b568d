/* The springs of impedance joints. A joint with `effort` E gives
 *
 *     tau = min(E, max(-E, K (command - q+) - D v)),  q+ = q + h v,
 *
 * with q+ and v at the step's end, so that it is part of the step's law: clipping the force of a spring that has no
 * limit would leave a motion that this force does not belong to. A spring at its limit has no stiffness and no damping
 * in A, and +E or -E in f. Which ones are there (step->at_limit) is found by solving, looking and solving again:
 * contact_step.c. Every step begins with springs, so that nothing is remembered, and a limit that does not bind changes
 * no bit. */
#include "step/common/contact_step.h"
#include "step/common/tolerances.h"

#include <math.h>

/* N, N m; infinite where there is no limit. */
static double effort_of(const contact_step *step, int dof)
{
    const int joint = step->model->dof_joint[dof];
    const perp_optional *effort = joint >= 0 ? &step->model->scene->joints[joint].effort : NULL;
    return step->model->role[dof] == PERP_DOF_IMPEDANCE && effort && effort->set ? effort->value : INFINITY;
}

/* Damping of passive joints counts with full inertia alone. */
static step_spring without_limit(const contact_step *step, const double *q, int dof)
{
    const perp_model *model = step->model;
    const bool springs = model->role[dof] == PERP_DOF_IMPEDANCE;
    step_spring spring = {0.0, 0.0};
    if (springs || step->dynamic) {
        spring.rate = (step->law->instant ? 0.0 : step->h * model->stiffness[dof]) + model->damping[dof];
    }
    if (springs) {
        spring.force = model->stiffness[dof] * (step->command[dof] - q[model->dof_q[dof]]);
    }
    return spring;
}

step_spring perp_step_spring(const contact_step *step, const double *q, int dof)
{
    const step_spring spring = without_limit(step, q, dof);
    if (step->at_limit[dof] == 0) {
        return spring;
    }
    const double rate = step->limit_rate * spring.rate;
    return (step_spring){rate, step->at_limit[dof] * effort_of(step, dof) + rate * step->v_held[dof]};
}

bool perp_springs_are_limited(const contact_step *step)
{
    bool any = false;
    for (int k = 0; k < step->free_count && !any; k++) {
        any = isfinite(effort_of(step, step->dof_of_free[k]));
    }
    return any;
}

void perp_springs_release(contact_step *step)
{
    for (int k = 0; k < step->free_count; k++) {
        step->at_limit[step->dof_of_free[k]] = 0;
    }
}

/* Where it belongs by the force that its spring would have, `room` being what rounding may do. */
static int place_of(int now, double tau, double effort, double room)
{
    if (now != 0 && now * tau >= effort - room) {
        return now;
    }
    return fabs(tau) <= effort + (now == 0 ? room : 0.0) ? 0 : tau > 0.0 ? 1 : -1;
}

/* Where dof belongs at velocities v; `miss` is of its effort, 0 where it is there. */
static int place_at(const contact_step *step, const double *q, const double *v, int dof, double room, double *miss)
{
    const double effort = effort_of(step, dof);
    const step_spring spring = without_limit(step, q, dof);
    const int now = step->at_limit[dof];
    const double tau = spring.force - spring.rate * v[dof];
    const int place = isfinite(effort) ? place_of(now, tau, effort, room * effort) : 0;
    *miss = place == now ? 0.0 : fabs((now == 0 ? fabs(tau) : now * tau) - effort) / effort;
    return place;
}

double perp_springs_change(contact_step *step, const double *q, const double *v, double room)
{
    double most = 0.0, miss;
    for (int k = 0; k < step->free_count; k++) {
        const int i = step->dof_of_free[k];
        step->at_limit[i] = place_at(step, q, v, i, room, &miss);
        most = fmax(most, miss);
    }
    return most;
}

bool perp_springs_change_first(contact_step *step, const double *q, const double *v)
{
    double miss;
    for (int k = 0; k < step->free_count; k++) {
        const int i = step->dof_of_free[k], place = place_at(step, q, v, i, EFFORT_ROUNDING, &miss);
        if (place != step->at_limit[i]) {
            step->at_limit[i] += place > step->at_limit[i] ? 1 : -1;
            return true;
        }
    }
    return false;
}

double perp_springs_pull(const contact_step *step, const double *q, const double *v)
{
    double most = 0.0;
    for (int k = 0; k < step->free_count; k++) {
        const int i = step->dof_of_free[k];
        const double pull = step->limit_rate * without_limit(step, q, i).rate * fabs(v[i] - step->v_held[i]);
        most = fmax(most, step->at_limit[i] == 0 ? 0.0 : pull / effort_of(step, i));
    }
    return most;
}

double perp_springs_miss(const contact_step *step, const double *q, const double *v)
{
    double most = 0.0, miss;
    for (int k = 0; k < step->free_count; k++) {
        place_at(step, q, v, step->dof_of_free[k], step->settings->tolerance, &miss);
        most = fmax(most, miss);
    }
    return most;
}

/* ---- a search for the set ---------------------------------------------------------------------------------------- */

/* The energy's slope along d = v - v_held, at v_held + part d. */
static double slope(const contact_step *step, const double *q, double part)
{
    const perp_contact_qp *p = &step->system;
    const double *block = p->hessian;
    double sum = 0.0;
    for (int b = 0; b < p->block_count; b++) {
        for (int k = p->block_start[b]; k < p->block_start[b + 1]; k++) {
            const int i = step->dof_of_free[k];
            const double way = step->v[i] - step->v_held[i], v = step->v_held[i] + part * way;
            const step_spring is = perp_step_spring(step, q, i), whole = without_limit(step, q, i);
            const double effort = effort_of(step, i), asked = whole.force - whole.rate * v;
            double force = p->g[k]; /* with the problem's spring, and then the limited one in its place */
            for (int m = p->block_start[b]; m < p->block_start[b + 1]; m++) {
                const int j = step->dof_of_free[m];
                force += *block++ * (step->x[m] - (1.0 - part) * (step->v[j] - step->v_held[j]));
            }
            force += isfinite(effort) ? is.force - is.rate * v - fmax(-effort, fmin(effort, asked)) : 0.0;
            sum += way * force;
        }
    }
    return sum;
}

double perp_springs_search(contact_step *step, const double *q)
{
    enum { HALVINGS = 60 };
    double low = 0.0, high = 1.0;
    const bool all = slope(step, q, 1.0) <= 0.0 || slope(step, q, 0.0) >= 0.0;
    for (int k = 0; k < HALVINGS && !all; k++) {
        const double middle = 0.5 * (low + high);
        *(slope(step, q, middle) < 0.0 ? &low : &high) = middle;
    }
    for (int k = 0; k < step->free_count; k++) {
        const int i = step->dof_of_free[k];
        step->v_held[i] += high * (step->v[i] - step->v_held[i]);
    }
    return high;
}

/* ---- at an instant ----------------------------------------------------------------------------------------------- */

void perp_springs_limit_at_instant(contact_step *step, const double *q, const double *v)
{
    for (int k = 0; k < step->free_count; k++) {
        const int i = step->dof_of_free[k];
        const double effort = effort_of(step, i);
        const double asked = without_limit(step, q, i).force - (v ? step->model->damping[i] * v[i] : 0.0);
        if (fabs(asked) > effort) {
            step->g[k] += asked - copysign(effort, asked);
        }
    }
}
