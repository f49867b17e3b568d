/* Rows and second-order cones: scaling, projection, steps.
 *
 * For a cone with s and y inside, s_J = s_0^2 - |s_1|^2, s = sqrt(s_J) s^, y likewise, g = sqrt((1 + s^.y^) / 2):
 *
 *     w = (s^ + J y^) / (2 g),   eta^4 = s_J / y_J,   W^2 = eta^2 (2 w w' - J),   J = diag(1, -1, ..)
 *
 * is the one scaling with W y = W^-1 s = lambda (Nesterov and Todd). `weight` keeps J w, so that W^-2 = (2 (J w)(J w)'
 * - J) / eta^2. For a row it is y / s. */
#include "linalg/dense_kernel.h"
#include "solver/convex_core.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* out -= x y, entry by entry. */
static inline void subtract_products(int n, const double *x, const double *y, double *out)
{
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        *(perp_lanes *)(out + i) -= perp_lanes_load(x + i) * perp_lanes_load(y + i);
        *(perp_lanes *)(out + i + 2) -= perp_lanes_load(x + i + 2) * perp_lanes_load(y + i + 2);
    }
    for (; i < n; i++) {
        out[i] -= x[i] * y[i];
    }
}

/* Functions of one cone are inlined where they are called with a size that is known: nearly all cones have three rows,
 * and loops over three entries that the compiler sees through cost a third. Square roots and quotients are what they
 * wait for: each is taken once. */
#define INLINED static inline __attribute__((always_inline))

/* |x| for the tail of a vector of the cone. */
INLINED double tail(int size, const double *v)
{
    double sum = 0.0;
    for (int i = 1; i < size; i++) {
        sum += v[i] * v[i];
    }
    return sqrt(sum);
}

/* v_0^2 - |v_1|^2 without cancellation; a vector that rounding put on the border counts as just inside. */
INLINED double hyperbolic(int size, const double *v)
{
    const double t = tail(size, v);
    const double least = DBL_EPSILON * DBL_EPSILON * v[0], inside = v[0] - t;
    return (inside > least ? inside : least) * (v[0] + t);
}

INLINED void scale_cone(int size, perp_convex_workspace *c, int k, const double *s, const double *y)
{
    const double sj = hyperbolic(size, s), yj = hyperbolic(size, y);
    const double sr = sqrt(sj), yr = sqrt(yj);
    double dot = 0.0;
    for (int i = 0; i < size; i++) {
        dot += s[i] * y[i];
    }
    const double over_s = 1.0 / sr, over_y = 1.0 / yr;
    const double factor = 0.5 / sqrt((1.0 + dot * over_s * over_y) / 2.0);
    double *w = c->weight + c->cones[k].start;
    double sum = 0.0;
    for (int i = 1; i < size; i++) {
        w[i] = (y[i] * over_y - s[i] * over_s) * factor;
        sum += w[i] * w[i];
    }
    w[0] = sqrt(1.0 + sum); /* w_J = 1 exactly, whatever rounding made of it */
    c->cone_scale[k] = yr * over_s;
}

static void scaling_matrix(const perp_convex_workspace *c, const perp_convex_cone *cone, double *matrix)
{
    if (cone->size == 3) {
        const double *v = c->weight + cone->start, f = c->cone_scale[cone - c->cones], g = 2.0 * f;
        const double m10 = g * v[1] * v[0], m20 = g * v[2] * v[0], m21 = g * v[2] * v[1];
        const double all[9] = {g * v[0] * v[0] - f, m10, m20, m10, g * v[1] * v[1] + f, m21, m20, m21,
                               g * v[2] * v[2] + f};
        memcpy(matrix, all, sizeof all);
        return;
    }
    const double *w = c->weight + cone->start, scale = c->cone_scale[cone - c->cones];
    for (int i = 0; i < cone->size; i++) {
        for (int j = 0; j < cone->size; j++) {
            const double unit = i != j ? 0.0 : i == 0 ? 1.0 : -1.0;
            matrix[i * cone->size + j] = scale * (2.0 * w[i] * w[j] - unit);
        }
    }
}

