/* failing_allocator.h - a perp_allocator that refuses requests when told to and counts what it gave.
 *
 *     failing_allocator f = {.grants = 3};
 *     const perp_allocator allocator = allocator_of(&f);
 *
 * grants the first three requests and returns NULL for every later one; with `.once = true` it refuses only the fourth
 * and grants what follows. Both are worth testing: lasting want meets a clean-up that asks for memory itself, a single
 * refusal shows code that swallows it and reports success. `.grants = INT_MAX` never refuses.
 *
 * It promises no more than the contract: memory comes full of rubbish, and releasing NULL fails the test. Blocks are
 * malloc's own, so a sanitizer watches both of their ends.
 */
#ifndef PERP_TESTS_COMMON_FAILING_ALLOCATOR_H
#define PERP_TESTS_COMMON_FAILING_ALLOCATOR_H

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <perp/base.h>

typedef struct failing_allocator {
    int grants;   /* requests granted before the first refusal */
    bool once;    /* refuse that request only, and grant the later ones again */
    int requests; /* made so far, refused ones too */
    int standing; /* blocks granted and not yet released */
} failing_allocator;

/* `context` is the failing_allocator. */
static inline void *failing_allocate(void *context, size_t size)
{
    failing_allocator *f = context;
    assert_true(size > 0); /* for nothing malloc may return NULL */
    const int request = f->requests++;
    if (f->once ? request == f->grants : request >= f->grants) {
        return NULL;
    }
    void *memory = malloc(size);
    assert_non_null(memory); /* a refusal that was not asked for would make the count meaningless */
    memset(memory, 0xa5, size);
    f->standing++;
    return memory;
}

static inline void failing_release(void *context, void *memory)
{
    failing_allocator *f = context;
    assert_non_null(memory);
    f->standing--;
    free(memory);
}

static inline perp_allocator allocator_of(failing_allocator *f)
{
    const perp_allocator r = {failing_allocate, failing_release, f};
    return r;
}

#endif
