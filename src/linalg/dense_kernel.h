/* dense_kernel.h - the inner loops of the dense factorisations.
 *
 * Sums run in pairs of lanes that are written out, not left to the optimiser: a compiler may not reorder a sum of
 * doubles, so a plain loop would not be vectorised, and one that relied on -O3 would be slow elsewhere. Written so, the
 * order of every sum is fixed and the bits are the same for gcc and clang, -O0 and -O3. Two lanes, because that is what
 * every x86-64, ARMv8 and WebAssembly machine has without further flags.
 */
#ifndef PERP_SRC_LINALG_DENSE_KERNEL_H
#define PERP_SRC_LINALG_DENSE_KERNEL_H

#include <perp/linalg.h>

#include <assert.h>
#include <math.h>

typedef double perp_lanes __attribute__((vector_size(16), aligned(8), may_alias));

/* Four lanes, for sums by entry only: where a machine has but two, the compiler makes two operations of one, and the
 * bits are the same. Not to be passed by value: how depends on the machine. */
typedef double perp_wide __attribute__((vector_size(32), aligned(8), may_alias));

static inline perp_lanes perp_lanes_load(const double *x)
{
    return *(const perp_lanes *)x;
}

static inline double *perp_row(double *a, int stride, int row)
{
    return a + (ptrdiff_t)row * stride;
}

static inline const double *perp_row_const(const double *a, int stride, int row)
{
    return a + (ptrdiff_t)row * stride;
}

static inline double perp_dense_dot(int n, const double *x, const double *y)
{
    perp_lanes s0 = {0.0, 0.0}, s1 = s0, s2 = s0, s3 = s0;
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        s0 += perp_lanes_load(x + i) * perp_lanes_load(y + i);
        s1 += perp_lanes_load(x + i + 2) * perp_lanes_load(y + i + 2);
        s2 += perp_lanes_load(x + i + 4) * perp_lanes_load(y + i + 4);
        s3 += perp_lanes_load(x + i + 6) * perp_lanes_load(y + i + 6);
    }
    for (; i + 2 <= n; i += 2) {
        s0 += perp_lanes_load(x + i) * perp_lanes_load(y + i);
    }
    s0 = (s0 + s1) + (s2 + s3);
    const double sum = s0[0] + s0[1];
    return i < n ? sum + x[i] * y[i] : sum;
}

/* y -= s x */
static inline void perp_dense_subtract(int n, double s, const double *x, double *y)
{
    const perp_lanes ss = {s, s};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        *(perp_lanes *)(y + i) -= ss * perp_lanes_load(x + i);
        *(perp_lanes *)(y + i + 2) -= ss * perp_lanes_load(x + i + 2);
    }
    for (; i < n; i++) {
        y[i] -= s * x[i];
    }
}

/* z = x - y */
static inline void perp_dense_difference(int n, const double *x, const double *y, double *z)
{
    int i = 0;
    for (; i + 2 <= n; i += 2) {
        *(perp_lanes *)(z + i) = perp_lanes_load(x + i) - perp_lanes_load(y + i);
    }
    if (i < n) {
        z[i] = x[i] - y[i];
    }
}

/* y -= s[0] x_0 + s[1] x_1 + s[2] x_2 + s[3] x_3, in this order; the x_k are rows `stride` apart. */
static inline void perp_dense_subtract_four(int n, const double *s, const double *x, int stride, double *y)
{
    const double *x0 = x, *x1 = perp_row_const(x, stride, 1), *x2 = perp_row_const(x, stride, 2),
                 *x3 = perp_row_const(x, stride, 3);
    const perp_lanes s0 = {s[0], s[0]}, s1 = {s[1], s[1]}, s2 = {s[2], s[2]}, s3 = {s[3], s[3]};
    int i = 0;
    for (; i + 2 <= n; i += 2) {
        perp_lanes t = perp_lanes_load(y + i);
        t -= s0 * perp_lanes_load(x0 + i);
        t -= s1 * perp_lanes_load(x1 + i);
        t -= s2 * perp_lanes_load(x2 + i);
        t -= s3 * perp_lanes_load(x3 + i);
        *(perp_lanes *)(y + i) = t;
    }
    if (i < n) {
        y[i] = (((y[i] - s[0] * x0[i]) - s[1] * x1[i]) - s[2] * x2[i]) - s[3] * x3[i];
    }
}

/* y /= s; division and not a product with 1 / s, which overflows for a subnormal s. */
static inline void perp_dense_divide(int n, double s, double *y)
{
    for (int i = 0; i < n; i++) {
        y[i] /= s;
    }
}

static inline void perp_dense_swap(int n, double *x, double *y)
{
    for (int i = 0; i < n; i++) {
        const double t = x[i];
        x[i] = y[i];
        y[i] = t;
    }
}

/* Whether no entry is NaN or Inf: 0 * x is 0 for every other x. */
static inline bool perp_dense_is_finite(int n, const double *x)
{
    perp_lanes s = {0.0, 0.0};
    const perp_lanes zero = s;
    int i = 0;
    for (; i + 2 <= n; i += 2) {
        s += zero * perp_lanes_load(x + i);
    }
    const double tail = i < n ? 0.0 * x[i] : 0.0;
    return s[0] + s[1] + tail == 0.0;
}

/* The largest |x_i|, 0 of none; NaN does not count. Four maxima that do not wait for each other. */
static inline double perp_dense_largest(ptrdiff_t n, const double *x)
{
    double most[4] = {0.0, 0.0, 0.0, 0.0};
    ptrdiff_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) {
            const double size = fabs(x[i + k]);
            most[k] = size > most[k] ? size : most[k];
        }
    }
    for (; i < n; i++) {
        most[0] = fabs(x[i]) > most[0] ? fabs(x[i]) : most[0];
    }
    const double low = most[1] > most[0] ? most[1] : most[0], high = most[3] > most[2] ? most[3] : most[2];
    return high > low ? high : low;
}

/* The first row of a rows x columns matrix that is not finite, or -1. */
static inline int perp_dense_first_bad_row(int rows, int columns, const double *a, int stride)
{
    for (int i = 0; columns > 0 && i < rows; i++) {
        if (!perp_dense_is_finite(columns, perp_row_const(a, stride, i))) {
            return i;
        }
    }
    return -1;
}

/* The same for a lower triangle. */
static inline int perp_dense_first_bad_lower_row(int n, const double *a, int stride)
{
    for (int i = 0; i < n; i++) {
        if (!perp_dense_is_finite(i + 1, perp_row_const(a, stride, i))) {
            return i;
        }
    }
    return -1;
}

static inline perp_status perp_dense_result(perp_status status, int row, int *failed_row)
{
    if (failed_row) {
        *failed_row = row;
    }
    return status;
}

#endif
