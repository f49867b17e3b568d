/* contact_test.h - a scene from text with everything up to its contacts. */
#ifndef PERP_TESTS_CONTACT_CONTACT_TEST_H
#define PERP_TESTS_CONTACT_CONTACT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <perp/contact.h>
#include <perp/scene_yaml.h>

void check_near(double actual, double expected, double tolerance, const char *text, const char *file, int line);
/* |actual - expected| <= tolerance; NaN fails. */
#define NEAR(actual, expected, tolerance)                                                                              \
    check_near((actual), (expected), (tolerance), #actual " ~ " #expected, __FILE__, __LINE__)
void check_vector(perp_vec3 actual, perp_vec3 expected, double tolerance, const char *text, const char *file, int line);
#define NEAR_VECTOR(actual, x, y, z, tolerance)                                                                        \
    check_vector((actual), (perp_vec3){(x), (y), (z)}, (tolerance), #actual, __FILE__, __LINE__)

typedef struct contact_world {
    perp_scene *scene;
    perp_model *model;
    perp_state state;
    perp_kinematics *kinematics;
    perp_contact_model *contact_model;
    perp_contact_set *set;
} contact_world;

/* The scene of a text, checked; `perp: 1` is put before it. */
perp_scene *scene_of(const char *text);
/* Everything but the contacts; takes the scene over. */
void world_open_scene(contact_world *world, perp_scene *scene);
/* The same of a text, and its contacts at the initial state. */
void world_open(contact_world *world, const char *text);
/* Contacts at world->state.q. */
void world_build(contact_world *world);
void world_close(contact_world *world);

int body_index(const contact_world *world, const char *name);
/* Sets the position of a floating body. */
void place(contact_world *world, const char *name, double x, double y, double z);
/* The same in the plane. */
void place_planar(contact_world *world, const char *name, double x, double y, double theta);
/* Number of contacts between two bodies. */
int contacts_between(const contact_world *world, const char *a, const char *b);
/* The contact whose feature text this is; fails the test if there is none. */
const perp_contact *contact_named(const contact_world *world, const char *feature);

/* What holds of any set: order, bodies, frames, witnesses, margins, smallest gap, names that occur once. */
void check_set(const contact_world *world);

double uniform(perp_random *random, double low, double high);
perp_quat random_rotation(perp_random *random);
/* Bodies that float, are driven, or hang in trees of random joints, close enough to have contacts within the scene's
 * margin; shapes of the kinds that `kinds` (bits of perp_shape_kind) names. The same seed gives the same scene. */
perp_scene *random_scene(uint64_t seed, bool planar, unsigned kinds);
/* q moved by a random step of size one, v random. */
void random_state(contact_world *world, uint64_t seed, double *v);

#endif
