/* The scenes of the quasistatic sweep, their free bodies lifted by up to 0.2 m and let go: 5 s in steps of 1 ms on
 * every dynamic rung.
 *
 * Every step is judged by its own residuals, by its numbers being numbers, its forces in their cones and by true
 * penetration; those of the first half second, in which all falls down, and every tenth after that also by
 * quasistatic_law.h: balance with the inertia of the step, gaps, friction's direction, from the records and a contact
 * set of the judge's. A stop must be of a type, and what it says is proved again; `not-converged` and `tolerance` are
 * misses. */
#include "sweep.h"

#include "quasistatic_judge.h"
#include "quasistatic_law.h"
#include "quasistatic_modes.h"
#include "quasistatic_scenes.h"
#include "sweep_measure.h"

#include <stdlib.h>
#include <string.h>

static const double TOLERANCE = 1e-8;               /* run.tolerance's default: what a rung promises of its own law */
static const double MOST_PENETRATION = 1e-4;        /* m */
static const double MOST_LIFT = 0.2;                /* m */
enum { STEPS_EACH = 5000, EVERY = 500, THEN = 10 }; /* of 1 ms; judged: so many of the first, then each tenth */

enum {
    RUNS,
    COMPLETED,
    INFEASIBLE,
    JAMMED,
    WEDGED,
    TOLERANCE_MISSED,
    NOT_CONVERGED,
    OTHER,
    CLOSE,
    STEPS,
    UNSTABILISED,
    LOOSE,
    SECOND,
    JUDGED,
    UNMATCHED,
    BALANCE,
    COMPLEMENTARITY,
    CONE,
    LAW,
    PENETRATION,
    SPEED,
    COLUMNS
};
static const measure_column columns[COLUMNS] = {
    {"runs", false},           {"completed", false},      {"infeasible", false},
    {"no-equilibrium", false}, {"wedged", false},         {"tolerance", false},
    {"not-converged", false},  {"other stops", false},    {"claims not judged", false},
    {"steps", false},          {"unstabilised", false},   {"loose", false},
    {"second method", false},  {"law judged", false},     {"law not looked at", false},
    {"balance", true},         {"complementarity", true}, {"cone", true},
    {"law, judged", true},     {"penetration, m", true},  {"speed, m/s or rad/s", true}};

typedef struct watch {
    const perp_model *model;
    const perp_rung *rung;
    const perp_run_settings *settings;
    sweep_case *result;
    quasistatic_view view;
    double *row;             /* of the table */
    double *q, *v, *drifted; /* at the last step's end */
    double t;
} watch;

static void *need(void *memory)
{
    if (!memory) {
        fprintf(stderr, "sweep_dynamic: out of memory\n");
        exit(2);
    }
    return memory;
}

/* ---- the scene --------------------------------------------------------------------------------------------------- */

static bool is_free_body(const perp_scene *scene, int i)
{
    for (int j = 0; j < scene->joint_count; j++) {
        if (scene->joints[j].child && strcmp(scene->joints[j].child, scene->bodies[i].name) == 0) {
            return false;
        }
    }
    return scene->bodies[i].kind == PERP_BODY_FREE;
}

static double *height_of(perp_scene *scene, int i)
{
    perp_vec3 *position = &scene->bodies[i].pose.pose.position;
    return scene->planar ? &position->y : &position->z;
}

/* Nothing overlaps, in the model that is built from the scene. */
static bool starts_apart(const perp_scene *scene)
{
    perp_model *model = NULL;
    perp_state state = {0};
    quasistatic_view view;
    if (perp_model_build(scene, NULL, &model, NULL) != PERP_STATUS_OK ||
        perp_state_create(model, NULL, &state, NULL) != PERP_STATUS_OK) {
        need(NULL);
    }
    quasistatic_view_open(model, &scene->run, perp_rung_find("dyn-ncp"), &view);
    quasistatic_view_at(&view, state.q, 0.0, scene->margin);
    const bool apart = view.set->smallest_gap >= -1e-9;
    quasistatic_view_close(&view);
    perp_state_free(&state);
    perp_model_free(model);
    return apart;
}

