/* The nearest point of a polyhedron, row after row: the same as the dual active set of the solver layer finds from its
 * beginning, and the same proof that there is none.
 *
 * Tolerance: the solver meets rows to 1e-9, and normals of the working set are as near as 1e-3 to dependent, which the
 * point feels a thousandfold: 1e-6. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "step/rigid/nearest_point.h"

enum { N = 9, ROWS = 40, EQUATIONS = 3 };

typedef struct fixture {
    perp_allocator allocator;
    memory_block block;
    cone_program program;
    perp_dual_set state, copy;
    nearest_scratch scratch;
} fixture;

static void lay_out(fixture *f)
{
    perp_nearest_lay_out(&f->block, N, &f->state);
    perp_nearest_lay_out(&f->block, N, &f->copy);
    perp_nearest_lay_out_scratch(&f->block, N, &f->scratch);
}

static int open_fixture(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    f->allocator = perp_allocator_default();
    lay_out(f);
    assert_int_equal(perp_block_hold(&f->allocator, &f->block, NULL), PERP_STATUS_OK);
    lay_out(f);
    assert_int_equal(perp_cone_program_open(&f->program, &f->allocator, NULL), PERP_STATUS_OK);
    *state = f;
    return 0;
}

static int close_fixture(void **state)
{
    fixture *f = *state;
    perp_cone_program_close(&f->program);
    perp_block_free(&f->allocator, &f->block);
    free(f);
    return 0;
}

static void begin(fixture *f)
{
    assert_int_equal(perp_cone_program_begin(&f->program, N, ROWS, EQUATIONS, NULL), PERP_STATUS_OK);
    for (int i = 0; i < N; i++) {
        f->program.h[i * N + i] = 1.0;
    }
    perp_nearest_clear(&f->state, N);
}

/* A row that `inside` meets with some room, or with `wrong` misses. Every third repeats the one before but for a part
 * of 1e-3. */
static void add_row(fixture *f, perp_random *random, const double *inside, bool wrong)
{
    cone_program *p = &f->program;
    double *row = perp_cone_program_cone(p, 1), value = 0.0;
    const bool repeats = p->rows % 3 == 0;
    for (int i = 0; i < N; i++) {
        const double entry = perp_random_uniform(random, -1.0, 1.0);
        row[i] = repeats ? p->a[(p->rows - 2) * N + i] + 1e-3 * entry : entry;
        value += row[i] * inside[i];
    }
    p->b[p->rows - 1] = -value + (wrong ? -3.0 : perp_random_uniform(random, 0.0, 0.3));
    perp_nearest_scale(p, p->rows - 1, p->equations);
}

static void add_equation(fixture *f, perp_random *random, const double *inside)
{
    cone_program *p = &f->program;
    double *row = perp_cone_program_equation(p, 0.0);
    for (int i = 0; i < N; i++) {
        row[i] = perp_random_uniform(random, -1.0, 1.0);
        p->d[p->equations - 1] += row[i] * inside[i];
    }
    perp_nearest_scale(p, p->rows, p->equations - 1);
}

/* Against the solver, which starts anew. */
static bool compare(fixture *f)
{
    perp_convex_info info;
    const nearest_verdict verdict = perp_nearest_solve(&f->program, &f->state, &f->scratch);
    assert_int_equal(perp_cone_program_solve_dual(&f->program, 1e-9, &info, NULL), PERP_STATUS_OK);
    if (info.outcome == PERP_OUTCOME_INFEASIBLE) {
        assert_int_equal(verdict, NEAREST_NONE);
        return false;
    }
    assert_int_equal(info.outcome, PERP_OUTCOME_SOLVED);
    assert_int_equal(verdict, NEAREST_POINT);
    for (int i = 0; i < N; i++) {
        assert_true(fabs(f->state.x[i] - f->program.point.x[i]) <= 1e-6);
    }
    return true;
}

static void test_row_after_row(void **state)
{
    fixture *f = *state;
    int empty = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        perp_random random = {seed};
        double inside[N];
        for (int i = 0; i < N; i++) {
            inside[i] = perp_random_uniform(&random, -2.0, 2.0);
        }
        begin(f);
        bool has_point = true;
        for (int k = 0; k < ROWS && has_point; k++) {
            add_row(f, &random, inside, seed % 2 == 0 && k >= 20);
            if (k % 10 == 4 && f->program.equations < EQUATIONS) {
                add_equation(f, &random, inside);
            }
            has_point = compare(f);
            assert_true(has_point || seed % 2 == 0); /* `inside` meets all rows of the others */
        }
        empty += has_point ? 0 : 1;
    }
    assert_true(empty >= 10); /* of 30 with rows that exclude `inside` */
}

/* A child's rows leave no trace in the parent's state. */
static void test_copies_are_apart(void **state)
{
    fixture *f = *state;
    perp_random random = {5};
    const double inside[N] = {1.0, -2.0, 0.5};
    begin(f);
    for (int k = 0; k < 12; k++) {
        add_row(f, &random, inside, false);
    }
    assert_true(compare(f));
    const int rows = f->program.rows, cones = f->program.cones;
    perp_dual_set_copy(&f->copy, &f->state);
    for (int k = 0; k < 8; k++) {
        add_row(f, &random, inside, true);
    }
    (void)perp_nearest_solve(&f->program, &f->state, &f->scratch);
    f->program.rows = rows;
    f->program.cones = cones;
    perp_dual_set_copy(&f->state, &f->copy);
    for (int k = 0; k < 8; k++) {
        add_row(f, &random, inside, false);
        assert_true(compare(f));
    }
}

/* x_0 >= 1 and -x_0 >= 1, or -x_0 = 1: no point meets both, and a proof must miss by more than they may be off. */
static void test_slack_is_no_proof(void **state)
{
    fixture *f = *state;
    for (int k = 0; k < 4; k++) {
        const double slack = k % 2 == 0 ? 0.99 : 1.01; /* of each of the two, which are 2 apart */
        cone_program *p = &f->program;
        begin(f);
        perp_cone_program_cone(p, 1)[0] = 3.0; /* scaled to length 1, and the slack with it */
        p->b[0] = -3.0;
        p->b_slack[0] = 3.0 * slack;
        if (k < 2) {
            perp_cone_program_cone(p, 1)[0] = -1.0;
            p->b[1] = -1.0;
            p->b_slack[1] = slack;
        } else {
            perp_cone_program_equation(p, 1.0)[0] = -1.0;
            p->d_slack[0] = slack;
        }
        perp_nearest_scale(p, 0, 0);
        assert_int_equal(perp_nearest_solve(p, &f->state, &f->scratch), slack < 1.0 ? NEAREST_NONE : NEAREST_UNSURE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_row_after_row, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_copies_are_apart, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_slack_is_no_proof, open_fixture, close_fixture),
    };
    return cmocka_run_group_tests_name("nearest_point", tests, NULL, NULL);
}
