#include "cli.h"

#include <stdio.h>
#include <string.h>

static void options_of(const perp_rung *rung, char *text, size_t size)
{
    text[0] = '\0';
    for (int cone = 1; cone < PERP_CONE_COUNT; cone++) {
        if (rung->takes & 1u << cone) {
            const size_t length = strlen(text);
            snprintf(text + length, size - length, "%scone: %s%s", length ? ", " : "", perp_cone_name((perp_cone)cone),
                     (int)rung->own_cone == cone ? " (default)" : "");
        }
    }
    static const struct {
        unsigned bit;
        const char *name;
    } others[] = {{PERP_TAKES_SMOOTHING, "smoothing"}, {PERP_TAKES_TIME_SCALE, "time_scale"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (rung->takes & others[i].bit) {
            const size_t length = strlen(text);
            snprintf(text + length, size - length, "%s%s", length ? ", " : "", others[i].name);
        }
    }
    if (!text[0]) {
        snprintf(text, size, "-");
    }
}

enum { COLUMNS = 7 };

/* The columns of a rung; -1: their titles. `options` is where one of them is put together. */
static void columns_of(int rung, char *options, size_t size, const char *columns[COLUMNS])
{
    static const char *const titles[COLUMNS] = {"model",   "inertia", "contact",     "friction",
                                                "options", "source",  "what it does"};
    if (rung < 0) {
        memcpy(columns, titles, sizeof titles);
        return;
    }
    const perp_rung *r = perp_rung_at(rung);
    options_of(r, options, size);
    const char *const texts[COLUMNS] = {
        r->name, perp_rung_inertia_name(r->inertia), r->contact, r->friction, options, r->source, r->summary};
    memcpy(columns, texts, sizeof texts);
}

static int run(const cli_arguments *arguments)
{
    (void)arguments;
    char options[160];
    const char *columns[COLUMNS];
    int widths[COLUMNS] = {0};
    for (int i = -1; i < perp_rung_count(); i++) {
        columns_of(i, options, sizeof options, columns);
        for (int k = 0; k < COLUMNS; k++) {
            const int length = (int)strlen(columns[k]);
            widths[k] = length > widths[k] ? length : widths[k];
        }
    }
    for (int i = -1; i < perp_rung_count(); i++) {
        columns_of(i, options, sizeof options, columns);
        for (int k = 0; k < COLUMNS - 1; k++) {
            printf("%-*s  ", widths[k], columns[k]);
        }
        printf("%s\n", columns[COLUMNS - 1]);
    }
    return EXIT_DONE;
}

const cli_command cli_models = {
    .name = "models",
    .summary = "the rungs of the ladder of models, and which options each takes",
    .details = "Every rung runs the same scene file: choose one with `run.model` in the scene or\n"
               "  perp run SCENE --model NAME\n",
    .run = run,
};
