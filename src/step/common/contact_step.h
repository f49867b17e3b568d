/* contact_step.h - what all rungs with contact forces share: from a state and its contacts to one step problem, and
 * from its solution to the next state and the step's record. The dynamic rungs differ by inertia alone: dynamic.h.
 *
 * The unknown is the velocity v of the *free* degrees of freedom, all but the prescribed ones (and, on rungs that take
 * impedance as position, but those). With units of N and m/s the step's balance is
 *
 *     A v + f = H'r + C'y + y_lower - y_upper
 *
 * where passive degrees of freedom have A = 0 (with inertia M / h) and f = -(gravity + applied forces at
 * the step's end), and those of impedance joints A = h K + D and f = -(K (command - q) + gravity + applied): the spring
 * force K (command - q - h v) - D v at the step's end. Where its joint has an `effort` E the force is at most that:
 * contact_step_springs.c. This is Pang and Tedrake's (10) divided by h, with the gravity
 * that its printed objective (10a) has lost.
 *
 * The velocity at a contact is u = H v + w, rows n and then its friction directions, with w = phi / h + J_p v_p on the
 * normal row and J_p v_p on the others: h u_n is the linearised gap at the step's end. C v = d closes loops, and bounds
 * keep joints within their limits.
 *
 * A rung is a *law*: the relation between u and r, and how to solve for it.
 *
 * A support of a planar body is a contact whose normal force is given, N. It gets a *foot*, an unknown of its own
 * behind those of the bodies: the height w of the plane's other face, without inertia, which N presses down:
 *
 *     u_n = w,   0 + N = r_n    so that r_n = N, whatever the law
 *
 * On rigid rungs w = 0. On convex ones w = mu |u_t|, and the law is that of given normal forces, Theorem 1 of Trinkle,
 * Berard and Pang (2005) with lambda_n = N, without a boundary layer: nothing but the foot rises, and the next step
 * begins with it down again. Supports without load or friction are in no problem.
 *
 * Trees that contacts of the step or loops join are an *island*. Islands do not act on each other, so each is solved
 * and judged as if it were alone, in units of its own: contact_step_islands.c. What is prescribed joins nothing. So a
 * body that lies apart changes nothing, whatever it weighs, however fast it is, and by no bit:
 *
 *   - whether a contact takes part is decided by the two bodies alone: how far either may come in the step;
 *   - F and L are the island's own;
 *   - each island is split on its own. Trees of one island share their parts; an island that comes near another one in
 *     its parts is joined with it, and the step begins anew;
 *   - what a law remembers is by degree of freedom and by contact. */
#ifndef PERP_SRC_STEP_CONTACT_STEP_H
#define PERP_SRC_STEP_CONTACT_STEP_H

#include <perp/problem.h>
#include <perp/solver.h>
#include <perp/step.h>

#include "step/common/contact_sum.h"
#include "step/common/memory_block.h"
#include "step/common/step_memory.h"

typedef struct contact_step contact_step;

typedef struct perp_step_law {
    /* Velocities at t in place of a step from there: drives have their rates at t, only what touches takes part, and h
     * is 1 s, a unit. */
    bool instant;
    /* The law makes the contacts of its problem itself, and the system has none; islands are told to it. */
    bool own_contacts;
    /* The law's own memory, step->own; `close` is due whatever `open` returned, step->own being NULL at first. */
    perp_status (*open)(contact_step *step, perp_error *error);
    void (*close)(contact_step *step);
    /* Solves step->system, an island of the step: fills step->x, force, y_equality, y_lower, y_upper, and in step->info
     * iterations, several, fallbacks, and the residuals `complementarity` and `cone` of its own law. May take memory
     * where the problem is larger than any before. */
    perp_status (*solve)(contact_step *step, perp_error *error);
    /* The part of the step was accepted for the trees that are step->parts.accepted: what their next one starts from;
     * `step` has the answers of all islands together. May be NULL. */
    void (*accept)(contact_step *step);
    /* That, into a log and back; `take` returns false where the numbers are not of this law. NULL: nothing. */
    void (*put)(const contact_step *step, memory_writer *w);
    bool (*take)(contact_step *step, memory_reader *r);
} step_law;

