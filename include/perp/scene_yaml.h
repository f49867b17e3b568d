/* perp/scene_yaml.h - scenes from YAML text (JSON is YAML), strictly.
 *
 * Every error of a file is reported in one go (up to PERP_DIAGNOSTICS_PER_SEVERITY) with file, line and column, and
 * says what would be right. A file cannot make the loader read outside the scene's folder, recurse without bound, or
 * take unbounded memory: see the limits below and in perp/yaml.h; beyond them loading fails with an error.
 */
#ifndef PERP_SCENE_YAML_H
#define PERP_SCENE_YAML_H

#include <perp/scene.h>
#include <perp/yaml.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PERP_YAML_MAX_FILES = 64 }; /* the scene and its includes, each counted as often as it is named */

/* Zero-initialised: malloc, no settings. */
typedef struct perp_scene_load_options {
    const perp_allocator *allocator; /* NULL: malloc */
    const char *const *settings;     /* "PATH=VALUE", applied in order before the scene is checked */
    int setting_count;
    const perp_scene_files *files; /* NULL: those of the folder */
    const char *const *models; /* names that run.model may have, NULL-terminated; NULL: any, to be judged by perp_run */
} perp_scene_load_options;

/* Loads, merges includes, applies settings, checks. On OK `*scene` is validated and owned by the caller; otherwise it
 * is NULL and `diagnostics` says why (BAD_INPUT, OUT_OF_MEMORY). Warnings may be there either way. Diagnostics are
 * sorted by file and place. Call with a zero-initialised list. */
PERP_API perp_status perp_scene_load_file(const char *path, const perp_scene_load_options *options, perp_scene **scene,
                                          perp_diagnostics *diagnostics);
/* The same from memory. `name` stands for the file in messages. Includes and mesh files are looked for in `folder`;
 * NULL: there is no folder, and they are refused unless
 * options->files finds them. */
PERP_API perp_status perp_scene_load_text(const char *text, size_t length, const char *name, const char *folder,
                                          const perp_scene_load_options *options, perp_scene **scene,
                                          perp_diagnostics *diagnostics);

/* Writes the reference page of all keys (Markdown) from the loader's own tables, piece by piece. */
typedef void perp_text_sink(void *context, const char *text);
PERP_API void perp_scene_key_reference(perp_text_sink *sink, void *context);

#ifdef __cplusplus
}
#endif
#endif
