/* The linear systems of contact problems beside dense ones: every pattern that bodies, trees, loops and dense blocks
 * make, assembled twice and solved twice. Tolerances are backward errors: a multiple of n DBL_EPSILON of the terms. */
#include "failing_allocator.h"
#include "linalg/dense.h"

#include "solver/contact_kkt.h"

#include <float.h>
#include <math.h>

enum { MOST_CONTACTS = 200, MOST_BLOCKS = 64, MOST_EQUALITIES = 16, MOST_UNKNOWNS = 420 };

/* A problem with its arrays, and Omega and the diagonal besides. */
typedef struct fixture {
    perp_random random;
    perp_contact_qp p;
    int block_start[MOST_BLOCKS + 1], row_start[MOST_CONTACTS + 1], dof_start[MOST_CONTACTS + 1];
    int slack_start[MOST_CONTACTS + 1], equality_start[MOST_EQUALITIES + 1];
    int *dofs, *equality_dofs;
    double *hessian, *jacobian, *rays, *equality_values, *omega, *diagonal, *dense, *rhs;
    ptrdiff_t hessian_length, jacobian_length, rays_length, omega_length;
} fixture;

static double number(fixture *f)
{
    return perp_random_uniform(&f->random, -1.0, 1.0);
}

static int choice(fixture *f, int count)
{
    return (int)perp_random_uniform(&f->random, 0.0, (double)count);
}

static void *room(size_t count, size_t size)
{
    void *memory = count < SIZE_MAX / 2 ? calloc(count, size) : NULL;
    assert_non_null(memory);
    return memory;
}

static fixture *begin(uint64_t seed)
{
    enum { DOFS = 1 << 15, ENTRIES = 1 << 18, SQUARE = MOST_UNKNOWNS * MOST_UNKNOWNS };
    fixture *f = room(1, sizeof *f);
    f->random = (perp_random){seed};
    f->dofs = room(DOFS, sizeof(int));
    f->equality_dofs = room(DOFS, sizeof(int));
    f->equality_values = room(DOFS, sizeof(double));
    f->hessian = room(SQUARE, sizeof(double));
    f->jacobian = room(ENTRIES, sizeof(double));
    f->rays = room(ENTRIES, sizeof(double));
    f->omega = room(ENTRIES, sizeof(double));
    f->diagonal = room(MOST_UNKNOWNS, sizeof(double));
    f->dense = room(SQUARE, sizeof(double));
    f->rhs = room(MOST_UNKNOWNS, sizeof(double));
    f->p = (perp_contact_qp){.block_start = f->block_start,
                             .hessian = f->hessian,
                             .row_start = f->row_start,
                             .dof_start = f->dof_start,
                             .dofs = f->dofs,
                             .jacobian = f->jacobian,
                             .slack_start = f->slack_start,
                             .rays = f->rays,
                             .equality_start = f->equality_start,
                             .equality_dofs = f->equality_dofs,
                             .equality_values = f->equality_values};
    return f;
}

static void end(fixture *f)
{
    void *arrays[] = {f->dofs, f->equality_dofs, f->equality_values, f->hessian, f->jacobian,
                      f->rays, f->omega,         f->diagonal,        f->dense,   f->rhs};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        free(arrays[k]);
    }
    free(f);
}

/* A semidefinite block of H. */
static void add_block(fixture *f, int size)
{
    double *h = f->hessian + f->hessian_length;
    for (int i = 0; i < size; i++) {
        for (int j = 0; j <= i; j++) {
            h[i * size + j] = h[j * size + i] = i == j ? (double)size : number(f) / 2.0;
        }
    }
    f->hessian_length += (ptrdiff_t)size * size;
    f->p.n += size;
    f->block_start[++f->p.block_count] = f->p.n;
}

