/* A sweep from its file, with its scene, and all that can be checked before it runs. */
#include "base/file.h"
#include "base/hash.h"
#include "base/plain_locale.h"
#include "plan/sweep.h"
#include "yaml/yaml_source.h"

#include <stdio.h>

/* ---- files of the scene ------------------------------------------------------------------------------------------ */

static bool keep_file(void *context, const char *name, const char *bytes, size_t size)
{
    perp_sweep *s = context;
    sweep_file *grown = perp_arena_grow(&s->arena, s->files, s->file_count, &s->file_capacity, sizeof *grown);
    const char *kept_name = grown ? perp_arena_text(&s->arena, name, strlen(name)) : NULL;
    const char *kept = kept_name ? perp_arena_text(&s->arena, bytes, size) : NULL;
    if (!kept) {
        return false;
    }
    s->files = grown;
    grown[s->file_count++] = (sweep_file){kept_name, kept, size};
    return true;
}

/* What a setting is blamed for is told where the sweep has it. */
static void move_blame(const perp_sweep *s, const sweep_case *c, const perp_diagnostics *found,
                       perp_diagnostics *diagnostics)
{
    for (int i = 0; i < found->count; i++) {
        const perp_diagnostic *item = &found->items[i];
        const yaml_node *node = NULL;
        const char *setting = "";
        for (int k = 0; k < c->setting_count && !node; k++) {
            char label[sizeof item->file];
            snprintf(label, sizeof label, "--set %s", c->settings[k]);
            if (strcmp(label, item->file) == 0) {
                node = c->nodes[k];
                setting = c->settings[k];
            }
        }
        if (node && item->severity == PERP_SEVERITY_ERROR) {
            perp_sweep_report(s, diagnostics, node, 0, "%.150s: %.330s", setting, item->message);
        } else {
            perp_diagnostics_add(diagnostics, item->severity, item->file, item->line, item->column, item->path, "%s",
                                 item->message);
        }
    }
}

static perp_status load_scene(perp_sweep *s, const sweep_case *c, perp_diagnostics *diagnostics)
{
    const perp_scene_files files = {.context = s, .keep = keep_file};
    const perp_scene_load_options options = perp_sweep_case_options(s, c, &files);
    perp_diagnostics found = {0};
    perp_scene *scene = NULL;
    const perp_status status = perp_scene_load_file(s->scene_path, &options, &scene, &found);
    perp_scene_free(scene);
    move_blame(s, c, &found, diagnostics);
    return status;
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static perp_status check_first_case(perp_sweep *s, perp_diagnostics *diagnostics)
{
    sweep_case c;
    sweep_model model;
    const sweep_spot first = perp_sweep_spot(0);
    if (!perp_sweep_case_make(s, &first, &s->arena, &c)) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    perp_status status = load_scene(s, &c, diagnostics);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_diagnostics found = {0};
    status = perp_sweep_case_open(s, &c, NULL, &model, &found);
    if (status == PERP_STATUS_OK) {
        perp_sweep_case_close(&model);
    } else {
        move_blame(s, &c, &found, diagnostics);
    }
    return status;
}

static void take_print(perp_sweep *s, const char *text, size_t length)
{
    s->print = perp_hash_begin();
    perp_hash_bytes(&s->print, perp_version(), strlen(perp_version()));
    perp_hash_bytes(&s->print, perp_build_flags(), strlen(perp_build_flags()));
    perp_hash_bytes(&s->print, text, length);
    for (int i = 0; i < s->file_count; i++) {
        perp_hash_bytes(&s->print, s->files[i].name, strlen(s->files[i].name) + 1);
        perp_hash_bytes(&s->print, s->files[i].text, s->files[i].size);
    }
}

static perp_status read_all(perp_sweep *s, const char *text, size_t length, const char *folder,
                            perp_diagnostics *diagnostics)
{
    yaml_reader reader = {.arena = &s->arena, .diagnostics = diagnostics};
    const yaml_node *root = perp_yaml_tree_parse(&reader, text, length, s->name);
    if (reader.out_of_memory) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    if (!root || !perp_sweep_read(s, diagnostics, root)) {
        return diagnostics->errors > 0 ? PERP_STATUS_BAD_INPUT : PERP_STATUS_OUT_OF_MEMORY;
    }
    const yaml_node *scene = perp_yaml_tree_find(root, "scene", 5);
    if (!folder && s->scene[0] != '/') {
        perp_sweep_report(s, diagnostics, scene, 0, "this sweep does not come from a folder, so it has no scene");
        return PERP_STATUS_BAD_INPUT;
    }
    s->scene_path = s->scene[0] == '/' ? s->scene : perp_file_join(&s->arena, folder, s->scene);
    return s->scene_path ? check_first_case(s, diagnostics) : PERP_STATUS_OUT_OF_MEMORY;
}

perp_status perp_sweep_load_text(const char *text, size_t length, const char *name, const char *folder,
                                 const perp_allocator *allocator, perp_sweep **sweep, perp_diagnostics *diagnostics)
{
    const perp_allocator source = allocator ? *allocator : perp_allocator_default();
    perp_plain_locale locale = {0};
    perp_sweep *s = source.allocate(source.context, sizeof *s);
    perp_status status = PERP_STATUS_OUT_OF_MEMORY;
    *sweep = NULL;
    if (s) {
        memset(s, 0, sizeof *s);
        s->allocator = source;
        perp_arena_init(&s->arena, &source);
        s->name = perp_arena_text(&s->arena, name, strlen(name));
        if (s->name && perp_plain_locale_open(&locale)) {
            perp_plain_locale_enter(&locale);
            status = perp_yaml_fits(name, length, diagnostics) ? read_all(s, text, length, folder, diagnostics)
                                                               : PERP_STATUS_BAD_INPUT;
            perp_plain_locale_leave(&locale);
        }
        perp_plain_locale_close(&locale);
    }
    if (status == PERP_STATUS_OUT_OF_MEMORY) {
        perp_yaml_out_of_memory(name, diagnostics);
    }
    perp_yaml_sort_diagnostics(diagnostics);
    if (status == PERP_STATUS_OK) {
        take_print(s, text, length);
        *sweep = s;
    } else {
        perp_sweep_free(s);
    }
    return status;
}

perp_status perp_sweep_load_file(const char *path, const perp_allocator *allocator, perp_sweep **sweep,
                                 perp_diagnostics *diagnostics)
{
    perp_arena arena;
    char *text;
    size_t length;
    *sweep = NULL;
    perp_arena_init(&arena, allocator);
    perp_status status = perp_yaml_read_file(&arena, path, &text, &length, diagnostics);
    if (status == PERP_STATUS_OK) {
        const char *folder = perp_file_folder(&arena, path);
        status = folder ? perp_sweep_load_text(text, length, path, folder, allocator, sweep, diagnostics)
                        : perp_yaml_out_of_memory(path, diagnostics);
    }
    perp_arena_clear(&arena);
    return status;
}

void perp_sweep_free(perp_sweep *s)
{
    if (s) {
        const perp_allocator source = s->allocator;
        perp_arena_clear(&s->arena);
        source.release(source.context, s);
    }
}

int perp_sweep_cases(const perp_sweep *s)
{
    return s->cases;
}
