#include "problem_yaml/problem_values.h"

#include <perp/problem_yaml.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

told_size perp_size_unknown(void)
{
    return (told_size){.count = SIZE_UNKNOWN};
}

told_size perp_size_told(int count, const char *format, ...)
{
    told_size size = {.count = count};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(size.by, sizeof size.by, format, arguments);
    va_end(arguments);
    return size;
}

bool perp_note_place(decoder *d, const yaml_node *node, void *target)
{
    (void)d;
    *(const yaml_node **)target = node;
    return true;
}

/* The library takes a problem without rows, which has one solution; in a file it is a mistake. */
bool perp_size_allowed(decoder *d, const yaml_node *node, int n, const char *name, const char *what)
{
    if (n < 0) {
        return perp_decode_error(d, node, "a size cannot be negative");
    }
    if (n == 0) {
        return perp_decode_error(d, node, "%s has no %s; a problem has at least one", name, what);
    }
    return n <= PERP_PROBLEM_MAX_SIZE ||
           perp_decode_error(d, node, "problems have at most %d %s, this one has %d", PERP_PROBLEM_MAX_SIZE, what, n);
}

bool perp_read_index(decoder *d, const yaml_node *node, int n, int *index)
{
    if (!perp_read_int(d, node, index)) {
        return false;
    }
    if (n == SIZE_UNKNOWN) {
        return *index >= 0 || perp_decode_error(d, node, "index %d is negative", *index);
    }
    return (*index >= 0 && *index < n) ||
           (n == 0 ? perp_decode_error(d, node, "index %d, where there is none", *index)
                   : perp_decode_error(d, node, "index %d is outside 0 .. %d", *index, n - 1));
}

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

/* The numbers of a list. `values` NULL: they are only checked. */
static bool read_list(decoder *d, const yaml_node *node, read_function *read, double *values)
{
    bool good = true;
    for (const yaml_node *child = node->first; child; child = child->next) {
        double checked;
        good = read(d, child, values ? &values[child->index] : &checked) && good;
    }
    return good;
}

bool perp_read_numbers(decoder *d, const yaml_node *node, const told_size *size, read_function *read, double **values)
{
    if (!perp_expect_list(d, node, "a list of numbers")) {
        return false;
    }
    const int n = size->count;
    bool good = n == SIZE_UNKNOWN || node->count == n ||
                perp_decode_error(d, node, "`%s` has %d %s, but %s", node->key, node->count,
                                  perp_plural(node->count, "entry", "entries"), size->by);
    if (good && n > 0) {
        *values = perp_decode_memory(d, n, sizeof **values);
        good = *values != NULL;
        for (int i = 0; good && i < n; i++) {
            (*values)[i] = NAN;
        }
    }
    return read_list(d, node, read, *values) && good;
}

bool perp_check_bounds(decoder *d, const yaml_node *lower_node, const double *lower, const yaml_node *upper_node,
                       const double *upper)
{
    bool good = true;
    const yaml_node *list = lower ? lower_node : upper ? upper_node : NULL;
    for (const yaml_node *child = list ? list->first : NULL; child; child = child->next) {
        const double least = lower ? lower[child->index] : -INFINITY, most = upper ? upper[child->index] : INFINITY;
        if (least > most || least == INFINITY || most == -INFINITY) {
            good = perp_decode_error(d, child, "no number lies between the lower bound %g and the upper bound %g",
                                     least, most);
        }
    }
    return good;
}

/* ---- matrices by rows -------------------------------------------------------------------------------------------- */

/* Zeroed memory for the entries, once both sizes are known. */
static bool matrix_memory(decoder *d, const yaml_node *node, matrix_value *m)
{
    enum { MOST = PERP_PROBLEM_MAX_SIZE * PERP_PROBLEM_MAX_SIZE };
    const int64_t count = (int64_t)m->rows.count * m->cols.count;
    if (count > MOST) {
        return perp_decode_error(d, node, "%s has %d rows of %d entries; a matrix has at most %d in all", m->name,
                                 m->rows.count, m->cols.count, MOST);
    }
    m->values = count > 0 ? perp_decode_memory(d, (int)count, sizeof *m->values) : NULL;
    return count == 0 || m->values;
}

