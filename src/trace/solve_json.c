#include <perp/trace.h>

#include "trace/json_maker.h"

#include <stdlib.h>

static json_t *words(const char *const *texts, int count)
{
    json_t *array = json_array();
    for (int i = 0; array && i < count; i++) {
        array = perp_json_appended(array, json_string(texts[i]));
    }
    return array;
}

static json_t *points(const double *values, int count, int n)
{
    json_t *array = json_array();
    for (int i = 0; array && i < count; i++) {
        array = perp_json_appended(array, perp_json_reals(values + (size_t)i * (size_t)n, n));
    }
    return array;
}

static json_t *face_object(const perp_lcp_face *face, int n)
{
    json_maker m = perp_json_object();
    perp_json_put(&m, "vertices", points(face->vertices, face->vertex_count, n));
    perp_json_put(&m, "rays", points(face->rays, face->ray_count, n));
    return perp_json_finished(&m);
}

static json_t *solutions(const perp_lcp_solution_set *set)
{
    json_t *array = json_array();
    for (int i = 0; array && i < set->face_count; i++) {
        array = perp_json_appended(array, face_object(&set->faces[i], set->n));
    }
    return array;
}

/* A ray is evidence only of the outcome that it belongs to; that nothing was found, only of a search that was complete.
 * With the latter, `ray` may still be that of an attempt before it, so it is not shown as a proof. */
static json_t *certificate(const perp_solve_report *r)
{
    json_maker m = perp_json_object();
    if (r->ray && r->info->outcome == PERP_OUTCOME_RAY) {
        json_maker ray = perp_json_object();
        perp_json_put(&ray, "z", perp_json_reals(r->ray, r->n));
        perp_json_put(&ray, "w", perp_json_reals(r->ray + r->n, r->n));
        perp_json_put(&m, "ray", perp_json_finished(&ray));
    }
    const bool searched = r->set && r->set->complete && r->set->face_count == 0;
    if (r->ray && r->info->outcome == PERP_OUTCOME_INFEASIBLE && !searched) {
        perp_json_put(&m, "farkas", perp_json_reals(r->ray, r->n));
    }
    if (searched && r->info->outcome == PERP_OUTCOME_INFEASIBLE) {
        perp_json_put(&m, "bases_searched", json_integer((json_int_t)r->set->nodes));
    }
    return perp_json_finished(&m);
}

char *perp_solve_json(const perp_solve_report *r, const perp_error *failure)
{
    json_maker m = perp_json_object();
    perp_json_put(&m, "status", json_string(r ? perp_outcome_name(r->info->outcome) : "invalid"));
    if (r) {
        perp_json_put(&m, "method", json_string(r->info->method));
        perp_json_put(&m, "tried", words(r->info->tried, r->info->tried_count));
        perp_json_put(&m, "residual", perp_json_real(r->info->residual));
        perp_json_put(&m, "iterations", json_integer(r->info->pivots));
        perp_json_put(&m, "time_us", perp_json_real(r->time_us));
        perp_json_put(&m, "z", perp_json_reals(r->z, r->n));
        perp_json_put(&m, "w", perp_json_reals(r->w, r->n));
        perp_json_put(&m, "certificate", certificate(r));
    }
    if (r && r->set) {
        perp_json_put(&m, "solutions", solutions(r->set));
        perp_json_put(&m, "complete", json_boolean(r->set->complete));
    }
    if (failure) {
        perp_json_put(&m, "error", perp_json_failure(failure));
    }
    return perp_json_dump(&m);
}

/* ---- convex problems --------------------------------------------------------------------------------------------- */

static json_t *cone_lists(const perp_cone_qp *p, const double *y)
{
    json_t *array = json_array();
    int first = 0;
    for (int k = 0; array && y && k < p->cones; k++) {
        array = perp_json_appended(array, perp_json_reals(y + first, p->cone_rows[k]));
        first += p->cone_rows[k];
    }
    return array;
}

/* By the constraints they belong to; `point` NULL: there are none. */
static json_t *multipliers(const perp_convex_report *r, const perp_convex_point *point)
{
    json_maker m = perp_json_object();
    const perp_convex_point y = point ? *point : (perp_convex_point){0};
    if (r->cone_qp) {
        perp_json_put(&m, "cones", cone_lists(r->cone_qp, y.y));
        perp_json_put(&m, "C", perp_json_reals(y.y_equality, point ? r->cone_qp->equalities : 0));
    } else {
        const perp_qp *p = r->qp;
        perp_json_put(&m, "A", perp_json_reals(y.y, point ? p->rows : 0));
        perp_json_put(&m, "C", perp_json_reals(y.y_equality, point ? p->equalities : 0));
        perp_json_put(&m, "lower", perp_json_reals(y.y_lower, point && p->lower ? p->n : 0));
        perp_json_put(&m, "upper", perp_json_reals(y.y_upper, point && p->upper ? p->n : 0));
    }
    return perp_json_finished(&m);
}

