/* perp compare: several rungs and steps on one scene, and why they differ. */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- lists of options -------------------------------------------------------------------------------------------- */

typedef struct lists {
    char *text[2]; /* own copies, cut at their commas */
    int model_count, h_count, quantity_count;
    const char *models[PERP_COMPARE_MOST_RUNS];
    double h[PERP_COMPARE_MOST_RUNS];
    const char **quantities;
} lists;

/* The entries of "A,B,..", at most PERP_COMPARE_MOST_RUNS; -1: too many, or an empty one. */
static int split(char *text, const char **entries)
{
    int count = 0;
    for (char *at = text; at; count++) {
        char *comma = strchr(at, ',');
        if (count == PERP_COMPARE_MOST_RUNS || at == comma || *at == '\0') {
            return -1;
        }
        entries[count] = at;
        if (comma) {
            *comma++ = '\0';
        }
        at = comma;
    }
    return count;
}

static int read_models(const cli_arguments *a, lists *l)
{
    const char *given = cli_value(a, "--models");
    if (!given) {
        return EXIT_DONE;
    }
    l->text[0] = strdup(given);
    l->model_count = l->text[0] ? split(l->text[0], l->models) : -1;
    if (l->model_count < 0) {
        return cli_fail(EXIT_USAGE, "compare: --models is a list such as qs-lcp,qs-ncp, of at most %d, not `%s`",
                        (int)PERP_COMPARE_MOST_RUNS, given);
    }
    int code = EXIT_DONE;
    for (int i = 0; i < l->model_count && code == EXIT_DONE; i++) {
        code = cli_check_model(a, l->models[i]);
    }
    return code;
}

static int read_steps(const cli_arguments *a, lists *l)
{
    const char *given = cli_value(a, "--h"), *entries[PERP_COMPARE_MOST_RUNS];
    if (!given) {
        return EXIT_DONE;
    }
    l->text[1] = strdup(given);
    l->h_count = l->text[1] ? split(l->text[1], entries) : -1;
    for (int i = 0; i < l->h_count; i++) {
        char *end;
        l->h[i] = strtod(entries[i], &end);
        if (*end != '\0' || !isfinite(l->h[i]) || !(l->h[i] > 0.0)) {
            l->h_count = -1;
        }
    }
    return l->h_count >= 0
               ? EXIT_DONE
               : cli_fail(EXIT_USAGE,
                          "compare: --h is a list of positive numbers of seconds such as 0.01,0.005, not `%s`", given);
}

static int read_quantities(const cli_arguments *a, lists *l)
{
    l->quantities = calloc((size_t)a->count + 1, sizeof *l->quantities);
    for (int i = 0; i < a->count && l->quantities; i++) {
        if (strcmp(a->options[i]->name, "--of") == 0) {
            l->quantities[l->quantity_count++] = a->values[i];
        }
    }
    return l->quantities ? EXIT_DONE : cli_fail(EXIT_REFUSED, "out of memory");
}

static int read_number(const cli_arguments *a, const char *name, long least, long most, int *value)
{
    const char *given = cli_value(a, name);
    char *end = NULL;
    const long number = given ? strtol(given, &end, 10) : *value;
    if (given && (end == given || *end != '\0' || number < least || number > most)) {
        return cli_fail(EXIT_USAGE, "compare: %s is a number from %ld to %ld, not `%s`", name, least, most, given);
    }
    *value = (int)number;
    return EXIT_DONE;
}

static int read_options(const cli_arguments *a, lists *l, perp_compare_options *options)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    options->workers = cores < 1 ? 1 : cores > 64 ? 64 : (int)cores;
    int code = read_models(a, l);
    code = code == EXIT_DONE ? read_steps(a, l) : code;
    code = code == EXIT_DONE ? read_quantities(a, l) : code;
    code = code == EXIT_DONE ? read_number(a, "--jobs", 1, 64, &options->workers) : code;
    code = code == EXIT_DONE ? read_number(a, "--tests", 0, 10000, &options->tests) : code;
    options->model_count = l->model_count;
    options->models = l->models;
    options->h_count = l->h_count;
    options->h = l->h;
    options->quantity_count = l->quantity_count;
    options->quantities = l->quantities;
    options->cancel = cli_interrupt_flag();
    return code;
}

static void free_lists(lists *l)
{
    free(l->text[0]);
    free(l->text[1]);
    free(l->quantities);
}

