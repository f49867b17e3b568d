/* One pair at a time: perp_spatial_distance and perp_spatial_manifold_build, next to MuJoCo's pair function (called
 * through mjCOLLISIONFUNC, so with no broad phase and no bounding spheres around it) and ODE's dCollide.
 *
 * Classes: apart by 0.1 .. 1 of the margin and overlapping by 5 % of the thinner shape, both turned at random; resting,
 * |gap| up to 1e-6 m, both upright in a common random frame, so that faces meet faces. A sample is the mean over BLOCK
 * pairs, all prepared beforehand; methods take turns. Sizes are 0.02 .. 0.1 m (half lengths, radii).
 *
 * Residual: apart, the distance of the witnesses minus the gap of the two shapes along the normal, by support functions
 * of the benchmark's own: an upper and a lower bound of the true distance, so what is between them bounds the error.
 * Otherwise |phi - that gap|. In a hole, |point_b - point_a - phi normal|, or how far point_b is off the hole's
 * surface.
 */
#include "contact_pairs.h"

#include "pair_peers.h"
#include "pair_support.h"

#include <perp/geometry_hull.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16, MAX_SAMPLES = 2000, ROOM = 8 };

const char *const pair_kind_names[KIND_COUNT] = {"point",     "sphere", "box",   "capsule", "cylinder",
                                                 "ellipsoid", "mesh",   "plane", "hole"};
const char *const pair_class_names[CLASS_COUNT] = {"apart", "resting", "overlapping"};
const char *const pair_method_keys[METHOD_COUNT] = {"distance", "manifold", "mujoco", "ode"};

static const perp_spatial_kind spatial_kind[KIND_COUNT] = {
    PERP_SPATIAL_POINT,     PERP_SPATIAL_POINT, PERP_SPATIAL_BOX,       PERP_SPATIAL_SEGMENT, PERP_SPATIAL_CYLINDER,
    PERP_SPATIAL_ELLIPSOID, PERP_SPATIAL_HULL,  PERP_SPATIAL_HALFSPACE, PERP_SPATIAL_HOLE};

typedef struct bench {
    perp_spatial_hull hull;
    pair_mujoco *mujoco;
    pair_ode *ode;
    double margin;
    perp_spatial_shape a[BLOCK], b[BLOCK];
    double sink; /* keeps the compiler from dropping what it measures */
} bench;

static void die(const char *why)
{
    fprintf(stderr, "bench_contact: %s\n", why);
    exit(1);
}

/* ---- pairs --------------------------------------------------------------------------------------------------------
 */

static double length(perp_random *random)
{
    return exp(perp_random_uniform(random, log(0.02), log(0.1)));
}

static perp_vec3 direction(perp_random *random)
{
    const double z = perp_random_uniform(random, -1.0, 1.0), turn = perp_random_uniform(random, 0.0, 6.283185307179586);
    const double r = sqrt(1.0 - z * z);
    return perp_vec3_make(r * cos(turn), r * sin(turn), z);
}

static perp_spatial_shape make(const bench *s, pair_kind kind, perp_random *random)
{
    perp_spatial_shape shape = {.kind = spatial_kind[kind], .rotation = {{1, 0, 0, 0, 1, 0, 0, 0, 1}}};
    const double x = length(random), y = length(random), z = length(random);
    switch (kind) {
    case KIND_BOX:
    case KIND_ELLIPSOID:
        shape.half_lengths = perp_vec3_make(x, y, z);
        break;
    case KIND_SPHERE:
    case KIND_CAPSULE:
    case KIND_CYLINDER:
        shape.radius = x;
        shape.half_length = y;
        break;
    case KIND_HOLE: /* wide enough for anything that is made here */
        shape.radius = 0.3;
        shape.half_length = 0.3;
        break;
    case KIND_MESH:
        shape.hull = &s->hull;
        break;
    default:
        break;
    }
    return shape;
}

