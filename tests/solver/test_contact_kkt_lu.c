/* L U of contact systems with unsymmetric weights beside the dense matrix written out: bodies, trees wide enough for
 * several blocks of pivots, equations. Tolerances are backward errors, a multiple of n DBL_EPSILON of the terms. */
#include "failing_allocator.h"

#include <perp/linalg.h>

#include "solver/contact_kkt_lu.h"

#include <float.h>
#include <math.h>

enum { MOST = 200, CONTACTS = 60 };

typedef struct fixture {
    perp_random random;
    perp_contact_qp p;
    int block_start[40], row_start[CONTACTS + 1], dof_start[CONTACTS + 1], dofs[CONTACTS * 64];
    int equality_start[4], equality_dofs[64];
    double hessian[MOST * MOST], jacobian[CONTACTS * 3 * 64], equality_values[64], g[MOST];
    double omega[CONTACTS * 9], diagonal[MOST], dense[MOST * MOST], rhs[MOST];
} fixture;

static double number(fixture *f)
{
    return perp_random_uniform(&f->random, -1.0, 1.0);
}

/* `sizes` ends with 0. */
static void make_blocks(fixture *f, const int *sizes)
{
    double *h = f->hessian;
    int blocks = 0, n = 0;
    for (; sizes[blocks] > 0; blocks++) {
        const int size = sizes[blocks];
        f->block_start[blocks] = n;
        n += size;
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++) {
                h[i * size + j] = i == j ? 2.0 : 0.5 / size;
            }
        }
        h += size * size;
    }
    f->block_start[blocks] = n;
    f->p = (perp_contact_qp){.n = n,
                             .block_count = blocks,
                             .block_start = f->block_start,
                             .hessian = f->hessian,
                             .g = f->g,
                             .row_start = f->row_start,
                             .slack_start = f->row_start,
                             .dof_start = f->dof_start,
                             .dofs = f->dofs,
                             .jacobian = f->jacobian};
}

/* A contact of blocks a and b (a < b, or the same) with `rows` rows and an Omega that is I + something unsymmetric. */
static void add_contact(fixture *f, int a, int b, int rows)
{
    const int k = f->p.contact_count++;
    int at = f->dof_start[k], jac = 0, omega = 0;
    for (int i = 0; i < k; i++) {
        const int r = f->row_start[i + 1] - f->row_start[i];
        jac += r * (f->dof_start[i + 1] - f->dof_start[i]);
        omega += r * r;
    }
    for (int i = f->block_start[a]; i < f->block_start[a + 1]; i++) {
        f->dofs[at++] = i;
    }
    for (int i = f->block_start[b]; a != b && i < f->block_start[b + 1]; i++) {
        f->dofs[at++] = i;
    }
    f->row_start[k + 1] = f->row_start[k] + rows;
    f->dof_start[k + 1] = at;
    for (int i = 0; i < rows * (at - f->dof_start[k]); i++) {
        f->jacobian[jac + i] = number(f);
    }
    for (int i = 0; i < rows * rows; i++) {
        f->omega[omega + i] = (i % (rows + 1) == 0 ? 1.0 : 0.0) + 0.8 * number(f);
    }
}

static void write_out(fixture *f)
{
    const perp_contact_qp *p = &f->p;
    const int size = p->n + p->equality_count;
    const double *h = p->hessian, *jacobian = p->jacobian, *omega = f->omega;
    memset(f->dense, 0, sizeof f->dense);
    for (int k = 0; k < p->block_count; k++) {
        const int first = p->block_start[k], count = p->block_start[k + 1] - first;
        for (int i = 0; i < count * count; i++) {
            f->dense[(first + i / count) * size + first + i % count] += *h++;
        }
    }
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i], columns = p->dof_start[i + 1] - p->dof_start[i];
        const int *dofs = p->dofs + p->dof_start[i];
        for (int a = 0; a < columns; a++) {
            for (int b = 0; b < columns; b++) {
                for (int r = 0; r < rows * rows; r++) {
                    f->dense[dofs[a] * size + dofs[b]] +=
                        jacobian[r / rows * columns + a] * omega[r] * jacobian[r % rows * columns + b];
                }
            }
        }
        jacobian += rows * columns;
        omega += rows * rows;
    }
    for (int i = 0; i < p->equality_count; i++) {
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            f->dense[(p->n + i) * size + p->equality_dofs[k]] += p->equality_values[k];
            f->dense[p->equality_dofs[k] * size + p->n + i] += p->equality_values[k];
        }
    }
    for (int i = 0; i < size; i++) {
        f->dense[i * size + i] += f->diagonal[i];
    }
}

