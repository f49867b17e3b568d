/* A qp or a cone qp and the contact qp made of it are the same problem: residual, objective and certificates agree. */
#include "convex_test.h"
#include "problem/checks.h"
#include "problem/conversions.h"
#include "problem/objectives.h"

enum { N = 24, ROWS = 60, EQUALITIES = 4 };

typedef struct store {
    perp_contact_qp_arrays arrays;
    double h[N * N], g[N], a[ROWS * N], b[ROWS], c[EQUALITIES * N], d[EQUALITIES], lower[N], upper[N];
    double x[N], y[ROWS], y_equality[EQUALITIES], y_lower[N], y_upper[N];
    double back[4][N], y_back[ROWS], equality_back[EQUALITIES];
    double x_contact[N], lower_contact[N], upper_contact[N];
} store;

/* Exactly as long as `size` says, so that a sanitizer sees what goes beyond. */
static perp_contact_qp_arrays allocate(int n, int equalities, perp_contact_qp_size size)
{
#define ARRAY(type, count) calloc((size_t)(count), sizeof(type))
    const perp_contact_qp_arrays arrays = {
        ARRAY(int, n),
        ARRAY(int, n),
        ARRAY(int, size.blocks + 1),
        ARRAY(double, size.hessian),
        ARRAY(double, n),
        ARRAY(int, size.contacts + 1),
        ARRAY(int, size.contacts + 1),
        ARRAY(int, size.dofs),
        ARRAY(double, size.jacobian),
        ARRAY(double, size.rows),
        ARRAY(bool, size.contacts),
        ARRAY(int, equalities + 1),
        ARRAY(int, size.equality_entries),
        ARRAY(double, size.equality_entries),
        ARRAY(double, n),
        ARRAY(double, n),
    };
#undef ARRAY
    return arrays;
}

static void release(perp_contact_qp_arrays *a)
{
    void *all[] = {a->permutation, a->position,       a->block_start,   a->hessian,         a->g,
                   a->row_start,   a->dof_start,      a->dofs,          a->jacobian,        a->offset,
                   a->quadratic,   a->equality_start, a->equality_dofs, a->equality_values, a->lower,
                   a->upper};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        free(all[i]);
    }
}

static void draw_point(uint64_t *seed, store *s, int number)
{
    const double size = number % 5 == 0 ? 1e3 : 1.0;
    draw_vector(seed, N, size, s->x);
    draw_vector(seed, ROWS, size, s->y);
    draw_vector(seed, EQUALITIES, size, s->y_equality);
    draw_vector(seed, N, size, s->y_lower);
    draw_vector(seed, N, size, s->y_upper);
}

/* The point as the contact qp has it. */
static perp_convex_point permuted_point(int n, store *s)
{
    const perp_convex_point point = {s->x_contact, s->y, s->y_equality, s->lower_contact, s->upper_contact};
    for (int k = 0; k < n; k++) {
        const int j = s->arrays.permutation[k];
        assert_int_equal(s->arrays.position[j], k);
        point.x[k] = s->x[j];
        point.y_lower[k] = s->y_lower[j];
        point.y_upper[k] = s->y_upper[j];
    }
    return point;
}

/* What was counted is what was filled. */
static void assert_size(const perp_contact_qp *q, perp_contact_qp_size size)
{
    ptrdiff_t jacobian = 0, hessian = 0;
    for (int i = 0; i < q->contact_count; i++) {
        jacobian += (ptrdiff_t)(q->row_start[i + 1] - q->row_start[i]) * (q->dof_start[i + 1] - q->dof_start[i]);
    }
    for (int k = 0; k < q->block_count; k++) {
        const ptrdiff_t block = q->block_start[k + 1] - q->block_start[k];
        hessian += block * block;
    }
    assert_int_equal(q->contact_count, size.contacts);
    assert_int_equal(q->row_start[q->contact_count], size.rows);
    assert_int_equal(q->dof_start[q->contact_count], size.dofs);
    assert_int_equal(q->equality_start[q->equality_count], size.equality_entries);
    assert_true(jacobian == size.jacobian);
    assert_true(q->block_count <= size.blocks && (!q->hessian || hessian <= size.hessian));
    assert_ptr_equal(q->slack_start, q->row_start);
    assert_null(q->rays);
    for (ptrdiff_t k = 0; k < jacobian && q->contact_count == q->row_start[q->contact_count]; k++) {
        assert_true(q->jacobian[k] != 0.0); /* one row each: zeros are left out */
    }
    for (int k = 0; k < size.equality_entries; k++) {
        assert_true(q->equality_values[k] != 0.0);
    }
}

