/* replay_header.h - a gathered run as JSON and packed columns. viewer/src/format.ts names what is in it. */
#ifndef PERP_SRC_REPORT_REPLAY_HEADER_H
#define PERP_SRC_REPORT_REPLAY_HEADER_H

#include "report/replay_gather.h"
#include "report/replay_pack.h"

/* Appends the run's columns to `out`; the header, NULL: out of memory. */
json_t *perp_replay_header(const replay_run *run, perp_arena *arena, byte_row *out);
/* The bodies of a run with their shapes; NULL likewise. */
json_t *perp_replay_bodies(const replay_run *run);

#endif
