/* perp/sim.h - a simulation to hold: step it, steer it, save it.
 *
 *     perp_sim *sim;
 *     perp_sim_create(model, NULL, &sim, &error);               // the scene's own run settings
 *     while (perp_sim_state(sim)->t < 2.0) {
 *         perp_sim_set_command(sim, joint, 0.1 * sin(perp_sim_state(sim)->t), &error);
 *         if (perp_sim_step(sim, &error) != PERP_STATUS_OK) break;
 *     }
 *     perp_sim_free(sim);
 *
 * perp_run is a loop over it: the states have the same bits.
 *
 * A simulation has its own copy of what steers it: commands of joints, drives of bodies and applied forces. The model
 * and its scene stay constant and may be shared: one simulation a thread, any number of them on one model. No two
 * functions on one simulation may run at the same time; perp_sim_save and perp_sim_clone read it like any other.
 *
 * What steers, and when. A step goes from t to t + h. What is set between two steps acts from the next one on:
 *
 *   command     of a joint under control. Positions move to the command on a straight line over the next step and stay
 *               there; a spring is led the same way; a torque acts from the begin of the step on. A rate goes on until
 *               something else is set.
 *   drive       of a driven body, one coordinate each, likewise.
 *   wrench      acts during the next step that is taken, and then no more; several add up. What does not move freely
 *               feels nothing of it.
 *   state       time, configuration and velocity from elsewhere. What the model remembers of steps before, such as the
 *               deformation of compliant contacts, is forgotten, as at the start of a run.
 */
#ifndef PERP_SIM_H
#define PERP_SIM_H

#include <perp/step.h>

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perp_sim perp_sim;

typedef struct perp_sim_settings {
    size_t size;                     /* of this struct; see perp/base.h */
    const perp_run_settings *run;    /* copied; NULL: the scene's. `steps` and `until` say nothing here */
    const perp_allocator *allocator; /* NULL: malloc */
    /* Bytes that are taken at creation; no memory is asked for afterwards, but by perp_sim_clone. A step that needs
     * more fails with CAPACITY. perp_sim_memory says how much a trial took. 0: as much as it needs, when it needs it.
     */
    size_t memory;
    int max_contacts; /* more are a CAPACITY error, never dropped */
} perp_sim_settings;

static inline perp_sim_settings perp_sim_settings_default(void)
{
    perp_sim_settings r;
    memset(&r, 0, sizeof r);
    r.size = sizeof r;
    r.max_contacts = INT32_MAX;
    return r;
}

/* At the scene's initial state. `settings` NULL: the default ones. The model is borrowed and must outlive the
 * simulation. Fails as perp_run does before its first step. */
PERP_API perp_status perp_sim_create(const perp_model *model, const perp_sim_settings *settings, perp_sim **sim,
                                     perp_error *error);
PERP_API void perp_sim_free(perp_sim *sim); /* NULL allowed */

/* One step of h. Fails with the model's own status where the step has no answer; everything is then as it was, with the
 * commands and wrenches that were set, and others may be tried: the next step has the bits that it would have had
 * without the failure. Where the step has an answer but the contacts at its end cannot be listed (CAPACITY,
 * OUT_OF_MEMORY, INFEASIBLE), it has been taken, which perp_sim_steps tells. BAD_INPUT on models that answer about an
 * instant and have no steps. */
PERP_API perp_status perp_sim_step(perp_sim *sim, perp_error *error);

/* ---- control laws and observers ---------------------------------------------------------------------------------- */

/* Called by every perp_sim_step before it begins, to set commands from the state; false ends the step with CANCELLED
 * before anything has moved. */
typedef bool perp_sim_law(void *context, perp_sim *sim);
PERP_API void perp_sim_on_step(perp_sim *sim, perp_sim_law *law, void *context); /* NULL: none */

/* Called at once for the state as it is, then after every step, as the observer of perp_run: perp_log_observe with its
 * log writes a log, perp_csv_observe CSV files. NULL: none. Where it returns false, this and every step do with
 * CANCELLED; that step has been taken. */
PERP_API perp_status perp_sim_observe(perp_sim *sim, perp_observer *observer, void *context, perp_error *error);

/* ---- steering -----------------------------------------------------------------------------------------------------
 */

/* Joints and bodies are indices of the scene (perp_scene_find_joint, perp_scene_find_body). BAD_INPUT where a number is
 * not finite, or the joint or body cannot take it: the error says why, and nothing has changed. */

/* By the joint's `control`: m or rad of positions and springs, m/s or rad/s of velocities, N or N m of torques. Joints
 * without control have none. */
