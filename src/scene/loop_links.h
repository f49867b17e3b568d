/* loop_links.h - what a loop ties together, for whoever asks which bodies can act on one another. */
#ifndef PERP_SRC_SCENE_LOOP_LINKS_H
#define PERP_SRC_SCENE_LOOP_LINKS_H

#include <perp/scene.h>

/* Pairs of bodies: the two sides, or of joints the body of the first with that of each. */
static inline int perp_loop_link_count(const perp_loop *loop)
{
    return loop->kind == PERP_LOOP_JOINTS ? loop->term_count : 1;
}

static inline void perp_loop_link(const perp_scene *scene, const perp_loop *loop, int k, int *a, int *b)
{
    const bool joints = loop->kind == PERP_LOOP_JOINTS;
    *a = joints ? scene->joints[loop->terms[0].joint_index].child_body : loop->body_a;
    *b = joints ? scene->joints[loop->terms[k].joint_index].child_body : loop->body_b;
}

/* Of all loops. */
static inline int perp_scene_link_count(const perp_scene *scene)
{
    int count = 0;
    for (int i = 0; i < scene->loop_count; i++) {
        count += perp_loop_link_count(&scene->loops[i]);
    }
    return count;
}

/* Where a loop is written: the key of the scene and the key after the name, which may be empty. */
static inline const char *perp_loop_section(const perp_loop *loop)
{
    return loop->mimic ? "joints" : loop->kind == PERP_LOOP_JOINTS ? "tendons" : "loops";
}

static inline const char *perp_loop_part(const perp_loop *loop)
{
    return loop->mimic ? ".mimic" : "";
}

#endif
