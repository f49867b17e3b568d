/* The warm start and the polish of problems of rows: that its forces are the least ones, that a start costs work only
 * where it helps, that a useless one does no harm. By warm starts through the public functions and, for the limits on
 * passes and on wrong rows, by the method itself. */
#include "convex_test.h"

#include "hooked_malloc.h"
#include "solver/convex_core.h"

#include <limits.h>

enum { SEEDS = 120 };

/* Rows and rays, few and many, with bounds, bodies without H, equations and contacts at their limits in turn. */
static random_contacts rows_of(uint64_t seed)
{
    return (random_contacts){.bodies = 1 + (int)(seed % 5),
                             .contacts = 1 + (int)(seed % 13),
                             .equalities = seed % 4 == 3 ? 2 : 0,
                             .kind = seed % 2 ? CONTACT_ROWS : CONTACT_RAYS,
                             .bounded = seed % 5 == 0,
                             .flat = seed % 7 == 0,
                             .degenerate = seed % 3 == 0};
}

/* A problem with the solution it was made from, room for two more points, and a random generator of its own. */
typedef struct drawn {
    perp_random random;
    random_contacts what;
    contact_case q;
    perp_contact_qp problem;
    convex_problem p;
    perp_convex_point known, before, point;
} drawn;

static drawn *draw(uint64_t seed, random_contacts what)
{
    drawn *d = calloc(1, sizeof *d);
    assert_non_null(d);
    d->random = (perp_random){seed};
    d->what = what;
    d->q = random_contact_case(&d->random, what, &d->known);
    d->problem = contact_qp_of(&d->q);
    d->p = OF_CONTACT_QP(&d->problem);
    d->before = new_point(d->p);
    d->point = new_point(d->p);
    return d;
}

static void release(drawn *d)
{
    free_point(&d->known);
    free_point(&d->before);
    free_point(&d->point);
    free_contact_case(&d->q);
    free(d);
}

/* A step like the next one of a run: loads of another size, gaps that open a little (which stays feasible). A body
 * without H keeps its load, which has no answer else. */
static void perturb(drawn *d, double size)
{
    for (int j = 0; j < d->q.n && !d->what.flat; j++) {
        d->q.g[j] += perp_random_uniform(&d->random, -size, size);
    }
    for (int i = 0; i < d->q.slacks; i++) {
        d->q.offset[i] += perp_random_uniform(&d->random, 0.0, size);
    }
}

/* Forces have as many digits as the smallest angle between rows leaves them; 1e-5 is CLOSE with a condition of 100. */
static const double FORCE = 1e-5;

/* ---- the forces -------------------------------------------------------------------------------------------------- */

/* `legs` of a table of weight 1 on a circle around its centre; unknowns are its height and two angles. */
static contact_case table(int legs)
{
    contact_case q = new_contact_case(1, 3);
    const int dofs[3] = {0, 1, 2};
    const double on_the_floor = 0.0;
    *block_entry(&q, 0, 0, 0) = 1.0;
    *block_entry(&q, 0, 1, 1) = *block_entry(&q, 0, 2, 2) = 0.1;
    q.g[0] = 1.0;
    for (int k = 0; k < legs; k++) {
        const double angle = 2.0 * acos(-1.0) * k / legs, row[3] = {1.0, sin(angle), -cos(angle)};
        add_contact(&q,
                    &(contact_entry){
                        .count = 3, .rows = 1, .slacks = 1, .dofs = dofs, .jacobian = row, .offset = &on_the_floor});
    }
    return q;
}

