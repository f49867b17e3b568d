/* Certificates in a replay: the gravest verdicts since the frame before, bounded texts, and ghosts whose twists are how
 * bodies move with the motion. The certificates are made up, so that every kind of them is met. */
#include "report/replay_gather.h"

#include "failing_allocator.h"
#include "log_run.h"

#include <perp/sim.h>

#include <math.h>
#include <stdio.h>

typedef struct fixture {
    log_run run;
    memory_sink sink;
    perp_log *log;
    perp_log_reader *reader;
    perp_scene *scene;
    size_t longer; /* bytes that every reason is made longer by */
} fixture;

static perp_error error;

static const perp_verdict uniqueness[] = {PERP_VERDICT_UNIQUE,     PERP_VERDICT_UNIQUE_AT_THESE_NORMAL_FORCES,
                                          PERP_VERDICT_UNKNOWN,    PERP_VERDICT_UNIQUE,
                                          PERP_VERDICT_NOT_UNIQUE, PERP_VERDICT_BORDERLINE,
                                          PERP_VERDICT_UNIQUE};
enum { KINDS = sizeof uniqueness / sizeof *uniqueness };

static perp_verdict verdict_of(int step)
{
    return uniqueness[step % KINDS];
}

static bool observe(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    fixture *f = context;
    static char words[4096];
    double motion[32];
    const char *const reasons[] = {words}, *const contacts[] = {"one two point"};
    const bool bad = verdict_of(step) == PERP_VERDICT_NOT_UNIQUE;
    memset(words, 'x', sizeof words);
    const int length = snprintf(words, 32, "step %d", step);
    words[length] = ' ';
    words[length + 1 + (int)f->longer] = '\0';
    for (int i = 0; i < f->run.model->nv; i++) {
        motion[i] = 0.1 * (i + 1) * (i % 2 ? -1.0 : 1.0);
    }
    const perp_step_trust trust = {.existence = PERP_VERDICT_EXISTS,
                                   .uniqueness = verdict_of(step),
                                   .rigidity = step == 9 ? PERP_VERDICT_INVALID : PERP_VERDICT_NO_CONTACT,
                                   .motion = bad ? motion : NULL,
                                   .motion_both_ways = bad && step % 2 == 0,
                                   .contact_count = bad,
                                   .contacts = contacts,
                                   .reason_count = 1,
                                   .reasons = reasons};
    perp_step_info told = *info;
    told.trust = step > 0 ? &trust : NULL;
    return perp_log_observe(f->log, step, state, &told);
}

static void open_fixture(fixture *f, size_t longer)
{
    static const char *const settings[] = {"run.steps=40", NULL};
    const perp_log_sink into = memory_sink_make(&f->sink);
    const perp_log_options options = log_run_options();
    static perp_diagnostics diagnostics;
    perp_log_file file;
    f->longer = longer;
    log_run_load(&f->run, "peg-in-hole-2d", settings);
    perp_log_about about = log_run_about(&f->run, &file);
    about.certified = true;
    assert_true(f->run.model->nv <= 32);
    assert_int_equal(perp_log_create_sink(&into, &about, &options, &f->log, &error), PERP_STATUS_OK);
    assert_int_equal(
        perp_run(f->run.model, &f->run.scene->run, NULL, observe, f, &f->run.state, &f->run.result, &error),
        PERP_STATUS_OK);
    assert_int_equal(perp_log_close(f->log, &f->run.result, NULL, &error), PERP_STATUS_OK);
    assert_int_equal(perp_log_open_memory(f->sink.bytes, f->sink.size, NULL, &f->reader, &error), PERP_STATUS_OK);
    assert_int_equal(perp_log_load_scene(f->reader, &f->scene, &diagnostics), PERP_STATUS_OK);
}

static void close_fixture(fixture *f)
{
    perp_scene_free(f->scene);
    perp_log_reader_free(f->reader);
    log_run_free(&f->run);
    memory_sink_free(&f->sink);
}

