/* cell_search.h - all ways to make a number of choices that leave a point.
 *
 * Affine functions are given (cell_dictionary.h), what holds of them in any case, and choices. A choice is made among
 * modes; a mode asks something of the functions of the choice. A *cell* is one mode of every choice such that the
 * polyhedron of all that they ask has a point, and one at which no function that is asked to be above or below 0 is 0
 * (where each alone can be, the mean of those points has them all). So where the modes of a choice exclude each other
 * by such functions, the cells do: of a set that is cut into pieces none is found twice, and no piece on the border of
 * another.
 *
 * The search is depth first, with the undecided choice that has the fewest modes left next. Nothing depends on
 * addresses or time.
 */
#ifndef PERP_SRC_SOLVER_CELL_SEARCH_H
#define PERP_SRC_SOLVER_CELL_SEARCH_H

#include "solver/cell_dictionary.h"

typedef struct perp_cell_choice {
    int first, count;               /* its functions: rows of the table */
    int modes;                      /* how many */
    const unsigned char *relations; /* modes x count: perp_cell_relation */
} perp_cell_choice;

typedef struct perp_cell_problem {
    const perp_cell_table *table;
    const unsigned char *always; /* by function: perp_cell_relation */
    int choice_count;
    const perp_cell_choice *choices;
} perp_cell_problem;

typedef struct perp_cell_search {
    const perp_cell_problem *problem;
    int64_t max_work;            /* entries of dictionaries computed: the same on every machine */
    const volatile bool *cancel; /* may be NULL */
    perp_arena *arena;
    /* Called with every cell: its closed polyhedron, at a point of it, and the mode of every choice. `d` may be moved
     * and asked further. A status that is not OK ends the search with it. */
    perp_status (*found)(void *context, perp_cell_dictionary *d, const int *modes);
    void *context;

    /* The result. */
    int64_t nodes, work;
    bool complete; /* false: there may be more cells: max_work ended the search, or a number was too near to 0 */

    /* Of the search. */
    perp_cell_dictionary *levels; /* choices + 2: one for each depth, and one to spare */
    int *modes;                   /* by choice; -1: undecided */
    perp_status status;
} perp_cell_search;

/* OK, OUT_OF_MEMORY, CANCELLED, and what `found` returns. */
perp_status perp_cell_search_run(perp_cell_search *search);

/* `d` becomes what holds in any case. */
perp_cell_answer perp_cell_begin(const perp_cell_problem *problem, perp_cell_dictionary *d);
/* Asks of every choice the first mode that the functions which are constant by now allow; NO: one has none. */
perp_cell_answer perp_cell_settle(const perp_cell_problem *problem, perp_cell_dictionary *d);

#endif
