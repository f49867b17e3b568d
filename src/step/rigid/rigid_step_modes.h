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

#include "step/rigid/nearest_point.h"
#include "step/rigid/rigid_step.h"

typedef enum {
    MODE_UNDECIDED,
    MODE_OPEN,   /* no force */
    MODE_CLOSED, /* u_n = 0, friction undecided; the others are modes of it */
    MODE_STICK,
    MODE_ARC, /* slides, and friction is in one of `level` corners of the polygon from `index` on, or on an edge there
               */
    MODE_CORNER, /* in that corner */
    MODE_EDGE,   /* on that edge */
    MODE_SECTOR  /* slides, and friction on a round cone points into that of 4 << level parts of a turn */
} mode_kind;

typedef struct item_mode {
    unsigned short kind, level, index;
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

/* Friction of an item: its polygon, or NULL where the cone is round; `friction` false: it has none. */
typedef struct item_friction {
    bool friction;
    int rows;
    double mu;
    const rigid_polygon *polygon;
} item_friction;

item_friction perp_rigid_item_friction(const contact_step *step, const mode_item *item);
/* s->program becomes the relaxation with nothing decided; its rows have unit length. */
perp_status perp_rigid_relax_all(contact_step *step, const mode_part *part, perp_error *error);
/* Adds the rows of a mode to it. A mode of closed contacts takes those of CLOSED for granted. */
void perp_rigid_narrow(contact_step *step, const mode_part *part, const mode_item *item, item_mode mode);
/* Solves it from where `state` is; the point is in the program. UNSURE after other methods were tried too; where these
 * decided, `state` is empty. */
perp_status perp_rigid_relax(contact_step *step, perp_dual_set *state, nearest_scratch *scratch,
                             nearest_verdict *verdict, perp_error *error);
/* The part's entries of `point` from the program's. */
void perp_rigid_read_relaxed(rigid_step *s, const mode_part *part, perp_convex_point *point);

#endif