/* A contact on unknowns that were put behind `dofs`; Omega = V'V. */
static void add_contact(fixture *f, int rows, int columns, int slacks)
{
    perp_contact_qp *p = &f->p;
    const int i = p->contact_count++;
    double v[8][8];
    f->dof_start[i + 1] = f->dof_start[i] + columns;
    f->row_start[i + 1] = f->row_start[i] + rows;
    f->slack_start[i + 1] = f->slack_start[i] + slacks;
    for (int k = 0; k < rows * columns; k++) {
        f->jacobian[f->jacobian_length++] = number(f);
    }
    for (int k = 0; k < rows * slacks; k++) {
        f->rays[f->rays_length++] = number(f);
    }
    const bool open = choice(f, 5) == 0;
    for (int k = 0; k < rows * rows; k++) {
        v[k / rows][k % rows] = open ? 0.0 : number(f);
    }
    for (int a = 0; a < rows; a++) {
        for (int b = 0; b < rows; b++) {
            double sum = 0.0;
            for (int k = 0; k < rows; k++) {
                sum += v[k][a] * v[k][b];
            }
            f->omega[f->omega_length++] = sum;
        }
    }
}

static int put_block(const fixture *f, int block, int *dofs)
{
    const int first = f->block_start[block], size = f->block_start[block + 1] - first;
    for (int k = 0; k < size; k++) {
        dofs[k] = first + k;
    }
    return size;
}

/* `copies` contacts of block a, and of a later block b unless it is -1, with `part` of every second unknown left out.
 */
static void add_contacts(fixture *f, int a, int b, int copies, bool part)
{
    for (int k = 0; k < copies; k++) {
        int *dofs = f->dofs + f->dof_start[f->p.contact_count];
        int count = put_block(f, a, dofs);
        count += b >= 0 ? put_block(f, b, dofs + count) : 0;
        int kept = 0;
        for (int d = 0; d < count; d++) {
            dofs[kept] = dofs[d];
            kept += !part || d % 3 != 1;
        }
        const int rows = k % 4 == 3 ? 1 + choice(f, 4) : 3, slacks = choice(f, 3) == 0 ? 1 + choice(f, 7) : 4;
        add_contact(f, rows, kept, slacks);
    }
}

/* An equation that binds blocks a < b. */
static void add_equality(fixture *f, int a, int b)
{
    perp_contact_qp *p = &f->p;
    const int i = p->equality_count++, start = f->equality_start[i];
    int count = put_block(f, a, f->equality_dofs + start);
    count += put_block(f, b, f->equality_dofs + start + count);
    for (int k = 0; k < count; k++) {
        f->equality_values[start + k] = number(f);
    }
    f->equality_start[i + 1] = start + count;
}

static void finish(fixture *f)
{
    const int unknowns = f->p.n + f->p.equality_count;
    assert_true(unknowns <= MOST_UNKNOWNS && f->p.contact_count <= MOST_CONTACTS);
    for (int i = 0; i < unknowns; i++) {
        f->diagonal[i] =
            i < f->p.n ? perp_random_uniform(&f->random, 0.1, 1.0) : perp_random_uniform(&f->random, -1.0, -0.1);
        f->rhs[i] = number(f);
    }
}

/* Bodies of `size` unknowns and, where `robot` > 0, a last one of so many that touches every third. */
static fixture *bodies(uint64_t seed, int count, int size, int robot, int equalities)
{
    fixture *f = begin(seed);
    for (int k = 0; k < count; k++) {
        add_block(f, size);
    }
    if (robot > 0) {
        add_block(f, robot);
    }
    for (int k = 0; k < count; k++) {
        add_contacts(f, k, -1, choice(f, 5), false);
        if (k > 0) {
            const int other = choice(f, k), copies = choice(f, 4);
            add_contacts(f, other, k, copies, k % 4 == 0);
        }
        if (robot > 0 && k % 3 == 0) {
            add_contacts(f, k, count, 1 + choice(f, 3), k % 2 == 0);
        }
    }
    for (int k = 0; k < equalities; k++) {
        const int a = choice(f, count - 1);
        add_equality(f, a, a + 1 + choice(f, count - 1 - a));
    }
    finish(f);
    return f;
}

static fixture *one_block(uint64_t seed, int size, int contacts)
{
    fixture *f = begin(seed);
    add_block(f, size);
    add_contacts(f, 0, -1, contacts, false);
    finish(f);
    return f;
}

