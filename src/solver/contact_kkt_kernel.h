/* contact_kkt_kernel.h - assembly, L D L' and solution: contact_kkt_factor.c includes this once for each instruction
 * set.
 *
 * Before it TARGET is the attribute of the functions, NAMED(f) their name, and WIDE_REGISTERS whether a perp_wide is in
 * one register. All vectors are of fixed length, and
 * every operation on them goes by entry but for the last sum of a dot product, whose order is written out. So the bits
 * do not depend on the set. There is no fma, which would change them.
 *
 * One product serves nearly everything: dest += A' U for dest, A and U whose rows are contiguous. In the assembly A is
 * J and U is Omega J, in the factorisation A is L and U is -D L, in the substitution A is a piece of the solution.
 */

/* Three rows of dest by the columns of two vectors, V0 at 0 and V1 at `V1_AT`: what stays in registers. */
#define TILE_OF_THREE(name, V0, V1, V1_AT)                                                                             \
    static inline TARGET void NAMED(name)(const product *p, const double *a, const double *u, double *dest)            \
    {                                                                                                                  \
        V0 s00 = {0.0}, s10 = {0.0}, s20 = {0.0};                                                                      \
        V1 s01 = {0.0}, s11 = {0.0}, s21 = {0.0};                                                                      \
        for (int k = 0; k < p->count; k++, a += p->a_stride, u += p->u_stride) {                                       \
            const V0 u0 = *(const V0 *)u;                                                                              \
            const V1 u1 = *(const V1 *)(u + (V1_AT));                                                                  \
            s00 += a[0] * u0;                                                                                          \
            s01 += a[0] * u1;                                                                                          \
            s10 += a[1] * u0;                                                                                          \
            s11 += a[1] * u1;                                                                                          \
            s20 += a[2] * u0;                                                                                          \
            s21 += a[2] * u1;                                                                                          \
        }                                                                                                              \
        double *d1 = dest + p->stride, *d2 = d1 + p->stride;                                                           \
        *(V0 *)dest += s00;                                                                                            \
        *(V1 *)(dest + (V1_AT)) += s01;                                                                                \
        *(V0 *)d1 += s10;                                                                                              \
        *(V1 *)(d1 + (V1_AT)) += s11;                                                                                  \
        *(V0 *)d2 += s20;                                                                                              \
        *(V1 *)(d2 + (V1_AT)) += s21;                                                                                  \
    }

/* Three rows by one vector. */
#define STRIP_OF_THREE(name, V)                                                                                        \
    static inline TARGET void NAMED(name)(const product *p, const double *a, const double *u, double *dest)            \
    {                                                                                                                  \
        V s0 = {0.0}, s1 = {0.0}, s2 = {0.0};                                                                          \
        for (int k = 0; k < p->count; k++, a += p->a_stride, u += p->u_stride) {                                       \
            const V u0 = *(const V *)u;                                                                                \
            s0 += a[0] * u0;                                                                                           \
            s1 += a[1] * u0;                                                                                           \
            s2 += a[2] * u0;                                                                                           \
        }                                                                                                              \
        double *d1 = dest + p->stride, *d2 = d1 + p->stride;                                                           \
        *(V *)dest += s0;                                                                                              \
        *(V *)d1 += s1;                                                                                                \
        *(V *)d2 += s2;                                                                                                \
    }

/* One row by two vectors. */
#define TILE_OF_ONE(name, V0, V1, V1_AT)                                                                               \
    static inline TARGET void NAMED(name)(const product *p, const double *a, const double *u, double *dest)            \
    {                                                                                                                  \
        V0 s0 = {0.0};                                                                                                 \
        V1 s1 = {0.0};                                                                                                 \
        for (int k = 0; k < p->count; k++, a += p->a_stride, u += p->u_stride) {                                       \
            s0 += *a * *(const V0 *)u;                                                                                 \
            s1 += *a * *(const V1 *)(u + (V1_AT));                                                                     \
        }                                                                                                              \
        *(V0 *)dest += s0;                                                                                             \
        *(V1 *)(dest + (V1_AT)) += s1;                                                                                 \
    }

TILE_OF_THREE(three_by_eight, perp_wide, perp_wide, 4)
TILE_OF_THREE(three_by_six, perp_wide, perp_lanes, 4)
TILE_OF_THREE(three_by_five, perp_wide, double, 4)
TILE_OF_THREE(three_by_three, perp_lanes, double, 2)
STRIP_OF_THREE(three_by_four, perp_wide)
STRIP_OF_THREE(three_by_two, perp_lanes)
STRIP_OF_THREE(three_by_one, double)
TILE_OF_ONE(one_by_eight, perp_wide, perp_wide, 4)
TILE_OF_ONE(one_by_six, perp_wide, perp_lanes, 4)
TILE_OF_ONE(one_by_four, perp_lanes, perp_lanes, 2)
TILE_OF_ONE(one_by_five, perp_wide, double, 4)
TILE_OF_ONE(one_by_two, double, double, 1)
TILE_OF_ONE(one_by_three, perp_lanes, double, 2)

#undef TILE_OF_THREE
#undef STRIP_OF_THREE
#undef TILE_OF_ONE

