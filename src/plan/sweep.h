/* sweep.h - inside of a sweep: what its file says, and the rows of its cases. */
#ifndef PERP_SRC_PLAN_SWEEP_H
#define PERP_SRC_PLAN_SWEEP_H

#include "log/bytes.h"
#include "plan/expression.h"
#include "yaml/decode.h"

/* A value for a path, or for several. */
typedef struct sweep_paths {
    int count;
    const char **paths;
} sweep_paths;

typedef struct sweep_axis {
    const char *name;
    sweep_paths to_set;
    int count;
    const char **values; /* as text; `numbers` are NaN where it is none */
    double *numbers;
    const yaml_node *node;
} sweep_axis;

typedef struct sweep_setting {
    const char *path, *value;
    const yaml_node *node;
} sweep_setting;

typedef struct sweep_sampled {
    const char *path;
    double low, high;
    const yaml_node *node;
} sweep_sampled;

/* An expression of the file: of `derive`, for a path, or of `outputs`. */
typedef struct sweep_expression {
    const char *name, *text;
    expression parsed; /* of `derive`: symbols are axes, then sampled paths */
    const yaml_node *node;
} sweep_expression;

typedef struct sweep_file {
    const char *name, *text;
    size_t size;
} sweep_file;

/* Where outputs change between neighbours of the grid, which the last two axes span for each value of the others. */
typedef struct sweep_refining {
    int levels;       /* cells with a change are halved so often; -1: nothing is refined */
    double tolerance; /* of an axis: the change is then found along the edges of cells, to this share of it */
    int output_count;
    int *outputs;
    const yaml_node *node;
} sweep_refining;

struct perp_sweep {
    perp_arena arena;
    perp_allocator allocator;
    const char *name; /* of the file */
    const yaml_node *root;
    const char *scene; /* as it is written */
    const char *scene_path;
    int file_count, file_capacity;
    sweep_file *files; /* of the scene, its own first */
    int version;
    int setting_count, axis_count, sampled_count, derived_count, output_count;
    sweep_setting *settings;
    sweep_axis *axes;
    sweep_sampled *sampled;
    sweep_expression *derived, *outputs;
    int samples; /* of each point of the grid: 1 where there are none */
    uint64_t seed;
    int cases; /* of grid and samples */
    sweep_refining refine;
    perp_hash print;     /* of all files, the version and the build */
    const char **models; /* that there are, for the loader of scenes */
};

/* Reads the file into the sweep; diagnostics say what is wrong. */
bool perp_sweep_read(perp_sweep *sweep, perp_diagnostics *diagnostics, const yaml_node *root);
/* Reports at a node of the file; of an expression at a column of its text. */
void perp_sweep_report(const perp_sweep *sweep, perp_diagnostics *diagnostics, const yaml_node *node, int column,
                       const char *format, ...) __attribute__((format(printf, 5, 6)));

/* ---- a case ------------------------------------------------------------------------------------------------------ */

/* Which case: of grid and samples, or one that a refined sweep adds beside the grid. */
typedef struct sweep_spot {
    int number; /* of its row */
    int grid;   /* the case of the grid that gives all values but these */
    bool beside;
    double at[2];     /* of the last two axes */
    const char *mark; /* of the column `refined` */
} sweep_spot;

static inline sweep_spot perp_sweep_spot(int index)
{
    return (sweep_spot){.number = index, .grid = index, .mark = ""};
}

/* The settings and values of one case. */
typedef struct sweep_case {
    sweep_spot spot;
    double *numbers; /* by axis, then by sampled path; NaN: a word */
    int setting_count;
    char **settings;
    const yaml_node **nodes; /* by setting: where it comes from */
    int undefined;           /* the expression of `derive` that has no value, -1: none */
} sweep_case;

/* In the arena; false: out of memory. */
bool perp_sweep_case_make(const perp_sweep *sweep, const sweep_spot *spot, perp_arena *arena, sweep_case *made);
/* How its scene is loaded, with the files of `files`. */
perp_scene_load_options perp_sweep_case_options(const perp_sweep *sweep, const sweep_case *c,
                                                const perp_scene_files *files);
/* Its scene, model and the outputs of its run, all or none. BAD_INPUT goes to the diagnostics. */
typedef struct sweep_model {
    perp_scene *scene;
    perp_model *model;
    perp_quantities *quantities;
} sweep_model;
perp_status perp_sweep_case_open(const perp_sweep *sweep, const sweep_case *c, const volatile bool *cancel,
                                 sweep_model *made, perp_diagnostics *diagnostics);
void perp_sweep_case_close(sweep_model *made);

/* ---- rows -------------------------------------------------------------------------------------------------------- */

void perp_sweep_header(const perp_sweep *sweep, byte_row *row);
/* Without what it computes: case, axes, samples. */
void perp_sweep_row_begin(const perp_sweep *sweep, const sweep_case *c, byte_row *row);
/* Computes a case and writes its row, the last character of which is a line end. `failed`: it has an error. Fails where
 * the sweep has to end. */
perp_status perp_sweep_row(const perp_sweep *sweep, const sweep_spot *spot, const volatile bool *cancel, byte_row *row,
                           bool *failed, perp_error *error);
/* A number that is the same for two rows where the text of this output is. */
uint64_t perp_sweep_row_kind(const perp_sweep *sweep, const byte_row *row, int output);

#endif
