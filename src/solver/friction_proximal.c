/* Coulomb friction by proximal terms: A v + tau (v - v_c) + f = H'r, u + eps (r - r_c).
 *
 * Without inertia, or between walls, a problem may have solutions and yet no interior: forces or velocities without
 * bound hide the central path. With inertia tau and compliance eps it has one. The centres follow the solution, so the
 * terms need not vanish for the limit to be right, but they are made less all the same. */
#include "solver/friction_core.h"

#include <math.h>
#include <string.h>

static void centre(perp_friction_workspace *f, const perp_convex_iterate *at)
{
    const perp_convex_workspace *c = f->convex;
    memcpy(f->centre_x, at->x, (size_t)c->n * sizeof(double));
    memcpy(f->centre_y, at->y, (size_t)c->m * sizeof(double));
}

/* The problem with its terms, from `at` or from nothing; the solution is in `at`. */
static bool solve_inside(perp_friction_workspace *f, double tau, double eps, bool cold)
{
    enum { WARM = 20, COLD = 80 };
    perp_convex_workspace *c = f->convex;
    f->tau = tau;
    f->eps = eps;
    f->inside = true;
    bool solved = false;
    if (!cold) {
        perp_convex_copy(c, &c->at, &c->trial);
        solved = perp_friction_newton(f, &c->at, WARM);
        if (!solved) {
            perp_convex_copy(c, &c->trial, &c->at);
        }
    }
    if (!solved) {
        solved = perp_friction_ipm(f, &(perp_friction_attempt){10.0, 10.0, 0.99, 0.8, 1, f->dense, false, COLD, 0.0});
    }
    f->inside = false;
    f->tau = f->eps = 0.0;
    return solved;
}

bool perp_friction_proximal(perp_friction_workspace *f, double tau, double eps)
{
    enum { ROUNDS = 30, POLISH = 8, FAILURES = 4 };
    static const double LESS = 0.3, LEAST = 1e-7, MORE = 5.0;
    perp_convex_workspace *c = f->convex;
    memset(f->centre_x, 0, (size_t)c->n * sizeof(double));
    memset(f->centre_y, 0, (size_t)c->m * sizeof(double));
    int failures = 0;
    bool cold = true;
    for (int k = 0; k < ROUNDS && failures < FAILURES && !perp_friction_must_stop(f); k++) {
        if (!solve_inside(f, tau, eps, cold)) {
            failures++;
            tau *= MORE;
            eps *= MORE;
            continue;
        }
        cold = false;
        centre(f, &c->at);
        perp_convex_copy(c, &c->at, &c->kept);
        if (perp_friction_newton(f, &c->kept, POLISH)) {
            return true;
        }
        tau = fmax(LESS * tau, LEAST);
        eps = fmax(LESS * eps, LEAST);
    }
    return false;
}
