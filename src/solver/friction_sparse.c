#include "solver/friction_sparse.h"

#include "linalg/dense_kernel.h"
#include "solver/slice.h"
#include "solver/tolerances.h"

#include <float.h>
#include <math.h>
#include <string.h>

void perp_friction_sparse_init(perp_friction_sparse *s, const perp_allocator *allocator)
{
    *s = (perp_friction_sparse){0};
    perp_kkt_init(&s->kkt, allocator);
    s->lu.kkt = &s->kkt;
}

void perp_friction_sparse_free(perp_friction_sparse *s)
{
    void *blocks[] = {s->memory.data, s->map_memory.data};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        if (blocks[k]) {
            s->kkt.allocator.release(s->kkt.allocator.context, blocks[k]);
        }
    }
    perp_kkt_lu_free(&s->lu);
    perp_kkt_free(&s->kkt);
}

/* ---- the pattern ------------------------------------------------------------------------------------------------ */

/* By rows of W, as it is stored: which blocks are not zero. */
static void mark(perp_friction_sparse *s)
{
    const ptrdiff_t contacts = s->contacts;
    memset(s->coupled, 0, (size_t)(contacts * contacts) * sizeof *s->coupled);
    for (int i = 0; i < s->contacts; i++) {
        s->coupled[i * contacts + i] = true;
        for (int r = s->row_start[i]; r < s->row_start[i + 1]; r++) {
            const double *row = s->w + (ptrdiff_t)r * s->m;
            for (int j = 0; j < s->contacts; j++) {
                bool any = false;
                for (int c = s->row_start[j]; c < s->row_start[j + 1]; c++) {
                    any = any || row[c] != 0.0;
                }
                s->coupled[i * contacts + j] = s->coupled[i * contacts + j] || any;
            }
        }
    }
}

static bool is_coupled(const perp_friction_sparse *s, int i, int j)
{
    return s->coupled[(ptrdiff_t)i * s->contacts + j] || s->coupled[(ptrdiff_t)j * s->contacts + i];
}

perp_status perp_friction_sparse_look(perp_friction_sparse *s, int contacts, const int *row_start, const double *w,
                                      bool *suits)
{
    enum { FEW = 20, SHARE = 4 }; /* of all blocks */
    *suits = false;
    if (contacts < FEW) {
        return PERP_STATUS_OK;
    }
    s->contacts = contacts;
    s->m = row_start[contacts];
    s->row_start = row_start;
    s->w = w;
    const perp_status status =
        perp_kkt_hold(&s->kkt, &s->map_memory, (size_t)contacts * (size_t)contacts * sizeof *s->coupled);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    s->coupled = s->map_memory.data;
    mark(s);
    s->block_count = contacts;
    for (int i = 0; i < contacts; i++) {
        for (int j = 0; j < i; j++) {
            s->block_count += 2 * is_coupled(s, i, j);
        }
    }
    *suits = (ptrdiff_t)s->block_count <= (ptrdiff_t)contacts * contacts / SHARE;
    return PERP_STATUS_OK;
}

static void lay_out(perp_friction_sparse *s, perp_slice *slice)
{
    const size_t contacts = (size_t)s->contacts, blocks = (size_t)s->block_count, pairs = (blocks - contacts) / 2;
    s->block_start = perp_slice_cut(slice, contacts + 1, sizeof(int));
    s->blocks = perp_slice_cut(slice, blocks, sizeof *s->blocks);
    s->dof_start = perp_slice_cut(slice, pairs + 1, sizeof(int));
    s->pair_start = perp_slice_cut(slice, pairs + 1, sizeof(int));
    s->dofs = perp_slice_cut(slice, 6 * pairs, sizeof(int));
    s->values = perp_slice_cut(slice, 9 * blocks, sizeof(double));
    s->residual = perp_slice_cut(slice, (size_t)s->m, sizeof(double));
    s->right = perp_slice_cut(slice, (size_t)s->m, sizeof(double));
}