/* Six rows by six columns, as of two bodies: in registers at once where these are wide. Same sums as by threes. */
static TARGET void NAMED(six_by_six)(const product *p)
{
    const double *a = p->a, *u = p->u;
    const ptrdiff_t a_stride = p->a_stride, u_stride = p->u_stride, stride = p->stride;
    perp_wide s00 = {0.0}, s10 = {0.0}, s20 = {0.0}, s30 = {0.0}, s40 = {0.0}, s50 = {0.0};
    perp_lanes s01 = {0.0}, s11 = {0.0}, s21 = {0.0}, s31 = {0.0}, s41 = {0.0}, s51 = {0.0};
    for (int k = p->count; k > 0; k--, a += a_stride, u += u_stride) {
        const perp_wide u0 = *(const perp_wide *)u;
        const perp_lanes u1 = *(const perp_lanes *)(u + 4);
        s00 += a[0] * u0;
        s01 += a[0] * u1;
        s10 += a[1] * u0;
        s11 += a[1] * u1;
        s20 += a[2] * u0;
        s21 += a[2] * u1;
        s30 += a[3] * u0;
        s31 += a[3] * u1;
        s40 += a[4] * u0;
        s41 += a[4] * u1;
        s50 += a[5] * u0;
        s51 += a[5] * u1;
    }
    double *d0 = p->dest, *d1 = d0 + stride, *d2 = d1 + stride, *d3 = d2 + stride, *d4 = d3 + stride, *d5 = d4 + stride;
    *(perp_wide *)d0 += s00;
    *(perp_lanes *)(d0 + 4) += s01;
    *(perp_wide *)d1 += s10;
    *(perp_lanes *)(d1 + 4) += s11;
    *(perp_wide *)d2 += s20;
    *(perp_lanes *)(d2 + 4) += s21;
    *(perp_wide *)d3 += s30;
    *(perp_lanes *)(d3 + 4) += s31;
    *(perp_wide *)d4 += s40;
    *(perp_lanes *)(d4 + 4) += s41;
    *(perp_wide *)d5 += s50;
    *(perp_lanes *)(d5 + 4) += s51;
}

/* Of the same the upper triangle: two rows whole, of the others the last four columns. */
static TARGET void NAMED(six_triangle)(const product *p)
{
    const double *a = p->a, *u = p->u;
    const ptrdiff_t a_stride = p->a_stride, u_stride = p->u_stride, stride = p->stride;
    perp_wide s00 = {0.0}, s10 = {0.0}, s2 = {0.0}, s3 = {0.0}, s4 = {0.0}, s5 = {0.0};
    perp_lanes s01 = {0.0}, s11 = {0.0};
    for (int k = p->count; k > 0; k--, a += a_stride, u += u_stride) {
        const perp_wide u0 = *(const perp_wide *)u, u2 = *(const perp_wide *)(u + 2);
        const perp_lanes u4 = *(const perp_lanes *)(u + 4);
        s00 += a[0] * u0;
        s01 += a[0] * u4;
        s10 += a[1] * u0;
        s11 += a[1] * u4;
        s2 += a[2] * u2;
        s3 += a[3] * u2;
        s4 += a[4] * u2;
        s5 += a[5] * u2;
    }
    double *d0 = p->dest, *d1 = d0 + stride, *d2 = d1 + stride, *d3 = d2 + stride, *d4 = d3 + stride, *d5 = d4 + stride;
    *(perp_wide *)d0 += s00;
    *(perp_lanes *)(d0 + 4) += s01;
    *(perp_wide *)d1 += s10;
    *(perp_lanes *)(d1 + 4) += s11;
    *(perp_wide *)(d2 + 2) += s2;
    *(perp_wide *)(d3 + 2) += s3;
    *(perp_wide *)(d4 + 2) += s4;
    *(perp_wide *)(d5 + 2) += s5;
}

static inline TARGET void NAMED(three_rows)(const product *p, int i, int from)
{
    const double *a = p->a + i;
    double *dest = p->dest + (ptrdiff_t)i * p->stride;
    int j = from, left = p->columns - from;
    for (; left > 8 || left == 8; left -= 8, j += 8) {
        NAMED(three_by_eight)(p, a, p->u + j, dest + j);
    }
    switch (left) {
    case 7:
        NAMED(three_by_four)(p, a, p->u + j, dest + j);
        NAMED(three_by_three)(p, a, p->u + j + 4, dest + j + 4);
        return;
    case 6:
        NAMED(three_by_six)(p, a, p->u + j, dest + j);
        return;
    case 5:
        NAMED(three_by_five)(p, a, p->u + j, dest + j);
        return;
    case 4:
        NAMED(three_by_four)(p, a, p->u + j, dest + j);
        return;
    case 3:
        NAMED(three_by_three)(p, a, p->u + j, dest + j);
        return;
    case 2:
        NAMED(three_by_two)(p, a, p->u + j, dest + j);
        return;
    case 1:
        NAMED(three_by_one)(p, a, p->u + j, dest + j);
        return;
    default:
        return;
    }
}

