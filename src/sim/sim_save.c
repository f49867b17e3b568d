/* A simulation as plain bytes: a head, then arrays one after the other. */
#include "sim/sim.h"

#include "base/hash.h"

typedef struct saved_head {
    perp_hash digest;       /* of all bytes behind it */
    perp_hash of;           /* perp_sim_fingerprint */
    size_t size, head_size; /* the head's own is another one in another build */
    double t, t_from;
    int steps, counted_from;
    perp_hash hash;
    perp_step_info info; /* its pointers say nothing */
    int force_count;     /* of the next step's wrenches */
    size_t memory_count;
} saved_head;

/* The arrays behind the head, in this order: those with reals first, where they are aligned. */
typedef struct saved_arrays {
    double *memory, *q, *v;
    sim_channel *commands, *drives;
    perp_contact_record *contacts;
    perp_element_record *elements;
    perp_loop_force *loops;
    perp_contact_event *events;
    perp_force *forces;
    unsigned *masks;
    size_t size; /* of all bytes, the head's included */
} saved_arrays;

/* Where they are in bytes with this head; `bytes` NULL: only the size. */
static saved_arrays find_arrays(const perp_sim *sim, const saved_head *head, unsigned char *bytes)
{
    saved_arrays a = {.size = sizeof *head};
#define PLACE(array, count)                                                                                            \
    ((array) = bytes ? (void *)(bytes + a.size) : NULL, a.size += (size_t)(count) * sizeof *(array))
    PLACE(a.memory, head->memory_count);
    PLACE(a.q, sim->model.nq);
    PLACE(a.v, sim->model.nv);
    PLACE(a.commands, sim->scene.joint_count);
    PLACE(a.drives, 6 * sim->scene.body_count);
    PLACE(a.contacts, head->info.contact_count);
    PLACE(a.elements, head->info.element_count);
    PLACE(a.loops, head->info.loop_count);
    PLACE(a.events, head->info.event_count);
    PLACE(a.forces, head->force_count);
    PLACE(a.masks, sim->scene.body_count);
#undef PLACE
    return a;
}

static void copy(void *to, const void *from, size_t count, size_t size)
{
    if (count > 0) {
        memcpy(to, from, count * size);
    }
}

static perp_hash digest(const unsigned char *bytes, size_t size)
{
    perp_hash hash = perp_hash_begin();
    perp_hash_bytes(&hash, bytes + sizeof(perp_hash), size - sizeof(perp_hash));
    return hash;
}

/* Padding of records has whatever was in the memory that they were made in. */
#define CLEAR_BEHIND(record, type, member, end)                                                                        \
    memset((char *)(record) + offsetof(type, member) + sizeof(record)->member, 0,                                      \
           (end) - (offsetof(type, member) + sizeof(record)->member))

static void clear_contact(perp_contact *c)
{
    CLEAR_BEHIND(c, perp_contact, direction_count, offsetof(perp_contact, directions));
    CLEAR_BEHIND(c, perp_contact, tie, sizeof *c);
}

static void clear_padding(const saved_arrays *a, saved_head *head)
{
    clear_contact(&head->info.lift.contact);
    for (int i = 0; i < head->info.contact_count; i++) {
        clear_contact(&a->contacts[i].contact);
        CLEAR_BEHIND(&a->contacts[i], perp_contact_record, mode, offsetof(perp_contact_record, fn));
    }
    for (int i = 0; i < head->info.element_count; i++) {
        CLEAR_BEHIND(&a->elements[i], perp_element_record, slips, sizeof *a->elements);
    }
}
#undef CLEAR_BEHIND

