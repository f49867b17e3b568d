/* The friction QP: reference numbers, random problems beside projected steps in long double, problems made from their
 * solution, Coulomb's law, implicit steps, refusals, memory. */
#include "failing_allocator.h"
#include "hooked_malloc.h"
#include "linalg/dense.h"
#include "problem/checks.h"
#include "problem/friction_qp.h"

#include <perp/problem.h>
#include <perp/solver.h>

#include <math.h>
#include <stdio.h>

enum { MOST_ELEMENTS = 20, MOST_ROWS = 3 * MOST_ELEMENTS, MOST_X = 2 * MOST_ELEMENTS };

#define ASSERT_STATUS(expected, call) assert_string_equal(perp_status_name(expected), perp_status_name(call))

static void near(double value, double expected, double tolerance, int line)
{
    if (!(fabs(value - expected) <= tolerance)) {
        print_error("line %d: %.17g is not %.17g to %g\n", line, value, expected, tolerance);
        fail();
    }
}
#define ASSERT_NEAR(value, expected, tolerance) near(value, expected, tolerance, __LINE__)

static double draw(uint64_t *seed) /* -1 .. 1 */
{
    *seed += 0x9e3779b97f4a7c15u;
    uint64_t z = *seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-52 - 1.0;
}

/* A problem with arrays of its own. */
typedef struct qp_case {
    perp_friction_qp problem;
    double h[MOST_X * MOST_X], d[MOST_X], radius[MOST_ELEMENTS], work[MOST_ROWS * (2 * MOST_ROWS + 1)];
} qp_case;

static perp_friction_qp_arrays arrays_of(qp_case *c)
{
    return (perp_friction_qp_arrays){c->h, c->d, c->radius, c->work};
}

/* A tolerance near the tightest, so that what is compared is the answer and not the patience. */
static perp_friction_info solve(const perp_friction_qp *problem, const double *warm, double *x, double *slip)
{
    perp_error error = {0};
    perp_friction_qp_workspace *workspace = NULL;
    perp_friction_settings settings = perp_friction_settings_default();
    settings.tolerance = 1e-11;
    settings.warm_r = warm;
    perp_friction_info info;
    ASSERT_STATUS(PERP_STATUS_OK, perp_friction_qp_workspace_create(NULL, &workspace, &error));
    ASSERT_STATUS(PERP_STATUS_OK, perp_friction_qp_reserve(problem, workspace, &error));
    ASSERT_STATUS(PERP_STATUS_OK, perp_friction_qp_solve(problem, &settings, workspace, x, slip, &info, &error));
    perp_friction_qp_workspace_free(workspace);
    assert_string_equal(perp_outcome_name(info.outcome), perp_outcome_name(PERP_OUTCOME_SOLVED));
    assert_true(info.residual == perp_friction_qp_residual(problem, x) && info.residual <= 1e-11);
    return info;
}

/* ---- reference numbers ------------------------------------------------------------------------------------------- */

static void read_numbers(FILE *file, int count, double *values)
{
    for (int i = 0; i < count; i++) {
        assert_int_equal(fscanf(file, "%lf", &values[i]), 1);
    }
}

/* The lower triangle of a symmetric block of `matrix`, size x size, from row `first`. */
static void read_block(FILE *file, int size, int first, int rows, double *matrix)
{
    for (int i = first; i < first + rows; i++) {
        for (int j = first; j <= i; j++) {
            read_numbers(file, 1, &matrix[i * size + j]);
            matrix[j * size + i] = matrix[i * size + j];
        }
    }
}

static void skip_comments(FILE *file)
{
    int c = fgetc(file);
    while (c == '#') {
        while ((c = fgetc(file)) != '\n') {
            assert_int_not_equal(c, EOF);
        }
        c = fgetc(file);
    }
    ungetc(c, file);
}

