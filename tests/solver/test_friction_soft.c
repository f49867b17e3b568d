/* Contacts that give way, on random bodies: the answer of the elimination is that of the methods that keep every
 * unknown, and one body's is that of the closed form; limits and loops; what is not of this kind is not taken. */
#include "failing_allocator.h"
#include "problem/checks.h"
#include "solver/friction_soft.h"

#include <perp/problem.h>
#include <perp/solver.h>

#include <math.h>

enum { BODIES = 3, SIZE = 6, UNKNOWNS = BODIES * SIZE, MOST = 12, ROWS = 3 * MOST, ALL = UNKNOWNS + ROWS, DRAWS = 120 };

typedef struct draws {
    double hessian[BODIES * SIZE * SIZE + 9 * MOST], g[ALL], jacobian[ROWS * (2 * SIZE + 3)], offset[ROWS], mu[MOST];
    double lower[ALL], upper[ALL], equality_values[2], equality_target[1];
    int block_start[BODIES + MOST + 1], row_start[MOST + 1], dof_start[MOST + 1], dofs[MOST * (2 * SIZE + 3)];
    perp_contact_qp system;
    perp_contact_friction problem;
} draws;

/* -1 .. 1, the same on every run. */
static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 4503599627370496.0 - 1.0;
}

static double *draw_inertia(draws *d, uint64_t *seed)
{
    double *h = d->hessian;
    for (int b = 0; b < BODIES; b++, h += SIZE * SIZE) {
        double l[SIZE * SIZE];
        d->block_start[b] = b * SIZE;
        for (int i = 0; i < SIZE * SIZE; i++) {
            l[i] = 0.3 * draw(seed);
        }
        for (int i = 0; i < SIZE; i++) {
            for (int j = 0; j <= i; j++) {
                double sum = i == j ? 1.0 : 0.0;
                for (int k = 0; k < SIZE; k++) {
                    sum += l[i * SIZE + k] * l[j * SIZE + k];
                }
                h[i * SIZE + j] = h[j * SIZE + i] = sum;
            }
        }
    }
    return h;
}

/* Contact i of `rows` rows between bodies a and b, the ground where they are the same; returns what follows its J. */
static double *draw_contact(draws *d, int i, int rows, const int bodies[2], uint64_t *seed, double *entry)
{
    const int count = bodies[0] == bodies[1] ? SIZE : 2 * SIZE, own = d->block_start[BODIES + i];
    int *dofs = d->dofs + d->dof_start[i];
    for (int k = 0; k < count; k++) {
        dofs[k] = bodies[k / SIZE] * SIZE + k % SIZE;
    }
    for (int r = 0; r < rows; r++) {
        d->offset[d->row_start[i] + r] = 0.2 * draw(seed);
        d->g[own + r] = draw(seed);
        dofs[count + r] = own + r;
        for (int k = 0; k < count + rows; k++) {
            *entry++ = k < count ? draw(seed) : k - count == r ? 1.0 : 0.0;
        }
    }
    d->row_start[i + 1] = d->row_start[i] + rows;
    d->dof_start[i + 1] = d->dof_start[i] + count + rows;
    d->block_start[BODIES + i + 1] = own + rows;
    return entry;
}

/* `stiffness`: of contacts, beside inertias of order 1. */
static void make(draws *d, int contacts, double stiffness, uint64_t *seed)
{
    double *entry = d->jacobian, *h = draw_inertia(d, seed);
    d->row_start[0] = d->dof_start[0] = 0;
    d->block_start[BODIES] = UNKNOWNS;
    for (int i = 0; i < contacts; i++) {
        const int a = (int)(1.5 + 1.49 * draw(seed)), b = (int)(1.5 + 1.49 * draw(seed));
        const int bodies[2] = {a < b ? a : b, a < b ? b : a};
        const int rows = draw(seed) > 0.8 ? 1 : draw(seed) > 0.6 ? 2 : 3;
        const double normal = stiffness * (1.5 + draw(seed)), tangential = stiffness * (1.5 + draw(seed));
        d->mu[i] = draw(seed) > 0.8 ? 0.0 : 0.6 + 0.5 * draw(seed);
        entry = draw_contact(d, i, rows, bodies, seed, entry);
        const double coupling = i % 3 == 0 ? 0.4 * draw(seed) * fmin(normal, tangential) : 0.0; /* stays definite */
        for (int k = 0; k < rows * rows; k++) {
            *h++ = k % (rows + 1) != 0 ? coupling : k == 0 ? normal : tangential;
        }
    }
    for (int k = 0; k < UNKNOWNS; k++) {
        d->g[k] = 3.0 * draw(seed);
    }
    d->system = (perp_contact_qp){.n = d->block_start[BODIES + contacts],
                                  .block_count = BODIES + contacts,
                                  .block_start = d->block_start,
                                  .hessian = d->hessian,
                                  .g = d->g,
                                  .contact_count = contacts,
                                  .row_start = d->row_start,
                                  .slack_start = d->row_start,
                                  .dof_start = d->dof_start,
                                  .dofs = d->dofs,
                                  .jacobian = d->jacobian,
                                  .offset = d->offset};
    d->problem = (perp_contact_friction){&d->system, d->mu};
}

