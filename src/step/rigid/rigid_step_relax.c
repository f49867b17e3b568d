/* The relaxation of a rigid step at a node of the search through its modes: rigid_step_modes.h says what it is. Of its
 * points the one of least |v|^2 + |r|^2 is taken (in the step's units), so that open contacts carry nothing. */
#include "step/rigid/rigid_step_modes.h"
#include "step/common/tolerances.h"

#include <assert.h>
#include <string.h>

enum { TANGENTS = 16, NARROWED = 48, NARROWED_EQUATIONS = 6 }; /* rows that the modes of one item add at most */

static const double TURN = 6.283185307179586476925;

item_friction perp_rigid_item_friction(const contact_step *step, const mode_item *item)
{
    const rigid_step *s = step->own;
    item_friction f = {.rows = 1};
    if (item->contact >= 0) {
        f.rows = s->qp.row_start[item->contact + 1] - s->qp.row_start[item->contact];
        f.mu = step->mu[item->contact];
        f.friction = f.rows > 1 && f.mu > 0.0;
        f.polygon = f.friction ? perp_rigid_polygon(s, f.rows) : NULL;
    }
    return f;
}

/* ---- motion ------------------------------------------------------------------------------------------------------ */

/* sum over rows of weight[r] u_r of an item (or the limit's distance), as coefficients and a constant. */
static double motion_row(const rigid_step *s, const mode_part *part, const mode_item *item, const double weight[3],
                         double *row)
{
    const perp_contact_qp *p = &s->qp;
    if (item->contact < 0) {
        row[part->local[item->dof]] += item->side;
        return -item->side * (item->side > 0.0 ? p->lower : p->upper)[item->dof];
    }
    const int i = item->contact, rows = p->row_start[i + 1] - p->row_start[i];
    const int start = p->dof_start[i], columns = p->dof_start[i + 1] - start;
    double constant = 0.0;
    for (int r = 0; r < rows; r++) {
        const double *jacobian = p->jacobian + item->jacobian + (ptrdiff_t)r * columns;
        constant += weight[r] * s->offset[p->row_start[i] + r];
        for (int k = 0; k < columns && weight[r] != 0.0; k++) {
            row[part->local[p->dofs[start + k]]] += weight[r] * jacobian[k];
        }
    }
    return constant;
}

static void add_motion(rigid_step *s, const mode_part *part, const mode_item *item, const double weight[3],
                       bool equation)
{
    double *row = equation ? perp_cone_program_equation(&s->program, 0.0) : perp_cone_program_cone(&s->program, 1);
    const double constant = motion_row(s, part, item, weight, row);
    if (equation) {
        s->program.d[s->program.equations - 1] = -constant;
        s->program.d_slack[s->program.equations - 1] = s->slack;
    } else {
        s->program.b[s->program.rows - 1] = constant;
        s->program.b_slack[s->program.rows - 1] = s->slack;
    }
}

/* -u_t is between the directions a and b, counter-clockwise; equal: along it. */
static void add_slip(rigid_step *s, const mode_part *part, const mode_item *item, const double *a, const double *b)
{
    const double left_of_a[3] = {0.0, a[1], -a[0]}, right_of_b[3] = {0.0, -b[1], b[0]};
    const bool same = a[0] == b[0] && a[1] == b[1];
    const double back[3] = {0.0, -a[0], -a[1]};
    add_motion(s, part, item, left_of_a, same);
    add_motion(s, part, item, same ? back : right_of_b, false);
}

static void sector_sides(item_mode mode, double a[2], double b[2])
{
    const int count = 4 << mode.level;
    a[0] = cos(TURN * mode.index / count);
    a[1] = sin(TURN * mode.index / count);
    b[0] = cos(TURN * (mode.index + 1) / count);
    b[1] = sin(TURN * (mode.index + 1) / count);
}

