#include "cli.h"

#include <stdio.h>

static void print_sink(void *context, const char *text)
{
    (void)context;
    fputs(text, stdout);
}

static void print_summary(const char *path, const perp_model *model, const perp_diagnostics *diagnostics)
{
    int prescribed = 0, impedance = 0;
    for (int i = 0; i < model->nv; i++) {
        prescribed += model->role[i] == PERP_DOF_PRESCRIBED;
        impedance += model->role[i] == PERP_DOF_IMPEDANCE;
    }
    printf("%s: sound%s\n", path, diagnostics->warnings ? ", with warnings" : "");
    const perp_scene *s = model->scene;
    printf("  %d %s, %d %s, %d %s, %d %s, %s\n", s->body_count, perp_plural(s->body_count, "body", "bodies"),
           s->joint_count, perp_plural(s->joint_count, "joint", "joints"), s->loop_count,
           perp_plural(s->loop_count, "loop", "loops"), s->force_count, perp_plural(s->force_count, "force", "forces"),
           model->planar ? "planar" : "spatial");
    printf("  %d %s of freedom: %d passive, %d impedance-controlled, %d commanded; %d %s\n", model->nv,
           perp_plural(model->nv, "degree", "degrees"), model->nv - prescribed - impedance, impedance, prescribed,
           model->tree_count, perp_plural(model->tree_count, "tree", "trees"));
    cli_print_units(s);
}

static int report(const cli_arguments *a, const perp_model *model, const perp_diagnostics *diagnostics)
{
    cli_print_diagnostics(diagnostics);
    int code = model ? EXIT_DONE : EXIT_BAD_INPUT;
    if (cli_value(a, "--json")) {
        const int written = cli_write_json(perp_check_json(model, diagnostics));
        code = written == EXIT_DONE ? code : written;
    } else if (model) {
        print_summary(a->operand, model, diagnostics);
    }
    return code;
}

/* What looks unintended of the motion, and of the contacts at the start and along the commands. */
static perp_status lint(const perp_scene *scene, const perp_model *model, perp_diagnostics *diagnostics)
{
    perp_contact_model *contacts = NULL;
    perp_error error;
    perp_status status = perp_model_lint(model, NULL, diagnostics);
    if (status == PERP_STATUS_OK) {
        status = perp_contact_model_build(model, NULL, &contacts, &error);
        if (status != PERP_STATUS_OK) {
            perp_scene_report(scene, diagnostics, PERP_SEVERITY_ERROR, error.path, "%s", error.message);
        }
    }
    if (status == PERP_STATUS_OK) {
        status = perp_run_lint(model, contacts, NULL, diagnostics);
    }
    perp_contact_model_free(contacts);
    return status;
}

static int run(const cli_arguments *a)
{
    static perp_diagnostics diagnostics;
    if (cli_value(a, "--keys")) {
        perp_scene_key_reference(print_sink, NULL);
        return EXIT_DONE;
    }
    if (!a->operand) {
        return cli_fail(EXIT_USAGE, "check: SCENE is missing (perp check --help)");
    }
    perp_scene *scene = NULL;
    perp_model *model = NULL;
    perp_error error;
    cli_settings settings;
    if (!cli_settings_collect(a, &settings)) {
        cli_settings_free(&settings);
        return cli_fail(EXIT_REFUSED, "out of memory");
    }
    const perp_scene_load_options options = {
        .settings = (const char *const *)settings.texts, .setting_count = settings.count, .models = cli_model_names()};
    perp_status status = perp_scene_load_file(a->operand, &options, &scene, &diagnostics);
    if (status == PERP_STATUS_OK) {
        status = perp_model_build(scene, NULL, &model, &error);
        if (status != PERP_STATUS_OK) {
            perp_scene_report(scene, &diagnostics, PERP_SEVERITY_ERROR, error.path, "%s", error.message);
        }
    }
    if (status == PERP_STATUS_OK && perp_run_check_scene(scene, &scene->run, &error) != PERP_STATUS_OK) {
        perp_scene_report(scene, &diagnostics, PERP_SEVERITY_ERROR, error.path, "%s", error.message);
        status = PERP_STATUS_BAD_INPUT;
    }
    if (status == PERP_STATUS_OK) {
        status = lint(scene, model, &diagnostics);
    }
    const int code = report(a, status == PERP_STATUS_OK ? model : NULL, &diagnostics);
    perp_model_free(model);
    perp_scene_free(scene);
    cli_settings_free(&settings);
    return status == PERP_STATUS_OUT_OF_MEMORY ? EXIT_REFUSED : code;
}

static const cli_option options_table[] = {
    {"--set", "PATH=VALUE", "change any value of the scene first; may be repeated"},
    {"--json", NULL, "print the findings as one JSON object"},
    {"--keys", NULL, "print the reference page of all keys of a scene (Markdown)"},
};

const cli_command cli_check = {
    .name = "check",
    .operand = "SCENE",
    .operand_optional = true,
    .summary = "validate a scene: every error in one go, with line and column, and what looks unintended",
    .details = "examples:\n"
               "  perp check scene.yaml\n"
               "  perp check scene.yaml --set bodies.cup.mass=-1     what would be said of that?\n"
               "  perp check --keys | less                           all keys, their defaults and meaning\n",
    .options = options_table,
    .option_count = (int)(sizeof options_table / sizeof *options_table),
    .run = run,
};
