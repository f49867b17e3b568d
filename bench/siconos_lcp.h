/* siconos_lcp.h - Siconos' lcp_lexicolemke behind a door of our own, for comparison. */
#ifndef PERP_BENCH_SICONOS_LCP_H
#define PERP_BENCH_SICONOS_LCP_H

#include <stdbool.h>

typedef struct siconos_lcp siconos_lcp;

/* For problems up to n, with Siconos' default options. NULL when out of memory, or where the benchmark was built
 * without Siconos. */
siconos_lcp *siconos_lcp_create(int n);
void siconos_lcp_free(siconos_lcp *solver); /* NULL allowed */

/* Solves w = M z + q, M row by row. True if Siconos reports convergence (whether it is so is for the caller to judge).
 * `seconds` covers the solver alone: the matrix is turned into columns before the clock starts. */
bool siconos_lcp_solve(siconos_lcp *solver, int n, const double *m, const double *q, double *z, double *seconds);

/* Whether the benchmark was built with Siconos. */
bool siconos_lcp_available(void);

#endif