static const double UNIT[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/* What the mode says of the slip; u_n = 0 is another's. */
static void narrow_motion(rigid_step *s, const mode_part *part, const mode_item *item, item_friction f, item_mode mode)
{
    const rigid_polygon *d = f.polygon;
    const int j = mode.index;
    for (int r = 1; r < f.rows && mode.kind == MODE_STICK; r++) {
        add_motion(s, part, item, UNIT[r], true);
    }
    if (mode.kind == MODE_CORNER && f.rows == 2) {
        const double back[3] = {0.0, -d->corner[j][0], 0.0};
        add_motion(s, part, item, back, false);
    } else if (mode.kind == MODE_CORNER) {
        add_slip(s, part, item, d->facet[(j + d->count - 1) % d->count], d->facet[j]);
    } else if (mode.kind == MODE_EDGE) {
        add_slip(s, part, item, d->facet[j], d->facet[j]);
    } else if (mode.kind == MODE_ARC && 2 * mode.level <= d->count) { /* else it is not convex */
        add_slip(s, part, item, d->facet[(j + d->count - 1) % d->count], d->facet[(j + mode.level - 1) % d->count]);
    } else if (mode.kind == MODE_SECTOR) {
        double a[2], b[2];
        sector_sides(mode, a, b);
        add_slip(s, part, item, a, b);
    }
}

/* ---- forces ------------------------------------------------------------------------------------------------------ */

/* normal fn + tangent . ft, of an item whose forces begin at unknown `at`. */
static void add_force(rigid_step *s, int at, double normal, const double *tangent, bool equation)
{
    double *row = equation ? perp_cone_program_equation(&s->program, 0.0) : perp_cone_program_cone(&s->program, 1);
    row[at] = normal;
    row[at + 1] = tangent[0];
    if (tangent[1] != 0.0) { /* there is none with one friction direction */
        row[at + 2] = tangent[1];
    }
}

static void narrow_polygon(rigid_step *s, int at, item_friction f, item_mode mode)
{
    const rigid_polygon *d = f.polygon;
    const int j = mode.index, next = (j + 1) % d->count;
    if (mode.kind == MODE_CORNER) {
        for (int r = 1; r < f.rows; r++) {
            const double unit[2] = {r == 1 ? 1.0 : 0.0, r == 2 ? 1.0 : 0.0};
            add_force(s, at, -f.mu * d->corner[j][r - 1], unit, true);
        }
    } else if (mode.kind == MODE_EDGE) { /* on it, and between its ends */
        const double along[2] = {d->corner[next][0] - d->corner[j][0], d->corner[next][1] - d->corner[j][1]};
        const double back[2] = {-along[0], -along[1]};
        add_force(s, at, -f.mu, d->facet[j], true);
        add_force(s, at, -f.mu * (along[0] * d->corner[j][0] + along[1] * d->corner[j][1]), along, false);
        add_force(s, at, f.mu * (along[0] * d->corner[next][0] + along[1] * d->corner[next][1]), back, false);
    } else if (mode.kind == MODE_ARC && mode.level + 1 < d->count) { /* beyond the chord of its corners and edges */
        const double *a = d->corner[(j + d->count - 1) % d->count], *b = d->corner[(j + mode.level) % d->count];
        const double out[2] = {b[1] - a[1], a[0] - b[0]};
        add_force(s, at, -f.mu * (out[0] * a[0] + out[1] * a[1]), out, false);
    }
}

/* Between the sector's sides, and beyond the chord of the arc that is friction's limit. */
static void narrow_sector(rigid_step *s, int at, item_friction f, item_mode mode)
{
    double a[2], b[2];
    sector_sides(mode, a, b);
    const double from_a[2] = {-a[1], a[0]}, to_b[2] = {b[1], -b[0]}, out[2] = {a[0] + b[0], a[1] + b[1]};
    const double middle = hypot(out[0], out[1]), in[2] = {-out[0] / middle, -out[1] / middle};
    add_force(s, at, 0.0, from_a, false);
    add_force(s, at, 0.0, to_b, false);
    add_force(s, at, -f.mu * (1.0 + a[0] * b[0] + a[1] * b[1]), out, false);
    add_force(s, at, f.mu, in, false);
}

/* In the cone. A polygon around the disc stands for it: what it allows more is too little to matter for most proofs,
 * and all rows are linear. */
static void add_item_force(rigid_step *s, const mode_item *item, item_friction f)
{
    perp_cone_program_cone(&s->program, 1)[item->unknown] = 1.0;
    for (int k = 0; f.friction && k < (f.polygon ? f.polygon->count : TANGENTS); k++) {
        const double turn = TURN * k / TANGENTS, round[2] = {-cos(turn), -sin(turn)};
        const double *facet = f.polygon ? f.polygon->facet[k] : NULL;
        const double flat[2] = {facet ? -facet[0] : 0.0, facet ? -facet[1] : 0.0};
        add_force(s, item->unknown, f.mu, facet ? flat : round, false);
    }
}

/* ---- balance ----------------------------------------------------------------------------------------------------- */

/* Equation of dof k of the part: the first ones of the program, in the order of unknowns. */
static void add_balance(rigid_step *s, const mode_part *part)
{
    const perp_contact_qp *p = &s->qp;
    for (int k = 0; k < part->dofs; k++) {
        perp_cone_program_equation(&s->program, 0.0);
    }
    const double *block = p->hessian;
    const int n = s->program.n;
    for (int b = 0; b < p->block_count; b++) {
        for (int i = p->block_start[b]; i < p->block_start[b + 1]; i++) {
            const int row = part->local[i];
            for (int k = p->block_start[b]; k < p->block_start[b + 1]; k++, block++) {
                if (row >= 0) {
                    s->program.c[(ptrdiff_t)row * n + part->local[k]] = *block;
                }
            }
            if (row >= 0) {
                s->program.d[row] = -p->g[i];
            }
        }
    }
    for (int e = 0; e < part->equations; e++) {
        const int i = part->equation[e], unknown = part->unknowns - part->equations + e;
        double *row = perp_cone_program_equation(&s->program, p->equality_target[i]);
        s->program.d_slack[s->program.equations - 1] = s->slack;
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            const int dof = part->local[p->equality_dofs[k]];
            row[dof] = p->equality_values[k];
            s->program.c[(ptrdiff_t)dof * n + unknown] = -p->equality_values[k];
        }
    }
}

