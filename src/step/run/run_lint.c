/* run_lint.c - what is allowed but looks unintended, as far as the scene's run and its rung tell.
 *
 * Inertia within one step. `quasidynamic` weighs the displacement d of a passive body of mass m by m/h^2 beside springs
 * K, and forgets its velocity: each step is stopped from rest. So
 *   - a spring closes the share K / (K + m/h^2) of its stretch in a step, which is a lag of m / (h K) seconds. It tends
 *     to infinity with h -> 0, and a ramp of length T ends behind by m / (h K) / T of its way. Over a tenth is said.
 *     K is that of the stiffest impedance-controlled joint, of a revolute one K / r^2 at the body's distance r;
 *   - moving a body at v takes m v / h, beside which its weight and friction vanish with h -> 0. That is said where it
 *     exceeds the weight at the largest speed of the commands.
 */
#include <perp/step.h>

#include "contact/contact_lint.h"
#include "model/tolerances.h"
#include "step/common/tolerances.h"

#include <stdio.h>

typedef struct run_lint {
    const perp_model *model;
    const perp_scene *scene;
    const perp_rung *rung; /* NULL: not known */
    perp_diagnostics *diagnostics;
    perp_state state;
    perp_kinematics *kinematics;
} run_lint;

/* ---- the length of the run --------------------------------------------------------------------------------------- */

static void lint_length(const run_lint *l)
{
    const perp_run_settings *run = &l->scene->run;
    if (l->rung && l->rung->step && !run->steps_set && run->h > run->until) {
        const int steps = perp_run_steps(run);
        perp_scene_report(l->scene, l->diagnostics, PERP_SEVERITY_WARNING, "run.h",
                          "a step of %g s is longer than the run of %g s, which takes %s; a smaller h, or `steps`, is "
                          "probably meant",
                          run->h, run->until, steps == 0 ? "no step" : "one step, beyond its end");
    }
}

/* ---- where joints begin ------------------------------------------------------------------------------------------ */

/* Of a position-controlled joint the scene's own rules say it. */
static void lint_starts(const run_lint *l)
{
    const bool exact = l->rung && (l->rung->takes & PERP_TAKES_IMPEDANCE_AS_POSITION);
    for (int j = 0; j < l->scene->joint_count; j++) {
        const perp_joint *joint = &l->scene->joints[j];
        const double start = perp_drive_value(&joint->command, 0.0);
        if (joint->control != PERP_CONTROL_IMPEDANCE || !joint->position_set ||
            !(fabs(start - joint->position[0]) > DRIVE_AS_WRITTEN)) {
            continue;
        }
        char path[256];
        snprintf(path, sizeof path, "joints.%s.command", joint->name);
        if (exact) {
            perp_scene_report(l->scene, l->diagnostics, PERP_SEVERITY_WARNING, path,
                              "starts at %g, where model `%s` lets the joint begin too; its `position` of %g is not "
                              "used",
                              start, l->rung->name, joint->position[0]);
        } else {
            perp_scene_report(l->scene, l->diagnostics, PERP_SEVERITY_WARNING, path,
                              "starts at %g, but the joint's `position` is %g: its spring is stretched at the start",
                              start, joint->position[0]);
        }
    }
}

/* ---- the most that drives give ----------------------------------------------------------------------------------- */

/* At an instant without inertia the damper's force is not known before the answer. */
static void lint_effort(const run_lint *l)
{
    const bool exact = l->rung && (l->rung->takes & PERP_TAKES_IMPEDANCE_AS_POSITION);
    const bool undamped = l->rung && !l->rung->step && l->rung->inertia == PERP_RUNG_INERTIA_NONE;
    for (int j = 0; j < l->scene->joint_count; j++) {
        const perp_joint *joint = &l->scene->joints[j];
        if (joint->control != PERP_CONTROL_IMPEDANCE || !joint->effort.set) {
            continue;
        }
        char path[256];
        snprintf(path, sizeof path, "joints.%s.effort", joint->name);
        if (exact) {
            perp_scene_report(l->scene, l->diagnostics, PERP_SEVERITY_WARNING, path,
                              "has no effect with model `%s`, where the joint follows its command whatever that takes; "
                              "qs-cone and qs-impedance-lcp have springs",
                              l->rung->name);
        } else if (undamped && joint->damping > 0.0) {
            perp_scene_report(l->scene, l->diagnostics, PERP_SEVERITY_WARNING, path,
                              "with model `%s` limits K (command - q) alone, without the joint's damping",
                              l->rung->name);
        }
    }
}

/* ---- inertia within one step ------------------------------------------------------------------------------------- */

static bool floats(const run_lint *l, int b)
{
    return l->scene->bodies[b].kind == PERP_BODY_FREE && l->model->links[b].joint < 0 && l->model->links[b].mass > 0.0;
}

/* N/m: the most that springs push with at the centre of a body, over their stretch there; 0: there is none. */
static double stiffness_at(const run_lint *l, int b)
{
    double most = 0.0;
    for (int j = 0; j < l->scene->joint_count; j++) {
        const perp_joint *joint = &l->scene->joints[j];
        if (joint->control != PERP_CONTROL_IMPEDANCE) {
            continue;
        }
        const perp_vec3 anchor = perp_pose_apply(l->kinematics->pose[joint->parent_body], joint->anchor);
        const double arm = perp_vec3_norm(perp_vec3_sub(l->kinematics->com[b], anchor));
        const double stiffness = joint->kind == PERP_JOINT_PRISMATIC
                                     ? joint->stiffness
                                     : joint->stiffness / fmax(arm * arm, ARM_SQUARE_LEAST);
        most = fmax(most, stiffness);
    }
    return most;
}

