/* Islands: contacts, joints and loops join moving bodies; what is fixed or driven joins nothing. */
#include "contact/contact_private.h"
#include "contact_test.h"

static const char *const text =
    "contacts: {margin: 0.1}\n"
    "bodies:\n"
    "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
    "  pusher: {driven: {x: {rate: 1}}, pose: {position: [0, 0, 0.1]}, shapes: [{box: [8, 0.2, 0.2]}]}\n"
    "  pad: {mass: 1, shapes: [{sphere: 0.01}]}\n"
    "  a: {mass: 1, pose: {position: [0, 0.2, 0.1]}, shapes: [{sphere: 0.1}]}\n"
    "  b: {mass: 1, pose: {position: [0.201, 0.2, 0.1]}, shapes: [{sphere: 0.1}]}\n"
    "  c: {mass: 1, pose: {position: [1, 0.2, 0.1]}, shapes: [{sphere: 0.1}]}\n"
    "  d: {mass: 1, pose: {position: [2, 0.2, 0.1]}, shapes: [{sphere: 0.1}]}\n"
    "  tail: {mass: 1, inertia: [1, 1, 1]}\n"
    "  e: {mass: 1, pose: {position: [3, 0.2, 0.1]}, shapes: [{sphere: 0.1}]}\n"
    "  f: {mass: 1, pose: {position: [3.5, 0.2, 0.1]}, shapes: [{sphere: 0.1}]}\n"
    "  locked: {free: [], pose: {position: [3.8, 0.2, 0.1]}, shapes: [{sphere: 0.1}]}\n"
    "joints:\n"
    "  weld: {type: fixed, parent: pusher, child: pad}\n"
    "  hinge: {type: revolute, parent: d, child: tail, axis: [0, 0, 1]}\n"
    "loops:\n"
    "  rope: {type: point, a: e, b: f, anchor_a: [0.25, 0, 0], anchor_b: [-0.25, 0, 0]}\n";

static void test_islands(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, text);
    int island[11];
    assert_int_equal(w.model->body_count, 11);
    /* all of them touch the pusher and the floor */
    assert_true(contacts_between(&w, "pusher", "a") > 0 && contacts_between(&w, "pusher", "f") > 0);
    assert_int_equal(perp_contact_islands(w.set, 0.01, island), 4);
    const int expected[11] = {-1, -1, -1, 0, 0, 1, 2, 2, 3, 3, -1};
    for (int b = 0; b < w.model->body_count; b++) {
        assert_int_equal(island[b], expected[b]);
    }
    assert_int_equal(perp_contact_islands(w.set, 0.0005, island), 5); /* a and b are 1 mm apart */
    assert_true(island[3] != island[4]);
    world_close(&w);
}

/* The order of contacts within two bodies does not matter: the nearest of several is what counts. */
static void test_any_contact_joins(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, "contacts: {margin: 1}\n"
                   "bodies:\n"
                   "  a: {mass: 1, shapes: [{sphere: 0.1, pose: {position: [0, 0, 1]}}, {sphere: 0.1}]}\n"
                   "  b: {mass: 1, pose: {position: [0.2, 0, 0]}, shapes: [{sphere: 0.1}]}\n");
    int island[2];
    assert_true(w.set->contacts[0].phi > 0.5 && w.set->contacts[1].phi < 1e-12);
    assert_int_equal(perp_contact_islands(w.set, 1e-9, island), 1);
    assert_int_equal(perp_contact_islands(w.set, -1e-3, island), 2);
    world_close(&w);
}

/* A tendon joins the trees of all its joints, and what they stand on does not matter; its bodies may still touch. */
static void test_tendon(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, "bodies:\n"
                   "  a: {mass: 1, shapes: [{sphere: 0.1}]}\n"
                   "  b: {mass: 1, pose: {position: [0.2, 0, 0]}, shapes: [{sphere: 0.1}]}\n"
                   "  c: {mass: 1, pose: {position: [2, 0, 0]}, shapes: [{sphere: 0.1}]}\n"
                   "  d: {mass: 1, pose: {position: [3, 0, 0]}, shapes: [{sphere: 0.1}]}\n"
                   "joints:\n"
                   "  a: {type: prismatic, parent: world, child: a, axis: [1, 0, 0]}\n"
                   "  b: {type: prismatic, parent: world, child: b, axis: [1, 0, 0]}\n"
                   "  c: {type: prismatic, parent: world, child: c, axis: [1, 0, 0]}\n"
                   "  d: {type: prismatic, parent: world, child: d, axis: [1, 0, 0]}\n"
                   "tendons: {t: {joints: {a: 1, b: 2, d: 3}}}\n");
    int island[4];
    assert_int_equal(perp_contact_islands(w.set, -1.0, island), 2);
    assert_true(island[0] == 0 && island[1] == 0 && island[2] == 1 && island[3] == 0);
    assert_int_equal(contacts_between(&w, "a", "b"), 1);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_islands), cmocka_unit_test(test_tendon),
                                       cmocka_unit_test(test_any_contact_joins)};
    return cmocka_run_group_tests_name("contact islands", tests, NULL, NULL);
}
