/* friction. W says how many rows there are, dim how many of them a contact has; so these are read first, whatever the
 * order of the keys, and q and mu are held to them. */
#include "problem/checks.h"
#include "problem_yaml/problem_friction.h"
#include "problem_yaml/problem_values.h"

#include <string.h>

typedef struct friction_places {
    const yaml_node *kind, *w, *q, *mu, *dim; /* NULL: not given */
} friction_places;

#define KEY(name, form, meaning, member)                                                                               \
    {                                                                                                                  \
        name, form, "", meaning, perp_note_place, offsetof(friction_places, member), KEY_REQUIRED                      \
    }
enum { KEY_W = 1, KEY_Q, KEY_MU, KEY_DIM };
static const key_spec friction_keys[] = {
    KEY("kind", "friction", "the class of the problem", kind),
    [KEY_W] = KEY("W", "[[w00, w01, ..], ..] or {rows, cols, triplets: [[i, j, value], ..]}",
                  "square; dim rows for each contact, the normal first", w),
    [KEY_Q] = KEY("q", "[q0, q1, ..]", "as many as W has rows", q),
    [KEY_MU] = KEY("mu", "[mu0, mu1, ..]", "the friction of each contact", mu),
    [KEY_DIM] = KEY("dim", "3", "rows of a contact: 2 planar, 3 spatial", dim),
};
static const key_table friction_table = {"friction", friction_keys,
                                         (int)(sizeof friction_keys / sizeof *friction_keys)};

typedef struct friction_draft {
    told_size size, contacts;
    int dim; /* 0: unknown */
    double *w, *q, *mu;
} friction_draft;

static bool read_dim(decoder *d, const yaml_node *node, int *dim)
{
    int value;
    d->key = &friction_keys[KEY_DIM];
    if (!perp_read_int(d, node, &value)) {
        return false;
    }
    if (value != 2 && value != 3) {
        return perp_decode_error(d, node, "`dim` is %d; write 2 (n, t) or 3 (n, t, o)", value);
    }
    *dim = value;
    return true;
}

static bool read_matrix(decoder *d, const yaml_node *node, friction_draft *r)
{
    d->key = &friction_keys[KEY_W];
    matrix_value w = {.name = "W", .square = true, .rows = r->size, .cols = r->size};
    const bool good = perp_read_matrix(d, node, &w);
    r->w = w.values;
    r->size = w.rows;
    return good;
}

/* How many contacts W and dim make. */
static bool count_contacts(decoder *d, const yaml_node *w, friction_draft *r)
{
    if (r->dim == 0 || r->size.count == SIZE_UNKNOWN) {
        return true; /* told already */
    }
    if (r->size.count % r->dim != 0) {
        d->key = &friction_keys[KEY_W];
        return perp_decode_error(d, w, "W has %d %s, which is no multiple of dim, %d", r->size.count,
                                 perp_plural(r->size.count, "row", "rows"), r->dim);
    }
    const int count = r->size.count / r->dim;
    r->contacts = perp_size_told(count, "W has %d rows: %d %s of %d", r->size.count, count,
                                 perp_plural(count, "contact", "contacts"), r->dim);
    return true;
}

static bool check_frictions(decoder *d, const yaml_node *node, const double *mu)
{
    bool good = true;
    for (const yaml_node *child = mu ? node->first : NULL; child; child = child->next) {
        if (mu[child->index] < 0.0) {
            good = perp_decode_error(d, child, "the friction %g is negative", mu[child->index]);
        }
    }
    return good;
}

/* What the keys give that are there; false also if one is not. */
static bool read_values(decoder *d, const friction_places *at, friction_draft *r)
{
    bool good = at->w && at->q && at->mu && at->dim;
    r->size = r->contacts = perp_size_unknown();
    good = (!at->dim || read_dim(d, at->dim, &r->dim)) && good;
    good = (!at->w || read_matrix(d, at->w, r)) && good;
    good = count_contacts(d, at->w, r) && good;
    if (at->q) {
        d->key = &friction_keys[KEY_Q];
        good = perp_read_numbers(d, at->q, &r->size, perp_read_real, &r->q) && good;
    }
    if (at->mu) {
        d->key = &friction_keys[KEY_MU];
        good = perp_read_numbers(d, at->mu, &r->contacts, perp_read_real, &r->mu) && good;
        good = check_frictions(d, at->mu, r->mu) && good;
    }
    return good;
}

bool perp_read_friction(decoder *d, const yaml_node *root, perp_problem *problem)
{
    friction_places at = {0};
    friction_draft r = {0};
    const bool complete = perp_read_map(d, root, &friction_table, &at);
    if (!read_values(d, &at, &r) || !complete) {
        return false;
    }
    problem->kind = PERP_PROBLEM_FRICTION;
    problem->friction = (perp_friction){r.contacts.count, r.dim, r.w, r.q, r.mu};
    perp_error error;
    return perp_friction_check(&problem->friction, &error) == PERP_STATUS_OK ||
           perp_decode_error(d, root, "%s", error.message);
}

/* ---- without a kind ---- */

static const yaml_node *find(const yaml_node *root, const char *key)
{
    return perp_yaml_tree_find(root, key, strlen(key));
}

bool perp_looks_like_friction(const yaml_node *root)
{
    return find(root, "W") || find(root, "mu") || find(root, "dim");
}

void perp_read_friction_without_kind(decoder *d, const yaml_node *root)
{
    const friction_places at = {
        .w = find(root, "W"), .q = find(root, "q"), .mu = find(root, "mu"), .dim = find(root, "dim")};
    friction_draft r = {0};
    read_values(d, &at, &r);
}
