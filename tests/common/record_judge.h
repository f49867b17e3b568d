/* record_judge.h - what a run reports of its steps, computed again from the states.
 *
 * Poses, velocities, the mass matrix and loads are the model's (src/model); shapes are those of shape_reference.h.
 * Nothing of src/contact or src/step takes part, except that a contact is known again by its shapes and features, and
 * that the place of a contact at a step's begin is the one that the step before has reported, which was judged then.
 *
 * When each quantity is meant (docs/models.md, "What a step reports"): points and phi at the step's end; normal,
 * tangents and slip where the step's law holds, which is its begin, on `compliant` its end; forces are impulse / h. A
 * step that was split has its law at places that are not known here: of its normals and slips nothing is said, and of
 * its forces that they change the momentum of free bodies as they should. Nor is it known which island of a `compliant`
 * step with the fallback `linearised` has its law at the begin. */
#ifndef PERP_TESTS_COMMON_RECORD_JUDGE_H
#define PERP_TESTS_COMMON_RECORD_JUDGE_H

#include <perp/step.h>

typedef enum record_check {
    RECORD_POINT,    /* witnesses are on the two surfaces, |phi| apart; phi has the sign of that */
    RECORD_LISTED,   /* no corner, centre or end is nearer to another body than the contacts that are listed say */
    RECORD_NORMAL,   /* square to both surfaces at the nearest point of a manifold, to one elsewhere */
    RECORD_TANGENTS, /* of the contract, or the pair's */
    RECORD_FORCE,    /* fn n + ft[0] t + ft[1] o, margin, friction, the elements' sum */
    RECORD_SLIP,     /* b's velocity against a's */
    RECORD_MODE,
    RECORD_GAP,       /* the gap that the step's law has: 0, on convex rungs layer_predicted; layer_observed */
    RECORD_BALANCE,   /* forces and torques on every degree of freedom that nothing else holds */
    RECORD_EVENTS,    /* changes of mode from step to step */
    RECORD_RESIDUALS, /* penetration, boundary_layer, loop */
    RECORD_CHECKS
} record_check;

typedef struct record_judge {
    const perp_model *model;
    const perp_run_settings *settings;
    const perp_rung *rung;
    int judged[RECORD_CHECKS]; /* how often something was judged */
    char text[500];            /* of the first that is wrong; empty: nothing is */
    /* private */
    perp_kinematics *begin, *end;
    perp_state last;
    double *force, *inertia, *applied, *mass, *packed; /* nv, nv, nv, nv x nv, the model's form of it */
    bool *known;                                       /* by tree: all forces on it have a known place */
    perp_twist *carried;                               /* by body: of its centre of mass, from the step before */
    int count, capacity, element_capacity, step;
    perp_contact_record *before;
    perp_element_record *elements;
} record_judge;

/* The model and settings are borrowed. Ends the program where memory runs out. */
record_judge *record_judge_open(const perp_model *model, const perp_run_settings *settings);
void record_judge_close(record_judge *judge);

/* The initial state (step 0), then every step of a run, as its observer has them. False: judge->text says what is
 * wrong first. */
bool record_judge_step(record_judge *judge, int step, const perp_state *state, const perp_step_info *info);
/* A step that is not judged, before one that is. */
void record_judge_skip(record_judge *judge, int step, const perp_state *state, const perp_step_info *info);
/* One solution of `instant` or `instant-qs` at the state. */
bool record_judge_solution(record_judge *judge, const perp_state *state, const perp_instant_solution *solution);

const char *record_check_name(record_check check);

#endif