static inline TARGET void NAMED(one_row)(const product *p, int i, int from)
{
    const double *a = p->a + i;
    double *dest = p->dest + (ptrdiff_t)i * p->stride, last = 0.0;
    int j = from;
    for (; j + 8 <= p->columns; j += 8) {
        NAMED(one_by_eight)(p, a, p->u + j, dest + j);
    }
    switch (p->columns - j) {
    case 7:
        NAMED(one_by_four)(p, a, p->u + j, dest + j);
        NAMED(one_by_three)(p, a, p->u + j + 4, dest + j + 4);
        return;
    case 6:
        NAMED(one_by_six)(p, a, p->u + j, dest + j);
        return;
    case 5:
        NAMED(one_by_five)(p, a, p->u + j, dest + j);
        return;
    case 4:
        NAMED(one_by_four)(p, a, p->u + j, dest + j);
        return;
    case 3:
        NAMED(one_by_three)(p, a, p->u + j, dest + j);
        return;
    case 2:
        NAMED(one_by_two)(p, a, p->u + j, dest + j);
        return;
    case 1:
        for (int k = 0; k < p->count; k++) {
            last += a[(ptrdiff_t)k * p->a_stride] * p->u[(ptrdiff_t)k * p->u_stride + j];
        }
        dest[j] += last;
        return;
    default:
        return;
    }
}

/* dest += A' U */
static TARGET void NAMED(add_product)(const product *p)
{
    int i = 0;
    if (WIDE_REGISTERS && p->rows == 6 && p->columns == 6) {
        NAMED(six_by_six)(p);
        return;
    }
    for (; i + 3 <= p->rows; i += 3) {
        NAMED(three_rows)(p, i, 0);
    }
    for (; i < p->rows; i++) {
        NAMED(one_row)(p, i, 0);
    }
}

/* The same where of a square at its left only the upper triangle is wanted; below it entries may change. Rows begin
 * where whole vectors remain. */
static TARGET void NAMED(add_triangle)(const product *p)
{
    if (p->rows == 6 && p->columns == 6) {
        NAMED(six_triangle)(p);
        return;
    }
    for (int i = 0; i < p->rows;) {
        const int whole = p->columns - (p->columns - i + 3) / 4 * 4;
        if (i + 3 <= p->rows) {
            NAMED(three_rows)(p, i, whole > 0 ? whole : 0);
            i += 3;
        } else {
            NAMED(one_row)(p, i, i);
            i++;
        }
    }
}

/* ---- assembly --------------------------------------------------------------------------------------------------- */

/* u = Omega J of three rows. */
static inline TARGET void NAMED(weigh_three)(const double *restrict w, int columns, const double *restrict jacobian,
                                             double *restrict u)
{
    const double *j0 = jacobian, *j1 = j0 + columns, *j2 = j1 + columns;
    double *u1 = u + columns, *u2 = u1 + columns;
    int c = 0;
    for (; c + 4 <= columns; c += 4) {
        const perp_wide x = *(const perp_wide *)(j0 + c), y = *(const perp_wide *)(j1 + c);
        const perp_wide z = *(const perp_wide *)(j2 + c);
        *(perp_wide *)(u + c) = (w[0] * x + w[1] * y) + w[2] * z;
        *(perp_wide *)(u1 + c) = (w[3] * x + w[4] * y) + w[5] * z;
        *(perp_wide *)(u2 + c) = (w[6] * x + w[7] * y) + w[8] * z;
    }
    if (c + 2 <= columns) {
        const perp_lanes x = *(const perp_lanes *)(j0 + c), y = *(const perp_lanes *)(j1 + c);
        const perp_lanes z = *(const perp_lanes *)(j2 + c);
        *(perp_lanes *)(u + c) = (w[0] * x + w[1] * y) + w[2] * z;
        *(perp_lanes *)(u1 + c) = (w[3] * x + w[4] * y) + w[5] * z;
        *(perp_lanes *)(u2 + c) = (w[6] * x + w[7] * y) + w[8] * z;
        c += 2;
    }
    if (c < columns) {
        const double x = j0[c], y = j1[c], z = j2[c];
        u[c] = (w[0] * x + w[1] * y) + w[2] * z;
        u1[c] = (w[3] * x + w[4] * y) + w[5] * z;
        u2[c] = (w[6] * x + w[7] * y) + w[8] * z;
    }
}

/* u = the rows `first` .. `first` + count - 1 of Omega J. */
static TARGET void NAMED(weigh_rows)(const double *omega, int rows, int first, int count, const double *jacobian,
                                     int columns, double *u)
{
    if (rows == 3 && count == 3) {
        NAMED(weigh_three)(omega, columns, jacobian, u);
        return;
    }
    for (int r = 0; r < count; r++) {
        const double *w = omega + (ptrdiff_t)(first + r) * rows;
        double *row = u + (ptrdiff_t)r * columns;
        for (int c = 0; c < columns; c++) {
            row[c] = w[0] * jacobian[c];
        }
        for (int k = 1; k < rows; k++) {
            if (w[k] != 0.0) {
                perp_dense_subtract(columns, -w[k], jacobian + (ptrdiff_t)k * columns, row);
            }
        }
    }
}

/* The products of `count` rows of a group of contacts; u is in `below`. */
static inline TARGET void NAMED(add_rows)(perp_kkt *kkt, int group, int count, const double *jacobian, int columns)
{
    for (int k = kkt->target_start[group]; k < kkt->target_start[group + 1]; k++) {
        const perp_kkt_target *t = &kkt->targets[k];
        const product p = {.rows = t->a_length,
                           .columns = t->b_length,
                           .count = count,
                           .a = jacobian + t->a,
                           .u = kkt->below + t->b,
                           .dest = kkt->panels + t->offset,
                           .a_stride = columns,
                           .u_stride = columns,
                           .stride = t->stride};
        if (t->a == t->b) {
            NAMED(add_triangle)(&p);
        } else {
            NAMED(add_product)(&p);
        }
    }
}

