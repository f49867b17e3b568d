/* Pattern and order of elimination: nodes, their graph, least degree, postorder, supernodes, and the places where the
 * contacts' products go. Sets of nodes are bit sets: with a node per body there are few. */
#include "solver/contact_kkt.h"
#include "solver/slice.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

enum { MAX_NODES = 20000 };

typedef struct analysis {
    perp_kkt *kkt;
    const perp_contact_qp *problem;
    int nodes, words;
    uint64_t *adjacent; /* nodes x words; of nodes that are not eliminated */
    int *degree;        /* unknowns in the neighbourhood */
    int *waits;         /* equations: nodes they bind that are not eliminated */
    int *order;         /* nodes in order of elimination */
    int *rank;          /* by node: its index in the order, -1 before */
    int *list_start;    /* by rank: its nodes below, in kkt->fill */
    int *parent;        /* by rank */
    int *work, *work2;
    int *super_of; /* by rank */
    int longest;   /* columns of a contact */
    int runs, pieces;
    int64_t targets;
    perp_kkt_segment *segments; /* `longest` */
} analysis;

static int node_size(const perp_kkt *kkt, int node)
{
    return kkt->node_start[node + 1] - kkt->node_start[node];
}

/* ---- nodes ------------------------------------------------------------------------------------------------------ */

static bool same_columns(const perp_contact_qp *p, int a, int b)
{
    const int first_a = p->equality_start[a], first_b = p->equality_start[b];
    const int count = p->equality_start[a + 1] - first_a;
    if (p->equality_start[b + 1] - first_b != count) {
        return false;
    }
    for (int k = 0; k < count; k++) {
        if (p->equality_dofs[first_a + k] != p->equality_dofs[first_b + k]) {
            return false;
        }
    }
    return true;
}

static int count_nodes(const perp_contact_qp *p)
{
    int count = p->block_count;
    for (int i = 0; i < p->equality_count; i++) {
        count += i == 0 || !same_columns(p, i - 1, i);
    }
    return count;
}

static void make_nodes(perp_kkt *kkt, const perp_contact_qp *p)
{
    int node = 0;
    for (; node < p->block_count; node++) {
        kkt->node_start[node] = p->block_start[node];
    }
    for (int i = 0; i < p->equality_count; i++) {
        if (i == 0 || !same_columns(p, i - 1, i)) {
            kkt->node_start[node++] = p->n + i;
        }
    }
    kkt->node_start[node] = kkt->unknowns;
    for (int k = 0; k < node; k++) {
        for (int i = kkt->node_start[k]; i < kkt->node_start[k + 1]; i++) {
            kkt->node_of[i] = k;
        }
    }
}

/* ---- the graph -------------------------------------------------------------------------------------------------- */

static uint64_t *row_of(const analysis *a, int node)
{
    return a->adjacent + (size_t)node * (size_t)a->words;
}

static void join(const analysis *a, int x, int y)
{
    if (x != y) {
        row_of(a, x)[y / 64] |= (uint64_t)1 << (y % 64);
        row_of(a, y)[x / 64] |= (uint64_t)1 << (x % 64);
    }
}

/* The nodes of a contact's columns, each once, into `work`; returns their number. */
static int nodes_of(const analysis *a, const int *dofs, int count, int *nodes)
{
    int found = 0;
    for (int k = 0; k < count; k++) {
        const int node = a->kkt->node_of[dofs[k]];
        if (found == 0 || nodes[found - 1] != node) {
            nodes[found++] = node;
        }
    }
    return found;
}

static void make_graph(const analysis *a)
{
    const perp_contact_qp *p = a->problem;
    memset(a->adjacent, 0, (size_t)a->nodes * (size_t)a->words * sizeof *a->adjacent);
    for (int i = 0; i < p->contact_count; i++) {
        const int count = nodes_of(a, p->dofs + p->dof_start[i], p->dof_start[i + 1] - p->dof_start[i], a->work);
        for (int x = 0; x < count; x++) {
            for (int y = 0; y < x; y++) {
                join(a, a->work[x], a->work[y]);
            }
        }
    }
    for (int node = 0; node < a->nodes; node++) {
        a->waits[node] = 0;
    }
    for (int node = p->block_count; node < a->nodes; node++) {
        const int row = a->kkt->node_start[node] - p->n, first = p->equality_start[row];
        const int count = nodes_of(a, p->equality_dofs + first, p->equality_start[row + 1] - first, a->work);
        for (int x = 0; x < count; x++) {
            join(a, node, a->work[x]);
        }
        a->waits[node] = count;
    }
}

