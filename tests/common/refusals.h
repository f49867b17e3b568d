/* refusals.h - texts with one mistake that a reader of YAML must refuse, by one error: where it stands, what it says.
 *
 *     static const refusal refusals[] = {{"perp: 2\n", 1, 7, "write `perp: 1`"}, ..};
 *     assert_refusals(refusals, count, "s.yaml", is_refused, &diagnostics);
 */
#ifndef PERP_TESTS_COMMON_REFUSALS_H
#define PERP_TESTS_COMMON_REFUSALS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <perp/base.h>

typedef struct refusal {
    const char *text;
    int line, column;
    const char *words; /* part of the message */
} refusal;

static inline void print_diagnostics(const perp_diagnostics *diagnostics)
{
    for (int i = 0; i < diagnostics->count; i++) {
        const perp_diagnostic *d = &diagnostics->items[i];
        print_error("  %s:%d:%d: %s\n", d->file, d->line, d->column, d->message);
    }
}

static inline const perp_diagnostic *first_error(const perp_diagnostics *diagnostics)
{
    for (int i = 0; i < diagnostics->count; i++) {
        if (diagnostics->items[i].severity == PERP_SEVERITY_ERROR) {
            return &diagnostics->items[i];
        }
    }
    return NULL;
}

/* `is_refused` reads a text as the file `name` into `diagnostics`, which it empties first. */
static inline void assert_refusals(const refusal *refusals, size_t count, const char *name,
                                   bool (*is_refused)(const char *text), const perp_diagnostics *diagnostics)
{
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        const refusal *r = &refusals[i];
        const bool refused = is_refused(r->text);
        const perp_diagnostic *d = first_error(diagnostics);
        if (!refused || !d || diagnostics->errors != 1 || d->line != r->line || d->column != r->column ||
            !strstr(d->message, r->words) || strcmp(d->file, name) != 0) {
            print_error("case %zu: %s\n  wanted %d:%d ... %s ...\n  %s\n", i, r->text, r->line, r->column, r->words,
                        refused ? "got" : "accepted");
            print_diagnostics(diagnostics);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

#endif
