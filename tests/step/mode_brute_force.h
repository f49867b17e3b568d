/* mode_brute_force.h - all accelerations of one rigid body on contacts, by trying everything.
 *
 * Every mode of every contact in turn: open, sticking, sliding with friction in a corner or on an edge of the polygon,
 * or, where it slides already, pressed on. A contact that is not open pushes along its generators, n + mu d_j for the
 * corners d_j that its mode allows. By Caratheodory's theorem forces that do what some forces do exist among those of
 * linearly independent generators, no more than there are degrees of freedom; so every subset of them is tried, and its
 * weights follow from the accelerations that the modes ask to be 0. None of this is how the library does it: no
 * pivoting rule, no branch and bound, no reduction, no facets. */
#ifndef PERP_TESTS_STEP_MODE_BRUTE_FORCE_H
#define PERP_TESTS_STEP_MODE_BRUTE_FORCE_H

#include <stdbool.h>

enum { BRUTE_CONTACTS = 4, BRUTE_CORNERS = 8, BRUTE_SOLUTIONS = 16 };

typedef struct brute_contact {
    double row[3][6]; /* normal, then friction directions, over the accelerations */
    double mu;
    int directions; /* 1 or 2 */
    double slip[2]; /* along the friction directions; 0, 0: it rolls */
} brute_contact;

typedef struct brute_problem {
    int n; /* degrees of freedom: 3 or 6 */
    double mass[6], load[6];
    int contact_count, rays;
    brute_contact contacts[BRUTE_CONTACTS];
} brute_problem;

typedef struct brute_solution {
    double a[6];
    double least[BRUTE_CONTACTS], most[BRUTE_CONTACTS]; /* fn, over the corners of the forces' polyhedron */
} brute_solution;

typedef struct brute_answer {
    int count;
    brute_solution solutions[BRUTE_SOLUTIONS];
    /* Numbers that decide are too near to 0, or one choice of modes has several accelerations: no verdict. */
    bool unclear;
} brute_answer;

void brute_force_modes(const brute_problem *problem, brute_answer *answer);

#endif