/* ---- least degree ----------------------------------------------------------------------------------------------- */

static int neighbourhood(const analysis *a, int node)
{
    int sum = 0;
    const uint64_t *row = row_of(a, node);
    for (int w = 0; w < a->words; w++) {
        for (uint64_t bits = row[w]; bits; bits &= bits - 1) {
            sum += node_size(a->kkt, w * 64 + __builtin_ctzll(bits));
        }
    }
    return sum;
}

static int least(const analysis *a)
{
    int best = -1;
    for (int node = 0; node < a->nodes; node++) {
        if (a->rank[node] < 0 && a->waits[node] == 0 && (best < 0 || a->degree[node] < a->degree[best])) {
            best = node;
        }
    }
    return best;
}

/* Removes the node from the graph, joins its neighbours, and lists them. */
static perp_status eliminate(analysis *a, int node, int rank, int *length)
{
    perp_kkt *kkt = a->kkt;
    uint64_t *row = row_of(a, node);
    a->order[rank] = node;
    a->rank[node] = rank;
    a->list_start[rank] = *length;
    const perp_status status = perp_kkt_hold(kkt, &kkt->fill, ((size_t)*length + (size_t)a->nodes) * sizeof(int));
    if (status != PERP_STATUS_OK) {
        return status;
    }
    int *list = (int *)kkt->fill.data + *length;
    int count = 0;
    for (int w = 0; w < a->words; w++) {
        for (uint64_t bits = row[w]; bits; bits &= bits - 1) {
            list[count++] = w * 64 + __builtin_ctzll(bits);
        }
    }
    *length += count;
    for (int k = 0; k < count; k++) {
        uint64_t *other = row_of(a, list[k]);
        for (int w = 0; w < a->words; w++) {
            other[w] |= row[w];
        }
        other[node / 64] &= ~((uint64_t)1 << (node % 64));
        other[list[k] / 64] &= ~((uint64_t)1 << (list[k] % 64));
    }
    for (int k = 0; k < count; k++) {
        a->degree[list[k]] = neighbourhood(a, list[k]);
    }
    return PERP_STATUS_OK;
}

/* Equations may go once what they bind is gone. */
static void release_equations(const analysis *a, int node)
{
    const perp_contact_qp *p = a->problem;
    for (int other = p->block_count; node < p->block_count && other < a->nodes; other++) {
        const int row = a->kkt->node_start[other] - p->n;
        bool bound = false;
        for (int k = p->equality_start[row]; k < p->equality_start[row + 1]; k++) {
            bound = bound || a->kkt->node_of[p->equality_dofs[k]] == node;
        }
        a->waits[other] -= bound;
    }
}

static perp_status order_nodes(analysis *a)
{
    int length = 0;
    for (int node = 0; node < a->nodes; node++) {
        a->rank[node] = -1;
        a->degree[node] = neighbourhood(a, node);
    }
    for (int rank = 0; rank < a->nodes; rank++) {
        const int node = least(a);
        assert(node >= 0); /* equations wait for unknowns only, and these for nothing */
        const perp_status status = eliminate(a, node, rank, &length);
        if (status != PERP_STATUS_OK) {
            return status;
        }
        release_equations(a, node);
    }
    a->list_start[a->nodes] = length;
    return PERP_STATUS_OK;
}

/* ---- postorder and supernodes ----------------------------------------------------------------------------------- */

/* Renumbers so that a node's descendants stand directly before it: `order` and `rank` change, `list_start` goes with
 * the node (by old rank, which `work` keeps by node). */
