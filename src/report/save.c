#include "report/save.h"

#include "trace/output_file.h"

#include <stdlib.h>
#include <string.h>

perp_status perp_report_save(const replay_bytes *content, const char *path, perp_error *error)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const size_t length = slash == path ? 1 : slash ? (size_t)(slash - path) : 1;
    char *folder = malloc(length + 1);
    if (!folder) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while writing `%s`", path);
    }
    memcpy(folder, slash ? path : ".", length);
    folder[length] = '\0';
    output_file file = {0};
    perp_status status = perp_output_open(&file, folder, name, error);
    if (status == PERP_STATUS_OK) {
        fwrite(content->bytes, 1, content->size,
               file.stream); /* a failure is kept by the stream and said by the next call */
        status = perp_output_finish(&file, error);
    }
    status = status == PERP_STATUS_OK ? perp_output_publish(&file, error) : status;
    perp_output_discard(&file);
    free(folder);
    return status;
}
