/* The equations of instant_cells.h, their elimination, and the modes as relations of affine functions. */
#include "step/instant/instant_cells.h"
#include "step/common/tolerances.h"

#include <string.h>

#define NEW(cells, array, count) ((array) = perp_arena_push(&(cells)->arena, (size_t)(count), sizeof *(array)))

/* Beyond these the search would hardly end, and its dictionaries are large. */
enum { CHOICES_MOST = 40, PARAMETERS_MOST = 72, FUNCTIONS_MOST = 1000 };

/* Functions of a choice. A pair has the first two, a line three more, a polygon of m corners 2 m more: slacks of its
 * facets, then the facets' turns to u_t. */
enum { FN, U_N, SLACK, LINE_UT = SLACK + 2, LINE_FUNCTIONS };

static const unsigned char PAIR_MODES[2][2] = {{PERP_CELL_EQUAL, PERP_CELL_ABOVE}, {PERP_CELL_ANY, PERP_CELL_EQUAL}};

/* Slacks are mu fn - ft and mu fn + ft. */
static const unsigned char LINE_MODES[4][LINE_FUNCTIONS] = {
    {PERP_CELL_EQUAL, PERP_CELL_ABOVE, PERP_CELL_EQUAL, PERP_CELL_EQUAL, PERP_CELL_ANY},
    {PERP_CELL_ANY, PERP_CELL_EQUAL, PERP_CELL_ANY, PERP_CELL_ANY, PERP_CELL_EQUAL},
    {PERP_CELL_ANY, PERP_CELL_EQUAL, PERP_CELL_ANY, PERP_CELL_EQUAL, PERP_CELL_ABOVE},
    {PERP_CELL_ANY, PERP_CELL_EQUAL, PERP_CELL_EQUAL, PERP_CELL_ANY, PERP_CELL_BELOW},
};

static int rows_of(const perp_contact_qp *p, int i)
{
    return p->row_start[i + 1] - p->row_start[i];
}

static bool has_limit(const perp_contact_qp *p, int k, int side)
{
    return p->lower && isfinite(side == 0 ? p->lower[k] : p->upper[k]);
}

static double unit_of(const instant_cells_system *s, int k)
{
    return s->unit ? s->unit[k] : 1.0;
}

/* A bound, over the unit of its unknown. */
static double limit(const instant_cells_system *s, int k, int side)
{
    return (side == 0 ? s->p->lower[k] : s->p->upper[k]) / (s->rate * unit_of(s, k));
}

static int functions_of(const instant_cells_system *s, int i)
{
    switch (s->kind[i]) {
    case INSTANT_INACTIVE:
        return 0;
    case INSTANT_ROLL_LINE:
        return LINE_FUNCTIONS;
    case INSTANT_ROLL_POLYGON:
        return SLACK + 2 * s->wide->count;
    default:
        return SLACK;
    }
}

static int unknowns_of(const instant_cells_system *s, int i)
{
    const instant_kind kind = s->kind[i];
    return kind == INSTANT_INACTIVE                                    ? 0
           : kind == INSTANT_ROLL_LINE || kind == INSTANT_ROLL_POLYGON ? rows_of(s->p, i)
                                                                       : 1;
}

typedef struct sizes {
    int choices, functions, forces;
} sizes;

static sizes count(const instant_cells_system *s)
{
    const perp_contact_qp *p = s->p;
    sizes n = {0};
    for (int i = 0; i < p->contact_count; i++) {
        n.choices += s->kind[i] != INSTANT_INACTIVE;
        n.functions += functions_of(s, i);
        n.forces += unknowns_of(s, i);
    }
    for (int k = 0; k < p->n; k++) {
        for (int side = 0; side < 2; side++) {
            n.choices += has_limit(p, k, side);
            n.functions += has_limit(p, k, side) ? SLACK : 0;
            n.forces += has_limit(p, k, side);
        }
    }
    return n;
}

bool perp_instant_cells_can_be_searched(const instant_cells_system *system)
{
    const sizes n = count(system);
    return n.choices <= CHOICES_MOST && n.forces <= PARAMETERS_MOST && n.functions <= FUNCTIONS_MOST;
}

/* ---- the equations ------------------------------------------------------------------------------------------------
 */

