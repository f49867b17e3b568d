#include "analysis/motion_only.h"

#include "analysis/elimination.h"
#include "analysis/tolerances.h"
#include "linalg/vector.h"
#include "solver/cell_search.h"

#include <string.h>

enum { NODE_WORK = 8, CONTACTS_MOST = 16 };         /* beyond, work ends the search anyway */
enum { TANGENTS = 8, CONTACT_ROWS = 4 + TANGENTS }; /* of what sticks: two normal rows, two slips, the cone */

static const double SHARE_OF_WORK = 0.25; /* of what a search for all answers has */

static const double TURN = 6.283185307179586476925;

typedef enum only_mode { ONLY_UNDECIDED, ONLY_OPEN, ONLY_STICKS, ONLY_SLIDES } only_mode;

typedef struct only_choice {
    only_mode mode;  /* of a limit: OPEN is off it, STICKS at it */
    double from, to; /* SLIDES: angles of the slip, on the friction directions; on a line 0 or half a turn */
} only_choice;

typedef struct only_search {
    const motion_problem *p;
    perp_arena *arena;
    double room;
    int64_t work, most_work;
    const volatile bool *cancel;
    /* Unknowns: x in units of `room` 1 / ROOM, r, y, then what is left of limits; by z. */
    int unknowns, parameters;
    double *N; /* unknowns x parameters */
    int limit_count, *limit_dof, *limit_side;
    only_choice *contacts, *limits;
    perp_cell_table table;
    unsigned char *asked;
    int row_count; /* of the table so far */
    double *size;
    int *row_exponent, *column_exponent;
    perp_cell_dictionary dictionary;
    double *z, *x, *r, *u, *weights;
    bool undecided; /* the proof has failed */
} only_search;

/* Of the unknown x: so much of 1 is `room`. */
static const double ROOM = NEAR_ANSWER;

/* ---- the space of what balances ---------------------------------------------------------------------------------- */

static double unit_of_x(const only_search *s)
{
    return s->room / ROOM;
}

static int first_force(const only_search *s)
{
    return s->p->n;
}

static int first_limit(const only_search *s)
{
    return s->p->n + s->p->row_count + s->p->equation_count;
}

static void list_limits(only_search *s)
{
    const motion_problem *p = s->p;
    for (int k = 0; k < 2 * p->n; k++) {
        if (isfinite(k % 2 == 0 ? p->lower[k / 2] : p->upper[k / 2])) {
            s->limit_dof[s->limit_count] = k / 2;
            s->limit_side[s->limit_count++] = k % 2;
        }
    }
}

static void fill_balance(const only_search *s, double *equations)
{
    const motion_problem *p = s->p;
    const int n = s->unknowns;
    for (int k = 0; k < p->n; k++) {
        double *row = equations + (ptrdiff_t)k * n;
        for (int j = 0; j < p->n; j++) {
            row[j] = p->A[(ptrdiff_t)k * p->n + j] * unit_of_x(s);
        }
        for (int i = 0; i < p->row_count; i++) {
            row[first_force(s) + i] = -p->J[(ptrdiff_t)i * p->n + k];
        }
        for (int i = 0; i < p->equation_count; i++) {
            row[first_force(s) + p->row_count + i] = -p->C[(ptrdiff_t)i * p->n + k];
        }
        for (int i = 0; i < s->limit_count; i++) {
            row[first_limit(s) + i] = s->limit_dof[i] != k ? 0.0 : s->limit_side[i] == 0 ? -1.0 : 1.0;
        }
    }
    for (int i = 0; i < p->equation_count; i++) {
        memcpy(equations + (ptrdiff_t)(p->n + i) * n, p->C + (ptrdiff_t)i * p->n, (size_t)p->n * sizeof *equations);
    }
}

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

