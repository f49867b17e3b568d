/* Spatial manifolds of random pairs: identities with the distance, with the swapped and the moved pair, and with an
 * independent clipping. */
#include "spatial_manifold_test.h"

static int random_count = 4000;
static uint64_t seed = 11;

/* How far a point is from the surface. A capsule's is on the ball about the core's point (see
 * perp_spatial_manifold_build). */
static double off_body(const body *b, perp_vec3 x, perp_vec3 normal)
{
    const perp_spatial_shape *s = &b->shape;
    const perp_vec3 l = perp_mat3_tmul_vec(&s->rotation, perp_vec3_sub(x, s->position));
    const perp_vec3 n = perp_mat3_tmul_vec(&s->rotation, normal);
    if (s->kind == PERP_SPATIAL_POINT) {
        return fabs(perp_vec3_norm(l) - s->radius);
    }
    if (s->kind == PERP_SPATIAL_SEGMENT) {
        const double z = fmin(fmax(l.z, -s->half_length), s->half_length);
        const double d = perp_vec3_norm(vec(l.x, l.y, l.z - z));
        return fmax(d - s->radius, s->radius * sqrt(fmax(1 - n.z * n.z, 0)) - d);
    }
    if (s->kind == PERP_SPATIAL_CYLINDER) {
        const double out = sqrt(l.x * l.x + l.y * l.y) - s->radius, end = fabs(l.z) - s->half_length;
        return fabs(fmax(out, end));
    }
    double high = -INFINITY;
    for (int i = 0; i < b->triangles; i++) {
        const int *t = b->triangle[i];
        const perp_vec3 o = b->local[t[0]];
        const perp_vec3 area = perp_vec3_cross(perp_vec3_sub(b->local[t[1]], o), perp_vec3_sub(b->local[t[2]], o));
        const perp_vec3 up = perp_vec3_normalise(area);
        high =
            perp_vec3_norm(area) > 1e-9 * b->size * b->size ? fmax(high, perp_vec3_dot(up, perp_vec3_sub(l, o))) : high;
    }
    return fabs(high);
}

static body random_shape(perp_random *random)
{
    const double size = log_uniform(random, 0.05, 2), thin = size / log_uniform(random, 1, 20);
    const double middle = log_uniform(random, thin, size * 1.0000001);
    const int kind = (int)perp_random_uniform(random, 0, 8);
    body b;
    if (kind == 0) {
        b = capsule(vec(0, 0, 0), random_quat(random), size, thin / 2);
    } else if (kind < 4) {
        b = box(vec(0, 0, 0), random_quat(random), size, middle, thin);
    } else if (kind < 6) {
        b = random_hull(random, size, middle, thin);
        b.pose.rotation = random_quat(random);
    } else {
        const bool flat = perp_random_uniform(random, 0, 1) < 0.5;
        b = cylinder(vec(0, 0, 0), random_quat(random), flat ? thin : size, (flat ? size : thin) / 2);
    }
    place(&b);
    return b;
}

/* A rotation that turns a's flattest side nearly to b's: axes in line up to a tilt. */
static void put_pair(body *a, body *b, int mode, perp_random *random)
{
    if (mode != 0) {
        const perp_quat quarter = perp_random_uniform(random, 0, 1) < 0.5 ? about_x(pi / 2) : about_y(pi / 2);
        const perp_quat spin = perp_quat_mul(about_z(mode == 3 ? 0 : perp_random_uniform(random, -3, 3)),
                                             perp_random_uniform(random, 0, 1) < 0.3 ? quarter : perp_quat_identity());
        const double tilt = mode == 1 ? 0 : mode == 3 ? 0 : log_uniform(random, 1e-10, 0.3);
        const perp_quat tip = perp_quat_exp(perp_vec3_scale(tilt, random_vec(random)));
        b->pose.rotation = perp_quat_mul(perp_quat_mul(a->pose.rotation, tip), spin);
    }
    const perp_vec3 r = random_vec(random);
    const double reach = a->size + b->size;
    const perp_vec3 at = mode == 0 ? perp_vec3_scale(reach, r) : vec(0.3 * a->size * r.x, 0.3 * a->size * r.y, reach);
    b->pose.position = perp_vec3_add(a->pose.position, perp_quat_rotate(a->pose.rotation, at));
    place(b);
    const double wanted =
        perp_random_uniform(random, 0, 1) < 0.3 ? 0 : perp_random_uniform(random, -0.02, 0.1) * b->smallest;
    for (int k = 0; k < 3; k++) { /* towards each other until the gap is about that */
        const perp_separation s = perp_spatial_distance(&a->shape, &b->shape);
        b->pose.position = perp_vec3_add_scaled(b->pose.position, wanted - s.phi, s.normal);
        place(b);
    }
}

