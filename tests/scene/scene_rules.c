#include "scene_rules.h"

perp_diagnostics diagnostics;

perp_status validate(perp_scene *scene)
{
    memset(&diagnostics, 0, sizeof diagnostics);
    return perp_scene_validate(scene, &diagnostics);
}

perp_scene *new_scene(bool planar)
{
    perp_scene *scene = NULL;
    assert_int_equal(perp_scene_create(planar, NULL, &scene, NULL), PERP_STATUS_OK);
    return scene;
}

void add_body(perp_scene *s, perp_body body)
{
    assert_int_equal(perp_scene_add_body(s, &body, NULL), PERP_STATUS_OK);
}

void add_joint(perp_scene *s, perp_joint joint)
{
    assert_int_equal(perp_scene_add_joint(s, &joint, NULL), PERP_STATUS_OK);
}

void add_loop(perp_scene *s, perp_loop loop)
{
    assert_int_equal(perp_scene_add_loop(s, &loop, NULL), PERP_STATUS_OK);
}

void add_force(perp_scene *s, perp_force force)
{
    assert_int_equal(perp_scene_add_force(s, &force, NULL), PERP_STATUS_OK);
}

void add_pair(perp_scene *s, perp_pair pair)
{
    assert_int_equal(perp_scene_add_pair(s, &pair, NULL), PERP_STATUS_OK);
}

perp_shape shape_of(perp_shape_kind kind)
{
    static const perp_vec3 corners[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const perp_shape shape = {.kind = kind,
                              .pose = perp_placement_default(),
                              .radius = 0.1,
                              .length = 0.2,
                              .size = {0.1, 0.2, 0.3},
                              .normal = {0, 1, 0},
                              .point_count = kind == PERP_SHAPE_MESH      ? 4
                                             : kind == PERP_SHAPE_POLYGON ? 3
                                                                          : 0,
                              .points = corners,
                              .scale = 1.0};
    return shape;
}

perp_body sound_body(const perp_scene *s, const char *name)
{
    perp_body body = perp_body_default(name);
    body.mass = perp_set(1.0);
    body.inertia_count = s->planar ? 1 : 3;
    body.inertia[0] = body.inertia[1] = body.inertia[2] = 0.1;
    return body;
}

perp_body fixed_body(const char *name)
{
    perp_body body = perp_body_default(name);
    body.kind = PERP_BODY_FIXED;
    return body;
}

void add_shape(perp_scene *s, perp_shape shape)
{
    perp_body body = sound_body(s, "cup");
    body.shapes = &shape;
    body.shape_count = 1;
    add_body(s, body);
}

perp_joint hinge_of(perp_joint_kind kind)
{
    perp_joint joint = perp_joint_default("hinge", kind);
    joint.child = "arm";
    joint.axis_set = kind != PERP_JOINT_BALL && kind != PERP_JOINT_FIXED;
    joint.axis = joint.axis_set ? perp_vec3_make(0, 0, 1) : perp_vec3_make(0, 0, 0);
    joint.pitch = kind == PERP_JOINT_SCREW ? 0.1 : 0.0;
    return joint;
}

void add_hinge(perp_scene *s, perp_joint joint)
{
    add_body(s, perp_body_default("arm"));
    add_joint(s, joint);
}

void add_two(perp_scene *s)
{
    add_body(s, sound_body(s, "cup"));
    add_body(s, sound_body(s, "pot"));
}

perp_pair pair_of(const char *a, const char *b)
{
    const perp_pair pair = {.a = a, .b = b};
    return pair;
}

/* ---- rules ------------------------------------------------------------------------------------------------------- */

static void print_complaints(const rule *r, const char *what)
{
    print_error("rule %s (%s):\n", r->path ? r->path : r->words, what);
    for (int i = 0; i < diagnostics.count; i++) {
        print_error("    %s: %s\n", diagnostics.items[i].path, diagnostics.items[i].message);
    }
}

/* True if the broken scene gets its one complaint, every time it is checked, and the sound one none. */
static bool rule_holds(const rule *r, bool planar)
{
    perp_scene *scene = new_scene(planar);
    r->build(scene, true);
    for (int again = 0; again < 2; again++) {
        const perp_status status = validate(scene);
        const perp_diagnostic *item = &diagnostics.items[0];
        if (status != PERP_STATUS_BAD_INPUT || scene->validated || diagnostics.errors != 1 ||
            diagnostics.warnings != 0 || item->severity != PERP_SEVERITY_ERROR ||
            (r->path && strcmp(item->path, r->path) != 0) || !strstr(item->message, r->words) || item->file[0] ||
            item->line != 0) {
            print_complaints(r, planar ? "broken, planar" : "broken, spatial");
            perp_scene_free(scene);
            return false;
        }
    }
    perp_scene_free(scene);
    scene = new_scene(planar);
    r->build(scene, false);
    bool sound = true;
    for (int again = 0; again < 2 && sound; again++) {
        sound = validate(scene) == PERP_STATUS_OK && scene->validated && diagnostics.count == 0;
    }
    if (!sound) {
        print_complaints(r, planar ? "accepted, planar" : "accepted, spatial");
    }
    perp_scene_free(scene);
    return sound;
}

int broken_rules(const rule *rules, int count)
{
    int broken = 0;
    for (int i = 0; i < count; i++) {
        for (int planar = 0; planar < 2; planar++) {
            if (rules[i].where & (planar ? PLANAR : SPATIAL)) {
                broken += !rule_holds(&rules[i], planar);
            }
        }
    }
    return broken;
}