/* A group of `count` contacts of three rows each, all taken at once: nearly all groups. */
static TARGET void NAMED(add_threes)(perp_kkt *kkt, int group, int count, int columns, const double *omega,
                                     const double *jacobian)
{
    const ptrdiff_t length = 3 * (ptrdiff_t)columns;
    bool any = false; /* as has_weight */
    for (int i = 0; i < count && !any; i++) {
        any = omega[9 * i] != 0.0 || omega[9 * i + 4] != 0.0 || omega[9 * i + 8] != 0.0;
    }
    if (!any) {
        return;
    }
    for (int i = 0; i < count; i++) {
        NAMED(weigh_three)(omega + (ptrdiff_t)9 * i, columns, jacobian + i * length, kkt->below + i * length);
    }
    NAMED(add_rows)(kkt, group, 3 * count, jacobian, columns);
}

/* The rows of all contacts of a group follow each other in J: so many are taken at once, and meet the panel once. */
static inline TARGET void NAMED(add_group)(perp_kkt *kkt, const perp_contact_qp *problem, int group,
                                           const double **omega, const double **jacobian)
{
    const int begin = kkt->group_first[group], end = kkt->group_first[group + 1];
    const int columns = problem->dof_start[begin + 1] - problem->dof_start[begin];
    const double *start = *jacobian;
    if (columns > 0 && 3 * (end - begin) <= PERP_KKT_ROWS && have_three_rows(problem, begin, end)) {
        NAMED(add_threes)(kkt, group, end - begin, columns, *omega, start);
        *omega += (ptrdiff_t)9 * (end - begin);
        *jacobian += (ptrdiff_t)3 * columns * (end - begin);
        return;
    }
    const bool any = has_weight(problem, begin, end, *omega);
    int held = 0;
    for (int i = begin; i < end; i++) {
        const int rows = problem->row_start[i + 1] - problem->row_start[i];
        for (int first = 0, count = 0; any && columns > 0 && first < rows; first += count) {
            count = rows - first < PERP_KKT_ROWS ? rows - first : PERP_KKT_ROWS;
            if (held + count > PERP_KKT_ROWS) {
                NAMED(add_rows)(kkt, group, held, start, columns);
                start += (ptrdiff_t)held * columns;
                held = 0;
            }
            NAMED(weigh_rows)(*omega, rows, first, count, *jacobian, columns, kkt->below + (ptrdiff_t)held * columns);
            held += count;
        }
        *omega += (ptrdiff_t)rows * rows;
        *jacobian = columns > 0 && rows > 0 ? *jacobian + (ptrdiff_t)rows * columns : *jacobian;
    }
    if (held > 0) {
        NAMED(add_rows)(kkt, group, held, start, columns);
    }
}

static TARGET void NAMED(assemble)(perp_kkt *kkt, const perp_contact_qp *problem, const double *omega,
                                   const double *diagonal)
{
    memcpy(kkt->panels, kkt->base, (size_t)kkt->panel_length * sizeof *kkt->panels);
    const double *jacobian = problem->jacobian;
    for (int group = 0; group < kkt->group_count; group++) {
        NAMED(add_group)(kkt, problem, group, &omega, &jacobian);
    }
    for (int i = 0; i < kkt->unknowns; i++) {
        double *entry = kkt->panels + kkt->diagonal[i];
        *entry += diagonal[i];
        const double size = fabs(*entry) > DBL_MIN ? fabs(*entry) : DBL_MIN;
        kkt->floor[kkt->position[i]] = i < kkt->n ? size : -size;
    }
}

/* ---- factorisation ---------------------------------------------------------------------------------------------- */

/* A row of the panel: t = D l is turned into l, and its negative is kept. */
static inline TARGET void NAMED(finish_one)(int n, double inverse, double *row, double *negative)
{
    int j = 0;
    for (; j + 4 <= n; j += 4) {
        const perp_wide t = *(const perp_wide *)(row + j);
        *(perp_wide *)(negative + j) = -t;
        *(perp_wide *)(row + j) = inverse * t;
    }
    for (; j < n; j++) {
        negative[j] = -row[j];
        row[j] = inverse * row[j];
    }
}

/* One vector of three rows at once: l[0] of the second with the first, l[1] and l[2] of the third. */
#define FINISH_THREE(V)                                                                                                \
    do {                                                                                                               \
        const V t0 = *(const V *)(row + j);                                                                            \
        const V t1 = *(const V *)(row + stride + j) - l[0] * t0;                                                       \
        const V t2 = (*(const V *)(row + 2 * stride + j) - l[1] * t0) - l[2] * t1;                                     \
        *(V *)(negative + j) = -t0;                                                                                    \
        *(V *)(negative + stride + j) = -t1;                                                                           \
        *(V *)(negative + 2 * stride + j) = -t2;                                                                       \
        *(V *)(row + j) = inverse[0] * t0;                                                                             \
        *(V *)(row + stride + j) = inverse[1] * t1;                                                                    \
        *(V *)(row + 2 * stride + j) = inverse[2] * t2;                                                                \
    } while (0)

