/* The islands of a step problem, what each is measured by, and one of them as a problem of its own. */
#include "contact/contact_reach.h"
#include "step/dynamic.h"

#include <string.h>

/* ---- which trees hang together ----------------------------------------------------------------------------------- */

int perp_qs_lowest_joined(int *joined, int tree)
{
    while (joined[tree] != tree) {
        joined[tree] = joined[joined[tree]];
        tree = joined[tree];
    }
    return tree;
}

void perp_qs_join_trees(int *joined, int a, int b)
{
    const int one = perp_qs_lowest_joined(joined, a), other = perp_qs_lowest_joined(joined, b);
    joined[one > other ? one : other] = one > other ? other : one;
}

/* A row is of two bodies, and its degrees of freedom ascend: the first and the last are of all trees that it has. */
static void join_ends(const perp_quasistatic *qs, int count, const int *dofs)
{
    const int first = qs->tree_of_free[dofs[0]], last = qs->tree_of_free[dofs[count - 1]];
    if (first != last) {
        perp_qs_join_trees(qs->joined, first, last);
    }
}

/* Islands are numbered by their lowest tree. At an instant all is one: its answers are listed for the whole. */
static void find_islands(perp_quasistatic *qs)
{
    const perp_contact_qp *p = &qs->system;
    const bool one = qs->law->instant || qs->law->own_contacts;
    for (int k = 0; k < qs->model->tree_count; k++) {
        qs->joined[k] = k;
        qs->island_of_tree[k] = -1;
    }
    for (int i = 1; i < qs->free_count && one; i++) {
        perp_qs_join_trees(qs->joined, qs->tree_of_free[i - 1], qs->tree_of_free[i]);
    }
    for (int i = 0; i < p->contact_count && !one; i++) {
        join_ends(qs, p->dof_start[i + 1] - p->dof_start[i], p->dofs + p->dof_start[i]);
    }
    for (int i = 0; i < p->equality_count && !one; i++) {
        join_ends(qs, p->equality_start[i + 1] - p->equality_start[i], p->equality_dofs + p->equality_start[i]);
    }
    qs->island_count = 0;
    for (int i = 0; i < qs->free_count; i++) {
        const int tree = qs->tree_of_free[i], lowest = perp_qs_lowest_joined(qs->joined, tree);
        if (qs->island_of_tree[lowest] < 0) {
            qs->island_of_tree[lowest] = qs->island_count++;
        }
        qs->island_of_tree[tree] = qs->island_of_tree[lowest];
    }
}

int perp_qs_island_of_contact(const perp_quasistatic *qs, int i)
{
    return qs->island_of_tree[qs->tree_of_free[qs->dofs[qs->dof_start[i]]]];
}

static int island_of_body(const perp_quasistatic *qs, int body)
{
    const int tree = qs->model->links[body].tree;
    return tree >= 0 && qs->moved[body] ? qs->island_of_tree[tree] : -1;
}

/* ---- L ----------------------------------------------------------------------------------------------------------- */

static const double LEAST_LENGTH = 1e-3; /* m */

static void include(qs_island *island, perp_vec3 low, perp_vec3 high)
{
    if (!island->boxed) {
        island->low = low;
        island->high = high;
        island->boxed = true;
        return;
    }
    island->low = perp_vec3_make(fmin(island->low.x, low.x), fmin(island->low.y, low.y), fmin(island->low.z, low.z));
    island->high =
        perp_vec3_make(fmax(island->high.x, high.x), fmax(island->high.y, high.y), fmax(island->high.z, high.z));
}

static void include_shapes(const perp_quasistatic *qs, qs_island *island, int body)
{
    perp_vec3 low, high;
    if (perp_contact_body_box(qs->contacts, body, &low, &high)) {
        include(island, low, high);
    }
}

static double size_of(const qs_island *island)
{
    return island->boxed ? fmax(LEAST_LENGTH, perp_vec3_norm(perp_vec3_sub(island->high, island->low))) : LEAST_LENGTH;
}

double perp_qs_size_of_two(const perp_quasistatic *qs, int a, int b)
{
    qs_island two = {0};
    include_shapes(qs, &two, a);
    include_shapes(qs, &two, b);
    return size_of(&two);
}

/* Of the two bodies of a contact the one that moves in the island has been counted. */
static void include_touched(const perp_quasistatic *qs, qs_island *island, int number, const perp_contact *c)
{
    for (int side = 0; side < 2; side++) {
        const int body = side == 0 ? c->a : c->b;
        if (island_of_body(qs, body) != number) {
            include_shapes(qs, island, body);
        }
    }
}

