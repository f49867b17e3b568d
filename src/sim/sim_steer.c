/* What steers a simulation: commands, drives, wrenches, states.
 *
 * The drives stand in the simulation's own joints and bodies, where everything that asks for a command finds them. One
 * that the scene does not lead is a table of two knots, the begin and the end of the step. */
#include "sim/sim.h"

#include "scene/drive.h"
#include "scene/tolerances.h"

#include <math.h>

/* ---- channels -----------------------------------------------------------------------------------------------------
 */

/* Makes the drive one that goes from now to ahead between two times, and stays. */
static void lay(sim_channel *c, perp_drive *drive, double t, double t_end)
{
    c->times[0] = t;
    c->times[1] = t_end;
    c->values[0] = c->now;
    c->values[1] = c->ahead;
    *drive =
        (perp_drive){.knot_count = 2, .times = c->times, .values = c->values, .interpolation = PERP_INTERPOLATE_LINEAR};
}

static void lead(sim_channel *c, perp_drive *drive, double t, double t_end)
{
    if (c->lead != SIM_BY_SCENE) {
        c->ahead = c->lead == SIM_TO_VALUE ? c->set : c->now + c->set * (t_end - t);
        lay(c, drive, t, t_end);
    }
}

/* Between steps a drive stays where it is. */
static void rest(sim_channel *c, perp_drive *drive, double t, double h)
{
    if (c->lead != SIM_BY_SCENE) {
        c->ahead = c->now;
        lay(c, drive, t, t + h);
    }
}

typedef void visit_channel(sim_channel *c, perp_drive *drive, double t, double t_end);

/* What leads a joint: its path where its velocity is commanded. */
static perp_drive *drive_of(perp_joint *joint)
{
    return joint->control == PERP_CONTROL_VELOCITY ? &joint->path : &joint->command;
}

static void visit(perp_sim *sim, visit_channel *each, double t, double t_end)
{
    for (int j = 0; j < sim->scene.joint_count; j++) {
        each(&sim->commands[j], drive_of(&sim->scene.joints[j]), t, t_end);
    }
    for (int b = 0; b < sim->scene.body_count; b++) {
        for (int k = 0; k < 6 && sim->scene.bodies[b].kind == PERP_BODY_DRIVEN; k++) {
            each(&sim->drives[6 * b + k], &sim->scene.bodies[b].drives[k], t, t_end);
        }
    }
}

void perp_sim_lead_steps(perp_sim *sim, double t_end)
{
    visit(sim, lead, sim->state.t, t_end);
}

static void arrive(sim_channel *c, perp_drive *drive, double t, double t_end)
{
    (void)drive, (void)t, (void)t_end;
    c->now = c->ahead;
}

void perp_sim_lead_done(perp_sim *sim)
{
    visit(sim, arrive, 0.0, 0.0);
}

bool perp_sim_is_led(const perp_sim *sim)
{
    bool led = false;
    for (int i = 0; i < sim->scene.joint_count; i++) {
        led = led || sim->commands[i].lead != SIM_BY_SCENE;
    }
    for (int i = 0; i < 6 * sim->scene.body_count; i++) {
        led = led || sim->drives[i].lead != SIM_BY_SCENE;
    }
    return led;
}

void perp_sim_lead_refresh(perp_sim *sim)
{
    visit(sim, rest, sim->state.t, sim->settings.h);
}

/* ---- commands and drives ------------------------------------------------------------------------------------------
 */

static perp_status refuse_number(const char *what, const char *name, double value, perp_error *error)
{
    return perp_fail(error, PERP_STATUS_BAD_INPUT, "%s `%s` cannot be given %g: it must be a finite number", what, name,
                     value);
}

/* From the value that the drive has now. */
static void set_channel(perp_sim *sim, sim_channel *c, perp_drive *drive, sim_lead how, double set)
{
    if (c->lead == SIM_BY_SCENE) {
        c->now = perp_drive_value(drive, sim->state.t);
    }
    sim->steered = true;
    c->lead = how;
    c->set = set;
    rest(c, drive, sim->state.t, sim->settings.h);
}

