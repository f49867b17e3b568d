#include "cli.h"
#include "run_summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run goes on as it was; only its end may be moved. */
static int check_resume(const cli_arguments *a)
{
    static const char *const fixed[] = {"--model", "--h",        "--set",   "--csv",
                                        "--log",   "--foxglove", "--watch", "--certify"};
    if (a->operand) {
        return cli_fail(EXIT_USAGE, "run: --resume takes the scene from the log; leave `%s` out", a->operand);
    }
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        if (cli_value(a, fixed[i])) {
            return cli_fail(EXIT_USAGE, "run: --resume goes on with the run as it was; leave %s out%s", fixed[i],
                            strcmp(fixed[i], "--csv") == 0 ? " (perp export writes CSV from the log)" : "");
        }
    }
    return EXIT_DONE;
}

/* No output is written over what is read, or over another one; words that are asked for are to be seen. */
static int check_outputs(const cli_arguments *a)
{
    const char *const log = cli_value(a, "--resume") ? cli_value(a, "--resume") : cli_value(a, "--log");
    int code = cli_keep(a, a->operand, "--log");
    code = code == EXIT_DONE ? cli_keep(a, a->operand, "--html") : code;
    code = code == EXIT_DONE ? cli_keep(a, log, "--html") : code;
    if (code == EXIT_DONE && cli_value(a, "--why") && cli_value(a, "--quiet") && !cli_value(a, "--json") && !log &&
        !cli_value(a, "--html")) {
        return cli_fail(EXIT_USAGE, "run: --quiet leaves no place for --why; add --json, --log FILE or --html FILE");
    }
    return code;
}

