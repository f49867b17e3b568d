/* tolerances.h - every tolerance of geometry. Each has its unit first, then what it decides and where it comes from.
 * "Of the extent": of the sizes and the distance of a pair, which its coordinates, and so their rounding, are as large
 * as. A double is rounded by 1.1e-16 of itself. */
#ifndef PERP_SRC_GEOMETRY_TOLERANCES_H
#define PERP_SRC_GEOMETRY_TOLERANCES_H

/* ---- ties: a pose that is off by 1e-9 m or rad must not flip what is equal by design ---------------------------- */

/* rad: what a pose may be off by. Polygons: a corner bent by less is straight, and touches along its edges' normals. */
static const double POSE_TURN = 1e-9;
/* m: separations that differ by less are equal. Two bodies that move by 1e-9 m each change the difference of two
 * separations by 4e-9 m. */
static const double TIE_LENGTH = 4e-9;
/* of the sum of the sizes: the same for bodies that turn by 1e-9 rad about any point of theirs. */
static const double TIE_OF_SIZES = 2e-9;
/* rad: directions that are nearer to each other are one, and their tie is not told. Far above what poses are off by,
 * and far below what changes a contact. */
static const double SAME_DIRECTION = 1e-6;
/* none: the cosine of SAME_DIRECTION. */
static const double SAME_DIRECTION_COSINE = 1.0 - 5e-13;
/* of a cosine: faces and edges that differ by less face a direction equally, and their index decides. Poses that are
 * off by 1e-9 rad change a cosine by at most 2e-9. */
static const double EQUALLY_ALIGNED = 1e-8;
/* of the polygon's area: triangles that differ by less are equally good to be cut off a manifold. */
static const double AREAS_EQUAL = 1e-7;
/* of the radius, or of the sum of the sizes: how well the witnesses on a rim, or on faces of one direction, are known.
 * Gaps change with the square of a witness's error, so that rounding leaves about its square root, 1e-8 of the extent,
 * and more where the surfaces curve alike. */
static const double WITNESS_KNOWN = 1e-5;
/* m: a gap that is better by less does not take the place of a choice whose witnesses are known. */
static const double WORTH_WITNESSES = 1e-12;

/* What counts as equal between two shapes, m; see perp_planar_distance and perp_spatial_distance. */
static inline double tie_tolerance(double sizes)
{
    return TIE_LENGTH + TIE_OF_SIZES * sizes;
}

/* ---- rounding --------------------------------------------------------------------------------------------------- */

/* of the extent, or of the largest coordinate: gaps and heights that differ by less are equal; about a hundred
 * roundings, which is more than their formulas have. */
static const double ROUNDING = 1e-14;
/* of the extent: two lengths that differ by less are the same number but for its last digits, so that one proves the
 * other; a slope d gap / d angle below it is zero. */
static const double SAME_NUMBER = 1e-15;
/* of the extent, or rad: a change that is less than one rounding is no progress. */
static const double NO_PROGRESS = 1e-16;
/* of the extent: heights over a face that differ by less are level, so that what is parallel by design touches with its
 * middle; rounding of turned corners leaves less. */
static const double LEVEL_BY_DESIGN = 4e-15;
/* rad: an axis that is as near to the bore's, or to being square to it, is so by design; rounding of a turned axis
 * leaves less. */
static const double AXIS_BY_DESIGN = 2e-15;
/* of the extent: corners as near to a plane are in that face of a hull. A hundred times ROUNDING, as corners come from
 * other programs. */
static const double HULL_FLAT = 1e-12;

/* ---- cores that are apart: spatial_gjk.c, spatial_boxes.c ------------------------------------------------------- */

/* of a length: two formulas for one length agree to this unless the triangle is too thin for one of them. */
static const double LENGTH_ERROR = 1e-12;
/* of the extent: bounds of the distance that meet to this are an answer; those that do not leave the pair to the
 * methods for overlaps. */
