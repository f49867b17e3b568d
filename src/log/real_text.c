/* Doubles as decimal text that is read back as the same double, fast: a log is mostly numbers.
 *
 * x = m 2^e is scaled by a power of ten to an integer D of 17 digits. With 64 bits of that power the error of D is
 * below 0.01 beside its rounding, and 0.51 units of 17 digits are always less than half the distance to the next double
 * (5.1e-17 against at least 5.5e-17 of x), so that D is read back as x. Of fewer digits those are taken that are as
 * sure; where a number of 15 or 16 digits is read back as x but only just, 17 are written. */
#include "log/bytes.h"

#include <stdio.h>
#include <string.h>

/* none: numbers whose powers of ten are in the table below; others are written by the C library. */
static const double SIZE_LEAST = 1e-28, SIZE_MOST = 1e45;

__extension__ typedef unsigned __int128 wide;

enum { LOWEST = -30, HIGHEST = 46, FRACTION = 6 };

/* 10^k = powers[k - LOWEST] 2^(floor(k log2 10) - 63), rounded to 64 bits. */
static const uint64_t powers[HIGHEST - LOWEST + 1] = {
    0xa2425ff75e14fc32, 0xcad2f7f5359a3b3e, 0xfd87b5f28300ca0e, 0x9e74d1b791e07e48, 0xc612062576589ddb,
    0xf79687aed3eec551, 0x9abe14cd44753b53, 0xc16d9a0095928a27, 0xf1c90080baf72cb1, 0x971da05074da7bef,
    0xbce5086492111aeb, 0xec1e4a7db69561a5, 0x9392ee8e921d5d07, 0xb877aa3236a4b449, 0xe69594bec44de15b,
    0x901d7cf73ab0acd9, 0xb424dc35095cd80f, 0xe12e13424bb40e13, 0x8cbccc096f5088cc, 0xafebff0bcb24aaff,
    0xdbe6fecebdedd5bf, 0x89705f4136b4a597, 0xabcc77118461cefd, 0xd6bf94d5e57a42bc, 0x8637bd05af6c69b6,
    0xa7c5ac471b478423, 0xd1b71758e219652c, 0x83126e978d4fdf3b, 0xa3d70a3d70a3d70a, 0xcccccccccccccccd,
    0x8000000000000000, 0xa000000000000000, 0xc800000000000000, 0xfa00000000000000, 0x9c40000000000000,
    0xc350000000000000, 0xf424000000000000, 0x9896800000000000, 0xbebc200000000000, 0xee6b280000000000,
    0x9502f90000000000, 0xba43b74000000000, 0xe8d4a51000000000, 0x9184e72a00000000, 0xb5e620f480000000,
    0xe35fa931a0000000, 0x8e1bc9bf04000000, 0xb1a2bc2ec5000000, 0xde0b6b3a76400000, 0x8ac7230489e80000,
    0xad78ebc5ac620000, 0xd8d726b7177a8000, 0x878678326eac9000, 0xa968163f0a57b400, 0xd3c21bcecceda100,
    0x84595161401484a0, 0xa56fa5b99019a5c8, 0xcecb8f27f4200f3a, 0x813f3978f8940984, 0xa18f07d736b90be5,
    0xc9f2c9cd04674edf, 0xfc6f7c4045812296, 0x9dc5ada82b70b59e, 0xc5371912364ce305, 0xf684df56c3e01bc7,
    0x9a130b963a6c115c, 0xc097ce7bc90715b3, 0xf0bdc21abb48db20, 0x96769950b50d88f4, 0xbc143fa4e250eb31,
    0xeb194f8e1ae525fd, 0x92efd1b8d0cf37be, 0xb7abc627050305ae, 0xe596b7b0c643c719, 0x8f7e32ce7bea5c70,
    0xb35dbf821ae4f38c, 0xe0352f62a19e306f,
};

/* floor(k log2 10), right for |k| < 100. */
static int binary_exponent(int k)
{
    return (k * 217706) >> 16;
}

/* x 10^k and half the distance to the next double, in units of 2^-FRACTION. */
typedef struct scaled {
    uint64_t value, half;
} scaled;

static scaled scale(uint64_t m, int e, int k)
{
    const int shift = -(e + binary_exponent(k) - 63) - FRACTION; /* 53 + 64 bits to 57 + FRACTION */
    const uint64_t power = powers[k - LOWEST];
    const int below = m == (uint64_t)1 << 52 ? 1 : 0; /* below a power of two doubles are twice as dense */
    return (scaled){(uint64_t)((wide)m * power >> shift), (uint64_t)((wide)power >> (shift + 1 + below))};
}

/* The nearest multiple of `unit`, where it is read back as the number; else 0. */
static uint64_t rounded(scaled s, uint64_t unit)
{
    const uint64_t step = unit << FRACTION, near = (s.value + step / 2) / step * unit;
    const uint64_t exact = near << FRACTION, off = exact > s.value ? exact - s.value : s.value - exact;
    return off + 2 < s.half ? near : 0; /* 2: what scale() is off by at most, rounded up */
}

/* Digits (without trailing zeros) of a number whose first has the value 10^exponent, as text. */
static int put_digits(uint64_t digits, int exponent, char *text)
{
    char buffer[24];
    int count = 0, length = 0;
    while (digits % 10 == 0) {
        digits /= 10;
    }
    for (; digits > 0; digits /= 10) {
        buffer[count++] = (char)('0' + digits % 10);
    }
    const bool plain = exponent >= -5 && exponent < 17;
    if (plain && exponent < 0) {
        memcpy(text, "0.0000", 6);
        length = 1 - exponent;
    }
    for (int i = 0; i < count; i++) {
        if (i > 0 && i == (plain ? exponent + 1 : 1)) {
            text[length++] = '.';
        }
        text[length++] = buffer[count - 1 - i];
    }
    for (int i = count; plain && i <= exponent; i++) {
        text[length++] = '0';
    }
    if (!plain) {
        length += snprintf(text + length, 8, "e%d", exponent);
    }
    text[length] = '\0';
    return length;
}

int perp_real_text(double value, char text[PERP_REAL_TEXT])
{
    static const uint64_t LEAST = 10000000000000000, MOST = 100000000000000000; /* 10^16, 10^17 */
    const double size = fabs(value);
    if (value == 0.0) {
        strcpy(text, signbit(value) ? "-0.0" : "0");
        return (int)strlen(text);
    }
    if (!(size > SIZE_LEAST && size < SIZE_MOST)) {
        return snprintf(text, PERP_REAL_TEXT, "%.17g", value);
    }
    int e;
    const uint64_t m = (uint64_t)(frexp(size, &e) * 0x1p53);
    e -= 53;
    int k = 16 - ((e + 52) * 78913 >> 18); /* 16 - floor(log10 x), or one more */
    scaled s = scale(m, e, k);
    if ((s.value + (1u << (FRACTION - 1))) >> FRACTION >= MOST) {
        s = scale(m, e, --k);
    }
    uint64_t digits = rounded(s, 100);
    digits = digits ? digits : rounded(s, 10);
    digits = digits ? digits : (s.value + (1u << (FRACTION - 1))) >> FRACTION;
    text[0] = '-';
    const int sign = value < 0.0 ? 1 : 0, exponent = digits >= MOST ? 17 - k : digits < LEAST ? 15 - k : 16 - k;
    return sign + put_digits(digits, exponent, text + sign);
}
