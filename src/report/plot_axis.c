#include "report/plot_axis.h"

#include "report/svg.h"
#include "report/tolerances.h"

#include <stdio.h>
#include <string.h>

void perp_plot_range_see(plot_range *range, double value)
{
    if (isfinite(value)) {
        const double bounded = fmax(-1e150, fmin(1e150, value)); /* so that no difference of two overflows */
        range->low = fmin(range->low, bounded);
        range->high = fmax(range->high, bounded);
    }
}

/* The prefix for numbers up to `largest`: none from a tenth to ten thousand, else that of their thousands. */
static double choose_prefix(double largest, const char *unit, char text[12])
{
    static const char *const prefixes[] = {"f", "p", "n", "\xc2\xb5", "m", "", "k", "M", "G"};
    const int none = 5, count = (int)(sizeof prefixes / sizeof *prefixes);
    int index = none;
    if (unit[0] && largest > 0.0 && (largest < 0.1 || largest >= 1e4)) {
        index = none + (int)floor(log10(largest) / 3.0);
        index = index < 0 ? 0 : index >= count ? count - 1 : index;
    }
    snprintf(text, 12, "%s%s", prefixes[index], unit);
    return pow(10.0, 3.0 * (none - index));
}

plot_axis perp_plot_axis(plot_range range, const char *unit, double least_span, double from, double to)
{
    if (range.low > range.high) {
        range = (plot_range){0.0, 0.0};
    }
    const double middle = 0.5 * (range.low + range.high);
    const double span = fmax(range.high - range.low, fmax(least_span, SPAN_LEAST * fabs(middle)));
    plot_axis axis = {.low = middle - 0.5 * span, .high = middle + 0.5 * span, .from = from, .to = to};
    axis.scale = choose_prefix(fmax(fabs(axis.low), fabs(axis.high)), unit, axis.unit);
    return axis;
}

plot_axis perp_plot_log_axis(plot_range range, double from, double to)
{
    plot_axis axis = {.from = from, .to = to, .log = true, .scale = 1.0};
    axis.high = range.high > 0.0 && range.high < INFINITY ? ceil(log10(range.high)) : 0.0;
    axis.low = range.low > 0.0 && range.low < INFINITY ? floor(log10(range.low)) : axis.high - 2.0;
    axis.low = fmin(axis.low, axis.high - 2.0);
    return axis;
}

double perp_plot_place(const plot_axis *axis, double value)
{
    double at = value;
    if (axis->log) {
        at = value > 0.0 ? log10(value) : axis->low;
    }
    at = fmax(axis->low, fmin(axis->high, at));
    return axis->from + (at - axis->low) / (axis->high - axis->low) * (axis->to - axis->from);
}

void perp_plot_label(const plot_axis *axis, double tick, char text[32])
{
    if (axis->log) {
        snprintf(text, 32, "10%.0f", tick); /* as wide as it is drawn, or wider: the exponent is smaller there */
        return;
    }
    const double shown = tick * axis->scale, rounding = 0.5 * pow(10.0, -axis->decimals);
    snprintf(text, 32, "%.*f", axis->decimals, fabs(shown) < rounding ? 0.0 : shown);
}

double perp_plot_label_width(const plot_axis *axis, double size)
{
    double widest = 0.0;
    for (int i = 0; i < axis->tick_count; i++) {
        char text[32];
        perp_plot_label(axis, axis->ticks[i], text);
        widest = fmax(widest, perp_svg_width(text, size, false));
    }
    return widest;
}

/* Ticks at multiples of `step`, in values; false: there are more than there is room for. */
static bool set_ticks(plot_axis *axis, double step)
{
    const double first = ceil(axis->low / step - TICK_ROUNDING);
    const double count = floor(axis->high / step + TICK_ROUNDING) - first + 1.0;
    if (count > PLOT_MOST_TICKS) {
        return false;
    }
    axis->tick_count = count > 0.0 ? (int)count : 0;
    for (int i = 0; i < axis->tick_count; i++) {
        axis->ticks[i] = (first + i) * step;
    }
    const double shown = axis->log ? 1.0 : log10(step * axis->scale);
    axis->decimals = axis->log ? 0 : (int)fmax(0.0, ceil(-shown - TICK_ROUNDING));
    return true;
}

static double next_step(double step)
{
    const double decade = pow(10.0, floor(log10(step) + TICK_ROUNDING)), digit = step / decade;
    return digit < 1.5 ? 2.0 * decade : digit < 3.0 ? 5.0 * decade : 10.0 * decade;
}

void perp_plot_ticks(plot_axis *axis, double size, bool upright)
{
    const double length = fabs(axis->to - axis->from), span = axis->high - axis->low;
    double step = axis->log ? 1.0 : perp_plot_round_down(span / PLOT_MOST_TICKS);
    for (int tries = 0; tries < 40; tries++, step = next_step(step)) {
        if (!set_ticks(axis, step)) {
            continue;
        }
        const double apart = step / span * length;
        const double needed = upright ? 1.9 * size : 1.4 * size + perp_plot_label_width(axis, size);
        if (apart >= needed || axis->tick_count <= 1) {
            return;
        }
    }
    axis->tick_count = 0; /* not finite: nothing to label */
}

double perp_plot_round_down(double most)
{
    if (!(most > 0.0) || !isfinite(most)) {
        return 1.0;
    }
    const double decade = pow(10.0, floor(log10(most))), digit = most / decade;
    return (digit >= 5.0 ? 5.0 : digit >= 2.0 ? 2.0 : 1.0) * decade;
}

void perp_plot_quantity(double value, const char *unit, char text[32])
{
    char prefixed[12];
    const double scale = choose_prefix(fabs(value), unit, prefixed);
    snprintf(text, 32, "%.*g %s", fabs(value * scale) >= 1e3 ? 4 : 3, value * scale, prefixed);
}