size_t perp_sim_save(const perp_sim *sim, void *bytes, size_t capacity)
{
    saved_head head;
    memset(&head, 0, sizeof head); /* its padding is saved too */
    head.of = perp_sim_fingerprint(sim->given->scene, &sim->settings);
    head.head_size = sizeof head;
    head.t = sim->state.t;
    head.t_from = sim->t_from;
    head.steps = sim->steps;
    head.counted_from = sim->counted_from;
    head.hash = sim->hash;
    head.info = *sim->info;
    head.info.solve_us = 0.0; /* the clock's, and no part of the state */
    head.info.contacts = NULL;
    head.info.elements = NULL;
    head.info.loops = NULL;
    head.info.events = NULL;
    head.info.answer = NULL;
    head.info.memory = NULL;
    if (!(head.info.lift.height > 0.0)) { /* else it is of some step before */
        memset(&head.info.lift.contact, 0, sizeof head.info.lift.contact);
    }
    head.force_count = sim->scene.force_count - sim->scene_forces;
    head.memory_count = perp_run_memory_save(&sim->memory, NULL, 0);
    saved_arrays a = find_arrays(sim, &head, NULL);
    head.size = a.size;
    if (!bytes || capacity < a.size) {
        return a.size;
    }
    const int bodies = sim->scene.body_count;
    a = find_arrays(sim, &head, bytes);
    memset(bytes, 0, a.size);
    perp_run_memory_save(&sim->memory, a.memory, head.memory_count);
    copy(a.q, sim->state.q, (size_t)sim->model.nq, sizeof *a.q);
    copy(a.v, sim->state.v, (size_t)sim->model.nv, sizeof *a.v);
    copy(a.commands, sim->commands, (size_t)sim->scene.joint_count, sizeof *a.commands);
    copy(a.drives, sim->drives, 6 * (size_t)bodies, sizeof *a.drives);
    copy(a.contacts, sim->info->contacts, (size_t)head.info.contact_count, sizeof *a.contacts);
    copy(a.elements, sim->info->elements, (size_t)head.info.element_count, sizeof *a.elements);
    copy(a.loops, sim->info->loops, (size_t)head.info.loop_count, sizeof *a.loops);
    copy(a.events, sim->info->events, (size_t)head.info.event_count, sizeof *a.events);
    copy(a.forces, sim->scene.forces + sim->scene_forces, (size_t)head.force_count, sizeof *a.forces);
    clear_padding(&a, &head);
    for (int b = 0; b < bodies; b++) {
        a.masks[b] = sim->scene.bodies[b].driven_mask;
    }
    memcpy(bytes, &head, sizeof head);
    head.digest = digest(bytes, a.size);
    memcpy(bytes, &head, sizeof head);
    return a.size;
}

/* Is this what perp_sim_save wrote of such a simulation? */
static bool is_ours(const perp_sim *sim, const unsigned char *bytes, size_t size, saved_head *head)
{
    if (!bytes || size < sizeof *head) {
        return false;
    }
    memcpy(head, bytes, sizeof *head);
    return head->size == size && head->head_size == sizeof *head &&
           head->of.value == perp_sim_fingerprint(sim->given->scene, &sim->settings).value &&
           head->digest.value == digest(bytes, size).value;
}

/* The drives as they were: the scene's where that leads, else those of the channels. */
static void restore_drives(perp_sim *sim, const saved_arrays *a)
{
    const perp_scene *scene = sim->given->scene;
    copy(sim->commands, a->commands, (size_t)scene->joint_count, sizeof *a->commands);
    copy(sim->drives, a->drives, 6 * (size_t)scene->body_count, sizeof *a->drives);
    for (int j = 0; j < scene->joint_count; j++) {
        sim->scene.joints[j].command = scene->joints[j].command;
        sim->scene.joints[j].path = scene->joints[j].path;
    }
    for (int b = 0; b < scene->body_count; b++) {
        perp_sim_lead_body(sim, b, a->masks[b]);
    }
    sim->steered = true;
    perp_sim_lead_refresh(sim);
}

