/* The problem of a compliant step at one configuration: bodies as step->system has them, and the elements of contacts
 * as massless bodies beside them. */
#include "solver/friction_soft.h"
#include "step/compliant/compliant.h"

#include <string.h>

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static perp_status hold_fixed(compliant_step *s, const contact_step *step, perp_error *error)
{
    const perp_model *model = step->model;
    const int nv = model->nv, loops = 6 * model->scene->loop_count;
    const block_array arrays[] = {PERP_ARRAY(s->q_end, model->nq),
                                  PERP_ARRAY(s->v_begin, nv),
                                  PERP_ARRAY(s->v_linear, nv),
                                  PERP_ARRAY(s->energy, model->tree_count),
                                  PERP_ARRAY(s->lost, model->tree_count),
                                  PERP_ARRAY(s->com_velocity, model->tree_count),
                                  PERP_ARRAY(s->target, loops),
                                  PERP_ARRAY(s->rows.dofs, nv),
                                  PERP_ARRAY(s->rows.entry, 4 * nv),
                                  PERP_ARRAY(s->rows.along[0], 4 * nv),
                                  PERP_ARRAY(s->rows.along[1], 4 * nv)};
    return perp_block_arrays(&step->allocator, &s->fixed, arrays, sizeof arrays / sizeof *arrays, error);
}

static perp_status hold_sized(compliant_step *s, const contact_step *step, perp_error *error)
{
    const perp_model *model = step->model;
    const int elements = s->element_capacity, rows = 4 * elements, n = model->nv + rows;
    const int dofs = s->dof_capacity, loops = 6 * model->scene->loop_count;
    const block_array arrays[] = {PERP_ARRAY(s->patches, s->patch_capacity),
                                  PERP_ARRAY(s->patch_of, elements),
                                  PERP_ARRAY(s->soft_start, elements),
                                  PERP_ARRAY(s->deformation, rows),
                                  PERP_ARRAY(s->adopted, elements),
                                  PERP_ARRAY(s->recess, elements),
                                  PERP_ARRAY(s->slack, elements),
                                  PERP_ARRAY(s->tilt, elements),
                                  PERP_ARRAY(s->elements, elements),
                                  PERP_ARRAY(s->mu, elements),
                                  PERP_ARRAY(s->mu_miss, elements),
                                  PERP_ARRAY(s->mu_weight, elements),
                                  PERP_ARRAY(s->block_start, model->tree_count + elements + 1),
                                  PERP_ARRAY(s->row_start, elements + 1),
                                  PERP_ARRAY(s->dof_start, elements + 1),
                                  PERP_ARRAY(s->dofs, dofs),
                                  PERP_ARRAY(s->hessian, model->mass_size + 9 * elements),
                                  PERP_ARRAY(s->jacobian, 4 * dofs),
                                  PERP_ARRAY(s->offset, rows),
                                  PERP_ARRAY(s->u, rows),
                                  PERP_ARRAY(s->g, n),
                                  PERP_ARRAY(s->lower, n),
                                  PERP_ARRAY(s->upper, n),
                                  PERP_ARRAY(s->balance, n),
                                  PERP_ARRAY(s->point.x, n),
                                  PERP_ARRAY(s->point.y_lower, n),
                                  PERP_ARRAY(s->point.y_upper, n),
                                  PERP_ARRAY(s->point.y, rows),
                                  PERP_ARRAY(s->point.y_equality, loops),
                                  PERP_ARRAY(s->warm.x, n),
                                  PERP_ARRAY(s->warm.y_lower, n),
                                  PERP_ARRAY(s->warm.y_upper, n),
                                  PERP_ARRAY(s->warm.y, rows),
                                  PERP_ARRAY(s->warm.y_equality, loops)};
    return perp_block_arrays(&step->allocator, &s->sized, arrays, sizeof arrays / sizeof *arrays, error);
}

