/* spatial_boxes.c - two boxes that touch or overlap, by the fifteen axes on which a least depth of boxes can be: the
 * normals of both and the cross products of their edges. Exact, without a search. */
#include "geometry/spatial_core.h"

typedef struct axes {
    double gap[15];
    perp_vec3 normal[15]; /* from a to b, unit; zero for parallel edges */
} axes;

static double reach(const spatial_core *box, perp_vec3 n)
{
    const perp_vec3 d = spatial_to_local(box, n);
    return fabs(d.x) * box->half.x + fabs(d.y) * box->half.y + fabs(d.z) * box->half.z;
}

static void measure(const spatial_pair *pair, perp_vec3 n, int k, axes *x)
{
    double along = perp_vec3_dot(n, pair->b.position);
    if (along < 0.0) {
        n = spatial_negative(n);
        along = -along;
    }
    x->normal[k] = n;
    x->gap[k] = along - reach(&pair->a, n) - reach(&pair->b, n);
}

static perp_vec3 axis(const spatial_core *box, int k)
{
    return spatial_from_local(box, perp_vec3_make(k == 0, k == 1, k == 2));
}

/* Where the centres are level both signs are as good: first the one of the face with the lower number. */
static void offer(const spatial_pair *pair, const axes *x, int k, spatial_choices *choices)
{
    spatial_result r = {.phi = x->gap[k], .normal = x->normal[k]};
    const double along = perp_vec3_dot(r.normal, pair->b.position);
    if (2.0 * along > pair->tolerance) {
        perp_spatial_choices_add(choices, &r);
        return;
    }
    const perp_vec3 first = k < 3 ? axis(&pair->a, k) : spatial_negative(axis(&pair->b, k % 3));
    const perp_vec3 generic = k < 6 ? first : perp_vec3_make(0.48, 0.6, 0.64);
    const bool turn = perp_vec3_dot(generic, r.normal) < 0.0;
    for (int sign = 0; sign < 2; sign++) {
        const bool turned = turn != (sign == 1);
        const spatial_result s = {.phi = r.phi - (turned ? 2.0 * along : 0.0),
                                  .normal = turned ? spatial_negative(r.normal) : r.normal};
        perp_spatial_choices_add(choices, &s);
    }
}

bool perp_spatial_by_box_axes(spatial_pair *pair, spatial_result *result, perp_spatial_trace *trace)
{
    if (pair->a.kind != PERP_SPATIAL_BOX || pair->b.kind != PERP_SPATIAL_BOX) {
        return false;
    }
    axes x;
    double best = -INFINITY;
    for (int k = 0; k < 6; k++) {
        measure(pair, axis(k < 3 ? &pair->a : &pair->b, k % 3), k, &x);
        best = fmax(best, x.gap[k]);
    }
    for (int k = 0; k < 9; k++) {
        const perp_vec3 n = perp_vec3_cross(axis(&pair->a, k / 3), axis(&pair->b, k % 3));
        const double sine = perp_vec3_norm(n);
        x.gap[6 + k] = -INFINITY;
        if (sine > 1e-10) { /* nearly parallel edges: the faces beside them are as good */
            measure(pair, perp_vec3_scale(1.0 / sine, n), 6 + k, &x);
            best = fmax(best, x.gap[6 + k]);
        }
    }
    if (best > pair->tolerance) {
        return false;
    }
    spatial_choices choices = {.count = 0};
    for (int k = 0; k < 15; k++) {
        if (x.gap[k] >= best - pair->tolerance) {
            offer(pair, &x, k, &choices);
        }
    }
    perp_spatial_choices_take(pair, &choices, result, trace);
    return true;
}