/* Bodies, planar bodies, arms, loops, several sizes, nothing but blocks, one unknown, a large block. */
static fixture *make(int which, uint64_t seed)
{
    switch (which) {
    case 0:
        return bodies(seed, 10, 6, 9, 0);
    case 1:
        return bodies(seed, 14, 3, 0, 0);
    case 2:
        return bodies(seed, 12, 6, 7, 5);
    case 3:
        return bodies(seed, 20, 1, 2, 3);
    case 4:
        return bodies(seed, 8, 5, 14, 2);
    case 5:
        return bodies(seed, 9, 4, 31, 4);
    case 6:
        return one_block(seed, 7, 0);
    case 7:
        return one_block(seed, 1, 2);
    case 8:
        return one_block(seed, 300, 9);
    case 9:
        return bodies(seed, 3, 60, 70, 6);
    default:
        return NULL;
    }
}

static int unknowns_of(const fixture *f)
{
    return f->p.n + f->p.equality_count;
}

/* The matrix, all of it, and in `size` (one number) its largest entry. */
static double assemble_densely(fixture *f)
{
    const perp_contact_qp *p = &f->p;
    const int n = unknowns_of(f);
    double *m = f->dense, size = 0.0;
    memset(m, 0, (size_t)(n * n) * sizeof *m);
    const double *h = p->hessian, *jacobian = p->jacobian, *omega = f->omega;
    for (int k = 0; k < p->block_count; k++) {
        const int first = p->block_start[k], end_of = p->block_start[k + 1];
        for (int i = first; i < end_of; i++) {
            for (int j = first; j < end_of; j++) {
                m[i * n + j] = *h++;
            }
        }
    }
    for (int c = 0; c < p->contact_count; c++) {
        const int rows = p->row_start[c + 1] - p->row_start[c], columns = p->dof_start[c + 1] - p->dof_start[c];
        const int *dofs = p->dofs + p->dof_start[c];
        for (int a = 0; a < columns * columns; a++) {
            double sum = 0.0;
            for (int k = 0; k < rows * rows; k++) {
                sum +=
                    jacobian[k / rows * columns + a / columns] * omega[k] * jacobian[k % rows * columns + a % columns];
            }
            m[dofs[a / columns] * n + dofs[a % columns]] += sum;
        }
        jacobian += rows * columns;
        omega += rows * rows;
    }
    for (int i = 0; i < p->equality_count; i++) {
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            m[(p->n + i) * n + p->equality_dofs[k]] += p->equality_values[k];
            m[p->equality_dofs[k] * n + p->n + i] += p->equality_values[k];
        }
    }
    for (int i = 0; i < n; i++) {
        m[i * n + i] += f->diagonal[i];
    }
    for (int i = 0; i < n * n; i++) {
        size = fmax(size, fabs(m[i]));
    }
    return size;
}

/* The entry of two unknowns in the panels; 0 where the pattern has none. */
static double panel_entry(const perp_kkt *kkt, int i, int j)
{
    const int a = kkt->position[i], b = kkt->position[j], row = a > b ? a : b, column = a > b ? b : a;
    int s = 0;
    while (kkt->super_first[s + 1] <= column) {
        s++;
    }
    const int first = kkt->super_first[s], width = kkt->super_first[s + 1] - first;
    const double *panel = kkt->panels + kkt->panel_start[s] + (column - first) * kkt->panel_rows[s];
    if (row < first + width) {
        return panel[row - first];
    }
    for (int q = kkt->super_runs[s]; q < kkt->super_runs[s + 1]; q++) {
        const perp_kkt_run *run = &kkt->runs[q];
        if (row >= run->place && row < run->place + run->length) {
            return panel[run->row + row - run->place];
        }
    }
    return 0.0;
}

static double backward_error(int n, const double *m, double size, const double *x, const double *rhs)
{
    double worst = 0.0, x_size = 0.0;
    for (int i = 0; i < n; i++) {
        double sum = -rhs[i];
        for (int j = 0; j < n; j++) {
            sum += m[i * n + j] * x[j];
        }
        worst = fmax(worst, fabs(sum));
        x_size = fmax(x_size, fabs(x[i]));
    }
    return worst / (n * size * x_size + 1.0);
}

