/* perp/geometry.h - signed distances, and which pairs are near.
 *
 * Conventions: a pair (a, b) is ordered; the normal is unit and points from a to b; phi > 0 is separation, phi < 0 the
 * depth of the shortest translation that separates; the witnesses lie on the surfaces and
 * point_b - point_a = phi * normal. Planar queries live in x-y: z is 0 in and out.
 *
 * Nothing here allocates, except where a function says so.
 */
#ifndef PERP_GEOMETRY_H
#define PERP_GEOMETRY_H

#include <perp/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The answer of every distance query. */
typedef struct perp_separation {
    double phi;                 /* m */
    perp_vec3 normal;           /* unit, from a to b */
    perp_vec3 point_a, point_b; /* witnesses, on the surfaces */
    bool tie;                   /* another normal is as good to rounding; the choice is the same every time */
    bool uncertified;           /* a search ended before its bounds met: phi is a bound (about one pair in 10^6) */
} perp_separation;

/* What of a shape makes a contact point. A feature is kind + 8 * index, so that one number names it. */
typedef enum perp_feature_kind {
    PERP_FEATURE_CORNER,  /* of a polygon, box or hull; end of a capsule's segment; a point, a sphere's or disc's centre
                           */
    PERP_FEATURE_EDGE,    /* of a polygon (from corner `index`), box or hull; a capsule's segment */
    PERP_FEATURE_FACE,    /* of a box or hull; end of a cylinder: 0 at -z, 1 at +z */
    PERP_FEATURE_SIDE,    /* of a cylinder; index 0 and 1: the ends of the line of contact */
    PERP_FEATURE_RIM,     /* end circle of a cylinder, mouth of a hole: 16 * end + place; 32 + end: the point of a
                           * cylinder's rim that runs around it as the other shape moves */
    PERP_FEATURE_SURFACE, /* of an ellipsoid, plane, halfplane or bore */
    PERP_FEATURE_SUPPORT, /* a point that a planar body rests on; of no shape */
    PERP_FEATURE_KIND_COUNT
} perp_feature_kind;

static inline int perp_feature(perp_feature_kind kind, int index)
{
    return (int)kind + 8 * index;
}
static inline perp_feature_kind perp_feature_kind_of(int feature)
{
    return (perp_feature_kind)(feature % 8);
}
static inline int perp_feature_index(int feature)
{
    return feature / 8;
}

enum { PERP_MANIFOLD_MAX = 12 };

/* A point of a manifold. The pair of features names the point within its manifold and stays the same from step to step
 * while the same features face each other. */
typedef struct perp_manifold_point {
    perp_separation at; /* phi: this point's own gap, along this point's normal */
    int feature_a, feature_b;
} perp_manifold_point;

typedef struct perp_manifold {
    int count;
    perp_manifold_point points[PERP_MANIFOLD_MAX];
} perp_manifold;

/* Two indices, of boxes or of bodies as the function says. */
typedef struct perp_index_pair {
    int a, b;
} perp_index_pair;

/* ---- broad phase: which boxes overlap ------------------------------------------------------------------------- */

/* A closed axis-aligned box in the world, low <= high in every coordinate: boxes that only touch overlap, a box may
 * have no thickness. Infinite coordinates are allowed (planes, half-spaces); each box that has one is compared with
 * every other box, so they should be few. Half of a contact margin belongs in each box; the caller adds it. */
typedef struct perp_broad_phase_box {
    perp_vec3 low, high; /* m */
    int body;            /* body index; -1: the world */
    bool fixed;          /* the body never moves; two fixed boxes are not reported */
} perp_broad_phase_box;

typedef struct perp_broad_phase_settings {
    int max_pairs; /* more overlapping pairs than this are a CAPACITY error; default 2^31 - 1: memory is the limit */
} perp_broad_phase_settings;

/* What one search found. `pairs` belongs to the workspace and lasts until its next call. */
typedef struct perp_broad_phase_result {
    const perp_index_pair *pairs; /* indices of boxes, a < b, ascending by a and then by b */
    int count;
    bool grew;     /* memory was taken: more boxes or more pairs than ever before */
    bool rebuilt;  /* the search tree was made anew; otherwise it was kept and fitted to the moved boxes */
    int64_t tests; /* comparisons of two boxes that the search took */
} perp_broad_phase_result;

