#include "convex_test.h"
#include "problem/checks.h"
#include "problem/objectives.h"

static reference ref;

/* A particle of mass 2 pressed on the ground, x = (x_t, x_n) in its block, and a free unknown in another: one contact
 * with rows n and t, rays (1, mu) and (1, -mu), mu = 0.5.  min x_t^2 + x_n^2 - 1 x_t + 4 x_n + 1/2 x_2^2:  it sticks,
 * x = 0, with y_0 + y_1 = 4 and 0.5 (y_0 - y_1) = -1, so y = (1, 3). */
static const int block_start[3] = {0, 2, 3}, row_start[2] = {0, 2}, dof_start[2] = {0, 2}, slack_start[2] = {0, 2};
static const int dofs[2] = {0, 1}, equality_start[2] = {0, 1}, equality_dofs[1] = {2};
static const double hessian[5] = {2.0, 0.0, 0.0, 2.0, 1.0}, g[3] = {-1.0, 4.0, 0.0};
static const double jacobian[4] = {0.0, 1.0, 1.0, 0.0}, rays[4] = {1.0, 0.5, 1.0, -0.5}, offset[2] = {0.0, 0.0};
static const double equality_values[1] = {2.0}, equality_target[1] = {0.0};
static const double lower[3] = {-1.0, -INFINITY, -2.0}, upper[3] = {1.0, 3.0, INFINITY};
static const perp_contact_qp particle = {.n = 3,
                                         .block_count = 2,
                                         .block_start = block_start,
                                         .hessian = hessian,
                                         .g = g,
                                         .contact_count = 1,
                                         .row_start = row_start,
                                         .dof_start = dof_start,
                                         .dofs = dofs,
                                         .jacobian = jacobian,
                                         .slack_start = slack_start,
                                         .rays = rays,
                                         .offset = offset,
                                         .equality_count = 1,
                                         .equality_start = equality_start,
                                         .equality_dofs = equality_dofs,
                                         .equality_values = equality_values,
                                         .equality_target = equality_target,
                                         .lower = lower,
                                         .upper = upper};

static void closed_form(void **state)
{
    (void)state;
    double x[3] = {0.0, 0.0, 0.0}, y[2] = {1.0, 3.0}, y_e[1] = {0.0}, y_l[3] = {0.0}, y_u[3] = {0.0};
    const perp_convex_point p = {x, y, y_e, y_l, y_u};
    perp_error error;
    ASSERT_STATUS(PERP_STATUS_OK, perp_contact_qp_check(&particle, &error));
    assert_true(perp_convex_residual_largest(perp_contact_qp_residual(&particle, &p)) == 0.0);
    /* x = (1, 0, 1): s = (0.5, -0.5), over 1 + 0.5; the equation off by 2, over 1 + 2; H x = (2, 0, 1), over 1 + 2 + 1
     * + 2 and 1 + 1; s.y by entries 0.5, over 1.5 x 2, and 1.5, over 1.5 x 4. */
    x[0] = 1.0, x[2] = 1.0;
    const perp_convex_residual r = perp_contact_qp_residual(&particle, &p);
    assert_true(r.primal == 2.0 / 3.0 && r.dual == 0.5 && r.complementarity == 0.25);
    assert_true(perp_contact_qp_objective(&particle, x) == 0.5);
    /* The same as a quadratic cone, diag(1, 0.5): s = (0, 0.5) is 0.5 / sqrt 2 outside. */
    const double diagonal[4] = {1.0, 0.0, 0.0, 0.5};
    const bool quadratic[1] = {true};
    perp_contact_qp cone = particle;
    cone.rays = diagonal;
    cone.quadratic = quadratic;
    cone.equality_count = 0;
    ASSERT_STATUS(PERP_STATUS_OK, perp_contact_qp_check(&cone, &error));
    assert_near(perp_contact_qp_residual(&cone, &p).primal, 0.5 / sqrt(2.0) / 1.5, "primal", 0);
    x[0] = 0.0, x[2] = 0.0, y[0] = 4.0, y[1] = -2.0; /* the force (4, -1) in the cone (1, 0.5) */
    assert_true(perp_convex_residual_largest(perp_contact_qp_residual(&cone, &p)) == 0.0);
    y[0] = 4.0, y[1] = -5.0; /* outside by 1 / sqrt 2, over 1 + 5; the gradient is off by 1.5, over 1 + 1 + 2.5 */
    assert_true(perp_contact_qp_residual(&cone, &p).dual == 1.5 / 4.5);
}

