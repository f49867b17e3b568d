/* Random scenes at rest, a hundred steps each, on every quasistatic rung of the registry.
 *
 * A completed step is judged by its own residuals, by quasistatic_law.h (balance of forces and torques, gaps, the
 * cone's own shape, friction's direction, from the records and a contact set of the judge's) and by true penetration; a
 * stop by quasistatic_judge.h, which proves the claim again from the model and the contacts. A stop that explains
 * nothing, `not-converged` or `tolerance`, is a miss. */
#include "judge_views.h"

#include <perp/sim.h>
#include "quasistatic_modes.h"
#include "quasistatic_scenes.h"
#include "sweep_watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ANY = WATCH_OWN, VIEWS, COLUMNS = VIEWS + JUDGE_COLUMN_COUNT };
static const measure_column columns[COLUMNS] = {
    WATCH_COLUMNS("penetration where nothing turns, m"), {"any motion", false}, JUDGE_COLUMNS};
enum { VIEWED_EVERY = 25 }; /* steps: from so many on steps are judged in other views, from one of them with h / 4 */

/* The view of it is of the last step's end, from where the next one begins. */
typedef struct quasistatic_watch {
    sweep_watch watch;
    perp_vec3 *force; /* by body, N */
    judge_views views;
    int stretch; /* the step from which h / 4 is judged */
} quasistatic_watch;

/* ---- a completed step -------------------------------------------------------------------------------------------- */

static bool is_tied(const perp_scene *scene, int body)
{
    for (int i = 0; i < scene->loop_count; i++) {
        if (scene->loops[i].body_a == body || scene->loops[i].body_b == body) {
            return true;
        }
    }
    return false;
}

/* On every body that only contacts hold, their forces, its weight and what is applied sum to nothing (to M v / h), in
 * the last part of a step that was split too, whose begin, and with it the torques, is not known here. */
static void check_forces(const quasistatic_watch *q, const perp_state *state, const perp_step_info *info)
{
    const sweep_watch *w = &q->watch;
    const perp_model *model = w->model;
    const perp_scene *scene = model->scene;
    const double unit = w->view.force;
    const bool inertia = quasistatic_has_inertia(w->rung);
    for (int i = 0; i < model->body_count; i++) {
        q->force[i] = perp_vec3_scale(model->links[i].mass, scene->gravity);
    }
    for (int i = 0; i < info->contact_count; i++) {
        const perp_contact_record *r = &info->contacts[i];
        q->force[r->contact.b] = perp_vec3_add(q->force[r->contact.b], r->force_on_b);
        q->force[r->contact.a] = perp_vec3_sub(q->force[r->contact.a], r->force_on_b);
    }
    for (int i = 0; i < scene->force_count; i++) {
        q->force[scene->forces[i].body_index].x += perp_drive_value(&scene->forces[i].force[0], state->t);
    }
    for (int i = 0; i < model->body_count; i++) {
        const perp_link *link = &model->links[i];
        const bool floats = link->motion == PERP_MOTION_FLOATING || link->motion == PERP_MOTION_FLOATING_PLANAR;
        if (!floats || scene->bodies[i].kind != PERP_BODY_FREE || is_tied(scene, i) ||
            (inertia && isfinite(w->settings->substep_tolerance))) {
            continue;
        }
        const double *v = state->v + link->v_start, f[3] = {q->force[i].x, q->force[i].y, q->force[i].z};
        for (int k = 0; k < (model->planar ? 2 : 3); k++) {
            const double left = f[k] - (inertia ? link->mass * v[k] / w->settings->h : 0.0);
            if (!(fabs(left) <= 1.001 * WATCH_TOLERANCE * unit)) { /* summed in another order than the rung's */
                sweep_fail(w->result, "%s: at t = %g body %s is out of balance by %.3g N along %d, F = %.3g N",
                           w->rung->name, state->t, scene->bodies[i].name, left, k, unit);
            }
        }
    }
}

/* The angle by which a body turns in the step at most, and the way of its origin. */
static void step_size(const sweep_watch *w, const perp_state *state, double *angle, double *way)
{
    const perp_model *model = w->model;
    *angle = *way = 0.0;
    for (int k = 0; k < model->tree_count; k++) {
        double turned = 0.0, moved = 0.0;
        for (int i = model->trees[k].v_start; i < model->trees[k].v_start + model->trees[k].v_count; i++) {
            const bool turns = perp_vec3_norm(w->view.kinematics->dof_angular[i]) > 0.5;
            *(turns ? &turned : &moved) += w->settings->h * fabs(state->v[i]);
        }
        *angle = fmax(*angle, turned);
        *way = fmax(*way, moved);
    }
}