/* The diagonal of the box around the bodies of an island and the bounded shapes that they touch. The origins and
 * centres of mass of bodies count: they are where the arms of joint torques end. */
static void measure_lengths(perp_quasistatic *qs)
{
    const perp_model *model = qs->model;
    for (int b = 0; b < model->body_count; b++) {
        const int k = island_of_body(qs, b);
        if (k >= 0) {
            const perp_vec3 origin = qs->kinematics->pose[b].position;
            include(&qs->islands[k], origin, origin);
            include(&qs->islands[k], qs->kinematics->com[b], qs->kinematics->com[b]);
            include_shapes(qs, &qs->islands[k], b);
            qs->islands[k].mass = fmax(qs->islands[k].mass, model->links[b].mass);
        }
    }
    const perp_contact *last = NULL; /* those of a manifold follow each other */
    for (int i = 0; i < qs->system.contact_count; i++) {
        const perp_contact *c = &qs->contacts->contacts[qs->set_index[i]];
        if (!last || last->a != c->a || last->b != c->b) {
            const int k = perp_qs_island_of_contact(qs, i);
            include_touched(qs, &qs->islands[k], k, c);
        }
        last = c;
    }
    for (int i = 0; i < qs->contacts->count && qs->law->own_contacts && qs->island_count > 0; i++) {
        const perp_contact *c = &qs->contacts->contacts[i];
        if (perp_qs_is_in_reach(qs, c) && (island_of_body(qs, c->a) == 0 || island_of_body(qs, c->b) == 0)) {
            include_touched(qs, &qs->islands[0], 0, c);
        }
    }
    for (int k = 0; k < qs->island_count; k++) {
        qs->islands[k].length = qs->law->instant  ? qs->contacts->scene_size
                                : qs->same_length ? qs->length_unit
                                                  : size_of(&qs->islands[k]);
    }
}

/* ---- F ----------------------------------------------------------------------------------------------------------- */

static void keep_larger(double *kept, double value)
{
    *kept = fmax(*kept, value);
}

static double size_at(const perp_drive drives[3], double t)
{
    return perp_vec3_norm(perp_vec3_make(perp_drive_value(&drives[0], t), perp_drive_value(&drives[1], t),
                                         perp_drive_value(&drives[2], t)));
}

/* The largest of the weights, of the forces that the scene applies and of the springs' forces, a torque counting as a
 * force on the arm L. */
static void measure_loads(perp_quasistatic *qs, const double *q, double t_end)
{
    const perp_model *model = qs->model;
    const perp_scene *scene = model->scene;
    const double gravity = perp_vec3_norm(scene->gravity);
    for (int b = 0; b < model->body_count; b++) {
        const int k = island_of_body(qs, b);
        if (k >= 0) {
            keep_larger(&qs->islands[k].force, model->links[b].mass * gravity);
        }
    }
    for (int i = 0; i < scene->force_count; i++) {
        const int k = island_of_body(qs, scene->forces[i].body_index);
        if (k >= 0) {
            keep_larger(&qs->islands[k].force, size_at(scene->forces[i].force, t_end));
            keep_larger(&qs->islands[k].force, size_at(scene->forces[i].torque, t_end) / qs->islands[k].length);
        }
    }
    for (int i = 0; i < qs->free_count; i++) {
        const int dof = qs->dof_of_free[i];
        qs_island *island = &qs->islands[qs->island_of_tree[qs->tree_of_free[i]]];
        if (model->role[dof] == PERP_DOF_IMPEDANCE) {
            const double spring = fabs(model->stiffness[dof] * (qs->command[dof] - q[model->dof_q[dof]]));
            keep_larger(&island->force, qs->turns[i] ? spring / island->length : spring);
        }
    }
}

/* N: about what it takes to change the velocity along a row by `speed`, with the diagonal of A for it. Nothing, where
 * something without inertia or spring gives way. */
static double stopping_force(const perp_quasistatic *qs, int count, const int *dofs, const double *row, double speed)
{
    double mobility = 0.0;
    for (int k = 0; k < count; k++) {
        mobility += row[k] * row[k] / qs->diagonal[dofs[k]];
    }
    return mobility > 0.0 ? speed / mobility : 0.0;
}

/* What has to be stopped in the step: contacts, limits and loops that v = 0 (with inertia: the velocity that there is)
 * would violate at the step's end. Impacts are forces of m v / h, beside which all that is applied may be small, and
 * a solver that is asked for 1e-8 of that fails by rounding. */
