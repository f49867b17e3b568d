/* vector.h - sums over short vectors in plain order, for code that is not bound by their speed (dense_kernel.h is). */
#ifndef PERP_SRC_LINALG_VECTOR_H
#define PERP_SRC_LINALG_VECTOR_H

#include <math.h>

static inline double perp_vector_dot(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* The largest magnitude; 0 of nothing. */
static inline double perp_vector_largest(int n, const double *a)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(a[i]));
    }
    return most;
}

#endif
