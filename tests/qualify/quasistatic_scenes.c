#include "quasistatic_scenes.h"

#include "quasistatic_packing.h"
#include "sweep.h"

#include <perp/contact.h>

#include <stdlib.h>
#include <string.h>

static const double G = 9.81;
enum { SMALL = 60 }; /* so many scenes come first that have few objects: a sample is quick */

typedef struct maker {
    perp_random random;
    perp_scene *scene;
    bool planar;
    double h;
    int count; /* of bodies, for their names */
    int most;  /* objects of one kind */
} maker;

static void die(const char *what)
{
    fprintf(stderr, "quasistatic_scenes: %s\n", what);
    exit(2);
}

/* ---- chances ----------------------------------------------------------------------------------------------------- */

static double between(maker *m, double low, double high)
{
    return perp_random_uniform(&m->random, low, high);
}

static bool chance(maker *m, double probability)
{
    return between(m, 0.0, 1.0) < probability;
}

static int pick(maker *m, int low, int high)
{
    return low + (int)(perp_random_bits(&m->random) % (uint64_t)(high - low + 1));
}

/* A number of objects. */
static int some(maker *m, int low, int high)
{
    return pick(m, low, high < m->most ? high : m->most);
}

static double spread(maker *m, double low, double high) /* evenly in its logarithm */
{
    return low * exp(between(m, 0.0, log(high / low)));
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

/* Across, deep, up: in the plane (across, up). */
static perp_vec3 at(const maker *m, double across, double deep, double up)
{
    return m->planar ? perp_vec3_make(across, up, 0.0) : perp_vec3_make(across, deep, up);
}

static perp_shape shape_of(perp_shape_kind kind)
{
    return (perp_shape){.kind = kind, .pose = perp_placement_default()};
}

static perp_shape ball_shape(const maker *m, double radius)
{
    perp_shape shape = shape_of(m->planar ? PERP_SHAPE_DISC : PERP_SHAPE_SPHERE);
    shape.radius = radius;
    return shape;
}

static perp_shape box_shape(const maker *m, double across, double deep, double up)
{
    perp_shape shape = shape_of(PERP_SHAPE_BOX);
    shape.size = m->planar ? perp_vec3_make(across, up, 0.0) : perp_vec3_make(across, deep, up);
    return shape;
}

static void add(maker *m, const perp_body *body)
{
    if (perp_scene_add_body(m->scene, body, NULL) != PERP_STATUS_OK) {
        die("a body was refused");
    }
    m->count++;
}

static const char *name_of(int number, char text[32])
{
    snprintf(text, 32, "b%d", number);
    return text;
}

/* Returns the body's number. */
static int add_object(maker *m, const perp_shape *shape, perp_vec3 position, double mass)
{
    char name[32];
    perp_body body = perp_body_default(name_of(m->count, name));
    body.mass = perp_set(mass);
    body.shapes = shape;
    body.shape_count = 1;
    body.pose_set = true;
    body.pose.pose.position = position;
    add(m, &body);
    return m->count - 1;
}

static void add_planes(maker *m, const packing_plane *planes, int count)
{
    char name[32];
    perp_shape shapes[PACKING_PLANES];
    perp_body body = perp_body_default(name_of(m->count, name));
    body.kind = PERP_BODY_FIXED;
    for (int i = 0; i < count; i++) {
        shapes[i] = shape_of(m->planar ? PERP_SHAPE_HALFPLANE : PERP_SHAPE_PLANE);
        shapes[i].normal = planes[i].normal;
        shapes[i].offset = planes[i].offset;
    }
    body.shapes = shapes;
    body.shape_count = count;
    add(m, &body);
}

static void add_floor(maker *m)
{
    const packing_plane floor = {at(m, 0, 0, 1), 0.0};
    add_planes(m, &floor, 1);
}

static void add_joint(maker *m, const perp_joint *joint)
{
    if (perp_scene_add_joint(m->scene, joint, NULL) != PERP_STATUS_OK) {
        die("a joint was refused");
    }
}

/* ---- who moves --------------------------------------------------------------------------------------------------- */

/* A drive from its first to its last value between two shares of the run. */
typedef struct ramp {
    double times[2], values[2];
} ramp;

static ramp ramp_of(const maker *m, double from_share, double to_share, double first, double last)
{
    const double end = m->h * QUASISTATIC_STEPS;
    return (ramp){{from_share * end, to_share * end}, {first, last}};
}

static perp_drive drive_of(const ramp *r)
{
    return (perp_drive){.knot_count = 2, .times = r->times, .values = r->values};
}

static void command(maker *m, perp_joint *joint, bool springs, const ramp *r)
{
    joint->control = springs ? PERP_CONTROL_IMPEDANCE : PERP_CONTROL_POSITION;
    joint->stiffness = springs ? spread(m, 100.0, 1e4) : 0.0;
    joint->damping = springs && chance(m, 0.3) ? between(m, 0.0, 50.0) : 0.0;
    joint->command_set = true;
    joint->command = drive_of(r);
    joint->position_set = true;
    joint->position[0] = r->values[0];
}

static void add_driven_ball(maker *m, const perp_shape *shape, perp_vec3 start, perp_vec3 way)
{
    char name[32];
    perp_body body = perp_body_default(name_of(m->count, name));
    const double first[3] = {start.x, start.y, start.z}, move[3] = {way.x, way.y, way.z};
    ramp ramps[3];
    body.kind = PERP_BODY_DRIVEN;
    body.pose_set = true;
    body.pose.pose.position = start;
    body.shapes = shape;
    body.shape_count = 1;
    for (int i = 0; i < (m->planar ? 2 : 3); i++) {
        ramps[i] = ramp_of(m, 0.0, 1.0, first[i], first[i] + move[i]);
        body.drives[i] = drive_of(&ramps[i]);
        body.driven_mask |= 1u << i;
    }
    add(m, &body);
}

/* A ball that starts `gap` before what it pushes (`surface` is its nearest point) and moves on along `direction`. */
static void add_pusher(maker *m, perp_vec3 surface, perp_vec3 direction)
{
    char name[32], joint_name[32];
    const double radius = between(m, 0.005, 0.02), gap = chance(m, 0.3) ? 0.0 : between(m, 0.0, 0.01);
    const double travel = between(m, 0.01, 0.15);
    const perp_vec3 start = perp_vec3_add_scaled(surface, -(radius + gap), direction);
    const perp_shape shape = ball_shape(m, radius);
    const int kind = pick(m, 0, 3); /* springs half of the time */
    if (kind == 0) {
        add_driven_ball(m, &shape, start, perp_vec3_scale(travel, direction));
        return;
    }
    perp_body body = perp_body_default(name_of(m->count, name));
    body.shapes = &shape;
    body.shape_count = 1;
    snprintf(joint_name, sizeof joint_name, "j%d", m->count);
    perp_joint joint = perp_joint_default(joint_name, PERP_JOINT_PRISMATIC);
    joint.child = body.name;
    joint.anchor = start;
    joint.axis_set = true;
    joint.axis = direction;
    const ramp r = ramp_of(m, 0.0, between(m, 0.5, 1.0), 0.0, travel);
    command(m, &joint, kind > 1, &r);
    add(m, &body);
    add_joint(m, &joint);
}

/* A force that a person leans with. */
static void add_force(maker *m, int body, double weight)
{
    char name[32];
    const double most = between(m, 0.0, 0.5) * weight;
    const ramp r = ramp_of(m, 0.0, 1.0, 0.0, chance(m, 0.5) ? most : -most);
    perp_force force = {.body = name_of(body, name)};
    force.force[0] = drive_of(&r);
    if (perp_scene_add_force(m->scene, &force, NULL) != PERP_STATUS_OK) {
        die("a force was refused");
    }
}

/* ---- grooves and bins -------------------------------------------------------------------------------------------- */

static int groove_planes(maker *m, packing_plane *planes)
{
    const double left = between(m, 0.3, 1.2), right = between(m, 0.3, 1.2); /* rad, from level */
    planes[0] = (packing_plane){at(m, sin(left), 0, cos(left)), 0.0};
    planes[1] = (packing_plane){at(m, -sin(right), 0, cos(right)), 0.0};
    if (m->planar) {
        return 2;
    }
    const double tilt = between(m, 0.3, 1.2); /* in space a third plane closes the groove's end, the fourth the other */
    planes[2] = (packing_plane){at(m, 0, sin(tilt), cos(tilt)), -0.1};
    planes[3] = (packing_plane){at(m, 0, -sin(tilt), cos(tilt)), -0.1};
    return 4;
}

static int bin_planes(maker *m, packing_plane *planes)
{
    const double half = between(m, 0.08, 0.25);
    int count = 0;
    planes[count++] = (packing_plane){at(m, 0, 0, 1), 0.0};
    planes[count++] = (packing_plane){at(m, 1, 0, 0), -half};
    planes[count++] = (packing_plane){at(m, -1, 0, 0), -half};
    if (!m->planar) {
        planes[count++] = (packing_plane){at(m, 0, 1, 0), -half};
        planes[count++] = (packing_plane){at(m, 0, -1, 0), -half};
    }
    return count;
}

static void make_packing(maker *m, bool groove)
{
    packing p = {.planar = m->planar};
    p.plane_count = groove ? groove_planes(m, p.planes) : bin_planes(m, p.planes);
    const int wanted = some(m, 1, m->planar ? 18 : 10);
    const double shrink = chance(m, 0.3) ? 1.0 - between(m, 0.0, 0.01) : 1.0; /* small gaps */
    for (int i = 0; i < wanted; i++) {
        packing_drop(&p, between(m, 0.02, 0.05));
    }
    add_planes(m, p.planes, p.plane_count);
    for (int i = 0; i < p.ball_count; i++) {
        const perp_shape shape = ball_shape(m, shrink * p.balls[i].radius);
        add_object(m, &shape, p.balls[i].centre, spread(m, 0.05, 5.0));
    }
    if (p.ball_count > 0 && chance(m, 0.8)) { /* from above, onto the highest */
        const packing_ball *top = &p.balls[packing_highest(&p)];
        const double lean = between(m, -0.7, 0.7);
        const perp_vec3 down = at(m, sin(lean), 0, -cos(lean));
        add_pusher(m, perp_vec3_add_scaled(top->centre, -shrink * top->radius, down), down);
    }
    if (p.ball_count > 0 && chance(m, 0.3)) {
        add_force(m, 1 + pick(m, 0, p.ball_count - 1), G * 0.3);
    }
}

/* ---- stacks and tables ------------------------------------------------------------------------------------------- */

static void make_stack(maker *m)
{
    const int boxes = some(m, 1, m->planar ? 15 : 8);
    const double width = between(m, 0.05, 0.15), gap = chance(m, 0.2) ? between(m, 0.0, 1e-3) : 0.0;
    double up = 0.0, side = 0.0, low_centre = 0.0;
    add_floor(m);
    for (int i = 0; i < boxes; i++) {
        const double height = between(m, 0.03, 0.1);
        /* all centres stay within half a tenth of the width of the lowest one's: those of all that is above any box
         * lie over its face, whatever their masses */
        const perp_shape shape = box_shape(m, width, between(m, 0.9, 1.1) * width, height);
        up += gap;
        add_object(m, &shape, at(m, side, 0, up + 0.5 * height), spread(m, 0.1, 2.0));
        low_centre = i == 0 ? 0.5 * height : low_centre;
        up += height;
        side = between(m, -0.05, 0.05) * width;
    }
    if (chance(m, 0.8)) {
        add_pusher(m, at(m, -0.5 * width, 0, low_centre * between(m, 0.6, 1.6)), at(m, 1, 0, 0));
    }
    if (chance(m, 0.3)) {
        add_force(m, pick(m, 1, boxes), G);
    }
}

static void add_on_table(maker *m, double across, double size, double *reach)
{
    const double mass = spread(m, 0.05, 5.0), lift = chance(m, 0.2) ? between(m, 0.0, 2e-3) : 0.0;
    const int kind = pick(m, 0, m->planar ? 1 : 2);
    perp_shape shape = ball_shape(m, 0.5 * size);
    double up = 0.5 * size;
    *reach = 0.5 * size;
    if (kind == 1) {
        const double height = between(m, 0.5, 2.0) * size;
        shape = box_shape(m, size, between(m, 0.5, 1.5) * size, height);
        up = 0.5 * height;
    } else if (kind == 2) {
        shape = shape_of(PERP_SHAPE_CYLINDER);
        shape.radius = 0.5 * size;
        shape.length = between(m, 0.5, 2.0) * size;
        up = 0.5 * shape.length;
    }
    add_object(m, &shape, at(m, across, kind == 0 || m->planar ? 0 : between(m, -0.2, 0.2) * size, up + lift), mass);
}

static void make_table(maker *m)
{
    const int objects = some(m, 1, 8);
    double across = 0.0;
    add_floor(m);
    for (int i = 0; i < objects; i++) {
        const double size = between(m, 0.04, 0.1);
        double reach;
        across += i > 0 ? 0.5 * size + (chance(m, 0.3) ? 0.0 : between(m, 0.0, 0.05)) : 0.5 * size;
        add_on_table(m, across, size, &reach);
        across += reach;
    }
    for (int i = 0; i < 2 && chance(m, 0.8); i++) { /* the row from its left, then from its right too */
        add_pusher(m, at(m, i == 0 ? 0.0 : across, 0, between(m, 0.02, 0.04)), at(m, i == 0 ? 1 : -1, 0, 0));
    }
}

/* ---- grippers ---------------------------------------------------------------------------------------------------- */

typedef struct finger_plan {
    const char *name, *joint;
    double sign; /* the side that it comes from: -1 left */
    double start, closed;
    double height;
    bool springs;
} finger_plan;

static void add_finger(maker *m, const finger_plan *plan)
{
    const double thick = 0.02;
    perp_shape shape = box_shape(m, thick, 0.04, 0.05);
    shape.pose.pose.position = at(m, plan->sign * 0.5 * thick, 0, plan->height);
    perp_body body = perp_body_default(plan->name);
    body.shapes = &shape;
    body.shape_count = 1;
    perp_joint joint = perp_joint_default(plan->joint, PERP_JOINT_PRISMATIC);
    joint.parent = "palm";
    joint.child = plan->name;
    joint.axis_set = true;
    joint.axis = at(m, 1, 0, 0);
    const ramp r = ramp_of(m, 0.0, 0.4, plan->sign * plan->start, plan->sign * plan->closed);
    command(m, &joint, plan->springs, &r);
    add(m, &body);
    add_joint(m, &joint);
}

static void make_gripper(maker *m)
{
    const double half = between(m, 0.03, 0.06), clearance = chance(m, 0.3) ? 0.0 : between(m, 0.0, 0.01);
    const double height = between(m, 0.03, 0.06);
    const bool ball = chance(m, 0.5), springs = chance(m, 0.7);
    const double squeeze = springs || chance(m, 0.3) ? between(m, 0.0, 0.02) : 0.0;
    const perp_shape object = ball ? ball_shape(m, half) : box_shape(m, 2 * half, 0.05, 2 * half);
    add_floor(m);
    add_object(m, &object, at(m, 0, 0, half), spread(m, 0.05, 3.0));
    perp_body palm = perp_body_default("palm");
    perp_joint lift = perp_joint_default("lift", PERP_JOINT_PRISMATIC);
    lift.child = "palm";
    lift.axis_set = true;
    lift.axis = at(m, 0, 0, 1);
    const ramp r = ramp_of(m, 0.4, 1.0, 0.0, between(m, -0.004, 0.1));
    command(m, &lift, chance(m, 0.5), &r);
    add(m, &palm);
    add_joint(m, &lift);
    const finger_plan left = {"left", "slide_left", -1.0, half + clearance, half - squeeze, height, springs};
    const finger_plan right = {"right", "slide_right", 1.0, half + clearance, half - squeeze, height, springs};
    add_finger(m, &left);
    add_finger(m, &right);
    if (chance(m, 0.3)) { /* something to carry */
        const perp_shape load = box_shape(m, half, 0.03, 0.02);
        add_object(m, &load, at(m, 0, 0, 2 * half + 0.01), spread(m, 0.02, 0.5));
    }
}

/* ---- hinges, limits, loops --------------------------------------------------------------------------------------- */

/* A plank that its joint's limit holds level, lifted by a finger from below. In the plane up is counter-clockwise, in
 * space the axis -y turns +x up. */
static void make_lid(maker *m)
{
    const double length = between(m, 0.1, 0.3), height = between(m, 0.1, 0.2), where = between(m, 0.3, 0.9) * length;
    perp_shape shape = box_shape(m, length, 0.05, 0.01);
    shape.pose.pose.position = at(m, 0.5 * length, 0, 0);
    perp_body plank = perp_body_default("plank");
    plank.mass = perp_set(spread(m, 0.1, 3.0));
    plank.com_set = true;
    plank.com = shape.pose.pose.position;
    plank.shapes = &shape;
    plank.shape_count = 1;
    perp_joint hinge = perp_joint_default("hinge", PERP_JOINT_REVOLUTE);
    hinge.child = "plank";
    hinge.anchor = at(m, 0, 0, height);
    hinge.axis_set = !m->planar;
    hinge.axis = perp_vec3_make(0, -1, 0);
    hinge.limits_set = true;
    hinge.limits[0] = 0.0;
    hinge.limits[1] = between(m, 0.1, 1.5);
    add(m, &plank);
    add_joint(m, &hinge);
    add_pusher(m, at(m, where, 0, height - 0.005), at(m, 0, 0, 1));
    if (chance(m, 0.5)) { /* something on it, which slides off when it is steep enough */
        const perp_shape box = box_shape(m, 0.03, 0.03, 0.03);
        add_object(m, &box, at(m, 0.5 * length, 0, height + 0.005 + 0.015), spread(m, 0.05, 1.0));
    }
}

/* A chain of doors about upright axes (in the plane: without weight), pushed at the end of the first or the last. */
static void make_doors(maker *m)
{
    const int links = some(m, 1, 4);
    const double length = between(m, 0.08, 0.2);
    m->scene->gravity = m->planar ? perp_vec3_make(0, 0, 0) : m->scene->gravity;
    for (int i = 0; i < links; i++) {
        char name[32], joint_name[32], parent[32];
        perp_shape shape = shape_of(PERP_SHAPE_BOX);
        shape.size = perp_vec3_make(0.9 * length, 0.02, m->planar ? 0 : 0.1);
        shape.pose.pose.position = perp_vec3_make(0.5 * length, 0, 0);
        perp_body door = perp_body_default(name_of(m->count, name));
        door.mass = perp_set(spread(m, 0.1, 3.0));
        door.shapes = &shape;
        door.shape_count = 1;
        snprintf(joint_name, sizeof joint_name, "hinge%d", i);
        perp_joint hinge = perp_joint_default(joint_name, PERP_JOINT_REVOLUTE);
        hinge.child = door.name;
        hinge.parent = i > 0 ? name_of(m->count - 1, parent) : NULL;
        hinge.anchor = i > 0 ? perp_vec3_make(length, 0, 0) : perp_vec3_make(0, 0, 0);
        hinge.axis_set = true;
        hinge.axis = perp_vec3_make(0, 0, 1);
        hinge.limits_set = chance(m, 0.6);
        hinge.limits[0] = chance(m, 0.5) ? 0.0 : -1.0;
        hinge.limits[1] = between(m, 0.05, 1.2);
        add(m, &door);
        add_joint(m, &hinge);
    }
    const double where = (chance(m, 0.5) ? links - 1 + 0.7 : between(m, 0.3, 0.8)) * length;
    add_pusher(m, perp_vec3_make(where, -0.01, 0), perp_vec3_make(0, 1, 0));
}

/* Boxes in a row on the floor, each tied to the next by a loop, in the middle of the faces that touch. */
static void make_train(maker *m)
{
    const int boxes = some(m, 2, 5);
    const double size = between(m, 0.04, 0.1);
    const perp_shape shape = box_shape(m, size, size, size);
    add_floor(m);
    for (int i = 0; i < boxes; i++) {
        const int body = add_object(m, &shape, at(m, i * size, 0, 0.5 * size), spread(m, 0.1, 2.0));
        if (i == 0) {
            continue;
        }
        char name[32], a[32], b[32];
        snprintf(name, sizeof name, "loop%d", i);
        perp_loop loop = {.name = name, .kind = chance(m, 0.3) ? PERP_LOOP_WELD : PERP_LOOP_POINT};
        loop.a = name_of(body - 1, a);
        loop.b = name_of(body, b);
        loop.anchor_a = at(m, 0.5 * size, 0, 0);
        loop.anchor_b = at(m, -0.5 * size, 0, 0);
        if (perp_scene_add_loop(m->scene, &loop, NULL) != PERP_STATUS_OK) {
            die("a loop was refused");
        }
    }
    add_pusher(m, at(m, -0.5 * size, 0, between(m, 0.3, 0.6) * size), at(m, 1, 0, 0));
}

/* A four-bar in the level plane: two cranks, a coupler on the first, tied to the second. */
static void make_four_bar(maker *m)
{
    const double crank = between(m, 0.06, 0.15), base = between(m, 0.1, 0.2);
    static const char *const names[3] = {"crank", "coupler", "rocker"};
    const perp_vec3 anchors[3] = {{0, 0, 0}, {0, crank, 0}, {base, 0, 0}};
    m->scene->gravity = m->planar ? perp_vec3_make(0, 0, 0) : m->scene->gravity;
    for (int i = 0; i < 3; i++) {
        const bool along = i == 1;
        perp_shape shape = shape_of(PERP_SHAPE_BOX);
        shape.size = along ? perp_vec3_make(base, 0.01, 0.05) : perp_vec3_make(0.01, 0.9 * crank, 0.05);
        shape.size.z = m->planar ? 0 : shape.size.z;
        shape.pose.pose.position = along ? perp_vec3_make(0.5 * base, 0, 0) : perp_vec3_make(0, 0.5 * crank, 0);
        perp_body body = perp_body_default(names[i]);
        body.mass = perp_set(spread(m, 0.1, 2.0));
        body.shapes = &shape;
        body.shape_count = 1;
        perp_joint hinge = perp_joint_default(i == 0 ? "h0" : i == 1 ? "h1" : "h2", PERP_JOINT_REVOLUTE);
        hinge.child = names[i];
        hinge.parent = along ? names[0] : NULL;
        hinge.anchor = anchors[i];
        hinge.axis_set = true;
        hinge.axis = perp_vec3_make(0, 0, 1);
        hinge.limits_set = i == 0 && chance(m, 0.5);
        hinge.limits[0] = -between(m, 0.1, 1.0);
        hinge.limits[1] = 1.0;
        add(m, &body);
        add_joint(m, &hinge);
    }
    perp_loop loop = {.name = "close", .kind = PERP_LOOP_POINT, .a = "coupler", .b = "rocker"};
    loop.anchor_a = perp_vec3_make(base, 0, 0);
    loop.anchor_b = perp_vec3_make(0, crank, 0);
    if (perp_scene_add_loop(m->scene, &loop, NULL) != PERP_STATUS_OK) {
        die("a loop was refused");
    }
    add_pusher(m, perp_vec3_make(-0.005, between(m, 0.3, 0.8) * crank, 0), perp_vec3_make(1, 0, 0));
}

static void make_articulated(maker *m)
{
    static void (*const makers[])(maker *) = {make_lid, make_doors, make_train, make_four_bar};
    makers[pick(m, 0, 3)](m);
}

/* ---- the scene --------------------------------------------------------------------------------------------------- */

const char *quasistatic_family_name(quasistatic_family family)
{
    static const char *const names[QUASISTATIC_FAMILIES] = {"groove", "bin",     "stack",
                                                            "table",  "gripper", "articulated"};
    return names[family];
}

quasistatic_family quasistatic_family_of(int index)
{
    return (quasistatic_family)(index % QUASISTATIC_FAMILIES);
}

static void make(maker *m, quasistatic_family family)
{
    m->planar = chance(m, 0.5);
    m->h = spread(m, 1e-3, 0.4);
    if (perp_scene_create(m->planar, NULL, &m->scene, NULL) != PERP_STATUS_OK) {
        die("out of memory");
    }
    m->scene->friction = chance(m, 0.1) ? 0.0 : between(m, 0.0, 2.0);
    m->scene->margin = between(m, 0.01, 0.03);
    m->scene->run.h = m->h;
    m->scene->run.steps_set = true;
    m->scene->run.steps = QUASISTATIC_STEPS;
    switch (family) {
    case QUASISTATIC_GROOVE:
    case QUASISTATIC_BIN:
        make_packing(m, family == QUASISTATIC_GROOVE);
        break;
    case QUASISTATIC_STACK:
        make_stack(m);
        break;
    case QUASISTATIC_TABLE:
        make_table(m);
        break;
    case QUASISTATIC_GRIPPER:
        make_gripper(m);
        break;
    default:
        make_articulated(m);
    }
}

/* Two bodies or more, nothing penetrates at the start. */
static bool is_at_rest(const perp_scene *scene)
{
    perp_model *model = NULL;
    perp_state state = {0};
    perp_kinematics *kinematics = NULL;
    perp_contact_model *contacts = NULL;
    perp_contact_set *set = NULL;
    bool rests = false;
    if (scene->body_count >= 2 && scene->body_count <= 21 &&
        perp_model_build(scene, NULL, &model, NULL) == PERP_STATUS_OK &&
        perp_state_create(model, NULL, &state, NULL) == PERP_STATUS_OK &&
        perp_kinematics_create(model, NULL, &kinematics, NULL) == PERP_STATUS_OK &&
        perp_contact_model_build(model, NULL, &contacts, NULL) == PERP_STATUS_OK &&
        perp_contact_set_create(contacts, NULL, NULL, &set, NULL) == PERP_STATUS_OK) {
        perp_kinematics_update(model, state.q, kinematics);
        rests = perp_contact_set_build(set, kinematics, NULL) == PERP_STATUS_OK && set->smallest_gap >= -1e-9;
    }
    perp_contact_set_free(set);
    perp_contact_model_free(contacts);
    perp_kinematics_free(kinematics);
    perp_state_free(&state);
    perp_model_free(model);
    return rests;
}

perp_scene *quasistatic_scene(uint64_t seed, int index)
{
    static perp_diagnostics diagnostics;
    maker m = {.random = {sweep_mix(seed, index)}, .most = index < SMALL ? 4 : 20};
    for (int tries = 0; tries < 100; tries++) { /* a pusher may have started inside a neighbour */
        m.count = 0;
        make(&m, quasistatic_family_of(index));
        memset(&diagnostics, 0, sizeof diagnostics);
        if (perp_scene_validate(m.scene, &diagnostics) != PERP_STATUS_OK) {
            die(diagnostics.items[0].message);
        }
        if (is_at_rest(m.scene)) {
            return m.scene;
        }
        perp_scene_free(m.scene);
    }
    die("no scene at rest in 100 tries");
    return NULL;
}