static int check_usage(const cli_arguments *a)
{
    static const char *const numeric[] = {"--h", "--until", "--steps"};
    for (size_t i = 0; i < sizeof numeric / sizeof *numeric; i++) {
        const char *value = cli_value(a, numeric[i]);
        const bool whole = strcmp(numeric[i], "--steps") == 0;
        if (value && !cli_is_amount(value, whole)) {
            return cli_fail(EXIT_USAGE, "run: %s needs a %s, not `%s`", numeric[i],
                            whole ? "whole number" : "number of seconds", value);
        }
    }
    if (cli_value(a, "--until") && cli_value(a, "--steps")) {
        return cli_fail(EXIT_USAGE, "run: give --until or --steps, not both");
    }
    unsigned stop_at;
    int code = check_outputs(a);
    code = code == EXIT_DONE ? cli_certify_usage(a, &stop_at) : code;
    if (code != EXIT_DONE) {
        return code;
    }
    if (cli_value(a, "--html") && !cli_can_view()) { /* said now, not after a long run */
        return EXIT_REFUSED;
    }
    if (cli_value(a, "--resume")) {
        return check_resume(a);
    }
    if (!a->operand) {
        return cli_fail(EXIT_USAGE, "run: SCENE is missing (perp run --help)");
    }
    if (cli_value(a, "--stop-at") && !cli_value(a, "--certify")) { /* of a new run */
        return cli_fail(EXIT_USAGE, "run: --stop-at looks at certificates: give --certify too");
    }
    if (cli_value(a, "--foxglove") && !cli_value(a, "--log")) {
        return cli_fail(EXIT_USAGE, "run: --foxglove is about a log: give --log FILE too");
    }
    const char *model = cli_value(a, "--model");
    return model ? cli_check_model(a, model) : EXIT_DONE;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* A run as the options ask for it. */
typedef struct request {
    const cli_arguments *arguments;
    const perp_scene *scene;
    const cli_files *files;       /* of the scene; NULL: it is in the log that the run goes on with */
    const cli_settings *settings; /* likewise */
    perp_log_reader *reader;      /* of that log; NULL: the run is new */
    cli_memory_log *memory;       /* takes the log where only its replay is asked for */
    cli_why *why;
    cli_certify *certify;
    cli_watch *watch; /* NULL: the run is made once */
} request;

typedef struct run_observer {
    perp_csv *csv; /* NULL: none */
    perp_log *log; /* NULL: none */
    cli_why *why;
    cli_certify *certify;
    cli_progress progress;
    int total;
    int last; /* step that was observed; -1: none */
    bool csv_failed, log_failed, why_failed;
    run_highlights seen;
    const volatile bool *cancel;
} run_observer;

/* As residual.penetration counts it: the initial state does only if no step is taken. */
static void look_for_highlights(run_observer *w, int step, double t, const perp_step_info *info)
{
    if (info->lift.height > w->seen.highest.lift.height) {
        w->seen.highest = (highest_lift){.lift = info->lift, .t = t};
    }
    for (int i = 0; i < info->contact_count && (step > 0 || w->total == 0); i++) {
        const perp_contact *c = &info->contacts[i].contact;
        if (c->phi < w->seen.deepest.size) {
            w->seen.deepest = (contact_highlight){c->phi, c->a, c->b, t};
        }
        if (info->contacts[i].fn > w->seen.largest.size && !perp_contact_is_support(c)) {
            w->seen.largest = (contact_highlight){info->contacts[i].fn, c->a, c->b, t};
        }
    }
}

/* The step is logged before it is shown, and before it is explained, which may take seconds. One that could not be
 * certified is not kept, so that a run that goes on certifies it. */
static bool observe(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    run_observer *w = context;
    perp_step_info told = *info;
    bool goes_on;
    if (!cli_certify_observe(w->certify, step, state, &told, &goes_on)) {
        return false;
    }
    w->last = step;
    look_for_highlights(w, step, state->t, info);
    if (w->csv && !perp_csv_observe(w->csv, step, state, &told)) {
        w->csv_failed = true;
        return false;
    }
    if (w->log && !perp_log_observe(w->log, step, state, &told)) {
        w->log_failed = true;
        return false;
    }
    cli_progress_update(&w->progress, step, w->total, state->t);
    if (!cli_why_observe(w->why, step, w->total, state, info)) {
        w->why_failed = true;
        return false;
    }
    if (!cli_why_log(w->why, step, w->log)) {
        w->log_failed = true;
        return false;
    }
    return goes_on && !*w->cancel;
}

static int exit_code(const perp_error *error)
{
    return error->status == PERP_STATUS_BAD_INPUT ? EXIT_BAD_INPUT : EXIT_REFUSED;
}

/* A run that its physics, its solver or a verdict ended: what it did up to there is what one wants to look at. */
static bool stopped_on_the_way(perp_status status, const perp_error *error, const perp_run_result *result)
{
    return (status == PERP_STATUS_CANCELLED
                ? cli_ended_by_verdict(error)
                : status != PERP_STATUS_OK && status != PERP_STATUS_BAD_INPUT && status != PERP_STATUS_OUT_OF_MEMORY) &&
           result->rung != NULL;
}

/* The log that the options ask for, or the one that the run goes on with, if a step is left to be taken or only the end
 * is missing. */
static perp_status open_log(const request *r, const perp_model *model, int taken, perp_log **log, perp_error *error)
{
    perp_log_about about = {.model = model, .certified = r->certify->asked, .stop_at = r->certify->stop_at};
    perp_log_options options = perp_log_options_default();
    const char *path = cli_value(r->arguments, "--log");
    *log = NULL;
    if (r->reader) {
        const perp_rung *rung = perp_rung_find(model->scene->run.model);
        const int steps = rung && rung->step ? perp_run_steps(&model->scene->run) : 0;
        return taken < steps || !perp_log_reader_extent(r->reader).complete
                   ? perp_log_continue(cli_value(r->arguments, "--resume"), r->reader, &about, &options, log, error)
                   : PERP_STATUS_OK;
    }
    if ((!path && !cli_value(r->arguments, "--html")) || !r->files || !r->settings) {
        return PERP_STATUS_OK;
    }
    options.foxglove = cli_value(r->arguments, "--foxglove") != NULL;
    about.files = r->files->files;
    about.file_count = r->files->count;
    about.changes = (const char *const *)r->settings->texts;
    about.change_count = r->settings->count;
    return path ? perp_log_create(path, &about, &options, log, error)
                : perp_log_create_sink(cli_memory_log_sink(r->memory), &about, &options, log, error);
}

/* Completes the log with what became of the run. A log that could not be written is the failure that counts: the run
 * was stopped because of it. */
static perp_status close_log(run_observer *w, perp_status status, const perp_run_result *result, perp_error *error)
{
    perp_error inner;
    const perp_status closed = perp_log_close(w->log, result, status == PERP_STATUS_OK ? NULL : error, &inner);
    if (closed == PERP_STATUS_OK || (status != PERP_STATUS_OK && !w->log_failed)) {
        return status;
    }
    *error = inner;
    return closed;
}

/* The words of the last step, into the result and, of a run that stopped on the way, into its log too: there nobody
 * knew before that it was the last. */
static perp_status finish_why(run_observer *w, perp_status status, perp_run_result *result, perp_error *error)
{
    const bool interrupted = status == PERP_STATUS_CANCELLED && !cli_ended_by_verdict(error);
    if (w->why_failed || (!interrupted && !cli_why_finish(w->why, result, w->total))) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for explanations");
    }
    if (!interrupted && result->steps < w->total && w->last == result->steps &&
        !cli_why_log(w->why, result->steps, w->log)) {
        w->log_failed = true;
    }
    return status;
}

