/* The elements of contacts from step to step, and from one iterate of a step to the next: compliant.h. */
#include "step/compliant/compliant.h"

#include "step/common/contact_order.h"
#include "step/common/tolerances.h"

#include <float.h>
#include <string.h>

perp_status perp_compliant_hold(const contact_step *step, compliant_list *list, int patches, int elements,
                                perp_error *error)
{
    if (list->block.memory && patches <= list->patch_capacity && elements <= list->element_capacity) {
        return PERP_STATUS_OK;
    }
    list->patch_capacity = patches >= list->patch_capacity ? patches + patches / 2 + 8 : list->patch_capacity;
    list->element_capacity = elements >= list->element_capacity ? elements + elements / 2 + 8 : list->element_capacity;
    list->count = 0;
    const block_array arrays[] = {
        PERP_ARRAY(list->contact, list->patch_capacity), PERP_ARRAY(list->point, list->patch_capacity),
        PERP_ARRAY(list->start, list->patch_capacity + 1), PERP_ARRAY(list->goes_on, list->patch_capacity),
        PERP_ARRAY(list->element, list->element_capacity)};
    const perp_status status =
        perp_block_arrays(&step->allocator, &list->block, arrays, sizeof arrays / sizeof *arrays, error);
    if (status != PERP_STATUS_OK) {
        list->patch_capacity = list->element_capacity = 0;
        return status;
    }
    list->start[0] = 0;
    return PERP_STATUS_OK;
}

static void swap(compliant_list *x, compliant_list *y)
{
    const compliant_list kept = *x;
    *x = *y;
    *y = kept;
}

/* ---- which contact is which -------------------------------------------------------------------------------------- */

int perp_compliant_find(const compliant_list *list, const perp_contact *c, int *hint)
{
    return perp_contact_find(list->contact, list->count, c, hint);
}

/* The first contact of the set between the same parts as contact i. */
static int manifold_start(const perp_contact_set *set, int i)
{
    while (i > 0 && perp_contact_compare_pairs(&set->contacts[i - 1], &set->contacts[i]) == 0) {
        i--;
    }
    return i;
}

static bool is_listed(const perp_contact_set *set, int first, const perp_contact *c)
{
    for (int i = first; i < set->count && perp_contact_compare_pairs(&set->contacts[i], c) == 0; i++) {
        if (perp_contact_same(&set->contacts[i], c)) {
            return true;
        }
    }
    return false;
}

static double distance(perp_vec3 x, perp_vec3 y)
{
    return perp_vec3_norm(perp_vec3_sub(x, y));
}

int perp_compliant_successor(const compliant_list *list, const perp_contact_set *set, int i)
{
    const perp_contact *c = &set->contacts[i];
    const perp_vec3 point = perp_contact_midpoint(c);
    const int first = manifold_start(set, i);
    double least = DBL_MAX;
    int nearest = -1, hint = 0;
    perp_compliant_find(list, c, &hint);
    for (int k = hint; k < list->count && perp_contact_compare_pairs(&list->contact[k], c) == 0; k++) {
        const double d = distance(list->point[k], point);
        if (d < least && !is_listed(set, first, &list->contact[k])) {
            least = d;
            nearest = k;
        }
    }
    for (int j = first; nearest >= 0 && j < set->count && perp_contact_compare_pairs(&set->contacts[j], c) == 0; j++) {
        int at = hint;
        const double d = distance(list->point[nearest], perp_contact_midpoint(&set->contacts[j]));
        if (j != i && (d < least || (d == least && j < i)) && perp_compliant_find(list, &set->contacts[j], &at) < 0) {
            return -1; /* another one is its successor */
        }
    }
    return nearest;
}

static bool is_active(const contact_step *step, int body)
{
    return step->moved[body] && step->parts.active[step->model->links[body].tree];
}

bool perp_compliant_is_own(const contact_step *step, const perp_contact *c)
{
    return step->free_count > 0 ? is_active(step, c->a) || is_active(step, c->b)
                                : !step->moved[c->a] && !step->moved[c->b];
}

/* Bodies of other islands stand where they have been or, once these are done, where they end: what is left of their way
 * is theirs, and step->reach.way has it. */
