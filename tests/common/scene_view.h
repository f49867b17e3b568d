/* scene_view.h - a scene seen otherwise: shifted, turned, mirrored, with its parts in another order; and the states
 * that go with it. Whatever answers by the mechanics alone answers accordingly. */
#ifndef PERP_TESTS_COMMON_SCENE_VIEW_H
#define PERP_TESTS_COMMON_SCENE_VIEW_H

#include <perp/model.h>

/* x' = R x + p, R = rotation after (mirrored) the reflection x -> -x, in the plane and in space. A body's own frame is
 * mirrored too, so that every rotation stays one. */
typedef struct scene_view {
    perp_pose pose;
    bool mirrored;
    bool reversed; /* bodies, their shapes, joints, loops, forces and pairs in the reverse order */
    /* In space every pair states its tangent, which turns with the scene: along none of the scene's axes, so that its
     * projection on a face never vanishes. Without it tangents are made from the world's axes, and friction cones that
     * are polygons turn with the scene only where it is mirrored. */
    bool tangents;
} scene_view;

scene_view scene_view_identity(void);

/* The scene as the view has it, validated; run settings are copied. Ends the program where the format cannot say it: a
 * body that is free along some of the world's axes, or driven in its rotation, in a view that does not keep these axes;
 * drives with different tables that the view mixes; ball and planar joints. */
perp_scene *scene_view_make(const perp_scene *from, const scene_view *w);

/* The body of the view that is body `index`. */
int scene_view_body(const perp_scene *from, const scene_view *w, int index);

perp_vec3 scene_view_turn(const scene_view *w, perp_vec3 a);      /* of forces and velocities */
perp_vec3 scene_view_turn_axis(const scene_view *w, perp_vec3 a); /* of torques and angular velocities */
perp_pose scene_view_pose(const scene_view *w, perp_pose pose);   /* of a body in the world */

/* `to`, of the view's model, becomes the state that `from` is there. */
void scene_view_state(const scene_view *w, const perp_model *model, const perp_state *from, const perp_model *other,
                      perp_state *to);

#endif
