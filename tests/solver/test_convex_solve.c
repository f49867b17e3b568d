/* The convex engine as a whole, on contact qps: scenes with known forces, identities between problems, warm starts,
 * refusals. */
#include "convex_test.h"

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

/* One contact of a body of 6 unknowns (velocity of the centre, then angular velocity) at the point r, its normal n = z,
 * tangents x and y: J = [E, -E [r]x]. */
static void add_corner(contact_case *q, const double r[3], int directions, double mu)
{
    const int dofs[6] = {0, 1, 2, 3, 4, 5};
    const double jacobian[18] = {0.0, 0.0,  1.0,   r[1], -r[0], 0.0, 1.0,   0.0, 0.0,
                                 0.0, r[2], -r[1], 0.0,  1.0,   0.0, -r[2], 0.0, r[0]};
    const double cone[9] = {1.0, 0.0, 0.0, 0.0, mu, 0.0, 0.0, 0.0, mu}, offset[8] = {0.0};
    double rays[24];
    const bool quadratic = directions == 0;
    if (!quadratic) {
        friction_rays(directions, mu, 0.0, rays);
    }
    const contact_entry entry = {.count = 6,
                                 .rows = 3,
                                 .slacks = quadratic ? 3 : directions,
                                 .dofs = dofs,
                                 .jacobian = jacobian,
                                 .rays = quadratic ? cone : rays,
                                 .offset = offset,
                                 .quadratic = quadratic};
    add_contact(q, &entry);
}

/* A box of mass 2 (inertia 0.1) on four corners; an impulse of 1 s x 2 g presses it down, `push` along x at the height
 * of the floor. */
static contact_case box_on_a_plane(int directions, double mu, double push)
{
    static const double corners[4][3] = {{0.5, 0.5, -0.5}, {-0.5, 0.5, -0.5}, {-0.5, -0.5, -0.5}, {0.5, -0.5, -0.5}};
    contact_case q = new_contact_case(1, 6);
    for (int i = 0; i < 6; i++) {
        *block_entry(&q, 0, i, i) = i < 3 ? 2.0 : 0.1;
    }
    q.g[0] = -push;
    q.g[2] = 2.0 * 9.81;
    q.g[4] = 0.5 * push; /* the moment about y of (push, 0, 0) at (0, 0, -0.5) is -0.5 push */
    for (int k = 0; k < 4; k++) {
        add_corner(&q, corners[k], directions, mu);
    }
    return q;
}

/* The weight on 4 corners x k rays: every ray has 2 g / (4 k); its cone a quarter, straight up. */
static void weight_is_shared_equally(void **state)
{
    (void)state;
    static const int directions[] = {0, 2, 3, 4, 8};
    for (size_t k = 0; k < sizeof directions / sizeof *directions; k++) {
        contact_case q = box_on_a_plane(directions[k], 0.5, 0.0);
        const perp_contact_qp problem = contact_qp_of(&q);
        perp_convex_point point = new_point(OF_CONTACT_QP(&problem));
        const perp_convex_info info = assert_convex_solved(OF_CONTACT_QP(&problem), NULL, &point);
        assert_true(info.minimum_norm);
        for (int i = 0; i < 6; i++) {
            ASSERT_NEAR(point.x[i], 0.0, 1e-9);
        }
        for (int i = 0; i < q.slacks; i++) {
            const double share = 2.0 * 9.81 / (directions[k] == 0 ? 4.0 : 4.0 * directions[k]);
            ASSERT_NEAR(point.y[i], directions[k] == 0 && i % 3 != 0 ? 0.0 : share, 1e-8);
        }
        free_point(&point);
        free_contact_case(&q);
    }
}

