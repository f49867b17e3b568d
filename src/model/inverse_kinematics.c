/* Inverse kinematics: Levenberg-Marquardt on the weighted error of a frame, with joint limits as bounds.
 *
 * The error e is (target position - position; weight * phi), phi = log(R_target R_frame'); along a motion it changes by
 * de = -J dx with J = (J_point; weight B(-phi) J_angular), exactly (rotation_vector.h). A step solves the damped
 * problem in its dual form, dx = J' (J J' + mu)^-1 e: 6 x 6 whatever the number of joints. Joints that stand on a limit
 * and would be pushed outward are dropped from the step; the others are clamped. mu follows the gain ratio (Nielsen),
 * so that it vanishes, and convergence is quadratic, where the target can be reached.
 *
 * A start ends when it has converged, stands at a stationary point within the limits, or has used its iterations; then
 * the next one begins at a seeded random point. The best point of all starts is returned.
 */

#include "linalg/dense.h"
#include "model/model_private.h"
#include "model/rotation_vector.h"
#include "model/tolerances.h"

#include <assert.h>
#include <string.h>

struct perp_ik_workspace {
    perp_arena arena;
    perp_kinematics *kinematics;
    double *start, *q, *trial, *best; /* nq */
    double *v;                        /* nv: zero but for the step of the movable dofs */
    double *columns;                  /* 6 per movable dof: its column of J */
    double *step;                     /* by movable dof */
    bool *dropped;                    /* by movable dof */
    int *dofs;                        /* the movable dofs of the chain */
    int *chain;                       /* nodes that the body hangs from, ascending, its own included */
    int *moving;                      /* those of them that have a movable dof */
};

/* One call's data. */
typedef struct ik_run {
    const perp_model *model;
    const perp_ik_settings *settings;
    const perp_ik_problem *problem;
    perp_ik_workspace *w;
    int dof_count, chain_count, moving_count;
    perp_vec3 rotation_error; /* phi at the point evaluated last */
    double error[6];          /* e there */
    double position_norm, rotation_norm;
    double cost; /* |e|^2 */
} ik_run;

perp_status perp_ik_workspace_create(const perp_model *model, const perp_allocator *allocator,
                                     perp_ik_workspace **workspace, perp_error *error)
{
    assert(model && workspace);
    *workspace = NULL;
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv, longest = (size_t)model->chain_longest;
    const size_t nodes = (size_t)model->memory->node_count;
    perp_arena arena;
    perp_arena_init(&arena, allocator);
    perp_ik_workspace *w = PERP_ARENA_NEW(&arena, perp_ik_workspace, 1);
    double *reals = PERP_ARENA_NEW(&arena, double, 4 * nq + nv + 7 * longest);
    bool *dropped = PERP_ARENA_NEW(&arena, bool, longest);
    int *integers = PERP_ARENA_NEW(&arena, int, longest + 2 * nodes);
    perp_kinematics *kinematics = NULL;
    perp_status status = w && reals && dropped && integers ? PERP_STATUS_OK : PERP_STATUS_OUT_OF_MEMORY;
    if (status == PERP_STATUS_OK) {
        status = perp_kinematics_create(model, &arena.allocator, &kinematics, error);
    }
    if (status != PERP_STATUS_OK) {
        perp_arena_clear(&arena);
        return perp_fail(error, status, "out of memory for inverse kinematics");
    }
    *w = (perp_ik_workspace){.arena = arena, .kinematics = kinematics, .dropped = dropped};
    w->start = reals;
    w->q = w->start + nq;
    w->trial = w->q + nq;
    w->best = w->trial + nq;
    w->v = w->best + nq;
    w->columns = w->v + nv;
    w->step = w->columns + 6 * longest;
    w->dofs = integers;
    w->chain = w->dofs + longest;
    w->moving = w->chain + nodes;
    *workspace = w;
    return PERP_STATUS_OK;
}

void perp_ik_workspace_free(perp_ik_workspace *workspace)
{
    if (workspace) {
        perp_kinematics_free(workspace->kinematics);
        perp_arena arena = workspace->arena;
        perp_arena_clear(&arena);
    }
}

/* ---- what moves ------------------------------------------------------------------------------------------------- */

