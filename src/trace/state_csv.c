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
    output_file states, contacts;
    perp_plain_locale locale; /* a decimal comma would be one comma too many */
};

static void write_header(perp_csv *csv, const perp_state *state)
{
    FILE *out = csv->states.stream;
    fputs("step,t", out);
    for (int rates = 0; rates < 2; rates++) {
        state_entry entry;
        for (int cursor = 0; perp_state_next(csv->model, state, &cursor, &entry);) {
            for (int k = 0; k < (rates ? entry.nv : entry.nq); k++) {
                fprintf(out, ",%s%s%s", rates ? "v:" : "", entry.name, perp_state_ending(entry.nq, rates == 1, k));
            }
        }
    }
    fputs("\n", out);
    fputs("step,t,a,b,feature,mode,phi,px,py,pz,nx,ny,nz,tx,ty,tz,fn,ft1,ft2,slip1,slip2\n", csv->contacts.stream);
}

static void write_row(perp_csv *csv, int step, const perp_state *state)
{
    FILE *out = csv->states.stream;
    fprintf(out, "%d,%.17g", step, state->t);
    for (int rates = 0; rates < 2; rates++) {
        state_entry entry;
        for (int cursor = 0; perp_state_next(csv->model, state, &cursor, &entry);) {
            const double *values = rates ? entry.v : entry.q;
            for (int k = 0; k < (rates ? entry.nv : entry.nq); k++) {
                fprintf(out, ",%.17g", values[k]);
            }
        }
    }
    fputs("\n", out);
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
    perp_plain_locale_leave(&csv->locale);
    return !ferror(csv->states.stream) && !ferror(csv->contacts.stream);
}

perp_status perp_csv_commit(perp_csv *csv, perp_error *error)
{
    output_file *const files[] = {&csv->states, &csv->contacts};
    perp_status status = PERP_STATUS_OK;
    for (int i = 0; i < 4 && status == PERP_STATUS_OK; i++) { /* none appears before both are whole */
        status = i < 2 ? perp_output_finish(files[i], error) : perp_output_publish(files[i - 2], error);
    }
    perp_csv_abandon(csv);
    return status;
}

void perp_csv_abandon(perp_csv *csv)
{
    if (csv) {
        perp_output_discard(&csv->states);
        perp_output_discard(&csv->contacts);
        perp_plain_locale_close(&csv->locale);
        free(csv);
    }
}
