/* Why a rigid step has no answer, or none was found. Two proofs, each by one convex problem, are tried as soon as the
 * first method has failed: most steps that it fails on have no answer, and no search ends sooner than a proof.
 *
 * No v meets u_n >= 0, the loops and the limits at once: the commands force bodies into each other. The multipliers of
 * the infeasible problem are weights y >= 0 with sum y u_n = -1 whatever v is, so that some gap ends below -1 / sum y.
 *
 * No r in its cone balances f: then there is a v with A v = 0, C v = 0, H v in the dual cones (u_n >= mu |u_t|) and
 * f'v < 0, along which Anitescu's convex step is unbounded; with any balance r, f'v = r'H v >= 0. It is the direction
 * in which nothing holds the bodies.
 *
 * Where both fail, the modes are searched through: rigid contact with friction need not have an answer, as when what is
 * pushed can neither slide nor tip.
 *
 * Where that search ends undecided, a wedge says why solvers fail: no v has all (u_n, mu u_t) in the cones dual to
 * friction's. Its multipliers are forces in their cones that balance each other, and on which the commands do work: as
 * large as one likes they remain in balance, and a fixed point drives them up without end. An answer in which something
 * slides out is not excluded by it. Without a wedge, and with what nothing holds excluded, there is an answer (the
 * argument of Acary, Cadoux, Lemarechal and Malick 2011, on the slip), but for problems on the edge of either. */
#include "step/rigid/rigid_step.h"
#include "step/common/tolerances.h"

#include <float.h>
#include <string.h>

/* u_n >= 0, or with `friction` (u_n, mu u_t) in the cone dual to mu D; contacts come first, in order. */
static void add_contacts(rigid_step *s, const double *mu, bool friction)
{
    const perp_contact_qp *p = &s->qp;
    const double *jacobian = p->jacobian;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->row_start[i], rows = p->row_start[i + 1] - start;
        const rigid_polygon *d = friction && mu[i] > 0.0 ? perp_rigid_polygon(s, rows) : NULL;
        const bool round = friction && mu[i] > 0.0 && rows > 1 && !d;
        for (int j = 0; j < (d ? perp_rigid_corner_count(d, rows) : 1); j++) {
            double corner[3] = {0.0, 0.0, 0.0};
            if (d) {
                perp_rigid_corner(d, j, corner);
            }
            double *row = perp_cone_program_cone(&s->program, round ? rows : 1);
            double *b = s->program.b + s->program.rows - (round ? rows : 1);
            perp_rigid_add_row(s, i, jacobian, 0, 1.0, row);
            b[0] = s->offset[start];
            for (int r = 1; d && r < rows; r++) {
                perp_rigid_add_row(s, i, jacobian, r, mu[i] * corner[r - 1], row);
                b[0] += mu[i] * corner[r - 1] * s->offset[start + r];
            }
            for (int r = 1; round && r < rows; r++) {
                perp_rigid_add_row(s, i, jacobian, r, mu[i], row + (ptrdiff_t)r * s->program.n);
                b[r] = mu[i] * s->offset[start + r];
            }
        }
        jacobian += (ptrdiff_t)rows * (p->dof_start[i + 1] - p->dof_start[i]);
    }
}

static perp_status begin(contact_step *step, bool friction, perp_error *error)
{
    rigid_step *s = step->own;
    const perp_contact_qp *p = &s->qp;
    int rows = 2 * p->n;
    for (int i = 0; i < p->contact_count; i++) {
        const int own = p->row_start[i + 1] - p->row_start[i];
        const rigid_polygon *d = perp_rigid_polygon(s, own);
        rows += friction && d ? perp_rigid_corner_count(d, own) : 4;
    }
    const perp_status status = perp_cone_program_begin(&s->program, p->n, rows, p->equality_count, error);
    if (status == PERP_STATUS_OK) {
        add_contacts(s, step->mu, friction);
        perp_rigid_add_constraints(s);
    }
    return status;
}

/* Do weights whose proof misses by 1 leave more than what the law's tolerance lets all their rows be off by together?
 * If not, an answer may meet the law all the same, and nothing is proven. */
