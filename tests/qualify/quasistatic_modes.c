#include "quasistatic_modes.h"

#include "nonnegative.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITEMS = 16, MOST_NODES = 2000 };

/* Half-decided ones stand for all that they contain. CLOSED: stick or either slide. */
typedef enum item_mode { UNDECIDED, OPEN, CLOSED, STICK, SLIDE_UP, SLIDE_DOWN } item_mode;

/* A contact, or a limit (no friction). Rows over the free degrees of freedom, in units of L / h and F. */
typedef struct item {
    double mu, gap, slip; /* gap and slip at v = 0 */
    double *normal, *tangent;
} item;

typedef struct mode_tree {
    const quasistatic_view *view;
    int n, items, loops;
    int *free_of_dof;
    double speed;         /* of L / h: the unit of velocities; with inertia what F does to the largest mass */
    double *scale, *load; /* n; load in F */
    double *resist;       /* n x n: what velocities cost, F over their unit */
    double *memory;       /* of the items' rows */
    item item[MOST_ITEMS];
    double *loop_row, *loop_target; /* loops x n */
    double *g, *b, *y, *residual;
    int rows, columns;
    int force_at[MOST_ITEMS][2]; /* columns of the two edges of the cone, -1: none */
    int nodes;
    bool unsure;
    quasistatic_finding found;
} mode_tree;

static void *need(size_t count)
{
    void *memory = calloc(count + 1, sizeof(double));
    if (!memory) {
        fprintf(stderr, "quasistatic_modes: out of memory\n");
        exit(2);
    }
    return memory;
}

/* ---- the problem ------------------------------------------------------------------------------------------------- */

static item *new_item(mode_tree *m)
{
    if (m->items == MOST_ITEMS) {
        return NULL;
    }
    item *one = &m->item[m->items];
    one->normal = m->memory + (ptrdiff_t)2 * m->items * m->n;
    one->tangent = one->normal + m->n;
    m->items++;
    return one;
}

static bool add_contact(mode_tree *m, int i)
{
    const quasistatic_view *view = m->view;
    const perp_contact_set *set = view->set;
    const perp_contact *c = &set->contacts[i];
    const int start = set->dof_start[i], columns = set->dof_start[i + 1] - start;
    const double *jacobian = set->jacobian + (ptrdiff_t)set->rows * start, unit = view->h / view->length;
    bool moved = false;
    for (int k = 0; k < columns; k++) {
        moved = moved || m->free_of_dof[set->dofs[start + k]] >= 0;
    }
    if (!moved || (view->instant && c->phi > 1e-9)) {
        return true;
    }
    item *one = new_item(m);
    if (!one || (c->friction > 0.0 && c->direction_count > 1)) {
        return false;
    }
    one->mu = c->direction_count == 1 ? c->friction : 0.0;
    one->gap = view->instant ? 0.0 : c->phi / view->length;
    for (int k = 0; k < columns; k++) {
        const int dof = set->dofs[start + k], at = m->free_of_dof[dof];
        double tangent = 0.0;
        if (one->mu > 0.0) {
            tangent = jacobian[columns + k] * perp_vec3_dot(c->directions[0], c->t) +
                      (set->rows > 2 ? jacobian[2 * columns + k] * perp_vec3_dot(c->directions[0], c->o) : 0.0);
        }
        if (at >= 0) {
            one->normal[at] = jacobian[k] * m->scale[at];
            one->tangent[at] = tangent * m->scale[at];
        } else {
            one->gap += jacobian[k] * view->given[dof] * unit;
            one->slip += tangent * view->given[dof] * unit;
        }
    }
    return true;
}

static bool add_limit(mode_tree *m, int dof, double room, double sign)
{
    if (!isfinite(room) || (m->view->instant && room > 1e-9)) {
        return true;
    }
    item *one = new_item(m);
    const int at = m->free_of_dof[dof];
    if (one) { /* room in m or rad, as the velocity's unit is L / h or 1 / h */
        one->gap = m->view->instant ? 0.0 : room * (m->scale[at] == 1.0 ? 1.0 / m->view->length : 1.0);
        one->normal[at] = sign;
    }
    return one != NULL;
}

