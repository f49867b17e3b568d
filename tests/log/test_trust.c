/* Certificates in a log: what a certifier says of each step comes back as it was, and two logs that differ in one of
 * them alone are told apart. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "failing_allocator.h"
#include "log_run.h"

#include <perp/analysis.h>

/* What is changed of a certificate before it is logged. */
typedef void change(perp_step_trust *trust);

typedef struct writer {
    perp_certifier *certifier;
    perp_log *log;
    change *change; /* NULL: none */
    int step;       /* the one that is changed */
    bool dropped;   /* that one has none */
} writer;

static perp_error error;

static bool observe(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    writer *w = context;
    perp_step_info told = *info;
    perp_step_trust trust;
    const bool goes_on = perp_certifier_observe(w->certifier, step, state, info);
    told.trust = perp_certifier_trust(w->certifier);
    if (told.trust && step == w->step) {
        trust = *told.trust;
        told.trust = w->dropped ? NULL : &trust;
        if (w->change) {
            w->change(&trust);
        }
    }
    return perp_log_observe(w->log, step, state, &told) && goes_on;
}

/* Fifteen steps of cubes that are pushed, of which the last two are not unique. */
static void write_log(log_run *run, memory_sink *sink, change *changed, int step, bool dropped)
{
    static const char *const settings[] = {"run.steps=15", NULL};
    const perp_log_sink into = memory_sink_make(sink);
    const perp_log_options options = log_run_options();
    perp_log_file file;
    writer w = {.change = changed, .step = step, .dropped = dropped};
    log_run_load(run, "cube-stack", settings);
    perp_log_about about = log_run_about(run, &file);
    about.certified = true;
    about.stop_at = 1u << PERP_VERDICT_INVALID;
    assert_int_equal(perp_certifier_create(run->model, &run->scene->run, NULL, &w.certifier, &error), PERP_STATUS_OK);
    assert_int_equal(perp_log_create_sink(&into, &about, &options, &w.log, &error), PERP_STATUS_OK);
    assert_int_equal(perp_run(run->model, &run->scene->run, NULL, observe, &w, &run->state, &run->result, &error),
                     PERP_STATUS_OK);
    run->result.trust = perp_certifier_summary(w.certifier);
    assert_int_equal(perp_log_close(w.log, &run->result, NULL, &error), PERP_STATUS_OK);
    run->result.trust = NULL;
    perp_certifier_free(w.certifier);
}

static perp_log_reader *open_log(const memory_sink *sink)
{
    perp_log_reader *reader;
    assert_int_equal(perp_log_open_memory(sink->bytes, sink->size, NULL, &reader, &error), PERP_STATUS_OK);
    return reader;
}

/* ---- back as it was ------------------------------------------------------------------------------------------------
 */

typedef struct check {
    perp_certifier *certifier;
    perp_log_reader *reader;
    int motions;
} check;

static void same_texts(const char *const *a, int count_a, const char *const *b, int count_b)
{
    assert_int_equal(count_a, count_b);
    for (int i = 0; i < count_a; i++) {
        assert_string_equal(a[i], b[i]);
    }
}

/* Bodies of this scene are free in all components, and come in the order of their velocities: by entry is as in v. */
static bool compare(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    check *c = context;
    perp_log_step read;
    perp_certifier_observe(c->certifier, step, state, info);
    const perp_step_trust *told = perp_certifier_trust(c->certifier);
    assert_int_equal(perp_log_read(c->reader, perp_log_find(c->reader, step), &read, &error), PERP_STATUS_OK);
    const perp_step_trust *back = read.info.trust;
    assert_int_equal(told != NULL, step > 0);
    assert_int_equal(back != NULL, step > 0);
    if (back) {
        assert_true(back->from == told->from);
        assert_int_equal(back->existence, told->existence);
        assert_int_equal(back->uniqueness, told->uniqueness);
        assert_int_equal(back->rigidity, told->rigidity);
        assert_int_equal(back->motion != NULL, told->motion != NULL);
        assert_int_equal(back->motion_both_ways, told->motion_both_ways);
        same_texts(back->contacts, back->contact_count, told->contacts, told->contact_count);
        same_texts(back->reasons, back->reason_count, told->reasons, told->reason_count);
    }
    if (back && back->motion) {
        double sum[2] = {0.0, 0.0};
        for (int i = 0; i < perp_log_reader_head(c->reader)->nv; i++) {
            sum[0] += fabs(back->motion[i]);
        }
        for (int i = 0; i < perp_certifier_analysis(c->certifier)->model->nv; i++) {
            sum[1] += fabs(told->motion[i]);
        }
        assert_true(sum[0] == sum[1] && sum[0] > 0.0);
        c->motions++;
    }
    return true;
}

static void test_comes_back(void **state)
{
    log_run run;
    memory_sink sink;
    (void)state;
    write_log(&run, &sink, NULL, -1, false);
    check c = {.reader = open_log(&sink)};
    const perp_log_head *head = perp_log_reader_head(c.reader);
    assert_true(head->certified && head->stop_at == 1u << PERP_VERDICT_INVALID);
    perp_state at;
    perp_run_result result;
    assert_int_equal(perp_state_create(run.model, NULL, &at, &error), PERP_STATUS_OK);
    assert_int_equal(perp_certifier_create(run.model, &run.scene->run, NULL, &c.certifier, &error), PERP_STATUS_OK);
    assert_int_equal(perp_run(run.model, &run.scene->run, NULL, compare, &c, &at, &result, &error), PERP_STATUS_OK);
    assert_int_equal(c.motions, 2);
    perp_certifier_free(c.certifier);
    perp_run_result_free(&result);
    perp_state_free(&at);
    perp_log_reader_free(c.reader);
    memory_sink_free(&sink);
    log_run_free(&run);
}

