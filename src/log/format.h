/* format.h - what stands in a log: MCAP's records, our channels and their schemas, and the JSON of their messages.
 *
 *   magic  Header  Metadata "perp"  Attachment.. (the scene's files)  Schema.. Channel..      one write
 *   ( Chunk  MessageIndex.. )*                                                               one write each: a unit
 *   Metadata "perp.result"  DataEnd  summary  Footer  magic                                   one write
 *
 * The last message of every unit is the /memory of its last step, so that a run can go on behind any unit. */
#ifndef PERP_SRC_LOG_FORMAT_H
#define PERP_SRC_LOG_FORMAT_H

#include "log/bytes.h"

#include <perp/log.h>

#include <stddef.h>
#include <string.h>

extern const unsigned char perp_mcap_magic[8];

enum {
    MCAP_HEADER = 0x01,
    MCAP_FOOTER = 0x02,
    MCAP_SCHEMA = 0x03,
    MCAP_CHANNEL = 0x04,
    MCAP_MESSAGE = 0x05,
    MCAP_CHUNK = 0x06,
    MCAP_MESSAGE_INDEX = 0x07,
    MCAP_CHUNK_INDEX = 0x08,
    MCAP_ATTACHMENT = 0x09,
    MCAP_ATTACHMENT_INDEX = 0x0a,
    MCAP_STATISTICS = 0x0b,
    MCAP_METADATA = 0x0c,
    MCAP_METADATA_INDEX = 0x0d,
    MCAP_SUMMARY_OFFSET = 0x0e,
    MCAP_DATA_END = 0x0f
};

enum { MCAP_RECORD_HEAD = 9 }; /* opcode and length */

/* A record: its head, with the length to be filled in by perp_mcap_end. Returns where it begins. */
size_t perp_mcap_begin(byte_row *row, unsigned opcode);
void perp_mcap_end(byte_row *row, size_t begin);

/* Channels and their schemas have the same numbers, from 1. Logs that
 * are gone on with have these numbers: new ones come last. */
typedef enum log_channel {
    LOG_STATE = 1,
    LOG_CONTACTS,
    LOG_INFO,
    LOG_SCENE,     /* only where pictures were asked for */
    LOG_WHY,       /* of a step of which something is said; may stand in the unit behind the step's own */
    LOG_MEMORY,    /* of the last step of a unit */
    LOG_ELEMENTS,  /* of a step whose contacts are patches; stands before its /info */
    LOG_SOLUTIONS, /* of the initial state on a rung that speaks of an instant; likewise */
    LOG_TRUST,     /* of a step that was certified; likewise */
    LOG_CHANNELS
} log_channel;

const char *perp_log_topic(log_channel channel);

/* Schema and Channel records of all channels; without LOG_SCENE where `pictures` is false. */
void perp_log_put_schemas(byte_row *row, bool pictures);
void perp_log_put_channels(byte_row *row, bool pictures);

/* t in nanoseconds; what is not one (negative, beyond 292 years) is 0. */
uint64_t perp_log_time(double t);

/* ---- messages: one JSON object each. The locale must be plain. ---- */

void perp_log_put_state(byte_row *row, const perp_model *model, const perp_kinematics *kinematics, int step,
                        const perp_state *state);

void perp_log_put_contacts(byte_row *row, const perp_model *model, int step, double t, const perp_step_info *info);
void perp_log_put_elements(byte_row *row, bool planar, int step, double t, const perp_step_info *info);
/* All answers of a rung that speaks of an instant. */
void perp_log_put_solutions(byte_row *row, const perp_model *model, int step, const perp_state *state,
                            const perp_instant_answer *answer);
/* The certificate of a step. */
void perp_log_put_trust(byte_row *row, const perp_model *model, int step, const perp_state *state,
                        const perp_step_trust *trust);
/* The contacts that something is said of, each with its number in the step's list. */
void perp_log_put_why(byte_row *row, int step, double t, const perp_contact_note *notes, int count);
void perp_log_put_info(byte_row *row, const perp_model *model, int step, double t, const perp_step_info *info,
                       bool timing);
void perp_log_put_memory(byte_row *row, int step, const double *numbers, size_t count);
/* foxglove.SceneUpdate: every shape of the scene where it is, and the contacts with their forces. */
void perp_log_put_scene(byte_row *row, const perp_model *model, const perp_kinematics *kinematics, double t,
                        const perp_step_info *info);

/* "layout" of the metadata: the names that messages refer to, and how many numbers each has. */
void perp_log_put_layout(byte_row *row, const perp_model *model, const perp_state *state);

/* ---- verdicts ---- */

/* A verdict of a certificate: where it is in a perp_step_trust, and which ones it may be. */
typedef struct log_verdict {
    const char *name;
    size_t offset;
    unsigned may_be; /* 1 << perp_verdict */
} log_verdict;

enum { LOG_VERDICTS = 3 };
extern const log_verdict perp_log_verdicts[LOG_VERDICTS];

static inline perp_verdict *perp_log_verdict_of(const log_verdict *verdict, perp_step_trust *trust)
{
    return (perp_verdict *)(void *)((char *)trust + verdict->offset);
}

/* ---- numbers of records, as tables ---- */

/* `count` doubles from `offset` on in a struct. */
typedef struct log_quantity {
    const char *name;
    perp_log_unit unit;
    size_t offset;
    int count; /* in space */
} log_quantity;

enum { LOG_ELEMENT_QUANTITIES = 6, LOG_RESIDUALS = 7 };
extern const log_quantity perp_log_element_quantities[LOG_ELEMENT_QUANTITIES]; /* of perp_element_record */
extern const log_quantity perp_log_residuals[LOG_RESIDUALS];                   /* of perp_residuals, one number each */

/* Of a vector the plane has one component less. */
static inline int perp_log_quantity_count(const log_quantity *quantity, bool planar)
{
    return quantity->count - (planar && quantity->count > 1 ? 1 : 0);
}

static inline double perp_log_quantity_get(const log_quantity *quantity, int k, const void *record)
{
    double value;
    memcpy(&value, (const char *)record + quantity->offset + (size_t)k * sizeof value, sizeof value);
    return value;
}

static inline void perp_log_quantity_set(const log_quantity *quantity, int k, double value, void *record)
{
    memcpy((char *)record + quantity->offset + (size_t)k * sizeof value, &value, sizeof value);
}

/* ---- what is known of a unit, for the index at the end ---- */

typedef struct log_unit {
    uint64_t time_first, time_last;       /* ns */
    uint64_t offset, chunk_length;        /* of the Chunk record in the file */
    uint64_t index_offset[LOG_CHANNELS];  /* of the MessageIndex record; 0: no message of the channel */
    uint64_t index_length;                /* of all of them */
    uint64_t compressed_size, plain_size; /* of the chunk's records */
    uint64_t messages[LOG_CHANNELS];      /* how many it has */
} log_unit;

#endif
