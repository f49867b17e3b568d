/* The replay of a run that keeps no log: the log is in memory for as long as the page is made. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static ptrdiff_t keep(void *context, const void *bytes, size_t size)
{
    cli_memory_log *log = context;
    if (log->capacity - log->size < size) {
        const size_t wanted = log->size + size > 2 * log->capacity ? log->size + size : 2 * log->capacity;
        unsigned char *moved = realloc(log->bytes, wanted);
        if (!moved) {
            errno = ENOMEM;
            return -1;
        }
        log->bytes = moved;
        log->capacity = wanted;
    }
    memcpy(log->bytes + log->size, bytes, size);
    log->size += size;
    return (ptrdiff_t)size;
}

perp_log_sink *cli_memory_log_sink(cli_memory_log *log)
{
    log->sink = (perp_log_sink){.context = log, .write = keep};
    return &log->sink;
}

void cli_memory_log_free(cli_memory_log *log)
{
    free(log->bytes);
}

int cli_run_page(const cli_memory_log *log, const char *log_path, long long watched, const char *path)
{
    perp_log_reader *reader = NULL;
    perp_error error = {0};
    const perp_status status = log_path ? perp_log_open(log_path, NULL, &reader, &error)
                                        : perp_log_open_memory(log->bytes, log->size, NULL, &reader, &error);
    const int code = status == PERP_STATUS_OK ? cli_write_page(&reader, 1, watched, path)
                                              : cli_fail(EXIT_REFUSED, "no replay was made: %s", error.message);
    perp_log_reader_free(reader);
    return code;
}
