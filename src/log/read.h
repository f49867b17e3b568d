/* read.h - the reader's own parts.
 *
 *   scan.c    the records of a file, whatever became of it: which chunks are whole, where each step's messages are
 *   parse.c   messages back into a step
 *   skim.c    only what long runs are decimated by, of messages as perp writes them
 *   read.c    the reader
 *   resume.c  going on behind the last whole unit */
#ifndef PERP_SRC_LOG_READ_H
#define PERP_SRC_LOG_READ_H

#include "base/arena.h"
#include "base/name_table.h"
#include "base/plain_locale.h"
#include "log/format.h"

#include <zstd.h>

/* A message in the records of its chunk. */
typedef struct log_message {
    size_t offset, size; /* of its JSON; size 0: there is none */
} log_message;

typedef struct log_step_place {
    int step, unit;
    log_message messages[LOG_CHANNELS]; /* of LOG_STATE, LOG_CONTACTS, LOG_INFO; LOG_ELEMENTS, LOG_SOLUTIONS, LOG_TRUST
                                           if any */
} log_step_place;

/* What is said of a step, in its unit or in the one behind. */
typedef struct log_why_place {
    int step, unit;
    log_message message;
} log_why_place;

typedef struct log_unit_place {
    log_unit unit;
    uint64_t data; /* where the chunk's records begin in the file */
    bool compressed;
    uint32_t crc;
    int indices;        /* MessageIndex records that follow */
    uint64_t end;       /* behind the last of them */
    int step_end;       /* steps of the file up to here */
    log_message memory; /* of its last step; size 0: none */
    int memory_step;
    bool whole; /* nothing before it or in it is missing */
} log_unit_place;

/* A record of the head, for going on. */
typedef struct log_record_place {
    bool attachment;
    uint64_t offset, length, data_size;
    const char *name;
} log_record_place;

struct perp_log_reader {
    perp_allocator allocator;
    perp_plain_locale locale;
    /* the file: one of the two */
    int file;
    const unsigned char *memory;
    uint64_t size;

    perp_arena arena; /* head and end */
    perp_log_head head;
    perp_log_extent extent;
    perp_log_end end;
    int files_written; /* that the head speaks of */
    perp_name_table bodies, entries;
    byte_row places; /* log_record_place */
    byte_row topics; /* channel ids as they are in this file: pairs of int: id, log_channel */
    bool pictures;   /* there is a channel LOG_SCENE */
    bool ended, gap; /* DataEnd was met; something in the data is missing */
    byte_row units;  /* log_unit_place */
    byte_row steps;  /* log_step_place */
    byte_row whys;   /* log_why_place, of steps that are there, in their order */
    ZSTD_DCtx *decompressor;

    byte_row packed;       /* of a chunk that is being read */
    byte_row plain;        /* records of unit `loaded` */
    int loaded;            /* -1: none */
    perp_arena step_arena; /* of the step that was read last */
    struct {
        int now;           /* which of each two is of the step that is being skimmed; the other, of the one before */
        byte_row texts[2]; /* which contacts a step has, as written */
        byte_row known[2]; /* and as read */
    } skim;
    perp_arena start_arena; /* of perp_log_resume */
};

static inline log_unit_place *perp_log_units(const perp_log_reader *r, int *count)
{
    *count = (int)(r->units.size / sizeof(log_unit_place));
    return (log_unit_place *)(void *)r->units.bytes;
}

static inline log_step_place *perp_log_steps(const perp_log_reader *r, int *count)
{
    *count = (int)(r->steps.size / sizeof(log_step_place));
    return (log_step_place *)(void *)r->steps.bytes;
}

/* What is said of a step, the last of it; NULL: nothing. */
const log_why_place *perp_log_find_why(const perp_log_reader *r, int step);

/* ---- scan.c ---- */

/* All records of the file. BAD_INPUT: not a log; IO; OUT_OF_MEMORY. */
perp_status perp_log_scan(perp_log_reader *r, perp_error *error);
/* The records of a unit into r->plain; their sum was checked by the scan. IO, OUT_OF_MEMORY, BAD_INPUT: damaged. */
perp_status perp_log_load_unit(perp_log_reader *r, int unit, perp_error *error);

/* ---- skim.c ---- */

/* The contacts of a step that is otherwise parsed: as perp_log_skim has them. False: they are to be parsed too. */
bool perp_log_skim_contacts(perp_log_reader *r, const log_message *message, perp_log_depth depth, perp_log_step *step);

/* ---- parse.c ---- */

/* Which contact it is, from the text of a contact up to its `id`, whose brace is not closed. */
bool perp_log_parse_identity(perp_log_reader *r, const char *text, size_t size, perp_contact *contact);

/* Metadata "perp", "perp.resume" and "perp.result": pairs of strings. BAD_INPUT where something is missing. */
perp_status perp_log_parse_resume(perp_log_reader *r, byte_view map, perp_error *error);
perp_status perp_log_parse_head(perp_log_reader *r, byte_view map, perp_error *error);
perp_status perp_log_parse_end(perp_log_reader *r, byte_view map, perp_error *error);
/* Adds what is said of a step that was parsed; the unit of the message is loaded. */
perp_status perp_log_parse_why(perp_log_reader *r, const log_why_place *place, perp_log_step *step, perp_error *error);
/* The three messages of a step, whose unit is loaded. */
perp_status perp_log_parse_step(perp_log_reader *r, const log_step_place *place, perp_log_depth depth,
                                perp_log_step *step, perp_error *error);
/* The numbers of a /memory message, in the start's arena. */
perp_status perp_log_parse_memory(perp_log_reader *r, const log_message *message, const double **numbers, size_t *count,
                                  perp_error *error);

#endif
