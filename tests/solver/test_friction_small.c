/* A few contacts on random bodies: solved by the method for these, in both forms, by the residual of the class; the
 * forces are those of least norm where that is said, as the method for many finds them. */
#include "failing_allocator.h"

#include <perp/problem.h>
#include <perp/solver.h>

#include <math.h>

enum { BODIES = 2, SIZE = 6, UNKNOWNS = BODIES * SIZE, MOST = 7, ROWS = 3 * MOST, DRAWS = 150 };

typedef struct draws {
    double hessian[BODIES * SIZE * SIZE], g[UNKNOWNS], jacobian[ROWS * UNKNOWNS], offset[ROWS], mu[MOST];
    int row_start[MOST + 1], dof_start[MOST + 1], dofs[MOST * UNKNOWNS];
    perp_contact_qp system;
    perp_contact_friction problem;
} draws;

/* -1 .. 1, the same on every run. */
static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 4503599627370496.0 - 1.0;
}

static void draw_inertia(draws *d, uint64_t *seed)
{
    for (int b = 0; b < BODIES; b++) {
        double l[SIZE * SIZE], *h = d->hessian + b * SIZE * SIZE;
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
}

/* Contacts between the bodies, or of one with the ground; some without friction. Gaps are not negative, so that rest
 * opens none: there is a solution. */
static void make(draws *d, int contacts, uint64_t *seed)
{
    static const int blocks[] = {0, SIZE, UNKNOWNS};
    double *entry = d->jacobian;
    draw_inertia(d, seed);
    d->row_start[0] = d->dof_start[0] = 0;
    for (int i = 0; i < contacts; i++) {
        const bool both = draw(seed) > 0.0;
        const int rows = draw(seed) > 0.9 ? 1 : 3, count = both ? UNKNOWNS : SIZE;
        d->mu[i] = draw(seed) > 0.8 ? 0.0 : 0.6 + 0.5 * draw(seed);
        for (int k = 0; k < rows; k++) {
            d->offset[d->row_start[i] + k] = k == 0 ? 0.1 + 0.1 * draw(seed) : 0.0;
        }
        for (int k = 0; k < rows * count; k++) {
            *entry++ = draw(seed);
        }
        for (int k = 0; k < count; k++) {
            d->dofs[d->dof_start[i] + k] = k;
        }
        d->row_start[i + 1] = d->row_start[i] + rows;
        d->dof_start[i + 1] = d->dof_start[i] + count;
    }
    for (int k = 0; k < UNKNOWNS; k++) {
        d->g[k] = 3.0 * draw(seed);
    }
    d->system = (perp_contact_qp){.n = UNKNOWNS,
                                  .block_count = BODIES,
                                  .block_start = blocks,
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

typedef struct answer {
    double x[UNKNOWNS], y[ROWS], lower[UNKNOWNS], upper[UNKNOWNS];
    perp_convex_point point;
    perp_friction_info info;
} answer;

static perp_status solve(const draws *d, const perp_friction_settings *settings, perp_friction_workspace *w, answer *a)
{
    a->point = (perp_convex_point){.x = a->x, .y = a->y, .y_lower = a->lower, .y_upper = a->upper};
    assert_int_equal(perp_contact_friction_reserve(&d->problem, w, NULL), PERP_STATUS_OK);
    return perp_contact_friction_solve(&d->problem, settings, w, &a->point, &a->info, NULL);
}

static void a_small_contacts(void **state)
{
    (void)state;
    uint64_t seed = 11;
    perp_friction_workspace *w = NULL;
    int by_small = 0, least = 0;
    assert_int_equal(perp_friction_workspace_create(NULL, &w, NULL), PERP_STATUS_OK);
    for (int k = 0; k < DRAWS; k++) {
        draws d;
        answer some, other;
        perp_friction_settings settings = perp_friction_settings_default();
        make(&d, 1 + k % 6, &seed);
        settings.minimum_norm = k % 2 == 0;
        assert_int_equal(solve(&d, &settings, w, &some), PERP_STATUS_OK);
        assert_int_equal(some.info.outcome, PERP_OUTCOME_SOLVED);
        assert_true(perp_contact_friction_residual_largest(perp_contact_friction_evaluate(&d.problem, &some.point)) <=
                    1e-8);
        by_small += strcmp(some.info.method, "small") == 0;
        settings.method = "ipm";
        assert_int_equal(solve(&d, &settings, w, &other), PERP_STATUS_OK);
        double apart = 0.0, forces = 0.0;
        for (int i = 0; i < UNKNOWNS; i++) {
            assert_true(some.lower[i] == 0.0 && some.upper[i] == 0.0);
            apart = fmax(apart, fabs(some.x[i] - other.x[i]));
        }
        for (int i = 0; i < d.row_start[d.system.contact_count]; i++) {
            forces = fmax(forces, fabs(some.y[i] - other.y[i]));
        }
        if (some.info.minimum_norm && other.info.minimum_norm && apart < 1e-9) { /* the same of several solutions */
            assert_true(forces <= 1e-4); /* 1e-8 times what W of condition up to 1e4 makes of it */
            least++;
        }
    }
    assert_true(by_small > DRAWS * 9 / 10 && least > DRAWS / 4);
    perp_friction_workspace_free(w);
}

static void the_local_form(void **state)
{
    (void)state;
    uint64_t seed = 5;
    perp_friction_workspace *w = NULL;
    assert_int_equal(perp_friction_workspace_create(NULL, &w, NULL), PERP_STATUS_OK);
    for (int k = 0; k < DRAWS; k++) {
        enum { CONTACTS = 3, DIM = 2, LENGTH = CONTACTS * DIM };
        double g[LENGTH * LENGTH], matrix[LENGTH * LENGTH], q[LENGTH], r[LENGTH], u[LENGTH], mu[CONTACTS];
        for (int i = 0; i < LENGTH * LENGTH; i++) {
            g[i] = draw(&seed);
        }
        for (int i = 0; i < LENGTH; i++) {
            q[i] = draw(&seed);
            for (int j = 0; j < LENGTH; j++) {
                matrix[i * LENGTH + j] = i == j ? 0.1 : 0.0;
                for (int l = 0; l < LENGTH; l++) {
                    matrix[i * LENGTH + j] += g[i * LENGTH + l] * g[j * LENGTH + l];
                }
            }
        }
        for (int i = 0; i < CONTACTS; i++) {
            mu[i] = 0.2 * (i + 1);
        }
        const perp_friction problem = {.contacts = CONTACTS, .dim = DIM, .w = matrix, .q = q, .mu = mu};
        perp_friction_info info;
        assert_int_equal(perp_friction_reserve(&problem, w, NULL), PERP_STATUS_OK);
        assert_int_equal(perp_friction_solve(&problem, NULL, w, r, u, &info, NULL), PERP_STATUS_OK);
        assert_int_equal(info.outcome, PERP_OUTCOME_SOLVED);
        assert_true(info.residual <= 1e-8 && info.residual == perp_friction_residual(&problem, r));
        assert_true(info.minimum_norm); /* W is regular: no others have these velocities */
    }
    perp_friction_workspace_free(w);
}

/* A mass thrown sideways: the least friction that counts, and what is too little to. */
static void little_friction(void **state)
{
    (void)state;
    static const double w[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[3] = {-100.0, 1.0, 0.0}, MU[] = {1e-7, 1e-9};
    perp_friction_workspace *workspace = NULL;
    assert_int_equal(perp_friction_workspace_create(NULL, &workspace, NULL), PERP_STATUS_OK);
    for (int k = 0; k < 2; k++) {
        const perp_friction problem = {.contacts = 1, .dim = 3, .w = w, .q = q, .mu = &MU[k]};
        double r[3], u[3];
        perp_friction_info info;
        assert_int_equal(perp_friction_reserve(&problem, workspace, NULL), PERP_STATUS_OK);
        assert_int_equal(perp_friction_solve(&problem, NULL, workspace, r, u, &info, NULL), PERP_STATUS_OK);
        assert_true(fabs(r[0] - 100.0) <= 1e-12 && fabs(r[1] + (k == 0 ? 100.0 * MU[0] : 0.0)) <= 1e-12);
    }
    perp_friction_workspace_free(workspace);
}

static void too_many(void **state)
{
    (void)state;
    uint64_t seed = 3;
    draws d;
    answer a;
    perp_friction_workspace *w = NULL;
    perp_friction_settings settings = perp_friction_settings_default();
    assert_int_equal(perp_friction_workspace_create(NULL, &w, NULL), PERP_STATUS_OK);
    make(&d, MOST, &seed);
    settings.method = "small";
    assert_int_equal(solve(&d, &settings, w, &a), PERP_STATUS_BAD_INPUT);
    settings.method = NULL;
    assert_int_equal(solve(&d, &settings, w, &a), PERP_STATUS_OK);
    assert_string_not_equal(a.info.method, "small");
    perp_friction_workspace_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_contacts),
        cmocka_unit_test(the_local_form),
        cmocka_unit_test(little_friction),
        cmocka_unit_test(too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