/* N: unknowns by z. */
static bool find_space(only_search *s)
{
    const motion_problem *p = s->p;
    const int rows = p->n + p->equation_count;
    elimination e;
    double *equations = PERP_ARENA_NEW(s->arena, double, (size_t)rows *(size_t)s->unknowns);
    if (!equations) {
        return false;
    }
    fill_balance(s, equations);
    scale_rows(equations, rows, s->unknowns);
    if (!perp_eliminate(equations, rows, s->unknowns, s->arena, &e)) {
        return false;
    }
    s->parameters = e.free_count;
    s->N = PERP_ARENA_NEW(s->arena, double, (size_t)s->unknowns *(size_t)e.free_count);
    for (int j = 0; s->N && j < e.free_count; j++) {
        s->N[(ptrdiff_t)e.free_column[j] * e.free_count + j] = 1.0;
        for (int i = 0; i < e.rank; i++) {
            s->N[(ptrdiff_t)e.pivot[i] * e.free_count + j] = -e.a[(ptrdiff_t)i * e.n + e.free_column[j]];
        }
    }
    return s->N != NULL;
}

static bool hold(only_search *s)
{
    const motion_problem *p = s->p;
    const size_t columns = (size_t)s->parameters;
    const int rows = p->contact_count * CONTACT_ROWS + 2 * s->limit_count + 1;
    s->table = (perp_cell_table){.rows = rows, .columns = s->parameters};
    s->table.a = PERP_ARENA_NEW(s->arena, double, (size_t)rows *columns);
    s->table.b = PERP_ARENA_NEW(s->arena, double, (size_t)rows);
    s->asked = PERP_ARENA_NEW(s->arena, unsigned char, (size_t)rows);
    s->size = PERP_ARENA_NEW(s->arena, double, (size_t)rows);
    s->row_exponent = PERP_ARENA_NEW(s->arena, int, (size_t)rows);
    s->column_exponent = PERP_ARENA_NEW(s->arena, int, columns);
    s->contacts = PERP_ARENA_NEW(s->arena, only_choice, (size_t)p->contact_count);
    s->limits = PERP_ARENA_NEW(s->arena, only_choice, (size_t)s->limit_count);
    s->z = PERP_ARENA_NEW(s->arena, double, columns);
    s->weights = PERP_ARENA_NEW(s->arena, double, columns);
    s->x = PERP_ARENA_NEW(s->arena, double, (size_t)p->n);
    s->r = PERP_ARENA_NEW(s->arena, double, (size_t)(p->row_count + s->limit_count));
    s->u = PERP_ARENA_NEW(s->arena, double, (size_t)p->row_count);
    return s->table.a && s->table.b && s->asked && s->size && s->row_exponent && s->column_exponent && s->contacts &&
           s->limits && s->z && s->weights && s->x && s->r && s->u &&
           perp_cell_dictionary_create(&s->dictionary, &s->table, &s->work, s->arena);
}

/* ---- rows of a node ---------------------------------------------------------------------------------------------- */

static void add_unknown(const only_search *s, int unknown, double weight, double *to)
{
    const double *from = s->N + (ptrdiff_t)unknown * s->parameters;
    for (int j = 0; j < s->parameters && weight != 0.0; j++) {
        to[j] += weight * from[j];
    }
}

static double *begin_row(only_search *s, perp_cell_relation relation, double now)
{
    double *row = s->table.a + (ptrdiff_t)s->row_count * s->parameters;
    memset(row, 0, (size_t)s->parameters * sizeof *row);
    s->table.b[s->row_count] = now;
    s->asked[s->row_count++] = (unsigned char)relation;
    return row;
}

/* A row that no z changes says nothing of z, unless it is broken by more than the answer's own residual. */
static void end_row(only_search *s)
{
    double *row = s->table.a + (ptrdiff_t)(s->row_count - 1) * s->parameters, *b = &s->table.b[s->row_count - 1];
    const double largest = perp_vector_largest(s->parameters, row);
    if (largest <= RANK_ROUNDING) {
        const bool equal = s->asked[s->row_count - 1] == PERP_CELL_EQUAL;
        const bool holds = equal ? fabs(*b) <= COUNTS_AS_NONE : *b >= -COUNTS_AS_NONE;
        s->row_count -= holds ? 1 : 0;
        memset(row, 0, (size_t)s->parameters * sizeof *row);
        return;
    }
    for (int j = 0; j < s->parameters; j++) {
        row[j] = fabs(row[j]) > ENTRY_NOTHING * largest ? row[j] / largest : 0.0;
    }
    *b /= largest;
    if (fabs(*b) < ROW_MEETS && *b != 0.0) { /* an inequality gives way; an equation is met by the answer */
        *b = s->asked[s->row_count - 1] == PERP_CELL_EQUAL ? 0.0 : ROW_MEETS;
    }
}