static int check_usage(const cli_arguments *a)
{
    const char *until = cli_value(a, "--until"), *steps = cli_value(a, "--steps");
    if (until && steps) {
        return cli_fail(EXIT_USAGE, "compare: give --until or --steps, not both");
    }
    if ((until && !cli_is_amount(until, false)) || (steps && !cli_is_amount(steps, true))) {
        return cli_fail(EXIT_USAGE, "compare: %s needs a %s, not `%s`", until ? "--until" : "--steps",
                        until ? "number of seconds" : "whole number", until ? until : steps);
    }
    if (cli_value(a, "--html") && !cli_can_view()) {
        return EXIT_REFUSED;
    }
    const int code = cli_keep(a, a->operand, "-o");
    return code == EXIT_DONE ? cli_keep(a, a->operand, "--html") : code;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static void title(const perp_comparison *c, int run, char *text, size_t size)
{
    const perp_compared_run *r = &c->runs[run];
    bool steps = false;
    for (int i = 0; i < c->run_count; i++) {
        steps = steps || c->runs[i].h != r->h;
    }
    snprintf(text, size, steps ? "%s, h = %g s" : "%s", r->rung->name, r->h);
}

static void print_runs(const perp_comparison *c)
{
    printf("  %-3s %-17s %-10s %-11s %7s %9s  %s\n", "run", "model", "h (s)", "cone", "steps", "t (s)", "status");
    for (int i = 0; i < c->run_count; i++) {
        const perp_compared_run *r = &c->runs[i];
        char cone[32];
        snprintf(cone, sizeof cone, r->cone == PERP_CONE_RAYS ? "%s (%d)" : "%s", perp_cone_name(r->cone), r->rays);
        printf("  %-3d %-17s %-10g %-11s %7d %9g  %s\n", i, r->rung->name, r->h, cone, r->result.steps,
               r->result.steps * r->h,
               r->status == PERP_STATUS_OK ? "ok"
               : r->error.code             ? r->error.code
                                           : perp_status_name(r->status));
    }
    for (int i = 0; i < c->run_count; i++) {
        if (c->runs[i].status != PERP_STATUS_OK) {
            printf("  run %d stopped: %s\n", i, c->runs[i].error.message);
        }
    }
}

static void print_test(int wide, const char *without, const char *by, const char *left)
{
    printf("    %-14s  %-*s  %s\n", without, wide, by, left);
}

/* What was tried in search of the cause. */
static void print_tests(const perp_difference *d)
{
    char text[80];
    int wide = 38;
    for (int i = 0; i < d->test_count; i++) {
        const int length = (int)strlen(d->tests[i].removed);
        wide = length > wide ? length : wide;
    }
    if (d->test_count > 0) {
        print_test(wide, "tried without", "by", "left of the difference");
    }
    for (int i = 0; i < d->test_count; i++) {
        const perp_compare_test *test = &d->tests[i];
        snprintf(text, sizeof text, "%.3g", test->left);
        print_test(wide, perp_assumption_name(test->assumption), test->removed,
                   test->status == PERP_STATUS_OK         ? text
                   : test->status == PERP_STATUS_CAPACITY ? "not tried: --tests allows no more"
                                                          : "the run stopped before");
    }
    if (d->choice_known) {
        char by[80];
        snprintf(by, sizeof by, "the step to t = %g s solved again", d->choice_t);
        snprintf(text, sizeof text, "the other motion is %s answer, off by %.2g", d->choice.is_answer ? "an" : "no",
                 d->choice.residual);
        print_test(wide, "choice", by, text);
    }
}

static void print_difference(const perp_comparison *c, const perp_difference *d)
{
    char a[80], b[80];
    title(c, d->a, a, sizeof a);
    title(c, d->b, b, sizeof b);
    printf("\n%s against %s, up to t = %g s\n", a, b, d->until);
    if (d->quantity) {
        printf("  largest difference: %.6g in %s, first at t = %g s\n", d->largest, d->quantity, d->t);
    } else {
        printf("  no difference\n");
    }
    if (d->parted) {
        printf("  modes part at t = %g s: %s, %s against %s\n", d->first_t, d->first_contact,
               perp_contact_mode_name(d->modes[0]), perp_contact_mode_name(d->modes[1]));
    } else {
        printf("  the modes of all contacts are the same throughout\n");
    }
    printf("  cause: %s\n", d->summary);
    print_tests(d);
}

static int print_words(const perp_comparison *c)
{
    printf("%s: %d runs, %d more in search of causes\n", c->scene->name, c->run_count, c->test_runs);
    print_runs(c);
    for (int i = 0; i < c->difference_count; i++) {
        print_difference(c, &c->differences[i]);
    }
    return cli_finish(EXIT_DONE);
}

/* ---- the replay -------------------------------------------------------------------------------------------------- */

enum { CHANGES = 6 };

/* What makes the scene's file that of one run. */
static void put_changes(const perp_compared_run *run, char texts[CHANGES][80])
{
    const perp_run_settings *s = &run->model->scene->run;
    snprintf(texts[0], sizeof texts[0], "run.model=%s", s->model);
    snprintf(texts[1], sizeof texts[1], "run.h=%.17g", s->h);
    snprintf(texts[2], sizeof texts[2], "run.steps=%d", s->steps);
    snprintf(texts[3], sizeof texts[3], "run.cone=%s", s->cone == PERP_CONE_UNSET ? "~" : perp_cone_name(s->cone));
    snprintf(texts[4], sizeof texts[4], "run.smoothing=%.17g", s->smoothing);
    snprintf(texts[5], sizeof texts[5], "run.time_scale=%.17g", s->time_scale);
}

/* The run once more, into a log: it has the same bits. */
static int log_run(const perp_compared_run *run, const cli_files *files, const cli_settings *settings,
                   cli_memory_log *memory, perp_log_reader **reader)
{
    char changes[CHANGES][80];
    const int count = settings->count + CHANGES;
    const char **texts = calloc((size_t)count, sizeof *texts);
    perp_error error = {0};
    perp_log *log = NULL;
    perp_state state = {0};
    perp_run_result result = {0};
    if (!texts) {
        return cli_fail(EXIT_REFUSED, "out of memory");
    }
    put_changes(run, changes);
    for (int i = 0; i < count; i++) {
        texts[i] = i < settings->count ? settings->texts[i] : changes[i - settings->count];
    }
    const perp_log_about about = {.model = run->model,
                                  .file_count = files->count,
                                  .files = files->files,
                                  .change_count = count,
                                  .changes = texts};
    perp_status status = perp_log_create_sink(cli_memory_log_sink(memory), &about, NULL, &log, &error);
    if (status == PERP_STATUS_OK) {
        status = perp_state_create(run->model, NULL, &state, &error);
    }
    if (status == PERP_STATUS_OK) {
        perp_error stopped = {0};
        const perp_status ended =
            perp_run(run->model, &run->model->scene->run, NULL, perp_log_observe, log, &state, &result, &stopped);
        status = perp_log_close(log, &result, ended == PERP_STATUS_OK ? NULL : &stopped, &error);
        perp_run_result_free(&result);
        perp_state_free(&state);
    } else {
        perp_log_close(log, NULL, NULL, NULL);
    }
    free(texts);
    if (status == PERP_STATUS_OK) {
        status = perp_log_open_memory(memory->bytes, memory->size, NULL, reader, &error);
    }
    return status == PERP_STATUS_OK ? EXIT_DONE : cli_refuse(&error);
}

static int write_page(const cli_arguments *a, const perp_comparison *c, const cli_files *files,
                      const cli_settings *settings)
{
    cli_memory_log logs[PERP_REPLAY_MOST_LOGS];
    perp_log_reader *readers[PERP_REPLAY_MOST_LOGS] = {0};
    int code = EXIT_DONE, count = 0;
    memset(logs, 0, sizeof logs);
    for (int i = 0; i < c->run_count && code == EXIT_DONE; i++) {
        if (count < PERP_REPLAY_MOST_LOGS && c->runs[i].row_count > 0) {
            code = log_run(&c->runs[i], files, settings, &logs[count], &readers[count]);
            count++;
        }
    }
    if (code == EXIT_DONE && count < c->run_count) {
        fprintf(stderr, "perp: the replay shows %d of %d runs\n", count, c->run_count);
    }
    code = code == EXIT_DONE && count > 0 ? cli_write_page(readers, count, 0, cli_value(a, "--html")) : code;
    for (int i = 0; i < count; i++) {
        perp_log_reader_free(readers[i]);
        cli_memory_log_free(&logs[i]);
    }
    return code;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static void show(void *context, int done, int runs)
{
    cli_progress_cases(context, done, runs);
}

static int report(const cli_arguments *a, const perp_comparison *c, const cli_files *files,
                  const cli_settings *settings)
{
    int code = EXIT_DONE;
    if (cli_value(a, "-o")) {
        perp_error error = {0};
        code = perp_compare_plot_write(c, NULL, cli_value(a, "-o"), &error) == PERP_STATUS_OK ? EXIT_DONE
                                                                                              : cli_refuse(&error);
    }
    code = code == EXIT_DONE && cli_value(a, "--html") ? write_page(a, c, files, settings) : code;
    const int written = cli_value(a, "--json") ? cli_write_json(perp_comparison_json(c, NULL)) : print_words(c);
    return code == EXIT_DONE ? written : code;
}

static int refuse(const cli_arguments *a, const perp_error *error, bool told)
{
    const int code = !told ? cli_refuse(error) : error->status == PERP_STATUS_BAD_INPUT ? EXIT_BAD_INPUT : EXIT_REFUSED;
    const int written = cli_value(a, "--json") ? cli_write_json(perp_comparison_json(NULL, error)) : EXIT_DONE;
    return written == EXIT_DONE ? code : written;
}

static int compare_scene(const cli_arguments *a, perp_compare_options *options, const cli_settings *settings)
{
    static perp_diagnostics diagnostics;
    cli_files files = {0};
    perp_scene *scene = NULL;
    perp_error error = {0};
    const perp_scene_files source = {.context = &files, .keep = cli_files_keep};
    const perp_status loaded = cli_load_scene(a, settings, &source, &scene, &diagnostics);
    int code;
    cli_print_diagnostics(&diagnostics);
    if (!scene) {
        perp_diagnostics_first_error(&diagnostics, loaded, &error);
        code = refuse(a, &error, true);
    } else {
        perp_comparison *comparison = NULL;
        cli_progress progress = cli_progress_begin();
        options->progress = show;
        options->context = &progress;
        const perp_status status = perp_compare(scene, options, &comparison, &error);
        cli_progress_end(&progress);
        cli_locate_failure(scene, &error);
        code = status == PERP_STATUS_OK ? report(a, comparison, &files, settings) : refuse(a, &error, false);
        perp_comparison_free(comparison);
    }
    perp_scene_free(scene);
    cli_files_free(&files);
    return code;
}

static int run(const cli_arguments *a)
{
    lists l = {.model_count = 0};
    perp_compare_options options = perp_compare_options_default();
    cli_settings settings = {0};
    int code = check_usage(a);
    code = code == EXIT_DONE ? read_options(a, &l, &options) : code;
    if (code == EXIT_DONE && (l.model_count > 1 ? l.model_count : 1) * (l.h_count > 1 ? l.h_count : 1) < 2) {
        code = cli_fail(EXIT_USAGE, "compare: two runs are needed: --models A,B or --h H1,H2");
    }
    if (code == EXIT_DONE) {
        code = cli_settings_collect(a, &settings) ? compare_scene(a, &options, &settings)
                                                  : cli_fail(EXIT_REFUSED, "out of memory");
        cli_settings_free(&settings);
    }
    free_lists(&l);
    return code;
}

static const cli_option options[] = {
    {"--models", "A,B,..", "the rungs (perp models); default: the scene's own alone"},
    {"--h", "H1,H2,..", "time steps, s: every model runs with each; default: the scene's own"},
    {"--until", "SECONDS", "end time; overrides run.until"},
    {"--steps", "N", "number of steps of the longest h, instead of --until"},
    {"--set", "PATH=VALUE", "change any value of the scene; may be repeated"},
    {"--of", "NAME", "compare this (part.x, v:part.x, contact.A B.fn) in place of positions; may be repeated"},
    {"--json", NULL, "print the result as one JSON object"},
    {"-o", "FILE.svg", "draw what differs most, run by run"},
    {"--html", "FILE", "write a replay of the runs side by side (perp view)"},
    {"--tests", "N", "runs in search of causes, at most; default 100; 0: no causes"},
    {"--jobs", "N", "threads; default: as many as there are cores. The result is the same for any number"},
};

const cli_command cli_compare = {
    .name = "compare",
    .operand = "SCENE",
    .summary = "several rungs and steps on one scene: where they part, by how much, and why",
    .details =
        "examples:\n"
        "  perp compare examples/fence-particle/scene.yaml --models qs-ncp,qs-lcp,qs-lp    three friction cones\n"
        "  perp compare examples/gripper-2d/scene.yaml --models qs-impedance-lcp,qs-qp     exact and convex friction\n"
        "  perp compare examples/bounce/scene.yaml --models dyn-ncp,compliant --until 1    rigid and soft contacts\n"
        "  perp compare scene.yaml --h 0.01,0.005,0.0025                                   does it converge?\n"
        "  perp compare scene.yaml --models qs-qp,dyn-ncp -o compare.svg --html compare.html\n"
        "  perp compare scene.yaml --models qs-qp,qs-ncp --of \"contact.finger cup.fn\"      forces in place of "
        "positions\n"
        "  perp compare scene.yaml --models qs-qp,dyn-qp --json | jq -r '.differences[].cause'\n\n"
        "Runs are compared in pairs, at the times of the longer step. A cause is found by test: an assumption in\n"
        "which the two differ is removed, and what is left of their difference is measured (docs/compare.md).\n"
        "A run that stops is a row with its status, and is compared up to there.\n",
    .options = options,
    .option_count = (int)(sizeof options / sizeof *options),
    .run = run,
};
