/* springs_scene.h - bodies of six unknowns each on contacts with friction, as a problem for
 * perp_friction_springs_solve, or with contacts that give way as one for perp_friction_soft_solve; and the laws that an
 * answer has to meet, evaluated without the code under test. Masses, lengths and forces are of order 1. */
#ifndef PERP_TESTS_SOLVER_SPRINGS_SCENE_H
#define PERP_TESTS_SOLVER_SPRINGS_SCENE_H

#include "failing_allocator.h"

#include "solver/friction_springs.h"

enum { SPRINGS_BODIES = 6, SPRINGS_CONTACTS = 24, SPRINGS_N = 6 * SPRINGS_BODIES, SPRINGS_ROWS = 3 * SPRINGS_CONTACTS };

typedef struct springs_contact {
    int body[2]; /* the second is -1: the ground */
    int rows;
    double jacobian[2][3][6]; /* by body: the velocity of the first beside the second, along the axes */
    double offset[3], mu;
} springs_contact;

typedef struct springs_scene {
    int bodies, contacts;
    double inertia[SPRINGS_BODIES][6][6];
    double load[SPRINGS_N]; /* what drives the bodies: -f */
    springs_contact contact[SPRINGS_CONTACTS];
    bool bounded, loop;
    double lower[SPRINGS_N], upper[SPRINGS_N];
    int loop_dof[2];
    double loop_value[2], loop_target;
    perp_friction_polygon polygon; /* of count 0: the disc */
} springs_scene;

typedef struct springs_answer {
    double v[SPRINGS_N + SPRINGS_ROWS], force[SPRINGS_ROWS], lower[SPRINGS_N + SPRINGS_ROWS],
        upper[SPRINGS_N + SPRINGS_ROWS], loop[1];
    perp_convex_point point;
    perp_friction_springs_info info;
    bool solved;
} springs_answer;

/* The problem with its arrays. */
typedef struct springs_problem {
    double hessian[36 * SPRINGS_BODIES + 9 * SPRINGS_CONTACTS], g[SPRINGS_N + SPRINGS_ROWS];
    double jacobian[SPRINGS_ROWS * 15], offset[SPRINGS_ROWS], mu[SPRINGS_CONTACTS];
    double lower[SPRINGS_N + SPRINGS_ROWS], upper[SPRINGS_N + SPRINGS_ROWS];
    int block_start[SPRINGS_BODIES + SPRINGS_CONTACTS + 1], row_start[SPRINGS_CONTACTS + 1];
    int dof_start[SPRINGS_CONTACTS + 1], dofs[15 * SPRINGS_CONTACTS];
    perp_contact_qp system;
    perp_contact_friction problem;
} springs_problem;

/* -1 .. 1, the same on every run. */
double springs_draw(uint64_t *state);
/* A body of inertia `mass` along x, y, z and `turn` about them, without load. */
void springs_add_body(springs_scene *scene, double mass, double turn);
/* A contact at `arms` from the bodies' origins with a normal and two tangents (rows of `axes`), the force on a's side.
 */
springs_contact *springs_add_contact(springs_scene *scene, const int body[2], const double arms[2][3],
                                     const double axes[3][3], double mu);
/* `stiffness` > 0: contacts give way, by this along normals and a hundredth of it along tangents. */
void springs_assemble(const springs_scene *scene, double stiffness, springs_problem *problem);
/* What the tests ask for unless they say else: rounding, and weights of 1. */
perp_friction_springs_settings springs_settings(const springs_scene *scene);
void springs_solve_with(const springs_scene *scene, const perp_friction_springs_settings *settings,
                        springs_answer *answer);
void springs_solve(const springs_scene *scene, springs_answer *answer);
/* With contacts that give way; false where that was not solved. */
bool springs_solve_soft(const springs_scene *scene, double stiffness, springs_answer *answer);

/* u of contact i. */
void springs_velocity(const springs_scene *scene, int i, const double *v, double u[3]);
/* The first row of contact i, those before it counted. */
int springs_row(const springs_scene *scene, int i);
/* How far an answer is off the balance of its bodies, the law of contacts, its bounds and its loop: the largest. */
double springs_violation(const springs_scene *scene, const springs_answer *answer);

#endif
