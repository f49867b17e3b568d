#include "solver/cell_dictionary.h"

#include "linalg/vector.h"
#include "solver/tolerances.h"

#include <limits.h>
#include <string.h>

/* After so many pivots a dictionary is computed afresh from its table. */
enum { PIVOTS_BEFORE_BUILD = 60 };
/* Largest entries are taken for so many pivots, then Bland's rule, which ends; and when it does not, rounding is why.
 */
enum { PIVOTS_LARGEST = 60, PIVOTS_MOST = 2000 };
/* How often a question is asked again of a dictionary that was built afresh. */
enum { ATTEMPTS = 4 };
/* Multiplications spent on exact signs, about a second; then small entries are of unknown sign. */
enum { EXACT_WORK_MOST = 300000000 };

/* ---- scaling ------------------------------------------------------------------------------------------------------
 */

/* Of what lies farther below the largest than this many powers of two, scaling takes no notice. */
enum { SPREAD = 30, SWEEPS = 8 };

typedef struct extent {
    int least, most; /* exponents; most = INT_MIN: of nothing */
} extent;

static void stretch(extent *e, double value, int exponent)
{
    int own;
    if (value != 0.0) {
        frexp(value, &own);
        e->least = e->most == INT_MIN || own + exponent < e->least ? own + exponent : e->least;
        e->most = own + exponent > e->most ? own + exponent : e->most;
    }
}

/* The middle, geometrically. */
static int centre(extent e)
{
    if (e.most == INT_MIN) {
        return 0;
    }
    return ((e.least > e.most - SPREAD ? e.least : e.most - SPREAD) + e.most) / 2;
}

static extent row_extent(const perp_cell_table *t, int i, const int *row, const int *column)
{
    extent e = {0, INT_MIN};
    for (int j = 0; j < t->columns; j++) {
        stretch(&e, t->a[(ptrdiff_t)i * t->columns + j], row[i] + column[j]);
    }
    return e;
}

/* The magnitudes of all entries, constants among them, are brought together; in the end the largest entry of a row is
 * near 1. */
static void equilibrate(const perp_cell_table *t, int *row, int *column)
{
    for (int sweep = 0; sweep <= SWEEPS; sweep++) {
        for (int i = 0; i < t->rows; i++) {
            extent e = row_extent(t, i, row, column);
            if (sweep == SWEEPS) {
                row[i] -= e.most == INT_MIN ? 0 : e.most;
                continue;
            }
            stretch(&e, t->b[i], row[i]);
            row[i] -= centre(e);
        }
        for (int j = 0; j < t->columns && sweep < SWEEPS; j++) {
            extent e = {0, INT_MIN};
            for (int i = 0; i < t->rows; i++) {
                stretch(&e, t->a[(ptrdiff_t)i * t->columns + j], row[i] + column[j]);
            }
            column[j] -= centre(e);
        }
    }
}

/* Entries that are no more than rounding are none. */
static void clear_rounding(perp_cell_table *t, const double *size)
{
    for (int i = 0; i < t->rows; i++) {
        for (int j = 0; j < t->columns; j++) {
            double *a = &t->a[(ptrdiff_t)i * t->columns + j];
            *a = fabs(*a) <= TABLE_ROUNDING * size[i] ? 0.0 : *a;
        }
        t->b[i] = fabs(t->b[i]) <= TABLE_ROUNDING * size[i] ? 0.0 : t->b[i];
    }
}

bool perp_cell_scale(perp_cell_table *t, const double *size, int *row, int *column)
{
    bool kept = true;
    clear_rounding(t, size);
    memset(row, 0, (size_t)t->rows * sizeof *row);
    memset(column, 0, (size_t)t->columns * sizeof *column);
    equilibrate(t, row, column);
    for (int i = 0; i < t->rows; i++) {
        for (int j = 0; j < t->columns; j++) {
            double *a = &t->a[(ptrdiff_t)i * t->columns + j];
            *a = ldexp(*a, row[i] + column[j]);
            kept = kept && (*a == 0.0 || fabs(*a) > CELL_ZERO);
        }
        t->b[i] = ldexp(t->b[i], row[i]);
        kept = kept && (t->b[i] == 0.0 || fabs(t->b[i]) > CELL_ZERO);
    }
    return kept;
}

/* ---- dictionaries -------------------------------------------------------------------------------------------------
 */

