/* perp_problem_load_*: text -> tree -> nodes by key -> arrays -> checked.
 *
 * The size of a problem is that of M, whatever the order of the keys. So a first pass over the key table only notes
 * where each value stands, and the values are read in the order M, q, then what the kind adds. */
#include <perp/problem_yaml.h>

#include "base/plain_locale.h"
#include "yaml/decode.h"
#include "yaml/yaml_source.h"

#include <stdlib.h>
#include <string.h>

struct perp_problem_memory {
    perp_problem problem; /* first: freeing the problem frees the memory it stands in */
    perp_allocator allocator;
    perp_arena arena;
};

/* ---- keys ------------------------------------------------------------------------------------------------------- */

typedef struct key_places {
    const yaml_node *kind, *m, *q, *free, *lower, *upper; /* NULL: not given */
} key_places;

static bool note_place(decoder *d, const yaml_node *node, void *target)
{
    (void)d;
    *(const yaml_node **)target = node;
    return true;
}

#define KEY(name, form, meaning, member)                                                                               \
    {                                                                                                                  \
        name, form, "", meaning, note_place, offsetof(key_places, member), KEY_REQUIRED                                \
    }
#define COMMON_KEYS                                                                                                    \
    KEY("kind", "lcp", "the class of the problem", kind),                                                              \
        KEY("M", "[[m00, m01, ..], ..] or {rows, cols, triplets: [[i, j, value], ..]}", "square", m),                  \
        KEY("q", "[q0, q1, ..]", "as many as M has rows", q)

static const key_spec lcp_keys[] = {COMMON_KEYS};
static const key_spec mlcp_keys[] = {COMMON_KEYS,
                                     KEY("free", "[i, ..]", "rows with w = 0 and z free, from 0; may be empty", free)};
static const key_spec mcp_keys[] = {COMMON_KEYS, KEY("lower", "[l0, l1, ..]", "lower bounds; -.inf: none", lower),
                                    KEY("upper", "[u0, u1, ..]", "upper bounds; .inf: none", upper)};

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
static const key_table tables[] = {
    [PERP_PROBLEM_LCP] = {"lcp", lcp_keys, COUNT(lcp_keys)},
    [PERP_PROBLEM_MLCP] = {"mlcp", mlcp_keys, COUNT(mlcp_keys)},
    [PERP_PROBLEM_MCP] = {"mcp", mcp_keys, COUNT(mcp_keys)},
};

const char *perp_problem_kind_name(perp_problem_kind kind)
{
    return tables[kind].title;
}

typedef struct triplet_places {
    const yaml_node *rows, *cols, *triplets;
} triplet_places;

static const key_spec triplet_keys[] = {
    {"rows", "number of rows", "", "", note_place, offsetof(triplet_places, rows), KEY_REQUIRED},
    {"cols", "number of columns", "", "", note_place, offsetof(triplet_places, cols), KEY_REQUIRED},
    {"triplets", "[[i, j, value], ..]", "", "", note_place, offsetof(triplet_places, triplets), KEY_REQUIRED},
};
static const key_table triplet_table = {"a sparse matrix", triplet_keys, COUNT(triplet_keys)};

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* The arrays on their way into a problem. */
typedef struct draft {
    int n;
    double *m, *q, *lower, *upper;
    bool *free;
} draft;

static bool size_allowed(decoder *d, const yaml_node *node, int n)
{
    if (n < 0) {
        return perp_decode_error(d, node, "a size cannot be negative");
    }
    return n <= PERP_PROBLEM_MAX_SIZE ||
           perp_decode_error(d, node, "problems have at most %d rows, this one has %d", PERP_PROBLEM_MAX_SIZE, n);
}

static bool read_rows(decoder *d, const yaml_node *node, draft *r)
{
    if (!size_allowed(d, node, node->count)) {
        return false;
    }
    for (const yaml_node *row = node->first; row; row = row->next) { /* before memory is taken for n x n */
        if (row->kind == YAML_LIST && row->count != node->count) {
            return perp_decode_error(d, row, "row %d has %d entries, but M has %d rows; M must be square", row->index,
                                     row->count, node->count);
        }
    }
    r->n = node->count;
    r->m = perp_decode_memory(d, r->n * r->n, sizeof *r->m);
    bool good = r->m != NULL;
    for (const yaml_node *row = node->first; row && r->m; row = row->next) {
        good = perp_read_reals(d, row, r->m + (size_t)row->index * (size_t)r->n, r->n) && good;
    }
    return good;
}

