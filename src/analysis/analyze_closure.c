/* How contacts hold bodies: force and form closure, equilibrium, jamming. What the words mean is in perp/analysis.h,
 * how each is decided in wrench_ball.c, wrench_projection.c and closure_second_order.c. */
#include "analysis/analysis_point.h"
#include "analysis/closure_body.h"
#include "analysis/tolerances.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    BALL_WORK = 12000, /* facets, shared by the bodies of an analysis: some 6 ms */
    BALL_LEAST = 500,  /* of a body */
    PUSH_TEXT = 160
};

typedef struct closing {
    analysis_point *point;
    perp_arena *scratch; /* of one body */
    const char *name;
    closure_body body;
    perp_closure verdict;
    double apart[WRENCH_MOST]; /* unit: where it is not wedged, every unit wrench points away from it */
    double weight_most;        /* of normal forces in all that balance a load, over the load */
    int work;                  /* facets, for the margin of each body */
} closing;

static perp_status out_of_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
}

/* ---- closures ---------------------------------------------------------------------------------------------------- */

/* A unit load on the body against y, as a person reads it. */
static void write_push(const closing *c, const double *y, char text[PUSH_TEXT])
{
    const closure_body *b = &c->body;
    double all[6] = {0.0};
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < b->dimensions; k++) {
            all[i] -= y[k] * b->basis[k][i];
        }
        all[i] = fabs(all[i]) < COUNTS_AS_NONE ? 0.0 : all[i];
    }
    if (c->point->model->planar) {
        snprintf(text, PUSH_TEXT, "(%.3g, %.3g) N and a moment of %.3g N m", all[0], all[1], all[5] * b->length);
    } else {
        snprintf(text, PUSH_TEXT, "(%.3g, %.3g, %.3g) N and a moment of (%.3g, %.3g, %.3g) N m", all[0], all[1], all[2],
                 all[3] * b->length, all[4] * b->length, all[5] * b->length);
    }
}

static perp_status explain_ball(closing *c, const wrench_ball *ball, perp_error *error)
{
    char push[PUSH_TEXT];
    if (ball->low <= 0.0 && ball->cut) {
        return perp_analysis_reason(c->point, -1, error,
                                    "%s: whether it is in force closure was not found out: its margin is at most %.3g",
                                    c->name, ball->high);
    }
    if (ball->low <= 0.0) {
        write_push(c, c->verdict.wedged ? ball->direction : c->apart, push);
        return perp_analysis_reason(c->point, -1, error, "%s: nothing at its contacts holds it against %s", c->name,
                                    push);
    }
    if (ball->low < MARGIN_LITTLE) {
        return perp_analysis_reason(c->point, -1, error, "%s: force closure by so little that it is next to none",
                                    c->name);
    }
    return ball->cut ? perp_analysis_reason(c->point, -1, error, "%s: its margin is between %.6g and %.6g", c->name,
                                            ball->low, ball->high)
                     : PERP_STATUS_OK;
}

/* Where contacts cannot balance each other, there is a direction that is farthest from all of them: each gives at least
 * -reach of its normal force against it, and the sum of normal forces is at most the load over that. */
static void judge_wedged(closing *c)
{
    const wrench_projection zero = perp_wrench_project_zero(&c->body.cones);
    double size = 0.0, w[WRENCH_MOST];
    c->verdict.wedged = c->verdict.force_closure || zero.inside == PERP_ANSWER_YES;
    for (int i = 0; i < c->body.dimensions; i++) {
        size = hypot(size, zero.away[i]);
    }
    for (int i = 0; i < c->body.dimensions && size > 0.0; i++) {
        c->apart[i] = zero.away[i] / size;
    }
    const double reach = c->verdict.wedged ? 0.0 : perp_wrench_support(&c->body.cones, c->apart, w);
    c->weight_most = -reach * WEIGHT_MOST > 1.0 ? -1.0 / reach : WEIGHT_MOST;
}

static perp_status judge_force_closure(closing *c, perp_error *error)
{
    wrench_ball ball;
    if (!perp_wrench_ball_find(&c->body.cones, INFINITY, c->work, c->scratch, &ball)) {
        return out_of_memory(error);
    }
    c->verdict.force_closure = ball.low > 0.0;
    c->verdict.margin = ball.low > 0.0 ? ball.high : 0.0;
    c->verdict.margin_least = ball.low;
    judge_wedged(c);
    return explain_ball(c, &ball, error);
}

