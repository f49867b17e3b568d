/* Of all forces that go with given accelerations the least ones, and why there are none.
 *
 * With the accelerations given, the forces that meet the law are a polyhedron: balance; fn = 0 where a contact parts;
 * friction that is known where it slides; and where it rolls ft within mu fn D, and where a_t is not zero doing the
 * most work against it, -ft . a_t = mu fn max over D of -d . a_t, linear too. A quadratic program picks the least of
 * them. */
#include "linalg/dense.h"
#include "step/instant/instant.h"
#include "step/common/tolerances.h"

#include <stdio.h>
#include <string.h>

static int rows_of(const perp_instant *in, int i)
{
    return in->step->row_start[i + 1] - in->step->row_start[i];
}

static bool rolls(instant_kind kind)
{
    return kind == INSTANT_ROLL_LINE || kind == INSTANT_ROLL_POLYGON;
}

/* How many unknowns contact i has: none where it parts. */
static int unknowns_of(const perp_instant *in, int i)
{
    double a[4];
    if (in->kind[i] == INSTANT_INACTIVE) {
        return 0;
    }
    perp_instant_at_contact(in, i, a);
    const double parting = a[0] / in->acceleration; /* of this and the force the smaller one is rounding */
    if (parting > RATES_EQUAL && in->step->force[in->step->row_start[i]] / in->force_unit <= parting) {
        return 0;
    }
    return rolls(in->kind[i]) ? rows_of(in, i) : 1;
}

/* What an unknown that pulls along row r of contact i with this weight does to the balance. */
static void put_force(const perp_instant *in, cone_program *p, int at, int i, int r, double weight)
{
    const contact_step *step = in->step;
    const int start = step->dof_start[i], columns = step->dof_start[i + 1] - start;
    const double *row = step->jacobian + in->jacobian[i] + (ptrdiff_t)r * columns;
    for (int k = 0; k < columns; k++) {
        const int dof = step->dofs[start + k];
        p->c[(ptrdiff_t)dof * p->n + at] += weight * row[k] * in->unit[dof];
    }
}

static void put_rolling(const perp_instant *in, cone_program *p, int at, int i)
{
    const rigid_polygon *d = perp_rigid_polygon(in->rigid, rows_of(in, i));
    const double mu = in->step->mu[i];
    double a[4];
    perp_instant_at_contact(in, i, a);
    for (int j = 0; j < d->count; j++) {
        double *row = perp_cone_program_cone(p, 1);
        row[at] = mu;
        for (int r = 1; r < rows_of(in, i); r++) {
            row[at + r] = -d->facet[j][r - 1];
        }
    }
    const double size = hypot(a[1], a[2]);
    if (size > RATES_EQUAL * in->acceleration) {
        double *row = perp_cone_program_equation(p, 0.0);
        row[at] = mu * perp_rigid_most_work(d, a + 1) / size;
        for (int r = 1; r < rows_of(in, i); r++) {
            row[at + r] = a[r] / size;
        }
    }
}

static void put_contact(const perp_instant *in, cone_program *p, int at, int i, double *x)
{
    const double *force = in->step->force + in->step->row_start[i], mu = in->step->mu[i];
    const bool slides = in->kind[i] == INSTANT_SLIDE;
    const int count = rolls(in->kind[i]) ? rows_of(in, i) : 1;
    for (int r = 0; r < count; r++) {
        put_force(in, p, at + r, i, r, 1.0);
        p->h[(ptrdiff_t)(at + r) * (p->n + 1)] = 1.0 + (slides ? mu * mu : 0.0);
        x[at + r] = force[r] / in->force_unit;
    }
    for (int r = 1; r < rows_of(in, i) && slides; r++) {
        put_force(in, p, at, i, r, -mu * in->slip[i][r - 1]);
    }
    perp_cone_program_cone(p, 1)[at] = 1.0;
    if (rolls(in->kind[i])) {
        put_rolling(in, p, at, i);
    }
}