/* The joint, if it takes such a number; else NULL. */
static perp_joint *commanded(perp_sim *sim, int joint, double value, perp_error *error)
{
    if (joint < 0 || joint >= sim->scene.joint_count) {
        perp_fail(error, PERP_STATUS_BAD_INPUT, "there is no joint %d: the scene has %d", joint,
                  sim->scene.joint_count);
        return NULL;
    }
    perp_joint *j = &sim->scene.joints[joint];
    if (j->control == PERP_CONTROL_NONE) {
        perp_fail(error, PERP_STATUS_BAD_INPUT, "joint `%s` takes no command: it needs `control` in the scene",
                  j->name);
        return NULL;
    }
    if (!isfinite(value)) {
        refuse_number("joint", j->name, value, error);
        return NULL;
    }
    return j;
}

perp_status perp_sim_set_command(perp_sim *sim, int joint, double value, perp_error *error)
{
    perp_joint *j = commanded(sim, joint, value, error);
    if (!j) {
        return PERP_STATUS_BAD_INPUT;
    }
    sim_channel *c = &sim->commands[joint];
    set_channel(sim, c, drive_of(j), j->control == PERP_CONTROL_VELOCITY ? SIM_AT_RATE : SIM_TO_VALUE, value);
    if (j->control == PERP_CONTROL_TORQUE) { /* a force needs no way to get there */
        c->now = value;
        rest(c, &j->command, sim->state.t, sim->settings.h);
    }
    return PERP_STATUS_OK;
}

perp_status perp_sim_set_command_rate(perp_sim *sim, int joint, double rate, perp_error *error)
{
    perp_joint *j = commanded(sim, joint, rate, error);
    if (!j) {
        return PERP_STATUS_BAD_INPUT;
    }
    if (j->control != PERP_CONTROL_POSITION && j->control != PERP_CONTROL_IMPEDANCE) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT,
                         "the command of joint `%s` is no place that moves: perp_sim_set_command takes its velocity or "
                         "torque",
                         j->name);
    }
    set_channel(sim, &sim->commands[joint], &j->command, SIM_AT_RATE, rate);
    return PERP_STATUS_OK;
}

/* Which coordinate a component is; -1: none, or several. */
static int coordinate_of(const perp_sim *sim, unsigned component)
{
    const unsigned all = sim->scene.planar ? PERP_COMPONENT_PLANAR : PERP_COMPONENT_ALL;
    for (int k = 0; k < 6; k++) {
        if (component == 1u << k && (component & all)) {
            return k;
        }
    }
    return -1;
}

/* A coordinate without a drive stays at the pose; its drive does the same. */
static void give_drive(perp_body *body, bool planar, int k)
{
    if (!(body->driven_mask & (1u << k))) {
        double rpy[3] = {0.0, 0.0, body->pose.angle};
        if (!planar) {
            perp_body_driven_rpy(body, 0.0, 0.0, rpy);
        }
        const double at[6] = {
            body->pose.pose.position.x, body->pose.pose.position.y, body->pose.pose.position.z, rpy[0], rpy[1], rpy[2]};
        body->drives[k] = (perp_drive){.offset = at[k]};
        body->driven_mask |= 1u << k;
    }
}

void perp_sim_lead_body(perp_sim *sim, int body, unsigned mask)
{
    perp_body *b = &sim->scene.bodies[body];
    const perp_body *given = &sim->given->scene->bodies[body];
    memcpy(b->drives, given->drives, sizeof b->drives);
    b->driven_mask = given->driven_mask;
    for (int k = 0; k < 6 && b->kind == PERP_BODY_DRIVEN; k++) {
        if (mask & (1u << k)) {
            give_drive(b, sim->scene.planar, k);
        }
    }
}

