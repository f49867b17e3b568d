/* The values that only scenes have: optional numbers, and drives. */
#include "scene_yaml/keys.h"

#include <string.h>

bool perp_read_optional(decoder *d, const yaml_node *node, void *target)
{
    perp_optional *optional = target;
    optional->set = perp_read_real(d, node, &optional->value);
    return optional->set;
}

static bool read_sine(decoder *d, const yaml_node *node, void *target)
{
    return perp_read_map(d, node, &perp_keys_sine, target);
}

static bool read_sines(decoder *d, const yaml_node *node, void *target)
{
    perp_drive *drive = target;
    if (!perp_expect_list(d, node, "a list of {amplitude, omega, phase}")) {
        return false;
    }
    perp_sine *sines = perp_decode_memory(d, node->count, sizeof *sines);
    bool good = sines != NULL;
    for (const yaml_node *child = node->first; child && sines; child = child->next) {
        good = read_sine(d, child, &sines[child->index]) && good;
    }
    drive->sines = sines;
    drive->sine_count = good ? node->count : 0;
    return good;
}

static double *read_table_column(decoder *d, const yaml_node *node)
{
    if (!perp_expect_list(d, node, "a list of numbers")) {
        return NULL;
    }
    double *values = perp_decode_memory(d, node->count, sizeof *values);
    return values && perp_read_reals(d, node, values, node->count) ? values : NULL;
}

static bool read_times(decoder *d, const yaml_node *node, void *target)
{
    perp_drive *drive = target;
    drive->times = read_table_column(d, node);
    return drive->times != NULL;
}

static bool read_values(decoder *d, const yaml_node *node, void *target)
{
    perp_drive *drive = target;
    drive->values = read_table_column(d, node);
    return drive->values != NULL;
}

static const key_spec sine_keys[] = {
    {"amplitude", "number", "0", "", perp_read_real, offsetof(perp_sine, amplitude), 0},
    {"omega", "rad/s", "0", "", perp_read_real, offsetof(perp_sine, omega), 0},
    {"phase", "rad", "0", "", perp_read_real, offsetof(perp_sine, phase), 0},
};
const key_table perp_keys_sine = {"A sine: an element of `sines`", sine_keys, sizeof sine_keys / sizeof *sine_keys};

static const key_spec drive_keys[] = {
    {"offset", "number", "0", "value at t = 0, without the sines", perp_read_real, offsetof(perp_drive, offset), 0},
    {"rate", "number", "0", "change per second", perp_read_real, offsetof(perp_drive, rate), 0},
    {"sines", "[{amplitude, omega, phase}, ..]", "", "each adds amplitude sin(omega t + phase)", read_sines, 0, 0},
    {"times", "[t0, t1, ..]", "", "a table instead: increasing times", read_times, 0, 0},
    {"values", "[v0, v1, ..]", "", "the table's values, held outside it", read_values, 0, 0},
    {"interpolate", "linear, cubic, spline", "linear",
     "cubic: monotone between knots, no overshoot; spline: C2, may overshoot; both with zero rate at both ends",
     perp_read_choice, offsetof(perp_drive, interpolation), 0},
};
const key_table perp_keys_drive = {"DRIVE: a number, or a function of time", drive_keys,
                                   sizeof drive_keys / sizeof *drive_keys};

bool perp_read_drive(decoder *d, const yaml_node *node, void *target)
{
    perp_drive *drive = target;
    memset(drive, 0, sizeof *drive);
    if (perp_is_number(node)) {
        return perp_read_real(d, node, &drive->offset);
    }
    if (node->kind != YAML_MAP) {
        return perp_decode_expected(d, node, "a number, {offset, rate, sines} or {times, values, interpolate}");
    }
    if (!perp_read_map(d, node, &perp_keys_drive, drive)) {
        return false;
    }
    const yaml_node *times = perp_yaml_tree_find(node, "times", 5), *values = perp_yaml_tree_find(node, "values", 6);
    const bool formula = perp_yaml_tree_find(node, "offset", 6) || perp_yaml_tree_find(node, "rate", 4) || drive->sines;
    if (!times != !values) {
        return perp_decode_error(d, node, "a table needs both `times` and `values`");
    }
    if (!times) {
        return !perp_yaml_tree_find(node, "interpolate", 11) ||
               perp_decode_error(d, node, "`interpolate` goes with `times` and `values`");
    }
    if (formula) {
        return perp_decode_error(d, node, "give {offset, rate, sines} or {times, values}, not both");
    }
    if (times->kind == YAML_LIST && times->count == 0) {
        return perp_decode_error(d, times, "a table needs at least one time");
    }
    if (times->count != values->count) {
        return perp_decode_error(d, values, "`times` has %d entries and `values` %d; they must match", times->count,
                                 values->count);
    }
    drive->knot_count = times->count;
    return true;
}
