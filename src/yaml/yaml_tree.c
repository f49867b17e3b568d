#include "yaml/yaml_tree.h"

#include "base/name_table.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static yaml_node *new_node(yaml_reader *reader, yaml_kind kind, const char *file, int line, int column)
{
    if (reader->nodes >= PERP_YAML_MAX_NODES) {
        perp_diagnostics_add(reader->diagnostics, PERP_SEVERITY_ERROR, file, line, column, "",
                             "there are more than %d values here", PERP_YAML_MAX_NODES);
        return NULL;
    }
    yaml_node *node = PERP_ARENA_NEW(reader->arena, yaml_node, 1);
    if (!node) {
        reader->out_of_memory = true;
        return NULL;
    }
    reader->nodes++;
    node->kind = kind;
    node->file = file;
    node->line = line;
    node->column = column;
    return node;
}

yaml_node *perp_yaml_tree_new_map(yaml_reader *reader, const char *file, int line, int column)
{
    return new_node(reader, YAML_MAP, file, line, column);
}

void perp_yaml_tree_append(yaml_node *parent, yaml_node *child, const char *key)
{
    child->key = key;
    child->index = parent->count;
    child->parent = parent;
    child->next = NULL;
    if (parent->last) {
        parent->last->next = child;
    } else {
        parent->first = child;
    }
    parent->last = child;
    parent->count++;
}

static yaml_node *before(const yaml_node *child)
{
    yaml_node *previous = child->parent->first;
    if (previous == child) {
        return NULL;
    }
    while (previous->next != child) {
        previous = previous->next;
    }
    return previous;
}

void perp_yaml_tree_replace(yaml_node *old, yaml_node *fresh)
{
    yaml_node *previous = before(old);
    fresh->key = old->key;
    fresh->key_line = fresh->line;
    fresh->key_column = fresh->column;
    fresh->index = old->index;
    fresh->parent = old->parent;
    fresh->next = old->next;
    if (previous) {
        previous->next = fresh;
    } else {
        old->parent->first = fresh;
    }
    if (old->parent->last == old) {
        old->parent->last = fresh;
    }
}

void perp_yaml_tree_remove(yaml_node *child)
{
    yaml_node *parent = child->parent, *previous = before(child);
    if (previous) {
        previous->next = child->next;
    } else {
        parent->first = child->next;
    }
    if (parent->last == child) {
        parent->last = previous;
    }
    parent->count--;
}

/* Recursion is bounded by PERP_YAML_MAX_DEPTH: a node that stands is no deeper. */
static yaml_node *copy_node(yaml_reader *reader, const yaml_node *from)
{
    yaml_node *copy = new_node(reader, from->kind, from->file, from->line, from->column);
    if (!copy) {
        return NULL;
    }
    copy->quoted = from->quoted;
    copy->text = from->text;
    for (const yaml_node *child = from->first; child; child = child->next) {
        yaml_node *child_copy = copy_node(reader, child);
        if (!child_copy) {
            return NULL;
        }
        perp_yaml_tree_append(copy, child_copy, child->key);
        child_copy->key_line = child->key_line;
        child_copy->key_column = child->key_column;
    }
    return copy;
}

static int size_of(const yaml_node *node)
{
    int size = 1;
    for (const yaml_node *child = node->first; child; child = child->next) {
        size += size_of(child);
    }
    return size;
}