/* What an island is measured by. */
typedef struct step_island {
    double force, length; /* F and L: N, m */
    double mass;          /* kg: of the heaviest body that moves in it */
    bool boxed;           /* `low`, `high`: around its bodies, and what they touch */
    perp_vec3 low, high;
} step_island;

/* How far a body may come in the step, and what is looked for: contact_step_reach.c. */
typedef struct step_reach {
    double *way, *swing;     /* by body: m, and rad where it has unbounded shapes */
    double *speed, *turning; /* by body: scratch */
    double seen;             /* m: how far the contact set looks */
    int in_reach;            /* contacts of the set that could be met when the problem was built */
} step_reach;

/* The parts that a step is taken in, by tree: contact_step.c. */
typedef struct step_parts {
    int *group;       /* the lowest of those with free degrees of freedom that are split with it; -1: it has none */
    int *met_with;    /* towards the lowest of those that are to be split with it, as the step has shown */
    bool met;         /* it has just been shown: the step begins anew */
    int *done, *size; /* ticks: how far it has come, and the part that comes next */
    bool *active;     /* it takes part now */
    bool masked;      /* some of those with free degrees of freedom do not */
    bool *accepted;   /* its part is */
} step_parts;

/* What inertia adds where it goes on from step to step: dynamic.h. */
typedef struct step_inertia {
    double *h_last;                  /* s, by tree: how long the last part was; 0: there was none */
    double *h_before;                /* that, where the step began */
    double *v_drifted;               /* nv: v_last as it is at the step's begin; perp_dynamic_drift */
    int *drift;                      /* by tree: perp_dynamic_drift_kind */
    bool *bends;                     /* by tree: scratch of that */
    double *loop_across, *loop_rows; /* by row of all loops, nv each: what they forbid */
    double *v_tangent;               /* nv */
    int *linked;                     /* by tree: the lowest of those that loops join with it; -1: none does */
    bool bounces;                    /* some pair has restitution */
} step_inertia;

struct contact_step {
    perp_allocator allocator;
    const perp_model *model;
    const perp_run_settings *settings;
    const perp_rung *rung;
    const step_law *law; /* the rung's */
    bool dynamic;        /* inertia goes on from step to step, eps^2 M / h: dynamic.h */
    /* Of an answer about an instant that is asked for: none is looked for where contacts are left out of it; and how
     * many entries of dictionaries the search for all may compute (0: as many as half a second takes). */
    bool unless_left_out;
    double search_work;
    perp_prescribe prescribe;
    void *own; /* of the law */

    int free_count; /* degrees of freedom; feet follow */
    int foot_count;
    int foot_capacity; /* points that bodies of the model rest on */
    int *free_of_dof;  /* nv + foot_capacity: the free index, -1 where prescribed, or where it takes no part now */
    int *dof_of_free;  /* free_count + foot_count, ascending; of a foot nv + its number */
    int *tree_of_free; /* free_count + foot_count: of a foot its body's */
    bool *turns;       /* free_count + foot_count: an angle; its entry of a balance is a torque */
    bool *prescribed;  /* nv */
    bool *moved;       /* by body: by a degree of freedom that is not */

    /* ---- the step problem; perp_step_build ---- */
    double t, h;
    double force_unit, length_unit; /* F and L of the residuals: N, m; of the island at hand */
    double heaviest;                /* kg: likewise */
    bool same_length;               /* L stays what it is: the problem is another iterate of one */
    perp_kinematics *kinematics;    /* the context's */
    const perp_contact_set *contacts;
    perp_contact_qp system; /* rays and quadratic NULL; slack_start is row_start */
    double *mu;             /* by contact of the system */
    int *set_index;         /* by contact of the system: which of the set's it is; ascending */
    double *v;              /* nv: the prescribed velocities; after solving, all of them */
    double *mass;           /* the packed mass matrix at the step's begin */
    double *shift;          /* by contact of the system, m/s: what its normal row has beside velocities */
    double *room;           /* by contact of the system, m/s: mu times the slip that convex friction expects; 0 but on
                               dyn-qp: convex_step_slip.c */

