/* The limit on text, and the order of complaints. */
#include "yaml/yaml_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static void text_may_be_as_long_as_the_limit(void **state)
{
    (void)state;
    static perp_diagnostics list;
    assert_true(perp_yaml_fits("s", PERP_YAML_MAX_BYTES, &list));
    assert_int_equal(list.errors, 0);
    assert_false(perp_yaml_fits("s", (size_t)PERP_YAML_MAX_BYTES + 1, &list));
    assert_int_equal(list.errors, 1);
    assert_true(list.items[0].line == 1 && list.items[0].column == 1);
}

/* By file, line and column; what is said of one place stays in the order in which it was said. */
static void complaints_are_sorted(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        int line, column, place; /* place: in the sorted list */
    } said[] = {{"b", 1, 1, 5}, {"a", 2, 7, 3}, {"a", 2, 3, 1}, {"a", 2, 3, 2}, {"a", 3, 1, 4}, {"a", 1, 9, 0}};
    enum { COUNT = sizeof said / sizeof *said };
    static struct {
        perp_diagnostic before; /* what is read before the list would come after everything in it */
        perp_diagnostics list;
    } place;
    perp_diagnostics *list = &place.list;
    memset(&place.before, 'z', sizeof place.before);
    static const char *const words[COUNT] = {"0", "1", "2", "3", "4", "5"};
    for (int i = 0; i < COUNT; i++) {
        perp_diagnostics_add(list, PERP_SEVERITY_ERROR, said[i].file, said[i].line, said[i].column, words[i], "%s",
                             "x");
    }
    perp_yaml_sort_diagnostics(list);
    assert_int_equal(list->count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_string_equal(list->items[said[i].place].path, words[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_may_be_as_long_as_the_limit),
        cmocka_unit_test(complaints_are_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