static void restore_forces(perp_sim *sim, const saved_arrays *a, int count)
{
    perp_force *forces = sim->scene.forces + sim->scene_forces;
    copy(forces, a->forces, (size_t)count, sizeof *forces);
    for (int i = 0; i < count; i++) {
        forces[i].body = sim->scene.bodies[forces[i].body_index].name; /* the bytes may be of another reading of it */
    }
    sim->scene.force_count = sim->scene_forces + count;
}

bool perp_sim_keep_elements(perp_sim *sim, const perp_element_record *elements, int count)
{
    if (count > sim->element_capacity) {
        void *larger = sim->allocator.allocate(sim->allocator.context, (size_t)count * sizeof *sim->elements);
        if (!larger) {
            return false;
        }
        copy(larger, elements, (size_t)count, sizeof *elements);
        if (sim->elements) {
            sim->allocator.release(sim->allocator.context, sim->elements);
        }
        sim->elements = larger;
        sim->element_capacity = count;
    } else if (elements != sim->elements) {
        copy(sim->elements, elements, (size_t)count, sizeof *elements);
    }
    return true;
}

perp_status perp_sim_restore(perp_sim *sim, const void *bytes, size_t size, perp_error *error)
{
    saved_head head;
    if (!is_ours(sim, bytes, size, &head)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT,
                         "these %zu bytes were not saved by a simulation of this scene with these settings", size);
    }
    const saved_arrays a = find_arrays(sim, &head, (unsigned char *)bytes); /* which are only read */
    if (!perp_sim_keep_elements(sim, a.elements, head.info.element_count)) {
        return perp_sim_judge_memory(
            sim, perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while restoring a simulation"), error);
    }
    sim->state.t = head.t;
    copy(sim->state.q, a.q, (size_t)sim->model.nq, sizeof *a.q);
    copy(sim->state.v, a.v, (size_t)sim->model.nv, sizeof *a.v);
    restore_drives(sim, &a);
    restore_forces(sim, &a, head.force_count);
    sim->touched = true;
    const perp_run_start start = {.step = head.steps,
                                  .t_start = head.t_from,
                                  .hash = head.hash,
                                  .contact_count = head.info.contact_count,
                                  .contacts = a.contacts,
                                  .event_count = head.info.event_count,
                                  .events = a.events,
                                  .memory_count = head.memory_count,
                                  .memory = a.memory};
    const perp_status status = perp_sim_judge_memory(sim, perp_sim_resume(sim, &start, error), error);
    if (status != PERP_STATUS_OK) {
        memset(sim->info, 0, sizeof *sim->info);
        return status;
    }
    const perp_step_info told = *sim->info;
    sim->counted_from = head.counted_from;
    *sim->info = head.info;
    sim->info->contacts = told.contacts;
    sim->info->contact_count = told.contact_count;
    sim->info->elements = sim->elements;
    copy(sim->loops, a.loops, (size_t)head.info.loop_count, sizeof *a.loops);
    sim->info->loops = sim->loops;
    sim->info->events = head.info.event_count > 0 ? sim->contacts.events : NULL;
    sim->info->answer = NULL;
    sim->info->memory = &sim->memory;
    return status;
}

perp_status perp_sim_clone(const perp_sim *sim, perp_sim **clone, perp_error *error)
{
    perp_sim_settings settings = perp_sim_settings_default();
    settings.run = &sim->settings;
    settings.allocator = &sim->source;
    settings.memory = perp_sim_pool_limit(sim->pool);
    settings.max_contacts = sim->max_contacts;
    perp_status status = perp_sim_create(sim->given, &settings, clone, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const size_t size = perp_sim_save(sim, NULL, 0);
    void *bytes = sim->source.allocate(sim->source.context, size);
    if (bytes) {
        perp_sim_save(sim, bytes, size);
        status = perp_sim_restore(*clone, bytes, size, error);
        sim->source.release(sim->source.context, bytes);
    } else {
        status = perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a clone");
    }
    if (status != PERP_STATUS_OK) {
        perp_sim_free(*clone);
        *clone = NULL;
    }
    return status;
}
