#include "analysis/motion_forces.h"

#include "analysis/elimination.h"
#include "analysis/motion_bounds.h"
#include "analysis/tolerances.h"
#include "base/union_find.h"
#include "linalg/vector.h"

#include <string.h>

/* Changes of the forces: of contacts, then of limits, then of loops. Those that keep the balance are N z. */
typedef struct force_set {
    const motion_problem *p;
    perp_arena *arena;
    cone_program *program;
    const volatile bool *cancel;
    motion_support *contacts;
    int *limit_at;    /* 2 n: of the lower, of the upper limit; -1: it bears nothing */
    int count, faces; /* unknowns; contacts on a face */
    int free_count;   /* z */
    double *N;        /* count x free_count */
    int *group;       /* by z, towards the lowest of its group */
    int *column;      /* by z: the unknown of the program at hand, -1: of another group */
    double *row;      /* free_count */
    int *members;     /* contacts of the group at hand */
    int member_count;
    bool bounded; /* its ends are found by `bounds` */
    motion_bounds bounds;
    bool *at_zero; /* by member: forces were found with none along its n */
} force_set;

/* ---- where forces may be ----------------------------------------------------------------------------------------- */

static void along_force(const double *r, int rows, motion_support *s)
{
    s->count = 1;
    for (int k = 0; k < rows; k++) {
        s->along[k] = r[k] / r[0];
    }
}

/* What slides, or moves on the edge of the dual cone: friction is all along -u_t, or on that face of a polygon.
 * `normal_speed` is what stands beside u_t in the condition that r is square to (normal_speed, u_t). */
static void follow_slip(const motion_problem *p, const motion_contact *c, const double *r, const double *u,
                        double normal_speed, double zero, motion_support *s)
{
    const double slip = c->rows > 2 ? hypot(u[1], u[2]) : fabs(u[1]);
    if (c->rows > 2 && perp_motion_polygon(p, c->rows)) {
        const double size = hypot(normal_speed, slip);
        s->count = c->rows;
        s->on_face = true;
        s->normal[0] = normal_speed / size;
        s->normal[1] = u[1] / size;
        s->normal[2] = u[2] / size;
    } else if (r[0] > zero) {
        along_force(r, c->rows, s);
    } else {
        s->count = 1;
        s->along[0] = 1.0;
        for (int k = 1; k < c->rows; k++) {
            s->along[k] = -c->mu * u[k] / slip;
        }
    }
}

static motion_support support_of(const motion_problem *p, const motion_contact *c, const double *r, const double *u,
                                 double zero)
{
    motion_support s = {.along = {1.0, 0.0, 0.0}};
    const bool friction = c->rows > 1 && c->mu > 0.0;
    const double slip = !friction ? 0.0 : c->rows > 2 ? hypot(u[1], u[2]) : fabs(u[1]);
    const double most = friction ? c->mu * perp_motion_most_work(p, c, u) : 0.0;
    const double parting = p->law == MOTION_COULOMB ? u[0] : u[0] + c->room - most;
    if (p->law == MOTION_BARRIER || (r[0] <= zero && parting > zero)) {
        return s;
    }
    if (!friction) {
        s.count = 1;
    } else if (slip <= zero) {
        s.count = c->rows;
    } else {
        follow_slip(p, c, r, u, most, zero, &s);
    }
    return s;
}

static bool number_unknowns(force_set *f, double zero)
{
    const motion_problem *p = f->p;
    double *u = PERP_ARENA_NEW(f->arena, double, (size_t)p->row_count);
    f->contacts = PERP_ARENA_NEW(f->arena, motion_support, (size_t)p->contact_count);
    f->limit_at = PERP_ARENA_NEW(f->arena, int, 2 * (size_t)p->n);
    if (!u || !f->contacts || !f->limit_at) {
        return false;
    }
    perp_motion_slip(p, p->answer.x, u);
    for (int i = 0; i < p->contact_count; i++) {
        const motion_contact *c = &p->contacts[i];
        f->contacts[i] = support_of(p, c, p->answer.r + c->row, u + c->row, zero);
        f->contacts[i].first = f->count;
        f->count += f->contacts[i].count;
        f->faces += f->contacts[i].on_face;
    }
    for (int k = 0; k < 2 * p->n; k++) {
        const int dof = k / 2;
        const double force = k % 2 == 0 ? p->answer.y_lower[dof] : p->answer.y_upper[dof];
        const double room = k % 2 == 0 ? p->answer.x[dof] - p->lower[dof] : p->upper[dof] - p->answer.x[dof];
        f->limit_at[k] = force > zero || room <= zero ? f->count++ : -1;
    }
    f->count += p->equation_count;
    return true;
}