/* Words are wanted where something shows them, of a rung that has steps or answers to explain. */
static perp_status open_why(const request *r, const perp_model *model, const perp_run_start *start,
                            const perp_state *state, perp_error *error)
{
    static const struct {
        const char *option;
        cli_why_use use;
    } shows[] = {{"--why", CLI_WHY_ASKED},
                 {"--log", CLI_WHY_KEPT},
                 {"--html", CLI_WHY_KEPT},
                 {"--resume", CLI_WHY_KEPT},
                 {"--json", CLI_WHY_RESULT}};
    enum { SHOWS = sizeof shows / sizeof *shows };
    const perp_rung *rung = perp_rung_find(model->scene->run.model);
    int first = 0;
    while (first < SHOWS && !cli_value(r->arguments, shows[first].option)) {
        first++;
    }
    if (first == SHOWS || !rung || (!rung->step && !rung->answer) ||
        perp_run_check(&model->scene->run, error) != PERP_STATUS_OK) {
        return PERP_STATUS_OK; /* what is wrong with the settings is the run's to say */
    }
    const perp_status status = cli_why_open(r->why, model, shows[first].use, error);
    if (status == PERP_STATUS_OK && r->reader && !cli_why_resume(r->why, start, state)) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for explanations");
    }
    return status;
}

static perp_status open_certify(const request *r, const perp_model *model, const perp_run_start *start,
                                const perp_state *state, perp_error *error)
{
    if (!r->certify->asked) {
        return PERP_STATUS_OK;
    }
    const perp_status status = cli_certify_open(r->certify, model, error);
    if (status == PERP_STATUS_OK && r->reader) {
        cli_certify_resume(r->certify, start, state);
    }
    return status;
}

/* Where a log's run goes on. What is wrong there is wrong with the log, not with the scene in it. */
static perp_status find_start(const request *r, const perp_model *model, perp_state *state, perp_run_start *start,
                              perp_error *error)
{
    const perp_status status = perp_log_resume(r->reader, model, state, start, error);
    if (status == PERP_STATUS_BAD_INPUT && !error->file[0]) {
        snprintf(error->file, sizeof error->file, "%s", cli_value(r->arguments, "--resume"));
        error->line = error->column = 1;
    }
    return status;
}

