/* Spatial distances against MuJoCo, ODE and FCL: some thousand random pairs of every two kinds, near contact.
 *
 * The peers do not all compute the signed distance; each is held to what its method can promise.
 *
 * EXACT: a closed form. Gap, normal and (MuJoCo) place must be ours to rounding. Shapes below 0.6 m within 1 m of the
 * origin and some hundred operations give about 1e-15; ROUNDING is 1e-12 m. MuJoCo's meshes are in single precision:
 * half an ulp at 0.1 m is 4e-9 m and a point has three coordinates, so SINGLE is 2e-8 m. The place is less certain than
 * the gap where capsules are nearly parallel: PLACE is 1e-9 m.
 *
 * FROM_BELOW: MPR (libccd, in MuJoCo and in ODE) ends at some point of the surface of the Minkowski difference and
 * calls its distance the depth. The true depth is the least such distance, so their gap is never above the true one by
 * more than the threshold at which MPR stops, and it is often far below (up to 0.05 m here). ODE's threshold is fixed
 * at 1e-6 m; MuJoCo's is set to 1e-10 m. ODE's separating axes of convex polytopes leave some axes out: from below,
 * too.
 *
 * AXIS: MuJoCo's boxes. The axis is the best one, but the depths in its list are not to be relied on: some are half of
 * what they should be, some are 0.1 m and more for boxes that hardly touch. So the gap along its axis is compared, and
 * its depths are not. Boxes that are apart are compared from below only (no axis of faces or edges need be the shortest
 * way there), and it may miss them: with a margin of 0.02 m it loses 3 of 1000 that are less than 0.01 m apart.
 *
 * BIASED: ODE's boxes. It takes a pair of edges only where that is 5 % better than the best face.
 *
 * NORMAL: ODE's cylinders on boxes, hulls and cylinders. Of random pairs that overlap by up to 5 % it misses 7 in 100
 * (boxes) to 1 in 3000 (cylinders), reports some that are apart (hulls), and gaps are off by up to 0.04 m. Nothing is
 * asked of it but what holds for every normal.
 *
 * From above: FCL's GJK, for shapes that are apart, gives the distance of two points of the shapes, which is never
 * below the true one. Between polytopes it ends exactly; on curved shapes it creeps up to the answer and stops when
 * libccd sees no more progress, up to 3e-7 m short of it here: CURVED is 2e-6 m.
 *
 * Whatever a peer says of its gap, its normal must not be better than ours: the gap of two shapes along any direction
 * (pair_support.h) is a lower bound of the signed distance, and ours must reach the best of them. Our ties
 * (perp/geometry.h) may take away 4e-9 m + 2e-9 of the sizes.
 */
#include "pair_peers.h"
#include "pair_support.h"

#include <perp/geometry_hull.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define ROUNDING 1e-12
#define SINGLE 2e-8
#define CURVED 2e-6
#define MPR_MUJOCO 1e-10
#define MPR_ODE 1e-6
#define PLACE 1e-9
#define MARGIN 0.01

enum { PAIRS = 1000, CORNERS = 24 };

typedef enum distance_class { APART, TOUCHING, OVERLAPPING, CLASSES } distance_class;

static const char *const kind_names[PERP_SPATIAL_KIND_COUNT] = {"sphere",   "capsule",   "box",   "hull",
                                                                "cylinder", "ellipsoid", "plane", "hole"};

/* ---- shapes -------------------------------------------------------------------------------------------------------
 */

static perp_spatial_hull hull; /* of corners that are exact in single precision; about 0.2 x 0.16 x 0.12 m */

static double length(perp_random *random)
{
    return exp(perp_random_uniform(random, log(0.02), log(0.2)));
}

static perp_vec3 direction(perp_random *random)
{
    for (;;) {
        const double x = perp_random_uniform(random, -1, 1), y = perp_random_uniform(random, -1, 1);
        const perp_vec3 v = {x, y, perp_random_uniform(random, -1, 1)};
        const double n = perp_vec3_norm(v);
        if (n > 0.1 && n < 1.0) {
            return perp_vec3_scale(1.0 / n, v);
        }
    }
}