static double largest_rim(const perp_scene *scene)
{
    double radius = 0.0;
    for (int i = 0; i < scene->body_count; i++) {
        for (int k = 0; k < scene->bodies[i].shape_count; k++) {
            const perp_shape *shape = &scene->bodies[i].shapes[k];
            radius = shape->kind == PERP_SHAPE_CYLINDER ? fmax(radius, shape->radius) : radius;
        }
    }
    return radius;
}

/* Without turning, the gap between convex shapes is a convex function of the motion, above its linearisation: nothing
 * penetrates. Turning by an angle a bends the path of a point at most L away by L a^2 / 2, of two bodies twice that,
 * and a normal by a, along which the way between the bodies has a part.
 *
 * A cylinder's rim over a plane is seen in six places and at its lowest point, and may sink between these: at the
 * step's end its height is a wave of amplitude R b along the rim, b its tilt, not below 0 at places of which one is
 * within 30 degrees of the trough, and one, the lowest at the begin, within asin(a / b). The trough is deepest where
 * both are 30 degrees, b = 2 a: 2 R a (1 - cos 30). That is first order in a.
 *
 * A step that is split bends less, unless it was
 * halved down to the smallest part, a 64th: what tips over does so in one part, however small. */
static void check_penetration(const sweep_watch *w, const perp_state *state, const perp_step_info *info)
{
    enum { HALVINGS = 6 };
    double angle, way;
    step_size(w, state, &angle, &way);
    const double rim = 2.0 * (1.0 - sqrt(0.75)) * largest_rim(w->model->scene) * angle;
    const double bound = 1e-6 + 2.0 * angle * (w->view.length * angle + way) + rim;
    const double asked = isfinite(w->settings->substep_tolerance) ? 1e-6 + w->settings->substep_tolerance : 0.0;
    const bool smallest = asked == 0.0 || info->fallbacks[PERP_FALLBACK_SUBSTEP] >= HALVINGS;
    const double allowed = smallest ? fmax(asked, bound) : asked;
    measure_most(&w->row[WATCH_PENETRATION], angle < 1e-9 ? info->residuals.penetration : 0.0);
    if (!(info->residuals.penetration <= allowed)) {
        sweep_fail(w->result, "%s: at t = %g bodies are %.3g m in each other, having turned by %.3g, moved by %.3g m",
                   w->rung->name, state->t, info->residuals.penetration, angle, way);
    }
}

/* What nothing holds stays where it is: no step leads far out of the scene, which measures about a metre. */
static void check_reach(const sweep_watch *w, const perp_state *state)
{
    for (int i = 0; i < w->model->nq; i++) {
        if (!(fabs(state->q[i] - w->q[i]) <= 100.0)) {
            sweep_fail(w->result, "%s: at t = %g coordinate %d jumps from %g to %g", w->rung->name, state->t, i,
                       w->q[i], state->q[i]);
        }
    }
}

static bool observe(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    quasistatic_watch *q = context;
    sweep_watch *w = &q->watch;
    watch_reported(w, step, state, info);
    if (step > 0) {
        watch_records(w, state, info);
        check_forces(q, state, info);
        if (info->fallbacks[PERP_FALLBACK_SUBSTEP] == 0) { /* of a part of a step the begin is not known here */
            watch_law(w, state, info);
        }
        check_penetration(w, state, info);
        check_reach(w, state);
    }
    if (step % VIEWED_EVERY == 0 && step < w->settings->steps) {
        judge_views_keep(&q->views, state, step == q->stretch);
    }
    watch_remember(w, state);
    quasistatic_view_at(&w->view, w->q, w->t, w->model->scene->margin);
    return true;
}

/* ---- a stop ------------------------------------------------------------------------------------------------------ */

/* `no-equilibrium`: no forces balance at all, or none that a motion goes with. */
static quasistatic_finding judge_jam(sweep_watch *w, const perp_state *state)
{
    const perp_model *model = w->model;
    double speed = 0.0;
    quasistatic_finding finding = quasistatic_judge_unsupported(model, w->settings, w->rung, state);
    if (finding.verdict == QUASISTATIC_PROVED) {
        return finding;
    }
    for (int i = 0; i < model->nv; i++) { /* the view is at the step's begin, and looks as far as commands go */
        speed = fmax(speed, fabs(w->view.given[i]));
    }
    quasistatic_view_at(&w->view, w->q, w->t, model->scene->margin + 4.0 * w->settings->h * speed);
    return quasistatic_judge_modes(&w->view, QUASISTATIC_MUCH_WORK);
}