/* Minus the item's forces in the balance, and what they add to the cut. */
static void add_item_balance(rigid_step *s, const mode_part *part, const mode_item *item, item_friction f, double *cut)
{
    for (int r = 0; r < (f.friction ? f.rows : 1); r++) {
        const double unit[3] = {r == 0 ? 1.0 : 0.0, r == 1 ? 1.0 : 0.0, r == 2 ? 1.0 : 0.0};
        memset(part->program_row, 0, (size_t)part->dofs * sizeof(double));
        cut[item->unknown + r] = -motion_row(s, part, item, unit, part->program_row);
        for (int k = 0; k < part->dofs; k++) {
            s->program.c[(ptrdiff_t)k * s->program.n + item->unknown + r] = -part->program_row[k];
        }
    }
}

/* Every item's forces may do as much work as the law lets pass: forces on gaps that are off, and gaps on forces. F is
 * about the largest force; where forces hold each other it may be more, and they are given room for that. */
static void add_cut(rigid_step *s, const mode_part *part, double tolerance, const double *cut)
{
    static const double LARGE = 10.0; /* F, L */
    const perp_contact_qp *p = &s->qp;
    double *row = perp_cone_program_cone(&s->program, 1);
    s->program.b_slack[s->program.rows - 1] = LARGE * part->items * (s->slack + tolerance);
    memcpy(row, cut, (size_t)s->program.n * sizeof(double));
    for (int k = 0; k < p->n; k++) {
        if (part->local[k] >= 0) {
            row[part->local[k]] = -p->g[k];
        }
    }
    for (int e = 0; e < part->equations; e++) {
        row[part->unknowns - part->equations + e] = p->equality_target[part->equation[e]];
    }
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Rows from these on that have no slack are of forces: they may be off by what the law's tolerance leaves of F. */
static void allow_forces(const contact_step *step, int first_row, int first_equation)
{
    cone_program *p = &((rigid_step *)step->own)->program;
    for (int i = first_row; i < p->rows; i++) {
        p->b_slack[i] = fmax(p->b_slack[i], step->settings->tolerance);
    }
    for (int i = first_equation; i < p->equations; i++) {
        p->d_slack[i] = fmax(p->d_slack[i], step->settings->tolerance);
    }
}

static perp_status begin(contact_step *step, const mode_part *part, perp_error *error)
{
    rigid_step *s = step->own;
    int rows = 1, equations = part->dofs + part->equations;
    for (int i = 0; i < part->items; i++) {
        const item_friction f = perp_rigid_item_friction(step, &part->item[i]);
        rows += 2 + NARROWED + (f.polygon ? f.polygon->count : TANGENTS);
        equations += NARROWED_EQUATIONS;
    }
    const perp_status status = perp_cone_program_begin(&s->program, part->unknowns, rows, equations, error);
    for (int i = 0; i < part->unknowns && status == PERP_STATUS_OK; i++) {
        s->program.h[(ptrdiff_t)i * part->unknowns + i] = 1.0;
    }
    return status;
}

/* Do the weights, whose proof misses by 1, leave more than what the rows may be off by? */
static bool is_proof(const cone_program *p)
{
    double least = 0.0;
    for (int i = 0; i < p->rows; i++) {
        least += fabs(p->point.y[i]) * fmax(PROOF_GAP, p->b_slack[i]);
    }
    for (int i = 0; i < p->equations; i++) {
        least += fabs(p->point.y_equality[i]) * fmax(PROOF_GAP, p->d_slack[i]);
    }
    return least <= 1.0;
}

/* By the dual active set from its beginning, and by the interior point where that is undecided. */
static perp_status judge(contact_step *step, nearest_verdict *verdict, perp_error *error)
{
    rigid_step *s = step->own;
    *verdict = NEAREST_UNSURE;
    for (int method = 0; method < 2 && *verdict == NEAREST_UNSURE; method++) {
        perp_convex_info info;
        const perp_status status = method == 0
                                       ? perp_cone_program_solve_dual(&s->program, RELAXED_FINE, &info, error)
                                       : perp_cone_program_solve(&s->program, RELAXED_FINE, false, &info, error);
        if (status != PERP_STATUS_OK) {
            return status;
        }
        step->info->iterations += info.iterations;
        if (info.outcome == PERP_OUTCOME_INFEASIBLE) {
            *verdict = is_proof(&s->program) ? NEAREST_NONE : NEAREST_UNSURE;
        } else if (perp_convex_residual_largest(info.residual) <= RELAXED_COARSE) {
            *verdict = NEAREST_POINT;
        }
    }
    return PERP_STATUS_OK;
}

perp_status perp_rigid_relax(contact_step *step, perp_dual_set *state, nearest_scratch *scratch,
                             nearest_verdict *verdict, perp_error *error)
{
    rigid_step *s = step->own;
    perp_status status = PERP_STATUS_OK;
    step->info->iterations++;
    *verdict = perp_nearest_solve(&s->program, state, scratch);
    if (*verdict == NEAREST_POINT) {
        memcpy(s->program.point.x, state->x, (size_t)s->program.n * sizeof(double));
    } else if (*verdict == NEAREST_UNSURE) {
        perp_nearest_clear(state, s->program.n);
        scratch->work += 100.0 * s->program.n * s->program.n * s->program.n; /* about what the interior point takes */
        status = judge(step, verdict, error);
    }
    return status;
}

perp_status perp_rigid_relax_all(contact_step *step, const mode_part *part, perp_error *error)
{
    rigid_step *s = step->own;
    double *cut = part->program_row + part->dofs;
    perp_status status = begin(step, part, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    s->slack = step->settings->tolerance / s->gap;
    memset(cut, 0, (size_t)part->unknowns * sizeof *cut);
    add_balance(s, part);
    for (int i = 0; i < part->items; i++) {
        const mode_item *item = &part->item[i];
        const item_friction f = perp_rigid_item_friction(step, item);
        add_motion(s, part, item, UNIT[0], false);
        add_item_force(s, item, f);
        add_item_balance(s, part, item, f, cut);
    }
    add_cut(s, part, step->settings->tolerance, cut);
    allow_forces(step, 0, 0);
    perp_nearest_scale(&s->program, 0, 0);
    return PERP_STATUS_OK;
}

void perp_rigid_narrow(contact_step *step, const mode_part *part, const mode_item *item, item_mode mode)
{
    rigid_step *s = step->own;
    const item_friction f = perp_rigid_item_friction(step, item);
    const int rows = s->program.rows, equations = s->program.equations;
    assert(f.polygon || (mode.kind != MODE_CORNER && mode.kind != MODE_EDGE && mode.kind != MODE_ARC));
    for (int r = 0; r < (f.friction ? f.rows : 1) && mode.kind == MODE_OPEN; r++) {
        perp_cone_program_equation(&s->program, 0.0)[item->unknown + r] = 1.0;
    }
    if (mode.kind == MODE_CLOSED) {
        add_motion(s, part, item, UNIT[0], true);
    }
    narrow_motion(s, part, item, f, mode);
    if (mode.kind == MODE_SECTOR) {
        narrow_sector(s, item->unknown, f, mode);
    } else if (f.polygon) {
        narrow_polygon(s, item->unknown, f, mode);
    }
    allow_forces(step, rows, equations);
    perp_nearest_scale(&s->program, rows, equations);
}

void perp_rigid_read_relaxed(rigid_step *s, const mode_part *part, perp_convex_point *point)
{
    const perp_contact_qp *p = &s->qp;
    const double *x = s->program.point.x;
    for (int k = 0; k < p->n; k++) {
        if (part->local[k] >= 0) {
            point->x[k] = x[part->local[k]];
        }
    }
    for (int i = 0; i < part->items; i++) {
        const mode_item *item = &part->item[i];
        const double *force = x + item->unknown;
        if (item->contact < 0) {
            (item->side > 0.0 ? point->y_lower : point->y_upper)[item->dof] = fmax(0.0, force[0]);
            continue;
        }
        const int start = p->row_start[item->contact], rows = p->row_start[item->contact + 1] - start;
        memcpy(point->y + start, force, (size_t)rows * sizeof *force);
        point->y[start] = fmax(0.0, force[0]);
    }
    for (int e = 0; e < part->equations; e++) {
        point->y_equality[part->equation[e]] = x[part->unknowns - part->equations + e];
    }
}
