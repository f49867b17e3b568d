/* Rates that are not unique at an instant: the sets that are listed are all there is.
 *
 * Every scene comes with its own law: whether a velocity of the body is a solution, worked out by hand. Sums of
 * vertices and rays with random weights meet it, velocities that meet it are such sums, and of random velocities near
 * by the law and the set say the same. Tolerances: the list is exact to 1e-9, sums of a few numbers below 10 to 1e-7;
 * what is nearer than 1e-4 to the edge of a set is not asked about. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scene_run.h"

enum { N_MOST = 6, GENERATORS_MOST = 40, SAMPLES = 60 };

static const double CLOSE = 1e-7, FAR = 1e-4;

static uint64_t seed;

static double chance(double low, double high)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(seed >> 11) / 9007199254740992.0;
}

/* ---- is a velocity in a set? --------------------------------------------------------------------------------------
 */

/* Generators as columns over v and a last row, 1 of vertices and 0 of rays, whose weights sum to 1. */
typedef struct generators {
    int n, count;
    double column[GENERATORS_MOST][N_MOST + 1];
} generators;

/* Of a solution, over the last n degrees of freedom: those of the body that the scene is about. */
static generators generators_of(const scene_run *run, const perp_instant_solution *s, int n)
{
    generators g = {.n = n, .count = s->vertex_count > 0 ? s->vertex_count + s->ray_count : 1};
    const int nv = run->model->nv;
    assert_true(g.count <= GENERATORS_MOST);
    for (int j = 0; j < g.count; j++) {
        const int ray = j - s->vertex_count;
        const double *from = s->vertex_count == 0 ? s->rate : ray < 0 ? s->vertices + nv * j : s->rays + nv * ray;
        memcpy(g.column[j], from + nv - n, (size_t)n * sizeof(double));
        g.column[j][n] = s->vertex_count == 0 || ray < 0 ? 1.0 : 0.0;
    }
    return g;
}

/* How far v is from the set, by coordinate descent on the weights. */
static double distance(const generators *g, const double *v)
{
    double weight[GENERATORS_MOST] = {0}, left[N_MOST + 1], sum = 0.0;
    memcpy(left, v, (size_t)g->n * sizeof(double));
    left[g->n] = 1.0;
    for (int sweep = 0; sweep < 20000; sweep++) {
        for (int j = 0; j < g->count; j++) {
            double along = 0.0, size = 0.0;
            for (int k = 0; k <= g->n; k++) {
                along += g->column[j][k] * left[k];
                size += g->column[j][k] * g->column[j][k];
            }
            const double next = fmax(0.0, weight[j] + along / size), change = next - weight[j];
            weight[j] = next;
            for (int k = 0; k <= g->n; k++) {
                left[k] -= change * g->column[j][k];
            }
        }
        sum = 0.0;
        for (int k = 0; k <= g->n; k++) {
            sum += left[k] * left[k];
        }
        if (sum < 1e-20) {
            break;
        }
    }
    return sqrt(sum);
}

static void random_sum(const generators *g, double *v)
{
    double weight[GENERATORS_MOST], sum = 0.0;
    for (int j = 0; j < g->count; j++) {
        weight[j] = chance(0, 1) < 0.3 ? 0.0 : chance(0, 2);
        sum += g->column[j][g->n] * weight[j];
    }
    if (sum == 0.0) {
        weight[0] = sum = 1.0; /* the first is a vertex */
    }
    memset(v, 0, (size_t)g->n * sizeof *v);
    for (int j = 0; j < g->count; j++) {
        for (int k = 0; k < g->n; k++) {
            v[k] += g->column[j][k] * weight[j] / (g->column[j][g->n] > 0.0 ? sum : 1.0);
        }
    }
}

/* ---- the scenes ---------------------------------------------------------------------------------------------------
 */

/* By how much v breaks the law; 0: it is a solution. `p` are the scene's numbers. */
typedef double law(const double *p, const double *v);
/* A random solution. */
typedef void draw(const double *p, double *v);

