#include "lcp_test.h"

typedef struct contacts {
    perp_random random;
    bool planar, proven;
    int count, directions, bodies, dof; /* dof per body */
    double *jacobian;                   /* (count + count * directions) x bodies * dof: normals, then tangents */
    double *mu, *gap_over_h, *inverse_mass, *velocity;
} contacts;

static double uniform(contacts *s, double low, double high)
{
    return perp_random_uniform(&s->random, low, high);
}

static bool chance(contacts *s, double probability)
{
    return uniform(s, 0.0, 1.0) < probability;
}

static int below(contacts *s, int count)
{
    return (int)uniform(s, 0.0, (double)count);
}

static double *jacobian_row(contacts *s, int contact, int direction) /* -1: normal */
{
    const int row = direction < 0 ? contact : s->count + contact * s->directions + direction;
    return s->jacobian + row * s->bodies * s->dof;
}

static void duplicate(contacts *s, int contact)
{
    const int of = below(s, contact);
    for (int d = -1; d < s->directions; d++) {
        memcpy(jacobian_row(s, contact, d), jacobian_row(s, of, d), (size_t)(s->bodies * s->dof) * sizeof(double));
    }
    s->mu[contact] = chance(s, 0.5) ? s->mu[of] : uniform(s, 0.0, 2.0);
    s->gap_over_h[contact] = s->gap_over_h[of];
}

/* sign times the row of a force along `direction` at `point`, both in world axes, the body's centre as origin. */
static void add_force(const contacts *s, double *row, int body, double sign, perp_vec3 direction, perp_vec3 point)
{
    const perp_vec3 torque = perp_vec3_cross(point, direction);
    const double planar[3] = {direction.x, direction.y, torque.z};
    const double spatial[6] = {direction.x, direction.y, direction.z, torque.x, torque.y, torque.z};
    for (int k = 0; k < s->dof; k++) {
        row[body * s->dof + k] += sign * (s->planar ? planar[k] : spatial[k]);
    }
}

static perp_vec3 random_point(contacts *s)
{
    const bool corner = chance(s, 0.5); /* corners of boxes: exactly equal and opposite arms, hence ties */
    double x[3];
    for (int k = 0; k < 3; k++) {
        x[k] = uniform(s, -1.0, 1.0);
        x[k] = corner ? copysign(0.5, x[k]) : x[k];
    }
    return perp_vec3_make(x[0], x[1], s->planar ? 0.0 : x[2]);
}

static perp_vec3 random_normal(contacts *s)
{
    if (chance(s, 0.4)) { /* floors and ceilings: wedges */
        return perp_vec3_make(0.0, chance(s, 0.8) ? 1.0 : -1.0, 0.0);
    }
    const double angle = uniform(s, 0.0, 6.28), z = s->planar ? 0.0 : uniform(s, -1.0, 1.0), r = sqrt(1.0 - z * z);
    return perp_vec3_make(r * cos(angle), r * sin(angle), z);
}

static void place(contacts *s, int contact)
{
    const int a = below(s, s->bodies);
    int b = chance(s, 0.5) ? -1 : below(s, s->bodies); /* -1: the world */
    b = b == a ? -1 : b;
    const perp_vec3 normal = random_normal(s), at_a = random_point(s), at_b = random_point(s);
    perp_vec3 t = perp_vec3_make(normal.y, -normal.x, 0.0), o = perp_vec3_make(0.0, 0.0, 0.0);
    if (!s->planar) {
        perp_tangents(normal, &t, &o);
    }
    for (int d = -1; d < s->directions; d++) {
        const double angle = 6.283185307179586 * d / s->directions;
        const perp_vec3 tangent = s->planar ? perp_vec3_scale(d ? -1.0 : 1.0, t)
                                            : perp_vec3_add_scaled(perp_vec3_scale(cos(angle), t), sin(angle), o);
        const perp_vec3 direction = d < 0 ? normal : tangent;
        add_force(s, jacobian_row(s, contact, d), a, 1.0, direction, at_a);
        if (b >= 0) {
            add_force(s, jacobian_row(s, contact, d), b, -1.0, direction, at_b);
        }
    }
    const double kind = uniform(s, 0.0, 1.0);
    s->mu[contact] = kind < 0.1 ? 0.0 : (kind < 0.3 ? 0.5 : uniform(s, 0.0, 2.0));
    s->gap_over_h[contact] = chance(s, 0.5) ? 0.0 : uniform(s, s->proven ? 0.0 : -0.5, 0.5);
}