typedef struct tally {
    int pairs, counts[PERP_MANIFOLD_MAX + 1], swapped, ties, areas, flips, loose;
    double phi, surface, motion, swap, area;
} tally;

static double shape_size(const body *b)
{
    const double r = b->shape.kind == PERP_SPATIAL_CYLINDER ? b->shape.radius : 0;
    const perp_vec3 h = b->shape.half_lengths;
    return b->shape.kind == PERP_SPATIAL_HULL  ? b->hull.size
           : b->shape.kind == PERP_SPATIAL_BOX ? 2 * perp_vec3_norm(h)
                                               : 2 * sqrt(r * r + b->shape.half_length * b->shape.half_length);
}

static double tolerance_of(const body *a, const body *b)
{
    return 4e-9 + 2e-9 * (shape_size(a) + shape_size(b));
}

static bool curved(const body *a, const body *b)
{
    return a->shape.kind == PERP_SPATIAL_CYLINDER || b->shape.kind == PERP_SPATIAL_CYLINDER;
}

/* The points of a line, on a face or beside another, make no polygon. */
static bool of_line(const body *a, const body *b, const perp_manifold *m)
{
    bool side = a->shape.kind == PERP_SPATIAL_SEGMENT || b->shape.kind == PERP_SPATIAL_SEGMENT;
    for (int i = 0; i < m->count; i++) {
        side = side || perp_feature_kind_of(m->points[i].feature_a) == PERP_FEATURE_SIDE ||
               perp_feature_kind_of(m->points[i].feature_b) == PERP_FEATURE_SIDE;
    }
    return side;
}

static void check_manifold(const body *a, const body *b, const perp_manifold *m, tally *t)
{
    const perp_separation s = perp_spatial_distance(&a->shape, &b->shape);
    const double tolerance = tolerance_of(a, b);
    assert_in_range(m->count, 1, PERP_MANIFOLD_MAX);
    t->counts[m->count]++;
    NEAR(least_gap(m), s.phi, tolerance);
    t->phi = fmax(t->phi, fabs(least_gap(m) - s.phi));
    for (int i = 0; i < m->count; i++) {
        const perp_separation *p = &m->points[i].at;
        NEAR(perp_vec3_norm(p->normal), 1, 1e-14);
        NEAR(perp_vec3_norm(perp_vec3_add_scaled(perp_vec3_sub(p->point_b, p->point_a), -p->phi, p->normal)), 0, 1e-14);
        assert_true(p->phi >= s.phi - tolerance);
        const double off = fmax(off_body(a, p->point_a, p->normal), off_body(b, p->point_b, p->normal));
        /* the distance's own witnesses may be points of the manifold, and know no better where a rim touches */
        const double own = fmax(off_body(a, s.point_a, s.normal), off_body(b, s.point_b, s.normal));
        NEAR(off, 0, curved(a, b) ? fmax(tolerance, 1.01 * own) : tolerance);
        t->surface = fmax(t->surface, off);
        for (int j = 0; j < i; j++) {
            const perp_vec3 apart = perp_vec3_sub(p->point_a, m->points[j].at.point_a);
            assert_true(perp_vec3_norm(apart) > tolerance ||
                        perp_vec3_norm(perp_vec3_sub(p->point_b, m->points[j].at.point_b)) > tolerance);
            assert_false(m->points[i].feature_a == m->points[j].feature_a &&
                         m->points[i].feature_b == m->points[j].feature_b);
        }
    }
    perp_manifold ring = *m; /* the witnesses of the distance, where they are a further point, come last */
    const perp_separation *last = &m->points[m->count - 1].at;
    ring.count -= perp_vec3_norm(perp_vec3_sub(last->point_a, s.point_a)) <= 0 ? 1 : 0;
    if (ring.count > 2 && !of_line(a, b, m)) {
        assert_true(polygon_area(&ring) > -tolerance);
    }
}

