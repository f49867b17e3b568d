/* cli.h - the command line: a table of commands, from which parsing, help and shell completion all come.
 *
 * Results go to stdout; messages and progress to stderr. Exit codes: 0 done; 1 the physics, the solver or the system
 * says no, explained; 2 usage; 3 bad input, with file:line:column. */
#ifndef PERP_CLI_CLI_H
#define PERP_CLI_CLI_H

#include <perp/perp.h>

enum { EXIT_DONE = 0, EXIT_REFUSED = 1, EXIT_USAGE = 2, EXIT_BAD_INPUT = 3 };

typedef struct cli_option {
    const char *name;     /* "--model" */
    const char *argument; /* what follows, for help ("NAME"); NULL: nothing */
    const char *help;
} cli_option;

typedef struct cli_arguments cli_arguments;

typedef struct cli_command {
    const char *name;
    const char *operand; /* "SCENE"; NULL: none */
    const char *summary;
    const char *details; /* paragraphs and examples behind the options in --help */
    const cli_option *options;
    int option_count;
    bool operand_optional;
    int operand_most; /* 0: one */
    int (*run)(const cli_arguments *arguments);
} cli_command;

struct cli_arguments {
    const cli_command *command;
    const char *operand; /* the first; NULL if none was given */
    int operand_count;
    const char **operands;
    int count; /* options given, in order */
    const cli_option **options;
    const char **values;
};

extern const cli_command *const cli_commands[];
extern const int cli_command_count;

/* The last value of an option ("" for one without argument), or NULL if it was not given. */
const char *cli_value(const cli_arguments *arguments, const char *name);
/* All of them in order, of one that may be given more than once; says how many. Room: arguments->count. */
int cli_values(const cli_arguments *arguments, const char *name, const char **values);

/* A file that is read must not be written: EXIT_USAGE where the value of `option`, if it was given, is the file `read`
 * (NULL allowed), by whatever name. */
int cli_keep(const cli_arguments *arguments, const char *read, const char *option);

/* The settings that the options amount to: all --set in their order, then --model M as run.model=M, and so on, so that
 * an option of its own always counts. One that takes a list, as `perp compare --h`, is none of them. */
typedef struct cli_settings {
    char **texts;
    int count;
} cli_settings;

/* False when out of memory; to be freed either way. */
bool cli_settings_collect(const cli_arguments *arguments, cli_settings *settings);
void cli_settings_free(cli_settings *settings);

/* The names of all models, NULL-terminated. */
const char *const *cli_model_names(void);
/* EXIT_USAGE, with the nearest name, where there is no such model. */
int cli_check_model(const cli_arguments *arguments, const char *model);
/* A decimal number, finite and not negative; `whole`: and a count. */
bool cli_is_amount(const char *text, bool whole);

/* Prints to stderr "perp: ..." and returns `code`. */
int cli_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints all diagnostics to stderr. */
void cli_print_diagnostics(const perp_diagnostics *diagnostics);
/* Writes text and a line end to stdout; EXIT_DONE, or EXIT_REFUSED after an error if stdout does not take it. */
int cli_write(const char *text);
/* The same for JSON that was made, and frees it; NULL: there was no memory for it. */
int cli_write_json(char *text);
/* A failure that names a place in the scene gets the file, line and column of it. */
void cli_locate_failure(const perp_scene *scene, perp_error *error);
/* Says what went wrong, and where if that is known: EXIT_BAD_INPUT where the input is at fault, else EXIT_REFUSED. */
int cli_refuse(const perp_error *error);
/* That a list was cut, where it is longer than what was shown. */
void cli_print_rest(int count, int shown);
/* A line that says which units the scene's file has, where they are not those of all results. */
void cli_print_units(const perp_scene *scene);
/* Flushes stdout and turns a failed write into EXIT_REFUSED; otherwise returns `code`. */
int cli_finish(int code);

/* The contacts of a result. Of a rung that does not move they are the answer: a table, smallest gap first, cut to a
 * screen. Otherwise a line. */
void cli_print_contacts(const perp_model *model, const perp_run_result *result);
/* What carries force, in the order of the contacts; nothing where nothing does. */
void cli_print_forces(const perp_model *model, const perp_contact_record *records, int record_count);

