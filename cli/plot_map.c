/* perp plot FILE.csv --map: a table over two of its columns. */
#include "plot_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 16, MOST_LEVELS = 64 };

typedef struct map_words {
    char *names; /* of --map, cut at its commas */
    const char *outputs[MOST_NAMES];
    double levels[MOST_LEVELS];
} map_words;

static int split_names(const char *text, map_words *w, perp_map_options *o)
{
    char *next = w->names = strdup(text);
    int count = 0;
    for (; next && count < MOST_NAMES + 2; count++) {
        char *comma = strchr(next, ',');
        *(count == 0 ? &o->x : count == 1 ? &o->y : &w->outputs[count - 2]) = next;
        if (comma) {
            *comma = '\0';
        }
        next = comma ? comma + 1 : NULL;
    }
    o->outputs = w->outputs;
    o->output_count = count - 2;
    return count >= 3 && !next ? EXIT_DONE
                               : cli_fail(EXIT_USAGE, "plot: --map needs X,Y,OUTPUT: names of columns, not `%s`", text);
}

static int read_levels(const char *text, map_words *w, perp_map_options *o)
{
    for (const char *at = text; o->level_count < MOST_LEVELS; at++) {
        char *end;
        w->levels[o->level_count++] = strtod(at, &end);
        if (end == at || (*end != ',' && *end != '\0')) {
            break;
        }
        at = end;
        if (*end == '\0') {
            o->levels = w->levels;
            return EXIT_DONE;
        }
    }
    return cli_fail(EXIT_USAGE, "plot: --levels needs numbers, as in 0,0.5,1, not `%s`", text);
}

static int show(const cli_arguments *a, const perp_map *map)
{
    const char *path = cli_value(a, "-o");
    const bool json = cli_value(a, "--json") != NULL;
    char *text = NULL;
    perp_error error = {0};
    if (path && perp_map_write(map, path, &error) != PERP_STATUS_OK) {
        return cli_refuse(&error);
    }
    if (path && !json) {
        printf("%s\n", path);
        return EXIT_DONE;
    }
    if ((json ? perp_map_json : perp_map_text)(map, &text, &error) != PERP_STATUS_OK) {
        return cli_refuse(&error);
    }
    fputs(text, stdout);
    fputs(json ? "\n" : "", stdout);
    perp_text_free(text);
    return EXIT_DONE;
}

static int make(const cli_arguments *a, const perp_map_options *options)
{
    perp_map *map;
    perp_error error = {0};
    const perp_status status = perp_map_create_from_file(a->operand, options, &map, &error);
    if (status != PERP_STATUS_OK) {
        const bool usage = error.code && strcmp(error.code, "bad-options") == 0;
        return usage ? cli_fail(EXIT_USAGE, "plot: %s", error.message) : cli_refuse(&error);
    }
    const int code = show(a, map);
    perp_map_free(map);
    return code;
}

int cli_plot_map(const cli_arguments *a, int width, int height)
{
    perp_map_options options = perp_map_options_default();
    map_words words = {0};
    const char **values = calloc(2 * (size_t)a->count + 1, sizeof *values), *levels = cli_value(a, "--levels");
    if (!values) {
        return cli_fail(EXIT_REFUSED, "out of memory");
    }
    options.width = width;
    options.height = height;
    options.at = values;
    options.at_count = cli_values(a, "--at", values);
    options.labels = values + options.at_count;
    options.label_count = cli_values(a, "--label", values + options.at_count);
    int code = a->operand_count > 1 ? cli_fail(EXIT_USAGE, "plot: a map is of one table") : EXIT_DONE;
    code = code == EXIT_DONE ? split_names(cli_value(a, "--map"), &words, &options) : code;
    code = code == EXIT_DONE && levels ? read_levels(levels, &words, &options) : code;
    code = code == EXIT_DONE ? cli_keep(a, a->operand, "-o") : code;
    code = code == EXIT_DONE ? make(a, &options) : code;
    free(words.names);
    free(values);
    return code;
}
