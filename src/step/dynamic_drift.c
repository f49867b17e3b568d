/* Velocities carried to where the last step has led, without forces and without gaining energy: dynamic.h. */
#include "step/dynamic.h"

#include <perp/linalg.h>

#include <string.h>

/* ---- which trees drift, and how ---------------------------------------------------------------------------------- */

static perp_dynamic_drift_kind kind_of(const perp_quasistatic *qs, int k, int bodies)
{
    const perp_tree *tree = &qs->model->trees[k];
    const perp_link *root = &qs->model->links[tree->root];
    bool all_free = true;
    for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
        all_free = all_free && qs->free_of_dof[i] >= 0;
    }
    if (bodies == 1 && all_free && root->motion == PERP_MOTION_FLOATING && tree->v_count == 6) {
        return PERP_DRIFT_BODY;
    }
    if (bodies == 1 && all_free && root->motion == PERP_MOTION_FLOATING_PLANAR && tree->v_count == 3) {
        return PERP_DRIFT_PLANAR_BODY;
    }
    /* along or about one fixed line nothing changes; nor do the velocities of a particle */
    const unsigned turning = PERP_COMPONENT_RX | PERP_COMPONENT_RY | PERP_COMPONENT_RZ;
    const bool floats = root->motion == PERP_MOTION_FLOATING || root->motion == PERP_MOTION_FLOATING_PLANAR;
    const bool constant = tree->v_count == 1 || (bodies == 1 && floats && (root->components & turning) == 0);
    return constant ? PERP_DRIFT_NONE : PERP_DRIFT_MECHANISM;
}

void perp_dynamic_classify(perp_quasistatic *qs)
{
    const perp_model *model = qs->model;
    memset(qs->drift, 0, (size_t)model->tree_count * sizeof *qs->drift);
    for (int i = 0; i < model->body_count; i++) {
        if (model->links[i].tree >= 0) {
            qs->drift[model->links[i].tree]++;
        }
    }
    for (int k = 0; k < model->tree_count; k++) {
        qs->drift[k] = (int)kind_of(qs, k, qs->drift[k]);
    }
}

/* ---- one free body ----------------------------------------------------------------------------------------------- */

/* a x (I b) + b x (I a) over 2 is Euler's term, quadratic in w: its derivative along d at m is what Newton needs. */
static perp_vec3 turn(const perp_mat3 *inertia, perp_vec3 a, perp_vec3 b)
{
    return perp_vec3_cross(a, perp_mat3_mul_vec(inertia, b));
}

/* Solves the 3 x 3 system with columns a, b, c; false where it is singular. */
static bool solve_columns(perp_vec3 a, perp_vec3 b, perp_vec3 c, perp_vec3 right, perp_vec3 *x)
{
    const perp_vec3 bc = perp_vec3_cross(b, c), ca = perp_vec3_cross(c, a), ab = perp_vec3_cross(a, b);
    const double determinant = perp_vec3_dot(a, bc);
    if (!(fabs(determinant) > 0.0)) {
        return false;
    }
    *x = perp_vec3_make(perp_vec3_dot(right, bc) / determinant, perp_vec3_dot(right, ca) / determinant,
                        perp_vec3_dot(right, ab) / determinant);
    return true;
}