/* The name nearest to `word`, or NULL if none is near. */
const char *cli_nearest(const char *word, const char *const *names, int count);

/* A bar on stderr, drawn only on a terminal and only when there is something to wait for. */
typedef struct cli_progress {
    bool active;
    double started, drawn;
} cli_progress;

cli_progress cli_progress_begin(void);
void cli_progress_update(cli_progress *progress, int done, int total, double t);
void cli_progress_cases(cli_progress *progress, int done, int cases);
void cli_progress_frames(cli_progress *progress, int done, int frames);
void cli_progress_end(cli_progress *progress);

/* Set by SIGINT and SIGTERM; runs stop at the next step. */
bool cli_interrupted(void);
/* The same as a flag to be looked at: for solvers, which know nothing of this program. */
const volatile bool *cli_interrupt_flag(void);
void cli_catch_interrupts(void);

/* Loads SCENE with all settings; `files` is told of its files (NULL: nobody is). `diagnostics` is emptied first. */
perp_status cli_load_scene(const cli_arguments *arguments, const cli_settings *settings, const perp_scene_files *files,
                           perp_scene **scene, perp_diagnostics *diagnostics);

/* `perp run --watch`: what its loop and a run in it tell each other. */
typedef struct cli_watch cli_watch;
/* One run, to its end or until it is cancelled. `watch` NULL: it is not watched. */
typedef int cli_run_once(const cli_arguments *arguments, cli_watch *watch);

/* Runs the scene again and again: whenever one of its files has changed, and until it is interrupted. */
int cli_watch_scene(const cli_arguments *arguments, cli_run_once *run);
/* A file of the scene was read, `size` bytes of it; `name` is relative to the scene's folder. False: out of memory. */
bool cli_watch_file(cli_watch *watch, const char *name, size_t size);
/* Between these two the flag is set when the run has become useless: a file has changed, or the user has had enough. */
const volatile bool *cli_watch_begin(cli_watch *watch);
void cli_watch_end(cli_watch *watch);
/* The page of this run was written under this number. */
long long cli_watch_number(const cli_watch *watch);
void cli_watch_written(cli_watch *watch);
/* Why there is no page of this run: `error`, and so many more. `loaded`: of the scene's files nothing is missing. */
void cli_watch_failed(cli_watch *watch, const perp_error *error, int more, bool loaded);

/* The files of a scene as they were read, for its log; zeroed at first. `files.keep` of the loader. */
typedef struct cli_files {
    perp_log_file *files;
    int count;
} cli_files;

bool cli_files_keep(void *files, const char *name, const char *bytes, size_t size);
void cli_files_free(cli_files *files);

/* Opens a log and says on stderr what is missing of it. EXIT_DONE, or the code of the failure that was printed. */
int cli_open_log(const char *path, perp_log_reader **reader);

/* A log in memory; zeroed at first. */
typedef struct cli_memory_log {
    perp_log_sink sink;
    unsigned char *bytes;
    size_t size, capacity;
} cli_memory_log;

/* The sink that fills it, which stays where it is. */
perp_log_sink *cli_memory_log_sink(cli_memory_log *log);
void cli_memory_log_free(cli_memory_log *log);
/* Writes the replay of a run to `path`: from the log file where there is one, else from memory. `watched` as in
 * perp_replay_options. EXIT_DONE, or the code of the failure that was printed. */
int cli_run_page(const cli_memory_log *log, const char *log_path, long long watched, const char *path);

/* Explanations of a run; zeroed at first, and then does nothing until it is opened. */
typedef struct cli_why {
    const perp_model *model;
    perp_explainer *explainer;
    bool at_events;            /* changes of mode are explained too */
    double work;               /* for one step */
    double work_left;          /* for the changes of mode that are still to come */
    int step, count, capacity; /* the step that `notes` speak of */
    perp_contact_note *notes;  /* by contact of that step */
    char *texts;
    perp_contact_note *answer_notes; /* of all contacts of all solutions, one after the other */
    char *answer_texts;
} cli_why;