/* The same labels in the same order; points within `reach`. */
static bool same(const perp_manifold *m, const perp_manifold *n, double reach, double *off)
{
    if (m->count != n->count) {
        return false;
    }
    for (int i = 0; i < m->count; i++) {
        const perp_manifold_point *p = &m->points[i], *q = &n->points[i];
        const double d = fabs(p->at.phi - q->at.phi);
        *off = fmax(*off, d);
        if (p->feature_a != q->feature_a || p->feature_b != q->feature_b || d > reach) {
            return false;
        }
    }
    return true;
}

static void describe(const perp_manifold *m)
{
    for (int i = 0; i < m->count; i++) {
        const perp_manifold_point *p = &m->points[i];
        print_message("  %3d %3d phi %.12g n %.9f %.9f %.9f a %.9f %.9f %.9f\n", p->feature_a, p->feature_b, p->at.phi,
                      p->at.normal.x, p->at.normal.y, p->at.normal.z, p->at.point_a.x, p->at.point_a.y,
                      p->at.point_a.z);
    }
}

/* Two manifolds that should be alike and are not. The distance of a rim to an edge is flat about its least, so that its
 * normal is only known to 1e-8 or so, which may decide whether the point is a corner or a crossing: seldom, and only
 * there. */
static void differs(const body *a, const body *b, const perp_manifold *m, const perp_manifold *n, tally *t)
{
    t->loose++;
    if (!curved(a, b)) {
        print_message("pair %d (kinds %d %d)\n", t->pairs, (int)a->shape.kind, (int)b->shape.kind);
        describe(m);
        print_message(" and\n");
        describe(n);
        fail();
    }
}

static void check_swap(const body *a, const body *b, const perp_manifold *m, tally *t)
{
    const perp_manifold w = manifold(b, a);
    const perp_vec3 n = perp_spatial_distance(&a->shape, &b->shape).normal;
    const perp_vec3 o = perp_spatial_distance(&b->shape, &a->shape).normal;
    /* normals within 1e-6 rad are not called a tie, yet either may be taken, and with it another of nearly flat faces
     */
    if (m->points[0].at.tie || w.points[0].at.tie || perp_vec3_norm(perp_vec3_add(n, o)) > 1e-9) {
        t->ties++;
        return;
    }
    t->swapped++;
    bool good = w.count == m->count;
    for (int i = 0; good && i < m->count; i++) {
        double best = INFINITY;
        for (int j = 0; j < w.count; j++) {
            if (w.points[j].feature_a == m->points[i].feature_b && w.points[j].feature_b == m->points[i].feature_a) {
                best = perp_vec3_norm(perp_vec3_sub(w.points[j].at.point_a, m->points[i].at.point_b));
            }
        }
        t->swap = fmax(t->swap, isfinite(best) ? best : 0);
        good = best < 1e-6;
    }
    if (!good) {
        differs(a, b, m, &w, t);
    }
}

