/* spatial_core.h - convex cores behind one support function, and what the spatial queries share.
 *
 * A query works in the frame of a's core: a stands at the origin unturned, b at its position and rotation relative to
 * a. So accuracy depends on sizes and gap and not on where in the world the pair is, and a common motion changes
 * nothing.
 *
 * A core is a shape without its radius: spheres are points, capsules segments; the radii come off the distance in the
 * end. All sets below are closed and convex; D = B - A is their difference. For a unit normal n from a to b the
 * separation along n is
 *
 *     gap(n) = min over B of n . x - max over A of n . x,
 *
 * and the signed distance is the largest gap(n): for cores that are apart any two of their points bound it from above
 * (|y - x|), for cores that overlap any n bounds it from below. Every method here ends by evaluating gap(n) with the
 * supports of the whole cores, so that a bad guess costs time and never makes a wrong answer.
 */
#ifndef PERP_SRC_GEOMETRY_SPATIAL_CORE_H
#define PERP_SRC_GEOMETRY_SPATIAL_CORE_H

#include <perp/geometry.h>

typedef struct spatial_core {
    perp_spatial_kind kind; /* POINT to ELLIPSOID */
    bool turned;            /* rotation is not the identity: b */
    perp_mat3 rotation;
    perp_vec3 position;
    perp_vec3 half; /* BOX, ELLIPSOID */
    double radius;  /* CYLINDER */
    double half_length;
    const perp_spatial_hull *hull;
    double size; /* a ball of this diameter about `position` holds the core */
    int hint;    /* HULL: a corner to begin the next search at */
} spatial_core;

/* A point of a core. `id` names it: a corner or end, of a cylinder 0 or 1 for the end circle it is on, else -1. */
typedef struct spatial_point {
    perp_vec3 at;
    int id;
} spatial_point;

/* A point of D and the points of the cores that make it. */
typedef struct spatial_difference {
    perp_vec3 w; /* on_b - on_a */
    spatial_point on_a, on_b;
} spatial_difference;

/* The cores of a pair, in a's frame. */
typedef struct spatial_pair {
    spatial_core a, b;
    double extent;    /* sizes and distance: rounding is relative to it */
    double tolerance; /* of ties: see perp_spatial_distance */
    double limit;     /* pairs that are farther apart are of no interest */
    bool wary;        /* GJK takes no tetrahedron's word for an overlap */
} spatial_pair;

/* What a query did; for tests. */
typedef struct perp_spatial_trace {
    int gjk_iterations, epa_iterations;
    int polishes;   /* Newton solves for the normal */
    bool exhausted; /* EPA used all its vertices; what it found is within a per cent of a great depth */
    bool limit;     /* an iteration limit ended the search or its result is not certified */
} perp_spatial_trace;

/* Signed distance of cores with the witnesses, in a's frame. */
typedef struct spatial_result {
    double phi;
    perp_vec3 normal, on_a, on_b;
    bool tie;
    bool witnessed; /* on_a and on_b are set */
    bool beyond;    /* only known to be apart by phi > limit */
} spatial_result;

/* The diameter of a ball about the shape's position that holds its core; 0 for halfspaces and holes. */
double perp_spatial_shape_size(const perp_spatial_shape *shape);

/* The two cores; neither shape is a halfspace or hole. */
void perp_spatial_pair_place(const perp_spatial_shape *a, const perp_spatial_shape *b, double limit,
                             spatial_pair *pair);

static inline perp_vec3 spatial_to_local(const spatial_core *core, perp_vec3 direction)
{
    return core->turned ? perp_mat3_tmul_vec(&core->rotation, direction) : direction;
}
static inline perp_vec3 spatial_from_local(const spatial_core *core, perp_vec3 direction)
{
    return core->turned ? perp_mat3_mul_vec(&core->rotation, direction) : direction;
}
static inline perp_vec3 spatial_point_local(const spatial_core *core, perp_vec3 point)
{
    return spatial_to_local(core, perp_vec3_sub(point, core->position));
}
static inline perp_vec3 spatial_point_of(const spatial_core *core, perp_vec3 local)
{
    return perp_vec3_add(core->position, spatial_from_local(core, local));
}
static inline perp_vec3 spatial_box_corner(perp_vec3 half, int i)
{
    return perp_vec3_make(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z);
}
static inline perp_vec3 spatial_negative(perp_vec3 v)
{
    return perp_vec3_make(-v.x, -v.y, -v.z);
}

/* The point that is farthest along `direction` (not zero, any length), in a's frame and in the core's own. */
spatial_point perp_spatial_support(spatial_core *core, perp_vec3 direction);
perp_vec3 perp_spatial_support_local(spatial_core *core, perp_vec3 local_direction, int *id);

/* A corner that is farthest along the local direction; `start` is where the search begins. */
int perp_spatial_hull_support(const perp_spatial_hull *hull, perp_vec3 local_direction, int start);

/* The point of D that is lowest along `normal`. */
spatial_difference perp_spatial_lowest(spatial_pair *pair, perp_vec3 normal);

