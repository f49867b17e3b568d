/* Proofs that a problem has no feasible point, or no end.
 *
 * Multipliers that prove the first come from the interior point itself, whose y grows along them where nothing is
 * feasible; or from the least distance of the constraints from being met (convex_least.h), whose y is zero or such a
 * vector. A direction without end comes from its x, or is the projection of -g on the directions that no constraint and
 * no H stops, which always exists. Neither is claimed but by the class's own function. */
#include "linalg/dense_kernel.h"
#include "problem/convex_residual.h"
#include "problem/tolerances.h"
#include "solver/convex_least.h"
#include "solver/tolerances.h"

#include <float.h>
#include <math.h>
#include <string.h>

static double infeasibility(perp_convex_workspace *c, perp_convex_iterate *at)
{
    perp_convex_bound_multipliers(c, at);
    const perp_convex_point point = {at->x, at->y, at->z, c->y_lower, c->y_upper};
    const perp_convex_view view = perp_contact_qp_view(c->problem);
    return perp_convex_view_infeasibility(&view, &point, c->unit);
}

/* -offset.y + target.z + lower.y_lower - upper.y_upper */
static double farkas_value(const perp_convex_workspace *c, const perp_convex_iterate *at)
{
    const double contacts = c->contact_slacks > 0 ? perp_dense_dot(c->contact_slacks, c->problem->offset, at->y) : 0.0;
    const double bounds = perp_dense_dot(c->bounds, c->bound_offset, at->y + c->contact_slacks);
    return (c->e > 0 ? perp_dense_dot(c->e, c->problem->equality_target, at->z) : 0.0) - contacts - bounds;
}

/* |A|'|y| + |C|'|z| + |bounds'|: what the columns of a proof are the differences of. */
static void add_sizes(perp_convex_workspace *c, const perp_convex_iterate *at, double *sizes)
{
    const perp_contact_qp *p = c->problem;
    const double *jacobian = p->jacobian, *rays = p->rays;
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i], columns = p->dof_start[i + 1] - p->dof_start[i];
        const int first = p->slack_start[i], slacks = p->slack_start[i + 1] - first;
        for (int r = 0; r < rows; r++, jacobian += columns) {
            double weight = rays ? 0.0 : fabs(at->y[first + r]);
            for (int k = 0; rays && k < slacks; k++) {
                weight += fabs(rays[(ptrdiff_t)k * rows + r] * at->y[first + k]);
            }
            for (int k = 0; k < columns; k++) {
                sizes[p->dofs[p->dof_start[i] + k]] += fabs(jacobian[k]) * weight;
            }
        }
        rays = rays ? rays + (ptrdiff_t)slacks * rows : NULL;
    }
    for (int k = 0; k < c->bounds; k++) {
        sizes[c->bound_dof[k]] += fabs(at->y[c->contact_slacks + k]);
    }
    for (int i = 0; i < c->e; i++) {
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            sizes[p->equality_dofs[k]] += fabs(p->equality_values[k] * at->z[i]);
        }
    }
}

/* How near multipliers that add up to `value` are to a proof, as a sign of one: A'y + C'z over the value. Unlike the
 * class's own measure it is not spoilt by small y that an iterate has everywhere and a proof, once pruned, has not. But
 * where it is small it has to be because the terms of every column cancel, and not because a column is small: a row
 * 1e-8 x >= 1 has a multiplier with A'y = 1e-8, and x = 1e8 meets it. */
static double sign_of_proof(perp_convex_workspace *c, const perp_convex_iterate *at, double value, bool *cancels)
{
    double *sums = c->product3, *sizes = c->product2;
    memset(sums, 0, (size_t)c->n * sizeof *sums);
    memset(sizes, 0, (size_t)c->n * sizeof *sizes);
    perp_convex_add_at(c, at->y, sums);
    perp_convex_add_ct(c, at->z, sums);
    add_sizes(c, at, sizes);
    const double most = perp_dense_largest(c->n, sizes);
    *cancels = true;
    for (int i = 0; i < c->n; i++) {
        *cancels = *cancels && fabs(sums[i]) <= PERP_CANCELLED * sizes[i] + PROOF_COLUMN * most;
    }
    return perp_dense_largest(c->n, sums) / value;
}