    /* ---- its solution; law->solve ---- */
    double *x;     /* free_count + foot_count, m/s; with full inertia less v_drifted */
    double *force; /* N, by row of the system: fn, then along the friction directions */
    double *y_equality, *y_lower, *y_upper;
    double *layer; /* by contact of the system, m: the gap at which convex friction lets it carry force */
    perp_step_info *info;

    perp_contact_record *records; /* of the set's contacts */
    int record_count;

    /* ---- islands; perp_step_build ---- */
    int island_count;
    int *island_of_tree; /* -1: nothing of it is free, or takes part now */
    int *joined;         /* by tree, towards the lowest of its island */
    step_island *islands;
    step_island *last_island; /* by tree: that it was last accepted in */
    double *diagonal;         /* free_count: of A */
    double limit_rate;        /* of its rate: what a spring at its limit keeps, about v_held; but in a search 0 */
    double *v_held;           /* nv */
    int *at_limit;            /* nv: 1, -1: the spring's force is its effort, or that in the other direction; else 0 */
    step_reach reach;

    /* ---- a step that is split; contact_step.c ---- */
    step_parts parts;
    double *load;                 /* nv, N: what contacts and loops have to balance, mean over the step */
    double *y_loop;               /* by row of all loops, N: likewise, their forces */
    perp_loop_force *loop_forces; /* by loop: those of the last step that was taken */
    contact_sum sum;              /* the contacts of a step that was split */
    bool split;                   /* it was */

    /* ---- memory ---- */
    bool started;   /* a step was accepted */
    double *v_last; /* nv: the velocity that the step begins with, of the state or of the part before */
    step_inertia inertia;
    double *mass_scratch;
    double largest_mu; /* of any two shapes of the scene */
    int contact_capacity, dof_capacity;
    memory_block fixed, sized, by_tree;
    memory_block problem_by_model, problem_by_contacts, island_by_model, island_by_contacts;
    int *block_start, *row_start, *dof_start, *dofs;
    double *hessian, *g, *jacobian, *offset;
    int *equality_start, *equality_dofs;
    int *equation_of; /* by row of all loops: its equation, -1 where nothing free closes it */
    int *loop_row;    /* by equation: the row of all loops that it is */
    int loop_row_count;
    double *equality_values, *equality_target;
    double *lower, *upper;
    double *v_gap, *tau, *scratch, *command; /* nv each */
    double *loop_jacobian;                   /* 6 nv */
    double *commanded_gap;                   /* by row of all loops: commanded_loops.h */
    double *velocity;                        /* by row of the contact set: J v */
    double *q_begin, *v_sum;                 /* nq, nv: of a step that is split */
    double *q_driven;                        /* nq: q with driven bodies where `taylor` predicts them */
    double *gaps;                            /* by contact of the set: linearised at the step's end */
    perp_contact *begun;                     /* by contact of the set: as at the step's begin */
};

/* ---- contact_step_workspace.c ---- */

/* `open`, `close`, `save` and `restore` of a rung. */
/* BAD_INPUT where a support is of a model that the rung does not take; the rung has a law. */
perp_status perp_step_check_supports(const perp_scene *scene, const perp_rung *rung, const perp_run_settings *settings,
                                     perp_error *error);
perp_status perp_step_open(perp_step_context *context, const perp_allocator *allocator, perp_error *error);
void perp_step_close(perp_step_context *context);
size_t perp_step_save(const perp_step_context *context, double *numbers, size_t capacity);
perp_status perp_step_restore(perp_step_context *context, const double *numbers, size_t count, perp_error *error);
/* Rows of all loops. */
int perp_step_loop_rows(const perp_model *model);
/* Room for the contacts of a set. */
perp_status perp_step_reserve(contact_step *step, const perp_contact_set *set, perp_error *error);

