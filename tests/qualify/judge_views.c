#include "judge_views.h"

#include <perp/sim.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VIEW_STEPS = 2, STRETCH = 16, PARTS = 4, MOST_STEPS = STRETCH * PARTS };

static const double SAME = 1e-6;       /* of the scene's size, of rad, of the largest speed */
static const double LAW = 1e-8;        /* run.tolerance's default */
static const double FIRST_ORDER = 4.0; /* times h and the spread of velocities: a few events, each missed by a step */

static void *need(void *memory)
{
    if (!memory) {
        fprintf(stderr, "judge_views: out of memory\n");
        exit(2);
    }
    return memory;
}

/* ---- tracks: what a few steps do to the bodies ------------------------------------------------------------------- */

typedef struct track {
    const perp_model *model;
    perp_kinematics *kinematics;
    perp_state state;
    int steps;                    /* taken */
    const char *code;             /* of the error that ended it, "" */
    bool several[MOST_STEPS + 1]; /* in a step up to here */
    perp_pose *pose;              /* (MOST_STEPS + 1) x bodies, from the start on */
    perp_twist *twist;
} track;

static void open_track(track *a, const perp_model *model)
{
    const size_t count = (size_t)(MOST_STEPS + 1) * (size_t)(model->body_count + 1);
    a->model = model;
    a->pose = need(calloc(count, sizeof *a->pose));
    a->twist = need(calloc(count, sizeof *a->twist));
    if (perp_kinematics_create(model, NULL, &a->kinematics, NULL) != PERP_STATUS_OK ||
        perp_state_create(model, NULL, &a->state, NULL) != PERP_STATUS_OK) {
        need(NULL);
    }
}

static void close_track(track *a)
{
    perp_kinematics_free(a->kinematics);
    perp_state_free(&a->state);
    free(a->pose);
    free(a->twist);
}

static bool note(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    track *a = context;
    const size_t bodies = (size_t)a->model->body_count;
    perp_kinematics_update(a->model, state->q, a->kinematics);
    perp_kinematics_velocity(a->model, state->v, a->kinematics);
    memcpy(a->pose + (size_t)step * bodies, a->kinematics->pose, bodies * sizeof *a->pose);
    memcpy(a->twist + (size_t)step * bodies, a->kinematics->twist, bodies * sizeof *a->twist);
    a->several[step] = step > 0 && (a->several[step - 1] || info->several);
    return true;
}

/* From the track's state. */
static void run_track(track *a, const perp_run_settings *settings, double h, int steps)
{
    perp_run_settings own = *settings;
    perp_run_result result = {0};
    perp_error error = {0};
    own.h = h;
    own.steps_set = true;
    own.steps = steps;
    perp_run(a->model, &own, NULL, note, a, &a->state, &result, &error);
    a->steps = result.steps;
    a->code = error.code ? error.code : "";
    perp_run_result_free(&result);
}

static const perp_twist *twist_at(const track *a, int step, int body)
{
    return &a->twist[step * a->model->body_count + body];
}

/* How far two places of a body are apart, m and rad. */
static void part(perp_pose a, perp_pose b, double *moved, double *turned)
{
    *moved = perp_vec3_norm(perp_vec3_sub(a.position, b.position));
    *turned = perp_vec3_norm(perp_quat_log(perp_quat_mul(perp_quat_conjugate(a.rotation), b.rotation)));
}

/* ---- views ------------------------------------------------------------------------------------------------------- */

/* The scene in two views that differ by one. */
typedef struct view_pair {
    const char *name;
    scene_view plain, seen, between; /* `seen` is `between` after `plain` */
    perp_scene *scenes[2];
    perp_model *models[2];
    track tracks[2];
} view_pair;

/* Polygons of friction turn with the scene where pairs state their tangents. */
static void choose_views(view_pair *p, int which, bool planar)
{
    static const char *const names[JUDGE_MOST_VIEWS] = {"mirrored", "turned", "renumbered"};
    const perp_vec3 axis = planar ? perp_vec3_make(0, 0, 1) : perp_vec3_normalise(perp_vec3_make(0.3, -0.5, 0.8));
    p->name = names[which];
    p->plain = p->between = scene_view_identity();
    p->plain.tangents = which == 1;
    p->between.mirrored = which == 0;
    p->between.reversed = which == 2;
    p->between.pose.rotation = perp_quat_from_axis_angle(axis, which == 1 ? 1.1 : 0.0);
    p->seen = p->between;
    p->seen.tangents = p->plain.tangents;
}

