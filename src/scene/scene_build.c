/* Adding to a scene: deep copies into its arena. Nothing is checked here beyond capacity; see scene_validate.c.
 *
 * A copier remembers whether every copy so far had room, so that an add function reads straight through and looks once
 * at the end. */
#include "scene/scene_memory.h"

#include <assert.h>
#include <string.h>

typedef struct copier {
    perp_scene *scene;
    bool fits;
} copier;

static void *copy_array(copier *c, const void *array, int count, size_t size)
{
    assert(count <= 0 || array); /* a count without its array is a caller's bug */
    if (count <= 0 || !c->fits) {
        return NULL;
    }
    void *copy = perp_arena_push(&c->scene->memory->arena, (size_t)count, size);
    c->fits = copy != NULL;
    return copy ? memcpy(copy, array, (size_t)count * size) : NULL;
}

static const char *copy_text(copier *c, const char *text)
{
    return text ? copy_array(c, text, (int)strlen(text) + 1, 1) : NULL;
}

static void copy_drives(copier *c, perp_drive *drives, int count)
{
    for (int i = 0; i < count; i++) {
        perp_drive *d = &drives[i];
        d->sines = copy_array(c, d->sines, d->sine_count, sizeof *d->sines);
        d->times = copy_array(c, d->times, d->knot_count, sizeof *d->times);
        d->values = copy_array(c, d->values, d->knot_count, sizeof *d->values);
        d->slopes = NULL; /* computed by perp_scene_validate */
    }
}

static const perp_shape *copy_shapes(copier *c, const perp_shape *shapes, int count)
{
    perp_shape *copies = copy_array(c, shapes, count, sizeof *shapes);
    for (int i = 0; copies && i < count; i++) {
        copies[i].name = copy_text(c, copies[i].name);
        copies[i].file = copy_text(c, copies[i].file);
        copies[i].points = copy_array(c, copies[i].points, copies[i].point_count, sizeof *copies[i].points);
        copies[i].hull_points =
            copy_array(c, copies[i].hull_points, copies[i].hull_point_count, sizeof *copies[i].hull_points);
        copies[i].hull_triangles = copy_array(c, copies[i].hull_triangles, 3 * copies[i].hull_triangle_count,
                                              sizeof *copies[i].hull_triangles);
    }
    return copies;
}

/* Appends `element` to one of the scene's arrays and returns the array, which may have moved. Without room the array
 * stays as it was. */
static void *append(copier *c, void *array, int *count, int *capacity, const void *element, size_t size)
{
    void *grown = c->fits ? perp_arena_grow(&c->scene->memory->arena, array, *count, capacity, size) : NULL;
    if (!grown) {
        c->fits = false;
        return array;
    }
    memcpy((char *)grown + (size_t)*count * size, element, size);
    *count += 1;
    c->scene->validated = false;
    return grown;
}

static perp_status outcome(const copier *c, perp_error *error)
{
    return c->fits ? PERP_STATUS_OK
                   : perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while adding to a scene");
}

perp_status perp_scene_add_body(perp_scene *scene, const perp_body *body, perp_error *error)
{
    if (scene->body_count >= PERP_SCENE_MAX_BODIES) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "a scene holds at most %d bodies", PERP_SCENE_MAX_BODIES);
    }
    copier c = {scene, true};
    perp_body copy = *body;
    copy.joint = -1;
    copy.name = copy_text(&c, copy.name ? copy.name : ""); /* validation refuses it */
    copy_drives(&c, copy.drives, 6);
    copy.shapes = copy_shapes(&c, copy.shapes, copy.shape_count);
    copy.support.points = copy_array(&c, copy.support.points, copy.support.point_count, sizeof *copy.support.points);
    scene->bodies = append(&c, scene->bodies, &scene->body_count, &scene->memory->body_capacity, &copy, sizeof copy);
    return outcome(&c, error);
}

