#include "cli.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- where a page goes that was not given a place ---------------------------------------------------------------- */

/* Makes `folder` and what is missing above it. */
static bool make_folders(char *folder)
{
    for (char *at = folder + 1; *at; at++) {
        if (*at == '/') {
            *at = '\0';
            const bool made = mkdir(folder, 0700) == 0 || errno == EEXIST;
            *at = '/';
            if (!made) {
                return false;
            }
        }
    }
    return mkdir(folder, 0700) == 0 || errno == EEXIST;
}

bool cli_cache_path(const char *name, char *path, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length;
    if (cache && cache[0] == '/') {
        length = snprintf(path, size, "%s/perp", cache);
    } else if (home && home[0] == '/') {
        length = snprintf(path, size, "%s/.cache/perp", home);
    } else {
        length = snprintf(path, size, "/tmp/perp-%ld", (long)getuid());
    }
    if (length < 0 || (size_t)length + strlen(name) + 7 > size || !make_folders(path)) {
        return false;
    }
    snprintf(path + length, size - (size_t)length, "/%s.html", name);
    return true;
}

bool cli_open_browser(const char *path)
{
    const char *display = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    if (!(display && display[0]) && !(wayland && wayland[0])) {
        return false;
    }
    const pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) {
            _exit(127);
        }
        execlp("xdg-open", "xdg-open", path, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

bool cli_can_view(void)
{
    if (!perp_replay_available()) {
        cli_fail(EXIT_REFUSED, "this build of perp has no replay page: install nodejs and npm and build it again with "
                               "-DPERP_VIEWER=ON (`make build` does both)");
    }
    return perp_replay_available();
}

int cli_write_page(perp_log_reader *const *readers, int count, long long watched, const char *path)
{
    perp_error error = {0};
    perp_replay_options options = perp_replay_options_default();
    options.watched = watched;
    const perp_status status = perp_replay_write(readers, count, &options, path, &error);
    return status == PERP_STATUS_OK ? EXIT_DONE : cli_refuse(&error);
}

static int show(const cli_arguments *a, perp_log_reader *const *readers)
{
    char cached[4096];
    const char *path = cli_value(a, "-o");
    const bool given = path != NULL;
    if (!given) {
        const char *slash = strrchr(a->operand, '/'); /* the page has the log's own name */
        if (!cli_cache_path(slash ? slash + 1 : a->operand, cached, sizeof cached)) {
            return cli_fail(EXIT_REFUSED, "view: there is no folder to keep the page in; say where: -o FILE.html");
        }
        path = cached;
    }
    const int code = cli_write_page(readers, a->operand_count, 0, path);
    if (code == EXIT_DONE && (given || !cli_open_browser(path))) {
        printf("%s\n", path);
        if (!given) {
            fprintf(stderr, "perp: no browser could be opened from here; open the file above in one\n");
        }
    }
    return code;
}

/* Reads a number that an option gives; false: it is none, which was said. */
static bool read_number(const cli_arguments *a, const char *name, const char *what, double least, double *number)
{
    const char *text = cli_value(a, name);
    char *end = "";
    const double value = text ? strtod(text, &end) : *number;
    const bool well = !text || (end != text && !*end && isfinite(value) && value >= least);
    if (!well) {
        cli_fail(EXIT_USAGE, "view: %s needs %s, not `%s`", name, what, text);
    }
    *number = well ? value : *number;
    return well;
}

/* The first of these options that was given; NULL: none. */
static const char *first_given(const cli_arguments *a, const char *const *names)
{
    while (*names && !cli_value(a, *names)) {
        names++;
    }
    return *names;
}

/* EXIT_DONE where every option has what it belongs to. */
static int check_options(const cli_arguments *a)
{
    static const char *const of_picture[] = {"--at", NULL}, *const of_both[] = {"--size", NULL};
    static const char *const of_video[] = {"--fps", "--speed", "--from", "--to", NULL};
    const char *png = cli_value(a, "--png"), *video = cli_value(a, "--video"), *lost = NULL;
    if (!png && (lost = first_given(a, of_picture))) {
        return cli_fail(EXIT_USAGE, "view: %s is for --png", lost);
    }
    if (!video && (lost = first_given(a, of_video))) {
        return cli_fail(EXIT_USAGE, "view: %s is for --video", lost);
    }
    if (!png && !video && (lost = first_given(a, of_both))) {
        return cli_fail(EXIT_USAGE, "view: %s is for --png and --video", lost);
    }
    if ((png && video) || ((png || video) && cli_value(a, "-o"))) {
        return cli_fail(EXIT_USAGE, "view: give one of -o FILE.html, --png FILE and --video FILE");
    }
    return EXIT_DONE;
}

/* What --png or --video and their options ask for. */
static int read_picture(const cli_arguments *a, cli_picture *wanted)
{
    const char *size = cli_value(a, "--size"), *png = cli_value(a, "--png"), *time = "a time in seconds";
    char rest;
    const int code = check_options(a);
    *wanted = (cli_picture){.path = png ? png : cli_value(a, "--video"),
                            .width = 1000,
                            .height = 700,
                            .from = -DBL_MAX,
                            .to = DBL_MAX,
                            .speed = 1.0};
    if (code != EXIT_DONE || !wanted->path) {
        return code;
    }
    wanted->fps = png ? 0.0 : 30.0;
    if (!read_number(a, png ? "--at" : "--from", time, -DBL_MAX, &wanted->from) ||
        !read_number(a, "--to", time, -DBL_MAX, &wanted->to) ||
        !read_number(a, "--fps", "pictures per second, 1 to 120", 1.0, &wanted->fps) ||
        !read_number(a, "--speed", "a factor above 0: 0.1 shows a tenth of the motion's speed", 1e-9, &wanted->speed)) {
        return EXIT_USAGE;
    }
    if (wanted->fps > 120.0) {
        return cli_fail(EXIT_USAGE, "view: --fps needs pictures per second, 1 to 120, not `%s`", cli_value(a, "--fps"));
    }
    if (wanted->to < wanted->from) {
        return cli_fail(EXIT_USAGE, "view: --to is before --from");
    }
    if (size && (sscanf(size, "%dx%d%c", &wanted->width, &wanted->height, &rest) != 2 || wanted->width < 100 ||
                 wanted->height < 100 || wanted->width > 8000 || wanted->height > 8000)) {
        return cli_fail(EXIT_USAGE, "view: --size needs WIDTHxHEIGHT, each of 100 to 8000 pixels, not `%s`", size);
    }
    return EXIT_DONE;
}

static int picture(perp_log_reader *const *readers, int count, const cli_picture *wanted)
{
    const int code = cli_take_picture(readers, count, wanted);
    if (code == EXIT_DONE) {
        printf("%s\n", wanted->path);
    }
    return code;
}

static int run(const cli_arguments *a)
{
    cli_picture wanted;
    perp_log_reader *readers[PERP_REPLAY_MOST_LOGS] = {0};
    int code = read_picture(a, &wanted);
    if (code != EXIT_DONE) {
        return code;
    }
    if (!cli_can_view()) {
        return EXIT_REFUSED;
    }
    for (int i = 0; i < a->operand_count && code == EXIT_DONE; i++) {
        code = cli_keep(a, a->operands[i], cli_value(a, "--png") ? "--png" : wanted.path ? "--video" : "-o");
        code = code == EXIT_DONE ? cli_open_log(a->operands[i], &readers[i]) : code;
    }
    if (code == EXIT_DONE) {
        code = wanted.path ? picture(readers, a->operand_count, &wanted) : show(a, readers);
    }
    for (int i = 0; i < a->operand_count; i++) {
        perp_log_reader_free(readers[i]);
    }
    return code;
}

static const cli_option options[] = {
    {"-o", "FILE.html", "write the page here, and do not open it"},
    {"--png", "FILE", "write a picture of the bodies and forces, taken by the installed Chromium"},
    {"--at", "T", "of the picture: the time in seconds; default: the start"},
    {"--video", "FILE", "write a WebM video of the run, frame by frame, by the installed Chromium"},
    {"--fps", "N", "of the video: pictures per second; default: 30"},
    {"--speed", "X", "of the video: seconds of the run in one of the video; default: 1"},
    {"--from", "T", "of the video: where it begins; default: the start"},
    {"--to", "T", "of the video: where it ends; default: the end"},
    {"--size", "WxH", "of picture and video, in pixels; default: 1000x700"},
};

const cli_command cli_view = {
    .name = "view",
    .operand = "LOG...",
    .operand_most = PERP_REPLAY_MOST_LOGS,
    .summary = "look at run logs in a browser: motion, forces in their cones, plots",
    .details =
        "examples:\n"
        "  perp run scene.yaml --log run.mcap\n"
        "  perp view run.mcap                                    opens the page in your browser\n"
        "  perp view run.mcap -o run.html                        writes it, to keep or to send\n"
        "  perp view run.mcap --png run.png --at 0.25            a picture of one moment\n"
        "  perp view run.mcap --video run.webm --speed 0.1       a video, ten times slower than the motion\n"
        "  perp run scene.yaml --html run.html                   both steps in one\n"
        "  perp run scene.yaml --watch                           a page that follows the scene as you write it\n\n"
        "Several logs of one scene, to compare models or settings:\n"
        "  perp run scene.yaml --model qs-qp --log qp.mcap\n"
        "  perp run scene.yaml --model qs-ncp --log ncp.mcap\n"
        "  perp view qp.mcap ncp.mcap -o compare.html\n\n"
        "The page is one file that needs no network. Space plays, the arrow keys step, ? lists the keys.\n",
    .options = options,
    .option_count = (int)(sizeof options / sizeof *options),
    .run = run,
};
