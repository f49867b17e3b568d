/* perp/analysis.h - what a result means: why a contact holds, slips or is open, and what would change that.
 *
 * An explanation answers for one contact of one step: its mode; how much of its friction is used; and the smallest
 * change found that would have flipped its mode in that step. Such a number is not estimated from the forces: the step
 * is solved again on the same rung, from the same state, memory and commands, with the change in the scene, and the
 * amount is closed in on until two amounts next to each other lie on either side of the flip. Three changes are tried:
 *
 *   friction   another mu between the two bodies, as `contacts.pairs."a b".friction` sets it (all points of the pair).
 *   squeeze    a pair of forces more that presses the bodies together along the normal during this step: -X n on b at
 *              its witness, X n on a at its own, both where the step began. Of a body that cannot move, or whose motion
 *              is prescribed, its half has no effect; the other half presses on.
 *   sideways   a pair of forces more in the tangent plane, at the same places: X d on b and -X d on a, with d along the
 *              load that friction holds (against `ft`), or along t where it holds none.
 *
 * Both forces of a pair are what `forces` of a scene says, with a drive that is 0 up to the step's begin. So a flip is
 * true by construction in the sense that editing the scene by that amount and running it to this step flips the mode,
 * where the edit leaves the state at the step's begin as it was: always for the pairs of forces; for friction where no
 * step before flips too, else in a run that starts from there.
 *
 * Of a rung that answers about an instant the answer is sought again in place of the step; flips are between rest
 * inside the cone and rest on its edge, from where a contact may begin to slip (velocities, `instant-qs`: between rest
 * and sliding), and only where there is one answer. What slides at the instant does so whatever the forces are.
 *
 * What is not promised: that there is no flip at a smaller amount (modes need not be monotone in it; amounts are tried
 * in growing order and then halved), nor that a motion is unique (the answer is that of the rung, as in the run).
 *
 * Cost: a flip takes about 10 to 15 steps, at most `solves_per_flip`; memory is taken and given back by every one. No
 * clock is asked: equal runs give equal words. */
#ifndef PERP_ANALYSIS_H
#define PERP_ANALYSIS_H

#include <perp/step.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum perp_flip_kind {
    PERP_FLIP_FRICTION, /* amounts are mu */
    PERP_FLIP_SQUEEZE,  /* N more */
    PERP_FLIP_SIDEWAYS, /* N more */
    PERP_FLIP_KINDS
} perp_flip_kind;

/* What becomes of the contact in the changed step. */
typedef enum perp_contact_fate {
    PERP_FATE_HOLDS, /* mode stick or limit */
    PERP_FATE_SLIDES,
    PERP_FATE_OPENS,
    PERP_FATE_NO_ANSWER, /* the step has none: its status is INFEASIBLE, nothing balances the forces */
    PERP_FATE_UNSOLVED   /* the step's solver found none, which says nothing; never the fate of a flip */
} perp_contact_fate;

typedef enum perp_flip_search {
    /* The mode has no such flip, the budget was used up, the solver failed around the flip, or there is no clear one: a
     * step with several answers may pick now this, now that from one amount to the next. */
    PERP_FLIP_UNKNOWN,
    PERP_FLIP_FOUND,
    PERP_FLIP_NONE /* not up to `after`, which was tried */
} perp_flip_search;

typedef struct perp_flip {
    perp_flip_search search;
    /* FOUND: the step was tried at both amounts; at `before` the contact holds, or does not, as in the run, at `after`
     * it meets `fate`. They differ by at most 1e-7 of the change, plus 1e-9 of mu (or fn), and 1e-6 and 3e-5 of these
     * farther out on either side it holds, or does not, as there; a step that is not solved does not hold it. */
    double before, after;
    perp_contact_fate fate;
} perp_flip;

enum { PERP_HELD_BY_MOST = 3 };

