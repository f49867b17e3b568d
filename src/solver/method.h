/* method.h - the methods of a cascade by their names. */
#ifndef PERP_SRC_SOLVER_METHOD_H
#define PERP_SRC_SOLVER_METHOD_H

#include <perp/base.h>

/* The index at which `name_of`, which ends with NULL, gives the name; BAD_INPUT, with the nearest name, if none does.
 */
perp_status perp_method_find(const char *(*name_of)(int), const char *name, int *found, perp_error *error);

#endif
