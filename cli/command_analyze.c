/* perp analyze: certificates of a state. */
#include "analyze_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double STEPS_MOST = 1e9; /* of a run, as of `perp run` */

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
    if (isinf(range[0]) || range[1] - range[0] > 1e-7 * (1.0 + fabs(range[0]))) {
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

static const char *yes(bool is)
{
    return is ? "yes" : "no";
}

static void print_closure(const perp_analysis *a)
{
    for (int i = 0; i < a->closure_count; i++) {
        const perp_closure *c = &a->closures[i];
        printf("%-15s force closure %s", a->model->scene->bodies[c->body].name, yes(c->force_closure));
        if (c->force_closure) {
            printf(" (margin %.4g)", c->margin);
        }
        printf(", form closure %s", yes(c->form_closure));
        if (c->form_closure) {
            printf(" (order %d)", c->form_closure_order);
        }
        printf(", equilibrium %s, wedged %s, jammed %s\n", yes(c->equilibrium), yes(c->wedged), yes(c->jammed));
    }
}

static void print_words(const perp_analysis *a, const perp_state *state)
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
}

/* ---- the state --------------------------------------------------------------------------------------------------- */

/* The run up to the last step that ends at `at` or before it. */
static perp_status go_to(perp_sim *sim, double at, perp_error *error)
{
    const perp_run_settings *settings = &perp_sim_model(sim)->scene->run;
    const double exactly = at > 0.0 ? at / settings->h : 0.0; /* h may be 0 on rungs that answer about an instant */
    if (exactly > STEPS_MOST) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "--at %g is %.3g steps of h = %g; at most %g are allowed", at,
                         exactly, settings->h, STEPS_MOST);
    }
    const int steps = (int)floor(exactly * (1.0 + 1e-12) + 1e-9);
    perp_status status = PERP_STATUS_OK;
    cli_progress progress = cli_progress_begin();
    for (int i = 0; i < steps && status == PERP_STATUS_OK; i++) {
        cli_progress_update(&progress, i, steps, perp_sim_state(sim)->t);
        status = cli_interrupted() ? perp_fail(error, PERP_STATUS_CANCELLED, "interrupted") : perp_sim_step(sim, error);
    }
    cli_progress_end(&progress);
    return status;
}

static perp_status take_state(perp_sim *sim, double at, const analyze_state *from, perp_error *error)
{
    if (from) {
        const perp_state *state = perp_sim_state(from->sim);
        if (from->model->nq != perp_sim_model(sim)->nq || from->model->nv != perp_sim_model(sim)->nv) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT,
                             "with that value other things can move than in the state at t = %g s", state->t);
        }
        return perp_sim_set_state(sim, state->t, state->q, state->v, error);
    }
    if (at > 0.0 && !perp_rung_find(perp_sim_model(sim)->scene->run.model)->step) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "`%s` answers about the initial state: leave --at out",
                         perp_sim_model(sim)->scene->run.model);
    }
    return go_to(sim, at, error);
}

perp_status cli_analyze_open(const cli_arguments *arguments, const cli_settings *settings, double at,
                             const analyze_state *from, unsigned certificates, analyze_state *out)
{
    perp_analyze_options options = perp_analyze_options_default();
    options.cancel = cli_interrupt_flag();
    options.certificates = certificates;
    memset(out, 0, sizeof *out);
    perp_status status = cli_load_scene(arguments, settings, NULL, &out->scene, &out->diagnostics);
    if (status != PERP_STATUS_OK) {
        perp_diagnostics_first_error(&out->diagnostics, status, &out->error);
        return status;
    }
    status = perp_model_build(out->scene, NULL, &out->model, &out->error);
    status = status == PERP_STATUS_OK ? perp_sim_create(out->model, NULL, &out->sim, &out->error) : status;
    status = status == PERP_STATUS_OK ? take_state(out->sim, at, from, &out->error) : status;
    status = status == PERP_STATUS_OK ? perp_analyze(out->sim, &options, &out->analysis, &out->error) : status;
    if (status != PERP_STATUS_OK) {
        cli_locate_failure(out->scene, &out->error);
    }
    return status;
}

