/* convex_dense_generator.h - qps without the structure of contacts, by number, with what makes the collection of Maros
 * and Meszaros hard: H of any rank, none too (an lp); equations that depend on each other; rows that are nearly
 * parallel; fixed variables, bounds on one side, both or none; rows and columns whose entries reach from 1e-4 to 1e6.
 *
 * A case depends on (seed, index) alone and is made from a solution, which it carries: convex_case_proof_holds. It is
 * one block, and each row a contact of one row; convex_case_as_qp gives it in dense form. None is taken from the
 * collection.
 */
#ifndef PERP_BENCH_CONVEX_DENSE_GENERATOR_H
#define PERP_BENCH_CONVEX_DENSE_GENERATOR_H

#include "convex_case.h"

enum { CONVEX_DENSE_MIN_N = 5, CONVEX_DENSE_MAX_N = 150 };

/* c->family is the worst scaling ("even", "rows", "columns", "both"), c->curvature H ("definite", "deficient",
 * "absent"). */
void convex_dense_generator_make(convex_case *c, uint64_t seed, int index);

#endif
