/* perp_scene_load_*: text -> tree -> includes merged -> settings applied -> decoded -> validated. */
#include "base/file.h"
#include "base/plain_locale.h"
#include "scene_yaml/keys.h"
#include "scene_yaml/units.h"
#include "scene_yaml/yaml_merge.h"
#include "yaml/yaml_source.h"

#include <perp/geometry_hull.h>

#include "scene/scene_memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct loader {
    yaml_reader reader;
    const char *folder;             /* the scene's; NULL: none */
    const perp_scene_files *source; /* may be NULL */
    int files;
    const char *open[PERP_YAML_MAX_FILES]; /* the chain of includes being read, to find rings */
    int open_count;
    bool main_read; /* the scene's own file was parsed */
} loader;

static bool load_tree(loader *l, const char *text, size_t length, const char *name, const char *folder,
                      yaml_node *into);

static bool refuse_include(loader *l, const yaml_node *node, const char *why)
{
    perp_yaml_tree_report(l->reader.diagnostics, PERP_SEVERITY_ERROR, node, "include `%.100s`: %s",
                          node->kind == YAML_SCALAR ? node->text : "", why);
    return false;
}

/* The bytes of an included file; `path` begins with the scene's folder. */
static bool fetch_include(loader *l, const yaml_node *node, const char *path, const char **text, size_t *length)
{
    const perp_scene_files *source = l->source;
    const size_t root = strcmp(l->folder, ".") == 0 ? 0 : strlen(l->folder) + 1;
    char why[200], *own = NULL;
    if (source && source->find) {
        return source->find(source->context, path + root, text, length) ||
               refuse_include(l, node, "it is not among the files given");
    }
    /* Named relative to the file that includes it, but never outside the scene's own folder. */
    perp_status status = perp_file_check_inside(l->folder, path + root, why);
    if (status == PERP_STATUS_OK) {
        status = perp_file_read(l->reader.arena, path, true, PERP_YAML_MAX_BYTES, &own, length, why);
    }
    *text = own;
    if (status != PERP_STATUS_OK) {
        l->reader.out_of_memory = l->reader.out_of_memory || status == PERP_STATUS_OUT_OF_MEMORY;
        return refuse_include(l, node, why);
    }
    const bool kept = !source || !source->keep || source->keep(source->context, path + root, own, *length);
    l->reader.out_of_memory = l->reader.out_of_memory || !kept;
    return kept;
}

/* Reads one included file and merges it. `folder` is that of the file that includes it. */
static bool load_include(loader *l, const yaml_node *node, const char *folder, yaml_node *into)
{
    perp_arena *arena = l->reader.arena;
    if (node->kind != YAML_SCALAR || perp_yaml_tree_is_null(node)) {
        return refuse_include(l, node, "a file name is needed");
    }
    if (!l->folder || !folder) {
        return refuse_include(l, node, "this scene does not come from a folder, so it cannot include files");
    }
    if (node->text[0] == '/') {
        return refuse_include(l, node, "must be relative to the scene's folder");
    }
    char *path = perp_file_join(arena, folder, node->text);
    char *own_folder = path ? perp_file_folder(arena, path) : NULL;
    if (!own_folder) {
        l->reader.out_of_memory = true;
        return false;
    }
    for (int i = 0; i < l->open_count; i++) {
        if (strcmp(l->open[i], path) == 0) {
            return refuse_include(l, node, "the file includes itself");
        }
    }
    if (l->files >= PERP_YAML_MAX_FILES) {
        return refuse_include(l, node, "too many files");
    }
    const char *text;
    size_t length;
    return fetch_include(l, node, path, &text, &length) && load_tree(l, text, length, path, own_folder, into);
}

static bool load_includes(loader *l, yaml_node *root, const char *folder, yaml_node *into)
{
    yaml_node *list = perp_yaml_tree_find(root, "include", 7);
    if (!list) {
        return true;
    }
    bool good = true;
    if (list->kind != YAML_LIST) {
        perp_yaml_tree_report(l->reader.diagnostics, PERP_SEVERITY_ERROR, list, "expected a list of files: [FILE, ..]");
        good = false;
    }
    for (const yaml_node *child = list->kind == YAML_LIST ? list->first : NULL; child; child = child->next) {
        good = load_include(l, child, folder, into) && good;
    }
    perp_yaml_tree_remove(list);
    return good;
}

/* An included file need not state its version, but what it states must be this one. (The scene's own is read with its
 * other keys.) */
static void check_version(loader *l, const yaml_node *root)
{
    const yaml_node *version = perp_yaml_tree_find(root, "perp", 4);
    if (version && (version->kind != YAML_SCALAR || strcmp(version->text, "1") != 0)) {
        perp_yaml_tree_report(l->reader.diagnostics, PERP_SEVERITY_ERROR, version,
                              "this is version 1 of the format; write `perp: 1`");
    }
}

/* Parses one file and merges it, after what it includes, into `into`. */
static bool load_tree(loader *l, const char *text, size_t length, const char *name, const char *folder, yaml_node *into)
{
    yaml_node *root = perp_yaml_tree_parse(&l->reader, text, length, name);
    if (!root) {
        return false;
    }
    if (root->kind != YAML_MAP) {
        perp_yaml_tree_report(l->reader.diagnostics, PERP_SEVERITY_ERROR, root,
                              "a scene is a mapping that begins with `perp: 1`");
        return false;
    }
    if (l->open_count > 0) {
        check_version(l, root);
        perp_units_apply_include(&l->reader, root);
    }
    l->files++;
    l->open[l->open_count++] = name;
    const bool good = load_includes(l, root, folder, into);
    l->open_count--;
    l->main_read = l->open_count == 0;
    perp_yaml_merge(&l->reader, into, root);
    return good;
}

