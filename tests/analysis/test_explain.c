/* Explanations against closed forms: a particle of weight m g on a plane, pushed sideways with F. It holds while
 * F <= mu m g in the measure of the rung's cone, so that
 *   friction   flips at mu* = F / (m g)
 *   sideways   flips at mu m g - F           (it holds: how much more it would take)
 *   squeeze    flips at F / mu - m g         (it slides: how much is missing)
 * and against what a run of the edited scene does. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <perp/perp.h>

#include "failing_allocator.h"

static void near(double value, double expected, double tolerance, int line)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("line %d: %.15g is not %.15g to %g", line, value, expected, tolerance);
    }
}
#define assert_near(value, expected, tolerance) near((value), (expected), (tolerance), __LINE__)

typedef struct explained {
    perp_scene *scene;
    perp_model *model;
    perp_state state;
    perp_run_result result;
    perp_status status;
    perp_error error;
    perp_explainer *explainer;
} explained;

/* Runs a scene of the text with an explainer that follows; asserts nothing of the run. */
static void run_text(const char *text, explained *r)
{
    static perp_diagnostics diagnostics;
    memset(r, 0, sizeof *r);
    memset(&diagnostics, 0, sizeof diagnostics);
    if (perp_scene_load_text(text, strlen(text), "test", NULL, NULL, &r->scene, &diagnostics) != PERP_STATUS_OK) {
        fail_msg("%s\n%s", diagnostics.items[0].message, text);
    }
    assert_int_equal(perp_model_build(r->scene, NULL, &r->model, &r->error), PERP_STATUS_OK);
    assert_int_equal(perp_state_create(r->model, NULL, &r->state, &r->error), PERP_STATUS_OK);
    assert_int_equal(perp_explainer_create(r->model, &r->scene->run, NULL, &r->explainer, &r->error), PERP_STATUS_OK);
    r->status = perp_run(r->model, &r->scene->run, NULL, perp_explainer_observe, r->explainer, &r->state, &r->result,
                         &r->error);
}

static void free_run(explained *r)
{
    perp_explainer_free(r->explainer);
    perp_run_result_free(&r->result);
    perp_state_free(&r->state);
    perp_model_free(r->model);
    perp_scene_free(r->scene);
}

/* A particle of 10 N on a plane, with a push of (fx, fy) N. */
static const char *pushed(const char *run, double mu, double fx, double fy)
{
    static char text[1024];
    snprintf(text, sizeof text,
             "perp: 1\ngravity: [0, 0, -10]\nbodies:\n"
             "  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}\n"
             "  block: {mass: 1, free: [x, y, z], shapes: [{point: {}}]}\n"
             "forces: [{body: block, point: [0, 0, 0], force: [%.17g, %.17g, 0]}]\n"
             "contacts: {friction: %.17g}\nrun: {h: 0.01, steps: 1, %s}\n",
             fx, fy, mu, run);
    return text;
}

static perp_explanation explain_only_contact(explained *r)
{
    perp_explanation x;
    assert_int_equal(r->status, PERP_STATUS_OK);
    assert_int_equal(r->result.contact_count, 1);
    assert_int_equal(perp_explain(r->explainer, &r->result.contacts[0], &x, &r->error), PERP_STATUS_OK);
    return x;
}

/* A step counts as answered when it balances to 1e-8 of F, here at most 30 N, and as a slide from 1e-8 m/s on, which
 * takes m v / h = 1e-6 N more than friction holds; with that the two ends of a flip lie within 1e-7 of the change.
 * `unit` is the newtons that one of the amount is worth. */
static void assert_flip(const perp_flip *flip, double expected, double unit)
{
    const double tolerance = (1e-6 + 1e-8 * 30.0) / unit + 2e-7 * expected;
    assert_int_equal(flip->search, PERP_FLIP_FOUND);
    assert_near(flip->before, expected, tolerance);
    assert_near(flip->after, expected, tolerance);
    assert_true(flip->before != flip->after);
}

/* What a cone makes of a push along (c, s): its measure over its length. */
static double disc(double c, double s)
{
    return hypot(c, s);
}

static double diamond(double c, double s)
{
    return fabs(c) + fabs(s);
}

static double box(double c, double s)
{
    return fmax(fabs(c), fabs(s));
}

