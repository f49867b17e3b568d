#include "certificate_scenes.h"

#include "sweep.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(certificate_scene *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(certificate_scene *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    s->length += vsnprintf(s->text + s->length, (size_t)(CERTIFICATE_TEXT - s->length), format, arguments);
    va_end(arguments);
    if (s->length >= CERTIFICATE_TEXT) {
        fprintf(stderr, "certificate_scenes: a text is too long\n");
        exit(2);
    }
}

static double between(certificate_scene *s, double low, double high)
{
    return perp_random_uniform(&s->random, low, high);
}

static int pick(certificate_scene *s, int count)
{
    return (int)(perp_random_bits(&s->random) % (uint64_t)count);
}

static bool chance(certificate_scene *s, double of)
{
    return between(s, 0.0, 1.0) < of;
}

/* Round numbers make ties, others do not; both are asked for. */
static double friction(certificate_scene *s)
{
    static const double round[] = {0.0, 0.3, 0.5, 1.0};
    return chance(s, 0.4) ? round[pick(s, 4)] : between(s, 0.0, 1.2);
}

static double gap(certificate_scene *s)
{
    return chance(s, 0.6) ? 0.0 : between(s, 0.0, 2e-3);
}

static double speed(certificate_scene *s)
{
    return chance(s, 0.3) ? 0.0 : between(s, -0.3, 0.3);
}

static const char *gravity(certificate_scene *s)
{
    static char text[80];
    const double x = chance(s, 0.5) ? 0.0 : between(s, -6.0, 6.0), y = chance(s, 0.5) ? 0.0 : between(s, -6.0, 6.0);
    if (s->planar) {
        snprintf(text, sizeof text, "[%.5f, -9.81]", x);
    } else {
        snprintf(text, sizeof text, "[%.5f, %.5f, -9.81]", x, y);
    }
    return text;
}

static void put_head(certificate_scene *s)
{
    put(s, "perp: 1\nplanar: %s\ngravity: %s\nbodies:\n", s->planar ? "true" : "false", gravity(s));
}

/* A half plane or plane whose surface is `away` m from a place, driven or not. */
static void put_wall(certificate_scene *s, const char *name, const double normal[3], const double place[3], double away)
{
    const double offset = normal[0] * place[0] + normal[1] * place[1] + (s->planar ? 0.0 : normal[2] * place[2]) - away;
    if (chance(s, 0.5)) {
        put(s, "  %s: {fixed: true, ", name);
    } else {
        put(s, "  %s: {driven: {x: {rate: %.5f}, y: {rate: %.5f}}, ", name, speed(s), speed(s));
    }
    if (s->planar) {
        put(s, "shapes: [{halfplane: {normal: [%.17g, %.17g], offset: %.17g}, friction: %.5f}]}\n", normal[0],
            normal[1], offset, friction(s));
    } else {
        put(s, "shapes: [{plane: {normal: [%.17g, %.17g, %.17g], offset: %.17g}, friction: %.5f}]}\n", normal[0],
            normal[1], normal[2], offset, friction(s));
    }
}

static void put_floor(certificate_scene *s)
{
    put(s,
        s->planar ? "  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}, friction: %.5f}]}\n"
                  : "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}, friction: %.5f}]}\n",
        friction(s));
}

static void put_velocity(certificate_scene *s)
{
    if (chance(s, 0.5)) {
        return;
    }
    if (s->planar) {
        put(s, "velocity: {linear: [%.5f, 0], angular: %.5f}, ", speed(s), speed(s));
    } else {
        put(s, "velocity: {linear: [%.5f, %.5f, 0]}, ", speed(s), speed(s));
    }
}

/* ---- families ---------------------------------------------------------------------------------------------------- */

/* A particle on a floor, a fence that pushes, a wall: Trinkle's, in any directions. */
static void put_particle(certificate_scene *s)
{
    static const double origin[3] = {0.0, 0.0, 0.0};
    s->planar = false;
    put_head(s);
    put_floor(s);
    const int walls = 1 + pick(s, 3);
    for (int i = 0; i < walls; i++) {
        const double angle = chance(s, 0.4) ? 1.5707963267948966 * pick(s, 4) : between(s, 0.0, 6.283);
        const double tilt = chance(s, 0.7) ? 0.0 : between(s, -0.4, 0.4);
        const double normal[3] = {cos(tilt) * cos(angle), cos(tilt) * sin(angle), sin(tilt)};
        char name[16];
        snprintf(name, sizeof name, "wall%d", i);
        put_wall(s, name, normal, origin, gap(s));
    }
    put(s, "  particle: {mass: %.4f, free: [x, y, z], ", between(s, 0.2, 3.0));
    put_velocity(s);
    put(s, "shapes: [{point: {}, friction: 1}]}\n");
    put(s, "contacts: {margin: 1, exclude: [");
    for (int a = 0; a < walls; a++) {
        put(s, "%s[floor, wall%d]", a > 0 ? ", " : "", a);
        for (int b = 0; b < a; b++) {
            put(s, ", [wall%d, wall%d]", b, a);
        }
    }
    put(s, "]");
    if (chance(s, 0.4)) {
        put(s, ", pairs: {\"wall0 particle\": {friction: %.5f, friction_directions: [[0, %d, %d]]}}", friction(s),
            pick(s, 2), 1);
    }
    put(s, "}\n");
}

