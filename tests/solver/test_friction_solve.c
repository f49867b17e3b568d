/* Coulomb friction: closed forms, both forms of a problem, symmetry, sharing, warm starts, quasistatic problems and
 * proofs. Solutions are known to rounding; the solver stops at a residual of 1e-8 in velocities over 1 + |w|, forces
 * are masses times that: TIGHT is ten times as much for problems of unit size. */
#include "failing_allocator.h"
#include "hooked_malloc.h"
#include "problem/friction_law.h"

#include <perp/problem.h>
#include <perp/solver.h>

#include <math.h>

static const double TIGHT = 1e-7;

enum { MOST_CONTACTS = 16, MOST_DOFS = 12 };

/* Bodies without rotation, `dim` unknowns each. */
typedef struct scene {
    int dim, bodies, row_start[MOST_CONTACTS + 1], dof_start[MOST_CONTACTS + 1], dofs[MOST_CONTACTS * 6];
    int block_start[MOST_DOFS + 1];
    double hessian[MOST_DOFS * 9], g[MOST_DOFS], jacobian[MOST_CONTACTS * 18], offset[MOST_CONTACTS * 3];
    double mu[MOST_CONTACTS];
    int entries;
    perp_contact_qp system;
    perp_contact_friction problem;
    perp_convex_point point;
    double x[MOST_DOFS], y[MOST_CONTACTS * 3], lower[MOST_DOFS], upper[MOST_DOFS], none[1];
    perp_friction_info info;
} scene;

static void start(scene *s, int dim, int bodies, const double *masses)
{
    memset(s, 0, sizeof *s);
    s->dim = dim;
    s->bodies = bodies;
    bool any = false;
    for (int b = 0; b < bodies; b++) {
        s->block_start[b + 1] = dim * (b + 1);
        for (int i = 0; i < dim; i++) {
            s->hessian[b * dim * dim + i * (dim + 1)] = masses[b];
        }
        any = any || masses[b] != 0.0;
    }
    s->system = (perp_contact_qp){.n = dim * bodies,
                                  .block_count = bodies,
                                  .block_start = s->block_start,
                                  .hessian = any ? s->hessian : NULL,
                                  .g = s->g,
                                  .row_start = s->row_start,
                                  .slack_start = s->row_start,
                                  .dof_start = s->dof_start,
                                  .dofs = s->dofs,
                                  .jacobian = s->jacobian,
                                  .offset = s->offset};
    s->problem = (perp_contact_friction){&s->system, s->mu};
    s->point = (perp_convex_point){s->x, s->y, s->none, s->lower, s->upper};
}

/* Rows of `frame` (normal first) are felt by body a, and negative by body b unless that is -1; a > b. */
static void touch(scene *s, int a, int b, const double *frame, double mu)
{
    const int k = s->system.contact_count++, dim = s->dim;
    int at = s->dof_start[k];
    for (int body = b >= 0 ? b : a; body <= a; body += a - body > 0 ? a - body : 1) {
        for (int i = 0; i < dim; i++) {
            s->dofs[at++] = dim * body + i;
        }
    }
    for (int r = 0; r < dim; r++) {
        for (int i = 0; b >= 0 && i < dim; i++) {
            s->jacobian[s->entries++] = -frame[r * dim + i];
        }
        for (int i = 0; i < dim; i++) {
            s->jacobian[s->entries++] = frame[r * dim + i];
        }
    }
    s->row_start[k + 1] = s->row_start[k] + dim;
    s->dof_start[k + 1] = at;
    s->mu[k] = mu;
}

static perp_friction_workspace *workspace(void)
{
    perp_friction_workspace *w = NULL;
    assert_int_equal(perp_friction_workspace_create(NULL, &w, NULL), PERP_STATUS_OK);
    return w;
}

