/* Closed forms of springs' answer: a body on feet, at rest and sliding, with and without inertia, limits and loops,
 * discs and polygons; what it says of its answer, and what it does where there is none. */
#include "solver/friction_soft.h"
#include "springs_scene.h"

#include <perp/problem.h>
#include <perp/solver.h>

#include <math.h>

enum { MOST_FEET = 8 };
static const double HEIGHT = 0.3, UP[3][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};

/* Tables of 4, 5, 6 and 8 legs, none of them symmetric. */
static const int COUNTS[] = {4, 5, 6, 8};
static const double FEET[][MOST_FEET][2] = {
    {{0.5, 0.3}, {0.45, -0.3}, {-0.5, -0.35}, {-0.5, 0.3}},
    {{0.6, 0.05}, {0.25, 0.5}, {-0.4, 0.35}, {-0.45, -0.25}, {0.1, -0.55}},
    {{0.6, 0.1}, {0.3, 0.5}, {-0.25, 0.45}, {-0.55, 0.0}, {-0.3, -0.5}, {0.25, -0.4}},
    {{0.65, 0.1}, {0.45, 0.4}, {0.05, 0.55}, {-0.4, 0.45}, {-0.6, 0.05}, {-0.35, -0.45}, {0.0, -0.5}, {0.5, -0.3}},
};

/* The origin is the centre of mass, HEIGHT above the feet. */
static void stand(int count, const double feet[][2], double mu, springs_scene *scene)
{
    const int body[2] = {scene->bodies, -1};
    springs_add_body(scene, 1.3, 0.2);
    for (int i = 0; i < count; i++) {
        const double arms[2][3] = {{feet[i][0], feet[i][1], -HEIGHT}};
        springs_add_contact(scene, body, arms, UP, mu);
    }
}

/* m x = b for a symmetric positive definite m. */
static void solve_three(double m[3][3], double b[3])
{
    for (int k = 0; k < 3; k++) {
        for (int i = k + 1; i < 3; i++) {
            const double part = m[i][k] / m[k][k];
            for (int j = k; j < 3; j++) {
                m[i][j] -= part * m[k][j];
            }
            b[i] -= part * b[k];
        }
    }
    for (int k = 2; k >= 0; k--) {
        for (int j = k + 1; j < 3; j++) {
            b[k] -= m[k][j] * b[j];
        }
        b[k] /= m[k][k];
    }
}

/* The least forces fn >= 0 with sum (1, x, y) fn = b: max(0, a + b x + c y). Returns how many feet carry. */
static int least_normals(int count, const double feet[][2], const double b[3], double *fn)
{
    int carry = 0;
    for (int k = 0; k < 20; k++) {
        double m[3][3] = {{0.0}}, plane[3] = {b[0], b[1], b[2]};
        carry = 0;
        for (int i = 0; i < count; i++) {
            const double e[3] = {1.0, feet[i][0], feet[i][1]};
            for (int j = 0; j < 9 && (k == 0 || fn[i] > 0.0); j++) {
                m[j / 3][j % 3] += e[j / 3] * e[j % 3];
            }
        }
        solve_three(m, plane);
        for (int i = 0; i < count; i++) {
            fn[i] = fmax(0.0, plane[0] + plane[1] * feet[i][0] + plane[2] * feet[i][1]);
            carry += fn[i] > 0.0 ? 1 : 0;
        }
    }
    return carry;
}

/* Normal forces are the least that balance the load and the friction of the answer, where the body does not tilt. A
 * foot that lifts keeps a part of 1/a of what the first round left it. Returns how many feet carry. */
