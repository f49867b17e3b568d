/* The fixed point of Theorem 1 in Trinkle, Berard and Pang (2005): with the normal forces lambda of friction's limit
 * held, a step is the convex problem (29), or on a polygon the linear program (36),
 *
 *     min  1/2 v'A v + f'v + sum_i mu_i lambda_i s_i
 *     s.t. u_n >= 0,  s_i >= max { -d . u_t : d in D },  loops, limits
 *
 * whose multipliers of u_n >= 0 are the next lambda. On fence-particle the plain iteration converges at the rate
 * mu_2^2, and goes to and fro from mu_2 = 1 on; under-relaxed by 1 / (1 + mu^2) it converges for all of them
 * (design 4.6). */
#include "step/rigid/rigid_step.h"
#include "step/common/tolerances.h"
#include "solver/tolerances.h"

#include <string.h>

/* PATIENCE: rounds in which the change has to halve; half as many after every step in which it did not, since what goes
 * to and fro in one step mostly does in the next. ALONE: rounds where no other method follows. ITERATIONS: a round that
 * misses 1e-12 is as good as the next one. */
enum { MAX_ROUNDS = 100, PATIENCE = 25, ITERATIONS = 30, ALONE = 2000 };
static const double RUNAWAY = 1e6; /* of F: a jam, where every round asks for larger forces */

static bool rubs(const rigid_step *s, const double *mu, int i)
{
    return s->qp.row_start[i + 1] - s->qp.row_start[i] > 1 && mu[i] > 0.0;
}

/* Rows of friction's potential of contact i, whose s is unknown `at`. */
static void add_potential(rigid_step *s, int i, const double *jacobian, int at)
{
    const int start = s->qp.row_start[i], rows = s->qp.row_start[i + 1] - start, n = s->program.n;
    const rigid_polygon *d = perp_rigid_polygon(s, rows);
    for (int j = 0; j < perp_rigid_corner_count(d, rows); j++) {
        double *row = perp_cone_program_cone(&s->program, 1), *b = s->program.b + s->program.rows - 1, corner[3];
        perp_rigid_corner(d, j, corner);
        row[at] = 1.0;
        for (int r = 1; r < rows; r++) {
            perp_rigid_add_row(s, i, jacobian, r, corner[r - 1], row);
            *b += corner[r - 1] * s->offset[start + r];
        }
    }
    if (!d) {
        double *row = perp_cone_program_cone(&s->program, rows), *b = s->program.b + s->program.rows - rows;
        row[at] = 1.0;
        for (int r = 1; r < rows; r++) {
            perp_rigid_add_row(s, i, jacobian, r, 1.0, row + (ptrdiff_t)r * n);
            b[r] = s->offset[start + r];
        }
    }
}

void perp_rigid_add_loops(rigid_step *s)
{
    const perp_contact_qp *p = &s->qp;
    for (int i = 0; i < p->equality_count; i++) {
        double *row = perp_cone_program_equation(&s->program, p->equality_target[i]);
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            row[p->equality_dofs[k]] = p->equality_values[k];
        }
    }
}

void perp_rigid_add_constraints(rigid_step *s)
{
    const perp_contact_qp *p = &s->qp;
    perp_rigid_add_loops(s);
    for (int k = 0; k < p->n && p->lower; k++) {
        for (int side = 0; side < 2; side++) {
            const double bound = side == 0 ? p->lower[k] : p->upper[k], sign = side == 0 ? 1.0 : -1.0;
            if (isfinite(bound)) {
                perp_cone_program_cone(&s->program, 1)[k] = sign;
                s->program.b[s->program.rows - 1] = -sign * bound;
            }
        }
    }
}

/* All but the weights of the potentials, which change from round to round. */
static perp_status build(rigid_step *s, const double *mu, perp_error *error)
{
    const perp_contact_qp *p = &s->qp;
    const double *jacobian = p->jacobian;
    int unknowns = p->n, rows = 2 * p->n;
    for (int i = 0; i < p->contact_count; i++) {
        const int own = p->row_start[i + 1] - p->row_start[i];
        const rigid_polygon *d = perp_rigid_polygon(s, own);
        unknowns += rubs(s, mu, i) ? 1 : 0;
        rows += 1 + (d ? perp_rigid_corner_count(d, own) : 4);
    }
    const perp_status status = perp_cone_program_begin(&s->program, unknowns, rows, p->equality_count, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    s->program.max_iterations = ITERATIONS;
    perp_step_spread(p, p->hessian, unknowns, s->program.h);
    memcpy(s->program.g, p->g, (size_t)p->n * sizeof(double));
    for (int i = 0, at = p->n; i < p->contact_count; i++) {
        perp_rigid_add_row(s, i, jacobian, 0, 1.0, perp_cone_program_cone(&s->program, 1));
        s->program.b[s->program.rows - 1] = s->offset[p->row_start[i]];
        if (rubs(s, mu, i)) {
            add_potential(s, i, jacobian, at++);
        }
        jacobian += (ptrdiff_t)(p->row_start[i + 1] - p->row_start[i]) * (p->dof_start[i + 1] - p->dof_start[i]);
    }
    perp_rigid_add_constraints(s);
    return PERP_STATUS_OK;
}

static void read_point(rigid_step *s, const double *mu)
{
    const perp_contact_qp *p = &s->qp;
    const double *y = s->program.point.y;
    memcpy(s->point.x, s->program.point.x, (size_t)p->n * sizeof(double));
    memcpy(s->point.y_equality, s->program.point.y_equality, (size_t)p->equality_count * sizeof(double));
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i];
        const rigid_polygon *d = perp_rigid_polygon(s, rows);
        double *r = s->point.y + p->row_start[i];
        memset(r, 0, (size_t)rows * sizeof *r);
        r[0] = fmax(0.0, *y++);
        if (!rubs(s, mu, i)) {
            continue;
        }
        for (int j = 0; j < perp_rigid_corner_count(d, rows); j++, y++) {
            double corner[3];
            perp_rigid_corner(d, j, corner);
            for (int k = 1; k < rows; k++) {
                r[k] += corner[k - 1] * *y;
            }
        }
        for (int k = 0; !d && k < rows; k++, y++) {
            r[k] = k == 0 ? r[0] : *y;
        }
    }
    for (int k = 0; k < p->n && p->lower; k++) {
        s->point.y_lower[k] = isfinite(p->lower[k]) ? fmax(0.0, *y++) : 0.0;
        s->point.y_upper[k] = isfinite(p->upper[k]) ? fmax(0.0, *y++) : 0.0;
    }
}