/* I (w+ - w) + h m x I m = 0 with m = (w + w+) / 2, by Newton's method from w; false where it does not come to rest. */
static bool midpoint(const perp_mat3 *inertia, double h, perp_vec3 w, perp_vec3 *out)
{
    enum { ITERATIONS = 30 };
    static const perp_vec3 axis[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    perp_vec3 x = w;
    for (int i = 0; i < ITERATIONS; i++) {
        const perp_vec3 m = perp_vec3_scale(0.5, perp_vec3_add(w, x));
        const perp_vec3 change = perp_mat3_mul_vec(inertia, perp_vec3_sub(x, w));
        const perp_vec3 f = perp_vec3_add_scaled(change, h, turn(inertia, m, m));
        perp_vec3 column[3], step;
        for (int k = 0; k < 3; k++) {
            const perp_vec3 both = perp_vec3_add(turn(inertia, axis[k], m), turn(inertia, m, axis[k]));
            column[k] = perp_vec3_add_scaled(perp_mat3_mul_vec(inertia, axis[k]), 0.5 * h, both);
        }
        if (!solve_columns(column[0], column[1], column[2], f, &step)) {
            return false;
        }
        x = perp_vec3_sub(x, step);
        if (!(perp_vec3_norm(step) > 4e-16 * perp_vec3_norm(x))) {
            *out = x;
            return isfinite(perp_vec3_norm(x));
        }
    }
    /* to and fro in the last bits is at rest too */
    *out = x;
    const perp_vec3 m = perp_vec3_scale(0.5, perp_vec3_add(w, x));
    const perp_vec3 f = perp_vec3_add_scaled(perp_mat3_mul_vec(inertia, perp_vec3_sub(x, w)), h, turn(inertia, m, m));
    return perp_vec3_norm(f) <= 1e-14 * perp_vec3_norm(perp_mat3_mul_vec(inertia, w));
}

/* How the angular velocity changes within h, body frame. Turns of more than half a radian are taken in parts, so that
 * the rule has one answer; what spins faster than 32 rad in a step keeps its angular velocity. */
static perp_vec3 spin_change(const perp_mat3 *inertia, double h, perp_vec3 w)
{
    enum { PARTS = 64 };
    const double turns = fabs(h) * perp_vec3_norm(w) / 0.5;
    const int parts = turns < PARTS ? 1 + (int)turns : PARTS;
    perp_vec3 now = w;
    for (int i = 0; i < parts; i++) {
        if (!midpoint(inertia, h / parts, now, &now)) {
            return (perp_vec3){0.0, 0.0, 0.0};
        }
    }
    return perp_vec3_sub(now, w);
}

static bool is_round(const perp_mat3 *m)
{
    return m->m[0] == m->m[4] && m->m[4] == m->m[8] && m->m[1] == 0.0 && m->m[2] == 0.0 && m->m[5] == 0.0;
}

/* r turned by the angle |w| h about w. */
static perp_vec3 turned(perp_vec3 r, perp_vec3 w, double h)
{
    const double rate = perp_vec3_norm(w);
    if (!(rate > 0.0)) {
        return r;
    }
    const perp_vec3 axis = perp_vec3_scale(1.0 / rate, w);
    const double c = cos(rate * h), s = sin(rate * h);
    const perp_vec3 across = perp_vec3_add_scaled(perp_vec3_scale(c, r), s, perp_vec3_cross(axis, r));
    return perp_vec3_add_scaled(across, (1.0 - c) * perp_vec3_dot(axis, r), axis);
}

static void drift_body(const perp_quasistatic *qs, const perp_kinematics *kinematics, const perp_tree *tree, double *v)
{
    const perp_link *link = &qs->model->links[tree->root];
    const perp_mat3 *rotation = &kinematics->rotation[tree->root];
    const perp_vec3 w = perp_vec3_make(v[3], v[4], v[5]);
    perp_vec3 after = w;
    if (!is_round(&link->inertia)) {
        const perp_vec3 in_body = perp_mat3_tmul_vec(rotation, w);
        after = perp_vec3_add(w, perp_mat3_mul_vec(rotation, spin_change(&link->inertia, qs->h_last, in_body)));
    }
    if (link->com.x != 0.0 || link->com.y != 0.0 || link->com.z != 0.0) {
        const perp_vec3 arm = perp_mat3_mul_vec(rotation, link->com), before = turned(arm, w, -qs->h_last);
        const perp_vec3 change = perp_vec3_sub(perp_vec3_cross(w, before), perp_vec3_cross(after, arm));
        v[0] += change.x;
        v[1] += change.y;
        v[2] += change.z;
    }
    v[3] = after.x;
    v[4] = after.y;
    v[5] = after.z;
}

static void drift_planar_body(const perp_quasistatic *qs, const perp_kinematics *kinematics, const perp_tree *tree,
                              double *v)
{
    const perp_link *link = &qs->model->links[tree->root];
    if (link->com.x == 0.0 && link->com.y == 0.0) {
        return;
    }
    const perp_vec3 arm = perp_mat3_mul_vec(&kinematics->rotation[tree->root], link->com);
    const perp_vec3 before = turned(arm, perp_vec3_make(0.0, 0.0, v[2]), -qs->h_last);
    v[0] += -v[2] * (before.y - arm.y);
    v[1] += v[2] * (before.x - arm.x);
}

/* ---- mechanisms -------------------------------------------------------------------------------------------------- */

double perp_dynamic_kinetic_energy(const perp_tree *tree, const double *mass, const double *v)
{
    const double *row = mass + tree->mass_start;
    double sum = 0.0;
    for (int r = 0; r < tree->v_count; r++, row += tree->v_count) {
        for (int s = 0; s < tree->v_count; s++) {
            sum += 0.5 * v[tree->v_start + r] * row[s] * v[tree->v_start + s];
        }
    }
    return sum;
}

/* The free rows and columns of a tree's mass matrix, factored, at its place in qs->hessian; false where it has no
 * inertia. */
static bool factor_free(const perp_quasistatic *qs, const perp_tree *tree, int *count)
{
    const double *mass = qs->mass + tree->mass_start;
    double *out = qs->hessian + tree->mass_start;
    int n = 0, at = 0, failed;
    for (int r = 0; r < tree->v_count; r++) {
        n += qs->free_of_dof[tree->v_start + r] >= 0 ? 1 : 0;
        for (int s = 0; s < tree->v_count && qs->free_of_dof[tree->v_start + r] >= 0; s++) {
            if (qs->free_of_dof[tree->v_start + s] >= 0) {
                out[at++] = mass[r * tree->v_count + s];
            }
        }
    }
    *count = n;
    return n > 0 && perp_cholesky_factor(n, out, n, &failed) == PERP_STATUS_OK;
}

/* x = M^-1 c on the free degrees of freedom of a tree; packed in `x`. */
static void divide(const perp_quasistatic *qs, const perp_tree *tree, int n, const double *bias, double *x)
{
    int at = 0;
    for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
        if (qs->free_of_dof[i] >= 0) {
            x[at++] = bias[i];
        }
    }
    perp_cholesky_solve(n, qs->hessian + tree->mass_start, n, x);
}

