/* Of several answers one, whatever the solver came upon first.
 *
 * The smallest motion: all v that meet the law together with the forces r at hand have
 *
 *     A v = A v*,  C v = d,  u_n = 0 where fn > 0, else u_n >= 0,
 *     -u_t in the normal cone of mu fn D at ft where mu fn > 0
 *
 * (which is Proposition 1 of Trinkle, Berard and Pang as corrected in design 4.7). All of it is linear: a force inside
 * of its cone asks for u_t = 0, one on the edge for u_t along the inward normal, one in a corner for u_t in a wedge. Of
 * these v the one of least kinetic energy is taken, the paper's "lazy" system.
 *
 * That there are others is told (`several`), and so is an answer in which what slides at hand would stick instead, as
 * where fingers graze an object and go on: at other forces, found by the search through modes.
 *
 * The least forces: all r that meet the law together with this v balance it, vanish where u_n > 0, lie in their cone
 * where u_t = 0, and in the part of the cone's edge that opposes u_t otherwise. Of these the one of least norm. */
#include "step/common/determined.h"
#include "step/rigid/rigid_step.h"
#include "step/common/tolerances.h"

#include <assert.h>
#include <string.h>

/* ---- the smallest motion ----------------------------------------------------------------------------------------- */

/* combination (rows) . u of contact i: = 0, or >= 0. */
static void add_motion_row(rigid_step *s, int i, const double *jacobian, const double *combination, bool equation)
{
    const perp_contact_qp *p = &s->qp;
    const int rows = p->row_start[i + 1] - p->row_start[i];
    const double *w = s->offset + p->row_start[i];
    double offset = 0.0;
    assert(rows <= 3); /* n, t, o */
    for (int r = 0; r < rows; r++) {
        offset += combination[r] * w[r];
    }
    double *row = equation ? perp_cone_program_equation(&s->program, -offset) : perp_cone_program_cone(&s->program, 1);
    if (!equation) {
        s->program.b[s->program.rows - 1] = offset;
    }
    for (int r = 0; r < rows; r++) {
        if (combination[r] != 0.0) {
            perp_rigid_add_row(s, i, jacobian, r, combination[r], row);
        }
    }
}

/* -u_t is in the cone of the normals a and b (counter-clockwise; the same: along it). */
static void add_wedge(rigid_step *s, int i, const double *jacobian, const double *a, const double *b)
{
    const double across[3] = {0.0, -a[1], a[0]}, back[3] = {0.0, -a[0], -a[1]};
    if (a == b) {
        add_motion_row(s, i, jacobian, across, true);
        add_motion_row(s, i, jacobian, back, false);
        return;
    }
    const double from_a[3] = {0.0, a[1], -a[0]}, to_b[3] = {0.0, -b[1], b[0]};
    add_motion_row(s, i, jacobian, from_a, false);
    add_motion_row(s, i, jacobian, to_b, false);
}

static void add_stick(rigid_step *s, int i, const double *jacobian, int rows)
{
    for (int r = 1; r < rows; r++) {
        const double unit[3] = {0.0, r == 1 ? 1.0 : 0.0, r == 2 ? 1.0 : 0.0};
        add_motion_row(s, i, jacobian, unit, true);
    }
}

static void add_slip(rigid_step *s, int i, const double *jacobian, double limit)
{
    const perp_contact_qp *p = &s->qp;
    const int rows = p->row_start[i + 1] - p->row_start[i];
    const double *r = s->point.y + p->row_start[i];
    const rigid_polygon *d = perp_rigid_polygon(s, rows);
    if (rows == 2) {
        const double back[3] = {0.0, r[1] > 0.0 ? -1.0 : 1.0, 0.0};
        if (fabs(r[1]) >= (1.0 - ON_EDGE) * limit) {
            add_motion_row(s, i, jacobian, back, false);
        } else {
            add_stick(s, i, jacobian, rows);
        }
        return;
    }
    const double length = hypot(r[1], r[2]), along[2] = {r[1] / length, r[2] / length};
    if (!d && length >= (1.0 - ON_EDGE) * limit) {
        add_wedge(s, i, jacobian, along, along);
        return;
    }
    int first = -1, count = 0;
    for (int j = 0; d && j < d->count; j++) {
        const int next = (j + 1) % d->count;
        const bool here = d->facet[j][0] * r[1] + d->facet[j][1] * r[2] >= (1.0 - ON_EDGE) * limit;
        const bool there = d->facet[next][0] * r[1] + d->facet[next][1] * r[2] >= (1.0 - ON_EDGE) * limit;
        count += here ? 1 : 0;
        first = here && (first < 0 || there) ? j : first;
    }
    if (count == 0) {
        add_stick(s, i, jacobian, rows);
    } else {
        add_wedge(s, i, jacobian, d->facet[first], d->facet[count > 1 ? (first + 1) % d->count : first]);
    }
}

