#include "certificate_solvers.h"

#include "linalg/dense.h"

#include <math.h>
#include <string.h>

enum { LONG = 60, POLISH = 25 };

static const double TURN = 6.283185307179586476925;

/* ---- Newton ------------------------------------------------------------------------------------------------------ */

typedef struct newton {
    const judged_problem *p;
    int size;
    double residual[JUDGED_SIZE], jacobian[JUDGED_SIZE][JUDGED_SIZE];
    double normal[JUDGED_SIZE * JUDGED_SIZE], step[JUDGED_SIZE];
} newton;

/* Of a contact's residuals by its force and by u: central differences of a function of six numbers, which is piecewise
 * smooth. */
static void differentiate_contact(newton *m, const judged_contact *c, const double *z)
{
    const judged_problem *p = m->p;
    const double *r = z + p->n + c->row;
    double u[3];
    judged_slip(p, c, z, u);
    for (int k = 0; k < 2 * c->rows; k++) {
        double ends[2][3] = {{0.0}}, force[3] = {r[0], c->rows > 1 ? r[1] : 0.0, c->rows > 2 ? r[2] : 0.0};
        double slip[3] = {u[0], u[1], u[2]};
        double *changed = k < c->rows ? &force[k] : &slip[k - c->rows], before = *changed;
        const double by = 1e-7 * (1e-3 + fabs(before));
        for (int side = 0; side < 2; side++) {
            *changed = before + (side == 0 ? by : -by);
            judged_contact_law(p, c, force, slip, ends[side]);
        }
        for (int row = 0; row < c->rows; row++) {
            const double slope = (ends[0][row] - ends[1][row]) / (2.0 * by);
            double *to = m->jacobian[p->n + c->row + row];
            if (k < c->rows) {
                to[p->n + c->row + k] += slope;
            }
            for (int j = 0; j < p->n && k >= c->rows; j++) {
                to[j] += slope * p->J[c->row + k - c->rows][j];
            }
        }
    }
}

static void differentiate(newton *m, const judged_point *point)
{
    const judged_problem *p = m->p;
    const int rows = p->n, loops = p->n + p->rows, limits = loops + p->equations;
    memset(m->jacobian, 0, sizeof m->jacobian);
    for (int k = 0; k < p->n; k++) {
        memcpy(m->jacobian[k], p->A[k], (size_t)p->n * sizeof(double));
        for (int i = 0; i < p->rows; i++) {
            m->jacobian[k][rows + i] = -p->J[i][k];
        }
        for (int i = 0; i < p->equations; i++) {
            m->jacobian[k][loops + i] = -p->C[i][k];
            m->jacobian[loops + i][k] = p->C[i][k];
        }
    }
    for (int i = 0; i < p->limited; i++) {
        const int k = p->limit_of[i];
        const double at = point->z[k] - point->z[limits + i];
        const bool within = at > p->lower[k] && at < p->upper[k];
        m->jacobian[k][limits + i] = -1.0;
        m->jacobian[limits + i][within ? limits + i : k] = 1.0;
    }
    for (int i = 0; i < p->contact_count; i++) {
        differentiate_contact(m, &p->contacts[i], point->z);
    }
}

/* (J'J + damping I) step = -J'residual. */
static bool find_step(newton *m, double damping)
{
    const int n = m->size;
    int row;
    for (int i = 0; i < n; i++) {
        m->step[i] = 0.0;
        for (int k = 0; k < n; k++) {
            m->step[i] -= m->jacobian[k][i] * m->residual[k];
        }
        for (int j = 0; j <= i; j++) {
            double sum = i == j ? damping : 0.0;
            for (int k = 0; k < n; k++) {
                sum += m->jacobian[k][i] * m->jacobian[k][j];
            }
            m->normal[i * n + j] = m->normal[j * n + i] = sum;
        }
    }
    if (perp_cholesky_factor(n, m->normal, n, &row) != PERP_STATUS_OK) {
        return false;
    }
    perp_cholesky_solve(n, m->normal, n, m->step);
    return true;
}

static double square_of(const newton *m)
{
    double sum = 0.0;
    for (int i = 0; i < m->size; i++) {
        sum += m->residual[i] * m->residual[i];
    }
    return sum;
}

