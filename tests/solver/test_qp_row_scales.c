/* Convex problems whose rows, unknowns and forces differ by many powers of ten: every row is met in its own units, a
 * row that is loose by 1e20 excuses no other, and proofs hold by rows. Answers are compared with those of the same
 * problem in good units, and judged by rows in long double. */
#include "convex_test.h"
#include "qp_dual_test.h"

static double power_of_ten(perp_random *random, double low, double high)
{
    return pow(10.0, perp_random_uniform(random, low, high));
}

static void copy(double *to, const double *from, int count)
{
    memcpy(to, from, (size_t)count * sizeof *to);
}

/* The case with `more` rows that are loose by 10^low .. 10^high. */
static dual_case with_loose_rows(const dual_case *q, perp_random *random, int more, double low, double high)
{
    dual_case r = new_dual_case(q->n, q->rows + more, q->equalities);
    r.bounded = q->bounded;
    copy(r.h, q->h, q->n * q->n);
    copy(r.g, q->g, q->n);
    copy(r.a, q->a, q->rows * q->n);
    copy(r.b, q->b, q->rows);
    copy(r.c, q->c, q->equalities * q->n);
    copy(r.d, q->d, q->equalities);
    copy(r.lower, q->lower, q->n);
    copy(r.upper, q->upper, q->n);
    for (int k = q->rows; k < r.rows; k++) {
        for (int i = 0; i < q->n; i++) {
            r.a[k * q->n + i] = perp_random_uniform(random, -1.0, 1.0);
        }
        r.b[k] = -power_of_ten(random, low, high);
    }
    return r;
}

/* Row k times its factor, unknown i in units of its own. */
static dual_case in_units(const dual_case *q, perp_random *random, double decades, double *units)
{
    dual_case r = with_loose_rows(q, random, 0, 0.0, 0.0);
    for (int i = 0; i < q->n; i++) {
        units[i] = power_of_ten(random, -decades, decades);
        r.g[i] *= units[i];
        r.lower[i] /= units[i];
        r.upper[i] /= units[i];
    }
    for (int i = 0; i < q->n * q->n; i++) {
        r.h[i] *= units[i / q->n] * units[i % q->n];
    }
    for (int k = 0; k < q->rows + q->equalities; k++) {
        const double factor = power_of_ten(random, -decades, decades);
        double *row = k < q->rows ? r.a + k * q->n : r.c + (k - q->rows) * q->n;
        *(k < q->rows ? &r.b[k] : &r.d[k - q->rows]) *= factor;
        for (int i = 0; i < q->n; i++) {
            row[i] *= factor * units[i];
        }
    }
    return r;
}

static perp_convex_info solve_qp(dual_case *q, bool relative)
{
    const perp_qp problem = dual_qp_of(q);
    perp_convex_workspace *workspace = new_convex_workspace(NULL);
    perp_convex_settings settings = perp_convex_settings_default();
    settings.relative = relative;
    perp_convex_info info;
    double value;
    const double unit = relative ? 0.0 : 1.0;
    ASSERT_STATUS(PERP_STATUS_OK, perp_qp_reserve(&problem, workspace, NULL));
    ASSERT_STATUS(PERP_STATUS_OK, perp_qp_solve(&problem, &settings, workspace, &q->point, &info, NULL));
    perp_convex_workspace_free(workspace);
    if (info.outcome == PERP_OUTCOME_SOLVED) {
        assert_true(judge_convex(OF_QP(&problem), &q->point) <= 1.001e-8);
    } else if (info.outcome == PERP_OUTCOME_INFEASIBLE) {
        assert_true(judge_infeasible_with(OF_QP(&problem), &q->point, unit, &value) <= 1.001e-8);
    } else if (info.outcome == PERP_OUTCOME_UNBOUNDED) {
        assert_true(judge_unbounded_with(OF_QP(&problem), q->point.x, unit, &value) <= 1.001e-8);
    }
    return info;
}