/* A contact that is 1e20 away, and one that bears 1e8, excuse nothing in others. */
static void each_row_has_its_own_scale(void **state)
{
    (void)state;
    const int blocks[3] = {0, 1, 2}, ones[4] = {0, 1, 2, 3}, unknowns[3] = {0, 1, 0};
    const double unit[3] = {1.0, 1.0, 1.0}, masses[2] = {1.0, 1.0};
    double x[2] = {0.0, 0.0}, y[3] = {0.0, 0.0, 0.0};
    const perp_convex_point p = {.x = x, .y = y};
    for (int power = 0; power <= 280; power += 20) {
        const double large = pow(10.0, power), gaps[3] = {-1.0, 0.0, large}, loads[2] = {1.0, large};
        const perp_contact_qp qp = {.n = 2,
                                    .block_count = 2,
                                    .block_start = blocks,
                                    .hessian = masses,
                                    .g = loads,
                                    .contact_count = 3,
                                    .row_start = ones,
                                    .dof_start = ones,
                                    .dofs = unknowns,
                                    .jacobian = unit,
                                    .slack_start = ones,
                                    .offset = gaps};
        y[1] = large;
        assert_true(perp_contact_qp_residual(&qp, &p).primal == 0.5);
        assert_true(perp_contact_qp_residual(&qp, &p).dual == 0.5);
        y[0] = 1.0; /* s y = 1, over (1 + 1) (1 + 1) */
        assert_true(perp_contact_qp_residual(&qp, &p).complementarity == 0.25);
        assert_true(perp_contact_qp_residual(&qp, &p).dual == 0.0);
        y[0] = 0.0;
    }
}

static void nothing_and_no_number(void **state)
{
    (void)state;
    const perp_contact_qp empty = {0};
    const perp_convex_point nowhere = {0};
    perp_error error;
    ASSERT_STATUS(PERP_STATUS_OK, perp_contact_qp_check(&empty, &error));
    assert_true(perp_convex_residual_largest(perp_contact_qp_residual(&empty, &nowhere)) == 0.0);
    double bad[3] = {0.0, NAN, 0.0}, y[2] = {1.0, 3.0}, y_e[1] = {0.0}, none[3] = {0.0, 0.0, 0.0};
    const perp_convex_point not_a_number = {bad, y, y_e, none, none};
    assert_all_infinite(perp_contact_qp_residual(&particle, &not_a_number));
    double far[3] = {1e308, 1e308, 0.0}; /* an overflow of finite numbers */
    const perp_convex_point beyond = {far, y, y_e, none, none};
    assert_true(perp_convex_residual_largest(perp_contact_qp_residual(&particle, &beyond)) == INFINITY);
}

/* ---- random problems ---- */

enum { CONTACTS = 20 };

typedef struct random_qp {
    int block_start[321], row_start[CONTACTS + 1], dof_start[CONTACTS + 1], slack_start[CONTACTS + 1];
    int dofs[CONTACTS * 100], equality_start[6], equality_dofs[5 * 320];
    double hessian[320 * 320], g[320], jacobian[CONTACTS * 40 * 100], rays[CONTACTS * 40 * 40], offset[160];
    double equality_values[5 * 320], equality_target[5], lower[320], upper[320];
    double x[320], y[160], y_equality[5], y_lower[320], y_upper[320];
    bool quadratic[CONTACTS];
} random_qp;

static random_qp store;

/* Ascending unknowns, at most `most`, some in runs. */
static int draw_dofs(uint64_t *seed, int n, int most, int *list)
{
    int count = 0;
    for (int j = draw_int(seed, 0, n / 2); j < n && count < most; j += draw_int(seed, 0, 4) == 0 ? n / 8 + 1 : 1) {
        list[count++] = j;
    }
    return count;
}