/* Free bodies are lifted, higher ones by more: what lies on another is dropped on it. Where something is in the way the
 * lift is halved; what cannot be lifted at all stays where it is. */
static void lift(perp_scene *scene, double most)
{
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < scene->body_count; i++) {
        if (is_free_body(scene, i)) {
            low = fmin(low, *height_of(scene, i));
            high = fmax(high, *height_of(scene, i));
        }
    }
    double *first = need(calloc((size_t)scene->body_count + 1, sizeof *first));
    for (int i = 0; i < scene->body_count; i++) {
        first[i] = *height_of(scene, i);
    }
    for (int tries = 0; tries <= 6; tries++) {
        const double by = tries < 6 ? ldexp(most, -tries) : 0.0;
        for (int i = 0; i < scene->body_count; i++) {
            if (is_free_body(scene, i)) {
                const double share = high > low ? (first[i] - low) / (high - low) : 0.0;
                *height_of(scene, i) = first[i] + by * (0.3 + 0.7 * share);
            }
        }
        if (starts_apart(scene)) {
            break;
        }
    }
    free(first);
}

static perp_scene *dropped_scene(uint64_t seed, int index)
{
    perp_random random = {sweep_mix(seed + 77, index)};
    perp_scene *scene = quasistatic_scene(seed, index);
    scene->run.h = 1e-3;
    scene->run.steps = STEPS_EACH;
    lift(scene, perp_random_uniform(&random, 0.0, MOST_LIFT));
    return scene;
}

/* ---- velocities at a step's begin, by the judge ------------------------------------------------------------------ */

/* Euler's equations over h without torque, by the midpoint rule, which dynamic.h promises: I (w+ - w) + h m x I m = 0
 * with m their mean, iterated; w turns by much less than a radian. */
static perp_vec3 spun(const perp_mat3 *inertia, double h, perp_vec3 w)
{
    const double *m = inertia->m;
    const perp_vec3 rows[3] = {{m[0], m[1], m[2]}, {m[3], m[4], m[5]}, {m[6], m[7], m[8]}};
    const perp_vec3 across[3] = {perp_vec3_cross(rows[1], rows[2]), perp_vec3_cross(rows[2], rows[0]),
                                 perp_vec3_cross(rows[0], rows[1])};
    const double determinant = perp_vec3_dot(rows[0], across[0]);
    perp_vec3 next = w;
    for (int i = 0; i < 60; i++) {
        const perp_vec3 mean = perp_vec3_scale(0.5, perp_vec3_add(w, next));
        const perp_vec3 torque = perp_vec3_cross(mean, perp_mat3_mul_vec(inertia, mean));
        next = w; /* Cramer's rule: the inverse has the cross products of the rows as columns */
        next = perp_vec3_add_scaled(next, -h * torque.x / determinant, across[0]);
        next = perp_vec3_add_scaled(next, -h * torque.y / determinant, across[1]);
        next = perp_vec3_add_scaled(next, -h * torque.z / determinant, across[2]);
    }
    return next;
}

/* Of free bodies about their centres of mass, where all of the sweep's are, and of what moves along one line; other
 * mechanisms' are not known here. `view` is at the step's begin. */