static int depth_of(const yaml_node *node)
{
    int deepest = 0;
    for (const yaml_node *child = node->first; child; child = child->next) {
        const int depth = 1 + depth_of(child);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

yaml_node *perp_yaml_tree_find(const yaml_node *map, const char *key, size_t key_length)
{
    for (yaml_node *child = map->first; child; child = child->next) {
        if (child->key && strncmp(child->key, key, key_length) == 0 && child->key[key_length] == '\0') {
            return child;
        }
    }
    return NULL;
}

bool perp_yaml_tree_is_null(const yaml_node *node)
{
    return node->kind == YAML_SCALAR && !node->quoted &&
           (node->text[0] == '\0' || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

void perp_yaml_tree_path(const yaml_node *node, char *path, size_t size)
{
    path[0] = '\0';
    if (!node->parent) {
        return;
    }
    perp_yaml_tree_path(node->parent, path, size);
    const size_t length = strlen(path);
    const char *dot = length ? "." : "";
    if (node->key) {
        snprintf(path + length, size - length, "%s%s", dot, node->key);
    } else {
        snprintf(path + length, size - length, "%s%d", dot, node->index);
    }
}

void perp_yaml_tree_place(const yaml_node *node, int *line, int *column)
{
    const bool at_key = node->kind == YAML_MAP && node->key_line > 0;
    *line = at_key ? node->key_line : node->line;
    *column = at_key ? node->key_column : node->column;
}

void perp_yaml_tree_report(perp_diagnostics *diagnostics, perp_severity severity, const yaml_node *node,
                           const char *format, ...)
{
    char message[512], path[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    int line, column;
    perp_yaml_tree_place(node, &line, &column);
    perp_yaml_tree_path(node, path, sizeof path);
    perp_diagnostics_add(diagnostics, severity, node->file, line, column, path, "%s", message);
}

/* The child of a map whose key begins the path, the longest such key: a bad name may hold dots. */
static const yaml_node *find_on_path(const yaml_node *map, const char *path, size_t *length)
{
    const yaml_node *found = NULL;
    *length = 0;
    for (const yaml_node *child = map->first; child; child = child->next) {
        const size_t size = strlen(child->key);
        if (size >= *length && strncmp(child->key, path, size) == 0 && (path[size] == '.' || path[size] == '\0')) {
            found = child;
            *length = size;
        }
    }
    return found;
}

void perp_yaml_tree_locate(const void *root, const char *path, const char **file, int *line, int *column)
{
    const yaml_node *node = root;
    while (*path) {
        size_t length = strcspn(path, ".");
        const yaml_node *child = NULL;
        if (node->kind == YAML_MAP) {
            child = find_on_path(node, path, &length);
        } else if (node->kind == YAML_LIST) {
            int index = 0;
            sscanf(path, "%d", &index);
            for (child = node->first; child && child->index != index; child = child->next) {
            }
        }
        if (!child) {
            break;
        }
        node = child;
        path += length + (path[length] == '.' ? 1 : 0);
    }
    *file = node->file;
    perp_yaml_tree_place(node, line, column);
}

/* ---- parsing ----------------------------------------------------------------------------------------------------- */

typedef struct anchor {
    const char *name;
    const yaml_node *node;
    struct anchor *next;
} anchor;

typedef struct level {
    yaml_node *container;
    const char *anchor; /* to register when the container is complete */
    const char *key;    /* the pending key of a map */
    int key_line, key_column;
} level;

typedef struct builder {
    yaml_reader *reader;
    const char *file;
    yaml_node *root;
    anchor *anchors;
    int anchor_count;
    const char *text;
    size_t length;
    int depth;
    level levels[PERP_YAML_MAX_DEPTH];
} builder;

static int line_of(const yaml_mark_t *mark)
{
    return (int)mark->line + 1;
}

static int column_of(const builder *b, const yaml_mark_t *mark)
{
    return (int)mark->column + 1 + (mark->line == 0 ? b->reader->column_shift : 0);
}

static bool fail_at(builder *b, const yaml_mark_t *mark, const char *format, ...) __attribute__((format(printf, 3, 4)));

static bool fail_at(builder *b, const yaml_mark_t *mark, const char *format, ...)
{
    char message[512], path[256] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (b->depth > 0) {
        perp_yaml_tree_path(b->levels[b->depth - 1].container, path, sizeof path);
    }
    perp_diagnostics_add(b->reader->diagnostics, PERP_SEVERITY_ERROR, b->file, line_of(mark), column_of(b, mark), path,
                         "%s", message);
    return false;
}

static bool register_anchor(builder *b, const char *name, const yaml_node *node)
{
    if (!name) {
        return true;
    }
    if (b->anchor_count++ == PERP_YAML_MAX_ANCHORS) {
        perp_yaml_tree_report(b->reader->diagnostics, PERP_SEVERITY_ERROR, node, "a file has at most %d anchors",
                              PERP_YAML_MAX_ANCHORS);
        return false;
    }
    anchor *a = PERP_ARENA_NEW(b->reader->arena, anchor, 1);
    if (!a) {
        b->reader->out_of_memory = true;
        return false;
    }
    a->name = name;
    a->node = node;
    a->next = b->anchors;
    b->anchors = a;
    return true;
}

static const char *keep_text(builder *b, const void *text, size_t length)
{
    const char *copy = perp_arena_text(b->reader->arena, text, length);
    b->reader->out_of_memory = b->reader->out_of_memory || !copy;
    return copy;
}

/* Hangs a node into the open container, or makes it the root. */
static bool place(builder *b, yaml_node *node)
{
    if (b->depth == 0) {
        b->root = node;
        return true;
    }
    level *top = &b->levels[b->depth - 1];
    perp_yaml_tree_append(top->container, node, top->key);
    node->key_line = top->key_line;
    node->key_column = top->key_column;
    top->key = NULL;
    return true;
}

/* True if the next scalar is a key. */
static bool expects_key(const builder *b)
{
    return b->depth > 0 && b->levels[b->depth - 1].container->kind == YAML_MAP && !b->levels[b->depth - 1].key;
}

static bool on_scalar(builder *b, const yaml_event_t *event)
{
    const size_t length = event->data.scalar.length;
    if (memchr(event->data.scalar.value, 0, length)) {
        return fail_at(b, &event->start_mark, "text must not contain a zero byte");
    }
    if (event->data.scalar.tag) {
        return fail_at(b, &event->start_mark, "tags such as %.40s are not used here; write the plain value",
                       (const char *)event->data.scalar.tag);
    }
    const char *text = keep_text(b, event->data.scalar.value, length);
    if (!text) {
        return false;
    }
    if (expects_key(b)) {
        level *top = &b->levels[b->depth - 1];
        top->key = text;
        top->key_line = line_of(&event->start_mark);
        top->key_column = column_of(b, &event->start_mark);
        return true;
    }
    yaml_node *node =
        new_node(b->reader, YAML_SCALAR, b->file, line_of(&event->start_mark), column_of(b, &event->start_mark));
    if (!node) {
        return false;
    }
    node->text = text;
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    const char *name = NULL;
    if (event->data.scalar.anchor) {
        name = keep_text(b, event->data.scalar.anchor, strlen((const char *)event->data.scalar.anchor));
        if (!name) {
            return false;
        }
    }
    return place(b, node) && register_anchor(b, name, node);
}

static bool on_start(builder *b, yaml_kind kind, const yaml_event_t *event)
{
    const yaml_char_t *name = kind == YAML_MAP ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
    const yaml_char_t *tag = kind == YAML_MAP ? event->data.mapping_start.tag : event->data.sequence_start.tag;
    if (expects_key(b)) {
        return fail_at(b, &event->start_mark, "a key must be plain text");
    }
    if (tag) {
        return fail_at(b, &event->start_mark, "tags such as %.40s are not used here; write the plain value",
                       (const char *)tag);
    }
    if (b->depth == PERP_YAML_MAX_DEPTH) {
        return fail_at(b, &event->start_mark, "nested more than %d levels deep", PERP_YAML_MAX_DEPTH);
    }
    yaml_node *node = new_node(b->reader, kind, b->file, line_of(&event->start_mark), column_of(b, &event->start_mark));
    if (!node || !place(b, node)) {
        return false;
    }
    level *top = &b->levels[b->depth++];
    memset(top, 0, sizeof *top);
    top->container = node;
    if (name) {
        top->anchor = keep_text(b, name, strlen((const char *)name));
        return top->anchor != NULL;
    }
    return true;
}

static bool refuse_duplicates(builder *b, yaml_node *map)
{
    perp_name_table table;
    perp_arena scratch;
    perp_arena_init(&scratch, &b->reader->arena->allocator);
    bool good = perp_name_table_init(&table, &scratch, (size_t)map->count);
    b->reader->out_of_memory = b->reader->out_of_memory || !good;
    for (yaml_node *child = map->first, *next; child && good; child = next) {
        next = child->next;
        if (perp_name_table_add(&table, child->key, child->index) != child->index) {
            /* Filed under no path, so that what is wrong with the first is still told; the second is dropped. */
            perp_diagnostics_add(b->reader->diagnostics, PERP_SEVERITY_ERROR, b->file, child->key_line,
                                 child->key_column, "", "`%s` is defined twice here", child->key);
            perp_yaml_tree_remove(child);
        }
    }
    perp_arena_clear(&scratch);
    return good;
}

static bool on_end(builder *b)
{
    assert(b->depth > 0); /* libyaml pairs starts and ends */
    const level top = b->levels[--b->depth];
    assert(top.container);
    if (top.container->kind == YAML_MAP && top.container->count > 1 && !refuse_duplicates(b, top.container)) {
        return false;
    }
    return register_anchor(b, top.anchor, top.container);
}

static bool on_alias(builder *b, const yaml_event_t *event)
{
    const char *name = (const char *)event->data.alias.anchor;
    if (expects_key(b)) {
        return fail_at(b, &event->start_mark, "a key must be plain text, not an alias");
    }
    for (const anchor *a = b->anchors; a; a = a->next) {
        if (strcmp(a->name, name) == 0) {
            if (b->depth + depth_of(a->node) > PERP_YAML_MAX_DEPTH) {
                return fail_at(b, &event->start_mark, "nested more than %d levels deep", PERP_YAML_MAX_DEPTH);
            }
            if (size_of(a->node) > PERP_YAML_MAX_NODES - b->reader->nodes) {
                return fail_at(b, &event->start_mark, "with this alias there are more than %d values",
                               PERP_YAML_MAX_NODES);
            }
            yaml_node *copy = copy_node(b->reader, a->node);
            return copy && place(b, copy);
        }
    }
    return fail_at(b, &event->start_mark, "there is no anchor `&%.60s` before this alias", name);
}

/* Consumes one event; false to stop. */
static bool on_event(builder *b, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return on_scalar(b, event);
    case YAML_SEQUENCE_START_EVENT:
        return on_start(b, YAML_LIST, event);
    case YAML_MAPPING_START_EVENT:
        return on_start(b, YAML_MAP, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return on_end(b);
    case YAML_ALIAS_EVENT:
        return on_alias(b, event);
    case YAML_DOCUMENT_START_EVENT:
        return !b->root || fail_at(b, &event->start_mark, "one document a file; remove the second `---`");
    default:
        return true;
    }
}

/* Line and column of a byte, columns in characters. */
static yaml_mark_t mark_of_byte(const builder *b, size_t offset)
{
    yaml_mark_t mark = {0, 0, 0};
    for (size_t i = 0; i < offset && i < b->length; i++) {
        const bool line = b->text[i] == '\n';
        mark.line += line;
        mark.column = line ? 0 : mark.column + ((b->text[i] & 0xc0) != 0x80);
    }
    return mark;
}

/* What libyaml says of broken text. A reader error (bad UTF-8) has an offset but no mark. */
static void report_syntax(builder *b, const yaml_parser_t *parser)
{
    if (parser->error == YAML_MEMORY_ERROR) {
        b->reader->out_of_memory = true;
        return;
    }
    const char *problem = parser->problem ? parser->problem : "unreadable text";
    const bool reading = parser->error == YAML_READER_ERROR;
    const yaml_mark_t *mark = reading ? &parser->mark : &parser->problem_mark;
    if (!reading && mark->index < b->length && b->text[mark->index] == '\t') {
        fail_at(b, mark, "a tab stands here; YAML is indented with blanks");
    } else if (reading) {
        const yaml_mark_t place = mark_of_byte(b, parser->problem_offset);
        fail_at(b, &place, "not UTF-8 text: %s", problem);
    } else {
        fail_at(b, mark, "not YAML: %s%s%s", problem, parser->context ? " " : "",
                parser->context ? parser->context : "");
    }
}

yaml_node *perp_yaml_tree_parse(yaml_reader *reader, const char *text, size_t length, const char *file)
{
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark, as some editors write */
        text += 3;
        length -= 3;
    }
    builder b = {.reader = reader, .file = file, .text = text, .length = length};
    yaml_parser_t parser;
    const int errors = reader->diagnostics->errors;
    if (!yaml_parser_initialize(&parser)) {
        reader->out_of_memory = true;
        return NULL;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    bool going = true, whole = false;
    while (going) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            report_syntax(&b, &parser);
            break;
        }
        whole = event.type == YAML_STREAM_END_EVENT;
        going = on_event(&b, &event) && !whole;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    if (!whole) {
        return NULL;
    }
    if (!b.root && reader->diagnostics->errors == errors) {
        perp_diagnostics_add(reader->diagnostics, PERP_SEVERITY_ERROR, file, 1, 1, "", "there is nothing here");
    }
    return b.root;
}

const char *perp_yaml_version(void)
{
    return yaml_get_version_string();
}