static bool run_newton(const judged_problem *p, int most, judged_point *point)
{
    newton m = {.p = p, .size = judged_size(p)};
    double damping = 1e-2, worst = judged_residual(p, point, m.residual), square = square_of(&m);
    for (int i = 0; i < most && worst > 1e-3 * JUDGED_SOLVED; i++) {
        judged_point next = *point;
        differentiate(&m, point);
        if (!find_step(&m, damping * fmin(1.0, worst) + 1e-15)) {
            damping *= 10.0;
            continue;
        }
        for (int k = 0; k < m.size; k++) {
            next.z[k] += m.step[k];
        }
        const double then = judged_residual(p, &next, m.residual), lower = square_of(&m);
        if (lower < square) {
            const bool slow = lower > 0.25 * square;
            *point = next;
            worst = then;
            square = lower;
            damping = fmax(slow ? damping : 0.1 * damping, 1e-10);
        } else if (damping > 1e8) {
            break;
        } else {
            judged_residual(p, point, m.residual);
            damping = 4.0 * fmax(damping, 1e-6);
        }
    }
    double largest = 0.0;
    for (int k = 0; k < m.size; k++) {
        largest = fmax(largest, fabs(point->z[k]));
    }
    return worst <= JUDGED_SOLVED && largest <= JUDGED_LARGEST;
}

/* ---- starts ------------------------------------------------------------------------------------------------------ */

static void draw(const judged_problem *p, const judged_point *near, perp_random *random, judged_point *point)
{
    const double motion = pow(10.0, perp_random_uniform(random, -5.0, 0.5));
    const double force = pow(10.0, perp_random_uniform(random, -2.0, 1.0));
    const bool from_near = near && perp_random_uniform(random, 0.0, 1.0) < 0.5;
    memset(point, 0, sizeof *point);
    for (int k = 0; k < judged_size(p); k++) {
        point->z[k] = from_near ? near->z[k] : 0.0;
        point->z[k] += (k < p->n ? motion : force) * perp_random_uniform(random, -1.0, 1.0);
    }
    for (int i = 0; i < p->contact_count; i++) {
        double *r = point->z + p->n + p->contacts[i].row;
        r[0] = perp_random_uniform(random, 0.0, 1.0) < 0.3 ? 0.0 : fabs(r[0]);
    }
}

/* ---- by modes ---------------------------------------------------------------------------------------------------- */

/* OPEN: no force. STICK: u = 0. SLIDE: r_t = mu r_n (direction), which is turned against the slip. */
typedef enum mode { OPEN, STICK, SLIDE, MODES } mode;
typedef struct chosen {
    mode mode;
    double direction[2];
} chosen;

static void turn(const judged_problem *p, const judged_contact *c, const double *z, chosen *m)
{
    double u[3];
    judged_slip(p, c, z, u);
    const double size = hypot(u[1], u[2]);
    if (m->mode == SLIDE && c->corners == 0 && size > 1e-12) {
        m->direction[0] = -u[1] / size;
        m->direction[1] = -u[2] / size;
    }
}

/* Rows of a contact's mode: equations in x and r. */
static void fill_mode(const judged_problem *p, const judged_contact *c, const chosen *m, double row[][JUDGED_SIZE],
                      double *right)
{
    for (int k = 0; k < c->rows; k++) {
        const int at = c->row + k;
        memset(row[k], 0, sizeof row[k]);
        right[k] = 0.0;
        const bool moves = m->mode == STICK || (m->mode == SLIDE && k == 0);
        if (!moves) {
            row[k][p->n + at] = 1.0;
            row[k][p->n + c->row] -= m->mode == SLIDE ? c->mu * m->direction[k - 1] : 0.0;
            continue;
        }
        right[k] = -p->w[at];
        memcpy(row[k], p->J[at], (size_t)p->n * sizeof(double));
        for (int q = 1; q < c->rows && p->convex && m->mode == SLIDE; q++) { /* u_n + mu d . u_t = 0 */
            right[k] -= c->mu * m->direction[q - 1] * p->w[c->row + q];
            for (int j = 0; j < p->n; j++) {
                row[k][j] += c->mu * m->direction[q - 1] * p->J[c->row + q][j];
            }
        }
    }
}