typedef struct instant_case {
    scene_text scene;
    int n;
    double p[4];
    law *breaks;
    draw *some;
    int vertices, rays; /* of the set; 0: one velocity */
    bool complete;
} instant_case;

static void check(const instant_case *c)
{
    scene_run run;
    double v[N_MOST];
    scene_run_make(&run, c->scene.of, NULL);
    if (run.status != PERP_STATUS_OK) {
        fail_msg("%s", run.error.message);
    }
    const perp_instant_solution *s = instant_only(&run);
    const double *rate = s->rate + run.model->nv - c->n;
    assert_int_equal(s->vertex_count, c->vertices);
    assert_int_equal(s->ray_count, c->rays);
    assert_int_equal(run.result.partial, !c->complete);
    assert_true(c->breaks(c->p, rate) <= CLOSE);
    const generators g = generators_of(&run, s, c->n);
    double least = 0.0;
    for (int k = 0; k < c->n; k++) {
        least += rate[k] * rate[k];
    }
    assert_true(distance(&g, rate) <= CLOSE);
    for (int i = 0; i < SAMPLES; i++) {
        double size = 0.0;
        random_sum(&g, v);
        for (int k = 0; k < c->n; k++) {
            size += v[k] * v[k];
        }
        assert_true(c->breaks(c->p, v) <= CLOSE);
        assert_true(c->n > 3 || size >= least - CLOSE); /* of one mass, or without a part that turns: the smallest */
        c->some(c->p, v);
        assert_true(distance(&g, v) <= 1e-5);
        v[i % c->n] += (i % 2 == 0 ? 1.0 : -1.0) * chance(0.01, 0.5);
        const double off = c->breaks(c->p, v), outside = distance(&g, v);
        assert_true((off > FAR && outside > FAR / 10) || (off <= CLOSE && outside <= 1e-5) ||
                    (off > CLOSE && off <= FAR));
    }
    scene_run_free(&run);
}

/* A ball of radius p[0] on a plane with friction: the point that touches is at rest. */
static double ball_breaks(const double *p, const double *v)
{
    return fmax(fabs(v[2]), fmax(fabs(v[0] - p[0] * v[4]), fabs(v[1] + p[0] * v[3])));
}

static void ball_some(const double *p, double *v)
{
    for (int k = 3; k < 6; k++) {
        v[k] = chance(-2, 2);
    }
    v[0] = p[0] * v[4];
    v[1] = -p[0] * v[3];
    v[2] = 0.0;
}

static scene_text ball_scene(double radius, double mu, const char *cone)
{
    return scene_text_of("perp: 1\nbodies:\n  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}\n"
                         "  ball: {mass: 1, pose: {position: [0.3, 0, %g]}, shapes: [{sphere: %g}]}\n"
                         "contacts: {friction: %g}\nrun: {model: instant-qs, %s}\n",
                         radius, radius, mu, cone);
}

static void test_ball(void **unused)
{
    (void)unused;
    static const char *const cones[] = {"cone: rays", "cone: rays, rays: 8", "cone: quadratic"};
    seed = 1;
    for (int i = 0; i < 6; i++) {
        const double radius = i < 3 ? 0.1 : 1.3;
        check(&(instant_case){ball_scene(radius, i < 3 ? 0.5 : 0.05, cones[i % 3]),
                              6,
                              {radius},
                              ball_breaks,
                              ball_some,
                              1,
                              6,
                              i % 3 < 2});
    }
}

/* Without friction it may slide too: only not up or down. */
static double smooth_breaks(const double *p, const double *v)
{
    (void)p;
    return fabs(v[2]);
}

static void smooth_some(const double *p, double *v)
{
    for (int k = 0; k < 6; k++) {
        v[k] = k == 2 ? 0.0 : p[0] > 0.0 || k < 2 ? chance(-2, 2) : 0.0;
    }
}