/* Number 0 of each ten has 300 unknowns and contacts on up to 100 of them; number 1 has contacts of up to 40 rows. */
static perp_contact_qp draw_problem(uint64_t *seed, int number)
{
    random_qp *s = &store;
    const int n = number % 10 == 0 ? 300 : draw_int(seed, 1, 40), contacts = draw_int(seed, 0, CONTACTS);
    const bool with_rays = number % 3 != 0;
    int blocks = 0, entries = 0, filled = 0, ray = 0;
    for (s->block_start[0] = 0; s->block_start[blocks] < n; blocks++) {
        const int left = n - s->block_start[blocks], size = draw_int(seed, 1, 9 < left ? 9 : left);
        draw_hessian(seed, size, 1, number % 4 == 1 ? 2 : 0, s->hessian + entries);
        s->block_start[blocks + 1] = s->block_start[blocks] + size;
        entries += size * size;
    }
    for (int i = 0; i < contacts; i++) {
        const int rows = number % 10 == 1 && i == 0 ? 40 : draw_int(seed, 1, 3);
        const int slacks = with_rays ? draw_int(seed, 1, 6) : rows;
        const int count = draw_dofs(seed, n, n == 300 ? 100 : 12, s->dofs + s->dof_start[i]);
        s->row_start[i + 1] = s->row_start[i] + rows;
        s->slack_start[i + 1] = s->slack_start[i] + slacks;
        s->dof_start[i + 1] = s->dof_start[i] + count;
        s->quadratic[i] = draw(seed) < 0.0;
        draw_vector(seed, rows * count, 1.0, s->jacobian + filled);
        draw_vector(seed, slacks * rows, 1.0, s->rays + ray);
        filled += rows * count;
        ray += slacks * rows;
    }
    const int equalities = draw_int(seed, 0, 5);
    for (int i = 0; i < equalities; i++) {
        const int count = draw_dofs(seed, n, n, s->equality_dofs + s->equality_start[i]);
        draw_vector(seed, count, 1.0, s->equality_values + s->equality_start[i]);
        s->equality_start[i + 1] = s->equality_start[i] + count;
    }
    draw_vector(seed, n, 1.0, s->g);
    draw_vector(seed, s->slack_start[contacts], 1.0, s->offset);
    draw_vector(seed, equalities, 1.0, s->equality_target);
    draw_bounds(seed, n, s->lower, s->upper);
    const perp_contact_qp p = {.n = n,
                               .block_count = blocks,
                               .block_start = s->block_start,
                               .hessian = number % 7 == 0 ? NULL : s->hessian,
                               .g = s->g,
                               .contact_count = contacts,
                               .row_start = s->row_start,
                               .dof_start = s->dof_start,
                               .dofs = s->dofs,
                               .jacobian = s->jacobian,
                               .slack_start = s->slack_start,
                               .rays = with_rays ? s->rays : NULL,
                               .offset = s->offset,
                               .quadratic = number % 2 == 0 ? s->quadratic : NULL,
                               .equality_count = equalities,
                               .equality_start = s->equality_start,
                               .equality_dofs = s->equality_dofs,
                               .equality_values = s->equality_values,
                               .equality_target = s->equality_target,
                               .lower = number % 4 == 0 ? NULL : s->lower,
                               .upper = number % 5 == 0 ? NULL : s->upper};
    return p;
}

static void random_problems(void **state)
{
    (void)state;
    uint64_t seed = 3;
    const perp_convex_point point = {store.x, store.y, store.y_equality, store.y_lower, store.y_upper};
    for (int k = 0; k < 400; k++) {
        const perp_contact_qp p = draw_problem(&seed, k);
        const double size = k % 11 == 0 ? 1e3 : 1.0; /* large: sums in twice the precision */
        draw_vector(&seed, p.n, size, store.x);
        draw_vector(&seed, p.slack_start[p.contact_count], size, store.y);
        draw_vector(&seed, p.equality_count, size, store.y_equality);
        draw_vector(&seed, p.n, size, store.y_lower);
        draw_vector(&seed, p.n, size, store.y_upper);
        perp_error error;
        ASSERT_STATUS(PERP_STATUS_OK, perp_contact_qp_check(&p, &error));
        ref_of_contact_qp(&p, &ref);
        assert_residuals_near(perp_contact_qp_residual(&p, &point), ref_residual(&ref, &point), k);
        assert_near(perp_contact_qp_objective(&p, point.x), ref_objective(&ref, point.x), "objective", k);
        assert_near(perp_contact_qp_infeasibility(&p, &point), ref_infeasibility(&ref, &point), "infeasibility", k);
        assert_near(perp_contact_qp_unboundedness(&p, point.x), ref_unboundedness(&ref, point.x), "unboundedness", k);
    }
}

/* ---- refusals ---- */

#define REFUSED(words, ...)                                                                                            \
    do {                                                                                                               \
        perp_contact_qp p = particle;                                                                                  \
        __VA_ARGS__;                                                                                                   \
        perp_error error;                                                                                              \
        const perp_status status = perp_contact_qp_check(&p, &error);                                                  \
        assert_message(status, &error, words);                                                                         \
    } while (0)

