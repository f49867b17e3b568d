/* quantity.h - what a name stands for, and what becomes of it during a run. */
#ifndef PERP_SRC_PLAN_QUANTITY_H
#define PERP_SRC_PLAN_QUANTITY_H

#include "plan/expression.h"

typedef enum quantity_source {
    QUANTITY_CONSTANT, /* `last` from the start: of a path, or given by the caller */
    QUANTITY_STATE,
    QUANTITY_CONTACT,
    QUANTITY_ENERGY,
    QUANTITY_RESIDUAL,
    QUANTITY_STATUS,
    QUANTITY_ANALYSIS
} quantity_source;

typedef enum quantity_moment { AT_STEP, OF_RUN, LARGEST, SMALLEST, MEAN } quantity_moment;
typedef enum quantity_contact { CONTACT_FN, CONTACT_FT, CONTACT_PHI, CONTACT_SLIP } quantity_contact;

typedef struct quantity {
    quantity_source source;
    quantity_moment moment;
    int step;           /* of AT_STEP */
    int cursor, number; /* of the state: of perp_state_next, before the entry; which of its numbers */
    bool rates;         /* of the state */
    int a, b;           /* bodies of a contact */
    int part;           /* quantity_contact; kinetic or potential; index in perp_residuals */
    const char *path;   /* of an analysis */
    const char *name;   /* as it is written */
    perp_value value;
    double sum;
    int seen;
} quantity;

struct perp_quantities {
    perp_arena arena;
    perp_allocator allocator;
    const perp_model *model;
    int steps;        /* of the run that the scene's settings ask for */
    perp_state start; /* whose entries give the columns their names */
    perp_kinematics *kinematics;
    int count, capacity;
    quantity *quantities;
    int expression_count, expression_capacity;
    expression *expressions;
    int wrong; /* the expression that perp_quantities_measure refused, -1: none */
};

/* The quantity that a name stands for, but for its name and numbers of its own; as `find` of expression_names. */
bool perp_quantity_resolve(const perp_quantities *q, const char *name, size_t length, quantity *made,
                           perp_error *error);
/* The last step that ends at t or before it. */
int perp_quantity_step_at(const perp_quantities *q, double t);
void perp_quantity_set(quantity *c, double value); /* undefined where it is not finite */

/* What a quantity is of states, contacts, energies and residuals after `step`, whatever its moment; NaN: it has no
 * value then, or is of another source. Contacts and residuals belong to the step that ends there. */
double perp_quantity_now(const perp_quantities *q, const quantity *c, int step, const perp_state *state,
                         const perp_step_info *info);

/* Fills the quantities of analyses. BAD_INPUT: an analysis has no such value, and q->wrong says whose it was. */
perp_status perp_quantities_analyze(perp_quantities *q, perp_error *failure, perp_error *error);

#endif
