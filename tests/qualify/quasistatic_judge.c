#include "quasistatic_judge.h"

#include "nonnegative.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACETS = 32 }; /* of what stands for a round cone */

bool quasistatic_has_inertia(const perp_rung *rung)
{
    return strcmp(rung->name, "quasidynamic") == 0;
}

bool quasistatic_is_convex(const perp_rung *rung)
{
    return strcmp(rung->name, "qs-qp") == 0 || strcmp(rung->name, "qs-cone") == 0 ||
           strcmp(rung->name, "dyn-qp") == 0 || quasistatic_has_inertia(rung);
}

bool quasistatic_is_rung(const perp_rung *rung)
{
    return rung->step && (strncmp(rung->name, "qs-", 3) == 0 || quasistatic_has_inertia(rung));
}

/* ---- the step's constraints, written down again -------------------------------------------------------------------
 */

/* Unilateral constraints g'v + w >= 0 on the free velocities: columns of G, and w. v is in units of L / h (angles of
 * 1 / h), w alike. */
typedef struct constraint_list {
    const perp_model *model;
    const perp_run_settings *settings;
    const perp_rung *rung;
    bool keeps_inside; /* round cones by facets inside them, else around them */
    bool frictionless;
    perp_kinematics *kinematics;
    perp_contact_model *contacts;
    perp_contact_set *set;
    double length, t_end;
    int rows, count, capacity;
    int *row_of_dof;    /* nv, -1: given */
    double *scale;      /* nv: L for what turns, 1 else */
    double *given;      /* nv: velocities of what is given, m/s */
    double *g, *offset; /* rows x capacity, capacity */
} constraint_list;

static void *need(void *memory)
{
    if (!memory) {
        fprintf(stderr, "quasistatic_judge: out of memory\n");
        exit(2);
    }
    return memory;
}

static perp_prescribe prescribe_of(const perp_rung *rung)
{
    return rung->takes & PERP_TAKES_IMPEDANCE_AS_POSITION ? PERP_PRESCRIBE_POSITION_IMPEDANCE : PERP_PRESCRIBE_POSITION;
}

static bool is_given(const constraint_list *c, int dof)
{
    const perp_dof_role role = c->model->role[dof];
    return role == PERP_DOF_PRESCRIBED ||
           (role == PERP_DOF_IMPEDANCE && (c->rung->takes & PERP_TAKES_IMPEDANCE_AS_POSITION));
}

static void open_list(constraint_list *c, const perp_state *state)
{
    const perp_model *model = c->model;
    const size_t nv = (size_t)model->nv + 1;
    c->row_of_dof = need(calloc(nv, sizeof *c->row_of_dof));
    c->scale = need(calloc(nv, sizeof *c->scale));
    c->given = need(calloc(nv, sizeof *c->given));
    if (perp_kinematics_create(model, NULL, &c->kinematics, NULL) != PERP_STATUS_OK ||
        perp_contact_model_build(model, NULL, &c->contacts, NULL) != PERP_STATUS_OK ||
        perp_contact_set_create(c->contacts, NULL, NULL, &c->set, NULL) != PERP_STATUS_OK) {
        need(NULL);
    }
    perp_kinematics_update(model, state->q, c->kinematics);
    if (perp_contact_set_build(c->set, c->kinematics, NULL) != PERP_STATUS_OK) {
        need(NULL);
    }
    c->length = c->set->scene_size;
    c->t_end = state->t + c->settings->h;
    perp_prescribed_velocity(model, prescribe_of(c->rung), state->t, c->t_end, c->given);
    for (int i = 0; i < model->nv; i++) {
        c->scale[i] = perp_vec3_norm(c->kinematics->dof_angular[i]) > 0.5 ? 1.0 / c->length : 1.0;
    }
}

static void close_list(constraint_list *c)
{
    perp_contact_set_free(c->set);
    perp_contact_model_free(c->contacts);
    perp_kinematics_free(c->kinematics);
    free(c->row_of_dof);
    free(c->scale);
    free(c->given);
    free(c->g);
    free(c->offset);
}