static bool leaves_room(const rigid_step *s, const contact_step *step)
{
    const double slack = step->settings->tolerance / s->gap; /* of velocities */
    double sum = 0.0;
    for (int i = 0; i < s->program.rows; i++) {
        sum += fabs(s->program.point.y[i]);
    }
    for (int i = 0; i < s->program.equations; i++) {
        sum += fabs(s->program.point.y_equality[i]);
    }
    return sum * slack < 1.0;
}

/* Weights on the contacts' rows whose sum is -1 whatever moves, if there are such: into step->force, by contact that of
 * its normal row, and their sum. */
static perp_status find_weights(contact_step *step, bool friction, bool *found, double *sum, perp_error *error)
{
    rigid_step *s = step->own;
    const perp_contact_qp *p = &s->qp;
    perp_convex_info info;
    perp_status status = begin(step, friction, error);
    for (int i = 0; i < p->n && status == PERP_STATUS_OK; i++) {
        s->program.h[(ptrdiff_t)i * p->n + i] = 1.0;
    }
    if (status == PERP_STATUS_OK) {
        status = perp_cone_program_solve(&s->program, PROOF_ASKED, false, &info, error);
    }
    *found = status == PERP_STATUS_OK && info.outcome == PERP_OUTCOME_INFEASIBLE && leaves_room(s, step);
    if (!*found) {
        return status;
    }
    const double *y = s->program.point.y;
    *sum = 0.0;
    memset(step->force, 0, (size_t)p->row_start[p->contact_count] * sizeof(double));
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i];
        const rigid_polygon *d = friction && step->mu[i] > 0.0 ? perp_rigid_polygon(s, rows) : NULL;
        const bool round = friction && step->mu[i] > 0.0 && rows > 1 && !d;
        for (int j = 0; j < (d ? perp_rigid_corner_count(d, rows) : 1); j++) {
            step->force[p->row_start[i]] += *y;
            *sum += *y;
            y += round ? rows : 1;
        }
    }
    return PERP_STATUS_OK;
}

static perp_status prove_infeasible(contact_step *step, bool *proven, perp_error *error)
{
    double sum;
    const perp_status status = find_weights(step, false, proven, &sum, error);
    return *proven
               ? perp_step_infeasible(step, step->force,
                                      sum > 0.0 ? ((const rigid_step *)step->own)->speed * step->h / sum : 0.0, error)
               : status;
}

static perp_status prove_unsupported(contact_step *step, bool *proven, perp_error *error)
{
    rigid_step *s = step->own;
    const perp_contact_qp *p = &s->qp;
    perp_convex_info info;
    perp_status status = begin(step, true, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    memcpy(s->program.g, p->g, (size_t)p->n * sizeof(double));
    perp_step_spread(p, p->hessian, p->n, s->program.h);
    /* directions of recession do not depend on the offsets, and these could make the convex step infeasible */
    memset(s->program.b, 0, (size_t)s->program.rows * sizeof(double));
    memset(s->program.d, 0, (size_t)s->program.equations * sizeof(double));
    status = perp_cone_program_solve(&s->program, PROOF_ASKED, false, &info, error);
    *proven = status == PERP_STATUS_OK && info.outcome == PERP_OUTCOME_UNBOUNDED &&
              perp_step_is_driven(step, s->program.point.x);
    return *proven ? perp_step_unsupported(step, s->program.point.x, error) : status;
}

perp_status perp_rigid_prove_none(contact_step *step, bool *proven, perp_error *error)
{
    const perp_status status = prove_infeasible(step, proven, error);
    return *proven || status != PERP_STATUS_OK ? status : prove_unsupported(step, proven, error);
}

perp_status perp_rigid_explain(contact_step *step, const char *method, double residual, perp_error *error)
{
    bool proven = false;
    perp_status status = perp_rigid_search_modes(step, &proven, error);
    if (proven || status != PERP_STATUS_OK) {
        return status;
    }
    double sum;
    status = find_weights(step, true, &proven, &sum, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_step_not_converged(step, method, residual, error);
    return proven ? perp_step_wedged(step, step->force, step->length_unit / fmax(sum, DBL_MIN), error)
                  : PERP_STATUS_NOT_CONVERGED;
}