bool perp_compliant_takes_part(contact_step *step, int i, int *hint, int *kept)
{
    const compliant_step *s = step->own;
    const perp_contact *c = &step->contacts->contacts[i];
    *kept = -1;
    if (!perp_compliant_is_own(step, c) || !perp_step_acts(c)) {
        return false;
    }
    for (int side = 0; side < 2 && step->parts.masked && step->free_count > 0; side++) {
        const int other = side == 0 ? c->a : c->b, own = side == 0 ? c->b : c->a;
        if (step->moved[other] && !is_active(step, other)) {
            if (c->phi <= step->reach.way[other]) {
                perp_step_join_trees(step->parts.met_with, step->model->links[own].tree,
                                     step->model->links[other].tree);
                step->parts.met = true;
            }
            return false;
        }
    }
    *kept = perp_compliant_find(&s->kept, c, hint);
    return *kept >= 0 || c->phi <= perp_step_way(step, c);
}

double perp_compliant_kept_energy(const contact_step *step, int k)
{
    const compliant_step *s = step->own;
    const double stiffness = perp_compliant_material(step->model->scene, &s->kept.contact[k]).stiffness[0];
    double energy = 0.0;
    for (int e = s->kept.start[k]; e < s->kept.start[k + 1]; e++) {
        const double normal = s->kept.element[e].normal - s->kept.element[e].adopted;
        energy += 0.5 * stiffness * normal * normal + s->kept.element[e].energy;
    }
    return energy;
}

/* ---- from step to step ------------------------------------------------------------------------------------------- */

/* Appends contact i of the set with elements of the same number as patch k of `from`, if that has as many, or new. */
static void append(compliant_list *list, const perp_contact *c, const compliant_material *m, const compliant_list *from,
                   int k)
{
    const int at = list->start[list->count];
    const bool old = k >= 0 && from->start[k + 1] - from->start[k] == m->elements;
    for (int e = 0; e < m->elements; e++) {
        list->element[at + e] = old ? from->element[from->start[k] + e] : (compliant_element){.normal = 0.0};
    }
    list->contact[list->count] = *c;
    list->point[list->count++] = perp_contact_midpoint(c);
    list->start[list->count] = at + m->elements;
}

