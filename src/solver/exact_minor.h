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

/* Scratch for submatrices of up to `capacity` rows. False without memory. */
bool perp_exact_minor_init(perp_exact_minor *minor, int capacity, perp_arena *arena);

/* The sign of det of the rows and columns `indices` (`count` of them, ascending) of the matrix `m`, whose rows are
 * `stride` apart and finite. `value` (may be NULL) receives the determinant, rounded; it may overflow or underflow. An
 * empty set has determinant 1. */
perp_exact_sign perp_exact_minor_sign(perp_exact_minor *minor, const double *m, int stride, const int *indices,
                                      int count, double *value);

/* A number modulo 2^31 - 1, where powers of two are turns of 31 bits. Sums, products and quotients of residues are the
 * residues of what exact arithmetic gives, so that a residue other than 0 proves that a number is not 0. One of 0
 * proves nothing, but no data that were not made for it meet it by chance. */
enum { PERP_EXACT_PRIME = 2147483647 };

uint32_t perp_exact_residue(double x);
/* 1 / a; 0 of 0. */
uint32_t perp_exact_inverse(uint32_t a);

static inline uint32_t perp_exact_negative(uint32_t a)
{
    return a ? (uint32_t)PERP_EXACT_PRIME - a : 0;
}

/* sum + a b */
static inline uint32_t perp_exact_add_product(uint32_t sum, uint32_t a, uint32_t b)
{
    return (uint32_t)((sum + (uint64_t)a * b) % (uint32_t)PERP_EXACT_PRIME);
}

#endif