/* How many rows have the right length; complains of the others. */
static int count_good_rows(decoder *d, const yaml_node *node, const told_size *cols)
{
    int right = 0;
    for (const yaml_node *row = node->first; row; row = row->next) {
        if (row->kind != YAML_LIST) {
            char what[64] = "a list of numbers";
            if (cols->count != SIZE_UNKNOWN) {
                snprintf(what, sizeof what, "a list of %d %s", cols->count,
                         perp_plural(cols->count, "number", "numbers"));
            }
            perp_decode_expected(d, row, what);
        } else if (cols->count != SIZE_UNKNOWN && row->count != cols->count) {
            perp_decode_error(d, row, "row %d has %d %s, but %s", row->index, row->count,
                              perp_plural(row->count, "entry", "entries"), cols->by);
        } else {
            right++;
        }
    }
    return right;
}

/* A square matrix that nobody told the size of has as many columns as rows. It tells the size only if one of its rows
 * agrees: otherwise which of both is wrong is open. */
static bool read_square_shape(decoder *d, const yaml_node *node, matrix_value *m)
{
    const int n = node->count;
    const bool allowed = perp_size_allowed(d, node, n, m->name, "rows");
    const told_size cols =
        perp_size_told(n, "%s has %d %s; %s must be square", m->name, n, perp_plural(n, "row", "rows"), m->name);
    const int right = count_good_rows(d, node, &cols);
    if (allowed && right > 0) {
        m->rows = m->cols = perp_size_told(n, "%s has %d %s", m->name, n, perp_plural(n, "row", "rows"));
    }
    return allowed && right == n;
}

/* The length that all rows share, or unknown. */
static int common_length(const yaml_node *node)
{
    const int length = node->first && node->first->kind == YAML_LIST ? node->first->count : SIZE_UNKNOWN;
    for (const yaml_node *row = node->first; row; row = row->next) {
        if (row->kind != YAML_LIST || row->count != length) {
            return SIZE_UNKNOWN;
        }
    }
    return length;
}

static bool read_shape_of_rows(decoder *d, const yaml_node *node, matrix_value *m)
{
    if (m->square && m->rows.count == SIZE_UNKNOWN) {
        return read_square_shape(d, node, m);
    }
    const int length = common_length(node);
    if (length != SIZE_UNKNOWN && m->cols.count != SIZE_UNKNOWN && length != m->cols.count) { /* one mistake, not n */
        return perp_decode_error(d, node, "%s is %d x %d, but %s", m->name, node->count, length, m->cols.by);
    }
    bool good = m->rows.count == SIZE_UNKNOWN || node->count == m->rows.count ||
                perp_decode_error(d, node, "%s has %d %s, but %s", m->name, node->count,
                                  perp_plural(node->count, "row", "rows"), m->rows.by);
    return count_good_rows(d, node, &m->cols) == node->count && good;
}

static bool sizes_known(const matrix_value *m)
{
    return m->rows.count != SIZE_UNKNOWN && m->cols.count != SIZE_UNKNOWN;
}

static bool read_rows(decoder *d, const yaml_node *node, matrix_value *m)
{
    bool good = read_shape_of_rows(d, node, m);
    if (good && sizes_known(m)) {
        good = matrix_memory(d, node, m);
    }
    for (const yaml_node *row = node->first; row; row = row->next) {
        if (row->kind == YAML_LIST) {
            double *values = m->values ? m->values + (size_t)row->index * (size_t)m->cols.count : NULL;
            good = read_list(d, row, perp_read_real, values) && good;
        }
    }
    return good;
}

/* ---- matrices by triplets ---------------------------------------------------------------------------------------- */

typedef struct triplet_places {
    const yaml_node *rows, *cols, *triplets;
} triplet_places;

static const key_spec triplet_keys[] = {
    {"rows", "number of rows", "", "", perp_note_place, offsetof(triplet_places, rows), KEY_REQUIRED},
    {"cols", "number of columns", "", "", perp_note_place, offsetof(triplet_places, cols), KEY_REQUIRED},
    {"triplets", "[[i, j, value], ..]", "", "", perp_note_place, offsetof(triplet_places, triplets), KEY_REQUIRED},
};
static const key_table triplet_table = {"a sparse matrix", triplet_keys,
                                        (int)(sizeof triplet_keys / sizeof *triplet_keys)};

