/* Errors and diagnostics: formatting, cutting, and text that is always printable, valid UTF-8. */
#include "base/edit_distance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <perp/base.h>

/* ---- what printable means ---------------------------------------------------------------------------------------- */

/* Decodes by code points (the library looks at byte ranges): shortest form, no surrogates, at most U+10FFFF, and
 * neither C0, DEL nor C1 control characters. */
static bool is_printable_utf8(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    while (*p) {
        int more = 0;
        uint32_t code = *p, least = 0;
        if (code >= 0xf8 || (code >= 0x80 && code < 0xc0)) {
            return false;
        }
        if (code >= 0xf0) {
            more = 3, code &= 0x07, least = 0x10000;
        } else if (code >= 0xe0) {
            more = 2, code &= 0x0f, least = 0x800;
        } else if (code >= 0xc0) {
            more = 1, code &= 0x1f, least = 0x80;
        }
        p++;
        for (; more > 0; more--, p++) {
            if (*p < 0x80 || *p > 0xbf) {
                return false;
            }
            code = code << 6 | (*p & 0x3fu);
        }
        const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
        if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) || control) {
            return false;
        }
    }
    return true;
}

static const char *message_of(const char *text)
{
    static perp_error error;
    perp_fail(&error, PERP_STATUS_IO, "%s", text);
    return error.message;
}

/* ---- perp_fail --------------------------------------------------------------------------------------------------- */

static void test_fail_formats(void **state)
{
    (void)state;
    perp_error error;
    memset(&error, 'x', sizeof error);
    assert_int_equal(perp_fail(&error, PERP_STATUS_IO, "cannot read `%s`: %d", "a.yaml", 7), PERP_STATUS_IO);
    assert_int_equal(error.status, PERP_STATUS_IO);
    assert_string_equal(error.message, "cannot read `a.yaml`: 7");
    assert_string_equal(error.file, ""); /* nothing of an earlier error is left */
    assert_string_equal(error.path, "");
    assert_int_equal(error.line, 0);
    assert_int_equal(error.column, 0);
    assert_int_equal(perp_fail(NULL, PERP_STATUS_CAPACITY, "nobody asks"), PERP_STATUS_CAPACITY);
}

static void test_status_names(void **state)
{
    (void)state;
    for (int i = 0; i < PERP_STATUS_COUNT; i++) {
        const char *name = perp_status_name((perp_status)i);
        assert_non_null(name);
        assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz-"), strlen(name));
        assert_string_not_equal(name, "unknown");
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(name, perp_status_name((perp_status)j));
        }
    }
    assert_string_equal(perp_status_name(PERP_STATUS_BAD_INPUT), "bad-input");
    assert_string_equal(perp_status_name(PERP_STATUS_NOT_CONVERGED), "not-converged");
    assert_string_equal(perp_status_name(PERP_STATUS_COUNT), "unknown");
    assert_string_equal(perp_status_name((perp_status)-1), "unknown");
}

static void test_version(void **state)
{
    (void)state;
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", PERP_VERSION_MAJOR, PERP_VERSION_MINOR, PERP_VERSION_PATCH);
    assert_string_equal(perp_version(), version);
    assert_string_equal(perp_version(), PERP_PROJECT_VERSION); /* of the build and of what it installs */
    int major, minor, patch;
    perp_version_numbers(&major, &minor, &patch);
    assert_true(major == PERP_VERSION_MAJOR && minor == PERP_VERSION_MINOR && patch == PERP_VERSION_PATCH);
    assert_true(strlen(perp_build_flags()) > 4);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void test_control_characters(void **state)
{
    (void)state;
    assert_string_equal(message_of("a\nb\tc\rd\x1b[31me\x7f"), "a?b?c?d?[31me?");
    assert_string_equal(message_of("\xc2\x9b"
                                   "31m"),
                        "??31m");                            /* U+009B starts an escape sequence too */
    assert_string_equal(message_of("\xc2\xa0"), "\xc2\xa0"); /* U+00A0, the first that is not a control character */
    for (int c = 1; c < 256; c++) {
        const char text[3] = {'a', (char)c, 0};
        assert_true(is_printable_utf8(message_of(text)));
        if (c >= 32 && c < 127) {
            assert_string_equal(message_of(text), text);
        }
    }
}

static void test_valid_utf8_is_kept(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "Kraft \xc3\xbc Reibung",
        "\xce\xbc = 0.5",
        "\xe2\x80\xa6",
        "\xed\x9f\xbf\xee\x80\x80",         /* U+D7FF, U+E000: around the surrogates */
        "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", /* U+10000, U+10FFFF: the ends of four bytes */
        "\xe0\xa0\x80\xdf\xbf",             /* U+0800, U+07FF */
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_true(is_printable_utf8(texts[i]));
        assert_string_equal(message_of(texts[i]), texts[i]);
    }
}

