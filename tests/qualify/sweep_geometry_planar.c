/* Planar distances of random pairs against the slow reference: see reference_distance.h. */
#include "sweep.h"

#include "reference_distance.h"
#include "sweep_measure.h"

#include <perp/geometry.h>

#include <stdio.h>
#include <stdlib.h>

enum {
    PAIRS,
    APART,
    OVERLAPPING,
    TIES,
    KINKS,
    FAILED,
    ERROR_VALUE,
    OFF_BOUNDARY,
    ERROR_SWAP,
    ERROR_MOTION,
    ERROR_GRADIENT,
    COLUMNS
};

static const measure_column columns[COLUMNS] = {
    {"pairs", false},  {"apart", false},    {"overlapping", false}, {"ties", false},
    {"kinks", false},  {"failed", false},   {"phi, m", true},       {"off boundary, m", true},
    {"swap, m", true}, {"motion, m", true}, {"gradient", true},
};

static const double exact = 1e-9, two_pi = 6.283185307179586;

enum { MAX_CORNERS = 16 };

typedef enum flat_kind { DISC, CAPSULE, BOX, POLYGON, HALFPLANE, HOLE, FLAT_KINDS } flat_kind;

/* A shape that owns its corners, given in its own frame and placed. */
typedef struct flat {
    perp_planar_shape shape;
    perp_vec3 local[MAX_CORNERS], corners[MAX_CORNERS];
    perp_vec3 position;
    double angle;
    double size, smallest, reach; /* m */
} flat;

typedef struct pair {
    flat a, b;
    perp_separation s;
    double *row;
    sweep_case *result;
    char name[48];
} pair;

static perp_vec3 at(double x, double y)
{
    return perp_vec3_make(x, y, 0);
}

static double between(perp_random *random, double low, double high)
{
    return perp_random_uniform(random, low, high);
}

static double log_uniform(perp_random *random, double low, double high)
{
    return exp(between(random, log(low), log(high)));
}

static int pick(perp_random *random, int count)
{
    return (int)(perp_random_bits(random) % (uint64_t)count);
}

static perp_vec3 turned(perp_vec3 p, double angle)
{
    const double c = cos(angle), s = sin(angle);
    return at(c * p.x - s * p.y, s * p.x + c * p.y);
}

