/* qp, cone-qp and lp. The number of unknowns is that of the entries of g, which every kind has; a pair (A, b) or (C, d)
 * has as many rows as its vector has entries. So g is read first, and each vector is asked for its length before its
 * matrix is read. */
#include "problem/checks.h"
#include "problem_yaml/problem_convex.h"
#include "problem/tolerances.h"
#include "problem_yaml/problem_values.h"

#include <stdio.h>
#include <string.h>

typedef struct convex_places {
    const yaml_node *kind, *h, *g, *a, *b, *c, *d, *lower, *upper, *cones; /* NULL: not given */
} convex_places;

static bool refuse_hessian(decoder *d, const yaml_node *node, void *target)
{
    (void)target;
    return perp_decode_error(d, node, "an lp has no H; write `kind: qp`, or leave H out");
}

#define MATRIX_FORM "[[1, 0, ..], ..] or {rows, cols, triplets: [[i, j, value], ..]}"
#define KEY(name, form, meaning, member, flags)                                                                        \
    {                                                                                                                  \
        name, form, "", meaning, perp_note_place, offsetof(convex_places, member), flags                               \
    }
#define KIND_KEY KEY("kind", "qp", "the class of the problem", kind, KEY_REQUIRED)
#define H_KEY KEY("H", MATRIX_FORM, "symmetric, positive semidefinite", h, 0)
#define G_KEY KEY("g", "[g0, g1, ..]", "one for each unknown", g, KEY_REQUIRED)
#define EQUALITY_KEYS                                                                                                  \
    KEY("C", MATRIX_FORM, "C x = d; a column for each unknown", c, 0),                                                 \
        KEY("d", "[d0, d1, ..]", "as many as C has rows", d, 0)
#define INEQUALITY_KEYS                                                                                                \
    KEY("A", MATRIX_FORM, "A x >= b; a column for each unknown", a, 0),                                                \
        KEY("b", "[b0, b1, ..]", "as many as A has rows", b, 0)
#define BOUND_KEYS                                                                                                     \
    KEY("lower", "[l0, l1, ..]", "lower bounds; -.inf: none", lower, 0),                                               \
        KEY("upper", "[u0, u1, ..]", "upper bounds; .inf: none", upper, 0)
#define CONES_KEY(flags) KEY("cones", "[{A: [[..]], b: [..]}, ..]", "A x + b in the second-order cone", cones, flags)

static const key_spec qp_keys[] = {KIND_KEY, H_KEY, G_KEY, INEQUALITY_KEYS, EQUALITY_KEYS, BOUND_KEYS};
static const key_spec cone_qp_keys[] = {KIND_KEY, H_KEY, G_KEY, CONES_KEY(KEY_REQUIRED), EQUALITY_KEYS};
static const key_spec lp_keys[] = {KIND_KEY,      G_KEY,      INEQUALITY_KEYS,
                                   EQUALITY_KEYS, BOUND_KEYS, {"H", "none", "", "not of an lp", refuse_hessian, 0, 0}};
static const key_spec keys_of_any_kind[] = {KIND_KEY,      H_KEY,      G_KEY,       INEQUALITY_KEYS,
                                            EQUALITY_KEYS, BOUND_KEYS, CONES_KEY(0)};

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
static const key_table qp_table = {"qp", qp_keys, COUNT(qp_keys)};
static const key_table cone_qp_table = {"cone-qp", cone_qp_keys, COUNT(cone_qp_keys)};
static const key_table lp_table = {"lp", lp_keys, COUNT(lp_keys)};
static const key_table any_table = {"a problem", keys_of_any_kind, COUNT(keys_of_any_kind)};

typedef struct cone_places {
    const yaml_node *a, *b;
} cone_places;

static const key_spec cone_keys[] = {
    {"A", MATRIX_FORM, "", "a row for each entry of the cone", perp_note_place, offsetof(cone_places, a), KEY_REQUIRED},
    {"b", "[b0, b1, ..]", "", "as many as A has rows", perp_note_place, offsetof(cone_places, b), KEY_REQUIRED},
};
static const key_table cone_table = {"a cone", cone_keys, COUNT(cone_keys)};

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* A matrix with its right-hand side: A x >= b, C x = d. */
typedef struct row_block {
    int rows;
    double *matrix, *vector;
} row_block;