static bool is_movable(const ik_run *run, int dof)
{
    return run->problem->movable ? run->problem->movable[dof] : run->model->dof_joint[dof] >= 0;
}

static void list_chain(ik_run *run)
{
    const perp_model *model = run->model;
    const int *body_node = model->memory->body_node;
    int count = 0;
    for (int b = run->problem->body; b >= 0; b = model->links[b].parent) {
        count += body_node[b] >= 0;
    }
    run->chain_count = count;
    for (int b = run->problem->body; b >= 0; b = model->links[b].parent) {
        if (body_node[b] >= 0) {
            run->w->chain[--count] = body_node[b];
        }
    }
    run->dof_count = run->moving_count = 0;
    for (int i = 0; i < run->chain_count; i++) {
        const perp_node *node = &model->memory->nodes[run->w->chain[i]];
        const int before = run->dof_count;
        for (int d = node->link.v_start; d < node->link.v_start + node->link.v_count; d++) {
            if (is_movable(run, d)) {
                run->w->dofs[run->dof_count++] = d;
            }
        }
        if (run->dof_count > before) {
            run->w->moving[run->moving_count++] = run->w->chain[i];
        }
    }
}

/* Puts the movable scalar joints of q within their limits. */
static void clamp(const ik_run *run, double *q)
{
    for (int k = 0; k < run->dof_count; k++) {
        const int d = run->w->dofs[k];
        const int i = run->model->dof_q[d];
        if (i >= 0) {
            const double low = run->model->limit_low[d], high = run->model->limit_high[d];
            q[i] = q[i] < low ? low : q[i] > high ? high : q[i];
        }
    }
}

/* to = from (+) step, within the limits. */
static void move(const ik_run *run, const double *from, const double *step, double *to)
{
    for (int k = 0; k < run->dof_count; k++) {
        run->w->v[run->w->dofs[k]] = step[k];
    }
    for (int i = 0; i < run->moving_count; i++) {
        perp_node_integrate(&run->model->memory->nodes[run->w->moving[i]], from, run->w->v, 1.0, to);
    }
    clamp(run, to);
}

/* ---- error and Jacobian ------------------------------------------------------------------------------------------ */

static perp_pose frame_pose(const ik_run *run)
{
    return perp_pose_mul(run->w->kinematics->pose[run->problem->body], run->problem->frame);
}

static void evaluate(ik_run *run, const double *q)
{
    perp_kinematics_update_nodes(run->model, q, run->w->chain, run->chain_count, run->w->kinematics);
    const perp_pose frame = frame_pose(run), target = run->problem->target;
    const double weight = run->settings->rotation_weight;
    const perp_vec3 apart = perp_vec3_sub(target.position, frame.position);
    run->rotation_error = perp_quat_log(perp_quat_mul(target.rotation, perp_quat_conjugate(frame.rotation)));
    perp_vec3_store(apart, run->error);
    perp_vec3_store(perp_vec3_scale(weight, run->rotation_error), run->error + 3);
    run->position_norm = perp_vec3_norm(apart);
    run->rotation_norm = perp_vec3_norm(run->rotation_error);
    run->cost = 0.0;
    for (int i = 0; i < 6; i++) {
        run->cost += run->error[i] * run->error[i];
    }
}

static bool has_converged(const ik_run *run)
{
    return run->position_norm <= run->settings->position_tolerance &&
           (run->settings->rotation_weight == 0.0 || run->rotation_norm <= run->settings->rotation_tolerance);
}

/* J at the point evaluated last, by columns. */
static void fill_columns(const ik_run *run)
{
    const perp_kinematics *k = run->w->kinematics;
    const double weight = run->settings->rotation_weight;
    const perp_mat3 map = perp_rotation_vector_rate(perp_vec3_scale(-1.0, run->rotation_error));
    const perp_vec3 point = frame_pose(run).position;
    for (int i = 0; i < run->dof_count; i++) {
        const int d = run->w->dofs[i];
        const perp_vec3 arm = perp_vec3_sub(point, k->reference[run->model->links[run->problem->body].tree]);
        double *column = run->w->columns + 6 * i;
        perp_vec3_store(perp_vec3_add(k->dof_linear[d], perp_vec3_cross(k->dof_angular[d], arm)), column);
        perp_vec3_store(perp_vec3_scale(weight, perp_mat3_mul_vec(&map, k->dof_angular[d])), column + 3);
    }
}