static perp_spatial_shape random_shape(perp_spatial_kind kind, perp_random *random)
{
    const perp_vec3 axis = direction(random);
    const perp_quat turn = perp_quat_from_axis_angle(axis, perp_random_uniform(random, 0, 3.14));
    perp_spatial_shape s = {.kind = kind, .rotation = perp_quat_to_mat3(turn), .hull = &hull};
    const double x = length(random), y = length(random), z = length(random);
    if (kind == PERP_SPATIAL_BOX || kind == PERP_SPATIAL_ELLIPSOID) {
        s.half_lengths = perp_vec3_make(x, y, z);
    } else if (kind != PERP_SPATIAL_HULL && kind != PERP_SPATIAL_HALFSPACE) {
        s.radius = x;
        s.half_length = kind == PERP_SPATIAL_POINT ? 0.0 : y;
    }
    return s;
}

/* A random pair whose gap is in the class; overlaps are small against the shapes, so that which way out is the shortest
 * is seldom in doubt. Our own distance steers it there, and only there. */
static perp_separation place(perp_spatial_shape *a, perp_spatial_shape *b, distance_class class, perp_random *random)
{
    double gap = perp_random_uniform(random, 1e-5, MARGIN);
    if (class == TOUCHING) {
        gap = perp_random_uniform(random, -1e-6, 1e-6);
    } else if (class == OVERLAPPING) {
        gap = -0.05 * fmin(pair_thickness(a), pair_thickness(b)) * perp_random_uniform(random, 1e-3, 1.0);
    }
    b->position = perp_vec3_scale(0.3, direction(random));
    for (int k = 0; k < 8; k++) {
        const perp_separation s = perp_spatial_distance(a, b);
        b->position = perp_vec3_add_scaled(b->position, gap - s.phi, s.normal);
    }
    return perp_spatial_distance(a, b);
}

/* ---- what a peer is held to ---------------------------------------------------------------------------------------
 */

typedef enum statement { EXACT, FROM_BELOW, AXIS, BIASED, NORMAL } statement;

/* Sums over one pair of kinds: the largest differences, for the person who reads the log. */
typedef struct tally {
    int compared, silent; /* silent: no contact where none was due */
    double low, high;     /* of the peer's gap minus ours */
    double normal_low;    /* of the gap along the peer's normal minus ours */
    double normal_high, place;
} tally;

typedef struct trial {
    const char *peer;
    statement statement;
    double tolerance; /* of the peer's gap, m */
    double margin;    /* up to which it reports */
    bool midpoint;    /* its place is midway between the witnesses */
    const perp_spatial_shape *a, *b;
    const perp_separation *ours;
} trial;

static void refuse(const trial *t, const char *what, double value, double bound)
{
    print_error("%s, %s and %s: %s %.3e, at most %.3e; our gap %.12g\n", t->peer, kind_names[t->a->kind],
                kind_names[t->b->kind], what, value, bound, t->ours->phi);
    fail();
}

static void at_most(const trial *t, const char *what, double value, double bound)
{
    if (!(value <= bound)) {
        refuse(t, what, value, bound);
    }
}

static double size_of(const perp_spatial_shape *s)
{
    return s->kind == PERP_SPATIAL_HALFSPACE ? 0.0 : 2.0 * pair_radius(s);
}

static double tie_tolerance(const trial *t)
{
    return 4e-9 + 2e-9 * (size_of(t->a) + size_of(t->b));
}

/* By how much the gap along our normal may fall short. Where the witnesses are less than 1e-6 m apart their difference
 * has lost ten digits and more, and below zero there are ties. */
static double normal_tolerance(const trial *t)
{
    return t->ours->phi > 1e-6 ? ROUNDING : ROUNDING + tie_tolerance(t);
}

