/* The format is a sequence of words between blanks:
 *
 *     dimension (2 or 3), number of contacts, W, q, mu, and in older files a flag, 0 or 1, of no meaning here
 *
 * where W is its storage (0, 1, 2), rows, columns, and then for
 *     0  dense: rows, columns again, the entries column by column
 *     1  blocks: their number; how many block rows and columns; where each block row ends, each block column; the
 *        lengths of two lists and the lists, index1 (where the blocks of a block row begin) and index2 (the block
 * column of each block); then each block: its number, its entries column by column 2  sparse, as CSparse prints it: the
 * origin (1 triplet, 2 by columns, 3 by rows), a line of copyright, the line
 *        "[triplet:|csr:] ROWS-by-COLUMNS, nzmax: N nnz: N[, 1-norm: X]", the entries
 *
 * A wrong number is told and reading goes on; where a wrong count or word makes the meaning of the rest doubtful it
 * stops. The bytes are a stranger's: counts are compared with the bytes that are left before memory is taken. */
#include "problem_yaml/friction_dat.h"

#include <perp/problem_yaml.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_WORD = 63 };

typedef struct word {
    char text[LONGEST_WORD + 1];
    int length; /* 0: the file ended */
    bool whole; /* not cut */
    int line, column;
} word;

typedef struct reader {
    friction_dat *d;
    const char *at, *end;
    int line, column;
    bool good; /* all numbers so far */
} reader;

/* ---- words ---- */

