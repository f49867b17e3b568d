/* What tells one run from another, and how an assumption is taken out of it. */
#include "compare/comparison.h"
#include "step/common/rung_cone.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* By how much what cannot be removed as such is made smaller. */
enum { FINER = 8, MORE_RAYS = 8, LIGHTER = 10000, STIFFER = 100 };

static unsigned bit_of(perp_cone cone)
{
    return 1u << cone;
}

perp_cone perp_spec_cone(const compare_spec *s)
{
    return perp_rung_cone(s->rung, &s->settings);
}

compare_spec perp_spec_of(const perp_scene *scene, const perp_rung *rung, double h, int steps)
{
    compare_spec s = {.rung = rung, .settings = scene->run, .stiffness = 1.0, .inertia = 1.0};
    perp_run_settings *run = &s.settings;
    run->model = rung->name;
    run->model_set = true;
    run->h = h;
    run->steps_set = true;
    run->steps = steps;
    run->until = h * steps;
    if (run->cone != PERP_CONE_UNSET && !(rung->takes & bit_of(run->cone))) {
        run->cone = PERP_CONE_UNSET;
    }
    run->smoothing = rung->takes & PERP_TAKES_SMOOTHING ? run->smoothing : 0.0;
    run->time_scale = rung->takes & PERP_TAKES_TIME_SCALE ? run->time_scale : 1.0;
    return s;
}

bool perp_spec_same(const compare_spec *a, const compare_spec *b)
{
    return a->rung == b->rung && a->settings.h == b->settings.h && a->settings.steps == b->settings.steps &&
           perp_spec_cone(a) == perp_spec_cone(b) && a->settings.rays == b->settings.rays &&
           a->settings.smoothing == b->settings.smoothing && a->stiffness == b->stiffness && a->inertia == b->inertia &&
           a->sharp == b->sharp && a->position == b->position && a->forgetful == b->forgetful;
}

/* ---- removing ---------------------------------------------------------------------------------------------------- */

bool perp_spec_shorten(compare_spec *s)
{
    if (s->settings.steps > PERP_COMPARE_MOST_STEPS / FINER) {
        return false;
    }
    s->settings.h /= FINER;
    s->settings.steps *= FINER;
    return true;
}

/* A rung that differs from that of `s` in its friction alone. */
static const perp_rung *find_like(const compare_spec *s, bool convex, perp_cone cone, bool springs,
                                  const perp_rung *avoid)
{
    const unsigned alike = PERP_TAKES_COMPLIANCE | (springs ? PERP_TAKES_IMPEDANCE_AS_POSITION : 0u) |
                           (s->settings.time_scale != 1.0 ? PERP_TAKES_TIME_SCALE : 0u);
    for (int i = 0; i < perp_rung_count(); i++) {
        const perp_rung *r = perp_rung_at(i);
        if (r->step && r->law && r != s->rung && r != avoid && r->convex == convex && r->inertia == s->rung->inertia &&
            (r->takes & bit_of(cone)) && (r->takes & alike) == (s->rung->takes & alike)) {
            return r;
        }
    }
    return NULL;
}

static bool turn_into(compare_spec *s, const perp_rung *rung, perp_cone cone)
{
    if (rung) {
        s->rung = rung;
        s->settings.model = rung->name;
        s->settings.cone = cone;
    }
    return rung != NULL;
}

bool perp_spec_without_layer(compare_spec *s, bool springs)
{
    const perp_cone cone = perp_spec_cone(s);
    return s->rung->convex && s->settings.smoothing == 0.0 &&
           turn_into(s, find_like(s, false, cone, springs, NULL), cone);
}

bool perp_spec_onto_cone(compare_spec *s, perp_cone cone, bool springs, const perp_rung *avoid)
{
    const perp_cone own = perp_spec_cone(s);
    if (own == cone) {
        return true;
    }
    if (own == PERP_CONE_RAYS && cone == PERP_CONE_QUADRATIC) {
        s->settings.rays *= MORE_RAYS;
        s->settings.cone = own;
        return true;
    }
    if (cone != PERP_CONE_RAYS && (s->rung->takes & bit_of(cone)) && s->rung != avoid) {
        s->settings.cone = cone;
        return true;
    }
    return cone != PERP_CONE_RAYS && turn_into(s, find_like(s, s->rung->convex, cone, springs, avoid), cone);
}

bool perp_spec_without_inertia(compare_spec *s)
{
    if (s->rung->inertia != PERP_RUNG_INERTIA_FULL && s->rung->inertia != PERP_RUNG_INERTIA_ONE_STEP) {
        return false;
    }
    s->inertia /= LIGHTER;
    return true;
}

bool perp_spec_without_momentum(compare_spec *s)
{
    s->forgetful = s->rung->inertia == PERP_RUNG_INERTIA_FULL;
    return perp_spec_without_inertia(s) && s->forgetful;
}

bool perp_spec_stiff(compare_spec *s)
{
    if (!(s->rung->takes & PERP_TAKES_COMPLIANCE)) {
        return false;
    }
    s->stiffness *= STIFFER;
    return true;
}

static bool has_gamma(const perp_scene *scene)
{
    bool any = scene->compliance.gamma > 0.0;
    for (int i = 0; i < scene->pair_count; i++) {
        any = any || (scene->pairs[i].compliance_set && scene->pairs[i].compliance.gamma > 0.0);
    }
    return any;
}

