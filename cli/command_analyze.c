/* perp analyze: certificates of a state. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_usage(const cli_arguments *a, double *at)
{
    const char *text = cli_value(a, "--at"), *model = cli_value(a, "--model");
    char *end = NULL;
    *at = text ? strtod(text, &end) : 0.0;
    if (text && (end == text || *end != '\0' || !isfinite(*at) || *at < 0.0)) {
        return cli_fail(EXIT_USAGE, "analyze: --at is a time in seconds such as 0.5, not `%s`", text);
    }
    if (!a->operand) {
        return cli_fail(EXIT_USAGE, "analyze: SCENE is missing (perp analyze --help)");
    }
    return model ? cli_check_model(a, model) : EXIT_DONE;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static void print_contact(const perp_analysis *a, int contact)
{
    const perp_contact *c = &a->contacts[contact].contact;
    char feature[64];
    perp_contact_feature_text(c, feature, sizeof feature);
    printf("%s %s %s", a->model->scene->bodies[c->a].name, a->model->scene->bodies[c->b].name, feature);
}

static const char *answer_word(perp_answer answer)
{
    static const char *const words[] = {
        [PERP_ANSWER_UNKNOWN] = "unknown", [PERP_ANSWER_NO] = "no", [PERP_ANSWER_YES] = "yes"};
    return words[answer];
}

static void print_existence(const perp_existence *e)
{
    printf("a solution      %s", perp_verdict_name(e->verdict));
    if (e->solutions >= 0) {
        printf(", %d%s", e->solutions, e->complete ? "" : " found, maybe more");
    }
    printf("\n");
}

/* Components that are rounding beside the largest, which is 1 or so, are not printed as such. */
static perp_vec3 without_rounding(double scale, perp_vec3 v)
{
    const double least = 1e-12;
    return perp_vec3_make(fabs(v.x) > least ? scale * v.x : 0.0, fabs(v.y) > least ? scale * v.y : 0.0,
                          fabs(v.z) > least ? scale * v.z : 0.0);
}

/* What leads from the reported answer to another one; of accelerations nothing is said here but that there are others.
 */
static void print_motion(const perp_analysis *a, const perp_state *state)
{
    const perp_uniqueness *u = &a->uniqueness;
    const perp_model *model = a->model;
    perp_kinematics *kinematics;
    if (!u->motion || perp_kinematics_create(model, NULL, &kinematics, NULL) != PERP_STATUS_OK) {
        return;
    }
    const char *what = a->rung->answers ? a->rung->answers : "velocity",
               *unit = strcmp(what, "velocity") == 0 ? "m/s" : "m/s^2";
    perp_kinematics_update(model, state->q, kinematics);
    perp_kinematics_velocity(model, u->motion, kinematics);
    for (int i = 0; i < model->body_count; i++) {
        const perp_vec3 v = without_rounding(u->motion_length, kinematics->twist[i].linear);
        const perp_vec3 w = without_rounding(u->motion_length, kinematics->twist[i].angular);
        if (perp_vec3_norm(v) + perp_vec3_norm(w) == 0.0) {
            continue;
        }
        printf("  another one     `%s`: %s more by (%.4g, %.4g", model->scene->bodies[i].name, what, v.x, v.y);
        if (model->planar) {
            printf(") %s, turning by %.4g\n", unit, w.z);
        } else {
            printf(", %.4g) %s, turning by (%.4g, %.4g, %.4g)\n", v.z, unit, w.x, w.y, w.z);
        }
    }
    perp_kinematics_free(kinematics);
}

static void print_range(const char *name, const double range[2])
{
    printf("%s %.6g", name, range[0] == 0.0 ? 0.0 : range[0]); /* no -0 */
    if (range[1] - range[0] > 1e-7 * (1.0 + fabs(range[0]))) {
        printf(" .. %.6g", range[1]);
    }
    printf(" N");
}

