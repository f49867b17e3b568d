/* sim_pool.h - the memory of a simulation: an allocator that knows how much it has given out, and may have a limit.
 *
 * Parts have sizes 2^k; what is given back waits for the next one of its size until the pool is freed. Memory of a
 * simulation grows by doubling, so that what is left behind serves what is smaller. With a limit all of it is taken
 * beforehand, as one block. */
#ifndef PERP_SRC_SIM_SIM_POOL_H
#define PERP_SRC_SIM_SIM_POOL_H

#include <perp/base.h>

typedef struct sim_pool sim_pool;

/* `limit` 0: none. NULL: the source has not so much. The source's functions must outlive the pool. */
sim_pool *perp_sim_pool_create(const perp_allocator *source, size_t limit);
void perp_sim_pool_free(sim_pool *pool); /* NULL allowed; with everything that it gave out */
perp_allocator perp_sim_pool_allocator(sim_pool *pool);
/* Bytes that were ever taken, the pool's own included: the limit under which the same requests would be met. */
size_t perp_sim_pool_used(const sim_pool *pool);
size_t perp_sim_pool_limit(const sim_pool *pool);
/* Was something refused since the last call because of the limit? */
bool perp_sim_pool_refused(sim_pool *pool);

#endif
