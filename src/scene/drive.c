#include "scene/drive.h"
#include "scene/scene_memory.h"

/* Fritsch and Butland (1984): between secants s of one sign and intervals d their weighted harmonic mean
 *     m_i = 3 (d_{i-1} + d_i) / ((2 d_i + d_{i-1})/s_{i-1} + (d_i + 2 d_{i-1})/s_i),
 * which is at most 3 times the lesser of the two, so that no cubic leaves the range of its two values; 0 where the
 * secants change sign. At the ends 0: the held function has that rate outside. */
void perp_monotone_slopes(int n, const double *times, const double *values, double *slopes)
{
    slopes[0] = slopes[n - 1] = 0.0;
    for (int i = 1; i < n - 1; i++) {
        const double before = times[i] - times[i - 1], after = times[i + 1] - times[i];
        const double s = (values[i] - values[i - 1]) / before, r = (values[i + 1] - values[i]) / after;
        const bool one_sign = (s > 0.0 && r > 0.0) || (s < 0.0 && r < 0.0);
        slopes[i] = one_sign ? 3.0 * (before + after) / ((2.0 * after + before) / s + (after + 2.0 * before) / r) : 0.0;
    }
}

/* The spline's slopes m solve, with d_i = t_{i+1} - t_i and s_i the secants,
 *     m_{i-1}/d_{i-1} + 2 (1/d_{i-1} + 1/d_i) m_i + m_{i+1}/d_i = 3 (s_{i-1}/d_{i-1} + s_i/d_i),   m_0 = m_{n-1} = 0,
 * a diagonally dominant tridiagonal system: elimination without pivoting is stable. */
void perp_spline_slopes(int n, const double *times, const double *values, double *slopes, double *work)
{
    slopes[0] = slopes[n - 1] = 0.0;
    work[0] = 0.0;
    for (int i = 1; i < n - 1; i++) {
        const double a = 1.0 / (times[i] - times[i - 1]), b = 1.0 / (times[i + 1] - times[i]);
        const double right =
            3.0 * (a * a * (values[i] - values[i - 1]) + b * b * (values[i + 1] - values[i])) - a * slopes[i - 1];
        const double pivot = 2.0 * (a + b) - a * work[i - 1];
        work[i] = b / pivot;
        slopes[i] = right / pivot;
    }
    for (int i = n - 2; i > 0; i--) {
        slopes[i] -= work[i] * slopes[i + 1];
    }
}

