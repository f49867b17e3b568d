#include "solver/friction_soft.h"
#include "solver/friction_springs.h"

#include "solver/friction_soft_core.h"
#include "solver/tolerances.h"

#include <math.h>
#include <string.h>

/* In units in which forces, inertia and velocities are of order 1. */
static const double STIFF = 1e4, STIFFEST = 1e6; /* a, and what it may grow to */
static const double STIFF_ALONE = 1e5;           /* a where something has neither inertia nor stiffness */
static const double SOFT = 1e2;                  /* what it begins with where Newton's method fails else */
static const double SOFTER = 0.01;               /* of a: along tangents */

/* ---- the problem ------------------------------------------------------------------------------------------------- */

static perp_status set_up(perp_friction_soft_workspace *f, const perp_contact_friction *problem, perp_error *error)
{
    const perp_status status = perp_friction_soft_set_up(f, problem, false, error);
    f->load = f->rest;
    f->hold = f->own_hold;
    f->centre = f->own_centre;
    f->nearer = 0.1; /* with 0.9, as of soft contacts, it loses half as many again */
    return status;
}

perp_status perp_friction_springs_reserve(const perp_contact_friction *problem, perp_friction_soft_workspace *workspace,
                                          perp_error *error)
{
    workspace->kkt.may_grow = true;
    const perp_status status = set_up(workspace, problem, error);
    workspace->kkt.may_grow = false;
    return status;
}

static void set_stiffness(perp_friction_soft_workspace *f, double a)
{
    for (int i = 0; i < 2 * f->bodies.contact_count; i++) {
        f->stiffness[i] = i % 2 == 0 ? a : a * SOFTER;
    }
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

/* The first step goes by the modes of these forces; of contacts without any, those stick that close, and where no
 * forces are given those that touch. */
static void choose_pieces(perp_friction_soft_workspace *f, const perp_convex_point *start)
{
    const perp_contact_qp *p = &f->bodies;
    const double *jacobian = p->jacobian;
    for (int i = 0; i < p->contact_count; i++) {
        const int row = p->row_start[i], rows = p->row_start[i + 1] - row;
        double s[3] = {0.0}, *piece = f->start_piece + row;
        perp_friction_soft_contact_velocity(f, i, jacobian, f->v, s);
        for (int k = 0; k < rows; k++) {
            piece[k] = start ? start->y[row + k] : 0.0;
        }
        const double most = f->given->mu[i] * piece[0],
                     friction = rows > 1 ? hypot(piece[1], rows > 2 ? piece[2] : 0.0) : 0.0;
        if (!(piece[0] > 0.0)) {
            piece[0] = s[0] < (start ? 0.0 : SPRINGS_TOUCH) ? 1.0 : 0.0;
        } else if (friction >= (1.0 - SPRINGS_EDGE) * most && friction > 0.0) { /* it slides, at this speed */
            const double part = 1.0 + SPRINGS_EDGE + f->stiffness[2 * i + 1] * hypot(s[1], s[2]) / friction;
            piece[1] *= part;
            piece[2 % rows] *= rows > 2 ? part : 1.0;
        }
        jacobian += (ptrdiff_t)rows * (p->dof_start[i + 1] - p->dof_start[i]);
    }
}

/* Newton's method until steps no longer help; false where they do not lead near enough to a point. */
static bool settle(perp_friction_soft_workspace *f, int most, const volatile bool *cancel)
{
    enum { STALE = 3 };
    double merit = perp_friction_soft_look(f, f->v, f->y), before = INFINITY;
    for (int k = 0, stale = 0; k < most && isfinite(merit); k++) {
        stale = merit > SOFT_HELPS * before ? stale + 1 : 0;
        if (!f->piece && (merit <= SOFT_ROUNDING * f->size || (merit <= SPRINGS_NEAR * f->size && stale >= STALE))) {
            return true;
        }
        before = merit;
        if ((cancel && *cancel) || !perp_friction_soft_advance(f, &merit)) {
            return false;
        }
        if (f->piece) {
            f->piece = NULL;
            merit = perp_friction_soft_look(f, f->v, f->y);
        }
    }
    return false;
}

/* What a round leaves open of the rigid law. */
typedef struct spring_residual {
    double velocity; /* what springs give way by, from where they rest */
    double held;     /* force that only holds what nothing else does */
    double balance;  /* that Newton's method has left */
} spring_residual;

static spring_residual measure(const perp_friction_soft_workspace *f, double a)
{
    const perp_contact_qp *p = &f->bodies;
    spring_residual r = {0.0, 0.0, 0.0};
    for (int i = 0; i < p->contact_count; i++) {
        for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++) {
            const double own = k == p->row_start[i] ? a : SOFTER * a;
            r.velocity = fmax(r.velocity, fabs(f->force[k] - f->rest[k]) / own);
        }
    }
    for (int j = 0; j < p->n; j++) {
        bool at_bound;
        perp_friction_soft_held_at(f, f->v, j, &at_bound);
        r.held = fmax(r.held, f->own_hold[j] * fabs(f->v[j] - f->own_centre[j]));
        r.balance = at_bound ? r.balance : fmax(r.balance, fabs(f->balance[j]));
    }
    return r;
}

