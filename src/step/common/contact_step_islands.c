/* The islands of a step problem, what each is measured by, and one of them as a problem of its own. */
#include "contact/contact_reach.h"
#include "step/common/dynamic.h"
#include "step/common/tolerances.h"

#include <string.h>

/* ---- which trees hang together ----------------------------------------------------------------------------------- */

int perp_step_lowest_joined(int *joined, int tree)
{
    while (joined[tree] != tree) {
        joined[tree] = joined[joined[tree]];
        tree = joined[tree];
    }
    return tree;
}

void perp_step_join_trees(int *joined, int a, int b)
{
    const int one = perp_step_lowest_joined(joined, a), other = perp_step_lowest_joined(joined, b);
    joined[one > other ? one : other] = one > other ? other : one;
}

/* A row is of two bodies, and its degrees of freedom ascend: the first and the last are of all trees that it has. */
static void join_ends(const contact_step *step, int count, const int *dofs)
{
    const int first = step->tree_of_free[dofs[0]], last = step->tree_of_free[dofs[count - 1]];
    if (first != last) {
        perp_step_join_trees(step->joined, first, last);
    }
}

/* Islands are numbered by their lowest tree. At an instant all is one: its answers are listed for the whole. */
static void find_islands(contact_step *step)
{
    const perp_contact_qp *p = &step->system;
    const bool one = step->law->instant || step->law->own_contacts;
    for (int k = 0; k < step->model->tree_count; k++) {
        step->joined[k] = k;
        step->island_of_tree[k] = -1;
    }
    for (int i = 1; i < step->free_count && one; i++) {
        perp_step_join_trees(step->joined, step->tree_of_free[i - 1], step->tree_of_free[i]);
    }
    for (int i = 0; i < p->contact_count && !one; i++) {
        join_ends(step, p->dof_start[i + 1] - p->dof_start[i], p->dofs + p->dof_start[i]);
    }
    for (int i = 0; i < p->equality_count && !one; i++) {
        join_ends(step, p->equality_start[i + 1] - p->equality_start[i], p->equality_dofs + p->equality_start[i]);
    }
    step->island_count = 0;
    for (int i = 0; i < step->free_count; i++) {
        const int tree = step->tree_of_free[i], lowest = perp_step_lowest_joined(step->joined, tree);
        if (step->island_of_tree[lowest] < 0) {
            step->island_of_tree[lowest] = step->island_count++;
        }
        step->island_of_tree[tree] = step->island_of_tree[lowest];
    }
}

int perp_step_island_of_contact(const contact_step *step, int i)
{
    return step->island_of_tree[step->tree_of_free[step->dofs[step->dof_start[i]]]];
}

static int island_of_body(const contact_step *step, int body)
{
    const int tree = step->model->links[body].tree;
    return tree >= 0 && step->moved[body] ? step->island_of_tree[tree] : -1;
}

/* ---- L ----------------------------------------------------------------------------------------------------------- */

static void include(step_island *island, perp_vec3 low, perp_vec3 high)
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

static void include_shapes(const contact_step *step, step_island *island, int body)
{
    perp_vec3 low, high;
    if (perp_contact_body_box(step->contacts, body, &low, &high)) {
        include(island, low, high);
    }
}

static double size_of(const step_island *island)
{
    return island->boxed ? fmax(LENGTH_LEAST, perp_vec3_norm(perp_vec3_sub(island->high, island->low))) : LENGTH_LEAST;
}

double perp_step_size_of_two(const contact_step *step, int a, int b)
{
    step_island two = {0};
    include_shapes(step, &two, a);
    include_shapes(step, &two, b);
    return size_of(&two);
}

/* Of the two bodies of a contact the one that moves in the island has been counted. */
static void include_touched(const contact_step *step, step_island *island, int number, const perp_contact *c)
{
    for (int side = 0; side < 2; side++) {
        const int body = side == 0 ? c->a : c->b;
        if (island_of_body(step, body) != number) {
            include_shapes(step, island, body);
        }
    }
}

/* The diagonal of the box around the bodies of an island and the bounded shapes that they touch. The origins and
 * centres of mass of bodies count: they are where the arms of joint torques end. */