perp_status perp_compliant_open(contact_step *step, perp_error *error)
{
    compliant_step *s = step->allocator.allocate(step->allocator.context, sizeof *s);
    if (!s) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while starting a run");
    }
    memset(s, 0, sizeof *s);
    step->own = s;
    perp_status status = hold_fixed(s, step, error);
    status = status == PERP_STATUS_OK ? perp_kept_open(&s->bodies, step, 0, error) : status;
    status = status == PERP_STATUS_OK ? perp_friction_workspace_create(&step->allocator, &s->friction, error) : status;
    return status == PERP_STATUS_OK ? perp_friction_soft_workspace_create(&step->allocator, &s->soft, error) : status;
}

void perp_compliant_close(contact_step *step)
{
    compliant_step *s = step->own;
    if (!s) {
        return;
    }
    perp_friction_workspace_free(s->friction);
    perp_friction_soft_workspace_free(s->soft);
    perp_convex_workspace_free(s->cones.solver);
    perp_kept_close(&s->bodies, step);
    memory_block *const blocks[] = {&s->fixed,       &s->sized,       &s->all.block,   &s->kept.block,
                                    &s->ended.block, &s->guess.block, &s->spare.block, &s->cones.block};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        perp_block_free(&step->allocator, blocks[i]);
    }
    step->allocator.release(step->allocator.context, s);
    step->own = NULL;
}

static perp_status reserve(contact_step *step, int patches, int elements, int dofs, perp_error *error)
{
    compliant_step *s = step->own;
    if (s->sized.memory && patches <= s->patch_capacity && elements <= s->element_capacity && dofs <= s->dof_capacity) {
        return PERP_STATUS_OK;
    }
    s->patch_capacity = patches >= s->patch_capacity ? patches + patches / 2 + 8 : s->patch_capacity;
    s->element_capacity = elements >= s->element_capacity ? elements + elements / 2 + 8 : s->element_capacity;
    s->dof_capacity = dofs >= s->dof_capacity ? dofs + dofs / 2 + 48 : s->dof_capacity;
    return hold_sized(s, step, error);
}

/* ---- which contacts ---------------------------------------------------------------------------------------------- */

