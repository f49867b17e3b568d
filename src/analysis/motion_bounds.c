#include "analysis/motion_bounds.h"

#include "analysis/tolerances.h"
#include "linalg/vector.h"

#include <string.h>

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

static bool knows(const motion_problem *p, const motion_contact *c, int unknown)
{
    bool any = false;
    for (int r = 0; r < c->rows; r++) {
        any = any || p->J[(ptrdiff_t)(c->row + r) * p->n + unknown] != 0.0;
    }
    return any;
}

static bool any_knows(const motion_problem *p, const int *contacts, int count, int unknown)
{
    bool any = false;
    for (int i = 0; i < count && !any; i++) {
        any = knows(p, &p->contacts[contacts[i]], unknown);
    }
    return any;
}

int perp_motion_bounds_unknowns(const motion_problem *p, const int *contacts, int count)
{
    int unknowns = 0;
    for (int k = 0; k < p->n; k++) {
        unknowns += any_knows(p, contacts, count, k);
    }
    return unknowns;
}

/* Multipliers of a contact: a force along a line, corners of its polygon, or the rows of its disc. */
static int multipliers(const motion_bounds *b, int place)
{
    const int i = b->contacts[place];
    const motion_polygon *d = perp_motion_polygon(b->p, b->p->contacts[i].rows);
    return b->supports[i].count == 1 ? 1 : d ? d->count : b->p->contacts[i].rows;
}

static bool allocate(motion_bounds *b, perp_arena *arena)
{
    const size_t n = (size_t)b->n, rows = (size_t)b->rows, count = (size_t)b->count;
    b->g = PERP_ARENA_NEW(arena, double, n);
    b->jacobian = PERP_ARENA_NEW(arena, double, rows *n);
    b->offset = PERP_ARENA_NEW(arena, double, rows);
    b->block_start = PERP_ARENA_NEW(arena, int, n + 1);
    b->row_start = PERP_ARENA_NEW(arena, int, count + 1);
    b->dof_start = PERP_ARENA_NEW(arena, int, count + 1);
    b->dofs = PERP_ARENA_NEW(arena, int, count *n);
    b->round = PERP_ARENA_NEW(arena, bool, count);
    b->point.x = PERP_ARENA_NEW(arena, double, n);
    b->point.y = PERP_ARENA_NEW(arena, double, rows);
    return b->g && b->jacobian && b->offset && b->block_start && b->row_start && b->dof_start && b->dofs && b->round &&
           b->point.x && b->point.y;
}

/* ---- the cones --------------------------------------------------------------------------------------------------- */

/* Multiplier m of a contact is a force along this, in its rows: of a round cone (mu fn, f_t) are the multipliers. */
static void direction(const motion_bounds *b, int place, int m, double along[3])
{
    const int i = b->contacts[place];
    const motion_contact *c = &b->p->contacts[i];
    const motion_polygon *d = perp_motion_polygon(b->p, c->rows);
    memset(along, 0, 3 * sizeof *along);
    if (b->supports[i].count == 1) {
        memcpy(along, b->supports[i].along, (size_t)c->rows * sizeof *along);
    } else if (d) {
        along[0] = 1.0;
        for (int r = 1; r < c->rows; r++) {
            along[r] = c->mu * d->corner[m][r - 1];
        }
    } else {
        along[m] = m == 0 ? 1.0 / c->mu : 1.0;
    }
}

/* The force of the answer; what the law's tolerance leaves outside of the cone is moved onto it, by more normal force.
 */
static void inner_force(const motion_bounds *b, int place, double force[3])
{
    const int i = b->contacts[place];
    const motion_contact *c = &b->p->contacts[i];
    const motion_polygon *d = perp_motion_polygon(b->p, c->rows);
    const double *r = b->p->answer.r + c->row;
    if (b->supports[i].count == 1) {
        for (int k = 0; k < c->rows; k++) {
            force[k] = fmax(0.0, r[0]) * b->supports[i].along[k];
        }
        return;
    }
    double friction = 0.0;
    memcpy(force, r, (size_t)c->rows * sizeof *force);
    for (int j = 0; d && j < d->count; j++) {
        friction = fmax(friction, perp_vector_dot(c->rows - 1, d->facet[j], r + 1));
    }
    friction = d ? friction : hypot(r[1], r[2]);
    force[0] = fmax(r[0], friction / c->mu);
}

static void add_contact(motion_bounds *b, int place)
{
    const motion_contact *c = &b->p->contacts[b->contacts[place]];
    const int first = b->dof_start[place], rows = b->row_start[place + 1] - b->row_start[place];
    double force[3], along[3];
    double *jacobian = b->jacobian + b->entries;
    int count = 0;
    inner_force(b, place, force);
    for (int k = 0; k < b->p->n; k++) {
        if (b->column[k] >= 0 && knows(b->p, c, k)) {
            b->dofs[first + count++] = b->column[k];
        }
    }
    b->dof_start[place + 1] = first + count;
    for (int k = 0, at = 0; k < b->p->n; k++) {
        if (b->column[k] < 0 || !knows(b->p, c, k)) {
            continue;
        }
        for (int r = 0; r < c->rows; r++) {
            const double entry = b->p->J[(ptrdiff_t)(c->row + r) * b->p->n + k];
            b->g[b->column[k]] += force[r] * entry;
            for (int m = 0; m < rows; m++) {
                direction(b, place, m, along);
                jacobian[(ptrdiff_t)m * count + at] += along[r] * entry;
            }
        }
        at++;
    }
    b->entries += (ptrdiff_t)rows * count;
}