static double particle_breaks(const double *p, const double *v)
{
    (void)p;
    return fabs(v[2]);
}

static void particle_some(const double *p, double *v)
{
    (void)p;
    v[0] = chance(-3, 3);
    v[1] = chance(-3, 3);
    v[2] = 0.0;
}

static void test_smooth_plane(void **unused)
{
    (void)unused;
    seed = 2;
    check(&(instant_case){ball_scene(0.2, 0.0, "cone: rays"), 6, {1.0}, smooth_breaks, smooth_some, 1, 10, true});
    static const char *const cones[] = {"rays", "quadratic"};
    for (int i = 0; i < 2; i++) {
        check(&(instant_case){
            scene_text_of("perp: 1\nbodies:\n  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}\n"
                          "  dot: {mass: 0.3, free: [x, y, z], shapes: [{point: {}}]}\n"
                          "contacts: {friction: 0}\nrun: {model: instant-qs, cone: %s}\n",
                          cones[i]),
            3,
            {0},
            particle_breaks,
            particle_some,
            1,
            4,
            true});
    }
}

/* A box between walls that move at p[0] and p[1] along x: it goes with anything between. It cannot turn; along the
 * walls it does as it likes where they are smooth, and where they are rough and carry nothing too. */
static double walls_break(const double *p, const double *v)
{
    return fmax(fmax(p[0] - v[0], v[0] - p[1]), 0.0) + fabs(v[2]) * p[2];
}

static void walls_some(const double *p, double *v)
{
    v[0] = chance(p[0], p[1]);
    v[1] = chance(-2, 2);
    v[2] = p[2] > 0.0 ? 0.0 : chance(-2, 2);
}

static double held_breaks(const double *p, const double *v)
{
    return fmax(fmax(p[0] - v[0], v[0] - p[1]), 0.0);
}

static void held_some(const double *p, double *v)
{
    v[0] = chance(p[0], p[1]);
}

static scene_text walls_scene(double from, double to, double mu, const char *body)
{
    return scene_text_of("perp: 1\nplanar: true\ngravity: [0, 0]\nbodies:\n"
                         "  left: {driven: {x: {rate: %g}}, shapes: [{halfplane: {normal: [1, 0], offset: -0.1}}]}\n"
                         "  right: {driven: {x: {rate: %g}}, shapes: [{halfplane: {normal: [-1, 0], offset: -0.1}}]}\n"
                         "  body: {mass: 2, %s}\ncontacts: {friction: %g}\nrun: {model: instant-qs}\n",
                         from, to, body, mu);
}

static void test_between_walls(void **unused)
{
    (void)unused;
    static const double speeds[][2] = {{0.3, 0.7}, {-0.2, 0.5}, {-1.5, -0.4}};
    seed = 3;
    for (int i = 0; i < 6; i++) {
        const double from = speeds[i % 3][0], to = speeds[i % 3][1], mu = i < 3 ? 0.0 : 0.6;
        check(&(instant_case){walls_scene(from, to, mu, "free: [x], shapes: [{box: [0.2, 0.3]}]"),
                              1,
                              {from, to},
                              held_breaks,
                              held_some,
                              2,
                              0,
                              true});
        check(&(instant_case){
            walls_scene(from, to, mu, "shapes: [{disc: 0.1}]"), 3, {from, to, 0}, walls_break, walls_some, 2, 4, true});
    }
    /* as fast as each other: not to be told apart from a box that is held, and it still slides along them */
    check(&(instant_case){
        walls_scene(0.4, 0.4, 0.6, "shapes: [{disc: 0.1}]"), 3, {0.4, 0.4, 0}, walls_break, walls_some, 1, 4, true});
    check(&(instant_case){walls_scene(0.4, 0.4, 0.6, "shapes: [{box: [0.2, 0.3]}]"),
                          3,
                          {0.4, 0.4, 1},
                          walls_break,
                          walls_some,
                          1,
                          2,
                          true});
}

