#include "base/edit_distance.h"
#include "yaml/decode.h"

#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool perp_decode_error(decoder *d, const yaml_node *node, const char *format, ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    perp_yaml_tree_report(d->diagnostics, PERP_SEVERITY_ERROR, node, "%s", message);
    return false;
}

void *perp_decode_memory(decoder *d, int count, size_t size)
{
    void *memory = perp_arena_push(d->arena, (size_t)count, size);
    d->out_of_memory = d->out_of_memory || !memory;
    return memory;
}

/* What stands at a node, in the user's words. */
static void describe(const yaml_node *node, char text[64])
{
    if (node->kind == YAML_MAP) {
        snprintf(text, 64, "a mapping");
    } else if (node->kind == YAML_LIST) {
        snprintf(text, 64, "a list of %d", node->count);
    } else if (perp_yaml_tree_is_null(node)) {
        snprintf(text, 64, "nothing");
    } else {
        snprintf(text, 64, node->quoted ? "the text \"%.40s\"" : "`%.40s`", node->text);
    }
}

bool perp_decode_expected(decoder *d, const yaml_node *node, const char *what)
{
    char found[64];
    describe(node, found);
    if (node->key && d->key && strcmp(node->key, d->key->key) == 0) {
        return perp_decode_error(d, node, "`%s`: expected %s, but found %s; write `%s: %s`", node->key, what, found,
                                 d->key->key, d->key->form);
    }
    if (node->key) {
        return perp_decode_error(d, node, "`%.60s`: expected %s, but found %s", node->key, what, found);
    }
    return perp_decode_error(d, node, "expected %s, but found %s", what, found);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static bool right_dimension(const decoder *d, const key_spec *key)
{
    return !(key->flags & (d->planar ? KEY_SPATIAL : KEY_PLANAR));
}

static void report_unknown(decoder *d, const yaml_node *node, const key_table *table)
{
    if (d->diagnostics->errors >= PERP_DIAGNOSTICS_PER_SEVERITY) {
        perp_decode_error(d, node, "unknown key"); /* counted, not shown: no search for the nearest of a million */
        return;
    }
    const size_t given = strlen(node->key);
    const key_spec *nearest = NULL;
    int distance = INT_MAX;
    char known[300] = "";
    for (int i = 0; i < table->count; i++) {
        const key_spec *key = &table->keys[i];
        if (!right_dimension(d, key)) {
            continue;
        }
        /* a key cut short (quat for quat_wxyz) is one edit away, whatever is missing */
        const bool begun = given >= 2 && strncmp(node->key, key->key, given) == 0;
        const int edits = begun ? 1 : perp_edit_distance(node->key, key->key);
        if (edits < distance) {
            distance = edits;
            nearest = key;
        }
        const size_t length = strlen(known);
        snprintf(known + length, sizeof known - length, "%s%s", length ? ", " : "", key->key);
    }
    char message[512];
    if (strcmp(node->key, "<<") == 0) {
        snprintf(message, sizeof message, "merge keys are not known here; write the keys out, or use an alias");
    } else if (nearest && distance <= 2 && distance < (int)strlen(nearest->key)) {
        snprintf(message, sizeof message, "unknown key `%.60s`; did you mean `%s`?", node->key, nearest->key);
    } else {
        snprintf(message, sizeof message, "unknown key `%.60s`; the nearest known one is `%s` (known here: %s)",
                 node->key, nearest ? nearest->key : "", known);
    }
    char path[256];
    perp_yaml_tree_path(node, path, sizeof path);
    perp_diagnostics_add(d->diagnostics, PERP_SEVERITY_ERROR, node->file, node->key_line, node->key_column, path, "%s",
                         message);
}

const key_spec *perp_find_key(const key_table *table, const char *name)
{
    for (int i = 0; i < table->count; i++) {
        if (strcmp(table->keys[i].key, name) == 0) {
            return &table->keys[i];
        }
    }
    return NULL;
}

/* Told at the mapping, but filed under the key, so that other complaints about the mapping are still made. */
static void report_missing(decoder *d, const yaml_node *node, const key_spec *key)
{
    char path[256];
    int line, column;
    perp_yaml_tree_path(node, path, sizeof path);
    perp_yaml_tree_place(node, &line, &column);
    const size_t length = strlen(path);
    snprintf(path + length, sizeof path - length, "%s%s", length ? "." : "", key->key);
    perp_diagnostics_add(d->diagnostics, PERP_SEVERITY_ERROR, node->file, line, column, path,
                         "`%s` is missing; write `%s: %s`", key->key, key->key, key->form);
}

bool perp_read_map(decoder *d, const yaml_node *node, const key_table *table, void *object)
{
    if (node->kind != YAML_MAP && !perp_yaml_tree_is_null(node)) {
        return perp_decode_expected(d, node, "a mapping");
    }
    bool good = true;
    for (const yaml_node *child = node->first; child; child = child->next) {
        const key_spec *key = perp_find_key(table, child->key);
        if (!key) {
            report_unknown(d, child, table);
            good = false;
        } else if (!right_dimension(d, key)) {
            good = perp_decode_error(d, child, "`%s` belongs to %s scenes, but this one is %s", key->key,
                                     d->planar ? "spatial" : "planar", d->planar ? "planar" : "spatial");
        } else {
            const int errors = d->diagnostics->errors;
            d->key = key;
            const bool read = key->read(d, child, (char *)object + key->offset);
            assert(read || d->out_of_memory || d->diagnostics->errors > errors); /* it complains if it fails */
            good = read && good;
        }
    }
    for (int i = 0; i < table->count; i++) {
        const key_spec *key = &table->keys[i];
        if ((key->flags & KEY_REQUIRED) && right_dimension(d, key) &&
            !perp_yaml_tree_find(node, key->key, strlen(key->key))) {
            report_missing(d, node, key);
            good = false;
        }
    }
    return good;
}

/* ---- scalars ----------------------------------------------------------------------------------------------------- */

/* A decimal number as YAML 1.2 and JSON write it: no hexadecimal, no names, no underscores. */
static bool looks_like_number(const char *s)
{
    s += *s == '+' || *s == '-';
    const size_t whole = strspn(s, "0123456789");
    s += whole;
    size_t fraction = 0;
    if (*s == '.') {
        fraction = strspn(s + 1, "0123456789");
        s += 1 + fraction;
    }
    if (whole + fraction == 0) {
        return false;
    }
    if (*s == 'e' || *s == 'E') {
        s++;
        s += *s == '+' || *s == '-';
        const size_t digits = strspn(s, "0123456789");
        if (digits == 0) {
            return false;
        }
        s += digits;
    }
    return *s == '\0';
}

bool perp_is_number(const yaml_node *node)
{
    return node->kind == YAML_SCALAR && !node->quoted && looks_like_number(node->text);
}

static bool is_one_of(const char *text, const char *a, const char *b, const char *c)
{
    return strcmp(text, a) == 0 || strcmp(text, b) == 0 || strcmp(text, c) == 0;
}

/* +1 or -1 for an infinity as YAML writes it, else 0. */
static int infinity_sign(const char *text)
{
    const int sign = *text == '-' ? -1 : 1;
    text += *text == '-' || *text == '+';
    return is_one_of(text, ".inf", ".Inf", ".INF") ? sign : 0;
}

static bool read_number(decoder *d, const yaml_node *node, double *value, bool infinite_allowed)
{
    if (node->kind != YAML_SCALAR || node->quoted || perp_yaml_tree_is_null(node)) {
        return perp_decode_expected(d, node, "a number");
    }
    const int sign = infinity_sign(node->text);
    if (sign != 0) {
        if (!infinite_allowed) {
            return perp_decode_error(d, node, "expected a finite number, but found `%.40s`", node->text);
        }
        *value = sign > 0 ? INFINITY : -INFINITY;
        return true;
    }
    if (is_one_of(node->text, ".nan", ".NaN", ".NAN")) {
        return perp_decode_error(d, node, "expected a number, but found NaN");
    }
    if (!looks_like_number(node->text)) {
        return perp_decode_expected(d, node, "a number");
    }
    const double parsed = strtod(node->text, NULL);
    if (!isfinite(parsed)) {
        return perp_decode_error(d, node, "`%.40s` is too large for a double", node->text);
    }
    *value = parsed;
    return true;
}

bool perp_read_real(decoder *d, const yaml_node *node, void *target)
{
    return read_number(d, node, target, false);
}

bool perp_read_real_or_infinite(decoder *d, const yaml_node *node, void *target)
{
    return read_number(d, node, target, true);
}

bool perp_read_int(decoder *d, const yaml_node *node, void *target)
{
    double value;
    if (!read_number(d, node, &value, false)) {
        return false;
    }
    if (value != floor(value) || fabs(value) > 2e9) {
        return perp_decode_expected(d, node, "a whole number (up to 2e9)");
    }
    *(int *)target = (int)value;
    return true;
}

bool perp_find_bool(const yaml_node *node, bool *value)
{
    const bool plain = node->kind == YAML_SCALAR && !node->quoted;
    *value = plain && is_one_of(node->text, "true", "True", "TRUE");
    return *value || (plain && is_one_of(node->text, "false", "False", "FALSE"));
}

bool perp_read_bool(decoder *d, const yaml_node *node, void *target)
{
    bool value;
    if (!perp_find_bool(node, &value)) {
        return perp_decode_expected(d, node, "true or false");
    }
    *(bool *)target = value;
    return true;
}

bool perp_read_text(decoder *d, const yaml_node *node, void *target)
{
    if (node->kind != YAML_SCALAR || perp_yaml_tree_is_null(node)) {
        return perp_decode_expected(d, node, "text");
    }
    *(const char **)target = node->text;
    return true;
}

int perp_find_word(const yaml_node *node, const char *const *words)
{
    for (int i = 0; node->kind == YAML_SCALAR && words[i]; i++) {
        if (strcmp(node->text, words[i]) == 0) {
            return i;
        }
    }
    return -1;
}

int perp_read_word(decoder *d, const yaml_node *node, const char *const *words)
{
    const int word = perp_find_word(node, words);
    if (word < 0) {
        char known[200] = "one of";
        for (int i = 0; words[i]; i++) {
            const size_t length = strlen(known);
            snprintf(known + length, sizeof known - length, "%s `%s`", i ? "," : "", words[i]);
        }
        perp_decode_expected(d, node, known);
    }
    return word;
}

/* The words of a list with commas, as perp_read_word takes them. */
static int read_choice(decoder *d, const yaml_node *node)
{
    enum { MOST = 8 };
    char list[120];
    const char *words[MOST + 1] = {list};
    const size_t length = strlen(d->key->form);
    assert(length < sizeof list);
    memcpy(list, d->key->form, length + 1);
    int count = 1;
    for (char *comma = strstr(list, ", "); comma; comma = strstr(comma, ", ")) {
        assert(count < MOST);
        *comma = '\0';
        comma += 2;
        words[count++] = comma;
    }
    return perp_read_word(d, node, words);
}

bool perp_read_choice(decoder *d, const yaml_node *node, void *target)
{
    const int word = read_choice(d, node);
    *(int *)target = word >= 0 ? word : *(int *)target;
    return word >= 0;
}

bool perp_read_choice_from_1(decoder *d, const yaml_node *node, void *target)
{
    const bool good = perp_read_choice(d, node, target);
    *(int *)target += good ? 1 : 0;
    return good;
}

bool perp_read_second_choice(decoder *d, const yaml_node *node, void *target)
{
    const int word = read_choice(d, node);
    *(bool *)target = word == 1;
    return word >= 0;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

bool perp_expect_list(decoder *d, const yaml_node *node, const char *what)
{
    return node->kind == YAML_LIST || perp_decode_expected(d, node, what);
}

bool perp_read_reals(decoder *d, const yaml_node *node, double *values, int count)
{
    char what[64];
    snprintf(what, sizeof what, "a list of %d numbers", count);
    if (node->kind != YAML_LIST || node->count != count) {
        return perp_decode_expected(d, node, what);
    }
    bool good = true;
    for (const yaml_node *child = node->first; child; child = child->next) {
        good = read_number(d, child, &values[child->index], false) && good;
    }
    return good;
}

bool perp_read_vector(decoder *d, const yaml_node *node, void *target)
{
    double values[3] = {0, 0, 0};
    if (!perp_read_reals(d, node, values, d->planar ? 2 : 3)) {
        return false;
    }
    *(perp_vec3 *)target = perp_vec3_make(values[0], values[1], values[2]);
    return true;
}
