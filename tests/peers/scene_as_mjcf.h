/* scene_as_mjcf.h - a spatial scene as MuJoCo's model language, for comparisons; tests and benchmarks only.
 *
 *   ours                              MJCF
 *   free or driven body               body with a freejoint, whatever is locked (mujoco_peer.h projects)
 *   fixed body, fixed joint           body without a joint
 *   revolute, prismatic, ball         hinge, slide, ball
 *   planar                            slide, slide, hinge
 *   screw                             hinge and slide on one axis (mujoco_peer.h couples them)
 *
 * Body i of the scene is called "b<i>". Every body with mass has its <inertial>; geoms only if asked for. Limits,
 * springs, control, loops, pairs and exclusions are left out. MuJoCo insists on mass and inertia behind every joint: a
 * scene with a moving massless leaf loads here and not there.
 */
#ifndef PERP_TESTS_PEERS_SCENE_AS_MJCF_H
#define PERP_TESTS_PEERS_SCENE_AS_MJCF_H

#include <perp/scene.h>

/* The text, to be released with free(); NULL if memory ran out or a body's mass cannot be computed. */
char *scene_as_mjcf(const perp_scene *scene);

/* The same with a geom for every shape, its margin that of the scene, and room for 24 contacts a body. NULL also if a
 * shape has no counterpart (point, hole). */
char *scene_as_mjcf_with_shapes(const perp_scene *scene);

#endif
