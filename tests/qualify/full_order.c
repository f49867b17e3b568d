#include "full_order.h"

#include <perp/base.h>

#include <math.h>
#include <string.h>

/* Unknowns: displacements of the centres and turns, six by body; what a planar scene does not have is held. */
enum { SIZE = FULL_DOFS + FULL_HELD + 6 * FULL_BODIES };

static const double SMALL = 1e-14; /* e: what bodies do by themselves takes 1e7 times as long */

typedef struct motion {
    double q[FULL_DOFS], v[FULL_DOFS];
} motion;

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = a[i] * b[j] - a[j] * b[i];
    }
}

static double dot(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++) {
        sum += a[k] * b[k];
    }
    return sum;
}

/* Where a place of a body has gone, to second order of the turn. */
static void displace(const double *q, const double place[3], double out[3])
{
    double once[3], twice[3];
    cross(q + 3, place, once);
    cross(q + 3, once, twice);
    for (int k = 0; k < 3; k++) {
        out[k] = q[k] + once[k] + 0.5 * twice[k];
    }
}

/* The row of a direction at a place of a body that has turned by q. */
static void row_of(int body, const double *q, const double place[3], const double direction[3], double row[FULL_DOFS])
{
    double turned[3], once[3], moment[3];
    cross(q + 3, place, once);
    for (int k = 0; k < 3; k++) {
        turned[k] = place[k] + once[k];
    }
    cross(turned, direction, moment);
    memset(row, 0, FULL_DOFS * sizeof *row);
    memcpy(row + 6 * body, direction, 3 * sizeof *row);
    memcpy(row + 6 * body + 3, moment, sizeof moment);
}

/* ---- accelerations ----------------------------------------------------------------------------------------------- */

static bool solve(int n, double a[SIZE][SIZE], double *b)
{
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++) {
            pivot = fabs(a[i][k]) > fabs(a[pivot][k]) ? i : pivot;
        }
        if (fabs(a[pivot][k]) < 1e-12) {
            return false;
        }
        for (int j = 0; j < n; j++) {
            const double other = a[k][j];
            a[k][j] = a[pivot][j];
            a[pivot][j] = other;
        }
        const double other = b[k];
        b[k] = b[pivot];
        b[pivot] = other;
        for (int i = k + 1; i < n; i++) {
            const double factor = a[i][k] / a[k][k];
            for (int j = k; j < n && factor != 0.0; j++) {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) {
            b[k] -= a[k][j] * b[j];
        }
        b[k] /= a[k][k];
    }
    return true;
}

/* Rows of what is held: the plane, the pin, rigid tangents (with `all` those of springs too). */
static int held_rows(const full_model *m, const double *q, bool all, double rows[][FULL_DOFS])
{
    int count = 0;
    for (int i = 0; i < m->body_count; i++) {
        for (int k = 2; k < 5 && m->planar; k++) {
            memset(rows[count], 0, sizeof rows[count]);
            rows[count++][6 * i + k] = 1.0;
        }
    }
    for (int k = 0; k < 2 && m->pinned; k++) {
        const double direction[3] = {k == 0, k == 1, 0.0};
        double other[FULL_DOFS];
        row_of(0, q, m->pin[0], direction, rows[count]);
        row_of(1, q + 6, m->pin[1], direction, other);
        for (int j = 0; j < FULL_DOFS; j++) {
            rows[count][j] -= other[j];
        }
        count++;
    }
    for (int i = 0; i < m->contact_count; i++) {
        const full_contact *c = &m->contacts[i];
        const bool holds = c->kind == FULL_ROLLS_RIGID || (all && c->kind == FULL_ROLLS);
        for (int k = 0; k < (m->planar ? 1 : 2) && holds; k++) {
            row_of(c->body, q + 6 * c->body, c->place, c->tangent[k], rows[count++]);
        }
    }
    return count;
}

