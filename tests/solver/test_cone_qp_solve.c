/* Second-order cones in dense problems: closed forms, reference numbers, proofs, refusals. */
#include "convex_test.h"

enum { MOST_N = 12, MOST_ROWS = 16 };

/* A cone qp with arrays of its own, H = I. */
typedef struct cone_case {
    int n, cones, rows, equalities;
    int cone_rows[MOST_ROWS];
    double h[MOST_N * MOST_N], g[MOST_N], a[MOST_ROWS * MOST_N], b[MOST_ROWS], c[4 * MOST_N], d[4];
} cone_case;

static cone_case new_cone_case(int n)
{
    cone_case q = {.n = n};
    for (int i = 0; i < n; i++) {
        q.h[i * n + i] = 1.0;
    }
    return q;
}

/* `a` has rows x n. */
static void add_cone(cone_case *q, int rows, const double *a, const double *b)
{
    assert_true(q->rows + rows <= MOST_ROWS);
    memcpy(q->a + (ptrdiff_t)q->rows * q->n, a, (size_t)(rows * q->n) * sizeof(double));
    memcpy(q->b + q->rows, b, (size_t)rows * sizeof(double));
    q->cone_rows[q->cones++] = rows;
    q->rows += rows;
}

static perp_cone_qp cone_qp_of(const cone_case *q)
{
    return (perp_cone_qp){q->n, q->h, q->g, q->cones, q->cone_rows, q->a, q->b, q->equalities, q->c, q->d};
}

static perp_convex_info solve_cone_case(const cone_case *q, const perp_convex_settings *settings,
                                        perp_convex_point *point)
{
    const perp_cone_qp problem = cone_qp_of(q);
    *point = new_point(OF_CONE_QP(&problem));
    return solve_convex(OF_CONE_QP(&problem), settings, NULL, point);
}

/* ---- closed forms ------------------------------------------------------------------------------------------------ */

static void project(int n, const double *p, double *x)
{
    double tail = 0.0;
    for (int i = 1; i < n; i++) {
        tail = hypot(tail, p[i]);
    }
    const double head = p[0] >= tail ? p[0] : (p[0] <= -tail ? 0.0 : (p[0] + tail) / 2.0);
    x[0] = head;
    for (int i = 1; i < n; i++) {
        x[i] = p[0] >= tail ? p[i] : (head > 0.0 ? head / tail * p[i] : 0.0);
    }
}

/* min |x - p|^2 / 2 over the cone: x = P(p) and, by Moreau, y = P(-p). Inside, in the polar cone, between, on either
 * boundary, at the tip. */
static void points_are_projected_on_the_cone(void **state)
{
    (void)state;
    static const double points[][4] = {{2.0, 1.0, -0.5, 0.3},  {-2.0, 1.0, 0.5, 0.2}, {0.5, 1.0, -2.0, 1.0},
                                       {-0.5, 1.0, -2.0, 1.0}, {5.0, 3.0, 4.0, 0.0},  {-5.0, 3.0, 0.0, -4.0},
                                       {0.0, 0.0, 0.0, 0.0},   {0.0, 1.0, 0.0, 0.0},  {1e-3, 1e3, 0.0, 1.0}};
    for (size_t k = 0; k < sizeof points / sizeof *points; k++) {
        for (int n = 1; n <= 4; n++) {
            cone_case q = new_cone_case(n);
            const double zero[4] = {0.0}, *p = points[k];
            double x[4], y[4], minus[4];
            for (int i = 0; i < n; i++) {
                q.g[i] = -p[i];
                minus[i] = -p[i];
            }
            add_cone(&q, n, q.h, zero);
            project(n, p, x);
            project(n, minus, y);
            perp_convex_point point;
            const perp_convex_info info = solve_cone_case(&q, NULL, &point);
            ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
            assert_true(info.minimum_norm);
            /* On a boundary s and y vanish together, and a residual of 1e-8 (1 + |p|) is an error of its root. */
            const double near = k == 4 || k == 5 ? 2.5e-4 : 1e-9 * (1.0 + fabs(p[1]));
            for (int i = 0; i < n; i++) {
                ASSERT_NEAR(point.x[i], x[i], near);
                ASSERT_NEAR(point.y[i], y[i], near);
            }
            free_point(&point);
        }
    }
}

