/* contact_scenes.h - the scenes of bench_contact: validated, with hulls. Each ends the program where it cannot be made.
 */
#ifndef PERP_BENCH_CONTACT_SCENES_H
#define PERP_BENCH_CONTACT_SCENES_H

#include <perp/scene.h>

/* Cubes of 0.1 m on one another on a plane; what rests overlaps by 10 um. Margin 5 mm. */
perp_scene *contact_scene_stack(int cubes);

/* bench/scenes/arm-and-cubes.yaml */
perp_scene *contact_scene_arm(void);

/* `count` bodies in a cube-shaped pile on a plane: a lattice of 60 mm, one body a cell, at random a sphere, box,
 * capsule, cylinder, ellipsoid or mesh (a prism of 20 corners). A body fills its cell along the lattice's axes but for
 * a gap: every other extent overlaps by 0.1 mm, the others leave up to half of the margin of 5 mm. It is tilted by up
 * to 0.005 rad and set off by 0.05 mm. */
perp_scene *contact_scene_pile(int count);

#endif