static double *equation(const instant_cells *c, int row)
{
    return c->matrix + (ptrdiff_t)row * (c->unknowns + 1);
}

/* to[k] += weight times row r of contact i over x. */
static void add_row(const instant_cells *c, int i, int r, double weight, double *to)
{
    const perp_contact_qp *p = c->system->p;
    const int start = p->dof_start[i], columns = p->dof_start[i + 1] - start;
    const double *row = p->jacobian + c->jacobian[i] + (ptrdiff_t)r * columns;
    for (int k = 0; k < columns; k++) {
        to[p->dofs[start + k]] += weight * row[k] * unit_of(c->system, p->dofs[start + k]);
    }
}

/* What unknown `at` does to the balance, along row r of contact i. */
static void put_force(instant_cells *c, int at, int i, int r, double weight)
{
    const perp_contact_qp *p = c->system->p;
    memset(c->row, 0, (size_t)p->n * sizeof *c->row);
    add_row(c, i, r, weight, c->row);
    for (int k = 0; k < p->n; k++) {
        equation(c, k)[at] -= c->row[k];
    }
}

static void put_contact(instant_cells *c, int i)
{
    const instant_cells_system *s = c->system;
    const int at = c->force_at[i], rows = rows_of(s->p, i);
    for (int r = 0; r < unknowns_of(s, i); r++) {
        put_force(c, at + r, i, r, 1.0);
    }
    for (int r = 1; r < rows && s->kind[i] == INSTANT_SLIDE; r++) {
        put_force(c, at, i, r, -s->mu[i] * s->slip[i][r - 1]);
    }
}

static void put_balance(instant_cells *c)
{
    const instant_cells_system *s = c->system;
    const perp_contact_qp *p = s->p;
    const double *block = p->hessian;
    for (int b = 0; b < p->block_count; b++) {
        for (int i = p->block_start[b]; i < p->block_start[b + 1]; i++) {
            for (int k = p->block_start[b]; k < p->block_start[b + 1]; k++) {
                equation(c, i)[k] = *block++ * s->rate / s->force * unit_of(s, i) * unit_of(s, k);
            }
            equation(c, i)[c->unknowns] = p->g[i] * unit_of(s, i) / s->force;
        }
    }
    for (int i = 0; i < p->equality_count; i++) {
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            const int dof = p->equality_dofs[k];
            const double value = p->equality_values[k] * unit_of(s, dof);
            equation(c, p->n + i)[dof] = value;
            equation(c, dof)[p->n + i] = -value;
        }
        equation(c, p->n + i)[c->unknowns] = -p->equality_target[i] / s->rate;
    }
}

/* Row `row` gives unknown `column` and no other does. */
static void exchange(instant_cells *c, int row, int column)
{
    double *a = equation(c, row);
    const double inverse = 1.0 / a[column];
    for (int j = 0; j <= c->unknowns; j++) {
        a[j] *= inverse;
    }
    a[column] = 1.0;
    for (int i = 0; i < c->equations; i++) {
        const double factor = equation(c, i)[column];
        for (int j = 0; j <= c->unknowns && i != row && factor != 0.0; j++) {
            equation(c, i)[j] -= factor * a[j];
        }
        equation(c, i)[column] = i == row ? 1.0 : 0.0;
    }
    c->given_by[column] = row;
}

/* Unknowns before `end` are given by equations, largest entry first, as long as there is one. */
static void give(instant_cells *c, const double *size, bool *used, int end)
{
    for (;;) {
        int row = -1, column = -1;
        double largest = PIVOT_ROUNDING;
        for (int i = 0; i < c->equations; i++) {
            for (int j = 0; j < end && !used[i]; j++) {
                if (c->given_by[j] < 0 && fabs(equation(c, i)[j]) > largest * size[i]) {
                    largest = fabs(equation(c, i)[j]) / size[i];
                    row = i;
                    column = j;
                }
            }
        }
        if (row < 0) {
            return;
        }
        used[row] = true;
        exchange(c, row, column);
    }
}

/* Rates and the loops' forces by the contacts' as far as that goes; an equation that is left over says nothing, or
 * that there is no answer. */
