/* plot_axis.h - from numbers to pixels: ranges, units, ticks at 1, 2 or 5 times a power of ten. */
#ifndef PERP_SRC_REPORT_PLOT_AXIS_H
#define PERP_SRC_REPORT_PLOT_AXIS_H

#include <perp/base.h>

enum { PLOT_MOST_TICKS = 16 };

typedef struct plot_range {
    double low, high; /* low > high: nothing was seen */
} plot_range;

static inline plot_range perp_plot_range_empty(void)
{
    return (plot_range){INFINITY, -INFINITY};
}
/* Numbers that are not finite are not seen. */
void perp_plot_range_see(plot_range *range, double value);

typedef struct plot_axis {
    double low, high; /* of values; of a log axis their decades */
    double from, to;  /* px where these are */
    bool log;
    double scale;  /* value times scale is what a label says */
    char unit[12]; /* with its prefix, such as "mm" */
    int tick_count;
    double ticks[PLOT_MOST_TICKS]; /* values; of a log axis decades */
    int decimals;                  /* of a label */
} plot_axis;

/* A linear axis over the range, in `unit` with the prefix that suits it; "" is a number without unit. Not shorter than
 * `least_span`, nor than a thousandth of its values: less would be rounding, not a curve. */
plot_axis perp_plot_axis(plot_range range, const char *unit, double least_span, double from, double to);
/* Decades. The range's numbers that are not positive stand at the lower edge. */
plot_axis perp_plot_log_axis(plot_range range, double from, double to);
/* Chooses the ticks: labels of text size `size` keep apart, side by side or, of an upright axis, above each other. */
void perp_plot_ticks(plot_axis *axis, double size, bool upright);
double perp_plot_place(const plot_axis *axis, double value);
void perp_plot_label(const plot_axis *axis, double tick, char text[32]);
/* Px of the widest label. */
double perp_plot_label_width(const plot_axis *axis, double size);

/* The largest 1, 2 or 5 times a power of ten that is not above `most`, which is positive. */
double perp_plot_round_down(double most);
/* "20 mm": a value with the prefix that suits it. */
void perp_plot_quantity(double value, const char *unit, char text[32]);

#endif
