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

static int run(const cli_arguments *arguments)
{
    (void)arguments;
    printf("%-18s %-9s %-10s %-10s %-54s %-26s %s\n", "model", "inertia", "contact", "friction", "options", "source",
           "what it does");
    for (int i = 0; i < perp_rung_count(); i++) {
        const perp_rung *rung = perp_rung_at(i);
        char options[160];
        options_of(rung, options, sizeof options);
        printf("%-18s %-9s %-10s %-10s %-54s %-26s %s\n", rung->name, rung->inertia, rung->contact, rung->friction,
               options, rung->source, rung->summary);
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
