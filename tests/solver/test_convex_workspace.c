/* Memory of the convex engine, its limits and cancelling, on problems of every class. malloc is replaced for this
 * program to see that solving asks for nothing; a sanitizer replaces it too, and then only the perp_allocator is
 * watched. */
#include "convex_test.h"

#include "failing_allocator.h"
#include "hooked_malloc.h"
#include "solver/convex_core.h"

#include <signal.h>
#include <sys/time.h>
#include <time.h>

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Of all kinds: contact qps with and without cones, loops and bounds, one that contradicts itself, one that falls, and
 * dense ones. `arrays` is theirs. */
enum { FAMILY = 7 };

typedef struct family {
    contact_case contacts[5];
    dual_case dense;
    perp_contact_qp contact_qps[5];
    perp_qp qp;
    perp_cone_qp cone;
    convex_problem problems[FAMILY];
    perp_convex_point points[FAMILY];
} family;

static const double UNIT[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, CONE_G[3] = {1.0, -3.0, 2.0};
static const double CONE_B[3] = {0.0, 0.0, 0.0};
static const int CONE_ROWS[1] = {3};

static void make_family(family *f)
{
    perp_random random = {5};
    for (int k = 0; k < 5; k++) {
        const random_contacts what = {.bodies = 1 + 3 * (k % 3),
                                      .contacts = 3 + 7 * k,
                                      .equalities = k % 2,
                                      .kind = k < 2 ? CONTACT_ROWS : CONTACT_MIXED,
                                      .bounded = k == 2,
                                      .flat = k == 1};
        perp_convex_point known;
        f->contacts[k] = random_contact_case(&random, what, &known);
        free_point(&known);
    }
    const double apart = -5.0, row[3] = {-1.0, 0.0, 0.0}, opposite[3] = {1.0, 0.0, 0.0};
    const int dofs[3] = {0, 1, 2};
    contact_entry entry = {.count = 3, .rows = 1, .slacks = 1, .dofs = dofs, .jacobian = row, .offset = &apart};
    add_contact(&f->contacts[3], &entry); /* x0 <= -5 and x0 >= 5 */
    entry.jacobian = opposite;
    add_contact(&f->contacts[3], &entry);
    f->contacts[1].g[3] += 50.0; /* body 1 has no H */
    for (int k = 0; k < 5; k++) {
        f->contact_qps[k] = contact_qp_of(&f->contacts[k]);
        f->problems[k] = OF_CONTACT_QP(&f->contact_qps[k]);
    }
    f->dense = random_dual_case(&random, 9, 25, 2, true);
    f->qp = dual_qp_of(&f->dense);
    f->problems[5] = OF_QP(&f->qp);
    f->cone =
        (perp_cone_qp){.n = 3, .h = UNIT, .g = CONE_G, .cones = 1, .cone_rows = CONE_ROWS, .a = UNIT, .b = CONE_B};
    f->problems[6] = OF_CONE_QP(&f->cone);
    for (int k = 0; k < FAMILY; k++) {
        f->points[k] = new_point(f->problems[k]);
    }
}

static void free_family(family *f)
{
    for (int k = 0; k < FAMILY; k++) {
        free_point(&f->points[k]);
    }
    for (int k = 0; k < 5; k++) {
        free_contact_case(&f->contacts[k]);
    }
    free_dual_case(&f->dense);
}

static bool same_bits(convex_problem p, const perp_convex_point *a, const perp_convex_point *b)
{
    return distance_of_x(p, a, b) == 0.0 && distance_of_multipliers(p, a, b) == 0.0;
}

/* One workspace for all, in turn and again, gives the bits that a fresh one gives; reserving anew takes no memory. */
static void workspace_is_reused(void **state)
{
    (void)state;
    family f;
    make_family(&f);
    failing_allocator counter = {.grants = INT_MAX};
    const perp_allocator allocator = allocator_of(&counter);
    perp_convex_workspace *workspace = new_convex_workspace(&allocator);
    int outcomes[PERP_OUTCOME_COUNT] = {0};
    for (int k = 0; k < FAMILY; k++) {
        const perp_convex_info info = solve_convex(f.problems[k], NULL, NULL, &f.points[k]);
        outcomes[info.outcome]++;
        ASSERT_STATUS(PERP_STATUS_OK, reserve_convex(f.problems[k], workspace, NULL));
    }
    assert_true(outcomes[PERP_OUTCOME_SOLVED] == 5 && outcomes[PERP_OUTCOME_INFEASIBLE] == 1 &&
                outcomes[PERP_OUTCOME_UNBOUNDED] == 1);
    const int reserved = counter.requests;
    for (int pass = 0; pass < 2 * FAMILY; pass++) {
        const int k = pass * 3 % FAMILY;
        const convex_problem p = f.problems[k];
        perp_convex_point point = new_point(p);
        perp_convex_info info, again;
        ASSERT_STATUS(PERP_STATUS_OK, reserve_convex(p, workspace, NULL));
        const long before = requests;
        const perp_status status = try_convex(p, NULL, workspace, &point, &info, NULL);
        assert_int_equal(requests, before);
        ASSERT_STATUS(PERP_STATUS_OK, status);
        assert_true(same_bits(p, &point, &f.points[k]));
        ASSERT_STATUS(PERP_STATUS_OK, try_convex(p, NULL, workspace, &point, &again, NULL));
        assert_true(same_bits(p, &point, &f.points[k]));
        assert_true(info.iterations == again.iterations && info.factorisations == again.factorisations);
        free_point(&point);
    }
    assert_int_equal(counter.requests, reserved);
    assert_true(!watching || requests > 0); /* the counter counts */
    perp_convex_workspace_free(workspace);
    assert_int_equal(counter.standing, 0);
    free_family(&f);
}

/* A request that is refused: said, nothing is lost, and the workspace serves on. */
static void every_refusal_of_memory_is_survived(void **state)
{
    (void)state;
    family f;
    make_family(&f);
    for (int k = 0; k < FAMILY; k++) {
        solve_convex(f.problems[k], NULL, NULL, &f.points[k]);
    }
    for (int k = 0; k < FAMILY; k++) {
        const int small = (k + 1) % FAMILY;
        const convex_problem p = f.problems[k];
        perp_convex_point point = new_point(p), other = new_point(f.problems[small]);
        perp_status status = PERP_STATUS_OUT_OF_MEMORY;
        for (int grants = 0; status != PERP_STATUS_OK; grants++) {
            failing_allocator counter = {.grants = grants, .once = true};
            const perp_allocator allocator = allocator_of(&counter);
            perp_convex_workspace *workspace;
            perp_convex_info info;
            status = perp_convex_workspace_create(&allocator, &workspace, NULL);
            if (status == PERP_STATUS_OK) {
                status = reserve_convex(p, workspace, NULL);
                const perp_status solved = try_convex(p, NULL, workspace, &point, &info, NULL);
                /* a dense qp may lack but the last rung's room: then it is solved all the same */
                assert_true(solved == PERP_STATUS_OK ? same_bits(p, &point, &f.points[k])
                                                     : solved == PERP_STATUS_CAPACITY && status != PERP_STATUS_OK);
                counter.grants = INT_MAX; /* where it was not reached */
                ASSERT_STATUS(PERP_STATUS_OK, reserve_convex(f.problems[small], workspace, NULL));
                ASSERT_STATUS(PERP_STATUS_OK, try_convex(f.problems[small], NULL, workspace, &other, &info, NULL));
                assert_true(same_bits(f.problems[small], &other, &f.points[small]));
                ASSERT_STATUS(PERP_STATUS_OK, reserve_convex(p, workspace, NULL));
                ASSERT_STATUS(PERP_STATUS_OK, try_convex(p, NULL, workspace, &point, &info, NULL));
                assert_true(same_bits(p, &point, &f.points[k]));
                perp_convex_workspace_free(workspace);
            } else {
                assert_true(grants == 0);
            }
            assert_true(status == PERP_STATUS_OK || status == PERP_STATUS_OUT_OF_MEMORY);
            assert_int_equal(counter.standing, 0);
        }
        free_point(&point);
        free_point(&other);
    }
    perp_convex_workspace_free(NULL);
    free_family(&f);
}

/* Lasting want, when the larger follows the smaller: the smaller is still solved, or refused in so many words. */
static void a_failed_reserve_leaves_what_was(void **state)
{
    (void)state;
    family f;
    make_family(&f);
    const convex_problem small = f.problems[0], large = f.problems[4];
    solve_convex(small, NULL, NULL, &f.points[0]);
    perp_status status = PERP_STATUS_OUT_OF_MEMORY;
    for (int more = 0; status != PERP_STATUS_OK; more++) {
        failing_allocator counter = {.grants = INT_MAX};
        const perp_allocator allocator = allocator_of(&counter);
        perp_convex_workspace *workspace = new_convex_workspace(&allocator);
        perp_convex_point point = new_point(small);
        perp_convex_info info;
        ASSERT_STATUS(PERP_STATUS_OK, reserve_convex(small, workspace, NULL));
        counter.grants = counter.requests + more;
        status = reserve_convex(large, workspace, NULL);
        assert_true(status == PERP_STATUS_OK || status == PERP_STATUS_OUT_OF_MEMORY);
        ASSERT_STATUS(status == PERP_STATUS_OK ? PERP_STATUS_OK : PERP_STATUS_CAPACITY,
                      try_convex(large, NULL, workspace, &f.points[4], &info, NULL));
        ASSERT_STATUS(PERP_STATUS_OK, reserve_convex(small, workspace, NULL)); /* fits, and takes no memory */
        ASSERT_STATUS(PERP_STATUS_OK, try_convex(small, NULL, workspace, &point, &info, NULL));
        assert_true(same_bits(small, &point, &f.points[0]));
        perp_convex_workspace_free(workspace);
        free_point(&point);
        assert_int_equal(counter.standing, 0);
    }
    free_family(&f);
}

static void nothing_reserved_is_capacity(void **state)
{
    (void)state;
    family f;
    make_family(&f);
    for (int k = 0; k < FAMILY; k++) {
        perp_convex_workspace *workspace = new_convex_workspace(NULL);
        perp_convex_info info;
        perp_error error;
        ASSERT_STATUS(PERP_STATUS_CAPACITY, try_convex(f.problems[k], NULL, workspace, &f.points[k], &info, &error));
        assert_non_null(strstr(error.message, "reserve"));
        perp_convex_workspace_free(workspace);
    }
    free_family(&f);
}

/* One iteration is not enough for any of those that have a solution, and that is what is said. */
static void iterations_are_limited(void **state)
{
    (void)state;
    family f;
    make_family(&f);
    for (int k = 0; k < FAMILY; k++) {
        perp_convex_settings settings = convex_settings("ipm");
        perp_convex_info info = solve_convex(f.problems[k], &settings, NULL, &f.points[k]);
        if (info.outcome == PERP_OUTCOME_SOLVED) {
            settings.max_iterations = 1;
            info = solve_convex(f.problems[k], &settings, NULL, &f.points[k]);
            ASSERT_OUTCOME(PERP_OUTCOME_ITERATION_LIMIT, info);
        }
    }
    free_family(&f);
}

/* ---- cancelling ----------------------------------------------------------------------------------------------------
 */

/* Set before: nothing is iterated. The flag is then the workspace's own count of iterations: it goes up, as a true,
 * with the first, and no second one is made. */
static void cancel_is_seen_within_an_iteration(void **state)
{
    (void)state;
    family f;
    make_family(&f);
    const volatile bool raised = true;
    for (int k = 0; k < FAMILY; k++) {
        perp_convex_workspace *workspace = new_convex_workspace(NULL);
        perp_convex_settings settings = convex_settings("ipm");
        settings.cancel = &raised;
        perp_convex_info info = solve_convex(f.problems[k], &settings, workspace, &f.points[k]);
        ASSERT_OUTCOME(PERP_OUTCOME_CANCELLED, info);
        assert_int_equal(info.iterations, 0);
        const int one = 1;
        const unsigned char *bytes = (const unsigned char *)&one;
        settings.cancel = (const volatile bool *)((unsigned char *)&workspace->iterations + (bytes[0] ? 0 : 3));
        info = solve_convex(f.problems[k], &settings, workspace, &f.points[k]);
        ASSERT_OUTCOME(PERP_OUTCOME_CANCELLED, info);
        assert_int_equal(info.iterations, 1);
        perp_convex_workspace_free(workspace);
    }
    free_family(&f);
}

static volatile bool alarm_flag;
static volatile double alarm_time; /* when it went up */

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void raise_flag(int number)
{
    (void)number;
    alarm_time = cpu_seconds();
    alarm_flag = true;
}

/* A signal raises the flag after a quarter of the work on 250 unknowns and 750 rows. */
static void cancel_from_outside(void **state)
{
    (void)state;
    perp_random random = {8};
    dual_case q = random_dual_case(&random, 250, 750, 0, false);
    const perp_qp problem = dual_qp_of(&q);
    perp_convex_workspace *workspace = new_convex_workspace(NULL);
    perp_convex_settings settings = convex_settings(NULL);
    perp_convex_info whole, info;
    settings.cancel = &alarm_flag;
    ASSERT_STATUS(PERP_STATUS_OK, perp_qp_reserve(&problem, workspace, NULL));
    const double start = cpu_seconds();
    ASSERT_STATUS(PERP_STATUS_OK, perp_qp_solve(&problem, &settings, workspace, &q.point, &whole, NULL));
    const double took = cpu_seconds() - start;
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, whole);
    const struct sigaction action = {.sa_handler = raise_flag}, no_action = {.sa_handler = SIG_IGN};
    const struct itimerval timer = {{0, 0}, {0, (suseconds_t)(0.25e6 * took) + 1}};
    assert_true(took < 3.0);
    assert_int_equal(0, sigaction(SIGPROF, &action, NULL));
    assert_int_equal(0, setitimer(ITIMER_PROF, &timer, NULL));
    ASSERT_STATUS(PERP_STATUS_OK, perp_qp_solve(&problem, &settings, workspace, &q.point, &info, NULL));
    const double late = cpu_seconds() - alarm_time;
    assert_int_equal(0, sigaction(SIGPROF, &no_action, NULL));
    assert_truthful(OF_QP(&problem), &settings, &q.point, &info);
    ASSERT_OUTCOME(PERP_OUTCOME_CANCELLED, info);
    assert_true(info.iterations < whole.iterations);
    assert_true(late < 0.5 * took); /* an iteration is a tenth or less */
    perp_convex_workspace_free(workspace);
    free_dual_case(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workspace_is_reused),
        cmocka_unit_test(every_refusal_of_memory_is_survived),
        cmocka_unit_test(a_failed_reserve_leaves_what_was),
        cmocka_unit_test(nothing_reserved_is_capacity),
        cmocka_unit_test(iterations_are_limited),
        cmocka_unit_test(cancel_is_seen_within_an_iteration),
        cmocka_unit_test(cancel_from_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