static void check_normal(const trial *t, const pair_contact *c, tally *sum)
{
    const double bound = normal_tolerance(t);
    const double better = pair_gap_along(t->a, t->b, c->normal) - t->ours->phi;
    sum->normal_low = fmin(sum->normal_low, better);
    sum->normal_high = fmax(sum->normal_high, better);
    at_most(t, "its normal is better than ours by", better, bound);
    if (t->statement == EXACT || (t->statement == AXIS && t->ours->phi < -1e-6)) {
        at_most(t, "its normal is worse than ours by", -better, fmax(t->tolerance, bound));
    }
}

static void check_gap(const trial *t, const pair_contact *c, tally *sum)
{
    const double more = c->phi - t->ours->phi, bias = t->statement == BIASED ? 0.05 * fabs(t->ours->phi) : 0.0;
    sum->low = fmin(sum->low, more);
    sum->high = fmax(sum->high, more);
    if (t->statement == AXIS || t->statement == NORMAL) {
        return;
    }
    const double tie = t->statement == EXACT ? 0.0 : tie_tolerance(t);
    at_most(t, "its gap is above ours by", more, t->tolerance + tie);
    if (t->statement != FROM_BELOW) {
        at_most(t, "its gap is below ours by", -more, t->tolerance + bias + tie);
    }
    if (t->statement == EXACT && t->midpoint) {
        const perp_vec3 middle = perp_vec3_scale(0.5, perp_vec3_add(t->ours->point_a, t->ours->point_b));
        const double off = perp_vec3_norm(perp_vec3_sub(middle, c->point));
        sum->place = fmax(sum->place, off);
        at_most(t, "its place is off by", off, fmax(PLACE, t->tolerance));
    }
}

/* The deepest of the peer's contacts is its answer. None at all must mean that there is no contact within its margin.
 */
static void check(const trial *t, const pair_contact *contacts, int count, tally *sum)
{
    if (count == 0) {
        sum->silent++;
        if (t->statement == NORMAL || (t->statement == AXIS && t->ours->phi > 0.0)) {
            return;
        }
        at_most(t, "it has no contact, within its margin by", t->margin - t->ours->phi,
                t->tolerance + (t->statement == EXACT ? 0.0 : tie_tolerance(t)));
        return;
    }
    int best = 0;
    for (int i = 1; i < count; i++) {
        best = contacts[i].phi < contacts[best].phi ? i : best;
    }
    sum->compared++;
    check_gap(t, &contacts[best], sum);
    check_normal(t, &contacts[best], sum);
}

/* ---- MuJoCo and ODE -----------------------------------------------------------------------------------------------
 */

static bool is_either(perp_spatial_kind a, perp_spatial_kind b, perp_spatial_kind kind)
{
    return a == kind || b == kind;
}

/* MuJoCo 2.2.2: mjCOLLISIONFUNC. */
static void state_mujoco(trial *t)
{
    const perp_spatial_kind a = t->a->kind, b = t->b->kind;
    const bool mesh = is_either(a, b, PERP_SPATIAL_HULL), plane = is_either(a, b, PERP_SPATIAL_HALFSPACE);
    const bool general = mesh || is_either(a, b, PERP_SPATIAL_ELLIPSOID) || is_either(a, b, PERP_SPATIAL_CYLINDER);
    t->peer = "MuJoCo";
    t->margin = 2.0 * MARGIN;
    t->midpoint = true;
    t->statement = EXACT;
    t->tolerance = mesh ? SINGLE : ROUNDING;
    if (a == PERP_SPATIAL_BOX && b == PERP_SPATIAL_BOX) {
        t->statement = AXIS;
    } else if (general && !plane) {
        t->statement = FROM_BELOW;
        t->tolerance += MPR_MUJOCO;
    }
}

