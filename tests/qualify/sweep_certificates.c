/* Verdicts of perp_analyze on existence and uniqueness, against a judge that writes down the problem of the step anew
 * (certificate_problem.h) and looks for other answers with three solvers from RESTARTS starts (certificate_solvers.h).
 *
 *   unique                         every answer that the solvers find has the same motion, to SAME
 *   .. at these normal forces      .. every answer with the same normal forces
 *   not-unique                     the second answer meets the law, and is not the first; where it is said to go both
 *                                  ways, so does the way back
 *   exists, N, complete            no more than N motions are found (but for sets of them)
 *   none                           none is found
 *   forces                         whatever answer has the same motion has its forces within the ranges
 *
 * `unknown` and `borderline` are counted and are no failures. */
#include "certificate_scenes.h"
#include "certificate_solvers.h"
#include "quasistatic_judge.h"
#include "sweep.h"
#include "sweep_measure.h"

#include <perp/perp.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RESTARTS = 600, MOTIONS = 32 };

/* Motions in units of what F moves in the step (certificate_problem.h); forces in F. */
static const double SAME = 1e-7, OTHER = 1e-6, MEETS = 1e-8, SAME_FORCES = 1e-7, SAME_NORMALS = 1e-11;

enum { UNIQUE, AT_THESE, NOT_UNIQUE, BORDERLINE, UNKNOWN, NO_ANSWER, NOT_JUDGED };

enum { FOUND, SECOND, RESIDUAL, COLUMNS };
static const measure_column columns[COLUMNS] = {
    {"answers found", false}, {"second answers", false}, {"residual of these", true}};

typedef struct certificate_case {
    sweep_case *result;
    certificate_scene drawn;
    perp_scene *scene;
    perp_model *model;
    perp_sim *sim, *next;
    perp_analysis *analysis;
    quasistatic_view view;
    bool viewed;
    judged_problem problem;
    judged_point answer; /* the step's; then the first that was found beside it, which is nearer to the law */
    double *row;
    int motions; /* that differ */
    judged_point motion[MOTIONS];
} certificate_case;

static bool open_case(certificate_case *c, uint64_t seed, int index)
{
    static perp_diagnostics diagnostics;
    perp_error error = {0};
    memset(&diagnostics, 0, sizeof diagnostics);
    certificate_scene_draw(seed, index, &c->drawn);
    const perp_status loaded =
        perp_scene_load_text(c->drawn.text, (size_t)c->drawn.length, "drawn", NULL, NULL, &c->scene, &diagnostics);
    if (loaded != PERP_STATUS_OK) {
        perp_diagnostics_first_error(&diagnostics, loaded, &error);
        sweep_fail(c->result, "no scene: %s", error.message);
        return false;
    }
    if (perp_model_build(c->scene, NULL, &c->model, &error) != PERP_STATUS_OK ||
        perp_sim_create(c->model, NULL, &c->sim, &error) != PERP_STATUS_OK) {
        sweep_fail(c->result, "no simulation: %s", error.message);
        return false;
    }
    for (int i = 0; i < c->drawn.steps; i++) {
        perp_sim_step(c->sim, NULL); /* one that fails leaves all as it is: the state to ask about */
    }
    if (perp_analyze(c->sim, NULL, &c->analysis, &error) != PERP_STATUS_OK) {
        sweep_fail(c->result, "no analysis: %s", error.message);
        return false;
    }
    return true;
}

static void close_case(certificate_case *c)
{
    if (c->viewed) {
        quasistatic_view_close(&c->view);
    }
    perp_analysis_free(c->analysis);
    perp_sim_free(c->next);
    perp_sim_free(c->sim);
    perp_model_free(c->model);
    perp_scene_free(c->scene);
}

/* ---- the judge's problem -------------------------------------------------------------------------------------------
 */

static bool is_dyn_qp(const certificate_case *c)
{
    return strcmp(c->view.rung->name, "dyn-qp") == 0;
}

static bool make_problem(certificate_case *c)
{
    const perp_state *state = perp_sim_state(c->sim);
    quasistatic_view_open(c->model, &c->scene->run, perp_rung_find(c->scene->run.model), &c->view);
    c->viewed = true;
    quasistatic_view_at(&c->view, state->q, state->t, c->scene->margin);
    return judged_problem_make(&c->view, state->v, &c->problem);
}