/* The workspace. One thread at a time may use it. */
typedef struct perp_broad_phase perp_broad_phase;

/* `settings` NULL: the default ones; `allocator` NULL: malloc. On failure (OUT_OF_MEMORY) *workspace is NULL. */
PERP_API perp_status perp_broad_phase_create(const perp_broad_phase_settings *settings, const perp_allocator *allocator,
                                             perp_broad_phase **workspace, perp_error *error);
PERP_API void perp_broad_phase_free(perp_broad_phase *workspace); /* NULL allowed */

/* Takes memory for `boxes` boxes and `pairs` pairs now, so that later searches within these numbers take none; pairs
 * that are later filtered out need no room. OUT_OF_MEMORY leaves the workspace as large as it was. */
PERP_API perp_status perp_broad_phase_reserve(perp_broad_phase *workspace, int boxes, int pairs, perp_error *error);

/* All pairs of overlapping boxes, except those of one body, of two fixed boxes, and of two bodies that `excluded`
 * lists (indices of bodies, a < b, strictly ascending by a and then by b; NULL if excluded_count is 0).
 *
 * The result depends on the arguments only. Its cost also depends on the call before: for as many boxes that have
 * moved little, the search tree is kept. Takes memory only where result->grew says so.
 *
 * BAD_INPUT: a coordinate is NaN, a low above its high, or `excluded` not as said. CAPACITY: more than max_pairs
 * pairs. OUT_OF_MEMORY. On failure the result is empty and the workspace good for another call. */
PERP_API perp_status perp_broad_phase_find(perp_broad_phase *workspace, const perp_broad_phase_box *boxes, int count,
                                           const perp_index_pair *excluded, int excluded_count,
                                           perp_broad_phase_result *result, perp_error *error);

/* ---- planar: distances and manifolds ---------------------------------------------------------------------------- */

typedef enum perp_planar_kind {
    PERP_PLANAR_CORE,      /* a convex polygon, a segment or a point, grown by a radius */
    PERP_PLANAR_HALFPLANE, /* solid where normal . x <= offset */
    PERP_PLANAR_HOLE       /* solid outside a circle */
} perp_planar_kind;

/* What of a convex part is surface of the polygon that it was cut from; one for each corner of the part. */
typedef struct perp_planar_border {
    bool edge;               /* the part's edge from this corner is an edge of the polygon; false: a cut through it */
    bool convex;             /* the polygon's own angle at this corner is below 180 degrees */
    perp_vec3 before, after; /* unit, along the polygon's own edges into and out of this corner, counter-clockwise */
} perp_planar_border;

/* A planar shape in the world. disc: 1 corner and a radius; capsule: 2 and a radius; box and convex part: 3 or more,
 * counter-clockwise (collinear corners are allowed, repeated ones are not), usually with radius 0; point: 1, radius 0.
 * The corners stay the caller's. */
typedef struct perp_planar_shape {
    perp_planar_kind kind;
    int count;                         /* CORE: corners */
    const perp_vec3 *corners;          /* CORE */
    double radius;                     /* CORE: of the rounding, >= 0; HOLE: of the circle */
    perp_vec3 normal;                  /* HALFPLANE: unit */
    double offset;                     /* HALFPLANE */
    perp_vec3 centre;                  /* HOLE */
    const perp_planar_border *borders; /* CORE: of a part of a polygon; NULL: all of it is surface */
} perp_planar_shape;