static void eliminate(instant_cells *c, double *size, bool *used)
{
    for (int j = 0; j < c->unknowns; j++) {
        c->given_by[j] = -1;
    }
    for (int i = 0; i < c->equations; i++) {
        size[i] = 0.0;
        for (int j = 0; j < c->equations; j++) {
            size[i] = fmax(size[i], fabs(equation(c, i)[j]));
        }
        size[i] = size[i] > 0.0 ? size[i] : 1.0;
    }
    give(c, size, used, c->equations);
    give(c, size, used, c->unknowns);
    for (int i = 0; i < c->equations; i++) {
        const double left = used[i] ? 0.0 : fabs(equation(c, i)[c->unknowns]) / size[i];
        c->none = c->none || left > EQUATION_OFF;
        c->uncertain = c->uncertain || (left > EQUATION_ROUNDING && left <= EQUATION_OFF);
        for (int j = 0; j < c->unknowns && !used[i]; j++) {
            c->uncertain =
                c->uncertain || (c->given_by[j] < 0 && fabs(equation(c, i)[j]) > EQUATION_ROUNDING * size[i]);
        }
    }
    c->table.columns = 0;
    for (int j = 0; j < c->unknowns; j++) {
        c->parameter[j] = c->given_by[j] < 0 ? c->table.columns++ : -1;
    }
}

double perp_instant_cells_reduce(const instant_cells *c, const double *row, double *weights, double *size)
{
    double constant = row[c->unknowns];
    *size = fabs(constant);
    memset(weights, 0, (size_t)c->table.columns * sizeof *weights);
    for (int j = 0; j < c->unknowns; j++) {
        const double *given = row[j] != 0.0 && c->given_by[j] >= 0 ? equation(c, c->given_by[j]) : NULL;
        if (row[j] != 0.0 && !given) {
            weights[c->parameter[j]] += row[j];
            *size = fmax(*size, fabs(row[j]));
        }
        for (int k = 0; k < c->unknowns && given; k++) {
            if (c->parameter[k] >= 0) {
                weights[c->parameter[k]] -= row[j] * given[k];
                *size = fmax(*size, fabs(row[j] * given[k]));
            }
        }
        constant -= given ? row[j] * given[c->unknowns] : 0.0;
        *size = given ? fmax(*size, fabs(row[j] * given[c->unknowns])) : *size;
    }
    return constant;
}

/* ---- functions ----------------------------------------------------------------------------------------------------
 */

/* c->row becomes a function of the unknowns, of 0 so far. */
static double *new_row(instant_cells *c)
{
    memset(c->row, 0, ((size_t)c->unknowns + 1) * sizeof *c->row);
    return c->row;
}

static void put_function(instant_cells *c, int at, perp_cell_relation always)
{
    double *a = c->table.a + (ptrdiff_t)at * c->table.columns;
    c->table.b[at] = perp_instant_cells_reduce(c, c->row, a, &c->size[at]);
    c->always[at] = (unsigned char)always;
}

/* The velocity or acceleration along row r of contact i. */
static void add_motion(instant_cells *c, int i, int r, double weight)
{
    const instant_cells_system *s = c->system;
    add_row(c, i, r, weight, c->row);
    c->row[c->unknowns] += weight * s->p->offset[s->p->row_start[i] + r] / s->rate;
}

static void put_polygon(instant_cells *c, int at, int i)
{
    const rigid_polygon *d = c->system->wide;
    const int fn = c->force_at[i];
    for (int j = 0; j < d->count; j++) {
        double *row = new_row(c);
        row[fn] = c->system->mu[i];
        row[fn + 1] = -d->facet[j][0];
        row[fn + 2] = -d->facet[j][1];
        put_function(c, at + SLACK + j, PERP_CELL_AT_LEAST);
        new_row(c);
        add_motion(c, i, 2, d->facet[j][0]);
        add_motion(c, i, 1, -d->facet[j][1]);
        put_function(c, at + SLACK + d->count + j, PERP_CELL_ANY);
    }
}

