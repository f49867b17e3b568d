/* sim.h - inside of a simulation. */
#ifndef PERP_SRC_SIM_SIM_H
#define PERP_SRC_SIM_SIM_H

#include "base/arena.h"
#include "sim/contact_log.h"
#include "sim/sim_pool.h"

#include <perp/sim.h>

typedef enum sim_lead {
    SIM_BY_SCENE, /* the scene's own function of time */
    SIM_TO_VALUE,
    SIM_AT_RATE
} sim_lead;

/* What leads one command or one coordinate of a driven body.
 *
 * Invariant of one that the scene does not lead: `drive` goes straight from `now`, its value at the state's time, to
 * `ahead` at the end of the step that is being taken, and is `now` between steps. */
typedef struct sim_channel {
    sim_lead lead;
    double set; /* the value or the rate */
    double now, ahead;
    double times[2], values[2];
} sim_channel;

struct perp_run_memory {
    const perp_step_context *step;
    const struct perp_sim *sim;
    bool touched; /* before the last step a wrench was applied, or another state was set */
};

struct perp_sim {
    perp_allocator source; /* the caller's */
    sim_pool *pool;
    bool bounded;             /* it has a limit */
    perp_allocator allocator; /* the pool's */
    perp_arena arena;         /* of what has a fixed size */
    const perp_model *given;  /* the caller's */
    /* The caller's scene and model with arrays of their own for joints, bodies and forces. */
    perp_scene scene;
    perp_model model;
    perp_run_settings settings;
    int max_contacts;
    sim_channel *commands; /* by joint of the scene */
    sim_channel *drives;   /* 6 by body */
    bool steered;          /* some channel is not led by the scene */
    bool touched;          /* since the last step: a wrench was applied, or another state was set */
    int scene_forces;      /* of scene.forces: those of the scene; behind them the wrenches of the next step */
    perp_step_context step;
    perp_run_memory memory;
    contact_log contacts;
    perp_state state;
    perp_step_info infos[2]; /* of the last step, and of the one that is being taken */
    perp_step_info *info;    /* the former */
    int element_capacity;
    perp_element_record *elements; /* of info, after a restore or a failed step */
    perp_loop_force *loops;        /* of info, after a restore; by loop of the scene */
    size_t fresh_count;
    double *fresh;   /* what the rung remembers before its first step */
    bool fails_late; /* a step that fails may have changed what the rung remembers */
    size_t undo_count, undo_capacity;
    double undo_margin;
    double *undo; /* what it remembered when the step began, where a failed one may have changed it */
    int steps;
    int counted_from; /* steps when the time was `t_from`: step k ends at t_from + (k - counted_from) h */
    double t_from;
    int iterations; /* of the last step, or of the try that failed */
    perp_hash hash;
    perp_observer *observer;
    void *observer_context;
    perp_sim_law *law;
    void *law_context;
};

/* With everything but its first contacts, at a state of the caller's (NULL: the scene's). */
perp_status perp_sim_open(const perp_model *model, const perp_sim_settings *settings, const perp_state *state,
                          perp_sim **sim, perp_error *error);
/* The hash and the contacts of the first state. */
perp_status perp_sim_begin(perp_sim *sim, perp_error *error);
/* As a run stood after some step. */
perp_status perp_sim_resume(perp_sim *sim, const perp_run_start *start, perp_error *error);
/* Copies elements to sim->elements; false without memory. */
bool perp_sim_keep_elements(perp_sim *sim, const perp_element_record *elements, int count);
/* Memory beyond the limit is the settings' fault, whatever was being done: CAPACITY in place of the status. */
perp_status perp_sim_judge_memory(perp_sim *sim, perp_status status, perp_error *error);
/* Another state, of which a rung that answers about an instant is asked: as perp_run of it from there, but that memory
 * is kept. `result` is to be freed while the simulation lives. */
perp_status perp_sim_answer(perp_sim *sim, const perp_state *state, perp_run_result *result, perp_error *error);
/* Has the rung forget all steps. */
perp_status perp_sim_forget(perp_sim *sim, perp_error *error);

perp_status perp_sim_check_state(const perp_model *model, double t, const double *q, const double *v,
                                 perp_error *error);
/* The contacts of the state as it is, without forces. */
perp_status perp_sim_look(perp_sim *sim, perp_error *error);

/* Of everything that tells one simulation from another (sim_fingerprint.c). */
perp_hash perp_sim_fingerprint(const perp_scene *scene, const perp_run_settings *run);

/* ---- what steers (sim_steer.c) ------------------------------------------------------------------------------------
 */

/* Where something is steered: */
void perp_sim_lead_steps(perp_sim *sim, double t_end); /* before a step */
void perp_sim_lead_done(perp_sim *sim);                /* after it, where it was taken */
bool perp_sim_is_led(const perp_sim *sim);             /* by other than the scene */
/* The channels, or the time, have new values. */
void perp_sim_lead_refresh(perp_sim *sim);
/* The scene's drives of a driven body, and for further coordinates of the mask drives that stay at its pose. */
void perp_sim_lead_body(perp_sim *sim, int body, unsigned mask);
/* What is prescribed and is not where its command has it stays where it is. */
void perp_sim_lead_hold(perp_sim *sim);

#endif
