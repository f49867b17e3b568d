#include "friction_case.h"

#include <math.h>

enum { LOCAL_ROWS = 300 }; /* W of more rows fills megabytes */

static void write_numbers(FILE *out, const char *head, const double *values, int count)
{
    fprintf(out, "%s[", head);
    for (int i = 0; i < count; i++) {
        fprintf(out, "%s", i ? ", " : "");
        if (isinf(values[i])) {
            fprintf(out, values[i] > 0.0 ? ".inf" : "-.inf");
        } else {
            fprintf(out, "%.17g", values[i]);
        }
    }
    fprintf(out, "]\n");
}

static void write_ints(FILE *out, const char *head, const int *values, int count)
{
    fprintf(out, "%s[", head);
    for (int i = 0; i < count; i++) {
        fprintf(out, "%s%d", i ? ", " : "", values[i]);
    }
    fprintf(out, "]\n");
}

static void write_local(FILE *out, const perp_friction *p)
{
    const int size = p->contacts * p->dim;
    fprintf(out, "kind: friction\ndim: %d\nW: {rows: %d, cols: %d, triplets: [", p->dim, size, size);
    const char *between = "";
    for (int i = 0; i < size; i++) {
        for (int k = 0; k < size; k++) {
            const double value = p->w[(size_t)i * (size_t)size + (size_t)k];
            if (value != 0.0) {
                fprintf(out, "%s[%d, %d, %.17g]", between, i, k, value);
                between = ", ";
            }
        }
    }
    fprintf(out, "]}\n");
    write_numbers(out, "q: ", p->q, size);
    write_numbers(out, "mu: ", p->mu, p->contacts);
}

static int square_sum(const perp_contact_qp *s)
{
    int r = 0;
    for (int b = 0; b < s->block_count; b++) {
        const int size = s->block_start[b + 1] - s->block_start[b];
        r += size * size;
    }
    return r;
}

static int jacobian_entries(const perp_contact_qp *s)
{
    int r = 0;
    for (int i = 0; i < s->contact_count; i++) {
        r += (s->row_start[i + 1] - s->row_start[i]) * (s->dof_start[i + 1] - s->dof_start[i]);
    }
    return r;
}

static void write_arrays(FILE *out, const friction_case *c)
{
    const perp_contact_qp *s = &c->system;
    fprintf(out, "kind: contact-friction\nn: %d\n", s->n);
    write_ints(out, "block_start: ", s->block_start, s->block_count + 1);
    if (s->hessian) {
        write_numbers(out, "A: ", s->hessian, square_sum(s));
    }
    write_numbers(out, "f: ", s->g, s->n);
    write_ints(out, "row_start: ", s->row_start, s->contact_count + 1);
    write_ints(out, "dof_start: ", s->dof_start, s->contact_count + 1);
    write_ints(out, "dofs: ", s->dofs, s->dof_start[s->contact_count]);
    write_numbers(out, "H: ", s->jacobian, jacobian_entries(s));
    write_numbers(out, "w: ", s->offset, s->row_start[s->contact_count]);
    write_numbers(out, "mu: ", c->mu, s->contact_count);
    if (s->equality_count > 0) {
        write_ints(out, "equality_start: ", s->equality_start, s->equality_count + 1);
        write_ints(out, "equality_dofs: ", s->equality_dofs, s->equality_start[s->equality_count]);
        write_numbers(out, "C: ", s->equality_values, s->equality_start[s->equality_count]);
        write_numbers(out, "d: ", s->equality_target, s->equality_count);
    }
    if (s->lower) {
        write_numbers(out, "lower: ", s->lower, s->n);
        write_numbers(out, "upper: ", s->upper, s->n);
    }
}

bool friction_case_write(friction_case *c, const char *path, const char *comment)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        return false;
    }
    perp_friction local;
    fprintf(out, "# %s\n", comment);
    if (c->system.row_start[c->system.contact_count] <= LOCAL_ROWS && friction_case_local(c, &local)) {
        write_local(out, &local);
    } else {
        write_arrays(out, c);
    }
    const bool good = !ferror(out);
    return fclose(out) == 0 && good;
}
