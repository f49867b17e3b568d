#include "report/plot.h"
#include "report/tolerances.h"

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

/* ---- the largest of many ----------------------------------------------------------------------------------------- */

/* By score and then by a second one, both falling; then as they come. */
typedef struct candidate {
    int item;
    double score, second;
} candidate;

static bool before(const candidate *a, const candidate *b)
{
    return a->score != b->score ? a->score > b->score : a->second > b->second;
}

/* The best of the candidates so far, and the choice that they become. */
typedef struct candidates {
    int most, count, eligible;
    candidate *kept;
    plot_choice choice;
} candidates;

static candidates begin_choosing(plot *p, plot_count wanted)
{
    const int asked = p->options->most > 0 ? p->options->most : wanted.usual;
    candidates c = {.most = asked < wanted.room ? asked : wanted.room};
    c.kept = PERP_ARENA_NEW(p->arena, candidate, (size_t)c.most + 1);
    c.choice.items = PERP_ARENA_NEW(p->arena, int, (size_t)c.most + 1);
    p->out_of_memory = p->out_of_memory || !c.kept || !c.choice.items;
    return c;
}

/* Keeps the candidate where it is among the best, which stand first. */
static void offer(candidates *c, candidate next)
{
    int at = c->count;
    c->eligible++;
    while (at > 0 && before(&next, &c->kept[at - 1])) {
        at--;
    }
    if (at < c->most) {
        const int moved = (c->count < c->most ? c->count : c->most - 1) - at;
        memmove(&c->kept[at + 1], &c->kept[at], (size_t)moved * sizeof *c->kept);
        c->kept[at] = next;
        c->count += c->count < c->most ? 1 : 0;
    }
}

/* The kept ones in their own order; `what` and `which` name them where others are left out. */
static plot_choice end_choosing(candidates *c, const char *what, const char *which)
{
    plot_choice *choice = &c->choice;
    for (int i = 0; i < c->count; i++) {
        int at = choice->count++;
        while (at > 0 && choice->items[at - 1] > c->kept[i].item) {
            choice->items[at] = choice->items[at - 1];
            at--;
        }
        choice->items[at] = c->kept[i].item;
    }
    if (c->eligible > c->count) {
        snprintf(choice->note, sizeof choice->note, "%d of %d %s, those %s; %d left out", c->count, c->eligible, what,
                 which, c->eligible - c->count);
    }
    return *choice;
}

plot_choice perp_plot_choose_contacts(plot *p, plot_count wanted, plot_which which)
{
    candidates best = begin_choosing(p, wanted);
    for (int i = 0; i < p->run->contact_count && !p->out_of_memory; i++) {
        const replay_row *rows = &p->run->rows[p->first_row[i]];
        if (p->run->contacts[i].row_count == 0 || !is_named(p, i) ||
            (which == PLOT_PATCHES && p->run->contacts[i].element_count == 0)) {
            continue;
        }
        candidate c = {i, 0.0, -INFINITY};
        for (int k = 0; k < p->run->contacts[i].row_count; k++) {
            c.score = fmax(c.score, rows[k].seen.fn_high);
            c.second = fmax(c.second, -rows[k].seen.phi_low);
        }
        if (which != PLOT_PRESSED || c.score > 0.0 || p->options->contact_count > 0) {
            offer(&best, c);
        }
    }
    return end_choosing(&best, "contacts",
                        p->largest > 0.0 ? "with the largest normal forces" : "with the smallest gaps");
}

/* Whether it is among those that the options name, or they name none. */
static bool joint_is_named(const plot *p, int joint)
{
    bool named = p->options->joint_count == 0;
    for (int i = 0; i < p->options->joint_count && !named; i++) {
        named = strcmp(p->options->joints[i], p->run->joint_entries[joint]->name) == 0;
    }
    return named;
}

plot_choice perp_plot_choose_joints(plot *p, plot_count wanted)
{
    candidates best = begin_choosing(p, wanted);
    const int joints = p->run->joint_count;
    for (int j = 0; j < joints && !p->out_of_memory; j++) {
        plot_range range = perp_plot_range_empty();
        for (int f = 0; f < p->run->frame_count; f++) {
            perp_plot_range_see(&range, p->run->joints[f * joints + j]);
        }
        if (joint_is_named(p, j)) {
            offer(&best, (candidate){j, range.high - range.low, 0.0});
        }
    }
    return end_choosing(&best, "joints", "that travel farthest");
}

static bool body_is_named(const plot *p, int body)
{
    for (int i = 0; i < p->options->body_count; i++) {
        if (strcmp(p->options->bodies[i], p->run->head->bodies[body]) == 0) {
            return true;
        }
    }
    return false;
}

plot_choice perp_plot_choose_bodies(plot *p, plot_count wanted)
{
    candidates best = begin_choosing(p, wanted);
    const int bodies = p->run->head->body_count;
    double farthest = 0.0;
    for (int b = 0; b < bodies; b++) {
        farthest = fmax(farthest, perp_plot_travel(p, b));
    }
    for (int b = 0; b < bodies && !p->out_of_memory; b++) {
        const double travel = perp_plot_travel(p, b);
        const bool moves = travel > SPAN_LEAST * farthest; /* and does not only tremble */
        if (p->options->body_count > 0 ? body_is_named(p, b) : moves) {
            offer(&best, (candidate){b, travel, 0.0});
        }
    }
    return end_choosing(&best, "bodies that move", "that travel farthest");
}

/* ---- names that are not there ------------------------------------------------------------------------------------ */

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

static perp_status unknown_body(const plot *p, const char *text, perp_error *error)
{
    perp_nearest nearest = perp_nearest_begin(text);
    for (int b = 0; b < p->run->head->body_count; b++) {
        perp_nearest_offer(&nearest, p->run->head->bodies[b]);
    }
    return nearest.name ? perp_fail(error, PERP_STATUS_BAD_INPUT,
                                    "there is no body `%s` in the log; did you mean `%s`?", text, nearest.name)
                        : perp_fail(error, PERP_STATUS_BAD_INPUT, "there is no body `%s` in the log", text);
}

static perp_status check_bodies(const plot *p, perp_error *error)
{
    for (int k = 0; k < p->options->body_count; k++) {
        bool found = false;
        for (int b = 0; b < p->run->head->body_count && !found; b++) {
            found = strcmp(p->options->bodies[k], p->run->head->bodies[b]) == 0;
        }
        if (!found) {
            return unknown_body(p, p->options->bodies[k], error);
        }
    }
    return PERP_STATUS_OK;
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
    return check_bodies(p, error);
}
