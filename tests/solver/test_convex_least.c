/* What the convex engine says beyond the solution: the least multipliers, and proofs that there is none. */
#include "convex_test.h"

/* ---- multipliers of least norm ----------------------------------------------------------------------------------- */

/* H has no eigenvalue below 0.1. With complementarity c at each of m constraints and nothing else wrong,
 * 0.1 |dx|^2 <= m c, and c <= 1e-8 (1 + max |g|) < 1e-7: for m <= 100 an error of 1e-2. */
static const double FAR = 1e-2;
/* Of forces of size 1. */
static const double NOTHING = 1e-13;

/* Against multipliers that are the least ones by construction (random_contact_case). Says what is wrong. */
static bool is_least(const random_contacts *what, uint64_t seed, int *unsure)
{
    perp_random random = {seed};
    perp_convex_point known;
    contact_case q = random_contact_case(&random, *what, &known);
    const perp_contact_qp problem = contact_qp_of(&q);
    const convex_problem p = OF_CONTACT_QP(&problem);
    perp_convex_point point = new_point(p);
    assert_true(judge_convex(p, &known) <= 1e-14); /* it is a solution, but for the rounding of the data */
    const perp_convex_info info = solve_convex(p, NULL, NULL, &point);
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
    const double residual = judge_convex(p, &point), least = multiplier_norm(p, &known);
    const double norm = multiplier_norm(p, &point), y = distance_of_multipliers(p, &point, &known);
    /* What x is uncertain by, the multipliers are times the condition of the active rows, 1e6 here at worst. At the
     * tolerance that leaves their norm a tenth; a polished point has them. */
    const bool polished = residual <= 1e-13;
    const bool wrong = (polished && !info.minimum_norm) || !(norm <= 1.1 * least + NOTHING) ||
                       (polished && !(y <= 1e-6)) || (!what->flat && !(distance_of_x(p, &point, &known) <= FAR));
    *unsure += !info.minimum_norm;
    if (wrong) {
        print_error(
            "seed %d kind %d%s%s%s: residual %g, x off by %g, multipliers by %g, norm %.9g of %.9g, least: %s\n",
            (int)seed, (int)what->kind, what->bounded ? " bounded" : "", what->flat ? " flat" : "",
            what->degenerate ? " degenerate" : "", residual, distance_of_x(p, &point, &known), y, norm, least,
            info.minimum_norm ? "yes" : "no");
    }
    free_point(&point);
    free_point(&known);
    free_contact_case(&q);
    return !wrong;
}

static void assert_least_of_kind(contact_kind kind, int count)
{
    int wrong = 0, unsure = 0;
    for (int seed = 0; seed < count; seed++) {
        const random_contacts what = {.bodies = 1 + seed % 4,
                                      .contacts = 1 + seed % 13,
                                      .equalities = seed % 3 == 0 ? 3 : 0,
                                      .kind = kind,
                                      .bounded = seed % 2 == 1,
                                      .flat = seed % 8 >= 6,
                                      .degenerate = seed % 16 >= 12};
        wrong += is_least(&what, (uint64_t)seed + 10000 * (uint64_t)kind, &unsure) ? 0 : 1;
    }
    assert_int_equal(wrong, 0);
    assert_true(unsure <= count / 200); /* of degenerate cones, whose x is not known to rounding, the info says so */
}

static void rows_get_least_multipliers(void **state)
{
    (void)state;
    assert_least_of_kind(CONTACT_ROWS, 1000);
}

static void rays_get_least_multipliers(void **state)
{
    (void)state;
    assert_least_of_kind(CONTACT_RAYS, 1000);
}

static void cones_get_least_multipliers(void **state)
{
    (void)state;
    assert_least_of_kind(CONTACT_CONES, 1000);
}

static void mixed_contacts_get_least_multipliers(void **state)
{
    (void)state;
    assert_least_of_kind(CONTACT_MIXED, 1000);
}

/* One unknown, x >= 0 said with the factors 1, 2 and 3 and a force of 14: y is the multiple of (1, 2, 3) with
 * y . (1, 2, 3) = 14. Without minimum_norm any split is a solution. */
