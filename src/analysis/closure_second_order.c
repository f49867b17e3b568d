/* Second-order form closure in the plane (Rimon and Burdick, "Mobility of bodies in contact", 1998).
 *
 * First order leaves the motions v with n_i . v >= 0 at all contacts. Along such a motion the gap of contact i grows by
 * t^2 / 2 (n_i . a + k_i(v)), with the acceleration a free and k_i the curvature of the contact pair along v. Where
 * normals balance, sum l_i n_i = 0 with l_i >= 0, the sum of l_i k_i(v) is what the gaps can grow by on the whole; if
 * it is negative some gap closes whatever a is, and v is not possible. By Farkas' lemma v is possible to second order
 * where no such balance has a negative sum.
 *
 * Balances are sums of *circuits*: two opposite normals, or three in one plane that surround 0 (four would be closure
 * at first order). All motions that are left are square to the normals of all circuits, so these leave a line or, where
 * all of them are pairs along one line of force, a plane of motions; on it each circuit's sum is a quadratic form, and
 * it is enough to look between the directions at which forms or normals change their sign. */
#include "analysis/closure_body.h"
#include "analysis/tolerances.h"
#include "contact/contact_reach.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

enum { PLANE = 3, CIRCUITS_MOST = 400 };

/* One contact as seen from the body. */
typedef struct mobility_contact {
    double normal[PLANE]; /* of the gap, by the motion (v of the center, omega times length) */
    double curvature[2];  /* 1/m: of the other surface, and of the body's */
    perp_vec3 n, arm;     /* unit, to the body; from the center to its witness */
} mobility_contact;

typedef struct mobility_circuit {
    int count, contact[PLANE];
    double weight[PLANE]; /* sum 1 */
} mobility_circuit;

typedef struct mobility {
    double length;
    int contact_count, circuit_count;
    const mobility_contact *contacts;
    mobility_circuit circuits[CIRCUITS_MOST];
    bool cut; /* there were more */
} mobility;

static void cross(const double *a, const double *b, double *out)
{
    const perp_vec3 c = perp_vec3_cross((perp_vec3){a[0], a[1], a[2]}, (perp_vec3){b[0], b[1], b[2]});
    out[0] = c.x;
    out[1] = c.y;
    out[2] = c.z;
}

static double size_of(const double *a)
{
    return sqrt(perp_vector_dot(PLANE, a, a));
}

/* ---- circuits ---------------------------------------------------------------------------------------------------- */

static void add_circuit(mobility *m, mobility_circuit circuit)
{
    double sum = 0.0;
    for (int i = 0; i < circuit.count; i++) {
        sum += circuit.weight[i];
    }
    for (int i = 0; i < circuit.count; i++) {
        circuit.weight[i] /= sum;
    }
    if (m->circuit_count == CIRCUITS_MOST) {
        m->cut = true;
        return;
    }
    m->circuits[m->circuit_count++] = circuit;
}

static void find_pairs(mobility *m)
{
    for (int i = 0; i < m->contact_count; i++) {
        for (int j = i + 1; j < m->contact_count; j++) {
            const double *a = m->contacts[i].normal, *b = m->contacts[j].normal;
            double c[PLANE];
            cross(a, b, c);
            const double both = size_of(a) * size_of(b);
            if (perp_vector_dot(PLANE, a, b) < 0.0 && size_of(c) <= CURVATURE_ROUNDING * both) {
                add_circuit(m, (mobility_circuit){2, {i, j}, {size_of(b), size_of(a)}});
            }
        }
    }
}

/* In one plane with unit normal e, each weight is the area that the other two span. */
static void look_at_triple(mobility *m, const int *t)
{
    const mobility_contact *c = m->contacts;
    double e[PLANE] = {0.0}, part[PLANE][PLANE], weight[PLANE], scale = 0.0;
    for (int k = 0; k < PLANE; k++) {
        cross(c[t[(k + 1) % PLANE]].normal, c[t[(k + 2) % PLANE]].normal, part[k]);
        const double size = size_of(part[k]);
        if (size > scale) {
            scale = size;
            memcpy(e, part[k], sizeof e);
        }
    }
    const double reach = fmax(size_of(c[t[0]].normal), fmax(size_of(c[t[1]].normal), size_of(c[t[2]].normal)));
    bool flat = scale > CURVATURE_ROUNDING * reach * reach;
    for (int k = 0; k < PLANE && flat; k++) {
        weight[k] = perp_vector_dot(PLANE, part[k], e) / scale;
        flat = fabs(perp_vector_dot(PLANE, c[t[k]].normal, e)) <= CURVATURE_ROUNDING * scale * reach;
    }
    const double least = CURVATURE_ROUNDING * reach * reach;
    if (flat && weight[0] > least && weight[1] > least && weight[2] > least) {
        add_circuit(m, (mobility_circuit){PLANE, {t[0], t[1], t[2]}, {weight[0], weight[1], weight[2]}});
    } else if (flat && weight[0] < -least && weight[1] < -least && weight[2] < -least) {
        add_circuit(m, (mobility_circuit){PLANE, {t[0], t[1], t[2]}, {-weight[0], -weight[1], -weight[2]}});
    }
}

static void find_triples(mobility *m)
{
    for (int i = 0; i < m->contact_count; i++) {
        for (int j = i + 1; j < m->contact_count; j++) {
            for (int k = j + 1; k < m->contact_count; k++) {
                look_at_triple(m, (const int[PLANE]){i, j, k});
            }
        }
    }
}

