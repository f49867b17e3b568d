/* perp run --watch: the scene is run again whenever one of its files has changed.
 *
 * Files are looked at five times a second by stat, which every file system answers and which sees editors that write
 * in place and those that write a new file and rename it. While a run is going on a timer's signal looks: a step may
 * take seconds, and what its solver asks is a flag. stat may be called in a signal handler. */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>

enum {
    LOOK_MS = 200,   /* between two looks at the files */
    SETTLE_MS = 40,  /* a file that stays the same for so long has been written */
    SETTLE_MOST = 25 /* such times; then what is there counts */
};

typedef struct watched_file {
    char *path;
    uint64_t print; /* of the file as it was read; MISSING, or CHANGED: what was read is not what is there */
    bool in_use;    /* by the scene as it was loaded last */
} watched_file;

enum { MISSING = 0, CHANGED = 1 };

struct cli_watch {
    const char *scene;
    watched_file *files; /* not touched between cli_watch_begin and cli_watch_end */
    int file_count;
    volatile bool useless; /* the run that is going on */
    long long number;      /* of the page that this run would write */
    long long written;     /* of the page that was written last; 0: none was */
    bool loaded;           /* nothing is missing of the scene */
    perp_error failure;    /* of this run; OK: none */
    int more;              /* failures than this one */
};

static cli_watch *running; /* the one that the timer looks after */

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Differs, but for one chance in 2^64, where a file was written or replaced. */
static uint64_t print_of(const char *path, size_t *size)
{
    struct stat s;
    if (stat(path, &s) != 0) {
        return MISSING;
    }
    const uint64_t parts[] = {(uint64_t)s.st_dev, (uint64_t)s.st_ino, (uint64_t)s.st_size, (uint64_t)s.st_mtim.tv_sec,
                              (uint64_t)s.st_mtim.tv_nsec};
    uint64_t print = 14695981039346656037u;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        print = (print ^ parts[i]) * 1099511628211u;
        print ^= print >> 29;
    }
    *size = (size_t)s.st_size;
    return print == MISSING || print == CHANGED ? ~print : print;
}

/* The first file that is not as it was read; NULL: all are. */
static const watched_file *changed_file(const cli_watch *watch)
{
    size_t size;
    for (int i = 0; i < watch->file_count; i++) {
        if (print_of(watch->files[i].path, &size) != watch->files[i].print) {
            return &watch->files[i];
        }
    }
    return NULL;
}

static watched_file *find_file(const cli_watch *watch, const char *path)
{
    for (int i = 0; i < watch->file_count; i++) {
        if (strcmp(watch->files[i].path, path) == 0) {
            return &watch->files[i];
        }
    }
    return NULL;
}

/* Takes the path over. NULL: out of memory, and it is freed. */
static watched_file *add_file(cli_watch *watch, char *path)
{
    watched_file *files = realloc(watch->files, ((size_t)watch->file_count + 1) * sizeof *files);
    if (!files) {
        free(path);
        return NULL;
    }
    watch->files = files;
    files[watch->file_count] = (watched_file){.path = path};
    return &files[watch->file_count++];
}

bool cli_watch_file(cli_watch *watch, const char *name, size_t size)
{
    const char *slash = strrchr(watch->scene, '/');
    const size_t folder = slash ? (size_t)(slash - watch->scene) + 1 : 0;
    char *path = malloc(folder + strlen(name) + 1);
    if (!path) {
        return false;
    }
    memcpy(path, watch->scene, folder);
    strcpy(path + folder, name);
    watched_file *file = find_file(watch, path);
    if (file) { /* its print was taken before it was read */
        free(path);
    } else {
        size_t there = 0;
        file = add_file(watch, path);
        if (!file) {
            return false;
        }
        file->print = print_of(file->path, &there);
        file->print = there == size ? file->print : CHANGED;
    }
    file->in_use = true;
    return true;
}

/* Before the scene is loaded: a file that is written from now on has changed. */
static void take_prints(cli_watch *watch)
{
    size_t size;
    for (int i = 0; i < watch->file_count; i++) {
        watch->files[i].print = print_of(watch->files[i].path, &size);
        watch->files[i].in_use = false;
    }
}

/* Of a scene that could be loaded only its own files count. Of one that could not the others do too: what is wrong with
 * it may be that one of them is missing for a moment. */
