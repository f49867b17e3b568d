#include "solver/cell_search.h"
#include "solver/tolerances.h"

#include <math.h>

static const unsigned char *relations_of(const perp_cell_choice *choice, int mode)
{
    return choice->relations + (ptrdiff_t)mode * choice->count;
}

/* +1 and -1 for what is to be above and below 0; 0 for the rest. */
static double strict_sign(unsigned char relation)
{
    return relation == PERP_CELL_ABOVE ? 1.0 : relation == PERP_CELL_BELOW ? -1.0 : 0.0;
}

static bool holds(unsigned char relation, double value)
{
    switch (relation) {
    case PERP_CELL_EQUAL:
        return fabs(value) <= CELL_ZERO;
    case PERP_CELL_AT_LEAST:
        return value >= -CELL_ZERO;
    case PERP_CELL_AT_MOST:
        return value <= CELL_ZERO;
    case PERP_CELL_ABOVE:
        return value > CELL_ZERO;
    case PERP_CELL_BELOW:
        return value < -CELL_ZERO;
    default:
        return true;
    }
}

/* False where a function that is constant by now has not what the mode asks: seen without a pivot. */
static bool is_possible(const perp_cell_dictionary *d, const perp_cell_choice *choice, int mode)
{
    const unsigned char *relations = relations_of(choice, mode);
    for (int k = 0; k < choice->count; k++) {
        const int function = choice->first + k;
        if (!holds(relations[k], perp_cell_value(d, function)) && perp_cell_is_constant(d, function)) {
            return false;
        }
    }
    return true;
}

/* The undecided choice with the fewest modes that are possible; -1: all are decided. */
static int next_choice(const perp_cell_search *s, const perp_cell_dictionary *d)
{
    int best = -1, fewest = INT32_MAX;
    for (int i = 0; i < s->problem->choice_count && fewest > 1; i++) {
        const perp_cell_choice *choice = &s->problem->choices[i];
        int count = 0;
        for (int mode = 0; mode < choice->modes && s->modes[i] < 0; mode++) {
            count += is_possible(d, choice, mode);
        }
        if (s->modes[i] < 0 && count < fewest) {
            fewest = count;
            best = i;
        }
    }
    return best;
}

static perp_cell_answer ask_mode(perp_cell_dictionary *d, const perp_cell_choice *choice, int mode)
{
    const unsigned char *relations = relations_of(choice, mode);
    perp_cell_answer answer = PERP_CELL_YES;
    for (int k = 0; k < choice->count && answer == PERP_CELL_YES; k++) {
        if (relations[k] != PERP_CELL_ANY) {
            answer = perp_cell_ask(d, choice->first + k, (perp_cell_relation)relations[k]);
        }
    }
    return answer;
}

/* Whether what is to be above or below 0 is so somewhere, in all modes decided. */
static perp_cell_answer check_strict(const perp_cell_search *s, perp_cell_dictionary *d)
{
    for (int i = 0; i < s->problem->choice_count; i++) {
        const perp_cell_choice *choice = &s->problem->choices[i];
        for (int k = 0; k < choice->count && s->modes[i] >= 0; k++) {
            const double sign = strict_sign(relations_of(choice, s->modes[i])[k]);
            const perp_cell_answer answer =
                sign != 0.0 ? perp_cell_can_be_positive(d, choice->first + k, sign) : PERP_CELL_YES;
            if (answer != PERP_CELL_YES) {
                return answer;
            }
        }
    }
    return PERP_CELL_YES;
}

static bool may_go_on(perp_cell_search *s)
{
    if (s->status == PERP_STATUS_OK && s->cancel && *s->cancel) {
        s->status = PERP_STATUS_CANCELLED;
    }
    if (s->status == PERP_STATUS_OK && s->work > s->max_work) {
        s->complete = false;
        return false;
    }
    return s->status == PERP_STATUS_OK;
}

static void visit(perp_cell_search *s, int depth)
{
    perp_cell_dictionary *d = &s->levels[depth], *below = d + 1;
    const int i = next_choice(s, d);
    s->nodes++;
    if (i < 0) {
        s->status = s->found(s->context, d, s->modes);
        return;
    }
    const perp_cell_choice *choice = &s->problem->choices[i];
    for (int mode = 0; mode < choice->modes && may_go_on(s); mode++) {
        if (!is_possible(d, choice, mode)) {
            continue;
        }
        perp_cell_dictionary_copy(below, d);
        perp_cell_answer answer = ask_mode(below, choice, mode);
        s->modes[i] = mode;
        answer = answer == PERP_CELL_YES ? check_strict(s, below) : answer;
        s->complete = s->complete && answer != PERP_CELL_TROUBLE;
        if (answer == PERP_CELL_YES) {
            visit(s, depth + 1);
        }
    }
    s->modes[i] = -1;
}

perp_cell_answer perp_cell_begin(const perp_cell_problem *problem, perp_cell_dictionary *d)
{
    perp_cell_answer answer = PERP_CELL_YES;
    perp_cell_dictionary_start(d);
    for (int k = 0; k < problem->table->rows && answer == PERP_CELL_YES; k++) {
        answer = perp_cell_ask(d, k, (perp_cell_relation)problem->always[k]);
    }
    return answer;
}

perp_cell_answer perp_cell_settle(const perp_cell_problem *problem, perp_cell_dictionary *d)
{
    perp_cell_answer answer = PERP_CELL_YES;
    for (int i = 0; i < problem->choice_count && answer == PERP_CELL_YES; i++) {
        const perp_cell_choice *choice = &problem->choices[i];
        int mode = 0;
        while (mode < choice->modes && !is_possible(d, choice, mode)) {
            mode++;
        }
        answer = mode < choice->modes ? ask_mode(d, choice, mode) : PERP_CELL_NO;
    }
    return answer;
}

perp_status perp_cell_search_run(perp_cell_search *s)
{
    const int depth = s->problem->choice_count + 1;
    s->nodes = s->work = 0;
    s->complete = true;
    s->status = PERP_STATUS_OK;
    s->levels = PERP_ARENA_NEW(s->arena, perp_cell_dictionary, (size_t)depth + 1);
    s->modes = PERP_ARENA_NEW(s->arena, int, (size_t)s->problem->choice_count);
    bool all = s->levels && s->modes;
    for (int k = 0; k <= depth && all; k++) {
        all = perp_cell_dictionary_create(&s->levels[k], s->problem->table, &s->work, s->arena);
    }
    if (!all) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    for (int i = 0; i < s->problem->choice_count; i++) {
        s->modes[i] = -1;
    }
    const perp_cell_answer answer = perp_cell_begin(s->problem, &s->levels[0]);
    s->complete = answer != PERP_CELL_TROUBLE;
    if (answer == PERP_CELL_YES) {
        visit(s, 0);
    }
    for (int k = 0; k <= depth; k++) {
        s->complete = s->complete && !s->levels[k].doubtful;
    }
    return s->status;
}
