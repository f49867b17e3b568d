#include "report/replay_template.h"

const unsigned char perp_replay_top[] = {0};
const size_t perp_replay_top_size = 0;
const unsigned char perp_replay_head[] = {0};
const size_t perp_replay_head_size = 0;
const unsigned char perp_replay_middle[] = {0};
const size_t perp_replay_middle_size = 0;
const unsigned char perp_replay_tail[] = {0};
const size_t perp_replay_tail_size = 0;