static void drop_unused(cli_watch *watch)
{
    int kept = 0;
    for (int i = 0; i < watch->file_count; i++) {
        if (watch->files[i].in_use || !watch->loaded) {
            watch->files[kept++] = watch->files[i];
        } else {
            free(watch->files[i].path);
        }
    }
    watch->file_count = kept;
}

/* ---- while a run is going on ------------------------------------------------------------------------------------- */

static void look(int number)
{
    (void)number;
    const int before = errno;
    if (running && (cli_interrupted() || changed_file(running))) {
        running->useless = true;
    }
    errno = before;
}

const volatile bool *cli_watch_begin(cli_watch *watch)
{
    struct sigaction action;
    const struct timeval period = {.tv_usec = 1000L * LOOK_MS};
    const struct itimerval timer = {.it_interval = period, .it_value = period};
    drop_unused(watch);
    watch->useless = false;
    running = watch;
    memset(&action, 0, sizeof action);
    action.sa_handler = look;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    return &watch->useless;
}

void cli_watch_end(cli_watch *watch)
{
    (void)watch;
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    signal(SIGALRM, SIG_IGN);
    running = NULL;
}

long long cli_watch_number(const cli_watch *watch)
{
    return watch->number;
}

void cli_watch_written(cli_watch *watch)
{
    watch->written = watch->number;
}

void cli_watch_failed(cli_watch *watch, const perp_error *error, int more, bool loaded)
{
    watch->failure = *error;
    watch->more = more;
    watch->loaded = loaded;
}

/* ---- between runs ------------------------------------------------------------------------------------------------ */

static void pause_for(int milliseconds)
{
    const struct timespec time = {.tv_sec = milliseconds / 1000, .tv_nsec = 1000000L * (milliseconds % 1000)};
    nanosleep(&time, NULL); /* less after a signal, which is looked for next */
}

/* Whether the scene, of which a file was missing, reads otherwise now: the file may have come. Its own files are not
 * the only ones to ask, for the loader tells of those that it could read. */
static bool reads_otherwise(const cli_arguments *a, const cli_watch *watch)
{
    static perp_diagnostics diagnostics;
    cli_settings settings;
    perp_scene *scene = NULL;
    perp_error error = {0};
    bool otherwise = false;
    if (cli_settings_collect(a, &settings)) {
        const perp_status status = cli_load_scene(a, &settings, NULL, &scene, &diagnostics);
        perp_diagnostics_first_error(&diagnostics, status, &error);
        otherwise =
            scene || diagnostics.errors - 1 != watch->more || strcmp(error.message, watch->failure.message) != 0;
    }
    perp_scene_free(scene);
    cli_settings_free(&settings);
    return otherwise;
}

/* Waits until all files are there and none is being written, but not for ever. */
static void settle(const cli_watch *watch)
{
    uint64_t before = 0;
    for (int i = 0; i < SETTLE_MOST && !cli_interrupted(); i++) {
        uint64_t all = 0;
        bool whole = true;
        size_t size;
        for (int k = 0; k < watch->file_count; k++) {
            const uint64_t print = print_of(watch->files[k].path, &size);
            whole = whole && print != MISSING;
            all = 31 * all + print;
        }
        if (i > 0 && whole && all == before) {
            return;
        }
        before = all;
        pause_for(SETTLE_MS);
    }
}

