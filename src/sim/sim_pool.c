#include "sim/sim_pool.h"

#include <string.h>

enum { CLASSES = 48, SMALLEST = 6 }; /* parts have 2^6 bytes or more, their head included */

/* The head of a part; what it is given out for follows. */
typedef struct part {
    size_t class;
    struct part *next; /* that waits */
    struct part *made; /* before it, from the source; not of a pool with a limit */
    void *unused;      /* a head keeps the alignment of 16 */
} part;

struct sim_pool {
    perp_allocator source;
    size_t limit, used;
    part *waiting[CLASSES];
    part *made;
    bool refused;
    unsigned char *block; /* where a pool with a limit begins: its parts follow itself */
};

static size_t own_size(void)
{
    return (sizeof(sim_pool) + 15) / 16 * 16;
}

sim_pool *perp_sim_pool_create(const perp_allocator *source, size_t limit)
{
    const size_t own = own_size();
    sim_pool *pool = source->allocate(source->context, limit > own ? limit : own);
    if (pool) {
        memset(pool, 0, sizeof *pool);
        pool->source = *source;
        pool->limit = limit;
        pool->used = own;
        pool->block = (unsigned char *)pool;
    }
    return pool;
}

void perp_sim_pool_free(sim_pool *pool)
{
    if (!pool) {
        return;
    }
    const perp_allocator source = pool->source;
    for (part *p = pool->made; p;) {
        part *before = p->made;
        source.release(source.context, p);
        p = before;
    }
    source.release(source.context, pool);
}

/* A part that was never given out before; NULL: there is no room for it. */
static part *make_part(sim_pool *pool, size_t class)
{
    const size_t size = (size_t)1 << class;
    part *p = NULL;
    if (pool->limit == 0) {
        p = pool->source.allocate(pool->source.context, size);
        if (p) {
            p->made = pool->made;
            pool->made = p;
        }
    } else if (pool->used <= pool->limit && size <= pool->limit - pool->used) {
        p = (part *)(void *)(pool->block + pool->used);
    } else {
        pool->refused = true;
    }
    pool->used += p ? size : 0;
    return p;
}

static void *take(void *context, size_t size)
{
    sim_pool *pool = context;
    size_t class = SMALLEST;
    while (class < CLASSES && ((size_t)1 << class) - sizeof(part) < size) {
        class ++;
    }
    if (class == CLASSES) {
        return NULL;
    }
    part *p = pool->waiting[class];
    if (p) {
        pool->waiting[class] = p->next;
    } else {
        p = make_part(pool, class);
    }
    if (!p) {
        return NULL;
    }
    p->class = class;
    return p + 1;
}

static void give_back(void *context, void *memory)
{
    sim_pool *pool = context;
    part *p = (part *)memory - 1;
    p->next = pool->waiting[p->class];
    pool->waiting[p->class] = p;
}

perp_allocator perp_sim_pool_allocator(sim_pool *pool)
{
    return (perp_allocator){.context = pool, .allocate = take, .release = give_back};
}

size_t perp_sim_pool_used(const sim_pool *pool)
{
    return pool->used;
}

size_t perp_sim_pool_limit(const sim_pool *pool)
{
    return pool->limit;
}

bool perp_sim_pool_refused(sim_pool *pool)
{
    const bool refused = pool->refused;
    pool->refused = false;
    return refused;
}