bool perp_spec_without_smoothing(compare_spec *s, const perp_scene *scene)
{
    const bool gamma = (s->rung->takes & PERP_TAKES_COMPLIANCE) && has_gamma(scene);
    if (s->settings.smoothing == 0.0 && !gamma) {
        return false;
    }
    s->settings.smoothing = 0.0;
    s->sharp = gamma;
    return true;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static void add(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add(char *text, size_t size, const char *format, ...)
{
    const size_t at = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    if (at > 0 && at + 1 < size) {
        snprintf(text + at, size - at, ", ");
    }
    vsnprintf(text + strlen(text), size - strlen(text), format, arguments);
    va_end(arguments);
}

void perp_spec_describe(const compare_spec *from, const compare_spec *to, char *text, size_t size)
{
    text[0] = '\0';
    if (from->rung != to->rung) {
        add(text, size, "%s in place of %s", to->rung->name, from->rung->name);
    }
    if (to->settings.h != from->settings.h) {
        add(text, size, "h = %g s", to->settings.h);
    }
    if (to->settings.rays != from->settings.rays) {
        add(text, size, "%d rays", to->settings.rays);
    } else if (perp_spec_cone(from) != perp_spec_cone(to) &&
               (from->rung == to->rung || perp_spec_cone(to) != to->rung->own_cone)) {
        add(text, size, "the %s cone", perp_cone_name(perp_spec_cone(to)));
    }
    if (to->inertia != from->inertia) {
        add(text, size, "1/%g of the inertia", from->inertia / to->inertia);
    }
    if (to->forgetful != from->forgetful) {
        add(text, size, "every step from rest");
    }
    if (to->stiffness != from->stiffness) {
        add(text, size, "contacts %g times as stiff", to->stiffness / from->stiffness);
    }
    if (to->settings.smoothing != from->settings.smoothing || to->sharp != from->sharp) {
        add(text, size, "no smoothing of friction");
    }
    if (to->position != from->position) {
        add(text, size, "joints under position control");
    }
}

/* ---- its scene --------------------------------------------------------------------------------------------------- */

static void scale_shapes(perp_shape *shapes, int count, double factor)
{
    for (int i = 0; i < count; i++) {
        shapes[i].density.value *= factor;
    }
}

/* The load of a support is a weight too: of the body's mass, where the scene does not give it. */
static void hold_load(perp_body *body)
{
    perp_mass_properties own;
    if (body->support.set && !body->support.normal.set &&
        perp_body_mass_properties(body, true, &own, NULL) == PERP_STATUS_OK) {
        body->support.normal = perp_set(PERP_SUPPORT_GRAVITY * own.mass);
    }
}

/* Lighter masses in stronger gravity: the same weights. */
static bool scale_masses(double factor, perp_arena *arena, perp_scene *scene)
{
    perp_body *bodies = PERP_ARENA_NEW(arena, perp_body, (size_t)scene->body_count);
    perp_joint *joints = PERP_ARENA_NEW(arena, perp_joint, (size_t)scene->joint_count);
    for (int i = 0; i < scene->body_count && bodies; i++) {
        perp_body *b = &bodies[i];
        *b = scene->bodies[i];
        hold_load(b);
        perp_shape *shapes = PERP_ARENA_NEW(arena, perp_shape, (size_t)b->shape_count);
        if (!shapes) {
            return false;
        }
        if (b->shape_count > 0) {
            memcpy(shapes, b->shapes, (size_t)b->shape_count * sizeof *shapes);
        }
        scale_shapes(shapes, b->shape_count, factor);
        b->shapes = shapes;
        b->mass.value *= factor;
        b->density.value *= factor;
        for (int k = 0; k < 6; k++) {
            b->inertia[k] *= factor;
        }
    }
    for (int i = 0; i < scene->joint_count && joints; i++) {
        joints[i] = scene->joints[i];
        joints[i].armature *= factor;
    }
    scene->bodies = bodies;
    scene->joints = joints;
    scene->gravity = perp_vec3_scale(1.0 / factor, scene->gravity);
    return bodies && joints;
}

/* stiffness_scale e is K / e and C / sqrt(e). */
static bool change_contacts(const compare_spec *s, perp_arena *arena, perp_scene *scene)
{
    perp_pair *pairs = PERP_ARENA_NEW(arena, perp_pair, (size_t)scene->pair_count);
    for (int i = -1; i < scene->pair_count && pairs; i++) {
        if (i >= 0) {
            pairs[i] = scene->pairs[i];
        }
        perp_compliance *c = i < 0 ? &scene->compliance : &pairs[i].compliance;
        c->stiffness_scale /= s->stiffness;
        c->gamma = s->sharp ? 0.0 : c->gamma;
    }
    scene->pairs = pairs;
    return pairs != NULL;
}

static bool hold_joints(perp_arena *arena, perp_scene *scene)
{
    perp_joint *joints = PERP_ARENA_NEW(arena, perp_joint, (size_t)scene->joint_count);
    for (int i = 0; i < scene->joint_count && joints; i++) {
        joints[i] = scene->joints[i];
        joints[i].control = joints[i].control == PERP_CONTROL_IMPEDANCE ? PERP_CONTROL_POSITION : joints[i].control;
    }
    scene->joints = joints;
    return joints != NULL;
}

bool perp_spec_scene(const compare_spec *s, const perp_scene *scene, perp_arena *arena, perp_scene *made)
{
    *made = *scene;
    made->run = s->settings;
    return (s->inertia == 1.0 || scale_masses(s->inertia, arena, made)) &&
           ((s->stiffness == 1.0 && !s->sharp) || change_contacts(s, arena, made)) &&
           (!s->position || hold_joints(arena, made));
}
