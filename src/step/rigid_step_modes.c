/* The last resort for a step: its modes. Rigid contact with friction need not have an answer, as when what is pushed
 * can neither slide nor tip, and the other methods may miss one that there is. Branch and bound decides: a node has
 * some items decided, its relaxation either has no point, so that no answer is below it, or a point at which one item
 * violates its law most, which is decided next. Depth first, what the point suggests first.
 *
 * Parts of the step that no contact and no loop connects are searched one by one.
 *
 * The same search, from a node in which what slides sticks and with few nodes, finds the other answer where there are
 * two, as when fingers graze an object. */
#include "step/rigid_step_modes.h"

#include <stdio.h>
#include <string.h>

enum { MAX_NODES = 1000, GLANCE = 20, STACK = 512, MAX_LEVEL = 6 };
static const double MOST_WORK = 2e8;  /* about a second */
static const double DIFFERENT = 1e-7; /* of L: what moves by more slides */
static const double EXACT = 1e-9;     /* of F and L: an item that violates its law by less meets it */

typedef struct mode_search {
    mode_part part;
    int *part_of; /* by dof of the step */
    item_mode *stack, *node;
    int stacked, nodes, max_nodes;
    bool unsure; /* something was left out: that there is no answer is not proven */
} mode_search;

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static void join(int *part_of, int n, int a, int b)
{
    const int from = part_of[a] > part_of[b] ? part_of[a] : part_of[b];
    const int to = part_of[a] > part_of[b] ? part_of[b] : part_of[a];
    for (int i = 0; i < n && from != to; i++) {
        part_of[i] = part_of[i] == from ? to : part_of[i];
    }
}

static void find_parts(int *part_of, const perp_contact_qp *p)
{
    for (int i = 0; i < p->n; i++) {
        part_of[i] = i;
    }
    for (int b = 0; b < p->block_count; b++) {
        for (int i = p->block_start[b] + 1; i < p->block_start[b + 1]; i++) {
            join(part_of, p->n, i, i - 1);
        }
    }
    for (int i = 0; i < p->contact_count; i++) {
        for (int k = p->dof_start[i] + 1; k < p->dof_start[i + 1]; k++) {
            join(part_of, p->n, p->dofs[k], p->dofs[k - 1]);
        }
    }
    for (int i = 0; i < p->equality_count; i++) {
        for (int k = p->equality_start[i] + 1; k < p->equality_start[i + 1]; k++) {
            join(part_of, p->n, p->equality_dofs[k], p->equality_dofs[k - 1]);
        }
    }
}

static void add_limits(mode_part *part, const perp_contact_qp *p)
{
    for (int k = 0; k < p->n && p->lower; k++) {
        for (int side = 0; side < 2 && part->local[k] >= 0; side++) {
            if (isfinite(side == 0 ? p->lower[k] : p->upper[k])) {
                part->item[part->items++] =
                    (mode_item){.contact = -1, .dof = k, .side = side == 0 ? 1.0 : -1.0, .unknown = part->unknowns++};
            }
        }
    }
}

static void fill_part(mode_search *a, const perp_contact_qp *p, int index)
{
    mode_part *part = &a->part;
    int jacobian = 0;
    part->dofs = part->items = part->equations = 0;
    for (int k = 0; k < p->n; k++) {
        part->local[k] = a->part_of[k] == index ? part->dofs++ : -1;
    }
    part->unknowns = part->dofs;
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i], columns = p->dof_start[i + 1] - p->dof_start[i];
        if (part->local[p->dofs[p->dof_start[i]]] >= 0) {
            part->item[part->items++] = (mode_item){.contact = i, .unknown = part->unknowns, .jacobian = jacobian};
            part->unknowns += rows;
        }
        jacobian += rows * columns;
    }
    add_limits(part, p);
    for (int i = 0; i < p->equality_count; i++) {
        if (part->local[p->equality_dofs[p->equality_start[i]]] >= 0) {
            part->equation[part->equations++] = i;
            part->unknowns++;
        }
    }
}

