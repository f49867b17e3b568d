#include "base/hash.h"
#include "base/name_table.h"

#include <string.h>

bool perp_name_table_init(perp_name_table *table, perp_arena *arena, size_t count)
{
    size_t size = 8;
    while (size < 2 * count) {
        size *= 2;
    }
    table->entries = PERP_ARENA_NEW(arena, perp_name_entry, size);
    table->mask = table->entries ? size - 1 : 0;
    return table->entries != NULL;
}

static perp_name_entry *slot_of(const perp_name_table *table, const char *name)
{
    perp_hash hash = perp_hash_begin();
    perp_hash_bytes(&hash, name, strlen(name));
    size_t i = (size_t)hash.value & table->mask;
    while (table->entries[i].name && strcmp(table->entries[i].name, name) != 0) {
        i = (i + 1) & table->mask;
    }
    return &table->entries[i];
}

int perp_name_table_add(perp_name_table *table, const char *name, int index)
{
    perp_name_entry *entry = slot_of(table, name);
    if (!entry->name) {
        entry->name = name;
        entry->index = index;
    }
    return entry->index;
}

int perp_name_table_find(const perp_name_table *table, const char *name)
{
    if (!table->entries || !name) {
        return -1;
    }
    const perp_name_entry *entry = slot_of(table, name);
    return entry->name ? entry->index : -1;
}