/* min c.x over |x| <= 1: x = -c / |c|, with H = 0. */
static void linear_function_on_a_ball(void **state)
{
    (void)state;
    const double c[3] = {1.0, -2.0, 2.0}, b[4] = {1.0, 0.0, 0.0, 0.0};
    double a[12] = {0.0};
    cone_case q = new_cone_case(3);
    for (int i = 0; i < 3; i++) {
        a[3 * (i + 1) + i] = 1.0;
        q.g[i] = c[i];
    }
    add_cone(&q, 4, a, b);
    perp_cone_qp problem = cone_qp_of(&q);
    problem.h = NULL;
    perp_convex_point point = new_point(OF_CONE_QP(&problem));
    const perp_convex_info info = assert_convex_solved(OF_CONE_QP(&problem), NULL, &point);
    ASSERT_NEAR(info.objective, -3.0, 1e-9);
    ASSERT_NEAR(point.y[0], 3.0, CLOSE); /* the multiplier of the radius */
    for (int i = 0; i < 3; i++) {
        ASSERT_NEAR(point.x[i], -c[i] / 3.0, CLOSE);
        ASSERT_NEAR(point.y[i + 1], c[i], CLOSE);
    }
    free_point(&point);
}

/* min t with |F x - p| <= t: t is the distance of p to the line that F x runs along. (1, 1, 1) to (3, 4, 0) x. */
static void distance_to_a_line(void **state)
{
    (void)state;
    cone_case q = new_cone_case(2);
    const double a[8] = {0.0, 1.0, 3.0, 0.0, 4.0, 0.0, 0.0, 0.0}, b[4] = {0.0, -1.0, -1.0, -1.0};
    q.g[1] = 1.0;
    add_cone(&q, 4, a, b);
    perp_cone_qp problem = cone_qp_of(&q);
    problem.h = NULL;
    perp_convex_point point = new_point(OF_CONE_QP(&problem));
    assert_convex_solved(OF_CONE_QP(&problem), NULL, &point);
    ASSERT_NEAR(point.x[0], 7.0 / 25.0, CLOSE);
    ASSERT_NEAR(point.x[1], sqrt(3.0 - 49.0 / 25.0), 1e-9);
    free_point(&point);
}

/* Cones of one row are a qp: x >= 1, and the sum with an equation. */
static void half_lines_are_rows(void **state)
{
    (void)state;
    cone_case q = new_cone_case(2);
    const double row[2] = {1.0, 0.0}, offset = -1.0;
    q.g[0] = 1.0;
    add_cone(&q, 1, row, &offset);
    q.equalities = 1;
    q.c[0] = q.c[1] = 1.0;
    q.d[0] = 5.0;
    perp_convex_point point;
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_cone_case(&q, NULL, &point));
    /* min x^2 / 2 + x + (5 - x)^2 / 2: x = 2 */
    ASSERT_NEAR(point.x[0], 2.0, 1e-10);
    ASSERT_NEAR(point.y[0], 0.0, 1e-12);
    free_point(&point);
    q.d[0] = 1.0; /* x = 0 without the row, 1 with: y = 1 + 1 - 0 */
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_cone_case(&q, NULL, &point));
    ASSERT_NEAR(point.x[0], 1.0, 1e-10);
    ASSERT_NEAR(point.x[1], 0.0, 1e-10);
    ASSERT_NEAR(point.y[0], 2.0, 1e-10);
    ASSERT_NEAR(point.y_equality[0], 0.0, 1e-10);
    free_point(&point);
}