/* Friction balances a push of up to mu m g. A quarter at each corner, forces along x: mu times the multipliers. */
static void friction_holds_a_push(void **state)
{
    (void)state;
    const double mu = 0.5, push = 6.0; /* of 9.81 that friction can hold */
    contact_case q = box_on_a_plane(0, mu, push);
    const perp_contact_qp problem = contact_qp_of(&q);
    perp_convex_point point = new_point(OF_CONTACT_QP(&problem));
    assert_convex_solved(OF_CONTACT_QP(&problem), NULL, &point);
    for (int i = 0; i < 6; i++) {
        ASSERT_NEAR(point.x[i], 0.0, 1e-9);
    }
    for (int k = 0; k < 4; k++) {
        ASSERT_NEAR(point.y[3 * k], 2.0 * 9.81 / 4.0, 1e-8);
        ASSERT_NEAR(mu * point.y[3 * k + 1], -push / 4.0, 1e-8);
        ASSERT_NEAR(point.y[3 * k + 2], 0.0, 1e-8);
    }
    free_point(&point);
    free_contact_case(&q);
}

/* Two fingers (stiffness 100) squeeze a box by 0.01 each: 1 N, and friction holds up to 1 N in all. Unknowns: positions
 * of the fingers along x, box x and y, from touching at rest. Its weight has no H. */
static contact_case gripper(double weight, double mu, bool quadratic)
{
    contact_case q = new_contact_case(4, 1);
    const double offset[3] = {0.0, 0.0, 0.0}, cone[9] = {1.0, 0.0, 0.0, 0.0, mu, 0.0, 0.0, 0.0, mu};
    const double pyramid[6] = {1.0, mu, 0.0, 1.0, -mu, 0.0};
    *block_entry(&q, 0, 0, 0) = *block_entry(&q, 1, 0, 0) = 100.0;
    q.g[0] = -1.0; /* 100 (q - 0.01)^2 / 2 */
    q.g[1] = 1.0;
    q.g[3] = weight;
    for (int k = 0; k < 2; k++) {
        const int dofs[3] = {k, 2, 3};
        const double side = k == 0 ? 1.0 : -1.0;
        const double jacobian[9] = {-side, side, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
        const contact_entry entry = {.count = 3,
                                     .rows = 3,
                                     .slacks = quadratic ? 3 : 2,
                                     .dofs = dofs,
                                     .jacobian = jacobian,
                                     .rays = quadratic ? cone : pyramid,
                                     .offset = offset,
                                     .quadratic = quadratic};
        add_contact(&q, &entry);
    }
    return q;
}

/* 0.6 N: held, 0.3 N at each finger (of all splits the least). 1.2 N: the box slides down by what spreads the fingers
 * until they press with 1.2 N, in the relaxation that convex friction is: gap = mu |slip|. */
static void gripper_holds_and_slips(void **state)
{
    (void)state;
    const double mu = 0.5;
    for (int k = 0; k < 4; k++) {
        const double weight = k % 2 ? 1.2 : 0.6, normal = k % 2 ? 1.2 : 1.0;
        contact_case q = gripper(weight, mu, k >= 2);
        const perp_contact_qp problem = contact_qp_of(&q);
        perp_convex_point point = new_point(OF_CONTACT_QP(&problem));
        assert_convex_solved(OF_CONTACT_QP(&problem), NULL, &point);
        const double squeezed = 0.01 - normal / 100.0;
        const double x[4] = {squeezed, -squeezed, 0.0, k % 2 ? squeezed / mu : 0.0};
        for (int i = 0; i < 4; i++) {
            ASSERT_NEAR(point.x[i], x[i], 1e-8);
        }
        for (int c = 0; c < 2; c++) {
            const double *y = point.y + (ptrdiff_t)c * (k >= 2 ? 3 : 2);
            ASSERT_NEAR(k >= 2 ? y[0] : y[0] + y[1], normal, CLOSE);
            ASSERT_NEAR(mu * (k >= 2 ? y[1] : y[0] - y[1]), weight / 2.0, CLOSE);
        }
        free_point(&point);
        free_contact_case(&q);
    }
}

/* ---- identities -------------------------------------------------------------------------------------------------- */

static random_contacts kind_of(uint64_t seed)
{
    return (random_contacts){.bodies = 1 + (int)(seed % 4),
                             .contacts = 1 + (int)(seed % 9),
                             .equalities = seed % 3 == 0 ? 1 : 0,
                             .kind = (contact_kind)(seed % 4),
                             .bounded = seed % 5 == 0};
}

/* x and y of a contact in one problem and in another, to `near`. */
static void assert_same_forces(int slacks, const double *one, const double *other, double factor, double near)
{
    for (int k = 0; k < slacks; k++) {
        ASSERT_NEAR(other[k], factor * one[k], near);
    }
}

/* The contacts in reverse: the same x. Each of them twice: the same x again, and the least multipliers are halved. What
 * is judged 1e-12 has 6 digits of x and 5 of y, the conditions being 1e6 and 1e7 at worst; most come to that. */
static void permuted_and_doubled_contacts(void **state)
{
    (void)state;
    int polished = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        perp_random random = {seed};
        perp_convex_point known;
        random_contacts what = kind_of(seed);
        what.bounded = false;
        what.equalities = 0;
        contact_case q = random_contact_case(&random, what, &known);
        int order[32], doubled[32], count = q.contacts;
        for (int i = 0; i < count; i++) {
            order[i] = count - 1 - i;
            doubled[2 * i] = doubled[2 * i + 1] = i;
        }
        contact_case cases[3] = {q, with_contacts(&q, count, order), with_contacts(&q, 2 * count, doubled)};
        perp_convex_point points[3];
        bool good = true;
        for (int k = 0; k < 3; k++) {
            const perp_contact_qp problem = contact_qp_of(&cases[k]);
            points[k] = new_point(OF_CONTACT_QP(&problem));
            const perp_convex_info info = solve_convex(OF_CONTACT_QP(&problem), NULL, NULL, &points[k]);
            ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
            assert_true(info.minimum_norm);
            good = good && judge_convex(OF_CONTACT_QP(&problem), &points[k]) <= 1e-12;
        }
        for (int i = 0; good && i < count; i++) {
            const int slacks = q.slack_start[i + 1] - q.slack_start[i];
            const double *y = points[0].y + q.slack_start[i];
            assert_same_forces(slacks, y, points[1].y + cases[1].slack_start[order[i]], 1.0, 1e-5);
            assert_same_forces(slacks, y, points[2].y + cases[2].slack_start[2 * i], 0.5, 1e-5);
            assert_same_forces(slacks, y, points[2].y + cases[2].slack_start[2 * i + 1], 0.5, 1e-5);
        }
        polished += good ? 1 : 0;
        for (int k = 0; k < 3; k++) {
            for (int j = 0; j < q.n; j++) { /* else as far as the tolerance allows: test_convex_least.c */
                ASSERT_NEAR(points[k].x[j], known.x[j], good ? 1e-6 : 1e-2);
            }
            free_point(&points[k]);
            free_contact_case(&cases[k]);
        }
        free_point(&known);
    }
    assert_true(polished >= 190);
}

