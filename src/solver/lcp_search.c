/* The branch and bound of lcp_search.h.
 *
 * A node is a face of F, held as a dictionary with a vertex of it (cell_dictionary.h).
 *   - It is dropped if it lies inside a face that was found already.
 *   - A pair z_i, w_i with both positive at the vertex is branched on: z_i = 0, then w_i = 0. Either child loses the
 *     vertex; a child without points is dropped.
 *   - At a complementary vertex each open pair is tried: can z_i be positive on the face, can w_i? A variable that
 *     cannot is tight. If both can, though at different points, the pair is branched on. With no pair left the whole
 *     face is complementary: a solution face.
 * Every solution lies in a leaf, and a leaf that meets the relative interior of a maximal complementary face contains
 * it, so the leaves that lie in no other leaf are exactly the maximal faces.
 *
 * Two leaves can be equal or nested only if the smaller has some z_i and w_i both tight (they took different sides of a
 * branch), so only such nodes are compared with what was found: problems with 2^n isolated solutions stay linear in
 * their number.
 */
#include "solver/lcp_search.h"
#include "solver/tolerances.h"

#include <math.h>
#include <string.h>

/* More faces than this are not looked for: M = -I, q = 1 has 2^n. */
enum { FACES_MOST = 100000 };

static bool may_be_nested(perp_lcp_variables tight)
{
    return (tight.z & tight.w) != 0;
}

static bool is_subset(perp_lcp_variables a, perp_lcp_variables b)
{
    return (a.z & ~b.z) == 0 && (a.w & ~b.w) == 0;
}

static double value_of(const perp_cell_dictionary *d, int variable)
{
    return perp_cell_value(d, perp_lcp_variable(d->table, variable));
}

static bool is_tight(const perp_cell_dictionary *d, int variable)
{
    return d->asked[perp_lcp_variable(d->table, variable)] == PERP_CELL_EQUAL;
}

static perp_lcp_found face_of(const perp_lcp_search *s, const perp_cell_dictionary *d)
{
    perp_lcp_found face = {{0, 0}, {0, 0}};
    for (int i = 0; i < s->pairs; i++) {
        const int pair[2] = {i, PERP_LCP_W + i};
        for (int k = 0; k < 2; k++) {
            if (is_tight(d, pair[k])) {
                perp_lcp_add(&face.tight, pair[k]);
            }
            if (d->place[perp_lcp_variable(d->table, pair[k])] >= 0) {
                perp_lcp_add(&face.basis, pair[k]);
            }
        }
    }
    return face;
}

static bool is_cancelled(perp_lcp_search *s)
{
    if (s->cancel && *s->cancel) {
        s->status = PERP_STATUS_CANCELLED;
    }
    return s->status == PERP_STATUS_CANCELLED;
}

static bool is_covered(perp_lcp_search *s, perp_lcp_variables tight)
{
    for (int k = 0; k < s->found_count && may_be_nested(tight) && !is_cancelled(s); k++) {
        if (is_subset(s->found[k].tight, tight)) {
            return true;
        }
    }
    return false;
}

/* Removes the faces inside the new one, and adds it. */
static void keep_face(perp_lcp_search *s, perp_lcp_found face)
{
    if (is_covered(s, face.tight)) {
        return;
    }
    if (s->nested_count) {
        int kept = 0;
        for (int k = 0; k < s->found_count && !is_cancelled(s); k++) {
            if (!is_subset(face.tight, s->found[k].tight)) {
                s->found[kept++] = s->found[k];
            }
        }
        s->nested_count -= s->found_count - kept;
        s->found_count = kept;
    }
    if (s->found_count == FACES_MOST) {
        s->full = true;
        s->complete = false;
        return;
    }
    perp_lcp_found *found = perp_arena_grow(s->arena, s->found, s->found_count, &s->found_capacity, sizeof *found);
    if (!found) {
        s->status = PERP_STATUS_OUT_OF_MEMORY;
        return;
    }
    s->found = found;
    found[s->found_count++] = face;
    s->nested_count += may_be_nested(face.tight);
}

