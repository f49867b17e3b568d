/* perp/step.h - the ladder of models, and running one of them.
 *
 * A rung advances the state by one step and fills one step record, whatever its mechanics. The registry below is the
 * ladder; everything above it (trace, report, analysis, planning) asks the record, never the rung.
 */
#ifndef PERP_STEP_H
#define PERP_STEP_H

#include <perp/base.h>
#include <perp/contact.h>
#include <perp/model.h>
#include <perp/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How well a step meets its own law; maxima over a run. A rung that has no such quantity reports 0. */
typedef struct perp_residuals {
    double balance;         /* force balance on the rung's discrete law, relative to F of its island (docs/models.md) */
    double complementarity; /* gap against normal force */
    double cone;            /* friction force against its cone */
    double penetration;     /* m: largest -phi, exact geometry at the step's end; 0 where nothing overlaps */
    double balance_true;    /* balance with exact geometry at the step's end */
    double boundary_layer;  /* m: the gap at which a convex rung carries force; 0 on others */
    double loop;            /* m (rad for welds): how far the loops are open at the step's end */
} perp_residuals;

typedef enum perp_contact_mode {
    PERP_CONTACT_OPEN,  /* carries no force */
    PERP_CONTACT_STICK, /* does not slip, inside the cone */
    PERP_CONTACT_LIMIT, /* does not slip, on the cone's edge */
    PERP_CONTACT_SLIDE
} perp_contact_mode;

/* "open", "stick", "limit", "slide"; a string constant. */
PERP_API const char *perp_contact_mode_name(perp_contact_mode mode);

/* What a step says of one contact. A rung without a contact law leaves every contact open and without force. Of a step
 * that was split, forces are the sum over its parts, each times its share of the step, and the frame, the mode and the
 * slip are those of the last part in which the contact carried force. */
typedef struct perp_contact_record {
    perp_contact contact; /* phi: the exact gap at the step's end; normal and tangents: those that the step used */
    perp_contact_mode mode;
    double fn;            /* N, >= 0 */
    double ft[2];         /* N, along t and o; planar: ft[1] = 0 */
    perp_vec3 force_on_b; /* N, world: fn n + ft[0] t + ft[1] o, what a exerts on b */
    double slip[2];       /* m/s, b's velocity relative to a along t and o; planar: slip[1] = 0 */
    double moment;        /* N m on b, about the normal: of a support that is an ellipsoid; else 0 */
    double margin; /* N: mu fn - |ft|, how far the friction force is from its limit; 0 where open; mean of parts */
    /* m: the gap that a convex rung is expected to keep while it slides, mu h |v_t|, on `dyn-qp` less mu h times the
     * slip that the step expected (< 0: it overlaps by so much); and the gap at which it carries force; 0 where open,
     * and on other rungs */
    double layer_predicted, layer_observed;
    /* The elements of the contact's patch in perp_step_info's `elements`, on the rung `compliant`; else none. There fn
     * and ft are their sums, at the contact, and slip is the mean of those that carry force. */
    int element_start, element_count;
} perp_contact_record;

/* What a step says of one element of a contact patch, in the frame (n, t, o) of its contact. */
typedef struct perp_element_record {
    double offset[2];      /* m, along t and o from the contact's point */
    double fn, ft[2];      /* N, on b */
    double limit;          /* N: the most |ft| there is with this fn */
    double slip[2];        /* m/s, of the surfaces, their deformation included */
    double deformation[3]; /* m, along n (> 0: compressed), t and o; as the next step finds it */
    bool slips;            /* it carries force, slips by more than 1e-8 m/s and is at its limit; not kept in a log */
} perp_element_record;

/* Where a contact is shown: half-way between its witnesses, world. */
static inline perp_vec3 perp_contact_midpoint(const perp_contact *contact)
{
    return perp_vec3_scale(0.5, perp_vec3_add(contact->point_a, contact->point_b));
}

/* A contact that has changed its mode. One that is not listed, being farther away than the margin, is open. */
typedef struct perp_contact_event {
    double t; /* the end of the step */
    int a, b; /* bodies */
    char feature[64];
    perp_contact_mode from, to;
} perp_contact_event;

