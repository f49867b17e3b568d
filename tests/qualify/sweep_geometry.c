/* Spatial distances of random pairs, each judged without the code that made it: see reference_distance.h. */
#include "sweep.h"

#include "reference_distance.h"
#include "sweep_geometry_shapes.h"
#include "sweep_measure.h"

#include "geometry/spatial_core.h"

#include <stdio.h>
#include <time.h>

/* ---- what is measured --------------------------------------------------------------------------------------------
 */

enum {
    PAIRS,
    APART,
    SHALLOW,
    DEEP,
    TIES,
    CLOSED,    /* judged by a closed form */
    CROSSED,   /* judged by the ellipsoid method too */
    UNSETTLED, /* neither proven nor disproved to be the shortest way out */
    NOT_LEAST, /* deep, and not the shortest way out to 1e-7 m; of those looked at */
    KINKS,     /* no derivative there */
    NEAR_TIES, /* of these: a tie is as near as its tolerance, and the rate is that of its other side */
    SNAPPED,   /* cores apart, and a face's normal taken that is not that of the nearest points */
    BESIDE,    /* no tie, and a witness farther than 1e-9 m from its surface */
    EXHAUSTED, /* deep, and EPA used all its vertices */
    FAILED,
    ERROR_CLOSED,
    ERROR_APART,
    ERROR_SHALLOW,
    ERROR_DEEP, /* relative */
    OFF_SURFACE,
    OFF_PART, /* no tie: of the tolerance of ties */
    ERROR_SWAP,
    ERROR_MOTION,
    ERROR_NORMAL, /* of swap and motion */
    ERROR_GRADIENT,
    ERROR_STEP, /* by which phi changes more than b moves */
    GJK,
    EPA,
    SLOWEST,
    COLUMNS
};

static const measure_column columns[COLUMNS] = {
    {"pairs", false},          {"apart", false},         {"shallow", false},
    {"deep", false},           {"ties", false},          {"closed form", false},
    {"cross-checked", false},  {"unsettled", false},     {"deep, not least", false},
    {"kinks", false},          {"near ties", false},     {"snapped apart", false},
    {"witness beside", false}, {"EPA exhausted", false}, {"failed", false},
    {"closed form, m", true},  {"apart, m", true},       {"shallow, m", true},
    {"deep, of 1", true},      {"off surface, m", true}, {"off surface, of the tie tolerance", true},
    {"swap, m", true},         {"motion, m", true},      {"normal, rad", true},
    {"gradient", true},        {"step, m", true},        {"GJK steps", true},
    {"EPA steps", true},       {"slowest, us", true},
};

/* What the requirement allows. */
static const double exact = 1e-9, near = 1e-7, part = 0.01;

enum { CROSS_CHECK_EVERY = 5 };

/* ---- a case ------------------------------------------------------------------------------------------------------
 */

enum { KIND_APART, KIND_SHALLOW, KIND_DEEP };

typedef struct pair {
    solid a, b;
    perp_separation s;
    perp_spatial_trace trace; /* of the last query */
    bool limit;               /* of any query */
    double allowed;           /* for what ties may differ by, or `exact` */
    double *row;
    sweep_case *result;
    char name[48];
    int index;
} pair;

static perp_separation query(pair *p, const perp_spatial_shape *a, const perp_spatial_shape *b)
{
    const perp_separation s = perp_spatial_distance_traced(a, b, INFINITY, &p->trace);
    p->limit = p->limit || p->trace.limit;
    return s;
}

static bool has_hole(const pair *p)
{
    return p->a.shape.kind == PERP_SPATIAL_HOLE || p->b.shape.kind == PERP_SPATIAL_HOLE;
}

/* Sizes are those of the cores, in a hole those of the whole shape. */
static double tie_tolerance(const pair *p)
{
    const double radii = has_hole(p) ? rounding_of(&p->a.shape) + rounding_of(&p->b.shape) : 0;
    return 4e-9 + 2e-9 * (p->a.core + p->b.core + 2 * radii);
}

