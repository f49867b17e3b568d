#include "cli.h"

#include <stdio.h>
#include <stdlib.h>

static void print_largest(const perp_log_difference *d)
{
    for (int unit = 0; unit < PERP_LOG_UNIT_COUNT; unit++) {
        const perp_log_largest *l = &d->largest[unit];
        const char *name = perp_log_unit_name((perp_log_unit)unit);
        if (l->size > 0.0) {
            printf("largest difference: %.17g%s%s, step %d: %s\n", l->size, *name ? " " : "", name, l->step, l->of);
        }
    }
}

static int report(const cli_arguments *a, double tolerance, const perp_log_difference *d)
{
    const char *steps = perp_plural(d->steps_compared, "step", "steps");
    if (d->equal && tolerance > 0.0) {
        printf("equal: %d %s, every number to %g of its unit\n", d->steps_compared, steps, tolerance);
        print_largest(d);
        return cli_finish(EXIT_DONE);
    }
    if (d->equal) {
        printf("equal: %d %s, the same numbers\n", d->steps_compared, steps);
        return cli_finish(EXIT_DONE);
    }
    printf("first difference: step %d: %s, tolerance %g\n", d->first_step, d->first, tolerance);
    print_largest(d);
    printf("%d %s compared", d->steps_compared, steps);
    for (int i = 0; i < 2; i++) {
        if (d->steps_only[i] > 0) {
            printf(", %d only in %s", d->steps_only[i], a->operands[i]);
        }
    }
    printf("\n");
    return cli_finish(EXIT_REFUSED);
}

static bool read_tolerance(const char *text, double *tolerance)
{
    char *end = NULL;
    *tolerance = text ? strtod(text, &end) : 0.0;
    return !text || (end != text && *end == '\0' && *tolerance >= 0.0);
}

static int run(const cli_arguments *a)
{
    perp_log_reader *readers[2] = {NULL, NULL};
    perp_log_difference difference;
    perp_error error = {0};
    double tolerance;
    if (a->operand_count != 2) {
        return cli_fail(EXIT_USAGE, "diff: two logs are needed: perp diff LOG LOG");
    }
    if (!read_tolerance(cli_value(a, "--tolerance"), &tolerance)) {
        return cli_fail(EXIT_USAGE, "diff: --tolerance is a number that is not negative, such as 1e-9");
    }
    int code = EXIT_DONE;
    for (int i = 0; i < 2 && code == EXIT_DONE; i++) {
        code = cli_open_log(a->operands[i], &readers[i]);
    }
    if (code == EXIT_DONE) {
        const perp_status status = perp_log_compare(readers[0], readers[1], tolerance, &difference, &error);
        code = status == PERP_STATUS_OK ? report(a, tolerance, &difference) : cli_refuse(&error);
    }
    perp_log_reader_free(readers[0]);
    perp_log_reader_free(readers[1]);
    return code;
}

static const cli_option options_table[] = {
    {"--tolerance", "T", "numbers that differ by at most T, each in its own unit (m, rad, N ..), are equal; default 0"},
};

const cli_command cli_diff = {
    .name = "diff",
    .operand = "LOG LOG",
    .summary = "the first and the largest difference of two run logs",
    .details =
        "examples:\n"
        "  perp run scene.yaml --log a.mcap\n"
        "  perp run scene.yaml --log b.mcap --set contacts.friction=0.4\n"
        "  perp diff a.mcap b.mcap\n"
        "  perp diff a.mcap b.mcap --tolerance 1e-9\n\n"
        "Compares all that the steps report: times, coordinates, velocities, poses, contacts (points, frames, gaps,\n"
        "forces, slip, modes, layers, elements), events, residuals, fallbacks, solutions; not iterations and timing.\n"
        "Which contacts are listed, their modes and events have no tolerance. Each unit has its largest difference.\n"
        "Exit codes: 0 the logs are equal, to the bit or to the tolerance; 1 they differ, or could not be read to the\n"
        "end; 2 usage; 3 not a log, or not of one scene.\n",
    .operand_most = 2,
    .options = options_table,
    .option_count = (int)(sizeof options_table / sizeof *options_table),
    .run = run,
};
