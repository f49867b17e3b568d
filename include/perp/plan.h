/* perp/plan.h - questions about many runs: names for what a run gives, expressions of them, and sweeps over parameters.
 *
 * Names. A *path* is a scalar of the scene as in `--set` (contacts.friction), which the scene must say. An *output* is
 *
 *   ball.x, v:ball.theta, lift   a column of state.csv
 *   contact.A B.fn  .ft          the sum over the contacts between A and B of the normal force and of |friction|, N
 *   contact.A B.phi  .slip       the smallest gap, m, and the largest slip, m/s, of those that are listed
 *   energy.kinetic  .potential   J; potential is that of gravity, 0 at the world's origin, and of the springs of joints
 *   residual.NAME                as in the result of a run: the largest of its steps
 *   status                       1 where the run ended as asked, else 0
 *   analyze.PATH                 a value of perp_analysis_json (analyze.rigidity.verdict), of the state at the start
 *
 * taken at the end of the run; `@t=S` and `@step=N` take the state at that time (the last step that ends then or
 * before) or after that step, `@max`, `@min` and `@mean` are over all states in which the value is defined. `status`
 * has none of these, and analyses have the first two.
 *
 * Expressions: + - * / ^ (^ binds most, from the right: -2^2 = -4, 2^3^2 = 512), parentheses, numbers, pi, and abs,
 * min, max, sqrt, exp, log, sin, cos, tan, atan2, hypot. Spaces may stand anywhere but inside a number, and within a
 * name only between bodies. Where a name of the scene has characters of operators, the longest name that there is
 * counts.
 *
 * Values are numbers, truth values and words. A single name has the value of what it names; in arithmetic true is 1,
 * false 0, and a word is an error. What is not a finite number is undefined: no NaN and no infinity ever leaves.
 */
#ifndef PERP_PLAN_H
#define PERP_PLAN_H

#include <perp/analysis.h>
#include <perp/scene_yaml.h>

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum perp_value_kind {
    PERP_VALUE_UNDEFINED,
    PERP_VALUE_NUMBER,
    PERP_VALUE_TRUTH, /* `number` is 1 or 0 */
    PERP_VALUE_WORD
} perp_value_kind;

typedef struct perp_value {
    perp_value_kind kind;
    double number;
    char word[64]; /* cut */
} perp_value;

/* Expressions of what the runs of one model give. */
typedef struct perp_quantities perp_quantities;

enum { PERP_EXPRESSION_MOST = 1000, PERP_EXPRESSION_NESTING = 64 }; /* bytes of one; parentheses within each other */

/* The model and its scene are borrowed. `allocator` NULL: malloc. */
PERP_API perp_status perp_quantities_create(const perp_model *model, const perp_allocator *allocator,
                                            perp_quantities **quantities, perp_error *error);
PERP_API void perp_quantities_free(perp_quantities *quantities); /* NULL allowed */
/* A further name that expressions may have from now on. The name is copied. OUT_OF_MEMORY. */
PERP_API perp_status perp_quantities_constant(perp_quantities *quantities, const char *name, double value,
                                              perp_error *error);
/* Adds an expression and says its index. BAD_INPUT: error.column is the byte of the text, from 1, where it is wrong,
 * and the message has the nearest name that there is. */
PERP_API perp_status perp_quantities_add(perp_quantities *quantities, const char *expression, int *index,
                                         perp_error *error);
/* Runs the model with the settings of its scene, and analyses its states, as far as the expressions ask for it. A run
 * without an end or an analysis that fails leaves what it would have given undefined, and its reason in `failure`
 * (status OK: none). Fails with OUT_OF_MEMORY and CANCELLED (by settings->cancel of the scene). Thread-safe on models
 * of one's own. */
PERP_API perp_status perp_quantities_measure(perp_quantities *quantities, perp_error *failure, perp_error *error);
/* Of the last perp_quantities_measure, or of a run that was observed. */
PERP_API perp_value perp_quantities_value(const perp_quantities *quantities, int index);

/* For runs of one's own, on the same scene: begin, the observer, end with the run's status and result. Analyses are
 * then undefined. */
PERP_API void perp_quantities_begin(perp_quantities *quantities);
PERP_API bool perp_quantities_observe(void *quantities, int step, const perp_state *state, const perp_step_info *info);
PERP_API void perp_quantities_end(perp_quantities *quantities, perp_status status, const perp_run_result *result);

