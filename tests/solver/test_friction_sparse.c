/* B + G W by its blocks is what it is in full: products, solutions, and which W it is for. */
#include "failing_allocator.h"

#include "solver/friction_sparse.h"

#include <math.h>

enum { CONTACTS = 40, MOST = 3 * CONTACTS };

typedef struct matrices {
    int row_start[CONTACTS + 1];
    double w[MOST * MOST], b[9 * CONTACTS], g[9 * CONTACTS];
} matrices;

/* -1 .. 1, the same on every run. */
static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 4503599627370496.0 - 1.0;
}

/* Contacts of one and three rows; each is coupled to its neighbours and one further away, in both directions or one;
 * diagonals outweigh the rest, so that the matrix is regular whatever B and G are. */
static void make(matrices *p, uint64_t *seed)
{
    memset(p, 0, sizeof *p);
    for (int i = 0; i < CONTACTS; i++) {
        p->row_start[i + 1] = p->row_start[i] + (i % 5 == 0 ? 1 : 3);
    }
    const int m = p->row_start[CONTACTS];
    double *b = p->b, *g = p->g;
    for (int i = 0; i < CONTACTS; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i];
        for (int j = 0; j < CONTACTS; j++) {
            const bool coupled = abs(i - j) <= 1 || j == (7 * i) % CONTACTS;
            for (int r = p->row_start[i]; coupled && r < p->row_start[i + 1]; r++) {
                for (int c = p->row_start[j]; c < p->row_start[j + 1]; c++) {
                    p->w[r * m + c] = 0.2 * draw(seed) + (r == c ? 6.0 : 0.0);
                }
            }
        }
        for (int k = 0; k < rows * rows; k++) {
            *b++ = 0.1 * draw(seed) + (k % (rows + 1) == 0 ? 0.5 : 0.0);
            *g++ = 0.1 * draw(seed) + (k % (rows + 1) == 0 ? 1.0 : 0.0);
        }
    }
}

/* (B + G W) x */
static void apply(const matrices *p, const double *x, double *out)
{
    const int m = p->row_start[CONTACTS];
    const double *b = p->b, *g = p->g;
    for (int i = 0; i < CONTACTS; i++) {
        const int first = p->row_start[i], rows = p->row_start[i + 1] - first;
        for (int r = 0; r < rows; r++, b += rows, g += rows) {
            out[first + r] = 0.0;
            for (int k = 0; k < rows; k++) {
                double u = 0.0;
                for (int c = 0; c < m; c++) {
                    u += p->w[(first + k) * m + c] * x[c];
                }
                out[first + r] += b[k] * x[first + k] + g[k] * u;
            }
        }
    }
}

static void solutions(void **state)
{
    (void)state;
    static const double ROUNDING = 1e-12; /* of entries of order 1 and a condition of about 10 */
    static matrices p;
    uint64_t seed = 17;
    perp_friction_sparse s;
    const perp_allocator allocator = perp_allocator_default();
    perp_friction_sparse_init(&s, &allocator);
    s.kkt.may_grow = true;
    for (int round = 0; round < 10; round++) {
        double right[MOST], x[MOST], back[MOST], u[MOST];
        bool suits = false;
        make(&p, &seed);
        const int m = p.row_start[CONTACTS];
        assert_int_equal(perp_friction_sparse_look(&s, CONTACTS, p.row_start, p.w, &suits), PERP_STATUS_OK);
        assert_true(suits);
        assert_int_equal(perp_friction_sparse_setup(&s, NULL), PERP_STATUS_OK);
        for (int i = 0; i < m; i++) {
            right[i] = x[i] = draw(&seed);
        }
        perp_friction_sparse_factor(&s, p.b, p.g);
        assert_true(perp_friction_sparse_solve(&s, p.b, p.g, x));
        apply(&p, x, back);
        perp_friction_sparse_multiply(&s, x, u);
        for (int i = 0; i < m; i++) {
            double sum = 0.0;
            for (int c = 0; c < m; c++) {
                sum += p.w[i * m + c] * x[c];
            }
            assert_true(fabs(back[i] - right[i]) <= ROUNDING);
            assert_true(fabs(u[i] - sum) <= ROUNDING);
        }
    }
    perp_friction_sparse_free(&s);
}

/* One that is singular is not said to be solved, and the right-hand side is kept for those who can. */
static void singular(void **state)
{
    (void)state;
    static matrices p;
    uint64_t seed = 3;
    perp_friction_sparse s;
    bool suits = false;
    double x[MOST];
    const perp_allocator allocator = perp_allocator_default();
    make(&p, &seed);
    memset(p.b, 0, sizeof p.b);
    memset(p.g, 0, sizeof p.g);
    perp_friction_sparse_init(&s, &allocator);
    s.kkt.may_grow = true;
    assert_int_equal(perp_friction_sparse_look(&s, CONTACTS, p.row_start, p.w, &suits), PERP_STATUS_OK);
    assert_int_equal(perp_friction_sparse_setup(&s, NULL), PERP_STATUS_OK);
    for (int i = 0; i < MOST; i++) {
        x[i] = i;
    }
    perp_friction_sparse_factor(&s, p.b, p.g);
    assert_false(perp_friction_sparse_solve(&s, p.b, p.g, x));
    for (int i = 0; i < p.row_start[CONTACTS]; i++) {
        assert_true(x[i] == i);
    }
    perp_friction_sparse_free(&s);
}

static void full_ones(void **state)
{
    (void)state;
    static matrices p;
    uint64_t seed = 3;
    perp_friction_sparse s;
    bool suits = true;
    const perp_allocator allocator = perp_allocator_default();
    make(&p, &seed);
    perp_friction_sparse_init(&s, &allocator);
    assert_int_equal(perp_friction_sparse_look(&s, CONTACTS, p.row_start, p.w, &suits), PERP_STATUS_CAPACITY);
    s.kkt.may_grow = true;
    for (int i = 0; i < MOST * MOST; i++) {
        p.w[i] = 1.0;
    }
    suits = true;
    assert_int_equal(perp_friction_sparse_look(&s, CONTACTS, p.row_start, p.w, &suits), PERP_STATUS_OK);
    assert_false(suits);
    perp_friction_sparse_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solutions),
        cmocka_unit_test(singular),
        cmocka_unit_test(full_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