/* 1e-9: what is promised; the numbers in the file have 1e-15. */
static void reference_instances(void **state)
{
    (void)state;
    static double damping[MOST_ROWS * MOST_ROWS], stiffness[MOST_ROWS * MOST_ROWS];
    FILE *file = fopen(PERP_SOURCE_DIR "/tests/solver/friction_qp.txt", "r");
    assert_non_null(file);
    skip_comments(file);
    int patches, each, instances = 0;
    while (fscanf(file, "%d %d", &patches, &each) == 2) {
        const int n = patches * each, size = 3 * n;
        double mu[MOST_ELEMENTS], fn[MOST_ELEMENTS], delta[MOST_ROWS], sliding[MOST_X], expected[MOST_X], objective;
        double x[MOST_X], slip[MOST_X];
        assert_true(n <= MOST_ELEMENTS);
        read_numbers(file, n, mu);
        read_numbers(file, n, fn);
        read_numbers(file, size, delta);
        read_numbers(file, 2 * n, sliding);
        read_numbers(file, 2 * n, expected);
        read_numbers(file, 1, &objective);
        memset(damping, 0, sizeof damping);
        memset(stiffness, 0, sizeof stiffness);
        for (int k = 0; k < patches; k++) {
            read_block(file, size, 3 * each * k, 3 * each, damping);
            read_block(file, size, 3 * each * k, 3 * each, stiffness);
        }
        static qp_case c;
        const perp_friction_elements elements = {n, 3, damping, stiffness, delta, fn, sliding, mu, 0.0};
        const perp_friction_qp_arrays arrays = arrays_of(&c);
        perp_error error = {0};
        ASSERT_STATUS(PERP_STATUS_OK, perp_friction_qp_form(&elements, &arrays, &c.problem, &error));
        solve(&c.problem, NULL, x, slip);
        for (int i = 0; i < 2 * n; i++) {
            ASSERT_NEAR(x[i], expected[i], 1e-9);
        }
        ASSERT_NEAR(perp_friction_qp_objective(&c.problem, x), objective, 1e-9);
        instances++;
    }
    fclose(file);
    assert_int_equal(instances, 5);
}

/* ---- random problems --------------------------------------------------------------------------------------------- */

/* H = B B' / columns + 0.05: condition numbers up to some hundreds. */
static void draw_matrix(uint64_t *seed, int size, double *h)
{
    static double b[MOST_X * MOST_X];
    for (int i = 0; i < size * size; i++) {
        b[i] = draw(seed);
    }
    for (int i = 0; i < size; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = i == j ? 0.05 : 0.0;
            for (int k = 0; k < size; k++) {
                sum += b[i * size + k] * b[j * size + k] / size;
            }
            h[i * size + j] = h[j * size + i] = sum;
        }
    }
}

static void draw_problem(uint64_t *seed, qp_case *c)
{
    const int dim = draw(seed) > 0.0 ? 2 : 1, n = 1 + (int)(6.0 * (1.0 + draw(seed)));
    draw_matrix(seed, n * dim, c->h);
    for (int i = 0; i < n * dim; i++) {
        c->d[i] = draw(seed);
    }
    for (int i = 0; i < n; i++) {
        const double size = draw(seed);
        c->radius[i] = size > 0.7 ? 0.0 : pow(10.0, 4.0 * size); /* 1e-4 to 631: from all sliding to all sticking */
    }
    c->problem = (perp_friction_qp){n, dim, c->h, c->d, c->radius};
}

/* A second method: element after element a projected gradient step of the length of its block's trace, which never
 * passes the block's minimum; until nothing moves by 1e-13. */
static void project_steps(const perp_friction_qp *p, double *x)
{
    const int dim = p->dim, size = p->elements * dim;
    long double y[MOST_X] = {0.0L}, moved = 1.0L;
    for (int sweep = 0; sweep < 200000 && moved > 1e-13L; sweep++) {
        moved = 0.0L;
        for (int i = 0; i < p->elements; i++) {
            long double next[2] = {0.0L, 0.0L}, trace = 0.0L;
            for (int k = 0; k < dim; k++) {
                const int row = i * dim + k;
                next[k] = p->d[row];
                trace += (long double)p->h[row * (size + 1)];
                for (int j = 0; j < size; j++) {
                    next[k] += (long double)p->h[row * size + j] * y[j];
                }
            }
            for (int k = 0; k < dim; k++) {
                next[k] = y[i * dim + k] - next[k] / trace;
            }
            const long double length = hypotl(next[0], next[1]), radius = p->radius[i];
            for (int k = 0; k < dim; k++) {
                const long double at = length > radius ? next[k] * radius / length : next[k];
                moved = fmaxl(moved, fabsl(at - y[i * dim + k]));
                y[i * dim + k] = at;
            }
        }
    }
    assert_true(moved <= 1e-13L);
    for (int i = 0; i < size; i++) {
        x[i] = (double)y[i];
    }
}

