/* How Jacobians turn along the motion of a state, and how prescribed bodies accelerate.
 *
 * (dJ/dt) v is a difference of J(q (+) s v) v over four places s, exact to fourth order. Formulas exist, yet they need
 * the curvature of each surface by itself, edges and rims included; the differences need contacts only, and are as
 * exact as these: to rounding for flat faces, corners, discs and balls.
 *
 * Central differences are taken where the contact has its features on both sides of the instant, and else those that
 * look forward. Drives are looked at forward only: a table may begin at the instant. */
#include "contact/contact_reach.h"
#include "step/instant/instant.h"
#include "step/common/tolerances.h"

#include <string.h>

enum { PLACES = 5 };
typedef struct stencil {
    double at[PLACES], weight[PLACES]; /* s f' = sum of weight f(at s) */
} stencil;

static const stencil CENTRAL = {{0, -2, -1, 1, 2}, {0, 1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12}};
static const stencil FORWARD = {{0, 1, 2, 3, 4}, {-25.0 / 12, 48.0 / 12, -36.0 / 12, 16.0 / 12, -3.0 / 12}};

static perp_status reserve(perp_instant *in, const perp_contact_set *set, perp_error *error)
{
    const perp_model *model = in->step->model;
    const block_array arrays[] = {PERP_ARRAY(in->v, model->nv),
                                  PERP_ARRAY(in->given, model->nv),
                                  PERP_ARRAY(in->v_near, model->nv),
                                  PERP_ARRAY(in->q_near, model->nq),
                                  PERP_ARRAY(in->loop_turning, in->step->loop_row_count),
                                  PERP_ARRAY(in->turning, set->count),
                                  PERP_ARRAY(in->base, set->count),
                                  PERP_ARRAY(in->wanted, set->count),
                                  PERP_ARRAY(in->lost, set->count)};
    return perp_block_arrays(&in->step->allocator, &in->motion, arrays, sizeof arrays / sizeof *arrays, error);
}

/* ---- drives ------------------------------------------------------------------------------------------------------ */

/* 1/s: how fast a drive can change its rate, at most; at least 1. */
static double drive_haste(const perp_drive *drive, double haste)
{
    for (int i = 0; i < drive->sine_count; i++) {
        haste = fmax(haste, fabs(drive->sines[i].omega));
    }
    for (int i = 1; i < drive->knot_count; i++) {
        haste = fmax(haste, 1.0 / (drive->times[i] - drive->times[i - 1]));
    }
    return haste;
}

static void accelerate_prescribed(perp_instant *in, double t)
{
    const perp_model *model = in->step->model;
    const perp_scene *scene = model->scene;
    const perp_prescribe which = in->step->prescribe;
    double haste = 1.0;
    for (int i = 0; i < scene->body_count; i++) {
        for (int k = 0; k < 6 && scene->bodies[i].driven_mask != 0; k++) {
            haste = drive_haste(&scene->bodies[i].drives[k], haste);
        }
    }
    for (int i = 0; i < scene->joint_count; i++) {
        haste = drive_haste(&scene->joints[i].command, haste);
    }
    for (int i = 0; i < model->nv; i++) { /* angles that turn together change each other's axes */
        haste = model->role[i] == PERP_DOF_PRESCRIBED ? fmax(haste, fabs(in->v[i])) : haste;
    }
    const double s = DRIVE_REACH / haste;
    for (int i = 0; i < model->nv; i++) {
        in->given[i] = 0.0;
    }
    for (int p = 0; p < PLACES; p++) {
        memset(in->v_near, 0, (size_t)model->nv * sizeof *in->v_near);
        perp_prescribed_rate(model, which, t + FORWARD.at[p] * s, in->v_near);
        for (int i = 0; i < model->nv; i++) {
            in->given[i] += FORWARD.weight[p] * in->v_near[i] / s;
        }
    }
}

/* ---- contacts and loops ------------------------------------------------------------------------------------------ */

static const perp_contact *find(const perp_contact_set *set, const perp_contact *base, int *index)
{
    for (*index = 0; *index < set->count; (*index)++) {
        if (perp_contact_same(&set->contacts[*index], base)) {
            return &set->contacts[*index];
        }
    }
    return NULL;
}

/* The motion's velocity at a contact: along its own normal, and along the tangents `base` has, of which it makes no
 * difference to first order whether they turn: where the tangential rows count, the contact rolls. */
