/* One contact that gives way, at a given velocity. */
#include "linalg/dense.h"
#include "solver/friction_soft.h"

#include "solver/friction_core.h"
#include "solver/tolerances.h"

#include <math.h>
#include <string.h>

/* Friction on the disc of radius mu r_n: p, cut to that length. */
static bool put_on_disc(int rows, const double a[2], double mu, const double p[2], double *r, double *omega)
{
    const double length = sqrt(p[0] * p[0] + p[1] * p[1]), most = mu * r[0], cut = length > most ? most / length : 1.0;
    for (int k = 1; k < rows; k++) {
        r[k] = cut * p[k - 1];
        omega[k * (rows + 1)] = cut * a[1];
    }
    if (cut == 1.0) {
        return false;
    }
    const double e[2] = {p[0] / length, p[1] / length};
    for (int k = 1; k < rows; k++) {
        omega[k * rows] = mu * a[0] * e[k - 1];
        omega[k * (rows + 1)] -= cut * a[1] * e[k - 1] * e[k - 1];
    }
    if (rows > 2) {
        omega[5] = omega[7] = -cut * a[1] * e[0] * e[1];
    }
    return true;
}

/* Where p, outside of `most` times the polygon, is nearest to it: the edge from corner j on, at `along` of its length
 * (0: the corner itself). */
static int nearest_edge(const perp_friction_polygon *polygon, double most, const double p[2], double *along)
{
    double least = INFINITY;
    int nearest = 0;
    for (int j = 0; j < polygon->count; j++) {
        const double *c = polygon->corner[j], *d = polygon->corner[(j + 1) % polygon->count];
        const double edge[2] = {d[0] - c[0], d[1] - c[1]}, off[2] = {p[0] - most * c[0], p[1] - most * c[1]};
        const double part = (edge[0] * off[0] + edge[1] * off[1]) / (edge[0] * edge[0] + edge[1] * edge[1]);
        const double at = fmax(0.0, part); /* `most` and beyond is the next edge's */
        const double x = off[0] - at * edge[0], y = off[1] - at * edge[1], distance = x * x + y * y;
        if (at < most && distance < least) {
            least = distance;
            nearest = j;
            *along = at;
        }
    }
    return nearest;
}

static bool is_inside(const perp_friction_polygon *polygon, double most, const double p[2])
{
    for (int j = 0; j < polygon->count; j++) {
        const double *c = polygon->corner[j], *d = polygon->corner[(j + 1) % polygon->count];
        if ((d[0] - c[0]) * (p[1] - most * c[1]) < (d[1] - c[1]) * (p[0] - most * c[0])) {
            return false;
        }
    }
    return true;
}

/* Friction on the polygon mu r_n D: its point that is nearest to p. */
static bool put_on_polygon(const perp_friction_polygon *polygon, const double a[2], double mu, const double p[2],
                           double *r, double *omega)
{
    const double most = mu * r[0];
    if (is_inside(polygon, most, p)) {
        r[1] = p[0];
        r[2] = p[1];
        omega[4] = omega[8] = a[1];
        return false;
    }
    double along = 0.0;
    const int j = nearest_edge(polygon, most, p, &along);
    const double *c = polygon->corner[j], *d = polygon->corner[(j + 1) % polygon->count];
    const double edge[2] = {d[0] - c[0], d[1] - c[1]}, square = edge[0] * edge[0] + edge[1] * edge[1];
    const double still = along > 0.0 ? (edge[0] * c[0] + edge[1] * c[1]) / square : 0.0; /* of c, what is not along */
    for (int k = 0; k < 2; k++) {
        r[1 + k] = most * c[k] + along * edge[k];
        omega[3 + 3 * k] = mu * a[0] * (c[k] - still * edge[k]);
        for (int i = 0; i < 2 && along > 0.0; i++) {
            omega[4 + 3 * k + i] = a[1] * edge[k] * edge[i] / square;
        }
    }
    return true;
}

bool perp_friction_soft_plain(int rows, const perp_friction_polygon *polygon, const double a[2], double mu,
                              const double *f, const double *s, double *r, double *omega)
{
    memset(omega, 0, (size_t)(rows * rows) * sizeof *omega);
    memset(r, 0, (size_t)rows * sizeof *r);
    const double normal = f[0] - a[0] * s[0];
    if (!(normal > 0.0)) {
        return false;
    }
    r[0] = normal;
    omega[0] = a[0];
    if (rows == 1 || mu < FRICTIONLESS) {
        return false;
    }
    const double p[2] = {f[1] - a[1] * s[1], rows > 2 ? f[2] - a[1] * s[2] : 0.0};
    return rows > 2 && polygon ? put_on_polygon(polygon, a, mu, p, r, omega) : put_on_disc(rows, a, mu, p, r, omega);
}