/* Two opposite legs may carry a table, and did in the last step: of all forces that can, the least are equal. */
static void legs_share_a_weight(void **state)
{
    (void)state;
    for (int legs = 4; legs <= 12; legs += 2) {
        contact_case q = table(legs);
        const perp_contact_qp problem = contact_qp_of(&q);
        const convex_problem p = OF_CONTACT_QP(&problem);
        perp_convex_point start = new_point(p), point = new_point(p);
        perp_convex_settings settings = convex_settings("newton");
        settings.warm = &start;
        start.y[0] = start.y[legs / 2] = 0.5;
        const perp_convex_info info = assert_convex_solved(p, &settings, &point);
        assert_true(info.minimum_norm);
        for (int k = 0; k < legs; k++) {
            ASSERT_NEAR(point.y[k], 1.0 / legs, 1e-12); /* rounding of numbers near 1 */
        }
        free_point(&start);
        free_point(&point);
        free_contact_case(&q);
    }
}

/* A contact listed `copies` times carries that part of its force in each, whichever of them it was before. */
static void copies_share_a_force(void **state)
{
    (void)state;
    enum { COPIES = 3, MOST = 32 };
    for (uint64_t seed = 1; seed < 40; seed++) {
        random_contacts what = rows_of(seed);
        what.flat = what.degenerate = what.bounded = false;
        what.equalities = 0;
        drawn *d = draw(seed, what);
        int order[COPIES * MOST];
        for (int i = 0; i < COPIES * d->q.contacts; i++) {
            order[i] = i % d->q.contacts;
        }
        contact_case copied = with_contacts(&d->q, COPIES * d->q.contacts, order);
        const perp_contact_qp problem = contact_qp_of(&copied);
        const convex_problem p = OF_CONTACT_QP(&problem);
        perp_convex_point start = new_point(p), point = new_point(p);
        memcpy(start.x, d->known.x, (size_t)d->q.n * sizeof(double));
        memcpy(start.y, d->known.y, (size_t)d->q.slacks * sizeof(double)); /* all on the first */
        perp_convex_settings settings = convex_settings(NULL);
        settings.warm = &start;
        assert_true(assert_convex_solved(p, &settings, &point).minimum_norm);
        for (int i = 0; i < COPIES * d->q.slacks; i++) {
            ASSERT_NEAR(point.y[i], d->known.y[i % d->q.slacks] / COPIES, FORCE);
        }
        free_point(&start);
        free_point(&point);
        free_contact_case(&copied);
        release(d);
    }
}

/* What a problem was made from has the least forces, and so has what Newton's passes from zero find after a search for
 * them (the interior point ends on the method itself): here the method finds them without one. */
static void forces_are_the_least(void **state)
{
    (void)state;
    int by_the_method = 0, compared[2] = {0}, least = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        drawn *d = draw(seed, rows_of(seed));
        perp_convex_settings settings = convex_settings(NULL);
        copy_point(d->p, &d->known, &d->before);
        for (int i = 0; i < d->q.slacks; i++) {
            d->before.y[i] *= perp_random_uniform(&d->random, 0.5, 2.0);
        }
        settings.warm = &d->before;
        const perp_convex_info warm = assert_convex_solved(d->p, &settings, &d->point);
        if (warm.minimum_norm) {
            ASSERT_NEAR(distance_of_multipliers(d->p, &d->point, &d->known), 0.0, FORCE);
        }
        least += warm.minimum_norm;
        by_the_method += strcmp(warm.method, "newton") == 0;
        static const char *const others[2] = {"ipm", "newton"};
        for (int k = 0; k < 2; k++) {
            settings = convex_settings(others[k]);
            const perp_convex_info other = solve_convex(d->p, &settings, NULL, &d->before);
            if (other.minimum_norm && judge_convex(d->p, &d->before) < POLISHED) {
                ASSERT_NEAR(distance_of_multipliers(d->p, &d->point, &d->before), 0.0, FORCE);
                compared[k]++;
            }
        }
        release(d);
    }
    assert_true(by_the_method > SEEDS * 9 / 10 && least > SEEDS * 9 / 10);
    print_message("compared with ipm %d, with newton %d of %d\n", compared[0], compared[1], SEEDS);
    assert_true(compared[0] > SEEDS * 9 / 10 && compared[1] > SEEDS / 2);
}

/* A weight of 1 over `floors` floors, each higher by `apart` than the last: the highest carries it alone, however
 * little that is, though all have before. */
