/* The last resort for a step that is an LCP: all modes of its contacts. Rigid contact with friction need not have an
 * answer, as when what is pushed can neither slide nor tip, and Lemke's method may miss one that there is; a search
 * through all complementary bases decides. It is exponential, so the LCP is taken apart first: unknowns that no row
 * connects are problems of their own, and contacts far wider open than the commands overlap are taken to stay open (an
 * answer is checked with them, but that there is none is then not proven).
 *
 * This is no part of a step in steady state: it takes memory and gives it back. */
#include "step/rigid_step.h"

#include <stdio.h>
#include <string.h>

static const double FAR = 3.0; /* of the largest overlap */

typedef struct mode_search {
    int n;         /* of the whole LCP */
    int *part;     /* n: which part an unknown is of; -1: left out */
    int *member;   /* n: the unknowns of one part */
    double *m, *q; /* its problem */
    double *low, *high;
    double *z; /* n: the answer */
    bool left_out;
    perp_qs_block block;
} mode_search;

static perp_status open_search(mode_search *a, int n, const perp_allocator *allocator, perp_error *error)
{
    const size_t size = (size_t)n;
    perp_status status = PERP_STATUS_OK;
    *a = (mode_search){.n = n};
    for (int pass = 0; pass < 2 && status == PERP_STATUS_OK; pass++) {
        a->part = perp_qs_take(&a->block, size, sizeof *a->part);
        a->member = perp_qs_take(&a->block, size, sizeof *a->member);
        a->m = perp_qs_take(&a->block, size * size, sizeof *a->m);
        a->q = perp_qs_take(&a->block, size, sizeof *a->q);
        a->low = perp_qs_take(&a->block, size, sizeof *a->low);
        a->high = perp_qs_take(&a->block, size, sizeof *a->high);
        a->z = perp_qs_take(&a->block, size, sizeof *a->z);
        if (pass == 0) {
            status = perp_qs_block_hold(allocator, &a->block, error);
        }
    }
    return status;
}

/* Which unknowns stay: part n, not yet known. */
static void leave_out(mode_search *a, const rigid_step *s, const double *mu)
{
    const perp_contact_qp *p = &s->qp;
    double overlap = 0.0;
    for (int i = 0; i < a->n; i++) {
        a->part[i] = a->n;
    }
    for (int i = 0; i < p->contact_count; i++) {
        overlap = fmax(overlap, -s->offset[p->row_start[i]]);
    }
    for (int i = 0, at = p->n + p->equality_count; i < p->contact_count; i++) {
        const rigid_polygon *d = perp_rigid_polygon(s, p->row_start[i + 1] - p->row_start[i]);
        const int size = 1 + (d && mu[i] > 0.0 ? d->count + 1 : 0);
        const bool far = overlap > 0.0 && s->offset[p->row_start[i]] > FAR * overlap;
        a->left_out = a->left_out || far;
        for (int k = 0; k < size; k++, at++) {
            a->part[at] = far ? -1 : a->n;
        }
    }
}

/* The unknowns that rows connect with unknown `first`, as part `index`; returns how many, in `member`, ascending. */
static int gather(mode_search *a, const double *m, int first, int index)
{
    const int n = a->n;
    int count = 0;
    a->part[first] = index;
    for (bool grew = true; grew;) {
        grew = false;
        for (int r = first; r < n; r++) {
            for (int c = first; c < n && a->part[r] == index; c++) {
                if (a->part[c] == n && (m[(ptrdiff_t)r * n + c] != 0.0 || m[(ptrdiff_t)c * n + r] != 0.0)) {
                    a->part[c] = index;
                    grew = true;
                }
            }
        }
    }
    for (int i = first; i < n; i++) {
        if (a->part[i] == index) {
            a->member[count++] = i;
        }
    }
    return count;
}

typedef enum { PART_FOUND, PART_NONE, PART_UNKNOWN } part_verdict;