static inline TARGET void NAMED(finish_three)(int n, ptrdiff_t stride, const double *inverse, const double *l,
                                              double *row, double *negative)
{
    int j = 0;
    for (; j + 4 <= n; j += 4) {
        FINISH_THREE(perp_wide);
    }
    if (j + 2 <= n) {
        FINISH_THREE(perp_lanes);
        j += 2;
    }
    if (j < n) {
        FINISH_THREE(double);
    }
}
#undef FINISH_THREE

/* Rows k .. k + 2, which the rows above have been taken off from: their own triangle, then what is right of it.
 * `negative` begins at the first's diagonal. */
static inline TARGET void NAMED(factor_three)(perp_kkt *kkt, int first, double *panel, int rows, int k,
                                              double *negative)
{
    double *r0 = panel + (ptrdiff_t)k * rows + k, *r1 = r0 + rows, *r2 = r1 + rows, *inverse = kkt->inverse + first + k;
    const double t01 = r0[1], t02 = r0[2];
    take_pivot(kkt, first, panel, rows, k);
    const double l01 = inverse[0] * t01, l02 = inverse[0] * t02, t12 = r1[2] - l01 * t02;
    r0[1] = l01;
    r0[2] = l02;
    r1[1] -= l01 * t01;
    take_pivot(kkt, first, panel, rows, k + 1);
    const double l12 = inverse[1] * t12, l[3] = {l01, l02, l12};
    r1[2] = l12;
    r2[2] = (r2[2] - l02 * t02) - l12 * t12;
    take_pivot(kkt, first, panel, rows, k + 2);
    negative[1] = -t01;
    negative[2] = -t02;
    negative[rows + 2] = -t12;
    NAMED(finish_three)(rows - k - 3, rows, inverse, l, r0 + 3, negative + 3);
}

/* Rows `from` .. `to` - 1 of a panel, at most PERP_KKT_ROWS, against each other. */
static TARGET void NAMED(factor_rows)(perp_kkt *kkt, double *panel, int rows, int first, int from, int to)
{
    for (int k = from, count = 0; k < to; k += count) {
        count = k + 3 <= to ? 3 : 1;
        double *row = panel + (ptrdiff_t)k * rows + k, *negative = kkt->below + (ptrdiff_t)(k - from) * rows + k;
        const product p = {.rows = count,
                           .columns = rows - k,
                           .count = k - from,
                           .a = panel + (ptrdiff_t)from * rows + k,
                           .u = kkt->below + k,
                           .dest = row,
                           .a_stride = rows,
                           .u_stride = rows,
                           .stride = rows};
        if (k > from) {
            NAMED(add_product)(&p);
        }
        if (count == 3) {
            NAMED(factor_three)(kkt, first, panel, rows, k, negative);
        } else {
            take_pivot(kkt, first, panel, rows, k);
            NAMED(finish_one)(rows - k - 1, kkt->inverse[first + k], row + 1, negative + 1);
        }
    }
}

/* Row of the panel of supernode k that holds the first place of a run; `walk` is a run of k's at or before it. */
static inline TARGET int NAMED(row_in)(const perp_kkt *kkt, int k, const perp_kkt_run *run, int *walk)
{
    if (run->super == k) {
        return run->place - kkt->super_first[k];
    }
    while (kkt->runs[*walk].place + kkt->runs[*walk].length <= run->place) {
        ++*walk;
    }
    return kkt->runs[*walk].row + (run->place - kkt->runs[*walk].place);
}

/* What rows `from` .. `to` - 1 of supernode `s` take from its ancestors: for each run of columns all runs of rows from
 * there on, those that are neighbours in both panels together. */
static TARGET void NAMED(update_ancestors)(perp_kkt *kkt, int s, int from, int to)
{
    const int end = kkt->super_runs[s + 1], rows = kkt->panel_rows[s];
    const double *panel = kkt->panels + kkt->panel_start[s] + (ptrdiff_t)from * rows;
    for (int q = kkt->super_runs[s]; q < end; q++) {
        const perp_kkt_run *columns = &kkt->runs[q];
        const int k = columns->super, k_rows = kkt->panel_rows[k], column = columns->place - kkt->super_first[k];
        double *target = kkt->panels + kkt->panel_start[k] + (ptrdiff_t)column * k_rows;
        int walk = kkt->super_runs[k], next = column;
        for (int p = q; p < end;) {
            const int row = next, source = kkt->runs[p].row;
            const bool triangle = p == q;
            int length = 0;
            do {
                length += kkt->runs[p++].length;
                next = p < end ? NAMED(row_in)(kkt, k, &kkt->runs[p], &walk) : -1;
            } while (next == row + length);
            const product taken = {.rows = columns->length,
                                   .columns = length,
                                   .count = to - from,
                                   .a = panel + columns->row,
                                   .u = kkt->below + source,
                                   .dest = target + row,
                                   .a_stride = rows,
                                   .u_stride = rows,
                                   .stride = k_rows};
            if (triangle) {
                NAMED(add_triangle)(&taken);
            } else {
                NAMED(add_product)(&taken);
            }
        }
    }
}

