/* MCAP's records of channels, and the JSON schemas of their messages. */
#include "log/format.h"

#include <string.h>

const unsigned char perp_mcap_magic[8] = {0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};

size_t perp_mcap_begin(byte_row *row, unsigned opcode)
{
    const size_t begin = row->size;
    perp_bytes_u8(row, opcode);
    perp_bytes_u64(row, 0);
    return begin;
}

void perp_mcap_end(byte_row *row, size_t begin)
{
    perp_bytes_patch_u64(row, begin + 1, row->size - begin - MCAP_RECORD_HEAD);
}

#define NUMBER "{\"type\":\"number\"}"
#define WHOLE "{\"type\":\"integer\"}"
#define WORD "{\"type\":\"string\"}"
#define NUMBERS "{\"type\":\"array\",\"items\":" NUMBER "}"
#define BY_NAME "{\"type\":\"object\",\"additionalProperties\":" NUMBERS "}"
#define OBJECT "{\"type\":\"object\",\"properties\":{"
#define LIST "{\"type\":\"array\",\"items\":"

/* SI units; frames and signs as in docs/log.md. */
static const char state_schema[] =
    OBJECT "\"step\":" WHOLE ",\"t\":" NUMBER ",\"q\":" BY_NAME ",\"v\":" BY_NAME ",\"poses\":" BY_NAME "}}";

static const char contacts_schema[] = OBJECT
    "\"step\":" WHOLE ",\"t\":" NUMBER ",\"contacts\":" LIST OBJECT "\"a\":" WORD ",\"b\":" WORD ",\"feature\":" WORD
    ",\"id\":" LIST WHOLE "},\"mode\":" WORD ",\"phi\":" NUMBER ",\"point\":" NUMBERS ",\"point_a\":" NUMBERS
    ",\"point_b\":" NUMBERS ",\"normal\":" NUMBERS ",\"tangents\":" LIST NUMBERS "},\"ft\":" NUMBERS
    ",\"force_on_b\":" NUMBERS ",\"slip\":" NUMBERS ",\"mu\":" NUMBER ",\"fn\":" NUMBER ",\"margin\":" NUMBER
    ",\"layer_predicted\":" NUMBER ",\"layer_observed\":" NUMBER ",\"directions\":" LIST NUMBERS
    "},\"restitution\":" NUMBER ",\"pair\":" WHOLE ",\"tie\":{\"type\":\"boolean\"}}}}}}";

static const char elements_schema[] =
    OBJECT "\"step\":" WHOLE ",\"t\":" NUMBER ",\"contacts\":" LIST OBJECT "\"contact\":" WHOLE ",\"offset\":" NUMBERS
           ",\"fn\":" NUMBERS ",\"ft\":" NUMBERS ",\"limit\":" NUMBERS ",\"slip\":" NUMBERS ",\"deformation\":" NUMBERS
           "}}}}}";

/* Of a contact of a solution, what /contacts has and fn_range. */
static const char solutions_schema[] = OBJECT
    "\"step\":" WHOLE ",\"t\":" NUMBER ",\"answers\":" WORD ",\"complete\":{\"type\":\"boolean\"},\"why\":" WORD
    ",\"left_out\":" WORD ",\"solutions\":" LIST OBJECT "\"acceleration\":" BY_NAME ",\"velocity\":" BY_NAME
    ",\"vertices\":" LIST BY_NAME "},\"rays\":" LIST BY_NAME "},\"contacts\":" LIST "{\"type\":\"object\"}}}}}}}";

static const char why_schema[] = OBJECT "\"step\":" WHOLE ",\"t\":" NUMBER ",\"contacts\":" LIST OBJECT
                                        "\"contact\":" WHOLE ",\"why\":" WORD ",\"flip\":" BY_NAME "}}}}}";

static const char trust_schema[] =
    OBJECT "\"step\":" WHOLE ",\"t\":" NUMBER ",\"from\":" NUMBER ",\"existence\":" WORD ",\"uniqueness\":" WORD
           ",\"rigidity\":" WORD ",\"motion\":" BY_NAME ",\"both_ways\":{\"type\":\"boolean\"},\"contacts\":" LIST WORD
           "},\"reasons\":" LIST WORD "}}}";

