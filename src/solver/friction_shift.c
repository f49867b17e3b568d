/* Fixed point on the shift: with |u_T| frozen in the offset the problem is a convex cone problem, whose velocities give
 * the next shift. Where every contact can open strictly this is the map of the proof that a solution exists. Slower
 * than the interior point on the whole, but each of its problems is one that cannot fail. */
#include "solver/friction_core.h"

#include <math.h>
#include <string.h>

/* The convex problem with the offsets as they are; its solution goes to `at`. */
static bool solve_convex(perp_friction_workspace *f)
{
    enum { ITERATIONS = 60 };
    static const double ENOUGH = 1e-7;
    perp_convex_workspace *c = f->convex;
    const int factorisations = c->factorisations;
    c->best_residual = INFINITY;
    c->best_parts = (perp_convex_residual){INFINITY, INFINITY, INFINITY};
    c->tolerance = ENOUGH;
    c->cancel = f->cancel;
    const perp_outcome outcome =
        perp_convex_ipm(c, &(perp_convex_attempt){ITERATIONS, false, 0.99, 1e-8, 1e-8, false, 0, 0.0});
    f->factorisations += c->factorisations - factorisations;
    f->iterations += c->factorisations - factorisations;
    perp_convex_copy(c, &c->best, &c->at);
    return outcome == PERP_OUTCOME_SOLVED;
}

/* The shift of the offset moves to that of u, by `part` of the way; returns by how much in the largest. */
static double move_shift(perp_friction_workspace *f, double part)
{
    const perp_convex_workspace *c = f->convex;
    double largest = 0.0;
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start;
        const double old = f->free_offset[start] - f->offset[start], now = f->z[start] - f->u[start];
        f->free_offset[start] += part * (now - old);
        largest = fmax(largest, fabs(now - old));
    }
    return largest;
}

bool perp_friction_shift(perp_friction_workspace *f, int rounds)
{
    enum { POLISH = 12, EVERY = 4 };
    static const double CLOSE = 0.03, FIRST = 1.0;
    perp_convex_workspace *c = f->convex;
    double polish_below = CLOSE;
    bool solved = false;
    perp_convex_copy(c, &c->best, &f->solved); /* the convex problems have a best point of their own */
    memcpy(f->free_offset, f->offset, (size_t)c->contact_slacks * sizeof(double));
    for (int k = 0; k < c->cone_count; k++) {
        f->free_offset[c->cones[k].start] += FIRST; /* so that forced sliding does not make the first infeasible */
    }
    for (int k = 0; k < rounds && !solved && !perp_friction_must_stop(f); k++) {
        f->scaled.offset = f->free_offset;
        const bool found = solve_convex(f);
        f->scaled.offset = f->offset;
        perp_convex_copy(c, &f->solved, &c->best);
        if (!found) {
            break;
        }
        const double error = perp_friction_look(f, &c->at);
        const double moved = move_shift(f, k % EVERY == EVERY - 1 ? 0.5 : 1.0);
        if (error < polish_below || moved < 1e-6) {
            polish_below = 0.3 * error;
            perp_convex_copy(c, &c->at, &c->kept);
            solved = perp_friction_newton(f, &c->kept, POLISH);
            perp_convex_copy(c, &c->best, &f->solved);
        }
    }
    return solved;
}