static void prepare(fixture *f, perp_kkt *kkt)
{
    perp_error error;
    assert_int_equal(perp_kkt_analyse(kkt, &f->p, &error), PERP_STATUS_OK);
    perp_kkt_set_base(kkt, &f->p, 1.0, 0.0);
    perp_kkt_assemble(kkt, &f->p, f->omega, f->diagonal);
}

static void compare(fixture *f, perp_kkt *kkt)
{
    const int n = unknowns_of(f);
    const double size = assemble_densely(f), tolerance = 1e-14 * size; /* sums of some ten terms no larger than it */
    double *x = room((size_t)n, sizeof *x), *y = room((size_t)n, sizeof *y);
    int *pivots = room((size_t)n, sizeof *pivots);
    prepare(f, kkt);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            assert_true(fabs(panel_entry(kkt, i, j) - f->dense[i * n + j]) <= tolerance);
        }
    }
    perp_kkt_factor(kkt);
    assert_int_equal(kkt->mended, 0);
    memcpy(x, f->rhs, (size_t)n * sizeof *x);
    memcpy(y, f->rhs, (size_t)n * sizeof *y);
    perp_kkt_solve(kkt, x);
    assert_true(backward_error(n, f->dense, size, x, f->rhs) < 1e-14);
    assert_int_equal(perp_lu_factor(n, f->dense, n, pivots, NULL), PERP_STATUS_OK);
    perp_lu_solve(n, f->dense, n, pivots, y);
    for (int i = 0; i < n; i++) {
        assert_true(fabs(x[i] - y[i]) <= 1e-10); /* entries of some 1, condition below 1e4 */
    }
    free(x);
    free(y);
    free(pivots);
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */

static void dense_and_sparse_agree(void **state)
{
    (void)state;
    perp_kkt kkt;
    perp_kkt_init(&kkt, NULL);
    kkt.may_grow = true;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        fixture *f;
        for (int which = 0; (f = make(which, 100 * seed + (uint64_t)which)) != NULL; which++) {
            compare(f, &kkt);
            f->p.rays = NULL; /* the matrix does not look at them */
            memcpy(f->slack_start, f->row_start, sizeof f->slack_start);
            compare(f, &kkt);
            end(f);
        }
    }
    perp_kkt_free(&kkt);
}

static void kernels_agree_to_the_bit(void **state)
{
    (void)state;
    for (int which = 0;; which++) {
        fixture *f = make(which, 7 + (uint64_t)which);
        if (!f) {
            return;
        }
        const size_t n = (size_t)unknowns_of(f);
        const perp_kkt_kernel *kernels[3] = {&perp_kkt_plain_kernel, perp_kkt_best_kernel(), perp_kkt_best_kernel()};
        perp_kkt kkt[3];
        double *x[3];
        for (int k = 0; k < 3; k++) {
            perp_kkt_init(&kkt[k], NULL);
            kkt[k].may_grow = true;
            kkt[k].kernel = kernels[k];
            x[k] = room(n, sizeof(double));
            memcpy(x[k], f->rhs, n * sizeof(double));
            prepare(f, &kkt[k]);
            perp_kkt_factor(&kkt[k]);
            perp_kkt_solve(&kkt[k], x[k]);
            assert_memory_equal(x[0], x[k], n * sizeof(double));
            assert_memory_equal(kkt[0].panels, kkt[k].panels, (size_t)kkt[0].panel_length * sizeof(double));
            assert_int_equal(kkt[0].products.bytes, kkt[k].products.bytes);
            for (int g = 0; g < kkt[0].group_count; g++) {
                const int first = kkt[0].group_first[g], last = kkt[0].group_first[g + 1];
                const int length = 2 * (f->slack_start[last] - f->slack_start[first]) *
                                   (f->dof_start[first + 1] - f->dof_start[first]);
                if (kkt[0].packed_start[g] >= 0 && length > 0) {
                    assert_memory_equal(kkt[0].packed + kkt[0].packed_start[g], kkt[k].packed + kkt[k].packed_start[g],
                                        (size_t)length * sizeof(double));
                }
            }
        }
        for (int k = 0; k < 3; k++) {
            perp_kkt_free(&kkt[k]);
            free(x[k]);
        }
        end(f);
    }
}