static double gap_of(const bench *s, pair_class class, const perp_spatial_shape *a, const perp_spatial_shape *b,
                     perp_random *random)
{
    if (class == CLASS_APART) {
        return s->margin * perp_random_uniform(random, 0.1, 1.0);
    } else if (class == CLASS_RESTING) {
        return perp_random_uniform(random, -1e-6, 1e-6);
    }
    const double thickness = fmin(pair_thickness(a), pair_thickness(b));
    return -0.05 * (isfinite(thickness) && thickness > 0.0 ? thickness : 0.02);
}

static void place(const bench *s, pair_class class, perp_spatial_shape *a, perp_spatial_shape *b, perp_random *random)
{
    const perp_vec3 axis = direction(random);
    const perp_mat3 frame = perp_quat_to_mat3(perp_quat_from_axis_angle(axis, perp_random_uniform(random, 0.0, 3.0)));
    const double yaw = perp_random_uniform(random, 0.0, 3.0), gap = gap_of(s, class, a, b, random);
    const perp_vec3 other = direction(random);
    a->rotation = frame;
    if (class == CLASS_RESTING) {
        const perp_mat3 turn = perp_quat_to_mat3(perp_quat_from_axis_angle(perp_vec3_make(0, 0, 1), yaw));
        b->rotation = perp_mat3_mul(&frame, &turn);
        const perp_vec3 up = {frame.m[2], frame.m[5], frame.m[8]};
        b->position =
            perp_vec3_add_scaled(perp_vec3_scale(0.005, other), b->kind == PERP_SPATIAL_HALFSPACE ? -0.3 : 0.3, up);
    } else {
        b->rotation = perp_quat_to_mat3(perp_quat_from_axis_angle(other, yaw));
        b->position = perp_vec3_scale(0.3, direction(random));
    }
    if (b->kind == PERP_SPATIAL_HOLE) {
        b->position = perp_vec3_scale(0.01, direction(random)); /* what was made is inside */
    }
    for (int k = 0; k < 8; k++) {
        const perp_separation d = perp_spatial_distance(a, b);
        b->position = perp_vec3_add_scaled(b->position, gap - d.phi, d.normal);
    }
}

/* How far a point is from the surface of the solid around a bore. */
static double off_hole(const perp_spatial_shape *hole, perp_vec3 x)
{
    const perp_vec3 p = perp_mat3_tmul_vec(&hole->rotation, perp_vec3_sub(x, hole->position));
    const double in = sqrt(p.x * p.x + p.y * p.y) - hole->radius, under = hole->half_length - fabs(p.z);
    if (in >= 0.0 && under >= 0.0) {
        return fmin(in, under);
    }
    return sqrt(fmin(in, 0.0) * fmin(in, 0.0) + fmin(under, 0.0) * fmin(under, 0.0));
}

static double residual_of(const perp_spatial_shape *a, const perp_spatial_shape *b)
{
    const perp_separation d = perp_spatial_distance(a, b);
    const perp_vec3 span = perp_vec3_sub(d.point_b, d.point_a);
    if (b->kind == PERP_SPATIAL_HOLE) {
        return fmax(perp_vec3_norm(perp_vec3_add_scaled(span, -d.phi, d.normal)), off_hole(b, d.point_b));
    }
    const double lower = pair_gap_along(a, b, d.normal);
    return fabs((d.phi > 1e-5 ? perp_vec3_norm(span) : d.phi) - lower);
}

/* ---- timing -------------------------------------------------------------------------------------------------------
 */

static int call(bench *s, pair_method method, int i)
{
    switch (method) {
    case METHOD_DISTANCE:
        s->sink += perp_spatial_distance(&s->a[i], &s->b[i]).phi;
        return 1;
    case METHOD_MANIFOLD: {
        const perp_manifold m = perp_spatial_manifold_build(&s->a[i], &s->b[i], INFINITY);
        s->sink += m.points[0].at.phi;
        return m.count;
    }
    case METHOD_MUJOCO:
        return pair_mujoco_call(s->mujoco, 2 * i, 2 * i + 1, s->margin);
    default:
        return pair_ode_call(s->ode, 2 * i, 2 * i + 1, ROOM);
    }
}

