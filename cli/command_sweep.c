/* perp sweep: a table of outputs over parameters. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int check_usage(const cli_arguments *a, int *workers)
{
    const char *jobs = cli_value(a, "--jobs");
    char *end = NULL;
    const long most = 256, cores = sysconf(_SC_NPROCESSORS_ONLN), wanted = jobs ? strtol(jobs, &end, 10) : cores;
    if (jobs && (end == jobs || *end != '\0' || wanted < 1 || wanted > most)) {
        return cli_fail(EXIT_USAGE, "sweep: --jobs is a number from 1 to %ld, not `%s`", most, jobs);
    }
    if (!cli_value(a, "-o")) {
        return cli_fail(EXIT_USAGE, "sweep: -o FILE.csv is missing: where the table goes");
    }
    *workers = (int)(wanted < 1 ? 1 : wanted > most ? most : wanted);
    return cli_keep(a, a->operand, "-o");
}

static void show(void *context, int done, int cases)
{
    cli_progress_cases(context, done, cases);
}

static int compute(const cli_arguments *a, const perp_sweep *sweep, int workers)
{
    cli_progress progress = cli_progress_begin();
    perp_sweep_options options = perp_sweep_options_default();
    perp_sweep_result result;
    perp_error error = {0};
    const char *path = cli_value(a, "-o");
    const double started = seconds();
    options.workers = workers;
    options.resume = cli_value(a, "--resume") != NULL;
    options.cancel = cli_interrupt_flag();
    options.progress = show;
    options.context = &progress;
    const perp_status status = perp_sweep_run(sweep, path, &options, &result, &error);
    cli_progress_end(&progress);
    if (status == PERP_STATUS_CANCELLED) {
        return cli_fail(EXIT_REFUSED, "interrupted after %d of %d cases, which are in %s.part; --resume goes on",
                        result.done, result.cases, path);
    }
    if (status != PERP_STATUS_OK) {
        return cli_refuse(&error);
    }
    const double took = seconds() - started;
    const int computed = result.done - result.resumed;
    printf("%s: %d %s, %d with an error", path, result.cases, perp_plural(result.cases, "case", "cases"),
           result.errors);
    if (result.resumed > 0) {
        printf(", %d done before", result.resumed);
    }
    if (computed > 0) {
        printf("; %.3g s, %.3g cases/s", took, computed / took);
    }
    printf("\n");
    return EXIT_DONE;
}

static int run(const cli_arguments *a)
{
    static perp_diagnostics diagnostics;
    perp_sweep *sweep = NULL;
    int workers = 1;
    int code = check_usage(a, &workers);
    if (code != EXIT_DONE) {
        return code;
    }
    const perp_status status = perp_sweep_load_file(a->operand, NULL, &sweep, &diagnostics);
    cli_print_diagnostics(&diagnostics);
    code = sweep ? compute(a, sweep, workers) : status == PERP_STATUS_BAD_INPUT ? EXIT_BAD_INPUT : EXIT_REFUSED;
    perp_sweep_free(sweep);
    return code;
}

static const cli_option options[] = {
    {"-o", "FILE.csv", "where the table goes; it appears when it is whole"},
    {"--jobs", "N", "threads; default: as many as there are cores. The table is the same for any number"},
    {"--resume", NULL, "go on with a sweep that was interrupted, to the same file"},
};

const cli_command cli_sweep = {
    .name = "sweep",
    .operand = "SWEEP",
    .summary = "outputs of a scene over parameters: grids and random samples, as CSV",
    .details = "examples:\n"
               "  perp sweep examples/painleve-rod/map.yaml -o painleve.csv\n"
               "  perp sweep examples/painleve-rod/map.yaml -o painleve.csv --resume     after an interruption\n"
               "  perp plot painleve.csv --map theta,mu,solutions -o painleve.svg        a picture of it\n\n"
               "A sweep names a scene, axes with what they set, and outputs; docs/sweep.md has all of it:\n"
               "  perp-sweep: 1\n"
               "  scene: scene.yaml\n"
               "  axes: {mu: {path: contacts.friction, from: 0, to: 1, count: 41}}\n"
               "  outputs: {x: \"cup.x\", ended: status}\n"
               "  refine: {outputs: ended}                      cases where it changes over the last two axes\n",
    .options = options,
    .option_count = (int)(sizeof options / sizeof *options),
    .run = run,
};
