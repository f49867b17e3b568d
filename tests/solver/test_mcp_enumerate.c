/* perp_mcp_enumerate against brute force in exact integer arithmetic, and against known solution sets. */
#include "mcp_brute_force.h"

#include "failing_allocator.h"

/* ---- comparison ----------------------------------------------------------------------------------------------------
 */

/* What tells points apart but for the lines: bounded z_i, then F_i where it is asked for; of a ray its changes, with a
 * largest magnitude of 1, and all 0 for a line. */
static void invariants(const double *z, bool ray, double *out)
{
    double largest = 0.0;
    for (int i = 0; i < B.n; i++) {
        out[i] = B.has_lower[i] || B.has_upper[i] ? z[i] : 0.0;
        out[B.n + i] = ray || is_fixed(i) ? 0.0 : B.q[i];
        for (int j = 0; j < B.n && !is_fixed(i); j++) {
            out[B.n + i] += B.m[i * B.n + j] * z[j];
        }
        largest = fmax(largest, fmax(fabs(out[i]), fabs(out[B.n + i])));
    }
    for (int i = 0; i < 2 * B.n && ray && largest > 1e-9; i++) {
        out[i] /= largest;
    }
}

static bool is_line(const double *ray)
{
    double v[2 * N];
    invariants(ray, true, v);
    for (int i = 0; i < 2 * B.n; i++) {
        if (fabs(v[i]) > 1e-9) {
            return false;
        }
    }
    return true;
}

/* Data are integers up to 9 and n is 5 at most: vertices are right to some 1e-12. */
static bool has_row(const double *rows, int count, bool ray, const corner *c)
{
    double z[N], expected[2 * N], found[2 * N];
    for (int i = 0; i < B.n; i++) {
        z[i] = (double)c->x[i] / (double)c->d;
    }
    invariants(z, ray, expected);
    for (int k = 0; k < count; k++) {
        if (ray && is_line(rows + k * B.n)) {
            continue;
        }
        invariants(rows + k * B.n, ray, found);
        bool same = true;
        for (int i = 0; i < 2 * B.n && same; i++) {
            same = fabs(found[i] - expected[i]) <= 1e-9 * (1.0 + fabs(expected[i]));
        }
        if (same) {
            return true;
        }
    }
    return false;
}

static bool same_corners(const double *rows, int count, bool ray, const uint64_t *members)
{
    int expected = ray ? 2 * B.line_count : 0;
    for (int k = 0; k < CORNERS; k++) {
        if (members[k / 64] >> k % 64 & 1U) {
            expected++;
            if (!has_row(rows, count, ray, ray ? &B.rays[k] : &B.vertices[k])) {
                return false;
            }
        }
    }
    return expected == count;
}

/* Lines come as opposite pairs. (That they are as many as expected and independent follows from the count above and
 * from no two pairs being equal.) */
static bool lines_are_paired(const perp_lcp_face *face)
{
    int lines = 0;
    for (int k = 0; k < face->ray_count; k++) {
        const double *ray = face->rays + k * B.n;
        if (!is_line(ray)) {
            continue;
        }
        int opposite = 0, equal = 0;
        for (int l = 0; l < face->ray_count; l++) {
            double sum = 0.0, difference = 0.0;
            for (int i = 0; i < B.n; i++) {
                sum = fmax(sum, fabs(ray[i] + face->rays[l * B.n + i]));
                difference = fmax(difference, fabs(ray[i] - face->rays[l * B.n + i]));
            }
            opposite += sum == 0.0;
            equal += difference <= 1e-9;
        }
        if (opposite != 1 || equal != 1) {
            return false;
        }
        lines++;
    }
    return lines == 2 * B.line_count;
}

static void print_problem(void)
{
    for (int i = 0; i < B.n; i++) {
        for (int j = 0; j < B.n; j++) {
            print_error("%4d", B.m[i * B.n + j]);
        }
        print_error("   | %4d   in %s%d, %s%d\n", B.q[i], B.has_lower[i] ? "" : "-inf ", B.lower[i],
                    B.has_upper[i] ? "" : "inf ", B.upper[i]);
    }
}