static void assert_same_bits(int n, const double *a, const double *b)
{
    assert_memory_equal(a, b, (size_t)n * sizeof *a);
}

static void random_qps(void **state)
{
    (void)state;
    static store s;
    uint64_t seed = 4;
    int moved = 0, grouped = 0;
    for (int k = 0; k < 300; k++) {
        const int n = draw_int(&seed, 1, N);
        const perp_qp p = {n,
                           k % 4 == 0 ? NULL : s.h,
                           s.g,
                           draw_int(&seed, 0, ROWS),
                           s.a,
                           s.b,
                           draw_int(&seed, 0, EQUALITIES),
                           s.c,
                           s.d,
                           k % 3 == 0 ? NULL : s.lower,
                           k % 5 == 0 ? NULL : s.upper};
        draw_hessian(&seed, n, draw_int(&seed, 1, 4), k % 2 * 3, s.h);
        draw_sparse(&seed, p.rows * n, k % 3 * 0.45, s.a);
        draw_sparse(&seed, p.equalities * n, 0.5, s.c);
        draw_vector(&seed, n, 1.0, s.g);
        draw_vector(&seed, ROWS, 1.0, s.b);
        draw_vector(&seed, EQUALITIES, 1.0, s.d);
        draw_bounds(&seed, n, s.lower, s.upper);
        draw_point(&seed, &s, k);

        perp_contact_qp q;
        perp_error error;
        const perp_contact_qp_size size = perp_qp_as_contact_qp_size(&p);
        s.arrays = allocate(n, p.equalities, size);
        perp_qp_as_contact_qp(&p, &s.arrays, &q);
        ASSERT_STATUS(PERP_STATUS_OK, perp_contact_qp_check(&q, &error));
        assert_size(&q, size);
        const perp_convex_point point = {s.x, s.y, s.y_equality, s.y_lower, s.y_upper};
        const perp_convex_point there = permuted_point(n, &s);
        assert_residuals_near(perp_contact_qp_residual(&q, &there), perp_qp_residual(&p, &point), k);
        assert_near(perp_contact_qp_objective(&q, there.x), perp_qp_objective(&p, s.x), "objective", k);
        assert_near(perp_contact_qp_infeasibility(&q, &there), perp_qp_infeasibility(&p, &point), "infeasibility", k);
        assert_near(perp_contact_qp_unboundedness(&q, there.x), perp_qp_unboundedness(&p, s.x), "unboundedness", k);

        const perp_convex_point back = {s.back[0], s.y_back, s.equality_back, p.lower ? s.back[1] : NULL,
                                        p.upper ? s.back[2] : NULL};
        perp_qp_from_contact_qp(&p, &s.arrays, &there, &back);
        assert_same_bits(n, back.x, s.x);
        assert_same_bits(p.rows, back.y, s.y);
        assert_same_bits(p.equalities, back.y_equality, s.y_equality);
        assert_same_bits(p.lower ? n : 0, back.y_lower, s.y_lower);
        assert_same_bits(p.upper ? n : 0, back.y_upper, s.y_upper);
        moved += memcmp(s.x, s.x_contact, (size_t)n * sizeof *s.x) != 0 ? 1 : 0;
        grouped += size.contacts < size.rows ? 1 : 0;
        release(&s.arrays);
    }
    assert_true(moved > 50 && grouped > 50); /* both happen */
}