/* The arrays on their way into a problem. */
typedef struct convex_draft {
    told_size n;
    double *h, *g, *lower, *upper;
    row_block inequalities, equalities, cones;
    int cone_count;
    int *cone_rows;
} convex_draft;

/* As many unknowns as g has entries. Without a g, as many as H has rows. */
static bool read_objective(decoder *d, const key_table *table, const convex_places *at, convex_draft *r)
{
    bool good = at->g != NULL;
    r->n = perp_size_unknown();
    if (at->g) {
        d->key = perp_find_key(table, at->g->key);
        if (at->g->kind == YAML_LIST) {
            good = perp_size_allowed(d, at->g, at->g->count, "g", "entries");
            r->n = good ? perp_size_told(at->g->count, "g has %d", at->g->count) : r->n;
        }
        good = perp_read_numbers(d, at->g, &r->n, perp_read_real, &r->g) && good;
    }
    if (at->h) {
        d->key = perp_find_key(table, at->h->key);
        matrix_value h = {.name = "H", .square = true, .rows = r->n, .cols = r->n};
        const bool read = perp_read_matrix(d, at->h, &h);
        r->h = read ? h.values : NULL;
        r->n = h.cols;
        good = read && good;
    }
    return good;
}

/* Both or neither of a pair. */
static bool pair_complete(decoder *d, const yaml_node *matrix, const yaml_node *vector, const char *names[2])
{
    if (matrix && !vector) {
        return perp_decode_error(d, matrix, "`%s` needs `%s`, a number for each of its rows; write `%s: [..]`",
                                 names[0], names[1], names[1]);
    }
    return !vector || matrix ||
           perp_decode_error(d, vector, "`%s` needs `%s`, a row for each of its entries; write `%s: [[..], ..]`",
                             names[1], names[0], names[0]);
}

static bool read_pair(decoder *d, const key_table *table, const yaml_node *matrix, const yaml_node *vector,
                      const told_size *n, row_block *r)
{
    bool good = true;
    told_size rows = perp_size_unknown();
    if (vector) {
        d->key = perp_find_key(table, vector->key);
        if (vector->kind == YAML_LIST) {
            rows = perp_size_told(vector->count, "%s has %d %s", vector->key, vector->count,
                                  vector->count == 1 ? "entry" : "entries");
        }
        good = perp_read_numbers(d, vector, &rows, perp_read_real, &r->vector) && good;
    }
    if (matrix) {
        d->key = perp_find_key(table, matrix->key);
        matrix_value m = {.name = matrix->key, .rows = rows, .cols = *n};
        good = perp_read_matrix(d, matrix, &m) && good;
        r->matrix = m.values;
    }
    r->rows = vector && matrix && good ? rows.count : 0;
    return good;
}

/* ---- cones ------------------------------------------------------------------------------------------------------- */

static bool read_cone(decoder *d, const yaml_node *node, const told_size *n, row_block *r)
{
    cone_places at = {0};
    if (node->kind != YAML_MAP) {
        return perp_decode_expected(d, node, "a cone {A: [[..], ..], b: [..]}");
    }
    bool good = perp_read_map(d, node, &cone_table, &at);
    good = read_pair(d, &cone_table, at.a, at.b, n, r) && good;
    if (good && r->rows == 0) {
        return perp_decode_error(d, at.b, "a cone has at least one row");
    }
    return good;
}

/* That there are not more rows than all of them may have is seen from their vectors, before memory is taken. */
static bool cones_fit(decoder *d, const yaml_node *node, int n)
{
    enum { MOST = PERP_PROBLEM_MAX_SIZE * PERP_PROBLEM_MAX_SIZE };
    int64_t rows = 0;
    for (const yaml_node *child = node->first; child; child = child->next) {
        const yaml_node *b = child->kind == YAML_MAP ? perp_yaml_tree_find(child, "b", 1) : NULL;
        rows += b && b->kind == YAML_LIST ? b->count : 0;
    }
    return rows * n <= MOST ||
           perp_decode_error(d, node, "the cones have %lld rows of %d entries; at most %d in all fit", (long long)rows,
                             n, MOST);
}