/* The push to the left instead of to the right: the mirror image, velocities and forces. */
static void mirrored_scene(void **state)
{
    (void)state;
    for (int directions = 0; directions <= 4; directions += 4) {
        contact_case right = box_on_a_plane(directions, 0.5, 15.0), left = box_on_a_plane(directions, 0.5, -15.0);
        const perp_contact_qp one = contact_qp_of(&right), two = contact_qp_of(&left);
        const convex_problem p = OF_CONTACT_QP(&one);
        perp_convex_point a = new_point(p), b = new_point(p);
        assert_convex_solved(p, NULL, &a);
        assert_convex_solved(OF_CONTACT_QP(&two), NULL, &b);
        assert_true(a.x[0] > 0.5);                                       /* 15 is more than friction holds */
        static const double sign[6] = {-1.0, 1.0, 1.0, 1.0, -1.0, -1.0}; /* x mirrored: rotations about y and z turn */
        for (int i = 0; i < 6; i++) {
            ASSERT_NEAR(b.x[i], sign[i] * a.x[i], 1e-8);
        }
        for (int k = 0; k < 4; k++) { /* corners (x, y) and (-x, y) change places */
            static const int image[4] = {1, 0, 3, 2};
            const int slacks = directions == 0 ? 3 : directions;
            const double *from = a.y + (ptrdiff_t)k * slacks, *to = b.y + (ptrdiff_t)image[k] * slacks;
            for (int i = 0; i < slacks; i++) { /* rays 0 and 2 point along +x and -x */
                const double wanted = directions == 0 ? (i == 1 ? -from[1] : from[i]) : from[i % 2 == 0 ? 2 - i : i];
                ASSERT_NEAR(to[i], wanted, 1e-6);
            }
        }
        free_point(&a);
        free_point(&b);
        free_contact_case(&right);
        free_contact_case(&left);
    }
}

