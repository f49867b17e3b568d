#include "trace/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static perp_status fail_io(perp_error *error, const char *path, int number)
{
    return perp_fail(error, number == ENOMEM ? PERP_STATUS_OUT_OF_MEMORY : PERP_STATUS_IO, "cannot write `%s`: %s",
                     path, strerror(number));
}

/* A new file beside `path`, with the permissions that the process's umask leaves (mkstemp's are private, and asking for
 * the umask would change it for other threads). */
static int create_beside(output_file *file, size_t size)
{
    struct stat present;
    int descriptor = -1;
    if (stat(file->path, &present) == 0 && S_ISDIR(present.st_mode)) { /* said now, not after a long run */
        errno = EISDIR;
        return -1;
    }
    for (int attempt = 0; attempt < 100 && descriptor < 0; attempt++) {
        snprintf(file->temporary, size, "%s.partial-%ld-%d", file->path, (long)getpid(), attempt);
        descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST) {
            break;
        }
    }
    return descriptor;
}

perp_status perp_output_open(output_file *file, const char *folder, const char *name, perp_error *error)
{
    memset(file, 0, sizeof *file);
    const size_t size = (folder ? strlen(folder) : 0) + strlen(name) + 64;
    file->path = malloc(size);
    file->temporary = malloc(size);
    if (!file->path || !file->temporary) {
        free(file->temporary);
        file->temporary = NULL;
        perp_output_discard(file);
        return fail_io(error, name, ENOMEM);
    }
    snprintf(file->path, size, "%s%s%s", folder ? folder : "", folder ? "/" : "", name);
    const int descriptor = create_beside(file, size);
    if (descriptor < 0) {
        const perp_status status = fail_io(error, file->path, errno);
        free(file->temporary); /* nothing of ours to remove */
        file->temporary = NULL;
        perp_output_discard(file);
        return status;
    }
    file->stream = fdopen(descriptor, "w");
    if (!file->stream) {
        const perp_status status = fail_io(error, file->path, errno);
        close(descriptor);
        perp_output_discard(file);
        return status;
    }
    return PERP_STATUS_OK;
}

perp_status perp_output_finish(output_file *file, perp_error *error)
{
    errno = 0;
    const bool flushed = fflush(file->stream) == 0 && !ferror(file->stream) && fsync(fileno(file->stream)) == 0;
    const int flush_error = errno;
    const bool closed = fclose(file->stream) == 0;
    file->stream = NULL;
    if (flushed && closed) {
        return PERP_STATUS_OK;
    }
    return fail_io(error, file->path, flush_error ? flush_error : errno ? errno : EIO);
}

perp_status perp_output_publish(output_file *file, perp_error *error)
{
    if (rename(file->temporary, file->path) != 0) {
        return fail_io(error, file->path, errno);
    }
    free(file->temporary);
    file->temporary = NULL;
    return PERP_STATUS_OK;
}

perp_status perp_output_complete(output_file *file, perp_error *error)
{
    const perp_status status = perp_output_finish(file, error);
    return status == PERP_STATUS_OK ? perp_output_publish(file, error) : status;
}

void perp_output_discard(output_file *file)
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
