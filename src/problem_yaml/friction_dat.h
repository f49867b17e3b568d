/* friction_dat.h - the text files in which Siconos keeps local friction problems. */
#ifndef PERP_SRC_PROBLEM_YAML_FRICTION_DAT_H
#define PERP_SRC_PROBLEM_YAML_FRICTION_DAT_H

#include <perp/problem.h>

#include "base/arena.h"

typedef struct friction_dat {
    const char *name; /* for messages */
    perp_diagnostics *diagnostics;
    perp_arena *arena; /* for the problem's arrays, and what is needed while reading */
    bool out_of_memory;
} friction_dat;

/* Reads `length` bytes, in a plain locale. False after errors, each told with its place, or without memory. */
bool perp_read_friction_dat(friction_dat *d, const char *text, size_t length, perp_friction *problem);

#endif
