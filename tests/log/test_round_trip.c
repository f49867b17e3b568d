/* What is written comes back with the same bits, and in the same bytes each time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "log/bytes.h"

#include <perp/sim.h>
#include "log_run.h"

/* ---- numbers
 * --------------------------------------------------------------------------------------------------------- */

static void comes_back(double value)
{
    char text[PERP_REAL_TEXT];
    const int length = perp_real_text(value, text);
    assert_int_equal(length, strlen(text));
    const double back = strtod(text, NULL);
    if (memcmp(&back, &value, sizeof value) != 0) {
        fail_msg("%a is written as %s and read as %a", value, text, back);
    }
}

static void numbers_come_back(void **unused)
{
    (void)unused;
    char text[24];
    static const double special[] = {0.0,
                                     -0.0,
                                     1.0,
                                     -1.0,
                                     0.1,
                                     1.0 / 3.0,
                                     1e-5,
                                     5e-324,
                                     2.2250738585072014e-308,
                                     1.7976931348623157e308,
                                     1e15,
                                     1e16,
                                     123456789.0,
                                     999999999.0,
                                     1e9,
                                     1e9 + 1.0,
                                     -0.3,
                                     1e22,
                                     9007199254740993.0};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        comes_back(special[i]);
        comes_back(nextafter(special[i], INFINITY) < INFINITY ? nextafter(special[i], INFINITY) : 1.0);
        comes_back(-special[i]);
    }
    for (int i = -340; i < 340; i++) { /* next to powers of two and ten, where the distance of doubles changes */
        const double powers[] = {ldexp(1.0, 3 * i), ldexp(1.0, i), ldexp(1.0, i / 2),
                                 strtod((snprintf(text, sizeof text, "1e%d", i), text), NULL)};
        for (size_t k = 0; k < sizeof powers / sizeof *powers; k++) {
            if (powers[k] > 0.0 && isfinite(nextafter(powers[k], INFINITY))) {
                comes_back(powers[k]);
                comes_back(nextafter(powers[k], 0.0));
                comes_back(nextafter(powers[k], INFINITY));
            }
        }
    }
    perp_random random = {1};
    for (int i = 0; i < 300000; i++) {
        double value;
        const uint64_t bits = perp_random_bits(&random);
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) {
            comes_back(value);
        }
        comes_back(perp_random_uniform(&random, -1.0, 1.0));
        comes_back(ldexp(perp_random_uniform(&random, 0.5, 1.0), i % 260 - 105)); /* 1e-32 to 1e46 */
        comes_back(nearbyint(perp_random_uniform(&random, -1e6, 1e6)) / 1000.0);
    }
}

/* What a person wrote is written as it was: such texts are what logs are full of. */
static void numbers_are_short(void **unused)
{
    (void)unused;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "0.1"},   {0.01, "0.01"},      {-9.81, "-9.81"},     {250.0, "250"},
                 {1e-9, "1e-9"}, {-2e-5, "-0.00002"}, {6.02e23, "6.02e23"}, {1e16, "10000000000000000"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[PERP_REAL_TEXT];
        perp_real_text(cases[i].value, text);
        assert_string_equal(text, cases[i].text);
    }
}

/* The check value of CRC-32 (IEEE 802.3), whatever the pieces. */
static void checksums(void **unused)
{
    (void)unused;
    static const char digits[] = "123456789";
    for (size_t cut = 0; cut <= 9; cut++) {
        assert_true(perp_crc32(perp_crc32(0, digits, cut), digits + cut, 9 - cut) == 0xcbf43926u);
    }
}

/* ---- whole runs
 * ------------------------------------------------------------------------------------------------------ */

static void reads_back(const char *example, const char *setting)
{
    const char *const settings[] = {setting, NULL};
    log_run run;
    memory_sink sink;
    const perp_log_sink into = memory_sink_make(&sink);
    log_run_load(&run, example, settings);
    log_run_go(&run, &into, NULL);
    assert_int_equal(run.log_status, PERP_STATUS_OK);
    assert_int_equal(sink.syncs, 1);
    perp_log_reader *reader;
    assert_int_equal(perp_log_open_memory(sink.bytes, sink.size, NULL, &reader, NULL), PERP_STATUS_OK);
    const perp_log_head *head = perp_log_reader_head(reader);
    const perp_log_extent extent = perp_log_reader_extent(reader);
    const perp_log_end *end = perp_log_reader_end(reader);
    char hash[17];
    perp_hash_text(run.result.hash, hash);
    assert_true(extent.complete && extent.tail == 0 && extent.damaged == 0 && extent.size == sink.size);
    assert_int_equal(extent.step_count, run.count);
    assert_string_equal(head->version, perp_version());
    assert_string_equal(head->model, run.scene->run.model);
    assert_string_equal(head->files[0].bytes, run.text);
    assert_int_equal(head->body_count, run.model->body_count);
    assert_true(head->h == run.scene->run.h);
    assert_true(end->known && end->failed == (run.status != PERP_STATUS_OK));
    assert_int_equal(end->steps, run.result.steps);
    assert_string_equal(end->hash, hash);
    for (int i = extent.step_count - 1; i >= 0; i--) { /* backwards: random access */
        perp_log_step step;
        assert_int_equal(perp_log_read(reader, i, &step, NULL), PERP_STATUS_OK);
        assert_int_equal(step.step, i);
        assert_int_equal(perp_log_find(reader, i), i);
        log_run_same_step(&run, reader, &step);
    }
    assert_int_equal(perp_log_find(reader, extent.step_count), -1);
    perp_log_reader_free(reader);
    memory_sink_free(&sink);
    log_run_free(&run);
}

