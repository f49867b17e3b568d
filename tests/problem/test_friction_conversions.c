/* Friction problems with bodies: their residual, and that they say the same as problems without. */
#include "problem/friction_law.h"

#include "linalg/dense.h"
#include "problem/checks.h"
#include "problem/conversions.h"

#include <perp/linalg.h>
#include <perp/problem.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ASSERT_STATUS(expected, call) assert_string_equal(perp_status_name(expected), perp_status_name(call))

enum { DOFS = 24, CONTACTS = 8, ROWS = 3 * CONTACTS, ENTRIES = ROWS * DOFS };

static double draw(uint64_t *seed) /* -1 .. 1 */
{
    *seed += 0x9e3779b97f4a7c15u;
    uint64_t z = *seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-52 - 1.0;
}

static int draw_int(uint64_t *seed, int low, int high)
{
    return low + (int)((draw(seed) + 1.0) * 0.5 * (double)(high - low + 1));
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        print_error("%.17g is not %.17g to %g\n", value, expected, tolerance);
        fail();
    }
}

static void refused(perp_status expected, perp_status status, const perp_error *error, const char *words)
{
    ASSERT_STATUS(expected, status);
    if (!strstr(error->message, words)) {
        print_error("\"%s\" does not say \"%s\"\n", error->message, words);
        fail();
    }
}

/* ---- problems with bodies ---- */

/* A problem with its arrays. */
typedef struct bodies {
    int block_start[DOFS + 1], row_start[CONTACTS + 1], dof_start[CONTACTS + 1], dofs[CONTACTS * DOFS];
    double hessian[DOFS * DOFS], g[DOFS], jacobian[ENTRIES], offset[ROWS], mu[CONTACTS];
    perp_contact_qp system;
    perp_contact_friction problem;
} bodies;

static void bodies_finish(bodies *b, int n, int blocks, int contacts)
{
    b->system = (perp_contact_qp){.n = n,
                                  .block_count = blocks,
                                  .block_start = b->block_start,
                                  .hessian = b->hessian,
                                  .g = b->g,
                                  .contact_count = contacts,
                                  .row_start = b->row_start,
                                  .dof_start = b->dof_start,
                                  .dofs = b->dofs,
                                  .jacobian = b->jacobian,
                                  .slack_start = b->row_start,
                                  .offset = b->offset};
    b->problem = (perp_contact_friction){&b->system, b->mu};
}

/* A disc or point of mass m on the ground: v = (vx, vy[, vz]), rows n, t[, o] along the last and the first axes. */
static void point_on_ground(bodies *b, int dim, double mass, double mu, const double *force)
{
    memset(b, 0, sizeof *b);
    b->block_start[1] = b->row_start[1] = b->dof_start[1] = dim;
    b->mu[0] = mu;
    for (int i = 0; i < dim; i++) {
        b->hessian[i * dim + i] = mass;
        b->g[i] = -force[i];
        b->dofs[i] = i;
        b->jacobian[i * dim + (i == 0 ? dim - 1 : i - 1)] = 1.0;
    }
    bodies_finish(b, dim, 1, 1);
}

/* Bodies of 1 to 6 unknowns, contacts of 1 to `most` rows between two of them or with the ground. A solution (v, r) is
 * drawn first, with every mode in it, and f and w follow from it. */
