/* Random scenes at rest, a hundred steps each, on every quasistatic rung of the registry.
 *
 * A completed step is judged by its own residuals, by quasistatic_law.h (balance of forces and torques, gaps, the
 * cone's own shape, friction's direction, from the records and a contact set of the judge's) and by true penetration; a
 * stop by quasistatic_judge.h, which proves the claim again from the model and the contacts. A stop that explains
 * nothing, `not-converged` or `tolerance`, is a miss. */
#include "sweep.h"

#include "quasistatic_judge.h"
#include "quasistatic_law.h"
#include "quasistatic_modes.h"
#include "quasistatic_scenes.h"
#include "sweep_measure.h"

#include <stdlib.h>
#include <string.h>

static const double TOLERANCE = 1e-8; /* run.tolerance's default: what a rung promises of its own law */

enum {
    RUNS,
    COMPLETED,
    UNSUPPORTED,
    INFEASIBLE,
    TOLERANCE_MISSED,
    NOT_CONVERGED,
    NO_EQUILIBRIUM,
    WEDGED,
    OTHER,
    CLOSE,
    STEPS,
    LOOSE,
    ANY,
    SECOND,
    UNMATCHED,
    BALANCE,
    COMPLEMENTARITY,
    CONE,
    LAW,
    PENETRATION,
    COLUMNS
};
static const measure_column columns[COLUMNS] = {{"runs", false},
                                                {"completed", false},
                                                {"unsupported-body", false},
                                                {"infeasible", false},
                                                {"tolerance", false},
                                                {"not-converged", false},
                                                {"no-equilibrium", false},
                                                {"wedged", false},
                                                {"other stops", false},
                                                {"claims not judged", false},
                                                {"steps", false},
                                                {"loose", false},
                                                {"any motion", false},
                                                {"second method", false},
                                                {"law not looked at", false},
                                                {"balance", true},
                                                {"complementarity", true},
                                                {"cone", true},
                                                {"law, judged", true},
                                                {"penetration where nothing turns, m", true}};

/* ---- a completed step -------------------------------------------------------------------------------------------- */

typedef struct watch {
    const perp_model *model;
    const perp_rung *rung;
    const perp_run_settings *settings;
    sweep_case *result;
    quasistatic_view view; /* of the last step's end, from where the next one begins */
    double *row;           /* of the table */
    double *q;             /* nq: at the last step's end */
    double t;
    perp_vec3 *force; /* by body, N */
} watch;