perp_status perp_compliant_meet(contact_step *step, perp_error *error)
{
    compliant_step *s = step->own;
    const perp_contact_set *set = step->contacts;
    const perp_scene *scene = step->model->scene;
    int elements = 0;
    for (int i = 0; i < set->count; i++) {
        elements += perp_compliant_material(scene, &set->contacts[i]).elements;
    }
    const perp_status status = perp_compliant_hold(step, &s->spare, set->count, elements, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    s->spare.count = 0;
    for (int i = 0, hint = 0; i < set->count; i++) {
        const perp_contact *c = &set->contacts[i];
        int known;
        if (!perp_compliant_takes_part(step, i, &hint, &known)) {
            continue;
        }
        const compliant_material m = perp_compliant_material(scene, c);
        append(&s->spare, c, &m, &s->kept, known >= 0 ? known : perp_compliant_successor(&s->kept, set, i));
        for (int e = s->spare.start[s->spare.count - 1]; e < s->spare.start[s->spare.count]; e++) {
            compliant_element *x = &s->spare.element[e];
            const double inherited = x->normal;
            x->normal = known < 0 ? fmax(0.0, -c->phi) : x->normal;
            x->adopted = known >= 0 ? x->adopted : step->started ? x->normal - inherited : 0.0; /* it may start so */
            x->recess = known < 0 ? 0.0 : fmin(x->recess, fmax(0.0, -c->phi - x->normal));
            x->gap = c->phi + x->recess + x->normal;
        }
    }
    swap(&s->kept, &s->spare);
    return PERP_STATUS_OK;
}

/* Rates and forces of the elements of a patch, from the answer of its problem to the end of a list. */
static void append_answer(compliant_list *list, const contact_step *step, const compliant_patch *patch)
{
    const compliant_step *s = step->own;
    append(list, &step->contacts->contacts[patch->contact], &patch->material, NULL, -1);
    for (int e = 0; e < patch->material.elements; e++) {
        const int i = patch->first + e, row = s->row_start[i];
        compliant_element *to = &list->element[list->start[list->count - 1] + e];
        for (int r = 0; r < patch->material.rows && r < 3; r++) { /* an ellipsoid's problem starts cold */
            to->rate[r] =
                r < patch->material.soft ? s->speed * s->point.x[step->free_count + s->soft_start[i] + r] : 0.0;
            to->force[r] = step->force_unit * s->point.y[row + r];
        }
        to->mu = s->mu[i];
        to->mu_miss = s->mu_miss[i];
        to->mu_weight = s->mu_weight[i];
    }
}

bool perp_compliant_same_contacts(const contact_step *step)
{
    const compliant_step *s = step->own;
    bool same = s->patch_count == s->guess.count;
    for (int k = 0; k < s->patch_count && same; k++) {
        same = perp_contact_same(&step->contacts->contacts[s->patches[k].contact], &s->guess.contact[k]);
    }
    return same;
}

perp_status perp_compliant_keep_guess(contact_step *step, perp_error *error)
{
    compliant_step *s = step->own;
    const perp_status status = perp_compliant_hold(step, &s->guess, s->patch_count, s->element_count, error);
    if (status == PERP_STATUS_OK) {
        s->guess.count = 0;
        for (int k = 0; k < s->patch_count; k++) {
            append_answer(&s->guess, step, &s->patches[k]);
        }
        memcpy(step->parts.accepted, step->parts.active,
               (size_t)step->model->tree_count * sizeof *step->parts.accepted);
        perp_step_take_point(step, &s->point, s->speed);
        perp_kept_accept_motion(&s->bodies, step);
        s->guessed = true;
    }
    return status;
}

/* Element e of a patch as the next step finds it; false where nothing of it is left. */
static bool deform(const contact_step *step, const compliant_patch *patch, int e, bool anew, compliant_element *to)
{
    const compliant_step *s = step->own;
    const perp_contact *c = &step->contacts->contacts[patch->contact];
    to->normal = anew ? perp_compliant_laid_anew(step, patch, e) : perp_compliant_deformed(step, patch, e, 0);
    to->tangential = (perp_vec3){0.0, 0.0, 0.0};
    double along[3] = {0.0, 0.0, 0.0};
    for (int r = 1; r < patch->material.soft; r++) {
        along[r] = perp_compliant_deformed(step, patch, e, r);
        to->tangential = perp_vec3_add_scaled(to->tangential, along[r], c->directions[r - 1]);
    }
    to->energy = perp_compliant_tangential_energy(&patch->material, along);
    /* by rates whatever overlaps has been missed; how much that is is seen at the step's end */
    to->recess = s->by_rates ? DBL_MAX : s->recess[patch->first + e];
    to->recess = s->at_begin ? to->recess : fmin(to->recess, fmax(0.0, -c->phi - to->normal));
    const double size = hypot(to->normal, perp_vec3_norm(to->tangential)) + to->recess;
    return to->force[0] > 0.0 || patch->material.stiffness[0] * size > CARRIES * step->force_unit;
}

/* The springs of a patch take up what they have missed, for `share` J, which becomes what is left. Returns what they
 * took of it. */
static double take_up(const contact_step *step, const compliant_patch *patch, double *share,
                      compliant_element *elements)
{
    const compliant_material *m = &patch->material;
    const double had = *share;
    for (int e = 0; e < m->elements; e++) {
        compliant_element *x = &elements[e];
        double force = m->stiffness[0] * x->normal; /* of the spring */
        for (int r = 1; r < m->soft; r++) {
            force += m->stiffness[r] * perp_compliant_deformed(step, patch, e, r);
        }
        const double most = (sqrt(force * force + 2.0 * m->stiffness[0] * *share) - force) / m->stiffness[0];
        const double taken = fmin(x->recess, most);
        x->normal += taken;
        x->recess -= taken;
        *share = fmax(0.0, *share - taken * (force + 0.5 * m->stiffness[0] * taken));
    }
    return had - *share;
}

/* J: what contacts between two bodies had that have gone without a successor. */
static double left_by(const contact_step *step, int a, int b)
{
    const compliant_list *kept = &((const compliant_step *)step->own)->kept;
    double left = 0.0;
    for (int k = 0; k < kept->count; k++) {
        const bool of_them = kept->contact[k].a == a && kept->contact[k].b == b;
        left += of_them && !kept->goes_on[k] ? perp_compliant_kept_energy(step, k) : 0.0;
    }
    return left;
}

/* Of the patches from `first` on that are between the same bodies: how many, and what their springs may have, J, `most`
 * at most: what contacts that are gone had, and a half of what they and the bodies' inertia took from the step. Not all
 * of that: so all comes to rest. */
static int neighbours(const contact_step *step, int first, double most, double *share)
{
    const compliant_step *s = step->own;
    const perp_contact *set = step->contacts->contacts, *of = &set[s->patches[first].contact];
    const int trees[2] = {step->model->links[of->a].tree, step->model->links[of->b].tree};
    double taken = 0.0;
    int end = first;
    for (int k = 0; k < 2; k++) {
        taken += trees[k] >= 0 && (k == 0 || trees[1] != trees[0]) ? s->lost[trees[k]] : 0.0;
    }
    while (end < s->patch_count && set[s->patches[end].contact].a == of->a && set[s->patches[end].contact].b == of->b) {
        taken -= perp_compliant_patch_growth(step, end++);
    }
    *share = fmin(most, left_by(step, of->a, of->b) + fmax(0.0, 0.5 * taken));
    return end - first;
}

static bool has_recess(const compliant_step *s)
{
    bool any = s->by_rates;
    for (int i = 0; i < s->element_count && !any; i++) {
        any = s->recess[i] > 0.0;
    }
    return any && !s->at_begin;
}

perp_status perp_compliant_accept(contact_step *step, perp_error *error)
{
    compliant_step *s = step->own;
    const perp_status status = perp_compliant_hold(step, &s->spare, s->patch_count, s->element_count, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    double before = 0.0, budget = has_recess(s) ? -perp_compliant_growth(step, &before) : 0.0, share = 0.0;
    s->spare.count = 0;
    for (int k = 0, next = 0; k < s->patch_count; k++) {
        bool any = false;
        append_answer(&s->spare, step, &s->patches[k]);
        const int first = s->spare.start[s->spare.count - 1];
        const bool anew = !s->by_rates || perp_compliant_laying(step, &s->patches[k]) <= 0.0;
        for (int e = 0; e < s->patches[k].material.elements; e++) {
            any = deform(step, &s->patches[k], e, anew, &s->spare.element[first + e]) || any;
        }
        if (budget > 0.0) { /* what all contacts and the step itself took, less what springs have had of it */
            next += k == next ? neighbours(step, k, budget, &share) : 0;
            budget -= take_up(step, &s->patches[k], &share, &s->spare.element[first]);
        }
        for (int e = 0; e < s->patches[k].material.elements; e++) {
            s->elements[s->patches[k].first + e].deformation[0] = s->spare.element[first + e].normal;
        }
        s->spare.count -= any ? 0 : 1;
    }
    swap(&s->kept, &s->spare);
    return PERP_STATUS_OK;
}

/* ---- islands ----------------------------------------------------------------------------------------------------- */

static void append_patch(compliant_list *list, const compliant_list *from, int k)
{
    const int at = list->start[list->count], elements = from->start[k + 1] - from->start[k];
    memcpy(list->element + at, from->element + from->start[k], (size_t)elements * sizeof *list->element);
    list->contact[list->count] = from->contact[k];
    list->point[list->count++] = from->point[k];
    list->start[list->count] = at + elements;
}

static int elements_of(const compliant_list *list)
{
    return list->count > 0 ? list->start[list->count] : 0;
}

perp_status perp_compliant_begin_island(contact_step *step, bool whole, perp_error *error)
{
    compliant_step *s = step->own;
    if (whole) {
        swap(&s->all, &s->kept);
        return PERP_STATUS_OK;
    }
    const perp_status status = perp_compliant_hold(step, &s->kept, s->all.count, elements_of(&s->all), error);
    if (status == PERP_STATUS_OK) {
        s->kept.count = 0;
        for (int k = 0; k < s->all.count; k++) {
            if (perp_compliant_is_own(step, &s->all.contact[k])) {
                append_patch(&s->kept, &s->all, k);
            }
        }
    }
    return status;
}

/* Makes room for what a list has and more. */
static perp_status enlarge(const contact_step *step, compliant_list *list, int patches, int elements, perp_error *error)
{
    if (list->block.memory && patches <= list->patch_capacity && elements <= list->element_capacity) {
        return PERP_STATUS_OK;
    }
    compliant_list larger = {.patch_capacity = list->patch_capacity, .element_capacity = list->element_capacity};
    const perp_status status = perp_compliant_hold(step, &larger, patches, elements, error);
    for (int k = 0; k < list->count && status == PERP_STATUS_OK; k++) {
        append_patch(&larger, list, k);
    }
    if (status == PERP_STATUS_OK) {
        perp_block_free(&step->allocator, &list->block);
        *list = larger;
    }
    return status;
}

perp_status perp_compliant_end_island(contact_step *step, bool whole, perp_error *error)
{
    compliant_step *s = step->own;
    if (whole) {
        swap(&s->all, &s->kept);
        return PERP_STATUS_OK;
    }
    const perp_status status =
        enlarge(step, &s->ended, s->ended.count + s->kept.count, elements_of(&s->ended) + elements_of(&s->kept), error);
    for (int k = 0; k < s->kept.count && status == PERP_STATUS_OK; k++) {
        append_patch(&s->ended, &s->kept, k);
    }
    return status;
}

/* Merges [start, middle) and [middle, end) of the patches of `from`, each in order, to the end of `to`. */
static void merge_runs(compliant_list *to, const compliant_list *from, int start, int middle, int end)
{
    for (int i = start, k = middle; i < middle || k < end;) {
        const bool first =
            k == end || (i < middle && perp_contact_compare_pairs(&from->contact[i], &from->contact[k]) <= 0);
        append_patch(to, from, first ? i++ : k++);
    }
}

static int run_end(const compliant_list *list, int start)
{
    int end = start < list->count ? start + 1 : start;
    while (end < list->count && perp_contact_compare_pairs(&list->contact[end - 1], &list->contact[end]) <= 0) {
        end++;
    }
    return end;
}

/* A natural merge sort: every island is a run. */
perp_status perp_compliant_end_step(contact_step *step, perp_error *error)
{
    compliant_step *s = step->own;
    perp_status status = perp_compliant_hold(step, &s->spare, s->ended.count, elements_of(&s->ended), error);
    while (status == PERP_STATUS_OK && run_end(&s->ended, 0) < s->ended.count) {
        s->spare.count = 0;
        for (int start = 0; start < s->ended.count;) {
            const int middle = run_end(&s->ended, start), end = run_end(&s->ended, middle);
            merge_runs(&s->spare, &s->ended, start, middle, end);
            start = end;
        }
        swap(&s->ended, &s->spare);
        status = perp_compliant_hold(step, &s->spare, s->ended.count, elements_of(&s->ended), error);
    }
    swap(&s->all, &s->ended);
    s->ended.count = 0;
    return status;
}

/* ---- in a log ---------------------------------------------------------------------------------------------------- */

void perp_compliant_put(const contact_step *step, memory_writer *w)
{
    const compliant_step *s = step->own;
    perp_memory_put(w, s->all.count);
    perp_memory_put(w, s->all.count > 0 ? s->all.start[s->all.count] : 0);
    for (int k = 0; k < s->all.count; k++) {
        perp_memory_put_contact(w, &s->all.contact[k]);
        perp_memory_put_reals(w, (const double[3]){s->all.point[k].x, s->all.point[k].y, s->all.point[k].z}, 3);
        perp_memory_put(w, s->all.start[k + 1] - s->all.start[k]);
        for (int e = s->all.start[k]; e < s->all.start[k + 1]; e++) {
            const compliant_element *x = &s->all.element[e];
            perp_memory_put_reals(w, (const double[4]){x->normal, x->tangential.x, x->tangential.y, x->tangential.z},
                                  4);
            perp_memory_put(w, x->energy);
            perp_memory_put(w, x->recess);
            perp_memory_put_reals(w, x->rate, 3);
            perp_memory_put_reals(w, x->force, 3);
        }
    }
    perp_kept_put_motion(&s->bodies, step, w);
}

static void take_patch(compliant_list *list, int most, memory_reader *r)
{
    const int at = list->start[list->count];
    double point[3], delta[4];
    list->contact[list->count] = perp_memory_take_contact(r);
    perp_memory_take_reals(r, point, 3);
    list->point[list->count] = perp_vec3_make(point[0], point[1], point[2]);
    const int elements = perp_memory_take_int(r, 0, most - at);
    for (int e = at; e < at + elements; e++) {
        compliant_element *x = &list->element[e];
        perp_memory_take_reals(r, delta, 4);
        x->normal = delta[0];
        x->tangential = perp_vec3_make(delta[1], delta[2], delta[3]);
        x->energy = perp_memory_take(r);
        x->recess = perp_memory_take(r);
        perp_memory_take_reals(r, x->rate, 3);
        perp_memory_take_reals(r, x->force, 3);
    }
    list->start[++list->count] = at + elements;
}

bool perp_compliant_take(contact_step *step, memory_reader *r)
{
    compliant_step *s = step->own;
    const int most = (int)fmin(1e9, (double)r->count);
    const int count = perp_memory_take_int(r, 0, most), elements = perp_memory_take_int(r, 0, most);
    r->out_of_memory = r->good && perp_compliant_hold(step, &s->all, count, elements, NULL) != PERP_STATUS_OK;
    if (!r->good || r->out_of_memory) {
        return false;
    }
    s->all.count = 0;
    for (int k = 0; k < count && r->good; k++) {
        take_patch(&s->all, elements, r);
    }
    perp_kept_take_motion(&s->bodies, step, r);
    return r->good;
}
