/* Continuation in a smoothing: r = P_s(r - z), followed from a large s to nothing around its turning points.
 *
 * P projects on L by taking the positive part max(lambda, 0) of each eigenvalue; P_s takes (lambda + sqrt(lambda^2 + 4
 * s^2)) / 2 in its place, the larger root p of p (p - lambda) = s^2, so its solutions are those of a central path.
 * |u_T| is rounded by a tenth of s. For a large s there is one solution. From there they are a curve, which friction
 * bends: where s has to grow again before it can fall further an interior point stalls. So s is an unknown like the
 * others, and the length along the curve is what advances:
 *
 *     predictor   a step h along the tangent
 *     corrector   Newton, orthogonal to the tangent
 *
 * Both come from one factorisation of the derivative J by the other unknowns. Which way is onwards is said by the sign
 * of det J: log s falls where that is as at the start, and grows where it is not. Lengths are measured by the change of
 * the argument r - z of every contact beside its smallest eigenvalue or 2 s, and that of log s. Semismooth Newton is
 * tried from copies on the way. */
#include "linalg/dense_kernel.h"
#include "solver/friction_core.h"
#include "solver/tolerances.h"

#include <math.h>
#include <string.h>

/* ---- the smoothed projection ------------------------------------------------------------------------------------ */

double perp_friction_smooth_value(double lambda, double smooth)
{
    const double root = hypot(lambda, 2.0 * smooth);
    return lambda > 0.0 ? 0.5 * (lambda + root) : 2.0 * smooth * smooth / (root - lambda);
}

void perp_friction_smooth_derivative(double lambda, double smooth, double *derivative, double *rest)
{
    const double root = hypot(lambda, 2.0 * smooth), less = 2.0 * smooth * smooth / (root * (root + fabs(lambda)));
    *derivative = lambda > 0.0 ? 1.0 - less : less;
    *rest = lambda > 0.0 ? less : 1.0 - less;
}

static double tail_length(int size, const double *a)
{
    double sum = 0.0;
    for (int i = 1; i < size; i++) {
        sum += a[i] * a[i];
    }
    return sqrt(sum);
}

void perp_friction_smooth_project(int size, double smooth, const double *a, double *projected)
{
    const double length = tail_length(size, a);
    const double far = perp_friction_smooth_value(a[0] + length, smooth);
    const double near = perp_friction_smooth_value(a[0] - length, smooth);
    projected[0] = 0.5 * (far + near);
    for (int i = 1; i < size; i++) {
        projected[i] = length > 0.0 ? 0.5 * (far - near) * a[i] / length : 0.0;
    }
}

/* Of an eigenvalue: d p / d log s, less p' times how fast z grows. */
static double parameter_value(double lambda, double smooth, double growth)
{
    double derivative = 0.0, rest = 0.0;
    perp_friction_smooth_derivative(lambda, smooth, &derivative, &rest);
    return 2.0 * smooth * smooth / hypot(lambda, 2.0 * smooth) - derivative * growth;
}

/* dF / d log s of a cone, of which the first entry of z grows by `growth`. */
static void differentiate_cone(int size, double s, const double *a, double growth, double *out)
{
    const double length = tail_length(size, a);
    const double first = parameter_value(a[0] + length, s, growth);
    const double second = parameter_value(a[0] - length, s, growth);
    out[0] = -0.5 * (first + second);
    for (int i = 1; i < size; i++) {
        out[i] = length > 0.0 ? -0.5 * (first - second) * (a[i] / length) : 0.0;
    }
}

/* d / d log s of F and of the balance, in place of them. */
static void differentiate_parameter(perp_friction_workspace *f)
{
    perp_convex_workspace *c = f->convex;
    const double s = f->smooth;
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            f->natural[i] = -parameter_value(f->argument[i], s, 0.0);
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start, size = c->cones[k].size;
        const double round = PERP_FRICTION_ROUNDING * s;
        const double growth = round * round / hypot(tail_length(size, f->u + start), round);
        differentiate_cone(size, s, f->argument + start, growth, f->natural + start);
    }
    memset(c->rd, 0, (size_t)c->n * sizeof(double));
    memset(c->rc, 0, (size_t)c->e * sizeof(double));
}

/* ---- lengths along the curve ------------------------------------------------------------------------------------ */

/* Where on the curve; points and directions of the other unknowns are in convex: `at`, the point; `trial`, one being
 * corrected; `saved`, the tangent; in `solved`, Newton's direction; in `step`, `dy`: the direction of log s. */