static bool all_finite(const double *x, int count)
{
    for (int i = 0; i < count; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

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
static void check_forces(const watch *w, const perp_state *state, const perp_step_info *info)
{
    const perp_model *model = w->model;
    const perp_scene *scene = model->scene;
    const double unit = w->view.force;
    const bool inertia = quasistatic_has_inertia(w->rung);
    for (int i = 0; i < model->body_count; i++) {
        w->force[i] = perp_vec3_scale(model->links[i].mass, scene->gravity);
    }
    for (int i = 0; i < info->contact_count; i++) {
        const perp_contact_record *r = &info->contacts[i];
        w->force[r->contact.b] = perp_vec3_add(w->force[r->contact.b], r->force_on_b);
        w->force[r->contact.a] = perp_vec3_sub(w->force[r->contact.a], r->force_on_b);
    }
    for (int i = 0; i < scene->force_count; i++) {
        w->force[scene->forces[i].body_index].x += perp_drive_value(&scene->forces[i].force[0], state->t);
    }
    for (int i = 0; i < model->body_count; i++) {
        const perp_link *link = &model->links[i];
        const bool floats = link->motion == PERP_MOTION_FLOATING || link->motion == PERP_MOTION_FLOATING_PLANAR;
        if (!floats || scene->bodies[i].kind != PERP_BODY_FREE || is_tied(scene, i) ||
            (inertia && isfinite(w->settings->substep_tolerance))) {
            continue;
        }
        const double *v = state->v + link->v_start, f[3] = {w->force[i].x, w->force[i].y, w->force[i].z};
        for (int k = 0; k < (model->planar ? 2 : 3); k++) {
            const double left = f[k] - (inertia ? link->mass * v[k] / w->settings->h : 0.0);
            if (!(fabs(left) <= 1.001 * TOLERANCE * unit)) { /* summed in another order than the rung's */
                sweep_fail(w->result, "%s: at t = %g body %s is out of balance by %.3g N along %d, F = %.3g N",
                           w->rung->name, state->t, scene->bodies[i].name, left, k, unit);
            }
        }
    }
}

static void check_records(const watch *w, const perp_state *state, const perp_step_info *info)
{
    const perp_residuals *r = &info->residuals;
    const double unit = w->view.force;
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
        if (!all_finite(parts, 6) || !(c->fn >= 0.0) || !(out <= 1.001 * TOLERANCE * unit)) {
            sweep_fail(w->result, "%s: at t = %g contact %d has fn %g, out of its cone by %g", w->rung->name, state->t,
                       i, c->fn, out);
        }
    }
}

/* Forces and torques, gap and friction of a step that was not split, from the view of its begin. */
static void check_law(watch *w, const perp_state *state, const perp_step_info *info)
{
    if (info->fallbacks[PERP_FALLBACK_SUBSTEP] > 0) {
        return;
    }
    quasistatic_law law = quasistatic_measure(&w->view, state->v, info->contacts, info->contact_count);
    if (law.unmatched > 0) { /* a step looks as far as its motion goes */
        quasistatic_view_at(&w->view, w->q, w->t, 100.0 * w->model->scene->margin);
        law = quasistatic_measure(&w->view, state->v, info->contacts, info->contact_count);
    }
    w->row[UNMATCHED] += law.unmatched > 0 ? 1 : 0;
    /* The rung's residuals are of projections; eps in one of these is at most 4 eps in the work, over the sizes of its
     * two factors. */
    if (!(law.balance <= 1.001 * TOLERANCE && law.gap <= 1.001 * TOLERANCE && law.cone <= 1.001 * TOLERANCE &&
          law.friction <= 4.0 * TOLERANCE)) {
        sweep_fail(w->result, "%s: at t = %g its law is off: balance %.3g gap %.3g cone %.3g friction %.3g",
                   w->rung->name, state->t, law.balance, law.gap, law.cone, law.friction);
    }
    measure_most(&w->row[LAW], fmax(fmax(law.balance, law.gap), fmax(law.cone, law.friction)));
}

/* The angle by which a body turns in the step at most, and the way of its origin. */
static void step_size(const watch *w, const perp_state *state, double *angle, double *way)
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
static void check_penetration(const watch *w, const perp_state *state, const perp_step_info *info)
{
    enum { HALVINGS = 6 };
    double angle, way;
    step_size(w, state, &angle, &way);
    const double rim = 2.0 * (1.0 - sqrt(0.75)) * largest_rim(w->model->scene) * angle;
    const double bound = 1e-6 + 2.0 * angle * (w->view.length * angle + way) + rim;
    const double asked = isfinite(w->settings->substep_tolerance) ? 1e-6 + w->settings->substep_tolerance : 0.0;
    const bool smallest = asked == 0.0 || info->fallbacks[PERP_FALLBACK_SUBSTEP] >= HALVINGS;
    const double allowed = smallest ? fmax(asked, bound) : asked;
    measure_most(&w->row[PENETRATION], angle < 1e-9 ? info->residuals.penetration : 0.0);
    if (!(info->residuals.penetration <= allowed)) {
        sweep_fail(w->result, "%s: at t = %g bodies are %.3g m in each other, having turned by %.3g, moved by %.3g m",
                   w->rung->name, state->t, info->residuals.penetration, angle, way);
    }
}

/* What nothing holds stays where it is: no step leads far out of the scene, which measures about a metre. */
static void check_reach(const watch *w, const perp_state *state)
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
    watch *w = context;
    if (step > 0) {
        check_records(w, state, info);
        check_forces(w, state, info);
        check_law(w, state, info);
        check_penetration(w, state, info);
        check_reach(w, state);
    }
    memcpy(w->q, state->q, (size_t)w->model->nq * sizeof *w->q);
    w->t = state->t;
    quasistatic_view_at(&w->view, w->q, w->t, w->model->scene->margin);
    return true;
}

/* ---- a stop ------------------------------------------------------------------------------------------------------ */

/* `no-equilibrium`: no forces balance at all, or none that a motion goes with. */
static quasistatic_finding judge_jam(watch *w, const perp_state *state)
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
    return quasistatic_judge_modes(&w->view);
}

