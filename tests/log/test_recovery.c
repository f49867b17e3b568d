/* Whatever becomes of the file, what was written before is read again, and what is missing is said. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "log/format.h"
#include "log_run.h"

static const char *const short_run[] = {"run.steps=7", NULL};

/* A log of 8 steps in several chunks, and what was observed. */
static void make_log(log_run *run, memory_sink *sink)
{
    const perp_log_sink into = memory_sink_make(sink);
    log_run_load(run, "gripper-2d", short_run);
    log_run_go(run, &into, NULL);
    assert_int_equal(run->log_status, PERP_STATUS_OK);
}

/* Where the records of a log end, in ascending order, and what they are. */
typedef struct record_end {
    size_t end;
    unsigned opcode;
} record_end;

static int find_records(const memory_sink *sink, record_end *ends, int most)
{
    int count = 0;
    for (size_t at = 8; at + 9 <= sink->size - 8;) {
        uint64_t length = 0;
        for (int i = 0; i < 8; i++) {
            length |= (uint64_t)sink->bytes[at + 1 + (size_t)i] << (8 * i);
        }
        assert_true(count < most);
        ends[count].opcode = sink->bytes[at];
        at += 9 + (size_t)length;
        ends[count++].end = at;
    }
    return count;
}

/* Every step that the reader lists is one that was observed, to the bit. */
static void all_true(const log_run *run, perp_log_reader *reader)
{
    const perp_log_extent extent = perp_log_reader_extent(reader);
    for (int i = 0; i < extent.step_count; i++) {
        perp_log_step step;
        assert_int_equal(perp_log_read(reader, i, &step, NULL), PERP_STATUS_OK);
        log_run_same_step(run, reader, &step);
    }
}

enum { MOST_RECORDS = 300 };

/* ---- cuts
 * ------------------------------------------------------------------------------------------------------------- */

static void cut_at_every_byte(void **unused)
{
    (void)unused;
    log_run run;
    memory_sink sink;
    record_end ends[MOST_RECORDS];
    int steps_at[MOST_RECORDS]; /* that a file has which ends behind a record */
    make_log(&run, &sink);
    const int records = find_records(&sink, ends, MOST_RECORDS);
    assert_int_equal(ends[0].opcode, MCAP_HEADER);
    assert_int_equal(ends[1].opcode, MCAP_METADATA);
    int chunks = 0, before = -1;
    for (size_t size = 0; size <= sink.size; size++) {
        perp_log_reader *reader;
        perp_error error = {0};
        unsigned char *copy = malloc(size + 1); /* so that reading beyond it shows under a sanitizer */
        assert_non_null(copy);
        memcpy(copy, sink.bytes, size);
        const perp_status status = perp_log_open_memory(copy, size, NULL, &reader, &error);
        int whole = 0; /* records that are complete */
        while (whole < records && ends[whole].end <= size) {
            whole++;
        }
        if (whole < 2) {
            assert_int_equal(status, PERP_STATUS_BAD_INPUT);
            assert_null(reader);
            free(copy);
            continue;
        }
        assert_int_equal(status, PERP_STATUS_OK);
        const perp_log_extent extent = perp_log_reader_extent(reader);
        assert_int_equal(extent.complete, size == sink.size);
        assert_int_equal(extent.damaged, 0);
        assert_true(extent.tail == (size == sink.size ? 0 : size - ends[whole - 1].end));
        if (ends[whole - 1].end == size) { /* a chunk more is some steps more; any other record is none */
            const bool chunk = ends[whole - 1].opcode == MCAP_CHUNK;
            assert_true(before < 0 || (chunk ? extent.step_count > before : extent.step_count == before));
            chunks += chunk;
            before = extent.step_count;
            steps_at[whole - 1] = before;
            all_true(&run, reader);
        } else {
            assert_int_equal(extent.step_count, steps_at[whole - 1]);
        }
        perp_log_reader_free(reader);
        free(copy);
    }
    assert_true(chunks >= 3);
    assert_int_equal(before, run.count);
    memory_sink_free(&sink);
    log_run_free(&run);
}

/* ---- damage
 * ------------------------------------------------------------------------------------------------------------ */

/* Any byte changed: nothing that is read is wrong, but for what no checksum covers (the head of the file, and the texts
 * of its end). */
