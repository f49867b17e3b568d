#include "options.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -1 where it is no whole number. */
static int read_count(const char *text, int most)
{
    char *end;
    const long value = strtol(text, &end, 10);
    if (end == text || *end || value < 0) {
        return -1;
    }
    return value > most ? most : (int)value;
}

bench_options bench_options_read(int argc, char **argv, bench_option_limits limits)
{
    bench_options r = {.samples = limits.samples};
    bool good = true;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (value && strcmp(argv[i], "--json") == 0) {
            r.json = value;
        } else if (value && strcmp(argv[i], "--samples") == 0) {
            r.samples = read_count(value, limits.most);
        } else {
            good = false;
        }
    }
    if (!good || r.samples < limits.least) {
        const char *slash = strrchr(argv[0], '/');
        fprintf(stderr, "usage: %s [--json FILE] [--samples N]    N >= %d, default %d\n", slash ? slash + 1 : argv[0],
                limits.least, limits.samples);
        exit(2);
    }
    return r;
}