/* The columns of `b`, rows x rows, become those of a^-1 b; not numbers where a is singular. */
static void divide(int rows, const double *a, double *b)
{
    double factors[9], column[3];
    int pivots[3];
    memcpy(factors, a, (size_t)(rows * rows) * sizeof *a);
    const bool regular = perp_lu_factor(rows, factors, rows, pivots, NULL) == PERP_STATUS_OK;
    for (int k = 0; k < rows; k++) {
        for (int r = 0; r < rows; r++) {
            column[r] = b[r * rows + k];
        }
        if (regular) {
            perp_lu_solve(rows, factors, rows, pivots, column);
        }
        for (int r = 0; r < rows; r++) {
            b[r * rows + k] = regular ? column[r] : NAN;
        }
    }
}

/* Of a contact that slides, in the cone's own scale: (B + G W)^-1 G, as friction_core.h has them. */
static void weigh_sliding(int rows, const double *w, const double *q, const double *r, double *omega)
{
    double u[3], t[3] = {0.0}, argument[3], b[9], slip = 0.0;
    for (int k = 0; k < rows; k++) {
        u[k] = q[k];
        for (int j = 0; j < rows; j++) {
            u[k] += w[k * rows + j] * r[j];
        }
        slip = k > 0 ? hypot(slip, u[k]) : 0.0;
    }
    for (int k = 0; k < rows; k++) {
        t[k] = k > 0 && slip > 0.0 ? u[k] / slip : 0.0;
        argument[k] = r[k] - u[k] - (k == 0 ? slip : 0.0);
    }
    perp_friction_newton_blocks(rows, argument, t, 0.0, 0.0, b, omega);
    for (int k = 0; k < rows * rows; k++) {
        for (int j = 0; j < rows; j++) {
            b[k] += omega[k / rows * rows + j] * w[j * rows + k % rows];
        }
    }
    divide(rows, b, omega);
}

bool perp_friction_soft_coupled(int given, const double *a, double mu, const double *f, const double *s, double *r,
                                double *omega)
{
    const int rows = mu < FRICTIONLESS ? 1 : given;
    double inverse[9] = {0.0}, w[9], q[3] = {0.0}, own[3] = {0.0}, scale[3] = {0.0}, trace = 0.0;
    for (int k = 0; k < given * given; k++) {
        inverse[k] = k % (given + 1) == 0 ? 1.0 : 0.0;
        omega[k] = 0.0;
    }
    divide(given, a, inverse);
    for (int k = 0; k < rows; k++) {
        scale[k] = k == 0 && rows > 1 ? 1.0 / mu : 1.0;
        trace += scale[k] * scale[k] * inverse[k * given + k];
    }
    for (int k = 0; k < given; k++) {
        r[k] = 0.0;
        q[k] = s[k];
        for (int j = 0; j < given; j++) {
            q[k] -= inverse[k * given + j] * f[j];
        }
    }
    for (int k = 0; k < rows; k++) {
        scale[k] *= sqrt(rows / trace);
        q[k] *= scale[k];
    }
    for (int k = 0; k < rows * rows; k++) {
        w[k] = scale[k / rows] * inverse[k / rows * given + k % rows] * scale[k % rows];
    }
    if (!perp_friction_one_contact(rows, w, rows, q, own)) {
        own[0] = NAN; /* the merit says so */
    }
    for (int k = 0; k < rows; k++) {
        r[k] = scale[k] * own[k];
    }
    if (own[0] == 0.0) {
        return false;
    }
    double weights[9] = {rows == 1 ? 1.0 / w[0] : 0.0};
    if (rows > 1) {
        weigh_sliding(rows, w, q, own, weights);
    }
    for (int k = 0; k < rows * rows; k++) {
        omega[k / rows * given + k % rows] = scale[k / rows] * weights[k] * scale[k % rows];
    }
    return rows > 1;
}

void perp_friction_soft_yield(int rows, bool coupled, const double *a, const double *r, const double *f, double *d)
{
    double left[9] = {0.0};
    for (int k = 0; k < rows; k++) {
        left[k * rows] = coupled ? r[k] - f[k] : (r[k] - f[k]) / a[k * (rows + 1)];
    }
    if (coupled) {
        divide(rows, a, left);
    }
    for (int k = 0; k < rows; k++) {
        d[k] = left[k * rows];
    }
}