/* Discs and boxes on a floor between walls, one on the other; a disc may be wedged under leaning walls. */
static void put_planar(certificate_scene *s)
{
    s->planar = true;
    put_head(s);
    const bool round = chance(s, 0.5), wedged = round && chance(s, 0.4), second = !wedged && chance(s, 0.4);
    const double r = 0.1, low[3] = {0.0, round ? r : 0.05, 0.0};
    if (!wedged || chance(s, 0.3)) {
        put_floor(s);
    }
    for (int side = -1; side <= 1; side += 2) {
        const double lean = wedged ? between(s, -0.3, 0.5) : second || chance(s, 0.7) ? 0.0 : between(s, 0.0, 0.4);
        const double normal[3] = {-side * cos(lean), -sin(lean), 0.0};
        if (wedged || chance(s, 0.6)) {
            put_wall(s, side < 0 ? "left" : "right", normal, low, (round ? r : r + 0.05 * sin(lean)) + gap(s));
        }
    }
    put(s, "  low: {mass: %.4f, pose: {position: [%.17g, %.17g]}, ", between(s, 0.2, 3.0), low[0], low[1]);
    put_velocity(s);
    put(s, round ? "shapes: [{disc: 0.1, friction: 1}]}\n" : "shapes: [{box: [0.2, 0.1], friction: 1}]}\n");
    if (second) {
        put(s, "  top: {mass: %.4f, pose: {position: [%.5f, %.17g]}, ", between(s, 0.2, 3.0), between(s, -0.03, 0.03),
            (round ? 2.0 * r : 0.1) + 0.04 + gap(s));
        put_velocity(s);
        put(s,
            chance(s, 0.5) ? "shapes: [{disc: 0.04, friction: %.5f}]}\n"
                           : "shapes: [{box: [0.12, 0.08], friction: %.5f}]}\n",
            friction(s));
    }
    put(s, "contacts: {margin: 1, exclude: [[left, right], [floor, left], [floor, right]]}\n");
}

/* Begins at `from`; a spring may be stretched already. */
static void put_drive(certificate_scene *s, bool spring, double from, double most)
{
    put(s, "{offset: %.17g, rate: %.5f}", from + (!spring || chance(s, 0.4) ? 0.0 : between(s, -1e-3, 1e-3)),
        between(s, -most, most));
}

/* Two fingers on a palm, on springs or commanded, around a disc or ball that lies or hangs. */
static void put_gripper(certificate_scene *s)
{
    static const char *const controls[] = {"position", "impedance"};
    int control = pick(s, 2);
    s->planar = chance(s, 0.6);
    put_head(s);
    if (chance(s, 0.7)) {
        put_floor(s);
    }
    const char *up = s->planar ? "[0, 1]" : "[0, 0, 1]", *across = s->planar ? "[1, 0]" : "[1, 0, 0]";
    put(s, "  palm: {mass: 0.3}\n");
    for (int side = -1; side <= 1; side += 2) {
        put(s,
            s->planar
                ? "  %s: {mass: 0.1, shapes: [{box: [0.02, 0.1], pose: {position: [%.2f, 0.1]}, friction: %.5f}]}\n"
                : "  %s: {mass: 0.1, shapes: [{plane: {normal: [%.2f, 0, 0], offset: 0}, friction: %.5f}]}\n",
            side < 0 ? "left" : "right", s->planar ? 0.01 * side : -1.0 * side, friction(s));
    }
    put(s,
        s->planar ? "  object: {mass: %.4f, pose: {position: [0, 0.1]}, shapes: [{disc: 0.1, friction: 1}]}\n"
                  : "  object: {mass: %.4f, pose: {position: [0, 0, 0.1]}, shapes: [{sphere: 0.1, friction: 1}]}\n",
        between(s, 0.2, 2.0));
    put(s,
        "joints:\n  lift: {type: prismatic, parent: world, child: palm, axis: %s, control: %s, stiffness: 1000, "
        "damping: %.3f, command: ",
        up, controls[control], chance(s, 0.5) ? 0.0 : between(s, 0.0, 20.0));
    put_drive(s, false, 0.0, 0.3);
    put(s, "}\n");
    for (int side = -1; side <= 1; side += 2) {
        const double at = side * (0.1 + gap(s));
        control = pick(s, 2);
        put(s,
            "  %s: {type: prismatic, parent: palm, child: %s, axis: %s, position: %.17g, control: %s, stiffness: "
            "%.1f, command: ",
            side < 0 ? "close_left" : "close_right", side < 0 ? "left" : "right", across, at, controls[control],
            between(s, 100.0, 3000.0));
        put_drive(s, false, at, 0.2);
        if (chance(s, 0.3)) {
            put(s, ", limits: [%.17g, %.17g]", at - (chance(s, 0.5) ? 0.0 : 0.01), at + (chance(s, 0.5) ? 0.0 : 0.01));
        }
        put(s, "}\n");
    }
    put(s, "contacts: {margin: 1, exclude: [[left, right], [floor, left], [floor, right]]}\n");
}

