#include "report/map.h"

#include <stdio.h>
#include <string.h>

typedef struct reader {
    const char *at, *end;
    int line;
    perp_arena *arena;
} reader;

/* The next cell, without its quotes; NULL: no memory. `last`: of its row. */
static const char *read_cell(reader *r, bool *last)
{
    char *cell = NULL;
    size_t size = 0;
    for (int pass = 0; pass < 2; pass++) { /* its size, then its bytes */
        const char *c = r->at;
        bool quoted = false;
        size = 0;
        for (; c < r->end && (quoted || (*c != ',' && *c != '\n')); c++) {
            if (*c == '"' && quoted && c + 1 < r->end && c[1] == '"') {
                c++;
            } else if (*c == '"') {
                quoted = !quoted;
                continue;
            } else if (*c == '\r' && !quoted) {
                continue;
            }
            if (cell) {
                cell[size] = *c;
                r->line += *c == '\n';
            }
            size++;
        }
        if (pass == 1) {
            *last = c >= r->end || *c == '\n';
            r->line += c < r->end && *c == '\n';
            r->at = c < r->end ? c + 1 : c;
        } else if (!(cell = perp_arena_push(r->arena, size + 1, 1))) {
            return NULL;
        }
    }
    return cell;
}

static perp_status fail_at(int line, const char *name, perp_error *error, const char *message)
{
    perp_fail(error, PERP_STATUS_BAD_INPUT, "%s", message);
    if (error) {
        snprintf(error->file, sizeof error->file, "%s", name);
        error->line = line;
        error->column = 1;
    }
    return PERP_STATUS_BAD_INPUT;
}

static perp_status no_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a table");
}

static int count_lines(const reader *r)
{
    int count = 1;
    for (const char *c = r->at; c < r->end; c++) {
        count += *c == '\n';
    }
    return count;
}

static perp_status read_names(reader *r, const char *name, map_table *t, perp_error *error)
{
    int capacity = 0;
    for (bool last = false; !last;) {
        const char *cell = read_cell(r, &last);
        const char **grown =
            cell ? perp_arena_grow(r->arena, t->names, t->column_count, &capacity, sizeof *grown) : NULL;
        if (!grown) {
            return no_memory(error);
        }
        t->names = grown;
        grown[t->column_count++] = cell;
    }
    return t->column_count >= 3
               ? PERP_STATUS_OK
               : fail_at(1, name, error,
                         "a map needs a table of at least 3 columns, with their names in the first row");
}

perp_status perp_map_read(const char *text, size_t length, const char *name, perp_arena *arena, map_table *t,
                          perp_error *error)
{
    reader r = {text, text + length, 1, arena};
    *t = (map_table){0};
    if (memchr(text, '\0', length)) {
        return fail_at(1, name, error, "this is no table: it has bytes that are no text");
    }
    perp_status status = read_names(&r, name, t, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    t->cells = PERP_ARENA_NEW(arena, const char *, (size_t)count_lines(&r) * (size_t)t->column_count);
    if (!t->cells) {
        return no_memory(error);
    }
    while (r.at < r.end) {
        const int line = r.line;
        int count = 0;
        for (bool last = false; !last; count++) {
            const char *cell = read_cell(&r, &last);
            if (!cell) {
                return no_memory(error);
            }
            if (count < t->column_count) {
                t->cells[t->row_count * t->column_count + count] = cell;
            }
        }
        if (count != t->column_count) {
            char message[100];
            snprintf(message, sizeof message, "this row has %d cells; the first one has %d", count, t->column_count);
            return fail_at(line, name, error, message);
        }
        t->row_count++;
    }
    return t->row_count > 0 ? PERP_STATUS_OK : fail_at(1, name, error, "the table has no rows");
}
