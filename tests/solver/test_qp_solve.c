/* Dense qps: closed forms, identities between methods and between problems, no solution, refusals. */
#include "convex_test.h"

static perp_convex_info solve_case(dual_case *q, const perp_convex_settings *settings)
{
    const perp_qp problem = dual_qp_of(q);
    return solve_convex(OF_QP(&problem), settings, NULL, &q->point);
}

static perp_convex_info solve_case_well(dual_case *q, const perp_convex_settings *settings)
{
    const perp_qp problem = dual_qp_of(q);
    return assert_convex_solved(OF_QP(&problem), settings, &q->point);
}

/* ---- closed forms ------------------------------------------------------------------------------------------------ */

/* min |x - p|^2 / 2: the projection of p, and multipliers are what it moved by. */
static void box(void **state)
{
    (void)state;
    static const double p[4] = {3.0, -3.0, 0.25, 1.0};
    dual_case q = new_dual_case(4, 0, 0);
    q.bounded = true;
    for (int i = 0; i < 4; i++) {
        q.g[i] = -p[i];
        q.lower[i] = -2.0;
        q.upper[i] = i == 3 ? INFINITY : 1.0;
    }
    solve_case_well(&q, NULL);
    const double x[4] = {1.0, -2.0, 0.25, 1.0}, below[4] = {0.0, 1.0, 0.0, 0.0}, above[4] = {2.0, 0.0, 0.0, 0.0};
    for (int i = 0; i < 4; i++) {
        ASSERT_NEAR(q.point.x[i], x[i], 1e-12);
        ASSERT_NEAR(q.point.y_lower[i], below[i], 1e-12);
        ASSERT_NEAR(q.point.y_upper[i], above[i], 1e-12);
    }
    free_dual_case(&q);
}

/* On {x >= 0, sum x = 1}: x = max(p - t, 0) with the t that makes the sum 1; here t = 0.25. */
static void simplex(void **state)
{
    (void)state;
    static const double p[4] = {0.9, 0.6, 0.2, -1.0}, x[4] = {0.65, 0.35, 0.0, 0.0}, y[4] = {0.0, 0.0, 0.05, 1.25};
    dual_case q = new_dual_case(4, 4, 1);
    for (int i = 0; i < 4; i++) {
        q.g[i] = -p[i];
        q.a[i * 4 + i] = q.c[i] = 1.0;
    }
    q.d[0] = 1.0;
    solve_case_well(&q, NULL);
    for (int i = 0; i < 4; i++) {
        ASSERT_NEAR(q.point.x[i], x[i], 1e-11);
        ASSERT_NEAR(q.point.y[i], y[i], 1e-11);
    }
    ASSERT_NEAR(q.point.y_equality[0], -0.25, 1e-11);
    free_dual_case(&q);
}

/* a.x >= b: x = p + a max(b - a.p, 0) / |a|^2. */
static void half_space(void **state)
{
    (void)state;
    const double p[3] = {1.0, 2.0, -1.0}, a[3] = {2.0, -1.0, 2.0};
    for (int k = 0; k < 2; k++) {
        dual_case q = new_dual_case(3, 1, 0);
        q.b[0] = k == 0 ? 7.0 : -7.0; /* a.p = -2 */
        for (int i = 0; i < 3; i++) {
            q.g[i] = -p[i];
            q.a[i] = a[i];
        }
        solve_case_well(&q, NULL);
        for (int i = 0; i < 3; i++) {
            ASSERT_NEAR(q.point.x[i], p[i] + (k == 0 ? a[i] : 0.0), 1e-11);
        }
        ASSERT_NEAR(q.point.y[0], k == 0 ? 1.0 : 0.0, 1e-11);
        free_dual_case(&q);
    }
}

/* min x^2 + y^2 / 2 + z^2 / 2 with x + y + z = 5 and x - z = 1, the second said three times. On the line
 * (1, 4, 0) + t (1, -2, 1): 2 (1 + t) - 2 (4 - 2 t) + t = 0, t = 6/7. */