static void measure_impacts(perp_quasistatic *qs)
{
    const perp_contact_qp *p = &qs->system;
    const double *block = p->hessian, *jacobian = p->jacobian;
    for (int b = 0; b < p->block_count; b++) {
        const int start = p->block_start[b], size = p->block_start[b + 1] - start;
        for (int i = 0; i < size; i++) {
            qs->diagonal[start + i] = block[(ptrdiff_t)i * size + i];
        }
        block += (ptrdiff_t)size * size;
    }
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->dof_start[i], count = p->dof_start[i + 1] - start;
        const double speed = p->offset[p->row_start[i]];
        if (speed < 0.0) {
            keep_larger(&qs->islands[perp_qs_island_of_contact(qs, i)].force,
                        stopping_force(qs, count, p->dofs + start, jacobian, -speed));
        }
        jacobian += (ptrdiff_t)(p->row_start[i + 1] - p->row_start[i]) * count;
    }
    for (int i = 0; i < p->equality_count; i++) {
        const int start = p->equality_start[i], count = p->equality_start[i + 1] - start;
        keep_larger(&qs->islands[qs->island_of_tree[qs->tree_of_free[p->equality_dofs[start]]]].force,
                    stopping_force(qs, count, p->equality_dofs + start, p->equality_values + start,
                                   fabs(p->equality_target[i])));
    }
    for (int i = 0; i < p->n && p->lower; i++) {
        qs_island *island = &qs->islands[qs->island_of_tree[qs->tree_of_free[i]]];
        const double force = fmax(fmax(p->lower[i], -p->upper[i]), 0.0) * qs->diagonal[i];
        keep_larger(&island->force, qs->turns[i] ? force / island->length : force);
    }
}

void perp_qs_measure_islands(perp_quasistatic *qs, const double *q, double t_end)
{
    find_islands(qs);
    for (int k = 0; k < qs->island_count; k++) {
        qs->islands[k] = (qs_island){.force = 1e-3};
    }
    measure_lengths(qs);
    measure_loads(qs, q, t_end);
    if (!qs->law->instant && !qs->law->own_contacts) {
        measure_impacts(qs);
    }
    qs->force_unit = qs->island_count > 0 ? qs->islands[0].force : 1e-3;
    qs->length_unit = qs->island_count > 0 ? qs->islands[0].length : LEAST_LENGTH;
    qs->heaviest = qs->island_count > 0 ? qs->islands[0].mass : 0.0;
}

/* ---- one island -------------------------------------------------------------------------------------------------- */

static void take_dofs(const perp_quasistatic *qs, int island, perp_quasistatic *one)
{
    const qs_island_arrays *a = &qs->one;
    const perp_contact_qp *p = &qs->system;
    const double *block = p->hessian;
    double *to = a->hessian;
    int n = 0, blocks = 0;
    memset(a->free_of_dof, -1, (size_t)qs->model->nv * sizeof *a->free_of_dof);
    a->block_start[0] = 0;
    for (int b = 0; b < p->block_count; b++) {
        const int start = p->block_start[b], size = p->block_start[b + 1] - start;
        const size_t entries = (size_t)size * (size_t)size;
        if (qs->island_of_tree[qs->tree_of_free[start]] == island) {
            memcpy(to, block, entries * sizeof *to);
            to += entries;
            for (int i = start; i < start + size; i++, n++) {
                a->free_of_dof[qs->dof_of_free[i]] = n;
                a->dof_of_free[n] = qs->dof_of_free[i];
                a->tree_of_free[n] = qs->tree_of_free[i];
                a->turns[n] = qs->turns[i];
                a->g[n] = qs->g[i];
                a->lower[n] = qs->lower[i];
                a->upper[n] = qs->upper[i];
                a->y_lower[n] = a->y_upper[n] = 0.0;
            }
            a->block_start[++blocks] = n;
        }
        block += entries;
    }
    one->free_count = one->system.n = n;
    one->system.block_count = blocks;
}

static int local_of(const perp_quasistatic *qs, int free)
{
    return qs->one.free_of_dof[qs->dof_of_free[free]];
}

