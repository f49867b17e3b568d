/* Explanations in words: short, in the present tense, and nothing that was not found. */
#include "analysis/explain_flip.h"
#include "analysis/tolerances.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

typedef struct writer {
    char *text;
    size_t size, used;
} writer;

static void say(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const size_t left = w->used < w->size ? w->size - w->used : 0;
    const int written = vsnprintf(left > 0 ? w->text + w->used : NULL, left, format, arguments);
    va_end(arguments);
    w->used += written > 0 ? (size_t)written : 0;
}

/* Friction used, for people. */
static double used(const perp_explanation *x)
{
    return x->used < SOLVER_LEAVES * x->limit ? 0.0 : x->used;
}

static double amount(const perp_flip *flip)
{
    return 0.5 * (flip->before + flip->after);
}

static void say_open(writer *w, const perp_explanation *x)
{
    if (x->gap <= TOUCHING) {
        say(w, "open: touching, and no force is needed");
        return;
    }
    say(w, "open: %.4g m apart", x->gap);
    if (x->closing > STILL) {
        say(w, ", closing at %.4g m/s: would touch in %.4g s at this rate", x->closing, x->gap / x->closing);
    } else if (x->closing < -STILL) {
        say(w, ", parting at %.4g m/s", -x->closing);
    } else {
        say(w, ", and neither closing nor parting");
    }
}

static void say_slide(writer *w, const perp_model *model, const perp_explanation *x)
{
    const char *const a = model->scene->bodies[x->a].name, *const b = model->scene->bodies[x->b].name;
    const perp_flip *squeeze = &x->flips[PERP_FLIP_SQUEEZE], *friction = &x->flips[PERP_FLIP_FRICTION];
    if (x->mode != PERP_CONTACT_SLIDE) {
        say(w, "on the edge of its cone, slips or is about to: ");
    } else if (x->elements > 1 && x->slip < STILL) {
        say(w, "turning in place, %d of %d elements slip: ", x->slipping, x->elements);
    } else if (x->slipping < x->elements &&
               x->used < (1.0 - SOLVER_LEAVES) * x->limit) { /* the others of the patch hold */
        say(w, "sliding at %.4g m/s, %d of %d elements slip: ", x->slip, x->slipping, x->elements);
    } else {
        say(w, "sliding at %.4g m/s: ", x->slip);
    }
    if (x->mu > 0.0) {
        say(w, "%.4g N of %.4g N used", used(x), x->limit);
    } else {
        say(w, "without friction, pressed with %.4g N", x->fn);
    }
    const bool squeezed = squeeze->search == PERP_FLIP_FOUND, roughened = friction->search == PERP_FLIP_FOUND;
    if (squeezed) {
        say(w, "; would hold if squeezed %.4g N more", amount(squeeze));
    }
    if (roughened) {
        say(w, "%s with friction of at least %.4g between %s and %s", squeezed ? ", or" : "; would hold",
            amount(friction), a, b);
    }
    const bool hopeless = squeeze->search == PERP_FLIP_NONE, slippery = friction->search == PERP_FLIP_NONE;
    if (hopeless) {
        say(w, roughened ? "; squeezed harder it would slip all the same" : "; would slip however hard it is squeezed");
    }
    if (slippery && squeezed) {
        say(w, "; with more friction between %s and %s it would slip all the same", a, b);
    } else if (slippery) {
        say(w, "%s however large the friction between %s and %s is", hopeless ? ", and" : "; would slip", a, b);
    }
}

static const char *fate_words(perp_contact_fate fate)
{
    static const char *const words[] = {[PERP_FATE_HOLDS] = "would hold",
                                        [PERP_FATE_SLIDES] = "would slip",
                                        [PERP_FATE_OPENS] = "would come off",
                                        [PERP_FATE_NO_ANSWER] = "nothing would balance the forces",
                                        [PERP_FATE_UNSOLVED] = "is not known"};
    return words[fate];
}