static void equations_that_depend_on_each_other(void **state)
{
    (void)state;
    dual_case q = new_dual_case(3, 0, 4);
    const double c[12] = {1.0, 1.0, 1.0, 1.0, 0.0, -1.0, -2.0, 0.0, 2.0, 1.0, 0.0, -1.0}, d[4] = {5.0, 1.0, -2.0, 1.0};
    memcpy(q.c, c, sizeof c);
    memcpy(q.d, d, sizeof d);
    q.h[0] = 2.0;
    const double t = 6.0 / 7.0, x[3] = {1.0 + t, 4.0 - 2.0 * t, t};
    const perp_convex_info info = solve_case_well(&q, NULL);
    for (int i = 0; i < 3; i++) {
        ASSERT_NEAR(q.point.x[i], x[i], 1e-10);
    }
    /* C'z = H x: z0 = y, and z0 + w = 2 x with w the three's share, split as 1 : -2 : 1 over 1 + 4 + 1 */
    const double share = (2.0 * x[0] - x[1]) / 6.0, z[4] = {x[1], share, -2.0 * share, share};
    assert_true(info.minimum_norm);
    for (int i = 0; i < 4; i++) {
        ASSERT_NEAR(q.point.y_equality[i], z[i], 1e-9);
    }
    free_dual_case(&q);
}

/* H = u u', u = (1, 2): only u.x matters, and x >= 0 says where it ends. */
static void hessian_of_rank_one(void **state)
{
    (void)state;
    dual_case q = new_dual_case(2, 0, 0);
    q.bounded = true;
    q.h[0] = 1.0;
    q.h[1] = q.h[2] = 2.0;
    q.h[3] = 4.0;
    q.lower[0] = q.lower[1] = 0.0;
    q.g[0] = -3.0; /* (u.x)^2 / 2 - 3 u.x: u.x = 3, an edge of solutions */
    q.g[1] = -6.0;
    perp_convex_info info = solve_case_well(&q, NULL);
    ASSERT_NEAR(info.objective, -4.5, 1e-10);
    ASSERT_NEAR(q.point.x[0] + 2.0 * q.point.x[1], 3.0, 1e-10);
    q.g[1] = -5.0; /* y is the worse way: x = 3, y = 0 with a force of 1 */
    info = solve_case_well(&q, NULL);
    ASSERT_NEAR(q.point.x[0], 3.0, CLOSE);
    ASSERT_NEAR(q.point.y_lower[1], 1.0, CLOSE);
    q.bounded = false; /* along (2, -1) nothing holds it */
    info = solve_case(&q, NULL);
    ASSERT_OUTCOME(PERP_OUTCOME_UNBOUNDED, info);
    ASSERT_NEAR(q.point.x[0], -2.0 * q.point.x[1], 1e-6);
    free_dual_case(&q);
}

/* A quasidynamic step (Pang and Tedrake): k = 1 pulls the pusher from 0 to 0.15, the slider of mass 0.01 is at 0.2,
 * they touch at a distance of 0.1, h = 0.01. Both move on by the same (0.15 - 0.1) / 101 from touching. */
static void linear_pusher(void **state)
{
    (void)state;
    const double stiffness = 1.0, mass = 0.01, h = 0.01, inertia = mass / (h * h);
    dual_case q = new_dual_case(2, 1, 0);
    q.h[0] = stiffness;
    q.g[0] = -stiffness * 0.15;
    q.h[3] = inertia;
    q.g[1] = -inertia * 0.2;
    q.a[0] = -1.0;
    q.a[1] = 1.0;
    q.b[0] = 0.1;
    solve_case_well(&q, NULL);
    ASSERT_NEAR(q.point.x[0], 0.1 + 0.05 / 101.0, 1e-12);
    ASSERT_NEAR(q.point.x[1], 0.2 + 0.05 / 101.0, 1e-12);
    ASSERT_NEAR(q.point.x[0], 0.1004950, 5e-8);
    ASSERT_NEAR(q.point.x[1], 0.2004950, 5e-8);
    ASSERT_NEAR(q.point.y[0], stiffness * (0.15 - q.point.x[0]), 1e-11);
    free_dual_case(&q);
}

/* ---- identities -------------------------------------------------------------------------------------------------- */

/* H has eigenvalues from 0.1 to 4 or so: one solution, which each method finds, and the cascade, from the solution of a
 * problem nearby. Newton alone promises nothing; it mostly gets there. The error of x is the residual times the
 * condition, below 1e3. */
