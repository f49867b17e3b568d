/* The nearest point of a cone to a target, by the active-set method of Lawson and Hanson for non-negative least
 * squares. Generators come from a source that finds the best one for a direction, so that round cones need no list: on
 * them it is the fully corrective conditional gradient method.
 *
 * At the end `away`, the target less that point, makes no angle below 90 degrees with any generator, by the source's
 * own word; so whatever was rounded on the way, NO is proved by two products and YES by one sum. */
#include "analysis/tolerances.h"
#include "analysis/wrench_cones.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

enum { TURNS_MOST = 400 };

typedef struct projecting {
    int n, count; /* of generators that take part, at most n */
    double generator[WRENCH_LIFTED][WRENCH_LIFTED];
    double weight[WRENCH_LIFTED];
    const double *target;
    double most; /* of the weights' sum, over the target's length */
} projecting;

static double length(int n, const double *x)
{
    return sqrt(perp_vector_dot(n, x, x));
}

/* Weights of the combination nearest to the target, of any sign: QR by modified Gram-Schmidt with the target as one
 * more column. False where the generators depend on each other. */
static bool nearest(const projecting *p, double *weight)
{
    double q[WRENCH_LIFTED][WRENCH_LIFTED], r[WRENCH_LIFTED][WRENCH_LIFTED], rest[WRENCH_LIFTED];
    const int n = p->n;
    memcpy(rest, p->target, (size_t)n * sizeof *rest);
    for (int k = 0; k < p->count; k++) {
        memcpy(q[k], p->generator[k], (size_t)n * sizeof *rest);
        for (int i = 0; i < k; i++) {
            r[i][k] = perp_vector_dot(n, q[i], q[k]);
            for (int j = 0; j < n; j++) {
                q[k][j] -= r[i][k] * q[i][j];
            }
        }
        r[k][k] = length(n, q[k]);
        if (r[k][k] <= GENERATOR_DEPENDS * length(n, p->generator[k])) {
            return false;
        }
        for (int j = 0; j < n; j++) {
            q[k][j] /= r[k][k];
        }
        weight[k] = perp_vector_dot(n, q[k], rest);
        for (int j = 0; j < n; j++) {
            rest[j] -= weight[k] * q[k][j];
        }
    }
    for (int k = p->count - 1; k >= 0; k--) {
        for (int i = k + 1; i < p->count; i++) {
            weight[k] -= r[k][i] * weight[i];
        }
        weight[k] /= r[k][k];
    }
    return true;
}

static void drop(projecting *p, int k)
{
    p->count--;
    for (int i = k; i < p->count; i++) {
        memcpy(p->generator[i], p->generator[i + 1], sizeof p->generator[i]);
        p->weight[i] = p->weight[i + 1];
    }
}

/* Goes towards the nearest combination and drops what would be pulled. False where no such combination can be made. */
static bool settle(projecting *p)
{
    while (p->count > 0) {
        double wanted[WRENCH_LIFTED], share = 1.0;
        int first = -1;
        if (!nearest(p, wanted)) {
            return false;
        }
        for (int k = 0; k < p->count; k++) {
            const double part = wanted[k] > 0.0 ? 1.0 : p->weight[k] / (p->weight[k] - wanted[k]);
            if (wanted[k] <= 0.0 && (first < 0 || part < share)) {
                first = k;
                share = part;
            }
        }
        for (int k = 0; k < p->count; k++) {
            p->weight[k] += share * (wanted[k] - p->weight[k]);
        }
        if (first < 0) {
            return true;
        }
        drop(p, first);
    }
    return true;
}

static void set_away(const projecting *p, wrench_projection *out)
{
    for (int j = 0; j < p->n; j++) {
        out->away[j] = p->target[j];
        for (int k = 0; k < p->count; k++) {
            out->away[j] -= p->weight[k] * p->generator[k][j];
        }
    }
    out->distance = length(p->n, out->away);
}

/* One more generator, unless it is proved that there is no need. False: this is the end. */
static bool turn(projecting *p, wrench_source *source, const void *context, wrench_projection *out)
{
    double y[WRENCH_LIFTED], *w = p->generator[p->count];
    const double before = out->distance, size = length(p->n, p->target);
    if (before <= BALANCE_LEFT * size) {
        out->inside = PERP_ANSWER_YES;
        return false;
    }
    for (int j = 0; j < p->n; j++) {
        y[j] = out->away[j] / before;
    }
    if (p->count == p->n) { /* which leaves nothing but rounding */
        return false;
    }
    if (source(context, y, w) * p->most < (1.0 - WEIGHT_ROUNDING) * before / size) {
        out->inside = PERP_ANSWER_NO;
        return false;
    }
    const projecting last = *p;
    p->weight[p->count++] = 0.0;
    if (settle(p)) {
        set_away(p, out);
    }
    if (!(out->distance < before)) {
        *p = last;
        set_away(p, out);
        return false;
    }
    return true;
}

wrench_projection perp_wrench_project(int n, wrench_source *source, const void *context, const double *target,
                                      double most)
{
    projecting p = {.n = n, .target = target, .most = most};
    wrench_projection out = {.inside = PERP_ANSWER_UNKNOWN};
    set_away(&p, &out);
    if (out.distance == 0.0) {
        out.inside = PERP_ANSWER_YES;
        return out;
    }
    for (int i = 0; i < TURNS_MOST && turn(&p, source, context, &out); i++) {
    }
    return out;
}

static double unit_wrench(const void *context, const double *y, double *w)
{
    return perp_wrench_support(context, y, w);
}

wrench_projection perp_wrench_project_on(const wrench_cones *cones, const double *target, double most)
{
    return perp_wrench_project(cones->dimensions, unit_wrench, cones, target, most);
}

/* Unit wrenches with a 1 behind them: a combination that gives (0, 1) has weights with sum 1. */
static double lifted_wrench(const void *context, const double *y, double *w)
{
    const wrench_cones *cones = context;
    w[cones->dimensions] = 1.0;
    return perp_wrench_support(cones, y, w) + y[cones->dimensions];
}

wrench_projection perp_wrench_project_zero(const wrench_cones *cones)
{
    double target[WRENCH_LIFTED] = {0.0};
    target[cones->dimensions] = 1.0;
    return perp_wrench_project(cones->dimensions + 1, lifted_wrench, cones, target, WEIGHT_MOST);
}
