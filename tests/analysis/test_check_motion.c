/* Is a motion from elsewhere an answer of a step? Of scenes whose answers can be written down: a disc that wedges
 * itself or falls, a ball that rolls as it likes. */
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

typedef struct held {
    perp_scene *scene;
    perp_model *model;
    perp_sim *sim;
} held;

static held hold(const char *text, const perp_allocator *allocator)
{
    held h = {0};
    perp_diagnostics diagnostics = {0};
    perp_error error = {0};
    perp_sim_settings settings = perp_sim_settings_default();
    settings.allocator = allocator;
    if (perp_scene_load_text(text, strlen(text), "test", NULL, NULL, &h.scene, &diagnostics) != PERP_STATUS_OK ||
        perp_model_build(h.scene, NULL, &h.model, &error) != PERP_STATUS_OK ||
        perp_sim_create(h.model, &settings, &h.sim, &error) != PERP_STATUS_OK) {
        fail_msg("%s %s", diagnostics.items[0].message, error.message);
    }
    return h;
}

static void let_go(held *h)
{
    perp_sim_free(h->sim);
    perp_model_free(h->model);
    perp_scene_free(h->scene);
}

static perp_second_motion check(const held *h, const double *v)
{
    perp_second_motion second;
    perp_error error = {0};
    const perp_hash before = perp_sim_hash(h->sim);
    if (perp_check_motion(h->sim, v, NULL, 0, &second, &error) != PERP_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    const perp_hash after = perp_sim_hash(h->sim);
    assert_memory_equal(&before, &after, sizeof before);
    return second;
}

/* Walls lean over the disc by 20 degrees; it is wedged from mu = tan 20 = 0.364 on. */
static held wedge(const char *mu)
{
    char text[900];
    snprintf(text, sizeof text,
             "perp: 1\nplanar: true\ngravity: [0, -10]\nbodies:\n"
             "  left: {fixed: true, shapes: [{halfplane: {normal: [0.9396926207859084, -0.3420201433256687], offset: "
             "-1}}]}\n"
             "  right: {fixed: true, shapes: [{halfplane: {normal: [-0.9396926207859084, -0.3420201433256687], offset: "
             "-1}}]}\n"
             "  disc: {mass: 2, inertia: 1, shapes: [{disc: 1}]}\n"
             "contacts: {friction: %s}\nrun: {model: dyn-ncp, h: 0.01, steps: 1}\n",
             mu);
    return hold(text, NULL);
}

static void test_falling_or_wedged(void **unused)
{
    (void)unused;
    static const double rests[3] = {0.0, 0.0, 0.0}, falls[3] = {0.0, -0.1, 0.0}, between[3] = {0.0, -0.05, 0.0};
    static const double turns[3] = {0.0, 0.0, 0.1};
    held h = wedge("0.5");
    const perp_second_motion resting = check(&h, rests), falling = check(&h, falls), half = check(&h, between);
    assert_true(resting.is_answer && resting.residual < 1e-12);
    assert_false(falling.is_answer); /* its own one is no second one */
    assert_true(falling.distance < 1e-12 && falling.residual < 1e-12);
    assert_false(half.is_answer);
    assert_true(half.residual > 1e-4);
    assert_true(fabs(half.distance - 0.5 * resting.distance) < 1e-12 && half.distance > 1e-5);
    assert_false(check(&h, turns).is_answer);
    let_go(&h);
    h = wedge("0.3");
    assert_false(check(&h, rests).is_answer);
    assert_true(check(&h, rests).residual > 1e-2); /* of the weight: nothing holds it */
    let_go(&h);
}

static const char ball[] = "perp: 1\nbodies:\n"
                           "  ground: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                           "  ball: {mass: 1, pose: {position: [0, 0, 0.1]}, shapes: [{sphere: 0.1}]}\n"
                           "contacts: {friction: 0.5}\nrun: {model: %s, h: 0.01, steps: 1}\n";

static void test_rolling(void **unused)
{
    (void)unused;
    static const char *const models[] = {"qs-cone", "qs-ncp", "qs-qp"};
    static const double rolls[6] = {0.2, 0.0, 0.0, 0.0, 2.0, 0.0}, slides[6] = {0.2, 0.0, 0.0, 0.0, 1.0, 0.0};
    for (int i = 0; i < 3; i++) {
        char text[600];
        snprintf(text, sizeof text, ball, models[i]);
        held h = hold(text, NULL);
        const perp_second_motion rolling = check(&h, rolls), sliding = check(&h, slides);
        assert_true(rolling.is_answer && rolling.residual < 1e-12);
        assert_true(!sliding.is_answer && sliding.residual > 1e-5);
        let_go(&h);
    }
}

/* A fence pushes a particle along x by 1e-7 m in a step; nothing but friction on the plane says that it does not go
 * along y too. */
static held push(const char *mu)
{
    char text[700];
    snprintf(text, sizeof text,
             "perp: 1\nbodies:\n  plane: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
             "  fence: {driven: {x: {rate: 1.0e-5}}, shapes: [{plane: {normal: [1, 0, 0], offset: 0}}]}\n"
             "  particle: {mass: 1, free: [x, y, z], shapes: [{point: {}}]}\n"
             "contacts: {friction: 0, exclude: [[plane, fence]], pairs: {\"plane particle\": {friction: %s}}}\n"
             "run: {model: qs-ncp, h: 0.01, steps: 1}\n",
             mu);
    return hold(text, NULL);
}

/* By the fence, which comes first of what moves; linear velocities. */
static perp_second_motion check_particle(const held *h, double vy, double vz)
{
    const perp_link *particle = &h->model->links[2];
    double v[16] = {0.0};
    perp_sim *next = NULL;
    perp_error error = {0};
    assert_int_equal(perp_sim_clone(h->sim, &next, &error), PERP_STATUS_OK);
    assert_int_equal(perp_sim_step(next, &error), PERP_STATUS_OK);
    assert_true(h->model->nv <= 16);
    memcpy(v, perp_sim_state(next)->v, (size_t)h->model->nv * sizeof *v);
    perp_sim_free(next);
    v[particle->v_start + 1] += vy;
    v[particle->v_start + 2] += vz;
    return check(h, v);
}

/* The direction of friction changes by an angle, its work by the square of it: what is small beside the law's tolerance
 * is no answer when it is large beside the way. */
static void test_what_is_nearly_an_answer(void **unused)
{
    (void)unused;
    held h = push("0.5");
    const perp_second_motion turned = check_particle(&h, 1.2e-7, 0.0);
    assert_true(!turned.is_answer && turned.residual < 1e-8 && turned.residual > 1e-4 * turned.distance);
    let_go(&h);
    h = push("0");
    assert_true(check_particle(&h, 2e-7, 0.0).is_answer);
    const perp_second_motion near = check_particle(&h, 0.5e-7, 0.0), far = check_particle(&h, 0.5, 0.0);
    assert_true(!near.is_answer && near.residual < 1e-14); /* an answer, but the same to half a percent */
    assert_true(far.is_answer);
    const double L = 0.5 * 0.01 / far.distance;
    const perp_second_motion sunk = check_particle(&h, 0.5, -1e-7 * L / 0.01);
    assert_true(!sunk.is_answer && fabs(sunk.residual - 1e-7) < 1e-9);
    let_go(&h);
}

static void test_what_cannot_be_looked_at(void **unused)
{
    (void)unused;
    static const double rests[6] = {0.0};
    perp_second_motion second;
    perp_error error = {0};
    char text[600];
    snprintf(text, sizeof text, ball, "compliant");
    held h = hold(text, NULL);
    assert_int_equal(perp_check_motion(h.sim, rests, NULL, 0, &second, &error), PERP_STATUS_UNAVAILABLE);
    assert_true(!second.is_answer && isinf(second.residual));
    let_go(&h);
}

static void test_out_of_memory(void **unused)
{
    (void)unused;
    static const double rolls[6] = {0.2, 0.0, 0.0, 0.0, 2.0, 0.0};
    failing_allocator f = {.grants = INT_MAX};
    const perp_allocator allocator = allocator_of(&f);
    char text[600];
    snprintf(text, sizeof text, ball, "qs-lcp");
    held h = hold(text, &allocator);
    perp_status status = PERP_STATUS_OUT_OF_MEMORY;
    for (int grants = 0; status != PERP_STATUS_OK; grants++) {
        perp_second_motion second;
        perp_error error = {0};
        const int standing = f.standing;
        f.grants = f.requests + grants;
        status = perp_check_motion(h.sim, rolls, NULL, 0, &second, &error);
        assert_true(status == PERP_STATUS_OK || status == PERP_STATUS_OUT_OF_MEMORY);
        assert_int_equal(f.standing, standing);
        assert_true(status != PERP_STATUS_OK || second.is_answer);
    }
    f.grants = INT_MAX;
    let_go(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_falling_or_wedged),
        cmocka_unit_test(test_rolling),
        cmocka_unit_test(test_what_is_nearly_an_answer),
        cmocka_unit_test(test_what_cannot_be_looked_at),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
