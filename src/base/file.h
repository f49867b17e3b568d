/* file.h - reading files without being led astray. */
#ifndef PERP_SRC_BASE_FILE_H
#define PERP_SRC_BASE_FILE_H

#include "base/arena.h"

/* Joins folder and name ("" or "." folder: the name alone); NULL when out of memory. */
char *perp_file_join(perp_arena *arena, const char *folder, const char *name);
/* The folder of a path, "." where it names none. */
char *perp_file_folder(perp_arena *arena, const char *path);

/* OK if `file`, relative to `folder`, is a regular file that lies under it; else BAD_INPUT or OUT_OF_MEMORY with the
 * reason in `why`. folder NULL: there is none. */
perp_status perp_file_check_inside(const char *folder, const char *file, char why[200]);

/* Reads a whole file of at most `limit` bytes into the arena. `regular_only` refuses pipes, devices and folders. On
 * failure: IO or OUT_OF_MEMORY, and `why` says it in words. */
perp_status perp_file_read(perp_arena *arena, const char *path, bool regular_only, size_t limit, char **text,
                           size_t *length, char why[200]);

#endif
