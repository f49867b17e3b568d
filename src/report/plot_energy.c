/* The energy of a run over time, of the states that its log has. */
#include "report/plot.h"
#include "report/tolerances.h"

/* What evaluates a state. */
typedef struct evaluator {
    perp_model *model;
    perp_state state;
    perp_kinematics *kinematics;
} evaluator;

static perp_status evaluate(const plot *p, perp_log_reader *reader, evaluator *e, perp_error *error)
{
    perp_status status = PERP_STATUS_OK;
    for (int f = 0; f < p->run->frame_count && status == PERP_STATUS_OK; f++) {
        perp_log_step step;
        const int index = p->run->answer ? 0 : perp_log_find(reader, p->run->frames[f].step);
        status = perp_log_skim(reader, index, PERP_LOG_PICTURE, &step, error);
        if (status == PERP_STATUS_OK) {
            status = perp_log_state(reader, &step, e->model, &e->state, error);
        }
        if (status == PERP_STATUS_OK) {
            perp_kinematics_update(e->model, e->state.q, e->kinematics);
            p->energies[f] = perp_energy_of(e->model, e->kinematics, &e->state);
        }
    }
    return status;
}

perp_status perp_plot_load_energies(plot *p, perp_log_reader *reader, perp_error *error)
{
    evaluator e = {0};
    if (!p->run->scene) {
        return PERP_STATUS_OK;
    }
    p->energies = PERP_ARENA_NEW(p->arena, perp_energy, (size_t)p->run->frame_count);
    perp_status status = p->energies ? PERP_STATUS_OK : perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory");
    if (status == PERP_STATUS_OK) {
        status = perp_model_build(p->run->scene, p->options->allocator, &e.model, error);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_state_create(e.model, p->options->allocator, &e.state, error);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_kinematics_create(e.model, p->options->allocator, &e.kinematics, error);
        if (status == PERP_STATUS_OK) {
            status = evaluate(p, reader, &e, error);
        }
        perp_kinematics_free(e.kinematics);
        perp_state_free(&e.state);
    }
    perp_model_free(e.model);
    return status;
}

static bool has_springs(const plot *p)
{
    for (int j = 0; j < p->run->scene->joint_count; j++) {
        if (p->run->scene->joints[j].control == PERP_CONTROL_IMPEDANCE) {
            return true;
        }
    }
    return false;
}

/* Only how much the energy of gravity changes means something: it is 0 at the start. */
static double gravity_since_start(const plot *p, int frame)
{
    return p->energies[frame].gravity - p->energies[0].gravity;
}

double perp_plot_energy(plot *p, svg_box box, bool draw)
{
    if (!p->energies) {
        return 0.0;
    }
    double *kinetic = perp_plot_numbers(p), *gravity = perp_plot_numbers(p), *springs = perp_plot_numbers(p),
           *sum = perp_plot_numbers(p);
    if (!kinetic || !gravity || !springs || !sum) {
        return 0.0;
    }
    for (int f = 0; f < p->run->frame_count; f++) {
        kinetic[f] = p->energies[f].kinetic;
        gravity[f] = gravity_since_start(p, f);
        springs[f] = p->energies[f].springs;
        sum[f] = kinetic[f] + gravity[f] + springs[f];
    }
    plot_curve curves[PLOT_MOST_CURVES] = {{.name = "kinetic", .colour = perp_palette_series(0), .y = kinetic},
                                           {.name = "gravity", .colour = perp_palette_series(1), .y = gravity},
                                           {.name = "springs", .colour = perp_palette_series(2), .y = springs},
                                           {.name = "sum", .colour = {.text = SVG_INK}, .dash = "4 3", .y = sum}};
    const int count = has_springs(p) ? 4 : 3;
    if (count == 3) {
        curves[2] = curves[3];
    }
    plot_row row = {.quantity = "energy",
                    .unit = "J",
                    .least_span = SPAN_OF_ENERGY,
                    .with_zero = true,
                    .contact = -1,
                    .curve_count = count};
    for (int i = 0; i < count; i++) {
        row.curves[i] = curves[i];
    }
    const plot_stack stack = {.title = "Energy",
                              .note = "gravity: change since the start",
                              .between = "not the extremes between",
                              .row_count = 1,
                              .rows = &row,
                              .legend = curves,
                              .legend_count = count,
                              .first_mode = PLOT_NO_MODES};
    const double suits = perp_plot_stack(p, &stack, box, draw);
    return draw ? suits : suits + 0.3 * box.width; /* a single row has room to be read */
}