static void take_contacts(const perp_quasistatic *qs, perp_quasistatic *one)
{
    const qs_island_arrays *a = &qs->one;
    const perp_contact_qp *p = &qs->system;
    const double *jacobian = p->jacobian;
    double *to = a->jacobian;
    int count = 0, rows = 0, dofs = 0;
    a->row_start[0] = a->dof_start[0] = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->dof_start[i], columns = p->dof_start[i + 1] - start;
        const int own_rows = p->row_start[i + 1] - p->row_start[i];
        const size_t entries = (size_t)own_rows * (size_t)columns;
        if (local_of(qs, p->dofs[start]) >= 0) {
            memcpy(to, jacobian, entries * sizeof *to);
            to += entries;
            memcpy(a->offset + rows, p->offset + p->row_start[i], (size_t)own_rows * sizeof *a->offset);
            for (int k = 0; k < columns; k++) {
                a->dofs[dofs + k] = local_of(qs, p->dofs[start + k]);
            }
            a->mu[count] = qs->mu[i];
            a->shift[count] = qs->shift[i];
            a->room[count] = qs->room[i];
            a->layer[count] = 0.0;
            a->set_index[count++] = qs->set_index[i];
            a->row_start[count] = rows += own_rows;
            a->dof_start[count] = dofs += columns;
        }
        jacobian += entries;
    }
    one->system.contact_count = count;
}

static void take_loops(const perp_quasistatic *qs, perp_quasistatic *one)
{
    const qs_island_arrays *a = &qs->one;
    const perp_contact_qp *p = &qs->system;
    int count = 0, entries = 0;
    a->equality_start[0] = 0;
    for (int i = 0; i < p->equality_count; i++) {
        if (local_of(qs, p->equality_dofs[p->equality_start[i]]) < 0) {
            continue;
        }
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            a->equality_dofs[entries] = local_of(qs, p->equality_dofs[k]);
            a->equality_values[entries++] = p->equality_values[k];
        }
        a->equality_target[count] = p->equality_target[i];
        a->loop_row[count++] = qs->loop_row[i];
        a->equality_start[count] = entries;
    }
    one->system.equality_count = count;
}

/* The limits of an island are NULL where it has none, whatever others have. */
static bool has_limits(const qs_island_arrays *a, int n)
{
    bool any = false;
    for (int i = 0; i < n && !any; i++) {
        any = isfinite(a->lower[i]) || isfinite(a->upper[i]);
    }
    return any;
}

perp_quasistatic perp_qs_island(const perp_quasistatic *qs, int island)
{
    const qs_island_arrays *a = &qs->one;
    perp_quasistatic one = *qs;
    take_dofs(qs, island, &one);
    take_contacts(qs, &one);
    take_loops(qs, &one);
    one.free_of_dof = a->free_of_dof;
    one.dof_of_free = a->dof_of_free;
    one.tree_of_free = a->tree_of_free;
    one.turns = a->turns;
    one.block_start = a->block_start;
    one.hessian = a->hessian;
    one.g = a->g;
    one.lower = a->lower;
    one.upper = a->upper;
    one.x = a->x;
    one.y_lower = a->y_lower;
    one.y_upper = a->y_upper;
    one.row_start = a->row_start;
    one.dof_start = a->dof_start;
    one.dofs = a->dofs;
    one.set_index = a->set_index;
    one.jacobian = a->jacobian;
    one.offset = a->offset;
    one.mu = a->mu;
    one.shift = a->shift;
    one.room = a->room;
    one.layer = a->layer;
    one.force = a->force;
    one.loop_row = a->loop_row;
    one.equality_start = a->equality_start;
    one.equality_dofs = a->equality_dofs;
    one.equality_values = a->equality_values;
    one.equality_target = a->equality_target;
    one.y_equality = a->y_equality;
    one.system.lower = has_limits(a, one.free_count) ? a->lower : NULL;
    one.system.upper = one.system.lower ? a->upper : NULL;
    perp_qs_join_system(&one);
    one.force_unit = qs->islands[island].force;
    one.length_unit = qs->islands[island].length;
    one.heaviest = qs->islands[island].mass;
    return one;
}

/* Both lists ascend, so one pass over the whole meets every contact of the island. */
void perp_qs_put_island(perp_quasistatic *qs, const perp_quasistatic *one)
{
    for (int i = 0; i < one->free_count; i++) {
        const int free = qs->free_of_dof[one->dof_of_free[i]];
        qs->x[free] = one->x[i];
        qs->y_lower[free] = one->y_lower[i];
        qs->y_upper[free] = one->y_upper[i];
    }
    for (int i = 0, k = 0; i < one->system.contact_count; i++) {
        while (qs->set_index[k] != one->set_index[i]) {
            k++;
        }
        memcpy(qs->force + qs->row_start[k], one->force + one->row_start[i],
               (size_t)(one->row_start[i + 1] - one->row_start[i]) * sizeof *qs->force);
        qs->layer[k] = one->layer[i];
    }
    for (int i = 0, k = 0; i < one->system.equality_count; i++) {
        while (qs->loop_row[k] != one->loop_row[i]) {
            k++;
        }
        qs->y_equality[k] = one->y_equality[i];
    }
}