static void drift(watch *w, bool first)
{
    const perp_model *model = w->model;
    memcpy(w->drifted, w->v, (size_t)model->nv * sizeof *w->drifted);
    for (int k = 0; k < model->tree_count && !first; k++) {
        const perp_tree *tree = &model->trees[k];
        const perp_link *root = &model->links[tree->root];
        double *v = w->drifted + tree->v_start;
        const bool centred = perp_vec3_norm(root->com) == 0.0;
        if (tree->v_count == 1 || (root->motion == PERP_MOTION_FLOATING_PLANAR && centred && tree->v_count == 3)) {
            continue;
        }
        if (root->motion == PERP_MOTION_FLOATING && centred && tree->v_count == 6) {
            const perp_mat3 *rotation = &w->view.kinematics->rotation[tree->root];
            const perp_vec3 in_body = perp_mat3_tmul_vec(rotation, perp_vec3_make(v[3], v[4], v[5]));
            const perp_vec3 after = perp_mat3_mul_vec(rotation, spun(&root->inertia, w->settings->h, in_body));
            v[3] = after.x;
            v[4] = after.y;
            v[5] = after.z;
            continue;
        }
        for (int i = 0; i < tree->v_count; i++) {
            v[i] = NAN;
        }
    }
}

/* ---- a completed step -------------------------------------------------------------------------------------------- */

