#include <perp/problem.h>

#include "problem/checks.h"
#include "problem/convex_check.h"
#include "problem/friction_law.h"
#include "problem/natural_map.h"

#include <limits.h>

perp_status perp_friction_check(const perp_friction *problem, perp_error *error)
{
    const perp_friction *p = problem;
    if (p->dim != 2 && p->dim != 3) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "dim is %d, not 2 or 3", p->dim);
    }
    perp_status status = perp_convex_check_count(p->contacts, "number of contacts", error);
    if (!status && p->contacts > INT_MAX / p->dim) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "%d contacts of %d rows are too many", p->contacts, p->dim);
    }
    const int size = status ? 0 : p->contacts * p->dim;
    status = status ? status : perp_convex_check_matrix(size, size, p->w, "W", error);
    status = status ? status : perp_convex_check_vector(size, p->q, "q", error);
    status = status ? status : perp_convex_check_vector(p->contacts, p->mu, "mu", error);
    for (int i = 0; !status && i < p->contacts; i++) {
        if (p->mu[i] < 0.0) {
            status = perp_fail(error, PERP_STATUS_BAD_INPUT, "entry %d of mu is %g, which is negative", i, p->mu[i]);
        }
    }
    return status;
}

void perp_friction_velocity(const perp_friction *problem, const double *r, double *u)
{
    const int size = problem->contacts * problem->dim;
    for (int i = 0; i < size; i++) {
        u[i] = perp_problem_row(size, problem->w, problem->q, r, i);
    }
}

/* 1 / rho */
static double contact_weight(const perp_friction *p, int contact)
{
    const ptrdiff_t size = (ptrdiff_t)p->contacts * p->dim, row = (ptrdiff_t)contact * p->dim;
    const double normal = p->w[row * size + row];
    return normal > 0.0 ? normal : 1.0;
}

/* u of a contact, and its scale: that of its largest row. */
static double contact_scale(const perp_friction *p, const double *r, int contact, double unit, double *u)
{
    const int size = p->contacts * p->dim;
    double scale = 0.0;
    for (int k = 0; k < p->dim; k++) {
        const double own = perp_problem_row_scale(size, p->w, p->q, r, contact * p->dim + k, unit, &u[k]);
        scale = perp_problem_worse(scale, own);
    }
    return scale;
}

/* The largest |q_i| of its rows. */
static double contact_constant(const perp_friction *p, int contact)
{
    double largest = 0.0;
    for (int k = 0; k < p->dim; k++) {
        largest = fmax(largest, fabs(p->q[(ptrdiff_t)contact * p->dim + k]));
    }
    return largest;
}

double perp_friction_residual_with(const perp_friction *problem, const double *r, double unit, double *near)
{
    double largest = 0.0;
    *near = 0.0;
    for (int i = 0; i < problem->contacts; i++) {
        double u[3];
        const double scale = contact_scale(problem, r, i, unit, u), weight = contact_weight(problem, i);
        const double law = perp_friction_law(problem->dim, problem->mu[i], weight, r + (ptrdiff_t)i * problem->dim, u);
        largest = perp_problem_worse(largest, perp_problem_over(law, scale));
        perp_problem_raise_near(law, contact_constant(problem, i), unit, near);
    }
    return largest;
}

double perp_friction_residual(const perp_friction *problem, const double *r)
{
    double near;
    return perp_friction_residual_with(problem, r, 1.0, &near);
}

const char *perp_friction_mode_name(perp_friction_mode mode)
{
    static const char *const names[PERP_FRICTION_MODE_COUNT] = {"open", "stick", "slide"};
    return names[mode];
}

void perp_friction_modes(const perp_friction *problem, const double *r, const double *u, double tolerance,
                         perp_friction_mode *modes)
{
    const int dim = problem->dim;
    for (int i = 0; i < problem->contacts; i++) {
        double unused[3];
        const double scale = contact_scale(problem, r, i, 1.0, unused);
        const double *force = r + (ptrdiff_t)i * dim, *velocity = u + (ptrdiff_t)i * dim;
        const double slip = hypot(velocity[1], dim > 2 ? velocity[2] : 0.0);
        modes[i] = velocity[0] >= contact_weight(problem, i) * force[0] ? PERP_FRICTION_OPEN
                   : slip > tolerance * scale                           ? PERP_FRICTION_SLIDE
                                                                        : PERP_FRICTION_STICK;
    }
}