/* lambda from the multipliers, under-relaxed; s->row_of is not in use, s->u keeps lambda of two rounds before. */
static void relax(rigid_step *s, const double *mu, rigid_fixed_info *info, double unit)
{
    const perp_contact_qp *p = &s->qp;
    double steepest = 0.0;
    for (int i = 0; i < p->contact_count; i++) {
        steepest = rubs(s, mu, i) ? fmax(steepest, mu[i]) : steepest;
    }
    const double weight = 1.0 / (1.0 + steepest * steepest);
    info->change = info->two_before = 0.0;
    for (int i = 0; i < p->contact_count; i++) {
        const double old = s->held[i], given = s->point.y[p->row_start[i]], next = old + weight * (given - old);
        info->two_before = fmax(info->two_before, fabs(next - s->u[i]));
        if (fabs(given - old) > info->change) {
            info->change = fabs(given - old);
            info->contact = i;
            info->between[0] = unit * old;
            info->between[1] = unit * next;
        }
        s->u[i] = old;
        s->held[i] = next;
    }
}

/* Where normal forces are not unique, as under a box with four corners, the rounds go on though the motion has settled,
 * since each takes the least of the forces that go with the last ones. All forces that go with this motion, friction
 * and normal together, are a convex set: is there one? Then the step is solved. */
static perp_status settle_forces(contact_step *step, bool *solved, perp_error *error)
{
    rigid_step *s = step->own;
    perp_status status = perp_rigid_least_forces(step, error);
    if (status == PERP_STATUS_OK) {
        *solved = perp_rigid_worst(perp_rigid_evaluate(s, step->mu, &s->point)) <= FIXED_LAW;
        status = *solved ? status : build(s, step->mu, error); /* it took the place of the convex problem */
    }
    return status;
}

/* Springs make the motion as inexact as the forces: with them only a fixed point that has settled will do. */
static bool has_springs(const perp_contact_qp *p)
{
    const double *block = p->hessian;
    for (int b = 0; b < p->block_count; b++) {
        const int size = p->block_start[b + 1] - p->block_start[b];
        for (int i = 0; i < size * size; i++) {
            if (*block++ != 0.0) {
                return true;
            }
        }
    }
    return false;
}

static perp_status solve_round(contact_step *step, bool *ended, perp_error *error)
{
    rigid_step *s = step->own;
    perp_convex_info convex;
    for (int i = 0, at = s->qp.n; i < s->qp.contact_count; i++) {
        if (rubs(s, step->mu, i)) {
            s->program.g[at++] = step->mu[i] * s->held[i];
        }
    }
    const perp_status status = perp_cone_program_solve(&s->program, FINEST_TOLERANCE, true, &convex, error);
    *ended = status != PERP_STATUS_OK || convex.outcome == PERP_OUTCOME_INFEASIBLE ||
             convex.outcome == PERP_OUTCOME_UNBOUNDED;
    step->info->iterations += status == PERP_STATUS_OK ? convex.iterations : 0;
    return status;
}

/* How far the motion is from the last round's, which better.x keeps. */
static double follow_motion(rigid_step *s)
{
    double most = 0.0;
    for (int i = 0; i < s->qp.n; i++) {
        most = fmax(most, fabs(s->point.x[i] - s->better.x[i]));
        s->better.x[i] = s->point.x[i];
    }
    return most;
}

perp_status perp_rigid_solve_fixed(contact_step *step, bool *solved, rigid_fixed_info *info, perp_error *error)
{
    rigid_step *s = step->own;
    perp_status status = build(s, step->mu, error);
    double mark = INFINITY; /* half the change at round `marked` */
    const bool alone = perp_rigid_has_ellipsoid(step),
               springs = has_springs(&s->qp) || alone; /* nothing is chosen after */
    const int patience = alone ? ALONE : PATIENCE >> perp_rigid_unsettled(step), most = alone ? ALONE : MAX_ROUNDS;
    bool ended = false;
    *solved = false;
    *info = (rigid_fixed_info){.change = INFINITY};
    for (int marked = 0, next = 2; status == PERP_STATUS_OK && info->rounds < most && !*solved && !ended;) {
        const double before = info->change;
        status = solve_round(step, &ended, error);
        if (ended) {
            return status;
        }
        info->rounds++;
        read_point(s, step->mu);
        relax(s, step->mu, info, step->force_unit);
        const double moved = follow_motion(s);
        *solved = info->change <= FIXED_SETTLED || (info->change <= FIXED_LOOSE && info->change >= 0.5 * before);
        if (!*solved && !springs && info->rounds >= next && moved <= FIXED_STEADY) {
            next = 2 * info->rounds;
            status = settle_forces(step, solved, error);
        }
        if (info->change <= mark) {
            mark = 0.5 * info->change;
            marked = info->rounds;
        }
        ended = info->rounds - marked > patience || info->change > RUNAWAY;
    }
    return status;
}
