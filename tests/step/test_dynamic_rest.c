/* dyn-lcp from step to step: while nothing slides its answers are the round cone's, least forces included; where
 * something begins to slide they are the pyramid's own. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene_run.h"

static void run_on(scene_run *run, const char *source, const char *model, const char *steps)
{
    const char *const settings[] = {model, steps, NULL};
    scene_run_make(run, source, settings);
    assert_int_equal(run->status, PERP_STATUS_OK);
}

/* Ten steps of a stack at rest, 40 contacts that need not all carry: the same forces on both rungs. */
static void rays_and_circle_agree_at_rest(void **unused)
{
    scene_run rays, circle;
    (void)unused;
    run_on(&rays, "cube-stack", "run.model=dyn-lcp", "run.steps=10");
    run_on(&circle, "cube-stack", "run.model=dyn-ncp", "run.steps=10");
    assert_int_equal(rays.count, circle.count);
    for (int k = 1; k < rays.count; k++) {
        const run_state *a = &rays.states[k], *b = &circle.states[k];
        assert_true(a->contact_count > 0 && a->contact_count == b->contact_count);
        for (int i = 0; i < a->contact_count; i++) {
            /* each is within run.tolerance of the least forces, in units of all that acts, some tens of N */
            NEAR(a->contacts[i].fn, b->contacts[i].fn, 1e-6);
            NEAR(a->contacts[i].ft[0], b->contacts[i].ft[0], 1e-6);
            NEAR(a->contacts[i].ft[1], b->contacts[i].ft[1], 1e-6);
        }
    }
    scene_run_free(&rays);
    scene_run_free(&circle);
}

/* A box that rests for 0.1 s and is then pulled at 30 degrees to the rays, harder and harder: it holds up to the
 * polygon's limit, slides along one of its corners, and is never outside of it. The sum of all forces, from the states
 * and the records alone, is m dv / h in every step. */
static void a_box_that_rests_begins_to_slide(void **unused)
{
    static const char *const text =
        "perp: 1\n"
        "bodies:\n"
        "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
        "  box: {mass: 2, pose: {position: [0, 0, 0.05]}, shapes: [{box: [0.2, 0.2, 0.1]}]}\n"
        "forces:\n"
        "  - {body: box, force: [{times: [0.1, 0.3], values: [0, 8.66]},\n"
        "                         {times: [0.1, 0.3], values: [0, 5]}, 0]}\n"
        "contacts: {friction: 0.3}\n"
        "run: {model: dyn-lcp, h: 0.01, steps: 40}\n";
    const double mass = 2.0, weight = mass * 9.81, h = 0.01;
    scene_run run;
    bool rested = false, slid = false;
    (void)unused;
    scene_run_make(&run, text, (const char *const[]){NULL});
    assert_int_equal(run.status, PERP_STATUS_OK);
    for (int k = 1; k < run.count; k++) {
        const run_state *s = &run.states[k], *before = &run.states[k - 1];
        perp_vec3 sum = {0.0, 0.0, 0.0};
        for (int i = 0; i < s->contact_count; i++) {
            const perp_contact_record *c = &s->contacts[i];
            sum = perp_vec3_add(sum, c->force_on_b);
            /* four rays: a square of which |ft| <= mu fn is the circle around it */
            assert_true(fabs(c->ft[0]) + fabs(c->ft[1]) <= 0.3 * c->fn + 1e-7 * weight);
            slid = slid || c->mode == PERP_CONTACT_SLIDE;
            rested = rested || c->mode == PERP_CONTACT_STICK;
        }
        const double ramp = fmin(1.0, fmax(0.0, (s->t - 0.1) / 0.2));
        NEAR(sum.x + 8.66 * ramp, mass * (s->v[0] - before->v[0]) / h, 1e-6);
        NEAR(sum.y + 5.0 * ramp, mass * (s->v[1] - before->v[1]) / h, 1e-6);
        NEAR(sum.z, weight, 1e-6);
    }
    assert_true(rested && slid);
    scene_run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_and_circle_agree_at_rest),
        cmocka_unit_test(a_box_that_rests_begins_to_slide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