/* ---- the balance ------------------------------------------------------------------------------------------------- */

/* to[k * stride] += the force along unknown k of the motion. */
static void add_contact(const motion_problem *p, const motion_contact *c, const double *along, double *to, int stride)
{
    for (int r = 0; r < c->rows; r++) {
        const double *row = p->J + (ptrdiff_t)(c->row + r) * p->n;
        for (int k = 0; k < p->n && along[r] != 0.0; k++) {
            to[(ptrdiff_t)k * stride] += along[r] * row[k];
        }
    }
}

static void fill_contact(const force_set *f, int i, double *equations, int *face)
{
    static const double UNIT[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    const motion_support *s = &f->contacts[i];
    const motion_contact *c = &f->p->contacts[i];
    for (int k = 0; k < s->count; k++) {
        add_contact(f->p, c, s->count == 1 ? s->along : UNIT[k], equations + s->first + k, f->count);
    }
    if (s->on_face) {
        double *row = equations + (ptrdiff_t)(f->p->n + (*face)++) * f->count;
        memcpy(row + s->first, s->normal, (size_t)s->count * sizeof *row);
    }
}

/* The largest entry of every row becomes 1. */
static void scale_rows(double *rows, int count, int n)
{
    for (int i = 0; i < count; i++) {
        double *row = rows + (ptrdiff_t)i * n;
        const double largest = perp_vector_largest(n, row);
        for (int k = 0; k < n; k++) {
            row[k] = largest > ROW_NOTHING ? row[k] / largest : 0.0;
        }
    }
}

static double *balance_of(force_set *f)
{
    const motion_problem *p = f->p;
    double *equations = PERP_ARENA_NEW(f->arena, double, (size_t)(p->n + f->faces) * (size_t)f->count);
    int face = 0;
    for (int i = 0; equations && i < p->contact_count; i++) {
        fill_contact(f, i, equations, &face);
    }
    for (int k = 0; equations && k < 2 * p->n; k++) {
        if (f->limit_at[k] >= 0) {
            equations[(ptrdiff_t)(k / 2) * f->count + f->limit_at[k]] = k % 2 == 0 ? 1.0 : -1.0;
        }
    }
    for (int i = 0; equations && i < p->equation_count; i++) {
        for (int k = 0; k < p->n; k++) {
            equations[(ptrdiff_t)k * f->count + f->count - p->equation_count + i] = p->C[(ptrdiff_t)i * p->n + k];
        }
    }
    return equations;
}

/* N: changes of forces by z. */
static bool eliminate(force_set *f)
{
    const int rows = f->p->n + f->faces;
    elimination e;
    double *equations = balance_of(f);
    if (!equations) {
        return false;
    }
    scale_rows(equations, rows, f->count);
    if (!perp_eliminate(equations, rows, f->count, f->arena, &e)) {
        return false;
    }
    f->free_count = e.free_count;
    f->N = PERP_ARENA_NEW(f->arena, double, (size_t)f->count *(size_t)e.free_count);
    f->group = PERP_ARENA_NEW(f->arena, int, (size_t)e.free_count);
    f->column = PERP_ARENA_NEW(f->arena, int, (size_t)e.free_count);
    f->row = PERP_ARENA_NEW(f->arena, double, (size_t)e.free_count);
    f->members = PERP_ARENA_NEW(f->arena, int, (size_t)f->p->contact_count);
    f->at_zero = PERP_ARENA_NEW(f->arena, bool, (size_t)f->p->contact_count);
    if (!f->N || !f->group || !f->column || !f->row || !f->members || !f->at_zero) {
        return false;
    }
    for (int j = 0; j < e.free_count; j++) {
        f->N[(ptrdiff_t)e.free_column[j] * e.free_count + j] = 1.0;
        for (int i = 0; i < e.rank; i++) {
            const double entry = e.a[(ptrdiff_t)i * e.n + e.free_column[j]];
            f->N[(ptrdiff_t)e.pivot[i] * e.free_count + j] = fabs(entry) > RANK_ROUNDING ? -entry : 0.0;
        }
    }
    return true;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* All z that change one of these unknowns are of a group; `lowest` is one that does, or -1. Returns one. */
static int join(force_set *f, int unknown, int lowest)
{
    for (int j = 0; j < f->free_count; j++) {
        if (f->N[(ptrdiff_t)unknown * f->free_count + j] != 0.0) {
            const int here = perp_union_root(f->group, j);
            const int there = lowest < 0 ? here : perp_union_root(f->group, lowest);
            lowest = here < there ? here : there;
            f->group[here < there ? there : here] = lowest;
        }
    }
    return lowest;
}

static void find_groups(force_set *f)
{
    for (int j = 0; j < f->free_count; j++) {
        f->group[j] = j;
    }
    for (int i = 0; i < f->p->contact_count; i++) {
        int lowest = -1;
        for (int k = 0; k < f->contacts[i].count; k++) {
            lowest = join(f, f->contacts[i].first + k, lowest);
        }
    }
    for (int k = f->p->contact_count > 0
                     ? f->contacts[f->p->contact_count - 1].first + f->contacts[f->p->contact_count - 1].count
                     : 0;
         k < f->count; k++) {
        join(f, k, -1);
    }
}

/* The group of a contact's forces; -1: all are determined. */
static int group_of(force_set *f, const motion_support *s)
{
    for (int k = 0; k < s->count; k++) {
        for (int j = 0; j < f->free_count; j++) {
            if (f->N[(ptrdiff_t)(s->first + k) * f->free_count + j] != 0.0) {
                return perp_union_root(f->group, j);
            }
        }
    }
    return -1;
}

/* ---- the programs ------------------------------------------------------------------------------------------------ */

/* to += weight times the change of an unknown, over the unknowns of the program. */
static void add_change(const force_set *f, int unknown, double weight, double *to)
{
    for (int j = 0; j < f->free_count; j++) {
        if (f->column[j] >= 0) {
            to[f->column[j]] += weight * f->N[(ptrdiff_t)unknown * f->free_count + j];
        }
    }
}

/* An inequality: a value now, which may be below 0 by what the law's tolerance leaves. */
static double *add_row(const force_set *f, double now)
{
    double *row = perp_cone_program_cone(f->program, 1);
    f->program->b[f->program->rows - 1] = fmax(0.0, now);
    return row;
}

/* What is left of a row where changes cancel is rounding, and would be taken for a bound: the row goes. */
static void drop_rounding(const force_set *f, const double *row)
{
    cone_program *program = f->program;
    if (perp_vector_largest(program->n, row) <= RANK_ROUNDING) {
        program->rows--;
        program->cones--;
    }
}

static void add_polygon(const force_set *f, const motion_polygon *d, const motion_contact *c, const motion_support *s)
{
    const double *r = f->p->answer.r + c->row;
    for (int j = 0; j < d->count; j++) {
        double now = c->mu * r[0];
        for (int k = 1; k < c->rows; k++) {
            now -= d->facet[j][k - 1] * r[k];
        }
        double *row = add_row(f, now);
        add_change(f, s->first, c->mu, row);
        for (int k = 1; k < c->rows; k++) {
            add_change(f, s->first + k, -d->facet[j][k - 1], row);
        }
        drop_rounding(f, row);
    }
}

static void add_disc(const force_set *f, const motion_contact *c, const motion_support *s)
{
    const double *r = f->p->answer.r + c->row;
    double *rows = perp_cone_program_cone(f->program, c->rows);
    double *b = f->program->b + f->program->rows - c->rows;
    add_change(f, s->first, c->mu, rows);
    for (int k = 1; k < c->rows; k++) {
        add_change(f, s->first + k, 1.0, rows + (ptrdiff_t)k * f->program->n);
        b[k] = r[k];
    }
    b[0] = fmax(c->mu * r[0], hypot(b[1], b[2]));
}

static void add_contact_rows(const force_set *f, int i)
{
    const motion_support *s = &f->contacts[i];
    const motion_contact *c = &f->p->contacts[i];
    const motion_polygon *d = perp_motion_polygon(f->p, c->rows);
    if (s->count == 1) {
        double *row = add_row(f, f->p->answer.r[c->row]);
        add_change(f, s->first, 1.0, row);
        drop_rounding(f, row);
    } else if (d) {
        add_polygon(f, d, c, s);
    } else {
        add_disc(f, c, s);
    }
}

static bool changes(const force_set *f, int unknown)
{
    bool any = false;
    for (int j = 0; j < f->free_count; j++) {
        any = any || (f->column[j] >= 0 && f->N[(ptrdiff_t)unknown * f->free_count + j] != 0.0);
    }
    return any;
}

/* All forces of a group; the answer's are at 0. */
static perp_status put_program(force_set *f, int n, perp_error *error)
{
    const motion_problem *p = f->p;
    int rows = 2 * p->n;
    for (int i = 0; i < p->contact_count; i++) {
        rows += 3 + (p->wide.count > 2 ? p->wide.count : 2);
    }
    const perp_status status = perp_cone_program_begin(f->program, n, rows, 0, error);
    for (int i = 0; i < f->member_count && status == PERP_STATUS_OK; i++) {
        add_contact_rows(f, f->members[i]);
    }
    for (int k = 0; k < 2 * p->n && status == PERP_STATUS_OK; k++) {
        if (f->limit_at[k] >= 0 && changes(f, f->limit_at[k])) {
            const double force = k % 2 == 0 ? p->answer.y_lower[k / 2] : p->answer.y_upper[k / 2];
            add_change(f, f->limit_at[k], 1.0, add_row(f, force));
        }
    }
    return status;
}

/* Are the group's forces those of contacts alone, none of them on a face? */
static bool has_contacts_only(const force_set *f)
{
    int first_other = 0;
    for (int i = 0; i < f->p->contact_count; i++) {
        first_other += f->contacts[i].count;
    }
    bool only = true;
    for (int unknown = first_other; unknown < f->count && only; unknown++) {
        only = !changes(f, unknown);
    }
    for (int i = 0; i < f->member_count && only; i++) {
        only = !f->contacts[f->members[i]].on_face;
    }
    return only;
}

/* What is no smaller by what the balance leaves free is asked by the bounds. */
static perp_status begin_group(force_set *f, int group, perp_error *error)
{
    const motion_problem *p = f->p;
    int n = 0;
    f->member_count = 0;
    for (int j = 0; j < f->free_count; j++) {
        f->column[j] = perp_union_root(f->group, j) == group ? n++ : -1;
    }
    for (int i = 0; i < p->contact_count; i++) {
        if (f->contacts[i].count > 0 && group_of(f, &f->contacts[i]) == group) {
            f->at_zero[f->member_count] = false;
            f->members[f->member_count++] = i;
        }
    }
    const perp_status status = put_program(f, n, error);
    f->bounded = has_contacts_only(f) && n >= perp_motion_bounds_unknowns(p, f->members, f->member_count);
    return f->bounded && status == PERP_STATUS_OK
               ? perp_motion_bounds_begin(&f->bounds, p, f->contacts, f->members, f->member_count, f->arena, error)
               : status;
}

static perp_status cancelled(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_CANCELLED, "the search for the ranges of forces was cancelled");
}

/* How far a sum of changes goes, `sign` times as far as it can; the program's g is that sum. */
static perp_status find_end(force_set *f, double sign, double now, double *end, bool *found, perp_error *error)
{
    cone_program *p = f->program;
    perp_convex_info info;
    if (f->cancel && *f->cancel) {
        return cancelled(error);
    }
    for (int j = 0; j < p->n; j++) {
        p->g[j] *= -sign;
    }
    perp_error own = {0};
    const perp_status status = perp_cone_program_solve(p, RANGE_MEETS, false, &info, &own);
    double sum = 0.0;
    for (int j = 0; j < p->n; j++) {
        p->g[j] *= -sign;
        sum += p->g[j] * p->point.x[j];
    }
    if (status == PERP_STATUS_OUT_OF_MEMORY) {
        return perp_fail(error, status, "out of memory for the ranges of forces");
    }
    if (status == PERP_STATUS_OK && info.outcome == PERP_OUTCOME_SOLVED) {
        *end = now + (fabs(sum) <= RANGE_ENDS_HERE ? 0.0 : sum);
    } else if (status == PERP_STATUS_OK && info.outcome == PERP_OUTCOME_UNBOUNDED) {
        *end = sign * INFINITY;
    } else {
        *found = false;
    }
    return PERP_STATUS_OK;
}

/* The same by the bounds, from sums and not from their changes. Forces on the way that leave a contact without any are
 * kept in mind: its least normal force is 0 then. */
static perp_status find_bound(force_set *f, int member, double sign, const double weight[3], double now, double *end,
                              bool *found, perp_error *error)
{
    double most, signed_weight[3];
    for (int r = 0; r < 3; r++) {
        signed_weight[r] = sign * weight[r];
    }
    if (f->cancel && *f->cancel) {
        return cancelled(error);
    }
    const perp_status status =
        perp_motion_bounds_most(&f->bounds, member, signed_weight, f->program->solver, &most, found, error);
    if (status != PERP_STATUS_OK || !*found) {
        return status;
    }
    *end = fabs(sign * most - now) <= RANGE_ENDS_HERE ? now : sign * most;
    for (int i = 0; i < f->member_count; i++) {
        f->at_zero[i] = f->at_zero[i] || perp_motion_bounds_normal(&f->bounds, i) <= RANGE_MEETS;
    }
    return PERP_STATUS_OK;
}

/* Both ends along `weight`, of what can change; where the bounds do not tell an end, by the program. */
static perp_status find_ends(force_set *f, int member, int k, const double weight[3], double now, double ends[2],
                             bool *found, perp_error *error)
{
    perp_status status = PERP_STATUS_OK;
    for (int side = 1; side >= 0 && status == PERP_STATUS_OK; side--) {
        const double sign = side > 0 ? 1.0 : -1.0;
        bool bounded = side == 0 && k == 0 && f->bounded && f->at_zero[member];
        if (bounded) {
            ends[0] = 0.0;
            continue;
        }
        if (f->bounded) {
            status = find_bound(f, member, sign, weight, now, &ends[side], &bounded, error);
        }
        if (!bounded && status == PERP_STATUS_OK) {
            status = find_end(f, sign, now, &ends[side], found, error);
        }
    }
    return status;
}

/* Component k of a contact: 0 along n, 1 along t, 2 along o. `weight`: of its rows. */
static perp_status find_range(force_set *f, int member, int k, const double weight[3], motion_force_range *range,
                              perp_error *error)
{
    const int i = f->members[member];
    const motion_support *s = &f->contacts[i];
    const motion_contact *c = &f->p->contacts[i];
    cone_program *p = f->program;
    double now = 0.0, along = 0.0;
    memset(p->g, 0, (size_t)p->n * sizeof *p->g);
    for (int r = 0; r < c->rows; r++) {
        now += weight[r] * f->p->answer.r[c->row + r];
        along += weight[r] * s->along[r];
        if (s->count > 1) {
            add_change(f, s->first + r, weight[r], p->g);
        }
    }
    if (s->count == 1) {
        add_change(f, s->first, along, p->g);
    }
    range->end[k][0] = range->end[k][1] = now;
    if (perp_vector_largest(p->n, p->g) <= RANK_ROUNDING) {
        return PERP_STATUS_OK;
    }
    double ends[2] = {k == 0 ? 0.0 : -INFINITY, INFINITY};
    const perp_status status = find_ends(f, member, k, weight, now, ends, &range->found, error);
    range->end[k][0] = fmin(now, k == 0 ? fmax(0.0, ends[0]) : ends[0]);
    range->end[k][1] = fmax(now, ends[1]);
    return status;
}

static void put_weights(const motion_contact *c, int k, double weight[3])
{
    memset(weight, 0, 3 * sizeof *weight);
    weight[0] = k == 0 ? 1.0 : 0.0;
    for (int r = 1; r < c->rows && k > 0; r++) {
        weight[r] = c->axis[k - 1][r - 1];
    }
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void put_answer(const motion_problem *p, motion_force_range *ranges)
{
    for (int i = 0; i < p->contact_count; i++) {
        const motion_contact *c = &p->contacts[i];
        ranges[i].found = true;
        for (int k = 0; k < 3; k++) {
            double weight[3];
            put_weights(c, k, weight);
            ranges[i].end[k][0] = ranges[i].end[k][1] = perp_vector_dot(c->rows, weight, p->answer.r + c->row);
        }
    }
}

perp_status perp_motion_force_ranges(const motion_problem *p, double zero, cone_program *program, perp_arena *arena,
                                     const volatile bool *cancel, motion_force_range *ranges, perp_error *error)
{
    force_set f = {.p = p, .arena = arena, .program = program, .cancel = cancel};
    put_answer(p, ranges);
    if (!number_unknowns(&f, zero) || !eliminate(&f)) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
    }
    find_groups(&f);
    perp_status status = PERP_STATUS_OK;
    for (int group = 0; group < f.free_count && status == PERP_STATUS_OK; group++) {
        if (f.group[group] != group) {
            continue;
        }
        status = begin_group(&f, group, error);
        for (int k = 2; k >= 0; k--) { /* along n at last: most contacts were at zero by then */
            for (int i = 0; i < f.member_count && status == PERP_STATUS_OK; i++) {
                double weight[3];
                put_weights(&p->contacts[f.members[i]], k, weight);
                status = find_range(&f, i, k, weight, &ranges[f.members[i]], error);
            }
        }
    }
    return status;
}