/* weight . r or weight . u of a contact. */
static void add_force_row(only_search *s, const motion_contact *c, const double *weight, perp_cell_relation relation)
{
    double *row = begin_row(s, relation, perp_vector_dot(c->rows, weight, s->p->answer.r + c->row));
    for (int k = 0; k < c->rows; k++) {
        add_unknown(s, first_force(s) + c->row + k, weight[k], row);
    }
    end_row(s);
}

/* In units of x, so that its numbers are about 1. */
static void add_slip_row(only_search *s, const motion_contact *c, const double *weight, perp_cell_relation relation)
{
    const motion_problem *p = s->p;
    double now = 0.0;
    for (int k = 0; k < c->rows; k++) {
        now +=
            weight[k] * (p->w[c->row + k] + perp_vector_dot(p->n, p->J + (ptrdiff_t)(c->row + k) * p->n, p->answer.x));
    }
    double *row = begin_row(s, relation, now / unit_of_x(s));
    for (int k = 0; k < c->rows; k++) {
        for (int j = 0; j < p->n; j++) {
            add_unknown(s, j, weight[k] * p->J[(ptrdiff_t)(c->row + k) * p->n + j], row);
        }
    }
    end_row(s);
}

static const double NORMAL[3] = {1.0, 0.0, 0.0}, ALONG[2][3] = {{0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

/* mu r_n >= r_t along `angle`, times `share` of r_n; with a sign. */
static void add_cone_row(only_search *s, const motion_contact *c, double angle, double share, double sign)
{
    const double weight[3] = {sign * share * c->mu, -sign * cos(angle), -sign * sin(angle)};
    add_force_row(s, c, weight, PERP_CELL_AT_LEAST);
}

static void ask_within_cone(only_search *s, const motion_contact *c)
{
    const int tangents = c->rows == 2 ? 2 : TANGENTS;
    for (int j = 0; j < tangents && c->rows > 1 && c->mu > 0.0; j++) {
        add_cone_row(s, c, TURN * j / tangents, 1.0, 1.0);
    }
}

/* On a line friction is one direction; on a disc an arc. */
static void ask_slide(only_search *s, const motion_contact *c, const only_choice *m)
{
    if (c->rows == 2) {
        const double way = cos(m->from) > 0.0 ? 1.0 : -1.0;
        const double force[2] = {c->mu, way}, slip[2] = {0.0, way};
        add_force_row(s, c, force, PERP_CELL_EQUAL);
        add_slip_row(s, c, slip, PERP_CELL_AT_LEAST);
        return;
    }
    const double half = 0.5 * (m->to - m->from), middle = 0.5 * (m->to + m->from), back = 0.5 * TURN;
    const double left[3] = {0.0, -sin(m->from), cos(m->from)}, right[3] = {0.0, sin(m->to), -cos(m->to)};
    const double from_left[3] = {0.0, -left[1], -left[2]}, from_right[3] = {0.0, -right[1], -right[2]};
    add_slip_row(s, c, left, PERP_CELL_AT_LEAST);
    add_slip_row(s, c, right, PERP_CELL_AT_LEAST);
    add_force_row(s, c, from_left, PERP_CELL_AT_LEAST);
    add_force_row(s, c, from_right, PERP_CELL_AT_LEAST);
    add_cone_row(s, c, middle + back, cos(half) - CHORD_WIDER, -1.0);
    add_cone_row(s, c, m->from + back, 1.0, 1.0);
    add_cone_row(s, c, m->to + back, 1.0, 1.0);
}

static void ask_contact(only_search *s, int i)
{
    const motion_contact *c = &s->p->contacts[i];
    const only_choice *m = &s->contacts[i];
    const bool open = m->mode == ONLY_OPEN;
    add_force_row(s, c, NORMAL, open ? PERP_CELL_EQUAL : PERP_CELL_AT_LEAST);
    add_slip_row(s, c, NORMAL, open || m->mode == ONLY_UNDECIDED ? PERP_CELL_AT_LEAST : PERP_CELL_EQUAL);
    for (int k = 1; k < c->rows && (open || c->mu == 0.0); k++) {
        add_force_row(s, c, ALONG[k - 1], PERP_CELL_EQUAL);
    }
    for (int k = 1; k < c->rows && m->mode == ONLY_STICKS && c->mu > 0.0; k++) {
        add_slip_row(s, c, ALONG[k - 1], PERP_CELL_EQUAL);
    }
    if (m->mode == ONLY_SLIDES) {
        ask_slide(s, c, m);
    } else if (!open) {
        ask_within_cone(s, c);
    }
}

static void ask_limit(only_search *s, int i)
{
    const motion_problem *p = s->p;
    const int k = s->limit_dof[i];
    const bool low = s->limit_side[i] == 0;
    const only_mode mode = s->limits[i].mode;
    const double force = low ? p->answer.y_lower[k] : p->answer.y_upper[k];
    const double space = low ? p->answer.x[k] - p->lower[k] : p->upper[k] - p->answer.x[k];
    double *row = begin_row(s, mode == ONLY_OPEN ? PERP_CELL_EQUAL : PERP_CELL_AT_LEAST, force);
    add_unknown(s, first_limit(s) + i, 1.0, row);
    end_row(s);
    row = begin_row(s, mode == ONLY_STICKS ? PERP_CELL_EQUAL : PERP_CELL_AT_LEAST, space / unit_of_x(s));
    add_unknown(s, k, low ? 1.0 : -1.0, row);
    end_row(s);
}

/* Equations first, so that an inequality which they break is broken by much; that the rows met so far leave one corner
 * only, and that to rounding, is a doubt which another order may not have. */
static perp_cell_answer ask_in_order(only_search *s, int way)
{
    perp_cell_answer answer = PERP_CELL_YES;
    perp_cell_dictionary_start(&s->dictionary);
    s->dictionary.doubtful = false;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < s->row_count && answer == PERP_CELL_YES; k++) {
            const int row = way > 0 ? k : s->row_count - 1 - k;
            if ((s->asked[row] == PERP_CELL_EQUAL) == (pass == 0)) {
                answer = perp_cell_ask(&s->dictionary, row, (perp_cell_relation)s->asked[row]);
            }
        }
    }
    return answer;
}

