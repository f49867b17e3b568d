/* perp/analysis.h - what a result means: why a contact holds, slips or is open, and what would change that; and
 * certificates: does the next step have an answer, is it the only one, is the rigid model valid there.
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

#include <perp/sim.h>

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

/* ---- certificates ------------------------------------------------------------------------------------------------
 *
 * What can be proved of a state: of the next step of a simulation from there or, on rungs that answer about an instant,
 * of that instant. Every verdict (perp_verdict) is a proof or `unknown`; what decides is said in `reasons`. */

typedef enum perp_answer { PERP_ANSWER_UNKNOWN, PERP_ANSWER_NO, PERP_ANSWER_YES } perp_answer;

/* EXISTS, NONE or UNKNOWN. */
typedef struct perp_existence {
    perp_verdict verdict;
    int solutions; /* that differ in motion; -1: not counted */
    bool complete; /* there are no others */
} perp_existence;

/* N, of one contact of the analysis: the least and the largest component of any force that supports the same motion;
 * -INFINITY, INFINITY: no bound. */
typedef struct perp_force_range {
    int contact;
    double fn[2], ft[2][2]; /* ft[k]: along t (k = 0) and o; planar: t only */
} perp_force_range;

/* UNIQUE, UNIQUE_AT_THESE_NORMAL_FORCES, NOT_UNIQUE, BORDERLINE or UNKNOWN. */
typedef struct perp_uniqueness {
    perp_verdict verdict;
    double margin;        /* how far the data is from the other verdict, 0 .. 1; 0 where it is not known */
    perp_verdict printed; /* what Proposition 1 as it is printed says; UNKNOWN: it does not speak of such a problem */
    const double *motion; /* nv, of NOT_UNIQUE: a velocity that can be added and leads to another answer, the largest
                             entry of its displacement in a step is 1; else NULL */
    bool motion_both_ways;
    /* The answer that this was verified with: the reported velocities plus motion_length times the motion. */
    double motion_length;
    double second_residual;           /* what it is off the step's law, of F and L; at most 1e-8 */
    const double (*second_forces)[3]; /* by contact of the analysis, N: its fn, ft; NULL where there is none */
    int force_count;
    const perp_force_range *forces;
} perp_uniqueness;

/* VALID, INVALID, BORDERLINE, UNKNOWN or NO_CONTACT: Dupont and Yamajako's test. */
typedef struct perp_rigidity {
    perp_verdict verdict;
    int count;
    const int *contacts;       /* count, of the analysis: those that D speaks of */
    const double *D;           /* count x count: derivative of normal accelerations by normal forces, 1/kg */
    const double *eigenvalues; /* count pairs (re, im); NULL with verdicts_only */
    perp_answer p_matrix, stable;
    bool has_kappa, has_kappa_min; /* the scene has compliance; some damping stabilises */
    double kappa, kappa_min;       /* c^2 / k, kg: of the scene; the smallest that stabilises, 0: any will do */
} perp_rigidity;

/* How its contacts hold one body that they can move, all other bodies taken as fixed.
 *
 * Contacts count as they are at the state, by their friction cones and not by their forces, where their gap is no more
 * than 1e-5 of the body's size (the radius of its bounding sphere). Motions are those that the body's joints and locked
 * components leave it; what a rung prescribes does not move. Loads are its weight, applied forces and springs of joints
 * at the state's time, as if all were at rest. Loops and joint limits are left out (and said to be in the reasons).
 *
 *   force closure   the contacts can balance every load: the cones together are all wrenches.
 *   form closure    the body cannot move between its contacts, without friction: by normals alone (order 1), or by the
 *                   curvature of the surfaces (order 2, in the plane).
 *   equilibrium     forces within the cones balance the loads that there are.
 *   wedged          contacts can balance each other, without any load: forces within the cones, not all 0, with the sum
 *                   0. So forces may be of any size, and loads do not tell them.
 *   jammed          equilibrium, and in the other direction too: the contacts balance the loads, and would balance them
 *                   turned round. Pushing harder does not free the body, and pulling back does not either. Then it is
 *                   wedged, for the two sets of forces balance each other. Without loads: it is jammed against every
 *                   load, which is force closure.
 *
 * The margin is the radius of the largest ball about 0 in the hull of the unit contact wrenches, those of a normal
 * force of 1 N and friction within its cone; forces in N, moments about the centre of mass over the radius of gyration
 * (the root of the mean square distance of its mass), or about the middle of the bounding sphere over its radius for a
 * body without mass; 0 without force closure. It is the smallest load that normal forces with the sum 1 N cannot
 * balance. */
