/* The velocity that a compliant step starts from, at the configuration that it ends at: compliant.h. */
#include "step/compliant/compliant.h"

#include <string.h>

static perp_vec3 spin_of(const contact_step *step, const perp_tree *tree, const double *v)
{
    return step->model->planar ? perp_vec3_make(0.0, 0.0, v[tree->v_start + 2])
                               : perp_vec3_make(v[tree->v_start + 3], v[tree->v_start + 4], v[tree->v_start + 5]);
}

static perp_vec3 arm_of(const contact_step *step, const perp_kinematics *k, const perp_tree *tree)
{
    return perp_mat3_mul_vec(&k->rotation[tree->root], step->model->links[tree->root].com);
}

/* Twice the energy of turning about the centre of mass. */
static double spin_energy(const contact_step *step, const perp_kinematics *k, const perp_tree *tree, perp_vec3 spin)
{
    const perp_vec3 in_body = perp_mat3_tmul_vec(&k->rotation[tree->root], spin);
    return perp_vec3_dot(in_body, perp_mat3_mul_vec(&step->model->links[tree->root].inertia, in_body));
}

static bool is_body(int drift)
{
    return drift == PERP_DRIFT_BODY || drift == PERP_DRIFT_PLANAR_BODY;
}

/* What v is to keep, with kinematics where it is. */
static void remember(contact_step *step, perp_step_context *context, const double *v)
{
    compliant_step *s = step->own;
    const perp_model *model = step->model;
    perp_mass_matrix(model, context->kinematics, step->mass);
    for (int k = 0; k < model->tree_count; k++) {
        const perp_tree *tree = &model->trees[k];
        if (is_body(step->inertia.drift[k])) {
            const double *at = v + tree->v_start;
            const perp_vec3 spin = spin_of(step, tree, v);
            const perp_vec3 origin = perp_vec3_make(at[0], at[1], model->planar ? 0.0 : at[2]);
            s->com_velocity[k] = perp_vec3_add(origin, perp_vec3_cross(spin, arm_of(step, context->kinematics, tree)));
            s->energy[k] = spin_energy(step, context->kinematics, tree, spin);
        } else {
            s->energy[k] = perp_dynamic_kinetic_energy(tree, step->mass, v);
        }
    }
}

void perp_compliant_remember_inertia(contact_step *step, perp_step_context *context)
{
    compliant_step *s = step->own;
    for (int k = 0; k < step->model->tree_count; k++) {
        step->inertia.h_last[k] =
            step->h; /* velocities are those of where the last step ended: this one's way is ahead of them */
    }
    perp_dynamic_drift(step, context);
    memcpy(s->v_begin, step->inertia.v_drifted, (size_t)step->model->nv * sizeof *s->v_begin);
    remember(step, context, step->v_last);
}

static void carry_body(contact_step *step, const perp_kinematics *kinematics, int k)
{
    const compliant_step *s = step->own;
    const perp_tree *tree = &step->model->trees[k];
    double *v = step->inertia.v_drifted + tree->v_start;
    /* In the plane too: where a loop holds the body, v_begin is rid of what the loop forbids, and its spin is another.
     */
    perp_vec3 spin = spin_of(step, tree, s->v_begin);
    const double now = spin_energy(step, kinematics, tree, spin);
    spin = now > 0.0 ? perp_vec3_scale(sqrt(s->energy[k] / now), spin) : spin;
    v[step->model->planar ? 2 : 5] = spin.z;
    if (!step->model->planar) {
        v[3] = spin.x;
        v[4] = spin.y;
    }
    const perp_vec3 origin = perp_vec3_sub(s->com_velocity[k], perp_vec3_cross(spin, arm_of(step, kinematics, tree)));
    v[0] = origin.x;
    v[1] = origin.y;
    if (!step->model->planar) {
        v[2] = origin.z;
    }
}

/* A tree that commands move has no energy of its own to keep. */
static void carry_mechanism(contact_step *step, int k)
{
    const compliant_step *s = step->own;
    const perp_tree *tree = &step->model->trees[k];
    const double now = perp_dynamic_kinetic_energy(tree, step->mass, s->v_begin);
    bool commanded = false;
    for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
        commanded = commanded || step->free_of_dof[i] < 0;
    }
    for (int i = tree->v_start; i < tree->v_start + tree->v_count && !commanded && now > 0.0; i++) {
        step->inertia.v_drifted[i] = s->v_begin[i] * sqrt(s->energy[k] / now);
    }
}

void perp_compliant_carry_inertia(contact_step *step, perp_step_context *context)
{
    const compliant_step *s = step->own;
    const perp_model *model = step->model;
    memcpy(step->inertia.v_drifted, s->v_begin, (size_t)model->nv * sizeof *step->inertia.v_drifted);
    bool massed = false;
    for (int k = 0; k < model->tree_count; k++) {
        if (is_body(step->inertia.drift[k])) {
            carry_body(step, context->kinematics, k);
        } else if (step->inertia.drift[k] == PERP_DRIFT_MECHANISM) {
            if (!massed) {
                perp_mass_matrix(model, context->kinematics, step->mass);
                massed = true;
            }
            carry_mechanism(step, k);
        }
    }
}

void perp_compliant_carry_answer(contact_step *step, perp_step_context *context)
{
    compliant_step *s = step->own;
    const size_t bytes = (size_t)step->model->nv * sizeof(double);
    memcpy(s->v_begin, step->v, bytes);
    remember(step, context, step->v);
    perp_kinematics_update(step->model, context->next_q, context->kinematics);
    perp_compliant_carry_inertia(step, context);
    memcpy(step->v, step->inertia.v_drifted, bytes);
}
