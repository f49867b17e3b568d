/* What commands that write or read logs share. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cli_files_keep(void *context, const char *name, const char *bytes, size_t size)
{
    cli_files *f = context;
    for (int i = 0; i < f->count; i++) {
        if (strcmp(f->files[i].name, name) == 0) {
            return true; /* included twice */
        }
    }
    perp_log_file *files = realloc(f->files, ((size_t)f->count + 1) * sizeof *files);
    if (!files) {
        return false;
    }
    f->files = files;
    char *own_name = malloc(strlen(name) + 1), *own = malloc(size + 1);
    if (!own_name || !own) {
        free(own_name);
        free(own);
        return false;
    }
    strcpy(own_name, name);
    memcpy(own, bytes, size);
    own[size] = '\0';
    files[f->count++] = (perp_log_file){.name = own_name, .bytes = own, .size = size};
    return true;
}

void cli_files_free(cli_files *f)
{
    for (int i = 0; i < f->count; i++) {
        free((char *)f->files[i].name);
        free((char *)f->files[i].bytes);
    }
    free(f->files);
}

int cli_open_log(const char *path, perp_log_reader **reader)
{
    perp_error error = {0};
    if (perp_log_open(path, NULL, reader, &error) != PERP_STATUS_OK) {
        if (error.file[0]) {
            fprintf(stderr, "%s:%d:%d: %s\n", error.file, error.line, error.column, error.message);
            return EXIT_BAD_INPUT;
        }
        return cli_fail(error.status == PERP_STATUS_IO ? EXIT_BAD_INPUT : EXIT_REFUSED, "%s", error.message);
    }
    const perp_log_extent extent = perp_log_reader_extent(*reader);
    if (!extent.complete) {
        fprintf(stderr, "perp: %s is incomplete: %d of its steps can be read", path, extent.step_count);
        if (extent.tail > 0) {
            fprintf(stderr, ", %llu bytes at its end cannot", (unsigned long long)extent.tail);
        }
        if (extent.damaged > 0) {
            fprintf(stderr, ", %d part%s damaged, the first at byte %llu", extent.damaged,
                    extent.damaged > 1 ? "s are" : " is", (unsigned long long)extent.damaged_at);
        }
        fprintf(stderr, "\n");
    }
    return EXIT_DONE;
}