static bool ordered(const double *rows, int count)
{
    for (int k = 1; k < count; k++) {
        const double *a = rows + (k - 1) * B.n, *b = rows + k * B.n;
        int j = 0;
        while (j < B.n && a[j] == b[j]) {
            j++;
        }
        if (j == B.n || a[j] > b[j]) {
            return false;
        }
    }
    return true;
}

static void assert_equals_brute_force(void)
{
    case_of c = as_case();
    const perp_mcp problem = mcp_of(&c);
    perp_lcp_solution_set *set;
    perp_error error;
    ASSERT_STATUS(PERP_STATUS_OK, perp_mcp_enumerate(&problem, NULL, NULL, &set, &error));
    bool equal = set->complete && set->n == B.n && set->face_count == B.piece_count;
    for (int k = 0; k < B.piece_count && equal; k++) {
        bool found = false;
        for (int f = 0; f < set->face_count && !found; f++) {
            const perp_lcp_face *face = &set->faces[f];
            found = same_corners(face->vertices, face->vertex_count, false, B.pieces[k].vertices) &&
                    same_corners(face->rays, face->ray_count, true, B.pieces[k].rays);
        }
        equal = found;
    }
    for (int f = 0; f < set->face_count && equal; f++) {
        const perp_lcp_face *face = &set->faces[f];
        equal = lines_are_paired(face) && ordered(face->vertices, face->vertex_count) &&
                ordered(face->rays, face->ray_count);
        for (int k = 0; k < face->vertex_count; k++) {
            equal = equal && judge(&c, face->vertices + k * B.n) <= 1e-8;
        }
    }
    if (!equal) {
        print_error("%d faces, %d by brute force, %d lines, %s\n", set->face_count, B.piece_count, B.line_count,
                    set->complete ? "complete" : "not complete");
        print_problem();
    }
    assert_true(equal);
    perp_lcp_solution_set_free(set);
    free_case(&c);
}

/* ---- random problems -----------------------------------------------------------------------------------------------
 */

static int largest_piece(void)
{
    int most = 0;
    for (int k = 0; k < B.piece_count; k++) {
        int count = 0;
        for (int v = 0; v < B.vertex_count; v++) {
            count += (int)(B.pieces[k].vertices[v / 64] >> v % 64 & 1U);
        }
        most = count > most ? count : most;
    }
    return most;
}

static void equals_brute_force(void **state)
{
    (void)state;
    int none = 0, several = 0, segments = 0, rays = 0, lines = 0, boxes = 0;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        perp_random random = {seed};
        fill(&random, (enum kind)(seed % KINDS), 1 + (int)(seed / KINDS % 4));
        if (seed / 100 % 2 == 0) {
            plant(&random);
        }
        brute_force();
        assert_equals_brute_force();
        none += B.piece_count == 0;
        several += B.piece_count > 1;
        segments += largest_piece() > 1;
        rays += B.ray_count > 0 && B.piece_count > 0;
        lines += B.line_count > 0 && B.piece_count > 0;
        for (int i = 0; i < B.n; i++) {
            boxes += B.has_lower[i] && B.has_upper[i];
        }
    }
    print_message("none %d, several %d, segments %d, rays %d, lines %d, boxes %d\n", none, several, segments, rays,
                  lines, boxes);
    assert_true(none > 1000 && several > 1000 && segments > 1000 && rays > 1000 && lines > 1000 && boxes > 1000);
}

static void five_variables(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        perp_random random = {seed + 100000};
        fill(&random, (enum kind)(seed % KINDS), 5);
        plant(&random);
        brute_force();
        assert_equals_brute_force();
    }
}

/* ---- known sets ----------------------------------------------------------------------------------------------------
 */