static int check_normals(int count, const double feet[][2], const springs_scene *scene, const springs_answer *answer)
{
    const double *load = scene->load;
    double friction[2] = {0.0, 0.0}, fn[MOST_FEET];
    for (int i = 0; i < count; i++) {
        friction[0] += answer->force[3 * i + 1];
        friction[1] += answer->force[3 * i + 2];
    }
    const double b[3] = {-load[2], load[4] - HEIGHT * friction[0], -load[3] - HEIGHT * friction[1]};
    const int carry = least_normals(count, feet, b, fn);
    assert_true(answer->solved && springs_violation(scene, answer) <= 1e-10);
    for (int i = 0; i < count; i++) {
        assert_true(fabs(answer->force[3 * i] - fn[i]) <= (carry < count ? 5e-5 : 1e-9));
    }
    return carry;
}

/* Steps of Newton's method beside one in every round, where the start is the answer: its modes are the right ones, and
 * with these all is linear. */
static int steps_from(const springs_scene *scene, springs_answer *answer)
{
    springs_answer again;
    perp_friction_springs_settings settings = springs_settings(scene);
    settings.start = &answer->point;
    settings.known = true;
    springs_solve_with(scene, &settings, &again);
    assert_true(again.solved && springs_violation(scene, &again) <= 1e-10);
    return again.info.iterations - again.info.rounds;
}

static void take_inertia(springs_scene *scene)
{
    memset(scene->inertia, 0, sizeof scene->inertia);
}

static double corners[16][2];

