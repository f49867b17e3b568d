/* The plots whose curves run over time. */
#include "report/plot.h"
#include "report/tolerances.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define FIELD(name) offsetof(replay_row, name)

/* Which rows count: those of a frame itself, those of a step (the initial state has gaps and no forces yet), or also
 * those that are there for their extremes alone. */
typedef enum row_choice { AT_FRAMES, AT_STEPS, WITH_EXTREMES } row_choice;

/* The double at `field` of a contact's rows by frame; NaN between them. */
static const double *numbers_of(plot *p, int contact, size_t field, row_choice choice)
{
    double *numbers = perp_plot_numbers(p);
    const replay_row *rows = &p->run->rows[p->first_row[contact]];
    for (int i = 0; numbers && i < p->run->contacts[contact].row_count; i++) {
        const bool begins = p->run->frames[rows[i].frame].step == 0;
        if (choice == WITH_EXTREMES || (rows[i].mode < REPLAY_APART && !(choice == AT_STEPS && begins))) {
            memcpy(&numbers[rows[i].frame], (const char *)&rows[i] + field, sizeof *numbers);
        }
    }
    return numbers;
}

static const char SHADED[] = "extremes between are shaded";

static void add_extremes(plot *p, plot_curve *curve, int contact, size_t low, size_t high)
{
    if (p->run->stride > 1) {
        curve->low = numbers_of(p, contact, low, WITH_EXTREMES);
        curve->high = numbers_of(p, contact, high, WITH_EXTREMES);
    }
}

/* Titles are the arena's; NULL without room, which shows as a row without title. */
static const char *contact_title(plot *p, int contact)
{
    char text[400], friction[40];
    perp_plot_contact_name(p, contact, text, sizeof text - sizeof friction);
    const size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, " (\xc2\xb5 = %g)", p->run->contacts[contact].friction);
    return perp_arena_text(p->arena, text, strlen(text));
}

typedef void fill_row(plot *p, int item, plot_row *row);

/* A row for each that is chosen, filled where it is drawn. */
static double draw_rows(plot *p, plot_stack *stack, const plot_choice *choice, fill_row *fill, svg_box box, bool draw)
{
    plot_row *rows = PERP_ARENA_NEW(p->arena, plot_row, (size_t)choice->count);
    p->out_of_memory = p->out_of_memory || !rows;
    if (!rows || choice->count == 0) {
        return 0.0;
    }
    for (int i = 0; i < choice->count && draw; i++) {
        fill(p, choice->items[i], &rows[i]);
    }
    stack->row_count = choice->count;
    stack->rows = rows;
    stack->note = choice->note;
    return p->out_of_memory ? 0.0 : perp_plot_stack(p, stack, box, draw);
}

static double draw_contacts(plot *p, plot_stack stack, fill_row *fill, plot_which which, svg_box box, bool draw)
{
    stack.first_mode = PERP_CONTACT_STICK;
    const plot_count wanted = {p->in_sheet ? 3 : 6, perp_plot_stack_room(p, &stack, box)};
    const plot_choice choice = perp_plot_choose_contacts(p, wanted, which);
    return draw_rows(p, &stack, &choice, fill, box, draw);
}

/* ---- gaps and forces --------------------------------------------------------------------------------------------- */

static void fill_gap(plot *p, int contact, plot_row *row)
{
    *row = (plot_row){.contact = contact,
                      .title = contact_title(p, contact),
                      .with_zero = true,
                      .quantity = "gap",
                      .unit = "m",
                      .least_span = p->longest > GAP_ROUNDING ? SPAN_LEAST * p->longest : SPAN_OF_LENGTH,
                      .curve_count = 1};
    row->curves[0] = (plot_curve){.colour = perp_palette_series(0), .y = numbers_of(p, contact, FIELD(phi), AT_FRAMES)};
    add_extremes(p, &row->curves[0], contact, FIELD(seen.phi_low), FIELD(seen.phi_high));
}

double perp_plot_gaps(plot *p, svg_box box, bool draw)
{
    const plot_curve legend[] = {{.name = "gap", .colour = perp_palette_series(0)}};
    const plot_stack stack = {.title = "Gaps", .between = SHADED, .legend = legend, .legend_count = 1};
    return draw_contacts(p, stack, fill_gap, PLOT_ALL, box, draw);
}

static void fill_force(plot *p, int contact, plot_row *row)
{
    *row = (plot_row){.contact = contact,
                      .title = contact_title(p, contact),
                      .with_zero = true,
                      .quantity = "force",
                      .unit = "N",
                      .least_span = p->largest > 0.0 ? SPAN_LEAST * p->largest : 1.0,
                      .curve_count = 3};
    row->curves[0] = (plot_curve){.colour = perp_palette_series(0), .y = numbers_of(p, contact, FIELD(fn), AT_STEPS)};
    row->curves[1] = (plot_curve){
        .colour = perp_palette_series(3), .dash = "4 3", .y = numbers_of(p, contact, FIELD(limit), AT_STEPS)};
    row->curves[2] = (plot_curve){.colour = perp_palette_series(1), .y = numbers_of(p, contact, FIELD(used), AT_STEPS)};
    add_extremes(p, &row->curves[0], contact, FIELD(seen.fn_low), FIELD(seen.fn_high));
    add_extremes(p, &row->curves[2], contact, FIELD(used), FIELD(seen.used_high));
}

