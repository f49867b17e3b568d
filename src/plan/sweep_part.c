#include "plan/sweep_part.h"

#include "trace/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static perp_status fail_io(perp_error *error, const char *doing, const char *path)
{
    return perp_fail(error, errno == ENOMEM ? PERP_STATUS_OUT_OF_MEMORY : PERP_STATUS_IO, "cannot %s `%s`: %s", doing,
                     path, strerror(errno ? errno : EIO));
}

static perp_status write_all(const sweep_part *part, const void *bytes, size_t size, off_t at, perp_error *error)
{
    const char *from = bytes;
    while (size > 0) {
        errno = 0;
        const ssize_t written = pwrite(part->descriptor, from, size, at);
        if (written <= 0 && errno != EINTR) {
            return fail_io(error, "write", part->path);
        }
        const size_t step = written > 0 ? (size_t)written : 0;
        from += step;
        at += (off_t)step;
        size -= step;
    }
    return PERP_STATUS_OK;
}

static perp_status read_all(const sweep_part *part, void *bytes, size_t size, off_t at, perp_error *error)
{
    char *to = bytes;
    while (size > 0) {
        errno = 0;
        const ssize_t got = pread(part->descriptor, to, size, at);
        if (got <= 0 && errno != EINTR) {
            return fail_io(error, "read", part->path);
        }
        const size_t step = got > 0 ? (size_t)got : 0;
        to += step;
        at += (off_t)step;
        size -= step;
    }
    return PERP_STATUS_OK;
}

static int head_text(const perp_sweep *s, char text[80])
{
    char print[17];
    perp_hash_text(s->print, print);
    return snprintf(text, 80, "perp-sweep 1 %s %d\n", print, s->cases);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static perp_status refuse_other(const sweep_part *part, perp_error *error)
{
    return perp_fail(error, PERP_STATUS_BAD_INPUT,
                     "`%s` is of another sweep, or its files or perp have changed since; remove it to begin anew, or "
                     "give another -o",
                     part->path);
}

/* Room for the places of so many rows. */
static perp_status grow(sweep_part *part, int count, perp_error *error)
{
    if (count <= part->capacity) {
        return PERP_STATUS_OK;
    }
    const int capacity = count > 2 * part->capacity ? count : 2 * part->capacity;
    sweep_place *places = PERP_ARENA_NEW(part->arena, sweep_place, (size_t)capacity);
    if (!places) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for %d cases", capacity);
    }
    for (int i = 0; i < capacity; i++) {
        places[i] = i < part->capacity ? part->places[i] : (sweep_place){.at = -1};
    }
    part->places = places;
    part->capacity = capacity;
    return PERP_STATUS_OK;
}

perp_status perp_sweep_part_expect(sweep_part *part, int more, perp_error *error)
{
    if (more > PERP_SWEEP_MOST_CASES - part->count) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "`refine` asks for more than %d cases; take fewer levels",
                         PERP_SWEEP_MOST_CASES);
    }
    part->count += more;
    return grow(part, part->count, error);
}

/* A whole line, without its end. */
static perp_status note_row(const perp_sweep *s, sweep_part *part, const char *line, int length, perp_error *error)
{
    char *comma = NULL;
    const bool number = length >= 2 && line[0] >= '0' && line[0] <= '9';
    const long index = number ? strtol(line, &comma, 10) : -1;
    if (index < 0 || *comma != ',' || index >= (s->refine.levels >= 0 ? PERP_SWEEP_MOST_CASES : s->cases)) {
        return refuse_other(part, error);
    }
    if (grow(part, (int)index + 1, error) != PERP_STATUS_OK) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    if (part->places[index].at < 0) {
        part->places[index] = (sweep_place){part->end, length + 1};
        part->done++;
        part->errors += line[length - 1] != ',';
    }
    part->end += length + 1;
    return PERP_STATUS_OK;
}

/* The rows that are there; what stands behind the last line end is cut off. */
static perp_status read_rows(const perp_sweep *s, sweep_part *part, FILE *stream, perp_error *error)
{
    char head[80], *line = NULL;
    size_t capacity = 0;
    const int head_length = head_text(s, head);
    perp_status status = PERP_STATUS_OK;
    part->end = 0;
    for (ssize_t length; status == PERP_STATUS_OK && (length = getline(&line, &capacity, stream)) > 0;) {
        if (line[length - 1] != '\n' || length > INT_MAX / 2) {
            break;
        }
        if (part->end == 0) {
            const bool same = length == head_length && memcmp(line, head, (size_t)length) == 0;
            status = same ? PERP_STATUS_OK : refuse_other(part, error);
            part->end = length;
        } else {
            status = note_row(s, part, line, (int)length - 1, error);
        }
    }
    free(line);
    return status;
}

