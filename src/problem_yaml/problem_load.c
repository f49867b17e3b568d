/* perp_problem_load_*: text -> tree -> nodes by key -> arrays -> checked.
 *
 * The size of a complementarity problem is that of M, whatever the order of the keys. So a first pass over the key
 * table only notes where each value stands, and the values are read in the order M, q, then what the kind adds. The
 * convex kinds (problem_convex.c) and friction problems (problem_friction.c) are read alike.
 *
 * All errors are told in one go: what is wrong with one value does not keep the others from being read. Where M does
 * not say how large the problem is, the others are read without a judgement on their size. */
#include <perp/problem_yaml.h>

#include "base/plain_locale.h"
#include "problem/checks.h"
#include "problem_yaml/friction_dat.h"
#include "problem_yaml/problem_convex.h"
#include "problem_yaml/problem_friction.h"
#include "problem_yaml/problem_load.h"
#include "problem_yaml/problem_values.h"
#include "yaml/yaml_source.h"

#include <assert.h>
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

#define KEY(name, form, meaning, member)                                                                               \
    {                                                                                                                  \
        name, form, "", meaning, perp_note_place, offsetof(key_places, member), KEY_REQUIRED                           \
    }
#define COMMON_KEYS                                                                                                    \
    KEY("kind", "lcp", "the class of the problem", kind),                                                              \
        KEY("M", "[[m00, m01, ..], ..] or {rows, cols, triplets: [[i, j, value], ..]}", "square", m),                  \
        KEY("q", "[q0, q1, ..]", "as many as M has rows", q)

#define FREE_KEY KEY("free", "[i, ..]", "rows with w = 0 and z free, from 0; may be empty", free)
#define BOUND_KEYS                                                                                                     \
    KEY("lower", "[l0, l1, ..]", "lower bounds; -.inf: none", lower),                                                  \
        KEY("upper", "[u0, u1, ..]", "upper bounds; .inf: none", upper)

static const key_spec lcp_keys[] = {COMMON_KEYS};
static const key_spec mlcp_keys[] = {COMMON_KEYS, FREE_KEY};
static const key_spec mcp_keys[] = {COMMON_KEYS, BOUND_KEYS};
static const key_spec keys_of_any_kind[] = {COMMON_KEYS, FREE_KEY, BOUND_KEYS};

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
static const key_table tables[] = {
    [PERP_PROBLEM_LCP] = {"lcp", lcp_keys, COUNT(lcp_keys)},
    [PERP_PROBLEM_MLCP] = {"mlcp", mlcp_keys, COUNT(mlcp_keys)},
    [PERP_PROBLEM_MCP] = {"mcp", mcp_keys, COUNT(mcp_keys)},
};
static const char *const kind_names[] = {[PERP_PROBLEM_LCP] = "lcp",           [PERP_PROBLEM_MLCP] = "mlcp",
                                         [PERP_PROBLEM_MCP] = "mcp",           [PERP_PROBLEM_QP] = "qp",
                                         [PERP_PROBLEM_CONE_QP] = "cone-qp",   [PERP_PROBLEM_LP] = "lp",
                                         [PERP_PROBLEM_FRICTION] = "friction", [PERP_PROBLEM_KIND_COUNT] = NULL};
static const key_table any_table = {"a problem", keys_of_any_kind, COUNT(keys_of_any_kind)};

const char *perp_problem_kind_name(perp_problem_kind kind)
{
    return kind_names[kind];
}