/* The memory is the step's, and kept. */
static perp_status open_search(mode_search *a, const perp_quasistatic *qs, int max_nodes, perp_error *error)
{
    rigid_step *s = qs->own;
    const perp_contact_qp *p = &s->qp;
    const size_t n = (size_t)p->n, items = (size_t)p->contact_count + (p->lower ? 2 * n : 0);
    const size_t unknowns = n + items + (size_t)p->row_start[p->contact_count] + (size_t)p->equality_count;
    perp_qs_block *block = &s->modes, count = {0};
    perp_status status = PERP_STATUS_OK;
    *a = (mode_search){.max_nodes = max_nodes};
    for (int pass = 0; pass < 2 && status == PERP_STATUS_OK; pass++) {
        perp_qs_block *from = pass == 0 ? &count : block;
        a->part_of = perp_qs_take(from, n, sizeof *a->part_of);
        a->part.local = perp_qs_take(from, n, sizeof *a->part.local);
        a->part.item = perp_qs_take(from, items, sizeof *a->part.item);
        a->part.equation = perp_qs_take(from, (size_t)p->equality_count, sizeof *a->part.equation);
        a->part.program_row = perp_qs_take(from, n + unknowns, sizeof *a->part.program_row);
        a->node = perp_qs_take(from, items, sizeof *a->node);
        a->stack = perp_qs_take(from, items * STACK, sizeof *a->stack);
        if (pass == 0) {
            block->used = count.used;
            status = perp_qs_block_hold(&qs->allocator, block, error);
        }
    }
    return status;
}

/* ---- a node ------------------------------------------------------------------------------------------------------ */

typedef struct item_violation {
    double apart; /* min(fn, u_n) */
    double idle;  /* work that friction fails to do */
    double ut[2];
    double fn, un;
} item_violation;

static double support(item_friction f, const double *ut)
{
    double most = f.polygon ? 0.0 : hypot(ut[0], ut[1]);
    for (int j = 0; f.polygon && j < f.polygon->count; j++) {
        most = fmax(most, -(f.polygon->corner[j][0] * ut[0] + f.polygon->corner[j][1] * ut[1]));
    }
    return most;
}

/* At s->better, whose velocities at contacts s->u has. */
static item_violation violation_of(const rigid_step *s, const mode_item *item, item_friction f)
{
    const perp_contact_qp *p = &s->qp;
    item_violation v = {0};
    if (item->contact < 0) {
        const bool low = item->side > 0.0;
        v.fn = (low ? s->better.y_lower : s->better.y_upper)[item->dof];
        v.un = item->side * (s->better.x[item->dof] - (low ? p->lower : p->upper)[item->dof]);
    } else {
        const double *r = s->better.y + p->row_start[item->contact], *u = s->u + p->row_start[item->contact];
        double work = 0.0;
        v.fn = r[0];
        v.un = u[0];
        for (int k = 1; k < f.rows && f.friction; k++) {
            v.ut[k - 1] = u[k];
            work += r[k] * u[k];
        }
        v.idle = f.friction ? f.mu * v.fn * support(f, v.ut) + work : 0.0;
    }
    v.apart = fmin(v.fn, v.un);
    return v;
}

static void push(mode_search *a, int item, item_mode mode)
{
    const size_t size = (size_t)a->part.items;
    if (a->stacked == STACK) {
        a->unsure = true;
        return;
    }
    item_mode *node = a->stack + size * (size_t)a->stacked++;
    memcpy(node, a->node, size * sizeof *node);
    node[item] = mode;
}

/* Friction's modes; those that the slip at the point suggests are pushed last, and so looked at first. */
static void push_friction(mode_search *a, int item, item_friction f, const double *ut)
{
    const rigid_polygon *d = f.polygon;
    int best = 0;
    for (int j = 1; d && j < d->count; j++) {
        const double more =
            (d->corner[best][0] - d->corner[j][0]) * ut[0] + (d->corner[best][1] - d->corner[j][1]) * ut[1];
        best = more > 0.0 ? j : best;
    }
    for (int j = 0; d && f.rows > 2 && j < d->count; j++) {
        push(a, item, (item_mode){.kind = MODE_EDGE, .index = (unsigned short)j});
    }
    for (int j = 1; d && j < d->count; j++) {
        push(a, item, (item_mode){.kind = MODE_CORNER, .index = (unsigned short)((best + j) % d->count)});
    }
    const double turn = atan2(-ut[1], -ut[0]) / 1.570796326794896619231;
    const int quarter = ((int)floor(turn) + 4) % 4;
    for (int j = 1; !d && j < 4; j++) {
        push(a, item, (item_mode){.kind = MODE_SECTOR, .index = (unsigned short)((quarter + j) % 4)});
    }
    push(a, item, (item_mode){.kind = MODE_STICK});
    push(a, item,
         d ? (item_mode){.kind = MODE_CORNER, .index = (unsigned short)best}
           : (item_mode){.kind = MODE_SECTOR, .index = (unsigned short)quarter});
}

static bool is_decided(item_mode mode, item_friction f)
{
    return mode.kind == MODE_OPEN || (mode.kind == MODE_CLOSED && !f.friction) || mode.kind == MODE_STICK ||
           mode.kind == MODE_CORNER || mode.kind == MODE_EDGE;
}