double perp_plot_forces(plot *p, svg_box box, bool draw)
{
    const plot_curve legend[] = {
        {.name = "normal force", .colour = perp_palette_series(0)},
        {.name = "friction used", .colour = perp_palette_series(1)},
        {.name = "most friction, \xc2\xb5 times normal", .colour = perp_palette_series(3), .dash = "4 3"}};
    const plot_stack stack = {.title = "Contact forces", .between = SHADED, .legend = legend, .legend_count = 3};
    return draw_contacts(p, stack, fill_force, PLOT_PRESSED, box, draw);
}

/* ---- joints ------------------------------------------------------------------------------------------------------ */

static void fill_joint(plot *p, int joint, plot_row *row)
{
    const perp_joint *of = p->run->joint_scene[joint];
    const bool commanded = of && of->control != PERP_CONTROL_NONE;
    double *position = perp_plot_numbers(p), *command = perp_plot_numbers(p);
    for (int f = 0; position && command && f < p->run->frame_count; f++) {
        position[f] = p->run->joints[f * p->run->joint_count + joint];
        command[f] = p->run->commands[f * p->run->joint_count + joint];
    }
    *row = (plot_row){.title = p->run->joint_entries[joint]->name,
                      .quantity = !of                                ? "coordinate"
                                  : of->kind == PERP_JOINT_PRISMATIC ? "position"
                                                                     : "angle",
                      .unit = !of                                ? ""
                              : of->kind == PERP_JOINT_PRISMATIC ? "m"
                                                                 : "rad",
                      .least_span = SPAN_OF_LENGTH,
                      .contact = -1};
    if (commanded) {
        row->curves[row->curve_count++] = (plot_curve){.colour = perp_palette_series(1), .dash = "4 3", .y = command};
    }
    row->curves[row->curve_count++] = (plot_curve){.colour = perp_palette_series(0), .y = position};
}

double perp_plot_joints(plot *p, svg_box box, bool draw)
{
    const plot_curve legend[] = {{.name = "actual", .colour = perp_palette_series(0)},
                                 {.name = "command", .colour = perp_palette_series(1), .dash = "4 3"}};
    plot_stack stack = {.title = "Joints",
                        .between = "not the extremes between",
                        .legend = legend,
                        .legend_count = 2,
                        .first_mode = PLOT_NO_MODES};
    const plot_count wanted = {p->in_sheet ? 4 : 8, perp_plot_stack_room(p, &stack, box)};
    const plot_choice choice = perp_plot_choose_joints(p, wanted);
    return draw_rows(p, &stack, &choice, fill_joint, box, draw);
}

/* ---- residuals --------------------------------------------------------------------------------------------------- */

enum { BALANCE, COMPLEMENTARITY, CONE, PENETRATION, LOOP, RESIDUALS };

static const double *residual(plot *p, int which)
{
    double *numbers = perp_plot_numbers(p);
    for (int f = 0; numbers && f < p->run->frame_count; f++) {
        const perp_residuals *r = &p->run->frames[f].residuals;
        const double values[RESIDUALS] = {r->balance, r->complementarity, r->cone, r->penetration, r->loop};
        numbers[f] = values[which];
    }
    return numbers;
}

/* Only scenes with loops can open them. */
static int residual_count(const plot *p)
{
    return p->run->scene && p->run->scene->loop_count > 0 ? RESIDUALS : LOOP;
}

double perp_plot_residuals(plot *p, svg_box box, bool draw)
{
    static const char *const names[RESIDUALS] = {"balance", "complementarity", "cone", "penetration", "open loops"};
    plot_curve legend[RESIDUALS + 1];
    plot_row rows[2] = {{.title = "the step's own law, relative",
                         .quantity = "residual",
                         .unit = "1",
                         .floor = LAW_FLOOR,
                         .least_top = LAW_TOP},
                        {.title = "exact geometry",
                         .quantity = "distance",
                         .unit = "m",
                         .floor = GEOMETRY_FLOOR,
                         .least_top = GEOMETRY_TOP}};
    const int count = residual_count(p);
    rows[0].contact = rows[1].contact = -1;
    rows[0].log = rows[1].log = true;
    rows[0].reference = p->run->scene ? p->run->scene->run.tolerance : 0.0;
    for (int i = 0; i < count; i++) {
        plot_row *row = &rows[i < PENETRATION ? 0 : 1];
        legend[i] = (plot_curve){.name = names[i], .colour = perp_palette_series(i), .dash = i == LOOP ? "4 3" : NULL};
        row->curves[row->curve_count] = legend[i];
        row->curves[row->curve_count++].y = draw ? residual(p, i) : NULL;
    }
    legend[count] = (plot_curve){.name = "tolerance", .dash = "7 3", .colour = {.text = SVG_INK}};
    const plot_stack stack = {.title = "Residuals",
                              .note = "zeros stand at the lower edge",
                              .between = "with the largest between",
                              .row_count = 2,
                              .rows = rows,
                              .legend = legend,
                              .legend_count = count + (rows[0].reference > 0.0 ? 1 : 0),
                              .first_mode = PLOT_NO_MODES};
    return p->out_of_memory ? 0.0 : perp_plot_stack(p, &stack, box, draw);
}