/* min |x - p|^2 / 2 over the pyramid of k rays, p = (0.5, 3, 0) midway between two of them: they meet in the edge
 * (c, 1, 0), c = cos(pi / k), on which p has the projection t (c, 1, 0), t = (0.5 c + 3) / (1 + c^2). For many rays c
 * goes to 1, the cone's. */
static void many_rays_are_a_cone(void **state)
{
    (void)state;
    const double mu = 1.0, p[3] = {0.5, 3.0, 0.0}, offset[128] = {0.0}, pi = 4.0 * atan(1.0);
    const int dofs[3] = {0, 1, 2};
    const double identity[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    for (int k = 0; k <= 6; k++) { /* 0: the cone itself */
        const int directions = k == 0 ? 3 : 2 << k;
        double rays[3 * 128];
        contact_case q = new_contact_case(1, 3);
        friction_rays(directions, mu, 0.5, rays);
        const contact_entry entry = {.count = 3,
                                     .rows = 3,
                                     .slacks = directions,
                                     .dofs = dofs,
                                     .jacobian = identity,
                                     .rays = k == 0 ? identity : rays,
                                     .offset = offset,
                                     .quadratic = k == 0};
        for (int i = 0; i < 3; i++) {
            *block_entry(&q, 0, i, i) = 1.0;
            q.g[i] = -p[i];
        }
        add_contact(&q, &entry);
        const perp_contact_qp problem = contact_qp_of(&q);
        perp_convex_point point = new_point(OF_CONTACT_QP(&problem));
        assert_convex_solved(OF_CONTACT_QP(&problem), NULL, &point);
        const double c = k == 0 ? 1.0 : cos(pi / directions), t = (0.5 * c + 3.0) / (1.0 + c * c);
        ASSERT_NEAR(point.x[0], c * t, 1e-9);
        ASSERT_NEAR(point.x[1], t, 1e-9);
        ASSERT_NEAR(point.x[2], 0.0, 1e-9);
        free_point(&point);
        free_contact_case(&q);
    }
}

/* ---- friction at given normal forces: reference friction_qp, seeds 1 and 2 ---------------------- */

/* min f'A f / 2 + d.f over |f_i| <= R_i (mu times the normal force): f is friction, and the gradient A f + d minus the
 * slip, which is opposite to f where a contact slides. Components along t of all contacts, then those along o. */
typedef struct friction_reference {
    int contacts;
    double a[64], d[8], radius[4], force[8], slip[8];
} friction_reference;

static const friction_reference FRICTION[2] = {
    {.contacts = 1,
     .a = {0.08959355152757018, -0.053756949991423296, -0.053756949991423296, 0.1693544574179923},
     .d = {0.060116282266795475, -0.18388204805004635},
     .radius = {0.186123686731},
     .force = {-0.05398081644978506, 0.1781238283266841},
     .slip = {0.04570455547506293, -0.15081413970017787}},
    {.contacts = 4,
     .a = {0.0896275350749863,     0.007108423233080745,  -0.0033576712226112706, 0.0007939524041217274,
           -0.0063973061773012155, 0.035194401535064486,  0.02280242792941855,    0.0056311481683543035,
           0.007108423233080745,   0.07194647016322421,   0.014826176779166565,   0.003413934870276777,
           0.00910457813036877,    -0.004758206032331416, 0.001293916265299843,   0.004118224467348382,
           -0.0033576712226112706, 0.014826176779166565,  0.11859674906703473,    0.006198091600803435,
           0.0027057879349463767,  0.015528458910662273,  0.008879984632721383,   0.01728096170279428,
           0.0007939524041217274,  0.003413934870276777,  0.006198091600803435,   0.10569141971692553,
           0.00707778296520042,    0.008901737317421467,  -0.014489244170966352,  -0.010361802045411875,
           -0.0063973061773012155, 0.00910457813036877,   0.0027057879349463767,  0.00707778296520042,
           0.0907089072139905,     -0.026678304347656764, 0.024470055968019495,   0.028408491633899413,
           0.035194401535064486,   -0.004758206032331416, 0.015528458910662273,   0.008901737317421467,
           -0.026678304347656764,  0.09759546670931672,   0.007041076548641496,   -0.041222939814182645,
           0.02280242792941855,    0.001293916265299843,  0.008879984632721383,   -0.014489244170966352,
           0.024470055968019495,   0.007041076548641496,  0.13218491465845936,    -0.0005387038790671432,
           0.0056311481683543035,  0.004118224467348382,  0.01728096170279428,    -0.010361802045411875,
           0.028408491633899413,   -0.041222939814182645, -0.0005387038790671432, 0.12217273420782154},
     .d = {0.034119621741032814, -0.03558160460933209, 0.03420237065734182, -0.07148954025457996, 0.03077851029067563,
           -0.02224496547927697, -0.027976604336161268, -0.07900354735857058},
     .radius = {0.605178643132, 0.37908619461, 0.0, 0.20174125286000003},
     .force = {-0.4834864787823028, 0.3062028523487964, -0.0, 0.1201487433174979, -0.36398078924275457,
               0.2234863668265963, 0.0, 0.16206113841618067},
     .slip = {0.004164488024874541, -0.02028791833011048, 0.04639638619243834, -0.060395363187096804,
              0.0031351313937537165, -0.014807416466866629, -0.04776628218263086, -0.08146353463968486}},
};

static void friction_reference_is_reproduced(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const friction_reference *r = &FRICTION[k];
        const int n = 2 * r->contacts;
        cone_case q = new_cone_case(n);
        memcpy(q.h, r->a, (size_t)(n * n) * sizeof(double));
        memcpy(q.g, r->d, (size_t)n * sizeof(double));
        for (int i = 0; i < r->contacts; i++) {
            double rows[3 * 8] = {0.0};
            const double b[3] = {r->radius[i], 0.0, 0.0};
            rows[n + i] = rows[2 * n + r->contacts + i] = 1.0;
            add_cone(&q, 3, rows, b);
        }
        perp_convex_point point;
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_cone_case(&q, NULL, &point));
        for (int i = 0; i < r->contacts; i++) {
            const double *y = point.y + 3 * (ptrdiff_t)i;
            for (int j = 0; j < 2; j++) { /* A has eigenvalues above 0.02, and forces are below 1 */
                const int at = i + j * r->contacts;
                ASSERT_NEAR(point.x[at], r->force[at], 1e-6);
                ASSERT_NEAR(y[j + 1], r->slip[at], 1e-6);
            }
            assert_true(hypot(point.x[i], point.x[r->contacts + i]) <= r->radius[i] + 1e-8);
            if (r->radius[i] > 0.0) { /* all of them slide: the multiplier is the speed */
                ASSERT_NEAR(y[0], hypot(r->slip[i], r->slip[r->contacts + i]), 1e-6);
            }
        }
        free_point(&point);
    }
}