bool perp_problem_is_convex(perp_problem_kind kind)
{
    return kind == PERP_PROBLEM_QP || kind == PERP_PROBLEM_CONE_QP || kind == PERP_PROBLEM_LP;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* The arrays on their way into a problem. */
typedef struct draft {
    told_size n;
    double *m, *q, *lower, *upper;
    bool *free;
} draft;

static bool read_free(decoder *d, const yaml_node *node, draft *r)
{
    if (!perp_expect_list(d, node, "a list of rows")) {
        return false;
    }
    bool good = true;
    if (r->n.count != SIZE_UNKNOWN) {
        r->free = perp_decode_memory(d, r->n.count, sizeof *r->free);
        good = r->free != NULL;
    }
    for (const yaml_node *child = node->first; child; child = child->next) {
        int i;
        if (!perp_read_index(d, child, r->n.count, &i)) {
            good = false;
        } else if (r->free && r->free[i]) {
            good = perp_decode_error(d, child, "row %d is named twice", i);
        } else if (r->free) {
            r->free[i] = true;
        }
    }
    return good;
}

/* What the keys give that are there; false also if one is not. */
static bool read_values(decoder *d, const key_table *table, const key_places *at, draft *r)
{
    const struct {
        const yaml_node *node;
        read_function *read;
        double **values;
    } lists[] = {{at->q, perp_read_real, &r->q},
                 {at->lower, perp_read_real_or_infinite, &r->lower},
                 {at->upper, perp_read_real_or_infinite, &r->upper}};
    bool good = at->m && at->q;
    r->n = perp_size_unknown();
    if (at->m) {
        d->key = perp_find_key(table, at->m->key);
        matrix_value m = {.name = "M", .square = true, .rows = r->n, .cols = r->n};
        good = perp_read_matrix(d, at->m, &m) && good;
        r->m = m.values;
        r->n = m.rows;
    }
    for (int i = 0; i < COUNT(lists); i++) {
        if (lists[i].node) {
            d->key = perp_find_key(table, lists[i].node->key);
            good = perp_read_numbers(d, lists[i].node, &r->n, lists[i].read, lists[i].values) && good;
        }
    }
    if (at->free) {
        d->key = perp_find_key(table, at->free->key);
        good = read_free(d, at->free, r) && good;
    }
    return perp_check_bounds(d, at->lower, r->lower, at->upper, r->upper) && good;
}

/* ---- problems ---------------------------------------------------------------------------------------------------- */

/* The kind, or -1 after an error. */
static int read_kind(decoder *d, const yaml_node *root)
{
    const yaml_node *node = perp_yaml_tree_find(root, "kind", 4);
    if (!node) {
        perp_decode_error(d, root,
                          perp_looks_like_friction(root) ? "`kind` is missing; write `kind: friction`"
                          : perp_looks_convex(root)
                              ? "`kind` is missing; write `kind: qp` (or cone-qp, lp)"
                              : "`kind` is missing; write `kind: lcp` (or mlcp, mcp, qp, cone-qp, lp, friction)");
        return -1;
    }
    d->key = &lcp_keys[0];
    return perp_read_word(d, node, kind_names);
}

/* Which keys must be there, and which must not, is unknown: what is wrong with their values is told all the same. */
static bool read_without_kind(decoder *d, const yaml_node *root)
{
    key_places at = {0};
    draft r = {0};
    if (perp_looks_like_friction(root)) {
        perp_read_friction_without_kind(d, root);
        return false;
    }
    if (perp_looks_convex(root)) {
        perp_read_convex_without_kind(d, root);
        return false;
    }
    for (int i = 0; i < any_table.count; i++) {
        const key_spec *key = &any_table.keys[i];
        *(const yaml_node **)((char *)&at + key->offset) = perp_yaml_tree_find(root, key->key, strlen(key->key));
    }
    read_values(d, &any_table, &at, &r);
    return false;
}

int perp_problem_size(const perp_problem *problem)
{
    switch (problem->kind) {
    case PERP_PROBLEM_MLCP:
        return problem->mlcp.n;
    case PERP_PROBLEM_MCP:
        return problem->mcp.n;
    case PERP_PROBLEM_QP:
    case PERP_PROBLEM_LP:
        return problem->qp.n;
    case PERP_PROBLEM_CONE_QP:
        return problem->cone_qp.n;
    case PERP_PROBLEM_FRICTION:
        return problem->friction.contacts * problem->friction.dim;
    default:
        return problem->lcp.n;
    }
}

double perp_problem_residual(const perp_problem *problem, const double *z)
{
    assert(!perp_problem_is_convex(problem->kind));
    switch (problem->kind) {
    case PERP_PROBLEM_MLCP:
        return perp_mlcp_residual(&problem->mlcp, z);
    case PERP_PROBLEM_MCP:
        return perp_mcp_residual(&problem->mcp, z);
    case PERP_PROBLEM_FRICTION:
        return perp_friction_residual(&problem->friction, z);
    default:
        return perp_lcp_residual(&problem->lcp, z);
    }
}

perp_convex_residual perp_problem_convex_residual(const perp_problem *problem, const perp_convex_point *point)
{
    assert(perp_problem_is_convex(problem->kind));
    return problem->kind == PERP_PROBLEM_CONE_QP ? perp_cone_qp_residual(&problem->cone_qp, point)
                                                 : perp_qp_residual(&problem->qp, point);
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
    if (kind < 0) {
        return read_without_kind(d, root);
    }
    if (kind == PERP_PROBLEM_FRICTION) {
        return perp_read_friction(d, root, problem);
    }
    if (perp_problem_is_convex((perp_problem_kind)kind)) {
        return perp_read_convex(d, root, (perp_problem_kind)kind, problem);
    }
    key_places at = {0};
    draft r = {0};
    const bool complete = perp_read_map(d, root, &tables[kind], &at);
    if (!read_values(d, &tables[kind], &at, &r) || !complete) {
        return false;
    }
    problem->kind = (perp_problem_kind)kind;
    if (problem->kind == PERP_PROBLEM_MLCP) {
        problem->mlcp = (perp_mlcp){r.n.count, r.m, r.q, r.free};
    } else if (problem->kind == PERP_PROBLEM_MCP) {
        problem->mcp = (perp_mcp){r.n.count, r.m, r.q, r.lower, r.upper};
    } else {
        problem->lcp = (perp_lcp){r.n.count, r.m, r.q};
    }
    perp_error error;
    return check(problem, &error) == PERP_STATUS_OK || perp_decode_error(d, root, "%s", error.message);
}

/* A text in a plain locale, into the problem; diagnostics say what is wrong. */
typedef perp_status read_text(const char *text, size_t length, const char *name, perp_problem_memory *memory,
                              perp_diagnostics *diagnostics);

/* The tree is thrown away afterwards: a node is many times larger than the number it holds. */
static perp_status read_yaml(const char *text, size_t length, const char *name, perp_problem_memory *memory,
                             perp_diagnostics *diagnostics)
{
    perp_arena trees;
    perp_arena_init(&trees, &memory->allocator);
    yaml_reader reader = {.arena = &trees, .diagnostics = diagnostics};
    decoder d = {.diagnostics = diagnostics, .arena = &memory->arena};
    const yaml_node *root = perp_yaml_tree_parse(&reader, text, length, name);
    const bool good = root && fill(&d, root, &memory->problem) && diagnostics->errors == 0;
    perp_arena_clear(&trees);
    const bool memory_short = reader.out_of_memory || d.out_of_memory;
    return memory_short ? PERP_STATUS_OUT_OF_MEMORY : good ? PERP_STATUS_OK : PERP_STATUS_BAD_INPUT;
}

static perp_status read_dat(const char *text, size_t length, const char *name, perp_problem_memory *memory,
                            perp_diagnostics *diagnostics)
{
    friction_dat d = {.name = name, .diagnostics = diagnostics, .arena = &memory->arena};
    memory->problem.kind = PERP_PROBLEM_FRICTION;
    const bool good = perp_read_friction_dat(&d, text, length, &memory->problem.friction);
    return d.out_of_memory ? PERP_STATUS_OUT_OF_MEMORY : good ? PERP_STATUS_OK : PERP_STATUS_BAD_INPUT;
}

static perp_status load(read_text *read, const char *text, size_t length, const char *name,
                        const perp_allocator *allocator, perp_problem **problem, perp_diagnostics *diagnostics)
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
    perp_plain_locale locale = {0};
    perp_status status = PERP_STATUS_OUT_OF_MEMORY;
    if (perp_plain_locale_open(&locale)) {
        perp_plain_locale_enter(&locale);
        status = read(text, length, name, memory, diagnostics);
        perp_plain_locale_leave(&locale);
    }
    perp_plain_locale_close(&locale);
    perp_yaml_sort_diagnostics(diagnostics);
    if (status == PERP_STATUS_OK) {
        *problem = &memory->problem;
        return status;
    }
    perp_problem_free(&memory->problem);
    return status == PERP_STATUS_OUT_OF_MEMORY ? perp_yaml_out_of_memory(name, diagnostics) : status;
}

perp_status perp_problem_load_text(const char *text, size_t length, const char *name, const perp_allocator *allocator,
                                   perp_problem **problem, perp_diagnostics *diagnostics)
{
    return load(read_yaml, text, length, name, allocator, problem, diagnostics);
}

perp_status perp_problem_load_dat(const char *text, size_t length, const char *name, const perp_allocator *allocator,
                                  perp_problem **problem, perp_diagnostics *diagnostics)
{
    return load(read_dat, text, length, name, allocator, problem, diagnostics);
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
    perp_arena arena;
    perp_arena_init(&arena, allocator);
    char *text;
    size_t length;
    perp_status status = perp_yaml_read_file(&arena, path, &text, &length, diagnostics);
    if (status == PERP_STATUS_OK) {
        status =
            load(ends_with(path, ".dat") ? read_dat : read_yaml, text, length, path, allocator, problem, diagnostics);
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
