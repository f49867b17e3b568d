/* contact_set.c - one build: shapes placed, near pairs, narrow phase, Jacobians; and the memory behind it.
 *
 * Memory is taken where a build needs more than any build before it, with as much again to spare (a face that turns by
 * a hair over another has eight points in place of four), and never given back before the set is freed; so a run stops
 * asking once it has seen its fullest moment.
 */
#include "base/settings_size.h"
#include "contact/contact_private.h"
#include "scene/loop_links.h"
#include "contact/tolerances.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- memory ------------------------------------------------------------------------------------------------------ */

bool perp_contact_grow(const perp_allocator *allocator, void **array, size_t count, size_t capacity, size_t size)
{
    const size_t bytes = capacity > 0 ? capacity * size : 1; /* malloc may have nothing for nothing */
    void *larger = capacity <= SIZE_MAX / size ? allocator->allocate(allocator->context, bytes) : NULL;
    if (!larger) {
        return false;
    }
    if (*array) {
        memcpy(larger, *array, count * size);
        allocator->release(allocator->context, *array);
    }
    *array = larger;
    return true;
}

static void release(const perp_allocator *allocator, void *memory)
{
    if (memory) {
        allocator->release(allocator->context, memory);
    }
}

/* Contacts, the starts of their columns, the pairs that islands need and the groups of polygons grow together. */
static bool take_contacts(struct perp_contact_set_memory *m, int count, int capacity)
{
    const perp_scene *scene = m->contact_model->model->scene;
    const size_t n = (size_t)capacity;
    void *contacts = m->contacts, *starts = m->dof_start, *touching = m->touching, *groups = m->groups;
    bool taken = perp_contact_grow(&m->allocator, &contacts, (size_t)count, n, sizeof(perp_contact));
    m->contacts = contacts;
    taken = taken && perp_contact_grow(&m->allocator, &starts, 0, n + 1, sizeof(int));
    m->dof_start = starts;
    taken = taken && perp_contact_grow(&m->allocator, &touching, 0,
                                       n + (size_t)scene->joint_count + (size_t)perp_scene_link_count(scene) + 1,
                                       sizeof(perp_index_pair));
    m->touching = touching;
    if (scene->planar) {
        taken = taken && perp_contact_grow(&m->allocator, &groups, (size_t)count, n, sizeof(contact_group));
        m->groups = groups;
    }
    if (taken) {
        m->contact_capacity = capacity;
    }
    return taken;
}

perp_status perp_contact_room(contact_build *build)
{
    struct perp_contact_set_memory *m = build->memory;
    if (build->count < m->contact_capacity) {
        return PERP_STATUS_OK;
    }
    const long long wanted = 2LL * build->count + 64;
    if (wanted > INT32_MAX) {
        return perp_fail(build->error, PERP_STATUS_CAPACITY, "more than %d contacts", build->count);
    }
    build->set->grew = true;
    if (!take_contacts(m, build->count, (int)wanted)) {
        return perp_fail(build->error, PERP_STATUS_OUT_OF_MEMORY, "no memory for more than %d contacts", build->count);
    }
    return PERP_STATUS_OK;
}

/* The shapes in the world begin as copies of those in the body's frame: what does not depend on the pose stays. */
static void copy_shapes(struct perp_contact_set_memory *m)
{
    const perp_contact_model *cm = m->contact_model;
    for (int i = 0; i < cm->part_count; i++) {
        const contact_part *part = &cm->parts[i];
        m->boxes[i] = (perp_broad_phase_box){.body = cm->cluster[part->body], .fixed = part->fixed};
        if (!cm->model->planar) {
            m->spatial[i] = part->spatial;
            continue;
        }
        m->planar[i] = part->planar;
        if (part->planar.kind == PERP_PLANAR_CORE) {
            m->planar[i].corners = m->corners + part->corner_start;
        }
        if (part->planar.borders) {
            memcpy(m->borders + part->corner_start, part->planar.borders,
                   (size_t)part->planar.count * sizeof *m->borders);
            m->planar[i].borders = m->borders + part->corner_start;
        }
    }
}

