#include "sweep_measure.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {
    char name[48];
    double values[MEASURE_COLUMNS];
    int listed, first[MEASURE_LISTED];
} row;

static row rows[MEASURE_ROWS];
static int row_count, column_count;
static const measure_column *table_columns;

static void print_listed(void)
{
    const char *between = "";
    fprintf(stderr, "}, \"listed\": {");
    for (int i = 0; i < row_count; i++) {
        if (rows[i].listed == 0) {
            continue;
        }
        fprintf(stderr, "%s\"%s\": {\"total\": %d, \"first\": [", between, rows[i].name, rows[i].listed);
        for (int k = 0; k < rows[i].listed && k < MEASURE_LISTED; k++) {
            fprintf(stderr, "%s%d", k ? ", " : "", rows[i].first[k]);
        }
        fprintf(stderr, "]}");
        between = ", ";
    }
    fprintf(stderr, "}}}\n");
}

static void print_table(void)
{
    fprintf(stderr, "{\"measured\": {\"columns\": [");
    for (int k = 0; k < column_count; k++) {
        fprintf(stderr, "%s[\"%s\", \"%s\"]", k ? ", " : "", table_columns[k].name,
                table_columns[k].largest ? "max" : "sum");
    }
    fprintf(stderr, "], \"rows\": {");
    for (int i = 0; i < row_count; i++) {
        fprintf(stderr, "%s\"%s\": [", i ? ", " : "", rows[i].name);
        for (int k = 0; k < column_count; k++) {
            const double value = rows[i].values[k];
            fprintf(stderr, "%s%.6g", k ? ", " : "", value < 1e300 ? value : 1e300); /* JSON has no infinity */
        }
        fprintf(stderr, "]");
    }
    print_listed();
}

double *measure_row(const char *name, const measure_column *columns, int count)
{
    if (row_count == 0) {
        table_columns = columns;
        column_count = count;
        atexit(print_table);
    }
    for (int i = 0; i < row_count; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return rows[i].values;
        }
    }
    assert(row_count < MEASURE_ROWS && count <= MEASURE_COLUMNS);
    snprintf(rows[row_count].name, sizeof rows[0].name, "%s", name);
    return rows[row_count++].values;
}

void measure_list(const char *name, int index)
{
    for (int i = 0; i < row_count; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            if (rows[i].listed < MEASURE_LISTED) {
                rows[i].first[rows[i].listed] = index;
            }
            rows[i].listed++;
        }
    }
}