static void lint_lag(const run_lint *l)
{
    const double h = l->scene->run.h, length = perp_run_steps(&l->scene->run) * h;
    double longest = 0.1 * (1.0 + LAG_ROUNDING) * length;
    int worst = -1;
    for (int b = 0; b < l->scene->body_count; b++) {
        const double stiffness = floats(l, b) ? stiffness_at(l, b) : 0.0;
        const double lag = stiffness > 0.0 ? l->model->links[b].mass / (h * stiffness) : 0.0;
        if (lag > longest) {
            longest = lag;
            worst = b;
        }
    }
    if (worst < 0) {
        return;
    }
    const double mass = l->model->links[worst].mass, stiffness = stiffness_at(l, worst), inertia = mass / (h * h);
    perp_scene_report(l->scene, l->diagnostics, PERP_SEVERITY_WARNING, "run.h",
                      "`%s` (%.3g kg) lags behind what pushes it: in a step of %g s its inertia counts as m/h^2 = %.3g "
                      "N/m beside springs of %.3g N/m, so that a step goes %.2g %% of the way that these ask for, and "
                      "catching up takes m/(h K) = %.3g s of the run's %g s; take a larger h, a model without inertia "
                      "(qs-cone), or one with all of it (dyn-ncp)",
                      l->scene->bodies[worst].name, mass, h, inertia, stiffness,
                      100.0 * stiffness / (stiffness + inertia), longest, length);
}

/* m/s: how fast commands move the origin of any body, at up to so many steps of the run; 0 where they lead nowhere. */
static double fastest_command(const run_lint *l)
{
    enum { SAMPLES = 200 };
    const double h = l->scene->run.h;
    const int steps = perp_run_steps(&l->scene->run), stride = 1 + steps / SAMPLES;
    double fastest = 0.0;
    for (int k = 0; k < steps; k += stride) {
        for (int i = 0; i < l->model->nv; i++) {
            l->state.v[i] = 0.0;
        }
        perp_prescribed_configuration(l->model, PERP_PRESCRIBE_POSITION_IMPEDANCE, k * h, l->state.q);
        perp_prescribed_velocity(l->model, PERP_PRESCRIBE_POSITION_IMPEDANCE, k * h, (k + 1) * h, l->state.v);
        perp_kinematics_update(l->model, l->state.q, l->kinematics);
        perp_kinematics_velocity(l->model, l->state.v, l->kinematics);
        for (int b = 0; b < l->scene->body_count; b++) {
            const double speed = perp_vec3_norm(l->kinematics->twist[b].linear);
            fastest = isfinite(speed) ? fmax(fastest, speed) : fastest;
        }
    }
    return fastest;
}

static void lint_drag(const run_lint *l)
{
    const double h = l->scene->run.h, g = perp_vec3_norm(l->scene->gravity);
    int heaviest = -1;
    for (int b = 0; b < l->scene->body_count; b++) {
        if (floats(l, b) && (heaviest < 0 || l->model->links[b].mass > l->model->links[heaviest].mass)) {
            heaviest = b;
        }
    }
    const double speed = heaviest >= 0 && g > 0.0 ? fastest_command(l) : 0.0;
    if (!(speed > g * h)) {
        return;
    }
    const double mass = l->model->links[heaviest].mass;
    perp_scene_report(l->scene, l->diagnostics, PERP_SEVERITY_WARNING, "run.h",
                      "moving `%s` (%.3g kg) at %.3g m/s, as fast as commands go, takes m v/h = %.3g N in every step "
                      "of %g s, beside a weight of %.3g N: inertia that no step remembers outweighs friction; an h of "
                      "%.2g s would make it a tenth, qs-cone has none of it, dyn-ncp all",
                      l->scene->bodies[heaviest].name, mass, speed, mass * speed / h, h, mass * g, 10.0 * speed / g);
}

/* ------------------------------------------------------------------------------------------------------------------ */

perp_status perp_run_lint(const perp_model *model, const perp_contact_model *contact_model,
                          const perp_allocator *allocator, perp_diagnostics *diagnostics)
{
    run_lint l = {.model = model,
                  .scene = model->scene,
                  .rung = perp_rung_find(model->scene->run.model),
                  .diagnostics = diagnostics};
    lint_length(&l);
    lint_starts(&l);
    lint_effort(&l);
    if (l.rung && l.rung->inertia == PERP_RUNG_INERTIA_ONE_STEP) {
        perp_status status = perp_state_create(model, allocator, &l.state, NULL);
        status = status == PERP_STATUS_OK ? perp_kinematics_create(model, allocator, &l.kinematics, NULL) : status;
        if (status == PERP_STATUS_OK) {
            perp_kinematics_update(model, l.state.q, l.kinematics);
            lint_lag(&l);
            lint_drag(&l);
        }
        perp_kinematics_free(l.kinematics);
        perp_state_free(&l.state);
        if (status != PERP_STATUS_OK) {
            return status;
        }
    }
    /* A scene that names no model is one for any: then nothing is said of what the default one could not carry. */
    const bool chosen = l.rung && model->scene->run.model_set;
    const perp_contact_lint_rung facts = {.steps = l.rung && l.rung->step,
                                          .compliant = l.rung && (l.rung->takes & PERP_TAKES_COMPLIANCE),
                                          .balance = chosen && l.rung->inertia == PERP_RUNG_INERTIA_NONE};
    return perp_contact_lint(contact_model, &facts, allocator, diagnostics);
}