static void random_cone_qps(void **state)
{
    (void)state;
    static store s;
    uint64_t seed = 5;
    for (int k = 0; k < 300; k++) {
        const int n = draw_int(&seed, 1, N), cones = draw_int(&seed, 0, 10);
        int cone_rows[10], rows = 0;
        for (int i = 0; i < cones; i++) {
            cone_rows[i] = draw_int(&seed, 1, 6);
            rows += cone_rows[i];
        }
        const perp_cone_qp p = {n,   k % 4 == 0 ? NULL : s.h,        s.g, cones, cone_rows, s.a,
                                s.b, draw_int(&seed, 0, EQUALITIES), s.c, s.d};
        draw_hessian(&seed, n, draw_int(&seed, 1, 4), k % 2 * 3, s.h);
        draw_sparse(&seed, rows * n, k % 3 * 0.45, s.a);
        draw_sparse(&seed, p.equalities * n, 0.5, s.c);
        draw_vector(&seed, n, 1.0, s.g);
        draw_vector(&seed, ROWS, 1.0, s.b);
        draw_vector(&seed, EQUALITIES, 1.0, s.d);
        draw_point(&seed, &s, k);

        perp_contact_qp q;
        perp_error error;
        const perp_contact_qp_size size = perp_cone_qp_as_contact_qp_size(&p);
        s.arrays = allocate(n, p.equalities, size);
        perp_cone_qp_as_contact_qp(&p, &s.arrays, &q);
        ASSERT_STATUS(PERP_STATUS_OK, perp_contact_qp_check(&q, &error));
        assert_size(&q, size);
        for (int i = 0; i < cones; i++) {
            assert_int_equal(q.row_start[i + 1] - q.row_start[i], cone_rows[i]);
            assert_true(q.quadratic[i] == (cone_rows[i] > 1));
        }
        const perp_convex_point point = {s.x, s.y, s.y_equality, NULL, NULL};
        const perp_convex_point there = permuted_point(n, &s);
        assert_residuals_near(perp_contact_qp_residual(&q, &there), perp_cone_qp_residual(&p, &point), k);
        assert_near(perp_contact_qp_objective(&q, there.x), perp_cone_qp_objective(&p, s.x), "objective", k);
        assert_near(perp_contact_qp_infeasibility(&q, &there), perp_cone_qp_infeasibility(&p, &point), "infeasibility",
                    k);
        assert_near(perp_contact_qp_unboundedness(&q, there.x), perp_cone_qp_unboundedness(&p, s.x), "unboundedness",
                    k);

        const perp_convex_point back = {s.back[0], s.y_back, s.equality_back, NULL, NULL};
        perp_cone_qp_from_contact_qp(&p, &s.arrays, &there, &back);
        assert_same_bits(n, back.x, s.x);
        assert_same_bits(rows, back.y, s.y);
        assert_same_bits(p.equalities, back.y_equality, s.y_equality);
        release(&s.arrays);
    }
}

/* H couples 0 with 2 and 1 with 4, the latter on one side of the diagonal only by a rounding error; 3 stands alone.
 * Six rows on {0, 2} and one on {3} after them. */
static void blocks_and_groups(void **state)
{
    (void)state;
    double h[25] = {0.0}, g[5] = {0.0, 1.0, 2.0, 3.0, 4.0}, a[35] = {0.0}, b[7] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0};
    for (int i = 0; i < 5; i++) {
        h[6 * i] = 10.0 + i;
    }
    h[0 * 5 + 2] = h[2 * 5 + 0] = 1.0;
    h[4 * 5 + 1] = 1e-12;
    for (int i = 0; i < 6; i++) {
        a[5 * i] = 1.0 + i;
        a[5 * i + 2] = -1.0;
    }
    a[6 * 5 + 3] = 1.0;
    const perp_qp p = {.n = 5, .h = h, .g = g, .rows = 7, .a = a, .b = b};
    const perp_contact_qp_size size = perp_qp_as_contact_qp_size(&p);
    perp_contact_qp_arrays arrays = allocate(5, 0, size);
    perp_contact_qp q;
    perp_qp_as_contact_qp(&p, &arrays, &q);
    static const int permutation[5] = {0, 2, 1, 4, 3}, starts[4] = {0, 2, 4, 5};
    static const int row_start[4] = {0, 4, 6, 7}, dofs[5] = {0, 1, 0, 1, 4};
    static const double hessian[9] = {10.0, 1.0, 1.0, 12.0, 11.0, 0.0, 1e-12, 14.0, 13.0};
    static const double offset[7] = {-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0};
    assert_int_equal(q.block_count, 3);
    assert_memory_equal(arrays.permutation, permutation, sizeof permutation);
    assert_memory_equal(q.block_start, starts, sizeof starts);
    assert_memory_equal(q.hessian, hessian, sizeof hessian);
    assert_int_equal(q.contact_count, 3);
    assert_memory_equal(q.row_start, row_start, sizeof row_start);
    assert_memory_equal(q.dofs, dofs, sizeof dofs);
    assert_same_bits(7, q.offset, offset);
    release(&arrays);
    /* A dense H is one block, and nothing moves; without H every unknown is its own. */
    for (int i = 0; i < 25; i++) {
        h[i] += 1.0;
    }
    arrays = allocate(5, 0, size);
    perp_qp_as_contact_qp(&p, &arrays, &q);
    assert_int_equal(q.block_count, 1);
    assert_same_bits(25, q.hessian, h);
    assert_same_bits(5, q.g, g);
    const perp_qp flat = {.n = 5, .g = g, .rows = 7, .a = a, .b = b};
    perp_qp_as_contact_qp(&flat, &arrays, &q);
    assert_int_equal(q.block_count, 5);
    assert_null(q.hessian);
    assert_same_bits(5, q.g, g);
    release(&arrays);
}