/* ---- along a motion ---------------------------------------------------------------------------------------------- */

/* The second derivative of a gap along a motion at constant velocity of the center and constant turning. With the other
 * surface y = -ka x^2 / 2 and the body's y = kb x^2 / 2 the least distance is at the x where slopes agree. `terms`: the
 * sum of its parts' sizes. */
static double curvature_along(const mobility *m, const mobility_contact *c, const double *v, double *terms)
{
    const double omega = v[2] / m->length, ka = c->curvature[0], kb = c->curvature[1];
    const double slip = (v[0] - omega * c->arm.y) * c->n.y - (v[1] + omega * c->arm.x) * c->n.x;
    const double turning = -omega * omega * perp_vec3_dot(c->n, c->arm);
    double round = 0.0, parts = 0.0;
    if (ka + kb != 0.0) {
        const double part[3] = {ka * kb / (ka + kb) * slip * slip, -2.0 * ka / (ka + kb) * slip * omega,
                                -omega * omega / (ka + kb)};
        round = part[0] + part[1] + part[2];
        parts = fabs(part[0]) + fabs(part[1]) + fabs(part[2]);
    }
    *terms = fabs(turning) + parts;
    return turning + round;
}

/* The least sum over all circuits, over the size of its terms: < 0: this motion is not possible. */
static double least_sum(const mobility *m, const double *v)
{
    double least = INFINITY;
    for (int i = 0; i < m->circuit_count; i++) {
        const mobility_circuit *circuit = &m->circuits[i];
        double sum = 0.0, size = 0.0, terms;
        for (int k = 0; k < circuit->count; k++) {
            sum += circuit->weight[k] * curvature_along(m, &m->contacts[circuit->contact[k]], v, &terms);
            size += circuit->weight[k] * terms;
        }
        least = fmin(least, size > 0.0 ? sum / size : 0.0);
    }
    return least;
}

static bool first_order_allows(const mobility *m, const double *v)
{
    bool allowed = true;
    for (int i = 0; i < m->contact_count; i++) {
        const double *n = m->contacts[i].normal;
        allowed = allowed && perp_vector_dot(PLANE, n, v) >= -CURVATURE_ROUNDING * size_of(n) * size_of(v);
    }
    return allowed;
}

/* ---- all motions --------------------------------------------------------------------------------------------------
 */

static perp_answer judge_line(const mobility *m, const double *v)
{
    const double back[PLANE] = {-v[0], -v[1], -v[2]};
    if (!first_order_allows(m, v) && !first_order_allows(m, back)) {
        return PERP_ANSWER_UNKNOWN; /* first order decides, and rounding has it otherwise */
    }
    const double sum = least_sum(m, v);
    return sum < -CURVATURE_ROUNDING  ? PERP_ANSWER_YES
           : sum > CURVATURE_ROUNDING ? PERP_ANSWER_NO
                                      : PERP_ANSWER_UNKNOWN;
}

/* The motions that are square to the normals of all circuits: a line, which is judged; none; or a plane, which is not.
 */
static perp_answer judge(const mobility *m)
{
    const double *first = m->contacts[m->circuits[0].contact[0]].normal;
    double most = 0.0, line[PLANE] = {0.0};
    for (int i = 0; i < m->circuit_count; i++) {
        for (int k = 0; k < m->circuits[i].count; k++) {
            const double *n = m->contacts[m->circuits[i].contact[k]].normal;
            double c[PLANE];
            cross(first, n, c);
            const double size = size_of(c) / (size_of(first) * size_of(n));
            if (size > most) {
                most = size;
                memcpy(line, c, sizeof line);
            }
        }
    }
    return most > CURVATURE_ROUNDING ? judge_line(m, line) : PERP_ANSWER_UNKNOWN;
}

/* -------------------------------------------------------------------------------------------------------------------
 */

static void set_contact(const analysis_point *point, const closure_body *body, int i, mobility_contact *c)
{
    const perp_contact *contact = &point->set->contacts[body->contacts[i]];
    const bool second = contact->b == body->body;
    double of[2];
    perp_contact_planar_curvatures(point->set, body->contacts[i], of);
    c->curvature[0] = of[second ? 0 : 1];
    c->curvature[1] = of[second ? 1 : 0];
    c->n = perp_vec3_scale(second ? 1.0 : -1.0, contact->normal);
    c->arm = perp_vec3_sub(second ? contact->point_b : contact->point_a, body->center);
    memcpy(c->normal, body->cones.cones[i].normal, sizeof c->normal);
}

perp_status perp_closure_second_order(const analysis_point *point, const closure_body *body, perp_arena *arena,
                                      perp_answer *answer)
{
    mobility *m = PERP_ARENA_NEW(arena, mobility, 1);
    mobility_contact *contacts = PERP_ARENA_NEW(arena, mobility_contact, (size_t)body->cones.count);
    if (!m || !contacts) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    for (int i = 0; i < body->cones.count; i++) {
        set_contact(point, body, i, &contacts[i]);
    }
    m->length = body->length;
    m->contacts = contacts;
    m->contact_count = body->cones.count;
    find_pairs(m);
    find_triples(m);
    *answer = m->circuit_count == 0 ? PERP_ANSWER_NO : judge(m);
    if (m->cut && *answer == PERP_ANSWER_NO) {
        *answer = PERP_ANSWER_UNKNOWN;
    }
    return PERP_STATUS_OK;
}
