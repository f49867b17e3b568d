/* save.h - what was made goes to a file that appears when it is whole. */
#ifndef PERP_SRC_REPORT_SAVE_H
#define PERP_SRC_REPORT_SAVE_H

#include "report/replay_pack.h"

perp_status perp_report_save(const byte_row *content, const char *path, perp_error *error);

#endif
