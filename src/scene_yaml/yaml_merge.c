#include "scene_yaml/yaml_merge.h"

#include "base/name_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the scene: does this key hold things with names? */
static bool names_things(const char *key, size_t length)
{
    static const char *const keys[] = {"bodies", "joints", "loops", "tendons"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strlen(keys[i]) == length && memcmp(key, keys[i], length) == 0) {
            return true;
        }
    }
    return false;
}

/* True if the children of this mapping are things with names. */
static bool holds_names(const yaml_node *map)
{
    if (!map->key || !map->parent) {
        return false;
    }
    if (!map->parent->parent) {
        return names_things(map->key, strlen(map->key));
    }
    return strcmp(map->key, "pairs") == 0 && map->parent->key && strcmp(map->parent->key, "contacts") == 0;
}

static bool joins_lists(const yaml_node *list)
{
    return list->key && (strcmp(list->key, "forces") == 0 || strcmp(list->key, "exclude") == 0);
}

static void merge_children(yaml_reader *reader, yaml_node *into, yaml_node *from);

/* Moves `child` to the end of `into`; its place in the text stays with it. */
static void move_child(yaml_node *into, yaml_node *child)
{
    const int line = child->key_line, column = child->key_column;
    perp_yaml_tree_append(into, child, child->key);
    child->key_line = line;
    child->key_column = column;
}

/* Two values of one key. */
static void merge_two(yaml_reader *reader, yaml_node *present, yaml_node *child)
{
    if (present->kind != YAML_SCALAR && perp_yaml_tree_is_null(child)) {
        return; /* `bodies:` with nothing behind it takes nothing away */
    }
    if (holds_names(present->parent)) {
        perp_yaml_tree_report(reader->diagnostics, PERP_SEVERITY_ERROR, child, "`%s` was already defined at %s:%d:%d",
                              child->key, present->file, present->key_line, present->key_column);
    } else if (present->kind == YAML_MAP && child->kind == YAML_MAP) {
        merge_children(reader, present, child);
    } else if (present->kind == YAML_LIST && child->kind == YAML_LIST && joins_lists(present)) {
        merge_children(reader, present, child);
    } else {
        const int line = child->key_line, column = child->key_column;
        perp_yaml_tree_replace(present, child);
        child->key_line = line;
        child->key_column = column;
    }
}

/* The keys of `into` are hashed first, so that two files with a hundred thousand bodies each merge in linear time. */
static void merge_children(yaml_reader *reader, yaml_node *into, yaml_node *from)
{
    perp_arena scratch;
    perp_name_table names;
    perp_arena_init(&scratch, &reader->arena->allocator);
    yaml_node **present = PERP_ARENA_NEW(&scratch, yaml_node *, (size_t)into->count);
    if (!present || !perp_name_table_init(&names, &scratch, (size_t)into->count)) {
        reader->out_of_memory = true;
        perp_arena_clear(&scratch);
        return;
    }
    int count = 0;
    for (yaml_node *child = into->first; child; child = child->next) {
        if (child->key) {
            perp_name_table_add(&names, child->key, count);
        }
        present[count++] = child;
    }
    for (yaml_node *child = from->first, *next; child; child = next) {
        next = child->next;
        const int index = child->key ? perp_name_table_find(&names, child->key) : -1;
        if (index >= 0) {
            merge_two(reader, present[index], child);
        } else {
            move_child(into, child);
        }
    }
    perp_arena_clear(&scratch);
}

void perp_yaml_merge(yaml_reader *reader, yaml_node *into, yaml_node *from)
{
    merge_children(reader, into, from);
}

/* ---- settings ---------------------------------------------------------------------------------------------------- */

typedef struct setting {
    yaml_reader *reader;
    const char *label; /* "--set PATH=VALUE": stands for the file in messages */
} setting;

static yaml_node *refuse(const setting *s, int column, const char *what, const char *part, size_t length)
{
    perp_diagnostics_add(s->reader->diagnostics, PERP_SEVERITY_ERROR, s->label, 1, column, "", "%s `%.*s`", what,
                         (int)(length > 100 ? 100 : length), part);
    return NULL;
}