static void runs_come_back(void **unused)
{
    (void)unused;
    reads_back("gripper-2d", "run.steps=25");
    reads_back("fence-particle", "run.steps=30"); /* restricted friction directions */
    reads_back("cube-stack", "run.steps=10");
    reads_back("three-finger-grasp", "run.steps=20");
    reads_back("arm-reach", "run.steps=20");
    reads_back("four-bar", "run.steps=20"); /* loops */
    reads_back("fixture-gaps", "run.model=geometric");
    reads_back("gripper-2d", "run.model=qs-ncp"); /* ends in a failure, which is in the log */
}

/* Without timing and clock the bytes are a function of the run. */
static void same_run_same_bytes(void **unused)
{
    (void)unused;
    log_run runs[2];
    memory_sink sinks[2];
    for (int i = 0; i < 2; i++) {
        perp_log_options options = log_run_options();
        options.foxglove = true;
        const perp_log_sink into = memory_sink_make(&sinks[i]);
        log_run_load(&runs[i], "pivot", NULL);
        /* the result at the end has timing: it is left out, as a killed run leaves it out */
        perp_log_file file;
        const perp_log_about about = log_run_about(&runs[i], &file);
        assert_int_equal(perp_log_create_sink(&into, &about, &options, &runs[i].log, NULL), PERP_STATUS_OK);
        assert_int_equal(perp_run(runs[i].model, &runs[i].scene->run, NULL, perp_log_observe, runs[i].log,
                                  &runs[i].state, &runs[i].result, NULL),
                         PERP_STATUS_OK);
        assert_int_equal(perp_log_close(runs[i].log, NULL, NULL, NULL), PERP_STATUS_OK);
    }
    assert_int_equal(sinks[0].size, sinks[1].size);
    assert_memory_equal(sinks[0].bytes, sinks[1].bytes, sinks[0].size);
    for (int i = 0; i < 2; i++) {
        memory_sink_free(&sinks[i]);
        log_run_free(&runs[i]);
    }
}

/* ---- explanations
 * ----------------------------------------------------------------------------------------------------- */

static perp_contact_note explain(int step, int contact, char text[80])
{
    snprintf(text, 80, "\"step\" %d <&\\> \xc2\xb5\t%d", step, contact);
    perp_contact_note note = {.why = contact != 1 && step % 5 != 2 ? text : NULL, .number_count = 2};
    note.numbers[0].name = "one";
    note.numbers[0].count = 1;
    note.numbers[0].values[0] = 0.1 * step;
    note.numbers[1].name = "none";
    return note;
}

static void same_words(const perp_log_step *step)
{
    for (int k = 0; k < step->info.contact_count; k++) {
        char expected[80];
        if (explain(step->step, k, expected).why) {
            assert_string_equal(step->why[k], expected);
        } else {
            assert_true(!step->why || !step->why[k]);
        }
    }
}

/* Also where a step and what is said of it are in different units, and wherever the log is cut: a step has its words
 * or, only the last one, none. A chunk of one message at a time is the most that they can be apart. */
static void explanations_come_back(void **unused)
{
    (void)unused;
    static const size_t chunks[] = {1, 4000, 1 << 20};
    for (size_t n = 0; n < sizeof chunks / sizeof *chunks; n++) {
        log_run run;
        memory_sink sink;
        const perp_log_sink into = memory_sink_make(&sink);
        perp_log_options options = log_run_options();
        options.chunk_bytes = chunks[n];
        log_run_load(&run, "gripper-2d", NULL);
        run.explain = explain;
        log_run_go(&run, &into, &options);
        int wordless = 0;
        for (size_t size = sink.size; size > sink.size / 2; size -= size > sink.size - 20000 ? 97 : 1999) {
            perp_log_reader *reader;
            assert_int_equal(perp_log_open_memory(sink.bytes, size, NULL, &reader, NULL), PERP_STATUS_OK);
            const perp_log_extent extent = perp_log_reader_extent(reader);
            assert_true(extent.complete == (size == sink.size) && extent.damaged == 0);
            for (int i = extent.step_count - 1; i >= 0; i -= size == sink.size ? 1 : 7) {
                perp_log_step step;
                assert_int_equal(perp_log_read(reader, i, &step, NULL), PERP_STATUS_OK);
                if (i == extent.step_count - 1 && !step.why && i % 5 != 2 && step.info.contact_count > 0) {
                    wordless++;
                } else {
                    same_words(&step);
                }
            }
            perp_log_reader_free(reader);
        }
        assert_true(chunks[n] > 1 || wordless > 0); /* such a cut was among them */
        memory_sink_free(&sink);
        log_run_free(&run);
    }
}

