#include "certificate_problem.h"

#include "nonnegative.h"

#include "linalg/dense.h"

#include <math.h>
#include <string.h>

static const double TURN = 6.283185307179586476925;

/* ---- D ----------------------------------------------------------------------------------------------------------- */

static bool fill_corners(const quasistatic_view *view, judged_contact *c)
{
    const perp_cone own = view->settings->cone != PERP_CONE_UNSET ? view->settings->cone : view->rung->own_cone;
    if (c->rows == 2) {
        c->corners = 2;
        c->corner[0][0] = 1.0;
        c->corner[1][0] = -1.0;
        return true;
    }
    c->corners = own == PERP_CONE_BOX ? 4 : own == PERP_CONE_RAYS ? view->settings->rays : 0;
    for (int j = 0; j < c->corners && c->corners <= JUDGED_CORNERS; j++) {
        const double angle = TURN * (j + (own == PERP_CONE_BOX ? 0.5 : 0.0)) / c->corners;
        const double size = own == PERP_CONE_BOX ? sqrt(2.0) : 1.0;
        c->corner[j][0] = size * cos(angle);
        c->corner[j][1] = size * sin(angle);
    }
    return c->corners <= JUDGED_CORNERS;
}

/* The most work of D against a slip of (a, b). */
static double most_work(const judged_contact *c, double a, double b)
{
    double most = c->corners == 0 ? hypot(a, b) : -INFINITY;
    for (int j = 0; j < c->corners; j++) {
        most = fmax(most, -(c->corner[j][0] * a + c->corner[j][1] * b));
    }
    return most;
}

void judged_project(const judged_contact *c, double s, const double from[2], double to[2])
{
    const double size = hypot(from[0], from[1]);
    to[0] = from[0];
    to[1] = from[1];
    if (c->corners == 0) {
        for (int k = 0; k < 2 && size > s; k++) {
            to[k] = from[k] * s / size;
        }
        return;
    }
    if (c->corners == 2) {
        to[0] = fmin(fmax(from[0], -s), s);
        return;
    }
    double nearest = INFINITY;
    bool outside = false;
    for (int j = 0; j < c->corners; j++) {
        const double *a = c->corner[j], *b = c->corner[(j + 1) % c->corners];
        const double e[2] = {s * (b[0] - a[0]), s * (b[1] - a[1])}, f[2] = {from[0] - s * a[0], from[1] - s * a[1]};
        outside = outside || e[0] * f[1] - e[1] * f[0] < 0.0;
        const double square = e[0] * e[0] + e[1] * e[1], along = e[0] * f[0] + e[1] * f[1];
        const double t = square > 0.0 ? fmin(fmax(along / square, 0.0), 1.0) : 0.0;
        const double at[2] = {s * a[0] + t * e[0], s * a[1] + t * e[1]};
        const double far = hypot(from[0] - at[0], from[1] - at[1]);
        if (far < nearest) {
            nearest = far;
            to[0] = at[0];
            to[1] = at[1];
        }
    }
    if (!outside && s > 0.0) {
        to[0] = from[0];
        to[1] = from[1];
    }
}

/* ---- the problem ------------------------------------------------------------------------------------------------- */

static bool fill_unknowns(const quasistatic_view *view, judged_problem *p, int *at)
{
    const perp_model *model = view->model;
    for (int i = 0; i < model->nv; i++) {
        at[i] = -1;
        if (quasistatic_view_is_free(view, i)) {
            if (p->n == JUDGED_DOFS) {
                return false;
            }
            at[i] = p->n;
            p->dof[p->n++] = i;
        }
    }
    return true;
}

static bool is_dynamic(const quasistatic_view *view)
{
    return view->rung->inertia == PERP_RUNG_INERTIA_FULL;
}