void perp_convex_scale(perp_convex_workspace *c, const double *s, const double *y)
{
    for (int r = 0; r < c->range_count; r++) {
        c->kernel->divide(c->ranges[r].end - c->ranges[r].start, y + c->ranges[r].start, s + c->ranges[r].start,
                          c->weight + c->ranges[r].start);
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start, fours = c->cones[k].fours;
        if (fours > 0) {
            c->kernel->scale_cones(fours, s + start, y + start, c->weight + start, c->cone_scale + k);
            k += 4 * fours - 1;
        } else if (c->cones[k].size == 3) {
            scale_cone(3, c, k, s + start, y + start);
        } else {
            scale_cone(c->cones[k].size, c, k, s + start, y + start);
        }
    }
    perp_convex_make_omega(c, scaling_matrix);
}

static void spring_matrix(const perp_convex_workspace *c, const perp_convex_cone *cone, double *matrix)
{
    memset(matrix, 0, (size_t)cone->size * (size_t)cone->size * sizeof *matrix);
    for (int i = 0; i < cone->size; i++) {
        matrix[i * cone->size + i] = c->gamma[cone->start + i];
    }
}

void perp_convex_start_weights(perp_convex_workspace *c)
{
    memcpy(c->weight, c->gamma, (size_t)c->m * sizeof *c->weight);
    perp_convex_make_omega(c, spring_matrix);
}

/* omega = R' diag(w) R, rows x rows. */
static void weigh_rays(int slacks, int rows, const double *rays, const double *w, double *omega)
{
    if (!rays) {
        memset(omega, 0, (size_t)rows * (size_t)rows * sizeof *omega);
        for (int k = 0; k < rows; k++) {
            omega[k * rows + k] = w[k];
        }
        return;
    }
    memset(omega, 0, (size_t)rows * (size_t)rows * sizeof *omega);
    for (int k = 0; k < slacks; k++, rays += rows) {
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < rows; j++) {
                omega[i * rows + j] += w[k] * rays[i] * rays[j];
            }
        }
    }
}

/* R' D R for a diagonal R of three rows. */
static inline void weigh_friction(const double *rays, const double *d, double *omega)
{
    const double r[3] = {rays[0], rays[4], rays[8]};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            omega[3 * i + j] = r[i] * d[3 * i + j] * r[j];
        }
    }
}

/* omega = R' D R with a full D. */
static void weigh_cone(int slacks, int rows, const double *rays, const double *d, double *omega)
{
    if (!rays) {
        memcpy(omega, d, (size_t)rows * (size_t)rows * sizeof *omega);
        return;
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int k = 0; k < slacks; k++) {
                if (rays[k * rows + i] != 0.0) {
                    double inner = 0.0;
                    for (int l = 0; l < slacks; l++) {
                        inner += d[k * slacks + l] * rays[l * rows + j];
                    }
                    sum += rays[k * rows + i] * inner;
                }
            }
            omega[i * rows + j] = omega[j * rows + i] = sum;
        }
    }
}

/* How many contacts from `first` on have three rows, four rays and no cone: a pyramid of friction each. */
static int count_pyramids(const perp_convex_workspace *c, int first, int cone)
{
    const perp_contact_qp *p = c->problem;
    const int next_cone = cone < c->cone_count ? c->cones[cone].start : c->m;
    int i = first;
    while (p->rays && i < p->contact_count && p->row_start[i + 1] - p->row_start[i] == 3 &&
           p->slack_start[i + 1] - p->slack_start[i] == 4 && p->slack_start[i + 1] <= next_cone) {
        i++;
    }
    return i - first;
}

