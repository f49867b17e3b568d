/* The cells of instant_cells.h, and the sets of rates that they amount to.
 *
 * Mostly one rate goes with the modes of a cell. Where they are several they form a convex polyhedron, which may have
 * no end: a ball rolls as it likes. And the modes may tell apart what is one set: of a contact that carries no force in
 * any of a cell's answers it does not matter how it slides. So a cell is widened before its rates are looked at. Of all
 * modes of a contact whose equations hold of its forces all over the cell, the one is taken that has the most of them:
 * its forces are on the smallest face of the cone, where the law asks the least of the motion. Everything in the
 * widened cell is a solution, for the law asks still less on smaller faces; and of cells that come to the same modes
 * one is enough. */
#include "step/instant/instant_cells.h"

#include <string.h>

typedef struct finder {
    instant_cells *cells;
    instant_cells_found *found;
    void *context;
    instant_cells_result *result;
    int n;       /* rates */
    int *seen;   /* seen_count x choices: modes of widened cells */
    int *wanted; /* choices: of the cell at hand */
    int seen_count, seen_capacity;
} finder;

/* ---- widening -----------------------------------------------------------------------------------------------------
 */

/* Is the function about forces? These are never below 0; so is the normal motion, which is the second of a choice. */
static bool is_force(const instant_cells *c, const perp_cell_choice *choice, int k)
{
    return k != 1 && c->always[choice->first + k] == PERP_CELL_AT_LEAST;
}

/* How many equations the mode has of forces; -1: one of them does not hold all over the cell. */
static int equations_of(const instant_cells *c, const perp_cell_choice *choice, int mode, const bool *zero)
{
    const unsigned char *relations = choice->relations + (ptrdiff_t)mode * choice->count;
    int count = 0;
    for (int k = 0; k < choice->count; k++) {
        if (is_force(c, choice, k) && relations[k] == PERP_CELL_EQUAL) {
            if (!zero[k]) {
                return -1;
            }
            count++;
        }
    }
    return count;
}

/* The modes of the widened cell into f->wanted; false: the dictionary is of no use any more. */
static bool widen(finder *f, perp_cell_dictionary *d, const int *modes)
{
    const instant_cells *c = f->cells;
    for (int i = 0; i < c->problem.choice_count; i++) {
        const perp_cell_choice *choice = &c->problem.choices[i];
        bool *zero = c->zero;
        for (int k = 0; k < choice->count; k++) {
            zero[k] = false;
            if (is_force(c, choice, k)) {
                const perp_cell_answer answer = perp_cell_can_be_positive(d, choice->first + k, 1.0);
                if (answer == PERP_CELL_TROUBLE) {
                    return false;
                }
                zero[k] = answer == PERP_CELL_NO;
            }
        }
        int best = equations_of(c, choice, modes[i], zero);
        f->wanted[i] = modes[i];
        for (int mode = 0; mode < choice->modes; mode++) {
            const int count = equations_of(c, choice, mode, zero);
            f->wanted[i] = count > best ? mode : f->wanted[i];
            best = count > best ? count : best;
        }
    }
    return true;
}

/* Whether a cell has come to these modes before; it has from now on. */
static perp_status note(finder *f, bool *known)
{
    const int count = f->cells->problem.choice_count;
    const size_t size = (size_t)count * sizeof *f->seen;
    *known = false;
    for (int i = 0; i < f->seen_count && !*known; i++) {
        *known = memcmp(f->seen + (ptrdiff_t)i * count, f->wanted, size) == 0;
    }
    if (*known || count == 0) {
        return PERP_STATUS_OK;
    }
    int *grown = perp_arena_grow(&f->cells->arena, f->seen, f->seen_count, &f->seen_capacity, size);
    if (!grown) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    f->seen = grown;
    memcpy(f->seen + (ptrdiff_t)f->seen_count++ * count, f->wanted, size);
    return PERP_STATUS_OK;
}

