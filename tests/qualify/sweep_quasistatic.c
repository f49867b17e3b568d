/* Random scenes at rest, a hundred steps each, on every quasistatic rung of the registry.
 *
 * A completed step is judged by its own residuals and by a balance of forces that is summed here from the records; a
 * stop by quasistatic_judge.h, which proves the claim again from the model and the contacts. */
#include "sweep.h"

#include "quasistatic_judge.h"
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
    OTHER,
    CLOSE,
    STEPS,
    LOOSE,
    ANY,
    SECOND,
    BALANCE,
    COMPLEMENTARITY,
    CONE,
    COLUMNS
};
static const measure_column columns[COLUMNS] = {{"runs", false},
                                                {"completed", false},
                                                {"unsupported-body", false},
                                                {"infeasible", false},
                                                {"tolerance", false},
                                                {"not-converged", false},
                                                {"no-equilibrium", false},
                                                {"other stops", false},
                                                {"claims not judged", false},
                                                {"steps", false},
                                                {"loose", false},
                                                {"any motion", false},
                                                {"second method", false},
                                                {"balance", true},
                                                {"complementarity", true},
                                                {"cone", true}};

/* ---- a completed step -------------------------------------------------------------------------------------------- */

typedef struct watch {
    const perp_model *model;
    const perp_rung *rung;
    const perp_run_settings *settings;
    sweep_case *result;
    double *q, *command; /* nq: at the last step's end; nv */
    perp_vec3 *force;    /* by body, N */
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

/* F of the residuals; the springs are at their ends' last positions. */
static double force_unit(const watch *w, double t)
{
    const perp_model *model = w->model;
    double largest = 1e-3;
    perp_command(model, t, w->command);
    for (int i = 0; i < model->body_count; i++) {
        largest = model->links[i].tree >= 0
                      ? fmax(largest, model->links[i].mass * perp_vec3_norm(model->scene->gravity))
                      : largest;
    }
    for (int i = 0; i < model->scene->force_count; i++) {
        largest = fmax(largest, fabs(perp_drive_value(&model->scene->forces[i].force[0], t)));
    }
    for (int i = 0; i < model->nv; i++) {
        if (model->role[i] == PERP_DOF_IMPEDANCE) {
            largest = fmax(largest, fabs(model->stiffness[i] * (w->command[i] - w->q[model->dof_q[i]])));
        }
    }
    return largest;
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

/* On every body that only contacts hold, their forces, its weight and what is applied sum to nothing (to M v / h). */
static void check_forces(const watch *w, const perp_state *state, const perp_step_info *info)
{
    const perp_model *model = w->model;
    const perp_scene *scene = model->scene;
    const double unit = force_unit(w, state->t);
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
    const double unit = force_unit(w, state->t);
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
        /* a box cone reaches to mu fn along each of its two axes */
        const double wide = w->rung->own_cone == PERP_CONE_BOX ? sqrt(2.0) : 1.0;
        const double out = hypot(c->ft[0], c->ft[1]) - wide * c->contact.friction * c->fn;
        if (!all_finite(parts, 6) || !(c->fn >= 0.0) || !(out <= 1.001 * TOLERANCE * unit)) {
            sweep_fail(w->result, "%s: at t = %g contact %d has fn %g, out of its cone by %g", w->rung->name, state->t,
                       i, c->fn, out);
        }
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
        check_reach(w, state);
    }
    memcpy(w->q, state->q, (size_t)w->model->nq * sizeof *w->q);
    return true;
}

/* ---- a stop ------------------------------------------------------------------------------------------------------ */

static void judge_stop(const watch *w, const perp_state *state, const perp_error *error, double *row)
{
    const char *code = error->code ? error->code : "none";
    const bool unsupported = strcmp(code, "unsupported-body") == 0, no_balance = strcmp(code, "no-equilibrium") == 0;
    const bool infeasible = strcmp(code, "infeasible-command") == 0, start = strcmp(code, "penetrating-start") == 0;
    const bool missed = strcmp(code, "tolerance") == 0, open = strcmp(code, "not-converged") == 0;
    quasistatic_finding finding = {.verdict = QUASISTATIC_PROVED};
    row[unsupported  ? UNSUPPORTED
        : infeasible ? INFEASIBLE
        : missed     ? TOLERANCE_MISSED
        : open       ? NOT_CONVERGED
        : no_balance ? NO_EQUILIBRIUM
                     : OTHER]++;
    if (unsupported || no_balance) {
        finding = quasistatic_judge_unsupported(w->model, w->settings, w->rung, state);
    } else if (infeasible || start) {
        finding = quasistatic_judge_infeasible(w->model, w->settings, w->rung, state, error->evidence.depth);
    } else if ((missed || open) && !(error->evidence.residual > TOLERANCE)) {
        sweep_fail(w->result, "%s: `%s` with a residual of %.3g", w->rung->name, code, error->evidence.residual);
    } else if (!missed && !open) {
        sweep_fail(w->result, "%s: stopped without a type: %s: %s", w->rung->name, code, error->message);
    }
    /* A part of a step has failed, whose begin is not known here. Or forces could balance, but the rung says that no
     * motion goes with them, which only a search through all modes of all contacts could show again. */
    if (finding.verdict == QUASISTATIC_DISPROVED && (no_balance || isfinite(w->settings->substep_tolerance))) {
        finding.verdict = QUASISTATIC_CLOSE;
    }
    row[CLOSE] += finding.verdict == QUASISTATIC_CLOSE ? 1 : 0;
    if (finding.verdict == QUASISTATIC_DISPROVED) {
        sweep_fail(w->result, "%s: not true (to %.3g, with forces of %.3g F): %s", w->rung->name, finding.distance,
                   finding.weight, error->message);
    }
}

/* The judge is judged too: where a step was taken, none of the two claims about its begin can be proved. */
static void judge_judge(const watch *w, const perp_state *start)
{
    const quasistatic_finding load = quasistatic_judge_unsupported(w->model, w->settings, w->rung, start);
    const quasistatic_finding motion = quasistatic_judge_infeasible(w->model, w->settings, w->rung, start, 1e-3);
    if (load.verdict == QUASISTATIC_PROVED || motion.verdict == QUASISTATIC_PROVED) {
        sweep_fail(w->result, "%s: the first step was taken, and is proved impossible (load %.3g, motion %.3g)",
                   w->rung->name, load.distance, motion.distance);
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
    watch w = {.model = model, .rung = rung, .settings = &settings, .result = result};
    w.q = calloc((size_t)model->nq + 1, sizeof *w.q);
    w.command = calloc((size_t)model->nv + 1, sizeof *w.command);
    w.force = calloc((size_t)model->body_count + 1, sizeof *w.force);
    if (!w.q || !w.command || !w.force || perp_state_create(model, NULL, &state, &error) != PERP_STATUS_OK) {
        fprintf(stderr, "sweep_quasistatic: out of memory\n");
        exit(2);
    }
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
    free(w.command);
    free(w.force);
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
        "h 0.001 .. 0.4, 100 steps on every quasistatic rung: no NaN, every step meets the rung's law to 1e-8 and "
        "forces balance, every stop has a type, and unsupported bodies and infeasible commands are proved again by "
        "Farkas' lemma",
    .full = 1000,
    .sample = 12,
    .chunk = 20,
    .kinds = {"groove", "bin", "stack", "table", "gripper", "articulated"},
    .run = run,
    .show = show,
};