/* Some unknowns of bodies between bounds, and a loop between the first two. */
static void constrain(draws *d, uint64_t *seed)
{
    static const int start[] = {0, 2}, dofs[] = {2, SIZE + 2};
    for (int i = 0; i < ALL; i++) {
        const bool bound = i < UNKNOWNS && i % 4 == 0;
        d->lower[i] = bound ? -0.3 + 0.3 * draw(seed) : -INFINITY;
        d->upper[i] = bound && i % 8 == 0 ? d->lower[i] + 0.2 : INFINITY;
    }
    d->equality_values[0] = 1.0;
    d->equality_values[1] = -0.7;
    d->equality_target[0] = 0.1;
    d->system.lower = d->lower;
    d->system.upper = d->upper;
    d->system.equality_count = 1;
    d->system.equality_start = start;
    d->system.equality_dofs = dofs;
    d->system.equality_values = d->equality_values;
    d->system.equality_target = d->equality_target;
}

typedef struct answer {
    double x[ALL], y[ROWS], lower[ALL], upper[ALL], equality[1];
    perp_convex_point point;
    perp_friction_info info;
} answer;

static perp_status solve(const draws *d, perp_friction_soft_workspace *w, answer *a)
{
    const perp_friction_settings settings = {.size = sizeof settings, .tolerance = 1e-11};
    a->point = (perp_convex_point){a->x, a->y, a->equality, a->lower, a->upper};
    assert_int_equal(perp_friction_soft_reserve(&d->problem, w, NULL), PERP_STATUS_OK);
    return perp_friction_soft_solve(&d->problem, &settings, w, &a->point, &a->info, NULL);
}

/* Returns whether the soft method solved it; where it did, the cascade's answer is the same. */
static bool compare(const draws *d, perp_friction_soft_workspace *soft, perp_friction_workspace *all)
{
    answer some, other;
    assert_int_equal(perp_contact_friction_check(&d->problem, NULL), PERP_STATUS_OK);
    assert_int_equal(solve(d, soft, &some), PERP_STATUS_OK);
    if (some.info.outcome != PERP_OUTCOME_SOLVED) {
        return false;
    }
    assert_true(perp_contact_friction_residual_largest(perp_contact_friction_evaluate(&d->problem, &some.point)) <=
                1e-11);
    const perp_friction_settings settings = {.size = sizeof settings, .tolerance = 1e-11, .warm = &some.point};
    other.point = (perp_convex_point){other.x, other.y, other.equality, other.lower, other.upper};
    assert_int_equal(perp_contact_friction_reserve(&d->problem, all, NULL), PERP_STATUS_OK);
    const perp_friction_settings cold = {.size = sizeof cold, .tolerance = 1e-11};
    assert_int_equal(perp_contact_friction_solve(&d->problem, d->system.lower ? &settings : &cold, all, &other.point,
                                                 &other.info, NULL),
                     PERP_STATUS_OK);
    assert_int_equal(other.info.outcome, PERP_OUTCOME_SOLVED);
    for (int i = 0; i < d->system.n; i++) { /* 1e-11 of residual, times the condition of A + J'Omega J */
        assert_true(fabs(some.x[i] - other.x[i]) <= 1e-7);
    }
    return true;
}

