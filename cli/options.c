#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *cli_value(const cli_arguments *arguments, const char *name)
{
    const char *value = NULL;
    for (int i = 0; i < arguments->count; i++) {
        if (strcmp(arguments->options[i]->name, name) == 0) {
            value = arguments->values[i];
        }
    }
    return value;
}

int cli_values(const cli_arguments *a, const char *name, const char **values)
{
    int count = 0;
    for (int i = 0; i < a->count; i++) {
        if (strcmp(a->options[i]->name, name) == 0) {
            values[count++] = a->values[i];
        }
    }
    return count;
}

int cli_keep(const cli_arguments *arguments, const char *read, const char *option)
{
    const char *written = cli_value(arguments, option);
    struct stat a, b;
    if (!read || !written ||
        (strcmp(read, written) != 0 &&
         !(stat(read, &a) == 0 && stat(written, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino))) {
        return EXIT_DONE;
    }
    return cli_fail(EXIT_USAGE, "%s: %s %s would overwrite `%s`; give it a name of its own", arguments->command->name,
                    option, written, read);
}

bool cli_settings_collect(const cli_arguments *a, cli_settings *settings)
{
    static const char *const shorthands[][2] = {{"--set", ""},
                                                {"--model", "run.model="},
                                                {"--h", "run.h="},
                                                {"--until", "run.until="},
                                                {"--steps", "run.steps="}};
    settings->count = 0;
    settings->texts = calloc((size_t)a->count + 1, sizeof *settings->texts);
    for (size_t k = 0; settings->texts && k < sizeof shorthands / sizeof *shorthands; k++) {
        for (int i = 0; i < a->count; i++) {
            const bool is_list = a->options[i]->argument && strstr(a->options[i]->argument, ",..");
            if (strcmp(a->options[i]->name, shorthands[k][0]) == 0 && !is_list) {
                const size_t size = strlen(shorthands[k][1]) + strlen(a->values[i]) + 1;
                char *text = malloc(size);
                if (!text) {
                    return false;
                }
                snprintf(text, size, "%s%s", shorthands[k][1], a->values[i]);
                settings->texts[settings->count++] = text;
            }
        }
    }
    return settings->texts != NULL;
}

void cli_settings_free(cli_settings *settings)
{
    for (int i = 0; i < settings->count; i++) {
        free(settings->texts[i]);
    }
    free(settings->texts);
}

const char *const *cli_model_names(void)
{
    static const char *names[64];
    for (int i = 0; i < perp_rung_count() && i < 63; i++) {
        names[i] = perp_rung_at(i)->name;
    }
    return names;
}

bool cli_is_amount(const char *text, bool whole)
{
    char *end;
    const double value = strtod(text, &end);
    const bool decimal = text[strspn(text, "0123456789.eE+-")] == '\0';
    return end != text && *end == '\0' && decimal && isfinite(value) && value >= 0.0 &&
           (!whole || (value == floor(value) && value <= 2e9));
}

int cli_check_model(const cli_arguments *a, const char *model)
{
    if (perp_rung_find(model)) {
        return EXIT_DONE;
    }
    const char *nearest = cli_nearest(model, cli_model_names(), perp_rung_count());
    return cli_fail(EXIT_USAGE, "%s: there is no model `%s`%s%s%s (perp models)", a->command->name, model,
                    nearest ? "; did you mean `" : "", nearest ? nearest : "", nearest ? "`?" : "");
}

int cli_fail(int code, const char *format, ...)
{
    va_list arguments;
    fputs("perp: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs("\n", stderr);
    return code;
}

void cli_print_diagnostics(const perp_diagnostics *diagnostics)
{
    for (int i = 0; i < diagnostics->count; i++) {
        char text[1200];
        perp_diagnostic_format(&diagnostics->items[i], text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    const int hidden = diagnostics->errors + diagnostics->warnings - diagnostics->count;
    if (hidden > 0) {
        fprintf(stderr, "perp: and %d more\n", hidden);
    }
}

int cli_write(const char *text)
{
    fputs(text, stdout);
    fputs("\n", stdout);
    return cli_finish(EXIT_DONE);
}

int cli_write_json(char *text)
{
    const int code = text ? cli_write(text) : cli_fail(EXIT_REFUSED, "out of memory while writing the result");
    perp_text_free(text);
    return code;
}

void cli_locate_failure(const perp_scene *scene, perp_error *error)
{
    if (error->status == PERP_STATUS_BAD_INPUT && !error->file[0]) {
        perp_diagnostics one = {0};
        perp_scene_report(scene, &one, PERP_SEVERITY_ERROR, error->path, "%s", error->message);
        perp_diagnostics_first_error(&one, PERP_STATUS_BAD_INPUT, error);
    }
}

int cli_refuse(const perp_error *error)
{
    if (error->file[0]) {
        fprintf(stderr, "%s:%d:%d: %s\n", error->file, error->line, error->column, error->message);
        return error->status == PERP_STATUS_BAD_INPUT ? EXIT_BAD_INPUT : EXIT_REFUSED;
    }
    return cli_fail(error->status == PERP_STATUS_BAD_INPUT ? EXIT_BAD_INPUT : EXIT_REFUSED, "%s", error->message);
}

void cli_print_rest(int count, int shown)
{
    if (count > shown) {
        printf("  ... and %d more; --json lists all\n", count - shown);
    }
}

int cli_finish(int code)
{
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return cli_fail(EXIT_REFUSED, "cannot write to standard output: %s", errno ? strerror(errno) : "write failed");
    }
    return code;
}

const char *cli_nearest(const char *word, const char *const *names, int count)
{
    perp_nearest nearest = perp_nearest_begin(word);
    for (int i = 0; i < count; i++) {
        perp_nearest_offer(&nearest, names[i]);
    }
    return nearest.name;
}
