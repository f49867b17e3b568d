#include "scene/validator.h"
#include "scene/tolerances.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t perp_validator_enter(validator *v, const char *format, ...)
{
    const size_t mark = v->length;
    const size_t room = sizeof v->path - v->length;
    const int dot = mark > 0 ? 1 : 0;
    if (dot && room > 1) {
        v->path[mark] = '.';
    }
    va_list arguments;
    va_start(arguments, format);
    const int written = room > 1 ? vsnprintf(v->path + mark + dot, room - (size_t)dot, format, arguments) : 0;
    va_end(arguments);
    const size_t grown = mark + (size_t)dot + (written > 0 ? (size_t)written : 0);
    v->length = grown < sizeof v->path ? grown : sizeof v->path - 1;
    return mark;
}

void perp_validator_leave(validator *v, size_t mark)
{
    v->length = mark;
    v->path[mark] = '\0';
}

/* True if one path is the other or lies inside it. */
static bool same_place(const char *a, const char *b)
{
    const size_t la = strlen(a), lb = strlen(b), shorter = la < lb ? la : lb;
    if (strncmp(a, b, shorter) != 0) {
        return false;
    }
    return la == lb || (shorter > 0 && (la > lb ? a : b)[shorter] == '.');
}

static void complain(validator *v, perp_severity severity, const char *key, const char *format, va_list arguments)
{
    char message[512];
    vsnprintf(message, sizeof message, format, arguments);
    const size_t mark = key ? perp_validator_enter(v, "%s", key) : v->length;
    v->faults += severity == PERP_SEVERITY_ERROR;
    bool known = false;
    for (int i = 0; i < v->earlier && !known; i++) {
        const perp_diagnostic *item = &v->diagnostics->items[i];
        known = item->severity == PERP_SEVERITY_ERROR && same_place(item->path, v->path);
    }
    if (!known) {
        perp_scene_report(v->scene, v->diagnostics, severity, v->path, "%s", message);
    }
    perp_validator_leave(v, mark);
}

void perp_validator_error(validator *v, const char *key, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(v, PERP_SEVERITY_ERROR, key, format, arguments);
    va_end(arguments);
}

void perp_validator_warning(validator *v, const char *key, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(v, PERP_SEVERITY_WARNING, key, format, arguments);
    va_end(arguments);
}

/* No length, mass or rate of this world is larger. With it products of six such numbers (the inertia of an ellipsoid)
 * and sums of millions of them stay finite, so that nothing downstream has to ask. */
static const double LARGEST = 1e50;

/* The last key of the place that a complaint is about. */
static const char *last_key(const validator *v, const char *key)
{
    const char *whole = key ? key : v->path;
    const char *dot = strrchr(whole, '.');
    if (dot && dot[1] >= '0' && dot[1] <= '9') { /* an element: the list's name says more than its number */
        return key ? key : dot + 1;
    }
    return dot ? dot + 1 : whole;
}

bool perp_validate_real(validator *v, const char *key, double value, real_range range)
{
    const char *name = last_key(v, key);
    if (!(fabs(value) <= LARGEST)) {
        perp_validator_error(v, key, "`%s` must be a finite number, of at most %g", name, LARGEST);
        return false;
    }
    if (range == RANGE_NOT_NEGATIVE && value < 0.0) {
        perp_validator_error(v, key, "`%s` must not be negative, but is %g", name, value);
        return false;
    }
    if (range == RANGE_POSITIVE && !(value > 0.0)) {
        perp_validator_error(v, key, "`%s` must be positive, but is %g", name, value);
        return false;
    }
    return true;
}

bool perp_validate_optional(validator *v, const char *key, perp_optional value, real_range range)
{
    return !value.set || perp_validate_real(v, key, value.value, range);
}

bool perp_validate_vector(validator *v, const char *key, perp_vec3 value)
{
    if (fabs(value.x) <= LARGEST && fabs(value.y) <= LARGEST && fabs(value.z) <= LARGEST) {
        return true;
    }
    perp_validator_error(v, key, "`%s` must have finite components, of at most %g", last_key(v, key), LARGEST);
    return false;
}

bool perp_validate_direction(validator *v, const char *key, perp_vec3 *direction)
{
    if (!perp_validate_vector(v, key, *direction)) {
        return false;
    }
    const perp_vec3 unit = perp_vec3_normalise(*direction);
    if (!(perp_vec3_dot(unit, unit) > 0.5)) {
        perp_validator_error(v, key, "`%s` is a zero vector; a direction is needed", last_key(v, key));
        return false;
    }
    *direction = unit;
    return true;
}

void perp_validate_quaternion(validator *v, const char *key, perp_quat *q)
{
    const double norm = sqrt(q->w * q->w + q->x * q->x + q->y * q->y + q->z * q->z);
    if (!(fabs(norm - 1.0) <= QUATERNION_WRONG)) { /* also NaN and infinite */
        perp_validator_error(v, key, "a quaternion (w, x, y, z) has length 1, but this one has %.6g", norm);
        return;
    }
    if (fabs(norm - 1.0) > QUATERNION_AS_WRITTEN) {
        perp_validator_warning(v, key, "quaternion of length %.6g was normalised", norm);
    }
    *q = perp_quat_normalise(*q);
}

