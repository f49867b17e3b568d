#include "cli.h"

#include <stdio.h>
#include <string.h>

static void options_of(const perp_rung *rung, char *text, size_t size)
{
    static const struct {
        unsigned bit;
        perp_cone cone;
        const char *name;
    } options[] = {{PERP_TAKES_QUADRATIC, PERP_CONE_QUADRATIC, "cone: quadratic"},
                   {PERP_TAKES_RAYS, PERP_CONE_RAYS, "cone: rays"},
                   {PERP_TAKES_BOX, PERP_CONE_BOX, "cone: box"},
                   {PERP_TAKES_SMOOTHING, PERP_CONE_UNSET, "smoothing"},
                   {PERP_TAKES_TIME_SCALE, PERP_CONE_UNSET, "time_scale"}};
    text[0] = '\0';
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (rung->takes & options[i].bit) {
            const bool own = options[i].cone != PERP_CONE_UNSET && options[i].cone == rung->own_cone;
            const size_t length = strlen(text);
            snprintf(text + length, size - length, "%s%s%s", length ? ", " : "", options[i].name,
                     own ? " (default)" : "");
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