typedef struct curve {
    double *weight, *tangent, *newton, *parameter; /* slack vectors: of lengths; changes of the argument */
    double log_smooth, tangent_log;
    double length; /* of the next step */
    int sign;      /* of det J at the start */
} curve;

static void weigh(const perp_friction_workspace *f, double *weight)
{
    static const double PART = 0.03; /* a contact's share beside log s */
    const perp_convex_workspace *c = f->convex;
    const double least = 4.0 * f->smooth * f->smooth;
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            weight[i] = PART / (f->argument[i] * f->argument[i] + least);
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start, size = c->cones[k].size;
        const double *a = f->argument + start, low = fabs(a[0]) - tail_length(size, a);
        for (int i = start; i < start + size; i++) {
            weight[i] = PART / (low * low + least);
        }
    }
}

static double inner(int m, const double *weight, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < m; i++) {
        sum += weight[i] * a[i] * b[i];
    }
    return sum;
}

/* Of the argument r - z, for dy and du. */
static void change_argument(const perp_friction_workspace *f, double *out)
{
    const perp_convex_workspace *c = f->convex;
    for (int i = 0; i < c->m; i++) {
        out[i] = c->dy[i] - f->du[i];
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start;
        for (int i = 1; i < c->cones[k].size; i++) {
            out[start] -= f->t[start + i] * f->du[start + i];
        }
    }
}

