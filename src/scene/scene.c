#include "scene/scene_memory.h"
#include "scene/tolerances.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *perp_joint_kind_name(perp_joint_kind kind)
{
    static const char *const names[PERP_JOINT_COUNT] = {
        [PERP_JOINT_NONE] = "none",   [PERP_JOINT_REVOLUTE] = "revolute", [PERP_JOINT_PRISMATIC] = "prismatic",
        [PERP_JOINT_BALL] = "ball",   [PERP_JOINT_PLANAR] = "planar",     [PERP_JOINT_SCREW] = "screw",
        [PERP_JOINT_FIXED] = "fixed",
    };
    return (unsigned)kind < PERP_JOINT_COUNT ? names[kind] : "unknown";
}

const char *perp_loop_what(const perp_loop *loop)
{
    const char *const joints = loop->mimic ? "mimic" : "tendon";
    return loop->kind == PERP_LOOP_JOINTS ? joints : loop->kind == PERP_LOOP_WELD ? "weld" : "point";
}

int perp_joint_position_size(perp_joint_kind kind)
{
    return kind == PERP_JOINT_BALL ? 4 : perp_joint_velocity_size(kind);
}

int perp_joint_velocity_size(perp_joint_kind kind)
{
    switch (kind) {
    case PERP_JOINT_BALL:
    case PERP_JOINT_PLANAR:
        return 3;
    case PERP_JOINT_REVOLUTE:
    case PERP_JOINT_PRISMATIC:
    case PERP_JOINT_SCREW:
        return 1;
    default:
        return 0;
    }
}

perp_placement perp_placement_default(void)
{
    perp_placement r = {.pose = perp_pose_identity()};
    return r;
}

perp_body perp_body_default(const char *name)
{
    perp_body r;
    memset(&r, 0, sizeof r);
    r.name = name;
    r.free_mask = PERP_COMPONENT_ALL;
    r.pose = perp_placement_default();
    r.joint = -1;
    return r;
}

perp_joint perp_joint_default(const char *name, perp_joint_kind kind)
{
    perp_joint r;
    memset(&r, 0, sizeof r);
    r.name = name;
    r.kind = kind;
    r.mimic_ratio = 1.0;
    r.parent_body = r.child_body = -1;
    return r;
}

static perp_compliance compliance_default(void)
{
    perp_compliance r;
    memset(&r, 0, sizeof r);
    r.stiffness = (perp_tensor){1, {1.0e4}};
    r.damping = (perp_tensor){1, {10.0}};
    r.elements = 1;
    r.size = 0.01;
    r.law = PERP_LAW_KELVIN_VOIGT;
    r.gamma = COMPLIANCE_GAMMA;
    r.stiffness_scale = 1.0;
    return r;
}

static perp_run_settings run_default(void)
{
    perp_run_settings r;
    memset(&r, 0, sizeof r);
    r.model = "qs-qp";
    r.h = 0.01;
    r.until = 1.0;
    r.rays = 4;
    r.tolerance = RUN_TOLERANCE;
    r.substep_tolerance = INFINITY;
    r.time_scale = 1.0;
    r.threads = 1;
    return r;
}

perp_status perp_scene_create(bool planar, const perp_allocator *allocator, perp_scene **scene, perp_error *error)
{
    *scene = NULL;
    perp_arena arena;
    perp_arena_init(&arena, allocator);
    perp_scene *s = PERP_ARENA_NEW(&arena, perp_scene, 1);
    struct perp_scene_memory *memory = PERP_ARENA_NEW(&arena, struct perp_scene_memory, 1);
    if (!s || !memory) {
        perp_arena_clear(&arena);
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while creating a scene");
    }
    memory->arena = arena;
    s->memory = memory;
    s->name = "";
    s->planar = planar;
    s->gravity = planar ? perp_vec3_make(0, -9.81, 0) : perp_vec3_make(0, 0, -9.81);
    s->margin = 0.02;
    s->friction = 0.5;
    s->compliance = compliance_default();
    s->run = run_default();
    *scene = s;
    return PERP_STATUS_OK;
}

void perp_scene_free(perp_scene *scene)
{
    if (scene) {
        perp_arena arena = scene->memory->arena; /* the scene itself lies in it */
        perp_arena_clear(&arena);
    }
}

int perp_scene_find_body(const perp_scene *scene, const char *name)
{
    return perp_name_table_find(&scene->memory->body_names, name);
}

int perp_scene_find_joint(const perp_scene *scene, const char *name)
{
    return perp_name_table_find(&scene->memory->joint_names, name);
}

void perp_scene_report(const perp_scene *scene, perp_diagnostics *diagnostics, perp_severity severity, const char *path,
                       const char *format, ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    const char *file = NULL;
    int line = 0, column = 0;
    const int seen = severity == PERP_SEVERITY_ERROR ? diagnostics->errors : diagnostics->warnings;
    if (scene->locate && seen < PERP_DIAGNOSTICS_PER_SEVERITY) { /* what is not kept need not be found */
        scene->locate(scene->locate_context, path, &file, &line, &column);
    }
    perp_diagnostics_add(diagnostics, severity, file, line, column, path, "%s", message);
}
