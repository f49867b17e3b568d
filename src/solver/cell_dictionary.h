/* cell_dictionary.h - polyhedra of affine functions, by the simplex method on dictionaries.
 *
 * A table holds `rows` affine functions of `columns` free parameters. A polyhedron is told by what is asked of some of
 * the functions: to be 0, at least 0 or at most 0. A dictionary writes as many variables as there are functions (the
 * functions and the parameters are the variables) as affine functions of the others, its columns:
 *     x_row = b_row + sum_column a_(row, column) x_column.
 * Invariants between calls: with all columns at 0 every variable has what is asked of it, so that b is a point of the
 * polyhedron; a variable that is asked to be 0 is either a column that was dropped or a row of zeros. So the columns
 * left, each of which may go the way that its variable may, are coordinates of the polyhedron.
 *
 * Of an lcp the parameters are z and the functions w (lcp_search.h); the modes of contacts have more functions than
 * parameters (cell_search.h).
 */
#ifndef PERP_SRC_SOLVER_CELL_DICTIONARY_H
#define PERP_SRC_SOLVER_CELL_DICTIONARY_H

#include "base/arena.h"
#include "solver/exact_minor.h"

#include <stdint.h>

typedef enum perp_cell_relation {
    PERP_CELL_ANY,
    PERP_CELL_AT_LEAST, /* >= 0 */
    PERP_CELL_AT_MOST,  /* <= 0 */
    PERP_CELL_EQUAL,    /* = 0 */
    /* For choices (cell_search.h): as the two above, and not 0 all over the polyhedron. */
    PERP_CELL_ABOVE,
    PERP_CELL_BELOW
} perp_cell_relation;

typedef struct perp_cell_table {
    int rows, columns;
    double *a; /* rows x columns; about 1, see perp_cell_scale */
    double *b; /* rows */
    /* NULL where `a` is known to rounding only: what is as small counts as 0. */
    struct perp_cell_exact *exact;
} perp_cell_table;

/* Of a table whose entries are the data of a problem: whether an entry of a dictionary is 0 or merely as small as
 * rounding, and its sign, without rounding. */
typedef struct perp_cell_exact {
    uint32_t *residue; /* rows x columns: `a` by perp_exact_residue */
    perp_exact_minor minor;
    double *matrix; /* rows x rows */
    int *index;     /* rows: 0, 1, ... */
} perp_cell_exact;

typedef struct perp_cell_dictionary {
    const perp_cell_table *table;
    int columns;          /* those left; dropped ones stand behind them in `column` */
    int pivots;           /* since it was built from the table */
    int endless;          /* after WITHOUT_END: the column along which there is none */
    double way;           /* and its sign */
    int64_t *work;        /* entries computed and copied so far, of all dictionaries that count there */
    bool doubtful;        /* a decision rested on a number too near to CELL_ZERO; stays set, whatever is copied here */
    double *a;            /* (table rows + 1) x table columns; the last row is the objective's */
    double *b;            /* table rows + 1 */
    uint32_t *residue;    /* table rows x table columns: of a, without rounding; NULL where the table has none */
    int *row, *column;    /* variables: a function by its row of the table, parameter j as table rows + j */
    int *place;           /* by variable: its row, or ~column */
    unsigned char *asked; /* by variable: perp_cell_relation, the first four */
    unsigned char *goal;  /* by variable: perp_cell_goal, of perp_cell_build */
} perp_cell_dictionary;

/* What becomes of a variable. */
typedef enum perp_cell_goal { PERP_CELL_ROW, PERP_CELL_COLUMN, PERP_CELL_DROPPED } perp_cell_goal;

typedef enum perp_cell_answer {
    PERP_CELL_YES,
    PERP_CELL_NO,
    PERP_CELL_WITHOUT_END, /* of a largest value */
    PERP_CELL_TROUBLE      /* pivots ran out, or a dictionary built afresh disagrees */
} perp_cell_answer;

/* Brings the entries of a table near to 1, by powers of two: row i is multiplied by 2^row[i], and parameter j is
 * 2^column[j] times the new one. What is no more than rounding of the terms that it is the sum of, `size` by row, is
 * made 0. False: an entry that is not 0 will count as 0 (CELL_ZERO), so that answers may be those of another
 * table. */
bool perp_cell_scale(perp_cell_table *table, const double *size, int *row, int *column);

/* Fills table->exact. False without memory. */
bool perp_cell_make_exact(perp_cell_table *table, perp_arena *arena);

/* `work` is the caller's. False without memory. */
bool perp_cell_dictionary_create(perp_cell_dictionary *d, const perp_cell_table *table, int64_t *work,
                                 perp_arena *arena);
/* All of the space. */
void perp_cell_dictionary_start(perp_cell_dictionary *d);
void perp_cell_dictionary_copy(perp_cell_dictionary *to, const perp_cell_dictionary *from);

/* Asks this of a function, with all that was asked before; NO: that leaves no point. ABOVE and BELOW count as AT_LEAST
 * and AT_MOST. The dictionary is of no use after an answer other than YES. */
perp_cell_answer perp_cell_ask(perp_cell_dictionary *d, int function, perp_cell_relation relation);

/* Whether sign times the function is positive somewhere; moves to another point on the way. */
perp_cell_answer perp_cell_can_be_positive(perp_cell_dictionary *d, int function, double sign);

/* Moves to a point at which `weights` (by parameter) times the parameters are largest: YES, or WITHOUT_END. With `stay`
 * only such points are left. */
perp_cell_answer perp_cell_largest(perp_cell_dictionary *d, const double *weights, bool stay);

/* Exchanges columns that nothing is asked of for rows of which something is, as far as there are any. Columns left
 * without such a row change nothing that is asked: they are lines. `d` must be built, with few pivots since. */
void perp_cell_bound_columns(perp_cell_dictionary *d);

/* Computes d from the table with complete pivoting, without regard to what is asked: every variable whose goal is ROW
 * becomes one, false if one cannot; others may stay rows. No column is dropped. */
bool perp_cell_exchange(perp_cell_dictionary *d);
/* The same, then drops what is to be, and checks what is asked: YES or TROUBLE. */
perp_cell_answer perp_cell_build(perp_cell_dictionary *d);
/* The same dictionary built afresh. */
perp_cell_answer perp_cell_rebuild(perp_cell_dictionary *d);

/* Whether the function is the same all over the space of the columns left. */
bool perp_cell_is_constant(const perp_cell_dictionary *d, int function);
double perp_cell_value(const perp_cell_dictionary *d, int variable);
/* After WITHOUT_END (or with `endless` and `way` set): how fast the variable grows along the ray. */
double perp_cell_along_ray(const perp_cell_dictionary *d, int variable);
/* The parameters at the dictionary's point. */
void perp_cell_point(const perp_cell_dictionary *d, double *parameters);

#endif
