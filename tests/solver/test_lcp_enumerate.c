/* perp_lcp_enumerate against brute force in exact integer arithmetic, and against known solution sets. */
#include "lcp_brute_force.h"
#include "lcp_test.h"

#include <perp/solver.h>

#include <stdio.h>

/* ---- comparison ----------------------------------------------------------------------------------------------------
 */

/* The natural map, written again: the judge shares no code with what it judges. */
static double residual(const perp_lcp *p, const double *z)
{
    double worst = 0.0, largest = 0.0;
    for (int i = 0; i < p->n; i++) {
        double w = p->q[i];
        for (int j = 0; j < p->n; j++) {
            w += p->m[i * p->n + j] * z[j];
        }
        worst = fmax(worst, fabs(fmin(z[i], w)));
        largest = fmax(largest, fabs(p->q[i]));
    }
    return worst / (1.0 + largest);
}

static bool has_row(const double *rows, int count, int n, const double *x)
{
    for (int k = 0; k < count; k++) {
        bool same = true;
        for (int j = 0; j < n && same; j++) {
            /* Both are correctly rounded but for the condition of the system, 1e5 at most with entries this small. */
            same = fabs(rows[k * n + j] - x[j]) <= 1e-9 * (1.0 + fabs(x[j]));
        }
        if (same) {
            return true;
        }
    }
    return false;
}

/* z = scale z' turns the corners of the integer problem into those of the scaled one. */
static bool same_corners(const double *rows, int count, const corner *list, const uint64_t *members,
                         const double *scale)
{
    int expected = 0;
    for (int k = 0; k < CORNERS; k++) {
        if (members[k / 64] >> k % 64 & 1U) {
            double x[N], unscaled[CORNERS];
            assert_true(count * B.n <= CORNERS);
            expected++;
            for (int i = 0; i < count; i++) { /* rays are compared by direction: largest entry 1 in z' */
                double largest = 0.0;
                for (int j = 0; j < B.n; j++) {
                    unscaled[i * B.n + j] = rows[i * B.n + j] / scale[j];
                    largest = fmax(largest, unscaled[i * B.n + j]);
                }
                for (int j = 0; j < B.n && list == B.rays; j++) {
                    unscaled[i * B.n + j] /= largest;
                }
            }
            for (int j = 0; j < B.n; j++) {
                x[j] = list[k].point[j];
            }
            if (!has_row(unscaled, count, B.n, x)) {
                return false;
            }
        }
    }
    return expected == count;
}

static void print_problem(void)
{
    for (int i = 0; i < B.n; i++) {
        for (int j = 0; j < B.n; j++) {
            fprintf(stderr, "%4d", B.m[i * B.n + j]);
        }
        fprintf(stderr, "   | %4d\n", B.q[i]);
    }
}

/* Of data without rounding (`exact`) all solutions are found, and that is said. */
static void assert_equals_brute_force(const perp_lcp *p, const double *scale, bool exact)
{
    perp_lcp_solution_set *set;
    perp_error error;
    assert_int_equal(PERP_STATUS_OK, perp_lcp_enumerate(p, NULL, NULL, &set, &error));
    bool equal = (set->complete || !exact) && set->face_count == B.piece_count;
    for (int k = 0; k < B.piece_count && equal; k++) {
        bool found = false;
        for (int f = 0; f < set->face_count && !found; f++) {
            const perp_lcp_face *face = &set->faces[f];
            found = same_corners(face->vertices, face->vertex_count, B.vertices, B.pieces[k].vertices, scale) &&
                    same_corners(face->rays, face->ray_count, B.rays, B.pieces[k].rays, scale);
        }
        equal = found;
    }
    if (!equal) {
        fprintf(stderr, "%d faces, %d by brute force\n", set->face_count, B.piece_count);
        print_problem();
    }
    assert_true(equal);
    for (int f = 0; f < set->face_count; f++) {
        for (int k = 0; k < set->faces[f].vertex_count; k++) {
            const double *z = set->faces[f].vertices + k * p->n;
            assert_true(residual(p, z) <= 1e-8);
            assert_true(k == 0 || z[-p->n] <= z[0]);
        }
        assert_true(f == 0 || p->n == 0 || set->faces[f - 1].vertices[0] <= set->faces[f].vertices[0]);
    }
    perp_lcp_solution_set_free(set);
}

/* ---- random problems -----------------------------------------------------------------------------------------------
 */

static int integer(perp_random *random, int low, int high)
{
    return low + (int)(perp_random_bits(random) % (uint64_t)(high - low + 1));
}

