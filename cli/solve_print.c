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

int solve_explain(perp_outcome outcome, double residual, const char *infeasible)
{
    switch (outcome) {
    case PERP_OUTCOME_SOLVED:
        return EXIT_DONE;
    case PERP_OUTCOME_INFEASIBLE:
        return cli_fail(EXIT_REFUSED, "there is no solution: %s", infeasible);
    case PERP_OUTCOME_UNBOUNDED:
        return cli_fail(EXIT_REFUSED, "there is no solution: the objective falls without end along a direction");
    case PERP_OUTCOME_ITERATION_LIMIT:
        return cli_fail(EXIT_REFUSED,
                        "no solution was found within the limit on iterations; the best point has a residual of %.3g",
                        residual);
    case PERP_OUTCOME_CANCELLED:
        return cli_fail(EXIT_REFUSED, "interrupted");
    default:
        return cli_fail(EXIT_REFUSED, "the best point found has a residual of %.3g, above the tolerance", residual);
    }
}

double solve_microseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}