static TARGET void NAMED(factor)(perp_kkt *kkt)
{
    kkt->mended = 0;
    for (int s = 0; s < kkt->super_count; s++) {
        const int first = kkt->super_first[s], width = kkt->super_first[s + 1] - first, rows = kkt->panel_rows[s];
        double *panel = kkt->panels + kkt->panel_start[s];
        for (int k = 0; k < width; k++) { /* what take_pivot looks at, until it puts the inverse there */
            kkt->inverse[first + k] = panel[(ptrdiff_t)k * rows + k];
        }
        for (int from = 0; from < width; from += PERP_KKT_ROWS) {
            const int to = from + PERP_KKT_ROWS < width ? from + PERP_KKT_ROWS : width;
            NAMED(factor_rows)(kkt, panel, rows, first, from, to);
            if (to < width) {
                const product rest = {.rows = width - to,
                                      .columns = rows - to,
                                      .count = to - from,
                                      .a = panel + (ptrdiff_t)from * rows + to,
                                      .u = kkt->below + to,
                                      .dest = panel + (ptrdiff_t)to * rows + to,
                                      .a_stride = rows,
                                      .u_stride = rows,
                                      .stride = rows};
                NAMED(add_triangle)(&rest);
            }
            if (rows > width) {
                NAMED(update_ancestors)(kkt, s, from, to);
            }
        }
    }
}

/* ---- solution --------------------------------------------------------------------------------------------------- */

/* x -= b[0] l_0 + b[1] l_1 + b[2] l_2 for three rows of L'. */
static inline TARGET void NAMED(take_off_three)(int n, ptrdiff_t stride, const double *l, const double *b, double *x)
{
    const double *l1 = l + stride, *l2 = l1 + stride;
    int j = 0;
    for (; j + 4 <= n; j += 4) {
        *(perp_wide *)(x + j) -= (b[0] * *(const perp_wide *)(l + j) + b[1] * *(const perp_wide *)(l1 + j)) +
                                 b[2] * *(const perp_wide *)(l2 + j);
    }
    if (j + 2 <= n) {
        *(perp_lanes *)(x + j) -= (b[0] * *(const perp_lanes *)(l + j) + b[1] * *(const perp_lanes *)(l1 + j)) +
                                  b[2] * *(const perp_lanes *)(l2 + j);
        j += 2;
    }
    if (j < n) {
        x[j] -= (b[0] * l[j] + b[1] * l1[j]) + b[2] * l2[j];
    }
}

/* L x = x in a supernode's places and those below. */
static inline TARGET void NAMED(substitute)(int width, int rows, const double *panel, double *x)
{
    int k = 0;
    for (; k + 3 <= width; k += 3) {
        const double *l = panel + (ptrdiff_t)k * rows + k;
        double b[3] = {x[k], x[k + 1] - l[1] * x[k], 0.0};
        b[2] = (x[k + 2] - l[2] * x[k]) - l[rows + 2] * b[1];
        x[k + 1] = b[1];
        x[k + 2] = b[2];
        NAMED(take_off_three)(rows - k - 3, rows, l + 3, b, x + k + 3);
    }
    for (; k < width; k++) {
        perp_dense_subtract(rows - k - 1, x[k], panel + (ptrdiff_t)k * rows + k + 1, x + k + 1);
    }
}

/* Three unknowns of L' x = x: what follows them, n entries, is found. `l` and `x` are at the first. */
static inline TARGET void NAMED(find_three)(int n, ptrdiff_t stride, const double *l, double *x)
{
    const double *l0 = l + 3, *l1 = l0 + stride, *l2 = l1 + stride, *y = x + 3;
    perp_wide w0 = {0.0}, w1 = w0, w2 = w0;
    perp_lanes t0 = {0.0}, t1 = t0, t2 = t0;
    double s0 = 0.0, s1 = 0.0, s2 = 0.0;
    int j = 0;
    for (; j + 4 <= n; j += 4) {
        const perp_wide yy = *(const perp_wide *)(y + j);
        w0 += *(const perp_wide *)(l0 + j) * yy;
        w1 += *(const perp_wide *)(l1 + j) * yy;
        w2 += *(const perp_wide *)(l2 + j) * yy;
    }
    if (j + 2 <= n) {
        const perp_lanes yy = *(const perp_lanes *)(y + j);
        t0 = *(const perp_lanes *)(l0 + j) * yy;
        t1 = *(const perp_lanes *)(l1 + j) * yy;
        t2 = *(const perp_lanes *)(l2 + j) * yy;
        j += 2;
    }
    if (j < n) {
        s0 = l0[j] * y[j];
        s1 = l1[j] * y[j];
        s2 = l2[j] * y[j];
    }
    s0 += ((w0[0] + w0[2]) + t0[0]) + ((w0[1] + w0[3]) + t0[1]);
    s1 += ((w1[0] + w1[2]) + t1[0]) + ((w1[1] + w1[3]) + t1[1]);
    s2 += ((w2[0] + w2[2]) + t2[0]) + ((w2[1] + w2[3]) + t2[1]);
    x[2] -= s2;
    x[1] = (x[1] - s1) - l[stride + 2] * x[2];
    x[0] = ((x[0] - s0) - l[2] * x[2]) - l[1] * x[1];
}

static inline TARGET void NAMED(substitute_back)(int width, int rows, const double *panel, double *x)
{
    const int whole = width / 3 * 3;
    for (int k = width - 1; k >= whole; k--) {
        x[k] -= perp_dense_dot(rows - k - 1, panel + (ptrdiff_t)k * rows + k + 1, x + k + 1);
    }
    for (int k = whole - 3; k >= 0; k -= 3) {
        NAMED(find_three)(rows - k - 3, rows, panel + (ptrdiff_t)k * rows + k, x + k);
    }
}