static bool take_parts(struct perp_contact_set_memory *m)
{
    const perp_contact_model *cm = m->contact_model;
    const size_t parts = (size_t)cm->part_count, bodies = (size_t)cm->model->body_count;
    const size_t corners = (size_t)cm->corner_count;
    m->spatial = PERP_ARENA_NEW(&m->arena, perp_spatial_shape, cm->model->planar ? 0 : parts);
    m->planar = PERP_ARENA_NEW(&m->arena, perp_planar_shape, cm->model->planar ? parts : 0);
    m->corners = PERP_ARENA_NEW(&m->arena, perp_vec3, corners);
    m->borders = PERP_ARENA_NEW(&m->arena, perp_planar_border, corners);
    m->shifted = PERP_ARENA_NEW(&m->arena, perp_vec3, (size_t)cm->corner_most);
    m->boxes = PERP_ARENA_NEW(&m->arena, perp_broad_phase_box, parts);
    m->low = PERP_ARENA_NEW(&m->arena, perp_vec3, parts);
    m->high = PERP_ARENA_NEW(&m->arena, perp_vec3, parts);
    m->island_starts = PERP_ARENA_NEW(&m->arena, int, bodies + 1);
    m->island_bodies = PERP_ARENA_NEW(&m->arena, int, bodies);
    if (!m->spatial || !m->planar || !m->corners || !m->borders || !m->shifted || !m->boxes || !m->low || !m->high ||
        !m->island_starts || !m->island_bodies) {
        return false;
    }
    copy_shapes(m);
    return true;
}

static void clear(perp_contact_set *set)
{
    struct perp_contact_set_memory *m = set->memory;
    set->count = 0;
    set->contacts = m->contacts;
    set->dof_start = m->dof_start;
    set->dofs = m->dofs;
    set->jacobian = m->jacobian;
    set->smallest_gap = INFINITY;
    m->dof_start[0] = 0;
}

perp_status perp_contact_set_create(const perp_contact_model *contact_model, const perp_contact_settings *settings,
                                    const perp_allocator *allocator, perp_contact_set **set, perp_error *error)
{
    assert(contact_model && set);
    const perp_contact_settings chosen =
        settings ? *settings : perp_contact_settings_default(contact_model->model->scene);
    *set = NULL;
    if (PERP_CHECK_SIZE(perp_contact_settings, &chosen, error) != PERP_STATUS_OK) {
        return PERP_STATUS_BAD_INPUT;
    }
    assert(chosen.margin >= 0.0 && chosen.max_contacts >= 0);
    perp_arena arena;
    perp_arena_init(&arena, allocator);
    perp_contact_set *made = PERP_ARENA_NEW(&arena, perp_contact_set, 1);
    struct perp_contact_set_memory *m = made ? PERP_ARENA_NEW(&arena, struct perp_contact_set_memory, 1) : NULL;
    if (!m) {
        perp_arena_clear(&arena);
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for the contacts");
    }
    *made = (perp_contact_set){.rows = perp_contact_rows(contact_model), .scene_size = SCENE_LEAST, .memory = m};
    m->contact_model = contact_model;
    m->settings = chosen;
    m->allocator = arena.allocator;
    m->arena = arena;
    perp_status status = perp_broad_phase_create(NULL, &m->allocator, &m->broad_phase, error);
    if (status == PERP_STATUS_OK && !(take_parts(m) && take_contacts(m, 0, 0))) {
        status = perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for the contacts");
    }
    if (status != PERP_STATUS_OK) {
        perp_contact_set_free(made);
        return status;
    }
    clear(made);
    *set = made;
    return PERP_STATUS_OK;
}

void perp_contact_set_free(perp_contact_set *set)
{
    if (set) {
        struct perp_contact_set_memory *m = set->memory;
        perp_broad_phase_free(m->broad_phase);
        release(&m->allocator, m->pairs);
        release(&m->allocator, m->pairs_other);
        release(&m->allocator, m->contacts);
        release(&m->allocator, m->dof_start);
        release(&m->allocator, m->touching);
        release(&m->allocator, m->dofs);
        release(&m->allocator, m->jacobian);
        release(&m->allocator, m->groups);
        perp_arena arena = m->arena; /* the set itself lies in it */
        perp_arena_clear(&arena);
    }
}

