#include "log/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static perp_status make(const perp_allocator *allocator, perp_log_reader **reader, perp_error *error)
{
    const perp_allocator source = allocator ? *allocator : perp_allocator_default();
    perp_log_reader *r = source.allocate(source.context, sizeof *r);
    *reader = NULL;
    if (!r) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while opening a log");
    }
    memset(r, 0, sizeof *r);
    r->allocator = source;
    r->file = -1;
    r->loaded = -1;
    r->end.code = r->end.message = "";
    perp_arena_init(&r->arena, &r->allocator);
    perp_arena_init(&r->step_arena, &r->allocator);
    perp_arena_init(&r->start_arena, &r->allocator);
    byte_row *const rows[] = {&r->places,        &r->topics,        &r->units,        &r->steps,
                              &r->packed,        &r->plain,         &r->whys,         &r->skim.texts[0],
                              &r->skim.texts[1], &r->skim.known[0], &r->skim.known[1]};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rows[i]->allocator = &r->allocator;
    }
    r->decompressor = ZSTD_createDCtx();
    if (!perp_plain_locale_open(&r->locale) || !r->decompressor) {
        perp_log_reader_free(r);
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while opening a log");
    }
    *reader = r;
    return PERP_STATUS_OK;
}

void perp_log_reader_free(perp_log_reader *r)
{
    if (!r) {
        return;
    }
    const perp_allocator source = r->allocator;
    byte_row *const rows[] = {&r->places,        &r->topics,        &r->units,        &r->steps,
                              &r->packed,        &r->plain,         &r->whys,         &r->skim.texts[0],
                              &r->skim.texts[1], &r->skim.known[0], &r->skim.known[1]};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        perp_bytes_free(rows[i]);
    }
    perp_arena_clear(&r->arena);
    perp_arena_clear(&r->step_arena);
    perp_arena_clear(&r->start_arena);
    perp_plain_locale_close(&r->locale);
    ZSTD_freeDCtx(r->decompressor);
    if (r->file >= 0) {
        close(r->file);
    }
    source.release(source.context, r);
}

static perp_status scan(perp_log_reader **reader, perp_error *error)
{
    perp_log_reader *r = *reader;
    perp_plain_locale_enter(&r->locale);
    const perp_status status = perp_log_scan(r, error);
    perp_plain_locale_leave(&r->locale);
    if (status != PERP_STATUS_OK) {
        perp_log_reader_free(r);
        *reader = NULL;
    }
    return status;
}

perp_status perp_log_open(const char *path, const perp_allocator *allocator, perp_log_reader **reader,
                          perp_error *error)
{
    struct stat about = {0};
    perp_status status = make(allocator, reader, error);
    if (!*reader) {
        return status;
    }
    (*reader)->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is refused, not waited for */
    if ((*reader)->file < 0 || fstat((*reader)->file, &about) != 0) {
        status = perp_fail(error, PERP_STATUS_IO, "cannot read `%s`: %s", path, strerror(errno));
    } else if (!S_ISREG(about.st_mode)) {
        status = perp_fail(error, PERP_STATUS_IO, "cannot read `%s`: it is not a file", path);
    }
    if (status != PERP_STATUS_OK) {
        perp_log_reader_free(*reader);
        *reader = NULL;
        return status;
    }
    (*reader)->size = (uint64_t)about.st_size;
    status = scan(reader, error);
    if (status == PERP_STATUS_BAD_INPUT && error) { /* the file is at fault, as a whole */
        snprintf(error->file, sizeof error->file, "%s", path);
        error->line = error->column = 1;
    }
    return status;
}

perp_status perp_log_open_memory(const void *bytes, size_t size, const perp_allocator *allocator,
                                 perp_log_reader **reader, perp_error *error)
{
    const perp_status status = make(allocator, reader, error);
    if (!*reader) {
        return status;
    }
    (*reader)->memory = bytes;
    (*reader)->size = size;
    return scan(reader, error);
}

const perp_log_head *perp_log_reader_head(const perp_log_reader *reader)
{
    return &reader->head;
}

perp_log_extent perp_log_reader_extent(const perp_log_reader *reader)
{
    return reader->extent;
}

const perp_log_end *perp_log_reader_end(const perp_log_reader *reader)
{
    return &reader->end;
}

const log_why_place *perp_log_find_why(const perp_log_reader *r, int step)
{
    const log_why_place *whys = (const log_why_place *)(const void *)r->whys.bytes;
    size_t low = 0, high = r->whys.size / sizeof *whys; /* all before `low` are of this step or earlier ones */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (whys[middle].step <= step) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && whys[low - 1].step == step ? &whys[low - 1] : NULL;
}

/* The words come last: where they stand in the unit behind, that is the one of the next step. */
static perp_status read_step(perp_log_reader *r, int index, perp_log_depth depth, perp_log_step *step,
                             perp_error *error)
{
    int count;
    const log_step_place *place = &perp_log_steps(r, &count)[index];
    const log_why_place *why = perp_log_find_why(r, place->step);
    memset(step, 0, sizeof *step);
    perp_plain_locale_enter(&r->locale);
    perp_status status = perp_log_load_unit(r, place->unit, error);
    if (status == PERP_STATUS_OK) {
        status = perp_log_parse_step(r, place, depth, step, error);
    }
    if (status == PERP_STATUS_OK && why) {
        status = perp_log_load_unit(r, why->unit, error);
        status = status == PERP_STATUS_OK ? perp_log_parse_why(r, why, step, error) : status;
    }
    perp_plain_locale_leave(&r->locale);
    return status;
}

perp_status perp_log_read(perp_log_reader *r, int index, perp_log_step *step, perp_error *error)
{
    return read_step(r, index, PERP_LOG_ALL, step, error);
}

perp_status perp_log_skim(perp_log_reader *r, int index, perp_log_depth depth, perp_log_step *step, perp_error *error)
{
    return read_step(r, index, depth, step, error);
}

int perp_log_find(const perp_log_reader *r, int step)
{
    int count;
    const log_step_place *steps = perp_log_steps(r, &count);
    int low = 0, high = count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (steps[middle].step < step) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && steps[low].step == step ? low : -1;
}

/* ---- with a model ------------------------------------------------------------------------------------------------ */

static bool find_file(void *context, const char *name, const char **bytes, size_t *size)
{
    const perp_log_head *head = context;
    for (int i = 1; i < head->file_count; i++) {
        if (strcmp(head->files[i].name, name) == 0) {
            *bytes = head->files[i].bytes;
            *size = head->files[i].size;
            return true;
        }
    }
    return false;
}

perp_status perp_log_load_scene(const perp_log_reader *r, perp_scene **scene, perp_diagnostics *diagnostics)
{
    const perp_log_head *head = &r->head;
    *scene = NULL;
    if (r->files_written == 0 || head->file_count != r->files_written) {
        perp_diagnostics_add(diagnostics, PERP_SEVERITY_ERROR, "", 0, 0, "",
                             r->files_written == 0
                                 ? "the log has no scene: its run was made by a program, not from a file"
                                 : "the log has no scene any more: it was cut, or is damaged there");
        return PERP_STATUS_BAD_INPUT;
    }
    const perp_scene_files files = {.context = (void *)head, .find = find_file};
    const perp_scene_load_options options = {
        .allocator = &r->allocator, .settings = head->changes, .setting_count = head->change_count, .files = &files};
    const perp_log_file *file = &head->files[0];
    return perp_scene_load_text(file->bytes, file->size, file->name, NULL, &options, scene, diagnostics);
}