static const char info_schema[] = OBJECT
    "\"step\":" WHOLE ",\"t\":" NUMBER ",\"iterations\":" WHOLE ",\"solve_us\":" NUMBER
    ",\"several\":{\"type\":\"boolean\"},\"residual\":" OBJECT "\"balance\":" NUMBER ",\"complementarity\":" NUMBER
    ",\"cone\":" NUMBER ",\"penetration\":" NUMBER ",\"balance_true\":" NUMBER ",\"boundary_layer\":" NUMBER
    ",\"loop\":" NUMBER "}},\"fallbacks\":{\"type\":\"object\",\"additionalProperties\":" WHOLE
    "},\"events\":" LIST OBJECT "\"t\":" NUMBER ",\"contact\":" WORD ",\"a\":" WORD ",\"b\":" WORD ",\"feature\":" WORD
    ",\"from\":" WORD ",\"to\":" WORD "}}}}}";

static const char memory_schema[] = OBJECT "\"step\":" WHOLE ",\"numbers\":" NUMBERS "}}";

/* The part of foxglove.SceneUpdate that is used here. */
#define STAMP OBJECT "\"sec\":" WHOLE ",\"nsec\":" WHOLE "}}"
#define VECTOR OBJECT "\"x\":" NUMBER ",\"y\":" NUMBER ",\"z\":" NUMBER "}}"
#define ROTATION OBJECT "\"x\":" NUMBER ",\"y\":" NUMBER ",\"z\":" NUMBER ",\"w\":" NUMBER "}}"
#define POSE OBJECT "\"position\":" VECTOR ",\"orientation\":" ROTATION "}}"
#define COLOR OBJECT "\"r\":" NUMBER ",\"g\":" NUMBER ",\"b\":" NUMBER ",\"a\":" NUMBER "}}"
#define SOLID OBJECT "\"pose\":" POSE ",\"size\":" VECTOR ",\"color\":" COLOR "}}"
static const char scene_schema[] =
    "{\"title\":\"foxglove.SceneUpdate\",\"type\":\"object\",\"properties\":{\"deletions\":" LIST OBJECT
    "\"timestamp\":" STAMP ",\"type\":" WHOLE ",\"id\":" WORD "}}},\"entities\":" LIST OBJECT "\"timestamp\":" STAMP
    ",\"frame_id\":" WORD ",\"id\":" WORD ",\"lifetime\":" STAMP
    ",\"frame_locked\":{\"type\":\"boolean\"},\"metadata\":" LIST OBJECT "\"key\":" WORD ",\"value\":" WORD
    "}}},\"arrows\":" LIST OBJECT "\"pose\":" POSE ",\"shaft_length\":" NUMBER ",\"shaft_diameter\":" NUMBER
    ",\"head_length\":" NUMBER ",\"head_diameter\":" NUMBER ",\"color\":" COLOR "}}},\"cubes\":" LIST SOLID
    "},\"spheres\":" LIST SOLID "},\"cylinders\":" LIST OBJECT "\"pose\":" POSE ",\"size\":" VECTOR
    ",\"bottom_scale\":" NUMBER ",\"top_scale\":" NUMBER ",\"color\":" COLOR "}}},\"lines\":" LIST OBJECT
    "\"type\":" WHOLE ",\"pose\":" POSE ",\"thickness\":" NUMBER
    ",\"scale_invariant\":{\"type\":\"boolean\"},\"points\":" LIST VECTOR "},\"color\":" COLOR ",\"colors\":" LIST COLOR
    "},\"indices\":" LIST WHOLE "}}}},\"triangles\":" LIST OBJECT "\"pose\":" POSE ",\"points\":" LIST VECTOR
    "},\"color\":" COLOR ",\"colors\":" LIST COLOR "},\"indices\":" LIST WHOLE "}}}},\"texts\":" LIST
    "{\"type\":\"object\"}},\"models\":" LIST "{\"type\":\"object\"}}}}}}}";

static const struct {
    const char *topic, *name, *schema;
} channels[LOG_CHANNELS] = {[LOG_STATE] = {"/state", "perp.State", state_schema},
                            [LOG_CONTACTS] = {"/contacts", "perp.Contacts", contacts_schema},
                            [LOG_INFO] = {"/info", "perp.Info", info_schema},
                            [LOG_SCENE] = {"/scene", "foxglove.SceneUpdate", scene_schema},
                            [LOG_WHY] = {"/why", "perp.Why", why_schema},
                            [LOG_MEMORY] = {"/memory", "perp.Memory", memory_schema},
                            [LOG_ELEMENTS] = {"/elements", "perp.Elements", elements_schema},
                            [LOG_SOLUTIONS] = {"/solutions", "perp.Solutions", solutions_schema},
                            [LOG_TRUST] = {"/trust", "perp.Trust", trust_schema}};

