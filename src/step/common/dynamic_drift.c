/* Velocities carried to where the last step has led, without forces and without gaining energy: dynamic.h. */
#include "linalg/dense.h"
#include "scene/loop_links.h"
#include "step/common/dynamic.h"

#include "linalg/vector.h"
#include "step/common/tolerances.h"

#include <float.h>
#include <string.h>

/* ---- which trees drift, and how ---------------------------------------------------------------------------------- */

static perp_dynamic_drift_kind kind_of(const contact_step *step, int k, int bodies)
{
    const perp_tree *tree = &step->model->trees[k];
    const perp_link *root = &step->model->links[tree->root];
    bool all_free = true;
    for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
        all_free = all_free && step->free_of_dof[i] >= 0;
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

/* -1: of the world, or of a body that is fixed to it. */
static int tree_of(const perp_model *model, int body)
{
    return body < 0 ? -1 : model->links[body].tree;
}

static void join_trees(const perp_model *model, int body_a, int body_b, int *linked)
{
    const int a = tree_of(model, body_a), b = tree_of(model, body_b);
    const int ga = a < 0 ? -1 : linked[a] < 0 ? a : linked[a];
    const int gb = b < 0 ? ga : linked[b] < 0 ? b : linked[b];
    const int low = ga < 0 ? gb : ga < gb ? ga : gb;
    for (int k = 0; k < model->tree_count && low >= 0; k++) {
        const bool joined = k == a || k == b || (linked[k] >= 0 && (linked[k] == ga || linked[k] == gb));
        linked[k] = joined ? low : linked[k];
    }
}

/* Which trees loops join: every tree of a group names its lowest one. */
static void link_trees(contact_step *step)
{
    const perp_model *model = step->model;
    for (int k = 0; k < model->tree_count; k++) {
        step->inertia.linked[k] = -1;
    }
    for (int i = 0; i < model->scene->loop_count; i++) {
        const perp_loop *loop = &model->scene->loops[i];
        for (int k = 0, a, b; k < perp_loop_link_count(loop); k++) {
            perp_loop_link(model->scene, loop, k, &a, &b);
            join_trees(model, a, b, step->inertia.linked);
        }
    }
}

void perp_dynamic_classify(contact_step *step)
{
    const perp_model *model = step->model;
    memset(step->inertia.drift, 0, (size_t)model->tree_count * sizeof *step->inertia.drift);
    for (int i = 0; i < model->body_count; i++) {
        if (model->links[i].tree >= 0) {
            step->inertia.drift[model->links[i].tree]++;
        }
    }
    for (int k = 0; k < model->tree_count; k++) {
        step->inertia.drift[k] = (int)kind_of(step, k, step->inertia.drift[k]);
    }
    link_trees(step);
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
        perp_vec3 column[3], newton;
        for (int k = 0; k < 3; k++) {
            const perp_vec3 both = perp_vec3_add(turn(inertia, axis[k], m), turn(inertia, m, axis[k]));
            column[k] = perp_vec3_add_scaled(perp_mat3_mul_vec(inertia, axis[k]), 0.5 * h, both);
        }
        if (!solve_columns(column[0], column[1], column[2], f, &newton)) {
            return false;
        }
        x = perp_vec3_sub(x, newton);
        /* Newton's method squares what is off: after such a step only rounding is left */
        if (!(perp_vec3_dot(newton, newton) > DBL_EPSILON * perp_vec3_dot(x, x))) {
            *out = x;
            return isfinite(perp_vec3_norm(x));
        }
    }
    return false;
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

static void drift_body(const contact_step *step, const perp_kinematics *kinematics, int k, double *v)
{
    const perp_tree *tree = &step->model->trees[k];
    const perp_link *link = &step->model->links[tree->root];
    const perp_mat3 *rotation = &kinematics->rotation[tree->root];
    const perp_vec3 w = perp_vec3_make(v[3], v[4], v[5]);
    perp_vec3 after = w;
    if (!is_round(&link->inertia)) {
        const perp_vec3 in_body = perp_mat3_tmul_vec(rotation, w);
        after = perp_vec3_add(
            w, perp_mat3_mul_vec(rotation, spin_change(&link->inertia, step->inertia.h_last[k], in_body)));
    }
    if (link->com.x != 0.0 || link->com.y != 0.0 || link->com.z != 0.0) {
        const perp_vec3 arm = perp_mat3_mul_vec(rotation, link->com), before = turned(arm, w, -step->inertia.h_last[k]);
        const perp_vec3 change = perp_vec3_sub(perp_vec3_cross(w, before), perp_vec3_cross(after, arm));
        v[0] += change.x;
        v[1] += change.y;
        v[2] += change.z;
    }
    v[3] = after.x;
    v[4] = after.y;
    v[5] = after.z;
}

static void drift_planar_body(const contact_step *step, const perp_kinematics *kinematics, int k, double *v)
{
    const perp_tree *tree = &step->model->trees[k];
    const perp_link *link = &step->model->links[tree->root];
    if (link->com.x == 0.0 && link->com.y == 0.0) {
        return;
    }
    const perp_vec3 arm = perp_mat3_mul_vec(&kinematics->rotation[tree->root], link->com);
    const perp_vec3 before = turned(arm, perp_vec3_make(0.0, 0.0, v[2]), -step->inertia.h_last[k]);
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

/* The free rows and columns of a tree's mass matrix, factored, at its place in step->hessian; false where it has no
 * inertia. */
static bool factor_free(const contact_step *step, const perp_tree *tree, int *count)
{
    const double *mass = step->mass + tree->mass_start;
    double *out = step->hessian + tree->mass_start;
    int n = 0, at = 0, failed;
    for (int r = 0; r < tree->v_count; r++) {
        n += step->free_of_dof[tree->v_start + r] >= 0 ? 1 : 0;
        for (int s = 0; s < tree->v_count && step->free_of_dof[tree->v_start + r] >= 0; s++) {
            if (step->free_of_dof[tree->v_start + s] >= 0) {
                out[at++] = mass[r * tree->v_count + s];
            }
        }
    }
    *count = n;
    return n > 0 && perp_cholesky_factor(n, out, n, &failed) == PERP_STATUS_OK;
}

/* x = M^-1 c on the free degrees of freedom of a tree; packed in `x`. */
static void divide(const contact_step *step, const perp_tree *tree, int n, const double *bias, double *x)
{
    int at = 0;
    for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
        if (step->free_of_dof[i] >= 0) {
            x[at++] = bias[i];
        }
    }
    perp_cholesky_solve(n, step->hessian + tree->mass_start, n, x);
}

/* ---- loops ------------------------------------------------------------------------------------------------------- */

/* M^-1 c on the free degrees of freedom of the trees that loops join; 0 elsewhere, and where there is no inertia. After
 * factor_linked. */
static void divide_linked(const contact_step *step, const double *c, double *out)
{
    for (int k = 0; k < step->model->tree_count; k++) {
        const perp_tree *tree = &step->model->trees[k];
        double *x = step->scratch;
        const bool massive = step->inertia.linked[k] >= 0 && step->hessian[tree->mass_start] > 0.0;
        int n = 0, at = 0;
        for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
            n += step->free_of_dof[i] >= 0 ? 1 : 0;
        }
        if (massive) {
            divide(step, tree, n, c, x);
        }
        for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
            out[i] = massive && step->free_of_dof[i] >= 0 ? x[at++] : 0.0;
        }
    }
}

