#include "dynamic_problem.h"

#include <stdlib.h>
#include <string.h>

static void *need(void *memory)
{
    if (!memory) {
        fprintf(stderr, "dynamic_problem: out of memory\n");
        exit(1);
    }
    return memory;
}

/* f = -(A v + h forces) at the velocities so far, with springs at the end of the step. */
static void fill_system(const perp_model *model, perp_kinematics *kinematics, const perp_state *state, double h,
                        friction_case *c)
{
    const size_t nv = (size_t)model->nv + 1;
    double *mass = need(calloc((size_t)model->mass_size + 1, sizeof *mass));
    double *force = need(calloc(nv, sizeof *force)), *applied = need(calloc(nv, sizeof *applied));
    double *command = need(calloc(nv, sizeof *command)), *g = convex_case_g(c->base);
    perp_mass_matrix(model, kinematics, mass);
    perp_gravity_force(model, kinematics, force);
    perp_applied_force(model, kinematics, state->t + h, applied);
    perp_command(model, state->t + h, command);
    for (int k = 0; k < model->tree_count; k++) {
        const perp_tree *tree = &model->trees[k];
        double *block = convex_case_block(c->base, k);
        memcpy(block, mass + tree->mass_start, (size_t)(tree->v_count * tree->v_count) * sizeof *block);
        for (int r = 0; r < tree->v_count; r++) {
            const int i = tree->v_start + r;
            double momentum = 0.0;
            for (int s = 0; s < tree->v_count; s++) {
                momentum += block[r * tree->v_count + s] * state->v[tree->v_start + s];
            }
            const double stretch = model->role[i] == PERP_DOF_IMPEDANCE ? command[i] - state->q[model->dof_q[i]] : 0.0;
            g[i] = -(momentum + h * (force[i] + applied[i] + model->stiffness[i] * stretch));
            block[r * tree->v_count + r] += h * model->damping[i] + h * h * model->stiffness[i];
        }
    }
    free(mass);
    free(force);
    free(applied);
    free(command);
}

void dynamic_problem_make(const perp_model *model, const perp_state *state, double h, friction_case *c)
{
    perp_kinematics *kinematics = NULL;
    perp_contact_model *contacts = NULL;
    perp_contact_set *set = NULL;
    int *sizes = need(calloc((size_t)model->tree_count + 1, sizeof *sizes));
    if (perp_kinematics_create(model, NULL, &kinematics, NULL) != PERP_STATUS_OK ||
        perp_contact_model_build(model, NULL, &contacts, NULL) != PERP_STATUS_OK ||
        perp_contact_set_create(contacts, NULL, NULL, &set, NULL) != PERP_STATUS_OK) {
        need(NULL);
    }
    perp_kinematics_update(model, state->q, kinematics);
    if (perp_contact_set_build(set, kinematics, NULL) != PERP_STATUS_OK) {
        need(NULL);
    }
    for (int k = 0; k < model->tree_count; k++) {
        sizes[k] = model->trees[k].v_count;
    }
    friction_case_start(c, sizes, model->tree_count);
    for (int i = 0; i < set->count; i++) {
        const int start = set->dof_start[i];
        friction_case_add(c, &(friction_contact){.rows = 3,
                                                 .dof_count = set->dof_start[i + 1] - start,
                                                 .dofs = set->dofs + start,
                                                 .jacobian = set->jacobian + (ptrdiff_t)3 * start,
                                                 .mu = set->contacts[i].friction});
        convex_case_offset(c->base, i)[0] = set->contacts[i].phi / h;
    }
    fill_system(model, kinematics, state, h, c);
    c->inertial = true;
    c->family = "dynamic step";
    friction_case_finish(c, true, false);
    perp_contact_set_free(set);
    perp_contact_model_free(contacts);
    perp_kinematics_free(kinematics);
    free(sizes);
}
