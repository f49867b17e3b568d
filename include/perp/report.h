/* perp/report.h - what people look at, made from run logs: the replay, and plots.
 *
 * A replay is one HTML file that opens from disk, with no server and no request to anywhere: the motion, the forces in
 * their friction cones, the modes of the contacts along time, plots, and why a contact holds or slips. docs/replay.md.
 * A plot is one SVG picture, for a paper or a page. docs/plots.md.
 */
#ifndef PERP_REPORT_H
#define PERP_REPORT_H

#include <perp/compare.h>
#include <perp/log.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perp_replay_options {
    size_t size;                     /* of this struct; see perp/base.h */
    const perp_allocator *allocator; /* NULL: malloc */
    /* How much of a log is shown: of one with more steps, or with more contacts in all its steps together, one step of
     * every few is, and of those between the extremes are kept: gaps, forces, residuals, the gravest mode. */
    int most_frames;
    int most_rows;
    /* 0: a page to keep, which requests nothing. Else the number of this page: it asks for news and makes way for a
     * page of another number (perp_replay_tell). Below 2^53. */
    long long watched;
} perp_replay_options;

/* malloc, 4000 frames, 300,000 contacts in all frames together. */
static inline perp_replay_options perp_replay_options_default(void)
{
    perp_replay_options r;
    memset(&r, 0, sizeof r);
    r.size = sizeof r;
    r.most_frames = 4000;
    r.most_rows = 300000;
    return r;
}

/* False: this build has no page (PERP_VIEWER=OFF), and perp_replay_write is UNAVAILABLE. */
PERP_API bool perp_replay_available(void);

enum { PERP_REPLAY_MOST_LOGS = 9 };

/* Writes the page of 1 to PERP_REPLAY_MOST_LOGS logs, the first of which gives the bodies that labels name; `options`
 * NULL: the default ones. The file appears under its name when it is whole. The same logs give the same bytes. Numbers
 * keep 20 bits, about six figures. A log without scene files is shown without shapes. BAD_INPUT (what a reader says,
 * planar and spatial logs together), IO, OUT_OF_MEMORY, UNAVAILABLE. */
PERP_API perp_status perp_replay_write(perp_log_reader *const *readers, int count, const perp_replay_options *options,
                                       const char *path, perp_error *error);

/* News for the page at `path` that was written with options.watched. Such a page looks at the file PATH.watch.js twice
 * a second, loads itself again when `number` is not its own, and shows `message` ("": none). Write the page first. IO,
 * OUT_OF_MEMORY. */
PERP_API perp_status perp_replay_tell(const char *path, long long number, const char *message, perp_error *error);

/* ---- plots ------------------------------------------------------------------------------------------------------ */

typedef enum perp_plot_kind {
    PERP_PLOT_SHEET,     /* all of the others that the run has something for, but for ENERGY, PATH and BODIES */
    PERP_PLOT_GAPS,      /* m over time, the contact's modes behind it */
    PERP_PLOT_FORCES,    /* N over time: normal, friction, and the most friction there is */
    PERP_PLOT_CONE,      /* the path of a contact's force inside its friction cone */
    PERP_PLOT_MODES,     /* one row per contact along time, coloured by mode */
    PERP_PLOT_JOINTS,    /* m or rad over time: actual and command */
    PERP_PLOT_RESIDUALS, /* over time, with the tolerance; a log axis */
    PERP_PLOT_SCENE,     /* the bodies and forces at one step: flat, or seen from above at an angle */
    PERP_PLOT_ENERGY,    /* J over time: kinetic, of gravity, of the springs of joints, and their sum */
    PERP_PLOT_PATH,      /* where the origins of bodies go, in a plane; of several logs in one picture */
    PERP_PLOT_BODIES,    /* the same, with the shapes of all bodies at six moments */
    PERP_PLOT_PRESSURE,  /* on the patches of contacts at one step: Pa, in the plane N/m */
    PERP_PLOT_COUNT
} perp_plot_kind;

/* "sheet", "gaps", ...; a string constant. */
PERP_API const char *perp_plot_kind_name(perp_plot_kind kind);

/* What a path is seen in: from above, from the front, from the right. */
typedef enum perp_plot_plane { PERP_PLANE_XY, PERP_PLANE_XZ, PERP_PLANE_YZ } perp_plot_plane;

enum { PERP_PLOT_MOST_LOGS = 4 }; /* as many as there are colours */

