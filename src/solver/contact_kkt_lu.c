#include "solver/contact_kkt_lu.h"

#include "linalg/dense_kernel.h"
#include "solver/slice.h"
#include "solver/tolerances.h"

#include <float.h>
#include <math.h>
#include <string.h>

void perp_kkt_lu_free(perp_kkt_lu *lu)
{
    if (lu->memory.data) {
        lu->kkt->allocator.release(lu->kkt->allocator.context, lu->memory.data);
    }
    *lu = (perp_kkt_lu){0};
}

static void lay_out(perp_kkt_lu *lu, perp_slice *s)
{
    const perp_kkt *kkt = lu->kkt;
    const int targets = kkt->contact_count > 0 ? kkt->target_start[kkt->group_count] : 0;
    lu->mirror = perp_slice_cut(s, (size_t)targets, sizeof(int));
    lu->pivots = perp_slice_cut(s, (size_t)kkt->unknowns, sizeof(int));
    lu->base = perp_slice_cut(s, (size_t)kkt->panel_length, sizeof(double));
    lu->lower = perp_slice_cut(s, (size_t)kkt->panel_length, sizeof(double));
    lu->inverse = perp_slice_cut(s, (size_t)kkt->unknowns, sizeof(double));
}

static int super_of_entry(const perp_kkt *kkt, int offset)
{
    int low = 0, high = kkt->super_count - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (kkt->panel_start[middle] <= offset) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

perp_status perp_kkt_lu_setup(perp_kkt_lu *lu, perp_kkt *kkt)
{
    lu->kkt = kkt;
    perp_slice sizes = {NULL, 0};
    lay_out(lu, &sizes);
    const perp_status status = perp_kkt_hold(kkt, &lu->memory, sizes.bytes);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_slice give = {lu->memory.data, 0};
    lay_out(lu, &give);
    const int targets = kkt->contact_count > 0 ? kkt->target_start[kkt->group_count] : 0;
    for (int k = 0; k < targets; k++) {
        const int s = super_of_entry(kkt, kkt->targets[k].offset), rows = kkt->panel_rows[s];
        const int index = kkt->targets[k].offset - kkt->panel_start[s], row = index / rows, column = index % rows;
        const bool inside = column < kkt->super_first[s + 1] - kkt->super_first[s];
        lu->mirror[k] = inside ? kkt->panel_start[s] + column * rows + row : -1;
    }
    memcpy(lu->base, kkt->base, (size_t)kkt->panel_length * sizeof *lu->base);
    for (int s = 0; s < kkt->super_count; s++) {
        const int width = kkt->super_first[s + 1] - kkt->super_first[s], rows = kkt->panel_rows[s];
        double *panel = lu->base + kkt->panel_start[s];
        for (int i = 1; i < width; i++) {
            for (int j = 0; j < i; j++) {
                panel[(ptrdiff_t)i * rows + j] = panel[(ptrdiff_t)j * rows + i];
            }
        }
    }
    return PERP_STATUS_OK;
}

/* ---- assembly --------------------------------------------------------------------------------------------------- */

/* u = Omega J of one contact; false where Omega is zero. */
static bool weigh(int rows, int columns, const double *omega, const double *jacobian, double *u)
{
    bool any = false;
    for (int k = 0; k < rows * rows; k++) {
        any = any || omega[k] != 0.0;
    }
    memset(u, 0, (size_t)rows * (size_t)columns * sizeof *u);
    for (int r = 0; any && r < rows; r++) {
        for (int k = 0; k < rows; k++) {
            perp_dense_subtract(columns, -omega[r * rows + k], jacobian + (ptrdiff_t)k * columns,
                                u + (ptrdiff_t)r * columns);
        }
    }
    return any;
}

/* `count` rows of a group's J, with Omega J in `below`: a target's product and its transposed. */
static void add_rows(perp_kkt_lu *lu, int group, int count, const double *jacobian, int columns)
{
    perp_kkt *kkt = lu->kkt;
    for (int k = kkt->target_start[group]; k < kkt->target_start[group + 1]; k++) {
        const perp_kkt_target *t = &kkt->targets[k];
        perp_kkt_product p = {.rows = t->a_length,
                              .columns = t->b_length,
                              .count = count,
                              .a = jacobian + t->a,
                              .u = kkt->below + t->b,
                              .dest = kkt->panels + t->offset,
                              .a_stride = columns,
                              .u_stride = columns,
                              .stride = t->stride};
        kkt->kernel->add_product(&p);
        if (t->a == t->b) {
            continue;
        }
        if (lu->mirror[k] >= 0) {
            p.rows = t->b_length;
            p.columns = t->a_length;
            p.a = jacobian + t->b;
            p.u = kkt->below + t->a;
            p.dest = kkt->panels + lu->mirror[k];
        } else {
            p.a = kkt->below + t->a;
            p.u = jacobian + t->b;
            p.dest = lu->lower + t->offset;
        }
        kkt->kernel->add_product(&p);
    }
}

static void add_group(perp_kkt_lu *lu, const perp_contact_qp *problem, int group, const double **omega,
                      const double **jacobian)
{
    perp_kkt *kkt = lu->kkt;
    const int begin = kkt->group_first[group], end = kkt->group_first[group + 1];
    const int columns = problem->dof_start[begin + 1] - problem->dof_start[begin];
    const double *start = *jacobian;
    int held = 0;
    bool any = false;
    for (int i = begin; i < end; i++) {
        const int rows = problem->row_start[i + 1] - problem->row_start[i];
        if (held + rows > PERP_KKT_ROWS) {
            if (any && columns > 0) {
                add_rows(lu, group, held, start, columns);
            }
            start += (ptrdiff_t)held * columns;
            held = 0;
            any = false;
        }
        any = weigh(rows, columns, *omega, *jacobian, kkt->below + (ptrdiff_t)held * columns) || any;
        held += rows;
        *omega += (ptrdiff_t)rows * rows;
        *jacobian = columns > 0 ? *jacobian + (ptrdiff_t)rows * columns : *jacobian;
    }
    if (any && columns > 0) {
        add_rows(lu, group, held, start, columns);
    }
}

void perp_kkt_lu_assemble(perp_kkt_lu *lu, const perp_contact_qp *problem, const double *omega, const double *diagonal)
{
    perp_kkt *kkt = lu->kkt;
    memcpy(kkt->panels, lu->base, (size_t)kkt->panel_length * sizeof *kkt->panels);
    memcpy(lu->lower, kkt->base, (size_t)kkt->panel_length * sizeof *lu->lower);
    const double *jacobian = problem->jacobian;
    for (int group = 0; group < kkt->group_count; group++) {
        add_group(lu, problem, group, &omega, &jacobian);
    }
    for (int i = 0; i < kkt->unknowns; i++) {
        double *entry = kkt->panels + kkt->diagonal[i];
        *entry += diagonal[i];
        kkt->floor[kkt->position[i]] = fabs(*entry) > DBL_MIN ? fabs(*entry) : DBL_MIN;
    }
}

/* ---- factorisation ---------------------------------------------------------------------------------------------- */

/* Pivot k of a square: the diagonal unless another row has ten times as much. */
static void take_pivot(perp_kkt_lu *lu, int first, int width, double *panel, int rows, int k)
{
    static const double THRESHOLD = 0.1;
    int best = k;
    for (int i = k + 1; i < width; i++) {
        if (fabs(panel[(ptrdiff_t)i * rows + k]) > fabs(panel[(ptrdiff_t)best * rows + k])) {
            best = i;
        }
    }
    if (fabs(panel[(ptrdiff_t)k * rows + k]) >= THRESHOLD * fabs(panel[(ptrdiff_t)best * rows + k])) {
        best = k;
    }
    lu->pivots[first + k] = best;
    if (best != k) {
        perp_dense_swap(rows, panel + (ptrdiff_t)k * rows, panel + (ptrdiff_t)best * rows);
    }
    const double pivot = panel[(ptrdiff_t)k * rows + k];
    const bool rounding = fabs(pivot) <= PIVOT_BELIEVED * lu->kkt->floor[first + k];
    lu->mended += rounding;
    lu->inverse[first + k] = rounding ? 0.0 : 1.0 / pivot;
}

/* Rows `from` .. `to` - 1 of a square against each other, and what is right of them. */
static void factor_rows(perp_kkt_lu *lu, int first, int width, double *panel, int rows, int from, int to)
{
    for (int k = from; k < to; k++) {
        take_pivot(lu, first, width, panel, rows, k);
        const double *row = panel + (ptrdiff_t)k * rows + k + 1, inverse = lu->inverse[first + k];
        for (int i = k + 1; i < width; i++) {
            double *other = panel + (ptrdiff_t)i * rows + k;
            *other *= inverse;
            perp_dense_subtract(to - k - 1, *other, row, other + 1);
        }
    }
    for (int i = from + 1; i < to; i++) {
        double *row = panel + (ptrdiff_t)i * rows;
        int k = from;
        for (; k + 4 <= i; k += 4) {
            perp_dense_subtract_four(rows - to, row + k, panel + (ptrdiff_t)k * rows + to, rows, row + to);
        }
        for (; k < i; k++) {
            perp_dense_subtract(rows - to, row[k], panel + (ptrdiff_t)k * rows + to, row + to);
        }
    }
}

static void factor_upper(perp_kkt_lu *lu, int s)
{
    perp_kkt *kkt = lu->kkt;
    const int first = kkt->super_first[s], width = kkt->super_first[s + 1] - first, rows = kkt->panel_rows[s];
    double *panel = kkt->panels + kkt->panel_start[s];
    for (int from = 0; from < width; from += PERP_KKT_ROWS) {
        const int to = from + PERP_KKT_ROWS < width ? from + PERP_KKT_ROWS : width;
        factor_rows(lu, first, width, panel, rows, from, to);
        for (int k = from; k < to; k++) {
            for (int i = to; i < width; i++) {
                kkt->below[(ptrdiff_t)(k - from) * rows + i] = -panel[(ptrdiff_t)i * rows + k];
            }
        }
        const perp_kkt_product rest = {.rows = width - to,
                                       .columns = rows - to,
                                       .count = to - from,
                                       .a = kkt->below + to,
                                       .u = panel + (ptrdiff_t)from * rows + to,
                                       .dest = panel + (ptrdiff_t)to * rows + to,
                                       .a_stride = rows,
                                       .u_stride = rows,
                                       .stride = rows};
        if (to < width) {
            kkt->kernel->add_product(&rest);
        }
    }
}

/* Minus L: with n = -l, l_k U_kk = a_k + sum_m n_m U_mk. */
static void factor_lower(perp_kkt_lu *lu, int s)
{
    enum { AT_ONCE = 3 };
    perp_kkt *kkt = lu->kkt;
    const int first = kkt->super_first[s], width = kkt->super_first[s + 1] - first, rows = kkt->panel_rows[s];
    const int below = rows - width;
    const double *upper = kkt->panels + kkt->panel_start[s];
    double *lower = lu->lower + kkt->panel_start[s] + width;
    for (int from = 0; from < width && below > 0; from += AT_ONCE) {
        const int to = from + AT_ONCE < width ? from + AT_ONCE : width;
        const perp_kkt_product before = {.rows = to - from,
                                         .columns = below,
                                         .count = from,
                                         .a = upper + from,
                                         .u = lower,
                                         .dest = lower + (ptrdiff_t)from * rows,
                                         .a_stride = rows,
                                         .u_stride = rows,
                                         .stride = rows};
        if (from > 0) {
            kkt->kernel->add_product(&before);
        }
        for (int k = from; k < to; k++) {
            double *row = lower + (ptrdiff_t)k * rows, factor = -lu->inverse[first + k];
            for (int m = from; m < k; m++) {
                perp_dense_subtract(below, -upper[(ptrdiff_t)m * rows + k], lower + (ptrdiff_t)m * rows, row);
            }
            for (int i = 0; i < below; i++) {
                row[i] *= factor;
            }
        }
    }
}

/* Column of the panel of supernode k that holds the first place of a run; `walk` is a run of k's at or before it. */
static inline int column_in(const perp_kkt *kkt, int k, const perp_kkt_run *run, int *walk)
{
    if (run->super == k) {
        return run->place - kkt->super_first[k];
    }
    while (kkt->runs[*walk].place + kkt->runs[*walk].length <= run->place) {
        ++*walk;
    }
    return kkt->runs[*walk].row + (run->place - kkt->runs[*walk].place);
}

/* Rows of run q, columns of the runs from p on, those that are neighbours in both panels together. */
static void spread(const perp_kkt *kkt, int s, int q, int p, const double *a, const double *u, double *panels)
{
    const int end = kkt->super_runs[s + 1], rows = kkt->panel_rows[s];
    const perp_kkt_run *run = &kkt->runs[q];
    const int k = run->super, k_rows = kkt->panel_rows[k];
    double *target = panels + kkt->panel_start[k] + (ptrdiff_t)(run->place - kkt->super_first[k]) * k_rows;
    int walk = kkt->super_runs[k], next = p < end ? column_in(kkt, k, &kkt->runs[p], &walk) : -1;
    while (p < end) {
        const int column = next, source = kkt->runs[p].row;
        int length = 0;
        do {
            length += kkt->runs[p++].length;
            next = p < end ? column_in(kkt, k, &kkt->runs[p], &walk) : -1;
        } while (next == column + length);
        const perp_kkt_product taken = {.rows = run->length,
                                        .columns = length,
                                        .count = kkt->super_first[s + 1] - kkt->super_first[s],
                                        .a = a + run->row,
                                        .u = u + source,
                                        .dest = target + column,
                                        .a_stride = rows,
                                        .u_stride = rows,
                                        .stride = k_rows};
        kkt->kernel->add_product(&taken);
    }
}

static void update_ancestors(perp_kkt_lu *lu, int s)
{
    const perp_kkt *kkt = lu->kkt;
    const double *upper = kkt->panels + kkt->panel_start[s], *lower = lu->lower + kkt->panel_start[s];
    const int end = kkt->super_runs[s + 1];
    for (int q = kkt->super_runs[s], own = q, later = q; q < end; q++) {
        if (kkt->runs[q].super != kkt->runs[own].super) {
            own = q;
        }
        while (later < end && kkt->runs[later].super == kkt->runs[own].super) {
            later++;
        }
        spread(kkt, s, q, own, lower, upper, kkt->panels);
        spread(kkt, s, q, later, upper, lower, lu->lower);
    }
}

void perp_kkt_lu_factor(perp_kkt_lu *lu)
{
    lu->mended = 0;
    for (int s = 0; s < lu->kkt->super_count; s++) {
        factor_upper(lu, s);
        factor_lower(lu, s);
        update_ancestors(lu, s);
    }
}

int perp_kkt_lu_sign(const perp_kkt_lu *lu)
{
    const perp_kkt *kkt = lu->kkt;
    int negative = 0;
    for (int s = 0; s < kkt->super_count; s++) {
        for (int place = kkt->super_first[s]; place < kkt->super_first[s + 1]; place++) {
            negative += (lu->inverse[place] < 0.0) + (lu->pivots[place] != place - kkt->super_first[s]);
        }
    }
    return negative % 2 == 0 ? 1 : -1;
}

/* ---- solution --------------------------------------------------------------------------------------------------- */

static void gather(const perp_kkt *kkt, int s, const double *b, double *x)
{
    const int first = kkt->super_first[s], width = kkt->super_first[s + 1] - first;
    memcpy(x, b + first, (size_t)width * sizeof *x);
    for (int q = kkt->super_runs[s]; q < kkt->super_runs[s + 1]; q++) {
        memcpy(x + kkt->runs[q].row, b + kkt->runs[q].place, (size_t)kkt->runs[q].length * sizeof *x);
    }
}

static void substitute(const perp_kkt_lu *lu, int s, double *b)
{
    const perp_kkt *kkt = lu->kkt;
    const int first = kkt->super_first[s], width = kkt->super_first[s + 1] - first, rows = kkt->panel_rows[s];
    const double *upper = kkt->panels + kkt->panel_start[s], *lower = lu->lower + kkt->panel_start[s] + width;
    double *x = kkt->below;
    gather(kkt, s, b, x);
    for (int k = 0; k < width; k++) {
        const int other = lu->pivots[first + k];
        const double value = x[other];
        x[other] = x[k];
        x[k] = value;
    }
    for (int k = 1; k < width; k++) {
        x[k] -= perp_dense_dot(k, upper + (ptrdiff_t)k * rows, x);
    }
    for (int k = 0; k < width; k++) {
        perp_dense_subtract(rows - width, -x[k], lower + (ptrdiff_t)k * rows, x + width);
    }
    memcpy(b + first, x, (size_t)width * sizeof *x);
    for (int q = kkt->super_runs[s]; q < kkt->super_runs[s + 1]; q++) {
        memcpy(b + kkt->runs[q].place, x + kkt->runs[q].row, (size_t)kkt->runs[q].length * sizeof *x);
    }
}

void perp_kkt_lu_solve(perp_kkt_lu *lu, double *rhs)
{
    const perp_kkt *kkt = lu->kkt;
    double *b = kkt->places, *x = kkt->below;
    for (int i = 0; i < kkt->unknowns; i++) {
        b[kkt->position[i]] = rhs[i];
    }
    for (int s = 0; s < kkt->super_count; s++) {
        substitute(lu, s, b);
    }
    for (int s = kkt->super_count - 1; s >= 0; s--) {
        const int first = kkt->super_first[s], width = kkt->super_first[s + 1] - first, rows = kkt->panel_rows[s];
        const double *upper = kkt->panels + kkt->panel_start[s];
        gather(kkt, s, b, x);
        for (int k = width - 1; k >= 0; k--) {
            x[k] -= perp_dense_dot(rows - k - 1, upper + (ptrdiff_t)k * rows + k + 1, x + k + 1);
            x[k] *= lu->inverse[first + k];
        }
        memcpy(b + first, x, (size_t)width * sizeof *x);
    }
    for (int i = 0; i < kkt->unknowns; i++) {
        rhs[i] = b[kkt->position[i]];
    }
}