/* The trees' factors at their places; 0 as the first entry where there is no inertia. */
static void factor_linked(const contact_step *step)
{
    for (int k = 0; k < step->model->tree_count; k++) {
        int n = 0;
        if (step->inertia.linked[k] >= 0 && !factor_free(step, &step->model->trees[k], &n)) {
            step->hessian[step->model->trees[k].mass_start] = 0.0;
        }
    }
}

/* What loops forbid where kinematics and step->mass are: rows w, and directions u across with w_i u_j = 1 for i = j,
 * else 0 (Gram and Schmidt on the rows in the metric of M^-1). Rows that say what others do are left out. Returns how
 * many there are. */
static int span_loops(contact_step *step, const perp_kinematics *kinematics)
{
    const perp_model *model = step->model;
    const int nv = model->nv;
    int count = 0;
    factor_linked(step);
    for (int i = 0; i < model->scene->loop_count; i++) {
        double residual[6];
        perp_loop_evaluate(model, kinematics, i, residual, step->loop_jacobian);
        for (int r = 0; r < perp_loop_rows(model, i); r++) {
            double *w = step->inertia.loop_rows + (ptrdiff_t)count * nv,
                   *u = step->inertia.loop_across + (ptrdiff_t)count * nv;
            memcpy(w, step->loop_jacobian + (ptrdiff_t)r * nv, (size_t)nv * sizeof *w);
            divide_linked(step, w, u);
            const double size = perp_vector_dot(nv, w, u);
            for (int j = 0; j < count; j++) {
                const double *wj = step->inertia.loop_rows + (ptrdiff_t)j * nv,
                             *uj = step->inertia.loop_across + (ptrdiff_t)j * nv;
                const double part = perp_vector_dot(nv, wj, u);
                for (int k = 0; k < nv && part != 0.0; k++) {
                    w[k] -= part * wj[k];
                    u[k] -= part * uj[k];
                }
            }
            const double left = perp_vector_dot(nv, w, u);
            if (left > LOOP_ROW_LEFT * size) {
                const double scaled = 1.0 / sqrt(left);
                for (int k = 0; k < nv; k++) {
                    w[k] *= scaled;
                    u[k] *= scaled;
                }
                count++;
            }
        }
    }
    return count;
}