static void postorder(analysis *a)
{
    const int *fill = a->kkt->fill.data;
    int *first_child = a->work, *sibling = a->work2, *stack = a->super_of;
    for (int r = 0; r < a->nodes; r++) {
        first_child[r] = -1;
        int parent = INT_MAX;
        for (int k = a->list_start[r]; k < a->list_start[r + 1]; k++) {
            const int rank = a->rank[fill[k]];
            parent = rank < parent ? rank : parent;
        }
        a->parent[r] = parent == INT_MAX ? -1 : parent;
    }
    for (int r = a->nodes - 1; r >= 0; r--) {
        if (a->parent[r] >= 0) {
            sibling[r] = first_child[a->parent[r]];
            first_child[a->parent[r]] = r;
        }
    }
    int next = 0;
    for (int root = 0; root < a->nodes; root++) {
        int depth = 0;
        if (a->parent[root] < 0) {
            stack[depth++] = root;
        }
        while (depth > 0) {
            const int r = stack[depth - 1], child = first_child[r];
            if (child >= 0) {
                first_child[r] = sibling[child];
                stack[depth++] = child;
            } else {
                a->degree[next++] = r; /* old rank of the node that comes next */
                depth--;
            }
        }
    }
}

/* Whether the supernode that ends with old rank r may take its parent q as well. */
static bool joins(const analysis *a, int r, int q, int width, int rows, int parent_rows)
{
    enum { NARROW = 4, FEW_ZEROS = 16 };
    if (a->parent[r] != q) {
        return false;
    }
    const int parent_size = node_size(a->kkt, a->order[q]);
    const int zeros = width * (parent_size + parent_rows - rows);
    return zeros == 0 || (width < NARROW && zeros <= FEW_ZEROS);
}

static int rows_below(const analysis *a, int r)
{
    const int *fill = a->kkt->fill.data;
    int rows = 0;
    for (int k = a->list_start[r]; k < a->list_start[r + 1]; k++) {
        rows += node_size(a->kkt, fill[k]);
    }
    return rows;
}

/* Supernodes in postorder (old ranks in a->degree). Leaves places, super_first, panel_rows, and in a->work the old rank
 * whose list is that of the supernode. */
static void make_supernodes(analysis *a)
{
    perp_kkt *kkt = a->kkt;
    int place = 0, width = 0, rows = 0;
    kkt->super_count = 0;
    for (int k = 0; k < a->nodes; k++) {
        const int r = a->degree[k], node = a->order[r], below = rows_below(a, r);
        if (k == 0 || !joins(a, a->degree[k - 1], r, width, rows, below)) {
            kkt->super_first[kkt->super_count++] = place;
            width = 0;
        }
        a->work[kkt->super_count - 1] = r;
        a->super_of[node] = kkt->super_count - 1;
        for (int i = kkt->node_start[node]; i < kkt->node_start[node + 1]; i++) {
            kkt->position[i] = place++;
        }
        width += node_size(kkt, node);
        rows = below;
    }
    kkt->super_first[kkt->super_count] = place;
}

static void sort_by_place(const perp_kkt *kkt, int *nodes, int count)
{
    for (int i = 1; i < count; i++) { /* lists are short, and merged order is nearly sorted */
        const int node = nodes[i], place = kkt->position[kkt->node_start[node]];
        int j = i;
        for (; j > 0 && kkt->position[kkt->node_start[nodes[j - 1]]] > place; j--) {
            nodes[j] = nodes[j - 1];
        }
        nodes[j] = node;
    }
}

/* The runs of all supernodes; with `runs` NULL only their number. */
static int make_runs(analysis *a, perp_kkt_run *runs)
{
    perp_kkt *kkt = a->kkt;
    int *fill = kkt->fill.data;
    int count = 0;
    for (int s = 0; s < kkt->super_count; s++) {
        const int r = a->work[s];
        int row = kkt->super_first[s + 1] - kkt->super_first[s], end = -1, super = -1;
        kkt->super_runs[s] = count;
        sort_by_place(kkt, fill + a->list_start[r], a->list_start[r + 1] - a->list_start[r]);
        for (int k = a->list_start[r]; k < a->list_start[r + 1]; k++) {
            const int node = fill[k], size = node_size(kkt, node), place = kkt->position[kkt->node_start[node]];
            if (size == 0) {
                continue;
            }
            if (place == end && a->super_of[node] == super) {
                if (runs) {
                    runs[count - 1].length += size;
                }
            } else {
                if (runs) {
                    runs[count] = (perp_kkt_run){place, size, a->super_of[node], row};
                }
                count++;
            }
            super = a->super_of[node];
            end = place + size;
            row += size;
        }
        kkt->panel_rows[s] = row;
    }
    kkt->super_runs[kkt->super_count] = count;
    return count;
}