/* The answer of the step into c->answer; it has to meet the judge's law, or the judge has another problem in mind. */
static bool take_answer(certificate_case *c)
{
    perp_error error = {0};
    const double *v = NULL;
    if (c->view.instant) {
        perp_state state;
        perp_run_result result = {0};
        bool found = perp_state_create(c->model, NULL, &state, NULL) == PERP_STATUS_OK &&
                     perp_run(c->model, &c->scene->run, NULL, NULL, NULL, &state, &result, &error) == PERP_STATUS_OK &&
                     result.solution_count > 0;
        if (found) {
            judged_point_take(&c->problem, &c->view, result.solutions[0].rate, result.solutions[0].contacts,
                              result.solutions[0].contact_count, &c->answer);
        }
        perp_run_result_free(&result);
        perp_state_free(&state);
        return found;
    }
    if (perp_sim_clone(c->sim, &c->next, &error) != PERP_STATUS_OK ||
        perp_sim_step(c->next, &error) != PERP_STATUS_OK) {
        return false;
    }
    v = perp_sim_state(c->next)->v;
    judged_point_take(&c->problem, &c->view, v, c->analysis->contacts, c->analysis->contact_count, &c->answer);
    return true;
}

/* Is a contact in force that the judge does not see, being farther away than the margin? */
static bool misses_contacts(const certificate_case *c)
{
    bool misses = false;
    for (int i = 0; i < c->analysis->contact_count; i++) {
        bool seen = c->analysis->contacts[i].fn == 0.0;
        for (int k = 0; k < c->view.set->count && !seen; k++) {
            seen = perp_contact_same(&c->analysis->contacts[i].contact, &c->view.set->contacts[k]);
        }
        misses = misses || !seen;
    }
    return misses;
}

/* ---- what the solvers find -----------------------------------------------------------------------------------------
 */

static double normals_apart(const judged_problem *p, const judged_point *a, const judged_point *b)
{
    double most = 0.0;
    for (int i = 0; i < p->contact_count; i++) {
        const int at = p->n + p->contacts[i].row;
        most = fmax(most, fabs(a->z[at] - b->z[at]));
    }
    return most;
}

static const perp_force_range *range_of(const certificate_case *c, const perp_contact *contact)
{
    const perp_uniqueness *u = &c->analysis->uniqueness;
    for (int i = 0; i < u->force_count; i++) {
        if (perp_contact_same(&c->analysis->contacts[u->forces[i].contact].contact, contact)) {
            return &u->forces[i];
        }
    }
    return NULL;
}

static bool is_within(double value, const double range[2])
{
    const double room = SAME_FORCES * 10.0 * (1.0 + fabs(value));
    return value >= range[0] - room && value <= range[1] + room;
}

/* Forces of an answer with the motion of the reported one. */
static void check_forces(certificate_case *c, const judged_point *found)
{
    const judged_problem *p = &c->problem;
    for (int i = 0; i < p->contact_count; i++) {
        const perp_contact *at = &c->view.set->contacts[p->contacts[i].index];
        const perp_force_range *range = range_of(c, at);
        const double *r = found->z + p->n + p->contacts[i].row;
        double ft[2] = {0.0, 0.0};
        for (int k = 1; k < p->contacts[i].rows; k++) {
            ft[0] += r[k] * perp_vec3_dot(at->directions[k - 1], at->t);
            ft[1] += r[k] * perp_vec3_dot(at->directions[k - 1], at->o);
        }
        if (!range) {
            continue;
        }
        const double low[2] = {range->fn[0] / p->F, range->fn[1] / p->F};
        bool good = is_within(r[0], low);
        for (int k = 0; k < 2; k++) {
            const double ends[2] = {range->ft[k][0] / p->F, range->ft[k][1] / p->F};
            good = good && (c->drawn.planar && k == 1 ? true : is_within(ft[k], ends));
        }
        if (!good) {
            sweep_fail(c->result, "contact %d: fn %.9g, ft %.9g %.9g N go with the motion and are out of the ranges", i,
                       r[0] * p->F, ft[0] * p->F, ft[1] * p->F);
        }
    }
}