/* ---- no solution ------------------------------------------------------------------------------------------------- */

/* x is in the cone, and so is (-1, 0, 0) - x: never. */
static void opposed_cones_are_infeasible(void **state)
{
    (void)state;
    cone_case q = new_cone_case(3);
    const double minus[9] = {-1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0}, zero[3] = {0.0, 0.0, 0.0};
    double b[3] = {-1.0, 0.0, 0.0};
    add_cone(&q, 3, q.h, zero);
    add_cone(&q, 3, minus, b);
    perp_convex_point point;
    ASSERT_OUTCOME(PERP_OUTCOME_INFEASIBLE, solve_cone_case(&q, NULL, &point));
    free_point(&point);
    q.b[3] = 0.0; /* only x = 0 is left */
    q.g[1] = 1.0;
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_cone_case(&q, NULL, &point));
    for (int i = 0; i < 3; i++) {
        ASSERT_NEAR(point.x[i], 0.0, 1e-7); /* feasible to 1e-8 (1 + |b|), both ways */
    }
    free_point(&point);
}

/* H = 0 and g falls along (1, 1, 0) / -2 within the cone; along (1, 0, 0) it rises. */
static void a_cone_may_be_left_without_end(void **state)
{
    (void)state;
    cone_case q = new_cone_case(3);
    const double zero[3] = {0.0, 0.0, 0.0};
    add_cone(&q, 3, q.h, zero);
    perp_cone_qp problem = cone_qp_of(&q);
    problem.h = NULL;
    perp_convex_point point = new_point(OF_CONE_QP(&problem));
    q.g[0] = 1.0;
    q.g[1] = -2.0;
    ASSERT_OUTCOME(PERP_OUTCOME_UNBOUNDED, solve_convex(OF_CONE_QP(&problem), NULL, NULL, &point));
    q.g[1] = -0.5; /* g in the dual cone: x = 0 */
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_convex(OF_CONE_QP(&problem), NULL, NULL, &point));
    ASSERT_NEAR(point.x[0], 0.0, CLOSE);
    ASSERT_NEAR(point.y[0], 1.0, CLOSE);
    ASSERT_NEAR(point.y[1], -0.5, CLOSE);
    free_point(&point);
}