/* Simulates, and completes the CSV files and the log, also of a run that stopped on the way; one that was interrupted
 * leaves no CSV files. */
static perp_status simulate(const request *r, const perp_model *model, perp_state *state, perp_run_result *result,
                            run_highlights *seen, perp_error *error)
{
    const perp_run_settings *settings = &model->scene->run;
    run_observer w = {.total = perp_run_steps(settings),
                      .why = r->why,
                      .certify = r->certify,
                      .last = -1,
                      .cancel = settings->cancel};
    const char *folder = cli_value(r->arguments, "--csv");
    perp_run_start start = {0};
    perp_status status = r->reader ? find_start(r, model, state, &start, error) : PERP_STATUS_OK;
    if (status == PERP_STATUS_OK) {
        status = open_certify(r, model, &start, state, error);
    }
    if (status == PERP_STATUS_OK) {
        status = open_why(r, model, &start, state, error);
    }
    if (status == PERP_STATUS_OK && folder) {
        status = perp_csv_open(model, folder, &w.csv, error);
    }
    if (status == PERP_STATUS_OK) {
        status = open_log(r, model, start.step, &w.log, error);
    }
    if (status != PERP_STATUS_OK) {
        perp_csv_abandon(w.csv);
        return status;
    }
    w.progress = cli_progress_begin();
    if (r->reader) {
        start.observer = observe;
        start.observer_context = &w;
        status = perp_run_continue(model, settings, &start, state, result, error);
    } else {
        status = perp_run(model, settings, NULL, observe, &w, state, result, error);
    }
    cli_progress_end(&w.progress);
    *seen = w.seen;
    status = cli_certify_finish(r->certify, status, result, error);
    status = finish_why(&w, status, result, error);
    status = close_log(&w, status, result, error);
    if (w.csv && (status == PERP_STATUS_OK || w.csv_failed)) {
        /* Committing after a failed write fails with the system's reason, and removes what was written. */
        return perp_csv_commit(w.csv, error);
    }
    if (w.csv && stopped_on_the_way(status, error, result)) {
        perp_error unwritten = {0};
        if (perp_csv_commit(w.csv, &unwritten) != PERP_STATUS_OK) {
            cli_fail(EXIT_REFUSED, "%s", unwritten.message);
        }
        return status;
    }
    perp_csv_abandon(w.csv);
    return status;
}

/* A run that is shorter than half a step ends where it begins, which looks like one that nothing moved in. */
static void tell_no_step(const perp_scene *scene, const perp_rung *rung)
{
    const perp_run_settings *run = &scene->run;
    if (rung && rung->step && !run->steps_set && run->until > 0.0 && perp_run_steps(run) == 0) {
        fprintf(
            stderr,
            "perp: no step is taken: one of h = %g s is longer than the run of %g s; give a smaller --h, or --steps\n",
            run->h, run->until);
    }
}