static void copy_multipliers(const perp_convex_workspace *c, const perp_convex_iterate *from, perp_convex_iterate *to)
{
    memcpy(to->y, from->y, (size_t)c->m * sizeof(double));
    memcpy(to->z, from->z, (size_t)c->e * sizeof(double));
}

/* The y and z in `at` over their value: their measure, +infinity where they prove nothing. */
static double normalise_proof(perp_convex_workspace *c)
{
    const double value = farkas_value(c, &c->at);
    if (!(value > 0.0)) {
        return INFINITY;
    }
    for (int i = 0; i < c->m; i++) {
        c->at.y[i] /= value;
    }
    for (int i = 0; i < c->e; i++) {
        c->at.z[i] /= value;
    }
    return infeasibility(c, &c->at);
}

/* Rows, cones and equations whose multiplier, in units of energy, is below `share` of the largest are left out; rows
 * that got a negative one too. */
static void drop_small(perp_convex_workspace *c, double share)
{
    double most = 0.0;
    for (int i = 0; i < c->m; i++) {
        most = fmax(most, fabs(c->at.y[i]) / sqrt(c->gamma[i]));
    }
    for (int i = 0; i < c->e; i++) {
        most = fmax(most, fabs(c->at.z[i]) / sqrt(c->stiffness[c->n + i]));
    }
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            c->at.y[i] = c->at.y[i] / sqrt(c->gamma[i]) > share * most ? c->at.y[i] : 0.0;
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start, size = c->cones[k].size;
        if (perp_dense_largest(size, c->at.y + start) / sqrt(c->gamma[start]) <= share * most) {
            memset(c->at.y + start, 0, (size_t)size * sizeof(double));
        }
    }
    for (int i = 0; i < c->e; i++) {
        c->at.z[i] = fabs(c->at.z[i]) / sqrt(c->stiffness[c->n + i]) > share * most ? c->at.z[i] : 0.0;
    }
}

/* The y and z in `at` scaled to a proof's, without what is rounding where they are the better for it: their measure,
 * +infinity where they prove nothing. A column in which only such multipliers meet would not cancel. `trial` changes.
 */
static double scale_proof(perp_convex_workspace *c)
{
    static const double shares[] = {0.0, 1e-15, 1e-13, 1e-11}; /* of the largest: multipliers below are dropped */
    double best = normalise_proof(c);
    copy_multipliers(c, &c->at, &c->trial);
    for (size_t k = 0; k < sizeof shares / sizeof *shares && best > CONVEX_CLEAN; k++) {
        drop_small(c, shares[k]);
        const double measure = normalise_proof(c);
        if (measure < best) {
            best = measure;
            copy_multipliers(c, &c->at, &c->trial);
        }
    }
    copy_multipliers(c, &c->trial, &c->at);
    return best;
}

/* Takes the rows and cones whose y is at most `share` of the largest out of the problem. */
static void prune(perp_least *l, double share)
{
    perp_convex_workspace *c = l->c;
    double *y = c->saved.y;
    const double small = share * perp_dense_largest(c->m, y);
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            c->part[i] = y[i] > small ? PERP_PART_ALL : PERP_PART_NONE;
            y[i] = y[i] > small ? y[i] : 0.0;
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start, size = c->cones[k].size;
        if (perp_dense_largest(size, y + start) <= small) {
            c->part[start] = PERP_PART_NONE;
            memset(y + start, 0, (size_t)size * sizeof *y);
        }
    }
}

/* All of K; the y and z of a search for a proof are those of `at`. */
static perp_least proof_of(perp_convex_workspace *c, double pull)
{
    perp_least l = {.c = c, .shift = c->rp, .target = c->problem->equality_target, .ray = c->ds, .pull = pull};
    l.v = c->at.x;
    l.u = c->dy;
    l.y = c->at.y;
    l.z = c->at.z;
    l.gradient = c->product3;
    for (int i = 0; i < c->m; i++) {
        c->part[i] = PERP_PART_ALL;
    }
    return l;
}

