#include <perp/trace.h>

#include "base/plain_locale.h"
#include "trace/output_file.h"
#include "trace/state_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct perp_csv {
    const perp_model *model;
    output_file states, contacts, trust;
    bool certified;           /* a step had a certificate: without one there is no trust.csv */
    perp_plain_locale locale; /* a decimal comma would be one comma too many */
};

/* The headings of coordinates, or of rates. */
static void write_names(perp_csv *csv, FILE *out, const perp_state *state, bool rates, const char *before)
{
    state_entry entry;
    for (int cursor = 0; perp_state_next(csv->model, state, &cursor, &entry);) {
        for (int k = 0; k < (rates ? entry.nv : entry.nq); k++) {
            fprintf(out, ",%s%s%s", before, entry.name, perp_state_ending(entry.nq, rates, k));
        }
    }
}

static void write_numbers(perp_csv *csv, FILE *out, const perp_state *state, bool rates)
{
    state_entry entry;
    for (int cursor = 0; perp_state_next(csv->model, state, &cursor, &entry);) {
        const double *values = rates ? entry.v : entry.q;
        for (int k = 0; k < (rates ? entry.nv : entry.nq); k++) {
            fprintf(out, ",%.17g", values[k]);
        }
    }
}

static void write_header(perp_csv *csv, const perp_state *state)
{
    FILE *out = csv->states.stream;
    fputs("step,t", out);
    write_names(csv, out, state, false, "");
    write_names(csv, out, state, true, "v:");
    fputs("\n", out);
    fputs("step,t,from,existence,uniqueness,rigidity,contacts,both_ways", csv->trust.stream);
    write_names(csv, csv->trust.stream, state, true, "motion:");
    fputs("\n", csv->trust.stream);
    fputs("step,t,a,b,feature,mode,phi,px,py,pz,nx,ny,nz,tx,ty,tz,fn,ft1,ft2,slip1,slip2\n", csv->contacts.stream);
}

static void write_row(perp_csv *csv, int step, const perp_state *state)
{
    FILE *out = csv->states.stream;
    fprintf(out, "%d,%.17g", step, state->t);
    write_numbers(csv, out, state, false);
    write_numbers(csv, out, state, true);
    fputs("\n", out);
}

/* A motion is left empty where there is none. */
static void write_trust(perp_csv *csv, int step, const perp_state *state, const perp_step_trust *trust)
{
    FILE *out = csv->trust.stream;
    const perp_state moving = {.q = state->q, .v = (double *)(uintptr_t)trust->motion, .t = state->t};
    fprintf(out, "%d,%.17g,%.17g,%s,%s,%s,", step, state->t, trust->from, perp_verdict_name(trust->existence),
            perp_verdict_name(trust->uniqueness), perp_verdict_name(trust->rigidity));
    for (int i = 0; i < trust->contact_count; i++) {
        fprintf(out, "%s%s", i > 0 ? ";" : "", trust->contacts[i]);
    }
    if (trust->motion) {
        fputs(trust->motion_both_ways ? ",1" : ",0", out);
        write_numbers(csv, out, &moving, true);
    } else {
        fputs(",", out);
        state_entry entry;
        for (int cursor = 0; perp_state_next(csv->model, state, &cursor, &entry);) {
            for (int k = 0; k < entry.nv; k++) {
                fputs(",", out);
            }
        }
    }
    fputs("\n", out);
    csv->certified = true;
}

/* Names have no commas (scene rules), so nothing needs quotes. Adding 0 takes the sign from a zero. */
static void write_contact(perp_csv *csv, int step, double t, const perp_contact_record *record)
{
    const perp_contact *c = &record->contact;
    const perp_body *bodies = csv->model->scene->bodies;
    const perp_vec3 p = perp_contact_midpoint(c);
    const double values[] = {c->phi,         p.x,    p.y,    p.z,        c->normal.x,   c->normal.y,   c->normal.z,
                             c->t.x,         c->t.y, c->t.z, record->fn, record->ft[0], record->ft[1], record->slip[0],
                             record->slip[1]};
    char feature[64];
    perp_contact_feature_text(c, feature, sizeof feature);
    FILE *out = csv->contacts.stream;
    fprintf(out, "%d,%.17g,%s,%s,%s,%s", step, t, bodies[c->a].name, bodies[c->b].name, feature,
            perp_contact_mode_name(record->mode));
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        fprintf(out, ",%.17g", values[i] + 0.0);
    }
    fputs("\n", out);
}

perp_status perp_csv_open(const perp_model *model, const char *folder, perp_csv **csv, perp_error *error)
{
    *csv = NULL;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return perp_fail(error, PERP_STATUS_IO, "cannot make the folder `%s`: %s", folder, strerror(errno));
    }
    perp_csv *c = calloc(1, sizeof *c);
    if (!c) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while opening CSV files");
    }
    c->model = model;
    perp_status status = PERP_STATUS_OUT_OF_MEMORY;
    if (!perp_plain_locale_open(&c->locale)) {
        perp_csv_abandon(c);
        return perp_fail(error, status, "out of memory while opening CSV files");
    }
    status = perp_output_open(&c->states, folder, "state.csv", error);
    if (status == PERP_STATUS_OK) {
        status = perp_output_open(&c->contacts, folder, "contacts.csv", error);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_output_open(&c->trust, folder, "trust.csv", error);
    }
    if (status != PERP_STATUS_OK) {
        perp_csv_abandon(c);
        return status;
    }
    *csv = c;
    return PERP_STATUS_OK;
}

bool perp_csv_observe(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    perp_csv *csv = context;
    perp_plain_locale_enter(&csv->locale);
    if (step == 0) {
        write_header(csv, state);
    }
    write_row(csv, step, state);
    for (int i = 0; i < info->contact_count; i++) {
        write_contact(csv, step, state->t, &info->contacts[i]);
    }
    if (info->trust) {
        write_trust(csv, step, state, info->trust);
    }
    perp_plain_locale_leave(&csv->locale);
    return !ferror(csv->states.stream) && !ferror(csv->contacts.stream) && !ferror(csv->trust.stream);
}

perp_status perp_csv_commit(perp_csv *csv, perp_error *error)
{
    output_file *const files[] = {&csv->states, &csv->contacts, &csv->trust};
    const int count = csv->certified ? 3 : 2;
    perp_status status = PERP_STATUS_OK;
    for (int i = 0; i < 2 * count && status == PERP_STATUS_OK; i++) { /* none appears before all are whole */
        status = i < count ? perp_output_finish(files[i], error) : perp_output_publish(files[i - count], error);
    }
    perp_csv_abandon(csv);
    return status;
}

void perp_csv_abandon(perp_csv *csv)
{
    if (csv) {
        perp_output_discard(&csv->states);
        perp_output_discard(&csv->contacts);
        perp_output_discard(&csv->trust);
        perp_plain_locale_close(&csv->locale);
        free(csv);
    }
}
