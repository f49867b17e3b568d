/* keys.h - the tables of the scene format. */
#ifndef PERP_SRC_SCENE_YAML_KEYS_H
#define PERP_SRC_SCENE_YAML_KEYS_H

#include <perp/scene_yaml.h>

#include "yaml/decode.h"

/* The decoder's context. */
typedef struct scene_target {
    perp_scene *scene;
    const char *folder;        /* the scene's; NULL: none */
    const char *const *models; /* that run.model may name; NULL: any */
} scene_target;

static inline scene_target *scene_of(const decoder *d)
{
    return d->context;
}

/* keys_drive.c */
extern const key_table perp_keys_drive, perp_keys_sine;
bool perp_read_optional(decoder *d, const yaml_node *node, void *target); /* perp_optional */
bool perp_read_drive(decoder *d, const yaml_node *node, void *target);    /* perp_drive */

/* keys_body.c */
extern const key_table perp_keys_body, perp_keys_pose, perp_keys_velocity, perp_keys_driven, perp_keys_shape,
    perp_keys_plane, perp_keys_support, perp_keys_mesh, perp_keys_capsule, perp_keys_hole;
bool perp_read_bodies(decoder *d, const yaml_node *node, void *scene);

/* keys_scene.c */
extern const key_table perp_keys_scene, perp_keys_joint, perp_keys_mimic, perp_keys_loop, perp_keys_tendon,
    perp_keys_force, perp_keys_contacts, perp_keys_pair, perp_keys_compliance, perp_keys_run;
/* units.c */
extern const key_table perp_keys_units;
/* Reads a whole scene into d->scene. */
bool perp_read_scene(decoder *d, const yaml_node *root);

#endif