static void a_force_is_split_by_lever_arms(void **state)
{
    (void)state;
    const double h = 1.0, g = 14.0, a[3] = {1.0, 2.0, 3.0}, b[3] = {0.0, 0.0, 0.0};
    const perp_qp problem = {.n = 1, .h = &h, .g = &g, .rows = 3, .a = a, .b = b};
    const convex_problem p = OF_QP(&problem);
    perp_convex_point point = new_point(p);
    perp_convex_info info = assert_convex_solved(p, NULL, &point);
    assert_true(info.minimum_norm);
    ASSERT_NEAR(point.x[0], 0.0, 1e-12);
    for (int i = 0; i < 3; i++) {
        ASSERT_NEAR(point.y[i], i + 1.0, 1e-10);
    }
    perp_convex_settings settings = convex_settings(NULL);
    settings.minimum_norm = false;
    info = assert_convex_solved(p, &settings, &point);
    assert_false(info.minimum_norm);
    ASSERT_NEAR(point.y[0] + 2.0 * point.y[1] + 3.0 * point.y[2], 14.0, 1e-9);
    free_point(&point);
}

/* Two cones slide the same way, the second twice as strong: forces along d = (1, 1, 0) only, t and 2 t of them. */
static void sliding_cones_share_a_force(void **state)
{
    (void)state;
    const int rows[2] = {3, 3};
    const double h[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    const double a[18] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0};
    const double b[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    const double g[3] = {-1.0, 3.0,
                         0.0}; /* the projection of (1, -3, 0) is (2, -2, 0), and what is missing (1, 1, 0) */
    const perp_cone_qp problem = {.n = 3, .h = h, .g = g, .cones = 2, .cone_rows = rows, .a = a, .b = b};
    const convex_problem p = OF_CONE_QP(&problem);
    perp_convex_point point = new_point(p);
    const double x[3] = {2.0, -2.0, 0.0}, y[6] = {0.2, 0.2, 0.0, 0.4, 0.4, 0.0};
    const perp_convex_info info = assert_convex_solved(p, NULL, &point);
    assert_true(info.minimum_norm);
    for (int i = 0; i < 6; i++) {
        ASSERT_NEAR(point.x[i % 3], x[i % 3], 1e-9);
        ASSERT_NEAR(point.y[i], y[i], 1e-9);
    }
    free_point(&point);
}

/* The least norm over all supports: of 2^9 sets of rows the one whose least-squares multipliers are not negative and
 * shortest. Two unknowns, so that the least squares are 2 x 2: y = A (A'A)^-1 r on the set. */
static double brute_force_norm(int rows, const double *a, const double *r)
{
    long double best = (long double)INFINITY;
    for (unsigned set = 1; set < 1u << rows; set++) {
        long double k[3] = {0.0L, 0.0L, 0.0L}, norm = 0.0L;
        bool allowed = true;
        for (int i = 0; i < rows; i++) {
            if (set >> i & 1u) {
                k[0] += (long double)a[2 * i] * a[2 * i];
                k[1] += (long double)a[2 * i] * a[2 * i + 1];
                k[2] += (long double)a[2 * i + 1] * a[2 * i + 1];
            }
        }
        const long double det = k[0] * k[2] - k[1] * k[1];
        const long double v[2] = {(k[2] * r[0] - k[1] * r[1]) / det, (k[0] * r[1] - k[1] * r[0]) / det};
        for (int i = 0; i < rows && det > 1e-9L; i++) {
            const long double y = a[2 * i] * v[0] + a[2 * i + 1] * v[1];
            norm += set >> i & 1u ? y * y : 0.0L;
            allowed = allowed && (!(set >> i & 1u) || y >= 0.0L);
        }
        best = det > 1e-9L && allowed && norm < best ? norm : best;
    }
    return (double)sqrtl(best);
}

/* x = 0 is held by rows through it: A x >= 0, min |x|^2 / 2 - r.x with r = -A'y for some y >= 0. */
static void least_norm_is_that_of_brute_force(void **state)
{
    (void)state;
    enum { ROWS = 9 };
    for (uint64_t seed = 0; seed < 100; seed++) {
        perp_random random = {seed};
        double a[2 * ROWS], g[2] = {0.0, 0.0};
        const double h[4] = {1.0, 0.0, 0.0, 1.0}, b[ROWS] = {0.0};
        for (int i = 0; i < ROWS; i++) {
            const double force = fmax(perp_random_uniform(&random, -1.0, 1.0), 0.0);
            for (int j = 0; j < 2; j++) {
                a[2 * i + j] = perp_random_uniform(&random, -1.0, 1.0);
                g[j] += force * a[2 * i + j];
            }
        }
        const perp_qp problem = {.n = 2, .h = h, .g = g, .rows = ROWS, .a = a, .b = b};
        const convex_problem p = OF_QP(&problem);
        perp_convex_point point = new_point(p);
        const perp_convex_info info = assert_convex_solved(p, NULL, &point);
        assert_true(info.minimum_norm);
        ASSERT_NEAR(multiplier_norm(p, &point), brute_force_norm(ROWS, a, g), CLOSE);
        free_point(&point);
    }
}

/* ---- proofs ------------------------------------------------------------------------------------------------------ */

/* What `index` is not about. */
static contact_case random_scene(perp_random *random, uint64_t seed, bool flat)
{
    const random_contacts what = {.bodies = 1 + (int)(seed % 4),
                                  .contacts = 1 + (int)(seed % 11),
                                  .equalities = seed % 3 == 0 ? 2 : 0,
                                  .kind = (contact_kind)(seed % 4),
                                  .bounded = seed % 5 == 1,
                                  .flat = flat};
    perp_convex_point known;
    contact_case q = random_contact_case(random, what, &known);
    free_point(&known);
    return q;
}

/* One row more: minus the sum of the others' pull for random multipliers inside of their cones, with an offset that
 * makes the sum of all a contradiction by `gap`. */
static void contradict(contact_case *q, perp_random *random, double gap)
{
    const perp_contact_qp problem = contact_qp_of(q);
    written_out w = write_out(OF_CONTACT_QP(&problem));
    int dofs[12];
    double row[12], offset = -gap;
    assert_true(q->n <= 12);
    for (int j = 0; j < q->n; j++) {
        dofs[j] = j;
        row[j] = 0.0;
    }
    for (int i = 0, start = 0; i < w.cones; start += w.cone_rows[i++]) {
        for (int k = 0; k < w.cone_rows[i]; k++) { /* (1.5, t, t): inside */
            const double y = k == 0 ? 1.5 : perp_random_uniform(random, -1.0, 1.0);
            for (int j = 0; j < q->n; j++) {
                row[j] -= y * (double)w.a[(ptrdiff_t)(start + k) * q->n + j];
            }
            offset -= y * (double)w.offset[start + k];
        }
    }
    const contact_entry entry = {
        .count = q->n, .rows = 1, .slacks = 1, .dofs = dofs, .jacobian = row, .offset = &offset};
    add_contact(q, &entry);
    free_written_out(&w);
}

static void contradictions_are_proven(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        perp_random random = {seed};
        contact_case q = random_scene(&random, seed, seed % 2 == 0);
        contradict(&q, &random, seed % 7 == 0 ? 1e-2 : 1.0);
        const perp_contact_qp problem = contact_qp_of(&q);
        perp_convex_point point = new_point(OF_CONTACT_QP(&problem));
        const perp_convex_info info = solve_convex(OF_CONTACT_QP(&problem), NULL, NULL, &point);
        if (info.outcome != PERP_OUTCOME_INFEASIBLE) {
            print_error("seed %d: %s\n", (int)seed, perp_outcome_name(info.outcome));
            fail();
        }
        free_point(&point);
        free_contact_case(&q);
    }
}