/* The pair whose smaller member is largest at the vertex; -1 if the vertex is complementary. */
static int violated_pair(const perp_lcp_search *s, const perp_cell_dictionary *d)
{
    int worst = -1;
    double largest = CELL_ZERO;
    for (int i = 0; i < s->pairs; i++) {
        const double smaller = fmin(value_of(d, i), value_of(d, PERP_LCP_W + i));
        if (smaller > largest) {
            largest = smaller;
            worst = i;
        }
    }
    return worst;
}

static void note_positive(const perp_lcp_search *s, const perp_cell_dictionary *d, perp_lcp_variables *seen)
{
    for (int i = 0; i < s->pairs; i++) {
        seen->z |= (uint64_t)(value_of(d, i) > CELL_ZERO) << i;
        seen->w |= (uint64_t)(value_of(d, PERP_LCP_W + i) > CELL_ZERO) << i;
    }
}

/* Whether the variable is positive somewhere on the face. If it is not it is made tight. `seen` collects what is known
 * to be positive somewhere, so that few questions cost pivots. Trouble counts as positive and as incomplete. */
static bool can_be_positive(perp_lcp_search *s, perp_cell_dictionary *d, int variable, perp_lcp_variables *seen)
{
    const int own = perp_lcp_variable(d->table, variable);
    if (is_tight(d, variable)) {
        return false;
    }
    if (perp_lcp_has(*seen, variable)) {
        return true;
    }
    const perp_cell_answer answer = perp_cell_can_be_positive(d, own, 1.0);
    note_positive(s, d, seen);
    if (answer == PERP_CELL_NO) {
        if (perp_cell_ask(d, own, PERP_CELL_EQUAL) != PERP_CELL_YES) {
            s->complete = false;
        }
        return false;
    }
    perp_lcp_add(seen, variable);
    s->complete = s->complete && answer == PERP_CELL_YES;
    return true;
}

/* A pair to branch on, or -1 if the whole face is complementary; its tight set is then complete. */
static int open_pair(perp_lcp_search *s, perp_cell_dictionary *d)
{
    perp_lcp_variables seen = {0, 0};
    note_positive(s, d, &seen);
    for (int i = 0; i < s->pairs; i++) {
        if (can_be_positive(s, d, i, &seen) && can_be_positive(s, d, PERP_LCP_W + i, &seen)) {
            return i;
        }
    }
    for (int i = 0; i < s->pairs; i++) {
        can_be_positive(s, d, PERP_LCP_W + i, &seen);
    }
    return -1;
}

static bool may_go_on(perp_lcp_search *s)
{
    if (!is_cancelled(s) && s->nodes >= s->max_nodes) {
        s->complete = false;
        return false;
    }
    return s->status == PERP_STATUS_OK && !s->full;
}

static void visit(perp_lcp_search *s, int depth)
{
    perp_cell_dictionary *d = &s->levels[depth];
    if (!may_go_on(s)) {
        return;
    }
    s->nodes++;
    if (is_covered(s, face_of(s, d).tight)) {
        return;
    }
    int pair = violated_pair(s, d);
    if (pair < 0) {
        pair = open_pair(s, d);
    }
    if (pair < 0) {
        keep_face(s, face_of(s, d));
        return;
    }
    const int sides[2] = {pair, PERP_LCP_W + pair};
    for (int k = 0; k < 2 && s->status == PERP_STATUS_OK && !s->full; k++) {
        perp_cell_dictionary *child = &s->levels[depth + 1];
        perp_cell_dictionary_copy(child, d);
        const perp_cell_answer answer = perp_cell_ask(child, perp_lcp_variable(d->table, sides[k]), PERP_CELL_EQUAL);
        s->complete = s->complete && answer != PERP_CELL_TROUBLE;
        if (answer == PERP_CELL_YES) {
            visit(s, depth + 1);
        }
    }
}