static perp_lcp_solution_set *enumerate(const case_of *c)
{
    const perp_mcp problem = mcp_of(c);
    perp_lcp_solution_set *set;
    ASSERT_STATUS(PERP_STATUS_OK, perp_mcp_enumerate(&problem, NULL, NULL, &set, NULL));
    return set;
}

static void assert_rows(int count, const double *expected, const double *found)
{
    for (int k = 0; k < count; k++) {
        ASSERT_NEAR(found[k], expected[k], 1e-14);
    }
}

/* min c'x, A x = b, x >= 0 as in test_mlcp_solve.c, with cost 2 for x2: all between (1.5, 0, 2.5) and (0, 3, 1) is
 * optimal, with multipliers (1, 1). The second equation written twice leaves a line: (y2 + t, y3 - t). */
static void linear_programme(void **state)
{
    (void)state;
    const double cost[3] = {1.0, 2.0, 3.0}, a[2][3] = {{1, 1, 1}, {0, 1, 2}}, b[2] = {4.0, 5.0};
    for (int repeated = 0; repeated < 2; repeated++) {
        case_of c = new_case(5 + repeated);
        const int n = c.n;
        for (int i = 0; i < 3; i++) {
            c.q[i] = cost[i];
            for (int k = 0; k < n - 3; k++) {
                c.m[i * n + 3 + k] = -a[k > 0][i];
                c.m[(3 + k) * n + i] = a[k > 0][i];
            }
        }
        for (int k = 0; k < n - 3; k++) {
            c.q[3 + k] = -b[k > 0];
            c.lower[3 + k] = -INFINITY;
        }
        perp_lcp_solution_set *set = enumerate(&c);
        assert_true(set->complete);
        assert_int_equal(set->face_count, 1);
        const perp_lcp_face *face = &set->faces[0];
        assert_int_equal(face->vertex_count, 2);
        assert_int_equal(face->ray_count, repeated ? 2 : 0);
        const double x[2][3] = {{0.0, 3.0, 1.0}, {1.5, 0.0, 2.5}};
        for (int k = 0; k < 2; k++) {
            const double *z = face->vertices + k * n;
            assert_rows(3, x[k], z);
            ASSERT_NEAR(z[3], 1.0, 1e-14);
            ASSERT_NEAR(z[4] + (repeated ? z[5] : 0.0), 1.0, 1e-14);
        }
        const double lines[2][6] = {{0, 0, 0, 0, -1, 1}, {0, 0, 0, 0, 1, -1}};
        assert_rows(repeated ? 12 : 0, lines[0], face->rays);
        perp_lcp_solution_set_free(set);
        free_case(&c);
    }
}

/* F = -z + 1/2 on [0, 1]: 0 at F > 0, 1/2 at F = 0, 1 at F < 0: three points. And F = 0: the whole box. */
static void boxes(void **state)
{
    (void)state;
    case_of c = new_case(1);
    c.upper[0] = 1.0;
    c.m[0] = -1.0;
    c.q[0] = 0.5;
    perp_lcp_solution_set *set = enumerate(&c);
    assert_true(set->complete);
    assert_int_equal(set->face_count, 3);
    for (int f = 0; f < 3; f++) {
        assert_int_equal(set->faces[f].vertex_count, 1);
        assert_int_equal(set->faces[f].ray_count, 0);
        ASSERT_NEAR(set->faces[f].vertices[0], 0.5 * f, 0.0);
    }
    perp_lcp_solution_set_free(set);
    c.m[0] = c.q[0] = 0.0;
    perp_random random = {1};
    for (int k = 0; k < 100; k++) { /* bounds come out as they went in, though lower + (upper - lower) rounds */
        c.lower[0] = perp_random_uniform(&random, -1.0, 0.5);
        c.upper[0] = perp_random_uniform(&random, 0.5, 1.0);
        set = enumerate(&c);
        assert_int_equal(set->face_count, 1);
        assert_int_equal(set->faces[0].vertex_count, 2);
        ASSERT_NEAR(set->faces[0].vertices[0], c.lower[0], 0.0);
        ASSERT_NEAR(set->faces[0].vertices[1], c.upper[0], 0.0);
        perp_lcp_solution_set_free(set);
    }
    c.lower[0] = c.upper[0] = 0.3; /* a constant, whatever F is */
    c.q[0] = -5.0;
    set = enumerate(&c);
    assert_true(set->complete);
    assert_int_equal(set->face_count, 1);
    assert_int_equal(set->faces[0].vertex_count, 1);
    ASSERT_NEAR(set->faces[0].vertices[0], 0.3, 0.0);
    perp_lcp_solution_set_free(set);
    free_case(&c);
}

