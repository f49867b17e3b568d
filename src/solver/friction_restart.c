/* Newton from many points: the last resort, and for a few contacts a good one. Points are drawn from the same numbers
 * on every run. */
#include "solver/friction_core.h"

#include <math.h>
#include <string.h>

double perp_friction_draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*state >> 11) / 4503599627370496.0 - 1.0;
}

/* Velocities and forces of all sizes from 10^-1 to 10 in their units, a contact open, sticking or sliding. */
static void scatter(perp_friction_workspace *f, uint64_t *state)
{
    perp_convex_workspace *c = f->convex;
    const double speed = pow(10.0, perp_friction_draw(state)), size = pow(10.0, perp_friction_draw(state));
    for (int j = 0; j < c->n; j++) {
        c->at.x[j] = speed * perp_friction_draw(state);
    }
    for (int i = 0; i < c->e; i++) {
        c->at.z[i] = size * perp_friction_draw(state);
    }
    for (int i = 0; i < c->m; i++) {
        c->at.y[i] = size * fmax(perp_friction_draw(state), 0.0);
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start;
        const double mode = perp_friction_draw(state);
        c->at.y[start] = mode > 0.33 ? 0.0 : size * (1.0 + perp_friction_draw(state));
        for (int i = 1; i < c->cones[k].size; i++) {
            c->at.y[start + i] =
                mode > -0.33 ? size * perp_friction_draw(state) : 0.2 * size * perp_friction_draw(state);
        }
        perp_cone_project(c->cones[k].size, c->at.y + start, c->at.y + start);
    }
}

bool perp_friction_restart(perp_friction_workspace *f, int starts)
{
    enum { ITERATIONS = 25 };
    uint64_t state = 0x9E3779B97F4A7C15u;
    for (int k = 0; k < starts && !perp_friction_must_stop(f); k++) {
        scatter(f, &state);
        if (perp_friction_newton(f, &f->convex->at, ITERATIONS)) {
            return true;
        }
    }
    return false;
}
