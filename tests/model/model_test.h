/* model_test.h - random scenes and derivatives along motions for the tests of src/model.
 *
 * A scene_spec is a scene before it is built, so that a test can mirror, move or relabel it and build it again. It
 * holds pointers into itself: never copy one.
 */
#ifndef PERP_TESTS_MODEL_MODEL_TEST_H
#define PERP_TESTS_MODEL_MODEL_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <perp/model.h>

enum { SPEC_BODIES = 14, MAX_N = 112 }; /* MAX_N: nq and nv of every scene here are below it */

/* ---- assertions ------------------------------------------------------------------------------------------------- */

void check_near(double actual, double expected, double tolerance, const char *text, const char *file, int line);
/* |actual - expected| <= tolerance; NaN fails. */
#define NEAR(actual, expected, tolerance)                                                                              \
    check_near((actual), (expected), (tolerance), #actual " ~ " #expected, __FILE__, __LINE__)
/* Every entry, relative to the largest expected one or 1. */
void check_array(const double *actual, const double *expected, int count, double tolerance, const char *text,
                 const char *file, int line);
#define NEAR_ARRAY(actual, expected, count, tolerance)                                                                 \
    check_array((actual), (expected), (count), (tolerance), #actual " ~ " #expected, __FILE__, __LINE__)

/* ---- random scenes ------------------------------------------------------------------------------------------------
 */

typedef struct scene_spec {
    bool planar;
    perp_vec3 gravity;
    int body_count, joint_count, force_count;
    char names[SPEC_BODIES][16], joint_names[SPEC_BODIES][16];
    perp_body bodies[SPEC_BODIES]; /* parents before children */
    perp_joint joints[SPEC_BODIES];
    perp_force forces[4];
    perp_shape shapes[SPEC_BODIES][2];
    perp_sine sines[8 * SPEC_BODIES];
    int sine_count;
} scene_spec;

enum {
    SPEC_PLANAR = 1,
    SPEC_WORLD_FRAME = 2, /* allow driven bodies and locked components, which name world axes */
    SPEC_BASE = 4         /* body 0 is fixed and is the parent wherever the world would be */
};

double uniform(perp_random *random, double low, double high);
perp_vec3 random_vector(perp_random *random, bool planar, double size);
perp_quat random_rotation(perp_random *random, bool planar);
perp_pose random_pose(perp_random *random, bool planar);

/* A scene of 4 to 12 bodies: fixed, floating, partly locked and driven bases; every kind of joint; compounds; massless
 * links; full, diagonal and isotropic inertias; armature; control. The same seed gives the same scene. */
void spec_random(scene_spec *spec, uint64_t seed, unsigned options);
/* Bodies and joints are listed in a shuffled order; shuffle 0: as they are. Validated. */
perp_scene *spec_build(const scene_spec *spec, uint64_t shuffle);

/* A seven-joint arm with limits on a fixed base, a hand and two fingers, and `free_bodies` boxes beside it. */
perp_scene *arm_scene(int free_bodies);

/* ---- a model and its scratch --------------------------------------------------------------------------------------
 */

typedef struct test_world {
    perp_scene *scene;
    perp_model *model;
    perp_kinematics *kinematics;
    double q[MAX_N], v[MAX_N]; /* a random state */
} test_world;

/* Takes the scene over. q is the initial configuration moved by a random step; rates are of order one. */
void world_open(test_world *world, perp_scene *scene, uint64_t seed);
void world_close(test_world *world);
/* The random scene of this seed; every fourth one is planar. */
void world_random(test_world *world, uint64_t seed);
/* Kinematics and velocities at (q, v). */
void world_update(test_world *world, const double *q, const double *v);

/* Motion of dense Jacobians: rows x nv times v. */
void dense_times(const double *matrix, const double *x, int rows, int columns, double *out);

/* ---- derivatives --------------------------------------------------------------------------------------------------
 */

/* What is differentiated: writes its values at the configuration that the world's kinematics were updated to. */
typedef void path_function(test_world *world, const double *q, void *context, double *values);

/* d/dt f(q (+) t v) at t = 0 by central differences at h and h/2 with Richardson extrapolation, h = 1e-3.
 *
 * Its truncation is f^(5) h^4 / 480. Along a constant v, f is built of sines of at most a few rad/s: with w = 10 rad/s
 * that is 1e5 * 1e-12 / 480 = 2e-10 of its size. Rounding is 1e-16 * size / h = 1e-13. So DERIVATIVE_TOLERANCE,
 * relative to the size of the quantity, has a factor of fifty left for sums over bodies. */
#define DERIVATIVE_TOLERANCE 1e-8
void path_derivative(test_world *world, const double *v, path_function *f, void *context, int count, double *out);

#endif