/* All solutions of one part; its first one into z. */
static perp_status search_part(mode_search *a, const perp_mlcp *whole, int count, const perp_allocator *allocator,
                               part_verdict *verdict, perp_error *error)
{
    perp_lcp_enumerate_settings settings = perp_lcp_enumerate_settings_default();
    perp_lcp_solution_set *set = NULL;
    settings.max_nodes = 200000; /* about a second */
    for (int i = 0; i < count; i++) {
        const int row = a->member[i];
        for (int k = 0; k < count; k++) {
            a->m[(ptrdiff_t)i * count + k] = whole->m[(ptrdiff_t)row * whole->n + a->member[k]];
        }
        a->q[i] = whole->q[row];
        a->low[i] = whole->free[row] ? -INFINITY : 0.0;
        a->high[i] = INFINITY;
    }
    const perp_mcp problem = {count, a->m, a->q, a->low, a->high};
    const perp_status status = perp_mcp_enumerate(&problem, &settings, allocator, &set, error);
    *verdict = PART_UNKNOWN;
    if (status != PERP_STATUS_OK) { /* it may be too large */
        return status == PERP_STATUS_CAPACITY ? PERP_STATUS_OK : status;
    }
    if (set->face_count > 0) {
        *verdict = PART_FOUND;
        for (int i = 0; i < count; i++) {
            a->z[a->member[i]] = set->faces[0].vertices[i];
        }
    } else if (set->complete) {
        *verdict = PART_NONE;
    }
    perp_lcp_solution_set_free(set);
    return PERP_STATUS_OK;
}

/* Names the contact that the commands close most. */
static perp_status no_equilibrium(const perp_quasistatic *qs, perp_error *error)
{
    const perp_contact_qp *p = &qs->system;
    int closest = 0;
    for (int i = 1; i < p->contact_count; i++) {
        closest = p->offset[p->row_start[i]] < p->offset[p->row_start[closest]] ? i : closest;
    }
    perp_evidence evidence = {.planar = qs->model->planar};
    if (p->contact_count > 0) {
        const perp_contact *c = &qs->contacts->contacts[qs->set_index[closest]];
        char feature[64];
        perp_contact_feature_text(c, feature, sizeof feature);
        snprintf(evidence.contact, sizeof evidence.contact, "%s %s %s", qs->model->scene->bodies[c->a].name,
                 qs->model->scene->bodies[c->b].name, feature);
    }
    perp_fail(
        error, PERP_STATUS_INFEASIBLE,
        "no motion from t = %g s on is in equilibrium (all modes of the contacts were tried): it jams, at contact "
        "`%s`; springs give way: control: impedance on a rung that has it (qs-qp, quasidynamic)",
        qs->t, evidence.contact);
    if (error) {
        error->code = "no-equilibrium";
        error->evidence = evidence;
    }
    return PERP_STATUS_INFEASIBLE;
}

static perp_status search(perp_quasistatic *qs, mode_search *a, const perp_mlcp *whole, part_verdict *verdict,
                          perp_error *error)
{
    perp_status status = PERP_STATUS_OK;
    int parts = 0;
    *verdict = PART_FOUND;
    leave_out(a, qs->own, qs->mu);
    for (int i = 0; i < a->n && status == PERP_STATUS_OK && *verdict == PART_FOUND; i++) {
        if (a->part[i] == a->n) {
            const int count = gather(a, whole->m, i, parts++);
            status = search_part(a, whole, count, &qs->allocator, verdict, error);
        }
    }
    return status;
}

perp_status perp_rigid_search_modes(perp_quasistatic *qs, bool *decided, perp_error *error)
{
    rigid_step *s = qs->own;
    perp_mlcp whole;
    mode_search a = {0};
    part_verdict verdict = PART_UNKNOWN;
    perp_status status = perp_rigid_build_lcp(qs, &whole, error);
    if (status == PERP_STATUS_OK) {
        status = open_search(&a, whole.n, &qs->allocator, error);
    }
    if (status == PERP_STATUS_OK) {
        status = search(qs, &a, &whole, &verdict, error);
    }
    if (status == PERP_STATUS_OK && verdict == PART_FOUND) {
        perp_rigid_read_lcp(s, qs->mu, a.z);
    }
    const bool left_out = a.left_out;
    perp_qs_block_free(&qs->allocator, &a.block);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const double worst = perp_rigid_worst(perp_rigid_evaluate(s, qs->mu, &s->point));
    if (verdict == PART_FOUND && worst <= qs->settings->tolerance) {
        *decided = true;
        qs->info->fallbacks[PERP_FALLBACK_SECOND_METHOD]++;
        return perp_rigid_finish(qs, error);
    }
    *decided = verdict == PART_NONE && !left_out;
    return *decided ? no_equilibrium(qs, error) : PERP_STATUS_OK;
}
