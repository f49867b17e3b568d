/* What the rung `compliant` does where its plain way does not settle, and where it once did not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scene_run.h"

#include <perp/sim.h>

typedef struct seen {
    int steps, sliding;
    int fallbacks[PERP_FALLBACK_COUNT];
    double beyond; /* N: friction of a sliding contact beyond the cone of mu and gamma, the largest */
    double undone; /* J: work in a step that it leaves undone, likewise */
    double mu, gamma;
    double speed;  /* at the end, m/s or rad/s, the largest */
    double missed; /* N: the largest |fn - K depth| at the end, of contacts of one element */
    double stiffness;
    int nv;
} seen;

static bool watch(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    seen *out = context;
    out->steps += step > 0 ? 1 : 0;
    out->speed = out->missed = 0.0;
    for (int i = 0; i < out->nv; i++) {
        out->speed = fmax(out->speed, fabs(state->v[i]));
    }
    for (int i = 0; i < PERP_FALLBACK_COUNT; i++) {
        out->fallbacks[i] += info->fallbacks[i];
    }
    for (int i = 0; i < info->contact_count; i++) {
        const perp_contact_record *r = &info->contacts[i];
        out->missed = fmax(out->missed, fabs(r->fn - out->stiffness * fmax(0.0, -r->contact.phi)));
        if (r->mode == PERP_CONTACT_SLIDE) {
            const double limit = sqrt(out->mu * r->fn * (out->mu * r->fn + 2.0 * out->gamma));
            const double beyond = hypot(r->ft[0], r->ft[1]) - limit, slid = 1e-3 * hypot(r->slip[0], r->slip[1]);
            out->beyond = fmax(out->beyond, beyond);
            out->undone = fmax(out->undone, -beyond * slid);
            out->sliding++;
        }
    }
    return true;
}

static void run_scene(seen *out, const char *text, const char *const *settings)
{
    scene_run_watched(text, settings, watch, out, &out->nv);
}

/* ---- gamma ------------------------------------------------------------------------------------------------------- */

/* A rod whose tip slides ahead of it: friction presses it on, and what gamma adds to mu depends on how much. */
static const char *const ROD =
    "perp: 1\nplanar: true\n"
    "bodies:\n"
    "  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
    "  rod: {mass: 1, inertia: 0.0833333333, pose: {position: [0.2867882, 0.4095760], angle: 0.9599311},\n"
    "    velocity: {linear: [-3, 0]}, shapes: [{capsule: {radius: 1.0e-6, length: 1}}]}\n"
    "contacts: {friction: 0.5}\n"
    "compliance: {stiffness: 1.0e6, damping: 600, tangential: rigid}\n"
    "run: {model: compliant, h: 0.001, until: 0.1}\n";

static const int NONE[PERP_FALLBACK_COUNT];

/* To the 1e-8 of F, its weight, and of F L, L some 2 m, of a step's law. */
static void assert_on_cone(const seen *run)
{
    assert_true(run->sliding > 0);
    assert_true(run->beyond <= 1e-7);
    assert_true(run->undone <= 2e-7);
}

/* With gamma of half the normal force the coefficient goes to and fro unless it is found by secants. */
static void test_draws_on_itself(void **unused)
{
    seen run = {.mu = 0.5, .gamma = 5.0};
    (void)unused;
    run_scene(&run, ROD, SET("compliance.gamma=5"));
    assert_memory_equal(run.fallbacks, NONE, sizeof NONE);
    assert_on_cone(&run);
}

/* With gamma above the normal force it does not settle by itself where the rod lands. Coulomb's cone does, and a few
 * stages lead from it to the scene's: in one step, neither split nor with another cone. */
