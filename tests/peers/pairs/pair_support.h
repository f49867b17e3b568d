/* pair_support.h - how far shapes reach, in closed form: a yardstick that shares nothing with the library's queries.
 *
 * The gap of two convex shapes along any unit direction is a lower bound of their signed distance, and the distance of
 * any two of their points is an upper one where they are apart. So a normal and two witnesses that give the same number
 * are a proof, whoever found them.
 */
#ifndef PERP_TESTS_PEERS_PAIR_SUPPORT_H
#define PERP_TESTS_PEERS_PAIR_SUPPORT_H

#include <perp/geometry.h>

/* Along a unit direction of the shape's own frame. A half-space is bounded along its normal only. Not for holes. */
static inline double pair_reach_local(const perp_spatial_shape *s, perp_vec3 d)
{
    const perp_vec3 h = s->half_lengths;
    double best = -INFINITY;
    switch (s->kind) {
    case PERP_SPATIAL_POINT:
        return s->radius;
    case PERP_SPATIAL_SEGMENT:
        return s->radius + s->half_length * fabs(d.z);
    case PERP_SPATIAL_CYLINDER:
        return s->radius * sqrt(d.x * d.x + d.y * d.y) + s->half_length * fabs(d.z);
    case PERP_SPATIAL_BOX:
        return h.x * fabs(d.x) + h.y * fabs(d.y) + h.z * fabs(d.z);
    case PERP_SPATIAL_ELLIPSOID:
        return perp_vec3_norm(perp_vec3_make(h.x * d.x, h.y * d.y, h.z * d.z));
    case PERP_SPATIAL_HULL:
        for (int i = 0; i < s->hull->corner_count; i++) {
            best = fmax(best, perp_vec3_dot(d, s->hull->corners[i]));
        }
        return best;
    default:
        return d.z > 1.0 - 1e-9 ? 0.0 : INFINITY;
    }
}

/* Along a unit direction of the world, measured from `origin`. */
static inline double pair_reach(const perp_spatial_shape *s, perp_vec3 origin, perp_vec3 d)
{
    return perp_vec3_dot(d, perp_vec3_sub(s->position, origin)) +
           pair_reach_local(s, perp_mat3_tmul_vec(&s->rotation, d));
}

/* The gap along n, from a to b. */
static inline double pair_gap_along(const perp_spatial_shape *a, const perp_spatial_shape *b, perp_vec3 n)
{
    return -pair_reach(b, a->position, perp_vec3_scale(-1.0, n)) - pair_reach(a, a->position, n);
}

/* Half of the smallest extent of a bounded shape; infinity for the others. */
static inline double pair_thickness(const perp_spatial_shape *s)
{
    const perp_vec3 h = s->half_lengths;
    double least = INFINITY;
    switch (s->kind) {
    case PERP_SPATIAL_POINT:
    case PERP_SPATIAL_SEGMENT:
        return s->radius;
    case PERP_SPATIAL_CYLINDER:
        return fmin(s->radius, s->half_length);
    case PERP_SPATIAL_BOX:
    case PERP_SPATIAL_ELLIPSOID:
        return fmin(h.x, fmin(h.y, h.z));
    case PERP_SPATIAL_HULL:
        for (int f = 0; f < s->hull->face_count; f++) {
            const perp_spatial_face *face = &s->hull->faces[f];
            const double back = pair_reach_local(s, perp_vec3_scale(-1.0, face->normal));
            least = fmin(least, 0.5 * (face->offset + back));
        }
        return least;
    default:
        return INFINITY;
    }
}

/* Largest distance of a point of a bounded shape from its origin, at most. */
static inline double pair_radius(const perp_spatial_shape *s)
{
    const perp_vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        const double r = fmax(pair_reach_local(s, axes[k]), pair_reach_local(s, perp_vec3_scale(-1.0, axes[k])));
        sum += r * r;
    }
    return sqrt(sum);
}

#endif
