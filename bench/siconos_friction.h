/* siconos_friction.h - Siconos' solvers for spatial friction problems (W, q, mu) behind a door of our own, for
 * comparison.
 *
 * Each gets W in the storage it is at home in: NSGS in 3 x 3 blocks, the others compressed by columns, all without the
 * entries that are exactly zero; that is done before the clock starts. Options are Siconos' defaults but for the
 * tolerance and the number of iterations, which is as many as should fit in the time limit, and at least the default.
 *
 * Siconos measures an error of its own, so that what it takes for 1e-8 may not be so. A solver that reports convergence
 * before the caller's residual is at the target goes on from where it is with a tolerance a hundredth of the last, down
 * to 1e-14; all of its time counts.
 *
 * It runs in a process of its own: some of its errors end the program, and nothing else bounds its time. There it first
 * solves a small problem, so that loading it does not count. Times are processor times, the limit too: a
 * busy machine takes nothing from it. */
#ifndef PERP_BENCH_SICONOS_FRICTION_H
#define PERP_BENCH_SICONOS_FRICTION_H

#include <perp/problem.h>

typedef enum siconos_friction_method {
    SICONOS_NSGS,   /* nonsmooth Gauss-Seidel: SICONOS_FRICTION_3D_NSGS */
    SICONOS_NSN_AC, /* nonsmooth Newton of Alart and Curnier: SICONOS_FRICTION_3D_NSN_AC */
    SICONOS_ADMM,   /* SICONOS_FRICTION_3D_ADMM */
    SICONOS_FRICTION_METHODS
} siconos_friction_method;

const char *siconos_friction_name(siconos_friction_method method);

/* Whether this was built with Siconos. */
bool siconos_friction_available(void);

typedef struct siconos_friction_request {
    siconos_friction_method method;
    double target;        /* of the residual */
    double limit_seconds; /* of all repetitions; after a quarter and a tenth of a second more it is stopped */
    int repetitions;      /* of which the fastest counts; one where it takes long */
    double (*residual)(const perp_friction *problem, const double *r);
} siconos_friction_request;

typedef struct siconos_friction_answer {
    bool ended;      /* it did neither crash nor run out of time */
    bool claimed;    /* it reported convergence */
    double seconds;  /* of its solver alone; the limit where it did not end */
    double residual; /* the caller's; infinite where it did not end */
} siconos_friction_answer;

/* Starts from r (3 * contacts) and leaves the answer there, where it ended. */
siconos_friction_answer siconos_friction_solve(const perp_friction *problem, const siconos_friction_request *request,
                                               double *r);

#endif
