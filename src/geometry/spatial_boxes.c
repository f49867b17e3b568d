/* spatial_boxes.c - two boxes, by the fifteen axes on which a face or two edges can decide: the normals of both and the
 * cross products of their edges. Overlapping or touching boxes are always decided so; boxes that are apart are if a
 * face or two edges are nearest, which shows in the witnesses, and otherwise (corners, a corner and an edge) left to
 * GJK.
 *
 * Axis k: 0..2 normals of a, 3..5 of b, 6 + 3 i + j the edge i of a with the edge j of b.
 */
#include "geometry/spatial_core.h"
#include "geometry/tolerances.h"

typedef struct boxes {
    double r[3][3], abs[3][3]; /* axis j of b in a's frame is column j */
    double t[3];               /* centre of b in a's frame */
    double along[3];           /* the same along b's axes */
    double ha[3], hb[3];
    double gap[15];
    double best;
} boxes;

static void take_apart(const spatial_pair *pair, boxes *x)
{
    const double *m = pair->b.rotation.m;
    const perp_vec3 t = pair->b.position, ha = pair->a.half, hb = pair->b.half;
    x->t[0] = t.x;
    x->t[1] = t.y;
    x->t[2] = t.z;
    x->ha[0] = ha.x;
    x->ha[1] = ha.y;
    x->ha[2] = ha.z;
    x->hb[0] = hb.x;
    x->hb[1] = hb.y;
    x->hb[2] = hb.z;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            x->r[i][j] = m[3 * i + j];
            x->abs[i][j] = fabs(m[3 * i + j]);
        }
    }
    x->best = -INFINITY;
}

/* False: an axis shows that the boxes are farther apart than the limit. */
static bool measure_faces(boxes *x, double limit)
{
    for (int i = 0; i < 3; i++) {
        const double reach = x->hb[0] * x->abs[i][0] + x->hb[1] * x->abs[i][1] + x->hb[2] * x->abs[i][2];
        x->gap[i] = fabs(x->t[i]) - x->ha[i] - reach;
        x->best = x->gap[i] > x->best ? x->gap[i] : x->best;
    }
    for (int j = 0; j < 3; j++) {
        const double reach = x->ha[0] * x->abs[0][j] + x->ha[1] * x->abs[1][j] + x->ha[2] * x->abs[2][j];
        x->along[j] = x->t[0] * x->r[0][j] + x->t[1] * x->r[1][j] + x->t[2] * x->r[2][j];
        x->gap[3 + j] = fabs(x->along[j]) - x->hb[j] - reach;
        x->best = x->gap[3 + j] > x->best ? x->gap[3 + j] : x->best;
    }
    return x->best <= limit;
}

static bool measure_edges(boxes *x, double limit)
{
    for (int i = 0; i < 3; i++) {
        const int p = (i + 1) % 3, q = (i + 2) % 3;
        for (int j = 0; j < 3; j++) {
            const int u = (j + 1) % 3, v = (j + 2) % 3;
            const double sine2 = x->r[p][j] * x->r[p][j] + x->r[q][j] * x->r[q][j];
            double *gap = &x->gap[6 + 3 * i + j];
            *gap = -INFINITY;
            if (sine2 > BOX_EDGES_PARALLEL * BOX_EDGES_PARALLEL) {
                const double along = fabs(x->t[q] * x->r[p][j] - x->t[p] * x->r[q][j]);
                const double reach_a = x->ha[p] * x->abs[q][j] + x->ha[q] * x->abs[p][j];
                const double reach_b = x->hb[u] * x->abs[i][v] + x->hb[v] * x->abs[i][u];
                *gap = (along - reach_a - reach_b) / sqrt(sine2);
                x->best = *gap > x->best ? *gap : x->best;
            }
        }
    }
    return x->best <= limit;
}

static perp_vec3 axis_of_b(const boxes *x, int j)
{
    return perp_vec3_make(x->r[0][j], x->r[1][j], x->r[2][j]);
}

