/* The tangential forces of a step of `compliant` are the friction QP's at the normal forces of that step: Song, Kumar
 * and Pang's Proposition 1, with C + h K for C as a backward Euler step has it. A foot slides and spins on a patch
 * whose K and C couple normal and tangents; it does not tilt, so that what an element's deformation was is in its
 * record.
 *
 * Tolerance: a step meets its law to 1e-8 F with F = 2 N, in the end; the QP is solved to 1e-11. 1e-6 N is fifty times
 * the former, for what an error of a force makes of others through the coupling, and 1e-5 of the forces. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <perp/problem.h>
#include <perp/scene_yaml.h>
#include <perp/solver.h>
#include <perp/sim.h>
#include <perp/step.h>

enum { SIDE = 3, ELEMENTS = SIDE * SIDE, SIZE = 3 * ELEMENTS, TANGENTS = 2 * ELEMENTS };

static const double H = 1e-3, MU = 0.3, GAMMA = 1e-3;
static const double STIFFNESS[9] = {9e3, 1e3, -500, 1e3, 4e3, 300, -500, 300, 5e3};
static const double DAMPING[9] = {45, 4, 2, 4, 30, -3, 2, -3, 25};

static const char SCENE[] =
    "perp: 1\nbodies:\n"
    "  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
    "  foot: {mass: 0.2, inertia: [2.0e-4, 2.0e-4, 2.0e-4], free: [x, y, z, rz], pose: {position: [0, 0, 0.05]},\n"
    "    velocity: {linear: [0.08, -0.04, 0], angular: [0, 0, 6]}, shapes: [{sphere: 0.05}]}\n"
    "contacts: {friction: 0.3}\n"
    "compliance: {stiffness: [[9e3, 1e3, -500], [1e3, 4e3, 300], [-500, 300, 5e3]],\n"
    "  damping: [[45, 4, 2], [4, 30, -3], [2, -3, 25]], elements: 3, size: 0.06, gamma: 1.0e-3}\n"
    "run: {model: compliant, h: 1.0e-3, steps: 120}\n";

typedef struct checker {
    perp_friction_qp_workspace *workspace;
    double delta[SIZE]; /* at the step's begin */
    int steps, sticking, sliding;
} checker;

/* Tangential velocities of the foot where the elements are. */
static void fill_sliding(const perp_state *state, const perp_element_record *elements, double *sliding)
{
    const double *v = state->v; /* x, y, z and the turning about z, which are free */
    for (int e = 0; e < ELEMENTS; e++) {
        const double *offset = elements[e].offset;
        sliding[2 * e] = v[0] - v[3] * offset[1];
        sliding[2 * e + 1] = v[1] + v[3] * offset[0];
    }
}

/* C + h K and K, each element having its share of the patch's. */
static void fill_matrices(double *damping, double *stiffness)
{
    memset(damping, 0, SIZE * SIZE * sizeof *damping);
    memset(stiffness, 0, SIZE * SIZE * sizeof *stiffness);
    for (int e = 0; e < ELEMENTS; e++) {
        for (int k = 0; k < 9; k++) {
            const int at = (3 * e + k / 3) * SIZE + 3 * e + k % 3;
            stiffness[at] = STIFFNESS[k] / ELEMENTS;
            damping[at] = (DAMPING[k] + H * STIFFNESS[k]) / ELEMENTS;
        }
    }
}

static void check_forces(checker *c, const perp_state *state, const perp_element_record *elements)
{
    static double damping[SIZE * SIZE], stiffness[SIZE * SIZE], work[SIZE * (2 * SIZE + 1)], h[TANGENTS * TANGENTS];
    double d[TANGENTS], radius[ELEMENTS], fn[ELEMENTS], mu[ELEMENTS], sliding[TANGENTS], x[TANGENTS], slip[TANGENTS];
    perp_error error = {0};
    perp_friction_qp problem;
    perp_friction_info info;
    perp_friction_settings settings = perp_friction_settings_default();
    settings.tolerance = 1e-11;
    fill_matrices(damping, stiffness);
    fill_sliding(state, elements, sliding);
    for (int e = 0; e < ELEMENTS; e++) {
        fn[e] = elements[e].fn;
        mu[e] = MU;
    }
    const perp_friction_elements all = {ELEMENTS, 3, damping, stiffness, c->delta, fn, sliding, mu, GAMMA / ELEMENTS};
    const perp_friction_qp_arrays arrays = {h, d, radius, work};
    assert_int_equal(perp_friction_qp_form(&all, &arrays, &problem, &error), PERP_STATUS_OK);
    assert_int_equal(perp_friction_qp_reserve(&problem, c->workspace, &error), PERP_STATUS_OK);
    assert_int_equal(perp_friction_qp_solve(&problem, &settings, c->workspace, x, slip, &info, &error), PERP_STATUS_OK);
    assert_int_equal(info.outcome, PERP_OUTCOME_SOLVED);
    for (int e = 0; e < ELEMENTS; e++) {
        for (int k = 0; k < 2; k++) {
            if (!(fabs(elements[e].ft[k] - x[2 * e + k]) <= 1e-6)) {
                fail_msg("step %d, element %d: %.12g, the QP has %.12g", c->steps, e, elements[e].ft[k], x[2 * e + k]);
            }
            if (!(fabs(elements[e].slip[k] - slip[2 * e + k]) <= 1e-6)) { /* times 1 / C, about 1 / (N s/m) */
                fail_msg("step %d, element %d slips by %.12g, the QP has %.12g", c->steps, e, elements[e].slip[k],
                         slip[2 * e + k]);
            }
        }
        const bool slides = hypot(slip[2 * e], slip[2 * e + 1]) > 1e-5;
        c->sliding += slides;
        c->sticking += !slides;
    }
}