/* Enough rounds of the block that a sample lasts some microseconds: the clock costs 30 ns. */
static void time_row(bench *s, pair_row *row, int samples)
{
    static double seconds[METHOD_COUNT][MAX_SAMPLES];
    enum { ROUNDS = 4 };
    for (int k = -2; k < samples; k++) {
        for (pair_method m = 0; m < METHOD_COUNT; m++) {
            int points = 0;
            if (!row->timed[m]) {
                continue;
            }
            const double start = timing_now();
            for (int i = 0; i < ROUNDS * BLOCK; i++) {
                points += call(s, m, i % BLOCK);
            }
            seconds[m][k < 0 ? 0 : k] = (timing_now() - start) / (ROUNDS * BLOCK);
            row->points[m] = (double)points / (ROUNDS * BLOCK);
        }
    }
    for (pair_method m = 0; m < METHOD_COUNT; m++) {
        if (row->timed[m]) {
            row->time[m] = timing_summary(seconds[m], samples);
        }
    }
}

static void measure_row(bench *s, pair_row *row, int samples)
{
    perp_random random = {1 + (uint64_t)row->a + 100 * (uint64_t)row->b + 10000 * (uint64_t)row->class};
    const perp_spatial_kind a = spatial_kind[row->a], b = spatial_kind[row->b];
    row->timed[METHOD_DISTANCE] = row->timed[METHOD_MANIFOLD] = true;
    row->timed[METHOD_MUJOCO] = pair_mujoco_has(a, b);
    row->timed[METHOD_ODE] = pair_ode_has(a, b);
    for (int i = 0; i < BLOCK; i++) {
        s->a[i] = make(s, row->a, &random);
        s->b[i] = make(s, row->b, &random);
        place(s, row->class, &s->a[i], &s->b[i], &random);
        if (!isfinite(perp_spatial_distance(&s->a[i], &s->b[i]).phi)) {
            die("a pair is not finite");
        }
        row->residual = fmax(row->residual, residual_of(&s->a[i], &s->b[i]));
        if (row->timed[METHOD_MUJOCO]) {
            pair_mujoco_set(s->mujoco, 2 * i, &s->a[i]);
            pair_mujoco_set(s->mujoco, 2 * i + 1, &s->b[i]);
        }
        if (row->timed[METHOD_ODE]) {
            pair_ode_set(s->ode, 2 * i, &s->a[i]);
            pair_ode_set(s->ode, 2 * i + 1, &s->b[i]);
        }
    }
    time_row(s, row, samples);
}

/* Twenty corners on an ellipsoid. */
static void make_hull(perp_spatial_hull *hull)
{
    perp_random random = {7};
    perp_vec3 points[20];
    perp_hull h;
    for (int i = 0; i < 20; i++) {
        const perp_vec3 d = direction(&random);
        points[i] = perp_vec3_make(0.08 * d.x, 0.06 * d.y, 0.05 * d.z);
    }
    if (perp_hull_build(points, 20, NULL, &h, NULL) != PERP_STATUS_OK ||
        perp_spatial_hull_prepare(h.points, h.point_count, h.triangles, h.triangle_count, NULL, hull, NULL) !=
            PERP_STATUS_OK) {
        die("the mesh was refused");
    }
    perp_hull_free(&h);
}

int pair_rows_measure(pair_row *rows, int samples, double margin)
{
    static bench s;
    int count = 0;
    make_hull(&s.hull);
    s.margin = margin;
    s.mujoco = pair_mujoco_open(2 * BLOCK, &s.hull);
    s.ode = pair_ode_open(2 * BLOCK, &s.hull);
    if (!s.mujoco || !s.ode) {
        die("a peer could not be opened");
    }
    samples = samples > MAX_SAMPLES ? MAX_SAMPLES : samples;
    for (pair_kind a = 0; a < KIND_COUNT; a++) {
        for (pair_kind b = a; b < KIND_COUNT; b++) {
            for (pair_class class = 0; class < CLASS_COUNT && !(a >= KIND_PLANE); class ++) {
                rows[count] = (pair_row){.a = a, .b = b, .class = class};
                measure_row(&s, &rows[count++], samples);
            }
        }
    }
    pair_mujoco_close(s.mujoco);
    pair_ode_close(s.ode);
    perp_spatial_hull_free(&s.hull);
    return count;
}
