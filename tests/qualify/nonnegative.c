#include "nonnegative.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct active_set {
    int m, n, size, room; /* room: columns that can be independent */
    const double *columns, *b;
    int *members;
    bool *is_member, *is_refused; /* refused: depends on the members */
    double *basis, *triangle;     /* m x room, room x room: the members' QR factors */
    double *x;
} active_set;

static void *need(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (!memory) {
        fprintf(stderr, "nonnegative: out of memory\n");
        exit(2);
    }
    return memory;
}

static double dot(int n, const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

/* Appends member k's column to the factors, orthogonalised twice; false if it depends on those before it. */
static bool factor_column(active_set *s, int k)
{
    const double *column = s->columns + (size_t)s->members[k] * (size_t)s->m;
    double *q = s->basis + (size_t)k * (size_t)s->m, *r = s->triangle + (size_t)k * (size_t)s->room;
    const double length = sqrt(dot(s->m, column, column));
    memcpy(q, column, (size_t)s->m * sizeof *q);
    memset(r, 0, (size_t)s->room * sizeof *r);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < k; i++) {
            const double *other = s->basis + (size_t)i * (size_t)s->m, part = dot(s->m, q, other);
            r[i] += part;
            for (int j = 0; j < s->m; j++) {
                q[j] -= part * other[j];
            }
        }
    }
    r[k] = sqrt(dot(s->m, q, q));
    if (!(r[k] > 1e-9 * length)) {
        return false;
    }
    for (int j = 0; j < s->m; j++) {
        q[j] /= r[k];
    }
    return true;
}

/* The least-squares solution on the members, into s->x. */
static void solve_members(active_set *s)
{
    for (int k = s->size - 1; k >= 0; k--) {
        double sum = dot(s->m, s->basis + (size_t)k * (size_t)s->m, s->b);
        for (int i = k + 1; i < s->size; i++) {
            sum -= s->triangle[(size_t)i * (size_t)s->room + (size_t)k] * s->x[i];
        }
        s->x[k] = sum / s->triangle[(size_t)k * (size_t)s->room + (size_t)k];
    }
}

static void drop_zeros(active_set *s, double *y)
{
    int kept = 0;
    for (int k = 0; k < s->size; k++) {
        const int j = s->members[k];
        if (y[j] > 0.0) {
            s->members[kept++] = j;
        } else {
            y[j] = 0.0;
            s->is_member[j] = false;
        }
    }
    s->size = 0;
    for (int k = 0; k < kept; k++) { /* what is left of an independent set is independent */
        s->members[s->size] = s->members[k];
        s->size += factor_column(s, s->size) ? 1 : 0;
    }
}

/* Moves y to the members' solution as far as it stays nonnegative, dropping who is in the way, until it is there. */
static void settle(active_set *s, double *y)
{
    for (int guard = 0; guard <= s->room; guard++) {
        double share = 1.0;
        int stopper = -1;
        solve_members(s);
        for (int k = 0; k < s->size; k++) {
            const double at = y[s->members[k]];
            if (s->x[k] <= 0.0 && at / (at - s->x[k]) < share) {
                share = at / (at - s->x[k]);
                stopper = s->members[k];
            }
        }
        for (int k = 0; k < s->size; k++) {
            y[s->members[k]] += share * (s->x[k] - y[s->members[k]]);
        }
        if (stopper < 0) {
            return;
        }
        y[stopper] = 0.0;
        drop_zeros(s, y);
    }
}

static void fill_residual(const active_set *s, const double *y, double *residual)
{
    memcpy(residual, s->b, (size_t)s->m * sizeof *residual);
    for (int k = 0; k < s->size; k++) {
        const double *column = s->columns + (size_t)s->members[k] * (size_t)s->m;
        for (int i = 0; i < s->m; i++) {
            residual[i] -= y[s->members[k]] * column[i];
        }
    }
}

/* The column that the residual leans on most; -1: none, y is the minimum. */
static int steepest(const active_set *s, const double *residual, double scale)
{
    double most = 1e-12 * scale;
    int best = -1;
    for (int j = 0; j < s->n; j++) {
        const double *column = s->columns + (size_t)j * (size_t)s->m;
        const double length = sqrt(dot(s->m, column, column));
        if (!s->is_member[j] && !s->is_refused[j] && length > 0.0 && dot(s->m, column, residual) > most * length) {
            most = dot(s->m, column, residual) / length;
            best = j;
        }
    }
    return best;
}

double nonnegative_least_squares(int m, int n, const double *columns, const double *b, double *y, double *residual)
{
    active_set s = {.m = m, .n = n, .room = m < n ? m : n, .columns = columns, .b = b};
    s.members = need((size_t)s.room + 1, sizeof *s.members);
    s.is_member = need((size_t)n, sizeof *s.is_member);
    s.is_refused = need((size_t)n, sizeof *s.is_refused);
    s.basis = need((size_t)m * (size_t)(s.room + 1), sizeof *s.basis);
    s.triangle = need((size_t)s.room * (size_t)(s.room + 1), sizeof *s.triangle);
    s.x = need((size_t)s.room + 1, sizeof *s.x);
    const double scale = sqrt(dot(m, b, b));
    memset(y, 0, (size_t)n * sizeof *y);
    fill_residual(&s, y, residual);
    for (int round = 0; round < 20 * n + 100; round++) {
        const int next = s.size < s.room ? steepest(&s, residual, scale) : -1;
        if (next < 0) {
            break;
        }
        s.members[s.size] = next;
        if (!factor_column(&s, s.size)) {
            s.is_refused[next] = true;
            continue;
        }
        s.is_member[next] = true;
        s.size++;
        settle(&s, y);
        fill_residual(&s, y, residual);
        memset(s.is_refused, 0, (size_t)n * sizeof *s.is_refused);
        s.is_refused[next] = !s.is_member[next]; /* left at once: rounding, not progress */
    }
    free(s.members);
    free(s.is_member);
    free(s.is_refused);
    free(s.basis);
    free(s.triangle);
    free(s.x);
    return sqrt(dot(m, residual, residual));
}
