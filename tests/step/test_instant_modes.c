/* `instant` against everything there is to try (mode_brute_force.h): a body that stands with its feet, balls, on planes
 * of any direction, some of which are drawn along themselves so that the feet slide; random masses, friction and loads.
 * In the plane and in space, one foot to four. As many solutions, the same accelerations, and the same range of every
 * normal force.
 *
 * Tolerance 1e-7 of numbers of size 10: brute force decides to 1e-9, the rung answers to 1e-10. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mode_brute_force.h"
#include "scene_run.h"

static const double CLOSE = 1e-7, FOOT = 0.1;

static uint64_t seed;

/* In [low, high). */
static double chance(double low, double high)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(seed >> 11) / 9007199254740992.0;
}

typedef struct stand {
    bool planar;
    int feet, rays;
    double foot[BRUTE_CONTACTS][3], normal[BRUTE_CONTACTS][3], drawn[BRUTE_CONTACTS][3], mu[BRUTE_CONTACTS];
    double mass, inertia[3], force[3], torque[3];
} stand;

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double *a, const double *b, double *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void normalise(double *v)
{
    const double size = sqrt(dot(v, v));
    for (int k = 0; k < 3; k++) {
        v[k] /= size;
    }
}

/* Feet on the unit circle or sphere, planes that face the middle but for up to half a radian; false: a foot is in
 * another one's plane. */
static bool place_feet(stand *s)
{
    for (int i = 0; i < s->feet; i++) {
        for (int k = 0; k < 3; k++) {
            s->foot[i][k] = s->planar && k == 2 ? 0.0 : chance(-1, 1);
        }
        normalise(s->foot[i]);
        for (int k = 0; k < 3; k++) {
            s->normal[i][k] = s->planar && k == 2 ? 0.0 : -s->foot[i][k] + chance(-0.5, 0.5);
        }
        normalise(s->normal[i]);
    }
    for (int i = 0; i < s->feet; i++) {
        for (int j = 0; j < s->feet; j++) {
            const double apart[3] = {s->foot[j][0] - s->foot[i][0], s->foot[j][1] - s->foot[i][1],
                                     s->foot[j][2] - s->foot[i][2]};
            if (i != j && dot(apart, s->normal[i]) < 0.05) {
                return false;
            }
        }
    }
    return true;
}

static void make_stand(stand *s, bool planar, int feet, int rays)
{
    static const double frictions[] = {0.1, 0.3, 0.7, 1.2, 2.5};
    *s = (stand){.planar = planar, .feet = feet, .rays = rays};
    while (!place_feet(s)) {
    }
    const bool some_slide = chance(0, 1) < 0.5;
    for (int i = 0; i < feet; i++) {
        double across[3] = {chance(-1, 1), chance(-1, 1), planar ? 0.0 : chance(-1, 1)};
        const double off = dot(across, s->normal[i]);
        s->mu[i] = frictions[(int)chance(0, 5)];
        const bool slides = some_slide && chance(0, 1) < 0.7;
        for (int k = 0; k < 3; k++) {
            s->drawn[i][k] = slides ? across[k] - off * s->normal[i][k] : 0.0;
        }
    }
    s->mass = chance(0.5, 3);
    for (int k = 0; k < 3; k++) { /* a foot on a light body slips where a heavy one does not */
        s->inertia[k] = chance(0.1, 0.12) * s->mass;
        s->force[k] = planar && k == 2 ? 0.0 : chance(-10, 10);
        s->torque[k] = planar && k < 2 ? 0.0 : chance(-3, 3);
    }
}

static void write_feet(const stand *s, char *text, size_t size)
{
    size_t at = 0;
    for (int i = 0; i < s->feet; i++) {
        const double *p = s->foot[i];
        at += (size_t)(s->planar
                           ? snprintf(text + at, size - at, "%s{disc: %g, pose: {position: [%.17g, %.17g]}}",
                                      i ? ", " : "", FOOT, p[0], p[1])
                           : snprintf(text + at, size - at, "%s{sphere: %g, pose: {position: [%.17g, %.17g, %.17g]}}",
                                      i ? ", " : "", FOOT, p[0], p[1], p[2]));
    }
}