/* The y and z in `saved`, with the u in `ds_affine`, refined on what is left of the problem, and scaled, in `at`. */
static double refine_scaled(perp_least *l)
{
    perp_convex_workspace *c = l->c;
    perp_least_columns(c, c->product2); /* of which the check of a proof makes other use */
    l->columns = c->product2;
    perp_kkt_set_base(&c->kkt, c->problem, 0.0, 0.0);
    perp_least_refine(l);
    perp_kkt_set_base(&c->kkt, c->problem, 1.0, 0.0);
    return scale_proof(c);
}

/* Contacts that are nearly the same share a force that only one of them may need: each is left out that the proof, of
 * the measure `best` at first, is the better without, until it is one. */
static double thin(perp_least *l, double best, double enough)
{
    perp_convex_workspace *c = l->c;
    const perp_contact_qp *p = c->problem;
    for (int i = 0; i < p->contact_count && !perp_convex_cancelled(c); i++) {
        const int start = p->slack_start[i], size = p->slack_start[i + 1] - start;
        if (perp_dense_largest(size, c->saved.y + start) == 0.0) {
            continue;
        }
        copy_multipliers(c, &c->saved, &c->kept);
        memcpy(c->sized + start, c->part + start, (size_t)size);
        memset(c->part + start, PERP_PART_NONE, (size_t)size);
        memset(c->saved.y + start, 0, (size_t)size * sizeof(double));
        const double measure = refine_scaled(l);
        if (measure <= enough) {
            return measure;
        }
        if (measure < best) {
            best = measure;
        } else {
            copy_multipliers(c, &c->kept, &c->saved);
            memcpy(c->part + start, c->sized + start, (size_t)size);
        }
    }
    return INFINITY;
}

/* From the y and z in `saved` and the u in `ds_affine`, as `keep` leaves them. Small forces at contacts that have no
 * part in the contradiction, for all that v or an iterate is off by, are taken out and the others refined. */
static double refine_proof(perp_least *l, double enough)
{
    static const double shares[] = {1e-9, 1e-7, 1e-5, 1e-3}; /* of the largest: forces below are dropped */
    perp_convex_workspace *c = l->c;
    double best = INFINITY, measure = INFINITY;
    for (size_t k = 0; k < sizeof shares / sizeof *shares && best > CONVEX_CLEAN; k++) {
        prune(l, shares[k]);
        measure = refine_scaled(l);
        if (measure < best && measure <= enough) {
            best = measure;
            copy_multipliers(c, &c->at, &c->kept);
        }
    }
    if (!(best <= enough)) {
        return thin(l, measure, enough);
    }
    copy_multipliers(c, &c->kept, &c->at);
    return best;
}

/* One attempt at a proof; scaled, in `at`. */
static double seek_proof(perp_convex_workspace *c, double enough, double pull)
{
    enum { PASSES = 600 };
    perp_least l = proof_of(c, pull);
    perp_least_minimise(&l, NULL, 0.0, PASSES);
    const double measure = scale_proof(c);
    if (measure <= enough) {
        return measure;
    }
    return measure < INFINITY ? refine_proof(&l, enough) : INFINITY;
}

static bool note_multipliers(perp_convex_workspace *c)
{
    static const double BETTER = 0.5; /* of a measure: less of it is worth an iteration */
    copy_multipliers(c, &c->at, &c->trial);
    const double value = farkas_value(c, &c->trial), before = c->evidence_measure;
    if (!(value > 0.0 && value <= DBL_MAX)) {
        return false;
    }
    bool cancels;
    const double measure = sign_of_proof(c, &c->trial, value, &cancels);
    if (!(measure < before)) {
        return before <= PROOF_GOOD && c->evidence_cancels;
    }
    c->evidence_measure = measure;
    c->evidence_cancels = cancels;
    for (int i = 0; i < c->m; i++) {
        c->evidence.y[i] = c->trial.y[i] / value;
    }
    for (int i = 0; i < c->e; i++) {
        c->evidence.z[i] = c->trial.z[i] / value;
    }
    return (measure <= CONVEX_CLEAN || (measure <= PROOF_GOOD && measure > BETTER * before)) && cancels;
}