bool perp_cell_dictionary_create(perp_cell_dictionary *d, const perp_cell_table *table, int64_t *work,
                                 perp_arena *arena)
{
    const size_t rows = (size_t)table->rows, columns = (size_t)table->columns;
    *d = (perp_cell_dictionary){.table = table, .work = work};
    d->a = PERP_ARENA_NEW(arena, double, (rows + 1) * columns);
    d->b = PERP_ARENA_NEW(arena, double, rows + 1);
    d->row = PERP_ARENA_NEW(arena, int, rows);
    d->column = PERP_ARENA_NEW(arena, int, columns);
    d->place = PERP_ARENA_NEW(arena, int, rows + columns);
    d->asked = PERP_ARENA_NEW(arena, unsigned char, rows + columns);
    d->goal = PERP_ARENA_NEW(arena, unsigned char, rows + columns);
    d->residue = table->exact ? PERP_ARENA_NEW(arena, uint32_t, rows * columns) : NULL;
    return d->a && d->b && d->row && d->column && d->place && d->asked && d->goal && (d->residue || !table->exact);
}

bool perp_cell_make_exact(perp_cell_table *table, perp_arena *arena)
{
    const size_t rows = (size_t)table->rows, columns = (size_t)table->columns;
    perp_cell_exact *exact = table->exact = PERP_ARENA_NEW(arena, perp_cell_exact, 1);
    if (!exact) {
        return false;
    }
    exact->residue = PERP_ARENA_NEW(arena, uint32_t, rows * columns);
    exact->matrix = PERP_ARENA_NEW(arena, double, rows *rows);
    exact->index = PERP_ARENA_NEW(arena, int, rows);
    if (!exact->residue || !exact->matrix || !exact->index ||
        !perp_exact_minor_init(&exact->minor, table->rows, arena)) {
        return false;
    }
    for (size_t k = 0; k < rows * columns; k++) {
        exact->residue[k] = perp_exact_residue(table->a[k]);
    }
    for (int i = 0; i < table->rows; i++) {
        exact->index[i] = i;
    }
    return true;
}

static double *row_of(const perp_cell_dictionary *d, int row)
{
    return d->a + (ptrdiff_t)row * d->table->columns;
}

static uint32_t *residues_of(const perp_cell_dictionary *d, int row)
{
    return d->residue + (ptrdiff_t)row * d->table->columns;
}

static void clear_row(perp_cell_dictionary *d, int row)
{
    memset(row_of(d, row), 0, (size_t)d->table->columns * sizeof *d->a);
    if (d->residue && row < d->table->rows) {
        memset(residues_of(d, row), 0, (size_t)d->table->columns * sizeof *d->residue);
    }
    d->b[row] = 0.0;
}

/* The table itself: the functions are the rows. */
static void load(perp_cell_dictionary *d)
{
    const int rows = d->table->rows, columns = d->table->columns;
    memcpy(d->a, d->table->a, (size_t)rows * (size_t)columns * sizeof *d->a);
    memcpy(d->b, d->table->b, (size_t)rows * sizeof *d->b);
    if (d->residue) {
        memcpy(d->residue, d->table->exact->residue, (size_t)rows * (size_t)columns * sizeof *d->residue);
    }
    clear_row(d, rows);
    d->columns = columns;
    d->pivots = 0;
    for (int i = 0; i < rows; i++) {
        d->row[i] = d->place[i] = i;
    }
    for (int j = 0; j < columns; j++) {
        d->column[j] = rows + j;
        d->place[rows + j] = ~j;
    }
}

void perp_cell_dictionary_start(perp_cell_dictionary *d)
{
    load(d);
    memset(d->asked, PERP_CELL_ANY, (size_t)d->table->rows + (size_t)d->table->columns);
}

void perp_cell_dictionary_copy(perp_cell_dictionary *to, const perp_cell_dictionary *from)
{
    const int rows = from->table->rows, columns = from->table->columns;
    to->table = from->table;
    to->columns = from->columns;
    to->pivots = from->pivots;
    *to->work += (int64_t)rows * from->columns;
    for (int i = 0; i < rows; i++) { /* the objective is of one question only */
        memcpy(row_of(to, i), row_of(from, i), (size_t)from->columns * sizeof *to->a);
        if (to->residue) {
            memcpy(residues_of(to, i), residues_of(from, i), (size_t)from->columns * sizeof *to->residue);
        }
    }
    memcpy(to->b, from->b, (size_t)rows * sizeof *to->b);
    memcpy(to->row, from->row, (size_t)rows * sizeof *to->row);
    memcpy(to->column, from->column, (size_t)columns * sizeof *to->column);
    memcpy(to->place, from->place, ((size_t)rows + (size_t)columns) * sizeof *to->place);
    memcpy(to->asked, from->asked, (size_t)rows + (size_t)columns);
}

