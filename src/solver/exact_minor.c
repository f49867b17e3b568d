#include "solver/exact_minor.h"
#include "solver/tolerances.h"

#include <float.h>
#include <math.h>

/* ---- arithmetic modulo a prime below 2^31: products fit 62 bits ----------------------------------------------------
 */

static uint32_t multiply(uint32_t a, uint32_t b, uint32_t p)
{
    return (uint32_t)((uint64_t)a * b % p);
}

static uint32_t power(uint32_t base, uint32_t exponent, uint32_t p)
{
    uint32_t r = 1;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1U) {
            r = multiply(r, base, p);
        }
        base = multiply(base, base, p);
    }
    return r;
}

static uint32_t inverse(uint32_t a, uint32_t p)
{
    return power(a, p - 2, p);
}

/* Miller and Rabin with the bases 2, 3, 5, 7, which are proof below 3,215,031,751. `p` is odd and above 7. */
static bool is_prime(uint32_t p)
{
    uint32_t odd = p - 1;
    int twos = 0;
    for (; !(odd & 1U); odd >>= 1) {
        twos++;
    }
    static const uint32_t bases[] = {2, 3, 5, 7};
    for (int b = 0; b < 4; b++) {
        uint32_t x = power(bases[b], odd, p);
        bool passes = x == 1 || x == p - 1;
        for (int k = 1; k < twos && !passes; k++) {
            x = multiply(x, x, p);
            passes = x == p - 1;
        }
        if (!passes) {
            return false;
        }
    }
    return true;
}

/* Downwards from 2^31 - 1; found when first needed, since most matrices need none. */
static void find_primes(perp_exact_minor *minor, int count)
{
    uint32_t candidate = minor->prime_count ? minor->primes[minor->prime_count - 1] - 2 : 2147483647U;
    while (minor->prime_count < count) {
        if (is_prime(candidate)) {
            minor->primes[minor->prime_count++] = candidate;
        }
        candidate -= 2;
    }
}

/* ---- the integer matrix
 * ---------------------------------------------------------------------------------------------- */

/* x = mantissa 2^exponent with an odd mantissa (or 0). */
static int64_t split(double x, int *exponent)
{
    if (x == 0.0) {
        *exponent = 0;
        return 0;
    }
    int e;
    int64_t mantissa = (int64_t)ldexp(frexp(x, &e), DBL_MANT_DIG);
    e -= DBL_MANT_DIG;
    while (mantissa % 2 == 0) {
        mantissa /= 2;
        e++;
    }
    *exponent = e;
    return mantissa;
}

/* Gives each row the exponent that makes it integer, and returns the bits of Hadamard's bound, rounded up; -1 if a row
 * is zero. sqrt(count) max |entry| bounds the norm of a row: a few bits more than the norm itself, and cheaper. */
static double scale_rows(perp_exact_minor *minor, const double *m, int stride, const int *indices, int count)
{
    double bits = 2.0; /* sign, and rounding of the sum */
    for (int i = 0; i < count; i++) {
        int least = INT32_MAX, most = INT32_MIN;
        for (int j = 0; j < count; j++) {
            const double x = m[(ptrdiff_t)indices[i] * stride + indices[j]];
            int e, top;
            if (split(x, &e)) {
                frexp(x, &top);
                least = e < least ? e : least;
                most = top > most ? top : most;
            }
        }
        if (most == INT32_MIN) {
            return -1.0;
        }
        minor->row_exponent[i] = least;
        bits += most - least + 0.5 * log2(count) + BITS_ROUNDING;
    }
    return bits;
}

/* x / 2^unit modulo p, where the exponent of x is not below `unit`. */
static uint32_t residue(double x, int unit, uint32_t p)
{
    int e;
    const int64_t mantissa = split(x, &e), rest = mantissa % (int64_t)p;
    const uint32_t r = (uint32_t)(rest < 0 ? rest + p : rest);
    return mantissa && e > unit ? multiply(r, power(2, (uint32_t)(e - unit), p), p) : r;
}

static void reduce_matrix(perp_exact_minor *minor, const double *m, int stride, const int *indices, int count,
                          uint32_t p)
{
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++) {
            minor->matrix[i * count + j] =
                residue(m[(ptrdiff_t)indices[i] * stride + indices[j]], minor->row_exponent[i], p);
        }
    }
}

/* det modulo p, by elimination; spoils the matrix. */
static uint32_t determinant(uint32_t *a, int n, uint32_t p)
{
    uint32_t det = 1;
    for (int k = 0; k < n; k++) {
        int row = k;
        while (row < n && !a[row * n + k]) {
            row++;
        }
        if (row == n) {
            return 0;
        }
        if (row != k) {
            for (int j = k; j < n; j++) {
                const uint32_t t = a[row * n + j];
                a[row * n + j] = a[k * n + j];
                a[k * n + j] = t;
            }
            det = p - det; /* never 0 here */
        }
        det = multiply(det, a[k * n + k], p);
        const uint32_t pivot_inverse = inverse(a[k * n + k], p);
        for (int i = k + 1; i < n; i++) {
            if (!a[i * n + k]) {
                continue;
            }
            const uint32_t factor = p - multiply(a[i * n + k], pivot_inverse, p); /* in 1..p: -a_ik / a_kk */
            for (int j = k + 1; j < n; j++) {
                a[i * n + j] = (uint32_t)((a[i * n + j] + (uint64_t)factor * a[k * n + j]) % p);
            }
        }
    }
    return det;
}