static perp_cell_answer ask_all(only_search *s)
{
    s->row_count = 0;
    for (int i = 0; i < s->p->contact_count; i++) {
        ask_contact(s, i);
    }
    for (int i = 0; i < s->limit_count; i++) {
        ask_limit(s, i);
    }
    s->table.rows = s->row_count;
    s->work += NODE_WORK * (int64_t)s->row_count * s->parameters; /* of filling and scaling */
    for (int i = 0; i < s->row_count; i++) {
        s->size[i] = 1.0;
    }
    if (!perp_cell_scale(&s->table, s->size, s->row_exponent, s->column_exponent)) {
        return PERP_CELL_TROUBLE;
    }
    const perp_cell_answer answer = ask_in_order(s, 1);
    return answer == PERP_CELL_NO && s->dictionary.doubtful ? ask_in_order(s, -1) : answer;
}

/* ---- what is left ------------------------------------------------------------------------------------------------ */

/* x, u and r at the dictionary's point. */
static void read_point(only_search *s)
{
    const motion_problem *p = s->p;
    perp_cell_point(&s->dictionary, s->z);
    for (int j = 0; j < s->parameters; j++) {
        s->z[j] = ldexp(s->z[j], s->column_exponent[j]);
    }
    for (int k = 0; k < p->n; k++) {
        const double change = perp_vector_dot(s->parameters, s->N + (ptrdiff_t)k * s->parameters, s->z);
        s->x[k] = p->answer.x[k] + change * unit_of_x(s);
    }
    for (int i = 0; i < p->row_count; i++) {
        const double *row = s->N + (ptrdiff_t)(first_force(s) + i) * s->parameters;
        s->r[i] = p->answer.r[i] + perp_vector_dot(s->parameters, row, s->z);
    }
    for (int i = 0; i < s->limit_count; i++) {
        const double *row = s->N + (ptrdiff_t)(first_limit(s) + i) * s->parameters;
        const int k = s->limit_dof[i];
        s->r[p->row_count + i] = (s->limit_side[i] == 0 ? p->answer.y_lower[k] : p->answer.y_upper[k]) +
                                 perp_vector_dot(s->parameters, row, s->z);
    }
    perp_motion_slip(p, s->x, s->u);
}

