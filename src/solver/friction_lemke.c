/* Small Coulomb problems by Lemke's method: circles become polygons, Stewart and Trinkle's way, which is a mixed linear
 * complementarity problem
 *
 *     A v + f - H_N'r_N - H_T'D beta - C'y = 0            v free         (bounds of v likewise, as contacts of one row)
 *     C v - d = 0                                         y free
 *     0 <= H_N v + w_N            _|_  r_N >= 0
 *     0 <= D'(H_T v + w_T) + lambda  _|_  beta >= 0
 *     0 <= r_N - sum beta         _|_  lambda >= 0
 *
 * in the scaled problem, where mu is 1. In the plane it is exact. Its solution has the modes of a solution nearby, from
 * which Newton finishes; where it does not, the directions D are turned so that one is where the last solution slid. */
#include "linalg/dense_kernel.h"
#include "solver/friction_core.h"

#include <math.h>
#include <string.h>

/* Where a contact's variables begin. */
typedef struct table {
    int n, e, size;
    double *m, *q;
    bool *free;
} table;

static int directions_of(int rows)
{
    return rows == 3 ? PERP_FRICTION_DIRECTIONS : rows == 2 ? 2 : 0;
}

int perp_friction_lemke_size(const perp_friction_workspace *f)
{
    const perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    int size = c->n + c->e + c->bounds;
    for (int i = 0; i < p->contact_count; i++) {
        const int directions = directions_of(p->row_start[i + 1] - p->row_start[i]);
        size += 1 + (directions > 0 ? directions + 1 : 0);
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

/* A row of H, as a row and as minus a column of M; its variable is `at`. */
static void add_row(const table *t, int at, int columns, const int *dofs, const double *row, double factor)
{
    for (int k = 0; k < columns; k++) {
        t->m[(ptrdiff_t)at * t->size + dofs[k]] += factor * row[k];
        t->m[(ptrdiff_t)dofs[k] * t->size + at] -= factor * row[k];
    }
}

static void fill_bodies(const perp_friction_workspace *f, const table *t)
{
    const perp_contact_qp *p = &f->scaled;
    const double *h = p->hessian;
    for (int k = 0; h && k < p->block_count; k++) {
        const int first = p->block_start[k], size = p->block_start[k + 1] - first;
        for (int i = 0; i < size; i++, h += size) {
            memcpy(t->m + (ptrdiff_t)(first + i) * t->size + first, h, (size_t)size * sizeof *h);
        }
    }
    memcpy(t->q, p->g, (size_t)t->n * sizeof *t->q);
    for (int i = 0; i < t->e; i++) {
        const int first = p->equality_start[i];
        add_row(t, t->n + i, p->equality_start[i + 1] - first, p->equality_dofs + first, p->equality_values + first,
                1.0);
        t->q[t->n + i] = -p->equality_target[i];
    }
}

static void fill_contacts(const perp_friction_workspace *f, const table *t, const double *angles)
{
    const perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    const double *jacobian = p->jacobian;
    int at = t->n + t->e;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->row_start[i], rows = p->row_start[i + 1] - start;
        const int columns = p->dof_start[i + 1] - p->dof_start[i], *dofs = p->dofs + p->dof_start[i];
        const int directions = directions_of(rows), normal = at, slip = at + directions + 1;
        add_row(t, normal, columns, dofs, jacobian, 1.0);
        t->q[normal] = p->offset[start];
        for (int k = 0; k < directions; k++) {
            double d[2];
            direct(rows, k, angles[i], d);
            for (int r = 1; r < rows; r++) {
                add_row(t, at + 1 + k, columns, dofs, jacobian + (ptrdiff_t)r * columns, d[r - 1]);
                t->q[at + 1 + k] += d[r - 1] * p->offset[start + r];
            }
            t->m[(ptrdiff_t)(at + 1 + k) * t->size + slip] = 1.0;
            t->m[(ptrdiff_t)slip * t->size + at + 1 + k] = -1.0;
        }
        if (directions > 0) {
            t->m[(ptrdiff_t)slip * t->size + normal] = 1.0;
        }
        at += 1 + (directions > 0 ? directions + 1 : 0);
        jacobian = columns > 0 ? jacobian + (ptrdiff_t)rows * columns : jacobian;
    }
    for (int k = 0; k < c->bounds; k++, at++) {
        add_row(t, at, 1, &c->bound_dof[k], &c->bound_sign[k], 1.0);
        t->q[at] = c->bound_offset[k];
    }
}

/* The point of a solution z, and the angles in which it slides. */
static void read_point(perp_friction_workspace *f, const table *t, double *angles)
{
    perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    const double *z = f->lemke_z;
    int at = t->n + t->e;
    memcpy(c->at.x, z, (size_t)t->n * sizeof *z);
    memcpy(c->at.z, z + t->n, (size_t)t->e * sizeof *z);
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->row_start[i], rows = p->row_start[i + 1] - start, directions = directions_of(rows);
        double force[2] = {0.0, 0.0};
        for (int k = 0; k < directions; k++) {
            double d[2];
            direct(rows, k, angles[i], d);
            force[0] += z[at + 1 + k] * d[0];
            force[1] += z[at + 1 + k] * d[1];
        }
        c->at.y[start] = z[at];
        for (int r = 1; r < rows && r < 3; r++) {
            c->at.y[start + r] = force[r - 1];
        }
        at += 1 + (directions > 0 ? directions + 1 : 0);
    }
    memcpy(c->at.y + c->contact_slacks, z + at, (size_t)c->bounds * sizeof *z);
    perp_friction_look(f, &c->at);
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->row_start[i];
        if (p->row_start[i + 1] - start == 3 && (f->t[start + 1] != 0.0 || f->t[start + 2] != 0.0)) {
            angles[i] = atan2(-f->t[start + 2], -f->t[start + 1]); /* the force opposes */
        }
    }
}