/* ---- pivots ------------------------------------------------------------------------------------------------------ */

/* The same exchange of residues. A pivot of 0 would say that the numbers are rounding altogether. */
static void pivot_residues(perp_cell_dictionary *d, int row, int column)
{
    uint32_t *p = residues_of(d, row);
    const uint32_t inverse = perp_exact_inverse(p[column]), negative = perp_exact_negative(inverse);
    d->doubtful = d->doubtful || inverse == 0;
    for (int j = 0; j < d->columns; j++) {
        p[j] = perp_exact_add_product(0, negative, p[j]);
    }
    p[column] = inverse;
    for (int i = 0; i < d->table->rows; i++) {
        uint32_t *a = residues_of(d, i);
        const uint32_t factor = a[column];
        if (i == row || factor == 0) {
            continue;
        }
        a[column] = 0;
        for (int j = 0; j < d->columns; j++) {
            a[j] = perp_exact_add_product(a[j], factor, p[j]);
        }
    }
}

static void pivot(perp_cell_dictionary *d, int row, int column)
{
    const int rows = d->table->rows + 1, columns = d->columns;
    double *p = row_of(d, row);
    const double inverse = 1.0 / p[column];
    for (int j = 0; j < columns; j++) {
        p[j] *= -inverse;
    }
    p[column] = inverse;
    d->b[row] *= -inverse;
    for (int i = 0; i < rows; i++) {
        double *a = row_of(d, i);
        const double factor = a[column];
        if (i == row || factor == 0.0) {
            continue;
        }
        a[column] = 0.0;
        for (int j = 0; j < columns; j++) {
            a[j] += factor * p[j];
        }
        d->b[i] += factor * d->b[row];
    }
    if (d->residue) {
        pivot_residues(d, row, column);
    }
    const int out = d->row[row], in = d->column[column];
    d->row[row] = in;
    d->column[column] = out;
    d->place[in] = row;
    d->place[out] = ~column;
    d->pivots++;
    *d->work += (int64_t)rows * columns;
}

/* The column that becomes a row leaves its place to the last one. */
static void drop(perp_cell_dictionary *d, int column)
{
    const int last = --d->columns, gone = d->column[column], stays = d->column[last];
    for (int i = 0; i <= d->table->rows; i++) {
        row_of(d, i)[column] = row_of(d, i)[last];
        if (d->residue && i < d->table->rows) {
            residues_of(d, i)[column] = residues_of(d, i)[last];
        }
    }
    d->column[column] = stays;
    d->column[last] = gone;
    d->place[stays] = ~column;
    d->place[gone] = ~last;
}

static bool may_rise(const perp_cell_dictionary *d, int variable)
{
    return d->asked[variable] == PERP_CELL_ANY || d->asked[variable] == PERP_CELL_AT_LEAST;
}

static bool may_fall(const perp_cell_dictionary *d, int variable)
{
    return d->asked[variable] == PERP_CELL_ANY || d->asked[variable] == PERP_CELL_AT_MOST;
}

static double row_size(const perp_cell_dictionary *d, int row)
{
    return fmax(1.0, perp_vector_largest(d->columns, row_of(d, row)));
}

/* Whether the column may go a way in which its row grows by more than `least`. */
static bool is_improving(const perp_cell_dictionary *d, int column, double rate, double least)
{
    return (rate > least && may_rise(d, d->column[column])) || (rate < -least && may_fall(d, d->column[column]));
}

/* The column that lets sign times the row grow: by the largest entry or, with Bland's rule, the first variable. -1:
 * none. */
static int improving_column(const perp_cell_dictionary *d, int row, double sign, bool first)
{
    const double *a = row_of(d, row);
    const double least = CELL_ZERO * row_size(d, row);
    int best = -1;
    for (int j = 0; j < d->columns; j++) {
        if (!is_improving(d, j, sign * a[j], least)) {
            continue;
        }
        if (best < 0 || (first ? d->column[j] < d->column[best] : fabs(a[j]) > fabs(a[best]))) {
            best = j;
        }
    }
    return best;
}

