#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 20 };

/* A length for people: what is below a picometre is rounding. */
static double shown(double metres)
{
    return fabs(metres) < 1e-12 ? 0.0 : metres;
}

/* A gap as the table prints it, so that the table is sorted by what it shows, and rounding does not shuffle what it
 * shows as equal. */
static double printed(double phi)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", shown(phi));
    return strtod(text, NULL);
}

/* The indices of the contacts with the smallest gaps, ascending; equal ones in the order of the contacts. */
static int smallest_gaps(const perp_run_result *result, int rows[ROWS])
{
    int count = 0;
    double gaps[ROWS];
    for (int i = 0; i < result->contact_count; i++) {
        const double gap = printed(result->contacts[i].contact.phi);
        int place = count < ROWS ? count++ : ROWS;
        while (place > 0 && gaps[place - 1] > gap) {
            if (place < ROWS) {
                rows[place] = rows[place - 1];
                gaps[place] = gaps[place - 1];
            }
            place--;
        }
        if (place < ROWS) {
            rows[place] = i;
            gaps[place] = gap;
        }
    }
    return count;
}

/* Of the columns a, b and feature. */
static void widen(int widths[3], const perp_model *model, const perp_contact *c)
{
    char feature[64];
    perp_contact_feature_text(c, feature, sizeof feature);
    const char *const texts[3] = {model->scene->bodies[c->a].name, model->scene->bodies[c->b].name, feature};
    for (int k = 0; k < 3; k++) {
        const int length = (int)strlen(texts[k]);
        widths[k] = length > widths[k] ? length : widths[k];
    }
}

static void print_row(const perp_model *model, const perp_contact *c, const int widths[3])
{
    const perp_vec3 p = perp_contact_midpoint(c);
    char feature[64];
    perp_contact_feature_text(c, feature, sizeof feature);
    printf("  %13.6g  %-*s  %-*s  %-*s  ", shown(c->phi), widths[0], model->scene->bodies[c->a].name, widths[1],
           model->scene->bodies[c->b].name, widths[2], feature);
    if (model->planar) {
        printf("[%.6g, %.6g]\n", shown(p.x), shown(p.y));
    } else {
        printf("[%.6g, %.6g, %.6g]\n", shown(p.x), shown(p.y), shown(p.z));
    }
}

static void print_table(const perp_model *model, const perp_run_result *result)
{
    int rows[ROWS], widths[3] = {1, 1, 7};
    const int count = smallest_gaps(result, rows);
    if (count == 0) {
        printf("no contacts within the margin of %g m\n", model->scene->margin);
        return;
    }
    for (int i = 0; i < count; i++) {
        widen(widths, model, &result->contacts[rows[i]].contact);
    }
    printf("contacts within the margin of %g m, smallest gap first\n", model->scene->margin);
    printf("  %13s  %-*s  %-*s  %-*s  point\n", "gap (m)", widths[0], "a", widths[1], "b", widths[2], "feature");
    for (int i = 0; i < count; i++) {
        print_row(model, &result->contacts[rows[i]].contact, widths);
    }
    cli_print_rest(result->contact_count, count);
}

static void print_line(const perp_model *model, const perp_run_result *result)
{
    double smallest = INFINITY;
    for (int i = 0; i < result->contact_count; i++) {
        const perp_contact *c = &result->contacts[i].contact;
        smallest = perp_contact_is_support(c) ? smallest : fmin(smallest, c->phi); /* which has no gap to watch */
    }
    printf("contacts within the margin of %g m: %d", model->scene->margin, result->contact_count);
    if (isfinite(smallest)) {
        printf(", smallest gap %.6g m (--json lists them)", shown(smallest));
    }
    printf("\n");
}

void cli_print_forces(const perp_model *model, const perp_contact_record *records, int record_count)
{
    int widths[3] = {1, 1, 7}, count = 0;
    for (int i = 0; i < record_count; i++) {
        if (records[i].mode != PERP_CONTACT_OPEN && ++count <= ROWS) {
            widen(widths, model, &records[i].contact);
        }
    }
    if (count == 0) {
        return;
    }
    printf("  %-5s  %-*s  %-*s  %-*s  %13s  %13s  %13s  %13s\n", "mode", widths[0], "a", widths[1], "b", widths[2],
           "feature", "gap (m)", "fn (N)", "|ft| (N)", "slip (m/s)");
    for (int i = 0, shown_rows = 0; i < record_count && shown_rows < ROWS; i++) {
        const perp_contact_record *r = &records[i];
        char feature[64];
        if (r->mode == PERP_CONTACT_OPEN) {
            continue;
        }
        shown_rows++;
        perp_contact_feature_text(&r->contact, feature, sizeof feature);
        printf("  %-5s  %-*s  %-*s  %-*s  %13.6g  %13.6g  %13.6g  %13.6g\n", perp_contact_mode_name(r->mode), widths[0],
               model->scene->bodies[r->contact.a].name, widths[1], model->scene->bodies[r->contact.b].name, widths[2],
               feature, shown(r->contact.phi), r->fn, shown(hypot(r->ft[0], r->ft[1])),
               shown(hypot(r->slip[0], r->slip[1])));
    }
    cli_print_rest(count, ROWS);
}

/* How well the rung's own law was met, and what it took. */
static void print_law(const perp_run_result *result)
{
    const perp_residuals *r = &result->residuals;
    printf("largest residuals: balance %.2g, complementarity %.2g, cone %.2g; with exact geometry: balance %.2g\n",
           r->balance, r->complementarity, r->cone, r->balance_true);
    if (shown(r->boundary_layer) > 0.0) {
        printf("force is carried across a gap of at most %.3g m\n", r->boundary_layer);
    }
    for (int i = 0; i < PERP_FALLBACK_COUNT; i++) {
        if (result->fallbacks[i] > 0) {
            printf("fallback %s: %d %s\n", perp_fallback_name((perp_fallback)i), result->fallbacks[i],
                   perp_plural(result->fallbacks[i], "time", "times"));
        }
    }
}

void cli_print_contacts(const perp_model *model, const perp_run_result *result)
{
    if (result->rung->step) {
        print_line(model, result);
        if (result->rung->own_cone != PERP_CONE_UNSET) {
            cli_print_forces(model, result->contacts, result->contact_count);
            print_law(result);
        }
    } else {
        print_table(model, result);
    }
}