const char *perp_log_topic(log_channel channel)
{
    return channels[channel].topic;
}

void perp_log_put_schemas(byte_row *row, bool pictures)
{
    for (int i = LOG_STATE; i < LOG_CHANNELS; i++) {
        if (i != LOG_SCENE || pictures) {
            const size_t begin = perp_mcap_begin(row, MCAP_SCHEMA);
            perp_bytes_u16(row, (unsigned)i);
            perp_bytes_string(row, channels[i].name);
            perp_bytes_string(row, "jsonschema");
            perp_bytes_string(row, channels[i].schema);
            perp_mcap_end(row, begin);
        }
    }
}

void perp_log_put_channels(byte_row *row, bool pictures)
{
    for (int i = LOG_STATE; i < LOG_CHANNELS; i++) {
        if (i != LOG_SCENE || pictures) {
            const size_t begin = perp_mcap_begin(row, MCAP_CHANNEL);
            perp_bytes_u16(row, (unsigned)i);
            perp_bytes_u16(row, (unsigned)i);
            perp_bytes_string(row, channels[i].topic);
            perp_bytes_string(row, "json");
            perp_bytes_u32(row, 0); /* no metadata */
            perp_mcap_end(row, begin);
        }
    }
}

const log_quantity perp_log_element_quantities[LOG_ELEMENT_QUANTITIES] = {
    {"offset", PERP_LOG_UNIT_LENGTH, offsetof(perp_element_record, offset), 2},
    {"fn", PERP_LOG_UNIT_FORCE, offsetof(perp_element_record, fn), 1},
    {"ft", PERP_LOG_UNIT_FORCE, offsetof(perp_element_record, ft), 2},
    {"limit", PERP_LOG_UNIT_FORCE, offsetof(perp_element_record, limit), 1},
    {"slip", PERP_LOG_UNIT_SPEED, offsetof(perp_element_record, slip), 2},
    {"deformation", PERP_LOG_UNIT_LENGTH, offsetof(perp_element_record, deformation), 3}};

const log_quantity perp_log_residuals[LOG_RESIDUALS] = {
    {"balance", PERP_LOG_UNIT_NONE, offsetof(perp_residuals, balance), 1},
    {"complementarity", PERP_LOG_UNIT_NONE, offsetof(perp_residuals, complementarity), 1},
    {"cone", PERP_LOG_UNIT_NONE, offsetof(perp_residuals, cone), 1},
    {"penetration", PERP_LOG_UNIT_LENGTH, offsetof(perp_residuals, penetration), 1},
    {"balance_true", PERP_LOG_UNIT_NONE, offsetof(perp_residuals, balance_true), 1},
    {"boundary_layer", PERP_LOG_UNIT_LENGTH, offsetof(perp_residuals, boundary_layer), 1},
    {"loop", PERP_LOG_UNIT_JOINT, offsetof(perp_residuals, loop), 1}};

#define MAY_BE(verdict) (1u << PERP_VERDICT_##verdict)

const log_verdict perp_log_verdicts[LOG_VERDICTS] = {
    {"existence", offsetof(perp_step_trust, existence), MAY_BE(EXISTS) | MAY_BE(NONE) | MAY_BE(UNKNOWN)},
    {"uniqueness", offsetof(perp_step_trust, uniqueness),
     MAY_BE(UNIQUE) | MAY_BE(UNIQUE_AT_THESE_NORMAL_FORCES) | MAY_BE(NOT_UNIQUE) | MAY_BE(BORDERLINE) |
         MAY_BE(UNKNOWN)},
    {"rigidity", offsetof(perp_step_trust, rigidity),
     MAY_BE(VALID) | MAY_BE(INVALID) | MAY_BE(BORDERLINE) | MAY_BE(UNKNOWN) | MAY_BE(NO_CONTACT)}};

uint64_t perp_log_time(double t)
{
    const double nanoseconds = nearbyint(1e9 * t);
    return nanoseconds > 0.0 && nanoseconds < 9.2e18 ? (uint64_t)nanoseconds : 0;
}
