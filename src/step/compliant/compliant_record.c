/* What a compliant step says of its contacts and their elements. */
#include "step/compliant/compliant.h"
#include "step/common/tolerances.h"

/* Along t and o from along the friction directions. */
static void onto_tangents(const perp_contact *c, int rows, const double *along, double out[2])
{
    out[0] = out[1] = 0.0;
    for (int r = 1; r < rows && r <= c->direction_count; r++) {
        out[0] += along[r] * perp_vec3_dot(c->directions[r - 1], c->t);
        out[1] += along[r] * perp_vec3_dot(c->directions[r - 1], c->o);
    }
}

/* Does it slip, or stick, where rounding leaves both a slip and room in its cone? At the edge of the cone, as far as
 * the step is solved, any slip above SLIPS counts; inside, the larger of the two does, in the units of the step's law.
 * Of an ellipsoid `turning` and `twisting` are the third part of either. */
static bool slips(const contact_step *step, const perp_element_record *x, double turning, double twisting)
{
    const double slip = hypot(hypot(x->slip[0], x->slip[1]), turning);
    const double room = x->limit - hypot(hypot(x->ft[0], x->ft[1]), twisting);
    const double edge = AT_LIMIT * x->limit + step->settings->tolerance * step->force_unit;
    return x->fn > 0.0 && slip > SLIPS && room <= fmax(edge, step->force_unit * step->h * slip / step->length_unit);
}

static perp_element_record element_record(const contact_step *step, const compliant_patch *patch, int e)
{
    const compliant_step *s = step->own;
    const compliant_material *m = &patch->material;
    const perp_contact *c = &step->contacts->contacts[patch->contact];
    const int i = patch->first + e, row = s->row_start[i];
    const double *rate = s->point.x + step->free_count + s->soft_start[i];
    double along[4] = {0.0}, slip[4] = {0.0}, deformed[4] = {0.0};
    perp_element_record record = {.fn = fmax(0.0, step->force_unit * s->point.y[row])};
    for (int r = 0; r < m->rows; r++) {
        along[r] = step->force_unit * s->point.y[row + r];
        slip[r] = s->speed * s->u[row + r];
        const double moved = step->h * (s->speed * (r < m->soft ? rate[r] : 0.0) + (r == 0 ? s->tilt[i] : 0.0));
        deformed[r] = r < m->soft ? s->deformation[3 * (ptrdiff_t)i + r] + moved : 0.0;
    }
    record.limit = perp_compliant_radius(m, record.fn);
    perp_compliant_offset(m, step->model->planar, e, record.offset);
    onto_tangents(c, m->rows, along, record.ft);
    onto_tangents(c, m->rows, slip, record.slip);
    record.deformation[0] = deformed[0];
    onto_tangents(c, m->rows, deformed, record.deformation + 1);
    record.slips = slips(step, &record, slip[3], along[3]);
    return record;
}

/* Where friction does not act in all directions the elements' rows leave out the slip across: `all` has it. */
static void add_slip_across(const perp_contact *c, bool planar, const double all[2], double slip[2])
{
    const int count = c->direction_count;
    double rows[3] = {0.0, 0.0, 0.0}, along[2];
    for (int r = 1; r <= count; r++) {
        rows[r] =
            all[0] * perp_vec3_dot(c->directions[r - 1], c->t) + all[1] * perp_vec3_dot(c->directions[r - 1], c->o);
    }
    onto_tangents(c, 1 + count, rows, along);
    if (count < (planar ? 1 : 2)) {
        slip[0] += all[0] - along[0];
        slip[1] += all[1] - along[1];
    }
}

/* Sums over the elements, and the mean slip of those that carry force. The patch slides where any of these slips: by
 * the mean a patch that spins would stick, and where all have to slip one with an element in its middle would. */
