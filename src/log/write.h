/* write.h - the writer's own parts. */
#ifndef PERP_SRC_LOG_WRITE_H
#define PERP_SRC_LOG_WRITE_H

#include "base/plain_locale.h"
#include "log/format.h"

#include <pthread.h>
#include <zstd.h>

/* Where an attachment or a metadata record stands in the file, for the index at the end. */
typedef struct log_place {
    bool attachment;
    uint64_t offset, length;
    uint64_t data_size; /* attachments */
    size_t name;        /* where it begins in log->names */
} log_place;

/* Everything below `lock` is under it from the first step on: the run's thread adds messages, and a second one closes a
 * chunk that has been open for too long, so that a step that takes minutes does not hold back the one before it. */
struct perp_log {
    perp_allocator allocator;
    perp_log_options options;
    const perp_model *model;
    perp_log_sink sink;
    int file; /* of a log that was opened by its name; -1: the sink is the caller's */
    perp_state last;
    perp_kinematics *kinematics;
    perp_plain_locale locale;
    byte_row places; /* log_place, in the order of the file */
    byte_row names;  /* zero-terminated */

    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t closer;
    bool has_lock, has_closer, closing;
    perp_status status;
    perp_error error;
    uint64_t written; /* bytes in the file */
    byte_row records; /* messages of the open chunk */
    byte_row index[LOG_CHANNELS];
    byte_row unit;  /* what is written at once */
    log_unit open;  /* times and counts of the open chunk */
    double opened;  /* s: when its first message came */
    byte_row units; /* log_unit of every one written */
    double *memory; /* of the last step */
    size_t memory_count, memory_capacity;
    int last_step;
    int last_contacts; /* how many that step has */
    bool chunk_open;   /* it has messages */
    ZSTD_CCtx *compressor;
};

/* A log with its memory and sink, at its beginning; nothing is written. */
perp_status perp_log_make(const perp_log_sink *sink, int file, const perp_log_about *about,
                          const perp_log_options *options, perp_log **log, perp_error *error);
/* Starts what closes old chunks; after the head was written. */
perp_status perp_log_start(perp_log *log, perp_error *error);
void perp_log_discard(perp_log *log);

/* Notes where a record stands; place.name is filled in. */
void perp_log_note_place(perp_log *log, log_place place, const char *name);

/* Writes log->unit; remembers a failure. */
void perp_log_write_unit(perp_log *log);
/* Closes the open chunk, if it has messages. */
void perp_log_close_chunk(perp_log *log);

/* The head of the file into log->unit: magic, header, provenance, files, channels. */
void perp_log_put_head(perp_log *log, const perp_log_about *about);
/* That the run went on behind `step`, and how many steps are asked for now, into log->unit. */
void perp_log_put_resume(perp_log *log, const perp_log_about *about, int step);
/* The end of the file into log->unit. `result` NULL: no word on how the run ended. */
void perp_log_put_end(perp_log *log, const perp_run_result *result, const perp_error *failure);

/* 16 hexadecimal digits over files and changes. */
void perp_log_scene_hash(const perp_log_about *about, char text[17]);

#endif
