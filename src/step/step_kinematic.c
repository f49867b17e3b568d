/* Rung `kinematic`: commanded joints and driven bodies move exactly as told, everything passive stays where it is.
 *
 * A commanded coordinate ends the step at x(t + h), and its velocity is (x(t + h) - x(t)) / h (for rotations a rotation
 * vector over h). With prediction `taylor`, as in Trinkle-Berard-Pang 2005, a driven body instead ends at x(t) + h
 * x'(t) in each of its coordinates, with velocity x'(t). Impedance-controlled joints are taken as position-controlled.
 * Loops and contacts are not enforced: passive joints stay, bodies run into each other, and how far the loops open and
 * how deep the bodies penetrate is reported. */
#include "step/step_rungs.h"

#include <string.h>

static void predict_exact(perp_step_context *c, const perp_state *state, double t_end)
{
    perp_prescribed_configuration(c->model, PERP_PRESCRIBE_POSITION_IMPEDANCE, t_end, c->next_q);
    perp_prescribed_velocity(c->model, PERP_PRESCRIBE_POSITION_IMPEDANCE, state->t, t_end, c->next_v);
}

static void predict_taylor(perp_step_context *c, const perp_state *state, double t_end)
{
    predict_exact(c, state, t_end); /* joints take their commands exactly */
    perp_driven_taylor(c->model, state->t, t_end - state->t, c->next_q);
    perp_prescribed_rate(c->model, PERP_PRESCRIBE_DRIVEN, state->t, c->next_v);
}

static double widest_loop(perp_step_context *c)
{
    const perp_model *model = c->model;
    double widest = 0.0;
    for (int i = 0; i < model->scene->loop_count; i++) {
        double residual[6];
        perp_loop_evaluate(model, c->kinematics, i, residual, NULL);
        for (int k = 0; k < perp_loop_rows(model, i); k++) {
            widest = fmax(widest, fabs(residual[k]));
        }
    }
    return widest;
}

static perp_status step(perp_step_context *c, double t_end, perp_state *state, perp_step_info *info, perp_error *error)
{
    const perp_model *model = c->model;
    memcpy(c->next_q, state->q, (size_t)model->nq * sizeof *state->q);
    memset(c->next_v, 0, (size_t)model->nv * sizeof *c->next_v);
    if (c->settings->prediction == PERP_PREDICTION_EXACT) {
        predict_exact(c, state, t_end);
    } else {
        predict_taylor(c, state, t_end);
    }
    for (int i = 0; i < model->nq + model->nv; i++) {
        if (!isfinite(i < model->nq ? c->next_q[i] : c->next_v[i - model->nq])) {
            return perp_fail(error, PERP_STATUS_INFEASIBLE, "a command or its velocity is not finite at t = %g", t_end);
        }
    }
    if (model->scene->loop_count > 0) {
        perp_kinematics_update(model, c->next_q, c->kinematics);
        info->residuals.loop = widest_loop(c);
    }
    memcpy(state->q, c->next_q, (size_t)model->nq * sizeof *state->q);
    memcpy(state->v, c->next_v, (size_t)model->nv * sizeof *state->v);
    state->t = t_end;
    return PERP_STATUS_OK;
}

const perp_rung perp_rung_kinematic = {
    .name = "kinematic",
    .summary = "commanded joints and driven bodies move exactly; passive ones stay",
    .inertia = PERP_RUNG_INERTIA_IGNORED,
    .contact = "reported",
    .friction = "-",
    .source = "Trinkle et al., slide 9",
    .takes = PERP_TAKES_IMPEDANCE_AS_POSITION,
    .step = step,
};