/* ---- where entries go ------------------------------------------------------------------------------------------- */

/* The panel entry (row, column) of two unknowns whose row's place is not before the column's; and the stride from a
 * column to the next. */
static int entry_of(const analysis *a, int row, int column, int *stride)
{
    const perp_kkt *kkt = a->kkt;
    const int s = a->super_of[kkt->node_of[column]], first = kkt->super_first[s];
    const int place = kkt->position[row];
    *stride = kkt->panel_rows[s];
    int index = place - first;
    if (place >= kkt->super_first[s + 1]) {
        int low = kkt->super_runs[s], high = kkt->super_runs[s + 1] - 1;
        while (low < high) {
            const int middle = (low + high + 1) / 2;
            if (kkt->runs[middle].place <= place) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        index = kkt->runs[low].row + (place - kkt->runs[low].place);
    }
    return kkt->panel_start[s] + (kkt->position[column] - first) * *stride + index;
}

/* Contiguous unknowns of one node among a contact's columns. */
static int make_segments(const analysis *a, const int *dofs, int count, perp_kkt_segment *segments)
{
    int found = 0;
    for (int k = 0; k < count; k++) {
        perp_kkt_segment *last = found > 0 ? &segments[found - 1] : NULL;
        if (last && dofs[k] == dofs[k - 1] + 1 && a->kkt->node_of[dofs[k]] == a->kkt->node_of[dofs[k - 1]]) {
            last->length++;
        } else {
            segments[found++] = (perp_kkt_segment){k, 1};
        }
    }
    return found;
}

/* Contacts that follow each other and have the same columns. */
static void make_groups(perp_kkt *kkt, const perp_contact_qp *p)
{
    kkt->group_count = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const int count = p->dof_start[i + 1] - p->dof_start[i],
                  before = i > 0 ? p->dof_start[i] - p->dof_start[i - 1] : -1;
        const int *dofs = p->dofs + p->dof_start[i];
        if (count != before || (count > 0 && memcmp(dofs, dofs - count, (size_t)count * sizeof *dofs) != 0)) {
            kkt->group_first[kkt->group_count++] = i;
        }
    }
    kkt->group_first[kkt->group_count] = p->contact_count;
}

/* The pieces of all groups; with `pieces` NULL only their number. */
static int make_pieces(perp_kkt *kkt, const perp_contact_qp *p, perp_kkt_piece *pieces)
{
    int count = 0;
    for (int g = 0; g < kkt->group_count; g++) {
        const int i = kkt->group_first[g], end = p->dof_start[i + 1];
        kkt->piece_start[g] = count;
        for (int k = p->dof_start[i]; k < end; k++) {
            const bool follows = k > p->dof_start[i] && p->dofs[k] == p->dofs[k - 1] + 1;
            count += !follows;
            if (pieces) {
                perp_kkt_piece *piece = &pieces[count - 1];
                *piece = follows ? (perp_kkt_piece){piece->dof, piece->length + 1} : (perp_kkt_piece){p->dofs[k], 1};
            }
        }
    }
    kkt->piece_start[kkt->group_count] = count;
    return count;
}

/* The targets of all groups; with `targets` NULL only their number. */
static int64_t make_targets(analysis *a, perp_kkt_target *targets)
{
    perp_kkt_segment *segments = a->segments;
    const perp_contact_qp *p = a->problem;
    perp_kkt *kkt = a->kkt;
    int64_t count = 0;
    for (int g = 0; g < kkt->group_count; g++) {
        const int i = kkt->group_first[g];
        const int *dofs = p->dofs + p->dof_start[i];
        const int found = make_segments(a, dofs, p->dof_start[i + 1] - p->dof_start[i], segments);
        if (targets) {
            kkt->target_start[g] = (int)count;
        }
        for (int x = 0; targets && x < found; x++) {
            for (int y = 0; y <= x; y++) {
                const bool later = kkt->position[dofs[segments[x].column]] >= kkt->position[dofs[segments[y].column]];
                const perp_kkt_segment rows = segments[later ? x : y], columns = segments[later ? y : x];
                perp_kkt_target *t = &targets[count + y];
                *t = (perp_kkt_target){columns.column, rows.column, 0, 0, columns.length, rows.length};
                t->offset = entry_of(a, dofs[rows.column], dofs[columns.column], &t->stride);
            }
            count += x + 1;
        }
        count += targets ? 0 : (int64_t)found * (found + 1) / 2;
    }
    if (targets) {
        kkt->target_start[kkt->group_count] = (int)count;
    }
    return count;
}

