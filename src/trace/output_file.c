#include "trace/output_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static perp_status fail_io(perp_error *error, const char *what, const char *path, int number)
{
    perp_fail(error, number == ENOMEM ? PERP_STATUS_OUT_OF_MEMORY : PERP_STATUS_IO, "cannot %s `%s`: %s", what, path,
              strerror(number));
    return number == ENOMEM ? PERP_STATUS_OUT_OF_MEMORY : PERP_STATUS_IO;
}

perp_status output_open(output_file *file, const char *folder, const char *name, perp_error *error)
{
    static const char pattern[] = ".partial-XXXXXX";
    memset(file, 0, sizeof *file);
    const size_t size = strlen(folder) + strlen(name) + sizeof pattern + 2;
    file->path = malloc(size);
    file->temporary = malloc(size);
    if (!file->path || !file->temporary) {
        output_discard(file);
        return fail_io(error, "write", name, ENOMEM);
    }
    snprintf(file->path, size, "%s/%s", folder, name);
    snprintf(file->temporary, size, "%s%s", file->path, pattern);
    struct stat present;
    if (stat(file->path, &present) == 0 && S_ISDIR(present.st_mode)) {
        const perp_status status = fail_io(error, "write", file->path, EISDIR); /* now, not after a long run */
        free(file->temporary);
        file->temporary = NULL;
        output_discard(file);
        return status;
    }
    const int descriptor = mkstemp(file->temporary);
    if (descriptor < 0) {
        const int number = errno;
        const perp_status status = fail_io(error, "write", file->path, number);
        free(file->temporary);
        file->temporary = NULL;
        output_discard(file);
        return status;
    }
    const mode_t mask = umask(0); /* mkstemp makes private files; give what open would have given */
    umask(mask);
    if (fchmod(descriptor, 0666 & ~mask) == 0) {
        file->stream = fdopen(descriptor, "w");
    }
    if (!file->stream) {
        const perp_status status = fail_io(error, "write", file->path, errno);
        close(descriptor);
        output_discard(file);
        return status;
    }
    return PERP_STATUS_OK;
}

perp_status output_finish(output_file *file, perp_error *error)
{
    errno = 0;
    const bool flushed = fflush(file->stream) == 0 && !ferror(file->stream) && fsync(fileno(file->stream)) == 0;
    const int flush_error = errno;
    const bool closed = fclose(file->stream) == 0;
    file->stream = NULL;
    if (flushed && closed) {
        return PERP_STATUS_OK;
    }
    return fail_io(error, "write", file->path, flush_error ? flush_error : errno ? errno : EIO);
}

perp_status output_publish(output_file *file, perp_error *error)
{
    if (rename(file->temporary, file->path) != 0) {
        return fail_io(error, "write", file->path, errno);
    }
    free(file->temporary);
    file->temporary = NULL;
    return PERP_STATUS_OK;
}

void output_discard(output_file *file)
{
    if (file->stream) {
        fclose(file->stream);
    }
    if (file->temporary) {
        unlink(file->temporary);
    }
    free(file->temporary);
    free(file->path);
    memset(file, 0, sizeof *file);
}
