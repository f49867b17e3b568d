#include "convex_case_private.h"

#include <math.h>

static void write_number(FILE *out, double value)
{
    if (isinf(value)) {
        fprintf(out, value > 0.0 ? ".inf" : "-.inf");
    } else {
        fprintf(out, "%.17g", value);
    }
}

static void write_numbers(FILE *out, const char *head, const double *values, int count)
{
    fprintf(out, "%s[", head);
    for (int i = 0; i < count; i++) {
        fprintf(out, "%s", i ? ", " : "");
        write_number(out, values[i]);
    }
    fprintf(out, "]\n");
}

static void write_matrix(FILE *out, const char *head, const double *a, int rows, int cols)
{
    fprintf(out, "%s{rows: %d, cols: %d, triplets: [", head, rows, cols);
    bool first = true;
    for (int i = 0; i < rows * cols; i++) {
        if (a[i] != 0.0) {
            fprintf(out, "%s[%d, %d, %.17g]", first ? "" : ", ", i / cols, i % cols, a[i]);
            first = false;
        }
    }
    fprintf(out, "]}\n");
}

static void write_equalities(FILE *out, const perp_contact_qp *q, const double *dense)
{
    if (q->equality_count > 0) {
        write_matrix(out, "C: ", dense, q->equality_count, q->n);
        write_numbers(out, "d: ", q->equality_target, q->equality_count);
    }
}

static void write_qp(FILE *out, const perp_qp *qp, const perp_contact_qp *q)
{
    fprintf(out, "kind: %s\n", qp->h ? "qp" : "lp");
    if (qp->h) {
        write_matrix(out, "H: ", qp->h, qp->n, qp->n);
    }
    write_numbers(out, "g: ", qp->g, qp->n);
    if (qp->rows > 0) {
        write_matrix(out, "A: ", qp->a, qp->rows, qp->n);
        write_numbers(out, "b: ", qp->b, qp->rows);
    }
    write_equalities(out, q, qp->c);
    if (qp->lower) {
        write_numbers(out, "lower: ", qp->lower, qp->n);
        write_numbers(out, "upper: ", qp->upper, qp->n);
    }
}

static void write_cone_qp(FILE *out, const perp_cone_qp *qp, const perp_contact_qp *q)
{
    fprintf(out, "kind: cone-qp\n");
    if (qp->h) {
        write_matrix(out, "H: ", qp->h, qp->n, qp->n);
    } else {
        fprintf(out, "H: {rows: %d, cols: %d, triplets: []}\n", qp->n, qp->n);
    }
    write_numbers(out, "g: ", qp->g, qp->n);
    fprintf(out, "cones:\n");
    for (int i = 0, row = 0; i < qp->cones; row += qp->cone_rows[i++]) {
        write_matrix(out, "- A: ", qp->a + row * qp->n, qp->cone_rows[i], qp->n);
        write_numbers(out, "  b: ", qp->b + row, qp->cone_rows[i]);
    }
    write_equalities(out, q, qp->c);
}

bool convex_case_write(const convex_case *c, const char *path, const char *comment)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        return false;
    }
    convex_case copy = *c; /* its memory is shared: only the dense arrays change, which hold nothing of the problem */
    fprintf(out, "# %s\n", comment);
    if (convex_case_has_cones(c)) {
        perp_cone_qp qp;
        convex_case_as_cone_qp(&copy, &qp);
        write_cone_qp(out, &qp, &c->qp);
    } else {
        perp_qp qp;
        convex_case_as_qp(&copy, &qp);
        write_qp(out, &qp, &c->qp);
    }
    const bool good = !ferror(out);
    return fclose(out) == 0 && good;
}

static void put_ints(FILE *out, const int *values, int count)
{
    fwrite(values, sizeof(int), (size_t)count, out);
}

static void put_doubles(FILE *out, const double *values, int count)
{
    fwrite(values, sizeof(double), (size_t)count, out);
}

static void put_entry(FILE *out, int row, int col, double value)
{
    const int at[2] = {row, col};
    put_ints(out, at, 2);
    put_doubles(out, &value, 1);
}

static int count_entries(const perp_contact_qp *q)
{
    int count = 0;
    for (convex_place p = {.i = -1}; convex_next_contact(q, &p);) {
        count += p.slacks * p.dof_count;
    }
    return count;
}

static int count_hessian(const perp_contact_qp *q)
{
    int count = 0;
    for (int b = 0; b < q->block_count && q->hessian; b++) {
        const int size = q->block_start[b + 1] - q->block_start[b];
        count += size * size;
    }
    return count;
}

static void put_matrices(const convex_case *c, FILE *out)
{
    const perp_contact_qp *q = &c->qp;
    const double *h = q->hessian;
    for (int b = 0; b < q->block_count && h; b++) {
        const int first = q->block_start[b], size = q->block_start[b + 1] - first;
        for (int i = 0; i < size * size; i++) {
            put_entry(out, first + i / size, first + i % size, h[i]);
        }
        h += size * size;
    }
    for (convex_place p = {.i = -1}; convex_next_contact(q, &p);) {
        for (int k = 0; k < p.slacks; k++) {
            for (int j = 0; j < p.dof_count; j++) {
                put_entry(out, p.first_slack + k, p.dofs[j], (double)convex_entry(&p, k, j));
            }
        }
    }
    for (int e = 0; e < q->equality_count; e++) {
        for (int k = q->equality_start[e]; k < q->equality_start[e + 1]; k++) {
            put_entry(out, e, q->equality_dofs[k], q->equality_values[k]);
        }
    }
}

bool convex_case_dump(const convex_case *c, int index, const convex_answer *answer, FILE *out)
{
    const perp_contact_qp *q = &c->qp;
    const int slacks = q->slack_start[q->contact_count], equalities = q->equality_count;
    const bool solved = answer && answer->outcome >= 0;
    const bool reference = c->claim == CONVEX_SOLVABLE && c->kkt;
    const int head[12] = {0x50514350, /* "PCQP" */
                          index,
                          (int)c->claim,
                          c->primal_unique + 2 * reference,
                          q->n,
                          slacks,
                          equalities,
                          q->contact_count,
                          count_hessian(q),
                          count_entries(q),
                          q->equality_start[equalities],
                          solved ? answer->outcome : -1};
    put_ints(out, head, 12);
    for (int i = 0; i < q->contact_count; i++) {
        const int rows = q->slack_start[i + 1] - q->slack_start[i],
                  signed_rows = convex_is_quadratic(q, i) ? rows : -rows;
        put_ints(out, &signed_rows, 1);
    }
    put_matrices(c, out);
    put_doubles(out, q->g, q->n);
    put_doubles(out, q->offset, slacks);
    put_doubles(out, q->equality_target, equalities);
    for (int i = 0; i < q->n; i++) {
        const double none[2] = {-INFINITY, INFINITY};
        put_doubles(out, q->lower ? q->lower + i : none, 1);
        put_doubles(out, q->upper ? q->upper + i : none + 1, 1);
    }
    put_doubles(out, c->x, reference ? q->n : 0);
    if (solved) {
        put_doubles(out, &answer->seconds, 1);
        put_doubles(out, answer->point.x, q->n);
        put_doubles(out, answer->point.y, slacks);
        put_doubles(out, answer->point.y_equality, equalities);
        put_doubles(out, answer->point.y_lower, q->n);
        put_doubles(out, answer->point.y_upper, q->n);
    }
    return !ferror(out);
}