static void judge_stop(watch *w, const perp_state *state, const perp_error *error, double *row)
{
    const char *code = error->code ? error->code : "none";
    const bool unsupported = strcmp(code, "unsupported-body") == 0, no_balance = strcmp(code, "no-equilibrium") == 0;
    const bool infeasible = strcmp(code, "infeasible-command") == 0, start = strcmp(code, "penetrating-start") == 0;
    const bool wedged = strcmp(code, "wedged") == 0;
    const bool missed = strcmp(code, "tolerance") == 0, open = strcmp(code, "not-converged") == 0;
    quasistatic_finding finding = {.verdict = QUASISTATIC_PROVED};
    row[unsupported  ? UNSUPPORTED
        : infeasible ? INFEASIBLE
        : missed     ? TOLERANCE_MISSED
        : open       ? NOT_CONVERGED
        : no_balance ? NO_EQUILIBRIUM
        : wedged     ? WEDGED
                     : OTHER]++;
    if (no_balance) {
        finding = judge_jam(w, state);
    } else if (unsupported) {
        finding = quasistatic_judge_unsupported(w->model, w->settings, w->rung, state);
    } else if (infeasible || start) {
        finding = quasistatic_judge_infeasible(w->model, w->settings, w->rung, state, error->evidence.depth);
    } else if (wedged) {
        finding = quasistatic_judge_wedged(w->model, w->settings, w->rung, state, error->evidence.depth);
    } else if ((missed || open) && !(error->evidence.residual > TOLERANCE)) {
        sweep_fail(w->result, "%s: `%s` with a residual of %.3g", w->rung->name, code, error->evidence.residual);
    } else if (missed || open) {
        sweep_miss(w->result, "%s: `%s` at t = %g, residual %.3g", w->rung->name, code, state->t,
                   error->evidence.residual);
    } else {
        sweep_fail(w->result, "%s: stopped without a type: %s: %s", w->rung->name, code, error->message);
    }
    /* Of a part of a step the begin is not known here. */
    if (finding.verdict == QUASISTATIC_DISPROVED && isfinite(w->settings->substep_tolerance)) {
        finding.verdict = QUASISTATIC_CLOSE;
    }
    row[CLOSE] += finding.verdict == QUASISTATIC_CLOSE ? 1 : 0;
    if (finding.verdict == QUASISTATIC_DISPROVED) {
        sweep_fail(w->result, "%s: not true (to %.3g, with forces of %.3g F): %s", w->rung->name, finding.distance,
                   finding.weight, error->message);
    }
}

