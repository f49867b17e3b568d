/* decode.h - from nodes to values, by tables.
 *
 * A mapping of the format is described by a key_table: each key with the reader of its value, where the value goes, and
 * the words for the reference page. So the loader, its error messages and the documentation cannot disagree.
 *
 * A reader reports what is wrong at the node and returns false; what it could not read keeps its default. Ranges are
 * not checked here but by the check of what is read, which what is built in C passes through as well.
 */
#ifndef PERP_SRC_YAML_DECODE_H
#define PERP_SRC_YAML_DECODE_H

#include "yaml/yaml_tree.h"

typedef struct decoder {
    perp_diagnostics *diagnostics;
    perp_arena *arena; /* for arrays on their way into what is read */
    void *context;     /* of the format: what its readers fill besides their targets */
    bool planar;       /* vectors have 2 components, and keys of the other dimension are refused */
    bool out_of_memory;
    const struct key_spec *key; /* being read: messages say what its value should look like */
} decoder;

typedef bool read_function(decoder *d, const yaml_node *node, void *target);

enum { KEY_REQUIRED = 1, KEY_PLANAR = 2, KEY_SPATIAL = 4 };

typedef struct key_spec {
    const char *key;
    const char *form;     /* what to write */
    const char *fallback; /* the default, as text; "" where there is none */
    const char *meaning;
    read_function *read;
    size_t offset; /* of the target in the object that the mapping fills */
    unsigned flags;
} key_spec;

typedef struct key_table {
    const char *title; /* where such a mapping stands */
    const key_spec *keys;
    int count;
} key_table;

/* NULL if the table has no such key. */
const key_spec *perp_find_key(const key_table *table, const char *name);

/* Reads every key of a mapping into `object`; unknown keys, keys of the other dimension and missing required ones are
 * errors. An empty value counts as an empty mapping. */
bool perp_read_map(decoder *d, const yaml_node *node, const key_table *table, void *object);

/* "expected <what>, but found <what stands there>", with the form of the key. Returns false. */
bool perp_decode_expected(decoder *d, const yaml_node *node, const char *what);
bool perp_decode_error(decoder *d, const yaml_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* count * size zeroed bytes of the arena; NULL sets out_of_memory. */
void *perp_decode_memory(decoder *d, int count, size_t size);

/* A plain decimal number stands there. */
bool perp_is_number(const yaml_node *node);
bool perp_read_real(decoder *d, const yaml_node *node, void *target); /* double, finite */
bool perp_read_real_or_infinite(decoder *d, const yaml_node *node, void *target);
bool perp_read_int(decoder *d, const yaml_node *node, void *target);    /* int */
bool perp_find_bool(const yaml_node *node, bool *value);                /* without a complaint: false if it is none */
bool perp_read_bool(decoder *d, const yaml_node *node, void *target);   /* bool */
bool perp_read_text(decoder *d, const yaml_node *node, void *target);   /* const char * */
bool perp_read_vector(decoder *d, const yaml_node *node, void *target); /* perp_vec3: 3 components, planar 2 */
bool perp_read_reals(decoder *d, const yaml_node *node, double *values, int count); /* exactly `count` numbers */
/* A list is required; its elements are then walked by the caller. */
bool perp_expect_list(decoder *d, const yaml_node *node, const char *what);
/* Index of the word in `words` (NULL-terminated), or -1; perp_read_word reports that as an error. */
int perp_find_word(const yaml_node *node, const char *const *words);
int perp_read_word(decoder *d, const yaml_node *node, const char *const *words);
/* The same for the words that the key's `form` lists with commas between: an int or an enum that counts them from 0,
 * one that counts them from 1, and a bool that is true for the second. */
bool perp_read_choice(decoder *d, const yaml_node *node, void *target);
bool perp_read_choice_from_1(decoder *d, const yaml_node *node, void *target);
bool perp_read_second_choice(decoder *d, const yaml_node *node, void *target);

#endif
