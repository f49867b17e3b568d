#include "report/plot.h"

#include <stdio.h>
#include <string.h>

void perp_plot_contact_name(const plot *p, int contact, char *text, size_t size)
{
    const replay_contact *c = &p->run->contacts[contact];
    snprintf(text, size, "%s %s %s", p->run->head->bodies[c->a], p->run->head->bodies[c->b], c->feature);
}

/* Whether `text` is one of "a b feature", "a b", "b a", "a" or "b". */
static bool names_contact(const plot *p, int contact, const char *text)
{
    const replay_contact *c = &p->run->contacts[contact];
    const char *a = p->run->head->bodies[c->a], *b = p->run->head->bodies[c->b];
    char full[512];
    if (strcmp(text, a) == 0 || strcmp(text, b) == 0) {
        return true;
    }
    snprintf(full, sizeof full, "%s %s", b, a);
    if (strcmp(text, full) == 0) {
        return true;
    }
    snprintf(full, sizeof full, "%s %s", a, b);
    if (strcmp(text, full) == 0) {
        return true;
    }
    snprintf(full, sizeof full, "%s %s %s", a, b, c->feature);
    return strcmp(text, full) == 0;
}

static bool is_named(const plot *p, int contact)
{
    for (int i = 0; i < p->options->contact_count; i++) {
        if (names_contact(p, contact, p->options->contacts[i])) {
            return true;
        }
    }
    return p->options->contact_count == 0;
}

/* ---- the largest of many -------------------------------------------------------------------------------------------
 */

/* By score and then by a second one, both falling; then as they come. */
typedef struct candidate {
    int item;
    double score, second;
} candidate;

static bool before(const candidate *a, const candidate *b)
{
    return a->score != b->score ? a->score > b->score : a->second > b->second;
}

/* Keeps `most` candidates in `kept`, best first; `count` so far. */
static int keep(candidate *kept, int count, int most, candidate c)
{
    int at = count < most ? count : most;
    while (at > 0 && before(&c, &kept[at - 1])) {
        at--;
    }
    if (at >= most) {
        return count;
    }
    const int moved = (count < most ? count : most - 1) - at;
    memmove(&kept[at + 1], &kept[at], (size_t)moved * sizeof *kept);
    kept[at] = c;
    return count < most ? count + 1 : count;
}

/* The kept ones in their own order. */
static void take(plot_choice *choice, const candidate *kept, int count)
{
    for (int i = 0; i < count; i++) {
        int at = choice->count++;
        while (at > 0 && choice->items[at - 1] > kept[i].item) {
            choice->items[at] = choice->items[at - 1];
            at--;
        }
        choice->items[at] = kept[i].item;
    }
}

static int how_many(const plot *p, plot_count wanted)
{
    const int most = p->options->most > 0 ? p->options->most : wanted.usual;
    return most < wanted.room ? most : wanted.room;
}

plot_choice perp_plot_choose_contacts(plot *p, plot_count wanted, plot_which which)
{
    plot_choice choice = {0};
    const int most = how_many(p, wanted);
    candidate *kept = PERP_ARENA_NEW(p->arena, candidate, (size_t)most + 1);
    choice.items = PERP_ARENA_NEW(p->arena, int, (size_t)most + 1);
    if (!kept || !choice.items) {
        p->out_of_memory = true;
        return choice;
    }
    int count = 0, eligible = 0;
    for (int i = 0; i < p->run->contact_count; i++) {
        const replay_row *rows = &p->run->rows[p->first_row[i]];
        if (p->run->contacts[i].row_count == 0 || !is_named(p, i) ||
            (which == PLOT_PATCHES && p->run->contacts[i].element_count == 0)) {
            continue;
        }
        candidate c = {i, 0.0, -INFINITY};
        for (int k = 0; k < p->run->contacts[i].row_count; k++) {
            c.score = fmax(c.score, rows[k].fn_high);
            c.second = fmax(c.second, -rows[k].phi_low);
        }
        if (which == PLOT_PRESSED && c.score <= 0.0 && p->options->contact_count == 0) {
            continue;
        }
        eligible++;
        count = keep(kept, count, most, c);
    }
    take(&choice, kept, count);
    if (eligible > count) {
        snprintf(choice.note, sizeof choice.note, "%d of %d contacts, those with the %s; %d left out", count, eligible,
                 p->largest > 0.0 ? "largest normal forces" : "smallest gaps", eligible - count);
    }
    return choice;
}