/* ---- skimming
 * --------------------------------------------------------------------------------------------------------- */

static bool same_reals(const double *x, const double *y, size_t count)
{
    return memcmp(x, y, count * sizeof *x) == 0;
}

static bool same_vector(perp_vec3 a, perp_vec3 b)
{
    return same_reals(&a.x, &b.x, 1) && same_reals(&a.y, &b.y, 1) && same_reals(&a.z, &b.z, 1);
}

static void same_skimmed(const perp_contact_record *x, const perp_contact_record *y, perp_log_depth depth,
                         bool restricted)
{
    const perp_contact *a = &x->contact, *b = &y->contact;
    assert_true(perp_contact_same(a, b) && x->mode == y->mode);
    assert_true(same_reals(&a->phi, &b->phi, 1) && same_reals(&a->friction, &b->friction, 1) &&
                same_reals(&x->fn, &y->fn, 1) && same_reals(x->ft, y->ft, 2) &&
                a->direction_count == b->direction_count);
    if (depth == PERP_LOG_PICTURE) {
        assert_true(same_vector(a->point_a, b->point_a) && same_vector(a->point_b, b->point_b) &&
                    same_vector(a->normal, b->normal) && same_vector(a->t, b->t) && same_vector(a->o, b->o) &&
                    same_vector(a->directions[0], b->directions[0]) &&
                    same_vector(a->directions[1], b->directions[1]) && same_reals(x->slip, y->slip, 2));
    }
    /* else it was parsed after all, which a picture of a step with restricted friction is */
    assert_true(restricted || (y->force_on_b.x == 0.0 && y->force_on_b.y == 0.0 && y->force_on_b.z == 0.0));
}

/* What is skimmed is what is read, to the bit: in order, backwards, and here and there; contacts that come and go,
 * pairs and restricted friction, one and two tangents, names that look like keys, and with explanations. */
static void skimmed_is_read(void **unused)
{
    (void)unused;
    static const char *const few[] = {"run.steps=12", NULL}, *const named[] = {"run.steps=40", NULL};
    static const struct {
        const char *example;
        const char *const *settings;
        bool why, restricted;
    } cases[] = {{"gripper-2d", NULL, false, false},     {"gripper-2d", NULL, true, false},
                 {"cube-stack", few, false, false},      {"pawl-fixture", few, false, false},
                 {"fence-particle", named, false, true}, {"peg-in-hole-2d", named, false, false}};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        log_run run;
        memory_sink sink;
        const perp_log_sink into = memory_sink_make(&sink);
        log_run_load(&run, cases[n].example, cases[n].settings);
        run.explain = cases[n].why ? explain : NULL;
        log_run_go(&run, &into, NULL);
        perp_log_reader *whole, *skimmed;
        assert_int_equal(perp_log_open_memory(sink.bytes, sink.size, NULL, &whole, NULL), PERP_STATUS_OK);
        assert_int_equal(perp_log_open_memory(sink.bytes, sink.size, NULL, &skimmed, NULL), PERP_STATUS_OK);
        for (int i = 0; i < 6 * run.count; i++) {
            const perp_log_depth depth = i < 3 * run.count ? PERP_LOG_EXTREMES : PERP_LOG_PICTURE;
            const int turn = i % (3 * run.count), back = 2 * run.count - 1 - turn;
            const int at = turn < run.count ? turn : back >= 0 ? back : 7 * turn % run.count;
            perp_log_step x, y;
            assert_int_equal(perp_log_read(whole, at, &x, NULL), PERP_STATUS_OK);
            assert_int_equal(perp_log_skim(skimmed, at, depth, &y, NULL), PERP_STATUS_OK);
            assert_true(x.step == y.step && same_reals(&x.t, &y.t, 1));
            assert_int_equal(x.info.contact_count, y.info.contact_count);
            assert_true(depth == PERP_LOG_EXTREMES ? !y.poses : same_reals(x.poses, y.poses, 3));
            assert_true(!x.why == !y.why);
            for (int k = 0; k < x.info.contact_count; k++) {
                same_skimmed(&x.info.contacts[k], &y.info.contacts[k], depth,
                             depth == PERP_LOG_PICTURE && cases[n].restricted);
                assert_true(!y.why || !x.why[k] == !y.why[k]);
                if (y.why && y.why[k]) {
                    assert_string_equal(x.why[k], y.why[k]);
                }
            }
            assert_memory_equal(&x.info.residuals, &y.info.residuals, sizeof x.info.residuals);
            assert_int_equal(x.info.event_count, y.info.event_count);
        }
        perp_log_reader_free(whole);
        perp_log_reader_free(skimmed);
        memory_sink_free(&sink);
        log_run_free(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_back),   cmocka_unit_test(numbers_are_short),
        cmocka_unit_test(checksums),           cmocka_unit_test(runs_come_back),
        cmocka_unit_test(same_run_same_bytes), cmocka_unit_test(explanations_come_back),
        cmocka_unit_test(skimmed_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
