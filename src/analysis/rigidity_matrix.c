/* The rows of the matrix that rigidity_matrix.h defines, and what constraints take from them. */
#include "analysis/rigidity_matrix.h"

#include "analysis/tolerances.h"
#include "linalg/dense.h"
#include "linalg/vector.h"

#include <perp/linalg.h>

#include <math.h>
#include <string.h>

/* ---- degrees of freedom ------------------------------------------------------------------------------------------ */

typedef struct free_dofs {
    int count;
    int *of_dof;    /* nv: -1 where it is prescribed */
    double *factor; /* count x count: L of the mass matrix */
} free_dofs;

static perp_status out_of_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
}

static perp_status find_free(analysis_point *point, free_dofs *f, perp_error *error)
{
    const perp_model *model = point->model;
    const size_t nv = (size_t)model->nv;
    double *packed = ANALYSIS_NEW(point, double, model->mass_size);
    double *dense = PERP_ARENA_NEW(point->arena, double, nv *nv);
    f->of_dof = ANALYSIS_NEW(point, int, nv);
    f->factor = PERP_ARENA_NEW(point->arena, double, nv *nv);
    if (!packed || !dense || !f->of_dof || !f->factor) {
        return out_of_memory(error);
    }
    for (int i = 0; i < model->nv; i++) {
        f->of_dof[i] = model->role[i] == PERP_DOF_PRESCRIBED ? -1 : f->count++;
    }
    perp_mass_matrix(model, point->kinematics, packed);
    perp_mass_matrix_expand(model, packed, dense);
    for (int i = 0; i < model->nv; i++) {
        for (int k = 0; k < model->nv; k++) {
            if (f->of_dof[i] >= 0 && f->of_dof[k] >= 0) {
                f->factor[f->of_dof[i] * f->count + f->of_dof[k]] = dense[(size_t)i * nv + (size_t)k];
            }
        }
    }
    int row;
    return perp_cholesky_factor(f->count, f->factor, f->count, &row) == PERP_STATUS_OK
               ? PERP_STATUS_OK
               : perp_fail(error, PERP_STATUS_BAD_INPUT, "what moves freely has no mass");
}