static void put_functions(instant_cells *c, int at, int i)
{
    const int fn = c->force_at[i];
    new_row(c)[fn] = 1.0;
    put_function(c, at + FN, PERP_CELL_AT_LEAST);
    new_row(c);
    add_motion(c, i, 0, 1.0);
    put_function(c, at + U_N, PERP_CELL_AT_LEAST);
    for (int side = 0; side < 2 && c->system->kind[i] == INSTANT_ROLL_LINE; side++) {
        double *row = new_row(c);
        row[fn] = c->system->mu[i];
        row[fn + 1] = side == 0 ? -1.0 : 1.0;
        put_function(c, at + SLACK + side, PERP_CELL_AT_LEAST);
    }
    if (c->system->kind[i] == INSTANT_ROLL_LINE) {
        new_row(c);
        add_motion(c, i, 1, 1.0);
        put_function(c, at + LINE_UT, PERP_CELL_ANY);
    } else if (c->system->kind[i] == INSTANT_ROLL_POLYGON) {
        put_polygon(c, at, i);
    }
}

/* The modes of a polygon: open, sticks, on edge j, in the corner between edges j and j + 1. Facets are
 * counter-clockwise, so that -u_t along facet j turns facet j + 1 to the left. */
static void fill_polygon_modes(unsigned char *modes, int m)
{
    const int width = SLACK + 2 * m, turn = SLACK + m;
    memset(modes, PERP_CELL_ANY, (size_t)(2 + 2 * m) * (size_t)width);
    for (int mode = 1; mode < 2 + 2 * m; mode++) {
        modes[mode * width + U_N] = PERP_CELL_EQUAL;
    }
    modes[FN] = PERP_CELL_EQUAL;
    modes[U_N] = PERP_CELL_ABOVE;
    memset(modes + SLACK, PERP_CELL_EQUAL, (size_t)m);
    memset(modes + width + turn, PERP_CELL_EQUAL, (size_t)m);
    for (int j = 0; j < m; j++) {
        const int next = (j + 1) % m;
        unsigned char *edge = modes + (2 + j) * width, *corner = modes + (2 + m + j) * width;
        edge[SLACK + j] = corner[SLACK + j] = corner[SLACK + next] = PERP_CELL_EQUAL;
        edge[turn + j] = PERP_CELL_EQUAL;
        edge[turn + next] = corner[turn + next] = PERP_CELL_ABOVE;
        corner[turn + j] = PERP_CELL_BELOW;
    }
}

static perp_cell_choice choice_of(const instant_cells *c, instant_kind kind, int first)
{
    const int m = c->system->wide->count;
    switch (kind) {
    case INSTANT_ROLL_LINE:
        return (perp_cell_choice){first, LINE_FUNCTIONS, 4, LINE_MODES[0]};
    case INSTANT_ROLL_POLYGON:
        return (perp_cell_choice){first, SLACK + 2 * m, 2 + 2 * m, c->polygon_modes};
    default:
        return (perp_cell_choice){first, SLACK, 2, PAIR_MODES[0]};
    }
}

/* Where nothing slides yet no force does work, or it brakes: f.u <= 0 at every contact, and so at every answer
 *
 *     x'M x + g'x - d'y + w'f - lower'y_lower + upper'y_upper <= 0        (u = J x + w, C x = d)
 *
 * without x'M x, which is never below 0, a relation that the modes taken one by one do not know of. What slides may be
 * driven by its friction. */
static void put_work(instant_cells *c, int at)
{
    const instant_cells_system *s = c->system;
    const perp_contact_qp *p = s->p;
    bool any = false;
    new_row(c);
    for (int k = 0; k < c->equations; k++) {
        c->row[k] = k < p->n ? -p->g[k] * unit_of(s, k) / s->force : p->equality_target[k - p->n] / s->rate;
    }
    for (int i = 0; i < p->contact_count; i++) {
        any = any || s->kind[i] == INSTANT_SLIDE;
        for (int r = 0; r < unknowns_of(s, i); r++) {
            c->row[c->force_at[i] + r] = -p->offset[p->row_start[i] + r] / s->rate;
        }
    }
    for (int k = 0; k < 2 * p->n; k++) {
        if (c->limit_at[k] >= 0) {
            c->row[c->limit_at[k]] = (k % 2 == 0 ? 1.0 : -1.0) * limit(s, k / 2, k % 2);
        }
    }
    put_function(c, at, any ? PERP_CELL_ANY : PERP_CELL_AT_LEAST);
}