static void check_motion(const body *a, const body *b, const perp_manifold *m, perp_random *random, tally *t)
{
    const perp_pose move = {random_quat(random), random_vec(random)};
    body c = *a, d = *b;
    c.pose = perp_pose_mul(move, a->pose);
    d.pose = perp_pose_mul(move, b->pose);
    place(&c);
    place(&d);
    const perp_manifold n = manifold(&c, &d);
    const perp_vec3 was = perp_quat_rotate(move.rotation, perp_spatial_distance(&a->shape, &b->shape).normal);
    const perp_vec3 is = perp_spatial_distance(&c.shape, &d.shape).normal;
    double off = 0;
    if (m->points[0].at.tie || n.points[0].at.tie || perp_vec3_norm(perp_vec3_sub(was, is)) > 1e-9) {
        return; /* another of equally good normals */
    }
    if (!same(m, &n, 1e-9, &off)) {
        differs(a, b, m, &n, t);
    } else {
        t->motion = fmax(t->motion, off);
    }
}

/* Labels hold under a motion of 1e-9 m and rad. */
static void check_still(const body *a, const body *b, const perp_manifold *m, perp_random *random, tally *t)
{
    body c = *b;
    double off = 0;
    c.pose.position = perp_vec3_add_scaled(b->pose.position, 0.5e-9, random_vec(random));
    c.pose.rotation = perp_quat_mul(perp_quat_exp(perp_vec3_scale(0.5e-9, random_vec(random))), b->pose.rotation);
    place(&c);
    const perp_manifold n = manifold(a, &c);
    const perp_vec3 was = perp_spatial_distance(&a->shape, &b->shape).normal;
    const perp_vec3 is = perp_spatial_distance(&a->shape, &c.shape).normal;
    if (!m->points[0].at.tie && perp_vec3_norm(perp_vec3_sub(was, is)) < 1e-6 && !same(m, &n, 1e-6, &off)) {
        assert_true(t->pairs % 4 != 3 || curved(a, b)); /* axes in line: what is exact by design does not flip */
        t->flips++;
    }
}

/* Area of the intersection of two boxes' faces, by cutting one with the lines of the other in turn. */
static double cut_area(const body *a, const body *b, perp_vec3 n)
{
    static const int loops[6][4] = {{1, 3, 7, 5}, {0, 4, 6, 2}, {2, 6, 7, 3}, {0, 1, 5, 4}, {4, 5, 7, 6}, {0, 2, 3, 1}};
    const body *of[2] = {a, b};
    perp_vec3 t, o, corners[2][4], p[16], q[16];
    perp_tangents(n, &t, &o);
    for (int k = 0; k < 2; k++) {
        const perp_vec3 d = perp_mat3_tmul_vec(&of[k]->shape.rotation, perp_vec3_scale(k == 0 ? 1 : -1, n));
        const double c[3] = {d.x, d.y, d.z};
        int axis = 0;
        for (int i = 1; i < 3; i++) {
            axis = fabs(c[i]) > fabs(c[axis]) ? i : axis;
        }
        const int f = 2 * axis + (c[axis] < 0 ? 1 : 0);
        for (int i = 0; i < 4; i++) {
            const perp_vec3 x = perp_vec3_sub(of[k]->world[loops[f][k == 0 ? i : 3 - i]], a->pose.position);
            corners[k][i] = vec(perp_vec3_dot(t, x), perp_vec3_dot(o, x), 0);
        }
    }
    int count = 4;
    for (int i = 0; i < 4; i++) {
        p[i] = corners[0][i];
    }
    for (int j = 0; j < 4; j++) {
        const perp_vec3 from = corners[1][j], e = perp_vec3_sub(corners[1][(j + 1) % 4], from);
        int left = 0;
        for (int i = 0; i < count; i++) {
            const perp_vec3 u = p[i], v = p[(i + 1) % count];
            const double du = e.x * (u.y - from.y) - e.y * (u.x - from.x);
            const double dv = e.x * (v.y - from.y) - e.y * (v.x - from.x);
            if (du >= 0) {
                q[left++] = u;
            }
            if ((du < 0) != (dv < 0)) {
                q[left++] = perp_vec3_add_scaled(u, du / (du - dv), perp_vec3_sub(v, u));
            }
        }
        count = left;
        for (int i = 0; i < count; i++) {
            p[i] = q[i];
        }
    }
    double area = 0;
    for (int i = 0; i < count; i++) {
        const perp_vec3 u = p[i], v = p[(i + 1) % count];
        area += 0.5 * (u.x * v.y - u.y * v.x);
    }
    return area;
}