/* R J and its transposed, of every group of few columns. */
static void packed_products_are_r_times_j(void **state)
{
    (void)state;
    fixture *f = make(0, 5);
    perp_kkt kkt;
    perp_kkt_init(&kkt, NULL);
    kkt.may_grow = true;
    prepare(f, &kkt);
    const double *jacobian = f->jacobian, *rays = f->rays;
    for (int g = 0; g < kkt.group_count; g++) {
        const int begin_of = kkt.group_first[g], end_of = kkt.group_first[g + 1];
        const int slacks = f->slack_start[end_of] - f->slack_start[begin_of];
        assert_true(kkt.packed_start[g] >= 0);
        const double *packed = kkt.packed + kkt.packed_start[g];
        int slack = 0;
        for (int i = begin_of; i < end_of; i++) {
            const int rows = f->row_start[i + 1] - f->row_start[i], columns = f->dof_start[i + 1] - f->dof_start[i];
            for (int k = f->slack_start[i]; k < f->slack_start[i + 1]; k++, slack++, rays += rows) {
                for (int c = 0; c < columns; c++) {
                    double sum = 0.0;
                    for (int r = 0; r < rows; r++) {
                        sum += rays[r] * jacobian[r * columns + c];
                    }
                    assert_true(fabs(packed[slack * columns + c] - sum) <= 4.0 * DBL_EPSILON * rows);
                    assert_true(packed[slack * columns + c] == packed[slacks * columns + c * slacks + slack]);
                }
            }
            jacobian += rows * columns;
        }
    }
    perp_kkt_free(&kkt);
    end(f);
}

/* Every shape up to beyond the largest tile; nothing is written outside. */
static void a_product_of_any_shape_is_right(void **state)
{
    (void)state;
    enum { MOST = 20, GUARD = 3 };
    double a[MOST * MOST], u[MOST * MOST], dest[2][MOST * MOST];
    const perp_kkt_kernel *kernels[2] = {&perp_kkt_plain_kernel, perp_kkt_best_kernel()};
    for (int k = 0; k < MOST * MOST; k++) {
        a[k] = sin(1.0 + k);
        u[k] = cos(2.0 * k);
    }
    for (int shape = 0; shape < 8 * 18 * 8; shape++) {
        const int rows = shape % 8, columns = shape / 8 % 18, count = shape / (8 * 18);
        for (int v = 0; v < 2; v++) {
            for (int k = 0; k < MOST * MOST; k++) {
                dest[v][k] = k;
            }
            const perp_kkt_product p = {rows, columns, count, a, u, dest[v] + GUARD, MOST, MOST, MOST};
            kernels[v]->add_product(&p);
        }
        assert_memory_equal(dest[0], dest[1], sizeof dest[0]);
        for (int k = 0; k < MOST * MOST; k++) {
            const int i = (k - GUARD) / MOST, j = (k - GUARD) % MOST;
            double sum = k;
            for (int l = 0; l < count && k >= GUARD && i < rows && j < columns; l++) {
                sum += a[l * MOST + i] * u[l * MOST + j];
            }
            assert_true(fabs(dest[0][k] - sum) <= 1e-13 * (1.0 + k));
        }
    }
}

/* Every number of columns up to beyond the widest strip and its remainders; nothing is written behind them. Terms are
 * no larger than 1, and there are up to 24 of them beside an entry of 1. */
