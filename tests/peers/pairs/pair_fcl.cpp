/* C++ because FCL is; what it offers the tests is C. */
#include "pair_peers.h"

#include <fcl/config.h>
#include <fcl/geometry/shape/box.h>
#include <fcl/geometry/shape/capsule.h>
#include <fcl/geometry/shape/convex.h>
#include <fcl/geometry/shape/cylinder.h>
#include <fcl/geometry/shape/ellipsoid.h>
#include <fcl/geometry/shape/sphere.h>
#include <fcl/narrowphase/distance.h>

#include <exception>
#include <memory>
#include <vector>

namespace
{

std::shared_ptr<fcl::CollisionGeometryd> convex(const perp_spatial_hull &hull)
{
    auto corners = std::make_shared<std::vector<fcl::Vector3d>>();
    auto faces = std::make_shared<std::vector<int>>();
    for (int i = 0; i < hull.corner_count; i++) {
        corners->emplace_back(hull.corners[i].x, hull.corners[i].y, hull.corners[i].z);
    }
    for (int f = 0; f < hull.face_count; f++) {
        faces->push_back(hull.faces[f].count);
        for (int i = 0; i < hull.faces[f].count; i++) {
            faces->push_back(hull.loops[hull.faces[f].start + i]);
        }
    }
    return std::make_shared<fcl::Convexd>(corners, hull.face_count, faces);
}

std::shared_ptr<fcl::CollisionGeometryd> geometry(const perp_spatial_shape &s)
{
    switch (s.kind) {
    case PERP_SPATIAL_POINT:
        return std::make_shared<fcl::Sphered>(s.radius);
    case PERP_SPATIAL_SEGMENT:
        return std::make_shared<fcl::Capsuled>(s.radius, 2.0 * s.half_length);
    case PERP_SPATIAL_BOX:
        return std::make_shared<fcl::Boxd>(2.0 * s.half_lengths.x, 2.0 * s.half_lengths.y, 2.0 * s.half_lengths.z);
    case PERP_SPATIAL_CYLINDER:
        return std::make_shared<fcl::Cylinderd>(s.radius, 2.0 * s.half_length);
    case PERP_SPATIAL_ELLIPSOID:
        return std::make_shared<fcl::Ellipsoidd>(s.half_lengths.x, s.half_lengths.y, s.half_lengths.z);
    case PERP_SPATIAL_HULL:
        return convex(*s.hull);
    default:
        return nullptr;
    }
}

fcl::Transform3d pose(const perp_spatial_shape &s)
{
    fcl::Transform3d t = fcl::Transform3d::Identity();
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++) {
            t.linear()(row, column) = s.rotation.m[3 * row + column];
        }
    }
    t.translation() = fcl::Vector3d(s.position.x, s.position.y, s.position.z);
    return t;
}

} // namespace

bool pair_fcl_has(perp_spatial_kind a, perp_spatial_kind b)
{
    const auto bounded = [](perp_spatial_kind k) { return k != PERP_SPATIAL_HALFSPACE && k != PERP_SPATIAL_HOLE; };
    return bounded(a) && bounded(b);
}

bool pair_fcl_distance(const perp_spatial_shape *a, const perp_spatial_shape *b, double tolerance, double *phi)
{
    try {
        const auto p = geometry(*a), q = geometry(*b);
        const fcl::DistanceRequestd request(true, false, 0.0, 0.0, tolerance, fcl::GST_LIBCCD);
        fcl::DistanceResultd result;
        fcl::distance(p.get(), pose(*a), q.get(), pose(*b), request, result);
        *phi = result.min_distance;
        return true;
    } catch (const std::exception &) {
        return false;
    }
}

const char *pair_fcl_version(void)
{
    return FCL_VERSION;
}
