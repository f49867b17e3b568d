/* Validity of rigidity: Dupont and Yamajako's rod between two walls (1997, Fig. 1 to 3), against numbers of their (41)
 * and (35) that were computed elsewhere. */
#include "rod_two_walls.h"
#include "rod_two_walls_boundary.h"

/* ---- D ----------------------------------------------------------------------------------------------------------- */

static void test_reference_matrices(void **unused)
{
    (void)unused;
    static const struct {
        double mu[2], d[4];
    } reference[] = {
        {{0.0, 0.0}, {1.1241830477418204, -0.1967279376263111, -0.1967279376263111, 3.097601634769363}},
        {{0.5, 0.5}, {1.4229838651265017, -0.717660074833049, 0.6777575901737007, 2.409693158640273}},
        {{0.5, -0.5}, {1.4229838651265017, 0.32420419958042695, 0.6777575901737007, 3.785510110898453}},
        {{-0.5, 0.5}, {0.8253822303571393, -0.717660074833049, -1.0712134654263232, 2.409693158640273}},
        {{-0.5, -0.5}, {0.8253822303571393, 0.32420419958042695, -1.0712134654263232, 3.785510110898453}},
    };
    for (size_t i = 0; i < sizeof reference / sizeof *reference; i++) {
        rod r = printed;
        analyzed a;
        memcpy(r.mu, reference[i].mu, sizeof r.mu);
        analyze_rod(&a, &r);
        for (int k = 0; k < 4; k++) {
            assert_near(a.analysis->rigidity.D[k], reference[i].d[k], 1e-9);
        }
        free_analyzed(&a);
    }
}

/* theta = 70 deg, alpha = 35 deg, m l^2 / J = 2. */
static void test_another_rod(void **unused)
{
    (void)unused;
    static const double d[4] = {1.61962812, -0.64518938, 0.32073645, 1.9661431};
    rod r = {70.0 * PI / 180.0, 35.0 * PI / 180.0, 0.5, {0.6, 0.4}, 1.0};
    analyzed a;
    analyze_rod(&a, &r);
    for (int k = 0; k < 4; k++) {
        assert_near(a.analysis->rigidity.D[k], d[k], 1e-8);
    }
    free_analyzed(&a);
    static const double critical[3][2] = {{0.05, 0.60404209}, {0.2, 1.25464108}, {0.5, 2.72503449}};
    for (int i = 0; i < 3; i++) {
        for (int side = -1; side <= 1; side += 2) {
            r.damping = sqrt(critical[i][0]);
            r.mu[0] = r.mu[1] = critical[i][1] + side * 2e-8;
            analyze_rod(&a, &r);
            assert_int_equal(a.analysis->rigidity.stable, side < 0 ? PERP_ANSWER_YES : PERP_ANSWER_NO);
            assert_near(a.analysis->rigidity.kappa_min, critical[i][0], 1e-6);
            free_analyzed(&a);
        }
    }
}

/* ---- stability and P-matrix over (mu1, mu2) ---------------------------------------------------------------------- */

static perp_rigidity rigidity_at(double kappa, double mu1, double mu2, perp_verdict *verdict)
{
    rod r = printed;
    analyzed a;
    r.damping = sqrt(kappa);
    r.mu[0] = mu1;
    r.mu[1] = mu2;
    analyze_rod(&a, &r);
    const perp_rigidity rigidity = a.analysis->rigidity;
    *verdict = rigidity.verdict;
    free_analyzed(&a);
    return rigidity; /* its arrays are gone */
}

static bool is_stable(double kappa, double mu1, double mu2)
{
    perp_verdict verdict;
    return rigidity_at(kappa, mu1, mu2, &verdict).stable == PERP_ANSWER_YES;
}

static bool is_p(double mu1, double mu2)
{
    perp_verdict verdict;
    return rigidity_at(1.0, mu1, mu2, &verdict).p_matrix == PERP_ANSWER_YES;
}

