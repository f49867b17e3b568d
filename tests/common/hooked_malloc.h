/* hooked_malloc.h - counts what a program asks of malloc, to show that solving takes no memory. For one file of a
 * program: it defines malloc, calloc and realloc. Sanitizers and other C libraries have their own, and then nothing is
 * watched. */
#ifndef PERP_TESTS_COMMON_HOOKED_MALLOC_H
#define PERP_TESTS_COMMON_HOOKED_MALLOC_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

static long requests; /* to malloc, calloc and realloc */

#if !defined(SANITIZED) && defined(__GLIBC__)

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size)
{
    requests++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    requests++;
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    requests++;
    return __libc_realloc(memory, size);
}

static const bool watching = true;

#else

static const bool watching = false;

#endif

#endif