/* What a step did beyond its plain way, counted. */
typedef enum perp_fallback {
    PERP_FALLBACK_SUBSTEP,    /* the step was split: gaps did not end where the linearisation had them */
    PERP_FALLBACK_LOOSE,      /* the solver stopped short of its own tolerance, and the step's law held all the same */
    PERP_FALLBACK_ANY_MOTION, /* the smallest motion was not found: one of several answers was taken */
    PERP_FALLBACK_SECOND_METHOD, /* the rung's first method failed and another one solved the step */
    PERP_FALLBACK_UNSTABILISED, /* what overlaps could not be parted in this step: it was only kept from going deeper */
    PERP_FALLBACK_SHARP,        /* `compliant`: no answer on the friction cone with `gamma`; the exact one was taken */
    PERP_FALLBACK_LINEARISED,   /* `compliant`: the law was met with contacts at the step's begin, not at its end */
    PERP_FALLBACK_CONTINUED,    /* `compliant`: solved by a continuation in the `gamma` of the friction cone */
    PERP_FALLBACK_COUNT
} perp_fallback;

/* "substep", ...; a string constant. */
PERP_API const char *perp_fallback_name(perp_fallback fallback);

/* What a run remembers from step to step beside the state, such as the forces that the next step starts from. */
typedef struct perp_run_memory perp_run_memory;

/* What kept a loop closed in a step, mean over it. Sign: degree of freedom k of the model feels sum_r force[r] J[r][k],
 * with J as perp_loop_evaluate has it. So of a point and a weld it is the force (N, world frame), and of a weld then
 * the moment (N m), on b at its anchor, and a feels the opposite; of joints, sum c q = length, joint k feels c_k
 * force[0], in N or N m: a tendon with c in m per rad pulls with -force[0] N. Where rows say the same, how they share
 * is left to the solver. A row that nothing free closes is the commands' affair: its force is not known, and 0 here. */
typedef struct perp_loop_force {
    int count; /* rows, as perp_loop_rows */
    double force[6];
    bool known[6];
} perp_loop_force;

/* How high convex friction with inertia throws a contact that slides: to the gap at which it carries force, and on from
 * there, with the speed at which it got there, against gravity. */
typedef struct perp_lift {
    double height;        /* m; 0: nothing is lifted */
    perp_contact contact; /* by which */
} perp_lift;

/* ---- certificates ------------------------------------------------------------------------------------------------ */

typedef enum perp_verdict {
    PERP_VERDICT_UNKNOWN, /* not decided, or not asked for */
    PERP_VERDICT_EXISTS,
    PERP_VERDICT_NONE,
    PERP_VERDICT_UNIQUE,
    PERP_VERDICT_UNIQUE_AT_THESE_NORMAL_FORCES,
    PERP_VERDICT_NOT_UNIQUE,
    PERP_VERDICT_BORDERLINE, /* rounding decides */
    PERP_VERDICT_VALID,
    PERP_VERDICT_INVALID,
    PERP_VERDICT_NO_CONTACT,
    PERP_VERDICT_COUNT
} perp_verdict;

/* "unknown", "unique-at-these-normal-forces", ..; a string constant. */
PERP_API const char *perp_verdict_name(perp_verdict verdict);

/* Whether a step can be trusted: perp/analysis.h. Its verdicts are about the step from the state at `from`. */
typedef struct perp_step_trust {
    double from;                                  /* s */
    perp_verdict existence, uniqueness, rigidity; /* UNKNOWN also where it was not asked for */
    /* Of NOT_UNIQUE: a velocity that can be added and leads to another answer; else NULL. The largest entry of its
     * displacement in a step is 1. */
    const double *motion; /* nv; in a log, by entry */
    bool motion_both_ways;
    /* "a b feature": contacts with force that the motion moves, or that D speaks of where rigidity is INVALID. */
    int contact_count;
    const char *const *contacts;
    int reason_count; /* where a verdict is not EXISTS, UNIQUE, UNIQUE_AT_.., VALID or NO_CONTACT: why, in words */
    const char *const *reasons;
} perp_step_trust;

/* Where a verdict was met first. */
typedef struct perp_trust_first {
    bool met;
    int step;
    double t, from; /* s: the step's end, and its begin */
    int contact_count;
    char contacts[8][384]; /* the first of them */
    char reason[512];      /* empty: nothing is said */
} perp_trust_first;