/* The shapes of a case: all pairs of kinds equally often, but for those that make no contact. */
static void make_pair(uint64_t seed, int index, perp_random *random, pair *p)
{
    static const char *const names[PERP_SPATIAL_KIND_COUNT] = {"sphere",   "capsule",   "box",   "hull",
                                                               "cylinder", "ellipsoid", "plane", "hole"};
    int kinds[2];
    random->state = sweep_mix(seed, index);
    do {
        kinds[0] = pick(random, PERP_SPATIAL_HALFSPACE);
        kinds[1] = pick(random, PERP_SPATIAL_KIND_COUNT);
    } while (kinds[0] > kinds[1]);
    const double ratio = pick(random, 10) == 0 ? 1000 : 100;
    const int swap = pick(random, 2);
    p->index = index;
    snprintf(p->name, sizeof p->name, "%s-%s", names[kinds[0]], names[kinds[1]]);
    random_solid(random, (perp_spatial_kind)kinds[swap], ratio, &p->a);
    random_solid(random, (perp_spatial_kind)kinds[1 - swap], ratio, &p->b);
    put(random, &p->a, &p->b);
}

static reference_shape reference_of(const solid *s, const perp_spatial_shape *shape)
{
    return (reference_shape){shape, s->triangle_count, s->triangles};
}

/* ---- the answer itself -------------------------------------------------------------------------------------------
 */

static void ask(pair *p)
{
    struct timespec start, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    p->s = query(p, &p->a.shape, &p->b.shape);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    const double taken = 1e6 * (double)(end.tv_sec - start.tv_sec) + 1e-3 * (double)(end.tv_nsec - start.tv_nsec);
    measure_most(&p->row[SLOWEST], taken);
    measure_most(&p->row[GJK], p->trace.gjk_iterations);
    measure_most(&p->row[EPA], p->trace.epa_iterations);
    p->allowed = p->s.tie ? tie_tolerance(p) : exact;
    p->row[TIES] += p->s.tie;
    p->row[EXHAUSTED] += p->trace.exhausted;
    if (p->s.tie) {
        measure_list(p->name, p->index);
    }
    if (p->trace.limit) {
        sweep_fail(p->result, "%s: an iteration limit was hit: %d GJK and %d EPA steps, phi %.17g", p->name,
                   p->trace.gjk_iterations, p->trace.epa_iterations, p->s.phi);
    }
}

