#include "cli.h"

#include <errno.h>
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

/* In the user's cache, under the log's own name: looking twice leaves one file. False: there is no such place. */
static bool cache_path(const char *log, char *path, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *slash = strrchr(log, '/');
    const char *name = slash ? slash + 1 : log;
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

/* Hands the page to the desktop's browser. False: there is no desktop, or nothing that opens it. */
static bool open_browser(const char *path)
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

int cli_write_page(perp_log_reader *const *readers, int count, const char *path)
{
    perp_error error = {0};
    const perp_status status = perp_replay_write(readers, count, NULL, path, &error);
    return status == PERP_STATUS_OK ? EXIT_DONE : cli_refuse(&error);
}

static int show(const cli_arguments *a, perp_log_reader *const *readers)
{
    char cached[4096];
    const char *path = cli_value(a, "-o");
    const bool given = path != NULL;
    if (!given) {
        if (!cache_path(a->operand, cached, sizeof cached)) {
            return cli_fail(EXIT_REFUSED, "view: there is no folder to keep the page in; say where: -o FILE.html");
        }
        path = cached;
    }
    const int code = cli_write_page(readers, a->operand_count, path);
    if (code == EXIT_DONE && (given || !open_browser(path))) {
        printf("%s\n", path);
        if (!given) {
            fprintf(stderr, "perp: no browser could be opened from here; open the file above in one\n");
        }
    }
    return code;
}

static int run(const cli_arguments *a)
{
    perp_log_reader *readers[PERP_REPLAY_MOST_LOGS] = {0};
    int code = EXIT_DONE;
    if (!cli_can_view()) {
        return EXIT_REFUSED;
    }
    for (int i = 0; i < a->operand_count && code == EXIT_DONE; i++) {
        code = cli_keep(a, a->operands[i], "-o");
        code = code == EXIT_DONE ? cli_open_log(a->operands[i], &readers[i]) : code;
    }
    if (code == EXIT_DONE) {
        code = show(a, readers);
    }
    for (int i = 0; i < a->operand_count; i++) {
        perp_log_reader_free(readers[i]);
    }
    return code;
}

static const cli_option options[] = {
    {"-o", "FILE.html", "write the page here, and do not open it"},
};

const cli_command cli_view = {
    .name = "view",
    .operand = "LOG...",
    .operand_most = PERP_REPLAY_MOST_LOGS,
    .summary = "look at run logs in a browser: motion, forces in their cones, plots",
    .details = "examples:\n"
               "  perp run scene.yaml --log run.mcap\n"
               "  perp view run.mcap                                    opens the page in your browser\n"
               "  perp view run.mcap -o run.html                        writes it, to keep or to send\n"
               "  perp run scene.yaml --html run.html                   both steps in one\n\n"
               "Several logs of one scene, to compare models or settings:\n"
               "  perp run scene.yaml --model qs-qp --log qp.mcap\n"
               "  perp run scene.yaml --model qs-ncp --log ncp.mcap\n"
               "  perp view qp.mcap ncp.mcap -o compare.html\n\n"
               "The page is one file that needs no network. Space plays, the arrow keys step, ? lists the keys.\n",
    .options = options,
    .option_count = (int)(sizeof options / sizeof *options),
    .run = run,
};
