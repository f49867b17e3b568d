#include "contact/contact_reach.h"
#include "quasistatic_modes.h"

#include "nonnegative.h"
#include "step/common/rung_cone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITEMS = 32, TRIED = 5, MOST_CORNERS = 16, MOST_LEVEL = 5, MOST_CHILDREN = 2 * MOST_CORNERS + 1 };

/* Half-decided ones stand for all that they contain. CLOSED: stick or any slide. Of a polygon CORNER, where the slip is
 * between the normals of two edges, and EDGE, along one of them; of a round cone SECTOR: friction between two angles.
 */
typedef enum mode_kind { UNDECIDED, OPEN, CLOSED, STICK, CORNER, EDGE, SECTOR } mode_kind;
typedef struct item_mode {
    mode_kind kind;
    int level, index;
} item_mode;

/* Friction over mu fn: a polygon, or one around the circle. Edge j, from corner j to the next, has the normal facet. */
typedef struct friction_shape {
    bool round;
    int corners;
    double corner[MOST_CORNERS][2], facet[MOST_CORNERS][2];
} friction_shape;

/* A contact, or a limit (no friction). Rows over the free degrees of freedom, in units of L / h and F. */
typedef struct item {
    double mu, gap, slip[2]; /* gap and slip at v = 0 */
    int directions;          /* of friction */
    double *normal, *tangent[2];
} item;