static void velocity_at(const perp_contact_set *set, int i, const double *v, const perp_contact *base, double u[3])
{
    const perp_contact *c = &set->contacts[i];
    const int start = set->dof_start[i], columns = set->dof_start[i + 1] - start;
    const double *row = set->jacobian + (ptrdiff_t)set->rows * start;
    const perp_vec3 axes[3] = {c->normal, c->t, c->o};
    perp_vec3 world = {0};
    for (int r = 0; r < set->rows && r < 3; r++, row += columns) {
        double sum = 0.0;
        for (int k = 0; k < columns; k++) {
            sum += row[k] * v[set->dofs[start + k]];
        }
        u[0] = r == 0 ? sum : u[0];
        world = perp_vec3_add_scaled(world, sum, axes[r]);
    }
    u[1] = perp_vec3_dot(world, base->t);
    u[2] = perp_vec3_dot(world, base->o);
}

static void add_loops(perp_instant *in, const perp_kinematics *kinematics, double weight)
{
    const perp_model *model = in->step->model;
    for (int i = 0, at = 0; i < model->scene->loop_count; i++) {
        double residual[6];
        perp_loop_evaluate(model, kinematics, i, residual, in->step->loop_jacobian);
        for (int r = 0; r < perp_loop_rows(model, i); r++, at++) {
            for (int k = 0; k < model->nv; k++) {
                in->loop_turning[at] += weight * in->step->loop_jacobian[(ptrdiff_t)r * model->nv + k] * in->v[k];
            }
        }
    }
}

/* Adds what a place of the stencil says of the contacts that are still wanted. One that is not there has no
 * acceleration by this stencil. */
static void add_contacts(perp_instant *in, const perp_contact_set *set, double weight)
{
    for (int i = 0; i < in->base_count; i++) {
        int at;
        double u[3] = {0.0, 0.0, 0.0};
        if (in->wanted[i] && find(set, &in->base[i], &at)) {
            velocity_at(set, at, in->v, &in->base[i], u);
        } else if (in->wanted[i]) {
            in->lost[i] = true;
        }
        for (int r = 0; r < 3 && in->wanted[i]; r++) {
            in->turning[i][r] += weight * u[r];
        }
    }
}

static perp_status difference(perp_instant *in, perp_step_context *context, const perp_state *state,
                              const stencil *shape, double s, perp_error *error)
{
    perp_status status = PERP_STATUS_OK;
    for (int p = 0; p < PLACES && status == PERP_STATUS_OK; p++) {
        perp_configuration_integrate(in->step->model, state->q, in->v, shape->at[p] * s, in->q_near);
        perp_kinematics_update(in->step->model, in->q_near, context->kinematics);
        status = perp_contact_set_build(context->contacts, context->kinematics, error);
        if (status == PERP_STATUS_OK) {
            add_contacts(in, context->contacts, shape->weight[p] / s);
        }
        if (shape == &CENTRAL) {
            add_loops(in, context->kinematics, shape->weight[p] / s);
        }
    }
    for (int i = 0; i < in->base_count; i++) {
        in->wanted[i] = in->wanted[i] && in->lost[i];
        in->lost[i] = false;
        for (int r = 0; r < 3 && in->wanted[i]; r++) {
            in->turning[i][r] = 0.0;
        }
    }
    return status;
}

/* s: what the motion takes for a radian, or for the size of the scene; infinite at rest. */
static double own_time(const perp_instant *in, const perp_step_context *context)
{
    double pace = 0.0;
    for (int i = 0; i < in->step->model->body_count; i++) {
        const perp_twist *w = &context->kinematics->twist[i];
        pace = fmax(pace, perp_vec3_norm(w->angular) + perp_vec3_norm(w->linear) / context->contacts->scene_size);
    }
    return 1.0 / pace;
}

perp_status perp_instant_move(perp_instant *in, perp_step_context *context, const perp_state *state, perp_error *error)
{
    const perp_model *model = in->step->model;
    perp_contact_set *set = context->contacts;
    perp_status status = reserve(in, set, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    memcpy(in->v, state->v, (size_t)model->nv * sizeof *in->v);
    perp_prescribed_rate(model, in->step->prescribe, state->t, in->v);
    accelerate_prescribed(in, state->t);
    in->base_count = set->count;
    for (int i = 0; i < set->count; i++) {
        in->base[i] = set->contacts[i];
        in->wanted[i] = true;
    }
    perp_kinematics_velocity(model, in->v, context->kinematics);
    const double s = MOTION_REACH * own_time(in, context), margin = perp_contact_set_margin(set);
    if (isfinite(s)) { /* at rest nothing turns */
        perp_contact_set_look(set, margin + LOOK_BESIDE * set->scene_size);
        status = difference(in, context, state, &CENTRAL, s, error);
        status = status == PERP_STATUS_OK ? difference(in, context, state, &FORWARD, s, error) : status;
        perp_contact_set_look(set, margin);
    } else {
        memset(in->wanted, 0, (size_t)in->base_count * sizeof *in->wanted);
    }
    perp_kinematics_update(model, state->q, context->kinematics);
    perp_kinematics_velocity(model, in->v, context->kinematics);
    return status == PERP_STATUS_OK ? perp_contact_set_build(set, context->kinematics, error) : status;
}
