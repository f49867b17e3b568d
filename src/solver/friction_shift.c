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

/* The shift of the offset moves to that of u, by `part` of the way. */
static void move_shift(perp_friction_workspace *f, double part)
{
    const perp_convex_workspace *c = f->convex;
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start;
        const double old = f->free_offset[start] - f->offset[start], now = f->z[start] - f->u[start];
        f->free_offset[start] += part * (now - old);
    }
}

/* The first shift: large enough that forced sliding does not make the first problem infeasible; drawn around that where
 * there is a `state`. */
static void begin(perp_friction_workspace *f, uint64_t *state)
{
    static const double FIRST = 1.0, DECADES = 1.5;
    const perp_convex_workspace *c = f->convex;
    memcpy(f->free_offset, f->offset, (size_t)c->contact_slacks * sizeof(double));
    for (int k = 0; k < c->cone_count; k++) {
        f->free_offset[c->cones[k].start] += FIRST * (state ? pow(10.0, DECADES * perp_friction_draw(state)) : 1.0);
    }
}

bool perp_friction_shift(perp_friction_workspace *f, double part, int rounds, uint64_t *state)
{
    static const double BETTER = 0.5;
    perp_convex_workspace *c = f->convex;
    double least = INFINITY;
    bool solved = false;
    begin(f, state);
    for (int k = 0; k < rounds && !solved && !perp_friction_must_stop(f); k++) {
        perp_convex_copy(c, &c->best, &f->solved); /* the convex problems have a best point of their own */
        f->scaled.offset = f->free_offset;
        const bool found = solve_convex(f);
        f->scaled.offset = f->offset;
        perp_convex_copy(c, &f->solved, &c->best);
        if (!found) {
            break;
        }
        const double error = perp_friction_look(f, &c->at);
        move_shift(f, part);
        if (error < BETTER * least) {
            least = error;
            solved = perp_friction_newton_tries(f);
        }
    }
    return solved;
}

bool perp_friction_shift_drawn(perp_friction_workspace *f, int draws)
{
    enum { ROUNDS = 25 };
    uint64_t state = 777;
    bool solved = false;
    for (int k = 0; k < draws && !solved && !perp_friction_must_stop(f); k++) {
        solved = perp_friction_shift(f, 1.0, ROUNDS, &state);
    }
    return solved;
}