/* A disc on the floor under a flap or a slide that may be at its limits, with another slide beside it. */
static void put_joints(certificate_scene *s)
{
    s->planar = true;
    put_head(s);
    put_floor(s);
    const bool flap = chance(s, 0.5), beside = chance(s, 0.6);
    const double above = gap(s), aside = gap(s);
    put(s, "  disc: {mass: %.4f, pose: {position: [0, 0.1]}, shapes: [{disc: 0.1, friction: 1}]}\n",
        between(s, 0.2, 2.0));
    put(s,
        flap ? "  press: {mass: %.4f, inertia: 0.02, com: [0.4, 0], shapes: [{box: [0.8, 0.04], pose: {position: "
               "[0.4, 0]}, friction: %.5f}]}\n"
             : "  press: {mass: %.4f, inertia: 0.02, shapes: [{box: [0.3, 0.04], friction: %.5f}]}\n",
        between(s, 0.1, 1.0), friction(s));
    if (beside) {
        put(s, "  ram: {mass: 0.2, inertia: 0.01, shapes: [{box: [0.04, 0.1], friction: %.5f}]}\n", friction(s));
    }
    put(s,
        flap ? "joints:\n  hinge: {type: revolute, parent: world, child: press, anchor: [-0.4, %.17g]"
             : "joints:\n  hinge: {type: prismatic, parent: world, child: press, anchor: [0, %.17g], axis: [0, 1]",
        0.22 + above);
    static const char *const controls[] = {"none", "position", "impedance"};
    put(s, ", control: %s", controls[pick(s, 3)]);
    put(s, ", stiffness: 300, command: {rate: %.5f}", between(s, -0.3, 0.2));
    if (chance(s, 0.6)) {
        put(s, ", limits: [%.6f, %.6f]", chance(s, 0.5) ? 0.0 : -0.05, chance(s, 0.3) ? 0.0 : 0.05);
    }
    put(s, "}\n");
    if (beside) {
        put(s,
            "  slide: {type: prismatic, parent: world, child: ram, anchor: [%.17g, 0.1], axis: [1, 0], control: %s, "
            "stiffness: 500, command: {rate: %.5f}}\n",
            -0.12 - aside, controls[pick(s, 3)], between(s, -0.2, 0.3));
    }
    put(s, "contacts: {margin: 1, exclude: [[floor, press], [floor, ram], [press, ram]]}\n");
}

/* Two boxes or a box and a disc on a floor, tied by a pin or welded, pushed from the side. */
static void put_loops(certificate_scene *s)
{
    static const double place[3] = {-0.3, 0.05, 0.0}, push[3] = {1.0, 0.0, 0.0};
    const bool round = chance(s, 0.5);
    s->planar = true;
    put_head(s);
    put_floor(s);
    if (chance(s, 0.7)) {
        put_wall(s, "pusher", push, place, gap(s));
    }
    put(s, "  a: {mass: %.4f, pose: {position: [-0.2, 0.05]}, ", between(s, 0.2, 2.0));
    put_velocity(s);
    put(s, "shapes: [{box: [0.2, 0.1], friction: %.5f}]}\n", friction(s));
    put(s,
        round ? "  b: {mass: %.4f, pose: {position: [0.15, 0.05]}, shapes: [{disc: 0.05, friction: %.5f}]}\n"
              : "  b: {mass: %.4f, pose: {position: [0.15, 0.05]}, shapes: [{box: [0.16, 0.1], friction: %.5f}]}\n",
        between(s, 0.2, 2.0), friction(s));
    put(s, "loops:\n  tie: {type: %s, a: a, b: b, anchor_a: [0.2, 0], anchor_b: [-0.15, 0]}\n",
        chance(s, 0.7) ? "point" : "weld");
    put(s, "contacts: {margin: 1, exclude: [[floor, pusher]]}\n");
}

