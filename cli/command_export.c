#include "cli.h"

#include <stdio.h>
#include <string.h>

static void print_piece(void *context, const char *text)
{
    (void)context;
    fputs(text, stdout);
}

static int export_to(const cli_arguments *a, perp_log_reader *reader, perp_error *error)
{
    const char *folder = cli_value(a, "--csv"), *archive = cli_value(a, "--npz");
    perp_status status = PERP_STATUS_OK;
    if (folder) {
        status = perp_log_export_csv(reader, folder, error);
    }
    if (archive && status == PERP_STATUS_OK) {
        status = perp_log_export_npz(reader, archive, error);
    }
    if (cli_value(a, "--json") && status == PERP_STATUS_OK) {
        status = perp_log_export_json(reader, print_piece, NULL, error);
        fputs("\n", stdout);
    }
    return status == PERP_STATUS_OK ? cli_finish(EXIT_DONE) : cli_refuse(error);
}

static int run(const cli_arguments *a)
{
    perp_log_reader *reader = NULL;
    perp_error error = {0};
    if (!cli_value(a, "--csv") && !cli_value(a, "--npz") && !cli_value(a, "--json")) {
        return cli_fail(EXIT_USAGE, "export: say as what: --csv DIR, --npz FILE or --json (perp export --help)");
    }
    const int kept = cli_keep(a, a->operand, "--npz");
    const int opened = kept == EXIT_DONE ? cli_open_log(a->operand, &reader) : kept;
    if (opened != EXIT_DONE) {
        return opened;
    }
    const int code = export_to(a, reader, &error);
    perp_log_reader_free(reader);
    return code;
}

static const cli_option options[] = {
    {"--csv", "DIR", "DIR/state.csv and DIR/contacts.csv, as perp run --csv writes them"},
    {"--npz", "FILE", "NumPy arrays: t, q, v, poses, and the contacts as a table"},
    {"--json", NULL, "print the whole log as one JSON object"},
};

const cli_command cli_export = {
    .name = "export",
    .operand = "LOG",
    .summary = "convert a run log",
    .details = "examples:\n"
               "  perp run scene.yaml --log run.mcap\n"
               "  perp export run.mcap --csv out                        tables for a spreadsheet\n"
               "  perp export run.mcap --npz run.npz                    then, in Python:\n"
               "      run = numpy.load(\"run.npz\"); plot(run[\"t\"], run[\"q\"]); print(run[\"q_names\"])\n"
               "  perp export run.mcap --json | jq '.steps[-1].contacts.contacts[] | {a, b, fn}'\n\n"
               "A log that was cut short is exported as far as it goes, and what is missing is said.\n",
    .options = options,
    .option_count = (int)(sizeof options / sizeof *options),
    .run = run,
};