/* Whether an entry that is as small as `rounding` is 0: exactly so where that can be told. */
static bool is_zero(const perp_cell_dictionary *d, int row, int column, double rounding)
{
    return fabs(row_of(d, row)[column]) <= rounding && !(d->residue && residues_of(d, row)[column] != 0);
}

/* The columns of [I, -A], with the table's A, of the variables that are rows, but in place of row `row` that of
 * `other`. */
static perp_exact_sign basis_sign(const perp_cell_dictionary *d, int row, int other)
{
    const int rows = d->table->rows, columns = d->table->columns;
    perp_cell_exact *exact = d->table->exact;
    for (int k = 0; k < rows; k++) {
        const int variable = k == row ? other : d->row[k];
        for (int i = 0; i < rows; i++) {
            exact->matrix[(ptrdiff_t)i * rows + k] =
                variable < rows ? (double)(variable == i) : -d->table->a[(ptrdiff_t)i * columns + variable - rows];
        }
    }
    return exact->minor.work > EXACT_WORK_MOST
               ? PERP_EXACT_TOO_WIDE
               : perp_exact_minor_sign(&exact->minor, exact->matrix, rows, exact->index, rows, NULL);
}

/* Of an entry of the dictionary, by Cramer's rule. */
static perp_exact_sign entry_sign(const perp_cell_dictionary *d, int row, int column)
{
    const perp_exact_sign own = basis_sign(d, row, d->row[row]), other = basis_sign(d, row, d->column[column]);
    const bool told = own != PERP_EXACT_ZERO && own != PERP_EXACT_TOO_WIDE && other != PERP_EXACT_TOO_WIDE;
    return told ? (perp_exact_sign)(-(int)own * (int)other) : PERP_EXACT_TOO_WIDE;
}

/* Whether an entry that improving_column passes over, though it is not 0, lets the row grow, or may do so. */
static bool may_improve(const perp_cell_dictionary *d, int row, double sign)
{
    const double rounding = ENTRY_ROUNDING * row_size(d, row);
    for (int j = 0; j < d->columns; j++) {
        double rate = sign * row_of(d, row)[j];
        if (fabs(rate) <= rounding) {
            const perp_exact_sign exact = is_zero(d, row, j, rounding) ? PERP_EXACT_ZERO : entry_sign(d, row, j);
            if (exact == PERP_EXACT_TOO_WIDE) {
                return true;
            }
            rate = sign * (double)exact * 2.0 * rounding;
        }
        if (is_improving(d, j, rate, rounding)) {
            return true;
        }
    }
    return false;
}

/* How far a column may go until row i is at its bound; infinite where it has none on that side. */
static double room(const perp_cell_dictionary *d, int i, int column, double way)
{
    const double rate = way * row_of(d, i)[column];
    const unsigned char asked = d->asked[d->row[i]];
    if (asked == PERP_CELL_AT_LEAST && rate < -CELL_ZERO) {
        return fmax(d->b[i], 0.0) / -rate;
    }
    if (asked == PERP_CELL_AT_MOST && rate > CELL_ZERO) {
        return fmax(-d->b[i], 0.0) / rate;
    }
    return INFINITY;
}

/* The row that stops a column first, -1: none; `target` stops it where it is 0. Among rows that do at once the one with
 * the largest entry, or the first variable. */
static int blocking_row(const perp_cell_dictionary *d, int column, double way, int target, bool first)
{
    int best = -1;
    double least = INFINITY;
    if (target >= 0) {
        best = target;
        least = fabs(d->b[target] / row_of(d, target)[column]);
    }
    for (int i = 0; i < d->table->rows; i++) {
        const double length = i == target ? INFINITY : room(d, i, column, way);
        if (!(length < INFINITY) || length > least + CELL_TIE) {
            continue;
        }
        if (length >= least - CELL_TIE && best >= 0) {
            const bool better =
                first ? d->row[i] < d->row[best] : fabs(row_of(d, i)[column]) > fabs(row_of(d, best)[column]);
            if (best == target || !better) { /* the target leaves where it can: that is what is wanted */
                continue;
            }
        }
        best = i;
        least = fmin(least, length);
    }
    return best;
}