/* Cone 0: the disc; then 4, 8 and 16 corners; then the box. */
static perp_friction_polygon cone(int which)
{
    static const double box[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    const int count = which == 0 ? 0 : 2 << which;
    for (int j = 0; j < count && which < 4; j++) {
        corners[j][0] = cos(6.283185307179586 * j / count);
        corners[j][1] = sin(6.283185307179586 * j / count);
    }
    return which == 4 ? (perp_friction_polygon){4, box} : (perp_friction_polygon){count, (const double(*)[2])corners};
}

/* ---- one body ---------------------------------------------------------------------------------------------------- */

/* The load eccentric, so far that feet lift in the last case; pushed at and turned, but held. */
static void at_rest(void **state)
{
    (void)state;
    static const double moments[][2] = {{0.0, 0.0}, {0.05, -0.1}, {-0.3, 0.42}};
    for (int k = 0; k < 4 * 3 * 5 * 2; k++) {
        const int table = k % 4, load = k / 4 % 3, which = k / 12 % 5, count = COUNTS[table];
        springs_scene scene = {.polygon = cone(which)};
        springs_answer answer;
        stand(count, FEET[table], 0.9, &scene);
        const double pushed[6] = {0.1, -0.06, -1.2, moments[load][0], moments[load][1], 0.03};
        memcpy(scene.load, pushed, sizeof pushed);
        if (k / 60 == 1) {
            take_inertia(&scene);
        }
        springs_solve(&scene, &answer);
        const int carry = check_normals(count, FEET[table], &scene, &answer);
        assert_true(load == 2 ? carry < count : carry == count);
        for (int j = 0; j < 6; j++) {
            assert_true(fabs(answer.v[j]) <= (k < 60 ? 1e-12 : 1e-10)); /* velocity_enough, where nothing has inertia */
        }
        assert_true(answer.info.choice == 0.0 || load == 2);
    }
}

/* Friction that nothing makes slip is as if springs along the surface were all alike: that of each foot by a small
 * motion of the body in the plane, ft = (p - r y, q + r x). */
static void friction_at_rest(void **state)
{
    (void)state;
    for (int table = 0; table < 4; table++) {
        const int count = COUNTS[table];
        springs_scene scene = {0};
        springs_answer answer;
        stand(count, FEET[table], 0.9, &scene);
        const double pushed[6] = {0.1, -0.06, -1.2, 0.0, 0.0, 0.03};
        memcpy(scene.load, pushed, sizeof pushed);
        springs_solve(&scene, &answer);
        assert_true(answer.solved);
        assert_int_equal(answer.info.iterations,
                         answer.info.rounds); /* what touches sticks, as was taken for granted */
        double m[3][3] = {{0.0}}, motion[3] = {-pushed[0], -pushed[1], -pushed[5]};
        for (int i = 0; i < count; i++) {
            const double rows[2][3] = {{1.0, 0.0, -FEET[table][i][1]}, {0.0, 1.0, FEET[table][i][0]}};
            for (int j = 0; j < 9; j++) {
                m[j / 3][j % 3] += rows[0][j / 3] * rows[0][j % 3] + rows[1][j / 3] * rows[1][j % 3];
            }
        }
        solve_three(m, motion);
        for (int i = 0; i < count; i++) {
            const double *foot = FEET[table][i], *r = answer.force + 3 * i;
            assert_true(fabs(r[1] - (motion[0] - motion[2] * foot[1])) <= 1e-9);
            assert_true(fabs(r[2] - (motion[1] + motion[2] * foot[0])) <= 1e-9);
        }
    }
}

/* A point in a corner, pushed at the wall: the wall's normal spring is a hundred times as stiff as the floor's tangent.
 */
static void wall_before_friction(void **state)
{
    (void)state;
    static const double axes[2][3][3] = {{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    static const double arms[2][3] = {{0.0}};
    static const int body[2] = {0, -1};
    springs_scene scene = {0};
    springs_answer answer;
    springs_add_body(&scene, 1.0, 1.0);
    springs_add_contact(&scene, body, arms, axes[0], 0.9);
    springs_add_contact(&scene, body, arms, axes[1], 0.9);
    scene.load[0] = -1.0;
    scene.load[2] = -2.0;
    springs_solve(&scene, &answer);
    const double wanted[6] = {2.0 / 1.01, 0.01 / 1.01, 0.0, 1.0 / 1.01, 0.0, 0.02 / 1.01};
    assert_true(answer.solved);
    for (int r = 0; r < 6; r++) {
        assert_true(fabs(answer.force[r] - wanted[r]) <= 1e-9);
    }
}

/* Straight on, by feet that are symmetric about the way: fn = a + b x, all friction against it. */
static void straight_on(void **state)
{
    (void)state;
    static const double feet[5][2] = {{0.5, 0.3}, {0.5, -0.3}, {-0.4, 0.2}, {-0.4, -0.2}, {0.1, 0.0}};
    const double mu = 0.35, weight = 1.7, speed = 2.0, stiffness = 0.8;
    for (int k = 0; k < 10; k++) {
        const bool inertia = k < 5;
        springs_scene scene = {.polygon = cone(k % 5)};
        springs_answer answer;
        stand(5, feet, mu, &scene);
        if (!inertia) {
            take_inertia(&scene);
            scene.inertia[0][0][0] = stiffness; /* drawn along by a spring, else held by what touches it */
        }
        const double mass = inertia ? 1.3 : stiffness;
        scene.load[0] = mass * speed;
        scene.load[2] = -weight;
        scene.load[4] = 0.05;
        springs_solve(&scene, &answer);
        check_normals(5, feet, &scene, &answer);
        assert_true(fabs(answer.v[0] - (speed - mu * weight / mass)) <= 1e-10 && answer.info.choice <= 1e-9);
        for (int j = 1; j < 6; j++) {
            assert_true(fabs(answer.v[j]) <= 1e-10);
        }
        for (int i = 0; i < 5; i++) {
            assert_true(fabs(answer.force[3 * i + 1] + mu * answer.force[3 * i]) <= 1e-9);
            assert_true(fabs(answer.force[3 * i + 2]) <= 1e-9);
        }
        assert_true(steps_from(&scene, &answer) <= (inertia ? 0 : 1));
    }
}

/* It slides and turns: every foot's friction is against its own slip, which springs_violation looks at. */
static void sliding_and_turning(void **state)
{
    (void)state;
    for (int k = 0; k < 4 * 5; k++) {
        const int table = k % 4, count = COUNTS[table];
        springs_scene scene = {.polygon = cone(k / 4)};
        springs_answer answer;
        stand(count, FEET[table], 0.3, &scene);
        const double driven[6] = {2.0, 0.7, -1.5, 0.03, -0.05, 0.4};
        memcpy(scene.load, driven, sizeof driven);
        springs_solve(&scene, &answer);
        assert_int_equal(check_normals(count, FEET[table], &scene, &answer), count);
        assert_true(answer.v[0] > 0.5 && fabs(answer.v[5]) > 0.1);
        /* at one corner of the box friction of all feet turns by what their loads' place says, and there is no choice
         */
        assert_true(k == 16 ? answer.info.choice <= 1e-9 : answer.info.choice > 1e-6 && isfinite(answer.info.choice));
    }
}

/* On three feet normal forces are what the motion says: there is no choice. */
static void no_choice_on_three_feet(void **state)
{
    (void)state;
    static const double feet[3][2] = {{0.6, 0.05}, {-0.4, 0.35}, {-0.3, -0.5}};
    for (int k = 0; k < 5; k++) {
        springs_scene scene = {.polygon = cone(k)};
        springs_answer answer;
        stand(3, feet, 0.3, &scene);
        const double driven[6] = {2.0, 0.7, -1.5, 0.03, -0.05, 0.4};
        memcpy(scene.load, driven, sizeof driven);
        springs_solve(&scene, &answer);
        assert_int_equal(check_normals(3, feet, &scene, &answer), 3);
        assert_true(answer.v[0] > 0.5 && fabs(answer.v[5]) > 0.1 && answer.info.choice <= 1e-9);
    }
}

/* Without inertia, moved along by a wall without friction that goes at a speed. The problem may leave out an A of
 * zeros. */
static void pushed_without_inertia(void **state)
{
    (void)state;
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const double feet[4][2] = {{0.4, 0.3}, {0.4, -0.3}, {-0.4, 0.3}, {-0.4, -0.3}};
    const double mu = 0.35, weight = 1.7, speed = 0.2;
    static const int body[2] = {0, -1};
    springs_scene scene = {0};
    springs_answer answer;
    stand(4, feet, mu, &scene);
    take_inertia(&scene);
    for (int k = 0; k < 2; k++) {
        const double arms[2][3] = {{-0.4, k == 0 ? 0.3 : -0.3, -HEIGHT}};
        springs_contact *c = springs_add_contact(&scene, body, arms, axes, 0.0);
        c->rows = 1;
        c->offset[0] = -speed;
    }
    scene.load[2] = -weight;
    springs_solve(&scene, &answer);
    assert_true(answer.solved && springs_violation(&scene, &answer) <= 1e-10);
    for (int j = 0; j < 6; j++) {
        assert_true(fabs(answer.v[j] - (j == 0 ? speed : 0.0)) <= 1e-10);
    }
    for (int i = 0; i < 4; i++) {
        assert_true(fabs(answer.force[3 * i] - weight / 4.0) <= 1e-9);
        assert_true(fabs(answer.force[3 * i + 1] + mu * weight / 4.0) <= 1e-9);
    }
    assert_true(fabs(answer.force[12] - mu * weight / 2.0) <= 1e-9);

    static springs_problem p;
    springs_answer bare;
    perp_friction_soft_workspace *w = NULL;
    const perp_friction_springs_settings settings = springs_settings(&scene);
    springs_assemble(&scene, 0.0, &p);
    p.system.hessian = NULL;
    bare.point = (perp_convex_point){bare.v, bare.force, bare.loop, bare.lower, bare.upper};
    assert_int_equal(perp_friction_soft_workspace_create(NULL, &w, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_friction_springs_reserve(&p.problem, w, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_friction_springs_solve(&p.problem, &settings, w, &bare.point, &bare.info, NULL),
                     PERP_STATUS_OK);
    assert_memory_equal(bare.v, answer.v, 6 * sizeof *bare.v);
    perp_friction_soft_workspace_free(w);
}

/* ---- limits and loops -------------------------------------------------------------------------------------------- */

/* Driven against a limit of its speed, above or below. */
static void bounds(void **state)
{
    (void)state;
    static const double feet[4][2] = {{0.4, 0.3}, {0.4, -0.3}, {-0.4, 0.3}, {-0.4, -0.3}};
    for (int k = 0; k < 4; k++) {
        const double way = k % 2 == 0 ? 1.0 : -1.0, mu = 0.3, weight = 2.0, drive = 3.0;
        springs_scene scene = {.bounded = true};
        springs_answer answer;
        stand(4, feet, mu, &scene);
        scene.lower[0] = -0.4171;
        scene.upper[0] = k < 2 ? 0.3137 : 0.4;
        scene.load[0] = way * drive;
        scene.load[2] = -weight;
        springs_solve(&scene, &answer);
        const double held = way > 0.0 ? scene.upper[0] : scene.lower[0];
        assert_true(answer.solved && springs_violation(&scene, &answer) <= 1e-10);
        assert_true(answer.v[0] == held);
        const double *multiplier = way > 0.0 ? answer.upper : answer.lower;
        assert_true(fabs(multiplier[0] - (drive - mu * weight - 1.3 * fabs(held))) <= 1e-9);
    }
}

/* Two bodies on four feet each; the first is driven, and the second follows 0.1 slower. */
static void loops(void **state)
{
    (void)state;
    static const double feet[4][2] = {{0.4, 0.3}, {0.4, -0.3}, {-0.4, 0.3}, {-0.4, -0.3}};
    const double mu = 0.3, weight = 2.0, drive = 6.0, mass = 1.3, lag = 0.1;
    springs_scene scene = {.loop = true, .loop_dof = {0, 6}, .loop_value = {1.0, -1.0}, .loop_target = lag};
    springs_answer answer;
    stand(4, feet, mu, &scene);
    stand(4, feet, mu, &scene);
    scene.load[0] = drive;
    scene.load[2] = scene.load[8] = -weight;
    springs_solve(&scene, &answer);
    const double second = (drive - 2.0 * mu * weight - mass * lag) / (2.0 * mass);
    assert_true(answer.solved && springs_violation(&scene, &answer) <= 1e-10);
    assert_true(fabs(answer.v[6] - second) <= 1e-10 && fabs(answer.v[0] - second - lag) <= 1e-10);
    assert_true(fabs(answer.loop[0] + mass * second + mu * weight) <= 1e-9);
    assert_int_equal(steps_from(&scene, &answer), 0);
}

/* ---- where there is no answer ------------------------------------------------------------------------------------ */

static void no_limit(void **state)
{
    (void)state;
    springs_scene scene = {0};
    springs_answer answer;
    stand(4, FEET[0], 0.3, &scene);
    springs_add_body(&scene, 1.0, 1.0); /* touches nothing */
    scene.load[2] = -1.0;
    scene.load[8] = -1.0;
    springs_solve(&scene, &answer);
    assert_true(answer.solved && !answer.info.no_limit &&
                fabs(answer.v[8] + 1.0) <= 1e-12); /* it has inertia: it falls */
    take_inertia(&scene);
    springs_solve(&scene, &answer);
    assert_true(!answer.solved && answer.info.no_limit && answer.info.rounds <= 5);
    scene.load[8] = 0.0; /* nothing drives it: it stays */
    springs_solve(&scene, &answer);
    assert_true(answer.solved && !answer.info.no_limit && fabs(answer.v[8]) <= 1e-12);
    springs_answer moved = answer;
    moved.point = (perp_convex_point){moved.v, moved.force, moved.loop, moved.lower, moved.upper};
    moved.v[8] = 0.7; /* it stays as it begins */
    perp_friction_springs_settings settings = springs_settings(&scene);
    settings.start = &moved.point;
    springs_solve_with(&scene, &settings, &answer);
    assert_true(answer.solved && fabs(answer.v[8] - 0.7) <= 1e-12);
}

/* Walls that close on a body leave it no place; where they do so by less than will do they hold it. */
static void wedged(void **state)
{
    (void)state;
    static const double axes[2][3][3] = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{-1, 0, 0}, {0, 1, 0}, {0, 0, -1}}};
    static const double arms[2][3] = {{0.0}};
    static const int body[2] = {0, -1};
    for (int k = 0; k < 3; k++) {
        static const double closing[] = {1e-2, 1e-9, 1e-11};
        springs_scene scene = {0};
        springs_answer answer;
        stand(4, FEET[0], 0.3, &scene);
        scene.load[2] = -1.0;
        for (int s = 0; s < 2; s++) {
            springs_add_contact(&scene, body, arms, axes[s], 0.3)->offset[0] = -closing[k];
        }
        springs_solve(&scene, &answer);
        assert_int_equal(answer.solved, k == 2);
        assert_true(answer.info.no_limit == (k < 2) && answer.info.rounds <= 20);
    }
}

static void cancelled(void **state)
{
    (void)state;
    volatile bool cancel = true;
    springs_scene scene = {0};
    springs_answer answer;
    stand(4, FEET[0], 0.3, &scene);
    scene.load[2] = -1.0;
    perp_friction_springs_settings settings = springs_settings(&scene);
    settings.cancel = &cancel;
    springs_solve_with(&scene, &settings, &answer);
    assert_true(!answer.solved && answer.info.iterations == 0);
    cancel = false;
    springs_solve_with(&scene, &settings, &answer);
    assert_true(answer.solved && answer.info.iterations > 0);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void memory(void **state)
{
    (void)state;
    static springs_problem p;
    springs_scene scene = {0};
    springs_answer a;
    perp_error error = {0};
    a.point = (perp_convex_point){a.v, a.force, a.loop, a.lower, a.upper};
    stand(8, FEET[3], 0.3, &scene);
    scene.load[0] = 2.0;
    scene.load[2] = -1.0;
    const perp_friction_springs_settings settings = springs_settings(&scene);
    springs_assemble(&scene, 0.0, &p);
    int grants = 0;
    for (bool enough = false; !enough; grants++) {
        failing_allocator counting = {.grants = grants + 1};
        const perp_allocator allocator = allocator_of(&counting);
        perp_friction_soft_workspace *w = NULL;
        assert_int_equal(perp_friction_soft_workspace_create(&allocator, &w, &error), PERP_STATUS_OK);
        assert_int_equal(perp_friction_springs_solve(&p.problem, &settings, w, &a.point, &a.info, &error),
                         PERP_STATUS_CAPACITY);
        assert_int_equal(counting.requests, 1);
        const perp_status status = perp_friction_springs_reserve(&p.problem, w, &error);
        enough = status == PERP_STATUS_OK;
        assert_true(enough || status == PERP_STATUS_OUT_OF_MEMORY);
        const int taken = counting.requests;
        assert_int_equal(perp_friction_springs_solve(&p.problem, &settings, w, &a.point, &a.info, &error),
                         enough ? PERP_STATUS_OK : PERP_STATUS_CAPACITY);
        assert_true(!enough || a.info.solved);
        assert_int_equal(counting.requests, taken);
        perp_friction_soft_workspace_free(w);
        assert_int_equal(counting.standing, 0);
    }
    assert_true(grants > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_rest),
        cmocka_unit_test(friction_at_rest),
        cmocka_unit_test(wall_before_friction),
        cmocka_unit_test(straight_on),
        cmocka_unit_test(sliding_and_turning),
        cmocka_unit_test(no_choice_on_three_feet),
        cmocka_unit_test(pushed_without_inertia),
        cmocka_unit_test(bounds),
        cmocka_unit_test(loops),
        cmocka_unit_test(no_limit),
        cmocka_unit_test(wedged),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