/* Returns when there is reason for another run, or when the user has had enough. */
static void wait_for_change(const cli_arguments *a, const cli_watch *watch)
{
    enum { LOOKS_PER_LOAD = 5 };
    const watched_file *changed = changed_file(watch);
    bool otherwise = false;
    for (int looks = 1; !changed && !otherwise && !cli_interrupted(); looks++) {
        pause_for(LOOK_MS);
        changed = changed_file(watch);
        otherwise = !changed && !watch->loaded && looks % LOOKS_PER_LOAD == 0 && reads_otherwise(a, watch);
    }
    if (!cli_interrupted()) {
        fprintf(stderr, "\nperp: %s changed\n", changed ? changed->path : "a file of the scene has");
        settle(watch);
    }
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */

/* In the cache, named after the whole path of the scene: half of all scenes are called scene.yaml. */
static bool page_in_cache(const char *scene, char *path, size_t size)
{
    enum { MOST = 200 }; /* characters, of 255 that a file's name may have */
    char *whole = realpath(scene, NULL);
    if (!whole) {
        return false;
    }
    for (char *c = whole; *c; c++) {
        *c = *c == '/' ? '-' : *c;
    }
    const size_t length = strlen(whole);
    const bool found = cli_cache_path(length > MOST ? whole + length - MOST : whole + 1, path, size);
    free(whole);
    return found;
}

static void tell(const char *page, long long number, const char *message)
{
    perp_error error = {0};
    if (perp_replay_tell(page, number, message, &error) != PERP_STATUS_OK) {
        cli_refuse(&error);
    }
}

/* What became of the run, to the page. */
static void tell_page(const cli_watch *watch, const char *page)
{
    const perp_error *e = &watch->failure;
    if (watch->written == watch->number) {
        tell(page, watch->number, "");
    } else if (watch->written != 0 && e->status != PERP_STATUS_OK && e->status != PERP_STATUS_CANCELLED) {
        char place[300] = "", more[40] = "", text[1200];
        if (e->file[0]) {
            snprintf(place, sizeof place, "%s:%d:%d: ", e->file, e->line, e->column);
        }
        if (watch->more > 0) {
            snprintf(more, sizeof more, "\nand %d more", watch->more);
        }
        snprintf(text, sizeof text, "%s%s%s\nShown is the last run that there was.", place, e->message, more);
        tell(page, watch->written, text);
    }
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

/* Runs until interrupted. `opened`: the page is handed to a browser when it is there for the first time. */
static int loop(const cli_arguments *a, cli_run_once *run, const char *page, bool opened)
{
    cli_watch watch = {.scene = a->operand};
    int code = EXIT_DONE;
    while (code == EXIT_DONE && !cli_interrupted()) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        /* Milliseconds: also unlike the numbers of an earlier watch, whose page may still be open. */
        watch.number = 1000LL * now.tv_sec + now.tv_nsec / 1000000;
        watch.failure = (perp_error){0};
        watch.loaded = true;
        const bool first = watch.written == 0;
        take_prints(&watch);
        run(a, &watch); /* its failures were printed, and are no reason to end */
        code = cli_finish(EXIT_DONE);
        if (page) {
            tell_page(&watch, page);
        }
        if (page && first && watch.written != 0 && !(opened && cli_open_browser(page))) {
            fprintf(stderr, "perp: the replay is %s; open it in a browser\n", page);
        }
        if (code == EXIT_DONE && !cli_interrupted()) {
            if (watch.failure.status != PERP_STATUS_CANCELLED) {
                fprintf(stderr, "perp: watching %s and what it uses; Ctrl-C ends\n", a->operand);
            }
            wait_for_change(a, &watch);
        }
    }
    if (watch.written != 0) {
        tell(page, watch.written, "perp no longer watches this scene.");
    }
    for (int i = 0; i < watch.file_count; i++) {
        free(watch.files[i].path);
    }
    free(watch.files);
    return code;
}

int cli_watch_scene(const cli_arguments *a, cli_run_once *run)
{
    static const cli_option html = {.name = "--html", .argument = "FILE"};
    char cached[PATH_MAX];
    struct stat there;
    if (stat(a->operand, &there) != 0 || !S_ISREG(there.st_mode)) {
        return run(a, NULL); /* says what is wrong: a name that was mistyped is not waited for */
    }
    const char *page = cli_value(a, "--html");
    if (page || !cli_can_view()) {
        return loop(a, run, page, false);
    }
    if (!page_in_cache(a->operand, cached, sizeof cached)) {
        return cli_fail(EXIT_REFUSED, "run: there is no folder to keep the page in; say where: --html FILE");
    }
    /* as if --html had been given */
    const size_t count = (size_t)a->count;
    cli_arguments with = *a;
    with.options = malloc((count + 1) * sizeof *with.options);
    with.values = malloc((count + 1) * sizeof *with.values);
    int code = EXIT_REFUSED;
    if (with.options && with.values) {
        memcpy(with.options, a->options, count * sizeof *with.options);
        memcpy(with.values, a->values, count * sizeof *with.values);
        with.options[count] = &html;
        with.values[count] = cached;
        with.count++;
        code = loop(&with, run, cached, true);
    } else {
        cli_fail(EXIT_REFUSED, "out of memory");
    }
    free(with.options);
    free(with.values);
    return code;
}
