/* Contacts of a step without reading all of it: what a long run is decimated by, or what a picture shows. Most of a
 * log's time is in the numbers of contacts, forty each, of which this takes five, or about twenty.
 *
 * It knows the text that messages.c writes, key after key, and nothing else: where a message is not just that, it is
 * left to parse.c. Nothing of a string can be taken for a key: its quotes are escaped. Which
 * contact it is stands in bytes that are mostly those of the step before, and is parsed, by parse.c, where they are
 * not. */
#include "log/read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct cursor {
    const char *at, *end;
} cursor;

/* A contact as the last step had it: its text from "{" up to the mode, and what that says. */
typedef struct known {
    size_t text, length; /* in the texts */
    perp_contact contact;
} known;

static bool passes(cursor *c, const char *literal)
{
    const size_t length = strlen(literal);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, literal, length) != 0) {
        return false;
    }
    c->at += length;
    return true;
}

/* Behind the next place of a literal that begins with a quote. */
static bool finds(cursor *c, const char *literal)
{
    while ((c->at = memchr(c->at, '"', (size_t)(c->end - c->at))) != NULL) {
        if (passes(c, literal)) {
            return true;
        }
        c->at++;
    }
    c->at = c->end;
    return false;
}

/* A JSON number; what strtod takes beyond that is refused. The text ends in a zero behind the last message. */
static bool reads(cursor *c, double *value)
{
    const char *digits = c->at < c->end && *c->at == '-' ? c->at + 1 : c->at;
    if (c->end - digits < 2 || *digits < '0' || *digits > '9' || digits[1] == 'x' || digits[1] == 'X') {
        return false;
    }
    char *end;
    *value = strtod(c->at, &end);
    c->at = end;
    return end <= c->end && isfinite(*value);
}

static bool reads_mode(cursor *c, perp_contact_mode *mode)
{
    for (int i = PERP_CONTACT_OPEN; i <= PERP_CONTACT_SLIDE; i++) {
        if (passes(c, perp_contact_mode_name((perp_contact_mode)i))) {
            *mode = (perp_contact_mode)i;
            return passes(c, "\",\"phi\":");
        }
    }
    return false;
}

static const known *known_of(const byte_row *row, int *count)
{
    *count = (int)(row->size / sizeof(known));
    return (const known *)(const void *)row->bytes;
}

/* Which contact begins at the cursor, which ends up behind `"mode":"`. *next: where in the last step's list it is
 * likely to be; a contact or two may have come or gone since. */
static bool identify(perp_log_reader *r, cursor *c, int *next, perp_contact *contact)
{
    enum { NEAR = 3 };
    static const char mode[] = ",\"mode\":\"";
    const size_t left = (size_t)(c->end - c->at), behind = sizeof mode - 1;
    int count;
    const known *list = known_of(&r->skim.known[r->skim.now ^ 1], &count);
    const char *texts = (const char *)r->skim.texts[r->skim.now ^ 1].bytes;
    const char *begin = c->at;
    for (int k = *next; k < count && k < *next + NEAR; k++) {
        const known *seen = &list[k];
        if (left > seen->length + behind && memcmp(begin, texts + seen->text, seen->length) == 0 &&
            memcmp(begin + seen->length, mode, behind) == 0) {
            *contact = seen->contact;
            *next = k + 1;
            c->at = begin + seen->length + behind;
            break;
        }
    }
    if (c->at == begin) {
        cursor friction = *c;
        if (!finds(c, "\"mode\":\"") || !finds(&friction, "\"mu\":") || !reads(&friction, &contact->friction) ||
            !perp_log_parse_identity(r, begin, (size_t)(c->at - begin) - behind, contact)) {
            return false;
        }
    }
    byte_row *const own = &r->skim.texts[r->skim.now];
    const known now = {own->size, (size_t)(c->at - begin) - behind, *contact};
    perp_bytes_put(own, begin, now.length);
    perp_bytes_put(&r->skim.known[r->skim.now], &now, sizeof now);
    return true;
}

/* How many directions friction has, where it does not have all: from behind their key, a list of vectors. */
static bool counts(cursor *c, int *directions)
{
    for (*directions = 0; passes(c, *directions ? ",[" : "["); ++*directions) {
        c->at = memchr(c->at, ']', (size_t)(c->end - c->at));
        if (!c->at || *directions == 2) {
            c->at = c->end;
            return false;
        }
        c->at++;
    }
    return passes(c, "]");
}

