#include "report/save.h"

#include "trace/output_file.h"

perp_status perp_report_save(const byte_row *content, const char *path, perp_error *error)
{
    output_file file = {0};
    perp_status status = perp_output_open(&file, NULL, path, error);
    if (status == PERP_STATUS_OK) {
        fwrite(content->bytes, 1, content->size, file.stream); /* a failure is kept by the stream and said now */
        status = perp_output_complete(&file, error);
    }
    perp_output_discard(&file);
    return status;
}
