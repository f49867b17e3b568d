#include "step/common/contact_sum.h"

#include "step/common/contact_order.h"

#include <string.h>

static bool hold(const perp_allocator *allocator, void **array, int *capacity, int needed, size_t size)
{
    if (needed <= *capacity) {
        return true;
    }
    const int wanted = needed + needed / 2 + 16;
    void *larger = allocator->allocate(allocator->context, (size_t)wanted * size);
    if (!larger) {
        return false;
    }
    if (*array) {
        allocator->release(allocator->context, *array);
    }
    *array = larger;
    *capacity = wanted;
    return true;
}

void perp_contact_sum_free(contact_sum *sum, const perp_allocator *allocator)
{
    void *const arrays[] = {sum->records, sum->spare, sum->elements, sum->spare_elements};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        if (arrays[i]) {
            allocator->release(allocator->context, arrays[i]);
        }
    }
    *sum = (contact_sum){0};
}

/* What the sum becomes. */
typedef struct builder {
    contact_sum *sum;
    const perp_element_record *elements; /* of the part */
    double share;
    int count, element_count;
} builder;

static perp_contact_record scaled(const perp_contact_record *record, double share)
{
    perp_contact_record r = *record;
    r.fn *= share;
    r.ft[0] *= share;
    r.ft[1] *= share;
    r.moment *= share;
    r.margin *= share;
    r.force_on_b = perp_vec3_scale(share, r.force_on_b);
    return r;
}

/* `later` is of this part, and scaled. */
static perp_contact_record together(const perp_contact_record *before, const perp_contact_record *later)
{
    if (later->mode == PERP_CONTACT_OPEN) {
        return before->mode == PERP_CONTACT_OPEN ? *later : *before;
    }
    const perp_vec3 force = perp_vec3_add(before->force_on_b, later->force_on_b);
    const double pressed = perp_vec3_dot(force, later->contact.normal);
    perp_contact_record r = *later;
    if (pressed < 0.0 && perp_vec3_dot(force, before->contact.normal) > pressed) { /* it has turned over */
        r.contact = before->contact;
    }
    const perp_contact *c = &r.contact;
    r.force_on_b = force;
    r.fn = perp_vec3_dot(r.force_on_b, c->normal);
    r.ft[0] = perp_vec3_dot(r.force_on_b, c->t);
    r.ft[1] = perp_vec3_dot(r.force_on_b, c->o);
    r.moment = before->moment + later->moment;
    r.margin = before->margin + later->margin;
    return r;
}

/* Elements of the sum so far, and of this part: either may be NULL. `open`: those of this part carry nothing. */
static perp_element_record element_of(const perp_element_record *before, const perp_element_record *later, double share,
                                      bool open)
{
    if (!later) {
        return *before;
    }
    perp_element_record e = before && open ? *before : *later;
    memcpy(e.deformation, later->deformation, sizeof e.deformation); /* as the next step finds it */
    if (before && open) {
        return e;
    }
    e.fn = share * later->fn + (before ? before->fn : 0.0);
    e.ft[0] = share * later->ft[0] + (before ? before->ft[0] : 0.0);
    e.ft[1] = share * later->ft[1] + (before ? before->ft[1] : 0.0);
    e.limit = share * later->limit + (before ? before->limit : 0.0);
    return e;
}

/* An element with its force, which is along the axes of `from`, along those of `to`: so a patch, whose axes the sum
 * has, is the sum of its elements. */
static perp_element_record turned(const perp_element_record *element, const perp_contact *from, const perp_contact *to)
{
    perp_element_record e = *element;
    if (memcmp(&from->normal, &to->normal, sizeof from->normal) != 0 || memcmp(&from->t, &to->t, sizeof from->t) != 0) {
        perp_vec3 force = perp_vec3_scale(e.fn, from->normal);
        force = perp_vec3_add_scaled(perp_vec3_add_scaled(force, e.ft[0], from->t), e.ft[1], from->o);
        e.fn = perp_vec3_dot(force, to->normal);
        e.ft[0] = perp_vec3_dot(force, to->t);
        e.ft[1] = perp_vec3_dot(force, to->o);
    }
    return e;
}

/* Appends a contact of the sum, of the part, or of both. */
static void append(builder *b, const perp_contact_record *before, const perp_contact_record *later)
{
    contact_sum *sum = b->sum;
    const perp_contact_record own = later ? scaled(later, b->share) : *before;
    perp_contact_record *r = &sum->spare[b->count++];
    *r = before && later ? together(before, &own) : own;
    const int old = before ? before->element_count : 0, now = later ? later->element_count : 0;
    r->element_start = b->element_count;
    r->element_count = old > now ? old : now;
    for (int e = 0; e < r->element_count; e++) {
        perp_element_record then, part;
        if (e < old) {
            then = turned(&sum->elements[before->element_start + e], &before->contact, &r->contact);
        }
        if (e < now) {
            part = turned(&b->elements[later->element_start + e], &later->contact, &r->contact);
        }
        sum->spare_elements[b->element_count++] = element_of(e < old ? &then : NULL, e < now ? &part : NULL, b->share,
                                                             later && later->mode == PERP_CONTACT_OPEN);
    }
}

static void swap(contact_sum *sum, const builder *b)
{
    const contact_sum old = *sum;
    sum->records = old.spare;
    sum->spare = old.records;
    sum->capacity = old.spare_capacity;
    sum->spare_capacity = old.capacity;
    sum->elements = old.spare_elements;
    sum->spare_elements = old.elements;
    sum->element_capacity = old.spare_element_capacity;
    sum->spare_element_capacity = old.element_capacity;
    sum->count = b->count;
    sum->element_count = b->element_count;
}

perp_status perp_contact_sum_add(contact_sum *sum, const perp_allocator *allocator, const perp_contact_record *records,
                                 int count, const perp_element_record *elements, double share, perp_error *error)
{
    int element_count = sum->element_count;
    for (int i = 0; i < count; i++) {
        element_count += records[i].element_count;
    }
    void *spare = sum->spare, *spare_elements = sum->spare_elements;
    const bool held =
        hold(allocator, &spare, &sum->spare_capacity, sum->count + count, sizeof *sum->spare) &&
        hold(allocator, &spare_elements, &sum->spare_element_capacity, element_count, sizeof *sum->elements);
    sum->spare = spare;
    sum->spare_elements = spare_elements;
    if (!held) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for %d contacts", sum->count + count);
    }
    builder b = {.sum = sum, .elements = elements, .share = share};
    manifold_pass pass = {.list = {sum->records, records}, .count = {sum->count, count}};
    while (perp_manifold_next(&pass)) {
        for (int i = pass.from[0]; i < pass.end[0]; i++) {
            const int same = perp_manifold_find(&pass, 1, &sum->records[i].contact);
            append(&b, &sum->records[i], same >= 0 ? &records[same] : NULL);
        }
        for (int i = pass.from[1]; i < pass.end[1]; i++) {
            if (perp_manifold_find(&pass, 0, &records[i].contact) < 0) {
                append(&b, NULL, &records[i]);
            }
        }
    }
    swap(sum, &b);
    return PERP_STATUS_OK;
}