/* The cones below each other, as the problem has them. */
static bool stack_cones(decoder *d, int count, const row_block *cones, convex_draft *r)
{
    const size_t n = (size_t)r->n.count;
    row_block *all = &r->cones;
    int rows = 0;
    for (int k = 0; k < count; k++) {
        rows += cones[k].rows;
    }
    all->matrix = perp_decode_memory(d, rows * r->n.count, sizeof *all->matrix);
    all->vector = perp_decode_memory(d, rows, sizeof *all->vector);
    r->cone_rows = perp_decode_memory(d, count, sizeof *r->cone_rows);
    if (!all->matrix || !all->vector || !r->cone_rows) {
        return false;
    }
    for (int k = 0; k < count; k++) {
        const size_t first = (size_t)all->rows, height = (size_t)cones[k].rows;
        memcpy(all->matrix + first * n, cones[k].matrix, height * n * sizeof *all->matrix);
        memcpy(all->vector + first, cones[k].vector, height * sizeof *all->vector);
        r->cone_rows[k] = cones[k].rows;
        all->rows += cones[k].rows;
    }
    r->cone_count = count;
    return true;
}

static bool read_cones(decoder *d, const yaml_node *node, convex_draft *r)
{
    if (!perp_expect_list(d, node, "a list of cones")) {
        return false;
    }
    row_block *cones = perp_decode_memory(d, node->count, sizeof *cones);
    if (!cones) {
        return false;
    }
    told_size n = r->n;
    bool good = n.count == SIZE_UNKNOWN || cones_fit(d, node, n.count);
    n = good ? n : perp_size_unknown();
    for (const yaml_node *child = node->first; child; child = child->next) {
        good = read_cone(d, child, &n, &cones[child->index]) && good;
    }
    return good && (n.count == SIZE_UNKNOWN || stack_cones(d, node->count, cones, r));
}

/* ---- H ----------------------------------------------------------------------------------------------------------- */

/* The same tolerance as perp_qp_check; told here, where the place of the entry is known. */
static bool check_hessian(decoder *d, const yaml_node *node, const convex_draft *r)
{
    const size_t n = (size_t)r->n.count;
    double largest = 0.0;
    for (size_t i = 0; i < n * n; i++) {
        largest = fmax(largest, fabs(r->h[i]));
    }
    const double rounding = PERP_SYMMETRIC * largest;
    for (size_t i = 0; i < n; i++) {
        if (r->h[i * n + i] < -rounding) {
            return perp_decode_error(d, perp_matrix_entry(node, (int)i, (int)i),
                                     "H is not positive semidefinite: its diagonal entry %zu is %g", i,
                                     r->h[i * n + i]);
        }
        for (size_t j = 0; j < i; j++) {
            const double entry = r->h[i * n + j], mirrored = r->h[j * n + i];
            if (!(fabs(entry - mirrored) <= rounding)) {
                return perp_decode_error(d, perp_matrix_entry(node, (int)i, (int)j),
                                         "H is not symmetric: entry (%zu, %zu) is %.17g, but entry (%zu, %zu) is "
                                         "%.17g%s",
                                         i, j, entry, j, i, mirrored,
                                         entry == 0.0 || mirrored == 0.0 ? "; write both triangles" : "");
            }
        }
    }
    return true;
}

/* ---- problems ---------------------------------------------------------------------------------------------------- */