static bool check_step(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    checker *c = context;
    if (step > 0) {
        assert_int_equal(info->element_count, ELEMENTS);
        if (info->fallbacks[PERP_FALLBACK_SUBSTEP] == 0) { /* a split one has mean forces */
            c->steps++;
            check_forces(c, state, info->elements);
        }
        for (int i = 0; i < SIZE; i++) {
            c->delta[i] = info->elements[i / 3].deformation[i % 3];
        }
    }
    return true;
}

static void test_forces_are_the_friction_qps(void **unused)
{
    (void)unused;
    static perp_diagnostics diagnostics;
    perp_scene *scene = NULL;
    perp_model *model = NULL;
    perp_state state;
    perp_run_result result;
    perp_error error = {0};
    checker c = {.workspace = NULL};
    perp_scene_load_options options = {.settings = NULL};
    perp_scene_load_text(SCENE, strlen(SCENE), "test", NULL, &options, &scene, &diagnostics);
    assert_non_null(scene);
    assert_int_equal(perp_friction_qp_workspace_create(NULL, &c.workspace, &error), PERP_STATUS_OK);
    assert_int_equal(perp_model_build(scene, NULL, &model, &error), PERP_STATUS_OK);
    assert_int_equal(model->nv, 4);
    assert_int_equal(perp_state_create(model, NULL, &state, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_run(model, &scene->run, NULL, check_step, &c, &state, &result, &error), PERP_STATUS_OK);
    assert_true(c.steps >= 115);
    assert_true(c.sliding > 100 && c.sticking > 100); /* both were seen */
    perp_run_result_free(&result);
    perp_state_free(&state);
    perp_model_free(model);
    perp_scene_free(scene);
    perp_friction_qp_workspace_free(c.workspace);
}

/* gamma is the patch's: where all elements carry the same, sums are those of one element, however many they are. A
 * light ball that slides at its static depth and does not turn: sqrt(mu fn (mu fn + 2 gamma)), to the
 * 1e-8 of F, its weight, that a step may leave. */
static void test_gamma_is_the_patchs(void **unused)
{
    (void)unused;
    static const double GRAM = 1e-3, WEIGHT = 9.81e-3;
    for (int side = 1; side <= 5; side++) {
        static perp_diagnostics diagnostics;
        perp_scene_load_options options = {.settings = NULL};
        perp_scene *scene = NULL;
        perp_model *model = NULL;
        perp_state state;
        perp_run_result result;
        perp_error error = {0};
        char text[600];
        const double limit = MU * WEIGHT;
        snprintf(text, sizeof text,
                 "perp: 1\nbodies:\n  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                 "  ball: {mass: %g, free: [x, y, z], pose: {position: [0, 0, %.17g]}, velocity: {linear: [2, 0, 0]},\n"
                 "    shapes: [{sphere: 0.01}]}\n"
                 "contacts: {friction: %g}\ncompliance: {stiffness: 10, damping: 0.1, elements: %d, size: 0.01,\n"
                 "  tangential: rigid, gamma: %g}\nrun: {model: compliant, h: %g, steps: 1}\n",
                 GRAM, 0.01 - WEIGHT / (10 * side * side), MU, side, GAMMA, H);
        perp_scene_load_text(text, strlen(text), "test", NULL, &options, &scene, &diagnostics);
        assert_non_null(scene);
        assert_int_equal(perp_model_build(scene, NULL, &model, &error), PERP_STATUS_OK);
        assert_int_equal(perp_state_create(model, NULL, &state, NULL), PERP_STATUS_OK);
        assert_int_equal(perp_run(model, &scene->run, NULL, NULL, NULL, &state, &result, &error), PERP_STATUS_OK);
        assert_int_equal(result.contact_count, 1);
        const perp_contact_record *contact = &result.contacts[0];
        const double friction = hypot(contact->ft[0], contact->ft[1]), near = 1e-8 * WEIGHT;
        if (!(fabs(contact->fn - WEIGHT) <= near && fabs(friction - sqrt(limit * (limit + 2 * GAMMA))) <= near)) {
            fail_msg("%d x %d elements: fn %.12g, ft %.12g", side, side, contact->fn, friction);
        }
        perp_run_result_free(&result);
        perp_state_free(&state);
        perp_model_free(model);
        perp_scene_free(scene);
    }
}

/* A capsule and a box fall on each other, with a tolerance at which sticking elements keep slips far above 1e-8 m/s. */
static const char TUMBLE[] =
    "perp: 1\nbodies:\n"
    "  ground: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
    "  capsule: {mass: 0.42, inertia: [4.2e-3, 4.2e-3, 4.2e-3], pose: {position: [0, -0.04, 0.18]},\n"
    "    velocity: {linear: [0.27, 0.68, -1.08], angular: [-0.5, 6.9, -1.5]},\n"
    "    shapes: [{capsule: {radius: 0.05, length: 0.2}}]}\n"
    "  box: {mass: 1.8, inertia: [1.8e-2, 1.8e-2, 1.8e-2],\n"
    "    pose: {position: [0.02, 0.01, 0.48], quat_wxyz: [0.01, 0.63, -0.47, 0.62]},\n"
    "    velocity: {linear: [1, -0.9, -1.9], angular: [-1.5, 5.9, 10.3]}, shapes: [{box: [0.2, 0.15, 0.1]}]}\n"
    "contacts: {friction: 2}\ncompliance: {stiffness: 3.9e5, damping: 0, elements: 3, size: 0.04, gamma: 1.0e-4}\n"
    "run: {model: compliant, h: 0.01, steps: 100, tolerance: 1.0e-3}\n";

typedef struct modes {
    int sliding, rounded; /* contacts that slide; that stick though an element's slip is not small */
} modes;

static bool check_modes(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    modes *m = context;
    (void)state;
    for (int i = 0; i < info->contact_count; i++) {
        const perp_contact_record *r = &info->contacts[i];
        bool any = false, moves = false;
        for (int e = r->element_start; e < r->element_start + r->element_count; e++) {
            const perp_element_record *x = &info->elements[e];
            const double slip = hypot(x->slip[0], x->slip[1]), used = hypot(x->ft[0], x->ft[1]);
            any = any || x->slips;
            moves = moves || (x->fn > 0.0 && slip > 1e-8);
            if (x->slips && !(slip > 1e-8 && used >= 0.99 * x->limit)) {
                fail_msg("step %d: slips at %g m/s with %g N of %g N used", step, slip, used, x->limit);
            }
        }
        assert_true(r->mode == PERP_CONTACT_OPEN || (r->mode == PERP_CONTACT_SLIDE) == any);
        m->sliding += r->mode == PERP_CONTACT_SLIDE;
        m->rounded += r->mode == PERP_CONTACT_STICK && moves;
    }
    return true;
}

/* What slips is at its limit: an element well inside its cone sticks, whatever slip the tolerance leaves it. */
static void test_what_slips_is_at_its_limit(void **unused)
{
    (void)unused;
    static perp_diagnostics diagnostics;
    perp_scene_load_options options = {.settings = NULL};
    perp_scene *scene = NULL;
    perp_model *model = NULL;
    perp_state state;
    perp_run_result result;
    perp_error error = {0};
    modes m = {0};
    perp_scene_load_text(TUMBLE, strlen(TUMBLE), "test", NULL, &options, &scene, &diagnostics);
    assert_non_null(scene);
    assert_int_equal(perp_model_build(scene, NULL, &model, &error), PERP_STATUS_OK);
    assert_int_equal(perp_state_create(model, NULL, &state, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_run(model, &scene->run, NULL, check_modes, &m, &state, &result, &error), PERP_STATUS_OK);
    assert_true(m.sliding > 10 && m.rounded > 10); /* both were seen */
    perp_run_result_free(&result);
    perp_state_free(&state);
    perp_model_free(model);
    perp_scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces_are_the_friction_qps),
        cmocka_unit_test(test_gamma_is_the_patchs),
        cmocka_unit_test(test_what_slips_is_at_its_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
