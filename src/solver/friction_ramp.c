/* Friction ramped up from none. Without friction the problem is convex, and its velocities say where things slide; from
 * there the coefficients grow to what they are, each problem solved from the last one's solution. Bodies between walls,
 * which an interior point jams at once, are kept sliding that way. */
#include "solver/friction_core.h"

#include <math.h>
#include <string.h>

/* To `joined`, which the next begins from. */
static void keep_point(perp_friction_workspace *f)
{
    const perp_contact_qp *p = f->contact->system;
    const size_t n = (size_t)p->n * sizeof(double);
    memcpy(f->joined.x, f->point.x, n);
    memcpy(f->joined.y_lower, f->point.y_lower, n);
    memcpy(f->joined.y_upper, f->point.y_upper, n);
    memcpy(f->joined.y_equality, f->point.y_equality, (size_t)p->equality_count * sizeof(double));
    const int rows = p->contact_count > 0 ? p->row_start[p->contact_count] : 0;
    memcpy(f->joined.y, f->point.y, (size_t)rows * sizeof(double));
}

/* The problem with mu times `part`, from the point in `joined` or, `cold`, from nothing; its solution is left there. */
static bool solve_part(perp_friction_workspace *f, const perp_contact_friction *given, double part, bool cold)
{
    enum { WARM = 15, COLD = 60 };
    const perp_contact_qp *p = given->system;
    perp_convex_workspace *c = f->convex;
    for (int i = 0; i < p->contact_count; i++) {
        f->ramp_mu[i] = part * given->mu[i];
    }
    const perp_contact_friction reduced = {p, f->ramp_mu};
    if (perp_friction_setup_contact(f, &reduced, NULL) != PERP_STATUS_OK) {
        return false; /* it fitted before */
    }
    f->best_residual = INFINITY;
    bool solved = false;
    if (!cold) {
        perp_friction_import(f, &f->joined, &c->at);
        solved = perp_friction_newton(f, &c->at, WARM);
    }
    if (!solved) {
        solved = perp_friction_ipm(f, &(perp_friction_attempt){1.0, 1.0, 0.99, 0.8, 1, false, false, COLD, 0.0});
    }
    if (solved) {
        perp_friction_export(f, &c->best);
        keep_point(f);
    }
    return solved;
}

bool perp_friction_ramp(perp_friction_workspace *f)
{
    enum { STAGES = 40 };
    static const double FIRST = 0.1, LEAST = 0.01;
    const perp_contact_friction *given = f->contact;
    double done = 0.0, step = FIRST;
    f->ramping = true;
    const bool solved = solve_part(f, given, 0.0, true);
    for (int k = 0; solved && k < STAGES && done < 1.0 && step >= LEAST && !perp_friction_must_stop(f); k++) {
        const double next = fmin(done + step, 1.0);
        if (solve_part(f, given, next, false)) {
            done = next;
            step *= 1.5;
        } else {
            step *= 0.4;
        }
    }
    const bool arrived = done == 1.0;
    f->ramping = false;
    if (perp_friction_setup_contact(f, given, NULL) != PERP_STATUS_OK) { /* it fitted before */
        return false;
    }
    f->best_residual = INFINITY;
    if (!solved) {
        return false;
    }
    perp_friction_import(f, &f->joined, &f->convex->at);
    return perp_friction_newton(f, &f->convex->at, arrived ? 5 : 25);
}