/* Blocks by rows, and the pairs that the pattern is made of. */
static void list_blocks(perp_friction_sparse *s)
{
    int count = 0, pairs = 0;
    s->dof_start[0] = s->pair_start[0] = 0;
    for (int i = 0; i < s->contacts; i++) {
        s->block_start[i] = count;
        for (int j = 0; j < s->contacts; j++) {
            if (!is_coupled(s, i, j)) {
                continue;
            }
            s->blocks[count++] = (perp_friction_block){.i = i, .j = j};
            if (j >= i) {
                continue;
            }
            int dofs = s->dof_start[pairs];
            for (int k = s->row_start[j]; k < s->row_start[j + 1]; k++) {
                s->dofs[dofs++] = k;
            }
            for (int k = s->row_start[i]; k < s->row_start[i + 1]; k++) {
                s->dofs[dofs++] = k;
            }
            s->dof_start[++pairs] = dofs;
            s->pair_start[pairs] = pairs;
        }
    }
    s->block_start[s->contacts] = count;
}

static int super_of(const perp_kkt *kkt, int place)
{
    int low = 0, high = kkt->super_count - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (kkt->super_first[middle] <= place) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* Place of a column in the panel of supernode s, at or right of its square. */
static int column_of(const perp_kkt *kkt, int s, int place)
{
    if (place < kkt->super_first[s + 1]) {
        return place - kkt->super_first[s];
    }
    int q = kkt->super_runs[s];
    while (kkt->runs[q].place + kkt->runs[q].length <= place) {
        q++;
    }
    return kkt->runs[q].row + (place - kkt->runs[q].place);
}

/* Upper panels hold rows by rows, lower ones columns by columns: each starts at its earlier supernode. */
static void locate(perp_friction_sparse *s)
{
    const perp_kkt *kkt = &s->kkt;
    for (int k = 0; k < s->block_count; k++) {
        perp_friction_block *block = &s->blocks[k];
        const int row = kkt->position[s->row_start[block->i]], column = kkt->position[s->row_start[block->j]];
        const int of_row = super_of(kkt, row), of_column = super_of(kkt, column);
        block->lower = of_column < of_row;
        const int super = block->lower ? of_column : of_row;
        const int along = (block->lower ? column : row) - kkt->super_first[super];
        block->stride = kkt->panel_rows[super];
        block->offset =
            kkt->panel_start[super] + along * block->stride + column_of(kkt, super, block->lower ? row : column);
    }
}

/* W block by block, rows x columns each, nine entries apart. */
static void pack(perp_friction_sparse *s)
{
    for (int k = 0; k < s->block_count; k++) {
        const perp_friction_block *block = &s->blocks[k];
        double *to = s->values + 9 * (ptrdiff_t)k;
        for (int row = s->row_start[block->i]; row < s->row_start[block->i + 1]; row++) {
            for (int c = s->row_start[block->j]; c < s->row_start[block->j + 1]; c++) {
                *to++ = s->w[(ptrdiff_t)row * s->m + c];
            }
        }
    }
}

perp_status perp_friction_sparse_setup(perp_friction_sparse *s, perp_error *error)
{
    const int contacts = s->contacts;
    perp_slice sizes = {NULL, 0};
    lay_out(s, &sizes);
    perp_status status = perp_kkt_hold(&s->kkt, &s->memory, sizes.bytes);
    if (status == PERP_STATUS_OK) {
        perp_slice give = {s->memory.data, 0};
        lay_out(s, &give);
        list_blocks(s);
        const perp_contact_qp pattern = {.n = s->m,
                                         .block_count = contacts,
                                         .block_start = s->row_start,
                                         .contact_count = (s->block_count - contacts) / 2,
                                         .row_start = s->pair_start,
                                         .slack_start = s->pair_start,
                                         .dof_start = s->dof_start,
                                         .dofs = s->dofs};
        status = perp_kkt_analyse(&s->kkt, &pattern, NULL);
    }
    if (status == PERP_STATUS_OK) {
        memset(s->kkt.base, 0, (size_t)s->kkt.panel_length * sizeof(double));
        status = perp_kkt_lu_setup(&s->lu, &s->kkt);
    }
    if (status != PERP_STATUS_OK) {
        return perp_fail(error, status, "no room for the factors of a friction problem of %d contacts: reserve it",
                         contacts);
    }
    locate(s);
    pack(s);
    return PERP_STATUS_OK;
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

void perp_friction_sparse_multiply(const perp_friction_sparse *s, const double *r, double *u)
{
    memset(u, 0, (size_t)s->row_start[s->contacts] * sizeof *u);
    for (int i = 0; i < s->contacts; i++) {
        const int first_row = s->row_start[i], end_row = s->row_start[i + 1];
        for (int k = s->block_start[i]; k < s->block_start[i + 1]; k++) {
            const double *entry = s->values + 9 * (ptrdiff_t)k;
            const int first = s->row_start[s->blocks[k].j], end = s->row_start[s->blocks[k].j + 1];
            for (int row = first_row; row < end_row; row++) {
                for (int c = first; c < end; c++) {
                    u[row] += *entry++ * r[c];
                }
            }
        }
    }
}

/* Entry by entry: G_i W_ij, and of the diagonal B_i; b and g are of contact i. */
static void assemble_block(perp_friction_sparse *s, int index, const double *b, const double *g)
{
    const perp_friction_block *block = &s->blocks[index];
    const double *w = s->values + 9 * (ptrdiff_t)index;
    const int rows = s->row_start[block->i + 1] - s->row_start[block->i];
    const int columns = s->row_start[block->j + 1] - s->row_start[block->j];
    double *to = (block->lower ? s->lu.lower : s->kkt.panels) + block->offset;
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            double sum = block->i == block->j ? b[r * rows + c] : 0.0;
            for (int k = 0; k < rows; k++) {
                sum += g[r * rows + k] * w[k * columns + c];
            }
            to[block->lower ? (ptrdiff_t)c * block->stride + r : (ptrdiff_t)r * block->stride + c] = sum;
        }
    }
}