/* Six rays: the sides' normals are at 30, 90, 150 degrees, cos 30 from the middle. */
static double hexagon(double c, double s)
{
    const double r = sqrt(3.0) / 2.0;
    return fmax(fabs(s), fmax(fabs(r * c + 0.5 * s), fabs(r * c - 0.5 * s))) / r;
}

typedef struct rung_case {
    const char *run;
    double (*measure)(double c, double s);
} rung_case;

static const rung_case still[] = {
    {"model: qs-lcp", diamond},
    {"model: qs-lcp, rays: 6", hexagon},
    {"model: qs-ncp", disc},
    {"model: qs-ncp, cone: box", box},
    {"model: qs-opt", disc},
    {"model: qs-lp", box},
    {"model: qs-impedance-lcp", diamond},
    {"model: qs-qp", diamond},
    {"model: qs-qp, cone: quadratic", disc},
    {"model: qs-cone", disc},
    {"model: quasidynamic", disc},
    {"model: quasidynamic, cone: rays", diamond},
    {"model: dyn-lcp", diamond},
    {"model: dyn-ncp", disc},
    {"model: dyn-qp", diamond},
    {"model: dyn-qp, cone: quadratic", disc},
};

static const double pushes[][3] = {{3.0, 0.0, 0.5}, {2.0, 1.5, 0.8}, {-1.0, 2.0, 0.9}}; /* x, y, mu */

static void test_holds(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof still / sizeof *still; i++) {
        /* rigid rungs try every mode before they say that nothing holds it, which takes long: one push, askew */
        const bool rigid =
            strstr(still[i].run, "qs-") && !strstr(still[i].run, "qs-qp") && !strstr(still[i].run, "qs-cone");
        for (size_t k = rigid ? 2 : 0; k < sizeof pushes / sizeof *pushes; k++) {
            const double fx = pushes[k][0], fy = pushes[k][1], mu = pushes[k][2], size = hypot(fx, fy);
            const double measure = still[i].measure(fx / size, fy / size);
            explained r;
            run_text(pushed(still[i].run, mu, fx, fy), &r);
            const perp_explanation x = explain_only_contact(&r);
            assert_int_equal(x.mode, PERP_CONTACT_STICK);
            assert_near(x.used, size * measure, 1e-6);
            assert_near(x.limit, 10.0 * mu, 1e-6);
            assert_flip(&x.flips[PERP_FLIP_FRICTION], size * measure / 10.0, 10.0);
            assert_flip(&x.flips[PERP_FLIP_SIDEWAYS], 10.0 * mu / measure - size, 1.0);
            assert_int_equal(x.flips[PERP_FLIP_SQUEEZE].search, PERP_FLIP_UNKNOWN);
            /* what is pushed harder than friction holds has no quasistatic answer; inertia lets it slide */
            const bool inert = strstr(still[i].run, "dyn") != NULL;
            assert_int_equal(x.flips[PERP_FLIP_FRICTION].fate, inert ? PERP_FATE_SLIDES : PERP_FATE_NO_ANSWER);
            assert_near(perp_vec3_dot(x.along, perp_vec3_make(fx / size, fy / size, 0.0)), 1.0, 1e-6);
            free_run(&r);
        }
    }
}

static void test_slides(void **unused)
{
    (void)unused;
    const rung_case sliding[] = {{"model: quasidynamic", disc},
                                 {"model: quasidynamic, cone: rays", diamond},
                                 {"model: dyn-lcp", diamond},
                                 {"model: dyn-ncp", disc},
                                 {"model: dyn-qp", diamond}};
    for (size_t i = 0; i < sizeof sliding / sizeof *sliding; i++) {
        for (size_t k = 0; k < sizeof pushes / sizeof *pushes; k++) {
            const double fx = pushes[k][0], fy = pushes[k][1], size = hypot(fx, fy);
            const double used = size * sliding[i].measure(fx / size, fy / size), mu = 0.4 * used / 10.0;
            explained r;
            run_text(pushed(sliding[i].run, mu, fx, fy), &r);
            const perp_explanation x = explain_only_contact(&r);
            assert_int_equal(x.mode, PERP_CONTACT_SLIDE);
            assert_flip(&x.flips[PERP_FLIP_FRICTION], used / 10.0, 10.0);
            assert_flip(&x.flips[PERP_FLIP_SQUEEZE], used / mu - 10.0, mu);
            assert_int_equal(x.flips[PERP_FLIP_SIDEWAYS].search, PERP_FLIP_UNKNOWN);
            assert_int_equal(x.flips[PERP_FLIP_SQUEEZE].fate, PERP_FATE_HOLDS);
            free_run(&r);
        }
    }
}

