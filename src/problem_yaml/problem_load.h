/* problem_load.h - what tests ask of problem files beside perp/problem_yaml.h. */
#ifndef PERP_SRC_PROBLEM_YAML_PROBLEM_LOAD_H
#define PERP_SRC_PROBLEM_YAML_PROBLEM_LOAD_H

#include <perp/problem_yaml.h>

/* The scaled residual of a convex problem. */
perp_convex_residual perp_problem_convex_residual(const perp_problem *problem, const perp_convex_point *point);

/* As perp_problem_load_text for the text files in which Siconos keeps local friction problems, W dense, in blocks or
 * sparse: its q, W, mu and law are those of perp_friction. Of numbers that cannot be read all are told, but after a
 * wrong count the first error is the last. */
perp_status perp_problem_load_dat(const char *text, size_t length, const char *name, const perp_allocator *allocator,
                                  perp_problem **problem, perp_diagnostics *diagnostics);

#endif