/* A disc in a vee that is as steep on either side: it turns in place without friction, and is at rest with. */
static double vee_breaks(const double *p, const double *v)
{
    return fmax(fmax(fabs(v[0]), fabs(v[1])), p[0] > 0.0 ? fabs(v[2]) : 0.0);
}

static void vee_some(const double *p, double *v)
{
    v[0] = v[1] = 0.0;
    v[2] = p[0] > 0.0 ? 0.0 : chance(-4, 4);
}

static void test_vee(void **unused)
{
    (void)unused;
    seed = 4;
    for (int i = 0; i < 6; i++) {
        const double angle = 0.4 + 0.3 * (i % 3), mu = i < 3 ? 0.0 : 0.3;
        check(&(instant_case){
            scene_text_of("perp: 1\nplanar: true\nbodies:\n"
                          "  left: {fixed: true, shapes: [{halfplane: {normal: [%.17g, %.17g], offset: -0.1}}]}\n"
                          "  right: {fixed: true, shapes: [{halfplane: {normal: [%.17g, %.17g], offset: -0.1}}]}\n"
                          "  disc: {mass: 1, shapes: [{disc: 0.1}]}\n"
                          "contacts: {friction: %g}\nrun: {model: instant-qs}\n",
                          sin(angle), cos(angle), -sin(angle), cos(angle), mu),
            3,
            {mu},
            vee_breaks,
            vee_some,
            i < 3 ? 1 : 0,
            i < 3 ? 2 : 0,
            true});
    }
}

/* The fence pushes a particle that slides on four rays: |y'| <= x'. With eight, within half a right angle less. */
static double fence_breaks(const double *p, const double *v)
{
    return fmax(fmax(fabs(v[0] - p[0]), fabs(v[2])), fmax(0.0, fabs(v[1]) - p[1]));
}

static void fence_some(const double *p, double *v)
{
    v[0] = p[0];
    v[1] = chance(-p[1], p[1]);
    v[2] = 0.0;
}

static void test_fence(void **unused)
{
    (void)unused;
    seed = 5;
    for (int i = 0; i < 2; i++) {
        const double speed = i == 0 ? 0.4 : 0.9, rays = i == 0 ? 4 : 8;
        check(&(instant_case){
            scene_text_of("perp: 1\nbodies:\n  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}\n"
                          "  fence: {driven: {x: {rate: %g}}, shapes: [{plane: {normal: [1, 0, 0]}}]}\n"
                          "  dot: {mass: 1, free: [x, y, z], shapes: [{point: {}}]}\n"
                          "contacts: {friction: 0.5, pairs: {fence dot: {friction: 0}}}\n"
                          "run: {model: instant-qs, cone: rays, rays: %g}\n",
                          speed, rays),
            3,
            {speed, speed * tan(3.14159265358979323846 / rays)},
            fence_breaks,
            fence_some,
            2,
            0,
            true});
    }
}

/* Weightless beside a wall, rough or not: it may part from it, and slide along as long as it touches. */
static double parting_breaks(const double *p, const double *v)
{
    (void)p;
    return fmax(0.0, -v[0]);
}

static void parting_some(const double *p, double *v)
{
    (void)p;
    v[0] = chance(0, 2);
    v[1] = chance(-2, 2);
    v[2] = chance(-2, 2);
}

static void test_weightless(void **unused)
{
    (void)unused;
    seed = 6;
    for (int i = 0; i < 2; i++) {
        check(&(instant_case){
            scene_text_of("perp: 1\nplanar: true\ngravity: [0, 0]\nbodies:\n"
                          "  wall: {fixed: true, shapes: [{halfplane: {normal: [1, 0], offset: -0.1}}]}\n"
                          "  disc: {mass: 1, shapes: [{disc: 0.1}]}\ncontacts: {friction: %g}\n"
                          "run: {model: instant-qs}\n",
                          0.7 * i),
            3,
            {0},
            parting_breaks,
            parting_some,
            1,
            5,
            true});
    }
}