/* One round of the fixed point v~ = v - h M^-1 c(q, (v + v~) / 2) for all mechanisms; returns the largest change over
 * the largest velocity. */
static double bend(perp_quasistatic *qs, perp_kinematics *kinematics)
{
    const perp_model *model = qs->model;
    double *mean = qs->v, *bias = qs->tau, *x = qs->scratch, change = 0.0, size = 0.0;
    for (int i = 0; i < model->nv; i++) {
        mean[i] = 0.5 * (qs->v_last[i] + qs->v_drifted[i]);
    }
    perp_kinematics_velocity(model, mean, kinematics);
    perp_bias_force(model, kinematics, mean, bias);
    for (int k = 0; k < model->tree_count; k++) {
        const perp_tree *tree = &model->trees[k];
        int n;
        if (qs->drift[k] != PERP_DRIFT_MECHANISM || !factor_free(qs, tree, &n)) {
            continue;
        }
        divide(qs, tree, n, bias, x);
        for (int i = tree->v_start, at = 0; i < tree->v_start + tree->v_count; i++) {
            if (qs->free_of_dof[i] >= 0) {
                const double next = qs->v_last[i] - qs->h_last * x[at++];
                change = fmax(change, fabs(next - qs->v_drifted[i]));
                size = fmax(size, fabs(next));
                qs->v_drifted[i] = next;
            }
        }
    }
    return size > 0.0 ? change / size : change;
}

