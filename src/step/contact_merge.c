/* The records of a step and the contacts of the state that it led to, as one list.
 *
 * Both are in the order of contact sets, so one pass over them meets every manifold: within one, the points that the
 * step began with come first, in their order, then those that are new. */
#include "contact/contact_reach.h"
#include "step/run_private.h"

typedef struct span {
    const perp_contact_record *records;
    int start, end;
} span;

static span manifold_from(const perp_contact_record *records, int count, int start, bool wanted)
{
    span s = {records, start, start};
    while (wanted && s.end < count &&
           perp_contact_compare_pairs(&records[start].contact, &records[s.end].contact) == 0) {
        s.end++;
    }
    return s;
}

int perp_contact_find(const perp_contact *list, int count, const perp_contact *contact, int *hint)
{
    while (*hint < count && perp_contact_compare_pairs(&list[*hint], contact) < 0) {
        ++*hint;
    }
    for (int k = *hint; k < count && perp_contact_compare_pairs(&list[k], contact) == 0; k++) {
        if (perp_contact_same(&list[k], contact)) {
            return k;
        }
    }
    return -1;
}

static int find_in(const span *s, const perp_contact *contact)
{
    for (int i = s->start; i < s->end; i++) {
        if (perp_contact_same(&s->records[i].contact, contact)) {
            return i;
        }
    }
    return -1;
}

static void append(contact_log *log, int *count, const perp_contact_record *record, int match)
{
    log->match[*count] = match;
    log->merged[(*count)++] = *record;
}

static void merge_manifold(contact_log *log, const span *step, const span *end, int *count)
{
    for (int i = step->start; i < step->end; i++) {
        perp_contact_record record = step->records[i];
        const int same = find_in(end, &record.contact);
        if (same < 0 && record.mode == PERP_CONTACT_OPEN) {
            continue;
        }
        if (same >= 0) {
            const perp_contact *now = &end->records[same].contact;
            record.contact.phi = now->phi;
            record.contact.point_a = now->point_a;
            record.contact.point_b = now->point_b;
        } else {
            perp_contact_look_again(log->set, &record.contact);
        }
        append(log, count, &record, same);
    }
    for (int i = end->start; i < end->end; i++) {
        if (find_in(step, &end->records[i].contact) < 0) {
            append(log, count, &end->records[i], i);
        }
    }
}

perp_status perp_contact_log_merge(contact_log *log, const perp_contact_record *step, int step_count, perp_error *error)
{
    if (!perp_contact_log_reserve(log, log->count + step_count)) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for %d contacts", log->count + step_count);
    }
    int count = 0;
    for (int i = 0, k = 0; i < step_count || k < log->count;) {
        const int order = i == step_count   ? 1
                          : k == log->count ? -1
                                            : perp_contact_compare_pairs(&step[i].contact, &log->records[k].contact);
        const span begun = manifold_from(step, step_count, i, order <= 0);
        const span ended = manifold_from(log->records, log->count, k, order >= 0);
        merge_manifold(log, &begun, &ended, &count);
        i = begun.end;
        k = ended.end;
    }
    perp_contact_record *spent = log->records;
    log->records = log->merged;
    log->merged = spent;
    log->count = count;
    return PERP_STATUS_OK;
}