static double *append(constraint_list *c, double offset)
{
    if (c->count == c->capacity) {
        c->capacity = 2 * c->capacity + 64;
        c->g = need(realloc(c->g, (size_t)c->capacity * (size_t)(c->rows + 1) * sizeof *c->g));
        c->offset = need(realloc(c->offset, (size_t)c->capacity * sizeof *c->offset));
    }
    double *column = c->g + (size_t)c->count * (size_t)c->rows;
    memset(column, 0, (size_t)c->rows * sizeof *column);
    c->offset[c->count++] = offset;
    return column;
}

/* One direction of a contact's cone: weights of n, and of its friction directions. */
static void add_ray(constraint_list *c, int contact, const double weights[3])
{
    const perp_contact_set *set = c->set;
    const perp_contact *p = &set->contacts[contact];
    const int start = set->dof_start[contact], columns = set->dof_start[contact + 1] - start;
    const double *jacobian = set->jacobian + (ptrdiff_t)set->rows * start;
    double rows[3] = {weights[0], 0.0, 0.0};
    for (int k = 0; k < p->direction_count; k++) {
        rows[1] += weights[1 + k] * perp_vec3_dot(p->directions[k], p->t);
        rows[2] += weights[1 + k] * perp_vec3_dot(p->directions[k], p->o);
    }
    double *column = append(c, weights[0] * p->phi / c->length);
    double moved = 0.0;
    for (int k = 0; k < columns; k++) {
        const int dof = set->dofs[start + k];
        double entry = 0.0;
        for (int r = 0; r < set->rows; r++) {
            entry += rows[r] * jacobian[(ptrdiff_t)r * columns + k];
        }
        if (c->row_of_dof[dof] >= 0) {
            column[c->row_of_dof[dof]] += entry * c->scale[dof];
        } else {
            moved += entry * c->given[dof];
        }
    }
    c->offset[c->count - 1] += moved * c->settings->h / c->length;
}

static void add_contact(constraint_list *c, int contact)
{
    static const double TURN = 6.283185307179586476925;
    const perp_contact *p = &c->set->contacts[contact];
    const perp_cone cone = c->rung->own_cone;
    const double mu = c->frictionless ? 0.0 : p->friction;
    if (mu == 0.0 || p->direction_count == 0) {
        add_ray(c, contact, (double[3]){1.0, 0.0, 0.0});
        return;
    }
    if (p->direction_count == 1) {
        add_ray(c, contact, (double[3]){1.0, mu, 0.0});
        add_ray(c, contact, (double[3]){1.0, -mu, 0.0});
        return;
    }
    const bool round = cone == PERP_CONE_QUADRATIC, box = cone == PERP_CONE_BOX;
    const int count = round ? FACETS : box ? 4 : c->settings->rays;
    const double wider = box ? sqrt(2.0) : round && !c->keeps_inside ? 1.0 / cos(0.5 * TURN / FACETS) : 1.0;
    for (int j = 0; j < count; j++) {
        const double angle = TURN * (j + (box ? 0.5 : 0.0)) / count;
        add_ray(c, contact, (double[3]){1.0, wider * mu * cos(angle), wider * mu * sin(angle)});
    }
}

static void add_loops(constraint_list *c)
{
    const perp_model *model = c->model;
    double *jacobian = need(calloc(6 * (size_t)model->nv + 1, sizeof *jacobian)), residual[6];
    for (int i = 0; i < model->scene->loop_count; i++) {
        perp_loop_evaluate(model, c->kinematics, i, residual, jacobian);
        for (int r = 0; r < perp_loop_rows(model, i); r++) {
            for (int sign = -1; sign <= 1; sign += 2) {
                double *column = append(c, sign * residual[r] / c->length), moved = 0.0, largest = 0.0;
                for (int k = 0; k < model->nv; k++) {
                    const double entry = sign * jacobian[(ptrdiff_t)r * model->nv + k];
                    if (c->row_of_dof[k] >= 0) {
                        column[c->row_of_dof[k]] = entry * c->scale[k];
                        largest = fmax(largest, fabs(entry));
                    } else {
                        moved += entry * c->given[k];
                    }
                }
                c->offset[c->count - 1] += moved * c->settings->h / c->length;
                c->count -= largest > 0.0 ? 0 : 1; /* nothing free closes it: no constraint */
            }
        }
    }
    free(jacobian);
}