static json_t *convex_certificate(const perp_convex_report *r, int n)
{
    json_maker m = perp_json_object();
    const perp_outcome outcome = r->info->outcome;
    if (outcome == PERP_OUTCOME_INFEASIBLE) {
        perp_json_put(&m, "farkas", multipliers(r, r->point));
    } else if (outcome == PERP_OUTCOME_UNBOUNDED) {
        perp_json_put(&m, "direction", perp_json_reals(r->point->x, n));
    }
    if (outcome == PERP_OUTCOME_INFEASIBLE || outcome == PERP_OUTCOME_UNBOUNDED) {
        perp_json_put(&m, "measure", perp_json_real(r->info->certificate));
    }
    return perp_json_finished(&m);
}

/* Where there is no solution the arrays hold the evidence, which is no point: x and multipliers are then empty. */
static void put_convex(json_maker *m, const perp_convex_report *r)
{
    const perp_convex_info *info = r->info;
    const bool point = info->outcome != PERP_OUTCOME_INFEASIBLE && info->outcome != PERP_OUTCOME_UNBOUNDED;
    const int n = r->cone_qp ? r->cone_qp->n : r->qp->n;
    perp_json_put(m, "method", json_string(info->method ? info->method : ""));
    perp_json_put(m, "tried", words(info->tried, info->tried_count));
    perp_json_put(m, "residual", point ? perp_json_real(perp_convex_residual_largest(info->residual)) : json_null());
    perp_json_put(m, "iterations", json_integer(info->iterations));
    perp_json_put(m, "time_us", perp_json_real(r->time_us));
    perp_json_put(m, "objective", point ? perp_json_real(info->objective) : json_null());
    perp_json_put(m, "x", perp_json_reals(r->point->x, point ? n : 0));
    perp_json_put(m, "multipliers", multipliers(r, point ? r->point : NULL));
    perp_json_put(m, "certificate", convex_certificate(r, n));
}

char *perp_convex_json(const perp_convex_report *r, const perp_error *failure)
{
    json_maker m = perp_json_object();
    perp_json_put(&m, "status", json_string(r ? perp_outcome_name(r->info->outcome) : "invalid"));
    if (r) {
        put_convex(&m, r);
    }
    if (failure) {
        perp_json_put(&m, "error", perp_json_failure(failure));
    }
    return perp_json_dump(&m);
}

/* ---- friction ---------------------------------------------------------------------------------------------------- */

static void put_friction(json_maker *m, const perp_friction_report *r, const perp_friction_mode *modes)
{
    const perp_friction_info *info = r->info;
    const bool point = info->outcome != PERP_OUTCOME_INFEASIBLE;
    const int contacts = point ? r->problem->contacts : 0, size = contacts * r->problem->dim;
    perp_json_put(m, "method", json_string(info->method ? info->method : ""));
    perp_json_put(m, "tried", words(info->tried, info->tried_count));
    perp_json_put(m, "residual", point ? perp_json_real(info->residual) : json_null());
    perp_json_put(m, "iterations", json_integer(info->iterations));
    perp_json_put(m, "time_us", perp_json_real(r->time_us));
    perp_json_put(m, "r", perp_json_reals(r->r, size));
    perp_json_put(m, "u", perp_json_reals(r->u, size));
    json_t *names = json_array();
    for (int i = 0; names && i < contacts; i++) {
        names = perp_json_appended(names, json_string(perp_friction_mode_name(modes[i])));
    }
    perp_json_put(m, "modes", names);
    json_maker certificate = perp_json_object();
    if (!point) {
        perp_json_put(&certificate, "measure", perp_json_real(info->certificate));
    }
    perp_json_put(m, "certificate", perp_json_finished(&certificate));
}

char *perp_friction_json(const perp_friction_report *r, const perp_error *failure)
{
    perp_friction_mode *modes = r ? malloc(((size_t)r->problem->contacts + 1) * sizeof *modes) : NULL;
    if (r && !modes) {
        return NULL;
    }
    json_maker m = perp_json_object();
    perp_json_put(&m, "status", json_string(r ? perp_outcome_name(r->info->outcome) : "invalid"));
    if (r) {
        if (r->info->outcome != PERP_OUTCOME_INFEASIBLE) {
            perp_friction_modes(r->problem, r->r, r->u, r->tolerance, modes);
        }
        put_friction(&m, r, modes);
    }
    free(modes);
    if (failure) {
        perp_json_put(&m, "error", perp_json_failure(failure));
    }
    return perp_json_dump(&m);
}