typedef enum growth { REACHED, TOP, NO_END, RAN_OUT } growth;

/* Lets sign times row `row` grow: with `to_zero` until the row is 0, which makes it a column, else until it is above
 * `enough` or at its top. */
static growth grow(perp_cell_dictionary *d, int row, double sign, bool to_zero, double enough)
{
    for (int k = 0; k < PIVOTS_MOST; k++) {
        const bool first = k > PIVOTS_LARGEST;
        if (!to_zero && sign * d->b[row] > enough) {
            return REACHED;
        }
        const int column = improving_column(d, row, sign, first);
        if (column < 0) {
            return TOP;
        }
        const double way = sign * row_of(d, row)[column] > 0.0 ? 1.0 : -1.0;
        const int block = blocking_row(d, column, way, to_zero ? row : -1, first);
        if (block < 0) {
            d->endless = column;
            d->way = way;
            return NO_END;
        }
        pivot(d, block, column);
        if (block == row) {
            return REACHED;
        }
    }
    return RAN_OUT;
}

/* ---- building afresh ----------------------------------------------------------------------------------------------
 */

/* The largest entry of a row that is to be a column, in a column that is to be a row; among equal ones the first row's.
 */
static bool next_exchange(const perp_cell_dictionary *d, int *row, int *column)
{
    double largest = CELL_PIVOT_LEAST;
    *row = INT_MAX;
    for (int j = 0; j < d->columns; j++) {
        for (int i = 0; i < d->table->rows && d->goal[d->column[j]] == PERP_CELL_ROW; i++) {
            const double entry = fabs(row_of(d, i)[j]);
            if (entry >= largest && (entry > largest || i < *row) && d->goal[d->row[i]] != PERP_CELL_ROW) {
                largest = entry;
                *row = i;
                *column = j;
            }
        }
    }
    return *row < INT_MAX;
}

/* What is asked of the rows holds but for rounding, which is taken away. */
static bool settle(perp_cell_dictionary *d)
{
    for (int i = 0; i < d->table->rows; i++) {
        const unsigned char asked = d->asked[d->row[i]];
        const double off = asked == PERP_CELL_EQUAL      ? fabs(d->b[i])
                           : asked == PERP_CELL_AT_LEAST ? -d->b[i]
                           : asked == PERP_CELL_AT_MOST  ? d->b[i]
                                                         : 0.0;
        if (!(off <= REBUILT_OFF)) {
            return false;
        }
        if (asked == PERP_CELL_EQUAL) {
            clear_row(d, i);
        }
        d->b[i] = off > 0.0 ? 0.0 : d->b[i];
    }
    return true;
}

bool perp_cell_exchange(perp_cell_dictionary *d)
{
    int row, column;
    load(d);
    while (next_exchange(d, &row, &column)) {
        pivot(d, row, column);
    }
    d->pivots = 0;
    for (int j = 0; j < d->columns; j++) {
        if (d->goal[d->column[j]] == PERP_CELL_ROW) {
            return false;
        }
    }
    return true;
}

perp_cell_answer perp_cell_build(perp_cell_dictionary *d)
{
    if (!perp_cell_exchange(d)) {
        return PERP_CELL_TROUBLE;
    }
    for (int j = d->columns - 1; j >= 0; j--) {
        if (d->goal[d->column[j]] == PERP_CELL_DROPPED) {
            drop(d, j);
        }
    }
    return settle(d) ? PERP_CELL_YES : PERP_CELL_TROUBLE;
}

perp_cell_answer perp_cell_rebuild(perp_cell_dictionary *d)
{
    for (int v = 0; v < d->table->rows + d->table->columns; v++) {
        d->goal[v] = d->place[v] >= 0            ? PERP_CELL_ROW
                     : ~d->place[v] < d->columns ? PERP_CELL_COLUMN
                                                 : PERP_CELL_DROPPED;
    }
    return perp_cell_build(d);
}

static perp_cell_answer refresh(perp_cell_dictionary *d)
{
    return d->pivots > PIVOTS_BEFORE_BUILD ? perp_cell_rebuild(d) : PERP_CELL_YES;
}

/* ---- questions ----------------------------------------------------------------------------------------------------
 */

/* Whether the row counts as zeros. */
static bool is_zero_row(const perp_cell_dictionary *d, int row)
{
    return perp_vector_largest(d->columns, row_of(d, row)) <= CELL_ZERO;
}