/* ---- accelerations ------------------------------------------------------------------------------------------------
 */

/* A rod's tip slides at the friction at which its normal force does not change its normal acceleration: with arm (-1,
 * -1), mass 1 and inertia p that is mu = 1 + p. Nothing presses, so that any fn >= 0 is an answer, and the acceleration
 * grows with it without end: fn (mu, 1, (mu - 1) / p) = fn (mu, 1, 1). */
static double rod_breaks(const double *p, const double *v)
{
    const double fn = v[1];
    return fmax(fmax(fabs(v[0] - (1.0 + p[0]) * fn), fabs(v[2] - fn)), fmax(0.0, -fn));
}

static void rod_some(const double *p, double *v)
{
    v[1] = v[2] = chance(0, 2);
    v[0] = (1.0 + p[0]) * v[1];
}

static void test_critical_rod(void **unused)
{
    (void)unused;
    static const double inertias[] = {1.0, 0.5, 3.0}; /* with which the numbers cancel to the bit */
    seed = 7;
    for (int i = 0; i < 3; i++) {
        check(&(instant_case){
            scene_text_of("perp: 1\nplanar: true\ngravity: [0, 0]\nbodies:\n"
                          "  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
                          "  rod: {mass: 1, inertia: %g, pose: {position: [1, 1]}, velocity: {linear: [-1, 0]},\n"
                          "    shapes: [{point: {}, pose: {position: [-1, -1]}}]}\n"
                          "contacts: {friction: %g}\nrun: {model: instant}\n",
                          inertias[i], 1.0 + inertias[i]),
            3,
            {inertias[i]},
            rod_breaks,
            rod_some,
            1,
            1,
            true});
    }
}

/* ---- what a caller relies on --------------------------------------------------------------------------------------
 */

/* With other inertias rounding hides that the normal force changes nothing: then the list is not called complete. */
static void test_nearly_critical_rod(void **unused)
{
    (void)unused;
    for (int i = 1; i < 40; i++) {
        const double inertia = 0.1 * i;
        scene_run run;
        scene_run_make(
            &run,
            scene_text_of("perp: 1\nplanar: true\ngravity: [0, 0]\nbodies:\n"
                          "  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
                          "  rod: {mass: 1, inertia: %.17g, pose: {position: [1, 1]}, velocity: {linear: [-1, 0]},\n"
                          "    shapes: [{point: {}, pose: {position: [-1, -1]}}]}\n"
                          "contacts: {friction: %.17g}\nrun: {model: instant}\n",
                          inertia, 1.0 + inertia)
                .of,
            NULL);
        assert_int_equal(run.status, PERP_STATUS_OK);
        assert_true(run.result.partial || run.result.solutions[0].ray_count == 1);
        scene_run_free(&run);
    }
}

/* Where not all solutions are looked for the list is not called complete, set or not; and a set counts as several. */
static void test_several(void **unused)
{
    (void)unused;
    scene_run run;
    scene_run_make(&run, ball_scene(0.1, 0.5, "cone: rays").of, NULL);
    assert_true(run.states[0].several);
    scene_run_free(&run);
    scene_run_make(&run, ball_scene(0.1, 0.5, "cone: quadratic").of, NULL);
    assert_true(run.result.partial && run.states[0].several);
    scene_run_free(&run);
}

static void test_out_of_memory(void **unused)
{
    (void)unused;
    scene_run_refuse_memory(ball_scene(0.1, 0.5, "cone: rays").of, NULL);
    scene_run_refuse_memory(ball_scene(0.1, 0.5, "cone: quadratic").of, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ball),          cmocka_unit_test(test_smooth_plane),
        cmocka_unit_test(test_between_walls), cmocka_unit_test(test_vee),
        cmocka_unit_test(test_fence),         cmocka_unit_test(test_weightless),
        cmocka_unit_test(test_critical_rod),  cmocka_unit_test(test_nearly_critical_rod),
        cmocka_unit_test(test_several),       cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
