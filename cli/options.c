#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

int cli_finish(int code)
{
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return cli_fail(EXIT_REFUSED, "cannot write to standard output: %s", errno ? strerror(errno) : "write failed");
    }
    return code;
}

/* Levenshtein distance of short words; long ones count as far. */
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 31 };
    const int la = (int)strlen(a), lb = (int)strlen(b);
    if (la > LONGEST || lb > LONGEST) {
        return LONGEST;
    }
    int row[LONGEST + 1];
    for (int j = 0; j <= lb; j++) {
        row[j] = j;
    }
    for (int i = 1; i <= la; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= lb; j++) {
            const int replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            const int moved = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
            row[j] = replaced < moved ? replaced : moved;
        }
    }
    return row[lb];
}

const char *cli_nearest(const char *word, const char *const *names, int count)
{
    const char *nearest = NULL;
    int least = 1 + (int)strlen(word) / 3;
    for (int i = 0; i < count; i++) {
        const int d = distance(word, names[i]);
        if (d <= least) {
            least = d - 1;
            nearest = names[i];
        }
    }
    return nearest;
}