/* ---- what else a caller relies on
 * --------------------------------------------------------------------------------------- */

static void test_words(void **unused)
{
    (void)unused;
    const struct {
        const char *run;
        double mu, push;
        const char *words;
    } cases[] = {
        {"model: quasidynamic", 0.5, 3.0,
         "sticking: 3 N of 5 N used; would slip below friction 0.3 between table and block, or under 2 N more "
         "sideways"},
        {"model: qs-qp", 0.5, 3.0,
         "sticking: 3 N of 5 N used; nothing would balance the forces below friction 0.3 between table and block, or "
         "under 2 N more sideways"},
        {"model: quasidynamic", 0.5, 0.0,
         "sticking: 0 N of 5 N used; would slip under 5 N more sideways; would hold with no friction between table "
         "and block: nothing pushes it sideways"},
        {"model: quasidynamic", 0.5, 8.0,
         "sliding at 0.024 m/s: 5.6 N of 5.6 N used; would hold if squeezed 6 N more, or with friction of at least 0.8 "
         "between table and block"}, /* convex friction: v (1 + mu^2) = h (F - mu m g) / m, fn = m g + m mu v / h */
        {"model: quasidynamic", 0.0, 8.0,
         "sliding at 0.08 m/s: without friction, pressed with 10 N; would hold with friction of at least 0.8 between "
         "table and block"},
        {"model: quasidynamic", 0.0, 0.0, "does not slip, without friction, pressed with 10 N"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        explained r;
        char text[400], cut[20], none[1] = {'x'};
        run_text(pushed(cases[i].run, cases[i].mu, cases[i].push, 0.0), &r);
        const perp_explanation x = explain_only_contact(&r);
        perp_explanation_text(r.model, &x, text, sizeof text);
        assert_string_equal(text, cases[i].words);
        perp_explanation_text(r.model, &x, cut, sizeof cut);
        assert_true(strlen(cut) == sizeof cut - 1 && strncmp(cut, text, sizeof cut - 1) == 0);
        perp_explanation_text(r.model, &x, none, 0);
        assert_int_equal(none[0], 'x');
        free_run(&r);
    }
}

/* A block in the air falls at 0.1 m/s after a step (quasidynamic knows no velocity before), and is 9 mm up: 0.09 s. */
static void test_open(void **unused)
{
    (void)unused;
    static const char text[] =
        "perp: 1\ngravity: [0, 0, -10]\nbodies:\n"
        "  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}\n"
        "  block: {mass: 1, pose: {position: [0, 0, 0.01]}, free: [x, y, z], shapes: [{point: {}}]}\n"
        "contacts: {friction: 0.5}\nrun: {model: quasidynamic, h: 0.01, steps: 1}\n";
    explained r;
    char words[200];
    run_text(text, &r);
    const perp_explanation x = explain_only_contact(&r);
    assert_int_equal(x.mode, PERP_CONTACT_OPEN);
    assert_near(x.gap, 0.009, 1e-9);
    assert_near(x.closing, 0.1, 1e-9);
    perp_explanation_text(r.model, &x, words, sizeof words);
    assert_string_equal(words, "open: 0.009 m apart, closing at 0.1 m/s: would touch in 0.09 s at this rate");
    free_run(&r);
}

/* A frictional finger led along a block that walls hold slides whatever presses it: what no amount does is said. */
static void test_no_flip(void **unused)
{
    (void)unused;
    static const char text[] =
        "perp: 1\nplanar: true\ngravity: [0, -10]\nbodies:\n"
        "  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
        "  wall: {fixed: true, shapes: [{box: [0.1, 1], pose: {position: [0.15, 0.5]}}]}\n"
        "  block: {mass: 1, free: [x, y], pose: {position: [0, 0.1]}, shapes: [{box: [0.2, 0.2]}]}\n"
        "  sled: {driven: {x: {rate: 0.1}}, pose: {position: [-0.05, 0.21]}, shapes: [{disc: 0.01}]}\n"
        "contacts: {friction: 0, pairs: {block sled: {friction: 0.5}}}\n"
        "forces: [{body: block, point: [0, 0], force: [0, 12]}]\n"
        "run: {model: qs-ncp, h: 0.01, steps: 1}\n";
    explained r;
    perp_explanation x;
    char words[400];
    run_text(text, &r);
    assert_int_equal(r.status, PERP_STATUS_OK);
    int seen = 0;
    for (int i = 0; i < r.result.contact_count; i++) {
        const perp_contact_record *record = &r.result.contacts[i];
        if (record->contact.a == 2 && record->contact.b == 3) {
            assert_int_equal(record->mode, PERP_CONTACT_SLIDE);
            assert_int_equal(perp_explain(r.explainer, record, &x, &r.error), PERP_STATUS_OK);
            assert_int_equal(x.flips[PERP_FLIP_SQUEEZE].search, PERP_FLIP_NONE);
            assert_int_equal(x.flips[PERP_FLIP_FRICTION].search, PERP_FLIP_NONE);
            assert_near(x.flips[PERP_FLIP_FRICTION].after, 10.0, 0.0);
            perp_explanation_text(r.model, &x, words, sizeof words);
            assert_non_null(strstr(words, "; would slip however hard it is squeezed, and however large the friction "
                                          "between block and sled is"));
            x.flips[PERP_FLIP_SQUEEZE].search = PERP_FLIP_FOUND; /* one of the two would do */
            perp_explanation_text(r.model, &x, words, sizeof words);
            assert_non_null(strstr(words, "; with more friction between block and sled it would slip all the same"));
            x.flips[PERP_FLIP_SQUEEZE].search = PERP_FLIP_NONE;
            x.flips[PERP_FLIP_FRICTION].search = PERP_FLIP_FOUND;
            perp_explanation_text(r.model, &x, words, sizeof words);
            assert_non_null(strstr(words, "between block and sled; squeezed harder it would slip all the same"));
            seen++;
        }
    }
    assert_int_equal(seen, 1);
    free_run(&r);
}

/* What holds a contact that would not slip without friction: a stop down the slope, two jaws, a joint, a rope of a
 * loop; a load on top does not. The floor's contact is the one explained, at two frictions each. */
static void test_held_by(void **unused)
{
    (void)unused;
    static const struct {
        const char *bodies, *rest, *words;
    } cases[] = {
        {"  stop: {fixed: true, shapes: [{box: [0.1, 0.2], pose: {position: [0.15, 0.1]}}]}\n", "",
         "with no friction between floor and block: stop holds it"},
        {"  left: {mass: 1, free: [x], pose: {position: [-0.15, 0.1]}, shapes: [{box: [0.1, 0.05]}]}\n"
         "  right: {mass: 1, free: [x], pose: {position: [0.15, 0.1]}, shapes: [{box: [0.1, 0.05]}]}\n",
         "forces: [{body: left, point: [0, 0], force: [20, 0]}, {body: right, point: [0, 0], force: [-29, 0]}]\n",
         "with no friction between floor and block: left and right hold it"},
        {"", "joints: {rail: {type: prismatic, parent: world, child: block, axis: [0, 1]}}\n",
         "with no friction between floor and block: joints hold it"},
        {"  load: {mass: 3, pose: {position: [0, 0.3]}, shapes: [{box: [0.1, 0.2]}]}\n", "gravity: [0, -10]\n",
         "with no friction between floor and block: nothing pushes it sideways"},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        char text[1200], words[400];
        explained r;
        perp_explanation x;
        const bool level = strstr(cases[i / 2].rest, "gravity") != NULL;
        snprintf(text, sizeof text,
                 "perp: 1\nplanar: true\n%s%sbodies:\n"
                 "  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
                 "  block: {mass: 1, inertia: 0.01, pose: {position: [0, 0.1]}, shapes: [{box: [0.2, 0.2]}]}\n%s"
                 "contacts: {friction: %g}\nrun: {model: dyn-ncp, h: 0.01, steps: 1}\n",
                 level ? "" : "gravity: [3, -10]\n", cases[i / 2].rest, cases[i / 2].bodies, i % 2 == 0 ? 0.5 : 0.9);
        run_text(text, &r);
        assert_int_equal(r.status, PERP_STATUS_OK);
        int seen = 0, blocked = 0;
        for (int k = 0; k < r.result.contact_count; k++) {
            const perp_contact_record *record = &r.result.contacts[k];
            if (record->contact.a == 0 && record->contact.b == 1 && record->mode == PERP_CONTACT_STICK) {
                assert_int_equal(perp_explain(r.explainer, record, &x, &r.error), PERP_STATUS_OK);
                perp_explanation_text(r.model, &x, words, sizeof words);
                if (x.flips[PERP_FLIP_FRICTION].search == PERP_FLIP_NONE) {
                    assert_non_null(strstr(words, cases[i / 2].words));
                    const bool against = x.flips[PERP_FLIP_SIDEWAYS].search == PERP_FLIP_NONE; /* the stop */
                    assert_true(!against || i > 1 ||
                                strstr(words, "; holds however hard block is pushed along (1, 0)"));
                    blocked += against ? 1 : 0;
                    seen++;
                }
            }
        }
        assert_true(seen > 0 && (i > 1 || blocked > 0));
        free_run(&r);
    }
}

static void test_budget(void **unused)
{
    (void)unused;
    explained r;
    run_text(pushed("model: quasidynamic", 0.5, 3.0, 0.0), &r);
    const perp_explanation all = explain_only_contact(&r), again = explain_only_contact(&r);
    for (int i = 0; i < PERP_FLIP_KINDS; i++) {
        const perp_flip *x = &all.flips[i], *y = &again.flips[i];
        assert_true(x->search == y->search && x->fate == y->fate && x->before == y->before && x->after == y->after);
    }
    perp_explainer_allow(r.explainer, 0.0);
    const perp_explanation none = explain_only_contact(&r);
    perp_explainer_allow(r.explainer, 1e6);
    explain_only_contact(&r);
    perp_explainer_allow(r.explainer, 0.7 * (1e6 - perp_explainer_work(r.explainer))); /* one flip, not two */
    const perp_explanation one = explain_only_contact(&r);
    assert_int_equal(none.flips[PERP_FLIP_FRICTION].search, PERP_FLIP_UNKNOWN);
    assert_int_equal(none.flips[PERP_FLIP_SIDEWAYS].search, PERP_FLIP_UNKNOWN);
    assert_int_equal(one.flips[PERP_FLIP_SIDEWAYS].search, PERP_FLIP_FOUND);
    assert_int_equal(one.flips[PERP_FLIP_FRICTION].search, PERP_FLIP_UNKNOWN);
    assert_near(none.used, 3.0, 1e-6);
    free_run(&r);
}

/* Work is what steps take, not how many they are: a capsule with a box on it, hitting the ground in one step of 50 ms,
 * takes two hundred iterations, and three times the run's own work is nothing to seek a flip with. */
static void test_budget_of_hard_steps(void **unused)
{
    (void)unused;
    explained r;
    run_text("perp: 1\nbodies:\n"
             "  ground: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
             "  capsule: {mass: 0.42, inertia: [4.2e-3, 4.2e-3, 4.2e-3], pose: {position: [0, -0.04, 0.18]},\n"
             "    velocity: {linear: [0.27, 0.68, -1.08], angular: [-0.5, 6.9, -1.5]},\n"
             "    shapes: [{capsule: {radius: 0.05, length: 0.2}}]}\n"
             "  box: {mass: 1.8, inertia: [1.8e-2, 1.8e-2, 1.8e-2],\n"
             "    pose: {position: [0.02, 0.01, 0.48], quat_wxyz: [0.01, 0.63, -0.47, 0.62]},\n"
             "    velocity: {linear: [1, -0.9, -1.9], angular: [-1.5, 5.9, 10.3]}, shapes: [{box: [0.2, 0.15, 0.1]}]}\n"
             "contacts: {friction: 2}\n"
             "compliance: {stiffness: 3.9e5, damping: 0, elements: 3, size: 0.04, gamma: 1.0e-4}\n"
             "run: {model: compliant, h: 0.05, steps: 1}\n",
             &r);
    assert_int_equal(r.status, PERP_STATUS_OK);
    assert_true(r.result.contact_count >= 1);
    assert_true(r.result.contacts[0].mode != PERP_CONTACT_OPEN);
    const double own = r.result.iterations * (1.0 + 9.0 * r.result.contact_count);
    for (int i = 0; i < r.result.contact_count; i++) {
        perp_explanation x;
        perp_explainer_allow(r.explainer, 3.0 * own);
        assert_int_equal(perp_explain(r.explainer, &r.result.contacts[i], &x, &r.error), PERP_STATUS_OK);
        assert_true(perp_explainer_work(r.explainer) <= 0.0 || x.mode == PERP_CONTACT_OPEN);
        for (int k = 0; k < PERP_FLIP_KINDS; k++) {
            assert_int_equal(x.flips[k].search, PERP_FLIP_UNKNOWN);
        }
    }
    free_run(&r);
}

/* Who wants to stop gets what is known without solving. */
static void test_cancelled(void **unused)
{
    (void)unused;
    static volatile bool stop = false;
    explained r;
    perp_explainer *e = NULL;
    run_text(pushed("model: quasidynamic", 0.5, 3.0, 0.0), &r);
    r.scene->run.cancel = &stop;
    perp_explainer_free(r.explainer);
    perp_run_result_free(&r.result);
    perp_state_free(&r.state);
    assert_int_equal(perp_state_create(r.model, NULL, &r.state, &r.error), PERP_STATUS_OK);
    assert_int_equal(perp_explainer_create(r.model, &r.scene->run, NULL, &e, &r.error), PERP_STATUS_OK);
    r.explainer = e;
    r.status = perp_run(r.model, &r.scene->run, NULL, perp_explainer_observe, e, &r.state, &r.result, &r.error);
    assert_int_equal(explain_only_contact(&r).flips[PERP_FLIP_FRICTION].search, PERP_FLIP_FOUND);
    stop = true;
    const perp_explanation x = explain_only_contact(&r);
    assert_int_equal(x.flips[PERP_FLIP_FRICTION].search, PERP_FLIP_UNKNOWN);
    assert_int_equal(x.flips[PERP_FLIP_SIDEWAYS].search, PERP_FLIP_UNKNOWN);
    assert_near(x.used, 3.0, 1e-6);
    free_run(&r);
}

static void test_nothing_observed(void **unused)
{
    (void)unused;
    explained r;
    perp_explanation x;
    perp_explainer *fresh;
    run_text(pushed("model: quasidynamic", 0.5, 3.0, 0.0), &r);
    assert_int_equal(perp_explainer_create(r.model, &r.scene->run, NULL, &fresh, &r.error), PERP_STATUS_OK);
    assert_int_equal(perp_explain(fresh, &r.result.contacts[0], &x, &r.error), PERP_STATUS_BAD_INPUT);
    perp_explainer_free(fresh);
    perp_run_settings wrong = r.scene->run;
    wrong.model = "nonsense";
    assert_int_equal(perp_explainer_create(r.model, &wrong, NULL, &fresh, &r.error), PERP_STATUS_BAD_INPUT);
    assert_null(fresh);
    perp_explainer_free(NULL);
    free_run(&r);
}

/* Every request for memory refused in turn: the status says so and nothing is left standing. */
static void test_out_of_memory(void **unused)
{
    (void)unused;
    explained r;
    run_text(pushed("model: quasidynamic", 0.5, 3.0, 0.0), &r);
    const perp_state begin = {.t = 0.0, .q = r.state.q, .v = r.state.v}; /* it has not moved */
    const perp_run_start start = {.step = 0};
    const perp_step_info info = {0};
    bool done = false;
    for (int grants = 0; !done; grants += 1 + grants / 8) {
        failing_allocator f = {.grants = grants};
        const perp_allocator allocator = allocator_of(&f);
        perp_explain_options options = perp_explain_options_default();
        perp_explainer *e = NULL;
        perp_explanation x;
        options.allocator = &allocator;
        perp_status status = perp_explainer_create(r.model, &r.scene->run, &options, &e, &r.error);
        if (status == PERP_STATUS_OK) {
            assert_true(perp_explainer_resume(e, &start, &begin));
            assert_true(perp_explainer_observe(e, 1, &r.state, &info));
            status = perp_explain(e, &r.result.contacts[0], &x, &r.error);
        }
        done = status == PERP_STATUS_OK;
        assert_true(done || status == PERP_STATUS_OUT_OF_MEMORY);
        assert_true(!done || x.flips[PERP_FLIP_FRICTION].search == PERP_FLIP_FOUND);
        perp_explainer_free(e);
        assert_int_equal(f.standing, 0);
    }
    free_run(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holds),         cmocka_unit_test(test_slides),
        cmocka_unit_test(test_words),         cmocka_unit_test(test_open),
        cmocka_unit_test(test_no_flip),       cmocka_unit_test(test_held_by),
        cmocka_unit_test(test_budget),        cmocka_unit_test(test_budget_of_hard_steps),
        cmocka_unit_test(test_cancelled),     cmocka_unit_test(test_nothing_observed),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