/* How often each verdict was met in a run. */
typedef struct perp_trust_summary {
    int steps; /* that have a certificate */
    int existence[PERP_VERDICT_COUNT], uniqueness[PERP_VERDICT_COUNT], rigidity[PERP_VERDICT_COUNT];
    perp_trust_first not_unique, invalid;
} perp_trust_summary;

typedef struct perp_step_info {
    int iterations;
    double solve_us; /* time in the solver, of the step's total */
    perp_residuals residuals;
    int fallbacks[PERP_FALLBACK_COUNT];
    bool
        several; /* another motion meets the step's law too, as far as was looked; docs/choices.md has which is taken */
    /* Every contact within the margin, in the order of a contact set. The run's, until its next step. A rung that has
     * forces puts its own records here, of the contacts that its step began with, which the run then completes. */
    int contact_count;
    const perp_contact_record *contacts;
    int element_count; /* of the rung `compliant`; likewise */
    const perp_element_record *elements;
    int loop_count; /* of the scene; 0 before the first step, on rungs without forces, and as read from a log */
    const perp_loop_force *loops; /* likewise */
    /* Contacts that changed their mode in this step; the run's, likewise. */
    int event_count;
    const perp_contact_event *events;
    /* What a rung that has `answer` says of the initial state; `contacts` are those of its first solution. NULL at
     * every other step and on other rungs. The run's, likewise. */
    const struct perp_instant_answer *answer;
    const perp_step_trust *trust;  /* who certifies the run sets it; NULL: nobody */
    const perp_run_memory *memory; /* the run's; NULL where there is none, as in a log */
    /* The highest of the step, on `dyn-qp`; not kept in a log. Last: a contact is more than half of the struct, and
     * says nothing where the height is 0. */
    perp_lift lift;
} perp_step_info;

/* What a step works with. `q`, `v`, `t` are in `state`; `next` is scratch for the new configuration. Kinematics and
 * contacts are those of the state that the step begins at; a step may put the kinematics anywhere else. */
typedef struct perp_step_context {
    const struct perp_rung *rung;
    const perp_model *model;
    const perp_run_settings *settings;
    perp_kinematics *kinematics;
    perp_contact_set *contacts; /* a step that is split builds it again */
    double *next_q;             /* nq */
    double *next_v;             /* nv */
    void *workspace;            /* of the rung's `open`; NULL: it has none */
} perp_step_context;

enum {
    PERP_TAKES_QUADRATIC = 1 << PERP_CONE_QUADRATIC, /* friction cones that a rung takes: bit 1 << cone */
    PERP_TAKES_RAYS = 1 << PERP_CONE_RAYS,
    PERP_TAKES_BOX = 1 << PERP_CONE_BOX,
    PERP_TAKES_SMOOTHING = 1 << PERP_CONE_COUNT,
    PERP_TAKES_TIME_SCALE = PERP_TAKES_SMOOTHING << 1,
    /* Impedance-controlled joints begin at their command and follow it. */
    PERP_TAKES_IMPEDANCE_AS_POSITION = PERP_TAKES_SMOOTHING << 2,
    PERP_TAKES_COMPLIANCE = PERP_TAKES_SMOOTHING << 3 /* contacts are springs */
};

typedef enum perp_rung_inertia {
    PERP_RUNG_INERTIA_IGNORED, /* masses and forces say nothing: `geometric`, `kinematic` */
    PERP_RUNG_INERTIA_NONE,    /* forces balance at every instant */
    PERP_RUNG_INERTIA_ONE_STEP,
    PERP_RUNG_INERTIA_FULL
} perp_rung_inertia;

/* As `perp models` has it. */
PERP_API const char *perp_rung_inertia_name(perp_rung_inertia inertia);

struct perp_run_result;

/* One rung of the ladder. `step` moves the state from state->t to t_end; it leaves the state as it was on failure. The
 * run adds to `info` what exact geometry says of the new state: the contacts and their penetration.
 * NULL: the rung answers about the initial state only and takes no steps. */
