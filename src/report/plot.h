/* plot.h - plots of one gathered run. A part is one kind of plot: asked for its height at a width, then drawn. */
#ifndef PERP_SRC_REPORT_PLOT_H
#define PERP_SRC_REPORT_PLOT_H

#include "report/plot_axis.h"
#include "report/replay_gather.h"
#include "report/svg.h"
#include "trace/palette.h"

#include <perp/report.h>

/* Text sizes, px. */
#define PLOT_TITLE 13.0
#define PLOT_WORDS 11.0
#define PLOT_SMALL 10.0
#define PLOT_APART "#f1f3f5"                                  /* of a ribbon where its contact is not listed */
enum { PLOT_HEAD = 20, PLOT_NOTE = 15, PLOT_TIME_AXIS = 34 }; /* px: of a title, a note, a time axis */

typedef struct plot {
    svg pen;
    perp_arena *arena;
    const replay_run *run;
    const perp_plot_options *options;
    bool in_sheet;            /* one part of several: shows fewer contacts */
    perp_log_step step;       /* that the scene shows */
    int solution;             /* of an instant: that the scene shows */
    double *time;             /* s, by frame */
    int *first_row;           /* by contact: of run->rows */
    double largest;           /* N: of all normal forces */
    double longest;           /* m: of all gaps */
    const replay_run *others; /* options->other_count: further runs, of PATH and BODIES */
    perp_energy *energies;    /* by frame, of ENERGY; NULL: the log has no scene */
    bool out_of_memory;       /* what is drawn then is not whole */
} plot;

/* What a part needs: the height that suits box.width, 0 where the run has nothing to show in it. With `draw` it fills
 * the box, whose height is that, or another that the user wants. */
typedef double plot_part(plot *p, svg_box box, bool draw);
plot_part perp_plot_gaps, perp_plot_forces, perp_plot_joints, perp_plot_residuals, perp_plot_cone, perp_plot_modes,
    perp_plot_pressure, perp_plot_scene, perp_plot_energy, perp_plot_path, perp_plot_sheet;

/* Evaluates the states of all frames. Reads the log: a step that was read before is gone. */
perp_status perp_plot_load_energies(plot *p, perp_log_reader *reader, perp_error *error);
/* m: the farthest that the origin of a body gets from where it starts. */
double perp_plot_travel(const plot *p, int body);

/* Of an instant: whose forces the scene shows from now on. */
void perp_plot_show_solution(plot *p, int solution);

/* ---- choosing what is shown -------------------------------------------------------------------------------------- */

typedef struct plot_choice {
    int count;
    int *items;     /* contacts or joints, ascending */
    char note[160]; /* what was left out; empty: nothing */
} plot_choice;

/* How many are chosen: `usual` unless the options say how many, and not more than there is room for. */
typedef struct plot_count {
    int usual, room;
} plot_count;

/* PRESSED: one that never carries force counts only where it is named. PATCHES: only those that have elements. */
typedef enum plot_which { PLOT_ALL, PLOT_PRESSED, PLOT_PATCHES } plot_which;
/* Of the contacts that the options name, or of all, those with the largest normal forces, and of equal ones those with
 * the smallest gaps. */
plot_choice perp_plot_choose_contacts(plot *p, plot_count count, plot_which which);
/* Of the scalar joints likewise, those that travel farthest. */
plot_choice perp_plot_choose_joints(plot *p, plot_count count);
/* Of the bodies that the options name, or of all that move, those that travel farthest. */
plot_choice perp_plot_choose_bodies(plot *p, plot_count count);
/* "a b feature", as events have it. */
void perp_plot_contact_name(const plot *p, int contact, char *text, size_t size);
/* BAD_INPUT where the options name a contact, joint or body that the log does not have. */
perp_status perp_plot_check_names(const plot *p, perp_error *error);

/* ---- curves over time -------------------------------------------------------------------------------------------- */

enum { PLOT_MOST_CURVES = 4 };