static void put_patch(const contact_step *step, const compliant_patch *patch, perp_contact_record *r)
{
    const compliant_step *s = step->own;
    const perp_contact *c = &r->contact;
    double limit = 0.0, slip[2] = {0.0, 0.0};
    const double between[2] = {r->slip[0], r->slip[1]}; /* b's velocity relative to a */
    int loaded = 0;
    bool slides = false;
    r->element_start = patch->first;
    r->element_count = patch->material.elements;
    for (int e = 0; e < patch->material.elements; e++) {
        const perp_element_record *x = &s->elements[patch->first + e];
        r->fn += x->fn;
        r->ft[0] += x->ft[0];
        r->ft[1] += x->ft[1];
        limit += x->limit;
        if (x->fn > CARRIES * step->force_unit / patch->material.elements) {
            loaded++;
            slides = slides || x->slips;
            slip[0] += x->slip[0];
            slip[1] += x->slip[1];
        }
    }
    r->fn = perp_contact_is_support(c) ? c->load : r->fn;
    r->force_on_b = perp_vec3_scale(r->fn, c->normal);
    r->force_on_b = perp_vec3_add_scaled(r->force_on_b, r->ft[0], c->t);
    r->force_on_b = perp_vec3_add_scaled(r->force_on_b, r->ft[1], c->o);
    if (r->fn <= CARRIES * step->force_unit || loaded == 0) {
        return;
    }
    r->slip[0] = slip[0] / loaded;
    r->slip[1] = slip[1] / loaded;
    add_slip_across(c, step->model->planar, between, r->slip);
    double friction = hypot(r->ft[0], r->ft[1]);
    if (c->arm > 0.0) {
        const double twisting = step->force_unit * s->point.y[s->row_start[patch->first] + patch->material.rows - 1];
        r->moment = twisting * c->arm;
        friction = hypot(friction, twisting);
    }
    r->margin = r->contact.friction * r->fn - friction;
    r->mode = slides                                 ? PERP_CONTACT_SLIDE
              : limit - friction <= AT_LIMIT * limit ? PERP_CONTACT_LIMIT
                                                     : PERP_CONTACT_STICK;
}

/* Between islands no force acts, and of the other one neither place nor velocity is that of the step's end here: such a
 * contact is the run's to list. */
static bool is_of_island(const contact_step *step, const perp_contact *c)
{
    const perp_link *links = step->model->links;
    return perp_compliant_is_own(step, c) && (!step->moved[c->a] || step->parts.active[links[c->a].tree]) &&
           (!step->moved[c->b] || step->parts.active[links[c->b].tree]);
}

void perp_compliant_record(contact_step *step)
{
    compliant_step *s = step->own;
    const perp_contact_set *set = step->contacts;
    perp_contact_velocity(set, step->v, step->velocity);
    step->record_count = 0;
    for (int i = 0, k = 0; i < set->count; i++) {
        const double *velocity = step->velocity + (ptrdiff_t)set->rows * i;
        perp_contact_record *r = &step->records[step->record_count];
        if (!is_of_island(step, &set->contacts[i])) {
            continue;
        }
        step->record_count++;
        *r = (perp_contact_record){.contact = set->contacts[i],
                                   .slip = {velocity[1], set->rows > 2 ? velocity[2] : 0.0}};
        if (k < s->patch_count && s->patches[k].contact == i) {
            for (int e = 0; e < s->patches[k].material.elements; e++) {
                s->elements[s->patches[k].first + e] = element_record(step, &s->patches[k], e);
            }
            put_patch(step, &s->patches[k++], r);
        } else if (perp_contact_is_support(&r->contact)) { /* without friction */
            r->fn = r->contact.load;
            r->force_on_b = perp_vec3_scale(r->fn, r->contact.normal);
        }
    }
}

/* Contacts are those of the end already: balance was measured with exact geometry there. */
void perp_compliant_look_back(perp_step_context *context, const perp_state *state, const int *match,
                              perp_step_info *info)
{
    contact_step *step = context->workspace;
    (void)state;
    (void)match;
    info->residuals.balance_true = info->residuals.balance;
    info->residuals.loop = 0.0;
    for (int i = 0; i < step->model->scene->loop_count; i++) {
        double residual[6];
        perp_loop_evaluate(step->model, context->kinematics, i, residual, NULL);
        for (int r = 0; r < perp_loop_rows(step->model, i); r++) {
            info->residuals.loop = fmax(info->residuals.loop, fabs(residual[r]));
        }
    }
}