/* The unit axis, from a to b. */
static perp_vec3 normal_of(const boxes *x, int k)
{
    const perp_vec3 t = perp_vec3_make(x->t[0], x->t[1], x->t[2]);
    perp_vec3 n;
    if (k < 3) {
        n = perp_vec3_make(k == 0, k == 1, k == 2);
    } else if (k < 6) {
        n = axis_of_b(x, k - 3);
    } else {
        const int i = (k - 6) / 3;
        n = perp_vec3_cross(perp_vec3_make(i == 0, i == 1, i == 2), axis_of_b(x, (k - 6) % 3));
        n = perp_vec3_scale(1.0 / perp_vec3_norm(n), n);
    }
    return perp_vec3_dot(n, t) < 0.0 ? spatial_negative(n) : n;
}

/* ---- witnesses --------------------------------------------------------------------------------------------------- */

static double clamp(double value, double limit)
{
    return value > limit ? limit : value < -limit ? -limit : value;
}

/* Of the points of q that are lowest along `outer` (to the tolerance) one that is over p's face, and its foot. False if
 * there is none. Lowest is a corner; along edges that are parallel to the face it may be anywhere, and moves there by
 * turns into the face's sides and its own. */
static bool over_face(const spatial_core *p, const spatial_core *q, perp_vec3 outer, double gap, double tolerance,
                      perp_vec3 *foot, perp_vec3 *over)
{
    const perp_vec3 down = spatial_to_local(q, spatial_negative(outer)), normal = spatial_to_local(p, outer);
    const double d[3] = {down.x, down.y, down.z}, h[3] = {q->half.x, q->half.y, q->half.z};
    double c[3];
    bool loose[3];
    for (int k = 0; k < 3; k++) {
        loose[k] = 2.0 * fabs(d[k]) * h[k] <= tolerance;
        c[k] = loose[k] ? 0.0 : d[k] > 0.0 ? h[k] : -h[k];
    }
    const bool any = loose[0] || loose[1] || loose[2];
    perp_vec3 local;
    for (int round = 0;; round++) {
        *over = spatial_point_of(q, perp_vec3_make(c[0], c[1], c[2]));
        local = spatial_point_local(p, *over);
        perp_vec3 in = perp_vec3_make(clamp(local.x, p->half.x), clamp(local.y, p->half.y), clamp(local.z, p->half.z));
        const perp_vec3 out = perp_vec3_sub(in, local); /* without what is along the normal */
        const perp_vec3 aside = perp_vec3_add_scaled(out, -perp_vec3_dot(out, normal), normal);
        if (perp_vec3_dot(aside, aside) <= 0.25 * tolerance * tolerance) {
            break;
        }
        if (!any || round == 8) {
            return false;
        }
        const perp_vec3 move = spatial_to_local(q, spatial_from_local(p, aside));
        c[0] = loose[0] ? clamp(c[0] + move.x, h[0]) : c[0];
        c[1] = loose[1] ? clamp(c[1] + move.y, h[1]) : c[1];
        c[2] = loose[2] ? clamp(c[2] + move.z, h[2]) : c[2];
    }
    *foot = perp_vec3_add_scaled(*over, -gap, outer);
    return true;
}

/* The nearest points of the two edges that face each other along the normal. False if they are not within the edges. */
static bool on_edges(const spatial_pair *pair, const boxes *x, int k, double slack, spatial_result *r)
{
    const perp_vec3 n = r->normal;
    const int i = (k - 6) / 3, j = (k - 6) % 3;
    const perp_vec3 e = perp_vec3_make(i == 0, i == 1, i == 2), f = axis_of_b(x, j);
    const perp_vec3 down = spatial_to_local(&pair->b, spatial_negative(n));
    const double da[3] = {n.x, n.y, n.z}, db[3] = {down.x, down.y, down.z};
    double ca[3], cb[3];
    for (int m = 0; m < 3; m++) {
        ca[m] = m == i ? 0.0 : da[m] > 0.0 ? x->ha[m] : -x->ha[m];
        cb[m] = m == j ? 0.0 : db[m] > 0.0 ? x->hb[m] : -x->hb[m];
    }
    const perp_vec3 p = perp_vec3_make(ca[0], ca[1], ca[2]);
    const perp_vec3 q = spatial_point_of(&pair->b, perp_vec3_make(cb[0], cb[1], cb[2]));
    const perp_vec3 d = perp_vec3_sub(q, p), cross = perp_vec3_cross(e, f);
    const double cc = perp_vec3_dot(cross, cross);
    const double s = perp_vec3_dot(perp_vec3_cross(d, f), cross) / cc;
    const double t = perp_vec3_dot(perp_vec3_cross(d, e), cross) / cc;
    if (!(fabs(s) <= x->ha[i] + 0.25 * slack && fabs(t) <= x->hb[j] + 0.25 * slack)) {
        return false;
    }
    r->on_a = perp_vec3_add_scaled(p, s, e);
    r->on_b = perp_vec3_add_scaled(q, t, f);
    /* Nearly parallel edges know their normal but roughly; between points that are near that does not matter. */
    r->phi = perp_vec3_dot(n, perp_vec3_sub(r->on_b, r->on_a));
    return true;
}