/* v without what loops forbid, by the change of least kinetic energy. */
static void to_tangent(const contact_step *step, int count, double *v)
{
    const int nv = step->model->nv;
    for (int i = 0; i < count; i++) {
        const double *u = step->inertia.loop_across + (ptrdiff_t)i * nv;
        const double across = perp_vector_dot(nv, step->inertia.loop_rows + (ptrdiff_t)i * nv, v);
        for (int k = 0; k < nv; k++) {
            v[k] -= across * u[k];
        }
    }
}

/* ---- mechanisms, all together ------------------------------------------------------------------------------------ */

/* Has the fixed point of tree k come to rest? Its new round is in `x`. */
static bool bend_tree(contact_step *step, int k, const double *x)
{
    const perp_tree *tree = &step->model->trees[k];
    double change = 0.0, size = 0.0;
    for (int i = tree->v_start, at = 0; i < tree->v_start + tree->v_count; i++) {
        if (step->free_of_dof[i] >= 0) {
            const double next = step->inertia.v_tangent[i] - step->inertia.h_last[k] * x[at++];
            change = fmax(change, fabs(next - step->inertia.v_drifted[i]));
            size = fmax(size, fabs(next));
            step->inertia.v_drifted[i] = next;
        }
    }
    return !(change > DRIFT_SETTLED * (size > 0.0 ? size : 1.0));
}

/* One round of the fixed point v~ = v - h M^-1 c(q, (v + v~) / 2) for the mechanisms that have not come to rest; false
 * where all have. */
static bool bend(contact_step *step, perp_kinematics *kinematics)
{
    const perp_model *model = step->model;
    double *mean = step->v, *bias = step->tau, *x = step->scratch;
    bool going_on = false;
    for (int i = 0; i < model->nv; i++) {
        mean[i] = 0.5 * (step->inertia.v_tangent[i] + step->inertia.v_drifted[i]);
    }
    perp_kinematics_velocity(model, mean, kinematics);
    perp_bias_force(model, kinematics, mean, bias);
    for (int k = 0; k < model->tree_count; k++) {
        const perp_tree *tree = &model->trees[k];
        int n;
        if (!step->inertia.bends[k] || !factor_free(step, tree, &n)) {
            continue;
        }
        divide(step, tree, n, bias, x);
        step->inertia.bends[k] = !bend_tree(step, k, x);
        going_on = going_on || step->inertia.bends[k];
    }
    return going_on;
}

/* The kinetic energy of every mechanism where the last step began, into `energy` by tree. */
static void remember_energy(contact_step *step, perp_step_context *context, double *energy)
{
    const perp_model *model = step->model;
    for (int k = 0; k < model->tree_count; k++) {
        for (int i = model->trees[k].v_start; i < model->trees[k].v_start + model->trees[k].v_count; i++) {
            step->inertia.v_tangent[i] = step->inertia.h_last[k] * step->v_last[i]; /* the way that it came */
        }
    }
    perp_configuration_integrate(model, step->q_begin, step->inertia.v_tangent, -1.0, context->next_q);
    perp_kinematics_update(model, context->next_q, context->kinematics);
    perp_mass_matrix(model, context->kinematics, step->mass);
    memcpy(step->inertia.v_tangent, step->v_last, (size_t)model->nv * sizeof *step->inertia.v_tangent);
    to_tangent(step, span_loops(step, context->kinematics), step->inertia.v_tangent);
    for (int k = 0; k < model->tree_count; k++) {
        energy[k] = perp_dynamic_kinetic_energy(&model->trees[k], step->mass, step->inertia.v_tangent);
    }
    perp_kinematics_update(model, step->q_begin, context->kinematics);
    perp_mass_matrix(model, context->kinematics, step->mass);
}

/* The work of gravity (in step->tau) along the way that the last step, straight in its coordinates, has missed: without
 * forces velocities bend by v~ - v within h, so that the curved way ends (v~ - v) h / 2 beside the straight one. Left
 * out, it adds up: the energy of a double pendulum creeps by 0.5 % a second at h = 0.01. Over eps^2: the inertia that
 * takes it is eps^2 M, and energies here are those of M. `bent` is v - v~, of what loops allow: what they do not, the
 * next step undoes. */