/* ---- tolerance --------------------------------------------------------------------------------------------------- */

/* Tighter is closer: at 1e-11 the known solution is met to 1e-6, degenerate or not. H >= 0.1, so that
 * 0.1 |dx|^2 <= m c with c <= 1e-11 (1 + max |g|) < 1e-10 would allow 1e-4; the passes on the active set do better. */
static void tight_tolerance(void **state)
{
    (void)state;
    int wrong = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        perp_random random = {seed};
        random_contacts what = kind_of(seed);
        what.degenerate = seed % 2 == 0;
        perp_convex_point known;
        contact_case q = random_contact_case(&random, what, &known);
        const perp_contact_qp problem = contact_qp_of(&q);
        const convex_problem p = OF_CONTACT_QP(&problem);
        perp_convex_settings settings = convex_settings(NULL);
        settings.tolerance = 1e-11;
        perp_convex_point point = new_point(p);
        const perp_convex_info info = solve_convex(p, &settings, NULL, &point);
        const double error = distance_of_x(p, &point, &known);
        if (info.outcome != PERP_OUTCOME_SOLVED || !(error <= (what.degenerate ? 1e-4 : 1e-6))) {
            print_error("seed %d: %s, x off by %g\n", (int)seed, perp_outcome_name(info.outcome), error);
            wrong++;
        }
        free_point(&point);
        free_point(&known);
        free_contact_case(&q);
    }
    assert_int_equal(wrong, 0);
}

/* ---- warm starts ------------------------------------------------------------------------------------------------- */

/* From the solution of the step before, with forces 1e-3 different: the same answer, for less work. */
static void warm_start_is_shorter(void **state)
{
    (void)state;
    int cold_work = 0, warm_work = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        perp_random random = {seed};
        perp_convex_point known;
        contact_case q = random_contact_case(&random, kind_of(seed), &known);
        const perp_contact_qp problem = contact_qp_of(&q);
        const convex_problem p = OF_CONTACT_QP(&problem);
        perp_convex_point before = new_point(p), cold = new_point(p), warm = new_point(p);
        assert_convex_solved(p, NULL, &before);
        for (int j = 0; j < q.n; j++) {
            q.g[j] += perp_random_uniform(&random, -1e-3, 1e-3);
        }
        perp_convex_settings settings = convex_settings(NULL);
        const perp_convex_info one = assert_convex_solved(p, &settings, &cold);
        settings.warm = &before;
        const perp_convex_info two = assert_convex_solved(p, &settings, &warm);
        ASSERT_NEAR(distance_of_x(p, &cold, &warm), 0.0, 1e-6);
        cold_work += one.factorisations;
        warm_work += two.factorisations;
        /* From the solution itself nothing is left to iterate. */
        settings.warm = &warm;
        const perp_convex_info three = assert_convex_solved(p, &settings, &cold);
        assert_string_equal(three.method, "newton");
        assert_int_equal(three.tried_count, 1);
        ASSERT_NEAR(distance_of_x(p, &cold, &warm), 0.0, 1e-6);
        free_point(&before);
        free_point(&cold);
        free_point(&warm);
        free_point(&known);
        free_contact_case(&q);
    }
    assert_true(warm_work < cold_work / 2);
}