static bool is_far(const only_search *s)
{
    for (int k = 0; k < s->p->n; k++) {
        if (fabs(s->x[k] - s->p->answer.x[k]) > s->room) {
            return true;
        }
    }
    return false;
}

/* Is the motion the answer's all over what is left? Leaves x at the farthest that was seen. */
static bool is_answer(only_search *s)
{
    const motion_problem *p = s->p;
    for (int k = 0; k < 2 * p->n; k++) {
        const double *row = s->N + (ptrdiff_t)(k / 2) * s->parameters;
        if (perp_vector_largest(s->parameters, row) <= RANK_ROUNDING * ROOM) {
            continue;
        }
        for (int j = 0; j < s->parameters; j++) {
            s->weights[j] = ldexp(k % 2 == 0 ? row[j] : -row[j], s->column_exponent[j]);
        }
        if (perp_cell_largest(&s->dictionary, s->weights, false) != PERP_CELL_YES) {
            return false;
        }
        read_point(s);
        if (is_far(s)) {
            return false;
        }
    }
    return true;
}

/* ---- branches ---------------------------------------------------------------------------------------------------- */

/* By how much a point misses Coulomb's law at a contact: complementarity, then the work that friction leaves out. */
static double miss(const only_search *s, int i)
{
    const motion_contact *c = &s->p->contacts[i];
    const double *r = s->r + c->row, *u = s->u + c->row, unit = unit_of_x(s);
    double left = c->mu * r[0] * perp_motion_most_work(s->p, c, u);
    for (int k = 1; k < c->rows; k++) {
        left += r[k] * u[k];
    }
    return fmax(fmin(fabs(r[0]), fabs(u[0]) / unit), c->rows > 1 ? fabs(left) / unit : 0.0);
}

static bool can_branch(const only_search *s, int i)
{
    const only_choice *m = &s->contacts[i];
    return m->mode == ONLY_UNDECIDED ||
           (m->mode == ONLY_SLIDES && s->p->contacts[i].rows > 2 && m->to - m->from > ARC_LEAST);
}

/* The contact to decide next, contact_count + i of a limit; -1: none is left. */
static int pick(const only_search *s)
{
    const motion_problem *p = s->p;
    int best = -1;
    double most = -1.0;
    for (int i = 0; i < p->contact_count; i++) {
        const double arc = s->contacts[i].mode == ONLY_SLIDES ? s->contacts[i].to - s->contacts[i].from : TURN;
        const double by = can_branch(s, i) ? miss(s, i) + ARC_LEAST * arc : -1.0;
        best = by > most ? i : best;
        most = fmax(most, by);
    }
    for (int i = 0; i < s->limit_count; i++) {
        const int k = s->limit_dof[i];
        const double space = s->limit_side[i] == 0 ? s->x[k] - p->lower[k] : p->upper[k] - s->x[k];
        const double by =
            s->limits[i].mode == ONLY_UNDECIDED ? fmin(fabs(s->r[p->row_count + i]), fabs(space) / unit_of_x(s)) : -1.0;
        best = by > most ? p->contact_count + i : best;
        most = fmax(most, by);
    }
    return best;
}

