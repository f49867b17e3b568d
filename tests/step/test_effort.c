/* Impedance joints whose force is limited: tau = min(E, max(-E, K (command - q+) - D v)) at the end of every step. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scene_run.h"

static const char *const SPRINGS[] = {"qs-qp",   "qs-cone", "quasidynamic", "qs-impedance-lcp",
                                      "dyn-lcp", "dyn-ncp", "dyn-qp",       "compliant"};
enum { RUNGS = sizeof SPRINGS / sizeof *SPRINGS, WITH_INERTIA = 4 /* the first of these that has it */ };

static void run_text(scene_run *run, scene_text text)
{
    scene_run_make(run, text.of, NULL);
    if (run->status != PERP_STATUS_OK) {
        fail_msg("%s", run->error.message);
    }
}

/* N: the normal forces between two bodies, of all their contacts. */
static double pressed(const scene_run *run, int state, const char *a, const char *b)
{
    const run_state *s = &run->states[state];
    double sum = 0.0;
    for (int i = 0; i < s->contact_count; i++) {
        const perp_contact *c = &s->contacts[i].contact;
        const char *first = run->scene->bodies[c->a].name, *second = run->scene->bodies[c->b].name;
        if ((strcmp(first, a) == 0 && strcmp(second, b) == 0) || (strcmp(first, b) == 0 && strcmp(second, a) == 0)) {
            sum += s->contacts[i].fn;
        }
    }
    return sum;
}

static void assert_same_motion(const scene_run *a, const scene_run *b)
{
    assert_int_equal(a->count, b->count);
    for (int i = 0; i < a->count; i++) {
        assert_memory_equal(a->states[i].q, b->states[i].q, (size_t)a->model->nq * sizeof(double));
        assert_memory_equal(a->states[i].v, b->states[i].v, (size_t)a->model->nv * sizeof(double));
    }
}

/* ---- one mass ---------------------------------------------------------------------------------------------------- */

static const char CART[] = "perp: 1\n"
                           "planar: true\n"
                           "gravity: [0, 0]\n"
                           "bodies:\n"
                           "  wall: {fixed: true, pose: {position: [%g, 0]}, shapes: [{box: [0.5, 1]}]}\n"
                           "  cart: {mass: 2, shapes: [{box: [0.2, 0.2]}]}\n"
                           "joints:\n"
                           "  rail: {type: prismatic, parent: world, child: cart, axis: [1, 0], position: %g,\n"
                           "         control: impedance, stiffness: %g, damping: %g, command: %s, effort: %g}\n"
                           "run: {model: %s, h: 0.01, until: %g}\n";

/* The implicit rule by hand, m (v+ - v) / h = tau+, to and fro between spring and limit on both sides. */
static void test_mass_on_a_spring(void **state)
{
    (void)state;
    const double m = 2, h = 0.01, k = 400, d = 1, e = 6, u = 0.3;
    for (int r = WITH_INERTIA; r < RUNGS; r++) {
        scene_run run;
        run_text(&run, scene_text_of(CART, 9.0, 0.0, k, d, "0.3", e, SPRINGS[r], 3.0));
        double x = 0, v = 0;
        int counts[3] = {0, 0, 0};
        for (int i = 1; i < run.count; i++) {
            const double spring = (m * v + h * k * (u - x)) / (m + h * d + h * h * k);
            const double tau = k * (u - x - h * spring) - d * spring;
            v = tau > e ? v + h * e / m : tau < -e ? v - h * e / m : spring;
            x += h * v;
            counts[tau > e ? 2 : tau < -e ? 0 : 1]++;
            NEAR(run_joint(&run, i, "rail"), x, 1e-10);
        }
        assert_true(counts[0] > 10 && counts[1] > 10 && counts[2] > 10);
        scene_run_free(&run);
    }
}

/* Without inertia: the cart stands at the wall at once, and presses with the lesser of the spring's force and E. */
static void test_pressing_a_wall(void **state)
{
    (void)state;
    for (int r = 0; r < WITH_INERTIA; r++) {
        scene_run run;
        run_text(&run, scene_text_of(CART, 0.55, 0.2, 1000.0, 0.0, "{offset: 0.2, rate: 0.1}", 20.0, SPRINGS[r], 0.5));
        for (int i = 1; i < run.count; i++) {
            NEAR(run_joint(&run, i, "rail"), 0.2, 1e-9);
            NEAR(pressed(&run, i, "wall", "cart"), fmin(20.0, 1000 * 0.1 * 0.01 * i), 1e-9);
            assert_false(run.states[i].several);
        }
        scene_run_free(&run);
    }
}

