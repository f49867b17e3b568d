/* A disc is a slice of Coulomb's cone: a normal row of its own, u_n = a (r_n - radius), has r_n = radius wherever
 * r_n >= 0, u_n >= 0 and r_n u_n = 0, and then |x| <= radius is |r_t| <= mu r_n with mu = 1. Where the radius is 0 it
 * is mu that vanishes, since at the tip of the cone r_n and u_n would vanish together, which methods dislike. */
#include "problem/friction_qp.h"

#include <string.h>

void perp_friction_qp_as_friction(const perp_friction_qp *problem, double *w, double *q, double *mu,
                                  perp_friction *friction)
{
    const perp_friction_qp *p = problem;
    const int dim = p->dim, rows = dim + 1;
    const ptrdiff_t n = (ptrdiff_t)p->elements * dim, size = (ptrdiff_t)p->elements * rows;
    memset(w, 0, (size_t)size * (size_t)size * sizeof *w);
    for (int i = 0; i < p->elements; i++) {
        const double weight = perp_friction_qp_weight(p, i);
        const ptrdiff_t normal = (ptrdiff_t)i * rows;
        mu[i] = p->radius[i] > 0.0 ? 1.0 : 0.0;
        w[normal * (size + 1)] = weight;
        q[normal] = -weight * p->radius[i];
        for (int k = 0; k < dim; k++) {
            const ptrdiff_t row = (ptrdiff_t)i * dim + k;
            q[normal + 1 + k] = p->d[row];
            for (ptrdiff_t j = 0; j < n; j++) {
                w[(normal + 1 + k) * size + j / dim * rows + 1 + j % dim] = p->h[row * n + j];
            }
        }
    }
    *friction = (perp_friction){p->elements, rows, w, q, mu};
}