static void add_motion_contacts(rigid_step *s, const double *mu)
{
    static const double NORMAL[3] = {1.0, 0.0, 0.0};
    const perp_contact_qp *p = &s->qp;
    const double *jacobian = p->jacobian;
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i];
        const double fn = s->point.y[p->row_start[i]];
        add_motion_row(s, i, jacobian, NORMAL, fn > CARRIES);
        if (rows > 1 && fn > CARRIES && mu[i] * fn > CARRIES) {
            add_slip(s, i, jacobian, mu[i] * fn);
        }
        jacobian += (ptrdiff_t)rows * (p->dof_start[i + 1] - p->dof_start[i]);
    }
}

/* A v = A v*, the loops, and the limits. */
static void add_motion_rest(rigid_step *s)
{
    const perp_contact_qp *p = &s->qp;
    const double *block = p->hessian;
    for (int b = 0; b < p->block_count; b++) {
        const int start = p->block_start[b], size = p->block_start[b + 1] - start;
        for (int i = 0; i < size; i++, block += size) {
            double sum = 0.0, largest = 0.0;
            for (int k = 0; k < size; k++) {
                sum += block[k] * s->point.x[start + k];
                largest = fmax(largest, fabs(block[k]));
            }
            if (largest > 0.0) {
                double *row = perp_cone_program_equation(&s->program, sum / largest);
                for (int k = 0; k < size; k++) {
                    row[start + k] = block[k] / largest;
                }
            }
        }
    }
    perp_rigid_add_loops(s);
    for (int k = 0; k < p->n && p->lower; k++) {
        for (int side = 0; side < 2; side++) {
            const double bound = side == 0 ? p->lower[k] : p->upper[k], sign = side == 0 ? 1.0 : -1.0;
            if (!isfinite(bound)) {
                continue;
            }
            if ((side == 0 ? s->point.y_lower[k] : s->point.y_upper[k]) > CARRIES) {
                perp_cone_program_equation(&s->program, bound)[k] = 1.0;
            } else {
                perp_cone_program_cone(&s->program, 1)[k] = sign;
                s->program.b[s->program.rows - 1] = -sign * bound;
            }
        }
    }
}

void perp_rigid_fill_metric(rigid_step *s, const contact_step *step)
{
    perp_step_metric(step, step->mass_scratch);
    perp_step_spread(&step->system, step->mass_scratch, s->program.n, s->program.h);
}

static double largest(int n, const double *x, const double *y)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i] - (y ? y[i] : 0.0)));
    }
    return most;
}

/* Does `better` meet the law about as well as `point` does, and to its tolerance? */
static bool holds(contact_step *step, double before)
{
    rigid_step *s = step->own;
    const double after = perp_rigid_worst(perp_rigid_evaluate(s, step->mu, &s->better));
    const double tolerance = step->settings->tolerance;
    return after <= fmin(fmax(10.0 * before, 0.01 * tolerance), fmax(before, tolerance));
}

static bool usable(perp_outcome outcome)
{
    return outcome == PERP_OUTCOME_SOLVED || outcome == PERP_OUTCOME_ILL_CONDITIONED ||
           outcome == PERP_OUTCOME_ITERATION_LIMIT;
}

/* Is the smallest motion the only one that these forces allow? (determined.h) The program is that of the smallest
 * motion, and s->point has it. */
static perp_status probe_motions(contact_step *step, perp_error *error)
{
    static const double FAR = 0.1; /* of L */
    rigid_step *s = step->own;
    const int n = s->qp.n;
    perp_convex_info info;
    for (int side = 0; side < 2 && !step->info->several; side++) {
        for (int i = 0; i < n; i++) {
            s->balance[i] = s->point.x[i] + (side == 0 ? FAR : -FAR) * perp_determined_probe(i);
        }
        for (int i = 0; i < n; i++) {
            s->program.g[i] = 0.0;
            for (int k = 0; k < n; k++) {
                s->program.g[i] -= s->program.h[(ptrdiff_t)i * n + k] * s->balance[k];
            }
        }
        const perp_status status = perp_cone_program_solve_dual(&s->program, PROOF_ASKED, &info, error);
        if (status != PERP_STATUS_OK) {
            return status;
        }
        step->info->iterations += info.iterations;
        step->info->several =
            info.outcome == PERP_OUTCOME_SOLVED && largest(n, s->program.point.x, s->point.x) > TWO_MOTIONS;
    }
    return PERP_STATUS_OK;
}