/* ---- carts in a row ---------------------------------------------------------------------------------------------- */

enum { CARTS = 3, UNKNOWNS = 2 * CARTS };

typedef struct row_of_carts {
    double m, h, k[CARTS], d, e[CARTS], x[CARTS], v[CARTS], u[CARTS];
    bool inertia;
} row_of_carts;

/* Solves A z = b in place; false where A is singular. */
static bool solve(double a[UNKNOWNS][UNKNOWNS], double *b)
{
    for (int c = 0; c < UNKNOWNS; c++) {
        int pivot = c;
        for (int r = c + 1; r < UNKNOWNS; r++) {
            pivot = fabs(a[r][c]) > fabs(a[pivot][c]) ? r : pivot;
        }
        if (fabs(a[pivot][c]) < 1e-9) {
            return false;
        }
        for (int j = 0; j < UNKNOWNS; j++) {
            const double swap = a[c][j];
            a[c][j] = a[pivot][j];
            a[pivot][j] = swap;
        }
        const double swap = b[c];
        b[c] = b[pivot];
        b[pivot] = swap;
        for (int r = 0; r < UNKNOWNS; r++) {
            const double factor = a[r][c] / a[c][c];
            for (int j = c; j < UNKNOWNS && r != c; j++) {
                a[r][j] -= factor * a[c][j];
            }
            b[r] -= r == c ? 0.0 : factor * b[c];
        }
    }
    for (int c = 0; c < UNKNOWNS; c++) {
        b[c] /= a[c][c];
    }
    return true;
}

/* Velocities and contact forces z with springs (place 0) or limits (1, -1) and contacts open or closed; contact i is
 * ahead of cart i, the last one that with the wall at `wall`. Does it meet the law? */
static bool meets_law(const row_of_carts *r, const int *place, int closed, double wall, double *z)
{
    double a[UNKNOWNS][UNKNOWNS] = {{0}}, gap[CARTS];
    for (int i = 0; i < CARTS; i++) {
        const double inertia = r->inertia ? r->m / r->h : 0.0;
        a[i][i] = inertia + (place[i] == 0 ? r->h * r->k[i] + r->d : 0.0);
        z[i] = inertia * r->v[i] + (place[i] == 0 ? r->k[i] * (r->u[i] - r->x[i]) : place[i] * r->e[i]);
        a[i][CARTS + i] = 1.0;
        if (i > 0) {
            a[i][CARTS + i - 1] = -1.0;
        }
        gap[i] = (i + 1 < CARTS ? r->x[i + 1] : wall) - r->x[i] - 0.2;
        if (closed >> i & 1) {
            a[CARTS + i][i] = -r->h;
            if (i + 1 < CARTS) {
                a[CARTS + i][i + 1] = r->h;
            }
            z[CARTS + i] = -gap[i];
        } else {
            a[CARTS + i][CARTS + i] = 1.0;
            z[CARTS + i] = 0.0;
        }
    }
    if (!solve(a, z)) {
        return false;
    }
    for (int i = 0; i < CARTS; i++) {
        const double tau = r->k[i] * (r->u[i] - r->x[i] - r->h * z[i]) - r->d * z[i];
        const double opened = gap[i] + r->h * ((i + 1 < CARTS ? z[i + 1] : 0.0) - z[i]);
        const bool right = place[i] == 0 ? fabs(tau) <= r->e[i] + 1e-9 : place[i] * tau >= r->e[i] - 1e-9;
        if (!right || opened < -1e-12 || z[CARTS + i] < -1e-9) {
            return false;
        }
    }
    return true;
}

/* Of all 3^3 2^3 the one that meets the law; returns how many springs are at a limit. */
static int step_by_enumeration(row_of_carts *r, double wall, double *z)
{
    for (int n = 0; n < 27 * 8; n++) {
        const int place[CARTS] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 % 3 - 1};
        if (meets_law(r, place, n / 27, wall, z)) {
            for (int i = 0; i < CARTS; i++) {
                r->v[i] = z[i];
                r->x[i] += r->h * z[i];
            }
            return (place[0] != 0) + (place[1] != 0) + (place[2] != 0);
        }
    }
    fail_msg("no set of springs and contacts meets the law");
    return 0;
}