static perp_status resume_rows(const perp_sweep *s, sweep_part *part, perp_error *error)
{
    const int copy = dup(part->descriptor);
    FILE *stream = copy >= 0 ? fdopen(copy, "r") : NULL;
    if (!stream) {
        const perp_status status = fail_io(error, "read", part->path);
        if (copy >= 0) {
            close(copy);
        }
        return status;
    }
    const perp_status status = read_rows(s, part, stream, error);
    fclose(stream);
    return status;
}

/* So that no other program has it. */
static perp_status lock(const sweep_part *part, perp_error *error)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(part->descriptor, F_SETLK, &whole) == 0) {
        return PERP_STATUS_OK;
    }
    return errno == EACCES || errno == EAGAIN
               ? perp_fail(error, PERP_STATUS_IO, "another sweep is writing `%s`", part->path)
               : fail_io(error, "lock", part->path);
}

static perp_status open_file(sweep_part *part, const char *path, perp_arena *arena, perp_error *error)
{
    const size_t size = strlen(path) + sizeof ".part";
    struct stat present;
    part->path = perp_arena_push(arena, size, 1);
    if (!part->path) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a sweep");
    }
    snprintf(part->path, size, "%s.part", path);
    if (stat(path, &present) == 0 && S_ISDIR(present.st_mode)) {
        errno = EISDIR;
        return fail_io(error, "write", path);
    }
    part->descriptor = open(part->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    return part->descriptor < 0 ? fail_io(error, "write", part->path) : lock(part, error);
}

perp_status perp_sweep_part_open(const perp_sweep *s, const char *path, bool resume, perp_arena *arena,
                                 sweep_part *part, perp_error *error)
{
    *part = (sweep_part){.descriptor = -1, .arena = arena};
    perp_status status = perp_sweep_part_expect(part, s->cases, error);
    status = status == PERP_STATUS_OK ? open_file(part, path, arena, error) : status;
    if (status == PERP_STATUS_OK && resume) {
        status = resume_rows(s, part, error);
    }
    if (status == PERP_STATUS_OK && ftruncate(part->descriptor, part->end) != 0) {
        status = fail_io(error, "write", part->path);
    }
    if (status == PERP_STATUS_OK && part->end == 0) {
        char head[80];
        const int length = head_text(s, head);
        status = write_all(part, head, (size_t)length, 0, error);
        part->end = length;
    }
    return status;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

perp_status perp_sweep_part_add(sweep_part *part, int index, const byte_row *row, bool failed, perp_error *error)
{
    const perp_status status = write_all(part, row->bytes, row->size, part->end, error);
    if (status == PERP_STATUS_OK) {
        part->places[index] = (sweep_place){part->end, (int)row->size};
        part->end += (off_t)row->size;
        part->done++;
        part->errors += failed;
    }
    return status;
}

perp_status perp_sweep_part_read(const sweep_part *part, int number, byte_row *row, perp_error *error)
{
    unsigned char *room = perp_bytes_room(row, (size_t)part->places[number].length);
    return room ? read_all(part, room, row->size, part->places[number].at, error)
                : perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a row");
}

static perp_status copy_rows(const perp_sweep *s, const sweep_part *part, byte_row *row, FILE *out, perp_error *error)
{
    perp_status status = PERP_STATUS_OK;
    perp_sweep_header(s, row);
    for (int i = 0; i <= part->count && status == PERP_STATUS_OK; i++) {
        if (row->failed) {
            return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a row");
        }
        fwrite(row->bytes, 1, row->size, out); /* a failure is seen when the file is completed */
        perp_bytes_clear(row);
        status = i < part->count ? perp_sweep_part_read(part, i, row, error) : status;
    }
    return status;
}

perp_status perp_sweep_part_publish(const perp_sweep *s, sweep_part *part, const char *path, perp_error *error)
{
    output_file file;
    byte_row row = {.allocator = &s->allocator};
    perp_status status = perp_output_open(&file, NULL, path, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    status = copy_rows(s, part, &row, file.stream, error);
    status = status == PERP_STATUS_OK ? perp_output_complete(&file, error) : status;
    perp_output_discard(&file);
    perp_bytes_free(&row);
    if (status == PERP_STATUS_OK) {
        perp_sweep_part_remove(part);
    }
    return status;
}

void perp_sweep_part_remove(const sweep_part *part)
{
    unlink(part->path);
}

void perp_sweep_part_close(sweep_part *part)
{
    if (part->descriptor >= 0) {
        close(part->descriptor);
        part->descriptor = -1;
    }
}