static void add_limits(constraint_list *c, const double *q)
{
    const perp_model *model = c->model;
    for (int i = 0; i < model->nv; i++) {
        const int row = c->row_of_dof[i], at = model->dof_q[i];
        if (row < 0 || at < 0) {
            continue;
        }
        const double unit = c->scale[i] < 1.0 || c->scale[i] > 1.0 ? 1.0 : 1.0 / c->length;
        if (isfinite(model->limit_low[i])) { /* turning limits are in radians, which is v's unit there */
            append(c, (q[at] - model->limit_low[i]) * unit)[row] = 1.0;
        }
        if (isfinite(model->limit_high[i])) {
            append(c, (model->limit_high[i] - q[at]) * unit)[row] = -1.0;
        }
    }
}

static void fill_list(constraint_list *c, const double *q)
{
    for (int i = 0; i < c->set->count; i++) {
        add_contact(c, i);
    }
    add_loops(c);
    add_limits(c, q);
}

/* ---- verdicts ---------------------------------------------------------------------------------------------------- */

static double sum_of(int count, const double *y)
{
    double sum = 0.0;
    for (int j = 0; j < count; j++) {
        sum += y[j];
    }
    return sum;
}

/* Largest force of the load, as the residuals' F without springs. */
static double force_unit(const perp_model *model)
{
    double largest = 1e-3;
    for (int i = 0; i < model->body_count; i++) {
        largest = fmax(largest,
                       model->links[i].tree >= 0 ? model->links[i].mass * perp_vec3_norm(model->scene->gravity) : 0.0);
    }
    return largest;
}

/* Rows: what has neither spring nor inertia. */
static void choose_unheld(constraint_list *c)
{
    const perp_model *model = c->model;
    double *packed = need(calloc((size_t)model->mass_size + 1, sizeof *packed));
    double *mass = need(calloc((size_t)model->nv * (size_t)model->nv + 1, sizeof *mass));
    perp_mass_matrix(model, c->kinematics, packed);
    perp_mass_matrix_expand(model, packed, mass);
    for (int i = 0; i < model->nv; i++) {
        const bool held = model->role[i] != PERP_DOF_PASSIVE || is_given(c, i) ||
                          (quasistatic_has_inertia(c->rung) && mass[(ptrdiff_t)i * model->nv + i] > 0.0);
        c->row_of_dof[i] = held ? -1 : c->rows++;
    }
    free(packed);
    free(mass);
}

static double *load(const constraint_list *c)
{
    const perp_model *model = c->model;
    double *tau = need(calloc((size_t)model->nv + 1, sizeof *tau)), *own = need(calloc((size_t)model->nv + 1, 8));
    double *b = need(calloc((size_t)c->rows + 2, sizeof *b));
    perp_gravity_force(model, c->kinematics, tau);
    perp_applied_force(model, c->kinematics, c->t_end, own);
    for (int i = 0; i < model->nv; i++) {
        if (c->row_of_dof[i] >= 0) {
            b[c->row_of_dof[i]] = -(tau[i] + own[i]) * c->scale[i];
        }
    }
    free(tau);
    free(own);
    return b;
}

/* How far a residual is from a proof: the largest cosine of a column with it, which is at most 0 at the minimum. */
static double proof_gap(const constraint_list *c, const double *residual)
{
    double worst = 0.0, length = 0.0;
    for (int i = 0; i < c->rows; i++) {
        length += residual[i] * residual[i];
    }
    for (int j = 0; j < c->count; j++) {
        const double *column = c->g + (ptrdiff_t)j * c->rows;
        double product = 0.0, size = 0.0;
        for (int i = 0; i < c->rows; i++) {
            product += column[i] * residual[i];
            size += column[i] * column[i];
        }
        worst = size > 0.0 && length > 0.0 ? fmax(worst, product / sqrt(size * length)) : worst;
    }
    return worst;
}

