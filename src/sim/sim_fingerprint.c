/* What tells one simulation from another: everything of its scene and settings that a step may depend on. Two with the
 * same fingerprint go on from each other's saves with the same bits.
 *
 * Left out are what is resolved from the rest, names of files (what they hold is in), and settings that change no bit:
 * how long to run, and on how many threads. tests/sim/test_fingerprint.c changes every number of a scene that has all
 * keys; a new field belongs here and there. */
#include "sim/sim.h"

#include "base/hash.h"

#define ADD(hash, ...)                                                                                                 \
    perp_hash_reals((hash), (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static void add_text(perp_hash *hash, const char *text)
{
    perp_hash_bytes(hash, text ? text : "", text ? strlen(text) + 1 : 0);
}

static void add_vector(perp_hash *hash, perp_vec3 v)
{
    ADD(hash, v.x, v.y, v.z);
}

static void add_vectors(perp_hash *hash, const perp_vec3 *vectors, int count)
{
    ADD(hash, count);
    for (int i = 0; i < count; i++) {
        add_vector(hash, vectors[i]);
    }
}

static void add_optional(perp_hash *hash, perp_optional number)
{
    ADD(hash, number.set, number.value);
}

static void add_drive(perp_hash *hash, const perp_drive *drive)
{
    ADD(hash, drive->offset, drive->rate, drive->bend, drive->sine_count, drive->knot_count, drive->interpolation);
    for (int i = 0; i < drive->sine_count; i++) {
        ADD(hash, drive->sines[i].amplitude, drive->sines[i].omega, drive->sines[i].phase);
    }
    for (int i = 0; i < drive->knot_count; i++) {
        ADD(hash, drive->times[i], drive->values[i]);
    }
}

static void add_placement(perp_hash *hash, const perp_placement *placement)
{
    const perp_quat r = placement->pose.rotation;
    add_vector(hash, placement->pose.position);
    ADD(hash, r.w, r.x, r.y, r.z, placement->angle, placement->rpy_set);
    perp_hash_reals(hash, placement->rpy, 3);
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

static void add_shape(perp_hash *hash, const perp_shape *shape)
{
    ADD(hash, shape->kind, shape->radius, shape->length, shape->offset, shape->scale);
    add_text(hash, shape->name);
    add_placement(hash, &shape->pose);
    add_optional(hash, shape->friction);
    add_optional(hash, shape->density);
    add_vector(hash, shape->size);
    add_vector(hash, shape->normal);
    add_vectors(hash, shape->points, shape->point_count);
    add_vectors(hash, shape->hull_points, shape->hull_point_count);
}

static void add_support(perp_hash *hash, const perp_support *support)
{
    ADD(hash, support->set, support->point_count, support->model);
    add_optional(hash, support->friction);
    add_optional(hash, support->normal);
    for (int i = 0; i < support->point_count; i++) {
        ADD(hash, support->points[i].x, support->points[i].y, support->points[i].share);
    }
}

static void add_body(perp_hash *hash, const perp_body *body)
{
    add_text(hash, body->name);
    ADD(hash, body->kind, body->free_mask, body->driven_mask, body->inertia_count, body->com_set, body->shape_count);
    add_optional(hash, body->mass);
    add_optional(hash, body->density);
    perp_hash_reals(hash, body->inertia, 6);
    add_vector(hash, body->com);
    add_placement(hash, &body->pose);
    add_vector(hash, body->velocity.linear);
    add_vector(hash, body->velocity.angular);
    for (int k = 0; k < 6; k++) {
        add_drive(hash, &body->drives[k]);
    }
    for (int k = 0; k < body->shape_count; k++) {
        add_shape(hash, &body->shapes[k]);
    }
    add_support(hash, &body->support);
}

/* ---- joints, loops, forces --------------------------------------------------------------------------------------- */

static void add_joint(perp_hash *hash, const perp_joint *joint)
{
    add_text(hash, joint->name);
    ADD(hash, joint->kind, joint->parent_body, joint->child_body, joint->limits_set, joint->limits[0], joint->limits[1],
        joint->pitch, joint->control, joint->stiffness, joint->damping, joint->armature, joint->gravity_compensation);
    add_vector(hash, joint->anchor);
    add_vector(hash, joint->axis);
    perp_hash_reals(hash, joint->position, 4);
    perp_hash_reals(hash, joint->velocity, 3);
    add_optional(hash, joint->effort);
    add_drive(hash, &joint->command);
}

/* Joints that mimic others and tendons are loops too. */
static void add_loop(perp_hash *hash, const perp_loop *loop)
{
    add_text(hash, loop->name);
    ADD(hash, loop->kind, loop->body_a, loop->body_b, loop->length, loop->mimic, loop->term_count);
    add_vector(hash, loop->anchor_a);
    add_vector(hash, loop->anchor_b);
    for (int k = 0; k < loop->term_count; k++) {
        ADD(hash, loop->terms[k].joint_index, loop->terms[k].coefficient);
    }
}

static void add_force(perp_hash *hash, const perp_force *force)
{
    ADD(hash, force->body_index, force->in_body_frame);
    add_vector(hash, force->point);
    for (int k = 0; k < 3; k++) {
        add_drive(hash, &force->force[k]);
        add_drive(hash, &force->torque[k]);
    }
}

/* ---- contact settings -------------------------------------------------------------------------------------------- */

static void add_compliance(perp_hash *hash, const perp_compliance *c)
{
    ADD(hash, c->stiffness.count, c->damping.count, c->elements, c->size, c->law, c->tangential_rigid, c->gamma,
        c->stiffness_scale);
    perp_hash_reals(hash, c->stiffness.values, 9);
    perp_hash_reals(hash, c->damping.values, 9);
}

static void add_pair(perp_hash *hash, const perp_pair *pair)
{
    ADD(hash, pair->body_a, pair->body_b, pair->tangent_set, pair->restitution, pair->compliance_set);
    add_optional(hash, pair->friction);
    add_vectors(hash, pair->directions, pair->direction_count);
    add_vector(hash, pair->tangent);
    add_compliance(hash, &pair->compliance);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void add_scene(perp_hash *hash, const perp_scene *scene)
{
    ADD(hash, scene->planar, scene->body_count, scene->joint_count, scene->loop_count, scene->force_count,
        scene->pair_count, scene->exclusion_count, scene->margin, scene->friction);
    add_vector(hash, scene->gravity);
    add_compliance(hash, &scene->compliance);
    for (int i = 0; i < scene->body_count; i++) {
        add_body(hash, &scene->bodies[i]);
    }
    for (int i = 0; i < scene->joint_count; i++) {
        add_joint(hash, &scene->joints[i]);
    }
    for (int i = 0; i < scene->loop_count; i++) {
        add_loop(hash, &scene->loops[i]);
    }
    for (int i = 0; i < scene->force_count; i++) {
        add_force(hash, &scene->forces[i]);
    }
    for (int i = 0; i < scene->pair_count; i++) {
        add_pair(hash, &scene->pairs[i]);
    }
    for (int i = 0; i < scene->exclusion_count; i++) {
        ADD(hash, scene->exclusions[i].body_a, scene->exclusions[i].body_b);
    }
}

perp_hash perp_sim_fingerprint(const perp_scene *scene, const perp_run_settings *run)
{
    perp_hash hash = perp_hash_begin();
    add_text(&hash, run->model);
    ADD(&hash, run->h, run->cone, run->rays, run->prediction, run->tolerance, run->substep_tolerance, run->smoothing,
        run->time_scale);
    add_scene(&hash, scene);
    return hash;
}