static void random_pairs(void **state)
{
    (void)state;
    perp_random random = {seed};
    tally t = {0};
    for (; t.pairs < random_count; t.pairs++) {
        body a = random_shape(&random), b = random_shape(&random);
        const int mode = t.pairs % 4;
        if (mode == 3) {
            a.pose.rotation = b.pose.rotation = perp_quat_identity();
        }
        place(&a); /* a body's shape points into it */
        place(&b);
        put_pair(&a, &b, mode, &random);
        const perp_manifold m = manifold(&a, &b);
        check_manifold(&a, &b, &m, &t);
        check_swap(&a, &b, &m, &t);
        check_motion(&a, &b, &m, &random, &t);
        check_still(&a, &b, &m, &random, &t);
        if (a.shape.kind == PERP_SPATIAL_BOX && b.shape.kind == PERP_SPATIAL_BOX && m.count > 2) {
            perp_vec3 flat[PERP_MANIFOLD_MAX];
            const perp_vec3 n = m.points[0].at.normal;
            perp_manifold shadow = m; /* seen along n */
            for (int i = 0; i < m.count; i++) {
                flat[i] = m.points[i].at.point_a;
                shadow.points[i].at.point_a = perp_vec3_add_scaled(flat[i], -perp_vec3_dot(flat[i], n), n);
            }
            const double area = cut_area(&a, &b, n), size = fmin(a.size, b.size);
            NEAR(polygon_area(&shadow), area, 4 * size * 4 * tolerance_of(&a, &b)); /* borders moved by the tolerance */
            t.area = fmax(t.area, fabs(polygon_area(&shadow) - area));
            t.areas++;
        }
        drop(&a);
        drop(&b);
    }
    print_message("%d pairs; points 1..8: %d %d %d %d %d %d %d %d; %d ties, %d flips, %d loose; largest: phi %.1e, off "
                  "surface %.1e, swap "
                  "%.1e, motion %.1e, area %.1e of %d\n",
                  t.pairs, t.counts[1], t.counts[2], t.counts[3], t.counts[4], t.counts[5], t.counts[6], t.counts[7],
                  t.counts[8], t.ties, t.flips, t.loose, t.phi, t.surface, t.swap, t.motion, t.area, t.areas);
    assert_true(t.areas > random_count / 20);
    assert_true(t.swapped > random_count / 2);
    /* some rule has its limit within 1e-9 of a random pose now and then */
    assert_true(t.flips <= random_count / 1000 + 1);
    assert_true(t.loose <= random_count / 1000 + 1);
}

/* ---- every kind with every other, anyhow ------------------------------------------------------------------------- */

static body of_kind(int kind, perp_random *random)
{
    const double size = log_uniform(random, 0.02, 1), thin = size / log_uniform(random, 1, 20);
    body b;
    if (kind == PERP_SPATIAL_POINT) {
        b = sphere(vec(0, 0, 0), perp_random_uniform(random, 0, 1) < 0.3 ? 0 : size / 2);
    } else if (kind == PERP_SPATIAL_SEGMENT) {
        b = capsule(vec(0, 0, 0), perp_quat_identity(), size, thin / 2);
    } else if (kind == PERP_SPATIAL_BOX) {
        b = box(vec(0, 0, 0), perp_quat_identity(), size, log_uniform(random, thin, size), thin);
    } else if (kind == PERP_SPATIAL_HULL) {
        b = random_hull(random, size, log_uniform(random, thin, size), thin);
    } else if (kind == PERP_SPATIAL_ELLIPSOID) {
        b = ellipsoid(vec(0, 0, 0), perp_quat_identity(), vec(size / 2, log_uniform(random, thin, size) / 2, thin / 2));
    } else { /* holes and planes too: these have no size, but for the hole's bore */
        const bool flat = perp_random_uniform(random, 0, 1) < 0.5;
        b = cylinder(vec(0, 0, 0), perp_quat_identity(), flat ? thin : size, (flat ? size : thin) / 2);
        b.shape.kind = (perp_spatial_kind)kind;
    }
    const bool in_line = perp_random_uniform(random, 0, 1) < 0.3; /* with the axes of the other */
    b.pose.rotation = in_line ? perp_quat_identity() : random_quat(random);
    place(&b);
    return b;
}