static perp_status set_drive(perp_sim *sim, int body, unsigned component, sim_lead how, double value, perp_error *error)
{
    if (body < 0 || body >= sim->scene.body_count) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "there is no body %d: the scene has %d", body,
                         sim->scene.body_count);
    }
    perp_body *b = &sim->scene.bodies[body];
    const int k = coordinate_of(sim, component);
    if (b->kind != PERP_BODY_DRIVEN) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "body `%s` is not driven: only `driven` bodies are led",
                         b->name);
    }
    if (k < 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "component %u of body `%s`: one PERP_COMPONENT_* of %s",
                         component, b->name, sim->scene.planar ? "X, Y, RZ" : "X .. RZ");
    }
    if (!isfinite(value)) {
        return refuse_number("body", b->name, value, error);
    }
    for (int i = k < 3 || sim->scene.planar ? k : 3; i < (k < 3 ? k + 1 : 6); i++) { /* three angles are one rotation */
        give_drive(b, sim->scene.planar, i);
    }
    set_channel(sim, &sim->drives[6 * body + k], &b->drives[k], how, value);
    return PERP_STATUS_OK;
}

perp_status perp_sim_set_drive(perp_sim *sim, int body, unsigned component, double value, perp_error *error)
{
    return set_drive(sim, body, component, SIM_TO_VALUE, value, error);
}

perp_status perp_sim_set_drive_rate(perp_sim *sim, int body, unsigned component, double rate, perp_error *error)
{
    return set_drive(sim, body, component, SIM_AT_RATE, rate, error);
}

double perp_sim_command(const perp_sim *sim, int joint)
{
    const perp_joint *j = &sim->scene.joints[joint];
    const sim_channel *c = &sim->commands[joint];
    if (j->control == PERP_CONTROL_VELOCITY && c->lead != SIM_BY_SCENE) {
        return c->lead == SIM_AT_RATE ? c->set : 0.0;
    }
    return j->control == PERP_CONTROL_NONE ? 0.0 : perp_drive_value(&j->command, sim->state.t);
}

/* ---- wrenches -----------------------------------------------------------------------------------------------------
 */

static bool is_finite(perp_vec3 x)
{
    return isfinite(x.x) && isfinite(x.y) && isfinite(x.z);
}

static perp_vec3 sum_of(const perp_drive drives[3], perp_vec3 x)
{
    return perp_vec3_make(drives[0].offset + x.x, drives[1].offset + x.y, drives[2].offset + x.z);
}

static void store(perp_drive drives[3], perp_vec3 x)
{
    drives[0].offset = x.x;
    drives[1].offset = x.y;
    drives[2].offset = x.z;
}

perp_status perp_sim_apply(perp_sim *sim, int body, perp_vec3 point_world, perp_vec3 force, perp_vec3 torque,
                           perp_error *error)
{
    if (body < 0 || body >= sim->scene.body_count) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "there is no body %d: the scene has %d", body,
                         sim->scene.body_count);
    }
    const perp_body *b = &sim->scene.bodies[body];
    if (!is_finite(point_world) || !is_finite(force) || !is_finite(torque)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the force on body `%s` and its point must be finite", b->name);
    }
    if (sim->scene.planar && (force.z != 0.0 || torque.x != 0.0 || torque.y != 0.0)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT,
                         "the force on body `%s` leaves the plane: force x, y and torque z", b->name);
    }
    int k = sim->scene_forces;
    while (k < sim->scene.force_count && sim->scene.forces[k].body_index != body) {
        k++;
    }
    perp_force *f = &sim->scene.forces[k];
    if (k == sim->scene.force_count) {
        *f = (perp_force){.body = b->name, .body_index = body};
    }
    /* At the body's origin as it is now, so that forces at several points are one. */
    const perp_vec3 arm = perp_vec3_sub(point_world, sim->step.kinematics->pose[body].position);
    const perp_vec3 force_sum = sum_of(f->force, force);
    const perp_vec3 torque_sum = sum_of(f->torque, perp_vec3_add(torque, perp_vec3_cross(arm, force)));
    if (!is_finite(force_sum) || !is_finite(torque_sum)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the forces on body `%s` have no finite sum", b->name);
    }
    store(f->force, force_sum);
    store(f->torque, torque_sum);
    sim->scene.force_count += k == sim->scene.force_count ? 1 : 0;
    sim->touched = true;
    return PERP_STATUS_OK;
}

/* ---- states -------------------------------------------------------------------------------------------------------
 */