static void solve_with(scene *s, const perp_friction_settings *settings)
{
    perp_friction_workspace *w = workspace();
    assert_int_equal(perp_contact_friction_reserve(&s->problem, w, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_contact_friction_solve(&s->problem, settings, w, &s->point, &s->info, NULL), PERP_STATUS_OK);
    const double residual =
        perp_contact_friction_residual_largest(perp_contact_friction_evaluate(&s->problem, &s->point));
    assert_true(residual == s->info.residual);
    assert_true(s->info.outcome != PERP_OUTCOME_SOLVED || residual <= 1e-8);
    perp_friction_workspace_free(w);
}

static void solve(scene *s)
{
    solve_with(s, NULL);
    assert_int_equal(s->info.outcome, PERP_OUTCOME_SOLVED);
}

static void near(double a, double b)
{
    if (!(fabs(a - b) <= TIGHT)) {
        print_error("%.17g is not %.17g\n", a, b);
    }
    assert_true(fabs(a - b) <= TIGHT);
}

static const double FLOOR_3D[9] = {0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0};
static const double FLOOR_2D[4] = {0.0, 1.0, 1.0, 0.0};

/* ---- closed forms ------------------------------------------------------------------------------------------------ */

/* A mass on a slope of `angle`, for one step of gravity: in the frame of the slope. */
static void slope(scene *s, int dim, double angle, double mu)
{
    start(s, dim, 1, (const double[]){2.0});
    touch(s, 0, -1, dim == 3 ? FLOOR_3D : FLOOR_2D, mu);
    s->g[dim - 1] = 2.0 * 9.81 * cos(angle); /* f is minus the impulse */
    s->g[0] = -2.0 * 9.81 * sin(angle);
}

static void a_mass_on_a_slope(void **state)
{
    (void)state;
    scene s;
    for (int dim = 2; dim <= 3; dim++) {
        slope(&s, dim, 0.4, 0.5); /* tan 0.4 = 0.42: it sticks */
        solve(&s);
        near(s.y[0], 2.0 * 9.81 * cos(0.4));
        near(s.y[1], -2.0 * 9.81 * sin(0.4));
        near(s.x[0], 0.0);
        slope(&s, dim, 0.4, 0.3); /* it slides */
        solve(&s);
        near(s.y[0], 2.0 * 9.81 * cos(0.4));
        near(s.y[1], -0.3 * s.y[0]);
        near(s.x[0], 9.81 * (sin(0.4) - 0.3 * cos(0.4)));
        near(s.x[dim - 1], 0.0);
        slope(&s, dim, 0.4, 0.0); /* as does one without friction */
        solve(&s);
        assert_true(s.y[1] == 0.0);
        near(s.x[0], 9.81 * sin(0.4));
    }
}

static void a_mass_that_leaves(void **state)
{
    (void)state;
    scene s;
    slope(&s, 3, 0.0, 0.5);
    s.g[2] = -4.0; /* upward */
    solve(&s);
    near(s.x[2], 2.0);
    for (int i = 0; i < 3; i++) {
        near(s.y[i], 0.0);
    }
}

/* In a groove with walls at +-phi the normal forces carry m g / (2 cos phi) each. */
static void a_groove(void **state)
{
    (void)state;
    const double phi = 0.7, c = cos(phi), t = sin(phi);
    scene s;
    start(&s, 2, 1, (const double[]){1.0});
    touch(&s, 0, -1, (const double[]){t, c, c, -t}, 0.0);
    touch(&s, 0, -1, (const double[]){-t, c, c, t}, 0.0);
    s.g[1] = 10.0;
    solve(&s);
    near(s.y[0], 10.0 / (2.0 * c));
    near(s.y[2], 10.0 / (2.0 * c));
}

/* An impact sideways on a stack of two: the lower one is pulled along while friction lasts. */
static void a_stack_that_slides(void **state)
{
    (void)state;
    scene s;
    start(&s, 3, 2, (const double[]){1.0, 1.0});
    touch(&s, 0, -1, FLOOR_3D, 0.1);
    touch(&s, 1, 0, FLOOR_3D, 0.5);
    s.g[2] = s.g[5] = 1.0;
    s.g[4] = -2.0; /* a push on the upper one along y */
    solve(&s);
    near(s.y[0], 2.0);
    near(s.y[3], 1.0);
    near(s.y[5], -0.5); /* what the upper one feels */
    near(s.y[2], -0.2); /* the lower one slides on the floor as well */
    near(s.x[1], 0.5 - 0.2);
    near(s.x[4], 2.0 - 0.5);
}

/* ---- forms, symmetry, sharing -------------------------------------------------------------------------------------
 */

static void make_corner(scene *s)
{
    start(s, 3, 2, (const double[]){1.0, 3.0});
    touch(s, 0, -1, FLOOR_3D, 0.4);
    touch(s, 1, 0, FLOOR_3D, 0.7);
    touch(s, 1, -1, (const double[]){1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, 0.2);
    const double g[6] = {0.3, 0.2, 1.0, 4.0, -1.0, 2.0};
    memcpy(s->g, g, sizeof g);
    s->offset[3] = -0.1;
}

/* W = H A^-1 H' and q = w - H A^-1 f by hand: masses are diagonal. */
static void both_forms_agree(void **state)
{
    (void)state;
    scene s;
    make_corner(&s);
    solve(&s);
    const int rows = 9;
    double h[9][6] = {{0.0}}, w[81], q[9], r[9], u[9];
    const double *j = s.jacobian;
    for (int i = 0; i < 3; i++) {
        const int columns = s.dof_start[i + 1] - s.dof_start[i];
        for (int k = 0; k < 3 * columns; k++) {
            h[3 * i + k / columns][s.dofs[s.dof_start[i] + k % columns]] = *j++;
        }
    }
    for (int a = 0; a < rows; a++) {
        q[a] = s.offset[a];
        for (int k = 0; k < 6; k++) {
            q[a] -= h[a][k] * s.g[k] / (k < 3 ? 1.0 : 3.0);
        }
        for (int b = 0; b < rows; b++) {
            w[a * rows + b] = 0.0;
            for (int k = 0; k < 6; k++) {
                w[a * rows + b] += h[a][k] * h[b][k] / (k < 3 ? 1.0 : 3.0);
            }
        }
    }
    const perp_friction local = {3, 3, w, q, s.mu};
    perp_friction_workspace *workspace_local = workspace();
    perp_friction_info info;
    assert_int_equal(perp_friction_reserve(&local, workspace_local, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_friction_solve(&local, NULL, workspace_local, r, u, &info, NULL), PERP_STATUS_OK);
    assert_int_equal(info.outcome, PERP_OUTCOME_SOLVED);
    assert_true(perp_friction_residual(&local, r) <= 1e-8);
    double v[9];
    perp_contact_friction_velocity(&s.problem, s.x, v);
    for (int i = 0; i < rows; i++) {
        near(u[i], v[i]);
    }
    perp_friction_workspace_free(workspace_local);
}

static void every_method_that_applies_solves(void **state)
{
    (void)state;
    for (int k = 0; k < perp_friction_method_count(); k++) {
        scene s;
        make_corner(&s);
        perp_friction_settings settings = perp_friction_settings_default();
        settings.method = perp_friction_method_name(k);
        assert_true(strlen(perp_friction_method_summary(k)) > 10);
        if (strcmp(settings.method, "islands") == 0 || strcmp(settings.method, "ipm-w") == 0) {
            continue; /* there is one island, and it has bodies */
        }
        solve_with(&s, &settings);
        assert_int_equal(s.info.outcome, PERP_OUTCOME_SOLVED);
        assert_string_equal(s.info.method, settings.method);
    }
    assert_null(perp_friction_method_name(perp_friction_method_count()));
}

/* y -> -y in the loads mirrors the answer. */
static void a_mirrored_problem(void **state)
{
    (void)state;
    scene a, b;
    make_corner(&a);
    make_corner(&b);
    b.g[1] = -b.g[1];
    b.g[4] = -b.g[4];
    solve(&a);
    solve(&b);
    for (int i = 0; i < 6; i++) {
        near(b.x[i], i % 3 == 1 ? -a.x[i] : a.x[i]);
    }
}

/* Four times the same contact: least norm shares evenly. */
static void duplicates_share(void **state)
{
    (void)state;
    scene s;
    start(&s, 3, 1, (const double[]){1.0});
    for (int k = 0; k < 4; k++) {
        touch(&s, 0, -1, FLOOR_3D, 0.5);
    }
    s.g[2] = 8.0;
    s.g[0] = -1.0;
    solve(&s);
    assert_true(s.info.minimum_norm);
    for (int k = 0; k < 4; k++) {
        near(s.y[3 * k], 2.0);
        near(s.y[3 * k + 1], -0.25);
    }
}

/* A planar crate of unit mass and inertia on two rough feet at x = -1 and 1, h below its centre, pushed sideways at the
 * height of the feet: ft of each may be anything that adds up to minus the push, the least norm is half each. */
static void feet_share(void **state)
{
    (void)state;
    const double h = 0.5, push = 0.5;
    const double jacobian[12] = {0.0, 1.0, -1.0, 1.0, 0.0, h, 0.0, 1.0, 1.0, 1.0, 0.0, h};
    const double hessian[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    const perp_contact_qp system = {.n = 3,
                                    .block_count = 1,
                                    .block_start = (const int[]){0, 3},
                                    .hessian = hessian,
                                    .g = (const double[]){-push, 1.0, -push * h},
                                    .contact_count = 2,
                                    .row_start = (const int[]){0, 2, 4},
                                    .slack_start = (const int[]){0, 2, 4},
                                    .dof_start = (const int[]){0, 3, 6},
                                    .dofs = (const int[]){0, 1, 2, 0, 1, 2},
                                    .jacobian = jacobian,
                                    .offset = (const double[]){0.0, 0.0, 0.0, 0.0}};
    const perp_contact_friction problem = {&system, (const double[]){0.9, 0.9}};
    double x[3], y[4], lower[3], upper[3], none[1];
    perp_convex_point point = {x, y, none, lower, upper};
    perp_friction_info info;
    perp_friction_workspace *w = workspace();
    assert_int_equal(perp_contact_friction_reserve(&problem, w, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_contact_friction_solve(&problem, NULL, w, &point, &info, NULL), PERP_STATUS_OK);
    assert_int_equal(info.outcome, PERP_OUTCOME_SOLVED);
    assert_true(info.minimum_norm);
    assert_true(perp_contact_friction_residual_largest(perp_contact_friction_evaluate(&problem, &point)) <= 1e-8);
    near(y[0], 0.5);
    near(y[2], 0.5);
    near(y[1], -push / 2.0);
    near(y[3], -push / 2.0);
    perp_friction_workspace_free(w);
}

/* ---- without inertia ----------------------------------------------------------------------------------------------
 */

/* A pusher moves a block over the floor: it slides at the pusher's speed, which feels mu m g. */
static void a_pushed_block(void **state)
{
    (void)state;
    scene s;
    start(&s, 2, 1, (const double[]){0.0});
    touch(&s, 0, -1, FLOOR_2D, 0.3);
    touch(&s, 0, -1, (const double[]){1.0, 0.0, 0.0, 1.0}, 0.0);
    s.offset[2] = -1.5;
    s.g[1] = 10.0;
    solve(&s);
    near(s.x[0], 1.5);
    near(s.x[1], 0.0);
    near(s.y[0], 10.0);
    near(s.y[1], -3.0);
    near(s.y[2], 3.0);
}

/* Two fingers on springs hold a block by friction alone: without it nothing would carry the weight. */
static void a_grasp_that_needs_friction(void **state)
{
    (void)state;
    scene s;
    start(&s, 2, 3, (const double[]){0.0, 100.0, 100.0});
    touch(&s, 1, 0, (const double[]){-1.0, 0.0, 0.0, 1.0}, 0.6);
    touch(&s, 2, 0, (const double[]){1.0, 0.0, 0.0, 1.0}, 0.6);
    s.g[1] = 5.0;   /* weight of the block */
    s.g[2] = -20.0; /* fingers press inwards */
    s.g[4] = 20.0;
    solve(&s);
    near(s.y[0], 20.0);
    near(s.y[2], 20.0);
    near(fabs(s.y[1]) + fabs(s.y[3]), 5.0);
    near(s.x[1], -2.5 / 100.0); /* it sinks with the springs */
}

static void nothing_balances(void **state)
{
    (void)state;
    scene s;
    start(&s, 2, 1, (const double[]){0.0});
    touch(&s, 0, -1, FLOOR_2D, 0.3);
    s.g[1] = -1.0; /* the floor does not pull */
    solve_with(&s, NULL);
    assert_int_equal(s.info.outcome, PERP_OUTCOME_INFEASIBLE);
    assert_int_equal(s.info.tried_count, 1); /* the proof comes before any search */
    assert_true(s.info.certificate <= 1e-8);
}

static void walls_that_close(void **state)
{
    (void)state;
    scene s;
    start(&s, 2, 1, (const double[]){1.0});
    touch(&s, 0, -1, (const double[]){1.0, 0.0, 0.0, 1.0}, 0.3);
    touch(&s, 0, -1, (const double[]){-1.0, 0.0, 0.0, 1.0}, 0.3);
    s.offset[0] = s.offset[2] = -1.0;
    solve_with(&s, NULL);
    assert_int_equal(s.info.outcome, PERP_OUTCOME_INFEASIBLE);
    assert_true(s.info.certificate <= 1e-8);
}

/* ---- the interface ------------------------------------------------------------------------------------------------
 */

static void a_warm_start_takes_few_steps(void **state)
{
    (void)state;
    scene s, next;
    make_corner(&s);
    solve(&s);
    make_corner(&next);
    next.g[3] += 0.01;
    perp_friction_settings settings = perp_friction_settings_default();
    settings.warm = &s.point;
    settings.method = "newton"; /* what the cascade begins with where contacts are more than a few */
    solve_with(&next, &settings);
    assert_int_equal(next.info.outcome, PERP_OUTCOME_SOLVED);
    assert_true(next.info.iterations <= 8); /* with those that sharpen it for the least forces */
}

static void solving_takes_no_memory_and_repeats(void **state)
{
    (void)state;
    scene s;
    make_corner(&s);
    perp_friction_workspace *w = workspace();
    assert_int_equal(perp_contact_friction_reserve(&s.problem, w, NULL), PERP_STATUS_OK);
    double first[6];
    for (int k = 0; k < 3; k++) {
        const long before = requests;
        assert_int_equal(perp_contact_friction_solve(&s.problem, NULL, w, &s.point, &s.info, NULL), PERP_STATUS_OK);
        assert_true(!watching || requests == before);
        assert_true(k == 0 || memcmp(first, s.x, sizeof first) == 0);
        memcpy(first, s.x, sizeof first);
    }
    perp_friction_workspace_free(w);
    solve(&s); /* in another workspace */
    assert_memory_equal(first, s.x, sizeof first);
}

static void refusals(void **state)
{
    (void)state;
    scene s;
    perp_error error;
    make_corner(&s);
    perp_friction_workspace *w = workspace();
    assert_int_equal(perp_contact_friction_solve(&s.problem, NULL, w, &s.point, &s.info, &error), PERP_STATUS_CAPACITY);
    assert_non_null(strstr(error.message, "reserve"));
    assert_int_equal(perp_contact_friction_reserve(&s.problem, w, NULL), PERP_STATUS_OK);
    s.g[2] = NAN;
    assert_int_equal(perp_contact_friction_solve(&s.problem, NULL, w, &s.point, &s.info, &error),
                     PERP_STATUS_BAD_INPUT);
    s.g[2] = 1.0;
    perp_friction_settings settings = perp_friction_settings_default();
    settings.method = "lemmke";
    assert_int_equal(perp_contact_friction_solve(&s.problem, &settings, w, &s.point, &s.info, &error),
                     PERP_STATUS_BAD_INPUT);
    settings = perp_friction_settings_default();
    settings.tolerance = 1e-13;
    assert_int_equal(perp_contact_friction_solve(&s.problem, &settings, w, &s.point, &s.info, &error),
                     PERP_STATUS_BAD_INPUT);
    perp_friction_workspace_free(w);
}

/* Each names a method that can. */
static void methods_that_cannot(void **state)
{
    (void)state;
    static const char *const of_bodies[] = {"ipm", "islands", "rest"};
    const double w_matrix[4] = {1.0, 0.0, 0.0, 1.0}, q[2] = {-1.0, 0.2}, mu[1] = {0.5};
    const perp_friction local = {.contacts = 1, .dim = 2, .w = w_matrix, .q = q, .mu = mu};
    double r[2], u[2];
    perp_error error;
    perp_friction_info info;
    perp_friction_settings settings = perp_friction_settings_default();
    perp_friction_workspace *w = workspace();
    assert_int_equal(perp_friction_reserve(&local, w, NULL), PERP_STATUS_OK);
    for (size_t k = 0; k < sizeof of_bodies / sizeof *of_bodies; k++) {
        settings.method = of_bodies[k];
        assert_int_equal(perp_friction_solve(&local, &settings, w, r, u, &info, &error), PERP_STATUS_BAD_INPUT);
        assert_non_null(strstr(error.message, "take ipm-w"));
    }
    scene s;
    start(&s, 2, 1, (const double[]){0.0}); /* no inertia: no W */
    touch(&s, 0, -1, FLOOR_2D, 0.3);
    s.g[1] = 1.0;
    assert_int_equal(perp_contact_friction_reserve(&s.problem, w, NULL), PERP_STATUS_OK);
    settings.method = "ipm-w";
    assert_int_equal(perp_contact_friction_solve(&s.problem, &settings, w, &s.point, &s.info, &error),
                     PERP_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.message, "take ipm"));
    settings.method = "small";
    assert_int_equal(perp_contact_friction_solve(&s.problem, &settings, w, &s.point, &s.info, &error),
                     PERP_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.message, "take ipm"));
    perp_friction_workspace_free(w);
}

/* Data at the end of the range: whatever the outcome, numbers are finite. */
static void numbers_stay_finite(void **state)
{
    (void)state;
    const double w_matrix[16] = {2.0, 0.5, 0.0, 0.0, 5.0, 49.0, 0.0, 1.0, -20.0, 0.5, 4.0, 0.0, 8e15, 4.0, 0.0, 5.0};
    const double q[4] = {-1e308, 1.0, 2.5, 1.0}, mu[2] = {0.0, 1.0};
    const perp_friction local = {.contacts = 2, .dim = 2, .w = w_matrix, .q = q, .mu = mu};
    double r[4], u[4];
    perp_friction_info info;
    perp_friction_workspace *w = workspace();
    assert_int_equal(perp_friction_reserve(&local, w, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_friction_solve(&local, NULL, w, r, u, &info, NULL), PERP_STATUS_OK);
    for (int i = 0; i < 4; i++) {
        assert_true(isfinite(r[i]) && isfinite(u[i]));
    }
    assert_true(isfinite(info.residual));
    assert_true(info.residual == perp_friction_residual(&local, r));
    perp_friction_workspace_free(w);
}

/* No contact: A v = -f. No body, no contact: nothing, and solved. */
static void empty_problems(void **state)
{
    (void)state;
    scene s;
    start(&s, 3, 1, (const double[]){2.0});
    s.g[1] = 3.0;
    solve(&s);
    near(s.x[1], -1.5);
    start(&s, 3, 0, NULL);
    solve(&s);
    const perp_friction local = {.dim = 3};
    perp_friction_workspace *w = workspace();
    perp_friction_info info;
    double none[1];
    assert_int_equal(perp_friction_reserve(&local, w, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_friction_solve(&local, NULL, w, none, none, &info, NULL), PERP_STATUS_OK);
    assert_int_equal(info.outcome, PERP_OUTCOME_SOLVED);
    perp_friction_workspace_free(w);
}

/* Two bodies that do not touch: solved together or apart, the same. */
static void islands_agree_with_the_whole(void **state)
{
    (void)state;
    scene whole, apart;
    scene *both[] = {&whole, &apart};
    for (int k = 0; k < 2; k++) {
        start(both[k], 3, 2, (const double[]){2.0, 5.0});
        touch(both[k], 0, -1, FLOOR_3D, 0.3);
        touch(both[k], 1, -1, FLOOR_3D, 0.6);
        const double g[6] = {-3.0, 1.0, 4.0, 1.0, 2.0, 6.0};
        memcpy(both[k]->g, g, sizeof g);
    }
    perp_friction_settings settings = perp_friction_settings_default();
    settings.method = "islands";
    solve(&whole);
    solve_with(&apart, &settings);
    assert_int_equal(apart.info.outcome, PERP_OUTCOME_SOLVED);
    assert_string_equal(apart.info.method, "islands");
    for (int i = 0; i < 6; i++) {
        near(whole.x[i], apart.x[i]);
        near(whole.y[i], apart.y[i]);
    }
}

static void cancelling_and_caps(void **state)
{
    (void)state;
    scene s;
    const volatile bool stop = true;
    make_corner(&s);
    perp_friction_settings settings = perp_friction_settings_default();
    settings.cancel = &stop;
    solve_with(&s, &settings);
    assert_int_equal(s.info.outcome, PERP_OUTCOME_CANCELLED);
    settings = perp_friction_settings_default();
    settings.max_factorisations = 2;
    solve_with(&s, &settings);
    assert_int_equal(s.info.outcome, PERP_OUTCOME_ITERATION_LIMIT);
    assert_true(s.info.residual < INFINITY);
    for (int i = 0; i < 6; i++) {
        assert_true(isfinite(s.x[i]));
    }
}

/* Whatever request is refused, the status says so and nothing is lost. */
static void want_of_memory(void **state)
{
    (void)state;
    bool done = false;
    for (int grants = 0; !done; grants++) {
        failing_allocator f = {.grants = grants};
        const perp_allocator allocator = allocator_of(&f);
        perp_friction_workspace *w = NULL;
        scene s;
        make_corner(&s);
        perp_status status = perp_friction_workspace_create(&allocator, &w, NULL);
        status = status == PERP_STATUS_OK ? perp_contact_friction_reserve(&s.problem, w, NULL) : status;
        assert_true(status == PERP_STATUS_OK || status == PERP_STATUS_OUT_OF_MEMORY);
        done = status == PERP_STATUS_OK;
        perp_friction_workspace_free(w);
        assert_int_equal(f.standing, 0);
        assert_true(grants < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mass_on_a_slope),
        cmocka_unit_test(a_mass_that_leaves),
        cmocka_unit_test(a_groove),
        cmocka_unit_test(a_stack_that_slides),
        cmocka_unit_test(both_forms_agree),
        cmocka_unit_test(every_method_that_applies_solves),
        cmocka_unit_test(a_mirrored_problem),
        cmocka_unit_test(duplicates_share),
        cmocka_unit_test(feet_share),
        cmocka_unit_test(a_pushed_block),
        cmocka_unit_test(a_grasp_that_needs_friction),
        cmocka_unit_test(nothing_balances),
        cmocka_unit_test(walls_that_close),
        cmocka_unit_test(a_warm_start_takes_few_steps),
        cmocka_unit_test(solving_takes_no_memory_and_repeats),
        cmocka_unit_test(refusals),
        cmocka_unit_test(methods_that_cannot),
        cmocka_unit_test(numbers_stay_finite),
        cmocka_unit_test(empty_problems),
        cmocka_unit_test(islands_agree_with_the_whole),
        cmocka_unit_test(cancelling_and_caps),
        cmocka_unit_test(want_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
