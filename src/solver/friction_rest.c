/* The least motion, and bodies held near one: for problems without inertia.
 *
 * What nothing drives has no reason to move but contacts that push it. So of all motions without penetration the least
 * one, with what is driven on its own way (min 1/2 v'A v + f_d'v + what moves without being driven), often has the
 * slips of a solution, and then the forces are those of one convex problem: whatever squeeze is needed is found, as no
 * start of a local method has to bring it about. Where the slips are not those yet, a fixed point on the shift |u_T|
 * goes on from there: with the shift frozen in the offset the problem is a convex cone problem, whose velocities give
 * the next shift. Its problems are held near the last motion by rho where A has nothing: without that a body that
 * friction holds falls away before the forces that hold it are there. */
#include "solver/friction_core.h"
#include "solver/tolerances.h"

#include <math.h>
#include <string.h>

/* H of `held`: A, and rho where its diagonal has nothing, or everywhere. g: f less rho times the centre; `still`: the
 * motion is sought, and f counts only for what is not held. */
static void restrain(perp_friction_workspace *f, double rho, bool all, bool still)
{
    const perp_contact_qp *p = &f->scaled;
    ptrdiff_t from = 0;
    for (int k = 0; k < p->block_count; k++) {
        const int first = p->block_start[k], size = p->block_start[k + 1] - first;
        for (int i = 0; i < size * size; i++) {
            f->held_hessian[from + i] = p->hessian ? p->hessian[from + i] : 0.0;
        }
        for (int i = 0; i < size; i++) {
            double *own = &f->held_hessian[from + (ptrdiff_t)i * (size + 1)];
            const bool free = !all && *own > 0.0;
            const double f_i = p->g[first + i];
            f->held_g[first + i] = free ? f_i : still ? 0.0 : f_i - rho * f->centre_x[first + i];
            *own += free ? 0.0 : rho;
        }
        from += (ptrdiff_t)size * size;
    }
}

bool perp_friction_holds_some(const perp_friction_workspace *f)
{
    const perp_contact_qp *p = &f->scaled;
    const double *h = p->hessian;
    for (int k = 0; h && k < p->block_count; k++) {
        const int size = p->block_start[k + 1] - p->block_start[k];
        for (int i = 0; i < size; i++) {
            if (!(h[(ptrdiff_t)i * (size + 1)] > 0.0)) {
                return true;
            }
        }
        h += (ptrdiff_t)size * size;
    }
    return !h;
}

/* `convex` takes the problem whose unknowns without inertia or stiffness, or `all`, are held by rho near the centre. */
static bool hold(perp_friction_workspace *f, double rho, bool all)
{
    restrain(f, rho, all, false);
    f->held = f->scaled;
    f->held.hessian = f->held_hessian;
    f->held.g = f->held_g;
    return perp_convex_setup(f->convex, &f->held, NULL) == PERP_STATUS_OK &&
           perp_kkt_lu_setup(&f->lu, &f->convex->kkt) == PERP_STATUS_OK;
}

/* The convex problem that is set up, to its `best`. */
static bool run_convex(perp_friction_workspace *f)
{
    enum { ITERATIONS = 60 };
    perp_convex_workspace *c = f->convex;
    const int before = c->factorisations;
    c->best_residual = INFINITY;
    c->best_parts = (perp_convex_residual){INFINITY, INFINITY, INFINITY};
    c->tolerance = REST_CONVEX;
    c->cancel = f->cancel;
    const perp_convex_attempt attempt = {
        .iterations = ITERATIONS, .fraction = 0.99, .rho = PROXIMAL, .delta = PROXIMAL};
    const bool found = perp_convex_ipm(c, &attempt) == PERP_OUTCOME_SOLVED;
    f->factorisations += c->factorisations - before;
    return found;
}

/* The least motion that the normal rows allow, to the centre; `best` stays. Unless `all` are at rest, what has inertia
 * or stiffness goes its own way. */
static bool find_least_motion(perp_friction_workspace *f, bool all)
{
    static const double STILL = 100.0; /* beside a stiffness of one */
    perp_convex_workspace *c = f->convex;
    perp_convex_copy(c, &c->best, &f->solved); /* the arrays of `convex` are laid out anew */
    restrain(f, STILL, all, true);
    perp_friction_take_normals(f, &f->held);
    f->held.hessian = f->held_hessian;
    f->held.g = f->held_g;
    bool found = false;
    if (perp_convex_setup(c, &f->held, NULL) == PERP_STATUS_OK) {
        found = run_convex(f);
        memcpy(f->centre_x, c->best.x, (size_t)c->n * sizeof(double));
    }
    perp_friction_restore(f);
    perp_convex_copy(c, &f->solved, &c->best);
    return found;
}