static void measure_lengths(contact_step *step)
{
    const perp_model *model = step->model;
    for (int b = 0; b < model->body_count; b++) {
        const int k = island_of_body(step, b);
        if (k >= 0) {
            const perp_vec3 origin = step->kinematics->pose[b].position;
            include(&step->islands[k], origin, origin);
            include(&step->islands[k], step->kinematics->com[b], step->kinematics->com[b]);
            include_shapes(step, &step->islands[k], b);
            step->islands[k].mass = fmax(step->islands[k].mass, model->links[b].mass);
        }
    }
    const perp_contact *last = NULL; /* those of a manifold follow each other */
    for (int i = 0; i < step->system.contact_count; i++) {
        const perp_contact *c = &step->contacts->contacts[step->set_index[i]];
        if (!last || last->a != c->a || last->b != c->b) {
            const int k = perp_step_island_of_contact(step, i);
            include_touched(step, &step->islands[k], k, c);
        }
        last = c;
    }
    for (int i = 0; i < step->contacts->count && step->law->own_contacts && step->island_count > 0; i++) {
        const perp_contact *c = &step->contacts->contacts[i];
        if (perp_step_is_in_reach(step, c) && (island_of_body(step, c->a) == 0 || island_of_body(step, c->b) == 0)) {
            include_touched(step, &step->islands[0], 0, c);
        }
    }
    for (int k = 0; k < step->island_count; k++) {
        step->islands[k].length = step->law->instant  ? step->contacts->scene_size
                                  : step->same_length ? step->length_unit
                                                      : size_of(&step->islands[k]);
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
static void measure_loads(contact_step *step, const double *q, double t_end)
{
    const perp_model *model = step->model;
    const perp_scene *scene = model->scene;
    const double gravity = perp_vec3_norm(scene->gravity);
    for (int b = 0; b < model->body_count; b++) {
        const int k = island_of_body(step, b);
        if (k >= 0) {
            keep_larger(&step->islands[k].force, model->links[b].mass * gravity);
        }
    }
    for (int i = 0; i < scene->force_count; i++) {
        const int k = island_of_body(step, scene->forces[i].body_index);
        if (k >= 0) {
            keep_larger(&step->islands[k].force, size_at(scene->forces[i].force, t_end));
            keep_larger(&step->islands[k].force, size_at(scene->forces[i].torque, t_end) / step->islands[k].length);
        }
    }
    for (int i = 0; i < step->contacts->count; i++) { /* of supports the load, of others 0 */
        const perp_contact *c = &step->contacts->contacts[i];
        const int k = c->load > 0.0 ? island_of_body(step, c->b) : -1;
        if (k >= 0) {
            keep_larger(&step->islands[k].force, c->load);
        }
    }
    for (int i = 0; i < step->free_count; i++) {
        const int dof = step->dof_of_free[i];
        step_island *island = &step->islands[step->island_of_tree[step->tree_of_free[i]]];
        if (model->role[dof] == PERP_DOF_IMPEDANCE) {
            const double spring = fabs(perp_step_spring(step, q, dof).force);
            keep_larger(&island->force, step->turns[i] ? spring / island->length : spring);
        }
        const perp_joint *joint = model->dof_joint[dof] >= 0 ? &scene->joints[model->dof_joint[dof]] : NULL;
        if (joint && joint->control == PERP_CONTROL_TORQUE) {
            const double torque = fabs(perp_joint_torque(joint, t_end));
            keep_larger(&island->force, step->turns[i] ? torque / island->length : torque);
        }
    }
}

/* N: about what it takes to change the velocity along a row by `speed`, with the diagonal of A for it. Nothing, where
 * something without inertia or spring gives way. */
static double stopping_force(const contact_step *step, int count, const int *dofs, const double *row, double speed)
{
    double mobility = 0.0;
    for (int k = 0; k < count; k++) {
        mobility += row[k] * row[k] / step->diagonal[dofs[k]];
    }
    return mobility > 0.0 ? speed / mobility : 0.0;
}

/* What has to be stopped in the step: contacts, limits and loops that v = 0 (with inertia: the velocity that there is)
 * would violate at the step's end. Impacts are forces of m v / h, beside which all that is applied may be small, and
 * a solver that is asked for 1e-8 of that fails by rounding. */
static void measure_impacts(contact_step *step)
{
    const perp_contact_qp *p = &step->system;
    const double *block = p->hessian, *jacobian = p->jacobian;
    for (int b = 0; b < p->block_count; b++) {
        const int start = p->block_start[b], size = p->block_start[b + 1] - start;
        for (int i = 0; i < size; i++) {
            step->diagonal[start + i] = block[(ptrdiff_t)i * size + i];
        }
        block += (ptrdiff_t)size * size;
    }
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->dof_start[i], count = p->dof_start[i + 1] - start;
        const double speed = p->offset[p->row_start[i]];
        if (speed < 0.0) {
            keep_larger(&step->islands[perp_step_island_of_contact(step, i)].force,
                        stopping_force(step, count, p->dofs + start, jacobian, -speed));
        }
        jacobian += (ptrdiff_t)(p->row_start[i + 1] - p->row_start[i]) * count;
    }
    for (int i = 0; i < p->equality_count; i++) {
        const int start = p->equality_start[i], count = p->equality_start[i + 1] - start;
        keep_larger(&step->islands[step->island_of_tree[step->tree_of_free[p->equality_dofs[start]]]].force,
                    stopping_force(step, count, p->equality_dofs + start, p->equality_values + start,
                                   fabs(p->equality_target[i])));
    }
    for (int i = 0; i < p->n && p->lower; i++) {
        step_island *island = &step->islands[step->island_of_tree[step->tree_of_free[i]]];
        const double force = fmax(fmax(p->lower[i], -p->upper[i]), 0.0) * step->diagonal[i];
        keep_larger(&island->force, step->turns[i] ? force / island->length : force);
    }
}

void perp_step_measure_islands(contact_step *step, const double *q, double t_end)
{
    find_islands(step);
    for (int k = 0; k < step->island_count; k++) {
        step->islands[k] = (step_island){.force = FORCE_LEAST};
    }
    measure_lengths(step);
    measure_loads(step, q, t_end);
    if (!step->law->instant && !step->law->own_contacts) {
        measure_impacts(step);
    }
    step->force_unit = step->island_count > 0 ? step->islands[0].force : FORCE_LEAST;
    step->length_unit = step->island_count > 0 ? step->islands[0].length : LENGTH_LEAST;
    step->heaviest = step->island_count > 0 ? step->islands[0].mass : 0.0;
}

void perp_step_measure_force(contact_step *one, int island, const double *q)
{
    one->islands[island].force = FORCE_LEAST;
    measure_loads(one, q, one->t + one->h);
    measure_impacts(one);
    one->force_unit = one->islands[island].force;
}

/* ---- one island -------------------------------------------------------------------------------------------------- */

static void take_dofs(const contact_step *step, int island, contact_step *one)
{
    const perp_contact_qp *p = &step->system;
    const double *block = p->hessian;
    double *to = one->hessian;
    int n = 0, blocks = 0;
    memset(one->free_of_dof, -1, (size_t)(step->model->nv + step->foot_capacity) * sizeof *one->free_of_dof);
    one->free_count = one->foot_count = 0;
    one->block_start[0] = 0;
    for (int b = 0; b < p->block_count; b++) {
        const int start = p->block_start[b], size = p->block_start[b + 1] - start;
        const size_t entries = (size_t)size * (size_t)size;
        if (step->island_of_tree[step->tree_of_free[start]] == island) {
            memcpy(to, block, entries * sizeof *to);
            to += entries;
            *(start < step->free_count ? &one->free_count : &one->foot_count) += size;
            for (int i = start; i < start + size; i++, n++) {
                one->free_of_dof[step->dof_of_free[i]] = n;
                one->dof_of_free[n] = step->dof_of_free[i];
                one->tree_of_free[n] = step->tree_of_free[i];
                one->turns[n] = step->turns[i];
                one->g[n] = step->g[i];
                one->lower[n] = step->lower[i];
                one->upper[n] = step->upper[i];
                one->y_lower[n] = one->y_upper[n] = 0.0;
            }
            one->block_start[++blocks] = n;
        }
        block += entries;
    }
    one->system.n = n;
    one->system.block_count = blocks;
}

static int local_of(const contact_step *step, const contact_step *one, int free)
{
    return one->free_of_dof[step->dof_of_free[free]];
}

static void take_contacts(const contact_step *step, contact_step *one)
{
    const perp_contact_qp *p = &step->system;
    const double *jacobian = p->jacobian;
    double *to = one->jacobian;
    int count = 0, rows = 0, dofs = 0;
    one->row_start[0] = one->dof_start[0] = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->dof_start[i], columns = p->dof_start[i + 1] - start;
        const int own_rows = p->row_start[i + 1] - p->row_start[i];
        const size_t entries = (size_t)own_rows * (size_t)columns;
        if (local_of(step, one, p->dofs[start]) >= 0) {
            memcpy(to, jacobian, entries * sizeof *to);
            to += entries;
            memcpy(one->offset + rows, p->offset + p->row_start[i], (size_t)own_rows * sizeof *one->offset);
            for (int k = 0; k < columns; k++) {
                one->dofs[dofs + k] = local_of(step, one, p->dofs[start + k]);
            }
            one->mu[count] = step->mu[i];
            one->shift[count] = step->shift[i];
            one->room[count] = step->room[i];
            one->layer[count] = 0.0;
            one->set_index[count++] = step->set_index[i];
            one->row_start[count] = rows += own_rows;
            one->dof_start[count] = dofs += columns;
        }
        jacobian += entries;
    }
    one->system.contact_count = count;
}