typedef struct plot_curve {
    const char *name;
    palette_colour colour;
    const char *dash;         /* "4 3"; NULL: a full line */
    const double *y;          /* by frame; NaN: none */
    const double *low, *high; /* extremes since the frame before; NULL: none */
} plot_curve;

/* One pair of axes; rows of a stack share their time. */
typedef struct plot_row {
    const char *title;    /* NULL: none */
    const char *quantity; /* "gap"; the unit is set behind it */
    const char *unit;
    double least_span;
    bool log;
    double floor, least_top; /* of a log row: smaller numbers stand at the lower edge; the upper one is not below */
    bool with_zero;          /* the range contains 0 */
    double reference;        /* a level to draw; 0: none */
    int contact;             /* whose modes are the bands behind the curves; -1: none */
    int curve_count;
    plot_curve curves[PLOT_MOST_CURVES];
} plot_row;

typedef struct plot_stack {
    const char *title;
    const char *note;
    const char *between; /* as of perp_plot_notes */
    int row_count;
    plot_row *rows;
    int legend_count;
    const plot_curve *legend;
    int first_mode; /* of the legend */
} plot_stack;

/* How many rows of a stack the box has room for, 1 at least; without a height any number. */
int perp_plot_stack_room(plot *p, const plot_stack *stack, svg_box box);
/* As a plot_part. */
double perp_plot_stack(plot *p, const plot_stack *stack, svg_box box, bool draw);
/* How modes are painted: behind curves, in full colour, or as a ribbon, which also shows where a contact is not listed.
 */
typedef enum plot_paint { PLOT_BEHIND, PLOT_FULL, PLOT_RIBBON } plot_paint;
/* The modes of a legend: this one and those behind it; PLOT_NO_MODES: none. */
enum { PLOT_NO_MODES = PERP_CONTACT_SLIDE + 1 };
typedef struct plot_modes {
    int first;
    plot_paint paint;
} plot_modes;
/* Swatches and names, wrapped at the width; returns their height. */
double perp_plot_legend(plot *p, svg_box box, const plot_curve *curves, int count, plot_modes modes, bool draw);
/* The line below a stack's or a ribbon's axes: ticks, labels, "time (s)". */
void perp_plot_time_axis(plot *p, const plot_axis *axis, double y);
/* Rectangles between two heights in the colours of a contact's modes; with `open` also where it is open. */
void perp_plot_bands(plot *p, const plot_axis *time, int contact, svg_box box, bool open);
/* The title of a part, in the first PLOT_HEAD px of its box. */
void perp_plot_heading(plot *p, svg_box box, const char *title);
/* The lines at the end of a part, from y on: a note, which may be empty, and of a long run how much of it is drawn,
 * with `between`, what is shown of the steps between. Each in a line of its own, so that neither is cut for the other.
 */
void perp_plot_notes(plot *p, svg_box box, double y, const char *note, const char *between);
double perp_plot_notes_height(const plot *p, const char *note);
/* By frame, NaN where a contact has no row: `count` numbers, the arena's; NULL (and out_of_memory) without room. */
double *perp_plot_numbers(plot *p);
plot_range perp_plot_time_range(const plot *p);

/* ---- cells ------------------------------------------------------------------------------------------------------- */

typedef struct plot_cells {
    const char *title;
    const char *note;    /* below, behind what is left out */
    const char *between; /* as of perp_plot_notes; NULL: one step is shown */
    plot_which which;
    plot_part *legend; /* below the title; returns its height */
    void (*cell)(plot *p, int contact, svg_box box);
} plot_cells;

/* As a plot_part. */
double perp_plot_cells(plot *p, const plot_cells *cells, svg_box box, bool draw);
/* The square of a cell that has axes on its left and below. */
svg_box perp_plot_cell_area(svg_box box);
/* Grid, ticks and what the axes show; units are put behind. */
void perp_plot_cell_axes(plot *p, svg_box area, const plot_axis *x, const plot_axis *y, const char *x_words,
                         const char *y_words);

#endif