/* The convex problem with the offsets as they are; its solution goes to `at`, and `best` stays. */
static bool solve_convex(perp_friction_workspace *f, const perp_friction_resting *how)
{
    perp_convex_workspace *c = f->convex;
    bool found = false;
    perp_convex_copy(c, &c->best, &f->solved); /* the convex problems have a best point of their own */
    f->scaled.offset = f->free_offset;
    if (hold(f, how->rho, how->all)) {
        const int before = f->factorisations;
        found = run_convex(f);
        f->iterations += f->factorisations - before;
        perp_convex_copy(c, &c->best, &c->at);
    }
    f->scaled.offset = f->offset;
    perp_friction_restore(f);
    perp_convex_copy(c, &f->solved, &c->best);
    return found;
}

/* The shift of the offset becomes that of u. */
static void take_shift(perp_friction_workspace *f)
{
    const perp_convex_workspace *c = f->convex;
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start;
        f->free_offset[start] = f->offset[start] + (f->z[start] - f->u[start]);
    }
}

/* Between -1 and 1, the same numbers on every run. */
static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*state >> 11) / 4503599627370496.0 - 1.0;
}

/* The first shifts: those of the least motion, spread where they are drawn. */
static bool begin(perp_friction_workspace *f, const perp_friction_resting *how)
{
    static const double SPREAD = 0.3; /* decades of a spread either way */
    perp_convex_workspace *c = f->convex;
    const bool known = find_least_motion(f, how->all);
    memset(c->at.y, 0, (size_t)c->m * sizeof(double));
    memset(c->at.z, 0, (size_t)c->e * sizeof(double));
    memcpy(c->at.x, f->centre_x, (size_t)c->n * sizeof(double));
    perp_friction_look(f, &c->at);
    memcpy(f->free_offset, f->offset, (size_t)c->contact_slacks * sizeof(double));
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start;
        const double spread = how->state ? pow(10.0, SPREAD * draw(how->state)) : 1.0;
        f->free_offset[start] += spread * (f->z[start] - f->u[start]);
    }
    return known;
}

/* The held problem itself from `at`, which becomes its solution if one is found: by far fewer modes off than the convex
 * one's. True once the judge says that the problem is solved. */
static bool settle(perp_friction_workspace *f, const perp_friction_resting *how)
{
    const perp_friction_damping dampings[] = {{FRICTION_DAMPING_MOST, FRICTION_DAMPING, 40, 10, REST_SETTLED},
                                              {FRICTION_DAMPING_FAR, 0.3, 60, 20, REST_SETTLED}};
    perp_convex_workspace *c = f->convex;
    perp_convex_copy(c, &c->best, &f->solved);
    hold(f, how->rho, how->all); /* it fitted before */
    perp_convex_copy(c, &f->solved, &c->best);
    const bool solved = perp_friction_newton_from(f, &c->at, dampings, 2);
    perp_friction_restore(f);
    if (f->error < REST_SETTLED) {
        perp_convex_copy(c, &c->kept, &c->at);
        perp_friction_look(f, &c->at);
        take_shift(f);
    }
    return solved;
}

/* The problem itself from `at`, which stays, with little, more and much damping. */
static bool try_newton(perp_friction_workspace *f)
{
    const perp_friction_damping dampings[] = {{FRICTION_DAMPING_MOST, FRICTION_DAMPING, 20, 10, 0.0},
                                              {FRICTION_DAMPING_FAR, 0.1, 100, 40, 0.0},
                                              {FRICTION_DAMPING_FAR, 1.0, 100, 40, 0.0}};
    return perp_friction_newton_from(f, &f->convex->at, dampings, 3);
}

bool perp_friction_rest(perp_friction_workspace *f, const perp_friction_resting *how)
{
    static const double BETTER = 0.5;
    enum { OFTEN = 8 };
    perp_convex_workspace *c = f->convex;
    double least = INFINITY;
    bool solved = false;
    if (!begin(f, how)) {
        return false;
    }
    for (int k = 0; k < how->rounds && !solved && !perp_friction_must_stop(f) && solve_convex(f, how); k++) {
        const double error = perp_friction_look(f, &c->at);
        take_shift(f);
        const bool tries = error < BETTER * least || k < OFTEN || k % OFTEN == 0;
        if (tries) {
            least = error;
            solved = try_newton(f);
        }
        if (!solved) {
            solved = settle(f, how) || (tries && try_newton(f));
            memcpy(f->centre_x, c->at.x, (size_t)c->n * sizeof(double));
        }
    }
    return solved;
}

bool perp_friction_rest_drawn(perp_friction_workspace *f)
{
    enum { DRAWS = 60, ROUNDS = 20, EACH = 400 }; /* factorisations */
    static const double MIDDLE = 0.5, DECADES = 1.5;
    const int cap = f->max_factorisations;
    uint64_t state = 11;
    bool solved = false;
    for (int k = 0; k < DRAWS && !solved && !perp_friction_must_stop(f); k++) {
        const double rho = pow(10.0, MIDDLE + DECADES * draw(&state));
        f->max_factorisations = EACH < cap - f->factorisations ? f->factorisations + EACH : cap;
        solved = perp_friction_rest(f, &(perp_friction_resting){rho, ROUNDS, false, &state});
        f->max_factorisations = cap;
    }
    return solved;
}