static scene_text stand_scene(const stand *s)
{
    char walls[2000] = "", pairs[400] = "", feet[800];
    size_t wall = 0, pair = 0;
    for (int i = 0; i < s->feet; i++) {
        const double *n = s->normal[i], *v = s->drawn[i], offset = dot(n, s->foot[i]) - FOOT;
        wall +=
            (size_t)(s->planar ? snprintf(walls + wall, sizeof walls - wall,
                                          "  w%d: {driven: {x: {rate: %.17g}, y: {rate: %.17g}},\n"
                                          "    shapes: [{halfplane: {normal: [%.17g, %.17g], offset: %.17g}}]}\n",
                                          i, v[0], v[1], n[0], n[1], offset)
                               : snprintf(walls + wall, sizeof walls - wall,
                                          "  w%d: {driven: {x: {rate: %.17g}, y: {rate: %.17g}, z: {rate: %.17g}},\n"
                                          "    shapes: [{plane: {normal: [%.17g, %.17g, %.17g], offset: %.17g}}]}\n",
                                          i, v[0], v[1], v[2], n[0], n[1], n[2], offset));
        pair += (size_t)snprintf(pairs + pair, sizeof pairs - pair, "%sw%d b: {friction: %.17g}", i ? ", " : "", i,
                                 s->mu[i]);
    }
    write_feet(s, feet, sizeof feet);
    char numbers[3][200]; /* inertia, force, torque */
    snprintf(numbers[0], 200, s->planar ? "%.17g" : "[%.17g, %.17g, %.17g]", s->inertia[0], s->inertia[1],
             s->inertia[2]);
    snprintf(numbers[1], 200, s->planar ? "[%.17g, %.17g]" : "[%.17g, %.17g, %.17g]", s->force[0], s->force[1],
             s->force[2]);
    snprintf(numbers[2], 200, s->planar ? "%.17g" : "[%.17g, %.17g, %.17g]", s->torque[s->planar ? 2 : 0], s->torque[1],
             s->torque[2]);
    return scene_text_of("perp: 1\n%sgravity: %s\nbodies:\n%s"
                         "  b: {mass: %.17g, inertia: %s, shapes: [%s]}\n"
                         "forces: [{body: b, force: %s, torque: %s}]\n"
                         "contacts: {pairs: {%s}}\nrun: {model: instant, rays: %d}\n",
                         s->planar ? "planar: true\n" : "", s->planar ? "[0, 0]" : "[0, 0, 0]", walls, s->mass,
                         numbers[0], feet, numbers[1], numbers[2], pairs, s->rays);
}

/* The row of a direction at a foot's contact. */
static void fill_row(const stand *s, int i, const double *d, double *row)
{
    double arm[3], turn[3];
    for (int k = 0; k < 3; k++) {
        arm[k] = s->foot[i][k] - FOOT * s->normal[i][k];
    }
    cross(arm, d, turn);
    if (s->planar) {
        row[0] = d[0], row[1] = d[1], row[2] = turn[2];
        return;
    }
    for (int k = 0; k < 3; k++) {
        row[k] = d[k];
        row[3 + k] = turn[k];
    }
}

/* With the friction directions that the run has, since the polygon stands along them. */
static void fill_problem(const stand *s, const scene_run *run, brute_problem *p)
{
    *p = (brute_problem){.n = s->planar ? 3 : 6, .contact_count = s->feet, .rays = s->rays};
    for (int k = 0; k < p->n; k++) {
        const bool turns = k >= (s->planar ? 2 : 3);
        p->mass[k] = !turns ? s->mass : s->inertia[s->planar ? 0 : k - 3];
        p->load[k] = !turns ? s->force[k] : s->torque[s->planar ? 2 : k - 3];
    }
    for (int c = 0; c < run->result.contact_count; c++) {
        const perp_contact *contact = &run->result.contacts[c].contact;
        const int i = contact->a;
        if (i >= s->feet || fabs(contact->phi) > 1e-9) {
            continue;
        }
        brute_contact *b = &p->contacts[i];
        b->mu = s->mu[i];
        b->directions = s->planar ? 1 : 2;
        fill_row(s, i, s->normal[i], b->row[0]);
        for (int r = 0; r < b->directions; r++) {
            const double d[3] = {contact->directions[r].x, contact->directions[r].y, contact->directions[r].z};
            fill_row(s, i, d, b->row[1 + r]);
            b->slip[r] = -dot(d, s->drawn[i]);
        }
    }
}

static const perp_instant_solution *find(const scene_run *run, const brute_problem *p, const double *a)
{
    for (int i = 0; i < run->result.solution_count; i++) {
        const double *rate = run->result.solutions[i].rate + run->model->nv - p->n;
        double off = 0.0;
        for (int k = 0; k < p->n; k++) {
            off = fmax(off, fabs(rate[k] - a[k]) / (1.0 + fabs(a[k])));
        }
        if (off < CLOSE) {
            return &run->result.solutions[i];
        }
    }
    return NULL;
}

