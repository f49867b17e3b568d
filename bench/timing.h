/* timing.h - what the benchmarks share: a clock, order statistics, and a line about the machine. */
#ifndef PERP_BENCH_TIMING_H
#define PERP_BENCH_TIMING_H

#include <stdio.h>

/* Seconds of a monotonic clock. */
double timing_now(void);
double timing_processor(void); /* s that this process has run: what others do to the machine is not in it */

/* Of per-evaluation times. Sorts the samples. */
typedef struct timing_stats {
    double min, median, p99;
} timing_stats;
timing_stats timing_summary(double *samples, int count);

/* The processor as /proc/cpuinfo names it, the compiler, and the load average before the run: a load near or above the
 * number of cores means that the figures were taken on a busy machine. */
void timing_machine(FILE *out, const char *format) __attribute__((format(printf, 2, 0)));

#endif
