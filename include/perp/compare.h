/* perp/compare.h - several rungs and steps on one scene: where they part, by how much, and which assumption is why.
 *
 *     const char *models[] = {"qs-impedance-lcp", "qs-qp"};
 *     perp_compare_options options = perp_compare_options_default();
 *     options.models = models;
 *     options.model_count = 2;
 *     perp_compare(scene, &options, &comparison, &error);
 *     puts(comparison->differences[0].cause);
 *     perp_comparison_free(comparison);
 *
 * Every pair of runs is compared at the times of the one with the longer step, up to the end of the shorter run. Of the
 * finer one states are interpolated on a line between two of its steps (rotations are kept of length 1), and what
 * belongs to a step, forces and modes, is that of the step that the time lies in.
 *
 * The cause is found by test. An assumption in which the two runs differ is removed from the run that makes it: cones
 * of rays get eight times as many, masses a ten thousandth of their inertia, contacts a hundred times their stiffness;
 * and the pair is run again. What is left of the difference then is measured and said. An assumption explains a
 * difference that loses three quarters or more with it. docs/compare.md has all tests. */
#ifndef PERP_COMPARE_H
#define PERP_COMPARE_H

#include <perp/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum perp_assumption {
    PERP_ASSUMPTION_NONE,    /* the runs agree */
    PERP_ASSUMPTION_UNKNOWN, /* no test that was made explains the difference */
    PERP_ASSUMPTION_SEVERAL, /* only several together do */
    PERP_ASSUMPTION_CHOICE,  /* a step has several answers, and the runs took different ones */
    PERP_ASSUMPTION_LAYER,   /* convex friction, which carries force at a gap of mu h |v| */
    PERP_ASSUMPTION_CONE,    /* pyramid, box or round cone */
    PERP_ASSUMPTION_INERTIA,
    PERP_ASSUMPTION_COMPLIANCE,
    PERP_ASSUMPTION_IMPEDANCE, /* springs of joints taken for position control */
    PERP_ASSUMPTION_SMOOTHING, /* of friction: `smoothing`, `gamma` */
    PERP_ASSUMPTION_STEP,      /* discretisation */
    PERP_ASSUMPTION_COUNT
} perp_assumption;

/* "none", "unknown", "choice", "boundary-layer", "cone", ..; a string constant. */
PERP_API const char *perp_assumption_name(perp_assumption assumption);

/* PERP_COMPARE_MOST_RUNS: models times steps. */
enum { PERP_COMPARE_MOST_RUNS = 36, PERP_COMPARE_MOST_STEPS = 2000000 };

typedef struct perp_compare_options {
    size_t size;                     /* of this struct; see perp/base.h */
    const perp_allocator *allocator; /* NULL: malloc */
    int model_count;                 /* 0: the scene's own alone */
    const char *const *models;
    int h_count; /* s; 0: the scene's own alone */
    const double *h;
    /* What is compared: names as in perp/plan.h, of states, contacts and energies; 0: the positions of all bodies and
     * joints, by number in m and rad. */
    int quantity_count;
    const char *const *quantities;
    int workers;                 /* threads, at least 1; the result is the same for any number */
    int tests;                   /* runs in search of causes, at most, of all pairs together; 0: none */
    const volatile bool *cancel; /* NULL: never */
    void (*progress)(void *context, int done, int runs); /* after every run, by one thread at a time; NULL: nobody */
    void *context;
} perp_compare_options;

/* Two threads, 100 tests. */
static inline perp_compare_options perp_compare_options_default(void)
{
    perp_compare_options r;
    memset(&r, 0, sizeof r);
    r.size = sizeof r;
    r.workers = 2;
    r.tests = 100;
    return r;
}

typedef struct perp_compared_run {
    const perp_model *model; /* its scene has the run's settings: perp_run of it gives the same bits again */
    const perp_rung *rung;
    double h;
    perp_cone cone; /* in effect */
    int rays;
    /* OK, or what stopped it, and why; it is compared up to there. */
    perp_status status;
    perp_error error;
    perp_state state; /* the last */
    perp_run_result result;
    int row_count;        /* states that it came through: the initial one, and one after every step */
    const double *values; /* row_count rows of the comparison's quantities; NaN: not defined */
} perp_compared_run;

typedef struct perp_compare_test {
    perp_assumption assumption;
    const char *removed; /* what was changed, in words */
    perp_status status;  /* of the runs; UNAVAILABLE: they did not come to where the difference is largest */
    double largest;      /* difference with it, of all quantities */
    double left;         /* that over the difference without it */
} perp_compare_test;

typedef struct perp_difference {
    int a, b;             /* runs, a < b */
    double until;         /* s: the last time that both have */
    double largest;       /* of all quantities and times, of the values as numbers */
    const char *quantity; /* NULL: there is no difference at all */
    double t;             /* where it is largest first */
    bool parted;          /* the modes of a contact differ at some time: the first, and of contacts then the first */
    double first_t;
    char first_contact[384];    /* "a b feature", as events have it */
    perp_contact_mode modes[2]; /* in a and b */
    perp_assumption assumption;
    const char *cause;   /* in words, with what was measured */
    const char *summary; /* the same without what had no part in it */
    /* The step in which they part, ending at choice_t, was solved again: how the motion of one is by the other's law.
     */
    bool choice_known;
    double choice_t;
    perp_second_motion choice;
    int test_count;
    const perp_compare_test *tests;
} perp_difference;

typedef struct perp_comparison {
    const perp_scene *scene;
    int quantity_count;
    const char *const *quantities;
    int run_count; /* all steps of the first model, of the second, .. */
    perp_compared_run *runs;
    int difference_count; /* of pairs (0, 1), (0, 2), .. (1, 2), .. */
    const perp_difference *differences;
    int test_runs; /* that were made in search of causes */
    struct perp_comparison_memory *memory;
} perp_comparison;

/* Runs the scene, which is borrowed until the comparison is freed, as its settings say: from the same state, for the
 * same time (where they give a number of steps: of the longest step). `cone`, `smoothing` and `time_scale` act on rungs
 * that take them. A run that stops is a row with its status. BAD_INPUT: a model or quantity that there is not, or that
 * takes no steps, a step that is not positive, fewer than two runs, or more than PERP_COMPARE_MOST_RUNS; CANCELLED;
 * OUT_OF_MEMORY; CAPACITY: a run of more than PERP_COMPARE_MOST_STEPS steps. */
PERP_API perp_status perp_compare(const perp_scene *scene, const perp_compare_options *options,
                                  perp_comparison **comparison, perp_error *error);
PERP_API void perp_comparison_free(perp_comparison *comparison); /* NULL allowed */

/* Quantity `index` of a run at a time, as differences are made of; NaN where the run has none. */
PERP_API double perp_compared_value(const perp_comparison *comparison, int run, int index, double t);

/* As one JSON object, zero-terminated text (perp_text_free); `comparison` NULL: `failure` says why there is none. NULL
 * if out of memory. */
PERP_API char *perp_comparison_json(const perp_comparison *comparison, const perp_error *failure);

#ifdef __cplusplus
}
#endif
#endif