static bool read_index(decoder *d, const yaml_node *node, int n, int *index)
{
    if (!perp_read_int(d, node, index)) {
        return false;
    }
    if (*index < 0 || *index >= n) {
        return n > 0 ? perp_decode_error(d, node, "index %d is outside 0 .. %d", *index, n - 1)
                     : perp_decode_error(d, node, "index %d: the problem has no rows", *index);
    }
    return true;
}

static bool read_triplet(decoder *d, const yaml_node *node, draft *r)
{
    int i, j;
    double value;
    if (node->kind != YAML_LIST || node->count != 3) {
        return perp_decode_expected(d, node, "a triplet [row, column, value]");
    }
    const yaml_node *column = node->first->next;
    if (!read_index(d, node->first, r->n, &i) || !read_index(d, column, r->n, &j) ||
        !perp_read_real(d, column->next, &value)) {
        return false;
    }
    double *entry = &r->m[(size_t)i * (size_t)r->n + (size_t)j];
    *entry += value;
    return isfinite(*entry) ||
           perp_decode_error(d, node, "the triplets at (%d, %d) add up to more than a double holds", i, j);
}

static bool read_triplets(decoder *d, const yaml_node *node, draft *r)
{
    triplet_places at = {0};
    int cols;
    if (!perp_read_map(d, node, &triplet_table, &at) || !perp_read_int(d, at.rows, &r->n) ||
        !perp_read_int(d, at.cols, &cols) || !size_allowed(d, at.rows, r->n)) {
        return false;
    }
    if (cols != r->n) {
        return perp_decode_error(d, at.cols, "M has %d rows and %d columns; M must be square", r->n, cols);
    }
    if (!perp_expect_list(d, at.triplets, "a list of [row, column, value]")) {
        return false;
    }
    r->m = perp_decode_memory(d, r->n * r->n, sizeof *r->m);
    bool good = r->m != NULL;
    for (const yaml_node *child = at.triplets->first; child && r->m; child = child->next) {
        good = read_triplet(d, child, r) && good;
    }
    return good;
}

static bool read_matrix(decoder *d, const yaml_node *node, draft *r)
{
    if (node->kind == YAML_LIST) {
        return read_rows(d, node, r);
    }
    return node->kind == YAML_MAP ? read_triplets(d, node, r) : perp_decode_expected(d, node, "a matrix");
}

/* n numbers, of which bounds may be infinite. */
static bool read_numbers(decoder *d, const yaml_node *node, int n, bool bounds, double **values)
{
    if (node->kind == YAML_LIST && node->count != n) {
        return perp_decode_error(d, node, "`%s` has %d entries, but M has %d rows", node->key, node->count, n);
    }
    if (!perp_expect_list(d, node, "a list of numbers")) {
        return false;
    }
    *values = perp_decode_memory(d, n, sizeof **values);
    bool good = *values != NULL;
    for (const yaml_node *child = node->first; child && *values; child = child->next) {
        double *value = &(*values)[child->index];
        good = (bounds ? perp_read_real_or_infinite(d, child, value) : perp_read_real(d, child, value)) && good;
    }
    return good;
}

static bool read_free(decoder *d, const yaml_node *node, draft *r)
{
    if (!perp_expect_list(d, node, "a list of rows")) {
        return false;
    }
    r->free = perp_decode_memory(d, r->n, sizeof *r->free);
    bool good = r->free != NULL;
    for (const yaml_node *child = node->first; child && r->free; child = child->next) {
        int i;
        if (!read_index(d, child, r->n, &i)) {
            good = false;
        } else if (r->free[i]) {
            good = perp_decode_error(d, child, "row %d is named twice", i);
        } else {
            r->free[i] = true;
        }
    }
    return good;
}

