/* Path search: the problem is linearised where it stands, Lemke's path leads to a solution of that, and the step goes
 * towards it as far as the merit allows. For a linear problem this is one step. */
#include "solver/mcp_newton.h"
#include "solver/tolerances.h"

#include <math.h>
#include <string.h>

/* The solution of the linearised problem with `shift` on its diagonal, in linear_z. Lemke's first method, and the
 * whole of its cascade as long as `cascades` lasts. */
static bool solve_linear(perp_newton_core *c, double shift, bool warm, int *cascades)
{
    perp_newton_linearise(c, shift);
    const perp_mcp linear = {c->n, c->linear_m, c->linear_q, c->lower, c->upper};
    perp_lcp_solution solution = {c->linear_z, c->linear_w, NULL, c->basis};
    perp_lcp_settings settings = perp_lcp_settings_default();
    settings.tolerance = LINEARISED;
    settings.cancel = c->settings->cancel;
    settings.method = perp_lcp_method_name(0);
    settings.warm_basis = warm ? c->basis : NULL;
    c->factorisations++;
    for (int k = 0; k < 2; k++) {
        perp_lcp_info info;
        if (perp_mcp_solve(&linear, &settings, c->lemke, &solution, &info, NULL) != PERP_STATUS_OK) {
            return false; /* the linearised problem overflows */
        }
        c->pivot_count += info.pivots;
        if (info.residual <= LINEARISED_WILL_DO) {
            return true;
        }
        if (info.outcome == PERP_OUTCOME_CANCELLED || info.outcome == PERP_OUTCOME_INFEASIBLE || *cascades == 0) {
            return false;
        }
        (*cascades)--;
        settings.method = NULL;
        settings.warm_basis = NULL;
    }
    return false;
}

/* With more and more on the diagonal where there is no path, or no step along it: the larger, the shorter the step. */
static double path_step(perp_newton_core *c, double reference, bool *warm, int *cascades)
{
    enum { HALVINGS = 8 };
    static const double shifts[] = {0.0, 1e-3, 1e-1, 1.0, 10.0}; /* of F' */
    const double size = perp_newton_jacobian_size(c);
    for (size_t k = 0; k < sizeof shifts / sizeof *shifts && !perp_newton_is_cancelled(c); k++) {
        const bool found = solve_linear(c, shifts[k] * size, *warm, cascades);
        *warm = found;
        if (!found) {
            continue;
        }
        for (int i = 0; i < c->n; i++) {
            c->step[i] = c->linear_z[i] - c->now.z[i];
        }
        const perp_newton_aim aim = {reference, c->now.merit, HALVINGS, false};
        const double length = perp_newton_search(c, c->step, &aim);
        if (length > 0.0) {
            return length;
        }
    }
    return 0.0;
}

perp_newton_end perp_newton_path_attempt(perp_newton_core *c, double tolerance, int max_iterations)
{
    enum { PATIENCE = 15, CASCADES = 2 };
    if (!c->lemke || !perp_newton_evaluate(c, &c->now) || !perp_newton_evaluate_jacobian(c, c->now.z)) {
        return PERP_NEWTON_UNDEFINED;
    }
    perp_newton_memory memory = {.count = 0};
    double least = c->now.merit;
    bool warm = false;
    int cascades = CASCADES;
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
        const double length = path_step(c, perp_newton_reference(&memory), &warm, &cascades);
        if ((length == 0.0 && !perp_newton_is_cancelled(c)) || since > PATIENCE) {
            return c->now.natural <= tolerance ? PERP_NEWTON_SOLVED : PERP_NEWTON_STALLED;
        }
        c->iterations++;
    }
}
