/* A picture of a replay, taken by a browser that is installed: perp has no renderer of its own. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, PATIENCE = 120 }; /* s: a browser that hangs is ended */

/* The first of these on the PATH; NULL: none. */
static const char *find_browser(void)
{
    static const char *const names[] = {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"};
    const char *path = getenv("PATH");
    for (size_t i = 0; path && i < sizeof names / sizeof *names; i++) {
        for (const char *at = path; *at;) {
            const int length = (int)strcspn(at, ":");
            char file[PATH_SIZE];
            const int size = snprintf(file, sizeof file, "%.*s/%s", length, at, names[i]);
            if (length > 0 && size < (int)sizeof file && access(file, X_OK) == 0) {
                return names[i];
            }
            at += at[length] == ':' ? length + 1 : length;
        }
    }
    return NULL;
}

/* Runs the browser, silently. False: it failed. */
static bool run_browser(char *const arguments[])
{
    const pid_t child = fork();
    if (child == 0) {
        const int nothing = open("/dev/null", O_RDWR);
        if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 || dup2(nothing, 2) < 0) {
            _exit(127);
        }
        alarm(PATIENCE); /* which exec keeps */
        execvp(arguments[0], arguments);
        _exit(127);
    }
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    remove(path);
    return 0;
}

/* `folder` is the browser's own, so that it does not hand the page to one that is open. */
static bool take(const char *browser, const char *folder, const char *picture, const cli_picture *wanted)
{
    char profile[PATH_SIZE], shot[PATH_SIZE + 16], size[64], page[PATH_SIZE];
    snprintf(profile, sizeof profile, "--user-data-dir=%s/profile", folder);
    snprintf(shot, sizeof shot, "--screenshot=%s", picture);
    snprintf(size, sizeof size, "--window-size=%d,%d", wanted->width, wanted->height);
    snprintf(page, sizeof page, "file://%s/page.html#picture&at=%.17g", folder, wanted->t);
    char *arguments[] = {
        (char *)browser,
        "--headless",
        "--run-all-compositor-stages-before-draw", /* else the picture may be taken before the canvas is */
        "--use-gl=angle",
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
        "--hide-scrollbars",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--virtual-time-budget=10000",
        profile,
        shot,
        size,
        page,
        geteuid() == 0 ? "--no-sandbox" : NULL, /* which root has none of; the page is our own */
        NULL};
    return run_browser(arguments);
}

/* A copy: the file may be on another disk. */
static int move_picture(const char *picture, const char *path)
{
    struct stat about;
    FILE *from = stat(picture, &about) == 0 && about.st_size > 0 ? fopen(picture, "rb") : NULL;
    FILE *to = from ? fopen(path, "wb") : NULL;
    char bytes[65536];
    size_t count;
    bool well = from && to;
    while (well && (count = fread(bytes, 1, sizeof bytes, from)) > 0) {
        well = fwrite(bytes, 1, count, to) == count;
    }
    well = (!to || fclose(to) == 0) && well;
    if (from) {
        fclose(from);
    }
    return well ? EXIT_DONE : cli_fail(EXIT_REFUSED, "view: cannot write `%s`: %s", path, strerror(errno));
}

int cli_take_picture(perp_log_reader *const *readers, int count, const cli_picture *wanted)
{
    const char *browser = find_browser(), *place = getenv("TMPDIR");
    char folder[PATH_SIZE / 2], page[PATH_SIZE], picture[PATH_SIZE];
    if (!browser) {
        return cli_fail(EXIT_REFUSED, "view: pictures are taken by Chromium, and there is none on the PATH: install "
                                      "`chromium`, or write the page with -o FILE.html");
    }
    snprintf(folder, sizeof folder, "%s/perp-view-XXXXXX", place && place[0] == '/' ? place : "/tmp");
    if (!mkdtemp(folder)) {
        return cli_fail(EXIT_REFUSED, "view: cannot make the folder `%s`: %s", folder, strerror(errno));
    }
    snprintf(page, sizeof page, "%s/page.html", folder);
    snprintf(picture, sizeof picture, "%s/picture.png", folder);
    int code = cli_write_page(readers, count, 0, page);
    if (code == EXIT_DONE && !take(browser, folder, picture, wanted)) {
        code = cli_fail(EXIT_REFUSED, "view: %s could not take the picture; write the page with -o FILE.html", browser);
    }
    if (code == EXIT_DONE) {
        code = move_picture(picture, wanted->path);
    }
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return code;
}