static void combined_rows_are_their_sum(void **state)
{
    (void)state;
    enum { MOST_COLUMNS = 50, MOST_ROWS = 24, GUARD = 2 };
    double x[MOST_ROWS], rows[MOST_ROWS * MOST_COLUMNS], out[2][MOST_COLUMNS + GUARD];
    const perp_kkt_kernel *kernels[2] = {&perp_kkt_plain_kernel, perp_kkt_best_kernel()};
    for (int k = 0; k < MOST_ROWS * MOST_COLUMNS; k++) {
        rows[k] = sin(1.0 + k);
        x[k % MOST_ROWS] = cos(2.0 * k);
    }
    for (int shape = 0; shape < 2 * (MOST_ROWS + 1) * (MOST_COLUMNS + 1); shape++) {
        const bool add = shape % 2;
        const int count = shape / 2 % (MOST_ROWS + 1), columns = shape / 2 / (MOST_ROWS + 1);
        for (int v = 0; v < 2; v++) {
            for (int j = 0; j < MOST_COLUMNS + GUARD; j++) {
                out[v][j] = cos(j);
            }
            kernels[v]->combine(count, columns, x, rows, add, out[v]);
        }
        assert_memory_equal(out[0], out[1], sizeof out[0]);
        for (int j = 0; j < MOST_COLUMNS + GUARD; j++) {
            double sum = add || j >= columns ? cos(j) : 0.0;
            for (int k = 0; k < count && j < columns; k++) {
                sum += x[k] * rows[k * columns + j];
            }
            assert_true(fabs(out[0][j] - sum) <= (j < columns ? MOST_ROWS * MOST_ROWS * DBL_EPSILON : 0.0));
        }
    }
}

/* omega = R' diag(w) R of any number of contacts, from the products of their rays; weights of all sizes, as the
 * interior point has them. */
static void weighed_squares_are_r_w_r(void **state)
{
    (void)state;
    enum { MOST = 7, GUARD = 9 };
    double rays[MOST * 12], squares[MOST * 36], w[MOST * 4], omega[2][MOST * 9 + GUARD];
    const perp_kkt_kernel *kernels[2] = {&perp_kkt_plain_kernel, perp_kkt_best_kernel()};
    perp_random random = {9};
    for (int k = 0; k < MOST * 4; k++) {
        w[k] = k % 5 == 4 ? 0.0 : pow(10.0, perp_random_uniform(&random, -8.0, 8.0));
        for (int r = 0; r < 3; r++) {
            rays[3 * k + r] = perp_random_uniform(&random, -1.0, 1.0);
        }
        for (int r = 0; r < 9; r++) {
            squares[9 * k + r] = rays[3 * k + r / 3] * rays[3 * k + r % 3];
        }
    }
    for (int contacts = 0; contacts <= MOST; contacts++) {
        for (int v = 0; v < 2; v++) {
            for (int k = 0; k < MOST * 9 + GUARD; k++) {
                omega[v][k] = k;
            }
            kernels[v]->weigh_squares(contacts, w, squares, omega[v]);
        }
        assert_memory_equal(omega[0], omega[1], sizeof omega[0]);
        for (int k = 0; k < MOST * 9 + GUARD; k++) {
            double sum = k < 9 * contacts ? 0.0 : k, size = 0.0;
            for (int ray = 0; ray < 4 && k < 9 * contacts; ray++) {
                const double *r = rays + 12 * (k / 9) + 3 * ray, weight = w[4 * (k / 9) + ray];
                sum += weight * r[k % 9 / 3] * r[k % 3];
                size += weight;
            }
            assert_true(fabs(omega[0][k] - sum) <= 4.0 * DBL_EPSILON * size);
        }
    }
}