static perp_status search(only_search *s, perp_error *error);

static perp_status try(only_search *s, only_choice *at, only_choice next, perp_error *error)
{
    const only_choice before = *at;
    *at = next;
    const perp_status status = s->undecided ? PERP_STATUS_OK : search(s, error);
    *at = before;
    return status;
}

static perp_status branch(only_search *s, int i, perp_error *error)
{
    const motion_problem *p = s->p;
    const bool limit = i >= p->contact_count;
    only_choice *at = limit ? &s->limits[i - p->contact_count] : &s->contacts[i];
    const int rows = limit || p->contacts[i].mu == 0.0 ? 1 : p->contacts[i].rows;
    const int arcs = rows == 1 ? 0 : rows == 2 ? 2 : 4;
    perp_status status = PERP_STATUS_OK;
    if (at->mode == ONLY_SLIDES) {
        const double middle = 0.5 * (at->from + at->to);
        const only_choice low = {ONLY_SLIDES, at->from, middle}, high = {ONLY_SLIDES, middle, at->to};
        status = try(s, at, low, error);
        return status == PERP_STATUS_OK ? try(s, at, high, error) : status;
    }
    status = try(s, at, (only_choice){ONLY_OPEN, 0.0, 0.0}, error);
    status = status == PERP_STATUS_OK ? try(s, at, (only_choice){ONLY_STICKS, 0.0, 0.0}, error) : status;
    for (int k = 0; k < arcs && status == PERP_STATUS_OK; k++) {
        status = try(s, at, (only_choice){ONLY_SLIDES, TURN * k / arcs, TURN * (k + 1) / arcs}, error);
    }
    return status;
}

/* All answers of the modes at hand. */
static perp_status search(only_search *s, perp_error *error)
{
    if (s->cancel && *s->cancel) {
        return perp_fail(error, PERP_STATUS_CANCELLED, "the search for other answers was cancelled");
    }
    const perp_cell_answer answer = ask_all(s);
    if (answer == PERP_CELL_NO && !s->dictionary.doubtful) {
        return PERP_STATUS_OK;
    }
    if (answer != PERP_CELL_YES || s->dictionary.doubtful || s->work > s->most_work) {
        s->undecided = true;
        return PERP_STATUS_OK;
    }
    read_point(s);
    if (!is_far(s) && is_answer(s)) {
        s->undecided = s->dictionary.doubtful;
        return PERP_STATUS_OK;
    }
    const int next = pick(s);
    s->undecided = next < 0;
    return next < 0 ? PERP_STATUS_OK : branch(s, next, error);
}

perp_status perp_motion_is_only(const motion_problem *p, const motion_searcher *by, double room, bool *only,
                                perp_error *error)
{
    only_search s = {.p = p,
                     .arena = by->arena,
                     .room = room,
                     .most_work = (int64_t)(by->work * SHARE_OF_WORK),
                     .cancel = by->cancel};
    *only = false;
    if (p->law != MOTION_COULOMB || p->n == 0 || p->contact_count > CONTACTS_MOST ||
        perp_springs_are_limited(by->step)) {
        return PERP_STATUS_OK;
    }
    s.limit_dof = PERP_ARENA_NEW(s.arena, int, 2 * (size_t)p->n);
    s.limit_side = PERP_ARENA_NEW(s.arena, int, 2 * (size_t)p->n);
    bool held = s.limit_dof && s.limit_side;
    if (held) {
        list_limits(&s);
        s.unknowns = first_limit(&s) + s.limit_count;
        held = find_space(&s);
    }
    if (held && s.parameters == 0) {
        *only = true; /* the balance leaves nothing else */
        return PERP_STATUS_OK;
    }
    if (!held || !hold(&s)) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
    }
    const perp_status status = search(&s, error);
    *only = status == PERP_STATUS_OK && !s.undecided;
    return status;
}