typedef struct perp_rung {
    const char *name;
    const char *summary;
    const char *contact, *friction, *source; /* columns of `perp models` */
    perp_rung_inertia inertia;
    unsigned takes;     /* PERP_TAKES_* */
    bool convex;        /* Anitescu's relaxation of Coulomb's law: what slides carries force at a gap */
    perp_cone own_cone; /* PERP_CONE_UNSET: no friction */
    /* How contact forces are found, on rungs that share a step (src/step/common/contact_step.h); else NULL. */
    const struct perp_step_law *law;
    /* Memory of a run, into context->workspace; both NULL: none. `close` is due whatever `open` returned. */
    perp_status (*open)(perp_step_context *context, const perp_allocator *allocator, perp_error *error);
    void (*close)(perp_step_context *context);
    /* After a step, with kinematics and contact set at its end: what exact geometry says of the forces; NULL: nothing.
     * `match[i]` is the contact of the set that record i is, -1 where its feature has gone. */
    void (*look_back)(perp_step_context *context, const perp_state *state, const int *match, perp_step_info *info);
    perp_status (*step)(perp_step_context *context, double t_end, perp_state *state, perp_step_info *info,
                        perp_error *error);
    /* All answers at the initial state, into result->solutions by perp_run_result_add_solution; NULL: none. */
    perp_status (*answer)(perp_step_context *context, const perp_state *state, struct perp_run_result *result,
                          perp_error *error);
    const char *answers; /* what the rates of solutions are: "velocity" or "acceleration" */
    /* What the workspace remembers of the last step that a further one depends on, as numbers: `save` writes at most
     * `capacity` of them and returns how many there are; `restore` takes them back into a workspace just opened. Both
     * NULL: nothing is remembered. */
    size_t (*save)(const perp_step_context *context, double *numbers, size_t capacity);
    perp_status (*restore)(perp_step_context *context, const double *numbers, size_t count, perp_error *error);
} perp_rung;

/* The ladder, from the simplest rung on. */
PERP_API int perp_rung_count(void);
PERP_API const perp_rung *perp_rung_at(int index);
/* NULL if there is no such rung. */
PERP_API const perp_rung *perp_rung_find(const char *name);

/* N: ft in the measure whose unit ball, times mu fn, is the section of the cone, so that a contact slips where it
 * reaches mu fn: |ft| of a disc, the largest component of a box, and of n rays the largest component along the normals
 * of the polygon's sides over their distance cos(pi / n) from its middle. Where friction has one direction all of them
 * are |ft|. Of a patch, with the `elements` of its step (NULL: not known), the sum over its elements: they may pull in
 * different directions. */
PERP_API double perp_friction_used(perp_cone cone, int rays, const perp_contact_record *record,
                                   const perp_element_record *elements);
/* N: the most of it that there is, mu fn, or of a patch the sum over its elements. */
PERP_API double perp_friction_limit(const perp_contact_record *record, const perp_element_record *elements);

/* ---- running ---------------------------------------------------------------------------------------------------- */

typedef struct perp_timing {
    double step_mean_us, step_median_us, step_max_us, solve_mean_us; /* contacts included; excludes reading, writing */
} perp_timing;

/* What more there is to say of a contact: a sentence, and named numbers behind it. */
typedef struct perp_contact_note {
    const char *why; /* NULL: nothing */
    int number_count;
    struct {
        const char *name;
        int count;
        double values[3];
    } numbers[6];
} perp_contact_note;

/* One answer of a rung that speaks of an instant: rates, or a set of them, and forces that go with them. Where forces
 * are not unique those of least norm are listed, and fn_low <= fn <= fn_high (infinite: unbounded) says how far others
 * go. */
typedef struct perp_instant_solution {
    double *rate; /* nv: what the rung `answers` */
    int contact_count;
    perp_contact_record *contacts; /* those of the initial state's contact set */
    double *fn_low, *fn_high;      /* contact_count, N */
    /* Where rates are not unique: they are the hull of the vertices plus all sums of rays with weights >= 0, a line
     * being two rays, and `rate` is the smallest of them: of least kinetic energy. Both counts 0: there is one rate. */
    int vertex_count, ray_count;
    double *vertices, *rays;        /* nv each; the largest entry of a ray is 1 */
    const perp_contact_note *notes; /* by contact; the caller's, who sets it after the run; NULL: none */
} perp_instant_solution;