static void make_bodies(contacts *s)
{
    const double spread = chance(s, 0.3) ? 3.0 : (chance(s, 0.5) ? 1.0 : 0.0);
    const bool resting = chance(s, 0.4);
    for (int b = 0; b < s->bodies; b++) {
        const double mass = pow(10.0, uniform(s, -spread, spread)), size = uniform(s, 0.1, 1.0);
        for (int k = 0; k < s->dof; k++) {
            const bool linear = k < (s->planar ? 2 : 3);
            s->inverse_mass[b * s->dof + k] = 1.0 / (linear ? mass : mass * size * size * uniform(s, 0.2, 0.6));
            s->velocity[b * s->dof + k] = (resting ? 0.0 : uniform(s, -1.0, 1.0)) - (k == 1 ? 0.0981 : 0.0);
        }
    }
}

/* [Jn A Jn', Jn A Jd', 0; Jd A Jn', Jd A Jd', E; mu, -E', 0] with A the inverse masses */
static case_of assemble(const contacts *s)
{
    const int forces = s->count * (1 + s->directions), n = forces + s->count, nv = s->bodies * s->dof;
    case_of c = new_case(n);
    for (int i = 0; i < forces; i++) {
        const double *a = s->jacobian + i * nv;
        for (int j = 0; j < forces; j++) {
            for (int k = 0; k < nv; k++) {
                c.m[i * n + j] += a[k] * s->inverse_mass[k] * s->jacobian[j * nv + k];
            }
        }
        for (int k = 0; k < nv; k++) {
            c.q[i] += a[k] * s->velocity[k];
        }
        c.q[i] += i < s->count ? s->gap_over_h[i] : 0.0;
    }
    for (int i = 0; i < s->count; i++) {
        const int cone = forces + i;
        c.m[cone * n + i] = s->mu[i];
        for (int d = 0; d < s->directions; d++) {
            const int tangent = s->count + i * s->directions + d;
            c.m[cone * n + tangent] = -1.0;
            c.m[tangent * n + cone] = 1.0;
        }
    }
    return c;
}

case_of contact_lcp(uint64_t seed, int size, bool proven)
{
    contacts s = {.random = {seed * 7919 + 13}, .proven = proven};
    s.planar = chance(&s, 0.5);
    s.directions = s.planar ? 2 : (chance(&s, 0.5) ? 4 : 8);
    s.dof = s.planar ? 3 : 6;
    s.count = size / (s.directions + 2) > 0 ? size / (s.directions + 2) : 1;
    s.bodies = 1 + below(&s, 1 + s.count / 2);
    const size_t nv = (size_t)(s.bodies * s.dof), count = (size_t)s.count;
    s.jacobian = calloc(count * (size_t)(1 + s.directions) * nv, sizeof(double));
    s.mu = calloc(count, sizeof(double));
    s.gap_over_h = calloc(count, sizeof(double));
    s.inverse_mass = calloc(nv, sizeof(double));
    s.velocity = calloc(nv, sizeof(double));
    assert_true(s.jacobian && s.mu && s.gap_over_h && s.inverse_mass && s.velocity);
    make_bodies(&s);
    for (int i = 0; i < s.count; i++) {
        if (i > 0 && chance(&s, 0.2)) {
            duplicate(&s, i);
        } else {
            place(&s, i);
        }
    }
    const case_of c = assemble(&s);
    free(s.jacobian);
    free(s.mu);
    free(s.gap_over_h);
    free(s.inverse_mass);
    free(s.velocity);
    return c;
}