/* The second method stops within 1e-13 * condition (at most 1e3) of the solution, ours at a residual of 1e-11, times
 * the inverse of H's least eigenvalue, at most 20, and 1 + |d| <= 2: 4e-10 holds both. */
static void random_problems_beside_projected_steps(void **state)
{
    (void)state;
    uint64_t seed = 1;
    int sticks = 0, slides = 0;
    for (int k = 0; k < 300; k++) {
        static qp_case c;
        double x[MOST_X], slip[MOST_X], other[MOST_X];
        draw_problem(&seed, &c);
        solve(&c.problem, NULL, x, slip);
        project_steps(&c.problem, other);
        for (int i = 0; i < c.problem.elements * c.problem.dim; i++) {
            ASSERT_NEAR(x[i], other[i], 4e-10);
        }
        for (int i = 0; i < c.problem.elements; i++) {
            const bool slip_here = fabs(slip[i * c.problem.dim]) > 1e-6;
            slides += c.radius[i] > 0.0 && slip_here;
            sticks += c.radius[i] > 0.0 && !slip_here;
        }
    }
    assert_true(sticks > 300 && slides > 300); /* both were tried */
}

/* Inside its disc, sliding, without a radius, or on the boundary without slip, where the two cases meet. */
static void solutions_that_are_known(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int k = 0; k < 300; k++) {
        static qp_case c;
        double x[MOST_X], slip[MOST_X], expected[MOST_X];
        draw_problem(&seed, &c);
        const int n = c.problem.elements, dim = c.problem.dim, size = n * dim;
        for (int i = 0; i < n; i++) {
            const int kind = (int)(2.0 * (1.0 + draw(&seed)));
            const double angle = 4.0 * draw(&seed), part = kind == 0 ? 0.5 * (1.0 + draw(&seed)) : 1.0;
            for (int j = 0; j < dim; j++) {
                const double along = dim == 1 ? copysign(1.0, angle) : (j == 0 ? cos(angle) : sin(angle));
                const double r = c.radius[i];
                expected[i * dim + j] = part * r * along;
                slip[i * dim + j] = r == 0.0 ? draw(&seed) : 0.0;
            }
            const double speed = kind == 1 ? fabs(draw(&seed)) : 0.0;
            for (int j = 0; j < dim && c.radius[i] > 0.0; j++) {
                slip[i * dim + j] = -speed * expected[i * dim + j] / c.radius[i];
            }
        }
        double largest = 0.0;
        for (int i = 0; i < size; i++) {
            double sum = slip[i];
            for (int j = 0; j < size; j++) {
                sum -= c.h[i * size + j] * expected[j];
            }
            c.d[i] = sum;
            largest = fmax(largest, fabs(sum));
        }
        solve(&c.problem, NULL, x, slip);
        for (int i = 0; i < size; i++) {
            ASSERT_NEAR(x[i], expected[i],
                        1e-11 * (1.0 + largest) * 20.0 * 2.0); /* least eigenvalue 0.05; a margin of 2 */
        }
    }
}

/* The x of a problem is a start for itself, and changes nothing. */
static void a_warm_start_is_taken(void **state)
{
    (void)state;
    uint64_t seed = 3;
    static qp_case c;
    double x[MOST_X], again[MOST_X], slip[MOST_X];
    for (int k = 0; k < 20; k++) {
        draw_problem(&seed, &c);
        solve(&c.problem, NULL, x, slip);
        solve(&c.problem, x, again, slip);
        for (int i = 0; i < c.problem.elements * c.problem.dim; i++) {
            ASSERT_NEAR(again[i], x[i], 8e-10); /* each within 4e-10, as above */
        }
    }
}