typedef struct mode_tree {
    const quasistatic_view *view;
    int n, items, loops;
    int *free_of_dof;
    friction_shape line, wide; /* for one direction, for two */
    bool any_round;
    double speed;         /* of L / h: the unit of velocities; with inertia what F does to the largest mass */
    double *scale, *load; /* n; load in F */
    double *resist;       /* n x n: what velocities cost, F over their unit */
    double *memory;       /* of the items' rows */
    item item[MOST_ITEMS];
    double *loop_row, *loop_target; /* loops x n */
    double *g, *b, *y, *residual;
    int rows, columns;
    int force_at[MOST_ITEMS]; /* the first column of its forces */
    double work, most_work;   /* multiplications */
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

/* ---- friction ---------------------------------------------------------------------------------------------------- */

static const double TURN = 6.283185307179586476925;

static void put_direction(double angle, double length, double out[2])
{
    out[0] = length * cos(angle);
    out[1] = length * sin(angle);
}

/* False: more rays than there is room for. */
static bool fill_shapes(mode_tree *m)
{
    const perp_run_settings *settings = m->view->settings;
    const perp_cone cone = perp_rung_cone(m->view->rung, settings);
    const bool round = cone == PERP_CONE_QUADRATIC, box = cone == PERP_CONE_BOX;
    const int corners = round ? MOST_CORNERS : box ? 4 : settings->rays;
    const double first = box ? 0.5 : 0.0, length = box ? sqrt(2.0) : round ? 1.0 / cos(0.5 * TURN / corners) : 1.0;
    m->line = (friction_shape){.corners = 2, .corner = {{1.0, 0.0}, {-1.0, 0.0}}};
    m->wide = (friction_shape){.round = round, .corners = corners};
    for (int j = 0; j < corners && corners <= MOST_CORNERS; j++) {
        put_direction(TURN * (j + first) / corners, length, m->wide.corner[j]);
        put_direction(TURN * (j + first + 0.5) / corners, 1.0, m->wide.facet[j]);
    }
    return corners <= MOST_CORNERS;
}

static const friction_shape *shape_of(const mode_tree *m, const item *one)
{
    return one->directions > 1 ? &m->wide : &m->line;
}

/* The angles of a sector: a quarter of a turn, halved `level` times. */
static double sector_angle(item_mode mode, double part)
{
    return TURN * (mode.index + part) / (4.0 * (1 << mode.level));
}

/* The edges of the cone that an item's force may be in, friction over mu fn; returns how many. */
static int edges_of(const mode_tree *m, const item *one, item_mode mode, double out[MOST_CORNERS][2])
{
    const friction_shape *shape = shape_of(m, one);
    int count = 0;
    if (mode.kind == OPEN) {
        return 0;
    }
    if (one->mu == 0.0) {
        out[0][0] = out[0][1] = 0.0;
        return 1;
    }
    if (mode.kind == SECTOR) {
        put_direction(sector_angle(mode, 0.0), 1.0, out[0]);
        put_direction(sector_angle(mode, 0.5), 1.0 / cos(0.5 * (sector_angle(mode, 1.0) - sector_angle(mode, 0.0))),
                      out[1]);
        put_direction(sector_angle(mode, 1.0), 1.0, out[2]);
        return 3;
    }
    for (int j = 0; j < shape->corners; j++) {
        const bool at = j == mode.index, next = mode.kind == EDGE && j == (mode.index + 1) % shape->corners;
        if ((mode.kind != CORNER && mode.kind != EDGE) || at || next) {
            memcpy(out[count++], shape->corner[j], sizeof out[0]);
        }
    }
    return count;
}

/* The slips that go with it are sums of these, with weights >= 0: against friction. Returns how many. */
static int slips_of(const mode_tree *m, const item *one, item_mode mode, double out[2][2])
{
    const friction_shape *shape = shape_of(m, one);
    int count = 0;
    if (mode.kind == SECTOR) {
        put_direction(sector_angle(mode, 0.0), -1.0, out[count++]);
        put_direction(sector_angle(mode, 1.0), -1.0, out[count++]);
    } else if (mode.kind == CORNER && one->directions < 2) {
        out[0][0] = -shape->corner[mode.index][0];
        out[count++][1] = 0.0;
    } else if (mode.kind == CORNER || mode.kind == EDGE) {
        for (int k = mode.kind == CORNER ? -1 : 0; k <= 0; k++, count++) {
            const double *facet = shape->facet[(mode.index + k + shape->corners) % shape->corners];
            out[count][0] = -facet[0];
            out[count][1] = -facet[1];
        }
    }
    return count;
}

/* What a half-decided mode splits into; 0: it is decided, or as narrow as it gets. */
static int split(const mode_tree *m, const item *one, item_mode mode, item_mode child[MOST_CHILDREN])
{
    const friction_shape *shape = shape_of(m, one);
    int count = 0;
    if (mode.kind == UNDECIDED) {
        child[count++] = (item_mode){CLOSED, 0, 0};
        child[count++] = (item_mode){OPEN, 0, 0};
    } else if (mode.kind == CLOSED && one->mu > 0.0) {
        child[count++] = (item_mode){STICK, 0, 0};
        for (int j = 0; j < (shape->round ? 4 : shape->corners); j++) {
            child[count++] = (item_mode){shape->round ? SECTOR : CORNER, 0, j};
        }
        for (int j = 0; j < shape->corners && one->directions > 1 && !shape->round; j++) {
            child[count++] = (item_mode){EDGE, 0, j};
        }
    } else if (mode.kind == SECTOR && mode.level < MOST_LEVEL) {
        child[count++] = (item_mode){SECTOR, mode.level + 1, 2 * mode.index};
        child[count++] = (item_mode){SECTOR, mode.level + 1, 2 * mode.index + 1};
    }
    return count;
}

/* ---- the problem ------------------------------------------------------------------------------------------------- */

static item *new_item(mode_tree *m)
{
    if (m->items == MOST_ITEMS) {
        return NULL;
    }
    item *one = &m->item[m->items];
    one->normal = m->memory + (ptrdiff_t)3 * m->items * m->n;
    one->tangent[0] = one->normal + m->n;
    one->tangent[1] = one->tangent[0] + m->n;
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
    if (!one) {
        return false;
    }
    one->mu = c->direction_count > 0 ? c->friction : 0.0;
    one->directions = one->mu > 0.0 ? c->direction_count : 0;
    m->any_round = m->any_round || (one->directions > 1 && m->wide.round);
    one->gap = view->instant ? 0.0 : c->phi / view->length;
    for (int k = 0; k < columns; k++) {
        const int dof = set->dofs[start + k], at = m->free_of_dof[dof];
        for (int d = 0; d < one->directions; d++) {
            const double tangent =
                jacobian[columns + k] * perp_vec3_dot(c->directions[d], c->t) +
                (set->rows > 2 ? jacobian[2 * columns + k] * perp_vec3_dot(c->directions[d], c->o) : 0.0);
            if (at >= 0) {
                one->tangent[d][at] = tangent * m->scale[at];
            } else {
                one->slip[d] += tangent * view->given[dof] * unit;
            }
        }
        if (at >= 0) {
            one->normal[at] = jacobian[k] * m->scale[at];
        } else {
            one->gap += jacobian[k] * view->given[dof] * unit;
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
    bool fits = fill_shapes(m);
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

/* Rows for the slip of an item, which a half-decided one has none of. */
static int slip_rows(const item *one, item_mode mode)
{
    return mode.kind == STICK || mode.kind == CORNER || mode.kind == EDGE || mode.kind == SECTOR ? one->directions : 0;
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
        for (int d = 0; d < slip_rows(&m->item[i], mode[i]); d++) {
            column[row++] = sign * m->item[i].tangent[d][k];
        }
    }
}

static void add_item(mode_tree *m, item_mode mode, int i, int slip_row)
{
    const item *one = &m->item[i];
    double edge[MOST_CORNERS][2], slip[2][2];
    const int edges = edges_of(m, one, mode, edge), slips = slips_of(m, one, mode, slip);
    m->force_at[i] = m->columns;
    for (int j = 0; j < edges; j++) {
        double *column = append(m);
        for (int k = 0; k < m->n; k++) {
            column[k] = one->normal[k];
            for (int d = 0; d < one->directions; d++) {
                column[k] += one->mu * edge[j][d] * one->tangent[d][k];
            }
        }
    }
    if (mode.kind == OPEN || mode.kind == UNDECIDED) {
        append(m)[m->n + m->loops + i] = -1.0;
    }
    for (int j = 0; j < slips; j++) {
        double *column = append(m);
        for (int d = 0; d < one->directions; d++) {
            column[slip_row + d] = -slip[j][d];
        }
    }
}

static void fill_node(mode_tree *m, const item_mode *mode)
{
    m->columns = 0;
    m->rows = m->n + m->loops + m->items;
    for (int i = 0; i < m->items; i++) {
        m->rows += slip_rows(&m->item[i], mode[i]);
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
        for (int d = 0; d < slip_rows(&m->item[i], mode[i]); d++) {
            m->b[row++] = -m->item[i].slip[d];
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

/* How far item i is from a mode of its own at the node's point: closed and pushed apart, or an edge of its cone loaded
 * that does less than the most work against the slip. */
static double doubt(const mode_tree *m, int i, item_mode mode)
{
    const item *one = &m->item[i];
    const friction_shape *shape = shape_of(m, one);
    double edge[MOST_CORNERS][2], gap = one->gap, slip[2] = {one->slip[0], one->slip[1]}, force = 0.0, worst = 0.0;
    const int edges = edges_of(m, one, mode, edge);
    for (int k = 0; k < m->n; k++) {
        const double v = m->speed * (m->y[2 * k] - m->y[2 * k + 1]);
        gap += one->normal[k] * v;
        for (int d = 0; d < one->directions; d++) {
            slip[d] += one->tangent[d][k] * v;
        }
    }
    double most = shape->round && one->directions > 1 ? hypot(slip[0], slip[1]) : 0.0;
    for (int j = 0; j < shape->corners && !(shape->round && one->directions > 1); j++) {
        most = fmax(most, -(shape->corner[j][0] * slip[0] + shape->corner[j][1] * slip[1]));
    }
    for (int j = 0; j < edges; j++) {
        const double own = m->y[m->force_at[i] + j];
        force += own;
        if (one->mu > 0.0) {
            worst = fmax(worst, fmin(own, most + edge[j][0] * slip[0] + edge[j][1] * slip[1]));
        }
    }
    return mode.kind == UNDECIDED ? fmax(fmin(gap, force), worst) : worst;
}

/* The items that are farthest from a mode of their own and can be split, the worst first; `settled`: none is off. */
static int doubtful_items(const mode_tree *m, const item_mode *mode, int chosen[TRIED], bool *settled)
{
    double worst[TRIED];
    int count = 0;
    *settled = true;
    for (int i = 0; i < m->items; i++) {
        item_mode child[MOST_CHILDREN];
        const bool half = mode[i].kind == UNDECIDED || mode[i].kind == CLOSED || mode[i].kind == SECTOR;
        const double own = half ? doubt(m, i, mode[i]) : 0.0;
        *settled = *settled && own <= 1e-9;
        if (!(own > 1e-9) || split(m, &m->item[i], mode[i], child) == 0 ||
            (count == TRIED && own <= worst[TRIED - 1])) {
            continue;
        }
        int at = count < TRIED ? count++ : TRIED - 1;
        for (; at > 0 && worst[at - 1] < own; at--) {
            worst[at] = worst[at - 1];
            chosen[at] = chosen[at - 1];
        }
        worst[at] = own;
        chosen[at] = i;
    }
    return count;
}

/* Whether a node is refuted; its point is in m->y and `distance`. */
static bool refute(mode_tree *m, const item_mode *mode, double *distance)
{
    fill_node(m, mode);
    m->work += (double)m->rows * m->rows * m->columns; /* about as many columns enter as there are rows */
    *distance = nonnegative_least_squares(m->rows, m->columns, m->g, m->b, m->y, m->residual);
    return *distance > 0.0 && is_refuted(m, *distance);
}

/* The modes of item i that are not refuted, in order; returns how many. */
static int surviving(mode_tree *m, item_mode *mode, int i, item_mode left[MOST_CHILDREN])
{
    item_mode child[MOST_CHILDREN];
    const item_mode before = mode[i];
    const int children = split(m, &m->item[i], before, child);
    int count = 0;
    for (int c = 0; c < children; c++) {
        double distance;
        mode[i] = child[c];
        if (m->work >= m->most_work || !refute(m, mode, &distance)) {
            left[count++] = child[c];
        }
    }
    mode[i] = before;
    return count;
}

/* Ends the search: an answer, or nothing that can be said. A step that goes farther than the view looks may meet what
 * is not listed. */
static void conclude(mode_tree *m, double distance, bool settled)
{
    double weight = 0.0, way = 0.0;
    for (int j = 0; j < m->columns; j++) {
        weight += m->y[j];
        way += j < 2 * m->n ? m->y[j] * m->speed * m->view->length : 0.0;
    }
    const bool seen = m->view->instant || way <= perp_contact_set_margin(m->view->set);
    const bool answer = distance <= 1e-9 && weight < 1e4 && seen && settled && !m->any_round;
    m->found = (quasistatic_finding){answer ? QUASISTATIC_DISPROVED : QUASISTATIC_CLOSE, distance, weight};
    m->unsure = true;
}

/* Of the items that are farthest from a mode of their own all modes are tried, and the one with the fewest left is
 * split. */
static void search(mode_tree *m, item_mode *mode)
{
    /* what is around a round cone is no answer: there, what is not refuted once says nothing for good */
    if (m->work >= m->most_work || m->found.verdict == QUASISTATIC_DISPROVED || (m->unsure && m->any_round)) {
        m->unsure = true;
        return;
    }
    double distance;
    if (refute(m, mode, &distance)) {
        return;
    }
    int chosen[TRIED], best = -1, fewest = MOST_CHILDREN + 1;
    bool settled;
    const int count = doubtful_items(m, mode, chosen, &settled);
    if (count == 0) {
        conclude(m, distance, settled);
        return;
    }
    item_mode left[MOST_CHILDREN] = {{UNDECIDED, 0, 0}};
    for (int k = 0; k < count && fewest > 1; k++) {
        item_mode own[MOST_CHILDREN];
        const int survivors = surviving(m, mode, chosen[k], own);
        if (survivors < fewest) {
            fewest = survivors;
            best = chosen[k];
            memcpy(left, own, sizeof left);
        }
    }
    const item_mode before = mode[best];
    for (int c = 0; c < fewest; c++) {
        mode[best] = left[c];
        search(m, mode);
    }
    mode[best] = before;
}

quasistatic_finding quasistatic_judge_modes(const quasistatic_view *view, double most_work)
{
    const perp_model *model = view->model;
    mode_tree m = {.view = view, .most_work = most_work, .found = {.verdict = QUASISTATIC_CLOSE}};
    item_mode mode[MOST_ITEMS] = {{UNDECIDED, 0, 0}};
    m.free_of_dof = need((size_t)model->nv);
    for (int i = 0; i < model->nv; i++) {
        m.free_of_dof[i] = quasistatic_view_is_free(view, i) ? m.n++ : -1;
    }
    const size_t n = (size_t)m.n;
    m.scale = need(n);
    m.load = need(n);
    m.resist = need(n * n);
    m.memory = need(3 * MOST_ITEMS * n);
    if (fill(&m)) {
        const size_t rows = n + (size_t)m.loops + 3 * (size_t)m.items;
        const size_t columns = 2 * (n + (size_t)m.loops) + (MOST_CORNERS + 3) * (size_t)m.items;
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