/* x0 = x1 and x0 >= |(x1, 1)|: no point, but points come as near as one likes, and there is no proof. What is said must
 * be true: solved at 1e-8 is a point far out. */
static void nearly_feasible_is_told_truthfully(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        cone_case q = new_cone_case(2);
        const double a[6] = {1.0, 0.0, 0.0, 1.0, 0.0, 0.0}, b[3] = {0.0, 0.0, 1.0};
        add_cone(&q, 3, a, b);
        q.equalities = 1;
        q.c[0] = 1.0;
        q.c[1] = -1.0;
        if (k == 1) {
            memset(q.h, 0, sizeof q.h);
        }
        perp_convex_point point;
        const perp_convex_info info = solve_cone_case(&q, NULL, &point);
        assert_true(info.outcome != PERP_OUTCOME_UNBOUNDED);
        assert_true(info.outcome != PERP_OUTCOME_SOLVED || point.x[0] > 1e6);
        free_point(&point);
    }
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static void assert_refused(const perp_cone_qp *problem, const perp_convex_settings *settings, const char *words)
{
    cone_case good = new_cone_case(3);
    const double zero[3] = {0.0, 0.0, 0.0};
    add_cone(&good, 3, good.h, zero);
    const perp_cone_qp fits = cone_qp_of(&good);
    perp_convex_workspace *workspace = new_convex_workspace(NULL);
    perp_convex_point point = new_point(OF_CONE_QP(&fits));
    perp_convex_info info;
    perp_error error;
    ASSERT_STATUS(PERP_STATUS_OK, perp_cone_qp_reserve(&fits, workspace, NULL));
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_cone_qp_solve(problem, settings, workspace, &point, &info, &error));
    if (!strstr(error.message, words)) {
        print_error("\"%s\" does not say \"%s\"\n", error.message, words);
        fail();
    }
    free_point(&point);
    perp_convex_workspace_free(workspace);
}