void cli_analyze_close(analyze_state *state)
{
    perp_analysis_free(state->analysis);
    perp_sim_free(state->sim);
    perp_model_free(state->model);
    perp_scene_free(state->scene);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

/* What was found out, or why there is nothing. */
static int report(const cli_arguments *a, const cli_threshold *threshold, double at, analyze_state *state)
{
    const bool json = cli_value(a, "--json") != NULL;
    perp_error error = state->error;
    char *text = NULL;
    if (state->analysis && !json) {
        print_words(state->analysis, perp_sim_state(state->sim));
    }
    bool failed = !state->analysis;
    if (!failed && threshold->of) {
        failed = cli_threshold_find(a, threshold, at, state, json ? &text : NULL, &error) != PERP_STATUS_OK;
    } else if (!failed && json) {
        text = perp_analysis_json(state->analysis, NULL);
    }
    int code = EXIT_DONE;
    if (failed) { /* diagnostics that were printed have said what is wrong */
        code = state->diagnostics.errors == 0          ? cli_refuse(&error)
               : error.status == PERP_STATUS_BAD_INPUT ? EXIT_BAD_INPUT
                                                       : EXIT_REFUSED;
        text = json ? perp_analysis_json(NULL, &error) : NULL;
    }
    const int written = json ? cli_write_json(text) : cli_finish(EXIT_DONE);
    return written == EXIT_DONE ? code : written;
}

static int run(const cli_arguments *a)
{
    double at;
    cli_threshold threshold;
    int code = check_usage(a, &at);
    code = code == EXIT_DONE ? cli_threshold_usage(a, &threshold) : code;
    if (code != EXIT_DONE) {
        return code;
    }
    cli_catch_interrupts();
    cli_settings settings = {0};
    if (!cli_settings_collect(a, &settings)) {
        cli_settings_free(&settings);
        return cli_fail(EXIT_REFUSED, "out of memory");
    }
    analyze_state state;
    cli_analyze_open(a, &settings, at, NULL, PERP_CERTIFY_ALL, &state);
    cli_print_diagnostics(&state.diagnostics);
    code = report(a, &threshold, at, &state);
    cli_analyze_close(&state);
    cli_settings_free(&settings);
    return code;
}

static const cli_option options[] = {
    {"--model", "NAME", "the model that the verdicts are about (perp models); default: the scene's"},
    {"--at", "T", "the state at this time of the run, in seconds; default: 0"},
    {"--h", "S", "step size, in seconds"},
    {"--set", "PATH=VALUE", "change a value of the scene; again for more"},
    {"--threshold", "PATH", "at which values of PATH verdicts flip; `mu`: of the friction of all contacts"},
    {"--range", "FROM,TO", "where to look for them; default for mu: 0,2"},
    {"--verdict", "NAME", "only this one, as closure.disc.jammed or rigidity, by its place in --json; default: all"},
    {"--json", NULL, "one JSON object on standard output"},
};

const cli_command cli_analyze = {
    .name = "analyze",
    .operand = "SCENE",
    .summary = "can this answer be trusted? existence, uniqueness, rigidity and closure at a state",
    .details =
        "examples:\n"
        "  perp analyze examples/fence-particle/scene.yaml                 at the start of the run\n"
        "  perp analyze examples/gripper-2d/scene.yaml --at 0.1            at 0.1 s, about the next step\n"
        "  perp analyze examples/painleve-rod/scene.yaml --model instant   about this instant\n"
        "  perp analyze examples/wedged-disc/scene.yaml --json | jq .rigidity\n"
        "  perp analyze examples/wedged-disc/scene.yaml --threshold mu     the friction that holds it\n"
        "  perp analyze examples/peg-in-hole-2d/scene.yaml --at 1.5 --threshold mu --verdict closure.peg.jammed\n\n"
        "Every verdict is a proof or `unknown`; what decides is said below it. docs/analyze.md\n",
    .options = options,
    .option_count = (int)(sizeof options / sizeof *options),
    .run = run,
};
