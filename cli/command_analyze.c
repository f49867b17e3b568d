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

static void print_rigidity(const perp_rigidity *r)
{
    printf("rigid bodies    %s", perp_verdict_name(r->verdict));
    if (r->count > 0) {
        printf(" (P-matrix %s, stable %s", answer_word(r->p_matrix), answer_word(r->stable));
        if (r->has_kappa) {
            printf(", c^2/k %.4g kg", r->kappa);
        }
        if (r->has_kappa_min) {
            printf(", stable above c^2/k = %.4g kg", r->kappa_min);
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

static int print_words(const perp_analysis *a)
{
    const perp_uniqueness *u = &a->uniqueness;
    printf("%s at t = %g s, %s\n\n", a->model->scene->name, a->t, a->rung->name);
    print_existence(&a->existence);
    printf("its uniqueness  %s", perp_verdict_name(u->verdict));
    if (u->printed != PERP_VERDICT_UNKNOWN && u->printed != u->verdict) {
        printf(" (Proposition 1 as printed: %s)", perp_verdict_name(u->printed));
    }
    printf("\n");
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
static int report(const cli_arguments *a, const perp_analysis *analysis, const perp_error *error, bool told)
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
    return analysis ? print_words(analysis) : code;
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
    code = report(a, analysis, &error, diagnostics.errors > 0);
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