/* Does the velocity of a tree stay what it is while nothing acts on it? */
static bool drifts_straight(const quasistatic_view *view, const double *v)
{
    const perp_model *model = view->model;
    for (int k = 0; k < model->tree_count; k++) {
        const perp_tree *tree = &model->trees[k];
        const perp_link *root = &model->links[tree->root];
        const bool planar = root->motion == PERP_MOTION_FLOATING_PLANAR && perp_vec3_norm(root->com) == 0.0;
        if (tree->v_count == 1 || (planar && tree->v_count == 3)) {
            continue;
        }
        for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
            if (v[i] != 0.0 && perp_vec3_norm(view->kinematics->dof_angular[i]) > 0.0) {
                return false;
            }
        }
    }
    return true;
}

/* A and g in SI units of velocities: forces. */
static void fill_balance(const quasistatic_view *view, const double *v, const int *at, judged_problem *p)
{
    const perp_model *model = view->model;
    perp_mass_matrix(model, view->kinematics, view->packed);
    perp_mass_matrix_expand(model, view->packed, view->mass);
    quasistatic_view_load(view, view->generalised);
    for (int k = 0; k < p->n; k++) {
        const int i = p->dof[k];
        p->g[k] = -view->generalised[i];
        p->A[k][k] += quasistatic_view_stiffness(view, i);
        for (int j = 0; j < model->nv; j++) {
            const double mass = view->mass[(ptrdiff_t)i * model->nv + j] / view->h;
            if (is_dynamic(view)) {
                p->g[k] += mass * ((at[j] < 0 ? view->given[j] : 0.0) - v[j]);
            }
            const bool passive = model->role[i] == PERP_DOF_PASSIVE && model->role[j] == PERP_DOF_PASSIVE;
            const bool counts =
                is_dynamic(view) || (view->rung->inertia == PERP_RUNG_INERTIA_ONE_STEP && passive && !view->instant);
            if (at[j] >= 0 && counts) {
                p->A[k][at[j]] += mass;
            }
        }
    }
}

/* Row r of a contact over velocities, and what prescribed ones add. */
static double contact_row(const quasistatic_view *view, int index, int r, const int *at, double *row)
{
    const perp_contact_set *set = view->set;
    const perp_contact *c = &set->contacts[index];
    const int start = set->dof_start[index], columns = set->dof_start[index + 1] - start;
    const double *jacobian = set->jacobian + (ptrdiff_t)set->rows * start;
    const perp_vec3 d = r > 0 ? c->directions[r - 1] : c->normal;
    const double weight[3] = {r == 0 ? 1.0 : 0.0, r > 0 ? perp_vec3_dot(d, c->t) : 0.0,
                              r > 0 ? perp_vec3_dot(d, c->o) : 0.0};
    double given = 0.0;
    for (int k = 0; k < columns; k++) {
        const int dof = set->dofs[start + k];
        double sum = 0.0;
        for (int q = 0; q < set->rows; q++) {
            sum += weight[q] * jacobian[(ptrdiff_t)q * columns + k];
        }
        if (at[dof] >= 0) {
            row[at[dof]] += sum;
        } else {
            given += sum * view->given[dof];
        }
    }
    return given;
}

static bool is_moved(const quasistatic_view *view, int index, const int *at)
{
    const perp_contact_set *set = view->set;
    bool moved = false;
    for (int k = set->dof_start[index]; k < set->dof_start[index + 1]; k++) {
        moved = moved || at[set->dofs[k]] >= 0;
    }
    return moved && (!view->instant || set->contacts[index].phi <= 1e-9);
}

static bool fill_contacts(const quasistatic_view *view, const int *at, judged_problem *p)
{
    const perp_contact_set *set = view->set;
    for (int i = 0; i < set->count; i++) {
        const perp_contact *from = &set->contacts[i];
        if (!is_moved(view, i, at)) {
            continue;
        }
        if (p->contact_count == JUDGED_CONTACTS) {
            return false;
        }
        judged_contact *c = &p->contacts[p->contact_count++];
        *c = (judged_contact){.row = p->rows, .index = i};
        c->rows = from->friction > 0.0 ? 1 + from->direction_count : 1;
        c->mu = c->rows > 1 ? from->friction : 0.0;
        for (int r = 0; r < c->rows; r++, p->rows++) {
            p->w[p->rows] = contact_row(view, i, r, at, p->J[p->rows]);
            p->w[p->rows] += r == 0 && !view->instant ? from->phi / view->h : 0.0;
        }
        if (!fill_corners(view, c)) {
            return false;
        }
    }
    return true;
}