/* Loops and limits; returns the next unknown. */
static void put_rest(const perp_instant *in, cone_program *p, int at, double *x)
{
    const contact_step *step = in->step;
    const perp_contact_qp *s = &step->system;
    for (int i = 0; i < s->equality_count; i++, at++) {
        for (int k = s->equality_start[i]; k < s->equality_start[i + 1]; k++) {
            const int dof = s->equality_dofs[k];
            p->c[(ptrdiff_t)dof * p->n + at] = s->equality_values[k] * in->unit[dof];
        }
        p->h[(ptrdiff_t)at * (p->n + 1)] = 1.0;
        x[at] = step->y_equality[i] / in->force_unit;
    }
    for (int k = 0; k < s->n && s->lower; k++) {
        for (int side = 0; side < 2; side++, at++) {
            const double sign = side == 0 ? 1.0 : -1.0;
            const bool held = isfinite(side == 0 ? s->lower[k] : s->upper[k]) &&
                              sign * step->x[k] <= RATES_EQUAL * in->acceleration * in->unit[k];
            p->h[(ptrdiff_t)at * (p->n + 1)] = 1.0;
            p->c[(ptrdiff_t)k * p->n + at] = held ? sign : 0.0;
            perp_cone_program_cone(p, 1)[at] = 1.0;
            x[at] = held ? (side == 0 ? step->y_lower[k] : step->y_upper[k]) * in->unit[k] / in->force_unit : 0.0;
        }
    }
}

/* The forces at hand meet the program: it is moved by what they are off, which is rounding. */
static void admit(cone_program *p, const double *x)
{
    for (int i = 0; i < p->equations; i++) {
        p->d[i] = 0.0;
        for (int k = 0; k < p->n; k++) {
            p->d[i] += p->c[(ptrdiff_t)i * p->n + k] * x[k];
        }
    }
    for (int i = 0; i < p->rows; i++) {
        double slack = 0.0;
        for (int k = 0; k < p->n; k++) {
            slack += p->a[(ptrdiff_t)i * p->n + k] * x[k];
        }
        p->b[i] = fmax(0.0, -slack);
    }
}

static void take_forces(perp_instant *in, const double *x)
{
    contact_step *step = in->step;
    const perp_contact_qp *s = &step->system;
    int at = 0;
    for (int i = 0; i < s->contact_count; i++) {
        double *force = step->force + step->row_start[i];
        const int count = unknowns_of(in, i);
        memset(force, 0, (size_t)rows_of(in, i) * sizeof *force);
        for (int r = 0; r < count; r++) {
            force[r] = in->force_unit * (r == 0 ? fmax(0.0, x[at]) : x[at + r]);
        }
        for (int r = 1; r < rows_of(in, i) && in->kind[i] == INSTANT_SLIDE; r++) {
            force[r] = -step->mu[i] * in->slip[i][r - 1] * force[0];
        }
        at += count;
    }
    for (int i = 0; i < s->equality_count; i++) {
        step->y_equality[i] = in->force_unit * x[at++];
    }
    for (int k = 0; k < s->n && s->lower; k++) {
        step->y_lower[k] = fmax(0.0, x[at++]) * in->force_unit / in->unit[k];
        step->y_upper[k] = fmax(0.0, x[at++]) * in->force_unit / in->unit[k];
    }
}

/* The polyhedron as a program, H being the norm and g zero; without unknowns p->n is 0 and there is nothing to solve.
 */
static perp_status begin(const perp_instant *in, cone_program *p, perp_error *error)
{
    const perp_contact_qp *s = &in->step->system;
    int n = s->equality_count + (s->lower ? 2 * s->n : 0), rows = n, at = 0;
    for (int i = 0; i < s->contact_count; i++) {
        n += unknowns_of(in, i);
        rows += 1 + (rows_of(in, i) == 2 ? 2 : in->rigid->wide.count);
    }
    p->n = 0;
    const perp_status status =
        n > 0 ? perp_cone_program_begin(p, n, rows, s->n + s->contact_count, error) : PERP_STATUS_OK;
    if (n == 0 || status != PERP_STATUS_OK) {
        return status;
    }
    double *x = p->point.x;
    for (int k = 0; k < s->n; k++) {
        perp_cone_program_equation(p, 0.0);
    }
    for (int i = 0; i < s->contact_count; i++) {
        const int count = unknowns_of(in, i);
        if (count > 0) {
            put_contact(in, p, at, i, x);
        }
        at += count;
    }
    put_rest(in, p, at, x);
    admit(p, x);
    return PERP_STATUS_OK;
}

perp_status perp_instant_least_forces(perp_instant *in, perp_error *error)
{
    rigid_step *rigid = in->step->own;
    perp_convex_info info;
    perp_status status = begin(in, &rigid->program, error);
    if (status != PERP_STATUS_OK || rigid->program.n == 0) {
        return status;
    }
    status = perp_cone_program_solve(&rigid->program, ASKED * in->step->settings->tolerance, false, &info, error);
    if (status == PERP_STATUS_OK && info.outcome == PERP_OUTCOME_SOLVED) {
        take_forces(in, rigid->program.point.x);
    }
    return status;
}