/* The points that the reference labels; `stable` at c^2/k = 0, 0.1, 0.5, 1, 5. */
static void test_labelled_points(void **unused)
{
    (void)unused;
    static const double kappa[5] = {0.0, 0.1, 0.5, 1.0, 5.0};
    static const struct {
        double mu[2];
        int p, stable[5];
        double eigenvalues[2][2];
    } points[] = {
        {{0.5, 0.5},
         1,
         {0, 1, 1, 1, 1},
         {{1.9163385118833869, -0.49295106796325505}, {1.9163385118833869, 0.49295106796325505}}},
        {{1, 0.5},
         1,
         {0, 1, 1, 1, 1},
         {{2.0657389205757277, -0.9978368575681792}, {2.0657389205757277, 0.9978368575681792}}},
        {{0.3, -0.3}, 1, {1, 1, 1, 1, 1}, {{1.2863821334463794, 0.0}, {3.5274281251730666, 0.0}}},
        {{-0.5, -0.5}, 1, {1, 1, 1, 1, 1}, {{0.9477652938562389, 0.0}, {3.663127047399354, 0.0}}},
        {{-1, -1}, 1, {1, 1, 1, 1, 1}, {{1.0, 0.0}, {4.000000000000001, 0.0}}},
        {{-1.5, -1}, 1, {1, 1, 1, 1, 1}, {{0.8935752011806111, 0.0}, {3.807623981434709, 0.0}}},
        {{1, 1.5},
         1,
         {0, 0, 1, 1, 1},
         {{1.377830444446638, -1.6164482806890337}, {1.377830444446638, 1.6164482806890337}}},
        {{-1, 0.5}, 0, {0, 0, 0, 0, 0}, {{-0.042782284107738544, 0.0}, {2.9790568557204695, 0.0}}},
        {{-1.5, 0.5}, 0, {0, 0, 0, 0, 0}, {{-0.47405966533142285, 0.0}, {3.111533419559473, 0.0}}},
        {{0.5, -1}, 1, {1, 1, 1, 1, 1}, {{1.2455310979741157, 0.0}, {4.6508713541799285, 0.0}}},
        {{1, -1}, 1, {1, 1, 1, 1, 1}, {{1.307425847689117, 0.0}, {4.887777421849608, 0.0}}},
        {{1.5, 1.9},
         1,
         {0, 0, 0, 1, 1},
         {{1.2520674626873434, -2.16577859432331}, {1.2520674626873434, 2.16577859432331}}},
        {{-1.9, -0.5}, 0, {1, 1, 1, 1, 1}, {{0.31781283310070885, 0.0}, {3.4564372194777766, 0.0}}},
        {{0, 1.9}, 1, {1, 1, 1, 1, 1}, {{0.075349949955893, 0.0}, {1.5323825232647494, 0.0}}},
        {{0.5, 1.9},
         1,
         {0, 0, 0, 1, 1},
         {{0.953266645302662, -1.1199773587729605}, {0.953266645302662, 1.1199773587729605}}},
        {{2, 2},
         1,
         {0, 0, 0, 1, 1},
         {{1.3326770237667742, -2.560210937675103}, {1.3326770237667742, 2.560210937675103}}},
        {{-0.25, 0.25}, 1, {1, 1, 1, 1, 1}, {{0.8245335467668362, 0.0}, {2.9038964889874617, 0.0}}},
        {{-0.75, -0.25}, 1, {1, 1, 1, 1, 1}, {{0.7111955552139926, 0.0}, {3.406342139284714, 0.0}}},
        {{-4, -4},
         0,
         {0, 1, 1, 1, 1},
         {{3.667322976233225, -2.0542721564887114}, {3.667322976233225, 2.0542721564887114}}},
        {{-1.5, -5}, 1, {1, 1, 1, 1, 1}, {{2.0, 0.0}, {8.20446699164804, 0.0}}},
        {{1, 4},
         0,
         {0, 0, 0, 0, 0},
         {{-0.3419407458760868, -1.585974004454474}, {-0.3419407458760868, 1.585974004454474}}},
        {{2, 4.5},
         0,
         {0, 0, 0, 0, 0},
         {{-0.38709416655595047, -2.9667796412936625}, {-0.38709416655595047, 2.9667796412936625}}},
        {{3, 5},
         0,
         {0, 0, 0, 0, 0},
         {{-0.4322475872358144, -4.010507657938776}, {-0.4322475872358144, 4.010507657938776}}},
        {{-1, -6}, 1, {1, 1, 1, 1, 1}, {{1.7538531699058826, 0.0}, {10.125231591385017, 0.0}}},
    };
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        rod r = printed;
        memcpy(r.mu, points[i].mu, sizeof r.mu);
        for (int k = 0; k < 5; k++) {
            analyzed a;
            r.damping = sqrt(kappa[k]);
            analyze_rod(&a, &r);
            const perp_rigidity *found = &a.analysis->rigidity;
            assert_int_equal(found->p_matrix, points[i].p ? PERP_ANSWER_YES : PERP_ANSWER_NO);
            assert_int_equal(found->stable, points[i].stable[k] ? PERP_ANSWER_YES : PERP_ANSWER_NO);
            assert_near(found->kappa, kappa[k], 1e-15);
            for (int e = 0; e < 2; e++) { /* in any order */
                const double *want = points[i].eigenvalues[e], *one = found->eigenvalues, *two = one + 2;
                assert_near(fmin(hypot(one[0] - want[0], one[1] - want[1]), hypot(two[0] - want[0], two[1] - want[1])),
                            0.0, 1e-9);
            }
            const bool sound = points[i].p && points[i].stable[k];
            assert_int_equal(found->verdict, !sound   ? PERP_VERDICT_INVALID
                                             : k == 0 ? PERP_VERDICT_BORDERLINE /* rings on without end */
                                                      : PERP_VERDICT_VALID);
            free_analyzed(&a);
        }
    }
}