/* The step with arrays for the problem of an island in place of its own; they last until the next one. */
contact_step perp_step_room_for_island(contact_step *step);
/* Which degrees of freedom are unknown now: those of trees that are step->parts.active. */
void perp_step_find_free(contact_step *step);
/* Fills step->turns. */
void perp_step_find_turning(contact_step *step);
/* step->system has the arrays of step. */
void perp_step_join_system(contact_step *step);

/* ---- contact_step_problem.c ---- */

/* step->v and v_gap have the prescribed velocities from t to t_end, else 0. */
void perp_step_prescribe(contact_step *step, const double *q, double t, double t_end);
/* The step problem from t to t_end at configuration q, whose kinematics and contacts the context has. */
perp_status perp_step_build(contact_step *step, perp_step_context *context, const double *q, double t, double t_end,
                            perp_error *error);
/* A and f of the problem that there is, with springs as step->at_limit has them now; q as perp_step_build had it. */
void perp_step_fill_springs(contact_step *step, const double *q);
/* The largest entry of A v + f - H'r - C'y - y_lower + y_upper, over F, torques over F L. */
double perp_step_balance(const contact_step *step);
/* The same, with F = step->force_unit enlarged by what only the answer tells: the largest entry of A v, which is a
 * change of momentum over h or of a spring's force, and the largest contact force. */
double perp_step_judge_balance(contact_step *step);
/* How far a point of a step's problem is off its limits and loops; `gap` makes of a velocity of it the motion in the
 * step, in units of L. */
double perp_step_off_constraints(const perp_contact_qp *problem, const perp_convex_point *point, double gap);

/* ---- contact_step_support.c: feet ---- */

/* Whether contact i of the system is a support. */
bool perp_step_is_support(const contact_step *step, int i);
/* Has a contact a bound on its friction, or a gap to keep? A support has neither without load or friction. */
bool perp_step_acts(const perp_contact *contact);
/* No feet. */
void perp_step_clear_feet(contact_step *step);
/* The foot of contact i of the set becomes an unknown, the last one; returns which. `tree` is its body's. */
int perp_step_add_foot(contact_step *step, int i, int tree);
/* An island with supports that all but rests, by less than the law tells from rest, shall rest to the bit: nothing that
 * friction holds creeps. Puts rest into x (by unknown of the system, `speed` its unit) and what was there into
 * `moving`; false where x is no such motion, or rest already. The law is judged by who asks. */
bool perp_step_rest(const contact_step *step, double speed, double *x, double *moving);

/* ---- contact_step_springs.c: impedance joints and their effort ---- */

/* What drives and damps a degree of freedom: force - rate v, with v at the step's end. */
typedef struct step_spring {
    double rate, force; /* N s/m, N; N m s, N m of an angle */
} step_spring;
/* It, at configuration q, as step->at_limit has it. */
step_spring perp_step_spring(const contact_step *step, const double *q, int dof);
/* Has some unknown of the problem an impedance joint with `effort`? */
bool perp_springs_are_limited(const contact_step *step);
/* All of the problem are springs. */
void perp_springs_release(contact_step *step);
/* Changes step->at_limit where it is wrong at velocities v (nv), `room` of an effort being rounding. Returns by how
 * much of its effort the worst was wrong; 0: none was. */
double perp_springs_change(contact_step *step, const double *q, const double *v, double room);
/* Changes the first that is wrong by one place alone; false: none is. */
bool perp_springs_change_first(contact_step *step, const double *q, const double *v);
/* Returns what perp_springs_change does, without a change, with the law's tolerance as the room. */
double perp_springs_miss(const contact_step *step, const double *q, const double *v);
/* The largest force, of the effort, with which the rate of a spring at its limit pulls v back to v_held. */
double perp_springs_pull(const contact_step *step, const double *q, const double *v);
/* Moves step->v_held towards the answer step->v as far as the energy of A, f and the limited springs falls; returns
 * which part of the way that is, 1 where it falls all along it or, friction not being of an energy, nowhere. */
double perp_springs_search(contact_step *step, const double *q);
/* At an instant: takes from f what goes beyond the effort, at velocities v (nv; NULL: none are known, and dampers are
 * left out). */