static void branch(mode_search *a, int item, item_friction f, const item_violation *v)
{
    const item_mode mode = a->node[item], open = {.kind = MODE_OPEN}, closed = {.kind = MODE_CLOSED};
    if (mode.kind == MODE_UNDECIDED && v->apart >= v->idle) {
        push(a, item, v->fn > v->un ? open : closed);
        push(a, item, v->fn > v->un ? closed : open);
    } else if (mode.kind == MODE_UNDECIDED || (mode.kind == MODE_CLOSED && f.friction)) {
        if (mode.kind == MODE_UNDECIDED) {
            push(a, item, open);
        }
        push_friction(a, item, f, v->ut);
    } else if (mode.kind == MODE_SECTOR && mode.level < MAX_LEVEL) {
        for (int half = 0; half < 2; half++) {
            push(a, item,
                 (item_mode){.kind = MODE_SECTOR,
                             .level = (unsigned char)(mode.level + 1),
                             .index = (unsigned short)(2 * mode.index + half)});
        }
    } else {
        a->unsure = true; /* a sector so narrow that it may hold an answer */
    }
}

/* Of the items that are not decided the one that violates its law most; -1: none does. */
static int worst_item(perp_quasistatic *qs, const mode_part *part, const item_mode *mode, item_violation *worst)
{
    rigid_step *s = qs->own;
    int found = -1;
    double most = EXACT;
    perp_rigid_evaluate(s, qs->mu, &s->better);
    for (int i = 0; i < part->items; i++) {
        const item_friction f = perp_rigid_item_friction(qs, &part->item[i]);
        const item_violation v = violation_of(s, &part->item[i], f);
        const double size = fmax(v.apart, v.idle);
        if (size > most && !is_decided(mode[i], f)) {
            most = size;
            found = i;
            *worst = v;
        }
    }
    return found;
}

typedef enum { PART_FOUND, PART_NONE, PART_UNKNOWN } part_verdict;

/* One answer of the part, into s->better, from the one node that is on the stack. */
static perp_status search_part(perp_quasistatic *qs, mode_search *a, part_verdict *verdict, perp_error *error)
{
    rigid_step *s = qs->own;
    const mode_part *part = &a->part;
    const size_t size = (size_t)part->items;
    const double work = (double)part->unknowns * part->unknowns * part->unknowns; /* of a node, about */
    const int most = (int)fmin(a->max_nodes, 3.0 + MOST_WORK / (work + 1.0));
    a->nodes = 0;
    a->stacked = 1;
    a->unsure = false;
    while (a->stacked > 0 && a->nodes < most) {
        relaxed_verdict relaxed;
        item_violation worst = {0};
        memcpy(a->node, a->stack + size * (size_t)--a->stacked, size * sizeof *a->node);
        a->nodes++;
        const perp_status status = perp_rigid_relax(qs, part, a->node, &relaxed, error);
        if (status != PERP_STATUS_OK) {
            return status;
        }
        a->unsure = a->unsure || relaxed == RELAXED_UNSURE;
        if (relaxed != RELAXED_POINT) {
            continue;
        }
        perp_rigid_read_relaxed(s, part, &s->better);
        const int item = worst_item(qs, part, a->node, &worst);
        if (item < 0) {
            *verdict = PART_FOUND;
            return PERP_STATUS_OK;
        }
        branch(a, item, perp_rigid_item_friction(qs, &part->item[item]), &worst);
    }
    *verdict = a->stacked > 0 || a->unsure ? PART_UNKNOWN : PART_NONE;
    return PERP_STATUS_OK;
}

/* ---- the verdict ------------------------------------------------------------------------------------------------- */

/* Names the contact that the commands close most. */
static perp_status no_equilibrium(const perp_quasistatic *qs, perp_error *error)
{
    const perp_contact_qp *p = &qs->system;
    int closest = 0;
    for (int i = 1; i < p->contact_count; i++) {
        closest = p->offset[p->row_start[i]] < p->offset[p->row_start[closest]] ? i : closest;
    }
    perp_evidence evidence = {.planar = qs->model->planar};
    if (p->contact_count > 0) {
        const perp_contact *c = &qs->contacts->contacts[qs->set_index[closest]];
        char feature[64];
        perp_contact_feature_text(c, feature, sizeof feature);
        snprintf(evidence.contact, sizeof evidence.contact, "%s %s %s", qs->model->scene->bodies[c->a].name,
                 qs->model->scene->bodies[c->b].name, feature);
    }
    perp_fail(
        error, PERP_STATUS_INFEASIBLE,
        "no motion from t = %g s on is in equilibrium (all modes of the contacts were tried): it jams, at contact "
        "`%s`; springs give way: control: impedance on a rung that has it (qs-qp, quasidynamic, dyn-ncp)",
        qs->t, evidence.contact);
    if (error) {
        error->code = "no-equilibrium";
        error->evidence = evidence;
    }
    return PERP_STATUS_INFEASIBLE;
}