static void draw_bodies(uint64_t *seed, int most, bodies *b, double *v, double *r)
{
    memset(b, 0, sizeof *b);
    int n = 0, blocks = 0, rows = 0, used = 0, contacts = draw_int(seed, 1, CONTACTS);
    double *a = b->hessian, *j = b->jacobian;
    while (blocks < 4) {
        const int size = draw_int(seed, 1, 6);
        for (int i = 0; i < size; i++) {
            for (int k = 0; k <= i; k++) {
                a[i * size + k] = a[k * size + i] = i == k ? (double)size + 1.0 : draw(seed);
            }
        }
        a += size * size;
        n += size;
        b->block_start[++blocks] = n;
    }
    for (int k = 0; k < n; k++) {
        v[k] = draw(seed);
    }
    for (int c = 0; c < contacts; c++) {
        const int count = draw_int(seed, 1, most), first = draw_int(seed, 0, blocks - 1),
                  last = draw_int(seed, first, blocks - 1);
        const int start = used;
        for (int k = b->block_start[first]; k < b->block_start[first + 1]; k++) {
            b->dofs[used++] = k;
        }
        for (int k = b->block_start[last]; last > first && k < b->block_start[last + 1]; k++) {
            b->dofs[used++] = k;
        }
        const int mode = draw_int(seed, 0, 2); /* open, sticking, slipping */
        const double mu = 1.0 + draw(seed), angle = 3.0 * draw(seed), force = 1.5 + draw(seed),
                     speed = 1.5 + draw(seed);
        const double t[3] = {0.0, count > 2 ? cos(angle) : 1.0, sin(angle)};
        b->mu[c] = count > 1 ? mu : NAN; /* not looked at */
        for (int i = 0; i < count; i++) {
            const double u = mode == 0 ? (i ? draw(seed) : 1.0) : mode == 1 ? 0.0 : speed * t[i];
            r[rows + i] = mode == 0 ? 0.0 : i == 0 ? force : mode == 1 ? 0.5 * mu * force * t[i] : -mu * force * t[i];
            double sum = u;
            for (int d = start; d < used; d++) {
                j[d - start] = draw(seed);
                sum -= j[d - start] * v[b->dofs[d]];
                b->g[b->dofs[d]] += j[d - start] * r[rows + i];
            }
            b->offset[rows + i] = sum;
            j += used - start;
        }
        rows += count;
        b->row_start[c + 1] = rows;
        b->dof_start[c + 1] = used;
    }
    a = b->hessian;
    for (int k = 0; k < blocks; k++) { /* f = H'r - A v */
        const int start = b->block_start[k], size = b->block_start[k + 1] - start;
        for (int i = 0; i < size; i++, a += size) {
            for (int l = 0; l < size; l++) {
                b->g[start + i] -= a[l] * v[start + l];
            }
        }
    }
    bodies_finish(b, n, blocks, contacts);
}

/* ---- residuals ---- */

/* Pressed with 10 and pushed with 3 along x: mass 2. With mu = 1/2 it sticks; with mu = 1/4 it slips and gains
 * (3 - 2.5) / 2; pulled up it leaves. */
static void closed_forms(void **state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        static bodies b;
        double force[3] = {3.0, 0.0, 0.0}, v[3] = {0.0, 0.0, 0.0}, r[3] = {10.0, -3.0, 0.0};
        const perp_convex_point p = {.x = v, .y = r};
        perp_error error;
        force[dim - 1] = -10.0;
        point_on_ground(&b, dim, 2.0, 0.5, force);
        ASSERT_STATUS(PERP_STATUS_OK, perp_contact_friction_check(&b.problem, &error));
        assert_true(perp_contact_friction_residual_largest(perp_contact_friction_evaluate(&b.problem, &p)) == 0.0);
        b.mu[0] = 0.25;
        perp_contact_friction_residual residual = perp_contact_friction_evaluate(&b.problem, &p);
        /* p = r / 2 = (5, -1.5) beside K: (1.5 - 1.25) / sqrt(1 + 1/16) away */
        assert_true(residual.balance == 0.0 && residual.constraint == 0.0);
        assert_near(residual.law, 0.25 / sqrt(1.0625), 1e-15);
        r[1] = -2.5, v[0] = 0.25;
        assert_near(perp_contact_friction_residual_largest(perp_contact_friction_evaluate(&b.problem, &p)), 0.0, 1e-16);
        double u[3];
        perp_contact_friction_velocity(&b.problem, v, u);
        assert_true(u[0] == 0.0 && u[1] == 0.25);
        v[0] = 0.5; /* 2 (0.5 - 0.25), over 1 + 3 + 1 + 2.5 */
        assert_true(perp_contact_friction_evaluate(&b.problem, &p).balance == 0.5 / 7.5);
        force[dim - 1] = 4.0;
        point_on_ground(&b, dim, 2.0, 0.5, force);
        r[0] = r[1] = 0.0, v[0] = 1.5, v[dim - 1] = 2.0;
        assert_true(perp_contact_friction_residual_largest(perp_contact_friction_evaluate(&b.problem, &p)) == 0.0);
        v[1] = NAN;
        assert_true(perp_contact_friction_evaluate(&b.problem, &p).law == INFINITY);
    }
}

/* Without inertia: A = 0, the force at hand is balanced by friction alone. And with bounds and an equation: the point
 * stands in a slot that holds it against x >= 0, tied to a second one. */