/* Solves twice with the same analysis and compares b - M x with the size of its terms. */
static void check(fixture *f)
{
    const int size = f->p.n + f->p.equality_count;
    perp_kkt kkt;
    perp_kkt_lu lu = {0};
    perp_kkt_init(&kkt, NULL);
    kkt.may_grow = true;
    assert_int_equal(perp_kkt_analyse(&kkt, &f->p, NULL), PERP_STATUS_OK);
    perp_kkt_set_base(&kkt, &f->p, 1.0, 0.0);
    assert_int_equal(perp_kkt_lu_setup(&lu, &kkt), PERP_STATUS_OK);
    for (int round = 0; round < 2; round++) {
        double x[MOST];
        for (int i = 0; i < size; i++) {
            f->diagonal[i] = i < f->p.n ? 0.1 : -0.1;
            x[i] = f->rhs[i] = number(f);
        }
        write_out(f);
        perp_kkt_lu_assemble(&lu, &f->p, f->omega, f->diagonal);
        perp_kkt_lu_factor(&lu);
        assert_int_equal(lu.mended, 0);
        perp_kkt_lu_solve(&lu, x);
        for (int i = 0; i < size; i++) {
            double left = f->rhs[i], terms = fabs(f->rhs[i]);
            for (int j = 0; j < size; j++) {
                left -= f->dense[i * size + j] * x[j];
                terms += fabs(f->dense[i * size + j] * x[j]);
            }
            assert_true(fabs(left) <= 1e4 * size * DBL_EPSILON * terms); /* growth without pivoting: seen 1e2 */
        }
    }
    perp_kkt_lu_free(&lu);
    perp_kkt_free(&kkt);
}

static fixture *begin(uint64_t seed, const int *sizes)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->random = (perp_random){seed};
    make_blocks(f, sizes);
    return f;
}

static void chains_and_grids(void **state)
{
    (void)state;
    fixture *f = begin(1, (const int[]){6, 6, 3, 6, 6, 6, 0});
    for (int k = 0; k < 5; k++) {
        add_contact(f, k, k + 1, 3);
        add_contact(f, k, k + 1, 3);
        add_contact(f, k, k, 1 + k % 3);
    }
    check(f);
    add_contact(f, 0, 5, 3);
    add_contact(f, 1, 4, 2);
    check(f);
    free(f);
}

static void a_wide_tree(void **state)
{
    (void)state;
    fixture *f = begin(2, (const int[]){6, 6, 6, 6, 58, 0});
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 10; i++) { /* more rows than are taken at once */
            add_contact(f, k, 4, 3);
        }
    }
    f->equality_start[1] = 3;
    f->equality_start[2] = 5;
    memcpy(f->equality_dofs, (const int[]){0, 13, 40, 2, 60}, 5 * sizeof(int));
    memcpy(f->equality_values, (const double[]){1.0, -0.5, 2.0, 1.0, 1.0}, 5 * sizeof(double));
    f->p.equality_count = 2;
    f->p.equality_start = f->equality_start;
    f->p.equality_dofs = f->equality_dofs;
    f->p.equality_values = f->equality_values;
    check(f);
    free(f);
}

/* With symmetric weights both factorisations solve the same system. */
static void agrees_with_the_symmetric_one(void **state)
{
    (void)state;
    fixture *f = begin(3, (const int[]){6, 6, 6, 0});
    add_contact(f, 0, 1, 3);
    add_contact(f, 1, 2, 3);
    add_contact(f, 0, 2, 3);
    for (int i = 0; i < 27; i++) {
        f->omega[i] = i % 9 % 4 == 0 ? 2.0 : 0.25;
    }
    perp_kkt kkt;
    perp_kkt_lu lu = {0};
    double x[18], y[18];
    perp_kkt_init(&kkt, NULL);
    kkt.may_grow = true;
    assert_int_equal(perp_kkt_analyse(&kkt, &f->p, NULL), PERP_STATUS_OK);
    perp_kkt_set_base(&kkt, &f->p, 1.0, 0.0);
    assert_int_equal(perp_kkt_lu_setup(&lu, &kkt), PERP_STATUS_OK);
    for (int i = 0; i < 18; i++) {
        x[i] = y[i] = number(f);
    }
    perp_kkt_assemble(&kkt, &f->p, f->omega, f->diagonal);
    perp_kkt_factor(&kkt);
    perp_kkt_solve(&kkt, x);
    perp_kkt_lu_assemble(&lu, &f->p, f->omega, f->diagonal);
    perp_kkt_lu_factor(&lu);
    perp_kkt_lu_solve(&lu, y);
    for (int i = 0; i < 18; i++) {
        assert_true(fabs(x[i] - y[i]) <= 1e-12); /* condition below 1e3 */
    }
    perp_kkt_lu_free(&lu);
    perp_kkt_free(&kkt);
    free(f);
}

static void takes_no_memory_unless_it_may(void **state)
{
    (void)state;
    fixture *f = begin(4, (const int[]){6, 6, 0});
    add_contact(f, 0, 1, 3);
    perp_kkt kkt;
    perp_kkt_lu lu = {0};
    perp_kkt_init(&kkt, NULL);
    kkt.may_grow = true;
    assert_int_equal(perp_kkt_analyse(&kkt, &f->p, NULL), PERP_STATUS_OK);
    perp_kkt_set_base(&kkt, &f->p, 1.0, 0.0);
    kkt.may_grow = false;
    assert_int_equal(perp_kkt_lu_setup(&lu, &kkt), PERP_STATUS_CAPACITY);
    kkt.may_grow = true;
    assert_int_equal(perp_kkt_lu_setup(&lu, &kkt), PERP_STATUS_OK);
    perp_kkt_lu_free(&lu);
    perp_kkt_free(&kkt);
    free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_and_grids),
        cmocka_unit_test(a_wide_tree),
        cmocka_unit_test(agrees_with_the_symmetric_one),
        cmocka_unit_test(takes_no_memory_unless_it_may),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