static void any_byte_changed(void **unused)
{
    (void)unused;
    log_run run;
    memory_sink sink;
    record_end ends[MOST_RECORDS];
    make_log(&run, &sink);
    const int records = find_records(&sink, ends, MOST_RECORDS);
    size_t first = 0, last = 0; /* of what chunks are in */
    int damaged = 0;
    for (int i = 0; i < records && first == 0; i++) {
        first = i + 1 < records && ends[i + 1].opcode == MCAP_CHUNK ? ends[i].end : 0;
    }
    for (int i = 0; i < records; i++) {
        last = ends[i].opcode == MCAP_MESSAGE_INDEX ? ends[i].end : last;
    }
    perp_random random = {7};
    for (size_t at = 0; at < sink.size; at++) {
        const unsigned char before = sink.bytes[at];
        sink.bytes[at] ^= (unsigned char)(1u << (perp_random_bits(&random) % 8));
        perp_log_reader *reader = NULL;
        if (perp_log_open_memory(sink.bytes, sink.size, NULL, &reader, NULL) == PERP_STATUS_OK) {
            if (at >= first && (at < last || at % 16 == 0)) { /* behind the chunks little depends on a byte */
                all_true(&run, reader);
            }
            const perp_log_extent extent = perp_log_reader_extent(reader);
            damaged += extent.damaged > 0;
            assert_true(!extent.complete || extent.step_count == run.count);
        }
        perp_log_reader_free(reader);
        sink.bytes[at] = before;
    }
    assert_true(damaged > 1000); /* most of the file is chunks */
    memory_sink_free(&sink);
    log_run_free(&run);
}

/* A damaged chunk is left out and said; those before and behind it are read. */
static void one_chunk_damaged(void **unused)
{
    (void)unused;
    log_run run;
    memory_sink sink;
    record_end ends[MOST_RECORDS];
    make_log(&run, &sink);
    const int records = find_records(&sink, ends, MOST_RECORDS);
    int second = 0;
    for (int i = 0, chunks = 0; i < records && chunks < 2; i++) {
        chunks += ends[i].opcode == MCAP_CHUNK;
        second = i;
    }
    sink.bytes[(ends[second - 1].end + ends[second].end) / 2] ^= 0x10;
    perp_log_reader *reader;
    assert_int_equal(perp_log_open_memory(sink.bytes, sink.size, NULL, &reader, NULL), PERP_STATUS_OK);
    const perp_log_extent extent = perp_log_reader_extent(reader);
    assert_false(extent.complete);
    assert_int_equal(extent.damaged, 1);
    assert_true(extent.damaged_at == ends[second - 1].end);
    assert_true(extent.step_count < run.count);
    assert_true(perp_log_find(reader, 0) == 0 && perp_log_find(reader, run.count - 1) == extent.step_count - 1);
    all_true(&run, reader);
    perp_log_reader_free(reader);
    memory_sink_free(&sink);
    log_run_free(&run);
}

/* A file that the log holds is damaged: it is left out and said; every step is read. */
static void one_attachment_damaged(void **unused)
{
    (void)unused;
    log_run run;
    memory_sink sink;
    record_end ends[MOST_RECORDS];
    make_log(&run, &sink);
    const int records = find_records(&sink, ends, MOST_RECORDS);
    int which = 0;
    while (which < records && ends[which].opcode != MCAP_ATTACHMENT) {
        which++;
    }
    assert_true(which > 0 && which < records);
    sink.bytes[(ends[which - 1].end + ends[which].end) / 2] ^= 0x10;
    perp_log_reader *reader;
    assert_int_equal(perp_log_open_memory(sink.bytes, sink.size, NULL, &reader, NULL), PERP_STATUS_OK);
    const perp_log_extent extent = perp_log_reader_extent(reader);
    assert_int_equal(extent.damaged, 1);
    assert_true(extent.damaged_at == ends[which - 1].end);
    assert_int_equal(extent.step_count, run.count);
    all_true(&run, reader);
    perp_log_reader_free(reader);
    memory_sink_free(&sink);
    log_run_free(&run);
}

/* ---- the file layer
 * ----------------------------------------------------------------------------------------------------- */

/* Short writes and interrupts change nothing. */
static void slow_sinks(void **unused)
{
    (void)unused;
    log_run whole, run;
    memory_sink one, sink;
    make_log(&whole, &one);
    for (size_t most = 1; most < 5000; most = 7 * most + 3) {
        const perp_log_sink into = memory_sink_make(&sink);
        sink.most = most;
        sink.interrupt = 3;
        log_run_load(&run, "gripper-2d", short_run);
        log_run_go(&run, &into, NULL);
        assert_int_equal(run.log_status, PERP_STATUS_OK);
        assert_true(sink.calls > one.calls);
        perp_log_reader *reader;
        assert_int_equal(perp_log_open_memory(sink.bytes, sink.size, NULL, &reader, NULL), PERP_STATUS_OK);
        assert_true(perp_log_reader_extent(reader).complete);
        assert_int_equal(perp_log_reader_extent(reader).step_count, run.count);
        all_true(&run, reader);
        perp_log_reader_free(reader);
        memory_sink_free(&sink);
        log_run_free(&run);
    }
    memory_sink_free(&one);
    log_run_free(&whole);
}