static void add_loops(mode_tree *m)
{
    const perp_model *model = m->view->model;
    double *jacobian = need(6 * (size_t)model->nv), residual[6];
    m->loop_row = need(6 * (size_t)model->scene->loop_count * (size_t)m->n);
    m->loop_target = need(6 * (size_t)model->scene->loop_count);
    for (int i = 0; i < model->scene->loop_count; i++) {
        perp_loop_evaluate(model, m->view->kinematics, i, residual, jacobian);
        for (int r = 0; r < perp_loop_rows(model, i); r++) {
            double target = m->view->instant ? 0.0 : -residual[r] / m->view->length, largest = 0.0;
            double *row = m->loop_row + (ptrdiff_t)m->loops * m->n;
            for (int k = 0; k < model->nv; k++) {
                const double entry = jacobian[(ptrdiff_t)r * model->nv + k];
                if (m->free_of_dof[k] >= 0) {
                    row[m->free_of_dof[k]] = entry * m->scale[m->free_of_dof[k]];
                    largest = fmax(largest, fabs(entry));
                } else {
                    target -= entry * m->view->given[k] * m->view->h / m->view->length;
                }
            }
            m->loop_target[m->loops] = target;
            m->loops += largest > 0.0 ? 1 : 0;
        }
    }
    free(jacobian);
}

/* M / h into `resist`, and what the velocities so far and the prescribed ones make of it into the load, NaN where they
 * are not known. Returns the unit of velocities. */
static double add_inertia(mode_tree *m, double *load)
{
    const quasistatic_view *view = m->view;
    const perp_model *model = view->model;
    double heaviest = 0.0;
    perp_mass_matrix(model, view->kinematics, view->packed);
    perp_mass_matrix_expand(model, view->packed, view->mass);
    for (int i = 0; i < model->nv; i++) {
        const int k = m->free_of_dof[i], tree = model->links[model->dof_body[i]].tree;
        for (int j = model->trees[tree].v_start; j < model->trees[tree].v_start + model->trees[tree].v_count; j++) {
            const double entry = view->mass[(ptrdiff_t)i * model->nv + j] / view->h;
            const int l = m->free_of_dof[j];
            load[i] += entry * (view->drifted[j] - (l < 0 ? view->given[j] : 0.0));
            if (k >= 0 && l >= 0) {
                m->resist[(ptrdiff_t)k * m->n + l] = entry;
            }
        }
    }
    for (int i = 0; i < model->body_count; i++) {
        heaviest = model->links[i].tree >= 0 ? fmax(heaviest, model->links[i].mass) : heaviest;
    }
    return heaviest > 0.0 ? fmin(1.0, view->force * view->h * view->h / (heaviest * view->length)) : 1.0;
}

static bool fill(mode_tree *m)
{
    const quasistatic_view *view = m->view;
    const perp_model *model = view->model;
    double *load = need((size_t)model->nv);
    bool fits = true;
    quasistatic_view_load(view, load);
    m->speed = view->drifted ? add_inertia(m, load) : 1.0;
    for (int i = 0; i < model->nv; i++) {
        const int k = m->free_of_dof[i];
        if (k < 0) {
            continue;
        }
        m->scale[k] = perp_vec3_norm(view->kinematics->dof_angular[i]) > 0.5 ? 1.0 / view->length : 1.0;
        m->load[k] = load[i] * m->scale[k] / view->force;
        m->resist[(ptrdiff_t)k * m->n + k] += quasistatic_view_stiffness(view, i);
        fits = fits && !isnan(load[i]);
    }
    for (int k = 0; k < m->n; k++) {
        for (int l = 0; l < m->n; l++) {
            m->resist[(ptrdiff_t)k * m->n + l] *=
                m->scale[k] * m->scale[l] * m->speed * view->length / (view->h * view->force);
        }
    }
    free(load);
    for (int i = 0; i < view->set->count && fits; i++) {
        fits = add_contact(m, i);
    }
    for (int i = 0; i < model->nv && fits; i++) {
        const int at = model->dof_q[i];
        fits = m->free_of_dof[i] < 0 || at < 0 ||
               (add_limit(m, i, view->q[at] - model->limit_low[i], 1.0) &&
                add_limit(m, i, model->limit_high[i] - view->q[at], -1.0));
    }
    add_loops(m);
    return fits;
}