/* Of the motions in the program the smallest, if it meets the law. */
static perp_status take_smallest(contact_step *step, double before, perp_error *error)
{
    rigid_step *s = step->own;
    const perp_contact_qp *p = &s->qp;
    perp_convex_info info;
    const perp_status status =
        perp_cone_program_solve(&s->program, ASKED * step->settings->tolerance, false, &info, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    step->info->iterations += info.iterations;
    perp_step_copy_point(&s->qp, &s->better, &s->point);
    memcpy(s->better.x, s->program.point.x, (size_t)p->n * sizeof(double));
    if (!usable(info.outcome) || !holds(step, before)) {
        step->info->fallbacks[PERP_FALLBACK_ANY_MOTION]++;
        return PERP_STATUS_OK;
    }
    step->info->several = step->info->several || largest(p->n, s->better.x, s->point.x) > TWO_MOTIONS;
    memcpy(s->point.x, s->better.x, (size_t)p->n * sizeof(double));
    return PERP_STATUS_OK;
}

perp_status perp_rigid_motions(contact_step *step, perp_error *error)
{
    rigid_step *s = step->own;
    const perp_contact_qp *p = &s->qp;
    const int room = 3 * p->contact_count + 2 * p->n;
    const perp_status status = perp_cone_program_begin(&s->program, p->n, room, room + p->n + p->equality_count, error);
    if (status == PERP_STATUS_OK) {
        add_motion_contacts(s, step->mu);
        add_motion_rest(s);
    }
    return status;
}

perp_status perp_rigid_smallest_motion(contact_step *step, perp_error *error)
{
    rigid_step *s = step->own;
    const perp_contact_qp *p = &s->qp;
    perp_status status = perp_rigid_motions(step, error);
    if (status != PERP_STATUS_OK || perp_cone_program_is_determined(&s->program)) {
        return status;
    }
    const double before = perp_rigid_worst(perp_rigid_evaluate(s, step->mu, &s->point));
    perp_rigid_fill_metric(s, step);
    if (largest(p->n, s->point.x, NULL) > AT_REST) { /* nothing is smaller than no motion */
        status = take_smallest(step, before, error);
    }
    return status == PERP_STATUS_OK ? probe_motions(step, error) : status;
}

/* ---- the least forces -------------------------------------------------------------------------------------------- */

/* The part of the cone that opposes u_t: equations between the entries at..at + rows - 1 of x. */
static void add_sliding(rigid_step *s, int at, int rows, double mu, const double *ut)
{
    const double speed = hypot(ut[0], ut[1]);
    const rigid_polygon *d = perp_rigid_polygon(s, rows);
    int corner = 0, partner = -1;
    double most = 0.0, direction[2] = {-ut[0] / speed, -ut[1] / speed};
    for (int j = 0; d && j < d->count; j++) {
        const double work = d->corner[j][0] * direction[0] + d->corner[j][1] * direction[1];
        corner = work > most ? j : corner;
        most = fmax(work, most);
    }
    for (int j = 0; d && rows > 2 && j < d->count; j++) {
        const double work = d->corner[j][0] * direction[0] + d->corner[j][1] * direction[1];
        partner = j != corner && work >= (1.0 - ON_EDGE) * most ? j : partner;
    }
    if (partner >= 0) { /* on the edge between two corners: as much work as either, and between them */
        const double *a = d->corner[corner], *b = d->corner[partner];
        const double edge[2] = {b[0] - a[0], b[1] - a[1]}, area = a[0] * b[1] - a[1] * b[0];
        double *row = perp_cone_program_equation(&s->program, 0.0);
        row[at] = mu;
        row[at + 1] = -edge[1] / area;
        row[at + 2] = edge[0] / area;
        for (int side = 0; side < 2; side++) {
            const double *c = side == 0 ? a : b, sign = side == 0 ? 1.0 : -1.0;
            double *inside = perp_cone_program_cone(&s->program, 1);
            inside[at] = -sign * mu * (edge[0] * c[0] + edge[1] * c[1]);
            inside[at + 1] = sign * edge[0];
            inside[at + 2] = sign * edge[1];
        }
        return;
    }
    for (int r = 1; r < rows; r++) {
        double *row = perp_cone_program_equation(&s->program, 0.0);
        row[at] = -mu * (d ? d->corner[corner][r - 1] : direction[r - 1]);
        row[at + r] = 1.0;
    }
}

static void add_sticking(rigid_step *s, int at, int rows, double mu)
{
    const rigid_polygon *d = perp_rigid_polygon(s, rows);
    const int n = s->program.n;
    if (!d) {
        double *row = perp_cone_program_cone(&s->program, rows);
        row[at] = mu;
        row[n + at + 1] = row[2 * n + at + 2] = 1.0;
    }
    for (int j = 0; d && j < d->count; j++) {
        double *row = perp_cone_program_cone(&s->program, 1);
        row[at] = mu;
        for (int r = 1; r < rows; r++) {
            row[at + r] = -d->facet[j][r - 1];
        }
    }
}

/* Numbers the unknown forces and returns how many rows and unknowns there may be. */
static int number_forces(rigid_step *s, const double *mu, int *rows_needed)
{
    const perp_contact_qp *p = &s->qp;
    int count = 0;
    *rows_needed = 2 * p->n;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->row_start[i], rows = p->row_start[i + 1] - start;
        const bool bears = s->gap * s->u[start] <= MOVES || s->point.y[start] > CARRIES;
        const rigid_polygon *d = perp_rigid_polygon(s, rows);
        for (int r = 0; r < rows; r++) {
            s->row_of[start + r] = bears && (r == 0 || mu[i] > 0.0) ? count++ : -1;
        }
        *rows_needed += 1 + (d ? d->count : 3);
    }
    return count;
}

