/* One contact with all others held, exactly.
 *
 * u = W r + q with W of the contact alone and cones scaled to L = {first >= norm of the rest}. It is open where q_N >=
 * 0; it sticks where -W^-1 q is in L; else it slides: u_N = 0, u_T = -s r_T with s > 0, |r_T| = r_N. With r_N
 * eliminated, B = W_TT - W_TN W_NT / W_NN and b = -(q_T - W_TN q_N / W_NN),
 *
 *     (B + s) r_T = b,   so r_T = (s b + a) / D,   a = adj(B) b,   D = s^2 + tr(B) s + det(B)
 *
 * and s is a root of h(s) = D W_NN (|r_T| - r_N) = W_NN |s b + a| + W_NT (s b + a) + q_N D: one equation in place of
 * the quartic that its square is, without the roots of the other sign. h(0) > 0 as it does not stick, q_N < 0, and |s b
 * + a|
 * <= s |b| + |a| gives a parabola above h whose root is right of one of h: a bracket. */
#include "solver/friction_core.h"

#include <assert.h>
#include <float.h>
#include <math.h>

/* h and its derivative. */
typedef struct slip_equation {
    double a[2], b[2];
    double normal[3]; /* W_NN, W_NT */
    double q, trace, det;
} slip_equation;

static double evaluate(const slip_equation *e, double s, double *slope)
{
    const double p0 = s * e->b[0] + e->a[0], p1 = s * e->b[1] + e->a[1];
    const double length = sqrt(p0 * p0 + p1 * p1);
    const double along = length > 0.0 ? (p0 * e->b[0] + p1 * e->b[1]) / length : 0.0;
    *slope = e->normal[0] * along + e->normal[1] * e->b[0] + e->normal[2] * e->b[1] + e->q * (2.0 * s + e->trace);
    return e->normal[0] * length + e->normal[1] * p0 + e->normal[2] * p1 + e->q * ((s + e->trace) * s + e->det);
}

/* Newton from the right end of the bracket, halved where that leaves it. Negative: there is no bracket. */
static double slip_rate(const slip_equation *e)
{
    enum { STEPS = 100 };
    const double lengths[2] = {sqrt(e->a[0] * e->a[0] + e->a[1] * e->a[1]),
                               sqrt(e->b[0] * e->b[0] + e->b[1] * e->b[1])};
    const double linear = e->normal[0] * lengths[1] + e->normal[1] * e->b[0] + e->normal[2] * e->b[1] + e->q * e->trace;
    const double constant = e->normal[0] * lengths[0] + e->normal[1] * e->a[0] + e->normal[2] * e->a[1] + e->q * e->det;
    if (!(constant > 0.0)) {
        return -1.0;
    }
    const double root = sqrt(linear * linear - 4.0 * e->q * constant);
    double low = 0.0, high = linear > 0.0 ? (linear + root) / (-2.0 * e->q) : 2.0 * constant / (root - linear);
    double s = high;
    for (int k = 0; k < STEPS; k++) {
        double slope;
        const double h = evaluate(e, s, &slope);
        low = h > 0.0 ? s : low;
        high = h > 0.0 ? high : s;
        double next = s - h / slope;
        if (!(next > low && next < high)) {
            next = h == 0.0 || high - low <= 4.0 * DBL_EPSILON * high ? s : low + 0.5 * (high - low);
        }
        if (fabs(next - s) <= 4.0 * DBL_EPSILON * s) {
            return next;
        }
        s = next;
    }
    return s;
}

static bool slide(const slip_equation *e, double *r)
{
    const double s = slip_rate(e), d = (s + e->trace) * s + e->det;
    if (!(s >= 0.0) || !(d > 0.0)) {
        return false;
    }
    r[1] = (s * e->b[0] + e->a[0]) / d;
    r[2] = (s * e->b[1] + e->a[1]) / d;
    r[0] = sqrt(r[1] * r[1] + r[2] * r[2]);
    return isfinite(r[0]);
}

static bool solve_space(const double *w, int stride, const double *q, double *r)
{
    const double *w0 = w, *w1 = w + stride, *w2 = w1 + stride;
    const double inverse = 1.0 / w0[0], f1 = w1[0] * inverse, f2 = w2[0] * inverse;
    const double b11 = w1[1] - f1 * w0[1], b12 = w1[2] - f1 * w0[2];
    const double b21 = w2[1] - f2 * w0[1], b22 = w2[2] - f2 * w0[2];
    slip_equation e = {.b = {f1 * q[0] - q[1], f2 * q[0] - q[2]}, .normal = {w0[0], w0[1], w0[2]}, .q = q[0]};
    e.a[0] = b22 * e.b[0] - b12 * e.b[1];
    e.a[1] = b11 * e.b[1] - b21 * e.b[0];
    e.trace = b11 + b22;
    e.det = b11 * b22 - b12 * b21;
    if (e.det > DBL_EPSILON * e.trace * e.trace) {
        r[1] = e.a[0] / e.det;
        r[2] = e.a[1] / e.det;
        r[0] = -(q[0] + w0[1] * r[1] + w0[2] * r[2]) * inverse;
        if (r[0] >= 0.0 && r[0] * r[0] >= r[1] * r[1] + r[2] * r[2]) {
            return true;
        }
    }
    return slide(&e, r);
}

static bool solve_plane(const double *w, int stride, const double *q, double *r)
{
    const double factor = w[stride] / w[0], b = factor * q[0] - q[1], stiffness = w[stride + 1] - factor * w[1];
    if (stiffness > 0.0) {
        r[1] = b / stiffness;
        r[0] = -(q[0] + w[1] * r[1]) / w[0];
        if (r[0] >= fabs(r[1])) {
            return true;
        }
    }
    r[1] = b * (-q[0] / (w[0] * fabs(b) + w[1] * b)); /* b / D */
    r[0] = fabs(r[1]);
    return -q[0] / (w[0] * fabs(b) + w[1] * b) > 0.0 && isfinite(r[0]);
}

bool perp_friction_one_contact(int rows, const double *w, int stride, const double *q, double *r)
{
    double found[3] = {0.0, 0.0, 0.0};
    bool known = q[0] >= 0.0;
    assert(rows >= 1 && rows <= 3);
    if (!known && w[0] > 0.0) {
        found[0] = -q[0] / w[0];
        known = rows == 1 || (rows == 2 ? solve_plane(w, stride, q, found) : solve_space(w, stride, q, found));
    }
    for (int i = 0; known && i < rows; i++) {
        r[i] = found[i];
    }
    return known;
}