static void make_entries(analysis *a)
{
    const perp_contact_qp *p = a->problem;
    perp_kkt *kkt = a->kkt;
    int stride = 0;
    for (int i = 0; i < kkt->unknowns; i++) {
        kkt->diagonal[i] = entry_of(a, i, i, &stride);
    }
    for (int i = 0; i < p->equality_count; i++) {
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            kkt->equality_entry[k] = entry_of(a, p->n + i, p->equality_dofs[k], &stride);
        }
    }
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static void lay_out_pattern(analysis *a, perp_slice *s)
{
    perp_kkt *kkt = a->kkt;
    const perp_contact_qp *p = a->problem;
    const size_t unknowns = (size_t)kkt->unknowns, count = (size_t)a->nodes + 1;
    kkt->node_start = perp_slice_cut(s, count, sizeof(int));
    kkt->node_of = perp_slice_cut(s, unknowns, sizeof(int));
    kkt->position = perp_slice_cut(s, unknowns, sizeof(int));
    kkt->diagonal = perp_slice_cut(s, unknowns, sizeof(int));
    kkt->super_first = perp_slice_cut(s, count, sizeof(int));
    kkt->super_runs = perp_slice_cut(s, count, sizeof(int));
    kkt->panel_start = perp_slice_cut(s, count, sizeof(int));
    kkt->panel_rows = perp_slice_cut(s, count, sizeof(int));
    kkt->equality_entry =
        perp_slice_cut(s, p->equality_count > 0 ? (size_t)p->equality_start[p->equality_count] : 0, sizeof(int));
    kkt->group_first = perp_slice_cut(s, (size_t)p->contact_count + 1, sizeof(int));
    kkt->target_start = perp_slice_cut(s, (size_t)p->contact_count + 1, sizeof(int));
    kkt->piece_start = perp_slice_cut(s, (size_t)p->contact_count + 1, sizeof(int));
    kkt->packed_start = perp_slice_cut(s, (size_t)p->contact_count + 1, sizeof(int));
}

static void lay_out_scratch(analysis *a, perp_slice *s)
{
    const size_t count = (size_t)a->nodes + 1;
    int **arrays[] = {&a->degree, &a->waits, &a->order, &a->rank,    &a->list_start,
                      &a->parent, &a->work,  &a->work2, &a->super_of};
    a->adjacent = perp_slice_cut(s, (size_t)a->nodes * (size_t)a->words, sizeof(uint64_t));
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        *arrays[k] = perp_slice_cut(s, count, sizeof(int));
    }
}

/* Makes the buffer hold what the function lays out, and lays it out there. */
static perp_status hold(analysis *a, perp_kkt_buffer *buffer, void (*lay_out)(analysis *a, perp_slice *s))
{
    perp_slice count = {NULL, 0};
    lay_out(a, &count);
    const perp_status status = perp_kkt_hold(a->kkt, buffer, count.bytes);
    if (status == PERP_STATUS_OK) {
        perp_slice give = {buffer->data, 0};
        lay_out(a, &give);
    }
    return status;
}

static perp_status lay_out_panels(analysis *a)
{
    perp_kkt *kkt = a->kkt;
    int64_t total = 0;
    kkt->longest_row = 0;
    for (int s = 0; s < kkt->super_count; s++) {
        const int width = kkt->super_first[s + 1] - kkt->super_first[s];
        kkt->panel_start[s] = (int)total;
        total += (int64_t)kkt->panel_rows[s] * width;
        kkt->longest_row = kkt->panel_rows[s] > kkt->longest_row ? kkt->panel_rows[s] : kkt->longest_row;
        if (total > INT_MAX / 2) {
            return PERP_STATUS_CAPACITY;
        }
    }
    kkt->panel_start[kkt->super_count] = (int)total;
    kkt->panel_length = (int)total;
    for (int i = 0; i < a->problem->contact_count; i++) {
        const int columns = a->problem->dof_start[i + 1] - a->problem->dof_start[i];
        a->longest = columns > a->longest ? columns : a->longest;
    }
    kkt->longest_row = a->longest > kkt->longest_row ? a->longest : kkt->longest_row;
    return PERP_STATUS_OK;
}