static void without_inertia_and_with_bounds(void **state)
{
    (void)state;
    static bodies b;
    const double force[2] = {3.0, -10.0};
    double v[3] = {0.0, 0.0, 0.0}, r[3] = {10.0, -3.0}, y_e[1] = {0.0}, y_l[3] = {0.0, 0.0, 0.0};
    perp_convex_point p = {.x = v, .y = r, .y_equality = y_e, .y_lower = y_l};
    point_on_ground(&b, 2, 0.0, 0.5, force);
    assert_true(perp_contact_friction_residual_largest(perp_contact_friction_evaluate(&b.problem, &p)) == 0.0);
    b.system.hessian = NULL;
    assert_true(perp_contact_friction_residual_largest(perp_contact_friction_evaluate(&b.problem, &p)) == 0.0);
    r[0] = -10.0; /* rho = 1: -10 itself */
    assert_true(perp_contact_friction_evaluate(&b.problem, &p).law >= 10.0);
    /* another unknown, pushed by -4 against its bound and tied to vx: 2 v_2 - v_0 = 0.5 */
    const double lower[3] = {-INFINITY, -1.0, 0.25}, target[1] = {0.5}, values[2] = {-1.0, 2.0};
    const int start[2] = {0, 2}, tied[2] = {0, 2};
    const double other[2] = {3.0, -10.0};
    point_on_ground(&b, 2, 2.0, 0.5, other);
    b.block_start[2] = 3, b.hessian[4] = 8.0, b.g[2] = 4.0;
    bodies_finish(&b, 3, 2, 1);
    b.system.lower = lower;
    b.system.equality_count = 1;
    b.system.equality_start = start;
    b.system.equality_dofs = tied;
    b.system.equality_values = values;
    b.system.equality_target = target;
    perp_error error;
    ASSERT_STATUS(PERP_STATUS_OK, perp_contact_friction_check(&b.problem, &error));
    /* 8 v_2 + 4 = y_lower + 2 y_e, and 3 = -r_t - y_e + .. : y_e = 1 takes part of the friction, -3 = r_t - y_e */
    v[2] = 0.25, r[0] = 10.0, r[1] = -2.0, y_e[0] = 1.0, y_l[2] = 4.0;
    assert_true(perp_contact_friction_residual_largest(perp_contact_friction_evaluate(&b.problem, &p)) == 0.0);
    y_l[0] = 2.0; /* of an infinite bound: 2 over the mass 2 */
    assert_true(perp_contact_friction_evaluate(&b.problem, &p).law == 1.0);
    /* y = 4 over 8 beside a slack of 1/8, over 1 + 0.25 + 0.375; the equation by 1/4, over 1 + 0.5 + 0.75 */
    y_l[0] = 0.0, v[2] = 0.375;
    assert_true(perp_contact_friction_evaluate(&b.problem, &p).law == 0.125 / 1.625);
    assert_true(perp_contact_friction_evaluate(&b.problem, &p).constraint == 0.25 / 2.25);
    v[2] = 2.0; /* slack beyond y / a: the multiplier is the smaller */
    assert_true(perp_contact_friction_evaluate(&b.problem, &p).law == 0.5 / 3.25);
}

/* A contact that leaves with 1e12 excuses neither a bound nor the balance of the other unknown. */
static void each_row_has_its_own_scale(void **state)
{
    (void)state;
    static bodies b;
    for (int power = 0; power <= 150; power += 10) {
        const double large = pow(10.0, power), force[2] = {1.0, large}, lower[2] = {2.0, -INFINITY};
        double v[2] = {0.0, large}, r[2] = {0.0, 0.0}, y_l[2] = {0.0, 0.0};
        const perp_convex_point p = {.x = v, .y = r, .y_lower = y_l};
        point_on_ground(&b, 2, 1.0, 0.0, force); /* v_y = large takes the large force up */
        b.system.lower = lower;
        const perp_contact_friction_residual residual = perp_contact_friction_evaluate(&b.problem, &p);
        assert_true(residual.balance == 0.5);   /* 1, over 1 + 1 */
        assert_true(residual.law == 2.0 / 3.0); /* v_x = 0 below its bound 2 */
    }
}