static void all_methods_agree(void **state)
{
    (void)state;
    int by_newton = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        perp_random random = {seed};
        const int n = 2 + (int)(seed % 12);
        dual_case q = random_dual_case(&random, n, 3 * n, n / 4, seed % 2 == 0);
        const perp_qp problem = dual_qp_of(&q);
        const convex_problem p = OF_QP(&problem);
        perp_convex_point start = new_point(p), point = new_point(p), first = new_point(p);
        for (int i = 0; i < n; i++) {
            q.g[i] += 1e-3;
        }
        assert_convex_solved(p, NULL, &start);
        for (int i = 0; i < n; i++) {
            q.g[i] -= 1e-3;
        }
        assert_convex_solved(p, NULL, &first);
        for (int k = -1; k < perp_convex_method_count(); k++) {
            perp_convex_settings settings = convex_settings(perp_convex_method_name(k));
            settings.warm = &start;
            const perp_convex_info info = solve_convex(p, &settings, NULL, &point);
            assert_true(!settings.method || (info.tried_count == 1 && strcmp(info.method, settings.method) == 0));
            if (k == 0 && info.outcome == PERP_OUTCOME_ITERATION_LIMIT) {
                continue;
            }
            ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
            ASSERT_NEAR(distance_of_x(p, &point, &first), 0.0, CLOSE);
            by_newton += k == 0 ? 1 : 0;
        }
        free_point(&start);
        free_point(&point);
        free_point(&first);
        free_dual_case(&q);
    }
    assert_true(by_newton >= 80);
}

/* f times the objective: the same x, f times the multipliers. r times a row: its multiplier over r. Negated unknowns:
 * the mirror image. Multipliers of random rows are unique, as no more than n of them are active. */
static void scaled_and_mirrored(void **state)
{
    (void)state;
    const double objective = 7.0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        perp_random random = {seed};
        const int n = 3 + (int)(seed % 6), rows = n + 2;
        dual_case one = random_dual_case(&random, n, rows, 1, false), other = new_dual_case(n, rows, 1);
        for (int i = 0; i < n * n; i++) {
            const double sign = (i / n % 2 ? -1.0 : 1.0) * (i % n % 2 ? -1.0 : 1.0);
            other.h[i] = objective * sign * one.h[i];
        }
        for (int j = 0; j < n; j++) {
            const double sign = j % 2 ? -1.0 : 1.0;
            other.g[j] = objective * sign * one.g[j];
            other.c[j] = sign * one.c[j];
            for (int i = 0; i < rows; i++) {
                other.a[i * n + j] = (1.0 + i) * sign * one.a[i * n + j];
            }
        }
        for (int i = 0; i < rows; i++) {
            one.b[i] -= 0.01 * i; /* no more than n through one point */
            other.b[i] = (1.0 + i) * one.b[i];
        }
        other.d[0] = one.d[0];
        solve_case_well(&one, NULL);
        solve_case_well(&other, NULL);
        for (int j = 0; j < n; j++) {
            ASSERT_NEAR(other.point.x[j], (j % 2 ? -1.0 : 1.0) * one.point.x[j], CLOSE);
        }
        for (int i = 0; i < rows; i++) {
            ASSERT_NEAR(other.point.y[i], objective / (1.0 + i) * one.point.y[i], 1e-5);
        }
        ASSERT_NEAR(other.point.y_equality[0], objective * one.point.y_equality[0], 1e-5);
        free_dual_case(&one);
        free_dual_case(&other);
    }
}

/* Rows by the dozen through one point, repeated, opposed, and equations twice. */
static void degenerate_problems_are_solved(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        perp_random random = {seed};
        const int n = 1 + (int)(seed % 12);
        dual_case q = degenerate_dual_case(&random, n, 4 * n);
        const perp_convex_info info = solve_case(&q, NULL);
        if (info.outcome != PERP_OUTCOME_SOLVED) {
            print_error("seed %d: %s\n", (int)seed, perp_outcome_name(info.outcome));
            fail();
        }
        free_dual_case(&q);
    }
}