/* x as a direction, into `out`: scaled to g.x = -1, without what points beyond a bound, and without the small entries
 * that are all that is left of a zero in an iterate, as many as make it the better direction. Its measure, +infinity
 * where it does not fall. */
static double clean_direction(const perp_convex_workspace *c, const perp_contact_qp *problem, const double *x,
                              double *out)
{
    static const double shares[] = {0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6}; /* of the largest entry */
    const perp_convex_view view = perp_contact_qp_view(problem);
    const double most = perp_dense_largest(c->n, x);
    double best = INFINITY, kept = 0.0;
    for (size_t k = 0; k <= sizeof shares / sizeof *shares && best > PROOF_EXACT; k++) {
        const bool last = k == sizeof shares / sizeof *shares;
        const double small = (last ? kept : shares[k]) * most;
        double fall = 0.0;
        for (int i = 0; i < c->n; i++) {
            const bool beyond = (x[i] < 0.0 && problem->lower && isfinite(problem->lower[i])) ||
                                (x[i] > 0.0 && problem->upper && isfinite(problem->upper[i]));
            out[i] = beyond || fabs(x[i]) <= small ? 0.0 : x[i];
            fall -= problem->g[i] * out[i];
        }
        for (int i = 0; i < c->n; i++) {
            out[i] /= fall > 0.0 ? fall : 1.0;
        }
        const double measure = perp_convex_view_unboundedness(&view, out, c->unit);
        if (last) {
            return measure;
        }
        kept = measure < best ? shares[k] : kept;
        best = measure < best ? measure : best;
    }
    return best;
}

static bool note_direction(perp_convex_workspace *c)
{
    perp_convex_h(c, c->at.x, c->product2);
    const double fall = -perp_dense_dot(c->n, c->problem->g, c->at.x);
    if (!(fall > 0.0 && perp_dense_dot(c->n, c->at.x, c->product2) <= DIRECTION_BENT * fall)) {
        return false; /* it rises soon: as at every usual point, and not worth a closer look */
    }
    const double measure = clean_direction(c, c->problem, c->at.x, c->product2);
    if (measure < c->direction_measure) {
        c->direction_measure = measure;
        memcpy(c->evidence.x, c->product2, (size_t)c->n * sizeof(double));
    }
    return c->direction_measure <= CONVEX_CLEAN;
}

bool perp_convex_note_evidence(perp_convex_workspace *c)
{
    if (!c->noting) {
        return false;
    }
    const bool direction = note_direction(c);
    return note_multipliers(c) || direction;
}

/* A proof from what the interior point has left as evidence. */
static double prove_by_evidence(perp_convex_workspace *c, double enough)
{
    if (!(c->evidence_measure <= PROOF_HOPELESS)) {
        return INFINITY;
    }
    perp_least l = proof_of(c, 0.0);
    copy_multipliers(c, &c->evidence, &c->saved);
    memcpy(c->ds_affine, c->evidence.y, (size_t)c->m * sizeof(double));
    return refine_proof(&l, enough);
}

double perp_convex_rounding(const perp_convex_workspace *c, const double *x)
{
    const perp_contact_qp *p = c->problem;
    const double *jacobian = p->jacobian, *rays = p->rays;
    double most = 0.0;
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i], columns = p->dof_start[i + 1] - p->dof_start[i];
        const int slacks = p->slack_start[i + 1] - p->slack_start[i];
        const double size = rays ? perp_dense_largest(slacks * rows, rays) : 1.0;
        for (int r = 0; r < rows; r++, jacobian += columns) {
            double sum = 0.0;
            for (int k = 0; k < columns; k++) {
                sum += fabs(jacobian[k] * x[p->dofs[p->dof_start[i] + k]]);
            }
            most = fmax(most, size * sum);
        }
        rays = rays ? rays + (ptrdiff_t)slacks * rows : NULL;
    }
    for (int i = 0; i < c->e; i++) {
        double sum = 0.0;
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            sum += fabs(p->equality_values[k] * x[p->equality_dofs[k]]);
        }
        most = fmax(most, sum);
    }
    return 0.5 * DBL_EPSILON * most / c->b_scale;
}