/* Laws of the contacts, and their part of the balance, whose equations come first. */
static void add_force_contacts(rigid_step *s, const double *mu)
{
    const perp_contact_qp *p = &s->qp;
    const double *jacobian = p->jacobian;
    const int n = s->program.n;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->row_start[i], rows = p->row_start[i + 1] - start;
        const int columns = p->dof_start[i + 1] - p->dof_start[i], at = s->row_of[start];
        const double ut[2] = {rows > 1 ? s->u[start + 1] : 0.0, rows > 2 ? s->u[start + 2] : 0.0};
        const bool rubs = at >= 0 && rows > 1 && mu[i] > 0.0;
        for (int r = 0; r < rows && at >= 0; r++) {
            for (int k = 0; k < columns && s->row_of[start + r] >= 0; k++) {
                const int dof = p->dofs[p->dof_start[i] + k];
                s->program.c[(ptrdiff_t)dof * n + at + r] += jacobian[(ptrdiff_t)r * columns + k];
            }
        }
        if (at >= 0) {
            perp_cone_program_cone(&s->program, 1)[at] = 1.0;
        }
        if (rubs && s->gap * hypot(ut[0], ut[1]) > MOVES) {
            add_sliding(s, at, rows, mu[i], ut);
        } else if (rubs) {
            add_sticking(s, at, rows, mu[i]);
        }
        jacobian += (ptrdiff_t)rows * columns;
    }
}

static void add_balance(rigid_step *s)
{
    const perp_contact_qp *p = &s->qp;
    const double *block = p->hessian;
    for (int b = 0; b < p->block_count; b++) {
        for (int i = p->block_start[b]; i < p->block_start[b + 1]; i++) {
            double sum = p->g[i];
            for (int k = p->block_start[b]; k < p->block_start[b + 1]; k++) {
                sum += *block++ * s->point.x[k];
            }
            perp_cone_program_equation(&s->program, sum);
        }
    }
}

/* Of a limit that holds, the force is an unknown; other limits have none. `side` 0: the lower one. */
static bool limit_holds(const rigid_step *s, int k, int side)
{
    const double way = side == 0 ? s->point.x[k] - s->qp.lower[k] : s->qp.upper[k] - s->point.x[k];
    return s->gap * way <= MOVES;
}

static int count_limits(const rigid_step *s)
{
    int count = 0;
    for (int k = 0; k < s->qp.n && s->qp.lower; k++) {
        count += (limit_holds(s, k, 0) ? 1 : 0) + (limit_holds(s, k, 1) ? 1 : 0);
    }
    return count;
}

/* The forces of loops and of limits that hold, from unknown `at` on. */
static void add_force_rest(rigid_step *s, int at)
{
    const perp_contact_qp *p = &s->qp;
    const int n = s->program.n;
    for (int i = 0; i < p->equality_count; i++, at++) {
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            s->program.c[(ptrdiff_t)p->equality_dofs[k] * n + at] = p->equality_values[k];
        }
    }
    for (int k = 0; k < p->n && p->lower; k++) {
        for (int side = 0; side < 2; side++) {
            if (limit_holds(s, k, side)) {
                s->program.c[(ptrdiff_t)k * n + at] = side == 0 ? 1.0 : -1.0;
                perp_cone_program_cone(&s->program, 1)[at++] = 1.0;
            }
        }
    }
}

