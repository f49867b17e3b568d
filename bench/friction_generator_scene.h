/* friction_generator_scene.h - the configurations of friction_generator.h: bodies, robots, what touches, and the rows
 * that it gives. Private to the generator. */
#ifndef PERP_BENCH_FRICTION_GENERATOR_SCENE_H
#define PERP_BENCH_FRICTION_GENERATOR_SCENE_H

#include "friction_generator.h"

#include <perp/base.h>

enum {
    FRICTION_MAX_BODIES = 1200,
    FRICTION_MAX_TOUCHES = 1200,
    FRICTION_MAX_ROBOTS = 24,
    FRICTION_MAX_JOINTS = 12, /* of one robot */
    FRICTION_GROUND = -1
};

typedef enum friction_family {
    FRICTION_STACK,
    FRICTION_WALL,
    FRICTION_WEDGE,
    FRICTION_GRASP,
    FRICTION_PILE,
    FRICTION_ARCH,
    FRICTION_INCLINE,
    FRICTION_DENSE,
    FRICTION_ROBOT,
    FRICTION_PUSH,
    FRICTION_FAMILIES
} friction_family;

typedef struct friction_body {
    perp_vec3 position;
    double size, mass; /* m (half an edge), kg */
    bool driven;       /* a finger or pusher: an actuator's stiffness stands in its block where there is no mass */
} friction_body;

typedef struct friction_joint {
    int parent; /* within the robot, or -1 */
    perp_vec3 axis, position;
} friction_joint;

typedef struct friction_robot {
    int joint_count, first_dof;
    friction_joint joints[FRICTION_MAX_JOINTS];
} friction_robot;

/* Things that touch: the ground, body k, or the link behind joint j of robot k, as body_count + k *
 * FRICTION_MAX_JOINTS + j. The normal points from a to b. */
typedef struct friction_touch {
    int a, b;
    perp_vec3 point, normal;
    double mu;
    int rows;  /* 1: no friction; else as many as there are directions */
    bool held; /* the ground's part is a finger or a pusher that moves by command */
} friction_touch;

typedef struct friction_scene {
    bool planar, even; /* even: all bodies alike, positions on a lattice */
    friction_family family;
    int dof, n; /* of a body; of all */
    double decades, slope;
    int width;                                            /* of a pile, in balls; 0: drawn */
    perp_vec3 floor;                                      /* unit: what bodies slide along is across this */
    int body_count, robot_count, touch_count, touch_room; /* no more than `touch_room` are made */
    friction_body bodies[FRICTION_MAX_BODIES];
    friction_robot robots[FRICTION_MAX_ROBOTS];
    friction_touch touches[FRICTION_MAX_TOUCHES];
    perp_random random;
} friction_scene;

/* ---- choices ----------------------------------------------------------------------------------------------------- */

static inline double uniform(friction_scene *s, double low, double high)
{
    return perp_random_uniform(&s->random, low, high);
}

static inline int below(friction_scene *s, int count)
{
    return (int)(perp_random_bits(&s->random) % (uint64_t)count);
}

static inline bool happens(friction_scene *s, double probability)
{
    return uniform(s, 0.0, 1.0) < probability;
}

/* In the unit ball (disc), not zero. */
perp_vec3 friction_random_vector(friction_scene *s);
perp_vec3 friction_up(const friction_scene *s);

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* Bodies, robots and touches of the scene's family, about `contacts` of them; friction is chosen apart. */
void friction_scene_build(friction_scene *s, int contacts);
/* mu of every touch, and copies of some. */
void friction_scene_roughen(friction_scene *s);
/* How much of A there is. */
typedef enum friction_inertia { FRICTION_MASSES, FRICTION_DRIVES, FRICTION_NOTHING } friction_inertia;
/* Starts the case: blocks of A, one per body, then one per robot; and the contacts' rows. Not finished. */
void friction_scene_assemble(friction_scene *s, friction_inertia inertia, friction_case *c);

/* The velocity of body i in a rigid motion about the origin. */
void friction_scene_set_twist(const friction_scene *s, int i, perp_vec3 linear, perp_vec3 angular, double *v);

#endif