/* ---- the law ----------------------------------------------------------------------------------------------------- */

/* An element in space, alone: with C = c and K = k times 1 the slip is (x - k delta_t) / c + v. */
static void one_element_by_hand(void **state)
{
    (void)state;
    const double c = 20.0, k = 1e3, delta[3] = {0.01, 2e-4, -1e-4}, v[2] = {0.03, 0.04}, mu = 0.5, fn = 8.0;
    double damping[9] = {0.0}, stiffness[9] = {0.0}, x[2], slip[2];
    for (int i = 0; i < 3; i++) {
        damping[4 * i] = c;
        stiffness[4 * i] = k;
    }
    for (int grip = 0; grip < 2; grip++) {
        const double radius = grip ? mu * fn : 0.1 * mu * fn, force = grip ? fn : 0.1 * fn;
        static qp_case q;
        const perp_friction_elements e = {1, 3, damping, stiffness, delta, &force, v, &mu, 0.0};
        const perp_friction_qp_arrays arrays = arrays_of(&q);
        ASSERT_STATUS(PERP_STATUS_OK, perp_friction_qp_form(&e, &arrays, &q.problem, NULL));
        ASSERT_NEAR(q.radius[0], radius, 1e-15);
        solve(&q.problem, NULL, x, slip);
        const double hold[2] = {k * delta[1] - c * v[0], k * delta[2] - c * v[1]}; /* without slip */
        const double length = hypot(hold[0], hold[1]), part = length > radius ? radius / length : 1.0;
        for (int j = 0; j < 2; j++) {
            ASSERT_NEAR(x[j], part * hold[j], 2e-11 * c); /* a residual of 1e-11 over H = 1 / c */
            ASSERT_NEAR(slip[j], (part - 1.0) * hold[j] / c, 2e-11);
        }
        assert_true(grip == (part == 1.0)); /* one of each */
    }
}

/* With C + h K for C the answer is that of a backward Euler step: with delta+ = delta + h (slip - v) in the tangents,
 * and what the normal forces ask for in the normals, lambda = K delta+ + C (delta+ - delta) / h. */
static void implicit_step(void **state)
{
    (void)state;
    enum { N = 4, SIZE = 3 * N };
    uint64_t seed = 4;
    const double h = 0.01, gamma = 1e-2;
    static double c[SIZE * SIZE], k[SIZE * SIZE], sum[SIZE * SIZE], factor[SIZE * SIZE];
    double delta[SIZE], fn[N], mu[N], v[2 * N], x[2 * N], slip[2 * N], rate[SIZE], force[SIZE];
    draw_matrix(&seed, SIZE, c);
    draw_matrix(&seed, SIZE, k);
    for (int i = 0; i < SIZE * SIZE; i++) {
        k[i] *= 1e3;
        sum[i] = c[i] + h * k[i];
    }
    for (int i = 0; i < SIZE; i++) {
        delta[i] = 1e-3 * draw(&seed);
    }
    for (int i = 0; i < N; i++) {
        fn[i] = 1.0 + draw(&seed);
        mu[i] = 0.5 + 0.4 * draw(&seed);
        v[2 * i] = 0.1 * draw(&seed);
        v[2 * i + 1] = 0.1 * draw(&seed);
    }
    static qp_case q;
    const perp_friction_elements e = {N, 3, sum, k, delta, fn, v, mu, gamma};
    const perp_friction_qp_arrays arrays = arrays_of(&q);
    ASSERT_STATUS(PERP_STATUS_OK, perp_friction_qp_form(&e, &arrays, &q.problem, NULL));
    solve(&q.problem, NULL, x, slip);
    for (int i = 0; i < SIZE; i++) { /* (C + h K) rate = lambda - K delta */
        rate[i] = force[i] = i % 3 == 0 ? fn[i / 3] : x[i / 3 * 2 + i % 3 - 1];
        for (int j = 0; j < SIZE; j++) {
            rate[i] -= k[i * SIZE + j] * delta[j];
        }
    }
    memcpy(factor, sum, sizeof factor);
    ASSERT_STATUS(PERP_STATUS_OK, perp_cholesky_factor(SIZE, factor, SIZE, NULL));
    perp_cholesky_solve(SIZE, factor, SIZE, rate);
    for (int i = 0; i < SIZE; i++) {
        double law = 0.0;
        for (int j = 0; j < SIZE; j++) {
            law += k[i * SIZE + j] * (delta[j] + h * rate[j]) + c[i * SIZE + j] * rate[j];
        }
        ASSERT_NEAR(law, force[i], 1e-11);
        if (i % 3 != 0) {
            ASSERT_NEAR(slip[i / 3 * 2 + i % 3 - 1], rate[i] + v[i / 3 * 2 + i % 3 - 1], 1e-11);
        }
    }
    for (int i = 0; i < N; i++) { /* Song's cone, as the paper writes it, and the force against the slip */
        const double size = hypot(x[2 * i], x[2 * i + 1]), speed = hypot(slip[2 * i], slip[2 * i + 1]);
        assert_true(hypot(size, gamma) <= mu[i] * fn[i] + gamma + 1e-12);
        if (speed > 1e-6) {
            ASSERT_NEAR(hypot(size, gamma), mu[i] * fn[i] + gamma, 1e-10);
            ASSERT_NEAR(x[2 * i] * slip[2 * i] + x[2 * i + 1] * slip[2 * i + 1], -size * speed, 1e-10);
        }
    }
}