/* A ball, a tripod or a box on a floor, pushed and held. */
static void put_spatial(certificate_scene *s)
{
    static const double along[3] = {1.0, 0.0, 0.0};
    const int kind = pick(s, 3);
    const double place[3] = {-0.1, 0.0, 0.1};
    s->planar = false;
    put_head(s);
    put_floor(s);
    if (kind != 1 && chance(s, 0.7)) {
        put_wall(s, "pusher", along, place, gap(s));
    }
    put(s, "  body: {mass: %.4f, pose: {position: [0, 0, %s]}, ", between(s, 0.2, 2.0), kind == 2 ? "0.05" : "0.1");
    put_velocity(s);
    if (kind == 0) {
        put(s, "shapes: [{sphere: 0.1, friction: 1}]}\n");
    } else if (kind == 1) {
        put(s, "inertia: [0.01, 0.02, 0.015], shapes: [");
        for (int i = 0; i < 3; i++) {
            put(s, "%s{point: {}, friction: 1, pose: {position: [%.5f, %.5f, -0.1]}}", i > 0 ? ", " : "",
                between(s, 0.05, 0.15) * cos(2.0943951 * i), between(s, 0.05, 0.15) * sin(2.0943951 * i));
        }
        put(s, "]}\n");
    } else {
        put(s, "shapes: [{box: [0.2, 0.16, 0.1], friction: 1}]}\n");
    }
    if (chance(s, 0.5)) {
        put(s, "forces: [{body: body, point: [0, 0, 0], force: [%.4f, %.4f, 0], torque: [0, 0, %.4f]}]\n",
            between(s, -6.0, 6.0), between(s, -6.0, 6.0), chance(s, 0.5) ? 0.0 : between(s, -0.3, 0.3));
    }
    put(s, "contacts: {margin: 1, exclude: [[floor, pusher]]}\n");
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void put_run(certificate_scene *s)
{
    static const char *const rungs[] = {"qs-lcp",
                                        "qs-ncp",
                                        "qs-ncp, cone: box",
                                        "qs-opt",
                                        "qs-lp",
                                        "qs-impedance-lcp",
                                        "qs-qp",
                                        "qs-qp, cone: quadratic",
                                        "qs-cone",
                                        "quasidynamic",
                                        "quasidynamic, cone: rays",
                                        "dyn-lcp",
                                        "dyn-ncp",
                                        "dyn-ncp, cone: box",
                                        "dyn-qp",
                                        "instant-qs"};
    const int rung = pick(s, (int)(sizeof rungs / sizeof *rungs));
    put(s, "run: {model: %s, rays: %d, h: %s, steps: 10}\n", rungs[rung], 4 + 2 * pick(s, 3),
        chance(s, 0.5) ? "0.01" : "0.002");
    s->steps = strcmp(rungs[rung], "instant-qs") == 0 || chance(s, 0.5) ? 0 : 1 + pick(s, 3);
}

/* Names that a pair or `exclude` speaks of and that were not drawn are an error of the scene: they are fixed points far
 * away instead. */
static void put_missing(certificate_scene *s)
{
    static const char *const names[] = {"left", "right", "floor", "pusher", "ram"};
    char *tail = strstr(s->text, "contacts: {margin");
    char rest[CERTIFICATE_TEXT], missing[400] = "";
    for (size_t i = 0; tail && i < sizeof names / sizeof *names; i++) {
        char as_body[32];
        snprintf(as_body, sizeof as_body, "\n  %s: {", names[i]);
        if (strstr(tail, names[i]) && !strstr(s->text, as_body)) {
            const size_t at = strlen(missing);
            snprintf(missing + at, sizeof missing - at, "  %s: {fixed: true}\n", names[i]);
        }
    }
    char *head = strstr(s->text, "bodies:\n") + strlen("bodies:\n");
    snprintf(rest, sizeof rest, "%s", head);
    s->length = (int)(head - s->text);
    put(s, "%s%s", missing, rest);
}

void certificate_scene_draw(uint64_t seed, int index, certificate_scene *s)
{
    static void (*const families[])(certificate_scene *) = {put_particle, put_planar, put_gripper,
                                                            put_joints,   put_loops,  put_spatial};
    *s = (certificate_scene){.random = {sweep_mix(seed, index)}};
    families[index % 6](s);
    put_missing(s);
    put_run(s);
}