static const char ROW[] = "perp: 1\n"
                          "planar: true\n"
                          "gravity: [0, 0]\n"
                          "bodies:\n"
                          "  wall: {fixed: true, pose: {position: [1.1, 0]}, shapes: [{box: [0.2, 1]}]}\n"
                          "  a: {mass: 2, shapes: [{disc: 0.1}]}\n"
                          "  b: {mass: 2, shapes: [{disc: 0.1}]}\n"
                          "  c: {mass: 2, shapes: [{disc: 0.1}]}\n"
                          "joints:\n"
                          "  a: {type: prismatic, parent: world, child: a, axis: [1, 0], position: 0, %s}\n"
                          "  b: {type: prismatic, parent: world, child: b, axis: [1, 0], position: 0.25, %s}\n"
                          "  c: {type: prismatic, parent: world, child: c, axis: [1, 0], position: 0.5, %s}\n"
                          "run: {model: %s, h: 0.01, until: 2}\n";

static scene_text spring_text(double k, double amplitude, double omega, double offset, double effort)
{
    return scene_text_of("control: impedance, stiffness: %g, damping: 4, effort: %g, command: {offset: %g, sines: "
                         "[{amplitude: %g, omega: %g}]}",
                         k, effort, offset, amplitude, omega);
}

static void test_row_by_enumeration(void **state)
{
    (void)state;
    const double k[] = {400, 900, 600}, efforts[] = {15, 9, 22}, swing[] = {0.6, 0.4, 0.3}, omega[] = {5, 8, 11};
    for (int rung = WITH_INERTIA - 1; rung < RUNGS - 1; rung++) { /* qs-impedance-lcp and the rigid ones with inertia */
        scene_run run;
        scene_text springs[CARTS];
        int limits[CARTS + 1] = {0};
        double e[CARTS];
        for (int i = 0; i < CARTS; i++) {
            e[i] = (rung >= WITH_INERTIA ? 6 : 1) * efforts[i];
            springs[i] = spring_text(k[i], swing[i], omega[i], 0.25 * i, e[i]);
        }
        run_text(&run, scene_text_of(ROW, springs[0].of, springs[1].of, springs[2].of, SPRINGS[rung]));
        row_of_carts r = {.m = 2, .h = 0.01, .d = 4, .x = {0, 0.25, 0.5}, .inertia = rung >= WITH_INERTIA};
        memcpy(r.k, k, sizeof k);
        memcpy(r.e, e, sizeof e);
        for (int n = 1; n < run.count; n++) {
            double z[UNKNOWNS];
            for (int i = 0; i < CARTS; i++) {
                r.u[i] = 0.25 * i + swing[i] * sin(omega[i] * run.states[n].t);
            }
            limits[step_by_enumeration(&r, 1.1, z)]++;
            const char *const names[] = {"a", "b", "c", "wall"};
            for (int i = 0; i < CARTS; i++) {
                NEAR(run_joint(&run, n, names[i]), r.x[i], 1e-7);
                r.x[i] = run_joint(&run, n, names[i]); /* so that errors do not add up */
                r.v[i] = run.states[n].v[i];
                NEAR(pressed(&run, n, names[i], names[i + 1]), z[CARTS + i], 1e-6);
            }
        }
        assert_true(limits[0] > 10 && limits[1] > 10 && limits[2] + limits[3] > 0);
        scene_run_free(&run);
    }
}

/* ---- a grasp ----------------------------------------------------------------------------------------------------- */

static const char GRASP[] =
    "perp: 1\n"
    "planar: true\n"
    "gravity: [0, 0]\n"
    "bodies:\n"
    "  part: {mass: 0.5, shapes: [{%s}]}\n"
    "  left: {mass: 0.2, shapes: [{box: [0.1, 0.1]}]}\n"
    "  right: {mass: 0.2, shapes: [{box: [0.1, 0.1]}]}\n"
    "joints:\n"
    "  l: {type: prismatic, parent: world, child: left, axis: [1, 0], position: -0.16, control: impedance,\n"
    "      stiffness: 1000, damping: 10, command: {offset: -0.15, rate: 0.2}%s}\n"
    "  r: {type: prismatic, parent: world, child: right, axis: [-1, 0], position: -0.16, control: impedance,\n"
    "      stiffness: 1000, damping: 10, command: {offset: -0.15, rate: 0.2}%s}\n"
    "run: {model: %s, h: 0.01, until: 0.5}\n";

/* Where the limit binds, both fingers press with it; the part stays where it is. */
static void test_grasp(void **state)
{
    (void)state;
    const char *const parts[] = {"box: [0.2, 0.2]", "disc: 0.1"};
    for (int r = 0; r < RUNGS; r++) {
        for (int p = 0; p < 2; p++) {
            scene_run run;
            run_text(&run, scene_text_of(GRASP, parts[p], ", effort: 20", ", effort: 20", SPRINGS[r]));
            NEAR(pressed(&run, 50, "part", "left"), 20.0, 1e-9);
            NEAR(pressed(&run, 50, "part", "right"), 20.0, 1e-9);
            NEAR(run_body(&run, 50, "part", 0), 0.0, 1e-9);
            scene_run_free(&run);
        }
    }
}