/* Every foot's range, and that its mode is that of its force and its plane. */
static void check_forces(const stand *s, const brute_solution *expected, const perp_instant_solution *found)
{
    for (int c = 0; c < found->contact_count; c++) {
        const perp_contact_record *r = &found->contacts[c];
        const int i = r->contact.a;
        if (i >= s->feet || fabs(r->contact.phi) > 1e-9) {
            continue;
        }
        NEAR(found->fn_low[c], expected->least[i], CLOSE * (1.0 + expected->least[i]));
        if (isfinite(found->fn_high[c])) { /* brute force has corners, and no rays */
            NEAR(found->fn_high[c], expected->most[i], CLOSE * (1.0 + expected->most[i]));
        }
        assert_true(r->fn >= found->fn_low[c] - CLOSE && r->fn <= found->fn_high[c] + CLOSE);
        const bool drawn = dot(s->drawn[i], s->drawn[i]) > 0.0;
        assert_true(r->fn <= 1e-7 || (r->mode == PERP_CONTACT_SLIDE) == drawn);
        assert_true(r->fn > 1e-12 || r->mode == PERP_CONTACT_OPEN);
    }
}

/* Solutions by number; -1: brute force has no verdict. */
static int compare(const stand *s)
{
    const scene_text scene = stand_scene(s);
    scene_run run;
    brute_problem problem;
    brute_answer expected;
    instant_run(&run, scene.of, NULL);
    fill_problem(s, &run, &problem);
    brute_force_modes(&problem, &expected);
    const int count = run.result.solution_count;
    if (!expected.unclear) {
        if (count != expected.count || run.result.partial) {
            fail_msg("%d solutions for %d (%s)\n%s", count, expected.count, run.result.partial ? "or more" : "all",
                     scene.of);
        }
        for (int i = 0; i < expected.count; i++) {
            const perp_instant_solution *found = find(&run, &problem, expected.solutions[i].a);
            if (!found) {
                fail_msg("solution %d is missing\n%s", i, scene.of);
            }
            check_forces(s, &expected.solutions[i], found);
        }
        assert_true((run.result.why_none[0] != '\0') == (count == 0));
    }
    scene_run_free(&run);
    return expected.unclear ? -1 : count;
}

typedef struct tally {
    int unclear, by_count[BRUTE_SOLUTIONS + 1];
} tally;

static void note(tally *t, int count)
{
    if (count < 0) {
        t->unclear++;
    } else {
        t->by_count[count]++;
    }
}

static void test_plane(void **unused)
{
    (void)unused;
    static const int cases[] = {0, 150, 150, 100, 40};
    tally seen = {0};
    seed = 1;
    for (int feet = 1; feet <= 4; feet++) {
        for (int i = 0; i < cases[feet]; i++) {
            stand s;
            make_stand(&s, true, feet, 4);
            note(&seen, compare(&s));
        }
    }
    /* no solution, one, and several are all common among them */
    assert_true(seen.by_count[0] > 10 && seen.by_count[1] > 100 && seen.by_count[2] > 10);
    assert_true(seen.unclear < 20);
}

static void test_space(void **unused)
{
    (void)unused;
    static const int cases[] = {0, 150, 80, 8};
    tally seen = {0};
    seed = 2;
    for (int feet = 1; feet <= 3; feet++) {
        for (int i = 0; i < cases[feet]; i++) {
            stand s;
            make_stand(&s, false, feet, feet < 3 && i % 3 == 2 ? 6 : 4);
            note(&seen, compare(&s));
        }
    }
    assert_true(seen.by_count[0] > 3 && seen.by_count[1] > 50 && seen.by_count[2] > 3);
    assert_true(seen.unclear < 10);
}

/* ---- rates that are not unique ------------------------------------------------------------------------------------
 */

enum { FEET_MOST = 6 };

/* A body slides and turns on a floor, on feet at the corners of a lopsided polygon, HEIGHT below its centre. All feet
 * stay down, so that three equations hold of their normal forces: the weight, and the moments about x and y, in which
 * friction is known. The forces that meet them form a polytope of feet - 3 dimensions, and the accelerations are an
 * affine image of it, whose corners are those of the polytope where it has no more dimensions than x, y and the turning
 * about z have. */
static const double HEIGHT = 0.3, WEIGHT = 9.81, TURNING = 1.5, SPEED[2] = {0.4, -0.2}, SLIDING = 0.25;

static void foot_at(int i, int feet, double at[2])
{
    const double angle = 6.283185307179586 * i / feet + 0.2 * i * (i % 2), radius = 1.0 + 0.1 * i;
    at[0] = radius * cos(angle);
    at[1] = radius * sin(angle);
}

