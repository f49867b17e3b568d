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
 * A problem in W has W in the place of H P H'. Where A is singular and the problem small v stays among the variables,
 * free: A v + f - H'r - C'y = 0. A larger one has A + rho I in place of A.
 *
 * Four directions suffice, since they are turned to where the last solution slid; eight made paths twice as long and
 * solved the same. */
#include "linalg/dense_kernel.h"
#include "solver/friction_core.h"
#include "solver/lcp_core.h"

#include <limits.h>
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

int perp_friction_lemke_size(const perp_friction_workspace *f, bool with_v)
{
    const perp_convex_workspace *c = f->convex;
    const int most = f->scaled.contact_count + (with_v ? c->bounds : INT_MAX - f->scaled.contact_count);
    perp_friction_rows g;
    int size = with_v ? c->n + c->e : 0;
    for (int index = 0; index < most && perp_friction_next_rows(f, index, &g); index++) {
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

/* Adds factor times J v of all groups (`v` itself where there are no bodies: it is u then), seen in their variables, to
 * column `column` of M; to q where that is negative. */
static void add_column(const perp_friction_workspace *f, const double *v, double factor, int column)
{
    const int size = f->lemke_size;
    perp_friction_rows g;
    int at = 0;
    for (int index = 0; perp_friction_next_rows(f, index, &g); index++) {
        const int variables = variables_of(f, index, g.rows);
        for (int r = 0; r < g.rows && variables > 0; r++) {
            double u = f->dense ? v[f->row_start[index] + r] : 0.0;
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

/* Column `row` of W. */
static void take_column(const perp_friction_workspace *f, int row, double *u)
{
    const int m = f->convex->m;
    for (int i = 0; i < m; i++) {
        u[i] = f->w[(ptrdiff_t)i * m + row];
    }
}

/* The columns of a group: v that its forces cause. */
static void add_columns(perp_friction_workspace *f, const perp_friction_rows *g, int index, int at)
{
    double *v = f->dense ? f->change : f->rd_change;
    const int *block_start = f->scaled.block_start;
    for (int r = 0; r < g->rows; r++) {
        if (f->dense) {
            take_column(f, f->row_start[index] + r, v);
        } else {
            perp_friction_respond(f, g, g->jacobian + (ptrdiff_t)r * g->columns, v);
        }
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

static double offset_of(const perp_friction_workspace *f, int index, int r)
{
    const perp_contact_qp *p = &f->scaled;
    const int bound = index - p->contact_count, equation = bound - f->convex->bounds;
    return equation >= 0 ? -p->equality_target[equation]
           : bound >= 0  ? f->convex->bound_offset[bound]
                         : p->offset[p->row_start[index] + r];
}

/* Offsets of a group in q, and r_N - sum beta with lambda in M. */
static void add_law(const perp_friction_workspace *f, const perp_friction_rows *g, int index, int at)
{
    const int size = f->lemke_size, slip = at + variables_of(f, index, g->rows) - 1;
    for (int k = 0; k <= directions_of(g->rows); k++) {
        for (int r = 0; r < g->rows; r++) {
            f->lemke_q[at + k] += part_of(g->rows, r, k, angle_of(f, index)) * offset_of(f, index, r);
        }
        if (g->rows > 1) {
            f->lemke_m[(ptrdiff_t)(at + k) * size + slip] = k > 0 ? 1.0 : 0.0;
            f->lemke_m[(ptrdiff_t)slip * size + at + k] = k > 0 ? -1.0 : 1.0;
        }
    }
}

/* A row of H or C, as a row and as minus a column of M; its variable is `at`. */
static void add_row(const perp_friction_workspace *f, int at, const perp_friction_rows *g, int r, double factor)
{
    const int size = f->lemke_size;
    for (int k = 0; k < g->columns; k++) {
        const double entry = factor * g->jacobian[(ptrdiff_t)r * g->columns + k];
        f->lemke_m[(ptrdiff_t)at * size + g->dofs[k]] += entry;
        f->lemke_m[(ptrdiff_t)g->dofs[k] * size + at] -= entry;
    }
}

/* M and q with v and y first. */
static void fill_with_v(perp_friction_workspace *f)
{
    const perp_contact_qp *p = &f->scaled;
    const perp_convex_workspace *c = f->convex;
    const int size = f->lemke_size;
    const double *h = p->hessian;
    perp_friction_rows g;
    int at = c->n + c->e;
    for (int k = 0; h && k < p->block_count; k++) {
        const int first = p->block_start[k], count = p->block_start[k + 1] - first;
        for (int i = 0; i < count; i++, h += count) {
            memcpy(f->lemke_m + (ptrdiff_t)(first + i) * size + first, h, (size_t)count * sizeof *h);
        }
    }
    memcpy(f->lemke_q, p->g, (size_t)c->n * sizeof *f->lemke_q);
    for (int index = 0; perp_friction_next_rows(f, index, &g); index++) {
        const int equation = index - p->contact_count - c->bounds;
        if (equation >= 0) {
            add_row(f, c->n + equation, &g, 0, 1.0);
            f->lemke_q[c->n + equation] = offset_of(f, index, 0);
            continue;
        }
        for (int r = 0; r < g.rows; r++) {
            for (int k = 0; k <= directions_of(g.rows); k++) {
                add_row(f, at + k, &g, r, part_of(g.rows, r, k, angle_of(f, index)));
            }
        }
        add_law(f, &g, index, at);
        at += variables_of(f, index, g.rows);
    }
    for (int i = 0; i < c->n + c->e; i++) {
        f->lemke_free[i] = true;
    }
}

/* M and q in the forces alone, around the centre. */
static void fill_forces(perp_friction_workspace *f, double rho)
{
    perp_convex_workspace *c = f->convex;
    perp_friction_rows g;
    int at = 0;
    if (!f->dense) {
        memset(f->rd_change, 0, (size_t)c->n * sizeof *f->rd_change);
        perp_friction_bodies_begin(f);
        perp_friction_bodies_velocity(f, rho);
        add_column(f, c->at.x, 1.0, -1);
    }
    for (int index = 0; perp_friction_next_rows(f, index, &g); index++) {
        const int variables = variables_of(f, index, g.rows);
        if (variables > 0) {
            add_columns(f, &g, index, at);
            add_law(f, &g, index, at);
            f->lemke_free[at] = index >= f->scaled.contact_count + c->bounds;
        }
        at += variables;
    }
}

typedef struct path {
    perp_friction_workspace *f;
    double rho;
    bool with_v;
    int counted; /* pivots */
    bool solved;
} path;

static void fill(const path *way)
{
    perp_friction_workspace *f = way->f;
    const size_t size = (size_t)f->lemke_size;
    memset(f->lemke_m, 0, size * size * sizeof *f->lemke_m);
    memset(f->lemke_q, 0, size * sizeof *f->lemke_q);
    memset(f->lemke_free, 0, size * sizeof *f->lemke_free);
    if (way->with_v) {
        fill_with_v(f);
    } else {
        fill_forces(f, way->rho);
    }
}

/* Forces, and the velocities that they cause, of a solution z. */
static void read_point(const path *way, const double *z)
{
    perp_friction_workspace *f = way->f;
    perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    perp_friction_rows g;
    int at = way->with_v ? c->n + c->e : 0;
    for (int index = 0; perp_friction_next_rows(f, index, &g); index++) {
        const int bound = index - p->contact_count, equation = bound - c->bounds;
        const int variables = way->with_v && equation >= 0 ? 0 : variables_of(f, index, g.rows);
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
    if (way->with_v) {
        memcpy(c->at.x, z, (size_t)c->n * sizeof *z);
        memcpy(c->at.z, z + c->n, (size_t)c->e * sizeof *z);
    } else if (!f->dense) {
        perp_friction_bodies_velocity(f, way->rho);
        perp_friction_bodies_hold(f);
    }
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

/* Newton from a point of the path. */
static bool visit(void *context)
{
    enum { WORTH = 3 }; /* pivots take the time of a factorisation */
    path *way = context;
    perp_friction_workspace *f = way->f;
    f->factorisations += (f->lemke->pivot_count - way->counted) / WORTH;
    way->counted = f->lemke->pivot_count;
    perp_lcp_core_point(f->lemke, f->lemke_z);
    read_point(way, f->lemke_z);
    way->solved = perp_friction_newton_tries(f);
    return way->solved || perp_friction_must_stop(f);
}

/* One path in the forces; `covering` NULL: ones. True where it came to its end: its point is that of `lemke`. */
static bool follow(path *way, const perp_mlcp *problem, const double *covering)
{
    enum { LONGEST = 8 };            /* pivots, in sizes of the problem */
    static const double SOON = 3e-2; /* of the covering vector, from where on Newton is tried */
    perp_lcp_workspace *lemke = way->f->lemke;
    const perp_lcp_data data = {problem->n, problem->m, problem->q, lemke->lower, lemke->upper};
    const perp_lemke_attempt how = {perp_lemke_care_plain(), covering, NULL, false};
    perp_lcp_settings settings = perp_lcp_settings_default();
    perp_lcp_info info;
    perp_mcp bounded;
    double residual = 0.0;
    settings.cancel = way->f->cancel;
    settings.max_pivots = LONGEST * problem->n;
    perp_mlcp_as_mcp(problem, lemke->lower, lemke->upper, &bounded);
    if (perp_lcp_begin(lemke, &data, &settings, &info, NULL) != PERP_STATUS_OK) {
        return false;
    }
    way->counted = 0;
    lemke->visit = visit;
    lemke->visited = way;
    lemke->visit_below = SOON;
    const bool ended = perp_lcp_attempt(lemke, &settings, &how, &residual) == PERP_OUTCOME_SOLVED;
    way->f->iterations += lemke->pivot_count;
    return ended;
}

/* A small problem with v by all that there is for linear complementarity problems. */
static bool solve_small(path *way, const perp_mlcp *problem)
{
    perp_friction_workspace *f = way->f;
    perp_lcp_settings settings = perp_lcp_settings_default();
    perp_lcp_solution solution = {.z = f->lemke_z, .w = f->lemke_w};
    perp_lcp_info info;
    settings.cancel = f->cancel;
    const perp_status status = perp_mlcp_solve(problem, &settings, f->lemke, &solution, &info, NULL);
    f->iterations += info.pivots;
    return status == PERP_STATUS_OK && info.outcome == PERP_OUTCOME_SOLVED;
}

/* From a tenth of one to ten; the first path has ones. */
static const double *draw_covering(perp_friction_workspace *f, uint64_t *state)
{
    for (int i = 0; i < f->lemke_size; i++) {
        f->lemke_w[i] = pow(10.0, perp_friction_draw(state));
    }
    return f->lemke_w;
}

/* The problem of the directions at hand, and Newton from its solution; false where it has none, or it is solved. */
static bool solve_turned(path *way, const double *covering)
{
    perp_friction_workspace *f = way->f;
    const perp_mlcp problem = {f->lemke_size, f->lemke_m, f->lemke_q, f->lemke_free};
    fill(way);
    f->factorisations++;
    const bool ended = way->with_v ? solve_small(way, &problem) : follow(way, &problem, covering);
    if (way->solved || !ended) {
        return false;
    }
    read_point(way, f->lemke->point);
    way->solved = perp_friction_newton_tries(f);
    return !way->solved;
}

bool perp_friction_lemke(perp_friction_workspace *f, double rho, int draws)
{
    enum { TURNS = 2, TURNS_SMALL = 8, SMALL = 4 };
    static const double TILT = 0.4;
    uint64_t state = 99;
    const bool definite = f->dense || perp_friction_bodies_invert(f, 0.0);
    path way = {.f = f, .rho = rho, .with_v = !definite && rho == 0.0};
    if (way.with_v ? !f->lemke_with_v : rho > 0.0 && (definite || !perp_friction_bodies_invert(f, rho))) {
        return false;
    }
    f->lemke_size = perp_friction_lemke_size(f, way.with_v);
    const int most = way.with_v ? SMALL : draws, turns = way.with_v ? TURNS_SMALL : TURNS;
    for (int k = 0; k < most && !way.solved && !perp_friction_must_stop(f); k++) {
        for (int i = 0; i < f->scaled.contact_count; i++) {
            f->lemke_angles[i] = TILT * perp_friction_draw(&state);
        }
        const double *covering = k > 0 && !way.with_v ? draw_covering(f, &state) : NULL;
        for (int t = 0; t < turns && solve_turned(&way, covering) && !perp_friction_must_stop(f); t++) {
            read_point(&way, f->lemke->point);
            turn(f);
        }
    }
    return way.solved;
}