/* The load's distance from what the facets can carry; `gap` as above. */
static quasistatic_finding carry(constraint_list *c, const perp_state *state, double *gap)
{
    quasistatic_finding finding = {.verdict = QUASISTATIC_CLOSE};
    open_list(c, state);
    choose_unheld(c);
    fill_list(c, state->q);
    double *b = load(c), *y = need(calloc((size_t)c->count + 1, sizeof *y));
    double *residual = need(calloc((size_t)c->rows + 1, sizeof *residual));
    const double unit = force_unit(c->model);
    if (c->rows > 0) {
        finding.distance = nonnegative_least_squares(c->rows, c->count, c->g, b, y, residual) / unit;
        finding.weight = sum_of(c->count, y) / unit;
    }
    *gap = proof_gap(c, residual);
    free(b);
    free(y);
    free(residual);
    close_list(c);
    return finding;
}

/* Proved by facets around round cones, disproved by facets inside. A rung balances each row to 1e-8 F. */
quasistatic_finding quasistatic_judge_unsupported(const perp_model *model, const perp_run_settings *settings,
                                                  const perp_rung *rung, const perp_state *state)
{
    constraint_list around = {.model = model, .settings = settings, .rung = rung};
    constraint_list inside = {.model = model, .settings = settings, .rung = rung, .keeps_inside = true};
    double gap;
    quasistatic_finding finding = carry(&around, state, &gap);
    if (finding.distance > 1e-7) {
        finding.verdict = gap < 1e-7 ? QUASISTATIC_PROVED : QUASISTATIC_CLOSE;
        return finding;
    }
    finding = carry(&inside, state, &gap);
    finding.verdict = finding.distance > 1e-8 ? QUASISTATIC_CLOSE : QUASISTATIC_DISPROVED;
    return finding;
}

/* Does a sum of the constraints, with weights >= 0, exclude every motion? */
static quasistatic_finding exclude_motion(constraint_list c, const perp_state *state, double depth)
{
    open_list(&c, state);
    for (int i = 0; i < c.model->nv; i++) {
        c.row_of_dof[i] = is_given(&c, i) ? -1 : c.rows++;
    }
    fill_list(&c, state->q);
    /* y >= 0 with G y = 0 and w'y = -1: the weighted sum of the constraints says 0 >= 1. In units of `depth`. */
    const int rows = c.rows + 1;
    const double unit = (depth > 0.0 ? depth : c.length) / c.length;
    double *columns = need(calloc((size_t)rows * (size_t)c.count + 1, sizeof *columns));
    double *b = need(calloc((size_t)rows, sizeof *b)), *residual = need(calloc((size_t)rows, sizeof *residual));
    double *y = need(calloc((size_t)c.count + 1, sizeof *y));
    for (int j = 0; j < c.count; j++) {
        memcpy(columns + (ptrdiff_t)j * rows, c.g + (ptrdiff_t)j * c.rows, (size_t)c.rows * sizeof *columns);
        columns[(ptrdiff_t)j * rows + c.rows] = c.offset[j] / unit;
    }
    b[c.rows] = -1.0;
    const double distance = nonnegative_least_squares(rows, c.count, columns, b, y, residual);
    const double sum = sum_of(c.count, y); /* some constraint stays violated by at least unit / sum */
    free(columns);
    free(b);
    free(residual);
    free(y);
    close_list(&c);
    return (quasistatic_finding){distance < 1e-6 && unit > 1e-8 * sum ? QUASISTATIC_PROVED
                                 : distance < 1e-2                    ? QUASISTATIC_CLOSE
                                                                      : QUASISTATIC_DISPROVED,
                                 distance, sum};
}

quasistatic_finding quasistatic_judge_infeasible(const perp_model *model, const perp_run_settings *settings,
                                                 const perp_rung *rung, const perp_state *state, double depth)
{
    const constraint_list c = {.model = model,
                               .settings = settings,
                               .rung = rung,
                               .keeps_inside = true,
                               .frictionless = !quasistatic_is_convex(rung)};
    return exclude_motion(c, state, depth);
}

quasistatic_finding quasistatic_judge_wedged(const perp_model *model, const perp_run_settings *settings,
                                             const perp_rung *rung, const perp_state *state, double depth)
{
    return exclude_motion((constraint_list){.model = model, .settings = settings, .rung = rung, .keeps_inside = true},
                          state, depth);
}
