/* map.h - maps: a table over two of its columns, as regions of equal words and bands between levels of numbers.
 *
 *   map_table.c   the table from its text
 *   map_grid.c    which of its rows are the grid, and what stands at its points, for each layer
 *   map_faces.c   the cells of the grid, cut into faces of one kind each
 *   map_lines.c   faces joined: outlines of regions, lines between them, areas
 *   map_draw.c, map_legend.c, map_json.c
 *
 * A kind is a word, or a band between two levels; 0 is missing. */
#ifndef PERP_SRC_REPORT_MAP_H
#define PERP_SRC_REPORT_MAP_H

#include "base/arena.h"
#include "log/bytes.h"
#include "report/svg.h"

#include <perp/report.h>

enum { MAP_MISSING = 0, MAP_MOST_KINDS = 64, MAP_MOST_LAYERS = 8, MAP_MOST_LEVELS = 40, MAP_MOST_WHOLE = 8 };

#define MAP_MOST_VALUE 1e100

typedef struct map_table {
    int column_count, row_count;
    const char **names;
    const char **cells; /* row by row */
} map_table;

static inline const char *perp_map_cell(const map_table *t, int row, int column)
{
    return t->cells[(size_t)row * (size_t)t->column_count + (size_t)column];
}

/* BAD_INPUT with the line. */
perp_status perp_map_read(const char *text, size_t length, const char *name, perp_arena *arena, map_table *table,
                          perp_error *error);

/* ---- layers ------------------------------------------------------------------------------------------------------ */

typedef struct map_point {
    uint64_t place; /* on the finest lattice */
    int kind;       /* of words */
    double value;   /* of numbers; NaN: missing */
} map_point;

/* Where a word changes on an edge of the finest lattice, from (i, j) along x or y. */
typedef struct map_change {
    uint64_t place; /* twice that of (i, j), and 1 more along y */
    double at[2];
} map_change;

/* An edge of a face, which is at its left; faces go counterclockwise. */
typedef struct map_edge {
    int a, b, kind;
} map_edge;

typedef struct map_faces {
    int vertex_count, vertex_capacity;
    double (*vertices)[2];
    int edge_count, edge_capacity;
    map_edge *edges;
} map_faces;

/* Vertices one after the other; closed: the last one is followed by the first. */
typedef struct map_line {
    int first, count; /* of map_lines.vertices */
    int kind, other;  /* of an outline: its region; of a line: what it is between, kind < other */
    bool closed;
} map_line;

typedef struct map_lines {
    int line_count, line_capacity;
    map_line *lines;
    int vertex_count, vertex_capacity;
    int *vertices; /* indices of map_faces */
} map_lines;

typedef struct map_layer {
    int output;     /* column */
    const char *at; /* the value of the column that tells layers apart; NULL: none does */
    bool numbers;
    int point_count;
    map_point *points; /* by place */
    int change_count;
    map_change *changes; /* by place */
    int level_count;
    double levels[MAP_MOST_LEVELS];
    double low, high; /* of numbers */
    map_faces faces;
    map_lines outlines, lines;
    double areas[MAP_MOST_KINDS];
} map_layer;

struct perp_map {
    perp_arena arena;
    perp_allocator allocator;
    const char *name; /* of the file */
    perp_map_options options;
    map_table table;
    int x, y, along, refined; /* columns; -1: none. Layers differ by `along` */
    int nx, ny;               /* of the grid */
    double *xs, *ys;
    int halves; /* that a cell of the grid is cut into, each way */
    int kind_count;
    const char *kinds[MAP_MOST_KINDS]; /* words; [0] is missing */
    int layer_count;
    map_layer layers[MAP_MOST_LAYERS];
};

/* Columns, grid and layers, with their points. */
perp_status perp_map_load(perp_map *map, perp_error *error);
/* Where a point of the lattice is, and its place. */
double perp_map_x(const perp_map *map, int i);
double perp_map_y(const perp_map *map, int j);
uint64_t perp_map_place(const perp_map *map, int i, int j);
const map_point *perp_map_find(const perp_map *map, const map_layer *layer, int i, int j); /* NULL: not computed */
/* NULL: it was not looked for. */
const map_change *perp_map_change(const perp_map *map, const map_layer *layer, int i, int j, int along_y);
/* What a column, or a value of `along`, is called: by the options, else as in the table. */
const char *perp_map_label(const perp_map *map, int column);
/* Of a layer, for a legend: its output, its value, or both. */
void perp_map_layer_name(const perp_map *map, const map_layer *layer, char *text, size_t size);
/* Of a kind: its word, or the levels of its band. */
void perp_map_kind_name(const perp_map *map, const map_layer *layer, int kind, char *text, size_t size);
int perp_map_kind_count(const perp_map *map, const map_layer *layer);

/* The layer's faces, false: no memory. */
bool perp_map_make_faces(perp_map *map, map_layer *layer);
/* Its outlines, lines and areas, from its faces. */
bool perp_map_join(perp_map *map, map_layer *layer);

/* Lack of memory is in out->failed. */
void perp_map_draw(const perp_map *map, byte_row *out);
void perp_map_put_json(const perp_map *map, byte_row *out);

#endif
