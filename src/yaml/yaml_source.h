/* yaml_source.h - where the text comes from, and the order in which complaints about it are told. */
#ifndef PERP_SRC_YAML_YAML_SOURCE_H
#define PERP_SRC_YAML_YAML_SOURCE_H

#include <perp/yaml.h>

#include "base/arena.h"

/* Reads a file of at most PERP_YAML_MAX_BYTES into the arena. BAD_INPUT (it cannot be read) or OUT_OF_MEMORY, reported
 * at its first line. */
perp_status perp_yaml_read_file(perp_arena *arena, const char *path, char **text, size_t *length,
                                perp_diagnostics *diagnostics);

/* False, and an error, where a text is longer than PERP_YAML_MAX_BYTES. */
bool perp_yaml_fits(const char *name, size_t length, perp_diagnostics *diagnostics);

/* An error of its own unless there is one already. Returns OUT_OF_MEMORY. */
perp_status perp_yaml_out_of_memory(const char *name, perp_diagnostics *diagnostics);

/* By file, then by place. */
void perp_yaml_sort_diagnostics(perp_diagnostics *list);

#endif