/* A contact qp written out as dense arrays, solved as what it then is. */
static void dense_and_contact_agree(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        perp_random random = {seed};
        const contact_kind kind = (contact_kind)(seed % 4);
        const random_contacts what = {.bodies = 1 + (int)(seed % 3),
                                      .contacts = 1 + (int)(seed % 9),
                                      .equalities = seed % 3 == 0 ? 1 : 0,
                                      .kind = kind,
                                      .bounded = seed % 5 == 0 && kind < CONTACT_CONES}; /* cone qps have no bounds */
        perp_convex_point known;
        contact_case q = random_contact_case(&random, what, &known);
        const perp_contact_qp problem = contact_qp_of(&q);
        written_out w = write_out(OF_CONTACT_QP(&problem));
        const int n = w.n, m = w.slacks, e = w.equalities;
        const size_t lengths[6] = {(size_t)(n * n), (size_t)n, (size_t)(m * n), (size_t)m, (size_t)(e * n), (size_t)e};
        const long double *wide[6] = {w.h, w.g, w.a, w.offset, w.c, w.d};
        double *dense[6];
        for (int k = 0; k < 6; k++) {
            dense[k] = calloc(lengths[k] + 1, sizeof(double));
            assert_non_null(dense[k]);
            for (size_t i = 0; i < lengths[k]; i++) {
                dense[k][i] = (double)(k == 3 && what.kind < CONTACT_CONES ? -wide[k][i] : wide[k][i]);
            }
        }
        const perp_qp qp = {n, dense[0], dense[1], m, dense[2], dense[3], e, dense[4], dense[5], w.lower, w.upper};
        const perp_cone_qp cone = {n,        dense[0], dense[1], w.cones,  w.cone_rows,
                                   dense[2], dense[3], e,        dense[4], dense[5]};
        const convex_problem p = what.kind < CONTACT_CONES ? OF_QP(&qp) : OF_CONE_QP(&cone);
        perp_convex_point one = new_point(p), other = new_point(p);
        const perp_convex_info a = assert_convex_solved(OF_CONTACT_QP(&problem), NULL, &one);
        const perp_convex_info b = assert_convex_solved(p, NULL, &other);
        ASSERT_NEAR(a.objective, b.objective, 1e-9 * (1.0 + fabs(a.objective)));
        ASSERT_NEAR(distance_of_x(p, &one, &other), 0.0, 1e-6);
        ASSERT_NEAR(distance_of_x(p, &one, &known), 0.0, 1e-6);
        free_point(&one);
        free_point(&other);
        free_point(&known);
        for (int k = 0; k < 6; k++) {
            free(dense[k]);
        }
        free_written_out(&w);
        free_contact_case(&q);
    }
}

/* ---- no solution ------------------------------------------------------------------------------------------------- */

static void contradictions_are_proven(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        perp_random random = {seed};
        const int n = 1 + (int)(seed % 10);
        dual_case q = random_dual_case(&random, n, 2 * n + 2, 0, seed % 3 == 0);
        contradict_dual_case(&q, &random, seed % 2 ? 1.0 : 1e-3);
        const perp_convex_info info = solve_case(&q, NULL);
        if (info.outcome != PERP_OUTCOME_INFEASIBLE) {
            print_error("seed %d: %s\n", (int)seed, perp_outcome_name(info.outcome));
            fail();
        }
        free_dual_case(&q);
    }
}

/* x >= 1 and -x >= 0; x = 1 and 2 x = 3; x >= 2 and the bound x <= 1; 0 x = 1; 0 x >= 1. */
static void small_contradictions_are_proven(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++) {
        dual_case q = new_dual_case(1, 2, 2);
        q.a[0] = q.c[0] = 1.0;
        q.a[1] = -1.0;
        q.b[0] = -10.0;
        q.b[1] = -10.0;
        switch (k) {
        case 0:
            q.b[0] = 1.0;
            q.b[1] = 0.0;
            break;
        case 1:
            q.d[0] = 1.0;
            q.c[1] = 2.0;
            q.d[1] = 3.0;
            break;
        case 2:
            q.bounded = true;
            q.b[0] = 2.0;
            q.upper[0] = 1.0;
            break;
        case 3:
            q.d[1] = 1.0;
            break;
        default:
            q.a[0] = 0.0;
            q.b[0] = 1.0;
        }
        ASSERT_OUTCOME(PERP_OUTCOME_INFEASIBLE, solve_case(&q, NULL));
        free_dual_case(&q);
    }
}

/* ---- refusals and edges -------------------------------------------------------------------------------------------
 */

/* H, A and C without a zero. */
static void fill(dual_case *q)
{
    for (int i = 0; i < q->n * q->n; i++) {
        q->h[i] = i % (q->n + 1) == 0 ? 2.0 : 0.1;
    }
    for (int i = 0; i < q->rows * q->n; i++) {
        q->a[i] = 1.0;
    }
    for (int i = 0; i < q->equalities * q->n; i++) {
        q->c[i] = 1.0 / (1.0 + i);
    }
}

