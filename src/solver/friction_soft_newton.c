/* Newton's method of friction_soft_core.h. Contacts cost an evaluation each and their share of the assembly, and
 * factors are those of the bodies, however many contacts two bodies have: Omega = -dr/ds is the weight of
 * contact_kkt.h.
 *
 * Bounds: with the diagonal c of A the residual of an unknown is x - mid(lower, x - F / c, upper); where x - F / c is
 * out of them, Newton's row is x = the bound and F its multiplier. */
#include "solver/friction_soft.h"
#include "solver/friction_soft_core.h"
#include "solver/tolerances.h"

#include <float.h>
#include <math.h>

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

/* Force and weight of contact i at the velocity s; true where it slips. */
static bool respond(const perp_friction_soft_workspace *f, int i, const double *block, const double *load,
                    const double *s, double *r, double *omega)
{
    const perp_contact_qp *p = &f->bodies;
    const int rows = p->row_start[i + 1] - p->row_start[i];
    const double mu = f->given->mu[i], *a = f->stiffness + 2 * (ptrdiff_t)i;
    if (f->block && f->coupled[i]) {
        return perp_friction_soft_coupled(rows, block, mu, load, s, r, omega);
    }
    return perp_friction_soft_plain(rows, f->polygon, a, mu, load, s, r, omega);
}

/* The same on the piece at rest - a s = `piece`: r there, and from there along Omega. */
static bool respond_on_piece(const perp_friction_soft_workspace *f, int i, const double *piece, const double *s,
                             double *r, double *omega)
{
    static const double NOWHERE[3] = {0.0};
    const int first = f->bodies.row_start[i], rows = f->bodies.row_start[i + 1] - first;
    const bool slips = respond(f, i, NULL, piece + first, NOWHERE, r, omega);
    for (int j = 0; j < rows; j++) {
        const double a = f->stiffness[2 * i + (j > 0 ? 1 : 0)];
        const double change = (f->load[first + j] - piece[first + j]) / a - s[j];
        for (int k = 0; k < rows; k++) {
            r[k] += omega[k * rows + j] * change;
        }
    }
    return slips;
}

void perp_friction_soft_contact_velocity(const perp_friction_soft_workspace *f, int i, const double *jacobian,
                                         const double *v, double s[3])
{
    const perp_contact_qp *p = &f->bodies;
    const int row = p->row_start[i], rows = p->row_start[i + 1] - row;
    const int *dofs = p->dofs + p->dof_start[i], columns = p->dof_start[i + 1] - p->dof_start[i];
    for (int k = 0; k < rows; k++) {
        double sum = p->offset[row + k];
        for (int c = 0; c < columns; c++) {
            sum += jacobian[(ptrdiff_t)k * columns + c] * v[dofs[c]];
        }
        s[k] = sum;
    }
}

/* Forces of contacts at v, with their weights, off the balance. */
static void add_contacts(perp_friction_soft_workspace *f, const double *v)
{
    const perp_contact_qp *p = &f->bodies;
    const double *jacobian = p->jacobian, *block = f->block;
    double *omega = f->omega;
    f->slips = false;
    for (int i = 0; i < p->contact_count; i++) {
        const int row = p->row_start[i], rows = p->row_start[i + 1] - row;
        const int *dofs = p->dofs + p->dof_start[i], columns = p->dof_start[i + 1] - p->dof_start[i];
        double s[3], *r = f->force + row;
        perp_friction_soft_contact_velocity(f, i, jacobian, v, s);
        const bool slips =
            f->piece ? respond_on_piece(f, i, f->piece, s, r, omega) : respond(f, i, block, f->load + row, s, r, omega);
        f->slips = f->slips || slips;
        if (r[0] != 0.0) {
            for (int c = 0; c < columns; c++) {
                double sum = 0.0;
                for (int k = 0; k < rows; k++) {
                    sum += jacobian[(ptrdiff_t)k * columns + c] * r[k];
                }
                f->balance[dofs[c]] -= sum;
            }
        }
        omega += (ptrdiff_t)rows * rows;
        block = block ? block + (ptrdiff_t)rows * rows : NULL;
        jacobian += (ptrdiff_t)rows * columns;
    }
}

static const double HOLDS = 1e16; /* of A_jj: the stiffness of a bound that holds */

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

double perp_friction_soft_held_at(const perp_friction_soft_workspace *f, const double *v, int j, bool *held)
{
    const perp_contact_qp *p = &f->bodies;
    const double free = v[j] - f->balance[j] / f->inertia[j];
    *held = p->lower && (free < p->lower[j] || free > p->upper[j]);
    return !*held ? v[j] : free < p->lower[j] ? p->lower[j] : p->upper[j];
}

