/* The branch and bound of lcp_search.h.
 *
 * A node is a face of F, held as a dictionary with a vertex of it (lcp_dictionary.h).
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

#include <math.h>

/* After so many pivots a dictionary is computed afresh from the problem. */
enum { PIVOTS_BEFORE_BUILD = 40 };

/* More faces than this are not looked for: M = -I, q = 1 has 2^n. */
enum { FACES_MOST = 100000 };

/* A pair that was given as zero is not branched on, and says nothing. */
static bool may_be_nested(const perp_lcp_search *s, perp_lcp_variables tight)
{
    return (tight.z & tight.w & ~s->given.z & ~s->given.w) != 0;
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
    for (int k = 0; k < s->found_count && may_be_nested(s, tight) && !is_cancelled(s); k++) {
        if (perp_lcp_is_subset(s->found[k].tight, tight)) {
            return true;
        }
    }
    return false;
}

/* Removes the faces inside the new one, and adds it. */
static void keep_face(perp_lcp_search *s, const perp_lcp_dictionary *d)
{
    if (is_covered(s, d->tight)) {
        return;
    }
    if (s->nested_count) {
        int kept = 0;
        for (int k = 0; k < s->found_count && !is_cancelled(s); k++) {
            if (!perp_lcp_is_subset(d->tight, s->found[k].tight)) {
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
    found[s->found_count++] = (perp_lcp_found){d->tight, perp_lcp_dictionary_basis(d)};
    s->nested_count += may_be_nested(s, d->tight);
}

static double basic_value(const perp_lcp_dictionary *d, int variable)
{
    const int row = perp_lcp_dictionary_row(d, variable);
    return row < 0 ? 0.0 : d->b[row];
}

/* The pair whose smaller member is largest at the vertex; -1 if the vertex is complementary. */
static int violated_pair(const perp_lcp_dictionary *d)
{
    int worst = -1;
    double largest = PERP_LCP_ZERO;
    for (int i = 0; i < d->problem->n; i++) {
        const double smaller = fmin(basic_value(d, i), basic_value(d, PERP_LCP_W + i));
        if (smaller > largest) {
            largest = smaller;
            worst = i;
        }
    }
    return worst;
}

static void note_positive(const perp_lcp_dictionary *d, perp_lcp_variables *seen)
{
    for (int i = 0; i < d->problem->n; i++) {
        if (d->b[i] > PERP_LCP_ZERO) {
            perp_lcp_add(seen, d->row[i]);
        }
    }
}

/* Whether the variable is positive somewhere on the face. If it is not it is made tight. `seen` collects what is known
 * to be positive somewhere, so that few questions cost pivots. Trouble counts as positive and as incomplete. */
static bool can_be_positive(perp_lcp_search *s, perp_lcp_dictionary *d, int variable, perp_lcp_variables *seen)
{
    if (perp_lcp_has(d->tight, variable)) {
        return false;
    }
    if (perp_lcp_has(*seen, variable)) {
        return true;
    }
    const perp_lcp_lp answer = perp_lcp_dictionary_can_be_positive(d, variable);
    note_positive(d, seen);
    if (answer == PERP_LCP_LP_NO) {
        if (perp_lcp_dictionary_fix(d, variable) != PERP_LCP_LP_YES) {
            s->complete = false;
        }
        return false;
    }
    perp_lcp_add(seen, variable);
    s->complete = s->complete && answer == PERP_LCP_LP_YES;
    return true;
}

/* A pair to branch on, or -1 if the whole face is complementary; its tight set is then complete. */
static int open_pair(perp_lcp_search *s, perp_lcp_dictionary *d)
{
    perp_lcp_variables seen = {0, 0};
    note_positive(d, &seen);
    for (int i = 0; i < d->problem->n; i++) {
        if (can_be_positive(s, d, i, &seen) && can_be_positive(s, d, PERP_LCP_W + i, &seen)) {
            return i;
        }
    }
    for (int i = 0; i < d->problem->n; i++) {
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
    perp_lcp_dictionary *d = &s->levels[depth];
    if (!may_go_on(s)) {
        return;
    }
    s->nodes++;
    if (is_covered(s, d->tight)) {
        return;
    }
    if (d->pivots > PIVOTS_BEFORE_BUILD &&
        perp_lcp_dictionary_build(d, perp_lcp_dictionary_basis(d), d->tight) != PERP_LCP_LP_YES) {
        s->complete = false;
        return;
    }
    int pair = violated_pair(d);
    if (pair < 0) {
        pair = open_pair(s, d);
    }
    if (pair < 0) {
        keep_face(s, d);
        return;
    }
    const int sides[2] = {pair, PERP_LCP_W + pair};
    for (int k = 0; k < 2 && s->status == PERP_STATUS_OK && !s->full; k++) {
        perp_lcp_dictionary_copy(&s->levels[depth + 1], d);
        const perp_lcp_lp answer = perp_lcp_dictionary_fix(&s->levels[depth + 1], sides[k]);
        s->complete = s->complete && answer != PERP_LCP_LP_TROUBLE;
        if (answer == PERP_LCP_LP_YES) {
            visit(s, depth + 1);
        }
    }
}

/* A first vertex of F, and then of the face on which what is given is zero. */
static perp_lcp_lp start(perp_lcp_search *s)
{
    perp_lcp_dictionary *d = &s->levels[0];
    perp_lcp_lp answer = perp_lcp_dictionary_start(d);
    for (int i = 0; i < s->scaled->n; i++) {
        const int pair[2] = {i, PERP_LCP_W + i};
        for (int k = 0; k < 2 && answer == PERP_LCP_LP_YES; k++) {
            answer = perp_lcp_has(s->given, pair[k]) ? perp_lcp_dictionary_fix(d, pair[k]) : answer;
        }
    }
    return answer;
}

perp_status perp_lcp_search_run(perp_lcp_search *s)
{
    const int n = s->scaled->n;
    s->complete = !s->scaled->lossy;
    s->levels = PERP_ARENA_NEW(s->arena, perp_lcp_dictionary, (size_t)n + 2);
    bool all = s->levels != NULL;
    for (int k = 0; k < n + 2 && all; k++) {
        all = perp_lcp_dictionary_create(&s->levels[k], s->scaled, s->arena);
    }
    if (!all) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    const perp_lcp_lp answer = start(s);
    s->complete = s->complete && answer != PERP_LCP_LP_TROUBLE;
    if (answer == PERP_LCP_LP_YES) {
        visit(s, 0);
    }
    for (int k = 0; k < n + 2; k++) {
        s->complete = s->complete && !s->levels[k].doubtful;
    }
    return s->status;
}
