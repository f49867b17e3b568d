/* ode_scene.h - the shapes of a scene in a space of ODE's, moved by our kinematics; for bench_contact.
 *
 * ODE has no ellipsoids: a sphere of the same volume stands in for each. It has no margin: pairs that do not overlap
 * make no contact. All meshes of a scene must be the same one.
 */
#ifndef PERP_BENCH_ODE_SCENE_H
#define PERP_BENCH_ODE_SCENE_H

#include <perp/model.h>

typedef struct ode_scene ode_scene;

/* NULL: out of memory, or a shape without counterpart. */
ode_scene *ode_scene_open(const perp_model *model);
void ode_scene_close(ode_scene *scene); /* NULL allowed */

/* Takes over the poses of the bodies; computes nothing. */
void ode_scene_move(ode_scene *scene, const perp_kinematics *kinematics);

/* dSpaceCollide on a sweep-and-prune space, and dCollide on every pair that it reports, except of one body, of bodies
 * that do not move, and of a joint's two bodies. Returns the number of contacts, at most 8 a pair. */
int ode_scene_collide(ode_scene *scene);

#endif
