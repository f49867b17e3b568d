/* The scenes of the quasistatic sweep, their free bodies lifted by up to 0.2 m and let go: 5 s in steps of 1 ms on
 * every dynamic rung.
 *
 * Every step is judged by its own residuals, by its numbers being numbers, its forces in their cones and by true
 * penetration; those of the first half second, in which all falls down, and every tenth after that also by
 * quasistatic_law.h: balance with the inertia of the step, gaps, friction's direction, from the records and a contact
 * set of the judge's. A stop must be of a type, and what it says is proved again; `not-converged` and `tolerance` are
 * misses. */
#include "dropped_scenes.h"
#include "judge_views.h"
#include "quasistatic_modes.h"
#include "quasistatic_scenes.h"
#include "sweep_watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MOST_PENETRATION = 1e-4;        /* m */
enum { STEPS_EACH = 5000, EVERY = 500, THEN = 10 }; /* of 1 ms; judged: so many of the first, then each tenth */

/* Steps from which others are judged in other views: of the first EVERY, then; and of those, with h / 4. */
enum { VIEWED = 25, VIEWED_THEN = 250, STRETCHES = 4 };

enum { UNSTABILISED = WATCH_OWN, JUDGED, SPEED, VIEWS, COLUMNS = VIEWS + JUDGE_COLUMN_COUNT };
static const measure_column columns[COLUMNS] = {WATCH_COLUMNS("penetration, m"),
                                                {"unstabilised", false},
                                                {"law judged", false},
                                                {"speed, m/s or rad/s", true},
                                                JUDGE_COLUMNS};

typedef struct dynamic_watch {
    sweep_watch watch;
    double *drifted; /* nv: velocities with which a step begins */
    judge_views views;
} dynamic_watch;

/* ---- velocities at a step's begin, by the judge ------------------------------------------------------------------ */

/* Euler's equations over h without torque, by the midpoint rule: I (w+ - w) + h m x I m = 0 with m their mean,
 * iterated. It converges where w turns by much less than a radian. */
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

/* As dynamic.h promises: in equal parts of at most half a radian. */
static perp_vec3 spun_in_parts(const perp_mat3 *inertia, double h, perp_vec3 w)
{
    const int parts = 1 + (int)(h * perp_vec3_norm(w) / 0.5);
    for (int i = 0; i < parts; i++) {
        w = spun(inertia, h / parts, w);
    }
    return w;
}

/* Of free bodies about their centres of mass, where all of the sweep's are, and of what moves along one line; other
 * mechanisms' are not known here. The view is at the step's begin. */