static inline TARGET void NAMED(copy)(int n, const double *from, double *to)
{
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        *(perp_wide *)(to + k) = *(const perp_wide *)(from + k);
    }
    for (; k < n; k++) {
        to[k] = from[k];
    }
}

/* What is below supernode `s`, to where its panel has it. */
static inline TARGET void NAMED(gather_below)(const perp_kkt *kkt, int s, const double *b, double *x)
{
    for (int q = kkt->super_runs[s]; q < kkt->super_runs[s + 1]; q++) {
        NAMED(copy)(kkt->runs[q].length, b + kkt->runs[q].place, x + kkt->runs[q].row);
    }
}

static TARGET void NAMED(solve)(perp_kkt *kkt, double *rhs)
{
    double *b = kkt->places, *x = kkt->below;
    for (int i = 0; i < kkt->unknowns; i++) {
        b[kkt->position[i]] = rhs[i];
    }
    for (int s = 0; s < kkt->super_count; s++) {
        const int first = kkt->super_first[s], width = kkt->super_first[s + 1] - first, rows = kkt->panel_rows[s];
        if (rows == width) {
            NAMED(substitute)(width, rows, kkt->panels + kkt->panel_start[s], b + first);
            continue;
        }
        NAMED(copy)(width, b + first, x);
        NAMED(gather_below)(kkt, s, b, x);
        NAMED(substitute)(width, rows, kkt->panels + kkt->panel_start[s], x);
        NAMED(copy)(width, x, b + first);
        for (int q = kkt->super_runs[s]; q < kkt->super_runs[s + 1]; q++) {
            NAMED(copy)(kkt->runs[q].length, x + kkt->runs[q].row, b + kkt->runs[q].place);
        }
    }
    for (int i = 0; i < kkt->unknowns; i++) {
        b[i] *= kkt->inverse[i];
    }
    for (int s = kkt->super_count - 1; s >= 0; s--) {
        const int first = kkt->super_first[s], width = kkt->super_first[s + 1] - first, rows = kkt->panel_rows[s];
        if (rows == width) {
            NAMED(substitute_back)(width, rows, kkt->panels + kkt->panel_start[s], b + first);
            continue;
        }
        NAMED(copy)(width, b + first, x);
        NAMED(gather_below)(kkt, s, b, x);
        NAMED(substitute_back)(width, rows, kkt->panels + kkt->panel_start[s], x);
        NAMED(copy)(width, x, b + first);
    }
    for (int i = 0; i < kkt->unknowns; i++) {
        rhs[i] = b[kkt->position[i]];
    }
}

/* ---- products --------------------------------------------------------------------------------------------------- */

/* out = sum_k x[k] rows_k, or out += this, for a strip of columns: V0 at 0 and V1 at `V1_AT`. Even and odd k are summed
 * apart, being two chains of sums that do not wait for each other. */
#define STRIP(name, V0, V1, V1_AT)                                                                                     \
    static inline TARGET void NAMED(name)(int count, int columns, const double *x, const double *rows, bool add,       \
                                          double *out)                                                                 \
    {                                                                                                                  \
        V0 even0 = {0.0}, odd0 = {0.0};                                                                                \
        V1 even1 = {0.0}, odd1 = {0.0};                                                                                \
        int k = 0;                                                                                                     \
        for (; k + 2 <= count; k += 2, rows += 2 * (ptrdiff_t)columns) {                                               \
            even0 += x[k] * *(const V0 *)rows;                                                                         \
            even1 += x[k] * *(const V1 *)(rows + (V1_AT));                                                             \
            odd0 += x[k + 1] * *(const V0 *)(rows + columns);                                                          \
            odd1 += x[k + 1] * *(const V1 *)(rows + columns + (V1_AT));                                                \
        }                                                                                                              \
        if (k < count) {                                                                                               \
            even0 += x[k] * *(const V0 *)rows;                                                                         \
            even1 += x[k] * *(const V1 *)(rows + (V1_AT));                                                             \
        }                                                                                                              \
        even0 += odd0;                                                                                                 \
        even1 += odd1;                                                                                                 \
        if (add) {                                                                                                     \
            even0 += *(const V0 *)out;                                                                                 \
            even1 += *(const V1 *)(out + (V1_AT));                                                                     \
        }                                                                                                              \
        *(V0 *)out = even0;                                                                                            \
        *(V1 *)(out + (V1_AT)) = even1;                                                                                \
    }

STRIP(eight_columns, perp_wide, perp_wide, 4)
STRIP(six_columns, perp_wide, perp_lanes, 4)
STRIP(four_columns, perp_lanes, perp_lanes, 2)
STRIP(two_columns, double, double, 1)
#undef STRIP

/* The same for sixteen columns, which are chains enough. */
static inline TARGET void NAMED(sixteen_columns)(int count, int columns, const double *x, const double *rows, bool add,
                                                 double *out)
{
    perp_wide s0 = {0.0}, s1 = {0.0}, s2 = {0.0}, s3 = {0.0};
    for (int k = 0; k < count; k++, rows += columns) {
        s0 += x[k] * *(const perp_wide *)rows;
        s1 += x[k] * *(const perp_wide *)(rows + 4);
        s2 += x[k] * *(const perp_wide *)(rows + 8);
        s3 += x[k] * *(const perp_wide *)(rows + 12);
    }
    if (add) {
        s0 += *(const perp_wide *)out;
        s1 += *(const perp_wide *)(out + 4);
        s2 += *(const perp_wide *)(out + 8);
        s3 += *(const perp_wide *)(out + 12);
    }
    *(perp_wide *)out = s0;
    *(perp_wide *)(out + 4) = s1;
    *(perp_wide *)(out + 8) = s2;
    *(perp_wide *)(out + 12) = s3;
}

