/* The residual of a contact qp whose constraints are softened by a barrier. */
#include "problem/convex_residual.h"

#include <math.h>

/* |s o y - kappa e| of one contact, +infinity where s is not inside. */
static double off_centre(int size, bool cone, const double *s, const double *y, double kappa)
{
    double worst = 0.0, tail = 0.0, dot = 0.0;
    for (int k = 0; k < size; k++) {
        dot += s[k] * y[k];
        tail = k > 0 ? hypot(tail, s[k]) : tail;
        if (!cone) {
            worst = s[k] > 0.0 ? fmax(worst, fabs(s[k] * y[k] - kappa)) : INFINITY;
        }
    }
    if (!cone) {
        return worst;
    }
    worst = s[0] > tail ? fabs(dot - kappa) : INFINITY;
    for (int k = 1; k < size; k++) {
        worst = fmax(worst, fabs(s[0] * y[k] + y[0] * s[k]));
    }
    return worst;
}

/* The slacks of contact i, up to 3 for a cone; of rows one at a time, `slack` saying which. */
static double slack_of(const perp_contact_qp *p, int i, const double *jacobian, const double *ray, const double *x)
{
    const int start = p->dof_start[i], columns = p->dof_start[i + 1] - start;
    const int rows = p->row_start[i + 1] - p->row_start[i];
    double sum = 0.0;
    for (int r = 0; r < rows; r++) {
        double speed = 0.0;
        for (int k = 0; k < columns; k++) {
            speed += jacobian[(ptrdiff_t)r * columns + k] * x[p->dofs[start + k]];
        }
        sum += ray[r] * speed;
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
        const int size = p->slack_start[i + 1] - start;
        const bool cone = p->quadratic && p->quadratic[i];
        if ((cone && size > LONGEST) || (!p->rays && rows > LONGEST)) {
            return INFINITY; /* no residual is small that was not computed */
        }
        double s[LONGEST] = {0.0};
        for (int k = 0; k < size; k++) {
            double unit[LONGEST] = {0.0};
            if (!p->rays && k < LONGEST) {
                unit[k] = 1.0;
            }
            const double value = p->offset[start + k] + slack_of(p, i, jacobian, p->rays ? ray : unit, point->x);
            ray = p->rays ? ray + rows : NULL;
            if (cone && k < LONGEST) {
                s[k] = value;
            } else {
                worst = fmax(worst, off_centre(1, false, &value, point->y + start + k, kappa));
            }
        }
        worst = cone ? fmax(worst, off_centre(size, true, s, point->y + start, kappa)) : worst;
        jacobian += (ptrdiff_t)rows * (p->dof_start[i + 1] - p->dof_start[i]);
    }
    return worst;
}

perp_convex_residual perp_contact_qp_barrier_residual(const perp_contact_qp *problem, double kappa,
                                                      const perp_convex_point *point)
{
    perp_convex_residual residual = perp_contact_qp_residual(problem, point);
    double scale = 1.0, worst = contacts_off_centre(problem, kappa, point);
    for (int i = 0; i < problem->n; i++) {
        scale = fmax(scale, 1.0 + fabs(problem->g[i]));
        if (problem->lower && isfinite(problem->lower[i])) {
            const double s = point->x[i] - problem->lower[i];
            worst = fmax(worst, off_centre(1, false, &s, &point->y_lower[i], kappa));
        }
        if (problem->upper && isfinite(problem->upper[i])) {
            const double s = problem->upper[i] - point->x[i];
            worst = fmax(worst, off_centre(1, false, &s, &point->y_upper[i], kappa));
        }
    }
    residual.complementarity = isfinite(residual.dual) ? worst / scale : INFINITY;
    return residual;
}