/* Contact forces that are not determined by the motion. */
static void print_forces(const perp_analysis *a)
{
    enum { LINES = 12 };
    const perp_uniqueness *u = &a->uniqueness;
    int count = 0;
    for (int i = 0; i < u->force_count; i++) {
        const perp_force_range *f = &u->forces[i];
        const double widest = fmax(f->fn[1] - f->fn[0], fmax(f->ft[0][1] - f->ft[0][0], f->ft[1][1] - f->ft[1][0]));
        if (!(widest > 1e-7 * (1.0 + fabs(f->fn[0]))) || ++count > LINES) {
            continue;
        }
        printf("  same motion     ");
        print_contact(a, f->contact);
        print_range(": fn", f->fn);
        print_range(", ft", f->ft[0]);
        if (!a->model->planar) {
            print_range(" and", f->ft[1]);
        }
        printf("\n");
    }
    cli_print_rest(count, LINES);
}

static void print_rigidity(const perp_rigidity *r)
{
    printf("rigid bodies    %s", perp_verdict_name(r->verdict));
    if (r->count > 0) {
        printf(" (P-matrix %s, stable %s", answer_word(r->p_matrix), answer_word(r->stable));
        if (r->has_kappa) {
            printf(", c^2/k %.4g kg", r->kappa);
        }
        if (r->has_kappa_min) {
            r->kappa_min > 0.0 ? printf(", stable above c^2/k = %.4g kg", r->kappa_min)
                               : printf(", stable with any damping");
        } else if (r->stable == PERP_ANSWER_NO) {
            printf(", no damping mends that");
        }
        printf(")");
    }
    printf("\n");
}

static void print_closure(const perp_analysis *a)
{
    for (int i = 0; i < a->closure_count; i++) {
        const perp_closure *c = &a->closures[i];
        printf("%s %-13s force closure %s, form closure %s, equilibrium %s, jammed %s, margin %.4g\n",
               i == 0 ? "held" : "    ", a->model->scene->bodies[c->body].name, c->force_closure ? "yes" : "no",
               c->form_closure ? "yes" : "no", c->equilibrium ? "yes" : "no", c->jammed ? "yes" : "no", c->margin);
    }
}

static int print_words(const perp_analysis *a, const perp_state *state)
{
    const perp_uniqueness *u = &a->uniqueness;
    printf("%s at t = %g s, %s\n\n", a->model->scene->name, a->t, a->rung->name);
    print_existence(&a->existence);
    printf("its uniqueness  %s", perp_verdict_name(u->verdict));
    if (u->printed != PERP_VERDICT_UNKNOWN &&
        (u->printed == PERP_VERDICT_NOT_UNIQUE) != (u->verdict == PERP_VERDICT_NOT_UNIQUE)) {
        printf(" (Proposition 1 as printed: %s)", perp_verdict_name(u->printed));
    }
    printf("\n");
    print_motion(a, state);
    print_forces(a);
    print_rigidity(&a->rigidity);
    print_closure(a);
    if (a->reason_count > 0) {
        printf("\nwhy:\n");
    }
    for (int i = 0; i < a->reason_count; i++) {
        printf("  ");
        if (a->reasons[i].contact >= 0) {
            print_contact(a, a->reasons[i].contact);
            printf(": ");
        }
        printf("%s\n", a->reasons[i].text);
    }
    return cli_finish(EXIT_DONE);
}

/* ---- the state --------------------------------------------------------------------------------------------------- */

/* The run up to the last step that ends at `at` or before it. */
static perp_status go_to(perp_sim *sim, double at, perp_error *error)
{
    const perp_run_settings *settings = &perp_sim_model(sim)->scene->run;
    const int steps = (int)floor(at / settings->h * (1.0 + 1e-12) + 1e-9);
    perp_status status = PERP_STATUS_OK;
    cli_progress progress = cli_progress_begin();
    for (int i = 0; i < steps && status == PERP_STATUS_OK; i++) {
        cli_progress_update(&progress, i, steps, perp_sim_state(sim)->t);
        status = cli_interrupted() ? perp_fail(error, PERP_STATUS_CANCELLED, "interrupted") : perp_sim_step(sim, error);
    }
    cli_progress_end(&progress);
    return status;
}

