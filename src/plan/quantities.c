/* Expressions over a run: what is kept of its states, and what it comes to. */
#include "plan/quantity.h"
#include "trace/state_view.h"

#include <math.h>
#include <string.h>

static perp_status out_of_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for the outputs of a run");
}

static perp_status prepare(perp_quantities *q, perp_error *error)
{
    const perp_run_settings *run = &q->model->scene->run;
    const perp_rung *rung = perp_rung_find(run->model);
    perp_status status = perp_run_check(run, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    q->steps = rung->step ? perp_run_steps(run) : 0;
    status = perp_state_create(q->model, &q->allocator, &q->start, error);
    return status == PERP_STATUS_OK ? perp_kinematics_create(q->model, &q->allocator, &q->kinematics, error) : status;
}

perp_status perp_quantities_create(const perp_model *model, const perp_allocator *allocator,
                                   perp_quantities **quantities, perp_error *error)
{
    const perp_allocator source = allocator ? *allocator : perp_allocator_default();
    perp_quantities *q = source.allocate(source.context, sizeof *q);
    *quantities = NULL;
    if (!q) {
        return out_of_memory(error);
    }
    memset(q, 0, sizeof *q);
    q->allocator = source;
    q->model = model;
    q->wrong = -1;
    perp_arena_init(&q->arena, &source);
    const perp_status status = prepare(q, error);
    if (status != PERP_STATUS_OK) {
        perp_quantities_free(q);
        return status;
    }
    *quantities = q;
    return PERP_STATUS_OK;
}

void perp_quantities_free(perp_quantities *q)
{
    if (q) {
        const perp_allocator source = q->allocator;
        perp_kinematics_free(q->kinematics);
        perp_state_free(&q->start);
        perp_arena_clear(&q->arena);
        source.release(source.context, q);
    }
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

void perp_quantity_set(quantity *c, double value)
{
    c->value = isfinite(value) ? (perp_value){.kind = PERP_VALUE_NUMBER, .number = value} : (perp_value){0};
}

/* The index of the copy, -1: out of memory. */
static int keep(perp_quantities *q, const quantity *found, const char *name, size_t length)
{
    quantity *grown = perp_arena_grow(&q->arena, q->quantities, q->count, &q->capacity, sizeof *grown);
    const char *kept = grown ? perp_arena_text(&q->arena, name, length) : NULL;
    if (!kept) {
        return -1;
    }
    q->quantities = grown;
    grown[q->count] = *found;
    grown[q->count].name = kept;
    if (found->source == QUANTITY_ANALYSIS) {
        char *path = perp_arena_text(&q->arena, name + strlen("analyze."), length - strlen("analyze."));
        if (!path) {
            return -1;
        }
        path[strcspn(path, "@")] = '\0';
        grown[q->count].path = path;
    }
    return q->count++;
}

typedef struct finder {
    perp_quantities *q;
    bool out_of_memory;
} finder;

static int find(void *context, const char *name, size_t length, perp_error *error)
{
    finder *f = context;
    perp_quantities *q = f->q;
    for (int i = 0; i < q->count; i++) {
        if (strlen(q->quantities[i].name) == length && memcmp(q->quantities[i].name, name, length) == 0) {
            return i;
        }
    }
    quantity found;
    if (!perp_quantity_resolve(q, name, length, &found, error)) {
        return -1;
    }
    const int index = keep(q, &found, name, length);
    f->out_of_memory = f->out_of_memory || index < 0;
    return index;
}

perp_status perp_quantities_constant(perp_quantities *q, const char *name, double value, perp_error *error)
{
    quantity constant = {.source = QUANTITY_CONSTANT};
    perp_quantity_set(&constant, value);
    return keep(q, &constant, name, strlen(name)) >= 0 ? PERP_STATUS_OK : out_of_memory(error);
}

/* Words that the scene has are no numbers; what analyses give is looked at when there is one. */
static perp_status check_words(const perp_quantities *q, const expression *e, perp_error *error)
{
    for (int i = 0; i < e->count && perp_expression_symbol(e) < 0; i++) {
        const int symbol = perp_expression_name_at(e, i);
        if (symbol >= 0 && q->quantities[symbol].value.kind == PERP_VALUE_WORD) {
            perp_fail(error, PERP_STATUS_BAD_INPUT, "`%.100s` is a word (%s), which is not a number",
                      q->quantities[symbol].name, q->quantities[symbol].value.word);
            error->column = e->operations[i].column;
            return PERP_STATUS_BAD_INPUT;
        }
    }
    return PERP_STATUS_OK;
}

perp_status perp_quantities_add(perp_quantities *q, const char *text, int *index, perp_error *error)
{
    perp_error own;
    finder f = {.q = q};
    const expression_names names = {&f, find};
    expression *grown =
        perp_arena_grow(&q->arena, q->expressions, q->expression_count, &q->expression_capacity, sizeof *grown);
    if (!grown) {
        return out_of_memory(error);
    }
    q->expressions = grown;
    error = error ? error : &own;
    expression *made = &grown[q->expression_count];
    perp_status status = perp_expression_parse(text, &names, &q->arena, made, error);
    if (f.out_of_memory) {
        return out_of_memory(error);
    }
    status = status == PERP_STATUS_OK ? check_words(q, made, error) : status;
    if (status == PERP_STATUS_OK) {
        *index = q->expression_count++;
    }
    return status;
}

/* ---- observing a run --------------------------------------------------------------------------------------------- */

void perp_quantities_begin(perp_quantities *q)
{
    for (int i = 0; i < q->count; i++) {
        if (q->quantities[i].source != QUANTITY_CONSTANT) {
            q->quantities[i].value = (perp_value){0};
            q->quantities[i].sum = 0.0;
            q->quantities[i].seen = 0;
        }
    }
}

/* Over the contacts of a pair; NaN where it has none that count. Forces belong to steps: of a rung that takes steps the
 * initial state has none. */
static double of_contact(const quantity *c, const perp_step_info *info, bool forces)
{
    double sum = 0.0, extreme = NAN;
    for (int i = 0; i < info->contact_count; i++) {
        const perp_contact_record *r = &info->contacts[i];
        if (!((r->contact.a == c->a && r->contact.b == c->b) || (r->contact.a == c->b && r->contact.b == c->a))) {
            continue;
        }
        const double slip = hypot(r->slip[0], r->slip[1]);
        sum += c->part == CONTACT_FN ? r->fn : hypot(r->ft[0], r->ft[1]);
        if (c->part == CONTACT_PHI) {
            extreme = extreme <= r->contact.phi ? extreme : r->contact.phi;
        } else {
            extreme = extreme >= slip ? extreme : slip;
        }
    }
    if (c->part == CONTACT_PHI) {
        return extreme;
    }
    return !forces ? NAN : c->part == CONTACT_SLIP ? extreme : sum;
}

static double of_state(const perp_quantities *q, const quantity *c, const perp_state *state)
{
    state_entry entry;
    int cursor = c->cursor;
    if (!perp_state_next(q->model, state, &cursor, &entry)) {
        return NAN;
    }
    return c->rates ? entry.v[c->number] : entry.q[c->number];
}

static double of_energy(const perp_quantities *q, const quantity *c, const perp_state *state)
{
    perp_kinematics_update(q->model, state->q, q->kinematics);
    const perp_energy energy = perp_energy_of(q->model, q->kinematics, state);
    return c->part == 0 ? energy.kinetic : energy.gravity + energy.springs;
}

static double of_residual(const perp_residuals *r, int part)
{
    const double numbers[] = {r->balance,      r->complementarity, r->cone, r->penetration,
                              r->balance_true, r->boundary_layer,  r->loop};
    return numbers[part];
}

static void see(quantity *c, double value)
{
    if (!isfinite(value)) {
        return;
    }
    const double before = c->value.number;
    c->seen++;
    c->sum += value;
    switch (c->moment) {
    case AT_STEP:
    case OF_RUN:
        perp_quantity_set(c, value);
        break;
    case LARGEST:
        perp_quantity_set(c, c->seen > 1 && before > value ? before : value);
        break;
    case SMALLEST:
        perp_quantity_set(c, c->seen > 1 && before < value ? before : value);
        break;
    case MEAN:
        perp_quantity_set(c, c->sum / c->seen);
        break;
    }
}

double perp_quantity_now(const perp_quantities *q, const quantity *c, int step, const perp_state *state,
                         const perp_step_info *info)
{
    const bool forces = step > 0 || q->steps == 0;
    switch (c->source) {
    case QUANTITY_STATE:
        return of_state(q, c, state);
    case QUANTITY_CONTACT:
        return of_contact(c, info, forces);
    case QUANTITY_ENERGY:
        return of_energy(q, c, state);
    case QUANTITY_RESIDUAL:
        return forces ? of_residual(&info->residuals, c->part) : NAN;
    case QUANTITY_CONSTANT:
    case QUANTITY_STATUS:
    case QUANTITY_ANALYSIS:
        break;
    }
    return NAN;
}

bool perp_quantities_observe(void *quantities, int step, const perp_state *state, const perp_step_info *info)
{
    perp_quantities *q = quantities;
    for (int i = 0; i < q->count; i++) {
        quantity *c = &q->quantities[i];
        if (c->moment != OF_RUN && (c->moment != AT_STEP || c->step == step) && c->source != QUANTITY_CONSTANT) {
            see(c, perp_quantity_now(q, c, step, state, info));
        }
    }
    return true;
}

void perp_quantities_end(perp_quantities *q, perp_status status, const perp_run_result *result)
{
    for (int i = 0; i < q->count; i++) {
        quantity *c = &q->quantities[i];
        if (c->source == QUANTITY_STATUS) {
            perp_quantity_set(c, status == PERP_STATUS_OK ? 1.0 : 0.0);
        } else if (c->source == QUANTITY_RESIDUAL && c->moment == OF_RUN && status == PERP_STATUS_OK) {
            perp_quantity_set(c, of_residual(&result->residuals, c->part));
        } else if (c->moment >= LARGEST && status != PERP_STATUS_OK) {
            c->value = (perp_value){0}; /* of a part of the run only */
        }
    }
}

/* ---- a run of one's own ------------------------------------------------------------------------------------------ */

static bool asks_for(const perp_quantities *q, bool analyses)
{
    bool asks = false;
    for (int i = 0; i < q->count; i++) {
        const quantity_source source = q->quantities[i].source;
        asks = asks || (source != QUANTITY_CONSTANT && (source == QUANTITY_ANALYSIS) == analyses);
    }
    return asks;
}

static bool must_end(perp_status status)
{
    return status == PERP_STATUS_OUT_OF_MEMORY || status == PERP_STATUS_CANCELLED;
}

typedef struct watch {
    perp_quantities *q;
    const volatile bool *cancel;
} watch;

static bool observe(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    const watch *w = context;
    return !(w->cancel && *w->cancel) && perp_quantities_observe(w->q, step, state, info);
}

static perp_status run(perp_quantities *q, perp_error *failure, perp_error *error)
{
    const perp_run_settings *settings = &q->model->scene->run;
    watch w = {q, settings->cancel};
    perp_run_result result = {0};
    perp_error why = {0};
    perp_state state;
    perp_status status = perp_state_create(q->model, &q->allocator, &state, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    status = perp_run(q->model, settings, &q->allocator, observe, &w, &state, &result, &why);
    perp_quantities_end(q, status, &result);
    perp_run_result_free(&result);
    perp_state_free(&state);
    if (must_end(status)) {
        return perp_fail(error, status, "%s", why.message);
    }
    if (status != PERP_STATUS_OK) {
        *failure = why;
    }
    return PERP_STATUS_OK;
}

perp_status perp_quantities_measure(perp_quantities *q, perp_error *failure, perp_error *error)
{
    perp_error own;
    error = error ? error : &own;
    memset(failure, 0, sizeof *failure);
    perp_quantities_begin(q);
    perp_status status = asks_for(q, false) ? run(q, failure, error) : PERP_STATUS_OK;
    if (status != PERP_STATUS_OK || !asks_for(q, true)) {
        return status;
    }
    perp_error unanalyzed = {0};
    status = perp_quantities_analyze(q, &unanalyzed, error);
    if (failure->status == PERP_STATUS_OK) {
        *failure = unanalyzed;
    }
    for (int i = 0; i < q->expression_count && status == PERP_STATUS_OK; i++) {
        status = check_words(q, &q->expressions[i], error);
        q->wrong = status == PERP_STATUS_OK ? q->wrong : i;
    }
    return status;
}

static double number_of(void *context, int symbol)
{
    const perp_quantities *q = context;
    const perp_value *value = &q->quantities[symbol].value;
    return value->kind == PERP_VALUE_NUMBER || value->kind == PERP_VALUE_TRUTH ? value->number : NAN;
}

perp_value perp_quantities_value(const perp_quantities *q, int index)
{
    const expression *e = &q->expressions[index];
    const int symbol = perp_expression_symbol(e);
    if (symbol >= 0) {
        return q->quantities[symbol].value;
    }
    double number;
    const bool good = perp_expression_evaluate(e, number_of, (void *)(uintptr_t)q, &number);
    return good ? (perp_value){.kind = PERP_VALUE_NUMBER, .number = number} : (perp_value){0};
}
