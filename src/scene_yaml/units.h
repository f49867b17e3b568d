/* units.h - lengths and angles of a scene file in other units than SI. */
#ifndef PERP_SRC_SCENE_YAML_UNITS_H
#define PERP_SRC_SCENE_YAML_UNITS_H

#include "yaml/decode.h"

/* Where `units` says so, every length and angle of the tree, and every velocity of them, becomes m and rad, but for
 * what was in a file that has been included. What is no number is left for the decoder to refuse. */
void perp_units_apply(yaml_reader *reader, yaml_node *root);
/* The same for an included file, before it is merged: its units are its own, and go. */
void perp_units_apply_include(yaml_reader *reader, yaml_node *root);
/* Reads `units`, for what is said of the scene. */
bool perp_read_units(decoder *d, const yaml_node *node, void *target);

#endif