/* The projection on a cone (test_cone_qp.c) with its solution, and an infeasible qp with its certificate. */
static void solutions_stay_solutions(void **state)
{
    (void)state;
    const double identity[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, g[3] = {0.0, -3.0, -4.0};
    const double zero[3] = {0.0, 0.0, 0.0};
    const int three[1] = {3};
    double x[3] = {2.5, 1.5, 2.0}, y[3] = {2.5, -1.5, -2.0};
    const perp_cone_qp projection = {3, identity, g, 1, three, identity, zero, 0, NULL, NULL};
    perp_contact_qp_arrays arrays = allocate(3, 0, perp_cone_qp_as_contact_qp_size(&projection));
    perp_contact_qp q;
    perp_cone_qp_as_contact_qp(&projection, &arrays, &q);
    const perp_convex_point point = {.x = x, .y = y};
    assert_true(perp_convex_residual_largest(perp_contact_qp_residual(&q, &point)) == 0.0);
    assert_int_equal(q.block_count, 3);
    release(&arrays);

    const double rows[2] = {1.0, -1.0}, one[2] = {1.0, 1.0}, down[1] = {-1.0};
    double both[2] = {2.0, 2.0};
    const perp_qp crossed = {.n = 1, .g = zero, .rows = 2, .a = rows, .b = one};
    const perp_qp open = {.n = 1, .g = down, .rows = 1, .a = rows, .b = one};
    const perp_convex_point certificate = {.y = both};
    arrays = allocate(1, 0, perp_qp_as_contact_qp_size(&crossed));
    perp_qp_as_contact_qp(&crossed, &arrays, &q);
    assert_true(perp_contact_qp_infeasibility(&q, &certificate) == 0.0);
    perp_qp_as_contact_qp(&open, &arrays, &q);
    assert_true(perp_contact_qp_unboundedness(&q, both) == 0.0);
    release(&arrays);
}

static void nothing_is_nothing(void **state)
{
    (void)state;
    const perp_qp qp = {0};
    const perp_cone_qp cone_qp = {0};
    int starts[4][1];
    const perp_contact_qp_arrays arrays = {
        .block_start = starts[0], .row_start = starts[1], .dof_start = starts[2], .equality_start = starts[3]};
    const perp_convex_point point = {0};
    perp_contact_qp q;
    perp_error error;
    perp_qp_as_contact_qp(&qp, &arrays, &q);
    ASSERT_STATUS(PERP_STATUS_OK, perp_contact_qp_check(&q, &error));
    assert_true(perp_convex_residual_largest(perp_contact_qp_residual(&q, &point)) == 0.0);
    perp_cone_qp_as_contact_qp(&cone_qp, &arrays, &q);
    ASSERT_STATUS(PERP_STATUS_OK, perp_contact_qp_check(&q, &error));
    assert_true(perp_convex_residual_largest(perp_contact_qp_residual(&q, &point)) == 0.0);
    assert_int_equal(perp_qp_as_contact_qp_size(&qp).contacts, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_qps),         cmocka_unit_test(random_cone_qps),
        cmocka_unit_test(blocks_and_groups),  cmocka_unit_test(solutions_stay_solutions),
        cmocka_unit_test(nothing_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
