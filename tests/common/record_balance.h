/* record_balance.h - forces and torques of a step, for record_judge.c: on every degree of freedom that contacts, loads,
 * springs and inertia alone act on, they sum to nothing. */
#ifndef PERP_TESTS_COMMON_RECORD_BALANCE_H
#define PERP_TESTS_COMMON_RECORD_BALANCE_H

#include "record_judge.h"

/* Of F, of L: ten times what a step's law is met to, F and L being others here. */
static const double RECORD_LAW = 1e-7;

/* Where a contact's law and frame hold. */
typedef struct record_place {
    const perp_kinematics *k;
    perp_vec3 a, b; /* witnesses */
    double phi;
} record_place;

/* `off` must not exceed `most`; `c` may be NULL. */
void record_judge_off(record_judge *j, record_check check, const perp_contact *c, const char *what, double off,
                      double most);

static inline perp_vec3 record_in_frame(const perp_contact *c, double n, double t, double o)
{
    return perp_vec3_add_scaled(perp_vec3_add_scaled(perp_vec3_scale(n, c->normal), t, c->t), o, c->o);
}

/* Of a body's point that is at `point` in the world. */
perp_vec3 record_velocity_at(const perp_kinematics *k, int body, perp_vec3 point);
/* A point that a planar body rests on; `p` NULL: it is not known where the law holds; `forces`: they are known. */
void record_judge_support(record_judge *j, const perp_step_info *info, const perp_contact_record *r,
                          const record_place *p, bool forces, double unit);

/* Force that inertia takes, by degree of freedom, into j->inertia; NaN where it is not known. `v` are the velocities of
 * the answer; `late`: the law holds at the step's end. */
void record_take_inertia(record_judge *j, const perp_kinematics *at, const double *v, bool late);
/* Loads and springs at the configuration where the law holds, into j->force; contacts come on top. */
void record_take_loads(record_judge *j, const perp_kinematics *at, const double *q_end, const double *v, double t_end);
void record_take_contact(record_judge *j, const perp_step_info *info, const perp_contact_record *r,
                         const record_place *p);
/* The sum, over `unit`, N. */
void record_judge_balance(record_judge *j, const perp_kinematics *at, const double *q_end, double unit);
/* Of a step that was split: the sum of what acts on a free body, without torques. */
void record_judge_momentum(record_judge *j, const perp_step_info *info, const perp_state *state, double unit);

#endif