/* Bounds that no number can meet are told here, where their place is known. */
static bool check_bounds(decoder *d, const key_places *at, const draft *r)
{
    bool good = true;
    for (const yaml_node *child = at->lower->first; child; child = child->next) {
        const double lower = r->lower[child->index], upper = r->upper[child->index];
        if (!(lower <= upper) || lower == INFINITY || upper == -INFINITY) {
            good = perp_decode_error(d, child, "no number lies between the lower bound %g and the upper bound %g",
                                     lower, upper);
        }
    }
    return good;
}

static const key_spec *spec_of(const key_table *table, const yaml_node *node)
{
    for (int i = 0; i < table->count; i++) {
        if (strcmp(table->keys[i].key, node->key) == 0) {
            return &table->keys[i];
        }
    }
    return NULL;
}

static bool read_values(decoder *d, perp_problem_kind kind, const key_places *at, draft *r)
{
    const key_table *table = &tables[kind];
    d->key = spec_of(table, at->m);
    if (!read_matrix(d, at->m, r)) {
        return false; /* the size is unknown, and the others are judged by it */
    }
    d->key = spec_of(table, at->q);
    bool good = read_numbers(d, at->q, r->n, false, &r->q);
    if (kind == PERP_PROBLEM_MLCP) {
        d->key = spec_of(table, at->free);
        good = read_free(d, at->free, r) && good;
    } else if (kind == PERP_PROBLEM_MCP) {
        d->key = spec_of(table, at->lower);
        bool bounds = read_numbers(d, at->lower, r->n, true, &r->lower);
        d->key = spec_of(table, at->upper);
        bounds = read_numbers(d, at->upper, r->n, true, &r->upper) && bounds;
        good = bounds && check_bounds(d, at, r) && good;
    }
    return good;
}

/* ---- problems ---------------------------------------------------------------------------------------------------- */

/* The kind, or -1 after an error. */
static int read_kind(decoder *d, const yaml_node *root)
{
    static const char *const words[] = {"lcp", "mlcp", "mcp", NULL};
    static const char *const planned[] = {"qp", "cone-qp", "lp", "friction", NULL};
    const yaml_node *node = perp_yaml_tree_find(root, "kind", 4);
    if (!node) {
        perp_decode_error(d, root, "`kind` is missing; write `kind: lcp` (or mlcp, mcp)");
        return -1;
    }
    d->key = &lcp_keys[0];
    if (perp_find_word(node, planned) >= 0) {
        perp_decode_error(d, node, "problems of kind `%s` are not available yet; this version solves lcp, mlcp and mcp",
                          node->text);
        return -1;
    }
    return perp_read_word(d, node, words);
}

int perp_problem_size(const perp_problem *problem)
{
    return problem->kind == PERP_PROBLEM_MLCP  ? problem->mlcp.n
           : problem->kind == PERP_PROBLEM_MCP ? problem->mcp.n
                                               : problem->lcp.n;
}

double perp_problem_residual(const perp_problem *problem, const double *z)
{
    return problem->kind == PERP_PROBLEM_MLCP  ? perp_mlcp_residual(&problem->mlcp, z)
           : problem->kind == PERP_PROBLEM_MCP ? perp_mcp_residual(&problem->mcp, z)
                                               : perp_lcp_residual(&problem->lcp, z);
}

static perp_status check(const perp_problem *problem, perp_error *error)
{
    switch (problem->kind) {
    case PERP_PROBLEM_MLCP:
        return perp_mlcp_check(&problem->mlcp, error);
    case PERP_PROBLEM_MCP:
        return perp_mcp_check(&problem->mcp, error);
    default:
        return perp_lcp_check(&problem->lcp, error);
    }
}

static bool fill(decoder *d, const yaml_node *root, perp_problem *problem)
{
    if (root->kind != YAML_MAP) {
        return perp_decode_error(d, root, "a problem is a mapping that begins with `kind: lcp`");
    }
    const int kind = read_kind(d, root);
    key_places at = {0};
    draft r = {0};
    if (kind < 0 || !perp_read_map(d, root, &tables[kind], &at) || !read_values(d, (perp_problem_kind)kind, &at, &r)) {
        return false;
    }
    problem->kind = (perp_problem_kind)kind;
    if (problem->kind == PERP_PROBLEM_MLCP) {
        problem->mlcp = (perp_mlcp){r.n, r.m, r.q, r.free};
    } else if (problem->kind == PERP_PROBLEM_MCP) {
        problem->mcp = (perp_mcp){r.n, r.m, r.q, r.lower, r.upper};
    } else {
        problem->lcp = (perp_lcp){r.n, r.m, r.q};
    }
    perp_error error;
    return check(problem, &error) == PERP_STATUS_OK || perp_decode_error(d, root, "%s", error.message);
}

