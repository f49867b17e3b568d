/* dropped_scenes.h - the scenes of the quasistatic sweep, their free bodies lifted by up to 0.2 m. */
#ifndef PERP_TESTS_QUALIFY_DROPPED_SCENES_H
#define PERP_TESTS_QUALIFY_DROPPED_SCENES_H

#include <perp/scene.h>

#include <stdint.h>

/* Scene `index` of the family, to be run in steps of 1 ms. Free it with perp_scene_free; ends the program where memory
 * runs out. */
perp_scene *dropped_scene(uint64_t seed, int index, int steps);

#endif
