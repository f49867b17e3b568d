/* spatial_mirror.c - a manifold as the other shape of its pair sees it. */
#include "geometry/spatial_mirror.h"

#include "geometry/spatial_features.h"

double perp_manifold_least_gap(const perp_manifold *m)
{
    double least = INFINITY;
    for (int i = 0; i < m->count; i++) {
        least = m->points[i].at.phi < least ? m->points[i].at.phi : least;
    }
    return least;
}

void perp_spatial_mirror(perp_manifold *m)
{
    for (int i = 0; i < m->count; i++) {
        const perp_manifold_point p = m->points[i];
        perp_manifold_point *q = &m->points[i];
        q->at.normal = perp_vec3_scale(-1.0, p.at.normal);
        q->at.point_a = p.at.point_b;
        q->at.point_b = p.at.point_a;
        q->feature_a = p.feature_b;
        q->feature_b = p.feature_a;
    }
}

void perp_spatial_turn_round(perp_manifold *m)
{
    perp_spatial_mirror(m);
    const perp_manifold old = *m;
    int ring = m->count;
    if (ring > 0 && perp_feature_kind_of(old.points[ring - 1].feature_b) == PERP_FEATURE_RIM &&
        perp_feature_index(old.points[ring - 1].feature_b) >= SPATIAL_RIM_RUNNING) {
        ring--;
    }
    for (int i = 1; i < ring && ring > 2; i++) {
        m->points[i] = old.points[ring - i];
    }
}