void perp_convex_make_omega(perp_convex_workspace *c, perp_cone_matrix cone_matrix)
{
    const perp_contact_qp *p = c->problem;
    const double *rays = p->rays;
    double *omega = c->omega;
    int cone = 0;
    for (int i = 0; i < p->contact_count;) {
        const int rows = p->row_start[i + 1] - p->row_start[i];
        const int start = p->slack_start[i], slacks = p->slack_start[i + 1] - start,
                  pyramids = count_pyramids(c, i, cone);
        if (pyramids > 0) {
            c->kkt.kernel->weigh_squares(pyramids, c->weight + start, c->squares + 9 * (ptrdiff_t)start, omega);
            omega += 9 * (ptrdiff_t)pyramids;
            rays += 12 * (ptrdiff_t)pyramids;
            i += pyramids;
            continue;
        }
        if (cone < c->cone_count && c->cones[cone].start == start && slacks > 0) {
            cone_matrix(c, &c->cones[cone], c->block);
            if (c->cones[cone++].friction && rays) {
                weigh_friction(rays, c->block, omega);
            } else {
                weigh_cone(slacks, rows, rays, c->block, omega);
            }
        } else {
            weigh_rays(slacks, rows, rays, c->weight + start, omega);
        }
        omega += (ptrdiff_t)rows * rows;
        rays = rays ? rays + (ptrdiff_t)slacks * rows : NULL;
        i++;
    }
}

INLINED void subtract_from_cone(int size, double scale, const double *w, const double *x, double *y)
{
    double dot = 0.0;
    for (int i = 0; i < size; i++) {
        dot += w[i] * x[i];
    }
    const double twice = 2.0 * scale * dot;
    y[0] -= twice * w[0] - scale * x[0];
    for (int i = 1; i < size; i++) {
        y[i] -= twice * w[i] + scale * x[i];
    }
}

static void subtract_from_cones(const perp_convex_workspace *c, const double *v, double *out)
{
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start, size = c->cones[k].size, fours = c->cones[k].fours;
        const double *w = c->weight + start;
        if (fours > 0) {
            c->kernel->subtract_cones(fours, w, c->cone_scale + k, v + start, out + start);
            k += 4 * fours - 1;
        } else if (size == 3) {
            subtract_from_cone(3, c->cone_scale[k], w, v + start, out + start);
        } else {
            subtract_from_cone(size, c->cone_scale[k], w, v + start, out + start);
        }
    }
}

void perp_convex_subtract_scaled(const perp_convex_workspace *c, const double *v, double *out)
{
    for (int r = 0; r < c->range_count; r++) {
        subtract_products(c->ranges[r].end - c->ranges[r].start, c->weight + c->ranges[r].start, v + c->ranges[r].start,
                          out + c->ranges[r].start);
    }
    subtract_from_cones(c, v, out);
}

void perp_convex_predict(perp_convex_workspace *c, const double *y, double *dy)
{
    for (int r = 0; r < c->range_count; r++) {
        const int start = c->ranges[r].start;
        c->kernel->predict(c->ranges[r].end - start, c->weight + start, c->rp + start, y + start, c->scaled + start,
                           dy + start);
    }
    for (int k = 0; k < c->cone_count; k++) {
        memset(c->scaled + c->cones[k].start, 0, (size_t)c->cones[k].size * sizeof *c->scaled);
    }
    subtract_from_cones(c, c->rp, c->scaled);
    for (int k = 0; k < c->cone_count; k++) {
        const int end = c->cones[k].start + c->cones[k].size;
        for (int i = c->cones[k].start; i < end; i++) {
            dy[i] = c->scaled[i] - y[i];
        }
    }
}

void perp_convex_follow(const perp_convex_workspace *c, double *ds, double *dy)
{
    for (int r = 0; r < c->range_count; r++) {
        const int start = c->ranges[r].start;
        c->kernel->follow(c->ranges[r].end - start, c->weight + start, c->rp + start, ds + start, dy + start);
    }
    subtract_from_cones(c, ds, dy);
    for (int k = 0; k < c->cone_count; k++) {
        const int end = c->cones[k].start + c->cones[k].size;
        for (int i = c->cones[k].start; i < end; i++) {
            ds[i] += c->rp[i];
        }
    }
}

/* What W and W^-1 of a cone have in common. */
typedef struct cone_root {
    const double *w;                 /* J w */
    double eta, over_eta, over_head; /* the last: 1 / (1 + w_0) */
} cone_root;