/* The interval [times[i], times[i+1]) that holds t; t lies inside the table. */
static int find_interval(const perp_drive *drive, double t)
{
    int low = 0, high = drive->knot_count - 1;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (drive->times[middle] <= t) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static double table_value(const perp_drive *drive, double t)
{
    const int last = drive->knot_count - 1;
    if (t <= drive->times[0] || t >= drive->times[last]) {
        const int end = t <= drive->times[0] ? 0 : last;
        return drive->values[end] + (drive->slopes ? drive->slopes[end] * (t - drive->times[end]) : 0.0);
    }
    const int i = find_interval(drive, t);
    const double d = drive->times[i + 1] - drive->times[i], u = (t - drive->times[i]) / d;
    const double rise = drive->values[i + 1] - drive->values[i];
    if (drive->interpolation == PERP_INTERPOLATE_LINEAR) {
        return drive->values[i] + u * rise;
    }
    const double m0 = d * drive->slopes[i], m1 = d * drive->slopes[i + 1];
    return drive->values[i] + u * (m0 + u * ((3.0 * rise - 2.0 * m0 - m1) + u * (m0 + m1 - 2.0 * rise)));
}

static double table_rate(const perp_drive *drive, double t)
{
    const int last = drive->knot_count - 1;
    if (t < drive->times[0] || t >= drive->times[last]) {
        return drive->slopes ? drive->slopes[t < drive->times[0] ? 0 : last] : 0.0;
    }
    const int i = find_interval(drive, t);
    const double d = drive->times[i + 1] - drive->times[i], u = (t - drive->times[i]) / d;
    const double rise = drive->values[i + 1] - drive->values[i];
    if (drive->interpolation == PERP_INTERPOLATE_LINEAR) {
        return rise / d;
    }
    const double m0 = d * drive->slopes[i], m1 = d * drive->slopes[i + 1];
    return (m0 + u * (2.0 * (3.0 * rise - 2.0 * m0 - m1) + u * 3.0 * (m0 + m1 - 2.0 * rise))) / d;
}

double perp_drive_value(const perp_drive *drive, double t)
{
    if (drive->knot_count > 0) {
        return table_value(drive, t);
    }
    double value = drive->offset + drive->rate * t;
    if (drive->bend != 0.0) {
        value += drive->bend * t * t;
    }
    for (int i = 0; i < drive->sine_count; i++) {
        value += drive->sines[i].amplitude * sin(drive->sines[i].omega * t + drive->sines[i].phase);
    }
    return value;
}

double perp_drive_rate(const perp_drive *drive, double t)
{
    if (drive->knot_count > 0) {
        return table_rate(drive, t);
    }
    double rate = drive->rate + 2.0 * drive->bend * t;
    for (int i = 0; i < drive->sine_count; i++) {
        const perp_sine *s = &drive->sines[i];
        rate += s->amplitude * s->omega * cos(s->omega * t + s->phase);
    }
    return rate;
}

bool perp_drive_is_constant(const perp_drive *drive)
{
    for (int i = 1; i < drive->knot_count; i++) {
        if (drive->values[i] != drive->values[0]) {
            return false;
        }
    }
    for (int i = 0; i < drive->sine_count; i++) {
        if (drive->sines[i].amplitude != 0.0 && drive->sines[i].omega != 0.0) {
            return false;
        }
    }
    return drive->rate == 0.0 && drive->bend == 0.0;
}

/* The integral of a linear table is a parabola between knots, which a cubic with these values and slopes is too. */
static bool integrate_table(const perp_drive *rate, double start, perp_arena *arena, perp_drive *path)
{
    const int n = rate->knot_count;
    double *values = PERP_ARENA_NEW(arena, double, (size_t)n);
    if (!values) {
        return false;
    }
    for (int i = 1; i < n; i++) {
        values[i] =
            values[i - 1] + 0.5 * (rate->values[i] + rate->values[i - 1]) * (rate->times[i] - rate->times[i - 1]);
    }
    *path = (perp_drive){.knot_count = n,
                         .times = rate->times,
                         .values = values,
                         .slopes = rate->values,
                         .interpolation = PERP_INTERPOLATE_CUBIC};
    const double shift = start - perp_drive_value(path, 0.0);
    for (int i = 0; i < n; i++) {
        values[i] += shift;
    }
    return true;
}

static const double QUARTER_TURN = 1.5707963267948966;

bool perp_drive_integrate(const perp_drive *rate, double start, perp_arena *arena, perp_drive *path)
{
    if (rate->knot_count > 0) {
        return integrate_table(rate, start, arena, path);
    }
    perp_sine *sines = PERP_ARENA_NEW(arena, perp_sine, (size_t)rate->sine_count);
    if (!sines) {
        return false;
    }
    *path = (perp_drive){.rate = rate->offset, .bend = 0.5 * rate->rate, .sines = sines};
    for (int i = 0; i < rate->sine_count; i++) {
        const perp_sine *s = &rate->sines[i];
        if (s->omega == 0.0) {
            path->rate += s->amplitude * sin(s->phase);
        } else { /* a quarter of a turn behind */
            sines[path->sine_count++] = (perp_sine){s->amplitude / s->omega, s->omega, s->phase - QUARTER_TURN};
        }
    }
    path->offset = start - perp_drive_value(path, 0.0);
    return true;
}

static double coordinate(const perp_drive *drive, double t, double ahead)
{
    const double value = perp_drive_value(drive, t);
    return ahead != 0.0 ? value + ahead * perp_drive_rate(drive, t) : value;
}

/* A rotation has many triples of angles; the written one counts, and only a quaternion is taken apart. */
void perp_body_driven_rpy(const perp_body *body, double t, double ahead, double rpy[3])
{
    perp_quat_to_rpy(body->pose.pose.rotation, rpy);
    for (int i = 0; i < 3; i++) {
        rpy[i] = body->pose.rpy_set ? body->pose.rpy[i] : rpy[i];
        if (body->driven_mask & ((unsigned)PERP_COMPONENT_RX << i)) {
            rpy[i] = coordinate(&body->drives[3 + i], t, ahead);
        }
    }
}

perp_pose perp_body_driven_taylor(const perp_body *body, bool planar, double t, double ahead, double *planar_angle)
{
    perp_pose pose = body->pose.pose;
    double *const position[3] = {&pose.position.x, &pose.position.y, &pose.position.z};
    for (int i = 0; i < 3; i++) {
        if (body->driven_mask & (1u << i)) {
            *position[i] = coordinate(&body->drives[i], t, ahead);
        }
    }
    if (planar) {
        const double angle =
            body->driven_mask & PERP_COMPONENT_RZ ? coordinate(&body->drives[5], t, ahead) : body->pose.angle;
        if (planar_angle) {
            *planar_angle = angle;
        }
        pose.rotation = perp_quat_from_axis_angle(perp_vec3_make(0, 0, 1), angle);
    } else if (body->driven_mask & (PERP_COMPONENT_RX | PERP_COMPONENT_RY | PERP_COMPONENT_RZ)) {
        double rpy[3];
        perp_body_driven_rpy(body, t, ahead, rpy);
        pose.rotation = perp_quat_from_rpy(rpy[0], rpy[1], rpy[2]);
    }
    return pose;
}

perp_pose perp_body_driven_pose(const perp_body *body, bool planar, double t, double *planar_angle)
{
    return perp_body_driven_taylor(body, planar, t, 0.0, planar_angle);
}