/* The widened cell as a dictionary. */
static bool build(const finder *f, perp_cell_dictionary *wide)
{
    const instant_cells *c = f->cells;
    perp_cell_answer answer = perp_cell_begin(&c->problem, wide);
    for (int i = 0; i < c->problem.choice_count; i++) {
        const perp_cell_choice *choice = &c->problem.choices[i];
        const unsigned char *relations = choice->relations + (ptrdiff_t)f->wanted[i] * choice->count;
        for (int k = 0; k < choice->count && answer == PERP_CELL_YES; k++) {
            if (relations[k] != PERP_CELL_ANY) {
                answer = perp_cell_ask(wide, choice->first + k, (perp_cell_relation)relations[k]);
            }
        }
    }
    return answer == PERP_CELL_YES;
}

/* ---- rates --------------------------------------------------------------------------------------------------------
 */

/* Of perp_polyhedron_oracle, over the rates of the widened cell, spare[1]. */
static perp_polyhedron_answer farthest(void *context, const double *direction, double *x)
{
    const finder *f = context;
    instant_cells *c = f->cells;
    perp_cell_dictionary *d = &c->spare[1];
    const int columns = c->table.columns;
    memset(c->weights, 0, (size_t)columns * sizeof *c->weights);
    for (int k = 0; k < f->n; k++) {
        const double *row = c->table.a + (ptrdiff_t)(c->first_rate + k) * columns;
        const double weight = ldexp(direction[k], -c->row_exponent[c->first_rate + k]);
        for (int j = 0; j < columns && weight != 0.0; j++) {
            c->weights[j] += weight * row[j];
        }
    }
    const perp_cell_answer answer = perp_cell_largest(d, c->weights, false);
    if (answer == PERP_CELL_WITHOUT_END) {
        for (int k = 0; k < f->n; k++) {
            const int function = c->first_rate + k;
            x[k] = ldexp(perp_cell_along_ray(d, function), -c->row_exponent[function]);
        }
        return PERP_POLYHEDRON_RAY;
    }
    if (answer != PERP_CELL_YES) {
        return PERP_POLYHEDRON_TROUBLE;
    }
    perp_instant_cells_read(c, d);
    memcpy(x, c->at, (size_t)f->n * sizeof *x);
    return PERP_POLYHEDRON_POINT;
}

/* One point of a cell, as a set. */
static perp_status take_point(finder *f, perp_cell_dictionary *d, perp_polyhedron *hull)
{
    if (perp_cell_rebuild(d) != PERP_CELL_YES) {
        f->result->complete = false;
        return PERP_STATUS_OK;
    }
    perp_instant_cells_read(f->cells, d);
    memcpy(hull->origin, f->cells->at, (size_t)f->n * sizeof *hull->origin);
    hull->vertices = hull->origin;
    hull->dimensions = hull->ray_count = hull->facet_count = 0;
    hull->vertex_count = 1;
    return f->found(f->context, hull, &f->cells->point);
}

static perp_status take_cell(void *context, perp_cell_dictionary *d, const int *modes)
{
    finder *f = context;
    instant_cells *c = f->cells;
    perp_cell_dictionary *wide = &c->spare[1];
    const perp_polyhedron_oracle oracle = {.n = f->n, .context = f, .farthest = farthest};
    perp_polyhedron hull;
    bool known, whole;
    if (!widen(f, d, modes)) {
        f->result->complete = false;
        return PERP_STATUS_OK;
    }
    perp_status status = note(f, &known);
    if (status != PERP_STATUS_OK || known) {
        return status;
    }
    if (!build(f, wide)) {
        perp_cell_dictionary_copy(wide, d);
    }
    perp_instant_cells_read(c, wide);
    status = perp_polyhedron_find(&oracle, c->at, &c->arena, &hull, &whole);
    f->result->described = f->result->described && whole;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    return whole && hull.dimensions > 0 ? f->found(f->context, &hull, NULL) : take_point(f, d, &hull);
}