static bool is_feasible(perp_convex_workspace *c, const double *x)
{
    perp_convex_zero(c, &c->trial);
    memcpy(c->trial.x, x, (size_t)c->n * sizeof(double));
    perp_convex_judge(c, &c->trial);
    return c->judged_parts.primal <= c->tolerance;
}

/* Where the numbers as given leave a feasible point as far away as 1 / rounding, only a pull finds the proof for all
 * nearer ones. */
double perp_convex_prove_infeasible(perp_convex_workspace *c, double enough, bool *feasible)
{
    static const double pulls[] = {1e-12, 1e-9, 1e-6}; /* of the columns */
    *feasible = false;
    const double evident = prove_by_evidence(c, enough);
    if (evident <= enough) {
        return evident;
    }
    memset(c->at.x, 0, (size_t)c->n * sizeof(double));
    perp_convex_slacks(c, c->at.x, c->rp);
    for (int i = 0; i < c->m; i++) {
        c->rp[i] = -c->rp[i];
    }
    for (size_t k = 0; k < sizeof pulls / sizeof *pulls; k++) {
        const double measure = seek_proof(c, enough, pulls[k]);
        if (measure <= enough) {
            return measure;
        }
        for (int i = 0; i < c->n; i++) {
            c->product3[i] = -c->at.x[i]; /* where the search ended */
        }
        *feasible = *feasible || is_feasible(c, c->product3);
    }
    return INFINITY;
}

/* H of the proof: I + weight H, block by block. */
static void weigh_hessian(perp_convex_workspace *c, const perp_contact_qp *original, double weight)
{
    double *h = c->proof_hessian;
    for (int k = 0; k < original->block_count; k++) {
        const int size = original->block_start[k + 1] - original->block_start[k];
        for (int i = 0; i < size * size; i++, h++) {
            *h = (original->hessian ? weight * original->hessian[h - c->proof_hessian] : 0.0) +
                 (i % (size + 1) == 0 ? 1.0 : 0.0);
        }
    }
}

/* On a problem that is made for a proof: the usual proximal terms, and steps of 0.99 of the way to the border. */
static const perp_convex_attempt SHORT_ATTEMPT = {60, false, 0.99, 1e-8, 1e-8, false};

/* The nearest feasible point to zero: min 1/2 |x|^2 over the same constraints. Where there is none its multipliers are
 * evidence of that as well. */
bool perp_convex_seek_feasible(perp_convex_workspace *c)
{
    const perp_contact_qp *original = c->problem;
    const perp_convex_residual parts = c->best_parts;
    const double residual = c->best_residual, direction = c->direction_measure;
    perp_contact_qp nearest = *original;
    weigh_hessian(c, original, 0.0);
    memset(c->proof_g, 0, (size_t)c->n * sizeof(double));
    nearest.hessian = c->proof_hessian;
    nearest.g = c->proof_g;
    perp_convex_copy(c, &c->best, &c->saved);
    double evidence = c->evidence_measure;
    if (perp_convex_setup(c, &nearest, NULL) == PERP_STATUS_OK) { /* the sizes are the same */
        c->evidence_measure = evidence;
        c->best_residual = INFINITY;
        perp_convex_ipm(c, &SHORT_ATTEMPT);
        evidence = c->evidence_measure;
        perp_convex_copy(c, c->best_residual < INFINITY ? &c->best : &c->at, &c->kept);
    }
    perp_convex_setup(c, original, NULL);
    c->evidence_measure = evidence;
    c->direction_measure = direction;
    c->best_residual = residual;
    c->best_parts = parts;
    perp_convex_copy(c, &c->saved, &c->best);
    return is_feasible(c, c->kept.x);
}