void perp_springs_limit_at_instant(contact_step *step, const double *q, const double *v);

/* ---- step_system.c ---- */

/* Arrays for the system in a law's own units, forces in F and velocities in `speed`. */
typedef struct step_scaled {
    double *hessian, *g, *lower, *upper, *target;
} step_scaled;
/* Fills them; returns how many entries the hessian has. */
ptrdiff_t perp_step_scale(const contact_step *step, double speed, const step_scaled *to);
/* The system with them in place of its own; its offset is the step's. */
perp_contact_qp perp_step_scaled_system(const contact_step *step, const step_scaled *to);
/* Blocks as the hessian of a problem has them, into a dense matrix of so many columns. */
void perp_step_spread(const perp_contact_qp *problem, const double *blocks, int columns, double *dense);
/* W, what motions are measured by, in blocks as the hessian's: the mass matrix over the largest mass; a thousandth of
 * the diagonal more in mechanisms, whose links may be massless, and where there is nothing a unit mass at L. */
void perp_step_metric(const contact_step *step, double *blocks);
void perp_step_copy_point(const perp_contact_qp *problem, perp_convex_point *to, const perp_convex_point *from);
void perp_step_clear_point(const perp_contact_qp *problem, perp_convex_point *point);
/* A point without its contact forces into step->x, y_lower, y_upper and y_equality; velocities are in `speed`. */
void perp_step_take_point(contact_step *step, const perp_convex_point *point, double speed);
/* H x + g - A'y - C'y_equality - y_lower + y_upper, where the slacks are the rows. */
void perp_step_balance_of(const perp_contact_qp *problem, const perp_convex_point *point, double *balance);

/* ---- contact_step_reach.c ---- */

/* m: how far the bodies of a contact may come towards each other. */
double perp_step_way(const contact_step *step, const perp_contact *contact);
/* Can the bodies of a contact close its gap in the step, or is it listed anyway? By step->reach.way and its own
 * friction. */
bool perp_step_is_in_reach(const contact_step *step, const perp_contact *contact);
/* Kinematics and contacts at q. */
perp_status perp_step_look_from(contact_step *step, perp_step_context *context, const double *q, perp_error *error);
/* step->reach.way of a step of length h that begins with velocities v, at the poses of its begin. */
void perp_step_begin_ways(contact_step *step, perp_step_context *context, const double *v, double h);
/* The contact set looks as far as step->reach.way asks for; it is at q, and built anew there where it did not. */
perp_status perp_step_look_far_enough(contact_step *step, perp_step_context *context, const double *q,
                                      perp_error *error);
/* Adds to step->reach.way where a motion of velocities v, for the time h, comes farther: to `factor` times that.
 * Kinematics and contacts are those of the step's begin. Returns whether some body does. */
bool perp_step_add_ways(contact_step *step, perp_step_context *context, const double *v, double h, double factor);

/* ---- contact_step_islands.c ---- */

/* Two trees hang together; `joined` leads from every tree towards the lowest one that hangs together with it. */
void perp_step_join_trees(int *joined, int a, int b);
int perp_step_lowest_joined(int *joined, int tree);
/* The islands of the problem, with F and L: F is the largest of the weights, applied forces, springs' forces and of
 * what it takes to stop what comes, L the size of the bodies and of what they touch. */
void perp_step_measure_islands(contact_step *step, const double *q, double t_end);
/* F of an island, anew, with springs as they are now; `one` is its problem. */
void perp_step_measure_force(contact_step *one, int island, const double *q);
/* Of contact i of the system. */
int perp_step_island_of_contact(const contact_step *step, int i);
/* m: the box around the bounded shapes of two bodies, as L has it. */
double perp_step_size_of_two(const contact_step *step, int a, int b);
/* An island as a problem of its own, until the next one. */
contact_step perp_step_island(contact_step *step, int island);
/* Its answer, into that of the whole. */
void perp_step_put_island(contact_step *step, const contact_step *one);

/* ---- contact_step.c ---- */

