/* log_run.h - a scene of examples/ run into a log in memory, with everything that was observed kept beside it. */
#ifndef PERP_TESTS_LOG_LOG_RUN_H
#define PERP_TESTS_LOG_LOG_RUN_H

#include <perp/log.h>

/* A sink in memory that misbehaves on request. */
typedef struct memory_sink {
    unsigned char *bytes;
    size_t size, capacity;
    size_t limit;  /* bytes that there is room for; then ENOSPC */
    size_t most;   /* bytes taken by one call; 0: all */
    int interrupt; /* every so many calls are interrupted; 0: none */
    int calls, syncs;
} memory_sink;

perp_log_sink memory_sink_make(memory_sink *sink); /* zeroes it: no limits */
void memory_sink_free(memory_sink *sink);

/* One observed step. */
typedef struct kept_step {
    double t;
    double *q, *v;
    perp_step_info info; /* contacts and events are copies */
} kept_step;

/* What is said of a contact; its text is put into `text`. */
typedef perp_contact_note log_run_explain(int step, int contact, char text[80]);

typedef struct log_run {
    perp_scene *scene;
    perp_model *model;
    perp_state state;
    perp_run_result result;
    perp_error error;
    perp_status status, log_status;
    perp_error log_error;
    char *text; /* of the scene */
    int count;
    kept_step *steps;
    perp_log *log;
    log_run_explain *explain; /* NULL: nothing is said */
} log_run;

/* The scene of examples/NAME with settings (ended by NULL), not yet run. */
void log_run_load(log_run *run, const char *example, const char *const *settings);
/* Runs it into the sink. Options NULL: chunks of 4,000 bytes, no clock. The statuses say what became of it. */
void log_run_go(log_run *run, const perp_log_sink *sink, const perp_log_options *options);
void log_run_free(log_run *run);
/* The options of log_run_go. */
perp_log_options log_run_options(void);
/* What the log is about; `file` is where its only file is put. */
perp_log_about log_run_about(const log_run *run, perp_log_file *file);

/* A step of a log against what was observed: every number, to the bit. */
void log_run_same_step(const log_run *run, const perp_log_reader *reader, const perp_log_step *step);

/* The whole of a file; fails the test where there is none. */
unsigned char *log_run_read_file(const char *path, size_t *size);
void log_run_write_file(const char *path, const void *bytes, size_t size);

#endif