/* Signed distance of two shapes, in O(corners of a + corners of b).
 *
 * Ties. Normals whose separations differ by no more than `tolerance` = 4e-9 m + 2e-9 (size of a + size of b) are
 * equally good, so that moving either body by 1e-9 m or rad does not flip a tie that is exact by design. Of those, the
 * first in this order is taken: edges of a by index, edges of b by index, corner to corner. `tie` is set if another one
 * differs by more than 1e-6 rad. Then phi is the separation along the normal taken, at most `tolerance` from the best,
 * and swapping a and b may give another of the tied normals. In the open, where the normal is unique, the same rule
 * only lengthens an edge's region by `tolerance` at both ends: two equal boxes, stacked, have the normal of their sides
 * and not that of two corners 1e-12 m apart. Centres that coincide to half of `tolerance` have the normal +x.
 *
 * A core in a hole: phi is the smallest gap of its points to the circle, R - r - max |corner - centre|. Where several
 * corners are out of the hole no single translation need bring them back (a pin thicker than its hole), so below zero
 * it is the depth of the deepest point. The order of ties is that of the corners; a corner within half of `tolerance`
 * of the centre has the normal +x.
 *
 * Parts of a polygon, with `borders`: a normal counts only if it leaves the polygon there, through an edge that is no
 * cut or at a corner between the polygon's own edges. Overlapping cores have the least depth among what counts. Where
 * nothing does there is no contact, and another part has what there is: phi is +infinity, normal and witnesses are
 * zero.
 *
 * Hole and hole, hole and halfplane, halfplane and halfplane are unbounded and overlap without end wherever they are,
 * but for halfplanes that exactly face each other; no translation would separate them. They make no contact: phi is
 * +infinity, normal and witnesses are zero. */
PERP_API perp_separation perp_planar_distance(const perp_planar_shape *a, const perp_planar_shape *b);

/* The points of the closest features; those beyond a margin are the caller's to drop. The smallest gap is the phi of
 * perp_planar_distance, whose normal and ties hold here too.
 *   corner to corner, or a disc or point against anything but a hole: 1 point
 *   edge (or segment) to edge or segment: 2; the edge with the larger separation is the reference, the other shape's
 *     edge most nearly antiparallel to it is clipped to its ends, and gaps are taken along its normal; 1 if what the
 *     clipping leaves has no length
 *   core on halfplane: the 2 corners of the edge nearest to parallel, however tilted
 *   disc, point or each end of a capsule in a hole: 4, at the nearest place of the wall and then 90, 180 and 270
 *     degrees on, counter-clockwise (from +x where it is in the middle, which is a tie): so a body that is driven away
 *     from the nearest wall finds the others listed. Along the outward direction u of the place the gap is
 *     R - r - u . (corner - centre); the hole's label is surface 0 to 3. Witnesses are the places of both surfaces
 *     where u is normal: at 90 and 270 degrees point_b - point_a is phi normal and, along the wall, as much as the
 *     corner is off the centre. A disc in the middle, off it by no more than half of the tolerance, has its smallest
 *     gap within the tolerance of phi
 *   other core in hole: every corner up to 4, else the farthest one in each quarter around the farthest one's
 *     direction, each with its own radial normal
 *   pairs without contact: 0; of parts of a polygon, corners that turn inwards and cuts make no points
 * At most 4 points, of a capsule in a hole 8: those of its first end, then those of the other. Two come in the order of
 * a's edge (of b's, reversed, where a has none). A feature is a corner, an edge (of several collinear ones the first)
 * or, of a halfplane or hole, the surface. */
PERP_API perp_manifold perp_planar_manifold_build(const perp_planar_shape *a, const perp_planar_shape *b);

/* ---- spatial: shapes --------------------------------------------------------------------------------------------- */

/* A face of a convex polytope: a convex polygon, its corners counter-clockwise seen from outside, as
 * loops[start] .. loops[start + count - 1]. */
typedef struct perp_spatial_face {
    perp_vec3 normal; /* unit, in the polytope's frame */
    double offset;    /* normal . x = offset on the face; no corner is above it by more than rounding */
    int start, count;
} perp_spatial_face;

/* An edge of a convex polytope and the two faces that meet there. */
typedef struct perp_spatial_edge {
    int corners[2];
    int faces[2];
    perp_vec3 along; /* unit, from corners[0] to corners[1] */
} perp_spatial_edge;

/* A convex hull made ready for distance queries: coplanar triangles are one face. Read-only after it is made; any
 * number of shapes and threads may share it. */
