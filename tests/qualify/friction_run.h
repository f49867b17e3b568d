/* friction_run.h - what the sweeps over friction problems share: a case is solved by its contacts from a cold start,
 * then by turns from a warm start near its solution, or in its forces alone (W, q), and judged by friction_judge.h; or
 * the judge itself is compared with the library's residual. */
#ifndef PERP_TESTS_QUALIFY_FRICTION_RUN_H
#define PERP_TESTS_QUALIFY_FRICTION_RUN_H

#include "friction_case.h"
#include "sweep.h"

#define FRICTION_TOLERANCE 1e-8

typedef struct friction_series {
    const char *name; /* of the sweep */
    void (*make)(friction_case *c, uint64_t seed, int index);
} friction_series;

/* The kinds of a case, in the order of the sweep's. */
enum { FRICTION_SOLVED, FRICTION_SOLVED_BY_FALLBACK, FRICTION_SOLVED_ROUGHLY, FRICTION_NOT_SOLVED };

/* A case that fails is left in PERP_FAILURES_DIR: as a problem file for `perp solve` where it has a local form. */
void friction_run_case(const friction_series *series, uint64_t seed, int index, sweep_case *result);
void friction_run_show(const friction_series *series, uint64_t seed, int index);

#endif