/* Of two fingers the weaker one gives way, without inertia at once; with it, in time. */
static void test_grasp_of_unequal_fingers(void **state)
{
    (void)state;
    const char *const still[] = {"qs-qp", "qs-cone", "qs-impedance-lcp"};
    for (size_t r = 0; r < sizeof still / sizeof *still; r++) {
        scene_run run;
        run_text(&run, scene_text_of(GRASP, "box: [0.2, 0.2]", ", effort: 20", ", effort: 30", still[r]));
        for (int i = 20; i <= 50; i++) {
            NEAR(pressed(&run, i, "part", "left"), 20.0, 1e-9);
            NEAR(pressed(&run, i, "part", "right"), 20.0, 1e-9);
            assert_false(run.states[i].several);
        }
        scene_run_free(&run);
    }
}

typedef struct finger {
    double stiffness, damping, effort, command;
} finger;

/* It presses with its spring's force, of the motion of the step, or with its effort: which is told. */
static bool pressed_by_its_law(const scene_run *run, int state, const char *joint, const char *body, finger f)
{
    const double q = run_joint(run, state, joint), h = run->states[state].t - run->states[state - 1].t;
    const double tau = f.stiffness * (f.command - q) - f.damping * (q - run_joint(run, state - 1, joint)) / h;
    NEAR(pressed(run, state, "part", body), fmin(f.effort, fmax(-f.effort, tau)), 1e-8);
    return tau > f.effort;
}

/* Fingers of equal effort and unequal springs that come from unequal distances: of the motions that keep both at their
 * limit the smallest of all takes one off it, so that it is not the one. */
static void test_grasp_from_unequal_distances(void **state)
{
    (void)state;
    const char *const still[] = {"qs-qp", "qs-cone", "qs-impedance-lcp"};
    const double e = 0.18;
    for (size_t r = 0; r < sizeof still / sizeof *still; r++) {
        scene_run run;
        run_text(&run,
                 scene_text_of("perp: 1\n"
                               "planar: true\n"
                               "gravity: [0, 0]\n"
                               "bodies:\n"
                               "  part: {mass: 3, shapes: [{box: [0.2, 0.16]}]}\n"
                               "  left: {mass: 0.2, shapes: [{box: [0.1, 0.1]}]}\n"
                               "  right: {mass: 0.2, shapes: [{box: [0.1, 0.1]}]}\n"
                               "joints:\n"
                               "  l: {type: prismatic, parent: world, child: left, axis: [1, 0], position: -0.169,\n"
                               "      control: impedance, stiffness: 7500, damping: 10, effort: %g,\n"
                               "      command: {offset: -0.164, rate: 0.1}}\n"
                               "  r: {type: prismatic, parent: world, child: right, axis: [-1, 0], position: -0.16,\n"
                               "      control: impedance, stiffness: 1600, damping: 10, effort: %g,\n"
                               "      command: {offset: -0.155, rate: 0.1}}\n"
                               "contacts: {friction: 0.2}\n"
                               "run: {model: %s, h: 0.01, until: 0.5}\n",
                               e, e, still[r]));
        int at_limit = 0;
        for (int i = 1; i < run.count; i++) {
            at_limit += pressed_by_its_law(&run, i, "l", "left", (finger){7500, 10, e, -0.164 + 0.001 * i});
            at_limit += pressed_by_its_law(&run, i, "r", "right", (finger){1600, 10, e, -0.155 + 0.001 * i});
        }
        assert_true(at_limit > 40);
        scene_run_free(&run);
    }
}

/* Two fingers swing a part to and fro on a table that holds it by friction: a step in which all wrong springs change
 * place at once goes in a circle. */
