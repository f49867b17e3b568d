/* sort.h - qsort where there may be nothing to sort: C17 wants an address of qsort even then, and an array without
 * elements may have none. */
#ifndef PERP_SRC_BASE_SORT_H
#define PERP_SRC_BASE_SORT_H

#include <stdlib.h>

static inline void perp_sort(void *elements, int count, size_t size, int (*compare)(const void *, const void *))
{
    if (count > 1) {
        qsort(elements, (size_t)count, size, compare);
    }
}

#endif