/* The tree is thrown away afterwards: a node is many times larger than the number it holds. */
static perp_status load(const char *text, size_t length, const char *name, perp_problem_memory *memory,
                        perp_diagnostics *diagnostics)
{
    perp_plain_locale locale = {0};
    if (!perp_plain_locale_open(&locale)) {
        perp_plain_locale_close(&locale);
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    perp_arena trees;
    perp_arena_init(&trees, &memory->allocator);
    yaml_reader reader = {.arena = &trees, .diagnostics = diagnostics};
    decoder d = {.diagnostics = diagnostics, .arena = &memory->arena};
    perp_plain_locale_enter(&locale);
    const yaml_node *root = perp_yaml_tree_parse(&reader, text, length, name);
    const bool good = root && fill(&d, root, &memory->problem) && diagnostics->errors == 0;
    perp_plain_locale_leave(&locale);
    perp_plain_locale_close(&locale);
    perp_arena_clear(&trees);
    const bool memory_short = reader.out_of_memory || d.out_of_memory;
    return memory_short ? PERP_STATUS_OUT_OF_MEMORY : good ? PERP_STATUS_OK : PERP_STATUS_BAD_INPUT;
}

perp_status perp_problem_load_text(const char *text, size_t length, const char *name, const perp_allocator *allocator,
                                   perp_problem **problem, perp_diagnostics *diagnostics)
{
    *problem = NULL;
    if (!perp_yaml_fits(name, length, diagnostics)) {
        return PERP_STATUS_BAD_INPUT;
    }
    const perp_allocator from = allocator ? *allocator : perp_allocator_default();
    perp_problem_memory *memory = from.allocate(from.context, sizeof *memory);
    if (!memory) {
        return perp_yaml_out_of_memory(name, diagnostics);
    }
    memset(memory, 0, sizeof *memory);
    memory->allocator = from;
    memory->problem.memory = memory;
    perp_arena_init(&memory->arena, &from);
    const perp_status status = load(text, length, name, memory, diagnostics);
    perp_yaml_sort_diagnostics(diagnostics);
    if (status == PERP_STATUS_OK) {
        *problem = &memory->problem;
        return status;
    }
    perp_problem_free(&memory->problem);
    return status == PERP_STATUS_OUT_OF_MEMORY ? perp_yaml_out_of_memory(name, diagnostics) : status;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), size = strlen(end);
    return length >= size && strcmp(text + length - size, end) == 0;
}

perp_status perp_problem_load_file(const char *path, const perp_allocator *allocator, perp_problem **problem,
                                   perp_diagnostics *diagnostics)
{
    *problem = NULL;
    if (ends_with(path, ".dat")) {
        perp_diagnostics_add(diagnostics, PERP_SEVERITY_ERROR, path, 1, 1, "",
                             "files of friction problems (.dat) are not available yet; this version reads YAML: lcp, "
                             "mlcp and mcp");
        return PERP_STATUS_BAD_INPUT;
    }
    perp_arena arena;
    perp_arena_init(&arena, allocator);
    char *text;
    size_t length;
    perp_status status = perp_yaml_read_file(&arena, path, &text, &length, diagnostics);
    if (status == PERP_STATUS_OK) {
        status = perp_problem_load_text(text, length, path, allocator, problem, diagnostics);
    }
    perp_arena_clear(&arena);
    return status;
}

void perp_problem_free(perp_problem *problem)
{
    if (!problem) {
        return;
    }
    perp_problem_memory *memory = problem->memory;
    const perp_allocator allocator = memory->allocator;
    perp_arena_clear(&memory->arena);
    allocator.release(allocator.context, memory);
}
