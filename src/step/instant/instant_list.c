#include "step/instant/instant_list.h"

#include "step/common/run_result.h"
#include "step/common/tolerances.h"

#include <stdio.h>
#include <string.h>

/* What the search by modes may take, in entries of its dictionaries: half a second, or, where any solution will do,
 * less than finding one by pivoting. Four contacts with 8 rays take 4e6, twelve with 4 rays 4e8. */
static const int64_t WORK_MOST = 500000000, WORK_FOR_ANY = 50000;

static perp_status none_to_solve(contact_step *step, perp_error *error)
{
    (void)step, (void)error;
    return PERP_STATUS_OK; /* there are no steps */
}

const step_law perp_instant_law = {
    .instant = true, .open = perp_rigid_open, .close = perp_rigid_close, .solve = none_to_solve};

/* ---- what takes part --------------------------------------------------------------------------------------------- */

typedef enum absence { NOT_MISSED, NEARLY_TOUCHES, APPROACHES } absence;

/* Has anything that is free part in contact i of the set? */
static bool moves(const contact_step *step, int i)
{
    const perp_contact_set *set = step->contacts;
    for (int k = set->dof_start[i]; k < set->dof_start[i + 1]; k++) {
        if (step->free_of_dof[set->dofs[k]] >= 0) {
            return true;
        }
    }
    return false;
}

/* Without a velocity, NULL, it is one of `instant-qs`, for which what overlaps touches. */
static absence absence_of(const contact_step *step, const perp_contact *c, const double *v_n)
{
    if (!(fabs(c->phi) <= fmax(CLOSED, DEEP * step->length_unit))) {
        return NOT_MISSED;
    }
    if (!v_n) {
        return c->phi > CLOSED ? NEARLY_TOUCHES : NOT_MISSED;
    }
    if (*v_n < -CLOSED) {
        return APPROACHES;
    }
    return *v_n <= CLOSED && fabs(c->phi) > CLOSED ? NEARLY_TOUCHES : NOT_MISSED;
}

/* `closing`: m/s, of what approaches. */
static void say_left_out(const contact_step *step, const perp_contact *c, absence kind, double closing, char text[512])
{
    char name[320];
    perp_step_name_contact(step, c, name, sizeof name);
    if (kind == APPROACHES) {
        snprintf(text, 512,
                 "contact `%s` touches and approaches at %.6g m/s: an impact is due, which no force of an instant "
                 "answers; a rung with steps does (dyn-ncp, compliant)",
                 name, closing);
    } else {
        snprintf(text, 512, "contact `%s` %s by %.6g m and counts as open: bodies that should touch have to, to 1e-9 m",
                 name, c->phi > 0.0 ? "is apart" : "overlaps", fabs(c->phi));
    }
}

perp_status perp_instant_check(const contact_step *step, const double *v, perp_run_result *result, perp_error *error)
{
    const perp_contact_set *set = step->contacts;
    const perp_status status = perp_step_check_start(step, error);
    int count = 0;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (v) {
        perp_contact_velocity(set, v, step->velocity);
    }
    for (int i = 0; i < set->count; i++) {
        const double *v_n = v ? step->velocity + (ptrdiff_t)set->rows * i : NULL;
        const absence kind = moves(step, i) ? absence_of(step, &set->contacts[i], v_n) : NOT_MISSED;
        if (kind != NOT_MISSED && count++ == 0) {
            say_left_out(step, &set->contacts[i], kind, v_n ? -*v_n : 0.0, result->left_out);
        }
    }
    if (count > 1) {
        const size_t at = strlen(result->left_out);
        snprintf(result->left_out + at, sizeof result->left_out - at, "; and %d more like it", count - 1);
    }
    return PERP_STATUS_OK;
}

/* ---- solutions --------------------------------------------------------------------------------------------------- */

perp_status perp_instant_add(perp_instant_list *list, const double *rate, perp_error *error)
{
    contact_step *step = list->step;
    const perp_status status = perp_step_check_law(step, &list->result->residuals, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_step_record(step);
    perp_instant_solution *solution = perp_run_result_add_solution(list->result, step->model->nv, step->record_count);
    if (!solution) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a solution");
    }
    memcpy(solution->rate, rate, (size_t)step->model->nv * sizeof *rate);
    for (int i = 0; i < step->record_count; i++) {
        solution->contacts[i] = step->records[i];
        solution->fn_low[i] = solution->fn_high[i] = step->records[i].fn;
    }
    return PERP_STATUS_OK;
}

/* The solution that has the rates of the answer in `step`; -1: none yet. */
static int find_rates(const perp_instant_list *list)
{
    const contact_step *step = list->step;
    for (int i = 0; i < list->result->solution_count; i++) {
        double difference = 0.0;
        for (int k = 0; k < step->free_count; k++) {
            const double other = list->result->solutions[i].rate[step->dof_of_free[k]];
            const double unit = list->rate_unit * (list->unit ? list->unit[k] : 1.0);
            difference = fmax(difference, fabs(other - step->x[k]) / (unit + fabs(other)));
        }
        if (difference <= RATES_EQUAL) {
            return i;
        }
    }
    return -1;
}

/* In the place of all: what is proven not to exist is all there is. */
static perp_status find_one(perp_instant_list *list, perp_error *error)
{
    const perp_status status = list->result->solution_count == 0 ? list->one(list, error) : PERP_STATUS_OK;
    list->result->partial = list->result->solution_count > 0;
    return status;
}

/* ---- by the modes of contacts -------------------------------------------------------------------------------------
 */

