/* Fixed point on the shift: with |u_T| frozen in the offset the problem is a convex cone problem, whose velocities give
 * the next shift. Where every contact can open strictly this is the map of the proof that a solution exists. Slower
 * than the interior point on the whole, but each of its problems is one that cannot fail. */
#include "solver/friction_core.h"

#include <math.h>
#include <string.h>

/* The convex problem with the offsets as they are; its solution goes to `at`, and `best` stays. */
static bool solve_convex(perp_friction_workspace *f, const perp_friction_shifting *how)
{
    enum { ITERATIONS = 60 };
    static const double ENOUGH = 1e-7, CLOSER = 1e-9; /* held, what is left over is rho times a motion */
    perp_convex_workspace *c = f->convex;
    const int factorisations = c->factorisations;
    bool found = false;
    perp_convex_copy(c, &c->best, &f->solved); /* the convex problems have a best point of their own */
    f->scaled.offset = f->free_offset;
    if (how->rho == 0.0 || perp_friction_hold(f, how->rho, how->all)) {
        c->best_residual = INFINITY;
        c->best_parts = (perp_convex_residual){INFINITY, INFINITY, INFINITY};
        c->tolerance = how->rho > 0.0 ? CLOSER : ENOUGH;
        c->cancel = f->cancel;
        found = perp_convex_ipm(c, &(perp_convex_attempt){ITERATIONS, false, 0.99, 1e-8, 1e-8, false, 0, 0.0}) ==
                PERP_OUTCOME_SOLVED;
        f->factorisations += c->factorisations - factorisations;
        f->iterations += c->factorisations - factorisations;
        perp_convex_copy(c, &c->best, &c->at);
    }
    f->scaled.offset = f->offset;
    if (how->rho > 0.0) {
        perp_friction_release(f);
    }
    c->best_is_least = false; /* that was said of the convex problem */
    perp_convex_copy(c, &f->solved, &c->best);
    return found;
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

/* The first shifts: large enough that forced sliding does not make the first problem infeasible, or those of the least
 * motion. */
static bool begin(perp_friction_workspace *f, const perp_friction_shifting *how)
{
    static const double FIRST = 1.0, SPREAD = 0.3; /* decades of a spread either way */
    perp_convex_workspace *c = f->convex;
    const bool rests = how->rho > 0.0, known = !rests || perp_friction_least_motion(f, how->all);
    if (rests) {
        memset(c->at.y, 0, (size_t)c->m * sizeof(double));
        memset(c->at.z, 0, (size_t)c->e * sizeof(double));
        memcpy(c->at.x, f->centre_x, (size_t)c->n * sizeof(double));
        perp_friction_look(f, &c->at);
    }
    memcpy(f->free_offset, f->offset, (size_t)c->contact_slacks * sizeof(double));
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start;
        const double spread = how->state ? pow(10.0, SPREAD * perp_friction_draw(how->state)) : 1.0;
        f->free_offset[start] += spread * (rests ? f->z[start] - f->u[start] : FIRST);
    }
    return known;
}

/* The held problem itself from `at`, which becomes its solution if one is found: by far fewer modes off than the convex
 * one's. True once the judge says that the problem is solved. */
static bool settle(perp_friction_workspace *f, const perp_friction_shifting *how)
{
    static const double SETTLED = 1e-10;
    static const perp_friction_damping dampings[] = {{1e-4, 1e-2, 40, 10, SETTLED}, {1e-2, 0.3, 60, 20, SETTLED}};
    perp_convex_workspace *c = f->convex;
    bool solved = false, settled = false;
    perp_convex_copy(c, &c->best, &f->solved);
    perp_friction_hold(f, how->rho, how->all); /* it fitted before */
    perp_convex_copy(c, &f->solved, &c->best);
    for (size_t d = 0; d < sizeof dampings / sizeof *dampings && !solved && !settled; d++) {
        perp_convex_copy(c, &c->at, &c->kept);
        solved = perp_friction_newton_damped(f, &c->kept, &dampings[d]);
        settled = f->error < SETTLED;
    }
    perp_friction_release(f);
    if (settled) {
        perp_convex_copy(c, &c->kept, &c->at);
        perp_friction_look(f, &c->at);
        move_shift(f, 1.0);
    }
    return solved;
}

bool perp_friction_shift(perp_friction_workspace *f, const perp_friction_shifting *how)
{
    static const double BETTER = 0.5;
    perp_convex_workspace *c = f->convex;
    double least = INFINITY;
    bool solved = false, goes_on = begin(f, how);
    for (int k = 0; k < how->rounds && goes_on && !solved && !perp_friction_must_stop(f); k++) {
        goes_on = solve_convex(f, how);
        if (!goes_on) {
            break;
        }
        const double error = perp_friction_look(f, &c->at);
        move_shift(f, how->part);
        const bool tries = error < BETTER * least || (how->rho > 0.0 && (k < 8 || k % 8 == 0));
        if (tries) {
            least = error;
            solved = perp_friction_newton_tries(f);
        }
        if (how->rho > 0.0 && !solved) {
            solved = settle(f, how) || (tries && perp_friction_newton_tries(f));
            memcpy(f->centre_x, c->at.x, (size_t)c->n * sizeof(double));
        }
    }
    return solved;
}

bool perp_friction_rest_drawn(perp_friction_workspace *f, int draws)
{
    enum { ROUNDS = 20, EACH = 400 }; /* factorisations */
    static const double MIDDLE = 0.5, DECADES = 1.5;
    const int cap = f->max_factorisations;
    uint64_t state = 11;
    bool solved = false;
    for (int k = 0; k < draws && !solved && !perp_friction_must_stop(f); k++) {
        const double rho = pow(10.0, MIDDLE + DECADES * perp_friction_draw(&state));
        f->max_factorisations = EACH < cap - f->factorisations ? f->factorisations + EACH : cap;
        solved = perp_friction_shift(f, &(perp_friction_shifting){1.0, ROUNDS, rho, false, &state});
        f->max_factorisations = cap;
    }
    return solved;
}