static void test_continuation_in_gamma(void **unused)
{
    static const double MU[] = {0.5, 0.9, 1.1};
    static const char *const FRICTION[] = {"contacts.friction=0.5", "contacts.friction=0.9", "contacts.friction=1.1"};
    (void)unused;
    for (int i = 0; i < 3; i++) {
        seen run = {.mu = MU[i], .gamma = 20.0};
        run_scene(&run, ROD, SET("compliance.gamma=20", FRICTION[i]));
        assert_true(run.fallbacks[PERP_FALLBACK_CONTINUED] > 0);
        run.fallbacks[PERP_FALLBACK_CONTINUED] = 0;
        assert_memory_equal(run.fallbacks, NONE, sizeof NONE);
        assert_on_cone(&run);
    }
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

/* An arm that nothing loads stands at its limit, where a disc is driven through it, which lets go of a spring with 1e7
 * times the force at that limit: the latter is right too. */
static void test_limit_beside_a_spring(void **unused)
{
    static const char *const ARM =
        "perp: 1\nplanar: true\ngravity: [0, 0]\n"
        "bodies:\n"
        "  b0: {mass: 2.5397588227960504, shapes: [{box: [0.17081264039782484, 0.02], pose: {position: [0.0948959, "
        "0]}}]}\n"
        "  b1: {mass: 0.1281751329027072, shapes: [{box: [0.17081264039782484, 0.02], pose: {position: [0.0948959, "
        "0]}}]}\n"
        "  b2: {mass: 1.6128717162856128, shapes: [{box: [0.17081264039782484, 0.02], pose: {position: [0.0948959, "
        "0]}}]}\n"
        "  b3: {shapes: [{disc: 0.015379264951152698}]}\n"
        "joints:\n"
        "  hinge0: {type: revolute, parent: world, child: b0, anchor: [0, 0], limits: [0, 0.19448375389497458]}\n"
        "  hinge1: {type: revolute, parent: b0, child: b1, anchor: [0.18979182266424982, 0]}\n"
        "  hinge2: {type: revolute, parent: b1, child: b2, anchor: [0.18979182266424982, 0], limits: [-1, 0.73981]}\n"
        "  j3: {type: prismatic, parent: world, child: b3, anchor: [0.06178186983077185, -0.0314309741952265],\n"
        "    axis: [0, 1], position: 0, control: position, stiffness: 0, damping: 0,\n"
        "    command: {times: [0, 1.7702503353968695], values: [0, 0.08683460176166248]}}\n"
        "compliance: {stiffness: 229779.66673246588, damping: 100.38201102548526, gamma: 0.0001}\n"
        "contacts: {friction: 1.6421674615310626, margin: 0.02128}\n"
        "run: {model: compliant, h: 0.001, steps: 1500}\n";
    seen run = {.mu = 1.6421674615310626, .gamma = 1e-4};
    (void)unused;
    run_scene(&run, ARM, SET(NULL));
    assert_int_equal(run.steps, 1500);
    assert_memory_equal(run.fallbacks, NONE, sizeof NONE);
}

/* ---- overlap that springs have missed ---------------------------------------------------------------------------- */

/* A sphere on a spring turns a crank by a gap that is curved along the motion, which would add energy: it is met by
 * rates, and overlaps grow beyond deformations. Where the crank comes to its limit and stops, they are taken up. */
static void test_takes_up_what_it_missed(void **unused)
{
    static const char *const CRANK =
        "perp: 1\n"
        "bodies:\n"
        "  crank: {mass: 1.1893, shapes: [{box: [0.01, 0.068589, 0.05], pose: {position: [0, 0.038105, 0]}}]}\n"
        "  coupler: {mass: 0.36948, shapes: [{box: [0.12633786, 0.01, 0.05], pose: {position: [0.06316893, 0, 0]}}]}\n"
        "  rocker: {mass: 0.18506, shapes: [{box: [0.01, 0.068589, 0.05], pose: {position: [0, 0.038105, 0]}}]}\n"
        "  ball: {shapes: [{sphere: 0.0078024}]}\n"
        "joints:\n"
        "  h0: {type: revolute, parent: world, child: crank, anchor: [0, 0, 0], axis: [0, 0, 1], limits: [-0.76855, "
        "1]}\n"
        "  h1: {type: revolute, parent: crank, child: coupler, anchor: [0, 0.07621039, 0], axis: [0, 0, 1]}\n"
        "  h2: {type: revolute, parent: world, child: rocker, anchor: [0.12633786, 0, 0], axis: [0, 0, 1]}\n"
        "  j3: {type: prismatic, parent: world, child: ball, anchor: [-0.0197574287, 0.0251152954, 0], axis: [1, 0, "
        "0],\n"
        "    control: impedance, stiffness: 235.894, damping: 0,\n"
        "    command: {times: [0, 0.83434967994], values: [0, 0.082381916]}}\n"
        "loops:\n"
        "  close: {type: point, a: coupler, b: rocker, anchor_a: [0.12633786, 0, 0], anchor_b: [0, 0.07621039, 0]}\n"
        "compliance: {stiffness: 346341, damping: 324.498, gamma: 0}\n"
        "contacts: {friction: 0, margin: 0.012682}\n"
        "run: {model: compliant, h: 0.001, steps: 1000}\n";
    seen run = {.stiffness = 346341};
    (void)unused;
    run_scene(&run, CRANK, SET(NULL));
    assert_true(run.fallbacks[PERP_FALLBACK_UNSTABILISED] > 0);
    assert_true(run.speed <= 1e-9);
    assert_true(run.missed <= 1e-6); /* of 18 N */
}

/* A cylinder pressed over on its rim by two balls. Its lowest point runs over fixed places, and back: on a plane all
 * have their springs all the time; on a box points come and go, and what goes with one is taken up by the others. */
static void test_rim_over_its_places(void **unused)
{
    static const char *const TIN =
        "perp: 1\n"
        "bodies:\n"
        "  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
        "  tin: {mass: 3.1923326612535017, pose: {position: [0.029747177, -0.0032248789, 0.0933381884]},\n"
        "    shapes: [{cylinder: {radius: 0.029747177410754125, length: 0.11181473217257729}}]}\n"
        "  ball: {mass: 0.32592670324364587, pose: {position: [0.123780244, 0, 0.0391702625]},\n"
        "    shapes: [{sphere: 0.028359341649748807}]}\n"
        "  left: {shapes: [{sphere: 0.014015049040516248}]}\n"
        "  right: {shapes: [{sphere: 0.019151330989856344}]}\n"
        "joints:\n"
        "  j3: {type: prismatic, parent: world, child: left, anchor: [-0.014015049, 0, 0.02986962], axis: [1, 0, 0],\n"
        "    control: impedance, stiffness: 411.31829233282684,\n"
        "    command: {times: [0, 0.19721371767597082], values: [0, 0.027192674303148853]}}\n"
        "  j4: {type: prismatic, parent: world, child: right, anchor: [0.173585446, 0, 0.0309584765], axis: [-1, 0, "
        "0],\n"
        "    control: impedance, stiffness: 984.62890235813597,\n"
        "    command: {times: [0, 0.21281858377079771], values: [0, 0.065465511408609359]}}\n"
        "compliance: {stiffness: 51370, damping: 5.0678350323278334, gamma: 0.0001}\n"
        "contacts: {friction: 1.8112740624526318, margin: 0.02425898}\n"
        "run: {model: compliant, h: 0.001, steps: 8000}\n";
    static const char *const TABLES[] = {
        "bodies.table.shapes=[{plane: {normal: [0, 0, 1], offset: 0}}]",
        "bodies.table.shapes=[{box: [1, 1, 0.2], pose: {position: [0, 0, -0.1]}}]",
    };
    (void)unused;
    for (int i = 0; i < 2; i++) {
        seen run = {.stiffness = 51370};
        run_scene(&run, TIN, SET(TABLES[i]));
        assert_true(run.fallbacks[PERP_FALLBACK_UNSTABILISED] <= 50); /* of 8000 steps */
        assert_true(run.speed <= 1e-5);
        assert_true(run.missed <= 1e-4); /* of 8 N: what C times 1e-5 m/s is */
    }
}

static bool cancel_at_third(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    (void)state;
    (void)info;
    *(volatile bool *)context = step == 3;
    return true;
}

/* A step that is under way ends when it is cancelled, and the state stays where the step before left it. */
static void test_cancelled(void **unused)
{
    static const char BALL[] = "perp: 1\nbodies:\n"
                               "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                               "  ball: {mass: 1, pose: {position: [0, 0, 0.1]}, shapes: [{sphere: 0.1}]}\n"
                               "run: {model: compliant, h: 0.01, steps: 10}\n";
    static perp_diagnostics diagnostics;
    volatile bool cancel = false;
    perp_scene *scene = NULL;
    perp_model *model = NULL;
    perp_state state = {0};
    perp_run_result result = {0};
    perp_error error = {0};
    (void)unused;
    assert_int_equal(perp_scene_load_text(BALL, strlen(BALL), "ball", NULL, NULL, &scene, &diagnostics),
                     PERP_STATUS_OK);
    scene->run.cancel = &cancel;
    assert_int_equal(perp_model_build(scene, NULL, &model, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_state_create(model, NULL, &state, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_run(model, &scene->run, NULL, cancel_at_third, (void *)&cancel, &state, &result, &error),
                     PERP_STATUS_CANCELLED);
    assert_int_equal(result.steps, 3);
    assert_true(fabs(state.t - 0.03) < 1e-12);
    assert_non_null(strstr(error.message, "within the step that begins at t = 0.03 s"));
    perp_run_result_free(&result);
    perp_state_free(&state);
    perp_model_free(model);
    perp_scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_draws_on_itself),
        cmocka_unit_test(test_continuation_in_gamma),
        cmocka_unit_test(test_limit_beside_a_spring),
        cmocka_unit_test(test_takes_up_what_it_missed),
        cmocka_unit_test(test_rim_over_its_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