/* A rate goes on from there. */
static void hold(perp_sim *sim, sim_channel *c, perp_drive *drive, double value)
{
    if (c->lead != SIM_AT_RATE) {
        c->lead = SIM_TO_VALUE;
        c->set = value;
    }
    c->now = value;
    sim->steered = true;
    rest(c, drive, sim->state.t, sim->settings.h);
}

static void hold_driven(perp_sim *sim, int b, const double *q)
{
    perp_body *body = &sim->scene.bodies[b];
    double at[6] = {q[0], q[1], 0.0, 0.0, 0.0, q[2]};
    if (!sim->scene.planar) {
        at[2] = q[2];
        perp_quat_to_rpy((perp_quat){q[3], q[4], q[5], q[6]}, at + 3);
    }
    body->driven_mask = sim->scene.planar ? PERP_COMPONENT_PLANAR : PERP_COMPONENT_ALL;
    for (int k = 0; k < 6; k++) {
        if (body->driven_mask & (1u << k)) {
            hold(sim, &sim->drives[6 * b + k], &body->drives[k], at[k]);
        }
    }
}

void perp_sim_lead_hold(perp_sim *sim)
{
    const perp_model *model = &sim->model;
    const double *q = sim->state.q;
    const perp_prescribe which = sim->step.rung->takes & PERP_TAKES_IMPEDANCE_AS_POSITION
                                     ? PERP_PRESCRIBE_POSITION_IMPEDANCE
                                     : PERP_PRESCRIBE_POSITION;
    double *led = sim->step.next_q;
    memcpy(led, q, (size_t)model->nq * sizeof *led);
    perp_prescribed_configuration(model, which, sim->state.t, led);
    for (int b = 0; b < model->body_count; b++) {
        const perp_link *link = &model->links[b];
        bool moved = false;
        for (int k = link->q_start; k < link->q_start + link->q_count; k++) {
            moved = moved || led[k] != q[k];
        }
        if (moved && link->joint >= 0) {
            hold(sim, &sim->commands[link->joint], drive_of(&sim->scene.joints[link->joint]), q[link->q_start]);
        } else if (moved) {
            hold_driven(sim, b, q + link->q_start);
        }
    }
}

/* Numbers that are finite, and yet no state. */
static perp_status check_new_state(const perp_sim *sim, double t, const double *q, perp_error *error)
{
    const perp_model *model = &sim->model;
    if (!(t + sim->settings.h > t)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "t = %g s is too large for steps of %g s: it would not change",
                         t, sim->settings.h);
    }
    for (int b = 0; b < model->body_count; b++) {
        const perp_link *link = &model->links[b];
        if (link->motion != PERP_MOTION_FLOATING && link->motion != PERP_MOTION_BALL) {
            continue;
        }
        const double *r = q + link->q_start + link->q_count - 4;
        const double norm = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
        if (!(fabs(norm - 1.0) <= QUATERNION_AS_WRITTEN)) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT,
                             "the quaternion (w, x, y, z) of body `%s` has length 1, but this one has %g",
                             sim->scene.bodies[b].name, norm);
        }
    }
    return PERP_STATUS_OK;
}

perp_status perp_sim_set_state(perp_sim *sim, double t, const double *q, const double *v, perp_error *error)
{
    const perp_model *model = &sim->model;
    perp_status status = perp_sim_check_state(model, t, q, v, error);
    status = status == PERP_STATUS_OK ? check_new_state(sim, t, q, error) : status;
    status = status == PERP_STATUS_OK ? perp_sim_forget(sim, error) : status;
    if (status != PERP_STATUS_OK) {
        return perp_sim_judge_memory(sim, status, error);
    }
    sim->state.t = t;
    memmove(sim->state.q, q, (size_t)model->nq * sizeof *q);
    memmove(sim->state.v, v, (size_t)model->nv * sizeof *v);
    sim->t_from = t;
    sim->counted_from = sim->steps;
    sim->touched = true;
    sim->scene.force_count = sim->scene_forces;
    perp_sim_lead_refresh(sim);
    perp_sim_lead_hold(sim);
    return perp_sim_judge_memory(sim, perp_sim_begin(sim, error), error);
}