double perp_friction_soft_look(perp_friction_soft_workspace *f, const double *v, const double *y)
{
    const perp_contact_qp *p = &f->bodies;
    const double *block = p->hessian;
    double merit = 0.0;
    f->size = f->unit_size;
    for (int b = 0; b < p->block_count; b++) {
        const int first = p->block_start[b], size = p->block_start[b + 1] - first;
        for (int i = 0; i < size; i++) {
            const int j = first + i;
            double sum = p->g[j] + (f->hold ? f->hold[j] * (v[j] - f->centre[j]) : 0.0);
            for (int k = 0; k < size && block; k++) {
                sum += block[(ptrdiff_t)i * size + k] * v[first + k];
            }
            f->balance[j] = sum;
            f->size += sum * sum / f->inertia[j];
        }
        block = block ? block + (ptrdiff_t)size * size : NULL;
    }
    add_contacts(f, v);
    for (int i = 0; i < p->equality_count; i++) {
        double sum = -p->equality_target[i];
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            f->balance[p->equality_dofs[k]] -= p->equality_values[k] * y[i];
            sum += p->equality_values[k] * v[p->equality_dofs[k]];
        }
        f->open[i] = sum;
        merit += f->stiff_equation[i] * sum * sum;
    }
    for (int j = 0; j < p->n; j++) {
        bool held;
        const double to = perp_friction_soft_held_at(f, v, j, &held),
                     off = held ? v[j] - to : f->balance[j] / f->inertia[j];
        merit += f->inertia[j] * off * off;
    }
    return merit;
}

static void factor(perp_friction_soft_workspace *f)
{
    f->factorisations++;
    if (f->slips) {
        perp_kkt_lu_assemble(&f->lu, &f->bodies, f->omega, f->diagonal);
        perp_kkt_lu_factor(&f->lu);
    } else {
        perp_kkt_assemble(&f->kkt, &f->bodies, f->omega, f->diagonal);
        perp_kkt_factor(&f->kkt);
    }
    f->factored_lu = f->slips;
}

void perp_friction_soft_respond(perp_friction_soft_workspace *f)
{
    if (f->factored_lu) {
        perp_kkt_lu_solve(&f->lu, f->step);
    } else {
        perp_kkt_solve(&f->kkt, f->step);
    }
}

void perp_friction_soft_factor(perp_friction_soft_workspace *f)
{
    const perp_contact_qp *p = &f->bodies;
    for (int j = 0; j < p->n; j++) {
        bool held;
        const double to = perp_friction_soft_held_at(f, f->v, j, &held);
        f->diagonal[j] = held ? HOLDS * f->inertia[j] : f->hold ? f->hold[j] : 0.0;
        f->step[j] = held ? f->diagonal[j] * (to - f->v[j]) : -f->balance[j];
    }
    for (int i = 0; i < p->equality_count; i++) {
        f->diagonal[p->n + i] = f->stiff_equation[i] > 0.0 ? -SOFT_EQUATION / f->stiff_equation[i] : -1.0;
        f->step[p->n + i] = -f->open[i];
    }
    factor(f);
}

/* Newton's direction from the point that was looked at. */
static bool find_step(perp_friction_soft_workspace *f)
{
    const perp_contact_qp *p = &f->bodies;
    perp_friction_soft_factor(f);
    perp_friction_soft_respond(f);
    for (int k = 0; k < p->n + p->equality_count; k++) {
        if (!isfinite(f->step[k])) {
            return false;
        }
    }
    return true;
}

/* What the balance has along the step: without slip it is the derivative of an energy that is convex. */
static double slope(const perp_friction_soft_workspace *f)
{
    double sum = 0.0;
    for (int j = 0; j < f->bodies.n; j++) {
        sum += f->balance[j] * f->step[j];
    }
    return sum;
}

/* So far along the step from f->v; returns the merit there. */
static double look_along(perp_friction_soft_workspace *f, double length)
{
    const perp_contact_qp *p = &f->bodies;
    for (int j = 0; j < p->n; j++) {
        f->trial_v[j] = f->v[j] + length * f->step[j];
        if (p->lower && f->diagonal[j] >= HOLDS * f->inertia[j] && length == 1.0) { /* exactly */
            f->trial_v[j] = f->trial_v[j] > 0.5 * (p->lower[j] + p->upper[j]) ? p->upper[j] : p->lower[j];
        }
    }
    for (int i = 0; i < p->equality_count; i++) {
        f->trial_y[i] = f->y[i] - length * f->step[p->n + i];
    }
    return perp_friction_soft_look(f, f->trial_v, f->trial_y);
}

/* All of the step if that is nearer or still leads down, else to where the energy is least along it: by secants through
 * points beyond it, as the slope rises ever more steeply where contacts close, else by halves. The merit alone would
 * not do: where contacts are stiff it rises a thousandfold on the way to a point that is nearer. Returns the merit
 * there, where forces and F are. */