static int run_model(const request *r)
{
    const cli_arguments *a = r->arguments;
    const perp_scene *scene = r->scene;
    const perp_rung *rung = perp_rung_find(scene->run.model);
    if (cli_value(a, "--why") && rung && !rung->step && !rung->answer) {
        return cli_fail(EXIT_USAGE, "run: --why has nothing to say of the model %s, which has no forces", rung->name);
    }
    if (r->certify->asked && rung && !rung->law && !rung->answer) {
        return cli_fail(EXIT_USAGE, "run: --certify has nothing to say of the model %s, which has no contact forces",
                        rung->name);
    }
    tell_no_step(scene, rung);
    const bool json = cli_value(a, "--json") != NULL;
    perp_model *model = NULL;
    perp_state state = {0};
    perp_run_result result = {0};
    run_highlights seen = {0};
    perp_error error = {0};
    perp_status status = perp_model_build(scene, NULL, &model, &error);
    if (status == PERP_STATUS_OK) {
        status = perp_state_create(model, NULL, &state, &error);
    }
    const bool started = status == PERP_STATUS_OK;
    if (started) {
        status = simulate(r, model, &state, &result, &seen, &error);
    }
    int code = EXIT_DONE;
    const bool ran = started && (status == PERP_STATUS_OK || stopped_on_the_way(status, &error, &result));
    if (!json && ran && !cli_value(a, "--quiet")) {
        cli_print_run(model, &state, &result, &seen, status == PERP_STATUS_OK || cli_ended_by_verdict(&error));
    }
    if (ran && cli_value(a, "--html")) {
        const char *log = cli_value(a, "--resume") ? cli_value(a, "--resume") : cli_value(a, "--log");
        code = cli_run_page(r->memory, log, r->watch ? cli_watch_number(r->watch) : 0, cli_value(a, "--html"));
        if (r->watch && code == EXIT_DONE) {
            cli_watch_written(r->watch);
        }
    }
    const bool useless =
        r->watch && status == PERP_STATUS_CANCELLED && !ran; /* nobody waits for what was to be said of it */
    if (status != PERP_STATUS_OK && !useless) {
        fflush(stdout); /* the reason comes last, also where both go to one file */
        cli_locate_failure(scene, &error);
        code = cli_refuse(&error);
    }
    if (r->watch && status != PERP_STATUS_OK) {
        cli_watch_failed(r->watch, &error, 0, true);
    }
    if (json && !useless) {
        const int written =
            cli_write_json(perp_result_json(started ? model : NULL, started ? &state : NULL, started ? &result : NULL,
                                            status == PERP_STATUS_OK ? NULL : &error));
        code = written == EXIT_DONE ? code : written;
    }
    if (started) {
        perp_state_free(&state);
    }
    perp_run_result_free(&result);
    cli_why_close(r->why);
    cli_certify_close(r->certify);
    perp_model_free(model);
    return code;
}

/* The scene could not be had: its diagnostics are printed, and its JSON if that was asked for. */
static int refuse_scene(const cli_arguments *a, perp_status status, const perp_diagnostics *diagnostics)
{
    perp_error error = {0};
    perp_diagnostics_first_error(diagnostics, status, &error);
    const int code = exit_code(&error);
    const int written = cli_value(a, "--json") ? cli_write_json(perp_result_json(NULL, NULL, NULL, &error)) : EXIT_DONE;
    return written == EXIT_DONE ? code : written;
}

perp_status cli_load_scene(const cli_arguments *a, const cli_settings *settings, const perp_scene_files *files,
                           perp_scene **scene, perp_diagnostics *diagnostics)
{
    const perp_scene_load_options options = {.settings = (const char *const *)settings->texts,
                                             .setting_count = settings->count,
                                             .files = files,
                                             .models = cli_model_names()};
    memset(diagnostics, 0, sizeof *diagnostics);
    return perp_scene_load_file(a->operand, &options, scene, diagnostics);
}

/* Who wants to know of the scene's files. */
typedef struct file_readers {
    cli_files *log;   /* NULL: there is none */
    cli_watch *watch; /* likewise */
} file_readers;

static bool keep_file(void *context, const char *name, const char *bytes, size_t size)
{
    const file_readers *readers = context;
    return (!readers->watch || cli_watch_file(readers->watch, name, size)) &&
           (!readers->log || cli_files_keep(readers->log, name, bytes, size));
}

/* The run of a scene that was loaded; a watched one ends when a file changes. */
static int run_loaded(const request *r, perp_scene *scene)
{
    scene->run.cancel = r->watch ? cli_watch_begin(r->watch) : cli_interrupt_flag();
    const int code = run_model(r);
    if (r->watch) {
        cli_watch_end(r->watch);
    }
    return code;
}

