/* What a replay shows of a log: every step of a short one as it is, of a long one some steps and the extremes of the
 * others. Compared with the log itself, read step by step. */
#include "report/replay_gather.h"

#include "failing_allocator.h"
#include "log_run.h"

#include <stdio.h>
#include <unistd.h>

typedef struct fixture {
    log_run run;
    memory_sink sink;
    perp_log_reader *reader;
    perp_scene *scene;
} fixture;

static void open_fixture(fixture *f, const char *example)
{
    static const char *const none[] = {NULL};
    perp_error error = {0};
    perp_diagnostics *diagnostics = calloc(1, sizeof *diagnostics);
    const perp_log_sink sink = memory_sink_make(&f->sink);
    log_run_load(&f->run, example, none);
    log_run_go(&f->run, &sink, NULL);
    assert_int_equal(f->run.log_status, PERP_STATUS_OK);
    assert_int_equal(perp_log_open_memory(f->sink.bytes, f->sink.size, NULL, &f->reader, &error), PERP_STATUS_OK);
    assert_int_equal(perp_log_load_scene(f->reader, &f->scene, diagnostics), PERP_STATUS_OK);
    free(diagnostics);
}

static void close_fixture(fixture *f)
{
    perp_scene_free(f->scene);
    perp_log_reader_free(f->reader);
    log_run_free(&f->run);
    memory_sink_free(&f->sink);
}

static replay_run gathered(fixture *f, const perp_replay_options *options, perp_arena *arena)
{
    perp_error error = {0};
    replay_run run = {
        .head = perp_log_reader_head(f->reader), .end = perp_log_reader_end(f->reader), .scene = f->scene};
    assert_int_equal(perp_replay_gather(f->reader, options, arena, &run, &error), PERP_STATUS_OK);
    return run;
}

static const replay_row *find_row(const replay_run *run, const perp_contact *contact, int frame)
{
    char feature[64];
    perp_contact_feature_text(contact, feature, sizeof feature);
    for (int i = 0; i < run->row_count; i++) {
        const replay_contact *c = &run->contacts[run->rows[i].contact];
        if (run->rows[i].frame == frame && c->a == contact->a && c->b == contact->b &&
            strcmp(c->feature, feature) == 0) {
            return &run->rows[i];
        }
    }
    return NULL;
}

static void test_every_step_of_a_short_log(void **state)
{
    (void)state;
    fixture f = {0};
    perp_arena arena;
    perp_arena_init(&arena, NULL);
    open_fixture(&f, "gripper-2d");
    const perp_replay_options options = perp_replay_options_default();
    const replay_run run = gathered(&f, &options, &arena);
    int rows = 0, events = 0;
    assert_int_equal(run.stride, 1);
    assert_int_equal(run.frame_count, f.run.count);
    for (int i = 0; i < f.run.count; i++) {
        const perp_step_info *info = &f.run.steps[i].info;
        assert_int_equal(run.frames[i].step, i);
        assert_true(run.frames[i].residuals.balance == info->residuals.balance);
        assert_int_equal(run.frames[i].iterations, info->iterations);
        for (int k = 0; k < info->contact_count; k++) {
            const perp_contact_record *r = &info->contacts[k];
            const replay_row *row = find_row(&run, &r->contact, i);
            assert_non_null(row);
            assert_int_equal(row->mode, r->mode);
            assert_true(row->fn == r->fn && row->ft[0] == r->ft[0] && row->slip[0] == r->slip[0]);
            assert_true(row->phi == r->contact.phi && run.contacts[row->contact].friction == r->contact.friction);
        }
        rows += info->contact_count;
        events += info->event_count;
    }
    assert_int_equal(run.row_count, rows);
    assert_int_equal(run.event_count, events);
    assert_true(rows > 0 && events > 0);
    assert_int_equal(run.joint_count, 3);
    assert_true(run.commands[0] == perp_drive_value(&f.scene->joints[0].command, 0.0));
    perp_arena_clear(&arena);
    close_fixture(&f);
}

