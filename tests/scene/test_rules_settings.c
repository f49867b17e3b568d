/* Rules of the settings of a scene: gravity, friction, compliance, run. */
#include "scene_rules.h"

/* ---- gravity, friction, margin ----------------------------------------------------------------------------------- */

RULE(gravity_finite)
{
    s->gravity.x = bad ? NAN : -1e50;
}
RULE(friction_finite)
{
    s->friction = bad ? INFINITY : 1e50;
}
RULE(friction_large)
{
    s->friction = bad ? 1.001e50 : 1e50; /* no number of this world is larger */
}
RULE(gravity_large)
{
    s->gravity.y = bad ? -1.001e50 : -1e50;
}
RULE(friction_sign)
{
    s->friction = bad ? -1e-300 : 0.0;
}
RULE(margin_sign)
{
    s->margin = bad ? -1e-9 : 0.0;
}

/* ---- compliance -------------------------------------------------------------------------------------------------- */

RULE(stiffness_count)
{
    s->compliance.stiffness.count = bad ? 2 : 3;
    s->compliance.stiffness.values[1] = s->compliance.stiffness.values[2] = 1.0;
}
RULE(stiffness_count_planar)
{
    s->compliance.stiffness.count = bad ? 3 : 2;
    s->compliance.stiffness.values[1] = s->compliance.stiffness.values[2] = 1.0;
}
RULE(stiffness_zero)
{
    s->compliance.stiffness.values[0] = bad ? 0.0 : 1e-9;
}
RULE(stiffness_finite)
{
    s->compliance.stiffness.values[0] = bad ? INFINITY : 1e12;
}
RULE(damping_negative)
{
    s->compliance.damping.values[0] = bad ? -1e-9 : 0.0;
}

static void set_matrix(const perp_scene *s, perp_tensor *tensor, double diagonal, double upper, double lower)
{
    const int n = s->planar ? 2 : 3;
    tensor->count = n * n;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            tensor->values[n * i + j] = i == j ? diagonal : 0.0;
        }
    }
    tensor->values[1] = upper;
    tensor->values[n] = lower;
}
RULE(stiffness_symmetric)
{
    set_matrix(s, &s->compliance.stiffness, 2.0, 1.0, bad ? 1.001 : 1.0);
}
RULE(stiffness_definite)
{
    set_matrix(s, &s->compliance.stiffness, 1.0, bad ? 1.0 : 0.999, bad ? 1.0 : 0.999);
}
RULE(damping_definite)
{
    set_matrix(s, &s->compliance.damping, 1.0, bad ? 1.001 : 1.0, bad ? 1.001 : 1.0); /* zero is allowed */
}
RULE(stiffness_matrix_diagonal)
{
    set_matrix(s, &s->compliance.stiffness, bad ? -1.0 : 1.0, 0.0, 0.0);
}
RULE(elements_low)
{
    s->compliance.elements = bad ? 0 : 1;
}
RULE(elements_high)
{
    s->compliance.elements = bad ? 101 : 100;
}
RULE(compliance_size)
{
    s->compliance.size = bad ? -1e-9 : 0.0;
}
RULE(compliance_gamma)
{
    s->compliance.gamma = bad ? -1e-9 : 0.0;
}
RULE(compliance_scale)
{
    s->compliance.stiffness_scale = bad ? 0.0 : 1e-9;
}

/* ---- run --------------------------------------------------------------------------------------------------------- */

RULE(run_h)
{
    s->run.h = bad ? -0.01 : 0.0; /* 0: for the rungs that take no steps */
}
RULE(run_until)
{
    s->run.until = bad ? NAN : 0.0;
}
RULE(run_both)
{
    s->run.steps_set = true;
    s->run.until_set = bad;
}
RULE(run_steps)
{
    s->run.steps_set = true;
    s->run.steps = bad ? -1 : 0;
}
RULE(run_too_many)
{
    s->run.h = bad ? 0.999e-9 : 1.001e-9; /* until is 1 */
}
RULE(run_smoothing)
{
    s->run.smoothing = bad ? -1.0 : 0.0;
}
RULE(run_rays_odd)
{
    s->run.rays = bad ? 5 : 6;
}
RULE(run_rays_low)
{
    s->run.rays = bad ? 2 : 4;
}
RULE(run_rays_high)
{
    s->run.rays = bad ? 1026 : 1024;
}
RULE(run_tolerance)
{
    s->run.tolerance = bad ? 0.0 : 1e-16;
}
RULE(run_substep_tolerance)
{
    s->run.substep_tolerance = bad ? 0.0 : INFINITY;
}
RULE(run_time_scale)
{
    s->run.time_scale = bad ? 0.0 : 1e-9;
}
RULE(run_threads_low)
{
    s->run.threads = bad ? 0 : 1;
}
RULE(run_threads_high)
{
    s->run.threads = bad ? 1025 : 1024;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const rule rules[] = {
    {gravity_finite, BOTH, "gravity", "finite components"},
    {friction_finite, BOTH, "contacts.friction", "finite number"},
    {friction_large, BOTH, "contacts.friction", "at most 1e+50"},
    {gravity_large, BOTH, "gravity", "at most 1e+50"},
    {friction_sign, BOTH, "contacts.friction", "must not be negative"},
    {margin_sign, BOTH, "contacts.margin", "must not be negative"},
    {stiffness_count, SPATIAL, "compliance.stiffness", "3 x 3"},
    {stiffness_count_planar, PLANAR, "compliance.stiffness", "2 x 2"},
    {stiffness_zero, BOTH, "compliance.stiffness", "positive"},
    {stiffness_finite, BOTH, "compliance.stiffness", "finite"},
    {damping_negative, BOTH, "compliance.damping", "not negative"},
    {stiffness_symmetric, BOTH, "compliance.stiffness", "symmetric"},
    {stiffness_definite, BOTH, "compliance.stiffness", "positive definite"},
    {damping_definite, BOTH, "compliance.damping", "positive semidefinite"},
    {stiffness_matrix_diagonal, BOTH, "compliance.stiffness", "positive"},
    {elements_low, BOTH, "compliance.elements", "between 1 and 100"},
    {elements_high, BOTH, "compliance.elements", "between 1 and 100"},
    {compliance_size, BOTH, "compliance.size", "must not be negative"},
    {compliance_gamma, BOTH, "compliance.gamma", "must not be negative"},
    {compliance_scale, BOTH, "compliance.stiffness_scale", "must be positive"},
    {run_h, BOTH, "run.h", "must not be negative"},
    {run_until, BOTH, "run.until", "finite number"},
    {run_both, BOTH, "run.steps", "not both"},
    {run_steps, BOTH, "run.steps", "between 0 and 1e9"},
    {run_too_many, BOTH, "run.until", "at most 1e9"},
    {run_smoothing, BOTH, "run.smoothing", "must not be negative"},
    {run_rays_odd, BOTH, "run.rays", "even number"},
    {run_rays_low, BOTH, "run.rays", "even number"},
    {run_rays_high, BOTH, "run.rays", "even number"},
    {run_tolerance, BOTH, "run.tolerance", "must be positive"},
    {run_substep_tolerance, BOTH, "run.substep_tolerance", "must be positive"},
    {run_time_scale, BOTH, "run.time_scale", "must be positive"},
    {run_threads_low, BOTH, "run.threads", "between 1 and 1024"},
    {run_threads_high, BOTH, "run.threads", "between 1 and 1024"},
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
