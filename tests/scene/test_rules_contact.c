/* Rules of contact pairs and exclusions. */
#include "scene_rules.h"

RULE(pair_unknown)
{
    add_two(s);
    add_pair(s, pair_of("cup", bad ? "pan" : "pot"));
}
RULE(pair_world)
{
    add_two(s);
    add_pair(s, pair_of(bad ? "world" : "cup", "pot"));
}
RULE(pair_missing)
{
    add_two(s);
    add_pair(s, pair_of("cup", bad ? NULL : "pot"));
}
RULE(pair_same)
{
    add_two(s);
    add_pair(s, pair_of("cup", bad ? "cup" : "pot"));
}
RULE(pair_twice)
{
    add_two(s);
    add_body(s, fixed_body("ground"));
    add_pair(s, pair_of("cup", "pot"));
    add_pair(s, pair_of("pot", bad ? "cup" : "ground"));
}
RULE(pair_friction)
{
    add_two(s);
    perp_pair pair = pair_of("cup", "pot");
    pair.friction = perp_set(bad ? -0.1 : 0.0);
    add_pair(s, pair);
}
RULE(pair_directions)
{
    add_two(s);
    perp_pair pair = pair_of("cup", "pot");
    pair.direction_count = 2;
    pair.directions[0] = perp_vec3_make(1, 0, 0);
    pair.directions[1] = perp_vec3_make(0, bad ? 0 : 1e-9, 0);
    add_pair(s, pair);
}
RULE(pair_direction_count)
{
    add_two(s);
    perp_pair pair = pair_of("cup", "pot");
    pair.directions[0] = pair.directions[1] = perp_vec3_make(1, 0, 0);
    pair.direction_count = bad ? 3 : 2;
    add_pair(s, pair);
}
RULE(pair_tangent)
{
    add_two(s);
    perp_pair pair = pair_of("cup", "pot");
    pair.tangent_set = true;
    pair.tangent.x = bad ? 0 : 1e9;
    add_pair(s, pair);
}
RULE(pair_restitution)
{
    add_two(s);
    perp_pair pair = pair_of("cup", "pot");
    pair.restitution = bad ? 1.0001 : 1.0;
    add_pair(s, pair);
}
RULE(pair_restitution_nan)
{
    add_two(s);
    perp_pair pair = pair_of("cup", "pot");
    pair.restitution = bad ? NAN : 0.0;
    add_pair(s, pair);
}
RULE(pair_compliance)
{
    add_two(s);
    perp_pair pair = pair_of("cup", "pot");
    pair.compliance_set = true;
    pair.compliance.set = PERP_COMPLIANCE_SCALE; /* the rest comes from the scene */
    pair.compliance.stiffness_scale = bad ? 0.0 : 1e-9;
    add_pair(s, pair);
}
RULE(exclude_unknown)
{
    add_two(s);
    assert_int_equal(perp_scene_add_exclusion(s, "cup", "pot", NULL), PERP_STATUS_OK);
    assert_int_equal(perp_scene_add_exclusion(s, "cup", bad ? "pan" : "pot", NULL), PERP_STATUS_OK);
}
RULE(exclude_same)
{
    add_two(s);
    assert_int_equal(perp_scene_add_exclusion(s, bad ? "pot" : "cup", "pot", NULL), PERP_STATUS_OK);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const rule rules[] = {
    {pair_unknown, BOTH, "contacts.pairs.cup pan", "no body `pan`"},
    {pair_world, BOTH, "contacts.pairs.world pot", "not the world"},
    {pair_missing, BOTH, "contacts.pairs.cup ", "must name a body"},
    {pair_same, BOTH, "contacts.pairs.cup cup", "same body twice"},
    {pair_twice, BOTH, "contacts.pairs.pot cup", "given before as `cup pot`"},
    {pair_friction, BOTH, "contacts.pairs.cup pot.friction", "must not be negative"},
    {pair_directions, BOTH, "contacts.pairs.cup pot.friction_directions.1", "zero vector"},
    {pair_direction_count, BOTH, "contacts.pairs.cup pot.friction_directions", "one or two"},
    {pair_tangent, BOTH, "contacts.pairs.cup pot.tangent", "zero vector"},
    {pair_restitution, BOTH, "contacts.pairs.cup pot.restitution", "between 0 and 1"},
    {pair_restitution_nan, BOTH, "contacts.pairs.cup pot.restitution", "between 0 and 1"},
    {pair_compliance, BOTH, "contacts.pairs.cup pot.compliance.stiffness_scale", "must be positive"},
    {exclude_unknown, BOTH, "contacts.exclude.1", "no body `pan`"},
    {exclude_same, BOTH, "contacts.exclude.0", "same body twice"},
};

static void test_every_rule(void **state)
{
    (void)state;
    assert_int_equal(broken_rules(rules, COUNT(rules)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