static void note_motion(certificate_case *c, const judged_point *found)
{
    for (int i = 0; i < c->motions; i++) {
        if (judged_distance(&c->problem, &c->motion[i], found) <= OTHER) {
            return;
        }
    }
    if (c->motions < MOTIONS) {
        c->motion[c->motions++] = *found;
    }
}

static void look_for_others(certificate_case *c, bool has_answer)
{
    const perp_verdict verdict = c->analysis->uniqueness.verdict;
    bool near = false;
    for (int i = 0; i < RESTARTS; i++) {
        judged_point found;
        if (!judged_solve(&c->problem, (judged_solver)(i % JUDGED_SOLVERS), has_answer ? &c->answer : NULL,
                          &c->drawn.random, &found)) {
            continue;
        }
        c->row[FOUND]++;
        note_motion(c, &found);
        const double apart = has_answer ? judged_distance(&c->problem, &c->answer, &found) : INFINITY;
        const double same = near ? SAME : OTHER; /* the step's is as exact as the step */
        if (apart <= OTHER && !near) {
            c->answer = found;
            near = true;
        }
        const bool normals = has_answer && normals_apart(&c->problem, &c->answer, &found) <= SAME_NORMALS;
        if (verdict == PERP_VERDICT_UNIQUE && apart > same) {
            sweep_fail(c->result, "unique, but restart %d finds a motion %.3g away (residual %.2g)", i, apart,
                       judged_residual(&c->problem, &found, NULL));
        }
        if (verdict == PERP_VERDICT_UNIQUE_AT_THESE_NORMAL_FORCES && normals && apart > OTHER) {
            sweep_fail(c->result, "unique at these normal forces, but restart %d finds a motion %.3g away", i, apart);
        }
        if (apart <= 1e-9) {
            check_forces(c, &found);
        }
    }
}

/* ---- verdicts ------------------------------------------------------------------------------------------------------
 */

/* The reported velocities plus so much of the motion. */
static double residual_along(certificate_case *c, double amount, judged_point *point)
{
    const perp_uniqueness *u = &c->analysis->uniqueness;
    const int nv = c->model->nv, count = c->analysis->contact_count;
    double v[64];
    perp_contact_record records[64];
    for (int i = 0; i < nv; i++) {
        v[i] = perp_sim_state(c->next)->v[i] + amount * u->motion[i];
    }
    for (int i = 0; i < count; i++) {
        records[i] = c->analysis->contacts[i];
        records[i].fn = u->second_forces[i][0];
        records[i].ft[0] = u->second_forces[i][1];
        records[i].ft[1] = u->second_forces[i][2];
    }
    judged_point_take(&c->problem, &c->view, v, records, count, point);
    return judged_residual(&c->problem, point, NULL);
}

static void check_second(certificate_case *c)
{
    const perp_uniqueness *u = &c->analysis->uniqueness;
    judged_point second;
    if (!u->motion || !u->second_forces || c->model->nv > 64 || c->analysis->contact_count > 64) {
        sweep_fail(c->result, "not-unique without a second answer");
        return;
    }
    const double residual = residual_along(c, u->motion_length, &second);
    const double apart = judged_distance(&c->problem, &c->answer, &second);
    c->row[SECOND]++;
    measure_most(&c->row[RESIDUAL], residual);
    if (!(residual <= MEETS)) {
        sweep_fail(c->result, "not-unique, but the second answer is off by %.3g", residual);
    }
    if (!(apart > OTHER)) {
        sweep_fail(c->result, "not-unique, but the second answer is %.3g from the first", apart);
    }
    const double least = -1e-5 * fmin(1.0, c->problem.L),
                 back = u->motion_both_ways ? residual_along(c, least, &second) : 0.0;
    if (!(back <= MEETS)) {
        sweep_fail(c->result, "the motion goes one way only: %.3g", back);
    }
    double largest = 0.0;
    for (int i = 0; i < c->model->nv; i++) {
        largest = fmax(largest, fabs(u->motion[i]) * c->problem.h);
    }
    if (fabs(largest - 1.0) > 1e-9) {
        sweep_fail(c->result, "the largest entry of the motion's displacement is %.12g", largest);
    }
}

