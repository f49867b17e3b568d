#include "record_balance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_free(const record_judge *j, int dof)
{
    const perp_dof_role role = j->model->role[dof];
    return role == PERP_DOF_PASSIVE ||
           (role == PERP_DOF_IMPEDANCE && !(j->rung->takes & PERP_TAKES_IMPEDANCE_AS_POSITION));
}

static bool is_tied(const record_judge *j, int tree)
{
    const perp_scene *scene = j->model->scene;
    for (int i = 0; i < scene->loop_count; i++) {
        const int ends[2] = {scene->loops[i].body_a, scene->loops[i].body_b};
        for (int k = 0; k < 2; k++) {
            if (ends[k] >= 0 && j->model->links[ends[k]].tree == tree) {
                return true;
            }
        }
    }
    return false;
}

/* A free body with all of its degrees of freedom. */
static bool is_whole(const record_judge *j, const perp_tree *tree)
{
    const perp_link *root = &j->model->links[tree->root];
    const bool floats = root->motion == PERP_MOTION_FLOATING || root->motion == PERP_MOTION_FLOATING_PLANAR;
    return floats && j->model->role[tree->v_start] != PERP_DOF_PRESCRIBED && tree->v_count == root->v_count &&
           root->v_count == (j->model->planar ? 3 : 6);
}

/* What moves along lines that stay where they are: its velocity goes on. */
static bool is_straight(const record_judge *j, const perp_tree *tree)
{
    enum { TURNS = PERP_COMPONENT_RX | PERP_COMPONENT_RY | PERP_COMPONENT_RZ };
    const perp_link *root = &j->model->links[tree->root];
    const bool floats = root->motion == PERP_MOTION_FLOATING || root->motion == PERP_MOTION_FLOATING_PLANAR;
    return tree->v_count == root->v_count &&
           (root->motion == PERP_MOTION_PRISMATIC || (floats && !(root->components & TURNS)));
}

/* Euler's equations over h without torque, by the implicit midpoint rule in parts of at most half a radian. */
static perp_vec3 spun(const perp_mat3 *inertia, double h, perp_vec3 w)
{
    double values[3];
    perp_mat3 axes;
    perp_mat3_symmetric_eigen(inertia, values, &axes);
    const int parts = 1 + (int)(h * perp_vec3_norm(w) / 0.5);
    perp_vec3 start = perp_mat3_tmul_vec(&axes, w);
    for (int i = 0; i < parts; i++) {
        perp_vec3 next = start;
        for (int k = 0; k < 60; k++) {
            const perp_vec3 m = perp_vec3_scale(0.5, perp_vec3_add(start, next));
            next.x = start.x - h / parts * m.y * m.z * (values[2] - values[1]) / values[0];
            next.y = start.y - h / parts * m.z * m.x * (values[0] - values[2]) / values[1];
            next.z = start.z - h / parts * m.x * m.y * (values[1] - values[0]) / values[2];
        }
        start = next;
    }
    return perp_mat3_mul_vec(&axes, start);
}

/* The velocity that inertia alone brings a free body to, where the law holds; docs/models.md, "Inertia never adds
 * energy". */
static void carry(record_judge *j, const perp_kinematics *at, int body, bool late, double v[6])
{
    const perp_link *link = &j->model->links[body];
    const perp_mat3 *before = &j->begin->rotation[body], *now = &at->rotation[body];
    const perp_vec3 w = perp_mat3_tmul_vec(before, j->carried[body].angular);
    perp_vec3 spin = j->model->planar || (!late && j->step == 1)
                         ? j->carried[body].angular
                         : perp_mat3_mul_vec(before, spun(&link->inertia, j->settings->h, w));
    if (late && !j->model->planar) { /* scaled to the energy that it had */
        const perp_vec3 turned = perp_mat3_tmul_vec(now, spin);
        const double had = perp_vec3_dot(w, perp_mat3_mul_vec(&link->inertia, w));
        const double has = perp_vec3_dot(turned, perp_mat3_mul_vec(&link->inertia, turned));
        spin = has > 0.0 ? perp_vec3_scale(sqrt(had / has), spin) : spin;
    }
    const perp_vec3 arm = perp_mat3_mul_vec(now, link->com);
    const perp_vec3 linear = perp_vec3_sub(j->carried[body].linear, perp_vec3_cross(spin, arm));
    const double all[6] = {linear.x, linear.y, j->model->planar ? spin.z : linear.z, spin.x, spin.y, spin.z};
    memcpy(v, all, sizeof all);
}

void record_take_inertia(record_judge *j, const perp_kinematics *at, const double *v, bool late)
{
    const perp_model *model = j->model;
    const double h = j->settings->h, scale = pow(j->settings->time_scale, 2.0) / h;
    perp_mass_matrix(model, (perp_kinematics *)at, j->packed);
    perp_mass_matrix_expand(model, j->packed, j->mass);
    for (int k = 0; k < model->tree_count; k++) {
        const perp_tree *tree = &model->trees[k];
        const bool straight = is_straight(j, tree);
        double from[6] = {0.0};
        const bool full = j->rung->inertia == PERP_RUNG_INERTIA_FULL;
        if (full && is_whole(j, tree)) {
            carry(j, at, tree->root, late, from);
        }
        for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
            const bool known = !full || straight || is_whole(j, tree);
            j->inertia[i] = known ? 0.0 : NAN;
            for (int s = 0; known && s < tree->v_count && j->rung->inertia >= PERP_RUNG_INERTIA_ONE_STEP; s++) {
                const int dof = tree->v_start + s;
                const double m = j->mass[(ptrdiff_t)i * model->nv + dof];
                if (full) {
                    j->inertia[i] += scale * m * (v[dof] - (straight ? j->last.v[dof] : from[s]));
                } else if (model->role[i] == PERP_DOF_PASSIVE && model->role[dof] == PERP_DOF_PASSIVE) {
                    j->inertia[i] += m * v[dof] / h;
                }
            }
        }
    }
}