/* Rubbish, numbers of all sizes, NaN and infinities, wrong cones: solved all the same, from the cold start then. */
static void wrong_warm_starts_do_no_harm(void **state)
{
    (void)state;
    static const double rubbish[] = {1e3, -1e3, 1e300, -1e300, 5e-324, (double)NAN, (double)INFINITY};
    for (uint64_t seed = 0; seed < 70; seed++) {
        perp_random random = {seed};
        perp_convex_point known;
        contact_case q = random_contact_case(&random, kind_of(seed), &known);
        const perp_contact_qp problem = contact_qp_of(&q);
        const convex_problem p = OF_CONTACT_QP(&problem);
        perp_convex_point start = new_point(p), point = new_point(p);
        double *arrays[5] = {start.x, start.y, start.y_equality, start.y_lower, start.y_upper};
        const int lengths[5] = {q.n, q.slacks, q.equalities, q.n, q.n};
        for (int k = 0; k < 5; k++) {
            for (int i = 0; i < lengths[k]; i++) {
                arrays[k][i] = rubbish[(seed + (uint64_t)(seed % 2 ? 0 : i + k)) % 7];
            }
        }
        perp_convex_settings settings = convex_settings(NULL);
        settings.warm = &start;
        assert_convex_solved(p, &settings, &point);
        ASSERT_NEAR(distance_of_x(p, &point, &known), 0.0, 1e-6);
        settings.method = "newton"; /* alone it may fail, but says so */
        solve_convex(p, &settings, NULL, &point);
        free_point(&start);
        free_point(&point);
        free_point(&known);
        free_contact_case(&q);
    }
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

/* Contacts without columns are constants: true ones change nothing, a false one is a contradiction; cones too. */
static void contacts_without_columns(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        contact_case q = new_contact_case(1, 2);
        const double offset[3] = {k % 2 ? 0.5 : 2.0, 1.0, 0.0}, below = -1.0;
        const contact_entry cone = {.rows = 3, .slacks = 3, .offset = offset, .quadratic = true};
        const contact_entry row = {.rows = 1, .slacks = 1, .offset = k >= 2 ? &below : offset};
        *block_entry(&q, 0, 0, 0) = *block_entry(&q, 0, 1, 1) = 1.0;
        q.g[0] = -1.0;
        add_contact(&q, &cone);
        add_contact(&q, &row);
        const perp_contact_qp problem = contact_qp_of(&q);
        perp_convex_point point = new_point(OF_CONTACT_QP(&problem));
        const perp_convex_info info = solve_convex(OF_CONTACT_QP(&problem), NULL, NULL, &point);
        ASSERT_OUTCOME(k == 0 ? PERP_OUTCOME_SOLVED : PERP_OUTCOME_INFEASIBLE, info);
        if (k == 0) {
            ASSERT_NEAR(point.x[0], 1.0, 1e-10);
            ASSERT_NEAR(point.x[1], 0.0, 1e-10);
        }
        free_point(&point);
        free_contact_case(&q);
    }
}

static void nothing_at_all(void **state)
{
    (void)state;
    const int zero[2] = {0, 0};
    const perp_contact_qp nothing = {
        .n = 0, .block_start = zero, .row_start = zero, .dof_start = zero, .slack_start = zero, .equality_start = zero};
    perp_convex_point point = new_point(OF_CONTACT_QP(&nothing));
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_convex(OF_CONTACT_QP(&nothing), NULL, NULL, &point));
    free_point(&point);
}