void perp_friction_sparse_factor(perp_friction_sparse *s, const double *b, const double *g)
{
    perp_kkt *kkt = &s->kkt;
    memset(kkt->panels, 0, (size_t)kkt->panel_length * sizeof(double));
    memset(s->lu.lower, 0, (size_t)kkt->panel_length * sizeof(double));
    for (int i = 0; i < s->contacts; i++) {
        const ptrdiff_t rows = s->row_start[i + 1] - s->row_start[i];
        for (int k = s->block_start[i]; k < s->block_start[i + 1]; k++) {
            assemble_block(s, k, b, g);
        }
        b += rows * rows;
        g += rows * rows;
    }
    for (int k = 0; k < s->m; k++) {
        const double entry = fabs(kkt->panels[kkt->diagonal[k]]);
        kkt->floor[kkt->position[k]] = entry > DBL_MIN ? entry : DBL_MIN;
    }
    perp_kkt_lu_factor(&s->lu);
}

/* residual = right - (B + G W) x; returns its largest entry. */
static double look(perp_friction_sparse *s, const double *b, const double *g, const double *x)
{
    double largest = 0.0, u[3];
    perp_friction_sparse_multiply(s, x, s->residual);
    for (int i = 0; i < s->contacts; i++) {
        const int first = s->row_start[i], rows = s->row_start[i + 1] - first;
        memcpy(u, s->residual + first, (size_t)rows * sizeof *u);
        for (int r = 0; r < rows; r++, b += rows, g += rows) {
            double sum = s->right[first + r];
            for (int k = 0; k < rows; k++) {
                sum -= b[k] * x[first + k] + g[k] * u[k];
            }
            s->residual[first + r] = sum;
            largest = fabs(sum) <= largest ? largest : fabs(sum); /* NaN too */
        }
    }
    return largest;
}

bool perp_friction_sparse_solve(perp_friction_sparse *s, const double *b, const double *g, double *x)
{
    enum { REFINEMENTS = 3 };
    const double size = perp_dense_largest(s->m, x);
    memcpy(s->right, x, (size_t)s->m * sizeof *x);
    perp_kkt_lu_solve(&s->lu, x);
    double left = look(s, b, g, x);
    for (int k = 0; k < REFINEMENTS && left > FINEST_TOLERANCE * size; k++) {
        perp_kkt_lu_solve(&s->lu, s->residual);
        perp_dense_subtract(s->m, -1.0, s->residual, x);
        left = look(s, b, g, x);
    }
    if (left <= SPARSE_BELIEVED * size) {
        return true;
    }
    memcpy(x, s->right, (size_t)s->m * sizeof *x);
    return false;
}
