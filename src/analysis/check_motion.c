/* Is a motion from elsewhere an answer of a step too? The law judges it, with each of the forces that may go with it:
 * those of the step's own answer (all that there is to try where the step is convex: motions and forces are then all
 * pairs of two sets), those that it came with, and where modes of contacts say all, those that are found for it. */
#include "analysis/analysis_point.h"
#include "analysis/tolerances.h"
#include "sim/sim.h"

#include <math.h>
#include <string.h>

typedef struct checker {
    const contact_step *step;
    const double *v;
    const perp_contact_record *contacts;
    int contact_count;
    perp_arena arena;
    bool *in_island; /* by degree of freedom */
    double size;     /* L: of the larger one of the two motions */
} checker;

static perp_status out_of_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a motion that is checked");
}

/* Of contacts that the motion came without: none. */
static void put_forces(const checker *c, const motion_problem *p, double *r)
{
    for (int i = 0; i < p->contact_count; i++) {
        const motion_contact *to = &p->contacts[i];
        for (int k = 0; k < c->contact_count; k++) {
            const perp_contact_record *from = &c->contacts[k];
            if (!perp_contact_same(&from->contact, &c->step->records[to->record].contact)) {
                continue;
            }
            r[to->row] = from->fn / p->F;
            for (int j = 1; j < to->rows; j++) {
                r[to->row + j] = (to->axis[0][j - 1] * from->ft[0] + to->axis[1][j - 1] * from->ft[1]) / p->F;
            }
        }
    }
}

static void compare_motions(checker *c, const motion_problem *p, const double *x, perp_second_motion *second)
{
    for (int k = 0; k < p->n; k++) {
        second->distance = fmax(second->distance, fabs(x[k] - p->answer.x[k]));
        c->size = fmax(c->size, fmax(fabs(x[k]), fabs(p->answer.x[k])));
        c->in_island[p->dof[k]] = true;
    }
}

static perp_status check_island(checker *c, const motion_problem *p, const motion_searcher *by,
                                perp_second_motion *second, perp_error *error)
{
    double *x = PERP_ARENA_NEW(&c->arena, double, (size_t)p->n);
    double *r = PERP_ARENA_NEW(&c->arena, double, (size_t)p->row_count);
    double *u = PERP_ARENA_NEW(&c->arena, double, (size_t)p->row_count);
    if (!x || !r || !u) {
        return out_of_memory(error);
    }
    for (int k = 0; k < p->n; k++) {
        x[k] = c->v[p->dof[k]] * p->h / p->unit[k];
    }
    compare_motions(c, p, x, second);
    motion_point point = p->answer, found;
    point.x = x;
    double least = perp_motion_residual(p, &point, u);
    point.r = r;
    put_forces(c, p, r);
    least = fmin(least, perp_motion_residual(p, &point, u));
    bool any = false;
    const perp_status status =
        p->law == MOTION_COULOMB ? perp_motion_at(p, by, x, &found, &any, error) : PERP_STATUS_OK;
    if (any) {
        memcpy(found.x, x, (size_t)p->n * sizeof *x);
        least = fmin(least, perp_motion_residual(p, &found, u));
    }
    second->residual = fmax(second->residual, p->law == MOTION_BARRIER ? INFINITY : least);
    return status;
}

/* What no contact, limit or command of the step leaves free has one motion. */
static void check_rest(checker *c, const perp_model *model, const double *own, perp_second_motion *second)
{
    for (int k = 0; k < model->nv; k++) {
        if (!c->in_island[k]) {
            second->residual = fmax(second->residual, c->step->h * fabs(c->v[k] - own[k]));
        }
    }
}

static perp_status check(checker *c, const analysis_point *point, const perp_sim *next, perp_second_motion *second,
                         perp_error *error)
{
    motion_problem *problems;
    int count;
    c->in_island = PERP_ARENA_NEW(&c->arena, bool, (size_t)point->model->nv);
    if (!c->in_island) {
        return out_of_memory(error);
    }
    perp_status status = perp_motion_problems(c->step, &c->arena, &problems, &count, error);
    for (int i = 0; i < count && status == PERP_STATUS_OK; i++) {
        const motion_searcher by = {.step = next->step.workspace,
                                    .island = i,
                                    .work = point->options.work,
                                    .arena = &c->arena,
                                    .cancel = point->settings->cancel};
        status = check_island(c, &problems[i], &by, second, error);
    }
    if (status == PERP_STATUS_OK) {
        check_rest(c, point->model, next->state.v, second);
        second->is_answer = second->residual <= SECOND_ANSWER && second->residual <= MOTION_ERROR * second->distance &&
                            second->distance >= MOTION_OF_ITS_OWN * c->size && c->size > 0.0;
    }
    return status;
}

perp_status perp_check_motion(const perp_sim *sim, const double *v, const perp_contact_record *contacts,
                              int contact_count, perp_second_motion *second, perp_error *error)
{
    const perp_rung *rung = sim->step.rung;
    const analysis_point point = {
        .options = perp_analyze_options_default(), .model = perp_sim_model(sim), .settings = &sim->settings};
    perp_sim *next = NULL;
    *second = (perp_second_motion){.residual = INFINITY};
    if (!rung->step || !rung->law || rung->law->own_contacts) {
        return perp_fail(error, PERP_STATUS_UNAVAILABLE, "steps of `%s` cannot be looked at", rung->name);
    }
    perp_error why = {0};
    perp_status status = perp_sim_clone(sim, &next, error);
    if (status == PERP_STATUS_OK && (status = perp_sim_step(next, &why)) != PERP_STATUS_OK) {
        status =
            perp_fail(error, status == PERP_STATUS_OUT_OF_MEMORY ? status : PERP_STATUS_UNAVAILABLE, "%s", why.message);
    }
    if (status == PERP_STATUS_OK && ((const contact_step *)next->step.workspace)->split) {
        status = perp_fail(error, PERP_STATUS_UNAVAILABLE, "the step was split");
    }
    if (status == PERP_STATUS_OK) {
        checker c = {.step = next->step.workspace, .v = v, .contacts = contacts, .contact_count = contact_count};
        perp_arena_init(&c.arena, &sim->source);
        second->residual = 0.0;
        status = check(&c, &point, next, second, error);
        perp_arena_clear(&c.arena);
    }
    perp_sim_free(next);
    return status;
}
