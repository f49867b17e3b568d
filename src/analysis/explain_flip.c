/* The flip lies between the largest change that left the contact as it was and the smallest one that flipped it. On
 * either side the distance to the flip is nearly linear in the change (a slip, a margin), so that the line through two
 * changes of one side points at it, and the middle is tried where that does not lead on. The two ends are tried
 * amounts, whatever pointed at them. */
#include "analysis/explain_flip.h"
#include "analysis/tolerances.h"

#include <math.h>

/* The last two changes on one side, the newest first. */
typedef struct side {
    int count;
    double change[2], distance[2];
} side;

static void note(side *s, double change, double distance)
{
    s->change[1] = s->change[0];
    s->distance[1] = s->distance[0];
    s->change[0] = change;
    s->distance[0] = distance;
    s->count = isfinite(distance) ? (s->count < 2 ? s->count + 1 : 2) : 0;
}

/* Where the line through a side's changes meets 0; NaN: nowhere. */
static double pointed_at(const side *s)
{
    if (s->count < 2) {
        return NAN;
    }
    const double fall = s->distance[1] - s->distance[0];
    return fall != 0.0 ? s->change[0] + s->distance[0] * (s->change[0] - s->change[1]) / fall : NAN;
}

typedef struct interval {
    double low, high; /* not flipped, flipped */
    perp_contact_fate fate;
    bool last_beyond; /* the last change flipped */
    side sides[2];
} interval;

static bool flipped(const flip_task *task, const flip_sample *sample)
{
    return (sample->fate == PERP_FATE_HOLDS) != task->holds;
}

static void take_in(interval *i, double change, const flip_sample *sample, bool beyond)
{
    note(&i->sides[beyond], change, sample->distance);
    i->last_beyond = beyond;
    if (beyond) {
        i->high = change;
        i->fate = sample->fate;
    } else {
        i->low = change;
    }
}

/* How the search goes on. A guess that is nearly right comes out beside the flip, with all of the interval on the other
 * side: from there the change leaps in growing bounds to meet the flip close by. Where LEAPS of them do not, guesses
 * were not to be trusted, and the next HALVINGS changes are the middle. Around a change that was not solved others are
 * tried. */
typedef struct course {
    int stalls;   /* changes in a row that have not halved the interval */
    int halvings; /* still to do */
    int misses;   /* changes in a row that were not solved */
} course;

enum { LEAPS = 4, HALVINGS = 6, MOST_MISSES = 5 };

static double next_change(const interval *i, double resolution, const course *c)
{
    static const double places[MOST_MISSES] = {0.5, 0.25, 0.75, 0.4, 0.6}, GROWTH = 8.0;
    const double near = 0.45 * resolution, middle = 0.5 * (i->low + i->high);
    double change = i->low + places[c->misses] * (i->high - i->low);
    if (c->misses == 0 && c->halvings == 0 && c->stalls > 0) {
        const double bound = near * pow(GROWTH, c->stalls - 1);
        change = i->last_beyond ? fmax(i->high - bound, middle) : fmin(i->low + bound, middle);
    }
    for (int k = 0; k < 2 && c->misses == 0 && c->halvings == 0 && c->stalls == 0; k++) {
        const double guess = pointed_at(&i->sides[k]);
        if (guess >= i->low && guess <= i->high) {
            change = guess;
            break;
        }
    }
    return fmin(fmax(change, i->low + near), i->high - near);
}

/* After a change that has left `share` of the interval. */
static void go_on(course *c, double share)
{
    c->misses = 0;
    c->halvings -= c->halvings > 0;
    c->stalls = share > 0.51 ? c->stalls + 1 : 0;
    if (c->stalls > LEAPS) {
        c->stalls = 0;
        c->halvings = HALVINGS;
    }
}

static double resolution_at(const flip_task *task, double change)
{
    return FLIP_RESOLUTION * change + task->floor;
}

/* Solves with a change, if it may. */
static bool try_change(const flip_task *task, int *solves, double change, bool surely, flip_sample *sample)
{
    return ++*solves <= task->solves && task->try(task->context, change, surely, sample);
}

/* Grows the change until it flips the mode; false: it does not, or the search is over, as `search` says. */
static bool find_interval(const flip_task *task, int *solves, interval *i, perp_flip *found)
{
    static const double GROWTH = 4.0;
    for (double change = fmin(task->first, task->most); isinf(i->high); change = fmin(GROWTH * change, task->most)) {
        flip_sample sample;
        if (!try_change(task, solves, change, false, &sample)) {
            return false;
        }
        if (sample.fate != PERP_FATE_UNSOLVED) {
            take_in(i, change, &sample, flipped(task, &sample));
        }
        if (isinf(i->high) && change >= task->most) {
            found->search = sample.fate != PERP_FATE_UNSOLVED ? PERP_FLIP_NONE : PERP_FLIP_UNKNOWN;
            found->before = found->after = change;
            found->fate = sample.fate;
            return false;
        }
    }
    return true;
}

/* Farther out on either side all is as it is at the ends: where a step has several answers there need be no flip at
 * all, and what looks like one is the solver's choice; so right outside of both ends one looks surely. A step that is
 * not solved there does not hold the contact, and that is all that is asked. The fate is that of farther out: right at
 * the flip, within the tolerance, a step may still have an answer that it has not beyond. */
static bool is_clear(const flip_task *task, int *solves, interval *i)
{
    const double hair = 10.0 * resolution_at(task, i->high), outward[2] = {hair, 30.0 * hair};
    for (int k = 0; k < 4; k++) {
        const bool beyond = k % 2 == 1;
        const double change = beyond ? i->high + outward[k / 2] : i->low - outward[k / 2];
        flip_sample sample;
        if (change <= 0.0 || change > task->most) {
            continue; /* the step as it was, or what cannot be */
        }
        if (!try_change(task, solves, change, k < 2, &sample) || flipped(task, &sample) != beyond) {
            return false;
        }
        i->fate = beyond && sample.fate != PERP_FATE_UNSOLVED ? sample.fate : i->fate;
    }
    return true;
}

perp_flip perp_flip_seek(const flip_task *task)
{
    perp_flip found = {.search = PERP_FLIP_UNKNOWN};
    interval i = {.high = INFINITY};
    course c = {0};
    int solves = 0;
    note(&i.sides[0], 0.0, task->distance);
    if (!find_interval(task, &solves, &i, &found)) {
        return found;
    }
    while (i.high - i.low > resolution_at(task, i.high)) {
        const double width = i.high - i.low;
        const double change = next_change(&i, resolution_at(task, i.high), &c);
        flip_sample sample;
        if (!try_change(task, &solves, change, false, &sample)) {
            return found;
        }
        if (sample.fate == PERP_FATE_UNSOLVED) {
            if (++c.misses == MOST_MISSES) {
                return found;
            }
            continue;
        }
        take_in(&i, change, &sample, flipped(task, &sample));
        go_on(&c, (i.high - i.low) / width);
    }
    if (is_clear(task, &solves, &i)) {
        found = (perp_flip){.search = PERP_FLIP_FOUND, .before = i.low, .after = i.high, .fate = i.fate};
    }
    return found;
}
