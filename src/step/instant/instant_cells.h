/* instant_cells.h - the solutions at one instant, by the modes of contacts.
 *
 * A contact is open, sticks, or slides on with its friction in a corner of D or on an edge of it; a limit holds or lets
 * go. Which of these it is, is told by the rates alone, and so the modes cut the space of rates into cells, of which no
 * two meet. With the modes given what is left is linear, in rates x and forces together:
 *
 *     open                     f = 0                        u_n > 0
 *     sticks                   f in the cone of mu D        u_n = 0,  u_t = 0
 *     slides, friction on edge k      facet_k . ft = mu fn  u_n = 0,  u_t = -s facet_k, s > 0
 *     slides, friction in a corner    on both of its edges  u_n = 0,  -u_t between the facets of both
 *
 * The equations are eliminated, so that the parameters left are the forces or fewer, and the cells that have a point
 * are found by cell_search.h. That is far less than the complementary bases of the LCP (instant.h), in which a contact
 * has as many unknowns as D has corners: forces that are not unique are one polyhedron here, whose corners nobody asks
 * for, and a force on the edge of its cone is not a mode of its own where the contact sticks. */
#ifndef PERP_SRC_STEP_INSTANT_CELLS_H
#define PERP_SRC_STEP_INSTANT_CELLS_H

#include "solver/cell_search.h"
#include "solver/polyhedron_hull.h"
#include "step/instant/instant.h"

/* What is asked, and the units in which its numbers are about 1. */
typedef struct instant_cells_system {
    const perp_contact_qp *p;
    const rigid_polygon *wide; /* D with two friction directions */
    const double *mu;          /* by contact */
    const instant_kind *kind;  /* by contact */
    double (*slip)[3];         /* by contact: v_t / |v_t| where it is INSTANT_SLIDE */
    const double *unit;        /* p->n: x_k of p is rate * unit[k] times the unknown; NULL: 1 */
    double rate, force;
} instant_cells_system;

/* An answer in the units of p. */
typedef struct instant_cells_point {
    double *x, *y;         /* p->n, p->equality_count */
    double *force;         /* by row of the contacts */
    double *lower, *upper; /* p->n: of limits */
} instant_cells_point;

typedef struct instant_cells {
    const instant_cells_system *system;
    int64_t max_work; /* entries of dictionaries that the search may compute: some 1e9 in a second */
    const volatile bool *cancel;
    perp_arena arena;

    /* ---- unknowns: x, y, then fn or fn and ft of contacts, then limits; instant_cells.c ---- */
    int unknowns, equations;
    int *force_at;         /* by contact: its first unknown; -1: it takes no part */
    ptrdiff_t *jacobian;   /* by contact: where its rows begin */
    int *limit_at;         /* 2 n: unknown of the lower, of the upper limit; -1: none */
    double *matrix;        /* equations x (unknowns + 1), in the end one unknown per row by the parameters */
    double *equation_size; /* by equation: the largest entry of x and y that it had */
    int *given_by;         /* by unknown: the row that gives it; -1: it is a parameter */
    int *parameter;        /* by unknown; -1: none */
    bool none;             /* the equations contradict each other */
    bool uncertain;        /* an entry that is not quite 0 was taken for it */

    perp_cell_table table; /* functions of contacts, of limits, of work, then x_k less a point */
    double *size;          /* by function: of the terms that it is the sum of */
    int *row_exponent;     /* by function: as perp_cell_scale has them */
    int *column_exponent;  /* by parameter */
    double *rate_constant; /* n: the table's of the rates, when no point is taken off */
    unsigned char *always, *polygon_modes;
    perp_cell_choice *choices;
    int first_rate; /* the function of x_0 */
    perp_cell_problem problem;

    /* ---- scratch ---- */
    double *row;                  /* unknowns + 1: a function of the unknowns */
    double *weights, *parameters; /* by parameter */
    double *at;                   /* unknowns */
    bool *zero;                   /* by function of a choice */
    perp_cell_dictionary spare[2];
    int64_t work;
    instant_cells_point point;
} instant_cells;

/* Called with convex sets of rates that are solutions, all of which together are all there are: one for every cell,
 * less those that are known to be another's. The hull is in the units of the search (x_k of p is rate * unit[k] times
 * its coordinate k), in the cells' memory. `point` has the rates of a set of one point and forces that go with it;
 * NULL: there are more. */
typedef perp_status instant_cells_found(void *context, const perp_polyhedron *hull, const instant_cells_point *point);

typedef struct instant_cells_result {
    bool complete;  /* all cells were found */
    bool described; /* and the sets of all */
    int64_t nodes, work;
} instant_cells_result;

/* Small enough to try? The rest is a matter of how much work the search takes. */
bool perp_instant_cells_can_be_searched(const instant_cells_system *system);
/* OUT_OF_MEMORY; close in any case. max_work and cancel are the caller's to set. */
perp_status perp_instant_cells_open(instant_cells *cells, const instant_cells_system *system,
                                    const perp_allocator *allocator, perp_error *error);
void perp_instant_cells_close(instant_cells *cells);
/* Unknown k as p has it: the value in cells->at, in the units of p. */
void perp_instant_cells_read(instant_cells *cells, const perp_cell_dictionary *d);
/* cells->weights: what each parameter adds to a sum over the unknowns' `row` (unknowns + 1; the last is the constant,
 * to which the return value is what it comes to without parameters). */
double perp_instant_cells_reduce(const instant_cells *cells, const double *row, double *weights, double *size);

/* ---- instant_cells_find.c ---- */

perp_status perp_instant_cells_all(instant_cells *cells, instant_cells_found *found, void *context,
                                   instant_cells_result *result, perp_error *error);
/* Forces that go with the rates x (of p, in its units), into cells->point; false: none were found. */
bool perp_instant_cells_at(instant_cells *cells, const double *x);
/* Of all forces that go with the rates x (of p, in its units) the least and the largest fn of every contact that takes
 * part; an end that is not found is 0 or infinite. */
void perp_instant_cells_ranges(instant_cells *cells, const double *x, double *low, double *high);
/* The least and the largest fn of contact i (which takes part) of all points that meet what every cell asks; false: an
 * end was not found, or there is none. */
bool perp_instant_cells_bounds(instant_cells *cells, int i, double *low, double *high);

#endif
