/* perp/report.h - what people look at, made from run logs: the replay.
 *
 * A replay is one HTML file that opens from disk, with no server and no request to anywhere: the motion, the forces in
 * their friction cones, the modes of the contacts along time, plots, and why a contact holds or slips. docs/replay.md.
 */
#ifndef PERP_REPORT_H
#define PERP_REPORT_H

#include <perp/log.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perp_replay_options {
    const perp_allocator *allocator; /* NULL: malloc */
    /* How much of a log is shown: of one with more steps, or with more contacts in all its steps together, one step of
     * every few is, and of those between the extremes are kept: gaps, forces, residuals, the gravest mode. */
    int most_frames;
    int most_rows;
} perp_replay_options;

/* malloc, 4000 frames, 300,000 contacts in all frames together. */
PERP_API perp_replay_options perp_replay_options_default(void);

/* False: this build has no page (PERP_VIEWER=OFF), and perp_replay_write is UNAVAILABLE. */
PERP_API bool perp_replay_available(void);

enum { PERP_REPLAY_MOST_LOGS = 9 };

/* Writes the page of 1 to PERP_REPLAY_MOST_LOGS logs, the first of which gives the bodies that labels name; `options`
 * NULL: the default ones. The file appears under its name when it is whole. The same logs give the same bytes. Numbers
 * keep 20 bits, about six figures. A log without scene files is shown without shapes. BAD_INPUT (what a reader says,
 * planar and spatial logs together), IO, OUT_OF_MEMORY, UNAVAILABLE. */
PERP_API perp_status perp_replay_write(perp_log_reader *const *readers, int count, const perp_replay_options *options,
                                       const char *path, perp_error *error);

#ifdef __cplusplus
}
#endif
#endif