perp_status perp_instant_ranges(perp_instant *in, perp_instant_solution *solution, perp_error *error)
{
    const contact_step *step = in->step;
    rigid_step *rigid = step->own;
    cone_program *p = &rigid->program;
    perp_status status = begin(in, p, error);
    if (status == PERP_STATUS_OK && p->n > 0) {
        memset(p->h, 0, (size_t)p->n * (size_t)p->n * sizeof *p->h);
    }
    for (int i = 0, at = 0; i < step->system.contact_count && status == PERP_STATUS_OK; i++) {
        const int count = unknowns_of(in, i);
        double *const ends[2] = {&solution->fn_low[step->set_index[i]], &solution->fn_high[step->set_index[i]]};
        for (int side = 0; side < 2 && count > 0 && status == PERP_STATUS_OK; side++) {
            perp_convex_info info;
            p->g[at] = side == 0 ? 1.0 : -1.0;
            status = perp_cone_program_solve(p, ASKED * step->settings->tolerance, false, &info, error);
            p->g[at] = 0.0;
            const bool found = status == PERP_STATUS_OK && info.outcome == PERP_OUTCOME_SOLVED;
            const double end = in->force_unit * p->point.x[at], unknown = side == 0 ? 0.0 : INFINITY;
            *ends[side] = !found ? unknown : side == 0 ? fmax(0.0, fmin(end, *ends[0])) : fmax(end, *ends[1]);
        }
        at += count;
    }
    return status;
}

/* ---- why there is no answer -------------------------------------------------------------------------------------- */

/* 1/kg: what one newton at a sliding contact, with its friction, adds to its own a_n: below 0 the force that should
 * keep the bodies apart draws them together. `x` and `factor` are scratch. */
static double own_response(const perp_instant *in, int i, double *x, double *factor)
{
    const contact_step *step = in->step;
    const perp_contact_qp *p = &step->system;
    const int start = step->dof_start[i], columns = step->dof_start[i + 1] - start;
    const double *rows = step->jacobian + in->jacobian[i], *block = step->hessian;
    double response = 0.0;
    memset(x, 0, (size_t)p->n * sizeof *x);
    for (int k = 0; k < columns; k++) {
        x[step->dofs[start + k]] = rows[k];
        for (int r = 1; r < rows_of(in, i); r++) {
            x[step->dofs[start + k]] -= step->mu[i] * in->slip[i][r - 1] * rows[(ptrdiff_t)r * columns + k];
        }
    }
    for (int b = 0; b < p->block_count; b++) {
        const int first = p->block_start[b], size = p->block_start[b + 1] - first;
        int failed;
        memcpy(factor, block, (size_t)size * (size_t)size * sizeof *factor);
        if (perp_cholesky_factor(size, factor, size, &failed) == PERP_STATUS_OK) {
            perp_cholesky_solve(size, factor, size, x + first);
        }
        block += (ptrdiff_t)size * size;
    }
    for (int k = 0; k < columns; k++) {
        response += rows[k] * x[step->dofs[start + k]];
    }
    return response;
}

void perp_instant_why_none(const perp_instant *in, char *text, size_t size)
{
    const contact_step *step = in->step;
    double worst = INFINITY;
    int sliding = 0, where = -1;
    for (int i = 0; i < step->system.contact_count; i++) {
        const bool slides = in->kind[i] == INSTANT_SLIDE;
        const double response = slides ? own_response(in, i, step->scratch, step->mass_scratch) : INFINITY;
        sliding += slides;
        where = response < worst ? i : where;
        worst = fmin(worst, response);
    }
    if (where < 0) { /* where nothing slides friction leaves an answer whenever there is one without it */
        snprintf(text, size,
                 "nothing slides, so friction is not why: what is commanded accelerates bodies into each other, or "
                 "against a loop or a limit");
        return;
    }
    const perp_contact *c = &step->contacts->contacts[step->set_index[where]];
    char name[320];
    perp_step_name_contact(step, c, name, sizeof name);
    if (worst <= 0.0) {
        snprintf(text, size,
                 "Painleve's paradox at `%s`: it slides with mu = %g, and each newton that holds the bodies "
                 "apart, with its friction, changes their parting acceleration by %.9g m/s^2; no force keeps them "
                 "from accelerating into each other. Rigid bodies jam here by an impulse (dyn-ncp, dyn-lcp)",
                 name, c->friction, worst);
    } else {
        snprintf(text, size,
                 "Painleve's paradox over several contacts: friction at the %d that slide, most of all `%s` "
                 "with mu = %g, turns the forces that hold bodies apart at one contact against those at another, and "
                 "no forces keep all from accelerating into each other. Rigid bodies jam here by an impulse (dyn-ncp, "
                 "dyn-lcp)",
                 sliding, name, c->friction);
    }
}
