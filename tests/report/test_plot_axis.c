/* Ticks, labels and words of plots. */
#include "report/plot_axis.h"
#include "report/svg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool is_round_step(double step)
{
    const double digit = step / pow(10.0, floor(log10(step) + 1e-9));
    return fabs(digit - 1.0) < 1e-6 || fabs(digit - 2.0) < 1e-6 || fabs(digit - 5.0) < 1e-6;
}

/* Any range on an axis of any length: ticks stand 1, 2 or 5 times a power of ten apart, inside the axis, their labels
 * say the tick in the axis' unit to half a step, and no two labels touch. */
static void test_ticks(void **state)
{
    (void)state;
    perp_random random = {.state = 3};
    for (int i = 0; i < 3000; i++) {
        const double span = exp(perp_random_uniform(&random, log(1e-9), log(1e6)));
        const double low = perp_random_uniform(&random, -3.0, 3.0) * span;
        const double length = perp_random_uniform(&random, 40.0, 900.0);
        const bool upright = perp_random_uniform(&random, 0.0, 1.0) < 0.5;
        plot_axis axis = perp_plot_axis((plot_range){low, low + span}, "m", 0.0, 0.0, length);
        perp_plot_ticks(&axis, 10.0, upright);
        assert_true(axis.tick_count <= PLOT_MOST_TICKS);
        double end = -INFINITY;
        for (int k = 0; k < axis.tick_count; k++) {
            char text[32];
            const double place = perp_plot_place(&axis, axis.ticks[k]);
            perp_plot_label(&axis, axis.ticks[k], text);
            const double half = upright ? 6.0 : 0.5 * perp_svg_width(text, 10.0, false);
            assert_true(place >= -1e-6 && place <= length + 1e-6);
            assert_true(place - half > end);
            end = place + half;
            const double step = axis.tick_count > 1 ? axis.ticks[1] - axis.ticks[0] : span;
            assert_true(fabs(strtod(text, NULL) / axis.scale - axis.ticks[k]) <= 0.5 * step);
            assert_true(k == 0 || is_round_step(step));
        }
    }
}

static void test_units(void **state)
{
    (void)state;
    char text[32];
    perp_plot_quantity(0.05, "m", text);
    assert_string_equal(text, "50 mm");
    perp_plot_quantity(2e-5, "N", text);
    assert_string_equal(text, "20 \xc2\xb5N");
    perp_plot_quantity(0.5, "m", text);
    assert_string_equal(text, "0.5 m");
    perp_plot_quantity(2e4, "N", text);
    assert_string_equal(text, "20 kN");
    assert_string_equal(perp_plot_axis((plot_range){0.0, 0.02}, "m", 0.0, 0.0, 100.0).unit, "mm");
}

/* What is nothing, one number or no number at all still gives an axis with finite places. */
static void test_odd_ranges(void **state)
{
    (void)state;
    plot_range seen = perp_plot_range_empty();
    perp_plot_range_see(&seen, NAN);
    perp_plot_range_see(&seen, INFINITY);
    const plot_range ranges[] = {perp_plot_range_empty(), seen, {0.0, 0.0}, {7.0, 7.0}, {-1e-300, 1e-300}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        plot_axis axis = perp_plot_axis(ranges[i], "m", 1e-6, 0.0, 100.0);
        perp_plot_ticks(&axis, 10.0, true);
        assert_true(axis.high > axis.low && isfinite(perp_plot_place(&axis, 0.0)));
        axis = perp_plot_log_axis(ranges[i], 0.0, 100.0);
        perp_plot_ticks(&axis, 10.0, true);
        assert_true(axis.high > axis.low && isfinite(perp_plot_place(&axis, 0.0)));
    }
    plot_axis decades = perp_plot_log_axis((plot_range){1e-18, 1e-8}, 100.0, 0.0);
    assert_true(fabs(perp_plot_place(&decades, 1e-13) - 50.0) < 1e-9);
    assert_true(perp_plot_place(&decades, 0.0) == 100.0); /* the lower edge */
}

static void assert_text(const char *words, const char *expected)
{
    byte_row out = {0};
    svg s = {&out};
    perp_svg_text(&s, 0.0, 0.0, (svg_font){.size = 10.0}, words);
    perp_bytes_put(&out, "", 1);
    assert_false(out.failed);
    assert_non_null(strstr((const char *)out.bytes, expected));
    perp_bytes_free(&out);
}

/* Whatever a name is made of, what is written is text of XML 1.0. */
static void test_escapes(void **state)
{
    (void)state;
    assert_text("<img src=x onerror=alert(1)>", ">&lt;img src=x onerror=alert(1)&gt;</text>");
    assert_text("a & \"b\" ]]>", ">a &amp; &quot;b&quot; ]]&gt;</text>");
    assert_text("\xc2\xb5 \xe6\xbc\xa2 \xf0\x9f\x98\x80", ">\xc2\xb5 \xe6\xbc\xa2 \xf0\x9f\x98\x80</text>");
    assert_text("tab\tbell\x07", ">tab\xef\xbf\xbd"
                                 "bell\xef\xbf\xbd</text>");
    assert_text("cut \xe6\xbc", ">cut \xef\xbf\xbd\xef\xbf\xbd</text>"); /* the end of a character is missing */
    assert_text("long \xc0\xbc", ">long \xef\xbf\xbd");                  /* < in more bytes than it needs */
    assert_text("half \xed\xa0\x80", ">half \xef\xbf\xbd");              /* half a surrogate pair */
    assert_text("none \xef\xbf\xbf \xf5\x80\x80\x80", ">none \xef\xbf\xbd \xef\xbf\xbd"); /* no characters */
}

/* A text that is cut fits, keeps both ends and whole characters. */
static void test_fit(void **state)
{
    (void)state;
    static const char words[] = "left_finger sphere \xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2 s0.e1-s0.c0";
    for (double room = 20.0; room < 400.0; room += 7.0) {
        char fitted[64];
        perp_svg_fit(words, 10.0, room, fitted, sizeof fitted);
        assert_true(perp_svg_width(fitted, 10.0, false) <= room);
        assert_true(strcmp(fitted, words) == 0 || strstr(fitted, "\xe2\x80\xa6") != NULL);
        byte_row out = {0};
        perp_svg_text(&(svg){&out}, 0.0, 0.0, (svg_font){.size = 10.0}, fitted);
        perp_bytes_put(&out, "", 1);
        assert_null(strstr((const char *)out.bytes, "\xef\xbf\xbd")); /* no character was cut */
        perp_bytes_free(&out);
    }
    char small[8];
    perp_svg_fit(words, 10.0, 1000.0, small, sizeof small); /* no room in the array rather than on the page */
    assert_true(strlen(small) < sizeof small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ticks), cmocka_unit_test(test_units),
                                       cmocka_unit_test(test_odd_ranges), cmocka_unit_test(test_escapes),
                                       cmocka_unit_test(test_fit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