static bool is_planar(const yaml_node *root)
{
    const yaml_node *planar = perp_yaml_tree_find(root, "planar", 6);
    bool value = false;
    return planar && perp_find_bool(planar, &value) && value;
}

/* The tree stays in the scene's arena, so that places can be named as long as the scene lives. Where a file is missing
 * what is there is still read, but how it fits together is not judged. */
static perp_status decode_scene(loader *l, const yaml_node *root, bool complete, const char *const *models,
                                perp_scene *scene)
{
    scene_target target = {.scene = scene, .folder = l->folder, .models = models};
    decoder d = {
        .diagnostics = l->reader.diagnostics, .arena = l->reader.arena, .context = &target, .planar = scene->planar};
    scene->locate = perp_yaml_tree_locate;
    scene->locate_context = root;
    perp_read_scene(&d, root);
    if (d.out_of_memory ||
        perp_scene_build_hulls(scene, l->folder, l->source, l->reader.diagnostics) != PERP_STATUS_OK) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    if (l->reader.diagnostics->errors >= PERP_DIAGNOSTICS_PER_SEVERITY) {
        return PERP_STATUS_BAD_INPUT; /* no more can be shown, and what follows from these would be counted too */
    }
    return complete ? perp_scene_validate(scene, l->reader.diagnostics) : PERP_STATUS_BAD_INPUT;
}

static perp_status load(loader *l, const char *text, size_t length, const char *name,
                        const perp_scene_load_options *options, perp_scene *scene)
{
    yaml_node *root = perp_yaml_tree_new_map(&l->reader, name, 1, 1);
    if (!root) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    const char *slash = strrchr(name, '/');
    if (l->source && l->source->keep && !l->source->keep(l->source->context, slash ? slash + 1 : name, text, length)) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    bool good = load_tree(l, text, length, name, l->folder, root);
    for (int i = 0; good && options && i < options->setting_count; i++) {
        good = perp_yaml_apply_setting(&l->reader, root, options->settings[i]);
    }
    perp_units_apply(&l->reader, root);
    if (l->reader.out_of_memory) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    if (!l->main_read) {
        return PERP_STATUS_BAD_INPUT;
    }
    scene->planar = is_planar(root);
    scene->gravity = scene->planar ? perp_vec3_make(0, -9.81, 0) : perp_vec3_make(0, 0, -9.81);
    return decode_scene(l, root, good, options ? options->models : NULL, scene);
}

perp_status perp_scene_load_text(const char *text, size_t length, const char *name, const char *folder,
                                 const perp_scene_load_options *options, perp_scene **scene,
                                 perp_diagnostics *diagnostics)
{
    *scene = NULL;
    perp_scene *made = NULL;
    perp_error error;
    perp_plain_locale locale = {0};
    perp_status status = perp_plain_locale_open(&locale) ? PERP_STATUS_OK : PERP_STATUS_OUT_OF_MEMORY;
    if (status == PERP_STATUS_OK) {
        status = perp_scene_create(false, options ? options->allocator : NULL, &made, &error);
    }
    if (status == PERP_STATUS_OK) {
        perp_arena *arena = &made->memory->arena;
        const char *kept_name = perp_arena_text(arena, name, strlen(name));
        if (!kept_name) {
            status = PERP_STATUS_OUT_OF_MEMORY;
        } else if (!perp_yaml_fits(name, length, diagnostics)) {
            status = PERP_STATUS_BAD_INPUT;
        } else {
            const perp_scene_files *source = options ? options->files : NULL;
            loader l = {.reader = {.arena = arena, .diagnostics = diagnostics},
                        .folder = source && source->find ? "." : folder,
                        .source = source};
            perp_plain_locale_enter(&locale);
            status = load(&l, text, length, kept_name, options, made);
            perp_plain_locale_leave(&locale);
        }
    }
    perp_plain_locale_close(&locale);
    if (status == PERP_STATUS_OUT_OF_MEMORY) {
        perp_yaml_out_of_memory(name, diagnostics);
    }
    perp_yaml_sort_diagnostics(diagnostics);
    if (status == PERP_STATUS_OK) {
        *scene = made;
    } else {
        perp_scene_free(made);
    }
    return status;
}

perp_status perp_scene_load_file(const char *path, const perp_scene_load_options *options, perp_scene **scene,
                                 perp_diagnostics *diagnostics)
{
    *scene = NULL;
    perp_arena arena;
    perp_arena_init(&arena, options ? options->allocator : NULL);
    char *text;
    size_t length;
    perp_status status = perp_yaml_read_file(&arena, path, &text, &length, diagnostics);
    if (status == PERP_STATUS_OK) {
        const char *folder = perp_file_folder(&arena, path);
        status = folder ? perp_scene_load_text(text, length, path, folder, options, scene, diagnostics)
                        : perp_yaml_out_of_memory(path, diagnostics);
    }
    perp_arena_clear(&arena);
    return status;
}
