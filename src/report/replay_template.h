/* replay_template.h - the page without its data: top, what a watched page may do, head, JSON headers, middle, packed
 * columns, tail. Made by viewer/build.mjs; empty in a build without it. */
#ifndef PERP_SRC_REPORT_REPLAY_TEMPLATE_H
#define PERP_SRC_REPORT_REPLAY_TEMPLATE_H

#include <stddef.h>

extern const unsigned char perp_replay_top[], perp_replay_head[], perp_replay_middle[], perp_replay_tail[];
extern const size_t perp_replay_top_size, perp_replay_head_size, perp_replay_middle_size, perp_replay_tail_size;

#endif
