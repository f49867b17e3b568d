/* Friction problems with inertia of bench/friction_generator.h, each with the proof that it has a solution, one to 600
 * contacts. */
#include "friction_run.h"

#include "friction_generator.h"

static const friction_series series = {"friction", friction_generator_make};

static void run(uint64_t seed, int index, sweep_case *result)
{
    friction_run_case(&series, seed, index, result);
}

static void show(uint64_t seed, int index)
{
    friction_run_show(&series, seed, index);
}

const sweep the_sweep = {
    .name = "friction",
    .checks = "Coulomb friction with inertia, 1 .. 600 contacts, mu 0 .. 2, mass ratios to 1e6: every one is proven to "
              "have a solution and is solved to 1e-8 (judged in long double), none falsely",
    .full = 10000,
    .sample = 18,
    .chunk = 100,
    .kinds = {"solved by the first method", "solved by a fallback", "to 1e-6 only", "not solved"},
    .run = run,
    .show = show,
};