/* out = W v for sign +1, W^-1 v for -1: with u = w or J w, out = (u . v, v_1 + (v_0 + u_1 . v_1 / (1 + u_0)) u_1) times
 * eta or 1 / eta. */
INLINED void apply_root(int size, const cone_root *root, double sign, const double *v, double *out)
{
    const double *w = root->w, eta = sign > 0.0 ? root->eta : root->over_eta;
    double dot = 0.0;
    for (int i = 1; i < size; i++) {
        dot += -sign * w[i] * v[i];
    }
    const double factor = v[0] + dot * root->over_head, head = w[0] * v[0] + dot;
    for (int i = 1; i < size; i++) {
        out[i] = eta * (v[i] - sign * factor * w[i]);
    }
    out[0] = eta * head;
}

/* One cone of perp_convex_corrector. Scratch of three times its size. */
INLINED void correct_cone(int size, const perp_convex_workspace *c, int k, const double *y, double center,
                          const double *ds, const double *dy, double *out)
{
    const int start = c->cones[k].start;
    const double *w = c->weight + start, over_eta = sqrt(c->cone_scale[k]);
    const cone_root root = {w, 1.0 / over_eta, over_eta, 1.0 / (1.0 + w[0])};
    double few[9], *lambda = size == 3 ? few : c->block, *a = lambda + size, *b = a + size;
    apply_root(size, &root, 1.0, y + start, lambda);
    apply_root(size, &root, -1.0, ds + start, a);
    apply_root(size, &root, 1.0, dy + start, b);
    double head = 0.0, square = 0.0;
    for (int i = 0; i < size; i++) {
        head += a[i] * b[i];
        square += lambda[i] * lambda[i];
    }
    const double a0 = a[0], b0 = b[0];
    for (int i = 1; i < size; i++) {
        b[i] = -(2.0 * lambda[0] * lambda[i]) - (a0 * b[i] + b0 * a[i]);
    }
    b[0] = center - square - head;
    double cross = 0.0;
    for (int i = 1; i < size; i++) {
        cross += lambda[i] * b[i];
    }
    const double over_lambda = 1.0 / lambda[0];
    a[0] = (lambda[0] * b[0] - cross) / hyperbolic(size, lambda);
    for (int i = 1; i < size; i++) {
        a[i] = (b[i] - a[0] * lambda[i]) * over_lambda;
    }
    apply_root(size, &root, -1.0, a, out + start);
}

void perp_convex_corrector(const perp_convex_workspace *c, const double *s, const double *y, double center,
                           const double *ds, const double *dy, double *out)
{
    for (int r = 0; r < c->range_count; r++) {
        const int start = c->ranges[r].start;
        const double *const vectors[4] = {s + start, y + start, ds + start, dy + start};
        c->kernel->correct(c->ranges[r].end - start, center, vectors, out + start);
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start, fours = c->cones[k].fours;
        if (fours > 0) {
            const double *const vectors[3] = {y + start, ds + start, dy + start};
            c->kernel->correct_cones(fours, center, c->weight + start, c->cone_scale + k, vectors, out + start);
            k += 4 * fours - 1;
        } else if (c->cones[k].size == 3) {
            correct_cone(3, c, k, y, center, ds, dy, out);
        } else {
            correct_cone(c->cones[k].size, c, k, y, center, ds, dy, out);
        }
    }
}

/* The largest t <= most with v + t dv in the cone: the least positive root of a t^2 + 2 b t + c, with a, b, c the forms
 * of dv, of both, and of v. */
