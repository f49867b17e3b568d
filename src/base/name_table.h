/* name_table.h - names to indices: open addressing, power-of-two size, load at most one half.
 *
 * Keys are not copied: they must outlive the table. Lives in an arena. */
#ifndef PERP_SRC_BASE_NAME_TABLE_H
#define PERP_SRC_BASE_NAME_TABLE_H

#include "base/arena.h"

typedef struct perp_name_entry {
    const char *name; /* NULL: empty */
    int index;
} perp_name_entry;

typedef struct perp_name_table {
    perp_name_entry *entries;
    size_t mask;
} perp_name_table;

/* Room for `count` names; false when out of memory. */
bool perp_name_table_init(perp_name_table *table, perp_arena *arena, size_t count);
/* Returns `index`, or the index of the equal name that was there before (then nothing changes). */
int perp_name_table_add(perp_name_table *table, const char *name, int index);
/* The index, or -1. */
int perp_name_table_find(const perp_name_table *table, const char *name);

#endif
