#include "analysis/motion_problem.h"

#include "linalg/vector.h"
#include "scene/cone.h"
#include "step/common/rung_cone.h"

#include <string.h>

static const double LINE_CORNERS[2][2] = {{1.0, 0.0}, {-1.0, 0.0}};
static const motion_polygon LINE = {2, LINE_CORNERS, LINE_CORNERS};

const motion_polygon *perp_motion_polygon(const motion_problem *p, int rows)
{
    return rows == 2 ? &LINE : p->wide.count > 0 ? &p->wide : NULL;
}

bool perp_motion_is_convex(const motion_problem *p)
{
    bool friction = false;
    for (int i = 0; i < p->contact_count; i++) {
        friction = friction || (p->contacts[i].mu > 0.0 && p->contacts[i].rows > 1);
    }
    return p->law != MOTION_COULOMB || !friction;
}

/* ---- from a step ------------------------------------------------------------------------------------------------- */

typedef struct maker {
    const contact_step *step;
    perp_arena *arena;
    motion_problem *p;
    int island;
    int *local; /* by free degree of freedom: its unknown, -1 in other islands */
    bool failed;
} maker;

static double *reals(maker *m, int count)
{
    double *made = PERP_ARENA_NEW(m->arena, double, (size_t)count);
    m->failed = m->failed || !made;
    return made;
}

/* What a force along unknown k is multiplied by. */
static double force_scale(const motion_problem *p, int k)
{
    return p->unit[k] / (p->F * p->L);
}

/* m/s or rad/s of x_k = 1. */
static double rate_unit(const motion_problem *p, int k)
{
    return p->unit[k] / p->h;
}

static bool in_island(const maker *m, int free)
{
    return m->step->island_of_tree[m->step->tree_of_free[free]] == m->island;
}

static void count_all(maker *m)
{
    const contact_step *step = m->step;
    const perp_contact_qp *s = &step->system;
    motion_problem *p = m->p;
    for (int k = 0; k < s->n; k++) {
        m->local[k] = in_island(m, k) ? p->n++ : -1;
    }
    for (int i = 0; i < s->contact_count; i++) {
        if (m->local[s->dofs[s->dof_start[i]]] >= 0) {
            p->contact_count++;
            p->row_count += s->row_start[i + 1] - s->row_start[i];
        }
    }
    for (int i = 0; i < s->equality_count; i++) {
        p->equation_count += m->local[s->equality_dofs[s->equality_start[i]]] >= 0;
    }
}

static void hold(maker *m)
{
    motion_problem *p = m->p;
    const int n = p->n;
    p->unit = reals(m, n);
    p->dof = PERP_ARENA_NEW(m->arena, int, (size_t)n);
    p->contacts = PERP_ARENA_NEW(m->arena, motion_contact, (size_t)p->contact_count);
    m->failed = m->failed || !p->dof || !p->contacts;
    p->A = reals(m, n * n);
    p->g = reals(m, n);
    p->J = reals(m, p->row_count * n);
    p->w = reals(m, p->row_count);
    p->C = reals(m, p->equation_count * n);
    p->d = reals(m, p->equation_count);
    p->loop_unit = reals(m, p->equation_count);
    p->lower = reals(m, n);
    p->upper = reals(m, n);
    p->answer =
        (motion_point){reals(m, n), reals(m, p->row_count), reals(m, p->equation_count), reals(m, n), reals(m, n)};
}

static void fill_unknowns(const maker *m)
{
    const contact_step *step = m->step;
    motion_problem *p = m->p;
    for (int k = 0; k < step->system.n; k++) {
        const int to = m->local[k];
        if (to < 0) {
            continue;
        }
        p->unit[to] = step->turns[k] ? 1.0 : p->L;
        p->dof[to] = step->dof_of_free[k];
        p->g[to] = step->g[k] * force_scale(p, to);
        p->lower[to] = step->system.lower ? step->lower[k] / rate_unit(p, to) : -INFINITY;
        p->upper[to] = step->system.lower ? step->upper[k] / rate_unit(p, to) : INFINITY;
        p->answer.x[to] = step->x[k] / rate_unit(p, to);
        p->answer.y_lower[to] = step->y_lower[k] * force_scale(p, to);
        p->answer.y_upper[to] = step->y_upper[k] * force_scale(p, to);
    }
    const perp_contact_qp *s = &step->system;
    const double *block = s->hessian;
    for (int b = 0; b < s->block_count; b++) {
        for (int i = s->block_start[b]; i < s->block_start[b + 1]; i++) {
            for (int k = s->block_start[b]; k < s->block_start[b + 1]; k++, block++) {
                if (m->local[i] >= 0) {
                    p->A[(ptrdiff_t)m->local[i] * p->n + m->local[k]] =
                        *block * force_scale(p, m->local[i]) * rate_unit(p, m->local[k]);
                }
            }
        }
    }
}