/* The lighter below and the heavier above, and the other way round: forces are weights. */
static void ratios_of_masses(void **state)
{
    (void)state;
    static const double ratios[] = {1e-4, 1.0, 1e4, 1e8};
    for (size_t k = 0; k < sizeof ratios / sizeof *ratios; k++) {
        /* A stack: body 0 on the floor, body 1 of `ratio` times its mass on it, one unknown each (height). */
        contact_case q = new_contact_case(2, 1);
        const int first = 0, both[2] = {0, 1};
        const double up = 1.0, apart[2] = {-1.0, 1.0}, offset = 0.0, mass[2] = {1.0, ratios[k]};
        const contact_entry floor = {
            .count = 1, .rows = 1, .slacks = 1, .dofs = &first, .jacobian = &up, .offset = &offset};
        const contact_entry between = {
            .count = 2, .rows = 1, .slacks = 1, .dofs = both, .jacobian = apart, .offset = &offset};
        for (int i = 0; i < 2; i++) {
            *block_entry(&q, i, 0, 0) = mass[i];
            q.g[i] = 9.81 * mass[i];
        }
        add_contact(&q, &floor);
        add_contact(&q, &between);
        const perp_contact_qp problem = contact_qp_of(&q);
        perp_convex_point point = new_point(OF_CONTACT_QP(&problem));
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_convex(OF_CONTACT_QP(&problem), NULL, NULL, &point));
        const double weight = 9.81 * (1.0 + ratios[k]);
        ASSERT_NEAR(point.y[0], weight, 1e-8 * weight);
        ASSERT_NEAR(point.y[1], 9.81 * ratios[k], 1e-8 * weight);
        /* y s <= 1e-8 (1 + max |g|) for both gaps */
        const double near = 2e-8 * (1.0 + 9.81 * fmax(ratios[k], 1.0)) / (9.81 * fmin(ratios[k], 1.0));
        ASSERT_NEAR(point.x[0], 0.0, near);
        ASSERT_NEAR(point.x[1], 0.0, near);
        free_point(&point);
        free_contact_case(&q);
    }
}

/* Arrays that a problem has nothing for may be NULL, of the solution and of a warm start. */
static void arrays_that_are_not_there(void **state)
{
    (void)state;
    contact_case q = box_on_a_plane(4, 0.5, 1.0);
    const perp_contact_qp contact = contact_qp_of(&q);
    const double h[4] = {1.0, 0.0, 0.0, 1.0}, g[2] = {1.0, -1.0}, lower[2] = {-0.5, -0.5};
    const perp_qp free = {.n = 2, .h = h, .g = g}, bounded = {.n = 2, .h = h, .g = g, .lower = lower};
    const convex_problem problems[3] = {OF_CONTACT_QP(&contact), OF_QP(&free), OF_QP(&bounded)};
    for (int k = 0; k < 3; k++) {
        perp_convex_point whole = new_point(problems[k]), part = new_point(problems[k]);
        perp_convex_point bare = {part.x, k == 0 ? part.y : NULL, NULL, k == 2 ? part.y_lower : NULL, NULL};
        perp_convex_workspace *workspace = new_convex_workspace(NULL);
        perp_convex_settings settings = convex_settings(NULL);
        perp_convex_info info;
        assert_convex_solved(problems[k], NULL, &whole);
        ASSERT_STATUS(PERP_STATUS_OK, reserve_convex(problems[k], workspace, NULL));
        for (int pass = 0; pass < 2; pass++, settings.warm = &bare) {
            ASSERT_STATUS(PERP_STATUS_OK, try_convex(problems[k], &settings, workspace, &bare, &info, NULL));
            ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
            ASSERT_NEAR(distance_of_x(problems[k], &whole, &part), 0.0, 1e-9);
            ASSERT_NEAR(distance_of_multipliers(problems[k], &whole, &part), 0.0, 1e-8);
        }
        perp_convex_workspace_free(workspace);
        free_point(&whole);
        free_point(&part);
    }
    free_contact_case(&q);
}

/* ---- refusals of contact qps ---------------------------------------------------------------------------------------
 */

