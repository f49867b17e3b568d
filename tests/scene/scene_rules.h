/* scene_rules.h - pieces of scenes, and the check of a rule of validation, for the tests of src/scene.
 *
 * A rule is a function that builds a scene which breaks it (`bad`) or only just keeps it, and the one complaint that
 * the broken scene gets: its path and words of its message. The accepted scene must get none.
 */
#ifndef PERP_TESTS_SCENE_SCENE_RULES_H
#define PERP_TESTS_SCENE_SCENE_RULES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <perp/scene.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

/* What the last validate() found. */
extern perp_diagnostics diagnostics;

perp_status validate(perp_scene *scene);
perp_scene *new_scene(bool planar);

/* As perp_scene_add_*, which must succeed. */
void add_body(perp_scene *s, perp_body body);
void add_joint(perp_scene *s, perp_joint joint);
void add_loop(perp_scene *s, perp_loop loop);
void add_force(perp_scene *s, perp_force force);
void add_pair(perp_scene *s, perp_pair pair);

/* A sound shape of the kind. */
perp_shape shape_of(perp_shape_kind kind);
/* A free body with mass and inertia, so that nothing else of it is at fault. */
perp_body sound_body(const perp_scene *s, const char *name);
perp_body fixed_body(const char *name);
/* A joint called `hinge` from the world to a massless body called `arm`. */
perp_joint hinge_of(perp_joint_kind kind);
perp_pair pair_of(const char *a, const char *b);

/* A sound body called `cup` with this shape. */
void add_shape(perp_scene *s, perp_shape shape);
/* The joint and its body `arm`. */
void add_hinge(perp_scene *s, perp_joint joint);
/* Sound bodies called `cup` and `pot`. */
void add_two(perp_scene *s);

/* ---- rules ------------------------------------------------------------------------------------------------------- */

#define RULE(id) static void id(perp_scene *s, bool bad)

enum { SPATIAL = 1, PLANAR = 2, BOTH = 3 };

typedef struct rule {
    void (*build)(perp_scene *scene, bool bad);
    int where;                /* SPATIAL, PLANAR or BOTH: scenes that have this rule */
    const char *path, *words; /* of the complaint; path NULL: any */
} rule;

/* How many do not hold, over both kinds of scenes; prints each. A rule holds if the broken scene gets its one
 * complaint, every time it is checked, and the sound one none. */
int broken_rules(const rule *rules, int count);

#endif