static void fill_axes(const perp_contact *from, motion_contact *c)
{
    for (int r = 1; r < c->rows; r++) {
        c->axis[0][r - 1] = perp_vec3_dot(from->directions[r - 1], from->t);
        c->axis[1][r - 1] = perp_vec3_dot(from->directions[r - 1], from->o);
    }
}

static void fill_contacts(const maker *m)
{
    const contact_step *step = m->step;
    const perp_contact_qp *s = &step->system;
    motion_problem *p = m->p;
    const double *jacobian = s->jacobian;
    int contact = 0, row = 0;
    for (int i = 0; i < s->contact_count; i++) {
        const int start = s->dof_start[i], columns = s->dof_start[i + 1] - start;
        const int rows = s->row_start[i + 1] - s->row_start[i];
        if (m->local[s->dofs[start]] >= 0) {
            const double speed = p->L / p->h;
            motion_contact *c = &p->contacts[contact++];
            *c = (motion_contact){.row = row,
                                  .rows = rows,
                                  .mu = rows > 1 ? step->mu[i] : 0.0,
                                  .room = step->room[i] / speed,
                                  .record = step->set_index[i]};
            fill_axes(&step->records[c->record].contact, c);
            for (int r = 0; r < rows; r++, row++) {
                for (int k = 0; k < columns; k++) {
                    const int to = m->local[s->dofs[start + k]];
                    p->J[(ptrdiff_t)row * p->n + to] = jacobian[(ptrdiff_t)r * columns + k] * p->unit[to] / p->L;
                }
                p->w[row] = s->offset[s->row_start[i] + r] / speed;
                p->answer.r[row] = step->force[s->row_start[i] + r] / p->F;
            }
        }
        jacobian += (ptrdiff_t)rows * columns;
    }
}

/* Each by its largest coefficient. */
static void fill_equations(const maker *m)
{
    const contact_step *step = m->step;
    const perp_contact_qp *s = &step->system;
    motion_problem *p = m->p;
    int at = 0;
    for (int i = 0; i < s->equality_count; i++) {
        const int start = s->equality_start[i], end = s->equality_start[i + 1];
        if (m->local[s->equality_dofs[start]] < 0) {
            continue;
        }
        double *row = p->C + (ptrdiff_t)at * p->n;
        double largest = 0.0;
        for (int k = start; k < end; k++) {
            const int to = m->local[s->equality_dofs[k]];
            row[to] = s->equality_values[k] * rate_unit(p, to);
            largest = fmax(largest, fabs(row[to]));
        }
        const double scale = largest > 0.0 ? 1.0 / largest : 1.0;
        for (int k = 0; k < p->n; k++) {
            row[k] *= scale;
        }
        /* C'y is a force: values y, times force_scale = rate_unit h / (F L) */
        p->d[at] = s->equality_target[i] * scale;
        p->loop_unit[at] = p->F * p->L * scale / p->h;
        p->answer.y[at] = step->y_equality[i] / p->loop_unit[at];
        at++;
    }
}

static motion_law law_of(const contact_step *step)
{
    return !step->rung->convex ? MOTION_COULOMB : step->settings->smoothing > 0.0 ? MOTION_BARRIER : MOTION_CONVEX;
}

static void fill_polygon(maker *m, perp_cone cone, int rays)
{
    const int count = perp_cone_corner_count(cone, rays);
    double(*corner)[2] = perp_arena_push(m->arena, (size_t)count, sizeof *corner);
    double(*facet)[2] = perp_arena_push(m->arena, (size_t)count, sizeof *facet);
    m->failed = m->failed || !corner || !facet;
    for (int j = 0; j < count && !m->failed; j++) {
        perp_cone_corner(cone, rays, j, corner[j]);
        perp_cone_facet(cone, rays, j, facet[j]);
    }
    m->p->wide = (motion_polygon){count, (const double(*)[2])corner, (const double(*)[2])facet};
}

static bool make(maker *m)
{
    const contact_step *step = m->step;
    motion_problem *p = m->p;
    p->law = law_of(step);
    p->F = step->islands[m->island].force;
    p->L = step->islands[m->island].length;
    p->h = step->h;
    fill_polygon(m, perp_rung_cone(step->rung, step->settings), step->settings->rays);
    count_all(m);
    hold(m);
    if (!m->failed) {
        fill_unknowns(m);
        fill_contacts(m);
        fill_equations(m);
    }
    return !m->failed;
}

bool perp_motion_has_ellipsoid(const contact_step *step)
{
    for (int i = 0; i < step->system.contact_count; i++) {
        if (step->contacts->contacts[step->set_index[i]].arm > 0.0) {
            return true;
        }
    }
    return false;
}

