#include "base/hash.h"

#include <perp/base.h>

#include <string.h>

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014): a bijection in which every input bit reaches every output
 * bit. Chained over 64-bit words it is fast, portable and good enough to tell states apart. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void feed(perp_hash *hash, uint64_t word)
{
    hash->value = mix(hash->value + 0x9e3779b97f4a7c15u + mix(word));
}

perp_hash perp_hash_begin(void)
{
    perp_hash r = {0x70657270u}; /* "perp" */
    return r;
}

void perp_hash_reals(perp_hash *hash, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double value = values[i] + 0.0; /* -0.0 + 0.0 = +0.0 */
        uint64_t word;
        memcpy(&word, &value, sizeof word);
        feed(hash, word);
    }
}

void perp_hash_bytes(perp_hash *hash, const void *bytes, size_t count)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < count; i += 8) {
        uint64_t word = 0;
        for (size_t k = 0; k < 8 && i + k < count; k++) {
            word |= (uint64_t)p[i + k] << (8 * k);
        }
        feed(hash, word);
    }
    feed(hash, (uint64_t)count);
}

void perp_hash_text(perp_hash hash, char text[17])
{
    for (int i = 0; i < 16; i++) {
        text[i] = "0123456789abcdef"[(hash.value >> (60 - 4 * i)) & 15u];
    }
    text[16] = '\0';
}

uint64_t perp_random_bits(perp_random *random)
{
    random->state += 0x9e3779b97f4a7c15u;
    return mix(random->state);
}

double perp_random_uniform(perp_random *random, double low, double high)
{
    const double unit = (double)(perp_random_bits(random) >> 11) * 0x1p-53;
    return low + (high - low) * unit;
}
