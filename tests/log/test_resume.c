/* A run that was stopped at any byte of its log goes on from there and ends as the undisturbed one: the same hash, the
 * same steps in the log, on every rung that takes steps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "log/format.h"

#include <perp/sim.h>
#include "log_run.h"

static char path[64];

/* The run of the log at `path`, from its own scene on to its end. */
static perp_status go_on(const perp_log_options *options, perp_run_result *result, perp_error *error)
{
    static perp_diagnostics diagnostics;
    perp_log_reader *reader;
    perp_scene *scene;
    perp_model *model;
    perp_state state;
    perp_run_start start;
    perp_log *log;
    memset(result, 0, sizeof *result);
    memset(&diagnostics, 0, sizeof diagnostics);
    perp_status status = perp_log_open(path, NULL, &reader, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    status = perp_log_load_scene(reader, &scene, &diagnostics);
    if (status != PERP_STATUS_OK) { /* cut before the scene was complete */
        assert_int_equal(perp_log_reader_extent(reader).step_count, 0);
        perp_diagnostics_first_error(&diagnostics, status, error);
        perp_log_reader_free(reader);
        return status;
    }
    assert_int_equal(perp_model_build(scene, NULL, &model, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_state_create(model, NULL, &state, NULL), PERP_STATUS_OK);
    status = perp_log_resume(reader, model, &state, &start, error);
    if (status == PERP_STATUS_OK) {
        const perp_log_about about = {.model = model};
        assert_int_equal(perp_log_continue(path, reader, &about, options, &log, error), PERP_STATUS_OK);
        start.observer = perp_log_observe;
        start.observer_context = log;
        status = perp_run_continue(model, &scene->run, &start, &state, result, error);
        assert_int_equal(perp_log_close(log, result, status == PERP_STATUS_OK ? NULL : error, NULL), PERP_STATUS_OK);
    }
    perp_state_free(&state);
    perp_model_free(model);
    perp_scene_free(scene);
    perp_log_reader_free(reader);
    return status;
}

/* The log at `path` and the undisturbed one, in memory, are the same. */
static void same_log(const memory_sink *whole)
{
    perp_log_reader *a, *b;
    perp_log_difference difference;
    assert_int_equal(perp_log_open_memory(whole->bytes, whole->size, NULL, &a, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_log_open(path, NULL, &b, NULL), PERP_STATUS_OK);
    assert_true(perp_log_reader_extent(b).complete);
    assert_int_equal(perp_log_compare(a, b, 0.0, &difference, NULL), PERP_STATUS_OK);
    if (!difference.equal) {
        fail_msg("step %d: %s", difference.first_step, difference.first);
    }
    assert_string_equal(perp_log_reader_end(a)->hash, perp_log_reader_end(b)->hash);
    assert_int_equal(perp_log_reader_end(a)->steps, perp_log_reader_end(b)->steps);
    perp_log_reader_free(a);
    perp_log_reader_free(b);
}

static void stops_and_goes_on(const char *example, const char *model, const char *setting)
{
    char chosen[64];
    snprintf(chosen, sizeof chosen, "run.model=%s", model);
    const char *const settings[] = {chosen, setting, NULL};
    const perp_log_options options = log_run_options();
    log_run run;
    memory_sink sink;
    const perp_log_sink into = memory_sink_make(&sink);
    log_run_load(&run, example, settings);
    perp_log_file file;
    perp_log_about about = log_run_about(&run, &file);
    about.changes = settings;
    about.change_count = 2;
    assert_int_equal(perp_log_create_sink(&into, &about, &options, &run.log, NULL), PERP_STATUS_OK);
    assert_int_equal(
        perp_run(run.model, &run.scene->run, NULL, perp_log_observe, run.log, &run.state, &run.result, NULL),
        PERP_STATUS_OK);
    assert_int_equal(perp_log_close(run.log, &run.result, NULL, NULL), PERP_STATUS_OK);
    perp_random random = {(uint64_t)sink.size};
    int resumed = 0;
    for (int i = 0; i < 6; i++) {
        /* cuts anywhere, then the whole log, whose run has nothing left to do */
        const size_t size = i == 5 ? sink.size : (size_t)(perp_random_bits(&random) % sink.size);
        perp_run_result result;
        perp_error error;
        log_run_write_file(path, sink.bytes, size);
        if (go_on(&options, &result, &error) == PERP_STATUS_OK) {
            assert_true(result.hash.value == run.result.hash.value);
            assert_int_equal(result.steps, run.result.steps);
            assert_int_equal(result.event_count, run.result.event_count);
            assert_memory_equal(&result.residuals, &run.result.residuals, sizeof result.residuals);
            same_log(&sink);
            resumed++;
        } else {
            assert_int_equal(error.status, PERP_STATUS_BAD_INPUT); /* nothing to go on from: too early */
        }
        perp_run_result_free(&result);
    }
    assert_true(resumed >= 2);
    memory_sink_free(&sink);
    log_run_free(&run);
}

static const struct {
    const char *example, *model, *setting;
} runs[] = {
    {"driven-fence", "kinematic", "run.steps=63"},
    {"fence-particle", "qs-lcp", "run.steps=80"},
    {"fence-particle", "qs-ncp", "run.steps=80"},
    {"fence-particle", "qs-opt", "run.steps=80"},
    {"fence-particle", "qs-lp", "run.steps=80"},
    {"three-finger-grasp", "qs-impedance-lcp", "run.steps=40"},
    {"peg-in-hole-2d", "qs-impedance-lcp", "run.steps=150"},
    {"gripper-2d", "qs-qp", "run.steps=25"},
    {"cube-stack", "qs-qp", "run.steps=20"},
    {"gripper-2d", "qs-cone", "run.steps=25"},
    {"grazing", "quasidynamic", "run.steps=10"},
    {"cube-stack", "quasidynamic", "run.steps=15"},
    {"four-bar", "qs-qp", "run.steps=30"},
    {"fence-particle", "dyn-lcp", "run.steps=80"},
    {"cube-stack", "dyn-lcp", "run.steps=40"},
    {"fence-particle", "dyn-ncp", "run.steps=80"},
    {"cube-stack", "dyn-qp", "run.steps=15"},
    {"cube-stack", "compliant", "run.steps=15"},
};

static void every_rung(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        stops_and_goes_on(runs[i].example, runs[i].model, runs[i].setting);
    }
    for (int i = 0; i < perp_rung_count(); i++) {
        bool tried = !perp_rung_at(i)->step;
        for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
            tried = tried || strcmp(runs[k].model, perp_rung_at(i)->name) == 0;
        }
        if (!tried) {
            fail_msg("no log of `%s` is resumed: add one to `runs`", perp_rung_at(i)->name);
        }
    }
}

/* A byte in the middle of the chunk of that number. */
static size_t inside_chunk(const memory_sink *sink, int number)
{
    for (size_t at = 8; at + 9 <= sink->size;) {
        uint64_t length = 0;
        for (int i = 0; i < 8; i++) {
            length |= (uint64_t)sink->bytes[at + 1 + (size_t)i] << (8 * i);
        }
        if (sink->bytes[at] == MCAP_CHUNK && --number == 0) {
            return at + 9 + (size_t)length / 2;
        }
        at += 9 + (size_t)length;
    }
    fail_msg("the log has too few chunks");
    return 0;
}

/* A chunk in the middle is damaged: what stands behind it is done again. */
static void behind_damage(void **unused)
{
    (void)unused;
    const perp_log_options options = log_run_options();
    log_run run;
    memory_sink sink;
    const perp_log_sink into = memory_sink_make(&sink);
    log_run_load(&run, "gripper-2d", NULL);
    log_run_go(&run, &into, &options);
    unsigned char *copy = malloc(sink.size);
    assert_non_null(copy);
    memcpy(copy, sink.bytes, sink.size);
    copy[inside_chunk(&sink, 2)] ^= 1;
    log_run_write_file(path, copy, sink.size);
    free(copy);
    perp_log_reader *reader;
    assert_int_equal(perp_log_open(path, NULL, &reader, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_log_reader_extent(reader).damaged, 1);
    perp_log_reader_free(reader);
    perp_run_result result;
    perp_error error;
    assert_int_equal(go_on(&options, &result, &error), PERP_STATUS_OK);
    perp_run_result_free(&result);
    same_log(&sink);
    memory_sink_free(&sink);
    log_run_free(&run);
}

/* The model must be the log's. */
static void another_model(void **unused)
{
    (void)unused;
    log_run run, other;
    memory_sink sink;
    const perp_log_sink into = memory_sink_make(&sink);
    log_run_load(&run, "gripper-2d", NULL);
    log_run_load(&other, "pivot", NULL);
    log_run_go(&run, &into, NULL);
    perp_log_reader *reader;
    perp_run_start start;
    perp_error error;
    assert_int_equal(perp_log_open_memory(sink.bytes, sink.size, NULL, &reader, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_log_resume(reader, other.model, &other.state, &start, &error), PERP_STATUS_BAD_INPUT);
    perp_log_reader_free(reader);
    memory_sink_free(&sink);
    log_run_free(&run);
    log_run_free(&other);
}

int main(void)
{
    snprintf(path, sizeof path, "/tmp/perp-test-resume-%ld.mcap", (long)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rung),
        cmocka_unit_test(behind_damage),
        cmocka_unit_test(another_model),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