/* x of `q` in its units is that of `plain`. */
static bool is_same(const dual_case *plain, const dual_case *q, const double *units)
{
    for (int i = 0; i < plain->n; i++) {
        const double x = q->point.x[i] * (units ? units[i] : 1.0);
        if (!(fabs(x - plain->point.x[i]) <= 1e-6 * (1.0 + fabs(plain->point.x[i])))) {
            return false;
        }
    }
    return true;
}

static void tell(const char *what, uint64_t seed, const perp_convex_info *info)
{
    print_message("%s, seed %d: %s, residual %g\n", what, (int)seed, perp_outcome_name(info->outcome),
                  perp_convex_residual_largest(info->residual));
}

static void loose_rows_change_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        perp_random random = {seed};
        const int n = 1 + (int)(seed % 8);
        dual_case plain = random_dual_case(&random, n, (int)(seed % 9), n > 2 ? (int)(seed % 3) : 0, seed % 2 == 0);
        const perp_convex_info before = solve_qp(&plain, false);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, before);
        dual_case q = with_loose_rows(&plain, &random, 1 + (int)(seed % 3), 6.0, 20.0);
        for (int i = 0; i < n && seed % 4 == 0; i++) { /* and bounds that are as loose */
            q.lower[i] = isfinite(q.lower[i]) ? q.lower[i] : -power_of_ten(&random, 6.0, 20.0);
        }
        const perp_convex_info info = solve_qp(&q, seed % 5 == 0);
        if (info.outcome != PERP_OUTCOME_SOLVED || !is_same(&plain, &q, NULL)) {
            tell("loose", seed, &info);
            fail();
        }
        free_dual_case(&plain);
        free_dual_case(&q);
    }
}

/* The same without H, within bounds; there only the interior point is at work. */
static void loose_rows_of_an_lp(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        perp_random random = {seed};
        const int n = 1 + (int)(seed % 8);
        dual_case plain = random_dual_case(&random, n, (int)(seed % 9), 0, true);
        memset(plain.h, 0, (size_t)(n * n) * sizeof(double));
        for (int i = 0; i < n; i++) {
            plain.lower[i] = fmax(plain.lower[i], -2.0);
            plain.upper[i] = fmin(plain.upper[i], 2.0);
        }
        const perp_convex_info before = solve_qp(&plain, false);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, before);
        dual_case q = with_loose_rows(&plain, &random, 1 + (int)(seed % 3), 6.0, 20.0);
        const perp_convex_info info = solve_qp(&q, seed % 5 == 0);
        if (info.outcome != PERP_OUTCOME_SOLVED || !is_same(&plain, &q, NULL)) {
            tell("lp", seed, &info);
            fail();
        }
        free_dual_case(&plain);
        free_dual_case(&q);
    }
}

/* A contact of its own far away, on the unknowns of the first body. */
static void add_loose_contact(contact_case *q, perp_random *random, bool cone)
{
    const int dofs[3] = {0, 1, 2};
    double jacobian[9], offset[3] = {power_of_ten(random, 6.0, 20.0), 0.0, 0.0};
    for (int i = 0; i < 9; i++) {
        jacobian[i] = perp_random_uniform(random, -1.0, 1.0);
    }
    const int rows = cone ? 3 : 1;
    const contact_entry entry = {.count = 3,
                                 .rows = rows,
                                 .slacks = rows,
                                 .dofs = dofs,
                                 .jacobian = jacobian,
                                 .offset = offset,
                                 .quadratic = cone};
    add_contact(q, &entry);
}

static void contacts_far_away(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        perp_random random = {seed};
        perp_convex_point known;
        const random_contacts what = {.bodies = 1 + (int)(seed % 3),
                                      .contacts = 1 + (int)(seed % 5),
                                      .kind = (contact_kind)(seed % 4),
                                      .bounded = seed % 5 == 0};
        contact_case q = random_contact_case(&random, what, &known);
        for (int k = 0; k < 1 + (int)(seed % 2); k++) {
            add_loose_contact(&q, &random, seed % 3 == 0);
        }
        const perp_contact_qp problem = contact_qp_of(&q);
        perp_convex_point point = new_point(OF_CONTACT_QP(&problem));
        perp_convex_settings settings = perp_convex_settings_default();
        const perp_convex_info info = solve_convex(OF_CONTACT_QP(&problem), &settings, NULL, &point);
        double off = 0.0;
        for (int i = 0; i < q.n; i++) {
            off = fmax(off, fabs(point.x[i] - known.x[i]));
        }
        if (info.outcome != PERP_OUTCOME_SOLVED || !(off <= 1e-6)) {
            tell("far away", seed, &info);
            fail();
        }
        free_point(&point);
        free_point(&known);
        free_contact_case(&q);
    }
}