static void put_choices(instant_cells *c)
{
    const instant_cells_system *s = c->system;
    const perp_contact_qp *p = s->p;
    int at = 0, choices = 0;
    for (int i = 0; i < p->contact_count; i++) {
        if (s->kind[i] != INSTANT_INACTIVE) {
            c->choices[choices++] = choice_of(c, s->kind[i], at);
            put_functions(c, at, i);
        }
        at += functions_of(s, i);
    }
    for (int k = 0; k < 2 * p->n; k++) {
        if (c->limit_at[k] >= 0) {
            c->choices[choices++] = choice_of(c, INSTANT_SMOOTH, at);
            new_row(c)[c->limit_at[k]] = 1.0;
            put_function(c, at++, PERP_CELL_AT_LEAST);
            const double sign = k % 2 == 0 ? 1.0 : -1.0;
            new_row(c)[k / 2] = sign;
            c->row[c->unknowns] = -sign * limit(s, k / 2, k % 2);
            put_function(c, at++, PERP_CELL_AT_LEAST);
        }
    }
    put_work(c, at++);
    c->first_rate = at;
    for (int k = 0; k < p->n; k++) {
        new_row(c)[k] = 1.0;
        put_function(c, at++, PERP_CELL_ANY);
    }
}

/* ---- opening ------------------------------------------------------------------------------------------------------
 */

static void number_unknowns(instant_cells *c)
{
    const perp_contact_qp *p = c->system->p;
    int at = p->n + p->equality_count;
    ptrdiff_t jacobian = 0;
    for (int i = 0; i < p->contact_count; i++) {
        c->jacobian[i] = jacobian;
        jacobian += (ptrdiff_t)rows_of(p, i) * (p->dof_start[i + 1] - p->dof_start[i]);
        c->force_at[i] = unknowns_of(c->system, i) > 0 ? at : -1;
        at += unknowns_of(c->system, i);
    }
    for (int k = 0; k < 2 * p->n; k++) {
        c->limit_at[k] = has_limit(p, k / 2, k % 2) ? at++ : -1;
    }
}

static bool reserve_system(instant_cells *c, const sizes *n)
{
    const perp_contact_qp *p = c->system->p;
    c->equations = p->n + p->equality_count;
    c->unknowns = c->equations + n->forces;
    NEW(c, c->force_at, p->contact_count);
    NEW(c, c->jacobian, p->contact_count);
    NEW(c, c->limit_at, 2 * p->n);
    NEW(c, c->matrix, (size_t)c->equations * ((size_t)c->unknowns + 1));
    NEW(c, c->equation_size, c->equations);
    NEW(c, c->given_by, c->unknowns);
    NEW(c, c->parameter, c->unknowns);
    NEW(c, c->row, (size_t)c->unknowns + 1);
    NEW(c, c->at, c->unknowns);
    NEW(c, c->point.x, p->n);
    NEW(c, c->point.y, p->equality_count);
    NEW(c, c->point.force, p->contact_count > 0 ? p->row_start[p->contact_count] : 0);
    NEW(c, c->point.lower, p->n);
    NEW(c, c->point.upper, p->n);
    return c->force_at && c->jacobian && c->limit_at && c->matrix && c->equation_size && c->given_by && c->parameter &&
           c->row && c->at && c->point.x && c->point.y && c->point.force && c->point.lower && c->point.upper;
}

static bool reserve_table(instant_cells *c, const sizes *n)
{
    const int m = c->system->wide->count;
    c->table.rows = n->functions + 1 + c->system->p->n;
    NEW(c, c->table.a, (size_t)c->table.rows * (size_t)c->table.columns);
    NEW(c, c->table.b, c->table.rows);
    NEW(c, c->size, c->table.rows);
    NEW(c, c->row_exponent, c->table.rows);
    NEW(c, c->column_exponent, c->table.columns);
    NEW(c, c->rate_constant, c->system->p->n);
    NEW(c, c->always, c->table.rows);
    NEW(c, c->polygon_modes, (size_t)(2 + 2 * m) * (size_t)(SLACK + 2 * m));
    NEW(c, c->choices, n->choices);
    NEW(c, c->zero, SLACK + 2 * (m > 2 ? m : 2));
    NEW(c, c->weights, c->table.columns);
    NEW(c, c->parameters, c->table.columns);
    bool all = c->table.a && c->table.b && c->size && c->row_exponent && c->column_exponent && c->rate_constant &&
               c->always && c->polygon_modes && c->choices && c->zero && c->weights && c->parameters;
    for (int k = 0; k < 2 && all; k++) {
        all = perp_cell_dictionary_create(&c->spare[k], &c->table, &c->work, &c->arena);
    }
    return all;
}

