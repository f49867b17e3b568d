/* All solutions of 0 <= w = M z + q _|_ z >= 0, for small n.
 *
 * The solutions are the complementary faces of the polyhedron {z >= 0, w >= 0}: points, segments, and faces of higher
 * dimension with vertices and rays. lcp_search.h finds the maximal ones by branch and bound on dictionaries, which
 * looks at few of the 2^n complementary bases where few have a point; lcp_faces.h writes their corners.
 *
 * What can go wrong: the search meets its limits (on nodes, on faces, on corners of a face), or two numbers lie so near
 * to each other that double precision cannot tell a zero from a small entry. The first is CAPACITY or, as the second,
 * `complete` = false; what is listed has been judged by the residual in any case.
 */
#include "base/settings_size.h"
#include "problem/natural_map.h"
#include "solver/lcp_faces.h"

#include <string.h>

/* As the solvers have it: residuals are evaluated to this, relative to the scale of the problem. */
static const double FINEST_TOLERANCE = 1e-12;

perp_status perp_lcp_enumerate_begin(const perp_lcp_enumerate_settings *settings, perp_error *error)
{
    if (PERP_CHECK_SIZE(perp_lcp_enumerate_settings, settings, error) != PERP_STATUS_OK) {
        return PERP_STATUS_BAD_INPUT;
    }
    if (!(settings->tolerance > 0.0)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the tolerance %g is not positive", settings->tolerance);
    }
    if (settings->tolerance < FINEST_TOLERANCE) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the tolerance %g is below %g, to which residuals are evaluated",
                         settings->tolerance, FINEST_TOLERANCE);
    }
    return PERP_STATUS_OK;
}

static void same_point(const void *context, perp_lcp_variables zero, const double *z_lcp, bool ray, double *z)
{
    const perp_lcp *problem = context;
    (void)zero;
    (void)ray;
    memcpy(z, z_lcp, (size_t)problem->n * sizeof *z);
}

static double residual(const void *context, const double *z, double unit)
{
    return perp_lcp_residual_with(context, z, unit);
}

perp_status perp_lcp_enumerate(const perp_lcp *problem, const perp_lcp_enumerate_settings *settings,
                               const perp_allocator *allocator, perp_lcp_solution_set **set, perp_error *error)
{
    const perp_lcp_enumerate_settings defaults = perp_lcp_enumerate_settings_default();
    const perp_lcp_enumerate_settings *own = settings ? settings : &defaults;
    *set = NULL;
    perp_status status = perp_lcp_check(problem, error);
    status = status == PERP_STATUS_OK ? perp_lcp_enumerate_begin(own, error) : status;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const perp_lcp_image image = {
        .lcp = *problem, .n = problem->n, .map = same_point, .residual = residual, .context = problem};
    return perp_lcp_faces_enumerate(&image, own, allocator, set, error);
}