/* ---- refusals and memory ----------------------------------------------------------------------------------------- */

static void what_is_refused(void **state)
{
    (void)state;
    double h[4] = {1.0, 0.0, 0.0, 1.0}, d[2] = {0.0, 0.0}, radius = 1.0, x[2], slip[2];
    perp_friction_qp p = {1, 2, h, d, &radius};
    perp_error error = {0};
    perp_friction_info info;
    perp_friction_qp_workspace *workspace = NULL;
    ASSERT_STATUS(PERP_STATUS_OK, perp_friction_qp_workspace_create(NULL, &workspace, &error));
    ASSERT_STATUS(PERP_STATUS_CAPACITY, perp_friction_qp_solve(&p, NULL, workspace, x, slip, &info, &error));
    ASSERT_STATUS(PERP_STATUS_OK, perp_friction_qp_reserve(&p, workspace, &error));
    ASSERT_STATUS(PERP_STATUS_OK, perp_friction_qp_solve(&p, NULL, workspace, x, slip, &info, &error));
    perp_friction_settings settings = perp_friction_settings_default();
    settings.tolerance = 3e-12;
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_friction_qp_solve(&p, &settings, workspace, x, slip, &info, &error));
    h[3] = 0.0; /* semidefinite: x is not unique */
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_friction_qp_solve(&p, NULL, workspace, x, slip, &info, &error));
    h[3] = 1.0;
    h[1] = 0.5;
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_friction_qp_check(&p, &error));
    h[1] = 0.0;
    radius = -1.0;
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_friction_qp_check(&p, &error));
    radius = 1.0;
    d[1] = (double)NAN;
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_friction_qp_solve(&p, NULL, workspace, x, slip, &info, &error));
    p = (perp_friction_qp){1, 3, h, d, &radius};
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_friction_qp_check(&p, &error));
    p = (perp_friction_qp){.elements = 0, .dim = 2};
    ASSERT_STATUS(PERP_STATUS_OK, perp_friction_qp_reserve(&p, workspace, &error));
    ASSERT_STATUS(PERP_STATUS_OK, perp_friction_qp_solve(&p, NULL, workspace, x, slip, &info, &error));
    assert_int_equal(info.outcome, PERP_OUTCOME_SOLVED);
    perp_friction_qp_workspace_free(workspace);
    perp_friction_qp_workspace_free(NULL);
}