static void the_highest_floor_carries(void **state)
{
    (void)state;
    for (int floors = 2; floors <= 4; floors++) {
        for (double apart = 1e-9; apart < 1e-6; apart *= 10.0) {
            contact_case q = new_contact_case(1, 1);
            const int dof = 0;
            const double up = 1.0;
            *block_entry(&q, 0, 0, 0) = 1.0;
            q.g[0] = 1.0;
            for (int k = 0; k < floors; k++) {
                const double offset = -apart * k;
                const contact_entry floor = {
                    .count = 1, .rows = 1, .slacks = 1, .dofs = &dof, .jacobian = &up, .offset = &offset};
                add_contact(&q, &floor);
            }
            const perp_contact_qp problem = contact_qp_of(&q);
            const convex_problem p = OF_CONTACT_QP(&problem);
            perp_convex_point start = new_point(p), point = new_point(p);
            perp_convex_settings settings = convex_settings(NULL);
            settings.warm = &start;
            settings.minimum_norm = false; /* which would count the nearest floors as touched, and share */
            for (int k = 0; k < floors; k++) {
                start.y[k] = 1.0 / floors;
            }
            assert_convex_solved(p, &settings, &point);
            ASSERT_NEAR(point.x[0], apart * (floors - 1), 1e-14); /* rounding of the force of 1 */
            for (int k = 0; k < floors; k++) {
                ASSERT_NEAR(point.y[k], k + 1 == floors ? 1.0 + point.x[0] : 0.0, 1e-14);
            }
            free_point(&start);
            free_point(&point);
            free_contact_case(&q);
        }
    }
}

/* ---- warm starts ------------------------------------------------------------------------------------------------- */

/* The answer is that of a cold start, for fewer factorisations in most. */
static void the_next_step_takes_less(void **state)
{
    (void)state;
    static const double sizes[3] = {1e-6, 1e-3, 3e-2};
    for (int size = 0; size < 3; size++) {
        int less = 0, more = 0, compared = 0;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            drawn *d = draw(seed, rows_of(seed));
            perp_convex_settings settings = convex_settings(NULL);
            perp_convex_point cold = new_point(d->p);
            assert_convex_solved(d->p, &settings, &d->before);
            perturb(d, sizes[size]);
            const perp_convex_info one = assert_convex_solved(d->p, &settings, &cold);
            settings.warm = &d->before;
            const perp_convex_info two = assert_convex_solved(d->p, &settings, &d->point);
            if (!d->what.flat) { /* else x is not the only one */
                ASSERT_NEAR(distance_of_x(d->p, &cold, &d->point), 0.0,
                            1e-6); /* rows that all but touch: ten times CLOSE */
            }
            if (!d->what.flat && one.minimum_norm && two.minimum_norm) {
                ASSERT_NEAR(distance_of_multipliers(d->p, &cold, &d->point), 0.0, FORCE);
                compared++;
            }
            less += two.factorisations < one.factorisations;
            more += two.factorisations > one.factorisations;
            free_point(&cold);
            release(d);
        }
        print_message("steps of %g: fewer factorisations in %d of %d, more in %d\n", sizes[size], less, SEEDS, more);
        assert_true(less > SEEDS * 3 / 4 && more < SEEDS / 4 && compared > SEEDS * 3 / 4);
    }
}

/* Fills a start that says nothing: some numbers that are none, numbers out of any measure, every row active, none. */
static void make_useless(drawn *d, int how)
{
    static const double all[] = {(double)NAN, 1e300, 1.0, 0.0};
    for (int j = 0; j < d->q.n; j++) {
        d->before.x[j] = how < 2 && j % 2 == 0 ? all[how] : 0.0;
        d->before.y_lower[j] = d->before.y_upper[j] = how < 2 && j % 3 ? 0.0 : all[how];
    }
    for (int i = 0; i < d->q.slacks; i++) {
        d->before.y[i] = how == 0 && i % 3 ? 0.1 : all[how];
    }
    for (int i = 0; i < d->q.equalities; i++) {
        d->before.y_equality[i] = all[how];
    }
}