static void test_extremes_of_a_long_log(void **state)
{
    (void)state;
    fixture f = {0};
    perp_arena arena;
    perp_arena_init(&arena, NULL);
    open_fixture(&f, "peg-in-hole-2d");
    perp_replay_options options = perp_replay_options_default();
    options.most_frames = 20; /* of 151 steps: one of 8 */
    const replay_run run = gathered(&f, &options, &arena);
    assert_int_equal(run.stride, 8);
    assert_int_equal(run.frame_count, 20);
    assert_int_equal(run.frames[run.frame_count - 1].step, f.run.count - 1);
    int apart = 0, compared = 0;
    for (int frame = 1; frame < run.frame_count; frame++) {
        double balance = 0.0;
        for (int step = run.frames[frame - 1].step + 1; step <= run.frames[frame].step; step++) {
            const perp_step_info *info = &f.run.steps[step].info;
            balance = fmax(balance, info->residuals.balance);
            for (int k = 0; k < info->contact_count; k++) {
                const perp_contact_record *r = &info->contacts[k];
                const replay_row *row = find_row(&run, &r->contact, frame);
                assert_non_null(row); /* whatever was listed in between has a row */
                assert_true(row->seen.fn_low <= r->fn && r->fn <= row->seen.fn_high);
                assert_true(row->seen.phi_low <= r->contact.phi && r->contact.phi <= row->seen.phi_high);
                assert_true(fabs(r->ft[0]) <= row->seen.used_high && (int)r->mode <= row->seen.mode_gravest);
                apart += row->mode == REPLAY_APART;
                compared++;
                if (step == run.frames[frame].step) {
                    assert_true(row->mode == (int)r->mode && row->fn == r->fn);
                }
            }
        }
        assert_true(run.frames[frame].residuals.balance == balance);
    }
    assert_true(compared > 0 && apart > 0);
    perp_arena_clear(&arena);
    close_fixture(&f);
}

static void test_rows_bound_the_frames_too(void **state)
{
    (void)state;
    fixture f = {0};
    perp_arena arena;
    perp_arena_init(&arena, NULL);
    open_fixture(&f, "cube-stack");
    perp_replay_options options = perp_replay_options_default();
    options.most_rows = 1000;
    options.most_frames = 1000;
    const replay_run run = gathered(&f, &options, &arena);
    assert_true(run.stride > 1);
    assert_true(run.row_count <= 1000 + 2 * 42); /* the first and the last step are shown whatever the stride */
    perp_arena_clear(&arena);
    close_fixture(&f);
}

static void test_want_of_memory(void **state)
{
    (void)state;
    fixture f = {0};
    open_fixture(&f, "gripper-2d");
    const perp_replay_options options = perp_replay_options_default();
    perp_status status = PERP_STATUS_OUT_OF_MEMORY;
    int refused = 0;
    for (int grants = 0; status != PERP_STATUS_OK; grants++) {
        failing_allocator failing = {.grants = grants};
        const perp_allocator allocator = allocator_of(&failing);
        perp_arena arena;
        perp_error error = {0};
        perp_arena_init(&arena, &allocator);
        replay_run run = {
            .head = perp_log_reader_head(f.reader), .end = perp_log_reader_end(f.reader), .scene = f.scene};
        status = perp_replay_gather(f.reader, &options, &arena, &run, &error);
        assert_true(status == PERP_STATUS_OK || status == PERP_STATUS_OUT_OF_MEMORY);
        refused += status != PERP_STATUS_OK;
        perp_arena_clear(&arena);
        assert_int_equal(failing.standing, 0);
    }
    assert_true(refused > 0);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_step_of_a_short_log),
        cmocka_unit_test(test_extremes_of_a_long_log),
        cmocka_unit_test(test_rows_bound_the_frames_too),
        cmocka_unit_test(test_want_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