static perp_status analyze(const perp_model *model, double at, perp_analysis **analysis, perp_sim **sim,
                           perp_error *error)
{
    perp_analyze_options options = perp_analyze_options_default();
    options.cancel = cli_interrupt_flag();
    perp_status status = perp_sim_create(model, NULL, sim, error);
    if (status == PERP_STATUS_OK && at > 0.0 && !perp_rung_find(model->scene->run.model)->step) {
        status = perp_fail(error, PERP_STATUS_BAD_INPUT, "`%s` answers about the initial state: leave --at out",
                           model->scene->run.model);
    }
    status = status == PERP_STATUS_OK ? go_to(*sim, at, error) : status;
    return status == PERP_STATUS_OK ? perp_analyze(*sim, &options, analysis, error) : status;
}

/* `told`: the diagnostics that were printed have said what is wrong. */
static int report(const cli_arguments *a, const perp_analysis *analysis, const perp_sim *sim, const perp_error *error,
                  bool told)
{
    const bool json = cli_value(a, "--json") != NULL;
    int code = EXIT_DONE;
    if (!analysis) {
        code = !told ? cli_refuse(error) : error->status == PERP_STATUS_BAD_INPUT ? EXIT_BAD_INPUT : EXIT_REFUSED;
    }
    if (json) {
        const int written = cli_write_json(perp_analysis_json(analysis, analysis ? NULL : error));
        return written == EXIT_DONE ? code : written;
    }
    return analysis ? print_words(analysis, perp_sim_state(sim)) : code;
}

static int run(const cli_arguments *a)
{
    double at;
    int code = check_usage(a, &at);
    if (code != EXIT_DONE) {
        return code;
    }
    cli_catch_interrupts();
    cli_settings settings = {0};
    perp_scene *scene = NULL;
    perp_model *model = NULL;
    perp_sim *sim = NULL;
    perp_analysis *analysis = NULL;
    perp_diagnostics diagnostics = {0};
    perp_error error = {0};
    if (!cli_settings_collect(a, &settings)) {
        cli_settings_free(&settings);
        return cli_fail(EXIT_REFUSED, "out of memory");
    }
    perp_status status = cli_load_scene(a, &settings, NULL, &scene, &diagnostics);
    cli_print_diagnostics(&diagnostics);
    if (status == PERP_STATUS_OK) {
        status = perp_model_build(scene, NULL, &model, &error);
    } else {
        perp_diagnostics_first_error(&diagnostics, status, &error);
    }
    status = status == PERP_STATUS_OK ? analyze(model, at, &analysis, &sim, &error) : status;
    if (status != PERP_STATUS_OK && scene) {
        cli_locate_failure(scene, &error);
    }
    code = report(a, analysis, sim, &error, diagnostics.errors > 0);
    perp_analysis_free(analysis);
    perp_sim_free(sim);
    perp_model_free(model);
    perp_scene_free(scene);
    cli_settings_free(&settings);
    return code;
}

static const cli_option options[] = {
    {"--model", "NAME", "the model that the verdicts are about (perp models); default: the scene's"},
    {"--at", "T", "the state at this time of the run, in seconds; default: 0"},
    {"--h", "S", "step size, in seconds"},
    {"--set", "PATH=VALUE", "change a value of the scene; again for more"},
    {"--json", NULL, "one JSON object on standard output"},
};

const cli_command cli_analyze = {
    .name = "analyze",
    .operand = "SCENE",
    .summary = "can this answer be trusted? existence, uniqueness, rigidity and closure at a state",
    .details = "examples:\n"
               "  perp analyze examples/fence-particle/scene.yaml                 at the start of the run\n"
               "  perp analyze examples/gripper-2d/scene.yaml --at 0.1            at 0.1 s, about the next step\n"
               "  perp analyze examples/painleve-rod/scene.yaml --model instant   about this instant\n"
               "  perp analyze examples/wedged-disc/scene.yaml --json | jq .rigidity\n\n"
               "Every verdict is a proof or `unknown`; what decides is said below it. docs/analyze.md\n",
    .options = options,
    .option_count = (int)(sizeof options / sizeof *options),
    .run = run,
};
