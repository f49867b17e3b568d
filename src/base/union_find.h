/* union_find.h - sets that are joined: every element has a parent, and a root is its own. */
#ifndef PERP_SRC_BASE_UNION_FIND_H
#define PERP_SRC_BASE_UNION_FIND_H

/* Shortens the way on the way. */
static inline int perp_union_root(int *parent, int i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

#endif
