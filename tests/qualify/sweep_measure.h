/* sweep_measure.h - what a sweep measures besides passing: a table of counts and of largest values.
 *
 * Printed at the program's end on stderr as one JSON line, {"measured": {"columns": [[name, "sum" | "max"], ..],
 * "rows": {name: [..], ..}, "listed": {name: {"total": n, "first": [index, ..]}, ..}}}, so that stdout stays one line;
 * tools/qualify.py adds up the tables of the chunks and writes one on its page.
 */
#ifndef PERP_TESTS_QUALIFY_SWEEP_MEASURE_H
#define PERP_TESTS_QUALIFY_SWEEP_MEASURE_H

#include <stdbool.h>

enum { MEASURE_ROWS = 64, MEASURE_COLUMNS = 32 };

typedef struct measure_column {
    const char *name;
    bool largest; /* else counted */
} measure_column;

/* The values of a row, one per column, all zero at first. `columns` are the same in every call. */
double *measure_row(const char *name, const measure_column *columns, int count);

/* Lists a case that is worth looking at under the row's name: the first few by their index, all in the total. */
enum { MEASURE_LISTED = 10 };
void measure_list(const char *name, int index);

static inline void measure_most(double *largest, double value)
{
    if (!(value <= *largest)) { /* NaN is kept */
        *largest = value;
    }
}

#endif
