/* Problems with a support that is an ellipsoid, one contact of three tangential rows, which the solvers of Coulomb's
 * law do not take. Here it is a fixed point over convex problems (De Saxce and Feng): with the shift w of the last
 * round
 *
 *     (u_n + w, mu u_t) in the second-order cone, r in its dual, r . (u_n + w, u_t) = 0
 *
 * and w = mu |u_t| is Coulomb's law, under-relaxed as rigid_step_fixed.c is. A support needs no rounds: without
 * stiffness of its foot r_n is its load whatever w is, and friction does the most work against the slip. */
#include "problem/friction_law.h"
#include "solver/tolerances.h"
#include "step/compliant/compliant.h"
#include "step/common/tolerances.h"

#include <string.h>

enum { ROUNDS = 200 };

bool perp_compliant_has_ellipsoid(const compliant_step *s)
{
    bool any = false;
    for (int k = 0; k < s->patch_count && !any; k++) {
        any = s->patches[k].material.rows > 3;
    }
    return any;
}

static bool is_support(const compliant_step *s, int i)
{
    return s->patches[s->patch_of[i]].material.load > 0.0;
}

static bool rubs(const compliant_step *s, int i)
{
    return s->row_start[i + 1] - s->row_start[i] > 1 && s->mu[i] > 0.0;
}

static perp_status reserve(const contact_step *step, perp_error *error)
{
    compliant_step *s = step->own;
    compliant_cones *c = &s->cones;
    perp_status status = c->solver ? PERP_STATUS_OK : perp_convex_workspace_create(&step->allocator, &c->solver, error);
    if (status != PERP_STATUS_OK || (c->block.memory && c->capacity == s->element_capacity)) {
        return status;
    }
    c->capacity = s->element_capacity;
    const block_array arrays[] = {PERP_ARRAY(c->slack_start, c->capacity + 1), PERP_ARRAY(c->rays, 16 * c->capacity),
                                  PERP_ARRAY(c->offset, 4 * c->capacity), PERP_ARRAY(c->shift, c->capacity),
                                  PERP_ARRAY(c->quadratic, c->capacity)};
    return perp_block_arrays(&step->allocator, &c->block, arrays, sizeof arrays / sizeof *arrays, error);
}

/* The feet of supports without stiffness, and diag(1, mu, ..) of every contact. */
static perp_contact_qp pose(compliant_step *s)
{
    compliant_cones *c = &s->cones;
    double *ray = c->rays, *block = s->hessian;
    for (int b = 0, feet = s->qp.block_count - s->element_count; b < s->qp.block_count; b++) {
        const int size = s->qp.block_start[b + 1] - s->qp.block_start[b];
        if (b >= feet && is_support(s, b - feet)) {
            block[0] = 0.0;
        }
        block += (ptrdiff_t)size * size;
    }
    c->slack_start[0] = 0;
    for (int i = 0; i < s->element_count; i++) {
        const int rows = s->row_start[i + 1] - s->row_start[i], slacks = rubs(s, i) ? rows : 1;
        memset(ray, 0, (size_t)(slacks * rows) * sizeof *ray);
        for (int r = 0; r < slacks; r++) {
            ray[r * rows + r] = r == 0 ? 1.0 : s->mu[i];
            c->offset[c->slack_start[i] + r] = ray[r * rows + r] * s->offset[s->row_start[i] + r];
        }
        ray += slacks * rows;
        c->quadratic[i] = slacks > 1;
        c->shift[i] = 0.0;
        c->slack_start[i + 1] = c->slack_start[i] + slacks;
    }
    perp_contact_qp qp = s->qp;
    qp.slack_start = c->slack_start;
    qp.rays = c->rays;
    qp.offset = c->offset;
    qp.quadratic = c->quadratic;
    return qp;
}

/* From multipliers of the cones to forces by row, from the last contact on: there are no more slacks than rows. */
static void spread_forces(compliant_step *s)
{
    for (int i = s->element_count - 1; i >= 0; i--) {
        const int slacks = s->cones.slack_start[i + 1] - s->cones.slack_start[i];
        for (int r = s->row_start[i + 1] - s->row_start[i] - 1; r >= 0; r--) {
            const double y = r < slacks ? s->point.y[s->cones.slack_start[i] + r] : 0.0;
            s->point.y[s->row_start[i] + r] = r == 0 ? fmax(0.0, y) : s->mu[i] * y;
        }
    }
}

/* Towards w = mu |u_t|; returns how far it was from that. */
static double relax(compliant_step *s)
{
    const perp_contact_friction problem = {&s->qp, s->mu};
    double steepest = 0.0, worst = 0.0;
    perp_contact_friction_velocity(&problem, s->point.x, s->u);
    for (int i = 0; i < s->element_count; i++) {
        steepest = rubs(s, i) && !is_support(s, i) ? fmax(steepest, s->mu[i]) : steepest;
    }
    for (int i = 0; i < s->element_count; i++) {
        const double *u = s->u + s->row_start[i];
        if (rubs(s, i) && !is_support(s, i)) {
            const double slip = s->row_start[i + 1] - s->row_start[i] > 2 ? hypot(u[1], u[2]) : fabs(u[1]);
            const double miss = s->mu[i] * slip - s->cones.shift[i], change = miss / (1.0 + steepest * steepest);
            worst = fmax(worst, s->point.y[s->row_start[i]] > 0.0 ? fabs(miss) : 0.0);
            s->cones.shift[i] += change;
            s->cones.offset[s->cones.slack_start[i]] += change;
        }
    }
    return worst;
}

perp_status perp_compliant_solve_ellipsoids(contact_step *step, const perp_friction_settings *settings,
                                            perp_friction_info *info, perp_error *error)
{
    compliant_step *s = step->own;
    perp_status status = reserve(step, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const perp_contact_qp qp = pose(s);
    perp_convex_settings convex = perp_convex_settings_default();
    convex.tolerance = fmax(FINEST_TOLERANCE, 0.1 * settings->tolerance);
    convex.cancel = settings->cancel;
    memset(info, 0, sizeof *info);
    info->method = "fixed-point";
    info->outcome = PERP_OUTCOME_ITERATION_LIMIT;
    status = perp_contact_qp_reserve(&qp, s->cones.solver, error);
    for (int k = 0; k < ROUNDS && status == PERP_STATUS_OK && info->outcome != PERP_OUTCOME_SOLVED; k++) {
        perp_convex_info round;
        status = perp_contact_qp_solve(&qp, &convex, s->cones.solver, &s->point, &round, error);
        if (status != PERP_STATUS_OK || round.outcome == PERP_OUTCOME_INFEASIBLE ||
            round.outcome == PERP_OUTCOME_UNBOUNDED) {
            memset(s->point.x, 0, (size_t)qp.n * sizeof *s->point.x); /* else it is a proof */
            return status;
        }
        info->iterations += round.iterations;
        spread_forces(s);
        for (int i = 0; i < s->element_count; i++) {
            double *foot = &s->point.x[step->free_count + s->soft_start[i]];
            *foot = is_support(s, i) ? 0.0 : *foot; /* its w is mu |u_t| */
        }
        const bool settled = s->gap * relax(s) <= settings->tolerance;
        info->outcome = settled ? PERP_OUTCOME_SOLVED : PERP_OUTCOME_ITERATION_LIMIT;
    }
    return status;
}
