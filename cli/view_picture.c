/* Pictures and videos of a replay: what a browser shows of its page. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "browser.h"

/* A piece of what was made, in base64, to be freed; "": there is no more; NULL: it failed, which was explained. */
typedef char *next_text(cli_browser *browser, int piece);

/* Writes all pieces into the browser's folder, and delivers them. */
static int fill(cli_browser *browser, next_text *next, const char *path)
{
    char made[BROWSER_PATH];
    snprintf(made, sizeof made, "%s/made", browser->folder);
    FILE *file = fopen(made, "wb");
    bool written = file != NULL, more = true;
    int code = EXIT_DONE;
    for (int piece = 0; written && more && code == EXIT_DONE; piece++) {
        char *text = next(browser, piece);
        code = text ? EXIT_DONE : EXIT_REFUSED;
        written = !text || cli_write_base64(file, text);
        more = text && text[0];
        free(text);
    }
    written = (!file || fclose(file) == 0) && written;
    if (!written) {
        return cli_fail(EXIT_REFUSED, "view: cannot write `%s`: %s", made, strerror(errno));
    }
    return code == EXIT_DONE ? cli_browser_deliver(made, path) : code;
}

static char *shoot_once(cli_browser *browser, int piece)
{
    return piece == 0 ? cli_browser_shoot(browser) : strdup("");
}

/* One frame: the page asks for a picture of what it shows, or shows what it showed before. */
static bool film_frame(cli_browser *browser, int frame)
{
    char show[64];
    snprintf(show, sizeof show, "perpReplay.film.show(%d)", frame);
    char *state = cli_browser_ask(browser, show);
    char *picture = state && strcmp(state, "new") == 0 ? cli_browser_shoot(browser) : state ? strdup("") : NULL;
    const size_t size = picture ? strlen(picture) + 64 : 0;
    char *add = picture ? malloc(size) : NULL, *added = NULL;
    if (add) {
        snprintf(add, size, "perpReplay.film.add('%s')", picture);
        added = cli_browser_ask(browser, add);
    }
    free(state);
    free(picture);
    free(add);
    free(added);
    return added != NULL;
}

static char *film_piece(cli_browser *browser, int piece)
{
    char ask[64];
    snprintf(ask, sizeof ask, "perpReplay.film.piece(%d)", piece);
    return cli_browser_ask(browser, ask);
}

static int film(cli_browser *browser, const cli_picture *wanted)
{
    char begin[512];
    snprintf(begin, sizeof begin,
             "perpReplay.begin({width: %d, height: %d, fps: %.17g, speed: %.17g, from: %.17g, to: %.17g})",
             wanted->width, wanted->height, wanted->fps, wanted->speed, wanted->from, wanted->to);
    char *answer = cli_browser_ask(browser, begin);
    const int frames = answer ? atoi(answer) : 0;
    bool well = answer != NULL;
    free(answer);
    cli_progress progress = cli_progress_begin();
    for (int i = 0; i < frames && well; i++) {
        well = film_frame(browser, i);
        cli_progress_frames(&progress, i + 1, frames);
    }
    cli_progress_end(&progress);
    const int code = well ? fill(browser, film_piece, wanted->path) : EXIT_REFUSED;
    if (code == EXIT_DONE && frames < wanted->fps) {
        fprintf(stderr, "perp: the video lasts %.2g s; a lower --speed makes it longer\n", frames / wanted->fps);
    }
    return code;
}

static int shoot(cli_browser *browser, const cli_picture *wanted)
{
    char *drawn = cli_browser_ask(browser, "perpReplay.draw(), perpReplay.finish(), 'drawn'");
    const int code = drawn ? fill(browser, shoot_once, wanted->path) : EXIT_REFUSED;
    free(drawn);
    return code;
}

int cli_take_picture(perp_log_reader *const *readers, int count, const cli_picture *wanted)
{
    char asked[96];
    cli_browser browser;
    snprintf(asked, sizeof asked, "picture&at=%.17g&speed=%.4g", wanted->from, wanted->speed);
    int code = cli_browser_open(&browser, readers, count, asked, wanted->width, wanted->height);
    if (code == EXIT_DONE) {
        code = wanted->fps > 0.0 ? film(&browser, wanted) : shoot(&browser, wanted);
    }
    cli_browser_close(&browser);
    return code;
}
