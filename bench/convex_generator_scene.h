/* convex_generator_scene.h - the configurations of convex_generator.h: bodies, robots, what touches, and the rows that
 * it gives. Private to the generator. */
#ifndef PERP_BENCH_CONVEX_GENERATOR_SCENE_H
#define PERP_BENCH_CONVEX_GENERATOR_SCENE_H

#include "convex_generator.h"

#include <perp/base.h>

enum { MAX_BODIES = 70, MAX_JOINTS = 24, MAX_RAYS = 16, MAX_DOFS = 40, GROUND = -1 };

typedef enum family { PILE, FACES, WEDGE, REACH, FAMILY_COUNT } family;

typedef enum curvature { STRICT, MIXED, SEMIDEFINITE, FLAT, CURVATURE_COUNT } curvature;

typedef struct body {
    int parent;     /* an earlier body or the ground */
    perp_vec3 away; /* unit, from the parent to this body */
    perp_vec3 position;
    double size, mass;
    bool weightless; /* its block of H is zero */
} body;

typedef struct joint {
    int robot, parent; /* an earlier joint of the robot, or -1 */
    perp_vec3 axis, position;
} joint;

/* Things that touch: the ground, body k, or the link behind joint k as body_count + k. The normal points from a to b.
 */
typedef struct touch {
    int a, b;
    perp_vec3 point, normal;
    double mu, phase;
    int rays; /* 0: quadratic; 1: no friction and one row */
} touch;

typedef struct scene {
    bool planar, symmetric;
    family family;
    curvature curvature;
    int n, dof, body_count, joint_count, robot_count, robot_joints[2], robot_dof[2], body_dof;
    body bodies[MAX_BODIES];
    joint joints[MAX_JOINTS];
    int touch_count;
    touch touches[CONVEX_MAX_CONTACTS];
    double *falling; /* n: the direction of an unbounded case; NULL: none */
    bool bounded;    /* there are joint limits */
    perp_random random;
    double load; /* scale of the forces */
} scene;

/* ---- choices ----------------------------------------------------------------------------------------------------- */

static inline double uniform(scene *s, double low, double high)
{
    return perp_random_uniform(&s->random, low, high);
}

static inline int below(scene *s, int count)
{
    return (int)(perp_random_bits(&s->random) % (uint64_t)count);
}

static inline bool happens(scene *s, double probability)
{
    return uniform(s, 0.0, 1.0) < probability;
}

static inline double log_uniform(scene *s, double low, double high)
{
    return exp(uniform(s, log(low), log(high)));
}

/* In the unit ball (disc), not zero. */
static inline perp_vec3 random_vector(scene *s, bool planar)
{
    for (;;) {
        const double x = uniform(s, -1, 1), y = uniform(s, -1, 1), z = planar ? 0.0 : uniform(s, -1, 1);
        const double square = x * x + y * y + z * z;
        if (square <= 1.0 && square > 1e-4) {
            return perp_vec3_make(x, y, z);
        }
    }
}

static inline perp_vec3 up(const scene *s)
{
    return s->planar ? perp_vec3_make(0, 1, 0) : perp_vec3_make(0, 0, 1);
}

/* ---- in convex_generator_scene.c -----------------------------------------------------------------------------------
 */

/* In this order; masses and stiffnesses reach over `decades`. */
void scene_choose_sizes(scene *s);
void scene_make_bodies(scene *s, double decades);
void scene_make_robots(scene *s);
void scene_make_touches(scene *s);

/* Starts the case with the blocks of H. */
void scene_make_hessian(scene *s, convex_case *c, double decades);

/* The velocity of a point of a thing along a direction, as coefficients of the unknowns. */
void scene_add_velocity(const scene *s, int thing, perp_vec3 point, perp_vec3 direction, double sign, double *row,
                        bool *touched);
/* With sign -1 as seen from the other side. */
void scene_add_touch(const scene *s, const touch *k, double sign, convex_case *c);
/* One row without friction over given unknowns. */
void scene_add_plain_row(convex_case *c, int count, const int *dofs, const double *values);

/* Of a body that moves with a rigid velocity field about the origin. */
void scene_set_twist(const scene *s, int i, perp_vec3 linear, perp_vec3 angular, double *x);
perp_vec3 scene_random_turn(scene *s);
/* Bodies rest, move as one, or each on its own. */
void scene_draw_motion(scene *s, double *x);

#endif