static bool fill_loops(const quasistatic_view *view, const int *at, judged_problem *p)
{
    const perp_model *model = view->model;
    double residual[6], jacobian[6 * 64];
    for (int loop = 0; loop < model->scene->loop_count; loop++) {
        if (model->nv > 64) {
            return false;
        }
        perp_loop_evaluate(model, view->kinematics, loop, residual, jacobian);
        for (int r = 0; r < perp_loop_rows(model, loop); r++) {
            if (p->equations == JUDGED_LOOPS) {
                return false;
            }
            double *row = p->C[p->equations], largest = 0.0;
            p->d[p->equations] = view->instant ? 0.0 : -residual[r] / view->h;
            for (int i = 0; i < model->nv; i++) {
                const double entry = jacobian[(ptrdiff_t)r * model->nv + i];
                if (at[i] >= 0) {
                    row[at[i]] = entry;
                    largest = fmax(largest, fabs(entry));
                } else {
                    p->d[p->equations] -= entry * view->given[i];
                }
            }
            p->equations += largest > 0.0 ? 1 : 0;
        }
    }
    return true;
}

static void fill_limits(const quasistatic_view *view, judged_problem *p)
{
    const perp_model *model = view->model;
    for (int k = 0; k < p->n; k++) {
        const int i = p->dof[k], at = model->dof_q[i];
        p->lower[k] = -INFINITY;
        p->upper[k] = INFINITY;
        if (at < 0 || (!isfinite(model->limit_low[i]) && !isfinite(model->limit_high[i]))) {
            continue;
        }
        const double down = model->limit_low[i] - view->q[at], up = model->limit_high[i] - view->q[at];
        p->lower[k] = !view->instant ? down / view->h : down >= -1e-9 ? 0.0 : -INFINITY;
        p->upper[k] = !view->instant ? up / view->h : up <= 1e-9 ? 0.0 : INFINITY;
        p->limit_of[p->limited++] = k;
    }
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

/* The largest force that is known before the step: loads, springs, momentum over h. */
static double force_unit(const quasistatic_view *view, const judged_problem *p)
{
    double largest = 1e-3;
    for (int k = 0; k < p->n; k++) {
        const bool turns = perp_vec3_norm(view->kinematics->dof_angular[p->dof[k]]) > 0.5;
        largest = fmax(largest, fabs(p->g[k]) / (turns ? view->length : 1.0));
    }
    return largest;
}

/* From velocities and newtons to displacements and F; then all displacements by one factor more, so that A is at most
 * 1. */
static void scale(const quasistatic_view *view, judged_problem *p)
{
    double most = 1.0;
    p->F = force_unit(view, p);
    p->L = view->length;
    p->h = view->h;
    for (int k = 0; k < p->n; k++) {
        const bool turns = perp_vec3_norm(view->kinematics->dof_angular[p->dof[k]]) > 0.5;
        p->unit[k] = turns ? 1.0 : p->L;
        most = fmax(most, p->A[k][k] * p->unit[k] * p->unit[k] / (p->h * p->F * p->L));
    }
    const double length = p->L / most;
    for (int k = 0; k < p->n; k++) {
        const double force = p->unit[k] / (p->F * p->L);
        p->unit[k] /= most;
        const double rate = p->unit[k] / p->h;
        p->g[k] *= force;
        for (int j = 0; j < p->n; j++) {
            const bool turns = perp_vec3_norm(view->kinematics->dof_angular[p->dof[j]]) > 0.5;
            p->A[k][j] *= force * (turns ? 1.0 : p->L) / most / p->h;
        }
        for (int r = 0; r < p->rows; r++) {
            p->J[r][k] *= p->unit[k] / length;
        }
        for (int e = 0; e < p->equations; e++) {
            p->C[e][k] *= rate;
        }
        p->lower[k] /= rate;
        p->upper[k] /= rate;
    }
    for (int r = 0; r < p->rows; r++) {
        p->w[r] *= p->h / length;
    }
    for (int e = 0; e < p->equations; e++) {
        double largest = 0.0;
        for (int k = 0; k < p->n; k++) {
            largest = fmax(largest, fabs(p->C[e][k]));
        }
        p->d[e] /= largest;
        for (int k = 0; k < p->n; k++) {
            p->C[e][k] /= largest;
        }
    }
}

bool judged_problem_make(const quasistatic_view *view, const double *v, judged_problem *p)
{
    int at[64];
    memset(p, 0, sizeof *p);
    p->convex = view->rung->convex;
    if (view->model->nv > 64 || (is_dynamic(view) && !drifts_straight(view, v)) || !fill_unknowns(view, p, at)) {
        return false;
    }
    fill_balance(view, v, at, p);
    if (!fill_contacts(view, at, p) || !fill_loops(view, at, p)) {
        return false;
    }
    fill_limits(view, p);
    scale(view, p);
    double factor[JUDGED_DOFS * JUDGED_DOFS];
    int row;
    for (int k = 0; k < p->n; k++) {
        memcpy(factor + (ptrdiff_t)k * p->n, p->A[k], (size_t)p->n * sizeof *factor);
    }
    p->strictly = perp_cholesky_factor(p->n, factor, p->n, &row) == PERP_STATUS_OK;
    for (int k = 0; k < p->n && p->strictly; k++) {
        p->strictly = factor[(ptrdiff_t)k * (p->n + 1)] > 1e-6;
    }
    return true;
}

/* ---- the law ----------------------------------------------------------------------------------------------------- */

void judged_slip(const judged_problem *p, const judged_contact *c, const double *x, double u[3])
{
    for (int r = 0; r < 3; r++) {
        u[r] = r < c->rows ? p->w[c->row + r] : 0.0;
        for (int k = 0; k < p->n && r < c->rows; k++) {
            u[r] += p->J[c->row + r][k] * x[k];
        }
    }
}

void judged_contact_law(const judged_problem *p, const judged_contact *c, const double *r, const double *u, double *out)
{
    const double t[2] = {c->rows > 1 ? r[1] : 0.0, c->rows > 2 ? r[2] : 0.0};
    const double most = c->rows > 1 ? c->mu * most_work(c, u[1], c->rows > 2 ? u[2] : 0.0) : 0.0;
    const double apart = u[0] - (p->convex ? most : 0.0);
    out[0] = fmin(r[0], apart);
    if (c->rows > 1) {
        const double from[2] = {t[0] - u[1], c->rows > 2 ? t[1] - u[2] : 0.0};
        double to[2];
        judged_project(c, c->mu * fmax(r[0], 0.0), from, to);
        for (int k = 1; k < c->rows; k++) {
            out[k] = t[k - 1] - to[k - 1];
        }
    }
}

double judged_residual(const judged_problem *p, const judged_point *point, double *each)
{
    double own[JUDGED_SIZE];
    const double *x = point->z, *r = x + p->n, *y = r + p->rows, *s = y + p->equations;
    double *out = each ? each : own;
    for (int k = 0; k < p->n; k++) {
        out[k] = p->g[k];
        for (int j = 0; j < p->n; j++) {
            out[k] += p->A[k][j] * x[j];
        }
        for (int i = 0; i < p->rows; i++) {
            out[k] -= p->J[i][k] * r[i];
        }
        for (int i = 0; i < p->equations; i++) {
            out[k] -= p->C[i][k] * y[i];
        }
    }
    for (int i = 0; i < p->contact_count; i++) {
        double u[3];
        judged_slip(p, &p->contacts[i], x, u);
        judged_contact_law(p, &p->contacts[i], r + p->contacts[i].row, u, out + p->n + p->contacts[i].row);
    }
    for (int i = 0; i < p->equations; i++) {
        double sum = -p->d[i];
        for (int k = 0; k < p->n; k++) {
            sum += p->C[i][k] * x[k];
        }
        out[p->n + p->rows + i] = sum;
    }
    for (int i = 0; i < p->limited; i++) {
        const int k = p->limit_of[i];
        out[k] -= s[i];
        out[p->n + p->rows + p->equations + i] = x[k] - fmin(fmax(x[k] - s[i], p->lower[k]), p->upper[k]);
    }
    double worst = 0.0;
    for (int i = 0; i < judged_size(p); i++) {
        worst = fmax(worst, fabs(out[i]));
    }
    return worst;
}

double judged_distance(const judged_problem *p, const judged_point *a, const judged_point *b)
{
    double most = 0.0;
    for (int k = 0; k < p->n; k++) {
        most = fmax(most, fabs(a->z[k] - b->z[k]));
    }
    return most;
}

/* ---- an answer of the library ------------------------------------------------------------------------------------ */

/* Loops pull either way, limits one way where they are reached. */
static void fit_constraint_forces(const judged_problem *p, judged_point *point)
{
    double each[JUDGED_SIZE], columns[(2 * JUDGED_LOOPS + 2 * JUDGED_DOFS) * JUDGED_DOFS] = {0};
    double y[2 * JUDGED_LOOPS + 2 * JUDGED_DOFS], left[JUDGED_DOFS];
    int count = 0, limit[2 * JUDGED_DOFS], limits = 0;
    judged_residual(p, point, each);
    for (int i = 0; i < p->equations; i++) {
        for (int side = 0; side < 2; side++, count++) {
            for (int k = 0; k < p->n; k++) {
                columns[count * p->n + k] = side == 0 ? p->C[i][k] : -p->C[i][k];
            }
        }
    }
    for (int i = 0; i < p->limited; i++) {
        const int k = p->limit_of[i];
        for (int side = 0; side < 2; side++) {
            const double room = side == 0 ? point->z[k] - p->lower[k] : p->upper[k] - point->z[k];
            if (room <= 1e-8) {
                columns[count++ * p->n + k] = side == 0 ? 1.0 : -1.0;
                limit[limits++] = side == 0 ? i : -1 - i;
            }
        }
    }
    if (count == 0) {
        return;
    }
    nonnegative_least_squares(p->n, count, columns, each, y, left);
    double *loops = point->z + p->n + p->rows, *limited = loops + p->equations;
    for (int i = 0; i < p->equations; i++) {
        loops[i] = y[2 * i] - y[2 * i + 1];
    }
    for (int i = 0; i < limits; i++) {
        const bool low = limit[i] >= 0;
        limited[low ? limit[i] : -1 - limit[i]] += (low ? 1.0 : -1.0) * y[2 * p->equations + i];
    }
}

void judged_point_take(const judged_problem *p, const quasistatic_view *view, const double *v,
                       const perp_contact_record *records, int count, judged_point *point)
{
    memset(point, 0, sizeof *point);
    for (int k = 0; k < p->n; k++) {
        point->z[k] = v[p->dof[k]] * p->h / p->unit[k];
    }
    for (int i = 0; i < p->contact_count; i++) {
        const judged_contact *c = &p->contacts[i];
        const perp_contact *at = &view->set->contacts[c->index];
        for (int k = 0; k < count; k++) {
            if (perp_contact_same(&records[k].contact, at)) {
                double *r = point->z + p->n + c->row;
                r[0] = records[k].fn / p->F;
                for (int j = 1; j < c->rows; j++) {
                    const perp_vec3 d = at->directions[j - 1];
                    r[j] = (records[k].ft[0] * perp_vec3_dot(d, at->t) + records[k].ft[1] * perp_vec3_dot(d, at->o)) /
                           p->F;
                }
            }
        }
    }
    fit_constraint_forces(p, point);
}