/* An element of a list by its number. */
static yaml_node *list_element(const setting *s, yaml_node *list, const char *part, size_t length, int column)
{
    char *end;
    const long index = strtol(part, &end, 10);
    if (end != part + length || index < 0 || part[0] == '+') {
        return refuse(s, column, "a list element is named by its number, from 0, not", part, length);
    }
    for (yaml_node *child = list->first; child; child = child->next) {
        if (child->index == index) {
            return child;
        }
    }
    return refuse(s, column, "the list has no element", part, length);
}

static yaml_node *as_map(const setting *s, yaml_node *node, const char *part, size_t length, int column)
{
    if (node->kind == YAML_SCALAR && perp_yaml_tree_is_null(node)) {
        node->kind = YAML_MAP;
    } else if (node->kind == YAML_SCALAR) {
        return refuse(s, column, "there is a plain value here; set the whole of it, for it has no key", part, length);
    }
    return node;
}

/* True if the path goes on with the number of a list element. */
static bool number_follows(const char *part, size_t length)
{
    const char *rest = part + length;
    const size_t digits = *rest == '.' ? strspn(rest + 1, "0123456789") : 0;
    return digits > 0 && (rest[1 + digits] == '.' || rest[1 + digits] == '=');
}

/* The child that `part` names; made, as an empty mapping, where it is missing. */
static yaml_node *step_into(const setting *s, yaml_node *node, const char *part, size_t length, int column)
{
    node = as_map(s, node, part, length, column);
    if (!node || node->kind == YAML_LIST) {
        return node ? list_element(s, node, part, length, column) : NULL;
    }
    yaml_node *child = perp_yaml_tree_find(node, part, length);
    if (child) {
        return child;
    }
    const bool of_names = !node->parent && names_things(part, length); /* which may be numbers */
    if (number_follows(part, length) && !of_names) {
        return refuse(s, column, "there is no list to take an element of; set the whole list", part, length);
    }
    const char *key = perp_arena_text(s->reader->arena, part, length);
    child = key ? perp_yaml_tree_new_map(s->reader, s->label, 1, column) : NULL;
    if (!child) {
        s->reader->out_of_memory = s->reader->out_of_memory || !key;
        return NULL;
    }
    perp_yaml_tree_append(node, child, key);
    child->key_line = 1;
    child->key_column = column;
    return child;
}

/* `until` and `steps` say the same thing: setting one takes the other's place. */
static void drop_alternative(const yaml_node *node)
{
    static const char *const pairs[][2] = {{"until", "steps"}, {"steps", "until"}};
    for (size_t i = 0; node->key && i < sizeof pairs / sizeof pairs[0]; i++) {
        yaml_node *other = strcmp(node->key, pairs[i][0]) == 0
                               ? perp_yaml_tree_find(node->parent, pairs[i][1], strlen(pairs[i][1]))
                               : NULL;
        if (other) {
            perp_yaml_tree_remove(other);
        }
    }
}

bool perp_yaml_apply_setting(yaml_reader *reader, yaml_node *root, const char *text)
{
    const size_t size = strlen(text) + sizeof "--set ";
    char *label = perp_arena_push(reader->arena, size, 1);
    if (!label) {
        reader->out_of_memory = true;
        return false;
    }
    snprintf(label, size, "--set %s", text);
    const setting s = {reader, label};
    const char *equals = strchr(text, '=');
    if (!equals || equals == text) {
        refuse(&s, 1, "write PATH=VALUE, for example contacts.friction=0.3, not", text, strlen(text));
        return false;
    }
    const char *value_text = equals[1] ? equals + 1 : "~"; /* nothing behind the sign says nothing */
    reader->column_shift = (int)(equals - text) + (int)sizeof "--set ";
    yaml_node *value = perp_yaml_tree_parse(reader, value_text, strlen(value_text), label);
    reader->column_shift = 0;
    if (!value) {
        return false;
    }
    yaml_node *node = root;
    for (const char *part = text; node && part < equals;) {
        const char *end = part;
        while (end < equals && *end != '.') {
            end++;
        }
        const int column = (int)(part - text) + (int)sizeof "--set ";
        node = end > part ? step_into(&s, node, part, (size_t)(end - part), column)
                          : refuse(&s, column, "the path has an empty part:", text, (size_t)(equals - text));
        part = end < equals ? end + 1 : end;
    }
    if (!node) {
        return false;
    }
    perp_yaml_tree_replace(node, value);
    drop_alternative(value);
    return true;
}