static void test_broken_utf8_is_replaced(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "\x80",             /* continuation alone */
        "\xc3",             /* cut */
        "\xc3(",            /* cut by another character */
        "\xc0\x80",         /* overlong zero */
        "\xc1\xbf",         /* overlong */
        "\xe0\x9f\xbf",     /* overlong */
        "\xf0\x8f\xbf\xbf", /* overlong */
        "\xed\xa0\x80",     /* surrogate */
        "\xf4\x90\x80\x80", /* beyond U+10FFFF */
        "\xf5\x80\x80\x80",
        "\xff\xfe",
        "\xe2\x80",
        "\xf0\x9f\x98",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *message = message_of(texts[i]);
        assert_false(is_printable_utf8(texts[i]));
        assert_true(is_printable_utf8(message));
        assert_int_equal(strlen(message), strlen(texts[i]));
        assert_int_equal(message[0], '?');
    }
    assert_string_equal(message_of("\xc3("), "?(");
}

/* All pairs of bytes, and random strings: whatever comes in, what comes out is printable. */
static void test_any_bytes(void **state)
{
    (void)state;
    for (int a = 1; a < 256; a++) {
        for (int b = 1; b < 256; b++) {
            const char text[3] = {(char)a, (char)b, 0};
            if (!is_printable_utf8(message_of(text))) {
                fail_msg("bytes %02x %02x come out broken", a, b);
            }
        }
    }
    perp_random random = {3};
    for (int k = 0; k < 20000; k++) {
        char text[9] = {0};
        for (int i = 0; i < 8; i++) { /* mostly the bytes that matter */
            text[i] = (char)(perp_random_bits(&random) % 4 ? 0x80 + perp_random_bits(&random) % 128
                                                           : 1 + perp_random_bits(&random) % 255);
        }
        assert_true(is_printable_utf8(message_of(text)));
    }
}

/* An overlong message is cut, perhaps inside a character; what is left is whole characters and '?'. */
static void test_cut(void **state)
{
    (void)state;
    char text[1500];
    for (size_t lead = 0; lead < 4; lead++) { /* each way in which the end falls into a four-byte character */
        memset(text, 'a', lead);
        for (size_t i = lead; i + 4 < sizeof text; i += 4) {
            memcpy(text + i, "\xf0\x9f\x98\x80", 5);
        }
        perp_error error;
        perp_fail(&error, PERP_STATUS_IO, "%s", text);
        assert_int_equal(strlen(error.message), sizeof error.message - 1);
        assert_true(is_printable_utf8(error.message));
        assert_memory_equal(error.message, text, sizeof error.message - 4);

        static perp_diagnostics list;
        memset(&list, 0, sizeof list);
        perp_diagnostics_add(&list, PERP_SEVERITY_ERROR, text, 1, 1, text, "%s", text);
        const perp_diagnostic *item = &list.items[0];
        assert_int_equal(strlen(item->message), sizeof item->message - 1);
        assert_int_equal(strlen(item->file), sizeof item->file - 1);
        assert_true(is_printable_utf8(item->message) && is_printable_utf8(item->file) && is_printable_utf8(item->path));
    }
}

/* A long path keeps its end, which says more than its beginning. */
static void test_path_keeps_its_end(void **state)
{
    (void)state;
    static perp_diagnostics list;
    char path[400];
    memset(path, 'p', sizeof path);
    memcpy(path + sizeof path - 6, ".mass", 6);
    for (size_t length = 250; length < 262; length++) {
        memset(&list, 0, sizeof list);
        const char *given = path + sizeof path - 1 - length;
        perp_diagnostics_add(&list, PERP_SEVERITY_ERROR, NULL, 0, 0, given, "m");
        const char *kept = list.items[0].path;
        if (length < sizeof list.items[0].path) {
            assert_string_equal(kept, given);
        } else {
            assert_memory_equal(kept, "...", 3);
            assert_string_equal(kept + 3, given + length - (sizeof list.items[0].path - 4));
        }
    }
}

/* ---- diagnostics ------------------------------------------------------------------------------------------------- */

static void test_beyond_capacity(void **state)
{
    (void)state;
    static perp_diagnostics list;
    memset(&list, 0, sizeof list);
    for (int i = 0; i < 50; i++) {
        perp_diagnostics_add(&list, PERP_SEVERITY_ERROR, NULL, 0, 0, "", "error %d", i);
    }
    assert_int_equal(list.errors, 50);
    assert_int_equal(list.count, PERP_DIAGNOSTICS_PER_SEVERITY);
    for (int i = 0; i < 30; i++) { /* a flood of errors leaves room for warnings */
        perp_diagnostics_add(&list, PERP_SEVERITY_WARNING, NULL, 0, 0, "", "warning %d", i);
    }
    assert_int_equal(list.warnings, 30);
    assert_int_equal(list.errors, 50);
    assert_int_equal(list.count, 2 * PERP_DIAGNOSTICS_PER_SEVERITY);
    assert_string_equal(list.items[19].message, "error 19");
    assert_string_equal(list.items[20].message, "warning 0");
    assert_string_equal(list.items[39].message, "warning 19");
    assert_int_equal(list.items[39].severity, PERP_SEVERITY_WARNING);
}