static void wrong_problems_are_refused(void **state)
{
    (void)state;
    cone_case q = new_cone_case(3);
    const double zero[3] = {0.0, 0.0, 0.0};
    add_cone(&q, 3, q.h, zero);
    const perp_cone_qp good = cone_qp_of(&q);
    perp_cone_qp bad = good;
    bad.n = -1;
    assert_refused(&bad, NULL, "-1");
    bad = good;
    bad.cones = -2;
    assert_refused(&bad, NULL, "-2");
    const int none[1] = {0};
    bad = good;
    bad.cone_rows = none;
    assert_refused(&bad, NULL, "0 rows");
    double *entries[] = {q.h + 4, q.g + 1, q.a + 2, q.b + 2};
    for (int k = 0; k < 4; k++) {
        static const double wrong[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
        for (int v = 0; v < 3; v++) {
            const double kept = *entries[k];
            *entries[k] = wrong[v];
            assert_refused(&good, NULL, v == 0 ? "nan" : "inf");
            *entries[k] = kept;
        }
    }
    q.h[1] = 0.5;
    assert_refused(&good, NULL, "symmetric");
    q.h[1] = 0.0;
    const perp_convex_settings dual = convex_settings("dual");
    assert_refused(&good, &dual, "dual");
}

/* Every 2 x 2 minor is positive and the eigenvalues are 1.6, 1.6 and -0.2. */
static void indefinite_by_a_minor_of_three_is_refused(void **state)
{
    (void)state;
    cone_case q = new_cone_case(3);
    const double zero[3] = {0.0, 0.0, 0.0}, identity[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    add_cone(&q, 3, identity, zero);
    for (int i = 0; i < 9; i++) {
        q.h[i] = i % 4 == 0 ? 1.0 : -0.6;
    }
    const perp_cone_qp problem = cone_qp_of(&q);
    assert_refused(&problem, NULL, "indefinite");
}

static void no_cones_and_no_unknowns_are_fine(void **state)
{
    (void)state;
    cone_case q = new_cone_case(2);
    q.g[0] = 1.0;
    perp_convex_point point;
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_cone_case(&q, NULL, &point));
    ASSERT_NEAR(point.x[0], -1.0, 1e-12);
    ASSERT_NEAR(point.x[1], 0.0, 1e-12);
    free_point(&point);
    const perp_cone_qp nothing = {.n = 0};
    point = new_point(OF_CONE_QP(&nothing));
    const perp_convex_info info = solve_convex(OF_CONE_QP(&nothing), NULL, NULL, &point);
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
    assert_true(info.objective == 0.0);
    free_point(&point);
}

/* ---- whatever comes in ---------------------------------------------------------------------------------------------
 */

static double extreme(perp_random *random)
{
    static const double sizes[] = {0.0, 0.0, 1.0, 1.0, 1.0, 3.0, 1e-300, 5e-324, 1e300, 1.7e308, 1e12, 1e-12};
    const uint64_t bits = perp_random_bits(random);
    return (bits & 1 ? -1.0 : 1.0) * sizes[(bits >> 8) % 12];
}

/* The norm of b overflows, so that no point can be judged: nothing is claimed, x is a number all the same, and it does
 * not depend on what the workspace was used for before. */
static void a_cone_beyond_all_numbers(void **state)
{
    (void)state;
    cone_case q = new_cone_case(1), other = new_cone_case(1);
    const double a[3] = {1.0, 0.0, 0.0}, b[3] = {0.0, 1.7e308, 1.7e308}, zero[3] = {0.0, 0.0, 0.0};
    add_cone(&q, 3, a, b);
    add_cone(&other, 3, a, zero);
    other.g[0] = -5.0;
    const perp_cone_qp problem = cone_qp_of(&q), before = cone_qp_of(&other);
    const convex_problem p = OF_CONE_QP(&problem);
    perp_convex_point points[2] = {new_point(p), new_point(p)};
    for (int k = 0; k < 2; k++) {
        perp_convex_workspace *workspace = new_convex_workspace(NULL);
        perp_convex_info info;
        if (k == 1) {
            ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_convex(OF_CONE_QP(&before), NULL, workspace, &points[k]));
        }
        ASSERT_STATUS(PERP_STATUS_OK, reserve_convex(p, workspace, NULL));
        ASSERT_STATUS(PERP_STATUS_OK, try_convex(p, NULL, workspace, &points[k], &info, NULL));
        assert_true(info.outcome != PERP_OUTCOME_SOLVED && is_finite_point(p, &points[k]));
        perp_convex_workspace_free(workspace);
    }
    ASSERT_NEAR(distance_of_x(p, &points[0], &points[1]), 0.0, 0.0);
    ASSERT_NEAR(distance_of_multipliers(p, &points[0], &points[1]), 0.0, 0.0);
    free_point(&points[0]);
    free_point(&points[1]);
}