static bool read_triplet(decoder *d, const yaml_node *node, matrix_value *m)
{
    int i, j;
    double value;
    if (node->kind != YAML_LIST || node->count != 3) {
        return perp_decode_expected(d, node, "a triplet [row, column, value]");
    }
    const yaml_node *column = node->first->next;
    bool good = perp_read_index(d, node->first, m->rows.count, &i);
    good = perp_read_index(d, column, m->cols.count, &j) && good;
    good = perp_read_real(d, column->next, &value) && good;
    if (!good || !m->values) {
        return good;
    }
    double *entry = &m->values[(size_t)i * (size_t)m->cols.count + (size_t)j];
    *entry += value;
    return isfinite(*entry) ||
           perp_decode_error(d, node, "the triplets at (%d, %d) add up to more than a double holds", i, j);
}

/* The size that `rows` and `cols` give. Where they contradict each other it stays unknown. */
static bool read_square_counts(decoder *d, const triplet_places *at, matrix_value *m)
{
    int rows, cols;
    const bool rows_good =
        at->rows && perp_read_int(d, at->rows, &rows) && perp_size_allowed(d, at->rows, rows, m->name, "rows");
    const bool cols_good = at->cols && perp_read_int(d, at->cols, &cols);
    if (rows_good && cols_good && cols != rows) {
        return perp_decode_error(d, at->cols, "%s has %d rows and %d columns; %s must be square", m->name, rows, cols,
                                 m->name);
    }
    if (rows_good) {
        m->rows = m->cols = perp_size_told(rows, "%s has %d %s", m->name, rows, perp_plural(rows, "row", "rows"));
    }
    return rows_good && cols_good;
}

/* One count, held to what is told of it, or else telling it. */
static bool read_count(decoder *d, const yaml_node *node, const matrix_value *m, const char *what, told_size *size)
{
    int count;
    if (!node || !perp_read_int(d, node, &count)) {
        return false;
    }
    if (count < 0) {
        return perp_decode_error(d, node, "a size cannot be negative");
    }
    if (size->count == SIZE_UNKNOWN) {
        *size = perp_size_told(count, "%s has %d %s", m->name, count, what);
    }
    return count == size->count || perp_decode_error(d, node, "%s has %d %s, but %s", m->name, count, what, size->by);
}

static bool read_triplets(decoder *d, const yaml_node *node, matrix_value *m)
{
    triplet_places at = {0};
    bool good = perp_read_map(d, node, &triplet_table, &at), sized;
    const bool agreed = sizes_known(m); /* before this matrix spoke: what only a file claims is given no memory */
    if (m->square && m->rows.count == SIZE_UNKNOWN) {
        sized = read_square_counts(d, &at, m);
        good = sized && good;
    } else {
        sized = read_count(d, at.rows, m, "rows", &m->rows);
        sized = read_count(d, at.cols, m, "columns", &m->cols) && sized;
        good = sized && good;
        sized = sized && agreed;
    }
    if (!at.triplets || !perp_expect_list(d, at.triplets, "a list of [row, column, value]")) {
        return false;
    }
    if (good && sized) {
        good = matrix_memory(d, node, m);
    }
    for (const yaml_node *child = at.triplets->first; child; child = child->next) {
        good = read_triplet(d, child, m) && good;
    }
    return good;
}

bool perp_read_matrix(decoder *d, const yaml_node *node, matrix_value *matrix)
{
    if (node->kind == YAML_LIST) {
        return read_rows(d, node, matrix);
    }
    return node->kind == YAML_MAP ? read_triplets(d, node, matrix) : perp_decode_expected(d, node, "a matrix");
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static const yaml_node *child_at(const yaml_node *list, int index)
{
    const yaml_node *child = list->first;
    while (child && child->index != index) {
        child = child->next;
    }
    return child;
}

/* Of a number that was read before. */
static bool is_index(const yaml_node *node, int index)
{
    return strtod(node->text, NULL) == index;
}

static const yaml_node *triplet_at(const yaml_node *triplets, int i, int j)
{
    for (const yaml_node *child = triplets->first; child; child = child->next) {
        if (is_index(child->first, i) && is_index(child->first->next, j)) {
            return child;
        }
    }
    return NULL;
}

const yaml_node *perp_matrix_entry(const yaml_node *matrix, int i, int j)
{
    if (matrix->kind == YAML_LIST) {
        return child_at(child_at(matrix, i), j);
    }
    const yaml_node *triplets = perp_yaml_tree_find(matrix, "triplets", strlen("triplets"));
    const yaml_node *place = triplet_at(triplets, i, j);
    return place ? place : triplet_at(triplets, j, i);
}