/* Unknowns beside each other that the same contacts know of are a block. */
static int list_blocks(motion_bounds *b)
{
    int blocks = 0, before = -1;
    for (int k = 0; k < b->p->n; k++) {
        if (b->column[k] < 0) {
            continue;
        }
        bool same = before >= 0;
        for (int i = 0; i < b->count && same; i++) {
            const motion_contact *c = &b->p->contacts[b->contacts[i]];
            same = knows(b->p, c, k) == knows(b->p, c, before);
        }
        if (!same) {
            b->block_start[blocks++] = b->column[k];
        }
        before = k;
    }
    b->block_start[blocks] = b->n;
    return blocks;
}

perp_status perp_motion_bounds_begin(motion_bounds *b, const motion_problem *p, const motion_support *supports,
                                     const int *contacts, int count, perp_arena *arena, perp_error *error)
{
    *b = (motion_bounds){.p = p, .supports = supports, .contacts = contacts, .count = count};
    b->column = PERP_ARENA_NEW(arena, int, (size_t)p->n);
    for (int k = 0; b->column && k < p->n; k++) {
        b->column[k] = any_knows(p, contacts, count, k) ? b->n++ : -1;
    }
    for (int i = 0; i < count; i++) {
        b->rows += multipliers(b, i);
    }
    if (!b->column || !allocate(b, arena)) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
    }
    for (int i = 0; i < count; i++) {
        const motion_contact *c = &p->contacts[contacts[i]];
        b->row_start[i + 1] = b->row_start[i] + multipliers(b, i);
        b->round[i] = supports[contacts[i]].count > 1 && !perp_motion_polygon(p, c->rows);
        add_contact(b, i);
    }
    b->problem = (perp_contact_qp){.n = b->n,
                                   .block_count = list_blocks(b),
                                   .block_start = b->block_start,
                                   .g = b->g,
                                   .contact_count = count,
                                   .row_start = b->row_start,
                                   .dof_start = b->dof_start,
                                   .dofs = b->dofs,
                                   .jacobian = b->jacobian,
                                   .slack_start = b->row_start,
                                   .offset = b->offset,
                                   .quadratic = b->round};
    return PERP_STATUS_OK;
}

/* ---- the ends ---------------------------------------------------------------------------------------------------- */

perp_status perp_motion_bounds_most(motion_bounds *b, int place, const double weight[3],
                                    perp_convex_workspace *workspace, double *most, bool *found, perp_error *error)
{
    enum { ITERATIONS = 50 };
    const int rows = b->p->contacts[b->contacts[place]].rows;
    perp_convex_settings settings = perp_convex_settings_default();
    perp_convex_info info;
    settings.tolerance = RANGE_MEETS;
    settings.minimum_norm = false;
    settings.max_iterations = ITERATIONS;
    memset(b->offset, 0, (size_t)b->rows * sizeof *b->offset);
    for (int m = b->row_start[place]; m < b->row_start[place + 1]; m++) {
        double along[3];
        direction(b, place, m - b->row_start[place], along);
        b->offset[m] = -perp_vector_dot(rows, weight, along);
    }
    perp_status status = perp_contact_qp_solve(&b->problem, &settings, workspace, &b->point, &info, NULL);
    if (status == PERP_STATUS_CAPACITY) {
        status = perp_contact_qp_reserve(&b->problem, workspace, NULL);
        status = status ? status : perp_contact_qp_solve(&b->problem, &settings, workspace, &b->point, &info, NULL);
    }
    *found = false;
    if (status != PERP_STATUS_OK) { /* too large for the solver: as if it had found none */
        return status == PERP_STATUS_OUT_OF_MEMORY ? perp_fail(error, status, "out of memory for the ranges of forces")
                                                   : PERP_STATUS_OK;
    }
    const double bound = perp_vector_dot(b->n, b->g, b->point.x);
    const double reached = -perp_vector_dot(b->rows, b->offset, b->point.y);
    *most = bound;
    *found = info.outcome == PERP_OUTCOME_SOLVED && fabs(bound - reached) <= RANGE_ENDS_HERE * (1.0 + fabs(bound)) &&
             perp_vector_largest(b->n, b->point.x) <= RANGE_STEEPEST;
    return PERP_STATUS_OK;
}

double perp_motion_bounds_normal(const motion_bounds *b, int place)
{
    double sum = 0.0;
    for (int m = b->row_start[place]; m < b->row_start[place + 1]; m++) {
        double along[3];
        direction(b, place, m - b->row_start[place], along);
        sum += along[0] * b->point.y[m];
    }
    return sum;
}