/* To be called after every change of position or angle. */
static void place(flat *f)
{
    for (int i = 0; i < f->shape.count; i++) {
        f->corners[i] = perp_vec3_add(f->position, turned(f->local[i], f->angle));
    }
    f->shape.corners = f->corners;
    f->shape.centre = f->position;
    f->shape.normal = turned(at(1, 0), f->angle);
    f->shape.offset = perp_vec3_dot(f->shape.normal, f->position);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Corners on an ellipse, in a ring. */
static void make_polygon(perp_random *random, double size, double thin, flat *f)
{
    double angles[MAX_CORNERS];
    f->shape.count = 3 + pick(random, MAX_CORNERS - 2);
    for (int i = 0; i < f->shape.count; i++) {
        angles[i] = two_pi * (i + between(random, 0, 0.9)) / f->shape.count;
    }
    qsort(angles, (size_t)f->shape.count, sizeof angles[0], by_value);
    for (int i = 0; i < f->shape.count; i++) {
        f->local[i] = at(size / 2 * cos(angles[i]), thin / 2 * sin(angles[i]));
    }
}

/* About the origin. */
static void random_flat(perp_random *random, flat_kind kind, double ratio, flat *f)
{
    const double size = log_uniform(random, 1e-3, 10), thin = size / log_uniform(random, 1, ratio);
    *f = (flat){.shape.kind = PERP_PLANAR_CORE, .shape.count = 1, .size = size, .smallest = thin, .reach = size / 2};
    const bool thick = pick(random, 5) > 0;
    switch (kind) {
    case DISC:
        f->shape.radius = thick ? size / 2 : 0;
        f->smallest = size;
        break;
    case CAPSULE:
        f->shape.count = 2;
        f->shape.radius = thick ? thin / 2 : 0;
        f->local[0] = at(-size / 2, 0);
        f->local[1] = at(size / 2, 0);
        f->reach += thin / 2;
        break;
    case BOX:
        f->shape.count = 4;
        for (int i = 0; i < 4; i++) {
            f->local[i] = at((i == 1 || i == 2 ? size : -size) / 2, (i >= 2 ? thin : -thin) / 2);
        }
        f->reach = hypot(size, thin) / 2;
        break;
    case POLYGON:
        make_polygon(random, size, thin, f);
        f->shape.radius = thick ? 0 : thin / 4; /* the product allows rounded polygons */
        f->reach += thin / 4;
        break;
    default:
        f->shape.kind = kind == HOLE ? PERP_PLANAR_HOLE : PERP_PLANAR_HALFPLANE;
        f->shape.count = 0;
        f->shape.radius = kind == HOLE ? size / 2 : 0;
        f->smallest = INFINITY;
        break;
    }
    f->angle = pick(random, 4) ? between(random, 0, two_pi) : 0;
}

/* b about a: coincident, anywhere, aligned, or at a gap along the normal. */
static void put(perp_random *random, flat *a, flat *b)
{
    const double reach = a->reach + b->reach, direction = between(random, 0, two_pi);
    const int mode = pick(random, 8);
    const double thin = fmin(fmin(a->smallest, b->smallest), 1);
    a->position = at(between(random, -10, 10), between(random, -10, 10));
    b->position = a->position;
    if (mode == 1 || mode == 2) {
        b->position =
            perp_vec3_add_scaled(a->position, log_uniform(random, 1e-3, 2) * reach, turned(at(1, 0), direction));
    } else if (mode == 3) {
        b->angle = a->angle + two_pi / 4 * pick(random, 4);
        const double steps[2] = {pick(random, 5) / 2.0 - 1, pick(random, 5) / 2.0 - 1};
        b->position = perp_vec3_add(
            a->position,
            turned(at(steps[0] * (a->size + b->size) / 2, steps[1] * (a->smallest + b->smallest) / 2), a->angle));
        if (!isfinite(b->position.x)) {
            b->position = a->position;
        }
    } else if (mode > 3) {
        const double gap = (pick(random, 2) ? 1 : -1) * log_uniform(random, 1e-12, 1e-3);
        const double wanted = mode == 4 ? 0 : mode == 5 ? gap : between(random, -0.1, 0.1) * thin;
        b->position = perp_vec3_add_scaled(a->position, 0.6 * reach, turned(at(1, 0), direction));
        for (int k = 0; k < 2; k++) {
            place(a);
            place(b);
            const perp_separation s = perp_planar_distance(&a->shape, &b->shape);
            b->position = perp_vec3_add_scaled(b->position, wanted - s.phi, s.normal);
        }
    }
    place(a);
    place(b);
}

static void make_pair(uint64_t seed, int index, perp_random *random, pair *p)
{
    static const char *const names[FLAT_KINDS] = {"disc", "capsule", "box", "polygon", "halfplane", "hole"};
    random->state = sweep_mix(seed, index);
    int first, second;
    do { /* all pairs but the unbounded with the unbounded, which make no contact */
        first = pick(random, FLAT_KINDS);
        second = pick(random, FLAT_KINDS);
    } while (first > second || first >= HALFPLANE);
    const double ratio = pick(random, 10) == 0 ? 1000 : 100;
    const bool swap = pick(random, 2) == 0;
    snprintf(p->name, sizeof p->name, "%s-%s", names[first], names[second]);
    random_flat(random, (flat_kind)(swap ? second : first), ratio, &p->a);
    random_flat(random, (flat_kind)(swap ? first : second), ratio, &p->b);
    put(random, &p->a, &p->b);
}

/* ---- checks ------------------------------------------------------------------------------------------------------
 */

/* What ties may differ by; the product's sizes are at most these. */
static double tie_tolerance(const pair *p)
{
    const double sizes = 2 * p->a.reach + 2 * p->b.reach;
    return 4e-9 + 2e-9 * sizes;
}

static void check_answer(pair *p)
{
    const perp_separation *s = &p->s;
    const double allowed = s->tie ? tie_tolerance(p) : exact, expected = reference_planar(&p->a.shape, &p->b.shape);
    const double error = fabs(s->phi - expected);
    if (!s->tie) {
        measure_most(&p->row[ERROR_VALUE], error);
    }
    if (!(error <= allowed)) {
        sweep_fail(p->result, "%s: phi %.17g is not %.17g%s", p->name, s->phi, expected, s->tie ? ", tie" : "");
    }
    const perp_vec3 d = perp_vec3_add_scaled(perp_vec3_sub(s->point_b, s->point_a), -s->phi, s->normal);
    const double length = hypot(s->normal.x, s->normal.y), extent = 10 + fabs(s->phi) + p->a.size + p->b.size;
    /* Of a tie the normal taken need not be exactly that of the witnesses: discs whose centres nearly coincide. */
    const double aside = s->tie ? tie_tolerance(p) : 1e-14 * extent;
    if (!(fabs(length - 1) <= 1e-14) || !(hypot(d.x, d.y) <= aside) || s->normal.z != 0 || d.z != 0) {
        sweep_fail(p->result, "%s: |normal| is 1 + %.3g, point_b - point_a is off phi normal by %.3g", p->name,
                   length - 1, perp_vec3_norm(d));
    }
    const double off = fmax(reference_planar_off_boundary(&p->a.shape, s->point_a),
                            reference_planar_off_boundary(&p->b.shape, s->point_b));
    measure_most(&p->row[OFF_BOUNDARY], off);
    if (!(off <= tie_tolerance(p))) {
        sweep_fail(p->result, "%s: witnesses: off the boundaries by %.3g, phi %.9g", p->name, off, s->phi);
    }
    const bool hole = p->a.shape.kind == PERP_PLANAR_HOLE || p->b.shape.kind == PERP_PLANAR_HOLE;
    const double gap = hole ? s->phi : reference_planar_gap_along(&p->a.shape, &p->b.shape, s->normal);
    if (!(gap <= s->phi + tie_tolerance(p)) || (s->phi < 0 && !(s->phi - gap <= tie_tolerance(p)))) {
        sweep_fail(p->result, "%s: phi %.17g, the gap along the normal is %.17g", p->name, s->phi, gap);
    }
}

static flat after(const flat *f, double time, const double velocity[3])
{
    flat g = *f;
    g.position = perp_vec3_add(f->position, at(time * velocity[0], time * velocity[1]));
    g.angle += time * velocity[2];
    return g;
}

static perp_separation query(flat *a, flat *b)
{
    place(a);
    place(b);
    return perp_planar_distance(&a->shape, &b->shape);
}

static void compare(pair *p, const char *what, int column, perp_separation other)
{
    const double error = fabs(other.phi - p->s.phi), allowed = p->s.tie || other.tie ? tie_tolerance(p) : exact;
    measure_most(&p->row[column], error);
    if (!(error <= allowed)) {
        sweep_fail(p->result, "%s: %s: phi %.17g becomes %.17g", p->name, what, p->s.phi, other.phi);
    }
}

static void check_identities(pair *p, perp_random *random)
{
    compare(p, "swap", ERROR_SWAP, perp_planar_distance(&p->b.shape, &p->a.shape));
    flat a = p->a, b = p->b;
    const double angle = between(random, 0, two_pi);
    const perp_vec3 by = at(between(random, -1, 1), between(random, -1, 1));
    a.position = perp_vec3_add(turned(a.position, angle), by);
    b.position = perp_vec3_add(turned(b.position, angle), by);
    a.angle += angle;
    b.angle += angle;
    compare(p, "motion", ERROR_MOTION, query(&a, &b));
}

static double speed_along(const flat *f, const double velocity[3], perp_vec3 point, perp_vec3 normal)
{
    const perp_vec3 arm = perp_vec3_sub(point, f->position);
    return normal.x * (velocity[0] - velocity[2] * arm.y) + normal.y * (velocity[1] + velocity[2] * arm.x);
}

/* As in the spatial sweep: a step for which the central difference agrees, or a kink whose sides enclose the rate. */
static void check_gradient(pair *p, perp_random *random)
{
    double velocity[2][3], slopes[2] = {0, 0}, h = 1e-3 * fmin(fmin(p->a.reach, p->b.reach), 1);
    flat a = p->a, b = p->b;
    b.position = perp_vec3_sub(b.position, a.position);
    a.position = at(0, 0);
    for (int k = 0; k < 6; k++) {
        const double reach = k < 3 ? p->a.reach : p->b.reach;
        velocity[k / 3][k % 3] = between(random, -1, 1) / (k % 3 == 2 ? reach : 1);
    }
    const double rate = speed_along(&p->b, velocity[1], p->s.point_b, p->s.normal) -
                        speed_along(&p->a, velocity[0], p->s.point_a, p->s.normal);
    const double speed = 4, allowed = 1e-6 * speed, rounding = 1e-15 * (p->a.size + p->b.size + fabs(p->s.phi));
    const double now = query(&a, &b).phi;
    bool tie = p->s.tie;
    double least = INFINITY;
    for (; !tie && rounding / h < 0.3 * allowed; h /= 6) {
        for (int side = 0; side < 2; side++) {
            const double t = side ? h : -h;
            flat c = after(&a, t, velocity[0]), d = after(&b, t, velocity[1]);
            const perp_separation s = query(&c, &d);
            slopes[side] = (s.phi - now) / t;
            tie = tie || s.tie;
        }
        const double error = fabs((slopes[0] + slopes[1]) / 2 - rate);
        if (least <= allowed) { /* one step more than needed, for what is measured to be the rate's error */
            measure_most(&p->row[ERROR_GRADIENT], fmin(error, least) / speed);
            return;
        }
        least = fmin(least, error);
    }
    if (least <= allowed) {
        return;
    }
    p->row[KINKS]++;
    const double slack = 0.1 * fabs(slopes[1] - slopes[0]) + 10 * allowed;
    if (!tie && !(rate >= fmin(slopes[0], slopes[1]) - slack && rate <= fmax(slopes[0], slopes[1]) + slack)) {
        sweep_fail(p->result, "%s: gradient: rate %.9g, slopes %.9g and %.9g, phi %.9g", p->name, rate, slopes[0],
                   slopes[1], p->s.phi);
    }
}

static void run(uint64_t seed, int index, sweep_case *result)
{
    pair p = {.result = result};
    perp_random random;
    make_pair(seed, index, &random, &p);
    p.a.shape.corners = p.a.corners;
    p.b.shape.corners = p.b.corners;
    p.row = measure_row(p.name, columns, COLUMNS);
    p.s = perp_planar_distance(&p.a.shape, &p.b.shape);
    result->kind = p.s.phi < 0;
    p.row[PAIRS]++;
    p.row[result->kind ? OVERLAPPING : APART]++;
    p.row[TIES] += p.s.tie;
    check_answer(&p);
    check_identities(&p, &random);
    check_gradient(&p, &random);
    p.row[FAILED] += result->failed;
}

static void show_shape(const char *name, const flat *f)
{
    printf("%s: kind %d radius %.17g position %.17g %.17g angle %.17g\n", name, (int)f->shape.kind, f->shape.radius,
           f->position.x, f->position.y, f->angle);
    for (int i = 0; i < f->shape.count; i++) {
        printf("  corner %.17g %.17g\n", f->corners[i].x, f->corners[i].y);
    }
}

static void show(uint64_t seed, int index)
{
    pair p;
    perp_random random;
    make_pair(seed, index, &random, &p);
    show_shape("a", &p.a);
    show_shape("b", &p.b);
    p.s = perp_planar_distance(&p.a.shape, &p.b.shape);
    printf("phi %.17g normal %.17g %.17g tie %d\n  point_a %.17g %.17g\n  point_b %.17g %.17g\n", p.s.phi, p.s.normal.x,
           p.s.normal.y, p.s.tie, p.s.point_a.x, p.s.point_a.y, p.s.point_b.x, p.s.point_b.y);
}

const sweep the_sweep = {
    .name = "geometry_planar",
    .checks =
        "planar pairs, sizes 1e-3 to 10 m, aspect ratios to 1:100 and a tenth to 1:1000: phi within 1e-9 m of "
        "every corner against every edge; witnesses on the boundaries; swapping and a common motion change nothing "
        "beyond 1e-9 m (ties: 4e-9 m + 2e-9 of the sizes); the gap's slope is J v to 1e-6",
    .full = 200000,
    .sample = 20000,
    .chunk = 10000,
    .kinds = {"apart", "overlapping"},
    .run = run,
    .show = show,
};