static bool is_unbounded(const body *b)
{
    return b->shape.kind == PERP_SPATIAL_HALFSPACE || b->shape.kind == PERP_SPATIAL_HOLE;
}

static double gaps_apart(const perp_manifold *m, const perp_manifold *n)
{
    double sum = 0;
    for (int i = 0; i < m->count; i++) {
        double nearest = INFINITY;
        for (int j = 0; j < n->count; j++) {
            nearest = fmin(nearest, fabs(m->points[i].at.phi - n->points[j].at.phi));
        }
        sum = fmax(sum, nearest);
    }
    return sum;
}

/* Numbers that are finite; the least gap is the distance; witnesses are in line; names differ; the swapped pair has the
 * same gaps, but for ties and rules that rounding decides, which are counted. */
static void every_kind(void **state)
{
    (void)state;
    perp_random random = {seed};
    int asked = 0, other = 0;
    for (int i = 0; i < 64 * 60; i++) {
        body a = of_kind(i / 8 % 8, &random), b = of_kind(i % 8, &random);
        place(&a);
        place(&b);
        b.pose.position = perp_vec3_scale(0.5 * (a.size + b.size), random_vec(&random));
        place(&b);
        const perp_manifold m = manifold(&a, &b), w = manifold(&b, &a);
        const perp_separation s = perp_spatial_distance(&a.shape, &b.shape);
        assert_in_range(m.count, is_unbounded(&a) && is_unbounded(&b) ? 0 : 1, PERP_MANIFOLD_MAX);
        for (int k = 0; k < m.count; k++) {
            const perp_separation *p = &m.points[k].at;
            assert_true(isfinite(p->phi) && isfinite(perp_vec3_norm(p->point_a)) &&
                        isfinite(perp_vec3_norm(p->point_b)));
            NEAR(perp_vec3_norm(p->normal), 1, 1e-13);
            NEAR(perp_vec3_norm(perp_vec3_add_scaled(perp_vec3_sub(p->point_b, p->point_a), -p->phi, p->normal)), 0,
                 1e-13);
            for (int j = 0; j < k; j++) {
                assert_false(m.points[j].feature_a == m.points[k].feature_a &&
                             m.points[j].feature_b == m.points[k].feature_b);
            }
        }
        if (m.count > 0) {
            NEAR(least_gap(&m), s.phi, 4e-9 + 2e-9 * 4); /* the tie tolerance of the largest shapes here */
            /* two normals of round shapes that overlap deeply may differ by 2 % of the depth: docs/geometry.md, EPA */
            NEAR(least_gap(&w), s.phi, 2 * (4e-9 + 2e-9 * 4) + 0.02 * fmax(-s.phi, 0));
            asked++;
            other += m.count != w.count || gaps_apart(&m, &w) > 1e-7 || gaps_apart(&w, &m) > 1e-7;
        }
        drop(&a);
        drop(&b);
    }
    print_message("%d pairs of any kinds, %d with other points when swapped\n", asked, other);
    assert_true(other <= asked / 500);
}

/* [number of random pairs [seed]] */
int main(int argc, char **argv)
{
    random_count = argc > 1 ? atoi(argv[1]) : random_count;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : seed;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_pairs),
        cmocka_unit_test(every_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
