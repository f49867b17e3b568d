/* Steps of the Newton method: the search along a direction, the crash phase, and one attempt from a start. */
#include "solver/mcp_newton.h"
#include "solver/tolerances.h"

#include "linalg/vector.h"

#include <math.h>
#include <string.h>

void perp_newton_remember(perp_newton_memory *memory, double merit)
{
    memory->merits[memory->count++ % PERP_NEWTON_MEMORY] = merit;
}

double perp_newton_reference(const perp_newton_memory *memory)
{
    double largest = 0.0;
    for (int k = 0; k < memory->count && k < PERP_NEWTON_MEMORY; k++) {
        largest = fmax(largest, memory->merits[k]);
    }
    return largest;
}

double perp_newton_search(perp_newton_core *c, const double *direction, const perp_newton_aim *aim)
{
    double length = 1.0;
    bool spoilt = false;
    for (int k = 0; k <= aim->halvings && !perp_newton_is_cancelled(c); k++, length *= 0.5) {
        for (int i = 0; i < c->n; i++) {
            c->trial.z[i] = perp_newton_clamp(c, i, c->now.z[i] + length * direction[i]);
        }
        if (!perp_newton_evaluate(c, &c->trial)) {
            continue;
        }
        const double merit = aim->natural ? perp_newton_natural_merit(c, &c->trial) : c->trial.merit;
        if (merit <= aim->reference - SUFFICIENT * length * aim->slope) {
            if (perp_newton_evaluate_jacobian(c, c->trial.z)) {
                perp_newton_swap(&c->now, &c->trial);
                return length;
            }
            spoilt = true;
        }
    }
    if (spoilt) {
        perp_newton_evaluate_jacobian(c, c->now.z);
    }
    return 0.0;
}

/* ---- crash phase ------------------------------------------------------------------------------------------------- */

/* Projected Newton steps on the set of variables that no bound holds: the others go to their bounds. Many variables
 * change sides in one step, where Fischer-Burmeister steps move them over in several. Ends, without harm, where a step
 * does not exist or does not help. */
static void crash(perp_newton_core *c, double tolerance)
{
    enum { STEPS = 40, HALVINGS = 3 };
    double before = 0.0;
    for (int k = 0; k < STEPS && c->now.natural > tolerance && !perp_newton_is_cancelled(c); k++) {
        const double merit = perp_newton_natural_merit(c, &c->now);
        const perp_newton_aim aim = {fmax(merit, before), merit, HALVINGS, true};
        perp_newton_natural_slopes(c, c->step);
        if (!perp_newton_factor(c, 0.0)) {
            return;
        }
        for (int i = 0; i < c->n; i++) {
            c->step[i] = -c->step[i];
        }
        if (!perp_newton_solve(c, c->step) || perp_newton_search(c, c->step, &aim) == 0.0) {
            return;
        }
        before = merit;
        c->iterations++;
    }
}

/* ---- Fischer-Burmeister steps ------------------------------------------------------------------------------------ */

/* step = -(matrix)^-1 equation; false if there is none along which the merit falls. */
static bool newton_direction(perp_newton_core *c, double shift)
{
    if (!perp_newton_factor(c, shift)) {
        return false;
    }
    for (int i = 0; i < c->n; i++) {
        c->step[i] = -c->now.equation[i];
    }
    if (!perp_newton_solve(c, c->step)) {
        return false;
    }
    const double slope = perp_vector_dot(c->n, c->gradient, c->step), square = perp_vector_dot(c->n, c->step, c->step);
    return slope <= -DESCENT * square && isfinite(square);
}

/* The proximal perturbation of the matrix: none while steps are good, more where the matrix is singular or the step is
 * poor, less again after good ones. */
static double newton_step(perp_newton_core *c, double *shift, double reference)
{
    enum { TRIES = 5, HALVINGS = 12 };
    static const double POOR = 0.05;
    const double size = perp_newton_jacobian_size(c);
    for (int k = 0; k < TRIES && !perp_newton_is_cancelled(c); k++) {
        if (newton_direction(c, *shift)) {
            const perp_newton_aim aim = {reference, -perp_vector_dot(c->n, c->gradient, c->step), HALVINGS, false};
            const double length = perp_newton_search(c, c->step, &aim);
            if (length > 0.0) {
                *shift = length < POOR ? fmax(10.0 * *shift, SHIFT_SHORT * size) : 0.1 * *shift;
                *shift = *shift < SHIFT_LEAST * size ? 0.0 : *shift;
                return length;
            }
        }
        *shift = fmax(100.0 * *shift, SHIFT_TRY * size);
    }
    *shift = SHIFT_FAILED * size;
    return 0.0;
}

/* Down the merit's gradient, from the length at which a linear equation would be solved. Monotone. */
static double gradient_step(perp_newton_core *c)
{
    enum { HALVINGS = 40 };
    const double square = perp_vector_dot(c->n, c->gradient, c->gradient);
    if (!(square > 0.0 && square < INFINITY)) {
        return 0.0;
    }
    const double length = fmin(2.0 * c->now.merit / square, 1e10);
    for (int i = 0; i < c->n; i++) {
        c->step[i] = -length * c->gradient[i];
    }
    const perp_newton_aim aim = {c->now.merit * (1.0 - MERIT_FALL), 0.0, HALVINGS, false};
    return perp_newton_search(c, c->step, &aim);
}

bool perp_newton_is_spent(const perp_newton_core *c)
{
    return c->factorisations >= c->allowance;
}

perp_newton_end perp_newton_attempt(perp_newton_core *c, double tolerance, int max_iterations)
{
    const int patience = c->lemke ? 10 : 20; /* iterations without half the merit: elsewhere is better */
    if (!perp_newton_evaluate(c, &c->now) || !perp_newton_evaluate_jacobian(c, c->now.z)) {
        return PERP_NEWTON_UNDEFINED;
    }
    if (c->crash) {
        crash(c, tolerance);
    }
    perp_newton_memory memory = {.count = 0};
    double shift = 0.0, least = c->now.merit;
    for (int k = 0, since = 0;; k++, since++) {
        if (c->now.natural <= tolerance) {
            return PERP_NEWTON_SOLVED;
        }
        if (perp_newton_is_cancelled(c)) {
            return PERP_NEWTON_CANCELLED;
        }
        if (k == max_iterations || perp_newton_is_spent(c)) {
            return PERP_NEWTON_LIMIT;
        }
        if (c->now.merit <= 0.5 * least) {
            least = c->now.merit;
            since = 0;
        }
        perp_newton_remember(&memory, c->now.merit);
        perp_newton_slopes(c);
        perp_newton_gradient(c);
        double length = newton_step(c, &shift, perp_newton_reference(&memory));
        if (length == 0.0 && !perp_newton_is_cancelled(c)) {
            length = gradient_step(c);
            memory.count = 0;
        }
        if ((length == 0.0 && !perp_newton_is_cancelled(c)) || since > patience) {
            return c->now.natural <= tolerance ? PERP_NEWTON_SOLVED : PERP_NEWTON_STALLED;
        }
        c->iterations++;
    }
}
