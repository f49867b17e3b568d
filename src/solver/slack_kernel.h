/* slack_kernel.h - the loops of the convex methods over slack vectors, for different instruction sets.
 *
 * Between two factorisations of a problem of a few hundred rows these loops cost as much as the factors do. They take
 * several steps of a method in one pass over memory. All operations go by entry but for sums, whose order is written
 * out (eight partial sums, as perp_dense_dot has them): the bits do not depend on the instruction set.
 */
#ifndef PERP_SRC_SOLVER_SLACK_KERNEL_H
#define PERP_SRC_SOLVER_SLACK_KERNEL_H

#include <stdbool.h>

/* The rows of a penalty w/2 |(y0 / w - s)_+|^2. */
typedef struct perp_penalty_rows {
    int n;
    double w;
    double join; /* what y0 - w s of a row that has no weight must exceed to get one */
    const double *y0, *s;
} perp_penalty_rows;

typedef struct perp_slack_kernel {
    double (*dot)(int n, const double *x, const double *y); /* the bits of perp_dense_dot */
    double (*largest)(int n, const double *x);              /* perp_dense_largest */
    void (*divide)(int n, const double *y, const double *s, double *out);
    /* scaled = -weight r, dy = scaled - y */
    void (*predict)(int n, const double *weight, const double *r, const double *y, double *scaled, double *dy);
    /* dy -= weight ds, then ds += r */
    void (*follow)(int n, const double *weight, const double *r, double *ds, double *dy);
    /* out = (center - ds dy) / s - y */
    void (*correct)(int n, double center, const double *const s_y_ds_dy[4], double *out);
    void (*add)(int n, const double *x, double *y); /* y += x */
    /* The largest t <= most with v + t dv >= 0, for v >= 0. */
    double (*step)(int n, const double *v, const double *dv, double most);
    /* ds . y, s . dy and ds . dy */
    void (*mix)(int n, const double *const s_y_ds_dy[4], double sums[3]);
    /* s += t ds, y += t dy, r -= t r */
    void (*advance)(int n, double t, const double *const ds_dy[2], double *s, double *y, double *r);

    /* Cones of three rows that follow each other, four at a time; what is computed says convex_cones.c. `scale` has one
     * number per cone, all else three. */
    void (*scale_cones)(int fours, const double *s, const double *y, double *w, double *scale);
    /* out -= W^-2 v */
    void (*subtract_cones)(int fours, const double *w, const double *scale, const double *v, double *out);
    void (*correct_cones)(int fours, double center, const double *w, const double *scale,
                          const double *const y_ds_dy[3], double *out);
    /* How many fours, from the first on, have all their v + t dv inside. */
    int (*inside_cones)(int fours, const double *v, const double *dv, double t);

    /* y = (y0 - w s)_+ and, where rows are chosen anew, weight = w on those that have it and 0 on others: how many
     * weights change. Else y = y0 - w s on rows with a weight. */
    int (*settle)(const perp_penalty_rows *rows, bool choose, double *weight, double *y);
    /* sums = (y0 - w (s + t ds))_+ . ds, and the sum of ds^2 over the rows where that is positive */
    void (*slope)(const perp_penalty_rows *rows, double t, const double *ds, double sums[2]);
} perp_slack_kernel;

extern const perp_slack_kernel perp_slack_plain_kernel;
const perp_slack_kernel *perp_slack_best_kernel(void); /* for this processor */

#endif
