/* problem_convex.h - the keys of qp, cone-qp and lp. */
#ifndef PERP_SRC_PROBLEM_YAML_PROBLEM_CONVEX_H
#define PERP_SRC_PROBLEM_YAML_PROBLEM_CONVEX_H

#include <perp/problem_yaml.h>

#include "yaml/decode.h"

/* Reads the mapping of a problem of this kind into `problem`, arrays into the decoder's arena. False after errors. */
bool perp_read_convex(decoder *d, const yaml_node *root, perp_problem_kind kind, perp_problem *problem);

/* The mapping has keys that only these kinds have, and none of the others'. */
bool perp_looks_convex(const yaml_node *root);
/* Tells what is wrong with the values of a problem whose kind is not known. */
void perp_read_convex_without_kind(decoder *d, const yaml_node *root);

#endif
