/* Coulomb problems by Lemke's method: circles become polygons, Stewart and Trinkle's way, which is a mixed linear
 * complementarity problem in the forces alone, with v = P (H'r - f) of friction_bodies.c:
 *
 *     0 <= u_N                    _|_  r_N >= 0
 *     0 <= D'u_T + lambda         _|_  beta >= 0,     r_T = D beta
 *     0 <= r_N - sum beta         _|_  lambda >= 0
 *     C v - d = 0                      y free         (equations of several unknowns)
 *
 * in the scaled problem, where mu is 1. Where A is positive definite and every contact can open Lemke's path must end
 * in a solution; in the plane that is one of the problem itself. Elsewhere it may end on a ray. Either way the points
 * along it are solutions of the problem with less and less of the covering vector added to u, and Newton is tried from
 * them: that solves many whose path ends on a ray, or goes on for too long. Other covering vectors lead along other
 * paths.
 *
 * Four directions suffice, since they are turned to where the last solution slid; eight made paths twice as long and
 * solved the same. */
#include "linalg/dense_kernel.h"
#include "solver/friction_core.h"
#include "solver/lcp_core.h"

#include <math.h>
#include <string.h>

static int directions_of(int rows)
{
    return rows == 3 ? PERP_FRICTION_DIRECTIONS : rows == 2 ? 2 : 0;
}

/* Variables of a group of rows: r_N, beta, lambda; or the multiplier of an equation or a bound. An equation that
 * commands an unknown has none. */
static int variables_of(const perp_friction_workspace *f, int index, int rows)
{
    const int equation = index - f->scaled.contact_count - f->convex->bounds;
    if (equation >= 0 && perp_friction_commands(&f->scaled, equation)) {
        return 0;
    }
    return rows > 1 ? directions_of(rows) + 2 : 1;
}

int perp_friction_lemke_size(const perp_friction_workspace *f)
{
    perp_friction_rows g;
    int size = 0;
    for (int index = 0; perp_friction_next_rows(f, index, &g); index++) {
        size += variables_of(f, index, g.rows);
    }
    return size;
}

/* Direction k of a contact whose first is at `angle`. */
static void direct(int rows, int k, double angle, double d[2])
{
    const double pi = 3.14159265358979323846;
    if (rows == 2) {
        d[0] = k == 0 ? 1.0 : -1.0;
        d[1] = 0.0;
        return;
    }
    d[0] = cos(angle + 2.0 * pi * k / PERP_FRICTION_DIRECTIONS);
    d[1] = sin(angle + 2.0 * pi * k / PERP_FRICTION_DIRECTIONS);
}

/* What row r of a group counts for in its variable k (of r_N and beta). */
static double part_of(int rows, int r, int k, double angle)
{
    double d[2];
    if (r == 0 || k == 0) {
        return r == k ? 1.0 : 0.0;
    }
    direct(rows, k - 1, angle, d);
    return d[r - 1];
}

static double angle_of(const perp_friction_workspace *f, int index)
{
    return index < f->scaled.contact_count ? f->lemke_angles[index] : 0.0;
}

/* Adds factor times J v of all groups, seen in their variables, to column `column` of M; to q where that is negative.
 */
static void add_column(const perp_friction_workspace *f, const double *v, double factor, int column)
{
    const int size = f->lemke_size;
    perp_friction_rows g;
    int at = 0;
    for (int index = 0; perp_friction_next_rows(f, index, &g); index++) {
        const int variables = variables_of(f, index, g.rows);
        for (int r = 0; r < g.rows && variables > 0; r++) {
            double u = 0.0;
            for (int k = 0; k < g.columns; k++) {
                u += g.jacobian[(ptrdiff_t)r * g.columns + k] * v[g.dofs[k]];
            }
            for (int k = 0; u != 0.0 && k <= directions_of(g.rows); k++) {
                double *entry = column < 0 ? f->lemke_q + at + k : f->lemke_m + (ptrdiff_t)(at + k) * size + column;
                *entry += factor * part_of(g.rows, r, k, angle_of(f, index)) * u;
            }
        }
        at += variables;
    }
}