typedef struct perp_closure {
    int body;
    int contacts; /* that count */
    bool force_closure, form_closure, equilibrium, wedged, jammed;
    int form_closure_order;      /* 1, 2; 0: there is none */
    double margin, margin_least; /* N: it is between them; on round cones in space they differ, and `margin` is the
                                    better guess by far */
} perp_closure;

/* A sentence on a contact of the analysis, or on a verdict (contact -1). */
typedef struct perp_reason {
    int contact;
    const char *text;
} perp_reason;

typedef enum perp_certificate {
    PERP_CERTIFY_EXISTENCE = 1 << 0,
    PERP_CERTIFY_UNIQUENESS = 1 << 1,
    PERP_CERTIFY_RIGIDITY = 1 << 2,
    PERP_CERTIFY_CLOSURE = 1 << 3,
    PERP_CERTIFY_ALL = (1 << 4) - 1
} perp_certificate;

typedef struct perp_analyze_options {
    size_t size;                     /* of this struct; see perp/base.h */
    const perp_allocator *allocator; /* NULL: malloc */
    unsigned certificates;           /* PERP_CERTIFY_*: what is asked for */
    bool verdicts_only; /* not how many answers there are where one does not follow, nor how far forces range, nor D's
                           eigenvalues, nor which damping would do, nor the printed proposition */
    const volatile bool *cancel; /* looked at in long searches; NULL: none */
    /* What the search for all answers of a step may take, in entries of tables, of which some 1e9 are a second; without
     * it `unique` is said less often, and `unique-at-these-normal-forces` more. */
    double work;
} perp_analyze_options;

static inline perp_analyze_options perp_analyze_options_default(void)
{
    perp_analyze_options r;
    memset(&r, 0, sizeof r);
    r.size = sizeof r;
    r.certificates = PERP_CERTIFY_ALL;
    r.work = 3e7;
    return r;
}

/* One block of memory of its own, but for `model`, which is the simulation's. */
typedef struct perp_analysis {
    const perp_model *model;
    const perp_rung *rung;
    double t;
    /* Of the next step or, on a rung that answers about an instant, of its first answer; where there is none, of the
     * state, without force. */
    int contact_count;
    const perp_contact_record *contacts;
    perp_existence existence;
    perp_uniqueness uniqueness;
    perp_rigidity rigidity;
    int closure_count;
    const perp_closure *closures;
    int reason_count;
    const perp_reason *reasons;
    struct perp_analysis_memory *memory;
} perp_analysis;

/* Analyses the state that the simulation is in, which stays as it is. `options` NULL: the default ones. A step without
 * an answer is a verdict and no failure. BAD_INPUT, OUT_OF_MEMORY, CANCELLED. */
PERP_API perp_status perp_analyze(const perp_sim *sim, const perp_analyze_options *options, perp_analysis **analysis,
                                  perp_error *error);
PERP_API void perp_analysis_free(perp_analysis *analysis); /* NULL allowed */
/* As one JSON object, zero-terminated text (perp_text_free); `analysis` NULL: `failure` says why there is none. NULL if
 * out of memory. */
PERP_API char *perp_analysis_json(const perp_analysis *analysis, const perp_error *failure);

/* How another motion of the next step compares with the step's law, which knows nothing of where it comes from. */
typedef struct perp_second_motion {
    bool is_answer;  /* it meets the law to 1e-8, and is not the simulation's own answer */
    double residual; /* what it is off the law with the forces that suit it best, of F and L; infinite: not known */
    double distance; /* L: the largest entry of the displacement between it and the simulation's own answer */
} perp_second_motion;

/* Is `v` (nv) an answer of the simulation's next step too? `contacts` are the forces that it went with where it comes
 * from, of which those that fit are tried; the simulation stays as it is. Where the modes of contacts say all
 * (polygons, intervals, no friction), or the step is a convex problem, no answer is missed; with round cones only the
 * forces at hand are tried. UNAVAILABLE: the step has no answer of its own, or none that can be looked at (`compliant`,
 * a step that was split); OUT_OF_MEMORY. */
