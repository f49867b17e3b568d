/* keys.h - the tables of the scene format. */
#ifndef PERP_SRC_SCENE_YAML_KEYS_H
#define PERP_SRC_SCENE_YAML_KEYS_H

#include "scene_yaml/decode.h"

/* keys_body.c */
extern const key_table body_table, pose_table, velocity_table, driven_table, shape_table, plane_table, mesh_table,
    capsule_table, hole_table;
bool read_bodies(decoder *d, const yaml_node *node, void *scene);

/* keys_scene.c */
extern const key_table scene_table, joint_table, loop_table, force_table, contacts_table, pair_table, compliance_table,
    run_table;
/* Reads a whole scene into d->scene. */
bool read_scene(decoder *d, const yaml_node *root);

#endif
