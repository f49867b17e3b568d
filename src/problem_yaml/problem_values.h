/* problem_values.h - the matrices and vectors of problem files.
 *
 * A size is told by one value and expected of others, so each size carries the words that say who told it. Where nobody
 * did it is unknown, and values are read without a judgement on their number: what is wrong in them is reported all the
 * same. No memory is taken for a matrix before its size is agreed on, whatever a file claims. */
#ifndef PERP_SRC_PROBLEM_YAML_PROBLEM_VALUES_H
#define PERP_SRC_PROBLEM_YAML_PROBLEM_VALUES_H

#include "yaml/decode.h"

enum { SIZE_UNKNOWN = -1 };

typedef struct told_size {
    int count;
    char by[48]; /* "M has 2 rows" */
} told_size;

told_size perp_size_unknown(void);
told_size perp_size_told(int count, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The reader of a key whose value is read later, when the sizes are known: target is a const yaml_node *. */
bool perp_note_place(decoder *d, const yaml_node *node, void *target);

/* What a matrix is expected to be; `values` (row by row, zero rows: NULL) is set if it is. */
typedef struct matrix_value {
    const char *name;
    bool square; /* where nobody told how large it is, it tells: both sizes are filled */
    told_size rows, cols;
    double *values;
} matrix_value;

bool perp_read_matrix(decoder *d, const yaml_node *node, matrix_value *matrix);
/* The place of entry (i, j) of a matrix that was read, or of (j, i) where that one is not written; NULL: neither is. */
const yaml_node *perp_matrix_entry(const yaml_node *matrix, int i, int j);

/* The size of a square matrix or of a vector that says how large the problem is. `what` as in "M has no rows". */
bool perp_size_allowed(decoder *d, const yaml_node *node, int n, const char *name, const char *what);

/* A list of as many numbers as told. NaN, which no file can give, stands for what could not be read; NULL where the
 * number of them is not the right one or unknown. */
bool perp_read_numbers(decoder *d, const yaml_node *node, const told_size *size, read_function *read, double **values);

/* A number from 0 to below n, which may be unknown. */
bool perp_read_index(decoder *d, const yaml_node *node, int n, int *index);

/* Bounds that no number can meet are told here, where their place is known. Either may be missing (NULL both). */
bool perp_check_bounds(decoder *d, const yaml_node *lower_node, const double *lower, const yaml_node *upper_node,
                       const double *upper);

#endif