static void as_the_cascade(void **state)
{
    (void)state;
    static const double stiffnesses[] = {0.1, 1.0, 30.0};
    uint64_t seed = 7;
    perp_friction_soft_workspace *soft = NULL;
    perp_friction_workspace *all = NULL;
    int solved = 0;
    assert_int_equal(perp_friction_soft_workspace_create(NULL, &soft, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_friction_workspace_create(NULL, &all, NULL), PERP_STATUS_OK);
    for (int k = 0; k < DRAWS; k++) {
        draws d;
        make(&d, 1 + k % MOST, stiffnesses[k % 3], &seed);
        if (k % 4 == 3) {
            constrain(&d, &seed);
        }
        solved += compare(&d, soft, all) ? 1 : 0;
    }
    assert_true(solved >= DRAWS * 19 / 20); /* the rest is the cascade's */
    perp_friction_soft_workspace_free(soft);
    perp_friction_workspace_free(all);
}

/* A body of mass 1 pushed by (p_n, p_t) into one contact: v = -s / (1 + a), cut by friction. */
static void one_body(void **state)
{
    (void)state;
    static const int block_start[] = {0, 2, 4}, row_start[] = {0, 2}, dof_start[] = {0, 4}, dofs[] = {0, 1, 2, 3};
    static const double hessian[] = {1, 0, 0, 1, 4, 0, 0, 3}, jacobian[] = {1, 0, 1, 0, 0, 1, 0, 1}, offset[] = {0, 0};
    const double mu = 0.5;
    perp_friction_soft_workspace *w = NULL;
    assert_int_equal(perp_friction_soft_workspace_create(NULL, &w, NULL), PERP_STATUS_OK);
    for (int k = 0; k < 3; k++) {
        const double push[3][2] = {{-5, 0.4}, {-5, 9}, {5, 1}}, g[] = {-push[k][0], -push[k][1], 0, 0};
        const perp_contact_qp system = {.n = 4,
                                        .block_count = 2,
                                        .block_start = block_start,
                                        .hessian = hessian,
                                        .g = g,
                                        .contact_count = 1,
                                        .row_start = row_start,
                                        .slack_start = row_start,
                                        .dof_start = dof_start,
                                        .dofs = dofs,
                                        .jacobian = jacobian,
                                        .offset = offset};
        const perp_contact_friction problem = {&system, &mu};
        double x[4], y[2];
        perp_convex_point point = {.x = x, .y = y};
        perp_friction_info info;
        assert_int_equal(perp_friction_soft_reserve(&problem, w, NULL), PERP_STATUS_OK);
        assert_int_equal(perp_friction_soft_solve(&problem, NULL, w, &point, &info, NULL), PERP_STATUS_OK);
        assert_int_equal(info.outcome, PERP_OUTCOME_SOLVED);
        const double fn = fmax(0.0, -push[k][0] * 4.0 / 5.0), stuck = -push[k][1] * 3.0 / 4.0;
        const double ft = fmax(-mu * fn, fmin(mu * fn, stuck));
        assert_true(fabs(y[0] - fn) <= 1e-14 * 5 && fabs(y[1] - ft) <= 1e-14 * 9);
        assert_true(fabs(x[0] - (push[k][0] + fn)) <= 1e-13 && fabs(x[1] - (push[k][1] + ft)) <= 1e-13);
        assert_true(fabs(x[2] - fn / 4.0) <= 1e-13 && fabs(x[3] - ft / 3.0) <= 1e-13);
    }
    perp_friction_soft_workspace_free(w);
}

/* A block that is nobody's, a body without inertia, a wrong Jacobian, an unknown with a bound. */
static void not_of_this_kind(void **state)
{
    (void)state;
    uint64_t seed = 2;
    draws d;
    answer a;
    perp_friction_soft_workspace *w = NULL;
    assert_int_equal(perp_friction_soft_workspace_create(NULL, &w, NULL), PERP_STATUS_OK);
    for (int k = 0; k < 4; k++) {
        make(&d, 4, 1.0, &seed);
        if (k == 0) {
            d.system.contact_count = 3; /* the last block is nobody's */
        } else if (k == 1) {
            d.hessian[0] = 0.0;
        } else if (k == 2) {
            d.jacobian[d.dof_start[1] - 1] = 0.5;
        } else {
            constrain(&d, &seed);
            d.lower[UNKNOWNS + 1] = 0.0;
        }
        assert_int_equal(solve(&d, w, &a), PERP_STATUS_OK);
        assert_int_equal(a.info.outcome, PERP_OUTCOME_ITERATION_LIMIT);
    }
    perp_friction_soft_workspace_free(w);
}

static void memory(void **state)
{
    (void)state;
    uint64_t seed = 4;
    draws d;
    answer a = {.info = {.method = NULL}};
    perp_friction_soft_workspace *w = NULL;
    make(&d, MOST, 1.0, &seed);
    a.point = (perp_convex_point){a.x, a.y, a.equality, a.lower, a.upper};
    assert_int_equal(perp_friction_soft_workspace_create(NULL, &w, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_friction_soft_solve(&d.problem, NULL, w, &a.point, &a.info, NULL), PERP_STATUS_CAPACITY);
    perp_friction_soft_workspace_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_cascade),
        cmocka_unit_test(one_body),
        cmocka_unit_test(not_of_this_kind),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