static int run_scene(const cli_arguments *a, cli_watch *watch)
{
    static perp_diagnostics diagnostics;
    cli_settings settings;
    cli_files files = {0};
    cli_memory_log memory = {0};
    cli_why why = {0};
    cli_certify certify = {.asked = cli_value(a, "--certify") != NULL};
    perp_scene *scene = NULL;
    int code = EXIT_DONE;
    cli_certify_usage(a, &certify.stop_at); /* was found good by check_usage */
    if (!cli_settings_collect(a, &settings)) {
        code = cli_fail(EXIT_REFUSED, "out of memory");
    } else {
        const bool logged = cli_value(a, "--log") || cli_value(a, "--html");
        file_readers readers = {.log = logged ? &files : NULL, .watch = watch};
        const perp_scene_files source = {.context = &readers, .keep = keep_file};
        const perp_status status = cli_load_scene(a, &settings, &source, &scene, &diagnostics);
        cli_print_diagnostics(&diagnostics);
        const request r = {.arguments = a,
                           .scene = scene,
                           .files = &files,
                           .settings = &settings,
                           .memory = &memory,
                           .why = &why,
                           .certify = &certify,
                           .watch = watch};
        if (watch && !scene) {
            perp_error error = {0};
            perp_diagnostics_first_error(&diagnostics, status, &error);
            cli_watch_failed(watch, &error, diagnostics.errors - 1, false);
        }
        code = scene ? run_loaded(&r, scene) : refuse_scene(a, status, &diagnostics);
    }
    perp_scene_free(scene);
    cli_memory_log_free(&memory);
    cli_files_free(&files);
    cli_settings_free(&settings);
    return code;
}

/* Bits are promised for one build only. */
static void compare_builds(const perp_log_head *head)
{
    if (strcmp(head->version, perp_version()) != 0 || strcmp(head->build, perp_build_flags()) != 0) {
        fprintf(stderr,
                "perp: the log was written by another build (perp %s): further steps may differ from those that "
                "it would have taken\n",
                head->version);
    }
}

static int resume(const cli_arguments *a)
{
    static perp_diagnostics diagnostics;
    perp_log_reader *reader = NULL;
    perp_scene *scene = NULL;
    int code = cli_open_log(cli_value(a, "--resume"), &reader);
    if (code != EXIT_DONE) {
        return code;
    }
    compare_builds(perp_log_reader_head(reader));
    if (cli_value(a, "--stop-at") && !perp_log_reader_head(reader)->certified) {
        perp_log_reader_free(reader);
        return cli_fail(EXIT_USAGE, "run: --stop-at looks at certificates, and the run of this log has none");
    }
    const perp_status status = perp_log_load_scene(reader, &scene, &diagnostics);
    cli_print_diagnostics(&diagnostics);
    if (scene) {
        scene->run.cancel = cli_interrupt_flag();
        const char *steps = cli_value(a, "--steps"), *until = cli_value(a, "--until");
        const int asked = perp_log_reader_head(reader)->steps_asked; /* other than the scene's where it was resumed */
        if (asked != perp_run_steps(&scene->run)) {
            scene->run.steps_set = true;
            scene->run.steps = asked;
        }
        if (steps || until) {
            scene->run.steps_set = steps != NULL;
            scene->run.steps = steps ? (int)strtod(steps, NULL) : 0;
            scene->run.until = until ? strtod(until, NULL) : 0.0;
        }
        const perp_log_head *head = perp_log_reader_head(reader);
        cli_why why = {0};
        cli_certify certify = {.asked = head->certified, .stop_at = head->stop_at};
        if (cli_value(a, "--stop-at")) {
            cli_certify_usage(a, &certify.stop_at); /* likewise */
        }
        const request r = {.arguments = a, .scene = scene, .reader = reader, .why = &why, .certify = &certify};
        code = run_model(&r);
    } else {
        code = refuse_scene(a, status, &diagnostics);
    }
    perp_scene_free(scene);
    perp_log_reader_free(reader);
    return code;
}