/* What else holds it, by name. */
static void say_held_by(writer *w, const perp_model *model, const perp_explanation *x)
{
    const int named = x->held_by_count < PERP_HELD_BY_MOST ? x->held_by_count : PERP_HELD_BY_MOST;
    const int more = x->held_by_count - named;
    for (int i = 0; i < named; i++) {
        const char *before = i == 0 ? "" : i == named - 1 && more == 0 ? " and " : ", ";
        say(w, "%s%s", before, model->scene->bodies[x->held_by[i]].name);
    }
    if (more > 0) {
        say(w, " and %d more", more);
    }
    if (named > 0) {
        say(w, " %s it", x->held_by_count == 1 ? "holds" : "hold");
    } else {
        say(w, x->held_by_joints ? "joints hold it" : "nothing pushes it sideways");
    }
}

static void say_hold(writer *w, const perp_model *model, const perp_explanation *x)
{
    const char *const a = model->scene->bodies[x->a].name, *const b = model->scene->bodies[x->b].name;
    const perp_flip *sideways = &x->flips[PERP_FLIP_SIDEWAYS], *friction = &x->flips[PERP_FLIP_FRICTION];
    if (!(x->mu > 0.0)) {
        say(w, "does not slip, without friction, pressed with %.4g N", x->fn);
        return;
    }
    say(w, "%s: %.4g N of %.4g N used", x->mode == PERP_CONTACT_LIMIT ? "at its limit" : "sticking", used(x), x->limit);
    const bool pushed = sideways->search == PERP_FLIP_FOUND, found = friction->search == PERP_FLIP_FOUND;
    const bool smoothed = found && !perp_explain_needs_no_friction(x);
    if (smoothed) {
        say(w, "; %s below friction %.4g between %s and %s", fate_words(friction->fate), amount(friction), a, b);
    }
    if (pushed) {
        const bool alike = smoothed && sideways->fate == friction->fate;
        say(w, "%s%s under ", alike ? ", or" : "; ", alike ? "" : fate_words(sideways->fate));
        if (amount(sideways) > SOLVER_LEAVES * x->limit) {
            say(w, "%.4g N more sideways", amount(sideways));
        } else {
            say(w, "the least more sideways");
        }
    }
    if (friction->search == PERP_FLIP_NONE || (found && !smoothed)) {
        say(w, "; would hold with %s friction between %s and %s: ", found ? "next to no" : "no", a, b);
        say_held_by(w, model, x);
    }
    if (sideways->search == PERP_FLIP_NONE) {
        const perp_vec3 d = x->along;
        say(w, "; holds however hard %s is pushed along (%.3g, %.3g", b, d.x + 0.0, d.y + 0.0);
        if (!model->planar) {
            say(w, ", %.3g", d.z + 0.0);
        }
        say(w, ")");
    }
}

void perp_explanation_text(const perp_model *model, const perp_explanation *explanation, char *text, size_t size)
{
    writer w = {.text = text, .size = size};
    if (size > 0) {
        text[0] = '\0';
    }
    if (explanation->mode == PERP_CONTACT_OPEN) {
        say_open(&w, explanation);
    } else if (perp_explain_holds(explanation->instant, explanation->mode, explanation->used, explanation->limit)) {
        say_hold(&w, model, explanation);
    } else {
        say_slide(&w, model, explanation);
    }
}

static void put(perp_contact_note *note, const char *name, int count, perp_vec3 values)
{
    note->numbers[note->number_count].name = name;
    note->numbers[note->number_count].count = count;
    note->numbers[note->number_count].values[0] = values.x + 0.0; /* takes the sign from a zero */
    note->numbers[note->number_count].values[1] = values.y + 0.0;
    note->numbers[note->number_count++].values[2] = values.z + 0.0;
}

perp_contact_note perp_explanation_note(const perp_explanation *explanation, bool planar, const char *text)
{
    perp_contact_note note = {.why = text};
    const int size = planar ? 2 : 3;
    bool forces = false;
    for (int i = 0; i < PERP_FLIP_KINDS; i++) {
        const perp_flip *flip = &explanation->flips[i];
        if (flip->search == PERP_FLIP_FOUND) {
            put(&note, perp_flip_kind_name((perp_flip_kind)i), 2, perp_vec3_make(flip->before, flip->after, 0.0));
            forces = forces || i != PERP_FLIP_FRICTION;
        }
    }
    if (forces) {
        put(&note, "at_a", size, explanation->at_a);
        put(&note, "at_b", size, explanation->at_b);
    }
    if (explanation->flips[PERP_FLIP_SIDEWAYS].search == PERP_FLIP_FOUND) {
        put(&note, "along", size, explanation->along);
    }
    return note;
}