static const double BOUNDS_MEET = 1e-11;
/* of the larger size: cores whose normal is known are moved apart by at least this to find their witnesses, far enough
 * for the direction of what is between them to be right to rounding / 1e-3. */
static const double MOVED_OUT = 1e-3;
/* rad: edges of boxes that are nearer to parallel make no axis of their own; the faces beside them are as good, to less
 * than the tie tolerance. */
static const double BOX_EDGES_PARALLEL = 1e-10;

/* ---- Newton's method for the normal: spatial_polish.c ----------------------------------------------------------- */

/* of the extent: how far the witnesses of a polished normal may be from being in line with it, for cores that overlap.
 * phi is the gap along the normal whatever they are, and its error of second order in this, so that it bounds the
 * witnesses only. */
static const double IN_LINE = 1e-10;
/* of the extent: the same for polytopes and for curved cores that are apart, where the result is the distance at once.
 * Curved cores that miss it are searched further; polytopes are not, and take twice as much. */
static const double IN_LINE_POLYTOPES = 4e-12, IN_LINE_CURVED = 2e-12;
/* rad: edges that are nearer to parallel are parallel: the direction of their cross product is right to rounding over
 * this, which is the same again. */
static const double EDGES_PARALLEL = 1e-8;
/* rad: a circle that is seen this near to along its axis has its centre for a support, not a point of the rim. */
static const double AXIS_SINE = 1e-12;
/* of the gap and the distance of the witnesses: curvatures below this are taken for this, so that a step is finite. */
static const double CURVATURE_LEAST = 1e-12;
/* ---- cores that overlap: spatial_shallow.c, spatial_epa.c ------------------------------------------------------- */

/* rad: a normal that is as near to a face's, or to a cylinder's axis or side, is on that face; square root of rounding
 * with room, as cosines tell it. */
static const double ON_FACE = 1e-7;
/* of the facet's area: a foot that is outside of it by less is on its border. */
static const double FOOT_BESIDE = 1e-9;
/* of the extent: polytopes: a support that is beyond a facet by less is no new vertex, and the facet is one of theirs.
 */
static const double FACET_REACHED = 1e-12;
/* m, and of the extent: curved cores: a facet that is as near to the surface is settled. A twentieth to a fortieth of
 * the tie tolerance, so that ties are seen. */
static const double SURFACE_REACHED = 2e-10, SURFACE_REACHED_OF_EXTENT = 5e-11;
/* of the depth: curved cores: a facet that is as near to the surface is settled if the stationary normal by it is known
 * and no better than the best. Wider with an ellipsoid, for the difference of the cores is smooth all over then, and
 * may be so round that a fine search has no end. Both trade time for certainty. */
static const double FACET_NEAR = 2e-3, FACET_NEAR_SMOOTH = 2e-2;
/* rad: normals that are tilted by this from the best show features that tie with it. */
static const double TILT = 1e-4;
/* m, and of a great depth: bounds that are as near when all vertices are used are an answer; docs/qualification.md
 * promises 1e-7 m, and a per cent of the depth for cores that are deep in each other. */
static const double BOUNDS_APART = 5e-8, BOUNDS_APART_OF_DEPTH = 1e-2;

/* ---- holes: spatial_hole*.c ------------------------------------------------------------------------------------- */

/* rad: brackets this narrow end the search for a normal (from 0 to pi/2) and for a place around the bore (to pi): one
 * rounding of such an angle, and a few. */
static const double NORMAL_BRACKET = 2e-16, PLACE_BRACKET = 1e-15;
/* rad: minima on both sides of a maximum that symmetry makes are looked for this far beside it. */
static const double BESIDE = 1e-5;
/* none, a sine: a normal nearer to radial than this meets an end that is square to it farther in, not farther out. */
static const double RADIAL_SINE = 1e-3;
/* rad: an edge this near to the rim's tangent lies along the rim, and makes no contact that crosses it. */
static const double ALONG_RIM = 1e-3;

#endif
