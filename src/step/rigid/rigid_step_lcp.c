/* The mixed LCP of a step with polygons: equations (24)-(26) of Trinkle, Berard and Pang (2005), with v in place of q
 * (design 4.4) and, on impedance joints, the A of Pang and Tedrake (2021), equation (6):
 *
 *     0      =  A v + f - C'y - W_n fn - W_f lambda - y_lower + y_upper      v free
 *     0      =  C v - d                                                      y free
 *     rho_n  =  W_n' v + w_n                                     _|_  fn     >= 0
 *     rho_f  =  W_f' v + w_f + E sigma                           _|_  lambda >= 0
 *     s      =  U fn - E' lambda                                 _|_  sigma  >= 0
 *     v - lower, upper - v                                       _|_  y_lower, y_upper >= 0
 *
 * W_f has a column for every corner of a contact's polygon D. */
#include "step/rigid/rigid_step.h"
#include "step/common/tolerances.h"
#include "solver/tolerances.h"

#include <string.h>

static perp_status reserve(rigid_step *s, const contact_step *step, int n, perp_error *error)
{
    if (n <= s->lcp_capacity) {
        return PERP_STATUS_OK;
    }
    const size_t size = (size_t)n + (size_t)n / 2;
    const block_array arrays[] = {PERP_ARRAY(s->m, size * size), PERP_ARRAY(s->q, size),
                                  PERP_ARRAY(s->z, size),        PERP_ARRAY(s->w, size),
                                  PERP_ARRAY(s->ray, 2 * size),  PERP_ARRAY(s->free, size)};
    perp_lcp_workspace_free(s->lcp);
    s->lcp = NULL;
    s->lcp_capacity = 0;
    perp_status status =
        perp_block_arrays(&step->allocator, &s->lcp_block, arrays, sizeof arrays / sizeof *arrays, error);
    if (status == PERP_STATUS_OK) {
        status = perp_lcp_workspace_create((int)size, &step->allocator, &s->lcp, error);
    }
    s->lcp_capacity = status == PERP_STATUS_OK ? (int)size : 0;
    return status;
}

static int size_of(const rigid_step *s, const double *mu)
{
    const perp_contact_qp *p = &s->qp;
    int n = p->n + p->equality_count;
    for (int i = 0; i < p->contact_count; i++) {
        const rigid_polygon *d = perp_rigid_polygon(s, p->row_start[i + 1] - p->row_start[i]);
        n += 1 + (d && mu[i] > 0.0 ? d->count + 1 : 0);
    }
    for (int k = 0; k < p->n && p->lower; k++) {
        n += (isfinite(p->lower[k]) ? 1 : 0) + (isfinite(p->upper[k]) ? 1 : 0);
    }
    return n;
}

/* Row `at` of M is weight (a row over v), and column `at` minus that: the force of the constraint. */
static void put_pair(const rigid_step *s, int n, int at, int dof, double value)
{
    s->m[(ptrdiff_t)at * n + dof] += value;
    s->m[(ptrdiff_t)dof * n + at] -= value;
}

static void put_contact_row(const rigid_step *s, int n, int at, int i, const double *row, double weight)
{
    const perp_contact_qp *p = &s->qp;
    for (int k = p->dof_start[i]; k < p->dof_start[i + 1] && weight != 0.0; k++) {
        put_pair(s, n, at, p->dofs[k], weight * row[k - p->dof_start[i]]);
    }
}

static int fill_contact(rigid_step *s, int n, int at, int i, const double *jacobian, double mu)
{
    const perp_contact_qp *p = &s->qp;
    const int rows = p->row_start[i + 1] - p->row_start[i], columns = p->dof_start[i + 1] - p->dof_start[i];
    const double *w = s->offset + p->row_start[i];
    const rigid_polygon *d = perp_rigid_polygon(s, rows);
    put_contact_row(s, n, at, i, jacobian, 1.0);
    s->q[at] = w[0];
    if (!d || mu == 0.0) {
        return at + 1;
    }
    const int sigma = at + 1 + d->count;
    s->m[(ptrdiff_t)sigma * n + at] = mu;
    for (int j = 0; j < d->count; j++) {
        const int ray = at + 1 + j;
        for (int r = 1; r < rows; r++) {
            put_contact_row(s, n, ray, i, jacobian + (ptrdiff_t)r * columns, d->corner[j][r - 1]);
            s->q[ray] += d->corner[j][r - 1] * w[r];
        }
        s->m[(ptrdiff_t)ray * n + sigma] = 1.0;
        s->m[(ptrdiff_t)sigma * n + ray] = -1.0;
    }
    return sigma + 1;
}