static void next_round(perp_friction_soft_workspace *f)
{
    const perp_contact_qp *p = &f->bodies;
    memcpy(f->rest, f->force, (p->contact_count > 0 ? (size_t)p->row_start[p->contact_count] : 0) * sizeof(double));
    memcpy(f->own_centre, f->v, (size_t)p->n * sizeof(double));
}

/* What a change of the springs' rest, `change` by row, does to v, in f->step; and what is left of it in the forces. */
static void respond_to(perp_friction_soft_workspace *f, double *change)
{
    const perp_contact_qp *p = &f->bodies;
    const double *jacobian = p->jacobian, *omega = f->omega;
    memset(f->step, 0, (size_t)(p->n + p->equality_count) * sizeof(double));
    for (int i = 0; i < p->contact_count; i++) {
        const int row = p->row_start[i], rows = p->row_start[i + 1] - row;
        const int columns = p->dof_start[i + 1] - p->dof_start[i], *dofs = p->dofs + p->dof_start[i];
        for (int k = 0; k < rows; k++) {
            double force = 0.0;
            for (int j = 0; j < rows; j++) {
                force += omega[k * rows + j] / f->stiffness[2 * i + (j > 0 ? 1 : 0)] * change[row + j];
            }
            for (int c = 0; c < columns && force != 0.0; c++) {
                f->step[dofs[c]] += jacobian[(ptrdiff_t)k * columns + c] * force;
            }
        }
        omega += (ptrdiff_t)rows * rows;
        jacobian += (ptrdiff_t)rows * columns;
    }
    perp_friction_soft_respond(f);
    jacobian = p->jacobian;
    omega = f->omega;
    for (int i = 0; i < p->contact_count; i++) {
        const int row = p->row_start[i], rows = p->row_start[i + 1] - row;
        const int columns = p->dof_start[i + 1] - p->dof_start[i], *dofs = p->dofs + p->dof_start[i];
        double left[3] = {0.0, 0.0, 0.0}, force[3] = {0.0, 0.0, 0.0};
        for (int j = 0; j < rows; j++) {
            double speed = 0.0;
            for (int c = 0; c < columns; c++) {
                speed += jacobian[(ptrdiff_t)j * columns + c] * f->step[dofs[c]];
            }
            left[j] = change[row + j] / f->stiffness[2 * i + (j > 0 ? 1 : 0)] - speed;
        }
        for (int k = 0; k < rows; k++) {
            for (int j = 0; j < rows; j++) {
                force[k] += omega[k * rows + j] * left[j];
            }
        }
        memcpy(change + row, force, (size_t)rows * sizeof(double));
        omega += (ptrdiff_t)rows * rows;
        jacobian += (ptrdiff_t)rows * columns;
    }
}

/* Rounds as they would be from normal forces that are off by unlike parts of themselves. What the motion decides
 * shrinks by a W from round to round (100 and more along tangents); what is left in the last is a choice. */
static double probe(perp_friction_soft_workspace *f)
{
    enum { PROBES = 3 };
    static const double GOLDEN = 0.6180339887498949;
    const perp_contact_qp *p = &f->bodies;
    for (int i = 0; i < p->contact_count; i++) {
        const double part = GOLDEN * (i + 1) - floor(GOLDEN * (i + 1)) - 0.5;
        for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++) {
            f->start_piece[k] = k == p->row_start[i] ? part * f->force[k] : 0.0;
        }
    }
    double largest = 0.0;
    perp_friction_soft_factor(f);
    for (int round = 0; round < PROBES; round++) {
        respond_to(f, f->start_piece);
        largest = 0.0;
        for (int j = 0; j < p->n; j++) {
            largest = fmax(largest, fabs(f->step[j]));
        }
    }
    return isfinite(largest) ? largest : 0.0;
}

