/* sweep.h - a numbered family of cases that is too large for every test run.
 *
 * A file sweep_<name>.c defines `the_sweep`; sweep.c brings main():
 *
 *   sweep_<name> --describe                              what it is, as one JSON object
 *   sweep_<name> --sample [--seed S]                     its first `sample` cases: what ctest runs
 *   sweep_<name> --seed S --first I --count N            cases I .. I+N-1: what tools/qualify.py runs, chunk by chunk
 *   sweep_<name> --seed S --show I                       the input of case I, where the sweep can print it
 *
 * --views N, of sweeps that judge_views.h judges too: in how many views of a scene (0: it does not).
 *
 * Each but the last prints one JSON line and exits 0 if no case failed, 1 if one did. A case depends on (seed, index)
 * alone, so that any failure is run again by its number.
 */
#ifndef PERP_TESTS_QUALIFY_SWEEP_H
#define PERP_TESTS_QUALIFY_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

enum { SWEEP_REASON = 400 };

/* What a case reports besides passing. `reason` is filled by sweep_fail. */
typedef struct sweep_case {
    bool failed;
    bool missed; /* failed, but only in that no answer was found, or that it was one of several: sweep_miss */
    char reason[SWEEP_REASON];
    int kind; /* which of the sweep's kinds this case turned out to be; counted in the output */
} sweep_case;

enum { SWEEP_KINDS = 8 };

typedef struct sweep {
    const char *name;
    const char *checks; /* one sentence: what holds in every case */
    int full, sample, chunk;
    const char *kinds[SWEEP_KINDS]; /* names, NULL-terminated when fewer */
    void (*run)(uint64_t seed, int index, sweep_case *result);
    void (*show)(uint64_t seed, int index); /* prints the case's input; may be NULL */
    /* Cases of seed 1 that are known to miss, ended by -1; NULL: none. --sample runs them too: that they miss is not
     * counted there (docs/qualification.md lists them as unmet), that one no longer does is. */
    const int *open;
    int views; /* of a scene, unless --views says otherwise; 0: judge_views.h has no part in it */
} sweep;

extern const sweep the_sweep;
extern int sweep_views; /* as asked for */

/* Marks the case as failed; the first reason is kept. */
void sweep_fail(sweep_case *result, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a case that was not answered, or whose answer was chosen by chance; a wrong answer is never one. */
void sweep_miss(sweep_case *result, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A generator of random numbers for one case, independent of its neighbours'. */
uint64_t sweep_mix(uint64_t seed, int index);

#endif
