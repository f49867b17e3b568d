#include <perp/trace.h>

#include "trace/json_maker.h"

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
