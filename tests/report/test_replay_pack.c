/* The packed columns of a replay, unpacked here by what the page's reader does (viewer/src/decode.ts). */
#include "report/replay_pack.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 4000, SERIES = 4 };

static double unpacked(const byte_row *bytes, const replay_column *column, size_t index)
{
    const size_t n = column->length, each = n / (size_t)column->series;
    int32_t sum = 0;
    for (size_t i = index / each * each; i <= index; i++) {
        uint32_t folded = 0;
        for (size_t k = 0; k < 4; k++) {
            folded |= (uint32_t)bytes->bytes[k * n + i] << (8 * k);
        }
        sum += (int32_t)(folded >> 1) ^ -(int32_t)(folded & 1);
    }
    if (column->coding == REPLAY_FIXED) {
        return sum * column->quantum;
    }
    const uint32_t bits = ((uint32_t)(sum < 0 ? -sum : sum) << 4) | (sum < 0 ? 0x80000000u : 0u);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static void fill(double *values, double low, double high)
{
    perp_random random = {.state = 7};
    for (size_t i = 0; i < COUNT; i++) {
        const double sign = perp_random_uniform(&random, -1.0, 1.0) < 0.0 ? -1.0 : 1.0;
        values[i] = sign * exp(perp_random_uniform(&random, log(low), log(high)));
    }
}

/* Rounding to 20 bits of fraction is off by half a unit of the last: 2^-20 of the number, and 2^-24 more by way of a
 * float. */
static void test_floats_keep_six_figures(void **state)
{
    (void)state;
    double *values = calloc(COUNT, sizeof *values);
    fill(values, 1e-30, 1e30);
    values[17] = 0.0;
    values[18] = -0.0;
    const replay_column column = {"x", REPLAY_FLOAT, 0.0, SERIES, COUNT, values};
    byte_row bytes = {0};
    json_t *header = perp_replay_pack(&bytes, &column);
    assert_non_null(header);
    assert_int_equal(bytes.size, 4 * COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        const double back = unpacked(&bytes, &column, i);
        assert_true(fabs(back - values[i]) <= 1.07 * ldexp(fabs(values[i]), -20));
    }
    json_decref(header);
    perp_bytes_free(&bytes);
    free(values);
}

static void test_fixed_numbers_are_within_half_a_quantum(void **state)
{
    (void)state;
    double *values = calloc(COUNT, sizeof *values);
    fill(values, 1e-6, 3.0);
    const replay_column column = {"x", REPLAY_FIXED, 1e-4, 1, COUNT, values};
    byte_row bytes = {0};
    json_t *header = perp_replay_pack(&bytes, &column);
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(fabs(unpacked(&bytes, &column, i) - values[i]) <= 0.5e-4 * (1.0 + 1e-9));
    }
    json_decref(header);
    perp_bytes_free(&bytes);
    free(values);
}

/* Whole numbers that ascend with the values: only then are differences of smooth series small. */
static void test_order_is_kept(void **state)
{
    (void)state;
    const double ascending[] = {-INFINITY, -1e30, -2.0, -1.0, -1e-30, 0.0, 1e-30, 1.0, 2.0, 1e30, INFINITY};
    for (size_t i = 1; i < sizeof ascending / sizeof *ascending; i++) {
        assert_true(perp_replay_ordered(ascending[i - 1]) < perp_replay_ordered(ascending[i]));
    }
    assert_int_equal(perp_replay_ordered(INFINITY), perp_replay_ordered(FLT_MAX));
    assert_int_equal(perp_replay_ordered(-0.0), 0);
}

static void test_smooth_series_are_mostly_zeros(void **state)
{
    (void)state;
    double *values = calloc(COUNT, sizeof *values);
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = 1.0 + 1e-3 * sin(1e-3 * (double)i);
    }
    const replay_column column = {"x", REPLAY_FLOAT, 0.0, 1, COUNT, values};
    byte_row bytes = {0};
    json_t *header = perp_replay_pack(&bytes, &column);
    size_t zeros = 0;
    for (size_t i = 0; i < bytes.size; i++) {
        zeros += bytes.bytes[i] == 0;
    }
    assert_true(zeros > 2 * COUNT); /* steps of at most 1e-6 / 2^-20, about one unit: three bytes of four are zero */
    json_decref(header);
    perp_bytes_free(&bytes);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floats_keep_six_figures),
        cmocka_unit_test(test_fixed_numbers_are_within_half_a_quantum),
        cmocka_unit_test(test_order_is_kept),
        cmocka_unit_test(test_smooth_series_are_mostly_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
