/* quasistatic_scenes.h - numbered random scenes at rest, for the quasistatic rungs.
 *
 * Bodies touch exactly or stand a small gap apart, and none penetrates another: by construction, and checked on the
 * finished scene. Commands then push, squeeze and lift. A scene depends on (seed, index) alone. */
#ifndef PERP_TESTS_QUALIFY_QUASISTATIC_SCENES_H
#define PERP_TESTS_QUALIFY_QUASISTATIC_SCENES_H

#include <perp/scene.h>

#include <stdio.h>

typedef enum quasistatic_family {
    QUASISTATIC_GROOVE,      /* balls in a V of two planes, each on two (in space three) others */
    QUASISTATIC_BIN,         /* the same between upright walls on a floor */
    QUASISTATIC_STACK,       /* boxes on one another, the centre of all that is above one within its face */
    QUASISTATIC_TABLE,       /* boxes, balls and cylinders side by side */
    QUASISTATIC_GRIPPER,     /* two fingers on a palm around an object: squeeze, then lift */
    QUASISTATIC_ARTICULATED, /* hinged objects, at their limits or free, and loops */
    QUASISTATIC_FAMILIES
} quasistatic_family;

/* "groove", ...; a string constant. */
const char *quasistatic_family_name(quasistatic_family family);
quasistatic_family quasistatic_family_of(int index);

enum { QUASISTATIC_STEPS = 100 };

/* Validated, of QUASISTATIC_STEPS steps; ends the program where memory runs out or no try gave a scene at rest. */
perp_scene *quasistatic_scene(uint64_t seed, int index);

/* As a scene file. Knows what quasistatic_scene makes: no meshes, polygons, capsules, sines. */
void scene_as_yaml(const perp_scene *scene, FILE *out);

#endif
