/* replay_gather.h - a log read once, from beginning to end, into what its replay shows.
 *
 * A frame is a step that is shown: the last of every `stride` steps, and the first and the last of all. A row is one
 * contact at one frame. Where stride > 1 a row also has the extremes of its contact over the steps since the frame
 * before; a contact that was listed only in between has a row whose mode is REPLAY_APART.
 *
 * Of an instant a frame is a solution: the bodies are where they are in all of them, the forces are its own. */
#ifndef PERP_SRC_REPORT_REPLAY_GATHER_H
#define PERP_SRC_REPORT_REPLAY_GATHER_H

#include "report/replay_trust.h"

#include <perp/log.h>
#include <perp/report.h>

enum { REPLAY_APART = 4 }; /* beside perp_contact_mode */

typedef struct replay_contact {
    int a, b;
    char feature[64];
    double friction;
    int row_count;
    /* Of its last frame: where friction acts along one direction in space, how much of it is along t and o (where along
     * none, zeros). Else it acts along all of the tangent plane. */
    bool restricted;
    double along[2];
    /* Its patch, of the rung `compliant`: as many elements as it ever had, where they are along t and o, and the side
     * of one; 0: none, or a single element, which has no extent. */
    int element_count;
    double *offsets; /* 2 each */
    double cell;     /* m */
} replay_contact;

/* Over the steps since the frame before. */
typedef struct replay_extremes {
    int mode_gravest;
    double phi_low, phi_high, fn_low, fn_high, used_high;
} replay_extremes;

typedef struct replay_row {
    int contact, frame;
    int mode;
    double phi, fn, ft[2], slip[2];
    double used, limit; /* N: of the friction, as perp_friction_used and perp_friction_limit have it */
    perp_vec3 point, normal;
    int element_start, element_count; /* in the run's elements */
    replay_extremes seen;
} replay_row;

typedef struct replay_frame {
    int step;       /* of an instant: which solution */
    int iterations; /* largest since the frame before, as are the residuals */
    perp_residuals residuals;
    int fallbacks[PERP_FALLBACK_COUNT]; /* sums since the frame before */
    int several;
    replay_trust trust;
} replay_frame;

typedef struct replay_event {
    double t;
    int contact, from, to;
} replay_event;

typedef struct replay_why {
    int step, contact;
    const char *text;
} replay_why;

typedef struct replay_run {
    const perp_log_head *head;
    const perp_log_end *end;
    perp_log_extent extent;
    perp_scene *scene; /* NULL: the log has none */
    double t0;         /* step k ends at t0 + k h */
    /* Of an instant: what was answered, with the words; NULL: steps were taken, or the log is one of before this was
     * logged. */
    const perp_instant_answer *answer;
    int stride;
    int frame_count, row_count, contact_count, event_count, why_count;
    int events_left_out;
    int frame_capacity, row_capacity, contact_capacity, event_capacity, why_capacity;
    replay_frame *frames;
    double *poses;    /* frame by frame: head->pose_size of every body */
    double *joints;   /* frame by frame: position of every scalar joint */
    double *commands; /* likewise; what is not commanded has its position */
    double *elements; /* N: normal force of each */
    int element_count, element_capacity;
    replay_row *rows; /* sorted by contact, then by frame */
    replay_contact *contacts;
    replay_event *events;
    replay_why *whys;
    replay_trusts trusts;
    int joint_count;
    const perp_log_entry **joint_entries; /* the scalar joints */
    const perp_joint **joint_scene;       /* of the scene; NULL: not known */
} replay_run;

/* Loads the scene of a log and gathers its run; everything but the scene is the arena's. To be unloaded either way. */
perp_status perp_replay_load(perp_log_reader *reader, const perp_replay_options *options, perp_arena *arena,
                             replay_run *run, perp_error *error);
void perp_replay_unload(replay_run *run);
/* Leaves only one frame of an instant, 0 <= frame < frame_count. */
void perp_replay_keep_frame(replay_run *run, int frame);
/* m: the side of an element of a patch, from where its elements are; 0 where that does not say it, as one alone does
 * not.
 */
double perp_replay_cell(const perp_element_record *elements, int count, bool planar);
/* The friction cone that the run was made with; UNSET: it has none. */
perp_cone perp_replay_cone(const replay_run *run);
int perp_replay_rays(const replay_run *run);
/* Fills `run`, whose head, end and scene are set, from the reader; everything is the arena's. */
perp_status perp_replay_gather(perp_log_reader *reader, const perp_replay_options *options, perp_arena *arena,
                               replay_run *run, perp_error *error);

#endif