static void fill(rigid_step *s, int n, const double *mu)
{
    const perp_contact_qp *p = &s->qp;
    const double *jacobian = p->jacobian;
    memset(s->m, 0, (size_t)n * (size_t)n * sizeof(double));
    memset(s->q, 0, (size_t)n * sizeof(double));
    for (int i = 0; i < n; i++) {
        s->free[i] = i < p->n + p->equality_count;
    }
    perp_step_spread(p, p->hessian, n, s->m);
    memcpy(s->q, p->g, (size_t)p->n * sizeof(double));
    int at = p->n;
    for (int i = 0; i < p->equality_count; i++, at++) {
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            put_pair(s, n, at, p->equality_dofs[k], p->equality_values[k]);
        }
        s->q[at] = -p->equality_target[i];
    }
    for (int i = 0; i < p->contact_count; i++) {
        at = fill_contact(s, n, at, i, jacobian, mu[i]);
        jacobian += (ptrdiff_t)(p->row_start[i + 1] - p->row_start[i]) * (p->dof_start[i + 1] - p->dof_start[i]);
    }
    for (int k = 0; k < p->n && p->lower; k++) {
        for (int side = 0; side < 2; side++) {
            const double bound = side == 0 ? p->lower[k] : p->upper[k], sign = side == 0 ? 1.0 : -1.0;
            if (isfinite(bound)) {
                put_pair(s, n, at, k, sign);
                s->q[at++] = -sign * bound;
            }
        }
    }
}

void perp_rigid_read_lcp(rigid_step *s, const double *mu, const double *z)
{
    const perp_contact_qp *p = &s->qp;
    int at = p->n;
    memcpy(s->point.x, z, (size_t)p->n * sizeof(double));
    for (int i = 0; i < p->equality_count; i++) {
        s->point.y_equality[i] = z[at++];
    }
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i];
        const rigid_polygon *d = perp_rigid_polygon(s, rows);
        double *r = s->point.y + p->row_start[i];
        memset(r, 0, (size_t)rows * sizeof *r);
        r[0] = z[at++];
        if (d && mu[i] > 0.0) {
            for (int j = 0; j < d->count; j++, at++) {
                for (int k = 1; k < rows; k++) {
                    r[k] += d->corner[j][k - 1] * z[at];
                }
            }
            at++; /* sigma */
        }
    }
    for (int k = 0; k < p->n && p->lower; k++) {
        s->point.y_lower[k] = isfinite(p->lower[k]) ? z[at++] : 0.0;
        s->point.y_upper[k] = isfinite(p->upper[k]) ? z[at++] : 0.0;
    }
}

perp_status perp_rigid_build_lcp(contact_step *step, perp_mlcp *problem, perp_error *error)
{
    rigid_step *s = step->own;
    const int n = size_of(s, step->mu);
    const perp_status status = reserve(s, step, n, error);
    if (status == PERP_STATUS_OK) {
        fill(s, n, step->mu);
        *problem = (perp_mlcp){n, s->m, s->q, s->free};
    }
    return status;
}

perp_status perp_rigid_solve_lcp(contact_step *step, bool *solved, perp_lcp_info *info, perp_error *error)
{
    rigid_step *s = step->own;
    perp_mlcp problem;
    perp_status status = perp_rigid_build_lcp(step, &problem, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_lcp_settings settings = perp_lcp_settings_default();
    settings.tolerance = fmax(FINEST_TOLERANCE, ASKED_OF_LCP * step->settings->tolerance);
    perp_lcp_solution solution = {.z = s->z, .w = s->w, .ray = s->ray};
    status = perp_mlcp_solve(&problem, &settings, s->lcp, &solution, info, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    step->info->iterations += info->pivots;
    perp_rigid_read_lcp(s, step->mu, s->z);
    *solved = info->outcome == PERP_OUTCOME_SOLVED ||
              perp_rigid_worst(perp_rigid_evaluate(s, step->mu, &s->point)) <= step->settings->tolerance;
    if (*solved && info->tried_count > 1) {
        step->info->fallbacks[PERP_FALLBACK_SECOND_METHOD]++;
    }
    return PERP_STATUS_OK;
}