/* What one newton at foot i is along x, y, and about x, y, z. */
static void foot_column(int i, int feet, double column[5])
{
    double at[2];
    foot_at(i, feet, at);
    const double v[2] = {SPEED[0] - TURNING * at[1], SPEED[1] + TURNING * at[0]}, size = hypot(v[0], v[1]);
    const double f[2] = {-SLIDING * v[0] / size, -SLIDING * v[1] / size};
    column[0] = f[0];
    column[1] = f[1];
    column[2] = at[1] + HEIGHT * f[1];
    column[3] = -at[0] - HEIGHT * f[0];
    column[4] = at[0] * f[1] - at[1] * f[0];
}

/* The forces of three feet alone that carry the body; false: one of them would have to pull. */
static bool carry(int feet, const int three[3], double fn[3])
{
    double a[3][3], det[4];
    for (int k = 0; k < 3; k++) {
        double column[5];
        foot_column(three[k], feet, column);
        a[0][k] = 1.0;
        a[1][k] = column[2];
        a[2][k] = column[3];
    }
    for (int k = 0; k < 4; k++) { /* Cramer, with (WEIGHT, 0, 0) in the place of column k - 1 */
        double b[3][3];
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                b[i][j] = k > 0 && j == k - 1 ? (i == 0 ? WEIGHT : 0.0) : a[i][j];
            }
        }
        double minor[3];
        cross(b[1], b[2], minor);
        det[k] = dot(b[0], minor);
    }
    for (int k = 0; k < 3; k++) {
        fn[k] = det[k + 1] / det[0];
    }
    return fn[0] > 0.0 && fn[1] > 0.0 && fn[2] > 0.0;
}

/* Whether the accelerations with these forces of three feet are a vertex of the set. */
static bool is_listed(const scene_run *run, int feet, const int three[3], const double fn[3])
{
    double a[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        double column[5];
        foot_column(three[k], feet, column);
        a[0] += fn[k] * column[0];
        a[1] += fn[k] * column[1];
        a[2] += fn[k] * column[4]; /* mass and inertia are 1 */
    }
    const perp_instant_solution *s = &run->result.solutions[0];
    for (int i = 0; i < (s->vertex_count > 0 ? s->vertex_count : 1); i++) {
        const double *rate = s->vertex_count > 0 ? s->vertices + (ptrdiff_t)6 * i : s->rate;
        if (hypot(hypot(rate[0] - a[0], rate[1] - a[1]), rate[5] - a[2]) < CLOSE) {
            return fabs(rate[2]) < CLOSE && fabs(rate[3]) < CLOSE && fabs(rate[4]) < CLOSE;
        }
    }
    return false;
}

static void test_corners_of_rates(void **unused)
{
    (void)unused;
    for (int feet = 3; feet <= FEET_MOST; feet++) {
        char shapes[1000];
        size_t at = 0;
        for (int i = 0; i < feet; i++) {
            double foot[2];
            foot_at(i, feet, foot);
            at += (size_t)snprintf(shapes + at, sizeof shapes - at,
                                   "%s{sphere: 0.1, pose: {position: [%.17g, %.17g, %.17g]}}", i ? ", " : "", foot[0],
                                   foot[1], 0.1 - HEIGHT);
        }
        const scene_text scene =
            scene_text_of("perp: 1\ngravity: [0, 0, %.17g]\nbodies:\n"
                          "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                          "  b: {mass: 1, inertia: [1, 1, 1], pose: {position: [0, 0, %.17g]}, shapes: [%s],\n"
                          "    velocity: {linear: [%.17g, %.17g, 0], angular: [0, 0, %.17g]}}\n"
                          "contacts: {friction: %.17g}\nrun: {model: instant}\n",
                          -WEIGHT, HEIGHT, shapes, SPEED[0], SPEED[1], TURNING, SLIDING);
        scene_run run;
        instant_run(&run, scene.of, NULL);
        int corners = 0;
        for (int i = 0; i < feet; i++) {
            for (int j = i + 1; j < feet; j++) {
                for (int k = j + 1; k < feet; k++) {
                    double fn[3];
                    const int three[3] = {i, j, k};
                    if (carry(feet, three, fn)) {
                        corners++;
                        assert_true(is_listed(&run, feet, three, fn));
                    }
                }
            }
        }
        assert_int_equal(run.result.solution_count, 1);
        assert_int_equal(run.result.solutions[0].vertex_count, corners > 1 ? corners : 0);
        assert_int_equal(run.result.solutions[0].ray_count, 0);
        assert_true(corners >= feet - 2 && !run.result.partial);
        scene_run_free(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plane),
        cmocka_unit_test(test_space),
        cmocka_unit_test(test_corners_of_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