/* The result along axis k, turned round if `turned`, with witnesses if they are in line with it to `slack`. */
static spatial_result result_of(const spatial_pair *pair, const boxes *x, int k, bool turned, double slack)
{
    perp_vec3 n = normal_of(x, k);
    const double along = perp_vec3_dot(n, pair->b.position);
    spatial_result r = {.phi = x->gap[k] - (turned ? 2.0 * along : 0.0)};
    r.normal = n = turned ? spatial_negative(n) : n;
    if (k < 3) {
        r.witnessed = over_face(&pair->a, &pair->b, n, r.phi, slack, &r.on_a, &r.on_b);
    } else if (k < 6) {
        r.witnessed = over_face(&pair->b, &pair->a, spatial_negative(n), r.phi, slack, &r.on_b, &r.on_a);
    } else {
        r.witnessed = on_edges(pair, x, k, slack, &r);
    }
    return r;
}

/* ---- choice ------------------------------------------------------------------------------------------------------ */

/* With the points that touch first, if they are in line; else with others that are as good. */
static spatial_result best_result_of(const spatial_pair *pair, const boxes *x, int k, bool turned)
{
    const spatial_result r = result_of(pair, x, k, turned, ROUNDING * pair->extent);
    return r.witnessed ? r : result_of(pair, x, k, turned, pair->tolerance);
}

/* Where the centres are level both signs are as good: first the one of the face with the lower number. */
static void offer(const spatial_pair *pair, const boxes *x, int k, spatial_choices *choices)
{
    const perp_vec3 n = normal_of(x, k);
    const double along = perp_vec3_dot(n, pair->b.position);
    bool turn = false;
    if (2.0 * along <= pair->tolerance) {
        const perp_vec3 first = k < 3
                                    ? perp_vec3_make(k == 0, k == 1, k == 2)
                                    : (k < 6 ? spatial_negative(axis_of_b(x, k - 3)) : perp_vec3_make(0.48, 0.6, 0.64));
        turn = perp_vec3_dot(first, n) < 0.0;
        const spatial_result other = best_result_of(pair, x, k, turn);
        perp_spatial_choices_add(choices, &other);
        turn = !turn;
    }
    const spatial_result r = best_result_of(pair, x, k, turn);
    perp_spatial_choices_add(choices, &r);
}

/* Boxes that are apart: witnesses in line with the axis of the largest gap prove it. */
static bool apart(spatial_pair *pair, const boxes *x, spatial_result *result)
{
    for (int k = 0; k < 15; k++) {
        if (x->gap[k] >= x->best - ROUNDING * pair->extent) {
            *result = result_of(pair, x, k, false, ROUNDING * pair->extent);
            if (result->witnessed) {
                perp_spatial_snap(pair, result);
                return true;
            }
        }
    }
    return false;
}

bool perp_spatial_by_box_axes(spatial_pair *pair, spatial_result *result, perp_spatial_trace *trace)
{
    boxes x;
    take_apart(pair, &x);
    if (!measure_faces(&x, pair->limit) || !measure_edges(&x, pair->limit)) {
        *result = (spatial_result){.phi = x.best, .beyond = true};
        return true;
    }
    if (x.best > pair->tolerance) {
        return apart(pair, &x, result);
    }
    spatial_choices choices;
    choices.count = 0;
    choices.tie = false;
    choices.measured = true;
    for (int k = 0; k < 15; k++) {
        if (x.gap[k] >= x.best - pair->tolerance) {
            offer(pair, &x, k, &choices);
        }
    }
    bool witnessed = false;
    for (int i = 0; i < choices.count; i++) {
        witnessed = witnessed || choices.at[i].witnessed;
    }
    if (!witnessed && x.best > -pair->tolerance) { /* corners may be farther apart than any axis shows */
        return false;
    }
    perp_spatial_choices_take(pair, &choices, result, trace);
    return true;
}