typedef struct perp_spatial_hull {
    int corner_count, face_count, edge_count;
    perp_vec3 *corners;
    perp_spatial_face *faces;
    int *loops;
    perp_spatial_edge *edges;
    /* edges that meet at corner i: corner_edges[corner_start[i]] .. corner_edges[corner_start[i + 1] - 1]; 2 edge_count
     * in all. Across an edge stands the neighbour. */
    int *corner_start, *corner_edges;
    perp_vec3 low, high; /* box of the corners, in the polytope's frame, m */
    double size;         /* a ball of this diameter about the frame's origin holds the hull, m */
    perp_allocator allocator;
} perp_spatial_hull;

/* Makes a hull ready. `triangles` are 3 * triangle_count indices of `points`, counter-clockwise seen from outside, of a
 * closed convex surface with a volume, as perp_hull has them; both are copied. Corners within 1e-12 of the extent of a
 * triangle's plane, reached over shared edges, are in its face; points that are thereby in the middle of a face, and
 * points of no triangle, are no corners. BAD_INPUT: an index out of range, or an edge that is
 * not shared by exactly two triangles; OUT_OF_MEMORY. On failure the hull is empty. */
PERP_API perp_status perp_spatial_hull_prepare(const perp_vec3 *points, int point_count, const int *triangles,
                                               int triangle_count, const perp_allocator *allocator,
                                               perp_spatial_hull *hull, perp_error *error);
PERP_API void perp_spatial_hull_free(perp_spatial_hull *hull); /* an empty one is allowed */

/* In this order: flat ones, curved ones, unbounded ones. */
typedef enum perp_spatial_kind {
    PERP_SPATIAL_POINT,     /* the origin of the pose, grown by `radius`: a point or a sphere */
    PERP_SPATIAL_SEGMENT,   /* local z from -half_length to +half_length, grown by `radius`: a capsule */
    PERP_SPATIAL_BOX,       /* centred, half_lengths */
    PERP_SPATIAL_HULL,      /* a convex hull */
    PERP_SPATIAL_CYLINDER,  /* along local z, half_length and radius */
    PERP_SPATIAL_ELLIPSOID, /* centred, half_lengths are its semi-axes */
    PERP_SPATIAL_HALFSPACE, /* solid where local z <= 0 */
    PERP_SPATIAL_HOLE       /* solid outside the bore: where |local z| <= half_length and hypot(x, y) >= radius */
} perp_spatial_kind;
enum { PERP_SPATIAL_KIND_COUNT = PERP_SPATIAL_HOLE + 1 };

/* A spatial shape in the world. The hull stays the caller's. Lengths are positive, a radius of POINT or SEGMENT may be
 * zero. A box's corner i has the sign bits of i: bit 0 for +x, bit 1 for +y, bit 2 for +z; its face 2 k looks along
 * +axis k, 2 k + 1 along -axis k. */
typedef struct perp_spatial_shape {
    perp_spatial_kind kind;
    perp_vec3 position;
    perp_mat3 rotation;
    double radius;          /* POINT, SEGMENT, CYLINDER, HOLE */
    double half_length;     /* SEGMENT, CYLINDER, HOLE */
    perp_vec3 half_lengths; /* BOX, ELLIPSOID */
    const perp_spatial_hull *hull;
} perp_spatial_shape;

/* ---- spatial: distances and manifolds -----------------------------------------------------------------------------
 */