void record_take_loads(record_judge *j, const perp_kinematics *at, const double *q_end, const double *v, double t_end)
{
    const perp_model *model = j->model;
    perp_gravity_force(model, at, j->force);
    perp_applied_force(model, at, t_end, j->applied);
    for (int i = 0; i < model->nv; i++) {
        j->force[i] += j->applied[i];
    }
    perp_command(model, t_end, j->applied);
    for (int i = 0; i < model->nv; i++) {
        const bool spring = model->role[i] == PERP_DOF_IMPEDANCE && is_free(j, i);
        const bool damped = spring || j->rung->inertia == PERP_RUNG_INERTIA_FULL;
        j->applied[i] = spring ? model->stiffness[i] * (j->applied[i] - q_end[model->dof_q[i]]) : 0.0;
        j->applied[i] -= damped ? model->damping[i] * v[i] : 0.0;
        j->force[i] += j->applied[i];
    }
}

/* The elements of a patch push at their own places. */
void record_take_contact(record_judge *j, const perp_step_info *info, const perp_contact_record *r,
                         const record_place *p)
{
    const perp_contact *c = &r->contact;
    const perp_vec3 none = {0.0, 0.0, 0.0};
    for (int e = 0; e < (r->element_count > 0 ? r->element_count : 1); e++) {
        const perp_element_record *x = r->element_count > 0 ? &info->elements[r->element_start + e] : NULL;
        const perp_vec3 f = x ? record_in_frame(c, x->fn, x->ft[0], x->ft[1]) : r->force_on_b;
        const perp_vec3 off = x ? record_in_frame(c, 0.0, x->offset[0], x->offset[1]) : none;
        perp_add_wrench(j->model, p->k, c->b, perp_vec3_add(p->b, off), f, none, j->force);
        perp_add_wrench(j->model, p->k, c->a, perp_vec3_add(p->a, off), perp_vec3_scale(-1.0, f), none, j->force);
    }
}

/* A degree of freedom at its limit has a force that is not reported. */
static bool is_held(const record_judge *j, int dof, const double *q_end)
{
    const int at = j->model->dof_q[dof];
    return at >= 0 && (q_end[at] < j->model->limit_low[dof] + 1e-6 || q_end[at] > j->model->limit_high[dof] - 1e-6);
}

void record_judge_balance(record_judge *j, const perp_kinematics *at, const double *q_end, double unit)
{
    const perp_model *model = j->model;
    double length = 1e-2;
    for (int b = 0; b < model->body_count; b++) { /* m: an arm, about the size of the scene */
        length = fmax(length, perp_vec3_norm(perp_vec3_sub(at->com[b], at->com[0])));
    }
    for (int k = 0; k < model->tree_count; k++) {
        const perp_tree *tree = &model->trees[k];
        for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
            const bool turns = perp_vec3_norm(at->dof_angular[i]) > 0.5;
            if (!j->known[k] || is_tied(j, k) || !is_free(j, i) || is_held(j, i, q_end) || isnan(j->inertia[i])) {
                continue;
            }
            char what[160];
            snprintf(what, sizeof what, "degree of freedom %d, of `%.100s`,", i,
                     model->scene->bodies[model->dof_body[i]].name);
            record_judge_off(j, RECORD_BALANCE, NULL, what, fabs(j->force[i] - j->inertia[i]),
                             RECORD_LAW * unit * (turns ? length : 1.0));
        }
    }
}

void record_judge_momentum(record_judge *j, const perp_step_info *info, const perp_state *state, double unit)
{
    const perp_model *model = j->model;
    const bool full = j->rung->inertia == PERP_RUNG_INERTIA_FULL;
    for (int k = 0; k < model->tree_count; k++) {
        const int body = model->trees[k].root;
        bool loaded = is_tied(j, k) || j->rung->inertia == PERP_RUNG_INERTIA_ONE_STEP;
        for (int i = 0; i < model->scene->force_count; i++) {
            loaded = loaded || model->scene->forces[i].body_index == body;
        }
        if (loaded || !is_whole(j, &model->trees[k]) || perp_vec3_norm(model->links[body].com) > 0.0) {
            continue;
        }
        perp_vec3 sum = perp_vec3_scale(model->links[body].mass, model->scene->gravity);
        for (int i = 0; i < info->contact_count; i++) {
            const perp_contact_record *r = &info->contacts[i];
            sum = perp_vec3_add_scaled(sum, (r->contact.b == body) - (r->contact.a == body), r->force_on_b);
        }
        const double *v = state->v + model->trees[k].v_start;
        const perp_vec3 now = perp_vec3_make(v[0], v[1], model->planar ? 0.0 : v[2]);
        const double scale = full ? pow(j->settings->time_scale, 2.0) * model->links[body].mass / j->settings->h : 0.0;
        sum = perp_vec3_add_scaled(sum, -scale, perp_vec3_sub(now, j->carried[body].linear));
        record_judge_off(j, RECORD_BALANCE, NULL, model->scene->bodies[body].name, perp_vec3_norm(sum),
                         RECORD_LAW * unit);
    }
}
