/* A Chromium that is installed, driven through two pipes (its DevTools protocol), without a window: perp has no
 * renderer of its own. */
#ifndef PERP_CLI_BROWSER_H
#define PERP_CLI_BROWSER_H

#include <stddef.h>
#include <sys/types.h>

#include "cli.h"

enum { BROWSER_PATH = 4096 };

typedef struct cli_browser {
    char folder[BROWSER_PATH / 2]; /* of the page, the browser's own files and what is made: removed with it */
    const char *name;              /* of the program */
    pid_t process;
    int to, from; /* pipes */
    char session[64];
    long asked;               /* requests so far */
    char *received;           /* what was not looked at yet */
    size_t size, room, known; /* the first `known` bytes of it are within one message */
} cli_browser;

/* Opens the page of the logs in a browser of its own, in an area of so many pixels; `asked` stands behind the # of the
 * page's address. EXIT_DONE, or EXIT_REFUSED, explained. Closing is due whatever it returned. */
int cli_browser_open(cli_browser *browser, perp_log_reader *const *readers, int count, const char *asked, int width,
                     int height);
void cli_browser_close(cli_browser *browser);

/* The value of a JavaScript expression, awaited, as text; to be freed. NULL: it failed, which was explained. */
char *cli_browser_ask(cli_browser *browser, const char *expression);
/* What the area shows: a PNG in base64; to be freed. NULL: it failed, which was explained. */
char *cli_browser_shoot(cli_browser *browser);

/* Appends what `base64` says to a file; false: it was not written. */
bool cli_write_base64(FILE *file, const char *base64);
/* Copies a file that was made in the browser's folder to where the user wants it; the folder may be on another disk. */
int cli_browser_deliver(const char *made, const char *path);

#endif
