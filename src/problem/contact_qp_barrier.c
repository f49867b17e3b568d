/* The residual of a contact qp whose constraints are softened by a barrier. */
#include "problem/convex_residual.h"

#include <math.h>

/* |s o y - kappa e| of one contact over the product of the scales of s and y, +infinity where s is not inside. `size`
 * is that of the terms of s: of a cone, of its largest entry. */
static double off_centre(int count, bool cone, const double *s, double size, const double *y, double kappa)
{
    double worst = 0.0, tail = 0.0, dot = 0.0, own = 0.0;
    for (int k = 0; k < count; k++) {
        dot += s[k] * y[k];
        tail = k > 0 ? hypot(tail, s[k]) : tail;
        own = fmax(own, fabs(y[k]));
        if (!cone) {
            worst = s[k] > 0.0 ? fmax(worst, fabs(s[k] * y[k] - kappa)) : INFINITY;
        }
    }
    if (cone) {
        worst = s[0] > tail ? fabs(dot - kappa) : INFINITY;
        for (int k = 1; k < count; k++) {
            worst = fmax(worst, fabs(s[0] * y[k] + y[0] * s[k]));
        }
    }
    return worst / ((1.0 + size) * (1.0 + own));
}

/* A row of R times J x of contact i, and in *size the same of absolute values. */
static double slack_of(const perp_contact_qp *p, int i, const double *jacobian, const double *ray, const double *x,
                       double *size)
{
    const int start = p->dof_start[i], columns = p->dof_start[i + 1] - start;
    const int rows = p->row_start[i + 1] - p->row_start[i];
    double sum = 0.0;
    *size = 0.0;
    for (int r = 0; r < rows; r++) {
        double speed = 0.0, terms = 0.0;
        for (int k = 0; k < columns; k++) {
            const double term = jacobian[(ptrdiff_t)r * columns + k] * x[p->dofs[start + k]];
            speed += term;
            terms += fabs(term);
        }
        sum += ray[r] * speed;
        *size += fabs(ray[r]) * terms;
    }
    return sum;
}

static double contacts_off_centre(const perp_contact_qp *p, double kappa, const perp_convex_point *point)
{
    enum { LONGEST = 8 };
    const double *jacobian = p->jacobian, *ray = p->rays;
    double worst = 0.0;
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i], start = p->slack_start[i];
        const int count = p->slack_start[i + 1] - start;
        const bool cone = p->quadratic && p->quadratic[i];
        if ((cone && count > LONGEST) || (!p->rays && rows > LONGEST)) {
            return INFINITY; /* no residual is small that was not computed */
        }
        double s[LONGEST] = {0.0}, largest = 0.0;
        for (int k = 0; k < count; k++) {
            double unit[LONGEST] = {0.0}, size;
            if (!p->rays && k < LONGEST) {
                unit[k] = 1.0;
            }
            const double offset = p->offset[start + k];
            const double value = offset + slack_of(p, i, jacobian, p->rays ? ray : unit, point->x, &size);
            size += fabs(offset);
            largest = fmax(largest, size);
            ray = p->rays ? ray + rows : NULL;
            if (cone && k < LONGEST) {
                s[k] = value;
            } else {
                worst = fmax(worst, off_centre(1, false, &value, size, point->y + start + k, kappa));
            }
        }
        worst = cone ? fmax(worst, off_centre(count, true, s, largest, point->y + start, kappa)) : worst;
        jacobian += (ptrdiff_t)rows * (p->dof_start[i + 1] - p->dof_start[i]);
    }
    return worst;
}

static double bound_off_centre(double slack, double bound, double x, double y, double kappa)
{
    return isfinite(bound) ? off_centre(1, false, &slack, fabs(bound) + fabs(x), &y, kappa) : 0.0;
}

perp_convex_residual perp_contact_qp_barrier_residual(const perp_contact_qp *problem, double kappa,
                                                      const perp_convex_point *point)
{
    perp_convex_residual residual = perp_contact_qp_residual(problem, point);
    double worst = contacts_off_centre(problem, kappa, point);
    for (int i = 0; i < problem->n; i++) {
        const double x = point->x[i];
        if (problem->lower) {
            const double bound = problem->lower[i];
            worst = fmax(worst, bound_off_centre(x - bound, bound, x, point->y_lower[i], kappa));
        }
        if (problem->upper) {
            const double bound = problem->upper[i];
            worst = fmax(worst, bound_off_centre(bound - x, bound, x, point->y_upper[i], kappa));
        }
    }
    residual.complementarity = isfinite(residual.dual) ? worst : INFINITY;
    return residual;
}
