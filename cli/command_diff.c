#include "cli.h"

#include <stdio.h>

static int report(const cli_arguments *a, const perp_log_difference *d)
{
    if (d->equal) {
        printf("equal: %d steps, the same numbers\n", d->steps_compared);
        return cli_finish(EXIT_DONE);
    }
    printf("first difference: step %d: %s\n", d->first_step, d->first);
    if (d->largest_step >= 0) {
        printf("largest difference: %.17g, step %d: %s\n", d->largest, d->largest_step, d->largest_of);
    }
    printf("%d steps compared", d->steps_compared);
    for (int i = 0; i < 2; i++) {
        if (d->steps_only[i] > 0) {
            printf(", %d only in %s", d->steps_only[i], a->operands[i]);
        }
    }
    printf("\n");
    return cli_finish(EXIT_REFUSED);
}

static int run(const cli_arguments *a)
{
    perp_log_reader *readers[2] = {NULL, NULL};
    perp_log_difference difference;
    perp_error error = {0};
    if (a->operand_count != 2) {
        return cli_fail(EXIT_USAGE, "diff: two logs are needed: perp diff LOG LOG");
    }
    int code = EXIT_DONE;
    for (int i = 0; i < 2 && code == EXIT_DONE; i++) {
        code = cli_open_log(a->operands[i], &readers[i]);
    }
    if (code == EXIT_DONE) {
        const perp_status status = perp_log_compare(readers[0], readers[1], &difference, &error);
        code = status == PERP_STATUS_OK
                   ? report(a, &difference)
                   : cli_fail(status == PERP_STATUS_BAD_INPUT ? EXIT_BAD_INPUT : EXIT_REFUSED, "%s", error.message);
    }
    perp_log_reader_free(readers[0]);
    perp_log_reader_free(readers[1]);
    return code;
}

const cli_command cli_diff = {
    .name = "diff",
    .operand = "LOG LOG",
    .summary = "the first and the largest difference of two run logs",
    .details =
        "examples:\n"
        "  perp run scene.yaml --log a.mcap\n"
        "  perp run scene.yaml --log b.mcap --set contacts.friction=0.4\n"
        "  perp diff a.mcap b.mcap\n\n"
        "Compares times, coordinates, velocities and contacts (gap, forces, slip, mode), step by step; not timing.\n"
        "Exit codes: 0 the logs are equal, to the bit; 1 they differ, or could not be read to the end;\n"
        "2 usage; 3 not a log, or not of one scene.\n",
    .operand_most = 2,
    .run = run,
};