/* The columns of a group: v that its forces cause. */
static void add_columns(perp_friction_workspace *f, const perp_friction_rows *g, int index, int at)
{
    double *v = f->rd_change;
    const int *block_start = f->scaled.block_start;
    for (int r = 0; r < g->rows; r++) {
        perp_friction_respond(f, g, g->jacobian + (ptrdiff_t)r * g->columns, v);
        for (int k = 0; k <= directions_of(g->rows); k++) {
            const double part = part_of(g->rows, r, k, angle_of(f, index));
            if (part != 0.0) {
                add_column(f, v, part, at + k);
            }
        }
        for (int k = 0; k < g->columns; k++) {
            const int block = f->block_of[g->dofs[k]], first = block_start[block];
            memset(v + first, 0, (size_t)(block_start[block + 1] - first) * sizeof *v);
        }
    }
}

/* M and q around the centre, for the directions at hand. */
static void fill(perp_friction_workspace *f, double rho)
{
    perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    const int size = f->lemke_size;
    perp_friction_rows g;
    int at = 0;
    memset(f->lemke_m, 0, (size_t)size * (size_t)size * sizeof *f->lemke_m);
    memset(f->lemke_q, 0, (size_t)size * sizeof *f->lemke_q);
    memset(f->rd_change, 0, (size_t)c->n * sizeof *f->rd_change);
    perp_friction_bodies_velocity(f, rho);
    add_column(f, c->at.x, 1.0, -1);
    for (int index = 0; perp_friction_next_rows(f, index, &g); index++) {
        const int bound = index - p->contact_count, equation = bound - c->bounds;
        const int variables = variables_of(f, index, g.rows), slip = at + variables - 1;
        if (variables == 0) {
            continue;
        }
        for (int r = 0; r < g.rows; r++) {
            const double offset = equation >= 0 ? -p->equality_target[equation]
                                  : bound >= 0  ? c->bound_offset[bound]
                                                : p->offset[p->row_start[index] + r];
            for (int k = 0; k <= directions_of(g.rows); k++) {
                f->lemke_q[at + k] += part_of(g.rows, r, k, angle_of(f, index)) * offset;
            }
        }
        add_columns(f, &g, index, at);
        for (int k = 0; g.rows > 1 && k <= directions_of(g.rows); k++) {
            f->lemke_m[(ptrdiff_t)(at + k) * size + slip] = k > 0 ? 1.0 : 0.0;
            f->lemke_m[(ptrdiff_t)slip * size + at + k] = k > 0 ? -1.0 : 1.0;
        }
        f->lemke_free[at] = equation >= 0;
        at += variables;
    }
}

/* Forces, and the velocities that they cause, of a solution z. */
static void read_point(perp_friction_workspace *f, double rho, const double *z)
{
    perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    perp_friction_rows g;
    int at = 0;
    for (int index = 0; perp_friction_next_rows(f, index, &g); index++) {
        const int bound = index - p->contact_count, equation = bound - c->bounds;
        const int variables = variables_of(f, index, g.rows);
        double *y = equation >= 0 ? &c->at.z[equation]
                    : bound >= 0  ? &c->at.y[c->contact_slacks + bound]
                                  : &c->at.y[p->row_start[index]];
        for (int r = 0; r < g.rows && variables > 0; r++) {
            y[r] = 0.0;
            for (int k = 0; k <= directions_of(g.rows); k++) {
                y[r] += part_of(g.rows, r, k, angle_of(f, index)) * z[at + k];
            }
        }
        at += variables;
    }
    perp_friction_bodies_velocity(f, rho);
    perp_friction_bodies_hold(f);
}

/* A direction of each contact to where it slides at `at`: the force opposes that. */
static void turn(perp_friction_workspace *f)
{
    const perp_contact_qp *p = &f->scaled;
    perp_friction_look(f, &f->convex->at);
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->row_start[i];
        if (p->row_start[i + 1] - start == 3 && (f->t[start + 1] != 0.0 || f->t[start + 2] != 0.0)) {
            f->lemke_angles[i] = atan2(-f->t[start + 2], -f->t[start + 1]);
        }
    }
}