bool perp_friction_lemke(perp_friction_workspace *f, int rounds)
{
    enum { POLISH = 40, RAYS = 2 };
    int rays = 0;
    perp_convex_workspace *c = f->convex;
    const table t = {c->n, c->e, perp_friction_lemke_size(f), f->lemke_m, f->lemke_q, f->lemke_free};
    double *angles = f->lemke_angles;
    for (int i = 0; i < t.size; i++) {
        t.free[i] = i < t.n + t.e;
    }
    for (int i = 0; i < f->scaled.contact_count; i++) {
        angles[i] = 0.1;
    }
    for (int k = 0; k < rounds && !perp_friction_must_stop(f); k++) {
        const perp_mlcp problem = {t.size, t.m, t.q, t.free};
        perp_lcp_settings settings = perp_lcp_settings_default();
        perp_lcp_solution solution = {.z = f->lemke_z, .w = f->lemke_w};
        perp_lcp_info info;
        memset(t.m, 0, (size_t)t.size * (size_t)t.size * sizeof *t.m);
        memset(t.q, 0, (size_t)t.size * sizeof *t.q);
        fill_bodies(f, &t);
        fill_contacts(f, &t, angles);
        settings.cancel = f->cancel;
        f->factorisations++;
        f->iterations++;
        const perp_status status = perp_mlcp_solve(&problem, &settings, f->lemke, &solution, &info, NULL);
        if (status != PERP_STATUS_OK) {
            return false;
        }
        f->iterations += info.pivots;
        if (info.outcome != PERP_OUTCOME_SOLVED) {
            if (++rays > RAYS) {
                return false;
            }
            for (int i = 0; i < f->scaled.contact_count; i++) {
                angles[i] += 0.37 + 0.1 * i; /* elsewhere: any other will do */
            }
            continue;
        }
        read_point(f, &t, angles);
        perp_convex_copy(c, &c->at, &c->kept);
        if (perp_friction_newton(f, &c->kept, POLISH)) {
            return true;
        }
    }
    return false;
}