/* gap(n). */
double perp_spatial_gap_along(spatial_pair *pair, perp_vec3 normal);

/* Corner by id, ends of a segment too; local. */
perp_vec3 perp_spatial_corner(const spatial_core *core, int id);

/* ---- flat faces ------------------------------------------------------------------------------------------------- */

int perp_spatial_face_count(const spatial_core *core);
/* Outer normal and offset of a face, local. */
perp_vec3 perp_spatial_face_normal(const spatial_core *core, int face, double *offset);
/* How far the foot of a local point is inside the face's border; negative outside. */
double perp_spatial_face_inside(const spatial_core *core, int face, perp_vec3 local);
/* The face that looks most along the direction, of a hull one at the support corner; -1 if there is none. */
int perp_spatial_face_towards(spatial_core *core, perp_vec3 local_direction);

/* ---- methods: each file says how --------------------------------------------------------------------------------- */

/* True if a face decides the pair, with the result; see spatial_faces.c. */
bool perp_spatial_by_faces(spatial_pair *pair, spatial_result *result);

/* Points, segments, and points with boxes, cylinders, ellipsoids. */
bool perp_spatial_by_formula(spatial_pair *pair, spatial_result *result);

/* Two boxes, unless corners decide. */
bool perp_spatial_by_box_axes(spatial_pair *pair, spatial_result *result, perp_spatial_trace *trace);

/* UNSURE: apart by the result, it seems, but the bounds did not meet. */
typedef enum spatial_verdict { SPATIAL_APART, SPATIAL_BEYOND, SPATIAL_OVERLAP, SPATIAL_UNSURE } spatial_verdict;

/* Cores that are apart; `start` is a first guess of the normal. An overlap, or a gap within the tie tolerance, is left
 * to the methods below; then the result has a gap that is known (else 0) and the most promising normal. */
spatial_verdict perp_spatial_gjk(spatial_pair *pair, perp_vec3 start, spatial_result *result,
                                 perp_spatial_trace *trace);
/* Curved cores that touch or overlap a little, if the normal near the guess proves to be the best; see
 * spatial_shallow.c. */
bool perp_spatial_shallow(spatial_pair *pair, perp_vec3 guess, spatial_result *result, perp_spatial_trace *trace);
/* Cores that touch or overlap. False if they are apart by more than the tolerance after all. */
bool perp_spatial_epa(spatial_pair *pair, perp_vec3 start, spatial_result *result, perp_spatial_trace *trace);

/* What of the cores is near the answer, for perp_spatial_polish: ids of the simplex or facet. */
typedef struct spatial_hint {
    int count; /* 0..4 */
    int a[4], b[4];
    double target; /* a lower phi than this is good enough only if no other is found; -infinity: any will do */
} spatial_hint;

/* Newton's method for a stationary gap(n) near `normal`, trying the features of both cores there. True if a normal was
 * found whose witnesses agree with it to `slack`; then the result is filled. Of several the first that is no worse than
 * `normal` counts, else the best. */
bool perp_spatial_polish(spatial_pair *pair, perp_vec3 normal, const spatial_hint *hint, double slack,
                         spatial_result *result);
/* Some core is neither polytope, point nor segment. */
bool perp_spatial_curved(const spatial_pair *pair);

/* Cores that are apart: takes the normal of a face if the nearest points are over it to the tie tolerance. */
void perp_spatial_snap(spatial_pair *pair, spatial_result *r);

/* Witnesses of a normal that is known: b is moved out along it until the cores are apart, and GJK finds the nearest
 * points there. Returns how far they are from being in line with the normal. */
double perp_spatial_touch(spatial_pair *pair, spatial_result *result, perp_spatial_trace *trace);

/* Normals that are equally good, in the order in which they are taken; see perp_spatial_distance. */
enum { SPATIAL_CHOICES_MAX = 40 };
typedef struct spatial_choices {
    int count;
    bool tie;
    bool measured; /* choices without witnesses are known to have none in line */
    spatial_result at[SPATIAL_CHOICES_MAX];
} spatial_choices;

/* Of normals that are one for all purposes the better is kept, in the place of the first. */
void perp_spatial_choices_add(spatial_choices *choices, const spatial_result *r);
/* The first choice whose witnesses are in line with it to the tie tolerance, else the one that comes nearest to that.
 */
void perp_spatial_choices_take(spatial_pair *pair, const spatial_choices *choices, spatial_result *result,
                               perp_spatial_trace *trace);

/* Nearest points of the segments p0 p1 and q0 q1, either of which may be a point. */
void perp_spatial_segments(perp_vec3 p0, perp_vec3 p1, perp_vec3 q0, perp_vec3 q1, perp_vec3 *on_p, perp_vec3 *on_q);

/* ---- whole shapes ------------------------------------------------------------------------------------------------ */

/* perp_spatial_distance, saying what it took. Pairs that are farther apart than `limit` may be given any phi between it
 * and their distance, with the zero vector for a normal. */
perp_separation perp_spatial_distance_traced(const perp_spatial_shape *a, const perp_spatial_shape *b, double limit,
                                             perp_spatial_trace *trace);

#endif