void perp_validate_placement(validator *v, const char *key, perp_placement *placement)
{
    const size_t mark = perp_validator_enter(v, "%s", key);
    perp_validate_vector(v, "position", placement->pose.position);
    if (v->scene->planar) {
        if (perp_validate_real(v, "angle", placement->angle, RANGE_FINITE)) {
            placement->pose.rotation = perp_quat_from_axis_angle(perp_vec3_make(0, 0, 1), placement->angle);
        }
        placement->pose.position.z = 0.0;
    } else if (placement->rpy_set) {
        const double *rpy = placement->rpy;
        if (perp_validate_vector(v, "rpy", perp_vec3_make(rpy[0], rpy[1], rpy[2]))) {
            placement->pose.rotation = perp_quat_normalise(perp_quat_from_rpy(rpy[0], rpy[1], rpy[2]));
        }
    } else {
        perp_validate_quaternion(v, "quat_wxyz", &placement->pose.rotation);
    }
    perp_validator_leave(v, mark);
}

static void validate_table(validator *v, perp_drive *drive)
{
    bool good = true;
    for (int i = 0; i < drive->knot_count && good; i++) {
        char key[32];
        snprintf(key, sizeof key, "times.%d", i);
        good = perp_validate_real(v, key, drive->times[i], RANGE_FINITE);
        if (good && i > 0 && !(drive->times[i] > drive->times[i - 1])) {
            perp_validator_error(v, key, "times must increase, but %g follows %g", drive->times[i],
                                 drive->times[i - 1]);
            good = false;
        }
        snprintf(key, sizeof key, "values.%d", i);
        good = good && perp_validate_real(v, key, drive->values[i], RANGE_FINITE);
    }
    for (int i = 1; good && i < drive->knot_count; i++) {
        const double rate = (drive->values[i] - drive->values[i - 1]) / (drive->times[i] - drive->times[i - 1]);
        if (!(fabs(rate) <= LARGEST)) {
            perp_validator_error(v, "times", "the table rises too steeply between %g and %g", drive->times[i - 1],
                                 drive->times[i]);
            good = false;
        }
    }
    if (!good || drive->interpolation == PERP_INTERPOLATE_LINEAR || drive->slopes) {
        return;
    }
    perp_arena *arena = &v->scene->memory->arena;
    double *slopes = PERP_ARENA_NEW(arena, double, (size_t)drive->knot_count);
    double *work = PERP_ARENA_NEW(arena, double, (size_t)drive->knot_count);
    if (!slopes || !work) {
        v->out_of_memory = true;
        return;
    }
    if (drive->knot_count > 1 && drive->interpolation == PERP_INTERPOLATE_CUBIC) {
        perp_monotone_slopes(drive->knot_count, drive->times, drive->values, slopes);
    } else if (drive->knot_count > 1) {
        perp_spline_slopes(drive->knot_count, drive->times, drive->values, slopes, work);
    }
    for (int i = 0; i < drive->knot_count; i++) {
        if (!isfinite(slopes[i])) {
            perp_validator_error(v, "times", "the table is too steep for a spline; use `interpolate: cubic` or linear");
            return; /* without slopes, so that checking again finds it again */
        }
    }
    drive->slopes = slopes;
}

void perp_validate_drive(validator *v, const char *key, perp_drive *drive)
{
    const size_t mark = perp_validator_enter(v, "%s", key);
    perp_validate_real(v, "offset", drive->offset, RANGE_FINITE);
    perp_validate_real(v, "rate", drive->rate, RANGE_FINITE);
    for (int i = 0; i < drive->sine_count; i++) {
        const size_t inner = perp_validator_enter(v, "sines.%d", i);
        perp_validate_real(v, "amplitude", drive->sines[i].amplitude, RANGE_FINITE);
        perp_validate_real(v, "omega", drive->sines[i].omega, RANGE_FINITE);
        perp_validate_real(v, "phase", drive->sines[i].phase, RANGE_FINITE);
        perp_validator_leave(v, inner);
    }
    validate_table(v, drive);
    perp_validator_leave(v, mark);
}

/* A name is a key of JSON output, a column of CSV output (NAME.x), half of a pair's key ("A B") and a step of a --set
 * path, so it has no blanks, dots, commas, colons or quotes. */
void perp_validate_name(validator *v, const char *name, const char *what)
{
    if (!name || !name[0]) {
        perp_validator_error(v, NULL, "a %s needs a name", what);
        return;
    }
    if (strlen(name) > PERP_SCENE_MAX_NAME) {
        perp_validator_error(v, NULL, "a name has at most %d characters", PERP_SCENE_MAX_NAME);
        return;
    }
    if (strcmp(name, "world") == 0) {
        perp_validator_error(v, NULL, "`world` is the fixed frame; give the %s another name", what);
        return;
    }
    for (const char *c = name; *c; c += perp_utf8_length(c)) {
        if (perp_utf8_length(c) == 0) {
            perp_validator_error(v, NULL, "the name of a %s must be valid UTF-8", what);
            return;
        }
        if (*c == ' ' || perp_utf8_is_control(c) || strchr(".,:;=\"'", *c)) {
            perp_validator_error(
                v, NULL,
                "the name of a %s must not contain blanks or any of . , : ; = \" '; use letters, digits, "
                "_ and -",
                what);
            return;
        }
    }
}
