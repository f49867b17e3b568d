/* output_file.h - a file that appears under its name only when it is whole. */
#ifndef PERP_SRC_TRACE_OUTPUT_FILE_H
#define PERP_SRC_TRACE_OUTPUT_FILE_H

#include <perp/base.h>

#include <stdio.h>

typedef struct output_file {
    FILE *stream;    /* write here; NULL when closed */
    char *path;      /* the final name */
    char *temporary; /* beside it */
} output_file;

/* `folder` NULL: `name` is the whole path. */
perp_status perp_output_open(output_file *file, const char *folder, const char *name, perp_error *error);
/* Flushes to the disk; after OK only the rename is left. */
perp_status perp_output_finish(output_file *file, perp_error *error);
perp_status perp_output_publish(output_file *file, perp_error *error);
/* Both. */
perp_status perp_output_complete(output_file *file, perp_error *error);
/* Closes and removes what is not published; frees the names. Harmless on a published or zeroed file. */
void perp_output_discard(output_file *file);

#endif