/* Equations twice over, with a diagonal that rounding swallows: a pivot is mended, and the solution meets both. */
static void dependent_equations_are_mended(void **state)
{
    (void)state;
    fixture *f = bodies(3, 6, 6, 0, 1);
    const int n = f->p.n, length = f->equality_start[1];
    memcpy(f->equality_dofs + length, f->equality_dofs, (size_t)length * sizeof(int));
    memcpy(f->equality_values + length, f->equality_values, (size_t)length * sizeof(double));
    f->equality_start[2] = 2 * length;
    f->p.equality_count = 2;
    f->diagonal[n] = f->diagonal[n + 1] = -1e-30;
    f->rhs[n + 1] = f->rhs[n];
    perp_kkt kkt;
    perp_kkt_init(&kkt, NULL);
    kkt.may_grow = true;
    prepare(f, &kkt);
    perp_kkt_factor(&kkt);
    assert_int_equal(kkt.mended, 1);
    double x[MOST_UNKNOWNS];
    memcpy(x, f->rhs, sizeof x);
    perp_kkt_solve(&kkt, x);
    double sum = 0.0;
    for (int k = 0; k < length; k++) {
        sum += f->equality_values[k] * x[f->equality_dofs[k]];
    }
    assert_true(fabs(sum - f->rhs[n]) < 1e-12);
    perp_kkt_free(&kkt);
    end(f);
}

static void a_number_that_is_not_one_shows(void **state)
{
    (void)state;
    fixture *f = make(0, 11);
    perp_kkt kkt;
    perp_kkt_init(&kkt, NULL);
    kkt.may_grow = true;
    f->diagonal[4] = NAN;
    prepare(f, &kkt);
    perp_kkt_factor(&kkt);
    perp_kkt_solve(&kkt, f->rhs);
    assert_true(isnan(f->rhs[4]));
    perp_kkt_free(&kkt);
    end(f);
}

static void a_known_pattern_asks_for_nothing(void **state)
{
    (void)state;
    failing_allocator counted = {.grants = INT_MAX};
    const perp_allocator allocator = allocator_of(&counted);
    perp_kkt kkt;
    perp_kkt_init(&kkt, &allocator);
    kkt.may_grow = true;
    fixture *f = make(2, 21);
    compare(f, &kkt);
    const int requests = counted.requests;
    for (int k = 0; k < f->jacobian_length; k++) {
        f->jacobian[k] = number(f);
    }
    kkt.may_grow = false;
    compare(f, &kkt);
    assert_int_equal(counted.requests, requests);

    fixture *small = make(6, 3), *large = make(8, 4);
    compare(small, &kkt); /* what is there suffices */
    assert_int_equal(counted.requests, requests);
    perp_error error;
    assert_int_equal(perp_kkt_analyse(&kkt, &large->p, &error), PERP_STATUS_CAPACITY);
    assert_non_null(strstr(error.message, "reserve"));
    compare(f, &kkt);
    kkt.may_grow = true;
    compare(large, &kkt);
    perp_kkt_free(&kkt);
    assert_int_equal(counted.standing, 0);
    end(f);
    end(small);
    end(large);
}

static void analysis_survives_every_refusal(void **state)
{
    (void)state;
    fixture *f = make(2, 31);
    for (int once = 0; once < 2; once++) {
        for (int grants = 0;; grants++) {
            failing_allocator failing = {.grants = grants, .once = once != 0};
            const perp_allocator allocator = allocator_of(&failing);
            perp_kkt kkt;
            perp_error error;
            perp_kkt_init(&kkt, &allocator);
            kkt.may_grow = true;
            const perp_status status = perp_kkt_analyse(&kkt, &f->p, &error);
            if (status == PERP_STATUS_OUT_OF_MEMORY && once) {
                compare(f, &kkt); /* it is not left with half a pattern */
            }
            perp_kkt_free(&kkt);
            assert_int_equal(failing.standing, 0);
            if (status == PERP_STATUS_OK) {
                assert_true(grants >= 5);
                break;
            }
            assert_int_equal(status, PERP_STATUS_OUT_OF_MEMORY);
        }
    }
    end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_and_sparse_agree),           cmocka_unit_test(kernels_agree_to_the_bit),
        cmocka_unit_test(packed_products_are_r_times_j),    cmocka_unit_test(a_product_of_any_shape_is_right),
        cmocka_unit_test(combined_rows_are_their_sum),      cmocka_unit_test(weighed_squares_are_r_w_r),
        cmocka_unit_test(dependent_equations_are_mended),   cmocka_unit_test(a_number_that_is_not_one_shows),
        cmocka_unit_test(a_known_pattern_asks_for_nothing), cmocka_unit_test(analysis_survives_every_refusal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
