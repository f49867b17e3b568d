/* Unit wrenches of contacts, along a direction. */
#include "analysis/wrench_cones.h"
#include "linalg/vector.h"

#include <math.h>

/* The point of D that is farthest along c. */
static void farthest(const wrench_cones *cones, int directions, const double *c, double *s)
{
    if (directions == 1) {
        s[0] = c[0] < 0.0 ? -1.0 : 1.0;
        return;
    }
    if (cones->corner_count == 0) {
        const double size = hypot(c[0], c[1]);
        s[0] = size > 0.0 ? c[0] / size : 1.0;
        s[1] = size > 0.0 ? c[1] / size : 0.0;
        return;
    }
    int best = 0;
    double most = -INFINITY;
    for (int j = 0; j < cones->corner_count; j++) {
        const double reach = cones->corners[j][0] * c[0] + cones->corners[j][1] * c[1];
        best = reach > most ? j : best;
        most = fmax(reach, most);
    }
    s[0] = cones->corners[best][0];
    s[1] = cones->corners[best][1];
}

double perp_wrench_support(const wrench_cones *cones, const double *y, double *w)
{
    const int n = cones->dimensions;
    double most = -INFINITY;
    for (int i = 0; i < cones->count; i++) {
        const wrench_cone *cone = &cones->cones[i];
        const int directions = cones->smooth || cone->mu <= 0.0 ? 0 : cone->directions;
        double c[2] = {0.0, 0.0}, s[2] = {0.0, 0.0}, reach = perp_vector_dot(n, y, cone->normal);
        for (int k = 0; k < directions; k++) {
            c[k] = perp_vector_dot(n, y, cone->tangent[k]);
        }
        if (directions > 0) {
            farthest(cones, directions, c, s);
            reach += cone->mu * (s[0] * c[0] + s[1] * c[1]);
        }
        if (reach > most) {
            most = reach;
            for (int j = 0; j < n; j++) {
                w[j] = cone->normal[j] + cone->mu * (s[0] * cone->tangent[0][j] + s[1] * cone->tangent[1][j]);
            }
        }
    }
    return most;
}

bool perp_wrench_is_polyhedral(const wrench_cones *cones)
{
    bool flat = true;
    for (int i = 0; i < cones->count; i++) {
        flat = flat && (cones->smooth || cones->corner_count > 0 || cones->cones[i].directions < 2 ||
                        cones->cones[i].mu <= 0.0);
    }
    return flat;
}