/* All of them, as the result has them. */
typedef struct perp_instant_answer {
    const char *answers; /* what the rates are: "velocity" or "acceleration" */
    int solution_count;
    const perp_instant_solution *solutions;
    bool partial;                    /* there may be others, or more in a set than is said */
    const char *why_none, *left_out; /* as of perp_run_result; empty: nothing */
} perp_instant_answer;

typedef struct perp_run_result {
    const perp_rung *rung;
    double h;
    int steps;                          /* taken */
    perp_residuals residuals;           /* largest of the steps; where none was taken, of the initial state */
    int fallbacks[PERP_FALLBACK_COUNT]; /* of all steps */
    int several;                        /* steps, or the instant, of which `several` is true */
    double iterations;                  /* of this call's steps, with one that failed: the work, on any machine */
    perp_timing timing;
    perp_hash hash; /* of every state from the initial one on: t, q, v */
    /* The result's own memory. */
    int contact_count;
    perp_contact_record *contacts;  /* at the last state reached */
    const perp_contact_note *notes; /* by contact; the caller's, who sets it after the run; NULL: none */
    int loop_count;                 /* as of perp_step_info, of the last step */
    perp_loop_force *loops;
    int event_count;
    perp_contact_event *events; /* in the order of time, then of contacts */
    int solution_count;         /* of rungs that have `answer`; 0: there is no answer, which is one */
    perp_instant_solution *solutions;
    const perp_trust_summary *trust; /* the caller's, who sets it after the run; NULL: it was not certified */
    bool partial; /* there may be other solutions: listing all was too much work, or was not sure to be complete */
    char why_none[512]; /* where there is no answer: why, in words; empty where nothing is known */
    char left_out[512]; /* contacts that nearly took part in the answer, in words; empty: none */
    perp_allocator allocator;
} perp_run_result;

/* Gives the contacts and events back; due after every perp_run, whatever it returned. A zeroed result is allowed. */
PERP_API void perp_run_result_free(perp_run_result *result);

/* Called for the initial state (step 0) and after every step; returning false stops the run with CANCELLED. Of a rung
 * that has `answer` the contacts of the initial state are those of its first solution. */
typedef bool perp_observer(void *context, int step, const perp_state *state, const perp_step_info *info);

/* Do the settings fit their rung? BAD_INPUT with the reason, and the key in error.path, where not. */
PERP_API perp_status perp_run_check(const perp_run_settings *settings, perp_error *error);
/* The same, and does the rung take the scene's supports? */
PERP_API perp_status perp_run_check_scene(const perp_scene *scene, const perp_run_settings *settings,
                                          perp_error *error);

/* Warnings about what is allowed but looks unintended of the scene's own run: a step longer than the run, a joint that
 * does not begin at its `position`, inertia within one step that outweighs springs or weight; and what
 * perp_contact_lint says for its rung. Returns what that returns; OUT_OF_MEMORY. */
PERP_API perp_status perp_run_lint(const perp_model *model, const perp_contact_model *contact_model,
                                   const perp_allocator *allocator, perp_diagnostics *diagnostics);
/* The number of steps that the settings ask for. */
PERP_API int perp_run_steps(const perp_run_settings *settings);

/* ---- going on with a run ---------------------------------------------------------------------------------------- */

/* Within an observer: writes at most `capacity` numbers and returns how many there are. They are what a further step
 * depends on beside the state. */
PERP_API size_t perp_run_memory_save(const perp_run_memory *memory, double *numbers, size_t capacity);

/* A run as it stood after some step, and what it goes on with. */
typedef struct perp_run_start {
    int step;       /* that was taken last */
    double t_start; /* of the run: step k ends at t_start + k h */
    perp_hash hash; /* of every state up to this one */
    perp_residuals residuals;
    int fallbacks[PERP_FALLBACK_COUNT];
    int several;
    int contact_count;
    const perp_contact_record *contacts; /* at this state */
    int event_count;
    const perp_contact_event *events; /* so far */
    perp_trust_summary trust;         /* of the steps so far that have a certificate */
    size_t memory_count;
    const double *memory; /* of perp_run_memory_save */
    /* as the arguments of perp_run */
    const perp_allocator *allocator;
    perp_observer *observer; /* called for further steps only */
    void *observer_context;
} perp_run_start;

#ifdef __cplusplus
}
#endif
#endif