static void what_elements_are_refused(void **state)
{
    (void)state;
    double c[4] = {2.0, 1.0, 1.0, 2.0}, k[4] = {1.0, 0.0, 0.0, 1.0}, delta[2] = {0.0, 0.0}, fn = 1.0, v = 0.0, mu = 0.5;
    static qp_case q;
    const perp_friction_qp_arrays arrays = arrays_of(&q);
    perp_friction_elements e = {1, 2, c, k, delta, &fn, &v, &mu, 0.0};
    perp_error error = {0};
    ASSERT_STATUS(PERP_STATUS_OK, perp_friction_qp_form(&e, &arrays, &q.problem, &error));
    struct {
        double *value, wrong;
    } const spoils[] = {{&c[1], 0.9}, {&c[0], 0.4}, {&k[0], (double)INFINITY}, {&delta[1], (double)NAN},
                        {&fn, -1.0},  {&mu, -0.1},  {&e.gamma, -1.0},          {&v, (double)NAN}};
    for (size_t i = 0; i < sizeof spoils / sizeof *spoils; i++) {
        const double right = *spoils[i].value;
        *spoils[i].value = spoils[i].wrong;
        ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_friction_qp_form(&e, &arrays, &q.problem, &error));
        *spoils[i].value = right;
    }
    e.rows = 4;
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_friction_qp_form(&e, &arrays, &q.problem, &error));
}

/* Radii may vanish and come back, and the numbers of H change, on one reservation. */
static void solving_takes_no_memory(void **state)
{
    (void)state;
    uint64_t seed = 5;
    static qp_case c;
    double x[MOST_X], slip[MOST_X];
    perp_error error = {0};
    perp_friction_qp_workspace *workspace = NULL;
    const int n = 8, size = 2 * n;
    c.problem = (perp_friction_qp){n, 2, c.h, c.d, c.radius};
    draw_matrix(&seed, size, c.h);
    ASSERT_STATUS(PERP_STATUS_OK, perp_friction_qp_workspace_create(NULL, &workspace, &error));
    ASSERT_STATUS(PERP_STATUS_OK, perp_friction_qp_reserve(&c.problem, workspace, &error));
    for (int k = 0; k < 30; k++) {
        draw_matrix(&seed, size, c.h);
        for (int i = 0; i < size; i++) {
            c.d[i] = draw(&seed);
        }
        for (int i = 0; i < n; i++) {
            c.radius[i] = fmax(0.0, draw(&seed));
        }
        perp_friction_info info;
        const long before = requests;
        ASSERT_STATUS(PERP_STATUS_OK, perp_friction_qp_solve(&c.problem, NULL, workspace, x, slip, &info, &error));
        const long after = requests;
        assert_int_equal(info.outcome, PERP_OUTCOME_SOLVED);
        assert_true(!watching || before == after);
    }
    perp_friction_qp_workspace_free(workspace);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uint64_t seed = 6;
    static qp_case c;
    draw_problem(&seed, &c);
    for (int once = 0; once < 2; once++) {
        bool done = false;
        for (int grants = 0; !done; grants++) {
            failing_allocator f = {.grants = grants, .once = once};
            const perp_allocator allocator = allocator_of(&f);
            perp_friction_qp_workspace *workspace = NULL;
            perp_status status = perp_friction_qp_workspace_create(&allocator, &workspace, NULL);
            status = status ? status : perp_friction_qp_reserve(&c.problem, workspace, NULL);
            done = f.requests <= grants;
            ASSERT_STATUS(done ? PERP_STATUS_OK : PERP_STATUS_OUT_OF_MEMORY, status);
            perp_friction_qp_workspace_free(workspace);
            assert_int_equal(f.standing, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_instances),      cmocka_unit_test(random_problems_beside_projected_steps),
        cmocka_unit_test(solutions_that_are_known), cmocka_unit_test(a_warm_start_is_taken),
        cmocka_unit_test(one_element_by_hand),      cmocka_unit_test(implicit_step),
        cmocka_unit_test(what_is_refused),          cmocka_unit_test(what_elements_are_refused),
        cmocka_unit_test(solving_takes_no_memory),  cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