INLINED double step_in_cone(int size, const double *v, const double *dv, double most)
{
    double after[3], outside = 0.0;
    for (int i = 0; size == 3 && i < 3; i++) {
        after[i] = v[i] + most * dv[i];
    }
    if (size == 3) { /* most cones do not limit the step */
        outside = after[1] * after[1] + after[2] * after[2];
        if (after[0] > 0.0 && outside < after[0] * after[0]) {
            return most;
        }
    }
    double a = dv[0] * dv[0], b = v[0] * dv[0];
    for (int i = 1; i < size; i++) {
        a -= dv[i] * dv[i];
        b -= v[i] * dv[i];
    }
    const double c = hyperbolic(size, v);
    double t = most;
    const double inner = b * b - a * c;
    if (inner >= 0.0) {
        const double root = sqrt(inner);
        const double below = b >= 0.0 ? b + root : b - root; /* roots are c / -below and -below / a */
        const double r1 = below != 0.0 ? -c / below : -1.0, r2 = a != 0.0 ? -below / a : -1.0;
        if (r1 > 0.0 && r1 < t) {
            t = r1;
        }
        if (r2 > 0.0 && r2 < t) {
            t = r2;
        }
    }
    if (dv[0] < 0.0 && -v[0] / dv[0] < t) {
        t = -v[0] / dv[0];
    }
    return t;
}

double perp_convex_step_length(const perp_convex_workspace *c, const double *v, const double *dv)
{
    double t = 1.0;
    for (int r = 0; r < c->range_count; r++) {
        const int start = c->ranges[r].start;
        t = c->kernel->step(c->ranges[r].end - start, v + start, dv + start, t);
    }
    for (int k = 0, tried = 0; k < c->cone_count; k++) {
        const double *a = v + c->cones[k].start, *da = dv + c->cones[k].start;
        if (c->cones[k].fours > 0 && k >= tried) { /* most cones do not limit the step */
            const int inside = 4 * c->kernel->inside_cones(c->cones[k].fours, a, da, t);
            tried = k + inside + 4; /* of these four one does */
            if (inside > 0) {
                k += inside - 1;
                continue;
            }
        }
        t = c->cones[k].size == 3 ? step_in_cone(3, a, da, t) : step_in_cone(c->cones[k].size, a, da, t);
    }
    return t;
}

double perp_convex_shift(const perp_convex_workspace *c, const double *v, const double *unit)
{
    double shift = -DBL_MAX;
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            const double outside = -v[i] / unit[i];
            shift = outside > shift ? outside : shift;
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start;
        shift = fmax(shift, (tail(c->cones[k].size, v + start) - v[start]) / unit[start]);
    }
    return shift;
}

void perp_convex_raise(const perp_convex_workspace *c, double least, const double *unit, double *v)
{
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            v[i] = fmax(v[i], least * unit[i]);
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        double *cone = v + c->cones[k].start;
        cone[0] = fmax(cone[0], tail(c->cones[k].size, cone) + least * unit[c->cones[k].start]);
    }
}

double perp_convex_unit_sum(const perp_convex_workspace *c, const double *v, const double *unit)
{
    double sum = 0.0;
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            sum += v[i] / unit[i];
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        sum += v[c->cones[k].start] / unit[c->cones[k].start];
    }
    return sum;
}

void perp_convex_add_shift(const perp_convex_workspace *c, double t, const double *unit, double *v)
{
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            v[i] += t * unit[i];
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        v[c->cones[k].start] += t * unit[c->cones[k].start];
    }
}

void perp_cone_project(int size, const double *v, double *out)
{
    const double t = tail(size, v);
    if (v[0] >= t) {
        memmove(out, v, (size_t)size * sizeof *out);
        return;
    }
    if (v[0] <= -t) {
        memset(out, 0, (size_t)size * sizeof *out);
        return;
    }
    const double head = (v[0] + t) / 2.0, factor = head / t;
    for (int i = 1; i < size; i++) {
        out[i] = factor * v[i];
    }
    out[0] = head;
}

void perp_convex_make_diagonal(perp_convex_workspace *c, double rho, double delta)
{
    for (int i = 0; i < c->n; i++) {
        c->diagonal[i] = rho * c->stiffness[i];
    }
    for (int k = 0; k < c->bounds; k++) {
        c->diagonal[c->bound_dof[k]] += c->weight[c->contact_slacks + k];
    }
    for (int i = c->n; i < c->n + c->e; i++) {
        c->diagonal[i] = -delta / c->stiffness[i];
    }
}

void perp_convex_factor(perp_convex_workspace *c)
{
    perp_kkt_assemble(&c->kkt, c->problem, c->omega, c->diagonal);
    perp_kkt_factor(&c->kkt);
    c->factorisations++;
}