static bool finite_vec(perp_vec3 v)
{
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

/* Unit normal, witnesses along it and on the surfaces. */
static void check_witnesses(pair *p)
{
    const perp_separation *s = &p->s;
    if (!isfinite(s->phi) || !finite_vec(s->normal) || !finite_vec(s->point_a) || !finite_vec(s->point_b)) {
        sweep_fail(p->result, "%s: not finite", p->name);
        return;
    }
    const double length = perp_vec3_norm(s->normal);
    const perp_vec3 d = perp_vec3_add_scaled(perp_vec3_sub(s->point_b, s->point_a), -s->phi, s->normal);
    const double extent = 10 + fabs(s->phi) + p->a.core + p->b.core; /* coordinates are of this size */
    if (!(fabs(length - 1) <= 1e-14) || !(perp_vec3_norm(d) <= 1e-14 * extent)) {
        sweep_fail(p->result, "%s: |normal| is 1 + %.3g, point_b - point_a is off phi normal by %.3g", p->name,
                   length - 1, perp_vec3_norm(d));
    }
    const reference_shape a = reference_of(&p->a, &p->a.shape), b = reference_of(&p->b, &p->b.shape);
    const double off[2] = {reference_off_surface(&a, s->point_a), reference_off_surface(&b, s->point_b)};
    const double most = fmax(off[0], off[1]);
    measure_most(&p->row[OFF_SURFACE], most);
    p->row[BESIDE] += !s->tie && most > exact + 1e-15 * extent;
    if (!s->tie) {
        measure_most(&p->row[OFF_PART], most / tie_tolerance(p));
    }
    const bool planes = p->a.shape.kind == PERP_SPATIAL_HALFSPACE || p->b.shape.kind == PERP_SPATIAL_HALFSPACE;
    const double core = s->phi + rounding_of(&p->a.shape) + rounding_of(&p->b.shape);
    p->row[SNAPPED] += !planes && !has_hole(p) && core > tie_tolerance(p) && (s->tie || most > exact + 1e-15 * extent);
    /* A face's normal is kept while the nearest points are over the face to the tolerance of ties, so that a motion by
     * 1e-9 does not flip what is exact by design; the witness is then past the border by up to that. Where no tie is
     * told, for the normals differ by less than 1e-6 rad, it is 1e-9 m but for about 1 pair in 10,000 and 0.45 of the
     * tolerance at most. */
    if (!(most <= (s->tie ? 1 : 0.5) * tie_tolerance(p))) {
        sweep_fail(p->result, "%s: witnesses: off the surfaces by %.3g and %.3g, phi %.9g%s", p->name, off[0], off[1],
                   s->phi, s->tie ? ", tie" : "");
    }
}

static void check_closed_form(pair *p)
{
    double expected;
    if (!reference_closed_form(&p->a.shape, &p->b.shape, &expected)) {
        return;
    }
    const double error = fabs(p->s.phi - expected);
    p->row[CLOSED]++;
    if (!p->s.tie) {
        measure_most(&p->row[ERROR_CLOSED], error);
    }
    if (!(error <= p->allowed)) {
        sweep_fail(p->result, "%s: closed form: phi %.17g is not %.17g: %.3g%s", p->name, p->s.phi, expected, error,
                   p->s.tie ? ", tie" : "");
    }
}

/* ---- against bounds ----------------------------------------------------------------------------------------------
 */

/* The answer as one of the cores: what the radii add is exact. */
typedef struct core_answer {
    perp_spatial_shape a, b;
    double phi;
    perp_vec3 on_a, on_b;
    double off;   /* how far on_a and on_b are from the cores' surfaces, together */
    double lower; /* the gap along the normal */
    double upper; /* if the cores are apart: of their distance */
} core_answer;

static core_answer core_of(const pair *p)
{
    const double radius[2] = {rounding_of(&p->a.shape), rounding_of(&p->b.shape)};
    core_answer c = {.a = p->a.shape, .b = p->b.shape, .phi = p->s.phi + radius[0] + radius[1]};
    if (radius[0] > 0) {
        c.a.radius = 0;
    }
    if (radius[1] > 0) {
        c.b.radius = 0;
    }
    c.on_a = perp_vec3_add_scaled(p->s.point_a, -radius[0], p->s.normal);
    c.on_b = perp_vec3_add_scaled(p->s.point_b, radius[1], p->s.normal);
    const reference_shape a = reference_of(&p->a, &c.a), b = reference_of(&p->b, &c.b);
    c.off = reference_off_surface(&a, c.on_a) + reference_off_surface(&b, c.on_b);
    c.lower = reference_gap_along(&c.a, &c.b, p->s.normal);
    c.upper = perp_vec3_norm(perp_vec3_sub(c.on_b, c.on_a)) + c.off;
    return c;
}

/* Cores that are apart: the answer's own bounds, and of some pairs, or where those do not meet, independent ones. */
static double check_apart(pair *p, const core_answer *c)
{
    double error = fmax(c->upper - c->phi, c->phi - c->lower);
    if (error <= near && p->index % CROSS_CHECK_EVERY != 0) {
        return error;
    }
    const reference_bounds bounds = reference_core_distance(&c->a, &c->b, 1e-8);
    const double outside = fmax(bounds.lower - c->phi, c->phi - bounds.upper);
    const bool settled = !bounds.limit && bounds.upper - bounds.lower <= 1e-8;
    p->row[CROSSED] += settled;
    p->row[UNSETTLED] += !settled;
    if (error > near) {
        error = outside + (bounds.upper - bounds.lower);
    }
    if (!(fmax(error, outside) <= near)) {
        sweep_fail(p->result, "%s: apart: core distance %.17g, its own bounds %.17g %.17g, the reference's %.17g %.17g",
                   p->name, c->phi, c->lower, c->upper, bounds.lower, bounds.upper);
    }
    return fmax(error, outside);
}

/* Cores that overlap: the translation separates, and none is shorter by more than `tolerance`. */
static double check_overlap(pair *p, const core_answer *c, double tolerance)
{
    const double separates = c->phi - c->lower;
    if (!(separates <= exact)) {
        sweep_fail(p->result, "%s: overlap: moved by phi the cores still overlap by %.3g, phi %.9g%s", p->name,
                   separates, p->s.phi, p->s.tie ? ", tie" : "");
    }
    const perp_vec3 inner = perp_vec3_sub(c->on_a, c->on_b);
    reference_minimality m = reference_depth(&c->a, &c->b, -c->phi, inner, c->off, tolerance);
    p->row[UNSETTLED] += m.verdict == REFERENCE_UNSETTLED;
    if (m.verdict == REFERENCE_DISPROVED) {
        sweep_fail(p->result,
                   "%s: overlap: depth %.17g of the cores, but %.17g along (%.17g, %.17g, %.17g); radii %g%s", p->name,
                   -c->phi, m.least, m.direction.x, m.direction.y, m.direction.z, p->s.phi - c->phi,
                   p->s.tie ? ", tie" : "");
    }
    if (tolerance > near && p->index % CROSS_CHECK_EVERY == 0) {
        m = reference_depth(&c->a, &c->b, -c->phi, inner, c->off, near);
        p->row[NOT_LEAST] += m.verdict == REFERENCE_DISPROVED;
    }
    return fmax(-c->phi - m.least, separates);
}

/* Phi of a shape and a hole is the least over half plates, deep ones to a part of it. One is no more: that of the
 * normal's angle, or another where the normal is axial; apart, the witnesses show that. None is less, which arcs of
 * them show. */
static void check_bore(pair *p, int kind)
{
    const bool hole_a = p->a.shape.kind == PERP_SPATIAL_HOLE, chosen = p->index % CROSS_CHECK_EVERY == 0;
    const perp_spatial_shape *hole = hole_a ? &p->a.shape : &p->b.shape, *x = hole_a ? &p->b.shape : &p->a.shape;
    const perp_vec3 n = perp_mat3_tmul_vec(&hole->rotation, perp_vec3_scale(hole_a ? -1 : 1, p->s.normal));
    if (p->s.phi <= 0 || chosen) {
        double least = reference_half_plate(x, hole, atan2(n.y, n.x));
        if (fabs(least - p->s.phi) > exact) {
            least = reference_hole_least(x, hole, p->s.phi + exact);
        }
        const double error = fmax(least - p->s.phi, 0);
        measure_most(&p->row[ERROR_APART + kind], kind == KIND_DEEP ? error / -p->s.phi : error);
        if (!(error <= near)) {
            sweep_fail(p->result, "%s: bore: no half plate is as near as phi %.17g, but %.17g%s", p->name, p->s.phi,
                       least, p->s.tie ? ", tie" : "");
        }
    }
    if (!chosen) {
        return;
    }
    const double tolerance = near + (p->s.tie ? tie_tolerance(p) : 0);
    const reference_minimality m = reference_hole(x, hole, p->s.phi, tolerance);
    p->row[CROSSED] += m.verdict == REFERENCE_PROVEN;
    p->row[UNSETTLED] += m.verdict == REFERENCE_UNSETTLED;
    p->row[NOT_LEAST] += m.verdict == REFERENCE_DISPROVED;
    if (p->s.phi - m.least > (kind == KIND_DEEP ? fmax(tolerance, -part * p->s.phi) : tolerance)) {
        sweep_fail(p->result, "%s: bore: phi %.17g, but a half plate has %.17g: %.3g%s", p->name, p->s.phi, m.least,
                   p->s.phi - m.least, p->s.tie ? ", tie" : "");
    }
}

static void check_value(pair *p)
{
    const double depth = -p->s.phi, thin = fmin(p->a.smallest, p->b.smallest);
    const bool deep = depth > 0.1 * thin && part * depth > near; /* less than `near` is asked of none */
    const int kind = depth <= 0 ? KIND_APART : deep ? KIND_DEEP : KIND_SHALLOW;
    p->result->kind = kind;
    p->row[APART + kind]++;
    if (has_hole(p)) {
        check_bore(p, kind);
        return;
    }
    if (p->a.shape.kind == PERP_SPATIAL_HALFSPACE || p->b.shape.kind == PERP_SPATIAL_HALFSPACE) {
        const double gap = reference_gap_along(&p->a.shape, &p->b.shape, p->s.normal);
        if (!(fabs(gap - p->s.phi) <= exact)) {
            sweep_fail(p->result, "%s: the gap along the normal is %.17g, phi %.17g", p->name, gap, p->s.phi);
        }
        return;
    }
    const core_answer c = core_of(p);
    const double error = c.phi > 0 ? check_apart(p, &c) : check_overlap(p, &c, deep ? part * depth : near);
    measure_most(&p->row[ERROR_APART + kind], kind == KIND_DEEP ? error / depth : error);
}

/* ---- identities --------------------------------------------------------------------------------------------------
 */

static perp_spatial_shape moved(const perp_spatial_shape *s, const perp_mat3 *turn, perp_vec3 about, perp_vec3 by)
{
    perp_spatial_shape m = *s;
    m.rotation = perp_mat3_mul(turn, &s->rotation);
    m.position = perp_vec3_add(perp_vec3_add(about, by), perp_mat3_mul_vec(turn, perp_vec3_sub(s->position, about)));
    return m;
}

/* Normals are compared where they are unique and not the direction of a vanishing vector: to what two ways of rounding
 * the input (1e-15 of the coordinates) can turn them, and 2e-6 where a face is taken for another within 1e-6. */
static void compare(pair *p, const char *what, int column, perp_separation other, perp_vec3 normal)
{
    const double error = fabs(other.phi - p->s.phi), allowed = other.tie || p->s.tie ? tie_tolerance(p) : exact;
    const double turn = perp_vec3_norm(perp_vec3_sub(other.normal, normal));
    measure_most(&p->row[column], error);
    if (!(error <= allowed)) {
        sweep_fail(p->result, "%s: %s: phi %.17g becomes %.17g, by %.3g%s%s", p->name, what, p->s.phi, other.phi,
                   other.phi - p->s.phi, p->s.tie ? ", tie" : "", other.tie ? ", tie there" : "");
    }
    const double core = fabs(p->s.phi + rounding_of(&p->a.shape) + rounding_of(&p->b.shape));
    if (other.tie || p->s.tie || core <= 1e-3) {
        return;
    }
    measure_most(&p->row[ERROR_NORMAL], turn);
    if (!(turn <= 2e-6)) {
        sweep_fail(p->result, "%s: %s: the normal turns by %.3g, phi %.9g, core %.3g", p->name, what, turn, p->s.phi,
                   core);
    }
}

static void check_identities(pair *p, perp_random *random)
{
    const perp_separation back = query(p, &p->b.shape, &p->a.shape);
    compare(p, "swap", ERROR_SWAP, back, perp_vec3_scale(-1, p->s.normal));
    const perp_mat3 turn = random_rotation(random);
    const perp_vec3 zero = {0, 0, 0}, by = random_vec(random);
    const perp_spatial_shape a = moved(&p->a.shape, &turn, zero, by), b = moved(&p->b.shape, &turn, zero, by);
    compare(p, "motion", ERROR_MOTION, query(p, &a, &b), perp_mat3_mul_vec(&turn, p->s.normal));
}

/* ---- the derivative ----------------------------------------------------------------------------------------------
 */

typedef struct motion {
    perp_vec3 velocity, rate; /* at the position, m/s and rad/s */
} motion;

/* The witness of a shape moves at about 1 m/s, by translation and by rotation alike. */
static motion random_motion(perp_random *random, const solid *s)
{
    const double reach = fmax(reach_of(s), 1e-3);
    return (motion){random_vec(random), perp_vec3_scale(1 / reach, random_vec(random))};
}

static perp_spatial_shape after(const perp_spatial_shape *s, motion m, double time)
{
    const perp_mat3 turn = perp_quat_to_mat3(perp_quat_exp(perp_vec3_scale(time, m.rate)));
    return moved(s, &turn, s->position, perp_vec3_scale(time, m.velocity));
}

static perp_vec3 velocity_at(const perp_spatial_shape *s, motion m, perp_vec3 point)
{
    return perp_vec3_add(m.velocity, perp_vec3_cross(m.rate, perp_vec3_sub(point, s->position)));
}

/* The pair in motion, seen from a's position now, so that coordinates are no larger than they need be. */
typedef struct course {
    pair *p;
    perp_spatial_shape a, b;
    motion motion_a, motion_b;
    double phi; /* now */
    bool tie;   /* somewhere on the way */
} course;

static perp_separation separation_at(course *c, double time)
{
    const perp_spatial_shape a = after(&c->a, c->motion_a, time), b = after(&c->b, c->motion_b, time);
    const perp_separation s = query(c->p, &a, &b);
    c->tie = c->tie || s.tie;
    return s;
}

static double phi_at(course *c, double time)
{
    return separation_at(c, time).phi;
}

/* Slopes of phi about now. */
typedef struct slopes {
    double low, high;
    double jump; /* from one side to the other */
} slopes;

/* Where phi has a kink, for another feature takes over, its rate is that of one side or between. The slope on each side
 * is taken at two steps, h and h / 6, and straightened to h = 0 by them, which leaves an error of the order of their
 * difference; where that is large the kink is not at 0 but between, and what is nearer is out of sight. */
static slopes slopes_within(course *c, double h)
{
    double straight[2];
    slopes s = {INFINITY, -INFINITY, 0};
    for (int side = 0; side < 2; side++) {
        const double t = side ? h : -h;
        const double coarse = (phi_at(c, t) - c->phi) / t, fine = (phi_at(c, t / 6) - c->phi) / (t / 6);
        const double bend = fabs(fine - coarse);
        straight[side] = fine + (fine - coarse) / 5;
        s.low = fmin(s.low, straight[side] - 3 * bend);
        s.high = fmax(s.high, straight[side] + 3 * bend);
    }
    s.jump = straight[1] - straight[0];
    return s;
}

/* A rate that no central difference confirms is that of a kink within h, or of one so near that the tolerance of ties
 * decides which side is taken: within a motion of 30 times that. Other than these it is wrong. */
static void check_kink(course *c, double h, double rate, double speed, double allowed)
{
    const slopes s = slopes_within(c, h);
    c->p->row[KINKS]++;
    if (c->tie || (rate >= s.low - allowed && rate <= s.high + allowed)) {
        return;
    }
    const slopes wide = slopes_within(c, 30 * tie_tolerance(c->p) / speed);
    c->p->row[NEAR_TIES]++;
    if (!c->tie && !(rate >= wide.low - allowed && rate <= wide.high + allowed)) {
        sweep_fail(c->p->result, "%s: gradient: rate %.9g, slopes %.9g to %.9g (jump %.3g), phi %.9g", c->p->name, rate,
                   s.low, s.high, s.jump, c->p->s.phi);
    }
}

/* d phi / dt = normal . (velocity of point_b - velocity of point_a). Steps from large to small: the first whose central
 * difference agrees will do, for a wrong rate agrees with none. The normal of cores that are apart by little is the
 * direction of a short vector, uncertain by rounding over its length; what that does to the rate is allowed. */
static void check_gradient(pair *p, perp_random *random)
{
    course c = {.p = p, .a = p->a.shape, .b = p->b.shape};
    c.motion_a = random_motion(random, &p->a);
    c.motion_b = random_motion(random, &p->b);
    c.a.position = perp_vec3_make(0, 0, 0);
    c.b.position = perp_vec3_sub(p->b.shape.position, p->a.shape.position);
    const perp_separation now = separation_at(&c, 0);
    if (now.tie) {
        p->row[KINKS]++;
        return;
    }
    const perp_vec3 relative =
        perp_vec3_sub(velocity_at(&c.b, c.motion_b, now.point_b), velocity_at(&c.a, c.motion_a, now.point_a));
    const double rate = perp_vec3_dot(now.normal, relative), speed = 1 + perp_vec3_norm(relative);
    const bool plane = c.a.kind == PERP_SPATIAL_HALFSPACE || c.b.kind == PERP_SPATIAL_HALFSPACE;
    const double core = plane ? 0 : now.phi + rounding_of(&c.a) + rounding_of(&c.b);
    const double rounding = 2e-16 * (fabs(now.phi) + perp_vec3_norm(c.b.position) + p->a.core + p->b.core);
    const double uncertain = core > 0 ? fmin(4 * rounding / core, 0.1) : 0, allowed = speed * (1e-6 + uncertain);
    const double reach = fmin(reach_of(&p->a), reach_of(&p->b));
    double h = 1e-3 * fmin(fmax(reach, 1e-3), 1) / speed, least = INFINITY;
    c.phi = now.phi;
    for (; rounding / h < 0.3e-6 * speed; h /= 6) {
        const double error = fabs((phi_at(&c, h) - phi_at(&c, -h)) / (2 * h) - rate);
        if (least <= allowed) { /* one step more than needed, for what is measured to be the rate's error */
            measure_most(&p->row[ERROR_GRADIENT], uncertain < 1e-7 ? fmin(error, least) / speed : 0);
            return;
        }
        least = fmin(least, error);
    }
    if (least <= allowed) {
        return;
    }
    check_kink(&c, 36 * h, rate, speed, allowed);
}

/* Phi changes by no more than a shape moves; depths that are known to a part of them are only as steady as that. */
static void check_step(pair *p, perp_random *random)
{
    const double length = log_uniform(random, 1e-9, 1) * (reach_of(&p->a) + reach_of(&p->b));
    perp_spatial_shape b = p->b.shape;
    b.position = perp_vec3_add_scaled(b.position, length, perp_vec3_normalise(random_vec(random)));
    const perp_separation s = query(p, &p->a.shape, &b);
    const double depths = has_hole(p) ? 0 : fmax(-p->s.phi, 0) + fmax(-s.phi, 0);
    const double ties = (p->s.tie + s.tie) * tie_tolerance(p), excess = fabs(s.phi - p->s.phi) - length;
    measure_most(&p->row[ERROR_STEP], excess);
    if (!(excess <= fmax(2 * near, part * depths) + ties)) {
        sweep_fail(p->result, "%s: step: moved by %.9g, phi %.17g becomes %.17g", p->name, length, p->s.phi, s.phi);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 */

static void run(uint64_t seed, int index, sweep_case *result)
{
    static pair p;
    perp_random random;
    make_pair(seed, index, &random, &p);
    p.result = result;
    p.limit = false;
    p.row = measure_row(p.name, columns, COLUMNS);
    p.row[PAIRS]++;
    ask(&p);
    check_witnesses(&p);
    if (!result->failed || isfinite(p.s.phi)) {
        check_closed_form(&p);
        check_value(&p);
        check_identities(&p, &random);
        check_gradient(&p, &random);
        check_step(&p, &random);
    }
    if (p.limit) { /* of the first query it has been told with more */
        sweep_fail(result, "%s: an iteration limit was hit by a query of the identities, slopes or steps", p.name);
    }
    p.row[FAILED] += result->failed;
    drop(&p.a);
    drop(&p.b);
}

static void show_shape(const char *name, const perp_spatial_shape *s)
{
    const double *m = s->rotation.m;
    printf("%s: kind %d radius %.17g half_length %.17g half_lengths %.17g %.17g %.17g\n  position %.17g %.17g %.17g\n",
           name, (int)s->kind, s->radius, s->half_length, s->half_lengths.x, s->half_lengths.y, s->half_lengths.z,
           s->position.x, s->position.y, s->position.z);
    printf("  rotation %.17g %.17g %.17g  %.17g %.17g %.17g  %.17g %.17g %.17g\n", m[0], m[1], m[2], m[3], m[4], m[5],
           m[6], m[7], m[8]);
    for (int i = 0; s->kind == PERP_SPATIAL_HULL && i < s->hull->corner_count; i++) {
        printf("  corner %.17g %.17g %.17g\n", s->hull->corners[i].x, s->hull->corners[i].y, s->hull->corners[i].z);
    }
}

static void show(uint64_t seed, int index)
{
    static pair p;
    perp_random random;
    make_pair(seed, index, &random, &p);
    show_shape("a", &p.a.shape);
    show_shape("b", &p.b.shape);
    p.s = query(&p, &p.a.shape, &p.b.shape);
    printf("phi %.17g normal %.17g %.17g %.17g tie %d\n  point_a %.17g %.17g %.17g\n  point_b %.17g %.17g %.17g\n",
           p.s.phi, p.s.normal.x, p.s.normal.y, p.s.normal.z, p.s.tie, p.s.point_a.x, p.s.point_a.y, p.s.point_a.z,
           p.s.point_b.x, p.s.point_b.y, p.s.point_b.z);
    drop(&p.a);
    drop(&p.b);
}

const sweep the_sweep = {
    .name = "geometry",
    .checks = "spatial pairs, sizes 1e-3 to 10 m, aspect ratios to 1:100 and a tenth to 1:1000: phi within 1e-9 m of "
              "closed forms and 1e-7 m of bounds that enclose it, deep ones within 1 % of the shortest way out; "
              "witnesses on the surfaces; swapping and a common motion change nothing beyond 1e-9 m (ties: 4e-9 m + "
              "2e-9 of the sizes); the gap's slope is J v to 1e-6, and it changes by no more than a body moves; no "
              "iteration limit",
    .full = 1000000,
    .sample = 20000,
    .chunk = 10000,
    .kinds = {"apart", "shallow", "deep"},
    .run = run,
    .show = show,
};