/* The judge is judged too: where a step was taken, none of the claims about its begin can be proved. */
static void judge_judge(sweep_watch *w, const perp_state *start)
{
    const quasistatic_finding load = quasistatic_judge_unsupported(w->model, w->settings, w->rung, start);
    const quasistatic_finding motion = quasistatic_judge_infeasible(w->model, w->settings, w->rung, start, 1e-3);
    if (load.verdict == QUASISTATIC_PROVED || motion.verdict == QUASISTATIC_PROVED) {
        sweep_fail(w->result, "%s: the first step was taken, and is proved impossible (load %.3g, motion %.3g)",
                   w->rung->name, load.distance, motion.distance);
    }
    quasistatic_view_at(&w->view, start->q, start->t, w->model->scene->margin);
    if (!quasistatic_is_convex(w->rung) &&
        quasistatic_judge_modes(&w->view, QUASISTATIC_LITTLE_WORK).verdict == QUASISTATIC_PROVED) {
        sweep_fail(w->result, "%s: the first step was taken, and no mode of the contacts allows it", w->rung->name);
    }
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static perp_run_settings settings_of(const perp_scene *scene, const perp_rung *rung, int index)
{
    perp_run_settings settings = scene->run;
    settings.model = rung->name;
    settings.model_set = true;
    settings.substep_tolerance = index % 10 == 9 ? 1e-4 : INFINITY;
    return settings;
}

static void run_rung(const perp_model *model, const perp_rung *rung, int index, sweep_case *result)
{
    const perp_run_settings settings = settings_of(model->scene, rung, index);
    double *row = measure_row(rung->name, columns, COLUMNS);
    quasistatic_watch q = {.watch = {.result = result, .row = row, .judge_jam = judge_jam}};
    sweep_watch *w = &q.watch;
    q.force = watch_need(calloc((size_t)model->body_count + 1, sizeof *q.force));
    watch_open(w, model, rung, &settings);
    q.views = (judge_views){.model = model, .rung = rung, .settings = &settings, .result = result, .row = row + VIEWS};
    q.stretch = VIEWED_EVERY * (index % 4);
    watch_run(w, observe, &q, index);
    q.views.length = w->view.length;
    judge_views_run(&q.views, sweep_views);
    judge_views_close(&q.views);
    row[ANY] += w->run.fallbacks[PERP_FALLBACK_ANY_MOTION];
    if (w->run.steps > 0 && !isfinite(settings.substep_tolerance)) {
        perp_state start = {0};
        if (perp_state_create(model, NULL, &start, NULL) == PERP_STATUS_OK) {
            judge_judge(w, &start);
        }
        perp_state_free(&start);
    }
    watch_close(w);
    free(q.force);
}

/* ---- an instant -------------------------------------------------------------------------------------------------- */

static void judge_solutions(sweep_watch *w, const perp_state *state, const perp_run_result *run)
{
    quasistatic_view_at(&w->view, state->q, state->t, w->model->scene->margin);
    for (int i = 0; i < run->solution_count; i++) {
        const perp_instant_solution *one = &run->solutions[i];
        const quasistatic_law law = quasistatic_measure(&w->view, one->rate, one->contacts, one->contact_count);
        if (!record_judge_solution(w->records, state, one)) {
            sweep_fail(w->result, "solution %d: %s", i, w->records->text);
        }
        const double worst = fmax(fmax(law.balance, law.gap), law.cone);
        if (!(worst <= 1.001 * WATCH_TOLERANCE && law.friction <= 4.0 * WATCH_TOLERANCE) || law.unmatched > 0) {
            sweep_fail(w->result, "instant-qs: solution %d is off: balance %.3g gap %.3g cone %.3g friction %.3g", i,
                       law.balance, law.gap, law.cone, law.friction);
        }
        measure_most(&w->row[WATCH_LAW], fmax(worst, law.friction));
    }
    const quasistatic_finding finding =
        quasistatic_judge_modes(&w->view, run->solution_count > 0 ? QUASISTATIC_LITTLE_WORK : QUASISTATIC_MUCH_WORK);
    w->row[run->solution_count > 0 ? WATCH_COMPLETED : WATCH_NO_EQUILIBRIUM]++;
    w->row[WATCH_CLOSE] += run->solution_count == 0 && finding.verdict == QUASISTATIC_CLOSE ? 1 : 0;
    if (finding.verdict == (run->solution_count > 0 ? QUASISTATIC_PROVED : QUASISTATIC_DISPROVED)) {
        sweep_fail(w->result, "instant-qs: %d solutions, and the judge says otherwise (to %.3g)", run->solution_count,
                   finding.distance);
    }
}

/* All solutions meet the law, and where there is none the judge finds none. */
static void run_instant(const perp_model *model, perp_cone cone, int index, sweep_case *result)
{
    const perp_rung *rung = perp_rung_find("instant-qs");
    perp_run_settings settings = settings_of(model->scene, rung, index);
    perp_state state = {0};
    perp_run_result run = {0};
    perp_error error = {0};
    const char *name = cone == PERP_CONE_RAYS ? "instant-qs, rays" : rung->name;
    sweep_watch w = {.result = result, .row = measure_row(name, columns, COLUMNS)};
    settings.cone = cone;
    if (perp_state_create(model, NULL, &state, &error) != PERP_STATUS_OK) {
        watch_need(NULL);
    }
    watch_open(&w, model, rung, &settings);
    w.row[WATCH_RUNS]++;
    if (perp_run(model, &settings, NULL, NULL, NULL, &state, &run, &error) == PERP_STATUS_OK) {
        judge_solutions(&w, &state, &run);
    } else if (error.code && strcmp(error.code, "wedged") == 0) {
        w.row[WATCH_WEDGED]++;
        w.row[WATCH_CLOSE]++; /* the judge writes down steps, not instants */
    } else if (error.code && strcmp(error.code, "not-converged") == 0) {
        w.row[WATCH_NOT_CONVERGED]++;
        measure_list(name, index);
        sweep_miss(result, "%s: `not-converged`, residual %.3g", name, error.evidence.residual);
    } else {
        w.row[WATCH_OTHER]++;
        sweep_fail(result, "%s: stopped: %s", name, error.message);
    }
    watch_close(&w);
    perp_run_result_free(&run);
    perp_state_free(&state);
}

static void run(uint64_t seed, int index, sweep_case *result)
{
    perp_scene *scene = quasistatic_scene(seed, index);
    perp_model *model = NULL;
    perp_error error = {0};
    result->kind = (int)quasistatic_family_of(index);
    if (perp_model_build(scene, NULL, &model, &error) != PERP_STATUS_OK) {
        sweep_fail(result, "no model: %s", error.message);
    }
    for (int i = 0; model && i < perp_rung_count(); i++) {
        if (quasistatic_is_rung(perp_rung_at(i))) {
            run_rung(model, perp_rung_at(i), index, result);
        }
    }
    if (model) {
        run_instant(model, PERP_CONE_QUADRATIC, index, result);
    }
    if (model && !model->planar) { /* in the plane it is the same */
        run_instant(model, PERP_CONE_RAYS, index, result);
    }
    perp_model_free(model);
    perp_scene_free(scene);
}

static void show(uint64_t seed, int index)
{
    perp_scene *scene = quasistatic_scene(seed, index);
    scene_as_yaml(scene, stdout);
    perp_scene_free(scene);
}

const sweep the_sweep = {
    .name = "quasistatic",
    .checks =
        "2 .. 20 bodies at rest in grooves, bins, stacks, on tables, in grippers, hinged and tied in loops; mu 0 .. 2, "
        "h 0.001 .. 0.4, 100 steps on every quasistatic rung: no NaN, every step meets the rung's law to 1e-8 (judged "
        "anew: forces and torques, gaps, cones, friction, penetration), every stop explains itself, and unsupported "
        "bodies, infeasible commands and, with up to 32 contacts and limits, the lack of an equilibrium are proved "
        "again by Farkas' lemma; instant-qs alike; mirrored, turned and renumbered scenes take the same steps to 1e-6, "
        "and h / 4 moves by first order of h elsewhere, or `several` is counted; what steps report is what their "
        "states say",
    .full = 1000,
    .sample = 12,
    .chunk = 20,
    .kinds = {"groove", "bin", "stack", "table", "gripper", "articulated"},
    .run = run,
    .show = show,
    .views = JUDGE_MOST_VIEWS,
};