/* Signed distance of two shapes.
 *
 * Ties. Let `tolerance` = 4e-9 m + 2e-9 (size of a + size of b). For shapes that touch or overlap, normals whose
 * separations differ by no more than `tolerance` are equally good. Of those the first is taken in this order: faces of
 * a by index, faces of b by index, then the one that reaches farthest along a fixed direction of a's frame. `tie` is
 * set if another one differs by more than 1e-6 rad. Then phi is the separation along the normal taken, at most
 * `tolerance` from the best, and swapping a and b may give another of the tied normals. Coinciding centres of spheres
 * have the normal +x; a sphere's centre on a capsule's segment and crossing or overlapping segments a normal square to
 * the segments. Apart, where the normal is unique, that of a face is taken if the nearest points are over the face to
 * `tolerance`; `tie` is set if it differs from their line by more than 1e-6 rad. A size is the diameter of a ball about
 * the shape's position that holds it, without the radius of POINT and SEGMENT (with it in a hole).
 *
 * A shape against a hole: the solid around the bore is the union, over all directions square to its axis, of the half
 * plates whose edge touches the bore on that side. phi is the smallest of the signed distances to them, each that of
 * two convex shapes. So apart it is the distance of the shape and the solid; overlapping it is the depth in the half
 * plate that is worst, for no single translation need bring back what is out of the bore on several sides: R - r for a
 * pin thicker than its hole; as far as it has come below the face for an end that enters beside its hole. The normal is
 * radial on the wall, axial at a face, between the two at a rim. A hole's size is its radius. Where the signed
 * distances are the same for all directions to twice the tolerance (a pin within the tolerance of coaxial), which is a
 * tie, the normal and phi are those at the hole's +x unless that is worse than the best by more than the tie tolerance;
 * else the first of tied directions is taken, counting from 0.1 rad before +x.
 *
 * Halfspace and halfspace, hole and halfspace, hole and hole are unbounded and make no contact: phi is +infinity,
 * normal and witnesses are zero. */
PERP_API perp_separation perp_spatial_distance(const perp_spatial_shape *a, const perp_spatial_shape *b);