/* ---- sweeps -------------------------------------------------------------------------------------------------------
 *
 *     perp-sweep: 1
 *     scene: FILE                                   relative to this file
 *     set: {PATH: VALUE, ..}                        of every case
 *     axes: {NAME: {path: PATH, from: 0, to: 1, count: 41}, NAME: {path: [PATH, PATH], values: [a, b, ..]}}
 *     sample: {count: 1000, seed: 1, paths: {PATH: [lo, hi]}}
 *     derive: {PATH: EXPRESSION, ..}                of the names of axes and of sampled paths
 *     outputs: {NAME: EXPRESSION, ..}
 *     refine: {outputs: [NAME, ..], levels: 3, tolerance: 1.0e-8}
 *
 * Cases are the grid of all axes, the first one slowest, and within each of its points `count` samples. An axis without
 * `path` is there for `derive` and for outputs. Settings are applied in the order set, axes, samples, derive, each as
 * `--set` does. Samples are uniform in [lo, hi): number k of all is the k-th of perp_random from `seed` on, so that
 * case c does not depend on others.
 *
 * With `refine` cases follow beside the grid of the last two axes, for each value of the others: where a named output
 * differs along the sides of a cell, the cell is halved both ways, `levels` times; then each change along an edge of
 * the finest cells is halved until it is within `tolerance` of its axis' range, and a pair of cases follows, one before
 * the change and one behind it. The column `refined`, before `error`, is empty for the grid, else the level, or for a
 * pair the name of the output that changes.
 *
 * A row of the result has the case, from 0, the axes' and sampled values, the outputs and `error`: empty, the code of
 * what stopped the case's run, or "undefined" where an output has no value; its cell is then empty. The rows depend on
 * the files alone, not on the number of workers. */
typedef struct perp_sweep perp_sweep;

enum { PERP_SWEEP_MOST_CASES = 100000000, PERP_SWEEP_MOST_LEVELS = 12 };

/* Reads a sweep and its scene, and checks all that can be checked of the first case without running it. On OK `*sweep`
 * is the caller's; otherwise it is NULL and `diagnostics` says why (BAD_INPUT, OUT_OF_MEMORY). */
PERP_API perp_status perp_sweep_load_file(const char *path, const perp_allocator *allocator, perp_sweep **sweep,
                                          perp_diagnostics *diagnostics);
/* The same from memory; `name` stands for the file in messages, the scene is looked for in `folder` (NULL: there is
 * none, and `scene` is refused). */
PERP_API perp_status perp_sweep_load_text(const char *text, size_t length, const char *name, const char *folder,
                                          const perp_allocator *allocator, perp_sweep **sweep,
                                          perp_diagnostics *diagnostics);
PERP_API void perp_sweep_free(perp_sweep *sweep); /* NULL allowed */
/* Of grid and samples: what `refine` adds is known when these are done. */
PERP_API int perp_sweep_cases(const perp_sweep *sweep);

typedef struct perp_sweep_options {
    size_t size;                 /* of this struct; see perp/base.h */
    int workers;                 /* threads, at least 1 */
    bool resume;                 /* go on where an interrupted sweep to the same file stopped */
    const volatile bool *cancel; /* NULL: never */
    /* After every case, by one thread at a time, with the cases that are known so far; NULL: nobody. */
    void (*progress)(void *context, int done, int cases);
    void *context;
} perp_sweep_options;

/* One worker, from the beginning. */
static inline perp_sweep_options perp_sweep_options_default(void)
{
    perp_sweep_options r;
    memset(&r, 0, sizeof r);
    r.size = sizeof r;
    r.workers = 1;
    return r;
}

typedef struct perp_sweep_result {
    int cases, done; /* of the whole sweep */
    int resumed;     /* of these, found done */
    int errors;      /* of these, with an error */
} perp_sweep_result;

/* Computes all cases and writes PATH, a CSV file, which appears when it is whole. Until then what is finished stands in
 * PATH.part, row by row, and survives whatever ends the program; only a sweep that is whole, or its successor, removes
 * it. With `resume` rows of PATH.part are kept, if it is of this sweep (files, version and build of the library); a
 * PATH that is whole is left as it is, but computed anew with `refine`. BAD_INPUT: PATH.part or PATH is of another
 * sweep, or an output asks for what no analysis has; CANCELLED; IO; OUT_OF_MEMORY. */
PERP_API perp_status perp_sweep_run(const perp_sweep *sweep, const char *path, const perp_sweep_options *options,
                                    perp_sweep_result *result, perp_error *error);

#ifdef __cplusplus
}
#endif
#endif