/* A row over velocities in the degrees of freedom in which the mass matrix is the identity. */
static void by_mass(const free_dofs *f, double *row)
{
    perp_cholesky_solve_lower(f->count, f->factor, f->count, (perp_matrix_view){row, f->count, 1, 1});
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* out += weight times row r of contact `index` of the set. */
static void add_contact_row(const analysis_point *point, const free_dofs *f, int index, int r, double weight,
                            double *out)
{
    const perp_contact_set *set = point->set;
    const int start = set->dof_start[index], columns = set->dof_start[index + 1] - start;
    const double *row = set->jacobian + (ptrdiff_t)set->rows * start + (ptrdiff_t)r * columns;
    for (int k = 0; k < columns; k++) {
        const int dof = f->of_dof[set->dofs[start + k]];
        if (dof >= 0) {
            out[dof] += weight * row[k];
        }
    }
}

/* out += weight times the row along friction direction k. */
static void add_tangent(const analysis_point *point, const free_dofs *f, int index, int k, double weight, double *out)
{
    const perp_contact *c = &point->set->contacts[index];
    add_contact_row(point, f, index, 1, weight * perp_vec3_dot(c->directions[k], c->t), out);
    if (point->set->rows > 2) {
        add_contact_row(point, f, index, 2, weight * perp_vec3_dot(c->directions[k], c->o), out);
    }
}

static void fill_contact(const analysis_point *point, const free_dofs *f, rigidity_matrix *m, int i)
{
    const rigidity_contact *c = &m->contacts[i];
    double *normal = m->normal + (ptrdiff_t)i * m->n, *force = m->force + (ptrdiff_t)i * m->n;
    add_contact_row(point, f, c->index, 0, 1.0, normal);
    add_contact_row(point, f, c->index, 0, 1.0, force);
    for (int k = 0; k < c->directions; k++) {
        double *tangent = m->tangent + (2 * (ptrdiff_t)i + k) * m->n;
        add_tangent(point, f, c->index, k, 1.0, tangent);
        if (c->kind == RIGIDITY_SLIDE) {
            add_tangent(point, f, c->index, k, -c->mu * c->along[k], force);
        }
        by_mass(f, tangent);
        m->tangent_size[2 * i + k] = sqrt(perp_vector_dot(m->n, tangent, tangent));
    }
    by_mass(f, normal);
    by_mass(f, force);
}

/* ---- what is held ------------------------------------------------------------------------------------------------ */

static void take_held_away(const rigidity_matrix *m, double *row)
{
    for (int pass = 0; pass < 2; pass++) { /* the second takes what rounding left */
        for (int k = 0; k < m->held_count; k++) {
            const double *held = m->held + (ptrdiff_t)k * m->n;
            const double along = perp_vector_dot(m->n, held, row);
            for (int i = 0; i < m->n; i++) {
                row[i] -= along * held[i];
            }
        }
    }
}

/* Orthonormalises a row against those that are held; one that they imply already adds nothing. `size`: of the row
 * before anything was taken away from it, beside which what is left may be rounding. */
static void hold(rigidity_matrix *m, const double *row, double size)
{
    double *next = m->held + (ptrdiff_t)m->held_count * m->n;
    if (m->held_count == m->n) {
        return;
    }
    memcpy(next, row, (size_t)m->n * sizeof *row);
    take_held_away(m, next);
    const double after = sqrt(perp_vector_dot(m->n, next, next));
    if (!(after > ROW_IMPLIED * size)) {
        return;
    }
    for (int i = 0; i < m->n; i++) {
        next[i] /= after;
    }
    m->held_count++;
}

static perp_status hold_loops(analysis_point *point, const free_dofs *f, rigidity_matrix *m, double *row,
                              perp_error *error)
{
    const perp_model *model = point->model;
    double residual[6], *jacobian = ANALYSIS_NEW(point, double, 6 * (size_t)model->nv);
    if (!jacobian) {
        return out_of_memory(error);
    }
    for (int loop = 0; loop < model->scene->loop_count; loop++) {
        perp_loop_evaluate(model, point->kinematics, loop, residual, jacobian);
        for (int r = 0; r < perp_loop_rows(model, loop); r++) {
            memset(row, 0, (size_t)m->n * sizeof *row);
            for (int k = 0; k < model->nv; k++) {
                if (f->of_dof[k] >= 0) {
                    row[f->of_dof[k]] = jacobian[(ptrdiff_t)r * model->nv + k];
                }
            }
            by_mass(f, row);
            hold(m, row, sqrt(perp_vector_dot(m->n, row, row)));
        }
    }
    return PERP_STATUS_OK;
}

/* A joint that rests at a limit and is not accelerated out of it is held there. */
static void hold_limits(const analysis_point *point, const free_dofs *f, const double *rate, rigidity_matrix *m,
                        double *row)
{
    const perp_model *model = point->model;
    for (int k = 0; k < model->nv; k++) {
        const int at = model->dof_q[k];
        if (f->of_dof[k] < 0 || at < 0 || !rate) {
            continue;
        }
        const double q = point->state->q[at];
        const bool there = q <= model->limit_low[k] + TOUCHING || q >= model->limit_high[k] - TOUCHING;
        if (there && fabs(point->state->v[k]) <= STILL && fabs(rate[k]) <= STILL) {
            memset(row, 0, (size_t)m->n * sizeof *row);
            row[f->of_dof[k]] = 1.0;
            by_mass(f, row);
            hold(m, row, sqrt(perp_vector_dot(m->n, row, row)));
        }
    }
}

perp_status perp_rigidity_rows(analysis_point *point, const double *rate, int count, rigidity_contact *contacts,
                               rigidity_matrix *m, perp_error *error)
{
    free_dofs f = {0};
    perp_status status = find_free(point, &f, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const size_t n = (size_t)f.count, rows = (size_t)count;
    *m = (rigidity_matrix){.count = count, .contacts = contacts, .n = f.count};
    m->normal = PERP_ARENA_NEW(point->arena, double, rows *n);
    m->force = PERP_ARENA_NEW(point->arena, double, rows *n);
    m->tangent = PERP_ARENA_NEW(point->arena, double, 2 * rows * n);
    m->tangent_size = PERP_ARENA_NEW(point->arena, double, 2 * rows);
    m->held = PERP_ARENA_NEW(point->arena, double, n *(n + 1));
    double *row = PERP_ARENA_NEW(point->arena, double, n);
    if (!m->normal || !m->force || !m->tangent || !m->tangent_size || !m->held || !row) {
        return out_of_memory(error);
    }
    for (int i = 0; i < count; i++) {
        fill_contact(point, &f, m, i);
    }
    status = hold_loops(point, &f, m, row, error);
    hold_limits(point, &f, rate, m, row);
    return status;
}

void perp_rigidity_hold(rigidity_matrix *m, int i)
{
    for (int k = 0; k < m->contacts[i].directions && m->contacts[i].kind == RIGIDITY_ROLL; k++) {
        hold(m, m->tangent + (2 * (ptrdiff_t)i + k) * m->n, m->tangent_size[2 * i + k]);
    }
}

void perp_rigidity_take_held_away(rigidity_matrix *m)
{
    for (ptrdiff_t i = 0; i < m->count; i++) {
        take_held_away(m, m->normal + i * m->n);
        take_held_away(m, m->force + i * m->n);
        take_held_away(m, m->tangent + 2 * i * m->n);
        take_held_away(m, m->tangent + (2 * i + 1) * m->n);
    }
}

perp_status perp_rigidity_normals_depend(analysis_point *point, const rigidity_matrix *m, bool *depend,
                                         perp_error *error)
{
    double *values = ANALYSIS_NEW(point, double, m->n);
    *depend = m->count > m->n;
    if (*depend || m->count == 0) {
        return PERP_STATUS_OK;
    }
    if (!values) {
        return out_of_memory(error);
    }
    const perp_status status = perp_singular_values(m->count, m->n, m->normal, m->n,
                                                    (perp_singular_arrays){.values = values}, &point->allocator, error);
    *depend = !(values[m->count - 1] > MATRIX_ROUNDING * values[0]);
    return status;
}

double perp_rigidity_entry(const rigidity_matrix *m, int i, int k)
{
    return perp_vector_dot(m->n, m->normal + (ptrdiff_t)i * m->n, m->force + (ptrdiff_t)k * m->n);
}