static void test_fingers_and_friction(void **state)
{
    (void)state;
    const char *const still[] = {"qs-qp", "qs-cone", "qs-impedance-lcp"};
    for (size_t r = 0; r < sizeof still / sizeof *still; r++) {
        scene_run run;
        run_text(
            &run,
            scene_text_of("perp: 1\n"
                          "planar: true\n"
                          "bodies:\n"
                          "  ground: {fixed: true, shapes: [{halfplane: {normal: [0, 1]}}]}\n"
                          "  part: {mass: 0.6233, pose: {position: [0, 0.05]}, shapes: [{box: [0.1, 0.1]}]}\n"
                          "  left: {mass: 0.1, shapes: [{disc: 0.02}]}\n"
                          "  right: {mass: 0.1, shapes: [{disc: 0.02}]}\n"
                          "joints:\n"
                          "  l: {type: prismatic, parent: world, child: left, axis: [1, 0], anchor: [0, 0.0737],\n"
                          "      position: -0.075, control: impedance, stiffness: 89.15, damping: 10, effort: 0.3944,\n"
                          "      command: {offset: -0.075, sines: [{amplitude: 0.04608, omega: 15.7375}]}}\n"
                          "  r: {type: prismatic, parent: world, child: right, axis: [-1, 0], anchor: [0, 0.0692],\n"
                          "      position: -0.075, control: impedance, stiffness: 211.1, damping: 10, effort: 1.5742,\n"
                          "      command: {offset: -0.075, sines: [{amplitude: 0.03226442, omega: 8.6364}]}}\n"
                          "contacts: {friction: 0.2, exclude: [[ground, left], [ground, right]]}\n"
                          "run: {model: %s, h: 0.02, until: 1}\n",
                          still[r]));
        int at_limit = 0;
        for (int i = 1; i < run.count; i++) {
            const double t = run.states[i].t;
            at_limit += pressed_by_its_law(&run, i, "l", "left",
                                           (finger){89.15, 10, 0.3944, -0.075 + 0.04608 * sin(15.7375 * t)});
            at_limit += pressed_by_its_law(&run, i, "r", "right",
                                           (finger){211.1, 10, 1.5742, -0.075 + 0.03226442 * sin(8.6364 * t)});
        }
        assert_true(at_limit > 10);
        scene_run_free(&run);
    }
}

/* A limit that does not bind changes no bit. */
static void test_loose_limit(void **state)
{
    (void)state;
    for (int r = 0; r < RUNGS; r++) {
        scene_run loose, none;
        run_text(&loose, scene_text_of(GRASP, "box: [0.2, 0.2]", ", effort: 101", ", effort: 101", SPRINGS[r]));
        run_text(&none, scene_text_of(GRASP, "box: [0.2, 0.2]", "", "", SPRINGS[r]));
        assert_same_motion(&loose, &none);
        assert_int_equal(loose.result.several, none.result.several);
        scene_run_free(&loose);
        scene_run_free(&none);
    }
}

/* ---- what cannot be held ----------------------------------------------------------------------------------------- */

static const char LIFT[] = "perp: 1\n"
                           "planar: true\n"
                           "bodies: {load: {mass: 1}}\n"
                           "joints:\n"
                           "  lift: {type: prismatic, parent: world, child: load, axis: [0, 1], control: impedance,\n"
                           "         stiffness: 1000, effort: %g}\n"
                           "run: {model: %s, h: 0.01, until: 0.1}\n";

/* Without inertia a load beyond the effort has no support, and is told so; with it, it falls with what is left. */
static void test_load_beyond_effort(void **state)
{
    (void)state;
    for (int r = 0; r < RUNGS; r++) {
        scene_run run;
        const scene_text text = scene_text_of(LIFT, 9.0, SPRINGS[r]);
        if (r >= WITH_INERTIA) {
            run_text(&run, text);
            NEAR(run.states[10].v[0], run.states[9].v[0] - 0.01 * 0.81, 1e-3);
        } else {
            scene_run_make(&run, text.of, NULL);
            assert_int_equal(run.status, PERP_STATUS_INFEASIBLE);
            assert_string_equal(run.error.code, "unsupported-body");
        }
        scene_run_free(&run);
        run_text(&run, scene_text_of(LIFT, 10.0, SPRINGS[r]));
        scene_run_free(&run);
    }
}

/* At an instant: m a = E. */
static void test_instant(void **state)
{
    (void)state;
    scene_run run;
    instant_run(&run, scene_text_of(CART, 9.0, 0.0, 400.0, 1.0, "-0.3", 6.0, "instant", 0.1).of, NULL);
    NEAR(instant_only(&run)->rate[0], -3.0, 1e-12);
    scene_run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mass_on_a_spring),         cmocka_unit_test(test_pressing_a_wall),
        cmocka_unit_test(test_row_by_enumeration),       cmocka_unit_test(test_grasp),
        cmocka_unit_test(test_grasp_of_unequal_fingers), cmocka_unit_test(test_grasp_from_unequal_distances),
        cmocka_unit_test(test_fingers_and_friction),     cmocka_unit_test(test_loose_limit),
        cmocka_unit_test(test_load_beyond_effort),       cmocka_unit_test(test_instant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
