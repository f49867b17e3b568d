/* explain_flip.h - closing in on the amount of a change that flips a contact's mode. */
#ifndef PERP_SRC_ANALYSIS_EXPLAIN_FLIP_H
#define PERP_SRC_ANALYSIS_EXPLAIN_FLIP_H

#include <perp/analysis.h>

#include "analysis/tolerances.h"

/* Whether a contact that carries force holds. At an instant one that accelerates out of rest does not slip yet, but is
 * on the edge of its cone: in the measure of that cone, for on the side of a pyramid friction is shorter than mu fn,
 * and `mode` says that it sticks. */
static inline bool perp_explain_holds(bool instant, perp_contact_mode mode, double used, double limit)
{
    return mode != PERP_CONTACT_SLIDE &&
           !(instant && limit - used <= SOLVER_LEAVES * limit); /* as for the mode `limit` */
}

/* Whether a contact that holds would do so with no friction, or next to none. */
static inline bool perp_explain_needs_no_friction(const perp_explanation *x)
{
    const perp_flip *flip = &x->flips[PERP_FLIP_FRICTION];
    return flip->search == PERP_FLIP_NONE ||
           (flip->search == PERP_FLIP_FOUND && 0.5 * (flip->before + flip->after) <= SOLVER_LEAVES * x->mu);
}

/* What a change led to. */
typedef struct flip_sample {
    perp_contact_fate fate;
    /* How far from flipping, > 0, and 0 at the flip: N of friction left where it holds, m/s of slip where it slides;
     * NaN where there is no such measure. It only chooses where to look next. */
    double distance;
} flip_sample;

/* Changes are counted from 0, the step as it was. */
typedef struct flip_task {
    bool holds;         /* in the step as it was; the flip is away from that */
    double distance;    /* of the step as it was */
    double first, most; /* the change tried first, and the largest */
    double floor;       /* the flip is known when it is closed in to FLIP_RESOLUTION of the change and this */
    int solves;         /* at most */
    void *context;
    /* `surely`: that there are several answers is to be seen, which may take far longer. False: stop, there is no more
     * to be had (memory, or the budget). */
    bool (*try)(void *context, double change, bool surely, flip_sample *sample);
} flip_task;

/* `before` and `after` are changes. UNKNOWN where it was stopped, where `solves` were not enough, or where changes
 * around the flip are unsolved. */
perp_flip perp_flip_seek(const flip_task *task);

/* The explanation's held_by, from the records of a step or an answer in which the contact holds without friction. */
void perp_explain_held_by(const perp_model *model, const perp_contact *contact, const perp_contact_record *records,
                          int count, perp_explanation *x);

/* "friction", "squeeze", "sideways"; a string constant. */
const char *perp_flip_kind_name(perp_flip_kind kind);

#endif
