#include "cli.h"

#include <stdio.h>
#include <string.h>

/* The script comes from the tables that parsing and help use, so it cannot lag behind them. */
static int run(const cli_arguments *arguments)
{
    if (strcmp(arguments->operand, "bash") != 0) {
        return cli_fail(EXIT_USAGE, "completion: only `bash` is known, not `%s`", arguments->operand);
    }
    printf("# bash completion for perp; made by `perp completion bash`\n"
           "_perp() {\n"
           "    local words current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -W \"");
    for (int i = 0; i < cli_command_count; i++) {
        printf("%s ", cli_commands[i]->name);
    }
    printf("help --help --version\" -- \"$current\")\n"
           "        return\n"
           "    fi\n"
           "    case $previous in\n"
           "    --model|--models) mapfile -t COMPREPLY < <(compgen -W \"");
    for (int i = 0; i < perp_rung_count(); i++) {
        printf("%s%s", i ? " " : "", perp_rung_at(i)->name);
    }
    printf("\" -- \"$current\"); return ;;\n"
           "    --method) mapfile -t COMPREPLY < <(compgen -W \"");
    for (int i = 0; i < perp_lcp_method_count(); i++) {
        printf("%s%s", i ? " " : "", perp_lcp_method_name(i));
    }
    for (int i = 0; i < perp_convex_method_count(); i++) {
        printf(" %s", perp_convex_method_name(i));
    }
    printf("\" -- \"$current\"); return ;;\n"
           "    --what) mapfile -t COMPREPLY < <(compgen -W \"");
    for (int i = 0; i < PERP_PLOT_COUNT; i++) {
        printf("%s%s", i ? " " : "", perp_plot_kind_name((perp_plot_kind)i));
    }
    printf("\" -- \"$current\"); return ;;\n"
           "    --csv) mapfile -t COMPREPLY < <(compgen -d -- \"$current\"); return ;;\n"
           "    --set|--h|--until|--steps|--tol|--contact|--joint|--most|--step|--size|--of|--tests|--jobs) return ;;\n"
           "    esac\n"
           "    case ${COMP_WORDS[1]} in\n"
           "    completion) mapfile -t COMPREPLY < <(compgen -W \"bash --help\" -- \"$current\"); return ;;\n");
    for (int i = 0; i < cli_command_count; i++) {
        const cli_command *command = cli_commands[i];
        printf("    %s) words=\"--help", command->name);
        for (int k = 0; k < command->option_count; k++) {
            printf(" %s", command->options[k].name);
        }
        printf("\" ;;\n");
    }
    printf("    *) words= ;;\n"
           "    esac\n"
           "    case $current in\n"
           "    -*) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\") ;;\n"
           "    *) mapfile -t COMPREPLY < <(compgen -f -- \"$current\") ;;\n"
           "    esac\n"
           "}\n"
           "complete -o filenames -F _perp perp\n");
    return EXIT_DONE;
}

const cli_command cli_completion = {
    .name = "completion",
    .operand = "bash",
    .summary = "shell completion, to be sourced",
    .details = "example:\n  source <(perp completion bash)\n",
    .run = run,
};