typedef struct perp_plot_options {
    size_t size;                     /* of this struct; see perp/base.h */
    const perp_allocator *allocator; /* NULL: malloc */
    perp_plot_kind kind;
    int width, height; /* px; 0: what suits the content. The height of a sheet always follows from its content. */
    int most;          /* contacts or joints that are shown, those with the largest forces or travel; 0: a few */
    int contact_count; /* 0: all may be shown; else only these: "a b feature", or bodies "a b", or one body "a" */
    const char *const *contacts;
    int joint_count; /* likewise by name */
    const char *const *joints;
    int step;       /* that PERP_PLOT_SCENE and PRESSURE show; -1: the last */
    int solution;   /* of an instant, from 0: the one that plots show; a sheet has the scenes of the first few */
    int body_count; /* of PERP_PLOT_PATH and BODIES, by name; 0: those that travel farthest */
    const char *const *bodies;
    perp_plot_plane plane;          /* likewise; of a planar scene XY */
    int other_count;                /* likewise: further logs, drawn into the same picture */
    perp_log_reader *const *others; /* other_count, below PERP_PLOT_MOST_LOGS */
} perp_plot_options;

/* A sheet, in the size that suits it. */
static inline perp_plot_options perp_plot_options_default(void)
{
    perp_plot_options r;
    memset(&r, 0, sizeof r);
    r.size = sizeof r;
    r.kind = PERP_PLOT_SHEET;
    r.step = -1;
    return r;
}

/* The picture as text, zero-terminated, the caller's (perp_text_free). The same log and options give the same bytes. Of
 * long runs the extremes are kept, as in a replay. `options` NULL: the default ones. BAD_INPUT: what a reader says, and
 * with the error's code "bad-options" a contact, joint or step that the log does not have, a size that nothing fits in,
 * nothing to show; OUT_OF_MEMORY. */
PERP_API perp_status perp_plot_text(perp_log_reader *reader, const perp_plot_options *options, char **text,
                                    perp_error *error);
/* The same into a file, which appears under its name when it is whole. Also IO. */
PERP_API perp_status perp_plot_write(perp_log_reader *reader, const perp_plot_options *options, const char *path,
                                     perp_error *error);

/* The runs of a comparison over time: of each pair the quantity that differs most, at most four of these, and at most
 * four runs. Of the options sizes and allocator count. As perp_plot_text and perp_plot_write. */
PERP_API perp_status perp_compare_plot_text(const perp_comparison *comparison, const perp_plot_options *options,
                                            char **text, perp_error *error);
PERP_API perp_status perp_compare_plot_write(const perp_comparison *comparison, const perp_plot_options *options,
                                             const char *path, perp_error *error);

/* ---- maps ------------------------------------------------------------------------------------------------------- */

typedef struct perp_map_options {
    size_t size;                     /* of this struct; see perp/base.h */
    const perp_allocator *allocator; /* NULL: malloc */
    const char *x, *y;               /* names of columns */
    int output_count;                /* 1 at least: the first fills the map, the others are lines in it */
    const char *const *outputs;
    int at_count; /* "NAME=VALUE": only rows with this value */
    const char *const *at;
    int label_count; /* "NAME=TEXT": what a column is called, with its unit, "tilt (deg)" */
    const char *const *labels;
    int level_count; /* of an output that is numbers, rising; 0: round ones */
    const double *levels;
    int width, height; /* px; 0: what suits */
} perp_map_options;

static inline perp_map_options perp_map_options_default(void)
{
    perp_map_options r;
    memset(&r, 0, sizeof r);
    r.size = sizeof r;
    return r;
}

/* A table over two of its columns, as perp_sweep_run writes it or anyone else: words as regions with the lines between
 * them, numbers as bands between levels. Rows of one more column that has several values (found by itself) are layers:
 * the first fills the map, further ones are lines. With the column `refined` of a sweep regions are as exact as it. */
typedef struct perp_map perp_map;

/* From the text of a CSV file, whose name is for messages. BAD_INPUT: the table, with file and line; with the error's
 * code "bad-options" a column that is not there, rows that are no grid, and other wishes; OUT_OF_MEMORY. */
PERP_API perp_status perp_map_create(const char *text, size_t length, const char *name, const perp_map_options *options,
                                     perp_map **map, perp_error *error);
/* The same from the file itself. Also IO. */
PERP_API perp_status perp_map_create_from_file(const char *path, const perp_map_options *options, perp_map **map,
                                               perp_error *error);
PERP_API void perp_map_free(perp_map *map); /* NULL allowed */
/* The picture, an SVG file. The same table and options give the same bytes. OUT_OF_MEMORY, IO. */
PERP_API perp_status perp_map_write(const perp_map *map, const char *path, perp_error *error);
/* The same as text, and what is measured as JSON: {"layers": [{"output", "at": {NAME: VALUE} | null, "regions":
 * [{"value" | "from", "to", "area", "share"}], "lines": [{"between": [A, B], "closed", "points": [[x, y], ..]}]}]},
 * areas in the units of the axes. Zero-terminated, the caller's (perp_text_free). */
PERP_API perp_status perp_map_text(const perp_map *map, char **text, perp_error *error);
PERP_API perp_status perp_map_json(const perp_map *map, char **text, perp_error *error);

#ifdef __cplusplus
}
#endif
#endif