/* M a = force + H' y, H a = 0. */
static bool accelerate(const full_model *m, const double *q, bool all, const double *force, double *a)
{
    double matrix[SIZE][SIZE] = {{0.0}}, right[SIZE] = {0.0}, rows[SIZE][FULL_DOFS];
    const int n = 6 * m->body_count, held = held_rows(m, q, all, rows);
    for (int i = 0; i < m->body_count; i++) {
        for (int k = 0; k < 6; k++) {
            matrix[6 * i + k][6 * i + k] = k < 3 ? m->mass[i] : m->inertia[i][k - 3];
        }
    }
    for (int r = 0; r < held; r++) {
        for (int k = 0; k < n; k++) {
            matrix[n + r][k] = matrix[k][n + r] = rows[r][k];
        }
    }
    memcpy(right, force, (size_t)n * sizeof *right);
    const bool solved = solve(n + held, matrix, right);
    memcpy(a, right, (size_t)n * sizeof *a);
    return solved;
}

/* force += a contact's with normal force fn and, where it rolls, tangential force ft. */
static void add_force(const full_model *m, const full_contact *c, const double *q, double fn, const double ft[2],
                      double *force)
{
    double row[FULL_DOFS];
    row_of(c->body, q + 6 * c->body, c->place, c->normal, row);
    for (int j = 0; j < FULL_DOFS; j++) {
        force[j] += fn * row[j];
    }
    for (int k = 0; k < (m->planar ? 1 : 2); k++) {
        const double along = c->kind == FULL_SLIDES ? -c->mu * fn * c->slip[k] : ft[k];
        row_of(c->body, q + 6 * c->body, c->place, c->tangent[k], row);
        for (int j = 0; j < FULL_DOFS; j++) {
            force[j] += along * row[j];
        }
    }
}

void full_order_push(const full_model *m, double d[FULL_CONTACTS][FULL_CONTACTS])
{
    static const double rest[FULL_DOFS], none[2];
    for (int k = 0; k < m->contact_count; k++) {
        double force[FULL_DOFS] = {0.0}, a[FULL_DOFS], row[FULL_DOFS];
        add_force(m, &m->contacts[k], rest, 1.0, none, force);
        accelerate(m, rest, true, force, a);
        for (int i = 0; i < m->contact_count; i++) {
            row_of(m->contacts[i].body, rest, m->contacts[i].place, m->contacts[i].normal, row);
            d[i][k] = dot(6 * m->body_count, row, a);
        }
    }
}

/* All forces of contacts in equilibrium. A tangential force that a rigid contact holds is held by its row. */
static void equilibrium_force(const full_model *m, double *force)
{
    static const double rest[FULL_DOFS];
    memset(force, 0, FULL_DOFS * sizeof *force);
    for (int i = 0; i < m->contact_count; i++) {
        add_force(m, &m->contacts[i], rest, m->contacts[i].fn, m->contacts[i].ft, force);
    }
}

void full_order_load(const full_model *m, int i, double force[3], double moment[3])
{
    double all[FULL_DOFS];
    equilibrium_force(m, all);
    for (int k = 0; k < 3; k++) {
        force[k] = -all[6 * i + k];
        moment[k] = -all[6 * i + 3 + k];
    }
}

/* ---- in time ----------------------------------------------------------------------------------------------------- */

typedef struct run {
    const full_model *m;
    double scale, load[FULL_DOFS]; /* of dampers; what keeps the equilibrium */
} run;

/* Deformation and its rate along a direction of a contact. */
static void stretch(const full_contact *c, const motion *x, const double direction[3], double *length, double *rate)
{
    double moved[3], row[FULL_DOFS];
    displace(x->q + 6 * c->body, c->place, moved);
    row_of(c->body, x->q + 6 * c->body, c->place, direction, row);
    *length = dot(3, moved, direction);
    *rate = dot(FULL_DOFS, row, x->v);
}

static bool rates(const run *r, const motion *x, motion *out)
{
    const full_model *m = r->m;
    const double soft = 1.0 / SMALL, slow = r->scale / sqrt(SMALL);
    double force[FULL_DOFS], length, rate;
    memcpy(force, r->load, sizeof force);
    for (int i = 0; i < m->contact_count; i++) {
        const full_contact *c = &m->contacts[i];
        double ft[2] = {c->ft[0], c->ft[1]};
        stretch(c, x, c->normal, &length, &rate);
        const double fn = c->fn - soft * c->stiffness[0] * length - slow * c->damping[0] * rate;
        for (int k = 0; k < 2 && c->kind == FULL_ROLLS; k++) {
            stretch(c, x, c->tangent[k], &length, &rate);
            ft[k] -= soft * c->stiffness[1] * length + slow * c->damping[1] * rate;
        }
        add_force(m, c, x->q, fn, ft, force);
    }
    memcpy(out->q, x->v, sizeof out->q);
    memset(out->v, 0, sizeof out->v);
    return accelerate(m, x->q, false, force, out->v);
}