static void checked(void **state)
{
    (void)state;
    static bodies b;
    perp_error error = {0};
    const double force[3] = {0.0}, rays[9] = {0.0};
    const bool quadratic[1] = {false};
#define REFUSED(words, change)                                                                                         \
    do {                                                                                                               \
        point_on_ground(&b, 3, 1.0, 0.5, force);                                                                       \
        change;                                                                                                        \
        refused(PERP_STATUS_BAD_INPUT, perp_contact_friction_check(&b.problem, &error), &error, words);                \
    } while (0)
    REFUSED("has no system", b.problem.system = NULL);
    REFUSED("has no rays", b.system.rays = rays);
    REFUSED("has no quadratic", b.system.quadratic = quadratic);
    REFUSED("the problem has no mu", b.problem.mu = NULL);
    REFUSED("entry 0 of mu is nan", b.mu[0] = NAN);
    REFUSED("entry 0 of mu is inf", b.mu[0] = INFINITY);
    REFUSED("entry 0 of mu is -1", b.mu[0] = -1.0);
    REFUSED("entry 1 of offset is nan", b.offset[1] = NAN);
    REFUSED("contact 0 has 4 rows, not 1 to 3", b.row_start[1] = 4);
    const int fewer[2] = {0, 2};
    REFUSED("3 rows and 2 slacks", b.system.slack_start = fewer);
}

/* ---- conversions ---- */

/* The problem without bodies: W = H A^-1 H', q = w - H A^-1 f. Contacts get `dim` rows each; those that they do not
 * have are zeros. */
typedef struct reduced {
    double w[ROWS * ROWS], q[ROWS], mu[CONTACTS];
    perp_friction problem;
} reduced;

static void reduce(const bodies *b, reduced *d)
{
    const int n = b->system.n, contacts = b->system.contact_count;
    double a[DOFS * DOFS] = {0.0}, h[ROWS][DOFS] = {{0.0}}, moved[ROWS][DOFS];
    const double *entry = b->hessian;
    int dim = 2;
    memset(d, 0, sizeof *d);
    for (int i = 0; i < contacts; i++) {
        const int rows_here = b->row_start[i + 1] - b->row_start[i];
        dim = rows_here == 3 ? 3 : dim;
        d->mu[i] = rows_here == 1 ? 0.0 : b->mu[i];
    }
    for (int k = 0; k < b->system.block_count; k++) {
        for (int i = b->block_start[k]; i < b->block_start[k + 1]; i++) {
            for (int j = b->block_start[k]; j < b->block_start[k + 1]; j++) {
                a[i * n + j] = *entry++;
            }
        }
    }
    ASSERT_STATUS(PERP_STATUS_OK, perp_cholesky_factor(n, a, n, NULL));
    entry = b->jacobian;
    for (int i = 0; i < contacts; i++) {
        for (int row = b->row_start[i]; row < b->row_start[i + 1]; row++) {
            const int to = i * dim + row - b->row_start[i];
            for (int k = b->dof_start[i]; k < b->dof_start[i + 1]; k++) {
                h[to][b->dofs[k]] = *entry++;
            }
            d->q[to] = b->offset[row];
        }
    }
    const int rows = contacts * dim;
    for (int i = 0; i < rows; i++) {
        memcpy(moved[i], h[i], sizeof moved[i]);
        perp_cholesky_solve(n, a, n, moved[i]);
        for (int k = 0; k < n; k++) {
            d->q[i] -= moved[i][k] * b->g[k];
        }
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < rows; j++) {
            for (int k = 0; k < n; k++) {
                d->w[i * rows + j] += 0.5 * (h[i][k] * moved[j][k] + h[j][k] * moved[i][k]);
            }
        }
    }
    d->problem = (perp_friction){contacts, dim, d->w, d->q, d->mu};
}

typedef struct lifted {
    double factor[ROWS * ROWS], hessian[ROWS], g[ROWS], jacobian[ROWS * ROWS];
    int order[ROWS], block_start[ROWS + 1], row_start[CONTACTS + 1], dof_start[CONTACTS + 1], dofs[CONTACTS * ROWS];
    perp_friction_lift arrays;
    perp_contact_qp system;
    perp_contact_friction problem;
} lifted;

static perp_status lift(const perp_friction *p, lifted *l, perp_error *error)
{
    l->arrays = (perp_friction_lift){l->factor,    l->order,     l->block_start, l->hessian, l->g,
                                     l->row_start, l->dof_start, l->dofs,        l->jacobian};
    return perp_friction_as_contact_friction(p, &l->arrays, &l->system, &l->problem, error);
}

