/* Closing loops by the degrees of freedom that nothing prescribes: Levenberg and Marquardt's method on all loop rows
 * together, from where the mechanism is.
 *
 * Rows and unknowns are lengths: rotations count times the reach of the loops, so that the damping means the same for
 * all of them. A step is the shortest that closes the linearised rows, dx = -J'(J J' + mu)^-1 r: rows that say what
 * others do, as those across a flat mechanism in space, need no care, and what the loops leave open moves least. The
 * damping follows the gain ratio (Nielsen) and vanishes where the loops can close. Joints that stand on a limit and
 * would be pushed outward are dropped from the step. */

#include "linalg/dense.h"
#include "model/loop_closure.h"
#include "model/model_private.h"
#include "model/tolerances.h"

#include <assert.h>
#include <string.h>

struct perp_loop_closure {
    perp_arena arena;
    const perp_model *model;
    perp_kinematics *kinematics;
    int rows, count;
    int *dofs;               /* count: those that may move */
    bool *dropped;           /* count */
    double *residual, *kept; /* rows, in m */
    double *right;           /* rows */
    double *jacobian;        /* rows x count, in m per m */
    double *loop_rows;       /* 6 x nv: of one loop */
    double *normal;          /* rows x rows */
    double *step;            /* nv: of q */
    double *trial;           /* nq */
    double reach;            /* m */
};

static int all_rows(const perp_model *model)
{
    int rows = 0;
    for (int i = 0; i < model->scene->loop_count; i++) {
        rows += perp_loop_rows(model, i);
    }
    return rows;
}

perp_status perp_loop_closure_create(const perp_model *model, const bool *movable, const perp_allocator *allocator,
                                     perp_loop_closure **closure, perp_error *error)
{
    assert(model && movable && closure);
    *closure = NULL;
    const size_t rows = (size_t)all_rows(model), nv = (size_t)model->nv, nq = (size_t)model->nq;
    perp_arena arena;
    perp_arena_init(&arena, allocator);
    perp_loop_closure *c = PERP_ARENA_NEW(&arena, perp_loop_closure, 1);
    double *reals = PERP_ARENA_NEW(&arena, double, 3 * rows + rows * nv + rows * rows + 7 * nv + nq);
    int *dofs = PERP_ARENA_NEW(&arena, int, nv);
    bool *dropped = PERP_ARENA_NEW(&arena, bool, nv);
    perp_kinematics *kinematics = NULL;
    perp_status status = c && reals && dofs && dropped ? PERP_STATUS_OK : PERP_STATUS_OUT_OF_MEMORY;
    if (status == PERP_STATUS_OK) {
        status = perp_kinematics_create(model, &arena.allocator, &kinematics, error);
    }
    if (status != PERP_STATUS_OK) {
        perp_arena_clear(&arena);
        return perp_fail(error, status, "out of memory for closing loops");
    }
    *c = (perp_loop_closure){
        .arena = arena, .model = model, .kinematics = kinematics, .rows = (int)rows, .dofs = dofs, .dropped = dropped};
    c->residual = reals;
    c->kept = c->residual + rows;
    c->right = c->kept + rows;
    c->jacobian = c->right + rows;
    c->normal = c->jacobian + rows * nv;
    c->loop_rows = c->normal + rows * rows;
    c->step = c->loop_rows + 6 * nv;
    c->trial = c->step + nv;
    for (int d = 0; d < model->nv; d++) {
        if (movable[d]) {
            dofs[c->count++] = d;
        }
    }
    *closure = c;
    return PERP_STATUS_OK;
}