static void read_forces(rigid_step *s, int at)
{
    const perp_contact_qp *p = &s->qp;
    const double *x = s->program.point.x;
    for (int i = 0; i < p->row_start[p->contact_count]; i++) {
        s->better.y[i] = s->row_of[i] >= 0 ? x[s->row_of[i]] : 0.0;
    }
    for (int i = 0; i < p->contact_count; i++) {
        double *fn = &s->better.y[p->row_start[i]];
        *fn = fmax(0.0, *fn);
    }
    for (int i = 0; i < p->equality_count; i++) {
        s->better.y_equality[i] = x[at++];
    }
    for (int k = 0; k < p->n && p->lower; k++) {
        s->better.y_lower[k] = limit_holds(s, k, 0) ? fmax(0.0, x[at++]) : 0.0;
        s->better.y_upper[k] = limit_holds(s, k, 1) ? fmax(0.0, x[at++]) : 0.0;
    }
}

/* The forces at hand meet the program: its equations and cones are moved by what they are off, to rounding or to the
 * law's tolerance. The cone program would else be taken for one without a point, and a proof of that be sought. */
static void admit_forces(rigid_step *s, int forces, double *x)
{
    const perp_contact_qp *p = &s->qp;
    cone_program *q = &s->program;
    for (int i = 0; i < p->row_start[p->contact_count]; i++) {
        if (s->row_of[i] >= 0) {
            x[s->row_of[i]] = s->point.y[i];
        }
    }
    int at = forces;
    for (int i = 0; i < p->equality_count; i++) {
        x[at++] = s->point.y_equality[i];
    }
    for (int k = 0; k < p->n && p->lower; k++) {
        for (int side = 0; side < 2; side++) {
            if (limit_holds(s, k, side)) {
                x[at++] = (side == 0 ? s->point.y_lower : s->point.y_upper)[k];
            }
        }
    }
    for (int i = 0; i < q->equations; i++) {
        q->d[i] = 0.0;
        for (int k = 0; k < q->n; k++) {
            q->d[i] += q->c[(ptrdiff_t)i * q->n + k] * x[k];
        }
    }
    for (int i = 0, row = 0; i < q->cones; row += q->cone_rows[i++]) {
        double slack[3] = {0.0, 0.0, 0.0};
        assert(q->cone_rows[i] == 1 || q->cone_rows[i] == 3); /* those of add_sticking and of half-lines */
        for (int r = 0; r < q->cone_rows[i]; r++) {
            for (int k = 0; k < q->n; k++) {
                slack[r] += q->a[(ptrdiff_t)(row + r) * q->n + k] * x[k];
            }
        }
        q->b[row] = fmax(0.0, hypot(slack[1], slack[2]) - slack[0]);
    }
}

perp_status perp_rigid_least_forces(contact_step *step, perp_error *error)
{
    rigid_step *s = step->own;
    const perp_contact_qp *p = &s->qp;
    perp_convex_info info;
    const double before = perp_rigid_worst(perp_rigid_evaluate(s, step->mu, &s->point));
    int rows;
    const int forces = number_forces(s, step->mu, &rows);
    const int unknowns = forces + p->equality_count + count_limits(s);
    if (unknowns == 0) {
        return PERP_STATUS_OK;
    }
    perp_status status = perp_cone_program_begin(&s->program, unknowns, rows, p->n + 2 * p->contact_count, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    for (int i = 0; i < unknowns; i++) {
        s->program.h[(ptrdiff_t)i * unknowns + i] = 1.0;
    }
    add_balance(s);
    add_force_contacts(s, step->mu);
    add_force_rest(s, forces);
    const bool full = step->dynamic;
    if (full) {
        admit_forces(s, forces, s->program.point.x);
    }
    /* with inertia the law does not hang on the choice: what is not found at once is not sought at any price */
    const double tolerance = (full ? 0.1 : ASKED) * step->settings->tolerance;
    status = perp_cone_program_solve(&s->program, tolerance, false, &info, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    step->info->iterations += info.iterations;
    perp_step_copy_point(&s->qp, &s->better, &s->point);
    read_forces(s, forces);
    if (usable(info.outcome) && holds(step, before)) {
        perp_step_copy_point(&s->qp, &s->point, &s->better);
    }
    return PERP_STATUS_OK;
}