/* The point nearest to `point` that solves the equations of the modes, by damped normal equations and two steps of
 * refinement. */
static bool solve_modes(const judged_problem *p, const chosen *modes, const int *limits, judged_point *point)
{
    newton m = {.p = p, .size = judged_size(p)};
    const int n = m.size, rows = p->n, at_loops = rows + p->rows, at_limits = at_loops + p->equations;
    double right[JUDGED_SIZE] = {0.0};
    differentiate(&m, point);
    for (int k = 0; k < p->n; k++) {
        right[k] = -p->g[k];
    }
    for (int i = 0; i < p->contact_count; i++) {
        const int at = rows + p->contacts[i].row;
        fill_mode(p, &p->contacts[i], &modes[i], m.jacobian + at, right + at);
    }
    for (int i = 0; i < p->equations; i++) {
        right[at_loops + i] = p->d[i];
    }
    for (int i = 0; i < p->limited; i++) {
        const int k = p->limit_of[i];
        const double bound = limits[i] == 0 ? p->lower[k] : p->upper[k];
        const bool held = limits[i] < 2 && isfinite(bound);
        memset(m.jacobian[at_limits + i], 0, sizeof m.jacobian[0]);
        m.jacobian[at_limits + i][held ? k : at_limits + i] = 1.0;
        right[at_limits + i] = held ? bound : 0.0;
    }
    for (int pass = 0; pass < 3; pass++) {
        for (int k = 0; k < n; k++) {
            m.residual[k] = -right[k];
            for (int j = 0; j < n; j++) {
                m.residual[k] += m.jacobian[k][j] * point->z[j];
            }
        }
        if (!find_step(&m, 1e-12)) {
            return false;
        }
        for (int k = 0; k < n; k++) {
            point->z[k] += m.step[k];
        }
    }
    return true;
}

static bool solve_by_modes(const judged_problem *p, perp_random *random, judged_point *point)
{
    chosen modes[JUDGED_CONTACTS] = {0};
    int limits[JUDGED_DOFS];
    for (int i = 0; i < p->contact_count; i++) {
        const judged_contact *c = &p->contacts[i];
        modes[i].mode = (mode)(perp_random_bits(random) % (c->rows > 1 ? MODES : SLIDE));
        const double angle = perp_random_uniform(random, 0.0, TURN);
        const int corner = c->corners > 0 ? (int)(perp_random_bits(random) % (uint64_t)c->corners) : 0;
        modes[i].direction[0] = c->corners > 0 ? c->corner[corner][0] : cos(angle);
        modes[i].direction[1] = c->corners > 0 ? c->corner[corner][1] : sin(angle);
    }
    for (int i = 0; i < p->limited; i++) {
        limits[i] = (int)(perp_random_bits(random) % 4); /* free twice as often */
    }
    for (int pass = 0; pass < 4; pass++) {
        if (!solve_modes(p, modes, limits, point)) {
            return false;
        }
        for (int i = 0; i < p->contact_count; i++) {
            turn(p, &p->contacts[i], point->z, &modes[i]);
        }
    }
    return run_newton(p, POLISH, point);
}

/* ---- proximal ---------------------------------------------------------------------------------------------------- */

static bool solve_proximal(const judged_problem *p, perp_random *random, judged_point *point)
{
    const double weight = pow(10.0, perp_random_uniform(random, -2.0, 0.5));
    newton m = {.p = p, .size = judged_size(p)};
    for (int i = 0; i < 40; i++) {
        judged_residual(p, point, m.residual);
        for (int k = 0; k < m.size; k++) {
            point->z[k] -= weight * m.residual[k] / (k < p->n ? 1.0 + p->A[k][k] : 1.0);
        }
    }
    return run_newton(p, LONG, point);
}

bool judged_solve(const judged_problem *p, judged_solver solver, const judged_point *near, perp_random *random,
                  judged_point *point)
{
    draw(p, near, random, point);
    switch (solver) {
    case JUDGED_NEWTON:
        return run_newton(p, LONG, point);
    case JUDGED_MODES:
        return solve_by_modes(p, random, point);
    case JUDGED_PROXIMAL:
        return solve_proximal(p, random, point);
    case JUDGED_SOLVERS:
        break;
    }
    return false;
}