perp_status perp_motion_problems(const contact_step *step, perp_arena *arena, motion_problem **problems, int *count,
                                 perp_error *error)
{
    if (perp_motion_has_ellipsoid(step)) {
        return perp_fail(error, PERP_STATUS_UNAVAILABLE, "%s", PERP_MOTION_ELLIPSOID);
    }
    maker m = {.step = step, .arena = arena};
    *count = step->island_count;
    *problems = PERP_ARENA_NEW(arena, motion_problem, (size_t)*count);
    m.local = PERP_ARENA_NEW(arena, int, (size_t)step->system.n);
    bool made = *problems && m.local;
    for (m.island = 0; made && m.island < *count; m.island++) {
        m.p = &(*problems)[m.island];
        made = make(&m);
    }
    return made ? PERP_STATUS_OK : perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
}

/* ---- the law ----------------------------------------------------------------------------------------------------- */

void perp_motion_slip(const motion_problem *p, const double *x, double *u)
{
    for (int i = 0; i < p->row_count; i++) {
        u[i] = p->w[i] + perp_vector_dot(p->n, p->J + (ptrdiff_t)i * p->n, x);
    }
}

static double balance(const motion_problem *p, const motion_point *point)
{
    double worst = 0.0;
    for (int k = 0; k < p->n; k++) {
        double sum = p->g[k] + perp_vector_dot(p->n, p->A + (ptrdiff_t)k * p->n, point->x) - point->y_lower[k] +
                     point->y_upper[k];
        for (int i = 0; i < p->row_count; i++) {
            sum -= p->J[(ptrdiff_t)i * p->n + k] * point->r[i];
        }
        for (int i = 0; i < p->equation_count; i++) {
            sum -= p->C[(ptrdiff_t)i * p->n + k] * point->y[i];
        }
        worst = fmax(worst, fabs(sum));
    }
    return worst;
}

static double constraints(const motion_problem *p, const motion_point *point)
{
    double worst = 0.0;
    for (int i = 0; i < p->equation_count; i++) {
        worst = fmax(worst, fabs(perp_vector_dot(p->n, p->C + (ptrdiff_t)i * p->n, point->x) - p->d[i]));
    }
    for (int k = 0; k < p->n; k++) {
        worst = fmax(worst, fabs(fmin(point->y_lower[k], point->x[k] - p->lower[k])));
        worst = fmax(worst, fabs(fmin(point->y_upper[k], p->upper[k] - point->x[k])));
    }
    return worst;
}

/* max over D of d . v */
static double support(const motion_polygon *d, const double v[2])
{
    double most = d ? 0.0 : hypot(v[0], v[1]);
    for (int j = 0; d && j < d->count; j++) {
        most = fmax(most, d->corner[j][0] * v[0] + d->corner[j][1] * v[1]);
    }
    return most;
}

double perp_motion_most_work(const motion_problem *p, const motion_contact *c, const double *u)
{
    const double back[2] = {c->rows > 1 ? -u[1] : 0.0, c->rows > 2 ? -u[2] : 0.0};
    return support(perp_motion_polygon(p, c->rows), back);
}

/* The least s with v in s D. */
static double gauge(const motion_polygon *d, const double v[2])
{
    double most = d ? 0.0 : hypot(v[0], v[1]);
    for (int j = 0; d && j < d->count; j++) {
        most = fmax(most, d->facet[j][0] * v[0] + d->facet[j][1] * v[1]);
    }
    return most;
}

static double contact_residual(const motion_problem *p, const motion_contact *c, const double *r, const double *u)
{
    const motion_polygon *d = c->rows > 1 ? perp_motion_polygon(p, c->rows) : NULL;
    const double ft[2] = {c->rows > 1 ? r[1] : 0.0, c->rows > 2 ? r[2] : 0.0};
    const double back[2] = {c->rows > 1 ? -u[1] : 0.0, c->rows > 2 ? -u[2] : 0.0};
    const double outside = fmax(0.0, gauge(d, ft) - c->mu * r[0]);
    const double most = c->mu * perp_motion_most_work(p, c, u), work = ft[0] * back[0] + ft[1] * back[1];
    if (p->law == MOTION_COULOMB) {
        const double idle = c->mu > 0.0 ? r[0] * most - work : 0.0;
        return fmax(fmax(fabs(fmin(r[0], u[0])), outside), fabs(idle));
    }
    const double parting = u[0] + c->room - most, product = r[0] * (u[0] + c->room) - work;
    return fmax(fmax(outside, fmax(0.0, -fmin(r[0], parting))), fabs(product));
}

double perp_motion_residual(const motion_problem *p, const motion_point *point, double *u)
{
    double worst = fmax(balance(p, point), constraints(p, point));
    perp_motion_slip(p, point->x, u);
    for (int i = 0; i < p->contact_count && p->law != MOTION_BARRIER; i++) {
        const motion_contact *c = &p->contacts[i];
        worst = fmax(worst, contact_residual(p, c, point->r + c->row, u + c->row));
    }
    return worst;
}