/* ODE 0.16.2 with Debian's options; it has no margin. */
static void state_ode(trial *t)
{
    const perp_spatial_kind a = t->a->kind, b = t->b->kind;
    const bool plane = is_either(a, b, PERP_SPATIAL_HALFSPACE), mesh = is_either(a, b, PERP_SPATIAL_HULL);
    const bool are_sphere_and_cylinder = a == PERP_SPATIAL_POINT && b == PERP_SPATIAL_CYLINDER;
    const bool round = is_either(a, b, PERP_SPATIAL_POINT) || is_either(a, b, PERP_SPATIAL_SEGMENT);
    t->peer = "ODE";
    t->margin = 0.0;
    t->midpoint = false;
    t->statement = EXACT;
    t->tolerance = ROUNDING;
    if (a == PERP_SPATIAL_BOX && b == PERP_SPATIAL_BOX) {
        t->statement = BIASED;
    } else if (b == PERP_SPATIAL_CYLINDER && (mesh || a == PERP_SPATIAL_BOX || a == PERP_SPATIAL_CYLINDER)) {
        t->statement = NORMAL;
    } else if ((mesh || is_either(a, b, PERP_SPATIAL_CYLINDER)) && !plane && !are_sphere_and_cylinder) {
        t->statement = FROM_BELOW;
        t->tolerance += round ? MPR_ODE : 0.0;
    }
}

typedef struct peers {
    pair_mujoco *mujoco;
    pair_ode *ode;
    tally in_mujoco, in_ode, in_fcl;
} peers;

static void ask_mujoco(peers *p, trial t)
{
    pair_contact contacts[PAIR_CONTACTS_MAX];
    if (pair_mujoco_has(t.a->kind, t.b->kind)) {
        state_mujoco(&t);
        pair_mujoco_set(p->mujoco, 0, t.a);
        pair_mujoco_set(p->mujoco, 1, t.b);
        const int count = pair_mujoco_contacts(p->mujoco, 0, 1, t.margin, contacts);
        check(&t, contacts, count, &p->in_mujoco);
    }
}

static void ask_ode(peers *p, trial t)
{
    pair_contact contacts[PAIR_CONTACTS_MAX];
    if (pair_ode_has(t.a->kind, t.b->kind)) {
        state_ode(&t);
        pair_ode_set(p->ode, 0, t.a);
        pair_ode_set(p->ode, 1, t.b);
        const int count = pair_ode_contacts(p->ode, 0, 1, PAIR_CONTACTS_MAX, contacts);
        check(&t, contacts, count, &p->in_ode);
    }
}

static bool is_polytope(perp_spatial_kind kind)
{
    return kind == PERP_SPATIAL_BOX || kind == PERP_SPATIAL_HULL;
}

static void ask_fcl(peers *p, trial t)
{
    double phi;
    if (!pair_fcl_has(t.a->kind, t.b->kind) || t.ours->phi < 1e-5) {
        return;
    }
    t.peer = "FCL";
    assert_true(pair_fcl_distance(t.a, t.b, 1e-12, &phi));
    const double more = phi - t.ours->phi;
    p->in_fcl.compared++;
    p->in_fcl.low = fmin(p->in_fcl.low, more);
    p->in_fcl.high = fmax(p->in_fcl.high, more);
    at_most(&t, "its gap is below ours by", -more, ROUNDING);
    at_most(&t, "its gap is above ours by", more, is_polytope(t.a->kind) && is_polytope(t.b->kind) ? ROUNDING : CURVED);
}

static void print_tally(const char *peer, perp_spatial_kind a, perp_spatial_kind b, const tally *t)
{
    if (t->compared > 0) {
        print_message(
            "%-10s %-10s %-7s %5d pairs, %5d silent; its gap - ours %8.1e .. %7.1e, along its normal %8.1e .. "
            "%7.1e, place %7.1e\n",
            kind_names[a], kind_names[b], peer, t->compared, t->silent, t->low, t->high, t->normal_low, t->normal_high,
            t->place);
    }
}