/* Without upper bounds and free variables it is perp_lcp_enumerate, but for a scaling more. */
static void an_lcp_is_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        case_of c = contact_lcp(seed, 8, seed % 2 == 0);
        const perp_lcp lcp = lcp_of(&c);
        const perp_mlcp mlcp = mlcp_of(&c);
        perp_mcp mcp;
        perp_mlcp_as_mcp(&mlcp, c.lower, c.upper, &mcp);
        perp_lcp_solution_set *a, *b;
        ASSERT_STATUS(PERP_STATUS_OK, perp_lcp_enumerate(&lcp, NULL, NULL, &a, NULL));
        ASSERT_STATUS(PERP_STATUS_OK, perp_mcp_enumerate(&mcp, NULL, NULL, &b, NULL));
        assert_int_equal(a->face_count, b->face_count);
        for (int f = 0; f < a->face_count; f++) {
            const perp_lcp_face *x = &a->faces[f], *y = &b->faces[f];
            assert_int_equal(x->vertex_count, y->vertex_count);
            assert_int_equal(x->ray_count, y->ray_count);
            for (int k = 0; k < c.n * x->vertex_count; k++) {
                ASSERT_NEAR(x->vertices[k], y->vertices[k], 1e-12 * (1.0 + fabs(x->vertices[k])));
            }
            for (int k = 0; k < c.n * x->ray_count; k++) {
                ASSERT_NEAR(x->rays[k], y->rays[k], 1e-12);
            }
        }
        perp_lcp_solution_set_free(a);
        perp_lcp_solution_set_free(b);
        free_case(&c);
    }
}

/* A free block that is singular but for 2^-40, or for the last bit: its solution is far away, and is not found; that is
 * said. So it is where the equations agree, and what is found is a line instead of a point. */
static void nearly_singular_is_not_complete(void **state)
{
    (void)state;
    case_of c = new_case(2);
    c.m[0] = c.m[1] = c.m[2] = 1.0;
    c.lower[0] = c.lower[1] = -INFINITY;
    perp_lcp_solution_set *set;
    for (int k = 0; k < 4; k++) {
        c.m[3] = 1.0 + ldexp(1.0, k % 2 ? -52 : -40);
        c.q[0] = -1.0;
        c.q[1] = k / 2 ? -1.0 : -2.0;
        set = enumerate(&c);
        assert_false(set->complete);
        perp_lcp_solution_set_free(set);
    }
    c.q[1] = -2.0;
    c.m[3] = 1.0; /* a contradiction */
    set = enumerate(&c);
    assert_true(set->complete);
    assert_int_equal(set->face_count, 0);
    perp_lcp_solution_set_free(set);
    free_case(&c);
}