static void rows_and_unknowns_have_any_unit(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        perp_random random = {seed};
        double units[8];
        const int n = 1 + (int)(seed % 8);
        dual_case plain = random_dual_case(&random, n, (int)(seed % 9), n > 2 ? (int)(seed % 3) : 0, seed % 2 == 0);
        const perp_convex_info before = solve_qp(&plain, false);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, before);
        dual_case q = in_units(&plain, &random, 8.0, units);
        const perp_convex_info info = solve_qp(&q, true);
        if (info.outcome != PERP_OUTCOME_SOLVED || !is_same(&plain, &q, units)) {
            tell("relative", seed, &info);
            fail();
        }
        const perp_convex_info absolute = solve_qp(&q, false);
        if (absolute.outcome != PERP_OUTCOME_SOLVED) {
            tell("absolute", seed, &absolute);
            fail();
        }
        free_dual_case(&plain);
        free_dual_case(&q);
    }
}

/* The last row asks for more than the first allows, which makes the contradiction; beside it loose rows, or other
 * units. */
static void contradictions_are_proven(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        perp_random random = {seed};
        double units[8];
        const int n = 1 + (int)(seed % 8), rows = 2 + (int)(seed % 6);
        dual_case plain = random_dual_case(&random, n, rows, 0, seed % 2 == 0);
        const double gap = power_of_ten(&random, -3.0, 1.0);
        for (int i = 0; i < n; i++) {
            plain.a[(rows - 1) * n + i] = -plain.a[i];
        }
        plain.b[rows - 1] = -plain.b[0] + gap * (1.0 + fabs(plain.b[0]));
        dual_case q = seed % 4 < 2 ? with_loose_rows(&plain, &random, 1 + (int)(seed % 3), 6.0, 20.0)
                                   : in_units(&plain, &random, 6.0, units);
        const perp_convex_info info = solve_qp(&q, seed % 4 >= 2 || seed % 3 == 0);
        if (info.outcome != PERP_OUTCOME_INFEASIBLE) {
            tell("contradiction", seed, &info);
            fail();
        }
        free_dual_case(&plain);
        free_dual_case(&q);
    }
}

/* Unknown 0 is flat and falls; the others are held, with forces of up to 1e8 on some. */
static void falls_are_proven(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        perp_random random = {seed};
        double units[8];
        const int n = 1 + (int)(seed % 8);
        dual_case plain = random_dual_case(&random, n, 0, 0, false);
        plain.bounded = true;
        for (int i = 0; i < n; i++) {
            plain.h[i] = plain.h[i * n] = 0.0;
            plain.lower[i] = 0.0;
            plain.g[i] = i == 0 ? -1.0 : i % 2 ? power_of_ten(&random, 0.0, 8.0) : plain.g[i];
        }
        dual_case q = seed % 2 ? with_loose_rows(&plain, &random, 1, 6.0, 20.0) : in_units(&plain, &random, 6.0, units);
        for (int k = 0; k < q.rows; k++) {
            q.a[k * n] = fabs(q.a[k * n]);
        }
        const perp_convex_info info = solve_qp(&q, seed % 2 == 0 || seed % 3 == 0);
        if (info.outcome != PERP_OUTCOME_UNBOUNDED) {
            tell("fall", seed, &info);
            fail();
        }
        free_dual_case(&plain);
        free_dual_case(&q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loose_rows_change_nothing), cmocka_unit_test(loose_rows_of_an_lp),
        cmocka_unit_test(contacts_far_away),         cmocka_unit_test(rows_and_unknowns_have_any_unit),
        cmocka_unit_test(contradictions_are_proven), cmocka_unit_test(falls_are_proven),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