static double missed_work(const contact_step *step, int k, const double *bent)
{
    const perp_tree *tree = &step->model->trees[k];
    double work = 0.0;
    for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
        work += 0.5 * step->inertia.h_last[k] * step->tau[i] * bent[i];
    }
    return work / perp_dynamic_mass_scale(step);
}

/* The trees that share their energy with tree k: those that loops join with it, or itself. */
static bool is_with(const contact_step *step, int k, int other)
{
    return other == k || (step->inertia.linked[k] >= 0 && step->inertia.linked[other] == step->inertia.linked[k]);
}

/* A fixed point that does not settle (turns of a radian and more in a step) is left where it is: the energy is right
 * all the same. Trees that commands move have no energy of their own to keep. */
static void scale(contact_step *step, int first, double energy)
{
    bool commanded = false, finite = true;
    double now = 0.0, factor = 1.0;
    for (int pass = 0; pass < 3; pass++) { /* sound? how much? scaled */
        now = 0.0;
        for (int k = first; k < step->model->tree_count; k++) {
            const perp_tree *tree = &step->model->trees[k];
            if (!is_with(step, first, k)) {
                continue;
            }
            for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
                commanded = commanded || step->free_of_dof[i] < 0;
                step->inertia.v_drifted[i] =
                    pass == 1 && !finite ? step->v_last[i] : step->inertia.v_drifted[i] * factor;
            }
            now += perp_dynamic_kinetic_energy(tree, step->mass, step->inertia.v_drifted);
        }
        finite = finite && isfinite(now);
        factor = pass == 1 && !commanded && now > 0.0 ? sqrt(energy / now) : 1.0;
    }
}

static void drift_mechanisms(contact_step *step, perp_step_context *context)
{
    enum { ROUNDS = 50 };
    const perp_model *model = step->model;
    double *energy = step->command; /* scratch until the step is built; no tree is without a degree of freedom */
    remember_energy(step, context, energy);
    for (int k = 0; k < model->tree_count; k++) {
        step->inertia.bends[k] = step->inertia.drift[k] == PERP_DRIFT_MECHANISM;
    }
    for (int i = 0; i < ROUNDS && bend(step, context->kinematics); i++) {
    }
    double *bent = step->inertia.v_tangent;
    const int across = span_loops(step, context->kinematics);
    for (int i = 0; i < model->nv; i++) {
        bent[i] -= step->inertia.v_drifted[i];
    }
    to_tangent(step, across, bent);
    to_tangent(step, across, step->inertia.v_drifted);
    perp_gravity_force(model, context->kinematics, step->tau);
    for (int k = 0; k < model->tree_count; k++) {
        if (step->inertia.linked[k] >= 0 ? step->inertia.linked[k] != k
                                         : step->inertia.drift[k] != PERP_DRIFT_MECHANISM) {
            continue; /* with the lowest of its group; or nothing bends */
        }
        double missed = 0.0, before = 0.0;
        for (int other = k; other < model->tree_count; other++) {
            if (is_with(step, k, other)) {
                missed += missed_work(step, other, bent);
                before += energy[other];
            }
        }
        scale(step, k, before + fmin(fmax(missed, -0.5 * before), 0.5 * before)); /* more: h is too long */
    }
}

void perp_dynamic_drift(contact_step *step, perp_step_context *context)
{
    const perp_model *model = step->model;
    bool mechanisms = false;
    memcpy(step->inertia.v_drifted, step->v_last, (size_t)model->nv * sizeof *step->inertia.v_drifted);
    for (int k = 0; k < model->tree_count; k++) {
        double *v = step->inertia.v_drifted + model->trees[k].v_start;
        const bool moves = step->inertia.h_last[k] > 0.0;
        if (moves && step->inertia.drift[k] == PERP_DRIFT_BODY) {
            drift_body(step, context->kinematics, k, v);
        } else if (moves && step->inertia.drift[k] == PERP_DRIFT_PLANAR_BODY) {
            drift_planar_body(step, context->kinematics, k, v);
        }
        mechanisms =
            mechanisms || (moves && (step->inertia.drift[k] == PERP_DRIFT_MECHANISM || step->inertia.linked[k] >= 0));
    }
    if (mechanisms) {
        drift_mechanisms(step, context);
    }
    for (int i = 0; i < model->nv && mechanisms; i++) { /* what has not come from anywhere stays as it is */
        step->inertia.v_drifted[i] = step->inertia.h_last[model->links[model->dof_body[i]].tree] > 0.0
                                         ? step->inertia.v_drifted[i]
                                         : step->v_last[i];
    }
}