static int run(const cli_arguments *a)
{
    const int usage = check_usage(a);
    if (usage != EXIT_DONE) {
        return usage;
    }
    return cli_value(a, "--resume")  ? resume(a)
           : cli_value(a, "--watch") ? cli_watch_scene(a, run_scene)
                                     : run_scene(a, NULL);
}

static const cli_option options[] = {
    {"--model", "NAME", "the rung (perp models); overrides run.model"},
    {"--h", "SECONDS", "time step; overrides run.h"},
    {"--until", "SECONDS", "end time; overrides run.until"},
    {"--steps", "N", "number of steps, instead of --until"},
    {"--set", "PATH=VALUE", "change any value of the scene; may be repeated"},
    {"--json", NULL, "print the result as one JSON object"},
    {"--csv", "DIR", "write DIR/state.csv and DIR/contacts.csv"},
    {"--log", "FILE", "keep everything in a run log (MCAP), readable whatever happens"},
    {"--foxglove", NULL, "with --log: also what Foxglove draws"},
    {"--resume", "FILE", "go on with the run of a log, in the same file; SCENE is in it"},
    {"--html", "FILE", "write a replay that opens in a browser (perp view)"},
    {"--watch", NULL, "run again whenever the scene or a file of it changes; the replay follows"},
    {"--why", NULL, "also say why each contact holds, slips or is open, and what would change that"},
    {"--certify", NULL, "prove of every step: has it an answer, is it the only one, is the rigid model valid there"},
    {"--stop-at", "VERDICTS",
     "with --certify: end the run at the first step that is not-unique, invalid (or both: a,b)"},
    {"--quiet", NULL, "print no summary"},
};

const cli_command cli_run = {
    .name = "run",
    .operand = "SCENE",
    .operand_optional = true,
    .summary = "simulate a scene on one rung",
    .details =
        "examples:\n"
        "  perp run scene.yaml --model geometric                 gaps and contacts at the start\n"
        "  perp run scene.yaml --model kinematic                 move what is commanded\n"
        "  perp run scene.yaml --model kinematic --until 2 --csv out\n"
        "  perp run examples/gripper-2d/scene.yaml               forces, modes and events of a grasp\n"
        "  perp run examples/gripper-2d/scene.yaml --why         what would make the fingers hold\n"
        "  perp run scene.yaml --model qs-ncp --json             another rung: exact friction, one JSON object\n"
        "  perp run examples/painleve-rod/scene.yaml             accelerations at one state: two answers\n"
        "  perp run scene.yaml --set contacts.friction=0.3 --set bodies.cup.mass=0.5\n"
        "  perp run scene.yaml --set \"contacts.pairs.fence particle.friction=0.3\"\n"
        "  perp run scene.yaml --set joints.lift.command.rate=0.1 --json\n"
        "  perp run scene.yaml --log run.mcap                    and, had it been stopped half-way,\n"
        "  perp run --resume run.mcap                            ends with the same bits\n"
        "  perp run --resume run.mcap --until 5                  takes a finished run further\n"
        "  perp run scene.yaml --certify --log run.mcap          verdicts of every step, kept in the log\n"
        "  perp run scene.yaml --certify --stop-at not-unique,invalid\n"
        "                                                        ends with exit code 1 where one is met\n"
        "  perp run scene.yaml --watch                           runs at every save, until Ctrl-C; opens the replay\n"
        "  perp run scene.yaml --watch --html run.html           likewise, with the replay in a file to open\n\n"
        "`geometric` lists the gaps up to contacts.margin (0.02 m unless the scene says otherwise); to see\n"
        "farther: --set contacts.margin=0.5\n\n"
        "PATH is keys joined by dots; list elements by number (bodies.cup.shapes.0.sphere).\n"
        "The keys of a scene: perp check --keys. Quote what your shell would touch.\n",
    .options = options,
    .option_count = (int)(sizeof options / sizeof *options),
    .run = run,
};
