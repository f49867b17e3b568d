/* Maps in C: lack of memory anywhere is said and leaks nothing, and options are held to what they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <perp/perp.h>

#include "failing_allocator.h"

static const char *const outputs[] = {"f", "word"}, *const at[] = {"k=1"}, *const labels[] = {"x=length (m)"};
static const double levels[] = {0.25, 0.5};

/* f = x y and a word that changes across x = 1.5, refined at one edge; for two values of k. */
static size_t write_table(char *text, size_t size)
{
    size_t length = (size_t)snprintf(text, size, "case,k,x,y,f,word,refined,error\n");
    for (int row = 0; row < 18; row++) {
        const int k = row / 9, x = row / 3 % 3, y = row % 3;
        length += (size_t)snprintf(text + length, size - length, "%d,%d,%d,%d,%.2f,%s,,\n", row, k, x, y, 0.37 * x * y,
                                   x > 1 ? "far" : "near");
    }
    length += (size_t)snprintf(text + length, size - length, "18,1,1.25,0,0,near,word,\n19,1,1.5,0,0,far,word,\n");
    assert_true(length < size);
    return length;
}

static perp_map_options wanted(const perp_allocator *allocator)
{
    perp_map_options o = perp_map_options_default();
    o.allocator = allocator;
    o.x = "x";
    o.y = "y";
    o.output_count = 2;
    o.outputs = outputs;
    o.at_count = o.label_count = 1;
    o.at = at;
    o.labels = labels;
    o.level_count = 2;
    o.levels = levels;
    return o;
}

static void test_no_memory(void **unused)
{
    (void)unused;
    char text[2000];
    const size_t length = write_table(text, sizeof text);
    perp_status status = PERP_STATUS_OUT_OF_MEMORY;
    int grants = 0;
    for (; status == PERP_STATUS_OUT_OF_MEMORY; grants++) {
        failing_allocator f = {.grants = grants};
        const perp_allocator allocator = allocator_of(&f);
        const perp_map_options options = wanted(&allocator);
        perp_map *map;
        perp_error error = {0};
        status = perp_map_create(text, length, "t.csv", &options, &map, &error);
        assert_true((status == PERP_STATUS_OK) == (map != NULL));
        assert_true(status == PERP_STATUS_OK || error.status == PERP_STATUS_OUT_OF_MEMORY);
        perp_map_free(map);
        assert_int_equal(f.standing, 0);
    }
    assert_int_equal(status, PERP_STATUS_OK);
    assert_true(grants > 2);
}

/* The change is where the table has it on the one edge, and half-way on the others. */
static void test_lines(void **unused)
{
    (void)unused;
    char text[2000], *json, *svg;
    const size_t length = write_table(text, sizeof text);
    perp_map_options options = wanted(NULL);
    perp_map *map;
    perp_error error = {0};
    options.outputs = outputs + 1;
    options.output_count = 1;
    assert_int_equal(perp_map_create(text, length, "t.csv", &options, &map, &error), PERP_STATUS_OK);
    assert_int_equal(perp_map_json(map, &json, &error), PERP_STATUS_OK);
    assert_non_null(strstr(
        json, "{\"between\": [\"far\", \"near\"], \"closed\": false, \"points\": [[1.5,2], [1.5,1], [1.375,0]]}"));
    assert_int_equal(perp_map_text(map, &svg, &error), PERP_STATUS_OK);
    assert_non_null(strstr(svg, ">length (m)</text>"));
    assert_int_equal(perp_map_write(map, "/nonexistent/a.svg", &error), PERP_STATUS_IO);
    perp_text_free(json);
    perp_text_free(svg);
    perp_map_free(map);
}

static void test_options(void **unused)
{
    (void)unused;
    char text[2000];
    const size_t length = write_table(text, sizeof text);
    for (int k = 0; k < 6; k++) {
        perp_map_options options = wanted(NULL);
        perp_map *map;
        perp_error error = {0};
        const double same[] = {1.0, 1.0};
        options.size = k == 0 ? 1 : options.size;
        options.x = k == 1 ? NULL : options.x;
        options.output_count = k == 2 ? 0 : options.output_count;
        options.levels = k == 3 ? same : options.levels;
        options.level_count = k == 4 ? 1000 : options.level_count;
        options.width = k == 5 ? 10 : 0;
        assert_int_equal(perp_map_create(text, length, "t.csv", &options, &map, &error), PERP_STATUS_BAD_INPUT);
        assert_null(map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
