/* Friction problems without inertia of bench/friction_generator.h: A is zero or the stiffness of what is driven; each
 * is made from a solution. */
#include "friction_run.h"

#include "friction_generator.h"

static const friction_series series = {"friction_quasistatic", friction_generator_make_quasistatic};

static void run(uint64_t seed, int index, sweep_case *result)
{
    friction_run_case(&series, seed, index, result);
}

static void show(uint64_t seed, int index)
{
    friction_run_show(&series, seed, index);
}

const sweep the_sweep = {
    .name = "friction_quasistatic",
    .checks = "Coulomb friction without inertia (A zero, or the stiffness of what is driven), 1 .. 600 contacts: every "
              "one is made from a solution and is solved to 1e-8 (judged in long double), none falsely",
    .full = 2000,
    .sample = 110,
    .chunk = 100,
    .kinds = {"solved by the first method", "solved by a fallback", "to 1e-6 only", "not solved"},
    .run = run,
    .show = show,
};