/* Solved is true, a proof holds, and no number is left that is not finite. */
static void extreme_entries_never_lie(void **state)
{
    (void)state;
    int outcomes[PERP_OUTCOME_COUNT] = {0};
    for (uint64_t seed = 0; seed < 3000; seed++) {
        perp_random random = {seed};
        cone_case q = new_cone_case(1 + (int)(seed % 4));
        for (int k = 0; k < 1 + (int)(seed % 3); k++) {
            double a[4 * 4], b[4];
            const int rows = 1 + (int)(perp_random_bits(&random) % 4);
            for (int i = 0; i < rows * q.n; i++) {
                a[i] = extreme(&random);
            }
            for (int i = 0; i < rows; i++) {
                b[i] = extreme(&random);
            }
            add_cone(&q, rows, a, b);
        }
        q.equalities = seed % 5 == 0 ? 1 : 0;
        q.d[0] = extreme(&random);
        for (int i = 0; i < q.n; i++) {
            q.h[i * q.n + i] = fabs(extreme(&random));
            q.g[i] = extreme(&random);
            q.c[i] = extreme(&random);
        }
        const perp_cone_qp problem = cone_qp_of(&q);
        const convex_problem p = OF_CONE_QP(&problem);
        perp_convex_workspace *workspace = new_convex_workspace(NULL);
        perp_convex_point point = new_point(p);
        perp_convex_info info;
        double scale;
        ASSERT_STATUS(PERP_STATUS_OK, reserve_convex(p, workspace, NULL));
        ASSERT_STATUS(PERP_STATUS_OK, try_convex(p, NULL, workspace, &point, &info, NULL));
        assert_true(is_finite_point(p, &point));
        outcomes[info.outcome]++;
        const bool lies =
            (info.outcome == PERP_OUTCOME_SOLVED && !(judge_convex(p, &point) <= 1.01e-8)) ||
            (info.outcome == PERP_OUTCOME_INFEASIBLE && !(judge_infeasible(p, &point, &scale) <= 1.01e-8)) ||
            (info.outcome == PERP_OUTCOME_UNBOUNDED && !(judge_unbounded(p, point.x, &scale) <= 1.01e-8));
        if (lies) {
            print_error("seed %d: %s, judged %g\n", (int)seed, perp_outcome_name(info.outcome),
                        judge_convex(p, &point));
            fail();
        }
        free_point(&point);
        perp_convex_workspace_free(workspace);
    }
    /* An H of 1e-300 is no zero: in its own units it ends the fall. Few directions have none at all. */
    assert_true(outcomes[PERP_OUTCOME_SOLVED] > 100 && outcomes[PERP_OUTCOME_INFEASIBLE] > 50 &&
                outcomes[PERP_OUTCOME_UNBOUNDED] > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_projected_on_the_cone),
        cmocka_unit_test(linear_function_on_a_ball),
        cmocka_unit_test(distance_to_a_line),
        cmocka_unit_test(half_lines_are_rows),
        cmocka_unit_test(many_rays_are_a_cone),
        cmocka_unit_test(friction_reference_is_reproduced),
        cmocka_unit_test(opposed_cones_are_infeasible),
        cmocka_unit_test(a_cone_may_be_left_without_end),
        cmocka_unit_test(nearly_feasible_is_told_truthfully),
        cmocka_unit_test(wrong_problems_are_refused),
        cmocka_unit_test(indefinite_by_a_minor_of_three_is_refused),
        cmocka_unit_test(no_cones_and_no_unknowns_are_fine),
        cmocka_unit_test(a_cone_beyond_all_numbers),
        cmocka_unit_test(extreme_entries_never_lie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