/* Rounds from a stiffness on. It grows to STIFF at once, and beyond where rounds do not gain. */
static bool run_from(perp_friction_soft_workspace *f, const perp_friction_springs_settings *settings, double a,
                     const perp_convex_point *start, perp_friction_springs_info *info)
{
    enum { ROUNDS = 30, MOST = 40, MOST_SOFT = 40, PATIENCE = 3 };
    const perp_contact_qp *p = &f->bodies;
    const size_t rows = p->contact_count > 0 ? (size_t)p->row_start[p->contact_count] : 0;
    spring_residual before = {INFINITY, INFINITY, INFINITY};
    int wedged = 0, falling = 0;
    memset(f->rest, 0, rows * sizeof(double));
    perp_friction_soft_start(f, start);
    memcpy(f->own_centre, f->v, (size_t)p->n * sizeof(double));
    set_stiffness(f, a);
    choose_pieces(f, start);
    f->piece = f->start_piece;
    for (int k = 0; k < ROUNDS; k++) {
        const int taken = f->iterations;
        info->rounds++;
        if (!settle(f, a < STIFF ? MOST_SOFT : MOST, settings->cancel)) {
            return false;
        }
        const spring_residual left = measure(f, a);
        const bool gains = left.velocity <= 0.1 * before.velocity;
        const bool still = left.held <= settings->force_tolerance &&
                           left.velocity <= (gains ? settings->velocity_tolerance : settings->velocity_enough);
        const bool rounded = left.balance >= 0.5 * before.balance && left.balance <= settings->force_enough;
        if (still && (left.balance <= settings->force_tolerance || rounded)) {
            return true;
        }
        wedged = left.velocity > settings->velocity_enough && left.velocity > 0.9 * before.velocity ? wedged + 1 : 0;
        falling = left.held > SPRINGS_FALL && left.held > 0.9 * before.held ? falling + 1 : 0;
        info->no_limit = wedged > PATIENCE || falling > PATIENCE;
        if (info->no_limit) {
            return false;
        }
        const bool sure = f->iterations - taken <= 1; /* modes stay as they are: stiffer springs only save rounds */
        next_round(f);
        for (int j = 0; j < p->n && falling > 0; j++) {
            f->own_hold[j] *= 0.1; /* what is on its way gets there sooner */
        }
        if (still) { /* what is left of the balance is rounding of a s */
            a *= 0.1;
        } else if (a < STIFF || ((!gains || sure) && a < STIFFEST)) {
            a *= 10.0;
        }
        set_stiffness(f, a);
        before = left;
    }
    return false;
}

static void put_point(const perp_friction_soft_workspace *f, perp_convex_point *to)
{
    const perp_contact_qp *p = &f->bodies;
    perp_friction_soft_put_bodies(f, to);
    memcpy(to->y, f->force, (p->contact_count > 0 ? (size_t)p->row_start[p->contact_count] : 0) * sizeof(double));
}

/* The same at an answer that is no limit of springs. */
static double probe_at(perp_friction_soft_workspace *f, const perp_convex_point *start)
{
    const perp_contact_qp *p = &f->bodies;
    perp_friction_soft_start(f, start);
    set_stiffness(f, STIFF);
    choose_pieces(f, start);
    f->piece = f->start_piece;
    perp_friction_soft_look(f, f->v, f->y);
    f->piece = NULL;
    memcpy(f->force, start->y, (p->contact_count > 0 ? (size_t)p->row_start[p->contact_count] : 0) * sizeof(double));
    return f->slips ? probe(f) : 0.0;
}

/* Where Newton's method fails on stiff springs, soft ones lead to a start from which it does not: what these end with
 * themselves is an answer as well, but not quite the limit's where contacts come and go on the way. */
static bool run(perp_friction_soft_workspace *f, const perp_friction_springs_settings *settings,
                perp_convex_point *solution, perp_friction_springs_info *info)
{
    const double stiff = f->holds ? STIFF_ALONE : STIFF;
    bool solved = run_from(f, settings, stiff, settings->start, info);
    if (!solved && !info->no_limit && !settings->known && run_from(f, settings, SOFT, settings->start, info)) {
        put_point(f, solution);
        solved = run_from(f, settings, stiff, solution, info);
        if (!solved) {
            info->choice = INFINITY;
            return true;
        }
    }
    if (solved) {
        put_point(f, solution);
        info->choice = f->slips ? probe(f) : 0.0;
    } else if (settings->known && settings->start) {
        info->choice = probe_at(f, settings->start);
    }
    return solved;
}

perp_status perp_friction_springs_solve(const perp_contact_friction *problem,
                                        const perp_friction_springs_settings *settings,
                                        perp_friction_soft_workspace *workspace, perp_convex_point *solution,
                                        perp_friction_springs_info *info, perp_error *error)
{
    *info = (perp_friction_springs_info){0};
    const perp_status status = set_up(workspace, problem, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    workspace->polygon = settings->polygon;
    workspace->iterations = workspace->factorisations = 0;
    perp_friction_soft_take_inertia(workspace, settings->weight);
    info->solved = run(workspace, settings, solution, info);
    info->iterations = workspace->iterations;
    return PERP_STATUS_OK;
}
