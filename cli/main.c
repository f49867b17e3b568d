#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const cli_command *const cli_commands[] = {&cli_run,    &cli_analyze, &cli_compare,   &cli_check, &cli_solve,
                                           &cli_export, &cli_view,    &cli_plot,      &cli_sweep, &cli_diff,
                                           &cli_models, &cli_doctor,  &cli_completion};
const int cli_command_count = (int)(sizeof cli_commands / sizeof *cli_commands);

static void print_overview(FILE *out)
{
    fprintf(out,
            "perp %s - simulate, analyse and plan with a family of rigid-body contact models on one scene file\n\n"
            "usage: perp COMMAND ...\n\n",
            perp_version());
    for (int i = 0; i < cli_command_count; i++) {
        char head[64];
        snprintf(head, sizeof head, "%s %s", cli_commands[i]->name,
                 cli_commands[i]->operand ? cli_commands[i]->operand : "");
        fprintf(out, "  perp %-18s %s\n", head, cli_commands[i]->summary);
    }
    fputs("  perp --version         the version\n"
          "  perp COMMAND --help    options and examples of a command\n\n"
          "Start here:\n"
          "  perp check examples/arm-reach/scene.yaml                       is the scene sound?\n"
          "  perp run examples/arm-reach/scene.yaml --model kinematic       move it\n"
          "  perp run examples/arm-reach/scene.yaml --model kinematic --json | jq .final.q\n\n"
          "Exit codes: 0 done; 1 the physics or the solver says no, explained; 2 usage; 3 bad input.\n",
          out);
}

static void print_help(const cli_command *command)
{
    printf("perp %s - %s\n\nusage: perp %s %s%s%s [OPTIONS]\n", command->name, command->summary, command->name,
           command->operand_optional ? "[" : "", command->operand ? command->operand : "",
           command->operand_optional ? "]" : "");
    if (command->option_count > 0) {
        printf("\noptions:\n");
    }
    for (int i = 0; i < command->option_count; i++) {
        char head[48];
        snprintf(head, sizeof head, "%s %s", command->options[i].name,
                 command->options[i].argument ? command->options[i].argument : "");
        printf("  %-20s %s\n", head, command->options[i].help);
    }
    printf("  %-20s %s\n", "--help", "this text");
    if (command->details) {
        printf("\n%s", command->details);
    }
}

static const cli_command *find_command(const char *name)
{
    for (int i = 0; i < cli_command_count; i++) {
        if (strcmp(cli_commands[i]->name, name) == 0) {
            return cli_commands[i];
        }
    }
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[sizeof cli_commands / sizeof *cli_commands];
    for (int i = 0; i < cli_command_count; i++) {
        names[i] = cli_commands[i]->name;
    }
    const char *nearest = cli_nearest(name, names, cli_command_count);
    return nearest ? cli_fail(EXIT_USAGE, "there is no command `%s`; did you mean `%s`? (perp --help)", name, nearest)
                   : cli_fail(EXIT_USAGE, "there is no command `%s` (perp --help)", name);
}

static int unknown_option(const cli_command *command, const char *name)
{
    perp_nearest search = perp_nearest_begin(name);
    for (int i = 0; i < command->option_count; i++) {
        perp_nearest_offer(&search, command->options[i].name);
    }
    const char *nearest = search.name;
    return nearest
               ? cli_fail(EXIT_USAGE, "%s: there is no option `%s`; did you mean `%s`?", command->name, name, nearest)
               : cli_fail(EXIT_USAGE, "%s: there is no option `%s` (perp %s --help)", command->name, name,
                          command->name);
}

/* Finds an option by the text before "=", if there is one. */
static const cli_option *find_option(const cli_command *command, const char *text)
{
    const size_t length = strcspn(text, "=");
    for (int i = 0; i < command->option_count; i++) {
        if (strlen(command->options[i].name) == length && strncmp(command->options[i].name, text, length) == 0) {
            return &command->options[i];
        }
    }
    return NULL;
}