/* A row at 0 becomes a column that is gone, or a row of zeros. */
static void fix_row(perp_cell_dictionary *d, int row)
{
    const double *a = row_of(d, row);
    if (is_zero_row(d, row)) {
        clear_row(d, row);
        return;
    }
    int largest = 0;
    for (int j = 1; j < d->columns; j++) {
        largest = fabs(a[j]) > fabs(a[largest]) ? j : largest;
    }
    d->doubtful = d->doubtful || (d->residue && fabs(d->b[row]) > MOVED_MOST * fabs(a[largest]));
    d->b[row] = 0.0;
    pivot(d, row, largest);
    drop(d, largest);
}

static perp_cell_relation both(perp_cell_relation a, perp_cell_relation b)
{
    return a == PERP_CELL_ANY || a == b ? b : b == PERP_CELL_ANY ? a : PERP_CELL_EQUAL;
}

/* What an answer rests on is too near to zero: a dictionary built afresh may tell. One that is so already cannot. */
static perp_cell_answer rebuild_once(perp_cell_dictionary *d)
{
    if (d->pivots > 0) {
        return perp_cell_rebuild(d);
    }
    d->doubtful = true;
    return PERP_CELL_NO;
}

/* Brings the variable to where it is on the right side of 0, or is 0. */
static perp_cell_answer bring(perp_cell_dictionary *d, int variable, perp_cell_relation relation)
{
    for (int k = 0; k < ATTEMPTS; k++) {
        const int row = d->place[variable];
        const double value = perp_cell_value(d, variable), sign = value < 0.0 ? 1.0 : -1.0;
        if (fabs(value) <= CELL_ZERO || (relation == PERP_CELL_AT_LEAST && value > 0.0) ||
            (relation == PERP_CELL_AT_MOST && value < 0.0)) {
            return PERP_CELL_YES;
        }
        const growth end = grow(d, row, sign, true, 0.0);
        if (end != TOP || fabs(d->b[row]) <= CELL_ZERO) {
            return end == REACHED || end == TOP ? PERP_CELL_YES : PERP_CELL_TROUBLE;
        }
        if (fabs(d->b[row]) >= VIOLATION_SURE && !may_improve(d, row, sign)) {
            return PERP_CELL_NO;
        }
        const perp_cell_answer answer = rebuild_once(d);
        if (answer != PERP_CELL_YES) {
            return answer;
        }
    }
    return PERP_CELL_TROUBLE;
}

/* Whether the variable is a row that counts as zeros and yet is not. */
static bool is_nearly_zero(const perp_cell_dictionary *d, int variable)
{
    const int row = d->place[variable];
    bool zero = true;
    for (int j = 0; j < d->columns && row >= 0 && zero; j++) {
        zero = is_zero(d, row, j, ENTRY_ROUNDING);
    }
    return !zero && is_zero_row(d, row);
}

perp_cell_answer perp_cell_ask(perp_cell_dictionary *d, int function, perp_cell_relation relation)
{
    perp_cell_answer answer = refresh(d);
    relation = relation == PERP_CELL_ABOVE   ? PERP_CELL_AT_LEAST
               : relation == PERP_CELL_BELOW ? PERP_CELL_AT_MOST
                                             : relation;
    relation = both((perp_cell_relation)d->asked[function], relation);
    if (answer != PERP_CELL_YES || relation == (perp_cell_relation)d->asked[function]) {
        return answer;
    }
    answer = bring(d, function, relation);
    for (int k = 0; k < 2 && answer == PERP_CELL_YES && relation == PERP_CELL_EQUAL && is_nearly_zero(d, function);
         k++) {
        answer = rebuild_once(d) == PERP_CELL_TROUBLE ? PERP_CELL_TROUBLE : PERP_CELL_YES;
    }
    if (answer != PERP_CELL_YES) {
        return answer;
    }
    d->asked[function] = (unsigned char)relation;
    const int place = d->place[function];
    if (relation == PERP_CELL_EQUAL && place >= 0) {
        fix_row(d, place);
    } else if (relation == PERP_CELL_EQUAL) {
        drop(d, ~place);
    }
    return PERP_CELL_YES;
}