static void clear(const perp_contact_qp *p, perp_convex_point *point)
{
    memset(point->x, 0, (size_t)p->n * sizeof(double));
    memset(point->y_lower, 0, (size_t)p->n * sizeof(double));
    memset(point->y_upper, 0, (size_t)p->n * sizeof(double));
    memset(point->y, 0, (size_t)p->row_start[p->contact_count] * sizeof(double));
    memset(point->y_equality, 0, (size_t)p->equality_count * sizeof(double));
}

static perp_status search(perp_quasistatic *qs, mode_search *a, part_verdict *verdict, perp_error *error)
{
    const perp_contact_qp *p = &((rigid_step *)qs->own)->qp;
    perp_status status = PERP_STATUS_OK;
    find_parts(a->part_of, p);
    *verdict = PART_FOUND;
    for (int k = 0; k < p->n && status == PERP_STATUS_OK && *verdict != PART_NONE; k++) {
        if (a->part_of[k] == k) {
            part_verdict own = PART_UNKNOWN;
            fill_part(a, p, k);
            memset(a->stack, 0, (size_t)a->part.items * sizeof *a->stack);
            status = search_part(qs, a, &own, error);
            *verdict = own == PART_FOUND ? *verdict : own;
        }
    }
    return status;
}

perp_status perp_rigid_search_modes(perp_quasistatic *qs, bool *decided, perp_error *error)
{
    rigid_step *s = qs->own;
    mode_search a;
    part_verdict verdict = PART_UNKNOWN;
    perp_status status = open_search(&a, qs, MAX_NODES, error);
    if (status == PERP_STATUS_OK) {
        clear(&s->qp, &s->better);
        status = search(qs, &a, &verdict, error);
    }
    if (status != PERP_STATUS_OK || verdict == PART_NONE) {
        *decided = true;
        return status != PERP_STATUS_OK ? status : no_equilibrium(qs, error);
    }
    const double worst = perp_rigid_worst(perp_rigid_evaluate(s, qs->mu, &s->better));
    if (verdict != PART_FOUND || !(worst <= qs->settings->tolerance)) {
        return PERP_STATUS_OK;
    }
    *decided = true;
    perp_rigid_copy_point(s, &s->point, &s->better);
    qs->info->fallbacks[PERP_FALLBACK_SECOND_METHOD]++;
    return perp_rigid_finish(qs, error);
}

/* ---- another answer ---------------------------------------------------------------------------------------------- */

/* The node in which all that slides in s->point sticks; false: nothing slides. */
static bool stick_instead(perp_quasistatic *qs, mode_search *a)
{
    rigid_step *s = qs->own;
    bool any = false;
    memset(a->stack, 0, (size_t)a->part.items * sizeof *a->stack);
    perp_rigid_evaluate(s, qs->mu, &s->point);
    for (int i = 0; i < a->part.items; i++) {
        const mode_item *item = &a->part.item[i];
        if (perp_rigid_item_friction(qs, item).friction) {
            const double *u = s->u + s->qp.row_start[item->contact];
            const int rows = s->qp.row_start[item->contact + 1] - s->qp.row_start[item->contact];
            const bool slides = u[0] <= EXACT && hypot(u[1], rows > 2 ? u[2] : 0.0) > DIFFERENT;
            a->stack[i].kind = slides ? MODE_STICK : MODE_UNDECIDED;
            any = any || slides;
        }
    }
    return any;
}

perp_status perp_rigid_glance(perp_quasistatic *qs, perp_error *error)
{
    rigid_step *s = qs->own;
    const perp_contact_qp *p = &s->qp;
    mode_search a;
    perp_status status = open_search(&a, qs, GLANCE, error);
    if (status == PERP_STATUS_OK) {
        find_parts(a.part_of, p);
    }
    for (int k = 0; k < p->n && status == PERP_STATUS_OK && !qs->info->several; k++) {
        part_verdict verdict = PART_UNKNOWN;
        if (a.part_of[k] != k) {
            continue;
        }
        fill_part(&a, p, k);
        if (a.part.items <= GLANCE && stick_instead(qs, &a)) {
            perp_rigid_copy_point(s, &s->better, &s->point);
            status = search_part(qs, &a, &verdict, error);
        }
        if (verdict == PART_FOUND && status == PERP_STATUS_OK) {
            const double worst = perp_rigid_worst(perp_rigid_evaluate(s, qs->mu, &s->better));
            qs->info->several = worst <= qs->settings->tolerance; /* its motion is another: that slid */
        }
    }
    return status;
}
