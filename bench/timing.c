#include "timing.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double timing_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double timing_processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

timing_stats timing_summary(double *samples, int count)
{
    qsort(samples, (size_t)count, sizeof *samples, ascending);
    timing_stats r = {samples[0], samples[count / 2], samples[count - 1 - count / 100]};
    return r;
}

/* The rest of the first line of a file that starts with `key`, without what stands before ": ". */
static void first_line(const char *path, const char *key, char text[256])
{
    char line[256];
    strcpy(text, "unknown");
    FILE *in = fopen(path, "r");
    while (in && fgets(line, sizeof line, in)) {
        if (strncmp(line, key, strlen(key)) == 0) {
            line[strcspn(line, "\n")] = '\0';
            const char *value = *key ? strstr(line, ": ") : NULL;
            strcpy(text, value ? value + 2 : line);
            break;
        }
    }
    if (in) {
        fclose(in);
    }
}

void timing_machine(FILE *out, const char *format)
{
    char cpu[256], load[256];
    first_line("/proc/cpuinfo", "model name", cpu);
    first_line("/proc/loadavg", "", load);
    load[strcspn(load, " ")] = '\0';
#ifdef __clang__
    const char *compiler = __VERSION__;
#else
    const char *compiler = "gcc " __VERSION__;
#endif
    fprintf(out, format, cpu, sysconf(_SC_NPROCESSORS_ONLN), load, compiler);
}