static void wrong_contacts_are_refused(void **state)
{
    (void)state;
    perp_random random = {3};
    perp_convex_point known;
    contact_case q = random_contact_case(
        &random, (random_contacts){.bodies = 2, .contacts = 4, .equalities = 1, .kind = CONTACT_CONES}, &known);
    const perp_contact_qp problem = contact_qp_of(&q);
    const convex_problem p = OF_CONTACT_QP(&problem);
    perp_convex_workspace *workspace = new_convex_workspace(NULL);
    perp_convex_info info;
    ASSERT_STATUS(PERP_STATUS_OK, reserve_convex(p, workspace, NULL));
    double *entries[] = {q.hessian,    q.g + 1,           q.jacobian + 2,   q.rays + 4,
                         q.offset + 3, q.equality_values, q.equality_target};
    static const double wrong[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    for (size_t k = 0; k < 21; k++) {
        double *entry = entries[k % 7];
        const double kept = *entry;
        *entry = wrong[k / 7];
        ASSERT_STATUS(PERP_STATUS_BAD_INPUT, try_convex(p, NULL, workspace, &known, &info, NULL));
        ASSERT_STATUS(PERP_STATUS_BAD_INPUT, reserve_convex(p, workspace, NULL));
        *entry = kept;
    }
    const int dof = q.dofs[1];
    q.dofs[1] = q.dofs[0]; /* not ascending */
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, try_convex(p, NULL, workspace, &known, &info, NULL));
    q.dofs[1] = 99;
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, try_convex(p, NULL, workspace, &known, &info, NULL));
    q.dofs[1] = dof;
    for (int i = 0; i < 9; i++) { /* eigenvalues 1.6, 1.6, -0.2: no minor of two shows it */
        q.hessian[i] = i % 4 == 0 ? 1.0 : -0.6;
    }
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, try_convex(p, NULL, workspace, &known, &info, NULL));
    for (int i = 0; i < 9; i++) {
        q.hessian[i] = i % 4 == 0 ? 1.0 : 0.0;
    }
    const perp_convex_settings dual = convex_settings("dual");
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, try_convex(p, &dual, workspace, &known, &info, NULL));
    ASSERT_STATUS(PERP_STATUS_OK, try_convex(p, NULL, workspace, &known, &info, NULL)); /* nothing else was wrong */
    perp_convex_workspace_free(workspace);
    free_point(&known);
    free_contact_case(&q);
}

/* Nothing at all, with no array, is a problem; a cone beyond the limit is one too many. */
static void empty_and_oversized(void **state)
{
    (void)state;
    enum { ROWS = 47000 };
    perp_convex_workspace *workspace = NULL;
    perp_error error;
    assert_int_equal(perp_convex_workspace_create(NULL, &workspace, &error), PERP_STATUS_OK);
    const perp_contact_qp nothing = {0};
    perp_convex_point point = {0};
    perp_convex_info info;
    double spare = 0.0;
    point.x = &spare;
    assert_int_equal(perp_contact_qp_reserve(&nothing, workspace, &error), PERP_STATUS_OK);
    assert_int_equal(perp_contact_qp_solve(&nothing, NULL, workspace, &point, &info, &error), PERP_STATUS_OK);
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
    double *a = calloc(ROWS, sizeof *a);
    assert_non_null(a);
    const double g = 1.0;
    const int rows = ROWS;
    const perp_cone_qp large = {.n = 1, .g = &g, .cones = 1, .cone_rows = &rows, .a = a, .b = a};
    assert_int_equal(perp_cone_qp_reserve(&large, workspace, &error), PERP_STATUS_CAPACITY);
    free(a);
    perp_convex_workspace_free(workspace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weight_is_shared_equally), cmocka_unit_test(friction_holds_a_push),
        cmocka_unit_test(gripper_holds_and_slips),  cmocka_unit_test(permuted_and_doubled_contacts),
        cmocka_unit_test(mirrored_scene),           cmocka_unit_test(tight_tolerance),
        cmocka_unit_test(warm_start_is_shorter),    cmocka_unit_test(wrong_warm_starts_do_no_harm),
        cmocka_unit_test(contacts_without_columns), cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(ratios_of_masses),         cmocka_unit_test(arrays_that_are_not_there),
        cmocka_unit_test(empty_and_oversized),      cmocka_unit_test(wrong_contacts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