PERP_API perp_status perp_check_motion(const perp_sim *sim, const double *v, const perp_contact_record *contacts,
                                       int contact_count, perp_second_motion *second, perp_error *error);

/* ---- certificates of a run ---------------------------------------------------------------------------------------
 *
 * Step k goes from state k - 1 to state k. Its certificate is that of state k - 1: what perp_analyze says there about
 * the next step, which is step k; so existence and uniqueness speak of the very answer that the run took, and rigidity
 * of the state that it took it from. It comes with step k, when that step has been taken; the initial state has one on
 * rungs that answer about an instant only. A step that could not be taken is counted by perp_certifier_end. Where a
 * simulation was steered by other than its scene, the rigidity of the state before the step is unknown: when the step
 * is certified, what it was steered by has gone. */

typedef struct perp_certifier perp_certifier;

typedef struct perp_certifier_options {
    size_t size;                     /* of this struct; see perp/base.h */
    const perp_allocator *allocator; /* NULL: malloc */
    unsigned certificates;           /* PERP_CERTIFY_*: EXISTENCE, UNIQUENESS, RIGIDITY */
    unsigned stop_at;                /* 1 << PERP_VERDICT_NOT_UNIQUE, 1 << PERP_VERDICT_INVALID */
    const volatile bool *cancel;     /* looked at in long searches; NULL: none */
} perp_certifier_options;

static inline perp_certifier_options perp_certifier_options_default(void)
{
    perp_certifier_options r;
    memset(&r, 0, sizeof r);
    r.size = sizeof r;
    r.certificates = PERP_CERTIFY_EXISTENCE | PERP_CERTIFY_UNIQUENESS | PERP_CERTIFY_RIGIDITY;
    return r;
}

/* Model and settings as those of the run; the model is borrowed. Any number of certifiers may work at once. Memory is
 * kept from step to step and given back with the certifier. Searches have so much work as is in proportion to the
 * step's, by its iterations and size, not by a clock: equal runs have equal verdicts. What that does not decide is
 * UNIQUE_AT_THESE_NORMAL_FORCES or UNKNOWN, with a reason that ends with "`perp analyze --at T` looks longer".
 * BAD_INPUT where the settings do not fit their rung, or it has no forces to speak of; OUT_OF_MEMORY. */
PERP_API perp_status perp_certifier_create(const perp_model *model, const perp_run_settings *settings,
                                           const perp_certifier_options *options, perp_certifier **certifier,
                                           perp_error *error);
PERP_API void perp_certifier_free(perp_certifier *certifier); /* NULL allowed */
/* A perp_observer of perp_run and perp_sim_observe, whose context is the certifier. False, which ends the run, where
 * `stop_at` has it so, or certifying failed: perp_certifier_status. */
PERP_API bool perp_certifier_observe(void *certifier, int step, const perp_state *state, const perp_step_info *info);
/* OK; what ended the run, with evidence: CANCELLED with the code "not-unique" or "invalid" where `stop_at` did; else
 * why certifying failed: OUT_OF_MEMORY, CANCELLED. */
PERP_API perp_status perp_certifier_status(const perp_certifier *certifier, perp_error *error);
/* Of the step that was observed last, the certifier's until the next one; NULL: it has none. To be put into the `trust`
 * of a step's info for those who write it down. */
PERP_API const perp_step_trust *perp_certifier_trust(const perp_certifier *certifier);
/* That in full, likewise: `perp_analyze` of the state, without closures. */
PERP_API const perp_analysis *perp_certifier_analysis(const perp_certifier *certifier);
/* For a run that goes on: the state that it goes on from, and what was counted before. */
PERP_API void perp_certifier_resume(perp_certifier *certifier, const perp_run_start *start, const perp_state *state);
/* The run has ended with this status; a step that could not be taken is one more without, or with unknown existence. */
PERP_API void perp_certifier_end(perp_certifier *certifier, const perp_error *failure);
/* Of all steps so far; the certifier's. */
PERP_API const perp_trust_summary *perp_certifier_summary(const perp_certifier *certifier);

#ifdef __cplusplus
}
#endif
#endif