static int determinant_sign(const perp_friction_workspace *f)
{
    const perp_convex_workspace *c = f->convex;
    if (!f->local) {
        return f->symmetric ? (c->e % 2 == 0 ? 1 : -1) : perp_kkt_lu_sign(&f->lu);
    }
    int negative = 0;
    for (int k = 0; k < c->m; k++) {
        negative += (f->matrix[(ptrdiff_t)k * c->m + k] < 0.0) + (f->pivots[k] != k);
    }
    return negative % 2 == 0 ? 1 : -1;
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

/* The direction in dy and step, times `factor`. */
static void keep_direction(const perp_friction_workspace *f, double factor, perp_convex_iterate *to)
{
    const perp_convex_workspace *c = f->convex;
    for (int i = 0; i < c->m; i++) {
        to->y[i] = factor * c->dy[i];
    }
    for (int i = 0; !f->local && i < c->n; i++) {
        to->x[i] = factor * c->step[i];
    }
    for (int i = 0; !f->local && i < c->e; i++) {
        to->z[i] = -factor * c->step[c->n + i];
    }
}

static void move(const perp_friction_workspace *f, const perp_convex_iterate *along, double t, perp_convex_iterate *at)
{
    const perp_convex_workspace *c = f->convex;
    perp_dense_subtract(c->m, -t, along->y, at->y);
    if (!f->local) {
        perp_dense_subtract(c->n, -t, along->x, at->x);
        perp_dense_subtract(c->e, -t, along->z, at->z);
    }
}

/* Both directions, after perp_friction_look. */
static bool find_directions(perp_friction_workspace *f, const curve *p)
{
    if (!perp_friction_newton_factor(f, FRICTION_DAMPING_LEAST) ||
        !perp_friction_newton_solve(f, FRICTION_DAMPING_LEAST)) {
        return false;
    }
    keep_direction(f, 1.0, &f->solved);
    change_argument(f, p->newton);
    differentiate_parameter(f);
    if (!perp_friction_newton_solve(f, FRICTION_DAMPING_LEAST)) {
        return false;
    }
    change_argument(f, p->parameter);
    return true;
}

/* The tangent at `at`, of length 1. */
static bool find_tangent(perp_friction_workspace *f, curve *p)
{
    perp_convex_workspace *c = f->convex;
    f->smooth = exp(p->log_smooth);
    perp_friction_look(f, &c->at);
    weigh(f, p->weight);
    if (!find_directions(f, p)) {
        return false;
    }
    const int sign = determinant_sign(f);
    p->sign = p->sign == 0 ? sign : p->sign;
    const double size = sqrt(1.0 + inner(c->m, p->weight, p->parameter, p->parameter));
    p->tangent_log = (sign == p->sign ? -1.0 : 1.0) / size;
    keep_direction(f, p->tangent_log, &c->saved);
    for (int i = 0; i < c->m; i++) {
        p->tangent[i] = p->tangent_log * p->parameter[i];
    }
    return size < INFINITY;
}

static const double NEAR = 0.02; /* of s: an error that counts as on the curve */

/* From `trial` back to the curve; the number of corrections, or -1. */
static int correct(perp_friction_workspace *f, const curve *p, double *log_smooth)
{
    enum { CORRECTIONS = 4 };
    static const double CONTRACTS = 0.7, FAR = 1.0;
    perp_convex_workspace *c = f->convex;
    double last = INFINITY;
    for (int k = 0;; k++) {
        f->smooth = exp(*log_smooth);
        const double error = perp_friction_look(f, &c->trial);
        if (error < NEAR * f->smooth) {
            return k;
        }
        if (k == CORRECTIONS || (k > 1 && !(error < CONTRACTS * last)) || !(error < INFINITY) ||
            perp_friction_must_stop(f) || !find_directions(f, p)) {
            return -1;
        }
        last = error;
        f->iterations++;
        const double change = -inner(c->m, p->weight, p->tangent, p->newton) /
                              (p->tangent_log + inner(c->m, p->weight, p->tangent, p->parameter));
        if (!(fabs(change) < FAR)) {
            return -1;
        }
        move(f, &f->solved, 1.0, &c->trial);
        keep_direction(f, change, &f->solved);
        move(f, &f->solved, 1.0, &c->trial);
        *log_smooth += change;
    }
}

/* One step along the curve, shortened until it can be corrected. */
static bool advance(perp_friction_workspace *f, curve *p)
{
    static const double LESS = 0.4, MOST = 1.5;
    perp_convex_workspace *c = f->convex;
    if (!find_tangent(f, p)) {
        return false;
    }
    p->length = fmin(p->length, MOST / fabs(p->tangent_log));
    for (; p->length > SMOOTH_SHORTEST && !perp_friction_must_stop(f); p->length *= LESS) {
        double log_smooth = p->log_smooth + p->length * p->tangent_log;
        perp_convex_copy(c, &c->at, &c->trial);
        move(f, &c->saved, p->length, &c->trial);
        const int corrections = correct(f, p, &log_smooth);
        if (corrections >= 0) {
            perp_convex_copy(c, &c->trial, &c->at);
            p->log_smooth = log_smooth;
            p->length *= corrections <= 1 ? 2.0 : corrections == 2 ? 1.3 : 0.8;
            return true;
        }
    }
    return false;
}

/* The point of the curve for a large s. */
static bool start(perp_friction_workspace *f, const curve *p)
{
    enum { ITERATIONS = 40 };
    const double smooth = exp(p->log_smooth);
    perp_convex_workspace *c = f->convex;
    perp_friction_memory memory = {.count = 0};
    perp_friction_clear(f, &c->at);
    perp_friction_fill_heads(c, smooth, c->at.y);
    f->smooth = smooth;
    for (int k = 0; k < ITERATIONS && !perp_friction_must_stop(f); k++) {
        if (perp_friction_look(f, &c->at) < NEAR * smooth) {
            return true;
        }
        f->iterations++;
        if (!perp_friction_newton_step(f, &c->at, FRICTION_DAMPING_LEAST, &memory)) {
            return false;
        }
    }
    return false;
}

bool perp_friction_smooth(perp_friction_workspace *f)
{
    enum { POLISH = 10 };
    static const double FIRST = 10.0, CLOSE = 0.03, LENGTH = 0.3;
    perp_convex_workspace *c = f->convex;
    curve p = {.weight = f->along,
               .newton = f->along + c->m,
               .parameter = f->along + (ptrdiff_t)2 * c->m,
               .tangent = f->along + (ptrdiff_t)3 * c->m,
               .log_smooth = log(FIRST),
               .length = LENGTH};
    double polish_below = CLOSE;
    bool solved = false, goes_on = start(f, &p);
    while (!solved && goes_on && !perp_friction_must_stop(f)) {
        goes_on = advance(f, &p) && p.log_smooth < log(FIRST) + 1.0 && p.log_smooth > log(SMOOTH_LAST);
        const double smooth = exp(p.log_smooth);
        f->smooth = 0.0;
        if (smooth < polish_below) {
            polish_below = 0.2 * smooth;
            perp_convex_copy(c, &c->at, &c->kept);
            solved = perp_friction_newton(f, &c->kept, POLISH);
        }
    }
    f->smooth = 0.0;
    return solved;
}
