#include "cli.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

cli_progress cli_progress_begin(void)
{
    cli_progress progress = {isatty(STDERR_FILENO) == 1, seconds(), 0.0};
    return progress;
}

/* "STEP 3 of 8  DETAIL  2 s left" */
static void draw(cli_progress *progress, int done, int total, const char *step, const char *detail)
{
    enum { WIDTH = 30 };
    const bool last = done == total; /* shown: explaining it may take seconds */
    if (!progress->active || total <= 0 || done <= 0) {
        return;
    }
    const double now = seconds();
    if (now - progress->started < 0.3 || (now - progress->drawn < 0.1 && !last)) {
        return;
    }
    progress->drawn = now;
    char bar[WIDTH + 1];
    const int filled = (int)((double)WIDTH * done / total);
    memset(bar, '.', WIDTH);
    memset(bar, '#', (size_t)filled);
    bar[WIDTH] = '\0';
    const double left = (now - progress->started) * (total - done) / done;
    fprintf(stderr, "\r[%s] %3d %%  %s %d of %d  %s%.0f s left \033[K", bar, (int)(100.0 * done / total), step, done,
            total, detail, left);
}

void cli_progress_update(cli_progress *progress, int done, int total, double t)
{
    char time[40];
    if ((done & 15) && done != total) {
        return;
    }
    snprintf(time, sizeof time, "t = %.4g s  ", t);
    draw(progress, done, total, "step", time);
}

void cli_progress_cases(cli_progress *progress, int done, int cases)
{
    draw(progress, done, cases, "case", "");
}

void cli_progress_frames(cli_progress *progress, int done, int frames)
{
    draw(progress, done, frames, "frame", "");
}

void cli_progress_end(cli_progress *progress)
{
    if (progress->drawn > 0.0) {
        fputs("\r\033[K", stderr);
    }
}

static volatile sig_atomic_t interrupted;
static volatile bool interrupt_flag; /* one byte: written at once on every machine that this runs on */

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
    interrupt_flag = true;
}

bool cli_interrupted(void)
{
    return interrupted != 0;
}

const volatile bool *cli_interrupt_flag(void)
{
    return &interrupt_flag;
}

/* One request is polite; a second of the same signal has its default effect. */
void cli_catch_interrupts(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is then an error of the write, which is reported */
    signal(SIGPIPE, SIG_IGN); /* likewise a closed pipe */
}