/* Where nothing is wrong it would have room. */
static void assert_refused(const dual_case *q, const perp_convex_settings *settings, const char *words)
{
    dual_case fits = new_dual_case(3, 2, 1);
    fill(&fits);
    const perp_qp room = dual_qp_of(&fits), problem = dual_qp_of(q);
    perp_convex_workspace *workspace = new_convex_workspace(NULL);
    perp_convex_info info;
    perp_error error;
    ASSERT_STATUS(PERP_STATUS_OK, perp_qp_reserve(&room, workspace, NULL));
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_qp_solve(&problem, settings, workspace, &fits.point, &info, &error));
    if (!strstr(error.message, words)) {
        print_error("\"%s\" does not say \"%s\"\n", error.message, words);
        fail();
    }
    perp_convex_workspace_free(workspace);
    free_dual_case(&fits);
}

static void wrong_problems_are_refused(void **state)
{
    (void)state;
    static const double wrong[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    dual_case q = new_dual_case(3, 2, 1);
    double *entries[] = {q.h, q.g + 2, q.a + 5, q.b + 1, q.c + 1, q.d};
    for (size_t k = 0; k < 18; k++) {
        const double kept = *entries[k % 6];
        *entries[k % 6] = wrong[k / 6];
        assert_refused(&q, NULL, k < 6 ? "nan" : "inf");
        *entries[k % 6] = kept;
    }
    q.bounded = true;
    q.lower[1] = 2.0;
    q.upper[1] = 1.0;
    assert_refused(&q, NULL, "bound");
    q.lower[1] = NAN;
    assert_refused(&q, NULL, "nan");
    q.bounded = false;
    q.h[1] = 1e-6;
    assert_refused(&q, NULL, "symmetric");
    q.h[1] = 0.0;
    q.h[4] = -1e-3;
    assert_refused(&q, NULL, "H");
    q.h[4] = 1.0;
    q.h[1] = q.h[3] = 1.1; /* a 2 x 2 minor */
    assert_refused(&q, NULL, "H");
    for (int i = 0; i < 9; i++) {
        q.h[i] = i % 4 == 0 ? 1.0 : -0.6; /* only the whole: -0.2 is an eigenvalue */
    }
    assert_refused(&q, NULL, "indefinite");
    q.n = -1;
    assert_refused(&q, NULL, "-1");
    q.n = 3;
    q.rows = -7;
    assert_refused(&q, NULL, "-7");
    free_dual_case(&q);
}

static void wrong_settings_are_refused(void **state)
{
    (void)state;
    dual_case q = new_dual_case(3, 2, 1);
    static const double tolerances[] = {0.0, 9e-13, -1.0, (double)NAN, (double)INFINITY};
    for (size_t k = 0; k < sizeof tolerances / sizeof *tolerances; k++) {
        perp_convex_settings settings = convex_settings(NULL);
        settings.tolerance = tolerances[k];
        assert_refused(&q, &settings, "tolerance");
    }
    perp_convex_settings settings = convex_settings("simplex");
    assert_refused(&q, &settings, "simplex");
    settings = convex_settings(NULL);
    settings.max_iterations = -1;
    assert_refused(&q, &settings, "-1");
    free_dual_case(&q);
}

static void methods_have_names(void **state)
{
    (void)state;
    static const char *const names[] = {"newton", "ipm", "dual"};
    assert_int_equal(perp_convex_method_count(), 3);
    for (int k = 0; k < 3; k++) {
        assert_string_equal(perp_convex_method_name(k), names[k]);
        assert_true(strlen(perp_convex_method_summary(k)) > 10);
    }
    assert_null(perp_convex_method_name(-1));
    assert_null(perp_convex_method_name(3));
    assert_null(perp_convex_method_summary(-1));
    assert_null(perp_convex_method_summary(3));
}

static void small_problems(void **state)
{
    (void)state;
    dual_case q = new_dual_case(0, 0, 0); /* nothing */
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_case(&q, NULL));
    free_dual_case(&q);
    q = new_dual_case(0, 1, 0); /* 0 >= 1 */
    q.b[0] = 1.0;
    ASSERT_OUTCOME(PERP_OUTCOME_INFEASIBLE, solve_case(&q, NULL));
    free_dual_case(&q);
    q = new_dual_case(0, 1, 1); /* 0 >= -1, 0 = 0 */
    q.b[0] = -1.0;
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_case(&q, NULL));
    free_dual_case(&q);
    q = new_dual_case(3, 0, 0); /* no constraints: H x = -g */
    q.g[1] = 3.0;
    q.h[4] = 2.0;
    for (int k = 0; k < perp_convex_method_count(); k++) {
        const perp_convex_settings settings = convex_settings(perp_convex_method_name(k));
        solve_case_well(&q, &settings);
        ASSERT_NEAR(q.point.x[1], -1.5, 1e-12);
    }
    free_dual_case(&q);
    q = new_dual_case(1, 0, 0); /* lower = upper */
    q.bounded = true;
    q.lower[0] = q.upper[0] = 2.0;
    q.g[0] = 1.0;
    solve_case_well(&q, NULL);
    ASSERT_NEAR(q.point.x[0], 2.0, 1e-12);
    ASSERT_NEAR(q.point.y_lower[0] - q.point.y_upper[0], 3.0, 1e-11);
    assert_true(fmin(q.point.y_lower[0], q.point.y_upper[0]) <= 1e-11); /* of least norm */
    free_dual_case(&q);
}