static void useless_starts_do_no_harm(void **state)
{
    (void)state;
    int compared = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        random_contacts what = rows_of(seed);
        what.flat = false; /* x is the only one */
        drawn *d = draw(seed, what);
        perp_convex_point cold = new_point(d->p);
        perp_convex_settings settings = convex_settings(NULL);
        const bool least = assert_convex_solved(d->p, &settings, &cold).minimum_norm;
        settings.warm = &d->before;
        for (int how = 0; how < 4; how++) {
            make_useless(d, how);
            const perp_convex_info info = assert_convex_solved(d->p, &settings, &d->point);
            ASSERT_NEAR(distance_of_x(d->p, &cold, &d->point), 0.0, CLOSE);
            if (least && info.minimum_norm) {
                ASSERT_NEAR(distance_of_multipliers(d->p, &cold, &d->point), 0.0, FORCE);
                compared++;
            }
        }
        free_point(&cold);
        release(d);
    }
    assert_true(compared > 4 * SEEDS * 3 / 4);
}

/* A warm start asks for no memory and gives its bits again, whatever the workspace has seen meanwhile. */
static void same_bits_and_no_memory(void **state)
{
    (void)state;
    perp_convex_workspace *workspace = new_convex_workspace(NULL);
    drawn *other = draw(77, rows_of(12));
    for (uint64_t seed = 0; seed < SEEDS; seed += 3) {
        drawn *d = draw(seed, rows_of(seed));
        perp_convex_settings settings = convex_settings(NULL);
        perp_convex_point again = new_point(d->p);
        perp_convex_info info[2];
        solve_convex(d->p, NULL, NULL, &d->before);
        perturb(d, 1e-3);
        settings.warm = &d->before;
        for (int k = 0; k < 2; k++) {
            solve_convex(other->p, NULL, workspace, &other->point);
            ASSERT_STATUS(PERP_STATUS_OK, reserve_convex(d->p, workspace, NULL));
            const long asked = requests;
            const perp_status status =
                try_convex(d->p, &settings, workspace, k == 0 ? &d->point : &again, &info[k], NULL);
            assert_int_equal(requests, asked);
            ASSERT_STATUS(PERP_STATUS_OK, status);
        }
        assert_true(distance_of_x(d->p, &d->point, &again) == 0.0);
        assert_true(distance_of_multipliers(d->p, &d->point, &again) == 0.0);
        assert_true(info[0].iterations == info[1].iterations && info[0].factorisations == info[1].factorisations);
        free_point(&again);
        release(d);
    }
    assert_true(!watching || requests > 0); /* the counter counts */
    release(other);
    perp_convex_workspace_free(workspace);
}

/* ---- the method by itself ---------------------------------------------------------------------------------------- */

typedef enum first_rows { RIGHT_ROWS, NO_ROWS, ALL_ROWS } first_rows;

/* From x = 0, with these rows. */
static bool run(perp_convex_workspace *c, const drawn *d, first_rows rows, int passes, int change)
{
    ASSERT_STATUS(PERP_STATUS_OK, perp_contact_qp_reserve(&d->problem, c, NULL));
    ASSERT_STATUS(PERP_STATUS_OK, perp_convex_prepare(c, &d->problem, NULL));
    c->tolerance = 1e-8;
    c->cancel = NULL;
    c->iterations = c->factorisations = 0;
    c->best_residual = INFINITY;
    c->best_is_least = false;
    perp_convex_import(c, &d->known, &c->at);
    for (int i = 0; i < c->m; i++) {
        c->active[i] = rows == ALL_ROWS || (rows == RIGHT_ROWS && c->at.y[i] > 0.0);
    }
    memset(c->at.x, 0, (size_t)c->n * sizeof(double));
    memset(c->at.y, 0, (size_t)c->m * sizeof(double));
    memset(c->at.z, 0, (size_t)c->e * sizeof(double));
    return perp_convex_augmented(c, &c->at, passes, change);
}

