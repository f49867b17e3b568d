/* The last resort for a step: its modes. Rigid contact with friction need not have an answer, as when what is pushed
 * can neither slide nor tip, and the other methods may miss one that there is. Branch and bound decides: a node has
 * some items decided, its relaxation either has no point, so that no answer is below it, or a point at which items
 * violate their laws. Of the worst of them all modes are tried: the item that leaves the fewest is decided next, and
 * where one mode is left at no cost. Depth first, the modes whose point is nearest first.
 *
 * Parts of the step that no contact and no loop connects are searched one by one.
 *
 * The same search, from a node in which what slides sticks and with few nodes, finds the other answer where there are
 * two, as when fingers graze an object. */
#include "step/rigid/rigid_step_modes.h"
#include "step/common/tolerances.h"

#include <limits.h>
#include <string.h>

enum {
    MAX_NODES = 100000,
    STICKING_MOST = 20,
    MAX_LEVEL = 6,
    MOST_CHILDREN = 5,
    MOST_DEPTH = 100,
    TRIED = 6,
    MOST_UNKNOWNS = 600
};
static const double MOST_WORK = 2e9;     /* multiplications: about half a second */
static const double MOST_MEMORY = 2.5e7; /* bytes, of the states on the way down */

/* A node on the way down, and which of its children have yet to be looked at. */
typedef struct mode_level {
    perp_dual_set state;
    item_mode *node;
    int rows, cones, equations; /* of the program */
    int item, children;
    item_mode child[MOST_CHILDREN]; /* the first of them last */
} mode_level;