/* The kinetic energy of every mechanism where the last step began, into `energy` by tree. */
static void remember_energy(perp_quasistatic *qs, perp_step_context *context, double *energy)
{
    const perp_model *model = qs->model;
    perp_configuration_integrate(model, qs->q_begin, qs->v_last, -qs->h_last, context->next_q);
    perp_kinematics_update(model, context->next_q, context->kinematics);
    perp_mass_matrix(model, context->kinematics, qs->mass);
    for (int k = 0; k < model->tree_count; k++) {
        energy[k] = perp_dynamic_kinetic_energy(&model->trees[k], qs->mass, qs->v_last);
    }
    perp_kinematics_update(model, qs->q_begin, context->kinematics);
    perp_mass_matrix(model, context->kinematics, qs->mass);
}

/* The work of gravity (in qs->tau) along the way that the last step, straight in its coordinates, has missed: without
 * forces velocities bend by v~ - v within h, so that the curved way ends (v~ - v) h / 2 beside the straight one. Left
 * out, it adds up: the energy of a double pendulum creeps by 0.5 % a second at h = 0.01. Over eps^2: the inertia that
 * takes it is eps^2 M, and energies here are those of M. */
static double missed_work(const perp_quasistatic *qs, const perp_tree *tree)
{
    double work = 0.0;
    for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
        work += 0.5 * qs->h_last * qs->tau[i] * (qs->v_last[i] - qs->v_drifted[i]);
    }
    return work / perp_dynamic_mass_scale(qs);
}

/* A fixed point that does not settle (turns of a radian and more in a step) is left where it is: the energy is right
 * all the same. A tree that commands move has no energy of its own to keep. */
static void scale(perp_quasistatic *qs, const perp_tree *tree, double energy)
{
    bool commanded = false, finite = true;
    for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
        commanded = commanded || qs->free_of_dof[i] < 0;
        finite = finite && isfinite(qs->v_drifted[i]);
    }
    const size_t bytes = (size_t)tree->v_count * sizeof(double);
    if (!finite || !isfinite(perp_dynamic_kinetic_energy(tree, qs->mass, qs->v_drifted))) {
        memcpy(qs->v_drifted + tree->v_start, qs->v_last + tree->v_start, bytes);
    }
    const double now = perp_dynamic_kinetic_energy(tree, qs->mass, qs->v_drifted);
    if (commanded || !(now > 0.0)) {
        return;
    }
    const double factor = sqrt(energy / now);
    for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
        qs->v_drifted[i] *= factor;
    }
}

static void drift_mechanisms(perp_quasistatic *qs, perp_step_context *context)
{
    enum { ROUNDS = 50 };
    double *energy = qs->command; /* scratch until the step is built; no tree is without a degree of freedom */
    remember_energy(qs, context, energy);
    for (int i = 0; i < ROUNDS && bend(qs, context->kinematics) > 1e-15; i++) {
    }
    perp_gravity_force(qs->model, context->kinematics, qs->tau);
    for (int k = 0; k < qs->model->tree_count; k++) {
        if (qs->drift[k] == PERP_DRIFT_MECHANISM) {
            const double missed = missed_work(qs, &qs->model->trees[k]), part = 0.5 * energy[k];
            scale(qs, &qs->model->trees[k], energy[k] + fmin(fmax(missed, -part), part)); /* more: h is too long */
        }
    }
}

void perp_dynamic_drift(perp_quasistatic *qs, perp_step_context *context)
{
    const perp_model *model = qs->model;
    bool mechanisms = false;
    memcpy(qs->v_drifted, qs->v_last, (size_t)model->nv * sizeof *qs->v_drifted);
    for (int k = 0; k < model->tree_count && qs->h_last > 0.0; k++) {
        const perp_tree *tree = &model->trees[k];
        if (qs->drift[k] == PERP_DRIFT_BODY) {
            drift_body(qs, context->kinematics, tree, qs->v_drifted + tree->v_start);
        } else if (qs->drift[k] == PERP_DRIFT_PLANAR_BODY) {
            drift_planar_body(qs, context->kinematics, tree, qs->v_drifted + tree->v_start);
        }
        mechanisms = mechanisms || qs->drift[k] == PERP_DRIFT_MECHANISM;
    }
    if (mechanisms) {
        drift_mechanisms(qs, context);
    }
}