/* And for twelve: two bodies. */
static inline TARGET void NAMED(twelve_columns)(int count, int columns, const double *x, const double *rows, bool add,
                                                double *out)
{
    perp_wide s0 = {0.0}, s1 = {0.0}, s2 = {0.0};
    for (int k = 0; k < count; k++, rows += columns) {
        s0 += x[k] * *(const perp_wide *)rows;
        s1 += x[k] * *(const perp_wide *)(rows + 4);
        s2 += x[k] * *(const perp_wide *)(rows + 8);
    }
    if (add) {
        s0 += *(const perp_wide *)out;
        s1 += *(const perp_wide *)(out + 4);
        s2 += *(const perp_wide *)(out + 8);
    }
    *(perp_wide *)out = s0;
    *(perp_wide *)(out + 4) = s1;
    *(perp_wide *)(out + 8) = s2;
}

/* out = sum_k x[k] rows_k, or out += this; the rows follow each other. */
static TARGET void NAMED(combine)(int count, int columns, const double *x, const double *rows, bool add, double *out)
{
    int j = 0;
    for (; columns - j >= 16; j += 16) {
        NAMED(sixteen_columns)(count, columns, x, rows + j, add, out + j);
    }
    if (columns - j >= 12) {
        NAMED(twelve_columns)(count, columns, x, rows + j, add, out + j);
        j += 12;
    } else if (columns - j >= 8) {
        NAMED(eight_columns)(count, columns, x, rows + j, add, out + j);
        j += 8;
    } else if (columns - j >= 6) {
        NAMED(six_columns)(count, columns, x, rows + j, add, out + j);
        j += 6;
    } else if (columns - j >= 4) {
        NAMED(four_columns)(count, columns, x, rows + j, add, out + j);
        j += 4;
    }
    if (columns - j >= 2) {
        NAMED(two_columns)(count, columns, x, rows + j, add, out + j);
        j += 2;
    }
    if (j < columns) {
        double sum = add ? out[j] : 0.0;
        for (int k = 0; k < count; k++) {
            sum += x[k] * rows[(ptrdiff_t)k * columns + j];
        }
        out[j] = sum;
    }
}

/* omega = sum_k w[k] r_k r_k' of contacts with three rows and four rays; `squares` has the r_k r_k'. */
static TARGET void NAMED(weigh_squares)(int contacts, const double *restrict w, const double *restrict squares,
                                        double *restrict omega)
{
    for (int i = 0; i < contacts; i++, w += 4, squares += 36, omega += 9) {
        const double *q1 = squares + 9, *q2 = q1 + 9, *q3 = q2 + 9;
        const double w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];
        *(perp_wide *)omega = (w0 * *(const perp_wide *)squares + w1 * *(const perp_wide *)q1) +
                              (w2 * *(const perp_wide *)q2 + w3 * *(const perp_wide *)q3);
        *(perp_wide *)(omega + 4) = (w0 * *(const perp_wide *)(squares + 4) + w1 * *(const perp_wide *)(q1 + 4)) +
                                    (w2 * *(const perp_wide *)(q2 + 4) + w3 * *(const perp_wide *)(q3 + 4));
        omega[8] = (w0 * squares[8] + w1 * q1[8]) + (w2 * q2[8] + w3 * q3[8]);
    }
}

/* R J of a contact with three rows and four rays, and the transposed of this, whose rows are `stride` apart. */
static TARGET void NAMED(pack_four)(const double *restrict rays, int columns, const double *restrict jacobian,
                                    double *restrict packed, double *restrict transposed, int stride)
{
    const double *j0 = jacobian, *j1 = j0 + columns, *j2 = j1 + columns;
    const double *r = rays;
    for (int k = 0; k < 4; k++, r += 3, packed += columns) {
        int c = 0;
        for (; c + 4 <= columns; c += 4) {
            *(perp_wide *)(packed + c) = (r[0] * *(const perp_wide *)(j0 + c) + r[1] * *(const perp_wide *)(j1 + c)) +
                                         r[2] * *(const perp_wide *)(j2 + c);
        }
        if (c + 2 <= columns) {
            *(perp_lanes *)(packed + c) =
                (r[0] * *(const perp_lanes *)(j0 + c) + r[1] * *(const perp_lanes *)(j1 + c)) +
                r[2] * *(const perp_lanes *)(j2 + c);
            c += 2;
        }
        if (c < columns) {
            packed[c] = (r[0] * j0[c] + r[1] * j1[c]) + r[2] * j2[c];
        }
    }
    r = rays;
    const perp_wide r0 = {r[0], r[3], r[6], r[9]}, r1 = {r[1], r[4], r[7], r[10]}, r2 = {r[2], r[5], r[8], r[11]};
    for (int c = 0; c < columns; c++, transposed += stride) {
        *(perp_wide *)transposed = (j0[c] * r0 + j1[c] * r1) + j2[c] * r2;
    }
}
