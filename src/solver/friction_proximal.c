/* Forces that settle step by step: a proximal point method.
 *
 * During a step contacts give way by `give` times the change of their forces,
 *
 *     r = P(r - z - give (r - r_k)),     z = u + |u_T| e,
 *
 * an implicit Euler step of length 1 / give of the motion r' = -z, projected on the cones, which comes to rest in
 * solutions only. Newton's matrix has `give` in the place of its damping, so that it is regular however far from unique
 * forces are; but here the equations have that term too, and a step is solved, where damping alone leaves the cones
 * along forces that change nothing. A short enough step has an answer near its start, which Newton's method finds
 * without a search; steps grow where it needs few iterations and shrink where it fails. Where give is more than 1 what
 * stands behind r in the argument counts by 1 / give of itself: the same equations, of which a change of r is then no
 * longer the smallest part.
 *
 * Where no motion opens all contacts forces may grow without end; there the method ends without an answer. */
#include "solver/friction_core.h"
#include "solver/tolerances.h"

#include <math.h>
#include <string.h>

enum { FAILED = -1 };

/* The step's own equations, to `enough`: how many iterations of Newton's method, or FAILED. */
static int settle(perp_friction_workspace *f, perp_convex_iterate *at, double enough)
{
    enum { MOST = 15, PATIENCE = 5 }; /* in all; without the error's having halved */
    double best = INFINITY;
    int since = 0;
    for (int k = 0; k <= MOST; k++) {
        const double error = perp_friction_look(f, at);
        if (error < enough) {
            return k;
        }
        since = error < 0.5 * best ? 0 : since + 1;
        best = fmin(best, error);
        if (!(error < INFINITY) || since > PATIENCE || perp_friction_must_stop(f)) {
            return FAILED;
        }
        f->iterations++;
        if (!perp_friction_newton_step(f, at, f->give * perp_friction_pace(f), NULL)) {
            return FAILED;
        }
    }
    return FAILED;
}

/* One step from `at`, which stays where it fails. */
static int step(perp_friction_workspace *f, perp_convex_iterate *at, double give, double enough)
{
    perp_convex_workspace *c = f->convex;
    perp_convex_copy(c, at, &c->saved);
    f->give = give;
    f->give_from = c->saved.y;
    const int iterations = settle(f, at, enough);
    f->give = 0.0;
    if (iterations == FAILED) {
        perp_convex_copy(c, &c->saved, at);
    }
    return iterations;
}

bool perp_friction_proximal(perp_friction_workspace *f)
{
    static const double FIRST = 1.0, HARDEST = 1e4; /* give: forces and velocities are about 1 */
    static const double LONGER = 0.7, SHORTER = 3.0;
    static const double CLOSE = 0.03, HALF = 0.5;             /* errors from which Newton is tried */
    static const double PART_LEFT = 0.1, PART_OF_GIVE = 0.01; /* of the error before, of give: what a step may leave */
    enum { STEPS = 4000, QUICK = 3, WELL = 6 };
    const perp_friction_damping dampings[] = {{FRICTION_DAMPING_MOST, FRICTION_DAMPING, 20, 8, 0.0},
                                              {FRICTION_DAMPING_FAR, 0.3, 60, 20, 0.0}};
    perp_convex_iterate *at = &f->convex->at;
    double give = FIRST, polish_below = CLOSE;
    perp_friction_clear(f, at);
    for (int k = 0; k < STEPS && give < HARDEST && !perp_friction_must_stop(f); k++) {
        const double error = perp_friction_look(f, at);
        if (error < NEWTON_JUDGED && perp_friction_judge(f, at)) {
            return true;
        }
        if (error < polish_below) {
            polish_below = HALF * error;
            if (perp_friction_newton_from(f, at, dampings, 2)) {
                return true;
            }
        }
        if (!(error > GIVE_ROUNDING)) {
            return false;
        }
        const int iterations = step(f, at, give, fmax(fmin(PART_LEFT * error, PART_OF_GIVE * give), GIVE_ROUNDING));
        give *= iterations == FAILED  ? SHORTER
                : iterations <= QUICK ? LONGER * LONGER
                : iterations <= WELL  ? LONGER
                                      : 1.0;
        give = fmax(give, GIVE_LEAST);
    }
    return false;
}