/* One of three random entries of A and C stays, and of H beside the diagonal none, where `thin`. */
static dual_case case_with_zeros(perp_random *random, bool thin)
{
    dual_case q = random_dual_case(random, 12, 16, 2, false);
    for (int i = 0; i < q.n * q.n; i++) {
        q.h[i] = thin && i % (q.n + 1) != 0 ? 0.0 : q.h[i];
    }
    for (int i = 0; i < q.rows * q.n; i++) {
        q.a[i] = perp_random_uniform(random, 0.0, 3.0) < 1.0 ? q.a[i] : 0.0;
    }
    for (int i = 0; i < q.equalities * q.n; i++) {
        q.c[i] = perp_random_uniform(random, 0.0, 3.0) < 1.0 ? q.c[i] : 0.0;
    }
    return q;
}

/* What was reserved for a problem of the same sizes with its zeros elsewhere may be too little: that is said, or the
 * answer is the one that a workspace of its own gives, bit for bit. */
static void other_zeros_are_capacity_or_right(void **state)
{
    (void)state;
    int right = 0, refused = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        perp_random random = {seed};
        dual_case first = case_with_zeros(&random, seed % 3 != 0), then = case_with_zeros(&random, seed % 2 != 0);
        const perp_qp reserved = dual_qp_of(&first), problem = dual_qp_of(&then);
        const convex_problem p = OF_QP(&problem);
        perp_convex_workspace *workspace = new_convex_workspace(NULL);
        perp_convex_point own = new_point(p);
        perp_convex_info info;
        ASSERT_STATUS(PERP_STATUS_OK, perp_qp_reserve(&reserved, workspace, NULL));
        const perp_status status = perp_qp_solve(&problem, NULL, workspace, &then.point, &info, NULL);
        if (status == PERP_STATUS_OK) {
            const perp_convex_settings settings = convex_settings(NULL);
            right++;
            assert_truthful(p, &settings, &then.point, &info);
            ASSERT_OUTCOME(solve_convex(p, NULL, NULL, &own).outcome, info);
            assert_true(distance_of_x(p, &own, &then.point) == 0.0);
            assert_true(distance_of_multipliers(p, &own, &then.point) == 0.0);
        } else {
            refused++;
            ASSERT_STATUS(PERP_STATUS_CAPACITY, status);
        }
        /* the workspace is none the worse for it */
        ASSERT_STATUS(PERP_STATUS_OK, perp_qp_solve(&reserved, NULL, workspace, &first.point, &info, NULL));
        perp_convex_workspace_free(workspace);
        free_point(&own);
        free_dual_case(&first);
        free_dual_case(&then);
    }
    assert_true(right > 0 && refused > 0); /* both occur */
}

