#include "solve_friction.h"

#include "solve_print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct attempt {
    const perp_friction *problem;
    double tolerance;
    double *r, *u; /* one block, from r on */
    perp_friction_mode *modes;
    perp_friction_info info;
    double time_us;
    bool accepted; /* the problem was: what is refused after that are the settings */
} attempt;

static perp_status attempt_create(const perp_friction *problem, double tolerance, attempt *t, perp_error *error)
{
    memset(t, 0, sizeof *t);
    t->problem = problem;
    t->tolerance = tolerance;
    const size_t contacts = (size_t)problem->contacts, size = contacts * (size_t)problem->dim;
    t->r = calloc(2 * size, sizeof *t->r);
    t->modes = calloc(contacts, sizeof *t->modes);
    if (!t->r || !t->modes) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory");
    }
    t->u = t->r + size;
    return PERP_STATUS_OK;
}

static void attempt_free(attempt *t)
{
    free(t->r);
    free(t->modes);
}

static perp_status solve(const perp_friction_settings *settings, attempt *t, perp_error *error)
{
    perp_friction_workspace *workspace = NULL;
    perp_status status = perp_friction_workspace_create(NULL, &workspace, error);
    if (status == PERP_STATUS_OK) {
        status = perp_friction_reserve(t->problem, workspace, error);
    }
    t->accepted = status == PERP_STATUS_OK;
    if (t->accepted) {
        const double start = solve_microseconds();
        status = perp_friction_solve(t->problem, settings, workspace, t->r, t->u, &t->info, error);
        t->time_us = solve_microseconds() - start;
    }
    perp_friction_workspace_free(workspace);
    return status;
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static double largest(int count, const double *values)
{
    double most = 0.0;
    for (int i = 0; i < count; i++) {
        most = fmax(most, fabs(values[i]));
    }
    return most;
}

/* Of a contact; what is rounding beside the largest numbers (`scale`) is shown as 0. */
static void print_values(const double *values, int count, double scale)
{
    for (int k = 0; k < count; k++) {
        printf("%14.6g", fabs(values[k]) < 1e-9 * scale ? 0.0 : values[k]);
    }
}

static void print_contacts(const attempt *t)
{
    static const char *const columns[2][3] = {{"fn", "ft", "fo"}, {"un", "ut", "uo"}};
    const perp_friction *p = t->problem;
    const int size = p->contacts * p->dim;
    const double force_scale = largest(size, t->r), velocity_scale = fmax(largest(size, p->q), largest(size, t->u));
    int counts[PERP_FRICTION_MODE_COUNT] = {0};
    printf("%-8s %-6s %-9s", "contact", "mode", "mu");
    for (int k = 0; k < 2 * p->dim; k++) {
        printf("%14s", columns[k / p->dim][k % p->dim]);
    }
    printf("\n");
    for (int i = 0; i < p->contacts; i++) {
        counts[t->modes[i]]++;
        if (i < SOLVE_LINES_SHOWN) {
            printf("%-8d %-6s %-9.4g", i, perp_friction_mode_name(t->modes[i]), p->mu[i]);
            print_values(t->r + (ptrdiff_t)i * p->dim, p->dim, force_scale);
            print_values(t->u + (ptrdiff_t)i * p->dim, p->dim, velocity_scale);
            printf("\n");
        }
    }
    if (p->contacts > SOLVE_LINES_SHOWN) {
        printf(".. %d more contacts; of all, %d open, %d stick, %d slide\n", p->contacts - SOLVE_LINES_SHOWN,
               counts[PERP_FRICTION_OPEN], counts[PERP_FRICTION_STICK], counts[PERP_FRICTION_SLIDE]);
    }
}

static void print_report(const attempt *t)
{
    const perp_friction_info *info = &t->info;
    const bool infeasible = info->outcome == PERP_OUTCOME_INFEASIBLE;
    printf("friction of %d %s: %s, method %s, %s %.3g, %d %s, %.3g us\n", t->problem->contacts,
           t->problem->contacts == 1 ? "contact" : "contacts", perp_outcome_name(info->outcome),
           info->method ? info->method : "-", infeasible ? "measure" : "residual",
           infeasible ? info->certificate : info->residual, info->iterations,
           info->iterations == 1 ? "iteration" : "iterations", t->time_us);
    solve_print_tried(info->tried, info->tried_count);
    if (info->outcome == PERP_OUTCOME_SOLVED) {
        print_contacts(t);
    }
}

static int print_json(const attempt *t, const perp_error *failure)
{
    const perp_friction_report report = {t->problem, &t->info, t->r, t->u, t->time_us, t->tolerance};
    return cli_write_json(perp_friction_json(failure ? NULL : &report, failure));
}

int solve_friction(const perp_friction *problem, const perp_friction_settings *settings, bool json)
{
    attempt t;
    perp_error error = {0};
    perp_status status = attempt_create(problem, settings->tolerance, &t, &error);
    if (status == PERP_STATUS_OK) {
        status = solve(settings, &t, &error);
    }
    const bool answered = status == PERP_STATUS_OK;
    if (answered) {
        perp_friction_modes(problem, t.r, t.u, t.tolerance, t.modes);
    }
    const bool usage = status == PERP_STATUS_BAD_INPUT && t.accepted;
    int written = EXIT_DONE;
    if (json && !usage) {
        written = print_json(&t, answered ? NULL : &error);
    } else if (answered) {
        print_report(&t);
    }
    const int refused = usage ? EXIT_USAGE : status == PERP_STATUS_BAD_INPUT ? EXIT_BAD_INPUT : EXIT_REFUSED;
    const int code = answered ? solve_explain(t.info.outcome, t.info.residual,
                                              "no forces within their cones keep the contacts apart")
                              : cli_fail(refused, "%s", error.message);
    attempt_free(&t);
    return written == EXIT_DONE ? code : written;
}
