/* exact_minor.h - the determinant of a principal submatrix of a matrix of doubles, without rounding.
 *
 * A double is an integer times a power of two, so each row becomes a row of integers by a power of two of its own,
 * which changes no sign. The integer determinant is computed modulo enough primes below 2^31 to exceed twice Hadamard's
 * bound prod |row|_2, and put together by Garner's algorithm in the mixed radix of these primes with digits in (-p/2,
 * p/2]. In that balanced form the sign of the number is the sign of its highest digit that is not zero, so no long
 * arithmetic is needed. Fraction-free elimination (Bareiss) was not taken: its intermediate products need twice the
 * bits of the result, which overflows 128 bits at n = 10 with entries of two digits.
 */
#ifndef PERP_SRC_SOLVER_EXACT_MINOR_H
#define PERP_SRC_SOLVER_EXACT_MINOR_H

#include "base/arena.h"

enum { PERP_EXACT_MINOR_PRIMES = 160 }; /* 30.9 bits each: about 4900 bits, 64 rows of plain doubles */

typedef enum perp_exact_sign {
    PERP_EXACT_NEGATIVE = -1,
    PERP_EXACT_ZERO = 0,
    PERP_EXACT_POSITIVE = 1,
    PERP_EXACT_TOO_WIDE = 2 /* the exponents of the rows spread over more bits than there are primes for */
} perp_exact_sign;

typedef struct perp_exact_minor {
    int prime_count; /* found so far */
    uint32_t *primes;
    uint32_t *residues; /* of the determinant, one for each prime */
    int64_t *digits;    /* mixed radix, balanced */
    uint32_t *matrix;   /* capacity x capacity, modulo the prime in use */
    int *row_exponent;  /* capacity */
    int64_t work;       /* multiplications so far, for the caller's budget */
} perp_exact_minor;

/* Scratch for submatrices of up to `capacity` rows. */
size_t perp_exact_minor_bytes(int capacity);
void perp_exact_minor_init(perp_exact_minor *minor, int capacity, perp_workspace *workspace);

/* The sign of det of the rows and columns `indices` (`count` of them, ascending) of the matrix `m`, whose rows are
 * `stride` apart and finite. `value` (may be NULL) receives the determinant, rounded; it may overflow or underflow. An
 * empty set has determinant 1. */
perp_exact_sign perp_exact_minor_sign(perp_exact_minor *minor, const double *m, int stride, const int *indices,
                                      int count, double *value);

/* The rank of rows x columns of `m`, finite, without rounding; computed modulo a prime, by which it may be too small,
 * though for no data that were not made for that. `scratch` has rows x columns. */
int perp_exact_rank(const double *m, int stride, int rows, int columns, uint32_t *scratch);

#endif