static void take_loops(const contact_step *step, contact_step *one)
{
    const perp_contact_qp *p = &step->system;
    int count = 0, entries = 0;
    one->equality_start[0] = 0;
    for (int i = 0; i < p->equality_count; i++) {
        if (local_of(step, one, p->equality_dofs[p->equality_start[i]]) < 0) {
            continue;
        }
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            one->equality_dofs[entries] = local_of(step, one, p->equality_dofs[k]);
            one->equality_values[entries++] = p->equality_values[k];
        }
        one->equality_target[count] = p->equality_target[i];
        one->loop_row[count++] = step->loop_row[i];
        one->equality_start[count] = entries;
    }
    one->system.equality_count = count;
}

/* The limits of an island are NULL where it has none, whatever others have. */
static bool has_limits(const contact_step *one)
{
    bool any = false;
    for (int i = 0; i < one->free_count && !any; i++) {
        any = isfinite(one->lower[i]) || isfinite(one->upper[i]);
    }
    return any;
}

contact_step perp_step_island(contact_step *step, int island)
{
    contact_step one = perp_step_room_for_island(step);
    take_dofs(step, island, &one);
    take_contacts(step, &one);
    take_loops(step, &one);
    one.system.lower = has_limits(&one) ? one.lower : NULL;
    one.system.upper = one.system.lower ? one.upper : NULL;
    perp_step_join_system(&one);
    one.force_unit = step->islands[island].force;
    one.length_unit = step->islands[island].length;
    one.heaviest = step->islands[island].mass;
    return one;
}

/* Both lists ascend, so one pass over the whole meets every contact of the island. */
void perp_step_put_island(contact_step *step, const contact_step *one)
{
    for (int i = 0; i < one->system.n; i++) {
        const int free = step->free_of_dof[one->dof_of_free[i]];
        step->x[free] = one->x[i];
        step->y_lower[free] = one->y_lower[i];
        step->y_upper[free] = one->y_upper[i];
    }
    for (int i = 0, k = 0; i < one->system.contact_count; i++) {
        while (step->set_index[k] != one->set_index[i]) {
            k++;
        }
        memcpy(step->force + step->row_start[k], one->force + one->row_start[i],
               (size_t)(one->row_start[i + 1] - one->row_start[i]) * sizeof *step->force);
        step->layer[k] = one->layer[i];
    }
    for (int i = 0, k = 0; i < one->system.equality_count; i++) {
        while (step->loop_row[k] != one->loop_row[i]) {
            k++;
        }
        step->y_equality[k] = one->y_equality[i];
    }
}