/* ---- the order of pairs ------------------------------------------------------------------------------------------ */

/* The broad phase sorts by part a, then part b. Contacts go by body a, body b and only then by shapes and parts, so the
 * pairs of a body a with several parts are one ascending run for each of them, to be merged. The merge is stable: what
 * is equal here stays in the order of parts. */
static bool comes_before(const contact_part *parts, perp_index_pair p, perp_index_pair q)
{
    const contact_part *pb = &parts[p.b], *qb = &parts[q.b], *pa = &parts[p.a], *qa = &parts[q.a];
    if (pb->body != qb->body) {
        return pb->body < qb->body;
    }
    if (pa->shape != qa->shape) {
        return pa->shape < qa->shape;
    }
    return pb->shape < qb->shape;
}

static void merge_runs(const contact_part *parts, const perp_index_pair *left, int left_count,
                       const perp_index_pair *right, int right_count, perp_index_pair *out)
{
    int i = 0, j = 0;
    while (i < left_count && j < right_count) {
        *out++ = comes_before(parts, right[j], left[i]) ? right[j++] : left[i++];
    }
    while (i < left_count) {
        *out++ = left[i++];
    }
    while (j < right_count) {
        *out++ = right[j++];
    }
}

/* First pair at or after `from` that does not follow the one before it in the order wanted. */
static int run_end(const contact_part *parts, const perp_index_pair *pairs, int from, int count)
{
    int end = from + 1;
    while (end < count && !comes_before(parts, pairs[end], pairs[end - 1])) {
        end++;
    }
    return end < count ? end : count;
}

/* Natural merge sort of the pairs of one body a. */
static void sort_body_pairs(const contact_part *parts, perp_index_pair *pairs, perp_index_pair *other, int count)
{
    for (bool sorted = false; !sorted;) {
        int begin = 0;
        sorted = run_end(parts, pairs, 0, count) == count;
        while (!sorted && begin < count) {
            const int middle = run_end(parts, pairs, begin, count);
            const int end = middle < count ? run_end(parts, pairs, middle, count) : count;
            merge_runs(parts, pairs + begin, middle - begin, pairs + middle, end - middle, other + begin);
            begin = end;
        }
        if (!sorted) {
            memcpy(pairs, other, (size_t)count * sizeof *pairs);
        }
    }
}

static perp_status take_pairs(perp_contact_set *set, int count, perp_error *error)
{
    struct perp_contact_set_memory *m = set->memory;
    if (count <= m->pair_capacity) {
        return PERP_STATUS_OK;
    }
    const size_t capacity = (size_t)count + (size_t)count / 2;
    void *pairs = m->pairs, *other = m->pairs_other;
    const bool taken = perp_contact_grow(&m->allocator, &pairs, 0, capacity, sizeof *m->pairs);
    m->pairs = pairs;
    if (!taken || !perp_contact_grow(&m->allocator, &other, 0, capacity, sizeof *m->pairs)) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for %d near pairs", count);
    }
    m->pairs_other = other;
    m->pair_capacity = (int)(capacity < INT32_MAX ? capacity : INT32_MAX);
    set->grew = true;
    return PERP_STATUS_OK;
}

