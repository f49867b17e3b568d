/* rigid_step_modes.h - the modes of a rigid step's contacts, and what is left of the step when some are decided.
 *
 * An *item* is what is complementary: a contact, or a joint's limit. Once the mode of every item is known the step is
 * linear; with some undecided it is relaxed to a convex problem on velocities and forces together,
 *
 *     A v + f = H'r + C'y + limits,   C v = d,   u_n >= 0,  r in its cone,     and of decided items what the mode says
 *
 * and one cut that holds at every answer, since there r'u = -sum mu fn s <= 0 and limits do no work:
 *
 *     f'v + w'r - d'y - lower'y_lower + upper'y_upper <= 0     (plus v'A v, left out: it only lowers the left side)
 *
 * If the relaxation has no point, then no answer has these modes. */
#ifndef PERP_SRC_STEP_RIGID_STEP_MODES_H
#define PERP_SRC_STEP_RIGID_STEP_MODES_H

#include "step/rigid_step.h"

typedef enum { MODE_UNDECIDED, MODE_OPEN, MODE_CLOSED, MODE_STICK, MODE_CORNER, MODE_EDGE, MODE_SECTOR } mode_kind;

/* `index`: of the polygon's corner, or edge; of the sector among 4 << level parts of a turn in which friction on a
 * round cone points. CLOSED: u_n = 0, friction undecided. */
typedef struct item_mode {
    unsigned char kind, level;
    unsigned short index;
} item_mode;

typedef struct mode_item {
    int contact;  /* -1: a limit */
    int dof;      /* of the limit */
    double side;  /* +1: lower, -1: upper */
    int unknown;  /* its first force among the program's unknowns */
    int jacobian; /* where the contact's rows begin */
} mode_item;

/* The items and degrees of freedom of one part of the step: what contacts and loops connect. */
typedef struct mode_part {
    int dofs, items, equations, unknowns;
    int *local; /* by dof of the step: its unknown, -1: of another part */
    mode_item *item;
    int *equation;       /* of the step's equations */
    double *program_row; /* unknowns: scratch */
} mode_part;

typedef enum { RELAXED_NONE, RELAXED_POINT, RELAXED_UNSURE } relaxed_verdict;

/* Friction of an item: its polygon, or NULL where the cone is round; `friction` false: it has none. */
typedef struct item_friction {
    bool friction;
    int rows;
    double mu;
    const rigid_polygon *polygon;
} item_friction;

item_friction perp_rigid_item_friction(const perp_quasistatic *qs, const mode_item *item);
/* Solves the relaxation; its point is in the program. */
perp_status perp_rigid_relax(perp_quasistatic *qs, const mode_part *part, const item_mode *mode,
                             relaxed_verdict *verdict, perp_error *error);
/* The part's entries of `point` from the program's. */
void perp_rigid_read_relaxed(rigid_step *s, const mode_part *part, perp_convex_point *point);

#endif
