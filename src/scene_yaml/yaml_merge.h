/* perp_yaml_merge.h - trees put together: included files under the file that includes them, settings on top. */
#ifndef PERP_SRC_SCENE_YAML_YAML_MERGE_H
#define PERP_SRC_SCENE_YAML_YAML_MERGE_H

#include "yaml/yaml_tree.h"

/* Moves what `from` holds into `into` (both maps). Mappings merge; lists of `forces` and `contacts.exclude` are joined;
 * other values of `from` replace those of `into`. A body, joint, loop or pair that both define is an error. */
void perp_yaml_merge(yaml_reader *reader, yaml_node *into, yaml_node *from);

/* Applies "PATH=VALUE". Missing mappings on the way are made; whether the format allows them is found when the scene is
 * decoded. False after an error. */
bool perp_yaml_apply_setting(yaml_reader *reader, yaml_node *root, const char *setting);

#endif