static perp_status gather(fixture *f, int most_frames, perp_arena *arena, replay_run *run)
{
    perp_replay_options options = perp_replay_options_default();
    options.most_frames = most_frames;
    *run =
        (replay_run){.head = perp_log_reader_head(f->reader), .end = perp_log_reader_end(f->reader), .scene = f->scene};
    return perp_replay_gather(f->reader, &options, arena, run, &error);
}

/* From the best to the worst. */
static int place_of(perp_verdict verdict)
{
    static const perp_verdict order[] = {PERP_VERDICT_UNIQUE, PERP_VERDICT_UNIQUE_AT_THESE_NORMAL_FORCES,
                                         PERP_VERDICT_UNKNOWN, PERP_VERDICT_BORDERLINE, PERP_VERDICT_NOT_UNIQUE};
    int place = 0;
    while (order[place] != verdict) {
        place++;
    }
    return place;
}

static void test_gravest_since_the_frame_before(void **state)
{
    fixture f;
    perp_arena arena;
    replay_run run;
    (void)state;
    open_fixture(&f, 0);
    for (int most = 1000; most > 10; most = 14) { /* every step, then one of three */
        perp_arena_init(&arena, NULL);
        assert_int_equal(gather(&f, most, &arena, &run), PERP_STATUS_OK);
        assert_int_equal(run.stride, most == 14 ? 3 : 1);
        assert_int_equal(run.frames[0].trust.verdicts[1], 0);
        int ghosts = 0;
        for (int frame = 1; frame < run.frame_count; frame++) {
            const replay_trust *seen = &run.frames[frame].trust;
            perp_verdict worst = PERP_VERDICT_UNIQUE;
            bool invalid = false;
            for (int step = run.frames[frame - 1].step + 1; step <= run.frames[frame].step; step++) {
                worst = place_of(verdict_of(step)) > place_of(worst) ? verdict_of(step) : worst;
                invalid = invalid || step == 9;
            }
            assert_int_equal(seen->verdicts[0], 1 + PERP_VERDICT_EXISTS);
            assert_int_equal(seen->verdicts[1], 1 + (int)worst);
            assert_int_equal(seen->verdicts[2],
                             1 + (invalid ? (int)PERP_VERDICT_INVALID : (int)PERP_VERDICT_NO_CONTACT));
            assert_true(seen->text > 0 && strncmp(run.trusts.texts[seen->text], "step ", 5) == 0);
            if (worst == PERP_VERDICT_NOT_UNIQUE) {
                assert_int_equal(run.trusts.ghosts[ghosts].frame, frame);
                assert_non_null(strstr(run.trusts.texts[seen->text], "at one two point"));
                ghosts++;
            }
        }
        assert_int_equal(run.trusts.ghost_count, ghosts);
        assert_true(ghosts >= 5);
        perp_arena_clear(&arena);
        if (most == 14) {
            break;
        }
    }
    close_fixture(&f);
}