static bool all_finite(const double *x, int count)
{
    for (int i = 0; i < count; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

/* Two bodies that commands drive into each other are not the rung's affair. */
static bool can_yield(const watch *w, int body)
{
    const int tree = w->model->links[body].tree;
    for (int i = 0; tree >= 0 && i < w->model->trees[tree].v_count; i++) {
        if (quasistatic_view_is_free(&w->view, w->model->trees[tree].v_start + i)) {
            return true;
        }
    }
    return false;
}

static void check_records(const watch *w, const perp_state *state, const perp_step_info *info)
{
    const perp_residuals *r = &info->residuals;
    const double numbers[] = {r->balance,      r->complementarity, r->cone, r->penetration,
                              r->balance_true, r->boundary_layer,  r->loop};
    if (!all_finite(state->q, w->model->nq) || !all_finite(state->v, w->model->nv) ||
        !all_finite(numbers, (int)(sizeof numbers / sizeof *numbers))) {
        sweep_fail(w->result, "%s: a number that is none at t = %g", w->rung->name, state->t);
    }
    if (!(r->balance <= TOLERANCE && r->complementarity <= TOLERANCE && r->cone <= TOLERANCE)) {
        sweep_fail(w->result, "%s: at t = %g balance %.3g complementarity %.3g cone %.3g", w->rung->name, state->t,
                   r->balance, r->complementarity, r->cone);
    }
    for (int i = 0; i < info->contact_count; i++) {
        const perp_contact_record *c = &info->contacts[i];
        const double parts[] = {c->fn, c->ft[0], c->ft[1], c->slip[0], c->slip[1], c->contact.phi};
        const double out = quasistatic_out_of_cone(w->settings, w->rung, c);
        if (can_yield(w, c->contact.a) || can_yield(w, c->contact.b)) {
            measure_most(&w->row[PENETRATION], -c->contact.phi);
            if (!(c->contact.phi > -MOST_PENETRATION)) {
                sweep_fail(w->result, "%s: at t = %g %s and %s are %.3g m in each other", w->rung->name, state->t,
                           w->model->scene->bodies[c->contact.a].name, w->model->scene->bodies[c->contact.b].name,
                           -c->contact.phi);
            }
        }
        if (!all_finite(parts, 6) || !(c->fn >= 0.0) || !(out <= 1.001 * TOLERANCE * fmax(w->view.force, c->fn))) {
            sweep_fail(w->result, "%s: at t = %g contact %d has fn %g, out of its cone by %g", w->rung->name, state->t,
                       i, c->fn, out);
        }
    }
}

/* Tolerances as in sweep_quasistatic.c; in an impact a contact's force is the unit that its own rounding is of. */
static void check_law(watch *w, int step, const perp_state *state, const perp_step_info *info)
{
    quasistatic_view_at(&w->view, w->q, w->t, w->model->scene->margin);
    drift(w, step == 1);
    w->view.drifted = w->drifted;
    w->view.unstabilised = info->fallbacks[PERP_FALLBACK_UNSTABILISED] > 0;
    quasistatic_law law = quasistatic_measure(&w->view, state->v, info->contacts, info->contact_count);
    if (law.unmatched > 0) { /* a step looks as far as its motion goes */
        quasistatic_view_at(&w->view, w->q, w->t, 100.0 * w->model->scene->margin);
        law = quasistatic_measure(&w->view, state->v, info->contacts, info->contact_count);
    }
    w->row[UNMATCHED] += law.unmatched > 0 ? 1 : 0;
    w->row[JUDGED]++;
    double largest = w->view.force;
    for (int i = 0; i < info->contact_count; i++) {
        largest = fmax(largest, info->contacts[i].fn);
    }
    const double rounding = 1e-12 * largest / w->view.force;
    if (!(law.balance <= 1.001 * TOLERANCE + rounding && law.gap <= 1.001 * TOLERANCE &&
          law.cone <= 1.001 * TOLERANCE + rounding && law.friction <= 4.0 * TOLERANCE)) {
        sweep_fail(w->result, "%s: at t = %g its law is off: balance %.3g gap %.3g cone %.3g friction %.3g",
                   w->rung->name, state->t, law.balance, law.gap, law.cone, law.friction);
    }
    measure_most(&w->row[LAW], fmax(fmax(law.balance, law.gap), fmax(law.cone, law.friction)));
}

static bool observe(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    watch *w = context;
    const perp_model *model = w->model;
    if (step > 0) {
        check_records(w, state, info);
        if (step <= EVERY || step % THEN == 0) {
            check_law(w, step, state, info);
        }
        for (int i = 0; i < model->nv; i++) {
            measure_most(&w->row[SPEED], fabs(state->v[i]));
        }
    }
    memcpy(w->q, state->q, (size_t)model->nq * sizeof *w->q);
    memcpy(w->v, state->v, (size_t)model->nv * sizeof *w->v);
    w->t = state->t;
    return true;
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

/* Commands and friction leave no motion, with the inertia of the step: all modes of the contacts, by the judge. */
static quasistatic_finding judge_jam(watch *w)
{
    double speed = 0.0;
    quasistatic_view_at(&w->view, w->q, w->t, w->model->scene->margin);
    drift(w, w->t == 0.0);
    w->view.drifted = w->drifted;
    for (int i = 0; i < w->model->nv; i++) {
        speed = fmax(speed, fmax(fabs(w->view.given[i]), fabs(w->v[i])));
    }
    quasistatic_view_at(&w->view, w->q, w->t, w->model->scene->margin + 4.0 * w->settings->h * speed);
    return quasistatic_judge_modes(&w->view);
}

static void judge_stop(watch *w, const perp_state *state, const perp_error *error, int index)
{
    const char *code = error->code ? error->code : "none";
    const double depth = error->evidence.depth;
    const bool infeasible = strcmp(code, "infeasible-command") == 0, missed = strcmp(code, "tolerance") == 0;
    const bool open = strcmp(code, "not-converged") == 0, jammed = strcmp(code, "no-equilibrium") == 0;
    const bool wedged = strcmp(code, "wedged") == 0;
    quasistatic_finding finding = {.verdict = QUASISTATIC_PROVED};
    w->row[infeasible ? INFEASIBLE
           : jammed   ? JAMMED
           : wedged   ? WEDGED
           : missed   ? TOLERANCE_MISSED
           : open     ? NOT_CONVERGED
                      : OTHER]++;
    if (infeasible) {
        finding = quasistatic_judge_infeasible(w->model, w->settings, w->rung, state, depth);
    } else if (jammed) {
        finding = judge_jam(w);
    } else if (wedged) {
        finding = quasistatic_judge_wedged(w->model, w->settings, w->rung, state, depth);
    } else if (missed || open) {
        measure_list(w->rung->name, index);
        sweep_miss(w->result, "%s: `%s` at t = %g, residual %.3g", w->rung->name, code, state->t,
                   error->evidence.residual);
    } else {
        sweep_fail(w->result, "%s: stopped at t = %g with `%s`: %s", w->rung->name, state->t, code, error->message);
    }
    w->row[CLOSE] += finding.verdict == QUASISTATIC_CLOSE ? 1 : 0;
    if (finding.verdict == QUASISTATIC_DISPROVED) {
        sweep_fail(w->result, "%s: not true (to %.3g) at t = %g: %s", w->rung->name, finding.distance, state->t,
                   error->message);
    }
}

static void run_rung(const perp_model *model, const perp_rung *rung, int index, sweep_case *result)
{
    perp_run_settings settings = model->scene->run;
    perp_state state = {0};
    perp_run_result run = {0};
    perp_error error = {0};
    settings.model = rung->name;
    settings.model_set = true;
    double *row = measure_row(rung->name, columns, COLUMNS);
    watch w = {.model = model, .rung = rung, .settings = &settings, .result = result, .row = row};
    w.q = need(calloc((size_t)model->nq + 1, sizeof *w.q));
    w.v = need(calloc((size_t)model->nv + 1, sizeof *w.v));
    w.drifted = need(calloc((size_t)model->nv + 1, sizeof *w.drifted));
    if (perp_state_create(model, NULL, &state, &error) != PERP_STATUS_OK) {
        need(NULL);
    }
    quasistatic_view_open(model, &settings, rung, &w.view);
    quasistatic_view_at(&w.view, state.q, 0.0, model->scene->margin);
    const perp_status status = perp_run(model, &settings, NULL, observe, &w, &state, &run, &error);
    row[RUNS]++;
    row[STEPS] += run.steps;
    row[UNSTABILISED] += run.fallbacks[PERP_FALLBACK_UNSTABILISED];
    row[LOOSE] += run.fallbacks[PERP_FALLBACK_LOOSE];
    row[SECOND] += run.fallbacks[PERP_FALLBACK_SECOND_METHOD];
    measure_most(&row[BALANCE], run.residuals.balance);
    measure_most(&row[COMPLEMENTARITY], run.residuals.complementarity);
    measure_most(&row[CONE], run.residuals.cone);
    if (status == PERP_STATUS_OK) {
        row[COMPLETED]++;
    } else {
        judge_stop(&w, &state, &error, index);
    }
    perp_run_result_free(&run);
    perp_state_free(&state);
    quasistatic_view_close(&w.view);
    free(w.q);
    free(w.v);
    free(w.drifted);
}

static void run(uint64_t seed, int index, sweep_case *result)
{
    static const char *const rungs[] = {"dyn-lcp", "dyn-ncp", "dyn-qp"};
    perp_scene *scene = dropped_scene(seed, index);
    perp_model *model = NULL;
    perp_error error = {0};
    result->kind = (int)quasistatic_family_of(index);
    if (perp_model_build(scene, NULL, &model, &error) != PERP_STATUS_OK) {
        sweep_fail(result, "no model: %s", error.message);
    }
    for (size_t i = 0; model && i < sizeof rungs / sizeof *rungs; i++) {
        run_rung(model, perp_rung_find(rungs[i]), index, result);
    }
    perp_model_free(model);
    perp_scene_free(scene);
}

static void show(uint64_t seed, int index)
{
    perp_scene *scene = dropped_scene(seed, index);
    scene_as_yaml(scene, stdout);
    perp_scene_free(scene);
}

const sweep the_sweep = {
    .name = "dynamic",
    .checks = "the scenes of the quasistatic sweep, free bodies dropped from up to 0.2 m, 5 s in steps of 1 ms on "
              "dyn-lcp, dyn-ncp and dyn-qp: no NaN, no overlap of 1e-4 m, every step meets the rung's law to 1e-8 "
              "(judged anew in the first half second and every tenth step: forces and torques with inertia, gaps, "
              "cones, friction), every stop has a type, and infeasible commands, wedges and, in the plane with up to "
              "16 contacts and limits, jams are proved again by Farkas' lemma",
    .full = 1000,
    .sample = 3,
    .chunk = 10,
    .kinds = {"groove", "bin", "stack", "table", "gripper", "articulated"},
    .run = run,
    .show = show,
};
