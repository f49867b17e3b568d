/* What quasistatic_scenes.c makes, as a scene file: numbers with 17 digits, so that it is the same scene. */
#include "quasistatic_scenes.h"

#include <math.h>

static void put_vector(FILE *out, bool planar, perp_vec3 v)
{
    fprintf(out, "[%.17g, %.17g", v.x, v.y);
    planar ? fprintf(out, "]") : fprintf(out, ", %.17g]", v.z);
}

static void put_drive(FILE *out, const perp_drive *drive)
{
    if (drive->knot_count == 0) {
        fprintf(out, "{offset: %.17g, rate: %.17g}", drive->offset, drive->rate);
        return;
    }
    const double *const lists[2] = {drive->times, drive->values};
    for (int k = 0; k < 2; k++) {
        fprintf(out, k == 0 ? "{times: [" : "], values: [");
        for (int i = 0; i < drive->knot_count; i++) {
            fprintf(out, "%s%.17g", i ? ", " : "", lists[k][i]);
        }
    }
    fprintf(out, "]}");
}

static void put_shape(FILE *out, bool planar, const perp_shape *s)
{
    fprintf(out, "{%s: ", perp_shape_kind_name(s->kind));
    switch (s->kind) {
    case PERP_SHAPE_BOX:
        put_vector(out, planar, s->size);
        break;
    case PERP_SHAPE_CYLINDER:
        fprintf(out, "{radius: %.17g, length: %.17g}", s->radius, s->length);
        break;
    case PERP_SHAPE_PLANE:
    case PERP_SHAPE_HALFPLANE:
        fprintf(out, "{normal: ");
        put_vector(out, planar, s->normal);
        fprintf(out, ", offset: %.17g}", s->offset);
        break;
    default:
        fprintf(out, "%.17g", s->radius);
    }
    fprintf(out, ", pose: {position: ");
    put_vector(out, planar, s->pose.pose.position);
    fprintf(out, "}}");
}

static void put_drives(FILE *out, const perp_body *b)
{
    static const char *const names[6] = {"x", "y", "z", "rx", "ry", "rz"};
    const char *between = "";
    fprintf(out, "driven: {");
    for (int i = 0; i < 6; i++) {
        if (b->driven_mask & (1u << i)) {
            fprintf(out, "%s%s: ", between, names[i]);
            put_drive(out, &b->drives[i]);
            between = ", ";
        }
    }
    fprintf(out, "}, ");
}

static void put_body(FILE *out, bool planar, const perp_body *b)
{
    fprintf(out, "  %s: {", b->name);
    if (b->kind == PERP_BODY_FIXED) {
        fprintf(out, "fixed: true, ");
    } else if (b->kind == PERP_BODY_DRIVEN) {
        put_drives(out, b);
    }
    if (b->mass.set) {
        fprintf(out, "mass: %.17g, ", b->mass.value);
    }
    if (b->com_set) {
        fprintf(out, "com: ");
        put_vector(out, planar, b->com);
        fprintf(out, ", ");
    }
    if (b->pose_set) {
        fprintf(out, "pose: {position: ");
        put_vector(out, planar, b->pose.pose.position);
        fprintf(out, "}, ");
    }
    fprintf(out, "shapes: [");
    for (int i = 0; i < b->shape_count; i++) {
        fprintf(out, i ? ", " : "");
        put_shape(out, planar, &b->shapes[i]);
    }
    fprintf(out, "]}\n");
}

static void put_joint(FILE *out, bool planar, const perp_joint *j)
{
    static const char *const controls[] = {"none", "position", "impedance"};
    fprintf(out, "  %s: {type: %s, parent: %s, child: %s, anchor: ", j->name, perp_joint_kind_name(j->kind),
            j->parent ? j->parent : "world", j->child);
    put_vector(out, planar, j->anchor);
    if (j->axis_set) {
        fprintf(out, ", axis: ");
        put_vector(out, planar && j->kind == PERP_JOINT_PRISMATIC, j->axis);
    }
    if (j->limits_set) {
        fprintf(out, ", limits: [%.17g, %.17g]", j->limits[0], j->limits[1]);
    }
    if (j->control != PERP_CONTROL_NONE) {
        fprintf(out, ", position: %.17g, control: %s, stiffness: %.17g, damping: %.17g, command: ", j->position[0],
                controls[j->control], j->stiffness, j->damping);
        put_drive(out, &j->command);
    }
    fprintf(out, "}\n");
}

static void put_ties(const perp_scene *scene, FILE *out)
{
    const bool planar = scene->planar;
    for (int i = 0; i < scene->loop_count; i++) {
        const perp_loop *l = &scene->loops[i];
        fprintf(out, "%s  %s: {type: %s, a: %s, b: %s, anchor_a: ", i ? "" : "loops:\n", l->name,
                l->kind == PERP_LOOP_WELD ? "weld" : "point", l->a, l->b);
        put_vector(out, planar, l->anchor_a);
        fprintf(out, ", anchor_b: ");
        put_vector(out, planar, l->anchor_b);
        fprintf(out, "}\n");
    }
    for (int i = 0; i < scene->force_count; i++) {
        fprintf(out, "%s  - {body: %s, point: %s, force: [", i ? "" : "forces:\n", scene->forces[i].body,
                planar ? "[0, 0]" : "[0, 0, 0]");
        for (int k = 0; k < (planar ? 2 : 3); k++) {
            fprintf(out, k ? ", " : "");
            put_drive(out, &scene->forces[i].force[k]);
        }
        fprintf(out, "]}\n");
    }
}

static void put_compliance(const perp_compliance *c, FILE *out)
{
    fprintf(out,
            "compliance: {stiffness: %.17g, damping: %.17g, elements: %d, size: %.17g, law: %s, tangential: %s, "
            "gamma: %.17g, stiffness_scale: %.17g}\n",
            c->stiffness.values[0], c->damping.values[0], c->elements, c->size,
            c->law == PERP_LAW_HUNT_CROSSLEY ? "hunt-crossley" : "kelvin-voigt",
            c->tangential_rigid ? "rigid" : "compliant", c->gamma, c->stiffness_scale);
}

void scene_as_yaml(const perp_scene *scene, FILE *out)
{
    const bool planar = scene->planar;
    fprintf(out, "perp: 1\nplanar: %s\ngravity: ", planar ? "true" : "false");
    put_vector(out, planar, scene->gravity);
    fprintf(out, "\nbodies:\n");
    for (int i = 0; i < scene->body_count; i++) {
        put_body(out, planar, &scene->bodies[i]);
    }
    for (int i = 0; i < scene->joint_count; i++) {
        fprintf(out, i ? "" : "joints:\n");
        put_joint(out, planar, &scene->joints[i]);
    }
    put_ties(scene, out);
    put_compliance(&scene->compliance, out);
    fprintf(out, "contacts: {friction: %.17g, margin: %.17g}\nrun: {model: qs-qp, h: %.17g, steps: %d", scene->friction,
            scene->margin, scene->run.h, scene->run.steps);
    if (isfinite(scene->run.substep_tolerance)) {
        fprintf(out, ", substep_tolerance: %.17g", scene->run.substep_tolerance);
    }
    fputs("}\n", out);
}
