/* problem_friction.h - the keys of friction problems. */
#ifndef PERP_SRC_PROBLEM_YAML_PROBLEM_FRICTION_H
#define PERP_SRC_PROBLEM_YAML_PROBLEM_FRICTION_H

#include <perp/problem_yaml.h>

#include "yaml/decode.h"

/* Reads the mapping of a friction problem into `problem`, arrays into the decoder's arena. False after errors. */
bool perp_read_friction(decoder *d, const yaml_node *root, perp_problem *problem);

/* The mapping has keys that only this kind has. */
bool perp_looks_like_friction(const yaml_node *root);
/* Tells what is wrong with the values of a problem whose kind is not known. */
void perp_read_friction_without_kind(decoder *d, const yaml_node *root);

#endif