/* ---- one step ---------------------------------------------------------------------------------------------------- */

/* The damped step on the joints that are not dropped; 0 on the others. */
static bool damped_step(const ik_run *run, double mu)
{
    double a[36] = {0.0}, y[6];
    for (int k = 0; k < run->dof_count; k++) {
        const double *c = run->w->columns + 6 * k;
        for (int i = 0; i < 6 && !run->w->dropped[k]; i++) {
            for (int j = 0; j <= i; j++) {
                a[6 * i + j] += c[i] * c[j];
            }
        }
    }
    for (int i = 0; i < 6; i++) {
        a[7 * i] += mu;
        y[i] = run->error[i];
    }
    if (perp_cholesky_factor(6, a, 6, NULL) != PERP_STATUS_OK) {
        return false;
    }
    perp_cholesky_solve(6, a, 6, y);
    for (int k = 0; k < run->dof_count; k++) {
        const double *c = run->w->columns + 6 * k;
        double sum = 0.0;
        for (int i = 0; i < 6 && !run->w->dropped[k]; i++) {
            sum += c[i] * y[i];
        }
        run->w->step[k] = sum;
    }
    return true;
}

/* Drops the joints that stand on a limit and that `direction` pushes outward; true if there was a new one. */
static bool drop_outward(const ik_run *run, const double *direction)
{
    bool any = false;
    for (int k = 0; k < run->dof_count; k++) {
        const int d = run->w->dofs[k];
        const int i = run->model->dof_q[d];
        if (i >= 0 && !run->w->dropped[k]) {
            const bool low = run->w->q[i] <= run->model->limit_low[d] && direction[k] < 0.0;
            const bool high = run->w->q[i] >= run->model->limit_high[d] && direction[k] > 0.0;
            run->w->dropped[k] = low || high;
            any |= run->w->dropped[k];
        }
    }
    return any;
}

static bool bounded_step(const ik_run *run, double mu)
{
    memset(run->w->dropped, 0, (size_t)run->dof_count * sizeof(bool));
    do {
        if (!damped_step(run, mu)) {
            return false;
        }
    } while (drop_outward(run, run->w->step));
    return true;
}

/* Is -grad = J'e zero to rounding on every joint that may still follow it? */
static bool is_stationary(const ik_run *run)
{
    const double error = sqrt(run->cost);
    for (int k = 0; k < run->dof_count; k++) {
        const double *c = run->w->columns + 6 * k;
        double along = 0.0, size = 0.0;
        for (int i = 0; i < 6; i++) {
            along += c[i] * run->error[i];
            size += c[i] * c[i];
        }
        const int d = run->w->dofs[k];
        const int i = run->model->dof_q[d];
        const bool blocked = i >= 0 && ((run->w->q[i] <= run->model->limit_low[d] && along < 0.0) ||
                                        (run->w->q[i] >= run->model->limit_high[d] && along > 0.0));
        if (!blocked && fabs(along) > IK_STATIONARY * error * sqrt(size)) {
            return false;
        }
    }
    return true;
}

/* What the linear model promises of a step that was clamped on its way: |e|^2 - |e - J dx|^2. */
static double promised_decrease(const ik_run *run)
{
    double left[6];
    memcpy(left, run->error, sizeof left);
    double decrease = run->cost;
    for (int k = 0; k < run->dof_count; k++) {
        const int i = run->model->dof_q[run->w->dofs[k]];
        const double taken = i >= 0 ? run->w->trial[i] - run->w->q[i] : run->w->step[k];
        for (int r = 0; r < 6; r++) {
            left[r] -= run->w->columns[6 * k + r] * taken;
        }
    }
    for (int r = 0; r < 6; r++) {
        decrease -= left[r] * left[r];
    }
    return decrease;
}

static double mean_square_column(const ik_run *run)
{
    double sum = 0.0;
    for (int i = 0; i < 6 * run->dof_count; i++) {
        sum += run->w->columns[i] * run->w->columns[i];
    }
    return sum > 0.0 ? sum / 6.0 : 1.0;
}