/* From behind the last number that is wanted to the next contact, or to the list's end. In a picture the directions of
 * friction are wanted themselves, and left to parse.c. */
static bool leaves(cursor *c, perp_log_depth depth, int *directions)
{
    double ignored;
    if (!finds(c, "\"layer_observed\":") || !reads(c, &ignored)) {
        return false;
    }
    if (passes(c, ",\"directions\":[") && (depth == PERP_LOG_PICTURE || !counts(c, directions))) {
        return false;
    }
    while (!(passes(c, "},{\"a\":"))) {
        if (c->end - c->at == 3 && passes(c, "}]}")) {
            return true;
        }
        c->at++;
        if (c->at >= c->end) {
            return false;
        }
    }
    c->at -= strlen("{\"a\":");
    return true;
}

/* The vector behind a key, of two numbers in the plane. */
static bool reads_vector(const perp_log_reader *r, cursor *c, perp_vec3 *v)
{
    return reads(c, &v->x) && passes(c, ",") && reads(c, &v->y) &&
           (r->head.planar || (passes(c, ",") && reads(c, &v->z))) && passes(c, "]");
}

static bool reads_tangential(cursor *c, int tangents, double *numbers)
{
    return reads(c, &numbers[0]) && (tangents < 2 || (passes(c, ",") && reads(c, &numbers[1]))) && passes(c, "]");
}

/* Where a contact is, between its gap and its forces. */
static bool reads_place(const perp_log_reader *r, cursor *c, int tangents, perp_contact *contact)
{
    return finds(c, "\"point_a\":[") && reads_vector(r, c, &contact->point_a) && finds(c, "\"point_b\":[") &&
           reads_vector(r, c, &contact->point_b) && finds(c, "\"normal\":[") && reads_vector(r, c, &contact->normal) &&
           finds(c, "\"tangents\":[") && passes(c, "[") && reads_vector(r, c, &contact->t) &&
           (tangents < 2 || (passes(c, ",[") && reads_vector(r, c, &contact->o)));
}

static bool skim_contact(perp_log_reader *r, cursor *c, perp_log_depth depth, int *next, perp_contact_record *record)
{
    perp_contact *contact = &record->contact;
    if (!identify(r, c, next, contact) || !reads_mode(c, &record->mode) || !reads(c, &contact->phi)) {
        return false;
    }
    const int tangents = contact->direction_count = perp_contact_tangents(contact, r->head.planar);
    if ((depth == PERP_LOG_PICTURE && !reads_place(r, c, tangents, contact)) || !finds(c, "\"ft\":[") ||
        !reads_tangential(c, tangents, record->ft) ||
        (depth == PERP_LOG_PICTURE && !(finds(c, "\"slip\":[") && reads_tangential(c, tangents, record->slip))) ||
        !finds(c, "\"fn\":") || !reads(c, &record->fn)) {
        return false;
    }
    if (perp_contact_is_support(contact)) {
        contact->normal.z = 1.0;
        contact->load = record->fn;
    }
    contact->directions[0] = contact->t; /* all of them, unless others are written */
    contact->directions[1] = contact->o;
    return leaves(c, depth, &contact->direction_count);
}

bool perp_log_skim_contacts(perp_log_reader *r, const log_message *message, perp_log_depth depth, perp_log_step *step)
{
    const char *text = (const char *)r->plain.bytes + message->offset;
    cursor c = {text, text + message->size};
    perp_contact_record *records = NULL;
    int count = 0, capacity = 0, next = 0;
    double number;
    r->skim.now ^= 1;
    perp_bytes_clear(&r->skim.texts[r->skim.now]);
    perp_bytes_clear(&r->skim.known[r->skim.now]);
    if (!passes(&c, "{\"step\":") || !reads(&c, &number) || number != step->step || !passes(&c, ",\"t\":") ||
        !reads(&c, &step->t) || !passes(&c, ",\"contacts\":[")) {
        return false;
    }
    while (c.at < c.end && !(count == 0 && passes(&c, "]}"))) {
        perp_contact_record *more = perp_arena_grow(&r->step_arena, records, count, &capacity, sizeof *records);
        if (!more) {
            return false; /* parse.c will say so */
        }
        records = more;
        memset(&records[count], 0, sizeof *records);
        if (!skim_contact(r, &c, depth, &next, &records[count++])) {
            return false;
        }
    }
    step->info.contact_count = count;
    step->info.contacts = records;
    return !r->skim.texts[r->skim.now].failed && !r->skim.known[r->skim.now].failed;
}