enum kind { DENSE, SPARSE, LOW_RANK, SEMIDEFINITE, DUPLICATED, BIMATRIX, HOMOGENEOUS, NEGATIVE, TRIANGULAR, KINDS };

/* q = w - M z for complementary z, w >= 0. */
static void plant(perp_random *random)
{
    int z[N], w[N];
    for (int i = 0; i < B.n; i++) {
        const int side = integer(random, 0, 3);
        z[i] = side == 0 ? integer(random, 1, 2) : 0;
        w[i] = side == 1 ? integer(random, 1, 2) : 0;
    }
    for (int i = 0; i < B.n; i++) {
        B.q[i] = w[i];
        for (int j = 0; j < B.n; j++) {
            B.q[i] -= B.m[i * B.n + j] * z[j];
        }
    }
}

static bool has_segment(void)
{
    for (int k = 0; k < B.piece_count; k++) {
        int count = 0;
        for (int v = 0; v < B.vertex_count; v++) {
            count += (int)(B.pieces[k].vertices[v / 64] >> v % 64 & 1U);
        }
        if (count > 1) {
            return true;
        }
    }
    return false;
}

static void fill(perp_random *random, enum kind kind, int n)
{
    const int rank = integer(random, 1, n > 2 ? n / 2 : 1);
    int u[N * N], v[N * N];
    B.n = n;
    for (int i = 0; i < n * n; i++) {
        u[i] = integer(random, -2, 2);
        v[i] = integer(random, -2, 2);
        B.m[i] = integer(random, -9, 9);
    }
    for (int i = 0; i < n; i++) {
        B.q[i] = kind == HOMOGENEOUS ? integer(random, 0, 2) / 2 : integer(random, -3, 3);
        for (int j = 0; j < n; j++) {
            int *x = &B.m[i * n + j];
            if (kind == SPARSE || kind == HOMOGENEOUS) {
                *x = integer(random, 0, 2) ? 0 : integer(random, -1, 1);
            } else if (kind == LOW_RANK || kind == SEMIDEFINITE) {
                *x = 0;
                for (int k = 0; k < rank; k++) {
                    *x += u[i * n + k] * (kind == LOW_RANK ? v[j * n + k] : u[j * n + k]);
                }
            } else if (kind == BIMATRIX) {
                *x = (i < n / 2) == (j < n / 2) ? 0 : integer(random, 0, 3);
            } else if (kind == NEGATIVE) {
                *x = i == j ? -integer(random, 1, 3) : integer(random, -1, 0);
            } else if (kind == TRIANGULAR) {
                *x = i == j ? integer(random, 0, 1) : (j < i ? integer(random, -2, 2) : 0);
            }
        }
    }
    if (kind == DUPLICATED) { /* the same contact twice: equal rows and columns */
        const int from = integer(random, 0, n - 1), to = integer(random, 0, n - 1);
        for (int j = 0; j < n; j++) {
            B.m[to * n + j] = B.m[from * n + j] /= 3;
        }
        for (int i = 0; i < n; i++) {
            B.m[i * n + to] = B.m[i * n + from];
        }
        B.q[to] = B.q[from];
    }
    if (integer(random, 0, 2)) { /* mostly with a solution, half of whose pairs are degenerate */
        plant(random);
    }
}

static double scale_of(double scale, int scaling)
{
    return scaling == 0 ? 1.0 : scaling == 1 ? exp2(round(log2(scale))) : scale;
}

static void equals_brute_force(void **state)
{
    (void)state;
    perp_random random = {2005};
    int several = 0, rays = 0, segments = 0, none = 0, sizes[N + 1] = {0};
    for (int t = 0; t < 5000; t++) {
        const int n = 1 + t / KINDS % N;
        fill(&random, (enum kind)(t % KINDS), n);
        brute_force();
        double m[N * N], q[N], scale[N], row[N], column[N];
        for (int i = 0; i < n; i++) {
            row[i] = pow(10.0, perp_random_uniform(&random, -2.0, 2.0));
            column[i] = pow(10.0, perp_random_uniform(&random, -2.0, 2.0));
        }
        /* R M D, R q with R and D 1, powers of two, and any: then entries are rounded, and degeneracy holds to 1e-16
         * only, by which there may be solutions far away. */
        for (int scaling = 0; scaling < 3; scaling++) {
            for (int i = 0; i < n; i++) {
                q[i] = B.q[i] * scale_of(row[i], scaling);
                scale[i] = 1.0 / scale_of(column[i], scaling);
                for (int j = 0; j < n; j++) {
                    m[i * n + j] = B.m[i * n + j] * (scale_of(row[i], scaling) * scale_of(column[j], scaling));
                }
            }
            const perp_lcp p = {n, m, q};
            assert_equals_brute_force(&p, scale, scaling < 2);
        }
        sizes[n]++;
        several += B.piece_count > 1;
        none += B.piece_count == 0;
        rays += B.ray_count > 0 && B.piece_count > 0;
        segments += has_segment();
    }
    /* The sample has to contain what it is for. */
    assert_true(several > 500 && rays > 500 && segments > 500 && none > 200 && sizes[N] >= 490);
}