typedef struct path {
    perp_friction_workspace *f;
    double rho;
    int counted; /* pivots */
    bool solved;
} path;

/* Newton from a point of the path. */
static bool visit(void *context)
{
    enum { WORTH = 3 }; /* pivots take the time of a factorisation */
    path *at = context;
    perp_friction_workspace *f = at->f;
    f->factorisations += (f->lemke->pivot_count - at->counted) / WORTH;
    at->counted = f->lemke->pivot_count;
    perp_lcp_core_point(f->lemke, f->lemke_z);
    read_point(f, at->rho, f->lemke_z);
    at->solved = perp_friction_newton_tries(f);
    return at->solved || perp_friction_must_stop(f);
}

/* One path; `covering` NULL: ones. True where it reached its end and Newton found nothing. */
static bool follow(path *at, const double *covering)
{
    enum { LONGEST = 8 };            /* pivots, in sizes of the problem */
    static const double SOON = 3e-2; /* of the covering vector, from where on Newton is tried */
    perp_friction_workspace *f = at->f;
    perp_lcp_workspace *lemke = f->lemke;
    const perp_mlcp problem = {f->lemke_size, f->lemke_m, f->lemke_q, f->lemke_free};
    const perp_lcp_data data = {problem.n, problem.m, problem.q, lemke->lower, lemke->upper};
    perp_lcp_settings settings = perp_lcp_settings_default();
    perp_lcp_info info;
    perp_mcp bounded;
    settings.cancel = f->cancel;
    settings.max_pivots = LONGEST * problem.n;
    perp_mlcp_as_mcp(&problem, lemke->lower, lemke->upper, &bounded);
    if (perp_lcp_begin(lemke, &data, &settings, &info, NULL) != PERP_STATUS_OK) {
        return false;
    }
    at->counted = 0;
    double residual = 0.0;
    const perp_lemke_attempt how = {perp_lemke_care_plain(), covering, NULL, false};
    lemke->visit = visit;
    lemke->visited = at;
    lemke->visit_below = SOON;
    f->factorisations++;
    const perp_outcome outcome = perp_lcp_attempt(lemke, &settings, &how, &residual);
    f->iterations += lemke->pivot_count;
    if (at->solved || outcome != PERP_OUTCOME_SOLVED) {
        return false;
    }
    read_point(f, at->rho, lemke->point);
    at->solved = perp_friction_newton_tries(f);
    return !at->solved;
}

/* From a tenth of one to ten; the first path has ones. */
static const double *draw_covering(perp_friction_workspace *f, uint64_t *state)
{
    for (int i = 0; i < f->lemke_size; i++) {
        f->lemke_w[i] = pow(10.0, perp_friction_draw(state));
    }
    return f->lemke_w;
}

bool perp_friction_lemke(perp_friction_workspace *f, double rho, int draws)
{
    enum { TURNS = 2 };
    static const double TILT = 0.4;
    uint64_t state = 99;
    if ((rho > 0.0 && perp_friction_bodies_invert(f, 0.0)) || !perp_friction_bodies_invert(f, rho)) {
        return false;
    }
    path at = {.f = f, .rho = rho};
    f->lemke_size = perp_friction_lemke_size(f);
    memset(f->lemke_free, 0, (size_t)f->lemke_size * sizeof *f->lemke_free);
    for (int k = 0; k < draws && !at.solved && !perp_friction_must_stop(f); k++) {
        for (int i = 0; i < f->scaled.contact_count; i++) {
            f->lemke_angles[i] = TILT * perp_friction_draw(&state);
        }
        const double *covering = k > 0 ? draw_covering(f, &state) : NULL;
        for (int t = 0; t < TURNS && !at.solved && !perp_friction_must_stop(f); t++) {
            perp_friction_bodies_begin(f);
            fill(f, rho);
            if (!follow(&at, covering)) {
                break;
            }
            read_point(f, rho, f->lemke->point);
            turn(f);
        }
    }
    return at.solved;
}
