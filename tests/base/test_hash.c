/* The state hash and the random numbers. */
#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <perp/base.h>

static uint64_t hash_of(const double *values, size_t count)
{
    perp_hash hash = perp_hash_begin();
    perp_hash_reals(&hash, values, count);
    return hash.value;
}

static uint64_t hash_of_bytes(const void *bytes, size_t count)
{
    perp_hash hash = perp_hash_begin();
    perp_hash_bytes(&hash, bytes, count);
    return hash.value;
}

/* These two words were computed once, by a second implementation (Python integers modulo 2^64), and pin the definition:
 * hashes of runs are compared between machines and versions, so a change of the definition must be seen. */
static void test_definition(void **state)
{
    (void)state;
    static const double values[] = {0.0, 1.0, -2.5, 3.141592653589793, 1e-300, INFINITY};
    char text[17];
    perp_hash hash = perp_hash_begin();
    perp_hash_text(hash, text);
    assert_string_equal(text, "0000000070657270");
    perp_hash_reals(&hash, values, 6);
    perp_hash_text(hash, text);
    assert_string_equal(text, "3e1f4783a692e5fe");
    hash = perp_hash_begin();
    perp_hash_bytes(&hash, "perpendicular", 13);
    perp_hash_text(hash, text);
    assert_string_equal(text, "2f2070e3b246e49e");
}

static void test_zero_has_no_sign(void **state)
{
    (void)state;
    const double positive[] = {1.0, 0.0, 2.0}, negative[] = {1.0, -0.0, 2.0};
    assert_true(memcmp(positive, negative, sizeof positive) != 0);
    assert_true(hash_of(positive, 3) == hash_of(negative, 3));
}

static void test_order_and_length_matter(void **state)
{
    (void)state;
    static const double a[] = {1.0, 2.0, 3.0}, b[] = {2.0, 1.0, 3.0}, c[] = {1.0, 3.0, 2.0}, zeros[4] = {0.0};
    assert_true(hash_of(a, 3) != hash_of(b, 3));
    assert_true(hash_of(a, 3) != hash_of(c, 3));
    assert_true(hash_of(a, 3) != hash_of(a, 2));
    for (size_t i = 0; i < 4; i++) {
        assert_true(hash_of(zeros, i) != hash_of(zeros, i + 1)); /* another zero is another state */
    }
    assert_true(hash_of_bytes("ab", 2) != hash_of_bytes("ab\0", 3));
    assert_true(hash_of_bytes("ab", 2) != hash_of_bytes("ba", 2));
    assert_true(hash_of_bytes("12345678", 8) != hash_of_bytes("12345678\0", 9));
    assert_true(hash_of_bytes("", 0) != perp_hash_begin().value);
}

/* A run feeds its states one after another: in one call or in many makes no difference. */
static void test_pieces(void **state)
{
    (void)state;
    static const double values[] = {0.1, 0.2, 0.3, 0.4, 0.5};
    for (size_t cut = 0; cut <= 5; cut++) {
        perp_hash hash = perp_hash_begin();
        perp_hash_reals(&hash, values, cut);
        perp_hash_reals(&hash, values + cut, 5 - cut);
        assert_true(hash.value == hash_of(values, 5));
    }
}

/* A single bit of any number changes about half of the hash's bits. For a random 64-bit word the count is binomial with
 * mean 32 and deviation 4; over 64 * 4 flips a count outside 32 -+ 24 (6 deviations, 1e-9 each) does not happen, and
 * the mean of 256 counts lies within 32 -+ 1.5 (6 deviations of 4 / 16). */
static void test_single_bits(void **state)
{
    (void)state;
    const double values[] = {1.5, -0.3, 1e10, 7e-5};
    const uint64_t before = hash_of(values, 4);
    int total = 0;
    for (int k = 0; k < 4; k++) {
        for (int bit = 0; bit < 64; bit++) {
            double changed[4];
            memcpy(changed, values, sizeof changed);
            uint64_t word;
            memcpy(&word, &changed[k], 8);
            word ^= (uint64_t)1 << bit;
            memcpy(&changed[k], &word, 8);
            uint64_t difference = before ^ hash_of(changed, 4);
            int bits = 0;
            for (; difference; difference &= difference - 1) {
                bits++;
            }
            assert_in_range(bits, 8, 56);
            total += bits;
        }
    }
    assert_in_range(total, (uintmax_t)(256 * 30.5), (uintmax_t)(256 * 33.5));
}

static void test_text(void **state)
{
    (void)state;
    char text[17];
    perp_hash_text((perp_hash){0x0123456789abcdefu}, text);
    assert_string_equal(text, "0123456789abcdef");
    perp_hash_text((perp_hash){0}, text);
    assert_string_equal(text, "0000000000000000");
}

/* The published first numbers of splitmix64 from the seeds 0 and 1234567. */
static void test_random_is_splitmix64(void **state)
{
    (void)state;
    perp_random random = {0};
    assert_true(perp_random_bits(&random) == 0xe220a8397b1dcdafu);
    random.state = 1234567;
    assert_true(perp_random_bits(&random) == 6457827717110365317u);
    assert_true(perp_random_bits(&random) == 3203168211198807973u);
    assert_true(perp_random_bits(&random) == 9817491932198370423u);
}

/* Uniform on [low, high): n = 1e5 draws have the mean's deviation (high - low) / sqrt(12 n) = 9e-4 (high - low); five
 * of them are allowed. */
static void test_random_uniform(void **state)
{
    (void)state;
    perp_random random = {5};
    double sum = 0.0, least = INFINITY, most = -INFINITY;
    for (int i = 0; i < 100000; i++) {
        const double x = perp_random_uniform(&random, -2.0, 6.0);
        assert_true(x >= -2.0 && x < 6.0);
        sum += x;
        least = fmin(least, x);
        most = fmax(most, x);
    }
    assert_true(fabs(sum / 1e5 - 2.0) < 5 * 9.2e-4 * 8.0);
    assert_true(least < -1.99 && most > 5.99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_zero_has_no_sign),
        cmocka_unit_test(test_order_and_length_matter),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_single_bits),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_random_is_splitmix64),
        cmocka_unit_test(test_random_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
