/* wrench_cones.h - what contacts can do to one body: cones of wrenches.
 *
 * A wrench is written in at most six numbers, those that do work on motions which the body can make; forces in N,
 * moments over a length of the body's, so that all are forces. A contact with a normal force of 1 and friction within
 * its section gives a *unit wrench*, normal + mu (s[0] tangent[0] + s[1] tangent[1]) with s in the section D; the cone
 * of the contact is all multiples of them, and the sum of the cones is what all contacts together can do. */
#ifndef PERP_SRC_ANALYSIS_WRENCH_CONES_H
#define PERP_SRC_ANALYSIS_WRENCH_CONES_H

#include <perp/analysis.h>

#include "base/arena.h"

enum { WRENCH_MOST = 6, WRENCH_LIFTED = WRENCH_MOST + 1 };

typedef struct wrench_cone {
    double mu;
    int directions; /* of friction: 0 to 2; one: D is -1 .. 1 */
    double normal[WRENCH_MOST], tangent[2][WRENCH_MOST];
} wrench_cone;

typedef struct wrench_cones {
    int dimensions, count;
    const wrench_cone *cones;
    int corner_count; /* of D where friction has two directions; 0: it is the unit disc */
    const double (*corners)[2];
    bool smooth; /* leaves all friction out */
} wrench_cones;

/* The largest y . w over all unit wrenches, and where. -INFINITY without contacts. */
double perp_wrench_support(const wrench_cones *cones, const double *y, double *w);
/* Is the hull of the unit wrenches a polyhedron? */
bool perp_wrench_is_polyhedral(const wrench_cones *cones);

/* ---- wrench_projection.c: is a wrench in a cone? ------------------------------------------------------------------
 */

/* The generator w with the largest y . w, which is returned. */
typedef double wrench_source(const void *context, const double *y, double *w);

typedef struct wrench_projection {
    /* YES: combined from generators, to BALANCE_LEFT of the target. NO: a combination whose weights sum to no more than
     * `most` times the target's length does not reach it, which `away` proves: along it the target goes farther than
     * all of them. UNKNOWN: rounding ended the search. */
    perp_answer inside;
    double away[WRENCH_LIFTED]; /* from the nearest point of the cone to the target */
    double distance;            /* its length */
} wrench_projection;

/* Of `target` onto the cone of a source's generators, in n <= WRENCH_LIFTED numbers. */
wrench_projection perp_wrench_project(int n, wrench_source *source, const void *context, const double *target,
                                      double most);
/* Can the contacts give this wrench? */
wrench_projection perp_wrench_project_on(const wrench_cones *cones, const double *target, double most);
/* Is 0 in the hull of the unit wrenches: can contacts balance each other? */
wrench_projection perp_wrench_project_zero(const wrench_cones *cones);

/* ---- wrench_ball.c: the largest ball about 0 in the hull of the unit wrenches --------------------------------------
 */

typedef struct wrench_ball {
    double low, high;              /* its radius is between them; high <= 0: 0 is not inside, low = 0 */
    double direction[WRENCH_MOST]; /* unit: no unit wrench reaches farther than `high` along it */
    bool cut;                      /* they would come closer with more work */
} wrench_ball;

/* Ends when the two are as close as rounding (round cones: 1e-6 of the radius), when `low` has passed `enough`, or when
 * 0 is known to be inside and `work` facets have been made; then `high` is lowered by a descent, so that it is the
 * better guess. False: out of memory. */
bool perp_wrench_ball_find(const wrench_cones *cones, double enough, int work, perp_arena *arena, wrench_ball *ball);

#endif