static void drift(dynamic_watch *d, bool first)
{
    sweep_watch *w = &d->watch;
    const perp_model *model = w->model;
    memcpy(d->drifted, w->v, (size_t)model->nv * sizeof *d->drifted);
    for (int k = 0; k < model->tree_count && !first; k++) {
        const perp_tree *tree = &model->trees[k];
        const perp_link *root = &model->links[tree->root];
        double *v = d->drifted + tree->v_start;
        const bool centred = perp_vec3_norm(root->com) == 0.0;
        if (tree->v_count == 1 || (root->motion == PERP_MOTION_FLOATING_PLANAR && centred && tree->v_count == 3)) {
            continue;
        }
        if (root->motion == PERP_MOTION_FLOATING && centred && tree->v_count == 6) {
            const perp_mat3 *rotation = &w->view.kinematics->rotation[tree->root];
            const perp_vec3 in_body = perp_mat3_tmul_vec(rotation, perp_vec3_make(v[3], v[4], v[5]));
            const perp_vec3 after = perp_mat3_mul_vec(rotation, spun_in_parts(&root->inertia, w->settings->h, in_body));
            v[3] = after.x;
            v[4] = after.y;
            v[5] = after.z;
            continue;
        }
        for (int i = 0; i < tree->v_count; i++) {
            v[i] = NAN;
        }
    }
    w->view.drifted = d->drifted;
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static bool observe(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    dynamic_watch *d = context;
    sweep_watch *w = &d->watch;
    watch_reported(w, step, state, info);
    if (step > 0) {
        watch_records(w, state, info);
        watch_penetration(w, state, info, MOST_PENETRATION);
        if (step <= EVERY || step % THEN == 0) {
            quasistatic_view_at(&w->view, w->q, w->t, w->model->scene->margin);
            drift(d, step == 1);
            w->view.unstabilised = info->fallbacks[PERP_FALLBACK_UNSTABILISED] > 0;
            watch_law(w, state, info);
            w->row[JUDGED]++;
        }
        for (int i = 0; i < w->model->nv; i++) {
            measure_most(&w->row[SPEED], fabs(state->v[i]));
        }
    }
    if (step % (step <= EVERY ? VIEWED : VIEWED_THEN) == 0 && step < w->settings->steps) {
        judge_views_keep(&d->views, state, d->views.state_count % STRETCHES == 0);
    }
    watch_remember(w, state);
    return true;
}

/* Commands and friction leave no motion, with the inertia of the step: all modes of the contacts, by the judge. */
static quasistatic_finding judge_jam(sweep_watch *w, const perp_state *state)
{
    double speed = 0.0;
    (void)state;
    quasistatic_view_at(&w->view, w->q, w->t, w->model->scene->margin);
    drift((dynamic_watch *)w, w->t == 0.0);
    for (int i = 0; i < w->model->nv; i++) {
        speed = fmax(speed, fmax(fabs(w->view.given[i]), fabs(w->v[i])));
    }
    quasistatic_view_at(&w->view, w->q, w->t, w->model->scene->margin + 4.0 * w->settings->h * speed);
    return quasistatic_judge_modes(&w->view, QUASISTATIC_MUCH_WORK);
}

static void run_rung(const perp_model *model, const perp_rung *rung, int index, sweep_case *result)
{
    perp_run_settings settings = model->scene->run;
    settings.model = rung->name;
    settings.model_set = true;
    double *row = measure_row(rung->name, columns, COLUMNS);
    dynamic_watch d = {.watch = {.result = result, .row = row, .dynamic = true, .judge_jam = judge_jam}};
    d.drifted = watch_need(calloc((size_t)model->nv + 1, sizeof *d.drifted));
    watch_open(&d.watch, model, rung, &settings);
    d.views = (judge_views){
        .model = model, .rung = rung, .settings = &settings, .dynamic = true, .result = result, .row = row + VIEWS};
    watch_run(&d.watch, observe, &d, index);
    d.views.length = d.watch.view.length;
    judge_views_run(&d.views, sweep_views);
    judge_views_close(&d.views);
    row[UNSTABILISED] += d.watch.run.fallbacks[PERP_FALLBACK_UNSTABILISED];
    watch_close(&d.watch);
    free(d.drifted);
}

static void run(uint64_t seed, int index, sweep_case *result)
{
    static const char *const rungs[] = {"dyn-lcp", "dyn-ncp", "dyn-qp"};
    perp_scene *scene = dropped_scene(seed, index, STEPS_EACH);
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
    perp_scene *scene = dropped_scene(seed, index, STEPS_EACH);
    scene_as_yaml(scene, stdout);
    perp_scene_free(scene);
}

const sweep the_sweep = {
    .name = "dynamic",
    .checks =
        "the scenes of the quasistatic sweep, free bodies dropped from up to 0.2 m, 5 s in steps of 1 ms on "
        "dyn-lcp, dyn-ncp and dyn-qp: no NaN, no overlap of 1e-4 m, every step meets the rung's law to 1e-8 "
        "(judged anew in the first half second and every tenth step: forces and torques with inertia, gaps, "
        "cones, friction), every stop has a type, and infeasible commands, wedges and, with up to 32 "
        "contacts and limits, jams are proved again by Farkas' lemma; mirrored, turned and renumbered scenes take "
        "the same steps to 1e-6, and h / 4 moves by first order of h elsewhere, or `several` is counted; what steps "
        "report is what their states say",
    .full = 1000,
    .sample = 3,
    .chunk = 10,
    .kinds = {"groove", "bin", "stack", "table", "gripper", "articulated"},
    .run = run,
    .show = show,
    .views = JUDGE_MOST_VIEWS,
};