static void add(const motion *x, double h, const motion *d, motion *out)
{
    for (int k = 0; k < FULL_DOFS; k++) {
        out->q[k] = x->q[k] + h * d->q[k];
        out->v[k] = x->v[k] + h * d->v[k];
    }
}

static bool step(const run *r, double h, motion *x)
{
    motion k[4], at;
    bool good = rates(r, x, &k[0]);
    add(x, 0.5 * h, &k[0], &at);
    good = good && rates(r, &at, &k[1]);
    add(x, 0.5 * h, &k[1], &at);
    good = good && rates(r, &at, &k[2]);
    add(x, h, &k[2], &at);
    good = good && rates(r, &at, &k[3]);
    add(x, h / 6.0, &k[0], x);
    add(x, h / 3.0, &k[1], x);
    add(x, h / 3.0, &k[2], x);
    add(x, h / 6.0, &k[3], x);
    return good;
}

/* How far contacts are from equilibrium: deformations, and what their rates make of them in a time of 1 / speed. */
static double size_of(const run *r, const motion *x, double speed)
{
    const full_model *m = r->m;
    double sum = 0.0, length, rate;
    for (int i = 0; i < m->contact_count; i++) {
        const full_contact *c = &m->contacts[i];
        stretch(c, x, c->normal, &length, &rate);
        sum += length * length + rate * rate / (speed * speed);
        for (int k = 0; k < (m->planar ? 1 : 2) && c->kind == FULL_ROLLS; k++) {
            stretch(c, x, c->tangent[k], &length, &rate);
            sum += length * length + rate * rate / (speed * speed);
        }
    }
    return sqrt(sum);
}

/* Of the stiffest that a push at a contact can be, rad/s; a bound, from the largest accelerations. */
static double speed_of(const full_model *m, double scale)
{
    double largest = 0.0;
    for (int i = 0; i < m->contact_count; i++) {
        const full_contact *c = &m->contacts[i];
        const double mass = m->mass[c->body], *j = m->inertia[c->body];
        const double arm = dot(3, c->place, c->place), j_least = fmin(j[0], fmin(j[1], j[2]));
        const double light = (1.0 + c->mu) * (1.0 / mass + arm / j_least);
        const double damped = scale * fmax(c->damping[0], c->damping[1]) * light;
        largest += light * fmax(c->stiffness[0], c->stiffness[1]) + damped * damped;
    }
    return sqrt(largest / SMALL);
}

/* Some disturbance of every body that what is held allows. */
static bool disturb(const full_model *m, double speed, unsigned seed, motion *x)
{
    static const double rest[FULL_DOFS];
    perp_random random = {seed};
    double push[2][FULL_DOFS], *to[2] = {x->q, x->v};
    for (int part = 0; part < 2; part++) {
        for (int k = 0; k < FULL_DOFS; k++) {
            push[part][k] = perp_random_uniform(&random, -1.0, 1.0);
        }
        if (!accelerate(m, rest, false, push[part], to[part])) {
            return false;
        }
        for (int k = 0; k < FULL_DOFS; k++) {
            to[part][k] *= 0.01 * SMALL * (part == 0 ? 1.0 : speed);
        }
    }
    return true;
}

full_fate full_order_run(const full_model *m, double scale, unsigned seed)
{
    enum { STEPS = 120000 };
    run r = {.m = m, .scale = scale};
    motion x = {{0.0}, {0.0}};
    const double speed = speed_of(m, scale), h = 0.5 / speed;
    equilibrium_force(m, r.load);
    for (int k = 0; k < FULL_DOFS; k++) {
        r.load[k] = -r.load[k];
    }
    if (!disturb(m, speed, seed, &x)) {
        return FULL_UNDECIDED;
    }
    const double before = size_of(&r, &x, speed);
    for (int i = 0; i < STEPS; i++) {
        if (!step(&r, h, &x)) {
            return FULL_UNDECIDED;
        }
        const double now = i % 16 == 0 ? size_of(&r, &x, speed) / before : 1.0;
        if (now > 1e3 || now < 1e-4) {
            return now > 1.0 ? FULL_GROWS : FULL_DECAYS;
        }
    }
    return FULL_UNDECIDED;
}