static double search(perp_friction_soft_workspace *f, double merit)
{
    enum { MOST = 25 };
    static const double FLAT = 0.05;
    const double first = slope(f);
    double reached = look_along(f, 1.0), low = 0.0, high = 1.0, above = slope(f), beyond = 1.0, there = above;
    if (reached <= f->nearer * merit || !(above > 0.0) || !(first < 0.0)) {
        return reached;
    }
    for (int k = 0; k < MOST; k++) {
        const double guess = high - above * (beyond - high) / (there - above);
        const double length = guess > low && guess < high ? guess : 0.5 * (low + high);
        reached = look_along(f, length);
        const double here = slope(f);
        if (fabs(here) <= FLAT * -first) {
            break;
        }
        if (here < 0.0) {
            low = length;
        } else {
            beyond = high;
            there = above;
            high = length;
            above = here;
        }
    }
    return reached;
}

/* Without what makes Omega unsymmetric, normal forces in friction: its step leads down. */
static void make_symmetric(perp_friction_soft_workspace *f)
{
    double *omega = f->omega;
    for (int i = 0; i < f->bodies.contact_count; i++) {
        const int rows = f->bodies.row_start[i + 1] - f->bodies.row_start[i];
        for (int r = 1; r < rows; r++) {
            omega[r * rows] = omega[r] = 0.0;
        }
        if (rows > 2) {
            omega[5] = omega[7] = 0.5 * (omega[5] + omega[7]);
        }
        omega += (ptrdiff_t)rows * rows;
    }
    f->slips = false;
}

static void take_trial(perp_friction_soft_workspace *f)
{
    double *const v = f->v, *const y = f->y;
    f->v = f->trial_v;
    f->y = f->trial_y;
    f->trial_v = v;
    f->trial_y = y;
}

bool perp_friction_soft_advance(perp_friction_soft_workspace *f, double *merit)
{
    bool found = find_step(f);
    if (found && f->slips && !(slope(f) < 0.0)) {
        make_symmetric(f);
        found = find_step(f);
    }
    if (found) {
        f->iterations++;
        *merit = search(f, *merit);
        take_trial(f);
    }
    return found;
}

void perp_friction_soft_start(perp_friction_soft_workspace *f, const perp_convex_point *warm)
{
    for (int j = 0; j < f->bodies.n; j++) {
        f->v[j] = warm && isfinite(warm->x[j]) ? warm->x[j] : 0.0;
    }
    for (int i = 0; i < f->bodies.equality_count; i++) {
        f->y[i] = warm && isfinite(warm->y_equality[i]) ? warm->y_equality[i] : 0.0;
    }
}

bool perp_friction_soft_take_inertia(perp_friction_soft_workspace *f, const double *weight)
{
    const perp_contact_qp *p = &f->bodies;
    const double *block = p->hessian;
    f->unit_size = DBL_MAX;
    f->holds = false;
    for (int b = 0; b < p->block_count; b++) {
        const int first = p->block_start[b], size = p->block_start[b + 1] - first;
        for (int i = 0; i < size; i++) {
            const double own = block ? block[(ptrdiff_t)i * (size + 1)] : 0.0;
            if (!(own > 0.0) && !weight) {
                return false;
            }
            f->inertia[first + i] = own > 0.0 ? own : weight[first + i];
            f->own_hold[first + i] = own > 0.0 ? 0.0 : SPRINGS_HOLD * weight[first + i];
            f->holds = f->holds || !(own > 0.0);
            f->unit_size = fmin(f->unit_size, 1.0 / f->inertia[first + i]);
        }
        block = block ? block + (ptrdiff_t)size * size : NULL;
    }
    f->block = weight ? NULL : block;
    for (int i = 0; i < p->equality_count; i++) {
        double sum = 0.0;
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            sum += p->equality_values[k] * p->equality_values[k] / f->inertia[p->equality_dofs[k]];
        }
        f->stiff_equation[i] = sum > 0.0 ? 1.0 / sum : 0.0;
    }
    return true;
}

void perp_friction_soft_put_bodies(const perp_friction_soft_workspace *f, perp_convex_point *to)
{
    for (int j = 0; j < f->bodies.n; j++) {
        bool held;
        perp_friction_soft_held_at(f, f->v, j, &held);
        to->x[j] = f->v[j];
        if (to->y_lower) {
            to->y_lower[j] = held ? fmax(0.0, f->balance[j]) : 0.0;
            to->y_upper[j] = held ? fmax(0.0, -f->balance[j]) : 0.0;
        }
    }
    for (int i = 0; i < f->bodies.equality_count; i++) {
        to->y_equality[i] = f->y[i];
    }
}