static void open_pair(view_pair *p, const judge_views *j, int which)
{
    const scene_view *views[2] = {&p->plain, &p->seen};
    choose_views(p, which, j->model->planar);
    for (int i = 0; i < 2; i++) {
        p->scenes[i] = scene_view_make(j->model->scene, views[i]);
        if (perp_model_build(p->scenes[i], NULL, &p->models[i], NULL) != PERP_STATUS_OK) {
            need(NULL);
        }
        open_track(&p->tracks[i], p->models[i]);
    }
}

static void close_pair(view_pair *p)
{
    for (int i = 0; i < 2; i++) {
        close_track(&p->tracks[i]);
        perp_model_free(p->models[i]);
        perp_scene_free(p->scenes[i]);
    }
}

/* m/s: the largest speed in the step, of turning on the scene's size; at least what a step's law is met to, 1e-8 of the
 * size in a step, times four, since that is what SAME is of. */
static double speed_unit(const judge_views *j, const track *a, int step)
{
    double unit = 4.0 * LAW / SAME * j->length / j->settings->h;
    for (int k = step - 1; k <= step; k++) {
        for (int i = 0; i < a->model->body_count; i++) {
            const perp_twist *v = twist_at(a, k, i);
            unit = fmax(unit, perp_vec3_norm(v->linear) + j->length * perp_vec3_norm(v->angular));
        }
    }
    return unit;
}

/* The largest difference after a step, in the units of SAME. */
static double difference(const judge_views *j, const view_pair *p, int step)
{
    const track *a = &p->tracks[0], *b = &p->tracks[1];
    const int bodies = j->model->body_count;
    const double unit = speed_unit(j, a, step);
    double most = 0.0;
    for (int i = 0; i < bodies; i++) {
        const int k = scene_view_body(j->model->scene, &p->between, i);
        const perp_twist *v = twist_at(a, step, i), *u = twist_at(b, step, k);
        double moved, turned;
        part(scene_view_pose(&p->between, a->pose[step * bodies + i]), b->pose[step * bodies + k], &moved, &turned);
        most = fmax(most, fmax(moved / j->length, turned));
        if (j->dynamic) {
            const perp_vec3 linear = perp_vec3_sub(scene_view_turn(&p->between, v->linear), u->linear);
            const perp_vec3 angular = perp_vec3_sub(scene_view_turn_axis(&p->between, v->angular), u->angular);
            most = fmax(most, (perp_vec3_norm(linear) + j->length * perp_vec3_norm(angular)) / unit);
        }
    }
    return most;
}

static void count_view(const judge_views *j, const view_pair *p, int step, double most, bool several)
{
    double *row = j->row;
    if (several) {
        row[JUDGE_VIEWS_SEVERAL]++;
        return;
    }
    row[JUDGE_VIEWS_OTHER]++;
    measure_most(&row[JUDGE_VIEWS_MOST], most);
    sweep_miss(j->result, "%s: %s, step %d from t = %g ends apart by %.3g of the size or speed (%s, %s)", j->rung->name,
               p->name, step, p->tracks[0].state.t - p->tracks[0].steps * j->settings->h, most,
               p->tracks[0].code[0] ? p->tracks[0].code : "ok", p->tracks[1].code[0] ? p->tracks[1].code : "ok");
}

/* A state within a run may overlap by about as much as a start may: rounding decides whether it is one. */
static bool is_refused(const track *a)
{
    return a->steps == 0 && strcmp(a->code, "penetrating-start") == 0;
}

/* A scene that stops must stop in every view, for the same reason. */
static void judge_pair(const judge_views *j, view_pair *p, const perp_state *from)
{
    track *a = &p->tracks[0], *b = &p->tracks[1];
    scene_view_state(&p->plain, j->model, from, p->models[0], &a->state);
    scene_view_state(&p->seen, j->model, from, p->models[1], &b->state);
    run_track(a, j->settings, j->settings->h, VIEW_STEPS);
    run_track(b, j->settings, j->settings->h, VIEW_STEPS);
    if (is_refused(a) || is_refused(b)) {
        return;
    }
    for (int step = 1; step <= a->steps && step <= b->steps; step++) {
        const double most = difference(j, p, step);
        j->row[JUDGE_VIEWS]++;
        if (!(most <= SAME)) {
            count_view(j, p, step, most, a->several[step] || b->several[step]);
            return;
        }
    }
    if (a->steps != b->steps || strcmp(a->code, b->code) != 0) {
        const int both = a->steps < b->steps ? a->steps : b->steps;
        j->row[JUDGE_VIEWS]++;
        count_view(j, p, both + 1, INFINITY, a->several[a->steps] || b->several[b->steps]);
    }
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* The spread of a body's velocities over the first steps of a track: of its origin, and of its turning, with what a
 * body that turns steadily bends its way. */
static void widen(const track *a, int steps, int body, double time, double *linear, double *angular)
{
    double low[6], high[6], fastest = 0.0;
    for (int k = 0; k <= steps; k++) {
        const perp_twist *v = twist_at(a, k, body);
        const double now[6] = {v->linear.x, v->linear.y, v->linear.z, v->angular.x, v->angular.y, v->angular.z};
        fastest = fmax(fastest, perp_vec3_norm(v->angular));
        for (int c = 0; c < 6; c++) {
            low[c] = k == 0 ? now[c] : fmin(low[c], now[c]);
            high[c] = k == 0 ? now[c] : fmax(high[c], now[c]);
        }
    }
    *linear = fmax(*linear, hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]));
    *angular =
        fmax(*angular, hypot(hypot(high[3] - low[3], high[4] - low[4]), high[5] - low[5]) + fastest * fastest * time);
}