/* ---- from residues to sign and value -------------------------------------------------------------------------------
 */

/* digits[i] in (-p_i / 2, p_i / 2] with x = d_0 + p_0 (d_1 + p_1 (d_2 + ...)). */
static void mixed_radix(perp_exact_minor *minor, int count)
{
    for (int i = 0; i < count; i++) {
        const uint32_t p = minor->primes[i];
        uint32_t known = 0, radix = 1; /* the digits found so far, and the product of their primes, modulo p */
        for (int j = 0; j < i; j++) {
            const int64_t d = minor->digits[j] % (int64_t)p;
            known = (uint32_t)((known + (uint64_t)radix * (uint32_t)(d < 0 ? d + p : d)) % p);
            radix = multiply(radix, minor->primes[j] % p, p);
        }
        const uint32_t rest = (uint32_t)(((uint64_t)minor->residues[i] + p - known) % p);
        const uint32_t digit = multiply(rest, inverse(radix, p), p);
        minor->digits[i] = digit > p / 2 ? (int64_t)digit - p : (int64_t)digit;
    }
}

/* Horner from the highest digit, renormalised so that it cannot overflow on the way. The highest digit outweighs the
 * rest by a factor of two at least, so the sum loses at most a bit to cancellation. */
static double rounded_value(const perp_exact_minor *minor, int highest, int exponent)
{
    double x = (double)minor->digits[highest];
    int scale = 0;
    for (int i = highest - 1; i >= 0; i--) {
        x = x * minor->primes[i] + ldexp((double)minor->digits[i], -scale);
        int e;
        x = frexp(x, &e);
        scale += e;
    }
    return ldexp(x, scale + exponent);
}

bool perp_exact_minor_init(perp_exact_minor *minor, int capacity, perp_arena *arena)
{
    const size_t n = (size_t)capacity;
    *minor = (perp_exact_minor){.primes = PERP_ARENA_NEW(arena, uint32_t, PERP_EXACT_MINOR_PRIMES),
                                .residues = PERP_ARENA_NEW(arena, uint32_t, PERP_EXACT_MINOR_PRIMES),
                                .digits = PERP_ARENA_NEW(arena, int64_t, PERP_EXACT_MINOR_PRIMES),
                                .matrix = PERP_ARENA_NEW(arena, uint32_t, n * n),
                                .row_exponent = PERP_ARENA_NEW(arena, int, n)};
    return minor->primes && minor->residues && minor->digits && minor->matrix && minor->row_exponent;
}

perp_exact_sign perp_exact_minor_sign(perp_exact_minor *minor, const double *m, int stride, const int *indices,
                                      int count, double *value)
{
    double unused;
    value = value ? value : &unused;
    *value = 0.0;
    const double bits = scale_rows(minor, m, stride, indices, count);
    if (bits < 0.0) {
        return PERP_EXACT_ZERO;
    }
    const int primes = 1 + (int)(bits / 30.9); /* every prime used here exceeds 2^30.9 */
    if (primes > PERP_EXACT_MINOR_PRIMES) {
        *value = NAN;
        return PERP_EXACT_TOO_WIDE;
    }
    find_primes(minor, primes);
    for (int i = 0; i < primes; i++) {
        reduce_matrix(minor, m, stride, indices, count, minor->primes[i]);
        minor->residues[i] = determinant(minor->matrix, count, minor->primes[i]);
    }
    minor->work += (int64_t)primes * (count * (count * count / 3 + 16 * count) + 8 * primes);
    mixed_radix(minor, primes);
    int highest = primes - 1, exponent = 0;
    while (highest >= 0 && !minor->digits[highest]) {
        highest--;
    }
    if (highest < 0) {
        return PERP_EXACT_ZERO;
    }
    for (int i = 0; i < count; i++) {
        exponent += minor->row_exponent[i];
    }
    *value = rounded_value(minor, highest, exponent);
    return minor->digits[highest] > 0 ? PERP_EXACT_POSITIVE : PERP_EXACT_NEGATIVE;
}

/* ---- modulo 2^31 - 1 -----------------------------------------------------------------------------------------------
 */

uint32_t perp_exact_residue(double x)
{
    int e;
    const int64_t rest = split(x, &e) % PERP_EXACT_PRIME;
    const int turn = e % 31; /* 2^31 = 1 */
    return multiply((uint32_t)(rest < 0 ? rest + PERP_EXACT_PRIME : rest), 1U << (turn < 0 ? turn + 31 : turn),
                    PERP_EXACT_PRIME);
}

uint32_t perp_exact_inverse(uint32_t a)
{
    return inverse(a, PERP_EXACT_PRIME);
}
