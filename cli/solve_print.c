#include "solve_print.h"

#include <stdio.h>
#include <time.h>

void solve_print_numbers(const char *head, const double *values, int n)
{
    printf("%s[", head);
    for (int i = 0; i < n && i < SOLVE_NUMBERS_SHOWN; i++) {
        printf("%s%.9g", i ? ", " : "", values[i] + 0.0);
    }
    if (n > SOLVE_NUMBERS_SHOWN) {
        printf(", .. %d more", n - SOLVE_NUMBERS_SHOWN);
    }
    printf("]\n");
}

void solve_print_tried(const char *const *tried, int count)
{
    if (count > 1) {
        printf("tried:");
        for (int i = 0; i < count; i++) {
            printf("%s %s", i ? "," : "", tried[i]);
        }
        printf("\n");
    }
}

int solve_write_json(char *text)
{
    const int code = text ? cli_write(text) : cli_fail(EXIT_REFUSED, "out of memory while writing the result");
    perp_text_free(text);
    return code;
}

double solve_microseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}