static void compare_kinds(peers *p, perp_spatial_kind ka, perp_spatial_kind kb)
{
    perp_random random = {1000 + 10 * (uint64_t)ka + (uint64_t)kb};
    p->in_mujoco = p->in_ode = p->in_fcl = (tally){0};
    for (distance_class class = APART; class < CLASSES; class ++) {
        for (int i = 0; i < PAIRS; i++) {
            perp_spatial_shape a = random_shape(ka, &random), b = random_shape(kb, &random);
            const perp_separation ours = place(&a, &b, class, &random);
            const trial t = {.peer = "ours", .a = &a, .b = &b, .ours = &ours};
            at_most(&t, "the gap along its normal is off by", fabs(pair_gap_along(&a, &b, ours.normal) - ours.phi),
                    normal_tolerance(&t));
            ask_mujoco(p, t);
            ask_ode(p, t);
            ask_fcl(p, t);
        }
    }
    print_tally("MuJoCo", ka, kb, &p->in_mujoco);
    print_tally("ODE", ka, kb, &p->in_ode);
    print_tally("FCL", ka, kb, &p->in_fcl);
    assert_true(p->in_mujoco.compared > PAIRS);
}

/* A hull that all three hold. */
static void make_hull(void)
{
    perp_random random = {7};
    perp_vec3 points[CORNERS];
    perp_hull h;
    for (int i = 0; i < CORNERS; i++) {
        const perp_vec3 d = direction(&random);
        points[i] = perp_vec3_make(round(d.x * 100) / 1024, round(d.y * 80) / 1024, round(d.z * 60) / 1024);
    }
    assert_int_equal(perp_hull_build(points, CORNERS, NULL, &h, NULL), PERP_STATUS_OK);
    assert_int_equal(
        perp_spatial_hull_prepare(h.points, h.point_count, h.triangles, h.triangle_count, NULL, &hull, NULL),
        PERP_STATUS_OK);
    perp_hull_free(&h);
}

static void run_with(void **state, perp_spatial_kind ka)
{
    (void)state;
    peers p = {pair_mujoco_open(2, &hull), pair_ode_open(2, &hull), {0}, {0}, {0}};
    assert_non_null(p.mujoco);
    assert_non_null(p.ode);
    pair_mujoco_refine(p.mujoco, MPR_MUJOCO, 500);
    for (perp_spatial_kind kb = ka; kb <= PERP_SPATIAL_HALFSPACE; kb++) {
        compare_kinds(&p, ka, kb);
    }
    pair_mujoco_close(p.mujoco);
    pair_ode_close(p.ode);
}

static void spheres_agree(void **state)
{
    run_with(state, PERP_SPATIAL_POINT);
}

static void capsules_agree(void **state)
{
    run_with(state, PERP_SPATIAL_SEGMENT);
}

static void boxes_agree(void **state)
{
    run_with(state, PERP_SPATIAL_BOX);
}

static void hulls_agree(void **state)
{
    run_with(state, PERP_SPATIAL_HULL);
}

static void cylinders_agree(void **state)
{
    run_with(state, PERP_SPATIAL_CYLINDER);
}

static void ellipsoids_agree(void **state)
{
    run_with(state, PERP_SPATIAL_ELLIPSOID);
}

/* Spheres 0.01 m into each other: the gap along the line of centres, and a worse one across it. */
static void the_yardstick_is_right(void **state)
{
    (void)state;
    const perp_spatial_shape a = {.kind = PERP_SPATIAL_POINT, .rotation = {{1, 0, 0, 0, 1, 0, 0, 0, 1}}, .radius = 0.1};
    perp_spatial_shape b = a;
    b.position = perp_vec3_make(0.19, 0, 0);
    assert_true(fabs(pair_gap_along(&a, &b, perp_vec3_make(1, 0, 0)) + 0.01) < 1e-15);
    assert_true(pair_gap_along(&a, &b, perp_vec3_make(0, 1, 0)) < -0.19);
    assert_true(fabs(perp_spatial_distance(&a, &b).phi + 0.01) < 1e-15);
}

int main(void)
{
    make_hull();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_yardstick_is_right),
        cmocka_unit_test(spheres_agree),
        cmocka_unit_test(capsules_agree),
        cmocka_unit_test(boxes_agree),
        cmocka_unit_test(hulls_agree),
        cmocka_unit_test(cylinders_agree),
        cmocka_unit_test(ellipsoids_agree),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    perp_spatial_hull_free(&hull);
    return failed;
}
