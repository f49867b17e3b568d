/* Rung `kinematic`: commanded joints and driven bodies move exactly as told, and what is passive moves only as loops
 * make it.
 *
 * A commanded coordinate ends the step at x(t + h), and its velocity is (x(t + h) - x(t)) / h (for rotations a rotation
 * vector over h). With prediction `taylor`, as in Trinkle-Berard-Pang 2005, a driven body instead ends at x(t) + h
 * x'(t) in each of its coordinates, with velocity x'(t). Impedance-controlled joints are taken as position-controlled.
 *
 * Loops are closed by the passive coordinates, from where these were (perp_loops_close), and these have the velocity
 * (q+ - q) / h. A mechanism may close in several ways: so that it stays on the one it is on, the commands go their way
 * in parts where a passive joint would turn far at once. Loops that do not close stop the run. Contacts are not
 * enforced: bodies run into each other, and how deep is reported. */
#include "model/loop_closure.h"
#include "model/state.h"
#include "step/common/commanded_loops.h"
#include "step/kinematic/kinematic_step.h"

#include <string.h>

/* Commanded coordinates at a time of the step, joints exactly. */
static void place(const perp_step_context *c, const perp_state *state, double t, double *q)
{
    perp_prescribed_configuration(c->model, PERP_PRESCRIBE_POSITION_IMPEDANCE, t, q);
    if (c->settings->prediction == PERP_PREDICTION_TAYLOR) {
        perp_driven_taylor(c->model, state->t, t - state->t, q);
    }
}

static void predict(perp_step_context *c, const perp_state *state, double t_end)
{
    place(c, state, t_end, c->next_q);
    perp_prescribed_velocity(c->model, PERP_PRESCRIBE_POSITION_IMPEDANCE, state->t, t_end, c->next_v);
    if (c->settings->prediction == PERP_PREDICTION_TAYLOR) {
        perp_prescribed_rate(c->model, PERP_PRESCRIBE_DRIVEN, state->t, c->next_v);
    }
}

/* ---- loops --------------------------------------------------------------------------------------------------------
 */

typedef struct closer {
    perp_allocator allocator;
    perp_loop_closure *closure;
    bool *movable;              /* nv: passive */
    double *from, *trial, *way; /* nq, nq, nv */
} closer;

void perp_kinematic_close(perp_step_context *c)
{
    closer *k = c->workspace;
    if (k) {
        perp_loop_closure_free(k->closure);
        k->allocator.release(k->allocator.context, k);
    }
    c->workspace = NULL;
}

/* Only scenes that have loops need memory. */
perp_status perp_kinematic_open(perp_step_context *c, const perp_allocator *allocator, perp_error *error)
{
    const perp_model *model = c->model;
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    if (model->scene->loop_count == 0) {
        return PERP_STATUS_OK;
    }
    const perp_allocator source = allocator ? *allocator : perp_allocator_default();
    closer *k = source.allocate(source.context, sizeof *k + (2 * nq + nv) * sizeof(double) + nv * sizeof(bool));
    if (!k) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for closing loops");
    }
    double *reals = (double *)(void *)(k + 1);
    *k = (closer){.allocator = source, .from = reals, .trial = reals + nq, .way = reals + 2 * nq};
    k->movable = (bool *)(void *)(k->way + nv);
    for (int i = 0; i < model->nv; i++) {
        k->movable[i] = model->role[i] == PERP_DOF_PASSIVE;
    }
    c->workspace = k;
    return perp_loop_closure_create(model, k->movable, &k->allocator, &k->closure, error);
}

/* Is what is passive still near to where it was? */
static bool is_near(const perp_step_context *c, const closer *k, double reach)
{
    const perp_model *model = c->model;
    static const double TURN = 0.25; /* rad, or of the loops' reach */
    perp_configuration_difference(model, k->from, k->trial, k->way);
    double largest = 0.0;
    for (int i = 0; i < model->nv; i++) {
        const bool turns = perp_vec3_norm(c->kinematics->dof_angular[i]) > 0.5;
        largest = k->movable[i] ? fmax(largest, fabs(k->way[i]) / (turns ? 1.0 : reach)) : largest;
    }
    return largest <= TURN;
}

static perp_status stays_open(const perp_model *model, const perp_loop_gap *gap, double t_end, perp_error *error)
{
    return perp_loop_stays_open(model, gap->loop, gap->gap, t_end,
                                gap->commanded ? "commands move both of its sides, and nothing passive could close it; "
                                                 "leave a joint of it without `control`"
                                               : "however the passive joints move nearby; the commands lead out of "
                                                 "reach, past a dead centre or beyond joint limits",
                                error);
}

/* From state->q to c->next_q: where the commands lead, with loops closed. */
static perp_status close_loops(perp_step_context *c, const perp_state *state, double t_end, perp_step_info *info,
                               perp_error *error)
{
    enum { PARTS = 64 };
    const perp_model *model = c->model;
    const closer *k = c->workspace;
    const size_t nq = (size_t)model->nq * sizeof(double);
    perp_loop_gap gap = {0}, whole = {0}; /* of the last part, and of the step in one */
    memcpy(k->from, state->q, nq);
    for (int at = 0, size = PARTS; at < PARTS;) {
        const double t = at + size == PARTS ? t_end : state->t + (t_end - state->t) * (at + size) / PARTS;
        memcpy(k->trial, k->from, nq);
        place(c, state, t, k->trial);
        const bool closed = perp_loops_close(k->closure, k->trial, &info->iterations, &gap);
        whole = size == PARTS && !closed ? gap : whole;
        if ((!closed || !is_near(c, k, gap.reach)) && size > 1) {
            size /= 2;
            continue;
        }
        if (!closed) {
            return stays_open(model, whole.reach > 0.0 ? &whole : &gap, t_end, error);
        }
        memcpy(k->from, k->trial, nq);
        at += size;
    }
    memcpy(c->next_q, k->from, nq);
    perp_configuration_difference(model, state->q, c->next_q, k->way);
    for (int i = 0; i < model->nv; i++) {
        c->next_v[i] = k->movable[i] ? k->way[i] / (t_end - state->t) : c->next_v[i];
    }
    info->residuals.loop = gap.gap;
    return PERP_STATUS_OK;
}

/* ---- the step -----------------------------------------------------------------------------------------------------
 */

perp_status perp_kinematic_step(perp_step_context *c, double t_end, perp_state *state, perp_step_info *info,
                                perp_error *error)
{
    const perp_model *model = c->model;
    memcpy(c->next_q, state->q, (size_t)model->nq * sizeof *state->q);
    memset(c->next_v, 0, (size_t)model->nv * sizeof *c->next_v);
    predict(c, state, t_end);
    for (int i = 0; i < model->nq + model->nv; i++) {
        if (!isfinite(i < model->nq ? c->next_q[i] : c->next_v[i - model->nq])) {
            return perp_fail(error, PERP_STATUS_INFEASIBLE, "a command or its velocity is not finite at t = %g", t_end);
        }
    }
    if (model->scene->loop_count > 0) {
        const perp_status status = close_loops(c, state, t_end, info, error);
        if (status != PERP_STATUS_OK) {
            return status;
        }
    }
    memcpy(state->q, c->next_q, (size_t)model->nq * sizeof *state->q);
    memcpy(state->v, c->next_v, (size_t)model->nv * sizeof *state->v);
    state->t = t_end;
    return PERP_STATUS_OK;
}
