/* The browser reads requests on file 3 and answers on file 4: JSON, each message closed by a zero byte. One request is
 * under way at a time. It ends by itself when the pipes close, so that it does not outlive perp. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "browser.h"

enum {
    PATIENCE = 120,       /* s: a browser that does not answer for so long is given up */
    LEAVE_MS = 5000,      /* for which it may tidy up when it is asked to end */
    LOOK_MS = 20,         /* between two looks at whether the page is ready */
    MOST_ANSWER = 1 << 28 /* bytes */
};

static int refuse(const cli_browser *browser, const char *what)
{
    return cli_interrupted()
               ? cli_fail(EXIT_REFUSED, "view: interrupted")
               : cli_fail(EXIT_REFUSED, "view: %s %s; write the page with -o FILE.html", browser->name, what);
}

static void wait_ms(int ms)
{
    const struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

/* The first of these on the PATH; NULL: none. */
static const char *find_browser(void)
{
    static const char *const names[] = {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"};
    const char *path = getenv("PATH");
    for (size_t i = 0; path && i < sizeof names / sizeof *names; i++) {
        for (const char *at = path; *at;) {
            const int length = (int)strcspn(at, ":");
            char file[BROWSER_PATH];
            const int size = snprintf(file, sizeof file, "%.*s/%s", length, at, names[i]);
            if (length > 0 && size < (int)sizeof file && access(file, X_OK) == 0) {
                return names[i];
            }
            at += at[length] == ':' ? length + 1 : length;
        }
    }
    return NULL;
}

/* In the child: nothing said and nothing read but on files 3 and 4. */
static void become(const char *name, const char *folder, int requests, int answers)
{
    char profile[BROWSER_PATH];
    snprintf(profile, sizeof profile, "--user-data-dir=%s/profile",
             folder); /* else it hands over to one that is open */
    char *const arguments[] = {(char *)name,
                               "--headless",
                               "--remote-debugging-pipe",
                               "--use-gl=angle",
                               "--use-angle=swiftshader",
                               "--enable-unsafe-swiftshader",
                               "--hide-scrollbars",
                               "--no-first-run",
                               "--disable-background-networking",
                               "--disable-component-update",
                               profile,
                               "about:blank",
                               geteuid() == 0 ? "--no-sandbox" : NULL, /* which root has none of; the page is our own */
                               NULL};
    const int nothing = open("/dev/null", O_RDWR);
    setpgid(0, 0);
    if (nothing >= 0 && dup2(nothing, 0) >= 0 && dup2(nothing, 1) >= 0 && dup2(nothing, 2) >= 0 &&
        dup2(requests, 3) >= 0 && dup2(answers, 4) >= 0) {
        execvp(name, arguments);
    }
    _exit(127);
}

/* A pipe whose ends are files from 10 on, so that files 3 and 4 are free in the child, and closed in what it starts. */
static bool make_pipe(int ends[2])
{
    int low[2];
    if (pipe(low) != 0) {
        return false;
    }
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 10);
        close(low[i]);
    }
    if (ends[0] >= 0 && ends[1] >= 0) {
        return true;
    }
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0) {
            close(ends[i]);
        }
    }
    return false;
}