PERP_API perp_status perp_sim_set_command(perp_sim *sim, int joint, double value, perp_error *error);
/* m/s, rad/s: the command of a joint whose control is a position or a spring moves on at this rate. */
PERP_API perp_status perp_sim_set_command_rate(perp_sim *sim, int joint, double rate, perp_error *error);
/* m, rad: `component` is one PERP_COMPONENT_* of a driven body's pose, which has R = Rz Ry Rx. */
PERP_API perp_status perp_sim_set_drive(perp_sim *sim, int body, unsigned component, double value, perp_error *error);
/* m/s, rad/s. */
PERP_API perp_status perp_sim_set_drive_rate(perp_sim *sim, int body, unsigned component, double rate,
                                             perp_error *error);
/* N and N m, world frame, at a point in the world; of the next step only, and added to what was applied before. */
PERP_API perp_status perp_sim_apply(perp_sim *sim, int body, perp_vec3 point_world, perp_vec3 force, perp_vec3 torque,
                                    perp_error *error);
/* t, q (nq, unit quaternions) and v (nv); what is prescribed is taken from there too, so that a commanded joint goes on
 * from where it was put. A rate that was set goes on from there; its scene's command leads it no more. BAD_INPUT also
 * where a quaternion has not length 1 (to 1e-6), or t is so large that t + h is t. */
PERP_API perp_status perp_sim_set_state(perp_sim *sim, double t, const double *q, const double *v, perp_error *error);

/* ---- reading ------------------------------------------------------------------------------------------------------
 */

/* All of it is the simulation's, until its next step, set_state or restore. */
PERP_API const perp_state *perp_sim_state(const perp_sim *sim);
/* As the observer of a run gets it: contacts, events, residuals, fallbacks of the last step; at the start the contacts
 * of the initial state, without force. */
PERP_API const perp_step_info *perp_sim_info(const perp_sim *sim);
/* The model with what steers it now: perp_command, perp_point_jacobian and the like of the simulation's own time. */
PERP_API const perp_model *perp_sim_model(const perp_sim *sim);
/* Poses of the state; body -1 is the world. */
PERP_API perp_pose perp_sim_pose(const perp_sim *sim, int body);
PERP_API int perp_sim_steps(const perp_sim *sim); /* taken, also before a restore or set_state */
/* Of every state since creation, as in perp_run_result. perp_sim_set_state feeds the new state. */
PERP_API perp_hash perp_sim_hash(const perp_sim *sim);
/* The command of a joint at the state's time, and 0 of one without control. */
PERP_API double perp_sim_command(const perp_sim *sim, int joint);

/* Of the state now, with the commands that steer it: see perp_energy. */
PERP_API perp_energy perp_sim_energy(const perp_sim *sim);

/* Bytes that are held now: what `memory` of the settings has to be, at least. */
PERP_API size_t perp_sim_memory(const perp_sim *sim);

/* ---- saving -------------------------------------------------------------------------------------------------------
 */

/* Everything that further steps depend on, as plain bytes: state, commands, what the model remembers, contacts, hash.
 * Returns how many there are; writes them where `capacity` is enough. `bytes` is aligned as malloc does. Good within
 * one build of the library, for any simulation of the same scene and settings; not a file format. */
PERP_API size_t perp_sim_save(const perp_sim *sim, void *bytes, size_t capacity);
/* Further steps have the bits that they would have had then. Observers and laws stay as they are and are not called.
 * BAD_INPUT where the bytes are not of such a simulation; the simulation is then as it was. After another failure (no
 * memory) it is not, and has to be restored again. */
PERP_API perp_status perp_sim_restore(perp_sim *sim, const void *bytes, size_t size, perp_error *error);
/* Another simulation of the same model in the same state, without observer and law. */
PERP_API perp_status perp_sim_clone(const perp_sim *sim, perp_sim **clone, perp_error *error);

/* ---- whole runs ---------------------------------------------------------------------------------------------------
 */

/* Runs `settings->model` from `state` (which ends at the last state reached). The settings are usually &scene->run.
 * Fails with BAD_INPUT where the settings do not fit the rung (error.path says which key) or the state is not finite,
 * with the rung's own status where a step has no answer, with OUT_OF_MEMORY, CAPACITY or INFEASIBLE where the contacts
 * of a state cannot be listed (the state is then that one, and counted), with CANCELLED where the observer or
 * settings->cancel said so. `result` is filled as far as the run came and is to be freed. Once no state has more
 * contacts than one before it, a step takes no memory. */
PERP_API perp_status perp_run(const perp_model *model, const perp_run_settings *settings,
                              const perp_allocator *allocator, perp_observer *observer, void *observer_context,
                              perp_state *state, perp_run_result *result, perp_error *error);

/* As perp_run, from `state` at the end of step start->step on: the further states and the result have the bits that an
 * undisturbed run would have given (timing is that of the further steps). BAD_INPUT where the memory is not one of this
 * rung and model. */
PERP_API perp_status perp_run_continue(const perp_model *model, const perp_run_settings *settings,
                                       const perp_run_start *start, perp_state *state, perp_run_result *result,
                                       perp_error *error);

#ifdef __cplusplus
}
#endif
#endif