typedef struct perp_explanation {
    perp_contact_mode mode;
    int a, b;           /* bodies */
    double mu, fn;      /* -, N */
    double used, limit; /* N: friction as perp_friction_used and perp_friction_limit have it */
    bool instant;       /* of accelerations at one state: mode `limit` is then at rest and on the edge of its cone */
    int elements;       /* of its patch, on the rung `compliant`; else 0 */
    int slipping;       /* of those that carry force; the contact slides where any does */
    double slip;        /* m/s */
    perp_flip flips[PERP_FLIP_KINDS];
    perp_vec3 at_a, at_b; /* m, frames of the bodies: where the pairs of forces act; mode open: zero */
    perp_vec3 along;      /* unit, world: of the sideways force on b */
    double gap;           /* m, at the step's end */
    /* Of a contact that would hold with no friction between a and b, or next to none: what else holds it then. Bodies
     * whose contacts with a or b push along the tangent plane, PERP_HELD_BY_MOST of them listed; and whether joints or
     * loops tie what can move of a and b. Neither: nothing pushes it sideways. */
    int held_by_count, held_by[PERP_HELD_BY_MOST];
    bool held_by_joints;
    double closing; /* m/s: how fast the gap shrinks at the step's end (< 0: grows); mode open only */
} perp_explanation;

typedef struct perp_explain_options {
    size_t size;                     /* of this struct; see perp/base.h */
    const perp_allocator *allocator; /* NULL: malloc */
    int solves_per_flip;             /* at most; what is not found by then is not said */
    double work;                     /* see perp_explainer_allow */
} perp_explain_options;

/* malloc, 60 solves a flip, no end of work. */
static inline perp_explain_options perp_explain_options_default(void)
{
    perp_explain_options r;
    memset(&r, 0, sizeof r);
    r.size = sizeof r;
    r.solves_per_flip = 60;
    r.work = INFINITY;
    return r;
}

/* Follows a run and keeps, of its last two states, what solving the step between them again takes. */
typedef struct perp_explainer perp_explainer;

/* Model, the settings' texts and their `cancel` are borrowed; where that is set no flip is sought any more. BAD_INPUT
 * where the settings do not fit their rung; OUT_OF_MEMORY. */
PERP_API perp_status perp_explainer_create(const perp_model *model, const perp_run_settings *settings,
                                           const perp_explain_options *options, perp_explainer **explainer,
                                           perp_error *error);
PERP_API void perp_explainer_free(perp_explainer *explainer); /* NULL allowed */
/* From now on flips are sought until so much work is used up; what is begun then is dropped. A step with n contacts and
 * elements of patches is (10 + its solvers' iterations) (1 + n) of it, which is about its time in microseconds; an
 * answer about an instant with n contacts is 20 n (1 + n / 50), 20 times that where several are looked for, and 30
 * times that where there is none. */
PERP_API void perp_explainer_allow(perp_explainer *explainer, double work);
/* What is left of it. */
PERP_API double perp_explainer_work(const perp_explainer *explainer);
/* A perp_observer, whose context is the explainer. In steady state takes no memory; false where it found none. */
PERP_API bool perp_explainer_observe(void *explainer, int step, const perp_state *state, const perp_step_info *info);
/* For a run that goes on: the state that it goes on from. False: out of memory. */
PERP_API bool perp_explainer_resume(perp_explainer *explainer, const perp_run_start *start, const perp_state *state);

/* Explains a contact of the last step that was observed; `record` is one of its step info or of the run's result.
 * OUT_OF_MEMORY; BAD_INPUT where no step (of a rung that answers about an instant: its initial state) has been
 * observed. */
PERP_API perp_status perp_explain(perp_explainer *explainer, const perp_contact_record *record,
                                  perp_explanation *explanation, perp_error *error);

/* The explanation in plain words, cut to `size` (zero-terminated); amounts have four figures. For example: "sliding at
 * 0.133 m/s: 5 N of 5 N used; would hold if squeezed 4 N more, or with friction of at least 0.7 between a and b". */
PERP_API void perp_explanation_text(const perp_model *model, const perp_explanation *explanation, char *text,
                                    size_t size);
/* The amounts behind the words, as a note on the contact; `text` (borrowed) is its sentence. */
PERP_API perp_contact_note perp_explanation_note(const perp_explanation *explanation, bool planar, const char *text);

#ifdef __cplusplus
}
#endif
#endif