perp_status perp_instant_cells_all(instant_cells *c, instant_cells_found *found, void *context,
                                   instant_cells_result *result, perp_error *error)
{
    const int n = c->system->p->n;
    *result = (instant_cells_result){.complete = !c->uncertain, .described = true};
    if (c->none) {
        return PERP_STATUS_OK;
    }
    finder f = {.cells = c, .found = found, .context = context, .result = result, .n = n};
    f.wanted = perp_arena_push(&c->arena, (size_t)c->problem.choice_count, sizeof *f.wanted);
    perp_cell_search search = {.problem = &c->problem,
                               .max_work = c->max_work,
                               .cancel = c->cancel,
                               .arena = &c->arena,
                               .found = take_cell,
                               .context = &f};
    const perp_status status = f.wanted ? perp_cell_search_run(&search) : PERP_STATUS_OUT_OF_MEMORY;
    result->complete = result->complete && search.complete && !c->spare[1].doubtful;
    result->nodes = search.nodes;
    result->work = search.work;
    switch (status) {
    case PERP_STATUS_OUT_OF_MEMORY:
        return perp_fail(error, status, "out of memory for the modes of %d contacts", c->problem.choice_count);
    case PERP_STATUS_CANCELLED:
        return perp_fail(error, status, "the search for all solutions was cancelled");
    default:
        return status;
    }
}

/* ---- forces of given rates ----------------------------------------------------------------------------------------
 */

/* The least (sign -1) or largest fn of contact i; false: not found. */
static bool find_end(instant_cells *c, const perp_cell_dictionary *d, int i, double sign, double *fn)
{
    perp_cell_dictionary *w = &c->spare[1];
    double size;
    memset(c->row, 0, ((size_t)c->unknowns + 1) * sizeof *c->row);
    c->row[c->force_at[i]] = sign;
    perp_instant_cells_reduce(c, c->row, c->weights, &size);
    for (int j = 0; j < c->table.columns; j++) {
        c->weights[j] = ldexp(c->weights[j], c->column_exponent[j]);
    }
    perp_cell_dictionary_copy(w, d);
    if (perp_cell_largest(w, c->weights, false) != PERP_CELL_YES || perp_cell_rebuild(w) != PERP_CELL_YES) {
        return false;
    }
    perp_instant_cells_read(c, w);
    *fn = c->point.force[c->system->p->row_start[i]];
    return true;
}

bool perp_instant_cells_bounds(instant_cells *c, int i, double *low, double *high)
{
    return perp_cell_begin(&c->problem, &c->spare[0]) == PERP_CELL_YES && find_end(c, &c->spare[0], i, -1.0, low) &&
           find_end(c, &c->spare[0], i, 1.0, high);
}

/* spare[0] becomes all forces that go with the rates x. */
static bool fix_rates(instant_cells *c, const double *x)
{
    const instant_cells_system *s = c->system;
    perp_cell_dictionary *d = &c->spare[0];
    double *b = c->table.b + c->first_rate;
    const int *exponent = c->row_exponent + c->first_rate;
    for (int k = 0; k < s->p->n; k++) {
        b[k] = c->rate_constant[k] - ldexp(x[k] / (s->rate * (s->unit ? s->unit[k] : 1.0)), exponent[k]);
    }
    perp_cell_answer answer = perp_cell_begin(&c->problem, d);
    for (int k = 0; k < s->p->n && answer == PERP_CELL_YES; k++) {
        answer = perp_cell_ask(d, c->first_rate + k, PERP_CELL_EQUAL);
    }
    return answer == PERP_CELL_YES && perp_cell_settle(&c->problem, d) == PERP_CELL_YES;
}

static void unfix_rates(instant_cells *c)
{
    memcpy(c->table.b + c->first_rate, c->rate_constant, (size_t)c->system->p->n * sizeof *c->rate_constant);
}

bool perp_instant_cells_at(instant_cells *c, const double *x)
{
    const bool found = fix_rates(c, x) && perp_cell_rebuild(&c->spare[0]) == PERP_CELL_YES;
    if (found) {
        perp_instant_cells_read(c, &c->spare[0]);
        memcpy(c->point.x, x, (size_t)c->system->p->n * sizeof *x);
    }
    unfix_rates(c);
    return found;
}

void perp_instant_cells_ranges(instant_cells *c, const double *x, double *low, double *high)
{
    const bool found = fix_rates(c, x);
    for (int i = 0; i < c->system->p->contact_count; i++) {
        if (c->force_at[i] >= 0) {
            double end;
            low[i] = found && find_end(c, &c->spare[0], i, -1.0, &end) ? end : 0.0;
            high[i] = found && find_end(c, &c->spare[0], i, 1.0, &end) ? end : INFINITY;
        }
    }
    unfix_rates(c);
}