/* Adds weight times a variable to the objective. */
static void add_to_objective(perp_cell_dictionary *d, int variable, double weight)
{
    double *objective = row_of(d, d->table->rows);
    const int place = d->place[variable];
    if (place >= 0) {
        for (int j = 0; j < d->columns; j++) {
            objective[j] += weight * row_of(d, place)[j];
        }
        d->b[d->table->rows] += weight * d->b[place];
    } else if (~place < d->columns) {
        objective[~place] += weight;
    }
}

static void clear_objective(perp_cell_dictionary *d)
{
    clear_row(d, d->table->rows);
}

perp_cell_answer perp_cell_can_be_positive(perp_cell_dictionary *d, int function, double sign)
{
    if (sign * perp_cell_value(d, function) > CELL_ZERO) {
        return PERP_CELL_YES;
    }
    if (refresh(d) != PERP_CELL_YES) {
        return PERP_CELL_TROUBLE;
    }
    for (int k = 0; k < ATTEMPTS; k++) {
        clear_objective(d);
        add_to_objective(d, function, sign);
        const growth end = grow(d, d->table->rows, 1.0, false, CELL_ZERO);
        const int row = d->place[function];
        const bool unsure = end == TOP && row >= 0 && may_improve(d, row, sign);
        clear_objective(d);
        const perp_cell_answer answer = unsure ? rebuild_once(d) : end == TOP ? PERP_CELL_NO : PERP_CELL_TROUBLE;
        if (!unsure || answer != PERP_CELL_YES) {
            return end == REACHED || end == NO_END ? PERP_CELL_YES : answer;
        }
    }
    return PERP_CELL_TROUBLE;
}

void perp_cell_bound_columns(perp_cell_dictionary *d)
{
    for (int j = 0; j < d->columns; j++) {
        int block = -1;
        for (int k = 0; k < 2 && block < 0 && d->asked[d->column[j]] == PERP_CELL_ANY; k++) {
            block = blocking_row(d, j, k == 0 ? 1.0 : -1.0, -1, false);
        }
        if (block >= 0) {
            pivot(d, block, j);
            continue;
        }
        for (int i = 0; i < d->table->rows && d->asked[d->column[j]] == PERP_CELL_ANY; i++) {
            d->doubtful = d->doubtful || (d->asked[d->row[i]] != PERP_CELL_ANY && !is_zero(d, i, j, ENTRY_ROUNDING));
        }
    }
}

/* Columns that would lower the objective are 0 where it is largest. */
static void stay_at_top(perp_cell_dictionary *d)
{
    const double *objective = row_of(d, d->table->rows);
    const double least = CELL_ZERO * row_size(d, d->table->rows);
    for (int j = d->columns - 1; j >= 0; j--) {
        if (fabs(objective[j]) > least) {
            d->asked[d->column[j]] = PERP_CELL_EQUAL;
            drop(d, j);
        }
    }
}

perp_cell_answer perp_cell_largest(perp_cell_dictionary *d, const double *weights, bool stay)
{
    if (refresh(d) != PERP_CELL_YES) {
        return PERP_CELL_TROUBLE;
    }
    clear_objective(d);
    for (int j = 0; j < d->table->columns; j++) {
        if (weights[j] != 0.0) {
            add_to_objective(d, d->table->rows + j, weights[j]);
        }
    }
    const growth end = grow(d, d->table->rows, 1.0, false, INFINITY);
    if (end == TOP && stay) {
        stay_at_top(d);
    }
    clear_objective(d);
    return end == TOP ? PERP_CELL_YES : end == NO_END ? PERP_CELL_WITHOUT_END : PERP_CELL_TROUBLE;
}

bool perp_cell_is_constant(const perp_cell_dictionary *d, int function)
{
    const int place = d->place[function];
    return place >= 0 ? is_zero_row(d, place) : ~place >= d->columns;
}

double perp_cell_value(const perp_cell_dictionary *d, int variable)
{
    return d->place[variable] >= 0 ? d->b[d->place[variable]] : 0.0;
}

double perp_cell_along_ray(const perp_cell_dictionary *d, int variable)
{
    const int place = d->place[variable];
    return place >= 0 ? d->way * row_of(d, place)[d->endless] : ~place == d->endless ? d->way : 0.0;
}

void perp_cell_point(const perp_cell_dictionary *d, double *parameters)
{
    for (int j = 0; j < d->table->columns; j++) {
        parameters[j] = perp_cell_value(d, d->table->rows + j);
    }
}