/* Without contacts whose normal is one of several: what they forbid is less than what their normal forbids. */
static bool leave_out_ties(closing *c, closure_body *smooth)
{
    const closure_body *b = &c->body;
    wrench_cone *cones = PERP_ARENA_NEW(c->scratch, wrench_cone, (size_t)b->cones.count);
    int *contacts = PERP_ARENA_NEW(c->scratch, int, (size_t)b->cones.count);
    *smooth = *b;
    smooth->cones.smooth = true;
    smooth->cones.count = 0;
    for (int i = 0; i < b->cones.count && cones && contacts; i++) {
        if (!c->point->set->contacts[b->contacts[i]].tie) {
            cones[smooth->cones.count] = b->cones.cones[i];
            contacts[smooth->cones.count++] = b->contacts[i];
        }
    }
    smooth->cones.cones = cones;
    smooth->contacts = contacts;
    return cones && contacts;
}

static perp_status judge_second_order(closing *c, const closure_body *smooth, perp_error *error)
{
    if (!c->point->model->planar || smooth->dimensions < 3) {
        return perp_analysis_reason(c->point, -1, error,
                                    "%s: its normals alone leave it motions; whether curvature closes these is not "
                                    "looked at %s",
                                    c->name, c->point->model->planar ? "behind joints" : "in space");
    }
    perp_answer answer;
    if (perp_closure_second_order(c->point, smooth, c->scratch, &answer) != PERP_STATUS_OK) {
        return out_of_memory(error);
    }
    c->verdict.form_closure = answer == PERP_ANSWER_YES;
    c->verdict.form_closure_order = answer == PERP_ANSWER_YES ? 2 : 0;
    return answer == PERP_ANSWER_UNKNOWN
               ? perp_analysis_reason(c->point, -1, error,
                                      "%s: its normals leave it motions of which curvature was not found to forbid "
                                      "all, and these count as possible",
                                      c->name)
               : PERP_STATUS_OK;
}

static perp_status judge_form_closure(closing *c, perp_error *error)
{
    closure_body smooth;
    wrench_ball ball;
    if (!leave_out_ties(c, &smooth)) {
        return out_of_memory(error);
    }
    if (smooth.cones.count < c->body.cones.count) {
        const perp_status status = perp_analysis_reason(
            c->point, -1, error,
            "%s: at %d of its contacts another normal would be as good; form closure is without them", c->name,
            c->body.cones.count - smooth.cones.count);
        if (status != PERP_STATUS_OK) {
            return status;
        }
    }
    if (smooth.cones.count == 0) {
        return PERP_STATUS_OK;
    }
    if (!perp_wrench_ball_find(&smooth.cones, CROSS_SIZE, BALL_LEAST, c->scratch, &ball)) {
        return out_of_memory(error);
    }
    c->verdict.form_closure = ball.low > 0.0;
    c->verdict.form_closure_order = ball.low > 0.0 ? 1 : 0;
    return c->verdict.form_closure ? PERP_STATUS_OK : judge_second_order(c, &smooth, error);
}

/* ---- loads ------------------------------------------------------------------------------------------------------- */

static bool holds(const closing *c, double sign, wrench_projection *out)
{
    double target[WRENCH_MOST];
    for (int i = 0; i < c->body.dimensions; i++) {
        target[i] = sign * c->body.load[i];
    }
    *out = perp_wrench_project_on(&c->body.cones, target, c->weight_most);
    return out->inside == PERP_ANSWER_YES;
}

static perp_status explain_load(closing *c, const wrench_projection *balance, perp_error *error)
{
    if (balance->inside == PERP_ANSWER_UNKNOWN) {
        return perp_analysis_reason(c->point, -1, error,
                                    "%s: whether its contacts can balance its load was not found out, and counts as no",
                                    c->name);
    }
    double size = 0.0;
    for (int i = 0; i < c->body.dimensions; i++) {
        size = hypot(size, c->body.load[i]);
    }
    return perp_analysis_reason(c->point, -1, error,
                                "%s: no forces within the friction cones at its contacts balance its load; %.3g %% of "
                                "it is left",
                                c->name, 100.0 * balance->distance / size);
}