void perp_loop_closure_free(perp_loop_closure *closure)
{
    if (closure) {
        perp_kinematics_free(closure->kinematics);
        perp_arena arena = closure->arena;
        perp_arena_clear(&arena);
    }
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static bool turns(const perp_loop_closure *c, int dof)
{
    return !perp_vec3_is_zero(c->kinematics->dof_angular[dof]);
}

static bool slides(const perp_model *model, const perp_loop_term *term)
{
    return model->scene->joints[term->joint_index].kind == PERP_JOINT_PRISMATIC;
}

double perp_loop_row_unit(const perp_model *model, int loop, int row, double reach)
{
    const perp_loop *l = &model->scene->loops[loop];
    double largest = 0.0; /* coefficient, in residual per m */
    if (l->kind != PERP_LOOP_JOINTS) {
        return row < (model->planar ? 2 : 3) ? 1.0 : reach;
    }
    for (int i = 0; i < l->term_count; i++) {
        largest = fmax(largest, fabs(l->terms[i].coefficient) / (slides(model, &l->terms[i]) ? 1.0 : reach));
    }
    return 1.0 / largest;
}

/* The farthest that a sliding joint has gone. */
static double reach_of_joints(const perp_model *model, const double *q, const perp_loop *loop)
{
    double reach = LOOP_REACH_LEAST;
    for (int i = 0; i < loop->term_count; i++) {
        const perp_link *link = &model->links[model->joint_body[loop->terms[i].joint_index]];
        reach = slides(model, &loop->terms[i]) ? fmax(reach, fabs(q[link->q_start])) : reach;
    }
    return reach;
}

double perp_loop_reach(const perp_model *model, const perp_kinematics *kinematics, int loop)
{
    const perp_loop *l = &model->scene->loops[loop];
    if (l->kind == PERP_LOOP_JOINTS) {
        return reach_of_joints(model, kinematics->q, l);
    }
    const int bodies[2] = {l->body_a, l->body_b};
    const perp_vec3 anchors[2] = {l->anchor_a, l->anchor_b};
    double reach = LOOP_REACH_LEAST;
    for (int side = 0; side < 2; side++) {
        const int tree = bodies[side] < 0 ? -1 : model->links[bodies[side]].tree;
        const perp_vec3 at = perp_vec3_add(kinematics->pose[bodies[side]].position,
                                           perp_mat3_mul_vec(&kinematics->rotation[bodies[side]], anchors[side]));
        reach = fmax(reach, perp_vec3_norm(anchors[side]));
        reach = tree < 0 ? reach : fmax(reach, perp_vec3_norm(perp_vec3_sub(at, kinematics->reference[tree])));
    }
    return reach;
}

/* Sum of squares; residuals into `residual`, in m. */
static double evaluate(perp_loop_closure *c, const double *q, double *residual, bool derivatives)
{
    const perp_model *model = c->model;
    double sum = 0.0;
    perp_kinematics_update(model, q, c->kinematics);
    for (int i = 0, at = 0; i < model->scene->loop_count; i++) {
        double own[6];
        const int rows = perp_loop_rows(model, i);
        perp_loop_evaluate(model, c->kinematics, i, own, derivatives ? c->loop_rows : NULL);
        for (int r = 0; r < rows; r++, at++) {
            const double unit = perp_loop_row_unit(model, i, r, c->reach);
            residual[at] = unit * own[r];
            sum += residual[at] * residual[at];
            for (int k = 0; k < c->count && derivatives; k++) {
                const int d = c->dofs[k];
                c->jacobian[(ptrdiff_t)at * c->count + k] =
                    unit * c->loop_rows[(ptrdiff_t)r * model->nv + d] / (turns(c, d) ? c->reach : 1.0);
            }
        }
    }
    return sum;
}

static perp_loop_gap widest(const perp_loop_closure *c)
{
    perp_loop_gap gap = {.loop = -1};
    for (int i = 0, at = 0; i < c->model->scene->loop_count; i++) {
        double sum = 0.0;
        bool moved = false;
        for (int r = 0; r < perp_loop_rows(c->model, i); r++, at++) {
            sum += c->residual[at] * c->residual[at];
            for (int k = 0; k < c->count && !moved; k++) {
                moved = c->jacobian[(ptrdiff_t)at * c->count + k] != 0.0;
            }
        }
        if (gap.loop < 0 || sqrt(sum) > gap.gap) {
            gap = (perp_loop_gap){.loop = i, .gap = sqrt(sum), .reach = c->reach, .commanded = !moved};
        }
    }
    return gap;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* The damped step of the dofs that are not dropped, in m, into `step` by movable dof. */
static bool damped_step(perp_loop_closure *c, double mu)
{
    for (int i = 0; i < c->rows; i++) {
        const double *a = c->jacobian + (ptrdiff_t)i * c->count;
        for (int j = 0; j <= i; j++) {
            const double *b = c->jacobian + (ptrdiff_t)j * c->count;
            double sum = i == j ? mu : 0.0;
            for (int k = 0; k < c->count; k++) {
                sum += c->dropped[k] ? 0.0 : a[k] * b[k];
            }
            c->normal[(ptrdiff_t)i * c->rows + j] = sum;
        }
        c->right[i] = -c->residual[i];
    }
    if (perp_cholesky_factor(c->rows, c->normal, c->rows, NULL) != PERP_STATUS_OK) {
        return false;
    }
    perp_cholesky_solve(c->rows, c->normal, c->rows, c->right);
    for (int k = 0; k < c->count; k++) {
        double sum = 0.0;
        for (int i = 0; i < c->rows && !c->dropped[k]; i++) {
            sum += c->jacobian[(ptrdiff_t)i * c->count + k] * c->right[i];
        }
        c->step[k] = sum;
    }
    return true;
}

/* Drops what stands on a limit and would be pushed outward; true if there was a new one. */
static bool drop_outward(perp_loop_closure *c, const double *q)
{
    bool any = false;
    for (int k = 0; k < c->count; k++) {
        const int d = c->dofs[k], i = c->model->dof_q[d];
        if (i >= 0 && !c->dropped[k]) {
            c->dropped[k] = (q[i] <= c->model->limit_low[d] && c->step[k] < 0.0) ||
                            (q[i] >= c->model->limit_high[d] && c->step[k] > 0.0);
            any |= c->dropped[k];
        }
    }
    return any;
}

static bool bounded_step(perp_loop_closure *c, const double *q, double mu)
{
    memset(c->dropped, 0, (size_t)c->count * sizeof *c->dropped);
    do {
        if (!damped_step(c, mu)) {
            return false;
        }
    } while (drop_outward(c, q));
    return true;
}

/* trial = q (+) step within the limits; what the linearised rows promise of it. */
static double move(perp_loop_closure *c, const double *q)
{
    const perp_model *model = c->model;
    double *v = c->loop_rows, left = 0.0;
    memset(v, 0, (size_t)model->nv * sizeof *v);
    for (int k = 0; k < c->count; k++) {
        v[c->dofs[k]] = c->step[k] / (turns(c, c->dofs[k]) ? c->reach : 1.0);
    }
    perp_configuration_integrate(model, q, v, 1.0, c->trial);
    memcpy(c->right, c->residual, (size_t)c->rows * sizeof *c->right);
    for (int k = 0; k < c->count; k++) {
        const int d = c->dofs[k], i = model->dof_q[d];
        if (i >= 0) {
            c->trial[i] = fmin(fmax(c->trial[i], model->limit_low[d]), model->limit_high[d]);
        }
        const double taken = i >= 0 ? (c->trial[i] - q[i]) * (turns(c, d) ? c->reach : 1.0) : c->step[k];
        for (int r = 0; r < c->rows; r++) {
            c->right[r] += c->jacobian[(ptrdiff_t)r * c->count + k] * taken;
        }
    }
    for (int r = 0; r < c->rows; r++) {
        left += c->right[r] * c->right[r];
    }
    return left;
}

static double mean_square_row(const perp_loop_closure *c)
{
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < (ptrdiff_t)c->rows * c->count; i++) {
        sum += c->jacobian[i] * c->jacobian[i];
    }
    return sum > 0.0 ? sum / c->rows : 1.0;
}

bool perp_loops_close(perp_loop_closure *c, double *q, int *iterations, perp_loop_gap *gap)
{
    enum { ITERATIONS = 100 };
    perp_kinematics_update(c->model, q, c->kinematics);
    c->reach = 0.0;
    for (int i = 0; i < c->model->scene->loop_count; i++) {
        c->reach = fmax(c->reach, perp_loop_reach(c->model, c->kinematics, i));
    }
    double cost = evaluate(c, q, c->residual, true);
    const double scale = mean_square_row(c);
    double mu = MARQUARDT_FIRST * scale, grow = 2.0;
    for (int i = 0; i < ITERATIONS && sqrt(cost) > LOOP_WANTED * c->reach && mu < 1e16 * scale && isfinite(cost); i++) {
        ++*iterations;
        double gain = -1.0, next = cost;
        if (bounded_step(c, q, mu)) {
            const double promised = cost - move(c, q);
            next = evaluate(c, c->trial, c->kept, false);
            gain = promised > 0.0 ? (cost - next) / promised : -1.0;
        }
        if (gain > 0.0) {
            const double s = 2.0 * gain - 1.0;
            memcpy(q, c->trial, (size_t)c->model->nq * sizeof *q);
            cost = evaluate(c, q, c->residual, true);
            mu = fmax(mu * fmax(1.0 / 9.0, 1.0 - s * s * s), MARQUARDT_LEAST * scale);
            mu = gain > 0.9 ? fmax(MARQUARDT_DROP * mu, MARQUARDT_LEAST * scale) : mu;
            grow = 2.0;
        } else {
            (void)evaluate(c, q, c->residual, true);
            mu *= grow;
            grow *= 2.0;
        }
    }
    *gap = widest(c);
    return sqrt(cost) <= LOOP_CLOSED * c->reach;
}
