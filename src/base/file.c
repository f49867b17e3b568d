#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *perp_file_join(perp_arena *arena, const char *folder, const char *name)
{
    if (folder[0] == '\0' || strcmp(folder, ".") == 0) {
        return perp_arena_text(arena, name, strlen(name));
    }
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = perp_arena_push(arena, size, 1);
    if (path) {
        snprintf(path, size, "%s/%s", folder, name);
    }
    return path;
}

char *perp_file_folder(perp_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) {
        return perp_arena_text(arena, ".", 1);
    }
    return slash == path ? perp_arena_text(arena, "/", 1) : perp_arena_text(arena, path, (size_t)(slash - path));
}

static perp_status refuse(char why[200], perp_status status, const char *what)
{
    snprintf(why, 200, "%s", what);
    return status;
}

static perp_status refuse_system(char why[200], perp_status status, const char *what)
{
    snprintf(why, 200, "%s: %s", what, strerror(errno));
    return errno == ENOMEM ? PERP_STATUS_OUT_OF_MEMORY : status;
}

/* Symbolic links are followed first, so that a link inside the folder cannot lead out of it. */
perp_status perp_file_check_inside(const char *folder, const char *file, char why[200])
{
    if (!folder) {
        return refuse(why, PERP_STATUS_BAD_INPUT, "this scene does not come from a folder, so it cannot name files");
    }
    if (file[0] == '/') {
        return refuse(why, PERP_STATUS_BAD_INPUT, "must be relative to the scene's folder");
    }
    char path[PATH_MAX], root[PATH_MAX], place[PATH_MAX];
    struct stat status;
    if (snprintf(path, sizeof path, "%s/%s", folder, file) >= (int)sizeof path) {
        return refuse(why, PERP_STATUS_BAD_INPUT, "the path is too long");
    }
    if (!realpath(folder, root) || !realpath(path, place) || stat(place, &status) != 0) {
        return refuse_system(why, PERP_STATUS_BAD_INPUT, "cannot be opened");
    }
    const size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(place, root, length) != 0 || place[length] != '/') {
        return refuse(why, PERP_STATUS_BAD_INPUT, "lies outside the scene's folder; move it there");
    }
    return S_ISREG(status.st_mode) ? PERP_STATUS_OK : refuse(why, PERP_STATUS_BAD_INPUT, "is not a regular file");
}

static perp_status read_all(perp_arena *arena, int descriptor, size_t limit, char **text, size_t *length, char why[200])
{
    size_t capacity = 1 << 16, used = 0;
    char *buffer = perp_arena_push(arena, capacity, 1);
    while (buffer) {
        const ssize_t got = read(descriptor, buffer + used, capacity - used);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return refuse_system(why, PERP_STATUS_IO, "cannot be read");
        }
        if (got == 0) {
            *text = buffer;
            *length = used;
            return PERP_STATUS_OK;
        }
        used += (size_t)got;
        if (used > limit) {
            snprintf(why, 200, "is larger than %zu bytes", limit);
            return PERP_STATUS_IO;
        }
        if (used == capacity) {
            char *larger = perp_arena_push(arena, 2 * capacity, 1);
            if (larger) {
                memcpy(larger, buffer, used);
            }
            buffer = larger;
            capacity *= 2;
        }
    }
    return refuse(why, PERP_STATUS_OUT_OF_MEMORY, "out of memory");
}

perp_status perp_file_read(perp_arena *arena, const char *path, bool regular_only, size_t limit, char **text,
                           size_t *length, char why[200])
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | (regular_only ? O_NONBLOCK : 0));
    if (descriptor < 0) {
        return refuse_system(why, PERP_STATUS_IO, "cannot be opened");
    }
    struct stat status;
    perp_status outcome;
    if (fstat(descriptor, &status) != 0) {
        outcome = refuse_system(why, PERP_STATUS_IO, "cannot be opened");
    } else if (S_ISDIR(status.st_mode)) {
        outcome = refuse(why, PERP_STATUS_IO, "is a folder, not a file");
    } else if (regular_only && !S_ISREG(status.st_mode)) {
        outcome = refuse(why, PERP_STATUS_IO, "is not a regular file");
    } else {
        outcome = read_all(arena, descriptor, limit, text, length, why);
    }
    close(descriptor);
    return outcome;
}