/* With the rows that carry the force one factorisation is all it takes, and nothing but equations leaves the forces in
 * doubt: the point is the known one. Equations are met in some passes only, and the rows may change meanwhile. */
static void right_rows_are_factored_once(void **state)
{
    (void)state;
    perp_convex_workspace *c = new_convex_workspace(NULL);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        random_contacts what = rows_of(seed);
        what.degenerate = what.flat = false;
        drawn *d = draw(seed, what);
        const bool free = what.equalities == 0;
        assert_true(run(c, d, RIGHT_ROWS, free ? 3 : 10, free ? 0 : INT_MAX));
        assert_true(c->factorisations == 1 || !free);
        assert_true(c->best_is_least == free);
        assert_true(c->best_residual <= POLISHED);
        perp_convex_export(c, &c->best, &d->point);
        ASSERT_NEAR(distance_of_x(d->p, &d->point, &d->known), 0.0, CLOSE);
        if (free) {
            ASSERT_NEAR(distance_of_multipliers(d->p, &d->point, &d->known), 0.0, FORCE);
        }
        release(d);
    }
    perp_convex_workspace_free(c);
}

/* Without a limit on wrong rows the search leads from any rows to the solution: the function is convex, has finitely
 * many pieces, and every step lowers it. Of up to 200 rows one may have to change at a time, hence the number of
 * passes. */
static void wrong_rows_are_found_by_the_search(void **state)
{
    (void)state;
    enum { PASSES = 400 };
    perp_convex_workspace *c = new_convex_workspace(NULL);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        random_contacts what = {.bodies = 3 + (int)(seed % 8),
                                .contacts = 10 + (int)(seed % 31),
                                .kind = seed % 2 ? CONTACT_ROWS : CONTACT_RAYS,
                                .degenerate = seed % 3 == 0};
        drawn *d = draw(seed, what);
        for (int k = 0; k < 2; k++) {
            assert_true(run(c, d, k == 0 ? NO_ROWS : ALL_ROWS, PASSES, INT_MAX));
            perp_convex_export(c, &c->best, &d->point);
            ASSERT_NEAR(distance_of_x(d->p, &d->point, &d->known), 0.0, CLOSE);
            ASSERT_NEAR(distance_of_multipliers(d->p, &d->point, &d->known), 0.0, FORCE);
        }
        release(d);
    }
    perp_convex_workspace_free(c);
}

/* A first pass that changes more rows than allowed is the last, as is the last one allowed; a raised flag allows none.
 */
static void limits_are_kept(void **state)
{
    (void)state;
    perp_convex_workspace *c = new_convex_workspace(NULL);
    const volatile bool raised = true;
    int refused = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        random_contacts what = rows_of(seed);
        what.degenerate = false;
        drawn *d = draw(seed, what);
        if (!run(c, d, ALL_ROWS, 40, 0)) {
            assert_int_equal(c->factorisations, 1);
            assert_true(c->best_residual == INFINITY);
            refused++;
        }
        assert_false(run(c, d, RIGHT_ROWS, 0, INT_MAX));
        assert_int_equal(c->factorisations, 0);
        c->cancel = &raised;
        assert_false(perp_convex_augmented(c, &c->at, 10, INT_MAX));
        assert_int_equal(c->factorisations, 0);
        release(d);
    }
    assert_true(refused > SEEDS / 2);
    perp_convex_workspace_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(legs_share_a_weight),
        cmocka_unit_test(copies_share_a_force),
        cmocka_unit_test(forces_are_the_least),
        cmocka_unit_test(the_highest_floor_carries),
        cmocka_unit_test(the_next_step_takes_less),
        cmocka_unit_test(useless_starts_do_no_harm),
        cmocka_unit_test(same_bits_and_no_memory),
        cmocka_unit_test(right_rows_are_factored_once),
        cmocka_unit_test(wrong_rows_are_found_by_the_search),
        cmocka_unit_test(limits_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