/* What the keys give that are there; false also if g is not. */
static bool read_values(decoder *d, const key_table *table, const convex_places *at, convex_draft *r)
{
    bool good = read_objective(d, table, at, r);
    good = pair_complete(d, at->a, at->b, (const char *[]){"A", "b"}) && good;
    good = pair_complete(d, at->c, at->d, (const char *[]){"C", "d"}) && good;
    good = read_pair(d, table, at->a, at->b, &r->n, &r->inequalities) && good;
    good = read_pair(d, table, at->c, at->d, &r->n, &r->equalities) && good;
    if (at->cones) {
        d->key = perp_find_key(table, at->cones->key);
        good = read_cones(d, at->cones, r) && good;
    }
    const yaml_node *bounds[] = {at->lower, at->upper};
    double **values[] = {&r->lower, &r->upper};
    for (int i = 0; i < 2; i++) {
        if (bounds[i]) {
            d->key = perp_find_key(table, bounds[i]->key);
            good = perp_read_numbers(d, bounds[i], &r->n, perp_read_real_or_infinite, values[i]) && good;
        }
    }
    good = perp_check_bounds(d, at->lower, r->lower, at->upper, r->upper) && good;
    return (!r->h || check_hessian(d, at->h, r)) && good;
}

/* Told beside whatever else is missing, hence filed under its key. */
static bool hessian_missing(decoder *d, const yaml_node *root)
{
    int line, column;
    perp_yaml_tree_place(root, &line, &column);
    perp_diagnostics_add(d->diagnostics, PERP_SEVERITY_ERROR, root->file, line, column, "H",
                         "`H` is missing; write `H: %s`, or `kind: lp` for a problem without it", MATRIX_FORM);
    return false;
}

static perp_status fill(const convex_draft *r, perp_problem *problem, perp_error *error)
{
    const row_block *c = &r->equalities;
    if (problem->kind == PERP_PROBLEM_CONE_QP) {
        problem->cone_qp = (perp_cone_qp){.n = r->n.count,
                                          .h = r->h,
                                          .g = r->g,
                                          .cones = r->cone_count,
                                          .cone_rows = r->cone_rows,
                                          .a = r->cones.matrix,
                                          .b = r->cones.vector,
                                          .equalities = c->rows,
                                          .c = c->matrix,
                                          .d = c->vector};
        return perp_cone_qp_check(&problem->cone_qp, error);
    }
    problem->qp = (perp_qp){.n = r->n.count,
                            .h = r->h,
                            .g = r->g,
                            .rows = r->inequalities.rows,
                            .a = r->inequalities.matrix,
                            .b = r->inequalities.vector,
                            .equalities = c->rows,
                            .c = c->matrix,
                            .d = c->vector,
                            .lower = r->lower,
                            .upper = r->upper};
    return perp_qp_check(&problem->qp, error);
}

bool perp_read_convex(decoder *d, const yaml_node *root, perp_problem_kind kind, perp_problem *problem)
{
    const key_table *table = kind == PERP_PROBLEM_QP        ? &qp_table
                             : kind == PERP_PROBLEM_CONE_QP ? &cone_qp_table
                                                            : &lp_table;
    convex_places at = {0};
    convex_draft r = {0};
    bool good = perp_read_map(d, root, table, &at);
    good = (kind != PERP_PROBLEM_QP || at.h || hessian_missing(d, root)) && good;
    if (!read_values(d, table, &at, &r) || !good) {
        return false;
    }
    problem->kind = kind;
    if (at.h) {
        perp_yaml_tree_place(at.h, &problem->hessian_line, &problem->hessian_column);
    }
    perp_error error;
    /* all but the definiteness of H was looked at above */
    return fill(&r, problem, &error) == PERP_STATUS_OK || perp_decode_error(d, at.h ? at.h : root, "%s", error.message);
}

/* ---- without a kind ---------------------------------------------------------------------------------------------- */

static bool has_key(const yaml_node *root, const char *key)
{
    return perp_yaml_tree_find(root, key, strlen(key)) != NULL;
}

bool perp_looks_convex(const yaml_node *root)
{
    return (has_key(root, "H") || has_key(root, "g") || has_key(root, "cones")) && !has_key(root, "M") &&
           !has_key(root, "q");
}

void perp_read_convex_without_kind(decoder *d, const yaml_node *root)
{
    convex_places at = {0};
    convex_draft r = {0};
    for (int i = 0; i < any_table.count; i++) {
        const key_spec *key = &any_table.keys[i];
        *(const yaml_node **)((char *)&at + key->offset) = perp_yaml_tree_find(root, key->key, strlen(key->key));
    }
    read_values(d, &any_table, &at, &r);
}
