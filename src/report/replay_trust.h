/* replay_trust.h - the certificates of a log as its replay shows them: the gravest verdicts since the frame before,
 * what is said of them, and where a step is not unique the motion that costs nothing, as the twist of every body. */
#ifndef PERP_SRC_REPORT_REPLAY_TRUST_H
#define PERP_SRC_REPORT_REPLAY_TRUST_H

#include "base/arena.h"

#include <perp/log.h>

enum { REPLAY_VERDICTS = 3, REPLAY_TWIST = 6 };

/* Over the steps since the frame before. */
typedef struct replay_trust {
    int verdicts[REPLAY_VERDICTS]; /* of existence, uniqueness, rigidity: 1 + perp_verdict; 0: no certificate */
    int text;                      /* of replay_trusts.texts; 0: nothing is said */
    double *motion;                /* by entry, as v is; NULL: there is none */
    bool both_ways;
} replay_trust;

typedef struct replay_ghost {
    int frame;
    bool both_ways;
    double *twists; /* REPLAY_TWIST by body, of its origin; the largest number is 1 */
} replay_ghost;

/* Of all frames. */
typedef struct replay_trusts {
    bool any; /* some step has a certificate */
    int text_count, text_capacity;
    const char **texts; /* the first is empty */
    size_t text_bytes;  /* of all texts */
    int ghost_count, ghost_capacity;
    replay_ghost *ghosts;
} replay_trusts;

/* What motions are turned into twists with; zeroed, it makes no ghosts. */
typedef struct replay_ghost_maker {
    const perp_log_reader *reader;
    perp_model *model;
    perp_kinematics *kinematics;
    perp_state state;
} replay_ghost_maker;

/* `scene`: of the log, NULL where it has none. Closing is due either way. */
perp_status perp_replay_ghost_open(replay_ghost_maker *maker, const perp_log_reader *reader, const perp_scene *scene,
                                   const perp_allocator *allocator, perp_error *error);
void perp_replay_ghost_close(replay_ghost_maker *maker);

/* Takes one more step into `since`. False: out of memory. */
bool perp_replay_see_trust(replay_trusts *trusts, perp_arena *arena, const perp_log_head *head,
                           const perp_log_step *step, replay_trust *since);
/* The ghost of a frame, whose step has its coordinates. Of a long run whose motions are many the later ones are left
 * out. */
perp_status perp_replay_add_ghost(replay_trusts *trusts, perp_arena *arena, replay_ghost_maker *maker, int frame,
                                  const perp_log_step *step, const replay_trust *since, perp_error *error);

#endif