enum { PERP_STEP_TICKS = 64 }; /* a step is split into at most so many parts */

/* us, of a clock that only runs forward. */
double perp_step_now(void);
/* The tree that a degree of freedom is of. */
int perp_step_tree_of(const contact_step *step, int dof);
/* Trees with degrees of freedom that are not prescribed. */
bool perp_step_has_free(const contact_step *step, int tree);
/* One step of a rung: builds, solves, checks the law against the tolerance, splits where substep_tolerance asks for it,
 * integrates, records. */
perp_status perp_contact_step(perp_step_context *context, double t_end, perp_state *state, perp_step_info *info,
                              perp_error *error);

/* ---- contact_step_record.c ---- */

/* The records of the contacts at the step's begin, from step->v and step->force. */
void perp_step_record(contact_step *step);
/* Of these the ones of trees that are step->parts.accepted, and of what only commands move. */
void perp_step_keep_accepted_records(contact_step *step);
/* Adds the part that was accepted for the trees that are step->parts.accepted to what the step has to balance. */
void perp_step_add_load(contact_step *step, double share);
/* Their forces, into step->info, at the end of a step that is taken. */
void perp_step_tell_loops(contact_step *step);
/* `look_back` of a rung: the balance with exact geometry. */
void perp_step_look_back(perp_step_context *context, const perp_state *state, const int *match, perp_step_info *info);

/* ---- contact_step_error.c: typed failures; each returns its status ---- */

/* When, in words: "in the step to t = 0.2 s", its end, as in the events of a step; an instant is "at t = 0 s". */
typedef struct step_when {
    char text[48];
} step_when;
step_when perp_step_when(const contact_step *step);

/* "a b feature" */
void perp_step_name_contact(const contact_step *step, const perp_contact *contact, char *text, size_t size);
/* The law's three residuals in step->info against its tolerance; `total` keeps the largest of them. */
perp_status perp_step_check_law(const contact_step *step, perp_residuals *total, perp_error *error);
/* Along `direction` (free_count, of any length), which nothing holds: does the load drive by more than the law's
 * tolerance leaves room for in the balance? If not, nothing is said by it. */
bool perp_step_is_driven(const contact_step *step, const double *direction);
/* Nothing holds what moves along `direction` (free_count): names the body that moves most. */
perp_status perp_step_unsupported(const contact_step *step, const double *direction, perp_error *error);
/* The step's constraints cannot all be met: `weight` (by row of the system: how much its normal row counts in the
 * proof, others 0) and `depth` in m say where and how deep. In the first step, and where nothing prescribed
 * moves in them, it is `penetrating-start`. */
perp_status perp_step_infeasible(const contact_step *step, const double *weight, double depth, perp_error *error);
/* The same where the gaps alone could be met, and only what convex friction adds to them cannot. */
perp_status perp_step_no_room(const contact_step *step, const double *weight, double depth, perp_error *error);
perp_status perp_step_not_converged(const contact_step *step, const char *method, double residual, perp_error *error);
/* After `not-converged`, which says how far the methods came: forces that hold each other are why; `weight` and
 * `depth` as above, with friction as it is on convex rungs. */
perp_status perp_step_wedged(const contact_step *step, const double *weight, double depth, perp_error *error);
/* Contacts that nothing free moves, where the commands alone decide: `infeasible-command` where they drive bodies into
 * each other; OK where not. */
perp_status perp_step_check_commands(const contact_step *step, perp_error *error);
/* Bodies that overlap at the very start, by more than 1e-6 L: `penetrating-start`. Two commanded ones
 * too, which no step could part; not a commanded and a fixed one. */
perp_status perp_step_check_start(const contact_step *step, perp_error *error);
/* Advice to `penetrating-start`. */
#define PERP_STEP_MOVE_APART "move them apart, or list the two in contacts.exclude; see `perp run --model geometric`"
/* A contact that carries `depth` of penetration: `code` is a string constant. */
perp_status perp_step_at_contact(const contact_step *step, const char *code, const perp_contact *contact, double depth,
                                 const char *advice, perp_error *error);

#endif
