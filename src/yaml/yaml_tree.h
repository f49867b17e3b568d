/* yaml_tree.h - YAML text as a tree of nodes that know where they stand.
 *
 * A real tree, not a graph: an alias becomes a deep copy, so that a later --set through one path cannot change another,
 * and the number of nodes bounds what an alias bomb can do. Nodes live in an arena.
 *
 * Invariants: a map's children have keys, all different; a list's children have key NULL and index 0, 1, ...; text of a
 * scalar is zero-terminated and holds no zero byte.
 */
#ifndef PERP_SRC_YAML_YAML_TREE_H
#define PERP_SRC_YAML_YAML_TREE_H

#include <perp/yaml.h>

#include "base/arena.h"

typedef enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP } yaml_kind;

typedef struct yaml_node yaml_node;
struct yaml_node {
    yaml_kind kind;
    bool quoted;      /* scalar: written in quotes, so never a number, a boolean or nothing */
    bool in_si;       /* units of its file have been applied to it */
    const char *text; /* scalar */
    const char *key;  /* in a map */
    int index;        /* in a list */
    int count;        /* children */
    int line, column; /* of the value, from 1 */
    int key_line, key_column;
    const char *file;
    yaml_node *parent, *first, *last, *next;
};

typedef struct yaml_reader {
    perp_arena *arena;
    perp_diagnostics *diagnostics;
    int nodes;        /* made so far, over all files */
    int column_shift; /* of the first line: where the text stands in a longer one */
    bool out_of_memory;
} yaml_reader;

/* Parses one document. NULL after an error (reported, or out_of_memory set). `file` must outlive the tree. */
yaml_node *perp_yaml_tree_parse(yaml_reader *reader, const char *text, size_t length, const char *file);

/* Makes an empty map; NULL at the limits. */
yaml_node *perp_yaml_tree_new_map(yaml_reader *reader, const char *file, int line, int column);
/* Appends `child` under `key` (kept, not copied) or, in a list, at the end. */
void perp_yaml_tree_append(yaml_node *parent, yaml_node *child, const char *key);
/* Puts `fresh` in the place of `old`, keeping key and order. */
void perp_yaml_tree_replace(yaml_node *old, yaml_node *fresh);
void perp_yaml_tree_remove(yaml_node *child);

yaml_node *perp_yaml_tree_find(const yaml_node *map, const char *key, size_t key_length);
/* True for a scalar that says nothing: empty, ~ or null. */
bool perp_yaml_tree_is_null(const yaml_node *node);
/* The dotted path of a node. */
void perp_yaml_tree_path(const yaml_node *node, char *path, size_t size);
/* Reports an error or a warning at a node: at a scalar or list itself, at a map's key. */
void perp_yaml_tree_report(perp_diagnostics *diagnostics, perp_severity severity, const yaml_node *node,
                           const char *format, ...) __attribute__((format(printf, 4, 5)));
void perp_yaml_tree_place(const yaml_node *node, int *line, int *column);

/* perp_locate_function; context is the root. */
void perp_yaml_tree_locate(const void *root, const char *path, const char **file, int *line, int *column);

#endif