/* The judge is judged too: where a step was taken, none of the claims about its begin can be proved. */
static void judge_judge(watch *w, const perp_state *start)
{
    const quasistatic_finding load = quasistatic_judge_unsupported(w->model, w->settings, w->rung, start);
    const quasistatic_finding motion = quasistatic_judge_infeasible(w->model, w->settings, w->rung, start, 1e-3);
    if (load.verdict == QUASISTATIC_PROVED || motion.verdict == QUASISTATIC_PROVED) {
        sweep_fail(w->result, "%s: the first step was taken, and is proved impossible (load %.3g, motion %.3g)",
                   w->rung->name, load.distance, motion.distance);
    }
    quasistatic_view_at(&w->view, start->q, start->t, w->model->scene->margin);
    if (!quasistatic_is_convex(w->rung) && quasistatic_judge_modes(&w->view).verdict == QUASISTATIC_PROVED) {
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
    perp_state state = {0};
    perp_run_result run = {0};
    perp_error error = {0};
    watch w = {.model = model, .rung = rung, .settings = &settings, .result = result, .row = row};
    w.q = calloc((size_t)model->nq + 1, sizeof *w.q);
    w.force = calloc((size_t)model->body_count + 1, sizeof *w.force);
    if (!w.q || !w.force || perp_state_create(model, NULL, &state, &error) != PERP_STATUS_OK) {
        fprintf(stderr, "sweep_quasistatic: out of memory\n");
        exit(2);
    }
    quasistatic_view_open(model, &settings, rung, &w.view);
    const perp_status status = perp_run(model, &settings, NULL, observe, &w, &state, &run, &error);
    row[RUNS]++;
    row[STEPS] += run.steps;
    row[LOOSE] += run.fallbacks[PERP_FALLBACK_LOOSE];
    row[ANY] += run.fallbacks[PERP_FALLBACK_ANY_MOTION];
    row[SECOND] += run.fallbacks[PERP_FALLBACK_SECOND_METHOD];
    measure_most(&row[BALANCE], run.residuals.balance);
    measure_most(&row[COMPLEMENTARITY], run.residuals.complementarity);
    measure_most(&row[CONE], run.residuals.cone);
    if (run.steps > 0 && !isfinite(settings.substep_tolerance)) {
        perp_state start = {0};
        if (perp_state_create(model, NULL, &start, NULL) == PERP_STATUS_OK) {
            judge_judge(&w, &start);
        }
        perp_state_free(&start);
    }
    if (status == PERP_STATUS_OK) {
        row[COMPLETED]++;
    } else {
        const double before = row[TOLERANCE_MISSED] + row[NOT_CONVERGED];
        judge_stop(&w, &state, &error, row);
        if (row[TOLERANCE_MISSED] + row[NOT_CONVERGED] > before) {
            measure_list(rung->name, index);
        }
    }
    perp_run_result_free(&run);
    perp_state_free(&state);
    free(w.q);
    quasistatic_view_close(&w.view);
    free(w.force);
}

/* ---- an instant -------------------------------------------------------------------------------------------------- */

static void judge_solutions(watch *w, const perp_state *state, const perp_run_result *run)
{
    quasistatic_view_at(&w->view, state->q, state->t, w->model->scene->margin);
    for (int i = 0; i < run->solution_count; i++) {
        const perp_instant_solution *one = &run->solutions[i];
        const quasistatic_law law = quasistatic_measure(&w->view, one->rate, one->contacts, one->contact_count);
        const double worst = fmax(fmax(law.balance, law.gap), law.cone);
        if (!(worst <= 1.001 * TOLERANCE && law.friction <= 4.0 * TOLERANCE) || law.unmatched > 0) {
            sweep_fail(w->result, "instant-qs: solution %d is off: balance %.3g gap %.3g cone %.3g friction %.3g", i,
                       law.balance, law.gap, law.cone, law.friction);
        }
        measure_most(&w->row[LAW], fmax(worst, law.friction));
    }
    const quasistatic_finding finding = quasistatic_judge_modes(&w->view);
    w->row[run->solution_count > 0 ? COMPLETED : NO_EQUILIBRIUM]++;
    w->row[CLOSE] += run->solution_count == 0 && finding.verdict == QUASISTATIC_CLOSE ? 1 : 0;
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
    watch w = {.model = model, .rung = rung, .settings = &settings, .result = result};
    w.row = measure_row(name, columns, COLUMNS);
    settings.cone = cone;
    if (perp_state_create(model, NULL, &state, &error) != PERP_STATUS_OK) {
        fprintf(stderr, "sweep_quasistatic: out of memory\n");
        exit(2);
    }
    quasistatic_view_open(model, &settings, rung, &w.view);
    w.row[RUNS]++;
    if (perp_run(model, &settings, NULL, NULL, NULL, &state, &run, &error) == PERP_STATUS_OK) {
        judge_solutions(&w, &state, &run);
    } else if (error.code && strcmp(error.code, "wedged") == 0) {
        w.row[WEDGED]++;
        w.row[CLOSE]++; /* the judge writes down steps, not instants */
    } else if (error.code && strcmp(error.code, "not-converged") == 0) {
        w.row[NOT_CONVERGED]++;
        measure_list(name, index);
        sweep_miss(result, "%s: `not-converged`, residual %.3g", name, error.evidence.residual);
    } else {
        w.row[OTHER]++;
        sweep_fail(result, "%s: stopped: %s", name, error.message);
    }
    quasistatic_view_close(&w.view);
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
        "bodies, infeasible commands and, in the plane with up to 16 contacts and limits, the lack of an equilibrium "
        "are "
        "proved again by Farkas' lemma; instant-qs alike",
    .full = 1000,
    .sample = 12,
    .chunk = 20,
    .kinds = {"groove", "bin", "stack", "table", "gripper", "articulated"},
    .run = run,
    .show = show,
};