/* The disk is full after so many bytes: the run stops with a reason, and the log is read up to there. */
static void full_disks(void **unused)
{
    (void)unused;
    log_run whole, run;
    memory_sink one, sink;
    make_log(&whole, &one);
    int stopped = 0;
    for (size_t limit = 0; limit < one.size - 64; limit += 61) {
        const perp_log_sink into = memory_sink_make(&sink);
        sink.limit = limit;
        log_run_load(&run, "gripper-2d", short_run);
        log_run_go(&run, &into, NULL);
        assert_int_equal(run.log_status, PERP_STATUS_IO);
        assert_non_null(strstr(run.log_error.message, strerror(ENOSPC)));
        assert_int_equal(sink.size, limit);
        stopped += run.status == PERP_STATUS_CANCELLED; /* the log told the run that it is of no use */
        perp_log_reader *reader;
        if (perp_log_open_memory(sink.bytes, sink.size, NULL, &reader, NULL) == PERP_STATUS_OK) {
            assert_false(perp_log_reader_extent(reader).complete);
            all_true(&run, reader);
        }
        perp_log_reader_free(reader);
        memory_sink_free(&sink);
        log_run_free(&run);
    }
    assert_true(stopped > 5);
    memory_sink_free(&one);
    log_run_free(&whole);
}

/* Nobody adds to the log any more, as in a step that takes long: what was there is in the file all the same. */
static void old_chunks_are_closed(void **unused)
{
    (void)unused;
    log_run run;
    memory_sink sink;
    const perp_log_sink into = memory_sink_make(&sink);
    perp_log_options options = perp_log_options_default();
    perp_log_file file;
    log_run_load(&run, "gripper-2d", NULL);
    const perp_log_about about = log_run_about(&run, &file);
    assert_int_equal(perp_log_create_sink(&into, &about, &options, &run.log, NULL), PERP_STATUS_OK);
    const size_t head = sink.size;
    const perp_step_info info = {0};
    assert_true(perp_log_observe(run.log, 0, &run.state, &info));
    assert_int_equal(sink.size, head);
    const struct timespec half = {.tv_nsec = 500000000};
    nanosleep(&half, NULL);
    assert_int_equal(perp_log_status(run.log, NULL), PERP_STATUS_OK); /* takes the lock: the sink is at rest */
    perp_log_reader *reader;
    assert_int_equal(perp_log_open_memory(sink.bytes, sink.size, NULL, &reader, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_log_reader_extent(reader).step_count, 1);
    perp_log_reader_free(reader);
    assert_int_equal(perp_log_close(run.log, NULL, NULL, NULL), PERP_STATUS_OK);
    memory_sink_free(&sink);
    log_run_free(&run);
}

/* ---- memory
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct stingy {
    long left, standing;
} stingy;

static void *allocate(void *context, size_t size)
{
    stingy *s = context;
    if (s->left <= 0) {
        return NULL;
    }
    s->left--;
    s->standing++;
    return malloc(size);
}

static void give_back(void *context, void *memory)
{
    ((stingy *)context)->standing--;
    free(memory);
}

/* Every request refused in turn: an error, nothing lost, and a log that is read as far as it goes. */
static void no_memory_to_write(void **unused)
{
    (void)unused;
    long needed = 0;
    for (bool done = false; !done; needed++) {
        stingy source = {.left = needed};
        const perp_allocator allocator = {allocate, give_back, &source};
        perp_log_options options = log_run_options();
        options.allocator = &allocator;
        log_run run;
        memory_sink sink;
        const perp_log_sink into = memory_sink_make(&sink);
        log_run_load(&run, "gripper-2d", short_run);
        log_run_go(&run, &into, &options);
        done = run.log_status == PERP_STATUS_OK;
        assert_true(done || run.log_status == PERP_STATUS_OUT_OF_MEMORY);
        assert_int_equal(source.standing, 0);
        perp_log_reader *reader;
        if (perp_log_open_memory(sink.bytes, sink.size, NULL, &reader, NULL) == PERP_STATUS_OK) {
            all_true(&run, reader);
        }
        perp_log_reader_free(reader);
        memory_sink_free(&sink);
        log_run_free(&run);
    }
    assert_true(needed > 10);
}

static void no_memory_to_read(void **unused)
{
    (void)unused;
    log_run run;
    memory_sink sink;
    make_log(&run, &sink);
    long needed = 0;
    for (bool done = false; !done; needed++) {
        stingy source = {.left = needed};
        const perp_allocator allocator = {allocate, give_back, &source};
        perp_log_reader *reader;
        perp_status status = perp_log_open_memory(sink.bytes, sink.size, &allocator, &reader, NULL);
        for (int i = 0; status == PERP_STATUS_OK && i < run.count; i++) {
            perp_log_step step;
            assert_int_equal(perp_log_reader_extent(reader).step_count, run.count);
            status = perp_log_read(reader, i, &step, NULL);
        }
        done = status == PERP_STATUS_OK;
        assert_true(done || status == PERP_STATUS_OUT_OF_MEMORY);
        perp_log_reader_free(reader);
        assert_int_equal(source.standing, 0);
    }
    assert_true(needed > 20);
    memory_sink_free(&sink);
    log_run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_at_every_byte),
        cmocka_unit_test(any_byte_changed),
        cmocka_unit_test(one_chunk_damaged),
        cmocka_unit_test(one_attachment_damaged),
        cmocka_unit_test(slow_sinks),
        cmocka_unit_test(full_disks),
        cmocka_unit_test(old_chunks_are_closed),
        cmocka_unit_test(no_memory_to_write),
        cmocka_unit_test(no_memory_to_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