static int kind_of(const perp_analysis *a)
{
    if (a->existence.verdict == PERP_VERDICT_NONE) {
        return NO_ANSWER;
    }
    switch (a->uniqueness.verdict) {
    case PERP_VERDICT_UNIQUE:
        return UNIQUE;
    case PERP_VERDICT_UNIQUE_AT_THESE_NORMAL_FORCES:
        return AT_THESE;
    case PERP_VERDICT_NOT_UNIQUE:
        return NOT_UNIQUE;
    case PERP_VERDICT_BORDERLINE:
        return BORDERLINE;
    default:
        return UNKNOWN;
    }
}

static void check_count(certificate_case *c)
{
    const perp_existence *e = &c->analysis->existence;
    const perp_verdict verdict = c->analysis->uniqueness.verdict;
    const bool set = verdict == PERP_VERDICT_NOT_UNIQUE || verdict == PERP_VERDICT_BORDERLINE; /* sets count as one */
    if (e->verdict == PERP_VERDICT_NONE && c->motions > 0) {
        sweep_fail(c->result, "no solution, but one is found");
    }
    if (e->complete && !set && c->motions > e->solutions) {
        sweep_fail(c->result, "%d solutions, but %d motions are found", e->solutions, c->motions);
    }
}

static void judge(certificate_case *c)
{
    const perp_verdict verdict = c->analysis->uniqueness.verdict;
    const bool none = c->analysis->existence.verdict != PERP_VERDICT_EXISTS;
    c->result->kind = kind_of(c->analysis);
    if (!make_problem(c) || misses_contacts(c)) {
        c->result->kind = NOT_JUDGED;
        return;
    }
    const bool has_answer = !none && take_answer(c);
    if (is_dyn_qp(c)) { /* how much room its friction has is its own affair; what it minimises is not */
        if (verdict == PERP_VERDICT_NOT_UNIQUE && c->problem.strictly) {
            sweep_fail(c->result, "not-unique, but the step is strictly convex");
        } else if (verdict == PERP_VERDICT_UNIQUE && !c->problem.strictly) {
            c->result->kind = NOT_JUDGED;
        }
        return;
    }
    if (has_answer) {
        const double off = judged_residual(&c->problem, &c->answer, NULL);
        if (!(off <= 10.0 * MEETS)) {
            sweep_fail(c->result, "the step's answer is off the judge's law by %.3g", off);
            return;
        }
        note_motion(c, &c->answer);
    }
    look_for_others(c, has_answer);
    check_count(c);
    if (verdict == PERP_VERDICT_NOT_UNIQUE && !c->view.instant) {
        check_second(c);
    }
}

static void run(uint64_t seed, int index, sweep_case *result)
{
    static certificate_case c;
    c = (certificate_case){.result = result};
    if (open_case(&c, seed, index)) {
        c.row = measure_row(c.scene->run.model, columns, COLUMNS);
        judge(&c);
        if (result->failed) {
            char model[64];
            snprintf(model, sizeof model, " (%s)", c.scene->run.model);
            strncat(result->reason, model, sizeof result->reason - strlen(result->reason) - 1);
        }
    }
    close_case(&c);
}

static void show(uint64_t seed, int index)
{
    certificate_scene drawn;
    certificate_scene_draw(seed, index, &drawn);
    printf("# the state after %d steps\n%s", drawn.steps, drawn.text);
}

const sweep the_sweep = {
    .name = "certificates",
    .checks =
        "existence and uniqueness of small random scenes (particles, discs, boxes, grippers, hinges at limits, "
        "loops; all rungs with rigid contact): `unique` is the motion of every answer that three solvers find from "
        "200 starts each, to 1e-7; `not-unique` has a second answer that meets the law to 1e-8 by a judge that shares "
        "no code; forces of other answers are within the ranges",
    .full = 2000,
    .sample = 60,
    .chunk = 50,
    .kinds = {"unique", "unique-at-these-normal-forces", "not-unique", "borderline", "unknown", "no solution",
              "not judged"},
    .run = run,
    .show = show,
};