/* Poses a little before and behind along the motion, by the integration of configurations. */
static void test_twists_are_how_bodies_move(void **state)
{
    static const double STEP = 1e-6; /* central differences: 1e-12 of the motion, and 1e-10 of rounding */
    fixture f;
    perp_arena arena;
    replay_run run;
    (void)state;
    open_fixture(&f, 0);
    perp_arena_init(&arena, NULL);
    assert_int_equal(gather(&f, 1000, &arena, &run), PERP_STATUS_OK);
    const perp_model *model = f.run.model;
    perp_state at, there;
    perp_kinematics *kinematics[2];
    double motion[32], back[32];
    assert_int_equal(perp_state_create(model, NULL, &at, &error), PERP_STATUS_OK);
    assert_int_equal(perp_state_create(model, NULL, &there, &error), PERP_STATUS_OK);
    for (int i = 0; i < model->nv; i++) {
        motion[i] = 0.1 * (i + 1) * (i % 2 ? -1.0 : 1.0);
        back[i] = -motion[i];
    }
    for (int g = 0; g < run.trusts.ghost_count; g++) {
        const replay_ghost *ghost = &run.trusts.ghosts[g];
        perp_log_step step;
        double largest = 0.0, rates[16][3];
        assert_int_equal(perp_log_read(f.reader, ghost->frame, &step, &error), PERP_STATUS_OK);
        assert_int_equal(perp_log_state(f.reader, &step, model, &at, &error), PERP_STATUS_OK);
        assert_int_equal(ghost->both_ways, step.step % 2 == 0);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(perp_kinematics_create(model, NULL, &kinematics[k], &error), PERP_STATUS_OK);
            perp_configuration_integrate(model, at.q, k == 0 ? motion : back, STEP, there.q);
            perp_kinematics_update(model, there.q, kinematics[k]);
        }
        for (int b = 0; b < model->body_count; b++) {
            const perp_pose *x = &kinematics[0]->pose[b], *y = &kinematics[1]->pose[b];
            const double *to = kinematics[0]->rotation[b].m, *from = kinematics[1]->rotation[b].m;
            rates[b][0] = (x->position.x - y->position.x) / (2.0 * STEP);
            rates[b][1] = (x->position.y - y->position.y) / (2.0 * STEP);
            rates[b][2] = remainder(atan2(to[3], to[0]) - atan2(from[3], from[0]), 2.0 * acos(-1.0)) / (2.0 * STEP);
            for (int k = 0; k < 3; k++) {
                largest = fmax(largest, fabs(rates[b][k]));
            }
        }
        for (int b = 0; b < model->body_count; b++) {
            const double *w = ghost->twists + (ptrdiff_t)b * REPLAY_TWIST;
            assert_true(fabs(w[0] - rates[b][0] / largest) < 1e-8 && fabs(w[1] - rates[b][1] / largest) < 1e-8);
            assert_true(fabs(w[5] - rates[b][2] / largest) < 1e-8 && w[2] == 0.0 && w[3] == 0.0 && w[4] == 0.0);
        }
        perp_kinematics_free(kinematics[0]);
        perp_kinematics_free(kinematics[1]);
    }
    perp_state_free(&at);
    perp_state_free(&there);
    perp_arena_clear(&arena);
    close_fixture(&f);
}

/* Reasons of 2 kB, all different: forty steps of them have no room, and those of bad steps come first. */
static void test_texts_are_bounded(void **state)
{
    fixture f;
    perp_arena arena;
    replay_run run;
    size_t total = 0;
    int said = 0;
    (void)state;
    open_fixture(&f, 1900);
    perp_arena_init(&arena, NULL);
    assert_int_equal(gather(&f, 1000, &arena, &run), PERP_STATUS_OK);
    for (int i = 0; i < run.trusts.text_count; i++) {
        total += strlen(run.trusts.texts[i]);
    }
    for (int frame = 1; frame < run.frame_count; frame++) {
        said += run.frames[frame].trust.text > 0;
        if (verdict_of(frame) == PERP_VERDICT_NOT_UNIQUE || frame == 9) {
            assert_true(run.frames[frame].trust.text > 0);
        }
    }
    assert_true(total <= 80000 && said < 40 && said > 20); /* 60,000 and a few bad ones */
    perp_arena_clear(&arena);
    close_fixture(&f);
}

static void test_want_of_memory(void **state)
{
    fixture f;
    (void)state;
    open_fixture(&f, 0);
    for (int grants = 0, done = 0; !done; grants++) {
        failing_allocator failing = {.grants = grants};
        const perp_allocator allocator = allocator_of(&failing);
        perp_arena arena;
        replay_run run;
        perp_arena_init(&arena, &allocator);
        const perp_status status = gather(&f, 1000, &arena, &run);
        done = status == PERP_STATUS_OK;
        assert_true(done || status == PERP_STATUS_OUT_OF_MEMORY);
        perp_arena_clear(&arena);
        assert_int_equal(failing.standing, 0);
    }
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gravest_since_the_frame_before),
        cmocka_unit_test(test_twists_are_how_bodies_move),
        cmocka_unit_test(test_texts_are_bounded),
        cmocka_unit_test(test_want_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