static void test_boundaries(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof stability_boundary / sizeof *stability_boundary; i++) {
        const boundary_point *b = &stability_boundary[i];
        if (is_stable(b->kappa, b->mu[0], b->mu[1] + 1e-6) != (b->within > 0) ||
            is_stable(b->kappa, b->mu[0], b->mu[1] - 1e-6) != (b->within < 0)) {
            fail_msg("c^2/k = %g: no change of stability within 1e-6 of (%.9g, %.9g)", b->kappa, b->mu[0], b->mu[1]);
        }
    }
    for (size_t i = 0; i < sizeof p_matrix_boundary / sizeof *p_matrix_boundary; i++) {
        const boundary_point *b = &p_matrix_boundary[i];
        assert_true(is_p(b->mu[0], b->mu[1] - 1e-6));
        assert_false(is_p(b->mu[0], b->mu[1] + 1e-6));
    }
    assert_false(is_p(-1.881157919 - 1e-6, -1.0)); /* a11 = 0 */
    assert_true(is_p(-1.881157919 + 1e-6, -1.0));
}

static void test_critical_friction(void **unused)
{
    (void)unused;
    static const double critical[5][2] = {
        {0.0, 0.41511970997873515}, {0.1, 0.6728477452437168}, {0.5, 1.7415361103973512},
        {1.0, 3.0173904369134394},  {5.0, 4.91164981303488},
    };
    perp_verdict verdict;
    for (int i = 0; i < 5; i++) {
        const double mu = critical[i][1];
        assert_true(is_stable(critical[i][0], mu - 1e-8, mu - 1e-8));
        assert_false(is_stable(critical[i][0], mu + 1e-8, mu + 1e-8));
    }
    const double most = 5.4249570621845935; /* for all c^2/k */
    assert_true(rigidity_at(1.0, most - 1e-8, most - 1e-8, &verdict).has_kappa_min);
    assert_false(rigidity_at(1.0, most + 1e-8, most + 1e-8, &verdict).has_kappa_min);
    assert_true(rigidity_at(1.0, 0.4, 0.4, &verdict).kappa_min == 0.0); /* real eigenvalues: any damping will do */
}