/* ---- known sets ----------------------------------------------------------------------------------------------------
 */

static perp_lcp_solution_set *enumerate_some(int n, const double *m, const double *q)
{
    const perp_lcp p = {n, m, q};
    perp_lcp_solution_set *set = NULL;
    perp_error error = {.message = ""};
    if (perp_lcp_enumerate(&p, NULL, NULL, &set, &error) != PERP_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(n, set->n);
    for (int f = 0; f < set->face_count; f++) {
        assert_true(set->faces[f].vertex_count >= 1);
        for (int k = 0; k < set->faces[f].vertex_count; k++) {
            assert_true(residual(&p, set->faces[f].vertices + k * n) <= 1e-8);
        }
    }
    return set;
}

static perp_lcp_solution_set *enumerate(int n, const double *m, const double *q)
{
    perp_lcp_solution_set *set = enumerate_some(n, m, q);
    assert_true(set->complete);
    return set;
}

/* Well-conditioned systems of a few rows: 1e-12. */
static void assert_row(int n, const double *expected, const double *row)
{
    for (int j = 0; j < n; j++) {
        assert_true(fabs(expected[j] - row[j]) <= 1e-12 * (1.0 + fabs(expected[j])));
    }
}

static void ones_give_a_segment(void **state)
{
    (void)state;
    perp_lcp_solution_set *set = enumerate(2, (const double[]){1, 1, 1, 1}, (const double[]){-1, -1});
    assert_int_equal(1, set->face_count);
    assert_int_equal(2, set->faces[0].vertex_count);
    assert_int_equal(0, set->faces[0].ray_count);
    assert_row(4, (const double[]){0, 1, 1, 0}, set->faces[0].vertices);
    perp_lcp_solution_set_free(set);
}

static void small_cases(void **state)
{
    (void)state;
    perp_lcp_solution_set *set = enumerate(1, (const double[]){-1}, (const double[]){-1});
    assert_int_equal(0, set->face_count);
    perp_lcp_solution_set_free(set);

    set = enumerate(1, (const double[]){0}, (const double[]){0}); /* every z >= 0 */
    assert_int_equal(1, set->face_count);
    assert_int_equal(1, set->faces[0].vertex_count);
    assert_int_equal(1, set->faces[0].ray_count);
    assert_row(1, (const double[]){0}, set->faces[0].vertices);
    assert_row(1, (const double[]){1}, set->faces[0].rays);
    perp_lcp_solution_set_free(set);

    set = enumerate(0, NULL, NULL); /* the empty point */
    assert_int_equal(1, set->face_count);
    assert_int_equal(1, set->faces[0].vertex_count);
    perp_lcp_solution_set_free(set);

    /* Bimatrix game: three equilibria, of which the mixed one is the reference's. */
    set = enumerate(4, (const double[]){0, 0, 10, 20, 0, 0, 30, 15, 10, 20, 0, 0, 30, 15, 0, 0},
                    (const double[]){-1, -1, -1, -1});
    bool mixed = false;
    for (int f = 0; f < set->face_count; f++) {
        const double *z = set->faces[f].vertices;
        mixed = mixed || (fabs(z[0] - 1.0 / 90.0) < 1e-12 && fabs(z[1] - 2.0 / 45.0) < 1e-12 &&
                          fabs(z[2] - 1.0 / 90.0) < 1e-12 && fabs(z[3] - 2.0 / 45.0) < 1e-12);
    }
    assert_true(mixed);
    perp_lcp_solution_set_free(set);
}

/* Murty's and Fathi's matrices are P: e_1 is the only solution of q = -e, whatever number of pivots Lemke needs. */
static void murty_and_fathi_have_one(void **state)
{
    (void)state;
    enum { SIZE = 12 };
    double murty[SIZE * SIZE], fathi[SIZE * SIZE], q[SIZE], e1[SIZE] = {1.0};
    for (int i = 0; i < SIZE; i++) {
        q[i] = -1.0;
        for (int j = 0; j < SIZE; j++) {
            murty[i * SIZE + j] = i == j ? 1.0 : (j < i ? 2.0 : 0.0);
        }
    }
    for (int i = 0; i < SIZE; i++) {
        for (int j = 0; j < SIZE; j++) {
            fathi[i * SIZE + j] = 0.0;
            for (int k = 0; k < SIZE; k++) {
                fathi[i * SIZE + j] += murty[i * SIZE + k] * murty[j * SIZE + k];
            }
        }
    }
    for (int which = 0; which < 2; which++) {
        perp_lcp_solution_set *set = enumerate(SIZE, which ? fathi : murty, q);
        assert_int_equal(1, set->face_count);
        assert_int_equal(1, set->faces[0].vertex_count);
        assert_int_equal(0, set->faces[0].ray_count);
        assert_row(SIZE, e1, set->faces[0].vertices);
        perp_lcp_solution_set_free(set);
    }
}

/* One contact: a_n = R c_n + b with R = 1/m + (l/2)^2 cos(theta) (cos(theta) - mu sin(theta)) / J. */
static void painleve_rod(void **state)
{
    (void)state;
    const double theta = acos(-1.0) / 3.0, half = 1.0, inertia = 1.0 / 3.0, gravity = 9.81;
    const struct {
        double mu, rate;
        int count;
        double c[2];
    } cases[] = {
        {2.0, 4.0, 2, {0.0, 4.771276928}},
        {2.0, 0.0, 0, {0.0, 0.0}},
        {0.5, 4.0, 1, {0.0, 0.0}},
        {0.5, 0.0, 1, {8.914284273, 0.0}},
        {2.0, 3.3656529, 1, {0.0, 0.0}}}; /* b = 0 but for rounding, below: c_n = 0 once, and said to be not all */
    for (int k = 0; k < 5; k++) {
        const double r = 1.0 + half * half * cos(theta) * (cos(theta) - cases[k].mu * sin(theta)) / inertia;
        const double b = k == 4 ? 1.78e-15 : half * cases[k].rate * cases[k].rate * sin(theta) - gravity;
        perp_lcp_solution_set *set = enumerate_some(1, &r, &b);
        assert_int_equal(k != 4, set->complete);
        assert_int_equal(cases[k].count, set->face_count);
        for (int f = 0; f < set->face_count; f++) {
            assert_int_equal(1, set->faces[f].vertex_count);
            assert_int_equal(0, set->faces[f].ray_count);
            assert_true(fabs(set->faces[f].vertices[0] - cases[k].c[f]) <= 1e-8); /* ten digits are published */
        }
        perp_lcp_solution_set_free(set);
    }
}

/* The disc between two walls, contacts at a height of s times c from its centre, at rest: z = (c_n, s+, a_t-), two of
 * each. */
static void wedge(double s, double c, double mu, double m[36], double q[6])
{
    const double inertia = 0.5, gravity = 9.81;
    const double normal[2][3] = {{-c, -s, 0.0}, {c, -s, 0.0}}, tangent[2][3] = {{-s, c, 1.0}, {-s, -c, 1.0}};
    for (int i = 0; i < 36; i++) {
        m[i] = 0.0;
    }
    for (int i = 0; i < 2; i++) {
        q[i] = -gravity * normal[i][1];
        q[2 + i] = -gravity * tangent[i][1];
        q[4 + i] = 0.0;
        for (int j = 0; j < 2; j++) {
            const double *ni = normal[i], *ti = tangent[i], *nj = normal[j], *tj = tangent[j];
            const double nn = ni[0] * nj[0] + ni[1] * nj[1], nt = ni[0] * tj[0] + ni[1] * tj[1];
            const double tn = ti[0] * nj[0] + ti[1] * nj[1], tt = ti[0] * tj[0] + ti[1] * tj[1] + 1.0 / inertia;
            m[6 * i + j] = nn - mu * nt;
            m[6 * i + 2 + j] = nt;
            m[6 * (2 + i) + j] = tn - mu * tt;
            m[6 * (2 + i) + 2 + j] = tt;
        }
        m[6 * (2 + i) + 4 + i] = 1.0;
        m[6 * (4 + i) + i] = 2.0 * mu;
        m[6 * (4 + i) + 2 + i] = -1.0;
    }
}

/* Free fall: no force; a_t- beyond what falling needs is a choice of the formulation, hence two rays. Rest: equal
 * normal forces N from 38.37242493 on, and friction that balances the weight: one vertex and one ray. */
static void wedged_disc(void **state)
{
    (void)state;
    double m[36], q[6];
    wedge(0.375, 0.875, 0.5, m, q); /* no rounding in M, whose rank is then less than 6 */
    perp_lcp_solution_set *set = enumerate(6, m, q);
    assert_int_equal(2, set->face_count);
    perp_lcp_solution_set_free(set);

    const double alpha = acos(-1.0) / 9.0;
    wedge(sin(alpha), cos(alpha), 0.5, m, q);
    set = enumerate_some(6, m, q);
    assert_int_equal(2, set->face_count);
    const perp_lcp_face *fall = &set->faces[0], *rest = &set->faces[1];
    assert_int_equal(1, fall->vertex_count);
    assert_int_equal(2, fall->ray_count);
    assert_row(6, (const double[]){0, 0, 0, 0, 9.81 * cos(alpha), 0}, fall->vertices);
    assert_row(12, (const double[]){0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, fall->rays);
    assert_int_equal(1, rest->vertex_count);
    assert_int_equal(1, rest->ray_count);
    const double least = 0.5 * 9.81 / (0.5 * cos(alpha) - sin(alpha)); /* mg = 2 N (mu cos - sin) */
    assert_true(fabs(least - 38.37242493) <= 1e-8);
    assert_row(6, (const double[]){least, least, least, 0, 0, 0}, rest->vertices);
    /* c_t = N tan(alpha) balances the growing normal forces: s+ = N mu +- N tan(alpha) */
    const double n = 1.0, up = 0.5 + tan(alpha), down = 0.5 - tan(alpha);
    assert_row(6, (const double[]){n, n, up, down, 0, 0}, rest->rays);
    perp_lcp_solution_set_free(set);

    wedge(sin(alpha), cos(alpha), 0.3, m, q);
    set = enumerate_some(6, m, q);
    assert_int_equal(1, set->face_count);
    assert_int_equal(2, set->faces[0].ray_count);
    assert_row(6, (const double[]){0, 0, 0, 0, 9.81 * cos(alpha), 0}, set->faces[0].vertices);
    perp_lcp_solution_set_free(set);

    wedge(0.0, 1.0, 0.5, m, q); /* the walls upright: rest, free fall, and what lies between, which joins them */
    set = enumerate(6, m, q);
    assert_int_equal(3, set->face_count);
    double least_force = INFINITY;
    for (int f = 0; f < 3; f++) {
        for (int k = 0; k < set->faces[f].vertex_count; k++) {
            const double *z = set->faces[f].vertices + 6 * k;
            assert_true(fabs(z[0] - z[1]) <= 1e-12);
            least_force = z[0] > 1.0 && z[0] < least_force ? z[0] : least_force;
        }
    }
    assert_true(fabs(least_force - 9.81) <= 1e-12);
    perp_lcp_solution_set_free(set);
}

/* Small contact problems, whose q has entries that are rounding (a weight times the cosine of a right angle) and whose
 * masses differ by up to 1e6: the set is complete all the same, and not empty where a solution is known to exist. Only
 * where more contacts than the bodies have degrees of freedom leave M a low rank but for rounding it may not be. */
static void contacts_are_complete(void **state)
{
    (void)state;
    int several = 0, noise = 0, complete = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        const bool proven = seed % 2 == 0;
        case_of c = contact_lcp(seed, 4 + (int)(seed % 5), proven);
        perp_lcp_solution_set *set = enumerate_some(c.n, c.m, c.q);
        assert_true(set->face_count > 0 || !proven);
        complete += set->complete;
        several += set->face_count > 1;
        for (int i = 0; i < c.n; i++) {
            noise += c.q[i] != 0.0 && fabs(c.q[i]) < 1e-15;
        }
        for (int f = 0; f < set->face_count; f++) {
            for (int k = 0; k < set->faces[f].vertex_count; k++) {
                assert_true(judge(&c, set->faces[f].vertices + k * c.n) <= 1e-8);
            }
        }
        perp_lcp_solution_set_free(set);
        free_case(&c);
    }
    assert_true(several > 10 && noise > 10 && complete > 2700);
}

/* M of rank 1 but for rounding, by which there is a solution of some 1e16 too, or even the only one: what is found is
 * not said to be all, and that there is none is no proof. */
static void low_rank_but_for_rounding_is_not_complete(void **state)
{
    (void)state;
    const struct {
        double m[4], q[2];
        int faces;
    } cases[] = {
        {{-1.201306295670995, 0.2116435481285661, -1.0988956018679725, 0.19360105332030117},
         {-2.1094507236670066, 0.1612617729414316},
         0}, /* z = (7.798e15, 4.427e16) */
        {{-1.179745167451512, 0.719253840500966, -1.232010242937133, 0.7511182272382406},
         {0.3095012878242028, -1.8956936534886706},
         1}, /* z = (1.290e16, 2.116e16), and the one found */
        {{-0.7286058345143529, 0.7122729489240303, 0.17384491289007975, -0.16994789623417297},
         {-0.2100367917872125, -0.7178178431229387},
         0}, /* z = (4.961e16, 5.075e16) */
        {{0.22025587804828703, -0.01391438348752275, -0.01391438348752275, 0.0008790233865876685},
         {-0.18834728724793796, -1.695278063913015},
         0}, /* definite: one solution, of some 1e20 */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        perp_lcp_solution_set *set = enumerate_some(2, cases[k].m, cases[k].q);
        assert_false(set->complete);
        assert_int_equal(set->face_count, cases[k].faces);
        perp_lcp_solution_set_free(set);
    }
    /* Besides z = (0, 1 / (1 + d)) only z = (1 / d, 1 / d), and that for d > 0: the sign of the last bit tells. */
    for (int sign = -1; sign <= 1; sign += 2) {
        const double m[4] = {-1.0, 1.0, -1.0, 1.0 + ldexp(sign, -52)}, q[2] = {0.0, -1.0};
        perp_lcp_solution_set *set = enumerate_some(2, m, q);
        assert_int_equal(set->face_count, 1);
        assert_true(set->complete == (sign < 0));
        perp_lcp_solution_set_free(set);
    }
}

/* w = 1 - z: each z_i is 0 or 1. */
static void two_to_the_n_points(void **state)
{
    (void)state;
    enum { SIZE = 12 };
    double m[SIZE * SIZE] = {0.0}, q[SIZE];
    for (int i = 0; i < SIZE; i++) {
        m[i * SIZE + i] = -1.0;
        q[i] = 1.0;
    }
    perp_lcp_solution_set *set = enumerate(SIZE, m, q);
    assert_int_equal(1 << SIZE, set->face_count);
    for (int f = 0; f < set->face_count; f++) { /* in lexicographic order they count in binary */
        for (int j = 0; j < SIZE; j++) {
            assert_true(set->faces[f].vertices[j] == (double)(f >> (SIZE - 1 - j) & 1));
        }
    }
    perp_lcp_solution_set_free(set);
}

/* ---- limits --------------------------------------------------------------------------------------------------------
 */

/* z_1 in a cube of half the variables, w_2 = 1 - z_1, z_2 = 0: one face with 2^(n / 2) corners. */
static void cube(int n, double *m, double *q)
{
    const int half = n / 2;
    for (int i = 0; i < n; i++) {
        q[i] = i < half ? 0.0 : 1.0;
        for (int j = 0; j < n; j++) {
            m[i * n + j] = i == j + half ? -1.0 : 0.0;
        }
    }
}

static void cubes(void **state)
{
    (void)state;
    double m[1600], q[40];
    cube(16, m, q);
    perp_lcp_solution_set *set = enumerate(16, m, q);
    bool found = false; /* the other faces have z_2 > 0 where z_1 = 1 */
    for (int f = 0; f < set->face_count; f++) {
        found = found || (set->faces[f].vertex_count == 256 && set->faces[f].ray_count == 0);
    }
    assert_true(found);
    perp_lcp_solution_set_free(set);

    const perp_lcp small = {16, m, q};
    const perp_lcp_enumerate_settings few = {
        .size = sizeof few, .tolerance = 1e-8, .max_nodes = 2000000, .max_comparisons = 100};
    assert_int_equal(PERP_STATUS_CAPACITY, perp_lcp_enumerate(&small, &few, NULL, &set, NULL));
    assert_null(set);

    cube(40, m, q);
    const perp_lcp p = {40, m, q};
    const perp_lcp_enumerate_settings settings = {.size = sizeof settings, .tolerance = 1e-8, .max_nodes = 200};
    perp_error error;
    assert_int_equal(PERP_STATUS_CAPACITY, perp_lcp_enumerate(&p, &settings, NULL, &set, &error));
    assert_null(set);
}

static void refusals(void **state)
{
    (void)state;
    perp_error error;
    perp_lcp_solution_set *set = (perp_lcp_solution_set *)&error;
    enum { TOO_LARGE = PERP_LCP_ENUMERATE_MAX_N + 1 };
    double m[TOO_LARGE * TOO_LARGE] = {0.0}, q[TOO_LARGE] = {0.0};
    const perp_lcp large = {TOO_LARGE, m, q};
    assert_int_equal(PERP_STATUS_CAPACITY, perp_lcp_enumerate(&large, NULL, NULL, &set, &error));
    assert_null(set);
    const perp_lcp negative = {-1, m, q};
    assert_int_equal(PERP_STATUS_BAD_INPUT, perp_lcp_enumerate(&negative, NULL, NULL, &set, &error));
    const perp_lcp small = {2, m, q};
    for (int k = 0; k < 2; k++) {
        m[3] = k ? INFINITY : NAN;
        assert_int_equal(PERP_STATUS_BAD_INPUT, perp_lcp_enumerate(&small, NULL, NULL, &set, NULL));
        m[3] = 0.0;
        q[1] = k ? -INFINITY : NAN;
        assert_int_equal(PERP_STATUS_BAD_INPUT, perp_lcp_enumerate(&small, NULL, NULL, &set, NULL));
        q[1] = 0.0;
    }
    static const double tolerances[] = {0.0, -1e-8, NAN, 0.99e-12};
    for (size_t k = 0; k < sizeof tolerances / sizeof *tolerances; k++) {
        const perp_lcp_enumerate_settings fine = {.size = sizeof fine, .tolerance = tolerances[k], .max_nodes = 100};
        assert_int_equal(PERP_STATUS_BAD_INPUT, perp_lcp_enumerate(&small, &fine, NULL, &set, &error));
        assert_non_null(strstr(error.message, "tolerance"));
    }
    const perp_lcp_enumerate_settings finest = {.size = sizeof finest, .tolerance = 1e-12, .max_nodes = 100};
    assert_int_equal(PERP_STATUS_OK, perp_lcp_enumerate(&small, &finest, NULL, &set, &error));
    perp_lcp_solution_set_free(set);
    const volatile bool cancel = true;
    const perp_lcp_enumerate_settings settings = {
        .size = sizeof settings, .tolerance = 1e-8, .max_nodes = 100, .cancel = &cancel};
    assert_int_equal(PERP_STATUS_CANCELLED, perp_lcp_enumerate(&small, &settings, NULL, &set, &error));
    assert_null(set);
    perp_lcp_solution_set_free(NULL);
}

/* Entries that are not zero but count as zero: what is found is not called complete. */
static void lost_entries(void **state)
{
    (void)state;
    static const struct {
        double m[4], q[2];
        bool complete;
    } cases[] = {
        {{1, 0, 0, 1e-16}, {-1, -1}, false}, /* left out of scaling; z = (1, 1e16) */
        {{1, 0, 0, 1e-9}, {-1, -1}, true},   /* scaled, and found */
        {{1, 1, 1, 1e-12}, {-1, -1}, false}, /* below zero once scaled */
        {{1, 0, 0, 1}, {-1, 1e-12}, false},  /* in q */
        {{1, 0, 0, -1}, {-1e12, 1}, false},  /* in q beside a large one: z_2 = 0 and z_2 = 1 */
        {{1, 0, 0, 1}, {-1, 1e-6}, true},
        {{-1e10, 0, 0, -1e10}, {1, 1}, true},
        {{-1, 1, -1, 1.00000000002}, {0, -1}, false}, /* rows that differ by 2e-11: z = (5e10, 5e10) is lost */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        perp_lcp_solution_set *set = enumerate_some(2, cases[k].m, cases[k].q);
        assert_int_equal(cases[k].complete, set->complete);
        assert_true(!set->complete || set->face_count == (cases[k].m[0] < 0.0 ? 4 : 1));
        perp_lcp_solution_set_free(set);
    }
}

/* 2^20 points: the limit on faces ends it long before the one on nodes. */
static void face_limit(void **state)
{
    (void)state;
    enum { SIZE = 20 };
    double m[SIZE * SIZE] = {0.0}, q[SIZE];
    for (int i = 0; i < SIZE; i++) {
        m[i * SIZE + i] = -1.0;
        q[i] = 1.0;
    }
    perp_lcp_solution_set *set = enumerate_some(SIZE, m, q);
    assert_int_equal(100000, set->face_count);
    assert_false(set->complete);
    assert_true(set->nodes < 300000); /* a tree with f leaves has 2 f - 1 nodes */
    perp_lcp_solution_set_free(set);
}

/* Raises the flag on the `after`th request for memory, which writing the result makes for every few faces. */
typedef struct cancelling_allocator {
    int requests, after;
    volatile bool cancel;
} cancelling_allocator;

static void *cancelling_allocate(void *context, size_t size)
{
    cancelling_allocator *c = context;
    c->cancel = c->cancel || ++c->requests > c->after;
    return malloc(size);
}

static void cancelling_release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

/* Wherever the flag goes up it is obeyed, also after the search, while faces are written. */
static void cancelled_anywhere(void **state)
{
    (void)state;
    enum { SIZE = 12 };
    double m[SIZE * SIZE] = {0.0}, q[SIZE];
    for (int i = 0; i < SIZE; i++) {
        m[i * SIZE + i] = -1.0;
        q[i] = 1.0;
    }
    const perp_lcp p = {SIZE, m, q};
    cancelling_allocator c = {.after = 1000000};
    const perp_allocator allocator = {cancelling_allocate, cancelling_release, &c};
    const perp_lcp_enumerate_settings settings = {
        .size = sizeof settings, .tolerance = 1e-8, .max_nodes = 100000, .cancel = &c.cancel};
    perp_lcp_solution_set *set;
    assert_int_equal(PERP_STATUS_OK, perp_lcp_enumerate(&p, &settings, &allocator, &set, NULL));
    perp_lcp_solution_set_free(set);
    const int requests = c.requests;
    assert_true(requests > 5);
    for (int after = 0; after < requests; after++) {
        c = (cancelling_allocator){.after = after};
        assert_int_equal(PERP_STATUS_CANCELLED, perp_lcp_enumerate(&p, &settings, &allocator, &set, NULL));
        assert_null(set);
    }
}

/* A limit on nodes gives true solutions and says that there may be more. */
static void node_limit(void **state)
{
    (void)state;
    const double m[16] = {-1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1}, q[4] = {1, 1, 1, 1};
    const perp_lcp p = {4, m, q};
    for (int nodes = 0; nodes < 40; nodes++) {
        const perp_lcp_enumerate_settings settings = {.size = sizeof settings, .tolerance = 1e-8, .max_nodes = nodes};
        perp_lcp_solution_set *set;
        assert_int_equal(PERP_STATUS_OK, perp_lcp_enumerate(&p, &settings, NULL, &set, NULL));
        assert_true(set->nodes <= nodes);
        assert_int_equal(set->complete, set->face_count == 16);
        for (int f = 0; f < set->face_count; f++) {
            assert_true(residual(&p, set->faces[f].vertices) <= 1e-8);
        }
        assert_true(nodes < 39 || set->complete); /* a tree with 16 leaves has 31 nodes */
        perp_lcp_solution_set_free(set);
    }
}

static void out_of_memory(void **state)
{
    (void)state;
    double m[256], q[16];
    cube(16, m, q);
    const perp_lcp p = {16, m, q};
    for (int once = 0; once < 2; once++) {
        for (int grants = 0;; grants++) {
            failing_allocator f = {.grants = grants, .once = once};
            const perp_allocator allocator = allocator_of(&f);
            perp_lcp_solution_set *set;
            perp_error error;
            const perp_status status = perp_lcp_enumerate(&p, NULL, &allocator, &set, &error);
            if (f.requests <= grants) { /* nothing was refused */
                assert_int_equal(PERP_STATUS_OK, status);
                assert_true(grants > 3);
                perp_lcp_solution_set_free(set);
                assert_int_equal(0, f.standing);
                break;
            }
            assert_int_equal(PERP_STATUS_OUT_OF_MEMORY, status);
            assert_null(set);
            assert_int_equal(0, f.standing);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_brute_force),
        cmocka_unit_test(ones_give_a_segment),
        cmocka_unit_test(small_cases),
        cmocka_unit_test(murty_and_fathi_have_one),
        cmocka_unit_test(painleve_rod),
        cmocka_unit_test(wedged_disc),
        cmocka_unit_test(contacts_are_complete),
        cmocka_unit_test(low_rank_but_for_rounding_is_not_complete),
        cmocka_unit_test(two_to_the_n_points),
        cmocka_unit_test(cubes),
        cmocka_unit_test(refusals),
        cmocka_unit_test(lost_entries),
        cmocka_unit_test(face_limit),
        cmocka_unit_test(cancelled_anywhere),
        cmocka_unit_test(node_limit),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
