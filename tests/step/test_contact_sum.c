/* The contacts of a step that was taken in parts: impulses over its length, of all parts, by contact. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "failing_allocator.h"
#include "scene_run.h"
#include "step/common/contact_sum.h"

/* ---- by hand ----------------------------------------------------------------------------------------------------- */

/* Between bodies a and b, with the normal turned by `angle` from z towards x. */
static perp_contact_record record(int a, int b, int feature, double angle, double fn, double ft)
{
    perp_contact_record r = {.contact = {.a = a, .b = b, .feature_a = feature, .friction = 0.5},
                             .mode = fn > 0.0 ? PERP_CONTACT_SLIDE : PERP_CONTACT_OPEN,
                             .fn = fn,
                             .ft = {ft, 0.0},
                             .slip = {angle + 1.0, 0.0},
                             .margin = 0.5 * fn - fabs(ft)};
    r.contact.normal = perp_vec3_make(sin(angle), 0.0, cos(angle));
    r.contact.t = perp_vec3_make(cos(angle), 0.0, -sin(angle));
    r.contact.o = perp_vec3_cross(r.contact.normal, r.contact.t);
    r.force_on_b = perp_vec3_add(perp_vec3_scale(fn, r.contact.normal), perp_vec3_scale(ft, r.contact.t));
    return r;
}

static void add(contact_sum *sum, const perp_contact_record *records, int count, const perp_element_record *elements,
                double share)
{
    const perp_allocator allocator = perp_allocator_default();
    assert_int_equal(perp_contact_sum_add(sum, &allocator, records, count, elements, share, NULL), PERP_STATUS_OK);
}

static void test_by_contact(void **unused)
{
    (void)unused;
    contact_sum sum = {0};
    const perp_contact_record first[] = {record(0, 1, 3, 0.0, 8.0, 1.0), record(0, 1, 4, 0.0, 0.0, 0.0),
                                         record(1, 2, 0, 0.0, 4.0, -2.0)};
    const perp_contact_record second[] = {record(0, 1, 3, 0.2, 16.0, 4.0), record(0, 1, 5, 0.0, 6.0, 0.0),
                                          record(0, 3, 0, 0.0, 10.0, 5.0), record(1, 2, 0, 0.0, 0.0, 0.0)};
    add(&sum, first, 3, NULL, 0.25);
    add(&sum, second, 4, NULL, 0.5);
    assert_int_equal(sum.count, 5); /* the order of contact sets, and within a manifold the older ones first */
    static const int FEATURE[] = {3, 4, 5, 0, 0}, B[] = {1, 1, 1, 3, 2};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(sum.records[i].contact.feature_a, FEATURE[i]);
        assert_int_equal(sum.records[i].contact.b, B[i]);
    }
    /* in both: in the frame of the later one */
    const perp_contact_record *both = &sum.records[0];
    NEAR(both->force_on_b.x, 0.25 * 1.0 + 0.5 * (16.0 * sin(0.2) + 4.0 * cos(0.2)), 1e-15);
    NEAR(both->force_on_b.z, 0.25 * 8.0 + 0.5 * (16.0 * cos(0.2) - 4.0 * sin(0.2)), 1e-14);
    NEAR(both->fn, both->force_on_b.x * sin(0.2) + both->force_on_b.z * cos(0.2), 1e-14);
    NEAR(both->ft[0], both->force_on_b.x * cos(0.2) - both->force_on_b.z * sin(0.2), 1e-14);
    NEAR(both->margin, 0.25 * 3.0 + 0.5 * 4.0, 1e-15);
    NEAR(both->slip[0], 1.2, 0.0);
    assert_int_equal(sum.records[1].mode, PERP_CONTACT_OPEN);
    NEAR(sum.records[2].fn, 3.0, 0.0); /* the later one alone */
    NEAR(sum.records[3].ft[0], 2.5, 0.0);
    NEAR(sum.records[4].fn, 1.0, 0.0); /* it has parted since: its force and its slip stay */
    NEAR(sum.records[4].ft[0], -0.5, 0.0);
    assert_int_equal(sum.records[4].mode, PERP_CONTACT_SLIDE);
    const perp_allocator allocator = perp_allocator_default();
    perp_contact_sum_free(&sum, &allocator);
}