static perp_status count_and_reserve(contact_step *step, perp_error *error)
{
    const perp_contact_set *set = step->contacts;
    int patches = 0, elements = 0, dofs = 0;
    for (int i = 0, hint = 0, kept; i < set->count; i++) {
        if (perp_compliant_takes_part(step, i, &hint, &kept)) {
            const compliant_material m = perp_compliant_material(step->model->scene, &set->contacts[i]);
            patches++;
            elements += m.elements;
            dofs += m.elements * (set->dof_start[i + 1] - set->dof_start[i] + m.soft);
        }
    }
    return reserve(step, patches, elements, dofs, error);
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

/* delta of an element along the rows of its contact at q_k. */
static void lay_deformation(const compliant_element *e, const perp_contact *c, const compliant_material *m, double *out)
{
    out[0] = e->normal;
    for (int r = 1; r < 3; r++) {
        out[r] = r < m->soft ? perp_vec3_dot(e->tangential, c->directions[r - 1]) : 0.0;
    }
    const double energy = perp_compliant_tangential_energy(m, out);
    const double scale = energy > 0.0 ? sqrt(e->energy / energy) : 0.0;
    for (int r = 1; r < m->soft; r++) {
        out[r] *= scale;
    }
}

/* The deformation of a contact that the step's begin did not have: of where it comes from, if its shapes did touch. */
static compliant_element deformation_of(const contact_step *step, int contact, int kept, int successor, int e)
{
    const compliant_step *s = step->own;
    const perp_contact *c = &step->contacts->contacts[contact];
    const int k = kept >= 0 ? kept : successor;
    compliant_element element = {.normal = 0.0};
    if (k >= 0 && s->kept.start[k] + e < s->kept.start[k + 1]) {
        element = s->kept.element[s->kept.start[k] + e];
    }
    if (kept < 0) {
        const perp_contact_set *set = step->contacts;
        const int start = set->dof_start[contact], columns = set->dof_start[contact + 1] - start;
        double moved = 0.0;
        for (int j = 0; j < columns; j++) {
            moved += set->jacobian[(ptrdiff_t)set->rows * start + j] * s->v_linear[set->dofs[start + j]];
        }
        const double phi = c->phi - step->h * moved;
        const double inherited = element.normal - element.adopted;
        element.normal = fmax(0.0, -phi);
        element.adopted = element.normal - inherited;
        element.recess = 0.0;
        element.gap = phi + element.normal;
    }
    if (s->by_rates) { /* nothing is given but what it inherits: it is deformed by what it does */
        element.normal -= element.adopted;
        element.gap -= element.adopted;
    }
    return element;
}

/* h K + C of element i into its block of A, K (delta + h tilt) into its load. */
static void fill_element(contact_step *step, const compliant_patch *patch, int i, double *block)
{
    compliant_step *s = step->own;
    const compliant_material *m = &patch->material;
    const perp_contact *c = &step->contacts->contacts[patch->contact];
    if (perp_contact_is_support(c)) {
        const double mass = perp_dynamic_mass_scale(step) * step->model->links[c->b].mass;
        block[0] = mass / step->h * (s->speed / step->force_unit);
        s->g[step->free_count + s->soft_start[i]] = m->load / step->force_unit;
        return;
    }
    const double damping = m->hunt_crossley ? fmax(0.0, -c->phi) : 1.0;
    const double *delta = s->deformation + 3 * (ptrdiff_t)i;
    for (int r = 0; r < m->soft; r++) {
        double load = 0.0;
        for (int k = 0; k < m->soft; k++) {
            const double stiffness = m->stiffness[r * m->rows + k];
            block[r * m->soft + k] =
                (step->h * stiffness + damping * m->damping[r * m->rows + k]) * (s->speed / step->force_unit);
            load += stiffness * (delta[k] + (k == 0 ? step->h * s->tilt[i] : 0.0));
        }
        s->g[step->free_count + s->soft_start[i] + r] = load / step->force_unit;
    }
}

/* Coulomb's coefficient that gives the cone of an element at the normal force of the last answer. */
static double coefficient(const compliant_material *m, double fn)
{
    static const double MOST = 1e3; /* times mu: the smoothed cone of no force at all is a half-space */
    return m->mu > 0.0 && fn > 0.0 ? fmin(perp_compliant_radius(m, fn) / fn, MOST * m->mu) : m->mu;
}

/* Towards the coefficient s->mu of the last answer's force from the one that it was solved with, by the weight of a
 * secant through the last two: where a contact draws on itself by its friction, as a rod's tip does that slides ahead
 * of it, taking all of it goes to and fro. */
static void step_mu(compliant_step *s, int i, const compliant_element *last)
{
    static const double LEAST = 0.05;
    const double miss = log(s->mu[i] / last->mu), change = last->mu_miss - miss;
    const double weight = change != 0.0 ? last->mu_weight * last->mu_miss / change : 1.0;
    s->mu_weight[i] = last->mu_miss != 0.0 && isfinite(weight) ? fmin(1.0, fmax(LEAST, weight)) : 1.0;
    s->mu_miss[i] = miss;
    s->mu[i] = last->mu * exp(s->mu_weight[i] * miss);
}

typedef struct builder {
    int rows, dofs, soft;
    ptrdiff_t entries, blocks; /* of the Jacobians and of A */
} builder;

static void add_element(contact_step *step, const compliant_patch *patch, int e, builder *at)
{
    compliant_step *s = step->own;
    const compliant_material *m = &patch->material;
    const compliant_rows *rows = &s->rows;
    const int i = patch->first + e, columns = rows->columns;
    double offset[2];
    perp_compliant_offset(m, step->model->planar, e, offset);
    memcpy(s->dofs + at->dofs, rows->dofs, (size_t)columns * sizeof *s->dofs);
    s->soft_start[i] = at->soft;
    s->tilt[i] = s->lags && !s->by_rates ? offset[0] * rows->tilt[0] + offset[1] * rows->tilt[1] : 0.0;
    fill_element(step, patch, i, s->hessian + at->blocks);
    for (int r = 0; r < m->soft; r++) {
        s->dofs[at->dofs + columns + r] = step->free_count + at->soft + r;
    }
    for (int r = 0; r < m->rows; r++) {
        double *row = s->jacobian + at->entries + (ptrdiff_t)r * (columns + m->soft);
        const double velocity = perp_compliant_put_row(rows, r, offset, row);
        s->offset[at->rows + r] = (velocity + (r == 0 ? s->slack[i] : 0.0)) / s->speed;
        for (int k = 0; k < m->soft; k++) {
            row[columns + k] = k == r ? 1.0 : 0.0;
        }
    }
    s->patch_of[i] = (int)(patch - s->patches);
    s->row_start[i + 1] = at->rows += m->rows;
    s->dof_start[i + 1] = at->dofs += columns + m->soft;
    s->block_start[step->system.block_count + i + 1] = step->free_count + (at->soft += m->soft);
    at->entries += (ptrdiff_t)m->rows * (columns + m->soft);
    at->blocks += (ptrdiff_t)m->soft * m->soft;
}

/* The rates and forces of the last answer, 0 where there is none, and mu at these. */
static void recall_element(contact_step *step, const compliant_patch *patch, int e, const compliant_element *last)
{
    compliant_step *s = step->own;
    const compliant_material *m = &patch->material;
    const int i = patch->first + e;
    for (int r = 0; r < m->rows; r++) {
        s->point.y[s->row_start[i] + r] = last && r < 3 ? last->force[r] / step->force_unit : 0.0;
        if (r < m->soft) {
            s->point.x[step->free_count + s->soft_start[i] + r] = last ? last->rate[r] / s->speed : 0.0;
        }
    }
    s->mu[i] = coefficient(m, last ? last->force[0] : 0.0);
    s->mu_miss[i] = 0.0;
    s->mu_weight[i] = 1.0;
    if (last && s->guessed && m->gamma > 0.0 && last->mu > 0.0 && last->force[0] > 0.0) {
        step_mu(s, i, last);
    }
}

bool perp_compliant_has_answer(const contact_step *step)
{
    const compliant_step *s = step->own;
    return step->free_count > 0 ? perp_kept_has(&s->bodies, step) : step->started;
}

static void add_patch(contact_step *step, int contact, int kept, int *hint, builder *at)
{
    compliant_step *s = step->own;
    const perp_contact *c = &step->contacts->contacts[contact];
    const compliant_list *from = s->guessed ? &s->guess : &s->kept;
    compliant_patch *patch = &s->patches[s->patch_count++];
    *patch = (compliant_patch){contact, s->element_count, perp_compliant_material(step->model->scene, c)};
    patch->material.gamma = fmax(s->gamma_part * patch->material.gamma, s->gamma_least / patch->material.elements);
    const int successor = kept < 0 ? perp_compliant_successor(&s->kept, step->contacts, contact) : -1;
    const int last = perp_compliant_find(from, c, hint);
    const bool whole = last >= 0 && from->start[last + 1] - from->start[last] == patch->material.elements;
    s->element_count += patch->material.elements;
    perp_compliant_fill_rows(step, patch);
    if (kept >= 0 || successor >= 0) {
        const int from_begin = kept >= 0 ? kept : successor;
        s->left_behind -= perp_compliant_kept_energy(step, from_begin);
        s->kept.goes_on[from_begin] = true;
    }
    for (int e = 0; e < patch->material.elements; e++) {
        const compliant_element element = deformation_of(step, contact, kept, successor, e);
        const int i = patch->first + e;
        lay_deformation(&element, c, &patch->material, s->deformation + 3 * (ptrdiff_t)i);
        s->adopted[i] = element.adopted;
        s->recess[i] = element.recess;
        s->slack[i] = (s->by_rates ? fmax(0.0, element.gap) : c->phi + s->recess[i] + element.normal) / step->h;
        add_element(step, patch, e, at);
        recall_element(step, patch, e, whole ? &from->element[from->start[last] + e] : NULL);
    }
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

/* The unit of velocities: what F does to the heaviest body, or L in a step. */
static double speed_unit(const contact_step *step)
{
    const double across = step->length_unit / step->h, mass = step->heaviest;
    const double gain = step->force_unit * step->h / (perp_dynamic_mass_scale(step) * mass);
    return mass > 0.0 ? fmin(gain, across) : across;
}

/* Bodies, loops and limits; returns the entries of their blocks of A. */
static ptrdiff_t fill_bodies(contact_step *step)
{
    compliant_step *s = step->own;
    const perp_contact_qp *p = &step->system;
    const step_scaled own = {s->hessian, s->g, s->lower, s->upper, s->target};
    memcpy(s->block_start, p->block_start, (size_t)(p->block_count + 1) * sizeof *s->block_start);
    return perp_step_scale(step, s->speed, &own);
}

/* The unknowns of bodies from the last answer: within a step the velocities that led to q_k, else the last step's
 * change of them. Multipliers stay. */
static void recall_bodies(contact_step *step)
{
    compliant_step *s = step->own;
    const bool has_answer = perp_compliant_has_answer(step);
    const size_t n = (size_t)step->free_count * sizeof(double);
    if (has_answer) {
        perp_kept_read_motion(&s->bodies, step, s->speed, &s->point);
    } else {
        memset(s->point.x, 0, n);
        memset(s->point.y_lower, 0, n);
        memset(s->point.y_upper, 0, n);
        memset(s->point.y_equality, 0, (size_t)step->system.equality_count * sizeof(double));
    }
    for (int i = 0; i < step->free_count && s->guessed; i++) {
        const int dof = step->dof_of_free[i];
        s->point.x[i] = (s->v_linear[dof] - step->inertia.v_drifted[dof]) / s->speed;
    }
}

static void join(contact_step *step, const builder *at)
{
    compliant_step *s = step->own;
    s->qp = perp_step_scaled_system(step, &(step_scaled){s->hessian, s->g, s->lower, s->upper, s->target});
    s->qp.n = step->free_count + at->soft;
    s->qp.block_count += s->element_count;
    s->qp.block_start = s->block_start;
    s->qp.contact_count = s->element_count;
    s->qp.row_start = s->qp.slack_start = s->row_start;
    s->qp.dof_start = s->dof_start;
    s->qp.dofs = s->dofs;
    s->qp.jacobian = s->jacobian;
    s->qp.offset = s->offset;
    for (int i = step->free_count; i < s->qp.n; i++) {
        s->lower[i] = -INFINITY;
        s->upper[i] = INFINITY;
        s->point.y_lower[i] = s->point.y_upper[i] = 0.0;
    }
}

perp_status perp_compliant_build(contact_step *step, perp_error *error)
{
    compliant_step *s = step->own;
    const perp_status status = count_and_reserve(step, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    s->speed = speed_unit(step);
    s->gap = s->speed * step->h / step->length_unit;
    s->patch_count = s->element_count = 0;
    s->row_start[0] = s->dof_start[0] = 0;
    builder at = {.blocks = fill_bodies(step)};
    recall_bodies(step);
    s->left_behind = 0.0;
    for (int k = 0; k < s->kept.count; k++) {
        s->left_behind += perp_compliant_kept_energy(step, k);
        s->kept.goes_on[k] = false;
    }
    for (int i = 0, hint = 0, last = 0, kept; i < step->contacts->count; i++) {
        if (perp_compliant_takes_part(step, i, &hint, &kept)) {
            add_patch(step, i, kept, &last, &at);
        }
    }
    join(step, &at);
    return PERP_STATUS_OK;
}