/* Levenberg-Marquardt from w->q, which it leaves at the best point of this start; the run's error is that point's. */
static bool descend(ik_run *run, int *iterations)
{
    evaluate(run, run->w->q);
    fill_columns(run);
    const double scale = mean_square_column(run);
    double mu = run->settings->damping * scale, grow = 2.0;
    for (int i = 0; i < run->settings->max_iterations; i++) {
        if (has_converged(run)) {
            return true;
        }
        if (is_stationary(run) || !(mu < 1e16 * scale)) {
            return false;
        }
        ++*iterations;
        const ik_run before = *run;
        double gain = -1.0;
        if (bounded_step(run, mu)) {
            move(run, run->w->q, run->w->step, run->w->trial);
            const double promised = promised_decrease(run);
            evaluate(run, run->w->trial);
            gain = promised > 0.0 ? (before.cost - run->cost) / promised : -1.0;
        }
        if (gain > 0.0) {
            double *swap = run->w->q;
            run->w->q = run->w->trial;
            run->w->trial = swap;
            fill_columns(run);
            const double s = 2.0 * gain - 1.0;
            mu *= fmax(1.0 / 9.0, 1.0 - s * s * s);
            mu = fmax(mu, MARQUARDT_LEAST * scale);
            grow = 2.0;
        } else {
            *run = before;
            mu *= grow;
            grow *= 2.0;
        }
    }
    return has_converged(run);
}

/* ---- starts ------------------------------------------------------------------------------------------------------ */

/* A random point: within the limits where there are both, else within half a turn or a metre of the start. */
static void scatter(const ik_run *run, perp_random *random)
{
    const double pi = 3.14159265358979323846;
    for (int k = 0; k < run->dof_count; k++) {
        const int d = run->w->dofs[k];
        const int i = run->model->dof_q[d];
        const double reach = perp_vec3_is_zero(run->w->kinematics->dof_angular[d]) ? 1.0 : pi;
        const double from = i >= 0 ? run->w->start[i] : 0.0;
        double low = run->model->limit_low[d], high = run->model->limit_high[d];
        low = isfinite(low) ? low : from - reach;
        high = isfinite(high) ? high : from + reach;
        run->w->step[k] = perp_random_uniform(random, low, high) - from;
    }
    move(run, run->w->start, run->w->step, run->w->q);
}

perp_status perp_inverse_kinematics(const perp_model *model, const perp_ik_settings *settings,
                                    const perp_ik_problem *problem, perp_ik_workspace *workspace, double *q,
                                    perp_ik_info *info)
{
    assert(problem->body >= 0 && problem->body < model->body_count);
    if (settings->size != sizeof *settings) {
        return PERP_STATUS_BAD_INPUT;
    }
    const size_t q_bytes = (size_t)model->nq * sizeof(double);
    ik_run run = {.model = model, .settings = settings, .problem = problem, .w = workspace};
    perp_ik_workspace *w = workspace;
    perp_ik_info result = {0, 0, INFINITY, INFINITY};
    perp_random random = {settings->seed};
    list_chain(&run);
    memset(w->v, 0, (size_t)model->nv * sizeof(double));
    clamp(&run, q);
    memcpy(w->start, q, q_bytes);
    memcpy(w->q, q, q_bytes);
    memcpy(w->trial, q, q_bytes);
    memcpy(w->best, q, q_bytes);
    double best_cost = INFINITY;
    bool converged = false;
    for (int start = 0; start <= settings->restarts && !converged; start++) {
        if (start > 0) {
            scatter(&run, &random);
            result.restarts_used = start;
        }
        converged = descend(&run, &result.iterations);
        if (converged || run.cost < best_cost || start == 0) {
            best_cost = run.cost;
            result.position_error = run.position_norm;
            result.rotation_error = run.rotation_norm;
            memcpy(w->best, w->q, q_bytes);
        }
        if (run.dof_count == 0) {
            break;
        }
    }
    memcpy(q, w->best, q_bytes);
    if (info) {
        *info = result;
    }
    return converged ? PERP_STATUS_OK : PERP_STATUS_NOT_CONVERGED;
}