static void test_elements(void **unused)
{
    (void)unused;
    contact_sum sum = {0};
    perp_contact_record one = record(0, 1, 0, 0.0, 3.0, 0.0), two = record(0, 2, 0, 0.0, 0.0, 0.0);
    perp_element_record elements[] = {{.fn = 1.0, .ft = {0.5, 0.25}, .limit = 2.0, .slip = {1.0, 0.0}},
                                      {.fn = 2.0, .limit = 4.0, .slip = {2.0, 0.0}},
                                      {.slip = {3.0, 0.0}}};
    one.element_count = 2;
    two.element_start = 2;
    two.element_count = 1;
    add(&sum, (const perp_contact_record[]){one, two}, 2, elements, 0.5);
    elements[1].slip[0] = 7.0;
    add(&sum, (const perp_contact_record[]){one, two}, 2, elements, 0.25);
    assert_int_equal(sum.element_count, 3);
    const perp_element_record *e = sum.elements + sum.records[0].element_start;
    NEAR(e[0].fn, 0.75, 0.0);
    NEAR(e[0].ft[0], 0.375, 0.0);
    NEAR(e[0].ft[1], 0.1875, 0.0);
    NEAR(e[1].limit, 3.0, 0.0);
    NEAR(e[1].slip[0], 7.0, 0.0);
    NEAR(sum.elements[sum.records[1].element_start].slip[0], 3.0, 0.0);
    const perp_allocator allocator = perp_allocator_default();
    perp_contact_sum_free(&sum, &allocator);
}

/* Where a normal turns from part to part the elements have their forces along the axes of the sum, and sum up to it. */
static void test_elements_that_turn(void **unused)
{
    (void)unused;
    contact_sum sum = {0};
    perp_contact_record parts[2] = {record(0, 1, 0, 0.0, 3.0, 0.5), record(0, 1, 0, 0.3, 3.0, 0.5)};
    const perp_element_record elements[] = {{.fn = 1.0, .ft = {0.5, 0.25}}, {.fn = 2.0, .ft = {0.0, 0.5}}};
    for (int i = 0; i < 2; i++) {
        parts[i].element_count = 2;
        parts[i].ft[1] = 0.75;
        parts[i].force_on_b = perp_vec3_add_scaled(parts[i].force_on_b, 0.75, parts[i].contact.o);
        add(&sum, &parts[i], 1, elements, 0.5);
    }
    const perp_element_record *e = sum.elements;
    NEAR(e[0].fn, 0.5 * (1.0 * cos(0.3) + 0.5 * sin(0.3)) + 0.5 * 1.0, 1e-15);
    NEAR(e[1].ft[0], -0.5 * 2.0 * sin(0.3), 1e-15);
    NEAR(e[0].fn + e[1].fn, sum.records[0].fn, 1e-15);
    NEAR(e[0].ft[0] + e[1].ft[0], sum.records[0].ft[0], 1e-15);
    NEAR(e[0].ft[1] + e[1].ft[1], sum.records[0].ft[1], 1e-15);
    const perp_allocator allocator = perp_allocator_default();
    perp_contact_sum_free(&sum, &allocator);
}

/* ---- in runs ----------------------------------------------------------------------------------------------------- */

static uint64_t seed_state;

static double random_between(double low, double high)
{
    seed_state = seed_state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(seed_state >> 11) / 9007199254740992.0;
}

/* Boxes that tumble onto the ground and into each other, some of them bouncing. */
static scene_text random_scene(int seed, const char *model, const char *tolerance)
{
    char bodies[2400];
    int length = 0;
    seed_state = (uint64_t)seed * 977u + 5u;
    for (int i = 0; i < 3; i++) {
        length += snprintf(bodies + length, sizeof bodies - (size_t)length,
                           "  b%d: {mass: %.17g, shapes: [{box: [%.17g, %.17g, %.17g]}],\n"
                           "       pose: {position: [%.17g, %.17g, %.17g]},\n"
                           "       velocity: {linear: [%.17g, %.17g, %.17g], angular: [%.17g, %.17g, %.17g]}}\n",
                           i, random_between(0.2, 3.0), random_between(0.1, 0.4), random_between(0.1, 0.4),
                           random_between(0.1, 0.4), 0.3 * i, random_between(-0.1, 0.1), 0.35 + 0.3 * i,
                           random_between(-2, 2), random_between(-2, 2), random_between(-4, 0), random_between(-9, 9),
                           random_between(-9, 9), random_between(-9, 9));
    }
    return scene_text_of("perp: 1\nbodies:\n  ground: {fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}\n%s"
                         "contacts: {friction: %.17g, pairs: {\"ground b0\": {restitution: 0.7}, \"b0 b1\": "
                         "{restitution: 0.3}}}\n"
                         "compliance: {stiffness: 2.0e+6, damping: 50}\n"
                         "run: {model: %s, h: 0.01, steps: 60, substep_tolerance: %s}\n",
                         bodies, random_between(0.1, 0.9), model, tolerance);
}