static bool joint_is_named(const plot *p, int joint)
{
    for (int i = 0; i < p->options->joint_count; i++) {
        if (strcmp(p->options->joints[i], p->run->joint_entries[joint]->name) == 0) {
            return true;
        }
    }
    return p->options->joint_count == 0;
}

plot_choice perp_plot_choose_joints(plot *p, plot_count wanted)
{
    plot_choice choice = {0};
    const int most = how_many(p, wanted);
    candidate *kept = PERP_ARENA_NEW(p->arena, candidate, (size_t)most + 1);
    choice.items = PERP_ARENA_NEW(p->arena, int, (size_t)most + 1);
    if (!kept || !choice.items) {
        p->out_of_memory = true;
        return choice;
    }
    const int joints = p->run->joint_count;
    int count = 0, eligible = 0;
    for (int j = 0; j < joints; j++) {
        plot_range range = perp_plot_range_empty();
        for (int f = 0; f < p->run->frame_count; f++) {
            perp_plot_range_see(&range, p->run->joints[f * joints + j]);
        }
        if (joint_is_named(p, j)) {
            eligible++;
            count = keep(kept, count, most, (candidate){j, range.high - range.low, 0.0});
        }
    }
    take(&choice, kept, count);
    if (eligible > count) {
        snprintf(choice.note, sizeof choice.note, "%d of %d joints, those that travel farthest; %d left out", count,
                 eligible, eligible - count);
    }
    return choice;
}

/* ---- names that are not there --------------------------------------------------------------------------------------
 */

static perp_status unknown_contact(const plot *p, const char *text, perp_error *error)
{
    perp_nearest nearest = perp_nearest_begin(text);
    char pair[512], kept[512] = "";
    for (int i = 0; i < p->run->contact_count; i++) {
        const replay_contact *c = &p->run->contacts[i];
        snprintf(pair, sizeof pair, "%s %s", p->run->head->bodies[c->a], p->run->head->bodies[c->b]);
        perp_nearest_offer(&nearest, pair);
        if (nearest.name == pair) {
            memcpy(kept, pair, sizeof kept);
            nearest.name = kept;
        }
    }
    for (int i = 0; i < p->run->head->body_count; i++) {
        perp_nearest_offer(&nearest, p->run->head->bodies[i]);
    }
    return nearest.name
               ? perp_fail(error, PERP_STATUS_BAD_INPUT, "there is no contact `%s` in the log; did you mean `%s`?",
                           text, nearest.name)
               : perp_fail(error, PERP_STATUS_BAD_INPUT,
                           "there is no contact `%s` in the log; name it by its bodies, as in \"table cube\"", text);
}

static perp_status unknown_joint(const plot *p, const char *text, perp_error *error)
{
    perp_nearest nearest = perp_nearest_begin(text);
    for (int j = 0; j < p->run->joint_count; j++) {
        perp_nearest_offer(&nearest, p->run->joint_entries[j]->name);
    }
    return nearest.name
               ? perp_fail(error, PERP_STATUS_BAD_INPUT, "there is no joint `%s` in the log; did you mean `%s`?", text,
                           nearest.name)
               : perp_fail(error, PERP_STATUS_BAD_INPUT, "there is no joint `%s` with one coordinate in the log", text);
}

perp_status perp_plot_check_names(const plot *p, perp_error *error)
{
    for (int k = 0; k < p->options->contact_count; k++) {
        bool found = false;
        for (int i = 0; i < p->run->contact_count && !found; i++) {
            found = p->run->contacts[i].row_count > 0 && names_contact(p, i, p->options->contacts[k]);
        }
        if (!found) {
            return unknown_contact(p, p->options->contacts[k], error);
        }
    }
    for (int k = 0; k < p->options->joint_count; k++) {
        bool found = false;
        for (int j = 0; j < p->run->joint_count && !found; j++) {
            found = strcmp(p->options->joints[k], p->run->joint_entries[j]->name) == 0;
        }
        if (!found) {
            return unknown_joint(p, p->options->joints[k], error);
        }
    }
    return PERP_STATUS_OK;
}