/* All contacts get a normal that v opens, H forgets v's body, and the force has a part along v. */
static void open_along(contact_case *q, perp_random *random, const double *v)
{
    ptrdiff_t at = 0;
    for (int i = 0; i < q->contacts; i++) {
        const int rows = q->row_start[i + 1] - q->row_start[i], count = q->dof_start[i + 1] - q->dof_start[i];
        const int *dofs = q->dofs + q->dof_start[i];
        double square = 0.0, tail = 0.0, head = 0.0;
        for (int k = 0; k < count; k++) {
            square += v[dofs[k]] * v[dofs[k]];
            head += q->jacobian[at + k] * v[dofs[k]];
        }
        for (int r = 1; r < rows; r++) {
            double sum = 0.0;
            for (int k = 0; k < count; k++) {
                sum += q->jacobian[at + (ptrdiff_t)r * count + k] * v[dofs[k]];
            }
            tail += fabs(sum);
        }
        /* mu < 2, so a head of twice the tail is inside of pyramid and cone */
        const double wanted = 2.0 * tail + perp_random_uniform(random, 0.0, 1.0);
        for (int k = 0; k < count && square > 0.0; k++) {
            q->jacobian[at + k] += (wanted - head) / square * v[dofs[k]];
        }
        at += (ptrdiff_t)rows * count;
    }
    for (int j = 0; j < q->n; j++) {
        q->g[j] -= v[j];
    }
}