typedef struct mode_search {
    mode_part part;
    int unknowns, items; /* of the largest part that is to be searched */
    item_mode *node;
    perp_dual_set at, trial; /* of the node, and of a child of it */
    nearest_scratch scratch;
    mode_level *level;
    int depth, levels;
    int nodes, max_nodes, candidates;
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

static void fill_part(mode_search *a, const perp_contact_qp *p, const int *part_of, int index)
{
    mode_part *part = &a->part;
    int jacobian = 0;
    part->dofs = part->items = part->equations = 0;
    for (int k = 0; k < p->n; k++) {
        part->local[k] = part_of[k] == index ? part->dofs++ : -1;
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

/* Unknowns and items of a part. */
static void measure_part(const perp_contact_qp *p, const int *part_of, int index, int *unknowns, int *items)
{
    *unknowns = *items = 0;
    for (int i = 0; i < p->contact_count; i++) {
        if (part_of[p->dofs[p->dof_start[i]]] == index) {
            *unknowns += p->row_start[i + 1] - p->row_start[i];
            ++*items;
        }
    }
    for (int k = 0; k < p->n; k++) {
        const int limits = p->lower ? (isfinite(p->lower[k]) ? 1 : 0) + (isfinite(p->upper[k]) ? 1 : 0) : 0;
        *unknowns += part_of[k] == index ? 1 + limits : 0;
        *items += part_of[k] == index ? limits : 0;
    }
    for (int i = 0; i < p->equality_count; i++) {
        *unknowns += part_of[p->equality_dofs[p->equality_start[i]]] == index ? 1 : 0;
    }
}

static void lay_out(mode_search *a, memory_block *block, const perp_contact_qp *p)
{
    const size_t n = (size_t)p->n, items = (size_t)a->items, unknowns = (size_t)a->unknowns;
    a->part.local = perp_block_take(block, n, sizeof *a->part.local);
    a->part.item = perp_block_take(block, items, sizeof *a->part.item);
    a->part.equation = perp_block_take(block, (size_t)p->equality_count, sizeof *a->part.equation);
    a->part.program_row = perp_block_take(block, n + unknowns, sizeof *a->part.program_row);
    a->node = perp_block_take(block, items, sizeof *a->node);
    a->level = perp_block_take(block, (size_t)a->levels, sizeof *a->level);
    perp_nearest_lay_out(block, a->unknowns, &a->at);
    perp_nearest_lay_out(block, a->unknowns, &a->trial);
    perp_nearest_lay_out_scratch(block, a->unknowns, &a->scratch);
    for (int i = 0; i < a->levels; i++) {
        mode_level none = {0}, *level = block->memory ? &a->level[i] : &none;
        perp_nearest_lay_out(block, a->unknowns, &level->state);
        level->node = perp_block_take(block, items, sizeof *level->node);
    }
}

/* For parts of so many items at most; the memory is the step's, and kept. */
static perp_status open_search(mode_search *a, const contact_step *step, int max_nodes, int max_items,
                               perp_error *error)
{
    rigid_step *s = step->own;
    const perp_contact_qp *p = &s->qp;
    *a = (mode_search){.max_nodes = max_nodes, .candidates = max_nodes > STICKING_MOST ? TRIED : 1};
    find_parts(s->part_of, p);
    for (int k = 0; k < p->n; k++) {
        int unknowns = 0, items = 0;
        if (s->part_of[k] == k) {
            measure_part(p, s->part_of, k, &unknowns, &items);
        }
        if (items <= max_items && unknowns <= MOST_UNKNOWNS) {
            a->unknowns = unknowns > a->unknowns ? unknowns : a->unknowns;
            a->items = items > a->items ? items : a->items;
        }
    }
    const double size = 16.0 * (a->unknowns + 1.0) * (a->unknowns + 1.0);
    a->levels = (int)fmin(fmin(max_nodes, MOST_DEPTH), 1.0 + MOST_MEMORY / size);
    memory_block *block = &s->modes, count = {0};
    lay_out(a, &count, p);
    block->used = count.used;
    const perp_status status = perp_block_hold(&step->allocator, block, error);
    if (status == PERP_STATUS_OK) {
        lay_out(a, block, p);
    }
    return status;
}

/* The part that begins at dof k, if it is one that the search has room for. */
static bool take_part(mode_search *a, const rigid_step *s, int k)
{
    int unknowns, items;
    if (s->part_of[k] != k) {
        return false;
    }
    measure_part(&s->qp, s->part_of, k, &unknowns, &items);
    if (unknowns > a->unknowns || items > a->items) {
        return false;
    }
    fill_part(a, &s->qp, s->part_of, k);
    return true;
}

/* ---- a node ------------------------------------------------------------------------------------------------------ */

typedef struct item_violation {
    double apart; /* min(fn, u_n) */
    double idle;  /* work that friction fails to do */
    double ut[2];
    double fn, un;
} item_violation;

/* At s->better, whose velocities at contacts s->u has; in units of F and L, whatever that of velocities is. */
static item_violation violation_of(const rigid_step *s, const mode_item *item, item_friction f)
{
    const perp_contact_qp *p = &s->qp;
    item_violation v = {0};
    if (item->contact < 0) {
        const bool low = item->side > 0.0;
        v.fn = (low ? s->better.y_lower : s->better.y_upper)[item->dof];
        v.un = s->gap * item->side * (s->better.x[item->dof] - (low ? p->lower : p->upper)[item->dof]);
    } else {
        const double *r = s->better.y + p->row_start[item->contact], *u = s->u + p->row_start[item->contact];
        double work = 0.0;
        v.fn = r[0];
        v.un = s->gap * u[0];
        for (int k = 1; k < f.rows && f.friction; k++) {
            v.ut[k - 1] = s->gap * u[k];
            work += r[k] * v.ut[k - 1];
        }
        v.idle = f.friction ? f.mu * v.fn * perp_rigid_most_work(f.polygon, v.ut) + work : 0.0;
    }
    v.apart = fmin(v.fn, v.un);
    return v;
}

static bool is_decided(item_mode mode, item_friction f)
{
    return mode.kind == MODE_OPEN || (mode.kind == MODE_CLOSED && !f.friction) || mode.kind == MODE_STICK ||
           mode.kind == MODE_CORNER || mode.kind == MODE_EDGE;
}

static item_mode mode_of(mode_kind kind, int level, int index)
{
    return (item_mode){(unsigned short)kind, (unsigned short)level, (unsigned short)index};
}

/* The modes that one splits into; 0: into none, though it is undecided. */
static int split(item_mode mode, item_friction f, item_mode child[MOST_CHILDREN])
{
    const int corners = f.polygon ? f.polygon->count : 1, half = mode.level / 2; /* arcs are of polygons alone */
    int count = 0;
    if (mode.kind == MODE_UNDECIDED) {
        child[count++] = mode_of(MODE_OPEN, 0, 0);
        child[count++] = mode_of(MODE_CLOSED, 0, 0);
    } else if (mode.kind == MODE_CLOSED) {
        child[count++] = mode_of(MODE_STICK, 0, 0);
        for (int j = 0; j < (f.polygon ? 2 : 4); j++) {
            child[count++] = !f.polygon    ? mode_of(MODE_SECTOR, 0, j)
                             : f.rows == 2 ? mode_of(MODE_CORNER, 0, j)
                             : j == 0      ? mode_of(MODE_ARC, corners / 2, 0)
                                           : mode_of(MODE_ARC, corners - corners / 2, corners / 2);
        }
    } else if (mode.kind == MODE_ARC && mode.level > 1) {
        child[count++] = mode_of(MODE_ARC, half, mode.index);
        child[count++] = mode_of(MODE_ARC, mode.level - half, (mode.index + half) % corners);
    } else if (mode.kind == MODE_ARC) {
        child[count++] = mode_of(MODE_CORNER, 0, mode.index);
        child[count++] = mode_of(MODE_EDGE, 0, mode.index);
        child[count++] = mode_of(MODE_EDGE, 0, (mode.index + corners - 1) % corners);
    } else if (mode.kind == MODE_SECTOR && mode.level < MAX_LEVEL) {
        child[count++] = mode_of(MODE_SECTOR, mode.level + 1, 2 * mode.index);
        child[count++] = mode_of(MODE_SECTOR, mode.level + 1, 2 * mode.index + 1);
    }
    return count;
}

/* ---- which item to decide ---------------------------------------------------------------------------------------- */

typedef struct candidate {
    int item, children;
    double size;                    /* of the violation */
    item_mode child[MOST_CHILDREN]; /* that have a point; the nearest last */
    double distance[MOST_CHILDREN]; /* of these points from 0, squared */
} candidate;

/* The items that are not decided and violate their laws most, the worst first. */
static int worst_items(contact_step *step, const mode_search *a, candidate worst[TRIED])
{
    rigid_step *s = step->own;
    const mode_part *part = &a->part;
    int count = 0;
    perp_rigid_evaluate(s, step->mu, &s->better);
    for (int i = 0; i < part->items; i++) {
        const item_friction f = perp_rigid_item_friction(step, &part->item[i]);
        const item_violation v = violation_of(s, &part->item[i], f);
        const double size = fmax(v.apart, v.idle);
        if (size <= ITEM_MET || is_decided(a->node[i], f) ||
            (count > 0 && count == a->candidates && size <= worst[count - 1].size)) {
            continue;
        }
        int at = count < a->candidates ? count++ : count - 1;
        for (; at > 0 && worst[at - 1].size < size; at--) {
            worst[at] = worst[at - 1];
        }
        worst[at] = (candidate){.item = i, .size = size};
    }
    return count;
}

static void truncate(cone_program *p, int rows, int cones, int equations)
{
    p->rows = rows;
    p->cones = cones;
    p->equations = equations;
}

/* Which of its modes have a point. */
static void try_item(contact_step *step, mode_search *a, candidate *c)
{
    rigid_step *s = step->own;
    const mode_item *item = &a->part.item[c->item];
    const int rows = s->program.rows, cones = s->program.cones, equations = s->program.equations;
    item_mode child[MOST_CHILDREN];
    const int count = split(a->node[c->item], perp_rigid_item_friction(step, item), child);
    a->unsure = a->unsure || count == 0; /* a sector so narrow that it may hold an answer */
    c->children = 0;
    for (int i = 0; i < count; i++) {
        perp_rigid_narrow(step, &a->part, item, child[i]);
        perp_dual_set_copy(&a->trial, &a->at);
        const nearest_verdict verdict = perp_nearest_solve(&s->program, &a->trial, &a->scratch);
        truncate(&s->program, rows, cones, equations);
        if (verdict == NEAREST_NONE) {
            continue;
        }
        double distance = 0.0;
        for (int k = 0; k < s->program.n && verdict == NEAREST_POINT; k++) {
            distance += a->trial.x[k] * a->trial.x[k];
        }
        int at = c->children++;
        for (; at > 0 && c->distance[at - 1] < distance; at--) {
            c->distance[at] = c->distance[at - 1];
            c->child[at] = c->child[at - 1];
        }
        c->distance[at] = distance;
        c->child[at] = child[i];
    }
}

/* Is it better to decide the first? Fewer children; then those that go farther. */
static bool is_better(const candidate *a, const candidate *b)
{
    if (a->children != b->children) {
        return a->children < b->children;
    }
    return a->children > 0 && a->distance[a->children - 1] > b->distance[b->children - 1];
}

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

typedef enum { NODE_ANSWER, NODE_DEAD, NODE_NARROWED, NODE_SPLIT } node_verdict;

static void save_level(mode_search *a, const cone_program *p, const candidate *c)
{
    mode_level *level = &a->level[a->depth++];
    perp_dual_set_copy(&level->state, &a->at);
    memcpy(level->node, a->node, (size_t)a->part.items * sizeof *a->node);
    level->rows = p->rows;
    level->cones = p->cones;
    level->equations = p->equations;
    level->item = c->item;
    level->children = c->children;
    memcpy(level->child, c->child, sizeof c->child);
}

static void take_child(contact_step *step, mode_search *a, int item, item_mode mode)
{
    a->node[item] = mode;
    perp_rigid_narrow(step, &a->part, &a->part.item[item], mode);
}

/* The node has a point, s->better. */
static node_verdict decide(contact_step *step, mode_search *a)
{
    rigid_step *s = step->own;
    candidate worst[TRIED];
    const int count = worst_items(step, a, worst);
    int best = 0;
    if (count == 0) {
        return NODE_ANSWER;
    }
    for (int i = 0; i < count; i++) {
        try_item(step, a, &worst[i]);
        best = is_better(&worst[i], &worst[best]) ? i : best;
        if (worst[best].children == 0) {
            return NODE_DEAD;
        }
    }
    if (worst[best].children == 1) {
        take_child(step, a, worst[best].item, worst[best].child[0]);
        return NODE_NARROWED;
    }
    if (a->depth == a->levels) {
        a->unsure = true;
        return NODE_DEAD;
    }
    save_level(a, &s->program, &worst[best]);
    return NODE_SPLIT;
}

/* The next child that has not been looked at; false: there is none. */
static bool next_node(contact_step *step, mode_search *a)
{
    rigid_step *s = step->own;
    while (a->depth > 0 && a->level[a->depth - 1].children == 0) {
        a->depth--;
    }
    if (a->depth == 0) {
        return false;
    }
    mode_level *level = &a->level[a->depth - 1];
    perp_dual_set_copy(&a->at, &level->state);
    memcpy(a->node, level->node, (size_t)a->part.items * sizeof *a->node);
    truncate(&s->program, level->rows, level->cones, level->equations);
    take_child(step, a, level->item, level->child[--level->children]);
    return true;
}

typedef enum { PART_FOUND, PART_NONE, PART_UNKNOWN } part_verdict;

/* The relaxation at the modes in a->node. */
static perp_status begin_part(contact_step *step, mode_search *a, perp_error *error)
{
    const mode_part *part = &a->part;
    const perp_status status = perp_rigid_relax_all(step, part, error);
    for (int i = 0; i < part->items && status == PERP_STATUS_OK; i++) {
        if (a->node[i].kind != MODE_UNDECIDED) {
            perp_rigid_narrow(step, part, &part->item[i], mode_of(MODE_CLOSED, 0, 0));
            perp_rigid_narrow(step, part, &part->item[i], a->node[i]);
        }
    }
    perp_nearest_clear(&a->at, part->unknowns);
    a->nodes = a->depth = 0;
    a->scratch.work = 0.0;
    a->unsure = false;
    return status;
}

/* One answer of the part, into s->better, from the modes in a->node, which are undecided or of closed contacts. */
static perp_status search_part(contact_step *step, mode_search *a, part_verdict *verdict, perp_error *error)
{
    rigid_step *s = step->own;
    perp_status status = begin_part(step, a, error);
    bool more = status == PERP_STATUS_OK;
    while (more && a->nodes < a->max_nodes && a->scratch.work < MOST_WORK) {
        nearest_verdict relaxed;
        node_verdict own = NODE_DEAD;
        a->nodes++;
        status = perp_rigid_relax(step, &a->at, &a->scratch, &relaxed, error);
        if (status != PERP_STATUS_OK) {
            return status;
        }
        a->unsure = a->unsure || relaxed == NEAREST_UNSURE;
        if (relaxed == NEAREST_POINT) {
            perp_rigid_read_relaxed(s, &a->part, &s->better);
            own = decide(step, a);
        }
        if (own == NODE_ANSWER) {
            *verdict = PART_FOUND;
            return PERP_STATUS_OK;
        }
        more = own == NODE_NARROWED || next_node(step, a);
    }
    *verdict = more || a->unsure ? PART_UNKNOWN : PART_NONE;
    return PERP_STATUS_OK;
}

/* ---- the verdict ------------------------------------------------------------------------------------------------- */

/* Names the contact that the commands close most. */
static perp_status no_equilibrium(const contact_step *step, perp_error *error)
{
    const perp_contact_qp *p = &step->system;
    int closest = 0;
    for (int i = 1; i < p->contact_count; i++) {
        closest = p->offset[p->row_start[i]] < p->offset[p->row_start[closest]] ? i : closest;
    }
    perp_evidence evidence = {.planar = step->model->planar};
    if (p->contact_count > 0) {
        const perp_contact *c = &step->contacts->contacts[step->set_index[closest]];
        perp_step_name_contact(step, c, evidence.contact, sizeof evidence.contact);
    }
    perp_fail(error, PERP_STATUS_INFEASIBLE,
              "%s %s (all modes of the contacts were tried): it jams, at contact `%s`; springs give way: control: "
              "impedance on a rung that has it (%s)",
              step->dynamic ? "commands and friction leave no motion" : "no motion is in equilibrium",
              perp_step_when(step).text, evidence.contact,
              step->dynamic ? "every dynamic one" : "qs-qp, quasidynamic, dyn-ncp");
    if (error) {
        error->code = "no-equilibrium";
        error->evidence = evidence;
    }
    return PERP_STATUS_INFEASIBLE;
}

static perp_status search(contact_step *step, mode_search *a, part_verdict *verdict, perp_error *error)
{
    const rigid_step *s = step->own;
    perp_status status = PERP_STATUS_OK;
    *verdict = PART_FOUND;
    for (int k = 0; k < s->qp.n && status == PERP_STATUS_OK && *verdict != PART_NONE; k++) {
        part_verdict own = s->part_of[k] == k ? PART_UNKNOWN : PART_FOUND;
        if (take_part(a, s, k)) {
            memset(a->node, 0, (size_t)a->part.items * sizeof *a->node);
            status = search_part(step, a, &own, error);
        }
        *verdict = own == PART_FOUND ? *verdict : own;
    }
    return status;
}

perp_status perp_rigid_search_modes(contact_step *step, bool *decided, perp_error *error)
{
    rigid_step *s = step->own;
    mode_search a;
    part_verdict verdict = PART_UNKNOWN;
    perp_status status = open_search(&a, step, MAX_NODES, INT_MAX, error);
    if (status == PERP_STATUS_OK) {
        perp_step_clear_point(&s->qp, &s->better);
        status = search(step, &a, &verdict, error);
    }
    if (status != PERP_STATUS_OK || verdict == PART_NONE) {
        *decided = true;
        return status != PERP_STATUS_OK ? status : no_equilibrium(step, error);
    }
    const double worst = perp_rigid_worst(perp_rigid_evaluate(s, step->mu, &s->better));
    if (verdict != PART_FOUND || !(worst <= step->settings->tolerance)) {
        return PERP_STATUS_OK;
    }
    *decided = true;
    perp_step_copy_point(&s->qp, &s->point, &s->better);
    step->info->fallbacks[PERP_FALLBACK_SECOND_METHOD]++;
    return perp_rigid_finish(step, error);
}

/* ---- another answer ---------------------------------------------------------------------------------------------- */

/* The node in which all that slides in s->point sticks; false: nothing slides. */
static bool stick_instead(contact_step *step, mode_search *a)
{
    rigid_step *s = step->own;
    bool any = false;
    memset(a->node, 0, (size_t)a->part.items * sizeof *a->node);
    perp_rigid_evaluate(s, step->mu, &s->point);
    for (int i = 0; i < a->part.items; i++) {
        const mode_item *item = &a->part.item[i];
        if (perp_rigid_item_friction(step, item).friction) {
            const double *u = s->u + s->qp.row_start[item->contact];
            const int rows = s->qp.row_start[item->contact + 1] - s->qp.row_start[item->contact];
            const double slip = hypot(u[1], rows > 2 ? u[2] : 0.0);
            const bool slides = s->gap * u[0] <= ITEM_MET && s->gap * slip > TWO_MOTIONS;
            a->node[i] = mode_of(slides ? MODE_STICK : MODE_UNDECIDED, 0, 0);
            any = any || slides;
        }
    }
    return any;
}

perp_status perp_rigid_look_for_sticking(contact_step *step, perp_error *error)
{
    rigid_step *s = step->own;
    mode_search a;
    perp_status status = open_search(&a, step, STICKING_MOST, STICKING_MOST, error);
    for (int k = 0; k < s->qp.n && status == PERP_STATUS_OK && !step->info->several; k++) {
        part_verdict verdict = PART_UNKNOWN;
        if (take_part(&a, s, k) && stick_instead(step, &a)) {
            perp_step_copy_point(&s->qp, &s->better, &s->point);
            status = search_part(step, &a, &verdict, error);
        }
        if (verdict == PART_FOUND && status == PERP_STATUS_OK) {
            const double worst = perp_rigid_worst(perp_rigid_evaluate(s, step->mu, &s->better));
            step->info->several = worst <= step->settings->tolerance; /* its motion is another: that slid */
        }
    }
    return status;
}