/* ---- one set of patterns ----------------------------------------------------------------------------------------- */

static double *append(mode_tree *m)
{
    double *column = m->g + (ptrdiff_t)m->columns++ * m->rows;
    memset(column, 0, (size_t)m->rows * sizeof *column);
    return column;
}

static bool has_tangent_row(item_mode mode)
{
    return mode == STICK || mode == SLIDE_UP || mode == SLIDE_DOWN;
}

/* Rows: balance, loops, gaps, then slips of the decided. The column of a velocity. */
static void add_velocity(mode_tree *m, const item_mode *mode, int k, double sign)
{
    double *column = append(m);
    for (int l = 0; l < m->n; l++) {
        column[l] = -sign * m->resist[(ptrdiff_t)l * m->n + k];
    }
    sign *= m->speed;
    for (int i = 0; i < m->loops; i++) {
        column[m->n + i] = sign * m->loop_row[(ptrdiff_t)i * m->n + k];
    }
    for (int i = 0, row = m->n + m->loops + m->items; i < m->items; i++) {
        column[m->n + m->loops + i] = sign * m->item[i].normal[k];
        if (has_tangent_row(mode[i])) {
            column[row++] = sign * m->item[i].tangent[k];
        }
    }
}

static void add_item(mode_tree *m, item_mode mode, int i, int slip_row)
{
    const item *one = &m->item[i];
    m->force_at[i][0] = m->force_at[i][1] = -1;
    for (int edge = 0; edge < 2 && mode != OPEN; edge++) {
        /* what slides up is pulled down: the second edge */
        if ((edge == 0 && mode == SLIDE_UP) || (edge == 1 && (mode == SLIDE_DOWN || one->mu == 0.0))) {
            continue;
        }
        m->force_at[i][edge] = m->columns;
        double *column = append(m);
        for (int k = 0; k < m->n; k++) {
            column[k] = one->normal[k] + (edge ? -one->mu : one->mu) * one->tangent[k];
        }
    }
    if (mode == OPEN || mode == UNDECIDED) {
        append(m)[m->n + m->loops + i] = -1.0;
    }
    if (mode == SLIDE_UP || mode == SLIDE_DOWN) {
        append(m)[slip_row] = mode == SLIDE_UP ? -1.0 : 1.0;
    }
}

static void fill_node(mode_tree *m, const item_mode *mode)
{
    m->columns = 0;
    m->rows = m->n + m->loops + m->items;
    for (int i = 0; i < m->items; i++) {
        m->rows += has_tangent_row(mode[i]) ? 1 : 0;
    }
    for (int k = 0; k < m->n; k++) {
        add_velocity(m, mode, k, 1.0);
        add_velocity(m, mode, k, -1.0);
        m->b[k] = -m->load[k];
    }
    for (int i = 0; i < m->loops; i++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            double *column = append(m);
            for (int k = 0; k < m->n; k++) {
                column[k] = sign * m->loop_row[(ptrdiff_t)i * m->n + k];
            }
        }
        m->b[m->n + i] = m->loop_target[i];
    }
    for (int i = 0, row = m->n + m->loops + m->items; i < m->items; i++) {
        m->b[m->n + m->loops + i] = -m->item[i].gap;
        add_item(m, mode[i], i, row);
        if (has_tangent_row(mode[i])) {
            m->b[row++] = -m->item[i].slip;
        }
    }
}

/* The residual z of the least squares refutes all points whose columns sum to less than |z| over the largest cosine of
 * a column with z. */
static bool is_refuted(const mode_tree *m, double distance)
{
    double worst = 0.0;
    for (int j = 0; j < m->columns; j++) {
        double product = 0.0;
        for (int i = 0; i < m->rows; i++) {
            product += m->g[(ptrdiff_t)j * m->rows + i] * m->residual[i];
        }
        worst = fmax(worst, product / distance);
    }
    return distance > 1e-7 && 1e4 * worst < distance;
}