/* The near pairs in the order of contacts. */
static perp_status order_pairs(perp_contact_set *set, const perp_broad_phase_result *near, const perp_index_pair **out,
                               perp_error *error)
{
    struct perp_contact_set_memory *m = set->memory;
    const contact_part *parts = m->contact_model->parts;
    *out = near->pairs;
    if (!m->contact_model->compound || near->count == 0) {
        return PERP_STATUS_OK;
    }
    const perp_status status = take_pairs(set, near->count, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    memcpy(m->pairs, near->pairs, (size_t)near->count * sizeof *m->pairs);
    for (int begin = 0, end = 0; begin < near->count; begin = end) {
        const int body = parts[m->pairs[begin].a].body;
        while (end < near->count && parts[m->pairs[end].a].body == body) {
            end++;
        }
        if (m->pairs[begin].a != m->pairs[end - 1].a) {
            sort_body_pairs(parts, m->pairs + begin, m->pairs_other + begin, end - begin);
        }
    }
    *out = m->pairs;
    return PERP_STATUS_OK;
}

/* ---- the build --------------------------------------------------------------------------------------------------- */

/* The supports of bodies [*next, end), which come before the pairs of body end - 1. */
static perp_status add_supports(contact_build *build, const perp_kinematics *kinematics, int *next, int end)
{
    perp_status status = PERP_STATUS_OK;
    for (; *next < end && status == PERP_STATUS_OK; ++*next) {
        status = perp_contact_add_supports(build, kinematics, *next);
    }
    return status;
}

/* All pairs, two bodies at a time. */
static perp_status collide(contact_build *build, const perp_kinematics *kinematics, const perp_index_pair *pairs,
                           int count)
{
    const perp_contact_model *cm = build->memory->contact_model;
    perp_status status = PERP_STATUS_OK;
    int next = 0;
    for (int begin = 0, end = 0; status == PERP_STATUS_OK && begin < count; begin = end) {
        const int a = cm->parts[pairs[begin].a].body, b = cm->parts[pairs[begin].b].body;
        status = add_supports(build, kinematics, &next, a + 1);
        while (end < count && cm->parts[pairs[end].a].body == a && cm->parts[pairs[end].b].body == b) {
            end++;
        }
        build->rule = perp_contact_find_rule(cm, a, b);
        if (status == PERP_STATUS_OK && (!build->rule || !build->rule->excluded)) {
            status = perp_contact_narrow(build, pairs + begin, end - begin);
        }
        if (status == PERP_STATUS_OK && build->count > build->memory->settings.max_contacts) {
            const perp_body *bodies = cm->model->scene->bodies;
            status = perp_fail(build->error, PERP_STATUS_CAPACITY,
                               "more than %d contacts; one of `%s` and `%s` is the first beyond that limit",
                               build->memory->settings.max_contacts, bodies[a].name, bodies[b].name);
        }
    }
    status = status == PERP_STATUS_OK ? add_supports(build, kinematics, &next, cm->model->body_count) : status;
    if (status == PERP_STATUS_OK && build->count > build->memory->settings.max_contacts) {
        status = perp_fail(build->error, PERP_STATUS_CAPACITY, "more than %d contacts, with points of support",
                           build->memory->settings.max_contacts);
    }
    return status;
}

static perp_status build_contacts(perp_contact_set *set, const perp_kinematics *kinematics, perp_error *error)
{
    struct perp_contact_set_memory *m = set->memory;
    const perp_contact_model *cm = m->contact_model;
    perp_status status = perp_contact_place(set, kinematics, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_broad_phase_result near;
    status =
        perp_broad_phase_find(m->broad_phase, m->boxes, cm->part_count, cm->excluded, cm->excluded_count, &near, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    set->grew = set->grew || near.grew;
    const perp_index_pair *pairs;
    status = order_pairs(set, &near, &pairs, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    contact_build build = {.set = set, .memory = m, .error = error};
    status = collide(&build, kinematics, pairs, near.count);
    set->count = build.count;
    for (int i = 0; i < set->count; i++) {
        const bool nearer = !perp_contact_is_support(&m->contacts[i]) && m->contacts[i].phi < set->smallest_gap;
        set->smallest_gap = nearer ? m->contacts[i].phi : set->smallest_gap;
    }
    return status == PERP_STATUS_OK ? perp_contact_jacobians(set, kinematics, error) : status;
}

perp_status perp_contact_set_build(perp_contact_set *set, const perp_kinematics *kinematics, perp_error *error)
{
    assert(set && kinematics);
    set->grew = false;
    set->smallest_gap = INFINITY;
    const perp_status status = build_contacts(set, kinematics, error);
    const int count = set->count;
    const double smallest_gap = set->smallest_gap;
    clear(set); /* the arrays may stand elsewhere now; dof_start[0] is 0 in any case */
    if (status == PERP_STATUS_OK) {
        set->count = count;
        set->smallest_gap = smallest_gap;
    }
    return status;
}