/* The same constraints with all constants zero. */
static perp_contact_qp recession_of(perp_convex_workspace *c)
{
    perp_contact_qp recession = *c->problem;
    for (int i = 0; i < c->n; i++) {
        c->proof_lower[i] = c->problem->lower && isfinite(c->problem->lower[i]) ? 0.0 : -INFINITY;
        c->proof_upper[i] = c->problem->upper && isfinite(c->problem->upper[i]) ? 0.0 : INFINITY;
        c->proof_g[i] = c->problem->g[i] / c->g_scale;
    }
    memset(c->proof_zero, 0, (size_t)(c->m + c->e) * sizeof(double));
    recession.hessian = c->proof_hessian;
    recession.g = c->proof_g;
    recession.offset = recession.equality_target = c->proof_zero;
    recession.lower = c->proof_lower;
    recession.upper = c->proof_upper;
    return recession;
}

/* One solve of the recession problem. Its last iterate is as good a direction as its best point, and often the better
 * one: that the multipliers of a degenerate cone still grow is no matter here. */
static bool project_gradient(perp_convex_workspace *c, const perp_contact_qp *recession)
{
    if (perp_convex_setup(c, recession, NULL) != PERP_STATUS_OK) {
        return false; /* cannot be: the sizes are the same */
    }
    c->best_residual = INFINITY;
    c->noting = false; /* the evidence is of the problem */
    perp_convex_ipm(c, &SHORT_ATTEMPT);
    return true;
}

/* Keeps the direction x if it is the best so far. */
static void offer_direction(perp_convex_workspace *c, const perp_contact_qp *original, const double *x, double *best)
{
    const double measure = clean_direction(c, original, x, c->product3);
    if (measure < *best) {
        *best = measure;
        memcpy(c->proof_direction, c->product3, (size_t)c->n * sizeof(double));
        memcpy(c->proof_x, x, (size_t)c->n * sizeof(double));
    }
}

/* The projection of -g on the directions along which nothing ends: min 1/2 |x|^2 + g.x over H x = 0, A x in K, C x = 0,
 * which has a solution whatever the problem. H x = 0 by the method of multipliers: each round adds weight H x to g. */
double perp_convex_prove_unbounded(perp_convex_workspace *c)
{
    enum { ROUNDS = 6 };
    const perp_contact_qp *original = c->problem;
    const perp_contact_qp recession = recession_of(c);
    const double most = original->hessian ? perp_dense_largest((ptrdiff_t)c->hessian_total, original->hessian) : 0.0;
    const double weight = most > 0.0 ? 1e10 / most : 0.0;
    const perp_convex_residual parts = c->best_parts;
    const double residual = c->best_residual, tolerance = c->tolerance;
    const double noted = c->direction_measure;
    double best = INFINITY;
    memset(c->proof_x, 0, (size_t)c->n * sizeof(double));
    weigh_hessian(c, original, weight);
    perp_convex_copy(c, &c->best, &c->saved);
    c->tolerance = CONVEX_CLEAN;
    for (int round = 0; round < ROUNDS && fmin(best, noted) > CONVEX_CLEAN && project_gradient(c, &recession);
         round++) {
        offer_direction(c, original, c->best.x, &best);
        offer_direction(c, original, c->at.x, &best);
        c->problem = original;
        perp_convex_h(c, c->proof_x, c->product3);
        double change = 0.0;
        for (int i = 0; i < c->n; i++) {
            c->proof_g[i] += weight * c->product3[i];
            change = fmax(change, fabs(weight * c->product3[i]));
        }
        if (change < RECESSION_CHANGE) {
            break;
        }
    }
    perp_convex_setup(c, original, NULL);
    c->tolerance = tolerance;
    c->best_residual = residual;
    c->best_parts = parts;
    perp_convex_copy(c, &c->saved, &c->best);
    if (noted < best) {
        best = noted;
        memcpy(c->proof_direction, c->evidence.x, (size_t)c->n * sizeof(double));
    }
    return best;
}