static void refusals(void **state)
{
    (void)state;
    perp_error error;
    perp_lcp_solution_set *set = (perp_lcp_solution_set *)&error;
    case_of c = new_case(PERP_LCP_ENUMERATE_MAX_N + 2);
    perp_mcp problem = mcp_of(&c);
    problem.n = PERP_LCP_ENUMERATE_MAX_N + 1;
    ASSERT_STATUS(PERP_STATUS_CAPACITY, perp_mcp_enumerate(&problem, NULL, NULL, &set, &error));
    assert_null(set);
    problem.n = PERP_LCP_ENUMERATE_MAX_N;
    c.upper[3] = 1.0; /* a box counts twice */
    ASSERT_STATUS(PERP_STATUS_CAPACITY, perp_mcp_enumerate(&problem, NULL, NULL, &set, &error));
    c.upper[3] = INFINITY;
    problem.n = PERP_LCP_ENUMERATE_MAX_N + 1;
    ASSERT_STATUS(PERP_STATUS_CAPACITY, perp_mcp_enumerate(&problem, NULL, NULL, &set, &error));
    assert_non_null(strstr(error.message, "41"));
    c.lower[3] = c.lower[4] = -INFINITY; /* free ones do not count */
    const perp_lcp_enumerate_settings few = {.size = sizeof few, .tolerance = 1e-8, .max_nodes = 1};
    ASSERT_STATUS(PERP_STATUS_OK, perp_mcp_enumerate(&problem, &few, NULL, &set, &error));
    assert_int_equal(set->face_count, 1); /* M and q are 0: all z >= 0, and two lines */
    assert_int_equal(set->faces[0].ray_count, PERP_LCP_ENUMERATE_MAX_N - 1 + 4);
    perp_lcp_solution_set_free(set);
    problem.n = 2;
    c.upper[1] = -1.0;
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_mcp_enumerate(&problem, NULL, NULL, &set, &error));
    c.upper[1] = INFINITY;
    c.m[1] = NAN;
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_mcp_enumerate(&problem, NULL, NULL, &set, &error));
    c.m[1] = 0.0;
    static const double tolerances[] = {0.0, -1.0, NAN, 0.99e-12};
    for (size_t k = 0; k < sizeof tolerances / sizeof *tolerances; k++) {
        const perp_lcp_enumerate_settings settings = {
            .size = sizeof settings, .tolerance = tolerances[k], .max_nodes = 100};
        ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_mcp_enumerate(&problem, &settings, NULL, &set, &error));
    }
    c.lower[0] = -1.7e308; /* their difference overflows */
    c.upper[0] = 1.7e308;
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_mcp_enumerate(&problem, NULL, NULL, &set, &error));
    c.upper[0] = INFINITY;
    c.lower[0] = -INFINITY;
    const volatile bool cancel = true;
    const perp_lcp_enumerate_settings cancelled = {
        .size = sizeof cancelled, .tolerance = 1e-8, .max_nodes = 100, .cancel = &cancel};
    ASSERT_STATUS(PERP_STATUS_CANCELLED, perp_mcp_enumerate(&problem, &cancelled, NULL, &set, &error));
    assert_null(set);
    problem.n = 0;
    ASSERT_STATUS(PERP_STATUS_OK, perp_mcp_enumerate(&problem, NULL, NULL, &set, &error));
    assert_int_equal(set->face_count, 1);
    assert_true(set->complete);
    perp_lcp_solution_set_free(set);
    free_case(&c);
}

static void out_of_memory(void **state)
{
    (void)state;
    perp_random random = {PROGRAMME};
    fill(&random, LOW_RANK, 5);
    case_of c = as_case();
    const perp_mcp problem = mcp_of(&c);
    for (int grants = 0;; grants++) {
        failing_allocator f = {.grants = grants};
        const perp_allocator allocator = allocator_of(&f);
        perp_lcp_solution_set *set;
        perp_error error;
        const perp_status status = perp_mcp_enumerate(&problem, NULL, &allocator, &set, &error);
        if (f.requests <= grants) { /* nothing was refused */
            ASSERT_STATUS(PERP_STATUS_OK, status);
            assert_true(grants > 3);
            perp_lcp_solution_set_free(set);
            assert_int_equal(0, f.standing);
            break;
        }
        ASSERT_STATUS(PERP_STATUS_OUT_OF_MEMORY, status);
        assert_null(set);
        assert_int_equal(0, f.standing);
    }
    free_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_brute_force), cmocka_unit_test(five_variables),
        cmocka_unit_test(linear_programme),   cmocka_unit_test(boxes),
        cmocka_unit_test(an_lcp_is_the_same), cmocka_unit_test(nearly_singular_is_not_complete),
        cmocka_unit_test(refusals),           cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