static void advance(reader *r)
{
    r->column = *r->at == '\n' ? 1 : r->column + 1;
    r->line += *r->at == '\n';
    r->at++;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static word next_word(reader *r)
{
    while (r->at < r->end && is_blank(*r->at)) {
        advance(r);
    }
    word w = {.line = r->line, .column = r->column, .whole = true};
    while (r->at < r->end && !is_blank(*r->at)) {
        if (w.length < LONGEST_WORD) {
            w.text[w.length++] = *r->at ? *r->at : '?'; /* a zero byte would end it */
        } else {
            w.whole = false;
        }
        advance(r);
    }
    return w;
}

static void skip_line(reader *r)
{
    while (r->at < r->end && *r->at != '\n') {
        advance(r);
    }
}

/* "expected <what>, but found <what stands there>"; false. */
static bool expected(reader *r, const word *w, const char *what)
{
    perp_diagnostics_add(r->d->diagnostics, PERP_SEVERITY_ERROR, r->d->name, w->line, w->column, "",
                         w->length ? "expected %s, but found `%s`%s" : "expected %s, but the file ends here", what,
                         w->text, w->whole ? "" : ".. (cut)");
    r->good = false;
    return false;
}

/* A plain decimal number, which strtod takes all of; not its hexadecimal ones, infinities and NaNs. */
static bool parse_real(const word *w, double *value)
{
    if (w->length == 0 || !w->whole || strspn(w->text, "0123456789+-.eE") != (size_t)w->length) {
        return false;
    }
    char *end;
    *value = strtod(w->text, &end);
    return *end == '\0' && isfinite(*value);
}

/* A number at its place among others: what is wrong with it is told, and the next one can be read. False only where
 * the file ends. */
static bool read_real(reader *r, const char *what, double *value)
{
    const word w = next_word(r);
    *value = 0.0;
    if (!parse_real(&w, value)) {
        *value = 0.0;
        expected(r, &w, what);
    }
    return w.length > 0;
}

static bool parse_count(const word *w, int *value)
{
    *value = 0;
    if (w->length == 0 || w->length > 9 || strspn(w->text, "0123456789") != (size_t)w->length) {
        return false;
    }
    *value = (int)strtol(w->text, NULL, 10);
    return true;
}

/* A count or index from `low` to `high`. */
static bool read_count(reader *r, const char *what, int low, int high, int *value)
{
    const word w = next_word(r);
    char range[128];
    if (parse_count(&w, value) && *value >= low && *value <= high) {
        return true;
    }
    *value = low;
    if (low == high) {
        snprintf(range, sizeof range, "%s, %d", what, low);
    } else {
        snprintf(range, sizeof range, "%s, %d to %d", what, low, high);
    }
    return expected(r, &w, range);
}

static bool read_word(reader *r, const char *text)
{
    const word w = next_word(r);
    char quoted[32];
    snprintf(quoted, sizeof quoted, "`%s`", text);
    return strcmp(w.text, text) == 0 || expected(r, &w, quoted);
}

static void *memory(reader *r, size_t count, size_t size)
{
    void *block = perp_arena_push(r->d->arena, count, size);
    r->d->out_of_memory = r->d->out_of_memory || !block;
    return block;
}

/* Whether what is left of the file can hold `count` words, each of a byte and a blank. */
static bool words_fit(reader *r, ptrdiff_t count, const char *what)
{
    if (count <= (r->end - r->at) / 2 + 1) {
        return true;
    }
    perp_diagnostics_add(r->d->diagnostics, PERP_SEVERITY_ERROR, r->d->name, r->line, r->column, "",
                         "the file is too short for the %td %s that it announces", count, what);
    r->good = false;
    return false;
}

/* ---- W ---- */

typedef struct matrix {
    int n;
    double *values; /* n x n by rows, zero to begin with */
} matrix;

static bool read_dense(reader *r, matrix *m)
{
    int rows, columns;
    if (!read_count(r, "the number of rows again", m->n, m->n, &rows) ||
        !read_count(r, "the number of columns again", m->n, m->n, &columns) ||
        !words_fit(r, (ptrdiff_t)m->n * m->n, "entries of W")) {
        return false;
    }
    for (ptrdiff_t j = 0; j < m->n; j++) {
        for (ptrdiff_t i = 0; i < m->n; i++) {
            if (!read_real(r, "an entry of W", &m->values[i * m->n + j])) {
                return false;
            }
        }
    }
    return true;
}

/* Numbers that rise by at least `step` each, the first being at least that, the last `last`. */
static bool read_rising(reader *r, const char *what, int count, int step, int last, int *values)
{
    for (int i = 0; i < count; i++) {
        const int rest = count - 1 - i, low = (i == 0 ? 0 : values[i - 1]) + step;
        if (!read_count(r, what, rest == 0 ? last : low, last - rest * step, &values[i])) {
            return false;
        }
    }
    return true;
}

static bool read_block(reader *r, int number, int rows, int columns, ptrdiff_t stride, double *corner)
{
    int told;
    if (!read_count(r, "the number of the block", number, number, &told)) {
        return false;
    }
    for (int j = 0; j < columns; j++) {
        for (int i = 0; i < rows; i++) {
            double value;
            if (!read_real(r, "an entry of W", &value)) {
                return false;
            }
            corner[i * stride + j] += value; /* blocks at one place add up, as in Siconos' products */
        }
    }
    return true;
}

typedef struct block_structure {
    int count, rows, columns;            /* blocks, block rows, block columns */
    int *row_end, *column_end;           /* where each ends */
    int *index1, *index2, index1_length; /* blocks index1[i] .. index1[i + 1] - 1 stand in block row i */
} block_structure;

static bool read_block_structure(reader *r, int n, block_structure *b)
{
    int length;
    if (!read_count(r, "the number of block rows", 1, n, &b->rows) ||
        !read_count(r, "the number of block columns", 1, n, &b->columns) ||
        !words_fit(r, (ptrdiff_t)b->rows + b->columns + b->count, "indices of blocks")) {
        return false;
    }
    b->row_end = memory(r, (size_t)b->rows, sizeof *b->row_end);
    b->column_end = memory(r, (size_t)b->columns, sizeof *b->column_end);
    b->index1 = memory(r, (size_t)b->rows + 1, sizeof *b->index1);
    b->index2 = memory(r, (size_t)b->count, sizeof *b->index2);
    if (r->d->out_of_memory || !read_rising(r, "the end of a block row", b->rows, 1, n, b->row_end) ||
        !read_rising(r, "the end of a block column", b->columns, 1, n, b->column_end) ||
        !read_count(r, "the length of index1", 2, b->rows + 1, &b->index1_length) ||
        !read_count(r, "the length of index2", b->count, b->count, &length)) {
        return false;
    }
    int none;
    if (!read_count(r, "the begin of index1", 0, 0, &none) ||
        !read_rising(r, "an entry of index1", b->index1_length - 1, 0, b->count, b->index1 + 1)) {
        return false;
    }
    for (int k = 0; k < b->count; k++) {
        if (!read_count(r, "a block column", 0, b->columns - 1, &b->index2[k])) {
            return false;
        }
    }
    return true;
}

static bool read_blocks(reader *r, matrix *m)
{
    block_structure b = {0};
    const int most = PERP_PROBLEM_MAX_SIZE * PERP_PROBLEM_MAX_SIZE;
    if (!read_count(r, "the number of blocks", 0, most, &b.count)) {
        return false;
    }
    if (b.count == 0) {
        return true; /* and nothing follows: W is zero */
    }
    if (!read_block_structure(r, m->n, &b)) {
        return false;
    }
    for (int i = 0; i + 1 < b.index1_length; i++) {
        const int row = i > 0 ? b.row_end[i - 1] : 0;
        for (int k = b.index1[i]; k < b.index1[i + 1]; k++) {
            const int j = b.index2[k], column = j > 0 ? b.column_end[j - 1] : 0;
            double *corner = m->values + (ptrdiff_t)row * m->n + column;
            if (!read_block(r, k, b.row_end[i] - row, b.column_end[j] - column, m->n, corner)) {
                return false;
            }
        }
    }
    return true;
}

static bool read_entry(reader *r, const matrix *m, int i, int j)
{
    double value;
    if (!read_word(r, ":") || !read_real(r, "an entry of W", &value)) {
        return false;
    }
    m->values[(ptrdiff_t)i * m->n + j] += value;
    return true;
}

static bool read_triplets(reader *r, const matrix *m, int count)
{
    for (int k = 0; k < count; k++) {
        int i, j;
        if (!read_count(r, "a row of W", 0, m->n - 1, &i) || !read_count(r, "a column of W", 0, m->n - 1, &j) ||
            !read_entry(r, m, i, j)) {
            return false;
        }
    }
    return true;
}

/* By columns, or by rows: "col 3 : locations 7 to 9", then an entry each, "12 : 0.5". */
static bool read_lines(reader *r, const matrix *m, int count, bool by_rows)
{
    int next = 0;
    for (int line = 0; line < m->n; line++) {
        int told;
        if (!read_word(r, by_rows ? "row" : "col") || !read_count(r, "its number", line, line, &told) ||
            !read_word(r, ":") || !read_word(r, "locations") ||
            !read_count(r, "the first location", next, next, &told) || !read_word(r, "to")) {
            return false;
        }
        const word w = next_word(r); /* the last one, before the first where there is none, which may be -1 */
        int last = -1;
        const bool none = next == 0 && strcmp(w.text, "-1") == 0;
        if (!none && !(parse_count(&w, &last) && last >= next - 1 && last < count)) {
            return expected(r, &w, "the last location");
        }
        for (; next <= last; next++) {
            int other;
            if (!read_count(r, by_rows ? "a column of W" : "a row of W", 0, m->n - 1, &other) ||
                !read_entry(r, m, by_rows ? line : other, by_rows ? other : line)) {
                return false;
            }
        }
    }
    return true;
}

static bool read_sparse(reader *r, matrix *m)
{
    enum { TRIPLETS = 1, BY_COLUMNS, BY_ROWS };
    int origin, unused, count;
    char size[48];
    if (!read_count(r, "the origin of a sparse matrix", TRIPLETS, BY_ROWS, &origin) || !read_word(r, "CSparse")) {
        return false;
    }
    skip_line(r);
    if (origin != BY_COLUMNS && !read_word(r, origin == BY_ROWS ? "csr:" : "triplet:")) {
        return false;
    }
    snprintf(size, sizeof size, "%d-by-%d,", m->n, m->n);
    if (!read_word(r, size) || !read_word(r, "nzmax:") ||
        !read_count(r, "the space for entries", 0, 999999999, &unused) || !read_word(r, "nnz:")) {
        return false;
    }
    word w = next_word(r);
    if (w.length > 1 && w.text[w.length - 1] == ',') { /* before the norm, which is of no use */
        w.text[--w.length] = '\0';
        skip_line(r);
    }
    if (!parse_count(&w, &count)) {
        return expected(r, &w, "the number of entries");
    }
    if (!words_fit(r, count, "entries of W")) {
        return false;
    }
    return origin == TRIPLETS ? read_triplets(r, m, count) : read_lines(r, m, count, origin == BY_ROWS);
}

/* ---- the problem ---- */

static bool all_finite(reader *r, const matrix *m)
{
    for (ptrdiff_t i = 0; i < (ptrdiff_t)m->n * m->n; i++) {
        if (!isfinite(m->values[i])) {
            perp_diagnostics_add(r->d->diagnostics, PERP_SEVERITY_ERROR, r->d->name, r->line, r->column, "",
                                 "what is given for entry (%td, %td) of W adds up to more than a double holds",
                                 i / m->n, i % m->n);
            return r->good = false;
        }
    }
    return true;
}

static bool read_size(reader *r, const char *what, int n, int contacts, int dim)
{
    const word w = next_word(r);
    int size;
    if (!parse_count(&w, &size)) {
        return expected(r, &w, what);
    }
    if (size != n) {
        perp_diagnostics_add(r->d->diagnostics, PERP_SEVERITY_ERROR, r->d->name, w.line, w.column, "",
                             "%s is %d, but %d contacts of %d make %d; of Siconos' friction problems the local ones "
                             "are read (M, q, mu), not the global ones (M, H, q, b, mu)",
                             what, size, contacts, dim, n);
        return r->good = false;
    }
    return true;
}

static bool read_matrix(reader *r, int contacts, int dim, matrix *m)
{
    static bool (*const read[])(reader *, matrix *) = {read_dense, read_blocks, read_sparse};
    int storage;
    m->n = contacts * dim;
    if (!read_count(r, "the storage of W (dense, blocks, sparse)", 0, 2, &storage) ||
        !read_size(r, "the number of rows of W", m->n, contacts, dim) ||
        !read_size(r, "the number of columns of W", m->n, contacts, dim) ||
        !words_fit(r, (ptrdiff_t)m->n + contacts, "entries of q and mu")) {
        return false;
    }
    m->values = memory(r, (size_t)m->n * (size_t)m->n, sizeof *m->values);
    return m->values && read[storage](r, m) && all_finite(r, m);
}

static bool read_mu(reader *r, int count, double *mu)
{
    for (int i = 0; i < count; i++) {
        const word w = next_word(r);
        mu[i] = 0.0;
        if (!parse_real(&w, &mu[i]) || mu[i] < 0.0) {
            expected(r, &w, "a friction of at least 0");
        }
        if (w.length == 0) {
            return false;
        }
    }
    return true;
}

static bool read_end(reader *r)
{
    word w = next_word(r);
    if (strcmp(w.text, "0") == 0 || strcmp(w.text, "1") == 0) { /* the flag of older files */
        w = next_word(r);
    }
    return w.length == 0 || expected(r, &w, "nothing more after mu (a global problem, which has H, is not read)");
}

bool perp_read_friction_dat(friction_dat *d, const char *text, size_t length, perp_friction *problem)
{
    reader r = {.d = d, .at = text, .end = text + length, .line = 1, .column = 1, .good = true};
    matrix m = {0};
    int dim, contacts;
    if (!read_count(&r, "the dimension of a contact", 2, 3, &dim) ||
        !read_count(&r, "the number of contacts", 1, PERP_PROBLEM_MAX_SIZE / dim, &contacts) ||
        !read_matrix(&r, contacts, dim, &m)) {
        return false;
    }
    double *q = memory(&r, (size_t)m.n, sizeof *q), *mu = memory(&r, (size_t)contacts, sizeof *mu);
    if (!q || !mu) {
        return false;
    }
    for (int i = 0; i < m.n; i++) {
        if (!read_real(&r, "an entry of q", &q[i])) {
            return false;
        }
    }
    if (!read_mu(&r, contacts, mu) || !read_end(&r)) {
        return false;
    }
    *problem = (perp_friction){contacts, dim, m.values, q, mu};
    return r.good;
}