static perp_status judge_loads(closing *c, perp_error *error)
{
    perp_closure *v = &c->verdict;
    wrench_projection balance = {.inside = PERP_ANSWER_YES}, back = balance;
    if (c->body.undone) {
        return perp_analysis_reason(c->point, -1, error,
                                    "%s: loads move the joints in front of it, whatever its contacts do", c->name);
    }
    v->equilibrium = v->force_closure || !c->body.loaded || holds(c, -1.0, &balance);
    v->jammed = v->force_closure || (v->equilibrium && c->body.loaded && holds(c, 1.0, &back));
    return v->equilibrium ? PERP_STATUS_OK : explain_load(c, &balance, error);
}

/* -------------------------------------------------------------------------------------------------------------------
 */

static perp_status tell_what_is_left_out(closing *c, perp_error *error)
{
    const closure_body *b = &c->body;
    perp_status status = PERP_STATUS_OK;
    if (b->nearly >= 0) {
        const perp_contact *near = &c->point->set->contacts[b->nearly];
        char feature[64];
        perp_contact_feature_text(near, feature, sizeof feature);
        status = perp_analysis_reason(
            c->point, -1, error, "%s: its contact with %s (%s), %.3g m apart, does not count", c->name,
            c->point->model->scene->bodies[near->a == b->body ? near->b : near->a].name, feature, near->phi);
    }
    if (status == PERP_STATUS_OK && b->supported) {
        status = perp_analysis_reason(c->point, -1, error, "%s: friction with its support does not count", c->name);
    }
    if (status == PERP_STATUS_OK && b->limited) {
        status = perp_analysis_reason(c->point, -1, error,
                                      "%s: the limit that a joint stands at does not count as a "
                                      "contact",
                                      c->name);
    }
    return status;
}

static perp_status judge_body(closing *c, perp_error *error)
{
    c->verdict = (perp_closure){.body = c->body.body, .contacts = c->body.cones.count};
    perp_status status = judge_force_closure(c, error);
    status = status == PERP_STATUS_OK ? judge_form_closure(c, error) : status;
    status = status == PERP_STATUS_OK ? judge_loads(c, error) : status;
    return status == PERP_STATUS_OK ? tell_what_is_left_out(c, error) : status;
}

static int count_touching(const analysis_point *point)
{
    int count = 0;
    for (int b = 0; b < point->model->body_count; b++) {
        count += perp_closure_touches(point, b) ? 1 : 0;
    }
    return count;
}

static perp_status judge_all(closing *c, perp_closure *closures, perp_error *error)
{
    analysis_point *point = c->point;
    const int touching = count_touching(point);
    c->work = BALL_WORK / (touching > 0 ? touching : 1);
    c->work = c->work > BALL_LEAST ? c->work : BALL_LEAST;
    perp_status status = PERP_STATUS_OK;
    for (int b = 0; b < point->model->body_count && status == PERP_STATUS_OK; b++) {
        bool there;
        c->name = point->model->scene->bodies[b].name;
        status = perp_closure_body(point, b, c->scratch, &c->body, &there, error);
        if (status == PERP_STATUS_OK && there) {
            status = judge_body(c, error);
            closures[point->analysis->closure_count++] = c->verdict;
        }
        perp_arena_clear(c->scratch);
    }
    return status;
}

perp_status perp_analyze_closure(analysis_point *point, perp_error *error)
{
    perp_arena scratch;
    closing c = {.point = point, .scratch = &scratch};
    perp_closure *closures = ANALYSIS_NEW(point, perp_closure, point->model->body_count);
    if (!closures) {
        return out_of_memory(error);
    }
    point->analysis->closures = closures;
    perp_arena_init(&scratch, &point->allocator);
    perp_status status = judge_all(&c, closures, error);
    perp_arena_clear(&scratch);
    if (status == PERP_STATUS_OK && point->analysis->closure_count > 0) {
        status = perp_analysis_reason(point, -1, error, "closure: of each body by itself, with all others fixed%s",
                                      point->model->scene->loop_count > 0 ? ", and without loops" : "");
    }
    return status;
}