/* The largest difference over the stretch, over h and the spread; 0 where it is within SAME. */
static double spread_difference(const judge_views *j, const track *coarse, const track *fine, int steps)
{
    const int bodies = j->model->body_count;
    const double h = j->settings->h;
    double linear = 0.0, angular = 0.0, most = 0.0;
    for (int i = 0; i < bodies; i++) {
        widen(coarse, steps, i, steps * h, &linear, &angular);
        widen(fine, PARTS * steps, i, steps * h, &linear, &angular);
    }
    for (int k = 1; k <= steps; k++) {
        for (int i = 0; i < bodies; i++) {
            double moved, turned;
            part(coarse->pose[k * bodies + i], fine->pose[PARTS * k * bodies + i], &moved, &turned);
            moved = moved <= SAME * j->length ? 0.0 : moved;
            turned = turned <= SAME ? 0.0 : turned;
            most = moved > 0.0 ? fmax(most, moved / (h * (linear + j->length * angular))) : most;
            most = turned > 0.0 ? fmax(most, turned / (h * angular)) : most;
        }
    }
    return most;
}

/* A rung whose inertia is within one step falls at g h: it has no limit as h becomes small. */
static bool has_limit(const perp_rung *rung)
{
    return strcmp(rung->name, "quasidynamic") != 0;
}

static void judge_stretch(const judge_views *j, const perp_state *from, track *coarse, track *fine)
{
    perp_state_copy(j->model, &coarse->state, from);
    perp_state_copy(j->model, &fine->state, from);
    run_track(coarse, j->settings, j->settings->h, STRETCH);
    run_track(fine, j->settings, j->settings->h / PARTS, STRETCH * PARTS);
    const int both = coarse->steps < fine->steps / PARTS ? coarse->steps : fine->steps / PARTS;
    if (both == 0) {
        return;
    }
    const double most = spread_difference(j, coarse, fine, both);
    const bool several = coarse->several[both] || fine->several[PARTS * both];
    j->row[JUDGE_STEPS]++;
    if (most <= FIRST_ORDER || several) {
        j->row[JUDGE_STEPS_SEVERAL] += most > FIRST_ORDER ? 1 : 0;
        measure_most(&j->row[JUDGE_STEPS_MOST], several ? 0.0 : most);
        return;
    }
    j->row[JUDGE_STEPS_OTHER]++;
    measure_most(&j->row[JUDGE_STEPS_MOST], most);
    if (j->rung->convex) { /* what starts to slide is lifted, by as much whatever h */
        return;
    }
    sweep_miss(j->result, "%s: from t = %g, %d steps of h and of h / 4 end apart by %.3g h times the spread of speeds",
               j->rung->name, from->t, both, most);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

void judge_views_keep(judge_views *j, const perp_state *state, bool stretch)
{
    if (j->state_count == JUDGE_MOST_STATES) {
        return;
    }
    if (perp_state_create(j->model, NULL, &j->states[j->state_count], NULL) != PERP_STATUS_OK) {
        need(NULL);
    }
    perp_state_copy(j->model, &j->states[j->state_count], state);
    j->stretch[j->state_count++] = stretch;
}

void judge_views_run(judge_views *j, int views)
{
    track coarse = {0}, fine = {0};
    for (int which = 0; which < views && which < JUDGE_MOST_VIEWS; which++) {
        view_pair pair = {0};
        open_pair(&pair, j, which);
        for (int i = 0; i < j->state_count; i++) {
            judge_pair(j, &pair, &j->states[i]);
        }
        close_pair(&pair);
    }
    open_track(&coarse, j->model);
    open_track(&fine, j->model);
    for (int i = 0; views > 0 && has_limit(j->rung) && i < j->state_count; i++) {
        if (j->stretch[i]) {
            judge_stretch(j, &j->states[i], &coarse, &fine);
        }
    }
    close_track(&coarse);
    close_track(&fine);
}

void judge_views_close(judge_views *j)
{
    for (int i = 0; i < j->state_count; i++) {
        perp_state_free(&j->states[i]);
    }
}