perp_status perp_instant_cells_open(instant_cells *c, const instant_cells_system *system,
                                    const perp_allocator *allocator, perp_error *error)
{
    const sizes n = count(system);
    *c = (instant_cells){.system = system};
    perp_arena_init(&c->arena, allocator);
    bool *used = perp_arena_push(&c->arena, (size_t)system->p->n + (size_t)system->p->equality_count, sizeof *used);
    bool all = used && reserve_system(c, &n);
    if (all) {
        number_unknowns(c);
        put_balance(c);
        for (int i = 0; i < system->p->contact_count; i++) {
            put_contact(c, i);
        }
        for (int k = 0; k < 2 * system->p->n; k++) {
            if (c->limit_at[k] >= 0) {
                equation(c, k / 2)[c->limit_at[k]] = k % 2 == 0 ? -1.0 : 1.0;
            }
        }
        eliminate(c, c->equation_size, used);
        all = reserve_table(c, &n);
    }
    if (!all) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for the modes of %d contacts", n.choices);
    }
    fill_polygon_modes(c->polygon_modes, system->wide->count);
    put_choices(c);
    c->uncertain = !perp_cell_scale(&c->table, c->size, c->row_exponent, c->column_exponent) || c->uncertain;
    memcpy(c->rate_constant, c->table.b + c->first_rate, (size_t)system->p->n * sizeof *c->rate_constant);
    c->problem = (perp_cell_problem){&c->table, c->always, n.choices, c->choices};
    return PERP_STATUS_OK;
}

void perp_instant_cells_close(instant_cells *c)
{
    perp_arena_clear(&c->arena);
}

/* ---- points -------------------------------------------------------------------------------------------------------
 */

static void read_unknowns(instant_cells *c, const perp_cell_dictionary *d)
{
    perp_cell_point(d, c->parameters);
    for (int j = 0; j < c->unknowns; j++) {
        if (c->parameter[j] >= 0) {
            c->at[j] = ldexp(c->parameters[c->parameter[j]], c->column_exponent[c->parameter[j]]);
        }
    }
    for (int j = 0; j < c->unknowns; j++) {
        const double *given = c->given_by[j] >= 0 ? equation(c, c->given_by[j]) : NULL;
        c->at[j] = given ? 0.0 - given[c->unknowns] : c->at[j];
        for (int k = 0; k < c->unknowns && given; k++) {
            c->at[j] -= c->parameter[k] >= 0 ? given[k] * c->at[k] : 0.0;
        }
    }
}

void perp_instant_cells_read(instant_cells *c, const perp_cell_dictionary *d)
{
    const instant_cells_system *s = c->system;
    const perp_contact_qp *p = s->p;
    read_unknowns(c, d);
    for (int k = 0; k < p->n; k++) {
        const double unit = s->force / unit_of(s, k);
        c->point.x[k] = s->rate * unit_of(s, k) * c->at[k];
        c->point.lower[k] = c->limit_at[2 * k] >= 0 ? unit * fmax(0.0, c->at[c->limit_at[2 * k]]) : 0.0;
        c->point.upper[k] = c->limit_at[2 * k + 1] >= 0 ? unit * fmax(0.0, c->at[c->limit_at[2 * k + 1]]) : 0.0;
    }
    for (int i = 0; i < p->equality_count; i++) {
        c->point.y[i] = s->force * c->at[p->n + i];
    }
    for (int i = 0; i < p->contact_count; i++) {
        double *r = c->point.force + p->row_start[i];
        memset(r, 0, (size_t)rows_of(p, i) * sizeof *r);
        for (int k = 0; k < unknowns_of(s, i); k++) {
            r[k] = s->force * (k == 0 ? fmax(0.0, c->at[c->force_at[i]]) : c->at[c->force_at[i] + k]);
        }
        for (int k = 1; k < rows_of(p, i) && s->kind[i] == INSTANT_SLIDE; k++) {
            r[k] = -s->mu[i] * s->slip[i][k - 1] * r[0];
        }
    }
}