static void test_first_error(void **state)
{
    (void)state;
    static perp_diagnostics list;
    memset(&list, 0, sizeof list);
    perp_error error;
    perp_fail(&error, PERP_STATUS_IO, "before");
    perp_diagnostics_add(&list, PERP_SEVERITY_WARNING, "s.yaml", 1, 2, "name", "odd");
    perp_diagnostics_first_error(&list, PERP_STATUS_BAD_INPUT, &error);
    assert_string_equal(error.message, "before"); /* there is none: nothing happens */
    assert_int_equal(error.status, PERP_STATUS_IO);

    perp_diagnostics_add(&list, PERP_SEVERITY_ERROR, "s.yaml", 3, 4, "bodies.cup.mass", "must be positive");
    perp_diagnostics_add(&list, PERP_SEVERITY_ERROR, "t.yaml", 5, 6, "bodies.cup.com", "must be finite");
    perp_diagnostics_first_error(&list, PERP_STATUS_BAD_INPUT, &error);
    assert_int_equal(error.status, PERP_STATUS_BAD_INPUT);
    assert_string_equal(error.message, "must be positive");
    assert_string_equal(error.path, "bodies.cup.mass");
    assert_string_equal(error.file, "s.yaml");
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 4);
    perp_diagnostics_first_error(&list, PERP_STATUS_BAD_INPUT, NULL);
}

static void test_format(void **state)
{
    (void)state;
    static perp_diagnostics list;
    memset(&list, 0, sizeof list);
    perp_diagnostics_add(&list, PERP_SEVERITY_ERROR, "s.yaml", 3, 14, "bodies.cup.mass", "no %s", "good");
    perp_diagnostics_add(&list, PERP_SEVERITY_WARNING, "s.yaml", 3, 14, "bodies.cup.mass", "odd");
    perp_diagnostics_add(&list, PERP_SEVERITY_ERROR, NULL, 0, 0, "bodies.cup.mass", "no good");
    perp_diagnostics_add(&list, PERP_SEVERITY_WARNING, NULL, 0, 0, NULL, "odd");
    static const char *const expected[] = {"s.yaml:3:14: no good", "s.yaml:3:14: warning: odd",
                                           "bodies.cup.mass: no good", "warning: odd"};
    char text[100];
    for (int i = 0; i < 4; i++) {
        perp_diagnostic_format(&list.items[i], text, sizeof text);
        assert_string_equal(text, expected[i]);
    }
}

/* Cut to the buffer, ended by a zero, nothing written behind it, and still whole characters. */
static void test_format_cut(void **state)
{
    (void)state;
    static perp_diagnostics list;
    memset(&list, 0, sizeof list);
    perp_diagnostics_add(&list, PERP_SEVERITY_ERROR, "s.yaml", 3, 14, "",
                         "\xce\xbc\xce\xbc\xf0\x9f\x98\x80\xe2\x80\xa6");
    char whole[100];
    perp_diagnostic_format(&list.items[0], whole, sizeof whole);
    for (size_t size = 1; size <= strlen(whole) + 2; size++) {
        char text[100];
        memset(text, 'z', sizeof text);
        perp_diagnostic_format(&list.items[0], text, size);
        const size_t length = size - 1 < strlen(whole) ? size - 1 : strlen(whole);
        assert_int_equal(strlen(text), length);
        assert_int_equal(text[size], 'z');
        assert_true(is_printable_utf8(text));
    }
    char untouched = 'z';
    perp_diagnostic_format(&list.items[0], &untouched, 0);
    assert_int_equal(untouched, 'z');
}

/* ---- nearest words ----------------------------------------------------------------------------------------------- */

/* Insertions, deletions, substitutions and exchanges of neighbours; a metric up to the longest word. */
static void test_edit_distance(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        int distance;
    } cases[] = {{"", "", 0},
                 {"mass", "mass", 0},
                 {"mass", "masss", 1},
                 {"mass", "mas", 1},
                 {"mass", "mess", 1},
                 {"gravity", "gravtiy", 1},
                 {"", "abc", 3},
                 {"abcd", "dcba", 3},
                 {"kitten", "sitting", 3},
                 {"inertia", "inertai", 1},
                 {"com", "density", 7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(perp_edit_distance(cases[i].a, cases[i].b), cases[i].distance);
        assert_int_equal(perp_edit_distance(cases[i].b, cases[i].a), cases[i].distance);
    }
    char word[60];
    memset(word, 'a', sizeof word);
    word[40] = '\0'; /* the longest that is compared */
    assert_int_equal(perp_edit_distance(word, word), 0);
    assert_int_equal(perp_edit_distance(word, ""), 40);
    word[40] = 'a';
    word[41] = '\0'; /* longer ones are near to nothing */
    assert_int_equal(perp_edit_distance(word, word), 40);
    assert_int_equal(perp_edit_distance("", word), 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fail_formats),
        cmocka_unit_test(test_status_names),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_control_characters),
        cmocka_unit_test(test_valid_utf8_is_kept),
        cmocka_unit_test(test_broken_utf8_is_replaced),
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_path_keeps_its_end),
        cmocka_unit_test(test_beyond_capacity),
        cmocka_unit_test(test_first_error),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_format_cut),
        cmocka_unit_test(test_edit_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