/* r with the rows that the conversion adds. */
static void pad(const bodies *b, int dim, const double *r, double *padded)
{
    for (int i = 0; i < b->system.contact_count; i++) {
        for (int k = 0; k < dim; k++) {
            const int row = b->row_start[i] + k;
            padded[i * dim + k] = row < b->row_start[i + 1] ? r[row] : 0.0;
        }
    }
}

/* v = H'r of a lifted problem, which has A = 1 and f = 0. */
static void lifted_motion(const lifted *l, const double *r, double *v)
{
    const double *entry = l->jacobian;
    for (int k = 0; k < l->system.n; k++) {
        v[k] = 0.0;
    }
    for (int i = 0; i < l->system.contact_count; i++) {
        for (int row = l->row_start[i]; row < l->row_start[i + 1]; row++) {
            for (int d = l->dof_start[i]; d < l->dof_start[i + 1]; d++) {
                v[l->dofs[d]] += *entry++ * r[row];
            }
        }
    }
}

/* The largest |H H' - W| of a lifted problem with A = 1. */
static double distance_of_lift(const perp_friction *p, const lifted *l)
{
    const int size = p->contacts * p->dim;
    static double dense[ROWS][ROWS];
    memset(dense, 0, sizeof dense);
    const double *entry = l->jacobian;
    for (int i = 0; i < p->contacts; i++) {
        for (int k = 0; k < p->dim; k++) {
            for (int d = l->dof_start[i]; d < l->dof_start[i + 1]; d++) {
                dense[i * p->dim + k][l->dofs[d]] = *entry++;
            }
        }
    }
    double largest = 0.0;
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) {
            double sum = -p->w[i * size + j];
            for (int k = 0; k < l->system.n; k++) {
                sum += dense[i][k] * dense[j][k];
            }
            largest = fmax(largest, fabs(sum));
        }
    }
    return largest;
}

/* A solution with bodies is one without, and with the bodies that W alone makes. Entries are near 1, and
 * condition numbers below 1e3: 1e-12 is what rounding leaves. */
static void solutions_are_shared(void **state)
{
    (void)state;
    static bodies b;
    static reduced d;
    static lifted l;
    uint64_t seed = 5;
    int ranks_below = 0, wrong = 0;
    for (int k = 0; k < 300; k++) {
        double v[DOFS], r[ROWS], padded[ROWS], u[ROWS], u_reduced[ROWS];
        perp_error error = {0};
        draw_bodies(&seed, k % 2 ? 3 : 2, &b, v, r);
        const perp_convex_point p = {.x = v, .y = r};
        ASSERT_STATUS(PERP_STATUS_OK, perp_contact_friction_check(&b.problem, &error));
        assert_near(perp_contact_friction_residual_largest(perp_contact_friction_evaluate(&b.problem, &p)), 0.0, 1e-14);

        reduce(&b, &d);
        ASSERT_STATUS(PERP_STATUS_OK, perp_friction_check(&d.problem, &error));
        pad(&b, d.problem.dim, r, padded);
        assert_near(perp_friction_residual(&d.problem, padded), 0.0, 1e-12);
        perp_contact_friction_velocity(&b.problem, v, u);
        perp_friction_velocity(&d.problem, padded, u_reduced);
        for (int i = 0; i < b.system.contact_count; i++) {
            for (int row = b.row_start[i]; row < b.row_start[i + 1]; row++) {
                assert_near(u_reduced[i * d.problem.dim + row - b.row_start[i]], u[row], 1e-12);
            }
        }

        ASSERT_STATUS(PERP_STATUS_OK, lift(&d.problem, &l, &error));
        ASSERT_STATUS(PERP_STATUS_OK, perp_contact_friction_check(&l.problem, &error));
        assert_near(distance_of_lift(&d.problem, &l), 0.0, 1e-13);
        assert_true(l.system.n <= b.system.n);
        ranks_below += l.system.n < d.problem.contacts * d.problem.dim;
        double lifted_v[ROWS];
        lifted_motion(&l, padded, lifted_v);
        const perp_convex_point in_lift = {.x = lifted_v, .y = padded};
        assert_near(perp_contact_friction_residual_largest(perp_contact_friction_evaluate(&l.problem, &in_lift)), 0.0,
                    1e-12);

        /* A force that is wrong is wrong by the same in both, as rho is the same. */
        padded[0] += 0.5;
        lifted_motion(&l, padded, lifted_v);
        const perp_contact_friction_residual off = perp_contact_friction_evaluate(&l.problem, &in_lift);
        wrong += off.law > 1e-3;
        perp_friction_velocity(&d.problem, padded, u_reduced);
        perp_contact_friction_velocity(&l.problem, lifted_v, u);
        for (int i = 0; i < d.problem.contacts; i++) {
            const int dim = d.problem.dim, size = d.problem.contacts * dim;
            const double own = d.problem.w[i * dim * (size + 1)], weight = own > 0.0 ? own : 1.0;
            const double *force = padded + i * dim;
            assert_near(perp_friction_law(dim, d.problem.mu[i], weight, force, u + i * dim),
                        perp_friction_law(dim, d.problem.mu[i], weight, force, u_reduced + i * dim), 1e-12);
        }
    }
    assert_true(ranks_below > 100 && wrong > 250); /* of some 0.5 is hardly felt, W_nn being small */
}