/* Of two rates, in their units, the gentler first; of two that are equally large the smaller in its first entry that
 * differs. < 0: `a`. */
static double compare_rates(const perp_instant_list *list, const double *a, const double *b)
{
    const contact_step *step = list->step;
    double size[2] = {0.0, 0.0}, first = 0.0;
    for (int k = 0; k < step->free_count; k++) {
        const double unit = list->rate_unit * (list->unit ? list->unit[k] : 1.0);
        const double x = a[step->dof_of_free[k]] / unit, y = b[step->dof_of_free[k]] / unit;
        size[0] += x * x;
        size[1] += y * y;
        first = first == 0.0 && fabs(x - y) > RATES_EQUAL * (1.0 + fabs(x)) ? x - y : first;
    }
    return fabs(size[0] - size[1]) > RATES_EQUAL * (1.0 + size[0]) ? size[0] - size[1] : first;
}

/* The search has them in the order of modes. */
static void sort_solutions(const perp_instant_list *list)
{
    perp_instant_solution *s = list->result->solutions;
    for (int i = 1; i < list->result->solution_count; i++) {
        for (int j = i; j > 0 && compare_rates(list, s[j].rate, s[j - 1].rate) < 0.0; j--) {
            const perp_instant_solution other = s[j];
            s[j] = s[j - 1];
            s[j - 1] = other;
        }
    }
}

static perp_status find_ranges(perp_instant_list *list, instant_cells *cells, perp_error *error)
{
    const contact_step *step = list->step;
    const size_t contacts = (size_t)step->system.contact_count;
    double *ends = perp_arena_push(&cells->arena, 2 * contacts + (size_t)step->free_count, sizeof *ends);
    if (!ends) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for the forces of %zu contacts", contacts);
    }
    double *x = ends + 2 * contacts;
    for (int i = 0; i < list->result->solution_count; i++) {
        perp_instant_solution *solution = &list->result->solutions[i];
        if (step->settings->cancel && *step->settings->cancel) {
            return perp_fail(error, PERP_STATUS_CANCELLED, "the search for the ranges of forces was cancelled");
        }
        for (int k = 0; k < step->free_count; k++) {
            x[k] = solution->rate[step->dof_of_free[k]];
        }
        perp_instant_cells_ranges(cells, x, ends, ends + contacts);
        for (size_t k = 0; k < contacts; k++) {
            double *low = &solution->fn_low[step->set_index[k]], *high = &solution->fn_high[step->set_index[k]];
            const double rounding = RANGE_ROUNDING * (list->force_unit + *high);
            if (cells->force_at[k] >= 0) { /* the least forces are among them */
                *low = ends[k] < *low - rounding ? ends[k] : *low;
                *high = ends[contacts + k] > *high + rounding ? ends[contacts + k] : *high;
            }
        }
    }
    return PERP_STATUS_OK;
}

/* That there is none is said only where pivoting finds none either; one that it finds stands for all. */
static perp_status confirm_none(perp_instant_list *list, perp_error *error)
{
    perp_error own = {0};
    const perp_status status = list->one(list, &own);
    const bool broken = status == PERP_STATUS_OUT_OF_MEMORY || status == PERP_STATUS_CANCELLED;
    list->result->partial = list->result->solution_count > 0;
    if (broken && error) {
        *error = own;
    }
    return broken ? status : PERP_STATUS_OK;
}

static perp_status add_sets(perp_instant_list *list, instant_cells *cells, const instant_sets *sets, perp_error *error)
{
    perp_status status = PERP_STATUS_OK;
    for (int i = 0; i < sets->count && status == PERP_STATUS_OK; i++) {
        const instant_set *set = &sets->sets[i];
        if (set->hull.dimensions > 0) {
            status = perp_instant_add_set(list, cells, &set->hull, error);
            continue;
        }
        list->point = &set->point;
        list->read(list);
        status = find_rates(list) < 0 ? list->add(list, error) : PERP_STATUS_OK;
    }
    list->point = NULL;
    return status;
}

static perp_status search(perp_instant_list *list, perp_error *error)
{
    const contact_step *step = list->step;
    instant_cells cells;
    instant_cells_result found = {0};
    instant_sets sets = {0};
    const bool any = step->settings->any_solution;
    perp_status status = perp_instant_cells_open(&cells, list->cells, &step->allocator, error);
    cells.max_work = any ? WORK_FOR_ANY : step->search_work > 0.0 ? (int64_t)step->search_work : WORK_MOST;
    cells.cancel = step->settings->cancel;
    status = status == PERP_STATUS_OK ? perp_instant_sets_find(&cells, &sets, &found, error) : status;
    status = status == PERP_STATUS_OK ? add_sets(list, &cells, &sets, error) : status;
    if (status == PERP_STATUS_OK && !(found.complete && found.described)) {
        status = find_one(list, error);
    } else if (status == PERP_STATUS_OK && list->result->solution_count == 0) {
        status = confirm_none(list, error);
    }
    if (status == PERP_STATUS_OK && !any) {
        sort_solutions(list);
        status = step->settings->without_ranges ? PERP_STATUS_OK : find_ranges(list, &cells, error);
    }
    list->result->partial = list->result->partial || status != PERP_STATUS_OK;
    perp_instant_cells_close(&cells);
    return status;
}

perp_status perp_instant_all(perp_instant_list *list, perp_error *error)
{
    const bool searchable = list->cells && perp_instant_cells_can_be_searched(list->cells);
    const perp_run_settings *settings = list->step->settings;
    list->ranges_follow = searchable || settings->any_solution || settings->without_ranges;
    return searchable ? search(list, error) : find_one(list, error);
}
