/* lcp_generator.h - Stewart-Trinkle contact LCPs from random configurations, by number.
 *
 * A case depends on (seed, index) and the set alone. With normals J_n, friction rays J_d (n_d a contact, in opposite
 * pairs), inertia B, free velocity v0 (the velocity after a step without contacts) and gap rates g,
 *
 *     z = (c_n, beta, lambda)                w = (normal velocity, ray velocity + slip, friction slack)
 *     v = v0 + B^-1 (J_n' c_n + J_d' beta)
 *     w_n = J_n v + g,   w_beta = J_d v + E lambda,   w_lambda = mu c_n - E' beta
 *
 * where g = 0 without stabilisation and g = phi / h with it; a gap that is negative is penetration, to be undone within
 * the step.
 *
 * Every case of the first set has a solution, and carries the proof. M is copositive: z'M z = |J_n'c_n + J_d'beta|^2 in
 * B^-1, plus lambda'mu c_n. So (Cottle, Pang, Stone, theorem 4.4.13) Lemke's method ends at a solution if q'z >= 0 for
 * every z >= 0 with M z >= 0 and z'M z = 0. For these J_n'c_n = -J_d'beta, so that q'z = g'c_n; in the Anitescu-Potra
 * form g = 0 and that is all. With stabilisation take any velocity u of the bodies:
 *
 *     g'c_n = (J_n u + g)'c_n + beta'J_d u >= sum_i c_ni ((J_n u + g)_i - mu_i t_i),   t_i = max_j(-(J_d u)_ij, 0)
 *
 * because the rays of a contact sum to at most mu_i c_ni. A u with (J_n u + g)_i >= mu_i t_i at every contact is the
 * proof. J_n u + g >= 0 alone would not do: a penetrating part that friction has jammed between two walls satisfies it
 * and may have no solution. The second set has gap rates of either sign and no such u.
 */
#ifndef PERP_BENCH_LCP_GENERATOR_H
#define PERP_BENCH_LCP_GENERATOR_H

#include <stdbool.h>
#include <stdint.h>

enum { LCP_CASE_MIN_N = 24, LCP_CASE_MAX_N = 400 };

typedef enum lcp_family { LCP_FAMILY_PILE, LCP_FAMILY_FACES, LCP_FAMILY_WEDGE, LCP_FAMILY_COUNT } lcp_family;

typedef struct lcp_case {
    int n, contacts, directions; /* n = contacts (2 + directions) */
    bool planar, stabilised, proven;
    lcp_family family;
    double *m, *q;      /* n x n row by row, n */
    double proof;       /* least (J_n u + g)_i - mu_i t_i, m/s; meaningless in the second set */
    double proof_scale; /* of the terms it is the difference of: rounding is about 1e-15 of this */
    struct lcp_scene *scene;
} lcp_case;

/* NULL when out of memory. One serves any number of cases. */
lcp_case *lcp_case_create(void);
void lcp_case_free(lcp_case *c); /* NULL allowed */

/* Sizes uniform in their logarithm from LCP_CASE_MIN_N to LCP_CASE_MAX_N. */
void lcp_case_make(lcp_case *c, uint64_t seed, int index, bool proven);
/* The largest case that is no larger than n (by less than 10). */
void lcp_case_make_sized(lcp_case *c, uint64_t seed, int index, bool proven, int n);

/* The proof, computed anew from the contacts, holds within rounding. */
bool lcp_case_proof_holds(const lcp_case *c);

const char *lcp_family_name(lcp_family family);

/* As a problem file for `perp solve`, with `comment` (one line) on top; false if it could not be written. */
bool lcp_case_write(const lcp_case *c, const char *path, const char *comment);

#endif