/* Free variables that are left as columns change nothing else: lines, and 0 from now on. */
static perp_cell_answer take_lines(perp_lcp_search *s, perp_cell_dictionary *d)
{
    const int n = d->table->columns;
    perp_cell_answer answer = perp_cell_rebuild(d);
    if (answer == PERP_CELL_YES) {
        perp_cell_bound_columns(d);
    }
    for (int i = s->pairs; i < n && answer == PERP_CELL_YES; i++) {
        const int variable = perp_lcp_variable(d->table, 0) + i;
        if (d->place[variable] >= 0) {
            continue;
        }
        d->endless = ~d->place[variable];
        d->way = 1.0;
        for (int j = 0; j < n; j++) {
            s->lines[s->line_count * n + j] = perp_cell_along_ray(d, d->table->rows + j);
        }
        s->line_count++;
        answer = perp_cell_ask(d, variable, PERP_CELL_EQUAL);
    }
    return answer;
}

/* A first vertex of F without its lines. */
static perp_cell_answer start(perp_lcp_search *s, perp_cell_dictionary *d)
{
    perp_cell_dictionary_start(d);
    perp_cell_answer answer = PERP_CELL_YES;
    for (int i = s->pairs; i < d->table->columns && answer == PERP_CELL_YES; i++) {
        answer = perp_cell_ask(d, i, PERP_CELL_EQUAL);
    }
    for (int i = 0; i < 2 * s->pairs && answer == PERP_CELL_YES; i++) { /* all z, then all w */
        const int variable = i < s->pairs ? i : PERP_LCP_W + i - s->pairs;
        answer = perp_cell_ask(d, perp_lcp_variable(d->table, variable), PERP_CELL_AT_LEAST);
    }
    return answer == PERP_CELL_YES && s->pairs < d->table->columns ? take_lines(s, d) : answer;
}

perp_status perp_lcp_search_run(perp_lcp_search *s)
{
    const int n = s->table->columns, depth = s->pairs + 1;
    s->complete = true;
    s->levels = PERP_ARENA_NEW(s->arena, perp_cell_dictionary, (size_t)depth + 1);
    s->lines = PERP_ARENA_NEW(s->arena, double, (size_t)(n - s->pairs) * (size_t)n);
    bool all = s->levels && s->lines && perp_cell_dictionary_create(&s->root, s->table, &s->work, s->arena);
    for (int k = 0; k <= depth && all; k++) {
        all = perp_cell_dictionary_create(&s->levels[k], s->table, &s->work, s->arena);
    }
    if (!all) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    const perp_cell_answer answer = start(s, &s->root);
    s->complete = answer != PERP_CELL_TROUBLE && !s->root.doubtful;
    if (answer == PERP_CELL_YES) {
        perp_cell_dictionary_copy(&s->levels[0], &s->root);
        visit(s, 0);
    }
    for (int k = 0; k <= depth; k++) {
        s->complete = s->complete && !s->levels[k].doubtful;
    }
    return s->status;
}

void perp_lcp_search_goals(const perp_lcp_search *s, perp_cell_dictionary *d)
{
    const size_t count = (size_t)s->table->rows + (size_t)s->table->columns;
    memcpy(d->asked, s->root.asked, count);
    for (size_t v = 0; v < count; v++) {
        d->goal[v] = s->root.place[v] >= 0 ? PERP_CELL_ROW : PERP_CELL_DROPPED;
    }
}

perp_cell_answer perp_lcp_search_recall(const perp_lcp_search *s, const perp_lcp_found *found, perp_cell_dictionary *d)
{
    perp_lcp_search_goals(s, d);
    for (int i = 0; i < s->pairs; i++) {
        const int pair[2] = {i, PERP_LCP_W + i};
        for (int k = 0; k < 2; k++) {
            const int variable = perp_lcp_variable(d->table, pair[k]);
            const bool tight = perp_lcp_has(found->tight, pair[k]);
            d->asked[variable] = tight ? PERP_CELL_EQUAL : PERP_CELL_AT_LEAST;
            d->goal[variable] = perp_lcp_has(found->basis, pair[k]) ? PERP_CELL_ROW
                                : tight                             ? PERP_CELL_DROPPED
                                                                    : PERP_CELL_COLUMN;
        }
    }
    return perp_cell_build(d);
}
