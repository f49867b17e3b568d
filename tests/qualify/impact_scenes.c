#include "impact_scenes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void put(impact *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(impact *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    s->length += vsnprintf(s->text + s->length, (size_t)(IMPACT_TEXT - s->length), format, arguments);
    va_end(arguments);
}

int impact_pick(perp_random *random, int count)
{
    return (int)(perp_random_bits(random) % (uint64_t)count);
}

static void put_shape(impact *s, perp_random *random)
{
    const double a = perp_random_uniform(random, 0.02, 0.08), b = perp_random_uniform(random, 0.02, 0.12);
    const int kind = impact_pick(random, s->planar ? 4 : 5);
    static const char *const planar[] = {"disc: %.6f", "box: [%.6f, %.6f]", "capsule: {radius: %.6f, length: %.6f}",
                                         "polygon: [[%.6f, 0], [0, %.6f], [-0.03, -0.02]]"};
    static const char *const spatial[] = {"sphere: %.6f", "box: [%.6f, %.6f, 0.05]",
                                          "capsule: {radius: %.6f, length: %.6f}",
                                          "cylinder: {radius: %.6f, length: %.6f}", "ellipsoid: [%.6f, %.6f, 0.04]"};
    char shape[120];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(shape, sizeof shape, s->planar ? planar[kind] : spatial[kind], a, b);
#pragma GCC diagnostic pop
    put(s, "    shapes: [{%s}]\n", shape);
}

static void put_free_body(impact *s, perp_random *random, int i)
{
    const double x = perp_random_uniform(random, -0.2, 0.2), y = perp_random_uniform(random, -0.2, 0.2);
    const double z = perp_random_uniform(random, 0.03, 0.3);
    double v[6];
    for (int k = 0; k < 6; k++) {
        v[k] = k < 3 ? perp_random_uniform(random, -3.0, 3.0) : perp_random_uniform(random, -15.0, 15.0);
    }
    snprintf(s->names[s->bodies], sizeof *s->names, "b%d", i);
    put(s, "  %s:\n    mass: %.6f\n", s->names[s->bodies++], perp_random_uniform(random, 0.1, 3.0));
    if (s->planar) {
        put(s, "    pose: {position: [%.6f, %.6f], angle: %.6f}\n", x, z, perp_random_uniform(random, -3.0, 3.0));
        put(s, "    velocity: {linear: [%.6f, %.6f], angular: %.6f}\n", v[0], v[1] - 2.0, v[5]);
    } else {
        put(s, "    pose: {position: [%.6f, %.6f, %.6f], rpy: [%.6f, %.6f, 0.3]}\n", x, y, z,
            perp_random_uniform(random, -3.0, 3.0), perp_random_uniform(random, -1.5, 1.5));
        put(s, "    velocity: {linear: [%.6f, %.6f, %.6f], angular: [%.6f, %.6f, %.6f]}\n", v[0], v[1], v[2] - 2.0,
            v[3], v[4], v[5]);
    }
    put_shape(s, random);
}

/* Every third body or so carries another one on a hinge. */
static void put_children(impact *s, perp_random *random, int free_bodies)
{
    char joints[1500];
    int length = 0;
    joints[0] = '\0';
    for (int i = 0; i < free_bodies; i++) {
        if (impact_pick(random, 3) != 0) {
            continue;
        }
        snprintf(s->names[s->bodies], sizeof *s->names, "c%d", i);
        put(s, "  %s:\n    mass: 0.4\n", s->names[s->bodies++]);
        put_shape(s, random);
        length += snprintf(
            joints + length, sizeof joints - (size_t)length,
            "  j%d: {type: revolute, parent: b%d, child: c%d, anchor: [0.1, 0.05%s], velocity: %.6f%s}\n", i, i, i,
            s->planar ? "" : ", 0", perp_random_uniform(random, -9.0, 9.0), s->planar ? "" : ", axis: [0.2, 1, 0.4]");
    }
    if (length > 0) {
        put(s, "joints:\n%s", joints);
    }
}

void impact_draw(impact *s, perp_random *random)
{
    *s = (impact){.planar = impact_pick(random, 3) == 0, .h = pow(10.0, perp_random_uniform(random, -3.0, -1.5))};
    const int count = 1 + impact_pick(random, IMPACT_BODIES - 1);
    put(s, "perp: 1\nplanar: %s\n", s->planar ? "true" : "false");
    put(s, "bodies:\n  floor: {fixed: true, shapes: [{%s}]}\n",
        s->planar ? "halfplane: {normal: [0.1, 1], offset: 0}" : "plane: {normal: [0, 0.1, 1], offset: 0}");
    snprintf(s->names[s->bodies++], sizeof *s->names, "floor");
    for (int i = 0; i < count; i++) {
        put_free_body(s, random, i);
    }
    put_children(s, random, count);
    put(s, "contacts:\n  friction: %.6f\n", impact_pick(random, 8) == 0 ? 0.0 : perp_random_uniform(random, 0.0, 1.2));
}

double impact_energy(const perp_model *model, const double *q, const double *v)
{
    perp_kinematics *kinematics = NULL;
    double *mass = calloc((size_t)model->mass_size + 1, sizeof *mass), energy = 0.0;
    if (mass && perp_kinematics_create(model, NULL, &kinematics, NULL) == PERP_STATUS_OK) {
        perp_kinematics_update(model, q, kinematics);
        perp_mass_matrix(model, kinematics, mass);
    }
    for (int k = 0; k < model->tree_count && mass; k++) {
        const perp_tree *tree = &model->trees[k];
        for (int i = 0; i < tree->v_count * tree->v_count; i++) {
            energy += 0.5 * mass[tree->mass_start + i] * v[tree->v_start + i / tree->v_count] *
                      v[tree->v_start + i % tree->v_count];
        }
    }
    perp_kinematics_free(kinematics);
    free(mass);
    return energy;
}