static void lay_out_numbers(analysis *a, perp_slice *s)
{
    perp_kkt *kkt = a->kkt;
    kkt->base = perp_slice_cut(s, (size_t)kkt->panel_length, sizeof(double));
    kkt->panels = perp_slice_cut(s, (size_t)kkt->panel_length, sizeof(double));
    kkt->inverse = perp_slice_cut(s, (size_t)kkt->unknowns, sizeof(double));
    kkt->floor = perp_slice_cut(s, (size_t)kkt->unknowns, sizeof(double));
    kkt->below = perp_slice_cut(s, (size_t)kkt->longest_row * PERP_KKT_ROWS, sizeof(double));
    kkt->places = perp_slice_cut(s, (size_t)kkt->unknowns, sizeof(double));
}

/* Held twice: targets are counted with the help of segments, which are scratch. */
static void lay_out_structure(analysis *a, perp_slice *s)
{
    perp_kkt *kkt = a->kkt;
    a->segments = perp_slice_cut(s, (size_t)a->longest, sizeof *a->segments);
    kkt->runs = perp_slice_cut(s, (size_t)a->runs, sizeof *kkt->runs);
    kkt->pieces = perp_slice_cut(s, (size_t)a->pieces, sizeof *kkt->pieces);
    kkt->targets = perp_slice_cut(s, (size_t)a->targets, sizeof *kkt->targets);
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

static perp_status make_panels(analysis *a)
{
    perp_kkt *kkt = a->kkt;
    const perp_contact_qp *p = a->problem;
    a->runs = make_runs(a, NULL);
    perp_status status = lay_out_panels(a);
    status = status ? status : hold(a, &kkt->structure, lay_out_structure);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    make_groups(kkt, p);
    a->targets = make_targets(a, NULL);
    a->pieces = make_pieces(kkt, p, NULL) + 1; /* not none */
    status = a->targets > INT_MAX ? PERP_STATUS_CAPACITY : hold(a, &kkt->structure, lay_out_structure);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    make_pieces(kkt, p, kkt->pieces);
    make_runs(a, kkt->runs);
    make_entries(a);
    make_targets(a, kkt->targets);
    return hold(a, &kkt->numbers, lay_out_numbers);
}

static perp_status analyse(analysis *a)
{
    perp_kkt *kkt = a->kkt;
    perp_status status = hold(a, &kkt->pattern, lay_out_pattern);
    status = status ? status : hold(a, &kkt->scratch, lay_out_scratch);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    make_nodes(kkt, a->problem);
    make_graph(a);
    status = order_nodes(a);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    postorder(a);
    make_supernodes(a);
    return make_panels(a);
}

/* ---- recognising a pattern -------------------------------------------------------------------------------------- */

typedef struct pattern_part {
    const int *data;
    size_t count;
} pattern_part;

enum { PARTS = 6 };

/* The pattern as it is compared: `sizes`, and the arrays that have these sizes. */
static size_t pattern_parts(const perp_contact_qp *p, int sizes[4], pattern_part parts[PARTS])
{
    const size_t contacts = (size_t)p->contact_count, equalities = (size_t)p->equality_count;
    const int own[4] = {p->n, p->block_count, p->contact_count, p->equality_count};
    size_t total = 0;
    memcpy(sizes, own, sizeof own);
    parts[0] = (pattern_part){sizes, 4};
    parts[1] = (pattern_part){p->block_start, p->block_count > 0 ? (size_t)p->block_count + 1 : 0};
    parts[2] = (pattern_part){p->dof_start, contacts > 0 ? contacts + 1 : 0};
    parts[3] = (pattern_part){p->dofs, contacts > 0 ? (size_t)p->dof_start[contacts] : 0};
    parts[4] = (pattern_part){p->equality_start, equalities > 0 ? equalities + 1 : 0};
    parts[5] = (pattern_part){p->equality_dofs, equalities > 0 ? (size_t)p->equality_start[equalities] : 0};
    for (int k = 0; k < PARTS; k++) {
        total += parts[k].count;
    }
    return total;
}

static bool is_known(const perp_kkt *kkt, const perp_contact_qp *p)
{
    int sizes[4];
    pattern_part parts[PARTS];
    const int *known = kkt->known_memory.data;
    if (kkt->known_length != pattern_parts(p, sizes, parts)) {
        return false;
    }
    for (int k = 0; k < PARTS; k++) {
        if (parts[k].count && memcmp(known, parts[k].data, parts[k].count * sizeof *known) != 0) {
            return false;
        }
        known += parts[k].count;
    }
    return true;
}

static perp_status remember(perp_kkt *kkt, const perp_contact_qp *p)
{
    int sizes[4];
    pattern_part parts[PARTS];
    const size_t total = pattern_parts(p, sizes, parts);
    const perp_status status = perp_kkt_hold(kkt, &kkt->known_memory, total * sizeof(int));
    if (status != PERP_STATUS_OK) {
        return status;
    }
    int *known = kkt->known_memory.data;
    for (int k = 0; k < PARTS; k++) {
        if (parts[k].count) {
            memcpy(known, parts[k].data, parts[k].count * sizeof *known);
        }
        known += parts[k].count;
    }
    kkt->known_length = total;
    return PERP_STATUS_OK;
}

/* Memory for R J of groups with few columns. The slacks are not part of the pattern. */
static perp_status hold_products(perp_kkt *kkt, const perp_contact_qp *p)
{
    enum { FEW_COLUMNS = 32 };
    int64_t total = 0;
    for (int g = 0; g < kkt->group_count; g++) {
        const int begin = kkt->group_first[g], end = kkt->group_first[g + 1];
        const int columns = p->dof_start[begin + 1] - p->dof_start[begin];
        const int64_t entries = 2 * (int64_t)columns * (p->slack_start[end] - p->slack_start[begin]);
        const bool packed = columns <= FEW_COLUMNS && total + entries <= INT_MAX;
        kkt->packed_start[g] = packed ? (int)total : -1;
        total += packed ? entries : 0;
    }
    const perp_status status = perp_kkt_hold(kkt, &kkt->products, (size_t)total * sizeof(double));
    kkt->packed = kkt->products.data;
    kkt->is_packed = false;
    return status;
}

static perp_status analyse_anew(perp_kkt *kkt, const perp_contact_qp *problem, int nodes)
{
    kkt->known_length = 0;
    kkt->n = problem->n;
    kkt->equalities = problem->equality_count;
    kkt->unknowns = problem->n + problem->equality_count;
    kkt->contact_count = problem->contact_count;
    kkt->block_count = problem->block_count;
    analysis a = {.kkt = kkt, .problem = problem};
    a.nodes = kkt->node_count = nodes;
    a.words = (nodes + 63) / 64;
    const perp_status status = analyse(&a);
    return status == PERP_STATUS_OK ? remember(kkt, problem) : status;
}

perp_status perp_kkt_analyse(perp_kkt *kkt, const perp_contact_qp *problem, perp_error *error)
{
    const int nodes = count_nodes(problem);
    if (nodes > MAX_NODES) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "a convex problem of %d blocks; at most %d are handled", nodes,
                         MAX_NODES);
    }
    perp_status status = is_known(kkt, problem) ? PERP_STATUS_OK : analyse_anew(kkt, problem, nodes);
    if (status == PERP_STATUS_OK) {
        status = hold_products(kkt, problem);
    }
    if (status == PERP_STATUS_OUT_OF_MEMORY) {
        return perp_fail(error, status, "no memory for a convex problem of %d unknowns and %d contacts", problem->n,
                         problem->contact_count);
    }
    if (status != PERP_STATUS_OK) {
        return perp_fail(error, status,
                         "the workspace is too small for a convex problem of %d unknowns and %d contacts: reserve it",
                         problem->n, problem->contact_count);
    }
    return PERP_STATUS_OK;
}
