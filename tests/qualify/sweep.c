#include "sweep.h"

#include <errno.h>
#include <perp/base.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAILURES_KEPT = 20 };

int sweep_views;

static void note(sweep_case *result, bool missed, const char *format, va_list arguments)
{
    if (result->failed && (missed || !result->missed)) {
        return; /* the first reason stays, but a wrong answer counts for more than a missing one */
    }
    result->failed = true;
    result->missed = missed;
    vsnprintf(result->reason, sizeof result->reason, format, arguments);
}

void sweep_fail(sweep_case *result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    note(result, false, format, arguments);
    va_end(arguments);
}

void sweep_miss(sweep_case *result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    note(result, true, format, arguments);
    va_end(arguments);
}

uint64_t sweep_mix(uint64_t seed, int index)
{
    perp_random random = {seed};
    random.state = perp_random_bits(&random) ^ ((uint64_t)index * 0x9E3779B97F4A7C15u);
    return perp_random_bits(&random);
}

static void print_text(const char *text)
{
    putchar('"');
    for (const char *c = text; *c; c++) {
        const unsigned char byte = (unsigned char)*c;
        if (byte == '"' || byte == '\\') {
            printf("\\%c", byte);
        } else if (byte < 0x20 || byte >= 0x7f) {
            printf("\\u%04x", byte);
        } else {
            putchar(byte);
        }
    }
    putchar('"');
}

static void describe(void)
{
    printf("{\"sweep\": ");
    print_text(the_sweep.name);
    printf(", \"checks\": ");
    print_text(the_sweep.checks);
    printf(", \"full\": %d, \"sample\": %d, \"chunk\": %d}\n", the_sweep.full, the_sweep.sample, the_sweep.chunk);
}

static bool is_open(int index)
{
    for (const int *open = the_sweep.open; open && *open >= 0; open++) {
        if (*open == index) {
            return true;
        }
    }
    return false;
}

/* `around`: cases that are known to miss do not count. */
static int run_cases(uint64_t seed, int first, int count, bool around)
{
    int kinds[SWEEP_KINDS] = {0}, failed = 0;
    printf("{\"sweep\": ");
    print_text(the_sweep.name);
    printf(", \"seed\": %llu, \"first\": %d, \"count\": %d, \"failures\": [", (unsigned long long)seed, first, count);
    for (int index = first; index < first + count; index++) {
        sweep_case result = {.failed = false};
        the_sweep.run(seed, index, &result);
        kinds[result.kind]++;
        if (around && seed == 1 && is_open(index)) {
            if (!result.failed) {
                sweep_fail(&result, "it is listed as open, and holds: take it off the list of the sweep");
            } else if (result.missed) {
                continue;
            }
        }
        if (result.failed && failed++ < FAILURES_KEPT) {
            printf("%s{\"index\": %d, \"reason\": ", failed > 1 ? ", " : "", index);
            print_text(result.reason);
            printf("}");
        }
    }
    printf("], \"failed\": %d, \"kinds\": {", failed);
    for (int i = 0; i < SWEEP_KINDS && the_sweep.kinds[i]; i++) {
        printf("%s\"%s\": %d", i ? ", " : "", the_sweep.kinds[i], kinds[i]);
    }
    printf("}}\n");
    return failed ? 1 : 0;
}

static long long number(const char *text, long long low, long long high)
{
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < low || value > high) {
        fprintf(stderr, "%s: not a number from %lld to %lld\n", text, low, high);
        exit(2);
    }
    return value;
}

int main(int count, char **words)
{
    uint64_t seed = 1;
    int first = 0, cases = -1;
    bool sample = false;
    sweep_views = the_sweep.views;
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? words[i + 1] : "";
        if (strcmp(words[i], "--describe") == 0) {
            describe();
            return 0;
        }
        if (strcmp(words[i], "--sample") == 0) {
            cases = the_sweep.sample;
            sample = true;
            continue;
        }
        if (strcmp(words[i], "--seed") == 0) {
            seed = (uint64_t)number(value, 0, INT64_MAX);
        } else if (strcmp(words[i], "--show") == 0 && the_sweep.show) {
            the_sweep.show(seed, (int)number(value, 0, 1000000000));
            return 0;
        } else if (strcmp(words[i], "--first") == 0) {
            first = (int)number(value, 0, 1000000000);
        } else if (strcmp(words[i], "--views") == 0 && the_sweep.views > 0) {
            sweep_views = (int)number(value, 0, the_sweep.views);
        } else if (strcmp(words[i], "--count") == 0) {
            cases = (int)number(value, 0, 1000000000);
        } else {
            cases = -1;
            break;
        }
        i++;
    }
    if (cases < 0) {
        fprintf(
            stderr,
            "usage: sweep_%s --describe | --sample [--seed S] | --seed S --first I --count N | --seed S --show I%s\n",
            the_sweep.name, the_sweep.views > 0 ? " [--views N]" : "");
        return 2;
    }
    return run_cases(seed, first, cases, sample);
}
