#include "base/mat3.h"
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

/* The solution of the 3 x 3 system with these rows, by Cramer's rule. */
static perp_vec3 solved(const perp_vec3 rows[3], const double right[3])
{
    perp_vec3 x = {0.0, 0.0, 0.0};
    const double determinant = perp_vec3_dot(rows[0], perp_vec3_cross(rows[1], rows[2]));
    for (int i = 0; i < 3; i++) { /* the inverse has the cross products of the rows as columns */
        x = perp_vec3_add_scaled(x, right[i] / determinant, perp_vec3_cross(rows[(i + 1) % 3], rows[(i + 2) % 3]));
    }
    return x;
}

/* Euler's equations over h without torque, by the implicit midpoint rule in parts of at most half a radian: I (w+ - w)
 * + h m x I m = 0 with m the mean of w and w+, by Newton's method along the axes of the inertia I. */
static perp_vec3 spun(const perp_mat3 *inertia, double h, perp_vec3 w)
{
    double i[3];
    perp_mat3 axes;
    perp_mat3_symmetric_eigen(inertia, i, &axes);
    const int parts = 1 + (int)(h * perp_vec3_norm(w) / 0.5);
    const double *e = axes.m; /* which may be left-handed: then cross products change their signs */
    const perp_vec3 across = perp_vec3_cross(perp_vec3_make(e[0], e[1], e[2]), perp_vec3_make(e[3], e[4], e[5]));
    const double d = copysign(h / parts, perp_vec3_dot(across, perp_vec3_make(e[6], e[7], e[8])));
    perp_vec3 start = perp_mat3_tmul_vec(&axes, w);
    for (int k = 0; k < parts; k++) {
        perp_vec3 next = start;
        for (int round = 0; round < 20; round++) {
            const perp_vec3 m = perp_vec3_scale(0.5, perp_vec3_add(start, next)), moved = perp_vec3_sub(next, start);
            const double a = d * (i[2] - i[1]), b = d * (i[0] - i[2]), c = d * (i[1] - i[0]);
            const double off[3] = {i[0] * moved.x + a * m.y * m.z, i[1] * moved.y + b * m.z * m.x,
                                   i[2] * moved.z + c * m.x * m.y};
            const perp_vec3 rows[3] = {{i[0], 0.5 * a * m.z, 0.5 * a * m.y},
                                       {0.5 * b * m.z, i[1], 0.5 * b * m.x},
                                       {0.5 * c * m.y, 0.5 * c * m.x, i[2]}};
            next = perp_vec3_sub(next, solved(rows, off));
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
    const perp_vec3 none = {0.0, 0.0, 0.0}, moment = perp_vec3_scale(r->moment, c->normal);
    for (int e = 0; e < (r->element_count > 0 ? r->element_count : 1); e++) {
        const perp_element_record *x = r->element_count > 0 ? &info->elements[r->element_start + e] : NULL;
        const perp_vec3 f = x ? record_in_frame(c, x->fn, x->ft[0], x->ft[1]) : r->force_on_b;
        const perp_vec3 off = x ? record_in_frame(c, 0.0, x->offset[0], x->offset[1]) : none;
        perp_add_wrench(j->model, p->k, c->b, perp_vec3_add(p->b, off), f, moment, j->force);
        if (perp_contact_is_support(c)) {
            continue; /* the plane stays where it is */
        }
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
            const bool on_a = r->contact.a == body && !perp_contact_is_support(&r->contact);
            sum = perp_vec3_add_scaled(sum, (r->contact.b == body) - on_a, r->force_on_b);
        }
        sum.z = model->planar ? 0.0 : sum.z; /* the plane below carries what supports press */
        const double *v = state->v + model->trees[k].v_start;
        const perp_vec3 now = perp_vec3_make(v[0], v[1], model->planar ? 0.0 : v[2]);
        const double scale = full ? pow(j->settings->time_scale, 2.0) * model->links[body].mass / j->settings->h : 0.0;
        sum = perp_vec3_add_scaled(sum, -scale, perp_vec3_sub(now, j->carried[body].linear));
        record_judge_off(j, RECORD_BALANCE, NULL, model->scene->bodies[body].name, perp_vec3_norm(sum),
                         RECORD_LAW * unit);
    }
}