static void nothing_reserved_is_capacity(void **state)
{
    (void)state;
    dual_case small = new_dual_case(3, 2, 1), large = new_dual_case(60, 200, 30);
    const perp_qp fits = dual_qp_of(&small), does_not = dual_qp_of(&large);
    perp_convex_workspace *workspace = new_convex_workspace(NULL);
    perp_convex_info info;
    for (int k = -1; k < perp_convex_method_count(); k++) {
        const perp_convex_settings settings = convex_settings(perp_convex_method_name(k));
        ASSERT_STATUS(PERP_STATUS_CAPACITY, perp_qp_solve(&fits, &settings, workspace, &small.point, &info, NULL));
    }
    ASSERT_STATUS(PERP_STATUS_OK, perp_qp_reserve(&fits, workspace, NULL));
    for (int k = -1; k < perp_convex_method_count(); k++) {
        const perp_convex_settings settings = convex_settings(perp_convex_method_name(k));
        ASSERT_STATUS(PERP_STATUS_CAPACITY, perp_qp_solve(&does_not, &settings, workspace, &large.point, &info, NULL));
        ASSERT_STATUS(PERP_STATUS_OK, perp_qp_solve(&fits, &settings, workspace, &small.point, &info, NULL));
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
    }
    perp_convex_workspace_free(workspace);
    free_dual_case(&small);
    free_dual_case(&large);
}

/* ---- whatever comes in ---------------------------------------------------------------------------------------------
 */

static double extreme(perp_random *random)
{
    static const double sizes[] = {0.0, 0.0, 1.0, 1.0, 1e-300, 5e-324, 1e300, 1.7e308, 1e12, 1e-12};
    const uint64_t bits = perp_random_bits(random);
    return (bits & 1 ? -1.0 : 1.0) * sizes[(bits >> 8) % 10];
}

/* Solved is true, a proof holds, and no number is left that is not finite. */
static void extreme_entries_never_lie(void **state)
{
    (void)state;
    int solved = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        perp_random random = {seed};
        const int n = 1 + (int)(seed % 5);
        dual_case q = new_dual_case(n, (int)(seed % 7), (int)(seed % 3));
        q.bounded = seed % 4 == 0;
        for (int i = 0; i < n; i++) {
            q.h[i * n + i] = fabs(extreme(&random));
            q.g[i] = extreme(&random);
            q.lower[i] = -fabs(extreme(&random));
            q.upper[i] = fabs(extreme(&random));
        }
        for (int i = 0; i < q.rows * n; i++) {
            q.a[i] = extreme(&random);
        }
        for (int i = 0; i < q.rows; i++) {
            q.b[i] = extreme(&random);
        }
        for (int i = 0; i < q.equalities * n; i++) {
            q.c[i] = extreme(&random);
        }
        for (int i = 0; i < q.equalities; i++) {
            q.d[i] = extreme(&random);
        }
        const perp_qp problem = dual_qp_of(&q);
        perp_convex_workspace *workspace = new_convex_workspace(NULL);
        perp_convex_info info;
        ASSERT_STATUS(PERP_STATUS_OK, perp_qp_reserve(&problem, workspace, NULL));
        ASSERT_STATUS(PERP_STATUS_OK, perp_qp_solve(&problem, NULL, workspace, &q.point, &info, NULL));
        assert_true(is_finite_point(OF_QP(&problem), &q.point));
        double scale;
        if (info.outcome == PERP_OUTCOME_SOLVED) {
            assert_true(judge_convex(OF_QP(&problem), &q.point) <= 1.001e-8);
            solved++;
        } else if (info.outcome == PERP_OUTCOME_INFEASIBLE) {
            assert_true(judge_infeasible(OF_QP(&problem), &q.point, &scale) <= 1.001e-8);
        } else if (info.outcome == PERP_OUTCOME_UNBOUNDED) {
            assert_true(judge_unbounded(OF_QP(&problem), q.point.x, &scale) <= 1.001e-8);
        }
        perp_convex_workspace_free(workspace);
        free_dual_case(&q);
    }
    assert_true(solved > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(box),
        cmocka_unit_test(simplex),
        cmocka_unit_test(half_space),
        cmocka_unit_test(equations_that_depend_on_each_other),
        cmocka_unit_test(hessian_of_rank_one),
        cmocka_unit_test(linear_pusher),
        cmocka_unit_test(all_methods_agree),
        cmocka_unit_test(scaled_and_mirrored),
        cmocka_unit_test(degenerate_problems_are_solved),
        cmocka_unit_test(dense_and_contact_agree),
        cmocka_unit_test(contradictions_are_proven),
        cmocka_unit_test(small_contradictions_are_proven),
        cmocka_unit_test(wrong_problems_are_refused),
        cmocka_unit_test(wrong_settings_are_refused),
        cmocka_unit_test(methods_have_names),
        cmocka_unit_test(small_problems),
        cmocka_unit_test(nothing_reserved_is_capacity),
        cmocka_unit_test(other_zeros_are_capacity_or_right),
        cmocka_unit_test(extreme_entries_never_lie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
