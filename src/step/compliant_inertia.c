/* The velocity that a compliant step starts from, at the configuration that it ends at: compliant.h. */
#include "step/compliant.h"

#include <string.h>

static perp_vec3 spin_of(const perp_quasistatic *qs, const perp_tree *tree, const double *v)
{
    return qs->model->planar ? perp_vec3_make(0.0, 0.0, v[tree->v_start + 2])
                             : perp_vec3_make(v[tree->v_start + 3], v[tree->v_start + 4], v[tree->v_start + 5]);
}

static perp_vec3 arm_of(const perp_quasistatic *qs, const perp_kinematics *k, const perp_tree *tree)
{
    return perp_mat3_mul_vec(&k->rotation[tree->root], qs->model->links[tree->root].com);
}

/* Twice the energy of turning about the centre of mass. */
static double spin_energy(const perp_quasistatic *qs, const perp_kinematics *k, const perp_tree *tree, perp_vec3 spin)
{
    const perp_vec3 in_body = perp_mat3_tmul_vec(&k->rotation[tree->root], spin);
    return perp_vec3_dot(in_body, perp_mat3_mul_vec(&qs->model->links[tree->root].inertia, in_body));
}

static bool is_body(int drift)
{
    return drift == PERP_DRIFT_BODY || drift == PERP_DRIFT_PLANAR_BODY;
}

/* What v is to keep, with kinematics where it is. */
static void remember(perp_quasistatic *qs, perp_step_context *context, const double *v)
{
    compliant_step *s = qs->own;
    const perp_model *model = qs->model;
    perp_mass_matrix(model, context->kinematics, qs->mass);
    for (int k = 0; k < model->tree_count; k++) {
        const perp_tree *tree = &model->trees[k];
        if (is_body(qs->drift[k])) {
            const double *at = v + tree->v_start;
            const perp_vec3 spin = spin_of(qs, tree, v);
            const perp_vec3 origin = perp_vec3_make(at[0], at[1], model->planar ? 0.0 : at[2]);
            s->com_velocity[k] = perp_vec3_add(origin, perp_vec3_cross(spin, arm_of(qs, context->kinematics, tree)));
            s->energy[k] = spin_energy(qs, context->kinematics, tree, spin);
        } else {
            s->energy[k] = perp_dynamic_kinetic_energy(tree, qs->mass, v);
        }
    }
}

void perp_compliant_remember_inertia(perp_quasistatic *qs, perp_step_context *context)
{
    compliant_step *s = qs->own;
    for (int k = 0; k < qs->model->tree_count; k++) {
        qs->h_last[k] = qs->h; /* velocities are those of where the last step ended: this one's way is ahead of them */
    }
    perp_dynamic_drift(qs, context);
    memcpy(s->v_begin, qs->v_drifted, (size_t)qs->model->nv * sizeof *s->v_begin);
    remember(qs, context, qs->v_last);
}

static void carry_body(perp_quasistatic *qs, const perp_kinematics *kinematics, int k)
{
    const compliant_step *s = qs->own;
    const perp_tree *tree = &qs->model->trees[k];
    double *v = qs->v_drifted + tree->v_start;
    /* In the plane too: where a loop holds the body, v_begin is rid of what the loop forbids, and its spin is another.
     */
    perp_vec3 spin = spin_of(qs, tree, s->v_begin);
    const double now = spin_energy(qs, kinematics, tree, spin);
    spin = now > 0.0 ? perp_vec3_scale(sqrt(s->energy[k] / now), spin) : spin;
    v[qs->model->planar ? 2 : 5] = spin.z;
    if (!qs->model->planar) {
        v[3] = spin.x;
        v[4] = spin.y;
    }
    const perp_vec3 origin = perp_vec3_sub(s->com_velocity[k], perp_vec3_cross(spin, arm_of(qs, kinematics, tree)));
    v[0] = origin.x;
    v[1] = origin.y;
    if (!qs->model->planar) {
        v[2] = origin.z;
    }
}

/* A tree that commands move has no energy of its own to keep. */
static void carry_mechanism(perp_quasistatic *qs, int k)
{
    const compliant_step *s = qs->own;
    const perp_tree *tree = &qs->model->trees[k];
    const double now = perp_dynamic_kinetic_energy(tree, qs->mass, s->v_begin);
    bool commanded = false;
    for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
        commanded = commanded || qs->free_of_dof[i] < 0;
    }
    for (int i = tree->v_start; i < tree->v_start + tree->v_count && !commanded && now > 0.0; i++) {
        qs->v_drifted[i] = s->v_begin[i] * sqrt(s->energy[k] / now);
    }
}

void perp_compliant_carry_inertia(perp_quasistatic *qs, perp_step_context *context)
{
    const compliant_step *s = qs->own;
    const perp_model *model = qs->model;
    memcpy(qs->v_drifted, s->v_begin, (size_t)model->nv * sizeof *qs->v_drifted);
    bool massed = false;
    for (int k = 0; k < model->tree_count; k++) {
        if (is_body(qs->drift[k])) {
            carry_body(qs, context->kinematics, k);
        } else if (qs->drift[k] == PERP_DRIFT_MECHANISM) {
            if (!massed) {
                perp_mass_matrix(model, context->kinematics, qs->mass);
                massed = true;
            }
            carry_mechanism(qs, k);
        }
    }
}

void perp_compliant_carry_answer(perp_quasistatic *qs, perp_step_context *context)
{
    compliant_step *s = qs->own;
    const size_t bytes = (size_t)qs->model->nv * sizeof(double);
    memcpy(s->v_begin, qs->v, bytes);
    remember(qs, context, qs->v);
    perp_kinematics_update(qs->model, context->next_q, context->kinematics);
    perp_compliant_carry_inertia(qs, context);
    memcpy(qs->v, qs->v_drifted, bytes);
}