/* Body 0 is free to move along v: flat, without bounds or equations; its contacts are opened. */
static void falls_without_end_are_proven(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        perp_random random = {seed};
        contact_case q = random_scene(&random, seed - seed % 3 + 1, true); /* no equations */
        double v[12] = {0.0}, slope = 0.0;
        for (int j = 0; j < 3; j++) {
            v[j] = perp_random_uniform(&random, -1.0, 1.0);
            q.lower[j] = v[j] < 0.0 ? -INFINITY : q.lower[j];
            q.upper[j] = v[j] > 0.0 ? INFINITY : q.upper[j];
            for (int k = 0; k < 3; k++) {
                *block_entry(&q, 0, j, k) = 0.0;
            }
        }
        open_along(&q, &random, v);
        for (int j = 0; j < 3; j++) {
            slope += q.g[j] * v[j];
        }
        for (int j = 0; j < 3 && slope > -0.1; j++) { /* whatever g was before */
            q.g[j] -= (slope + 1.0) * v[j] / (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        }
        const perp_contact_qp problem = contact_qp_of(&q);
        const convex_problem p = OF_CONTACT_QP(&problem);
        perp_convex_point point = new_point(p);
        double along;
        assert_true(judge_unbounded(p, v, &along) <= 1e-14); /* v is a proof of the direction */
        perp_convex_info info = solve_convex(p, NULL, NULL, &point);
        if (info.outcome != PERP_OUTCOME_UNBOUNDED && info.outcome != PERP_OUTCOME_INFEASIBLE) {
            print_error("seed %d: %s\n", (int)seed, perp_outcome_name(info.outcome));
            fail();
        }
        /* The normals were turned about x = 0: a point that all contacts open to is far out along v. */
        ASSERT_OUTCOME(PERP_OUTCOME_UNBOUNDED, info);
        contradict(&q, &random, 1.0); /* and now there is no point to fall from */
        const perp_contact_qp neither = contact_qp_of(&q);
        perp_convex_point other = new_point(OF_CONTACT_QP(&neither));
        info = solve_convex(OF_CONTACT_QP(&neither), NULL, NULL, &other);
        ASSERT_OUTCOME(PERP_OUTCOME_INFEASIBLE, info);
        free_point(&point);
        free_point(&other);
        free_contact_case(&q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_force_is_split_by_lever_arms),       cmocka_unit_test(sliding_cones_share_a_force),
        cmocka_unit_test(least_norm_is_that_of_brute_force),    cmocka_unit_test(rows_get_least_multipliers),
        cmocka_unit_test(rays_get_least_multipliers),           cmocka_unit_test(cones_get_least_multipliers),
        cmocka_unit_test(mixed_contacts_get_least_multipliers), cmocka_unit_test(contradictions_are_proven),
        cmocka_unit_test(falls_without_end_are_proven),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