/* m (v+ - v) / h = weight + the forces of the contacts that are reported. */
static double off_balance(const scene_run *run, int step)
{
    const run_state *now = &run->states[step], *before = &run->states[step - 1];
    double largest = 0.0, worst = 0.0;
    perp_vec3 force[8];
    assert_true(run->model->body_count <= 8);
    for (int b = 0; b < run->model->body_count; b++) {
        force[b] = perp_vec3_scale(run->model->links[b].mass, run->scene->gravity);
    }
    for (int i = 0; i < now->contact_count; i++) {
        const perp_contact_record *r = &now->contacts[i];
        perp_vec3 f = perp_vec3_scale(r->fn, r->contact.normal);
        f = perp_vec3_add_scaled(perp_vec3_add_scaled(f, r->ft[0], r->contact.t), r->ft[1], r->contact.o);
        assert_true(perp_vec3_norm(perp_vec3_sub(f, r->force_on_b)) <= 1e-12 * (1.0 + perp_vec3_norm(f)));
        force[r->contact.b] = perp_vec3_add(force[r->contact.b], f);
        force[r->contact.a] = perp_vec3_sub(force[r->contact.a], f);
        largest = fmax(largest, perp_vec3_norm(f));
    }
    for (int b = 0; b < run->model->body_count; b++) {
        const perp_link *link = &run->model->links[b];
        const double f[3] = {force[b].x, force[b].y, force[b].z};
        for (int k = 0; k < 3 && link->tree >= 0; k++) {
            const int i = link->v_start + k;
            const double change = link->mass * (now->v[i] - before->v[i]) / (now->t - before->t);
            worst = fmax(worst, fabs(change - f[k]) / fmax(fmax(largest, fabs(change)), 9.81 * link->mass));
        }
    }
    return worst;
}

static void test_momentum(void **unused)
{
    (void)unused;
    static const char *const models[] = {"dyn-ncp", "dyn-lcp", "dyn-qp", "compliant"};
    static const char *const tolerances[] = {".inf", "1.0e-4", "1.0e-6"};
    for (int m = 0; m < 4; m++) {
        int split = 0, compared = 0;
        for (int k = 0; k < 30; k++) {
            const scene_text text = random_scene(k, models[m], tolerances[k % 3]);
            scene_run run;
            scene_run_make(&run, text.of, SET("run.time_scale=1"));
            for (int step = 1; step < run.count; step++) {
                const double off = off_balance(&run, step);
                if (!(off <= 1e-7)) { /* the law's 1e-8 on three bodies, of forces that all count alike */
                    fail_msg("%s, scene %d, step %d: off by %g", models[m], k, step, off);
                }
                compared++;
            }
            split += run.result.fallbacks[PERP_FALLBACK_SUBSTEP];
            scene_run_free(&run);
        }
        assert_true(compared > 1000);
        assert_true(split > 20 || strcmp(models[m], "compliant") == 0); /* which splits what does not settle */
    }
}

/* Without inertia the forces of a step that was split balance the load, here one that does not change. */
static void test_quasistatic_balance(void **unused)
{
    (void)unused;
    static const char *const models[] = {"qs-ncp", "qs-lcp", "qs-qp"};
    for (int m = 0; m < 3; m++) {
        char chosen[60];
        scene_run run;
        snprintf(chosen, sizeof chosen, "run.model=%s", models[m]);
        scene_run_make(&run, "pivot", SET(chosen));
        assert_int_equal(run.status, PERP_STATUS_OK);
        int body = 0;
        for (int b = 0; b < run.model->body_count; b++) {
            body = strcmp(run.scene->bodies[b].name, "box") == 0 ? b : body;
        }
        for (int step = 1; step < run.count; step++) {
            perp_vec3 force = perp_vec3_scale(run.model->links[body].mass, run.scene->gravity);
            for (int i = 0; i < run.states[step].contact_count; i++) {
                const perp_contact_record *r = &run.states[step].contacts[i];
                force = r->contact.b == body   ? perp_vec3_add(force, r->force_on_b)
                        : r->contact.a == body ? perp_vec3_sub(force, r->force_on_b)
                                               : force;
            }
            NEAR(perp_vec3_norm(force), 0.0, 1e-6);
        }
        assert_true(run.result.fallbacks[PERP_FALLBACK_SUBSTEP] > 0);
        scene_run_free(&run);
    }
}

/* A run that splits takes no more memory than it is given. */
static void test_refused_memory(void **unused)
{
    (void)unused;
    const scene_text text = random_scene(4, "dyn-ncp", "1.0e-4");
    scene_run_refuse_memory(text.of, SET("run.steps=12"));
    const scene_text soft = random_scene(4, "compliant", ".inf");
    scene_run_refuse_memory(soft.of, SET("run.steps=12"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_contact),          cmocka_unit_test(test_elements),
        cmocka_unit_test(test_elements_that_turn),  cmocka_unit_test(test_momentum),
        cmocka_unit_test(test_quasistatic_balance), cmocka_unit_test(test_refused_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
