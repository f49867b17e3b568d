/* options.h - the command line that all benchmarks share: [--json FILE] [--samples N]. */
#ifndef PERP_BENCH_OPTIONS_H
#define PERP_BENCH_OPTIONS_H

typedef struct bench_options {
    const char *json; /* where the numbers go; NULL: nowhere */
    int samples;
} bench_options;

/* `limits.samples` is the default. More than `most` is cut to it, because run.sh passes one N to all; fewer than
 * `least`, and anything that is not understood, ends the program with exit code 2 and the usage. */
typedef struct bench_option_limits {
    int least, samples, most;
} bench_option_limits;

bench_options bench_options_read(int argc, char **argv, bench_option_limits limits);

#endif