/* What the words are for, and so how much work is spent on them. */
typedef enum cli_why_use {
    CLI_WHY_RESULT, /* the JSON result's: of the last step, little */
    CLI_WHY_KEPT,   /* in a log or a replay: also of changes of mode */
    CLI_WHY_ASKED   /* by --why */
} cli_why_use;

/* Closing is due whatever it returned. */
perp_status cli_why_open(cli_why *why, const perp_model *model, cli_why_use use, perp_error *error);
void cli_why_close(cli_why *why);
/* Before the first further step of a run that goes on, and after every step; `last` is the last step of the run. False:
 * out of memory. */
bool cli_why_resume(cli_why *why, const perp_run_start *start, const perp_state *state);
bool cli_why_observe(cli_why *why, int step, int last, const perp_state *state, const perp_step_info *info);
/* After the run: its result gets the notes of its last step, which `why` keeps. False: out of memory. */
bool cli_why_finish(cli_why *why, perp_run_result *result, int last);
/* What is said of `step`, which was observed by both, into the log (NULL allowed). False: the log could not be written.
 */
bool cli_why_log(const cli_why *why, int step, perp_log *log);
/* The sentences of notes on contacts (NULL: none), below a title. */
void cli_print_why(const perp_model *model, const char *title, const perp_contact_record *contacts,
                   const perp_contact_note *notes, int count);

/* Certificates of a run; zeroed at first, and then does nothing until it is opened. */
typedef struct cli_certify {
    perp_certifier *certifier;
    bool asked;
    unsigned stop_at; /* of perp_certifier_options */
} cli_certify;

/* What --stop-at says; EXIT_USAGE, explained, where that is nothing. */
int cli_certify_usage(const cli_arguments *arguments, unsigned *stop_at);
/* Closing is due whatever it returned. */
perp_status cli_certify_open(cli_certify *certify, const perp_model *model, perp_error *error);
void cli_certify_close(cli_certify *certify);
void cli_certify_resume(cli_certify *certify, const perp_run_start *start, const perp_state *state);
/* Puts the certificate of a step into its info. *goes_on: no verdict ends the run here. False: there is no certificate,
 * and the run has to end, for a reason that cli_certify_finish has. */
bool cli_certify_observe(cli_certify *certify, int step, const perp_state *state, perp_step_info *info, bool *goes_on);
/* A run that --stop-at has ended. */
bool cli_ended_by_verdict(const perp_error *error);
/* After the run: its result gets the summary, which `certify` keeps; returns its status, and the reason where
 * certificates have ended it. */
perp_status cli_certify_finish(cli_certify *certify, perp_status status, perp_run_result *result, perp_error *error);
void cli_print_trust(const perp_run_result *result);

/* Whether this build has the page of replays; where not, says so and how to get it. */
bool cli_can_view(void);
/* Writes the replay of logs to `path`, `watched` as in perp_replay_options; EXIT_DONE, or the code of the failure that
 * was printed. */
int cli_write_page(perp_log_reader *const *readers, int count, long long watched, const char *path);
/* A place in the user's cache for the page of what is called `name`: looking twice leaves one file. False: there is no
 * such place. */
bool cli_cache_path(const char *name, char *path, size_t size);
/* Hands the page to the desktop's browser. False: there is no desktop, or nothing that opens it. */
bool cli_open_browser(const char *path);

extern const cli_command cli_sweep, cli_compare;
extern const cli_command cli_analyze, cli_export, cli_diff, cli_view, cli_plot;
extern const cli_command cli_run, cli_check, cli_solve, cli_models, cli_doctor, cli_completion;

/* A picture or a video of a replay, without what is around it. */
typedef struct cli_picture {
    const char *path; /* of the PNG or WebM */
    int width, height;
    double from, to; /* s; a picture is of `from`. Beyond the log: its start and its end */
    double fps;      /* of a video; 0: a picture */
    double speed;    /* seconds of the run per second of the video */
} cli_picture;
/* Has it taken by the Chromium that is installed; EXIT_REFUSED, explained, where there is none. */
int cli_take_picture(perp_log_reader *const *readers, int count, const cli_picture *wanted);

#endif