/* Reads one option at argv[*at]; EXIT_DONE if it is sound. */
static int parse_option(cli_arguments *a, int argc, char **argv, int *at)
{
    const char *text = argv[*at];
    const cli_option *option = find_option(a->command, text);
    if (!option) {
        return unknown_option(a->command, text);
    }
    const char *equals = strchr(text, '=');
    const char *value = equals ? equals + 1 : "";
    if (option->argument && !equals) {
        if (*at + 1 >= argc) {
            return cli_fail(EXIT_USAGE, "%s: %s needs a value: %s %s", a->command->name, option->name, option->name,
                            option->argument);
        }
        value = argv[++*at];
    } else if (!option->argument && equals) {
        return cli_fail(EXIT_USAGE, "%s: %s takes no value", a->command->name, option->name);
    }
    if (strcmp(option->name, "--set") == 0 && (!strchr(value, '=') || value[0] == '=')) {
        return cli_fail(EXIT_USAGE, "%s: --set needs PATH=VALUE, for example --set contacts.friction=0.3, not `%s`",
                        a->command->name, value);
    }
    a->options[a->count] = option;
    a->values[a->count++] = value;
    return EXIT_DONE;
}

static int parse(cli_arguments *a, int argc, char **argv)
{
    bool only_operands = false;
    for (int i = 0; i < argc; i++) {
        if (!only_operands && strcmp(argv[i], "--") == 0) {
            only_operands = true;
        } else if (!only_operands && argv[i][0] == '-' && argv[i][1] != '\0') {
            const int code = parse_option(a, argc, argv, &i);
            if (code != EXIT_DONE) {
                return code;
            }
        } else if (!a->command->operand ||
                   a->operand_count >= (a->command->operand_most > 1 ? a->command->operand_most : 1)) {
            return cli_fail(EXIT_USAGE, "%s: unexpected `%s` (perp %s --help)", a->command->name, argv[i],
                            a->command->name);
        } else {
            a->operands[a->operand_count++] = argv[i];
            a->operand = a->operands[0];
        }
    }
    if (a->command->operand && !a->operand && !a->command->operand_optional) {
        return cli_fail(EXIT_USAGE, "%s: %s is missing (perp %s --help)", a->command->name, a->command->operand,
                        a->command->name);
    }
    return EXIT_DONE;
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return true;
        }
    }
    return false;
}

static int run_command(const cli_command *command, int argc, char **argv)
{
    cli_arguments a = {.command = command};
    a.options = calloc((size_t)argc + 1, sizeof *a.options);
    a.values = calloc((size_t)argc + 1, sizeof *a.values);
    a.operands = calloc((size_t)argc + 1, sizeof *a.operands);
    int code = EXIT_REFUSED;
    if (!a.options || !a.values || !a.operands) {
        cli_fail(EXIT_REFUSED, "out of memory");
    } else {
        code = parse(&a, argc, argv);
        code = code == EXIT_DONE ? command->run(&a) : code;
    }
    free(a.options);
    free(a.values);
    free(a.operands);
    return cli_finish(code);
}

int main(int argc, char **argv)
{
    cli_catch_interrupts();
    if (argc < 2) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0) {
        printf("perp %s\n", perp_version());
        return cli_finish(EXIT_DONE);
    }
    if (strcmp(name, "help") == 0 && argc > 2) {
        const cli_command *command = find_command(argv[2]);
        if (!command) {
            return unknown_command(argv[2]);
        }
        print_help(command);
        return cli_finish(EXIT_DONE);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_overview(stdout);
        return cli_finish(EXIT_DONE);
    }
    const cli_command *command = find_command(name);
    if (!command) {
        return unknown_command(name);
    }
    if (asks_for_help(argc - 2, argv + 2)) {
        print_help(command);
        return cli_finish(EXIT_DONE);
    }
    return run_command(command, argc - 2, argv + 2);
}