/* The points of the closest features; none if the shapes are farther apart than `margin` (INFINITY allowed), which is
 * found out early. Single points beyond it are the caller's to drop. The smallest gap is the phi of
 * perp_spatial_distance to its tie tolerance; its normal n and ties hold here too. Below, `face` is a face of a box or
 * hull or an end of a cylinder, namely the one that faces the other shape: of those that hold most of the shape's
 * corners farthest along n (to 4 tolerances) the most aligned with n, of equal ones (1e-8) that of lowest index; a
 * cylinder shows an end where its axis is within 45 degrees of n, else its side. Adjacent faces of a hull that are
 * within 1e-6 rad of it count as one with it, under the lowest index; where they make the smallest gap lie within the
 * polygon, the witnesses of the distance are a further point.
 *
 *   anything on a halfspace, however tilted: the corners of its face; both ends of a capsule or of a cylinder's lowest
 *     line; of a cylinder's end 6 fixed places of the rim, 60 degrees apart from local x on, and, where the end is
 *     tilted so much that it may be lower than these by more than the tolerance, the places half-way between them (6 to
 *     11) on its lower half, and the lowest point of the rim (32 + end) in place of any that is as low
 *   face and face, if n is the normal of one (1e-6 rad; the other then within 84 degrees of n), or within 25 degrees
 *     of one and within 60 of the other: the faces' shadows along n on a plane square to n are intersected, and each
 *     vertex of that polygon is lifted back to both faces; gaps are along n. A cylinder's end is a 16-gon inscribed
 *     in its rim, place k at 22.5 k degrees from local x; where it is tilted so much that the polygon may miss the
 *     smallest gap, the corner nearest to the farthest point along n, or to the witness, is moved there along the rim
 *     and is called 32 + end. A hull's face of more than
 *     32 corners is thinned to 32 as below
 *   capsule or cylinder's side over a face, if n is the face's normal and the axis within 45 degrees of its plane, or
 *     n is within 25 degrees of the one and square to the other to as much: the ends of that part of the line that is
 *     over the face, gaps along n. Likewise an edge of a hull whose faces are both steeper than 84 degrees and which is
 *     square to n to 0.1 rad, over a face with the normal n. Where the line passes, or the witnesses are on, an edge of
 *     a box or hull that is parallel to it to 0.17 rad, also the ends of the overlap of line and edge, as below, save
 *     those where the line is nearer to the face
 *   two lines (a capsule's segment, a cylinder's side, an edge) that hold the witnesses, are square to n to 0.1 rad
 *     and parallel to 0.17 rad: the ends of their overlap, each with its own nearest points, normal and gap (the two
 *     ends themselves where they are side by side), save those where a face beside an edge is nearer; and the witnesses
 *     of the distance if closer than these by more than the tolerance
 *   all else, such as a corner, crossing edges, a point, a sphere or an ellipsoid against anything: 1 point
 *   in a hole: a sphere, or each end of a capsule or cylinder, against the wall or the rim that it passes: where it is
 *     nearest, and 90, 180 and 270 degrees around the bore from there, so up to 4 points or 2 x 4; each has its own
 *     normal, radial on the wall, and the gap R - (reach of the end in that direction). An ellipsoid likewise on the
 *     wall, else 1 point. Of a box or hull each corner in the bore against the wall and each edge through a mouth
 *     against its rim, at most 8. Beside the plate as on a halfspace, what is over solid. The hole's feature is the
 *     bore's SURFACE or a mouth's RIM (16 * mouth), each + 0 for the nearest direction and + 1, 2, 3 for those on from
 *     it, counter-clockwise about local z. In these, point_b is on the plane or line that touches the bore in that
 *     direction, so that point_b - point_a = phi normal: in the solid by hypot(R, t) - R, t its distance from where
 * that touches; below (R - r)^2 / 2 R for a round pin that fits pairs without contact: 0
 *
 * The vertices of a polygon come counter-clockwise about n (seen from b), beginning with the lowest pair of labels. Of
 * more than 8 the one whose triangle with its neighbours is smallest is dropped, again and again, of equal ones (to
 * 1e-7 of the polygon's area, or half its border times the tolerance) that of highest label; that of smallest gap
 * stays, of equal ones (half the tolerance) that of lowest label. Of faces that are tilted, so that gaps differ by more
 * than the tolerance, up to 4 come back: again and again the one whose triangle, times how much its gap is below the
 * largest one, is largest. No two vertices are nearer than twice the tolerance,
 * none is within the tolerance of the line of its neighbours.
 *
 * Labels. A corner over a face is corner x face, two corners within the tolerance corner x corner, crossing borders
 * edge x edge; a corner within the tolerance of a face's border is over the face. Box edges: 4 axis + sign bits of the
 * other two axes, the lower axis first. A capsule's corners are its ends (0 at -z), else edge 0. A cylinder's rim is
 * named by place, arcs by the place they begin at, and 32 + end for the one point that runs around it: the lowest on a
 * halfspace, the moved corner, a single nearest point; its side has index 0 and 1 for the ends of a line of contact
 * towards -z and +z, and 2 for any other point.
 *
 * Normals. The points of a polygon, and of anything on a halfspace or over a face, share the normal n. The ends of two
 * lines have each its own, from nearest point to nearest point: edges that are not quite parallel and far apart pass
 * each other on different sides. The points in a hole have each its own, too.
 *
 * A capsule's end counts as a ball: its point is the ball's point farthest along the normal, its gap that of the ball.
 * For the end that points to the other shape, and for both of a capsule that lies level, this is on the surface. The
 * other end of a capsule whose axis leans by the angle `tilt` has its point inside the surface by r (1 - cos tilt): no
 * point of the surface there is nearest, the side being nearer all the way to the first end. Its gap still is the one
 * that closes when the capsule lies down, changes with the pose without a jump, and belongs to a point fixed to the
 * end, so that a step may trust it. All other witnesses are on the surfaces, as far as those of the distance are. */
PERP_API perp_manifold perp_spatial_manifold_build(const perp_spatial_shape *a, const perp_spatial_shape *b,
                                                   double margin);

/* Curvature of a shape's surface at a point with the unit outer normal `normal_out`, on the given feature: the
 * symmetric tensor K in world axes with K normal_out = 0 and u . K u the curvature along a unit tangent u, positive
 * where the solid is convex, 1/m. Faces and halfspaces 0; sharp corners and edges 1e9 across, edges 0 along; balls,
 * capsules and cylinders 1/radius (1e9 at most); the rim of a cylinder or of a hole's mouth 1e9 across, and along it
 * (normal_out . radial)/radius; ellipsoids exactly; a hole's bore -1/radius across its axis. */
PERP_API perp_mat3 perp_spatial_curvature(const perp_spatial_shape *shape, int feature, perp_vec3 normal_out,
                                          perp_vec3 point);

#ifdef __cplusplus
}
#endif
#endif
