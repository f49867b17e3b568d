/* Certificates of a run: `perp run --certify`, and what ends it by them. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

/* What --stop-at may list. */
static const perp_verdict stops[] = {PERP_VERDICT_NOT_UNIQUE, PERP_VERDICT_INVALID};
enum { STOPS = sizeof stops / sizeof *stops, NAMED = 2 };

int cli_certify_usage(const cli_arguments *a, unsigned *stop_at)
{
    const char *text = cli_value(a, "--stop-at");
    *stop_at = 0;
    if (!text || strcmp(text, "never") == 0) {
        return EXIT_DONE;
    }
    for (const char *end = text; *end; text = end + 1) {
        int k = 0;
        end = text + strcspn(text, ",");
        const size_t length = (size_t)(end - text);
        while (k < STOPS && (strlen(perp_verdict_name(stops[k])) != length ||
                             memcmp(perp_verdict_name(stops[k]), text, length) != 0)) {
            k++;
        }
        if (k == STOPS) {
            return cli_fail(EXIT_USAGE, "run: --stop-at is not-unique, invalid, or both with a comma, not `%.*s`",
                            (int)length, text);
        }
        *stop_at |= 1u << stops[k];
    }
    return *stop_at ? EXIT_DONE : cli_fail(EXIT_USAGE, "run: --stop-at needs not-unique, invalid, or both");
}

perp_status cli_certify_open(cli_certify *certify, const perp_model *model, perp_error *error)
{
    perp_certifier_options options = perp_certifier_options_default();
    options.stop_at = certify->stop_at;
    options.cancel = model->scene->run.cancel;
    return perp_certifier_create(model, &model->scene->run, &options, &certify->certifier, error);
}

void cli_certify_close(cli_certify *certify)
{
    perp_certifier_free(certify->certifier);
    certify->certifier = NULL;
}

void cli_certify_resume(cli_certify *certify, const perp_run_start *start, const perp_state *state)
{
    if (certify->certifier) {
        perp_certifier_resume(certify->certifier, start, state);
    }
}

bool cli_certify_observe(cli_certify *certify, int step, const perp_state *state, perp_step_info *info, bool *goes_on)
{
    *goes_on = true;
    if (!certify->certifier) {
        return true;
    }
    perp_error error = {0};
    *goes_on = perp_certifier_observe(certify->certifier, step, state, info);
    info->trust = perp_certifier_trust(certify->certifier);
    return *goes_on || (perp_certifier_status(certify->certifier, &error), cli_ended_by_verdict(&error));
}

bool cli_ended_by_verdict(const perp_error *error)
{
    return error->status == PERP_STATUS_CANCELLED && error->code != NULL;
}

perp_status cli_certify_finish(cli_certify *certify, perp_status status, perp_run_result *result, perp_error *error)
{
    perp_error own = {0};
    if (!certify->certifier) {
        return status;
    }
    if (status == PERP_STATUS_CANCELLED && perp_certifier_status(certify->certifier, &own) != PERP_STATUS_OK) {
        *error = own;
        status = own.status;
    }
    perp_certifier_end(certify->certifier, status == PERP_STATUS_OK ? NULL : error);
    result->trust = perp_certifier_summary(certify->certifier);
    return status;
}

/* ---- in words ---------------------------------------------------------------------------------------------------- */

static void print_counts(const char *name, const int counts[PERP_VERDICT_COUNT])
{
    const char *separator = " ";
    printf("  %-12s", name);
    for (int i = 0; i < PERP_VERDICT_COUNT; i++) {
        if (counts[i] > 0) {
            printf("%s%s in %d", separator, perp_verdict_name((perp_verdict)i), counts[i]);
            separator = ", ";
        }
    }
    printf("%s\n", *separator == ' ' ? " -" : "");
}

static void print_first(perp_verdict verdict, const perp_trust_first *first, bool steps)
{
    if (!first->met) {
        return;
    }
    printf("  first %s: ", perp_verdict_name(verdict));
    if (steps) {
        printf("step %d, from %g s to %g s", first->step, first->from, first->t);
    } else {
        printf("t = %g s", first->t);
    }
    for (int i = 0; i < first->contact_count && i < NAMED; i++) {
        printf("%s%s", i > 0 ? "; " : ", at ", first->contacts[i]);
    }
    printf("%s%s%s\n", first->contact_count > NAMED ? "; and more" : "", first->reason[0] ? "\n    " : "",
           first->reason);
}

void cli_print_trust(const perp_run_result *result)
{
    const perp_trust_summary *trust = result->trust;
    if (!trust) {
        return;
    }
    if (result->rung->step) {
        printf("certificates of %d %s\n", trust->steps, perp_plural(trust->steps, "step", "steps"));
    } else {
        printf("certificate of the instant\n");
    }
    print_counts("existence", trust->existence);
    print_counts("uniqueness", trust->uniqueness);
    print_counts("rigidity", trust->rigidity);
    print_first(PERP_VERDICT_NOT_UNIQUE, &trust->not_unique, result->rung->step != NULL);
    print_first(PERP_VERDICT_INVALID, &trust->invalid, result->rung->step != NULL);
}