static void refused_sizes_and_starts(void **state)
{
    (void)state;
    REFUSED("the size of the problem is -1", p.n = -1);
    REFUSED("the number of blocks is -1", p.block_count = -1);
    REFUSED("the number of contacts is -1", p.contact_count = -1);
    REFUSED("the number of equations is -1", p.equality_count = -1);
    REFUSED("the problem has no block_start", p.block_start = NULL);
    REFUSED("the problem has no row_start", p.row_start = NULL);
    REFUSED("the problem has no dof_start", p.dof_start = NULL);
    REFUSED("the problem has no slack_start", p.slack_start = NULL);
    REFUSED("the problem has no equality_start", p.equality_start = NULL);
    const int from_one[3] = {1, 2, 3}, falling[3] = {0, 4, 3}, flat[3] = {0, 0, 3}, negative[2] = {0, -1};
    REFUSED("entry 0 of block_start is 1, not 0", p.block_start = from_one);
    REFUSED("entry 2 of block_start is 3 after 4", p.block_start = falling);
    REFUSED("entry 1 of block_start is 0 after 0", p.block_start = flat);
    REFUSED("the blocks of H end at 2, of 3 unknowns", p.block_count = 1);
    REFUSED("the blocks of H end at 0, of 3 unknowns", p.block_count = 0);
    REFUSED("entry 0 of row_start is 1, not 0", p.row_start = from_one);
    REFUSED("entry 1 of row_start is 0 after 0", p.row_start = flat);
    REFUSED("entry 1 of dof_start is -1 after 0", p.dof_start = negative);
    REFUSED("entry 1 of slack_start is 0 after 0", p.slack_start = flat);
    REFUSED("entry 0 of equality_start is 1, not 0", p.equality_start = from_one);
    REFUSED("entry 1 of equality_start is -1 after 0", p.equality_start = negative);
    const int one_slack[2] = {0, 1};
    REFUSED("contact 0 has 2 rows and 1 slacks, but there are no rays", p.slack_start = one_slack; p.rays = NULL);
}

static void refused_entries(void **state)
{
    (void)state;
    REFUSED("the problem has no g", p.g = NULL);
    REFUSED("the problem has no dofs", p.dofs = NULL);
    REFUSED("the problem has no jacobian", p.jacobian = NULL);
    REFUSED("the problem has no offset", p.offset = NULL);
    REFUSED("the problem has no equality_dofs", p.equality_dofs = NULL);
    REFUSED("the problem has no equality_values", p.equality_values = NULL);
    REFUSED("the problem has no equality_target", p.equality_target = NULL);
    const int out[2] = {0, 3}, below[2] = {-1, 1}, twice[2] = {1, 1}, back[2] = {1, 0};
    REFUSED("entry 1 of dofs is 3, of 3 unknowns", p.dofs = out);
    REFUSED("entry 0 of dofs is -1, of 3 unknowns", p.dofs = below);
    REFUSED("entry 1 of dofs is 1 after 1: they must ascend", p.dofs = twice);
    REFUSED("entry 1 of dofs is 0 after 1: they must ascend", p.dofs = back);
    REFUSED("entry 0 of equality_dofs is 3, of 3 unknowns", p.equality_dofs = out + 1);
    const double bad[4] = {0.0, 0.0, INFINITY, NAN};
    REFUSED("entry 2 of g is inf", p.g = bad);
    REFUSED("entry (1, 0) of the jacobian of contact 0 is inf", p.jacobian = bad);
    REFUSED("entry (1, 0) of the rays of contact 0 is inf", p.rays = bad);
    REFUSED("entry 0 of offset is inf", p.offset = bad + 2);
    REFUSED("entry 0 of equality_values is nan", p.equality_values = bad + 3);
    REFUSED("entry 0 of equality_target is nan", p.equality_target = bad + 3);
    const double last_nan[5] = {1.0, 0.0, 0.0, 1.0, NAN}, negative[5] = {1.0, 0.0, 0.0, 1.0, -1.0};
    const double skew[5] = {1.0, 0.5, 0.0, 1.0, 1.0}, saddle[5] = {0.0, 0.5, 0.5, 1.0, 1.0};
    REFUSED("entry (2, 2) of H is nan", p.hessian = last_nan);
    REFUSED("its diagonal entry 2 is -1", p.hessian = negative);
    REFUSED("H is not symmetric: entry (1, 0) is 0 and entry (0, 1) is 0.5", p.hessian = skew);
    REFUSED("entry (1, 0) is 0.5 beside the diagonal entries 1 and 0", p.hessian = saddle);
    const double crossed[3] = {2.0, 0.0, 0.0}, all_up[3] = {0.0, INFINITY, 0.0}, unknown[3] = {0.0, 0.0, NAN};
    REFUSED("the bounds of entry 0 are crossed: 2 > 1", p.lower = crossed);
    REFUSED("the lower bound of entry 1 is inf", p.lower = all_up);
    REFUSED("the upper bound of entry 2 is nan", p.upper = unknown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_form),
        cmocka_unit_test(each_row_has_its_own_scale),
        cmocka_unit_test(nothing_and_no_number),
        cmocka_unit_test(random_problems),
        cmocka_unit_test(refused_sizes_and_starts),
        cmocka_unit_test(refused_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