static void conversions_refuse(void **state)
{
    (void)state;
    static lifted l;
    perp_error error = {0};
    const double q[2] = {0.0, 0.0}, mu[1] = {0.5}, skew[4] = {1.0, 0.5, 0.0, 1.0}, saddle[4] = {1.0, 2.0, 2.0, 1.0};
    const double swap[4] = {0.0, 1.0, 1.0, 0.0}, zero[4] = {0.0, 0.0, 0.0, 0.0};
    refused(PERP_STATUS_BAD_INPUT, lift(&(perp_friction){1, 2, skew, q, mu}, &l, &error), &error, "not symmetric");
    refused(PERP_STATUS_BAD_INPUT, lift(&(perp_friction){1, 2, saddle, q, mu}, &l, &error), &error, "semidefinite");
    refused(PERP_STATUS_BAD_INPUT, lift(&(perp_friction){1, 2, swap, q, mu}, &l, &error), &error, "semidefinite");
    ASSERT_STATUS(PERP_STATUS_OK, lift(&(perp_friction){1, 2, zero, q, mu}, &l, &error));
    assert_true(l.system.n == 0);
    ASSERT_STATUS(PERP_STATUS_OK, perp_contact_friction_check(&l.problem, &error));
}

/* A wedge between two walls, planar, pressed down by 2 onto walls at 45 degrees. Without friction each carries sqrt 2;
 * with it the forces are not unique: what the tangents carry the normals need not. */
static void wedge(void **state)
{
    (void)state;
    static bodies b;
    static reduced d;
    memset(&b, 0, sizeof b);
    const double s = sqrt(0.5);
    const double jacobian[8] = {s, s, s, -s, -s, s, -s, -s}; /* contact 0: n = (s, s), t = (s, -s); 1 mirrored */
    memcpy(b.jacobian, jacobian, sizeof jacobian);
    b.block_start[1] = 2, b.row_start[1] = b.dof_start[1] = 2, b.row_start[2] = b.dof_start[2] = 4;
    b.dofs[1] = b.dofs[3] = 1, b.hessian[0] = b.hessian[3] = 3.0, b.g[1] = 2.0;
    bodies_finish(&b, 2, 1, 2);
    double v[2] = {0.0, 0.0}, frictionless[4] = {2.0 * s, 0.0, 2.0 * s, 0.0};
    perp_convex_point p = {.x = v, .y = frictionless};
    assert_near(perp_contact_friction_residual_largest(perp_contact_friction_evaluate(&b.problem, &p)), 0.0, 1e-15);
    b.mu[0] = b.mu[1] = 0.5;
    reduce(&b, &d);
    for (int k = 0; k < 5; k++) { /* from one limit of friction to the other: s (fn - ft) = 1 at each wall */
        const double t = -0.5 + 0.25 * k, fn = 2.0 * s / (1.0 - t), wedged[4] = {fn, t * fn, fn, t * fn};
        assert_near(perp_friction_residual(&d.problem, wedged), 0.0, 1e-15);
    }
    const double beyond[4] = {2.0 * s / 0.4, 0.6 * 2.0 * s / 0.4, 2.0 * s / 0.4, 0.6 * 2.0 * s / 0.4};
    assert_true(perp_friction_residual(&d.problem, beyond) > 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(without_inertia_and_with_bounds),
        cmocka_unit_test(each_row_has_its_own_scale),
        cmocka_unit_test(checked),
        cmocka_unit_test(solutions_are_shared),
        cmocka_unit_test(conversions_refuse),
        cmocka_unit_test(wedge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