/* ---- areas ------------------------------------------------------------------------------------------------------- */

/* What is measured: where D is a P-matrix (kappa < 0), or where forces are stable at kappa. */
static bool is_within(double kappa, double mu1, double mu2)
{
    return kappa < 0.0 ? is_p(mu1, mu2) : is_stable(kappa, mu1, mu2);
}

static double change_between(double kappa, double mu1, double low, double high, bool at_low)
{
    while (high - low > 2e-6) {
        const double middle = 0.5 * (low + high);
        *(is_within(kappa, mu1, middle) == at_low ? &low : &high) = middle;
    }
    return 0.5 * (low + high);
}

/* Of the line mu1 in [-2, 2]: so much is within. The scan sees what is longer than a 64th of it. */
static double length_within(double kappa, double mu1)
{
    enum { STEPS = 64 };
    bool before = is_within(kappa, mu1, -2.0);
    double sum = 0.0, entered = -2.0;
    for (int i = 1; i <= STEPS; i++) {
        const double low = -2.0 + 4.0 * (i - 1) / STEPS, high = -2.0 + 4.0 * i / STEPS;
        const bool now = is_within(kappa, mu1, high);
        if (now != before) {
            const double at = change_between(kappa, mu1, low, high, before);
            sum += before ? at - entered : 0.0;
            entered = at;
        }
        before = now;
    }
    return sum + (before ? 2.0 - entered : 0.0);
}

typedef struct piece {
    double low, high, at_low, at_middle, at_high;
} piece;

/* Simpson's rule, halved where that changes it by more than its share of 1e-4, down to 2^-10 of the whole. */
static double integrate(double kappa, const piece *p)
{
    const double width = p->high - p->low, middle = 0.5 * (p->low + p->high);
    const double left = length_within(kappa, p->low + 0.25 * width);
    const double right = length_within(kappa, p->low + 0.75 * width);
    const double coarse = width / 6.0 * (p->at_low + 4.0 * p->at_middle + p->at_high);
    const double fine = width / 12.0 * (p->at_low + 4.0 * left + 2.0 * p->at_middle + 4.0 * right + p->at_high);
    if (width <= 4.0 / 1024.0 || fabs(fine - coarse) <= 1e-4 * width) {
        return fine;
    }
    const piece first = {p->low, middle, p->at_low, left, p->at_middle};
    const piece second = {middle, p->high, p->at_middle, right, p->at_high};
    return integrate(kappa, &first) + integrate(kappa, &second);
}

static void test_areas(void **unused)
{
    (void)unused;
    static const double areas[5][2] = {
        {-1.0, 12.949353764920062}, {0.0, 9.676182520309546},  {0.1, 10.593555561976377},
        {0.5, 12.680674516532033},  {1.0, 13.160780666625222},
    };
    for (int i = 0; i < 5; i++) {
        const double kappa = areas[i][0];
        double area = 0.0;
        for (int k = 0; k < 8; k++) {
            const double low = -2.0 + 0.5 * k, high = low + 0.5;
            const piece p = {low, high, length_within(kappa, low), length_within(kappa, 0.5 * (low + high)),
                             length_within(kappa, high)};
            area += integrate(kappa, &p);
        }
        assert_near(area, areas[i][1], 1e-4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_matrices), cmocka_unit_test(test_another_rod),
        cmocka_unit_test(test_labelled_points),    cmocka_unit_test(test_boundaries),
        cmocka_unit_test(test_critical_friction),  cmocka_unit_test(test_areas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