/* q - ratio q_other = offset. */
static perp_status add_mimic(perp_scene *scene, const perp_joint *joint, perp_error *error)
{
    perp_loop_term terms[2] = {{joint->name, 1.0, -1}, {joint->mimic, -joint->mimic_ratio, -1}};
    const perp_loop loop = {.name = joint->name,
                            .kind = PERP_LOOP_JOINTS,
                            .term_count = 2,
                            .terms = terms,
                            .length = joint->mimic_offset,
                            .mimic = true};
    return perp_scene_add_loop(scene, &loop, error);
}

perp_status perp_scene_add_joint(perp_scene *scene, const perp_joint *joint, perp_error *error)
{
    copier c = {scene, true};
    perp_joint copy = *joint;
    copy.name = copy_text(&c, copy.name ? copy.name : ""); /* validation refuses it */
    copy.parent = copy_text(&c, copy.parent);
    copy.child = copy_text(&c, copy.child);
    copy.mimic = copy_text(&c, copy.mimic);
    copy_drives(&c, &copy.command, 1);
    scene->joints = append(&c, scene->joints, &scene->joint_count, &scene->memory->joint_capacity, &copy, sizeof copy);
    return c.fits && copy.mimic ? add_mimic(scene, &copy, error) : outcome(&c, error);
}

perp_status perp_scene_add_loop(perp_scene *scene, const perp_loop *loop, perp_error *error)
{
    copier c = {scene, true};
    perp_loop copy = *loop;
    copy.name = copy_text(&c, copy.name ? copy.name : ""); /* validation refuses it */
    copy.a = copy_text(&c, copy.a);
    copy.b = copy_text(&c, copy.b);
    copy.terms = copy_array(&c, copy.terms, copy.term_count, sizeof *copy.terms);
    for (int i = 0; copy.terms && i < copy.term_count; i++) {
        copy.terms[i].joint = copy_text(&c, copy.terms[i].joint);
    }
    scene->loops = append(&c, scene->loops, &scene->loop_count, &scene->memory->loop_capacity, &copy, sizeof copy);
    return outcome(&c, error);
}

perp_status perp_scene_add_force(perp_scene *scene, const perp_force *force, perp_error *error)
{
    copier c = {scene, true};
    perp_force copy = *force;
    copy.body = copy_text(&c, copy.body);
    copy_drives(&c, copy.force, 3);
    copy_drives(&c, copy.torque, 3);
    scene->forces = append(&c, scene->forces, &scene->force_count, &scene->memory->force_capacity, &copy, sizeof copy);
    return outcome(&c, error);
}

perp_status perp_scene_add_pair(perp_scene *scene, const perp_pair *pair, perp_error *error)
{
    if (scene->pair_count >= PERP_SCENE_MAX_PAIRS) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "a scene holds at most %d pairs", PERP_SCENE_MAX_PAIRS);
    }
    copier c = {scene, true};
    perp_pair copy = *pair;
    copy.a = copy_text(&c, copy.a);
    copy.b = copy_text(&c, copy.b);
    scene->pairs = append(&c, scene->pairs, &scene->pair_count, &scene->memory->pair_capacity, &copy, sizeof copy);
    return outcome(&c, error);
}

perp_status perp_scene_add_exclusion(perp_scene *scene, const char *a, const char *b, perp_error *error)
{
    copier c = {scene, true};
    const perp_exclusion copy = {copy_text(&c, a), copy_text(&c, b), -1, -1};
    scene->exclusions =
        append(&c, scene->exclusions, &scene->exclusion_count, &scene->memory->exclusion_capacity, &copy, sizeof copy);
    return outcome(&c, error);
}

perp_status perp_scene_set_name(perp_scene *scene, const char *name, perp_error *error)
{
    copier c = {scene, true};
    const char *copy = copy_text(&c, name);
    scene->name = copy ? copy : scene->name;
    return outcome(&c, error);
}

perp_status perp_scene_set_model(perp_scene *scene, const char *model, perp_error *error)
{
    copier c = {scene, true};
    const char *copy = copy_text(&c, model);
    scene->run.model = copy ? copy : scene->run.model;
    return outcome(&c, error);
}