static bool start(cli_browser *browser)
{
    int requests[2], answers[2];
    if (!make_pipe(requests)) {
        return false;
    }
    if (!make_pipe(answers)) {
        close(requests[0]);
        close(requests[1]);
        return false;
    }
    browser->process = fork();
    if (browser->process == 0) {
        become(browser->name, browser->folder, requests[0], answers[1]);
    }
    close(requests[0]);
    close(answers[1]);
    browser->to = requests[1];
    browser->from = answers[0];
    return browser->process > 0;
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static bool send_text(cli_browser *browser, const char *text)
{
    size_t left = strlen(text) + 1;
    while (left > 0) {
        const ssize_t done = write(browser->to, text, left);
        if (done < 0 && (errno != EINTR || cli_interrupted())) {
            return false;
        }
        text += done > 0 ? done : 0;
        left -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

/* Reads on until there is a whole message. */
static bool receive(cli_browser *browser)
{
    while (!memchr(browser->received + browser->known, 0, browser->size - browser->known)) {
        browser->known = browser->size;
        if (browser->size + 65536 > browser->room) {
            const size_t room = 2 * browser->room + 65536;
            char *more = room > MOST_ANSWER ? NULL : realloc(browser->received, room);
            if (!more) {
                return false;
            }
            browser->received = more;
            browser->room = room;
        }
        struct pollfd wait = {.fd = browser->from, .events = POLLIN};
        const int ready = poll(&wait, 1, PATIENCE * 1000);
        const ssize_t got = ready > 0 ? read(browser->from, browser->received + browser->size, 65536) : -1;
        if (got > 0) {
            browser->size += (size_t)got;
        } else if (ready >= 0 || errno != EINTR || cli_interrupted()) {
            return false;
        }
    }
    return true;
}

/* The next message, taken out of what was received; NULL: none came. */
static json_t *next_message(cli_browser *browser)
{
    if (!receive(browser)) {
        return NULL;
    }
    const size_t length = strlen(browser->received) + 1;
    json_t *message = json_loadb(browser->received, length - 1, 0, NULL);
    browser->size -= length;
    memmove(browser->received, browser->received + length, browser->size);
    browser->known = 0;
    return message;
}

/* The result of a method; `parameters` is freed. NULL: it failed. */
static json_t *call(cli_browser *browser, const char *method, json_t *parameters)
{
    json_t *request =
        json_pack("{s:I, s:s, s:o}", "id", (json_int_t)++browser->asked, "method", method, "params", parameters);
    if (request && browser->session[0]) {
        json_object_set_new(request, "sessionId", json_string(browser->session));
    }
    char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;
    json_decref(request);
    const bool sent = text && send_text(browser, text);
    free(text);
    json_t *message = NULL, *result = NULL;
    for (bool mine = !sent; !mine;) { /* others are news that nobody asked for */
        json_decref(message);
        message = next_message(browser);
        mine = !message || json_integer_value(json_object_get(message, "id")) == browser->asked;
    }
    result = json_incref(json_object_get(message, "result"));
    json_decref(message);
    return result;
}

/* The text of `name` in a result, to be freed; NULL: there is none. */
static char *take_text(json_t *result, const char *name)
{
    const char *text = json_string_value(json_object_get(result, name));
    char *taken = text ? strdup(text) : NULL;
    json_decref(result);
    return taken;
}

/* What the page's program said when it failed, without where: the first line. */
static void explain(const cli_browser *browser, const json_t *result)
{
    const json_t *thrown = json_object_get(json_object_get(result, "exceptionDetails"), "exception");
    const char *text = json_string_value(json_object_get(thrown, "description"));
    if (!text || cli_interrupted()) {
        refuse(browser, "could not show the page");
        return;
    }
    text += strncmp(text, "Error: ", 7) == 0 ? 7 : 0;
    cli_fail(EXIT_REFUSED, "view: %.*s", (int)strcspn(text, "\n"), text);
}

char *cli_browser_ask(cli_browser *browser, const char *expression)
{
    json_t *result =
        call(browser, "Runtime.evaluate",
             json_pack("{s:s, s:b, s:b}", "expression", expression, "awaitPromise", 1, "returnByValue", 1));
    char *value = take_text(json_incref(json_object_get(result, "result")), "value");
    if (!value) {
        explain(browser, result);
    }
    json_decref(result);
    return value;
}

char *cli_browser_shoot(cli_browser *browser)
{
    char *picture = take_text(
        call(browser, "Page.captureScreenshot", json_pack("{s:s, s:b}", "format", "png", "optimizeForSpeed", 1)),
        "data");
    if (!picture) {
        refuse(browser, "could not take the picture");
    }
    return picture;
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */

/* A tab of the right size that shows the page. */
static bool show(cli_browser *browser, const char *asked, int width, int height)
{
    char address[BROWSER_PATH];
    snprintf(address, sizeof address, "file://%s/page.html#%s", browser->folder, asked);
    char *tab = take_text(call(browser, "Target.createTarget", json_pack("{s:s}", "url", "about:blank")), "targetId");
    char *session =
        tab ? take_text(call(browser, "Target.attachToTarget", json_pack("{s:s, s:b}", "targetId", tab, "flatten", 1)),
                        "sessionId")
            : NULL;
    snprintf(browser->session, sizeof browser->session, "%s", session ? session : "");
    free(tab);
    free(session);
    json_t *sized = browser->session[0] ? call(browser, "Emulation.setDeviceMetricsOverride",
                                               json_pack("{s:i, s:i, s:i, s:b}", "width", width, "height", height,
                                                         "deviceScaleFactor", 1, "mobile", 0))
                                        : NULL;
    json_t *opened = sized ? call(browser, "Page.navigate", json_pack("{s:s}", "url", address)) : NULL;
    const bool shown = opened != NULL;
    json_decref(sized);
    json_decref(opened);
    return shown;
}

/* Waits until the page's program runs, and has a picture. */
static int await_page(cli_browser *browser)
{
    for (int waited = 0; waited < PATIENCE * 1000; waited += LOOK_MS) {
        char *state = cli_browser_ask(browser, "document.getElementById('message')?.textContent || "
                                               "document.documentElement?.dataset.ready || ''");
        if (!state) {
            return EXIT_REFUSED;
        }
        const bool ready = strcmp(state, "true") == 0, failed = !ready && state[0];
        const int code = failed ? cli_fail(EXIT_REFUSED, "view: %s says: %s", browser->name, state) : EXIT_DONE;
        free(state);
        if (ready || failed) {
            return code;
        }
        wait_ms(LOOK_MS);
    }
    return refuse(browser, "does not get the page ready");
}

int cli_browser_open(cli_browser *browser, perp_log_reader *const *readers, int count, const char *asked, int width,
                     int height)
{
    const char *place = getenv("TMPDIR");
    char page[BROWSER_PATH];
    *browser = (cli_browser){.name = find_browser(), .process = -1, .to = -1, .from = -1};
    if (!browser->name) {
        return cli_fail(EXIT_REFUSED, "view: pictures are taken by Chromium, and there is none on the PATH: install "
                                      "`chromium`, or write the page with -o FILE.html");
    }
    snprintf(browser->folder, sizeof browser->folder, "%s/perp-view-XXXXXX", place && place[0] == '/' ? place : "/tmp");
    if (!mkdtemp(browser->folder)) {
        cli_fail(EXIT_REFUSED, "view: cannot make the folder `%s`: %s", browser->folder, strerror(errno));
        browser->folder[0] = '\0';
        return EXIT_REFUSED;
    }
    snprintf(page, sizeof page, "%s/page.html", browser->folder);
    const int code = cli_write_page(readers, count, 0, page);
    if (code != EXIT_DONE) {
        return code;
    }
    return start(browser) && show(browser, asked, width, height) ? await_page(browser)
                                                                 : refuse(browser, "could not be started");
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    remove(path);
    return 0;
}

/* Whether the browser has ended; after it was asked to, or killed with all that it has started. */
static void end_process(cli_browser *browser)
{
    browser->session[0] = '\0';
    json_decref(cli_interrupted() ? NULL : call(browser, "Browser.close", json_object()));
    close(browser->to);
    close(browser->from);
    for (int waited = 0; waitpid(browser->process, NULL, WNOHANG) == 0; waited += LOOK_MS) {
        if (waited >= LEAVE_MS) {
            kill(browser->process, SIGKILL);
            waitpid(browser->process, NULL, 0);
            break;
        }
        wait_ms(LOOK_MS);
    }
    kill(-browser->process, SIGKILL);
}

void cli_browser_close(cli_browser *browser)
{
    if (browser->process > 0) {
        end_process(browser);
    }
    free(browser->received);
    /* what it has started may still write while it is killed */
    for (int tries = 0; browser->folder[0] && access(browser->folder, F_OK) == 0 && tries < 50; tries++) {
        if (tries > 0) {
            wait_ms(LOOK_MS);
        }
        nftw(browser->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
}

/* ---- what it made ------------------------------------------------------------------------------------------------ */

/* 0 to 63; -1: not a digit. */
static int digit_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

bool cli_write_base64(FILE *file, const char *base64)
{
    unsigned bits = 0;
    int count = 0;
    for (int digit; (digit = digit_of(*base64)) >= 0; base64++) {
        bits = (bits << 6 | (unsigned)digit) & 0xffffffu;
        count += 6;
        if (count >= 8) {
            count -= 8;
            if (putc((int)(bits >> count & 0xffu), file) == EOF) {
                return false;
            }
        }
    }
    return *base64 == '\0' || *base64 == '=';
}

int cli_browser_deliver(const char *made, const char *path)
{
    struct stat about;
    FILE *from = stat(made, &about) == 0 && about.st_size > 0 ? fopen(made, "rb") : NULL;
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
