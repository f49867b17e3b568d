#include "yaml/yaml_source.h"

#include "base/file.h"

#include <string.h>

perp_status perp_yaml_read_file(perp_arena *arena, const char *path, char **text, size_t *length,
                                perp_diagnostics *diagnostics)
{
    char why[200];
    const perp_status status = perp_file_read(arena, path, false, PERP_YAML_MAX_BYTES, text, length, why);
    if (status == PERP_STATUS_IO) {
        perp_diagnostics_add(diagnostics, PERP_SEVERITY_ERROR, path, 1, 1, "", "%s", why);
        return PERP_STATUS_BAD_INPUT;
    }
    return status == PERP_STATUS_OK ? status : perp_yaml_out_of_memory(path, diagnostics);
}

bool perp_yaml_fits(const char *name, size_t length, perp_diagnostics *diagnostics)
{
    if (length > PERP_YAML_MAX_BYTES) {
        perp_diagnostics_add(diagnostics, PERP_SEVERITY_ERROR, name, 1, 1, "", "is larger than %d bytes",
                             PERP_YAML_MAX_BYTES);
        return false;
    }
    return true;
}

perp_status perp_yaml_out_of_memory(const char *name, perp_diagnostics *diagnostics)
{
    if (diagnostics->errors == 0) {
        perp_diagnostics_add(diagnostics, PERP_SEVERITY_ERROR, name, 1, 1, "", "out of memory while reading the file");
    }
    return PERP_STATUS_OUT_OF_MEMORY;
}

/* Before: a diagnostic of the same file that stands further up. */
static bool stands_before(const perp_diagnostic *a, const perp_diagnostic *b)
{
    const int files = strcmp(a->file, b->file);
    return files < 0 || (files == 0 && (a->line < b->line || (a->line == b->line && a->column < b->column)));
}

/* By file, then by place. Insertion sort: at most 40 items, and stable. */
void perp_yaml_sort_diagnostics(perp_diagnostics *list)
{
    for (int i = 1; i < list->count; i++) {
        const perp_diagnostic item = list->items[i];
        int j = i;
        for (; j > 0 && stands_before(&item, &list->items[j - 1]); j--) {
            list->items[j] = list->items[j - 1];
        }
        list->items[j] = item;
    }
}