/* ---- compared ------------------------------------------------------------------------------------------------------
 */

static void other_existence(perp_step_trust *trust)
{
    trust->existence = PERP_VERDICT_UNKNOWN;
}

static void other_uniqueness(perp_step_trust *trust)
{
    trust->uniqueness = PERP_VERDICT_BORDERLINE;
}

static void other_rigidity(perp_step_trust *trust)
{
    trust->rigidity = PERP_VERDICT_VALID;
}

static void other_begin(perp_step_trust *trust)
{
    trust->from += 1e-3;
}

static void other_contact(perp_step_trust *trust)
{
    static const char *const names[] = {"finger cube0 s0.c0-s0.f1"};
    trust->contacts = names;
    trust->contact_count = 1;
}

static void other_ways(perp_step_trust *trust)
{
    trust->motion_both_ways = !trust->motion_both_ways;
}

static void other_motion(perp_step_trust *trust)
{
    static double motion[128];
    memset(motion, 0, sizeof motion);
    memcpy(motion, trust->motion, sizeof *motion);
    motion[0] += 0.5;
    trust->motion = motion;
}

static void other_reason(perp_step_trust *trust)
{
    static const char *const words[] = {"because"};
    trust->reasons = words;
    trust->reason_count = 1;
}

static void test_differences_are_found(void **state)
{
    static const struct {
        change *changed;
        bool dropped;
        const char *says; /* NULL: words are no difference */
    } cases[] = {{other_existence, false, "verdict of existence: exists against unknown"},
                 {other_uniqueness, false, "verdict of uniqueness: not-unique against borderline"},
                 {other_rigidity, false, "verdict of rigidity: unknown against valid"},
                 {other_begin, false, "begin of the certified step"},
                 {other_contact, false, "number of contacts that a verdict is about"},
                 {other_ways, false, "motion both ways"},
                 {other_motion, false, "of the motion that can be added"},
                 {NULL, true, "number of certificates: 1 against 0"},
                 {other_reason, false, NULL}};
    log_run run;
    memory_sink sink;
    (void)state;
    write_log(&run, &sink, NULL, -1, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        log_run other;
        memory_sink changed;
        perp_log_difference difference;
        write_log(&other, &changed, cases[i].changed, 14, cases[i].dropped);
        perp_log_reader *a = open_log(&sink), *b = open_log(&changed);
        assert_int_equal(perp_log_compare(a, b, 0.0, &difference, &error), PERP_STATUS_OK);
        assert_int_equal(difference.equal, cases[i].says == NULL);
        if (cases[i].says) {
            assert_int_equal(difference.first_step, 14);
            assert_non_null(strstr(difference.first, cases[i].says));
        }
        perp_log_reader_free(a);
        perp_log_reader_free(b);
        memory_sink_free(&changed);
        log_run_free(&other);
    }
    memory_sink_free(&sink);
    log_run_free(&run);
}

/* ---- what cannot be read -------------------------------------------------------------------------------------------
 */

static void verdict_of_another_kind(perp_step_trust *trust)
{
    trust->existence = PERP_VERDICT_VALID;
}

static void test_a_verdict_of_another_kind_is_no_step(void **state)
{
    log_run run;
    memory_sink sink;
    perp_log_step step;
    (void)state;
    write_log(&run, &sink, verdict_of_another_kind, 14, false);
    perp_log_reader *reader = open_log(&sink);
    assert_int_equal(perp_log_read(reader, 13, &step, &error), PERP_STATUS_OK);
    assert_int_equal(perp_log_read(reader, 14, &step, &error), PERP_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.message, "`existence`"));
    perp_log_reader_free(reader);
    memory_sink_free(&sink);
    log_run_free(&run);
}

static void test_out_of_memory(void **state)
{
    log_run run;
    memory_sink sink;
    (void)state;
    write_log(&run, &sink, NULL, -1, false);
    for (int grants = 0, done = 0; !done; grants++) {
        failing_allocator f = {.grants = grants};
        const perp_allocator allocator = allocator_of(&f);
        perp_log_reader *reader;
        perp_log_step step;
        perp_status status = perp_log_open_memory(sink.bytes, sink.size, &allocator, &reader, &error);
        if (status == PERP_STATUS_OK) {
            status = perp_log_read(reader, 15, &step, &error);
        }
        done = status == PERP_STATUS_OK;
        assert_true(done ? step.info.trust->motion != NULL : status == PERP_STATUS_OUT_OF_MEMORY);
        perp_log_reader_free(reader);
        assert_int_equal(f.standing, 0);
    }
    memory_sink_free(&sink);
    log_run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comes_back),
        cmocka_unit_test(test_differences_are_found),
        cmocka_unit_test(test_a_verdict_of_another_kind_is_no_step),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