/* How far item i is from a mode of its own at the node's point; `closed`: its gap is not in doubt. */
static double doubt(const mode_tree *m, int i, bool closed)
{
    const item *one = &m->item[i];
    double gap = one->gap, slip = one->slip;
    const double up = m->force_at[i][0] >= 0 ? m->y[m->force_at[i][0]] : 0.0;
    const double down = m->force_at[i][1] >= 0 ? m->y[m->force_at[i][1]] : 0.0;
    for (int k = 0; k < m->n; k++) {
        const double v = m->speed * (m->y[2 * k] - m->y[2 * k + 1]);
        gap += one->normal[k] * v;
        slip += one->tangent[k] * v;
    }
    const double friction = one->mu > 0.0 ? (slip > 0.0 ? fmin(slip, up) : fmin(-slip, down)) : 0.0;
    return closed ? friction : fmax(fmin(gap, up + down), friction);
}

static void search(mode_tree *m, item_mode *mode)
{
    if (m->nodes++ >= MOST_NODES || m->found.verdict == QUASISTATIC_DISPROVED) {
        m->unsure = true;
        return;
    }
    fill_node(m, mode);
    const double distance = nonnegative_least_squares(m->rows, m->columns, m->g, m->b, m->y, m->residual);
    if (distance > 0.0 && is_refuted(m, distance)) {
        return;
    }
    double worst = 1e-9, weight = 0.0, way = 0.0;
    int chosen = -1;
    for (int j = 0; j < m->columns; j++) {
        weight += m->y[j];
        way += j < 2 * m->n ? m->y[j] * m->speed * m->view->length : 0.0;
    }
    for (int i = 0; i < m->items; i++) {
        const double own = mode[i] == UNDECIDED || mode[i] == CLOSED ? doubt(m, i, mode[i] == CLOSED) : 0.0;
        chosen = own > worst ? i : chosen;
        worst = fmax(worst, own);
    }
    if (chosen < 0) {
        /* a step that goes farther than the view looks may meet what is not listed */
        const bool seen = m->view->instant || way <= perp_contact_set_margin(m->view->set);
        const bool answer = distance <= 1e-9 && weight < 1e4 && seen;
        m->found = (quasistatic_finding){answer ? QUASISTATIC_DISPROVED : QUASISTATIC_CLOSE, distance, weight};
        m->unsure = true;
        return;
    }
    static const item_mode of_undecided[2] = {CLOSED, OPEN}, of_closed[3] = {STICK, SLIDE_UP, SLIDE_DOWN};
    const item_mode before = mode[chosen];
    for (int c = 0; c < (before == UNDECIDED ? 2 : 3); c++) {
        mode[chosen] = before == UNDECIDED ? of_undecided[c] : of_closed[c];
        search(m, mode);
    }
    mode[chosen] = before;
}

quasistatic_finding quasistatic_judge_modes(const quasistatic_view *view)
{
    const perp_model *model = view->model;
    mode_tree m = {.view = view, .found = {.verdict = QUASISTATIC_CLOSE}};
    item_mode mode[MOST_ITEMS] = {UNDECIDED};
    m.free_of_dof = need((size_t)model->nv);
    for (int i = 0; i < model->nv; i++) {
        m.free_of_dof[i] = quasistatic_view_is_free(view, i) ? m.n++ : -1;
    }
    const size_t n = (size_t)m.n;
    m.scale = need(n);
    m.load = need(n);
    m.resist = need(n * n);
    m.memory = need(2 * MOST_ITEMS * n);
    if (fill(&m)) {
        const size_t rows = n + (size_t)m.loops + 2 * MOST_ITEMS, columns = 2 * (n + (size_t)m.loops) + 4 * MOST_ITEMS;
        m.g = need(rows * columns);
        m.b = need(rows);
        m.residual = need(rows);
        m.y = need(columns);
        search(&m, mode);
        m.found.verdict = m.unsure ? m.found.verdict : QUASISTATIC_PROVED;
    }
    double *const blocks[] = {m.scale,       m.load, m.resist, m.memory,   m.loop_row,
                              m.loop_target, m.g,    m.b,      m.residual, m.y};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        free(blocks[i]);
    }
    free(m.free_of_dof);
    return m.found;
}
