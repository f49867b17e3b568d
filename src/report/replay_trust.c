#include "report/replay_trust.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Bytes of all texts, and of those of steps without a bad verdict; numbers of all ghosts: so the page stays small, and
 * what is left out is in the log. */
enum { MOST_TEXT = 200000, MOST_GOOD_TEXT = 60000, MOST_NUMBERS = 300000, BAD = 6 };

/* Which verdict of two steps stands for both. */
static int gravity_of(perp_verdict verdict)
{
    static const int gravity[PERP_VERDICT_COUNT] = {
        [PERP_VERDICT_NO_CONTACT] = 1,
        [PERP_VERDICT_EXISTS] = 2,
        [PERP_VERDICT_UNIQUE] = 2,
        [PERP_VERDICT_VALID] = 2,
        [PERP_VERDICT_UNIQUE_AT_THESE_NORMAL_FORCES] = 3,
        [PERP_VERDICT_UNKNOWN] = 4,
        [PERP_VERDICT_BORDERLINE] = 5,
        [PERP_VERDICT_NOT_UNIQUE] = BAD,
        [PERP_VERDICT_INVALID] = BAD,
        [PERP_VERDICT_NONE] = BAD,
    };
    return gravity[verdict];
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static void put_words(const perp_step_trust *trust, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < trust->reason_count && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? "\n" : "", trust->reasons[i]);
    }
    for (int i = 0; i < trust->contact_count && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i > 0      ? "; "
                                 : used > 0 ? "\nat "
                                            : "at ",
                                 trust->contacts[i]);
    }
}

/* The number of a text, which mostly is that of the step before; 0 where there is no more room. -1: out of memory. */
static int number_of_text(replay_trusts *t, perp_arena *arena, const char *text, size_t most)
{
    if (text[0] == '\0') {
        return 0;
    }
    if (t->text_count > 1 && strcmp(t->texts[t->text_count - 1], text) == 0) {
        return t->text_count - 1;
    }
    const size_t length = strlen(text);
    if (t->text_bytes + length > most) {
        return 0;
    }
    for (int first = t->text_count == 0; first >= 0; first--) { /* the empty one comes with the first */
        const char **texts = perp_arena_grow(arena, (void *)t->texts, t->text_count, &t->text_capacity, sizeof *texts);
        char *copy = perp_arena_text(arena, text, first ? 0 : length);
        if (!texts || !copy) {
            return -1;
        }
        t->texts = texts;
        texts[t->text_count++] = copy;
    }
    t->text_bytes += length;
    return t->text_count - 1;
}

bool perp_replay_see_trust(replay_trusts *t, perp_arena *arena, const perp_log_head *head, const perp_log_step *step,
                           replay_trust *since)
{
    const perp_step_trust *trust = step->info.trust;
    char words[2048] = "";
    if (!trust) {
        return true;
    }
    const perp_verdict now[REPLAY_VERDICTS] = {trust->existence, trust->uniqueness, trust->rigidity};
    bool graver = false, bad = false;
    for (int i = 0; i < REPLAY_VERDICTS; i++) {
        if (since->verdicts[i] == 0 || gravity_of(now[i]) > gravity_of((perp_verdict)(since->verdicts[i] - 1))) {
            since->verdicts[i] = 1 + (int)now[i];
            graver = true;
        }
        bad = bad || gravity_of(now[i]) == BAD;
    }
    t->any = true;
    if (graver) {
        put_words(trust, words, sizeof words);
        const int text = number_of_text(t, arena, words, bad ? MOST_TEXT : MOST_GOOD_TEXT);
        if (text < 0) {
            return false;
        }
        since->text = text;
    }
    if (trust->motion && !since->motion) {
        since->motion = PERP_ARENA_NEW(arena, double, (size_t)head->nv);
        if (!since->motion) {
            return false;
        }
        memcpy(since->motion, trust->motion, (size_t)head->nv * sizeof *since->motion);
        since->both_ways = trust->motion_both_ways;
    }
    return true;
}

/* ---- ghosts ------------------------------------------------------------------------------------------------------ */

perp_status perp_replay_ghost_open(replay_ghost_maker *maker, const perp_log_reader *reader, const perp_scene *scene,
                                   const perp_allocator *allocator, perp_error *error)
{
    *maker = (replay_ghost_maker){.reader = reader};
    if (!scene || !perp_log_reader_head(reader)->certified) {
        return PERP_STATUS_OK;
    }
    perp_status status = perp_model_build(scene, allocator, &maker->model, error);
    status = status == PERP_STATUS_OK ? perp_state_create(maker->model, allocator, &maker->state, error) : status;
    return status == PERP_STATUS_OK ? perp_kinematics_create(maker->model, allocator, &maker->kinematics, error)
                                    : status;
}

void perp_replay_ghost_close(replay_ghost_maker *maker)
{
    perp_kinematics_free(maker->kinematics);
    perp_state_free(&maker->state);
    perp_model_free(maker->model);
}

static void put_twists(const replay_ghost_maker *maker, double *twists)
{
    const int bodies = maker->model->body_count;
    double largest = 0.0;
    for (int i = 0; i < bodies; i++) {
        const perp_twist *w = &maker->kinematics->twist[i];
        const double numbers[REPLAY_TWIST] = {w->linear.x,  w->linear.y,  w->linear.z,
                                              w->angular.x, w->angular.y, w->angular.z};
        memcpy(twists + (ptrdiff_t)i * REPLAY_TWIST, numbers, sizeof numbers);
        for (int k = 0; k < REPLAY_TWIST; k++) {
            largest = fmax(largest, fabs(numbers[k]));
        }
    }
    for (int i = 0; i < bodies * REPLAY_TWIST && largest > 0.0; i++) {
        twists[i] /= largest;
    }
}

perp_status perp_replay_add_ghost(replay_trusts *t, perp_arena *arena, replay_ghost_maker *maker, int frame,
                                  const perp_log_step *step, const replay_trust *since, perp_error *error)
{
    const size_t numbers = maker->model ? (size_t)maker->model->body_count * REPLAY_TWIST : 0;
    if (!since->motion || numbers == 0 || (size_t)(t->ghost_count + 1) * numbers > MOST_NUMBERS) {
        return PERP_STATUS_OK;
    }
    replay_ghost *ghosts = perp_arena_grow(arena, t->ghosts, t->ghost_count, &t->ghost_capacity, sizeof *ghosts);
    double *twists = PERP_ARENA_NEW(arena, double, numbers);
    if (!ghosts || !twists) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while reading the log for its replay");
    }
    t->ghosts = ghosts;
    perp_log_step moving = *step;
    moving.v = since->motion;
    const perp_status status = perp_log_state(maker->reader, &moving, maker->model, &maker->state, error);
    if (status == PERP_STATUS_OK) {
        perp_kinematics_update(maker->model, maker->state.q, maker->kinematics);
        perp_kinematics_velocity(maker->model, maker->state.v, maker->kinematics);
        put_twists(maker, twists);
        ghosts[t->ghost_count++] = (replay_ghost){frame, since->both_ways, twists};
    }
    return status;
}
